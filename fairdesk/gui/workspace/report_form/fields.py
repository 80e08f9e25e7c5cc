"""One question to the auditor on the Report page: its label, its field, and what belongs there."""

from __future__ import annotations

from PySide6.QtCore import QDate, QEvent, QObject, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import (
    QCalendarWidget,
    QComboBox,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QToolButton,
    QWidget,
    QWidgetAction,
)

from fairdesk.audit.store.records import TemplateKey
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.report.content.fields import fault
from fairdesk.report.content.form import Field

#: A text of several lines is as high as what it holds, between these.
_LEAST_LINES, _MOST_LINES = 3, 12
_NO_CHOICE = "Not supplied yet"


class FieldEditor(QWidget):
    """Asks one thing.

    Signals
    -------
    edited
        Something was typed or chosen.
    entered
        The field got the keyboard.
    left
        The field was left, with what was typed in it: it can be kept.
    """

    edited = Signal()
    entered = Signal()
    left = Signal()

    def __init__(self, field: Field) -> None:
        super().__init__()
        self.field = field
        self._kept = ""
        self._label = QLabel()
        self._label.setTextFormat(Qt.TextFormat.PlainText)
        self._label.setWordWrap(True)
        self._wrong = parts.Words(tone="wrong")
        self._wrong.hide()
        self.input = self._make_input()
        #: What of it takes the keyboard, in order.
        self.order: list[QWidget] = [self.input]
        self._label.setBuddy(self.input)
        column = layouts.column(self._label, on=self, spacing=theme.TIGHT)
        if field.kind == "date":
            self.order.append(self._make_calendar())
            row = layouts.row(layouts.grow(self.input), self.order[-1], spacing=theme.TIGHT)
            column.addLayout(row)
        else:
            column.addWidget(self.input)
        column.addWidget(self._wrong)
        if field.help:
            column.addWidget(parts.quiet(field.help))
            self.input.setAccessibleDescription(field.help)
        self.input.installEventFilter(self)
        self.show_need("plain")

    @property
    def text(self) -> str:
        """What is in the field now."""
        match self.input:
            case QPlainTextEdit():
                return self.input.toPlainText().strip()
            case QComboBox():
                return self.input.currentText() if self.input.currentIndex() > 0 else ""
            case _:
                return self.input.text().strip()

    @property
    def dirty(self) -> bool:
        """Whether that is not kept yet."""
        return self.text != self._kept

    def show_text(self, text: str) -> None:
        """Show what is kept, unless there is something else that is not kept yet."""
        unsaved, self._kept = self.dirty, text
        if unsaved:
            return
        if text != self.text:
            with QSignalBlocker(self.input):
                self._put(text)
        self._check()

    def show_need(self, template: TemplateKey) -> None:
        """Say whether a template cannot be final without it."""
        needed = template in self.field.required_by
        said = f"{self.field.label} (required for Final)" if needed else self.field.label
        self._label.setText(said.replace("&", "&&"))
        self.input.setAccessibleName(said)

    def mark_kept(self, text: str) -> None:
        """Say what is kept: what is in the field, or when that could not be written, what was."""
        self._kept = text

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Notice that the field is entered or left, or is wider."""
        if watched is self.input and event.type() == QEvent.Type.Resize:
            self._fit()
        if watched is self.input and event.type() == QEvent.Type.FocusIn:
            self.entered.emit()
        if (
            watched is self.input
            and isinstance(event, QFocusEvent)
            and event.type() == QEvent.Type.FocusOut
            and event.reason() != Qt.FocusReason.PopupFocusReason
        ):
            self._check()
            self.left.emit()
        return super().eventFilter(watched, event)

    def _make_input(self) -> QLineEdit | QPlainTextEdit | QComboBox:
        field = self.field
        # nobody is to take it for something that is filled in
        example = f"e.g. {field.example}" if field.example else ""
        if field.kind == "text":
            text = QPlainTextEdit()
            text.setPlaceholderText(example)
            text.setTabChangesFocus(True)
            text.textChanged.connect(self._fit)
            text.textChanged.connect(self.edited)
            return text
        if field.kind == "choice":
            combo = parts.bounded(QComboBox())
            combo.addItem(_NO_CHOICE)
            combo.addItems(field.choices)
            parts.calm(combo)
            combo.currentIndexChanged.connect(self.edited)
            # a choice is made in one go, not typed
            combo.activated.connect(self.left)
            return combo
        line = QLineEdit()
        line.setPlaceholderText(example)
        line.textChanged.connect(self.edited)
        line.returnPressed.connect(self.left)
        return line

    def _make_calendar(self) -> QToolButton:
        button = QToolButton()
        button.setText("…")
        button.setAccessibleName(f"Choose the date: {self.field.label}")
        button.clicked.connect(lambda: self._choose_date(button))
        return button

    def _choose_date(self, button: QToolButton) -> None:
        """Show a calendar below the button."""
        menu = QMenu(button)
        calendar = QCalendarWidget()
        calendar.setSelectedDate(_day(self.text))
        entry = QWidgetAction(menu)
        entry.setDefaultWidget(calendar)
        menu.addAction(entry)

        def take(day: QDate) -> None:
            menu.close()
            self._put(day.toString(Qt.DateFormat.ISODate))
            self._check()
            self.left.emit()

        calendar.activated.connect(take)
        calendar.clicked.connect(take)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(button.mapToGlobal(button.rect().bottomLeft()))
        calendar.setFocus()

    def _put(self, text: str) -> None:
        match self.input:
            case QPlainTextEdit():
                self.input.setPlainText(text)
                self._fit()
            case QComboBox():
                at = self.input.findText(text) if text else 0
                if at < 0:
                    # written by hand, or by another version: it is shown, not lost
                    self.input.addItem(text)
                    at = self.input.count() - 1
                self.input.setCurrentIndex(at)
            case _:
                self.input.setText(text)
                self.input.setCursorPosition(0)

    def _check(self) -> None:
        """Say what is wrong; it is kept all the same, so that nothing is lost."""
        wrong = fault(self.field, self.text)
        self._wrong.say(wrong)

    def _fit(self) -> None:
        """Make a field of several lines as high as its text, or while it is empty its example."""
        text = self.input
        if not isinstance(text, QPlainTextEdit):
            return
        metrics, lines = text.fontMetrics(), text.document().size().height()
        if not text.toPlainText():
            # the view inside has its new width only after this
            room = text.contentsRect().adjusted(0, 0, -2 * theme.TIGHT, 10_000)
            wrapped = Qt.TextFlag.TextWordWrap
            example = metrics.boundingRect(room, wrapped, text.placeholderText())
            lines = example.height() / metrics.lineSpacing()
        lines = min(max(lines, _LEAST_LINES), _MOST_LINES)
        frame = 2 * text.frameWidth() + 2 * int(text.document().documentMargin())
        text.setFixedHeight(round(lines * metrics.lineSpacing()) + frame + theme.TIGHT)


def _day(text: str) -> QDate:
    day = QDate.fromString(text, Qt.DateFormat.ISODate)
    return day if day.isValid() else QDate.currentDate()
