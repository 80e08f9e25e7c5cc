"""Step 1: the data. How the file is written, what its columns are, and what is decided."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QStackedWidget,
    QWidget,
)

from fairdesk.data.columns.rereading import for_kind, with_reading
from fairdesk.data.columns.retyping import retype
from fairdesk.data.profiling.leaks import leaks
from fairdesk.data.profiling.outcomes import favourable_rows
from fairdesk.data.profiling.profile import Problem, histogram, problems, suggest_label
from fairdesk.data.table import Column, Dialect, Kind, Source, Table
from fairdesk.errors import DataError, FairDeskError
from fairdesk.gui.forms.cells_dialog import CellsDialog
from fairdesk.gui.kit import layouts, theme, tips
from fairdesk.gui.kit.background import Latest
from fairdesk.gui.kit.dropping import Sort, filter_of
from fairdesk.gui.kit.parts import (
    Card,
    DropZone,
    Elided,
    bounded,
    calm,
    clear,
    heading,
    labelled,
    push_button,
    quiet,
    scrolled,
    short,
)
from fairdesk.gui.wizard.data.favourable import FavourableField
from fairdesk.gui.wizard.page import Desk, Page
from fairdesk.gui.wizard.preview import Histogram, Preview
from fairdesk.gui.wizard.problem_card import ProblemCard
from fairdesk.gui.wizard.progress import ProgressLine, Share
from fairdesk.gui.wizard.state.wizard_state import Step
from fairdesk.wording.words import counted

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
class _Seen:
    """What was noticed about one column."""

    column: Column
    histogram: Histogram
    problems: tuple[Problem, ...]


@dataclass(frozen=True)
class _Reading:
    """A table and what was noticed about it."""

    table: Table
    seen: dict[str, _Seen]
    label: str | None
    kinds: dict[str, Kind]
    refused: tuple[DataError, ...]


@dataclass
class _Job(Share):
    """A reading under way, which may be given up between two columns."""

    stopped: bool = False

    def go_on(self, doing: str, done: float) -> None:
        """Tell how far it is; raises `DataError` once it is to stop."""
        if self.stopped:
            raise DataError("Reading was stopped.")
        self.doing, self.done = doing, done


def _look(table: Table, kinds: dict[str, Kind], before: _Reading | None, job: _Job) -> _Reading:
    """Return a table the kinds that the auditor chose, and look at it. Runs in the background.

    Columns that are as they were ``before`` are not looked at again.
    """
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
    if before is not None and before.table.source != table.source:
        before = None
    seen = {}
    for place, column in enumerate(table.columns):
        job.go_on("Looking at the columns…", place / len(table.columns))
        known = before.seen.get(column.name) if before is not None else None
        if known is None or known.column != column:
            alone = Table(table.source, (column,), table.codes[:, place : place + 1])
            bars = () if column.kind is Kind.TEXT else histogram(alone, column.name)
            known = _Seen(column, bars, problems(alone))
        seen[column.name] = known
    return _Reading(
        table=table,
        seen=seen,
        label=suggest_label(table) if before is None else before.label,
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
        self._reading: _Reading | None = None
        self._leaks: tuple[Problem, ...] = ()
        self._pressed = ""
        self._job = _Job("")
        self._reader = Latest(self)
        self.progress = ProgressLine()
        self.progress.cancelled.connect(self._cancel)
        self._reader.ended.connect(self.progress.rest)
        self._leak_finder = Latest(self)
        self._empty = DropZone(
            "Drop a table here",
            "CSV or other text, Excel, Parquet or SQLite. It is read on this computer and not "
            "changed.",
        )
        self._empty.asked.connect(self._choose)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._loaded_part())
        self.body.addWidget(self._stack, 1)
        self.body.addWidget(self.progress)

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
        """Return what has the keyboard when the page comes on screen."""
        return self.preview if self.state.table is not None else self._empty.button

    @property
    def busy(self) -> bool:
        """Whether a file is being read."""
        return not self.progress.isHidden()

    # -- building -----------------------------------------------------------------------------

    def _loaded_part(self) -> QWidget:
        part = QWidget()
        column = layouts.column(self._file_row(), self._dialect_row(), on=part, spacing=theme.GAP)
        self.preview = Preview()
        self.preview.header.chosen.connect(self._retype)
        self._problems_side = QWidget()
        self._problems_side.setFixedWidth(36 * self.fontMetrics().averageCharWidth())
        self._problems_title = heading("")
        inside = QWidget()
        self._problems = layouts.column(
            on=inside, margin=(0, 0, theme.TIGHT, 0), spacing=theme.NEAR
        )
        layouts.column(self._problems_title, layouts.grow(scrolled(inside)), on=self._problems_side)
        middle = layouts.row(layouts.grow(self.preview), self._problems_side, spacing=theme.GAP)
        column.addLayout(middle, 1)
        column.addWidget(self._question())
        return part

    def _file_row(self) -> QHBoxLayout:
        self._name = Elided(strong=True)
        self._size = quiet()
        names = layouts.column(self._name, self._size, spacing=0)
        other = push_button("&Choose another file…", self._choose)
        return layouts.row(layouts.grow(names), other, spacing=theme.GAP)

    def _dialect_row(self) -> QHBoxLayout:
        self.delimiter, self.encoding, self.decimal = QComboBox(), QComboBox(), QComboBox()
        for combo, entries in (
            (self.delimiter, _DELIMITERS),
            (self.encoding, _ENCODINGS),
            (self.decimal, _DECIMALS),
        ):
            for value, words in entries.items():
                combo.addItem(words, value)
        self.table = QComboBox()
        for combo in (self.delimiter, self.encoding, self.decimal, self.table):
            bounded(combo, 9)
            calm(combo)
        for combo in (self.delimiter, self.encoding, self.decimal):
            combo.activated.connect(self._reread)
        self.table.activated.connect(self._read_table)
        self.missing = QLineEdit()
        self.missing.setPlaceholderText("empty cells only")
        self.missing.setToolTip("Cells that mean “no value”, separated by commas")
        self.missing.editingFinished.connect(self._reread)
        self.header = QCheckBox("First row &has names")
        self.header.setAccessibleName("First row has names")
        self.header.toggled.connect(self._reread)
        self._table_label = QLabel("Shee&t")
        self._table_label.setBuddy(self.table)
        self._table_box = layouts.panel(self._table_label, self.table, spacing=theme.TIGHT)
        self._text_only = layouts.strip(
            layouts.grow(labelled("Columns are &split by", self.delimiter), 3),
            layouts.grow(labelled("&Encoding", self.encoding), 4),
            layouts.grow(labelled("&Decimal mark", self.decimal), 3),
            spacing=theme.GAP,
        )
        return layouts.row(
            layouts.grow(self._table_box, 4),
            layouts.grow(self._text_only, 10),
            layouts.grow(labelled("Cells &without a value", self.missing), 4),
            layouts.at(self.header, Qt.AlignmentFlag.AlignBottom),
            layouts.stretch(),
            spacing=theme.GAP,
        )

    def _question(self) -> Card:
        card = Card(margin=theme.GAP)
        self.person = QComboBox()
        self.person.setEditable(True)
        self.person.addItems(_PEOPLE)
        self.person.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.person.editTextChanged.connect(self._answer_person)
        self.label, self.good = bounded(QComboBox()), FavourableField()
        self.favourable = self.good.combo
        self.label.activated.connect(self._answer_label)
        self.good.chosen.connect(self._answer_favourable)
        calm(self.person, self.label)
        row = layouts.row(spacing=theme.WIDE)
        for text, field, stretch in (
            ("What is &one row?", self.person, 2),
            ("Which column is the decision or the &truth?", self.label, 3),
            ("What is &good to get?", self.good, 4),
        ):
            place = labelled(text, field)
            place.addStretch(1)  # fields of other heights keep their tops in line
            row.addLayout(place, stretch)
        self.good.setFocusProxy(self.favourable)
        self.favourable.setAccessibleName(self.good.accessibleName())
        card.body.addLayout(row)
        self._outcome = quiet()
        card.body.addWidget(self._outcome)
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
        """Return how the file is to be read, as the controls say."""
        table = self.state.table
        missing = tuple(t for each in self.missing.text().split(",") if (t := each.strip()))
        before = Dialect() if table is None else table.source.dialect
        if before.format != "csv":
            return msgspec.structs.replace(before, missing=missing, header=self.header.isChecked())
        return msgspec.structs.replace(
            before,
            delimiter=self.delimiter.currentData(),
            encoding=self.encoding.currentData(),
            header=self.header.isChecked(),
            decimal=self.decimal.currentData(),
            missing=missing,
        )

    def _reread(self) -> None:
        table = self.state.table
        if self._path is None or (table is not None and table.source.dialect == self._dialect()):
            return
        self._read(self._path, self._dialect(), self._kinds)

    def _read_table(self) -> None:
        """Read another sheet or table of the file, whose columns are others."""
        wanted = msgspec.structs.replace(
            self._dialect(), table=self.table.currentData(), columns={}
        )
        table = self.state.table
        if self._path is not None and table is not None and wanted != table.source.dialect:
            self._read(self._path, wanted, {})

    def _read(self, path: Path, dialect: Dialect | None, kinds: dict[str, Kind]) -> None:
        self._give_up()
        self._path = path
        self._wanted = (path, dialect)
        clerk, before, job = (
            self.desk.clerk,
            self._reading,
            _Job(f"Reading {short(path.name, 40)}…"),
        )

        def read() -> _Reading:
            job.go_on(job.doing, 0.0)
            return _look(clerk.read_table(path, dialect, job.say), kinds, before, job)

        self._ask(read, job)

    def _retype(self, name: str, kind: str) -> None:
        table, before = self.state.table, self._reading
        if table is None:
            return
        kinds = {**self._kinds, name: Kind(kind)}
        dialect = for_kind(table, name, Kind(kind))
        if dialect is not None and self._path is not None and self._wanted is None:
            self._read(self._path, dialect, kinds)
        elif self._wanted is not None:
            # the table on screen is being read again; what replaces it gets the kind
            self._read(*self._wanted, kinds)
        else:
            job = _Job("Looking at the columns…")
            self._ask(lambda: _look(table, kinds, before, job), job)

    def _change(self, dialect: Dialect, pressed: str) -> None:
        """Read the table as the auditor decided of its cells, at the card of a column.

        Kinds that were given to a column before it is read in another way count no more.
        """
        table = self.state.table
        if table is None or self._path is None:
            return
        self._pressed = pressed
        before = table.source.dialect
        kinds = {
            name: kind
            for name, kind in self._kinds.items()
            if dialect.reading(name) == before.reading(name)
        }
        self._read(self._path, dialect, kinds)

    def _open_cells(self, name: str) -> None:
        """Ask what each odd cell of a column is."""
        table = self.state.table
        if table is None:
            return
        dialect = table.source.dialect
        dialog = CellsDialog(table.column(name), dialect, self)
        if dialog.exec():
            self._change(with_reading(dialect, name, dialog.reading()), name)

    def _ask(self, call: Callable[[], _Reading], job: _Job) -> None:
        self.banner.clear()
        self._job = job
        self._reader.ask(call, self._show, self._refuse)
        self.progress.follow(job)

    def _give_up(self) -> None:
        """Stop the reading under way, if there is one; its result is not waited for."""
        if self.busy:
            self._reader.drop()
            self._job.stopped = True
            self.desk.clerk.stop()

    def _cancel(self) -> None:
        path, dialect = self._wanted or (None, None)
        kinds = self._kinds
        self._give_up()
        self.progress.rest()
        again: list[tuple[str, Callable[[], object]]] = (
            [("Read it &again", lambda: self._read(path, dialect, kinds))] if path else []
        )
        kept = "The table that was read before is still here." if self.state.table else ""
        self.banner.say("Reading was stopped.", kept or "Nothing was lost.", again)
        self._stay()

    def _show(self, reading: _Reading) -> None:
        # nothing is left to be stopped, though the thread has yet to end
        self.progress.rest()
        table, before = reading.table, self.state.table
        first = before is None or (before.source.path, before.source.dialect.table) != (
            table.source.path,
            table.source.dialect.table,
        )
        self.state.set_table(table)
        if first and reading.label in self.state.label_candidates() and not self.state.label:
            self.state.set_label(reading.label or "")
        for error in reading.refused:
            self.banner.tell(error)
        self._reading = reading
        self._kinds, self._wanted = reading.kinds, None
        self._name.say(Path(table.source.path).name)
        self._name.setToolTip(tips.plain(table.source.path))
        self._size.setText(f"{table.source.rows:,} rows, {len(table.columns):,} columns")
        self._show_dialect(table.source)
        self.desk.histograms = {name: seen.histogram for name, seen in reading.seen.items()}
        self.preview.show_table(table, self.desk.histograms)
        self._leaks = ()
        self._show_problems()
        self._show_question()
        self._stack.setCurrentIndex(1)
        if first and self.isVisible():
            (self.favourable if self.state.label else self.label).setFocus()
        self._find_leaks()
        self.loaded.emit()
        self.changed.emit()

    def _refuse(self, error: FairDeskError) -> None:
        self.banner.tell(error)
        self._stay()

    def _stay(self) -> None:
        """Go on with what was read before, if anything was."""
        table = self.state.table
        self._wanted = None
        if table is not None:
            # what was read before still stands, and so do the controls that say how
            self._path = Path(table.source.path)
            self._show_dialect(table.source)
            self.preview.show_kinds()
        self.failed.emit()
        self.changed.emit()

    def _find_leaks(self) -> None:
        """Look for columns that tell the decision by themselves, once there is one."""
        state = self.state
        table, label, favourable = state.table, state.label, state.favourable
        if table is None or state.blocked(Step.DATA):
            return

        def look() -> tuple[Problem, ...]:
            good, _ = favourable_rows(table, label, favourable)
            return leaks(table, label, good)

        self._leak_finder.ask(look, self._show_leaks, self.banner.tell)

    # -- showing ------------------------------------------------------------------------------

    def _show_dialect(self, source: Source) -> None:
        dialect = source.dialect
        blocked = [QSignalBlocker(each) for each in (self.header, self.missing)]
        _select(self.delimiter, dialect.delimiter)
        _select(self.encoding, _codec(dialect.encoding))
        _select(self.decimal, dialect.decimal)
        self.header.setChecked(dialect.header)
        self.missing.setText(", ".join(dialect.missing))
        del blocked
        text = dialect.format == "csv"
        self._text_only.setVisible(text)
        self.header.setVisible(text or dialect.format == "excel")
        self._table_box.setVisible(len(source.tables) > 1)
        word = "Sheet" if dialect.format == "excel" else "Table"
        self._table_label.setText(f"{word} o&f the file")
        self.table.setAccessibleName(f"{word} of the file")
        self.table.clear()
        for name in source.tables:
            self.table.addItem(name, name)
        self.table.setCurrentIndex(self.table.findData(dialect.table))

    def _show_leaks(self, found: tuple[Problem, ...]) -> None:
        self._leaks = found
        self._show_problems()

    def _show_problems(self) -> None:
        noticed = [
            problem
            for seen in (self._reading.seen.values() if self._reading else ())
            for problem in seen.problems
            if problem.changes or problem.column != self.state.label
        ]
        noticed.sort(key=lambda problem: not problem.changes)
        found = [*self._leaks, *noticed]
        table = self.state.table
        odd_columns = [each.name for each in table.columns if each.odd] if table else []
        clear(self._problems)
        self._problems_side.setVisible(bool(found))
        self._problems_title.setText(f"{len(found)} to look at" if found else "")
        for problem in found:
            odd = problem.column in odd_columns and bool(problem.changes)
            card = ProblemCard(problem, cells=odd)
            card.retyped.connect(self._retype)
            card.reread.connect(lambda dialect, name=problem.column: self._change(dialect, name))
            card.opened.connect(self._open_cells)
            self._problems.addWidget(card)
            if problem.column == self._pressed and card.buttons:
                next(iter(card.buttons.values())).setFocus()
                self._pressed = ""
        self._problems.addStretch(1)

    def _show_question(self) -> None:
        blocked = QSignalBlocker(self.person)
        self.person.setCurrentText(self.state.person)
        del blocked
        _fill(self.label, self.state.label_candidates(), self.state.label, "Choose a column…")
        state = self.state
        column = state.table.column(state.label) if state.table and state.label else None
        self.good.show_outcome(column, state.label_values(), state.favourable)
        self._show_outcome()

    def _show_outcome(self) -> None:
        """Say how many rows have the good outcome, and how many have none."""
        state = self.state
        text = ""
        if state.table is not None and state.label:
            missing = state.table.column(state.label).missing
            if state.favourable:
                try:
                    good, known = state.outcome()
                    text = f"{good:,} of {counted(known, state.person)} got it."
                except FairDeskError as error:
                    text = str(error)
            if missing:
                text += f" {missing:,} rows have no decision: “{state.label}” is missing there."
        self._outcome.setText(text.strip())
        self._outcome.setVisible(bool(text))

    # -- answering ----------------------------------------------------------------------------

    def _answer_person(self, text: str) -> None:
        self.state.person = text.strip()
        self._show_outcome()
        self.changed.emit()

    def _answer_label(self) -> None:
        self.state.set_label(self.label.currentData() or "")
        self._show_question()
        self._leak_finder.drop()
        self._show_leaks(())
        self.changed.emit()

    def _answer_favourable(self, favourable: str) -> None:
        self.state.set_favourable(favourable)
        self._show_outcome()
        self._show_leaks(())
        self._find_leaks()
        self.changed.emit()


def _codec(encoding: str) -> str:
    """Return the name under which a codec is listed."""
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
