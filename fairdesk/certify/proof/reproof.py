"""Proving boxes of a certificate once more, by code that made none of it.

Each box states which shares of its points are certified (all members of the similar set get the
same decision) and falsified (two of them do not). It is divided until bounds
(`fairdesk.certify.proof.reproof_bounds`) decide its parts, or these are so small that the model
itself answers for every point. A model that cannot be looked into has no bounds: its small boxes
are asked about as they are. Of layers with one margin the points of a box are counted, too
(`fairdesk.certify.proof.reproof_counting`). What is not proven in time is not proven: it
contradicts nothing. A contradiction is a point of which the model's own answers say so, or a count.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.space import Places, Space
from fairdesk.certify.proof.reproof_bounds import Bounds, ForestBounds, LayerBounds
from fairdesk.certify.proof.reproof_check import (
    BY_COUNT,
    BY_POINT,
    NOTHING,
    ROUNDING,
    Reproof,
    Reprove,
    SharesOf,
)
from fairdesk.certify.proof.reproof_counting import Measure, NetworkCounter
from fairdesk.certify.proof.reproof_inputs import Inputs, RowsOf, decision_margins
from fairdesk.certify.proof.reproof_rates import IsFavourable, Masses, RateModel, RateReprover
from fairdesk.errors import SpecError
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import labels
from fairdesk.models.structure import Layers, OpaqueError, structure_of

Float64 = NDArray[np.float64]
Numbers = NDArray[np.int64]

#: A part of a box with at most so many points is asked of the model; so many points at once.
FEW, _ASKED_AT_ONCE = 128, 1 << 15
#: A whole box with at most so many points is asked of the model, if bounds do not decide it.
SMALL = 4_096
#: Parts that are bounded at once, and parts of all boxes together at most.
_AT_ONCE, _MOST_PARTS = 512, 1_000_000
#: Of points, ``(n, a)``, whether two members of each are decided differently, by the model itself.
Differ = Callable[[Places], NDArray[np.bool_]]


class RatedPeople(NamedTuple):
    """The people of a certificate, by the protected values that they have.

    Attributes
    ----------
    is_favourable : callable
        Asks the model.
    masses, measures : sequence
        Of each combination of protected values how likely boxes are, and how sums are distributed
        over them.
    """

    is_favourable: IsFavourable
    masses: Sequence[Masses]
    measures: Sequence[Measure]


def reprover(
    space: Space,
    fed: FedModel,
    rows_of: RowsOf,
    differ: Differ,
    people: Measure | None = None,
    rated: RatedPeople | None = None,
) -> Reprove:
    """Make what proves boxes of a certificate once more.

    Parameters
    ----------
    space : Space
        The certificate's, its axes in the certificate's order.
    fed : FedModel
        The model, fed as the certificate says.
    rows_of : callable
        Returns rows from which the domain makes the members of points.
    differ : callable
        Asks the model.
    people : Measure, optional
        Measures boxes by the people in them; without it no share of these is proven.
    rated : RatedPeople, optional
        Likewise, of those with each combination of protected values: for boxes of rates.
    """
    try:
        anatomy = structure_of(fed.opened)
    except OpaqueError:
        own = RateModel(None, np.zeros((0, 0), dtype=np.int64), fed.mapping.favourable_class)
        rates = None if rated is None else RateReprover(own, rated.is_favourable, rated.masses)
        return _Reprover(None, space.may_be, differ, rates=rates).prove
    body = anatomy.body
    inputs, margins = Inputs(space, anatomy, fed, rows_of), decision_margins(anatomy, fed)
    bounds: Bounds
    counter: NetworkCounter | None = None
    of_people: NetworkCounter | None = None
    counters: list[NetworkCounter] = []
    if isinstance(body, Layers):
        bounds = LayerBounds(body, inputs, margins)
        if len(margins.offset) == 1:
            counting = partial(NetworkCounter, body, inputs, margins)
            counter = counting()
            of_people = None if people is None else counting(people)
            if rated is not None and len(np.unique(margins.decision)) > 1:
                counters = [counting(each) for each in rated.measures]
    else:
        bounds = ForestBounds(body, inputs, margins)
    _hold_to_model(space, fed, inputs, bounds)
    rates = None
    if rated is not None:
        favourable = fed.mapping.favourable_class
        above = bool(margins.decision[margins.winner[0]] == favourable)
        own = RateModel(bounds, inputs.which, favourable, counters, above, inputs.variant)
        rates = RateReprover(own, rated.is_favourable, rated.masses)
    return _Reprover(bounds, space.may_be, differ, inputs, counter, of_people, rates).prove


def _hold_to_model(space: Space, fed: FedModel, inputs: Inputs, bounds: Bounds) -> None:
    """Refuse bounds by which the model itself decides single rows otherwise."""
    places, combination, rows = inputs.drawn(space)
    wanted = np.zeros((len(places), len(inputs.combinations)), dtype=np.bool_)
    one = np.arange(len(places)), inputs.which[inputs.variant(places), combination]
    wanted[one] = True
    certain = bounds.decided(places, places, wanted).decision[one]
    known = (certain >= 0) & ~np.isnan(rows).any(axis=1)
    if (certain[known] != labels(fed.predict(rows[known]))).any():
        raise SpecError(
            "Regions cannot be re-proved: what was read of the model’s arithmetic gives other "
            "decisions than the model.",
            remedy="Do not rely on this certificate. Report the kind of model that this is.",
        )


class _Parts(NamedTuple):
    """Parts of boxes: their ends, and which box each is of."""

    low: Places
    high: Places
    box: Numbers


class _Reprover:
    """Proves boxes once more."""

    def __init__(
        self,
        bounds: Bounds | None,
        may_be: NDArray[np.bool_],
        differ: Differ,
        inputs: Inputs | None = None,
        counter: NetworkCounter | None = None,
        of_people: NetworkCounter | None = None,
        rates: RateReprover | None = None,
    ) -> None:
        self._bounds, self._may_be, self._differ, self._counter = bounds, may_be, differ, counter
        self._inputs, self._of_people, self._rates = inputs, of_people, rates

    def prove(
        self,
        low: Places,
        high: Places,
        group: Numbers,
        stated: Float64,
        seconds: float,
        *,
        of: SharesOf = "points",
    ) -> Reproof:
        """Prove boxes; as `Reprove`."""
        until = perf_counter() + seconds
        if of == "rates":
            if self._rates is None:
                raise SpecError("Selection rates cannot be re-proved without a population.")
            return self._rates.prove(low, high, group, stated, until)
        if of == "people":
            return self._prove_people(low, high, group, stated, until)
        return _Work(self, low, high, group, stated).done(until)

    def _prove_people(
        self, low: Places, high: Places, group: Numbers, stated: Float64, until: float
    ) -> Reproof:
        """Count the people in boxes."""
        if self._of_people is None:
            raise SpecError(
                "Shares of the population cannot be re-proved for this model.",
                why="Only linear models and networks of dense layers with one threshold can be.",
            )
        proven, contradicted = np.zeros((len(low), 2)), np.zeros(len(low), dtype=np.int8)
        for b in np.flatnonzero(group >= 0).tolist():
            if perf_counter() >= until:
                break
            members = np.flatnonzero(self._wanted(low[b : b + 1], group[b : b + 1])[0])
            proven[b] = self._of_people.shares(low[b], high[b], members, stated[b])
            if (proven[b] > 1.0 - stated[b, ::-1] + ROUNDING).any():
                contradicted[b] = BY_COUNT
        return Reproof(proven[:, 0], proven[:, 1], contradicted, low.copy())

    def look(self, parts: _Parts, group: Numbers) -> tuple[Numbers, Float64]:
        """Say which parts are consistent (0), discriminatory (1), undecided (-1), and where."""
        if self._bounds is None:
            return np.full(len(group), -1, dtype=np.int64), np.zeros(parts.low.shape)
        wanted = self._wanted(parts.low, group)
        found = self._bounds.decided(parts.low, parts.high, wanted)
        known = wanted & (found.decision >= 0)
        most = np.where(known, found.decision, -1).max(axis=1)
        least = np.where(known, found.decision, np.iinfo(np.int64).max).min(axis=1)
        verdict = np.full(len(wanted), -1, dtype=np.int64)
        verdict[(known == wanted).all(axis=1) & (most == least)] = 0
        verdict[known.any(axis=1) & (most != least)] = 1
        # who is compared with nobody is consistent
        verdict[wanted.sum(axis=1) <= 1] = 0
        # where it is not known who may be, every point is asked about
        verdict[group < 0] = -1
        return verdict, found.matters

    def _wanted(self, low: Places, group: Numbers) -> NDArray[np.bool_]:
        """Return which different combinations are compared in boxes of groups, ``(B, U)``."""
        if self._inputs is None:
            return np.zeros((len(low), 0), dtype=np.bool_)
        wanted = np.zeros((len(low), len(self._inputs.combinations)), dtype=np.bool_)
        box, combination = np.nonzero(self._may_be[group])
        wanted[box, self._inputs.which[self._inputs.variant(low[box]), combination]] = True
        return wanted

    def count(
        self, low: Numbers, high: Numbers, group: int, stated: Float64
    ) -> tuple[float, float] | None:
        """Return a box's least consistent and discriminatory shares; ``None``: not countable."""
        if self._counter is None or group < 0:
            return None
        members = np.flatnonzero(self._wanted(low[None], np.array([group]))[0])
        return self._counter.shares(low, high, members, stated)

    def differ(self, places: Places) -> NDArray[np.bool_]:
        """Query the model."""
        return self._differ(places)

    @property
    def divides(self) -> bool:
        """Whether bounds may decide a part of a box that they do not decide as a whole."""
        return self._bounds is not None


