"""Proven bounds of selection rates, beside the rates observed in the data rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import RunRecord, RunState
from fairdesk.results.events import Metric
from fairdesk.results.groups import GroupLine, GroupTable
from fairdesk.results.proofs import GroupRate, Proven, ProvenRates
from fairdesk.results.rounding import exactly
from fairdesk.wording import proofs as proof_words
from fairdesk.wording import words
from fairdesk.wording.decisions import name_of
from fairdesk.wording.groups.impact_ratio import worst_of
from fairdesk.wording.groups.tables import rate_of
from fairdesk.wording.language import say
from fairdesk.wording.rules import combination_text

#: The model of the data fits a group whose observed rate is at most so far outside its bounds.
_MISFIT = 0.02


@dataclass(frozen=True)
class BoundedRate:
    """The bounds of a group's selection rate, and the rate observed in the data rows.

    Attributes
    ----------
    group : str
        The group, in words.
    proven : GroupRate
        Its bounds in the population model.
    observed : float, optional
        Its rate of the model's favourable decision in the data rows, where that was measured.
    value : str
        The group's value alone.
    text : str
        The observed rate as the table of the data rows has it; a dash without one.
    """

    group: str
    proven: GroupRate
    observed: float | None
    value: str
    text: str

    @property
    def is_outside(self) -> bool:
        """Whether the observed rate lies clearly outside the bounds."""
        return self.observed is not None and not (
            self.proven.low - _MISFIT <= self.observed <= self.proven.high + _MISFIT
        )

    @property
    def is_shown(self) -> bool:
        """Whether the bounds are shown: not where the observed rate lies outside of them."""
        return self.observed is None or self.proven.low <= self.observed <= self.proven.high

    @property
    def ends(self) -> tuple[str, str]:
        """Both bounds, rounded outwards; dashes where they are not shown."""
        if not self.is_shown:
            return "–", "–"
        return (
            proof_words.percent_down(exactly(self.proven.low), 2),
            proof_words.percent_up(min(exactly(self.proven.high), Fraction(1)), 2),
        )


def decision_tables(runs: Sequence[RunRecord | RunState]) -> tuple[GroupTable, ...]:
    """Return the tables of the model's decisions by group, of the latest run that has some."""
    for run in reversed(runs):
        tables = (each for each in run.figures if isinstance(each, GroupTable))
        if found := tuple(each for each in tables if each.of == "decisions"):
            return found
    return ()


def bounded_rates(
    spec: AuditSpec, rates: ProvenRates, tables: Sequence[GroupTable]
) -> tuple[BoundedRate, ...]:
    """Set each group's bounds beside its rate in the data rows.

    A bin of numbers is not the one value whose rate is proven, so numbers have no observed rate.
    """
    attributes = {each.name: each for each in spec.domain.attributes}
    named = bool(attributes[rates.attribute].values)
    table = _of_attribute(rates, tables) if named else None
    lines = {} if table is None else {line.codes: line for line in table.lines if line.known}

    def bounded(proven: GroupRate, line: GroupLine | None) -> BoundedRate:
        group = combination_text(spec, (rates.attribute,), (proven.code,))
        value = name_of(attributes[rates.attribute], proven.code)
        if table is None or line is None:
            return BoundedRate(group, proven, None, value, "–")
        return BoundedRate(group, proven, line.rate, value, rate_of(table, line))

    return tuple(bounded(each, lines.get((each.code,))) for each in rates.groups)


def misfit_sentence(
    spec: AuditSpec, figures: Iterable[Metric], tables: Sequence[GroupTable]
) -> str:
    """Name the groups that the model of the data does not fit; empty where it fits all."""
    groups = [
        f"{words.quoted(rates.attribute)} = {each.value}"
        for rates in figures
        if isinstance(rates, ProvenRates)
        for each in bounded_rates(spec, rates, tables)
        if each.is_outside
    ]
    if not groups:
        return ""
    return say(
        "The model of the data does not fit {groups}: its shares are not shown.",
        groups=words.joined(groups),
    )


def without_misfit(
    spec: AuditSpec, figures: Sequence[Metric], tables: Sequence[GroupTable]
) -> tuple[Metric, ...]:
    """Return the figures without those of a population that does not fit the data.

    Its shares would be quoted as shares of real people.
    """
    if not misfit_sentence(spec, figures, tables):
        return tuple(figures)
    return tuple(each for each in figures if not (isinstance(each, Proven) and each.of == "people"))


def ratio_sentence(rates: ProvenRates, tables: Sequence[GroupTable]) -> str:
    """Say what is proven of an impact ratio, or that nothing follows, and what was counted."""
    said = proof_words.proven_ratio_sentence(rates)
    table = _of_attribute(rates, tables)
    worst = None if table is None else worst_of(table)
    if not proof_words.is_too_wide(rates) or worst is None or worst.impact_ratio is None:
        return said
    ratio = words.plain(worst.impact_ratio, 2)
    return f"{said} {say('Counted in the data rows: {ratio}.', ratio=ratio)}"


def _of_attribute(rates: ProvenRates, tables: Sequence[GroupTable]) -> GroupTable | None:
    return next((each for each in tables if each.attributes == (rates.attribute,)), None)
