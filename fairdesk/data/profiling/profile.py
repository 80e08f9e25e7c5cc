"""What is worth knowing about a table before it is audited: shapes, problems, suggestions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator
from itertools import islice, pairwise

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.columns.derived import (
    age_name,
    at_date,
    dates_of,
    default_date,
    is_of_dates,
    today,
)
from fairdesk.data.columns.kinds import (
    as_numbers,
    counts_rows,
    identifies,
    is_prose,
    mostly_numbers,
    name_parts,
)
from fairdesk.data.columns.rereading import (
    Change,
    ambiguous_changes,
    counted_cells,
    encoding_changes,
    format_changes,
    format_words,
    garbled_words,
    is_undecided,
    missing_changes,
    missing_words,
    number_text,
    numeric_changes,
    odd_changes,
    odd_words,
)
from fairdesk.data.table import AS_THEY_ARE, Column, Dialect, Kind, Table


def _words(text: str) -> frozenset[str]:
    return frozenset(word.strip() for word in text.split(","))


#: Words in a column's name that stand for a protected attribute ...
PROTECTED = _words(
    "age, ages, aged, older, younger, dob, birth, birthday, birthdate, birthyear, birthplace, "
    "sex, sexe, sexo, geschlecht, male, female, man, woman, men, women, "
    "race, races, racial, black, white, asian, hispanic, latino, latina, afam, caucasian, caste, "
    "tribe, faith, creed, married, marriage, spouse, veteran, language"
)
#: ... how such words begin ...
PROTECTED_STEMS = (
    *("ethnic", "gender", "racep", "religi", "nationali", "citizen", "immigra", "migra"),
    *("foreign", "marit", "disab", "handicap", "pregnan", "sexual", "politic", "genetic"),
)
#: ... and words that do so together only.
PROTECTED_TOGETHER = (
    *(("native", "country"), ("country", "origin"), ("national", "origin"), ("home", "country")),
    *(("skin", "color"), ("skin", "colour"), ("civil", "status"), ("family", "status")),
)
#: Beside one of these, an age or a colour is that of a thing.
THINGS = _words("account, car, vehicle, house, building, property, company, credit, loan, product")

#: Values of protected attributes, in lower case; two of a line make a column look like one ...
VALUES_OF_PROTECTED = (
    _words("male, female, man, woman, men, women, non-binary, nonbinary, diverse"),
    _words(
        "african-american, african american, black, white, asian, asian-pac-islander, caucasian, "
        "hispanic, latino, latina, latinx, native american, american indian, amer-indian-eskimo, "
        "pacific islander, afam, cauc"
    ),
    _words(
        "christian, muslim, jewish, hindu, buddhist, sikh, atheist, catholic, protestant, "
        "orthodox, christianity, islam, judaism, hinduism, buddhism"
    ),
    _words("married, single, divorced, widowed, separated, never-married, never married"),
)
#: ... but for these, which are also colours of cars.
COLOURS = _words("black, white")

#: Names of decisions and outcomes, written without spaces and signs; the surer ones first.
LABELS = _words(
    "label, target, class, y, outcome, decision, approved, approval, survived, hired, granted, "
    "accepted, admitted, loanstatus, creditrisk, creditrating"
)
PERHAPS_LABELS = _words(
    "income, credit, result, response, recid, recidivism, twoyearrecid, 2yearrecid, "
    "twoyrrecidivism, risk, callback, call, passbar, passed, churn, churned, toxic, diabetes, "
    "default, status"
)
#: Names of what belongs to the making of a table, not to the people.
SURVEY = _words("split, fold, subset, partition, weight, fnlwgt")
#: Words for a weight in a column's name. One is that of a row in a sample with a word beside it ...
WEIGHTS = _words("weight, weights, wgt, wgts, wt, wts")
OF_SAMPLES = _words(
    "sample, survey, sampling, final, person, household, hh, population, pop, design, base, row, "
    "instance, case, observation, probability, inverse, replicate, analysis, frequency, freq"
)
#: ... or in one of the short forms that surveys use, written without spaces and signs.
SAMPLE_WEIGHTS = _words(
    "fnlwgt, afnlwgt, finlwgt, finalwgt, pwgtp, wgtp, perwt, hhwt, asecwt, marsupwt, wtfinl, "
    "earnwt, pweight, fweight, aweight, iweight, ipw, iptw, wtssall, wtssps, lnwtpert"
)


#: From this share of missing cells a column is worth a word; from the second it is best left out.
SOME_MISSING = 0.05
MOSTLY_MISSING = 0.5
#: More values than this are too many to be told apart one by one.
MANY_VALUES = 100
#: Of so many values at most the spelling is compared.
_COMPARED = 100_000
#: So many rows are looked at first, to see whether all of them must be.
_FIRST = 1_000
#: An outcome has at most so many values.
MOST_OUTCOMES = 20


_PROSE = "holds free text."


class Problem(msgspec.Struct, frozen=True):
    """Something about a column that the auditor should know.

    Attributes
    ----------
    column : str
        Its name.
    what : str
        What it is, one sentence.
    remedy : str
        What can be done, one sentence.
    suggested : Kind, optional
        The kind that mends it, where one does.
    changes : tuple[Change, ...]
        Other ways to read the table that mend it, or take a mending back.
    """

    column: str
    what: str
    remedy: str
    suggested: Kind | None = None
    changes: tuple[Change, ...] = ()


def histogram(table: Table, name: str, bins: int = 12) -> tuple[tuple[str, int], ...]:
    """Count a column's values for a small chart.

    Parameters
    ----------
    bins : int
        The most bars, at least 2.

    Returns
    -------
    tuple of (str, int)
        Labels and counts. Of names the most frequent first and the rest as ``"other"``; ordinal
        values in their order; numbers by value, or in bins of equal width. Missing cells are
        not counted.

    Raises
    ------
    DataError
        When there is no such column.
    """
    column = table.column(name)
    codes = table.codes[:, table.index(name)]
    present = codes[~np.isnan(codes)]
    if not present.size:
        return ()
    if column.values:
        return _bars_of_names(column, present, bins)
    if np.unique(present[:_FIRST]).size > bins:
        return _bars_of_numbers(column, present, bins)
    numbers, counts = np.unique(present, return_counts=True)
    if numbers.size <= bins:
        return tuple(zip(map(_short, numbers.tolist()), counts.tolist(), strict=True))
    return _bars_of_numbers(column, present, bins)


def _bars_of_names(
    column: Column, present: NDArray[np.float64], bins: int
) -> tuple[tuple[str, int], ...]:
    counts = np.bincount(present.astype(np.intp), minlength=len(column.values))
    if column.kind is Kind.ORDINAL and len(column.values) <= bins:
        return tuple(zip(column.values, counts.tolist(), strict=True))
    order = np.argsort(-counts, kind="stable").tolist()
    shown = order if len(order) <= bins else order[: bins - 1]
    bars = [(column.values[i], int(counts[i])) for i in shown]
    if len(order) > bins:
        bars.append(("other", int(counts[order[bins - 1 :]].sum())))
    return tuple(bars)


def _bars_of_numbers(
    column: Column, present: NDArray[np.float64], bins: int
) -> tuple[tuple[str, int], ...]:
    low, high = present.min(), present.max()
    if column.kind is Kind.REAL or (present != np.round(present)).any():
        counts, edges = np.histogram(present, bins=bins)
        labels = [f"{_short(a)} – {_short(b)}" for a, b in pairwise(edges.tolist())]
        return tuple(zip(labels, counts.tolist(), strict=True))
    width = np.ceil((high - low + 1) / bins)
    counts = np.bincount(((present - low) // width).astype(np.intp))
    starts = (low + width * np.arange(counts.size)).tolist()
    if width == 1:
        labels = [_short(start) for start in starts]
    else:
        labels = [f"{_short(start)} – {_short(start + width - 1)}" for start in starts]
    return tuple(zip(labels, counts.tolist(), strict=True))


def _short(number: float) -> str:
    """Write a number for a chart's label."""
    return f"{int(number)}" if number == int(number) else f"{number:.4g}"


