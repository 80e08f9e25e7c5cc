"""What runs about groups found, in sentences and tables: rule sets, terms, subgroups, rates.

What a table of groups says of the data's rows is observed; what TestSGD says is estimated from
samples. Neither says why, and neither is a verdict.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import msgspec

from fairdesk.audit.spec import AuditSpec
from fairdesk.events import (
    Figure,
    Flip,
    GroupGap,
    GroupLine,
    GroupTable,
    LinearGroup,
    Mined,
    RuleSet,
    TermRate,
)
from fairdesk.report import words
from fairdesk.report.rules import combination_text, rule_phrase
from fairdesk.report.words import NBSP, digits_of, plural

#: A difference that chance makes more often than this is told as one that it may have made.
CHANCE = 0.05
#: So many rule sets are told in sentences.
MOST_TOLD = 5
#: What cannot be computed: 0/0, or nothing to compare with.
UNDEFINED = "undefined"
#: Of a longer text only the part around the term is shown.
_LONGEST = 240
#: Weights of a linear subgroup that are written out.
_WEIGHTS = 5
#: A group of numbers, as it is named.
_RANGE = re.compile(r"^up to | to | and over$")
_NOTHING = "Nothing is known of groups yet."


# Rule sets


def rule_set_sentence(spec: AuditSpec, rule_set: RuleSet) -> str:
    """Say who a rule set describes, and how they fare beside everybody else.

    Examples
    --------
    ``sex = Male, race = Hispanic or Other, age 40 and over: 20.7 % against 83.1 %``
    """
    return f"{rule_phrase(spec, rule_set.conditions)}: {rates(spec, rule_set)}"


def rates(spec: AuditSpec, rule_set: RuleSet) -> str:
    """Write both rates: ``20.7 % against 83.1 %``, with the decision where not the favourable."""
    inside, outside = (_rate(rule_set, each) for each in (rule_set.phi_in, rule_set.phi_out))
    if not rule_set.outcome:
        return f"mean score {inside} against {outside}"
    named = "" if rule_set.outcome == favourable(spec) else f"“{rule_set.outcome}” for "
    return f"{named}{inside} against {outside}"


def evidence_sentence(spec: AuditSpec, rule_set: RuleSet, mined: Mined | None = None) -> str:
    """Say how certain a rule set's difference is, and how many people it is about.

    Parameters
    ----------
    spec : AuditSpec
        The question.
    rule_set : RuleSet
        Which one.
    mined : Mined, optional
        What was examined with it: then the sentence says how many that were.
    """
    together = "all rule sets" if mined is None else _rule_sets(mined.rule_sets, all_of_them=True)
    return (
        f"{_difference(rule_set)} ({_ends(rule_set)} for {together} together, 95{NBSP}%); "
        f"{_who(spec, rule_set)}, {words.percent(rule_set.support, 1.0)} of {_whole(rule_set)}; "
        f"corrected p {p_text(rule_set.p)}; {_untouched(rule_set)}."
    )


def margin_sentence(rule_set: RuleSet) -> str:
    """Say the paper's own margin and confidence, and what they do not cover."""
    return (
        f"The paper’s own margin is {_points(rule_set, rule_set.margin)} with "
        f"{_confidence(rule_set.confidence)} confidence (the product of that of both rates): of "
        "this rule set alone, as if it had been the only one looked at."
    )


def mined_sentence(spec: AuditSpec, mined: Mined) -> str:
    """Say what was examined, the number of rule sets first."""
    about = words.listed(mined.attributes) if not mined.texts else _terms_of(mined.attributes)
    # a share that was asked for, written as it was
    least = f"{100 * mined.theta:g}{NBSP}%"
    data = "the texts that name anybody" if mined.texts else "the data"
    if not mined.rule_sets:
        return (
            f"0 rule sets about {about} describe at least {least} of {data}: of "
            f"{words.number(mined.candidates)} counted, none does. A smaller least support may "
            "find some."
        )
    asked = words.counted(mined.samples, "text" if mined.texts else spec.person)
    named = f" ({words.number(mined.texts)} texts)" if mined.texts else ""
    score = not mined.outcome
    widest = f"{mined.margin:.3f}" if score else f"{100 * mined.margin:.1f} percentage points"
    verb = "describes" if mined.rule_sets == 1 else "describe"
    return (
        f"{_rule_sets(mined.rule_sets)} about {about} {verb} at least {least} of {data}{named} "
        f"and {'was' if mined.rule_sets == 1 else 'were'} examined, of "
        f"{words.number(mined.candidates)} counted{_counting(spec, mined.outcome)}: {asked} asked "
        f"about, the widest margin {widest}, {words.duration(mined.seconds)}."
    )


def favourable(spec: AuditSpec) -> str:
    """Name the favourable decision."""
    return spec.decisions[spec.mapping.favourable_class]


def mined_with(figures: Iterable[Figure]) -> Iterator[tuple[Mined, tuple[RuleSet, ...]]]:
    """Give for each outcome what was examined, and its rule sets, as they follow each other."""
    held = [each for each in figures if isinstance(each, Mined | RuleSet)]
    places = [place for place, each in enumerate(held) if isinstance(each, Mined)]
    for place, end in zip(places, (*places[1:], len(held)), strict=False):
        mined = held[place]
        if isinstance(mined, Mined):
            yield mined, tuple(each for each in held[place + 1 : end] if isinstance(each, RuleSet))


