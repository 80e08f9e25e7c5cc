"""Make the finished full audits of the built-in samples, with their reports, for this user.

    python packaging/finished.py

The window makes each when it is first asked for; this makes them beforehand. Ctrl-C ends it: the
one that is under way is then not made.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import monotonic

from fairdesk.app.finished import finish, sample_question
from fairdesk.audit.store.store import Store
from fairdesk.cli.terminal import FAILED, INTERRUPTED, complain, progress_bar, stoppable_worker
from fairdesk.errors import FairDeskError, StoreError
from fairdesk.samples import samples


def opens(path: Path) -> bool:
    """Return whether an audit is there that this version opens."""
    try:
        with Store.read(path):
            return True
    except StoreError:
        return False


def main() -> int:
    """Make those that are not there yet, or of another version; returns the exit code."""
    for sample in samples():
        began = monotonic()
        if not opens(sample.finished):
            print(f"{sample.title}: making the finished audit ...", file=sys.stderr, flush=True)
            limit = sample_question(sample).limit
            with stoppable_worker() as (worker, stopped), progress_bar(limit) as bar:
                made = finish(sample, bar, stopped, lambda worker=worker: worker)
            if made is None:
                return INTERRUPTED
        size = sum(each.stat().st_size for each in sample.finished.parent.iterdir()) / 1e6
        seconds = monotonic() - began
        print(f"{sample.title}: {sample.finished.parent} ({size:.1f} MB, {seconds:.0f} s)")
    return 0


if __name__ == "__main__":
    try:
        code = main()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except FairDeskError as error:
        complain(str(error))
        code = FAILED
    sys.exit(code)
