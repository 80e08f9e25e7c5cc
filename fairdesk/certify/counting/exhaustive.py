"""Asking a model about every single point of boxes: where that is cheaper than any bound."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, reduce
from time import perf_counter, process_time
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.columns import Columns, OfAxis
from fairdesk.certify.domain.space import Places, Space, sizes
from fairdesk.certify.proof.verify.statements import QUERIED
from fairdesk.certify.refine import Counted, Examined
from fairdesk.models.decisions.rule import VALUES
from fairdesk.models.dense.layers import DenseNetwork
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import labels
from fairdesk.results.events import Rows, Scores

if TYPE_CHECKING:
    from fairdesk.certify.domain.population_kernels import TreeArrays


class QueriedExaminer:
    """Leaves every box undecided: only counting decides it, the most likely combinations first.

    Attributes
    ----------
    batch, margin, notes
        As `fairdesk.certify.refine.Examiner`.
    """

    def __init__(self) -> None:
        self.batch, self.margin = 2_048, 0.0
        self.notes: tuple[str, ...] = (QUERIED,)

    def examine(self, low: Places, high: Places, group: NDArray[np.intp]) -> Examined:  # noqa: ARG002 - nobody is compared
        """Halve boxes along their widest axes; as `fairdesk.certify.refine.Examiner.examine`."""
        size = len(low)
        nothing = np.zeros(size)
        axis = cut = np.zeros(size, dtype=np.int64)
        if low.shape[1]:
            boxes, axis = np.arange(size), (high - low).argmax(axis=1)
            cut = (low[boxes, axis] + high[boxes, axis]) >> 1
        single = (high == low).all(axis=1)
        return Examined(
            *(low, high, nothing, nothing),
            np.full(size, -1, dtype=np.int64),
            np.where(single, -1, axis),
            cut,
            low[:0],
            people=(nothing, nothing),
        )


Float64 = NDArray[np.float64]
Numbers = NDArray[np.int64]

#: Rows that are asked about at once where the model is asked row by row.
_ROWS = 32_768
#: Points that a thread counts at once, at least and at most; each thread is called so many times.
_LEAST, _AT_ONCE, _SHARES = 1_024, 1 << 16, 4
#: Of an axis so many places go at once at most: combinations of the fastest are written out.
_MOST_PLACES = 1_024
#: Of an axis with so many places, at most, the numbers at all of them are written down.
_MOST_WRITTEN = 1 << 20
#: Examples that are kept of each of these.
_EXAMPLES = 8
#: Of more combinations it is not counted which two are decided differently.
_MOST_PAIRED = 32
#: How speed is tried: with boxes of so many points at first and at last, until it takes so long.
_TRIED, _MOST_TRIED, _TRYING = 16, 1 << 16, 0.02
#: What sums of shares can be off by, relatively.
_ROUNDING = 1e-9


class PointCounter:
    """Counts the points of boxes that are discriminatory, each asked of the model.

    Parameters
    ----------
    space : Space
        Whose boxes.
    fed : FedModel
        The model.
    columns : Columns, optional
        What a network is given at every place of the space; without them, and for models that are
        no networks of ours, the model is asked in the ordinary way.
    threads : int
        How many count at once.

    Attributes
    ----------
    pairs : NDArray[np.int64]
        ``(C, C)``; for how many of all points counted so far the combinations ``c`` and ``d``,
        ``c < d``, are decided differently. Empty where there are more than 32.
    points : int
        How many points those are.
    trial_queries : int
        Rows sent to the model to try how fast it is; those of boxes are told with what was counted.
    clock : callable
        As of `fairdesk.certify.refine.Counter`.
    """

    def __init__(
        self, space: Space, fed: FedModel, columns: Columns | None = None, *, threads: int = 2
    ) -> None:
        combinations = space.may_be.shape[1]
        side = combinations if combinations <= _MOST_PAIRED else 0
        self.pairs: Numbers = np.zeros((side, side), dtype=np.int64)
        self.points = self.trial_queries = 0
        self._seconds = 0.0
        self._space, self._fed = space, fed
        self._members = np.asarray(space.may_be.sum(axis=1))
        self._compiled = None if columns is None else _compiled(space, fed, columns)
        self._pool = ThreadPoolExecutor(threads)
        self._threads = threads
        # a model that is asked in the ordinary way may compute in another process
        self.clock = perf_counter if self._compiled is None else process_time

    @property
    def speed(self) -> float:
        """How many points it counts in a second: as lately, or else as it is tried now."""
        if self._seconds > _TRYING:
            return self.points / self._seconds
        return self._measured_speed

    @cached_property
    def _measured_speed(self) -> float:
        rng, space = np.random.default_rng(0), self._space
        busy = np.flatnonzero(self._members[space.groups] > 1)
        points, spent, done = _TRIED, 0.0, 0
        if busy.size:
            # what is loaded or compiled at the first call is no part of its speed
            only = busy[:1]
            self._try(space.low[only], space.low[only], space.groups[only])
        while busy.size and spent < _TRYING and points <= _MOST_TRIED:
            # a slow model is not asked about more than it takes to see that
            root = rng.choice(busy, size=2 * self._threads)
            low, high = _boxes_in_roots(space, root, points, rng)
            started = perf_counter()
            self._try(low, high, space.groups[root])
            spent, done = perf_counter() - started, sum(sizes(low, high))
            points *= 4
        return done / max(spent, 1e-9) if busy.size else np.inf

    def _try(self, low: Places, high: Places, group: NDArray[np.intp]) -> None:
        """Count boxes only to see how long that takes."""
        self.trial_queries += self._count(low, high, group)[0].queries

    def count(self, low: Places, high: Places, group: NDArray[np.intp]) -> Counted:
        """Count the points of boxes that are discriminatory.

        Parameters
        ----------
        low, high : Places
            ``(B, a)``; the ends of each box, both included. None of an unclear root.
        group : NDArray[np.intp]
            ``(B,)``; of each the row of `Space.may_be` that says who is compared.

        Raises
        ------
        ModelError
            When the model answers with no number.
        """
        started = perf_counter()
        counted, pairs = self._count(low, high, group)
        self.pairs += pairs
        self.points += sum(sizes(low, high))
        self._seconds += perf_counter() - started
        return counted

    def _count(self, low: Places, high: Places, group: NDArray[np.intp]) -> tuple[Counted, Numbers]:
        discriminatory = np.zeros(len(low), dtype=np.int64)
        masses = np.zeros(len(low))
        pairs = np.zeros_like(self.pairs)
        examples = [np.empty((0, low.shape[1]), dtype=np.int64)]
        queries = 0
        # where nothing is compared nothing changes; the loops take boxes of one variant at once
        some = np.flatnonzero(self._members[group] > 1)
        some = some[np.argsort(self._space.variant(low[some]), kind="stable")]
        low = np.ascontiguousarray(low[some], dtype=np.int64)
        high = np.ascontiguousarray(high[some], dtype=np.int64)
        for part in self._parts(low, high, group[some]):
            np.add.at(discriminatory, some[part.boxes], part.discriminatory)
            np.add.at(masses, some[part.boxes], part.masses)
            pairs += part.pairs
            examples.append(part.examples)
            queries += part.queries
        people = None
        if self._space.people is not None:
            whole = np.zeros(len(discriminatory))
            whole[some] = self._space.people.masses(low, high)
            people = shares_of_people(masses, whole, self._space.people.off)
        return Counted(discriminatory, np.concatenate(examples), queries, people), pairs

    def _parts(self, low: Places, high: Places, group: NDArray[np.intp]) -> Iterator[_Part]:
        if self._compiled is not None:
            work = self._compiled.work(low, high, group, self._threads)
            parts = list(self._pool.map(self._compiled.run, work))
            if all(part is not None for part in parts):
                return iter(cast("list[_Part]", parts))
            # the model itself says what is wrong with its answers
        return self._count_by_queries(low, high, group)

    def _count_by_queries(
        self, low: Places, high: Places, group: NDArray[np.intp]
    ) -> Iterator[_Part]:
        """Count by asking the model about row after row."""
        space = self._space
        at_once = max(1, _ROWS // space.may_be.shape[1])
        counts = np.array(sizes(low, high), dtype=np.int64)
        ends = np.cumsum(counts)
        total = int(ends[-1]) if len(ends) else 0
        for start in range(0, total, at_once):
            stop = min(start + at_once, total)
            boxes = np.arange(
                np.searchsorted(ends, start, "right"), np.searchsorted(ends, stop, "left") + 1
            )
            until = np.minimum(ends[boxes], stop) - start
            box = np.repeat(np.arange(len(boxes)), np.diff(until, prepend=0))
            number = np.arange(start, stop) - (ends - counts)[boxes][box]
            places = _places(low[boxes], high[boxes], box, number)
            labels = decisions(space, self._fed, places, space.may_be[group[boxes]][box])
            differ = np.flatnonzero(labels.differ)
            differing, where = places[differ], box[differ]
            masses: Float64 = np.zeros(len(boxes))
            if space.people is not None:
                likely = space.people.masses(differing, differing)
                np.add.at(masses, where, likely)
            yield _Part(
                boxes,
                np.bincount(where, minlength=len(boxes)),
                masses,
                labels.pairs(self.pairs.shape[0]),
                differing[:_EXAMPLES],
                labels.queries,
            )


def shares_of_people(
    discriminatory: Float64, whole: Float64, off: float
) -> tuple[Float64, Float64]:
    """Return which shares of boxes' masses are consistent and discriminatory, at least.

    Parameters
    ----------
    discriminatory, whole : NDArray[np.float64]
        ``(B,)``; the mass of the points that are discriminatory, and of all, as they were computed.
    off : float
        As of `fairdesk.certify.domain.space.People`.
    """
    share = discriminatory / np.where(whole > 0.0, whole, 1.0)
    # each mass is off, and so is the sum of so many
    slack = 4.0 * off + _ROUNDING
    return np.maximum(1.0 - share * (1.0 + slack) - slack, 0.0), share * (1.0 - slack)


class _Part(NamedTuple):
    """What was counted in parts of some boxes."""

    boxes: NDArray[np.intp]
    discriminatory: Numbers
    masses: Float64
    pairs: Numbers
    examples: Places
    queries: int


@dataclass(frozen=True, slots=True)
class Decisions:
    """What is decided of whole similar sets.

    Attributes
    ----------
    labels : NDArray[np.intp]
        ``(n, C)``; -1 for those who may not be.
    queries : int
        Rows sent to the model.
    """

    labels: NDArray[np.intp]
    queries: int

    @property
    def differ(self) -> NDArray[np.bool_]:
        """``(n,)``; whether two who may be are decided differently."""
        # combination after combination: along short rows each row would be a loop of its own
        most = reduce(np.maximum, self.labels.T)
        least = reduce(np.minimum, (np.where(each < 0, most, each) for each in self.labels.T))
        return np.asarray(least < most)

    def pairs(self, side: int) -> Numbers:
        """Count per pair of combinations who is decided differently; as `PointCounter.pairs`."""
        counted = np.zeros((side, side), dtype=np.int64)
        some = self.labels[self.differ]
        if len(some):
            for c in range(side):
                for d in range(c + 1, side):
                    both = (some[:, c] >= 0) & (some[:, d] >= 0)
                    counted[c, d] = (both & (some[:, c] != some[:, d])).sum()
        return counted


class Predicts(Protocol):
    """A model, or one whose answers are remembered."""

    def predict(self, rows: Rows, /) -> Scores:
        """Return the scores of ``(n, d)`` rows."""


def decisions(
    space: Space, model: Predicts, places: Places, may_be: NDArray[np.bool_] | None = None
) -> Decisions:
    """Query a model about whole similar sets.

    Parameters
    ----------
    space : Space
        Whose points.
    model : Predicts
        The model.
    places : Places
        ``(n, a)``.
    may_be : NDArray[np.bool_], optional
        ``(n, C)``; which members are asked about: by default those that may be.
    """
    similar = space.domain.similar(space.rows(places))
    if may_be is None:
        may_be = space.domain.possible(similar)
    predicted_class = np.full(may_be.shape, -1, dtype=np.intp)
    everybody = bool(may_be.all())
    rows = similar.reshape(-1, similar.shape[2]) if everybody else similar[may_be]
    if len(rows):
        told = labels(model.predict(rows))
        if everybody:
            predicted_class[:] = told.reshape(may_be.shape)
        else:
            predicted_class[may_be] = told
    return Decisions(predicted_class, len(rows))


def points_of(low: Places, high: Places) -> tuple[Numbers, Places]:
    """Write down the points of boxes, ``(n, a)``, and the box of each, ``(n,)``."""
    counts = np.array(sizes(low, high), dtype=np.int64)
    box = np.repeat(np.arange(len(low)), counts)
    number = np.arange(len(box)) - np.repeat(np.cumsum(counts) - counts, counts)
    return box, _places(low, high, box, number)


def _places(low: Places, high: Places, box: Numbers, number: Numbers) -> Places:
    """Write numbers of points in boxes, ``(n,)``, as places, ``(n, a)``."""
    # compiled code is loaded where a search runs, never in the window's process
    from fairdesk.certify.domain.box_kernels import points  # noqa: PLC0415

    places = np.empty((len(box), low.shape[1]), dtype=np.int64)
    ends = (np.ascontiguousarray(each, dtype=np.int64) for each in (low, high))
    points(*ends, box, number, places)
    return places


def _boxes_in_roots(
    space: Space, root: NDArray[np.intp], most: int, rng: np.random.Generator
) -> tuple[Places, Places]:
    """Draw boxes of at most so many points inside roots."""
    low, high = space.low[root].copy(), space.high[root].copy()
    for box in range(len(root)):
        points = 1
        for i in reversed(range(low.shape[1])):
            width = int(min(high[box, i] - low[box, i] + 1, max(1, most // points)))
            low[box, i] = rng.integers(low[box, i], high[box, i] - width + 2)
            high[box, i] = low[box, i] + width - 1
            points *= width
    return low, high


# -- networks ----------------------------------------------------------------------------------


class _Task(NamedTuple):
    """A range of boxes, or of one large box some steps."""

    low: Places
    high: Places
    group: Numbers
    first: int
    begin: int
    end: int


class _Compiled:
    """Counts by the compiled loops: what they are given, beside boxes."""

    def __init__(
        self,
        space: Space,
        network: DenseNetwork,
        columns: Columns,
        rule: tuple[int, float, Numbers],
    ) -> None:
        # compiled code is loaded where a search runs, never in the window's process
        from fairdesk.certify.counting import exhaustive_kernels  # noqa: PLC0415
        from fairdesk.models.dense.forward import packed  # noqa: PLC0415 - as above

        self._kernels = exhaustive_kernels
        self._may_be = np.ascontiguousarray(space.may_be)
        self._members = np.asarray(space.may_be.sum(axis=1))
        side = len(space.may_be[0]) if len(space.may_be[0]) <= _MOST_PAIRED else 0
        self._side = side
        self.order, self._owner, self._at, values = _kernel_columns(columns, space)
        kind, limit, decision = rule
        self._fixed = (
            *(values, *packed(network.layers), kind, np.float32(limit), decision),
            *_population(space),
        )
        self._idle = np.setdiff1d(np.arange(len(space.axes)), self.order)
        self._space = space

    def work(
        self, low: Places, high: Places, group: NDArray[np.intp], threads: int
    ) -> Iterator[_Task]:
        """Share boxes out, so that every thread has some."""
        group = group.astype(np.int64)
        points = np.array(sizes(low, high), dtype=np.float64)
        wide = (high[:, self.order] - low[:, self.order] >= _MOST_PLACES).any(axis=1)
        # along idle axes everybody is the same: each box then counts by a number of its own
        most = min(max(points.sum() / (_SHARES * threads), _LEAST), _AT_ONCE)
        alone = wide | (points > most) | (self._idle.size > 0)
        variant = self._space.variant(low)
        first, gathered = 0, 0.0
        for box in range(len(low)):
            own = slice(box, box + 1)
            fits = gathered + points[box] <= most and variant[box] == variant[first]
            if not alone[box] and fits:
                gathered += points[box]
                continue
            if box > first:
                yield _Task(low[first:box], high[first:box], group[first:box], first, 0, 0)
            first, gathered = box, points[box]
            if alone[box]:
                for part in self._narrow(low[box], high[box]):
                    yield from self._in_steps(*part, group[own], box, most)
                first, gathered = box + 1, 0.0
        if len(low) > first:
            yield _Task(low[first:], high[first:], group[first:], first, 0, 0)

    def _narrow(self, low: Numbers, high: Numbers) -> Iterator[tuple[Numbers, Numbers]]:
        """Cut a box along axes of very many places."""
        axis = max(self.order.tolist(), key=lambda i: high[i] - low[i], default=0)
        if high[axis] - low[axis] < _MOST_PLACES:
            yield low, high
            return
        for start in range(int(low[axis]), int(high[axis]) + 1, _MOST_PLACES):
            first, last = low.copy(), high.copy()
            first[axis] = start
            last[axis] = min(start + _MOST_PLACES - 1, int(high[axis]))
            yield from self._narrow(first, last)

    def _in_steps(
        self, low: Numbers, high: Numbers, group: Numbers, box: int, most: float
    ) -> Iterator[_Task]:
        """Share a large box out."""
        steps = self._kernels.steps(self.order, low, high)
        points = float(np.prod((high - low + 1)[self.order].astype(np.float64)))
        some = max(1, int(most * steps / points))
        for begin in range(0, steps, some):
            yield _Task(low[None], high[None], group, box, begin, min(begin + some, steps))

    def run(self, task: _Task) -> _Part | None:
        """Count what was shared out; ``None`` where an answer is no number."""
        low, high, group = task.low, task.high, task.group
        boxes, width = low.shape
        pairs = np.zeros((self._side, self._side), dtype=np.int64)
        variant = int(self._space.variant(low[:1])[0])
        looked_at = self._owner[variant], self._at[variant]
        discriminatory, masses = np.zeros(boxes, dtype=np.int64), np.zeros(boxes)
        if task.end:
            examples = np.empty((_EXAMPLES, width), dtype=np.int64)
            discriminatory[0], shown, fine, masses[0] = self._kernels.count(
                *(low[0], high[0], self.order, task.begin, task.end, self._may_be[group[0]]),
                *(*looked_at, *self._fixed, pairs, examples),
            )
            examples = examples[:shown]
        else:
            examples = np.empty((boxes, width), dtype=np.int64)
            fine = self._kernels.count_boxes(
                *(low, high, self.order, group, self._may_be),
                *(*looked_at, *self._fixed, pairs, discriminatory, masses, examples),
            )
            examples = examples[discriminatory > 0]
        if not fine:
            return None
        asked = np.prod(high[:, self.order] - low[:, self.order] + 1, axis=1)
        if task.end:
            asked = asked // self._kernels.steps(self.order, low[0], high[0])
            asked *= task.end - task.begin
        # along axes that the model does not look at everybody is treated the same
        times = np.prod(high[:, self._idle] - low[:, self._idle] + 1, axis=1)
        return _Part(
            np.arange(task.first, task.first + boxes),
            discriminatory * times,
            masses,
            pairs * (times[0] if self._idle.size else 1),
            examples,
            int((asked * self._members[group]).sum()),
        )


def _population(space: Space) -> tuple[TreeArrays, Float64]:
    """Return the population as the loops read it; without one nothing is given of it."""
    # compiled code is loaded where a search runs, never in the window's process
    from fairdesk.certify.domain.population_kernels import nothing  # noqa: PLC0415

    if space.people is None:
        return nothing(), np.empty(0)
    return space.people.tree, space.people.everything


def _compiled(space: Space, fed: FedModel, columns: Columns) -> _Compiled | None:
    """Return the compiled counter, where it answers to the last bit as the model does."""
    network, mapping = fed.opened, fed.mapping
    if not isinstance(network, DenseNetwork):
        return None
    if any(
        own.columns.size and axis.count > _MOST_WRITTEN
        for own, axis in zip(columns.axes, space.axes, strict=True)
    ):
        return None
    from fairdesk.certify.counting.exhaustive_kernels import ABOVE, GREATEST, REACHED  # noqa: PLC0415

    outputs = network.layers[-1].bias.size
    if outputs > 1:
        decision = np.arange(outputs)
        if mapping.together:
            decision = np.isin(decision, mapping.together).astype(np.int64)
        elif mapping.threshold is not None:
            return None
        return _Compiled(space, network, columns, (GREATEST, 0.5, decision))
    if mapping.together:
        return None
    limit = 0.5 if mapping.threshold is None else mapping.threshold
    values = network.card.scores == VALUES and mapping.threshold is not None
    kind = REACHED if values and not mapping.beyond else ABOVE
    return _Compiled(space, network, columns, (kind, limit, np.arange(2)))


def _kernel_columns(
    columns: Columns, space: Space
) -> tuple[Numbers, Numbers, Numbers, NDArray[np.float32]]:
    """Write columns as the loops read them, and the order in which axes go.

    Of each variant of the space, ``(V, m)`` each, the owners of what the body is given, and where
    in the last array their numbers are.
    """
    from fairdesk.certify.counting.exhaustive_kernels import COMBINED, CONSTANT  # noqa: PLC0415 - as above

    m, combinations = columns.of_body, len(space.domain.combinations)
    owner = np.full(columns.count, CONSTANT, dtype=np.int64)
    numbers: list[Float64] = [columns.constant[j : j + 1] for j in range(columns.count)]
    firsts = np.full(len(columns.axes), columns.count)
    for i, own in enumerate(columns.axes):
        owner[own.columns] = i
        firsts[i] = own.columns.min(initial=columns.count)
        table = own.table if len(own.table) else _written(own, space.axes[i].count)
        for k, j in enumerate(own.columns.tolist()):
            numbers[j] = table[:, k]
    owner[columns.combined] = COMBINED
    for k, j in enumerate(columns.combined.tolist()):
        numbers[j] = columns.combinations[:, k]
    at = np.cumsum([0, *(len(each) for each in numbers)])[:-1]
    order = np.argsort(firsts, kind="stable")
    order = order[firsts[order] < columns.count]
    values = np.concatenate(numbers).astype(np.float32)
    owners, places = [], []
    for v, variant in enumerate(space.variants):
        # what is made from a companion comes from its axis, or where tied from the combination
        column = np.arange(m)
        tied = [variant[owner[j]] >= 0 for j in columns.doubled]
        column[columns.doubled[tied]] = m + np.flatnonzero(tied)
        owners.append(owner[column])
        places.append(at[column] + np.where(owners[-1] == COMBINED, v * combinations, 0))
    return (
        order.astype(np.int64),
        np.ascontiguousarray(owners, dtype=np.int64),
        np.ascontiguousarray(places, dtype=np.int64),
        values,
    )


def _written(own: OfAxis, count: int) -> Float64:
    """Write down the numbers at every place of an axis that is not listed."""
    if not own.columns.size:
        return np.empty((0, 0))
    starts = range(0, count, _ROWS)
    return np.concatenate([own.given(np.arange(i, min(i + _ROWS, count))) for i in starts])
