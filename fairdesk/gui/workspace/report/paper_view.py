"""The pages of a report one below the other: scrolled, zoomed, and read only where one looks."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QImage,
    QImageReader,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPixmap,
    QResizeEvent,
    QTransform,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QGraphicsItem,
    QGraphicsScene,
    QGraphicsView,
    QStyleOptionGraphicsItem,
    QWidget,
)

from fairdesk.errors import FairDeskError
from fairdesk.gui.kit import theme
from fairdesk.gui.kit.keys import shortcut
from fairdesk.gui.kit.threads import in_background
from fairdesk.wording import words

#: The zoom that fits a page into the width; others are relative to paper held in the hand.
FIT = 0.0
#: What can be chosen.
ZOOMS = (FIT, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
#: Logical pixels of an inch of paper at 100 %: the unit of the scene.
_INCH = 96
#: How wide a page is before there is one.
_A4 = 8.27 * _INCH
_BETWEEN = theme.GAP
#: So many pages above and below those in sight are read ahead, and so many are kept.
_AHEAD, _KEPT = 1, 3
#: Of a header of a PNG file: where its width and height are.
_SIZE_AT = slice(16, 24)


class _Paper(QGraphicsItem):
    """A page: white paper whatever the window's colours, and its picture once that is read."""

    def __init__(self, number: int, content: bytes, resolution: float) -> None:
        super().__init__()
        self.number, self.content = number, content
        head = content[_SIZE_AT]
        wide, high = (int.from_bytes(head[at : at + 4], "big") for at in (0, 4))
        self._rect = QRectF(0, 0, wide * _INCH / resolution, high * _INCH / resolution)
        self.picture: QPixmap | None = None
        #: How many pixels wide the picture is, or the one that is being read.
        self.wide = 0

    def boundingRect(self) -> QRectF:  # noqa: N802 - Qt's name
        """Return its size at 100 %."""
        return self._rect

    def paint(
        self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None = None
    ) -> None:
        """Draw the picture pixel by pixel, so that it is sharp; before it the number."""
        place = painter.worldTransform().mapRect(self._rect)
        painter.setWorldMatrixEnabled(False)
        rect = QRect(place.topLeft().toPoint(), QSize(round(place.width()), round(place.height())))
        painter.fillRect(rect, Qt.GlobalColor.white)
        if self.picture is not None:
            painter.drawPixmap(rect, self.picture)
        else:
            painter.setPen(QColor(theme.LIGHT.quiet))
            painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, words.number(self.number))
        painter.setPen(QColor(theme.colours().line))
        painter.drawRect(rect.adjusted(0, 0, -1, -1))
        painter.setWorldMatrixEnabled(True)


