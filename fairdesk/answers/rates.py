"""Proven bounds of selection rates, beside the rates observed in the data rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import RunRecord, RunState
from fairdesk.results.events import Metric
from fairdesk.results.groups import GroupLine, GroupTable
from fairdesk.results.proofs import GroupRate, Proven, ProvenRates
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
        return proof_words.least_rate(self.proven.low), proof_words.most_rate(self.proven.high)


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
    found = [each for each in figures if isinstance(each, ProvenRates)]
    groups = words.joined(
        [group for each in found for group in _unfit(each, bounded_rates(spec, each, tables))]
    )
    if not groups:
        return ""
    return say(
        "The model of the data does not fit {groups}: its shares are not shown.",
        groups=groups,
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


def _unfit(rates: ProvenRates, bounded: Sequence[BoundedRate]) -> list[str]:
    """Name those of an attribute's groups that the model of the data does not fit."""
    name = words.quoted(rates.attribute)
    return [f"{name} = {each.value}" for each in bounded if each.is_outside]


def concludes(rates: ProvenRates, bounded: Sequence[BoundedRate]) -> bool:
    """Return whether anything can be concluded from the bounds of an impact ratio."""
    return not proof_words.is_too_wide(rates) and not any(each.is_outside for each in bounded)


def counted_ratio(rates: ProvenRates, tables: Sequence[GroupTable]) -> float | None:
    """Return the impact ratio of the attribute that was counted in the data rows, if one was."""
    table = _of_attribute(rates, tables)
    worst = None if table is None else worst_of(table)
    return None if worst is None else worst.impact_ratio


def concluded_ratio_sentence(
    rates: ProvenRates,
    bounded: Sequence[BoundedRate],
    tables: Sequence[GroupTable],
    where: str = "",
) -> str:
    """Say what is proven of an impact ratio, or that nothing follows, and what was counted.

    Parameters
    ----------
    where : str, optional
        Where the ratio of the data rows is shown: ``section 4``.
    """
    if concludes(rates, bounded):
        return proof_words.proven_ratio_sentence(rates)
    said = proof_words.proven_ratio_sentence(rates)
    if any(each.is_outside for each in bounded):
        said = say(
            "No conclusion on the impact ratio by {name}: the bounds of {groups} are not shown, as "
            "the model of the data does not fit.",
            name=words.quoted(rates.attribute),
            groups=words.joined(_unfit(rates, bounded)),
        )
    counted = counted_ratio(rates, tables)
    if counted is None:
        return said
    ratio = say(
        "Counted in the data rows: {ratio}{where}.",
        ratio=words.plain(counted, 2),
        where=f" ({where})" if where else "",
    )
    return f"{said} {ratio}"


def rates_sentences(
    spec: AuditSpec, figures: Iterable[Metric], tables: Sequence[GroupTable]
) -> tuple[str, ...]:
    """Say between which bounds each group's rate is proven to be, and what follows from them."""
    out = []
    for rates in figures:
        if not isinstance(rates, ProvenRates):
            continue
        bounded = bounded_rates(spec, rates, tables)
        groups = "; ".join(
            say("{group} {ends}", group=each.group, ends=words.ends(*each.ends))
            for each in bounded
            if each.is_shown
        )
        said = groups and say(
            "Selection rates in the population (a model of the data), proven bounds: {groups}.",
            groups=groups,
        )
        out.append(" ".join(filter(None, (said, concluded_ratio_sentence(rates, bounded, tables)))))
    return tuple(out)


def _of_attribute(rates: ProvenRates, tables: Sequence[GroupTable]) -> GroupTable | None:
    return next((each for each in tables if each.attributes == (rates.attribute,)), None)
