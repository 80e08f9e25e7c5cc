"""Columns of a batch as PMML sees them: numbers or texts, some of them missing; where they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fairdesk.models.pmml.document import NotReadError

Float64 = NDArray[np.float64]
Mask = NDArray[np.bool_]
Places = NDArray[np.intp]
Values = Float64 | NDArray[np.object_]
#: ``"single"``: numbers that are rounded to single precision.
Kind = Literal["number", "single", "text"]

_KINDS: dict[str, Kind] = {
    **dict.fromkeys(("double", "integer", ""), "number"),
    "float": "single",
    **dict.fromkeys(("string", "boolean"), "text"),
}


def kind_of(data_type: str) -> Kind:
    """Return what values of a PMML data type are held as.

    Raises
    ------
    NotReadError
        Of dates and times.
    """
    if data_type not in _KINDS:
        raise NotReadError(f"the data type “{data_type}”")
    return _KINDS[data_type]


@dataclass(frozen=True, slots=True)
class Column:
    """Values of one field.

    Attributes
    ----------
    kind : Kind
        What they are.
    values : NDArray
        ``(n,)``; float64 with NaN where it is missing, or texts with None there.
    """

    kind: Kind
    values: Values

    @property
    def missing(self) -> Mask:
        """Where a value is missing."""
        return missing_in(self.values)

    def parsed(self, text: str) -> float | str:
        """Read a value as the document writes it for this column."""
        return parsed(text, self.kind)


def missing_in(values: Values) -> Mask:
    """Return where values are missing."""
    if values.dtype.kind == "f":
        return np.isnan(values.astype(np.float64, copy=False))
    return np.fromiter((value is None for value in values), bool, len(values))


def parsed(text: str, kind: Kind) -> float | str:
    """Read a value as the document writes it.

    Raises
    ------
    NotReadError
        When it should be a number, and is none.
    """
    if kind == "text":
        return {"TRUE": "true", "FALSE": "false"}.get(text, text)
    try:
        number = float(text)
    except ValueError:
        raise NotReadError(f"the value “{text}” where a number is expected") from None
    return float(np.float32(number)) if kind == "single" else number


def written(number: float) -> str | None:
    """Write a number as a text; None for a missing one."""
    if np.isnan(number):
        return None
    return str(int(number)) if number == int(number) else repr(number)


def cast(values: Values, kind: Kind) -> tuple[Values, Mask]:
    """Bring values into another kind.

    Returns
    -------
    values : NDArray
        ``(n,)``; missing where they cannot be.
    wrong : NDArray[np.bool_]
        ``(n,)``; where they cannot be: texts that are no numbers.
    """
    count = len(values)
    if kind == "text":
        if values.dtype.kind == "f":
            return _objects(written(float(number)) for number in values), np.zeros(count, bool)
        return _objects(_as_text(value) for value in values), np.zeros(count, bool)
    if values.dtype.kind == "f":
        numbers = values.astype(np.float64)
        wrong = np.zeros(count, bool)
    else:
        read = [_as_number(value) for value in values]
        wrong = np.fromiter((number is None for number in read), bool, count)
        numbers = np.array([np.nan if number is None else number for number in read], np.float64)
    return (_single(numbers) if kind == "single" else numbers), wrong


def _single(numbers: Float64) -> Float64:
    # the largest numbers are infinite in single precision
    with np.errstate(over="ignore"):
        return numbers.astype(np.float32).astype(np.float64)


def _objects(texts: Iterable[object]) -> NDArray[np.object_]:
    made = list(texts)
    array = np.empty(len(made), dtype=object)
    array[:] = made
    return array


def _as_text(value: object) -> str | None:
    if value is None or value != value:  # noqa: PLR0124 - NaN
        return None
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | int):
        return written(float(value))
    text = str(value)
    return {"True": "true", "False": "false", "TRUE": "true", "FALSE": "false"}.get(text, text)


def _as_number(value: object) -> float | None:
    """Read a number; NaN of a missing one, None where it is none."""
    if value is None:
        return np.nan
    try:
        return float(value)  # type: ignore[arg-type]  # what is none raises
    except (TypeError, ValueError):
        return None


class Scope:
    """What the fields of a model are for one batch; made when they are asked for.

    Parameters
    ----------
    derived : dict[str, callable]
        What is computed from these, by name: it is given this scope.
    """

    def __init__(
        self,
        rows: int,
        columns: dict[str, Column],
        derived: dict[str, Callable[[Scope], Column]] | None = None,
        parent: Scope | None = None,
    ) -> None:
        self.rows = rows
        self.known = columns
        self._derived = derived or {}
        self._parent = parent

    def column(self, name: str) -> Column:
        """Return a field's values.

        Raises
        ------
        NotReadError
            When there is no such field.
        """
        if name not in self.known:
            if name in self._derived:
                # what is computed from itself is found in no other scope
                compute = self._derived.pop(name)
                self.known[name] = compute(self)
            elif self._parent is not None:
                return self._parent.column(name)
            else:
                raise NotReadError(f"the field “{name}”, which it does not define")
        return self.known[name]