def problems(table: Table) -> tuple[Problem, ...]:
    """Find what stands in the way of a sound audit, column by column.

    What tells the outcome alone is found by `fairdesk.data.profiling.outcomes`.
    """
    dialect = table.source.dialect
    return tuple(
        problem
        for position, column in enumerate(table.columns)
        for problem in (
            *_of_reading(column, table),
            *_problems_of(column, np.ascontiguousarray(table.codes[:, position]), dialect),
        )
    )


def _of_reading(column: Column, table: Table) -> Iterator[Problem]:
    """Yield the problems with how a column is read, and with cells that are unlike its others."""
    dialect = table.source.dialect
    name = f"“{column.name}”"
    if column.odd:
        yield _odd(column, dialect)
    decided = dialect.reading(column.name).format
    if (form := decided or column.format) is not None and not column.values:
        yield Problem(
            column.name,
            f"The numbers of {name} are read in a format {format_words(form)}.",
            "You chose this." if decided else "Most numbers in the file are written differently.",
            changes=tuple(format_changes(column, dialect)),
        )
    if column.ambiguous:
        mark = "point" if dialect.decimal == "." else "comma"
        yield Problem(
            column.name,
            f"In {name} a {mark} may mark decimals or group digits: “{column.ambiguous[:40]}” "
            f"is read as {number_text(_plain_number(column.ambiguous, dialect.decimal))}.",
            "The mark is read as a decimal mark until you decide.",
            changes=tuple(ambiguous_changes(column, dialect)),
        )
    if column.garbled:
        yield _garbled(column, dialect)
    if words := missing_words(column):
        yield Problem(
            column.name,
            f"In {name} these texts are read as missing: {words}.",
            "Keep them as values if they are categories of their own.",
            changes=tuple(missing_changes(column, dialect)),
        )
    elif dialect.reading(column.name) == AS_THEY_ARE:
        yield Problem(
            column.name,
            f"All texts of {name} are read as values; none is read as missing.",
            "You chose this.",
            changes=tuple(missing_changes(column, dialect)),
        )
    if is_of_dates(column):
        yield _dated(table, column)


