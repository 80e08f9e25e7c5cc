"""Counting in an undecided box what its forms decide, compiled."""
# numba has no types
# mypy: disallow-untyped-decorators=False, warn-return-any=False, disable-error-code="no-any-return"

from __future__ import annotations

import numpy as np

from fairdesk.certify.bounds.count_kernels import shares
from fairdesk.certify.bounds.dense.clipping import add_to, agree, ends, less
from fairdesk.certify.bounds.dense.state import (
    CLOSE,
    PEOPLED,
    STEPS,
    Float64,
    Network,
    Numbers,
    Room,
)
from fairdesk.certify.bounds.dense.truncation import taken_of
from fairdesk.certify.bounds.tree_kernels import tree_shares
from fairdesk.certify.domain.population_kernels import mass_of
from fairdesk.compiled import ONE, ZERO, inner, shared


@inner()
def is_inhabited(network: Network, low: Numbers, high: Numbers, room: Room) -> bool:
    """Return whether a box holds enough of the population to count it."""
    if not network.given.size:
        return False
    own = room.people
    mass = mass_of(shared(network.people), low, high, network.given, own.seen, own.messages)
    return mass > network.limits[PEOPLED]


@inner()
def place(network: Network, low: Numbers, room: Room) -> None:
    """Find where the tables of forms begin for a box: ``room.start``."""
    axes = low.size
    for i in range(axes):
        entry = network.axes[i, 2]
        room.start[i] = entry - axes + low[i] if entry >= 0 else -1


@inner()
def count(
    network: Network,
    who: Numbers,
    low: Numbers,
    high: Numbers,
    points: int,
    inhabited: int,
    out: Float64,
    room: Room,
) -> None:
    """Count the consistent and the discriminatory in a box, as shares of its points and people.

    Less what is excluded, by ``room.cuts``, where the forms hold on truncated ranges: then only
    what these were truncated for can be counted. Fills ``out``: consistent and discriminatory of
    the ``points``, then, where it is ``inhabited``, of the population; then the consistent with
    the favourable decision.
    """
    out[:] = 0.0
    for decided in range(len(network.needs)):
        best = most_people = 0.0
        for c in range(len(network.needs)):
            # classes that mean the same may win in the same places: these count once
            if network.decision[c] != decided:
                continue
            least = agree(network, c, who, low, high, room)
            if not abs(least) < np.inf:
                continue
            share, _, people, _ = _beyond(
                *(network, low, high, network.limits[CLOSE] - least, np.inf),
                *(points, inhabited, room),
            )
            taken = taken_of(network, c, room)
            best, most_people = max(best, share - taken), max(most_people, people - taken)
        out[0], out[2] = out[0] + best, out[2] + most_people
        if decided == network.favourable:
            out[4] = min(most_people, 1.0)
    if len(network.rows) == 1:
        after, before = _band(network, who, low, high, room)
        over, between, over_people, between_people = _beyond(
            network, low, high, after, before, points, inhabited, room
        )
        taken = taken_of(network, -ONE, room)
        out[1] = over + between - taken
        out[3] = over_people + between_people - taken
    for k in (0, 2):
        out[k] = min(out[k], 1.0)
        out[k + 1] = max(min(out[k + 1], 1.0 - out[k]), 0.0)


@inner()
def _beyond(
    network: Network,
    low: Numbers,
    high: Numbers,
    after: float,
    before: float,
    points: int,
    inhabited: int,
    room: Room,
) -> tuple[float, float, float, float]:
    """Count where the common form is above one limit, or between two if the other is finite.

    Never too many: as shares of the points, then of the population.
    """
    least = most = 0.0
    for i in range(low.size):
        own = ends(network.axes, i, low, high, room.common)
        least, most = least + own[0], most + own[1]
    if not (after < before and after < most and before > least):
        return 0.0, 0.0, 0.0, 0.0
    axes = low.size
    slopes, tables = room.common[:axes], room.common[axes : axes + network.tables]
    above = np.inf
    if before == np.inf:
        above, after, before = after, 0.0, 0.0
    over = between = over_people = between_people = 0.0
    if points:
        over, _, between = shares(
            *(low, high, slopes, tables, room.start, above, -np.inf, after, before),
            *(room.work, room.order),
        )
    if inhabited:
        over_people, _, between_people = tree_shares(
            *(network.people, low, high, network.given, slopes, tables, room.start),
            *(above, -np.inf, after, before, int(network.limits[STEPS]), room.people),
        )
    return over, between, over_people, between_people


@inner()
def _upper(network: Network) -> int:
    """Return the decision where the only margin is above 0."""
    return network.decision[0] if network.needs[0, 0] else network.decision[1]


@inner()
def _band(
    network: Network, who: Numbers, low: Numbers, high: Numbers, room: Room
) -> tuple[float, float]:
    """Find where the one margin is above 0 under a combination and below it under another.

    It is where ``room.common``, the mean of the forms, is between the two numbers.
    """
    common, close = room.common, network.limits[CLOSE]
    common[:] = 0.0
    met = 0.0
    for v in who:
        if room.won[v] < 0:
            add_to(common, room.kept[room.bundle[v], 0], 1.0)
            add_to(common, room.kept[room.bundle[v], 1], -1.0)
            met += 2.0
    add_to(common, common, 1.0 / met - 1.0)
    above = below = -np.inf
    for v in who:
        if room.won[v] < 0:
            above = max(above, less(network, low, high, v, ZERO, room))
            add_to(common, common, -2.0)
            below = max(below, less(network, low, high, v, ONE, room))
            add_to(common, common, -2.0)
        elif room.won[v] == _upper(network):
            above = np.inf
        else:
            below = np.inf
    return close - above, below - close
