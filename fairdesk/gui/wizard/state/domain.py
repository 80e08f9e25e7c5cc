"""The plan of an audit with who can be asked about, for tables that take long to look through."""

from __future__ import annotations

from dataclasses import dataclass, field

from fairdesk.app.plan import AuditPlan
from fairdesk.data.domain.attributes import EVERY_VALUE_UP_TO, Attribute, Role
from fairdesk.data.domain.constraints import parse
from fairdesk.data.domain.domain import Domain, ExcludedRows
from fairdesk.data.domain.feasibility import constrained_domain
from fairdesk.data.domain.formulas import Dependence
from fairdesk.data.domain.support import (
    CompanionChoice,
    CompanionValues,
    Support,
    chosen_support,
    learn_support,
)
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


#: Values are named where that takes at most so many letters.
_LISTED = 36


@dataclass
class DomainPlan(AuditPlan):
    """The plan of an audit whose domain is made once, and may be made elsewhere.

    Constraints can be taken back, and attributes that follow others are chosen by name.
    """

    _constraints_before: list[tuple[str, ...]] = field(default_factory=list)
    _examined: Examined | None = None
    _refused: tuple[Domain, str] | None = None

    def set_constraints(self, constraints: tuple[str, ...]) -> None:
        """Say what holds for everybody; `undo_constraints` takes it back."""
        if constraints != self.constraints:
            self._constraints_before.append(self.constraints)
            self.constraints = constraints

    def undo_constraints(self) -> bool:
        """Take the last change of the constraints back, if there was one."""
        if not self._constraints_before:
            return False
        self.constraints = self._constraints_before.pop()
        return True

    def decide_companions(self, decided: dict[str, CompanionValues]) -> None:
        """Say which attributes change with a protected one, of those that are decided."""
        self.companion_choice = decided or "auto"

    def companion_decisions(self) -> CompanionChoice:
        """Return what is decided of companions, as far as roles still allow it."""
        if not isinstance(self.companion_choice, dict):
            return self.companion_choice
        return {
            name: each
            for name, each in self.companion_choice.items()
            if self.choice(each.by).role is Role.PROTECTED and self.choice(name).role is Role.VARIES
        } or "auto"

    @property
    def constraints_can_be_undone(self) -> bool:
        """Whether the constraints were changed."""
        return bool(self._constraints_before)

    def determined_by(self) -> dict[str, str]:
        """Return which attributes follow which others, as the constraints say."""
        found: dict[str, str] = {}
        try:
            attributes = self.attributes()
        except SpecError:
            return found
        for text in self.all_constraints():
            try:
                said = parse(text, attributes)
            except SpecError:
                continue
            if isinstance(said, Dependence):
                found[said.attribute] = said.by
        return found

    def determine(self, name: str, by: str) -> None:
        """Let an attribute follow another; with an empty name, none."""
        before = self.determined_by().get(name, "")
        if by == before:
            return
        old = {Dependence(name, before).text} if before else set()
        kept = [text for text in self.constraints if self._canonical(text) not in old]
        self.set_constraints((*kept, Dependence(name, by).text) if by else tuple(kept))

    def _canonical(self, text: str) -> str:
        try:
            return parse(text, self.attributes()).text
        except SpecError:
            return text

    def examined(self) -> Examined | None:
        """Return who can be asked about; none while a large table is to be looked through first.

        Raises
        ------
        SpecError
            When an attribute does not fit its column.
        """
        table, attributes, unseen = self.data(), self.attributes(), self.unseen()
        known = self._examined
        choices = attributes, self.all_constraints(), unseen, self.companion_decisions()
        if known is not None and known.is_of(table, *choices):
            return known
        if len(table.codes) * max(len(attributes), 1) > AT_ONCE:
            return None
        self._examined = examine(table, *choices, queried=not self.predictions)
        return self._examined

    def set_examined(self, examined: Examined) -> None:
        """Take what came of looking through a large table."""
        self._examined = examined

    def refuse(self, domain: Domain, why: SpecError) -> None:
        """Take word that nobody fulfils what a domain asks for."""
        self._refused = (domain, str(why))

    def refused(self, domain: Domain) -> str:
        """Say why nobody fulfils what a domain asks for; empty unless that is known."""
        return self._refused[1] if self._refused and self._refused[0] == domain else ""

    def domain(self) -> Domain:
        """Make the domain.

        Raises
        ------
        SpecError
            When nothing can be compared, with what to change; or while it is not known yet.
        """
        examined = self.examined()
        if examined is None:
            raise SpecError("The rows eligible for testing are being counted.")
        if examined.domain is None:
            raise examined.error or SpecError(
                "No row is eligible for testing. Widen the allowed values or relax a constraint."
            )
        return examined.domain

    def people(self) -> int:
        """Count the rows of the data from which a search can start.

        Raises
        ------
        SpecError
            As `domain`.
        """
        self.domain()
        examined = self.examined()
        return examined.people if examined is not None else 0

    def combinations(self) -> int:
        """Count the combinations of protected values; 0 when nothing is protected."""
        count, any_protected = 1, False
        for name in self.attribute_names():
            if self.choice(name).role is Role.PROTECTED:
                any_protected = True
                try:
                    count *= len(self.attribute(name).compared)
                except SpecError:
                    return 0
        return count if any_protected else 0


def _count(attribute: Attribute) -> int:
    """Count the values that a number with a step can have; 0 where it can have any."""
    if not attribute.spacing:
        return 0
    return round((attribute.high - attribute.low) / attribute.spacing) + 1


def compared_choices(attribute: Attribute) -> bool:
    """Return whether the auditor can choose between each value and some across the range."""
    return not attribute.values and _count(attribute) > EVERY_VALUE_UP_TO


def compared_text(attribute: Attribute) -> str:
    """Say which values of a protected attribute are compared."""
    count = len(attribute.compared)
    named = joined(attribute.values) if count == len(attribute.values) else ""
    if named and len(named) <= _LISTED:
        return named
    if attribute.values or count == _count(attribute):
        return f"each of its {count} values"
    return f"{count} values across its range"
