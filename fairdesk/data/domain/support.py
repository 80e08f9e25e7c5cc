"""Which comparisons the data support: what no row has is not compared, and companions change too.

For a row and another combination of protected values, the comparison is supported where the
changed row has no pair of values that the data never have together, where its protected values are
those of enough rows, and where attributes that say the same as a protected one have changed with
it (`fairdesk.data.domain.companions`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np

from fairdesk.data.domain.absent import absent_combinations
from fairdesk.data.domain.attributes import Attribute, Role, encode
from fairdesk.data.domain.companions import Companion, Move, find_companions
from fairdesk.data.domain.constraint_truth import Dependence
from fairdesk.data.domain.constraints import parse
from fairdesk.data.table import Table
from fairdesk.errors import SpecError
from fairdesk.results.events import Rows

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
