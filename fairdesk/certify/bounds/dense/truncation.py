"""Lines that hold on a part of a unit's range only, and what share of a box is outside, compiled.

In a large box a unit's sum, of a dozen independent axes, lies within a few standard deviations,
and its range is twice or three times as wide. So the line above a ReLU is drawn for a *truncated*
range: where every truncated unit stays within its own, all forms hold, and so does all that is
counted by them, less the share of the points of which some unit is outside. That share is bounded
by the same convolution as counts are. How far a range is truncated is chosen by a normal estimate;
what is excluded is never estimated. Where people are counted so, not points, it is bounded by the
mean of an exponential (`fairdesk.certify.bounds.tree_tails`).

The line below a ReLU holds everywhere. So a unit before the margins takes only from those forms
that have its line above. What the units of earlier layers exclude is taken from all.
"""
# numba has no types
# mypy: disallow-untyped-decorators=False, warn-return-any=False, disable-error-code="no-any-return"

from __future__ import annotations

import math

import numpy as np

from fairdesk.certify.bounds.count_kernels import outside
from fairdesk.certify.bounds.dense.activations import RELU
from fairdesk.certify.bounds.dense.state import (
    BY_PEOPLE,
    EXCLUDED,
    FIRST,
    HIGH,
    KIND,
    LEAST_GAIN,
    LOW,
    MEAN,
    PRICE,
    TAKEN,
    UNITS,
    Float64,
    Network,
    Numbers,
    Room,
)
from fairdesk.certify.bounds.tree_tails import tree_moments, tree_tail
from fairdesk.compiled import ZERO, inner

#: How many standard deviations from its mean a range may end.
_ENDS = (1.2, 1.5, 1.8, 2.1, 2.4, 2.7, 3.1)
#: By so many of them the grid moves what is excluded, about.
_MOVED = 0.03
#: What is excluded beyond each of these ends, about.
_BEYOND = tuple(0.5 * math.erfc((end - _MOVED) / math.sqrt(2.0)) for end in _ENDS)
#: The same of people, of whom the mean of an exponential bounds how many are beyond.
_PEOPLE_ENDS = (1.6, 2.0, 2.4, 2.8, 3.2, 3.7, 4.3)
_PEOPLE_BEYOND = tuple(math.exp(-0.5 * end * end) for end in _PEOPLE_ENDS)
#: No exponential is less steep than for an end so many deviations away.
_LEAST_END = 0.5
#: What part of the distance between two forms goes, about, when ranges are truncated.
_GOES = 0.9
#: What is gained for a unit of an earlier layer counts so much: what it excludes is taken off more
#: than once, and a later range is bounded by it in the whole box.
_EARLIER = 0.5
#: A side that is counted in less than this share of a box has little to lose.
_LITTLE = 0.01


@inner(error_model="numpy")
def moments(axes: Numbers, low: Numbers, high: Numbers, form: Float64) -> tuple[float, float]:
    """Estimate the mean and the standard deviation of a form in a box, without its constant."""
    mean = variance = 0.0
    for i in range(low.size):
        entry, count = axes[i, 2], high[i] - low[i] + 1.0
        if entry >= 0:
            total = squares = 0.0
            for k in range(entry + low[i], entry + high[i] + 1):
                total += form[k]
                squares += form[k] * form[k]
            total, squares = total / count, squares / count
            mean += total
            variance += squares - total * total
        else:
            mean += 0.5 * form[i] * (low[i] + high[i])
            variance += form[i] * form[i] * (count * count - 1.0) / 12.0
    return mean, math.sqrt(max(variance, 0.0))


@inner()
def _moments(
    network: Network, low: Numbers, high: Numbers, form: Float64, room: Room
) -> tuple[float, float]:
    """Do `moments` for people where these are counted on truncated ranges."""
    if not network.limits[BY_PEOPLE]:
        return moments(network.axes, low, high, form)
    axes, own = low.size, form[low.size : low.size + network.tables]
    return tree_moments(
        network.people, low, high, network.given, form[:axes], own, room.start, room.people
    )


