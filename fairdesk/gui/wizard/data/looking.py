"""What is noticed about a table that was read: kinds, distributions, problems."""

from __future__ import annotations

from dataclasses import dataclass

from fairdesk.data.columns.one_hot import grouped
from fairdesk.data.columns.rereading import retype
from fairdesk.data.profiling.profile import Problem, histogram, problems, suggest_label
from fairdesk.data.table import Column, Kind, Table
from fairdesk.errors import DataError
from fairdesk.gui.wizard.preview import Histogram
from fairdesk.gui.wizard.progress import Share


@dataclass(frozen=True)
class _Seen:
    """What was noticed about one column."""

    column: Column
    histogram: Histogram
    problems: tuple[Problem, ...]


@dataclass(frozen=True)
class Reading:
    """A table and what was noticed about it."""

    table: Table
    seen: dict[str, _Seen]
    label: str | None
    kinds: dict[str, Kind]
    refused: tuple[DataError, ...]


@dataclass
class Job(Share):
    """A reading under way, which may be given up between two columns."""

    stopped: bool = False

    def go_on(self, doing: str, done: float) -> None:
        """Tell how far it is; raises `DataError` once it is to stop."""
        if self.stopped:
            raise DataError("Reading was stopped.")
        self.doing, self.done = doing, done


def look(table: Table, kinds: dict[str, Kind], before: Reading | None, job: Job) -> Reading:
    """Give columns the kinds that the auditor chose, and look at all; runs in the background.

    Columns that are as they were ``before`` are not looked at again.
    """
    table = grouped(table)
    refused, taken = [], {}
    for name, kind in kinds.items():
        if name not in table.names:
            continue
        try:
            if table.column(name).kind is not kind:
                table = retype(table, name, kind)
        except DataError as error:
            refused.append(error)
        else:
            taken[name] = kind
    if before is not None and before.table.source != table.source:
        before = None
    seen = {}
    for place, column in enumerate(table.columns):
        job.go_on("Checking the columns…", place / len(table.columns))
        known = before.seen.get(column.name) if before is not None else None
        if known is None or known.column != column:
            alone = Table(table.source, (column,), table.codes[:, place : place + 1])
            bars = () if column.kind is Kind.TEXT else histogram(alone, column.name)
            known = _Seen(column, bars, problems(alone))
        seen[column.name] = known
    return Reading(
        table=table,
        seen=seen,
        label=suggest_label(table) if before is None else before.label,
        kinds=taken,
        refused=tuple(refused),
    )
