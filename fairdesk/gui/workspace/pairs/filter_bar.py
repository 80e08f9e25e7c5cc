"""Which pairs are shown: near to real people, by a value, by mark; each filter a chip."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QLabel, QToolButton, QWidget

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import PairQuery
from fairdesk.data.domain.attributes import Attribute
from fairdesk.gui.kit import fields, layouts, parts, theme
from fairdesk.wording import words

_MARKS = (
    ("Any status", None),
    ("⚑ Flagged", "flagged"),
    ("✕ Dismissed", "dismissed"),
    ("No status", ""),
)
#: Of the values of an attribute: no filter.
_ANY = "Any value"


def filter_text(attribute: Attribute, wanted: str | tuple[float, float]) -> str:
    """Write a filter as its chip says it."""
    if isinstance(wanted, str):
        return f"{attribute.name} is {wanted}"
    low, high = (attribute.text(end) for end in wanted)
    return f"{attribute.name} is {low}" if low == high else f"{attribute.name} {low} to {high}"


class FilterBar(QWidget):
    """Says which pairs are wanted.

    Attributes
    ----------
    wanted : PairQuery
        The filters; run and order are those of another query.

    Signals
    -------
    changed
        Another choice.
    """

    changed = Signal()

    def __init__(self, spec: AuditSpec) -> None:
        super().__init__()
        self._attributes = {each.name: each for each in spec.domain.attributes}
        self.wanted = PairQuery()
        self._name = fields.choice(
            self._attributes, "What to filter by", letters=10, changed=self._offer
        )
        self._name.insertSeparator(self._name.count())
        self._name.addItem("Distance to the nearest data row")
        tell = self._tell_add
        self._value = fields.choice((), "Value to filter by", letters=10, changed=tell)
        self._low = fields.decimal(0, 1, 0, "Lowest value to show", tell)
        self._high = fields.decimal(0, 1, 1, "Highest value to show", tell)
        self._span = layouts.strip(self._low, QLabel("to"), self._high, spacing=theme.TIGHT)
        self._most = fields.decimal(0, 1, 1, "Maximum Gower distance to the nearest data row", tell)
        self._most.setToolTip(
            "0: identical in every attribute compared; 1: the largest possible distance"
        )
        self._most.setPrefix("at most ")
        self._adds = parts.push_button("&Add filter", self._add)
        self._mark = fields.choice(
            _MARKS,
            "Show pairs with this review status",
            letters=10,
            changed=lambda: self.filter_by(mark=self._mark.currentData()),
        )

        self.tail = layouts.row()
        top = layouts.row(
            fields.label_of("F&ilter", self._name),
            self._name,
            self._value,
            self._span,
            self._most,
            self._adds,
            self._mark,
            layouts.stretch(),
            self.tail,
            spacing=theme.NEAR,
        )
        self._chips = layouts.row(spacing=theme.TIGHT)
        layouts.column(top, self._chips, on=self, spacing=theme.TIGHT)
        self._offer()

    def query(self, base: PairQuery) -> PairQuery:
        """Return a query with these filters and the rest of another."""
        return msgspec.structs.replace(
            self.wanted,
            **{name: getattr(base, name) for name in ("run", "order", "descending", "upto")},
        )

    @property
    def active(self) -> bool:
        """Whether anything is filtered out."""
        return self.wanted != PairQuery()

    @property
    def chosen(self) -> bool:
        """Whether pairs of certain numbers are shown only."""
        return self.wanted.among is not None

    def filter_by(self, **filters: object) -> None:
        """Filter by more, by the names of fields of `PairQuery`, or with ``None`` by less."""
        self._put(msgspec.structs.replace(self.wanted, **filters))
        self.changed.emit()

    def forget_chosen(self) -> None:
        """Let the numbers of certain pairs be, for another run has others; nothing is told."""
        self._put(msgspec.structs.replace(self.wanted, among=None))

    def clear(self) -> None:
        """Show all pairs."""
        with QSignalBlocker(self._mark):
            self._mark.setCurrentIndex(0)
        self._put(PairQuery())
        self.changed.emit()

    def take_focus(self) -> None:
        """Put the keyboard here."""
        self._name.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _offer(self) -> None:
        """Offer the values of an attribute, or a distance."""
        attribute = self._attributes.get(self._name.currentData())
        self._most.setVisible(attribute is None)
        self._value.setVisible(attribute is not None and bool(attribute.values))
        self._span.setVisible(attribute is not None and not attribute.values)
        if attribute is not None and attribute.values:
            self._value.clear()
            self._value.addItems([_ANY, *attribute.values])
        elif attribute is not None:
            for box in (self._low, self._high):
                box.setDecimals(0 if attribute.integral else 3)
                box.setRange(attribute.low, attribute.high)
                box.setSingleStep(attribute.unit)
            self._low.setValue(attribute.low)
            self._high.setValue(attribute.high)
        self._tell_add()

    @property
    def _narrows(self) -> bool:
        """Whether the fields say less than everything, which is what is shown without a filter."""
        attribute = self._attributes.get(self._name.currentData())
        if attribute is None:
            return self._most.value() < self._most.maximum()
        if attribute.values:
            return self._value.currentIndex() > 0
        ends = self._low.value(), self._high.value()
        return ends != (self._low.minimum(), self._high.maximum())

    def _tell_add(self) -> None:
        """Offer to filter once the fields say what by."""
        self._adds.setEnabled(self._narrows)
        self._adds.setToolTip(
            "Show only pairs whose first instance matches this filter"
            if self._narrows
            else "Choose a value, or a smaller range, first: the fields show all pairs"
        )

    def _add(self) -> None:
        if not self._narrows:
            return
        attribute, where = self._attributes.get(self._name.currentData()), self.wanted.where
        if attribute is None:
            self.filter_by(within=self._most.value())
        elif attribute.values:
            self.filter_by(where={**where, attribute.name: self._value.currentText()})
        else:
            low, high = sorted((self._low.value(), self._high.value()))
            self.filter_by(where={**where, attribute.name: (low, high)})

    def _put(self, wanted: PairQuery) -> None:
        """Take other filters, and show a chip for each."""
        self.wanted = wanted
        chips = [
            self._chip(
                filter_text(self._attributes[name], value),
                where={other: each for other, each in wanted.where.items() if other != name},
            )
            for name, value in wanted.where.items()
        ]
        if wanted.within is not None:
            text = f"distance to the nearest data row at most {wanted.within:.2f}"
            chips.append(self._chip(text, within=None))
        if wanted.alone is not None:
            text = f"changing {wanted.alone} alone changes the decision"
            chips.append(self._chip(text, alone=None))
        if (numbers := wanted.among) is not None:
            one = f"pair {words.number(numbers[0])}" if len(numbers) == 1 else ""
            chips.append(self._chip(one or f"{len(numbers)} diverse pairs", among=None))
        parts.clear(self._chips)
        for chip in chips:
            self._chips.addWidget(chip)
        if chips:
            self._chips.addStretch(1)
        parts.in_order(self._mark, *chips)

    def _chip(self, text: str, **without: object) -> QToolButton:
        """Make the button that takes a filter away."""

        def take_away() -> None:
            self.filter_by(**without)
            self.take_focus()

        return parts.tool_button(
            f"{text}  ✕", take_away, tip="Remove this filter", name=f"Remove the filter: {text}"
        )
