"""Opening files of boosted trees: XGBoost's JSON and UBJSON, LightGBM's text, as data.

XGBoost rounds what it is given to single precision, LightGBM takes the tiniest numbers for 0: both
are written as the threshold that says the same of every number.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import ModelError
from fairdesk.files import sha256
from fairdesk.models.boosting.catboost_model import open_catboost
from fairdesk.models.boosting.ensemble import (
    TINY,
    BrokenError,
    Ensemble,
    Linear,
    Link,
    Reading,
    Tree,
    UnsupportedError,
    unstated_categories,
)
from fairdesk.models.boosting.lightgbm_model import read_lightgbm
from fairdesk.models.boosting.xgboost_model import decode, read_xgboost
from fairdesk.models.decisions.outputs import (
    BY_KIND,
    from_classes,
    numbers_of,
)
from fairdesk.models.model import (
    Capability,
    Hints,
    Inputs,
    ModelCard,
    OpenedModel,
    Takes,
    as_matrix,
    width_text,
)
from fairdesk.models.structure import (
    CLOSE,
    Activation,
    Decides,
    Forest,
    ForestBuilder,
    Layer,
    Layers,
    ModelStructure,
    Names,
    OpaqueError,
    Read,
    Sets,
    rounded_first,
)
from fairdesk.results.events import Scores

if TYPE_CHECKING:
    from fairdesk.models.boosting.kernels import Packed


Float64 = NDArray[np.float64]

_SINGLE, _DOUBLE = 2.0**-24, 2.0**-53
#: How near to nothing an estimated number can be and round to it.
_NOTHING = 2.0**-126
_DECIDES: dict[tuple[str, Link], Decides] = {
    ("probabilities", "logistic"): "sigmoid",
    ("probabilities", "softmax"): "argmax",
    ("scores", "identity"): "sigmoid",
    ("values", "identity"): "value",
}


def anatomy_of_body(body: Ensemble | Linear, card: ModelCard) -> ModelStructure:
    """Look into boosted trees or a boosted linear model.

    Raises
    ------
    OpaqueError
        When its arithmetic is none that can be followed.
    """
    inside: Forest | Layers
    names: tuple[Names, ...] = ()
    if isinstance(body, Linear):
        inside = _layers(body, card.scores)
    else:
        read = read_of(body, card.scores)
        inside, names = read.forest, read.names
    sources = tuple((i,) for i in range(body.width))
    smooth = (True,) * body.width
    # what is not a whole number loses its fraction before LightGBM looks for it
    named = (
        np.flatnonzero(body.categorical)
        if isinstance(body, Ensemble) and body.precision is np.float64
        else np.zeros(0, np.intp)
    )

    def prepare(inputs: Inputs) -> Float64:
        matrix = as_matrix(inputs)
        if isinstance(body, Linear):
            return np.where(np.isnan(matrix), 0.0, matrix)
        if named.size:
            matrix = matrix.copy()
            matrix[:, named] = np.trunc(matrix[:, named])
        return np.column_stack([matrix, *(each.of(matrix[:, each.column]) for each in names)])

    close = CLOSE
    if inside.decides == "value":
        close = _NOTHING
    elif inside.decides == "argmax":
        # scores of classes are normalised in single precision
        close = max(close, len(card.classes) * 2.0**-21)
    return ModelStructure(
        prepare,
        (*sources, *((each.column,) for each in names)),
        (*smooth, *(False for _ in names)),
        inside,
        close,
    )


def read_of(ensemble: Ensemble, scores: str) -> Read:
    """Write trees as one list of nodes.

    Parameters
    ----------
    scores : str
        As in `ModelCard`.

    Raises
    ------
    OpaqueError
        When their sum decides in a way that cannot be followed.
    """
    groups = len(ensemble.base)
    decides = _decides(scores, ensemble.link, groups)
    single = ensemble.precision is np.float32
    grove, sets = ForestBuilder(), Sets(ensemble.width)
    for tree in ensemble.trees:
        if tree.zero_missing is not None and tree.zero_missing.any():
            raise OpaqueError("its trees treat a missing number as zero")
        value = np.zeros((len(tree.column), groups))
        value[:, tree.group] = tree.value * ensemble.scale / ensemble.share
        column, threshold = _splits_of(tree, sets, single=single, otherwise=ensemble.otherwise)
        grove.plant(column, (tree.left, tree.right), threshold, tree.missing_left, value)
    base = ensemble.base * ensemble.scale
    forest = grove.forest(base, decides, _SINGLE if single else _DOUBLE)
    return Read(_of_two(forest) if decides == "argmax" and groups == 2 else forest, sets.all())


def _splits_of(
    tree: Tree, sets: Sets, *, single: bool, otherwise: bool
) -> tuple[NDArray[np.int64], Float64]:
    """Return the column that each node looks at, and its threshold."""
    column = tree.column.copy()
    inner = np.where(column >= 0, tree.threshold, 0.0)
    threshold = rounded_first(inner) if single else _zero_first(inner)
    for node, left in tree.sets.items():
        column[node] = sets.column(int(column[node]), left, otherwise)
        threshold[node] = 0.5
    return column, threshold


def _zero_first(threshold: Float64) -> Float64:
    """Write thresholds for numbers of which the tiniest are taken for nought."""
    below = np.where(threshold >= -TINY, np.nextafter(-TINY, -np.inf), threshold)
    return np.where(threshold >= 0, np.maximum(threshold, TINY), below)


def _decides(scores: str, link: Link, groups: int) -> Decides:
    found = _DECIDES.get((scores, link))
    if found is None or (found != "argmax" and groups > 1):
        raise OpaqueError("how its sums become outputs is not known")
    return found


def _of_two(forest: Forest) -> Forest:
    """Write a softmax of two sums as the logistic function of their difference."""
    base = forest.base[1:] - forest.base[:1]
    return replace(
        forest,
        value=forest.value[:, 1:] - forest.value[:, :1],
        base=base,
        decides="sigmoid",
        slack=2.0 * forest.slack + float(np.abs(forest.base).sum()) * 4 * _DOUBLE,
    )


def _layers(body: Linear, scores: str) -> Layers:
    decides = _decides(scores, body.link, len(body.bias))
    weights, bias = body.weights, body.bias
    if decides == "argmax" and len(bias) == 2:
        raise OpaqueError("how its sums become outputs is not known")
    return Layers((Layer(weights, bias, Activation("linear")),), np.float32, decides)


def read_estimator(estimator: Any) -> Read:  # noqa: ANN401 - XGBoost's or LightGBM's
    """Read the trees of an estimator with scikit-learn's interface.

    Raises
    ------
    OpaqueError
        When they are of a kind that is not read.
    """
    try:
        reading = reading_of(estimator)
    except (BrokenError, UnsupportedError) as error:
        raise OpaqueError(str(error)) from error
    if isinstance(reading.body, Linear):
        raise OpaqueError("it is an XGBoost linear model")
    if reading.body.categorical.any():
        raise OpaqueError("its trees test for sets of categories")
    read = read_of(reading.body, reading.scores)
    missing = getattr(estimator, "missing", None)
    return replace(read, missing=float("nan") if missing is None else float(missing))


def reading_of(estimator: Any) -> Reading:  # noqa: ANN401 - XGBoost's or LightGBM's
    """Read the trees that answer for an estimator with scikit-learn's interface.

    Raises
    ------
    BrokenError, UnsupportedError
        When they are of a kind that is not read.
    """
    if type(estimator).__module__.partition(".")[0] == "lightgbm":
        return read_booster(estimator.booster_)
    booster = estimator.get_booster()
    best = booster.attributes().get("best_iteration")
    return read_booster(booster if best is None else booster[: int(best) + 1])


def read_booster(booster: Any) -> Reading:  # noqa: ANN401 - XGBoost's or LightGBM's
    """Read a booster by the file that its library would write.

    Raises
    ------
    BrokenError, UnsupportedError
        When it is of a kind that is not read.
    """
    if type(booster).__module__.partition(".")[0] == "lightgbm":
        return read_lightgbm(booster.model_to_string(num_iteration=booster.best_iteration))
    return read_xgboost(decode(bytes(booster.save_raw("ubj"))))


#: No boosted model of a table is larger.
_MOST_BYTES = 1 << 29
_XGBOOST = "xgboost.Booster(model_file=“old.model”).save_model(“model.json”)"
_LIGHTGBM = "booster.save_model(“model.txt”)"


class BoostedModel:
    """Boosted trees, or a boosted linear model: numbers, computed by compiled loops.

    Equal rows have equal answers, to the last bit, in whatever batch and wherever in it.

    Attributes
    ----------
    steady : bool
        True: where a row stands in a batch changes no bit of its answer.
    """

    steady = True

    def __init__(self, card: ModelCard, body: Ensemble | Linear) -> None:
        self.card = card
        self.body = body

    def scores(self, inputs: Inputs) -> Scores:
        """Answer for one array per input; as `OpenedModel.scores`."""
        return self.matrix_scores(as_matrix(inputs))

    def matrix_scores(self, matrix: Float64) -> Scores:
        """Answer for ``(n, inputs)`` numbers; as `OpenedModel.scores`."""
        answers = self.answers(matrix)
        if self.card.scores == "labels":
            return from_classes(answers[:, 0].astype(np.intp), 2)
        return BY_KIND[self.card.scores](answers)

    def answers(self, matrix: Float64) -> NDArray[Any]:
        """Return what the library answers for ``(n, inputs)`` numbers: ``(n, k)``.

        Raises
        ------
        ModelError
            When a number is too large for the model's precision.
        """
        # compiled code is loaded where a model is asked, never in the window's process
        from fairdesk.models.boosting.kernels import (  # noqa: PLC0415
            add_up,
            add_weighted,
            linked,
        )

        body = self.body
        if matrix.ndim != 2 or matrix.shape[1] != body.width:
            raise ValueError(f"a matrix of the shape {matrix.shape}")
        rows = given(body, matrix)
        if isinstance(body, Linear):
            totals: NDArray[Any] = np.tile(body.bias.astype(np.float32), (len(rows), 1))
            add_weighted(rows, body.weights.astype(np.float32), totals)
        else:
            totals = np.tile(body.base.astype(body.precision), (len(rows), 1))
            trees, value = self._packed
            add_up(rows, trees, value, totals)
            if body.share > 1:
                totals /= body.share
            if body.scale != 1.0:
                totals *= body.scale
        linked(totals, body.link)
        return totals

    def structure(self) -> ModelStructure:
        """Look into it.

        Raises
        ------
        OpaqueError
            When its arithmetic is none that can be followed.
        """
        return anatomy_of_body(self.body, self.card)

    @cached_property
    def _packed(self) -> tuple[Packed, NDArray[Any]]:
        from fairdesk.models.boosting.kernels import packed  # noqa: PLC0415 - as above

        if not isinstance(self.body, Ensemble):
            raise TypeError("no trees")
        return packed(self.body)


def given(body: Ensemble | Linear, matrix: Float64) -> Float64:
    """Make of ``(n, inputs)`` numbers those that the library compares.

    Raises
    ------
    ModelError
        When one is too large for the model's precision.
    """
    if isinstance(body, Linear) or body.precision is np.float32:
        return np.ascontiguousarray(numbers_of(matrix, np.float32), np.float64)
    rows = np.where(np.abs(matrix) <= TINY, 0.0, matrix)
    named = body.categorical
    rows[:, named] = np.trunc(rows[:, named])
    return rows


def open_boosted(path: Path, kind: str) -> OpenedModel:
    """Open a file of boosted trees; nothing of it runs, and of its library only CatBoost's.

    Parameters
    ----------
    kind : str
        As `kind_of` told.

    Raises
    ------
    ModelError
        When it is damaged, or holds what is not read.
    """
    name = f"“{path.name}”"
    if kind == "xgboost-old":
        raise _old(path)
    if kind.endswith("-dump"):
        saving = _LIGHTGBM if kind == "lightgbm-dump" else "booster.save_model(“model.json”)"
        raise ModelError(
            f"{name} is a readable list of a model’s trees; it is not the model.",
            why="Its numbers are rounded, and the start value of its sums is missing.",
            remedy=f"Ask for the model itself: {saving}.",
        )
    if path.stat().st_size > _MOST_BYTES:
        raise ModelError(
            f"{name} is too large for a model of a table.",
            why=f"It has more than {_MOST_BYTES >> 20:,} megabytes.",
            remedy="Check that it is the right file.",
        )
    if kind.startswith("catboost-"):
        return open_catboost(path, kind.removeprefix("catboost-"))
    readers: dict[str, Callable[[bytes], Reading]] = {
        "xgboost-json": lambda content: read_xgboost(json.loads(content)),
        "xgboost-ubj": lambda content: read_xgboost(decode(content)),
        "lightgbm": lambda content: read_lightgbm(_text(content)),
    }
    return _opened(path, lambda: readers[kind](path.read_bytes()), _saving(kind))


def open_booster(path: Path, booster: Any) -> BoostedModel:  # noqa: ANN401 - XGBoost's or LightGBM's
    """Read a bare booster, which its library rebuilt of a pickle, as its own file would be read.

    Raises
    ------
    ModelError
        When it holds what is not read.
    """
    home = type(booster).__module__.partition(".")[0]
    return _opened(path, lambda: read_booster(booster), _saving(home))


def as_boosted(card: ModelCard, estimator: Any) -> BoostedModel | None:  # noqa: ANN401 - any estimator
    """Read an estimator that was trained on categories of pandas by its trees and their codes.

    Its library would have to be given a table of pandas with the same categories in the same
    order, which only the trees know.

    Returns
    -------
    BoostedModel, optional
        ``None`` where its library answers in a way of its own.
    """
    missing = getattr(estimator, "missing", None)
    if missing is not None and missing == missing:  # noqa: PLR0124 - not NaN
        return None
    try:
        reading = reading_of(estimator)
    except (BrokenError, UnsupportedError):
        return None
    same = (reading.scores, len(reading.classes)) == (card.scores, len(card.classes))
    if not same or reading.body.width != len(card.inputs):
        return None
    names = reading.names and card.inputs
    own = _card(Path(card.path), replace(reading, names=names, classes=card.classes))
    return _with_structure(
        BoostedModel(
            msgspec.structs.replace(
                own,
                format=card.format,
                read_as_data=not card.needed_trust,
                needed_trust=card.needed_trust,
                saved_with=card.saved_with,
                warnings=(*card.warnings, *own.warnings),
                hints=msgspec.structs.replace(
                    card.hints,
                    codes={**own.hints.codes, **card.hints.codes},
                    notes=(*card.hints.notes, *own.hints.notes),
                ),
            ),
            reading.body,
        )
    )


def _saving(kind: str) -> str:
    return _LIGHTGBM if kind == "lightgbm" else "booster.save_model(“model.json”)"


def _text(content: bytes) -> str:
    try:
        return content.decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise BrokenError("it is not UTF-8") from error


def _old(path: Path) -> ModelError:
    return ModelError(
        f"“{path.name}” is in a binary format that XGBoost no longer supports.",
        why="XGBoost 3.1 and newer cannot read it either.",
        remedy="Ask its author to convert it, with XGBoost 3.0 or older, by one line of Python: "
        f"{_XGBOOST}.",
    )


def _opened(path: Path, read: Callable[[], Reading], saving: str) -> BoostedModel:
    name = f"“{path.name}”"
    try:
        reading = read()
    except UnsupportedError as error:
        raise ModelError(
            f"{name} contains boosted trees of a type that FairDesk does not read.",
            why=f"The model cannot be opened as data: {error}.",
            remedy=error.remedy,
        ) from error
    except BrokenError as error:
        raise _broken(name, str(error), saving) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise _broken(name, f"it cannot be read: {str(error)[:200]}", saving) from error
    return _with_structure(BoostedModel(_card(path, reading), reading.body))


def _with_structure(opened: BoostedModel) -> BoostedModel:
    """Say in the card what is known of a model's arithmetic."""
    try:
        inside = opened.structure().body
    except OpaqueError:
        return opened
    known = Capability.LAYERS if isinstance(inside, Layers) else Capability.TREES
    opened.card = msgspec.structs.replace(opened.card, can=(*opened.card.can, known))
    return opened


