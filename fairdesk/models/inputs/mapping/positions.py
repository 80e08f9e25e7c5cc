"""Which columns of a table are a model's inputs, where these have no names: as many, in order."""

from __future__ import annotations

from fairdesk.data.columns.kinds import name_parts
from fairdesk.data.profiling.leaks import leaks
from fairdesk.data.profiling.outcomes import favourable_rows
from fairdesk.data.table import Column, Kind, Table
from fairdesk.errors import DataError
from fairdesk.models.model import ModelCard

#: Words so short say nothing of what a column is about.
_SHORT = 3


def as_many(card: ModelCard, table: Table, label: str, favourable: str) -> list[tuple[Column, ...]]:
    """Find the columns that are as many as a model's inputs, in the table's order.

    All but the label; or without other outcomes, without excluded columns, or without both. What is
    excluded may be an input all the same: only its cells look like names of rows. What is another
    outcome is none: a column that tells the label almost alone, or is called after what the label
    is called after.

    Returns
    -------
    list[tuple[Column, ...]]
        The choices, the first with the most of the table's columns. None of them has other outcomes
        in it, where one does without them.
    """
    count = len(card.inputs)
    others = tuple(column for column in table.columns if column.name != label)
    told = told_by(table, label, favourable)
    words = {part for part in name_parts(label) if len(part) > _SHORT or not part.isalpha()}
    called = {c.name for c in others if words & set(name_parts(c.name))}
    with_outcome: list[tuple[Column, ...]] = []
    without: list[tuple[Column, ...]] = []
    for outcomes in (set(), told, called, told | called):
        for excluded in (True, False):
            choice = tuple(
                column
                for column in others
                if column.name not in outcomes and (excluded or column.kind is not Kind.IGNORED)
            )
            kept = without if not told & {column.name for column in choice} else with_outcome
            if len(choice) == count and choice not in kept:
                kept.append(choice)
    return without or with_outcome


def told_by(table: Table, label: str, favourable: str) -> set[str]:
    """Return the columns that tell the outcome almost alone."""
    try:
        good, _ = favourable_rows(table, label, favourable)
    except DataError:
        return set()
    return {problem.column for problem in leaks(table, label, good)}
