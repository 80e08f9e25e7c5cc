"""What the process that opens model files cannot do: as it was found by trying, not by assuming."""

from __future__ import annotations

import msgspec

#: What is tried, in the order in which it is shown.
WHAT = ("network", "files", "programs", "memory", "time", "descriptors", "environment")


class Hold(msgspec.Struct, frozen=True):
    """One thing that a model's code could misuse.

    Attributes
    ----------
    what : str
        One of `WHAT`.
    holds : bool
        Whether it is withheld or limited.
    how : str
        What that means, one plain sentence; where it does not hold, what the code can do.
    """

    what: str
    holds: bool
    how: str


class Confinement(msgspec.Struct, frozen=True):
    """What holds for the process that opens model files, on this machine.

    Attributes
    ----------
    by : str
        What confines it, for people: ``"bubblewrap, Landlock, seccomp and limits"``; empty where
        nothing does.
    holds : tuple[Hold, ...]
        One per entry of `WHAT`.
    """

    by: str
    holds: tuple[Hold, ...]

    @property
    def whole(self) -> bool:
        """Whether everything holds."""
        return all(hold.holds for hold in self.holds)


def unknown() -> Confinement:
    """Give what is said of a process that did not tell."""
    return Confinement("", tuple(Hold(what, holds=False, how="It did not tell.") for what in WHAT))
