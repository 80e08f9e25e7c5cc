"""The parameters of a repair, shared by its methods."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

#: What only a network has that is trained again.
_OF_NETWORKS = {"networks": True}


class RepairOptions(msgspec.Struct, frozen=True):
    """How rows are labelled and the model is retrained.

    The choices of ``labels`` are explained in `fairdesk.mitigate.rows.labelling`.
    """

    labels: Annotated[
        Literal["majority", "similar", "model", "neighbours"],
        msgspec.Meta(
            title="Source of labels",
            description=(
                "Source of the label of an augmentation row: the majority of five models of "
                "other types, trained on the original data without protected attributes; the "
                "majority of the model’s decisions in the counterfactual set; the model’s own "
                "decision, which teaches it to discriminate and exists for comparison; or the "
                "majority of the nearest data rows."
            ),
        ),
    ] = "majority"
    accuracy_loss: Annotated[
        float,
        msgspec.Meta(
            ge=0.0,
            le=50.0,
            title="Permitted accuracy loss",
            description=(
                "In percentage points, on the validation rows: a candidate model that loses more "
                "is not chosen."
            ),
        ),
    ] = 1.0
    people: Annotated[
        int,
        msgspec.Meta(
            ge=1_000,
            le=1_000_000,
            title="Instances tested",
            description=(
                "Number of instances drawn at random to choose the best model, and number of "
                "others to measure it; the same ones for every model."
            ),
        ),
    ] = 20_000
    start: Annotated[
        Literal["scratch", "tune"],
        msgspec.Meta(
            title="Training starts",
            description="For a Keras network: from new random weights, or from the imported ones.",
            extra=_OF_NETWORKS,
        ),
    ] = "scratch"
    optimiser: Annotated[
        Literal["own", "adam", "sgd", "rmsprop"],
        msgspec.Meta(
            title="Optimiser",
            description=(
                "For a Keras network: its own if the file states it (otherwise Adam), or another."
            ),
            extra=_OF_NETWORKS,
        ),
    ] = "own"
    epochs: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=1_000,
            title="Maximum epochs",
            description="For a Keras network: maximum number of passes over the training rows.",
            extra=_OF_NETWORKS,
        ),
    ] = 30
    batch: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=65_536,
            title="Batch size",
            description="For a Keras network: number of rows per weight update.",
            extra=_OF_NETWORKS,
        ),
    ] = 128
    patience: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=1_000,
            title="Patience",
            description=(
                "For a Keras network: training ends after this many epochs in which the loss on "
                "the validation rows does not fall; the best weights are kept."
            ),
            extra=_OF_NETWORKS,
        ),
    ] = 4
    compare: Annotated[
        Literal["none", "reweighing", "all"],
        msgspec.Meta(
            title="Other methods to compare",
            description=(
                "The same model trained with other mitigation methods, for comparison: with "
                "weighted rows (reweighing), or also with fairlearn’s exponentiated gradient and "
                "correlation remover, which take longer."
            ),
        ),
    ] = "reweighing"
    certify: Annotated[
        float,
        msgspec.Meta(
            ge=0.0,
            le=600.0,
            title="Certification time, seconds",
            description=(
                "Time for certifying each of the original and the chosen model, if their "
                "internal structure is available; 0: no certification."
            ),
        ),
    ] = 5.0


class AequitasOptions(RepairOptions, frozen=True):
    """The parameters of Aequitas' retraining (Algorithm 5)."""

    most: Annotated[
        float,
        msgspec.Meta(
            gt=0.0,
            le=100.0,
            title="Maximum augmentation size",
            description=(
                "Twice as many rows are added each time, up to this percentage of the training "
                "rows."
            ),
        ),
    ] = 32.0


class TestSgdOptions(RepairOptions, frozen=True):
    """The parameters of TestSGD's mitigation."""

    #: The test runner must not take it for a test.
    __test__ = False

    least: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=100_000,
            title="Minimum samples",
            description="The smallest number of samples added.",
        ),
    ] = 50
    most: Annotated[
        float,
        msgspec.Meta(
            gt=0.0,
            le=100.0,
            title="Maximum samples",
            description=(
                "The largest number of samples added, as a percentage of the training rows; the "
                "number is doubled each time up to it."
            ),
        ),
    ] = 10.0
