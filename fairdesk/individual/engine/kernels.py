"""Compiled loops over keys and rows; compiled once per machine and kept beside the module.

A row's key is the sum of a number for each of its codes, so that a neighbour's key is found from
its own in one step, and a similar set's from that of the attributes its members share. Two
different rows share a key with a probability of about 2**-64: among ten million rows one such pair
is expected once in 370,000 runs. A clash can only hide a finding, or be undone when findings are
asked again.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from fairdesk.compiled import inner, put, whole
from fairdesk.results.events import Rows

Keys = NDArray[np.uint64]
Numbers = NDArray[np.int64]
Value = TypeVar("Value", np.float32, np.float64)

#: A row is remembered in one of so many places, the first that was free.
WINDOW = 16


@inner()
def _number(bits: np.uint64, column: int) -> np.uint64:
    """Return the number of a code in a column: the splitmix64 generator at a place of its own."""
    key = bits + np.uint64(column + 1) * np.uint64(0x9E3779B97F4A7C15)
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return key ^ (key >> np.uint64(31))


@whole("uint64[::1](float64[:, ::1], int64[::1])")
def shared_keys(rows: Rows, columns: Numbers) -> Keys:
    """Return each row a 64-bit key; rows with equal codes in these columns have equal keys.

    Parameters
    ----------
    rows : Rows
        ``(n, d)``.

    Returns
    -------
    Keys
        ``(n,)``.
    """
    bits = rows.view(np.uint64)
    keys = np.zeros(len(rows), np.uint64)
    for i in range(len(rows)):
        for j in columns:
            # -0.0 and 0.0 are one
            keys[i] += _number(bits[i, j] if rows[i, j] != 0 else np.uint64(0), j)
    return keys


@whole("uint64[::1](float64[:, ::1])")
def row_keys(rows: Rows) -> Keys:
    """Return each of ``(n, d)`` rows a 64-bit key, ``(n,)``; equal rows have equal keys."""
    keys: Keys = shared_keys(rows, np.arange(rows.shape[1]))
    return keys


@inner()
def _clipped(code: float, low: float, high: float, grid: float, spacing: float) -> float:
    """Put a code on the grid and into the range, to the last bit as `Domain.clip`."""
    if spacing > 0:
        code = low + np.rint((code - low) / spacing) * spacing
    return float(min(max(np.rint(code * grid) / grid, low), high))


@whole(
    "Tuple((float64[:, ::1], uint64[:, ::1]))"
    "(float64[:, ::1], uint64[::1], int64[::1], float64[:, ::1])"
)
def neighbours(rows: Rows, keys: Keys, columns: Numbers, steps: Rows) -> tuple[Rows, Keys]:
    """Move each of these attributes by itself, backwards where forwards is out of the range.

    Parameters
    ----------
    rows : Rows
        ``(n, d)``, in the domain.
    keys : Keys
        ``(n,)``; the rows' own, all columns counted.
    columns : Numbers
        ``(v,)``.
    steps : Rows
        ``(v, 5)``; of each the step, the range's ends, the grid and the spacing.

    Returns
    -------
    Rows
        ``(n, v)``; the new codes.
    Keys
        ``(n, v + 1)``; the rows' own, and those of their neighbours.
    """
    codes = np.empty((len(rows), len(columns)))
    moved = np.empty((len(rows), len(columns) + 1), np.uint64)
    bits, old_bits = codes.view(np.uint64), rows.view(np.uint64)
    for i in range(len(rows)):
        moved[i, 0] = keys[i]
        for v in range(len(columns)):
            by, low, high, grid, spacing = steps[v]
            j = columns[v]
            old = rows[i, j]
            new = old + by if old + by <= high else old - by
            codes[i, v] = _clipped(new, low, high, grid, spacing)
            moved[i, v + 1] = (
                keys[i]
                - _number(old_bits[i, j] if old != 0 else np.uint64(0), j)
                + _number(bits[i, v] if codes[i, v] != 0 else np.uint64(0), j)
            )
    return codes, moved


@whole("float64[:, ::1](float64[:, ::1], int64[::1], int64[::1], float64[:, ::1])")
def rows_around(rows: Rows, which: Numbers, columns: Numbers, codes: Rows) -> Rows:
    """Make rows and their neighbours, those at these places of the keys that `neighbours` gives.

    Parameters
    ----------
    rows, columns
        As in `neighbours`.
    which : Numbers
        ``(m,)``; neighbour ``v`` of row ``i`` is ``i * (v + 1) + v + 1``, after the row itself.
    codes : Rows
        ``(n, v)``; as `neighbours` gives them.

    Returns
    -------
    Rows
        ``(m, d)``.
    """
    around = np.empty((len(which), rows.shape[1]))
    for m in range(len(which)):
        i, v = divmod(which[m], len(columns) + 1)
        put(around[m], rows[i])
        if v > 0:
            around[m, columns[v - 1]] = codes[i, v - 1]
    return around


@whole(
    "float64[:, ::1](float64[:, ::1], float64[:, ::1], float64[:, ::1], int64[::1], "
    "float64[:, ::1])"
)
def random_steps(rows: Rows, odds: Rows, lots: Rows, columns: Numbers, steps: Rows) -> Rows:
    """Move one attribute of each row, at random.

    Parameters
    ----------
    rows : Rows
        ``(n, d)``.
    odds : Rows
        ``(n, v)``; cumulated probabilities of moving each attribute.
    lots : Rows
        ``(n, 2)``; uniform on 0..1: they draw the attribute, and the direction.
    columns, steps
        As in `neighbours`.

    Returns
    -------
    Rows
        ``(n, d)``; a copy.
    """
    moved = rows.copy()
    for i in range(len(rows)):
        v = 0
        while v < len(columns) - 1 and odds[i, v] < lots[i, 0]:
            v += 1
        by, low, high, grid, spacing = steps[v]
        code = rows[i, columns[v]] + (by if lots[i, 1] < 0.5 else -by)
        moved[i, columns[v]] = _clipped(code, low, high, grid, spacing)
    return moved


@whole(
    "void(boolean[::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], "
    "int64[::1])"
)
def go_back(
    hit: NDArray[np.bool_],
    rows: Rows,
    starts: Rows,
    odds: Rows,
    first_odds: Rows,
    successes: Numbers,
) -> None:
    """Bring walkers who did not hit back to their starts, with their first odds, in place."""
    for i in range(len(rows)):
        if not hit[i]:
            put(rows[i], starts[i])
            put(odds[i], first_odds[i])
            successes[i] = 0


@whole("float64[:, ::1](float64[:, ::1], int64[::1], int64[::1], float64[:, ::1])")
def members(rows: Rows, which: Numbers, protected: Numbers, combinations: Rows) -> Rows:
    """Return some members of the similar sets of rows.

    Parameters
    ----------
    rows : Rows
        ``(n, d)``.
    which : Numbers
        ``(m,)``; member ``c`` of row ``i`` is ``i * C + c``.
    protected : Numbers
        ``(p,)``; the columns in which members differ.
    combinations : Rows
        ``(C, p)``; their codes.

    Returns
    -------
    Rows
        ``(m, d)``.
    """
    everyone = np.empty((len(which), rows.shape[1]))
    for m in range(len(which)):
        i, c = divmod(which[m], len(combinations))
        put(everyone[m], rows[i])
        for p in range(len(protected)):
            everyone[m, protected[p]] = combinations[c, p]
    return everyone


# -- which keys are equal ---------------------------------------------------------------------


@inner()
def _home(key: np.uint64, size: int) -> np.int64:
    """Return the slot where a key belongs; a greater key's is never before a lesser one's."""
    return np.int64(((key >> np.uint64(32)) * np.uint64(size)) >> np.uint64(32))


@whole("UniTuple(int64[::1], 2)(uint64[::1])")
def distinct(keys: Keys) -> tuple[Numbers, Numbers]:
    """Return the positions of the first of equal keys; and for each key its place among these."""
    size = 16
    while size < 2 * len(keys):
        size *= 2
    slots = np.zeros(size, np.int64)
    firsts = np.empty(len(keys), np.int64)
    places = np.empty(len(keys), np.int64)
    count = 0
    for i in range(len(keys)):
        slot = _home(keys[i], size)
        while slots[slot] != 0 and keys[firsts[slots[slot] - 1]] != keys[i]:
            slot = (slot + 1) & (size - 1)
        if slots[slot] == 0:
            firsts[count] = i
            count += 1
            slots[slot] = count
        places[i] = slots[slot] - 1
    return firsts[:count], places


# -- what was answered: a memory that may forget ----------------------------------------------


@whole(
    [
        "UniTuple(int64[::1], 3)(uint64[::1], uint64[::1], float32[:, ::1], float32[:, ::1])",
        "UniTuple(int64[::1], 3)(uint64[::1], uint64[::1], float64[:, ::1], float64[:, ::1])",
    ]
)
def recall(
    keys: Keys, slots: Keys, kept: NDArray[Value], answers: NDArray[Value]
) -> tuple[Numbers, Numbers, Numbers]:
    """Look answers up.

    Parameters
    ----------
    keys : Keys
        ``(n,)``; may repeat.
    slots, kept : Keys, NDArray
        ``(m,)``, ``(m, k)``, ``m`` a power of two of at least `WINDOW`: the key in each slot (0:
        free) and its answer.
    answers : NDArray
        ``(n, k)``; filled in where they are known.

    Returns
    -------
    Numbers, Numbers, Numbers
        Positions of those that are not known; positions of the first of each of these keys; and
        for each that is not known its place among the firsts.
    """
    mask = len(slots) - 1
    missing = np.empty(len(keys), np.int64)
    count = 0
    for i in range(len(keys)):
        key = max(keys[i], np.uint64(1))
        slot = _home(key, len(slots))
        known = False
        for _ in range(WINDOW):
            if slots[slot] == key:
                known = True
                break
            if slots[slot] == 0:
                break
            slot = (slot + 1) & mask
        if known:
            for j in range(kept.shape[1]):
                answers[i, j] = kept[slot, j]
        else:
            missing[count] = i
            count += 1
    missing = missing[:count]
    firsts, places = distinct(keys[missing])
    return missing, missing[firsts], places


@whole(
    [
        "int64(uint64[::1], float32[:, ::1], uint64[::1], float32[:, ::1])",
        "int64(uint64[::1], float64[:, ::1], uint64[::1], float64[:, ::1])",
    ]
)
def keep(keys: Keys, answers: NDArray[Value], slots: Keys, kept: NDArray[Value]) -> int:
    """Put answers in, each in a free slot near its home, or else in the place of another.

    Parameters
    ----------
    keys, slots, kept
        As in `recall`; the last two are changed in place. Keys of 0 are left out.
    answers : NDArray
        ``(n, k)``.

    Returns
    -------
    int
        How many slots are used that were free.
    """
    mask = len(slots) - 1
    used = 0
    for i in range(len(keys)):
        if keys[i] == 0:
            continue
        home = _home(keys[i], len(slots))
        # where nothing is free, the key's last bits choose who has to go
        slot = (home + np.int64(keys[i] & np.uint64(WINDOW - 1))) & mask
        for step in range(WINDOW):
            near = (home + step) & mask
            if slots[near] == 0 or slots[near] == keys[i]:
                slot = near
                break
        used += slots[slot] == 0
        slots[slot] = keys[i]
        for j in range(kept.shape[1]):
            kept[slot, j] = answers[i, j]
    return used


# -- who was met: a table that never forgets --------------------------------------------------
#
# A slot holds a key whose last bit is the verdict; 0 is free.


@inner()
def _cleared(key: np.uint64) -> np.uint64:
    """Return a key as it is held with a verdict of no."""
    return max(key & ~np.uint64(1), np.uint64(2))


@inner()
def _place(key: np.uint64, slots: Keys) -> int:
    """Return the slot of a cleared key, or the free one where it would be."""
    slot: int = _home(key, len(slots))
    while slots[slot] != 0 and (slots[slot] & ~np.uint64(1)) != key:
        slot += 1
        if slot == len(slots):
            slot = 0
    return slot


@whole("int64[::1](uint64[::1], uint64[::1])")
def meet(keys: Keys, slots: Keys) -> Numbers:
    """Put those in who are not there, with a verdict of no.

    Parameters
    ----------
    keys : Keys
        ``(n,)``; may repeat.
    slots : Keys
        ``(m,)``, with more than ``n`` free; changed in place.

    Returns
    -------
    Numbers
        The positions of those who were put in.
    """
    new = np.empty(len(keys), np.int64)
    count = 0
    for i in range(len(keys)):
        key = _cleared(keys[i])
        slot = _place(key, slots)
        if slots[slot] == 0:
            slots[slot] = key
            new[count] = i
            count += 1
    return new[:count]


@whole("void(uint64[::1], uint64[::1])")
def condemn(keys: Keys, slots: Keys) -> None:
    """Change the verdict of those who are there to yes."""
    for i in range(len(keys)):
        key = _cleared(keys[i])
        slots[_place(key, slots)] = key | np.uint64(1)


@whole("boolean[::1](uint64[::1], uint64[::1])")
def verdicts(keys: Keys, slots: Keys) -> NDArray[np.bool_]:
    """Return the verdict of each of those who are there."""
    found = np.empty(len(keys), np.bool_)
    for i in range(len(keys)):
        found[i] = slots[_place(_cleared(keys[i]), slots)] & np.uint64(1)
    return found


@whole("void(uint64[::1], uint64[::1])")
def move(old: Keys, slots: Keys) -> None:
    """Put the keys of a table into a longer, empty one, with their verdicts."""
    for key in old:
        if key != 0:
            slots[_place(_cleared(key), slots)] = key
