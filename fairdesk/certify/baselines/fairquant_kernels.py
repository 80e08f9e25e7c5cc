"""FairQuant's walk over boxes, compiled as `fairdesk.individual.engine.kernels` are.

Kim, Wang and Wang, "FairQuant: Certifying and Quantifying Fairness of Deep Neural Networks", ICSE
2025: symbolic forward intervals (Algorithm 2), and what to split by backward intervals of the
gradient (Algorithm 3). A form over a box is a constant and a coefficient for each variable. The
variables are from 0 to 1, and in groups whose sum is at most 1: a group of one for an axis along
which the network's first layer is a line, from the box's low end to its high end; one variable for
each further place of an axis that has a table. So the least that a form can be is its constant
and, of each group, the least of its coefficients and 0.

All bounds are of what the model computes: each unit's own rounding is added to its forms, and so is
the rounding of the forms themselves.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]

#: What is told of a box: nothing more, all of it is consistent, discriminatory; or of a point that
#: it is discriminatory, as far as the loops know, or that the model itself has to be asked.
GIVEN_UP, CONSISTENT, DISCRIMINATORY, EXAMPLE, ASK = 0, 1, 2, 3, 4
#: So many points of a box are tried for a counterexample, as in the published program.
_TRIED = 10
#: Rounding of an activation function that multiplies.
_BENT = 2.0**-20


@njit("void(float64[::1], int64[::1], int64, float64[::1])", cache=True, nogil=True)
def _ends(form: Float64, ends: Int64, groups: int, out: Float64) -> None:
    """Tell a form's least and greatest value, and how large its terms can be in sum."""
    least = greatest = form[0]
    size = abs(form[0])
    start = 1
    for g in range(groups):
        low = high = 0.0
        for k in range(start, ends[g]):
            low, high = min(low, form[k]), max(high, form[k])
        least, greatest = least + low, greatest + high
        size += max(high, -low)
        start = ends[g]
    out[0], out[1], out[2] = least, greatest, size


@njit(
    "int64(int64[::1], int64[::1], float64[::1], float64[:, ::1], float64[:, ::1], int64[::1],"
    "float64[:, ::1], int64[::1], int64[::1])",
    cache=True,
    nogil=True,
)
def _first(
    low: Int64,
    high: Int64,
    bias: Float64,
    slopes: Float64,
    tables: Float64,
    table_at: Int64,
    forms: Float64,
    ends: Int64,
    axis_of: Int64,
) -> int:
    """Fill in the first layer's forms over a box, without the protected values; count groups."""
    units, used, groups = len(bias), 1, 0
    for u in range(units):
        forms[u, 0] = bias[u]
    for i in range(len(low)):
        at = table_at[i]
        if at < 0:
            for u in range(units):
                forms[u, 0] += slopes[i, u] * low[i]
        else:
            for u in range(units):
                forms[u, 0] += tables[at + low[i], u]
        if low[i] == high[i]:
            continue
        if at < 0:
            for u in range(units):
                forms[u, used] = slopes[i, u] * (high[i] - low[i])
            used += 1
        else:
            for place in range(low[i] + 1, high[i] + 1):
                for u in range(units):
                    forms[u, used] = tables[at + place, u] - tables[at + low[i], u]
                used += 1
        ends[groups], axis_of[groups] = used, i
        groups += 1
    return groups


@njit(
    "void(float64[::1], float64[::1], float64, float64[::1], int64[::1], int64, int64,"
    "int64[::1], float64[::1], float64[::1], int64)",
    cache=True,
    nogil=True,
)
def _bend(
    lower: Float64,
    upper: Float64,
    alpha: float,
    out: Float64,
    ends: Int64,
    groups: int,
    used: int,
    mask: Int64,
    sizes: Float64,
    terms: Float64,
    unit: int,
) -> None:
    """Let a unit's two forms through a ReLU, or one that leaks; its mask is 0, 1 or 2."""
    _ends(lower, ends, groups, out)
    least, lower_most, size = out[0], out[1], out[2]
    _ends(upper, ends, groups, out)
    upper_least, greatest = out[0], out[1]
    size = max(size, out[2])
    if alpha == 1.0 or least >= 0.0:
        mask[unit] = 2
    elif greatest <= 0.0:
        mask[unit] = 0
        for k in range(used):
            lower[k] *= alpha
            upper[k] *= alpha
    else:
        mask[unit] = 1
        if upper_least < 0.0:
            slope = (greatest - alpha * upper_least) / (greatest - upper_least)
            for k in range(used):
                upper[k] *= slope
            upper[0] += (alpha - slope) * upper_least
            upper[0] += 2.0**-48 * size
        slope = alpha
        if lower_most > 0.0:
            slope = (lower_most - alpha * least) / (lower_most - least)
            slope = min(max(slope, alpha), 1.0)
        for k in range(used):
            lower[k] *= slope
    sizes[unit] = max(greatest, -alpha * least, 0.0)
    terms[unit] = 4.0 * size
    if 0.0 < alpha < 1.0:
        lower[0] -= _BENT * sizes[unit]
        upper[0] += _BENT * sizes[unit]
        sizes[unit] *= 1.0 + 2.0 * _BENT


