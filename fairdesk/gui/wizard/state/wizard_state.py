"""The new-audit wizard without a window: what has been answered, what is missing, what is next.

The pages put answers in and show what comes out; nothing here draws, waits or opens a model.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path

import msgspec
import numpy as np

from fairdesk.app.plan import TEXT, AuditPlan, Choice
from fairdesk.app.standard import PlanKind
from fairdesk.audit.catalogue.methods import parse_options
from fairdesk.audit.sandbox.folders import Confinement
from fairdesk.data.profiling.outcomes import favourable_rows
from fairdesk.data.table import Table
from fairdesk.errors import FairDeskError, SpecError
from fairdesk.gui.wizard.state.plans import Plan, RunsPlan
from fairdesk.models.inputs.input_check import InputCheck
from fairdesk.models.model import Companion, Mapping, ModelCard
from fairdesk.wording.words import listed

#: A label's values are listed up to so many; names with more hold no decision.
MOST_LABEL_VALUES = 50
#: The ending of an audit's file.
SUFFIX = ".fairdesk"


class Step(IntEnum):
    """The wizard's pages, in order."""

    DATA = 0
    MODEL = 1
    ATTRIBUTES = 2
    CHECKS = 3
    REVIEW = 4


class Standing(IntEnum):
    """How a step stands, for the list of steps."""

    LOCKED = 0
    """Something before it is not answered yet."""
    OPEN = 1
    """It can be answered."""
    DONE = 2
    """It is answered."""
    REDO = 3
    """It was answered, but something before it changed since."""


