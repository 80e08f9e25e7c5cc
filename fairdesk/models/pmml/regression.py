"""Regression models, general ones among them, and scorecards: sums of terms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from fairdesk.models.pmml.document import Answer, Column, Element, NotReadError, Scope
from fairdesk.models.pmml.expressions import Definitions, expression_of
from fairdesk.models.pmml.predicates import compiled, predicate_of

Float64 = NDArray[np.float64]


def _probit(x: Float64) -> Float64:
    from scipy.special import ndtr  # noqa: PLC0415 - a tenth of a second to load

    return np.asarray(ndtr(x))


def _logistic(x: Float64) -> Float64:
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-x)))


#: What makes a share, or an amount, of a sum.
_INVERSE: dict[str, Callable[[Float64], Float64]] = {
    "none": lambda x: x,
    "identity": lambda x: x,
    "logit": _logistic,
    "probit": _probit,
    "cloglog": lambda x: 1 - np.exp(-np.exp(x)),
    "loglog": lambda x: np.exp(-np.exp(-x)),
    "logc": lambda x: 1 - np.exp(x),
    "cauchit": lambda x: 0.5 + np.arctan(x) / np.pi,
    "exp": np.exp,
    "log": np.exp,
    "inverse": lambda x: 1 / x,
    "sqrt": np.square,
}


def _inverse(name: str) -> Callable[[Float64], Float64]:
    if name not in _INVERSE:
        raise NotReadError(f"the link “{name}”")
    return _INVERSE[name]


class RegressionPart:
    """A ``RegressionModel``: one sum, or one for each class."""

    def __init__(self, element: Element, classes: tuple[str, ...], _: Definitions) -> None:
        self.classes = classes
        self.shares = True
        tables = element.all("RegressionTable")
        self._normalised = element.get("normalizationMethod", "none")
        if self._normalised not in (*_INVERSE, "softmax", "simplemax"):
            raise NotReadError(f"the normalisation “{self._normalised}”")
        if not classes and len(tables) != 1:
            raise NotReadError(f"a regression with {len(tables)} tables")
        targets = [table.get("targetCategory") for table in tables]
        if classes and (len(targets) < 2 or not set(targets) <= {*classes}):
            raise NotReadError("tables for other classes than those of its target")
        self._places = [classes.index(target) for target in targets] if classes else []
        self._sums = [_sum_of(table) for table in tables]

    def answer(self, scope: Scope) -> Answer:
        """Answer for a batch."""
        sums = [total(scope) for total in self._sums]
        with np.errstate(all="ignore"):
            if not self.classes:
                return Answer(_inverse(_of_amount(self._normalised))(sums[0])[:, None])
            shares = np.zeros((scope.rows, len(self.classes)))
            shares[:, self._places] = np.column_stack(self._shares(sums))
        return Answer(shares)

    def _shares(self, sums: list[Float64]) -> list[Float64]:
        name = self._normalised
        if name == "softmax":
            powers = np.exp(np.array(sums) - np.max(sums, axis=0))
            return list(powers / powers.sum(axis=0))
        if name == "simplemax":
            return list(np.array(sums) / np.sum(sums, axis=0))
        if len(sums) == 2:
            # of two classes the first one is computed, and the second is what is left
            first = _inverse(name)(sums[0])
            return [first, 1 - first]
        if name == "none":
            return [*sums[:-1], 1 - np.sum(sums[:-1], axis=0)]
        each = np.array([_inverse(name)(total) for total in sums])
        return list(each / each.sum(axis=0))


def _of_amount(name: str) -> str:
    """Return the link of a regression that estimates an amount."""
    return "logit" if name == "softmax" else "none" if name == "simplemax" else name


def _sum_of(table: Element) -> Callable[[Scope], Float64]:
    intercept = table.number("intercept", 0.0)
    numeric = [
        (each.get("name"), each.number("exponent", 1.0), each.number("coefficient"))
        for each in table.all("NumericPredictor")
    ]
    named = [
        (each.get("name"), each.get("value"), each.number("coefficient"))
        for each in table.all("CategoricalPredictor")
    ]
    products = [
        ([field.get("field") for field in each.all("FieldRef")], each.number("coefficient"))
        for each in table.all("PredictorTerm")
    ]

    def total(scope: Scope) -> Float64:
        made = np.full(scope.rows, intercept)
        for name, exponent, weight in numeric:
            values = _numbers(scope.column(name))
            made = made + weight * (values if exponent == 1 else values**exponent)
        for name, value, weight in named:
            column = scope.column(name)
            made = made + weight * (column.values == column.parsed(value)).astype(np.float64)
        for fields, weight in products:
            made = made + weight * np.prod([_numbers(scope.column(f)) for f in fields], axis=0)
        return made

    return total


def _numbers(column: Column) -> Float64:
    if column.kind == "text":
        raise NotReadError("a number that is made from a text field")
    return column.values.astype(np.float64, copy=False)


class GeneralRegressionPart:
    """A ``GeneralRegressionModel``, as R's `glm` and `multinom` are exported."""

    def __init__(self, element: Element, classes: tuple[str, ...], _: Definitions) -> None:
        kind = element.get("modelType")
        if kind not in ("generalizedLinear", "regression", "generalLinear", "multinomialLogistic"):
            raise NotReadError(f"general regressions of the type “{kind}”")
        self.classes = classes
        self.shares = True
        self._multinomial = kind == "multinomialLogistic"
        link = (
            "identity" if kind in ("regression", "generalLinear") else element.get("linkFunction")
        )
        self._link = None if self._multinomial else _inverse(link or "identity")
        self._offset = element.number("offsetValue", 0.0)
        self._offset_field = element.get("offsetVariable")
        if element.get("trialsVariable") or element.get("trialsValue"):
            raise NotReadError("general regressions of numbers of trials")
        self._terms = _terms(element)
        weights: dict[str, dict[str, float]] = defaultdict(dict)
        for cell in element.within("ParamMatrix"):
            parameter = cell.get("parameterName")
            weights[cell.get("targetCategory")][parameter] = cell.number("beta")
        if not weights:
            raise NotReadError("a general regression without a ParamMatrix")
        self._weights = dict(weights)
        reference = element.get("targetReferenceCategory")
        others = [name for name in self._weights if name]
        if classes and not self._multinomial and (len(classes) != 2 or len(self._weights) != 1):
            raise NotReadError("a general regression between more than two classes")
        if not set(others) <= {*classes}:
            raise NotReadError("weights for other classes than those of its target")
        # without a name they are for the class that is not the reference: R's second level
        unnamed = next((name for name in classes[::-1] if name != reference), "")
        self._of = {name: name or unnamed for name in self._weights}

    def answer(self, scope: Scope) -> Answer:
        """Answer for a batch."""
        terms = {name: term(scope) for name, term in self._terms.items()}
        offset = np.full(scope.rows, self._offset)
        if self._offset_field:
            offset = _numbers(scope.column(self._offset_field))
        sums = {
            target: offset + sum(weight * terms.get(name, 1.0) for name, weight in own.items())
            for target, own in self._weights.items()
        }
        with np.errstate(all="ignore"):
            if not self.classes:
                assert self._link is not None  # noqa: S101 - several classes have no link alone
                return Answer(self._link(next(iter(sums.values())))[:, None])
            shares = np.zeros((scope.rows, len(self.classes)))
            for target, total in sums.items():
                place = self.classes.index(self._of[target])
                if self._link is not None:
                    shares[:, place] = self._link(total)
                    shares[:, 1 - place] = 1 - shares[:, place]
                else:
                    shares[:, place] = total
            if self._link is None:
                powers = np.exp(shares - shares.max(axis=1, keepdims=True))
                shares = powers / powers.sum(axis=1, keepdims=True)
        return Answer(shares)


