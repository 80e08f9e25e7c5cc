"""How sums of axes' terms are spread over the people of a box, for checking a certificate.

As `fairdesk.certify.proof.reproof_counting.Points` adds up the axes, with the population's tree
instead of independent axes: what is below a node is a spectrum for each of its cells, and a parent
is told of each of its own cells the mean of these by the tree's probabilities.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.distribution import Weights
from fairdesk.certify.proof.certificate import Header
from fairdesk.certify.proof.reproof_counting import CELLS, Sums, Term, span_of
from fairdesk.certify.proof.verify.population import People

Float64 = NDArray[np.float64]
Complex128 = NDArray[np.complex128]
Numbers = NDArray[np.int64]

#: Along an axis with more places in a box people are not counted.
_MOST_PLACES = 1 << 20


class PeopleMeasure:
    """Measures boxes by a certificate's population; as `reproof_counting.Measure`.

    Parameters
    ----------
    header : Header
        Of a certificate with a population.
    """

    def __init__(self, header: Header) -> None:
        if header.population is None:
            raise ValueError("no population")
        self._people = People(header)
        self._nodes, self._axes = header.population.nodes, header.population.axes
        self._counts = [axis.count for axis in header.axes]
        place = {axis.attribute: i for i, axis in enumerate(header.axes)}
        self._axis = [place.get(node.attribute, -1) for node in self._nodes]
        self._tables = [np.array(node.table, dtype=np.float64) for node in self._nodes]

    def size(self, low: Numbers, high: Numbers) -> float:
        """Return the mass of a box; as `reproof_counting.Measure.size`."""
        return float(self._people.masses(low[None], high[None])[0])

    def summed(self, terms: list[Term], low: Numbers, high: Numbers) -> Sums | None:
        """Add up what axes add to forms; as `reproof_counting.Measure.summed`."""
        if (high - low >= _MOST_PLACES).any():
            return None
        span = span_of(terms)
        whole = np.ones((1, CELLS // 2 + 1), dtype=np.complex128)
        said: list[Complex128] = [whole] * len(self._nodes)
        for n in range(len(self._nodes) - 1, -1, -1):
            own = np.ones((self._tables[n].shape[1], 1, CELLS // 2 + 1), dtype=np.complex128)
            if (i := self._axis[n]) >= 0:
                values = _values(terms[i]) - span.least[:, i]
                at = np.rint(values / span.step).astype(np.int64)
                own = self._spectra(i, len(own), at, int(low[i]), int(high[i]))
            for child in range(n + 1, len(self._nodes)):
                if self._nodes[child].parent == n:
                    own = own * said[child]
            told = np.tensordot(self._tables[n], own, axes=1)
            # a spectrum is as precise as what there is of its cell: this only keeps them in range
            largest = float(told[..., 0].real.max())
            if not largest > 0.0:
                return None
            said[n] = told / largest
            if self._nodes[n].parent < 0:
                whole = whole * said[n][0]
        total = whole[:, :1].real
        share = np.fft.irfft(np.broadcast_to(whole, (len(span.step), whole.shape[1])), CELLS)
        return Sums(share / total, span.least.sum(axis=1), span.step, span.off)

    def _spectra(self, i: int, cells: int, at: Numbers, low: int, high: int) -> Complex128:
        """Transform how the places of an axis are distributed on the grid, of each cell."""
        own, count = self._axes[i], self._counts[i]
        starts = np.array(own.starts)
        cell = np.array(own.cells)[
            np.searchsorted(starts, np.arange(low, high + 1), side="right") - 1
        ]
        # what a place weighs, of all that its cell does
        run_ends = np.append(starts[1:], count)
        totals = np.zeros(cells)
        np.add.at(totals, list(own.cells), _weights(own, starts, run_ends))
        weight = _weights(own, np.arange(low, high + 1), np.arange(low, high + 1) + 1)
        share = weight / np.where(totals > 0.0, totals, 1.0)[cell]
        forms = at.shape[1]
        spread = np.zeros((cells, forms, CELLS))
        np.add.at(spread, (cell[:, None], np.arange(forms)[None], at), share[:, None])
        return np.asarray(np.fft.rfft(spread, axis=2))


def _values(term: Term) -> Float64:
    """Return what an axis adds to forms at each place of the box, ``(n, R)``."""
    if isinstance(term, tuple):
        return np.asarray(np.arange(term[1], term[2] + 1)[:, None] * term[0])
    return term


def _weights(own: Weights, start: Numbers, end: Numbers) -> Float64:
    """Return what the places from each start to before its end weigh."""
    places, before = np.array(own.places, dtype=np.int64), np.cumsum([0, *own.more])
    more = before[np.searchsorted(places, end)] - before[np.searchsorted(places, start)]
    return np.asarray(own.each * (end - start) + more, dtype=np.float64)
