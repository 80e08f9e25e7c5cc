"""Attributes that change when another one does: determined ones and companions.

The value of a determined attribute follows from another's; what follows is learned from the data.

A companion says the same as a protected attribute. A husband is compared with a wife, not with a
female husband. Some values of `relationship` occur (nearly) only with one value of `sex`: such an
attribute is a companion of the protected one. Which value stands for which is found by the
distribution of all other attributes given the value, and confirmed by the auditor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.attributes import Attribute, Role, encode
from fairdesk.data.domain.formulas import Dependence
from fairdesk.data.table import Kind, Table
from fairdesk.errors import SpecError
from fairdesk.results.events import Rows

#: So many rows must be expected where there is none: by chance that happens once in 148 times.
LEAST_EXPECTED = 5.0


class Determined(msgspec.Struct, frozen=True, dict=True):
    """An attribute that is never changed by itself: its value follows another one's.

    Attributes
    ----------
    attribute : str
        The one that follows.
    by : str
        The one that determines it.
    values : tuple[tuple[float, float], ...]
        A code of ``by`` and the code of ``attribute`` that follows, ascending. Nobody has a code
        of ``by`` that is not among them: what would follow is not known.
    """

    attribute: str
    by: str
    values: tuple[tuple[float, float], ...]

    def follow(self, codes: Rows) -> Rows:
        """Return the code that follows from each code of ``by``; NaN where that is not known."""
        given, follows = self._columns
        place = np.minimum(np.searchsorted(given, codes), len(given) - 1)
        return np.where(given[place] == codes, follows[place], np.nan)

    @cached_property
    def _columns(self) -> Rows:
        # what nobody has follows from what nobody has, so that there is always a place to look
        return np.array(self.values or [(np.nan, np.nan)], dtype=float).T


def learn(
    dependence: Dependence, attributes: Sequence[Attribute], table: Table
) -> tuple[Determined, NDArray[np.bool_]]:
    """Learn what follows from each value: what most rows of the data say; of two the lower code.

    Returns
    -------
    Determined
        What was learned.
    NDArray[np.bool_]
        ``(rows,)``; the rows that say otherwise. Those where a cell is missing do not.

    Raises
    ------
    SpecError
        When an attribute cannot follow in this way.
    """
    by_name = {each.name: each for each in attributes}
    target, source = by_name[dependence.attribute], by_name[dependence.by]
    _check(target, source)
    follows, given = encode((target, source), table).T
    known = ~np.isnan(follows) & ~np.isnan(given)
    pairs, counts = np.unique(np.column_stack((given, follows))[known], axis=0, return_counts=True)
    # of each value of the source the pair that most rows have, which lexsort puts first
    pairs = pairs[np.lexsort((pairs[:, 1], -counts, pairs[:, 0]))]
    given_once, first = np.unique(pairs[:, 0], return_index=True)
    learned = Determined(
        target.name,
        source.name,
        tuple(
            (code, after)
            for code, after in zip(given_once.tolist(), pairs[first, 1].tolist(), strict=True)
            if source.low <= code <= source.high and target.low <= after <= target.high
        ),
    )
    _check_seen(learned, target, source)
    return learned, known & (learned.follow(given) != follows)


def _check(target: Attribute, source: Attribute) -> None:
    what = f"“{target.name}” cannot be determined by “{source.name}”."
    if target.role is Role.PROTECTED:
        raise SpecError(
            what,
            why=f"“{target.name}” is protected, so it is changed on its own to form pairs.",
            remedy=f"Protect “{source.name}” instead; “{target.name}” then changes with it.",
        )
    if target.role is Role.FIXED:
        raise SpecError(
            what,
            why=f"“{target.name}” is fixed, so another attribute cannot determine it.",
            remedy=(
                "Make it variable: it changes only where the attribute that determines it "
                "requires it."
            ),
        )
    if source.kind is Kind.REAL and not source.step:
        raise SpecError(
            what,
            why=f"“{source.name}” is a decimal number, so most of its values are not in the data.",
            remedy="Write the dependency as a comparison, or give the number a step.",
        )


def _check_seen(learned: Determined, target: Attribute, source: Attribute) -> None:
    """Refuse a number that follows a number of which some values are never seen."""
    if not learned.values:
        raise SpecError(
            f"“{target.name}” cannot be determined by “{source.name}”.",
            why="No row of the data has an allowed value of both.",
            remedy="Widen the limits of both, or remove this constraint.",
        )
    if source.values or target.values:
        return
    wanted = round((source.high - source.low) / source.spacing) + 1
    if len(learned.values) < wanted:
        raise SpecError(
            f"“{target.name}” cannot be determined by “{source.name}”.",
            why=f"Only {len(learned.values):,} of the {wanted:,} values of “{source.name}” are in "
            "the data, so what the others determine is not known.",
            remedy=(
                "Narrow its range to values that occur in the data, or write the dependency as a "
                "comparison."
            ),
        )


def check_order(determined: Sequence[Determined | Dependence]) -> None:
    """Refuse attributes that follow two others, or each other in a circle.

    Raises
    ------
    SpecError
        With their names.
    """
    sources: dict[str, str] = {}
    for each in determined:
        if each.attribute in sources:
            raise SpecError(
                f"“{each.attribute}” is declared as determined by “{sources[each.attribute]}” and "
                f"by “{each.by}”.",
                why="An attribute can be determined by only one other attribute.",
                remedy="Remove one of the two constraints.",
            )
        sources[each.attribute] = each.by
    for start in sources:
        chain = [start]
        while (following := sources.get(chain[-1])) is not None:
            if following in chain:
                listed = ", ".join(f"“{name}”" for name in chain)
                raise SpecError(
                    f"The attributes {listed} determine each other in a circle.",
                    remedy="Remove one of these constraints.",
                )
            chain.append(following)


def in_order(determined: Sequence[Determined]) -> tuple[Determined, ...]:
    """Put what follows behind what it follows from; `check_order` must have passed."""
    sources = {each.attribute: each.by for each in determined}

    def depth(name: str) -> int:
        return 0 if name not in sources else 1 + depth(sources[name])

    return tuple(sorted(determined, key=lambda each: depth(each.attribute)))


#: A value belongs to one protected value when it is seen with another one in at most this share of
#: the rows that chance would bring, where these are `LEAST_EXPECTED` or more.
NEARLY = 0.05
#: An attribute is a companion where such values cover at least this share of both groups.
_LEAST_SHARE = 0.05
#: What is at most this share of the expected rows is taken for errors of recording: a companion
#: with no more is certain, if its values match clearly.
_ERRORS = 0.01
#: A match is clear where it exceeds the next best one by this, or is the only one.
_CLEAR = 0.1
#: Attributes with more values are no companions, nor are protected ones with more values compared.
_MOST_VALUES = 50
#: Numbers are cut into so many parts of equal frequency to compare distributions.
_PARTS = 10


class Move(msgspec.Struct, frozen=True):
    """What one value of a companion becomes when the protected value changes.

    Attributes
    ----------
    to : float
        The new code of the protected attribute.
    code, becomes : float
        The companion's code before and after.
    fit : float
        Mean overlap of the distributions of all other attributes given the two values, from 0 to 1.
    clear : bool
        Whether no other value fits nearly as well.
    """

    to: float
    code: float
    becomes: float
    fit: float = 1.0
    clear: bool = True


class Companion(msgspec.Struct, frozen=True, dict=True):
    """An attribute that changes with a protected one.

    Values that no move names stay as they are.

    Attributes
    ----------
    attribute : str
        The companion.
    by : str
        The protected attribute.
    moves : tuple[Move, ...]
        At most one for each new value and code.
    contradicting : int
        Rows of the data with a value that belongs to another protected value than theirs.
    certain : bool
        Whether hardly any row contradicts and each match is clear.
    """

    attribute: str
    by: str
    moves: tuple[Move, ...]
    contradicting: int = 0
    certain: bool = True

    def follow(self, by: Rows, codes: Rows) -> Rows:
        """Return the companion's codes that go with protected codes: ``(...)`` from two arrays."""
        moved = codes.copy()
        for to, before, after in self._tables:
            place = np.minimum(np.searchsorted(before, codes), len(before) - 1)
            moves = (by == to) & (before[place] == codes)
            moved[moves] = after[place[moves]]
        return moved

    @cached_property
    def _tables(self) -> tuple[tuple[float, Rows, Rows], ...]:
        """For each new protected code the codes that move, ascending, and what they become."""
        tables = []
        for to in sorted({move.to for move in self.moves}):
            pairs = sorted((move.code, move.becomes) for move in self.moves if move.to == to)
            before, after = np.array(pairs, dtype=float).T
            tables.append((to, before, after))
        return tuple(tables)

    def representatives(self, codes: Rows, compared: Sequence[float]) -> Rows:
        """Return for each code the one that stands for its counterparts too: ``(k,)``.

        Two codes have the same counterparts where they become the same codes with every protected
        value; the first of them stands for all.

        Parameters
        ----------
        codes : Rows
            ``(k,)``; all codes of the companion, each once.
        compared : sequence of float
            The compared codes of the protected attribute.
        """
        become = np.stack([self.follow(np.full(len(codes), each), codes) for each in compared])
        _, first, place = np.unique(become, axis=1, return_index=True, return_inverse=True)
        return np.asarray(codes[first[place.reshape(-1)]])


