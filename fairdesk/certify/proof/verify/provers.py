"""What proves boxes of a certificate once more, with its model and the people that it speaks of.

Only a process that holds a model loads this. How sums of axes' terms are spread over the people of
a box: as `fairdesk.certify.proof.reproof_counting.Points` adds up the axes, with the population's
tree instead of independent axes. What is below a node is a spectrum for each of its cells, and a
parent is told of each of its own cells the mean of these by the tree's probabilities.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.space import Axis, Space
from fairdesk.certify.proof.certificate import Arrays, Header, Points
from fairdesk.certify.proof.reproof import RatedPeople, reprover
from fairdesk.certify.proof.reproof_check import Reprove
from fairdesk.certify.proof.reproof_counting import CELLS, Span, Sums, Term, span_of
from fairdesk.certify.proof.verify.population import People
from fairdesk.models.inputs.feeding import FedModel

Float64 = NDArray[np.float64]
Complex128 = NDArray[np.complex128]
Numbers = NDArray[np.int64]

#: Along an axis with more places in a box people are not counted.
_MOST_PLACES = 1 << 20
#: So many numbers are written down at once: of places and forms; of cells, forms and the grid.
_MOST_VALUES, _MOST_CELLS = 1 << 22, 1 << 23


class PeopleMeasure:
    """Measures boxes by a certificate's population; as `reproof_counting.Measure`.

    Parameters
    ----------
    people : People
        Who is measured.
    """

    def __init__(self, people: People) -> None:
        self._people = people

    def size(self, low: Numbers, high: Numbers) -> float:
        """Return the mass of a box; as `reproof_counting.Measure.size`."""
        return float(self._people.masses(low[None], high[None])[0])

    def summed(self, terms: list[Term], low: Numbers, high: Numbers) -> Sums | None:
        """Add up what axes add to forms; as `reproof_counting.Measure.summed`.

        Some forms at a time, so that memory does not grow with their number.
        """
        at_once = _MOST_CELLS // (CELLS * max(len(table[0]) for table in self._people.tables))
        if (high - low >= _MOST_PLACES).any() or not at_once:
            return None
        span, shares = span_of(terms), []
        for first in range(0, len(span.step), at_once):
            some = slice(first, first + at_once)
            share = self._distributed([_of_forms(term, some) for term in terms], low, high)
            if share is None:
                return None
            shares.append(share)
        return Sums(np.concatenate(shares), span.least.sum(axis=1), span.step, span.off)

    def _distributed(self, terms: list[Term], low: Numbers, high: Numbers) -> Float64 | None:
        """Return which shares of a box's people each cell of the grid has, ``(R, cells)``."""
        people, span = self._people, span_of(terms)
        # what the children of each node say together; of no node, what the roots do
        said: dict[int, Complex128] = {}
        for n in range(len(people.nodes) - 1, -1, -1):
            cells, parent = people.tables[n].shape[1], people.nodes[n].parent
            own = np.ones((cells, 1, CELLS // 2 + 1), dtype=np.complex128)
            if (i := people.axis[n]) >= 0:
                own = self._spectra(i, cells, terms[i], span, int(low[i]), int(high[i]))
            elif n in people.shares_given:
                own = own * people.shares_given[n][:, None, None]
            if n in said:
                own = own * said.pop(n)
            told = np.tensordot(people.tables[n], own, axes=1)
            # a spectrum is as precise as what there is of its cell: this only keeps them in range
            largest = float(told[..., 0].real.max())
            if not largest > 0.0:
                return None
            told /= largest
            said[parent] = said[parent] * told if parent in said else told
        whole = said[-1][0]
        total = whole[:, :1].real
        share = np.fft.irfft(np.broadcast_to(whole, (len(span.step), whole.shape[1])), CELLS)
        return np.asarray(share / total)

    def _spectra(
        self, i: int, cells: int, term: Term, span: Span, low: int, high: int
    ) -> Complex128:
        """Transform how the places of an axis are distributed on the grid, of each cell.

        Some places at a time, so that memory does not grow with their number.
        """
        own, forms = self._people.weights[i], len(span.step)
        # what a place weighs, of all that its cell does
        totals = np.zeros(cells)
        np.add.at(totals, own.cells, own.between(own.starts, own.ends))
        spread = np.zeros((cells, forms, CELLS))
        at_once = max(_MOST_VALUES // forms, 1)
        for first in range(low, high + 1, at_once):
            places = np.arange(first, min(first + at_once, high + 1))
            at = np.rint((_values(term, places, low) - span.least[:, i]) / span.step)
            cell = own.cells[np.searchsorted(own.starts, places, side="right") - 1]
            share = own.between(places, places + 1) / np.where(totals > 0.0, totals, 1.0)[cell]
            which = cell[:, None], np.arange(forms)[None], at.astype(np.int64)
            np.add.at(spread, which, share[:, None])
        return np.asarray(np.fft.rfft(spread, axis=2))


def _of_forms(term: Term, some: slice) -> Term:
    """Return what an axis adds to some of the forms."""
    return (term[0][some], *term[1:]) if isinstance(term, tuple) else term[:, some]


def _values(term: Term, places: Numbers, low: int) -> Float64:
    """Return what an axis adds to forms at places of a box that begins at ``low``, ``(n, R)``."""
    if isinstance(term, tuple):
        return np.asarray(places[:, None] * term[0])
    return np.asarray(term[places - low])


def reproving(header: Header, arrays: Arrays, fed: FedModel) -> Reprove:
    """Make what proves boxes of a certificate once more.

    Parameters
    ----------
    header : Header
        Of the certificate.
    arrays : mapping
        Its roots are enough.
    fed : FedModel
        The model, fed as the header says.
    """
    points, measure, rated = Points(header, fed.predict), None, None
    if header.population is not None:
        people = People(header)
        measure = PeopleMeasure(people)
        if header.rates:
            combinations = range(len(header.domain.combinations))
            each = [people.with_values(v) for v in combinations]
            rated = RatedPeople(points.is_favourable, each, [PeopleMeasure(own) for own in each])
    return reprover(_space(header, arrays), fed, points.rows, points.differ, measure, rated)


def _space(header: Header, arrays: Arrays) -> Space:
    """Lay the space out that a certificate speaks of."""
    domain = header.domain
    axes = tuple(
        Axis(
            domain.names.index(axis.attribute),
            axis.count,
            np.array(axis.codes),
            axis.low,
            axis.spacing,
            axis.grid,
        )
        for axis in header.axes
    )
    low, high = (arrays[name].astype(np.int64) for name in ("root_low", "root_high"))
    settled = domain.low.copy()
    settled[domain.protected] = domain.combinations[0]
    unclear = np.zeros(len(low), dtype=np.bool_)
    unclear[list(header.unclear)] = True
    return Space(
        domain,
        axes,
        low,
        high,
        np.array(header.groups, dtype=np.intp),
        np.array(header.may_be, dtype=np.bool_),
        unclear,
        settled,
    )
