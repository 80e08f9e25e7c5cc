"""The outcomes of groups in the rows of the data: observed, without a query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.data.profiling.outcomes import favourable_rows
from fairdesk.data.table import Table
from fairdesk.groups.metrics.outcomes import outcomes, references_of
from fairdesk.results.groups import GroupTable
from fairdesk.wording import words
from fairdesk.wording.language import say


@dataclass(frozen=True)
class Observed:
    """The outcomes in one column, by groups.

    Attributes
    ----------
    title, sentence : str
        What they are, for people.
    column, favourable : str
        The column, and its value that is good for the person.
    outcomes : tuple[GroupTable, ...]
        Per protected attribute, and of all together.
    """

    title: str
    sentence: str
    column: str
    favourable: str
    outcomes: tuple[GroupTable, ...]


def observed(
    spec: AuditSpec, table: Table, measured: Iterable[GroupTable] = ()
) -> tuple[Observed, ...]:
    """Count by group the recorded outcomes, and a column of the model's decisions.

    Parameters
    ----------
    measured : iterable of GroupTable
        Tables of the model's decisions that a run measured: groups are compared with the same
        reference groups here.
    """
    found = []
    references = references_of(measured)
    sample = words.sampled(spec.data)
    if spec.predictions:
        column, decided = spec.predictions, spec.decisions[spec.mapping.favourable_class]
        found.append(
            Observed(
                say("Decisions in the data"),
                say(
                    "Selection rate: share of each group with the decision “{decided}” in the "
                    "column “{column}”, counted in the rows of the data, with a {percent} "
                    "confidence interval.",
                    column=column,
                    decided=decided,
                    percent=words.percent_of("95"),
                )
                + (sample and f" {sample}"),
                column,
                decided,
                _count(spec, table, column, decided, references, "decisions"),
            )
        )
        references = references_of(found[0].outcomes)
    if spec.label != spec.predictions:
        found.append(
            Observed(
                say("Recorded outcomes in the data"),
                say(
                    "Base rate: share of each group with the recorded outcome “{favourable}”, "
                    "counted in the rows of the data, with a {percent} confidence interval. "
                    "It describes the data, not the decisions.",
                    favourable=spec.favourable,
                    percent=words.percent_of("95"),
                )
                + (sample and f" {sample}"),
                spec.label,
                spec.favourable,
                _count(spec, table, spec.label, spec.favourable, references, "label"),
            )
        )
    return tuple(found)


def _count(
    spec: AuditSpec,
    table: Table,
    column: str,
    favourable: str,
    references: Mapping[tuple[str, ...], tuple[str, ...]],
    of: Literal["label", "decisions"],
) -> tuple[GroupTable, ...]:
    good, known = favourable_rows(table, column, favourable)
    return outcomes(
        spec.domain, table, good, known, of=of, outcome=favourable, references=references
    )
