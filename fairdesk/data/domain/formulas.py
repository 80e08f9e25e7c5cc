"""What a constraint says: formulas of comparisons, which write themselves, and are true of rows.

A formula is decided in three values (S. C. Kleene, *Introduction to Metamathematics*, 1952): a
comparison with a missing cell is neither true nor false.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import reduce
from operator import add, and_, mul, or_, sub, truediv
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.attributes import Attribute
from fairdesk.results.events import Rows

#: Words that mean something in a constraint; as a name or a value they are written in quotes.
KEYWORDS = ("implies", "or", "and", "not", "in", "is", "determined", "by")

_PLAIN = re.compile(r"[^\W\d]\w*")
_TURNED = {"<=": ">", ">=": "<"}

#: What is so of people: an array of truth values, or a solver's term. ``&``, ``|`` and ``~`` work.
Truth = Any
#: Numbers of people: they work with ``+``, ``-``, ``*`` and ``/``.
Numbers = Any


class Terms(Protocol):
    """The people that a formula is about: rows of codes, or a solver's unknowns."""

    def known(self, name: str) -> Truth:
        """Return whether the attribute's cell is there."""

    def has(self, name: str, value: str) -> Truth:
        """Return whether the attribute has this value."""

    def alike(self, first: str, second: str) -> Truth:
        """Return whether two attributes have values of the same text."""

    def place(self, name: str) -> Numbers:
        """Return the place of the attribute's value in its order."""

    def place_of(self, name: str, value: str) -> Numbers:
        """Return the place of one value in the attribute's order."""

    def number(self, name: str) -> Numbers:
        """Return the number that the attribute has."""

    def constant(self, value: float) -> Numbers:
        """Return a number."""

    def equal(self, left: Numbers, right: Numbers) -> Truth:
        """Return whether two numbers are equal."""

    def less(self, left: Numbers, right: Numbers) -> Truth:
        """Return whether one number is less than another."""


def plain(text: str) -> bool:
    """Return whether a name or a value needs no quotes."""
    return _PLAIN.fullmatch(text) is not None and text not in KEYWORDS


def named(name: str) -> str:
    """Write an attribute's name: in backticks where it must be."""
    return name if plain(name) else in_quotes(name, "`")


def quoted(value: str) -> str:
    """Write a value: in double quotes where it must be."""
    return value if plain(value) else in_quotes(value, '"')


def in_quotes(text: str, quote: str) -> str:
    """Write a text between quotes."""
    return quote + text.replace("\\", "\\\\").replace(quote, "\\" + quote) + quote


def figure(number: float) -> str:
    """Write a number, shortly and exactly."""
    return repr(float(number)).removesuffix(".0")


# -- numbers --------------------------------------------------------------------------------


class Term:
    """A number of a row; ``str`` writes it."""

    @property
    def level(self) -> int:
        """How closely its parts are bound."""
        return 4

    def value(self, terms: Terms) -> Numbers:
        """Return the number."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Number(Term):
    """A number that is written."""

    number: float

    def __str__(self) -> str:
        return figure(self.number)

    def value(self, terms: Terms) -> Numbers:
        """Return the number."""
        return terms.constant(self.number)


@dataclass(frozen=True, slots=True)
class Name(Term):
    """The number that an attribute has."""

    name: str

    def __str__(self) -> str:
        return named(self.name)

    def value(self, terms: Terms) -> Numbers:
        """Return the number."""
        return terms.number(self.name)


@dataclass(frozen=True, slots=True)
class Negative(Term):
    """A term below zero."""

    term: Term

    @property
    def level(self) -> int:
        """How closely its parts are bound."""
        return 3

    def __str__(self) -> str:
        return f"-{_inside(self.term, 4)}"

    def value(self, terms: Terms) -> Numbers:
        """Return the number."""
        return terms.constant(0.0) - self.term.value(terms)


#: How closely an operation binds, and how closely its right side must.
_BINDING = {"+": (1, 2), "-": (1, 2), "*": (2, 3), "/": (2, 3)}
_OPERATIONS = {"+": add, "-": sub, "*": mul, "/": truediv}


@dataclass(frozen=True, slots=True)
class Arithmetic(Term):
    """Two terms with ``+``, ``-``, ``*`` or ``/`` between them; only a number divides."""

    sign: str
    left: Term
    right: Term

    @property
    def level(self) -> int:
        """How closely its parts are bound."""
        return _BINDING[self.sign][0]

    def __str__(self) -> str:
        own, right = _BINDING[self.sign]
        return f"{_inside(self.left, own)} {self.sign} {_inside(self.right, right)}"

    def value(self, terms: Terms) -> Numbers:
        """Return the number."""
        return _OPERATIONS[self.sign](self.left.value(terms), self.right.value(terms))


# -- formulas -------------------------------------------------------------------------------


class Formula:
    """What is so of a person, or not.

    ``level`` tells how closely its parts are bound; ``str`` writes it.
    """

    level: ClassVar[int] = 4

    def truth(self, terms: Terms) -> tuple[Truth, Truth]:
        """Return where it is true, and where false; where cells are missing, perhaps neither."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Comparison(Formula):
    """Two numbers compared."""

    sign: str
    left: Term
    right: Term

    def __str__(self) -> str:
        return f"{self.left} {self.sign} {self.right}"

    def truth(self, terms: Terms) -> tuple[Truth, Truth]:
        """Return where it is true, and where it is false."""
        so = _compared(self.sign, self.left.value(terms), self.right.value(terms), terms)
        return _where_known(so, (self.left, self.right), terms)


