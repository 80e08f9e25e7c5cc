"""The new-audit wizard: five pages, a list of steps, and a way forward and back."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QDialog,
    QPushButton,
    QWidget,
)

from fairdesk.app.plan import Choice
from fairdesk.app.standard import PlanKind
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.store.store import Store
from fairdesk.audit.worker.client import Worker
from fairdesk.data.domain.attributes import Role
from fairdesk.data.table import Dialect
from fairdesk.errors import FairDeskError, StoreError, system_errors
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.dropping import Sort, Takes, sort_of
from fairdesk.gui.kit.pages import Look, Pages, StepList
from fairdesk.gui.kit.parts import (
    Hairline,
    Words,
    asked,
    in_order,
    push_button,
    quiet,
    resize_on_screen,
)
from fairdesk.gui.kit.settings import Settings
from fairdesk.gui.kit.threads import in_background
from fairdesk.gui.wizard.attributes.page import AttributesPage
from fairdesk.gui.wizard.data.page import DataPage
from fairdesk.gui.wizard.methods_page import ChecksPage
from fairdesk.gui.wizard.model.page import ModelPage
from fairdesk.gui.wizard.page import Desk, Page
from fairdesk.gui.wizard.review_page import ReviewPage
from fairdesk.gui.wizard.state.plans import Plan
from fairdesk.gui.wizard.state.wizard_state import Standing, Step, WizardState
from fairdesk.samples import Sample, SampleModel

#: Below this width the steps are shown by their numbers only.
_NARROW = 800
_NAMES = {
    Step.DATA: "Data",
    Step.MODEL: "Model",
    Step.ATTRIBUTES: "Attributes",
    Step.CHECKS: "Methods",
    Step.REVIEW: "Review",
}
_SPOKEN = {
    Standing.LOCKED: "not yet",
    Standing.OPEN: "open",
    Standing.DONE: "done",
    Standing.REDO: "to be checked again",
}
_GROUNDS = {Standing.DONE: "accent", Standing.REDO: "wrong"}
_MARKS = {Standing.DONE: "✓", Standing.REDO: "↻"}


class WizardSteps(StepList):
    """The steps.

    Signals
    -------
    asked : object
        The auditor wants to see this step.
    """

    asked = Signal(object)

    def __init__(self) -> None:
        super().__init__("Steps", room=2.9)
        for step in Step:
            self.add(_NAMES[step], Look(mark=str(step + 1)))
        self.currentRowChanged.connect(self._ask)
        self._showing = False

    def show_steps(
        self, current: Step, standings: dict[Step, Standing], notes: dict[Step, str]
    ) -> None:
        """Show how the steps stand; steps that cannot be entered yet cannot be chosen."""
        self._showing = True
        reached = True
        for step in Step:
            standing, here = standings[step], step is current
            redo = standing is Standing.REDO
            note = "check again" if redo else notes.get(step, "")
            mark = "" if here and not redo else _MARKS.get(standing, "")
            ground = _GROUNDS.get(standing, "accent" if here else "")
            tone = "wrong" if redo else "quiet"
            look = Look("", mark or str(step + 1), note, tone, ground)
            spoken = f"Step {step + 1}, {_NAMES[step]}, {_SPOKEN[standing]}. {note}".strip()
            self.show_look(step, look, spoken)
            usable = reached or step <= current
            flags = Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled
            self.item(step).setFlags(flags if usable else Qt.ItemFlag.NoItemFlags)
            reached = reached and standing is Standing.DONE
        self.setCurrentRow(current)
        self._showing = False

    def _ask(self, row: int) -> None:
        if not self._showing and row >= 0:
            self.asked.emit(Step(row))


def create(plan: Plan) -> Plan:
    """Write a new audit file. Runs in the background; the file is closed again.

    Raises
    ------
    StoreError
        When it cannot be written.
    """
    with system_errors(
        StoreError,
        f"The folder “{plan.path.parent}” cannot be created.",
        "Choose another location for the audit.",
    ):
        plan.path.parent.mkdir(exist_ok=True)
    with Store.create(plan.path, plan.audit, plan.table) as store:
        store.plan_runs(plan.runs)
    return plan


class Wizard(Takes, QDialog):
    """Asks what an audit needs to know, and makes its file.

    Parameters
    ----------
    model, clerk : Worker
        The process that holds the model, and the one that reads data.

    Signals
    -------
    created : Plan
        The audit's file is written; its first run can start on ``model``.
    """

    created = Signal(object)

    def __init__(
        self, model: Worker, clerk: Worker, settings: Settings, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("New audit")
        self.setAcceptDrops(True)
        self.state = WizardState()
        desk = Desk(self.state, model, clerk, settings)
        self.data, self.model = DataPage(desk), ModelPage(desk)
        self.attributes, self.checks, self.review = (
            AttributesPage(desk),
            ChecksPage(desk),
            ReviewPage(desk),
        )
        self.pages: dict[Step, Page] = {
            page.step: page
            for page in (self.data, self.model, self.attributes, self.checks, self.review)
        }
        self._sample: tuple[Sample, SampleModel] | None = None
        self._writing = self._rereading = False
        self.steps = WizardSteps()
        self.steps.asked.connect(self._go)
        self._scrolled = Pages(*self.pages.values())
        self._stack = self._scrolled.stack
        for page in self.pages.values():
            page.changed.connect(self._refresh)
        self.data.loaded.connect(self._data_read)
        self.model.proved.connect(self._sample_proved)
        self.model.reread.connect(self._read_for_model)
        self.data.failed.connect(self._data_failed)
        self.model.failed.connect(lambda: self._sample_failed(Step.MODEL))
        self._build()
        # forward through the page first, then the buttons, then the steps
        QWidget.setTabOrder(self._stack, self.back)
        QWidget.setTabOrder(self.back, self.at_once)
        QWidget.setTabOrder(self.at_once, self.next)
        QWidget.setTabOrder(self.next, self.steps)
        self._show()
        resize_on_screen(self, 1080, 760)

    # -- starting from something ----------------------------------------------------------------

    def takes(self, _path: Path) -> bool:
        """Return whether answers are still taken."""
        return not self._writing

    def take(self, path: Path) -> None:
        """Start with a file that was dropped: data or a model."""
        if sort_of(path) is Sort.MODEL:
            if self.state.may_enter(Step.MODEL):
                self._go(Step.MODEL)
            self.model.load(path)
        else:
            self._go(Step.DATA)
            self.data.load(path)

    def prefill(self, sample: Sample, model: SampleModel) -> None:
        """Answer everything as a built-in sample does, and stop at the review."""
        self._sample = (sample, model)
        self.state.step = Step.REVIEW
        self.state.title = sample.title
        self._show()
        self.review.busy.say("Reading the sample…")
        self.data.load(sample.data_path)

    def _read_for_model(self, dialect: Dialect) -> None:
        """Read the data as the model's encoder knows their values; the model waits for it."""
        self._rereading = True
        self.data.reread(dialect)

    def _data_read(self) -> None:
        if self._rereading:
            self._rereading = False
            self.model.go_on()
        else:
            self._sample_read()

    def _data_failed(self) -> None:
        if self._rereading:
            # that page says why; the model waits until its own is entered again
            self._rereading = False
            self._go(Step.DATA)
        self._sample_failed(Step.DATA)

    def _sample_read(self) -> None:
        if self._sample is None:
            return
        sample, model = self._sample
        self.state.person = sample.person
        self.state.set_label(sample.label)
        self.state.set_favourable(sample.favourable)
        for name in sample.protected:
            self.state.choose(name, Choice(role=Role.PROTECTED))
        self.review.busy.say("Opening the sample’s model…")
        self.model.load(sample.model_path(model))

    def _sample_proved(self) -> None:
        if self._sample is None:
            return
        self._end_sample(Step.DATA)
        while self.state.next():
            pass
        self._show()

    def _sample_failed(self, step: Step) -> None:
        if self._sample is not None:
            self._end_sample(step)
            self._show()

    def _end_sample(self, step: Step) -> None:
        self._sample = None
        self.review.busy.say("")
        self.state.step = step

    # -- building -------------------------------------------------------------------------------

    def _build(self) -> None:
        lead = self._lead = Words("New audit", size=1.12, strong=True)
        lead.setContentsMargins(theme.GAP + theme.NEAR, 0, 0, 0)
        side = layouts.panel(
            lead, layouts.grow(self.steps), margin=(0, theme.WIDE, 0, theme.GAP), spacing=theme.GAP
        )
        self._blocked = quiet()
        self.back = push_button("&Back", self._back)
        #: From the page of attributes on: all that follows has a default.
        self.at_once = push_button(
            "&Start audit",
            self._start_at_once,
            tip="Start with the plan as it stands, without the pages that follow",
        )
        self.next = QPushButton()
        self.next.setDefault(True)
        theme.fill(self.next)
        self.next.clicked.connect(self._next)
        for button in (self.back, self.at_once, self.next):
            button.setMinimumWidth(120)
        foot = layouts.row(
            layouts.grow(self._blocked),
            self.back,
            self.at_once,
            self.next,
            margin=(theme.PAGE, theme.GAP, theme.PAGE, theme.GAP),
            spacing=theme.GAP,
        )
        layouts.row(
            side,
            Hairline(),
            layouts.grow(layouts.column(layouts.grow(self._scrolled), foot, spacing=0)),
            on=self,
            spacing=0,
        )

    # -- going through --------------------------------------------------------------------------

    def _go(self, step: Step) -> None:
        if self.state.go(step):
            self._show()
        else:
            self._refresh()

    def _back(self) -> None:
        if self.state.back():
            self._show()

    def _next(self) -> None:
        if self.state.step is Step.REVIEW:
            self._start()
        elif self.state.next():
            self._show()

    def _show(self) -> None:
        page = self.pages[self.state.step]
        self._stack.setCurrentWidget(page)
        page.enter()
        in_order(*page.inputs(), self.back, self.at_once, self.next, self.steps)
        self._refresh()
        page.first_field().setFocus()

    def _refresh(self) -> None:
        state = self.state
        last = state.step is Step.REVIEW
        blocked = "" if self._sample is not None else state.blocked(state.step)
        waiting = self._writing or self._sample is not None
        self.next.setText("&Start audit" if last else "&Next")
        self.next.setEnabled(not blocked and not waiting)
        self.at_once.setVisible(state.step in (Step.ATTRIBUTES, Step.CHECKS))
        self.at_once.setEnabled(self.next.isEnabled())
        self.back.setEnabled(state.step is not Step.DATA and not waiting)
        self.steps.setEnabled(not waiting)
        self._blocked.setText(blocked)
        self.steps.show_steps(state.step, state.standings(), self._notes())
        self.pages[state.step].show_redo()

    def _notes(self) -> dict[Step, str]:
        """Say in a few words what each step was answered with."""
        state = self.state
        notes = {}
        if state.standings()[Step.CHECKS] is not Standing.LOCKED:
            notes[Step.CHECKS] = {
                PlanKind.QUICK: "Quick",
                PlanKind.FULL: "Full",
                PlanKind.CUSTOM: ", ".join(METHODS[method].title for method in state.chosen),
            }[state.kind]
        if state.table is not None:
            notes[Step.DATA] = Path(state.table.source.path).name
        if state.card is not None:
            notes[Step.MODEL] = state.predictions or Path(state.card.path).name
        protected = state.protected_names((*state.attribute_names(), *state.unseen_names()))
        notes[Step.ATTRIBUTES] = ", ".join(protected)
        return notes

    # -- ending ---------------------------------------------------------------------------------

    def _start_at_once(self) -> None:
        """Start with what the review would show; stay where something is missing or wrong."""
        while self.next.isEnabled() and self.state.next():
            self._show()
        if self.next.isEnabled():
            self._start()

    def _start(self) -> None:
        try:
            plan = self.state.plan()
        except FairDeskError as error:
            self.review.banner.tell(error)
            return
        self._writing = True
        self.review.banner.clear()
        self.review.busy.say("Writing the audit file…")
        self._refresh()
        in_background(self, lambda: create(plan), self._written, self._not_written)

    def _written(self, plan: Plan) -> None:
        self.review.busy.say("")
        super().accept()
        self.created.emit(plan)

    def _not_written(self, error: FairDeskError) -> None:
        self._writing = False
        self.review.busy.say("")
        self.review.banner.tell(error)
        self._refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Leave the pages the room that they need."""
        super().resizeEvent(event)
        narrow = self.width() < _NARROW
        self.steps.leave_room(narrow=narrow)
        self._lead.setVisible(not narrow)

    def reject(self) -> None:
        """Close; asks first when something was entered that would be lost."""
        if self._writing:
            return
        if self.state.touched and not asked(
            self,
            "Discard this new audit?",
            "What you have entered so far will be lost.",
            yes="&Discard",
            no="&Keep editing",
        ):
            return
        super().reject()
