"""What is proven, in sentences: rounded so that never more is told than is proven."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import floor, log10
from typing import Literal

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.results.events import Metric
from fairdesk.results.proofs import PairShare, Proven, Region
from fairdesk.wording import words
from fairdesk.wording.language import fixed, say, say_many
from fairdesk.wording.rules import combination_text, rule_text
from fairdesk.wording.statements import SHARE, Statement, unmeasured
from fairdesk.wording.words import digits_of, interval, plural, shown_percent

#: Decimals of a proven percentage: at least, and at most so many.
_LEAST_DIGITS, _MOST_DIGITS = 2, 6
#: What is proven, by whether it is that the decision does not change.
_PROVEN = fixed({True: "Certified share", False: "Falsified share"})
_AS_COMMON = fixed("{people} among whom every value is as common as in the data")


def proven_of(
    figures: Iterable[Metric], of: Literal["domain", "population"] = "domain"
) -> Proven | None:
    """Return what is proven of all protected attributes together, if anything was tried."""
    proven = (each for each in figures if isinstance(each, Proven) and each.of == of)
    return max(proven, key=lambda each: len(each.attributes), default=None)


def proven_statement(spec: AuditSpec, proven: Proven) -> Statement:
    """Say what is proven and what is left; what is proven is rounded down."""
    people, whatever = _possible(spec, proven), _whatever(proven.attributes)
    if proven.exact:
        return _exact_statement(spec, proven)
    alike, unlike, left = proven_fractions(proven)
    values = {"people": people, "whatever": whatever}
    if not alike and not unlike:
        return unmeasured(
            say(
                "Nothing is proven of how {people} are treated, {whatever}: all of them are "
                "undecided.",
                **values,
            )
        )
    digits = digits_of_proof(alike, unlike, left)
    values["left"] = percent_up(left, digits)
    values["Share"] = words.capital(_at_least(alike or unlike, digits))
    if not unlike:
        sentence = say(
            "{Share} of {people} are treated alike, {whatever}: proven; of nobody is it proven "
            "that they are not. {left} is undecided.",
            **values,
        )
    elif not alike:
        sentence = say(
            "{Share} of {people} are not treated alike, {whatever}: proven; of nobody is it "
            "proven that they are. {left} is undecided.",
            **values,
        )
    else:
        sentence = say(
            "{Share} of {people} are treated alike, {whatever}: proven; {unlike} are not: proven. "
            "{left} is undecided.",
            unlike=_at_least(unlike, digits),
            **values,
        )
    return Statement("proven", say(_PROVEN[bool(alike)]), values["Share"], sentence)


def estimated_sentence(spec: AuditSpec, proven: Proven) -> str:
    """Say what sampling tells of the undecided part; empty where nobody was drawn from it."""
    estimated = proven.estimated
    alike, unlike, left = proven_fractions(proven)
    if estimated is None or not estimated.people or not left:
        return ""
    if not alike and not unlike:
        whom = say("Of {people}", people=_possible(spec, proven))
    else:
        digits = digits_of_proof(alike, unlike, left)
        whom = say("Of the remaining {share}", share=percent_up(left, digits))
    digits = digits_of(estimated.low, estimated.high)
    if not estimated.discriminatory:
        return say(
            "{Of_whom}, at most {most} ({confidence} confidence) are treated unlike: 0 of {n} "
            "drawn at random are. This is statistical, not certified.",
            Of_whom=whom,
            most=percent_up(Fraction(str(estimated.high)), digits),
            confidence=words.percent(estimated.confidence, 1.0, 0),
            n=words.number(estimated.people),
        )
    return say(
        "{Of_whom}, an estimated {share} ({interval}) are treated unlike: statistical, not "
        "certified.",
        Of_whom=whom,
        share=shown_percent(estimated.estimate, digits),
        interval=interval(estimated.low, estimated.high, estimated.confidence, digits),
    )


def remainder_statement(spec: AuditSpec, proven: Proven) -> Statement | None:
    """Say the same by itself, with its counts; ``None`` where nobody was drawn."""
    estimated = proven.estimated
    alike, unlike, left = proven_fractions(proven)
    if estimated is None or not estimated.people or not left:
        return None
    digits = digits_of(estimated.low, estimated.high)
    values = {
        "whom": say(
            "of the remaining {share}",
            share=percent_up(left, digits_of_proof(alike, unlike, left)),
        )
        if alike or unlike
        else say("of all possible {people}", people=plural(spec.person)),
        "drawn": say(
            "{k} of {n} drawn at random where not everybody is decided are, and those of whom it "
            "is proven are taken off. Statistical, not certified.",
            k=words.number(estimated.discriminatory),
            n=words.number(estimated.people),
        ),
    }
    if estimated.discriminatory:
        value = shown_percent(estimated.estimate, digits)
        said = say(
            "{share} ({ends}) {whom} are estimated to be treated unlike: {drawn}",
            share=value,
            ends=interval(estimated.low, estimated.high, estimated.confidence, digits),
            **values,
        )
    else:
        value = say("At most {share}", share=percent_up(Fraction(str(estimated.high)), digits))
        said = say(
            "{most} ({confidence} confidence) {whom} are estimated to be treated unlike: {drawn}",
            most=value,
            confidence=words.percent(estimated.confidence, 1.0, 0),
            **values,
        )
    return Statement("estimated", say(SHARE), value, said)


def about_percent(value: float) -> str:
    """Write a share that is not proven: ``about 0.02 %``, or ``below 0.01 %``."""
    text = shown_percent(value, 2)
    # nought and whole are told as bounds already
    bound = 0 < value < 1 and round(100 * value, 2) in (0, 100)
    return text if bound else say("about {share}", share=text)


def region_sentence(spec: AuditSpec, region: Region) -> str:
    """Say what is proven of everybody in a box, how many that are first."""
    whatever = _whatever(words.protected_names(spec.domain))
    alike = region.verdict == "consistent"
    treated = (
        say("treated alike, {whatever}", whatever=whatever)
        if alike
        else say("treated unlike {when}", when=words.when_changes(spec.domain))
    )
    share = Fraction(str(region.share))
    who = words.whom(spec.person)
    if region.conditions:
        rule = rule_text(spec, region.conditions)
        who = {
            name: say("{people} with {rule}", people=each, rule=rule) for name, each in who.items()
        }
    return say_many(
        int(region.people),
        "One possible {person} is {treated}: proven. That is {share} of all, and {common} where "
        "every value is as common as in the data.",
        "All {n} possible {people} are {treated}: proven. That is {share} of all, and {common} "
        "where every value is as common as in the data.",
        treated=treated,
        share=_at_least(share, _digits_for(share)),
        common=about_percent(region.population),
        **who,
    )


def pair_sentence(spec: AuditSpec, pair: PairShare) -> str:
    """Say what is proven of two combinations of protected values alone."""
    unlike, alike = Fraction(str(pair.falsified)), Fraction(str(pair.certified))
    first, second = (
        combination_text(spec, pair.attributes, codes) for codes in (pair.first, pair.second)
    )
    values = {"people": plural(spec.person), "first": first, "second": second}
    if pair.exact:
        return say(
            "{share} of all possible {people} get another decision between {first} and {second}: "
            "every one is decided.",
            share=shown_percent(pair.falsified, _digits_for(unlike)),
            **values,
        )
    digits = digits_of_proof(alike, unlike, 1 - alike - unlike)
    return say(
        "{Share} of all possible {people} get another decision between {first} and {second}: "
        "proven; {alike} get the same: proven.",
        Share=words.capital(_at_least(unlike, digits)),
        alike=_at_least(alike, digits),
        **values,
    )


def proven_fractions(proven: Proven) -> tuple[Fraction, Fraction, Fraction]:
    """Return what is certified, falsified and undecided; of the exact counts if there are any."""
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


def standing_of(proven: Proven) -> str:
    """Say in a few words what is proven, and what is left."""
    alike, unlike, left = proven_fractions(proven)
    digits = digits_of_proof(alike, unlike, left)
    return say(
        "{alike} certified, {unlike} falsified, {left} undecided",
        alike=percent_down(alike, digits),
        unlike=percent_down(unlike, digits),
        left=percent_up(left, digits),
    )


def _possible(spec: AuditSpec, proven: Proven) -> str:
    """Say of whom something is proven."""
    people = plural(spec.person)
    match proven.of:
        case "domain":
            return say("all possible {people}", people=people)
        case "population":
            return say(_AS_COMMON, people=people)


def _whatever(names: Sequence[str]) -> str:
    return say("whatever their {names}", names=words.listed(names))


def _exact_statement(spec: AuditSpec, proven: Proven) -> Statement:
    """Say what is proven where everybody is decided, or certified without looking at anybody."""
    _, unlike, _ = proven_fractions(proven)
    values = {
        "whatever": _whatever(proven.attributes),
        "when": words.when_change(proven.attributes),
        "how": say("certified at once, for nobody had to be looked at")
        if not unlike and not proven.boxes
        else say("every one is decided"),
    }
    if not proven.total:
        share = shown_percent(proven.falsified, _digits_for(unlike))
        value = say("Exactly {share}", share=share)
        sentence = say(
            "Exactly {share} of {people} are treated unlike {when}: {how}.",
            share=share,
            people=_possible(spec, proven),
            **values,
        )
        return Statement("proven", say(_PROVEN[False]), value, sentence)
    count, people = int(proven.falsified_people), plural(spec.person)
    possible = say("possible {people}" if proven.of == "domain" else _AS_COMMON, people=people)
    values |= {"people": possible, "whole": words.number(int(proven.total))}
    if not count:
        value = say("All {whole}", whole=values["whole"])
        sentence = say("All {whole} {people} are treated alike, {whatever}: {how}.", **values)
    else:
        value = say("Exactly {n}", n=words.number(count))
        sentence = say_many(
            count,
            "Exactly {n} of {whole} {people} ({share}) is treated unlike {when}: {how}.",
            "Exactly {n} of {whole} {people} ({share}) are treated unlike {when}: {how}.",
            share=words.percent(count, int(proven.total), _digits_for(unlike)),
            **values,
        )
    return Statement("proven", say(_PROVEN[not count]), value, sentence)


def _digits_for(share: Fraction) -> int:
    """Choose decimals of a percentage: two figures of it or of what it lacks to 100."""
    least = min(each for each in (share, 1 - share, Fraction(1)) if each > 0)
    return min(max(_LEAST_DIGITS, 1 - floor(log10(100 * least + 1e-9))), _MOST_DIGITS)


def _at_least(share: Fraction, digits: int) -> str:
    """Say a proven share: rounded down, and never nought for more."""
    if share == 1:
        return say("all {share}", share=words.percent_of("100"))
    if share and not share * 100 * 10**digits // 1:
        return say("more than {share}", share=words.percent_of("0"))
    return say("at least {share}", share=percent_down(share, digits))


def _decimal(number: int, digits: int) -> str:
    """Write a whole number of so many decimals of a percent."""
    whole, rest = divmod(int(number), 10**digits)
    return words.percent_of(f"{whole}.{rest:0{digits}d}" if digits else f"{whole}")
