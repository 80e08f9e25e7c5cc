"""Step 4: the checks. What is looked for, by which method, for how long."""

from __future__ import annotations

from contextlib import suppress

from PySide6.QtCore import QSignalBlocker, QTimer
from PySide6.QtWidgets import QButtonGroup, QCheckBox, QRadioButton, QSpinBox, QWidget

from fairdesk.app.time_limits import takes_distance
from fairdesk.audit.plan.spec import OptionValue
from fairdesk.errors import SpecError
from fairdesk.gui.forms.method_picker import MethodPicker
from fairdesk.gui.forms.near_field import NearField
from fairdesk.gui.forms.rules_form import RulesForm
from fairdesk.gui.forms.timing import ending
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.parts import Card, Words, calm, heading, labelled, quiet, scrolled
from fairdesk.gui.wizard.page import Desk, Page
from fairdesk.gui.wizard.state.first_runs import Length
from fairdesk.gui.wizard.state.wizard_state import Step
from fairdesk.wording.words import plural

_LENGTHS = {
    Length.QUICK: "&Quick: 1 minute",
    Length.STANDARD: "&Standard: 10 minutes",
    Length.THOROUGH: "&Thorough: 1 hour",
    Length.UNTIL_DONE: "&Until completion",
}

#: When a repair begins, and where more of it is asked.
_AFTERWARDS = (
    "It starts after the run, has no time limit and uses the default parameters; it can be "
    "stopped at any time. Choose how augmentation rows are labelled, and how many there are, "
    "on the Mitigation page, where it can be run again."
)


class ChecksPage(Page):
    """The fourth page."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk, Step.CHECKS, "Methods", "Choose audit methods and a time limit.")
        self._question = Words()
        self.picker = MethodPicker()
        self.rules = RulesForm()
        self._budget = self._budget_card()
        self.repair = QCheckBox("Then tr&y a mitigation")
        self.repair.toggled.connect(self._choose_repair)
        inside = layouts.panel(
            self._question,
            self.picker,
            self.rules,
            self._budget,
            self._repair_card(),
            layouts.stretch(),
            margin=(0, 0, theme.GAP, 0),
            spacing=theme.GAP,
        )
        area = scrolled(inside)
        # once the layout has made room for what was opened
        self.picker.opened.connect(
            lambda: QTimer.singleShot(50, area, lambda: area.ensureWidgetVisible(self.picker))
        )
        self.picker.chosen.connect(self._choose_method)
        self.picker.option_set.connect(self._choose_option)
        self.rules.changed.connect(self._choose_rules)
        self.body.addWidget(area, 1)

    def enter(self) -> None:
        """Show the answers."""
        super().enter()
        state = self.state
        self._question.setText(
            "Methods search for discriminatory pairs, estimate how often decisions change, "
            "certify regions of the input domain, or compare groups "
            f"of {plural(state.person)}."
        )
        state.settle_method()
        self._show_methods()
        for length, button in self.lengths.items():
            button.setChecked(length is state.length)
        self.seed.setValue(state.seed)
        self.near.show_value(state.max_distance, state.person)

    def first_field(self) -> QWidget:
        """Return what has the keyboard when the page comes on screen."""
        return self.picker.list

    def _show_methods(self) -> None:
        """Show which methods the model can serve, and say of the others why they are off."""
        state, off = self.state, self.state.methods_off()
        self.picker.show_methods(state.method, state.options, off, state.method_remarks())
        self._fit_method()

    def _fit_method(self) -> None:
        """Say when the method ends, and ask what else it has to know."""
        state = self.state
        self._show_repair()
        self._ends.setText(ending(state.method))
        self.near.setVisible(takes_distance(state.method))
        # what is wrong with the people is told on their own page
        with suppress(SpecError):
            if state.table is not None:
                columns = state.table.columns
                self.rules.show_run(state.run_spec(), state.domain(), columns, state.person)

    # -- building -----------------------------------------------------------------------------

    def _budget_card(self) -> Card:
        card = Card()
        card.body.setSpacing(theme.GAP)
        card.body.addWidget(heading("Time limit"))
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
        for widget in (heading("Mitigation"), self.repair, self.repair_told, self.repair_why):
            card.body.addWidget(widget)
        return card

    def _show_repair(self) -> None:
        """Offer to repair what the chosen method finds, or say why that cannot be."""
        # the methods bring the numeric libraries with them, which the first paint must not wait for
        from fairdesk.audit.catalogue.methods import METHODS  # noqa: PLC0415

        state, off = self.state, self.state.repair_off()
        method = METHODS.get(state.repair_method())
        sentence = (
            "" if method is None or off else f"{method.title}. {method.sentence} {_AFTERWARDS}"
        )
        for label, text in ((self.repair_told, sentence), (self.repair_why, off)):
            label.setText(text)
            label.setVisible(bool(text))
        self.repair.setEnabled(not off)
        self.repair.setAccessibleDescription(off or sentence)
        with QSignalBlocker(self.repair):
            self.repair.setChecked(state.repair and not off)

    # -- answering ----------------------------------------------------------------------------

    def _choose_repair(self, wanted: bool) -> None:  # noqa: FBT001 - the signal's argument
        self.state.repair = wanted
        self.changed.emit()

    def _choose_method(self, method: str) -> None:
        self.state.choose_method(method)
        self._fit_method()
        self.changed.emit()

    def _choose_length(self) -> None:
        self.state.length = next(
            each for each, button in self.lengths.items() if button.isChecked()
        )
        self.changed.emit()

    def _choose_near(self, near: float | None) -> None:
        self.state.max_distance = near
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
