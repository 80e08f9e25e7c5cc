"""The parameters of the searches, named as in their papers."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

Decay = Annotated[float, Meta(ge=0, lt=1)]
UpdateInterval = Annotated[int, Meta(ge=1, le=1_000_000)]

ClusterCount = Annotated[int, Meta(ge=1, le=1_000)]


class WalkOptions(Struct, frozen=True):
    """The parameters that MAFT, EIDIG and ADF share."""

    global_num: Annotated[int, Meta(ge=1, le=1_000_000)] = 1_000
    local_num: Annotated[int, Meta(ge=0, le=1_000_000)] = 1_000
    cluster_num: ClusterCount = 4
    max_iter: Annotated[int, Meta(ge=0, le=10_000)] = 10
    global_step: Annotated[float, Meta(gt=0, le=1_000)] = 1.0
    local_step: Annotated[float, Meta(gt=0, le=1_000)] = 1.0


class MaftOptions(WalkOptions, frozen=True):
    """The parameters of MAFT, named as in its paper."""

    decay: Decay = 0.5
    update_interval: UpdateInterval = 5
    perturbation_size: Annotated[float, Meta(gt=0, le=1_000)] = 1.0


class EidigOptions(WalkOptions, frozen=True):
    """The parameters of EIDIG, named as in its paper."""

    decay: Decay = 0.5
    update_interval: UpdateInterval = 5


class AdfOptions(WalkOptions, frozen=True):
    """The parameters of ADF, named as in its paper."""


class RandomOptions(Struct, frozen=True):
    """The parameters of the random search, named as in the authors' program."""

    global_iteration_limit: Annotated[int, Meta(ge=1, le=1_000_000)] = 10_000
    local_iteration_limit: Annotated[int, Meta(ge=0, le=1_000_000)] = 1_000
    perturbation_unit: Annotated[float, Meta(gt=0, le=1_000)] = 1.0
    init_prob: Annotated[float, Meta(ge=0, le=1)] = 0.5
    acceptance: Annotated[float, Meta(ge=0, le=1)] = 0.0
    gamma: Annotated[float, Meta(ge=0, lt=1)] = 0.0


class SemiDirectedOptions(RandomOptions, frozen=True):
    """The parameters of the semi-directed search."""

    direction_probability_change_size: Annotated[float, Meta(ge=0, le=1)] = 0.001


class FullyDirectedOptions(SemiDirectedOptions, frozen=True):
    """The parameters of the fully-directed search."""

    param_probability_change_size: Annotated[float, Meta(ge=0, le=1)] = 0.001


YesNo = Literal["yes", "no"]


class SymbolicOptions(Struct, frozen=True):
    """The parameters of Symbolic Generation, named as in its paper where it names them."""

    max_iter: Annotated[int, Meta(ge=1, le=100_000)] = 1_000
    global_num: Annotated[int, Meta(ge=1, le=100_000)] = 100
    seeds: Literal["clustered", "data", "random"] = "clustered"
    cluster_num: ClusterCount = 4
    directed: YesNo = "yes"
    undirected: YesNo = "yes"
    T1: Annotated[float, Meta(ge=0, le=1)] = 0.3
    T2: Annotated[float, Meta(ge=0, le=1.01)] = 0.2
    confidence: Literal["path", "branch"] = "path"
    explanation: Literal["lime", "own"] = "lime"
    num_samples: Annotated[int, Meta(ge=10, le=20_000)] = 5_000
    max_depth: Annotated[int, Meta(ge=1, le=100)] = 10


class UniformOptions(Struct, frozen=True):
    """The parameters of uniform sampling."""

    samples: Annotated[int, Meta(ge=1, le=1_000_000_000)] = 100_000


class QuickOptions(Struct, frozen=True):
    """The parameters of the quick audit."""

    rounds: Annotated[int, Meta(ge=1, le=1_000)] = 20
    rows: Annotated[int, Meta(ge=1_000, le=10_000_000)] = 50_000


class DiagnoseOptions(Struct, frozen=True):
    """The parameters of the diagnosis."""

    sizes: Annotated[int, Meta(ge=1, le=100)] = 7
    smallest: Annotated[float, Meta(gt=0, le=1_000)] = 0.01
    largest: Annotated[float, Meta(gt=0, le=1_000)] = 10.0
    people: Annotated[int, Meta(ge=1, le=100_000)] = 500
    global_num: Annotated[int, Meta(ge=1, le=100_000)] = 200
    local_num: Annotated[int, Meta(ge=0, le=100_000)] = 100