def _broken(name: str, why: str, saving: str) -> ModelError:
    return ModelError(
        f"{name} is damaged or incomplete.",
        why=f"Reading it failed: {why}.",
        remedy=f"Get the file again, or save the model again: {saving}.",
    )


def _card(path: Path, reading: Reading) -> ModelCard:
    width = reading.body.width
    names = reading.names or tuple(f"input {i + 1}" for i in range(width))
    can = [Capability.DECIDES]
    can += [Capability.SCORES] if reading.scores != "labels" else []
    codes = {names[place]: own for place, own in reading.codes.items()}
    return ModelCard(
        path=str(path),
        sha256=sha256(path),
        format=f"{reading.saved_with} model",
        summary=f"{reading.summary.capitalize()}, {width_text(width, len(reading.classes))}.",
        takes=Takes.MATRIX,
        inputs=names,
        named=bool(reading.names),
        classes=reading.classes,
        scores=reading.scores,
        read_as_data=True,
        saved_with=reading.saved_with if " " in reading.saved_with else "",
        warnings=(*reading.notes, *unstated_categories(reading)),
        can=tuple(can),
        accepts=("number",) * width,
        hints=Hints(
            codes=codes,
            notes=tuple(f"The model’s file has the codes of “{name}”." for name in codes),
        ),
    )
