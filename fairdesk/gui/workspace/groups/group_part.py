"""One table of groups with its sentence, its pictures, its error rates, and its calibration."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QWidget

from fairdesk.charts import groups
from fairdesk.charts.kinds.forest import Forest
from fairdesk.charts.kinds.heat import Heat
from fairdesk.charts.kinds.lines import Drawing, Line, Mark
from fairdesk.groups.statistics import wilson_ends
from fairdesk.gui.charts.chart import LineChart
from fairdesk.gui.charts.drawn import DrawnChart
from fairdesk.gui.kit import layouts, parts, theme, tips
from fairdesk.gui.kit.tables import height_around
from fairdesk.gui.workspace.common.rule_table import Cell, RuleTable
from fairdesk.gui.workspace.common.statement import Statement
from fairdesk.gui.workspace.session.session import Session
from fairdesk.results.groups import GroupLine, GroupTable
from fairdesk.wording import words
from fairdesk.wording.groups.columns import Column, columns
from fairdesk.wording.groups.tables import table_sentences, table_title, worst_statement

#: The columns of the tables that Local Law 144 asks for; they come first.
LAW = ("n_samples", "rate", "impact")
#: What else can be shown of each group, by what it is called.
MORE = {
    "Share and count": ("share", "favourable"),
    "Confidence interval of the rate": ("interval",),
    "Four-fifths threshold": ("screened",),
    "Shortfall": ("shortfall",),
    "Difference with confidence interval": ("difference",),
    "Test, p and corrected p": ("test", "p", "holm"),
    "Mean score and SMD": ("mean", "smd"),
}
#: The columns of the second table, with labels.
ERRORS = ("tpr", "fpr", "precision", "accuracy", "equal", "odds")
#: By what number of a group a column is sorted.
_SORTED_BY = {
    "interval": "low",
    "impact": "impact_ratio",
    "screened": "impact_ratio",
    "test": "z",
    "mean": "mean_score",
    "tpr": "true_positive_rate",
    "fpr": "false_positive_rate",
    "equal": "equal_opportunity",
    "odds": "average_odds",
}
#: A table of more rows than this scrolls by itself.
_ROWS = 16
#: A name in a table is at most so many times as wide as a line is high; a tooltip has the whole.
_LETTERS = 14
#: So many groups are drawn by their calibration.
_CALIBRATED = 5


class FigureTable(RuleTable):
    """The figures of groups: cells are walked with the arrow keys, columns sort.

    Signals
    -------
    chosen : int, Column
        A figure is chosen: the group's place in the table, and the column.
    """

    chosen = Signal(int, object)

    def __init__(self, name: str, table: GroupTable, shown: Sequence[Column]) -> None:
        self._columns = tuple(shown)
        self._needed: list[int] = []
        super().__init__(name, [column.head for column in shown], len(table.attributes))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectItems)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ContiguousSelection)
        self.setWordWrap(False)
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 9)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setAccessibleDescription(
            "Arrow keys select a figure; its calculation is shown below. Click a header to "
            "sort; Ctrl+C copies."
        )
        self.show_groups(table)
        self.currentCellChanged.connect(self._tell)
        self.cellClicked.connect(self._tell)

    def show_groups(self, table: GroupTable) -> None:
        """Show the groups of a table with the same columns."""
        cells = [self._cells(table, line, place) for place, line in enumerate(table.lines)]
        self._needed = self._room(cells)
        with QSignalBlocker(self):
            self.show_rows(cells)
        for row in range(self.rowCount()):
            for place in range(self._wide):
                if (item := self.item(row, place)) is not None:
                    item.setToolTip(tips.plain(item.text()))

    def mark(self, place: int, column: Column) -> None:
        """Go to a figure, without telling of it."""
        row = next((row for row in range(self.rowCount()) if self._place(row) == place), None)
        if row is not None:
            with QSignalBlocker(self):
                self.setCurrentCell(row, self._columns.index(column))

    def show_group(self, place: int) -> None:
        """Choose a group by its place in the table, and put the keyboard there."""
        row = next((row for row in range(self.rowCount()) if self._place(row) == place), None)
        if row is not None:
            self.setCurrentCell(row, 0)
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    def _cells(self, table: GroupTable, line: GroupLine, place: int) -> list[Cell]:
        """Write a group: by its values it is sorted as in the table, by a figure as that is."""
        cells = [Cell(_text(column, table, line), -place) for column in self._columns]
        for at, column in enumerate(self._columns[self._wide :], self._wide):
            value = getattr(line, _SORTED_BY.get(column.key, column.key))
            # what is undefined stands below all numbers
            cells[at] = Cell(cells[at].text, float("-inf") if value is None else float(value))
        return cells

    def _place(self, row: int) -> int:
        """Return the place in the table of the group in a row, which may be sorted."""
        item = self.item(row, 0)
        return -1 if item is None else int(-item.data(Qt.ItemDataRole.UserRole))

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        """Let the wheel scroll the page, unless the keyboard is in the table."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()

    def _tell(self, row: int, column: int, *_before: int) -> None:
        if 0 <= row < self.rowCount() and 0 <= column < len(self._columns):
            self.chosen.emit(self._place(row), self._columns[column])

    def _fit(self) -> None:
        """Give numbers their room and words the rest; where that is too little, scroll."""
        head = self.horizontalHeader()
        tight = sum(self._needed) > self.viewport().width()
        for place, wide in enumerate(self._needed):
            stretched = place < self._wide and not tight
            mode = QHeaderView.ResizeMode.Stretch if stretched else QHeaderView.ResizeMode.Fixed
            head.setSectionResizeMode(place, mode)
            head.resizeSection(place, wide)
        high = self.verticalHeader().defaultSectionSize()
        bar = self.horizontalScrollBar().sizeHint().height() if tight else 0
        self.setFixedHeight(min(self.rowCount(), _ROWS) * high + height_around(self) + bar)

    def _room(self, cells: Sequence[Sequence[Cell]]) -> list[int]:
        """Return how wide each column has to be."""
        wide, most = self.fontMetrics().horizontalAdvance, _LETTERS * self.fontMetrics().height()
        room = []
        for place, column in enumerate(self._columns):
            texts = {column.head, *(row[place].text for row in cells)}
            needed = max(map(wide, texts)) + theme.WIDE
            room.append(min(needed, most) if place < self._wide else needed)
        return room


