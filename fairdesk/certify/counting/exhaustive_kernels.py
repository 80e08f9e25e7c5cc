"""Asking a dense network about every point of a box, compiled.

To the last bit the answers of `fairdesk.models.dense.forward.forward`: the same sums in the same
order, so that what is counted is what the model says. The axes whose numbers come last in the first
layer's sums go fastest; what comes before is summed up once for all their places. What a layer of
ReLUs answers with nought for a whole block of points is left out of the next one's sums: it would
add nothing to them.
"""
# numba has no types
# mypy: disallow-untyped-decorators=False, warn-return-any=False

from __future__ import annotations

import numpy as np
from numba import types
from numpy.typing import NDArray

from fairdesk.certify.domain.population_kernels import TREE, TreeArrays, mass_of
from fairdesk.compiled import ONE, ZERO, inner, outer, put, shared, whole
from fairdesk.models.dense.forward import _LINEAR, _RELU, _activate, _widest
from fairdesk.models.dense.simd import (
    LANES,
    ROWS,
    any_set,
    listed_sum_1,
    listed_sum_2,
    listed_sum_3,
    listed_sum_4,
    listed_sum_5,
    listed_sum_6,
)

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]
Flags = NDArray[np.bool_]
Numbers = NDArray[np.int64]
Choices = NDArray[np.int32]

#: Places of the fastest axes that are kept ready, at least, where there are so many.
READY = 256
#: In ``owner``: a column that is everybody's, and one that depends on the protected values.
CONSTANT, COMBINED = -1, -2
#: How an answer becomes a decision: above a limit, at or above it, or by the greatest.
ABOVE, REACHED, GREATEST = 0, 1, 2

_I1, _I2 = types.Array(types.int64, 1, "C"), types.Array(types.int64, 2, "C")
_S1, _S2 = types.Array(types.float32, 1, "C"), types.Array(types.float32, 2, "C")
_F1 = types.Array(types.float64, 1, "C")
_B1, _B2 = types.Array(types.boolean, 1, "C"), types.Array(types.boolean, 2, "C")

_NOUGHT, _LEAST = np.float32(0), np.float32(-np.inf)


@inner()
def _sum_up(
    source: Float32,
    source_at: int,
    weights: Float32,
    at: int,
    target: Float32,
    target_at: int,
    layers: Numbers,
    i: int,
    live: Numbers,
    count: int,
    least: np.float32,
) -> None:
    """Compute a layer before its activation, from the listed inputs."""
    units, width = layers[i, 1], layers[i, 2]
    for unit in range(0, units, width):
        for lane in range(0, ROWS, LANES):
            to, of = target_at + unit * ROWS + lane, source_at + lane
            if width == 6:
                listed_sum_6(source, of, weights, at, target, to, count, least, live, 0)
            elif width == 5:
                listed_sum_5(source, of, weights, at, target, to, count, least, live, 0)
            elif width == 4:
                listed_sum_4(source, of, weights, at, target, to, count, least, live, 0)
            elif width == 3:
                listed_sum_3(source, of, weights, at, target, to, count, least, live, 0)
            elif width == 2:
                listed_sum_2(source, of, weights, at, target, to, count, least, live, 0)
            else:
                listed_sum_1(source, of, weights, at, target, to, count, least, live, 0)
        at += (layers[i, 0] + 1) * width


@inner()
def _bend(values: Float32, at: int, layers: Numbers, settings: Float32, i: int) -> None:
    """Apply what a layer's sums have not been through."""
    kind = layers[i, 3]
    if kind != _LINEAR and (kind != _RELU or settings[i, 1] < np.inf):
        _activate(values[at : at + layers[i, 1] * ROWS], kind, settings[i, 0], settings[i, 1])


@inner()
def _fill(runs: Float32, j: int, tail: int, blocks: int, number: np.float32) -> None:
    """Give everybody the same number in one column."""
    for b in range(blocks):
        for row in range((b * tail + j) * ROWS, (b * tail + j + 1) * ROWS):
            runs[row] = number


