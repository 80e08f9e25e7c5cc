"""Which pairs are shown: near to real people, by a value, by mark; each filter a chip."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

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
Where = dict[str, str | tuple[float, float]]


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
    alone : str, optional
        Only pairs are wanted whose decision changes with this attribute alone.

    Signals
    -------
    changed
        Another choice.
    """

    changed = Signal()

    def __init__(self, spec: AuditSpec) -> None:
        super().__init__()
        self._person = spec.person
        self._attributes = {each.name: each for each in spec.domain.attributes}
        self._where: Where = {}
        self._within: float | None = None
        self._among: tuple[int, ...] | None = None
        self.alone: str | None = None
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
            changed=self.changed.emit,
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
            base,
            where=dict(self._where),
            within=self._within,
            among=self._among,
            alone=self.alone,
            mark=self._mark.currentData(),
        )

    @property
    def active(self) -> bool:
        """Whether anything is filtered out."""
        return bool(self._chips.count() or self._mark.currentIndex() > 0)

    @property
    def chosen(self) -> bool:
        """Whether pairs of certain numbers are shown only."""
        return self._among is not None

    def show_chosen(self, pair_ids: Sequence[int]) -> None:
        """Show pairs of these numbers only; they fit the other filters."""
        self._among = tuple(pair_ids)
        self._tell()

    def show_alone(self, name: str | None) -> None:
        """Show pairs only whose decision changes with this attribute alone; of any without one."""
        self.alone = name
        self._tell()

    def show_only(self, alone: str | None, within: float | None) -> None:
        """Show pairs of an attribute alone, and so near the data; other filters go."""
        self.alone, self._within = alone, within
        self._where.clear()
        self._tell()

    def show_all(self) -> None:
        """Show all again that fit the other filters."""
        self._among = None
        self._tell()

    def forget_chosen(self) -> None:
        """Let the numbers of certain pairs be, for another run has others; nothing is told."""
        self._among = None
        self._show_chips()

    def clear(self) -> None:
        """Show all pairs."""
        self._where.clear()
        self._within = self._among = self.alone = None
        with QSignalBlocker(self._mark):
            self._mark.setCurrentIndex(0)
        self._tell()

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
        attribute = self._attributes.get(self._name.currentData())
        if attribute is None:
            self._within = self._most.value()
        elif attribute.values:
            self._where[attribute.name] = self._value.currentText()
        else:
            ends = sorted((self._low.value(), self._high.value()))
            self._where[attribute.name] = (ends[0], ends[1])
        self._tell()

    def _tell(self) -> None:
        self._show_chips()
        self.changed.emit()

    def _show_chips(self) -> None:
        parts.clear(self._chips)
        chips = [
            self._chip(filter_text(self._attributes[name], wanted), partial(self._where.pop, name))
            for name, wanted in self._where.items()
        ]
        if self._within is not None:
            text = f"distance to the nearest data row at most {self._within:.2f}"
            chips.append(self._chip(text, lambda: setattr(self, "_within", None)))
        if self.alone is not None:
            text = f"changing {self.alone} alone changes the decision"
            chips.append(self._chip(text, lambda: setattr(self, "alone", None)))
        if self._among is not None:
            numbers = self._among
            text = (
                f"pair {words.number(numbers[0])}"
                if len(numbers) == 1
                else f"{len(numbers)} diverse pairs"
            )
            chips.append(self._chip(text, lambda: setattr(self, "_among", None)))
        for chip in chips:
            self._chips.addWidget(chip)
        if chips:
            self._chips.addStretch(1)
        parts.in_order(self._mark, *chips)

    def _chip(self, text: str, drop: Callable[[], object]) -> QToolButton:
        """Make the button that takes a filter away."""

        def take_away() -> None:
            drop()
            self._tell()
            self.take_focus()

        return parts.tool_button(
            f"{text}  ✕", take_away, tip="Remove this filter", name=f"Remove the filter: {text}"
        )
