"""The parameters of a repair, shared by its methods."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct


class RepairOptions(Struct, frozen=True):
    """How rows are labelled and the model is retrained.

    The choices of ``labels`` are explained in `fairdesk.mitigate.rows.labelling`.
    """

    labels: Literal["majority", "similar", "model", "neighbours"] = "majority"
    accuracy_loss: Annotated[float, Meta(ge=0.0, le=50.0)] = 1.0
    people: Annotated[int, Meta(ge=1_000, le=1_000_000)] = 20_000
    start: Literal["scratch", "tune"] = "scratch"
    optimiser: Literal["own", "adam", "sgd", "rmsprop"] = "own"
    epochs: Annotated[int, Meta(ge=1, le=1_000)] = 30
    batch: Annotated[int, Meta(ge=1, le=65_536)] = 128
    patience: Annotated[int, Meta(ge=1, le=1_000)] = 4
    compare: Literal["none", "reweighing", "all"] = "reweighing"
    certify: Annotated[float, Meta(ge=0.0, le=600.0)] = 5.0


class AequitasRepairOptions(RepairOptions, frozen=True):
    """The parameters of Aequitas' retraining (Algorithm 5)."""

    most: Annotated[float, Meta(gt=0.0, le=100.0)] = 32.0


class TestSgdRepairOptions(RepairOptions, frozen=True):
    """The parameters of TestSGD's mitigation."""

    #: The test runner must not take it for a test.
    __test__ = False

    least: Annotated[int, Meta(ge=1, le=100_000)] = 50
    most: Annotated[float, Meta(gt=0.0, le=100.0)] = 10.0
