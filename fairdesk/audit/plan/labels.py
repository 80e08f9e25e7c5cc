"""What classes are called in the label column, and whether rows that a repair adds can be."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.data.domain.domain import Domain
from fairdesk.data.profiling.outcomes import favourable_rows, spelt_as
from fairdesk.data.table import Table
from fairdesk.models.decisions.rule import VALUES
from fairdesk.results.mitigation import Augmented


def why_wrong(added: Augmented, domain: Domain, classes: int, rows: int) -> str:
    """Say in a clause what cannot be about rows to add; empty where all can.

    Parameters
    ----------
    domain : Domain
        Whom there can be. Of a column of texts the codes after its last are the new texts.
    classes : int
        How many classes the model has of its own.
    rows : int
        How many rows the table has.
    """
    people = added.rows.copy()
    for place in domain.texts.tolist():
        written = len(domain.attributes[place].values)
        codes = people[:, place]
        new = (codes >= written) & (codes < written + len(added.texts)) & (codes == np.floor(codes))
        codes[new] = 0.0
    if not domain.contains(people).all():
        return "it adds instances outside the input domain"
    if ((added.labels < 0) | (added.labels >= classes)).any():
        return "it adds labels that the model does not have"
    if ((added.seeds < 0) | (added.seeds >= rows)).any() or (added.pairs < -1).any():
        return "it refers to rows or pairs that do not exist"
    return ""


def class_labels(spec: AuditSpec, table: Table) -> tuple[str | None, ...]:
    """Return the label value that each of the model's decisions means.

    The favourable one means the favourable value; where several values are favourable, or all
    from a number on, none of them. With a label of two values any other means the other one; with
    more, it means the value that has its name, else none.
    """
    values = tuple(table.counts(spec.label))
    others = [value for value in values if value != spec.favourable]
    meant: list[str | None] = []
    for position, name in enumerate(spec.mapping.written(spec.model)):
        if position == spec.mapping.favourable_class:
            meant.append(spec.favourable if spec.favourable in values else None)
        elif len(others) == 1:
            meant.append(others[0])
        else:
            meant.append(_named(name, values))
    return tuple(meant)


def own_labels(spec: AuditSpec, table: Table) -> tuple[str | None, ...]:
    """Return the label value that each of the model's own classes means, as `class_labels` does.

    Decisions that are made of several classes are none of the model's own. A model that estimates
    a number has no classes.
    """
    if spec.model.scores == VALUES:
        return ()
    if not spec.mapping.together:
        return class_labels(spec, table)
    values = tuple(table.counts(spec.label))
    return tuple(_named(name, values) for name in spec.model.classes)


def targets(spec: AuditSpec, table: Table) -> NDArray[np.int64]:
    """Return each row's label as a position in the model's own classes, ``(n,)``; -1 for none."""
    found = np.full(len(table.codes), -1, dtype=np.int64)
    meant = own_labels(spec, table)
    if len(meant) == 2 and not spec.mapping.together:
        good, known = favourable_rows(table, spec.label, spec.favourable)
        favourable = spec.mapping.favourable_class
        found[known] = np.where(good[known], favourable, 1 - favourable)
        return found
    column = table.column(spec.label)
    codes = table.codes[:, table.index(spec.label)]
    written = np.unique(codes[~np.isnan(codes)]).tolist()
    for place, label in enumerate(meant):
        if label is not None:
            mine = [code for code in written if column.text(code) == label]
            found[np.isin(codes, mine)] = place
    return found


def _named(name: str, values: tuple[str, ...]) -> str | None:
    place = spelt_as(name, values)
    return None if place is None else values[place]
