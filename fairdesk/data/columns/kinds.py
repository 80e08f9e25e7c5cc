"""What the values of a column are: numbers, an order, names, or nothing to audit; and odd cells.

A column is one of numbers when all of its cells are, but for a few. Those are its *odd cells*: they
count as missing until the auditor says which number one of them is. A cell is never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.table import Column, ColumnReading, NumberFormat

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


#: A column of numbers has at most this share of odd cells, words for “no value” not counted.
FEW_ODD = 0.05
#: With these words counted it has at most this share.
MOST_ODD = 0.5
#: With fewer different numbers than so many, which may be categories, at most this share is odd.
FEWEST_NUMBERS = 5
FEW_ODD_AMONG_FEW = 0.01
#: From so many odd texts of letters and digits on, the column holds codes such as “V57”.
_CODES = 3

#: What means that there is no value, in a column whose other cells are numbers.
MISSING_WORDS = frozenset(
    (
        *("unknown", "unk", "missing", "none", "nil", "nan", "na", "n/a", "n.a.", "null", "?"),
        *("not available", "not applicable", "not known", "not stated", "no data", "no answer"),
        *("no response", "undefined", "unspecified", "refused", "tbd", "-", "--", "."),
        *("#n/a", "#value!", "#ref!", "#div/0!", "#num!", "#name?", "#null!"),
        *("unbekannt", "k.a.", "k. a.", "keine angabe", "fehlt", "inconnu", "non disponible"),
        *("desconocido", "sin datos", "sconosciuto", "desconhecido", "onbekend"),
    )
)
_CURRENCIES = "$€£¥¢₹₽₩₺₴₪₫฿₦₱"
_UNIT = rf"[{_CURRENCIES}%]|USD|EUR|GBP|CHF|JPY|INR|Rs\.?"
_SPACES = re.compile("[\u00a0\u2007\u2009\u202f]")
_GROUPINGS = {".": (",", " ", "'"), ",": (".", " ", "'")}
#: What is a number in any format looks like this: a cheap look before the formats are tried.
_PERHAPS = re.compile(
    rf"\s*+[+-]?(?:{_UNIT})?\s?[+-]?(?=\s*+[.,]?\d)[\d.,'’\s]++(?:[eE][+-]?\d+)?\s*+(?:{_UNIT})?\s*+"
)
#: A number with a mark that may stand before thousandths or after thousands.
_EITHER = re.compile(r"\D*\d{1,3}[.,]\d{3}\D*")
#: No number is longer, but for zeros before or after it.
_LONGEST = 64
#: Columns with more currency signs than so many hold no amounts of one currency.
_MOST_UNITS = 3
_LETTER_AND_DIGIT = re.compile(r"[^\W\d_]\W*\d|\d\W*[^\W\d_]")


@dataclass(frozen=True)
class NumbersRead:
    """The cells of a column as numbers.

    Attributes
    ----------
    format : NumberFormat
        How they are written.
    values : NDArray[np.float64]
        One per text that was given; NaN for an odd cell that is not mended.
    odd : NDArray[np.bool_]
        Which texts are odd.
    """

    format: NumberFormat
    values: NDArray[np.float64]
    odd: NDArray[np.bool_]


def read_numbers(
    texts: Sequence[str], counts: NDArray[np.intp], decimal: str, reading: ColumnReading
) -> NumbersRead | None:
    """Read the cells of a column as numbers, where all but a few are.

    The format is the file's plain one where that leaves only a few odd cells; otherwise that with
    the fewest odd cells, on a tie the one nearest to the plain one. A format set by the auditor
    takes precedence.

    Parameters
    ----------
    texts : sequence of str
        The cells that have a value; the same one may come more than once.
    counts : NDArray[np.intp]
        ``(len(texts),)``; how many rows have each.

    Returns
    -------
    NumbersRead or None
        None where the column holds names.
    """
    if reading.numeric is False:
        return None
    perhaps = np.array([bool(_PERHAPS.fullmatch(text)) for text in texts], dtype=bool)
    if not perhaps.any() or not (
        reading.numeric or reading.format or 2 * counts[perhaps].sum() >= counts.sum()
    ):
        return None
    likely = [texts[i] for i in np.flatnonzero(perhaps).tolist()]
    best: NumbersRead | None = None
    for form in _formats(likely, decimal) if reading.format is None else [reading.format]:
        values = np.full(len(texts), np.nan)
        values[perhaps] = _values(likely, form)
        odd = np.isnan(values)
        if best is None or counts[odd].sum() < counts[best.odd].sum():
            best = NumbersRead(form, values, odd)
        if form == NumberFormat(decimal) and _few(texts, counts, best):
            break
    if best is None or best.odd.all():
        return None
    decided = reading.numeric or reading.format is not None
    return best if decided or _few(texts, counts, best) else None


def read_as(texts: Sequence[str], form: NumberFormat) -> NDArray[np.float64]:
    """Read texts as numbers in a format: ``(len(texts),)``; NaN for one that is odd."""
    values = np.full(len(texts), np.nan)
    likely = [i for i, text in enumerate(texts) if _PERHAPS.fullmatch(text)]
    values[likely] = _values([texts[i] for i in likely], form)
    return values


def _formats(texts: Sequence[str], decimal: str) -> Iterator[NumberFormat]:
    """Yield the formats that a column may be written in, the file's plain one first."""
    for unit in _units(texts)[: _MOST_UNITS + 1]:
        for mark in (decimal, "," if decimal == "." else "."):
            for grouping in ("", *_GROUPINGS[mark]):
                yield NumberFormat(mark, grouping, unit)


