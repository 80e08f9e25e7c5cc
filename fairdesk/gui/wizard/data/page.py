"""Step 1: the data. How the file is written, what its columns are, and what is decided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QWidget

from fairdesk.app.plan import TEXT
from fairdesk.data.columns.derived import grouped
from fairdesk.data.columns.rereading import for_kind, retype, with_reading
from fairdesk.data.profiling.outcomes import favourable_rows, leaks
from fairdesk.data.profiling.profile import Problem, histogram, problems, suggest_label
from fairdesk.data.table import Column, Dialect, Kind, Table
from fairdesk.errors import DataError, FairDeskError
from fairdesk.gui.forms.dialogs import CellsDialog
from fairdesk.gui.kit import hints, layouts, theme
from fairdesk.gui.kit.dropping import Sort, ask_folder, ask_open, filter_of
from fairdesk.gui.kit.fields import Choice, bounded, choice, labelled
from fairdesk.gui.kit.parts import (
    Busy,
    Card,
    DropZone,
    Elided,
    Share,
    Stack,
    clear,
    heading,
    push_button,
    quiet,
    scrolled,
    short,
)
from fairdesk.gui.kit.threads import Latest
from fairdesk.gui.wizard.data.fields import DialectRow, FavourableField
from fairdesk.gui.wizard.page import Desk, Page
from fairdesk.gui.wizard.preview import Histogram, Preview, ProblemCard
from fairdesk.gui.wizard.state.wizard_state import Step
from fairdesk.wording.words import counted


@dataclass(frozen=True)
class _Seen:
    """What was noticed about one column."""

    column: Column
    histogram: Histogram
    problems: tuple[Problem, ...]


@dataclass(frozen=True)
class Reading:
    """A table and what was noticed about it."""

    table: Table
    seen: dict[str, _Seen]
    label: str | None
    kinds: dict[str, Kind]
    refused: tuple[DataError, ...]


@dataclass
class Job(Share):
    """A reading under way, which may be given up between two columns."""

    stopped: bool = False

    def go_on(self, doing: str, done: float) -> None:
        """Tell how far it is; raises `DataError` once it is to stop."""
        if self.stopped:
            raise DataError("Reading was stopped.")
        self.doing, self.done = doing, done


def look(table: Table, kinds: dict[str, Kind], before: Reading | None, job: Job) -> Reading:
    """Give columns the kinds that the auditor chose, and look at all; runs in the background.

    Columns that are as they were ``before`` are not looked at again.
    """
    table = grouped(table)
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
        job.go_on("Checking the columns…", place / len(table.columns))
        known = before.seen.get(column.name) if before is not None else None
        if known is None or known.column != column:
            alone = Table(table.source, (column,), table.codes[:, place : place + 1])
            bars = () if column.kind is Kind.TEXT else histogram(alone, column.name)
            known = _Seen(column, bars, problems(alone))
        seen[column.name] = known
    return Reading(
        table=table,
        seen=seen,
        label=suggest_label(table) if before is None else before.label,
        kinds=taken,
        refused=tuple(refused),
    )


_PEOPLE = (
    *("applicant", "person", "customer", "patient", "employee", "candidate", "student"),
    TEXT,
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
            "Choose a table with one case per row, including the recorded outcome.",
        )
        self._path: Path | None = None
        self._kinds: dict[str, Kind] = {}
        self._wanted: tuple[Path, Dialect | None] | None = None
        self._reading: Reading | None = None
        self._leaks: tuple[Problem, ...] = ()
        self._pressed = ""
        self._job = Job("")
        self._reader = Latest(self)
        self.progress = Busy(cancel=True, steady=True)
        self.progress.cancelled.connect(self._cancel)
        self._reader.ended.connect(self.progress.say)
        self._leak_finder = Latest(self)
        self._empty = DropZone(
            "Drop a table here",
            "CSV or other text, Excel, Parquet or SQLite; or a folder with the parts of a table "
            "as CSV or Parquet, which may be larger than memory. It is read on this computer and "
            "never modified.",
            folders=True,
        )
        self._empty.asked.connect(self._choose)
        self._empty.folder_asked.connect(self._choose_folder)
        self._stack = Stack()
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
        if self.state.table is None:
            return self._empty.button
        # what is proposed may be right, what is not known must be said
        return self.good if self.state.label else self.label

    @property
    def busy(self) -> bool:
        """Whether a file is being read."""
        return not self.progress.isHidden()

    # -- building -----------------------------------------------------------------------------

    def _loaded_part(self) -> QWidget:
        part = QWidget()
        self.written = DialectRow()
        self.written.changed.connect(self._reread)
        self.written.table_chosen.connect(self._read_table)
        column = layouts.column(
            self._file_row(), self._question(), self.written, on=part, spacing=theme.GAP
        )
        self.preview = Preview()
        self.preview.header.chosen.connect(self._retype)
        self._problems_side = QWidget()
        self._problems_side.setFixedWidth(36 * self.fontMetrics().averageCharWidth())
        self._problems_side.hide()
        self._problems_title = heading("")
        inside = QWidget()
        self._problems = layouts.column(
            on=inside, margin=(0, 0, theme.TIGHT, 0), spacing=theme.NEAR
        )
        layouts.column(self._problems_title, layouts.grow(scrolled(inside)), on=self._problems_side)
        middle = layouts.row(layouts.grow(self.preview), self._problems_side, spacing=theme.GAP)
        column.addLayout(middle, 1)
        return part

    def _file_row(self) -> QHBoxLayout:
        self._name = Elided(strong=True)
        self._size = quiet()
        names = layouts.column(self._name, self._size, spacing=0)
        other = push_button("&Choose another file…", self._choose)
        folder = push_button("Choose a &folder…", self._choose_folder)
        return layouts.row(layouts.grow(names), other, folder, spacing=theme.GAP)

    def _question(self) -> Card:
        self.person = choice(_PEOPLE)
        self.person.setEditable(True)
        self.person.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.person.editTextChanged.connect(self._answer_person)
        self.label, self.good = bounded(Choice("Choose a column…")), FavourableField()
        self.favourable = self.good.combo
        self.label.activated.connect(self._answer_label)
        self.good.chosen.connect(self._answer_favourable)
        row = layouts.row(spacing=theme.WIDE)
        for text, field, stretch in (
            ("Each row is &one…", self.person, 2),
            ("&Recorded outcome", self.label, 3),
            ("Fa&vourable outcome", self.good, 4),
        ):
            place = labelled(text, field)
            place.addStretch(1)  # fields of other heights keep their tops in line
            row.addLayout(place, stretch)
        self.favourable.setAccessibleName(self.good.accessibleName())
        self._outcome = quiet()
        return Card(row, self._outcome, margin=theme.GAP)

    # -- reading ------------------------------------------------------------------------------

    def _choose(self) -> None:
        folder, kinds = self.desk.settings.folder("data"), filter_of(Sort.DATA, "Tables")
        if (path := ask_open(self, "Choose the data", folder, kinds)) is not None:
            self.load(path)

    def _choose_folder(self) -> None:
        title = "Choose the folder with the parts of a table"
        if (path := ask_folder(self, title, self.desk.settings.folder("data"))) is not None:
            self.load(path)

    def _dialect(self) -> Dialect:
        """Return how the file is to be read, as the controls say."""
        table = self.state.table
        return self.written.dialect(Dialect() if table is None else table.source.dialect)

    def _reread(self) -> None:
        table, wanted = self.state.table, self._dialect()
        if self._path is None or (table is not None and table.source.dialect == wanted):
            return
        self._read(self._path, wanted, self._kinds)

    def _read_table(self) -> None:
        """Read another sheet or table of the file, whose columns are others."""
        wanted = msgspec.structs.replace(
            self._dialect(), table=self.written.table.currentData(), columns={}, ages={}, groups={}
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
            Job(f"Reading {short(path.name, 40)}…"),
        )

        def read() -> Reading:
            job.go_on(job.doing, 0.0)
            return look(clerk.read_table(path, dialect, job.say), kinds, before, job)

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
            job = Job("Checking the columns…")
            self._ask(lambda: look(table, kinds, before, job), job)

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

    def reread(self, dialect: Dialect) -> None:
        """Read the table as the model takes it."""
        self._change(dialect, "")

    def _open_cells(self, name: str) -> None:
        """Ask what each odd cell of a column is."""
        table = self.state.table
        if table is None:
            return
        dialect = table.source.dialect
        dialog = CellsDialog(table.column(name), dialect, self)
        if dialog.exec():
            self._change(with_reading(dialect, name, dialog.reading()), name)

    def _ask(self, call: Callable[[], Reading], job: Job) -> None:
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
        self.progress.say("")
        again: list[tuple[str, Callable[[], object]]] = (
            [("Read it &again", lambda: self._read(path, dialect, kinds))] if path else []
        )
        kept = "The table read before is still loaded." if self.state.table else ""
        self.banner.say("Reading was stopped.", kept or "Nothing was lost.", again)
        self._stay()

    def _show(self, reading: Reading) -> None:
        # nothing is left to be stopped, though the thread has yet to end
        self.progress.say("")
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
        self._name.setToolTip(hints.plain(table.source.path))
        self._size.setText(f"{table.source.rows:,} rows, {len(table.columns):,} columns")
        self.written.show_source(table.source)
        if len(table.columns) == 1:
            # most likely it has another separator
            self.written.fold.set_open(opened=True)
        self.desk.histograms = {name: seen.histogram for name, seen in reading.seen.items()}
        self.preview.show_table(table, self.desk.histograms)
        self._leaks = ()
        self._show_problems()
        self._show_question()
        self._stack.setCurrentIndex(1)
        if first and self.isVisible():
            (self.good if self.state.label else self.label).setFocus()
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
            self.written.show_source(table.source)
            self.preview.show_kinds()
        self.failed.emit()
        self.changed.emit()

    def _find_leaks(self) -> None:
        """Look for columns that tell the decision by themselves, once there is one."""
        state = self.state
        table, label, favourable = state.table, state.label, state.favourable
        if table is None or state.blocked(Step.DATA):
            return

        def find() -> tuple[Problem, ...]:
            good, _ = favourable_rows(table, label, favourable)
            return leaks(table, label, good)

        self._leak_finder.ask(find, self._show_leaks, self.banner.tell)

    # -- showing ------------------------------------------------------------------------------

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
        self._problems_title.setText(f"{len(found)} to check" if found else "")
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
        _fill(self.label, self.state.label_candidates(), self.state.label)
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
                    text = (
                        f"{good:,} of {counted(known, state.person)} have the favourable outcome."
                    )
                except FairDeskError as error:
                    text = str(error)
            if missing:
                rows = counted(missing, "row")
                have = "has" if missing == 1 else "have"
                text += f" {rows} {have} no recorded outcome: “{state.label}” is missing."
        self._outcome.say(text.strip())

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


def _fill(combo: QComboBox, values: tuple[str, ...], chosen: str) -> None:
    """List values."""
    combo.clear()
    for value in values:
        combo.addItem(value if value.strip() else f"“{value}”", value)
    combo.setCurrentIndex(combo.findData(chosen) if chosen else -1)
    combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    combo.setMinimumContentsLength(10)
