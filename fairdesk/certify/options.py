"""The parameters of what proves."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

import msgspec


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
Kept = Annotated[
    int,
    msgspec.Meta(
        ge=0,
        le=100_000,
        title="Pairs kept",
        description="Number of discriminatory pairs kept as examples, each re-queried.",
    ),
]


class CertifyOptions(msgspec.Struct, frozen=True):
    """The parameters of certification."""

    seconds: Annotated[
        float,
        msgspec.Meta(
            ge=0,
            le=1_000_000,
            title="Time limit, seconds",
            description=(
                "Time for bounding and enumerating regions; 0: until every combination is "
                "decided. The run can be continued later."
            ),
        ),
    ] = 60.0
    keep: Kept = 1_000
    first: Annotated[
        Literal["people", "combinations"],
        msgspec.Meta(
            title="Decided first",
            description=(
                "What is divided first: regions that hold the most of the population that the "
                "data were drawn from, or those with the most combinations. Both are reported."
            ),
        ),
    ] = "people"
    gain: Annotated[
        float,
        msgspec.Meta(
            ge=0,
            le=1,
            title="Minimum gain",
            description=(
                "The run ends early when the last third of its time decided less than this share "
                "of what is decided first; proven selection rates likewise; 0: never."
            ),
        ),
    ] = 0.0


class NeighbourhoodOptions(msgspec.Struct, frozen=True):
    """The parameters of certification around the data rows."""

    changed: Annotated[
        int,
        msgspec.Meta(
            ge=0,
            le=20,
            title="Other attributes changed, at most",
            description=(
                "Neighbours of a row differ from it in at most this number of attributes that are "
                "not protected: categories may take any value, numbers move within reach."
            ),
        ),
    ] = 1
    reach: Annotated[
        float,
        msgspec.Meta(
            ge=0,
            le=1,
            title="Reach of numbers",
            description=(
                "A changed number differs from the row’s by at most this share of its range in the "
                "input domain; 1: by any amount."
            ),
        ),
    ] = 0.1
    together: Annotated[
        Literal["no", "yes"],
        msgspec.Meta(
            title="All numbers at once",
            description=(
                "Instances are neighbours, too, in which all numbers differ from the row’s at "
                "once, each within reach, and all other attributes are the row’s."
            ),
        ),
    ] = "no"
    seconds: Annotated[
        float,
        msgspec.Meta(
            ge=0,
            le=1_000_000,
            title="Time limit, seconds",
            description="Time for the run; 0: until every row is decided.",
        ),
    ] = 60.0
    keep: Kept = 1_000


class FairQuantOptions(msgspec.Struct, frozen=True):
    """The parameters of FairQuant, named as in its paper and program."""

    min_sample_depth: Annotated[
        int,
        msgspec.Meta(
            ge=0,
            le=200,
            title="Sampling depth",
            description="Number of halvings from which points are tested for a counterexample.",
        ),
    ] = 15
    max_refinement_depth: Annotated[
        int,
        msgspec.Meta(
            ge=0,
            le=200,
            title="Maximum depth",
            description="A region that was halved this many times stays undecided.",
        ),
    ] = 20
    sampler: Annotated[
        Literal["random", "diagonal", "published"],
        msgspec.Meta(
            title="Points tested",
            description=(
                "Which ten points of a region are tested for a counterexample: random ones; "
                "evenly spaced ones on its diagonal; or those of the published program, most of "
                "which lie outside the region, and many outside the input domain."
            ),
        ),
    ] = "random"
    after: Annotated[
        Literal["leave", "halve"],
        msgspec.Meta(
            title="Region with a counterexample",
            description=(
                "Leave it undecided, as the paper does; or halve it as any other, which finds "
                "more counterexamples and decides more, and takes longer."
            ),
        ),
    ] = "leave"
    seconds: Annotated[
        float,
        msgspec.Meta(
            ge=0,
            le=1_000_000,
            title="Time limit, seconds",
            description="Time for the run; 0: no limit.",
        ),
    ] = 0.0


class FairifyOptions(msgspec.Struct, frozen=True):
    """The parameters of Fairify, as its paper has them."""

    partition_size: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=1_000_000,
            title="Partition size",
            description=(
                "Attributes with more values than this are divided into chunks of this size."
            ),
            extra={"symbol": "MS"},
        ),
    ] = 100
    soft_seconds: Annotated[
        float,
        msgspec.Meta(
            gt=0,
            le=100_000,
            title="Soft time limit",
            description=(
                "Seconds that the solver may use for one query about a partition. Where there are "
                "many partitions it is less, so that none uses up the time of all others: a fair "
                "share of what is left, or a tenth of it up to one second."
            ),
        ),
    ] = 100.0
    hard_seconds: Annotated[
        float,
        msgspec.Meta(
            ge=0,
            le=1_000_000,
            title="Hard time limit",
            description="Seconds for all partitions together; 0: no limit.",
        ),
    ] = 1_800.0
    pruning: Annotated[
        Literal["sound", "heuristic"],
        msgspec.Meta(
            title="Pruning",
            description=(
                "Which units are left out of a partition’s query: those that bounds prove to be "
                "inactive there; or, in a second query where the first has no answer, also units "
                "that 1,000 samples did not activate. The second is not sound: what it finds no "
                "counterexample of is reported apart, and never as certified."
            ),
        ),
    ] = "sound"
