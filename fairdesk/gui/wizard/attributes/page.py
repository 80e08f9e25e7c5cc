"""Step 3: the people. What may differ between them, and what must not matter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain

import numpy as np
from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import (
    QPushButton,
    QWidget,
)

from fairdesk.app.plan import Choice
from fairdesk.data.domain.attributes import Role
from fairdesk.data.domain.domain import Domain
from fairdesk.data.domain.feasibility import check_admits
from fairdesk.data.domain.support import CompanionValues
from fairdesk.data.profiling.profile import suggest_protected
from fairdesk.data.table import Column, Table
from fairdesk.errors import SpecError
from fairdesk.gui.kit import hints, layouts, theme
from fairdesk.gui.kit.parts import Words, clear, push_button, quiet, scrolled, short
from fairdesk.gui.kit.threads import Latest
from fairdesk.gui.wizard.attributes.attribute_rows import AttributeDialog, AttributeRows
from fairdesk.gui.wizard.attributes.companions_table import CompanionsTable
from fairdesk.gui.wizard.attributes.constraints_editor import ConstraintsEditor
from fairdesk.gui.wizard.page import Desk, Page
from fairdesk.gui.wizard.state.plans import Examined, examine, rows_sentence
from fairdesk.gui.wizard.state.wizard_state import Step
from fairdesk.wording.attributes import follows_said
from fairdesk.wording.words import counted, listed, quoted

#: What the page is for, with a model and with its decisions alone.
_TESTED = (
    "Mark the protected attributes. FairDesk tests whether changing only these changes the "
    "decision."
)
_COMPARED = "Mark the protected attributes. They define the groups whose decisions are compared."
#: Attributes that follow others, named below the list.
_FOLLOWING = 3
#: The bars of the editor's chart.
_BARS = 40


class AttributesPage(Page):
    """The third page."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(
            desk,
            Step.ATTRIBUTES,
            "Attributes",
            _TESTED,
        )
        self._shown: tuple[Table | None, tuple[str, ...]] = (None, ())
        self.chips: dict[str, QPushButton] = {}
        self.rows = AttributeRows()
        self.rows.role_chosen.connect(self._choose_role)
        self.rows.every_value_chosen.connect(self._choose_values)
        self.rows.wanted.connect(self._edit)
        self._examiner = Latest(self)
        self._judge = Latest(self)
        self._questioned: Domain | None = None
        self._suggest = QWidget()
        self._suggestions = layouts.grid(on=self._suggest, across=theme.NEAR)
        self.constraints = ConstraintsEditor(desk)
        self.constraints.changed.connect(self._constrained)
        self.constraints.absent.proposed.connect(self._propose)
        self.companions = CompanionsTable()
        self.companions.decided.connect(self._decide_companions)
        self.tabs = layouts.tabs(
            (scrolled(self.rows), "&Attributes"),
            (self.constraints, ""),
            (scrolled(self.companions), "&Compared together"),
        )
        self._count = Words(strong=True)
        self._off = Words()
        self._start = quiet()
        self.proposed = quiet()
        self.proposed.hide()
        self._verdict = Words(tone="wrong")
        self._unused = quiet()
        self.body.addWidget(self._suggest)
        self.body.addWidget(self.tabs, 1)
        foot = layouts.column(
            self._count,
            self._start,
            self.proposed,
            self._off,
            self._verdict,
            self._unused,
            spacing=theme.TIGHT,
        )
        self.body.addLayout(foot)

    def enter(self) -> None:
        """Show the attributes."""
        super().enter()
        state = self.state
        self.sentence.setText(_COMPARED if state.predictions else _TESTED)
        now = (state.table, (*state.attribute_names(), "", *state.unseen_names()))
        if now[0] is not self._shown[0] or now[1] != self._shown[1]:
            self._shown = now
            self._build()
        self._show_all()
        self._look()

    def first_field(self) -> QWidget:
        """Return what has the keyboard when the page comes on screen."""
        return next(iter((*self.chips.values(), *self.rows.roles.values())), self.tabs)

    def inputs(self) -> Iterator[QWidget]:
        """Yield the suggestions, and the inputs of all rows from left to right."""
        yield from self.chips.values()
        yield from self.rows.inputs()

    # -- building -----------------------------------------------------------------------------

    def _build(self) -> None:
        table = self.state.table
        if table is None:
            self.rows.clear()
            return
        # the columns of an attribute that is in several follow it
        following = set(chain(*self.state.groups().values()))
        seen = [name for name in self.state.attribute_names() if name not in following]
        unseen = self.state.unseen_names()
        self.rows.show_columns(table, seen, unseen, self.desk.histograms)
        self._build_suggestions(table)
        shown = (*unseen, self.state.predictions)
        unused = tuple(name for name in self.state.unused_names() if name not in shown)
        self._unused.setVisible(bool(unused))
        pronoun = "it" if len(unused) == 1 else "them"
        why = f"the model does not use {pronoun}"
        if self.state.predictions:
            why = "free text does not define groups"
        self._unused.setText(f"Not listed, because {why}: {_some(unused)}.")

    def _build_suggestions(self, table: Table) -> None:
        clear(self._suggestions)
        names = [name for name in suggest_protected(table) if name in self.rows.roles]
        self._suggest.setVisible(bool(names))
        self._suggestions.addWidget(Words("Often protected:", tone="quiet", wrap=False), 0, 0)
        self.chips = {}
        groups = self.state.groups()
        for place, name in enumerate(names[:8]):
            tip = hints.plain(f"Press to mark “{name}” as protected")
            chip = push_button("", tip=tip, name=f"Protect {name}", checkable=True)
            chip.setProperty("columns", len(groups.get(name, ())))
            chip.toggled.connect(partial(self._press, name))
            self.chips[name] = chip
            self._suggestions.addWidget(chip, place // 4, 1 + place % 4)
        self._suggestions.setColumnStretch(5, 1)

    # -- answering ----------------------------------------------------------------------------

    def _press(self, name: str, pressed: bool) -> None:  # noqa: FBT001 - the signal's argument
        self._choose_role(name, Role.PROTECTED if pressed else Role.VARIES)

    def _choose_role(self, name: str, role: Role) -> None:
        self._choose(name, replace(self.state.choice(name), role=role))

    def _choose_values(self, name: str, every: bool) -> None:  # noqa: FBT001 - the signal's argument
        self._choose(name, replace(self.state.choice(name), every_value=every))

    def _edit(self, column: Column) -> None:
        state, table = self.state, self.state.table
        if table is None:
            return
        follows = state.determined_by().get(column.name, "")
        seen = state.attribute_names()
        others = [name for name in seen if name in self.rows.roles and name != column.name]
        others = others if column.name in seen else []
        counts = _counts(table, column) if column.kind.is_number else []
        choice = state.choice(column.name)
        takes = state.takes_missing(column.name)
        dialog = AttributeDialog(column, choice, counts, others, follows, self, takes_missing=takes)
        if dialog.exec():
            state.determine(column.name, dialog.follows.currentData())
            self._choose(column.name, dialog.choice())
        dialog.deleteLater()

    def _choose(self, name: str, choice: Choice) -> None:
        self.state.choose(name, choice)
        self._show(name, self.state.determined_by())
        self._look()
        self.changed.emit()

    def _propose(self, count: int) -> None:
        """Tell that there are constraints to choose from."""
        occur = "occurs" if count == 1 else "occur"
        self.proposed.setText(
            f"{counted(count, 'combination')} of values never {occur} in the data. You can exclude "
            "such combinations under Constraints; you need not."
        )
        self.proposed.setVisible(bool(count))

    def _constrained(self) -> None:
        self._show_all()
        self._look()
        self.changed.emit()

    # -- looking through the rows ---------------------------------------------------------------

    def _look(self) -> None:
        """Show who can be asked about; a large table is looked through in the background."""
        state, table = self.state, self.state.table
        self.constraints.show_constraints()
        said = len(state.constraints)
        self.tabs.setTabText(1, f"&Constraints ({said})" if said else "&Constraints")
        self._verdict.hide()
        self._off.hide()
        self._count.setText(self._compared())
        self._start.setText("")
        if table is None:
            return
        try:
            choices, examined = state.people_choices(), state.examined()
        except SpecError:
            return
        if examined is None:
            self._start.setText("Counting the rows eligible for testing…")
            queried = not state.predictions
            self._examiner.ask(
                lambda: examine(table, choices, queried=queried),
                self._examined,
                self.banner.tell,
            )
        else:
            self._tell(examined)

    def _compared(self) -> str:
        """Say in a line what is compared with what."""
        state = self.state
        protected = state.protected_names(state.attribute_names())
        unseen = state.protected_names(state.unseen_names())
        texts = state.text_names() if state.table is not None else ()
        said = []
        if protected and state.predictions:
            said.append(f"Groups are defined by {listed(protected)}.")
        elif protected:
            total = state.combinations()
            count = counted(total, "combination" if len(protected) > 1 else "value")
            said.append(f"{listed(protected)}: {count}, compared where the data support it.")
        if unseen:
            tell = "defines" if len(unseen) == 1 else "define"
            said.append(f"{listed(unseen)} {tell} groups only.")
        if not said and texts:
            which = f"“{texts[0]}”" if len(texts) == 1 else "the texts"
            said.append(
                f"No attribute is protected, so only identity terms in {which} can be compared: "
                "sentences with different terms."
            )
        return " ".join(said) or "No attribute is protected yet."

    def _examined(self, examined: Examined) -> None:
        self.state.set_examined(examined)
        self._look()
        self.changed.emit()

    def _tell(self, examined: Examined) -> None:
        domain, table = examined.domain, examined.table
        choice = self.state.companion_decisions()
        decided = choice if isinstance(choice, dict) else {}
        self.companions.show_found(examined.found, decided, examined.choices.attributes)
        self._title_companions()
        if domain is None:
            return
        if not self.state.predictions:
            said = (rows_sentence(examined, self.state.person), *follows_said(domain)[:_FOLLOWING])
            self._start.setText("\n".join(said))
        if domain.obstacle and domain.grouping:
            self._off.setText(
                "Searches for discriminatory pairs and certification are not available: "
                f"{domain.obstacle}. Groups can still be compared."
            )
            self._off.show()
        elif refused := self.state.refused(domain):
            self._verdict.setText(refused)
            self._verdict.show()
        elif (
            domain.every_combination.has_constraints
            and not domain.obstacle
            and domain != self._questioned
        ):
            self._questioned = domain
            self._judge.ask(
                lambda: _judged(domain, table),
                lambda error: self._judged(domain, error),
                self.banner.tell,
            )

    def _title_companions(self) -> None:
        count, undecided = self.companions.count, self.companions.undecided
        of_these = f"{count}, {undecided} to decide" if undecided else f"{count}"
        title = "&Compared together"
        self.tabs.setTabText(2, f"{title} ({of_these})" if count else title)
        self.tabs.setTabVisible(2, not self.state.predictions)

    def _decide_companions(self, decided: dict[str, CompanionValues]) -> None:
        self.state.decide_companions(decided)
        self._look()
        self.changed.emit()

    def _judged(self, domain: Domain, error: SpecError | None) -> None:
        if error is not None:
            self.state.refuse(domain, error)
            self._look()
            self.changed.emit()

    # -- showing ------------------------------------------------------------------------------

    def _show_all(self) -> None:
        follows = self.state.determined_by()
        for name in self.rows.names:
            self._show(name, follows)

    def _show(self, name: str, follows: Mapping[str, str]) -> None:
        """Show what is decided about one attribute, given which follow which."""
        self.rows.show_choice(name, self.state, follows.get(name, ""))
        if (chip := self.chips.get(name)) is not None:
            self._show_chip(chip, name)

    def _show_chip(self, chip: QPushButton, name: str) -> None:
        protected = self.state.choice(name).role is Role.PROTECTED
        blocked = QSignalBlocker(chip)
        chip.setChecked(protected)
        del blocked
        columns = chip.property("columns")
        text = f"{short(name)} ({columns} columns)" if columns else short(name)
        chip.setText(f"{'✓' if protected else '+'}  {text.replace('&', '&&')}")


def _judged(domain: Domain, table: Table) -> SpecError | None:
    """Say why nobody fulfils what a domain asks for, if so. Runs in the background."""
    try:
        check_admits(domain.every_combination, domain.people(table))
    except SpecError as error:
        return error
    return None


def _counts(table: Table, column: Column) -> list[int]:
    """Count the rows in equal parts of a number's range."""
    codes = table.codes[:, table.index(column.name)]
    counts, _ = np.histogram(codes[~np.isnan(codes)], _BARS, (column.low, column.high))
    return [int(count) for count in counts]


def _some(names: tuple[str, ...], most: int = 12) -> str:
    """List names, or the first of many."""
    if len(names) <= most:
        return listed(names)
    return f"{', '.join(map(quoted, names[:most]))} and {len(names) - most:,} others"
