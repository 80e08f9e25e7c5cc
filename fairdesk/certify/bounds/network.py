"""What is proven about a network of dense layers, box by box: an examiner."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.bounds.forest_encoding import different
from fairdesk.certify.counting.exhaustive import PointCounter
from fairdesk.certify.domain.encoded import Encoded
from fairdesk.certify.domain.space import Places, Space
from fairdesk.certify.refine import Examined
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.structure import ACTIVATIONS

if TYPE_CHECKING:
    from fairdesk.certify.bounds.dense.state import Network, Room

Float64 = NDArray[np.float64]
Numbers = NDArray[np.int64]

#: Boxes that a thread takes at once: enough to be worth the call, few enough to share out evenly.
_CHUNK = 32
#: An axis with a longer table is bounded by the least and the greatest of its entries.
_MOST_ENTRIES = 256
#: A box is asked about point by point where that takes no longer than so many boxes' bounds, within
#: these numbers of points.
_PARTS, _LEAST, _MOST = 4.0, 16.0, 4_096.0
#: How often a box is bounded again at most, after what is consistent was cut off.
_ROUNDS = 2
#: How many combinations of protected values are bounded together, and up to what difference of what
#: they add to the first layer's sums, as a share of how wide the box itself makes these.
_TOGETHER, _NEAR = 16, 0.2
#: What share of an axis is left, at most, where it is cut.
_WORTH = 0.6
#: How much steepness matters to where a box is halved, beside what keeps its lines apart.
_STEEP = 0.4
#: In an undecided box with a smaller share of the population people are not counted.
_PEOPLED = 1e-7
#: A unit's range is truncated where that is thought to decide such a share of a box, at least.
_LEAST_GAIN = 0.002
#: The fewest and the most steps of the grid on which people are counted, and so many numbers for
#: all cells of the population together. What a grid loses grows with the axes: by so many steps for
#: each axis beside each.
_LEAST_STEPS, _MOST_STEPS, _ROOM, _STEPS = 256, 1_024, 1 << 22, 2


class NetworkExaminer:
    """Says of boxes what backward bounds and counting prove about a network.

    Parameters
    ----------
    encoded : Encoded
        The network over its space.
    fed : FedModel
        The model itself, which is asked about the points of small boxes.
    threads : int
        How many work at once.
    by_mass : bool
        Whether boxes are halved where half of their people are, of the space's population, not half
        of their places.

    Attributes
    ----------
    batch, margin, notes
        As `fairdesk.certify.refine.Examiner`.
    """

    def __init__(
        self, encoded: Encoded, fed: FedModel, *, threads: int = 2, by_mass: bool = False
    ) -> None:
        # compiled code is loaded where a search runs, never in the window's process
        from fairdesk.certify.bounds.dense.examining import examine  # noqa: PLC0415
        from fairdesk.certify.bounds.dense.state import BY_PEOPLE, LEAST_GAIN  # noqa: PLC0415

        self.batch = 512
        self.margin = 0.0
        self.notes: tuple[str, ...] = ()
        distinct, which = _in_a_row(encoded.combined)
        self._network = packed(encoded, distinct, fed.mapping.favourable_class)
        self._people, self._by_mass = encoded.space.people, by_mass
        if by_mass:
            # what comes first is counted on truncated ranges, but for people in deeper networks:
            # there a box takes three times as long, and less is decided in the end
            shallow = len(self._network.shape) == 1 and self._people is not None
            self._network.limits[BY_PEOPLE if shallow else LEAST_GAIN] = 1.0 if shallow else np.inf
        self._compared = different(encoded.space.members, which)
        self._examine: Callable[..., float] = examine
        self._rooms = [room(self._network) for _ in range(threads)]
        self._pool = ThreadPoolExecutor(threads)
        self._everyone = PointCounter(encoded.space, fed, encoded.columns, threads=threads)
        self._boxes, self._seconds = 0, 0.0

    def examine(self, low: Places, high: Places, group: NDArray[np.intp]) -> Examined:
        """Examine boxes; as `fairdesk.certify.refine.Examiner.examine`."""
        size = len(low)
        found = Examined(
            np.array(low, dtype=np.int64),
            np.array(high, dtype=np.int64),
            np.zeros(size),
            np.zeros(size),
            np.full(size, -1, dtype=np.int64),
            np.full(size, -1, dtype=np.int64),
            np.zeros(size, dtype=np.int64),
            np.empty((0, low.shape[1]), dtype=np.int64),
            people=None if self._people is None else (np.zeros(size), np.zeros(size)),
        )
        before = self._everyone.trial_queries
        few = (high - low + 1).astype(np.float64).prod(axis=1) <= self._few
        found.queries = self._everyone.trial_queries - before
        if few.any():
            self._count(found, np.flatnonzero(few), group)
        if not few.all():
            self._bound(found, np.flatnonzero(~few), group)
        return found

    @property
    def _few(self) -> float:
        """How many points of a box are sooner asked about than it and its parts are bounded."""
        if self._boxes < self.batch:
            return _LEAST
        affordable = _PARTS * self._everyone.speed * self._seconds / self._boxes
        return float(np.clip(affordable, _LEAST, _MOST))

    def _count(self, found: Examined, few: NDArray[np.intp], group: NDArray[np.intp]) -> None:
        """Query the model about every point of some boxes."""
        counted = self._everyone.count(found.low[few], found.high[few], group[few])
        found.discriminatory_sets[few] = counted.discriminatory
        if found.people is not None and counted.people is not None:
            found.people[0][few], found.people[1][few] = counted.people
        found.examples = np.concatenate([found.examples, counted.examples])
        found.queries += counted.queries

    def _bound(self, found: Examined, many: NDArray[np.intp], group: NDArray[np.intp]) -> None:
        """Bound the network over some boxes, in chunks that threads take."""
        size = len(many)
        low, high = found.low[many], found.high[many]
        groups = np.ascontiguousarray(group[many], dtype=np.int64)
        verdict, axis = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
        shares = np.zeros((size, 5))
        starts = iter(range(0, size, _CHUNK))

        def work(own: Room) -> float:
            largest = 0.0
            for start in starts:
                stop = min(start + _CHUNK, size)
                off = self._examine(
                    *(self._network, self._compared, low, high, groups, start, stop),
                    *(verdict, shares, axis, own),
                )
                largest = max(largest, off)
            return largest

        started = perf_counter()
        self.margin = max(self.margin, *self._pool.map(work, self._rooms))
        self._seconds += perf_counter() - started
        self._boxes += size
        found.low[many], found.high[many] = low, high
        found.consistent[many], found.discriminatory[many] = shares[:, 0], shares[:, 1]
        if found.people is not None:
            found.people[0][many], found.people[1][many] = shares[:, 2], shares[:, 3]
        found.axis[many] = axis
        rows = np.flatnonzero(axis >= 0)
        halved = axis[rows]
        if self._by_mass and self._people is not None:
            found.cut[many[rows]] = self._people.medians(low[rows], high[rows], halved)
        else:
            found.cut[many[rows]] = (low[rows, halved] + high[rows, halved]) >> 1
        whole = shares[:, 1] >= 1.0
        found.examples = np.concatenate([found.examples, (low[whole] + high[whole]) >> 1])


def _in_a_row(combined: Float64) -> tuple[Float64, NDArray[np.intp]]:
    """Return the different rows, so that near ones are neighbours, and which of them each is."""
    distinct, which = np.unique(combined, axis=0, return_inverse=True)
    if not np.isfinite(distinct).all():
        return distinct, which.ravel()
    # along the line on which they lie farthest apart
    _, _, directions = np.linalg.svd(distinct - distinct.mean(axis=0), full_matrices=False)
    order = np.argsort(distinct @ directions[0], kind="stable")
    return distinct[order], np.argsort(order)[which.ravel()]


def packed(encoded: Encoded, combined: Float64, favourable: int = 1) -> Network:
    """Write an encoded network as the compiled loops read it."""
    from fairdesk.certify.bounds.dense.state import Network  # noqa: PLC0415 - as above
    from fairdesk.certify.domain.population_kernels import nothing  # noqa: PLC0415 - as above

    layers = encoded.layers[:-1] or encoded.layers
    margins, last = encoded.margins, encoded.layers[-1]
    unit = 2.0**-50 * (
        len(encoded.space.axes) + 64 + max(layer.bias.size for layer in encoded.layers)
    )

    def rounding(terms: int) -> tuple[float, float]:
        factor, constant = encoded.rounding(terms)
        # so many more operations are made here than there
        return factor + unit, constant

    shape, settings, weights, turned = [], [], [], []
    first = at = 0
    for k, layer in enumerate(layers):
        inputs, units = layer.weights.shape
        kind = ACTIVATIONS.index(layer.activation.name)
        alpha = float(np.float32(layer.activation.alpha))
        ceiling = float(np.float32(layer.activation.ceiling))
        if layer.activation.name != "relu":
            ceiling = np.inf
        shape.append((units, kind, first, at))
        settings.append((alpha, ceiling, *rounding(inputs)))
        first += units
        if k:
            weights.append(layer.weights.ravel())
            turned.append(layer.weights.T.ravel())
            at += layer.weights.size
    bias = np.concatenate([encoded.bias, *(layer.bias for layer in layers[1:])])
    factor, constant = rounding(len(encoded.layers[0].weights))
    first_off = encoded.first_off + factor * encoded.first_size + constant
    largest = 2.0**120 if encoded.precision is np.float32 else 2.0**500
    first_off[~(encoded.first_size <= largest)] = np.inf
    ends = np.zeros((len(margins.offset), 2))
    if len(encoded.layers) > 1:
        rows = (last.weights @ margins.weights).T
        sizes = (np.abs(last.weights) @ np.abs(margins.weights)).T
        ends[:, 0] = last.bias @ margins.weights - margins.offset
        ends[:, 1] = np.abs(last.bias) @ np.abs(margins.weights) + np.abs(margins.offset)
        factor, constant = rounding(len(last.weights))
        constant *= 2.0
    else:
        rows, sizes = margins.weights.T, np.abs(margins.weights).T
        ends[:, 0], ends[:, 1] = -margins.offset, np.abs(margins.offset)
        factor, constant = unit, 0.0
    axes, least, most = _trees(encoded)
    people, tree, given, total = encoded.space.people, nothing(), np.empty(0), 1.0
    if people is not None:
        tree, given, total = people.tree, people.everything, people.total
    listed = [table for table, axis in zip(encoded.tables, axes, strict=True) if axis[2] >= 0]
    entries = np.concatenate([encoded.slopes, *listed, combined])
    return Network(
        shape=np.array(shape, dtype=np.int64),
        settings=np.array(settings, dtype=np.float64),
        weights=np.concatenate([np.empty(0), *weights]),
        turned=np.concatenate([np.empty(0), *turned]),
        bias=bias,
        first_off=first_off,
        slopes=np.ascontiguousarray(encoded.slopes),
        entries=np.ascontiguousarray(entries.T).ravel(),
        tables=sum(map(len, listed)),
        least=least,
        most=most,
        axes=axes,
        combined=np.ascontiguousarray(combined),
        rows=np.ascontiguousarray(rows),
        sizes=np.ascontiguousarray(sizes),
        ends=ends,
        limits=np.array(
            [
                *(factor, constant, max(margins.close, 2.0**-500), largest),
                *(_ROUNDS, _TOGETHER, _NEAR, _WORTH, _STEEP),
                *(_PEOPLED * total, _LEAST_GAIN, 0.0, steps_for(encoded.space)),
            ]
        ),
        needs=_needs(encoded),
        decision=margins.decision.astype(np.int64),
        people=tree,
        given=given,
        favourable=favourable,
    )


def steps_for(space: Space) -> int:
    """Return on a grid of how many steps people are counted.

    Each axis is rounded to the grid by itself. What that can move a sum is taken off the count, so
    that many axes take a fine grid; its cost grows with the cells of the population.
    """
    cells = 1 if space.people is None else space.people.tree.whole.size
    steps = min(_STEPS * len(space.axes) ** 2, _MOST_STEPS, _ROOM // cells)
    return max(steps, _LEAST_STEPS)


def _needs(encoded: Encoded) -> Numbers:
    """Return for each class which forms have to be above 0: ``(K, 2 F)``."""
    margins = encoded.margins
    needs = np.zeros((margins.decision.size, 2 * margins.offset.size), dtype=np.int64)
    for f, (winner, loser) in enumerate(zip(margins.winner, margins.loser, strict=True)):
        if margins.decision[winner] != margins.decision[loser]:
            needs[winner, 2 * f] = needs[loser, 2 * f + 1] = 1
    return needs


def _trees(encoded: Encoded) -> tuple[Numbers, Float64, Float64]:
    """Lay out the tables: as `Network.axes`, `Network.least` and `Network.most`."""
    width = encoded.bias.size
    axes, least, most = [], [np.empty((0, width))], [np.empty((0, width))]
    at, entry = 0, len(encoded.tables)
    for axis, table in zip(encoded.space.axes, encoded.tables, strict=True):
        if not len(table):
            axes.append((axis.count, -1, -1))
            continue
        listed = len(table) <= _MOST_ENTRIES
        axes.append((len(table), at, entry if listed else -1))
        low, high = np.tile(table, (2, 1)), np.tile(table, (2, 1))
        for k in range(len(table) - 1, 0, -1):
            np.minimum(low[2 * k], low[2 * k + 1], out=low[k])
            np.maximum(high[2 * k], high[2 * k + 1], out=high[k])
        least.append(low)
        most.append(high)
        at += len(low)
        entry += len(table) if listed else 0
    return np.array(axes, dtype=np.int64), np.concatenate(least), np.concatenate(most)


def room(network: Network) -> Room:
    """Make what a thread works in."""
    from fairdesk.certify.bounds.count_kernels import room as counting  # noqa: PLC0415
    from fairdesk.certify.bounds.dense.state import STEPS, Room  # noqa: PLC0415 - as above
    from fairdesk.certify.bounds.tree_kernels import tree_room  # noqa: PLC0415

    combinations, forms, axes = len(network.combined), 2 * len(network.rows), len(network.axes)
    units, first = network.bias.size, network.first_off.size
    widest = max(int(network.shape[:, 0].max()), network.rows.shape[1])
    rows, entries = max(widest, forms), axes + network.tables + combinations
    wide = bool(((network.axes[:, 1] >= 0) & (network.axes[:, 2] < 0)).any())
    work, order = counting(axes)

    def numbers(*shape: int) -> Numbers:
        return np.zeros(shape, dtype=np.int64)

    return Room(
        units=np.zeros((11, units)),
        live=numbers(units),
        lives=numbers(len(network.shape)),
        side=numbers(units),
        which=numbers(rows),
        sums=np.zeros((3, widest)),
        first=np.zeros((2, first)),
        wide=np.zeros((2, first if wide else 0)),
        ends=np.zeros((2, first)),
        middle=np.zeros(axes),
        half=np.zeros(axes),
        slopes=np.zeros((rows, widest)),
        carried=np.zeros((rows, widest)),
        forms=np.zeros((rows, entries)),
        constant=np.zeros(rows),
        kept=np.zeros((combinations, forms, entries)),
        constants=np.zeros((combinations, forms)),
        bounds=np.zeros((combinations, forms)),
        off=np.zeros(len(network.rows)),
        common=np.zeros(entries),
        won=numbers(combinations),
        bundle=numbers(combinations),
        formed=numbers(combinations),
        until=numbers(combinations),
        cuts=np.zeros((4, units)),
        pulls=np.zeros((forms, units)),
        sides=np.zeros((2, widest, entries)),
        sides_at=np.zeros((2, widest)),
        sided=numbers(2, widest),
        counted=np.zeros(5),
        work=work,
        order=order,
        start=numbers(axes),
        people=tree_room(network.people, int(network.limits[STEPS])),
    )