def _text(column: Column, table: GroupTable, line: GroupLine) -> str:
    """Write a figure; an impact ratio below the threshold has the mark that the chart has."""
    text = column.text(table, line)
    return f"▽ {text}" if column.key == "impact" and line.below else text


def calibration(table: GroupTable) -> Drawing:
    """Draw what was true of people by what was expected, a line per group; the largest groups."""
    drawn = sorted(_calibrated(table), key=lambda line: -line.n_samples)[:_CALIBRATED]
    lines = []
    for number, line in enumerate(drawn):
        bins = sorted(line.calibration, key=lambda each: each.expected)
        ends = [wilson_ends(round(each.observed * each.n_samples), each.n_samples) for each in bins]
        low, high = 100 * np.array(ends).T
        lines.append(
            Line(
                groups.name(line),
                np.array([100 * each.expected for each in bins]),
                np.array([100 * each.observed for each in bins]),
                f"series {number}",
                low=low,
                high=high,
                mark=Mark.POINTS,
            )
        )
    whole = np.array([0.0, 100.0])
    # last: what is pointed at is read along the first line
    lines.append(Line("perfect calibration", whole, whole, "undecided", dashed=True))
    return Drawing(
        title="Calibration by group, observed",
        x_title="mean score of the favourable decision, %",
        y_title="with the favourable recorded outcome",
        lines=tuple(lines) if drawn else (),
        x_digits=1,
        y_digits=1,
        y_unit=f"{words.NBSP}%",
        y_high=100.0,
    )


def _calibrated(table: GroupTable) -> list[GroupLine]:
    """Return the groups whose calibration can be told: those that are compared at all."""
    return [line for line in table.lines if line.calibration and line.known and not line.excluded]