@inner()
def _go_to(
    step: int, order: Numbers, slow: int, low: Numbers, high: Numbers, places: Numbers
) -> None:
    """Fill in the places of the slow axes."""
    for j in range(slow - 1, -1, -1):
        span = high[order[j]] - low[order[j]] + 1
        places[order[j]] = low[order[j]] + step % span
        step //= span


@inner()
def _living(values: Float32, at: int, units: int, kind: int, live: Numbers) -> int:
    """List the units that are not nought for all rows of a block; one at least."""
    if kind != _RELU:
        for unit in range(units):
            live[unit] = unit
        return units
    count = 0
    for unit in range(units):
        live[count] = unit
        count += any_set(values, at) | any_set(values, at + LANES)
        at += ROWS
    return max(count, 1)


@inner()
def _decide(
    answers: Float32,
    at: int,
    outputs: int,
    rule: int,
    limit: np.float32,
    decision: Numbers,
    decisions: Choices,
    to: int,
) -> bool:
    """Fill in what is decided of each row; tell whether all answers are numbers."""
    bad = 0
    for i in range(at, at + outputs * ROWS):
        bad += not abs(answers[i]) < np.inf
    if rule == ABOVE:
        for row in range(ROWS):
            decisions[to + row] = answers[at + row] > limit
    elif rule == REACHED:
        for row in range(ROWS):
            decisions[to + row] = answers[at + row] >= limit
    else:
        for row in range(ROWS):
            best = 0
            for k in range(1, outputs):
                if answers[at + k * ROWS + row] > answers[at + best * ROWS + row]:
                    best = k
            decisions[to + row] = decision[best]
    return bad == 0


@inner()
def _least(layers: Numbers, i: int) -> np.float32:
    return _NOUGHT if layers[i, 3] == _RELU else _LEAST


@inner()
def _pass_on(
    spare: Float32,
    size: int,
    layers: Numbers,
    settings: Float32,
    weights: Float32,
    live: Numbers,
) -> int:
    """Take a block's sums of the first layer through all layers; say where the answers are."""
    source, target = 0, size
    _bend(spare, source, layers, settings, ZERO)
    for i in range(1, len(layers)):
        living = _living(spare, source, layers[i, 0], layers[i - 1, 3], live)
        _sum_up(
            *(spare, source, weights, layers[i, 4], spare, target),
            *(layers, i, live, living, _least(layers, i)),
        )
        source, target = target, source
        _bend(spare, source, layers, settings, i)
    return source


@inner()
def _compare(
    decisions: Choices, compared: Numbers, b: int, blocks: int, valid: int, apart: Choices
) -> int:
    """Mark the rows of a block for which decisions differ, and count them."""
    apart[:] = 0
    first = (compared[0] * blocks + b) * ROWS
    for c in compared[1:]:
        own = (c * blocks + b) * ROWS
        for row in range(ROWS):
            apart[row] |= decisions[own + row] ^ decisions[first + row]
    differ = 0
    for row in range(valid):
        differ += apart[row] != 0
    return differ


@inner()
def _pair(
    decisions: Choices, compared: Numbers, b: int, blocks: int, valid: int, pairs: Numbers
) -> None:
    """Count for each pair of combinations the rows of a block for which the two differ."""
    for c in compared:
        for d in compared:
            if c < d:
                one, other, differ = (c * blocks + b) * ROWS, (d * blocks + b) * ROWS, 0
                for row in range(valid):
                    differ += decisions[one + row] != decisions[other + row]
                pairs[c, d] += differ


@inner()
def _open(
    owner: Numbers, at: Numbers, values: Float32, places: Numbers, row: int, runs: Float32
) -> None:
    """Fill in a row's numbers of the first columns, but for those of the protected values."""
    for column in range(owner.size):
        if owner[column] != COMBINED:
            place = 0 if owner[column] < 0 else places[owner[column]]
            runs[column * ROWS + row] = values[at[column] + place]


@inner()
def _fill_combined(
    owner: Numbers, at: Numbers, values: Float32, c: int, blocks: int, runs: Float32
) -> None:
    """Give everybody a combination of protected values."""
    for column in range(owner.size):
        if owner[column] == COMBINED:
            _fill(runs, column, owner.size, blocks, values[at[column] + c])


