"""Data and models that several papers share, made of public tables as the papers made them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.results.events import Rows, Scores
from tests.benchmarks.measuring import DATA

#: The categories of the adult data in the order of its own description: their codes.
_CODED = {
    "workclass": "Private, Self-emp-not-inc, Self-emp-inc, Federal-gov, Local-gov, State-gov, "
    "Without-pay, Never-worked",
    "education": "Bachelors, Some-college, 11th, HS-grad, Prof-school, Assoc-acdm, Assoc-voc, 9th, "
    "7th-8th, 12th, Masters, 1st-4th, 10th, Doctorate, 5th-6th, Preschool",
    "marital_status": "Married-civ-spouse, Divorced, Never-married, Separated, Widowed, "
    "Married-spouse-absent, Married-AF-spouse",
    "occupation": "Tech-support, Craft-repair, Other-service, Sales, Exec-managerial, "
    "Prof-specialty, Handlers-cleaners, Machine-op-inspct, Adm-clerical, Farming-fishing, "
    "Transport-moving, Priv-house-serv, Protective-serv, Armed-Forces",
    "relationship": "Wife, Own-child, Husband, Not-in-family, Other-relative, Unmarried",
    "race": "White, Asian-Pac-Islander, Amer-Indian-Eskimo, Other, Black",
    "sex": "Female, Male",
    "native_country": "United-States, Cambodia, England, Puerto-Rico, Canada, Germany, "
    "Outlying-US(Guam-USVI-etc), India, Japan, Greece, South, China, Cuba, Iran, Honduras, "
    "Philippines, Italy, Poland, Jamaica, Vietnam, Mexico, Portugal, Ireland, France, "
    "Dominican-Republic, Laos, Ecuador, Taiwan, Haiti, Columbia, Hungary, Guatemala, Nicaragua, "
    "Scotland, Thailand, Yugoslavia, El-Salvador, Trinadad&Tobago, Peru, Hong, "
    "Holand-Netherlands",
}
#: Numbers are divided by these, and cut.
_DIVIDED = {"age": 10, "fnlwgt": 20_000, "capital_gain": 1_000, "capital_loss": 100}
_COLUMNS = (
    *("age", "workclass", "fnlwgt", "education", "marital_status", "occupation", "relationship"),
    *("race", "sex", "capital_gain", "capital_loss", "hours_per_week", "native_country"),
)
#: The bounds of each column in the program of Aequitas.
_BOUNDS = (
    *((1, 9), (0, 7), (0, 39), (0, 15), (0, 6), (0, 13), (0, 5)),
    *((0, 4), (0, 1), (0, 99), (0, 39), (0, 99), (0, 39)),
)
#: What stands for a missing category.
_MISSING = 100


@cache
def adult() -> tuple[Rows, NDArray[np.int64]]:
    """Return the adult data coded as THEMIS, Aequitas and Symbolic Generation code them.

    Returns
    -------
    Rows
        ``(32_561, 13)``.
    NDArray[np.int64]
        1 for an income above 50K.
    """
    data = pd.read_csv(DATA / "tabular" / "adult.csv")
    data = data[data["split"] == "train"]

    def coded(name: str) -> NDArray[np.int64]:
        if name in _CODED:
            codes = {each: code for code, each in enumerate(_CODED[name].split(", "))}
            return data[name].map(codes).fillna(_MISSING).to_numpy(np.int64)
        return data[name].to_numpy(np.int64) // _DIVIDED.get(name, 1)

    rows = np.column_stack([coded(name) for name in _COLUMNS]).astype(np.float64)
    return rows, data["income"].str.contains(">").to_numpy(np.int64)


def whole_domain(
    names: Sequence[str], bounds: Sequence[tuple[int, int]], *protected: str
) -> Domain:
    """Return an input domain of whole codes, in which all values of what is protected compare."""

    def attribute(name: str, low: int, high: int) -> Attribute:
        values = tuple(map(float, range(low, high + 1))) if name in protected else ()
        role = Role.PROTECTED if values else Role.VARIES
        return Attribute(name, Kind.INTEGER, (), float(low), float(high), role, values)

    return Domain(tuple(attribute(name, *ends) for name, ends in zip(names, bounds, strict=True)))


def adult_domain(*protected: str) -> Domain:
    """Return the input domain of `adult`, within the bounds of Aequitas's program."""
    return whole_domain(_COLUMNS, _BOUNDS, *protected)


class Fitted:
    """A scikit-learn classifier of two classes as a model under audit."""

    has_gradients = False

    def __init__(self, classifier: Any) -> None:
        self._classifier = classifier
        # asked directly: for a few rows the checks of inputs take far longer than the trees
        trees = getattr(classifier, "estimators_", [classifier])
        self._trees = [each.tree_ for each in trees if hasattr(each, "tree_")]

    def predict(self, rows: Rows) -> Scores:
        """Answer: the score of the second class."""
        if not len(rows):
            return np.empty((0, 1), dtype=np.float32)
        if self._trees:
            small = rows.astype(np.float32)
            scores = np.mean([tree.predict(small) for tree in self._trees], axis=0)[:, 1:]
        elif hasattr(self._classifier, "predict_proba"):
            scores = self._classifier.predict_proba(rows)[:, 1:]
        else:
            scores = 1 / (1 + np.exp(-self._classifier.decision_function(rows)[:, None]))
        return np.asarray(scores, dtype=np.float32)

    def gradients(self, rows: Rows, column: NDArray[np.intp]) -> Rows:
        """Answer nothing: it has none."""
        raise NotImplementedError
