"""Make the finished full audits of the built-in samples, with their reports, for this user.

    python packaging/finished.py

The window makes each when it is first asked for; this makes them beforehand. Ctrl-C ends it: the
one that is under way is then not made.
"""

from __future__ import annotations

import sys
from time import monotonic

from fairdesk.app.finished import finish, sample_question
from fairdesk.cli.terminal import FAILED, INTERRUPTED, complain, progress_bar, stoppable_worker
from fairdesk.errors import FairDeskError
from fairdesk.samples import samples


def main() -> int:
    """Make those that are not there yet; returns the exit code."""
    for sample in samples():
        began = monotonic()
        if not sample.finished.is_file():
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