@inner(error_model="numpy")
def _lost(
    network: Network,
    low: Numbers,
    high: Numbers,
    form: Float64,
    after: float,
    before: float,
    spread: tuple[float, float],
    room: Room,
) -> float:
    """Bound from above which share a form puts outside of two limits, of what is counted.

    ``spread`` is what `_moments` says of it: where it is wrong, the bound is less tight.
    """
    axes, own = low.size, form[low.size : low.size + network.tables]
    if not network.limits[BY_PEOPLE]:
        return outside(
            low, high, form[:axes], own, room.start, after, before, room.work, room.order
        )
    mean, deviation = spread
    lost = 0.0
    for limit, side in ((after, -1.0), (before, 1.0)):
        if abs(limit) < np.inf:
            by = side * max(side * (limit - mean) / deviation, _LEAST_END) / deviation
            lost += tree_tail(
                network.people, low, high, network.given, form[:axes], own, room.start,
                limit, by, room.people,
            )  # fmt: skip
    return min(lost, 1.0)


@inner()
def _tail(x: float) -> float:
    """Return the share of a normal distribution beyond so many standard deviations."""
    return 0.5 * math.erfc(x * 0.7071067811865476)


@inner()
def _positive_part(mean: float, deviation: float) -> float:
    """Return the mean of the positive part of what is normally distributed."""
    if not deviation > 0.0:
        return max(mean, 0.0)
    x = mean / deviation
    return mean * _tail(-x) + deviation * 0.3989422804014327 * math.exp(-0.5 * x * x)


@inner()
def price(network: Network, who: Numbers, low: Numbers, high: Numbers, room: Room) -> float:
    """Say what a unit's gap costs: the share of the box that it keeps undecided, estimated.

    Fills rows `PRICE` and `TAKEN` of ``room.cuts``: what an average distance of 1 between a unit's
    sum and the line above costs, and how often what is excluded for it will be taken off. Gives how
    much can be gained at most.
    """
    cuts, of = room.cuts, room.units
    cuts[:] = 0.0
    last = len(network.shape) - 1
    before_last = network.shape[last, FIRST]
    v = -1
    for each in who:
        if room.won[each] < 0:
            v = each
            break
    if v < 0:
        return 0.0
    for f in range(len(network.rows)):
        means, deviations = (0.0, 0.0), (0.0, 0.0)
        first = _moments(network, low, high, room.kept[room.bundle[v], 2 * f], room)
        second = _moments(network, low, high, room.kept[room.bundle[v], 2 * f + 1], room)
        least_first = least_second = np.inf
        for each in who:
            if room.won[each] < 0:
                least_first = min(least_first, room.constants[each, 2 * f])
                least_second = min(least_second, room.constants[each, 2 * f + 1])
        means = (first[0] + least_first, second[0] + least_second)
        deviations = (first[1], second[1])
        half = -0.5 * (means[0] + means[1])
        for side in range(2):
            p, mean, deviation = 2 * f + side, means[side], deviations[side]
            if not (deviation > 0.0 and half > 0.0 and abs(mean) < np.inf):
                continue
            closing = _GOES * half
            decided = _tail(-mean / deviation)
            per = (_tail(-(mean + closing) / deviation) - decided) / closing
            counted = min(_tail(-(mean + closing) / deviation) / _LITTLE, 1.0)
            for u in range(of.shape[1]):
                pull = room.pulls[p, u]
                own = per * max(-pull, 0.0)
                cuts[PRICE, u] += own if u >= before_last else own * _EARLIER
                if u < before_last or pull < 0.0:
                    cuts[TAKEN, u] += counted
    gain = 0.0
    for u in range(of.shape[1]):
        least, most = of[LOW, u], of[HIGH, u]
        if least < 0.0 < most:
            gain += _most_gained(cuts[PRICE, u], least, most)
    return gain


