"""What counts as the favourable outcome, and columns that tell the outcome alone.

The favourable outcome is a text everywhere: exactly one of the label's values; else, for a column
of numbers, a comparison (``">= 50"``); else several values together (``"good or fair"``).
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.columns.kinds import counts_rows, identifies
from fairdesk.data.profiling.profile import Problem
from fairdesk.data.table import Column, Kind, Table
from fairdesk.errors import DataError, SpecError, did_you_mean

OR = " or "
#: So many values of a label column are listed, and offered one by one.
MOST_LISTED = 20

_COMPARISON = re.compile(
    r"\s*(>=|<=|>|<|≥|≤)\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*", re.ASCII
)
_SIGNS = {"≥": ">=", "≤": "<="}
_COMPARE: dict[str, Callable[[NDArray[np.float64], float], NDArray[np.bool_]]] = {
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "<": operator.lt,
}


class Comparison(NamedTuple):
    """A comparison with a number: ``sign`` is ``">="``, ``">"``, ``"<="`` or ``"<"``."""

    sign: str
    number: float


def comparison(text: str) -> Comparison | None:
    """Read a comparison with a number, like ``">= 50"``; none where the text is something else."""
    found = _COMPARISON.fullmatch(text)
    return Comparison(_SIGNS.get(found[1], found[1]), float(found[2])) if found else None


def spelt_as(wanted: str, names: Sequence[str]) -> int | None:
    """Find a value among others: the same text, else the only one that spells it otherwise.

    ``"1"``, ``"1.0"`` and ``"True"`` are one value, and so are ``"Yes"`` and ``"yes "``.
    """
    for same in (str, meaning):
        target = same(wanted)
        found = [i for i, name in enumerate(names) if same(name) == target]
        if len(found) == 1:
            return found[0]
    return None


def several(wanted: str, names: Sequence[str]) -> tuple[int, ...]:
    """Find the values that a text names, joined by " or ", as `spelt_as` finds each.

    Values may hold that word themselves.

    Returns
    -------
    tuple[int, ...]
        Their positions, in the order of ``names``; empty where one of them is not there.
    """
    words = wanted.split(OR)

    def places(start: int) -> tuple[int, ...] | None:
        if start == len(words):
            return ()
        for end in range(len(words), start, -1):
            place = spelt_as(OR.join(words[start:end]), names)
            if place is not None and (rest := places(end)) is not None:
                return (place, *rest)
        return None

    # trying every way to cut takes exponential time, and nobody joins that many values by hand
    found = places(0) if len(words) <= MOST_LISTED else None
    return tuple(sorted(set(found))) if found else ()


def favourable_rows(
    table: Table, label: str, favourable: str, *, block: bool = False
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return for each row whether its label is favourable, and whether it has a label.

    Parameters
    ----------
    label : str
        The column with the decision or the truth.
    favourable : str
        What is favourable, as `canonical` writes it.
    block : bool
        Whether these are some of a table's rows only, among which need not be a favourable one.

    Returns
    -------
    good, known : NDArray[np.bool_]
        ``(n,)`` each; ``good`` is false where ``known`` is.

    Raises
    ------
    DataError
        When there is no such column, or it has no such value; the message lists those it has.
    """
    column = table.column(label)
    codes = table.codes[:, table.index(label)]
    if not column.values and (compared := comparison(favourable)) is not None:
        return _COMPARE[compared.sign](codes, compared.number), ~np.isnan(codes)
    there = codes
    if block:
        numbers = [_as_number(word) for word in favourable.split(OR)]
        there = np.array([number for number in numbers if number is not None])
        there = np.arange(float(len(column.values))) if column.values else there
    wanted = _codes(favourable, column, there)
    if not wanted:
        raise DataError(
            f"The column “{label}” has no value “{favourable}”.",
            remedy=f"Choose one of its values: {_listed(column, codes)}.",
        )
    return np.isin(codes, wanted), ~np.isnan(codes)


