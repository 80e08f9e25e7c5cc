"""Small domains of which the data support some comparisons only, and what is true there.

The truth is found by plain loops over codes: nothing of `fairdesk.data.domain` is asked.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from fairdesk.data.domain.attributes import Role
from fairdesk.data.domain.dependencies import Companion, Move
from fairdesk.data.domain.domain import Domain
from fairdesk.data.domain.support import Support
from fairdesk.models.model import labels
from tests.certify import scikits
from tests.certify.networks import Small, names, number, small

#: Companions of “sex” by how many values that has: (new value, code, becomes).
SHAPES = {
    2: (
        ((1, 0, 3), (0, 3, 0)),
        ((1, 0, 3), (0, 3, 0), (1, 1, 2), (0, 2, 1)),
        # two values with one counterpart
        ((1, 0, 2), (1, 1, 2), (0, 2, 0)),
        # all values are tied
        ((1, 0, 2), (1, 1, 3), (0, 2, 0), (0, 3, 1)),
    ),
    3: (
        tuple((v, w, v) for v, w in product(range(3), repeat=2) if v != w),
        # one of the three has no value of its own
        ((1, 0, 3), (0, 3, 0)),
        ((0, 1, 0), (0, 3, 0), (1, 0, 1), (1, 3, 1), (2, 0, 3), (2, 1, 3)),
    ),
}
ABSENT = ("not (job = job1 and sex = sex0)", "not (job = job0 and race = race1)")
OWN = ("n0 >= 2 implies sex != sex1", "not (sex = sex1 and race = race0)")


def companion(attribute, by, moves):
    return Companion(
        attribute, by, tuple(Move(float(to), *map(float, pair)) for to, *pair in moves)
    )


def supported(seed: int, kind: str = "network") -> Small:
    """Draw a case: companions, proposed ones, absent pairs, rare values and constraints."""
    rng = np.random.default_rng(seed)
    values = int(rng.integers(2, 4))
    shapes = SHAPES[values]
    kin = (names, number)[int(rng.random() < 0.3)]
    attributes = [
        number("n0", int(rng.integers(2, 5))),
        kin("kin", 4),
        names("job", 3),
        names("sex", values, Role.PROTECTED),
        names("race", 3, Role.PROTECTED),
    ]
    companions = [companion("kin", "sex", shapes[int(rng.integers(len(shapes)))])]
    proposed = []
    if rng.random() < 0.4:
        attributes.insert(2, names("title", 4))
        by = ("sex", "race")[int(rng.integers(2))]
        own = SHAPES[values if by == "sex" else 3]
        second = companion("title", by, own[int(rng.integers(len(own)))])
        (companions if rng.random() < 0.6 else proposed).append(second)
    support = Support(
        tuple(each for each in ABSENT if rng.random() < 0.4),
        tuple(companions),
        tuple(proposed),
        (("race", 2.0),) if rng.random() < 0.4 else (),
    )
    rules = tuple(each for each in OWN if rng.random() < 0.25)
    made = _forest(attributes, rng) if kind == "forest" else None
    if made is None:
        widths = () if kind == "linear" else (4, 3)
        made = small(attributes, widths, rng)
    rows = np.column_stack([rng.integers(each.low, each.high + 1, 40) for each in attributes])
    return made._replace(
        domain=Domain(tuple(attributes), rules, support=support), people=rows.astype(float)
    )


def _forest(attributes, rng) -> Small:
    rows = np.column_stack([rng.integers(each.low, each.high + 1, 200) for each in attributes])
    score = rng.normal(size=len(attributes)) @ rows.T + 2 * rng.normal(size=len(rows))
    forest = RandomForestClassifier(int(rng.integers(1, 4)), max_depth=5, random_state=1)
    forest.fit(rows.astype(float), (score > np.median(score)).astype(int))
    return Small(scikits.fed(forest, tuple(attributes)), Domain(tuple(attributes)), rows)


class Point(NamedTuple):
    """A similar set.

    Attributes
    ----------
    row : tuple[float, ...]
        One of its members.
    key : tuple
        By which it is told from others: the row, but for a companion all codes that it becomes.
    members : dict[tuple[float, ...], tuple[float, ...]]
        By their protected values the rows that are compared.
    changes : bool
        Whether two of these are decided differently.
    """

    row: tuple[float, ...]
    key: tuple
    members: dict[tuple[float, ...], tuple[float, ...]]
    changes: bool


def points(made: Small) -> list[Point]:
    """Return every similar set of a domain, with a comparison or without."""
    domain = made.domain
    protected = domain.protected.tolist()
    codes = [
        [each.low] if i in protected else np.arange(each.low, each.high + 1).tolist()
        for i, each in enumerate(domain.attributes)
    ]
    found, rows, met = [], [], set()
    for row in product(*codes):
        key = _key(made, row)
        if key not in met:
            met.add(key)
            members = _members(made, row, _rare(made))
            found.append((row, key, members))
            rows += members.values()
    changes = _changing(made, [members for _, _, members in found])
    return [Point(*each, change) for each, change in zip(found, changes, strict=True)]


def compared(made: Small, rows) -> list[tuple[tuple, bool, bool]]:
    """Return of rows of the data their keys, whether they have a comparison, and change by it."""
    protected, found = made.domain.protected.tolist(), []
    for row in map(tuple, rows.tolist()):
        own = tuple(row[i] for i in protected)
        # its own rare values are compared with others
        rare = _rare(made) - {(i, row[i]) for i in protected}
        members = _members(made, row, rare)
        # who contradicts what the data support is compared with nothing
        found.append(members if members.get(own) == row else {})
    changes = _changing(made, found)
    return [
        (_key(made, row), len(members) > 1, change)
        for row, members, change in zip(rows.tolist(), found, changes, strict=True)
    ]


def _changing(made, found):
    rows = [row for members in found for row in members.values()]
    told = labels(made.fed.predict(np.array(rows))).tolist() if rows else []
    decided = dict(zip(rows, told, strict=True))
    return [len({decided[each] for each in members.values()}) > 1 for members in found]


def _rare(made):
    return {(made.domain.names.index(name), code) for name, code in made.domain.support.rare}


def _key(made, row):
    key = list(row)
    for i in made.domain.protected.tolist():
        key[i] = None
    for target, by, own in _moves(made.domain, made.domain.support.companions):
        compared = made.domain.attributes[by].compared
        key[target] = tuple(own.get((v, row[target]), row[target]) for v in compared)
    return tuple(key)


def _members(made, row, rare):
    """Return the members of a row's similar set that are possible, by their protected values."""
    domain, members = made.domain, {}
    protected = domain.protected.tolist()
    moves = _moves(domain, domain.support.companions)
    unsure = _moves(domain, domain.support.proposed)
    for values in product(*(domain.attributes[i].compared for i in protected)):
        other = list(row)
        for i, value in zip(protected, values, strict=True):
            other[i] = value
        fine = not any((i, other[i]) in rare for i in protected)
        for target, by, own in moves:
            other[target] = own.get((other[by], other[target]), other[target])
            fine &= own.get((other[by], other[target]), other[target]) == other[target]
        for target, by, own in unsure:
            fine &= own.get((other[by], other[target]), other[target]) == other[target]
        if fine and all(rule.holds(np.array([other]))[0] for rule in domain.all_rules):
            members[values] = tuple(other)
    return members


def _moves(domain, companions):
    return [
        (
            domain.names.index(each.attribute),
            domain.names.index(each.by),
            {(move.to, move.code): move.becomes for move in each.moves},
        )
        for each in companions
    ]