def mended(text: str, form: NumberFormat) -> float | None:
    """Return the number that an odd cell would be if only its format were another.

    A proposal: nothing takes it but the auditor. A currency sign, grouped digits, and the other
    decimal mark where the column's own gives no number.

    Returns
    -------
    float or None
        None where the cell is no number in any format.
    """
    other = "," if form.decimal == "." else "."
    for mark in (form.decimal, other):
        for unit in ("", *(unit for unit in _units([text]) if unit != "%")):
            for grouping in ("", *_GROUPINGS[mark]):
                (number,) = _values([text], NumberFormat(mark, grouping, unit)).tolist()
                if not np.isnan(number):
                    return float(number)
    return None


def format_of(example: str) -> NumberFormat | None:
    """Read a format from a number that is written in it: “1.234,5”, “1 234.5 €”, “1234,5”.

    Returns
    -------
    NumberFormat or None
        None where the example has no fraction, or could be written in two formats.
    """
    if _EITHER.fullmatch(example):
        return None
    for unit in _units([example])[::-1]:
        for mark in ".,":
            for grouping in ("", *_GROUPINGS[mark]):
                form = NumberFormat(mark, grouping, unit)
                if mark in example and not np.isnan(_values([example], form)[0]):
                    return form
    return None


def written_like(form: NumberFormat) -> str:
    """Return an example of a number in a format."""
    return f"1{form.grouping}234{form.decimal}5{' ' + form.unit if form.unit else ''}"


def is_missing_word(text: str) -> bool:
    """Return whether a text means that there is no value."""
    return " ".join(text.casefold().split()) in MISSING_WORDS


def mostly_numbers(texts: Sequence[str], decimal: str) -> bool:
    """Return whether half of some texts, and not just a few, are plain numbers."""
    count = sum(as_numbers([text], decimal) is not None for text in texts)
    return count >= FEWEST_NUMBERS and 2 * count >= len(texts)


def _few(texts: Sequence[str], counts: NDArray[np.intp], read: NumbersRead) -> bool:
    """Return whether the odd cells are so few that the column holds numbers all the same."""
    rows, odd = int(counts.sum()), int(counts[read.odd].sum())
    if not odd:
        return True
    strange = [texts[i] for i in np.flatnonzero(read.odd).tolist()]
    if np.unique(read.values[~read.odd]).size < FEWEST_NUMBERS:
        ranges = any(is_range(text) for text in strange)
        return odd <= FEW_ODD_AMONG_FEW * rows and not ranges
    words = np.array([is_missing_word(text) for text in strange], dtype=bool)
    without = int(counts[np.flatnonzero(read.odd)[words]].sum())
    if odd > MOST_ODD * rows or odd - without > FEW_ODD * (rows - without):
        return False
    codes = {
        text.strip()
        for text in strange
        if _LETTER_AND_DIGIT.search(text) and mended(text, read.format) is None
    }
    return len(codes) < _CODES


def _units(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the currency and percent signs that stand before or after some texts; "" first."""
    found = (re.search(_UNIT, text) for text in texts)
    return ("", *sorted({each[0] for each in found if each}))


@cache
def _pattern(form: NumberFormat) -> re.Pattern[str]:
    """Return what a number in a format looks like, its digits as the one group that is filled."""
    whole = r"\d+"
    if form.grouping:
        mark = re.escape(form.grouping)
        thousands = rf"[1-9]\d{{0,2}}(?:{mark}\d{{3}})+"
        lakhs = rf"[1-9]\d?(?:{mark}\d{{2}})+{mark}\d{{3}}"
        whole = rf"(?:{thousands}|{lakhs}|\d+)"
    point = re.escape(form.decimal)
    digits = rf"(?:{whole}(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d+)?"
    if not form.unit:
        return re.compile(rf"\s*([+-]?{digits})\s*", re.ASCII)
    unit = re.escape(form.unit)
    before = rf"([+-]?){unit}\s?([+-]?{digits})"
    # 45 % among plain numbers may be 0.45; an amount without its currency is an amount
    after = rf"([+-]?{digits})\s?{unit}{'' if form.unit == '%' else '|([+-]?' + digits + ')'}"
    return re.compile(rf"\s*(?:{before}|{after})\s*", re.ASCII)


def _values(texts: Sequence[str], form: NumberFormat) -> NDArray[np.float64]:
    """Read texts as numbers in a format; NaN for one that is none, or that a float cannot keep."""
    digits = [_digits(text, form) for text in texts]
    values = np.full(len(texts), np.nan)
    found = [i for i, each in enumerate(digits) if each]
    numbers = as_numbers([digits[i] for i in found], form.decimal)
    if numbers is not None:
        values[found] = numbers
        return values
    for i in found:
        one = as_numbers([digits[i]], form.decimal)
        if one is not None:
            values[i] = one[0]
    return values


def _digits(text: str, form: NumberFormat) -> str:
    """Write a number plainly; empty where the text is none in this format."""
    if form == NumberFormat(form.decimal):
        return text
    if len(text) > _LONGEST:
        return ""
    found = _pattern(form).fullmatch(_SPACES.sub(" ", text).replace("’", "'"))
    if found is None:
        return ""
    digits = "".join(each for each in found.groups() if each)
    return digits.replace(form.grouping, "") if form.grouping else digits
