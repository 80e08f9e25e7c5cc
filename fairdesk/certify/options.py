"""The parameters of what proves."""

from __future__ import annotations

from typing import Annotated

import msgspec


class CertifyOptions(msgspec.Struct, frozen=True):
    """The parameters of certification."""

    seconds: Annotated[
        float,
        msgspec.Meta(
            ge=0,
            le=1_000_000,
            title="Seconds",
            description="How long boxes of people are bounded and counted; 0 is until everybody "
            "is decided. It can be gone on with later.",
        ),
    ] = 60.0
    keep: Annotated[
        int,
        msgspec.Meta(
            ge=0,
            le=100_000,
            title="Examples kept",
            description="How many of the people who are treated unlike are kept as examples, each "
            "asked about again.",
        ),
    ] = 1_000


class FairQuantOptions(msgspec.Struct, frozen=True):
    """The parameters of FairQuant, named as in its paper and program."""

    min_sample_depth: Annotated[
        int,
        msgspec.Meta(
            ge=0,
            le=200,
            title="Depth of sampling",
            description="From so many halvings on points are tried for a counterexample.",
        ),
    ] = 15
    max_refinement_depth: Annotated[
        int,
        msgspec.Meta(
            ge=0,
            le=200,
            title="Greatest depth",
            description="A box that was halved so often is left undecided.",
        ),
    ] = 20
    seconds: Annotated[
        float,
        msgspec.Meta(
            ge=0,
            le=1_000_000,
            title="Seconds",
            description="How long it may take; 0 is until its end.",
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
            description="Attributes with more values are cut into chunks of so many (MS).",
        ),
    ] = 100
    soft_seconds: Annotated[
        float,
        msgspec.Meta(
            gt=0,
            le=100_000,
            title="Soft limit",
            description="Seconds that the solver may think about one partition.",
        ),
    ] = 100.0
    hard_seconds: Annotated[
        float,
        msgspec.Meta(
            ge=0,
            le=1_000_000,
            title="Hard limit",
            description="Seconds for all partitions together; 0 is no limit.",
        ),
    ] = 1_800.0
