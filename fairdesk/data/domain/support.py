"""Which comparisons the data support, and the combinations of values that the data never have.

For a row and another combination of protected values, the comparison is supported where the
changed row has no pair of values that the data never have together, where its protected values are
those of enough rows, and where attributes that say the same as a protected one have changed with
it (`fairdesk.data.domain.dependencies`).

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
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.attributes import Attribute, Role, encode
from fairdesk.data.domain.constraints import parse
from fairdesk.data.domain.dependencies import (
    LEAST_EXPECTED,
    Companion,
    Move,
    check_order,
    find_companions,
    learn,
)
from fairdesk.data.domain.formulas import (
    And,
    Comparison,
    Constraint,
    Dependence,
    Formula,
    Name,
    Not,
    Number,
    Valued,
)
from fairdesk.data.table import Kind, Table
from fairdesk.errors import SpecError
from fairdesk.results.events import Rows

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
    ways: Sequence[tuple[_Side, _Side]], rows: Rows, table: Table, following: list[Dependence]
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


#: A protected value is compared with when at least this share of the rows has it ...
LEAST_SHARE = 0.02
#: ... and so many rows: the limits of group tables.
LEAST_ROWS = 30


class Support(msgspec.Struct, frozen=True):
    """What limits the comparisons between counterfactuals, learned from the data.

    Attributes
    ----------
    constraints : tuple[str, ...]
        Pairs of a protected and an unprotected value that no row has, and attributes that are
        determined by a protected one, as `fairdesk.data.domain.constraints` writes them.
    companions : tuple[Companion, ...]
        Attributes that change with a protected one.
    proposed : tuple[Companion, ...]
        Found, and neither confirmed nor refused: rows that they concern are compared with none.
    rare : tuple[tuple[str, float], ...]
        Protected attributes and their codes that too few rows have to be compared with.
    refused : tuple[tuple[str, str], ...]
        Attributes that were found and do not change with a protected one, as the auditor decided.
    """

    constraints: tuple[str, ...] = ()
    companions: tuple[Companion, ...] = ()
    proposed: tuple[Companion, ...] = ()
    rare: tuple[tuple[str, float], ...] = ()
    refused: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        """Return whether anything is limited."""
        return bool(self.constraints or self.companions or self.proposed or self.rare)


def learn_support(
    attributes: Sequence[Attribute], table: Table, constraints: Sequence[str] = ()
) -> Support:
    """Learn from the data which comparisons they support.

    Parameters
    ----------
    attributes : sequence of Attribute
        Of the domain.
    constraints : sequence of str
        Those of the auditor: what they exclude is not found again.

    Returns
    -------
    Support
        Companions that are certain, the others as proposed.
    """
    rows = encode(attributes, table)
    found = find_companions(attributes, rows)
    absent = absent_combinations(attributes, table, constraints, of_protected=True)
    parsed = [parse(text, attributes) for text in (*constraints, *(a.constraint for a in absent))]
    determined = {each.attribute for each in parsed if isinstance(each, Dependence)}
    found = tuple(each for each in found if each.attribute not in determined)
    return Support(
        tuple(each.constraint for each in absent),
        tuple(each for each in found if each.certain),
        tuple(each for each in found if not each.certain),
        tuple(
            (attribute.name, code)
            for i, attribute in enumerate(attributes)
            if attribute.role is Role.PROTECTED
            for code in _rare(attribute, rows[:, i])
        ),
    )


class CompanionValues(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"by": "with"}
):
    """A companion as an auditor writes it.

    Attributes
    ----------
    by : str
        The protected attribute that it changes with; in a file ``with``.
    values : dict[str, dict[str, str]]
        For each new protected value, what values of the companion become.
    """

    by: str
    values: dict[str, dict[str, str]]


#: Which attributes change with a protected one: those that are certain (``"auto"``), none until the
#: auditor decides (``"ask"``), none (``"none"``); or what is decided of some, by their names, the
#: rest as with ``"auto"``. One without values is refused.
CompanionChoice = Literal["auto", "ask", "none"] | dict[str, CompanionValues]


def chosen_support(
    found: Support, choice: CompanionChoice, attributes: Sequence[Attribute]
) -> Support:
    """Return the support with the companions that are chosen.

    Raises
    ------
    SpecError
        When a companion that is given does not fit the attributes.
    """
    if choice == "auto":
        return found
    every = (*found.companions, *found.proposed)
    if choice == "ask":
        return msgspec.structs.replace(found, companions=(), proposed=every)
    if choice == "none":
        refused = tuple((each.attribute, each.by) for each in every)
        return msgspec.structs.replace(found, companions=(), proposed=(), refused=refused)
    made = [_given(name, each, attributes, every) for name, each in choice.items()]
    return msgspec.structs.replace(
        found,
        companions=(
            *(each for each in made if each.moves),
            *(each for each in found.companions if each.attribute not in choice),
        ),
        proposed=tuple(each for each in found.proposed if each.attribute not in choice),
        refused=tuple((each.attribute, each.by) for each in made if not each.moves),
    )


def written(companion: Companion, attributes: Sequence[Attribute]) -> CompanionValues:
    """Return a companion as an auditor writes it."""
    by_name = {each.name: each for each in attributes}
    own, by = by_name[companion.attribute], by_name[companion.by]
    values: dict[str, dict[str, str]] = {}
    for move in companion.moves:
        values.setdefault(by.text(move.to), {})[own.text(move.code)] = own.text(move.becomes)
    return CompanionValues(companion.by, values)


def _given(
    name: str, given: CompanionValues, attributes: Sequence[Attribute], found: Sequence[Companion]
) -> Companion:
    """Return a companion that an auditor wrote, with the fit of what was found too."""
    by_name = {each.name: each for each in attributes}
    for each in (name, given.by):
        if each not in by_name:
            raise SpecError(
                f"There is no attribute “{each}” that could change with another one.",
                remedy=f"The attributes are: {', '.join(by_name)}.",
                setting="companions",
            )
    own, by = by_name[name], by_name[given.by]
    known = {
        (move.to, move.code, move.becomes): move
        for each in found
        if (each.attribute, each.by) == (name, given.by)
        for move in each.moves
    }
    moves = []
    for to, pairs in given.values.items():
        for before, after in pairs.items():
            key = _code(by, to), _code(own, before), _code(own, after)
            moves.append(known.get(key, Move(*key)))
    seen = next((each.contradicting for each in found if each.attribute == name), 0)
    return Companion(name, given.by, tuple(moves), seen)


def _code(attribute: Attribute, text: str) -> float:
    """Return the code of a value that an auditor wrote."""
    if text in attribute.values:
        return float(attribute.values.index(text))
    try:
        if not attribute.values:
            return float(text)
    except ValueError:
        pass
    raise SpecError(
        f"“{attribute.name}” has no value “{text}”.",
        remedy=f"Its values are: {', '.join(attribute.values)}."
        if attribute.values
        else "Write a number.",
        setting="companions",
    )


def _rare(attribute: Attribute, codes: Rows) -> tuple[float, ...]:
    """Return the compared codes that too few rows have; none where fewer than two are left."""
    known = codes[~np.isnan(codes)]
    counts = np.bincount(attribute.nearest_compared(known), minlength=len(attribute.compared))
    enough = counts >= max(LEAST_ROWS, LEAST_SHARE * len(known))
    if enough.sum() < 2:
        return ()
    return tuple(np.array(attribute.compared)[~enough].tolist())