@inner(error_model="numpy")
def _most_gained(cost: float, least: float, most: float) -> float:
    """Return what is gained where a unit has no gap any more."""
    return cost * -least * most / (most - least)


@inner()
def _steps(network: Network) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return how many deviations away a range may end, and what each of them excludes, about."""
    if network.limits[BY_PEOPLE]:
        return _PEOPLE_ENDS, _PEOPLE_BEYOND
    return _ENDS, _BEYOND


@inner(error_model="numpy")
def _chosen(
    mean: float,
    deviation: float,
    apart: float,
    least: float,
    most: float,
    cost: float,
    taken: float,
    steps: tuple[float, ...],
    beyond: tuple[float, ...],
) -> tuple[float, float, float]:
    """Choose a truncated range: its ends, and what is gained, all estimated.

    ``steps`` and ``beyond`` are how many deviations away it may end, and what that excludes;
    ``mean`` and ``deviation`` are those of the sum, ``apart`` is how far from it the forms are that
    bound it; ``least`` and ``most`` are the ends of its range.
    """
    real = _positive_part(mean, deviation)
    untouched = cost * (most * (mean - least) / (most - least) - real)
    best, after, before = untouched, least, most
    # beyond 0 there is no gap
    stable = taken * _tail((mean - apart) / deviation - _MOVED)
    if stable < best:
        best, after, before = stable, 0.0, most
    stable = taken * _tail(-(mean + apart) / deviation - _MOVED)
    if stable < best:
        best, after, before = stable, least, 0.0
    for i in range(len(steps) + 1):
        first, lost = least, 0.0
        if i < len(steps):
            first = mean - apart - steps[i] * deviation
            if not least < first < 0.0:
                continue
            lost = taken * beyond[i]
        for k in range(len(steps) + 1):
            last, both = most, lost
            if k < len(steps):
                last = mean + apart + steps[k] * deviation
                if not 0.0 < last < most:
                    continue
                both += taken * beyond[k]
            value = both + cost * (last * (mean - first) / (last - first) - real)
            if value < best:
                best, after, before = value, first, last
    return after, before, untouched - best


@inner()
def _may_be_cut(network: Network, layer: int) -> bool:
    """Return whether a layer's units are ReLUs without a ceiling."""
    return network.shape[layer, KIND] == RELU and network.settings[layer, 1] == np.inf


@inner()
def cut_first(network: Network, who: Numbers, low: Numbers, high: Numbers, room: Room) -> None:
    """Truncate the sums of the first layer, which combinations share, in ``room.first``."""
    cuts, h = room.cuts, network.first_off.size
    if not _may_be_cut(network, ZERO):
        return
    size = network.entries.size // h
    steps, beyond = _steps(network)
    for u in range(h):
        least, most = np.inf, -np.inf
        for v in who:
            least, most = (
                min(least, network.combined[v, u]),
                max(most, network.combined[v, u]),
            )
        least, most = least - network.first_off[u], most + network.first_off[u]
        first, last = room.first[0, u], room.first[1, u]
        if not first + least < 0.0 < last + most:
            continue
        if (
            not _most_gained(cuts[PRICE, u], first + least, last + most)
            > network.limits[LEAST_GAIN]
        ):
            cuts[MEAN, u] = 0.5 * (first + least + last + most)
            continue
        form = network.entries[u * size : (u + 1) * size]
        mean, deviation = _moments(network, low, high, form, room)
        wide = (0.0, 0.0)
        if room.wide.size:
            wide = (room.wide[0, u], room.wide[1, u])
        shift = network.bias[u] + 0.5 * (wide[0] + wide[1])
        middle = 0.5 * (least + most)
        cuts[MEAN, u] = mean + shift + middle
        if not deviation > 0.0:
            continue
        # the lines are drawn for the sums under all combinations
        after, before, gain = _chosen(
            cuts[MEAN, u], deviation, 0.0, first + least, last + most,
            cuts[PRICE, u], cuts[TAKEN, u], steps, beyond,
        )  # fmt: skip
        if not gain > network.limits[LEAST_GAIN]:
            continue
        after = after - least if after > first + least else -np.inf
        before = before - most if before < last + most else np.inf
        lost = _lost(
            network, low, high, form,
            after - (network.bias[u] + wide[0]), before - (network.bias[u] + wide[1]),
            (mean, deviation), room,
        )  # fmt: skip
        if _keep(u, lost, max(after, first) + least, min(before, last) + most,
                 first + least, last + most, room):  # fmt: skip
            room.first[0, u], room.first[1, u] = max(after, first), min(before, last)


