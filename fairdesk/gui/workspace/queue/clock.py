"""A run's seconds as the window counts them, whether or not its worker says anything."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from fairdesk.wording import words


class RunClock:
    """Counts seconds, pauses left out.

    Parameters
    ----------
    now : callable
        Returns seconds of a clock that never goes back.
    """

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self.now = now
        self._counted = 0.0
        self._since: float | None = None
        self._begun = False

    @property
    def begun(self) -> bool:
        """Whether it was started, and not ended since."""
        return self._begun

    @property
    def elapsed(self) -> float:
        """Seconds since it was started."""
        return self._counted + (0.0 if self._since is None else self.now() - self._since)

    def start(self, elapsed: float = 0.0) -> None:
        """Count from now on; so many seconds have gone already."""
        self._counted, self._since, self._begun = elapsed, self.now(), True

    def hold(self, *, held: bool) -> None:
        """Leave out the time from now on, or count it again."""
        if held and self._since is not None:
            self._counted, self._since = self.elapsed, None
        elif not held and self._begun and self._since is None:
            self._since = self.now()

    def end(self) -> None:
        """Count no more."""
        self.hold(held=True)
        self._begun = False


def ticking(seconds: float) -> str:
    """Write a time that goes on, in whole seconds: ``0 s``, ``41 s``, ``3 min 5 s``."""
    whole = int(seconds)
    return f"{whole}{words.NBSP}s" if whole < 60 else words.duration(whole)
