"""Making a model's inputs from codes, compiled."""
# numba has no types
# mypy: disallow-untyped-decorators=False

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairdesk.compiled import inner, whole
from fairdesk.results.events import Rows

Float64 = NDArray[np.float64]
_SUBTRACT, _DIVIDE, _MULTIPLY = range(3)
#: Rows that are made together: their inputs stay in the processor's first caches.
_BLOCK = 64


@inner()
def _look_up(
    rows: Rows,
    start: int,
    end: int,
    attribute: int,
    entries: Float64,
    first: int,
    size: int,
    inputs: Float64,
    i: int,
) -> bool:
    """Return some rows their entries; false where a code has none."""
    fine = True
    for row in range(start, end):
        code = rows[row, attribute]
        known = 0 <= code < size
        fine &= known | (code != code)  # noqa: PLR0124 - it may be no number
        inputs[row, i] = entries[first + (int(code) if known else size - 1)]
    return fine


@inner()
def _compute(inputs: Float64, start: int, end: int, i: int, operation: int, by: float) -> None:
    """Do one step for some rows of an input, in place."""
    if operation == _SUBTRACT:
        for row in range(start, end):
            inputs[row, i] -= by
    elif operation == _DIVIDE:
        for row in range(start, end):
            inputs[row, i] /= by
    elif operation == _MULTIPLY:
        for row in range(start, end):
            inputs[row, i] *= by
    else:
        for row in range(start, end):
            inputs[row, i] += by


@whole(
    "boolean(float64[:, ::1], int64[:, ::1], float64[::1], int64[::1], float64[::1],"
    " float64[:, :])",
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
        end = min(start + _BLOCK, len(rows))
        for i in range(len(recipes)):
            attribute, first, size = recipes[i, 0], recipes[i, 1], recipes[i, 2]
            if size == 0:
                for row in range(start, end):
                    inputs[row, i] = rows[row, attribute]
            elif size == 1:
                for row in range(start, end):
                    inputs[row, i] = entries[first]
            elif not _look_up(rows, start, end, attribute, entries, first, size, inputs, i):
                return False
            for step in range(recipes[i, 3], recipes[i, 3] + recipes[i, 4]):
                _compute(inputs, start, end, i, operations[step], by[step])
    return True
