"""The pair that is chosen: two people and the real one nearest to them, why, mark and note."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from fairdesk.answers import opposite
from fairdesk.audit.store.pair import Pair
from fairdesk.document import pairs
from fairdesk.gui.charts.drawn import DrawnChart
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.workspace.common.blocks_view import BlocksView
from fairdesk.gui.workspace.common.run_page import report_link
from fairdesk.gui.workspace.pairs.side_by_side import SideBySide
from fairdesk.gui.workspace.session.session import MARKS, Session
from fairdesk.gui.workspace.session.study import WHY, WHY_NEARER, Form, Known
from fairdesk.wording import words
from fairdesk.wording.pairs import distance_text, plausible_text, usual

_KEYS = QKeySequence.StandardKey


_TURNED = "Show a pair of the same values that receive each other’s decision here"
_BRING = (
    "Take over as many values of a real {person} of the data as possible while the decisions "
    "still differ (B)"
)
_BROUGHT = "Show the pair moved towards a real {person} of the data, or as it was found (B)"
_EXPLAINS = (
    "Local explanation: which values raise and which lower each score, from model outputs for "
    "similar instances (W)"
)
_LATER = "Available when the current run has ended: the model is in use."
#: What the empty note says.
_ANY_NOTE = "Note on this pair (N); saved when you leave the field"
_WHY_DISMISSED = (
    "Why is this pair dismissed? The reason appears in the report; Escape returns to the table"
)


class NoteEdit(QPlainTextEdit):
    """A note that is saved when it is left, or with Ctrl+Enter.

    Signals
    -------
    entered
        The auditor begins to write.
    saved : str
        The note is to be kept.
    left
        The auditor is done with it.
    """

    entered = Signal()
    saved = Signal(str)
    left = Signal()

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """Ask for room."""
        super().focusInEvent(event)
        self.entered.emit()

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """Save."""
        super().focusOutEvent(event)
        self.saved.emit(self.toPlainText().strip())

    def event(self, event: QEvent) -> bool:
        """Leave Undo and Redo to the window while there is nothing written to be undone."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            text = self.document()
            if (event.matches(_KEYS.Undo) and not text.isUndoAvailable()) or (
                event.matches(_KEYS.Redo) and not text.isRedoAvailable()
            ):
                event.ignore()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Save with Ctrl+Enter; Escape and Tab leave."""
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if event.key() == Qt.Key.Key_Escape or (
            enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier
        ):
            self.left.emit()
            return
        super().keyPressEvent(event)


class PairDetail(QWidget):
    """The pair that is chosen in the table, with its mark and note.

    Signals
    -------
    left
        The keyboard goes back to the table.
    worked_on
        The pair is marked, or a note on it is begun.
    wanted : int
        The pair of this number is to be shown.
    """

    left = Signal()
    worked_on = Signal()
    wanted = Signal(int)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._pair: Pair | None = None
        self._known: Known | None = None
        self._title = parts.Words(tone="quiet", strong=True, wrap=False)
        self._change = parts.Words(size=1.6, strong=True)
        self._change.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._sentence = parts.Words()
        self._sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._table = SideBySide()
        self._why_view = BlocksView(session, folds=False)
        self._views = parts.Stack()
        for view in (self._table, self._why_view):
            self._views.addWidget(view)
        self._plausible = parts.quiet()
        self._reverse: Pair | None = None
        self._turn = parts.push_button("", self._show_reverse, tip=_TURNED)
        self._turn.setFlat(True)
        self._make_marks()
        self._make_tools()

        link = report_link(session, self._place, short=True)
        inside = layouts.panel(
            self._change,
            self._sentence,
            self._tools,
            layouts.row(self._turn, layouts.stretch()),
            self._views,
            self._plausible,
            layouts.stretch(),
            margin=(0, 0, theme.NEAR, 0),
            spacing=theme.NEAR,
        )
        full = layouts.panel(
            layouts.row(
                layouts.grow(self._title), link, self._flag, self._dismiss, spacing=theme.NEAR
            ),
            layouts.grow(parts.scrolled(inside)),
            self._note,
            spacing=theme.NEAR,
        )
        empty = QLabel("Select a pair in the table\nto compare it side by side.")
        empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        empty.setEnabled(False)
        self._stack = layouts.stack(empty, full)
        layouts.column(self._stack, on=self)
        session.study.changed.connect(self._tell_tools)
        session.study.learned.connect(self._take_learned)
        session.live_changed.connect(lambda _state: self._tell_tools())
        session.runs_changed.connect(self._tell_tools)

    # Parts

    def _make_marks(self) -> None:
        self._flag = parts.push_button("⚑ &Flag", self.flag)
        self._flag.setCheckable(True)
        self._flag.setToolTip("Flag this pair as important (F)")
        self._dismiss = parts.push_button("✕ &Dismiss", self.dismiss)
        self._dismiss.setCheckable(True)
        self._dismiss.setToolTip("Dismiss this pair, for example as implausible (D)")
        self._note = NoteEdit()
        self._note.setAccessibleName("Note on this pair")
        self._note.setPlaceholderText(_ANY_NOTE)
        self._note.setTabChangesFocus(True)
        self._note.setFixedHeight(self._note_height(lines=1))
        self._note.entered.connect(lambda: self._note.setFixedHeight(self._note_height(lines=4)))
        self._note.saved.connect(self._save_note)
        self._note.left.connect(self.left)

    def _make_tools(self) -> None:
        """Make the line of what can be asked about a pair, and what stands there meanwhile."""
        self.bring = parts.push_button("", self._bring_nearer, checkable=True)
        self.why = parts.push_button("", self._explain, checkable=True)
        self._busy = parts.Busy(cancel=True)
        self._busy.cancelled.connect(self._session.study.cancel)
        tools = layouts.strip(self.bring, self.why, layouts.stretch(), spacing=theme.NEAR)
        self._tools = layouts.stack(tools, self._busy)
        self._tools.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def _place(self) -> tuple[str, ...]:
        return () if self._pair is None else (pairs.key_of(self._pair),)

    def _note_height(self, *, lines: int) -> int:
        return self.fontMetrics().height() * lines + 18

    # What the page uses

    @property
    def pair(self) -> Pair | None:
        """The pair that is shown, as it was found."""
        return self._pair

    def show_pair(self, pair: Pair | None) -> None:
        """Show another pair, or none."""
        before, self._pair = self._pair, pair
        another = pair is None or before is None or pair.id != before.id
        if another and before is not None and self._note.hasFocus():
            self._session.write_note(before, self._note.toPlainText().strip())
        self._stack.setCurrentIndex(0 if pair is None else 1)
        if pair is None:
            self._known = None
            return
        self._flag.setChecked(pair.mark == "flagged")
        self._dismiss.setChecked(pair.mark == "dismissed")
        mark = f", {MARKS[pair.mark][1]}" if pair.mark else ""
        self._title.setText(f"Pair {words.number(pair.id)}{mark}")
        if another or not self._note.hasFocus():
            dismissed = pair.mark == "dismissed"
            self._note.setPlaceholderText(_WHY_DISMISSED if dismissed else _ANY_NOTE)
            self._note.setPlainText(pair.note)
            self._note.setFixedHeight(self._note_height(lines=2 if pair.note else 1))
        if another:
            self._known = None
            self.bring.setChecked(False)
            self.why.setChecked(False)
            self._show_form()
            self._ask_reverse(pair)
        if another or (before is not None and before.nearest != pair.nearest):
            self._session.study.recall(pair, self._take_known)

    def _ask_reverse(self, pair: Pair) -> None:
        """Look for the same change with the opposite effect."""
        self._reverse = None
        self._turn.hide()
        self._session.store.ask(
            lambda store: opposite(store, pair),
            lambda found: self._take_reverse(pair, found),
            key=(id(self), "reverse"),
        )

    def _take_reverse(self, pair: Pair, found: Pair | None) -> None:
        if self._pair is None or self._pair.id != pair.id:
            return
        self._reverse = found
        self._turn.setVisible(found is not None)
        if found is not None:
            self._turn.setText(f"Opposite effect: pair {words.number(found.id)} →")

    def _show_reverse(self) -> None:
        if self._reverse is not None:
            self.wanted.emit(self._reverse.id)

    @property
    def keyed(self) -> tuple[QPushButton, ...]:
        """The buttons of what keys of the page do, too."""
        return self._flag, self._dismiss, self.bring, self.why

    def flag(self) -> None:
        """Flag the pair, or take the flag away."""
        self._mark("flagged")

    def dismiss(self) -> None:
        """Dismiss the pair and ask for the reason, or take it back."""
        asked = self._pair is not None and self._pair.mark != "dismissed" and not self._pair.note
        self._mark("dismissed")
        if asked:
            self._note.setPlaceholderText(_WHY_DISMISSED)
            self.edit_note()

    def edit_note(self) -> None:
        """Put the keyboard into the note."""
        if self._pair is not None:
            self.worked_on.emit()
            self._note.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self._note.moveCursor(self._note.textCursor().MoveOperation.End)

    def toggle_table(self) -> bool:
        """Turn the bars that tell why into a table, or back, if they are shown."""
        chart = self._why_view.shown.get(pairs.WHY)
        if self._views.currentWidget() is not self._why_view or not isinstance(chart, DrawnChart):
            return False
        chart.toggle_table()
        return True

    # What happens

    @property
    def _form(self) -> Form | None:
        """The form of the pair that is shown, once it is known."""
        if self._known is None:
            return None
        nearer = self._known.nearer if self.bring.isChecked() else None
        return nearer or self._known.found

    @property
    def _what(self) -> str:
        """What the explanation of the form that is shown is kept as."""
        return WHY_NEARER if self.bring.isChecked() else WHY

    def _bring_nearer(self) -> None:
        """Bring the pair nearer to a real person; once that was done, show it so or as found."""
        if self._known is not None and self._known.nearer is None and self._pair is not None:
            self.bring.setChecked(False)
            self._session.study.shrink(self._pair)
        self._show_form()

    def _explain(self) -> None:
        """Tell why the two are decided differently, or go back to them side by side."""
        form = self._form
        if form is not None and form.why is None:
            self.why.setChecked(False)
            self._session.study.explain(form.pair, self._what)
        self._show_form()

    def _mark(self, mark: str) -> None:
        if self._pair is not None:
            self.worked_on.emit()
            self._session.write_mark(self._pair, "" if self._pair.mark == mark else mark)

    def _save_note(self, text: str) -> None:
        self._note.setFixedHeight(self._note_height(lines=2 if text else 1))
        if self._pair is not None:
            self._session.write_note(self._pair, text)

    def _take_learned(self, pair_id: int) -> None:
        """Show what was learned as soon as it is read, if it is about this pair."""
        if self._pair is not None and self._pair.id == pair_id:
            before = self._known
            self._session.study.recall(self._pair, lambda known: self._take_news(before, known))

    def _take_news(self, before: Known | None, known: Known) -> None:
        self._take_known(known)
        if before is None or known is not self._known:
            return
        if before.nearer is None and known.nearer is not None:
            self.bring.setChecked(True)
            self.why.setChecked(False)
        else:
            self.why.setChecked(True)
        self._show_form()

    def _take_known(self, known: Known) -> None:
        if self._pair is not None and known.found.pair.id == self._pair.id:
            self._known = known
            self._show_form()

    def _show_form(self) -> None:
        """Show the pair in the form that is chosen, side by side or why."""
        pair, form, spec = self._pair, self._form, self._session.spec
        if pair is None:
            return
        shown = pair if form is None else form.pair
        decisions = self._session.decisions
        said = pairs.statement(spec, shown).sentence
        if form is not None and self._known is not None and form is self._known.nearer:
            said += "\n" + pairs.brought(spec, self._known.found.pair, shown)
        self._sentence.setText(said)
        self._change.setText(pairs.change(spec, shown))
        why = form.why if form is not None and self.why.isChecked() else None
        if form is None or why is None:
            card = pairs.card(spec, shown, decisions.__getitem__)
            near = None if form is None else form.real
            self._table.show_card(pairs.with_nearest(spec, shown, card, near))
            self._views.setCurrentWidget(self._table)
        else:
            self._why_view.show_blocks(pairs.explanation(spec, shown, why, decisions))
            self._views.setCurrentWidget(self._why_view)
        self._plausible.setVisible(why is None)
        self._tell_plausible(shown, form)
        self._tell_tools()

    def _tell_plausible(self, pair: Pair, form: Form | None) -> None:
        """Say whether the pair is plausible, and how its first instance compares with the data."""
        said = []
        if pair.plausible is not None:
            said.append(plausible_text(pair))
        if pair.typicality is not None:
            said.append(usual(pair.typicality, self._session.many))
        said.append(
            "Searching for the nearest data row…"
            if form is None
            else pairs.nearest_sentence(self._session.spec, pair, form.real)
        )
        self._plausible.setText(" ".join(filter(None, said)))
        real = None if form is None else form.real
        self._plausible.setToolTip(
            f"Gower distance over all attributes: {distance_text(real.distance)} (0: identical to "
            "a data row; 1: the largest possible distance)."
            if real is not None
            else ""
        )

    def _tell_tools(self) -> None:
        """Offer what can be asked now; say why where it cannot."""
        study, person = self._session.study, self._session.spec.person
        self._busy.say(study.doing)
        self._tools.setCurrentIndex(int(bool(study.doing)))
        brought = self._known is not None and self._known.nearer is not None
        explained = self._form is not None and self._form.why is not None
        running = self._session.live is not None
        bring = "&More realistic" if brought else "&Make more realistic"
        tip = (_BROUGHT if brought else _BRING).format(person=person)
        for button, text, there, says in (
            (self.bring, bring, brought, tip),
            (self.why, "&Why?", explained, _EXPLAINS),
        ):
            button.setText(f"{text} ✓" if button.isChecked() else text)
            button.setEnabled(self._known is not None and (there or not running))
            button.setToolTip(_LATER if running and not there else says)
