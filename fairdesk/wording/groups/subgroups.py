"""What searches for groups found, in sentences: rule sets, terms in texts, subgroups, gaps.

All of it is estimated from samples. Whether a lower rate is a worse one depends on the decision.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.groups.tabular.results import MOST_TOLD, MOST_VARIANTS
from fairdesk.results.events import Metric
from fairdesk.results.groups import GroupGap
from fairdesk.results.subgroups import Flip, LinearGroup, RuleSearchSummary, RuleSet, TermRate
from fairdesk.wording import words
from fairdesk.wording.language import fixed, say, say_many
from fairdesk.wording.rules import combination_text, rule_phrase
from fairdesk.wording.statements import Statement
from fairdesk.wording.words import UNDEFINED, digits_of, p_text, signed

#: A difference that chance makes more often than this is told as one that it may have made.
CHANCE = 0.05
#: Of a longer text only the part around the term is shown.
_LONGEST = 240
#: Weights of a linear subgroup that are written out.
_WEIGHTS = 5
#: What the rows as they are show of a difference.
_ON_DATA = fixed(
    {
        None: "the untouched rows cannot tell ({inside} against {outside})",
        True: "the untouched rows show it too ({inside} against {outside})",
        False: "the untouched rows do not show it ({inside} against {outside})",
    }
)


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
    values = {
        "difference": _difference(rule_set),
        "ends": _ends(rule_set),
        "confidence": words.percent_of("95"),
        "who": _who(spec, rule_set),
        "share": words.percent(rule_set.support, 1.0),
        "whole": _whole(rule_set),
        "p": p_text(rule_set.p),
        "untouched": _untouched(rule_set),
    }
    if mined is None:
        return say(
            "{difference} ({ends} for all rule sets together, {confidence}); {who}, {share} of "
            "{whole}; corrected p {p}; {untouched}.",
            **values,
        )
    return say_many(
        mined.rule_sets,
        "{difference} ({ends}, {confidence}); {who}, {share} of {whole}; corrected p {p}; "
        "{untouched}.",
        "{difference} ({ends} for all {n} rule sets together, {confidence}); {who}, {share} of "
        "{whole}; corrected p {p}; {untouched}.",
        **values,
    )


def margin_sentence(rule_set: RuleSet) -> str:
    """Say the paper's own margin and confidence, and what they do not cover."""
    return say(
        "The paper’s own margin is {margin} with {confidence} confidence (the product of that of "
        "both rates): for this rule set alone, as if it were the only one examined."
        if _about_texts(rule_set)
        else "The paper’s own margin is {margin} with {confidence} confidence (the product of that "
        "of both rates): for this rule set alone, as if it were the only one examined, and for the "
        "rows of the data alone, however few they are.",
        margin=_points(rule_set, rule_set.margin),
        confidence=_confidence(rule_set.confidence),
    )


def mined_sentence(spec: AuditSpec, mined: RuleSearchSummary) -> str:
    """Say what was examined, the number of rule sets first."""
    about = words.listed(mined.attributes) if not mined.texts else _terms_of(mined.attributes)
    values = {
        "about": about,
        # a share that was asked for, written as it was
        "least": words.percent_of(f"{100 * mined.theta:g}"),
        "data": say("the texts that name anybody") if mined.texts else say("the data"),
        "counted": words.number(mined.candidates),
    }
    if not mined.rule_sets:
        return say(
            "0 rule sets about {about} describe at least {least} of {data}: of {counted} counted, "
            "none does. A smaller least support may find some.",
            **values,
        )
    if mined.texts:
        texts = say_many(mined.texts, "{n} text", "{n} texts")
        values["data"] = say("{data} ({texts})", data=values["data"], texts=texts)
        asked = say_many(mined.samples, "{n} text", "{n} texts")
    else:
        asked = words.counted(mined.samples, spec.person)
    score = not mined.outcome
    return say_many(
        mined.rule_sets,
        "{n} rule set about {about} describes at least {least} of {data} and was examined, of "
        "{counted} counted{by}: {asked} asked about, the widest margin {margin}, {time}.",
        "{n} rule sets about {about} describe at least {least} of {data} and were examined, of "
        "{counted} counted{by}: {asked} asked about, the widest margin {margin}, {time}.",
        by=_counting(spec, mined.outcome),
        asked=asked,
        margin=words.number(mined.margin, 3) if score else _percentage_points(mined.margin),
        time=words.duration(mined.seconds),
        **values,
    )


