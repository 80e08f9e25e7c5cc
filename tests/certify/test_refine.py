"""Dividing a space: totals against exhaustive enumeration, continuing, and making room."""

from __future__ import annotations

from itertools import product
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from fairdesk.certify import refine
from fairdesk.certify.domain.boxes import Tree, Verdict, at_least
from fairdesk.certify.domain.space import Places, Space, sizes, space_of
from fairdesk.certify.refine import Counted, Examined, Queue, Refinery
from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.errors import SpecError
from tests.sizes import many

Truth = NDArray[np.bool_]


def space_with(counts: tuple[int, ...]) -> Space:
    """Make a space with so many values along each axis."""
    attributes = [
        Attribute(name=f"x{i}", kind=Kind.INTEGER, low=0.0, high=count - 1.0)
        for i, count in enumerate(counts)
    ]
    sex = Attribute(
        name="sex",
        kind=Kind.NOMINAL,
        values=("f", "m"),
        high=1.0,
        role=Role.PROTECTED,
        compared=(0.0, 1.0),
    )
    people = np.zeros((4, len(counts) + 1))
    people[1:, 0] = counts[0] - 1
    return space_of(Domain((*attributes, sex)), people)


class Oracle:
    """Knows for each point whether it is unlike, and says some of it.

    Parameters
    ----------
    truth : NDArray[np.bool_]
        One entry for each point of the space.
    """

    batch = 6
    margin = 0.0
    notes: tuple[str, ...] = ()

    def __init__(self, truth: Truth, rng: np.random.Generator) -> None:
        self.truth, self._rng = truth, rng

    def examine(self, low: Places, high: Places, group: NDArray[np.intp]) -> Examined:
        n = len(low)
        told = Examined(
            low.copy(),
            high.copy(),
            *(np.zeros(n) for _ in range(2)),
            np.full(n, -1),
            np.full(n, -1),
            np.zeros(n, dtype=np.int64),
            low[:0],
        )
        for b in range(n):
            self._cut_off(told, b)
            inside = self._inside(told.low[b], told.high[b])
            if inside.all():
                told.discriminatory[b] = 1.0
            elif not inside.any():
                told.consistent[b] = 1.0
            elif inside.size <= self._rng.integers(6):
                told.discriminatory_sets[b] = inside.sum()
            else:
                told.consistent[b] = (1 - inside.mean()) * self._rng.random()
                told.discriminatory[b] = inside.mean() * self._rng.random()
                told.axis[b] = (told.high[b] - told.low[b]).argmax()
                ends = told.low[b, told.axis[b]], told.high[b, told.axis[b]]
                told.cut[b] = self._rng.integers(*ends)
        return told

    def count(self, low: Places, high: Places, group: NDArray[np.intp]) -> Counted:
        discriminatory = [self._inside(*box).sum() for box in zip(low, high, strict=True)]
        return Counted(np.array(discriminatory), low[:0], 0)

    def _cut_off(self, told: Examined, b: int) -> None:
        """Cut off one layer of points along some axis, if all of it is alike."""
        axis = int(self._rng.integers(told.low.shape[1]))
        if told.low[b, axis] == told.high[b, axis]:
            return
        end = told.high[b].copy()
        end[axis] = told.low[b, axis]
        if not self._inside(told.low[b], end).any():
            told.low[b, axis] += 1
            return
        start = told.low[b].copy()
        start[axis] = told.high[b, axis]
        if not self._inside(start, told.high[b]).any():
            told.high[b, axis] -= 1

    def _inside(self, low: Places, high: Places) -> Truth:
        box = tuple(slice(first, last + 1) for first, last in zip(low, high, strict=True))
        return self.truth[box]


def proven(tree: Tree, truth: Truth) -> None:
    """Check every leaf of a tree against the truth."""
    leaves = tree.leaves
    met = np.zeros(truth.shape, dtype=int)
    for leaf, low, high in zip(leaves, *tree.boxes(leaves), strict=True):
        box = tuple(slice(first, last + 1) for first, last in zip(low, high, strict=True))
        met[box] += 1
        inside = truth[box]
        match Verdict(tree.verdict[leaf]):
            case Verdict.CONSISTENT:
                assert not inside.any()
            case Verdict.DISCRIMINATORY:
                assert inside.all()
            case Verdict.COUNTED:
                assert round(tree.discriminatory[leaf] * inside.size) == inside.sum()
            case Verdict.UNDECIDED:
                assert tree.discriminatory[leaf] <= inside.mean()
                assert tree.consistent[leaf] <= 1 - inside.mean()
    assert (met == 1).all(), "the leaves share no point, and leave none out"


@given(
    counts=st.tuples(st.integers(1, 7), st.integers(1, 6), st.integers(2, 5)),
    seed=st.integers(0, 2**32 - 1),
    common=st.floats(0, 1),
    steps=st.integers(0, 40),
)
@settings(max_examples=many(120))
def test_totals_are_never_above_the_truth(
    counts: tuple[int, ...], seed: int, common: float, steps: int
) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.random(counts) < common
    space = space_with(counts)
    refinery = Refinery(space, Oracle(truth, rng))
    for _ in range(steps):
        refinery.step()
    discriminatory = int(truth.sum())
    assert refinery.consistent <= truth.size - discriminatory
    assert refinery.discriminatory <= discriminatory
    proven(refinery.tree, truth)
    tree = refinery.tree
    verdict, points = tree.verdict[tree.leaves], sizes(*tree.boxes(tree.leaves))
    share = np.where(verdict == Verdict.CONSISTENT, 1.0, tree.consistent[tree.leaves])
    share[verdict == Verdict.DISCRIMINATORY] = 0.0
    # those of boxes that were counted are exact
    exact = np.round(share * points)[verdict == Verdict.COUNTED].sum()
    share[verdict == Verdict.COUNTED] = 0.0
    assert refinery.consistent == sum(at_least(share, points)) + exact

    again = Refinery(space, Oracle(truth, rng), Tree.of(space, refinery.tree.arrays()))
    assert (again.consistent, again.discriminatory) == (
        refinery.consistent,
        refinery.discriminatory,
    )
    left = again.tree.compact()
    proven(again.tree, truth)
    kept = Refinery(space, Oracle(truth, rng), again.tree)
    assert kept.consistent + kept.discriminatory >= refinery.consistent + refinery.discriminatory
    assert (kept.tree.verdict[left] == Verdict.UNDECIDED).all()

    while not kept.over:
        kept.step()
    assert (kept.consistent, kept.discriminatory, kept.undecided) == (
        truth.size - discriminatory,
        discriminatory,
        0,
    )


