"""Model inputs that stand for one value of a column each: one-hot columns made outside a model."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from fairdesk.data.profiling.outcomes import meaning
from fairdesk.data.table import Column, Kind, Table
from fairdesk.models.model import How, Input

#: A column of more numbers than this was never made into an input for each.
MOST_NUMBERS = 200
_LARGEST_SINGLE = float(np.finfo(np.float32).max)
#: In the codes of an input: a missing cell.
MISSING = ""

#: How missing cells are called where they have an input of their own.
MISSING_NAMES = ("nan", "missing", "unknown", "none", "null")
_SEPARATORS = re.compile(r"[\s_=.:/|-]*")
#: As formulas call them: ``C(sex)[T.male]``.
_FORMULA = re.compile(r"(?:C\()?(.+?)\)?\[(?:T\.)?(.+)\]")


class Place(NamedTuple):
    """What an input stands for: a value of a column, or none that the data have."""

    column: str
    value: str | None


class Recognised(NamedTuple):
    """What was recognised: per input its place, and what could not be told, a sentence each."""

    places: dict[str, Place]
    problems: tuple[str, ...]


class Values:
    """Finds values among those of a column, however they are spelt; quickly, of thousands too."""

    def __init__(self, values: Sequence[str]) -> None:
        self.all = tuple(values)
        self._exact = set(values)
        self._same = [_unique(same, values) for same in (meaning, _in_single, loose)]

    def find(self, text: str) -> str | None:
        """Find a value: the same text, else the only one that means it, or has its letters."""
        if text in self._exact:
            return text
        means, _, loosely = self._same
        found = means.get(meaning(text)) or self.same_number(text)
        if found is None and any(letter.isalpha() for letter in text):
            found = loosely.get(loose(text))
        return found

    def same_number(self, text: str) -> str | None:
        """Find a value: the same text, else the only one that is the same number.

        True and false are 1 and 0. Numbers that single precision does not tell apart are one where
        none is equal: 16.12000084 is 16.12.
        """
        if text in self._exact:
            return text
        if not isinstance(meaning(text), float):
            return None
        means, in_single, _ = self._same
        return means.get(meaning(text)) or in_single.get(_in_single(text))


def _in_single(text: str) -> str | float:
    """Return what a text means, as a number of single precision where it is one."""
    number = meaning(text)
    if not isinstance(number, float) or not abs(number) < _LARGEST_SINGLE:
        return number
    return float(np.float32(number))


def _unique(same: Callable[[str], str | float], values: Sequence[str]) -> dict[str | float, str]:
    """Index values by what is the same about them; those that share it are left out."""
    counts = Counter(map(same, values))
    return {same(value): value for value in values if counts[same(value)] == 1}


def values_of(table: Table, column: Column) -> tuple[str, ...]:
    """Return the cell texts of a column that can have an input each.

    Those of whole numbers have no gaps, so that everybody between is known to be none of the
    others. Empty for numbers with more than `MOST_NUMBERS` values.
    """
    if column.values:
        return column.values
    if column.kind is Kind.INTEGER and column.high - column.low < MOST_NUMBERS:
        numbers: Sequence[float] = range(int(column.low), int(column.high) + 1)
    else:
        codes = table.codes[:, table.index(column.name)]
        # most columns of measurements show in a few rows that they are some
        for some in (codes[: 10 * MOST_NUMBERS], codes):
            numbers = np.unique(some[~np.isnan(some)]).tolist()
            if len(numbers) > MOST_NUMBERS:
                return ()
    return tuple(column.text(number) for number in numbers)


def texts_of(table: Table, column: Column) -> tuple[str, ...]:
    """Return the texts of all values that a column has in the table, in the order of its codes."""
    codes = table.codes[:, table.index(column.name)]
    return tuple(column.text(code) for code in np.unique(codes[~np.isnan(codes)]).tolist())


def recognise(names: Sequence[str], table: Table, columns: Sequence[Column]) -> Recognised:
    """Find the columns and values that inputs are named after.

    Parameters
    ----------
    names : sequence of str
        Inputs that no column is called like: ``"sex_Male"``, ``"sex=Male"``, ``"male"``.
    """
    known: dict[str, Values] = {}

    def values(column: Column) -> Values:
        if column.name not in known:
            known[column.name] = Values(values_of(table, column))
        return known[column.name]

    places: dict[str, Place] = {}
    problems: list[str] = []
    strangers: dict[str, Column] = {}
    for name in names:
        found = _by_prefix(name, columns, values)
        longest = max((len(loose(column.name)) for column, _ in found), default=0)
        best = [(c, value) for c, value in found if len(loose(c.name)) == longest]
        if len(best) == 1:
            places[name] = Place(best[0][0].name, best[0][1])
        elif best:
            between = " or ".join(f"“{value}” of “{column.name}”" for column, value in best)
            problems.append(f"The model’s input “{name}” can be {between}.")
        elif (column := _named_after(name, columns)) is not None:
            strangers[name] = column
    grouped = {place.column for place in places.values()}
    for name, column in strangers.items():
        if column.name in grouped:
            places[name] = Place(column.name, None)
    alone = [name for name in names if name not in places]
    found_alone, unclear = _by_value_alone(alone, columns)
    return Recognised({**places, **found_alone}, (*problems, *unclear))


def made(name: str, place: Place) -> Input:
    """Make the input that is 1 for its value and 0 for all others, missing cells among them."""
    codes = {MISSING: 0.0} if place.value is None else {MISSING: 0.0, place.value: 1.0}
    return Input(name=name, attribute=place.column, how=How.CODE, codes=codes, others=0.0)


def is_one_hot(item: Input) -> bool:
    """Return whether an input stands for some values, and all others are alike."""
    return item.others is not None


def _by_prefix(
    name: str, columns: Sequence[Column], values: Callable[[Column], Values]
) -> list[tuple[Column, str]]:
    """Find the columns whose name begins an input's name, a value of theirs being the rest."""
    found = []
    for spelt in _spellings(name):
        for column in columns:
            rest = _after(spelt, column.name)
            if rest is None:
                continue
            value = _value(rest, values(column), column.missing_token)
            if value is not None:
                found.append((column, value))
        if found:
            break
    return found