def _terms(element: Element) -> dict[str, Callable[[Scope], Float64]]:
    """Read what each parameter is multiplied by: powers of numbers, names that must be there."""
    factors = {each.get("name") for each in element.within("FactorList")}
    cells: dict[str, list[Element]] = defaultdict(list)
    for cell in element.within("PPMatrix"):
        cells[cell.get("parameterName")].append(cell)

    def term(own: Sequence[Element]) -> Callable[[Scope], Float64]:
        def made(scope: Scope) -> Float64:
            product = np.ones(scope.rows)
            for cell in own:
                column = scope.column(cell.get("predictorName"))
                if cell.get("predictorName") in factors:
                    same = column.values == column.parsed(cell.get("value"))
                    product = product * np.where(column.missing, np.nan, same.astype(np.float64))
                else:
                    power = cell.number("value", 1.0)
                    values = _numbers(column)
                    product = product * (values if power == 1 else values**power)
            return product

        return made

    if element.one("EventValues") or element.one("BaseCumHazardTables"):
        raise NotReadError("models of survival")
    return {name: term(own) for name, own in cells.items()}


class ScorecardPart:
    """A ``Scorecard``: points for attributes, added up."""

    def __init__(self, element: Element, classes: tuple[str, ...], known: Definitions) -> None:
        if classes:
            raise NotReadError("a scorecard that decides between classes")
        self.classes = classes
        self.shares = False
        self._initial = element.number("initialScore", 0.0)
        self._characteristics = [
            [
                (compiled(predicate_of(attribute), known.kinds), _points(attribute, known))
                for attribute in characteristic.all("Attribute")
            ]
            for characteristic in element.within("Characteristics")
        ]

    def answer(self, scope: Scope) -> Answer:
        """Answer for a batch."""
        total = np.full(scope.rows, self._initial)
        everybody = np.arange(scope.rows)
        for attributes in self._characteristics:
            points = np.full(scope.rows, np.nan)
            left = np.ones(scope.rows, bool)
            for predicate, worth in attributes:
                true, unknown = predicate(scope, everybody)
                chosen = left & true & ~unknown
                points[chosen] = worth(scope)[chosen]
                left &= ~chosen
            total = total + points
        return Answer(total[:, None])


def _points(attribute: Element, known: Definitions) -> Callable[[Scope], Float64]:
    computed = attribute.one("ComplexPartialScore")
    if computed is None:
        points = attribute.number("partialScore")
        return lambda scope: np.full(scope.rows, points)
    expression = expression_of(computed, known)
    return lambda scope: _numbers(expression(scope))