class _Work:
    """Boxes that are being proven."""

    def __init__(
        self, prover: _Reprover, low: Places, high: Places, group: Numbers, stated: Float64
    ) -> None:
        self._prover, self._low, self._high = prover, low, high
        self._group, self._stated = group, stated
        n = len(low)
        self._volume = volumes(low, high)
        self._proven = np.zeros((n, 2))
        self._counted = np.zeros((n, 2))
        self._contradicted = np.zeros(n, dtype=np.int8)
        self._places = low.copy()
        self._divided = np.zeros(n, dtype=np.int64)
        self._open = np.ones(n, dtype=np.int64)
        self._until = 0.0
        self._over = np.zeros(n, dtype=np.bool_)
        # of these a share is not enough: every part has to be as it is stated
        self._one_kind = np.asarray((stated >= 1.0).any(axis=1))

    def done(self, until: float) -> Reproof:
        """Prove what can be proven until then."""
        self._until = until
        boxes = np.arange(len(self._low))
        # in the order of their division, so that boxes that are proven easily are
        waiting = deque([_Parts(self._low, self._high, boxes)])
        while waiting and perf_counter() < until:
            parts = waiting.popleft()
            if len(parts.box) > _AT_ONCE:
                waiting.appendleft(_Parts(*(each[_AT_ONCE:] for each in parts)))
                parts = _Parts(*(each[:_AT_ONCE] for each in parts))
            parts = _Parts(*(each[~self._over[parts.box]] for each in parts))
            if not len(parts.box):
                continue
            verdict, matters = self._prover.look(parts, self._group[parts.box])
            for outcome in (0, 1):
                self._decided(parts, np.flatnonzero(verdict == outcome), outcome)
            open_ones = np.flatnonzero((verdict < 0) & ~self._over[parts.box])
            self._go_on(_Parts(*(each[open_ones] for each in parts)), matters[open_ones], waiting)
        # of two ways of proving it the better one
        proven = np.minimum(np.maximum(self._proven, self._counted), 1.0)
        some = self._one_kind & (self._open > 0)
        proven[some] = np.minimum(proven[some], 1.0 - 2.0 * ROUNDING)
        whole = self._one_kind & (self._open == 0) & (self._contradicted == NOTHING)
        proven[whole] = self._stated[whole]
        return Reproof(proven[:, 0], proven[:, 1], self._contradicted, self._places)

    def _decided(self, parts: _Parts, which: NDArray[np.intp], outcome: int) -> None:
        """Take in that parts are consistent, or discriminatory."""
        if not len(which):
            return
        box = parts.box[which]
        share = volumes(parts.low[which], parts.high[which]) / self._volume[box]
        np.add.at(self._proven[:, outcome], box, share)
        np.add.at(self._open, box, -1)
        # where everything is stated to be otherwise, any point is enough; the model has its word
        against = np.flatnonzero(self._stated[box, 1 - outcome] >= 1.0)
        against = against[np.unique(box[against], return_index=True)[1]]
        against = against[~self._over[box[against]]]
        if len(against):
            points = parts.low[which[against]]
            true = np.asarray(self._prover.differ(points) == bool(outcome))
            self._contradict(box[against[true]], points[true])
            # where the model denies what was proven, nothing is
            self._open[box[against]] += 1
            self._over[box[against]] = True
        self._settle(np.unique(box))

    def _settle(self, box: Numbers) -> None:
        """End the boxes of which the stated shares are proven, or cannot be."""
        box = box[~self._one_kind[box]]
        proven = np.maximum(self._proven[box], self._counted[box])
        stated = self._stated[box]
        self._over[box[(proven >= stated - ROUNDING).all(axis=1)]] = True
        too_much = (proven > 1.0 - stated[:, ::-1] + ROUNDING).any(axis=1)
        wrong = box[too_much & (self._contradicted[box] == NOTHING)]
        self._contradicted[wrong] = BY_COUNT
        self._over[wrong] = True

    def _contradict(self, box: Numbers, places: Places) -> None:
        self._contradicted[box] = BY_POINT
        self._places[box] = places
        self._over[box] = True

    def _go_on(self, parts: _Parts, matters: Float64, waiting: deque[_Parts]) -> None:
        """Query the model about small parts, and divide the others."""
        whole = (parts.low == self._low[parts.box]).all(axis=1)
        whole &= (parts.high == self._high[parts.box]).all(axis=1)
        points = volumes(parts.low, parts.high)
        small = np.asarray(points <= np.where(whole, SMALL, FEW))
        self._ask(_Parts(*(each[small] for each in parts)))
        # of parts of a kind the bounds tell all that a count would
        for i in np.flatnonzero(~small & whole & ~self._one_kind[parts.box]).tolist():
            if perf_counter() > self._until:
                break
            box = int(parts.box[i])
            shares = self._prover.count(
                parts.low[i], parts.high[i], int(self._group[box]), self._stated[box]
            )
            if shares is not None:
                self._counted[box] = shares
                self._settle(np.array([box]))
        divided = np.flatnonzero(~small & ~self._over[parts.box])
        if not len(divided) or not self._prover.divides:
            return
        np.add.at(self._divided, parts.box[divided], 1)
        divided = divided[self._divided[parts.box[divided]] <= _MOST_PARTS // len(self._low)]
        np.add.at(self._open, parts.box[divided], 1)
        waiting.append(_halved(_Parts(*(each[divided] for each in parts)), matters[divided]))

    def _ask(self, parts: _Parts) -> None:
        """Query the model about every point."""
        points = volumes(parts.low, parts.high).astype(np.int64)
        ends = np.cumsum(points)
        start = 0
        while start < len(points):
            before = int(ends[start - 1]) if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, before + _ASKED_AT_ONCE, "right")))
            some = slice(start, stop)
            owner = np.repeat(np.arange(start, stop), points[some])
            number = np.arange(len(owner)) - np.repeat(
                ends[some] - points[some] - before, points[some]
            )
            places = _places(parts.low[owner], parts.high[owner], number)
            discriminatory = self._prover.differ(places)
            hits = np.bincount(owner[discriminatory] - start, minlength=stop - start)
            box = parts.box[some]
            np.add.at(self._open, box, -1)
            for outcome, count in ((1, hits), (0, points[some] - hits)):
                np.add.at(self._proven[:, outcome], box, count / self._volume[box])
            stated = self._stated[parts.box[owner]]
            wrong = np.flatnonzero(np.where(discriminatory, stated[:, 0], stated[:, 1]) >= 1.0)
            wrong = wrong[np.unique(parts.box[owner[wrong]], return_index=True)[1]]
            self._contradict(parts.box[owner[wrong]], places[wrong])
            self._settle(np.unique(box))
            start = stop


