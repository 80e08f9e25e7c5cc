"""The functions that PMML has built in, over whole columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from fairdesk.models.pmml.columns import Column, Mask, cast, missing_in
from fairdesk.models.pmml.document import NotReadError

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
        return _applied(name, list(columns))
    except (IndexError, TypeError) as error:
        raise NotReadError(f"the function “{name}” with {len(columns)} arguments") from error


def _applied(name: str, columns: list[Column]) -> Column:
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
    return _connected(name, [_verdict(column) for column in columns])


def _connected(name: str, verdicts: list[tuple[Mask, Mask]]) -> Column:
    true, unknown = verdicts[0]
    if name == "not":
        return _truth(~true, unknown)
    for also, open_too in verdicts[1:]:
        if name == "and":
            false = (~true & ~unknown) | (~also & ~open_too)
            true, unknown = true & also, (unknown | open_too) & ~false
        else:
            true = true | also
            unknown = (unknown | open_too) & ~true
    return _truth(true, unknown)


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
