"""What is said under the pointer: definitions of terms, tooltips, and the page of the help."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Protocol, runtime_checkable

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRect, QSize, Qt
from PySide6.QtGui import (
    QEnterEvent,
    QHelpEvent,
    QKeySequence,
    QTextDocument,
    QTextOption,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QLabel,
    QPushButton,
    QTableView,
    QToolButton,
    QToolTip,
    QWidget,
)

from fairdesk.gui.kit import theme
from fairdesk.manual.terms import Term, term_at, terms_in


class Defined(QLabel):
    """A label of plain text that shows the definition of the term under the pointer."""

    def __init__(self, text: str = "") -> None:
        super().__init__(text)
        self.setTextFormat(Qt.TextFormat.PlainText)

    def enterEvent(self, event: QEnterEvent) -> None:  # noqa: N802 - Qt's name
        """Look at events while the pointer is here only: there are hundreds of labels."""
        super().enterEvent(event)
        self.installEventFilter(self)

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Look at no more events."""
        super().leaveEvent(event)
        self.removeEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Show a definition where the label has no tooltip of its own."""
        if watched is self and isinstance(event, QHelpEvent) and not self.toolTip():
            term = self.term_at(event.pos())
            if term is not None:
                _show(term, event, self, self.rect())
                return True
        return super().eventFilter(watched, event)

    def term_at(self, place: QPoint) -> Term | None:
        """Return the term that is drawn at a place of the label."""
        document = QTextDocument()
        document.setDocumentMargin(0)
        document.setDefaultFont(self.font())
        wrap = QTextOption.WrapMode.WordWrap if self.wordWrap() else QTextOption.WrapMode.NoWrap
        option = QTextOption(self.alignment())
        option.setWrapMode(wrap)
        document.setDefaultTextOption(option)
        text = self.text() if self.buddy() is None else without_mnemonic(self.text())
        document.setPlainText(text)
        room = self.contentsRect()
        document.setTextWidth(room.width())
        below = room.height() - document.size().height()
        if self.alignment() & Qt.AlignmentFlag.AlignTop:
            below = 0
        inside = QPointF(place - room.topLeft()) - QPointF(0, below / 2)
        at = document.documentLayout().hitTest(inside, Qt.HitTestAccuracy.ExactHit)
        return None if at < 0 else term_at(text, at)


class _Definitions(QObject):
    """Shows the definition of the first term in what is under the pointer.

    Parameters
    ----------
    at : callable
        Returns the text at a place, where it is, and what is to stand above the definition.
    """

    def __init__(
        self, view: QAbstractItemView, at: Callable[[QPoint], tuple[str, QRect, str]]
    ) -> None:
        super().__init__(view)
        self._place, self._at = view.viewport(), at
        self._place.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        if not isinstance(event, QHelpEvent):
            return False
        text, shape, above = self._at(event.pos())
        if found := terms_in(text):
            _show(found[0].term, event, self._place, shape, above)
        return bool(found)


def define_entries(view: QAbstractItemView) -> None:
    """Show the definition of a term in an entry of a list, below what its tip says."""

    def at(place: QPoint) -> tuple[str, QRect, str]:
        entry = view.indexAt(place)
        tip = str(entry.data(Qt.ItemDataRole.ToolTipRole) or "")
        return str(entry.data() or ""), view.visualRect(entry), tip

    _Definitions(view, at)


def define_heads(table: QTableView) -> None:
    """Show the definition of a term in a table's head, where that has no tip of its own."""
    head = table.horizontalHeader()

    def at(place: QPoint) -> tuple[str, QRect, str]:
        column, across = head.logicalIndexAt(place), head.orientation()
        left, wide = head.sectionViewportPosition(column), head.sectionSize(column)
        shape = QRect(left, 0, wide, head.height())
        if column < 0 or head.model().headerData(column, across, Qt.ItemDataRole.ToolTipRole):
            return "", shape, ""
        # a title may be in two lines
        text = str(head.model().headerData(column, across) or "").replace("\n", " ")
        return text, shape, ""

    _Definitions(head, at)


class DefinedButton(QPushButton):
    """A button that shows the definition of a term in its text where it has no tip of its own."""

    def event(self, event: QEvent) -> bool:
        """Show a definition."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            found = terms_in(without_mnemonic(self.text()))
            if found and not self.toolTip():
                _show(found[0].term, event, self, self.rect())
                return True
        return super().event(event)


def _show(term: Term, event: QHelpEvent, widget: QWidget, shape: QRect, above: str = "") -> None:
    text = f"<p>{html.escape(above)}</p>" if above else ""
    text += f"<p><b>{html.escape(term.title)}</b></p><p>{html.escape(term.plain)}</p>"
    QToolTip.showText(event.globalPos(), text, widget, shape)


def without_mnemonic(text: str) -> str:
    """Return the text of a button or menu entry as it is read."""
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&")


_TOPIC = "help_topic"


@runtime_checkable
class Helper(Protocol):
    """A window that has the help."""

    def show_help(self, topic: str) -> None:
        """Show what belongs to a topic."""


def set_topic(widget: QWidget, topic: str) -> None:
    """Say which topic a part of the window is about: one of `fairdesk.gui.help.window`."""
    widget.setProperty(_TOPIC, topic)


def topic_of(widget: QWidget | None) -> str:
    """Return the topic of the nearest part around a widget; a dialog's is its class."""
    while widget is not None:
        topic = widget.property(_TOPIC)
        if topic:
            return str(topic)
        if isinstance(widget, QDialog):
            return type(widget).__name__
        widget = widget.parentWidget()
    return ""


def ask_help(widget: QWidget) -> None:
    """Open the help on what a widget is about."""
    above: QWidget | None = widget
    while above is not None and not isinstance(above, Helper):
        above = above.parentWidget()
    if above is not None:
        above.show_help(topic_of(widget))


class HelpButton(QToolButton):
    """A “?” that opens the help on what is around it.

    Tab passes it by: the key F1 does the same from wherever the keyboard is.
    """

    def __init__(self, about: str, topic: str = "") -> None:
        super().__init__()
        self.setText("?")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFixedSize(QSize(1, 1) * (self.fontMetrics().height() + theme.TIGHT))
        key = QKeySequence(QKeySequence.StandardKey.HelpContents)
        self.setToolTip(f"Help ({key.toString(QKeySequence.SequenceFormat.NativeText)})")
        self.setAccessibleName(f"Help: {about}")
        if topic:
            set_topic(self, topic)
        self.clicked.connect(lambda: ask_help(self))


def plain(text: str) -> str:
    """Keep Qt from reading a text of a file as markup in a tooltip, which has no plain mode."""
    return f"<span>{html.escape(text)}</span>".replace("\n", "<br>")