def favourable(spec: AuditSpec) -> str:
    """Name the favourable decision."""
    return spec.decisions[spec.mapping.favourable_class]


def mined_with(
    figures: Iterable[Metric],
) -> Iterator[tuple[RuleSearchSummary, tuple[RuleSet, ...]]]:
    """Yield for each outcome what was examined, and its rule sets, as they follow each other."""
    held = [each for each in figures if isinstance(each, RuleSearchSummary | RuleSet)]
    places = [place for place, each in enumerate(held) if isinstance(each, RuleSearchSummary)]
    for place, end in zip(places, (*places[1:], len(held)), strict=False):
        mined = held[place]
        if isinstance(mined, RuleSearchSummary):
            yield mined, tuple(each for each in held[place + 1 : end] if isinstance(each, RuleSet))


def leaves_few(mined: RuleSearchSummary, rule_set: RuleSet) -> bool:
    """Return whether a rule set leaves fewer people outside than the least support.

    In texts, the same sentences are inside and outside.
    """
    return not mined.texts and rule_set.support > 1 - mined.theta


def leaders(rule_sets: Sequence[RuleSet]) -> tuple[RuleSet, ...]:
    """Return those that stand for themselves, in their order."""
    return tuple(each for each in rule_sets if each.leader < 0)


def variants(rule_sets: Sequence[RuleSet], leader: RuleSet) -> tuple[RuleSet, ...]:
    """Return those that describe nearly the same people as one that stands for itself."""
    place = rule_sets.index(leader)
    return tuple(each for each in rule_sets if each.leader == place)


def variants_text(mined: RuleSearchSummary, count: int) -> str:
    """Write how many variants there are; of very many rule sets not all are told."""
    text = words.number(count)
    if count >= MOST_VARIANTS and mined.rule_sets > MOST_TOLD:
        return say("{n} or more", n=text)
    return text


def both_rates(rule_set: RuleSet) -> tuple[str, str]:
    """Write the rates inside and outside."""
    return _rate(rule_set, rule_set.phi_in), _rate(rule_set, rule_set.phi_out)


def difference_texts(rule_set: RuleSet) -> tuple[str, str]:
    """Write the difference and its interval, in points or of score: ``−62.4``, ``−66.1 to −58``."""
    apart, low, high = (
        _apart(rule_set, each)
        for each in (rule_set.phi_in - rule_set.phi_out, rule_set.low, rule_set.high)
    )
    return apart, words.ends(low, high)


def untouched_text(rule_set: RuleSet) -> str:
    """Write the difference among the untouched rows, with a dagger where they do not show it."""
    inside, outside = rule_set.data_in, rule_set.data_out
    if inside is None or outside is None:
        return say(UNDEFINED)
    return f"{_apart(rule_set, inside - outside)}{'' if rule_set.holds_on_data else '†'}"


def _apart(rule_set: RuleSet, value: float) -> str:
    return signed(100 * value, 1) if rule_set.outcome else signed(value, 3)