def check_companions(
    companions: Sequence[Companion], attributes: Sequence[Attribute], following: Sequence[str] = ()
) -> None:
    """Refuse companions that do not fit the attributes.

    Parameters
    ----------
    following : sequence of str
        Attributes that are determined by others already.

    Raises
    ------
    SpecError
        With the companion's name and the reason.
    """
    by_name = {each.name: each for each in attributes}
    seen: set[str] = set(following)
    for each in companions:
        why = ""
        target, source = by_name.get(each.attribute), by_name.get(each.by)
        if target is None or source is None:
            why = f"The model has no attribute “{each.attribute if target is None else each.by}”."
        elif source.role is not Role.PROTECTED:
            why = f"“{each.by}” is not protected."
        elif target.role is Role.PROTECTED:
            why = "A protected attribute is changed on its own."
        elif each.attribute in seen:
            why = "It follows another attribute already."
        elif any(
            move.to not in source.compared
            or not target.low <= move.code <= target.high
            or not target.low <= move.becomes <= target.high
            for move in each.moves
        ):
            why = "A value is not among the allowed ones."
        if why:
            raise SpecError(
                f"“{each.attribute}” cannot change together with “{each.by}”.",
                why=why,
                remedy="Correct or remove this companion.",
                setting="companions",
            )
        seen.add(each.attribute)