def _named_after(name: str, columns: Sequence[Column]) -> Column | None:
    """Find the column whose name begins an input's, set off by a sign; the longest of them."""
    found = [
        column
        for spelt in _spellings(name)
        for column in columns
        if (rest := _after(spelt, column.name)) and not rest[0].isalnum()
    ]
    return max(found, key=lambda column: len(loose(column.name)), default=None)


def _by_value_alone(
    names: Sequence[str], columns: Sequence[Column]
) -> tuple[dict[str, Place], list[str]]:
    """Find the columns whose values are what inputs are called: all values, or all but one."""
    claims: dict[str, list[Place]] = defaultdict(list)
    for column in columns:
        if len(column.values) > len(names) + 1:
            continue
        values = Values(column.values)
        found = {name: values.find(name) for name in names if not isinstance(meaning(name), float)}
        places = {name: Place(column.name, value) for name, value in found.items() if value}
        covered = {place.value for place in places.values()}
        if covered and len(covered) >= len(column.values) - 1:
            for name, place in places.items():
                claims[name].append(place)
    problems = [
        f"The model’s input “{name}” is a value of several columns: "
        + ", ".join(f"“{place.column}”" for place in places)
        + "."
        for name, places in claims.items()
        if len(places) > 1
    ]
    return {name: places[0] for name, places in claims.items() if len(places) == 1}, problems


def _spellings(name: str) -> Iterator[str]:
    """Yield a name as it is, and without what formulas and column transformers put around it."""
    yield name
    if formula := _FORMULA.fullmatch(name):
        yield f"{formula[1]}={formula[2]}"
    _, mark, rest = name.partition("__")
    if mark and rest:
        yield rest


def _after(name: str, column: str) -> str | None:
    """Return what follows a column's name in an input's, compared without signs and case."""
    wanted = loose(column)
    at = 0
    for letter in wanted:
        while at < len(name) and not name[at].isalnum():
            at += 1
        if at == len(name) or name[at].casefold() != letter:
            return None
        at += 1
    return name[at:] if wanted and at < len(name) else None


def _value(rest: str, values: Values, token: str) -> str | None:
    """Find the value that a text is, with or without the signs that set it off."""
    marks = _SEPARATORS.match(rest)
    most = marks.end() if marks else 0
    if not most:
        # “age” does not begin “agency”, but “Pclass1” and “sexMale” are written so too
        return rest if rest in values.all else None
    for start in range(min(most, len(rest) - 1) + 1):
        text = rest[start:]
        value = values.find(text)
        if value is not None:
            return value
        if text == token or text.casefold() in MISSING_NAMES:
            return MISSING
    return None


@lru_cache(maxsize=1 << 16)
def loose(name: str) -> str:
    """Return a name without case, spaces and signs."""
    return "".join(letter for letter in name.casefold() if letter.isalnum())
