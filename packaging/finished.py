"""Make the finished full audits of the built-in samples, with their reports, for this user.

    python packaging/finished.py

The window makes each when it is first asked for; this makes them beforehand.
"""

from __future__ import annotations

from time import monotonic

from fairdesk.app.finished import finish
from fairdesk.samples import samples


def main() -> None:
    """Make those that are not there yet."""
    for sample in samples():
        began = monotonic()
        if not sample.finished.is_file():
            finish(sample, lambda _state: None, lambda: False)
        size = sum(each.stat().st_size for each in sample.finished.parent.iterdir()) / 1e6
        seconds = monotonic() - began
        print(f"{sample.title}: {sample.finished.parent} ({size:.1f} MB, {seconds:.0f} s)")


if __name__ == "__main__":
    main()