@inner(error_model="numpy")
def _keep(
    u: int,
    lost: float,
    after: float,
    before: float,
    least: float,
    most: float,
    room: Room,
) -> bool:
    """Say whether truncating pays by what is really excluded, and if so write that down."""
    cuts = room.cuts
    mean, cost = cuts[MEAN, u], cuts[PRICE, u]
    wide = most * (mean - least) / (most - least)
    narrow = before * (mean - after) / (before - after)
    if after >= 0.0:
        narrow = mean
    if before <= 0.0:
        narrow = 0.0
    if not cuts[TAKEN, u] * lost < cost * (wide - narrow):
        return False
    cuts[EXCLUDED, u] += lost
    return True


@inner()
def cut_later(network: Network, layer: int, low: Numbers, high: Numbers, room: Room) -> None:
    """Truncate the sums of a later layer, of which ``room.sides`` holds forms on both sides."""
    cuts, of = room.cuts, room.units
    if not _may_be_cut(network, layer):
        return
    steps, beyond = _steps(network)
    for j in range(network.shape[layer, UNITS]):
        u = network.shape[layer, FIRST] + j
        least, most = of[LOW, u], of[HIGH, u]
        if not (least < 0.0 < most and room.sided[0, j] and room.sided[1, j]):
            continue
        if not _most_gained(cuts[PRICE, u], least, most) > network.limits[LEAST_GAIN]:
            cuts[MEAN, u] = 0.5 * (least + most)
            continue
        below, above = room.sides[0, j], room.sides[1, j]
        first = _moments(network, low, high, below, room)
        second = _moments(network, low, high, above, room)
        low_mean, high_mean = first[0] + room.sides_at[0, j], second[0] + room.sides_at[1, j]
        mean, deviation = 0.5 * (low_mean - high_mean), 0.5 * (first[1] + second[1])
        cuts[MEAN, u] = mean
        if not deviation > 0.0:
            continue
        # half the distance of the forms counts as a deviation of both ends
        apart = max(0.5 * (-high_mean - low_mean), 0.0)
        after, before, gain = _chosen(
            mean, deviation, apart, least, most, cuts[PRICE, u], cuts[TAKEN, u], steps, beyond
        )
        if not gain > network.limits[LEAST_GAIN]:
            continue
        lost = 0.0
        if after > least:
            limit = after - room.sides_at[0, j]
            lost += _lost(network, low, high, below, limit, np.inf, first, room)
        if before < most:
            limit = -before - room.sides_at[1, j]
            lost += _lost(network, low, high, above, limit, np.inf, second, room)
        if _keep(u, lost, after, before, least, most, room):
            of[LOW, u], of[HIGH, u] = after, before


@inner()
def taken_of(network: Network, c: int, room: Room) -> float:
    """Return what is taken off the count of a class, or of what is discriminatory for -1.

    Of points or of people: of what the ranges were truncated for.
    """
    before_last = network.shape[len(network.shape) - 1, FIRST]
    total = 0.0
    for u in range(room.cuts.shape[1]):
        own = room.cuts[EXCLUDED, u]
        if own > 0.0:
            used = c < 0 or u < before_last
            for p in range(room.pulls.shape[0]):
                if c >= 0 and network.needs[c, p] and room.pulls[p, u] < 0.0:
                    used = True
            if used:
                total += own
    # the sum is rounded, and so is what is left
    return total * (1.0 + 2.0**-40) + 2.0**-48 if total > 0.0 else 0.0
