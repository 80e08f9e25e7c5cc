"""The data dictionary and mining schemas: which values a field takes, and what others become."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairdesk.errors import ModelError
from fairdesk.models.pmml.columns import Column, Kind, Mask, Values, cast, kind_of, parsed
from fairdesk.models.pmml.document import Element, NotReadError

#: How the usage of what a model predicts is called.
_TARGET = ("target", "predicted")
_AS_MISSING = ("asMissing", "as_missing")


@dataclass(frozen=True, slots=True)
class DataField:
    """A field of the data.

    Attributes
    ----------
    name : str
        Its name.
    kind : Kind
        What its values are.
    categorical : bool
        Whether it has names rather than amounts.
    valid, invalid, missing : tuple
        The values that are listed as such.
    intervals : tuple[Element, ...]
        Where valid numbers are.
    """

    name: str
    kind: Kind
    categorical: bool
    valid: tuple[float | str, ...]
    invalid: tuple[float | str, ...]
    missing: tuple[float | str, ...]
    intervals: tuple[Element, ...]

    @classmethod
    def of(cls, element: Element) -> DataField:
        """Read a field."""
        kind = kind_of(element.get("dataType"))
        listed: dict[str, list[float | str]] = {"valid": [], "invalid": [], "missing": []}
        for value in element.all("Value"):
            where = listed.get(value.get("property", "valid"))
            if where is not None:
                where.append(parsed(value.get("value"), kind))
        return cls(
            element.get("name"),
            kind,
            element.get("optype") in ("categorical", "ordinal"),
            tuple(listed["valid"]),
            tuple(listed["invalid"]),
            tuple(listed["missing"]),
            tuple(element.all("Interval")),
        )

    def accepts(self) -> str:
        """Return what the field takes, as a model's card says it."""
        if self.kind == "text":
            return "text"
        return "either" if self.categorical else "number"


@dataclass(frozen=True, slots=True)
class Treatment:
    """What is made of a field's values before a model sees them: an element of a mining schema."""

    name: str
    usage: str
    outliers: str
    low: float
    high: float
    replacement: str | None
    if_missing: str
    if_invalid: str
    invalid_replacement: str | None

    @classmethod
    def of(cls, element: Element) -> Treatment:
        """Read a mining field."""
        return cls(
            element.get("name"),
            element.get("usageType", "active"),
            element.get("outliers", "asIs"),
            element.number("lowValue", -np.inf),
            element.number("highValue", np.inf),
            element.attributes.get("missingValueReplacement"),
            element.get("missingValueTreatment"),
            element.get("invalidValueTreatment", "returnInvalid"),
            element.attributes.get("invalidValueReplacement"),
        )

    @property
    def active(self) -> bool:
        """Whether the model is given it."""
        return self.usage == "active"

    @property
    def target(self) -> bool:
        """Whether the model predicts it."""
        return self.usage in _TARGET

    def treated(self, field: DataField | None, column: Column) -> Column:
        """Return a column as the model sees it.

        Raises
        ------
        ModelError
            When the model refuses a value.
        """
        values, missing = column.values.copy(), column.missing
        if field is not None:
            values, invalid = self._checked(field, column, missing)
            missing = missing | _is_one_of(values, field.missing)
            if self.if_invalid in _AS_MISSING:
                missing = missing | invalid
            elif self.if_invalid == "asValue" and self.invalid_replacement is not None:
                values[invalid] = parsed(self.invalid_replacement, column.kind)
            elif self.if_invalid == "returnInvalid" and (invalid & ~missing).any():
                raise _refused(field, values[invalid & ~missing][0])
        if values.dtype.kind == "f" and self.outliers != "asIs":
            number = values.astype(np.float64)
            outside = (number < self.low) | (number > self.high)
            if self.outliers == "asExtremeValues":
                values = np.clip(number, self.low, self.high)
            else:
                missing = missing | outside
        values[missing] = np.nan if values.dtype.kind == "f" else None
        if missing.any() and self.if_missing == "returnInvalid":
            raise _refused(field, "") if field is not None else NotReadError("missing values")
        if self.replacement is not None:
            values[missing] = parsed(self.replacement, column.kind)
        return Column(column.kind, values)

    def _checked(self, field: DataField, column: Column, missing: Mask) -> tuple[Values, Mask]:
        """Return which values are none that the data dictionary allows."""
        values = column.values.copy()
        invalid = _is_one_of(values, field.invalid)
        if field.valid and (field.categorical or not field.intervals):
            invalid |= ~_is_one_of(values, field.valid)
        if field.intervals and values.dtype.kind == "f":
            allowed = np.zeros(len(values), bool)
            for interval in field.intervals:
                allowed |= inside(interval, values)
            invalid |= ~allowed
        return values, invalid & ~missing


def given(field: DataField, values: Values) -> Column:
    """Bring what a model is given into the kind of its field.

    Raises
    ------
    ModelError
        When a number is expected and a text is given.
    """
    made, wrong = cast(values, field.kind)
    if wrong.any():
        raise _refused(field, str(values[wrong][0]))
    return Column(field.kind, made)


def _refused(field: DataField, value: object) -> ModelError:
    shown = f"the value “{value}”" if value != "" else "missing cells"
    return ModelError(
        f"The model does not accept {shown} of its field “{field.name}”.",
        why="Its data dictionary lists the values that it takes."
        if value != ""
        else "It declares rows with a missing cell in that field as invalid.",
        remedy="Exclude that value from the audit, or make the input from another column.",
    )


def _is_one_of(values: Values, those: tuple[float | str, ...]) -> Mask:
    if not those:
        return np.zeros(len(values), bool)
    if values.dtype.kind == "f":
        return np.isin(values.astype(np.float64), np.array(those, np.float64))
    listed = set(those)
    return np.fromiter((value in listed for value in values), bool, len(values))


def inside(interval: Element, values: Values) -> Mask:
    """Return which numbers are in an interval."""
    numbers = values.astype(np.float64)
    closure = interval.get("closure", "closedClosed")
    low = interval.number("leftMargin", -np.inf)
    high = interval.number("rightMargin", np.inf)
    above = numbers > low if closure.startswith("open") else numbers >= low
    below = numbers < high if closure.endswith("Open") else numbers <= high
    return np.asarray(above & below)