def widest_statement(spec: AuditSpec, mined: RuleSearchSummary, rule_set: RuleSet) -> Statement:
    """Say of the rule set with the highest score how far it is from all others."""
    if mined.rule_sets == 1:
        widest, whose = say("the only rule set"), ""
    else:
        widest = say("the widest difference of all {sets}", sets=count_text(mined.rule_sets))
        whose = say(" for all of them together")
    sentence = say(
        "{points} lie between the {what} of {group} ({inside}) and of {others} ({outside}): "
        "{widest} examined, estimated from samples; {ends}{together}, {confidence}; corrected p "
        "{p}; {who}, {share} of {whole}; {untouched}."
        if rule_set.outcome
        else "{points} lies between the {what} of {group} ({inside}) and of {others} ({outside}): "
        "{widest} examined, estimated from samples; {ends}{together}, {confidence}; corrected p "
        "{p}; {who}, {share} of {whole}; {untouched}.",
        points=_points(rule_set, rule_set.score),
        what=_what(spec, rule_set),
        group=rule_phrase(spec, rule_set.conditions),
        inside=_rate(rule_set, rule_set.phi_in),
        others=_others(rule_set),
        outside=_rate(rule_set, rule_set.phi_out),
        widest=widest,
        ends=_ends(rule_set),
        together=whose,
        confidence=words.percent_of("95"),
        p=p_text(rule_set.p),
        who=_who(spec, rule_set),
        share=words.percent(rule_set.support, 1.0),
        whole=_whole(rule_set),
        untouched=_untouched(rule_set),
    )
    score, rates = words.number(rule_set.score, 3), bool(rule_set.outcome)
    said = (
        _gap(rule_set.score, sentence)
        if rates
        else Statement("estimated", say("Largest gap in mean score"), score, sentence)
    )
    if rule_set.p <= CHANCE:
        return said
    return said.with_more(
        say("After correction for how many were examined, chance alone may have made it.")
    )


def _gap(value: float, sentence: str, digits: int = 1) -> Statement:
    """Return an estimated difference of rates."""
    label = say("Largest gap, in percentage points")
    return Statement("estimated", label, words.number(100 * value, digits), sentence)


def _others(rule_set: RuleSet) -> str:
    texts = _about_texts(rule_set)
    return say("the same texts with other terms" if texts else "everybody else")


def _whole(rule_set: RuleSet) -> str:
    return say("the texts that name anybody" if _about_texts(rule_set) else "the data")


def _what(spec: AuditSpec, rule_set: RuleSet) -> str:
    if not rule_set.outcome:
        return say("mean scores of the favourable decision")
    if rule_set.outcome == favourable(spec):
        return say("favourable rates")
    return say("rates of “{outcome}”", outcome=rule_set.outcome)


def _counting(spec: AuditSpec, outcome: str) -> str:
    if not outcome:
        return say(" (by the mean score)")
    return "" if outcome == favourable(spec) else say(" (for “{outcome}”)", outcome=outcome)


def _rate(rule_set: RuleSet, value: float) -> str:
    return words.percent(value, 1.0) if rule_set.outcome else words.number(value, 3)


def _points(rule_set: RuleSet, value: float) -> str:
    return _percentage_points(value) if rule_set.outcome else words.number(value, 3)


def _percentage_points(value: float, digits: int = 1) -> str:
    return say("{n} percentage points", n=words.number(100 * value, digits))


def _difference(rule_set: RuleSet) -> str:
    apart = rule_set.phi_in - rule_set.phi_out
    points = _points(rule_set, abs(apart))
    return say("{points} lower" if apart < 0 else "{points} higher", points=points)


def _ends(figure: RuleSet | LinearGroup) -> str:
    """Write the interval of a difference; with its directions where it reaches over nought."""
    scale, digits = (100, 1) if figure.outcome else (1, 3)
    low, high = scale * figure.low, scale * figure.high
    least, most = (words.number(each, digits) for each in sorted((abs(low), abs(high))))
    if low < 0 < high:
        return say(
            "between {low} lower and {high} higher",
            low=words.number(-low, digits),
            high=words.number(high, digits),
        )
    return words.ends(least, most)


