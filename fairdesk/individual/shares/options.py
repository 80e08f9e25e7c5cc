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
        title="Confidence level",
        description=(
            "Confidence level of each interval: the share of such intervals that contain the "
            "true figure in the long run."
        ),
    ),
]
#: What all of THEMIS's scores take.
ErrorBound = Annotated[
    float,
    msgspec.Meta(
        ge=0.0005,
        le=0.5,
        title="Error bound",
        description=(
            "Sampling ends when no interval extends farther than this to either side of its "
            "midpoint."
        ),
    ),
]
MostPeople = Annotated[
    int,
    msgspec.Meta(
        ge=1,
        le=100_000_000,
        title="Maximum number of instances",
        description=(
            "At most this many instances are tested; a figure that does not reach the error "
            "bound by then keeps a wider interval."
        ),
    ),
]


class EnumerateOptions(msgspec.Struct, frozen=True):
    """The parameters of enumeration."""

    keep: Annotated[
        int,
        msgspec.Meta(
            ge=0,
            le=10_000_000,
            title="Pairs kept",
            description="Maximum number of discriminatory pairs kept; all are counted.",
        ),
    ] = 100_000


class EstimateOptions(msgspec.Struct, frozen=True):
    """The parameters of the estimate."""

    trials: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=200,
            title="Trials",
            description=(
                "Number of samples drawn; the variation of their shares shows the sampling error."
            ),
            extra={"symbol": "K", "source": "estimation"},
        ),
    ] = 100
    people: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=1_000_000,
            title="Instances per trial",
            description="Number of instances in each sample.",
            extra={"symbol": "m", "source": "estimation"},
        ),
    ] = 1_000
    confidence: Confidence = 0.95
    moved: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=1_000,
            title="Attributes perturbed",
            description="Number of attributes changed in each perturbed data row.",
        ),
    ] = 2
    steps: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=100,
            title="Steps",
            description=(
                "Maximum number of steps by which each of these is changed; for wide ranges, in "
                "hundredths of the range."
            ),
        ),
    ] = 3
    margin: Annotated[
        float,
        msgspec.Meta(
            ge=0,
            le=0.5,
            title="Error bound",
            description=(
                "Sampling ends early when no interval extends farther than this to either side of "
                "its midpoint; 0: never. The individuals in the data are always all tested, up "
                "to the number of trials times the instances per trial."
            ),
        ),
    ] = 0.0


class RepeatsOptions(msgspec.Struct, frozen=True):
    """The parameters of the estimate with repeats."""

    people: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=10_000_000,
            title="Pairs",
            description=(
                "Number of individuals drawn, each with one counterfactual; each of the two is "
                "queried twice."
            ),
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
            title="Discrimination score threshold",
            description=(
                "Attributes with a score above this are not tested in combination with others: "
                "the score of the combination is at least as high."
            ),
            extra={"symbol": "θ"},
        ),
    ] = 0.1
    together: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=10,
            title="Attributes combined",
            description="Maximum number of protected attributes changed together.",
        ),
    ] = 3
    most: MostPeople = 1_000_000
