"""Expressions and built-in functions: fields that are computed from others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from fairdesk.models.pmml.document import (
    Column,
    Element,
    Kind,
    Mask,
    NotReadError,
    Scope,
    cast,
    inside,
    kind_of,
    missing_in,
    parsed,
)
from fairdesk.models.pmml.predicates import combined

Float64 = NDArray[np.float64]


def _rounded(x: Float64) -> Float64:
    return np.floor(x + 0.5)


def _modulo(x: Float64, y: Float64) -> Float64:
    return np.asarray(x - y * np.floor(x / y))


def _numbers(column: Column) -> Float64:
    if column.kind != "text":
        return column.values.astype(np.float64, copy=False)
    truth = {"true": 1.0, "false": 0.0}
    values = np.array([truth.get(value, value) for value in column.values], dtype=object)
    return cast(values, "number")[0].astype(np.float64)


def _equal(first: Column, second: Column) -> Mask:
    if "text" in (first.kind, second.kind) and first.kind != second.kind:
        texts = [cast(each.values, "text")[0] for each in (first, second)]
        return np.asarray(texts[0] == texts[1]).astype(bool)
    same = np.asarray(first.values == second.values).astype(bool)
    return same & ~missing_in(first.values)


#: Functions of numbers, with the number of their arguments; a missing one makes a missing one.
_ARITHMETIC: dict[str, tuple[int, Callable[..., Float64]]] = {
    "+": (2, np.add),
    "-": (2, np.subtract),
    "*": (2, np.multiply),
    "/": (2, np.divide),
    "pow": (2, np.power),
    "modulo": (2, _modulo),
    "threshold": (2, lambda x, y: (x > y).astype(np.float64)),
    "atan2": (2, np.arctan2),
    "hypot": (2, np.hypot),
    "log10": (1, np.log10),
    "ln": (1, np.log),
    "ln1p": (1, np.log1p),
    "sqrt": (1, np.sqrt),
    "abs": (1, np.abs),
    "exp": (1, np.exp),
    "expm1": (1, np.expm1),
    "floor": (1, np.floor),
    "ceil": (1, np.ceil),
    "round": (1, _rounded),
    "rint": (1, np.rint),
    **{name: (1, getattr(np, name)) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
}
#: Functions of any number of arguments, over those that are not missing.
_GATHERING: dict[str, Callable[..., Float64]] = {
    "min": np.nanmin,
    "max": np.nanmax,
    "sum": np.nansum,
    "avg": np.nanmean,
    "median": np.nanmedian,
    "product": np.nanprod,
}
_COMPARING: dict[str, Callable[[Column, Column], Mask]] = {
    "equal": _equal,
    "notEqual": lambda x, y: ~_equal(x, y),
    "lessThan": lambda x, y: _numbers(x) < _numbers(y),
    "lessOrEqual": lambda x, y: _numbers(x) <= _numbers(y),
    "greaterThan": lambda x, y: _numbers(x) > _numbers(y),
    "greaterOrEqual": lambda x, y: _numbers(x) >= _numbers(y),
}
_TEXTS: dict[str, Callable[[str], str]] = {
    "uppercase": str.upper,
    "lowercase": str.lower,
    "trimBlanks": str.strip,
}
FUNCTIONS = frozenset(
    (
        *(*_ARITHMETIC, *_GATHERING, *_COMPARING, *_TEXTS, "concat", "if"),
        *("isMissing", "isNotMissing", "and", "or", "not", "isIn", "isNotIn"),
    )
)


def applied(name: str, columns: Sequence[Column]) -> Column:
    """Apply a function to columns of one length.

    Raises
    ------
    NotReadError
        When it is given too few or too many.
    """
    try:
        return _built_in(name, list(columns))
    except (IndexError, TypeError) as error:
        raise NotReadError(f"the function “{name}” with {len(columns)} arguments") from error


def _built_in(name: str, columns: list[Column]) -> Column:
    if name in _ARITHMETIC:
        return _computed(name, columns)
    if name in _GATHERING:
        stacked = np.array([_numbers(column) for column in columns])
        none = np.isnan(stacked).all(axis=0)
        stacked[:, none] = 0.0
        return Column("number", np.where(none, np.nan, _GATHERING[name](stacked, axis=0)))
    if name in _COMPARING:
        first, second = columns
        return _truth(_COMPARING[name](first, second), first.missing | second.missing)
    if name in _TEXTS or name == "concat":
        return _texts(name, columns)
    return _logical(name, columns)


def _computed(name: str, columns: list[Column]) -> Column:
    count, function = _ARITHMETIC[name]
    numbers = [_numbers(column) for column in columns]
    if len(numbers) != count:
        raise IndexError
    single = all(column.kind == "single" for column in columns)
    missing = np.logical_or.reduce([np.isnan(each) for each in numbers])
    with np.errstate(all="ignore"):
        made = np.where(missing, np.nan, function(*numbers))
    if single:
        made = made.astype(np.float32).astype(np.float64)
    return Column("single" if single else "number", made)


def _texts(name: str, columns: list[Column]) -> Column:
    if name == "concat":
        rows = zip(*(_words(column) for column in columns), strict=True)
        return _of_texts(["".join(text or "" for text in row) for row in rows])
    (column,) = columns
    change = _TEXTS[name]
    return _of_texts([None if text is None else change(text) for text in _words(column)])


def _logical(name: str, columns: list[Column]) -> Column:
    if name == "if":
        condition, then, *otherwise = columns
        true, unknown = _verdict(condition)
        kind = then.kind
        made, _ = cast(then.values, kind)
        other = cast(otherwise[0].values, kind)[0] if otherwise else _nothing(made)
        chosen = np.where(true, made, other)
        chosen[unknown] = _nothing(made)[unknown]
        return Column(kind, chosen)
    if name in ("isMissing", "isNotMissing"):
        (column,) = columns
        return _truth(column.missing == (name == "isMissing"), np.zeros(len(column.values), bool))
    if name in ("isIn", "isNotIn"):
        first, *others = columns
        found = np.logical_or.reduce([_equal(first, other) for other in others])
        return _truth(found == (name == "isIn"), first.missing)
    if name == "not":
        true, unknown = _verdict(*columns)
        return _truth(~true, unknown)
    return _truth(*combined(name, [_verdict(column) for column in columns]))


def _nothing(values: NDArray[np.float64] | NDArray[np.object_]) -> NDArray[np.object_]:
    return np.full(len(values), np.nan if values.dtype.kind == "f" else None, values.dtype)


def _verdict(column: Column) -> tuple[Mask, Mask]:
    missing = column.missing
    true = np.fromiter(
        (value in ("true", 1.0, "1") for value in column.values.tolist()), bool, len(missing)
    )
    return true & ~missing, missing


def _truth(true: Mask, missing: Mask) -> Column:
    values = np.where(true, "true", "false").astype(object)
    values[missing] = None
    return Column("text", values)


def _of_texts(texts: Sequence[str | None]) -> Column:
    values = np.empty(len(texts), dtype=object)
    values[:] = texts
    return Column("text", values)


def _words(column: Column) -> list[str | None]:
    return list(cast(column.values, "text")[0])


Expression = Callable[[Scope], Column]
EXPRESSIONS = (
    *("Constant", "FieldRef", "NormContinuous", "NormDiscrete", "Discretize", "MapValues"),
    *("Apply", "TextIndex", "Aggregate", "Lag"),
)


class Definitions:
    """What expressions may name: the kinds of fields, and functions that the document defines."""

    def __init__(self, kinds: Mapping[str, Kind], functions: Mapping[str, Element]) -> None:
        self.kinds = dict(kinds)
        self.functions = functions

    def copy(self) -> Definitions:
        """Return the same, to which fields can be added."""
        return Definitions(self.kinds, self.functions)


def derived_in(element: Element | None, known: Definitions) -> dict[str, Expression]:
    """Read the derived fields of a dictionary; their kinds are added to what is known.

    Raises
    ------
    NotReadError
        When one is computed in a way that is not read.
    """
    fields = [] if element is None else element.all("DerivedField")
    for field in fields:
        known.kinds[field.get("name")] = kind_of(field.get("dataType"))
    return {field.get("name"): _derived(field, known) for field in fields}


def _derived(field: Element, known: Definitions) -> Expression:
    expression = expression_of(field, known)
    kind = kind_of(field.get("dataType"))
    whole = field.get("dataType") == "integer"

    def compute(scope: Scope) -> Column:
        values, _ = cast(expression(scope).values, kind)
        return Column(kind, np.trunc(values.astype(np.float64)) if whole else values)

    return compute


def expression_of(element: Element, known: Definitions) -> Expression:
    """Make the expression in an element.

    Raises
    ------
    NotReadError
        When there is none, or one that is not read.
    """
    found = element.all(*EXPRESSIONS)
    if not found:
        raise NotReadError(f"a {element.tag} without an expression")
    return _compiled(found[0], known)


def _compiled(element: Element, known: Definitions) -> Expression:
    makers: dict[str, Callable[[Element, Definitions], Expression]] = {
        "Constant": _constant,
        "FieldRef": _field,
        "NormContinuous": _scaled,
        "NormDiscrete": _indicator,
        "Discretize": _binned,
        "MapValues": _looked_up,
        "Apply": _applied,
    }
    if element.tag not in makers:
        raise NotReadError(f"“{element.tag}”")
    return makers[element.tag](element, known)


def _constant(element: Element, _: Definitions) -> Expression:
    text, kind = element.text, element.get("dataType")
    if not kind:
        try:
            float(text)
            kind = "double"
        except ValueError:
            kind = "string"
    value = None if element.get("missing") == "true" else parsed(text, kind_of(kind))

    def make(scope: Scope) -> Column:
        return _filled(scope.rows, value, kind_of(kind))

    return make


def _filled(rows: int, value: object, kind: Kind) -> Column:
    if kind == "text":
        values = np.empty(rows, dtype=object)
        values[:] = value
        return Column(kind, values)
    return Column(kind, np.full(rows, np.nan if value is None else value, np.float64))


def _field(element: Element, _: Definitions) -> Expression:
    name = element.get("field")
    return lambda scope: _with_missing(scope.column(name), scope.column(name).missing, element)


def _with_missing(column: Column, missing: Mask, element: Element) -> Column:
    """Put what a field that is missing is mapped to in its place."""
    replacement = element.attributes.get("mapMissingTo")
    if replacement is None or not missing.any():
        return column
    values = column.values.copy()
    values[missing] = column.parsed(replacement)
    return Column(column.kind, values)


def _scaled(element: Element, _: Definitions) -> Expression:
    """Interpolate between points."""
    name, outliers = element.get("field"), element.get("outliers", "asIs")
    points = [(each.number("orig"), each.number("norm")) for each in element.all("LinearNorm")]
    if len(points) < 2:
        raise NotReadError("a NormContinuous with fewer than two points")
    orig, norm = (np.array(side) for side in zip(*points, strict=True))

    def make(scope: Scope) -> Column:
        values = scope.column(name).values.astype(np.float64)
        at = np.clip(np.searchsorted(orig, values, side="right") - 1, 0, len(orig) - 2)
        slope = (norm[at + 1] - norm[at]) / (orig[at + 1] - orig[at])
        made = norm[at] + (values - orig[at]) * slope
        if outliers == "asExtremeValues":
            made = np.where(values < orig[0], norm[0], np.where(values > orig[-1], norm[-1], made))
        elif outliers == "asMissingValues":
            made = np.where((values < orig[0]) | (values > orig[-1]), np.nan, made)
        return _with_missing(Column("number", made), np.isnan(values), element)

    return make


def _indicator(element: Element, _: Definitions) -> Expression:
    name = element.get("field")

    def make(scope: Scope) -> Column:
        column = scope.column(name)
        missing = column.missing
        same = (column.values == column.parsed(element.get("value"))).astype(np.float64)
        made = np.where(missing, np.nan, same)
        return _with_missing(Column("number", made), missing, element)

    return make


def _binned(element: Element, _: Definitions) -> Expression:
    name = element.get("field")
    kind = kind_of(element.get("dataType", "string"))
    bins = [(each.one("Interval"), each.get("binValue")) for each in element.all("DiscretizeBin")]
    default = element.attributes.get("defaultValue")

    def make(scope: Scope) -> Column:
        column = scope.column(name)
        otherwise = None if default is None else parsed(default, kind)
        made = _filled(scope.rows, otherwise, kind)
        left = np.ones(scope.rows, bool)
        for interval, value in bins:
            if interval is None:
                raise NotReadError("a DiscretizeBin without an Interval")
            found = left & inside(interval, column.values)
            made.values[found] = parsed(value, kind)
            left &= ~found
        made.values[column.missing] = None if kind == "text" else np.nan
        return _with_missing(made, column.missing, element)

    return make


def _looked_up(element: Element, known: Definitions) -> Expression:
    pairs = [
        (each.get("field"), each.get("column").rpartition(":")[2])
        for each in element.all("FieldColumnPair")
    ]
    output = element.get("outputColumn").rpartition(":")[2]
    kind = kind_of(element.get("dataType", "string"))
    default = element.attributes.get("defaultValue")
    table = element.one("InlineTable")
    if table is None or not pairs:
        raise NotReadError("a table of values in another file")
    kinds = [known.kinds.get(field, "text") for field, _ in pairs]
    found: dict[tuple[float | str, ...], float | str] = {}
    for row in table.all("row"):
        cells = {cell.tag: cell.text for cell in row.children}
        key = tuple(
            parsed(cells.get(column, ""), own)
            for (_, column), own in zip(pairs, kinds, strict=True)
        )
        found.setdefault(key, parsed(cells.get(output, ""), kind))
    otherwise = None if default is None else parsed(default, kind)

    def make(scope: Scope) -> Column:
        columns = [scope.column(field) for field, _ in pairs]
        missing = np.logical_or.reduce([column.missing for column in columns])
        keys = zip(*(column.values.tolist() for column in columns), strict=True)
        made = _filled(scope.rows, None, kind)
        for row, key in enumerate(keys):
            value = found.get(key, otherwise)
            if not missing[row] and value is not None:
                made.values[row] = value
        return _with_missing(made, missing, element)

    return make


def _applied(element: Element, known: Definitions) -> Expression:
    name = element.get("function")
    arguments = [_compiled(child, known) for child in element.all(*EXPRESSIONS)]
    default = element.attributes.get("defaultValue")
    if name in known.functions:
        function = _defined(known.functions[name], known)
    elif name in FUNCTIONS:

        def function(columns: Sequence[Column], _: Scope) -> Column:
            return applied(name, columns)
    else:
        raise NotReadError(f"the function “{name}”")

    def make(scope: Scope) -> Column:
        given = [argument(scope) for argument in arguments]
        made = function(given, scope)
        missing = np.zeros(scope.rows, bool)
        for column in given:
            missing |= column.missing
        made = _with_missing(made, missing, element)
        if default is None:
            return made
        values = made.values.copy()
        values[missing_in(values)] = made.parsed(default)
        return Column(made.kind, values)

    return make


def _defined(element: Element, known: Definitions) -> Callable[[Sequence[Column], Scope], Column]:
    """Make a function of the document's own."""
    parameters = [each.get("name") for each in element.all("ParameterField")]
    others = {name: own for name, own in known.functions.items() if own is not element}
    kinds: dict[str, Kind] = {
        each.get("name"): kind_of(each.get("dataType")) for each in element.all("ParameterField")
    }
    body = expression_of(element, Definitions({**known.kinds, **kinds}, others))

    def call(columns: Sequence[Column], scope: Scope) -> Column:
        own = dict(zip(parameters, columns, strict=True))
        return body(Scope(scope.rows, own, parent=scope))

    return call
