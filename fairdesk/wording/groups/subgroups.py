"""What subgroup discovery tested and found, in sentences.

All of it is estimated from samples. Whether a lower rate is a worse one depends on the decision.
"""

from __future__ import annotations

import msgspec

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.results.groups import GroupGap
from fairdesk.results.subgroups import LinearGroup, RuleSearchSummary, RuleSet
from fairdesk.wording import words
from fairdesk.wording.decisions import favourable, named_outcome
from fairdesk.wording.groups.findings import (
    both_rates,
    gap_text,
    has_few_rows,
    is_about_texts,
    is_counted,
    is_significant,
    quoted_gap,
    shown_gap,
)
from fairdesk.wording.language import Statement, say, say_many
from fairdesk.wording.rules import combination_text, rule_phrase
from fairdesk.wording.words import digits_of, p_is, signed

#: What gaps are estimated from.
_COPIES = "slightly altered copies of the data rows"
#: What the data rows show of a gap that was estimated from copies of them.
_ON_DATA = {
    None: "The data rows cannot confirm the gap in the copies.",
    True: "",
    False: "The data rows do not show the gap in the copies.",
}
#: And what the texts as they are show of one.
_ON_TEXTS = {
    None: "The original texts cannot confirm it.",
    True: "The original texts show this gap, too: {inside} against {outside}.",
    False: "The original texts do not show this gap: {inside} against {outside}.",
}


def rule_set_sentence(spec: AuditSpec, rule_set: RuleSet) -> str:
    """Say who a rule set describes, and how they fare beside everybody else.

    Examples
    --------
    ``sex = Male, race = Hispanic or Other, age 40 and over: 20.7 % against 83.1 %``
    """
    return f"{rule_phrase(spec, rule_set.conditions)}: {rates(spec, rule_set)}"


def rates(spec: AuditSpec, rule_set: RuleSet) -> str:
    """Write both rates: ``20.7 % against 83.1 %``, with the decision where not the favourable."""
    inside, outside = both_rates(rule_set)
    values = {"inside": inside, "outside": outside}
    if not rule_set.outcome:
        return say("mean score {inside} against {outside}", **values)
    if rule_set.outcome == favourable(spec):
        return say("{inside} against {outside}", **values)
    return say("“{outcome}” for {inside} against {outside}", outcome=rule_set.outcome, **values)


def evidence_sentence(
    spec: AuditSpec, rule_set: RuleSet, mined: RuleSearchSummary | None = None
) -> str:
    """Say of how many people a rule set's gap is, and what it is estimated to be, how certainly.

    Parameters
    ----------
    mined : Mined, optional
        What was examined with it: figures of the only subgroup are not corrected.
    """
    several = mined is None or mined.rule_sets > 1
    p = p_is(rule_set.p)
    values = {
        "who": _who(spec, rule_set),
        "share": words.percent(rule_set.support, 1.0),
        "whole": _whole(rule_set),
        "estimated": _difference(rule_set, rule_set.phi_in - rule_set.phi_out),
        "interval": _interval(rule_set, several=several),
        "p": say("corrected {p}", p=p) if several else p,
        "shows": shown_by_data(rule_set),
    }
    if not is_counted(rule_set):
        return say(
            "{estimated} ({interval}); {who}, {share} of {whole}; {p}. {shows}", **values
        ).rstrip()
    return say(
        "{counted}; {who}, {share} of {whole}. In {copies}: {estimated} ({interval}); {p}. {shows}",
        counted=_difference(rule_set, shown_gap(rule_set)),
        copies=_COPIES,
        **values,
    ).rstrip()


def mined_sentence(spec: AuditSpec, mined: RuleSearchSummary) -> str:
    """Say what was examined, the number of rule sets first, and on how many samples."""
    return f"{examined_sentence(spec, mined)} {samples_sentence(mined)}".rstrip()


def examined_sentence(spec: AuditSpec, mined: RuleSearchSummary) -> str:
    """Say how many subgroups were tested, of how many."""
    values = {
        "about": words.listed(mined.attributes),
        # a share that was asked for, written as it was
        "least": words.percent_of(f"{100 * mined.theta:g}"),
        "data": "the texts with an identity term" if mined.texts else "the data",
        "counted": words.number(mined.candidates),
    }
    if not mined.rule_sets:
        return say(
            "No subgroup defined by {about} reaches the minimum support of {least} of {data}, "
            "of {counted} counted. A smaller minimum support may find some.",
            **values,
        )
    if mined.texts:
        texts = say_many(mined.texts, "{n} text[|s]")
        values["data"] = say("{data} ({texts})", data=values["data"], texts=texts)
        values["about"] = words.joined(mined.attributes)
    return say_many(
        mined.rule_sets,
        "{n} subgroup[ defined by terms of {about}|s] [was|were] tested{by}[.|: single terms, and "
        "terms of several categories together ({about}).] [It|Each] applies to at least {least} of "
        "{data}.[| Intervals and p-values are corrected for these {n} tests.]"
        if mined.texts
        else "{n} subgroup[|s] defined by {about} [was|were] tested{by}. [It|Each] contains at "
        "least {least} of {data}.[| The intervals and p-values of the table are corrected for "
        "these {n} tests.]",
        by=_counting(spec, mined.outcome),
        **values,
    )