class PagesView(QGraphicsView):
    """Shows pages.

    Signals
    -------
    moved
        Another page is at the top, or there are others.
    zoomed
        `zoom` is another.
    blurred
        The pages have fewer pixels than the zoom shows: see `resolution_wanted`.
    """

    moved = Signal()
    zoomed = Signal()
    blurred = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setScene(QGraphicsScene(self))
        self.zoom = FIT
        self.papers: list[_Paper] = []
        self._resolution = 0.0
        self._told = -1
        self.setInteractive(False)
        self.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        self.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self.setResizeAnchor(QGraphicsView.ViewportAnchor.AnchorViewCenter)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # a page begins at its left, whatever the language of the window
        self.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        self.setAccessibleName("Pages of the report")
        self.verticalScrollBar().valueChanged.connect(self._move)
        for keys in ("Ctrl++", "Ctrl+="):
            shortcut(self, keys, lambda: self.step_zoom(1), "Zoom in")
        out = QKeySequence.StandardKey.ZoomOut
        shortcut(self, out, lambda: self.step_zoom(-1), "Zoom out")

    @property
    def count(self) -> int:
        """How many pages there are."""
        return len(self.papers)

    @property
    def at(self) -> int:
        """The page at the top, from 1; 0 where there is none."""
        # a page counts as reached when its top is a little below the upper edge
        y = self.mapToScene(0, self.viewport().height() // 4).y()
        return max(sum(paper.y() <= y for paper in self.papers), min(self.count, 1))

    @property
    def resolution_wanted(self) -> float:
        """How many pixels to the inch of paper are sharp on this screen, as it is zoomed."""
        return self._scale * _INCH * self.devicePixelRatioF()

    def show_pages(self, pages: Sequence[bytes], resolution: float) -> None:
        """Show pages, and stay where one was."""
        before = [paper.picture for paper in self.papers]
        self._resolution = resolution
        self.papers = [_Paper(at, page, resolution) for at, page in enumerate(pages, start=1)]
        scene = self.scene()
        scene.clear()
        bottom = float(_BETWEEN)
        wide = max((paper.boundingRect().width() for paper in self.papers), default=_A4)
        for paper in self.papers:
            paper.setPos((wide - paper.boundingRect().width()) / 2, bottom)
            bottom += paper.boundingRect().height() + _BETWEEN
            scene.addItem(paper)
        if len(before) == self.count:
            # what was read stays in sight until the same page is read anew
            for paper, picture in zip(self.papers, before, strict=True):
                paper.picture = picture
        # one that came and went would change what fits the width
        policy = Qt.ScrollBarPolicy
        self.setVerticalScrollBarPolicy(
            policy.ScrollBarAlwaysOn if self.papers else policy.ScrollBarAlwaysOff
        )
        scene.setSceneRect(-_BETWEEN, 0, wide + 2 * _BETWEEN, bottom)
        self._fit()
        self._told = -1
        self._move()

    def go_to(self, page: int) -> None:
        """Bring the top of a page in sight."""
        if self.papers:
            top = self.papers[min(max(page, 1), self.count) - 1].pos()
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() + self.mapFromScene(top).y() - _BETWEEN // 2)

    def set_zoom(self, zoom: float) -> None:
        """Zoom, and stay where one was."""
        if zoom != self.zoom:
            self.zoom = zoom
            self._fit()
            self.zoomed.emit()

    def step_zoom(self, step: int) -> None:
        """Zoom in or out by a step."""
        now, scales = self._scale, ZOOMS[1:]
        if step > 0:
            self.set_zoom(next((zoom for zoom in scales if zoom > now * 1.01), scales[-1]))
        else:
            self.set_zoom(next((zoom for zoom in scales[::-1] if zoom < now * 0.99), scales[0]))

    def say(self, text: str) -> None:
        """Tell those who do not see the page what is on it."""
        if text != self.accessibleDescription():
            self.setAccessibleDescription(text)

    @property
    def _scale(self) -> float:
        if self.zoom != FIT:
            return self.zoom
        return max((self.viewport().width() - 1) / (self.sceneRect().width() or _A4), 0.1)

    def _fit(self) -> None:
        """Follow the zoom; what is in the middle stays there."""
        self.setTransform(QTransform.fromScale(self._scale, self._scale))
        if self.papers and self.resolution_wanted > 1.05 * self._resolution:
            self.blurred.emit()

    def _move(self) -> None:
        if self.at != self._told:
            self._told = self.at
            self.moved.emit()

    def _read(self, paper: _Paper, wide: int) -> None:
        """Have a page drawn so many pixels wide."""
        paper.wide, content = wide, paper.content

        def take(image: QImage) -> None:
            if paper in self.papers and paper.wide == wide:
                paper.picture = QPixmap.fromImage(image)
                paper.update()

        def fail(_error: FairDeskError) -> None:
            paper.wide = 0

        in_background(self, lambda: _scaled(content, wide), take, fail)

    # Qt's own

    def drawBackground(self, painter: QPainter, rect: QRectF | QRect) -> None:  # noqa: N802 - Qt's
        """Draw what the pages lie on."""
        painter.fillRect(rect, self.palette().window().color().darker(108))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the pages in sight; read them and their neighbours, and forget those far away."""
        super().paintEvent(event)
        seen = [each.number for each in self.items(self.viewport().rect()) if each in self.papers]
        if not seen:
            return
        scale = self._scale * self.devicePixelRatioF()
        for paper in self.papers:
            apart = max(min(seen) - paper.number, paper.number - max(seen))
            wide = round(paper.boundingRect().width() * scale)
            if apart <= _AHEAD and paper.wide != wide:
                self._read(paper, wide)
            elif apart > _KEPT:
                paper.picture, paper.wide = None, 0

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Fit the width, and stay where one was."""
        super().resizeEvent(event)
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Turn pages."""
        bar = self.verticalScrollBar()
        move = {
            Qt.Key.Key_Space: bar.SliderAction.SliderPageStepAdd,
            Qt.Key.Key_Home: bar.SliderAction.SliderToMinimum,
            Qt.Key.Key_End: bar.SliderAction.SliderToMaximum,
        }.get(Qt.Key(event.key()))
        if move is None:
            super().keyPressEvent(event)
        else:
            bar.triggerAction(move)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802 - Qt's name
        """Scroll; zoom while Ctrl is held."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            if event.angleDelta().y():
                self.step_zoom(1 if event.angleDelta().y() > 0 else -1)
            event.accept()
        else:
            super().wheelEvent(event)


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