def canonical(table: Table, label: str, wanted: str) -> str:
    """Write what is favourable as the label column does: what `favourable_rows` understands.

    Parameters
    ----------
    wanted : str
        What somebody typed: a value, several joined by " or ", or a comparison.

    Raises
    ------
    DataError
        When there is no such column; the message lists those there are.
    SpecError
        When the column has no such value, or the comparison divides nothing.
    """
    column = table.column(label)
    codes = table.codes[:, table.index(label)]
    present = _present(codes)
    if not present.size:
        raise SpecError(
            f"The recorded outcome “{label}” is empty.",
            remedy="Choose the column with the recorded outcome.",
            setting="label",
        )
    if not column.values and (compared := comparison(wanted)) is not None:
        true_of = _COMPARE[compared.sign](present, compared.number)
        if true_of.all() or not true_of.any():
            raise SpecError(
                f"“{wanted.strip()}” is true for {'every' if true_of.all() else 'no'} value of the "
                f"recorded outcome “{label}”.",
                remedy=f"Its values range from {column.text(present[0])} to "
                f"{column.text(present[-1])}.",
            )
        return f"{compared.sign} {_number(compared.number)}"
    if not column.values:
        # a column of measurements can have a million values: find the number, not its spelling
        typed = [_as_number(word) for word in wanted.split(OR)]
        codes_wanted = [number for number in typed if number is not None and number in present]
        if len(codes_wanted) == len(typed):
            return OR.join(column.text(number) for number in sorted(set(codes_wanted)))
    else:
        values = [column.text(code) for code in present.tolist()]
        place = spelt_as(wanted, values)
        places = several(wanted, values) if place is None else (place,)
        if places:
            return OR.join(values[place] for place in places)
    near = did_you_mean(wanted, column.values)
    raise SpecError(
        f"The recorded outcome “{label}” has no value “{wanted}”.",
        remedy=f"{near} Its values are: {_listed(column, codes)}.".lstrip()
        + ("" if column.values else f" Write a limit like “>= {_middle(column, present)}”."),
    )


def _codes(favourable: str, column: Column, codes: NDArray[np.float64]) -> list[float]:
    """Return the codes of one value, else of several; none where one is not there."""
    present = _present(codes)
    if column.values:
        values = [column.text(code) for code in present.tolist()]
        if favourable in values:
            return [float(present[values.index(favourable)])]
        return [float(present[place]) for place in several(favourable, values)]
    numbers = [_as_number(word) for word in favourable.split(OR)]
    found = [number for number in numbers if number is not None and number in present]
    return found if len(found) == len(numbers) else []


