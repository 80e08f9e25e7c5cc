"""A forest written over the places of a space, as the compiled loops read it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.columns import Columns, OfAxis, columns_of
from fairdesk.certify.domain.encoded import Margins, margins_of
from fairdesk.certify.domain.space import Space
from fairdesk.certify.refine import Steps
from fairdesk.errors import SpecError
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import labels
from fairdesk.models.structure import Forest, ModelStructure, sums

if TYPE_CHECKING:
    from fairdesk.certify.bounds.forest_kernels import ForestArrays, Room

Float64 = NDArray[np.float64]
Numbers = NDArray[np.int64]

#: People whom the model is asked about, to see that its trees decide so.
_TRIED = 512
#: A number that may be on either side of a threshold is looked at anew, at so many places at most.
_MOST_NEAR = 64


@dataclass(frozen=True)
class EncodedForest:
    """A forest over the places of a space.

    Attributes
    ----------
    columns : Columns
        What it looks at.
    woods : ForestArrays
        As the loops read it.
    compared : NDArray[np.int64]
        ``(G, V + 1)``; of each group the combinations that are compared, as far as any tree can
        tell them apart, then -1.
    which : NDArray[np.intp]
        ``(V * C,)``; of each combination, as in `Space.members`, its number, one for those that no
        tree can tell apart.
    depth : int
        Of the deepest tree.
    clear : float
        Beyond it, above and below 0, a margin is certain.
    """

    columns: Columns
    woods: ForestArrays
    compared: Numbers
    which: NDArray[np.intp]
    depth: int
    clear: float

    @property
    def different(self) -> int:
        """How many combinations trees can tell apart: ``V``."""
        return int(self.which.max()) + 1

    def comparing(self, members: NDArray[np.bool_]) -> EncodedForest:
        """Return the same forest where groups, as `Space.members`, are compared."""
        return replace(self, compared=different(members, self.which))


def encode_forest(space: Space, anatomy: ModelStructure, fed: FedModel) -> Steps[EncodedForest]:
    """Write a forest over a space, step by step.

    Raises
    ------
    SpecError
        As `columns_of`; and when the model does not decide as its trees say.
    """
    from fairdesk.certify.bounds.forest_kernels import ForestArrays  # noqa: PLC0415 - as above

    forest = anatomy.body
    if not isinstance(forest, Forest):
        raise TypeError("no forest")
    columns = columns_of(space, anatomy, fed, np.float64)
    margins = margins_of(forest.decides, forest.base.size, anatomy.close, fed)
    # the sum that is bounded here is rounded like the model's own; of two outputs both are
    clear = margins.close + 2.0 * forest.slack * float(np.abs(margins.weights).sum(axis=0).max())
    _try(forest, margins, clear, space, anatomy, fed)
    yield
    forest = columns.over_trees(forest)
    questions = _Questions(space, anatomy, fed, columns, forest)
    yield from questions.ask()
    sides, which = questions.sides_of_combinations()
    left = np.where(questions.turned, forest.right, forest.left)
    right = np.where(questions.turned, forest.left, forest.right)
    leaf = forest.column < 0
    values = forest.value[leaf] @ margins.weights
    base = forest.base @ margins.weights - margins.offset
    if len(forest.roots) == 1:
        # of one tree it only counts how its leaves decide
        total = base + values
        values = np.where(np.abs(total) > clear, 2.0 * clear * np.sign(total), total)
        base = np.zeros_like(base)
    shown = np.stack([questions.kind, questions.axis, questions.first, questions.second], axis=1)
    apart = np.isin(questions.kind, (CUT, _ONE, _SET))
    asked, question = np.unique(shown[apart], axis=0, return_inverse=True)
    nodes = np.zeros((len(leaf), 7), dtype=np.int64)
    nodes[:, :4], nodes[:, 4], nodes[:, 5] = shown, left, right
    nodes[leaf, 1] = np.arange(leaf.sum())
    nodes[apart, 6] = question.ravel()
    yield
    roots, kept = _without_known(nodes, questions.known, forest.roots)
    depth, spans = spans_of(kept, roots, values)
    woods = ForestArrays(
        nodes=kept,
        spans=spans,
        values=np.ascontiguousarray(values),
        roots=roots,
        base=base,
        clear=clear,
        sets=questions.sets,
        sides=sides,
        questions=np.ascontiguousarray(asked),
        winner=margins.winner.astype(np.int64),
        loser=margins.loser.astype(np.int64),
        decision=margins.decision.astype(np.int64),
    )
    return EncodedForest(columns, woods, different(space.members, which), which, depth, clear)


def different(members: NDArray[np.bool_], which: NDArray[np.intp]) -> Numbers:
    """Return of each group the different combinations that may be, ``(G, D)``, then -1.

    Parameters
    ----------
    members : NDArray[np.bool_]
        As `Space.members`.
    which : NDArray[np.intp]
        ``(V * C,)``; the number of each, one for those that are given to the model alike.
    """
    groups = [np.unique(which[allowed]) for allowed in members]
    compared = np.full((len(groups), max(map(len, groups)) + 1), -1, dtype=np.int64)
    for row, own in zip(compared, groups, strict=True):
        row[: len(own)] = own
    return compared


LEAF, CUT, _ONE, _SET, _COMBINATION = range(5)


def room(encoded: EncodedForest) -> Room:
    """Make what a thread of the loops works in."""
    from fairdesk.certify.bounds.forest_kernels import Room  # noqa: PLC0415 - as above

    woods, different = encoded.woods, encoded.different
    axes, margins = len(encoded.columns.axes), woods.base.size
    depth = 2 * encoded.depth + 4
    return Room(
        stack=np.zeros((depth, 4), dtype=np.int64),
        masks=np.zeros(depth, dtype=np.uint64),
        shares=np.zeros(depth),
        low=np.zeros(axes, dtype=np.int64),
        high=np.zeros(axes, dtype=np.int64),
        lower=np.zeros((different, margins)),
        upper=np.zeros((different, margins)),
        least=np.zeros((different, margins)),
        most=np.zeros((different, margins)),
        decided=np.zeros(different, dtype=np.int64),
        beaten=np.zeros(len(woods.decision), dtype=np.bool_),
        scores=np.zeros(len(woods.questions) + 1),
        touched=np.zeros(len(woods.questions) + 1, dtype=np.int64),
        parts=np.zeros(64, dtype=np.uint64),
        counts=np.zeros(3, dtype=np.int64),
    )


def _try(
    forest: Forest,
    margins: Margins,
    clear: float,
    space: Space,
    anatomy: ModelStructure,
    fed: FedModel,
) -> None:
    """Refuse a model that does not decide as its trees say."""
    rng = np.random.default_rng(0)
    root = rng.integers(len(space.low), size=_TRIED)
    places = rng.integers(space.low[root], space.high[root], endpoint=True)
    combination = rng.integers(len(space.domain.combinations), size=_TRIED)
    rows = space.domain.counterparts(space.rows(places), combination)
    rows = rows[space.domain.allowed(rows)] if space.domain.has_constraints else rows
    if not len(rows):
        return
    margin = sums(forest, anatomy.prepare(fed.columns(rows))) @ margins.weights - margins.offset
    decided = labels(fed.predict(rows))
    wins = np.ones((len(rows), len(margins.decision)), dtype=np.bool_)
    for f, (winner, loser) in enumerate(zip(margins.winner, margins.loser, strict=True)):
        wins[:, winner] &= margin[:, f] > clear
        wins[:, loser] &= margin[:, f] < -clear
    sure = wins.any(axis=1)
    if not (margins.decision[wins.argmax(axis=1)] == decided)[sure].all():
        raise SpecError(
            "Certification is not available: the model’s decisions do not match its trees.",
            why="When queried for instances, it returned different decisions.",
            remedy="Use a random-sample estimate instead.",
        )


class _Questions:
    """The questions of all nodes, written about places and combinations.

    Attributes
    ----------
    kind, axis, first, second : NDArray[np.int64]
        ``(N,)``; as `fairdesk.certify.bounds.forest_kernels.ForestArrays` has them.
    turned : NDArray[np.bool_]
        ``(N,)``; whether what is the left there is the right of the forest's node.
    known : NDArray[np.int64]
        ``(N,)``; 1 where everybody goes to the left (as it is there), 0 to the right, -1 where it
        depends.
    """

    def __init__(
        self, space: Space, anatomy: ModelStructure, fed: FedModel, columns: Columns, forest: Forest
    ) -> None:
        self._space, self._anatomy, self._fed = space, anatomy, fed
        self._columns, self._forest = columns, forest
        size = len(forest.column)
        self.kind = np.zeros(size, dtype=np.int64)
        self.axis = np.zeros(size, dtype=np.int64)
        self.first = np.zeros(size, dtype=np.int64)
        self.second = np.zeros(size, dtype=np.int64)
        self.turned = np.zeros(size, dtype=np.bool_)
        self.known = np.full(size, -1, dtype=np.int64)
        self._sets: list[Numbers] = [np.zeros(1, dtype=np.int64)]
        self._set_places: dict[bytes, int] = {}
        self._sides: list[NDArray[np.bool_]] = []

    def ask(self) -> Steps[None]:
        """Write the questions, column by column."""
        columns = self._columns
        axis_of = np.full(columns.count, -1)
        for i, own in enumerate(columns.axes):
            axis_of[own.columns] = i
        combined = set(columns.combined.tolist())
        for column in np.unique(self._forest.column[self._forest.column >= 0]).tolist():
            nodes = np.flatnonzero(self._forest.column == column)
            if axis_of[column] >= 0:
                own = columns.axes[axis_of[column]]
                at = int(np.flatnonzero(own.columns == column)[0])
                self.axis[nodes] = axis_of[column]
                if len(own.table):
                    self._of_table(nodes, own.table[:, at])
                else:
                    self._of_line(nodes, own, at, int(axis_of[column]))
            elif column in combined:
                at = int(np.flatnonzero(columns.combined == column)[0])
                self._of_combinations(nodes, columns.combinations[:, at])
            else:
                self.known[nodes] = self._left(nodes, columns.constant[column])
            yield

    def _left(self, nodes: NDArray[np.intp], numbers: Float64 | float) -> NDArray[np.bool_]:
        """Return whether numbers go to the left at nodes."""
        forest = self._forest
        missing = np.isnan(numbers)
        return np.where(missing, forest.missing_left[nodes], numbers <= forest.threshold[nodes])

    def _of_table(self, nodes: NDArray[np.intp], table: Float64) -> None:
        """Write questions about a column that is known at every place."""
        count = len(table)
        rises = np.diff(table)
        if (rises >= 0).all():
            self._cuts(nodes, np.searchsorted(table, self._forest.threshold[nodes], "right"), count)
        elif (rises <= 0).all():
            # to the left go those who come last
            after = np.searchsorted(-table, -self._forest.threshold[nodes], "left")
            self._cuts(nodes, after, count)
            self.turned[nodes] = True
        else:
            self._of_sets(nodes, table)

    def _cuts(self, nodes: NDArray[np.intp], left: NDArray[np.intp], count: int) -> None:
        """Write questions whether a place is among the first so many."""
        self.kind[nodes] = CUT
        self.first[nodes] = self.second[nodes] = left - 1
        self.known[nodes] = np.where(left == 0, 0, np.where(left == count, 1, -1))

    def _of_sets(self, nodes: NDArray[np.intp], table: Float64) -> None:
        """Write questions about names, whose numbers stand in any order."""
        thresholds = np.stack(
            [self._forest.threshold[nodes], self._forest.missing_left[nodes]], axis=1
        )
        _, first, same = np.unique(thresholds, axis=0, return_index=True, return_inverse=True)
        for k, node in enumerate(nodes[first].tolist()):
            members = nodes[same.ravel() == k]
            left = self._left(np.array([node]), table)
            count = int(left.sum())
            if count in (0, len(left)):
                self.known[members] = int(count > 0)
                continue
            ends = np.flatnonzero(np.diff(left))
            if len(ends) == 1:
                self.kind[members] = CUT
                self.first[members] = self.second[members] = ends[0]
                self.turned[members] = not left[0]
            elif count in (1, len(left) - 1):
                self.kind[members] = _ONE
                self.first[members] = np.flatnonzero(left == (count == 1))[0]
                self.turned[members] = count != 1
            else:
                self.kind[members] = _SET
                self.first[members] = self._set(left)

    def _set(self, left: NDArray[np.bool_]) -> int:
        """Write a set of places down, once: how many of it come before each place."""
        key = left.tobytes()
        if key not in self._set_places:
            self._set_places[key] = sum(map(len, self._sets))
            self._sets.append(np.concatenate([[0], np.cumsum(left)]).astype(np.int64))
        return self._set_places[key]

    def _of_line(self, nodes: NDArray[np.intp], own: OfAxis, at: int, axis: int) -> None:
        """Write questions about a number with too many values to write them down.

        Where rounding leaves open at which place it passes the threshold, the places in question
        are looked at.
        """
        start, slope, off = own.start[at], own.slope[at], own.off[at]
        threshold = self._forest.threshold[nodes]
        count = self._space.axes[axis].count
        if slope == 0.0:
            first = np.where(start + off <= threshold, count - 1, -1)
            second = np.where(start - off <= threshold, count - 1, -1)
        else:
            about = (threshold - start) / slope
            by = (off + 2.0**-50 * (np.abs(threshold) + abs(start))) / abs(slope)
            # a threshold may be far beyond any place
            first = np.floor(np.clip(about - by, -1.0, count - 1.0)).astype(np.int64) - 1
            second = np.floor(np.clip(about + by, -1.0, count - 1.0)).astype(np.int64) + 1
            first, second = np.maximum(first, -1), np.minimum(second, count - 1)
            if slope < 0:
                self.turned[nodes] = True
            self._close_gap(nodes, first, second, own.columns[at], axis)
        self.kind[nodes] = CUT
        self.first[nodes], self.second[nodes] = first, second
        self.known[nodes] = np.where(second < 0, 0, np.where(first >= count - 1, 1, -1))

    def _close_gap(
        self, nodes: NDArray[np.intp], first: Numbers, second: Numbers, column: int, axis: int
    ) -> None:
        """Look at the places between ``first`` and ``second``, and bring these together."""
        near = second - first
        some = np.flatnonzero((near > 0) & (near <= _MOST_NEAR))
        if not some.size:
            return
        widest = int(near[some].max())
        places = np.minimum(first[some, None] + 1 + np.arange(widest), second[some, None])
        once, back = np.unique(places, return_inverse=True)
        points = np.repeat(self._space.low[:1], len(once), axis=0)
        points[:, axis] = once
        numbers = self._anatomy.prepare(self._fed.columns(self._space.rows(points)))[:, column]
        numbers = numbers[back.reshape(places.shape)]
        left = numbers <= self._forest.threshold[nodes[some], None]
        before = left != self.turned[nodes[some], None]
        real = np.arange(widest) < near[some, None]
        upto = (before & real).sum(axis=1)
        # one border only: first all those before it, then all those after it
        clean = ((np.arange(widest) < upto[:, None]) == before) | ~real
        settled = some[clean.all(axis=1)]
        first[settled] += upto[clean.all(axis=1)]
        second[settled] = first[settled]

    def _of_combinations(self, nodes: NDArray[np.intp], numbers: Float64) -> None:
        """Write questions about a column that depends on the protected values."""
        forest = self._forest
        keys = np.stack([forest.threshold[nodes], forest.missing_left[nodes]], axis=1)
        _, first, same = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        for k, node in enumerate(nodes[first].tolist()):
            members = nodes[same.ravel() == k]
            left = self._left(np.array([node]), numbers)
            if left.all() or not left.any():
                self.known[members] = int(left[0])
                continue
            self.kind[members] = _COMBINATION
            self.first[members] = len(self._sides)
            self._sides.append(left)

    @property
    def sets(self) -> Numbers:
        """Sets of places, as `ForestArrays` has them."""
        return np.concatenate(self._sets)

    def sides_of_combinations(self) -> tuple[NDArray[np.uint64], NDArray[np.intp]]:
        """Give the sides of combinations, as `ForestArrays` has them, and of each its number there.

        Those that no tree can tell apart have one number.
        """
        total = len(self._columns.combinations)
        if not self._sides:
            return np.zeros((1, 1), dtype=np.uint64), np.zeros(total, dtype=np.intp)
        sides = np.array(self._sides)
        different, which = np.unique(sides, axis=1, return_inverse=True)
        words = -(-different.shape[1] // 64)
        bits = np.zeros((len(sides), words * 64), dtype=np.uint64)
        bits[:, : different.shape[1]] = different
        weights = np.left_shift(np.uint64(1), np.arange(64, dtype=np.uint64))
        packed = (bits.reshape(len(sides), words, 64) * weights).sum(axis=2, dtype=np.uint64)
        return np.ascontiguousarray(packed), which.ravel()


def _without_known(nodes: Numbers, known: Numbers, roots: Numbers) -> tuple[Numbers, Numbers]:
    """Lead past the questions that everybody answers alike; what nobody comes to stays unread."""
    go_on = np.arange(len(nodes))
    passed = known >= 0
    # questions may be turned: ``known`` speaks of the sides as they are now
    go_on[passed] = np.where(known[passed] == 1, nodes[passed, 4], nodes[passed, 5])
    while (further := go_on[go_on] != go_on).any():
        go_on[further] = go_on[go_on[further]]
    kept = nodes.copy()
    kept[:, 4], kept[:, 5] = go_on[nodes[:, 4]], go_on[nodes[:, 5]]
    return go_on[roots], kept


def spans_of(nodes: Numbers, roots: Numbers, values: Float64) -> tuple[int, Float64]:
    """Return the depth of the deepest tree, and by how much the leaves below each node differ.

    Nodes below which all leaves are consistent become leaves.
    """
    levels, reached = [], np.unique(roots)
    while reached.size:
        levels.append(reached)
        inner = reached[nodes[reached, 0] != LEAF]
        reached = np.unique(nodes[inner][:, 4:6])
    least = np.zeros((len(nodes), values.shape[1]))
    most = np.zeros_like(least)
    for level in reversed(levels):
        leaf = level[nodes[level, 0] == LEAF]
        least[leaf] = most[leaf] = values[nodes[leaf, 1]]
        inner = level[nodes[level, 0] != LEAF]
        left, right = nodes[inner, 4], nodes[inner, 5]
        least[inner] = np.minimum(least[left], least[right])
        most[inner] = np.maximum(most[left], most[right])
        same = inner[(least[inner] == most[inner]).all(axis=1)]
        nodes[same, 1], nodes[same, 0] = nodes[nodes[same, 4], 1], LEAF
    return len(levels), (most - least).max(axis=1)
