"""Which column tells sex and which race or ethnicity, and under which category a value counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

import msgspec
from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QWidget

from fairdesk.audit.store.records import Categories
from fairdesk.audit.store.store import Store
from fairdesk.gui.kit import fields, hints, layouts, parts, theme
from fairdesk.gui.kit.tables import RIGHT
from fairdesk.report.content.published import RACES, SEXES, propose_categories
from fairdesk.wording import words

Of = Literal["sex", "race"]
_PUBLISHED: Final[dict[Of, tuple[str, ...]]] = {"sex": SEXES, "race": RACES}
UNKNOWN = "Unknown"
_ASKED: Final[dict[Of, str]] = {"sex": "Column with se&x", "race": "Column with ra&ce"}
_NONE = "No column"
#: A column with more values than that tells no category.
_MOST = 60


@dataclass(frozen=True)
class Offer:
    """What could tell a category.

    Attributes
    ----------
    columns : dict of str to dict of str to int
        Per column that tells groups apart how often each value is in the data.
    proposed : Categories
        What names of columns and values look like.
    """

    columns: Mapping[str, Mapping[str, int]]
    proposed: Categories


def offer_of(store: Store) -> Offer:
    """Look into an audit for what could tell a category: columns whose values have names."""
    table = store.table()
    named = [one.name for one in store.spec.domain.grouping if 1 < len(one.values) <= _MOST]
    counts = {name: table.counts(name) for name in named if name in table.names}
    return Offer(counts, propose_categories(store.spec))


class CategoriesEditor(QWidget):
    """Asks for published categories.

    Signals
    -------
    changed
        `categories` are others.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._offer = Offer({}, Categories())
        self.categories = Categories()
        self.choices: dict[Of, QComboBox] = {}
        self.inputs: dict[Of, dict[str, QComboBox]] = {"sex": {}, "race": {}}
        self._tables: dict[Of, QGridLayout] = {}
        column = layouts.column(on=self, spacing=theme.NEAR)
        for of, text in _ASKED.items():
            combo = self.choices[of] = fields.choice(letters=12, run=partial(self._choose, of))
            column.addLayout(fields.labelled(text, combo))
            self._tables[of] = layouts.grid(
                margin=(theme.GAP, 0, 0, theme.NEAR),
                across=theme.TIGHT,
                down=theme.TIGHT,
                stretches=(2, 0, 3),
            )
            column.addLayout(self._tables[of])
        self.propose = parts.push_button(
            "Propose categor&ies",
            self._propose,
            tip="From the names of the columns and of their values.",
        )
        self.propose.hide()
        self._used = parts.quiet()
        column.addWidget(self._used)
        row = layouts.row(self.propose, layouts.stretch())
        column.addLayout(row)

    def show_offer(self, offer: Offer) -> None:
        """Offer columns, and what is proposed for them."""
        self._offer = offer
        for of, combo in self.choices.items():
            fields.offer(combo, (_NONE, *offer.columns))
            self._show(of)
        self._tell_proposal()

    def show_categories(self, categories: Categories) -> None:
        """Show which categories are kept."""
        if categories == self.categories:
            return
        self.categories = categories
        for of in self.choices:
            self._show(of)
        self._tell_proposal()

    def _tell_proposal(self) -> None:
        proposed = self._offer.proposed
        self.propose.setVisible(proposed not in (Categories(), self.categories))
        named = (("sex", proposed.sex), ("race or ethnicity", proposed.race))
        parts = [f"{what} is “{name}”" for what, name in named if name]
        used = bool(parts) and not (self.categories.sex or self.categories.race)
        self._used.setText(
            f"Until you choose columns here, the report goes by the names: {words.joined(parts)}."
            if used
            else ""
        )
        self._used.setVisible(used)

    def _propose(self) -> None:
        self._put(self._offer.proposed)
        self.choices["sex"].setFocus()

    def _show(self, of: Of) -> None:
        name = getattr(self.categories, of)
        combo = self.choices[of]
        with QSignalBlocker(combo):
            combo.setCurrentIndex(max(combo.findText(name, Qt.MatchFlag.MatchExactly), 0))
        if list(self.inputs[of]) != list(self._counts(name)):
            self._ask_values(of, name)
        said = self.categories.names.get(name, {})
        for value, field in self.inputs[of].items():
            text = _shown(value, said)
            with QSignalBlocker(field):
                field.setEditText(text)
            field.setToolTip(hints.plain(text))
            if (line := field.lineEdit()) is not None:
                line.setCursorPosition(0)

    def _counts(self, name: str) -> Mapping[str, int]:
        return self._offer.columns.get(name, {})

    def _ask_values(self, of: Of, name: str) -> None:
        """Ask for the category of each value."""
        grid = self._tables[of]
        parts.clear(grid)
        self.inputs[of] = {}
        order: list[QWidget] = [self.choices[of]]
        for row, (value, count) in enumerate(self._counts(name).items()):
            field = fields.choice(
                (*_PUBLISHED[of], UNKNOWN),
                f"Published category of “{value}”, {words.counted(count, 'row')}",
                letters=8,
                run=partial(self._take, of),
            )
            field.setEditable(True)
            field.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
            if (line := field.lineEdit()) is not None:
                line.editingFinished.connect(partial(self._take, of))
            number = parts.quiet(words.number(count))
            number.setAlignment(RIGHT)
            number.setWordWrap(False)
            grid.addWidget(parts.Elided(value), row, 0)
            grid.addWidget(number, row, 1)
            grid.addWidget(field, row, 2)
            self.inputs[of][value] = field
            order.append(field)
        parts.in_order(*order)

    def _choose(self, of: Of) -> None:
        combo = self.choices[of]
        name = combo.currentText() if combo.currentIndex() > 0 else ""
        self._put(msgspec.structs.replace(self.categories, **{of: name}))

    def _take(self, of: Of) -> None:
        """Take what stands beside the values."""
        name = getattr(self.categories, of)
        said = {value: field.currentText().strip() for value, field in self.inputs[of].items()}
        # a value that is left out is its own category, an empty category is “unknown”
        named = {
            value: "" if text == UNKNOWN else text
            for value, text in said.items()
            if text not in ("", value)
        }
        names = {each: kept for each, kept in self.categories.names.items() if each != name}
        if named:
            names[name] = named
        self._put(msgspec.structs.replace(self.categories, names=names))

    def _put(self, categories: Categories) -> None:
        if categories != self.categories:
            self.show_categories(categories)
            self.changed.emit()


def _shown(value: str, said: Mapping[str, str]) -> str:
    if value not in said:
        return value
    return said[value] or UNKNOWN