@dataclass(frozen=True, slots=True)
class AmongNumbers(Formula):
    """A number that is one of several."""

    term: Term
    numbers: tuple[float, ...]

    def __str__(self) -> str:
        return self.listed("in")

    def listed(self, verb: str) -> str:
        """Write it, with ``in`` or ``not in``."""
        return f"{self.term} {verb} {{{', '.join(figure(one) for one in self.numbers)}}}"

    def truth(self, terms: Terms) -> tuple[Truth, Truth]:
        """Return where it is true, and where it is false."""
        value = self.term.value(terms)
        so = reduce(or_, [terms.equal(value, terms.constant(one)) for one in self.numbers])
        return _where_known(so, (self.term,), terms)


@dataclass(frozen=True, slots=True)
class Among(Formula):
    """A value that is one of several."""

    name: str
    values: tuple[str, ...]

    def __str__(self) -> str:
        return self.listed("in")

    def listed(self, verb: str) -> str:
        """Write it, with ``in`` or ``not in``."""
        return f"{named(self.name)} {verb} {{{', '.join(quoted(value) for value in self.values)}}}"

    def truth(self, terms: Terms) -> tuple[Truth, Truth]:
        """Return where it is true, and where it is false.

        That a cell is missing is itself known where the category of missing cells is asked for.
        """
        so = reduce(or_, [terms.has(self.name, value) for value in self.values])
        return so, terms.known(self.name) & ~so


@dataclass(frozen=True, slots=True)
class Valued(Formula):
    """An attribute's value compared with one of its values; by its order if it has one."""

    sign: str
    name: str
    value: str

    def __str__(self) -> str:
        return f"{named(self.name)} {self.sign} {quoted(self.value)}"

    def truth(self, terms: Terms) -> tuple[Truth, Truth]:
        """Return where it is true, and where it is false."""
        if self.sign in ("=", "!="):
            true, false = Among(self.name, (self.value,)).truth(terms)
            return (true, false) if self.sign == "=" else (false, true)
        known = terms.known(self.name)
        place = terms.place_of(self.name, self.value)
        so = _compared(self.sign, terms.place(self.name), place, terms)
        return known & so, known & ~so


@dataclass(frozen=True, slots=True)
class Alike(Formula):
    """The values of two attributes compared, as texts or by their common order."""

    sign: str
    left: str
    right: str

    def __str__(self) -> str:
        # in backticks, for the second may be called like a value of the first
        return f"{in_quotes(self.left, '`')} {self.sign} {in_quotes(self.right, '`')}"

    def truth(self, terms: Terms) -> tuple[Truth, Truth]:
        """Return where it is true, and where it is false."""
        known = terms.known(self.left) & terms.known(self.right)
        if self.sign in ("=", "!="):
            so = terms.alike(self.left, self.right)
            so = so if self.sign == "=" else ~so
        else:
            so = _compared(self.sign, terms.place(self.left), terms.place(self.right), terms)
        return known & so, known & ~so