@dataclass
class WizardState(RunsPlan):
    """Everything that has been answered so far, of the audit's plan and of its first runs.

    Change it through its methods only: they mark what has to be looked at again. What is chosen of
    an attribute is set by `fairdesk.app.plan.AuditPlan.choose`, which it inherits.

    Attributes
    ----------
    step : Step
        The page on screen.
    companions : list[Companion]
        The files beside the model that tell how it is fed.
    output : str
        Which of the model's outputs decides, where it has several; else empty.
    environment : str
        The environment that the model is opened in, where it is not FairDesk's own; else empty.
    confinement : Confinement, optional
        What the process that holds the model cannot do on this computer, once it has told.
    path : Path, optional
        Where it is kept.
    redo : dict[Step, str]
        Steps that were answered and must be looked at again, with the reason in a sentence.
    """

    step: Step = Step.DATA
    companions: list[Companion] = field(default_factory=list)
    output: str = ""
    environment: str = ""
    confinement: Confinement | None = None
    path: Path | None = None
    redo: dict[Step, str] = field(default_factory=dict)
    _answered: set[Step] = field(default_factory=set)
    _labelled: tuple[Table, str, tuple[str, ...]] | None = None
    _outcome: tuple[Table, tuple[str, str], tuple[int, int]] | None = None

    # -- the data ---------------------------------------------------------------------------

    def set_table(self, table: Table) -> None:
        """Take a table that was read, or read in another way, or that has another kind somewhere.

        The label and all choices are kept as far as the columns that they are about are there.
        """
        before = self.table
        self.table = table
        if self.label not in self.label_candidates():
            self.label = ""
        if self.favourable and not self._has_outcome():
            self.favourable = ""
        if before is None:
            return
        what = "The data are now read differently"
        if before.source.path != table.source.path:
            what = "The data file changed"
        elif before.source.dialect == table.source.dialect:
            changed = _changed(before, table)
            if not changed:
                return
            what = f"The type of {listed(changed)} changed"
        gone = [name for name in self.choices if not _same_column(name, before, table)]
        for name in gone:
            kept = self.choices.pop(name)
            if name in table.names:
                self.choices[name] = Choice(role=kept.role)
        self.forget_mapping()
        self._mark(Step.MODEL, f"{what}: check how its columns are mapped to the model’s inputs.")
        self._mark(Step.ATTRIBUTES, f"{what}: check the attributes and their values again.")

    def set_label(self, label: str) -> None:
        """Say which column holds the decision or the truth."""
        if label == self.label:
            return
        self.label = label
        self.favourable = ""
        self.forget_mapping()
        self._mark(Step.MODEL, "The recorded outcome changed: check the model’s inputs again.")
        self._mark(Step.ATTRIBUTES, "The recorded outcome changed: check the attributes again.")

    def set_favourable(self, value: str) -> None:
        """Say which value of the label is good to get; several, or from which number on, too.

        As `fairdesk.data.profiling.outcomes` reads it: ``"yes"``, ``"good or fair"``, ``">= 50"``.
        """
        if value == self.favourable:
            return
        self.favourable = value
        self.forget_mapping()
        self._mark(
            Step.MODEL,
            "The favourable outcome changed: check that the model’s favourable decision "
            "corresponds to it.",
        )

    def label_candidates(self) -> tuple[str, ...]:
        """Return the columns that can hold a decision: numbers, or at most `MOST_LABEL_VALUES`."""
        if self.table is None:
            return ()
        return tuple(
            column.name
            for column in self.table.columns
            if (column.kind.is_number and column.low < column.high)
            or 2 <= len(column.values) <= MOST_LABEL_VALUES
        )

    def label_values(self) -> tuple[str, ...]:
        """Return the label's values as the file writes them; none of a number with many."""
        if self.table is None or not self.label:
            return ()
        known = self._labelled
        if known is None or known[0] is not self.table or known[1] != self.label:
            known = (self.table, self.label, _values(self.table, self.table.index(self.label)))
            self._labelled = known
        return known[2]

    def outcome(self) -> tuple[int, int]:
        """Count the rows with the favourable outcome, and those with any.

        Raises
        ------
        FairDeskError
            When nothing is chosen yet, or the column has no such outcome.
        """
        table, asked = self.data(), (self.label, self.favourable)
        known = self._outcome
        if known is None or known[0] is not table or known[1] != asked:
            good, decided = favourable_rows(table, *asked)
            counts = (int(np.count_nonzero(good)), int(np.count_nonzero(decided)))
            known = self._outcome = (table, asked, counts)
        return known[2]

    # -- the model --------------------------------------------------------------------------

    def set_model(self, card: ModelCard, *, trusted: bool) -> None:
        """Take a model that was opened."""
        changed = self.card is not None and (
            msgspec.structs.replace(self.card, repeatability=card.repeatability) != card
        )
        self.card = card
        self.trusted = trusted
        if changed:
            self.forget_mapping()
            self._mark(Step.ATTRIBUTES, "The model changed: check the attributes that it uses.")

    def clear_model(self) -> None:
        """Forget the model: another one is being opened, or it could not be."""
        if self.card is None:
            return
        self.card = None
        self.trusted = False
        self.predictions = self.output = self.environment = ""
        self.companions = []
        self.forget_mapping()
        self._mark(Step.MODEL, "")
        self._mark(Step.ATTRIBUTES, "The model changed: check the attributes that it uses.")

    def set_mapping(self, mapping: Mapping) -> None:
        """Say how columns become the model's inputs; the proof has to be made anew."""
        if self.mapping is not None:
            # what its decisions are called holds however the model is fed
            mapping = msgspec.structs.replace(mapping, names=self.mapping.names)
        if mapping == self.mapping:
            return
        before = self.attribute_names()
        self.mapping = mapping
        self.proof = None
        # what nobody has changed is a guess
        if self.person == AuditPlan.person and self.only_texts:
            self.person = TEXT
        if before and self.attribute_names() != before:
            self._mark(Step.ATTRIBUTES, "The model’s inputs changed: check the attributes again.")

    def name_decisions(self, names: tuple[str, ...]) -> None:
        """Say what the model's classes are called for people; without names as it calls them."""
        if self.mapping is not None:
            self.mapping = msgspec.structs.replace(self.mapping, names=names)

    def forget_mapping(self) -> None:
        """Forget how inputs are made: something about that is open or wrong."""
        self.mapping = None
        self.proof = None

    def set_predictions(self, column: str, card: ModelCard, mapping: Mapping) -> None:
        """Take a column of decisions in place of a model."""
        self.clear_model()
        self.predictions = column
        self.card = card
        self.set_mapping(mapping)

    def set_proof(self, proof: InputCheck) -> None:
        """Take what came of trying the model on the rows."""
        self.proof = proof
        if self.card is not None:
            self.card = msgspec.structs.replace(self.card, repeatability=proof.repeatability)

    # -- where it is kept -------------------------------------------------------------------

    def suggest_path(self, folder: Path) -> Path:
        """Return a file name after the title that is not taken yet."""
        stem = re.sub(r"[^\w\- ,]+", "_", self.suggest_title()).strip(" _.") or "Audit"
        path = folder / f"{stem}{SUFFIX}"
        number = 2
        while path.exists():
            path = folder / f"{stem} {number}{SUFFIX}"
            number += 1
        return path

    # -- going through the steps ------------------------------------------------------------

    def blocked(self, step: Step) -> str:
        """Say in a sentence what keeps a step from being complete; empty when nothing does."""
        return (
            self._data_blocked,
            self._model_blocked,
            self._people_blocked,
            self._checks_blocked,
            self._review_blocked,
        )[step]()

    def standings(self) -> dict[Step, Standing]:
        """Return how each step stands."""
        found: dict[Step, Standing] = {}
        reached = True
        for step in Step:
            if step in self.redo:
                found[step] = Standing.REDO
            elif not reached:
                found[step] = Standing.LOCKED
            elif step in self._answered and not self.blocked(step):
                found[step] = Standing.DONE
            else:
                found[step] = Standing.OPEN
            reached = reached and found[step] is Standing.DONE
        return found

    def may_enter(self, step: Step) -> bool:
        """Return whether a step can be shown: all steps before it are answered, or it is behind."""
        standings = self.standings()
        return step <= self.step or all(
            standings[before] is Standing.DONE for before in Step if before < step
        )

    def go(self, step: Step) -> bool:
        """Show a step if it may be shown; going back loses nothing."""
        if not self.may_enter(step):
            return False
        self.step = step
        return True

    def next(self) -> bool:
        """Take the step on screen as answered and go on, unless something blocks it."""
        if self.blocked(self.step) or self.step is Step.REVIEW:
            return False
        self._answered.add(self.step)
        self.redo.pop(self.step, None)
        self.step = Step(self.step + 1)
        return True

    def back(self) -> bool:
        """Go to the step before."""
        if self.step is Step.DATA:
            return False
        self.step = Step(self.step - 1)
        return True

    @property
    def touched(self) -> bool:
        """Whether something was entered that closing would lose."""
        return self.table is not None or self.card is not None

    def plan(self) -> Plan:
        """Return what was asked for.

        Raises
        ------
        SpecError
            When a step is not complete, with the first reason.
        """
        for step in Step:
            if why := self.blocked(step):
                raise SpecError("The audit cannot start yet.", why=why)
        if self.path is None:  # for the type checker
            raise SpecError("The audit cannot start yet.")
        return Plan(self.spec(), self.first_runs().runs, self.path, self.data(), self.limit)

    # -- inside -----------------------------------------------------------------------------

    def _data_blocked(self) -> str:
        if self.table is None:
            return "Choose a data file first."
        if not self.label_candidates():
            return "No column can be the recorded outcome: it needs at least two different values."
        if not self.person.strip():
            return "Enter what each row is, for example “applicant”."
        if not self.label:
            return "Choose the column with the recorded outcome."
        return self._outcome_blocked()

    def _outcome_blocked(self) -> str:
        if not self.favourable:
            return f"Choose the favourable outcome: a value of “{self.label}”."
        try:
            good, known = self.outcome()
        except FairDeskError as error:
            return str(error)
        if good in (0, known):
            who = "Every row" if good else "No row"
            return f"{who} has the outcome “{self.favourable}”: choose one that only some have."
        return ""

    def _model_blocked(self) -> str:
        if self.card is None:
            return "Choose a model file first."
        if self.mapping is None:
            return "The model’s inputs are not mapped to the data yet."
        if self.proof is None:
            return "The model has not been tested on your rows yet."
        if guessed := self.mapping.guessed:
            return f"Confirm the numbers that the model receives for {listed(guessed)}."
        return ""

    def _people_blocked(self) -> str:
        try:
            people = self.people()
            refused = self.refused(self.domain())
        except SpecError as error:
            return str(error)
        if refused:
            return refused
        if not people:
            return (
                "No row of the data is complete, within the allowed values and consistent with "
                "the constraints. Widen the allowed values or relax a constraint."
            )
        return ""

    def _checks_blocked(self) -> str:
        from fairdesk.audit.runs.run import check_rules  # noqa: PLC0415 - takes long to load

        if self.kind is PlanKind.CUSTOM and not self.chosen:
            return "Choose at least one method."
        off = self.methods_off()
        try:
            for method in self.chosen if self.kind is PlanKind.CUSTOM else ():
                if why := off.get(method):
                    return why
                parse_options(method, self.options.get(method, {}))
            made = self.first_runs()
            for run in made.runs:
                check_rules(run, self.domain())
        except SpecError as error:
            return str(error)
        return "" if made.runs else next(iter(made.left_out.values()), "")

    def _review_blocked(self) -> str:
        if self.path is None:
            return "Choose where to save the audit."
        if self.path.suffix != SUFFIX:
            return f"The file’s name must end in “{SUFFIX}”."
        if not (self.path.parent.is_dir() or self.path.parent.parent.is_dir()):
            return f"There is no folder “{self.path.parent}”."
        if self.path.exists():
            return f"There is already a file “{self.path.name}”: choose another name."
        return ""

    def _has_outcome(self) -> bool:
        """Return whether the label still has the favourable outcome."""
        try:
            self.outcome()
        except FairDeskError:
            return False
        return True

    def _mark(self, step: Step, reason: str) -> None:
        """Mark an answered step as one to look at again."""
        if step in self._answered:
            self._answered.discard(step)
            if reason:
                self.redo[step] = reason


def _values(table: Table, index: int) -> tuple[str, ...]:
    """Return a column's values as text; for a number those that occur, none if they are many."""
    column = table.columns[index]
    if not column.kind.is_number:
        return column.values
    codes = table.codes[:, index]
    # most columns of numbers show on a few rows that they hold too many
    for some in (codes[:1000], codes):
        found = np.unique(some[~np.isnan(some)])
        if len(found) > MOST_LABEL_VALUES:
            return ()
    return tuple(column.text(code) for code in found.tolist())


def _same_column(name: str, before: Table, after: Table) -> bool:
    return (
        name in before.names and name in after.names and before.column(name) == after.column(name)
    )


def _changed(before: Table, after: Table) -> list[str]:
    """Name the columns whose kind changed."""
    kinds = {column.name: column.kind for column in before.columns}
    return [column.name for column in after.columns if kinds.get(column.name) != column.kind]