def _who(spec: AuditSpec, rule_set: RuleSet) -> str:
    if _about_texts(rule_set):
        return say_many(rule_set.rows, "{n} text", "{n} texts")
    return words.counted(rule_set.rows, spec.person)


def _about_texts(rule_set: RuleSet) -> bool:
    return any(each.term for each in rule_set.conditions)


def _untouched(rule_set: RuleSet) -> str:
    """Say whether the rows as they are show the difference too."""
    inside, outside = rule_set.data_in, rule_set.data_out
    if inside is None or outside is None:
        return say("the untouched rows cannot tell, for one side of it is empty")
    both = {"inside": _rate(rule_set, inside), "outside": _rate(rule_set, outside)}
    return say(_ON_DATA[rule_set.holds_on_data], **both)


def _confidence(value: float) -> str:
    return words.percent_of(f"{100 * value:.4g}")


def count_text(count: int) -> str:
    """Write how many rule sets."""
    return say_many(count, "{n} rule set", "{n} rule sets")


def _terms_of(categories: Sequence[str]) -> str:
    return say("terms of {categories}", categories=words.joined(categories))


# Terms in texts


def term_sentence(spec: AuditSpec, term: TermRate) -> str:
    """Say how sentences fare that name one term, those that get another decision first."""
    values = {
        "what": say("“{term}” ({category})", term=term.term, category=term.category),
        "occurs": say_many(
            term.occurs,
            "{n} text of the data holds it.",
            "{n} texts of the data hold it.",
        ),
    }
    if not term.texts:
        return say("0 texts could name {what}. {occurs}", **values)
    values["fare"] = say(
        "{rate} of {texts} get “{outcome}” with {what} put in",
        rate=words.percent(term.rate, 1.0),
        texts=say_many(term.texts, "{n} text", "{n} texts"),
        outcome=favourable(spec),
        what=values["what"],
    )
    if not term.tried:
        return say("{fare}: {what} was compared with no other term. {occurs}", **values)
    return say_many(
        term.flips,
        "{fare}. {n} of {tried} gets another decision with some other term of {category}. {occurs}",
        "{fare}. {n} of {tried} get another decision with some other term of {category}. {occurs}",
        tried=words.number(term.tried),
        category=term.category,
        **values,
    )


def by_category(figures: Iterable[Metric]) -> tuple[tuple[TermRate, ...], ...]:
    """Return the terms that were compared, by their categories, the lowest rate first."""
    held: dict[str, list[TermRate]] = {}
    for each in figures:
        if isinstance(each, TermRate) and each.texts:
            held.setdefault(each.category, []).append(each)
    return tuple(tuple(sorted(terms, key=lambda term: term.rate)) for terms in held.values())


def category_statement(spec: AuditSpec, terms: Sequence[TermRate]) -> Statement:
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
    flipped = say_many(
        most.flips,
        "{n} of {texts} that name somebody by {category} gets another decision with another of its "
        "terms.",
        "{n} of {texts} that name somebody by {category} get another decision with another of its "
        "terms.",
        texts=say_many(most.tried, "{n} text", "{n} texts"),
        category=most.category,
    )
    if low == high:
        fare = say(
            "The share with “{outcome}” is {share} with each of them.",
            outcome=favourable(spec),
            share=low,
        )
    else:
        fare = say(
            "The share with “{outcome}” goes from {low} (“{first}”) to {high} (“{last}”).",
            outcome=favourable(spec),
            low=low,
            first=terms[0].term,
            high=high,
            last=terms[-1].term,
        )
    label = say("Texts with another decision")
    return Statement("estimated", label, words.number(most.flips), f"{flipped} {fare}")


def flip_sentence(flip: Flip) -> str:
    """Say what one sentence gets, and what it gets with another term; of a long one a part."""
    return say(
        "“{decision}” for “{text}”, “{other_decision}” with “{other_term}” instead.",
        decision=flip.decision,
        text=_around(flip),
        other_decision=flip.other_decision,
        other_term=flip.other_term,
    )


