"""Step 4: the methods. A standard audit, or methods that the auditor chooses, and a time limit."""

from __future__ import annotations

from contextlib import suppress

from PySide6.QtCore import QSignalBlocker, QTimer
from PySide6.QtWidgets import QButtonGroup, QCheckBox, QRadioButton, QSpinBox, QWidget

from fairdesk.app.standard import PlanKind
from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.plan.spec import OptionValue
from fairdesk.errors import SpecError
from fairdesk.gui.forms.method_picker import MethodPicker
from fairdesk.gui.forms.near_field import NearField
from fairdesk.gui.forms.rules_form import RulesForm
from fairdesk.gui.forms.timing import ending
from fairdesk.gui.help.choice_dialog import ChoiceDialog
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.parts import (
    Card,
    Words,
    calm,
    heading,
    labelled,
    open_dialog,
    push_button,
    quiet,
    scrolled,
)
from fairdesk.gui.wizard.methods.cards import KindCards
from fairdesk.gui.wizard.methods.order import MethodOrder
from fairdesk.gui.wizard.page import Desk, Page
from fairdesk.gui.wizard.state.first_runs import Length
from fairdesk.gui.wizard.state.wizard_state import Step

_LENGTHS = {
    Length.QUICK: "&1 minute",
    Length.STANDARD: "10 &minutes",
    Length.THOROUGH: "1 &hour",
    Length.UNTIL_DONE: "&Until completion",
}
#: What a repair begins with, and where more of it is asked.
_AFTERWARDS = (
    "It comes last and uses the default parameters. Choose how augmentation rows are labelled, "
    "and how many there are, on the Mitigation page, where it can be run again."
)