def leaders(rule_sets: Sequence[RuleSet]) -> tuple[RuleSet, ...]:
    """Give those that stand for themselves, in their order."""
    return tuple(each for each in rule_sets if each.leader < 0)


def variants(rule_sets: Sequence[RuleSet], leader: RuleSet) -> tuple[RuleSet, ...]:
    """Give those that describe nearly the same people as one that stands for itself."""
    place = rule_sets.index(leader)
    return tuple(each for each in rule_sets if each.leader == place)


def both_rates(rule_set: RuleSet) -> tuple[str, str]:
    """Write the rates inside and outside."""
    return _rate(rule_set, rule_set.phi_in), _rate(rule_set, rule_set.phi_out)


def difference_texts(rule_set: RuleSet) -> tuple[str, str]:
    """Write the difference and its interval, in points or of score: ``−62.4``, ``−66.1 to −58``."""
    apart, low, high = (
        _apart(rule_set, each)
        for each in (rule_set.phi_in - rule_set.phi_out, rule_set.low, rule_set.high)
    )
    return apart, f"{low} to {high}"


def untouched_text(rule_set: RuleSet) -> str:
    """Write the difference among the untouched rows, with a dagger where they do not show it."""
    inside, outside = rule_set.data_in, rule_set.data_out
    if inside is None or outside is None:
        return UNDEFINED
    return f"{_apart(rule_set, inside - outside)}{'' if rule_set.holds_on_data else '†'}"


def _apart(rule_set: RuleSet, value: float) -> str:
    return signed(100 * value, 1) if rule_set.outcome else signed(value, 3)


def p_text(p: float | None) -> str:
    """Write a p-value: ``0.031``, ``below 0.0001``; ``undefined`` where there is none."""
    if p is None:
        return UNDEFINED
    if p < 0.0001:
        return "below 0.0001"
    if p > 0.999 and p < 1:
        return "above 0.999"
    return f"{p:.4f}" if p < 0.01 else f"{p:.3f}"


def _widest(spec: AuditSpec, mined: Mined, rule_set: RuleSet) -> str:
    """Say of the rule set with the highest score, the difference first."""
    chance = (
        ""
        if rule_set.p <= CHANCE
        else " After correction for how many were examined, chance alone may have made it."
    )
    one = mined.rule_sets == 1
    lie = "lie" if rule_set.outcome else "lies"
    widest = (
        "the only rule set"
        if one
        else f"the widest difference of {_rule_sets(mined.rule_sets, all_of_them=True)}"
    )
    return (
        f"{_points(rule_set, rule_set.score)} {lie} between the {_what(spec, rule_set)} of "
        f"{rule_phrase(spec, rule_set.conditions)} ({_rate(rule_set, rule_set.phi_in)}) and of "
        f"everybody else ({_rate(rule_set, rule_set.phi_out)}): {widest} examined, "
        f"estimated from samples; {_ends(rule_set)} for "
        f"{'it' if one else 'all of them together'}, 95{NBSP}%; corrected p "
        f"{p_text(rule_set.p)}; {_who(spec, rule_set)}, {words.percent(rule_set.support, 1.0)} of "
        f"{_whole(rule_set)}; {_untouched(rule_set)}.{chance}"
    )


def _whole(rule_set: RuleSet) -> str:
    return "the texts that name anybody" if _about_texts(rule_set) else "the data"


def _what(spec: AuditSpec, rule_set: RuleSet) -> str:
    if not rule_set.outcome:
        return "mean scores of the favourable decision"
    if rule_set.outcome == favourable(spec):
        return "favourable rates"
    return f"rates of “{rule_set.outcome}”"


def _counting(spec: AuditSpec, outcome: str) -> str:
    if not outcome:
        return " (by the mean score)"
    return "" if outcome == favourable(spec) else f" (for “{outcome}”)"


def _rate(rule_set: RuleSet, value: float) -> str:
    return words.percent(value, 1.0) if rule_set.outcome else f"{value:.3f}"


def _points(rule_set: RuleSet, value: float) -> str:
    return f"{100 * value:.1f} percentage points" if rule_set.outcome else f"{value:.3f}"


def _difference(rule_set: RuleSet) -> str:
    apart = rule_set.phi_in - rule_set.phi_out
    return f"{_points(rule_set, abs(apart))} {'lower' if apart < 0 else 'higher'}"


def _ends(figure: RuleSet | LinearGroup) -> str:
    """Write the interval of a difference; with its directions where it reaches over nought."""
    scale, digits = (100, 1) if figure.outcome else (1, 3)
    low, high = scale * figure.low, scale * figure.high
    if low < 0 < high:
        return f"between {-low:.{digits}f} lower and {high:.{digits}f} higher"
    least, most = sorted((abs(low), abs(high)))
    return f"{least:.{digits}f} to {most:.{digits}f}"


def _who(spec: AuditSpec, rule_set: RuleSet) -> str:
    return words.counted(rule_set.rows, "text" if _about_texts(rule_set) else spec.person)


def _about_texts(rule_set: RuleSet) -> bool:
    return any(each.term for each in rule_set.conditions)


