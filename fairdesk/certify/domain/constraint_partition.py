"""Constraints as roots: boxes in which the same combinations of protected values may be.

What a constraint, or what the data support, says of a row depends on the few attributes that it
speaks of. All their combinations of values are looked at once; then the space is halved along those
axes until each box is of one kind, and has one variant (`Space.variants`). So a box in which
nothing can be compared is known to be one, exactly.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.space import Places, Space
from fairdesk.data.domain.domain import Domain

#: So many combinations of values, protected ones among them, are looked at.
MOST_LOOKED_AT = 4_000_000
#: And so many boxes are made of them.
MOST_ROOTS = 50_000
_AT_ONCE = 200_000


def partitioned(space: Space) -> Space:
    """Divide the roots of a space by its domain's constraints and by what the data support.

    Where these speak of too many values together, the roots are left whole and unclear: then
    nothing is claimed of them.

    Parameters
    ----------
    space : Space
        Its axes in their last order.
    """
    domain = space.domain
    if not domain.has_constraints:
        return space
    spoken = _spoken_of(space)
    counts = [space.axes[i].count for i in spoken]
    if math.prod(counts) * len(domain.combinations) > MOST_LOOKED_AT:
        return replace(space, unclear=np.ones(len(space.low), dtype=np.bool_))
    kinds, may_be = _kinds(space, spoken, counts)
    low, high = (np.array(each, dtype=np.int64) for each in _divided(space, spoken, kinds))
    middle = tuple(low[:, spoken].T)
    unclear = np.zeros(len(low), dtype=np.bool_)
    for b in range(len(low)):
        inside = kinds[tuple(slice(low[b, i], high[b, i] + 1) for i in spoken)]
        unclear[b] = bool((inside != inside.flat[0]).any())
    return replace(
        space,
        low=low,
        high=high,
        groups=np.broadcast_to(kinds[middle], len(low)),
        may_be=may_be,
        unclear=unclear,
    )


def _spoken_of(space: Space) -> list[int]:
    """Return the axes that these speak of, by themselves or by what follows them."""
    domain = space.domain
    names = {name for rule in domain.all_rules for name in rule.names}
    names |= {each.attribute for each in domain.support.companions}
    names |= {each.attribute for each in domain.support.proposed}
    names |= {name for each in domain.determined for name in (each.attribute, each.by)}
    followed = {each.attribute: each.by for each in domain.determined}
    while more := {followed[name] for name in names if name in followed} - names:
        names |= more
    return [i for i, axis in enumerate(space.axes) if domain.names[axis.position] in names]


def _kinds(
    space: Space, spoken: list[int], counts: list[int]
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the allowed combinations of protected values for all values of the axes involved.

    Returns
    -------
    NDArray[np.intp]
        One dimension for each axis; the row of what follows.
    NDArray[np.bool_]
        ``(G, C)``.
    """
    domain: Domain = space.domain
    size = math.prod(counts)
    allowed = np.empty((size, len(domain.combinations)), dtype=np.bool_)
    variant = np.zeros(size, dtype=np.intp)
    step = max(1, _AT_ONCE // len(domain.combinations))
    for start in range(0, size, step):
        numbers = np.arange(start, min(start + step, size))
        places = np.repeat(space.low[:1], len(numbers), axis=0)
        if spoken:
            places[:, spoken] = np.column_stack(np.unravel_index(numbers, counts))
        allowed[numbers] = domain.possible(domain.similar(space.rows(places)))
        variant[numbers] = np.where(allowed[numbers].any(axis=1), space.variant(places), 0)
    own = np.column_stack((variant, allowed))
    found, kinds = np.unique(own, axis=0, return_inverse=True)
    return kinds.reshape(counts), found[:, 1:].astype(np.bool_)


def _divided(
    space: Space, spoken: list[int], kinds: NDArray[np.intp]
) -> tuple[list[Places], list[Places]]:
    """Halve the roots until each is of one kind, or there are too many."""
    low: list[Places] = []
    high: list[Places] = []
    left = list(zip(space.low, space.high, strict=True))
    while left:
        first, last = left.pop()
        inside = kinds[tuple(slice(first[i], last[i] + 1) for i in spoken)]
        if len(low) + len(left) >= MOST_ROOTS or (inside == inside.flat[0]).all():
            low.append(first)
            high.append(last)
            continue
        dimension, cut = _best_cut(inside)
        axis = spoken[dimension]
        middle, after = last.copy(), first.copy()
        middle[axis] = first[axis] + cut
        after[axis] = middle[axis] + 1
        left += [(first, middle), (after, last)]
    return low, high


def _best_cut(kinds: NDArray[np.intp]) -> tuple[int, int]:
    """Choose where to halve: between the two neighbouring layers that differ in most places."""
    best, found = -1.0, (0, 0)
    for dimension, width in enumerate(kinds.shape):
        if width == 1:
            continue
        layers = np.moveaxis(kinds, dimension, 0)
        differ = (layers[1:] != layers[:-1]).reshape(width - 1, -1).mean(axis=1)
        # of equals the one nearest to the middle
        rated = differ - 1e-9 * np.abs(np.arange(width - 1) - (width - 2) / 2)
        cut = int(rated.argmax())
        if rated[cut] > best:
            best, found = float(rated[cut]), (dimension, cut)
    return found