def samples_sentence(mined: RuleSearchSummary) -> str:
    """Say on how many samples subgroups were tested; empty where none was."""
    if not mined.rule_sets:
        return ""
    if mined.texts:
        return say_many(
            mined.samples,
            "For this, {n} text[|s] with one or more terms replaced [was|were] tested; the "
            "other queries of the run are for the original texts, for re-querying changed "
            "decisions, and for a check beforehand that outputs repeat.",
        )
    return say_many(
        mined.samples,
        "For this, {n} [copy|copies] of [a |]data row[|s] with one other value slightly changed "
        "[was|were] tested.",
    )


def widest_statement(spec: AuditSpec, mined: RuleSearchSummary, rule_set: RuleSet) -> Statement:
    """Say of the rule set with the highest score how far it is from all others.

    What is counted in the data rows comes first, where these show the gap.
    """
    if is_about_texts(rule_set):
        said = _widest_of_terms(spec, mined, rule_set)
    elif is_counted(rule_set) and rule_set.holds_on_data:
        said = _widest_counted(spec, mined, rule_set)
    else:
        said = _widest_estimated(spec, mined, rule_set)
    if wide := _as_wide(spec, rule_set):
        said = said.with_more(wide)
    if is_significant(rule_set):
        return said
    doubt = say_many(
        mined.rule_sets,
        "[This|After correction for the number of subgroups, this] is not statistically "
        "significant.",
    )
    return msgspec.structs.replace(said.with_more(doubt), brief=f"{said.brief} {doubt}")


def _widest_counted(spec: AuditSpec, mined: RuleSearchSummary, rule_set: RuleSet) -> Statement:
    """Say a gap that the data rows show, and how certain it is."""
    inside, outside = both_rates(rule_set)
    people = round(rule_set.rows / rule_set.support)
    counted = say(
        "In the data, the {what} is {inside} for {group} (n = {n_in}) and {outside} for all "
        "others (n = {n_out}).",
        what=_what(spec, rule_set),
        inside=inside,
        group=rule_phrase(spec, rule_set.conditions),
        n_in=words.number(rule_set.rows),
        outside=outside,
        n_out=words.number(people - rule_set.rows),
    )
    estimated = say_many(
        mined.rule_sets,
        "In {copies}, [the gap is|this gap is the largest of the {n} subgroups tested:] {points} "
        "({interval}).",
        copies=_COPIES,
        points=gap_text(rule_set.outcome, rule_set.score),
        interval=_interval(rule_set, several=mined.rule_sets > 1),
    )
    above = rule_set.phi_in > rule_set.phi_out
    label = "Percentage points above all others" if above else "Percentage points below all others"
    value = words.number(100 * quoted_gap(rule_set), 1)
    if not rule_set.outcome:
        label = "Difference in mean score from all others"
        value = words.number(quoted_gap(rule_set), 3)
    return Statement("observed", label, value, f"{counted} {estimated}", counted)


def _widest_estimated(spec: AuditSpec, mined: RuleSearchSummary, rule_set: RuleSet) -> Statement:
    """Say a gap that only copies of the data rows show."""
    values = {
        "what": _what(spec, rule_set),
        "group": rule_phrase(spec, rule_set.conditions),
        "inside": _rate(rule_set, rule_set.phi_in),
        "outside": _rate(rule_set, rule_set.phi_out),
        "copies": _COPIES,
    }
    sentence = say_many(
        mined.rule_sets,
        "In {copies}, the {what} is {inside} for {group} ({who}, {share} of the data) and "
        "{outside} for all others: a gap of {points} ({interval})[|, the largest of the {n} "
        "subgroups tested]. {shows}",
        who=_who(spec, rule_set),
        share=words.percent(rule_set.support, 1.0),
        points=gap_text(rule_set.outcome, rule_set.score),
        interval=_interval(rule_set, several=mined.rule_sets > 1),
        shows=shown_by_data(rule_set),
        **values,
    ).rstrip()
    brief = say(
        "In {copies}, the {what} is {inside} for {group} and {outside} for all others. {shows}",
        shows=shown_by_data(rule_set),
        **values,
    ).rstrip()
    label, value = "Largest gap in mean score", words.number(rule_set.score, 3)
    if rule_set.outcome:
        label = "Largest gap to all others in copies of the data rows, in percentage points"
        value = words.number(100 * rule_set.score, 1)
    return Statement("estimated", label, value, sentence, brief)


