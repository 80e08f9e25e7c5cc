"""What a run measured, in sentences and tables: shares with their intervals, gaps, likenesses.

The first interval told is the one for who looks once, at the end; the other holds for who watches
and stops when they like. A share is of people who could be, never of a search's findings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fairdesk.audit.catalogue.method import ABOUT_GROUPS, QuestionKind, Repeats
from fairdesk.audit.catalogue.methods import method_named
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import RunRecord, RunState
from fairdesk.repeatability import Repeatability
from fairdesk.results.events import Metric
from fairdesk.results.groups import GroupGap
from fairdesk.results.individual import ExcessChange, GradientFidelity, Share
from fairdesk.results.proofs import PairShare, Proven, Region
from fairdesk.wording import mitigation as mitigation_words
from fairdesk.wording import words
from fairdesk.wording.groups import sentences as group_words
from fairdesk.wording.groups.subgroups import gap_statement
from fairdesk.wording.language import fixed, say, say_many
from fairdesk.wording.proofs import (
    estimated_sentence,
    least_percent,
    pair_sentence,
    proven_of,
    proven_statement,
    region_sentence,
    standing_of,
)
from fairdesk.wording.statements import SHARE, Evidence, Statement, unmeasured
from fairdesk.wording.words import digits_of, interval, plural, shown_percent

#: What a phase of a search for groups counts, where that is neither rule sets nor people.
_STEPS = fixed(
    {
        "data": "{done} of {total} rows asked about",
        "rules": "{done} of {total} rule sets frequent",
        "fitting": "{done} of {total} subgroups looked for",
        "reading": "{done} of {total} texts read",
        "": "{done} of {total} asked about",
        "sets": "{done} of {total} rule sets",
    }
)
#: What is compared of two ways to find a direction.
_LIKE = fixed(("gradients", "directions", "odds"))
#: So many regions of each kind are told in sentences.
MOST_REGIONS = 3


def share_of_domain(figures: Iterable[Metric]) -> Share | None:
    """Return the share of all possible people, all protected attributes together; if measured."""
    shares = [each for each in figures if isinstance(each, Share) and each.whom == "domain"]
    return max(shares, key=lambda share: len(share.attributes), default=None)


def share_of_data(figures: Iterable[Metric]) -> Share | None:
    """Give the share of the people in the data, all protected attributes together; if measured."""
    shares = [each for each in figures if isinstance(each, Share) and each.whom == "data"]
    return max(shares, key=lambda share: len(share.attributes), default=None)


def share_statement(spec: AuditSpec, share: Share) -> Statement:
    """Say how common discrimination is, with the fixed interval."""
    values = {"whom": _whom(share, plural(spec.person)), **words.whom(spec.person)}
    values["when"] = words.when_change(share.attributes)
    if not share.people:
        return unmeasured(say("Nobody was asked about, so nothing is known of {whom}.", **values))
    values["n"] = words.number(share.people)
    digits = digits_of(share.low, share.high)
    value = words.percent(share.hits, share.people, 2)
    if share.exhaustive and share.wavered:
        sentence = say_many(
            share.wavered,
            "{share} of {whom} ({hits} of {of}) got another decision {when}, each queried once. "
            "This is not exact: {n} row got another answer when it was queried again.",
            "{share} of {whom} ({hits} of {of}) got another decision {when}, each queried once. "
            "This is not exact: {n} rows got another answer when they were queried again.",
            share=value,
            hits=words.number(share.hits),
            of=values.pop("n"),
            **values,
        )
    elif share.exhaustive:
        sentence = say(
            "{share} of {whom} ({hits} of {n}) get another decision {when}: every one was checked.",
            share=value,
            hits=words.number(share.hits),
            **values,
        )
    elif not share.hits:
        value = words.number(0)
        sentence = say(
            "0 of {n} {people} drawn at random get another decision {when}: at most {most} of "
            "{whom} do ({confidence} confidence).",
            most=shown_percent(share.high, digits),
            confidence=words.percent(share.confidence, 1.0, 0),
            **values,
        )
    else:
        value = shown_percent(share.estimate, digits)
        sentence = say(
            "{share} ({interval}) of {whom} get another decision {when}: estimated from {n} drawn "
            "at random.",
            share=value,
            interval=interval(share.low, share.high, share.confidence, digits),
            **values,
        )
    evidence: Evidence = "estimated"
    if share.exact:
        evidence = "observed" if share.whom == "data" else "proven"
    return Statement(evidence, say(SHARE), value, sentence)


def repeatability_sentence(found: Repeatability) -> str:
    """Say that the model's answers changed when rows were queried again; empty where none did."""
    if found.holds:
        return ""
    changed = say_many(
        found.rows,
        "The model is not repeatable: of {n} row that was queried again, {changed} got another "
        "score and {decisions} another decision.",
        "The model is not repeatable: of {n} rows that were queried again, {changed} got another "
        "score and {decisions} another decision.",
        changed=words.number(found.changed),
        decisions=words.number(found.decisions),
    )
    why = (
        say("Its answer to a row depends on the other rows that are queried together with it.")
        if found.batch
        else say("The same row does not always get the same answer.")
    )
    return f"{changed} {why}"


