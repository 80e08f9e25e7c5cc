"""Blocks of a document as widgets: texts, tables that are walked and sorted, charts, folds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeySequence, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QHeaderView,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from fairdesk.charts.kinds.lines import Drawing
from fairdesk.document.blocks import Block, Callout, Chart, Facts, Grid, Heading, Statement, Text
from fairdesk.gui.charts.drawn import DrawnChart, Picture
from fairdesk.gui.kit import hints, layouts, parts, theme
from fairdesk.gui.kit.keys import shortcut
from fairdesk.gui.kit.tables import SortedItem, aligned, head_columns, height_around, read_only
from fairdesk.gui.workspace.session.session import Session

#: The mark and the word of each type of evidence.
MARKS = {
    "proven": "■ proven",
    "estimated": "▨ estimated",
    "observed": "□ observed",
    "example": "●● example",
    "": "",
}


def marked(evidence: str) -> str:
    """Return the mark and the word of a type of evidence, as a line begins with it."""
    sign, _, word = MARKS[evidence].partition(" ")
    return f"{sign} {word.capitalize()}".strip()


class StatementView(parts.Card):
    """A card with a sentence that is not to be overlooked."""

    def __init__(self) -> None:
        super().__init__()
        self._kind = parts.Words(tone="accent", strong=True, wrap=False)
        self._sentence = parts.Words(size=1.12, strong=True)
        self._more = parts.quiet()
        for words in (self._sentence, self._more):
            words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        for widget in (self._kind, self._sentence, self._more):
            self.body.addWidget(widget)

    def say(self, kind: str, sentence: str, more: str = "") -> None:
        """Say another thing."""
        self._kind.say(kind)
        self._sentence.setText(sentence)
        self._more.say(more)
        self.setAccessibleName(": ".join(filter(None, (kind, sentence))))


#: A table of more rows than this scrolls by itself.
_ROWS = 16
#: A column of words asks for at most so many heights of a line, and has at least so many.
_LETTERS, _LEAST = 24, 9
#: Where a row stands in its block: on the screen it may be sorted.
_PLACE = Qt.ItemDataRole.UserRole + 1
_NUMBER = re.compile(r"[−-]?\d[\d,]*(?:\.\d+)?")


class GridTable(QTableWidget):
    """A table as high as its rows: cells are walked with the arrow keys, heads sort, it copies.

    Signals
    -------
    picked : int, int
        A cell is picked: the row as the block has it, and the column.
    opened : int
        A row is opened.
    """

    picked = Signal(int, int)
    opened = Signal(int)

    def __init__(self, grid: Grid) -> None:
        super().__init__(0, len(grid.header))
        self._grid = grid
        self._needed: list[int] = []
        read_only(
            self,
            grid.caption,
            "Arrow keys select a figure. Click a header to sort; Ctrl+C copies.",
            line=9,
        )
        head_columns(self, self._heads(), grid.right)
        self.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.DescendingOrder)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectItems)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ContiguousSelection)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setWordWrap(True)
        shortcut(self, QKeySequence.StandardKey.Copy, self.copy, f"Copy the table “{grid.caption}”")
        self.currentCellChanged.connect(self._tell)
        self.cellClicked.connect(self._tell)
        self.cellActivated.connect(lambda row, _column: self.opened.emit(self._place(row)))

    def show_grid(self, grid: Grid) -> None:
        """Show the rows of a table with the same columns, in the order chosen before."""
        if grid == self._grid and self.rowCount():
            return
        self._grid = grid
        picked = self._place(self.currentRow()) if self.selectedIndexes() else None
        column = self.currentColumn()
        with QSignalBlocker(self):
            # while it sorts, a row would move away under the hand that fills it
            self.setSortingEnabled(False)
            self.setRowCount(len(grid.rows))
            for row, texts in enumerate(grid.rows):
                for place, text in enumerate(texts):
                    number = place in grid.right
                    item = SortedItem(text, _value(text) if number else -row)
                    item.setData(_PLACE, row)
                    item.setToolTip(hints.plain(text))
                    item.setTextAlignment(aligned(number=number))
                    self.setItem(row, place, item)
            self.setSortingEnabled(True)
        self.mark(picked, column)
        head_columns(self, self._heads(), grid.right)
        self._needed = [*self._room()]
        self._fit()

    @property
    def room(self) -> int:
        """How wide it has to be to need no scroll bar."""
        return sum(self._needed) + 2 * self.frameWidth()

    def head(self, column: int) -> str:
        """Name a column."""
        return self._grid.header[column]

    def mark(self, place: int | None, column: int = 0) -> None:
        """Go to a row as the block has it, without telling of it; with ``None`` to none."""
        rows = (row for row in range(self.rowCount()) if self._place(row) == place)
        with QSignalBlocker(self):
            if (row := next(rows, None)) is None:
                self.clearSelection()
            else:
                self.setCurrentCell(row, column)

    def copy(self) -> None:
        """Copy the chosen rows, or all, with the header, for a spreadsheet."""
        rows = sorted({index.row() for index in self.selectedIndexes()}) or range(self.rowCount())
        lines = [self._grid.header, *(self._grid.rows[self._place(row)] for row in rows)]
        QApplication.clipboard().setText("\n".join("\t".join(line) for line in lines))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Divide the width anew."""
        super().resizeEvent(event)
        self._fit()

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        """Let the wheel scroll the page, unless the keyboard is in the table."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()

    def _place(self, row: int) -> int:
        item: QTableWidgetItem | None = self.item(row, 0)
        return -1 if item is None else int(item.data(_PLACE))

    def _tell(self, row: int, column: int, *_before: int) -> None:
        if 0 <= row < self.rowCount() and 0 <= column < self.columnCount():
            self.picked.emit(self._place(row), column)

    def _heads(self) -> list[str]:
        """Return the titles; a long one of numbers in two lines, as even as they can be."""
        heads = []
        for column, head in enumerate(self._grid.header):
            longest = max((len(row[column]) for row in self._grid.rows), default=len(head))
            breaks = [at for at, letter in enumerate(head) if letter == " "]
            if column in self._grid.right and breaks and len(head) > longest:
                _uneven, middle = min((abs(2 * at + 1 - len(head)), at) for at in breaks)
                heads.append(f"{head[:middle]}\n{head[middle + 1 :]}")
            else:
                heads.append(head)
        return heads

    def _room(self) -> Iterator[int]:
        """Yield how wide each column asks to be."""
        wide, most = self.fontMetrics().horizontalAdvance, _LETTERS * self.fontMetrics().height()
        for column, head in enumerate(self._heads()):
            texts = (*head.split("\n"), *(row[column] for row in self._grid.rows))
            needed = max(map(wide, texts)) + theme.GAP
            yield needed if column in self._grid.right else min(needed, most)

    def _fit(self) -> None:
        """Give numbers their room and words the rest, in more lines where that is little."""
        words = {at: wide for at, wide in enumerate(self._needed) if at not in self._grid.right}
        least = {at: min(wide, _LEAST * self.fontMetrics().height()) for at, wide in words.items()}
        asked = max(sum(words.values()), 1)
        rest = self.viewport().width() - (sum(self._needed) - sum(words.values()))
        tight = rest < sum(least.values())
        for column, wide in enumerate(self._needed):
            given = wide
            if column in words:
                given = least[column] if tight else max(wide * rest // asked, least[column])
            self.horizontalHeader().resizeSection(column, given)
        metrics, one = self.fontMetrics(), self.verticalHeader().defaultSectionSize()
        rooms = {column: self.columnWidth(column) - theme.GAP for column in words}
        with QSignalBlocker(self.verticalHeader()):
            # of a thousand rows each would be laid out for itself
            for row in range(self.rowCount()):
                texts = self._grid.rows[self._place(row)]
                wraps = (metrics.horizontalAdvance(texts[at]) > rooms[at] for at in words)
                lines = 1
                if any(wraps):
                    lines = max(_lines(metrics, texts[at], rooms[at]) for at in words)
                self.setRowHeight(row, one + (lines - 1) * metrics.lineSpacing())
        self.scheduleDelayedItemsLayout()
        high = sum(self.rowHeight(row) for row in range(min(self.rowCount(), _ROWS)))
        bar = self.horizontalScrollBar().sizeHint().height() if tight else 0
        self.setFixedHeight(high + height_around(self) + bar)


def _lines(metrics: QFontMetrics, text: str, wide: int) -> int:
    """Return in how many lines a text is written."""
    room = metrics.boundingRect(0, 0, max(wide, 1), 0, Qt.TextFlag.TextWordWrap, text)
    return max(1, round(room.height() / metrics.lineSpacing()))


def _value(text: str) -> float:
    """Return the first number of a cell, by which it is sorted; what has none is below all."""
    found = _NUMBER.search(text)
    return float(found[0].replace("−", "-").replace(",", "")) if found else float("-inf")


#: The least height of a chart of lines.
_TALL = 320


class _Folded(NamedTuple):
    """Appended blocks, and the heading above them."""

    title: str
    blocks: tuple[Block, ...]


class _Part(NamedTuple):
    """A widget on the page, how it shows a block, and what is picked in it, by which key."""

    widget: QWidget
    show: Callable[[Any], object]
    picked: QWidget | None = None
    key: str = ""


class BlocksView(QWidget):
    """Draws blocks below each other, appended ones in folds that are filled when they are opened.

    Parameters
    ----------
    folds : bool
        Whether appended blocks are in folds; inside a fold they are not.

    Attributes
    ----------
    opens : dict of str to str
        What opening a part of a chart does, by its block's key up to the first dash.

    Signals
    -------
    picked : str, int, int
        A row of a table or a part of a chart is picked: its block's key, the row as the block has
        it, and the column, which is below 0 for a chart.
    opened : str, int
        A row of a table is opened, by a double click or Enter, or a part of a chart by a click.
    """

    picked = Signal(str, int, int)
    opened = Signal(str, int)

    def __init__(self, session: Session, *, folds: bool = True) -> None:
        super().__init__()
        self._session, self._folds = session, folds
        self.opens: dict[str, str] = {}
        self._shape: tuple[object, ...] = ()
        self._parts: list[_Part] = []
        self._column = layouts.column(on=self, spacing=theme.GAP)

    def show_blocks(self, blocks: Sequence[Block]) -> None:
        """Show blocks; where only what they say has changed, in the widgets that there are."""
        items = [*(_folded(blocks) if self._folds else blocks)]
        shape = tuple(map(_shape, items))
        if shape != self._shape:
            parts.clear(self._column)
            self._shape, self._parts = shape, [self._make(item) for item in items]
            for part in self._parts:
                self._column.addWidget(part.widget)
            # beside a longer one all begins at the same height
            self._column.addStretch(1)
        for part, item in zip(self._parts, items, strict=True):
            part.show(item)

    @property
    def shown(self) -> dict[str, QWidget]:
        """The tables and charts by the keys of their blocks, as far as they are made."""
        found = {part.key: part.picked for part in self._parts if part.picked is not None}
        for part in self._parts:
            if isinstance(part.widget, _Fold):
                found |= part.widget.inside.shown
        return found

    @property
    def room(self) -> int:
        """How wide it has to be for its tables to need no scroll bar, but those in folds."""
        tables = (part.picked for part in self._parts if isinstance(part.picked, GridTable))
        return max((table.room for table in tables), default=0)

    def mark(self, key: str, row: int | None, column: int = 0) -> None:
        """Mark a row of a block without telling of it; with ``None`` none of its rows."""
        match self.shown.get(key):
            case GridTable() as table:
                table.mark(row, column)
            # along a chart of lines are no rows
            case DrawnChart() as chart if not isinstance(chart.drawing, Drawing):
                chart.choose(row)

    def head(self, key: str, column: int) -> str:
        """Name a column of a table; of a chart, which has none, nothing."""
        table = self.shown.get(key)
        return table.head(column) if isinstance(table, GridTable) else ""

    def _make(self, item: Block | _Folded) -> _Part:
        """Make the widget of a block, which shows nothing yet."""
        match item:
            case _Folded(title=title):
                fold = _Fold(title, self._session)
                fold.inside.picked.connect(self.picked)
                fold.inside.opened.connect(self.opened)
                fold.inside.opens = self.opens
                return _Part(fold, fold.show_item)
            case Heading():
                words = parts.heading("")
                return _Part(words, lambda block: words.setText(block.text))
            case Statement():
                card = StatementView()
                return _Part(card, lambda block: _state(card, block))
            case Grid():
                return self._make_grid(item)
            case Chart():
                return self._make_chart(item)
            case Text() | Callout() | Facts():
                plain = parts.Words(strong=isinstance(item, Callout))
                plain.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
                return _Part(plain, lambda block: plain.setText(_said(block)))
        raise TypeError(f"a {type(item).__name__} has no place in the window")

    def _make_grid(self, grid: Grid) -> _Part:
        # in a fold, whose heading it is below, it is no heading of its own
        title = parts.heading("") if self._folds else parts.quiet()
        note, table = parts.quiet(), GridTable(grid)

        def show(block: Grid) -> None:
            title.say(block.caption)
            note.say(block.note)
            table.show_grid(block)

        table.picked.connect(lambda row, column: self.picked.emit(grid.key, row, column))
        table.opened.connect(lambda row: self.opened.emit(grid.key, row))
        framed = layouts.panel(title, table, note, spacing=theme.NEAR)
        return _Part(framed, show, table, grid.key)

    def _make_chart(self, chart: Chart) -> _Part:
        if not hasattr(chart.drawing, "table"):
            return self._make_picture(chart)
        if not isinstance(chart.drawing, Drawing):
            drawn = DrawnChart(type(chart.drawing)())
            drawn.chosen.connect(lambda row: self.picked.emit(chart.key, row, -1))
            drawn.opened.connect(lambda row: self.opened.emit(chart.key, row))
            self._session.hear(drawn)
            return _Part(drawn, lambda block: drawn.draw(block.drawing), drawn, chart.key)
        lines, said = DrawnChart(Drawing(), fills=True), parts.quiet()
        lines.setMinimumHeight(_TALL)
        self._session.hear(lines)

        def show(block: Chart) -> None:
            said.say(block.caption)
            lines.draw(block.drawing)

        return _Part(layouts.panel(said, lines, spacing=theme.NEAR), show, lines, chart.key)

    def _make_picture(self, chart: Chart) -> _Part:
        """Make a chart whose numbers stand beside it."""
        said, picture = parts.quiet(), Picture(type(chart.drawing)())
        picture.pressed.connect(lambda row: self.opened.emit(chart.key, row))

        def show(block: Chart) -> None:
            said.say(block.caption)
            picture.draw(block.drawing)
            picture.offer(self.opens.get(block.key.partition("-")[0], ""))

        framed = layouts.panel(said, picture, spacing=theme.NEAR)
        return _Part(framed, show, picture, chart.key)


class _Fold(parts.Fold):
    """Appended blocks, drawn once they are in sight."""

    def __init__(self, title: str, session: Session) -> None:
        super().__init__(title)
        self.inside = BlocksView(session, folds=False)
        self._blocks: tuple[Block, ...] = ()
        self.body.addWidget(self.inside)
        self.opened.connect(self._fill)

    def show_item(self, item: _Folded) -> None:
        """Show other blocks, at once where they can be seen."""
        self._blocks = item.blocks
        if self.is_open:
            self._fill()

    def _fill(self) -> None:
        self.inside.show_blocks(self._blocks)
        parts.in_order(self.button, *stops(self.inside))


def stops(inside: QWidget) -> list[QWidget]:
    """Return the widgets that Tab goes to inside another, in the order in which they were made."""
    found = inside.findChildren(QWidget)
    return [each for each in found if each.focusPolicy() & Qt.FocusPolicy.TabFocus]


def _folded(blocks: Sequence[Block]) -> Iterator[Block | _Folded]:
    """Yield the blocks, those of the appendix together by the heading above them."""
    titled: list[tuple[str, Block]] = []
    title = ""
    for block in blocks:
        moves = getattr(block, "appended", False)
        if isinstance(block, Heading):
            title = block.text if moves else ""
        titled.append((title or ("More" if moves else ""), block))
    for title, group in groupby(titled, key=itemgetter(0)):
        held = [block for _, block in group]
        if title:
            yield _Folded(title, tuple(one for one in held if not isinstance(one, Heading)))
        else:
            yield from held


def _shape(item: Block | _Folded) -> tuple[object, ...]:
    """Return what must be the same for a block to be shown in another's widget."""
    match item:
        case _Folded():
            return (item.title,)
        case Grid():
            return Grid, item.key, item.header, item.right, item.caption
        case Chart():
            return Chart, item.key, type(item.drawing)
    return (type(item),)


def _state(card: StatementView, block: Statement) -> None:
    kind = marked(block.evidence) or block.label
    card.say(kind, block.sentence, " ".join(block.details))


def _said(block: Text | Callout | Facts) -> str:
    """Return a text with the words that it begins with, or facts line by line."""
    match block:
        case Facts():
            return "\n".join(f"{fact.name}: {fact.value}" for fact in block.facts)
        case Callout():
            return f"{block.word} {block.text}"
        case Text():
            return f"{block.lead} {block.text}".lstrip()
