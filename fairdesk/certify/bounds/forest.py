"""What is proven about trees, box by box: an examiner.

A sum of trees is bounded by the sum of what each tree can add (two-sided, and better with every
box that is halved: BoxQTE, arXiv 2512.16386, calls it anytime); a single tree is so decided
exactly. A tree is a program of questions about one column each; over a space they become questions
about places, and about combinations of protected values.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.bounds.forest_encoding import CUT, LEAF, EncodedForest, room, spans_of
from fairdesk.certify.bounds.linear import Float64, Numbers
from fairdesk.certify.counting.exhaustive import shares_of_people
from fairdesk.certify.domain.columns import OfAxis, columns_of
from fairdesk.certify.domain.space import Places, Space
from fairdesk.certify.refine import Examined, Steps
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import labels
from fairdesk.models.structure import Forest, ModelStructure

if TYPE_CHECKING:
    from fairdesk.certify.bounds.forest_kernels import Room


#: Boxes that a thread takes at once.
_CHUNK = 16
#: Boxes of so few points are counted point by point.
_MOST_POINTS = 64
#: So many of the questions that matter most decide in which order names stand.
_MOST_ORDERING = 2_048
#: People are asked about in batches of so many rows.
_BATCH = 65_536


class ForestExaminer:
    """Says of boxes what the leaves that they can reach prove about a forest.

    Parameters
    ----------
    space : Space
        Whose boxes.
    encoded : EncodedForest
        The trees over it.
    fed : FedModel
        The model itself, which is asked where a sum is too near to a border.
    threads : int
        How many work at once.

    Attributes
    ----------
    batch, margin, notes
        As `fairdesk.certify.refine.Examiner`.
    encoded : EncodedForest
        As given.
    """

    def __init__(
        self, space: Space, encoded: EncodedForest, fed: FedModel, *, threads: int = 2
    ) -> None:
        # compiled code is loaded where a search runs, never in the window's process
        from fairdesk.certify.bounds.forest_kernels import examine  # noqa: PLC0415

        self.batch = 512
        self.margin = encoded.clear
        self.notes: tuple[str, ...] = ()
        self.encoded = encoded
        self._space, self._fed = space, fed
        self._woods, self._compared = encoded.woods, encoded.compared
        self._examine: Callable[..., None] = examine
        self._rooms = [room(encoded) for _ in range(threads)]
        self._pool = ThreadPoolExecutor(threads)

    def examine(self, low: Places, high: Places, group: NDArray[np.intp]) -> Examined:
        """Examine boxes; as `fairdesk.certify.refine.Examiner.examine`."""
        from fairdesk.certify.bounds import forest_kernels as kernels  # noqa: PLC0415 - as above

        low = np.ascontiguousarray(low, dtype=np.int64)
        high = np.ascontiguousarray(high, dtype=np.int64)
        size = len(low)
        verdict, axis = np.zeros(size, dtype=np.int64), np.full(size, -1, dtype=np.int64)
        cut, discriminatory = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
        example = np.zeros_like(low)
        differ = np.zeros((size, _MOST_POINTS), dtype=np.bool_)
        groups = np.ascontiguousarray(group, dtype=np.int64)
        starts = iter(range(0, size, _CHUNK))

        def work(own: Room) -> None:
            for start in starts:
                stop = min(start + _CHUNK, size)
                self._examine(
                    *(self._woods, own, self._compared, low, high, groups, start, stop),
                    *(_MOST_POINTS, verdict, axis, cut, discriminatory, example, differ),
                )

        for _ in self._pool.map(work, self._rooms):
            pass
        queries = 0
        single = np.flatnonzero(verdict == kernels.SINGLE)
        if single.size:
            same, asked = self._query_points(low[single], groups[single])
            verdict[single] = np.where(same, kernels.CONSISTENT, kernels.DISCRIMINATORY)
            queries += asked
        for box in np.flatnonzero(verdict == kernels.ASKED).tolist():
            points = _points(low[box], high[box])
            same, asked = self._query_points(points, np.full(len(points), groups[box]))
            discriminatory[box] = int((~same).sum())
            differ[box, : len(same)] = ~same
            if discriminatory[box]:
                example[box] = points[np.flatnonzero(~same)[0]]
            verdict[box] = kernels.COUNTED
            queries += asked
        counted = verdict == kernels.COUNTED
        found = (verdict == kernels.DISCRIMINATORY) | (counted & (discriminatory > 0))
        return Examined(
            low,
            high,
            np.where(verdict == kernels.CONSISTENT, 1.0, 0.0),
            np.where(verdict == kernels.DISCRIMINATORY, 1.0, 0.0),
            np.where(counted, discriminatory, -1),
            np.where(verdict == kernels.UNDECIDED, axis, -1),
            cut,
            example[found],
            queries,
            self._people(low, high, verdict, differ & counted[:, None]),
        )

    def _people(
        self, low: Places, high: Places, verdict: Numbers, differ: NDArray[np.bool_]
    ) -> tuple[Float64, Float64] | None:
        """Return the shares of boxes' masses under the population; ``None`` where there is none.

        ``differ`` says of counted boxes which of their points are discriminatory.
        """
        from fairdesk.certify.bounds import forest_kernels as kernels  # noqa: PLC0415 - as above

        people = self._space.people
        if people is None:
            return None
        consistent = np.where(verdict == kernels.CONSISTENT, 1.0, 0.0)
        discriminatory = np.where(verdict == kernels.DISCRIMINATORY, 1.0, 0.0)
        counted = np.flatnonzero(verdict == kernels.COUNTED)
        if counted.size:
            box, number = np.nonzero(differ[counted])
            places = low[counted[box]]
            for i in reversed(range(low.shape[1])):
                number, digit = np.divmod(number, (high[counted[box], i] - places[:, i]) + 1)
                places[:, i] += digit
            masses = np.zeros(len(counted))
            np.add.at(masses, box, people.masses(places, places))
            whole = people.masses(low[counted], high[counted])
            consistent[counted], discriminatory[counted] = shares_of_people(
                masses, whole, people.off
            )
        return consistent, discriminatory

    def _query_points(self, places: Places, group: Numbers) -> tuple[NDArray[np.bool_], int]:
        """Ask the model whether points are consistent: (n,), and how many rows that took."""
        domain = self._space.domain
        may_be = self._space.may_be[group]
        point, combination = np.nonzero(may_be)
        rows = domain.counterparts(self._space.rows(places)[point], combination)
        decided = np.concatenate(
            [
                labels(self._fed.predict(rows[start : start + _BATCH]))
                for start in range(0, len(rows), _BATCH)
            ]
        )
        consistent = np.full(may_be.shape, -1, dtype=np.int64)
        consistent[point, combination] = decided
        most = consistent.max(axis=1)
        return ((consistent == most[:, None]) | ~may_be).all(axis=1), len(rows)


def arranged(space: Space, anatomy: ModelStructure, fed: FedModel) -> Steps[Space]:
    """Give names, step by step, the order in which neighbours are sent the same way most often.

    Parameters
    ----------
    space : Space
        Not yet divided by constraints.
    anatomy : ModelStructure
        Of ``fed.opened``; its body is a `Forest`.
    fed : FedModel
        The model.

    Raises
    ------
    SpecError
        As `columns_of`.
    """
    forest = anatomy.body
    if not isinstance(forest, Forest):
        raise TypeError("no forest")
    columns = columns_of(space, anatomy, fed, np.float64)
    yield
    every = np.arange(len(forest.column), dtype=np.int64)
    children = np.stack([forest.column < 0, every, every, every, forest.left, forest.right], axis=1)
    children[:, 0] = np.where(forest.column < 0, LEAF, CUT)
    _, spans = spans_of(children, forest.roots, forest.value)
    orders: list[NDArray[np.intp] | None] = []
    for i, (axis, own) in enumerate(zip(space.axes, columns.axes, strict=True)):
        named = bool(space.domain.attributes[axis.position].values)
        keys = _keys(own, forest, spans) if named and len(own.table) > 2 else None
        orders.append(None if keys is None else space.ordered(i, keys))
        yield
    return space.reordered(orders) if any(each is not None for each in orders) else space


def _keys(own: OfAxis, forest: Forest, spans: Float64) -> Float64 | None:
    """Return of an axis' places where they are along the direction in which they are apart most."""
    nodes = np.flatnonzero(np.isin(forest.column, own.columns))
    if not nodes.size:
        return None
    nodes = nodes[np.argsort(-spans[nodes], kind="stable")[:_MOST_ORDERING]]
    at = (own.columns == forest.column[nodes, None]).argmax(axis=1)
    numbers = own.table[:, at]
    left = np.where(
        np.isnan(numbers), forest.missing_left[nodes], numbers <= forest.threshold[nodes]
    )
    sent = left * spans[nodes]
    _, _, directions = np.linalg.svd(sent - sent.mean(axis=0), full_matrices=False)
    return np.asarray(sent @ directions[0])


def _points(low: Places, high: Places) -> Places:
    """Write down the points of a small box, ``(n, a)``."""
    widths = tuple((high - low + 1).tolist())
    return np.stack(np.unravel_index(np.arange(np.prod(widths)), widths), axis=1) + low
