"""Rows of the data behind a figure or in a subgroup: how many, and the first of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import QWidget

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.store import Store
from fairdesk.data.domain.attributes import encode
from fairdesk.data.table import Table
from fairdesk.groups.tabular.rules import members
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.kit.tables import TextTable
from fairdesk.gui.kit.threads import Soon
from fairdesk.gui.workspace.session.session import Session
from fairdesk.results.proofs import Conditions
from fairdesk.wording import words

#: So many rows are listed at most, and so many are in sight; letters of a text that are shown.
MOST, _HIGH, _LETTERS = 500, 10, 200


class Behind(NamedTuple):
    """The rows behind a figure: how many there are, and the first of them as texts.

    ``heads`` and ``cells`` begin with the row's number in the file, from 1.
    """

    n_samples: int
    heads: tuple[str, ...]
    cells: list[tuple[str, ...]]

    @classmethod
    def of(cls, data: Table, rows: NDArray[np.intp], names: Sequence[str]) -> Behind:
        """List rows of the data with the columns of these names."""
        places = [data.index(name) for name in names]
        columns = [data.columns[place] for place in places]

        def text(row: int) -> tuple[str, ...]:
            held = zip(columns, data.codes[row, places].tolist(), strict=True)
            texts = (column.text(code) or "(missing)" for column, code in held)
            # a text that people wrote may have many lines
            shown = (parts.short(" ".join(each.split()), _LETTERS) for each in texts)
            return words.number(row + 1), *shown

        heads = ("Row", *(column.name for column in columns))
        return cls(len(rows), heads, [text(row) for row in rows[:MOST].tolist()])

    def sentence(self) -> str:
        """Say how many there are, and which of them are shown."""
        said = f"{words.counted(self.n_samples, 'row')} of the data"
        if len(self.cells) < self.n_samples:
            said += f"; the first {words.number(len(self.cells))} of them are shown"
        return said


def shown_columns(spec: AuditSpec) -> tuple[str, ...]:
    """Name what is shown of rows: what makes groups first, and the outcome last."""
    domain = spec.domain
    outcome = tuple(dict.fromkeys(filter(None, (spec.label, spec.predictions))))
    names = dict.fromkeys((*(each.name for each in domain.grouping), *domain.names))
    return (*(name for name in names if name not in outcome), *outcome)


def rows_inside(store: Store, conditions: Conditions) -> Behind:
    """List the rows of the data in a subgroup."""
    table, grouping = store.table(), store.spec.domain.grouping
    inside = np.flatnonzero(members(grouping, encode(grouping, table), conditions))
    return Behind.of(table, inside, shown_columns(store.spec))


class RowsInside(QWidget):
    """The rows in a subgroup, read from the audit file once the auditor stays with it."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._wanted: Conditions | None = None
        self._count, self._banner = parts.quiet(), parts.Banner()
        self.table = TextTable(
            "Individuals in the subgroup",
            description="Arrow keys move; Escape returns to the list of subgroups.",
            most=_HIGH,
        )
        layouts.column(self._count, self._banner, self.table, on=self, spacing=theme.TIGHT)
        self._soon = Soon(self, self._ask)

    def show_rows(self, conditions: Conditions) -> None:
        """Show the rows in another subgroup."""
        if conditions != self._wanted:
            self._wanted = conditions
            self._count.setText("Searching…")
            self.table.show_rows((), header=())
            self._soon.ask()

    def _ask(self) -> None:
        if (conditions := self._wanted) is not None:
            self._session.store.ask(
                lambda store: rows_inside(store, conditions),
                lambda behind: self._take(conditions, behind),
                self._banner.tell,
                key="rows inside",
            )

    def _take(self, conditions: Conditions, behind: Behind) -> None:
        if conditions != self._wanted:
            return
        self._banner.clear()
        protected = {each.name for each in self._session.spec.domain.grouping}
        heads = (f"◆ {name}" if name in protected else name for name in behind.heads)
        self.table.show_rows(behind.cells, header=[*heads])
        self._count.setText(f"□ Observed: {behind.sentence()}.")