@dataclass(frozen=True, slots=True)
class Not(Formula):
    """The opposite."""

    part: Formula

    def __str__(self) -> str:
        if isinstance(self.part, Among | AmongNumbers):
            return self.part.listed("not in")
        return f"not {_inside(self.part, 4)}"

    def truth(self, terms: Terms) -> tuple[Truth, Truth]:
        """Return where it is true, and where it is false."""
        true, false = self.part.truth(terms)
        return false, true


@dataclass(frozen=True, slots=True)
class And(Formula):
    """All of several."""

    level: ClassVar[int] = 3
    parts: tuple[Formula, ...]

    def __str__(self) -> str:
        return " and ".join(_inside(part, 4) for part in self.parts)

    def truth(self, terms: Terms) -> tuple[Truth, Truth]:
        """Return where it is true, and where it is false."""
        true, false = zip(*(part.truth(terms) for part in self.parts), strict=True)
        return reduce(and_, true), reduce(or_, false)


@dataclass(frozen=True, slots=True)
class Or(Formula):
    """Any of several."""

    level: ClassVar[int] = 2
    parts: tuple[Formula, ...]

    def __str__(self) -> str:
        return " or ".join(_inside(part, 3) for part in self.parts)

    def truth(self, terms: Terms) -> tuple[Truth, Truth]:
        """Return where it is true, and where it is false."""
        true, false = zip(*(part.truth(terms) for part in self.parts), strict=True)
        return reduce(or_, true), reduce(and_, false)


@dataclass(frozen=True, slots=True)
class Implies(Formula):
    """Where the first is so, so is the second."""

    level: ClassVar[int] = 1
    first: Formula
    second: Formula

    def __str__(self) -> str:
        return f"{_inside(self.first, 2)} implies {_inside(self.second, 1)}"

    def truth(self, terms: Terms) -> tuple[Truth, Truth]:
        """Return where it is true, and where it is false."""
        return Or((Not(self.first), self.second)).truth(terms)


def names_in(part: Formula | Term) -> set[str]:
    """Return the attributes that something speaks of."""
    names = set()
    for each in _parts(part):
        if isinstance(each, Name | Among | Valued):
            names.add(each.name)
        elif isinstance(each, Alike):
            names |= {each.left, each.right}
    return names


def _parts(part: object) -> Iterator[Any]:
    """Walk over everything that a formula or a term is made of."""
    waiting = [part]
    while waiting:
        each = waiting.pop()
        if isinstance(each, tuple):
            waiting.extend(each)
        elif is_dataclass(each):
            yield each
            waiting.extend(getattr(each, field.name) for field in fields(each))


def _inside(part: Formula | Term, least: int) -> str:
    """Write a part of another, in parentheses if it binds less than needed there."""
    below = isinstance(part, Number) and str(part).startswith("-")
    return str(part) if (3 if below else part.level) >= least else f"({part})"


def _compared(sign: str, left: Numbers, right: Numbers, terms: Terms) -> Truth:
    if sign in ("=", "!="):
        same = terms.equal(left, right)
        return same if sign == "=" else ~same
    if sign in _TURNED:
        return ~_compared(_TURNED[sign], left, right, terms)
    return terms.less(left, right) if sign == "<" else terms.less(right, left)


def _where_known(so: Truth, parts: Sequence[Term], terms: Terms) -> tuple[Truth, Truth]:
    """Take what numbers say only where all their attributes are known."""
    names = sorted(set().union(*(names_in(part) for part in parts)))
    if not names:
        return so, ~so
    known = reduce(and_, [terms.known(name) for name in names])
    return known & so, known & ~so


#: How far two numbers may be apart, as a share of the terms they come from, and still be equal:
#: in floating point 0.1 + 0.2 is not 0.3.
_EQUAL = 1e-12


