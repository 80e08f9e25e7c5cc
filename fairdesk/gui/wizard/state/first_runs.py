"""The plan of an audit with its first runs: which methods can be used, and what repairs after."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any

import msgspec

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
from fairdesk.data.table import Table
from fairdesk.errors import FairDeskError, SpecError
from fairdesk.gui.wizard.state.domain import DomainPlan


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