@inner()
def _go_to_fast(
    point: int, order: Numbers, slow: int, low: Numbers, high: Numbers, places: Numbers
) -> None:
    """Fill in the places of the fast axes."""
    for j in range(order.size - 1, slow - 1, -1):
        span = high[order[j]] - low[order[j]] + 1
        places[order[j]] = low[order[j]] + point % span
        point //= span


@inner()
def _write_out(
    low: Numbers,
    high: Numbers,
    order: Numbers,
    slow: int,
    ready: int,
    owner: Numbers,
    at: Numbers,
    values: Float32,
    kept: Float32,
) -> None:
    """Fill in the columns of the fast axes, and those that are everybody's, block by block."""
    tail, blocks = owner.size, (ready + ROWS - 1) // ROWS
    for j in range(tail):
        axis, per, found = owner[j], 1, False
        for k in range(order.size - 1, slow - 1, -1):
            if order[k] == axis:
                found = True
                break
            per *= high[order[k]] - low[order[k]] + 1
        if not found:
            if axis == CONSTANT:
                _fill(kept, j, tail, blocks, values[at[j]])
            continue
        # beyond the last combination it begins anew: what is there is not counted
        place, times = low[axis], 0
        for b in range(blocks):
            for row in range((b * tail + j) * ROWS, (b * tail + j + 1) * ROWS):
                kept[row] = values[at[j] + place]
                times += 1
                if times == per:
                    times = 0
                    place = low[axis] if place == high[axis] else place + 1


@inner()
def _sum_heads(
    step: int,
    end: int,
    low: Numbers,
    high: Numbers,
    order: Numbers,
    slow: int,
    places: Numbers,
    owner: Numbers,
    at: Numbers,
    values: Float32,
    compared: Numbers,
    layers: Numbers,
    weights: Float32,
    every: Numbers,
    spare: Float32,
    heads: Float32,
) -> None:
    """Sum up the first columns, for the next steps and each combination."""
    for row in range(ROWS):
        _go_to(min(step + row, end - 1), order, slow, low, high, places)
        _open(owner, at, values, places, row, spare)
    for c in compared:
        _fill_combined(owner, at, values, c, ONE, spare)
        to, of = c * spare.size // 2, layers[0, 4]
        _sum_up(
            *(spare, ZERO, weights, of, heads, to),
            *(layers, ZERO, every, owner.size, _LEAST),
        )


@inner()
def _take_up(heads: Float32, of: int, spots: Numbers, first: Float32) -> None:
    """Let sums go on from what was summed up before."""
    for unit in range(spots.size):
        first[spots[unit]] = heads[of + unit * ROWS]


@inner()
def _show(
    apart: Choices,
    b: int,
    valid: int,
    low: Numbers,
    high: Numbers,
    order: Numbers,
    slow: int,
    places: Numbers,
    examples: Numbers,
    shown: int,
) -> int:
    """Write down who is discriminatory, as long as there is room; say how many are written down."""
    for row in range(valid):
        if apart[row] != 0 and shown < len(examples):
            put(examples[shown], places)
            _go_to_fast(b * ROWS + row, order, slow, low, high, examples[shown])
            shown += 1
    return shown


@inner()
def _first_of(order: Numbers, low: Numbers, high: Numbers) -> tuple[int, int]:
    """Choose how many axes go slowly, and count the combinations of places of the fast ones."""
    slow, ready = order.size, 1
    while slow > 0 and ready < READY:
        slow -= 1
        ready *= high[order[slow]] - low[order[slow]] + 1
    return slow, ready


@outer("int64(int64[::1], int64[::1], int64[::1])")
def steps(order: Numbers, low: Numbers, high: Numbers) -> int:
    """Count the steps in which `count` goes through a box."""
    slow, _ = _first_of(order, low, high)
    total = 1
    for j in range(slow):
        total *= high[order[j]] - low[order[j]] + 1
    return total