class TablePart(QWidget):
    """A table of groups, and everything drawn of it.

    Parameters
    ----------
    more : collection of str
        Which of `MORE` is shown.

    Signals
    -------
    chosen : GroupTable, GroupLine, Column
        A figure is chosen: of which group, and which column.
    """

    chosen = Signal(object, object, object)

    def __init__(self, session: Session, table: GroupTable, more: Collection[str]) -> None:
        super().__init__()
        self._session, self._table = session, table
        self.name = table_title(session.spec, table)
        self.said = Statement()
        self.forest = DrawnChart(Forest())
        self.heat = DrawnChart(Heat()) if len(table.attributes) == 2 else None
        self.errors: FigureTable | None = None
        self.curves: LineChart | None = None
        self._column = layouts.column(parts.heading(self.name), on=self, spacing=theme.GAP)
        # the figures come first, in numbers and drawn, then what they say
        self._at = 1
        self.figures = self._put_table(more)
        for picture in (self.heat, self.forest):
            if picture is not None:
                session.hear(picture)
                picture.chosen.connect(self._choose_rate)
                self._column.addWidget(picture)
        self._column.addWidget(self.said)
        self._add_errors()
        self._add_calibration()
        # beside a longer one all begins at the same height
        self._column.addStretch(1)
        self._show()

    @property
    def table(self) -> GroupTable:
        """What is shown."""
        return self._table

    def show_table(self, table: GroupTable) -> None:
        """Show the same groups counted anew."""
        if table != self._table:
            self._table = table
            self.figures.show_groups(table)
            if self.errors is not None:
                self.errors.show_groups(table)
            if self.curves is not None:
                self.curves.draw(calibration(table))
            self._show()

    def show_more(self, more: Collection[str]) -> None:
        """Show other columns."""
        before = self.figures
        self.figures = self._put_table(more)
        parts.in_order(before, self.figures)
        self._column.removeWidget(before)
        before.hide()
        before.deleteLater()

    def show_group(self, values: tuple[str, ...]) -> None:
        """Choose a group by its values."""
        for place, line in enumerate(self._table.lines):
            if line.values == values:
                self.figures.show_group(place)

    def forget(self) -> None:
        """Choose nothing."""
        for picture in (self.heat, self.forest):
            if picture is not None:
                picture.choose(None)
        for table in (self.figures, self.errors):
            if table is not None:
                table.clearSelection()

    def _show(self) -> None:
        spec, table = self._session.spec, self._table
        worst, others = worst_statement(spec, table), table_sentences(spec, table)
        self.said.say("□ Observed", worst.sentence, " ".join(others))
        self.forest.draw(Forest(table, self.name, spec.person))
        if self.heat is not None:
            self.heat.draw(Heat(table, self.name, spec.person))

    def _put_table(self, more: Collection[str]) -> FigureTable:
        keys = [*LAW, *(key for name, found in MORE.items() if name in more for key in found)]
        made = self._make_table(self.name, keys)
        self._column.insertWidget(self._at, made)
        return made

    def _make_table(self, name: str, keys: Sequence[str]) -> FigureTable:
        values = columns(self._table)[: len(self._table.attributes)]
        there = {column.key: column for column in _figures(self._table)}
        shown = (*values, *(there[key] for key in keys if key in there))
        made = FigureTable(name, self._table, shown)
        made.chosen.connect(self._choose)
        return made

    def _add_errors(self) -> None:
        if all(line.positives is None for line in self._table.lines):
            return
        self._column.addWidget(parts.Fold("Error rates by group", self._make_errors))

    def _make_errors(self) -> tuple[QWidget, ...]:
        self.errors = self._make_table(f"{self.name}: error rates", ERRORS)
        explained = parts.quiet(
            "Decisions compared with recorded outcomes (observed): a recorded outcome "
            "may carry the same bias as a decision."
        )
        return explained, self.errors

    def _add_calibration(self) -> None:
        if _calibrated(self._table):
            self._column.addWidget(parts.Fold("Calibration by group", self._make_curves))

    def _make_curves(self) -> tuple[QWidget, ...]:
        drawing = calibration(self._table)
        self.curves = LineChart()
        self.curves.setMinimumHeight(260)
        self._session.hear(self.curves)
        self.curves.draw(drawing)
        drawn = len(drawing.lines) - 1
        there = len(_calibrated(self._table))
        which = f" These are the {drawn} largest of {there} groups." if drawn < there else ""
        explained = parts.quiet(
            "Share with the favourable recorded outcome among those with similar scores "
            "(observed), with 95 % confidence intervals; a calibrated model stays near the "
            f"dashed line.{which}"
        )
        return explained, self.curves

    def _choose_rate(self, place: int) -> None:
        rate = next(each for each in _figures(self._table) if each.key == "rate")
        self.figures.mark(place, rate)
        self._choose(place, rate)

    def _choose(self, place: int, column: Column) -> None:
        self.forest.choose(place)
        if self.heat is not None:
            self.heat.choose(place)
        self.chosen.emit(self._table, self._table.lines[place], column)


def _figures(table: GroupTable) -> tuple[Column, ...]:
    """Return the columns of figures, which come after those of the groups' values."""
    return columns(table)[len(table.attributes) :]
