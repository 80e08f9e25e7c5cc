"""Texts that are too many to be kept, by what shows which numbers they may be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute


class Shapes:
    """Keeps of texts of each shape the first, the lowest and the highest, and counts their rows.

    Two texts have one shape where nothing but digits differ.

    Parameters
    ----------
    most : int
        So many shapes are told apart; what comes after counts as one more.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._shapes: dict[str, _Shape] = {}

    def add(self, texts: pa.StringArray, rows: NDArray[np.intp]) -> None:
        """Take different texts, and how many rows have each."""
        if not len(texts):
            return
        table = pa.table({"shape": _shapes(texts), "text": texts, "rows": pa.array(rows)})
        found = table.group_by("shape", use_threads=False).aggregate(
            [("text", "first"), ("text", "min"), ("text", "max"), ("rows", "sum")]
        )
        for each in found.select(_AGGREGATES).to_pylist():
            shape, first, low, high, count = each.values()
            if shape not in self._shapes and len(self._shapes) >= self._most:
                shape = ""
            known = self._shapes.setdefault(shape, _Shape(first, low, high))
            known.low, known.high = min(known.low, low), max(known.high, high)
            known.rows += count

    def texts(self) -> dict[str, int]:
        """Return what is kept: texts with the rows that they stand for, 0 for the ends."""
        found = {each.first: each.rows for each in self._shapes.values()}
        for each in self._shapes.values():
            found.setdefault(each.low, 0)
            found.setdefault(each.high, 0)
        return found


@dataclass
class _Shape:
    """Texts that differ in digits only: the first, the lowest, the highest, and their rows."""

    first: str
    low: str
    high: str
    rows: int = 0


_AGGREGATES = ["shape", "text_first", "text_min", "text_max", "rows_sum"]
_POWER = "[0-9.,][eE][+-]?[0-9]+$"
_EXPONENT = r"^(?s:(?P<plain>.*[0-9.,])(?P<power>[eE][+-]?[0-9]+))$"


def _shapes(texts: pa.StringArray) -> pa.StringArray:
    """Return the shape of each text: which of them have one, the same readings as numbers fit.

    Of two texts of one shape the number of one is lower where it comes first as text, or all are
    negative. Leading zeros, powers of ten, fractions and parts of thousandths tell shapes apart.
    """
    shapes = _digits_aside(texts)
    powers = compute.match_substring_regex(texts, _POWER)
    if compute.any(powers).as_py():
        parts = compute.extract_regex(texts.filter(powers), _EXPONENT)
        plain, power = (compute.struct_field(parts, name) for name in ("plain", "power"))
        own = compute.binary_join_element_wise(_digits_aside(plain), power, "")
        shapes = compute.replace_with_mask(shapes, powers, own)
    return shapes


def _digits_aside(plain: pa.StringArray) -> pa.StringArray:
    """Return texts with one digit for all, but for what tells shapes apart."""
    leading = compute.replace_substring_regex(plain, "(^|[^0-9])0", r"\1o")
    digits = compute.replace_substring_regex(leading, "[0-9]", "9")
    signs = [
        compute.if_else(compute.match_substring_regex(plain, pattern), mark, "")
        for pattern, mark in (("[.,][0-9]*[1-9]", "f"), ("[.,][0-9]{3}[0-9]*[1-9]", "t"))
    ]
    return compute.binary_join_element_wise(digits, *signs, "|")
