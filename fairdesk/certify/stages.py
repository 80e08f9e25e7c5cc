"""Which part of a certification that is divided among workers runs."""

from __future__ import annotations

from enum import StrEnum


class Stage(StrEnum):
    """What of a certification is done: `fairdesk.audit.shards.regions` deals one by one."""

    WHOLE = ""
    """All of it, in one process."""
    LOOK = "look"
    """The first look: data rows are queried, and everybody is looked at once."""
    BOOK = "book"
    """What parts of it proved is added up."""
    END = "end"
    """The same, and all that is told beside."""

    @property
    def begins(self) -> bool:
        """Whether nothing was done before."""
        return self in (Stage.WHOLE, Stage.LOOK)

    @property
    def ends(self) -> bool:
        """Whether nothing is done afterwards."""
        return self in (Stage.WHOLE, Stage.END)
