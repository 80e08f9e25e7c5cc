"""Which comparisons the data support: what no row has is not compared, and companions change too.

For a row and another combination of protected values, the comparison is supported where the
changed row has no pair of values that the data never have together, where its protected values are
those of enough rows, and where attributes that say the same as a protected one have changed with
it (`fairdesk.data.domain.companions`).
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from fairdesk.data.domain.absent import absent_combinations
from fairdesk.data.domain.attributes import Attribute, Role, encode
from fairdesk.data.domain.companions import Companion, find_companions
from fairdesk.data.domain.constraint_truth import Dependence
from fairdesk.data.domain.constraints import parse
from fairdesk.data.table import Table
from fairdesk.results.events import Rows

#: A protected value is compared with when at least this share of the rows has it ...
LEAST_SHARE = 0.02
#: ... and so many rows: the limits of group tables.
LEAST_ROWS = 30


class Support(msgspec.Struct, frozen=True):
    """What limits the comparisons between counterfactuals, learned from the data.

    Attributes
    ----------
    constraints : tuple[str, ...]
        Pairs of a protected and an unprotected value that no row has, and attributes that are
        determined by a protected one, as `fairdesk.data.domain.constraints` writes them.
    companions : tuple[Companion, ...]
        Attributes that change with a protected one.
    proposed : tuple[Companion, ...]
        Found, and neither confirmed nor refused: rows that they concern are compared with none.
    rare : tuple[tuple[str, float], ...]
        Protected attributes and their codes that too few rows have to be compared with.
    """

    constraints: tuple[str, ...] = ()
    companions: tuple[Companion, ...] = ()
    proposed: tuple[Companion, ...] = ()
    rare: tuple[tuple[str, float], ...] = ()

    def __bool__(self) -> bool:
        """Return whether anything is limited."""
        return bool(self.constraints or self.companions or self.proposed or self.rare)


def learn_support(
    attributes: Sequence[Attribute], table: Table, constraints: Sequence[str] = ()
) -> Support:
    """Learn from the data which comparisons they support.

    Parameters
    ----------
    attributes : sequence of Attribute
        Of the domain.
    constraints : sequence of str
        Those of the auditor: what they exclude is not found again.

    Returns
    -------
    Support
        Companions that are certain, the others as proposed.
    """
    rows = encode(attributes, table)
    found = find_companions(attributes, rows)
    absent = absent_combinations(attributes, table, constraints, of_protected=True)
    parsed = (parse(each.constraint, attributes) for each in absent)
    determined = {each.attribute for each in parsed if isinstance(each, Dependence)}
    found = tuple(each for each in found if each.attribute not in determined)
    return Support(
        tuple(each.constraint for each in absent),
        tuple(each for each in found if each.certain),
        tuple(each for each in found if not each.certain),
        tuple(
            (attribute.name, code)
            for i, attribute in enumerate(attributes)
            if attribute.role is Role.PROTECTED
            for code in _rare(attribute, rows[:, i])
        ),
    )


def _rare(attribute: Attribute, codes: Rows) -> tuple[float, ...]:
    """Return the compared codes that too few rows have; none where fewer than two are left."""
    known = codes[~np.isnan(codes)]
    counts = np.bincount(attribute.nearest_compared(known), minlength=len(attribute.compared))
    enough = counts >= max(LEAST_ROWS, LEAST_SHARE * len(known))
    if enough.sum() < 2:
        return ()
    return tuple(np.array(attribute.compared)[~enough].tolist())
