"""The parameters of the searches, named as in their papers."""

from __future__ import annotations

from typing import Annotated

import msgspec

Decay = Annotated[
    float,
    msgspec.Meta(
        ge=0,
        lt=1,
        title="Momentum",
        description="How much of the last step's direction is kept; 0 forgets it.",
    ),
]
UpdateInterval = Annotated[
    int,
    msgspec.Meta(
        ge=1,
        le=1_000_000,
        title="Gradient renewal",
        description="After how many successful local steps the gradients are asked anew.",
    ),
]


class WalkOptions(msgspec.Struct, frozen=True):
    """The parameters that MAFT, EIDIG and ADF share."""

    global_num: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=1_000_000,
            title="Seeds",
            description="How many real people the search starts from.",
        ),
    ] = 1_000
    local_num: Annotated[
        int,
        msgspec.Meta(
            ge=0,
            le=1_000_000,
            title="Local steps",
            description="How many steps are tried around each discriminatory person found.",
        ),
    ] = 1_000
    cluster_num: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=1_000,
            title="Clusters",
            description="Into how many groups of alike people the data are divided, "
            "so that seeds come from all of them in turn.",
        ),
    ] = 4
    max_iter: Annotated[
        int,
        msgspec.Meta(
            ge=0,
            le=10_000,
            title="Global steps",
            description="How many steps a seed may take towards the decision boundary.",
        ),
    ] = 10
    global_step: Annotated[
        float,
        msgspec.Meta(
            gt=0,
            le=1_000,
            title="Global step size",
            description="In codes; for wide ranges in hundredths of the range.",
        ),
    ] = 1.0
    local_step: Annotated[
        float,
        msgspec.Meta(
            gt=0,
            le=1_000,
            title="Local step size",
            description="In codes; for wide ranges in hundredths of the range.",
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
            description="How far an attribute is moved to estimate the gradient; "
            "in codes, for wide ranges in hundredths of the range.",
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
            title="People drawn",
            description="How many invented people the search looks at first, to start around "
            "those who are discriminated against.",
        ),
    ] = 10_000
    local_iteration_limit: Annotated[
        int,
        msgspec.Meta(
            ge=0,
            le=1_000_000,
            title="Local trials",
            description="How many steps are tried around each discriminatory person drawn.",
        ),
    ] = 1_000
    perturbation_unit: Annotated[
        float,
        msgspec.Meta(
            gt=0,
            le=1_000,
            title="Step size",
            description="In codes; for wide ranges in hundredths of the range.",
        ),
    ] = 1.0
    init_prob: Annotated[
        float,
        msgspec.Meta(
            ge=0,
            le=1,
            title="Chance of a step down",
            description="How likely a step lowers an attribute instead of raising it, at first.",
        ),
    ] = 0.5
    acceptance: Annotated[
        float,
        msgspec.Meta(
            ge=0,
            le=1,
            title="Chance of going on",
            description="How likely the search goes on from somebody who is treated fairly, "
            "instead of going back: 1 as in the paper, 0.37 as in its authors' program; "
            "0 stays among those who are discriminated against and finds the most.",
        ),
    ] = 0.0
    gamma: Annotated[
        float,
        msgspec.Meta(
            ge=0,
            lt=1,
            title="Discrimination threshold",
            description="Above 0, two people also count when their scores differ by more than "
            "this, though the decision is the same.",
        ),
    ] = 0.0


class SemiDirectedOptions(RandomOptions, frozen=True):
    """The parameters of the semi-directed search."""

    direction_probability_change_size: Annotated[
        float,
        msgspec.Meta(
            ge=0,
            le=1,
            title="Learning of directions",
            description="By how much a trial changes how likely its direction is from then on.",
        ),
    ] = 0.001


class FullyDirectedOptions(SemiDirectedOptions, frozen=True):
    """The parameters of the fully-directed search."""

    param_probability_change_size: Annotated[
        float,
        msgspec.Meta(
            ge=0,
            le=1,
            title="Learning of attributes",
            description="By how much a success changes how likely its attribute is from then on.",
        ),
    ] = 0.001


class SymbolicOptions(msgspec.Struct, frozen=True):
    """The parameters of Symbolic Generation, named as in its paper where it names them."""

    max_iter: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=100_000,
            title="Test cases",
            description="How many people are checked, real and invented ones together.",
        ),
    ] = 1_000
    global_num: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=100_000,
            title="Seeds",
            description="How many of these are real people of the data, with whom the search "
            "starts. Undirected search begins when they are used up.",
        ),
    ] = 100
    cluster_num: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=1_000,
            title="Clusters",
            description="Into how many groups of alike people the data are divided, "
            "so that seeds come from all of them in turn.",
        ),
    ] = 4
    T1: Annotated[
        float,
        msgspec.Meta(
            ge=0,
            le=1,
            title="Least confidence (T1)",
            description="Undirected search follows a path down to the first condition with less "
            "confidence than this.",
        ),
    ] = 0.3
    T2: Annotated[
        float,
        msgspec.Meta(
            ge=0,
            le=1.01,
            title="Most confidence (T2)",
            description="Directed search turns over the conditions with less confidence than "
            "this; above 1 it turns over all, which finds more for the same number of rows.",
        ),
    ] = 0.2
    num_samples: Annotated[
        int,
        msgspec.Meta(
            ge=10,
            le=20_000,
            title="Local samples",
            description="About how many people nearby the model is asked to explain one. The "
            "paper’s program takes 5,000; with few the search finds no less, and costs far less.",
        ),
    ] = 100
    max_depth: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=100,
            title="Tree depth",
            description="How many conditions an explanation has at most.",
        ),
    ] = 10


class UniformOptions(msgspec.Struct, frozen=True):
    """The parameters of uniform sampling."""

    samples: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=1_000_000_000,
            title="People",
            description="How many people are drawn from the domain.",
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
            description="How many rounds there are at most; it ends earlier when one taught "
            "nothing new.",
        ),
    ] = 20
    rows: Annotated[
        int,
        msgspec.Meta(
            ge=1_000,
            le=10_000_000,
            title="Rows per method",
            description="How many rows each method may send to the model in a round, about.",
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
            description="How many perturbation sizes are tried, from the smallest to the largest. "
            "Those that come to the same steps on this domain are tried once.",
        ),
    ] = 7
    smallest: Annotated[
        float,
        msgspec.Meta(
            gt=0,
            le=1_000,
            title="Smallest size",
            description="In codes, for wide ranges in hundredths of the range.",
        ),
    ] = 0.01
    largest: Annotated[
        float,
        msgspec.Meta(
            gt=0,
            le=1_000,
            title="Largest size",
            description="In codes, for wide ranges in hundredths of the range.",
        ),
    ] = 10.0
    people: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=100_000,
            title="People",
            description="On how many real people estimated and true gradients are compared.",
        ),
    ] = 500
    global_num: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=100_000,
            title="Seeds",
            description="How many real people the short search with each size starts from.",
        ),
    ] = 200
    local_num: Annotated[
        int,
        msgspec.Meta(
            ge=0,
            le=100_000,
            title="Local steps",
            description="How many steps the short search tries around each discriminatory person.",
        ),
    ] = 100
