"""Making a model's inputs from codes, compiled."""
# numba has no types
# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from fairdesk.events import Rows

Float64 = NDArray[np.float64]
_SUBTRACT, _DIVIDE, _MULTIPLY = range(3)
#: Rows that are made together: their inputs stay in the processor's first caches.
_BLOCK = 64


@njit
def _look_up(codes: Float64, entries: Float64, made: Float64) -> bool:
    """Give each code its entry; false where one has none."""
    last = len(entries) - 1
    fine = True
    for row in range(len(codes)):
        code = codes[row]
        if last == 0 or np.isnan(code):
            place = last
        else:
            fine &= 0 <= code <= last
            place = int(code) if fine else last
        made[row] = entries[place]
    return fine


@njit
def _compute(made: Float64, operation: int, by: float) -> None:
    """Do one step, in place."""
    if operation == _SUBTRACT:
        for row in range(len(made)):
            made[row] -= by
    elif operation == _DIVIDE:
        for row in range(len(made)):
            made[row] /= by
    elif operation == _MULTIPLY:
        for row in range(len(made)):
            made[row] *= by
    else:
        for row in range(len(made)):
            made[row] += by


@njit(
    "boolean(float64[:, ::1], int64[:, ::1], float64[::1], int64[::1], float64[::1],"
    " float64[:, :])",
    cache=True,
    nogil=True,
    error_model="numpy",
)
def fill(
    rows: Rows,
    recipes: NDArray[np.int64],
    entries: Float64,
    operations: NDArray[np.int64],
    by: Float64,
    inputs: Float64,
) -> bool:
    """Make inputs.

    Parameters
    ----------
    rows : Rows
        ``(n, d)`` codes.
    recipes : NDArray[np.int64]
        ``(m, 5)``; of each input the attribute that it is made from; where its entries begin, and
        how many there are; where its steps begin, and how many there are. Without entries the
        number is the code; with one, that; else the entry at the code, the last for NaN.
    entries : NDArray[np.float64]
        All inputs' entries.
    operations : NDArray[np.int64]
        All inputs' steps: 0 subtract, 1 divide, 2 multiply, 3 add.
    by : NDArray[np.float64]
        Beside it: by what. Done in float64 and in this order, as a scaler does it, so that the
        numbers are the same to the last bit.
    inputs : NDArray[np.float64]
        ``(n, m)``; filled.

    Returns
    -------
    bool
        False where a code has no entry; then the inputs are not complete.
    """
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        for i in range(len(recipes)):
            attribute, first, size, step, steps = recipes[i]
            made = inputs[start : start + _BLOCK, i]
            if size == 0:
                made[:] = block[:, attribute]
            elif not _look_up(block[:, attribute], entries[first : first + size], made):
                return False
            for s in range(step, step + steps):
                _compute(made, operations[s], by[s])
    return True