def _widest_of_terms(spec: AuditSpec, mined: RuleSearchSummary, rule_set: RuleSet) -> Statement:
    """Say how the same texts fare with some terms and with others."""
    inside, outside = both_rates(rule_set)
    values = {
        "texts": _who(spec, rule_set),
        "category": words.joined([each.attribute for each in rule_set.conditions]),
        "term": words.joined([f"“{each.term}”" for each in rule_set.conditions]),
        "inside": inside,
        "outside": outside,
        "outcome": named_outcome(spec, rule_set.outcome) if rule_set.outcome else "",
    }
    replaced = say_many(
        len(rule_set.conditions),
        "In {texts}, the term[|s] of {category} [was|were] replaced.",
        **values,
    )
    found = (
        say(
            "With {term}, {inside} are decided {outcome}; with the other terms, {outside} on "
            "average.",
            **values,
        )
        if rule_set.outcome
        else say(
            "With {term}, the mean score of the favourable decision is {inside}; with the other "
            "terms, it is {outside}.",
            **values,
        )
    )
    brief = f"{replaced} {found}"
    gap = say_many(
        mined.rule_sets,
        "The gap [is|of] {points} ({interval})[| is the largest of the {n} subgroups tested]. "
        "{shows}",
        points=gap_text(rule_set.outcome, rule_set.score),
        interval=_interval(rule_set, several=mined.rule_sets > 1),
        # too few of them is no news: the texts compared are the same
        shows="" if rule_set.holds_on_data is None else shown_by_data(rule_set),
    ).rstrip()
    label, value = "Largest gap in mean score", words.number(rule_set.score, 3)
    if rule_set.outcome:
        label = (
            "Largest gap between texts with one term and the same texts with others, in "
            "percentage points"
        )
        value = words.number(100 * rule_set.score, 1)
    return Statement("estimated", label, value, f"{brief} {gap}", brief)


def _as_wide(spec: AuditSpec, rule_set: RuleSet) -> str:
    """Name a broader subgroup with the same gap, to which the rest of the rule adds nothing."""
    points = gap_text(rule_set.outcome, rule_set.score)
    same = [
        each.conditions
        for each in rule_set.broader
        if each.conditions and gap_text(rule_set.outcome, each.score) == points
    ]
    if not same:
        return ""
    return say("The gap is as large for {group}.", group=rule_phrase(spec, min(same, key=len)))


def _whole(rule_set: RuleSet) -> str:
    return "the texts with an identity term" if is_about_texts(rule_set) else "the data"


def _what(spec: AuditSpec, rule_set: RuleSet) -> str:
    if not rule_set.outcome:
        return "mean score of the favourable decision"
    if rule_set.outcome == favourable(spec):
        return "selection rate"
    return say("rate of “{outcome}”", outcome=rule_set.outcome)


def _counting(spec: AuditSpec, outcome: str) -> str:
    if not outcome:
        return " (by the mean score)"
    return "" if outcome == favourable(spec) else say(" (for “{outcome}”)", outcome=outcome)


def _rate(rule_set: RuleSet, value: float) -> str:
    digits = words.digits_apart(rule_set.phi_in, rule_set.phi_out)
    return words.percent(value, 1.0, digits) if rule_set.outcome else words.number(value, 3)


def _difference(rule_set: RuleSet, apart: float) -> str:
    points = gap_text(rule_set.outcome, abs(apart))
    return say("{points} lower" if apart < 0 else "{points} higher", points=points)


def _interval(rule_set: RuleSet, *, several: bool) -> str:
    """Write the interval of an estimated gap: ``corrected 95 % CI 58.0 to 66.1``."""
    return say(
        "corrected {confidence} CI {ends}" if several else "{confidence} CI {ends}",
        confidence=words.percent_of("95"),
        ends=ends_text(rule_set),
    )


def ends_text(figure: RuleSet | LinearGroup) -> str:
    """Write the interval of a difference; with its directions where it reaches over nought."""
    scale, digits = (100, 1) if figure.outcome else (1, 3)
    low, high = scale * figure.low, scale * figure.high
    least, most = (words.number(each, digits) for each in sorted((abs(low), abs(high))))
    if low < 0 < high:
        return say(
            "{low} lower to {high} higher",
            low=words.number(-low, digits),
            high=words.number(high, digits),
        )
    return words.ends(least, most)


def _who(spec: AuditSpec, rule_set: RuleSet) -> str:
    if is_about_texts(rule_set):
        return say_many(rule_set.rows, "{n} text[|s]")
    return words.counted(rule_set.rows, spec.person)


