"""Combinations of two values that never occur in the data, although chance would bring them.

A model is never trained on a female “Husband”. A search that makes such instances finds pairs that
describe no individual; a constraint excludes them. Which constraints the data suggest is found by
counting: two values that no row has together, although a number of rows would if the two
attributes were independent. Where one attribute follows from another in every row, that is one
constraint instead of many.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.attributes import Attribute, Role, encode
from fairdesk.data.domain.constraint_truth import Constraint, Dependence
from fairdesk.data.domain.constraints import parse
from fairdesk.data.domain.determined import check_order, learn
from fairdesk.data.domain.formulas import And, Comparison, Formula, Name, Not, Number, Valued
from fairdesk.data.table import Kind, Table
from fairdesk.errors import SpecError
from fairdesk.results.events import Rows

#: So many rows must be expected where there is none: by chance that happens once in 148 times.
LEAST_EXPECTED = 5.0
#: A number is cut at so many places, each with the same share of the rows between them.
_CUTS = 19
#: Of each attribute at most so many values are looked at, the most frequent ones.
_MOST_VALUES = 500


class AbsentCombination(msgspec.Struct, frozen=True):
    """Two conditions that no row fulfils together; or one attribute that follows from another.

    Attributes
    ----------
    what : str
        The two conditions, like ``relationship = Husband and sex = Female``; or ``education_num
        other than what follows from education``.
    constraint : str
        The constraint that excludes them, as `fairdesk.data.domain.constraints` writes it.
    rows : int
        Rows in which both attributes are known; none of them is so.
    expected : float
        So many of these rows would be if the two attributes were independent.
    """

    what: str
    constraint: str
    rows: int
    expected: float


def absent_combinations(
    attributes: Sequence[Attribute],
    table: Table,
    constraints: Sequence[str] = (),
    *,
    of_protected: bool = False,
) -> tuple[AbsentCombination, ...]:
    """Find the combinations of two values that never occur, the most surprising ones first.

    Compared are the values of names, and of numbers the lowest and the highest: at most, or at
    least, one of `_CUTS` quantiles. Under independence a combination of which e rows are expected
    has none with a probability of about exp(-e), and so has the longest empty end of a number
    beside a value; two numbers' ends are looked at in several sizes, and more is expected of them
    accordingly (Bonferroni).

    Parameters
    ----------
    attributes : sequence of Attribute
        What the constraints may speak of. Two that are both fixed are left out: no search combines
        their values anew.
    constraints : sequence of str
        What is excluded already is not found again.
    of_protected : bool
        Only values of a protected attribute with those of one that is not; and an attribute
        follows only from a protected one.

    Raises
    ------
    SpecError
        When an attribute does not fit its column, or a constraint cannot be read.
    """
    rows = encode(attributes, table)
    known = [parse(text, attributes) for text in constraints]
    rules = [each for each in known if isinstance(each, Constraint)]
    sides = [
        side
        for place, attribute in enumerate(attributes)
        if attribute.kind is not Kind.TEXT
        and len(side := _side(attribute, place, rows[:, place])) > 0
    ]
    following = [each for each in known if isinstance(each, Dependence)]
    sources = {each.attribute: each.by for each in following}
    found: list[AbsentCombination] = []
    for one, other in combinations(sides, 2):
        if one.attribute.role is other.attribute.role is Role.FIXED:
            continue
        if _root(one.attribute.name, sources) == _root(other.attribute.name, sources):
            continue
        if of_protected:
            protected = [each.attribute.role is Role.PROTECTED for each in (one, other)]
            if protected[0] is protected[1]:
                continue
            ways = [(other, one) if protected[0] else (one, other)]
        else:
            ways = [(one, other), (other, one)]
        absent = list(_absent(one, other, rules, rows.shape[1]))
        together = _follows(ways, rows, table, following) if len(absent) > 1 else None
        found += absent if together is None else [together]
    return tuple(sorted(found, key=lambda each: (-each.expected, each.what)))


def _root(name: str, sources: dict[str, str]) -> str:
    """Return the attribute that determines another, or that itself.

    What the same one determines has values together that the data have, and no others.
    """
    chain = [name]
    while (source := sources.get(chain[-1])) is not None and source not in chain:
        chain.append(source)
    return chain[-1]


@dataclass(frozen=True, slots=True)
class _Side:
    """An attribute, its rows' cells, and the conditions about it: each a range of cells.

    Attributes
    ----------
    attribute : Attribute
        Which.
    place : int
        Its column.
    cells : NDArray[np.intp]
        ``(n,)``; -1 where the attribute is not known.
    count : int
        How many cells there are.
    first, last : NDArray[np.intp]
        ``(k,)``; the cells of each condition, inclusive.
    codes : Rows
        ``(k, 2)``; the least and the greatest code that fulfils it.
    groups : tuple of slice
        Conditions of which each contains the one before: of these one is chosen. Of names each
        is a group of its own.
    """

    attribute: Attribute
    place: int
    cells: NDArray[np.intp]
    count: int
    first: NDArray[np.intp]
    last: NDArray[np.intp]
    codes: Rows
    groups: tuple[slice, ...]

    def __len__(self) -> int:
        return len(self.first)

    def formula(self, condition: int) -> Formula:
        """Return a condition as a formula."""
        attribute = self.attribute
        low, high = self.codes[condition].tolist()
        if attribute.values and not attribute.numeric:
            return Valued("=", attribute.name, attribute.values[int(low)])
        name = Name(attribute.name)
        if attribute.values:
            return Comparison("=", name, Number(float(attribute.values[int(low)])))
        if low == attribute.low:
            return Comparison("<=", name, Number(high))
        return Comparison(">=", name, Number(low))


def _side(attribute: Attribute, place: int, codes: Rows) -> _Side:
    inside = (codes >= attribute.low) & (codes <= attribute.high)
    make = _of_numbers if not attribute.values and inside.any() else _of_names
    return make(attribute, place, codes, inside)


def _of_names(attribute: Attribute, place: int, codes: Rows, inside: NDArray[np.bool_]) -> _Side:
    """Make a cell of each frequent value, and one of all others; each value is a condition."""
    values = np.where(inside, codes, 0).astype(np.intp)
    frequency = np.bincount(values[inside], minlength=len(attribute.values))
    enough = np.flatnonzero(frequency >= LEAST_EXPECTED)
    chosen = np.sort(enough[np.argsort(-frequency[enough], kind="stable")[:_MOST_VALUES]])
    cell_of = np.full(max(1, len(attribute.values)), chosen.size)
    cell_of[chosen] = np.arange(chosen.size)
    each = np.arange(chosen.size)
    return _Side(
        attribute,
        place,
        np.where(inside, cell_of[values], -1),
        chosen.size + 1,
        each,
        each,
        np.column_stack([chosen, chosen]).astype(np.float64),
        tuple(slice(i, i + 1) for i in each.tolist()),
    )


def _of_numbers(attribute: Attribute, place: int, codes: Rows, inside: NDArray[np.bool_]) -> _Side:
    """Cut the range at quantiles; a condition is one of its ends, up to or from a cut."""
    shares = np.arange(1, _CUTS + 1) / (_CUTS + 1)
    ordered = np.sort(codes[inside])
    # both ends are values that rows have: the lower one goes up to a cut, the upper one on from it
    cuts = np.unique(ordered[(shares * (ordered.size - 1)).astype(np.intp)])
    cuts = cuts[cuts < ordered[-1]]
    nexts = ordered[np.searchsorted(ordered, cuts, side="right")]
    cells = np.where(inside, np.searchsorted(cuts, codes, side="left"), -1)
    k = cuts.size
    lower, upper = np.arange(k), np.arange(k, 0, -1)
    low, high = np.full(k, attribute.low), np.full(k, attribute.high)
    return _Side(
        attribute,
        place,
        cells,
        k + 1,
        np.concatenate([np.zeros(k, dtype=np.intp), upper]),
        np.concatenate([lower, np.full(k, k)]),
        np.concatenate([np.column_stack([low, cuts]), np.column_stack([nexts, high])[::-1]]),
        (slice(0, k), slice(k, 2 * k)) if k else (),
    )


def _absent(
    one: _Side, other: _Side, rules: Sequence[Constraint], width: int
) -> Iterator[AbsentCombination]:
    """Yield what two attributes never have together."""
    both = (one.cells >= 0) & (other.cells >= 0)
    total = int(both.sum())
    if not total:
        return
    joint = np.bincount(
        one.cells[both] * other.count + other.cells[both], minlength=one.count * other.count
    ).reshape(one.count, other.count)
    counts = _within(_within(joint, one).T, other).T
    expected = np.outer(_within(joint.sum(axis=1), one), _within(joint.sum(axis=0), other)) / total
    absent = np.where((counts == 0) & (expected >= LEAST_EXPECTED), expected, 0.0)
    # of conditions of which one contains the other the largest is chosen
    rows, columns = one.groups, other.groups
    largest = np.maximum.reduceat(absent, [each.start for each in rows], axis=0)
    largest = np.maximum.reduceat(largest, [each.start for each in columns], axis=1)
    about = {one.attribute.name, other.attribute.name}
    rules = [each for each in rules if about.issuperset(each.names)]
    for i, j in np.argwhere(largest > 0).tolist():
        here = absent[rows[i], columns[j]]
        # of two numbers' ends so many are possible of which none contains another
        if largest[i, j] < LEAST_EXPECTED + log(min(here.shape)):
            continue
        first, second = np.unravel_index(int(here.argmax()), here.shape)
        places = rows[i].start + int(first), columns[j].start + int(second)
        if not _excluded(one, other, places, rules, width):
            together = And((one.formula(places[0]), other.formula(places[1])))
            yield AbsentCombination(str(together), str(Not(together)), total, float(largest[i, j]))


def _follows(
    ways: Sequence[tuple[_Side, _Side]],
    rows: Rows,
    table: Table,
    following: list[Dependence],
) -> AbsentCombination | None:
    """Return that one of two attributes follows from the other, where every row says so.

    Parameters
    ----------
    ways : sequence of two sides
        What may follow, and from which; a number rather follows from names than the reverse.
    following : list of Dependence
        What follows already; what is found is added.
    """
    for target, source in sorted(ways, key=lambda both: bool(both[0].attribute.values)):
        follows = Dependence(target.attribute.name, source.attribute.name)
        try:
            learned, otherwise = learn(follows, (target.attribute, source.attribute), table)
            check_order([*following, follows])
        except SpecError:
            continue
        both = rows[:, (target.place, source.place)]
        both = both[~np.isnan(both).any(axis=1)]
        # of values that a row or two have, nearly anything follows
        if otherwise.any() or len(both) < LEAST_EXPECTED * len(learned.values):
            continue
        following.append(follows)
        codes, counts = np.unique(both[:, 1], return_counts=True)
        wanted = learned.follow(codes)
        alike = np.array([np.count_nonzero(both[:, 0] == each) for each in wanted.tolist()])
        return AbsentCombination(
            f"{follows.attribute} other than what follows from {follows.by}",
            follows.text,
            len(both),
            float(len(both) - (counts * alike).sum() / len(both)),
        )
    return None


def _within(counts: NDArray[np.intp], side: _Side) -> NDArray[np.intp]:
    """Add up, along the first axis, the counts of the cells of each condition."""
    sums = np.concatenate([np.zeros_like(counts[:1]), np.cumsum(counts, axis=0)])
    return np.asarray(sums[side.last + 1] - sums[side.first])


def _excluded(
    one: _Side, other: _Side, places: tuple[int, int], rules: Sequence[Constraint], width: int
) -> bool:
    """Return whether constraints exclude the combination already, at all of its corners."""
    corners = np.full((4, width), np.nan)
    corners[:, one.place] = np.repeat(one.codes[places[0]], 2)
    corners[:, other.place] = np.tile(other.codes[places[1]], 2)
    fine = np.ones(4, dtype=np.bool_)
    for rule in rules:
        fine &= rule.holds(corners)
    return not fine.any()
