"""Definitions of terms under the pointer: in labels, buttons, entries, and heads of tables."""

from __future__ import annotations

import html

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QEnterEvent, QHelpEvent, QTextDocument, QTextOption
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QLabel,
    QPushButton,
    QTableView,
    QToolTip,
    QWidget,
)

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


class _HeadDefinitions(QObject):
    """Shows the definitions of the terms in the heads of a table."""

    def __init__(self, head: QHeaderView) -> None:
        super().__init__(head)
        self._head = head
        head.viewport().installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        if not isinstance(event, QHelpEvent):
            return False
        head = self._head
        column = head.logicalIndexAt(event.pos())
        model, across = head.model(), head.orientation()
        if column < 0 or model.headerData(column, across, Qt.ItemDataRole.ToolTipRole):
            return False
        # a title may be in two lines
        found = terms_in(str(model.headerData(column, across) or "").replace("\n", " "))
        if not found:
            return False
        left = head.sectionViewportPosition(column)
        shape = QRect(left, 0, head.sectionSize(column), head.height())
        _show(found[0].term, event, head.viewport(), shape)
        return True


class _EntryDefinitions(QObject):
    """Shows the definitions of the terms in the entries of a list, below what their tips say."""

    def __init__(self, view: QAbstractItemView) -> None:
        super().__init__(view)
        self._view = view
        view.viewport().installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        if not isinstance(event, QHelpEvent):
            return False
        entry = self._view.indexAt(event.pos())
        found = terms_in(str(entry.data(Qt.ItemDataRole.DisplayRole) or ""))
        if not entry.isValid() or not found:
            return False
        tip = str(entry.data(Qt.ItemDataRole.ToolTipRole) or "")
        view = self._view
        _show(found[0].term, event, view.viewport(), view.visualRect(entry), tip)
        return True


def define_entries(view: QAbstractItemView) -> None:
    """Show the definition of a term in an entry of a list under the pointer."""
    _EntryDefinitions(view)


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


def define_heads(table: QTableView) -> None:
    """Show the definition of a term in a table's head under the pointer."""
    _HeadDefinitions(table.horizontalHeader())


def _show(term: Term, event: QHelpEvent, widget: QWidget, shape: QRect, above: str = "") -> None:
    text = f"<p>{html.escape(above)}</p>" if above else ""
    text += f"<p><b>{html.escape(term.title)}</b></p><p>{html.escape(term.plain)}</p>"
    QToolTip.showText(event.globalPos(), text, widget, shape)


def without_mnemonic(text: str) -> str:
    """Return the text of a button or menu entry as it is read."""
    return text.replace("&&", "\0").replace("&", "").replace("\0", "&")
