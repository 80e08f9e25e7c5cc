"""The fields of the report form: a question each, the signers, and the picture on the cover."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import (
    QBuffer,
    QByteArray,
    QDate,
    QEvent,
    QIODevice,
    QObject,
    QSignalBlocker,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFocusEvent, QImage, QImageReader, QPixmap
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

from fairdesk.audit.store.records import Signer, TemplateKey
from fairdesk.gui.kit import fields, layouts, parts, theme
from fairdesk.gui.kit.dropping import ask_open
from fairdesk.gui.kit.threads import in_background
from fairdesk.report.content.fields import FIELDS, Field, fault, read_logo

_SHOWN = QSize(220, 72)


class LogoEditor(QWidget):
    """Chooses the logo.

    Signals
    -------
    chosen : bytes
        Another picture; empty when it was taken away.
    failed : FairDeskError
        A file that is no picture.
    """

    chosen = Signal(object)
    failed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._content = b""
        self._folder = ""
        self._picture = QLabel()
        self._picture.setMinimumHeight(_SHOWN.height())
        self._picture.hide()
        self._told = parts.quiet("None. An SVG, PNG or JPEG file of at most 2 MB.")
        self.choose = parts.push_button("Choose a &logo…", self._ask)
        self.remove = parts.push_button(
            "Remove", lambda: self.chosen.emit(b""), name="Remove the logo"
        )
        row = layouts.row(self.choose, self.remove, layouts.stretch(), spacing=theme.NEAR)
        layouts.column(self._picture, self._told, row, on=self, spacing=theme.NEAR)
        self.show_logo(b"")

    def show_logo(self, content: bytes) -> None:
        """Show the picture that is kept."""
        self.remove.setVisible(bool(content))
        self._told.setVisible(not content)
        if content == self._content:
            return
        self._content = content
        self._picture.hide()
        if content:
            in_background(self, lambda: _small(content), self._show_picture, self.failed.emit)

    def take(self, path: Path) -> None:
        """Read a picture from a file."""
        self._folder = str(path.parent)
        in_background(self, lambda: read_logo(path), self.chosen.emit, self.failed.emit)

    def _ask(self) -> None:
        kinds = "Pictures (*.svg *.png *.jpg *.jpeg)"
        if (path := ask_open(self, "Choose a logo", self._folder, kinds)) is not None:
            self.take(path)

    def _show_picture(self, image: QImage) -> None:
        pixmap = QPixmap.fromImage(image)
        pixmap.setDevicePixelRatio(2)
        self._picture.setPixmap(pixmap)
        self._picture.setAccessibleName("The logo on the report’s cover")
        self._picture.setVisible(bool(self._content))


def _small(content: bytes) -> QImage:
    """Draw a picture small, to look at."""
    device = QBuffer()
    device.setData(QByteArray(content))
    device.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(device)
    reader.setScaledSize(reader.size().scaled(_SHOWN * 2, Qt.AspectRatioMode.KeepAspectRatio))
    return reader.read()


_ASKED = (("Name", ""), ("Role", ": Lead auditor"), ("Date", ": 2026-01-31"))


class SignersEditor(QWidget):
    """Lists who signs.

    Signals
    -------
    changed
        A row was left with something else in it, or taken away.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[_Row] = []
        self._kept: tuple[Signer, ...] = ()
        self._list = layouts.column(spacing=theme.NEAR)
        self.add = parts.push_button("A&dd a signatory", self._add_one)
        layouts.column(self._list, layouts.column(self.add), on=self, spacing=theme.NEAR)

    @property
    def signers(self) -> tuple[Signer, ...]:
        """Those of whom anything was told."""
        return tuple(row.signer for row in self._rows if row.signer != Signer(""))

    def show_signers(self, signers: tuple[Signer, ...]) -> None:
        """Show who is kept, unless there is something else that is not kept yet."""
        unsaved, self._kept = self.signers != self._kept, signers
        # rows that were just added and are still empty stay
        if unsaved or signers == self.signers:
            return
        while self._rows:
            self._drop(self._rows[-1])
        for signer in signers:
            self._append(signer)

    def mark_kept(self, signers: tuple[Signer, ...]) -> None:
        """Say who is kept: see `FieldEditor.mark_kept`."""
        self._kept = signers

    def _add_one(self) -> None:
        self._append(Signer("")).fields[0].setFocus()

    def _append(self, signer: Signer) -> _Row:
        row = _Row(len(self._rows) + 1, signer)
        row.left.connect(self.changed)
        row.remove.clicked.connect(lambda: self._remove(row))
        self._rows.append(row)
        self._list.addWidget(row)
        # first to the place of the button, then the button behind it
        parts.in_order(self.add, *row.fields, row.remove, self.add)
        return row

    def _remove(self, row: _Row) -> None:
        self._drop(row)
        self.add.setFocus()
        self.changed.emit()

    def _drop(self, row: _Row) -> None:
        self._rows.remove(row)
        self._list.removeWidget(row)
        row.hide()
        row.deleteLater()


class _Row(QWidget):
    """One who signs."""

    left = Signal()

    def __init__(self, number: int, signer: Signer) -> None:
        super().__init__()
        grid = layouts.grid(on=self, across=theme.TIGHT, down=theme.TIGHT, stretches=(3, 1))
        self.fields = [
            fields.line(text, f"{what} of signatory {number}", prompt=f"{what}{example}")
            for (what, example), text in zip(
                _ASKED, (signer.name, signer.role, signer.date), strict=True
            )
        ]
        for field in self.fields:
            field.editingFinished.connect(self.left)
        self._wrong = parts.Words(tone="wrong")
        self.remove = parts.push_button("Remove", name=f"Remove signatory {number}")
        name, role, date = self.fields
        grid.addWidget(name, 0, 0, 1, 2)
        grid.addWidget(self.remove, 0, 2)
        grid.addWidget(role, 1, 0)
        grid.addWidget(date, 1, 1, 1, 2)
        grid.addWidget(self._wrong, 2, 0, 1, 3)
        date.editingFinished.connect(self._check)
        self._check()

    @property
    def signer(self) -> Signer:
        """What its fields tell."""
        name, role, date = (field.text().strip() for field in self.fields)
        return Signer(name, role, date)

    def _check(self) -> None:
        """Say what is wrong with the date; it is kept all the same, so that nothing is lost."""
        wrong = fault(FIELDS["audit_date"], self.signer.date)
        self._wrong.say(wrong)


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
            # a choice is made in one go, not typed
            return fields.choice(
                (_NO_CHOICE, *field.choices),
                letters=12,
                run=self.left.emit,
                changed=self.edited.emit,
            )
        line = fields.line(prompt=example)
        line.textChanged.connect(self.edited)
        line.returnPressed.connect(self.left)
        return line

    def _make_calendar(self) -> QToolButton:
        return parts.tool_button(
            "…", self._choose_date, name=f"Choose the date: {self.field.label}"
        )

    def _choose_date(self) -> None:
        """Show a calendar below the button."""
        button = self.order[-1]
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