def changed_answers(run: RunRecord | RunState) -> str:
    """Say that answers changed during a run that came to its results all the same; else empty."""
    found = next((each for each in run.figures if isinstance(each, Repeatability)), None)
    if found is None or run.state == "failed":
        return ""
    said = repeatability_sentence(found)
    method = run.method if isinstance(run, RunState) else run.spec.method
    if method_named(method).repeats is Repeats.INDEPENDENT:
        return said
    return f"{said} {say('The results of this run hold for the answers that were given then.')}"


def excess_statement(spec: AuditSpec, figure: ExcessChange) -> Statement:
    """Say for how many the probability of the favourable decision changes."""
    people = plural(spec.person)
    values = {
        "whom": say("all possible {people}", people=people)
        if figure.whom == "domain"
        else say("the {people} in the data", people=people),
        "when": words.when_change(figure.attributes),
        "between": words.percent(figure.between, 1.0, 1),
        "again": words.percent(figure.again, 1.0, 1),
        "n": words.number(figure.people),
        "confidence": words.percent(figure.confidence, 1.0, 0),
    }
    if figure.low > 0:
        value = least_percent(figure.low)
        sentence = say(
            "{low} or more of {whom} have another probability of the favourable decision {when} "
            "({confidence} confidence): the decision changed in {between} of the queries of a "
            "counterfactual pair, and in {again} of those of the same row ({n} pairs, each row "
            "queried twice).",
            low=value,
            **values,
        )
    else:
        value = words.percent(0.0, 1.0, 0)
        sentence = say(
            "{none} or more of {whom} have another probability of the favourable decision {when}: "
            "nothing beyond the model’s own randomness is shown. The decision changed in {between} "
            "of the queries of a counterfactual pair, and in {again} of those of the same row ({n} "
            "pairs, each row queried twice; {confidence} confidence).",
            none=value,
            **values,
        )
    return Statement("estimated", say(SHARE), value, sentence)


def anytime_sentence(share: Share) -> str:
    """Say the interval for who watches; empty where all were checked."""
    if share.exhaustive or not share.people:
        return ""
    digits = digits_of(share.anytime_low, share.anytime_high)
    held = interval(share.anytime_low, share.anytime_high, share.confidence, digits)
    return say(
        "For whoever watches and stops when they like, the interval is {interval}.", interval=held
    )


def likeness_sentence(likeness: GradientFidelity) -> str:
    """Say how well one perturbation size serves."""
    values = {
        "size": words.short(likeness.size, 2),
        "found": words.number(likeness.found),
        "tried": words.number(likeness.tried),
    }
    if likeness.gradients is None:
        return say("Size {size}: a short search found {found} among {tried} tried.", **values)
    cosines = [
        f"{say(what)} {words.number(value, 2)}"
        for what, value in zip(
            _LIKE,
            (likeness.gradients, likeness.directions, likeness.probabilities),
            strict=True,
        )
        if value is not None
    ]
    return say(
        "Size {size}: cosine similarity of {cosines}; a short search found {found} among {tried} "
        "tried.",
        cosines=words.joined(cosines),
        **values,
    )


def sentences(spec: AuditSpec, figures: Sequence[Metric]) -> tuple[str, ...]:
    """Say everything that was measured, a sentence or two each; of regions the largest."""
    out: list[str] = []
    regions = {"consistent": 0, "discriminatory": 0}
    for figure in figures:
        match figure:
            case Share():
                said = share_statement(spec, figure).sentence
                out += filter(None, (said, anytime_sentence(figure)))
            case Repeatability():
                out.append(repeatability_sentence(figure))
            case ExcessChange():
                out.append(excess_statement(spec, figure).sentence)
            case GroupGap():
                out.append(gap_statement(spec, figure).sentence)
            case GradientFidelity():
                out.append(likeness_sentence(figure))
            case Proven():
                said = proven_statement(spec, figure).sentence
                out += filter(None, (said, estimated_sentence(spec, figure), *figure.notes))
            case Region():
                regions[figure.verdict] += 1
                if regions[figure.verdict] <= MOST_REGIONS:
                    out.append(region_sentence(spec, figure))
            case PairShare():
                out.append(pair_sentence(spec, figure))
    out += group_words.sentences(spec, figures)
    out += mitigation_words.sentences(spec, figures)
    return tuple(out)


def tells_of_people(run: RunRecord) -> bool:
    """Whether a run tells how people are treated, and not only how well a search works."""
    return method_named(run.spec.method).answers is not QuestionKind.DIAGNOSIS


def searches(run: RunRecord) -> bool:
    """Whether a run looks for examples."""
    return method_named(run.spec.method).answers is QuestionKind.EXAMPLES


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
    return say(
        "Only {people} at most {distance} from a real one (0 is alike, 1 unlike in everything) "
        "were asked about: all that is said here is of those alone.",
        people=plural(spec.person),
        distance=words.short(near),
    )


