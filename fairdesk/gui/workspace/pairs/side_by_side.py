"""A pair side by side, with the data row that is nearest to it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter
from PySide6.QtWidgets import QStyleOptionViewItem

from fairdesk.document.blocks import PairCard, PairRow
from fairdesk.gui.kit import hints, theme
from fairdesk.gui.kit.tables import Index, Padded, TextTable, height_around
from fairdesk.gui.workspace.pairs.pairs_model import PairRole

_THICK = 7.0


class ShareDelegate(Padded):
    """Draws a cell's share as a bar at the left of its text."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw the cell, then the bar."""
        super().paint(painter, option, index)
        share = index.data(PairRole.SHARE)
        if share is None:
            return
        room = option.rect.adjusted(theme.NEAR, 0, -theme.TIGHT, 0)
        widest = option.fontMetrics.horizontalAdvance("100\u00a0%") + theme.NEAR
        width = room.width() - widest
        if width < 2 * _THICK:
            return
        top = room.center().y() - _THICK / 2 + 1
        colours = theme.colours()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        full = max(_THICK, width * share) if share else 0.0
        for wide, colour in ((width, colours.line), (full, colours.bar)):
            painter.setBrush(QColor(colour))
            painter.drawRoundedRect(QRectF(room.left(), top, wide, _THICK), _THICK / 2, _THICK / 2)
        painter.restore()


#: How wide names and values are at least.
_NAMES, _VALUES = 90, 68
_NEAREST = (
    "The row of the data that is nearest to the first instance, with its recorded outcome: the "
    "model’s decision about it is not shown. A dot marks the values that differ from the instance."
)


class SideBySide(TextTable):
    """A pair as columns, and the nearest data row: what differs, the outcome, then the rest."""

    def __init__(self) -> None:
        super().__init__("Both instances side by side, and the nearest data row", most=1_000)
        self.setAlternatingRowColors(False)
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + theme.TIGHT)
        self.horizontalHeader().setSectionsClickable(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._card: PairCard | None = None

    def show_card(self, card: PairCard) -> None:
        """Show another pair; the nearest data row is left out where it is the first instance."""
        self._card = card
        titles = ("", card.first, card.second, card.nearest)[: 4 if card.nearest else 3]
        texts = [[_text(row, at) for at in range(len(titles))] for row in _rows(card)]
        self.show_rows(texts, header=titles)
        self._tint()

    def _fit(self) -> None:
        """Divide the width: where it is short, names and values give way before the titles."""
        super()._fit()
        header, room = self.horizontalHeader(), self.viewport().width()
        if not self.columnCount() or header.length() <= room:
            return
        sides = range(1, self.columnCount(), 2)
        title = header.sectionSizeHint(2)
        header.resizeSection(0, max(room - title - len(sides) * _VALUES, _NAMES))
        header.resizeSection(2, title)
        for side in sides:
            header.resizeSection(side, (room - header.sectionSize(0) - title) // len(sides))
        self.resizeRowsToContents()
        self.setFixedHeight(self.verticalHeader().length() + height_around(self))

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Follow the theme."""
        super().changeEvent(event)
        if theme.palette_changed(event):
            self._tint()

    def _tint(self) -> None:
        """Set what differs in the heavier weight on a tinted ground, and dim what is equal."""
        if self._card is None:
            return
        colours, strong = theme.colours(), theme.scaled(self.font(), 1.0, strong=True)
        ink = self.palette().text().color()
        for place, row in enumerate(_rows(self._card)):
            verdict = row in self._card.outcome
            for column in range(self.columnCount()):
                if (item := self.item(place, column)) is None:
                    continue
                differs = row.strays if column == 3 else row.changed
                loud = colours.discriminatory if verdict else ink
                plain = not differs or (verdict and column in (0, 3))
                item.setForeground(QColor(colours.quiet if plain else loud))
                item.setFont(strong if row.changed and column < 3 else self.font())
                item.setBackground(QColor(colours.tint) if row.changed else QBrush())
                said = "differs" if differs and column else ""
                spoken = f"{row.name}, {self.head(column)}: {item.text()} {said}".strip()
                item.setData(Qt.ItemDataRole.AccessibleTextRole, spoken)
        if (head := self.horizontalHeaderItem(3)) is not None:
            head.setToolTip(hints.plain(_NEAREST))


def _rows(card: PairCard) -> tuple[PairRow, ...]:
    """Return the lines in their order."""
    differing = (row for row in card.rows if row.changed)
    alike = (row for row in card.rows if not row.changed)
    return (*differing, *card.outcome, *alike)


def _text(row: PairRow, column: int) -> str:
    text = (row.name, row.first, row.second, row.nearest)[column]
    if column == 2 and row.changed:
        return f"→ {text}"
    return f"{text} ·" if column == 3 and row.strays else text
