"""Step 4: the checks. What is looked for, by which method, for how long."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QRadioButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from fairdesk.audit.methods import METHODS, Method
from fairdesk.gui import theme
from fairdesk.gui.parts import Card, Fold, Words, calm, clear, heading, labelled, quiet, scrolled
from fairdesk.gui.wizard.options import OptionsForm, options_of
from fairdesk.gui.wizard.page import Desk, Page
from fairdesk.gui.wizard.state import Length, Step
from fairdesk.report.words import plural

_LENGTHS = {
    Length.QUICK: "&Quick: 1 minute",
    Length.STANDARD: "&Standard: 10 minutes",
    Length.THOROUGH: "&Thorough: 1 hour",
    Length.UNTIL_DONE: "&Until it is done",
}


class ChecksPage(Page):
    """The fourth page."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(
            desk, Step.CHECKS, "Checks", "What FairDesk does with the model, and for how long."
        )
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, theme.GAP, 0)
        column.setSpacing(theme.GAP)
        self._off = Words()
        self._off_card = Card(tone="notice")
        self._off_card.body.addWidget(self._off)
        self._budget = self._budget_card()
        column.addWidget(self._off_card)
        column.addWidget(self._examples_card())
        column.addWidget(self._budget)
        self._advanced = Fold("&Advanced: the method’s parameters")
        column.addWidget(self._advanced)
        column.addStretch(1)
        area = scrolled(inside)
        # once the layout has made room for what was opened
        self._advanced.opened.connect(
            lambda: QTimer.singleShot(50, area, lambda: area.ensureWidgetVisible(self._advanced))
        )
        self.body.addWidget(area, 1)
        self.form: OptionsForm | None = None

    def enter(self) -> None:
        """Show the answers."""
        super().enter()
        state = self.state
        self._question.setText(
            f"Looks for {plural(state.person)} who would get another decision if only what is "
            "protected were different, and shows each beside their twin."
        )
        state.settle_method()
        self._show_methods()
        for length, button in self.lengths.items():
            button.setChecked(length is state.length)
        self.seed.setValue(state.seed)
        self._show_options()

    def first_field(self) -> QWidget:
        """Give what has the keyboard when the page comes on screen."""
        usable = self.state.usable_methods()
        return self.methods[self.state.method] if usable else self._off_card

    def _show_methods(self) -> None:
        """Show which methods the model can serve, and say of the others why they are off."""
        state, off = self.state, self.state.methods_off()
        for key, button in self.methods.items():
            reason = off.get(key, "")
            button.setEnabled(not reason)
            button.setChecked(key == state.method and not reason)
            method = METHODS[key]
            told = reason or f"{method.sentence} {method.cannot}"
            button.setAccessibleDescription(told)
            self.reasons[key].setText(reason)
            self.reasons[key].setVisible(bool(reason))
        usable = bool(state.usable_methods())
        self._budget.setVisible(usable)
        self._advanced.setVisible(usable)
        self._off_card.setVisible(not usable)
        self._off.setText(
            f"No search can be made: {_reasons(off)} How each group fares, in the data and by the "
            "decisions, and the report still work: go on to the review."
            if not usable
            else ""
        )

    # -- building -----------------------------------------------------------------------------

    def _examples_card(self) -> Card:
        card = Card()
        card.body.setSpacing(theme.GAP)
        self._question = Words()
        card.body.addWidget(heading("Find examples"))
        card.body.addWidget(self._question)
        group = QButtonGroup(self)
        self.methods: dict[str, QRadioButton] = {}
        self.reasons: dict[str, Words] = {}
        for method in METHODS.values():
            card.body.addLayout(self._method(method, group))
        group.buttonClicked.connect(self._choose_method)
        return card

    def _method(self, method: Method, group: QButtonGroup) -> QVBoxLayout:
        button = QRadioButton(method.title)
        button.setFont(theme.scaled(button.font(), 1.0, strong=True))
        group.addButton(button)
        self.methods[method.key] = button
        told = QVBoxLayout()
        told.setContentsMargins(26, 0, 0, 0)
        told.setSpacing(theme.TIGHT)
        self.reasons[method.key] = Words(tone="wrong")
        told.addWidget(self.reasons[method.key])
        told.addWidget(Words(method.sentence))
        told.addWidget(quiet(f"What it cannot tell: {_lower(method.cannot)}"))
        told.addWidget(quiet(f"{method.paper}."))
        column = QVBoxLayout()
        column.setSpacing(theme.TIGHT)
        column.addWidget(button)
        column.addLayout(told)
        return column

    def _budget_card(self) -> Card:
        card = Card()
        card.body.setSpacing(theme.GAP)
        card.body.addWidget(heading("How long it may take"))
        row = QHBoxLayout()
        row.setSpacing(theme.PAGE)
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
        card.body.addWidget(
            quiet("It ends earlier when the method is done. You can pause or stop it at any time.")
        )
        self.seed = QSpinBox()
        self.seed.setRange(0, 2**31 - 1)
        self.seed.setMaximumWidth(180)
        calm(self.seed)
        self.seed.valueChanged.connect(self._choose_seed)
        card.body.addLayout(
            labelled(
                "&Random seed",
                self.seed,
                "The same seed finds the same examples again, unless the time runs out first.",
            )
        )
        return card

    def _show_options(self) -> None:
        clear(self._advanced.body)
        method = METHODS[self.state.method]
        self.form = OptionsForm(
            options_of(method.options), self.state.options.get(self.state.method, {})
        )
        self.form.set_to.connect(self._choose_option)
        self._advanced.body.addWidget(self.form)
        self.form.follow(self._advanced.button)

    # -- answering ----------------------------------------------------------------------------

    def _choose_method(self) -> None:
        self.state.method = next(key for key, each in self.methods.items() if each.isChecked())
        self._show_options()
        self.changed.emit()

    def _choose_length(self) -> None:
        self.state.length = next(
            each for each, button in self.lengths.items() if button.isChecked()
        )
        self.changed.emit()

    def _choose_seed(self, seed: int) -> None:
        self.state.seed = seed
        self.changed.emit()

    def _choose_option(self, name: str, value: float) -> None:
        self.state.set_option(name, value)
        self.changed.emit()


def _reasons(off: dict[str, str]) -> str:
    """Give the reasons, each once."""
    return " ".join(dict.fromkeys(reason.split(" is off: ", 1)[-1] for reason in off.values()))


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
