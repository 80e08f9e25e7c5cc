"""Pages of which one is shown, what is alike in all, and the list of them at the left."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from PySide6.QtCore import QEvent, QObject, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPalette, QPen, QResizeEvent
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QScrollArea,
    QStackedWidget,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from fairdesk.files import resources
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.kit.hints import HelpButton
from fairdesk.gui.kit.tables import Index

_LOOK = Qt.ItemDataRole.UserRole
#: How wide the list is, and the size of an icon and of a number's circle.
_WIDTH, _PICTURE, _CIRCLE = 208, 20, 24
#: Its width where there is room for pictures only.
_NARROW = 56


class Look(NamedTuple):
    """How a step looks beside its name.

    Attributes
    ----------
    icon : str
        The name of a file in ``resources/icons/pages``; else ``mark`` stands in a circle.
    mark : str
        A sign, which stands before the words where there is an icon.
    words : str
        How it stands.
    tone : str
        The colour of these, by its name in `theme.Colours`.
    ground : str
        The colour that fills the circle; empty: it is open.
    """

    icon: str = ""
    mark: str = ""
    words: str = ""
    tone: str = "quiet"
    ground: str = ""


def draw_icon(painter: QPainter, place: QRectF, name: str, colour: str) -> None:
    """Draw an icon, as sharp as its device is."""
    _renderer(name, colour).render(painter, place)


@cache
def _renderer(name: str, colour: str) -> QSvgRenderer:
    text = (resources() / "icons" / "pages" / f"{name}.svg").read_text(encoding="utf-8")
    return QSvgRenderer(text.replace("currentColor", colour).encode())


def _draw_circle(painter: QPainter, middle: QPointF, look: Look) -> None:
    """Draw a mark in a circle."""
    colours, half = theme.colours(), _CIRCLE / 2
    circle = QRectF(middle.x() - half, middle.y() - half, _CIRCLE, _CIRCLE)
    ground = QColor(getattr(colours, look.ground or "line"))
    painter.setPen(QPen(ground, 1.5))
    painter.setBrush(ground if look.ground else Qt.BrushStyle.NoBrush)
    painter.drawEllipse(circle)
    ink = QColor("#101317" if colours is theme.DARK else "#FFFFFF")
    painter.setPen(ink if look.ground else QColor(colours.quiet))
    painter.drawText(circle, Qt.AlignmentFlag.AlignCenter, look.mark)


class _Painter(QStyledItemDelegate):
    """Draws a step: its name, and how it stands: below, or where that is too high beside.

    Attributes
    ----------
    low : bool
        Whether steps take one line each.
    room : float
        How many lines high a step is otherwise.
    """

    low = False
    room = 1.9

    def sizeHint(self, option: QStyleOptionViewItem, _index: Index) -> QSize:  # noqa: N802 - Qt's name
        lines = (1.0 if self.low else self.room) * option.fontMetrics.height()
        return QSize(_WIDTH - theme.GAP, round(lines) + 2 * theme.NEAR)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        flag, colours = QStyle.StateFlag, theme.colours()
        look: Look = index.data(_LOOK)
        chosen = bool(option.state & flag.State_Selected)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground = option.rect.adjusted(theme.NEAR, 1, -theme.NEAR, -1)
        focus = bool(option.state & flag.State_HasFocus)
        painter.setPen(QColor(colours.accent) if focus else Qt.PenStyle.NoPen)
        over = option.state & flag.State_MouseOver
        tint = colours.tint if chosen else colours.card
        painter.setBrush(QColor(tint) if chosen or over else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(ground, theme.ROUNDED, theme.ROUNDED)
        inside = ground.adjusted(theme.NEAR, theme.TIGHT, -theme.NEAR, -theme.TIGHT)
        if look.icon:
            top = inside.center().y() - _PICTURE / 2 if self.low else inside.top() + 1
            place = QRectF(inside.left(), top, _PICTURE, _PICTURE)
            draw_icon(painter, place, look.icon, colours.accent if chosen else colours.quiet)
            inside.setLeft(inside.left() + _PICTURE + theme.NEAR)
        else:
            middle = QPointF(inside.left() + theme.NEAR + _CIRCLE / 2, inside.center().y())
            _draw_circle(painter, middle, look)
            inside.setLeft(inside.left() + theme.GAP + _CIRCLE + theme.NEAR)
        painter.setFont(theme.scaled(option.font, 1.0, strong=chosen))
        enabled = chosen or bool(option.state & flag.State_Enabled)
        ink = option.palette.color(QPalette.ColorRole.WindowText)
        painter.setPen(ink if enabled else QColor(colours.quiet))
        self._write(painter, inside, str(index.data()), look, option.font)
        painter.restore()

    def _write(self, painter: QPainter, inside: QRect, name: str, look: Look, plain: QFont) -> None:
        middle, tone = Qt.AlignmentFlag.AlignVCenter, QColor(getattr(theme.colours(), look.tone))
        sign = look.mark if look.icon else ""
        words = f"{sign} {look.words}".strip()
        if self.low or not words:
            painter.drawText(inside, middle, name)
            painter.setPen(tone)
            painter.drawText(inside, middle | Qt.AlignmentFlag.AlignRight, sign)
            return
        high = painter.fontMetrics().height() + 2
        top = inside.top() if look.icon else inside.center().y() - high
        painter.drawText(QRect(inside.left(), top, inside.width(), high), middle, name)
        painter.setFont(theme.scaled(painter.font(), 0.88) if look.icon else plain)
        painter.setPen(tone)
        cut = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, inside.width())
        painter.drawText(QRect(inside.left(), top + high - 1, inside.width(), high), middle, cut)


class StepList(QListWidget):
    """Steps, of which one is on screen."""

    def __init__(self, name: str, room: float = 1.9) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._painter = _Painter(self)
        self._painter.room = room
        self.setItemDelegate(self._painter)
        self.setMouseTracking(True)
        self.setFixedWidth(_WIDTH)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAutoFillBackground(False)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Give steps one line each where two would need more height than there is."""
        super().resizeEvent(event)
        there = sum(not self.item(row).isHidden() for row in range(self.count()))
        lines = (self._painter.room + 0.1) * self.fontMetrics().height() + 2 * theme.NEAR
        low = self.viewport().height() < there * lines
        if low != self._painter.low:
            self._painter.low = low
            self.scheduleDelayedItemsLayout()

    def leave_room(self, *, narrow: bool) -> None:
        """Show pictures and numbers only, or names beside them."""
        self.setFixedWidth(_NARROW if narrow else _WIDTH)

    def add(self, name: str, look: Look, tip: str = "") -> None:
        """Add a step."""
        item = QListWidgetItem(name, self)
        item.setToolTip(tip)
        item.setData(_LOOK, look)

    def look(self, row: int) -> Look:
        """Return how a step looks."""
        look: Look = self.item(row).data(_LOOK)
        return look

    def show_look(self, row: int, look: Look, spoken: str) -> None:
        """Let a step look otherwise; ``spoken`` says so to those who do not see it."""
        self.item(row).setData(_LOOK, look)
        self.item(row).setData(Qt.ItemDataRole.AccessibleTextRole, spoken)


