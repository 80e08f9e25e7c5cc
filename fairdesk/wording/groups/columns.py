"""The columns of tables of groups: each figure's text, and how it came."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import msgspec

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.results.groups import GroupLine, GroupTable
from fairdesk.wording import words
from fairdesk.wording.groups.impact_ratio import (
    BELOW,
    FLIPS,
    comparisons,
    ratio_interval,
    small_test,
)
from fairdesk.wording.groups.tables import (
    group_text,
    outcome_of,
    points_of,
    rate_digits,
    rate_of,
    reference_of,
)
from fairdesk.wording.language import say
from fairdesk.wording.words import UNDEFINED, p_is, p_text, signed


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table of groups.

    Attributes
    ----------
    key : str
        What it is.
    head : str
        Its name for people.
    text : callable
        Writes a group's cell.
    formula : callable
        Says how that came; empty for what is no number.
    """

    key: str
    head: str
    text: Callable[[GroupTable, GroupLine], str]
    formula: Callable[[GroupTable, GroupLine], str]


def columns(table: GroupTable) -> tuple[Column, ...]:
    """Return the columns of a table's figures: those of error rates only with labels."""
    made: tuple[Column, ...] = (*_COUNTS, *_COMPARED)
    # of two groups there is one test, which needs no correction
    other = {"holm": "p"} if comparisons(table) < 2 else {}
    if table.of == "scores":
        # nothing is decided by the median
        other["favourable"] = "Below" if table.falls else "Above"
        made += _SCORES
    made = tuple(replace(each, head=other.get(each.key, each.head)) for each in made)
    if any(line.positives is not None for line in table.lines):
        made += _ERRORS
    return made


def formula(spec: AuditSpec, table: GroupTable, line: GroupLine, name: str) -> str:
    """Say how one figure of a group came: its formula, then with the numbers in it.

    Parameters
    ----------
    name : str
        The head of one of `columns`.

    Returns
    -------
    str
        Empty for what is no number.
    """
    table = msgspec.structs.replace(table, outcome=outcome_of(spec, table))
    found = next((column for column in columns(table) if column.head == name), None)
    return found.formula(table, line) if found else ""


def _percent_cell(value: float | None) -> str:
    return UNDEFINED if value is None else words.percent(value, 1.0)


def _number_cell(value: float | None, digits: int) -> str:
    return UNDEFINED if value is None else words.plain(value, digits)


def _points_cell(value: float | None) -> str:
    return UNDEFINED if value is None else signed(100 * value, 1)


def _against_others(cell: Callable[[GroupLine], str]) -> Callable[[GroupTable, GroupLine], str]:
    """Write a comparison of a group that is large enough to be compared with the reference."""

    def write(table: GroupTable, line: GroupLine) -> str:
        if not line.known:
            return "–"
        if line is reference_of(table):
            return "reference"
        return "too few" if line.excluded else cell(line)

    return write


def _shortfall_cell(line: GroupLine) -> str:
    """Write how many are short; a group that is not short has none."""
    if line.shortfall is not None and line.shortfall < 0:
        return "–"
    return _number_cell(line.shortfall, 1)


def ratio_cell(line: GroupLine) -> str:
    """Write a group's impact ratio, marked where it is below the threshold or near it."""
    if line.impact_ratio is None:
        return ("too few" if line.excluded else UNDEFINED) if line.known else "–"
    mark = f"{BELOW} " if line.below else ""
    return f"{mark}{words.number(line.impact_ratio, 2)}{FLIPS if line.flips else ''}"


def _ratio_ends(table: GroupTable, line: GroupLine) -> str:
    ends = ratio_interval(table, line)
    return words.ends(*(words.number(end, 2) for end in ends)) if ends else "–"


def _interval_cell(table: GroupTable, line: GroupLine) -> str:
    if not line.n_samples:
        return UNDEFINED
    return words.percent_ends(line.low, line.high, rate_digits(table))


def _difference_cell(line: GroupLine) -> str:
    if line.difference is None:
        return UNDEFINED
    if line.difference_low is None or line.difference_high is None:
        return points_of(line.difference)
    low, high = (signed(100 * end, 1) for end in (line.difference_low, line.difference_high))
    return f"{signed(100 * line.difference, 1)} ({words.ends(low, high)})"


