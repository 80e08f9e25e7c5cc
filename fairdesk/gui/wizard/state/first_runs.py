"""The plan of an audit with its first runs: which methods can be used, and what repairs after."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any

import msgspec

from fairdesk.app.time_limits import timed_run
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
    """What the wizard is for: the audit's question, its first runs, and where it is kept."""

    audit: AuditSpec
    run: RunSpec
    path: Path
    table: Table
    repair: RunSpec | None = None

    @property
    def runs(self) -> tuple[RunSpec, ...]:
        """The runs, in their order."""
        return (self.run,) if self.repair is None else (self.run, self.repair)


@dataclass
class RunsPlan(DomainPlan):
    """The plan of an audit and of its first runs.

    Attributes
    ----------
    method, options, seed, length, max_distance
        The search.
    edges : dict[str, tuple[float, ...]]
        For rules about groups: edges of the bins of protected numbers, where the auditor gave any.
    text : str, optional
        The column with the texts whose terms are compared; empty for groups of people. If none,
        texts where nothing is protected.
    terms : dict[str, tuple[str, ...]]
        Per category the terms, where they are not the paper's.
    repair : bool
        Whether what is found is to be repaired afterwards, where it can be.
    """

    method: str = "quick"
    options: dict[str, dict[str, OptionValue]] = field(default_factory=dict)
    seed: int = 0
    length: Length = Length.STANDARD
    max_distance: float | None = None
    edges: dict[str, tuple[float, ...]] = field(default_factory=dict)
    text: str | None = None
    terms: dict[str, tuple[str, ...]] = field(default_factory=dict)
    repair: bool = False
    _settled: str = ""
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
        """Return the methods that the model can serve; the first of them is the usual one.

        A repair is none of them: it needs what another one has found.
        """
        off, repairs = self.methods_off(), QuestionKind.REPAIR
        return tuple(
            key
            for key, method in METHODS.items()
            if key not in off and method.answers is not repairs
        )

    def settle_method(self) -> None:
        """Choose another method where the chosen one is off, until the usual one can be used."""
        usable = self.usable_methods()
        if usable and (self.method not in usable or self.method == self._settled):
            self.method = self._settled = usable[0]

    def choose_method(self, method: str) -> None:
        """Take a method that the auditor chose."""
        self.method, self._settled = method, ""

    def set_option(self, name: str, value: OptionValue) -> None:
        """Give one of the chosen method's parameters."""
        self.options.setdefault(self.method, {})[name] = value

    def run_spec(self) -> RunSpec:
        """Return the first run."""
        seconds = float(self.length) if self.length else None
        run = RunSpec(
            method=self.method,
            options=dict(self.options.get(self.method, {})),
            seed=self.seed,
            budget=Budget(seconds=seconds),
            max_distance=self.max_distance,
        )
        return timed_run(msgspec.structs.replace(run, **self._rules()))

    def _rules(self) -> dict[str, Any]:
        """Return what the method compares, where it is about groups: fields of its `RunSpec`."""
        method = METHODS[self.method]
        seen, unseen = self.attribute_names(), self.unseen_names()
        texts = self.text_names() if method.reads else ()
        protected = self.protected_names((*seen, *unseen))
        text = self.text if self.text in ("", *texts) and protected else None
        if text is None:
            text = "" if protected else next(iter(texts), "")
        if text:
            return {"text": text, "terms": dict(self.terms)}
        if not method.divides:
            return {}
        return {"edges": {name: each for name, each in self.edges.items() if name in protected}}

    # -- what follows it --------------------------------------------------------------------

    def repair_method(self) -> str:
        """Return the method that repairs what the chosen one finds; empty where none does."""
        if METHODS[self.method].answers is QuestionKind.EXAMPLES:
            return "repair-aequitas"
        return "repair-testsgd" if self.method == "testsgd" else ""

    def repair_off(self) -> str:
        """Say why nothing can be repaired afterwards; empty where something can."""
        if self.predictions:
            return (
                "Not available: only the model’s decisions are present, so there is no model to "
                "retrain."
            )
        method = self.repair_method()
        if not method:
            return (
                "Not available: mitigation needs results to work from. Above, choose a search for "
                "discriminatory pairs, to use its pairs, or “Subgroup discovery (TestSGD)”, to use "
                "the subgroup with the largest gap."
            )
        return self.methods_off().get(method, "") or self._labels_wrong()

    def repair_spec(self) -> RunSpec | None:
        """Return the run that repairs what the first one finds; ``None`` where none is wanted."""
        if not self.repair or self.repair_off():
            return None
        method = self.repair_method()
        return RunSpec(method, dict(self.options.get(method, {})), seed=self.seed)

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
