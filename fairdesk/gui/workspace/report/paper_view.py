"""The pages of a report one below the other: scrolled, zoomed, and drawn only where one looks."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from PySide6.QtCore import (
    QBuffer,
    QByteArray,
    QEvent,
    QIODevice,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QImage,
    QImageReader,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea

from fairdesk.errors import FairDeskError
from fairdesk.gui.kit import theme
from fairdesk.gui.kit.keys import shortcut
from fairdesk.gui.kit.threads import in_background
from fairdesk.wording import words

#: The zoom that fits a page into the width; others are relative to paper held in the hand.
FIT = 0.0
#: What can be chosen.
ZOOMS = (FIT, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
#: Logical pixels of an inch of paper at 100 %.
_INCH = 96
_BETWEEN = theme.GAP
#: So many pages above and below those in sight are drawn ahead.
_AHEAD = 1
#: Of a header of a PNG file: where its width and height are.
_SIZE_AT = slice(16, 24)


class PagesView(QAbstractScrollArea):
    """Shows pages.

    Signals
    -------
    moved
        Another page is at the top, or there are others.
    zoomed
        `zoom` is another.
    blurred : float
        The pages have fewer pixels than the zoom shows: so many to the inch would be sharp.
    """

    moved = Signal()
    zoomed = Signal()
    blurred = Signal(float)

    def __init__(self) -> None:
        super().__init__()
        self.zoom = FIT
        self._pages: Sequence[bytes] = ()
        self._sizes: list[tuple[float, float]] = []
        self._resolution = 0.0
        #: Per page: how many pixels wide its picture was made, and the picture.
        self._drawn: dict[int, tuple[int, QPixmap]] = {}
        self._drawing: set[tuple[int, int]] = set()
        self._tops: list[int] = []
        self._told = -1
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Pages of the report")
        self.verticalScrollBar().valueChanged.connect(self._move)
        self.horizontalScrollBar().valueChanged.connect(self.viewport().update)
        # a page begins at its left, whatever the language of the window
        self.horizontalScrollBar().setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        for keys in ("Ctrl++", "Ctrl+="):
            shortcut(self, keys, lambda: self.step_zoom(1), "Zoom in")
        out = QKeySequence.StandardKey.ZoomOut
        shortcut(self, out, lambda: self.step_zoom(-1), "Zoom out")

    @property
    def count(self) -> int:
        """How many pages there are."""
        return len(self._pages)

    @property
    def at(self) -> int:
        """The page at the top, from 1; 0 where there is none."""
        if not self._tops:
            return 0
        # a page counts as reached when its top is a little below the upper edge
        y = self.verticalScrollBar().value() + self.viewport().height() // 4
        return max(bisect_right(self._tops, y), 1)

    @property
    def resolution_wanted(self) -> float:
        """How many pixels to the inch of paper are sharp on this screen, as it is zoomed."""
        return self._scale * _INCH * self.devicePixelRatioF()

    def show_pages(self, pages: Sequence[bytes], resolution: float) -> None:
        """Show pages, and stay where one was."""
        same = len(pages) == len(self._pages)
        at, within = self.at, self._within()
        self._pages, self._resolution = pages, resolution
        self._sizes = [_inches(page, resolution) for page in pages]
        if not same:
            self._drawn.clear()
        # what is drawn stays in sight until the same page is drawn anew
        self._drawn = {page: (0, pixmap) for page, (_width, pixmap) in self._drawn.items()}
        self._drawing.clear()
        self._lay_out()
        if at:
            self._scroll_to(min(at, self.count), within)
        self._told = -1
        self._move()
        self._ask_sharper()

    def go_to(self, page: int) -> None:
        """Bring the top of a page in sight."""
        self._scroll_to(min(max(page, 1), self.count), 0.0)

    def set_zoom(self, zoom: float) -> None:
        """Zoom, and stay where one was."""
        if zoom == self.zoom:
            return
        at, within = self.at, self._within()
        self.zoom = zoom
        self._lay_out()
        across = self.horizontalScrollBar()
        across.setValue(across.maximum() // 2)
        if at:
            self._scroll_to(at, within)
        self.zoomed.emit()
        self._ask_sharper()

    def step_zoom(self, step: int) -> None:
        """Zoom in or out by a step."""
        scales = [zoom for zoom in ZOOMS if zoom != FIT]
        now = self._scale
        if step > 0:
            self.set_zoom(next((zoom for zoom in scales if zoom > now * 1.01), scales[-1]))
        else:
            self.set_zoom(next((zoom for zoom in scales[::-1] if zoom < now * 0.99), scales[0]))

    def say(self, text: str) -> None:
        """Tell those who do not see the page what is on it."""
        if text != self.accessibleDescription():
            self.setAccessibleDescription(text)

    # Where pages are

    @property
    def _scale(self) -> float:
        if self.zoom != FIT:
            return self.zoom
        widest = max((width for width, _height in self._sizes), default=8.27)
        return max((self.viewport().width() - 2 * _BETWEEN) / (widest * _INCH), 0.1)

    def _size(self, page: int) -> QSize:
        width, height = self._sizes[page - 1]
        scale = self._scale * _INCH
        return QSize(round(width * scale), round(height * scale))

    def _place(self, page: int) -> QRect:
        """Return where a page is in the viewport."""
        size = self._size(page)
        room = max(self.viewport().width(), size.width() + 2 * _BETWEEN)
        corner = QPoint(
            (room - size.width()) // 2 - self.horizontalScrollBar().value(),
            self._tops[page - 1] - self.verticalScrollBar().value(),
        )
        return QRect(corner, size)

    def _lay_out(self) -> None:
        self._tops = []
        bottom, widest = _BETWEEN, 0
        for page in range(1, self.count + 1):
            size = self._size(page)
            self._tops.append(bottom)
            bottom += size.height() + _BETWEEN
            widest = max(widest, size.width() + 2 * _BETWEEN)
        view = self.viewport().size()
        for bar, whole, shown in (
            (self.verticalScrollBar(), bottom if self._pages else 0, view.height()),
            (self.horizontalScrollBar(), widest, view.width()),
        ):
            bar.setRange(0, max(whole - shown, 0))
            bar.setPageStep(shown)
            bar.setSingleStep(40)
        self.viewport().update()

    def _within(self) -> float:
        """Return how far into the page at the top one has read, as a share of it."""
        if not self.at:
            return 0.0
        read = self.verticalScrollBar().value() - self._tops[self.at - 1]
        return read / max(self._size(self.at).height(), 1)

    def _scroll_to(self, page: int, within: float) -> None:
        if not self._tops:
            return
        offset = round(within * self._size(page).height()) if within else -_BETWEEN // 2
        self.verticalScrollBar().setValue(self._tops[page - 1] + offset)

    def _move(self) -> None:
        self.viewport().update()
        if self.at != self._told:
            self._told = self.at
            self.moved.emit()

    # Drawing

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the pages in sight."""
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        ground = self.palette().window().color()
        painter.fillRect(self.viewport().rect(), ground.darker(108))
        sight = self.viewport().rect()
        seen = [page for page in range(1, self.count + 1) if self._place(page).intersects(sight)]
        for page in seen:
            place = self._place(page)
            # paper is white, whatever the window's colours
            painter.fillRect(place, Qt.GlobalColor.white)
            if page in self._drawn:
                painter.drawPixmap(place, self._drawn[page][1])
            else:
                painter.setPen(QColor(theme.LIGHT.quiet))
                painter.drawText(QRectF(place), Qt.AlignmentFlag.AlignCenter, words.number(page))
            painter.setPen(QPen(QColor(theme.colours().line), 1))
            painter.drawRect(place.adjusted(0, 0, -1, -1))
        if seen:
            self._draw_ahead(seen)

    def _draw_ahead(self, seen: Sequence[int]) -> None:
        """Have the pages in sight drawn, and their neighbours; forget those far away."""
        near = range(max(seen[0] - _AHEAD, 1), min(seen[-1] + _AHEAD, self.count) + 1)
        self._drawn = {
            page: drawn
            for page, drawn in self._drawn.items()
            if near[0] - 2 <= page <= near[-1] + 2
        }
        for page in (*seen, *(page for page in near if page not in seen)):
            width = round(self._size(page).width() * self.devicePixelRatioF())
            if self._drawn.get(page, (-1,))[0] != width and (page, width) not in self._drawing:
                self._drawing.add((page, width))
                self._draw(page, width)

    def _draw(self, page: int, width: int) -> None:
        content, pages = self._pages[page - 1], self._pages

        def take(image: QImage) -> None:
            if pages is self._pages:
                self._drawing.discard((page, width))
                self._drawn[page] = (width, QPixmap.fromImage(image))
                self.viewport().update()

        def fail(_error: FairDeskError) -> None:
            self._drawing.discard((page, width))

        in_background(self, lambda: _scaled(content, width), take, fail)

    def _ask_sharper(self) -> None:
        if self._pages and self.resolution_wanted > 1.05 * self._resolution:
            self.blurred.emit(self.resolution_wanted)

    # Qt's own

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Fit the width, and stay where one was."""
        super().resizeEvent(event)
        at, within = self.at, self._within()
        self._lay_out()
        if at:
            self._scroll_to(at, within)
        self._ask_sharper()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Turn pages."""
        bar = self.verticalScrollBar()
        view = self.viewport().height()
        match event.key():
            case Qt.Key.Key_PageDown | Qt.Key.Key_Space:
                bar.setValue(bar.value() + round(0.9 * view))
            case Qt.Key.Key_PageUp:
                bar.setValue(bar.value() - round(0.9 * view))
            case Qt.Key.Key_Home:
                bar.setValue(0)
            case Qt.Key.Key_End:
                bar.setValue(bar.maximum())
            case Qt.Key.Key_Down:
                bar.setValue(bar.value() + bar.singleStep())
            case Qt.Key.Key_Up:
                bar.setValue(bar.value() - bar.singleStep())
            case _:
                super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        """Scroll; zoom while Ctrl is held."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            if event.angleDelta().y():
                self.step_zoom(1 if event.angleDelta().y() > 0 else -1)
            event.accept()
        else:
            super().wheelEvent(event)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Follow the theme."""
        super().changeEvent(event)
        if theme.palette_changed(event):
            self.viewport().update()


def _inches(page: bytes, resolution: float) -> tuple[float, float]:
    """Return a page's size on paper."""
    head = page[_SIZE_AT]
    width, height = (int.from_bytes(head[i : i + 4], "big") for i in (0, 4))
    return width / resolution, height / resolution


def _scaled(content: bytes, width: int) -> QImage:
    """Draw a page so many pixels wide."""
    # of Qt’s ways to read a picture only this one lets the window go on meanwhile
    device = QBuffer()
    device.setData(QByteArray(content))
    device.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(device)
    size = reader.size()
    reader.setScaledSize(QSize(max(width, 1), round(width * size.height() / size.width())))
    return reader.read()