def _divided(name: str, parts: str, part: int | None, whole: int | None, nought: str) -> str:
    """Write a quotient with its formula; say why where it has none."""
    shown = f"{name} = {parts}"
    if part is None or whole is None:
        return f"{shown}: undefined, because there are no labels."
    if not whole:
        return f"{shown} = {words.number(part)} / 0: undefined, because {nought}."
    quotient = f"{words.number(part)} / {words.number(whole)}"
    return f"{shown} = {quotient} = {words.percent(part, whole)}"


def _quotient(
    key: str,
    head: str,
    parts: str,
    counts: Callable[[GroupLine], tuple[int | None, int | None]],
    nought: str,
) -> Column:
    """Make the column of an error rate, of a part and the whole of a group."""

    def text(_: GroupTable, line: GroupLine) -> str:
        part, whole = counts(line)
        if line.excluded:
            return "too few"
        if part is None or not whole:
            return UNDEFINED
        # of these there is no other count beside it
        counted = {"share": words.percent(part, whole), "n": words.number(whole)}
        return say("{share} of {n}", **counted) if key in ("tpr", "fpr") else counted["share"]

    return Column(key, head, text, lambda _, line: _divided(head, parts, *counts(line), nought))


def _share(_: GroupTable, line: GroupLine) -> str:
    """Write a group's share of those whose group is recorded: only these add up to all of it."""
    return words.percent(line.share, 1.0) if line.known else "–"


def _share_formula(table: GroupTable, line: GroupLine) -> str:
    if not line.known:
        return "Share: of rows whose group is recorded. Here it is not."
    return _divided(
        "Share",
        "people in the group / people with known groups and outcome",
        line.n_samples,
        table.n_samples,
        "the group is empty",
    )


def _people_formula(_: GroupTable, line: GroupLine) -> str:
    return f"People = rows of the group with a known outcome = {words.number(line.n_samples)}"


def _favourable_formula(table: GroupTable, line: GroupLine) -> str:
    count = words.number(line.favourable)
    if table.of == "scores":
        side = "below" if table.falls else "above"
        members = f"members with a score strictly {side} the median of all"
        return f"{side.capitalize()} = {members} = {count}"
    return f"Favourable = members with “{table.outcome}” = {count}"


def _exact(line: GroupLine) -> str:
    """Write a rate with which a ratio can be recomputed to its last digit."""
    return words.percent(line.favourable, line.n_samples, 2)


def _rate_formula(_: GroupTable, line: GroupLine) -> str:
    shown = "Rate = favourable / members"
    if not line.n_samples:
        return f"{shown} = 0 / 0: undefined, because the group is empty."
    counts = f"{words.number(line.favourable)} / {words.number(line.n_samples)}"
    return f"{shown} = {counts} = {_exact(line)}"


def _wilson_formula(table: GroupTable, line: GroupLine) -> str:
    return (
        "Wilson’s interval (95 %) = (s + z²/2 ± z √(s (n − s) / n + z²/4)) / (n + z²) with "
        f"s = {words.number(line.favourable)}, n = {words.number(line.n_samples)}, z = 1.96: "
        f"{_interval_cell(table, line)}"
    )


def _impact_formula(table: GroupTable, line: GroupLine) -> str:
    shown = "Impact ratio = rate / rate of the reference group"
    best = reference_of(table)
    if not line.known:
        return f"{shown}: not compared, because the group is not recorded."
    if line.impact_ratio is None or best is None:
        why = "no member has the favourable outcome"
        if line.excluded:
            why = "the group is too small to be compared"
        elif not line.n_samples:
            why = "the group is empty"
        return f"{shown}: undefined, because {why}."
    return (
        f"{shown} = {_exact(line)} / {_exact(best)} "
        f"({group_text(table, best)}) = "
        f"({words.number(line.favourable)} / {words.number(line.n_samples)}) / "
        f"({words.number(best.favourable)} / {words.number(best.n_samples)}) = "
        f"{words.number(line.impact_ratio, 4)}{_screened(line)}"
    )


