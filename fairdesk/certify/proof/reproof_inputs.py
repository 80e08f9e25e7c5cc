"""What a model is given in a box, for checking a certificate: learned by feeding it rows.

Every place is written as a row and sent through the mapping and the model's own preparation, as a
row of the data is. A number that the body is given is the sum of what the combination of protected
values gives and of what one axis gives: a table of combinations, and one for each axis. No number
here comes from what makes certificates (`fairdesk.certify.domain.columns`, `encoded`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.encoded import Margins
from fairdesk.certify.domain.space import Places, Space, tied
from fairdesk.errors import SpecError
from fairdesk.models.decisions.rule import VALUES
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import How
from fairdesk.models.structure import Forest, Layers, ModelStructure
from fairdesk.results.events import Rows

Float64 = NDArray[np.float64]
Numbers = NDArray[np.int64]

#: Of points, ``(n, a)``, rows from which the domain makes their members, ``(n, d)``.
RowsOf = Callable[[Places], Rows]
#: Places of an axis without a list at which it is fed.
_SAMPLED = 4_097
#: Points of which it is tried whether the tables say what the model is given, and decides.
TRIED = 1_024
#: The combined columns of an axis with more values are bounded one by one.
_MOST_VALUES = 256


class AxisTable(NamedTuple):
    """What one axis gives to the columns that depend on it.

    Attributes
    ----------
    columns : NDArray[np.intp]
        ``(c,)``; which.
    table : NDArray[np.float64]
        ``(count, c)``; at every place. Empty where there are too many.
    start, slope, off : NDArray[np.float64]
        ``(c,)``; then it is within ``off`` of ``start + slope * place``.
    """

    columns: NDArray[np.intp]
    table: Float64
    start: Float64
    slope: Float64
    off: Float64


class Inputs:
    """The numbers that a body is given.

    Attributes
    ----------
    combinations : NDArray[np.float64]
        ``(U, m)``; what different combinations of protected values give to all columns.
    which : NDArray[np.int64]
        ``(V, C)``; of each combination, in each variant (see `variant`), its place among these.
    axes : list[AxisTable]
        What each axis adds to that.

    Raises
    ------
    SpecError
        When a number depends on several attributes together, or on one in a way that cannot be
        written down, or when it is not a number.
    """

    def __init__(
        self, space: Space, anatomy: ModelStructure, fed: FedModel, rows_of: RowsOf
    ) -> None:
        self._domain, self._rows_of = space.domain, rows_of
        self._anatomy, self._fed = anatomy, fed
        names = [space.domain.names[axis.position] for axis in space.axes]
        self._tied = [
            np.flatnonzero(tied(space.domain, name, tuple(axis.codes.tolist())))
            for name, axis in zip(names, space.axes, strict=True)
        ]
        counts = [axis.count for axis in space.axes]
        untied = [
            int(np.setdiff1d(np.arange(len(ties) + 1), ties)[0]) % count
            for ties, count in zip(self._tied, counts, strict=True)
        ]
        base = np.array(untied, dtype=np.int64).reshape(1, -1)
        tuples = list(itertools.product(*([-1, *ties.tolist()] for ties in self._tied)))
        variants = np.array(tuples, dtype=np.int64).reshape(len(tuples), len(counts))
        points = rows_of(np.where(variants < 0, base, variants))
        similar = space.domain.similar(points)
        fixed = self._given(similar.reshape(-1, similar.shape[2])).reshape(*similar.shape[:2], -1)
        self.count = fixed.shape[2]
        self._refuse_mixed(names)
        self.axes = []
        owned = np.zeros(self.count, dtype=np.bool_)
        for i, axis in enumerate(space.axes):
            places = np.arange(axis.count)
            if not axis.listed:
                places = np.unique(np.linspace(0, axis.count - 1, _SAMPLED).astype(np.int64))
            at = np.repeat(base, len(places), axis=0)
            at[:, i] = places
            numbers = self._given(rows_of(at))
            free = ~np.isin(places, self._tied[i])
            own = np.flatnonzero(_varies(numbers[free]))
            plain = fixed[variants[:, i] < 0].reshape(-1, self.count)[:, own]
            if owned[own].any() or _varies(plain).any():
                raise _mixed()
            owned[own] = True
            # a tied place's number is the combination's alone, and any other place's is the axis'
            numbers = np.where(free[:, None], numbers[:, own], 0.0)
            fixed[np.ix_(variants[:, i] < 0, np.arange(similar.shape[1]), own)] = 0.0
            if axis.listed:
                none = np.zeros(len(own))
                self.axes.append(AxisTable(own, numbers, none, none, none))
                continue
            ends = axis.code(np.array([0, axis.count - 1]))
            self.axes.append(self._line(own, places, numbers, ends))
        flat = fixed.reshape(-1, self.count)
        self.combinations, which = np.unique(flat, axis=0, return_inverse=True)
        self.which = which.reshape(fixed.shape[:2])
        self._monotone = [
            bool(((steps >= 0).all(axis=0) | (steps <= 0).all(axis=0)).all())
            for steps in (np.diff(own.table, axis=0) for own in self.axes)
        ]
        self._try(space)

    def _given(self, rows: Rows) -> Float64:
        """Feed rows: what the body is given, in its precision."""
        body = self._anatomy.body
        if isinstance(body, Layers):
            # what follows from nothing that is known is never compared: any value serves
            rows = np.where(np.isnan(rows), self._domain.low, rows)
        numbers = self._anatomy.prepare(self._fed.columns(rows)).astype(np.float64)
        if isinstance(body, Layers):
            numbers = numbers.astype(body.precision).astype(np.float64)
        allowed = np.isfinite(numbers) | (np.isnan(numbers) & isinstance(body, Forest))
        if not allowed.all():
            raise SpecError(
                "Regions cannot be re-proved: some values give the model an input that is not a "
                "number."
            )
        return numbers

    def _refuse_mixed(self, axes: list[str]) -> None:
        """Refuse a column that is made of attributes of several axes, or of one and others."""
        by = {each.attribute: each.by for each in self._domain.determined}
        inputs = self._fed.mapping.inputs
        for made_of in self._anatomy.sources:
            roots = set()
            for item in (inputs[i] for i in made_of):
                name = item.attribute
                while name in by:
                    name = by[name]
                if item.how is not How.CONSTANT:
                    roots.add(name if name in axes else "")
            if len(roots) > 1:
                raise _mixed()

    def _line(
        self, own: NDArray[np.intp], places: Numbers, numbers: Float64, ends: Float64
    ) -> AxisTable:
        """Write the numbers of an axis without a list as a line."""
        if not all(self._anatomy.smooth[column] for column in own):
            raise _mixed()
        start, slope = numbers[0], (numbers[-1] - numbers[0]) / places[-1]
        off = np.abs(start + places[:, None] * slope - numbers).max(axis=0)
        # numbers may be rounded before a constant is taken off
        steps = np.abs(ends).max() * places[-1] / max(float(np.ptp(ends)), 1e-300)
        size = np.abs(numbers).max(axis=0, initial=0.0) + np.abs(slope) * steps
        body = self._anatomy.body
        unit = 2.0**-23 if isinstance(body, Layers) and body.precision is np.float32 else 2.0**-52
        off = 2.0 * np.maximum(off + 2.0**-44 * size, unit * size)
        return AxisTable(own, numbers[:0], start, slope, off)

    def _try(self, space: Space) -> None:
        """Feed points of all roots, and refuse tables that say something else."""
        places, combination, rows = self.drawn(space)
        told = self.combinations[self.which[self.variant(places), combination]]
        least, most, gaps = self.ends(places, places)
        real = self._given(rows)
        missing = np.isnan(real)
        agree = (told + least <= real) & (real <= told + most) & ~gaps
        if not np.where(missing, gaps | np.isnan(told), agree).all():
            raise _mixed()

    def drawn(self, space: Space) -> tuple[Places, Numbers, Rows]:
        """Draw points of all roots, a combination of protected values for each, and that member."""
        rng = np.random.default_rng(0)
        root = rng.integers(len(space.low), size=TRIED)
        places = rng.integers(space.low[root], space.high[root], endpoint=True)
        combination = rng.integers(len(self._domain.combinations), size=TRIED)
        return places, combination, self._domain.counterparts(self._rows_of(places), combination)

    def variant(self, places: Places) -> Numbers:
        """Return which places of points, ``(n, a)``, are tied, as the rows of ``which``."""
        found = np.zeros(len(places), dtype=np.int64)
        for i, ties in enumerate(self._tied):
            # 0 for a place that is not
            digit = (places[:, i, None] == ties) @ np.arange(1, len(ties) + 1)
            found = found * (len(ties) + 1) + digit
        return found

    def ends(self, low: Places, high: Places) -> tuple[Float64, Float64, NDArray[np.bool_]]:
        """Return the least and the greatest that axes add to each column, and where NaN is.

        Each is ``(B, m)``; 0 for columns that depend on no axis.
        """
        least = np.zeros((len(low), self.count))
        most, gaps = least.copy(), np.zeros(least.shape, dtype=np.bool_)
        for i, own in enumerate(self.axes):
            if own.columns.size:
                parts = self._of_axis(i, low[:, i], high[:, i])
                least[:, own.columns], most[:, own.columns], gaps[:, own.columns] = parts
        return least, most, gaps

    def _of_axis(
        self, i: int, low: Numbers, high: Numbers
    ) -> tuple[Float64, Float64, NDArray[np.bool_]]:
        own = self.axes[i]
        if not len(own.table):
            ends = np.stack([own.start + each[:, None] * own.slope for each in (low, high)])
            return ends.min(axis=0) - own.off, ends.max(axis=0) + own.off, np.zeros(1, np.bool_)
        if self._monotone[i]:
            ends = np.stack([own.table[low], own.table[high]])
            return ends.min(axis=0), ends.max(axis=0), np.zeros(1, np.bool_)
        once, which = np.unique(np.column_stack((low, high)), axis=0, return_inverse=True)
        shape = (len(once), own.table.shape[1])
        least, most, gaps = np.empty(shape), np.empty(shape), np.empty(shape, dtype=np.bool_)
        for k, (first, last) in enumerate(once.tolist()):
            inside = own.table[first : last + 1]
            gaps[k] = np.isnan(inside).any(axis=0)
            least[k] = np.where(np.isnan(inside), np.inf, inside).min(axis=0)
            most[k] = np.where(np.isnan(inside), -np.inf, inside).max(axis=0)
        which = which.ravel()
        return least[which], most[which], gaps[which]

    def least_of(
        self, forms: Float64, low: Places, high: Places, ends: tuple[Float64, Float64]
    ) -> tuple[Float64, Float64]:
        """Return the least that axes add to linear forms of the numbers over boxes.

        Parameters
        ----------
        forms : NDArray[np.float64]
            ``(n, R, m)``.
        low, high : Places
            ``(n, a)``.
        ends : tuple[NDArray[np.float64], NDArray[np.float64]]
            ``(n, m)`` each, as of `ends`.

        Returns
        -------
        least : NDArray[np.float64]
            ``(n, R)``.
        spread : NDArray[np.float64]
            ``(n, R, a)``; how far the form can move along each axis.
        """
        first, last = forms * ends[0][:, None], forms * ends[1][:, None]
        lows, highs = np.minimum(first, last), np.maximum(first, last)
        least = lows.sum(axis=2)
        spread = np.zeros((*forms.shape[:2], low.shape[1]))
        for i, own in enumerate(self.axes):
            if not own.columns.size:
                continue
            apart = lows[..., own.columns].sum(axis=2), highs[..., own.columns].sum(axis=2)
            if own.columns.size > 1 and 1 < len(own.table) <= _MOST_VALUES:
                # the columns of one attribute move together: one of its values at a time
                values = forms[..., own.columns] @ own.table.T
                places = np.arange(len(own.table))
                outside = (places < low[:, i, None]) | (places > high[:, i, None])
                together = (
                    np.where(outside[:, None], np.inf, values).min(axis=2),
                    np.where(outside[:, None], -np.inf, values).max(axis=2),
                )
                least += np.maximum(together[0] - apart[0], 0.0)
                apart = together
            spread[..., i] = apart[1] - apart[0]
        return least, spread


def decision_margins(anatomy: ModelStructure, fed: FedModel) -> Margins:
    """Return how the body's numbers become the decision that the mapping makes of them."""
    body, mapping, close = anatomy.body, fed.mapping, anatomy.close
    if body.decides == "argmax":
        outputs = body.layers[-1].bias.size if isinstance(body, Layers) else body.base.size
        winner, loser = np.triu_indices(outputs, 1)
        weights = (np.eye(outputs)[winner] - np.eye(outputs)[loser]).T
        classes = np.arange(outputs)
        together = mapping.together
        decision = np.isin(classes, together).astype(np.intp) if together else classes
        return Margins(weights, np.zeros(len(winner)), winner, loser, decision, close)
    limit = 0.5 if mapping.threshold is None else mapping.threshold
    if body.decides == "value" or fed.opened.card.scores == VALUES:
        # compared in single precision
        close += 2.0**-22 * abs(limit)
    elif body.decides == "share":
        close += 2.0**-22
    else:
        # the slope of the logistic function is one quarter where it decides at one half
        close *= max(1.0, 0.25 / (limit - limit**2))
        limit = math.log(limit) - math.log1p(-limit)
    one, zero = np.ones(1, dtype=np.intp), np.zeros(1, dtype=np.intp)
    return Margins(np.ones((1, 1)), np.array([limit]), one, zero, np.arange(2), close)


def _varies(numbers: Float64) -> NDArray[np.bool_]:
    """Return which columns, ``(n, m)``, are not the same everywhere; NaN is NaN."""
    if not len(numbers):
        return np.zeros(numbers.shape[1], dtype=np.bool_)
    same = (numbers == numbers[0]) | (np.isnan(numbers) & np.isnan(numbers[0]))
    return np.asarray(~same.all(axis=0))


def _mixed() -> SpecError:
    return SpecError(
        "Regions cannot be re-proved: the model’s inputs are not each made from one attribute.",
        why="A value computed from several attributes together cannot be bounded.",
    )