def _halved(parts: _Parts, matters: Float64) -> _Parts:
    """Divide each part along the axis that matters most, and has more than one place."""
    wide = parts.high > parts.low
    axis = np.where(wide, matters, -1.0).argmax(axis=1)
    each = np.arange(len(axis))
    none = ~(np.where(wide, matters, -1.0)[each, axis] > 0.0)
    axis[none] = (parts.high - parts.low)[none].argmax(axis=1)
    cut = (parts.low[each, axis] + parts.high[each, axis]) // 2
    upper, lower = parts.high.copy(), parts.low.copy()
    upper[each, axis], lower[each, axis] = cut, cut + 1
    return _Parts(
        np.concatenate([parts.low, lower]),
        np.concatenate([upper, parts.high]),
        np.concatenate([parts.box, parts.box]),
    )


def volumes(low: Places, high: Places) -> Float64:
    """Count the points of boxes; rounded where there are more than 2 ** 53."""
    return np.asarray((high - low + 1).astype(np.float64).prod(axis=1))


def _places(low: Places, high: Places, number: Numbers) -> Places:
    """Write numbers of points as places in their boxes."""
    places = low.copy()
    for i in range(low.shape[1]):
        number, digit = np.divmod(number, high[:, i] - low[:, i] + 1)
        places[:, i] += digit
    return places
