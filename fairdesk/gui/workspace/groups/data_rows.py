"""Rows of the data behind a figure or in a subgroup: how many, and the first of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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


class RowsView(QWidget):
    """Rows of the data, read from the audit file: how many there are, and the first of them."""

    def __init__(
        self, session: Session, name: str, description: str = "", *, most: int = _HIGH
    ) -> None:
        super().__init__()
        self._session = session
        self._protected = {each.name for each in session.spec.domain.grouping}
        self._read: Callable[[Store], Behind] | None = None
        self._count, self._banner = parts.quiet(), parts.Banner()
        self.table = TextTable(name, description=description, most=most)
        column = self._count, self._banner, layouts.grow(self.table)
        layouts.column(*column, on=self, spacing=theme.TIGHT)

    def show_rows(self, read: Callable[[Store], Behind], say: Callable[[Behind], str]) -> None:
        """Show the rows that ``read`` finds in the file, and what ``say`` makes of them."""
        self._read = read
        self._banner.clear()
        self._count.setText("Searching…")
        self.table.show_rows(())

        def take(behind: Behind) -> None:
            if read is self._read:
                heads = [f"◆ {each}" if each in self._protected else each for each in behind.heads]
                self.table.show_rows(behind.cells, header=heads)
                self._count.setText(say(behind))

        # of several asked for in a row only the last
        self._session.store.ask(read, take, self._banner.tell, key=(id(self), "rows"))