def _untouched(rule_set: RuleSet) -> str:
    """Say whether the rows as they are show the difference too."""
    inside, outside = rule_set.data_in, rule_set.data_out
    if inside is None or outside is None:
        return "the untouched rows cannot tell, for one side of it is empty"
    both = f"({_rate(rule_set, inside)} against {_rate(rule_set, outside)})"
    if rule_set.holds_on_data is None:
        return f"the untouched rows cannot tell {both}"
    if rule_set.holds_on_data:
        return f"the untouched rows show it too {both}"
    return f"the untouched rows do not show it {both}"


def _confidence(value: float) -> str:
    return f"{100 * value:.4g}{NBSP}%"


def _rule_sets(count: int, *, all_of_them: bool = False) -> str:
    if count == 1:
        return "the one rule set" if all_of_them else "1 rule set"
    return f"{'all ' if all_of_them else ''}{words.number(count)} rule sets"


def _terms_of(categories: Sequence[str]) -> str:
    return f"terms of {words.joined(categories)}"


# Terms in texts


def term_sentence(spec: AuditSpec, term: TermRate) -> str:
    """Say how sentences fare that name one term, those that get another decision first."""
    what = f"“{term.term}” ({term.category})"
    occurs = f"It occurs in {words.counted(term.occurs, 'text')} of the data."
    if not term.texts:
        return f"0 texts could name {what}. {occurs}"
    fare = (
        f"{words.percent(term.rate, 1.0)} of {words.counted(term.texts, 'text')} with it get "
        f"“{favourable(spec)}”."
    )
    if not term.tried:
        return f"{fare[:-1]}: {what} was compared with no other term. {occurs}"
    verb = "gets" if term.flips == 1 else "get"
    return (
        f"{words.number(term.flips)} of {words.counted(term.tried, 'text')} with {what} {verb} "
        f"another decision when it names another term of the category instead. {fare} {occurs}"
    )


def by_category(figures: Iterable[Figure]) -> tuple[tuple[TermRate, ...], ...]:
    """Give the terms that were compared, by their categories, the lowest rate first."""
    held: dict[str, list[TermRate]] = {}
    for each in figures:
        if isinstance(each, TermRate) and each.texts:
            held.setdefault(each.category, []).append(each)
    return tuple(tuple(sorted(terms, key=lambda term: term.rate)) for terms in held.values())


def category_sentence(spec: AuditSpec, terms: Sequence[TermRate]) -> str:
    """Say how many texts get another decision with another term of their category.

    Parameters
    ----------
    spec : AuditSpec
        The question.
    terms : sequence of TermRate
        Those of one category, the lowest rate first; not none.
    """
    # a text that gets two decisions does so with every term: with some other one
    most = max(terms, key=lambda term: (term.flips, -term.tried))
    low, high = (words.percent(each.rate, 1.0) for each in (terms[0], terms[-1]))
    share = f"The share with “{favourable(spec)}”"
    verb = "gets" if most.flips == 1 else "get"
    return (
        f"{words.number(most.flips)} of {words.counted(most.tried, 'text')} that name somebody by "
        f"{most.category} {verb} another decision with another of its terms. "
        + (
            f"{share} is {low} with each of them."
            if low == high
            else f"{share} goes from {low} (“{terms[0].term}”) to {high} (“{terms[-1].term}”)."
        )
    )


def flip_sentence(flip: Flip) -> str:
    """Say what one sentence gets, and what it gets with another term; of a long one a part."""
    return (
        f"“{flip.decision}” for “{_around(flip)}”, “{flip.other_decision}” with "
        f"“{flip.other_term}” instead."
    )


