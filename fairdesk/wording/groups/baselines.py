"""What other methods than subgroup discovery found: weighted sums, and gaps between groups."""

from __future__ import annotations

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.results.groups import GroupGap
from fairdesk.results.subgroups import LinearGroup
from fairdesk.wording import words
from fairdesk.wording.groups.subgroups import ends_text
from fairdesk.wording.language import say, say_many
from fairdesk.wording.rules import combination_text
from fairdesk.wording.statements import Statement
from fairdesk.wording.words import digits_of, signed

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
    return _gap(abs(apart), said, others=say("all others"))


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
        people=say_many(gap.n_samples, "{n} instance", "{n} instances"),
    )
    shown = say("The difference is not statistically significant.") if gap.low <= 0 else ""
    unmet = (
        say_many(
            gap.unmet,
            "{n} group is not compared: no instance of it was drawn, or constraints exclude it.",
            "{n} groups are not compared: no instance of them was drawn, or constraints "
            "exclude them.",
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
        else say("Largest gap, in percentage points")
    )
    return Statement("estimated", label, words.number(100 * value, digits), sentence)


def _percentage_points(value: float, digits: int = 1) -> str:
    return say("{n} percentage points", n=words.number(100 * value, digits))
