"""Compiled loops over keys and rows; compiled once per machine and kept beside the module."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from fairdesk.events import Rows

Keys = NDArray[np.uint64]
Numbers = NDArray[np.int64]


@njit("uint64[::1](float64[:, ::1])", cache=True, nogil=True)
def row_keys(rows: Rows) -> Keys:
    """Give each row a 64-bit key; equal rows have equal keys.

    Two different rows share a key with a probability of about 2**-64: among ten million rows
    one such pair is expected once in 370,000 runs. A clash can only hide a finding, or be undone
    when findings are asked again.

    Parameters
    ----------
    rows : Rows
        ``(n, d)``.

    Returns
    -------
    Keys
        ``(n,)``; never 0.
    """
    bits = rows.view(np.uint64)
    keys = np.empty(len(rows), np.uint64)
    for i in range(len(rows)):
        key = np.uint64(0)
        for j in range(rows.shape[1]):
            code = bits[i, j] if rows[i, j] != 0 else np.uint64(0)  # -0.0 and 0.0 are one
            # the splitmix64 generator, with the row so far as its state
            key += code + np.uint64(0x9E3779B97F4A7C15)
            key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            key ^= key >> np.uint64(31)
        keys[i] = max(key, np.uint64(1))
    return keys


@njit(
    "UniTuple(int64[::1], 2)(uint64[::1], uint64[::1], int64[::1], int64)", cache=True, nogil=True
)
def number_keys(keys: Keys, slots: Keys, numbers: Numbers, size: int) -> tuple[Numbers, Numbers]:
    """Look keys up in a hash table with open addressing, and put in those that are new.

    Parameters
    ----------
    keys : Keys
        ``(n,)``, not 0; may repeat.
    slots, numbers : Keys, Numbers
        ``(m,)``, ``m`` a power of two, more than ``size + n``; the key in each slot (0: free),
        and its number. Changed in place.
    size : int
        Keys in the table; the first new one gets this number.

    Returns
    -------
    Numbers, Numbers
        ``(n,)`` the number of each key; and the positions of those that are new.
    """
    mask = np.uint64(len(slots) - 1)
    found = np.empty(len(keys), np.int64)
    new = np.empty(len(keys), np.int64)
    fresh = 0
    for i in range(len(keys)):
        slot = keys[i] & mask
        while slots[slot] != 0 and slots[slot] != keys[i]:
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] == 0:
            slots[slot] = keys[i]
            numbers[slot] = size + fresh
            new[fresh] = i
            fresh += 1
        found[i] = numbers[slot]
    return found, new[:fresh]
