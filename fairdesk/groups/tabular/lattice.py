"""Rule sets beside each other: variants of one finding, and those one step broader or narrower."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairdesk.groups.tabular.support import Members, RuleSets, unpacked

#: Two rule sets that divide people so much alike tell of the same finding.
ALIKE = 0.5
#: One is inside the other where so many of its members are.
WITHIN = 0.9
#: One that holds another, with so much of its difference at least, tells of the same finding.
NEARLY = 0.9
#: Beyond so many combinations of cells likeness is measured ...
_MOST = 5_000
#: ... on so many rows, drawn at random.
_ROWS = 5_000
#: Rule sets that are compared with the leaders at once.
_AT_ONCE = 250


def leaders(
    members: Members, chosen: RuleSets, gap: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.intp]:
    """Return the earlier rule set of which each is a variant: ``(K,)``; -1 for a leader.

    Two rule sets are alike as far as they divide people alike: the Jaccard index of their members,
    or that of those who are none, whichever is less; or the same of the one's members and the
    other's non-members, for “men” tell what “women” do. From `ALIKE` on a rule set is a variant
    of the first such that stands for itself.

    So is one of people who are among those that the other sets apart (its members or its
    non-members, whoever are fewer), when they differ in the same direction: a part of them
    differs less than the whole. And one that holds all of those, where the difference is nearly as
    great.

    Parameters
    ----------
    chosen : RuleSets
        ``(K, g)``; the leading ones, the highest score first.
    gap : NDArray[np.float64]
        ``(K,)``; the rates inside less those outside.
    rng : np.random.Generator
        Draws the rows on which likeness is measured, where there are very many.
    """
    if len(members.weight) > _MOST:
        share = members.weight / members.weight.sum()
        some, times = np.unique(rng.choice(len(share), _ROWS, p=share), return_counts=True)
        members = Members(members.rules, members.cells[some], times)
    weight = members.weight.astype(np.float32)
    leader = np.full(len(chosen), -1, dtype=np.intp)
    places = np.empty(0, dtype=np.intp)
    kept = np.empty((0, len(weight)), dtype=np.float32)
    for start in range(0, len(chosen), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        these = unpacked(members.bits(chosen[part]), len(weight)).astype(np.float32)
        both = (these * weight) @ np.concatenate([kept, these]).T
        size = (these * weight).sum(axis=1)
        sizes = np.concatenate([kept @ weight, size])
        own = np.arange(start, start + len(these))
        others = np.concatenate([places, own])
        same = _similarity(both, size[:, None], sizes, weight.sum()) >= ALIKE
        same |= _nested(both, (size, sizes), (gap[own], gap[others]), weight.sum())
        standing = others < start
        for row, i in enumerate(own.tolist()):
            of = np.flatnonzero(same[row] & standing)
            if of.size:
                leader[i] = others[of[0]]
            else:
                standing[len(places) + row] = True
        new = own[leader[own] < 0]
        places = np.concatenate([places, new])
        kept = np.concatenate([kept, these[new - start]])
    return leader


def _similarity(
    both: NDArray[np.float32],
    size: NDArray[np.float32],
    sizes: NDArray[np.float32],
    everybody: np.float32,
) -> NDArray[np.float32]:
    """Return how much alike a rule set divides people as others do, each way round."""

    def jaccard(both: NDArray[np.float32], sizes: NDArray[np.float32]) -> NDArray[np.float32]:
        inside = both / np.maximum(size + sizes - both, 1e-9)
        outside = (everybody - size - sizes + both) / np.maximum(everybody - both, 1e-9)
        return np.asarray(np.minimum(inside, outside))

    return np.maximum(jaccard(both, sizes), jaccard(size - both, everybody - sizes))


def _nested(
    both: NDArray[np.float32],
    size: tuple[NDArray[np.float32], NDArray[np.float32]],
    gap: tuple[NDArray[np.float64], NDArray[np.float64]],
    everybody: np.float32,
) -> NDArray[np.bool_]:
    """Return which rule sets are a part of another's, or hold it with nearly its difference.

    Parameters
    ----------
    both : NDArray[np.float32]
        ``(k, l)``; the rows in both.
    size, gap : tuple of arrays
        ``(k,)`` and ``(l,)``; the rows in each, and the rates inside less those outside.
    everybody : float
        All rows.
    """
    mine, theirs = size[0][:, None], size[1]
    many = 2 * theirs > everybody
    few = np.where(many, everybody - theirs, theirs)
    shared = np.where(many, mine - both, both)
    ratio = gap[0][:, None] / np.where(gap[1] == 0, np.inf, np.where(many, -gap[1], gap[1]))
    nested = np.zeros(both.shape, dtype=np.bool_)
    for there, all_there, part in ((shared, mine, ratio), (few - shared, everybody - mine, -ratio)):
        nested |= (there >= WITHIN * all_there) & (part > 0)
        nested |= (there >= WITHIN * few) & (part >= NEARLY)
    return nested


def beside(
    members: Members, chosen: RuleSets, place: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the places of the rule sets one step broader than one of them, and one step narrower.

    A step leaves out a rule or puts one to it, or lets a rule hold one cell more or less.

    Parameters
    ----------
    chosen : RuleSets
        ``(R, g)``.
    """
    differs = chosen != chosen[place]
    near = np.flatnonzero(differs.sum(axis=1) == 1)
    column = differs[near].argmax(axis=1)
    broader, narrower = [], []
    for attribute in range(chosen.shape[1]):
        there = near[column == attribute]
        mine, theirs = chosen[place, attribute], chosen[there, attribute]
        if mine < 0:
            narrower.append(there)
            continue
        occupied = np.unique(members.cells[:, attribute])
        sets = members.rules[attribute].sets[:, occupied[occupied >= 0]]
        more = (sets[theirs] & ~sets[mine]).sum(axis=1)
        fewer = (~sets[theirs] & sets[mine]).sum(axis=1)
        broader.append(there[(theirs < 0) | ((more == 1) & (fewer == 0))])
        narrower.append(there[(theirs >= 0) & (more == 0) & (fewer == 1)])
    return np.concatenate(broader), np.concatenate(narrower)
