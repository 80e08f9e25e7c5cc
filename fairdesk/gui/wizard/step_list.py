"""The list of steps at the wizard's left: where one is, what is done, what to look at again."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPalette, QPen
from PySide6.QtWidgets import (
    QFrame,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
)

from fairdesk.gui.kit import theme
from fairdesk.gui.kit.table_model import Index
from fairdesk.gui.wizard.state.wizard_state import Standing, Step

_NAMES = {
    Step.DATA: "Data",
    Step.MODEL: "Model",
    Step.ATTRIBUTES: "Attributes",
    Step.CHECKS: "Methods",
    Step.REVIEW: "Review",
}
_SPOKEN = {
    Standing.LOCKED: "not yet",
    Standing.OPEN: "open",
    Standing.DONE: "done",
    Standing.REDO: "to be checked again",
}
_STANDING, _NOTE = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1
_MARK = 24


class _Delegate(QStyledItemDelegate):
    """Draws a step: its number or mark in a circle, its name, and what was answered."""

    def sizeHint(  # noqa: N802 - Qt's name
        self, option: QStyleOptionViewItem, _index: Index
    ) -> QSize:
        """Return room for two lines."""
        return QSize(120, 2 * option.fontMetrics.height() + 2 * theme.GAP)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw the step."""
        rect: QRect = option.rect
        palette: QPalette = option.palette
        state: QStyle.StateFlag = option.state
        standing: Standing = index.data(_STANDING)
        current = bool(state & QStyle.StateFlag.State_Selected)
        colours = theme.colours()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = rect.adjusted(theme.NEAR, 2, -theme.NEAR, -2)
        if current:
            focus = bool(state & QStyle.StateFlag.State_HasFocus)
            ring = QPen(QColor(colours.accent), 1.5) if focus else QPen(Qt.PenStyle.NoPen)
            painter.setPen(ring)
            painter.setBrush(QColor(colours.tint))
            painter.drawRoundedRect(box, 8, 8)
        centre = QPoint(box.left() + theme.GAP + _MARK // 2, box.center().y())
        self._mark(painter, centre, index.row() + 1, standing, current=current)
        left = centre.x() + _MARK // 2 + theme.GAP
        width = box.right() - left - theme.TIGHT
        line = option.fontMetrics.height()
        note = index.data(_NOTE)
        top = box.center().y() - (line if note else line // 2)
        font = option.font
        locked = standing is Standing.LOCKED and not current
        text = QColor(colours.quiet) if locked else palette.color(QPalette.ColorRole.WindowText)
        painter.setPen(text)
        painter.setFont(theme.scaled(font, 1.0, strong=current))
        painter.drawText(QRect(left, top, width, line), Qt.AlignmentFlag.AlignLeft, index.data())
        painter.setFont(font)
        again = standing is Standing.REDO
        painter.setPen(QColor(colours.wrong if again else colours.quiet))
        cut = painter.fontMetrics().elidedText(note, Qt.TextElideMode.ElideRight, width)
        painter.drawText(QRect(left, top + line, width, line), Qt.AlignmentFlag.AlignLeft, cut)
        painter.restore()

    @staticmethod
    def _mark(
        painter: QPainter, centre: QPoint, number: int, standing: Standing, *, current: bool
    ) -> None:
        colours = theme.colours()
        circle = QRect(0, 0, _MARK, _MARK)
        circle.moveCenter(centre)
        done, again = standing is Standing.DONE, standing is Standing.REDO
        ground = colours.wrong if again else colours.accent
        filled = done or again or current
        painter.setPen(QPen(QColor(ground if filled else colours.line), 1.5))
        painter.setBrush(QColor(ground) if filled else Qt.BrushStyle.NoBrush)
        painter.drawEllipse(circle)
        dark = theme.colours() is theme.DARK
        on_ground = QColor("#101317" if dark else "#FFFFFF")
        painter.setPen(on_ground if filled else QColor(colours.quiet))
        sign = "↻" if again else "✓" if done and not current else str(number)
        painter.drawText(circle, Qt.AlignmentFlag.AlignCenter, sign)


class StepList(QListWidget):
    """The steps.

    Signals
    -------
    asked : object
        The auditor wants to see this step.
    """

    asked = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setFixedWidth(206)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName("Steps")
        self.setItemDelegate(_Delegate(self))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAutoFillBackground(False)
        for step in Step:
            item = QListWidgetItem(_NAMES[step])
            item.setData(_STANDING, Standing.LOCKED)
            item.setData(_NOTE, "")
            self.addItem(item)
        self.currentRowChanged.connect(self._ask)
        self._showing = False

    def show_steps(
        self, current: Step, standings: dict[Step, Standing], notes: dict[Step, str]
    ) -> None:
        """Show how the steps stand; steps that cannot be entered yet cannot be chosen."""
        self._showing = True
        reached = True
        for step in Step:
            item = self.item(step)
            standing = standings[step]
            note = "check again" if standing is Standing.REDO else notes.get(step, "")
            item.setData(_STANDING, standing)
            item.setData(_NOTE, note)
            spoken = f"Step {step + 1}, {_NAMES[step]}, {_SPOKEN[standing]}. {note}".strip()
            item.setData(Qt.ItemDataRole.AccessibleTextRole, spoken)
            usable = reached or step <= current
            flags = Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled
            item.setFlags(flags if usable else Qt.ItemFlag.NoItemFlags)
            reached = reached and standing is Standing.DONE
        self.setCurrentRow(current)
        self._showing = False

    def _ask(self, row: int) -> None:
        if not self._showing and row >= 0:
            self.asked.emit(Step(row))
