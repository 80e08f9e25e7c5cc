"""Two people side by side: alike in all but what is marked, and who in the data is nearest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFocusEvent, QFont, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QStackedWidget,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from fairdesk.audit.spec import AuditSpec
from fairdesk.audit.store import Pair, Store
from fairdesk.data.nearest import nearest
from fairdesk.data.table import Table
from fairdesk.events import Rows
from fairdesk.gui import parts, theme, tips
from fairdesk.gui.pairs_model import MARKS
from fairdesk.gui.workspace.session import Session
from fairdesk.models.decision import score_name
from fairdesk.report import words

Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()


@dataclass(frozen=True)
class Nearest:
    """The real record that is nearest to an invented person.

    Attributes
    ----------
    person : NDArray[np.float64]
        ``(d,)`` codes.
    distance : float
        0 (the same in all that is not protected) to 1.
    row : int
        The number of that row in the data, from 1.
    outcome : str
        What the data's label column says of it.
    """

    person: NDArray[np.float64]
    distance: float
    row: int
    outcome: str


class _People:
    """The data's people, brought into the domain once. Lives in the store's thread."""

    def __init__(self, spec: AuditSpec) -> None:
        self._spec = spec
        self._loaded: tuple[Table, Rows, NDArray[np.intp]] | None = None

    def nearest(self, store: Store, row: NDArray[np.float64]) -> Nearest | None:
        if self._loaded is None:
            table = store.table()
            domain = self._spec.domain
            encoded = domain.encode(table)
            complete = np.flatnonzero(
                ((encoded >= domain.low) & (encoded <= domain.high)).all(axis=1)
            )
            self._loaded = table, encoded[complete], complete
        table, people, numbers = self._loaded
        if not len(people):
            return None
        position, distance = nearest(self._spec.domain, people, row)
        number = int(numbers[position])
        label = table.index(self._spec.label)
        outcome = table.columns[label].text(table.codes[number, label])
        return Nearest(people[position], distance, number + 1, outcome)


@dataclass(frozen=True)
class _Line:
    """One line of the comparison: a name, three texts, and what differs."""

    name: str
    texts: tuple[str, str, str]
    differs: bool
    """The two people differ."""
    strays: bool = False
    """The nearest record differs from the first person."""
    verdict: bool = False


def compare(
    spec: AuditSpec, decisions: Sequence[str], pair: Pair, near: Nearest | None
) -> list[_Line]:
    """Write a pair and the nearest record as lines: what differs, what follows, then the rest."""
    lines: list[_Line] = []
    for position, attribute in enumerate(spec.domain.attributes):
        here, there = pair.row[position], pair.partner[position]
        real = "" if near is None else attribute.text(near.person[position])
        strays = near is not None and bool(near.person[position] != here)
        lines.append(
            _Line(
                attribute.name,
                (attribute.text(here), attribute.text(there), real),
                differs=bool(here != there),
                strays=strays,
            )
        )
    verdict = [
        _Line(
            "Decision",
            (
                decisions[pair.row_class],
                decisions[pair.partner_class],
                "",
            ),
            differs=True,
            verdict=True,
        ),
        _Line(
            score_name(spec.model),
            (words.score(spec, pair.row_score), words.score(spec, pair.partner_score), ""),
            differs=True,
            verdict=True,
        ),
    ]
    changed = [line for line in lines if line.differs]
    return [*changed, *verdict, *(line for line in lines if not line.differs)]


class PeopleModel(QAbstractTableModel):
    """Two people and the nearest record, as columns."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._lines: list[_Line] = []
        person = session.spec.person
        capital = person[:1].upper() + person[1:]
        self._titles = ("", capital, "The same, but", "Nearest record")
        self._person = person
        self._strong = QFont()
        self._strong.setWeight(QFont.Weight.DemiBold)

    def show(self, pair: Pair | None, near: Nearest | None) -> None:
        """Show another pair."""
        self.beginResetModel()
        self._lines = (
            [] if pair is None else compare(self._session.spec, self._session.decisions, pair, near)
        )
        self.endResetModel()

    def rowCount(self, parent: Index = _ROOT) -> int:  # noqa: N802 - Qt's name
        """Give the number of lines."""
        return 0 if parent.isValid() else len(self._lines)

    def columnCount(self, parent: Index = _ROOT) -> int:  # noqa: N802 - Qt's name
        """Give the number of columns: a name and three people."""
        return 0 if parent.isValid() else len(self._titles)

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Give the name of a column."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._titles[section]
        if role == Qt.ItemDataRole.ToolTipRole and section == 3:
            return tips.plain(f"The real {self._person} in your data who is most alike")
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Give a cell: what differs in the heavier weight with a sign, what is equal dimmed."""
        line = self._lines[index.row()]
        column = index.column()
        cell: object = None
        if role == Qt.ItemDataRole.DisplayRole:
            cell = self._text(line, column)
        elif role == Qt.ItemDataRole.FontRole and line.differs and column < 3:
            cell = self._strong
        elif role == Qt.ItemDataRole.ForegroundRole:
            cell = self._colour(line, column)
        elif role == Qt.ItemDataRole.BackgroundRole and line.differs:
            cell = QColor(theme.colours().tint)
        elif role == Qt.ItemDataRole.ToolTipRole:
            cell = tips.plain(self._text(line, column))
        elif role == Qt.ItemDataRole.AccessibleTextRole:
            said = "differs" if line.differs and column in (1, 2) else ""
            cell = f"{line.name}, {self._titles[column]}: {self._text(line, column)} {said}".strip()
        return cell

    def _colour(self, line: _Line, column: int) -> QColor | None:
        colours = theme.colours()
        if line.verdict:
            return QColor(colours.unlike if column in (1, 2) else colours.quiet)
        loud = line.strays if column == 3 else line.differs
        return None if loud else QColor(colours.quiet)

    def _text(self, line: _Line, column: int) -> str:
        if column == 0:
            return line.name
        text = line.texts[column - 1]
        if column == 2 and line.differs:
            return f"≠ {text}"
        if column == 3 and line.strays:
            return f"{text} ·"
        return text


def sentence(spec: AuditSpec, decisions: Sequence[str], pair: Pair) -> str:
    """Say in one sentence what a pair shows."""
    attributes = spec.domain.attributes
    changed = [
        (attributes[p].name, attributes[p].text(pair.row[p]), attributes[p].text(pair.partner[p]))
        for p in spec.domain.protected
        if pair.row[p] != pair.partner[p]
    ]
    changes = words.listed([name for name, _here, _there in changed])
    turns = ", ".join(f"{here} to {there}" for _name, here, there in changed)
    verb = "changes" if len(changed) == 1 else "change"
    return (
        f"Only {changes} {verb} ({turns}), and the decision turns from "
        f"“{decisions[pair.row_class]}” to “{decisions[pair.partner_class]}”, from "
        f"{words.decision_word(spec, pair.row_class)} to "
        f"{words.decision_word(spec, pair.partner_class)}."
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
    """

    left = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._people = _People(session.spec)
        self._pair: Pair | None = None
        self._title = parts.heading("")
        self._sentence = parts.Words()
        self._sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._model = PeopleModel(session, self)
        self._table = self._make_table()
        self._distance = parts.quiet()
        self._flag = QPushButton("⚑ &Flag")
        self._flag.setCheckable(True)
        self._flag.setToolTip("Flag this pair as important (F)")
        self._flag.clicked.connect(self.flag)
        self._dismiss = QPushButton("✕ &Dismiss")
        self._dismiss.setCheckable(True)
        self._dismiss.setToolTip("Dismiss this pair, for example as implausible (D)")
        self._dismiss.clicked.connect(self.dismiss)
        self._note = NoteEdit()
        self._note.setAccessibleName("Note on this pair")
        self._note.setPlaceholderText("A note on this pair (N); saved when you leave it")
        self._note.setTabChangesFocus(True)
        self._note.setFixedHeight(self._note_height(lines=1))
        self._note.entered.connect(lambda: self._note.setFixedHeight(self._note_height(lines=4)))
        self._note.saved.connect(self._save_note)
        self._note.left.connect(self.left)

        buttons = QHBoxLayout()
        buttons.setSpacing(theme.NEAR)
        buttons.addWidget(self._title, 1)
        buttons.addWidget(self._flag)
        buttons.addWidget(self._dismiss)
        full = QWidget()
        column = QVBoxLayout(full)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.NEAR)
        column.addLayout(buttons)
        column.addWidget(self._sentence)
        column.addWidget(self._table, 1)
        column.addWidget(self._distance)
        column.addWidget(self._note)
        empty = QLabel("The pair that you choose in the table\nis shown here, side by side.")
        empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        empty.setEnabled(False)
        self._stack = QStackedWidget()
        self._stack.addWidget(empty)
        self._stack.addWidget(full)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self._stack)

    def _note_height(self, *, lines: int) -> int:
        return self.fontMetrics().height() * lines + 18

    def _make_table(self) -> QTableView:
        table = QTableView()
        table.setModel(self._model)
        table.setAccessibleName("The two people side by side")
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 7)
        table.setShowGrid(False)
        table.setTabKeyNavigation(False)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header = table.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionsClickable(False)
        header.setTextElideMode(Qt.TextElideMode.ElideRight)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Fixed)
        names = [*self._session.spec.domain.names, "Decision"]
        widest = max(self.fontMetrics().horizontalAdvance(name) for name in names)
        header.resizeSection(0, min(widest + 24, 140))
        return table

    @property
    def pair(self) -> Pair | None:
        """The pair that is shown."""
        return self._pair

    def show_pair(self, pair: Pair | None) -> None:
        """Show another pair, or none."""
        another = pair is None or self._pair is None or pair.id != self._pair.id
        if another and self._note.hasFocus():
            self._save_note(self._note.toPlainText().strip())
        self._pair = pair
        self._stack.setCurrentIndex(0 if pair is None else 1)
        if pair is None:
            return
        self._flag.setChecked(pair.mark == "flagged")
        self._dismiss.setChecked(pair.mark == "dismissed")
        mark = f", {MARKS[pair.mark][1]}" if pair.mark else ""
        self._title.setText(f"Pair {words.number(pair.id)}{mark}")
        if another or not self._note.hasFocus():
            self._note.setPlainText(pair.note)
            self._note.setFixedHeight(self._note_height(lines=2 if pair.note else 1))
        if another:
            self._sentence.setText(sentence(self._session.spec, self._session.decisions, pair))
            self._model.show(pair, None)
            self._distance.setText("Looking for the nearest record in your data…")
            self._ask_nearest(pair)

    def flag(self) -> None:
        """Flag the pair, or take the flag away."""
        self._mark("flagged")

    def dismiss(self) -> None:
        """Dismiss the pair, or take it back."""
        self._mark("dismissed")

    def edit_note(self) -> None:
        """Put the keyboard into the note."""
        if self._pair is not None:
            self._note.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self._note.moveCursor(self._note.textCursor().MoveOperation.End)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Follow the theme."""
        super().changeEvent(event)
        if theme.palette_changed(event):
            self._table.viewport().update()

    def _mark(self, mark: str) -> None:
        if self._pair is not None:
            self._session.write_mark(self._pair, "" if self._pair.mark == mark else mark)

    def _save_note(self, text: str) -> None:
        self._note.setFixedHeight(self._note_height(lines=2 if text else 1))
        if self._pair is not None:
            self._session.write_note(self._pair, text)

    def _ask_nearest(self, pair: Pair) -> None:
        people, row = self._people, pair.row
        self._session.store.ask(
            lambda store: (pair.id, people.nearest(store, row)),
            self._take_nearest,
            key=(id(self), "nearest"),
        )

    def _take_nearest(self, answer: tuple[int, Nearest | None]) -> None:
        pair_id, near = answer
        if self._pair is None or self._pair.id != pair_id:
            return
        if near is None:
            self._distance.setText("No row of your data is complete, so none can be compared.")
            return
        self._model.show(self._pair, near)
        others = len(self._session.spec.domain.others)
        alike = sum(
            int(near.person[p] == self._pair.row[p]) for p in self._session.spec.domain.others
        )
        self._distance.setText(
            f"Nearest: row {words.number(near.row)} of your data, recorded “{near.outcome}”; "
            + (f"alike in all {others}" if alike == others else f"alike in {alike} of {others}")
            + (f", distance {near.distance:.3f}" if near.distance else "")
        )
        self._distance.setToolTip(
            "Distance over what is not protected: 0 is the same, 1 the farthest. "
            "A dot marks where the record differs from the first person."
        )
