"""What the values of a column are: numbers, an order, names, or nothing to audit."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.table import Column

#: Text columns with at most so many different values are never taken for identifiers.
FEW = 20
#: From this share of different values among the cells present, texts are identifiers.
NEARLY_UNIQUE = 0.9
#: Texts of at least so many characters on average, more than half of them different, are prose.
PROSE = 40
#: Beyond this, neighbouring whole numbers fall together in a float.
EXACT = 2.0**53

_NUMBER = {
    mark: re.compile(
        rf"\s*[+-]?(?:\d+(?:{re.escape(mark)}\d*)?|{re.escape(mark)}\d+)(?:[eE][+-]?\d+)?\s*",
        re.ASCII,
    )
    for mark in ".,"
}
_THOUSANDS = {
    mark: re.compile(rf"\s*[+-]?[1-9]\d{{0,2}}(?:{re.escape(mark)}\d{{3}})+\s*", re.ASCII)
    for mark in ".,"
}
#: Whole numbers that begin with a zero which a number would not have.
PADDED = r"^[ \t]*0[0-9]+[ \t]*$"
_PADDED = re.compile(PADDED)
_SPELT_WHOLE = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)
_NAME_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_ID_NAMES = frozenset({"id", "ids", "index", "idx", "unnamed", "rownames", "row", "rownum", "uid"})

#: Words that have an order everywhere.
_SCALES = (
    ("very low", "low", "medium", "high", "very high"),
    ("low", "moderate", "high"),
    ("low", "mid", "high"),
    ("low", "middle", "high"),
    ("none", "low", "medium", "high"),
    ("very small", "small", "medium", "large", "very large"),
    ("xs", "s", "m", "l", "xl", "xxl"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("very poor", "poor", "fair", "good", "very good", "excellent"),
    ("very bad", "bad", "average", "good", "very good"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied"),
    ("beginner", "intermediate", "advanced", "expert"),
    ("junior", "mid", "senior"),
    ("primary", "secondary", "tertiary"),
    ("bronze", "silver", "gold", "platinum"),
)
_PLACE = re.compile(r"(\d+)(?:st|nd|rd|th)")
_NUM = r"[^\d\w<>=+-]?(\d+(?:\.\d+)?)\s*[a-z%€$£]*"
_BETWEEN = re.compile(rf"{_NUM}\s*(?:-|–|to|until|\.\.)\s*{_NUM}(?:\s*[a-z.]+)?")
_BELOW = re.compile(rf"(?:<=?|≤|(?:less than|under|below|up to)\s)\s*{_NUM}(?:\s*[a-z.]+)?")
_ABOVE = re.compile(
    rf"(?:>=?|≥|(?:greater than|more than|over|above|at least)\s)\s*{_NUM}(?:\s*[a-z.]+)?"
)
_AND_MORE = re.compile(rf"{_NUM}\s*(?:\+|and (?:more|over|older|above)|or (?:more|over|older))")


def as_numbers(texts: Sequence[str], decimal: str) -> NDArray[np.float64] | None:
    """Read texts as numbers, all or none.

    Parameters
    ----------
    texts : sequence of str
        Cells, none of them missing; spaces around a number do not matter.
    decimal : str
        ``"."`` or ``","``.

    Returns
    -------
    NDArray[np.float64] or None
        ``(len(texts),)``; None when a text is no finite number, or spells a whole number too
        long to be kept exactly (an account number).
    """
    if not all(map(_NUMBER[decimal].fullmatch, texts)):
        return None
    pointed = texts if decimal == "." else [text.replace(decimal, ".") for text in texts]
    numbers = np.array([float(text) for text in pointed], dtype=np.float64)
    huge = np.flatnonzero(np.abs(numbers) >= EXACT).tolist()
    if any(np.isinf(numbers[i]) or _SPELT_WHOLE.fullmatch(texts[i]) for i in huge):
        return None
    return numbers


def is_padded(text: str) -> bool:
    """Return whether a text is a whole number with a leading zero: “007”."""
    return bool(_PADDED.fullmatch(text))


def may_be_thousands(text: str, mark: str) -> bool:
    """Return whether a mark may group digits as well as begin a fraction: “1.234”."""
    return bool(_THOUSANDS[mark].fullmatch(text))


def in_order(values: Collection[str]) -> tuple[str, ...] | None:
    """Return values in their order, where they have an obvious one.

    Only three values or more are ordered: words of one well-known scale ("low", "medium",
    "high"), places ("1st", "2nd", "3rd"), or ranges that do not overlap ("Less than 25",
    "25 - 45", "Greater than 45").
    """
    if not 3 <= len(values) <= 50:
        return None
    plain = {value: " ".join(value.lower().replace("_", " ").split()) for value in values}
    if len(set(plain.values())) != len(plain):
        return None
    for scale in _SCALES:
        if set(plain.values()) <= set(scale):
            return tuple(sorted(values, key=lambda value: scale.index(plain[value])))
    places = {value: _PLACE.fullmatch(text) for value, text in plain.items()}
    if all(places.values()):
        return tuple(sorted(values, key=lambda value: int(plain[value][:-2])))
    return _ranges_in_order(plain)


def _ranges_in_order(plain: dict[str, str]) -> tuple[str, ...] | None:
    """Order ranges of numbers, where all values are ranges and none overlap."""
    ranges = {}
    for value, text in plain.items():
        span = _range(text)
        if span is None:
            return None
        ranges[value] = span
    ordered = sorted(ranges, key=lambda value: ranges[value])
    for before, after in pairwise(ordered):
        if ranges[before][1] > ranges[after][0]:
            return None
    return tuple(ordered)


def is_range(text: str) -> bool:
    """Return whether a text is a range of numbers: “10 - 19”, “90+”, “under 5”."""
    return _range(" ".join(text.lower().replace("_", " ").split())) is not None


def _range(text: str) -> tuple[float, float] | None:
    """Read a range; None when it is none."""
    if found := _BETWEEN.fullmatch(text):
        low, high = float(found[1]), float(found[2])
        return (low, high) if low <= high else None
    if found := _BELOW.fullmatch(text):
        return -np.inf, float(found[1])
    if found := _ABOVE.fullmatch(text) or _AND_MORE.fullmatch(text):
        return float(found[1]), np.inf
    return None


def name_parts(name: str) -> tuple[str, ...]:
    """Split a column's name into its words, in lower case: "AgeInYears", "age_in_years"."""
    return tuple(part.lower() for part in _NAME_PARTS.findall(name))


