"""Proving regions of rates once more: which of their people get the favourable decision.

Of each region the protected values are known. Bounds (`fairdesk.certify.proof.reproof_bounds`,
`reproof_forest`) decide it as a whole; small ones are asked of the model, point by point; of others
the people on either side of the margin are counted (`reproof_counting`), or they are divided until
bounds decide their parts. What is not proven in time is not proven: it contradicts nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.space import Places
from fairdesk.certify.proof.reproof_bounds import Bounds
from fairdesk.certify.proof.reproof_check import BY_COUNT, ROUNDING, Reproof
from fairdesk.certify.proof.reproof_counting import NetworkCounter

Float64 = NDArray[np.float64]
Numbers = NDArray[np.int64]

#: A region with at most so many points is asked of the model.
SMALL = 4_096
#: A share is proven as it is stated where so little is missing.
NEARLY = 1e-6
#: Of trees a region is divided into so many parts at most.
_MOST_PARTS = 512
#: Regions that are bounded at once.
_AT_ONCE = 256
#: Of points, ``(n, a)``, whether the model's decision is the favourable one, given a combination.
IsFavourable = Callable[[Places, int], NDArray[np.bool_]]


class Masses(Protocol):
    """How likely boxes are, given a combination of protected values."""

    def masses(self, low: Places, high: Places) -> Float64:
        """Return the masses of boxes, ``(B,)``."""
        ...


class RateModel(NamedTuple):
    """A model, as regions of rates are proven of it.

    Attributes
    ----------
    bounds : Bounds, optional
        What is certain of boxes; ``None`` where the model can only be queried.
    which : NDArray[np.int64]
        ``(V, C)``; of each combination of protected values, in each variant of the space, its place
        among those of ``bounds``.
    favourable : int
        The favourable decision.
    counters : sequence of NetworkCounter
        Of each combination who counts the people on either side of the margin; empty where that
        cannot be.
    above : bool
        Whether those above it get the favourable decision.
    variant : callable
        Returns the variants of points, ``(n, a)``: those of regions are of one each.
    """

    bounds: Bounds | None
    which: Numbers
    favourable: int
    counters: Sequence[NetworkCounter] = ()
    above: bool = True
    variant: Callable[[Places], Numbers] = lambda places: np.zeros(len(places), dtype=np.int64)


class RateReprover:
    """Proves regions of rates once more.

    Parameters
    ----------
    model : RateModel
        The model.
    is_favourable : callable
        Asks it.
    people : sequence of Masses
        Of each combination how likely boxes are.
    """

    def __init__(
        self, model: RateModel, is_favourable: IsFavourable, people: Sequence[Masses]
    ) -> None:
        self._model, self._is_favourable, self._people = model, is_favourable, people

    def prove(
        self, low: Places, high: Places, combination: Numbers, stated: Float64, until: float
    ) -> Reproof:
        """Prove which shares of regions are favourable and other; both as of `Reproof`.

        Parameters
        ----------
        low, high : Places
            ``(B, a)``.
        combination : NDArray[np.int64]
            ``(B,)``.
        stated : NDArray[np.float64]
            ``(B, 2)``; which shares of their mass are stated to be favourable, and other.
        until : float
            When to stop, on the clock of `time.perf_counter`.
        """
        proven, contradicted = np.zeros((len(low), 2)), np.zeros(len(low), dtype=np.int8)
        whole = np.zeros(len(low), dtype=np.bool_)
        for start in range(0, len(low), _AT_ONCE):
            if perf_counter() >= until:
                break
            some = slice(start, start + _AT_ONCE)
            sides, _ = self._bounded(low[some], high[some], combination[some])
            proven[some] = sides
            whole[some] = sides.any(axis=1)
        for b in np.flatnonzero(~whole).tolist():
            if perf_counter() >= until:
                break
            proven[b] = self._shares(low[b], high[b], int(combination[b]), stated[b], until)
        against = (proven > 1.0 - stated[:, ::-1] + ROUNDING).any(axis=1)
        for b in np.flatnonzero(against).tolist():
            found = self._is_favourable(low[b : b + 1], int(combination[b]))[0]
            if whole[b] and bool(found) != bool(proven[b, 0]):
                # where the model denies what was proven, nothing is
                proven[b] = 0.0
                continue
            contradicted[b] = BY_COUNT
        return Reproof(proven[:, 0], proven[:, 1], contradicted, low.copy())

    def _bounded(self, low: Places, high: Places, combination: Numbers) -> tuple[Float64, Float64]:
        """Return whether all of each box is favourable or other, ``(B, 2)``, and what matters."""
        model = self._model
        sides = np.zeros((len(low), 2))
        if model.bounds is None:
            return sides, np.zeros(low.shape)
        each, own = np.arange(len(low)), model.which[model.variant(low), combination]
        wanted = np.zeros((len(low), int(model.which.max()) + 1), dtype=np.bool_)
        wanted[each, own] = True
        found = model.bounds.decided(low, high, wanted)
        decision = found.decision[each, own]
        sides[:, 0] = decision == model.favourable
        sides[:, 1] = (decision >= 0) & (decision != model.favourable)
        return sides, found.matters

    def _shares(
        self, low: Numbers, high: Numbers, combination: int, stated: Float64, until: float
    ) -> Float64:
        """Return at least which shares of a box that bounds leave open are on either side."""
        if float((high - low + 1).astype(np.float64).prod()) <= SMALL:
            return self._asked(low, high, combination)
        if self._model.counters:
            return np.array(self._counted(low, high, combination, stated))
        if self._model.bounds is None:
            return np.zeros(2)
        return self._divided(low, high, combination, until)

    def _counted(
        self, low: Numbers, high: Numbers, combination: int, stated: Float64
    ) -> tuple[float, float]:
        """Count the people on either side of the margin."""
        model, counter = self._model, self._model.counters[combination]
        own = int(model.which[model.variant(low[None])[0], combination])
        # counts on a grid are less than the truth by what transforms can be off
        stated = stated - NEARLY
        if model.above:
            return counter.sides(low, high, own, stated)
        other, favourable = counter.sides(low, high, own, stated[::-1])
        return favourable, other

    def _asked(self, low: Numbers, high: Numbers, combination: int) -> Float64:
        """Query the model about every point, and add up the masses on either side."""
        ends = (high - low + 1).tolist()
        places = low + np.indices(ends).reshape(len(ends), -1).T
        masses = self._people[combination].masses(places, places)
        is_favourable = self._is_favourable(places, combination)
        sums = np.array([masses[is_favourable].sum(), masses[~is_favourable].sum()])
        whole = float(sums.sum())
        return sums / whole * (1.0 - 2.0**-40) if whole > 0.0 else np.zeros(2)

    def _divided(self, low: Numbers, high: Numbers, combination: int, until: float) -> Float64:
        """Divide a box until bounds decide its parts, and add up their masses."""
        people = self._people[combination]
        whole = float(people.masses(low[None], high[None])[0])
        proven = np.zeros(2)
        lows, highs, parts = low[None], high[None], 1
        while whole > 0.0 and len(lows) and perf_counter() < until:
            sides, matters = self._bounded(lows, highs, np.full(len(lows), combination))
            masses = people.masses(lows, highs)
            proven += masses @ sides
            few = (highs - lows + 1).astype(np.float64).prod(axis=1) <= SMALL
            is_open = ~sides.any(axis=1)
            for b in np.flatnonzero(is_open & few).tolist():
                proven += masses[b] * self._asked(lows[b], highs[b], combination)
            left = np.flatnonzero(is_open & ~few)
            parts += len(left)
            if parts > _MOST_PARTS:
                break
            lows, highs = _halved(lows[left], highs[left], matters[left])
        return np.minimum(proven / whole * (1.0 - 2.0**-40), 1.0) if whole > 0.0 else proven


def _halved(low: Places, high: Places, matters: Float64) -> tuple[Places, Places]:
    """Divide each box along the axis that matters most, and has more than one place."""
    each, wide = np.arange(len(low)), high > low
    axis = np.where(wide, matters, -1.0).argmax(axis=1)
    cut = (low[each, axis] + high[each, axis]) // 2
    upper, lower = high.copy(), low.copy()
    upper[each, axis], lower[each, axis] = cut, cut + 1
    return np.concatenate([low, lower]), np.concatenate([upper, high])