@njit(
    "int64(float64[::1], float64[::1], float64, int64[::1], int64[::1], int64[::1])",
    cache=True,
    nogil=True,
)
def _decided(
    least: Float64,
    greatest: Float64,
    close: float,
    winner: Int64,
    loser: Int64,
    decision: Int64,
) -> int:
    """Return the decision that is certain where margins are between these; -1 for none."""
    for k in range(len(decision)):
        beats = True
        for f in range(len(winner)):
            if winner[f] == k and decision[loser[f]] != decision[k]:
                beats = beats and least[f] > close
            elif loser[f] == k and decision[winner[f]] != decision[k]:
                beats = beats and greatest[f] < -close
        if beats:
            return int(decision[k])
    return -1


@njit(
    "void(int64[::1], float64[::1], float64[:, ::1], float64[:, ::1], int64[::1], float64[::1],"
    "int64[::1], float64[::1], int64[::1], int64[::1], float64[::1], float64[::1], float64[::1])",
    cache=True,
    nogil=True,
)
def _forward(
    point: Int64,
    bias: Float64,
    slopes: Float64,
    tables: Float64,
    table_at: Int64,
    combined: Float64,
    widths: Int64,
    weights: Float64,
    weights_at: Int64,
    biases_at: Int64,
    biases: Float64,
    alphas: Float64,
    values: Float64,
) -> None:
    """Give a point's margins at the beginning of ``values``, which has room for two layers."""
    half = len(values) // 2
    here, there = 0, half
    for u in range(widths[0]):
        total = bias[u] + combined[u]
        for i in range(len(point)):
            if table_at[i] < 0:
                total += slopes[i, u] * point[i]
            else:
                total += tables[table_at[i] + point[i], u]
        values[u] = total
    for k in range(1, len(widths)):
        for i in range(widths[k - 1]):
            if values[here + i] < 0.0:
                values[here + i] *= alphas[k - 1]
        for j in range(widths[k]):
            total = biases[biases_at[k] + j]
            row = weights_at[k] + j * widths[k - 1]
            for i in range(widths[k - 1]):
                total += weights[row + i] * values[here + i]
            values[there + j] = total
        here, there = there, here
    for f in range(widths[-1]):
        values[f] = values[here + f]


@njit(
    "void(float64[:, ::1], int64[::1], int64, int64, float64[::1], float64[::1], float64[::1])",
    cache=True,
    nogil=True,
)
def _spread(
    first: Float64,
    ends: Int64,
    groups: int,
    units: int,
    least: Float64,
    greatest: Float64,
    smears: Float64,
) -> None:
    """Take intervals of the gradient through the first layer, to the axes."""
    start = 1
    for g in range(groups):
        most = 0.0
        for k in range(start, ends[g]):
            low = high = 0.0
            for u in range(units):
                weight = first[u, k]
                low += weight * (least[u] if weight > 0.0 else greatest[u])
                high += weight * (greatest[u] if weight > 0.0 else least[u])
            most = max(most, high, -low)
        smears[g] += most
        start = ends[g]


@njit(
    "void(int64[::1], float64[::1], int64[::1], float64[::1], int64[:, ::1], float64[:, ::1],"
    "int64[::1], int64, float64[:, ::1], float64[::1])",
    cache=True,
    nogil=True,
)
def _smear(
    widths: Int64,
    weights: Float64,
    weights_at: Int64,
    alphas: Float64,
    masks: Int64,
    first: Float64,
    ends: Int64,
    groups: int,
    slopes: Float64,
    smears: Float64,
) -> None:
    """Add to each group how much the margins can change along it: the backward intervals.

    ``slopes`` is room for ``(4, units)``.
    """
    last = len(widths) - 1
    for f in range(widths[last]):
        here, there = 0, 2
        for j in range(widths[last]):
            slopes[0, j] = slopes[1, j] = 1.0 if j == f else 0.0
        for k in range(last, 0, -1):
            for i in range(widths[k - 1]):
                slopes[there, i] = slopes[there + 1, i] = 0.0
            for j in range(widths[k]):
                least, greatest = slopes[here, j], slopes[here + 1, j]
                row = weights_at[k] + j * widths[k - 1]
                for i in range(widths[k - 1]):
                    weight = weights[row + i]
                    slopes[there, i] += weight * (least if weight > 0.0 else greatest)
                    slopes[there + 1, i] += weight * (greatest if weight > 0.0 else least)
            here, there = there, here
            for i in range(widths[k - 1]):
                most = alphas[k - 1] if masks[k - 1, i] == 0 else 1.0
                fewest = 1.0 if masks[k - 1, i] == 2 else alphas[k - 1]
                least, greatest = slopes[here, i], slopes[here + 1, i]
                slopes[here, i] = min(fewest * least, most * least)
                slopes[here + 1, i] = max(fewest * greatest, most * greatest)
        _spread(first, ends, groups, widths[0], slopes[here], slopes[here + 1], smears)


