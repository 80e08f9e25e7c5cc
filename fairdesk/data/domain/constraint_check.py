"""Constraints and the data: what real rows say about them, and the domain that keeps them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from fairdesk.data.domain.attributes import Attribute, encode
from fairdesk.data.domain.constraint_truth import Dependence
from fairdesk.data.domain.constraints import parse
from fairdesk.data.domain.determined import learn
from fairdesk.data.domain.domain import Domain
from fairdesk.data.domain.support import Support
from fairdesk.data.table import Table
from fairdesk.errors import SpecError

#: So many broken rows are named.
_MOST_NAMED = 10


class Checked(msgspec.Struct, frozen=True):
    """What the data say about a constraint.

    Attributes
    ----------
    text : str
        The constraint, as it is always written.
    total : int
        Rows of the table.
    broken : int
        Rows that break it.
    undecided : int
        Rows that neither break nor fulfil it, for a cell is missing or its value not allowed.
    first : tuple[int, ...]
        The numbers of the first rows that break it; the table's first row has number 1.
    """

    text: str
    total: int
    broken: int
    undecided: int
    first: tuple[int, ...]

    @property
    def share(self) -> float:
        """The share of rows that break it, from 0 to 1."""
        return self.broken / self.total if self.total else 0.0


def checked(attributes: Sequence[Attribute], table: Table, text: str) -> Checked:
    """Hold a constraint against the rows of the data.

    Parameters
    ----------
    attributes : sequence of Attribute
        What the constraint may speak of; a domain need not be complete.

    Raises
    ------
    SpecError
        When it cannot be read, or an attribute cannot follow another as it says.
    """
    constraint = parse(text, attributes)
    rows = encode(attributes, table)
    if isinstance(constraint, Dependence):
        followable = _followable(attributes, (constraint,))
        _, broken = learn(constraint, followable, table)
        names = [each.name for each in followable]
        pair = [names.index(name) for name in constraint.names]
        decided = ~np.isnan(encode(followable, table)[:, pair]).any(axis=1)
    else:
        broken, decided = ~constraint.holds(rows), constraint.decided(rows)
    return Checked(
        constraint.text,
        len(rows),
        int(broken.sum()),
        int((~decided).sum()),
        tuple((np.flatnonzero(broken)[:_MOST_NAMED] + 1).tolist()),
    )


def constrained_domain(
    attributes: Sequence[Attribute],
    texts: Sequence[str],
    table: Table,
    unseen: Sequence[Attribute] = (),
    support: Support | None = None,
) -> Domain:
    """Make a domain whose people fulfil constraints.

    Parameters
    ----------
    attributes : sequence of Attribute
        In the order of the rows' columns. One that follows another loses the category of missing
        cells: a missing cell does not follow.
    texts : sequence of str
        The constraints; each is kept once, as it is always written.
    table : Table
        The data, from which is learned what follows from what.
    unseen : sequence of Attribute
        Protected columns that the model is not given; no constraint speaks of them.
    support : Support, optional
        What the data support of comparisons, as `learn_support` returns it or as the auditor
        changed it.

    Raises
    ------
    SpecError
        When a text cannot be read, or nothing can be asked about the domain.
    """
    support = support or Support()
    parsed = [parse(text, attributes) for text in (*texts, *support.constraints)]
    dependences = [each for each in parsed if isinstance(each, Dependence)]
    followable = _followable(attributes, dependences)
    determined = {each.text: learn(each, followable, table)[0] for each in dependences}
    for each in parsed:
        parse(each.text, followable)  # may speak of a missing cell that is no value any more
    return Domain(
        followable,
        tuple(dict.fromkeys(each.text for each in parsed[: len(texts)])),
        tuple(determined.values()),
        tuple(unseen),
        support,
    )


def _followable(
    attributes: Sequence[Attribute], dependences: Sequence[Dependence]
) -> tuple[Attribute, ...]:
    """Take the category of missing cells from attributes that follow others."""
    following = {each.attribute for each in dependences}
    return tuple(
        msgspec.structs.replace(each, values=each.named, high=len(each.named) - 1.0, unknown=False)
        if each.unknown and each.name in following
        else each
        for each in attributes
    )


def no_starting_points(domain: Domain) -> SpecError:
    """Return the error that says why none of a table's rows lies in the input domain."""
    if not domain.has_constraints:
        why = "Every row has a missing value or a value that is not allowed."
        remedy = "Widen the allowed values of the input domain."
    else:
        why = (
            "Every row has a missing value or a value that is not allowed, or breaks a constraint."
        )
        remedy = "Widen the allowed values of the input domain, or change or remove a constraint."
    return SpecError(
        "No row of the data lies in the input domain, so there are no starting points.",
        why=why,
        remedy=remedy,
    )
