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
            title="Labels",
            description="Where the label of an added row comes from: the majority of five models "
            "of other kinds, trained on the original data without protected attributes; the "
            "majority of the model’s decisions about everybody who differs in protected attributes "
            "only; the model’s own decision, which teaches it to discriminate and is there to "
            "compare with; or the majority of the nearest real people.",
        ),
    ] = "majority"
    accuracy_loss: Annotated[
        float,
        msgspec.Meta(
            ge=0.0,
            le=50.0,
            title="Accuracy it may cost",
            description="In percentage points, on the validation rows: a portion that costs more "
            "is not chosen.",
        ),
    ] = 1.0
    people: Annotated[
        int,
        msgspec.Meta(
            ge=1_000,
            le=1_000_000,
            title="People asked about",
            description="So many are drawn at random to choose the best model by, and so many "
            "others to tell how it fares; the same ones for every model.",
        ),
    ] = 20_000
    start: Annotated[
        Literal["scratch", "tune"],
        msgspec.Meta(
            title="Training begins",
            description="Of a Keras network: from new random weights, or from the imported ones.",
            extra=_OF_NETWORKS,
        ),
    ] = "scratch"
    optimiser: Annotated[
        Literal["own", "adam", "sgd", "rmsprop"],
        msgspec.Meta(
            title="Optimiser",
            description="Of a Keras network: its own where the file tells (else Adam), or another.",
            extra=_OF_NETWORKS,
        ),
    ] = "own"
    epochs: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=1_000,
            title="Epochs at most",
            description="Of a Keras network: how often it sees the training rows.",
            extra=_OF_NETWORKS,
        ),
    ] = 30
    batch: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=65_536,
            title="Rows in a batch",
            description="Of a Keras network: after so many rows it learns.",
            extra=_OF_NETWORKS,
        ),
    ] = 128
    patience: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=1_000,
            title="Patience",
            description="Of a Keras network: training ends after so many epochs in which the loss "
            "on the validation rows does not fall; the best weights are kept.",
            extra=_OF_NETWORKS,
        ),
    ] = 4
    compare: Annotated[
        Literal["none", "reweighing", "all"],
        msgspec.Meta(
            title="Other methods beside",
            description="The same model trained by methods of other kinds, to compare: with "
            "weighted rows (reweighing), or also with fairlearn’s exponentiated gradient and "
            "correlation remover, which take longer.",
        ),
    ] = "reweighing"
    certify: Annotated[
        float,
        msgspec.Meta(
            ge=0.0,
            le=600.0,
            title="Seconds of proof",
            description="For so long each it is proven how many people the imported model and the "
            "chosen one treat alike, where they can be looked into; 0: not at all.",
        ),
    ] = 5.0


class AequitasOptions(RepairOptions, frozen=True):
    """The parameters of Aequitas' retraining (Algorithm 5)."""

    most: Annotated[
        float,
        msgspec.Meta(
            gt=0.0,
            le=100.0,
            title="Greatest portion",
            description="Portions are doubled until they would add more than so many percent of "
            "the training rows.",
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
            title="Fewest samples",
            description="The smallest number of samples that is added.",
        ),
    ] = 50
    most: Annotated[
        float,
        msgspec.Meta(
            gt=0.0,
            le=100.0,
            title="Most samples",
            description="The greatest number, in percent of the training rows: up to it the number "
            "is doubled each time.",
        ),
    ] = 10.0
