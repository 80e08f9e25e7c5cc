"""The columns of a file before they have a kind: texts, or numbers that were stored as such.

Arrow's buffers take little memory, and answer questions to all texts at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from fairdesk.data.columns.kinds import EXACT, PADDED, as_numbers

Mask = NDArray[np.bool_]

_BEGINS = np.isin(np.arange(256), np.frombuffer(b"0123456789+-.", np.uint8))
_ENDS = np.isin(np.arange(256), np.frombuffer(b"0123456789", np.uint8))


@dataclass(frozen=True)
class Texts:
    """One column of texts: those that occur, and which of them every row has.

    Those that do not look like numbers are judged in Python.

    Attributes
    ----------
    distinct : pyarrow.StringArray
        The cells exactly as they are written, in the order they first appear; a text may come
        more than once.
    codes : NDArray[np.int32]
        ``(n,)``; an index in ``distinct`` for every row.
    weights : NDArray[np.int64], optional
        ``(len(distinct),)``; how many rows have each, where ``codes`` are those of a sample only.
    """

    distinct: pa.StringArray
    codes: NDArray[np.int32]
    weights: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.distinct)

    @cached_property
    def plain(self) -> Mask:
        """Which texts begin and end like numbers: no space stands around them."""
        return looks_like_numbers(self.distinct)

    @cached_property
    def _others(self) -> list[str]:
        return self.pick(~self.plain)

    def counts(self) -> NDArray[np.intp]:
        """Return how often each of its texts occurs."""
        if self.weights is not None:
            return self.weights
        return np.bincount(self.codes, minlength=len(self))

    def words(self) -> set[str]:
        """Return its texts without the spaces around them.

        Of those that begin and end like numbers there are two at most.
        """
        found = {text.strip() for text in self._others}
        plain = self.distinct.filter(_arrow_mask(self.plain))
        if len(plain):
            found.add(plain[0].as_py())
            differs = np.flatnonzero(_mask(compute.not_equal(plain, plain[0])))
            if differs.size:
                found.add(plain[int(differs[0])].as_py())
        return found

    def among(self, tokens: Collection[str]) -> Mask:
        """Return which of its texts are one of these, spaces around it left aside."""
        found = np.zeros(len(self), bool)
        found[~self.plain] = [text.strip() in tokens for text in self._others]
        values = _arrow_texts(tokens)
        values = values.filter(_arrow_mask(looks_like_numbers(values)))
        if len(values):
            found |= _mask(compute.is_in(self.distinct, value_set=values))
        return found

    def pick(self, wanted: Mask) -> list[str]:
        """Return some of its texts, in their order."""
        texts: list[str] = self.distinct.filter(_arrow_mask(wanted)).to_pylist()
        return texts

    def holding(self, mark: str) -> Mask:
        """Return which of its texts hold a character."""
        return _mask(compute.match_substring(self.distinct, mark))

    def padded(self, wanted: Mask) -> Mask:
        """Return which of its texts are whole numbers with leading zeros, as codes have them."""
        return wanted & _mask(compute.match_substring_regex(self.distinct, PADDED))

    def lengths(self, wanted: Mask) -> NDArray[np.int32]:
        """Return how many characters some of its texts have."""
        return numbers_of(compute.utf8_length(self.distinct.filter(_arrow_mask(wanted))))

    def tally(self, wanted: Mask) -> Counter[str]:
        """Return how many rows have each of some texts."""
        tally: Counter[str] = Counter()
        for text, count in zip(self.pick(wanted), self.counts()[wanted].tolist(), strict=True):
            tally[text] += count
        return tally

    def numbers(self, wanted: Mask, decimal: str) -> NDArray[np.float64] | None:
        """Read some of its texts as numbers, all or none, like `as_numbers`."""
        found = np.empty(len(self))
        plain = wanted & self.plain
        others = wanted & ~self.plain
        for some, read in ((others, self._read_others), (plain, self._read_plain)):
            if some.any():
                numbers = read(some, decimal)
                if numbers is None:
                    return None
                found[some] = numbers
        return found[wanted]

    def _read_others(self, wanted: Mask, decimal: str) -> NDArray[np.float64] | None:
        return as_numbers(self.pick(wanted), decimal)

    def _read_plain(self, wanted: Mask, decimal: str) -> NDArray[np.float64] | None:
        """Read texts that begin and end like numbers.

        What Arrow's cast makes a finite number of is, between such a beginning and such an end,
        what `as_numbers` reads, and to the same number: both round to the nearest float.
        """
        texts = self.distinct.filter(_arrow_mask(wanted))
        pointed = texts
        if decimal != ".":
            if compute.any(compute.match_substring(texts, ".")).as_py():
                return None
            pointed = compute.replace_substring(texts, decimal, ".")
        try:
            numbers = numbers_of(compute.cast(pointed, pa.float64()))
        except pa.ArrowInvalid:
            return as_numbers(texts.to_pylist(), decimal)
        huge = np.flatnonzero(~(np.abs(numbers) < EXACT))
        if huge.size and as_numbers(texts.take(pa.array(huge)).to_pylist(), decimal) is None:
            return None
        return numbers


@dataclass(frozen=True)
class Numbers:
    """One column of numbers, of a file that stores them as such.

    Attributes
    ----------
    codes : NDArray[np.float64]
        ``(n,)`` finite numbers, none of them a whole one that a float cannot keep exactly; NaN
        where there is none.
    note : str
        As that of `fairdesk.data.table.Column`.
    """

    codes: NDArray[np.float64]
    note: str = ""


def written_out(numbers: Numbers) -> Texts:
    """Return numbers as texts, whole ones without a fraction; what has no number as empty ones."""
    found, places = np.unique(numbers.codes, return_inverse=True)
    texts = [
        "" if np.isnan(each) else str(int(each)) if each.is_integer() else repr(each)
        for each in found.tolist()
    ]
    return Texts(_arrow_texts(texts), places.astype(np.int32))


def text_ends(texts: pa.StringArray) -> NDArray[np.int32]:
    """Return the begin of the first text in an array's letters, and all ends: ``(n + 1,)``."""
    return np.frombuffer(texts.buffers()[1], np.int32)[texts.offset :][: len(texts) + 1]


