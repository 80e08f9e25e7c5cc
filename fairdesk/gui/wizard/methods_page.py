"""Step 4: the methods. A standard audit, or methods that the auditor chooses, and a time limit."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QListWidget,
    QListWidgetItem,
    QRadioButton,
    QWidget,
)

from fairdesk.answers import ANSWERING, Question
from fairdesk.app.standard import LIMITS, PlanKind
from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.plan.spec import OptionValue, RunSpec
from fairdesk.errors import SpecError
from fairdesk.gui.forms.method_picker import MethodPicker, NearField, ending
from fairdesk.gui.forms.rules_form import RulesForm
from fairdesk.gui.help.choice_dialog import ChoiceDialog
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.fields import labelled, seed, together
from fairdesk.gui.kit.parts import (
    Card,
    PressedCard,
    Words,
    heading,
    open_dialog,
    push_button,
    quiet,
    scrolled,
    show_as,
)
from fairdesk.gui.wizard.page import Desk, Page
from fairdesk.gui.wizard.state.plans import Length
from fairdesk.gui.wizard.state.wizard_state import Step
from fairdesk.wording.words import duration

#: Each kind's name with its mnemonic, and what it is.
NAMES = {
    PlanKind.QUICK: ("&Quick", f"At most {duration(LIMITS[PlanKind.QUICK])}: a first look."),
    PlanKind.FULL: (
        "&Full",
        f"At most {duration(LIMITS[PlanKind.FULL])}, often less: every method available here.",
    ),
    PlanKind.CUSTOM: ("&Custom", "Your methods, their order, and your time limit."),
}


#: The least width of a kind's card.
_LEAST = 210
_KEY = Qt.ItemDataRole.UserRole
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


class KindCard(PressedCard):
    """One kind of plan."""

    def __init__(self, kind: PlanKind) -> None:
        super().__init__()
        name, sentence = NAMES[kind]
        self.button = QRadioButton(name)
        self.button.setFont(theme.scaled(self.button.font(), 1.12, strong=True))
        self.button.toggled.connect(partial(show_as, self, "chosen"))
        self._sentence = sentence
        self._questions = layouts.grid(across=theme.NEAR, down=theme.TIGHT, stretches=(0, 1))
        self.marks: dict[Question, Words] = {}
        self._titles: dict[Question, Words] = {}
        for row, question in enumerate(Question):
            mark, words = Words(wrap=False), Words(question.title)
            self._questions.addWidget(mark, row, 0, Qt.AlignmentFlag.AlignTop)
            self._questions.addWidget(words, row, 1)
            self.marks[question], self._titles[question] = mark, words
        self.body.addWidget(self.button)
        self.body.addWidget(quiet(sentence))
        self.body.addSpacing(theme.TIGHT)
        self.body.addLayout(self._questions)
        self.body.addStretch(1)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.pressed.connect(self.button.click)

    def show_answers(self, kinds: Collection[QuestionKind]) -> None:
        """Show which questions are answered by methods of these kinds."""
        answered = [each for each in self.marks if any(kind in kinds for kind in ANSWERING[each])]
        for question, mark in self.marks.items():
            answers = question in answered
            mark.setText("✓" if answers else "–")
            for words in (mark, self._titles[question]):
                words.set_tone("" if answers else "quiet")
                # before a method is chosen, a list of noes would read as what it cannot answer
                words.setVisible(bool(answered))
        said = " ".join(each.title for each in answered) or "No question."
        self.button.setAccessibleDescription(f"{self._sentence} Answers: {said}")


class KindCards(layouts.Tiles):
    """Chooses a kind of plan.

    Signals
    -------
    chosen : PlanKind
        The auditor chose another kind.
    """

    chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__(_LEAST)
        self.cards = {kind: KindCard(kind) for kind in PlanKind}
        together(self, (card.button for card in self.cards.values()))
        for kind, card in self.cards.items():
            card.button.clicked.connect(lambda _checked=True, kind=kind: self.chosen.emit(kind))
        self.show_cards(tuple(self.cards.values()))

    def show_kinds(
        self, chosen: PlanKind, answers: Mapping[PlanKind, Collection[QuestionKind]]
    ) -> None:
        """Show which kind is chosen, and by methods of which kinds each answers."""
        for kind, card in self.cards.items():
            card.show_answers(answers[kind])
        self.cards[chosen].button.setChecked(True)


class MethodOrder(Card):
    """Lists what was chosen, and lets it be moved.

    Signals
    -------
    moved : str, int
        A method is to be moved by so many places.
    shown : str
        The auditor looks at a method.
    """

    moved = Signal(str, int)
    shown = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.list = QListWidget()
        self.list.setAccessibleName("Chosen methods, in their order")
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.currentItemChanged.connect(self._show)
        self.up = push_button("Move up", lambda: self._move(-1), name="Move the method up")
        self.down = push_button("Move down", lambda: self._move(1), name="Move the method down")
        self._none = quiet("Tick methods above: they are listed here in the order of their runs.")
        self.body.addWidget(heading("Order"))
        self.body.addWidget(self._none)
        self.body.addLayout(
            layouts.row(
                layouts.grow(self.list),
                layouts.column(self.up, self.down, layouts.stretch(), spacing=theme.NEAR),
                spacing=theme.GAP,
            )
        )

    @property
    def key(self) -> str:
        """The method of the current line; empty without one."""
        item = self.list.currentItem()
        return "" if item is None else str(item.data(_KEY))

    def show_runs(self, methods: Sequence[str], runs: Sequence[RunSpec], current: str) -> None:
        """List the methods, each with the time of its run."""
        seconds = {run.method: run.budget.seconds for run in runs}
        with QSignalBlocker(self.list):
            self.list.clear()
            for place, method in enumerate(methods, 1):
                limit = seconds.get(method)
                time = "" if limit is None else f", at most {duration(limit)}"
                item = QListWidgetItem(f"{place}. {METHODS[method].title}{time}", self.list)
                item.setData(_KEY, method)
            if current in methods:
                self.list.setCurrentRow(methods.index(current))
        line = self.list.fontMetrics().height() + theme.NEAR
        self.list.setFixedHeight(line * max(2, len(methods)) + theme.NEAR)
        self._none.setVisible(not methods)
        self.list.setVisible(bool(methods))
        self._fit()

    def _fit(self) -> None:
        place = self.list.currentRow()
        self.up.setEnabled(place > 0)
        self.down.setEnabled(0 <= place < self.list.count() - 1)

    def _show(self) -> None:
        self._fit()
        if self.key:
            self.shown.emit(self.key)

    def _move(self, by: int) -> None:
        if self.key:
            self.moved.emit(self.key, by)


class ChecksPage(Page):
    """The fourth page."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(
            desk, Step.CHECKS, "Methods", "Choose what the audit answers, and how long it may take."
        )
        self.figure = push_button("&Which figure do I need?", self._ask_figure)
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
        self.repair_told, self.repair_why = quiet(), Words(tone="wrong")
        self._reasons = Words(tone="quiet")
        self._left_out = Card(heading("Left out"), self._reasons)
        inside = layouts.panel(
            self.kinds,
            self.custom,
            Card(self.repair, self.repair_told, self.repair_why),
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
        self.lengths = {length: QRadioButton(words) for length, words in _LENGTHS.items()}
        buttons = self.lengths.values()
        together(self, buttons).buttonClicked.connect(self._choose_length)
        self._ends, self.near = quiet(), NearField()
        self.near.chosen.connect(self._choose_near)
        self.near.kept.connect(self._choose_plausible)
        self.seed = seed(changed=self._choose_seed)
        return Card(
            heading("Time limit of all methods together"),
            layouts.row(*buttons, layouts.stretch(), spacing=theme.PAGE),
            self._ends,
            self.near,
            labelled(
                "&Random seed",
                self.seed,
                "The same seed finds the same pairs again, unless the time limit is reached first.",
            ),
            spacing=theme.GAP,
        )

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
