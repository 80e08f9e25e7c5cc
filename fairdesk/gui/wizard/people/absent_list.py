"""Combinations that never occur in the data: each can be excluded by a constraint, in one click."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from fairdesk.data.domain.absent import AbsentCombination, absent_combinations
from fairdesk.data.domain.attributes import Attribute
from fairdesk.data.table import Table
from fairdesk.errors import FairDeskError
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.parts import Elided, Words, clear, heading, push_button, quiet
from fairdesk.gui.kit.threads.background import Latest
from fairdesk.wording.inspected import ABSENT, absent_counts
from fairdesk.wording.words import counted, number

#: So many are listed; those that follow come up as these are excluded.
MOST_SHOWN = 20


class AbsentList(QWidget):
    """Proposes constraints. They are looked for in the background; without any it is not seen.

    Signals
    -------
    chosen : tuple of str
        The constraints that the auditor takes.
    proposed : int
        How many there are to choose from.
    """

    chosen = Signal(object)
    proposed = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._finder = Latest(self)
        self._table: Table | None = None
        self._asked: tuple[tuple[Attribute, ...], tuple[str, ...]] = ((), ())
        self.found: tuple[AbsentCombination, ...] = ()
        self.excludes: dict[str, QPushButton] = {}
        self._heading = heading("")
        self.all = push_button("E&xclude all", self._exclude_all, auto_default=False)
        self._rows = layouts.column(spacing=theme.NEAR)
        self._rest = quiet()
        layouts.column(
            layouts.row(layouts.grow(self._heading), self.all, spacing=theme.NEAR),
            quiet(f"{ABSENT} As constraints, they are excluded from testing."),
            self._rows,
            self._rest,
            on=self,
            spacing=theme.NEAR,
        )
        self.hide()

    def look(
        self, table: Table, attributes: tuple[Attribute, ...], constraints: tuple[str, ...]
    ) -> None:
        """Look for what these constraints do not exclude yet."""
        same = table is self._table and attributes == self._asked[0]
        if same and constraints == self._asked[1]:
            return
        self._table, self._asked = table, (attributes, constraints)
        # what was taken goes at once; what else it excludes, when that is known
        left = (each for each in self.found if same and each.constraint not in constraints)
        self._show(tuple(left))
        self._finder.ask(
            lambda: absent_combinations(attributes, table, constraints), self._show, self._fail
        )

    def _fail(self, _error: FairDeskError) -> None:
        """Propose nothing: what is wrong with a constraint is told beside it."""
        self._show(())

    def _exclude_all(self) -> None:
        self.chosen.emit(tuple(each.constraint for each in self.found))

    def _exclude(self, constraint: str) -> None:
        self.chosen.emit((constraint,))

    def _show(self, found: tuple[AbsentCombination, ...]) -> None:
        self.found = found
        clear(self._rows)
        self.excludes = {}
        for each in found[:MOST_SHOWN]:
            button = push_button(
                "Exclude", partial(self._exclude, each.constraint), auto_default=False
            )
            button.setAccessibleName(f"Exclude {each.what}")
            self.excludes[each.constraint] = button
            said = layouts.column(
                Elided(each.what, strong=True),
                Words(absent_counts(each), tone="quiet", wrap=False),
                spacing=theme.TIGHT,
            )
            self._rows.addLayout(
                layouts.row(
                    layouts.grow(said),
                    layouts.at(button, Qt.AlignmentFlag.AlignVCenter),
                    spacing=theme.NEAR,
                )
            )
        self._heading.setText(f"{counted(len(found), 'combination')} of two values not in the data")
        self._rest.setText(f"{number(len(found) - MOST_SHOWN)} more are not listed.")
        self._rest.setVisible(len(found) > MOST_SHOWN)
        self.setVisible(bool(found))
        self.proposed.emit(len(found))
