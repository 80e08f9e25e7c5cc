"""The plan of an audit: who can be tested, and its first runs."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from fairdesk.app.plan import AuditPlan
from fairdesk.app.standard import (
    LIMITS,
    SECONDS,
    PlanKind,
    StandardPlan,
    StandardRuns,
    mitigation_method,
    planned,
    standard_runs,
    timed_run,
)
from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import METHODS, remark, why_off
from fairdesk.audit.plan.spec import AuditSpec, Budget, OptionValue, RunSpec
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
from fairdesk.errors import FairDeskError, SpecError
from fairdesk.wording.words import joined, number, plural, quoted

#: Tables of at most so many cells are looked through while the auditor waits.
AT_ONCE = 1_000_000
#: So many reasons for setting rows aside are named.
_MOST_NAMED = 6


class Choices(NamedTuple):
    """An auditor's choices about the people of a table."""

    attributes: tuple[Attribute, ...]
    constraints: tuple[str, ...]
    unseen: tuple[Attribute, ...] = ()
    companions: CompanionChoice = "auto"


@dataclass(frozen=True)
class Examined:
    """What became of an auditor's choices about people.

    Attributes
    ----------
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
    choices: Choices
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


def examine(table: Table, choices: Choices, *, queried: bool = True) -> Examined:
    """Make the domain and count the rows that can be tested. Slow for large tables.

    Parameters
    ----------
    queried : bool
        Whether there is a model to query: else no comparison is made, and nothing is learned of it.
    """
    found, (attributes, constraints, unseen, companions) = Support(), choices
    try:
        if queried:
            found = learn_support(attributes, table, constraints)
        support = chosen_support(found, companions, attributes)
        domain = constrained_domain(attributes, constraints, table, unseen, support)
        aside = domain.set_aside(table)
    except SpecError as error:
        return Examined(table, choices, found, error=error)
    return Examined(table, choices, found, domain, aside=aside)


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

    def people_choices(self) -> Choices:
        """Return what is chosen about people.

        Raises
        ------
        SpecError
            When an attribute does not fit its column.
        """
        constraints, companions = self.all_constraints(), self.companion_decisions()
        return Choices(self.attributes(), constraints, self.unseen(), companions)

    def examined(self) -> Examined | None:
        """Return who can be asked about; none while a large table is to be looked through first.

        Raises
        ------
        SpecError
            When an attribute does not fit its column.
        """
        table, choices, known = self.data(), self.people_choices(), self._examined
        if known is not None and known.table is table and known.choices == choices:
            return known
        if len(table.codes) * max(len(choices.attributes), 1) > AT_ONCE:
            return None
        self._examined = examine(table, choices, queried=not self.predictions)
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


class Length(IntEnum):
    """How long a search may take, in seconds; 0 is until the method is done."""

    QUICK = 60
    STANDARD = 600
    THOROUGH = 3600
    UNTIL_DONE = 0


@dataclass(frozen=True)
class Plan:
    """What the wizard is for: the audit's question, its first runs, and where it is kept.

    ``seconds`` is the time limit of all ``runs`` together; ``None`` for none.
    """

    audit: AuditSpec
    runs: tuple[RunSpec, ...]
    path: Path
    table: Table
    seconds: float | None = None


@dataclass
class RunsPlan(DomainPlan):
    """The plan of an audit and of its first runs.

    Attributes
    ----------
    kind : PlanKind
        A standard audit, or methods that the auditor chooses.
    chosen : list[str]
        Of a custom plan: the methods, in their order.
    method : str
        The method that the auditor looks at.
    options, seed, length, max_distance
        Of a custom plan; the seed of every plan.
    plausible : bool
        Of a custom plan: whether searches are kept to plausible pairs.
    edges : dict[str, tuple[float, ...]]
        For rules about groups: edges of the bins of protected numbers, where the auditor gave any.
    text : str, optional
        Of a custom plan: the column with the texts whose terms are compared; empty for groups of
        people. If none, texts where nothing is protected.
    terms : dict[str, tuple[str, ...]]
        Per category the terms, where they are not the paper's.
    repair : bool
        Whether what is found is to be repaired afterwards, where it can be.
    """

    kind: PlanKind = PlanKind.FULL
    chosen: list[str] = field(default_factory=list)
    method: str = "quick"
    options: dict[str, dict[str, OptionValue]] = field(default_factory=dict)
    seed: int = 0
    length: Length = Length.STANDARD
    max_distance: float | None = None
    plausible: bool = True
    edges: dict[str, tuple[float, ...]] = field(default_factory=dict)
    text: str | None = None
    terms: dict[str, tuple[str, ...]] = field(default_factory=dict)
    repair: bool = False
    _labels: tuple[Table, tuple[object, ...], str] | None = None

    def methods_off(self) -> dict[str, str]:
        """Say for each method that the model cannot serve why; those that it can are left out."""
        if self.card is None:
            return {}
        domain = None
        # what is wrong with the people is told on their own page
        with suppress(SpecError):
            domain = self.domain()
        reasons = {key: why_off(method, self.card, domain) for key, method in METHODS.items()}
        return {key: why for key, why in reasons.items() if why}

    def method_remarks(self) -> dict[str, str]:
        """Say what is special about methods here; those without are left out."""
        if self.card is None:
            return {}
        domain = None
        with suppress(SpecError):
            domain = self.domain()
        remarks = {key: remark(method, self.card, domain) for key, method in METHODS.items()}
        return {key: said for key, said in remarks.items() if said}

    def usable_methods(self) -> tuple[str, ...]:
        """Return the methods that the model can serve.

        A repair is none of them: it needs what another one has found.
        """
        off, repairs = self.methods_off(), QuestionKind.REPAIR
        return tuple(
            key
            for key, method in METHODS.items()
            if key not in off and method.answers is not repairs
        )

    # -- what is chosen -----------------------------------------------------------------------

    def choose_kind(self, kind: PlanKind) -> None:
        """Take another kind of plan; a custom one begins as the full one, to be changed."""
        self.kind = kind
        if kind is not PlanKind.CUSTOM or self.chosen:
            return
        # what is wrong with the people is told on their own page
        with suppress(SpecError):
            runs = standard_runs(StandardPlan(), self.spec(), self.data()).runs
            self.chosen = list(dict.fromkeys(run.method for run in runs))
            self.options |= {run.method: _without_time(run) for run in runs if run.options}
        self.method = next(iter(self.chosen or self.usable_methods()), self.method)

    def choose_methods(self, *methods: str) -> None:
        """Make a custom plan of these methods, in their order, and look at the first."""
        self.kind, self.chosen = PlanKind.CUSTOM, list(methods)
        self.method = next(iter(methods), self.method)

    def take_method(self, method: str, *, wanted: bool) -> None:
        """Take a method into a custom plan, at its end, or leave it out."""
        if wanted and method not in self.chosen:
            self.chosen.append(method)
        elif not wanted and method in self.chosen:
            self.chosen.remove(method)

    def move_method(self, method: str, by: int) -> None:
        """Move a method of a custom plan towards the end, or the beginning."""
        place = self.chosen.index(method)
        self.chosen.insert(max(0, place + by), self.chosen.pop(place))

    def set_option(self, name: str, value: OptionValue) -> None:
        """Give one of the parameters of the method that the auditor looks at."""
        self.options.setdefault(self.method, {})[name] = value

    # -- what it comes to ---------------------------------------------------------------------

    @property
    def limit(self) -> float | None:
        """The time limit of the whole audit in seconds; ``None`` for none."""
        if self.kind is PlanKind.CUSTOM:
            return float(self.length) or None
        return LIMITS[self.kind]

    def first_runs(self) -> StandardRuns:
        """Return the runs, each with the time that it has if none ends early.

        Raises
        ------
        SpecError
            As `AuditPlan.spec`.
        """
        return self.runs_of(self.kind)

    def runs_of(self, kind: PlanKind) -> StandardRuns:
        """Return what the runs would be with another kind of plan; raises like `first_runs`."""
        if kind is not PlanKind.CUSTOM:
            mitigate = self.repair and not self.repair_off(kind)
            plan = StandardPlan(kind, None, self.seed, mitigate, self._edges(), dict(self.terms))
            return standard_runs(plan, self.spec(), self.data())
        runs = [self.chosen_run(method) for method in self.chosen]
        repair = self.repair_method(kind)
        if self.repair and not self.repair_off(kind):
            runs.append(RunSpec(repair, dict(self.options.get(repair, {})), seed=self.seed))
        return StandardRuns(planned(runs, self.limit), {})

    def chosen_run(self, method: str) -> RunSpec:
        """Return a method's run of a custom plan, without a time limit.

        Only pairs are kept to those near the data: a share near the data is another figure.
        """
        pairs = METHODS[method].answers is QuestionKind.EXAMPLES
        distance = self.max_distance if pairs else None
        run = RunSpec(method, dict(self.options.get(method, {})), self.seed, Budget(), distance)
        rules = self._rules(method)
        return timed_run(msgspec.structs.replace(run, plausible=self.plausible, **rules))

    def _rules(self, key: str) -> dict[str, Any]:
        """Return what a method compares, where it is about groups: fields of its `RunSpec`."""
        method = METHODS[key]
        texts = self.text_names() if method.reads else ()
        protected = self._protected()
        text = self.text if self.text in ("", *texts) and protected else None
        if text is None:
            text = "" if protected else next(iter(texts), "")
        if text:
            return {"text": text, "terms": dict(self.terms)}
        return {"edges": self._edges()} if method.divides else {}

    def _protected(self) -> list[str]:
        return self.protected_names((*self.attribute_names(), *self.unseen_names()))

    def _edges(self) -> dict[str, tuple[float, ...]]:
        return {name: each for name, each in self.edges.items() if name in self._protected()}

    # -- what follows it --------------------------------------------------------------------

    def repair_method(self, kind: PlanKind | None = None) -> str:
        """Return the method that repairs what a kind of plan finds; empty where none does."""
        kind = kind or self.kind
        if kind is PlanKind.CUSTOM:
            return mitigation_method(self.chosen)
        # what is wrong with the people is told on their own page
        with suppress(SpecError):
            runs = standard_runs(StandardPlan(kind), self.spec(), self.data()).runs
            return mitigation_method(run.method for run in runs)
        return ""

    def repair_off(self, kind: PlanKind | None = None) -> str:
        """Say why nothing can be repaired afterwards; empty where something can."""
        if self.predictions:
            return "Not available: only decisions are present, so there is no model to retrain."
        method = self.repair_method(kind)
        if not method:
            return (
                "Not available: mitigation needs results to work from: a search for discriminatory "
                "pairs, to use its pairs, or “Subgroup discovery (TestSGD)”, to use the subgroup "
                "with the largest gap."
            )
        return self.methods_off().get(method, "") or self._labels_wrong()

    def _labels_wrong(self) -> str:
        """Say why the model's classes are no labels to train with; empty where they are."""
        from fairdesk.audit.runs.mitigation import check_labels  # noqa: PLC0415 - takes long to load

        known, about = self._labels, (self.label, self.favourable, self.card, self.mapping)
        if known is not None and known[0] is self.table and known[1] == about:
            return known[2]
        # what is wrong before is told on its own page
        with suppress(FairDeskError):
            audit, table = self.spec(), self.data()
            wrong = ""
            try:
                check_labels(audit, table)
            except SpecError as error:
                wrong = str(error)
            self._labels = (table, about, wrong)
            return wrong
        return ""


def _without_time(run: RunSpec) -> dict[str, OptionValue]:
    """Return a run's parameters without what its time limit sets."""
    return {name: value for name, value in run.options.items() if name != SECONDS}