def _dated(table: Table, column: Column) -> Problem:
    """Say that a column holds dates, and offer the ages that follow from them."""
    name, dialect = column.name, table.source.dialect
    newest = max(dates_of(column.values) or [today()])
    days = sorted({today(), default_date(table, name), newest}, reverse=True)
    chosen = dialect.ages.get(name)
    what = f"“{name}” holds dates."
    remedy = (
        f"“{age_name(name)}” has the ages at {chosen}: protect that, to compare groups by age."
        if chosen
        else "Single days are no groups. To compare groups by age, add the ages at a date (on the "
        f"command line: --protected {name}, with --age-at for another date than "
        f"{default_date(table, name)}), and protect these."
    )
    changes = tuple(
        Change(f"Add the ages at {day}", at_date(dialect, name, day))
        for day in days
        if day.isoformat() != chosen
    )
    return Problem(name, what, remedy, changes=changes)


def _plain_number(text: str, decimal: str) -> float:
    numbers = as_numbers([text], decimal)
    return np.nan if numbers is None else float(numbers[0])


def _odd(column: Column, dialect: Dialect) -> Problem:
    mendable = [each for each in column.odd if each.proposed is not None]
    read = sum(each.rows for each in column.odd if each.value is not None)
    are = "is not a number" if column.odd_rows == 1 else "are not numbers"
    what = (
        f"“{column.name}” contains numbers, and {counted_cells(column.odd_rows)} that {are}: "
        f"{odd_words(column, dialect)}."
    )
    if not is_undecided(column, dialect):
        mended = f"{counted_cells(read)} converted, " if read else ""
        decided = f"You chose: {mended}{counted_cells(column.odd_rows - read)} missing."
        return Problem(column.name, what, decided, changes=tuple(odd_changes(column, dialect)))
    remedy = "It counts" if column.odd_rows == 1 else "They count"
    remedy += " as missing until you decide."
    if mendable:
        shown = ", ".join(
            f"“{each.text[:40]}” is {number_text(each.proposed)}"
            for each in mendable[:3]
            if each.proposed is not None
        )
        more = f" and {len(mendable) - 3:,} more" if len(mendable) > 3 else ""
        remedy += f" Numbers in another format can be converted: {shown}{more}."
    return Problem(column.name, what, remedy, changes=tuple(odd_changes(column, dialect)))


