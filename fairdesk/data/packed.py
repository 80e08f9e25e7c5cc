"""Columns of texts in Arrow's buffers: little memory, and questions to all of them at once.

Imported only when a large file is read: Arrow takes long to load.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from fairdesk.data.kinds import EXACT, as_numbers
from fairdesk.data.texts import AnyTexts, Mask


@dataclass(frozen=True)
class PackedTexts(AnyTexts):
    """Texts in Arrow's buffers; those that do not look like numbers are judged in Python.

    Attributes
    ----------
    distinct : pyarrow.StringArray
        The cells exactly as they are written, in the order they first appear; a text may come
        more than once.
    codes : NDArray[np.int32]
        ``(n,)``; an index in ``distinct`` for every row.
    """

    distinct: pa.StringArray
    codes: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.distinct)

    @cached_property
    def _plain(self) -> Mask:
        """Which texts begin and end like numbers: no space stands around them."""
        return looks_like_numbers(self.distinct)

    @cached_property
    def _others(self) -> list[str]:
        return self.pick(~self._plain)

    def words(self) -> set[str]:
        """Strip those that do not look like numbers; of the others give two."""
        found = {text.strip() for text in self._others}
        plain = self.distinct.filter(_packed(self._plain))
        if len(plain):
            found.add(plain[0].as_py())
            differs = compute.index(compute.not_equal(plain, plain[0]), value=True).as_py()
            if differs >= 0:
                found.add(plain[differs].as_py())
        return found

    def among(self, tokens: Collection[str]) -> Mask:
        """Compare those that look like numbers as they are, and strip the others."""
        found = np.zeros(len(self), bool)
        found[~self._plain] = [text.strip() in tokens for text in self._others]
        values = pa.array(list(tokens), pa.string())
        values = values.filter(_packed(looks_like_numbers(values)))
        if len(values):
            found |= _unpacked(compute.is_in(self.distinct, value_set=values))
        return found

    def pick(self, wanted: Mask) -> list[str]:
        """Give them in their order."""
        texts: list[str] = self.distinct.filter(_packed(wanted)).to_pylist()
        return texts

    def holding(self, mark: str) -> Mask:
        """Search them all at once."""
        return _unpacked(compute.match_substring(self.distinct, mark))

    def numbers(self, wanted: Mask, decimal: str) -> NDArray[np.float64] | None:
        """Read those that look like numbers all at once; see `as_numbers`."""
        found = np.empty(len(self))
        plain = wanted & self._plain
        others = wanted & ~self._plain
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
        texts = self.distinct.filter(_packed(wanted))
        pointed = texts
        if decimal != ".":
            if compute.any(compute.match_substring(texts, ".")).as_py():
                return None
            pointed = compute.replace_substring(texts, decimal, ".")
        try:
            numbers = np.asarray(compute.cast(pointed, pa.float64()))
        except pa.ArrowInvalid:
            return as_numbers(texts.to_pylist(), decimal)
        huge = np.flatnonzero(~(np.abs(numbers) < EXACT))
        if huge.size and as_numbers(texts.take(pa.array(huge)).to_pylist(), decimal) is None:
            return None
        return numbers


def looks_like_numbers(texts: pa.StringArray) -> Mask:
    """Tell which texts begin with a digit, a sign or a point, and end with a digit."""
    if not len(texts):
        return np.zeros(0, bool)
    offsets = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset :][: len(texts) + 1]
    if offsets[0] == offsets[-1]:
        return np.zeros(len(texts), bool)
    letters = np.frombuffer(texts.buffers()[2], np.uint8)
    filled = offsets[1:] > offsets[:-1]
    first = letters[np.minimum(offsets[:-1], offsets[-1] - 1)]
    last = letters[np.maximum(offsets[1:], 1) - 1]
    found: Mask = filled & _BEGINS[first] & _ENDS[last]
    return found


_BEGINS = np.isin(np.arange(256), np.frombuffer(b"0123456789+-.", np.uint8))
_ENDS = np.isin(np.arange(256), np.frombuffer(b"0123456789", np.uint8))


def _packed(mask: Mask) -> pa.BooleanArray:
    return pa.array(mask)


def _unpacked(mask: pa.BooleanArray) -> Mask:
    unpacked: Mask = np.array(mask.to_numpy(zero_copy_only=False))
    return unpacked
