"""What a run is given to work with, by what its method asks: people, groups, or a repair."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.plan.spec import AuditSpec, RunSpec
from fairdesk.data.domain.attributes import encode
from fairdesk.data.domain.domain import Domain
from fairdesk.data.profiling.outcomes import favourable_rows
from fairdesk.data.table import Column, Source, Table
from fairdesk.results.events import Certificate, Rows

if TYPE_CHECKING:
    from fairdesk.groups.context import GroupBlock


class SearchInputs(msgspec.Struct, frozen=True, tag=True):
    """What a method about individuals is given.

    Attributes
    ----------
    people : Rows
        ``(n, d)``; the rows of the data that lie in the domain.
    known : Rows, optional
        ``(m, d)``; who counts as found already, and is not found again.
    previous_certificate : Certificate, optional
        What an earlier run proved, to go on with.
    all_rows : AllRows, optional
        Of a table that is larger than memory, for a method that tests all of its rows; ``people``
        are of a random sample of them then.
    """

    people: Rows
    known: Rows | None = None
    previous_certificate: Certificate | None = None
    all_rows: AllRows | None = None


class AllRows(msgspec.Struct, frozen=True):
    """All rows of a table that is larger than memory, to be read where it lies.

    Attributes
    ----------
    source : Source
        Its parts. A worker process has them at another path.
    columns : tuple[Column, ...]
        Of the table.
    label, favourable : str
        As of `fairdesk.audit.plan.spec.AuditSpec`.
    predictions, decision : str
        The column of decisions, and the favourable one; empty where there is a model.
    """

    source: Source
    columns: tuple[Column, ...]
    label: str
    favourable: str
    predictions: str = ""
    decision: str = ""


class GroupInputs(msgspec.Struct, frozen=True, tag=True):
    """What a method about groups is given: fields of `fairdesk.groups.context.GroupContext`.

    Attributes
    ----------
    rows, groups : Rows
        ``(n, d)`` and ``(n, g)``; all rows of the table, and the same as codes of the grouping
        attributes.
    inside : NDArray[np.bool_]
        ``(n,)``; who lies in the domain.
    label, decided : NDArray[np.float64]
        ``(n,)`` each; 1 with the favourable label, or the favourable decision in a column of
        these; 0 with another, NaN with none.
    favourable_label : str
        The favourable label's name.
    all_rows : AllRows, optional
        Of a table that is larger than memory; ``rows`` are a random sample of it then.
    """

    rows: Rows
    groups: Rows
    inside: NDArray[np.bool_]
    label: NDArray[np.float64]
    decided: NDArray[np.float64]
    favourable_label: str = ""
    all_rows: AllRows | None = None


class MitigationInputs(msgspec.Struct, frozen=True, tag=True):
    """What a repair is given: fields of `fairdesk.mitigate.context.MitigationContext`.

    Attributes
    ----------
    rows, groups, inside, label
        As of `GroupInputs`.
    target : NDArray[np.int64]
        ``(n,)``; the label as a position in the model's own classes; -1 for none of these.
    pairs, partners : Rows
        ``(m, d)`` each; the discriminatory pairs to repair, flagged ones first.
    numbers : NDArray[np.int64]
        ``(m,)``; their numbers in the audit.
    flagged : int
        How many of them are flagged.
    """

    rows: Rows
    groups: Rows
    inside: NDArray[np.bool_]
    label: NDArray[np.float64]
    target: NDArray[np.int64]
    pairs: Rows
    partners: Rows
    numbers: NDArray[np.int64]
    flagged: int = 0


#: One of these, by what the method answers.
RunInputs = SearchInputs | GroupInputs | MitigationInputs


def starting_rows(run: RunSpec, people: Rows) -> Rows:
    """Return the starting rows that are dealt to a part of a search: some of ``(n, d)`` rows.

    They are dealt in an order that hangs on the run's seed only; of a whole run all of them are
    returned as they are.
    """
    if run.shard is None:
        return people
    order = np.random.default_rng(run.seed).permutation(len(people))
    return people[np.sort(order[run.shard.start :: run.shards])]


def group_inputs(audit: AuditSpec, table: Table) -> GroupInputs:
    """Return all rows of an audit's table, with who has the favourable label and decision."""
    inside = np.zeros(len(table.codes), dtype=np.bool_)
    inside[audit.domain.places(table)] = True
    decided = np.full(len(table.codes), np.nan)
    decision = audit.decisions[audit.mapping.favourable_class] if audit.predictions else ""
    if audit.predictions:
        decided = _favourable(table, audit.predictions, decision)
    return GroupInputs(
        rows=audit.domain.encode(table),
        groups=encode(audit.domain.grouping, table),
        inside=inside,
        label=_favourable(table, audit.label, audit.favourable),
        decided=decided,
        favourable_label=audit.favourable,
        all_rows=everything_of(audit),
    )


