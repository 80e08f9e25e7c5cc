"""The parameters of what estimates a share, or counts everybody."""

from __future__ import annotations

from typing import Annotated

import msgspec

#: What all that tells intervals takes.
Confidence = Annotated[
    float,
    msgspec.Meta(
        ge=0.5,
        le=0.9999,
        title="Confidence",
        description="How likely each interval is to hold the true figure.",
    ),
]
#: What all of THEMIS's scores take.
ErrorBound = Annotated[
    float,
    msgspec.Meta(
        ge=0.0005,
        le=0.5,
        title="Error bound",
        description="The sampling ends when no interval reaches farther than this to either "
        "side of its middle.",
    ),
]
MostPeople = Annotated[
    int,
    msgspec.Meta(
        ge=1,
        le=100_000_000,
        title="Most people",
        description="So many people are asked about at most; what is not known as well as "
        "wanted by then has the wider interval.",
    ),
]


class EnumerateOptions(msgspec.Struct, frozen=True):
    """The parameters of enumeration."""

    keep: Annotated[
        int,
        msgspec.Meta(
            ge=0,
            le=10_000_000,
            title="Examples kept",
            description="How many examples are kept at most; all are counted.",
        ),
    ] = 100_000


class EstimateOptions(msgspec.Struct, frozen=True):
    """The parameters of the estimate."""

    trials: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=200,
            title="Trials (K)",
            description="How many samples are drawn; their shares show how much chance there is.",
        ),
    ] = 100
    people: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=1_000_000,
            title="People per trial (m)",
            description="How many people each sample has.",
        ),
    ] = 1_000
    confidence: Confidence = 0.95
    moved: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=1_000,
            title="Attributes moved",
            description="How many attributes of a real person are changed, where real people are "
            "moved a little.",
        ),
    ] = 2
    steps: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=100,
            title="Steps",
            description="How many steps each of these goes at most; for wide ranges in hundredths "
            "of the range.",
        ),
    ] = 3


class RepeatsOptions(msgspec.Struct, frozen=True):
    """The parameters of the estimate with repeats."""

    people: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=10_000_000,
            title="Pairs",
            description="How many individuals are drawn, each with one counterfactual; each of "
            "the two is queried twice.",
        ),
    ] = 20_000
    confidence: Confidence = 0.95


class ThemisOptions(msgspec.Struct, frozen=True):
    """The parameters of THEMIS."""

    confidence: Confidence = 0.99
    margin: ErrorBound = 0.01
    threshold: Annotated[
        float,
        msgspec.Meta(
            ge=0,
            le=1,
            title="Discrimination threshold",
            description="Attributes with a score above this are not tried together with others: "
            "together they discriminate at least as much.",
        ),
    ] = 0.1
    together: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=10,
            title="Attributes together",
            description="How many protected attributes are changed together at most.",
        ),
    ] = 3
    most: MostPeople = 1_000_000