def uncertified(share: Share) -> str:
    """Say that a share was estimated where it was to be proven, and why; empty if it is exact."""
    if share.exhaustive:
        return ""
    if not share.opaque:
        return say("This is statistical, not certified: the model cannot be looked into.")
    return say(
        "This is statistical, not certified: the model cannot be looked into ({why}).",
        why=share.opaque,
    )


def headline(spec: AuditSpec, run: RunRecord | RunState) -> Statement:
    """Say what came of a run.

    What a search found for one that gives examples, with what is known of the share where nothing
    was found or everybody was checked; the share for one that measures; what is proven for one
    that proves, and beside it, never in it, what is estimated of the rest; before and after for a
    repair.
    """
    method = run.method if isinstance(run, RunState) else run.spec.method
    share = share_of_domain(run.figures)
    match method_named(method).answers:
        case QuestionKind.SHARE:
            said = unmeasured(say("Nothing is measured yet."))
            if share is not None:
                said = share_statement(spec, share)
            elif excess := [each for each in run.figures if isinstance(each, ExcessChange)]:
                said = excess_statement(spec, excess[-1])
        case QuestionKind.PROOF:
            proven = proven_of(run.figures)
            said = unmeasured(say("Nothing is proven yet."))
            if share is not None:
                said = share_statement(spec, share).with_more(uncertified(share))
            if proven is not None:
                said = proven_statement(spec, proven).with_more(estimated_sentence(spec, proven))
        case QuestionKind.DIAGNOSIS:
            found = sentences(spec, run.figures)
            said = unmeasured(found[0] if found else say("Nothing is measured yet."))
        case QuestionKind.GROUPS | QuestionKind.RATES:
            said = group_words.headline(spec, run.figures)
        case QuestionKind.REPAIR:
            said = mitigation_words.headline(spec, run.figures)
        case QuestionKind.EXAMPLES:
            said = words.headline(spec, run, ending_too=False)
            if share is not None:
                said = said.with_more(share_statement(spec, share).sentence)
    return said.with_more(near_sentence(spec, run), changed_answers(run), words.ending(run))


def effort(run: RunRecord | RunState) -> str:
    """Say what a run spent: what it looked at, rows sent, time."""
    proven = proven_of(run.figures)
    spent = say(
        "{rows} rows sent to the model, {time}",
        rows=words.number(run.queries),
        time=words.duration(run.elapsed),
    )
    looked = ""
    if proven is not None:
        looked = say_many(
            proven.boxes, "{n} box of people looked at", "{n} boxes of people looked at"
        )
    elif _about_groups(run):
        looked = group_words.looked_at(run.figures) or _asked_about(run)
    elif _repairs(run):
        looked = mitigation_words.effort_text(run.figures)
    else:
        return words.effort(run)
    return ", ".join(filter(None, (looked, spent)))


def standing(run: RunRecord | RunState) -> str:
    """Say in a few words how a run stands: what it found, or what it has proven."""
    proven = proven_of(run.figures)
    if proven is not None:
        return standing_of(proven)
    if _about_groups(run):
        return _standing_of_groups(run)
    if _repairs(run):
        return mitigation_words.standing(run.figures) or say("nothing measured yet")
    return say(
        "{found} found in {tried} tried",
        found=words.number(run.found),
        tried=words.number(run.tried),
    )


def _about_groups(run: RunRecord | RunState) -> bool:
    method = run.method if isinstance(run, RunState) else run.spec.method
    return method_named(method).answers in ABOUT_GROUPS


def _repairs(run: RunRecord | RunState) -> bool:
    method = run.method if isinstance(run, RunState) else run.spec.method
    return method_named(method).answers is QuestionKind.REPAIR


def _steps(run: RunState) -> str:
    """Say how far a running search for groups is."""
    phase = run.phase
    if phase not in _STEPS:
        phase = "sets" if method_named(run.method).reads else ""
    return say(_STEPS[phase], done=words.number(run.done), total=words.number(run.total))


def _asked_about(run: RunRecord | RunState) -> str:
    return say("{tried} asked about", tried=words.number(run.tried))


def _standing_of_groups(run: RunRecord | RunState) -> str:
    """Say how many rule sets were examined, or people asked, and how far the widest are apart."""
    looked = group_words.looked_at(run.figures)
    if isinstance(run, RunState) and run.state in ("running", "paused") and run.total:
        looked = _steps(run)
    best = group_words.best_so_far(run.figures)
    return ", ".join(filter(None, (looked or _asked_about(run), best)))


def _whom(share: Share, people: str) -> str:
    match share.whom:
        case "domain":
            return say("all possible {people}", people=people)
        case "data":
            return say("the {people} in the data", people=people)
        case "perturbed":
            return say("{people} a little unlike those in the data", people=people)