class ChecksPage(Page):
    """The fourth page."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(
            desk, Step.CHECKS, "Methods", "Choose what the audit answers, and how long it may take."
        )
        self.figure = push_button("&Which figure do I need?", self._ask_figure, auto_default=False)
        self.beside_title.insertWidget(1, self.figure)
        self.kinds = KindCards()
        self.picker = MethodPicker(several=True)
        self.order = MethodOrder()
        self.rules = RulesForm()
        self._budget = self._budget_card()
        self.custom = layouts.panel(
            self.picker, self.rules, self.order, self._budget, spacing=theme.GAP
        )
        self.repair = QCheckBox("And m&itigate what is found")
        self.repair.toggled.connect(self._choose_repair)
        self._left_out = Card()
        self._reasons = Words(tone="quiet")
        self._left_out.body.addWidget(heading("Left out"))
        self._left_out.body.addWidget(self._reasons)
        inside = layouts.panel(
            self.kinds,
            self.custom,
            self._repair_card(),
            self._left_out,
            layouts.stretch(),
            margin=(0, 0, theme.GAP, 0),
            spacing=theme.GAP,
        )
        area = scrolled(inside)
        # once the layout has made room for what was opened
        self.picker.opened.connect(
            lambda: QTimer.singleShot(50, area, lambda: area.ensureWidgetVisible(self.picker))
        )
        self.kinds.chosen.connect(self._choose_kind)
        self.picker.taken.connect(self._take_method)
        self.picker.chosen.connect(self._look_at)
        self.picker.option_set.connect(self._choose_option)
        self.order.moved.connect(self._move)
        self.order.shown.connect(self._look_at)
        self.rules.changed.connect(self._choose_rules)
        self.body.addWidget(area, 1)

    def enter(self) -> None:
        """Show the answers."""
        super().enter()
        state = self.state
        for length, button in self.lengths.items():
            button.setChecked(length is state.length)
        with QSignalBlocker(self.seed):
            self.seed.setValue(state.seed)
        self.near.show_value(state.max_distance, state.person, plausible=state.plausible)
        self._show_kind()

    def first_field(self) -> QWidget:
        """Return what has the keyboard when the page comes on screen."""
        return self.kinds.cards[self.state.kind].button

    # -- showing ------------------------------------------------------------------------------

    def _show_kind(self) -> None:
        """Show what belongs to the kind of plan."""
        state = self.state
        self.custom.setVisible(state.kind is PlanKind.CUSTOM)
        if state.kind is PlanKind.CUSTOM:
            off, remarks = state.methods_off(), state.method_remarks()
            self.picker.show_methods(state.method, state.options, off, remarks, state.chosen)
            self._fit_method()
        self._show_runs()

    def _show_runs(self) -> None:
        """Show what the plan comes to: which questions, which runs, what is left out and why."""
        state = self.state
        self._show_repair()
        # what is wrong with the people, or a parameter, is told below the page
        with suppress(SpecError):
            made = {kind: state.runs_of(kind) for kind in PlanKind}
            answers = {
                kind: {METHODS[run.method].answers for run in each.runs}
                for kind, each in made.items()
            }
            self.kinds.show_kinds(state.kind, answers)
            self.order.show_runs(state.chosen, made[state.kind].runs, state.method)
            # those of a mitigation stand beside its box
            reasons = [
                why
                for method, why in made[state.kind].left_out.items()
                if method != state.repair_method()
            ]
            self._reasons.setText("\n".join(reasons))
            self._left_out.setVisible(bool(reasons))

    def _fit_method(self) -> None:
        """Say when the method that is looked at ends, and ask what else it has to know."""
        state = self.state
        self._ends.setText(ending(state.method))
        self.near.offer_plausible(offered=any(METHODS[method].seeks for method in state.chosen))
        self.near.setVisible(
            any(METHODS[method].answers is QuestionKind.EXAMPLES for method in state.chosen)
        )
        # what is wrong with the people is told on their own page
        with suppress(SpecError):
            if state.table is not None:
                columns, run = state.table.columns, state.chosen_run(state.method)
                self.rules.show_run(run, state.domain(), columns, state.person)

    # -- building -----------------------------------------------------------------------------

    def _budget_card(self) -> Card:
        card = Card()
        card.body.setSpacing(theme.GAP)
        card.body.addWidget(heading("Time limit of all methods together"))
        row = layouts.row(spacing=theme.PAGE)
        group = QButtonGroup(self)
        self.lengths: dict[Length, QRadioButton] = {}
        for length, words in _LENGTHS.items():
            button = QRadioButton(words)
            group.addButton(button)
            self.lengths[length] = button
            row.addWidget(button)
        row.addStretch(1)
        group.buttonClicked.connect(self._choose_length)
        card.body.addLayout(row)
        self._ends = quiet()
        card.body.addWidget(self._ends)
        self.near = NearField()
        self.near.chosen.connect(self._choose_near)
        self.near.kept.connect(self._choose_plausible)
        card.body.addWidget(self.near)
        self.seed = QSpinBox()
        self.seed.setRange(0, 2**31 - 1)
        self.seed.setMaximumWidth(180)
        calm(self.seed)
        self.seed.valueChanged.connect(self._choose_seed)
        card.body.addLayout(
            labelled(
                "&Random seed",
                self.seed,
                "The same seed finds the same pairs again, unless the time limit is reached first.",
            )
        )
        return card

    def _repair_card(self) -> Card:
        card = Card()
        self.repair_told, self.repair_why = quiet(), Words(tone="wrong")
        for widget in (self.repair, self.repair_told, self.repair_why):
            card.body.addWidget(widget)
        return card

    def _show_repair(self) -> None:
        """Offer to repair what the plan finds, or say why that cannot be."""
        state, off = self.state, self.state.repair_off()
        method = METHODS.get(state.repair_method())
        sentence = (
            "" if method is None or off else f"{method.title}. {method.description} {_AFTERWARDS}"
        )
        self.repair_told.say(sentence)
        self.repair_why.say(off)
        self.repair.setEnabled(not off)
        self.repair.setAccessibleDescription(off or sentence)
        with QSignalBlocker(self.repair):
            self.repair.setChecked(state.repair and not off)

    # -- answering ----------------------------------------------------------------------------

    def _choose_kind(self, kind: PlanKind) -> None:
        self.state.choose_kind(kind)
        state = self.state
        self.near.show_value(state.max_distance, state.person, plausible=state.plausible)
        self._show_kind()
        self.changed.emit()

    def _ask_figure(self) -> None:
        """Ask what is to be shown, and offer to take the method for it."""
        dialog = ChoiceDialog(self, self.state.methods_off())
        dialog.method_chosen.connect(self.choose_method)
        open_dialog(dialog)

    def choose_method(self, method: str) -> None:
        """Take a method into a custom plan, which has no other one if it was not custom before."""
        if self.state.kind is PlanKind.CUSTOM:
            self.state.take_method(method, wanted=True)
            self.state.method = method
        else:
            self.state.choose_methods(method)
        self._show_kind()
        self.changed.emit()

    def _choose_repair(self, wanted: bool) -> None:  # noqa: FBT001 - the signal's argument
        self.state.repair = wanted
        self._show_runs()
        self.changed.emit()

    def _take_method(self, method: str, wanted: bool) -> None:  # noqa: FBT001 - the signal's
        self.state.take_method(method, wanted=wanted)
        self._fit_method()
        self._show_runs()
        self.changed.emit()

    def _look_at(self, method: str) -> None:
        self.state.method = method
        if self.picker.key != method:
            self.picker.look_at(method)
        self._fit_method()
        self._show_runs()
        self.changed.emit()

    def _move(self, method: str, by: int) -> None:
        self.state.move_method(method, by)
        self._show_runs()
        self.changed.emit()

    def _choose_length(self) -> None:
        self.state.length = next(
            each for each, button in self.lengths.items() if button.isChecked()
        )
        self._show_runs()
        self.changed.emit()

    def _choose_near(self, near: float | None) -> None:
        self.state.max_distance = near
        self.changed.emit()

    def _choose_plausible(self, plausible: bool) -> None:  # noqa: FBT001 - the signal's argument
        self.state.plausible = plausible
        self.changed.emit()

    def _choose_seed(self, seed: int) -> None:
        self.state.seed = seed
        self.changed.emit()

    def _choose_option(self, name: str, value: OptionValue) -> None:
        self.state.set_option(name, value)
        self._fit_method()
        self.changed.emit()

    def _choose_rules(self) -> None:
        state, answers = self.state, self.rules.answers
        if self.rules.offers_texts:
            state.text = answers.text
        if answers.text:
            state.terms = answers.terms
        else:
            kept = {
                name: each for name, each in state.edges.items() if name not in self.rules.edges
            }
            state.edges = kept | answers.edges
        self.changed.emit()