@njit("uint64(uint64[::1])", cache=True, nogil=True)
def _random(state: NDArray[np.uint64]) -> np.uint64:
    """Return the next number of Marsaglia's xorshift generator."""
    bits = state[0]
    bits ^= bits << np.uint64(13)
    bits ^= bits >> np.uint64(7)
    bits ^= bits << np.uint64(17)
    state[0] = bits
    return np.uint64(bits)


@njit(
    "void(float64[:, ::1], float64[::1], float64[::1], int64[::1], int64, float64[:, ::1],"
    "float64[:, ::1])",
    cache=True,
    nogil=True,
)
def _start(
    first: Float64,
    combined: Float64,
    off: Float64,
    ends: Int64,
    groups: int,
    lower: Float64,
    upper: Float64,
) -> None:
    """Fill in the first layer's two forms for a combination of protected values."""
    used = ends[groups - 1] if groups else 1
    for u in range(len(combined)):
        for k in range(1, used):
            lower[u, k] = upper[u, k] = first[u, k]
        middle = first[u, 0] + combined[u]
        lower[u, 0], upper[u, 0] = middle - off[u], middle + off[u]


@njit(
    "void(float64, float64[::1], float64[::1], float64[::1], float64[::1], int64)",
    cache=True,
    nogil=True,
)
def _add(
    weight: float, lower: Float64, upper: Float64, low: Float64, high: Float64, used: int
) -> None:
    """Add a unit's two forms, times a weight, to those of a unit of the next layer."""
    if weight < 0.0:
        lower, upper = upper, lower
    for n in range(used):
        low[n] += weight * lower[n]
        high[n] += weight * upper[n]


@njit(
    "boolean(float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[::1],"
    "int64[::1], int64, int64[:, ::1], int64[::1], float64[::1], float64[::1], int64[::1],"
    "float64[::1], float64[::1], int64[::1], float64[::1], float64[::1], float64[::1],"
    "float64[::1], float64[:, ::1])",
    cache=True,
    nogil=True,
)
def _bound(
    lower: Float64,
    upper: Float64,
    new_lower: Float64,
    new_upper: Float64,
    limits: Float64,
    ends: Int64,
    groups: int,
    masks: Int64,
    widths: Int64,
    weights: Float64,
    spans: Float64,
    weights_at: Int64,
    biases: Float64,
    bias_spans: Float64,
    biases_at: Int64,
    alphas: Float64,
    factors: Float64,
    constants: Float64,
    out: Float64,
    room: Float64,
) -> bool:
    """Take forms from the first layer to the margins; fill in their ends and every unit's mask.

    ``limits`` are ``unit`` and ``largest`` of `walk`. Tells whether all of it is finite. The ends
    of the margins are the first two rows of ``room``.
    """
    used = ends[groups - 1] if groups else 1
    sizes, terms = room[2], room[3]
    finite = True
    for k in range(1, len(widths)):
        for i in range(widths[k - 1]):
            _bend(
                *(lower[i], upper[i], alphas[k - 1], out, ends, groups, used),
                *(masks[k - 1], sizes, terms, i),
            )
        for j in range(widths[k]):
            at, row = biases_at[k] + j, weights_at[k] + j * widths[k - 1]
            size = term = bias_spans[at]
            low, high = new_lower[j], new_upper[j]
            for n in range(used):
                low[n] = high[n] = 0.0
            for i in range(widths[k - 1]):
                if masks[k - 1, i] == 0 and alphas[k - 1] == 0.0:
                    continue
                weight = weights[row + i]
                size += spans[row + i] * sizes[i]
                term += spans[row + i] * terms[i]
                _add(weight, lower[i], upper[i], low, high, used)
            off = factors[k] * size + constants[k] + limits[0] * term
            finite = finite and size < limits[1] and term < 1e300
            low[0] += biases[at] - off
            high[0] += biases[at] + off
        lower, new_lower = new_lower, lower
        upper, new_upper = new_upper, upper
    for f in range(widths[-1]):
        _ends(lower[f], ends, groups, out)
        room[0, f] = out[0]
        _ends(upper[f], ends, groups, out)
        room[1, f] = out[1]
    return finite


