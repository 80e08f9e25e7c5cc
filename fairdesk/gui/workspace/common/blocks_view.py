"""Blocks of a document as widgets: texts, tables that are walked and sorted, charts, folds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QWidget,
)

from fairdesk.charts.kinds.lines import Drawing
from fairdesk.document.blocks import Block, Callout, Chart, Facts, Grid, Heading, Statement, Text
from fairdesk.gui.charts.drawn import DrawnChart, Picture
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.kit.tables import TextTable
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
        self._kind = parts.Words(tone="accent", strong=True, wrap=False)
        self._sentence = parts.Words(size=1.12, strong=True, selectable=True)
        self._more = parts.Words(tone="quiet", selectable=True)
        super().__init__(self._kind, self._sentence, self._more)

    def show_statement(self, block: Statement) -> None:
        """Say another thing."""
        kind = marked(block.evidence) or block.label
        self._kind.say(kind)
        self._sentence.setText(block.sentence)
        self._more.say(" ".join(block.details))
        self.setAccessibleName(": ".join(filter(None, (kind, block.sentence))))


class FactsView(parts.Card):
    """Names with what is said of them."""

    def __init__(self, names: Sequence[str]) -> None:
        self._said = [parts.Words(selectable=True) for _name in names]
        form = layouts.grid(
            *((parts.quiet(name), said) for name, said in zip(names, self._said, strict=True)),
            across=theme.WIDE,
            down=theme.TIGHT,
            stretches=(1, 3),
        )
        super().__init__(form)

    def show_facts(self, facts: Facts) -> None:
        """Show other facts of these names."""
        for fact, said in zip(facts.facts, self._said, strict=True):
            said.setText(fact.value)
            said.setAccessibleName(f"{fact.name}: {fact.value}")


_WALKED = "Arrow keys select a figure. Click a header to sort; Ctrl+C copies."
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
        tables = (part.picked for part in self._parts if isinstance(part.picked, TextTable))
        return max((table.room for table in tables), default=0)

    def mark(self, key: str, row: int | None, column: int = 0) -> None:
        """Mark a row of a block without telling of it; with ``None`` none of its rows."""
        match self.shown.get(key):
            case TextTable() as table:
                table.mark(row, column)
            # along a chart of lines are no rows
            case DrawnChart() as chart if not isinstance(chart.drawing, Drawing):
                chart.choose(row)
            case Picture() as picture:
                picture.choose(row)

    def head(self, key: str, column: int) -> str:
        """Name a column of a table; of a chart, which has none, nothing."""
        table = self.shown.get(key)
        return table.head(column) if isinstance(table, TextTable) else ""

    def _make(self, item: Block | _Folded) -> _Part:
        """Make the widget of a block, which shows nothing yet."""
        match item:
            case _Folded(title=title):
                fold = _Fold(title, self._session)
                fold.inside.picked.connect(self.picked)
                fold.inside.opened.connect(self.opened)
                fold.inside.opens = self.opens
                return _Part(fold, fold.show_item)
            case Statement():
                card = StatementView()
                return _Part(card, card.show_statement)
            case Grid():
                return self._make_grid(item)
            case Chart():
                return self._make_chart(item)
            case Facts():
                facts = FactsView([fact.name for fact in item.facts])
                return _Part(facts, facts.show_facts)
            case Heading() | Text() | Callout():
                plain = parts.Words(strong=isinstance(item, Callout), selectable=True)
                plain = parts.heading("") if isinstance(item, Heading) else plain
                return _Part(plain, lambda block: plain.setText(_said(block)))
        raise TypeError(f"a {type(item).__name__} has no place in the window")

    def _make_grid(self, grid: Grid) -> _Part:
        # in a fold, whose heading it is below, it is no heading of its own
        title = parts.heading("") if self._folds else parts.quiet()
        note = parts.quiet()
        table = TextTable(grid.caption, grid.header, grid.right, description=_WALKED, sorts=True)

        def show(block: Grid) -> None:
            title.say(block.caption)
            note.say(block.note)
            table.show_rows(block.rows, header=block.header, right=block.right)

        table.picked.connect(lambda row, column: self.picked.emit(grid.key, row, column))
        table.opened.connect(lambda row: self.opened.emit(grid.key, row))
        framed = layouts.panel(title, table, note, spacing=theme.NEAR)
        return _Part(framed, show, table, grid.key)

    def _make_chart(self, chart: Chart) -> _Part:
        if hasattr(chart.drawing, "table") and not isinstance(chart.drawing, Drawing):
            drawn = DrawnChart(type(chart.drawing)())
            drawn.chosen.connect(lambda row: self.picked.emit(chart.key, row, -1))
            drawn.opened.connect(lambda row: self.opened.emit(chart.key, row))
            self._session.hear(drawn)
            return _Part(drawn, lambda block: drawn.draw(block.drawing), drawn, chart.key)
        said, picture = parts.quiet(), self._make_picture(chart)

        def show(block: Chart) -> None:
            said.say(block.caption)
            picture.draw(block.drawing)
            if isinstance(picture, Picture):
                picture.offer(self.opens.get(block.key.partition("-")[0], ""))

        return _Part(layouts.panel(said, picture, spacing=theme.NEAR), show, picture, chart.key)

    def _make_picture(self, chart: Chart) -> DrawnChart[Any] | Picture:
        """Make a chart of lines, or one whose numbers stand beside it."""
        if isinstance(chart.drawing, Drawing):
            lines = DrawnChart(Drawing(), fills=True)
            lines.setMinimumHeight(_TALL)
            self._session.hear(lines)
            return lines
        picture = Picture(type(chart.drawing)())
        picture.pressed.connect(lambda row: self.opened.emit(chart.key, row))
        return picture


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
        case Facts():
            return Facts, *(fact.name for fact in item.facts)
    return (type(item),)


def _said(block: Heading | Text | Callout) -> str:
    """Return a text with the words that it begins with."""
    first = block.word if isinstance(block, Callout) else getattr(block, "lead", "")
    return f"{first} {block.text}".lstrip()
