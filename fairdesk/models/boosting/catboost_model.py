"""CatBoost's models, asked by CatBoost itself, which reads them as data."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import ModelError
from fairdesk.files import sha256
from fairdesk.models.decisions.outputs import (
    BY_KIND,
    first_line,
    no_scores,
    numbers_of,
    rejected,
)
from fairdesk.models.model import (
    Capability,
    Inputs,
    ModelCard,
    Takes,
    as_matrix,
    number_of,
)
from fairdesk.results.events import Scores

#: Losses of which the answers are shares of classes, also where no class has a name.
_CLASSIFIES = frozenset({"Logloss", "CrossEntropy", "Focal"})
#: Losses of which the answers are more than one number or one class.
_SEVERAL = frozenset(
    {"MultiRMSE", "MultiRMSEWithMissingValues", "RMSEWithUncertainty", "MultiQuantile"}
    | {"MultiLogloss", "MultiCrossEntropy", "SurvivalAft"}
)
#: Losses of which the estimate is the exponential function of the sum.
_EXPONENTIAL = frozenset({"Poisson", "Tweedie"})


class CatBoostModel:
    """A model of CatBoost."""

    def __init__(self, card: ModelCard, booster: Any, description: _Described) -> None:  # noqa: ANN401 - CatBoost has no types
        self.card = card
        self._booster = booster
        self._description = description

    def matrix_scores(self, matrix: NDArray[np.float64]) -> Scores:
        """Answer for ``(n, inputs)`` numbers; as `OpenedModel.scores`."""
        return self._answer(np.asarray(numbers_of(matrix, np.float32)), len(matrix))

    def scores(self, inputs: Inputs) -> Scores:
        """Answer for one array per input; as `OpenedModel.scores`."""
        if not self._description.named:
            return self.matrix_scores(as_matrix(inputs))
        # a second to load; this runs in the model's own process
        import pandas as pd  # noqa: PLC0415

        columns = {
            name: _categories(own, name)
            if i in self._description.named
            else as_matrix([own]).astype(np.float32)[:, 0]
            for i, (name, own) in enumerate(zip(self._description.names, inputs, strict=True))
        }
        return self._answer(pd.DataFrame(columns), len(inputs[0]))

    def _answer(self, rows: Any, count: int) -> Scores:  # noqa: ANN401 - a matrix or a pandas frame
        values = self.card.scores == "values"
        if not count:
            return no_scores(self.card)
        kind = "Exponent" if self._description.loss in _EXPONENTIAL else "RawFormulaVal"
        try:
            answers = np.asarray(
                self._booster.predict(
                    rows, prediction_type=kind if values else "Probability", thread_count=1
                )
            )
        except Exception as error:
            # any kind: CatBoost's own have no common base
            raise rejected(count, f"CatBoost reported: {first_line(error)}") from error
        return BY_KIND[self.card.scores](answers)


def _categories(cells: NDArray[Any], name: str) -> NDArray[np.object_]:
    """Write categories as CatBoost reads them: texts, whole numbers without a point."""
    found = np.empty(len(cells), dtype=object)
    for i, cell in enumerate(cells.tolist()):
        if cell is None or cell != cell:  # noqa: PLR0124 - NaN
            raise ModelError(
                f"A cell of “{name}” is missing, and the model accepts no missing categories.",
                remedy=(
                    "Exclude rows with missing cells, or give these cells the value that they "
                    "had in training."
                ),
            )
        whole = isinstance(cell, float) and cell.is_integer()
        found[i] = str(int(cell)) if whole else str(cell)
    return found


def open_catboost(path: Path, form: str) -> CatBoostModel:
    """Open a model of CatBoost.

    Parameters
    ----------
    form : str
        ``"cbm"`` or ``"json"``.

    Raises
    ------
    ModelError
        When CatBoost is not installed, or cannot read the file; when it reads texts or vectors, or
        answers in a way that is none of a table's models.
    """
    try:
        from catboost import CatBoost  # type: ignore[import-not-found,import-untyped,unused-ignore]  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ModelError(
            f"“{path.name}” is a CatBoost model, but CatBoost is not installed.",
            why="FairDesk computes the outputs of CatBoost models with CatBoost itself.",
            remedy="Install it: pip install “fairdesk[catboost]”.",
        ) from error
    booster = CatBoost()
    try:
        booster.load_model(str(path), format=form)
        description = _Described.of(booster)
    except Exception as error:
        # any kind, as above
        raise ModelError(
            f"“{path.name}” is damaged or incomplete.",
            why=f"CatBoost reported: {first_line(error)}",
            remedy="Get the file again, or save the model again: model.save_model(“model.cbm”).",
        ) from error
    if description.other:
        raise ModelError(
            f"“{path.name}” reads {description.other}, as well as numbers and categories.",
            why="FairDesk does not support such CatBoost inputs.",
            remedy="Ask for the model’s scores as a column of the data.",
        )
    if description.loss in _SEVERAL:
        raise ModelError(
            f"“{path.name}” has several outputs at once ({description.loss}).",
            remedy="Ask for a model with one output, or for its scores as a column of the data.",
        )
    return CatBoostModel(_card(path, description), booster, description)


@dataclass(frozen=True, slots=True)
class _Described:
    """What a loaded model tells of itself.

    Attributes
    ----------
    names : tuple[str, ...]
        Its inputs, as CatBoost calls them: its own names, or numbers from 0.
    named : frozenset[int]
        The inputs that take categories.
    other : str
        What it reads beside numbers and categories.
    loss : str
        What it was trained for.
    classes : tuple[str, ...]
        As in `ModelCard`.
    trees : int
        How many it has.
    version : str
        Of CatBoost, that saved it.
    threshold : float
        Where its own decision between two classes changes.
    """

    names: tuple[str, ...]
    named: frozenset[int]
    other: str
    loss: str
    classes: tuple[str, ...]
    trees: int
    version: str
    threshold: float

    @classmethod
    def of(cls, booster: Any) -> _Described:  # noqa: ANN401 - CatBoost has no types
        """Ask a loaded model."""
        metadata = dict(booster.get_metadata())
        loss = _loss(metadata.get("params", ""))
        classes = tuple(str(each) for each in np.ravel(booster.classes_).tolist())
        if not classes and loss in _CLASSIFIES:
            classes = ("0", "1")
        texts, vectors = (
            booster.get_text_feature_indices(),
            booster.get_embedding_feature_indices(),
        )
        version = re.search(r"\d+(\.\d+)+", metadata.get("catboost_version_info", ""))
        return cls(
            names=tuple(map(str, booster.feature_names_ or ())),
            named=frozenset(map(int, booster.get_cat_feature_indices())),
            other="texts" if texts else "vectors" if vectors else "",
            loss=loss,
            classes=classes,
            trees=int(booster.tree_count_),
            version=version[0] if version else "",
            threshold=float(metadata.get("binclass_probability_threshold", 0.5)),
        )


def _loss(text: str) -> str:
    try:
        kind = json.loads(text)["loss_function"]["type"]
    except (KeyError, TypeError, ValueError, RecursionError):
        return ""
    return str(kind)


def _card(path: Path, description: _Described) -> ModelCard:
    width = len(description.names)
    numbered = description.names == tuple(map(str, range(width)))
    inputs, trees = number_of(width, "input"), number_of(description.trees, "tree")
    answers = f"{len(description.classes):,} classes" if description.classes else "one number"
    named = f", {len(description.named):,} of them categories" if description.named else ""
    notes = []
    if abs(description.threshold - 0.5) > 1e-9:
        notes.append(
            f"CatBoost itself decides for “{description.classes[1]}” above "
            f"{description.threshold:g}, not 0.5: set that threshold."
        )
    library = f"CatBoost {description.version}".strip()
    return ModelCard(
        path=str(path),
        sha256=sha256(path),
        format=f"{library} model",
        summary=f"{trees.capitalize()}, {inputs}{named}, {answers}.",
        takes=Takes.COLUMNS if description.named else Takes.MATRIX,
        inputs=tuple(f"input {i + 1}" for i in range(width)) if numbered else description.names,
        named=not numbered,
        classes=description.classes,
        scores="probabilities" if description.classes else "values",
        saved_with=library,
        warnings=tuple(notes),
        can=(Capability.DECIDES, Capability.SCORES),
        accepts=tuple("either" if i in description.named else "number" for i in range(width)),
    )