def looks_like_numbers(texts: pa.StringArray) -> Mask:
    """Return which texts begin with a digit, a sign or a point, and end with a digit."""
    if not len(texts):
        return np.zeros(0, bool)
    ends = text_ends(texts)
    if ends[0] == ends[-1]:
        return np.zeros(len(texts), bool)
    letters = np.frombuffer(texts.buffers()[2], np.uint8)
    filled = ends[1:] > ends[:-1]
    first = letters[np.minimum(ends[:-1], ends[-1] - 1)]
    last = letters[np.maximum(ends[1:], 1) - 1]
    found: Mask = filled & _BEGINS[first] & _ENDS[last]
    return found


def numbers_of(values: pa.Array) -> NDArray[Any]:
    """Return numbers that are all there as NumPy's, read only.

    Arrow's own ways load pandas, for a third of a second.
    """
    return np.from_dlpack(values)


def _arrow_mask(wanted: Mask) -> pa.BooleanArray:
    """Return truth values as Arrow's; without pandas, likewise."""
    bits = pa.py_buffer(np.packbits(wanted, bitorder="little"))
    return pa.Array.from_buffers(pa.bool_(), len(wanted), [None, bits])


def _arrow_texts(texts: Collection[str]) -> pa.StringArray:
    """Return texts as Arrow's; without pandas, likewise."""
    letters = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, letters)], dtype=np.int32)
    return pa.StringArray.from_buffers(
        len(letters), pa.py_buffer(ends), pa.py_buffer(b"".join(letters))
    )


def _mask(answers: pa.BooleanArray) -> Mask:
    return numbers_of(compute.cast(answers, pa.uint8())).astype(np.bool_)