@njit(
    "boolean(int64[::1], int64[::1], int64[::1], uint64[::1], float64[::1], float64[:, ::1],"
    "float64[:, ::1], int64[::1], float64[:, ::1], int64[::1], float64[::1], int64[::1],"
    "int64[::1], float64[::1], float64[::1], float64, int64[::1], int64[::1], int64[::1],"
    "int64[::1], float64[::1])",
    cache=True,
    nogil=True,
)
def _try(
    low: Int64,
    high: Int64,
    point: Int64,
    random: NDArray[np.uint64],
    bias: Float64,
    slopes: Float64,
    tables: Float64,
    table_at: Int64,
    combined: Float64,
    widths: Int64,
    weights: Float64,
    weights_at: Int64,
    biases_at: Int64,
    biases: Float64,
    alphas: Float64,
    close: float,
    winner: Int64,
    loser: Int64,
    decision: Int64,
    compared: Int64,
    values: Float64,
) -> bool:
    """Try points of a box, each as likely as any other; the last is left in ``point``."""
    for _ in range(_TRIED):
        for i in range(len(low)):
            wide = np.uint64(high[i] - low[i] + 1)
            point[i] = low[i] + np.int64((_random(random) >> np.uint64(1)) % wide)
        one = -1
        for c in compared:
            _forward(
                *(point, bias, slopes, tables, table_at, combined[c], widths, weights),
                *(weights_at, biases_at, biases, alphas, values),
            )
            margins = values[: widths[-1]]
            is_so = _decided(margins, margins, close, winner, loser, decision)
            if one < 0:
                one = is_so
            elif is_so >= 0 and is_so != one:
                return True
    return False


@njit(
    "int64(float64[::1], int64[::1], int64, int64[::1], int64[::1])",
    cache=True,
    nogil=True,
)
def _axis(smears: Float64, axis_of: Int64, groups: int, low: Int64, high: Int64) -> int:
    """Choose the axis with the greatest smear; the widest one where nothing tells."""
    chosen = 0
    for g in range(1, groups):
        if smears[g] > smears[chosen]:
            chosen = g
    if not smears[chosen] > 0.0:
        for g in range(groups):
            i, best = axis_of[g], axis_of[chosen]
            if high[i] - low[i] > high[best] - low[best]:
                chosen = g
    return int(axis_of[chosen])