def shown_by_data(rule_set: RuleSet) -> str:
    """Say whether the rows, or texts, as they are show an estimated gap; empty where rows do."""
    inside, outside = rule_set.data_in, rule_set.data_out
    texts = is_about_texts(rule_set)
    if inside is None or outside is None:
        return (
            "The original texts cannot confirm it: none has this term alone, or all have."
            if texts
            else "The data rows cannot confirm it: one side is empty."
        )
    if has_few_rows(rule_set):
        if texts:
            return "The original texts cannot confirm it: too few have this term alone."
        return say_many(
            rule_set.data_rows or 0,
            "The data rows cannot confirm it: only {n} [is|are] on one side.",
        )
    return say(
        (_ON_TEXTS if texts else _ON_DATA)[rule_set.holds_on_data],
        inside=_rate(rule_set, inside),
        outside=_rate(rule_set, outside),
    )


#: Weights of a linear subgroup that are written out.
_WEIGHTS = 5


def linear_statement(spec: AuditSpec, group: LinearGroup) -> Statement:
    """Say how a subgroup that weights describe fares."""
    apart = group.phi_in - group.phi_out
    said = say(
        (
            "The rate of “{outcome}” in a linear subgroup is {points} lower ({confidence} CI "
            "{ends}) than among all others: {inside} against {outside}, measured on {people} "
            "held out, {share} of them in the subgroup. Members score above zero: {weights}."
        )
        if apart < 0
        else (
            "The rate of “{outcome}” in a linear subgroup is {points} higher ({confidence} CI "
            "{ends}) than among all others: {inside} against {outside}, measured on {people} "
            "held out, {share} of them in the subgroup. Members score above zero: {weights}."
        ),
        points=_percentage_points(abs(apart)),
        ends=ends_text(group),
        confidence=words.percent_of("95"),
        outcome=group.outcome,
        inside=words.percent(group.phi_in, 1.0),
        outside=words.percent(group.phi_out, 1.0),
        people=words.counted(group.n_samples, spec.person),
        share=words.percent(group.support, 1.0),
        weights=weights_text(group),
    )
    return _gap(abs(apart), said, others="all others")


def weights_text(group: LinearGroup) -> str:
    """Write a weighted sum, the heaviest first: ``sex = Male +1.20, age −0.31, and −0.10``."""
    pairs = sorted(zip(group.features, group.weights, strict=True), key=lambda pair: -abs(pair[1]))
    parts = [f"{name} {signed(weight)}" for name, weight in pairs]
    return say(
        "{weights}, constant {bias}",
        weights=words.some(parts, _WEIGHTS),
        bias=signed(group.bias),
    )


def gap_statement(spec: AuditSpec, gap: GroupGap) -> Statement:
    """Say how far two groups of invented people are apart."""
    digits = digits_of(gap.low, gap.high)
    best, worst = (combination_text(spec, gap.attributes, each) for each in (gap.best, gap.worst))
    said = say(
        (
            "The selection rates of {best} ({best_rate}) and {worst} ({worst_rate}) differ by "
            "{points} ({confidence} CI {ends}) among {people} drawn at random from the input "
            "domain."
        )
        if gap.sets == 1
        else (
            "The selection rates of {best} ({best_rate}) and {worst} ({worst_rate}) differ by "
            "{points} (corrected {confidence} CI {ends}, {sets} sets of attributes) among "
            "{people} drawn at random from the input domain."
        ),
        sets=words.number(gap.sets),
        points=_percentage_points(gap.gap, digits),
        ends=words.ends(words.number(100 * gap.low, digits), words.number(100 * gap.high, digits)),
        confidence=words.percent(gap.confidence, 1.0, 0),
        best=best,
        best_rate=words.shown_percent(gap.best_rate, 1),
        worst=worst,
        worst_rate=words.shown_percent(gap.worst_rate, 1),
        people=say_many(gap.n_samples, "{n} instance[|s]"),
    )
    shown = "The difference is not statistically significant." if gap.low <= 0 else ""
    unmet = (
        say_many(
            gap.unmet,
            "{n} group[|s] [is|are] not compared: no instance of [it|them] was drawn, or "
            "constraints exclude [it|them].",
        )
        if gap.unmet
        else ""
    )
    return _gap(gap.gap, said, digits).with_more(shown, unmet)


def _gap(value: float, sentence: str, digits: int = 1, *, others: str = "") -> Statement:
    """Return an estimated difference of rates: to ``others``, else between two groups."""
    label = (
        say("Largest gap to {others}, in percentage points", others=others)
        if others
        else "Largest gap, in percentage points"
    )
    return Statement("estimated", label, words.number(100 * value, digits), sentence)


def _percentage_points(value: float, digits: int = 1) -> str:
    return say("{n} percentage points", n=words.number(100 * value, digits))
