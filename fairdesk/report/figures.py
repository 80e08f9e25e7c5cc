"""What a run measured, in sentences and tables: shares with their intervals, gaps, likenesses.

The first interval told is the one for who looks once, at the end; the other holds for who watches
and stops when they like. A share is of people who could be, never of a search's findings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import floor, log10
from typing import Literal

from fairdesk.audit.methods import ABOUT_GROUPS, Answers, method_named
from fairdesk.audit.records import RunRecord, RunState
from fairdesk.audit.spec import AuditSpec
from fairdesk.events import (
    Figure,
    GroupGap,
    Likeness,
    PairShare,
    Proven,
    Region,
    Share,
)
from fairdesk.report import about_groups, about_repairs, words
from fairdesk.report.about_groups import gap_sentence
from fairdesk.report.rules import combination_text, rule_text
from fairdesk.report.words import digits_of, interval, plural, shown_percent

#: Decimals of a proven percentage: at least, and at most so many.
_LEAST_DIGITS, _MOST_DIGITS = 2, 6
#: What a phase of a search for groups counts, where that is neither rule sets nor people.
_STEPS = {
    "data": "rows asked about",
    "rules": "rule sets frequent",
    "fitting": "subgroups looked for",
    "reading": "texts read",
}
#: So many regions of each kind are told in sentences.
MOST_REGIONS = 3


def share_of_domain(figures: Iterable[Figure]) -> Share | None:
    """Give the share of all possible people, all protected attributes together; if measured."""
    shares = [each for each in figures if isinstance(each, Share) and each.whom == "domain"]
    return max(shares, key=lambda share: len(share.attributes), default=None)


def proven_of(
    figures: Iterable[Figure], of: Literal["domain", "population"] = "domain"
) -> Proven | None:
    """Give what is proven of all protected attributes together, if anything was tried."""
    proven = (each for each in figures if isinstance(each, Proven) and each.of == of)
    return max(proven, key=lambda each: len(each.attributes), default=None)


def share_sentence(spec: AuditSpec, share: Share) -> str:
    """Say how common discrimination is, the number first, with the fixed interval."""
    people, when = plural(spec.person), words.when_change(share.attributes)
    if not share.people:
        return f"Nobody was asked about, so nothing is known of {_whom(share, people)}."
    digits = digits_of(share.low, share.high)
    if share.exhaustive:
        exact = words.percent(share.hits, share.people, 2)
        return (
            f"{exact} of {_whom(share, people)} ({words.number(share.hits)} of "
            f"{words.number(share.people)}) get another decision {when}: every one was checked."
        )
    if not share.hits:
        most = f"at most {shown_percent(share.high, digits)} of {_whom(share, people)} do"
        return (
            f"0 of {words.number(share.people)} {people} drawn at random get another decision "
            f"{when}: {most} ({words.percent(share.confidence, 1.0, 0)} confidence)."
        )
    return (
        f"{shown_percent(share.estimate, digits)} "
        f"({interval(share.low, share.high, share.confidence, digits)}) of {_whom(share, people)} "
        f"get another decision {when}: estimated from {words.number(share.people)} drawn at random."
    )


def anytime_sentence(share: Share) -> str:
    """Say the interval for who watches; empty where all were checked."""
    if share.exhaustive or not share.people:
        return ""
    digits = digits_of(share.anytime_low, share.anytime_high)
    held = interval(share.anytime_low, share.anytime_high, share.confidence, digits)
    return f"For whoever watches and stops when they like, the interval is {held}."


def likeness_sentence(likeness: Likeness) -> str:
    """Say how well one perturbation size serves."""
    found = (
        f"a short search found {words.number(likeness.found)} among "
        f"{words.number(likeness.tried)} tried"
    )
    if likeness.gradients is None:
        return f"Size {likeness.size:.2g}: {found}."
    cosines = [
        f"{what} {value:.2f}"
        for what, value in (
            ("gradients", likeness.gradients),
            ("directions", likeness.directions),
            ("odds", likeness.probabilities),
        )
        if value is not None
    ]
    return f"Size {likeness.size:.2g}: cosine similarity of {words.joined(cosines)}; {found}."


def proven_sentence(spec: AuditSpec, proven: Proven) -> str:
    """Say what is proven and what is left, the number first; what is proven is rounded down."""
    people, whatever = _possible(spec, proven), _whatever(proven.attributes)
    if proven.exact:
        return _exact_sentence(proven, people, whatever)
    alike, unlike, left = proven_fractions(proven)
    if not alike and not unlike:
        return (
            f"Nothing is proven of how {people} are treated, {whatever}: all of them are undecided."
        )
    digits = digits_of_proof(alike, unlike, left)
    rest = f"{percent_up(left, digits)} is undecided."
    first, second = _at_least(alike, digits), _at_least(unlike, digits)
    if not unlike:
        return (
            f"{_capital(first)} of {people} are treated alike, {whatever}: proven; of nobody is "
            f"it proven that they are not. {rest}"
        )
    if not alike:
        return (
            f"{_capital(second)} of {people} are not treated alike, {whatever}: proven; of nobody "
            f"is it proven that they are. {rest}"
        )
    return (
        f"{_capital(first)} of {people} are treated alike, {whatever}: proven; {second} are not: "
        f"proven. {rest}"
    )


def estimated_sentence(spec: AuditSpec, proven: Proven) -> str:
    """Say what sampling tells of the undecided part; empty where nobody was drawn from it."""
    estimated = proven.estimated
    alike, unlike, left = proven_fractions(proven)
    if estimated is None or not estimated.people or not left:
        return ""
    whom = (
        f"Of {_possible(spec, proven)}"
        if not alike and not unlike
        else f"Of the remaining {percent_up(left, digits_of_proof(alike, unlike, left))}"
    )
    digits = digits_of(estimated.low, estimated.high)
    if not estimated.unlike:
        most = percent_up(Fraction(str(estimated.high)), digits)
        return (
            f"{whom}, at most {most} ({words.percent(estimated.confidence, 1.0, 0)} confidence) "
            f"are treated unlike: 0 of {words.number(estimated.people)} drawn at random are. This "
            "is statistical, not certified."
        )
    share = shown_percent(estimated.estimate, digits)
    held = interval(estimated.low, estimated.high, estimated.confidence, digits)
    return f"{whom}, an estimated {share} ({held}) are treated unlike: statistical, not certified."


def about_percent(value: float) -> str:
    """Write a share that is not proven: ``about 0.02 %``, or ``below 0.01 %``."""
    told = shown_percent(value, 2)
    return told if told.startswith("below") else f"about {told}"


def region_sentence(spec: AuditSpec, region: Region) -> str:
    """Say what is proven of everybody in a box, how many that are first."""
    whatever = _whatever(words.protected_names(spec.domain))
    treated = (
        f"treated alike, {whatever}"
        if region.verdict == "alike"
        else f"treated unlike {words.when_changes(spec.domain)}"
    )
    count = int(region.people)
    people = f"possible {spec.person if count == 1 else plural(spec.person)}"
    share = _at_least(Fraction(str(region.share)), _digits_for(Fraction(str(region.share))))
    rule = rule_text(spec, region.conditions)
    where = f" with {rule}" if region.conditions else ""
    every, verb = ("One", "is") if count == 1 else (f"All {count:,}", "are")
    return (
        f"{every} {people}{where} {verb} {treated}: proven. That is {share} of all, and "
        f"{about_percent(region.population)} where every value is as common as in the data."
    )


def pair_sentence(spec: AuditSpec, pair: PairShare) -> str:
    """Say what is proven of two combinations of protected values alone."""
    unlike, alike = Fraction(str(pair.falsified)), Fraction(str(pair.certified))
    first, second = (
        combination_text(spec, pair.attributes, codes) for codes in (pair.first, pair.second)
    )
    people = f"all possible {plural(spec.person)}"
    between = f"between {first} and {second}"
    if pair.exact:
        share = shown_percent(pair.falsified, _digits_for(unlike))
        return f"{share} of {people} get another decision {between}: every one is decided."
    digits = digits_of_proof(alike, unlike, 1 - alike - unlike)
    return (
        f"{_capital(_at_least(unlike, digits))} of {people} get another decision {between}: "
        f"proven; {_at_least(alike, digits)} get the same: proven."
    )


def proven_fractions(proven: Proven) -> tuple[Fraction, Fraction, Fraction]:
    """Give what is certified, falsified and undecided; of the exact counts where there are any."""
    if proven.total and int(proven.total):
        whole = int(proven.total)
        alike = Fraction(int(proven.certified_people), whole)
        unlike = Fraction(int(proven.falsified_people), whole)
        return alike, unlike, 1 - alike - unlike
    # the shortest decimals that are this float: what a reader of the JSON sees too
    alike, unlike = Fraction(str(proven.certified)), Fraction(str(proven.falsified))
    return alike, unlike, Fraction(str(proven.undecided))


def digits_of_proof(alike: Fraction, unlike: Fraction, left: Fraction) -> int:
    """Choose decimals of percentages that show the smallest of three shares."""
    return max(_digits_for(each) for each in (alike, unlike, left))


def percent_down(share: Fraction, digits: int) -> str:
    """Write a share from 0 to 1, rounded down: never 100 for less."""
    return _decimal(share * 100 * 10**digits // 1, digits)


def least_percent(share: float) -> str:
    """Write a proven share by itself: rounded down, with as many decimals as it takes."""
    exact = Fraction(str(share))
    return percent_down(exact, _digits_for(exact))


def percent_up(share: Fraction, digits: int) -> str:
    """Write a share from 0 to 1, rounded up: never 0 for more."""
    return _decimal(-(-share * 100 * 10**digits // 1), digits)


def sentences(spec: AuditSpec, figures: Sequence[Figure]) -> tuple[str, ...]:
    """Say everything that was measured, a sentence or two each; of regions the largest."""
    told: list[str] = []
    regions = {"alike": 0, "unlike": 0}
    for figure in figures:
        match figure:
            case Share():
                told += filter(None, (share_sentence(spec, figure), anytime_sentence(figure)))
            case GroupGap():
                told.append(gap_sentence(spec, figure))
            case Likeness():
                told.append(likeness_sentence(figure))
            case Proven():
                said = (proven_sentence(spec, figure), estimated_sentence(spec, figure))
                told += filter(None, (*said, *figure.notes))
            case Region():
                regions[figure.verdict] += 1
                if regions[figure.verdict] <= MOST_REGIONS:
                    told.append(region_sentence(spec, figure))
            case PairShare():
                told.append(pair_sentence(spec, figure))
    told += about_groups.sentences(spec, figures)
    told += about_repairs.sentences(spec, figures)
    return tuple(told)


def tells_of_people(run: RunRecord) -> bool:
    """Whether a run tells how people are treated, and not only how well a search works."""
    return method_named(run.spec.method).answers is not Answers.DIAGNOSIS


def searches(run: RunRecord) -> bool:
    """Whether a run looks for examples."""
    return method_named(run.spec.method).answers is Answers.EXAMPLES


def alone_sentences(spec: AuditSpec, run: RunRecord) -> tuple[str, ...]:
    """Say of a search how often each protected attribute is enough by itself.

    Empty for a run that measures how common that is: a share of what it came upon beside a share
    of people would be taken for one.
    """
    return words.alone_sentences(spec, run) if searches(run) else ()


def near_sentence(spec: AuditSpec, run: RunRecord | RunState) -> str:
    """Say that only people near a real one were asked about, where that is so; else empty.

    Then a share is of those, and not of everybody who could be.
    """
    near = run.spec.near if isinstance(run, RunRecord) else None
    if near is None:
        return ""
    return (
        f"Only {plural(spec.person)} at most {near:g} from a real one (0 is alike, 1 unlike in "
        "everything) were asked about: all that is said here is of those alone."
    )


def uncertified(share: Share) -> str:
    """Say that a share was estimated where it was to be proven, and why; empty if it is exact."""
    if share.exhaustive:
        return ""
    why = f" ({share.opaque})" if share.opaque else ""
    return f"This is statistical, not certified: the model cannot be looked into{why}."


def headline(spec: AuditSpec, run: RunRecord | RunState) -> str:
    """Say what came of a run, the number first.

    What a search found for one that gives examples, with what is known of the share where nothing
    was found or everybody was checked; the share for one that measures; what is proven for one
    that proves, and beside it, never in it, what is estimated of the rest; before and after for a
    repair.
    """
    method = run.method if isinstance(run, RunState) else run.spec.method
    share = share_of_domain(run.figures)
    ending = words.ending(run)
    match method_named(method).answers:
        case Answers.SHARE:
            said = "Nothing is measured yet." if share is None else share_sentence(spec, share)
        case Answers.PROOF:
            proven = proven_of(run.figures)
            said = "Nothing is proven yet."
            if share is not None:
                said = f"{share_sentence(spec, share)} {uncertified(share)}".strip()
            if proven is not None:
                both = (proven_sentence(spec, proven), estimated_sentence(spec, proven))
                said = " ".join(filter(None, both))
        case Answers.DIAGNOSIS:
            told = sentences(spec, run.figures)
            said = told[0] if told else "Nothing is measured yet."
        case Answers.GROUPS | Answers.RATES:
            said = about_groups.headline(spec, run.figures)
        case Answers.REPAIR:
            said = about_repairs.headline(spec, run.figures)
        case Answers.EXAMPLES:
            said = words.headline(spec, run, ending_too=False)
            if share is not None:
                said += f" {share_sentence(spec, share)}"
    return " ".join(part for part in (said, near_sentence(spec, run), ending) if part)


def effort(run: RunRecord | RunState) -> str:
    """Say what a run spent: what it looked at, rows sent, time."""
    proven = proven_of(run.figures)
    spent = f"{words.number(run.queries)} rows sent to the model, {words.duration(run.elapsed)}"
    if proven is not None:
        boxes = "1 box" if proven.boxes == 1 else f"{words.number(proven.boxes)} boxes"
        return f"{boxes} of people looked at, {spent}"
    if _about_groups(run):
        looked = about_groups.looked_at(run.figures)
        return f"{looked or f'{words.number(run.tried)} asked about'}, {spent}"
    if _repairs(run):
        return ", ".join(filter(None, (about_repairs.effort_text(run.figures), spent)))
    return words.effort(run)


def standing(run: RunRecord | RunState) -> str:
    """Say in a few words how a run stands: what it found, or what it has proven."""
    proven = proven_of(run.figures)
    if proven is not None:
        return standing_of(proven)
    if _about_groups(run):
        return _standing_of_groups(run)
    if _repairs(run):
        return about_repairs.standing(run.figures) or "nothing measured yet"
    return f"{words.number(run.found)} found in {words.number(run.tried)} tried"


def _about_groups(run: RunRecord | RunState) -> bool:
    method = run.method if isinstance(run, RunState) else run.spec.method
    return method_named(method).answers in ABOUT_GROUPS


def _repairs(run: RunRecord | RunState) -> bool:
    method = run.method if isinstance(run, RunState) else run.spec.method
    return method_named(method).answers is Answers.REPAIR


def _steps(run: RunState) -> str:
    """Name what a running search for groups counts."""
    if run.phase in _STEPS:
        return _STEPS[run.phase]
    reads = method_named(run.method).reads
    return "rule sets" if reads else "asked about"


def _standing_of_groups(run: RunRecord | RunState) -> str:
    """Say how many rule sets were examined, or people asked, and how far the widest are apart."""
    looked = about_groups.looked_at(run.figures)
    if isinstance(run, RunState) and run.state in ("running", "paused") and run.total:
        looked = f"{words.number(run.done)} of {words.number(run.total)} {_steps(run)}"
    best = about_groups.best_so_far(run.figures)
    looked = looked or f"{words.number(run.tried)} asked about"
    return ", ".join(filter(None, (looked, best)))


def standing_of(proven: Proven) -> str:
    """Say in a few words what is proven, and what is left."""
    alike, unlike, left = proven_fractions(proven)
    digits = digits_of_proof(alike, unlike, left)
    return (
        f"{percent_down(alike, digits)} certified, {percent_down(unlike, digits)} falsified, "
        f"{percent_up(left, digits)} undecided"
    )


def _whom(share: Share, people: str) -> str:
    match share.whom:
        case "domain":
            return f"all possible {people}"
        case "data":
            return f"the {people} in the data"
        case "perturbed":
            return f"{people} a little unlike those in the data"


def _possible(spec: AuditSpec, proven: Proven) -> str:
    """Say of whom something is proven."""
    people = plural(spec.person)
    match proven.of:
        case "domain":
            return f"all possible {people}"
        case "population":
            return f"{people} among whom every value is as common as in the data"


def _whatever(names: Sequence[str]) -> str:
    return f"whatever their {words.listed(names)}"


def _exact_sentence(proven: Proven, people: str, whatever: str) -> str:
    _, unlike, _ = proven_fractions(proven)
    how = (
        "certified at once, for nobody had to be looked at"
        if not unlike and not proven.boxes
        else "every one is decided"
    )
    if not proven.total:
        share = shown_percent(proven.falsified, _digits_for(unlike))
        return f"Exactly {share} of {people} are treated unlike {_however(proven)}: {how}."
    count = int(proven.falsified_people)
    whole, people = f"{int(proven.total):,}", people.removeprefix("all ")
    if not count:
        return f"All {whole} {people} are treated alike, {whatever}: {how}."
    verb = "is" if count == 1 else "are"
    share = words.percent(count, int(proven.total), _digits_for(unlike))
    return (
        f"Exactly {count:,} of {whole} {people} ({share}) {verb} treated unlike "
        f"{_however(proven)}: {how}."
    )


def _however(proven: Proven) -> str:
    return words.when_change(proven.attributes)


def _digits_for(share: Fraction) -> int:
    """Choose decimals of a percentage: two figures of it or of what it lacks to 100."""
    least = min(each for each in (share, 1 - share, Fraction(1)) if each > 0)
    return min(max(_LEAST_DIGITS, 1 - floor(log10(100 * least + 1e-9))), _MOST_DIGITS)


def _at_least(share: Fraction, digits: int) -> str:
    """Say a proven share: rounded down, and never nought for more."""
    if share == 1:
        return f"all 100{words.NBSP}%"
    if share and not share * 100 * 10**digits // 1:
        return f"more than 0{words.NBSP}%"
    return f"at least {percent_down(share, digits)}"


def _decimal(number: int, digits: int) -> str:
    """Write a whole number of so many decimals of a percent."""
    whole, rest = divmod(int(number), 10**digits)
    return f"{whole}.{rest:0{digits}d}{words.NBSP}%" if digits else f"{whole}{words.NBSP}%"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


__all__ = [
    "MOST_REGIONS",
    "about_percent",
    "alone_sentences",
    "anytime_sentence",
    "combination_text",
    "digits_of",
    "digits_of_proof",
    "effort",
    "estimated_sentence",
    "gap_sentence",
    "headline",
    "interval",
    "least_percent",
    "likeness_sentence",
    "near_sentence",
    "pair_sentence",
    "percent_down",
    "percent_up",
    "proven_fractions",
    "proven_of",
    "proven_sentence",
    "region_sentence",
    "rule_text",
    "searches",
    "sentences",
    "share_of_domain",
    "share_sentence",
    "shown_percent",
    "standing",
    "standing_of",
    "tells_of_people",
]
