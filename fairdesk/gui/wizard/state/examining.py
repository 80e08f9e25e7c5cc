"""Who of the data can be asked about, and who is set aside and why. Knows no Qt."""

from __future__ import annotations

from dataclasses import dataclass, field

from fairdesk.data.domain.attributes import Attribute
from fairdesk.data.domain.domain import Domain, ExcludedRows
from fairdesk.data.domain.feasibility import constrained_domain
from fairdesk.data.domain.support import CompanionChoice, Support, chosen_support, learn_support
from fairdesk.data.table import Table
from fairdesk.errors import SpecError
from fairdesk.wording.words import joined, number, plural, quoted

#: Tables of at most so many cells are looked through while the auditor waits.
AT_ONCE = 1_000_000
#: So many reasons for setting rows aside are named.
_MOST_NAMED = 6


@dataclass(frozen=True)
class Examined:
    """What became of an auditor's choices about people.

    Attributes
    ----------
    table, attributes, constraints, unseen, companions
        The choices.
    found : Support
        What the data support, with the companions that were found.
    domain : Domain, optional
        What came out.
    error : SpecError, optional
        Why nothing did.
    aside : tuple[Aside, ...]
        The rows that no search can start from.
    """

    table: Table
    attributes: tuple[Attribute, ...]
    constraints: tuple[str, ...]
    unseen: tuple[Attribute, ...] = ()
    companions: CompanionChoice = "auto"
    found: Support = field(default_factory=Support)
    domain: Domain | None = None
    error: SpecError | None = None
    aside: tuple[ExcludedRows, ...] = ()

    @property
    def people(self) -> int:
        """The number of rows from which a search can start."""
        if self.domain is None:
            return 0
        return len(self.table.codes) - sum(each.rows for each in self.aside)

    def is_of(
        self,
        table: Table,
        attributes: tuple[Attribute, ...],
        constraints: tuple[str, ...],
        unseen: tuple[Attribute, ...],
        companions: CompanionChoice,
    ) -> bool:
        """Return whether it came of these choices."""
        return (
            self.table is table
            and self.attributes == attributes
            and self.constraints == constraints
            and self.unseen == unseen
            and self.companions == companions
        )


def examine(
    table: Table,
    attributes: tuple[Attribute, ...],
    constraints: tuple[str, ...],
    unseen: tuple[Attribute, ...] = (),
    companions: CompanionChoice = "auto",
    *,
    queried: bool = True,
) -> Examined:
    """Make the domain and count the rows that can be tested. Slow for large tables.

    Parameters
    ----------
    queried : bool
        Whether there is a model to query: else no comparison is made, and nothing is learned of it.
    """
    found = Support()
    try:
        if queried:
            found = learn_support(attributes, table, constraints)
        support = chosen_support(found, companions, attributes)
        domain = constrained_domain(attributes, constraints, table, unseen, support)
        aside = domain.set_aside(table)
    except SpecError as error:
        return Examined(table, attributes, constraints, unseen, companions, found, error=error)
    return Examined(table, attributes, constraints, unseen, companions, found, domain, aside=aside)


def rows_sentence(examined: Examined, person: str) -> str:
    """Say how many rows can be asked about, and what becomes of the others: it adds up."""
    rows = len(examined.table.codes)
    if not examined.aside:
        return f"All {number(rows)} {plural(person)} are eligible for testing."
    most = sorted(examined.aside, key=lambda each: -each.rows)
    parts = [_reason(each) for each in most[:_MOST_NAMED]]
    if rest := sum(each.rows for each in most[_MOST_NAMED:]):
        parts.append(f"{number(rest)} for other reasons")
    return (
        f"{number(examined.people)} of {number(rows)} {plural(person)} are eligible for testing. "
        f"Excluded: {joined(parts)}."
    )


def _reason(aside: ExcludedRows) -> str:
    one = aside.rows == 1
    count = number(aside.rows)
    match aside.reason:
        case "missing":
            return f"{count} {'lacks' if one else 'lack'} {quoted(aside.what)}"
        case "outside":
            where = f"outside the allowed values of {quoted(aside.what)}"
            return f"{count} {'is' if one else 'are'} {where}"
        case "constraint":
            return f"{count} {'violates' if one else 'violate'} “{aside.what}”"
