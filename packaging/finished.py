"""Make the finished audits that come with the built-in samples.

    .venv/bin/python packaging/finished.py [adult] [loanapp]

writes `resources/samples/*/audit.fairdesk`: a full audit of each sample, whose search, estimate and
certification end early, so that the file stays small. CONTRIBUTING.md says when they have to be
made again. The sizes are printed.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import msgspec

from fairdesk.app.audit import audit
from fairdesk.app.outputs import AUDIT_FILE
from fairdesk.app.report import sample_question
from fairdesk.app.standard import StandardPlan
from fairdesk.audit.plan.spec import OptionValue
from fairdesk.audit.store.schema import release
from fairdesk.cli.terminal import FAILED, INTERRUPTED, complain, progress_bar, stoppable_worker
from fairdesk.errors import FairDeskError, StoreError
from fairdesk.samples import Sample, samples

#: What keeps the files small: by sample and method the options that a full audit has otherwise.
OPTIONS: dict[str, dict[str, dict[str, OptionValue]]] = {
    "adult": {
        "maft": {"global_num": 100, "local_num": 100},
        "estimate": {"margin": 0.01},
        "certify": {"gain": 0.4, "keep": 200},
    },
    "loanapp": {
        "maft": {"global_num": 100, "local_num": 100},
        "estimate": {"margin": 0.02},
        "certify": {"keep": 200},
    },
}
#: A file may have so many bytes: the repository keeps each that was ever made.
MOST_BYTES = 3_000_000


def make(sample: Sample) -> bool:
    """Make a sample's finished audit; gives whether it was made to its end."""
    question = msgspec.structs.replace(
        sample_question(sample),
        standard=StandardPlan(options=OPTIONS[sample.key]),
        files=(AUDIT_FILE,),
    )
    with tempfile.TemporaryDirectory() as folder:
        with stoppable_worker() as (worker, stopped), progress_bar(question.limit) as bar:
            outcome = audit(worker, question, Path(folder), bar, stopped)
        if stopped():
            return False
        if outcome.failure:
            raise FairDeskError(outcome.failure)
        made = Path(folder) / AUDIT_FILE
        release(made)
        with closing(sqlite3.connect(made)) as connection:
            connection.execute("VACUUM")
        content = made.read_bytes()
    if len(content) > MOST_BYTES:
        raise StoreError(
            f"The finished audit of “{sample.title}” has {len(content):,} bytes.",
            why=f"It may have {MOST_BYTES:,}.",
            remedy="Let its runs end earlier: OPTIONS of this script.",
        )
    sample.shipped.write_bytes(content)
    print(f"{sample.title}: {sample.shipped} ({len(content):,} bytes)")
    return True


def main(wanted: list[str]) -> int:
    """Make those that are named, or all; returns the exit code."""
    chosen = [sample for sample in samples() if not wanted or sample.key in wanted]
    return 0 if all(map(make, chosen)) else INTERRUPTED


if __name__ == "__main__":
    try:
        code = main(sys.argv[1:])
    except KeyboardInterrupt:
        code = INTERRUPTED
    except FairDeskError as error:
        complain(str(error))
        code = FAILED
    sys.exit(code)