def find_companions(attributes: Sequence[Attribute], rows: Rows) -> tuple[Companion, ...]:
    """Find the companions of protected attributes.

    Parameters
    ----------
    rows : Rows
        ``(n, d)``; the codes of the data; NaN where a cell is missing.
    """
    columns = _Columns(attributes, rows)
    found: list[Companion] = []
    for source, by in enumerate(attributes):
        if by.role is not Role.PROTECTED or not 2 <= len(by.compared) <= _MOST_VALUES:
            continue
        for target, attribute in enumerate(attributes):
            if attribute.role is not Role.VARIES or attribute.kind in (Kind.TEXT, Kind.REAL):
                continue
            if any(each.attribute == attribute.name for each in found):
                continue
            if companion := _companion(columns, target, source):
                found.append(companion)
    return tuple(found)


class _Columns:
    """The data's columns as places, for counting; numbers in parts of equal frequency."""

    def __init__(self, attributes: Sequence[Attribute], rows: Rows) -> None:
        self.attributes, self.rows = attributes, rows
        self._parts = [self._places(each, rows[:, i]) for i, each in enumerate(attributes)]

    @staticmethod
    def _places(attribute: Attribute, codes: Rows) -> NDArray[np.intp]:
        known = ~np.isnan(codes)
        values = np.unique(codes[known])
        if not attribute.values and len(values) > _PARTS:
            values = np.unique(np.quantile(codes[known], np.arange(1, _PARTS) / _PARTS))
            places = np.searchsorted(values, np.where(known, codes, 0), side="left")
        else:
            places = np.searchsorted(values, np.where(known, codes, 0))
        return np.where(known, places, len(values) + 1)

    def overlap(
        self, some: NDArray[np.bool_], others: NDArray[np.bool_], left_out: set[int]
    ) -> float:
        """Return the mean overlap of the distributions of all attributes but some, 0 to 1."""
        overlaps = []
        for i, places in enumerate(self._parts):
            if i in left_out or self.attributes[i].kind is Kind.TEXT:
                continue
            size = int(places.max(initial=0)) + 1
            one, other = (
                np.bincount(places[which], minlength=size) / which.sum() for which in (some, others)
            )
            overlaps.append(float(np.minimum(one, other).sum()))
        return float(np.mean(overlaps)) if overlaps else 1.0


