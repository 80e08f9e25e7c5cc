"""A PMML document as plain elements, from XML that may be hostile; its fields and their values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NoReturn, Protocol
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import ModelError

#: A document that is larger, has more elements, or nests them deeper is refused.
MOST_BYTES, MOST_ELEMENTS, DEEPEST = 1 << 30, 4_000_000, 3_000
#: Parts that tell nothing about how a model answers.
_SKIPPED = frozenset(
    {"Extension", "ModelStats", "ModelExplanation", "ModelVerification", "Partition"}
)
_PIECE = 1 << 20


class NotReadError(Exception):
    """A model uses what FairDesk does not read; the message names it: ``"the function “x”"``."""


class Element:
    """An element of the document.

    Attributes
    ----------
    tag : str
        Without its namespace.
    attributes : dict[str, str]
        As written.
    children : list[Element]
        In order.
    text : str
        What is between its tags.
    """

    __slots__ = ("attributes", "children", "tag", "text")

    def __init__(self, tag: str, attributes: dict[str, str]) -> None:
        self.tag = tag
        self.attributes = attributes
        self.children: list[Element] = []
        self.text = ""

    def get(self, name: str, otherwise: str = "") -> str:
        """Return an attribute."""
        return self.attributes.get(name, otherwise)

    def number(self, name: str, otherwise: float | None = None) -> float:
        """Return an attribute as a number.

        Raises
        ------
        NotReadError
            When it is none, or is missing and ``otherwise`` is too.
        """
        text = self.attributes.get(name)
        if text is None and otherwise is not None:
            return otherwise
        try:
            return float(text or "")
        except ValueError:
            raise NotReadError(f"a {self.tag} whose “{name}” is “{text or ''}”") from None

    def all(self, *tags: str) -> list[Element]:
        """Return the children of these tags."""
        return [child for child in self.children if child.tag in tags]

    def one(self, tag: str) -> Element | None:
        """Return the first child of a tag."""
        return next((child for child in self.children if child.tag == tag), None)

    def within(self, tag: str) -> list[Element]:
        """Return the children of the first child of a tag; none where there is none."""
        found = self.one(tag)
        return [] if found is None else found.children

    def everything(self) -> Iterator[Element]:
        """Return this element and all below it."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting.extend(reversed(element.children))


class _Builder:
    """Puts elements together as the parser meets them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open: list[Element] = []
        self._texts: list[list[str]] = []
        self._skipping = 0
        self._count = 0
        self.root: Element | None = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.rpartition(":")[2]
        self._count += 1
        if self._count > MOST_ELEMENTS or len(self._open) + self._skipping >= DEEPEST:
            raise _too_large(self._path)
        if self._skipping or tag in _SKIPPED:
            self._skipping += 1
            return
        element = Element(tag, attributes)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)
        self._texts.append([])

    def end(self, _: str) -> None:
        if self._skipping:
            self._skipping -= 1
            return
        self._open.pop().text = "".join(self._texts.pop()).strip()

    def characters(self, text: str) -> None:
        if self._texts and not self._skipping:
            self._texts[-1].append(text)

    def entity(self, *_: object) -> NoReturn:
        raise ModelError(
            f"“{self._path.name}” declares entities, which no PMML document needs.",
            why=(
                "With such declarations, an XML file can be made to fill the memory or to read "
                "other files."
            ),
            remedy="Export the model again, or ask for it as ONNX.",
        )


def read_document(path: Path) -> Element:
    """Read a PMML document.

    Raises
    ------
    ModelError
        When it is no well-formed XML, declares entities, or is too large.
    """
    if path.stat().st_size > MOST_BYTES:
        raise _too_large(path)
    builder = _Builder(path)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.characters
    parser.EntityDeclHandler = builder.entity
    try:
        with path.open("rb") as stream:
            while piece := stream.read(_PIECE):
                parser.Parse(piece)
            parser.Parse(b"", True)  # noqa: FBT003 - the parser's own manner
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise ModelError(
            f"“{path.name}” is cut off or is not well-formed XML.",
            why=f"The parser reported: {error}.",
            remedy="Download or copy it again and compare its size with the original’s, or export "
            "the model again.",
        ) from error
    if builder.root is None or builder.root.tag != "PMML":
        raise ModelError(
            f"“{path.name}” is XML, but not PMML.",
            remedy="Choose the file that the model was exported to.",
        )
    return builder.root


def _too_large(path: Path) -> ModelError:
    return ModelError(
        f"“{path.name}” is too large or too deep for a PMML document that FairDesk reads.",
        why=f"It may have a gigabyte, {MOST_ELEMENTS:,} elements, {DEEPEST:,} within each other.",
        remedy="Ask for a model with fewer or smaller trees, or for it as ONNX.",
    )


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


@dataclass(frozen=True, slots=True)
class Answer:
    """Answers for a batch.

    Attributes
    ----------
    scores : NDArray[np.float64]
        ``(n, k)`` shares of the classes, or ``(n, 1)`` amounts; NaN where there is none.
    decided : NDArray[np.intp], optional
        ``(n,)``; the numbers of the decided classes, -1 where there is none. Left out it is the
        first class with the greatest share.
    """

    scores: Float64
    decided: NDArray[np.intp] | None = None

    @property
    def chosen(self) -> NDArray[np.intp]:
        """The number of each row's class; -1 where there is none."""
        if self.decided is not None:
            return self.decided
        none: NDArray[np.bool_] = np.isnan(self.scores.sum(axis=1))
        return np.where(none, -1, np.where(none[:, None], 0.0, self.scores).argmax(axis=1))

    def named(self, classes: tuple[str, ...]) -> Column:
        """Return the decided classes by name."""
        values = np.empty(len(self.scores), dtype=object)
        values[:] = [None if i < 0 else classes[i] for i in self.chosen.tolist()]
        return Column("text", values)


class Part(Protocol):
    """A model, or one of those that a model is made of."""

    classes: tuple[str, ...]
    """What it decides between; empty where it estimates an amount."""

    def answer(self, scope: Scope) -> Answer:
        """Answer for a batch."""


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
