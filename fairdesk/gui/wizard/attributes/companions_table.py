"""Attributes that change with a protected one: found in the data, confirmed by the auditor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QVBoxLayout, QWidget

from fairdesk.data.domain.attributes import Attribute
from fairdesk.data.domain.dependencies import Companion
from fairdesk.data.domain.support import CompanionValues, Support, written
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.fields import choice, labelled
from fairdesk.gui.kit.parts import Words, clear, heading, quiet
from fairdesk.wording.words import counted, percent

_TOGETHER, _ALONE, _OPEN = "together", "alone", "open"
_WHY = (
    "These attributes say the same as a protected one: some of their values occur (nearly) only "
    "with one of its values. Where they change together, a husband is compared with a wife, and "
    "not with a female husband. Rows for which neither is possible are counted apart."
)
_NOTHING = "No attribute says the same as a protected one."
#: What stands where a value becomes none.
_NONE = "nothing (not compared)"


class CompanionsTable(QWidget):
    """Shows each companion with its values, and lets the auditor confirm, change or refuse it.

    Signals
    -------
    decided : dict of str to CompanionValues
        What the auditor decided, by the companion's name; without values it is refused.
    """

    decided = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[Support, Mapping[str, CompanionValues]] | None = None
        self._attributes: dict[str, Attribute] = {}
        self._decisions: dict[str, CompanionValues] = {}
        self.choices: dict[str, QComboBox] = {}
        self.values: dict[tuple[str, str, str], QComboBox] = {}
        self._note = quiet(_NOTHING)
        self._cards = layouts.column(spacing=theme.WIDE)
        layouts.column(
            self._note,
            self._cards,
            layouts.stretch(),
            on=self,
            margin=(0, theme.GAP, theme.GAP, 0),
            spacing=theme.GAP,
        )

    def show_found(
        self,
        found: Support,
        decisions: Mapping[str, CompanionValues],
        attributes: Sequence[Attribute],
    ) -> None:
        """Show what was found, and what is decided of it."""
        if self._shown == (found, decisions):
            return
        self._shown = found, dict(decisions)
        self._attributes = {each.name: each for each in attributes}
        self._decisions = dict(decisions)
        clear(self._cards)
        self.choices, self.values = {}, {}
        companions = (*found.companions, *found.proposed)
        self._note.setText(_WHY if companions else _NOTHING)
        for each in companions:
            self._cards.addLayout(self._card(each, certain=each in found.companions))

    @property
    def count(self) -> int:
        """How many companions are shown."""
        return len(self.choices)

    @property
    def undecided(self) -> int:
        """How many of them wait for a decision."""
        return sum(each.currentData() == _OPEN for each in self.choices.values())

    def _card(self, found: Companion, *, certain: bool) -> QVBoxLayout:
        name = found.attribute
        decision = self._decisions.get(name)
        entries = [
            (f"changes with {found.by}", _TOGETHER),
            (f"stays as it is when {found.by} changes", _ALONE),
            *([] if certain else [("not decided yet", _OPEN)]),
        ]
        state = _TOGETHER if certain else _OPEN
        if decision is not None:
            state = _TOGETHER if decision.values else _ALONE
        field = choice(entries, chosen=state, run=partial(self._choose, found))
        self.choices[name] = field
        seen = f"Contradicted by {counted(found.contradicting, 'row')} of the data."
        shown = decision if decision is not None and decision.values else None
        values = self._values(found, shown or written(found, list(self._attributes.values())))
        return layouts.column(
            heading(name),
            labelled(f"When {found.by} is changed, “{name}”", field),
            *([quiet(seen)] if found.contradicting else []),
            values,
            spacing=theme.NEAR,
        )

    def _values(self, found: Companion, shown: CompanionValues) -> QWidget:
        """Make the table of values: before, the new protected value, after, and the fit."""
        inside = QWidget()
        own, by = self._attributes[found.attribute], self._attributes[found.by]
        heads = (f"{own.name} is", f"with {by.name}", "becomes", "Fit")
        rows: list[list[QWidget]] = [[Words(each, tone="quiet", wrap=False) for each in heads]]
        candidates = sorted({move.becomes for move in found.moves})
        for move in found.moves:
            before, to = own.text(move.code), by.text(move.to)
            field = self.values[found.attribute, to, before] = choice(
                [*(own.text(code) for code in candidates if code != move.code), (_NONE, "")],
                f"What {own.name} {before} becomes with {by.name} {to}",
                chosen=shown.values.get(to, {}).get(before, ""),
                run=partial(self._change, found),
            )
            fit = percent(move.fit, 1, 0) + ("" if move.clear else ", others fit nearly as well")
            rows.append([Words(before), Words(to), field, Words(fit)])
        layouts.grid(*rows, on=inside, across=theme.WIDE, stretches=(0, 0, 0, 0, 1))
        return inside

    def _choose(self, found: Companion) -> None:
        match self.choices[found.attribute].currentData():
            case "together":
                self._change(found)
                return
            case "alone":
                self._decisions[found.attribute] = CompanionValues(found.by, {})
            case _:
                self._decisions.pop(found.attribute, None)
        self.decided.emit(dict(self._decisions))

    def _change(self, found: Companion) -> None:
        values: dict[str, dict[str, str]] = {}
        for (name, to, before), field in self.values.items():
            if name == found.attribute and field.currentData():
                values.setdefault(to, {})[before] = str(field.currentData())
        self._decisions[found.attribute] = CompanionValues(found.by, values)
        self.decided.emit(dict(self._decisions))
