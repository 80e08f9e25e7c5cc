"""Counting who is decided alike by a linear model, for checking a certificate.

The model adds up a term for each axis, and one for the protected values. How the sum of the axes'
terms is distributed over a box is the convolution of their distributions: each is written on a
grid, rounded to the nearest cell, and how far that and the model's own rounding can move a sum is
left out on both sides of a border. What makes certificates sorts sums of halves instead.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.encoded import Margins
from fairdesk.certify.proof.reproof_inputs import Inputs
from fairdesk.models.structure.types import Layers

Float64 = NDArray[np.float64]
Numbers = NDArray[np.int64]

#: Cells of the grid.
_CELLS = 1 << 20
#: Values of an axis that are written down; of one with more it is not counted.
_MOST_VALUES = 1 << 20
#: What the sums of shares that transforms make can be off by, in all.
_OFF = 1e-8


class LinearCounter:
    """Counts points of boxes; parameters as of `reproof_bounds.LayerBounds`.

    Attributes
    ----------
    final : bool
        As of `fairdesk.certify.proof.reproof_counting.NetworkCounter`.
    """

    final = True

    def __init__(self, body: Layers, inputs: Inputs, margins: Margins) -> None:
        (layer,) = body.layers
        weights = layer.weights @ margins.weights[:, 0]
        self._axes, self._close = inputs.axes, margins.close
        self._weights = weights
        self._constant = float(layer.bias @ margins.weights[:, 0] - margins.offset[0])
        self._combined = inputs.combinations @ weights
        unit = 2.0**-24 if body.precision is np.float32 else 2.0**-53
        n = len(weights) + 2
        self._rounding = n * unit / (1 - n * unit) + 1.01 * body.roundings * unit
        self._rounding += (n + 128) * 2.0**-52
        largest = np.abs(inputs.combinations).max(axis=0)
        self._fixed = float(
            largest @ (np.abs(layer.weights) @ np.abs(margins.weights[:, 0]))
            + np.abs(layer.bias) @ np.abs(margins.weights[:, 0])
            + abs(margins.offset[0])
        )
        self._sizes = np.abs(layer.weights) @ np.abs(margins.weights[:, 0])

    def shares(
        self, low: Numbers, high: Numbers, members: Numbers, stated: Float64
    ) -> tuple[float, float] | None:
        """Return the least shares of a box's points that are consistent, and discriminatory.

        ``None`` where an axis has too many values. Counts as well as it can, whatever is stated.
        """
        del stated
        terms, size, off = [], self._fixed, 0.0
        for i, own in enumerate(self._axes):
            first, last = int(low[i]), int(high[i])
            if last - first >= _MOST_VALUES:
                return None
            if len(own.table):
                numbers = own.table[first : last + 1]
            else:
                numbers = own.start + np.arange(first, last + 1)[:, None] * own.slope
                off += float(own.off @ np.abs(self._weights[own.columns]))
            terms.append(numbers @ self._weights[own.columns])
            size += float(np.abs(numbers).max(axis=0, initial=0.0) @ self._sizes[own.columns])
        start = sum(float(each.min()) for each in terms)
        span = sum(float(np.ptp(each)) for each in terms)
        step = max(span, 1e-300) / (_CELLS - 2 * len(terms) - 2)
        transform = np.ones(_CELLS // 2 + 1, dtype=np.complex128)
        for each in terms:
            if len(each) > 1 and np.ptp(each) > 0:
                cell = np.rint((each - each.min()) / step).astype(np.int64)
                counted = np.bincount(cell, minlength=_CELLS)[:_CELLS] / len(each)
                transform *= np.fft.rfft(counted)
        share = np.fft.irfft(transform, _CELLS)
        upto = np.concatenate([[0.0], np.cumsum(share)])
        room = off + self._close + self._rounding * size + step * (len(terms) + 1)
        sums = self._constant + start + step * np.arange(_CELLS)
        added = self._combined[members]
        # all are above the border, or all below it
        above = upto[-1] - upto[np.searchsorted(sums, room - added.min(), "right")]
        below = upto[np.searchsorted(sums, -room - added.max(), "left")]
        consistent = float(above + below)
        # the least of them is below it, the greatest above
        first = np.searchsorted(sums, room - added.max(), "right")
        last = np.searchsorted(sums, -room - added.min(), "left")
        discriminatory = float(upto[last] - upto[first]) if last > first else 0.0
        if len(members) <= 1:
            return 1.0, 0.0
        return max(0.0, consistent - _OFF), max(0.0, discriminatory - _OFF)
