"""The parameters of the searches, named as in their papers."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

Decay = Annotated[
    float,
    msgspec.Meta(
        ge=0,
        lt=1,
        title="Momentum",
        description="Weight of the previous step’s direction; 0 ignores it.",
        extra={"source": "global generation"},
    ),
]
UpdateInterval = Annotated[
    int,
    msgspec.Meta(
        ge=1,
        le=1_000_000,
        title="Gradient recomputation",
        description="Number of successful local steps after which the gradients are recomputed.",
        extra={"source": "local generation"},
    ),
]

ClusterCount = Annotated[
    int,
    msgspec.Meta(
        ge=1,
        le=1_000,
        title="Clusters",
        description="Number of clusters of similar rows; starting rows are taken "
        "from each in turn.",
    ),
]


class WalkOptions(msgspec.Struct, frozen=True):
    """The parameters that MAFT, EIDIG and ADF share."""

    global_num: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=1_000_000,
            title="Starting rows",
            description="Number of data rows from which the search starts.",
            extra={"symbol": "g_num", "source": "global generation"},
        ),
    ] = 1_000
    local_num: Annotated[
        int,
        msgspec.Meta(
            ge=0,
            le=1_000_000,
            title="Local steps",
            description="Number of steps tried around each discriminatory instance found.",
            extra={"symbol": "l_num", "source": "local generation"},
        ),
    ] = 1_000
    cluster_num: Annotated[
        ClusterCount,
        msgspec.Meta(extra={"symbol": "c_num", "source": "global generation"}),
    ] = 4
    max_iter: Annotated[
        int,
        msgspec.Meta(
            ge=0,
            le=10_000,
            title="Global steps",
            description="Maximum number of steps from a starting row towards the "
            "decision boundary.",
            extra={"source": "global generation"},
        ),
    ] = 10
    global_step: Annotated[
        float,
        msgspec.Meta(
            gt=0,
            le=1_000,
            title="Global step size",
            description="In value codes; for wide ranges, in hundredths of the range.",
            extra={"symbol": "s_g", "source": "global generation"},
        ),
    ] = 1.0
    local_step: Annotated[
        float,
        msgspec.Meta(
            gt=0,
            le=1_000,
            title="Local step size",
            description="In value codes; for wide ranges, in hundredths of the range.",
            extra={"symbol": "s_l", "source": "local generation"},
        ),
    ] = 1.0


class MaftOptions(WalkOptions, frozen=True):
    """The parameters of MAFT, named as in its paper."""

    decay: Decay = 0.5
    update_interval: UpdateInterval = 5
    perturbation_size: Annotated[
        float,
        msgspec.Meta(
            gt=0,
            le=1_000,
            title="Perturbation size",
            description=(
                "How far an attribute is changed to estimate the gradient; in value codes or, "
                "for wide ranges, in hundredths of the range."
            ),
            extra={"symbol": "h", "source": "Algorithms 1 and 2"},
        ),
    ] = 1.0


class EidigOptions(WalkOptions, frozen=True):
    """The parameters of EIDIG, named as in its paper."""

    decay: Decay = 0.5
    update_interval: UpdateInterval = 5


class AdfOptions(WalkOptions, frozen=True):
    """The parameters of ADF, named as in its paper."""


class RandomOptions(msgspec.Struct, frozen=True):
    """The parameters of the random search, named as in the authors' program."""

    global_iteration_limit: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=1_000_000,
            title="Instances drawn",
            description=(
                "Number of random instances tested first; the search continues around those "
                "whose decision changes."
            ),
            extra={"symbol": "N", "source": "Algorithm 1"},
        ),
    ] = 10_000
    local_iteration_limit: Annotated[
        int,
        msgspec.Meta(
            ge=0,
            le=1_000_000,
            title="Local steps",
            description="Number of steps tried around each discriminatory instance drawn.",
            extra={"symbol": "N", "source": "Algorithm 2"},
        ),
    ] = 1_000
    perturbation_unit: Annotated[
        float,
        msgspec.Meta(
            gt=0,
            le=1_000,
            title="Step size",
            description="In value codes; for wide ranges, in hundredths of the range.",
        ),
    ] = 1.0
    init_prob: Annotated[
        float,
        msgspec.Meta(
            ge=0,
            le=1,
            title="Initial probability of a downward step",
            description=(
                "Initial probability that a step decreases an attribute instead of increasing it."
            ),
            extra={"symbol": "σᵥ", "source": "Algorithm 2"},
        ),
    ] = 0.5
    acceptance: Annotated[
        float,
        msgspec.Meta(
            ge=0,
            le=1,
            title="Acceptance probability",
            description=(
                "Probability that the search continues from an instance whose decision is "
                "unchanged, instead of returning to the one before. 1: the paper’s own search, "
                "which never returns. 0: stays at instances whose decision changes; on the paper’s "
                "decision tree it found more than ten times as many as 1. The authors’ program has "
                "0.37, and 0.14 for fully directed search."
            ),
            extra={"source": "Algorithm 2"},
        ),
    ] = 0.0
    gamma: Annotated[
        float,
        msgspec.Meta(
            ge=0,
            lt=1,
            title="Score-difference threshold",
            description=(
                "Above 0, a counterfactual pair also counts if its scores differ by more than "
                "this, even though the decision is the same."
            ),
            extra={"symbol": "γ"},
        ),
    ] = 0.0