#: The height of a page's first line, whether there is only a title in it or buttons too.
HEAD = 36


def page_head(name: str, *beside: layouts.Item) -> QHBoxLayout:
    """Return the first line of a page: its title, what stands at the right of it, and the “?”."""
    title = parts.title(name)
    title.setObjectName("title")
    title.setWordWrap(not beside)
    line = layouts.row(layouts.grow(title), *beside, HelpButton(name), spacing=theme.NEAR)
    line.addStrut(HEAD)
    return line


def for_experts(*below: layouts.Item) -> parts.Fold:
    """Make the end of a page, closed at first: figures to check a result with, not to quote."""
    fold = parts.Fold("For experts")
    fold.button.setAccessibleName("For experts: more figures of this page")
    fold.button.setToolTip("More figures, with which an expert can check these results")
    fold.body.addWidget(layouts.panel(*below, spacing=theme.GAP))
    return fold


class Pages(QScrollArea):
    """Pages of a window.

    Attributes
    ----------
    stack : QStackedWidget
        The pages.
    """

    def __init__(self, *pages: QWidget) -> None:
        super().__init__()
        self.stack = QStackedWidget()
        for page in pages:
            self.stack.addWidget(page)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(self.stack)
        for ground in (self.viewport(), self.stack):
            ground.setAutoFillBackground(False)
        self.stack.currentChanged.connect(self._begin)
        self.stack.installEventFilter(self)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return room to scroll in."""
        return QSize(240, 120)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the room that the page on screen would like."""
        page = self.stack.currentWidget()
        return super().sizeHint() if page is None else page.sizeHint()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Give the page the room there is."""
        super().resizeEvent(event)
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Follow what the page needs."""
        if watched is self.stack and event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return super().eventFilter(watched, event)

    def _begin(self) -> None:
        """Show another page from its beginning."""
        self._fit()
        self.verticalScrollBar().setValue(0)
        self.horizontalScrollBar().setValue(0)

    def _fit(self) -> None:
        """Make the pages as large as the room, but never smaller than the one on screen can be."""
        page, room = self.stack.currentWidget(), self.maximumViewportSize()
        if page is None:
            return
        bar = self.verticalScrollBar().sizeHint().width()
        width, height = room.width(), room.height()
        least = page.minimumSizeHint().expandedTo(page.minimumSize())
        if least.width() > width:
            width, height = least.width(), height - bar
        parts.make_room(page, 0)
        if _needed(page, width) > height:
            parts.make_room(page, bar)
            width = max(width - bar, least.width())
        self.stack.resize(width, max(height, _needed(page, width)))


def _needed(page: QWidget, width: int) -> int:
    """Return the least height of a page at a width, at which some of its texts take more lines."""
    height = max(page.minimumSizeHint().height(), page.minimumHeight())
    direct = Qt.FindChildOption.FindDirectChildrenOnly
    for text in page.findChildren(QLabel, options=direct):
        if text.wordWrap() and not text.isHidden():
            height += max(0, text.heightForWidth(width) - text.minimumSizeHint().height())
    return height
