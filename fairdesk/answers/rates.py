"""Proven bounds of selection rates, beside the rates observed in the data rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fairdesk.answers.selection import Run
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.results.groups import GroupTable
from fairdesk.results.proofs import GroupRate, ProvenRates
from fairdesk.wording import proofs as proof_words
from fairdesk.wording.groups.tables import worst_of
from fairdesk.wording.language import say
from fairdesk.wording.rules import combination_text


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
    """

    group: str
    proven: GroupRate
    observed: float | None

    @property
    def is_outside(self) -> bool:
        """Whether the observed rate lies outside the bounds."""
        return self.observed is not None and not (
            self.proven.low <= self.observed <= self.proven.high
        )

    @property
    def warning(self) -> str:
        """Say that the bounds are not to be quoted; empty where nothing speaks against them."""
        said = say(proof_words.OUTSIDE)
        return f"{self.group}: {said}" if self.is_outside else ""


def decision_tables(runs: Sequence[Run]) -> tuple[GroupTable, ...]:
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
    observed = {
        line.codes[0]: line.rate
        for line in (() if table is None else table.lines)
        if line.known and len(line.codes) == 1
    }
    return tuple(
        BoundedRate(
            combination_text(spec, (rates.attribute,), (each.code,)),
            each,
            observed.get(each.code),
        )
        for each in rates.groups
    )


def counted_ratio_sentence(rates: ProvenRates, tables: Sequence[GroupTable], where: str) -> str:
    """Say that the ratio counted in the data rows does not rest on bounds that do not conclude.

    Empty where the bounds conclude, or no such ratio was counted.

    Parameters
    ----------
    rates : ProvenRates
        The bounds.
    tables : sequence of GroupTable
        Of the model's decisions.
    where : str
        Where that ratio is shown: ``section 4``.
    """
    table = _of_attribute(rates, tables)
    if not proof_words.is_too_wide(rates) or table is None or worst_of(table) is None:
        return ""
    return say(
        "The impact ratio counted in the data rows ({where}) does not depend on these bounds.",
        where=where,
    )


def _of_attribute(rates: ProvenRates, tables: Sequence[GroupTable]) -> GroupTable | None:
    return next((each for each in tables if each.attributes == (rates.attribute,)), None)
