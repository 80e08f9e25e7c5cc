"""Pages of which one is shown, and what is alike in all: where they are too small, they scroll."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QStackedWidget, QWidget

from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.kit.hints import HelpButton

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