def everything_of(audit: AuditSpec) -> AllRows | None:
    """Return all rows of an audit whose table is larger than memory; None where all are held."""
    if audit.data.sample is None:
        return None
    decision = audit.decisions[audit.mapping.favourable_class] if audit.predictions else ""
    return AllRows(
        audit.data, audit.columns, audit.label, audit.favourable, audit.predictions, decision
    )


def people_blocks(domain: Domain, all_rows: AllRows) -> Iterator[tuple[int, Rows]]:
    """Yield all rows of a table that is larger than memory, as a method about individuals does.

    Yields
    ------
    int
        How many rows were read.
    Rows
        ``(n, d)``; those of them that lie in the domain.

    Raises
    ------
    DataError
        As `fairdesk.data.formats.parts.blocks`.
    """
    # Arrow, which only these tables need
    from fairdesk.data.formats.parts import blocks  # noqa: PLC0415

    for table in blocks(all_rows.source, all_rows.columns):
        yield len(table.codes), domain.people(table)


def group_blocks(domain: Domain, all_rows: AllRows) -> Iterator[GroupBlock]:
    """Yield all rows of a table that is larger than memory, as a method about groups sees them.

    Raises
    ------
    DataError
        As `fairdesk.data.formats.parts.blocks`.
    """
    # Arrow, which only these tables need
    from fairdesk.data.formats.parts import blocks  # noqa: PLC0415
    from fairdesk.groups.context import GroupBlock  # noqa: PLC0415

    for table in blocks(all_rows.source, all_rows.columns):
        decided = np.full(len(table.codes), np.nan)
        if all_rows.predictions:
            decided = _favourable(table, all_rows.predictions, all_rows.decision, block=True)
        yield GroupBlock(
            rows=domain.encode(table),
            groups=encode(domain.grouping, table),
            label=_favourable(table, all_rows.label, all_rows.favourable, block=True),
            decided=decided,
        )


def grouped_people(domain: Domain, all_rows: AllRows) -> Iterator[tuple[int, Rows]]:
    """Yield all rows of a table that is larger than memory, as subgroup discovery counts them.

    Yields
    ------
    int
        How many rows were read.
    Rows
        ``(n, g)``; the groups of those of them that lie in the domain.

    Raises
    ------
    DataError
        As `fairdesk.data.formats.parts.blocks`.
    """
    # Arrow, which only these tables need
    from fairdesk.data.formats.parts import blocks  # noqa: PLC0415
    from fairdesk.groups.tabular.sampling import starting  # noqa: PLC0415

    for table in blocks(all_rows.source, all_rows.columns):
        inside = domain.places(table)
        _, fine = starting(domain, domain.encode(table)[inside])
        yield len(table.codes), encode(domain.grouping, table)[inside][fine]


def _favourable(
    table: Table, column: str, favourable: str, *, block: bool = False
) -> NDArray[np.float64]:
    """Return whether each row has the favourable value of a column: 1, 0, or NaN for none."""
    holds, known = favourable_rows(table, column, favourable, block=block)
    return np.where(known, holds, np.nan)


__all__ = [
    "AllRows",
    "GroupInputs",
    "MitigationInputs",
    "RunInputs",
    "SearchInputs",
    "everything_of",
    "group_blocks",
    "group_inputs",
    "grouped_people",
    "people_blocks",
    "starting_rows",
]
