"""Step 1: the data. How the file is written, what its columns are, and what is decided."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from fairdesk.data.profile import Problem, histogram, problems, suggest_label
from fairdesk.data.reading import retype
from fairdesk.data.table import Dialect, Kind, Table
from fairdesk.errors import DataError, FairDeskError
from fairdesk.gui import theme
from fairdesk.gui.background import Latest
from fairdesk.gui.dropping import Sort, filter_of
from fairdesk.gui.parts import (
    Busy,
    Card,
    DropZone,
    Elided,
    Words,
    bounded,
    clear,
    heading,
    labelled,
    quiet,
    scrolled,
)
from fairdesk.gui.wizard.page import Desk, Page
from fairdesk.gui.wizard.preview import KINDS, Histogram, Preview
from fairdesk.gui.wizard.state import Step

_DELIMITERS = {",": "Comma  ,", ";": "Semicolon  ;", "\t": "Tab", "|": "Bar  |", " ": "Space"}
_ENCODINGS = {
    "utf-8": "UTF-8",
    "utf-8-sig": "UTF-8 with mark",
    "utf-16": "UTF-16",
    "cp1252": "Western (Windows-1252)",
    "iso-8859-1": "Western (ISO 8859-1)",
    "iso-8859-15": "Western (ISO 8859-15)",
    "cp1250": "Central European (1250)",
    "cp1251": "Cyrillic (1251)",
    "shift_jis": "Japanese (Shift JIS)",
    "gb18030": "Chinese (GB 18030)",
}
_DECIMALS = {".": "Point  1.5", ",": "Comma  1,5"}
_PEOPLE = ("applicant", "person", "customer", "patient", "employee", "candidate", "student")


@dataclass(frozen=True)
class _Reading:
    """A table and what was noticed about it."""

    table: Table
    problems: tuple[Problem, ...]
    histograms: dict[str, Histogram]
    label: str | None
    kinds: dict[str, Kind]
    refused: tuple[DataError, ...]


def _look(table: Table, kinds: dict[str, Kind]) -> _Reading:
    """Give a table the kinds that the auditor chose, and look at it. Runs in the background."""
    refused, taken = [], {}
    for name, kind in kinds.items():
        if name not in table.names:
            continue
        try:
            if table.column(name).kind is not kind:
                table = retype(table, name, kind)
        except DataError as error:
            refused.append(error)
        else:
            taken[name] = kind
    return _Reading(
        table=table,
        problems=problems(table),
        histograms={name: histogram(table, name) for name in table.names},
        label=suggest_label(table),
        kinds=taken,
        refused=tuple(refused),
    )


class DataPage(Page):
    """The first page.

    Signals
    -------
    loaded
        A table was read and is shown.
    failed
        It could not be; the page says why.
    """

    loaded = Signal()
    failed = Signal()

    def __init__(self, desk: Desk) -> None:
        super().__init__(
            desk,
            Step.DATA,
            "Data",
            "A table of real cases, one per row: what was known about each, and what was decided.",
        )
        self._path: Path | None = None
        self._kinds: dict[str, Kind] = {}
        self._wanted: tuple[Path, Dialect | None] | None = None
        self._reader = Latest(self)
        self._busy = Busy(steady=True)
        self._reader.began.connect(lambda: self._busy.say("Reading…"))
        self._reader.ended.connect(lambda: self._busy.say(""))
        self._empty = DropZone(
            "Drop a CSV file here",
            "&Choose a file…",
            "It is read on this computer and not changed.",
        )
        self._empty.asked.connect(self._choose)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._loaded_part())
        self.body.addWidget(self._stack, 1)
        self.body.addWidget(self._busy)

    # -- what the wizard and the page's own controls ask for ----------------------------------

    def load(self, path: Path) -> None:
        """Read a file; how it is written is found out."""
        self.desk.settings.used("data", path)
        self._read(path, None, {})

    def enter(self) -> None:
        """Show the answers."""
        super().enter()
        self._show_question()

    def first_field(self) -> QWidget:
        """Give what has the keyboard when the page comes on screen."""
        return self.preview if self.state.table is not None else self._empty.button

    @property
    def busy(self) -> bool:
        """Whether a file is being read."""
        return not self._busy.isHidden()

    # -- building -----------------------------------------------------------------------------

    def _loaded_part(self) -> QWidget:
        part = QWidget()
        column = QVBoxLayout(part)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.GAP)
        column.addLayout(self._file_row())
        column.addLayout(self._dialect_row())
        middle = QHBoxLayout()
        middle.setSpacing(theme.GAP)
        self.preview = Preview()
        self.preview.header.chosen.connect(self._retype)
        middle.addWidget(self.preview, 1)
        self._problems_side = QWidget()
        self._problems_side.setFixedWidth(15 * self.fontMetrics().averageCharWidth() * 2)
        side = QVBoxLayout(self._problems_side)
        side.setContentsMargins(0, 0, 0, 0)
        self._problems_title = heading("")
        side.addWidget(self._problems_title)
        inside = QWidget()
        self._problems = QVBoxLayout(inside)
        self._problems.setContentsMargins(0, 0, theme.TIGHT, 0)
        self._problems.setSpacing(theme.NEAR)
        side.addWidget(scrolled(inside), 1)
        middle.addWidget(self._problems_side)
        column.addLayout(middle, 1)
        column.addWidget(self._question())
        return part

    def _file_row(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(theme.GAP)
        names = QVBoxLayout()
        names.setSpacing(0)
        self._name = Elided(strong=True)
        self._size = quiet()
        names.addWidget(self._name)
        names.addWidget(self._size)
        other = QPushButton("&Choose another file…")
        other.clicked.connect(self._choose)
        row.addLayout(names, 1)
        row.addWidget(other)
        return row

    def _dialect_row(self) -> QGridLayout:
        self.delimiter, self.encoding, self.decimal = QComboBox(), QComboBox(), QComboBox()
        for combo, entries in (
            (self.delimiter, _DELIMITERS),
            (self.encoding, _ENCODINGS),
            (self.decimal, _DECIMALS),
        ):
            for value, words in entries.items():
                combo.addItem(words, value)
            bounded(combo, 9)
            combo.activated.connect(self._reread)
        self.missing = QLineEdit()
        self.missing.setPlaceholderText("empty cells only")
        self.missing.setToolTip("Cells that mean “no value”, separated by commas")
        self.missing.editingFinished.connect(self._reread)
        self.header = QCheckBox("First row has &names")
        self.header.setAccessibleName("First row has names")
        self.header.toggled.connect(self._reread)
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.GAP)
        grid.addLayout(labelled("Columns are &split by", self.delimiter), 0, 0)
        grid.addLayout(labelled("&Encoding", self.encoding), 0, 1)
        grid.addLayout(labelled("&Decimal mark", self.decimal), 0, 2)
        grid.addLayout(labelled("Cells &without a value", self.missing), 0, 3)
        grid.addWidget(self.header, 0, 4, Qt.AlignmentFlag.AlignBottom)
        for position, stretch in enumerate((3, 4, 3, 3, 0)):
            grid.setColumnStretch(position, stretch)
        return grid

    def _question(self) -> Card:
        card = Card(margin=theme.GAP)
        self.person = QComboBox()
        self.person.setEditable(True)
        self.person.addItems(_PEOPLE)
        self.person.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.person.editTextChanged.connect(self._answer_person)
        self.label, self.favourable = bounded(QComboBox()), bounded(QComboBox())
        self.label.activated.connect(self._answer_label)
        self.favourable.activated.connect(self._answer_favourable)
        row = QHBoxLayout()
        row.setSpacing(theme.WIDE)
        row.addLayout(labelled("What is &one row?", self.person), 2)
        row.addLayout(labelled("Which column is the decision or the &truth?", self.label), 3)
        row.addLayout(labelled("Which value is &good to get?", self.favourable), 3)
        card.body.addLayout(row)
        return card

    # -- reading ------------------------------------------------------------------------------

    def _choose(self) -> None:
        name, _ = QFileDialog.getOpenFileName(
            self,
            "Choose the data",
            self.desk.settings.folder("data"),
            filter_of(Sort.DATA, "Tables"),
        )
        if name:
            self.load(Path(name))

    def _dialect(self) -> Dialect:
        return Dialect(
            delimiter=self.delimiter.currentData(),
            encoding=self.encoding.currentData(),
            header=self.header.isChecked(),
            decimal=self.decimal.currentData(),
            missing=tuple(t for each in self.missing.text().split(",") if (t := each.strip())),
        )

    def _reread(self) -> None:
        table = self.state.table
        if self._path is None or (table is not None and table.source.dialect == self._dialect()):
            return
        self._read(self._path, self._dialect(), self._kinds)

    def _read(self, path: Path, dialect: Dialect | None, kinds: dict[str, Kind]) -> None:
        self._path = path
        self._wanted = (path, dialect)
        clerk = self.desk.clerk
        self._ask(lambda: _look(clerk.read_table(path, dialect), kinds))

    def _retype(self, name: str, kind: str) -> None:
        table = self.state.table
        if table is None:
            return
        kinds = {**self._kinds, name: Kind(kind)}
        if self._wanted is not None:
            # the table on screen is being read again; what replaces it gets the kind
            self._read(*self._wanted, kinds)
        else:
            self._ask(lambda: _look(table, kinds))

    def _ask(self, call: Callable[[], _Reading]) -> None:
        self.banner.clear()
        self._reader.ask(call, self._show, self._refuse)

    def _show(self, reading: _Reading) -> None:
        table = reading.table
        first = self.state.table is None or self.state.table.source.path != table.source.path
        self.state.set_table(table)
        if first and reading.label in self.state.label_candidates() and not self.state.label:
            self.state.set_label(reading.label or "")
        for error in reading.refused:
            self.banner.tell(error)
        self._kinds, self._wanted = reading.kinds, None
        self._name.say(Path(table.source.path).name)
        self._name.setToolTip(table.source.path)
        self._size.setText(f"{table.source.rows:,} rows, {len(table.columns):,} columns")
        self._show_dialect(table.source.dialect)
        self.preview.show_table(table, reading.histograms)
        self._show_problems(reading.problems)
        self._show_question()
        self._stack.setCurrentIndex(1)
        if first:
            (self.favourable if self.state.label else self.label).setFocus()
        self.loaded.emit()
        self.changed.emit()

    def _refuse(self, error: FairDeskError) -> None:
        table = self.state.table
        self._wanted = None
        self.banner.tell(error)
        if table is not None:
            # what was read before still stands, and so do the controls that say how
            self._path = Path(table.source.path)
            self._show_dialect(table.source.dialect)
        self.failed.emit()
        self.changed.emit()

    # -- showing ------------------------------------------------------------------------------

    def _show_dialect(self, dialect: Dialect) -> None:
        blocked = [QSignalBlocker(each) for each in (self.header, self.missing)]
        _select(self.delimiter, dialect.delimiter)
        _select(self.encoding, _codec(dialect.encoding))
        _select(self.decimal, dialect.decimal)
        self.header.setChecked(dialect.header)
        self.missing.setText(", ".join(dialect.missing))
        del blocked

    def _show_problems(self, found: tuple[Problem, ...]) -> None:
        clear(self._problems)
        self._problems_side.setVisible(bool(found))
        self._problems_title.setText(f"{len(found)} to look at" if found else "")
        for problem in found:
            card = Card(margin=theme.GAP)
            card.body.setSpacing(theme.TIGHT)
            card.body.addWidget(Words(problem.what))
            if problem.remedy:
                card.body.addWidget(quiet(problem.remedy))
            if problem.suggested is not None:
                words = (
                    "Leave it out"
                    if problem.suggested is Kind.IGNORED
                    else f"Read as {KINDS[problem.suggested].lower()}"
                )
                fix = QPushButton(words)
                fix.setAccessibleName(f"{words}: {problem.column}")
                fix.clicked.connect(
                    lambda _checked=False, name=problem.column, kind=problem.suggested: (
                        self._retype(name, kind.value)
                    )
                )
                card.body.addWidget(fix, 0, Qt.AlignmentFlag.AlignLeft)
            self._problems.addWidget(card)
        self._problems.addStretch(1)

    def _show_question(self) -> None:
        blocked = QSignalBlocker(self.person)
        self.person.setCurrentText(self.state.person)
        del blocked
        _fill(self.label, self.state.label_candidates(), self.state.label, "Choose a column…")
        _fill(self.favourable, self.state.label_values(), self.state.favourable, "Choose a value…")
        self.favourable.setEnabled(bool(self.state.label))

    # -- answering ----------------------------------------------------------------------------

    def _answer_person(self, text: str) -> None:
        self.state.person = text.strip()
        self.changed.emit()

    def _answer_label(self) -> None:
        self.state.set_label(self.label.currentData() or "")
        self._show_question()
        self.changed.emit()

    def _answer_favourable(self) -> None:
        self.state.set_favourable(self.favourable.currentData() or "")
        self.changed.emit()


def _codec(encoding: str) -> str:
    """Give the name under which a codec is listed."""
    name = codecs.lookup(encoding).name
    return next((each for each in _ENCODINGS if codecs.lookup(each).name == name), encoding)


def _select(combo: QComboBox, value: str) -> None:
    """Select a value, and list it first when it is not a usual one."""
    if combo.findData(value) < 0:
        combo.addItem(value, value)
    combo.setCurrentIndex(combo.findData(value))


def _fill(combo: QComboBox, values: tuple[str, ...], chosen: str, prompt: str) -> None:
    """List values; a prompt stands for "none yet"."""
    combo.clear()
    combo.setPlaceholderText(prompt)
    for value in values:
        combo.addItem(value if value.strip() else f"“{value}”", value)
    combo.setCurrentIndex(combo.findData(chosen) if chosen else -1)
    combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    combo.setMinimumContentsLength(10)


__all__ = ["DataPage"]
