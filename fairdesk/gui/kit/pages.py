"""Pages of which one is shown, and what is alike in all: where they are too small, they scroll."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QSize, Qt
from PySide6.QtGui import QMoveEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QStackedWidget, QWidget

from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.kit.hints.helping import HelpButton

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


class Staying(QWidget):
    """The place of a panel in a page that scrolls: the panel keeps to what is in sight of it.

    Parameters
    ----------
    panel : QWidget
        What stays in sight, in its least height at least.
    """

    def __init__(self, panel: QWidget) -> None:
        super().__init__()
        self._panel = panel
        self._area: QScrollArea | None = None
        self._stays = True
        panel.setParent(self)

    def follow(self, area: QScrollArea) -> None:
        """Follow the area that scrolls the page."""
        self._area = area
        bar = area.verticalScrollBar()
        bar.valueChanged.connect(self._arrange)
        # it changes with the height of the area, too
        bar.rangeChanged.connect(self._arrange)

    def set_staying(self, *, stays: bool) -> None:
        """Let the panel stay in sight, or fill its place where nothing is beside it."""
        self._stays = stays
        self.updateGeometry()
        self._arrange()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Ask for the panel's width; its height is that of what is beside it."""
        hint = self._panel.sizeHint().boundedTo(self._panel.maximumSize())
        return QSize(hint.width(), self._least().height()) if self._stays else hint

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the panel's least size."""
        return self._least()

    def event(self, event: QEvent) -> bool:
        """Follow what the panel needs."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
            self._arrange()
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Give the panel the width there is."""
        super().resizeEvent(event)
        self._arrange()

    def moveEvent(self, event: QMoveEvent) -> None:  # noqa: N802 - Qt's name
        """Keep the panel in sight where what is above it takes more room."""
        super().moveEvent(event)
        self._arrange()

    def _least(self) -> QSize:
        return self._panel.minimumSizeHint().expandedTo(self._panel.minimumSize())

    def _arrange(self) -> None:
        """Put the panel where its place is in sight."""
        begin, height = 0, self.height()
        page = self._area.widget() if self._area is not None else None
        if self._area is not None and page is not None and self._stays:
            top = self.mapTo(page, QPoint()).y()
            seen = self._area.verticalScrollBar().value() + theme.GAP
            begin = max(seen - top, 0)
            end = seen + self._area.viewport().height() - 2 * theme.GAP - top
            height = max(min(end, height) - begin, self._least().height())
        height = min(height, self._panel.maximumHeight(), self.height())
        self._panel.setGeometry(0, min(begin, self.height() - height), self.width(), height)


def _needed(page: QWidget, width: int) -> int:
    """Return the least height of a page at a width, at which some of its texts take more lines."""
    height = max(page.minimumSizeHint().height(), page.minimumHeight())
    direct = Qt.FindChildOption.FindDirectChildrenOnly
    for text in page.findChildren(QLabel, options=direct):
        if text.wordWrap() and not text.isHidden():
            height += max(0, text.heightForWidth(width) - text.minimumSizeHint().height())
    return height