def _around(flip: Flip) -> str:
    """Give the part of a sentence where it first differs from the other one."""
    text, other = (" ".join(each.split()) for each in (flip.text, flip.other))
    if len(text) <= _LONGEST:
        return text
    pairs = enumerate(zip(text, other, strict=False))
    same = next((place for place, (own, its) in pairs if own != its), 0)
    begin = max(0, min(same - _LONGEST // 2, len(text) - _LONGEST))
    end = begin + _LONGEST
    return f"{'…' if begin else ''}{text[begin:end].strip()}{'…' if end < len(text) else ''}"


# Subgroups by weights, and groups of invented people


def linear_sentence(spec: AuditSpec, group: LinearGroup) -> str:
    """Say how a subgroup that weights describe fares, the difference first."""
    apart = group.phi_in - group.phi_out
    way = "lower" if apart < 0 else "higher"
    return (
        f"{100 * abs(apart):.1f} percentage points {way} ({_ends(group)}, 95{NBSP}%) is the rate "
        f"of “{group.outcome}” in a subgroup that weights describe: "
        f"{words.percent(group.phi_in, 1.0)} against {words.percent(group.phi_out, 1.0)}, among "
        f"{words.counted(group.people, spec.person)} held out, {words.percent(group.support, 1.0)} "
        f"of them in it. In it is who weighs more than nought: {weights_text(group)}."
    )


def weights_text(group: LinearGroup) -> str:
    """Write a weighted sum, the heaviest first: ``sex = Male +1.20, age −0.31, and −0.10``."""
    pairs = sorted(zip(group.features, group.weights, strict=True), key=lambda pair: -abs(pair[1]))
    told = [f"{name} {signed(weight)}" for name, weight in pairs]
    return f"{words.some(told, _WEIGHTS)}, and {signed(group.bias)} for everybody"


def gap_sentence(spec: AuditSpec, gap: GroupGap) -> str:
    """Say how far two groups of invented people are apart."""
    digits = digits_of(gap.low, gap.high)
    best, worst = (combination_text(spec, gap.attributes, each) for each in (gap.best, gap.worst))
    return (
        f"{100 * gap.gap:.{digits}f} percentage points ({100 * gap.low:.{digits}f} to "
        f"{100 * gap.high:.{digits}f}, {words.percent(gap.confidence, 1.0, 0)}) lie between the "
        f"favourable rates of {best} ({words.shown_percent(gap.best_rate, 1)}) and {worst} "
        f"({words.shown_percent(gap.worst_rate, 1)}), among {plural(spec.person)} invented at "
        "random."
    )


def signed(value: float, digits: int = 2) -> str:
    """Write a number with its sign: ``+1.20``, ``−0.31``."""
    return f"{'−' if value < 0 else '+'}{abs(value):.{digits}f}"


# Tables of groups


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
    """Give the columns of a table: those of error rates only with labels."""
    values = [
        Column(name, name, partial(_value, place), _no_formula)
        for place, name in enumerate(table.attributes)
    ]
    made = (*values, *_COUNTS, *_COMPARED)
    if table.of == "scores":
        made += _SCORES
    if any(line.positives is not None for line in table.lines):
        made += _ERRORS
    return made


def heads(table: GroupTable) -> tuple[str, ...]:
    """Name the columns of `cells`."""
    return tuple(column.head for column in columns(table))


def cells(line: GroupLine, table: GroupTable) -> tuple[str, ...]:
    """Write a group's figures."""
    return tuple(column.text(table, line) for column in columns(table))


def formula(spec: AuditSpec, table: GroupTable, line: GroupLine, name: str) -> str:
    """Say how one figure of a group came: its formula, then with the numbers in it.

    Parameters
    ----------
    spec : AuditSpec
        The question.
    table : GroupTable
        The table.
    line : GroupLine
        The group.
    name : str
        One of `heads`.

    Returns
    -------
    str
        Empty for what is no number.
    """
    table = msgspec.structs.replace(table, outcome=outcome_of(spec, table))
    found = next((column for column in columns(table) if column.head == name), None)
    return found.formula(table, line) if found else ""


def outcome_of(spec: AuditSpec, table: GroupTable) -> str:
    """Name what a table counts; of a label that is the favourable value."""
    return table.outcome or spec.favourable


def table_title(spec: AuditSpec, table: GroupTable) -> str:
    """Say what a table counts, and by which groups."""
    by = words.listed(table.attributes)
    match table.of:
        case "label":
            return f"Label “{outcome_of(spec, table)}”, by {by}"
        case "decisions":
            whose = "Decision" if spec.predictions else "Model’s decision"
            return f"{whose} “{outcome_of(spec, table)}”, by {by}"
        case "scores":
            return f"Scores for “{outcome_of(spec, table)}” above the median, by {by}"


def table_sentences(spec: AuditSpec, table: GroupTable) -> tuple[str, ...]:
    """Say what a table shows, the group that fares worst first; then who was left out, and why."""
    told = [
        _worst(spec, table),
        _below_line(table),
        _median(table),
        _errors(table),
        _left_out(spec, table),
        _small(table),
    ]
    return tuple(filter(None, told))


def group_text(table: GroupTable, line: GroupLine) -> str:
    """Write a group: ``sex = Female, race = Black``, ``age 25 to 34``."""
    return ", ".join(
        f"{words.quoted(name)}{' ' if _RANGE.search(value) else ' = '}{value}"
        for name, value in zip(table.attributes, line.values, strict=True)
    )


def worst_of(table: GroupTable) -> GroupLine | None:
    """Give the group with the lowest impact ratio; ``None`` where no two can be compared."""
    compared = [line for line in table.lines if line.impact_ratio is not None]
    if len(compared) < 2:
        return None
    return min(compared, key=lambda line: line.impact_ratio or 0.0)


def _reference(table: GroupTable) -> GroupLine | None:
    return table.lines[table.reference] if table.reference >= 0 else None


def _worst(spec: AuditSpec, table: GroupTable) -> str:
    worst, best = worst_of(table), _reference(table)
    if worst is None or best is None or worst.impact_ratio is None:
        return (
            f"No two groups by {words.listed(table.attributes)} can be compared by "
            f"{_counted_as(spec, table)}: fewer than two have people in them, or nobody has the "
            "favourable outcome."
        )
    line = "below" if worst.below else "not below"
    chance = "" if worst.holm is None else f"; corrected p {p_text(worst.holm)}"
    flips = "; one person more or fewer would change that" if worst.flips else ""
    return (
        f"{worst.impact_ratio:.2f} is the lowest impact ratio by {words.listed(table.attributes)} "
        f"in {_counted_as(spec, table)} (observed): {_rate_of(table, worst)} of "
        f"{words.counted(worst.people, spec.person)} with {group_text(table, worst)} against "
        f"{_rate_of(table, best)} of {words.number(best.people)} with "
        f"{group_text(table, best)}{chance}. That is {line} the four-fifths screening line, "
        f"which is no verdict{flips}."
    )


def _counted_as(spec: AuditSpec, table: GroupTable) -> str:
    match table.of:
        case "label":
            return f"the label “{outcome_of(spec, table)}”"
        case "decisions":
            whose = "the decision" if spec.predictions else "the model’s decision"
            return f"{whose} “{outcome_of(spec, table)}”"
        case "scores":
            return "scores above the median"


def _rate_of(table: GroupTable, line: GroupLine) -> str:
    """Write a group's rate: with two decimals where no group that is compared is small."""
    compared = [each.people for each in table.lines if each.impact_ratio is not None]
    # of a thousand people one is a tenth of a percent
    digits = 2 if min(compared, default=0) >= 1_000 else 1
    return words.percent(line.favourable, line.people, digits)


def _below_line(table: GroupTable) -> str:
    compared = [line for line in table.lines if line.below is not None]
    below = sum(bool(line.below) for line in compared)
    if below < 2:
        return ""
    return (
        f"{words.number(below)} of {words.number(len(compared))} groups are below the screening "
        "line."
    )


def _median(table: GroupTable) -> str:
    if table.of != "scores" or table.median is None:
        return ""
    ties = (
        f" {words.percent(table.ties, 1.0)} of the people stand right at it, and do not count as "
        "above it."
        if table.ties
        else ""
    )
    return f"{table.median:.4g} is the median score of all {words.number(table.people)}.{ties}"


def _errors(table: GroupTable) -> str:
    """Say where true positive rates are farthest from the reference's; with labels only."""
    apart = [line for line in table.lines if line.equal_opportunity]
    best = _reference(table)
    if not apart or best is None:
        return ""
    widest = max(apart, key=lambda line: abs(line.equal_opportunity or 0.0))
    return (
        f"{_points_of(widest.equal_opportunity)} is the widest difference of true positive rates: "
        f"{_fraction(widest.true_positives, widest.positives)} of those with "
        f"{group_text(table, widest)} and the favourable label are decided favourably, "
        f"{_fraction(best.true_positives, best.positives)} of those with "
        f"{group_text(table, best)}."
    )


def _left_out(spec: AuditSpec, table: GroupTable) -> str:
    told = [
        f"{words.number(count)} {why}"
        for count, why in (
            (table.unknown, "of unknown group"),
            (table.without, "without an outcome"),
        )
        if count
    ]
    if not told:
        return ""
    return f"Left out are {plural(spec.person)}: {words.joined(told)}."


def _small(table: GroupTable) -> str:
    small = [line for line in table.lines if line.excluded]
    if not small:
        return ""
    groups, are = ("group", "is") if len(small) == 1 else ("groups", "are")
    return (
        f"{words.number(len(small))} {groups} of too small a share of the people (under "
        f"2{NBSP}% unless the run’s settings say otherwise; 6 RCNY 5-301) {are} counted, but left "
        "out of the impact ratios."
    )


def _value(place: int, _: GroupTable, line: GroupLine) -> str:
    return line.values[place]


def _percent_cell(value: float | None) -> str:
    return UNDEFINED if value is None else words.percent(value, 1.0)


def _points_of(value: float | None) -> str:
    return UNDEFINED if value is None else f"{signed(100 * value, 1)} points"


def _number_cell(value: float | None, digits: int) -> str:
    return UNDEFINED if value is None else f"{value:.{digits}f}".replace("-", "−")


def _fraction(part: int | None, whole: int | None) -> str:
    if not whole:
        return UNDEFINED
    return words.percent(part or 0, whole)


def _against_others(cell: Callable[[GroupLine], str]) -> Callable[[GroupTable, GroupLine], str]:
    """Write a comparison with the reference; say of the reference itself that it is it."""

    def write(table: GroupTable, line: GroupLine) -> str:
        if not line.known:
            return "not compared"
        return "reference" if line is _reference(table) else cell(line)

    return write


def _impact(table: GroupTable, line: GroupLine) -> str:
    del table
    if line.impact_ratio is not None:
        return f"{line.impact_ratio:.2f}"
    if not line.known:
        return "not compared"
    return "too few" if line.excluded else UNDEFINED


def _screened(table: GroupTable, line: GroupLine) -> str:
    if line.below is None:
        return _impact(table, line) if line.impact_ratio is None else UNDEFINED
    said = "below" if line.below else "not below"
    return f"{said}, by one person" if line.flips else said


def _test(line: GroupLine) -> str:
    if not line.test:
        return "none"
    return f"Z = {_number_cell(line.z, 2)}" if line.test == "Z" else line.test


def _interval_cell(_: GroupTable, line: GroupLine) -> str:
    if not line.people:
        return UNDEFINED
    return f"{100 * line.low:.1f} to {100 * line.high:.1f}{NBSP}%"


def _difference_cell(line: GroupLine) -> str:
    if line.difference is None:
        return UNDEFINED
    if line.difference_low is None or line.difference_high is None:
        return _points_of(line.difference)
    ends = f"{signed(100 * line.difference_low, 1)} to {signed(100 * line.difference_high, 1)}"
    return f"{signed(100 * line.difference, 1)} ({ends})"


def _no_formula(_: GroupTable, __: GroupLine) -> str:
    return ""


def _divided(
    name: str, parts: str, part: int | None, whole: int | None, result: str, nought: str
) -> str:
    """Write a quotient with its formula; say why where it has none."""
    shown = f"{name} = {parts}"
    if part is None or whole is None:
        return f"{shown}: undefined, for there are no labels."
    if not whole:
        return f"{shown} = {words.number(part)} / 0: undefined, for {nought}."
    return f"{shown} = {words.number(part)} / {words.number(whole)} = {result}"


def _share_formula(table: GroupTable, line: GroupLine) -> str:
    known = table.people if line.known else table.people + table.unknown
    return _divided(
        "Share",
        f"people in the group / people with {'known groups and' if line.known else 'an'} outcome",
        line.people,
        known,
        words.percent(line.share, 1.0),
        "there is nobody",
    )


def _people_formula(_: GroupTable, line: GroupLine) -> str:
    return f"People = rows of the group with a known outcome = {words.number(line.people)}"


def _favourable_formula(table: GroupTable, line: GroupLine) -> str:
    what = (
        "with a score strictly above the median of all"
        if table.of == "scores"
        else f"with “{table.outcome}”"
    )
    return f"Favourable = those of the people {what} = {words.number(line.favourable)}"


def _rate_formula(table: GroupTable, line: GroupLine) -> str:
    return _divided(
        "Rate",
        "favourable / people",
        line.favourable,
        line.people,
        _rate_of(table, line),
        "nobody is in the group",
    )


def _wilson_formula(table: GroupTable, line: GroupLine) -> str:
    return (
        "Wilson’s interval (95 %) = (s + z²/2 ± z √(s (n − s) / n + z²/4)) / (n + z²) with "
        f"s = {words.number(line.favourable)}, n = {words.number(line.people)}, z = 1.96: "
        f"{_interval_cell(table, line)}"
    )


def _impact_formula(table: GroupTable, line: GroupLine) -> str:
    shown = "Impact ratio = rate / highest rate of the groups compared"
    best = _reference(table)
    if not line.known:
        return f"{shown}: not compared, for it is not known who is in the group."
    if line.impact_ratio is None or best is None:
        why = "nobody has the favourable outcome"
        if line.excluded:
            why = "the group is too small a share of the people to be compared"
        elif not line.people:
            why = "nobody is in the group"
        return f"{shown}: undefined, for {why}."
    return (
        f"{shown} = {_rate_of(table, line)} / {_rate_of(table, best)} "
        f"({group_text(table, best)}) = "
        f"({words.number(line.favourable)} / {words.number(line.people)}) / "
        f"({words.number(best.favourable)} / {words.number(best.people)}) = "
        f"{line.impact_ratio:.4f}"
    )


def _screened_formula(_: GroupTable, line: GroupLine) -> str:
    said = {None: UNDEFINED, True: "yes", False: "no"}[line.below]
    flips = (
        ""
        if line.flips is None
        else (
            " One person more, or fewer, with the favourable outcome would"
            f"{'' if line.flips else ' not'} change that."
        )
    )
    ratio = UNDEFINED if line.impact_ratio is None else f"{line.impact_ratio:.4f}"
    return (
        f"Is the impact ratio below 4/5 = 0.8 (29 CFR 1607.4(D))? {ratio}: {said}. A screening "
        f"line, no verdict.{flips}"
    )


def _shortfall_formula(table: GroupTable, line: GroupLine) -> str:
    shown = "Shortfall = people × rate of all people − favourable"
    if line.shortfall is None:
        return f"{shown}: undefined, for there is nobody."
    return (
        f"{shown} = {words.number(line.people)} × {words.number(table.favourable)} / "
        f"{words.number(table.people)} − {words.number(line.favourable)} = "
        f"{_number_cell(line.shortfall, 1)}"
    )


def _test_formula(table: GroupTable, line: GroupLine) -> str:
    best = _reference(table)
    if best is None or not line.test:
        return "No test: the group is the reference, or is not compared."
    counts = (
        f"favourable and people: {words.number(line.favourable)} of {words.number(line.people)}; "
        f"of the reference ({group_text(table, best)}) {words.number(best.favourable)} of "
        f"{words.number(best.people)}"
    )
    if line.test == "Z":
        return (
            "Z = (r − r₀) / √(p (1 − p) (1/n + 1/n₀)), p the rate of both groups together = "
            f"{_number_cell(line.z, 3)}; {counts}"
        )
    return (
        "Fisher’s exact test with the mid-p value, where an expected count is below 5: p = "
        f"{p_text(line.p)}; {counts}"
    )


def _p_formula(table: GroupTable, line: GroupLine) -> str:
    if line.p is None:
        return _test_formula(table, line)
    return f"Two-sided p = {p_text(line.p)}. {_test_formula(table, line)}"


def _holm_formula(table: GroupTable, line: GroupLine) -> str:
    if line.holm is None:
        return _test_formula(table, line)
    tests = sum(each.p is not None for each in table.lines)
    return (
        f"p corrected by Holm’s method for the {words.number(tests)} "
        f"{'test' if tests == 1 else 'tests'} of this table: {p_text(line.p)} becomes "
        f"{p_text(line.holm)}"
    )


def _difference_formula(table: GroupTable, line: GroupLine) -> str:
    best = _reference(table)
    shown = "Difference = rate − rate of the reference (statistical parity difference)"
    if best is None or line.difference is None:
        return f"{shown}: undefined, for there is nothing to compare with."
    return (
        f"{shown} = {_rate_of(table, line)} − {_rate_of(table, best)} "
        f"({group_text(table, best)}) = {_difference_cell(line)} percentage points; Newcombe’s "
        "interval (95 %) from both Wilson intervals"
    )


def _mean_formula(table: GroupTable, line: GroupLine) -> str:
    return (
        f"Mean score = sum of the scores for “{table.outcome}” / people = "
        f"{_number_cell(line.mean_score, 4)} (of {words.number(line.people)})"
    )


def _smd_formula(table: GroupTable, line: GroupLine) -> str:
    best = _reference(table)
    shown = "SMD = (mean score − mean score of the reference) / standard deviation of all scores"
    if best is None or line.smd is None:
        return f"{shown}: undefined, for there is nothing to compare with, or no spread."
    return (
        f"{shown} = ({_number_cell(line.mean_score, 4)} − {_number_cell(best.mean_score, 4)}) / "
        f"standard deviation of {words.number(table.people)} people = {_number_cell(line.smd, 3)}"
    )


def _tpr_formula(_: GroupTable, line: GroupLine) -> str:
    return _divided(
        "True positive rate",
        "decided favourably / people with the favourable label",
        line.true_positives,
        line.positives,
        _percent_cell(line.true_positive_rate),
        "nobody in the group has the favourable label",
    )


def _fpr_formula(_: GroupTable, line: GroupLine) -> str:
    return _divided(
        "False positive rate",
        "decided favourably / people with another label",
        line.false_positives,
        line.negatives,
        _percent_cell(line.false_positive_rate),
        "nobody in the group has another label",
    )


def _precision_formula(_: GroupTable, line: GroupLine) -> str:
    decided = _sum(line.true_positives, line.false_positives)
    return _divided(
        "Precision",
        "decided favourably with the favourable label / decided favourably",
        line.true_positives,
        decided,
        _percent_cell(line.precision),
        "nobody in the group is decided favourably",
    )


def _accuracy_formula(_: GroupTable, line: GroupLine) -> str:
    right = None
    if line.negatives is not None and line.false_positives is not None:
        right = _sum(line.true_positives, line.negatives - line.false_positives)
    return _divided(
        "Accuracy",
        "decided as labelled / people with a label",
        right,
        _sum(line.positives, line.negatives),
        _percent_cell(line.accuracy),
        "nobody in the group has a label",
    )


def _equal_formula(table: GroupTable, line: GroupLine) -> str:
    best = _reference(table)
    shown = "Equal opportunity = true positive rate − that of the reference"
    if best is None or line.equal_opportunity is None:
        return f"{shown}: undefined, for one of them is."
    return (
        f"{shown} = {_percent_cell(line.true_positive_rate)} − "
        f"{_percent_cell(best.true_positive_rate)} ({group_text(table, best)}) = "
        f"{_points_of(line.equal_opportunity)}"
    )


def _odds_formula(table: GroupTable, line: GroupLine) -> str:
    best = _reference(table)
    shown = "Average odds = ½ ((FPR − FPR of the reference) + (TPR − TPR of the reference))"
    if best is None or line.average_odds is None:
        return f"{shown}: undefined, for one of them is."
    false = f"{_percent_cell(line.false_positive_rate)} − {_percent_cell(best.false_positive_rate)}"
    true = f"{_percent_cell(line.true_positive_rate)} − {_percent_cell(best.true_positive_rate)}"
    return f"{shown} = ½ (({false}) + ({true})) = {_points_of(line.average_odds)}"


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second


_COUNTS = (
    Column("people", "People", lambda _, line: words.number(line.people), _people_formula),
    Column("share", "Share", lambda _, line: words.percent(line.share, 1.0), _share_formula),
    Column(
        "favourable",
        "Favourable",
        lambda _, line: words.number(line.favourable),
        _favourable_formula,
    ),
    Column(
        "rate",
        "Rate",
        lambda table, line: _rate_of(table, line) if line.people else UNDEFINED,
        _rate_formula,
    ),
    Column("interval", f"95{NBSP}% interval", _interval_cell, _wilson_formula),
)
_COMPARED = (
    Column("impact", "Impact ratio", _impact, _impact_formula),
    Column("screened", "Four fifths", _screened, _screened_formula),
    Column(
        "shortfall",
        "Shortfall",
        lambda _, line: _number_cell(line.shortfall, 1),
        _shortfall_formula,
    ),
    Column(
        "difference", "Difference, points", _against_others(_difference_cell), _difference_formula
    ),
    Column("test", "Test", _against_others(_test), _test_formula),
    Column("p", "p", _against_others(lambda line: p_text(line.p)), _p_formula),
    Column("holm", "Corrected p", _against_others(lambda line: p_text(line.holm)), _holm_formula),
)
_SCORES = (
    Column("mean", "Mean score", lambda _, line: _number_cell(line.mean_score, 3), _mean_formula),
    Column("smd", "SMD", _against_others(lambda line: _number_cell(line.smd, 2)), _smd_formula),
)
_ERRORS = (
    Column(
        "tpr",
        "True positive rate",
        lambda _, line: _percent_cell(line.true_positive_rate),
        _tpr_formula,
    ),
    Column(
        "fpr",
        "False positive rate",
        lambda _, line: _percent_cell(line.false_positive_rate),
        _fpr_formula,
    ),
    Column(
        "precision",
        "Precision",
        lambda _, line: _percent_cell(line.precision),
        _precision_formula,
    ),
    Column("accuracy", "Accuracy", lambda _, line: _percent_cell(line.accuracy), _accuracy_formula),
    Column(
        "equal",
        "Equal opportunity",
        _against_others(lambda line: _points_of(line.equal_opportunity)),
        _equal_formula,
    ),
    Column(
        "odds",
        "Average odds",
        _against_others(lambda line: _points_of(line.average_odds)),
        _odds_formula,
    ),
)


# A whole run


def headline(spec: AuditSpec, figures: Iterable[Figure]) -> str:
    """Say what came of a run about groups, the number first.

    The widest difference that a search found; of tables of groups the lowest impact ratio, by
    the model's decisions where these are known.
    """
    figures = tuple(figures)
    found = [(mined, each) for mined, sets in mined_with(figures) for each in leaders(sets)]
    if found:
        # scores and shares are no measure of each other
        first = found[0][0].outcome == ""
        alike = [(mined, each) for mined, each in found if (mined.outcome == "") is first]
        # of two decisions each has the other's scores: then of the favourable one
        return _widest(
            spec,
            *max(alike, key=lambda pair: (pair[1].score, pair[1].outcome == favourable(spec))),
        )
    tables = [figure for figure in figures if isinstance(figure, GroupTable)]
    if tables:
        return _worst_table(spec, tables)
    gaps = [figure for figure in figures if isinstance(figure, GroupGap)]
    if gaps:
        return gap_sentence(spec, max(gaps, key=lambda gap: gap.gap))
    return next(iter(sentences(spec, figures)), _NOTHING)


def sentences(spec: AuditSpec, figures: Iterable[Figure]) -> tuple[str, ...]:
    """Say what figures about groups tell; of rule sets and terms the foremost.

    Of tables of groups the lowest impact ratio of each attribute, and of all together. Other
    figures are left out, and so are THEMIS' gaps, which `figures.sentences` tells.
    """
    figures = tuple(figures)
    told: list[str] = []
    for mined, sets in mined_with(figures):
        told.append(mined_sentence(spec, mined))
        told += [
            f"{rule_set_sentence(spec, each)}. {_capital(evidence_sentence(spec, each, mined))}"
            for each in leaders(sets)[:MOST_TOLD]
        ]
        told += mined.notes
    told += [category_sentence(spec, terms) for terms in by_category(figures)]
    told += [linear_sentence(spec, each) for each in figures if isinstance(each, LinearGroup)]
    tables = [each for each in figures if isinstance(each, GroupTable)]
    told += [table_sentences(spec, each)[0] for each in tables if len(each.attributes) == 1]
    together = [each for each in _of_main_kind(spec, tables) if len(each.attributes) > 1]
    if together:
        told.append(table_sentences(spec, max(together, key=lambda each: len(each.attributes)))[0])
    return tuple(told)


def looked_at(figures: Iterable[Figure]) -> str:
    """Say in a few words what a run about groups looked at; empty of other runs."""
    figures = tuple(figures)
    mined = [each for each in figures if isinstance(each, Mined)]
    if mined:
        # every outcome has the same rule sets
        return f"{_rule_sets(max(each.rule_sets for each in mined))} examined"
    tables = sum(isinstance(each, GroupTable) for each in figures)
    if tables:
        return f"{words.number(tables)} {'table' if tables == 1 else 'tables'} of groups counted"
    gaps = sum(isinstance(each, GroupGap) for each in figures)
    if gaps:
        return f"{words.number(gaps)} {'set' if gaps == 1 else 'sets'} of attributes compared"
    return ""


def best_so_far(figures: Iterable[Figure]) -> str:
    """Say in a few words how far the widest groups are apart; empty where nothing is known."""
    figures = tuple(figures)
    scored = [(each.score, bool(each.outcome)) for each in figures if isinstance(each, RuleSet)]
    scored += [(each.gap, True) for each in figures if isinstance(each, GroupGap)]
    scored += [(each.score, True) for each in figures if isinstance(each, LinearGroup)]
    if scored:
        score, of_rates = max(scored)
        return f"widest {100 * score:.1f} points" if of_rates else f"widest {score:.3f} of score"
    ratios = [
        line.impact_ratio
        for each in figures
        if isinstance(each, GroupTable)
        for line in each.lines
        if line.impact_ratio is not None
    ]
    return f"lowest impact ratio {min(ratios):.2f}" if ratios else ""


def _of_main_kind(spec: AuditSpec, tables: Sequence[GroupTable]) -> list[GroupTable]:
    """Give the tables of the favourable decision where there are any, else of labels, or scores."""
    order = ("decisions", "label", "scores")
    kind = min((table.of for table in tables), key=order.index, default="decisions")
    of_kind = [table for table in tables if table.of == kind]
    return [table for table in of_kind if table.outcome == favourable(spec)] or of_kind


def _worst_table(spec: AuditSpec, tables: Sequence[GroupTable]) -> str:
    """Say the lowest impact ratio of single attributes, by decisions rather than by labels."""
    counted = _of_main_kind(spec, tables)
    single = [table for table in counted if len(table.attributes) == 1] or counted

    def ratio(table: GroupTable) -> float:
        worst = worst_of(table)
        return 2.0 if worst is None or worst.impact_ratio is None else worst.impact_ratio

    return _worst(spec, min(single, key=ratio))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