def _around(flip: Flip) -> str:
    """Return the part of a sentence where it first differs from the other one."""
    text, other = (" ".join(each.split()) for each in (flip.text, flip.other))
    if len(text) <= _LONGEST:
        return text
    pairs = enumerate(zip(text, other, strict=False))
    same = next((place for place, (own, its) in pairs if own != its), 0)
    begin = max(0, min(same - _LONGEST // 2, len(text) - _LONGEST))
    end = begin + _LONGEST
    return f"{'…' if begin else ''}{text[begin:end].strip()}{'…' if end < len(text) else ''}"


# Subgroups by weights, and groups of invented people


def linear_statement(spec: AuditSpec, group: LinearGroup) -> Statement:
    """Say how a subgroup that weights describe fares."""
    apart = group.phi_in - group.phi_out
    said = say(
        "{points} lower ({ends}, {confidence}) is the rate of “{outcome}” in a subgroup that "
        "weights describe: {inside} against {outside}, among {people} held out, {share} of them in "
        "it. In it is who weighs more than nought: {weights}."
        if apart < 0
        else "{points} higher ({ends}, {confidence}) is the rate of “{outcome}” in a subgroup that "
        "weights describe: {inside} against {outside}, among {people} held out, {share} of them in "
        "it. In it is who weighs more than nought: {weights}.",
        points=_percentage_points(abs(apart)),
        ends=_ends(group),
        confidence=words.percent_of("95"),
        outcome=group.outcome,
        inside=words.percent(group.phi_in, 1.0),
        outside=words.percent(group.phi_out, 1.0),
        people=words.counted(group.people, spec.person),
        share=words.percent(group.support, 1.0),
        weights=weights_text(group),
    )
    return _gap(abs(apart), said)


def weights_text(group: LinearGroup) -> str:
    """Write a weighted sum, the heaviest first: ``sex = Male +1.20, age −0.31, and −0.10``."""
    pairs = sorted(zip(group.features, group.weights, strict=True), key=lambda pair: -abs(pair[1]))
    parts = [f"{name} {signed(weight)}" for name, weight in pairs]
    return say(
        "{weights}, and {bias} for everybody",
        weights=words.some(parts, _WEIGHTS),
        bias=signed(group.bias),
    )


def gap_statement(spec: AuditSpec, gap: GroupGap) -> Statement:
    """Say how far two groups of invented people are apart."""
    digits = digits_of(gap.low, gap.high)
    best, worst = (combination_text(spec, gap.attributes, each) for each in (gap.best, gap.worst))
    said = say(
        "{points} ({ends}, {confidence}) lie between the favourable rates of {best} ({best_rate}) "
        "and {worst} ({worst_rate}), among {people} invented at random."
        if gap.sets == 1
        else "{points} ({ends} for all {sets} sets of attributes together, {confidence}) lie "
        "between the favourable rates of {best} ({best_rate}) and {worst} ({worst_rate}), among "
        "{people} invented at random.",
        sets=words.number(gap.sets),
        points=_percentage_points(gap.gap, digits),
        ends=words.ends(words.number(100 * gap.low, digits), words.number(100 * gap.high, digits)),
        confidence=words.percent(gap.confidence, 1.0, 0),
        best=best,
        best_rate=words.shown_percent(gap.best_rate, 1),
        worst=worst,
        worst_rate=words.shown_percent(gap.worst_rate, 1),
        people=words.counted(gap.people, spec.person),
    )
    shown = (
        say("That the two differ at all is not shown: it may be sampling error.")
        if gap.low <= 0
        else ""
    )
    unmet = (
        say_many(
            gap.unmet,
            "{n} group is not compared: nobody in it was drawn, or constraints exclude it.",
            "{n} groups are not compared: nobody in them was drawn, or constraints exclude them.",
        )
        if gap.unmet
        else ""
    )
    return _gap(gap.gap, said, digits).with_more(shown, unmet)
