"""What is proven, in sentences: rounded so that never more is told than is proven."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import ceil, floor, log10
from typing import Literal

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.groups.options import FOUR_FIFTHS
from fairdesk.results.events import Metric
from fairdesk.results.proofs import (
    NeighbourhoodCounts,
    Proven,
    ProvenRates,
    exactly,
    percent_digits,
)
from fairdesk.wording import words
from fairdesk.wording.language import Statement, say, say_many, unmeasured
from fairdesk.wording.words import digits_of, interval, shown_percent

#: What such a figure does not mean.
NOT_MEANT = (
    "Neighbours are defined by the values that differ, not by how likely they are: many may "
    "resemble no real person. An instance that differs more from every data row is not covered. "
    "The counts are of the rows in this table; they are not shares of other people."
)


def neighbourhoods_of(figures: Iterable[Metric]) -> NeighbourhoodCounts | None:
    """Return what was certified around the data rows, if that was tried."""
    return next((each for each in figures if isinstance(each, NeighbourhoodCounts)), None)


def neighbourhood_statement(spec: AuditSpec, found: NeighbourhoodCounts) -> Statement:
    """Say for how many rows the decision does not change, and for which of these nor a neighbour's.

    The first count is of the rows themselves, which other methods count too: without it, the second
    would be read as that.
    """
    rows, certified = words.counted(found.rows, spec.person), words.number(found.certified)
    # where rows are undecided, of some nothing may be known
    own = words.number(found.certified + found.falsified - found.flipped)
    values = {
        "own": say("at least {own}", own=own) if found.undecided else own,
        "names": words.listed(found.attributes, "or"),
        **words.whom(spec.person),
    }
    if found.changed or found.together:
        brief, sentence = (
            say(
                "Of {own} {people} whose decision no tested {names} changes, {n} provably keep "
                "that if {differs}{rest}.",
                n=certified,
                differs=_differs(found, whole=whole),
                rest=_affected(found, whole=whole),
                **values,
            )
            for whole in (False, True)
        )
    else:
        brief, sentence = (
            "",
            say(
                "{own} of {rows} are provably unaffected by any tested {names}.",
                rows=rows,
                **values,
            ),
        )
    value = say("{certified} of {rows}", certified=certified, rows=rows)
    return Statement("proven", _label(found), value, words.capital(sentence), brief)


def _affected(found: NeighbourhoodCounts, *, whole: bool) -> str:
    """Say for how many unaffected rows a neighbour is affected; empty where for none."""
    n = found.falsified - found.flipped
    said = "; {n} do not, realistic or not" if whole else "; {n} do not"
    return say(said, n=words.number(n)) if n else ""


def _differs(found: NeighbourhoodCounts, *, whole: bool) -> str:
    """Say what may differ of a neighbour, as a clause; the ``whole`` has by how much."""
    digits = 0 if round(100 * found.reach, 6) % 1 == 0 else 2
    share = words.percent(found.reach, 1.0, digits) if found.reach else words.percent_of("0")
    if not found.changed:
        return say("all numbers differ by up to {share} of range", share=share)
    text = "[one other value differs|any {n} other values differ]"
    if found.together:
        text = (
            "[one other value, or every number, differs|any {n} other values, or all numbers, "
            "differ]"
        )
    said = say_many(found.changed, text)
    return (
        say("{said} (numbers by up to {share} of range)", said=said, share=share) if whole else said
    )


def neighbour_sentence(found: NeighbourhoodCounts) -> str:
    """Say of how many rows nothing is known."""
    said = []
    if found.undecided:
        said.append(say_many(found.undecided, "{n} [is|are] undecided."))
    if found.unsupported:
        said.append(
            say_many(
                found.unsupported,
                "{n} more [has|have] no comparison that the data support.",
            )
        )
    return " ".join(said)


def neighbourhood_counts(found: NeighbourhoodCounts) -> str:
    """Write shortly how many rows are certified and falsified."""
    return say(
        "{certified} certified, {own} falsified, {more} by a neighbour only",
        certified=words.number(found.certified),
        own=words.number(found.flipped),
        more=words.number(found.falsified - found.flipped),
    )


def _label(found: NeighbourhoodCounts) -> str:
    """Name what is certified of the rows."""
    if not found.changed and not found.together:
        return "Proven unchanged"
    if found.changed == 1 and not found.together:
        return "Proven unchanged, even after one other change"
    return "Proven unchanged, even after other changes"


#: Decimals of an impact ratio.
_RATIO_DIGITS = 3
#: Decimals of a proven percentage: at least, and at most so many.
_LEAST_DIGITS, _MOST_DIGITS = 2, 6
#: What is proven, by whether it is that the decision does not change.
_PROVEN = {True: "Certified share: decision unchanged", False: "Falsified share: decision changes"}
#: The same where combinations are counted.
_COUNTED = {
    True: "Certified combinations: decision unchanged",
    False: "Falsified combinations: decision changes",
}
#: What the verdicts mean, for whoever reads them as a seal of approval, or as forgery.
VERDICTS = (
    "Certified: proven that the decision is the same for every tested value of the protected "
    "attributes. Falsified: proven that it changes. Undecided: neither is proven. The terms "
    "describe a proof about decisions; they neither approve nor reject the model."
)
#: Why shares need not make up the whole.
ROUNDED = (
    "Certified and falsified shares are rounded down and undecided shares up, so they may not add "
    "up to 100\u00a0%."
)
_POPULATION = "the population (a model of the data)"


def population_note(spec: AuditSpec) -> str:
    """Say what a share of the population means beside a count of the rows, and what it does not."""
    return say(
        "This also covers {people} who are not in the data. The population is a statistical model "
        "of the data: its shares are not shares of real {people}.",
        **words.whom(spec.person),
    )


def proven_of(
    figures: Iterable[Metric], of: Literal["domain", "people"] = "domain"
) -> Proven | None:
    """Return what is proven of all protected attributes together, if anything was tried."""
    proven = (each for each in figures if isinstance(each, Proven) and each.of == of)
    return max(proven, key=lambda each: len(each.attributes), default=None)


def main_proof(figures: Sequence[Metric]) -> Proven | None:
    """Return what stands for a run in one number: of the population if it is there, else domain."""
    return proven_of(figures, "people") or proven_of(figures)


def proven_statement(proven: Proven) -> Statement:
    """Say what is proven and what is left: what is proven rounded down, each share as in its chart.

    Of the population it leads with what changes, lest the rest be read as a test that was passed.
    """
    if proven.exact:
        return _exact_statement(proven)
    alike, unlike, left = proven_fractions(proven)
    whole = _possible(proven)
    if not alike and not unlike:
        return unmeasured(
            say("No share of {people} is certified or falsified: all is undecided.", people=whole)
        )
    same = say(
        "is provably the same {whatever} for {share}",
        whatever=_whatever(proven.attributes),
        share=least_share(alike),
    )
    changes = say("provably changes for {share}", share=least_share(unlike))
    clauses, share, label = [same, changes], alike or unlike, _PROVEN[bool(alike)]
    if proven.of == "people" and alike and unlike:
        clauses, share = [changes, same], unlike
        label = "Decision provably changes, in a model of the data"
    first, second = clauses if alike else reversed(clauses)
    rest = say("it {proven}", proven=second)
    if not alike:
        rest = "no share is certified"
    elif not unlike:
        rest = _none_falsified(proven)
    rest = say("{rest}; at most {left} is undecided.", rest=rest, left=most_percent(left))
    return Statement(
        "proven",
        label,
        words.capital(least_share(share)),
        say("The decision {first} of {people}; {rest}", first=first, people=whole, rest=rest),
        say("Of {people}; {rest}", people=whole, rest=rest),
    )


def _none_falsified(proven: Proven) -> str:
    """Say that nothing is proven to change: also where it changes for some that were drawn."""
    drawn = proven.estimated
    if drawn is None or not drawn.discriminatory:
        return "no share is falsified so far"
    return say(
        "no share is falsified so far, but the decision changes for {hits} of {n} combinations "
        "drawn at random",
        hits=words.number(drawn.discriminatory),
        n=words.number(drawn.n_samples),
    )


def remainder_statement(proven: Proven) -> Statement | None:
    """Say what sampling shows of the undecided part; ``None`` where none was drawn from it.

    The share of those drawn that changed is another: what is decided of their regions is left out.
    """
    estimated = proven.estimated
    alike, unlike, left = proven_fractions(proven)
    if estimated is None or not estimated.n_samples or not left:
        return None
    digits = digits_of(estimated.low, estimated.high)
    if estimated.discriminatory:
        value = shown_percent(estimated.estimate, digits)
        ends = interval(estimated.low, estimated.high, estimated.confidence, digits)
        share = say("an estimated {share} ({ends})", share=value, ends=ends)
    else:
        most = say("at most {share}", share=percent_up(exactly(estimated.high), digits))
        value = words.capital(most)
        confidence = words.percent(estimated.confidence, 1.0, 0)
        share = say("{most} ({confidence} confidence)", most=most, confidence=confidence)
    said = say_many(
        estimated.n_samples,
        "The decision changes for {share} of {whom}: estimated from {n} combination[|s] drawn "
        "at random from regions that are not fully decided. Statistical, not certified.",
        share=share,
        whom=say("the undecided {share}", share=most_percent(left))
        if alike or unlike
        else "the input domain",
    )
    return Statement("estimated", "Estimated in the undecided part", value, said)


def about_percent(value: float) -> str:
    """Write a share that is not proven: ``about 0.02 %``, or ``below 0.01 %``."""
    # a region with a value that no row has is not said in other words than one of hardly any
    text = shown_percent(max(value, 1e-9), 2)
    # nought and whole are told as bounds already
    bound = value < 1 and round(100 * value, 2) in (0, 100)
    return text if bound else say("about {share}", share=text)


def proven_ratio_sentence(rates: ProvenRates) -> str:
    """Say between which bounds the impact ratio is proven to be, and whether that concludes."""
    values = {"name": words.quoted(rates.attribute), "ratio": ratio_ends(rates)}
    if rates.ratio_high < FOUR_FIFTHS:
        return say(
            "In the model of the data, the impact ratio by {name} (lowest over highest rate) is "
            "proven to be {ratio}, below the four-fifths threshold.",
            **values,
        )
    if rates.ratio_low >= FOUR_FIFTHS:
        return say(
            "In the model of the data, the impact ratio by {name} (lowest over highest rate) is "
            "proven to be {ratio}, not below the four-fifths threshold.",
            **values,
        )
    return say(
        "No conclusion on the impact ratio by {name}: its proven bounds lie on both sides of the "
        "four-fifths threshold.",
        **values,
    )


def is_too_wide(rates: ProvenRates) -> bool:
    """Return whether an impact ratio may be on either side of the four-fifths threshold."""
    return rates.ratio_low < FOUR_FIFTHS <= rates.ratio_high


def ratio_ends(rates: ProvenRates) -> str:
    """Write the ends of an impact ratio, rounded outwards: ``0.351 to 0.402``.

    A ratio below the four-fifths threshold is never written as the threshold itself.
    """
    low, high = exactly(rates.ratio_low), exactly(rates.ratio_high)
    digits = _RATIO_DIGITS
    while high < FOUR_FIFTHS <= _raised(high, digits):
        digits += 1
    lowered = Fraction(floor(low * 10**_RATIO_DIGITS), 10**_RATIO_DIGITS)
    return words.ends(
        words.plain(float(lowered), _RATIO_DIGITS),
        words.plain(float(min(_raised(high, digits), Fraction(1))), digits),
    )


def _raised(value: Fraction, digits: int) -> Fraction:
    return Fraction(ceil(value * 10**digits), 10**digits)


def proven_fractions(proven: Proven) -> tuple[Fraction, Fraction, Fraction]:
    """Return what is certified, falsified and undecided; of the exact counts if there are any."""
    if proven.total and int(proven.total):
        whole = int(proven.total)
        alike = Fraction(int(proven.certified_people), whole)
        unlike = Fraction(int(proven.falsified_people), whole)
        return alike, unlike, 1 - alike - unlike
    # the shortest decimals that are this float: what a reader of the JSON sees too
    alike, unlike = exactly(proven.certified), exactly(proven.falsified)
    return alike, unlike, exactly(proven.undecided)


def percent_down(share: Fraction, digits: int) -> str:
    """Write a share from 0 to 1, rounded down: never 100 for less, nor 0 for more."""
    text = percent_digits(share, digits)
    if share > 0 and not float(text):
        return f"> {words.percent_of('0')}"
    return _percent(text)


def least_percent(share: float | Fraction) -> str:
    """Write a proven share by itself: rounded down, with as many decimals as it takes."""
    exact = exactly(share)
    return words.percent_of("100") if exact == 1 else percent_down(exact, _digits_for(exact))


def most_percent(share: float | Fraction) -> str:
    """Write an upper bound by itself: rounded up, with as many decimals as it takes."""
    exact = exactly(share)
    return words.percent_of("100") if exact == 1 else percent_up(exact, _digits_for(exact))


def percent_up(share: Fraction, digits: int) -> str:
    """Write a share from 0 to 1, rounded up: never 0 for more."""
    return _percent(percent_digits(share, digits, up=True))


def proven_text(proven: Proven) -> str:
    """Write shortly what is proven: ``≥ 77.21 % certified, ≥ 8.70 % falsified``."""
    certified, falsified = (
        text if proven.exact or text.startswith(">") else f"≥ {text}"
        for text in map(least_percent, proven_fractions(proven)[:2])
    )
    return say(
        "{certified} certified, {falsified} falsified", certified=certified, falsified=falsified
    )


def short_name(proven: Proven) -> str:
    """Name shortly of what something is proven, for where there is little room."""
    return "a model of the data" if proven.of == "people" else "the input domain"


def standing_of(proven: Proven) -> str:
    """Write shortly what is proven, and of what."""
    return say("{shares} of {whole}", shares=proven_text(proven), whole=short_name(proven))


def _possible(proven: Proven) -> str:
    """Say of what something is proven."""
    return _POPULATION if proven.of == "people" else "the input domain"


def _whatever(names: Sequence[str]) -> str:
    return say("for every tested value of {names}", names=words.listed(names))


def _exact_statement(proven: Proven) -> Statement:
    """Say what is proven where everybody is decided, or certified without looking at anybody."""
    _, unlike, _ = proven_fractions(proven)
    values = {
        "whatever": _whatever(proven.attributes),
        "when": words.when_change(proven.attributes),
        "how": "certified without examining any region"
        if not unlike and not proven.boxes
        else "every combination is decided",
    }
    if not proven.total:
        share = percent_down(unlike, _digits_for(unlike))
        value = say("Exactly {share}", share=share)
        sentence = say(
            "The decision changes {when} for exactly {share} of {people}: {how}.",
            share=share,
            people=_possible(proven),
            **values,
        )
        return Statement("proven", _PROVEN[False], value, sentence)
    count = int(proven.falsified_people)
    values["whole"] = words.number(int(proven.total))
    if not count:
        value = say("All {whole}", whole=values["whole"])
        sentence = say_many(
            int(proven.total),
            "[The only combination|All {whole} combinations] in the input domain [is|are] "
            "certified: the decision is the same {whatever}; {how}. This covers this model, these "
            "values and these constraints only.",
            **values,
        )
    else:
        value = say("Exactly {n}", n=words.number(count))
        sentence = say_many(
            int(proven.total),
            "The decision changes {when} for [the only combination|exactly {count} of {whole} "
            "combinations] in the input domain[| ({share})]: {how}.",
            count=words.number(count),
            share=percent_down(unlike, _digits_for(unlike)),
            **values,
        )
    return Statement("proven", _COUNTED[not count], value, sentence)


def _digits_for(share: Fraction) -> int:
    """Choose decimals of a percentage: two figures of it or of what it lacks to 100."""
    least = min(each for each in (share, 1 - share, Fraction(1)) if each > 0)
    return min(max(_LEAST_DIGITS, 1 - floor(log10(100 * least + 1e-9))), _MOST_DIGITS)


def least_share(share: float | Fraction) -> str:
    """Say a proven share by itself as a lower bound: never zero for more."""
    text = least_percent(share)
    if text.startswith(">"):
        return say("more than {share}", share=words.percent_of("0"))
    return say("all {share}" if share == 1 else "at least {share}", share=text)


def _percent(text: str) -> str:
    """Write a percentage with its sign; nought without decimals."""
    return words.percent_of(text if float(text) else "0")
