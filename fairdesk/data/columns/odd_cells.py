"""Numbers as a column writes them, and its odd cells: those that are none.

A column is one of numbers when all of its cells are, but for a few. Those are its *odd cells*: they
count as missing until the auditor says which number one of them is. A cell is never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.columns.kinds import as_numbers, is_range
from fairdesk.data.table import ColumnReading, NumberFormat

#: A column of numbers has at most this share of odd cells, words for “no value” aside ...
FEW_ODD = 0.05
#: ... and this share where such words are counted too ...
MOST_ODD = 0.5
#: ... and this share where it has fewer different numbers than so many: those may be categories.
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

    The format is the file's plain one where that leaves a few odd cells only; else the one that
    leaves the fewest, the nearest to the plain one of several. The auditor's word goes before.

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
