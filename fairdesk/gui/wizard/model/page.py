"""Step 2: the model. What its files are, whether they may run, how it is fed, and the proof."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Signal, SignalInstance
from PySide6.QtWidgets import QWidget

from fairdesk.data.profiling.outcomes import favourable_rows
from fairdesk.data.table import Table
from fairdesk.errors import DataError, FairDeskError
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.dropping import Sort, ask_open, filter_of
from fairdesk.gui.kit.parts import (
    Busy,
    Card,
    scrolled,
    short,
)
from fairdesk.gui.kit.threads import Latest
from fairdesk.gui.wizard.model.cards import Confirmed, TrustCard
from fairdesk.gui.wizard.model.inputs_dialog import InputDialog
from fairdesk.gui.wizard.model.opened_part import OpenedPart
from fairdesk.gui.wizard.model.opening import (
    EmptyPart,
    Feeding,
    Opened,
    Opener,
    Outcome,
    Stranded,
    Tried,
    Untrusted,
    Wish,
    offer_environment,
    offer_versions,
)
from fairdesk.gui.wizard.page import Desk, Page
from fairdesk.gui.wizard.state.wizard_state import Step
from fairdesk.models.inputs import input_check
from fairdesk.models.inputs.input_check import InputCheck
from fairdesk.models.model import Mapping, ModelCard
from fairdesk.models.preparation.beside import with_codes_beside

_EMPTY, _TRUST, _OPENED, _OPENING = range(4)


class ModelPage(Page):
    """The second page.

    Signals
    -------
    proved
        The model was tried on the rows.
    failed
        It could not be opened or tried, or the auditor has to agree first; the page says why.
    reread
        The data are to be read in this way, as the model's encoder knows their values; then
        `go_on` is to be called.
    """

    proved = Signal()
    failed = Signal()
    reread = Signal(object)

    def __init__(self, desk: Desk) -> None:
        super().__init__(
            desk,
            Step.MODEL,
            "Model",
            "Choose the model to audit. FairDesk queries it and never modifies it.",
        )
        self._feeding = Feeding()
        self._asked = Outcome("", "")
        self._column = ""
        self._fresh = self._waiting = False
        self._trials = Latest(self)
        self._busy = Busy(cancel=True, steady=True)
        self._trials.ended.connect(self._busy.say)
        self._busy.cancelled.connect(self._cancel)
        self.opening = Busy(cancel=True)
        self.opening.cancelled.connect(self._cancel)
        self.opener = Opener(desk, self)
        self.opener.began.connect(self._begin)
        self.opener.ended.connect(self.opening.say)
        self.opener.opened.connect(self._opened)
        self.opener.refused.connect(self._refuse)
        self._trust = TrustCard()
        self._trust.trusted.connect(self.opener.trust)
        self._trust.other.connect(self._choose)
        self._empty = EmptyPart()
        self._empty.asked.connect(self._choose)
        self._empty.taken.connect(self._take_predictions)
        self.column = self._empty.column
        middle = layouts.row(layouts.stretch(), self.opening, layouts.stretch())
        opening = Card(layouts.stretch(), middle, layouts.stretch(), margin=theme.PAGE)
        self._stack = layouts.stack(self._empty, self._trust, self._opened_part(), opening)
        self.body.addWidget(self._stack, 1)
        self.beside_title.insertWidget(1, self._busy)

    # -- what the wizard asks for -------------------------------------------------------------

    def load(self, path: Path) -> None:
        """Open a model file; a program that is not on the list only when it is trusted."""
        self.desk.settings.used("model", path)
        self.opener.open(Wish(path, with_codes_beside(path, ())))

    def enter(self) -> None:
        """Show the answers, and match and try the model when that is due."""
        super().enter()
        self._empty.show_columns(self.state)
        asked = self._outcome
        if asked != self._asked:
            # what the answers were said to mean was said of another outcome
            self._asked, self._feeding.good = asked, None
        if self.state.proof is not None or self.busy:
            return
        if self._column:
            self._take_predictions(self._column)
        elif self.state.card is not None:
            if self.state.mapping is None:
                self._feeding.begin_anew()
            self.prove()

    def first_field(self) -> QWidget:
        """Return what has the keyboard when the page comes on screen."""
        return (
            self.opened.check.answer.combo
            if self.state.card is not None
            else self._empty.zone.button
        )

    @property
    def busy(self) -> bool:
        """Whether the model is being opened or tried."""
        return not (self._busy.isHidden() and self.opening.isHidden())

    def go_on(self) -> None:
        """Propose how inputs are made of the data as they are read now, and try the model."""
        if self._waiting:
            self._stop_waiting()
            self.prove(read=True)

    def _stop_waiting(self) -> None:
        """Take what was proposed for data that are read in another way as nothing."""
        if self._waiting:
            self._waiting = False
            self._busy.say("")
            self._feeding.begin_anew()

    def prove(self, *, read: bool = False) -> None:
        """Propose how inputs are made where that is not known, and try the model on the rows.

        Parameters
        ----------
        read : bool
            Whether the data are read for this model already.
        """
        state = self.state
        card, table = state.card, state.table
        if card is None or table is None or not state.favourable or state.predictions:
            return
        self.banner.clear()
        wanted = self._feeding.propose(card, table, self._outcome)
        if wanted != table.source.dialect and not read:
            self._waiting = True
            self._busy.say("Reading the data as the model’s encoder does…")
            self.changed.emit()
            self.reread.emit(wanted)
            return
        mapping, problems = self._feeding.standing(card, table, state.label)
        self._show_problems(*problems)
        if mapping is None:
            state.forget_mapping()
        else:
            state.set_mapping(mapping)
        self._show_mapping()
        if state.mapping is None:
            self._end(self.failed)
            return
        self._try(state.mapping)

    @property
    def _outcome(self) -> Outcome:
        """The outcome of the data that is asked about."""
        return Outcome(self.state.label, self.state.favourable)

    def _try(self, mapping: Mapping) -> None:
        state, worker = self.state, self.desk.model
        table, (label, favourable) = state.table, self._outcome
        if table is None:
            return

        def check(other: Mapping, rows: Table) -> InputCheck:
            return worker.prove(other, rows, label, favourable)

        call = self._feeding.trial(mapping, state.card, table, label, check)
        self._trials.ask(call, self._proved, self._refuse)
        self._busy.say(f"Testing the model on {len(table.codes):,} rows…")
        self.changed.emit()

    # -- building -----------------------------------------------------------------------------

    def _opened_part(self) -> QWidget:
        self.opened = OpenedPart(self.desk)
        self.opened.another.connect(self._choose)
        self.opened.left.connect(self._leave_column)
        self.opened.files.wanted.connect(self._choose_companion)
        self.opened.files.added.connect(self.opener.add)
        self.opened.files.removed.connect(self.opener.remove)
        self.opened.output.activated.connect(self._choose_output)
        self.opened.check.answer.chosen.connect(self._choose_answer)
        self.opened.check.answer.named.connect(self._name_decisions)
        self.opened.tabs.remade.connect(self._remap)
        self.opened.tabs.change.connect(self._change)
        self.opened.preparing.chosen.connect(self._prepare)
        self.opened.numbering.chosen.connect(self._confirm)
        return scrolled(self.opened)

    # -- opening ------------------------------------------------------------------------------

    def _choose(self) -> None:
        start, kinds = self.desk.settings.folder("model"), filter_of(Sort.MODEL, "Models")
        if path := ask_open(self, "Choose the model", start, kinds):
            self.load(path)

    def _begin(self) -> None:
        """Let go of what was open: another model is being opened."""
        self._column = ""
        self._fresh, self._waiting = True, False
        self._trials.drop()
        self._busy.say("")
        self._feeding.forget()
        self.state.clear_model()
        self.banner.clear()
        self.opening.follow(self.opener.share)
        self._stack.setCurrentIndex(_OPENING)
        self.changed.emit()

    def _cancel(self) -> None:
        self._stop_waiting()
        self.opener.stop()
        self._trials.drop()
        self._busy.say("")
        self.desk.model.stop()
        self.banner.say(
            "Stopped before the model returned a result.",
            "Nothing was lost. You can try again, or choose another file.",
            self._ways_on(),
        )
        self._show_whatever()
        self._end(self.failed)

    def _ways_on(self) -> list[tuple[str, Callable[[], object]]]:
        wish = self.opener.wish
        again: list[tuple[str, Callable[[], object]]] = []
        if wish is not None:
            again.append(("Try &again", self._try_again))
            if self.state.card is None and wish.companions:
                last = wish.companions[-1]
                again.append((f"&Without {short(last.name)}", lambda: self.opener.remove(last)))
        return [*again, ("Choose another &file…", self._choose)]

    def _try_again(self) -> None:
        if self.state.card is None:
            self.opener.open_again()
        else:
            self.prove()

    def _opened(self, result: Untrusted | Stranded | Opened) -> None:
        if isinstance(result, Untrusted):
            self._trust.show_file(result)
            self._stack.setCurrentIndex(_TRUST)
            self._end(self.failed, self._trust.choose)
            return
        if isinstance(result, Stranded):
            self._refuse(result.error)
            another = ("Choose another &file…", self._choose)
            offer_environment(self.banner, result, self._make_environment, another)
            return
        state, card = self.state, result.card
        state.set_model(card, trusted=card.needed_trust)
        state.companions = list(card.companions)
        state.output, state.environment = card.output, card.environment
        self.opened.show_card(result)
        self._stack.setCurrentIndex(_OPENED)
        self.changed.emit()
        self.prove()
        if result.better is not None and not result.better.obstacle:
            offer_versions(self.banner, result.better, self._make_environment)

    def _make_environment(self) -> None:
        self.opener.open_again(make_environment=True)

    def _refuse(self, error: FairDeskError) -> None:
        self.banner.tell(error, self._ways_on())
        self._show_whatever()
        self._show_mapping()
        self._end(self.failed)

    def _proved(self, tried: Tried) -> None:
        state = self.state
        self._feeding.take(tried)
        state.set_mapping(tried.mapping)
        state.set_proof(tried.proof)
        self._show_mapping()
        self.opened.tabs.show_row()
        self._end(self.proved)

    # -- scaling ------------------------------------------------------------------------------

    def _prepare(self, mapping: Mapping) -> None:
        """Feed the model as the auditor chose."""
        self._feeding.choose(mapping)
        self.prove()

    def _confirm(self, confirmed: Confirmed) -> None:
        """Give values the numbers that the auditor confirmed."""
        if self.state.table is not None:
            self._feeding.confirm(confirmed.columns, confirmed.codes, self.state.table)
            self.prove()

    # -- files beside it ----------------------------------------------------------------------

    def _choose_companion(self) -> None:
        kinds = (
            "Scalers, encoders, lists (*.pkl *.joblib *.skops *.json *.txt *.csv);;All files (*)"
        )
        start = self.desk.settings.folder("model")
        if path := ask_open(self, "Choose a companion file", start, kinds):
            self.opener.add(path)

    def _choose_output(self) -> None:
        self.opener.open_again(output=self.opened.output.currentText())

    # -- without a model ----------------------------------------------------------------------

    def _take_predictions(self, column: str) -> None:
        """Take a column of decisions, once it is known which of them is good."""
        state, table = self.state, self.state.table
        if table is None or not column:
            return
        self.banner.clear()
        if column != self._column:
            self._feeding.good, self._fresh = None, True
        self.opener.wish, self._column = None, column
        self.opened.show_column(column)
        self._stack.setCurrentIndex(_OPENED)
        good = state.favourable if self._feeding.good is None else self._feeding.good
        try:
            card = input_check.card_of(table, column)
            if refused := _not_in(table, column, good):
                self._ask_for_good(card, refused)
                return
            proof = input_check.check_predictions(
                table, column, good, state.label, state.favourable
            )
        except FairDeskError as error:
            state.clear_model()
            self._column = ""
            self._refuse(error)
            return
        state.set_predictions(column, card, input_check.mapping_of(good))
        state.set_proof(proof)
        self._feeding.fed = state.mapping
        self._show_problems()
        self._show_mapping()
        self._end(self.proved, self.opened.check.answer.combo)

    def _leave_column(self) -> None:
        """Go back to where a model, or another column, is chosen."""
        self.state.clear_model()
        self._column, self._feeding.fed = "", None
        self.banner.clear()
        self._show_whatever()
        self._empty.show_columns(self.state)
        self.column.setFocus()
        self.changed.emit()

    def _ask_for_good(self, card: ModelCard, why: str) -> None:
        """Ask which of a column's decisions is the good one: none is called as the label's."""
        self.state.clear_model()
        self._feeding.fed = None
        self._show_problems(f"{why} Choose below which of its values is favourable.")
        self._show_mapping()
        self.opened.check.answer.show_answers(card, None)
        self._end(self.failed, self.opened.check.answer.combo)

    # -- answering ----------------------------------------------------------------------------

    def _remap(self, position: int, attribute: str) -> None:
        card, table = self.state.card, self.state.table
        if card is None or table is None or self._feeding.fed is None:
            return
        try:
            self._feeding.connect(position, attribute, card, table)
        except FairDeskError as error:
            self.banner.tell(error)
            return
        self.prove()

    def _change(self, position: int) -> None:
        card, table, fed = self.state.card, self.state.table, self._feeding.fed
        if card is None or table is None or fed is None or not 0 <= position < len(fed.inputs):
            return
        dialog = InputDialog(fed, position, card, table, self._columns(), self)
        if dialog.answered() and dialog.fed != fed:
            self._feeding.change(dialog.fed)
            self.prove()

    def _choose_answer(self, good: str, threshold: float | None) -> None:
        state = self.state
        if self._column:
            self._feeding.good = good
            self._take_predictions(self._column)
            return
        if state.card is None or state.table is None or self._feeding.fed is None:
            return
        try:
            self._feeding.read_outputs(good, threshold, state.card, state.table, self._outcome)
        except FairDeskError as error:
            self.banner.tell(error)
            return
        self.prove()

    def _name_decisions(self, names: tuple[str, ...]) -> None:
        """Take what the model's decisions are called."""
        self.state.name_decisions(names)
        self._feeding.name_decisions(names)
        self.prove()

    def _end(self, signal: SignalInstance, field: QWidget | None = None) -> None:
        """Tell how it ended; take the keyboard, for what had it is gone with the opening."""
        if self._fresh and self.isVisible():
            (field or self.first_field()).setFocus()
        self._fresh = False
        signal.emit()
        self.changed.emit()

    def _show_whatever(self) -> None:
        """Show the model that is open, or the place to drop one."""
        self._stack.setCurrentIndex(_EMPTY if self.state.card is None else _OPENED)

    # -- showing ------------------------------------------------------------------------------

    def _show_problems(self, *problems: str) -> None:
        self.opened.problems.show_problems(problems, fed=not self._column)

    def _columns(self) -> tuple[str, ...]:
        state = self.state
        if state.table is None:
            return ()
        return tuple(name for name in state.table.names if name != state.label)

    def _show_mapping(self) -> None:
        of_model, feeding = not self._column, self._feeding
        self.opened.show_inputs(feeding.fed, self._columns(), of_model=of_model)
        self.opened.preparing.show_offers(
            feeding.offers if of_model else (), feeding.unprepared, self.state.mapping
        )
        self.opened.numbering.show_numberings(
            feeding.numberings if of_model else (), self.state.mapping
        )
        self.opened.show_proof(feeding.notes, of_model=of_model)


def _not_in(table: Table, column: str, good: str) -> str:
    """Say that a column has no such value; empty where it has."""
    try:
        favourable_rows(table, column, good)
    except DataError as error:
        return error.what
    return ""