def _garbled(column: Column, dialect: Dialect) -> Problem:
    rows = sum(each.rows for each in column.garbled)
    split = any(each.twin for each in column.garbled)
    if dialect.encoding_mended:
        remedy = "You chose to repair the encoding."
    elif split:
        remedy = "Until it is repaired, each counts as a separate category and splits its group."
    else:
        remedy = "Repair the encoding if these texts are what was meant."
    return Problem(
        column.name,
        f"“{column.name}” has {counted_cells(rows)} in a different encoding from the rest: "
        f"{garbled_words(column, dialect)}.",
        remedy,
        changes=tuple(encoding_changes(dialect)),
    )


def _problems_of(column: Column, codes: NDArray[np.float64], dialect: Dialect) -> Iterator[Problem]:
    name, missing = f"“{column.name}”", column.missing / codes.size
    if column.missing == codes.size:
        yield Problem(column.name, column.note or f"{name} is empty.", "It is excluded.")
        return
    if column.note:
        remedy = "No action is needed; you can rename it in the file."
        if column.derived:
            apart = "; exclude it if its columns are to be changed separately"
            remedy = f"No action is needed{apart if column.is_one_hot else ''}."
        yield Problem(column.name, column.note, remedy)
    nearly_numbers = None if column.kind.is_number else _nearly_numbers(column, dialect)
    if nearly_numbers:
        yield nearly_numbers
    elif useless := _nothing_to_audit(column, codes):
        yield _problem(column, f"{name} {useless}")
        return
    if column.kind is Kind.IGNORED:
        return
    if column.low == column.high:
        where = "wherever it is not missing" if column.missing else "in every row"
        yield _problem(
            column, f"{name} has the same value {where}, so it does not distinguish any rows."
        )
    elif column.kind is Kind.NOMINAL and len(column.values) > MANY_VALUES and not nearly_numbers:
        yield _problem(column, f"{name} has {len(column.values):,} different values.")
    if missing >= SOME_MISSING and column.missing > column.odd_rows:
        mostly = missing >= MOSTLY_MISSING
        yield Problem(
            column.name,
            f"In {name} {column.missing:,} of {codes.size:,} values are missing "
            f"({100 * missing:.1f}\u00a0%).",
            "Exclude it unless the model needs it."
            if mostly
            else "Such rows are tested only where the model accepts missing cells.",
            Kind.IGNORED if mostly else None,
        )
    if not column.kind.is_number and column.kind is not Kind.TEXT:
        yield from _twins(column)


def _problem(column: Column, what: str) -> Problem:
    """Make a problem that is mended by leaving the column out."""
    if column.kind is Kind.IGNORED:
        return Problem(column.name, what, "It is excluded; give it a type to include it.")
    if column.kind is Kind.TEXT:
        return Problem(
            column.name, what, "It is kept for models that use it, and is never changed."
        )
    if what.endswith(_PROSE):
        return Problem(column.name, what, "Give it the type “free text”.", Kind.TEXT)
    return Problem(column.name, what, "Exclude it unless the model needs it.", Kind.IGNORED)


def _nothing_to_audit(column: Column, codes: NDArray[np.float64]) -> str:
    """Return why a column does not describe people; empty when it may."""
    if is_prose(column, codes):
        return _PROSE
    if identifies(column, codes):
        return "identifies the rows: nearly every row has a value of its own."
    if not column.values and codes.size > 2 and counts_rows(codes):
        return "only numbers the rows."
    return ""


def _twins(column: Column) -> Iterator[Problem]:
    """Find values that are nearly alike."""
    same = defaultdict(list)
    for value in column.values[:_COMPARED]:
        same[_plain(value)].append(value)
    twins = next((values for values in same.values() if len(values) > 1), None)
    if twins:
        yield Problem(
            column.name,
            f"“{column.name}” has values that differ only in capitals or spaces: {_quoted(twins)}.",
            "Make them equal in the file; otherwise each counts as a separate group.",
        )