def _screened(line: GroupLine) -> str:
    """Say on which side of the four-fifths threshold a group is."""
    if line.below is None:
        return ""
    said = f"; {'' if line.below else 'not '}below 4/5 = 0.8 (29 CFR 1607.4(D))"
    if line.flips is None:
        return said
    return f"{said}; one selected more or fewer would{'' if line.flips else ' not'} change that"


def _ratio_ends_formula(table: GroupTable, line: GroupLine) -> str:
    best = reference_of(table)
    shown = "Interval (95 %) = ratio × exp(± 1.96 √(1/s − 1/n + 1/s₀ − 1/n₀))"
    if best is None or ratio_interval(table, line) is None:
        return f"{shown}: undefined, because there is nothing to compare with."
    return (
        f"{shown} with s, n = {words.number(line.favourable)}, {words.number(line.n_samples)}; "
        f"s₀, n₀ = {words.number(best.favourable)}, {words.number(best.n_samples)} "
        f"({group_text(table, best)}): {_ratio_ends(table, line)} (Katz and others, 1978)"
    )


def _shortfall_formula(table: GroupTable, line: GroupLine) -> str:
    shown = "Shortfall = members × rate of all − favourable"
    if line.shortfall is None:
        return f"{shown}: undefined, because there are no members."
    return (
        f"{shown} = {words.number(line.n_samples)} × {words.number(table.favourable)} / "
        f"{words.number(table.n_samples)} − {words.number(line.favourable)} = "
        f"{_number_cell(line.shortfall, 1)}"
    )


def _test_formula(table: GroupTable, line: GroupLine) -> str:
    best = reference_of(table)
    if best is None or not line.test:
        return "No test: the group is the reference, or is not compared."
    counts = (
        f"favourable and people: {words.number(line.favourable)} of "
        f"{words.number(line.n_samples)}; of the reference "
        f"({group_text(table, best)}) {words.number(best.favourable)} of "
        f"{words.number(best.n_samples)}"
    )
    if line.test == "Z":
        return (
            "Z = (r − r₀) / √(p (1 − p) (1/n + 1/n₀)), p the rate of both groups together = "
            f"{_number_cell(line.z, 3)}; {counts}"
        )
    how = "its exact p-value" if line.test == "Fisher exact" else "the mid-p value"
    return (
        f"Fisher’s exact test with {how}, where an expected count is below 5: "
        f"{p_is(line.p)}; {counts}"
    )


def _holm_formula(table: GroupTable, line: GroupLine) -> str:
    if line.holm is None:
        return _test_formula(table, line)
    tests = comparisons(table)
    return (
        f"p corrected by Holm’s method for {words.number(tests)} "
        f"{'test' if tests == 1 else 'tests'} of this table: {p_text(line.p)} becomes "
        f"{p_text(line.holm)}; not corrected for the choice of the reference group. Two-sided. "
        f"{_test_formula(table, line)}"
    )


def _difference_formula(table: GroupTable, line: GroupLine) -> str:
    best = reference_of(table)
    shown = "Difference = rate − rate of the reference (statistical parity difference)"
    if best is None or line.difference is None:
        return f"{shown}: undefined, because there is nothing to compare with."
    return (
        f"{shown} = {_exact(line)} − {_exact(best)} "
        f"({group_text(table, best)}) = {_difference_cell(line)} percentage points; Newcombe’s "
        "interval (95 %) from both Wilson intervals"
    )


def _mean_formula(table: GroupTable, line: GroupLine) -> str:
    return (
        f"Mean score = sum of the scores for “{table.outcome}” / people = "
        f"{_number_cell(line.mean_score, 4)} (of {words.number(line.n_samples)})"
    )


def _smd_formula(table: GroupTable, line: GroupLine) -> str:
    best = reference_of(table)
    shown = "SMD = (mean score − mean score of the reference) / standard deviation of all scores"
    if best is None or line.smd is None:
        return f"{shown}: undefined, because there is nothing to compare with, or no spread."
    return (
        f"{shown} = ({_number_cell(line.mean_score, 4)} − {_number_cell(best.mean_score, 4)}) / "
        f"standard deviation of {words.number(table.n_samples)} people = "
        f"{_number_cell(line.smd, 3)}"
    )


