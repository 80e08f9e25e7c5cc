"""What holds for everybody: a list of constraints, each with how many rows of the data keep it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QModelIndex, QStringListModel, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QCompleter, QLineEdit, QListView, QPushButton, QWidget

from fairdesk.data.domain.attributes import Attribute
from fairdesk.data.domain.constraints import ConstraintError, parse
from fairdesk.data.domain.feasibility import Checked, checked
from fairdesk.data.domain.support import AbsentCombination, absent_combinations
from fairdesk.data.profiling.suggesting import Suggestion, suggestions
from fairdesk.data.table import Table
from fairdesk.errors import FairDeskError, SpecError
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.fields import labelled
from fairdesk.gui.kit.parts import (
    Card,
    Elided,
    Words,
    clear,
    heading,
    in_order,
    push_button,
    quiet,
    scrolled,
)
from fairdesk.gui.kit.threads import Latest
from fairdesk.gui.wizard.page import Desk
from fairdesk.wording.inspected import ABSENT, absent_counts
from fairdesk.wording.words import counted, joined, number, percent

#: So many are listed; those that follow come up as these are excluded.
MOST_SHOWN = 20


_EXAMPLES = (
    "For example: years_employed <= age - 14; relationship = Husband implies sex = Male; "
    "education_num is determined by education."
)
#: A greater share of rows that break a constraint stands out.
_MANY = 0.05


class AbsentList(QWidget):
    """Proposes constraints. They are looked for in the background; without any it is not seen.

    Signals
    -------
    chosen : tuple of str
        The constraints that the auditor takes.
    proposed : int
        How many there are to choose from.
    """

    chosen = Signal(object)
    proposed = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._finder = Latest(self)
        self._table: Table | None = None
        self._asked: tuple[tuple[Attribute, ...], tuple[str, ...]] = ((), ())
        self.found: tuple[AbsentCombination, ...] = ()
        self.excludes: dict[str, QPushButton] = {}
        self._heading = heading("")
        self.all = push_button("E&xclude all", self._exclude_all)
        self._rows = layouts.column(spacing=theme.NEAR)
        self._rest = quiet()
        layouts.column(
            layouts.row(layouts.grow(self._heading), self.all, spacing=theme.NEAR),
            quiet(f"{ABSENT} As constraints, they are excluded from testing."),
            self._rows,
            self._rest,
            on=self,
            spacing=theme.NEAR,
        )
        self.hide()

    def look(
        self, table: Table, attributes: tuple[Attribute, ...], constraints: tuple[str, ...]
    ) -> None:
        """Look for what these constraints do not exclude yet."""
        same = table is self._table and attributes == self._asked[0]
        if same and constraints == self._asked[1]:
            return
        self._table, self._asked = table, (attributes, constraints)
        # what was taken goes at once; what else it excludes, when that is known
        left = (each for each in self.found if same and each.constraint not in constraints)
        self._show(tuple(left))
        self._finder.ask(
            lambda: absent_combinations(attributes, table, constraints), self._show, self._fail
        )

    def _fail(self, _error: FairDeskError) -> None:
        """Propose nothing: what is wrong with a constraint is told beside it."""
        self._show(())

    def _exclude_all(self) -> None:
        self.chosen.emit(tuple(each.constraint for each in self.found))

    def _exclude(self, constraint: str) -> None:
        self.chosen.emit((constraint,))

    def _show(self, found: tuple[AbsentCombination, ...]) -> None:
        self.found = found
        clear(self._rows)
        self.excludes = {}
        for each in found[:MOST_SHOWN]:
            button = push_button("Exclude", partial(self._exclude, each.constraint))
            button.setAccessibleName(f"Exclude {each.what}")
            self.excludes[each.constraint] = button
            said = layouts.column(
                Elided(each.what, strong=True),
                Words(absent_counts(each), tone="quiet", wrap=False),
                spacing=theme.TIGHT,
            )
            self._rows.addLayout(
                layouts.row(
                    layouts.grow(said),
                    layouts.at(button, Qt.AlignmentFlag.AlignVCenter),
                    spacing=theme.NEAR,
                )
            )
        self._heading.setText(f"{counted(len(found), 'combination')} of two values not in the data")
        self._rest.setText(f"{number(len(found) - MOST_SHOWN)} more are not listed.")
        self._rest.setVisible(len(found) > MOST_SHOWN)
        self.setVisible(bool(found))
        self.proposed.emit(len(found))


class ConstraintField(QLineEdit):
    """One line in plain syntax; Return enters it, Ctrl+Space asks for suggestions.

    Signals
    -------
    entered
        Return was pressed.
    """

    entered = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.attributes: Sequence[Attribute] = ()
        self._suggested: tuple[Suggestion, ...] = ()
        self._texts = QStringListModel(self)
        self._completer = QCompleter(self._texts, self)
        self._completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        # not the field's own completer: that would replace the whole line
        self._completer.setWidget(self)
        # the stub does not know that the signal has two forms
        self._completer.activated[QModelIndex].connect(self._take)  # type: ignore[index]
        self._list = QListView()
        self._list.setAccessibleName("Suggestions")
        self._completer.setPopup(self._list)
        self.textEdited.connect(lambda _text: self.suggest())

    @property
    def suggested(self) -> tuple[str, ...]:
        """What is suggested now."""
        return tuple(each.text for each in self._suggested)

    def suggest(self) -> None:
        """Show what can stand at the cursor."""
        self._suggested = suggestions(self.text(), self.cursorPosition(), self.attributes)
        if not self._suggested or not self.text().strip():
            self._list.hide()
            return
        self._texts.setStringList(list(self.suggested))
        place = self.cursorRect()
        place.setWidth(max(260, place.width()))
        self._completer.complete(place)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Keep Return from the wizard's default button; open the suggestions on Ctrl+Space."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.text().strip():
            self.entered.emit()
        elif (
            event.key() == Qt.Key.Key_Space
            and event.modifiers() & Qt.KeyboardModifier.ControlModifier
        ):
            self.suggest()
        else:
            super().keyPressEvent(event)

    def _take(self, index: QModelIndex) -> None:
        """Put a suggestion in place of the word that is begun."""
        if index.row() >= len(self._suggested):
            return
        chosen = self._suggested[index.row()]
        before, after = self.text()[: chosen.start], self.text()[self.cursorPosition() :]
        gap = "" if chosen.text.endswith(("{", "(")) else " "
        self.setText(f"{before}{chosen.text}{gap}{after.lstrip()}")
        self.setCursorPosition(len(before) + len(chosen.text) + len(gap))
        self.suggest()


def _check(
    table: Table, attributes: tuple[Attribute, ...], constraints: tuple[str, ...]
) -> dict[str, Checked | SpecError]:
    """Hold each constraint against the rows. Runs in the background."""
    found: dict[str, Checked | SpecError] = {}
    for text in constraints:
        try:
            found[text] = checked(attributes, table, text)
        except SpecError as error:
            found[text] = error
    return found


class ConstraintsEditor(QWidget):
    """Adds, changes and removes constraints; everything can be undone, nothing is asked twice.

    Signals
    -------
    changed
        The constraints of the wizard's state changed.
    """

    changed = Signal()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._checker = Latest(self)
        self._asked: tuple[object, ...] = ()
        self._found: dict[str, Checked | SpecError] = {}
        self._edited: str | None = None
        self._wrong = Words(tone="wrong")
        self._wrong.hide()
        self.edits: dict[str, QPushButton] = {}
        self.removes: dict[str, QPushButton] = {}
        self.field = ConstraintField()
        self.field.setPlaceholderText("an attribute, a comparison, a value")
        self.field.entered.connect(self.enter_text)
        self.field.textEdited.connect(lambda _text: self._wrong.hide())
        self.add = push_button("A&dd", self.enter_text)
        self.undo = push_button("&Undo", self._undo)
        self.undo.setAccessibleDescription("Undoes the last change of the constraints")
        shortcut = QShortcut(QKeySequence.StandardKey.Undo, self)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(self._undo)
        self.empty = quiet(
            f"No constraints yet: every combination of allowed values may be tested. {_EXAMPLES}"
        )
        self.absent = AbsentList()
        self.absent.chosen.connect(self._take_absent)
        self.absent.proposed.connect(lambda _count: self._set_order())
        inside = QWidget()
        self._rows = layouts.column(spacing=theme.NEAR)
        layouts.column(
            self._rows,
            self.absent,
            layouts.stretch(),
            on=inside,
            margin=(0, 0, theme.GAP, 0),
            spacing=theme.WIDE,
        )
        line = layouts.row(
            layouts.grow(labelled("E&very instance must satisfy", self.field)), spacing=theme.NEAR
        )
        for button in (self.add, self.undo):
            line.addWidget(button, 0, Qt.AlignmentFlag.AlignBottom)
        layouts.column(
            line,
            self._wrong,
            self.empty,
            layouts.grow(scrolled(inside)),
            on=self,
            margin=(0, theme.GAP, 0, 0),
            spacing=theme.GAP,
        )

    def show_constraints(self) -> None:
        """Show the constraints of the state, and hold them against the rows where that is due."""
        state = self._desk.state
        self.undo.setEnabled(state.constraints_can_be_undone)
        self.empty.setVisible(not state.constraints)
        try:
            attributes = state.attributes()
        except SpecError:
            attributes = ()
        self.field.attributes = attributes
        self._show_rows()
        if state.table is None or not attributes:
            return
        if not state.predictions:  # there is no model that a search could query
            self.absent.look(state.table, attributes, state.all_constraints())
        table, constraints = state.table, state.constraints
        # a table of another reading is another object
        now = (id(table), attributes, constraints)
        if now != self._asked:
            self._asked = now
            if constraints:
                call = partial(_check, table, attributes, constraints)
                self._checker.ask(call, self._take, self._say)

    # -- answering ----------------------------------------------------------------------------

    def enter_text(self) -> None:
        """Add what is in the field, or put it in place of what is edited."""
        text = self.field.text().strip()
        if not text:
            self.field.setFocus()
            return
        state = self._desk.state
        try:
            written = parse(text, state.attributes()).text
        except SpecError as error:
            self._say(error)
            if isinstance(error, ConstraintError):
                self.field.setFocus()
                self.field.setCursorPosition(error.position)
            return
        kept = [written if each == self._edited else each for each in state.constraints]
        self._change((*kept, written))
        self._stop_editing()
        self.field.setFocus()

    def _edit(self, text: str) -> None:
        self._edited = text
        self.add.setText("&Done")
        self.field.setText(text)
        self.field.setFocus()

    def _remove(self, text: str) -> None:
        if text == self._edited:
            self._stop_editing()
        self._change(tuple(each for each in self._desk.state.constraints if each != text))
        self.undo.setFocus()

    def _take_absent(self, constraints: tuple[str, ...]) -> None:
        self._change((*self._desk.state.constraints, *constraints))
        self.undo.setFocus()

    def _undo(self) -> None:
        if self._desk.state.undo_constraints():
            self._stop_editing()
            self.show_constraints()
            self.changed.emit()

    def _change(self, constraints: tuple[str, ...]) -> None:
        self._desk.state.set_constraints(tuple(dict.fromkeys(constraints)))
        self.show_constraints()
        self.changed.emit()

    def _stop_editing(self) -> None:
        self._edited = None
        self.add.setText("A&dd")
        self.field.clear()
        self._wrong.hide()

    # -- showing ------------------------------------------------------------------------------

    def _take(self, found: dict[str, Checked | SpecError]) -> None:
        self._found = found
        self._show_rows()

    def _say(self, error: FairDeskError) -> None:
        self._wrong.setText(" ".join(part for part in (error.why, error.remedy) if part))
        self._wrong.show()

    def _show_rows(self) -> None:
        clear(self._rows)
        self.edits, self.removes = {}, {}
        for text in self._desk.state.constraints:
            self.edits[text] = self._button("Edit", text, self._edit)
            self.removes[text] = self._button("Remove", text, self._remove)
            self._rows.addWidget(self._row(text))
        self._set_order()

    def _set_order(self) -> None:
        """Let the keyboard go through the buttons as they are seen."""
        order: list[QWidget] = [self.field, self.add, self.undo]
        for text in self.edits:
            order += [self.edits[text], self.removes[text]]
        in_order(*order, self.absent.all, *self.absent.excludes.values())

    def _row(self, text: str) -> Card:
        """Make what shows one constraint."""
        words = Words(text, strong=True)
        words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        row = layouts.row(
            layouts.grow(layouts.column(words, self._standing(text), spacing=theme.TIGHT)),
            layouts.at(self.edits[text], Qt.AlignmentFlag.AlignTop),
            layouts.at(self.removes[text], Qt.AlignmentFlag.AlignTop),
            spacing=theme.NEAR,
        )
        card = Card(margin=theme.GAP)
        card.body.addLayout(row)
        return card

    def _button(self, word: str, text: str, run: Callable[[str], None]) -> QPushButton:
        button = push_button(word, lambda _checked=False: run(text))
        button.setAccessibleName(f"{word} the constraint {text}")
        return button

    def _standing(self, text: str) -> Words:
        """Say how many rows keep a constraint."""
        found = self._found.get(text)
        if found is None:
            return Words("Checking against the rows…", tone="quiet")
        if isinstance(found, SpecError):
            return Words(str(found), tone="wrong")
        holds = found.total - found.broken
        sentence = f"No violation in {number(holds)} of {number(found.total)} rows"
        if found.undecided:
            sentence += f" ({number(found.undecided)} of them cannot be checked: a cell is missing)"
        if found.broken:
            first = [number(each) for each in found.first[:5]]
            rest = found.broken - len(first)
            rows = [*first, f"{number(rest)} more"] if rest else first
            word = "row" if found.broken == 1 else "rows"
            sentence += f"; violated by {percent(found.broken, found.total)}: {word} {joined(rows)}"
        return Words(f"{sentence}.", tone="wrong" if found.share > _MANY else "quiet")
