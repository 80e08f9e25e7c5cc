"""Rows and columns of widgets, each laid out in one expression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QGridLayout,
    QHBoxLayout,
    QLayout,
    QSplitter,
    QStackedWidget,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from fairdesk.gui.kit.theme import GAP, NEAR

_Box = TypeVar("_Box", bound=QBoxLayout)
#: An item takes all of its place.
_FILLED = Qt.AlignmentFlag(0)
#: Tiles in a row at most.
_MOST_ACROSS = 3


class Placed(NamedTuple):
    """An item with more to say than that it is there; without one, empty room."""

    item: QWidget | QLayout | None
    stretch: int = 0
    alignment: Qt.AlignmentFlag = _FILLED
    pixels: int = 0


Item = QWidget | QLayout | Placed
#: Of all sides, or of left, top, right and bottom.
Margin = int | tuple[int, int, int, int]


def stretch(factor: int = 1) -> Placed:
    """Return empty room that grows."""
    return Placed(None, factor)


def gap(pixels: int) -> Placed:
    """Return empty room that does not grow, beyond the spacing."""
    return Placed(None, pixels=pixels)


def turn(box: QBoxLayout, *, beside: bool) -> None:
    """Lay the items of a layout beside each other, or below."""
    way = QBoxLayout.Direction
    box.setDirection(way.LeftToRight if beside else way.TopToBottom)


def grow(item: QWidget | QLayout, factor: int = 1, alignment: Qt.AlignmentFlag = _FILLED) -> Placed:
    """Return an item that takes a share of the room that is left."""
    return Placed(item, factor, alignment)


def at(item: QWidget, alignment: Qt.AlignmentFlag) -> Placed:
    """Return a widget that stands at a side of its place and does not fill it."""
    return Placed(item, alignment=alignment)


def column(
    *items: Item, on: QWidget | None = None, margin: Margin | None = 0, spacing: int | None = None
) -> QVBoxLayout:
    """Lay items out below each other.

    Parameters
    ----------
    margin : int or (int, int, int, int), optional
        Around the items; ``None`` for Qt's own.
    spacing : int, optional
        Between the items; Qt's own unless given.
    """
    return _filled(QVBoxLayout(), items, on, margin, spacing)


def row(
    *items: Item, on: QWidget | None = None, margin: Margin | None = 0, spacing: int | None = None
) -> QHBoxLayout:
    """Lay items out beside each other, from the side where reading begins; see `column`."""
    return _filled(QHBoxLayout(), items, on, margin, spacing)


def panel(*items: Item, margin: Margin | None = 0, spacing: int | None = None) -> QWidget:
    """Return a widget with items below each other; see `column`."""
    made = QWidget()
    column(*items, on=made, margin=margin, spacing=spacing)
    return made


def strip(*items: Item, margin: Margin | None = 0, spacing: int | None = None) -> QWidget:
    """Return a widget with items beside each other; see `column`."""
    made = QWidget()
    row(*items, on=made, margin=margin, spacing=spacing)
    return made


def _filled(
    layout: _Box,
    items: tuple[Item, ...],
    on: QWidget | None,
    margin: Margin | None,
    spacing: int | None,
) -> _Box:
    if on is not None:
        on.setLayout(layout)
    if margin is not None:
        left, top, right, bottom = (margin,) * 4 if isinstance(margin, int) else margin
        layout.setContentsMargins(left, top, right, bottom)
    if spacing is not None:
        layout.setSpacing(spacing)
    fill(layout, *items)
    return layout


def fill(layout: QBoxLayout, *items: Item) -> None:
    """Add items to a row or column."""
    for each in items:
        placed = each if isinstance(each, Placed) else Placed(each)
        if isinstance(placed.item, QWidget):
            layout.addWidget(placed.item, placed.stretch, placed.alignment)
        elif placed.item is not None:
            layout.addLayout(placed.item, placed.stretch)
        elif placed.pixels:
            layout.addSpacing(placed.pixels)
        else:
            layout.addStretch(placed.stretch)


def grid(
    *rows: Sequence[QWidget | QLayout | None],
    on: QWidget | None = None,
    margin: Margin = 0,
    across: int = GAP,
    down: int = NEAR,
    stretches: Sequence[int] = (),
) -> QGridLayout:
    """Lay items out in rows and columns; ``stretches`` says which columns grow."""
    made = QGridLayout()
    if on is not None:
        on.setLayout(made)
    left, top, right, bottom = (margin,) * 4 if isinstance(margin, int) else margin
    made.setContentsMargins(left, top, right, bottom)
    made.setHorizontalSpacing(across)
    made.setVerticalSpacing(down)
    for place, factor in enumerate(stretches):
        made.setColumnStretch(place, factor)
    for row, items in enumerate(rows):
        for place, item in enumerate(items):
            if isinstance(item, QWidget):
                made.addWidget(item, row, place)
            elif item is not None:
                made.addLayout(item, row, place)
    return made


def stack(*pages: QWidget) -> QStackedWidget:
    """Return widgets of which one is shown, the first at first."""
    made = QStackedWidget()
    for page in pages:
        made.addWidget(page)
    return made


def tabs(*pages: tuple[QWidget, str]) -> QTabWidget:
    """Return widgets of which one is shown, by the names above them."""
    made = QTabWidget()
    for page, name in pages:
        made.addTab(page, name)
    return made


def split(*sides: tuple[QWidget, int, int]) -> QSplitter:
    """Return widgets beside each other whose widths the auditor divides.

    Each has its width at first, and its share of what there is more.
    """
    made = QSplitter()
    made.setChildrenCollapsible(False)
    made.setHandleWidth(GAP)
    for place, (side, _wide, share) in enumerate(sides):
        made.addWidget(side)
        made.setStretchFactor(place, share)
    made.setSizes([wide for _side, wide, _share in sides])
    return made


class Tiles(QWidget):
    """Cards side by side, as many as there is room for."""

    def __init__(self, least: int = 290) -> None:
        super().__init__()
        self._least = least
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(GAP)
        self._cards: list[QWidget] = []
        self._across = 0

    def show_cards(self, cards: Sequence[QWidget]) -> None:
        """Show these cards, in their order."""
        if self._cards != list(cards):
            for card in self._cards:
                card.setVisible(card in cards)
            self._cards, self._across = list(cards), 0
            self._arrange()

    def replace_cards(self, cards: Sequence[QWidget]) -> None:
        """Show these cards instead of those before, which are not needed any more."""
        before, self._cards = self._cards, []
        for card in before:
            card.hide()
            card.deleteLater()
        self.show_cards(cards)
        self.setVisible(bool(cards))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Put as many in a row as fit."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        many = len(self._cards)
        across = max(1, min(_MOST_ACROSS, self.width() // self._least, many))
        if across == self._across:
            return
        self._across = across
        # those of the last line share all of its width
        last = many % across or across
        for place, card in enumerate(self._cards):
            line, at = divmod(place, across)
            wide = across if place >= many - last else last
            self._grid.addWidget(card, line, at * wide, 1, wide)
            card.show()
        for column in range(_MOST_ACROSS**2):
            self._grid.setColumnStretch(column, int(column < across * last))
