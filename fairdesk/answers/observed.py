"""The outcomes of groups in the rows of the data: observed, without a query."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.data.profiling.outcomes import favourable_rows
from fairdesk.data.table import Table
from fairdesk.groups.metrics.outcomes import outcomes, references_of
from fairdesk.results.groups import GroupTable
from fairdesk.wording import words
from fairdesk.wording.groups.tables import counted_sentence
from fairdesk.wording.language import say


@dataclass(frozen=True)
class Observed:
    """The outcomes in one column, by groups.

    Attributes
    ----------
    title, sentence : str
        What they are, for people.
    outcomes : tuple[GroupTable, ...]
        Per protected attribute, and of all together.
    """

    title: str
    sentence: str
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
    columns: list[tuple[Literal["label", "decisions"], str, str, str]] = []
    if spec.predictions:
        decided = spec.decisions[spec.mapping.favourable_class]
        columns.append(("decisions", say("Decisions in the data"), spec.predictions, decided))
    if spec.label != spec.predictions:
        title = say("Recorded outcomes in the data")
        columns.append(("label", title, spec.label, spec.favourable))
    found: list[Observed] = []
    for of, title, column, favourable in columns:
        good, known = favourable_rows(table, column, favourable)
        counted = outcomes(
            *(spec.domain, table, good, known),
            of=of,
            outcome=favourable,
            references=references_of(found[0].outcomes if found else measured),
        )
        said = [counted_sentence(spec, each) for each in counted[:1]]
        found.append(Observed(title, " ".join((*said, words.sampled(spec.data))).strip(), counted))
    return tuple(found)