def _nearly_numbers(column: Column, dialect: Dialect) -> Problem | None:
    """Find names that would be numbers but for some."""
    decimal = dialect.decimal
    if not mostly_numbers(column.values, decimal):
        return None
    every = (value for value in column.values if as_numbers([value], decimal) is None)
    strangers = list(islice(every, _COMPARED))
    if not strangers:
        return None
    more = f" and {len(strangers) - 3:,} more" if len(strangers) > 3 else ""
    return Problem(
        column.name,
        f"“{column.name}” would contain only numbers except for {_quoted(strangers)}{more}.",
        "Read it as numbers if it contains amounts; cells that are not numbers then count as "
        "missing.",
        changes=tuple(numeric_changes(column, dialect)),
    )


def _quoted(values: list[str]) -> str:
    return ", ".join(f"“{value[:40]}”" for value in values[:3])


def suggest_protected(table: Table) -> tuple[str, ...]:
    """Return the columns that look like protected attributes, by their names and values.

    To be shown, never to be applied silently. Ignored columns and texts are left out.
    """
    return tuple(
        column.name
        for column in table.columns
        if column.kind not in (Kind.IGNORED, Kind.TEXT)
        and (_named_protected(column.name) or _valued_protected(column.values))
    )


def _named_protected(name: str) -> bool:
    parts = set(name_parts(name))
    if parts & THINGS:
        return False
    return bool(
        parts & PROTECTED
        or any(part.startswith(PROTECTED_STEMS) for part in parts)
        or any(parts.issuperset(together) for together in PROTECTED_TOGETHER)
    )


def _valued_protected(values: Iterable[str]) -> bool:
    plain = {_plain(value) for value in values}
    return any(
        len(shared := plain & known) >= 2 and not shared <= COLOURS for known in VALUES_OF_PROTECTED
    )


def sample_weights(columns: Iterable[Column], inputs: Container[str]) -> tuple[str, ...]:
    """Return the columns of numbers that are called like the weights of rows in a sample.

    Parameters
    ----------
    inputs : Container of str
        The columns that the model takes: what is only called “weight” may be that of a person.
    """
    return tuple(
        column.name
        for column in columns
        if (column.kind.is_number or column.kind is Kind.IGNORED)
        and _weighs(name_parts(column.name), given=column.name in inputs)
    )


def _weighs(parts: tuple[str, ...], *, given: bool) -> bool:
    plain = "".join(parts)
    if plain in SAMPLE_WEIGHTS:
        return True
    if plain in WEIGHTS:
        return not given
    return any(plain == one + other for one in OF_SAMPLES for other in WEIGHTS)


def suggest_label(table: Table) -> str | None:
    """Return the column that most looks like the outcome; ``None`` when none does.

    A usual name counts most, then two values, then the last place.
    """
    best, best_score = None, 0
    for position, column in enumerate(table.columns):
        parts = name_parts(column.name)
        unfit = column.kind in (Kind.IGNORED, Kind.REAL, Kind.TEXT)
        if unfit or SURVEY.intersection(parts):
            continue
        distinct = _different(table.codes[:, position])
        if not 2 <= distinct <= MOST_OUTCOMES:
            continue
        plain, last = "".join(parts), position == len(table.columns) - 1
        named = 4 * (plain in LABELS) + 2 * (plain in PERHAPS_LABELS)
        score = named + (distinct == 2) + last
        if (named or last) and score >= best_score:
            best, best_score = column.name, score
    return best


def _different(codes: NDArray[np.float64]) -> int:
    """Count the values of a column, up to more than an outcome has."""
    first = codes[:_FIRST]
    if np.unique(first[~np.isnan(first)]).size > MOST_OUTCOMES:
        return MOST_OUTCOMES + 1
    return int(np.unique(codes[~np.isnan(codes)]).size)


def _plain(value: str) -> str:
    """Write a value without regard to capitals and spaces."""
    return " ".join(value.casefold().split())
