"""Counting what a network or a linear model decides in a box, for checking a certificate.

A linear model is a network of one layer. Layers are bounded backward, as in
`fairdesk.certify.proof.reproof_bounds`, all combinations of protected values at once. What becomes
of that is a linear form below the margin and one below it with the other sign, and how these are
distributed over the box is a convolution of the axes' terms
on a grid. Lines above a ReLU may be drawn for a part of its range: then the share of the points of
which some sum may lie outside is taken off. It is read off the same kind of convolution, each unit
on its own. A box of which too little is proven so is divided, and its parts are counted. What makes
certificates sorts sums of halves instead, where the model is linear.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.encoded import Margins
from fairdesk.certify.proof.reproof_bounds import lines_of
from fairdesk.certify.proof.reproof_inputs import Inputs
from fairdesk.models.structure import Layer, Layers

Float64 = NDArray[np.float64]
Numbers = NDArray[np.int64]

#: What an axis adds to forms: listed numbers, ``(n, R)``, or slopes and two places.
Term = Float64 | tuple[Float64, int, int]

#: Cells of the grid; of that for the one sum of a linear model.
CELLS, _CELLS_OF_ONE = 1 << 11, 1 << 15
#: What sums of shares that transforms make can be off by, in all.
_OFF = 1e-9
#: Shares that may be excluded on either side of a range.
_EXCLUDED = (1e-4, 5e-4, 2e-3, 6e-3, 1.5e-2, 4e-2, 8e-2)
#: A box is counted in so many parts at most.
_MOST_PARTS = 32
#: Greater numbers may overflow in single precision.
_LARGEST = 2.0**120
#: What part of the distance between two forms goes, about, when ranges are truncated.
_GOES = 0.6


class Sums(NamedTuple):
    """How ``R`` linear forms are distributed over a box.

    Attributes
    ----------
    share : NDArray[np.float64]
        ``(R, cells)``; up to `_OFF` in all sums.
    first, step, off : NDArray[np.float64]
        ``(R,)``; what is in cell ``k`` lies within ``off`` of ``first + k * step``.
    """

    share: Float64
    first: Float64
    step: Float64
    off: Float64

    def above(self, limit: Float64) -> Float64:
        """Return at least which share of the points each form puts above a limit, ``(R,)``."""
        cells = self.step[:, None] * np.arange(self.share.shape[1])
        cells += (self.first - self.off)[:, None]
        share = np.where(cells > limit[:, None], self.share, 0.0).sum(axis=1)
        return np.asarray(np.clip(share - _OFF, 0.0, 1.0))

    def mean(self) -> Float64:
        """Return the mean of each form, about."""
        return np.asarray(self.first + self.step * (self.share @ np.arange(self.share.shape[1])))


class _Row(NamedTuple):
    """A layer's units in a box: lines below and above their answers, and what these can be.

    ``middle`` and ``half`` say where the answers are, ``largest`` is the greatest of their
    absolutes, and ``excluded`` the share of the points of which a sum may be elsewhere.
    """

    below: Float64
    below_at: Float64
    above: Float64
    above_at: Float64
    middle: Float64
    half: Float64
    largest: Float64
    excluded: Float64


class _Pass(NamedTuple):
    """What one way through the layers gives.

    Attributes
    ----------
    rows : list[_Row]
        Of all layers but the last.
    sums : Sums
        Of the form below the margin, and of the one below it with the other sign.
    constant : NDArray[np.float64]
        ``(2, V)``; what is added to them under each combination.
    pulls : list[NDArray[np.float64]]
        Of each layer but the last ``(2, units)``: what the two forms take of its answers.
    spread : NDArray[np.float64]
        ``(a,)``; how far the forms can move along each axis.
    """

    rows: list[_Row]
    sums: Sums
    constant: Float64
    pulls: list[Float64]
    spread: Float64


class Measure(Protocol):
    """What boxes are measured by: by their points, or by the people in them."""

    def size(self, low: Numbers, high: Numbers) -> float:
        """Return how large a box is, ``(a,)`` each end."""
        ...

    def summed(self, terms: list[Term], low: Numbers, high: Numbers) -> Sums | None:
        """Return how sums of axes' terms are distributed; ``None`` where that is not known."""
        ...