@given(seed=st.integers(0, 2**32 - 1), steps=st.integers(0, 5), counted=st.integers(0, 9))
@settings(max_examples=many(40))
def test_whoever_is_left_can_be_counted(seed: int, steps: int, counted: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.random((6, 5, 4)) < 0.4
    space, oracle = space_with((6, 5, 4)), Oracle(truth, rng)
    refinery = Refinery(space, oracle)
    with patch.object(refine, "_MOST_COUNTED", 7):
        for _ in range(steps):
            refinery.step()
        counting = refinery.count(oracle)
        for _ in zip(range(counted), counting, strict=False):
            proven(refinery.tree, truth)
        again = Refinery(space, oracle, Tree.of(space, refinery.tree.arrays()))
        for _ in again.count(oracle):
            pass
    assert (again.consistent, again.discriminatory) == (truth.size - truth.sum(), truth.sum())


@given(seed=st.integers(0, 2**32 - 1), most=st.integers(4, 40))
@settings(max_examples=many(40))
def test_memory_is_bounded_and_nothing_too_much_is_proven(seed: int, most: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.random((6, 5, 4)) < 0.4
    space = space_with((6, 5, 4))
    refinery = Refinery(space, Oracle(truth, rng))
    with patch.object(refine, "MOST_NODES", most):
        for _ in range(60):
            refinery.step()
            assert refinery.consistent <= truth.size - truth.sum()
            assert refinery.discriminatory <= truth.sum()
            # a step may add its own nodes, and those of what it cuts off
            assert refinery.tree.count <= most + 2 * Oracle.batch * 7
        proven(refinery.tree, truth)
        refinery.tree.fold(3)
        proven(refinery.tree, truth)
    again = Refinery(space, Oracle(truth, rng), refinery.tree)
    assert again.consistent <= truth.size - truth.sum()
    assert again.discriminatory <= truth.sum()


def test_what_was_not_looked_at_yet_is_looked_at_by_steps() -> None:
    space, truth = space_with((4, 3)), np.zeros((4, 3), np.bool_)
    whole = Refinery(space, Oracle(truth, np.random.default_rng(0)))
    later = Refinery(space, Oracle(truth, np.random.default_rng(0)), at_once=False)
    assert (later.begun, later.over, later.boxes, later.undecided) == (False, False, 0, 12)
    unfinished = Refinery(space, Oracle(truth, np.random.default_rng(0)), later.tree)
    later.step()
    assert later.begun
    assert (later.consistent, later.boxes) == (whole.consistent, whole.boxes)
    assert (unfinished.consistent, unfinished.boxes) == (whole.consistent, whole.boxes)


def test_an_enormous_domain_is_refused() -> None:
    assert space_with((10**8,) * 36).total == 10 ** (8 * 36)
    with pytest.raises(SpecError, match="the input domain is too large"):
        space_with((10**8,) * 37)


def test_counts_are_exact_beyond_64_bits() -> None:
    low = np.zeros((1, 12), dtype=np.int64)
    high = np.full((1, 12), 10**6, dtype=np.int64)
    assert sizes(low, high) == [(10**6 + 1) ** 12]


def test_the_heaviest_come_first() -> None:
    queue = Queue()
    queue.put(np.arange(6), np.array([1.0, 1e9, 3.0, 1e-9, 1e18, 0.0]))
    assert queue.take(2).tolist() == [4, 1]
    assert sorted(queue.take(10).tolist()) == [0, 2, 3, 5]
    assert not queue


@pytest.mark.parametrize("fixed", [False, True])
def test_the_roots_of_fixed_attributes_are_what_the_data_have(*, fixed: bool) -> None:
    role = Role.FIXED if fixed else Role.VARIES
    attributes = (
        Attribute(name="a", kind=Kind.INTEGER, low=0, high=9, role=role),
        Attribute(name="b", kind=Kind.INTEGER, low=0, high=4),
        Attribute(
            name="sex",
            kind=Kind.NOMINAL,
            values=("f", "m"),
            high=1,
            role=Role.PROTECTED,
            compared=(0.0, 1.0),
        ),
    )
    people = np.array([[7.0, 1.0, 0.0], [2.0, 1.0, 1.0], [7.0, 3.0, 1.0]])
    space = space_of(Domain(attributes), people)
    assert space.total == (2 if fixed else 10) * 5
    everyone = np.concatenate(
        [
            np.array(list(product(*(range(a, b + 1) for a, b in zip(low, high, strict=True)))))
            for low, high in zip(space.low, space.high, strict=True)
        ]
    )
    rows = space.rows(everyone)
    assert set(rows[:, 0]) == ({2.0, 7.0} if fixed else set(range(10)))
    assert len(np.unique(rows, axis=0)) == space.total