def counts_rows(codes: NDArray[np.float64]) -> bool:
    """Return whether numbers just count the rows, from 0 or from 1."""
    if not codes.size or codes[0] not in (0, 1) or codes[-1] != codes[0] + codes.size - 1:
        return False
    return bool((codes == codes[0] + np.arange(codes.size)).all())


def identifies(
    column: Column, codes: NDArray[np.float64], weights: NDArray[np.int64] | None = None
) -> bool:
    """Return whether a column names rows and does not describe people.

    So do texts that are nearly all different, and whole numbers that are all different or
    count the rows, in a column named like an identifier.

    Parameters
    ----------
    codes : NDArray[np.float64]
        ``(n,)``; its codes, or those of some of its rows.
    weights : NDArray[np.int64], optional
        ``(n,)``; how many rows have each, where these are in no order.
    """
    there = ~np.isnan(codes)
    present = codes[there]
    rows = present.size if weights is None else int(weights[there].sum())
    if column.values:
        different = _different(present)
        return different > FEW and different >= NEARLY_UNIQUE * rows
    if not may_count_rows(column.name) or bool((present != np.round(present)).any()):
        return False
    if weights is None and counts_rows(codes):
        return True
    all_different = bool(np.unique(present).size == rows)
    return name_parts(column.name)[:1] != ("column",) and rows > FEW and all_different


def may_count_rows(name: str) -> bool:
    """Return whether a column is named like an identifier, or has no name."""
    parts = name_parts(name)
    return bool(_ID_NAMES.intersection(parts)) or parts[:1] == ("column",)


def is_prose(
    column: Column, codes: NDArray[np.float64], weights: NDArray[np.int64] | None = None
) -> bool:
    """Return whether a column holds sentences that people wrote, not a list of names.

    Parameters as of `identifies`.
    """
    if len(column.values) <= FEW:
        return False
    length = sum(map(len, column.values)) / len(column.values)
    if length < PROSE:
        return False
    there = ~np.isnan(codes)
    rows = np.count_nonzero(there) if weights is None else weights[there].sum()
    return bool(_different(codes[there]) > rows / 2)


def _different(places: NDArray[np.float64]) -> int:
    """Return how many values occur: of a sample not all of the column's do."""
    return int(np.count_nonzero(np.bincount(places.astype(np.intp))))