@njit(
    "int64(int64, int64, int64,"
    "int64[:, ::1], int64[:, ::1], int64[::1], int64[::1],"
    "float64[::1], float64[:, ::1], float64[:, ::1], int64[::1], float64[:, ::1], float64[::1],"
    "int64[::1], float64[::1], float64[::1], int64[::1], float64[::1], float64[::1], int64[::1],"
    "float64[::1], float64[::1], float64[::1], float64, float64, float64,"
    "int64[::1], int64[::1], int64[::1], int64[::1], uint64[::1],"
    "int64[:, ::1], int64[:, ::1], int64[::1])",
    cache=True,
    nogil=True,
)
def walk(
    most: int,
    sample_from: int,
    deepest: int,
    stack_low: Int64,
    stack_high: Int64,
    depths: Int64,
    state: Int64,
    bias: Float64,
    slopes: Float64,
    tables: Float64,
    table_at: Int64,
    combined: Float64,
    first_off: Float64,
    widths: Int64,
    weights: Float64,
    spans: Float64,
    weights_at: Int64,
    biases: Float64,
    bias_spans: Float64,
    biases_at: Int64,
    alphas: Float64,
    factors: Float64,
    constants: Float64,
    unit: float,
    close: float,
    largest: float,
    winner: Int64,
    loser: Int64,
    decision: Int64,
    compared: Int64,
    random: NDArray[np.uint64],
    told_low: Int64,
    told_high: Int64,
    verdicts: Int64,
) -> int:
    """Look at the boxes on a stack, the last first, until it is empty or enough is done.

    Parameters
    ----------
    most : int
        So many boxes at most.
    sample_from, deepest : int
        From which depth on points are tried, and at which boxes are no longer halved.
    stack_low, stack_high, depths : NDArray[np.int64]
        The stack: ``(deepest + 2, a)`` boxes, and ``(deepest + 2,)`` how often each was halved.
    state : NDArray[np.int64]
        How many boxes are on it; filled in, how many verdicts were told; and how many numbers a
        form has at most.
    bias, slopes, tables, table_at, combined, first_off : NDArray
        The first layer over places; ``table_at`` says where in ``tables`` an axis' own begins, -1
        for none. ``combined`` is one row for each combination that is compared; ``first_off`` how
        far the model's own sums can be from these.
    widths : NDArray[np.int64]
        Units of each layer, the last ones being the margins.
    weights, spans, weights_at, biases, bias_spans, biases_at : NDArray
        All other layers' weights one after the other, ``(units, inputs)`` each, with the sums of
        absolute values they are made from, and where each layer begins; likewise the biases.
    alphas : NDArray[np.float64]
        Of each layer's activation the slope below zero; 1 where it has none.
    factors, constants : NDArray[np.float64]
        Of each layer, as `fairdesk.certify.domain.encoded.Encoded.rounding`.
    unit : float
        Rounding of the forms themselves, as a share of their terms.
    close, winner, loser, decision
        As `fairdesk.certify.domain.encoded.Margins`.
    largest : float
        What is beyond this is not finite in the model's own precision.
    compared : NDArray[np.int64]
        Rows of ``combined`` that may be here.
    random : NDArray[np.uint64]
        ``(1,)``; the state of the random numbers, never 0.
    told_low, told_high, verdicts : NDArray[np.int64]
        Filled in: boxes, or points, and what is told of them.

    Returns
    -------
    int
        How many boxes were looked at.
    """
    axes, layers, members = stack_low.shape[1], len(widths), len(compared)
    widest = widths.max()
    first = np.empty((widths[0], state[2]))
    lower, upper = np.empty((widest, state[2])), np.empty((widest, state[2]))
    new_lower, new_upper = np.empty((widest, state[2])), np.empty((widest, state[2]))
    ends, axis_of = np.empty(axes + 1, np.int64), np.empty(axes + 1, np.int64)
    masks = np.zeros((members, layers, widest), np.int64)
    limits, out, room = np.array([unit, largest]), np.empty(3), np.empty((4, widest))
    smears, values, point = np.empty(axes + 1), np.empty(2 * widest), np.empty(axes, np.int64)
    done, filled, left = 0, 0, state[0]
    while left > 0 and done < most and filled < len(verdicts):
        left -= 1
        done += 1
        low, high, depth = stack_low[left].copy(), stack_high[left].copy(), depths[left]
        groups = _first(low, high, bias, slopes, tables, table_at, first, ends, axis_of)
        one, everyone, other = -1, True, False
        for c in range(members):
            _start(first, combined[compared[c]], first_off, ends, groups, lower, upper)
            finite = _bound(
                *(lower, upper, new_lower, new_upper, limits, ends, groups, masks[c], widths),
                *(weights, spans, weights_at, biases, bias_spans, biases_at, alphas, factors),
                *(constants, out, room),
            )
            is_so = _decided(room[0], room[1], close, winner, loser, decision) if finite else -1
            if is_so < 0:
                everyone = False
            elif one >= 0 and is_so != one:
                other = True
            else:
                one = is_so
        verdict = (
            DISCRIMINATORY if other else CONSISTENT if everyone else ASK if groups == 0 else -1
        )
        if verdict < 0 and depth >= sample_from:
            found = _try(
                *(low, high, point, random, bias, slopes, tables, table_at, combined, widths),
                *(weights, weights_at, biases_at, biases, alphas, close, winner, loser, decision),
                *(compared, values),
            )
            if found:
                verdict = EXAMPLE
                low[:] = point
                high[:] = point
        if verdict < 0 and depth >= deepest:
            verdict = GIVEN_UP
        if verdict >= 0:
            told_low[filled], told_high[filled], verdicts[filled] = low, high, verdict
            filled += 1
            continue
        smears[:groups] = 0.0
        for c in range(members):
            _smear(
                *(widths, weights, weights_at, alphas, masks[c], first, ends, groups, room),
                smears,
            )
        axis = _axis(smears, axis_of, groups, low, high)
        stack_low[left], stack_high[left], depths[left] = low, high, depth + 1
        stack_low[left + 1], stack_high[left + 1], depths[left + 1] = low, high, depth + 1
        middle = low[axis] + (high[axis] - low[axis]) // 2
        stack_high[left, axis] = middle
        stack_low[left + 1, axis] = middle + 1
        left += 2
    state[0], state[1] = left, filled
    return done