@dataclass(frozen=True, slots=True)
class Dependence:
    """That an attribute follows another: ``education_num is determined by education``."""

    attribute: str
    by: str

    @property
    def text(self) -> str:
        """As it is written."""
        return f"{named(self.attribute)} is determined by {named(self.by)}"

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes it speaks of."""
        return (self.attribute, self.by)


@dataclass(frozen=True)
class Constraint:
    """A condition that every person of the domain fulfils.

    Attributes
    ----------
    formula : Formula
        What it says.
    attributes : tuple[Attribute, ...]
        What the columns of the rows are.
    """

    formula: Formula
    attributes: tuple[Attribute, ...]

    @property
    def text(self) -> str:
        """The constraint as it is written, always in the same way."""
        return str(self.formula)

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes it speaks of, in the order of the rows' columns."""
        used = names_in(self.formula)
        return tuple(each.name for each in self.attributes if each.name in used)

    def holds(self, rows: Rows) -> NDArray[np.bool_]:
        """Return for each row whether it keeps the constraint: ``(n,)``.

        Parameters
        ----------
        rows : Rows
            ``(n, d)`` codes of the attributes; NaN is a missing cell.

        Returns
        -------
        NDArray[np.bool_]
            ``(n,)``; true also where missing cells keep it from being decided.
        """
        with np.errstate(all="ignore"):
            _, false = self.formula.truth(_RowTerms(self.attributes, rows))
        return np.asarray(~false)

    def decided(self, rows: Rows) -> NDArray[np.bool_]:
        """Return for each row whether its known cells are enough to decide: ``(n,)``."""
        with np.errstate(all="ignore"):
            true, false = self.formula.truth(_RowTerms(self.attributes, rows))
        return np.asarray(true | false)


@dataclass(frozen=True, slots=True)
class _Measured:
    """Numbers, and how large the terms were that they come from, to tell what is a last bit."""

    value: Any
    size: Any

    def __add__(self, other: _Measured) -> _Measured:
        return _Measured(self.value + other.value, self.size + other.size)

    def __sub__(self, other: _Measured) -> _Measured:
        return _Measured(self.value - other.value, self.size + other.size)

    def __mul__(self, other: _Measured) -> _Measured:
        return _Measured(self.value * other.value, self.size * other.size)

    def __truediv__(self, other: _Measured) -> _Measured:
        return _Measured(self.value / other.value, self.size / other.size)


class _RowTerms:
    """The people of an array of codes."""

    def __init__(self, attributes: Sequence[Attribute], rows: Rows) -> None:
        self._attributes = {each.name: each for each in attributes}
        self._codes = {each.name: rows[:, i] for i, each in enumerate(attributes)}
        self._count = len(rows)

    def known(self, name: str) -> NDArray[np.bool_]:
        codes, attribute = self._codes[name], self._attributes[name]
        there = ~np.isnan(codes)
        return there & (codes != attribute.unknown_code) if attribute.unknown else there

    def has(self, name: str, value: str) -> NDArray[np.bool_]:
        return np.asarray(self._codes[name] == self._attributes[name].values.index(value))

    def place(self, name: str) -> _Measured:
        return _measured(self._codes[name])

    def place_of(self, name: str, value: str) -> _Measured:
        return self.constant(self._attributes[name].values.index(value))

    def alike(self, first: str, second: str) -> NDArray[np.bool_]:
        places = {value: i for i, value in enumerate(self._attributes[first].named)}
        there = [places.get(value, -1.0) for value in self._attributes[second].values]
        return np.asarray(self._codes[first] == _looked_up(self._codes[second], there))

    def number(self, name: str) -> _Measured:
        attribute = self._attributes[name]
        if attribute.values:
            numbers = [float(value) for value in attribute.values]
            return _measured(_looked_up(self._codes[name], numbers))
        return _measured(self._codes[name])

    def constant(self, value: float) -> _Measured:
        return _measured(np.full(self._count, float(value)))

    def equal(self, left: _Measured, right: _Measured) -> NDArray[np.bool_]:
        return np.asarray(np.abs(left.value - right.value) <= _EQUAL * (left.size + right.size))

    def less(self, left: _Measured, right: _Measured) -> NDArray[np.bool_]:
        return np.asarray((left.value < right.value) & ~self.equal(left, right))


def _measured(values: Rows) -> _Measured:
    return _Measured(values, np.abs(values))


def _looked_up(codes: Rows, values: Sequence[float]) -> Rows:
    """Return the value of each code; NaN for what is no code."""
    inside = (codes >= 0) & (codes < len(values))
    return np.where(inside, np.array(values)[np.where(inside, codes, 0).astype(np.intp)], np.nan)