class Points:
    """Every point is as large as any other; sums are put on a grid of so many cells."""

    def __init__(self, cells: int = CELLS) -> None:
        self._cells = cells

    def size(self, low: Numbers, high: Numbers) -> float:
        """Count the points of a box; as `Measure.size`."""
        return float(np.prod((high - low + 1).astype(np.float64)))

    def summed(self, terms: list[Term], low: Numbers, high: Numbers) -> Sums:  # noqa: ARG002
        """Convolve what axes add to forms; as `Measure.summed`."""
        span, count_of_cells = span_of(terms, self._cells), self._cells
        transform = np.ones((len(span.step), count_of_cells // 2 + 1), dtype=np.complex128)
        for i, term in enumerate(terms):
            cells = np.zeros((len(span.step), count_of_cells))
            if isinstance(term, tuple):
                count = term[2] - term[1] + 1
                # how many places are not beyond the middle between a cell and the next
                by = np.maximum(span.spread[:, i] / max(count - 1, 1), 1e-300)
                upto = np.floor((np.arange(count_of_cells) + 0.5) * (span.step / by)[:, None]) + 1.0
                upto = np.minimum(upto, count)
                upto[:, -1] = count
                cells = np.diff(upto, axis=1, prepend=0.0) / count
            else:
                at = np.rint((term - span.least[:, i]) / span.step).astype(np.int64)
                np.add.at(cells, (np.arange(len(span.step))[None], at), 1.0 / len(term))
            transform *= np.fft.rfft(cells, axis=1)
        share = np.fft.irfft(transform, count_of_cells, axis=1)
        return Sums(share, span.least.sum(axis=1), span.step, span.off)


class NetworkCounter:
    """Counts points of boxes; parameters as of `reproof_bounds.LayerBounds`, with one margin.

    And ``measure``, by default `Points`: what is counted.
    """

    def __init__(
        self, body: Layers, inputs: Inputs, margins: Margins, measure: Measure | None = None
    ) -> None:
        points = Points(CELLS if len(body.layers) > 1 else _CELLS_OF_ONE)
        self._measure: Measure = measure or points
        self._body, self._inputs, self._margins = body, inputs, margins
        single = body.precision is np.float32
        self._unit, self._tiny = (2.0**-24, 2.0**-126) if single else (2.0**-53, 2.0**-1022)
        self._limit = margins.close + 2.0**-40 * (1.0 + abs(float(margins.offset[0])))

    def shares(
        self, low: Numbers, high: Numbers, members: Numbers, stated: Float64
    ) -> tuple[float, float]:
        """Return at least which shares of a box are consistent, and discriminatory.

        Parameters
        ----------
        low, high : NDArray[np.int64]
            ``(a,)``; its ends, both included.
        members : NDArray[np.int64]
            Which combinations are compared.
        stated : NDArray[np.float64]
            ``(2,)``; the box is divided until so much is proven, or it has too many parts.
        """
        if len(members) <= 1:
            return 1.0, 0.0
        return self._shares(low, high, members, stated, sides=False)

    def sides(
        self, low: Numbers, high: Numbers, member: int, stated: Float64
    ) -> tuple[float, float]:
        """Return at least which shares of a box have their margin above 0, and below it.

        Parameters
        ----------
        low, high, stated
            As of `shares`.
        member : int
            Which combination they have.
        """
        return self._shares(low, high, np.array([member]), stated, sides=True)

    def _shares(
        self, low: Numbers, high: Numbers, members: Numbers, stated: Float64, *, sides: bool
    ) -> tuple[float, float]:
        """Count a box, and its parts as long as too little is proven."""
        size = self._measure.size(low, high)
        if not size > 0.0:
            return 0.0, 0.0
        parts = [(1.0, low, high, *self._part(low, high, members, sides=sides))]
        while True:
            shares = np.array([part[3] for part in parts])
            own = np.array([part[0] for part in parts])
            proven = own @ shares
            left = own * (1.0 - shares.sum(axis=1))
            wide = np.array([bool((part[2] > part[1]).any()) for part in parts])
            most = int(np.where(wide, left, -1.0).argmax())
            if (proven >= stated).all() or len(parts) >= _MOST_PARTS or not wide[most]:
                return float(proven[0]), float(proven[1])
            _, first, last, _, spread = parts.pop(most)
            axis = int(np.where(last > first, spread, -1.0).argmax())
            cut = (first[axis] + last[axis]) // 2
            upper, lower = last.copy(), first.copy()
            upper[axis], lower[axis] = cut, cut + 1
            for a, b in ((first, upper), (lower, last)):
                share = self._measure.size(a, b) / size
                parts.append((share, a, b, *self._part(a, b, members, sides=sides)))

    def _part(
        self, low: Numbers, high: Numbers, members: Numbers, *, sides: bool
    ) -> tuple[Float64, Float64]:
        """Count one box: its two shares, and how far its forms move along each axis."""
        plain = self._through(low, high, members, None)
        if plain is None:
            return np.zeros(2), (high - low).astype(np.float64)
        best = self._counted(plain, sides=sides)
        if best.sum() < 1.0 and plain.rows:
            again = self._through(low, high, members, plain)
            if again is not None:
                best = np.maximum(best, self._counted(again, sides=sides))
        # both are true of disjoint sets: only rounding can make them more than everything
        return best / max(1.0, best.sum()), plain.spread

    def _counted(self, found: _Pass, *, sides: bool) -> Float64:
        """Return the consistent and the discriminatory share, less what is excluded.

        Of the ``sides`` those for whom the margin is above 0 under all members, and below it.
        """
        every, some = found.constant.min(axis=1), found.constant.max(axis=1)
        always = found.sums.above(self._limit - every)
        once = found.sums.above(self._limit - some)
        taken, everything = np.zeros(2), 0.0
        for k, row in enumerate(found.rows):
            everything += float(row.excluded.sum())
            for p in range(2):
                used = found.pulls[k][p] < 0.0 if k == len(found.rows) - 1 else row.excluded > 0.0
                taken[p] += float(row.excluded[used].sum())
        certain = np.maximum(always - taken, 0.0)
        if sides:
            return np.asarray(certain)
        consistent = certain.sum()
        # who is for some of them above 0 and for some below: all but who is one of these for none
        discriminatory = once.sum() - 1.0 - everything
        return np.array([min(float(consistent), 1.0), max(float(discriminatory), 0.0)])

    def _through(
        self, low: Numbers, high: Numbers, members: Numbers, before: _Pass | None
    ) -> _Pass | None:
        """Go through the layers; ranges are truncated if they were gone through before."""
        least, most, gaps = (each[0] for each in self._inputs.ends(low[None], high[None]))
        own = self._inputs.combinations[members]
        least, most = least + own.min(axis=0), most + own.max(axis=0)
        if gaps.any():
            return None
        largest = np.maximum(np.abs(least), np.abs(most))
        rows: list[_Row] = []
        off: list[Float64] = []
        layers = self._body.layers
        prices = self._prices(before) if before is not None else []
        for k, layer in enumerate(layers):
            size = largest @ np.abs(layer.weights) + np.abs(layer.bias)
            if before is not None and k and k == len(layers) - 1:
                # the last sum rounds wherever units before it are
                size = before.rows[-1].largest @ np.abs(layer.weights) + np.abs(layer.bias)
            off.append(self._rounding(layer, size, first=not k))
            if not (np.isfinite(off[-1]).all() and (size < _LARGEST).all()):
                return None
            if k == len(layers) - 1:
                break
            units = len(layer.bias)
            forms = np.concatenate([np.eye(units), -np.eye(units)])
            back = self._back(forms, k, rows, off, (low, high, members))
            if back is None:
                return None
            sums, constant, _, _ = back
            lows = constant.min(axis=1) + sums.first - sums.off
            first, last = lows[:units], -lows[units:]
            if k:
                # never wider than what plain intervals say, where these are numbers
                centre = rows[-1].middle @ layer.weights + layer.bias
                around = rows[-1].half @ np.abs(layer.weights) + off[-1]
                first, last = np.fmax(first, centre - around), np.fmin(last, centre + around)
            last = np.maximum(first, last)
            excluded, means = np.zeros(units), 0.5 * (first + last)
            if before is not None and _is_plain(layer):
                first, last, excluded, means = _truncated(
                    sums, constant.min(axis=1), (first, last), prices[k]
                )
            rows.append(_row(layer, first, last, excluded, means if before is not None else None))
            largest = rows[-1].largest
        forms = np.stack([self._margins.weights[:, 0], -self._margins.weights[:, 0]])
        back = self._back(forms, len(layers) - 1, rows, off, (low, high, members))
        if back is None:
            return None
        sums, constant, pulls, spread = back
        constant = constant + np.array([[-1.0], [1.0]]) * self._margins.offset[0]
        return _Pass(rows, sums, constant, pulls, spread)

    def _rounding(self, layer: Layer, size: Float64, *, first: bool) -> Float64:
        """Bound how far a layer's sums, as the model and as this computes them, can be off."""
        terms = len(layer.weights) + 2
        gamma = terms * self._unit / (1 - terms * self._unit)
        own = (len(layer.weights) + len(layer.bias) + 128) * 2.0**-52
        off = (gamma + own) * size + terms * self._tiny
        if first:
            off = off + 1.01 * self._body.roundings * self._unit * size
        return np.asarray(off)

    def _back(
        self,
        forms: Float64,
        layer: int,
        rows: list[_Row],
        off: list[Float64],
        box: tuple[Numbers, Numbers, Numbers],
    ) -> tuple[Sums, Float64, list[Float64], Float64] | None:
        """Take forms, ``(R, units)``, of a layer's sums back to the inputs.

        Gives how they are distributed, constants under each combination, what they take of the
        answers of each layer on the way, and how far they can move along each axis.
        """
        low, high, members = box
        constant = np.zeros(len(forms))
        pulls: list[Float64] = []
        for k in range(layer, -1, -1):
            own = self._body.layers[k]
            constant = constant + forms @ own.bias - np.abs(forms) @ off[k]
            forms = forms @ own.weights.T
            if k:
                row = rows[k - 1]
                pulls.insert(0, forms)
                up, down = np.maximum(forms, 0.0), np.minimum(forms, 0.0)
                constant = constant + up @ row.below_at + down @ row.above_at
                forms = up * row.below + down * row.above
        terms: list[Term] = []
        for i, own_axis in enumerate(self._inputs.axes):
            part = forms[:, own_axis.columns]
            if len(own_axis.table):
                terms.append(own_axis.table[low[i] : high[i] + 1] @ part.T)
                continue
            constant = constant + part @ own_axis.start - np.abs(part) @ own_axis.off
            terms.append((part @ own_axis.slope, int(low[i]), int(high[i])))
        added = forms @ self._inputs.combinations[members].T
        sums = self._measure.summed(terms, low, high)
        if sums is None:
            return None
        return sums, constant[:, None] + added, pulls, span_of(terms).spread.max(axis=0)

    def _prices(self, before: _Pass) -> list[tuple[Float64, Float64]]:
        """Guess of each layer's units what a distance to the line above costs.

        And how often what is excluded is taken off. Nothing is proven by that.
        """
        means = before.sums.mean() + before.constant.min(axis=1)
        half = max(-0.5 * float(means.sum()), 1e-300)
        limit = -before.constant.min(axis=1)
        decided = before.sums.above(limit)
        could = before.sums.above(limit - _GOES * half)
        per = np.maximum(could - decided, 0.0) / (_GOES * half)
        prices = []
        for k, pulls in enumerate(before.pulls):
            cost = per @ np.maximum(-pulls, 0.0)
            used = (pulls < 0.0) | (k < len(before.pulls) - 1)
            prices.append((cost, np.minimum(could / 0.01, 1.0) @ used))
        return prices


def _is_plain(layer: Layer) -> bool:
    """Return whether a layer's activation is a ReLU without a ceiling."""
    return layer.activation.name == "relu" and math.isinf(layer.activation.ceiling)


def _row(
    layer: Layer, low: Float64, high: Float64, excluded: Float64, means: Float64 | None
) -> _Row:
    """Draw the lines of a layer's units."""
    lines = lines_of(layer.activation, low[None], high[None])
    below = lines.below[0]
    if means is not None and _is_plain(layer):
        # a line of slope 0 and one of slope 1 are both below, everywhere
        below = np.where((low < 0.0) & (high > 0.0), (means > 0.0).astype(np.float64), below)
    least, most = lines.least[0], lines.most[0]
    return _Row(
        *(below, lines.below_at[0], lines.above[0], lines.above_at[0]),
        *(0.5 * (least + most), 0.5 * (most - least)),
        np.maximum(np.abs(least), np.abs(most)),
        excluded,
    )


def _truncated(
    sums: Sums, constant: Float64, ends: tuple[Float64, Float64], price: tuple[Float64, Float64]
) -> tuple[Float64, Float64, Float64, Float64]:
    """Choose ranges of units of which forms on both sides are distributed as told.

    Gives their ends, which share of the points is excluded by each at most, and their means.
    """
    low, high = ends[0].copy(), ends[1].copy()
    units = len(low)
    # no more than this is below a limit that is so many cells up
    until = np.concatenate(
        [np.zeros((2 * units, 1)), np.cumsum(np.maximum(sums.share, 0.0), axis=1)], axis=1
    )
    bottom = sums.first - sums.off + constant
    means = sums.mean() + constant
    mean = 0.5 * (means[:units] - means[units:])
    excluded = np.zeros(units)
    cost, taken = price
    for u in np.flatnonzero((low < 0.0) & (high > 0.0) & (cost > 0.0)).tolist():
        sides = []
        for row, end in ((u, low[u]), (units + u, -high[u])):
            choices = [(end, 0.0)]
            for share in _EXCLUDED:
                cell = int(np.searchsorted(until[row], share, "right")) - 1
                limit = bottom[row] + sums.step[row] * cell
                if end < limit < 0.0:
                    choices.append((limit, float(until[row, cell]) + _OFF))
            # nothing is on this side of 0 any more
            cell = int(np.floor(-bottom[row] / sums.step[row])) + 1 if sums.step[row] > 0 else 0
            if 0 <= cell <= CELLS and bottom[row] + sums.step[row] * cell >= 0.0:
                choices.append((0.0, float(until[row, cell]) + _OFF))
            sides.append(choices)
        best = (math.inf, low[u], high[u], 0.0)
        for first, lost in sides[0]:
            for negative, more in sides[1]:
                last = -negative
                if first >= 0.0 and last <= 0.0:
                    continue
                over = max(mean[u], 0.0) if first >= 0.0 else 0.0
                if first < 0.0 < last:
                    over = last * (mean[u] - first) / (last - first)
                value = taken[u] * (lost + more) + cost[u] * max(over, 0.0)
                if value < best[0]:
                    best = (value, first, last, lost + more)
        low[u], high[u], excluded[u] = best[1], best[2], best[3]
    return low, high, excluded, mean


class Span(NamedTuple):
    """Where sums of axes' terms can be, and the grid that they are put on.

    Attributes
    ----------
    least, spread : NDArray[np.float64]
        ``(R, a)``; the least that an axis adds to each form, and how much more it can add.
    step, off : NDArray[np.float64]
        ``(R,)``; of the grid, and how far from it sums may be.
    """

    least: Float64
    spread: Float64
    step: Float64
    off: Float64


def span_of(terms: list[Term], cells: int = CELLS) -> Span:
    """Return where sums of terms can be, and a grid of so many cells for them."""
    ends = []
    for term in terms:
        if isinstance(term, tuple):
            ends.append(np.stack([term[0] * term[1], term[0] * term[2]]))
        else:
            ends.append(np.stack([term.min(axis=0), term.max(axis=0)]))
    both = np.stack(ends, axis=-1)
    least, spread = both.min(axis=0), np.ptp(both, axis=0)
    size = np.abs(both).max(axis=0).sum(axis=1)
    step = np.maximum(spread.sum(axis=1), 1e-290) / (cells - 2 * len(terms) - 2)
    # each axis is off by half a cell, and a place at the edge of a cell may be in the one beside
    off = step * (0.5 * len(terms) + 1.0) + size * (len(terms) + 64) * 2.0**-52
    return Span(least, spread, step, off)