def _equal_formula(table: GroupTable, line: GroupLine) -> str:
    best = reference_of(table)
    shown = "Equal opportunity = true positive rate − that of the reference"
    if best is None or line.equal_opportunity is None:
        return f"{shown}: undefined, because one of the two is undefined."
    return (
        f"{shown} = {_percent_cell(line.true_positive_rate)} − "
        f"{_percent_cell(best.true_positive_rate)} ({group_text(table, best)}) = "
        f"{points_of(line.equal_opportunity)}"
    )


def _odds_formula(table: GroupTable, line: GroupLine) -> str:
    best = reference_of(table)
    shown = "Average odds = ½ ((FPR − FPR of the reference) + (TPR − TPR of the reference))"
    if best is None or line.average_odds is None:
        return f"{shown}: undefined, because one of the two is undefined."
    false = f"{_percent_cell(line.false_positive_rate)} − {_percent_cell(best.false_positive_rate)}"
    true = f"{_percent_cell(line.true_positive_rate)} − {_percent_cell(best.true_positive_rate)}"
    return f"{shown} = ½ (({false}) + ({true})) = {points_of(line.average_odds)}"


def _decided(line: GroupLine) -> int | None:
    """Count who is decided favourably, with recorded outcomes."""
    if line.true_positives is None or line.false_positives is None:
        return None
    return line.true_positives + line.false_positives


def _right(line: GroupLine) -> tuple[int | None, int | None]:
    """Count who is decided as recorded, and of how many."""
    hits, misses = line.true_positives, line.false_positives
    if hits is None or misses is None or line.positives is None or line.negatives is None:
        return None, None
    return hits + line.negatives - misses, line.positives + line.negatives


_COUNTS = (
    Column("n_samples", "People", lambda _, line: words.number(line.n_samples), _people_formula),
    Column("share", "Share", _share, _share_formula),
    Column(
        "favourable",
        "Favourable",
        lambda _, line: words.number(line.favourable),
        _favourable_formula,
    ),
    Column(
        "rate",
        "Rate",
        lambda table, line: rate_of(table, line) if line.n_samples else UNDEFINED,
        _rate_formula,
    ),
    Column("interval", "95\u00a0% CI", _interval_cell, _wilson_formula),
)
_COMPARED = (
    Column("impact", "Impact ratio", lambda _, line: ratio_cell(line), _impact_formula),
    Column("ratio_ends", "Ratio’s 95\u00a0% CI", _ratio_ends, _ratio_ends_formula),
    Column(
        "shortfall",
        "Shortfall",
        lambda _, line: _shortfall_cell(line),
        _shortfall_formula,
    ),
    Column(
        "difference",
        "Difference",
        _against_others(_difference_cell),
        _difference_formula,
    ),
    Column(
        "holm",
        "Corrected p",
        _against_others(lambda line: p_text(line.holm).replace("below", "<") + small_test(line)),
        _holm_formula,
    ),
)
_SCORES = (
    Column("mean", "Mean score", lambda _, line: _number_cell(line.mean_score, 3), _mean_formula),
    Column("smd", "SMD", _against_others(lambda line: _number_cell(line.smd, 2)), _smd_formula),
)
_ERRORS = (
    _quotient(
        "tpr",
        "True positive rate",
        "decided favourably / members with the favourable recorded outcome",
        lambda line: (line.true_positives, line.positives),
        "no member has the favourable recorded outcome",
    ),
    _quotient(
        "fpr",
        "False positive rate",
        "decided favourably / members with another recorded outcome",
        lambda line: (line.false_positives, line.negatives),
        "no member has another recorded outcome",
    ),
    _quotient(
        "precision",
        "Precision",
        "decided favourably with the favourable recorded outcome / decided favourably",
        lambda line: (line.true_positives, _decided(line)),
        "no member is decided favourably",
    ),
    _quotient(
        "accuracy",
        "Accuracy",
        "decided as recorded / members with a recorded outcome",
        _right,
        "no member has a recorded outcome",
    ),
    Column(
        "equal",
        "Equal opportunity",
        _against_others(lambda line: _points_cell(line.equal_opportunity)),
        _equal_formula,
    ),
    Column(
        "odds",
        "Average odds",
        _against_others(lambda line: _points_cell(line.average_odds)),
        _odds_formula,
    ),
)