@inner()
def _people(
    tree: TreeArrays,
    given: Float64,
    apart: Choices,
    b: int,
    valid: int,
    low: Numbers,
    high: Numbers,
    order: Numbers,
    slow: int,
    places: Numbers,
    here: Numbers,
    end: Numbers,
    seen: Float64,
    messages: Float64,
) -> float:
    """Return the mass of those for whom decisions differ, in a population.

    Along axes that the model does not look at, which are not in ``order``, all of the box.
    """
    total = 0.0
    for row in range(valid):
        if apart[row] != 0:
            put(here, places)
            _go_to_fast(b * ROWS + row, order, slow, low, high, here)
            put(end, high)
            for axis in order:
                end[axis] = here[axis]
            total += mass_of(tree, here, end, given, seen, messages)
    return total


@whole(
    types.Tuple((types.int64, types.int64, types.boolean, types.float64))(
        *(_I1, _I1, _I1, types.int64, types.int64, _B1),
        *(_I1, _I1, _S1, _I2, _S2, _S1),
        *(types.int64, types.float32, _I1, TREE, _F1, _I2, _I2),
    ),
    error_model="numpy",
)
def count(
    low: Numbers,
    high: Numbers,
    order: Numbers,
    begin: int,
    end: int,
    may_be: Flags,
    owner: Numbers,
    at: Numbers,
    values: Float32,
    layers: Numbers,
    settings: Float32,
    weights: Float32,
    rule: int,
    limit: np.float32,
    decision: Numbers,
    tree: TreeArrays,
    given: Float64,
    pairs: Numbers,
    examples: Numbers,
) -> tuple[int, int, bool, float]:
    """Count the points of a box that are discriminatory.

    Parameters
    ----------
    low, high : NDArray[np.int64]
        ``(a,)``; the ends of the box, both included.
    order : NDArray[np.int64]
        The axes that the model looks at, the slowest first: ascending by their first column.
    begin, end : int
        Which of the `steps` are gone.
    may_be : NDArray[np.bool_]
        ``(C,)``; which combinations of protected values are compared.
    owner : NDArray[np.int64]
        ``(m,)``; of each column the axis that it depends on, `CONSTANT` or `COMBINED`.
    at : NDArray[np.int64]
        ``(m,)``; where in ``values`` its number at place 0, or for combination 0, is; the others
        follow.
    values : NDArray[np.float32]
        What the network is given, after its centre was subtracted.
    layers, settings, weights
        As of `fairdesk.models.dense.forward.forward`.
    rule : int
        `ABOVE`, `REACHED` or `GREATEST`.
    limit : float
        For the first two.
    decision : NDArray[np.int64]
        For the third: ``(outputs,)``; the decision that each class means.
    tree, given
        As of `fairdesk.certify.domain.population_kernels.masses`; ``given`` is empty where there is
        no population.
    pairs : NDArray[np.int64]
        ``(C, C)``; to the place ``c, d`` (``c < d``) is added for how many points ``c`` and ``d``
        are decided differently. Not counted where it is empty.
    examples : NDArray[np.int64]
        ``(e, a)``; filled with the first points that are discriminatory.

    Returns
    -------
    int
        How many combinations of places of the axes in ``order`` are discriminatory.
    int
        How many ``examples`` were filled.
    bool
        Whether all answers were numbers; if not, the counts mean nothing.
    float
        The mass of these in the population, up to rounding.
    """
    slow, ready = _first_of(order, low, high)
    blocks = (ready + ROWS - 1) // ROWS
    fast = np.zeros(low.size, np.bool_)
    fast[order[slow:]] = True
    inputs, units, width = layers[0, 0], layers[0, 1], layers[0, 2]
    head = 0  # columns before the first one of a fast axis
    while head < inputs - 1 and not (owner[head] >= 0 and fast[owner[head]]):
        head += 1
    tail = inputs - head
    kept = np.zeros(blocks * tail * ROWS, np.float32)
    _write_out(low, high, order, slow, ready, owner[head:], at[head:], values, kept)
    # the first layer's weights, with room for what was summed up before them as their biases
    stride = (inputs + 1) * width
    first = weights[layers[0, 4] : layers[0, 4] + (units + width - 1) // width * stride].copy()
    spots = np.arange(units)
    spots = (spots // width) * stride + head * width + spots % width
    size = _widest(layers) * ROWS
    heads, spare = np.empty(may_be.size * size, np.float32), np.empty(2 * size, np.float32)
    every, live = np.arange(_widest(layers)), np.empty(_widest(layers), np.int64)
    decisions = np.empty(may_be.size * blocks * ROWS, np.int32)
    compared = np.flatnonzero(may_be)
    apart, places = np.empty(ROWS, np.int32), low.copy()
    discriminatory, shown, fine, people = 0, 0, True, 0.0
    here, end_at = low.copy(), low.copy()
    seen = np.empty(given.size)
    messages = np.empty((tree.parent.size, tree.cells.max() if given.size else 0))
    tree = shared(tree)
    for step in range(begin, end):
        lane = (step - begin) % ROWS
        if lane == 0 and head > 0:
            _sum_heads(
                *(step, end, low, high, order, slow, places, owner[:head], at, values, compared),
                *(layers, weights, every, spare, heads),
            )
        _go_to(step, order, slow, low, high, places)
        for j in range(tail):
            axis = owner[head + j]
            if axis >= 0 and not fast[axis]:
                _fill(kept, j, tail, blocks, values[at[head + j] + places[axis]])
        for c in compared:
            if head > 0:
                _take_up(heads, c * size + lane, spots, first)
            _fill_combined(owner[head:], at[head:], values, c, blocks, kept)
            for b in range(blocks):
                _sum_up(
                    *(kept, b * tail * ROWS, first, head * width, spare, ZERO),
                    *(layers, ZERO, every, tail, _least(layers, ZERO)),
                )
                ended = _pass_on(spare, size, layers, settings, weights, live)
                to = (c * blocks + b) * ROWS
                fine &= _decide(spare, ended, layers[-1, 1], rule, limit, decision, decisions, to)
        for b in range(blocks):
            valid = min(ROWS, ready - b * ROWS)
            differ = _compare(decisions, compared, b, blocks, valid, apart)
            if differ > 0:
                discriminatory += differ
                if given.size:
                    people += _people(
                        *(tree, given, apart, b, valid, low, high, order, slow, places),
                        *(here, end_at, seen, messages),
                    )
                shown = _show(apart, b, valid, low, high, order, slow, places, examples, shown)
                if pairs.size:
                    _pair(decisions, compared, b, blocks, valid, pairs)
    return discriminatory, shown, fine, people


@whole(
    types.boolean(
        *(_I2, _I2, _I1, _I1, _B2, _I1),
        *(_I1, _S1, _I2, _S2, _S1),
        *(types.int64, types.float32, _I1, TREE, _F1),
        *(_I2, _I1, _F1, _I2),
    ),
    error_model="numpy",
)
def count_boxes(
    low: Numbers,
    high: Numbers,
    order: Numbers,
    group: Numbers,
    may_be: Flags,
    owner: Numbers,
    at: Numbers,
    values: Float32,
    layers: Numbers,
    settings: Float32,
    weights: Float32,
    rule: int,
    limit: np.float32,
    decision: Numbers,
    tree: TreeArrays,
    given: Float64,
    pairs: Numbers,
    discriminatory: Numbers,
    masses: Float64,
    examples: Numbers,
) -> bool:
    """Count the points of many small boxes that are discriminatory.

    Parameters
    ----------
    low, high : NDArray[np.int64]
        ``(B, a)``.
    group : NDArray[np.int64]
        ``(B,)``; of each the row of ``may_be``, ``(G, C)``, that holds.
    discriminatory : NDArray[np.int64]
        ``(B,)``; filled, as `count` gives it.
    masses : NDArray[np.float64]
        ``(B,)``; filled likewise.
    examples : NDArray[np.int64]
        ``(B, a)``; filled for boxes that have one.
    order, owner, at, values, layers, settings, weights, rule, limit, decision
        As of `count`.
    tree, given, pairs
        As of `count`.

    Returns
    -------
    bool
        Whether all answers were numbers.
    """
    fine = True
    for b in range(len(low)):
        discriminatory[b], _, numbers, masses[b] = count(
            low[b],
            high[b],
            order,
            0,
            steps(order, low[b], high[b]),
            may_be[group[b]],
            owner,
            at,
            values,
            layers,
            settings,
            weights,
            rule,
            limit,
            decision,
            tree,
            given,
            pairs,
            examples[b : b + 1],
        )
        fine &= numbers
    return fine
