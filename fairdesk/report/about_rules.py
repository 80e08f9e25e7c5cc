"""What searches for groups found, in sentences: rule sets, terms in texts, subgroups, gaps.

All of it is estimated from samples. Whether a lower rate is a worse one depends on the decision.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fairdesk.audit.spec import AuditSpec
from fairdesk.events import Figure, Flip, GroupGap, LinearGroup, Mined, RuleSet, TermRate
from fairdesk.groups.telling import MOST_TOLD, MOST_VARIANTS
from fairdesk.report import words
from fairdesk.report.rules import combination_text, rule_phrase
from fairdesk.report.words import NBSP, UNDEFINED, digits_of, p_text, plural, signed

#: A difference that chance makes more often than this is told as one that it may have made.
CHANCE = 0.05
#: Of a longer text only the part around the term is shown.
_LONGEST = 240
#: Weights of a linear subgroup that are written out.
_WEIGHTS = 5


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
    together = "all rule sets" if mined is None else f"all {count_text(mined.rule_sets)}"
    whose = "" if mined is not None and mined.rule_sets == 1 else f" for {together} together"
    return (
        f"{_difference(rule_set)} ({_ends(rule_set)}{whose}, 95{NBSP}%); "
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
        f"{count_text(mined.rule_sets)} about {about} {verb} at least {least} of {data}{named} "
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


def leaves_few(mined: Mined, rule_set: RuleSet) -> bool:
    """Tell whether a rule set leaves fewer people outside than the least support.

    In texts, the same sentences are inside and outside.
    """
    return not mined.texts and rule_set.support > 1 - mined.theta


def leaders(rule_sets: Sequence[RuleSet]) -> tuple[RuleSet, ...]:
    """Give those that stand for themselves, in their order."""
    return tuple(each for each in rule_sets if each.leader < 0)


def variants(rule_sets: Sequence[RuleSet], leader: RuleSet) -> tuple[RuleSet, ...]:
    """Give those that describe nearly the same people as one that stands for itself."""
    place = rule_sets.index(leader)
    return tuple(each for each in rule_sets if each.leader == place)


def variants_text(mined: Mined, count: int) -> str:
    """Write how many variants there are; of very many rule sets not all are told."""
    more = count >= MOST_VARIANTS and mined.rule_sets > MOST_TOLD
    return f"{words.number(count)}{' or more' if more else ''}"


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


def widest_sentence(spec: AuditSpec, mined: Mined, rule_set: RuleSet) -> str:
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
        else f"the widest difference of all {count_text(mined.rule_sets)}"
    )
    return (
        f"{_points(rule_set, rule_set.score)} {lie} between the {_what(spec, rule_set)} of "
        f"{rule_phrase(spec, rule_set.conditions)} ({_rate(rule_set, rule_set.phi_in)}) and of "
        f"{_others(rule_set)} ({_rate(rule_set, rule_set.phi_out)}): {widest} examined, "
        f"estimated from samples; {_ends(rule_set)}{'' if one else ' for all of them together'}, "
        f"95{NBSP}%; corrected p {p_text(rule_set.p)}; {_who(spec, rule_set)}, "
        f"{words.percent(rule_set.support, 1.0)} of {_whole(rule_set)}; "
        f"{_untouched(rule_set)}.{chance}"
    )


def _others(rule_set: RuleSet) -> str:
    return "the same texts with other terms" if _about_texts(rule_set) else "everybody else"


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


def count_text(count: int) -> str:
    """Write how many rule sets."""
    return "1 rule set" if count == 1 else f"{words.number(count)} rule sets"


def _terms_of(categories: Sequence[str]) -> str:
    return f"terms of {words.joined(categories)}"


# Terms in texts


def term_sentence(spec: AuditSpec, term: TermRate) -> str:
    """Say how sentences fare that name one term, those that get another decision first."""
    what = f"“{term.term}” ({term.category})"
    hold = "holds" if term.occurs == 1 else "hold"
    occurs = f"{words.counted(term.occurs, 'text')} of the data {hold} it."
    if not term.texts:
        return f"0 texts could name {what}. {occurs}"
    fare = (
        f"{words.percent(term.rate, 1.0)} of {words.counted(term.texts, 'text')} get "
        f"“{favourable(spec)}” with {what} put in."
    )
    if not term.tried:
        return f"{fare[:-1]}: {what} was compared with no other term. {occurs}"
    verb = "gets" if term.flips == 1 else "get"
    return (
        f"{fare} {words.number(term.flips)} of {words.number(term.tried)} {verb} another decision "
        f"with some other term of {term.category}. {occurs}"
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
