"""Which pairs are shown: by the value of an attribute, by mark; each filter a chip to take away."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from fairdesk.audit.spec import AuditSpec
from fairdesk.audit.store import PairQuery
from fairdesk.data.domain import Attribute
from fairdesk.gui import parts, theme

_MARKS = (
    ("Any mark", None),
    ("⚑ Flagged", "flagged"),
    ("✕ Dismissed", "dismissed"),
    ("Not marked", ""),
)
Where = dict[str, str | tuple[float, float]]


def filter_text(attribute: Attribute, wanted: str | tuple[float, float]) -> str:
    """Write a filter as its chip says it."""
    if isinstance(wanted, str):
        return f"{attribute.name} is {wanted}"
    low, high = (attribute.text(end) for end in wanted)
    return f"{attribute.name} is {low}" if low == high else f"{attribute.name} {low} to {high}"


class FilterBar(QWidget):
    """Says which pairs are wanted.

    Signals
    -------
    changed
        Another choice.
    """

    changed = Signal()

    def __init__(self, spec: AuditSpec, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._attributes = {each.name: each for each in spec.domain.attributes}
        self._where: Where = {}
        self._name = QComboBox()
        self._name.addItems(list(self._attributes))
        self._name.setAccessibleName("Attribute to filter by")
        label = QLabel("F&ilter")
        label.setBuddy(self._name)
        self._value = QComboBox()
        self._value.setAccessibleName("Value to filter by")
        self._low, self._high = QDoubleSpinBox(), QDoubleSpinBox()
        self._low.setAccessibleName("Lowest value to show")
        self._high.setAccessibleName("Highest value to show")
        span = QWidget()
        row = QHBoxLayout(span)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.TIGHT)
        row.addWidget(self._low)
        row.addWidget(QLabel("to"))
        row.addWidget(self._high)
        self._span = span
        add = QPushButton("&Add filter")
        add.setToolTip("Show only pairs whose first person has this value")
        add.clicked.connect(self._add)
        self._mark = QComboBox()
        self._mark.setAccessibleName("Show pairs with this mark")
        for text, _mark in _MARKS:
            self._mark.addItem(text)
        self._mark.currentIndexChanged.connect(self.changed)
        self._name.currentTextChanged.connect(self._offer)
        for box, letters in ((self._name, 10), (self._value, 12), (self._mark, 9)):
            parts.bounded(box, letters)
        parts.calm(self._name, self._value, self._mark, self._low, self._high)

        top = QHBoxLayout()
        top.setSpacing(theme.NEAR)
        for widget in (label, self._name, self._value, self._span, add, self._mark):
            top.addWidget(widget)
        top.addStretch(1)
        self.tail = QHBoxLayout()
        top.addLayout(self.tail)
        self._chips = QHBoxLayout()
        self._chips.setSpacing(theme.TIGHT)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.TIGHT)
        column.addLayout(top)
        column.addLayout(self._chips)
        self._offer(self._name.currentText())

    def query(self, base: PairQuery) -> PairQuery:
        """Give a query with these filters and the rest of another."""
        return msgspec.structs.replace(
            base, where=dict(self._where), mark=_MARKS[self._mark.currentIndex()][1]
        )

    @property
    def active(self) -> bool:
        """Whether anything is filtered out."""
        return bool(self._where) or self._mark.currentIndex() > 0

    def clear(self) -> None:
        """Show all pairs."""
        self._where.clear()
        with QSignalBlocker(self._mark):
            self._mark.setCurrentIndex(0)
        self._show_chips()
        self.changed.emit()

    def take_focus(self) -> None:
        """Put the keyboard here."""
        self._name.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _offer(self, name: str) -> None:
        """Offer the values of an attribute."""
        attribute = self._attributes[name]
        self._value.setVisible(bool(attribute.values))
        self._span.setVisible(not attribute.values)
        if attribute.values:
            self._value.clear()
            self._value.addItems(list(attribute.values))
            return
        for box in (self._low, self._high):
            box.setDecimals(0 if attribute.integral else 3)
            box.setRange(attribute.low, attribute.high)
            box.setSingleStep(attribute.unit)
        self._low.setValue(attribute.low)
        self._high.setValue(attribute.high)

    def _add(self) -> None:
        name = self._name.currentText()
        if self._attributes[name].values:
            self._where[name] = self._value.currentText()
        else:
            ends = sorted((self._low.value(), self._high.value()))
            self._where[name] = (ends[0], ends[1])
        self._show_chips()
        self.changed.emit()

    def _drop(self, name: str) -> None:
        self._where.pop(name, None)
        self._show_chips()
        self.changed.emit()
        self.take_focus()

    def _show_chips(self) -> None:
        parts.clear(self._chips)
        chips = []
        for name, wanted in self._where.items():
            text = filter_text(self._attributes[name], wanted)
            chip = QToolButton()
            chip.setText(f"{text}  ✕")
            chip.setToolTip("Take this filter away")
            chip.setAccessibleName(f"Take away the filter: {text}")
            chip.clicked.connect(lambda _checked=False, each=name: self._drop(each))
            self._chips.addWidget(chip)
            chips.append(chip)
        if chips:
            self._chips.addStretch(1)
        parts.in_order(self._mark, *chips)