def _companion(columns: _Columns, target: int, source: int) -> Companion | None:
    """Return one attribute as a companion of a protected one; ``None`` where it is none."""
    codes, by = columns.rows[:, target], columns.rows[:, source]
    attribute = columns.attributes[source]
    # a missing cell may stand for any of the others
    compared = np.setdiff1d(attribute.compared, [attribute.unknown_code])
    known = ~np.isnan(codes) & np.isin(by, compared)
    values, place = np.unique(codes[known], return_inverse=True)
    if not 2 <= len(values) <= _MOST_VALUES:
        return None
    group = np.searchsorted(compared, by[known])
    counts = np.zeros((len(values), len(compared)))
    np.add.at(counts, (place, group), 1)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / max(1, known.sum())
    owner = _owners(counts, expected)
    covered = np.array([counts[owner == v, v].sum() for v in range(len(compared))])
    share = covered / np.maximum(counts.sum(axis=0), 1)
    moves = [
        move
        for v, w in _ordered_pairs(np.flatnonzero(share >= _LEAST_SHARE))
        for move in _matched(columns, (target, source), (values, compared), owner, (v, w))
    ]
    if not moves:
        return None
    involved = {move.code for move in moves}
    of_moves = np.isin(values, sorted(involved))
    own = counts[np.arange(len(values)), np.maximum(owner, 0)]
    contradicting = (counts.sum(axis=1) - own)[of_moves]
    elsewhere = expected.sum(axis=1) - expected[np.arange(len(values)), np.maximum(owner, 0)]
    few = bool((contradicting <= _ERRORS * elsewhere[of_moves]).all())
    return Companion(
        columns.attributes[target].name,
        attribute.name,
        tuple(moves),
        int(contradicting.sum()),
        few and all(move.clear for move in moves),
    )


def _owners(counts: NDArray[np.float64], expected: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return for each value the one protected value that it belongs to, by place; -1 for none."""
    most = counts.argmax(axis=1)
    owner = np.full(len(counts), -1)
    for i, v in enumerate(most.tolist()):
        others = np.arange(counts.shape[1]) != v
        telling = others & (expected[i] >= LEAST_EXPECTED)
        rare = (counts[i, telling] <= NEARLY * expected[i, telling]).all()
        if telling.any() and rare and counts[i, v] >= (1 - NEARLY) * counts[i].sum():
            owner[i] = v
    return owner


def _ordered_pairs(places: NDArray[np.intp]) -> Iterator[tuple[int, int]]:
    yield from ((v, w) for v in places.tolist() for w in places.tolist() if v != w)


def _matched(
    columns: _Columns,
    positions: tuple[int, int],
    names: tuple[NDArray[np.float64], NDArray[np.float64]],
    owner: NDArray[np.intp],
    pair: tuple[int, int],
) -> Iterator[Move]:
    """Match the values that belong to one protected value with those that belong to another."""
    values, compared = names
    own, others = (np.flatnonzero(owner == each) for each in pair)
    codes = columns.rows[:, positions[0]]
    fits = np.array(
        [
            [
                columns.overlap(codes == values[i], codes == values[j], set(positions))
                for j in others.tolist()
            ]
            for i in own.tolist()
        ]
    )
    # each its own counterpart where there are enough; what is left over takes what fits best
    chosen = fits.argmax(axis=1)
    if min(fits.shape) > 1:
        # half a second to import, and one value on either side is nobody's rival
        from scipy.optimize import linear_sum_assignment  # noqa: PLC0415

        some, matched = linear_sum_assignment(-fits)
        chosen[some] = matched
    for i, j in enumerate(chosen.tolist()):
        rest = np.delete(fits[i], j)
        clear = bool(not rest.size or fits[i, j] >= rest.max() + _CLEAR)
        yield Move(
            float(compared[pair[1]]),
            float(values[own[i]]),
            float(values[others[j]]),
            round(float(fits[i, j]), 4),
            clear,
        )
