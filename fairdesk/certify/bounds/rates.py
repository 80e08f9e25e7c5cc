"""Which decision is certain in boxes of one combination of protected values: for proven rates."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.bounds.forest_encoding import EncodedForest
from fairdesk.certify.bounds.forest_encoding import room as forest_room
from fairdesk.certify.bounds.linear import LinearExaminer
from fairdesk.certify.bounds.network import packed, room
from fairdesk.certify.counting.exhaustive import points_of, shares_of_people
from fairdesk.certify.domain.encoded import Encoded
from fairdesk.certify.domain.space import DENSER, People, Places, Space
from fairdesk.certify.rates import Rated, RateExaminer
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import labels

if TYPE_CHECKING:
    from fairdesk.certify.bounds.dense.state import Network, Room

#: Boxes that a thread takes at once.
_CHUNK = 16
#: What a difference of two shares can be off by.
_ROUNDED = 2.0**-50
#: Boxes of at most so many points are counted.
_FEW = 64.0


def _people_of(space: Space) -> People:
    if space.people is None:
        raise ValueError("no population")
    return space.people


def _members(space: Space, low: Places, combination: int) -> NDArray[np.int64]:
    """Return which of `Space.members` a combination is in boxes, each within a root: ``(B,)``."""
    combinations = space.may_be.shape[1]
    return np.asarray(space.variant(low) * combinations + combination, dtype=np.int64)


class CountedRates:
    """Counts small boxes, and has others halved where people are concentrated.

    As `fairdesk.certify.rates.RateExaminer`.

    Parameters
    ----------
    space : Space
        With a population.
    fed : FedModel
        The model, which is asked about every point of small boxes.
    bounding : RateExaminer, optional
        Who bounds the others; without it nothing is known of them.
    """

    def __init__(self, space: Space, fed: FedModel, bounding: RateExaminer | None) -> None:
        self._space, self._fed, self._bounding = space, fed, bounding
        self._people = _people_of(space)
        self._given = [self._people.given(v) for v in range(space.may_be.shape[1])]

    def rate(self, low: Places, high: Places, combination: int) -> Rated:
        """Examine boxes; as `fairdesk.certify.rates.RateExaminer.rate`."""
        size, given = len(low), self._given[combination]
        found = Rated(
            *(np.zeros(size), np.zeros(size)),
            *(np.full(size, -1, dtype=np.int64), np.zeros(size, dtype=np.int64)),
        )
        few = (high - low + 1).astype(np.float64).prod(axis=1) <= _FEW
        if few.any():
            self._count(found, np.flatnonzero(few), low, high, combination)
        many = np.flatnonzero(~few)
        if not many.size:
            return found
        low, high = low[many], high[many]
        if self._bounding is not None:
            bounded = self._bounding.rate(low, high, combination)
        else:
            widest = (high - low).argmax(axis=1)
            each = np.arange(len(many))
            middle = (low[each, widest] + high[each, widest]) >> 1
            bounded = Rated(np.zeros(len(many)), np.zeros(len(many)), widest, middle)
        axis, cut, gain = self._people.densest(low, high, given)
        denser = (gain > DENSER) & (bounded.axis >= 0)
        found.favourable[many], found.other[many] = bounded.favourable, bounded.other
        found.axis[many] = np.where(denser, axis, bounded.axis)
        found.cut[many] = np.where(denser, cut, bounded.cut)
        found.queries += bounded.queries
        return found

    def _count(
        self, found: Rated, few: NDArray[np.intp], low: Places, high: Places, combination: int
    ) -> None:
        """Query the model about every point of some boxes."""
        box, places = points_of(low[few], high[few])
        decided = favourable_points(self._space, self._fed, places, combination)
        given = self._given[combination]
        masses = np.zeros(len(few))
        np.add.at(
            masses, box[decided], self._people.masses(places[decided], places[decided], given)
        )
        whole = self._people.masses(low[few], high[few], given)
        found.other[few], found.favourable[few] = shares_of_people(masses, whole, self._people.off)
        found.queries += len(places)


def favourable_points(
    space: Space, fed: FedModel, places: Places, combination: int
) -> NDArray[np.bool_]:
    """Query which points, ``(n, a)``, get the favourable decision with protected values."""
    which = np.full(len(places), combination)
    rows = space.domain.counterparts(space.rows(places), which)
    return np.asarray(labels(fed.predict(rows)) == fed.mapping.favourable_class)


class NetworkRates:
    """Bounds a network of dense layers; as `fairdesk.certify.rates.RateExaminer`.

    Parameters
    ----------
    encoded : Encoded
        The network over its space, which has a population.
    fed : FedModel
        The model.
    threads : int
        How many work at once.
    """

    def __init__(self, encoded: Encoded, fed: FedModel, *, threads: int = 2) -> None:
        # compiled code is loaded where a search runs, never in the window's process
        from fairdesk.certify.bounds.dense.examining import examine  # noqa: PLC0415
        from fairdesk.certify.bounds.dense.state import LEAST_GAIN, WORTH  # noqa: PLC0415

        self._people = _people_of(encoded.space)
        distinct, which = np.unique(encoded.combined, axis=0, return_inverse=True)
        network = packed(encoded, distinct, fed.mapping.favourable_class)
        limits = network.limits.copy()
        # boxes are not narrowed: what is cut off would have to be written down with its decision
        limits[WORTH] = 0.0
        limits[LEAST_GAIN] = np.inf
        self._given = [self._people.given(v) for v in range(encoded.space.may_be.shape[1])]
        self._networks: list[Network] = [
            network._replace(limits=limits, given=given) for given in self._given
        ]
        self._compared = np.stack((which.ravel(), np.full(which.size, -1)), axis=1)
        self._space = encoded.space
        self._examine: Callable[..., float] = examine
        self._rooms = [room(network) for _ in range(threads)]
        self._pool = ThreadPoolExecutor(threads)

    def rate(self, low: Places, high: Places, combination: int) -> Rated:
        """Examine boxes; as `fairdesk.certify.rates.RateExaminer.rate`."""
        size = len(low)
        low, high = np.array(low, dtype=np.int64), np.array(high, dtype=np.int64)
        group, verdict = _members(self._space, low, combination), np.zeros(size, dtype=np.int64)
        axis, shares = np.full(size, -1, dtype=np.int64), np.zeros((size, 5))
        starts = iter(range(0, size, _CHUNK))

        def work(own: Room) -> None:
            for start in starts:
                self._examine(
                    *(self._networks[combination], self._compared, low, high, group),
                    *(start, min(start + _CHUNK, size), verdict, shares, axis, own),
                )

        for _ in self._pool.map(work, self._rooms):
            pass
        favourable, other = shares[:, 4], np.maximum(shares[:, 2] - shares[:, 4] - _ROUNDED, 0.0)
        cut = self._people.medians(low, high, axis)
        return Rated(favourable, other, axis, cut)


class ForestRates:
    """Bounds a sum of trees; as `fairdesk.certify.rates.RateExaminer`.

    Parameters
    ----------
    space : Space
        With a population.
    encoded : EncodedForest
        The trees over it.
    fed : FedModel
        The model.
    """

    def __init__(self, space: Space, encoded: EncodedForest, fed: FedModel) -> None:
        # as above
        from fairdesk.certify.bounds.forest_kernels import examine  # noqa: PLC0415

        self._space, self._fed = space, fed
        encoded = encoded.comparing(np.eye(space.members.shape[1], dtype=np.bool_))
        self._woods, self._compared = encoded.woods, encoded.compared
        self._room: Any = forest_room(encoded)
        self._examine: Callable[..., None] = examine

    def rate(self, low: Places, high: Places, combination: int) -> Rated:
        """Examine boxes; as `fairdesk.certify.rates.RateExaminer.rate`."""
        from fairdesk.certify.bounds.forest_kernels import (  # noqa: PLC0415
            CONSISTENT,
            SINGLE,
            UNDECIDED,
        )

        size = len(low)
        low, high = np.array(low, dtype=np.int64), np.array(high, dtype=np.int64)
        verdict, axis = np.zeros(size, dtype=np.int64), np.full(size, -1, dtype=np.int64)
        cut, hits = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
        group = _members(self._space, low, combination)
        self._examine(
            *(self._woods, self._room, self._compared, low, high, group, 0, size, 0),
            *(verdict, axis, cut, hits, np.zeros_like(low), np.zeros((size, 0), dtype=np.bool_)),
        )
        # all of a box that no question divides come to the same leaves
        one = np.flatnonzero((verdict == CONSISTENT) | (verdict == SINGLE))
        favourable, other = np.zeros(size), np.zeros(size)
        if one.size:
            is_good = favourable_points(self._space, self._fed, low[one], combination)
            favourable[one], other[one] = is_good, ~is_good
        axis = np.where(verdict == UNDECIDED, axis, -1)
        return Rated(favourable, other, axis, cut, queries=one.size)


class LinearRates:
    """Counts what a linear model decides; as `fairdesk.certify.rates.RateExaminer`.

    Parameters
    ----------
    examiner : LinearExaminer
        Of the model over its space.
    encoded : Encoded
        The model over its space, which has a population.
    fed : FedModel
        The model.
    """

    def __init__(self, examiner: LinearExaminer, encoded: Encoded, fed: FedModel) -> None:
        self._examiner, people = examiner, _people_of(encoded.space)
        self._space = encoded.space
        self._given = [people.given(v) for v in range(encoded.space.may_be.shape[1])]
        margins = encoded.margins
        self._above = margins.decision[margins.winner[0]] == fed.mapping.favourable_class

    def rate(self, low: Places, high: Places, combination: int) -> Rated:
        """Examine boxes; as `fairdesk.certify.rates.RateExaminer.rate`."""
        over, under = np.zeros(len(low)), np.zeros(len(low))
        near, members = self._examiner.margin, _members(self._space, low, combination)
        for b, member in enumerate(members.tolist()):
            limit = -self._examiner.added(member)
            over[b], under[b], _ = self._examiner.shares_of(
                *(low[b], high[b], self._given[combination]), (limit + near, limit - near, 0.0, 0.0)
            )
        under = np.minimum(under, 1.0 - over)
        nowhere = np.full(len(low), -1, dtype=np.int64)
        favourable, other = (over, under) if self._above else (under, over)
        return Rated(favourable, other, nowhere, np.zeros(len(low), dtype=np.int64))
