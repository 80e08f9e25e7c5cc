"""Attributes that follow another one: what follows from what is learned from the data."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.attributes import Attribute, Role, encode
from fairdesk.data.domain.constraint_truth import Dependence
from fairdesk.data.table import Kind, Table
from fairdesk.errors import SpecError
from fairdesk.results.events import Rows


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
