"""The parameters of what proves."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from msgspec import Meta, Struct


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


#: What all that proves takes.
Kept = Annotated[int, Meta(ge=0, le=100_000)]


class CertifyOptions(Struct, frozen=True):
    """The parameters of certification."""

    seconds: Annotated[float, Meta(ge=0, le=1_000_000)] = 60.0
    keep: Kept = 1_000
    first: Literal["people", "combinations"] = "people"
    gain: Annotated[float, Meta(ge=0, le=1)] = 0.0


class NeighbourhoodOptions(Struct, frozen=True):
    """The parameters of certification around the data rows."""

    changed: Annotated[int, Meta(ge=0, le=20)] = 1
    reach: Annotated[float, Meta(ge=0, le=1)] = 0.1
    together: Literal["no", "yes"] = "no"
    seconds: Annotated[float, Meta(ge=0, le=1_000_000)] = 60.0
    keep: Kept = 1_000


class FairQuantOptions(Struct, frozen=True):
    """The parameters of FairQuant, named as in its paper and program."""

    min_sample_depth: Annotated[int, Meta(ge=0, le=200)] = 15
    max_refinement_depth: Annotated[int, Meta(ge=0, le=200)] = 20
    sampler: Literal["random", "diagonal", "published"] = "random"
    after: Literal["leave", "halve"] = "leave"
    seconds: Annotated[float, Meta(ge=0, le=1_000_000)] = 0.0


class FairifyOptions(Struct, frozen=True):
    """The parameters of Fairify, as its paper has them."""

    partition_size: Annotated[int, Meta(ge=1, le=1_000_000)] = 100
    soft_seconds: Annotated[float, Meta(gt=0, le=100_000)] = 100.0
    hard_seconds: Annotated[float, Meta(ge=0, le=1_000_000)] = 1_800.0