def _present(codes: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.unique(codes[~np.isnan(codes)])


def _middle(column: Column, present: NDArray[np.float64]) -> str:
    # one of the values, so that it is written as they are
    return column.text(float(present[len(present) // 2]))


def _listed(column: Column, codes: NDArray[np.float64]) -> str:
    present = _present(codes)
    shown = ", ".join(column.text(code) for code in present[:MOST_LISTED].tolist())
    return f"{shown}, … ({present.size:,} in all)" if present.size > MOST_LISTED else shown


def _number(number: float) -> str:
    return str(int(number)) if number == int(number) else repr(number)


def _as_number(text: str) -> float | None:
    value = meaning(text)
    return value if isinstance(value, float) else None


def meaning(text: str) -> str | float:
    """Read a class or label value so that other spellings of it compare equal."""
    plain = text.strip().casefold()
    if plain in ("true", "false"):
        return float(plain == "true")
    try:
        # Python takes “1_0” for ten
        return plain if "_" in plain else float(plain)
    except ValueError:
        return plain


#: Scores are put into so many bins of equal width.
_BINS = 10


def auc(score: NDArray[np.float64], wanted: NDArray[np.bool_]) -> float | None:
    """Compute the area under the ROC curve from ranks (Mann and Whitney); ties count half.

    Parameters
    ----------
    score : NDArray[np.float64]
        ``(n,)``.
    wanted : NDArray[np.bool_]
        ``(n,)``; which rows should have higher scores than the others.

    Returns
    -------
    float or None
        None when all rows are alike.
    """
    return _area(score, wanted, ~wanted)


def _area(
    score: NDArray[np.float64], ours: NDArray[np.generic], theirs: NDArray[np.generic]
) -> float | None:
    """Return that area where at each score there are so many wanted rows, and so many others."""
    pairs = float(ours.sum()) * float(theirs.sum())
    place = np.unique(score, return_inverse=True)[1]
    above, below = (np.bincount(place, weights=each) for each in (ours, theirs))
    return float(above @ (np.cumsum(below) - below / 2)) / pairs if pairs else None


def calibration_error(score: NDArray[np.float64], wanted: NDArray[np.bool_]) -> float:
    """Return the expected calibration error: 0 where scores are the shares of wanted rows.

    In each of ten bins, how far the mean score is from the share, weighted by its rows (Naeini,
    Cooper and Hauskrecht 2015).

    Parameters
    ----------
    score : NDArray[np.float64]
        ``(n,)``; probabilities; at least one.
    wanted : NDArray[np.bool_]
        ``(n,)``.
    """
    bins = np.clip(np.ceil(score * _BINS) - 1, 0, _BINS - 1).astype(np.intp)
    apart = np.bincount(bins, weights=score - wanted, minlength=_BINS)
    return float(np.abs(apart).sum() / len(score))


#: From this area under the ROC curve on, a column tells the outcome alone. Columns that honestly
#: describe people stay far below.
TELLS = 0.95
#: An outcome that fewer rows have, or lack, is too rare to be judged by.
FEWEST = 20

#: So many rows are looked at, evenly spread.
_ROWS = 100_000
#: Numbers are cut into at most so many groups of equal size, of at least so many rows.
_GROUPS, _ROWS_OF_GROUP = 100, 20


def leaks(table: Table, label: str, favourable: NDArray[np.bool_]) -> tuple[Problem, ...]:
    """Find the columns that tell the outcome almost alone.

    A column's values (numbers: in groups of equal size; missing cells: a group of their own) are
    rated on one half of the rows by how many have the favourable outcome, and the other half is
    ranked by these rates, and the other way round. So a column of names that are all different
    tells nothing, and one that tells the outcome in no order does tell it. Numbers are also
    ranked by their size. What names or counts the rows is left out.

    Parameters
    ----------
    favourable : NDArray[np.bool_]
        ``(n,)``; which rows have the favourable outcome. Rows without a label are left out.

    Returns
    -------
    tuple of Problem
        One per column with an area under the curve of at least `TELLS`. None where fewer than
        `FEWEST` rows have, or lack, the favourable outcome.

    Raises
    ------
    DataError
        When there is no such column.
    """
    place = table.index(label)
    known = np.flatnonzero(~np.isnan(table.codes[:, place]))
    rows = known[:: max(1, -(-known.size // _ROWS))]
    outcome = favourable[rows]
    if min(np.count_nonzero(outcome), np.count_nonzero(~outcome)) < FEWEST:
        return ()
    # halves at random, or an order of the rows would speak for the column
    half = np.random.default_rng(0).permutation(rows.size) % 2 == 0
    found = []
    for index, column in enumerate(table.columns):
        if index == place or column.kind in (Kind.IGNORED, Kind.TEXT) or column.low == column.high:
            continue
        codes = table.codes[rows, index]
        area = _area_of(column, codes, outcome, half)
        if area >= TELLS and not _of_rows(column, table.codes[:, index]):
            found.append(
                Problem(
                    column.name,
                    f"“{column.name}” predicts “{label}” almost alone (AUC {_cut(area)}).",
                    "Exclude it if it was recorded after the decision, or derived from it.",
                    Kind.IGNORED,
                )
            )
    return tuple(found)


def _of_rows(column: Column, codes: NDArray[np.float64]) -> bool:
    """Return whether a column is about rows: in a sorted file their numbers tell the outcome."""
    return identifies(column, codes) or (not column.values and counts_rows(codes))


def _area_of(
    column: Column, codes: NDArray[np.float64], outcome: NDArray[np.bool_], half: NDArray[np.bool_]
) -> float:
    """Return the area under the ROC curve that a column reaches alone, 0.5 to 1."""
    groups, count = _groups(column, codes)
    counts = np.bincount(2 * (2 * groups + half) + outcome, minlength=4 * count)
    sides = counts.reshape(count, 2, 2).astype(np.float64)
    areas = []
    for fit, rank in ((1, 0), (0, 1)):
        theirs, ours = sides[:, fit].T
        # towards the average where there are few rows: one row is no evidence
        rate = (ours + ours.sum() / sides[:, fit].sum()) / (ours + theirs + 1)
        areas.append(_area(rate, sides[:, rank, 1], sides[:, rank, 0]))
    area = float(np.mean([0.5 if each is None else each for each in areas]))
    if column.kind.is_number:
        present = ~np.isnan(codes)
        if present.mean() > 0.5:
            by_size = auc(codes[present], outcome[present])
            area = area if by_size is None else max(area, by_size, 1 - by_size)
    return area


def _groups(column: Column, codes: NDArray[np.float64]) -> tuple[NDArray[np.intp], int]:
    """Return the values of a column numbers, and how many; the last is for missing cells."""
    missing = np.isnan(codes)
    if column.values:
        count = len(column.values)
        return np.where(missing, count, codes).astype(np.intp), count + 1
    ordered = np.sort(codes[~missing])
    if not ordered.size:
        return np.zeros(codes.size, np.intp), 1
    count = min(_GROUPS, max(2, ordered.size // _ROWS_OF_GROUP))
    cuts = np.unique(ordered[:: max(1, ordered.size // count)])
    groups = np.searchsorted(cuts, codes, side="right")
    return np.where(missing, cuts.size + 1, groups).astype(np.intp), cuts.size + 2


def _cut(share: float) -> str:
    """Write a share with three places, never rounded up to 1."""
    return f"{np.floor(share * 1000) / 1000:.3f}"
