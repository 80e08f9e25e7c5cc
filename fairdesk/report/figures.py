"""What a run measured, in sentences and tables: shares with their intervals, gaps, likenesses.

The first interval told is the one for who looks once, at the end; the other holds for who watches
and stops when they like. A share is of people who could be, never of a search's findings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import floor, log10

from fairdesk.audit.methods import Answers, method_named
from fairdesk.audit.records import RunRecord, RunState
from fairdesk.audit.spec import AuditSpec
from fairdesk.events import Figure, GroupGap, Likeness, Share
from fairdesk.report import words
from fairdesk.report.words import plural


def share_of_domain(figures: Iterable[Figure]) -> Share | None:
    """Give the share of all possible people, all protected attributes together; if measured."""
    shares = [each for each in figures if isinstance(each, Share) and each.whom == "domain"]
    return max(shares, key=lambda share: len(share.attributes), default=None)


def shown_percent(value: float, digits: int) -> str:
    """Write a share from 0 to 1: ``3.8 %``; never 0 or 100 for what is not."""
    return words.percent(value, 1.0, digits) if value else f"0{words.NBSP}%"


def interval(low: float, high: float, confidence: float, digits: int) -> str:
    """Write an interval: ``3.7 to 3.9 %, 95 %``."""
    ends = f"{100 * low:.{digits}f} to {100 * high:.{digits}f}{words.NBSP}%"
    return (
        f"{ends}, {words.percent(confidence, 1.0, 0 if round(100 * confidence, 6) % 1 == 0 else 1)}"
    )


def digits_of(low: float, high: float) -> int:
    """Choose decimals of a percentage by the width of its interval: two figures of it, 1 to 4."""
    width = 100 * (high - low)
    return 1 if width <= 0 else min(max(1, 1 - floor(log10(width))), 4)


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


def gap_sentence(spec: AuditSpec, gap: GroupGap) -> str:
    """Say how far two groups of invented people are apart."""
    digits = digits_of(gap.low, gap.high)
    return (
        f"{100 * gap.gap:.{digits}f} percentage points ({100 * gap.low:.{digits}f} to "
        f"{100 * gap.high:.{digits}f}, {words.percent(gap.confidence, 1.0, 0)}) lie between the "
        f"favourable rates of {_group(spec, gap, gap.best)} "
        f"({shown_percent(gap.best_rate, 1)}) and {_group(spec, gap, gap.worst)} "
        f"({shown_percent(gap.worst_rate, 1)}), among {plural(spec.person)} invented at random."
    )


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


def sentences(spec: AuditSpec, figures: Sequence[Figure]) -> tuple[str, ...]:
    """Say everything that was measured, a sentence or two each."""
    told: list[str] = []
    for figure in figures:
        match figure:
            case Share():
                told += filter(None, (share_sentence(spec, figure), anytime_sentence(figure)))
            case GroupGap():
                told.append(gap_sentence(spec, figure))
            case Likeness():
                told.append(likeness_sentence(figure))
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


def headline(spec: AuditSpec, run: RunRecord | RunState) -> str:
    """Say what came of a run, the number first.

    What a search found for one that gives examples, with what is known of the share where nothing
    was found or everybody was checked; the share for one that measures.
    """
    method = run.method if isinstance(run, RunState) else run.spec.method
    share = share_of_domain(run.figures)
    ending = words.ending(run)
    match method_named(method).answers:
        case Answers.SHARE:
            said = "Nothing is measured yet." if share is None else share_sentence(spec, share)
        case Answers.DIAGNOSIS:
            told = sentences(spec, run.figures)
            said = told[0] if told else "Nothing is measured yet."
        case Answers.EXAMPLES:
            said = words.headline(spec, run, ending_too=False)
            if share is not None:
                said += f" {share_sentence(spec, share)}"
    return " ".join(part for part in (said, near_sentence(spec, run), ending) if part)


def _whom(share: Share, people: str) -> str:
    match share.whom:
        case "domain":
            return f"all possible {people}"
        case "data":
            return f"the {people} in the data"
        case "perturbed":
            return f"{people} a little unlike those in the data"


def _group(spec: AuditSpec, gap: GroupGap, codes: tuple[float, ...]) -> str:
    attributes = {attribute.name: attribute for attribute in spec.domain.attributes}
    values = [
        f"{words.quoted(name)} = {attributes[name].text(code)}"
        for name, code in zip(gap.attributes, codes, strict=True)
    ]
    return words.joined(values)