class SemiDirectedOptions(RandomOptions, frozen=True):
    """The parameters of the semi-directed search."""

    direction_probability_change_size: Annotated[
        float,
        msgspec.Meta(
            ge=0,
            le=1,
            title="Direction learning rate",
            description="Change in the probability of a direction after each trial of it.",
            extra={"symbol": "Δᵥ", "source": "Algorithm 3"},
        ),
    ] = 0.001


class FullyDirectedOptions(SemiDirectedOptions, frozen=True):
    """The parameters of the fully-directed search."""

    param_probability_change_size: Annotated[
        float,
        msgspec.Meta(
            ge=0,
            le=1,
            title="Attribute learning rate",
            description="Change in the probability of an attribute after each success with it.",
            extra={"symbol": "Δₚᵣ", "source": "Algorithm 4"},
        ),
    ] = 0.001


YesNo = Literal["yes", "no"]


class SymbolicOptions(msgspec.Struct, frozen=True):
    """The parameters of Symbolic Generation, named as in its paper where it names them."""

    max_iter: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=100_000,
            title="Test cases",
            description="Number of instances tested, data rows and synthetic instances together.",
        ),
    ] = 1_000
    global_num: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=100_000,
            title="Starting instances",
            description=(
                "Number of these with which the search starts. Undirected search begins when "
                "they are used up."
            ),
        ),
    ] = 100
    seeds: Annotated[
        Literal["clustered", "data", "random"],
        msgspec.Meta(
            title="Starts from",
            description=(
                "Data rows from each cluster in turn; data rows without clustering; or instances "
                "drawn at random from the input domain."
            ),
        ),
    ] = "clustered"
    cluster_num: ClusterCount = 4
    directed: Annotated[
        YesNo,
        msgspec.Meta(
            title="Directed search",
            description=(
                "Whether to move from discriminatory instances to those on the other side of one "
                "condition."
            ),
        ),
    ] = "yes"
    undirected: Annotated[
        YesNo,
        msgspec.Meta(
            title="Undirected search",
            description="Whether to follow the paths of all instances to those not yet visited.",
        ),
    ] = "yes"
    T1: Annotated[
        float,
        msgspec.Meta(
            ge=0,
            le=1,
            title="Minimum confidence",
            description=(
                "Undirected search follows a path to the first condition with a confidence below "
                "this."
            ),
            extra={"symbol": "T₁"},
        ),
    ] = 0.3
    T2: Annotated[
        float,
        msgspec.Meta(
            ge=0,
            le=1.01,
            title="Maximum confidence",
            description=(
                "Directed search negates the conditions with a confidence below this; above 1 it "
                "negates all."
            ),
            extra={"symbol": "T₂"},
        ),
    ] = 0.2
    confidence: Annotated[
        Literal["path", "branch"],
        msgspec.Meta(
            title="Confidence",
            description=(
                "Share of local samples that fulfil a condition: of all samples, together with the "
                "conditions before it on the path; or of the samples that reach it."
            ),
        ),
    ] = "path"
    explanation: Annotated[
        Literal["lime", "own"],
        msgspec.Meta(
            title="Explanation",
            description=(
                "Samples drawn by LIME, as in the paper; or around many instances together, which "
                "takes less time and with 100 samples fewer queries per pair."
            ),
        ),
    ] = "lime"
    num_samples: Annotated[
        int,
        msgspec.Meta(
            ge=10,
            le=20_000,
            title="Local samples",
            description=(
                "Approximate number of nearby instances queried to explain one instance. 5,000 is "
                "LIME’s own default."
            ),
        ),
    ] = 5_000
    max_depth: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=100,
            title="Tree depth",
            description="Maximum number of conditions in an explanation.",
        ),
    ] = 10


class UniformOptions(msgspec.Struct, frozen=True):
    """The parameters of uniform sampling."""

    samples: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=1_000_000_000,
            title="Instances",
            description="Number of instances drawn from the input domain.",
        ),
    ] = 100_000


class QuickOptions(msgspec.Struct, frozen=True):
    """The parameters of the quick audit."""

    rounds: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=1_000,
            title="Rounds",
            description="Maximum number of rounds; the run ends earlier when a round "
            "finds nothing new.",
        ),
    ] = 20
    rows: Annotated[
        int,
        msgspec.Meta(
            ge=1_000,
            le=10_000_000,
            title="Queries per method",
            description="Approximate number of queries of each method per round.",
        ),
    ] = 50_000


class DiagnoseOptions(msgspec.Struct, frozen=True):
    """The parameters of the diagnosis."""

    sizes: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=100,
            title="Sizes",
            description=(
                "Number of perturbation sizes tested, from the smallest to the largest. Sizes "
                "that give the same steps in this input domain are tested once."
            ),
        ),
    ] = 7
    smallest: Annotated[
        float,
        msgspec.Meta(
            gt=0,
            le=1_000,
            title="Smallest size",
            description="In value codes; for wide ranges, in hundredths of the range.",
        ),
    ] = 0.01
    largest: Annotated[
        float,
        msgspec.Meta(
            gt=0,
            le=1_000,
            title="Largest size",
            description="In value codes; for wide ranges, in hundredths of the range.",
        ),
    ] = 10.0
    people: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=100_000,
            title="Instances",
            description="Number of data rows on which estimated and true gradients are compared.",
        ),
    ] = 500
    global_num: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=100_000,
            title="Starting rows",
            description="Number of data rows from which the short search with each size starts.",
        ),
    ] = 200
    local_num: Annotated[
        int,
        msgspec.Meta(
            ge=0,
            le=100_000,
            title="Local steps",
            description=(
                "Number of steps that the short search tries around each discriminatory instance."
            ),
        ),
    ] = 100
