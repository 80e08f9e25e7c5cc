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
    for row in range(len(rows)):
        for i in range(len(recipes)):
            attribute, first, size, step, steps = recipes[i]
            number = rows[row, attribute]
            if size == 1:
                number = entries[first]
            elif size and np.isnan(number):
                number = entries[first + size - 1]
            elif size:
                if not 0 <= number < size:
                    return False
                number = entries[first + int(number)]
            for s in range(step, step + steps):
                if operations[s] == _SUBTRACT:
                    number -= by[s]
                elif operations[s] == _DIVIDE:
                    number /= by[s]
                elif operations[s] == _MULTIPLY:
                    number *= by[s]
                else:
                    number += by[s]
            inputs[row, i] = number
    return True
