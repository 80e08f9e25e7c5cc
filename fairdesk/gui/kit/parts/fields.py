"""What is typed or chosen: labels, and choices that fit their place."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, Qt
from PySide6.QtWidgets import QAbstractSpinBox, QComboBox, QLayout, QVBoxLayout, QWidget

from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.hints.defining import Defined
from fairdesk.gui.kit.hints.helping import HelpButton, set_topic
from fairdesk.gui.kit.parts.words import quiet


class _NoWheel(QObject):
    """Lets the wheel scroll the page, not change a value that the pointer happens to be over."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        if (
            event.type() == QEvent.Type.Wheel
            and isinstance(watched, QWidget)
            and not watched.hasFocus()
        ):
            event.ignore()
            return True
        return False


def calm(*inputs: QComboBox | QAbstractSpinBox) -> None:
    """Keep the wheel from changing inputs that are not in use."""
    for each in inputs:
        each.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        each.installEventFilter(_NoWheel(each))


def labelled(text: str, field: QWidget, hint: str = "", *, topic: str = "") -> QVBoxLayout:
    """Put a label (with its mnemonic) above a field, a hint below, and name it for all readers.

    With a topic of the help there is a “?” beside the label.
    """
    label = Defined(text)
    # a field of several parts takes no keys by itself
    label.setBuddy(field.focusProxy() or field)
    name = text.replace("&", "")
    above: QWidget | QLayout = label
    if topic:
        set_topic(field, topic)
        above = layouts.row(label, HelpButton(name, topic), layouts.stretch(), spacing=theme.TIGHT)
    column = layouts.column(above, field, spacing=theme.TIGHT)
    field.setAccessibleName(name)
    if hint:
        column.addWidget(quiet(hint))
        field.setAccessibleDescription(hint)
    return column


def bounded(combo: QComboBox, letters: int = 12) -> QComboBox:
    """Keep long texts of a file from making a choice, and with it the window, too wide."""
    combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    combo.setMinimumContentsLength(letters)
    return combo


def offer(combo: QComboBox, entries: Iterable[tuple[str, object]]) -> None:
    """Offer texts with their data, without a signal; what was chosen stays if it is among them."""
    wanted = list(entries)
    if wanted == [(combo.itemText(i), combo.itemData(i)) for i in range(combo.count())]:
        return
    kept = combo.currentData()
    with QSignalBlocker(combo):
        combo.clear()
        for text, data in wanted:
            combo.addItem(text, data)
        if kept is not None:
            combo.setCurrentIndex(max(combo.findData(kept), 0))


def roomy(combo: QComboBox, letters: int) -> QComboBox:
    """Let a choice be as wide as its texts where there is room, and never less than so many."""
    combo.setMinimumWidth(bounded(combo, letters).minimumSizeHint().width())
    combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    return combo
