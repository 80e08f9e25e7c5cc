"""What the process that opens model files cannot do: as it was found by trying, not by assuming.

What a hostile model can do where everything holds: answer as it likes, and so lie about itself (as
any model can), also in FairDesk's own name, by writing to the pipe; make its own findings, if they
are people of the domain; take its share of memory and time until it is stopped; print to the log,
up to a limit; and read what any program of this computer may know: its libraries, its
processors, and, outside bubblewrap, which programs run.
"""

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


def of_both(first: Confinement, second: Confinement) -> Confinement:
    """Return what holds for two processes together: what one of them can do is not withheld."""
    pairs = zip(first.holds, second.holds)
    return Confinement(second.by, tuple(a if not a.holds else b for a, b in pairs))


def unknown() -> Confinement:
    """Return what is said of a process that did not tell."""
    return Confinement(
        "", tuple(Hold(what, holds=False, how="It gave no reason.") for what in WHAT)
    )
