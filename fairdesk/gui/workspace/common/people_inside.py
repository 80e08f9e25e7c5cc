"""The people in a group: rows of the data that its rules describe."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QTableView, QWidget

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.store import Store
from fairdesk.data.domain.attributes import encode
from fairdesk.data.table import Column
from fairdesk.groups.tabular.membership import members
from fairdesk.gui.kit import layouts, parts, theme, tips
from fairdesk.gui.kit.table_model import Index, TableModel
from fairdesk.gui.kit.tables import aligned, number_rows, read_only
from fairdesk.gui.kit.threads.soon import Soon
from fairdesk.gui.workspace.session.session import Session
from fairdesk.results.conditions import Conditions
from fairdesk.results.events import Rows
from fairdesk.wording import words

#: So many people are listed at most.
MOST = 500
#: Columns are as wide as the first rows need.
_MEASURED = 20


@dataclass(frozen=True)
class Inside:
    """Those in a group.

    Attributes
    ----------
    conditions : Conditions
        Who they are.
    columns : tuple[Column, ...]
        What is told of them: what makes groups, what the model reads, the outcome.
    codes : Rows
        ``(m, c)``; of the first `MOST` of them.
    places : tuple[int, ...]
        Their rows in the data, from 1.
    n_samples : int
        How many there are.
    """

    conditions: Conditions
    columns: tuple[Column, ...]
    codes: Rows
    places: tuple[int, ...]
    n_samples: int


def shown_columns(spec: AuditSpec) -> tuple[str, ...]:
    """Name what is told of people: what makes groups first, and the outcome last."""
    domain = spec.domain
    outcome = (spec.label, spec.predictions)
    names = (*(each.name for each in domain.grouping), *domain.names, *outcome)
    last = [name for name in dict.fromkeys(outcome) if name]
    return (*(name for name in dict.fromkeys(names) if name and name not in last), *last)


def people_inside(store: Store, conditions: Conditions) -> Inside:
    """Find the rows of the data in a group."""
    table, grouping = store.table(), store.spec.domain.grouping
    inside = np.flatnonzero(members(grouping, encode(grouping, table), conditions))
    shown = inside[:MOST]
    places = [table.index(name) for name in shown_columns(store.spec)]
    return Inside(
        conditions,
        tuple(table.columns[place] for place in places),
        table.codes[shown][:, places],
        tuple((shown + 1).tolist()),
        len(inside),
    )


class PeopleInside(QWidget):
    """The people in a group, asked of the audit file once the auditor stays with it."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._wanted: Conditions | None = None
        self._count = parts.quiet()
        self._banner = parts.Banner()
        self._model = _People(frozenset(each.name for each in session.spec.domain.grouping))
        self.table = QTableView()
        self.table.setModel(self._model)
        how = "Arrow keys move; Escape returns to the list of subgroups."
        read_only(self.table, "Individuals in the subgroup", how, line=7)
        number_rows(self.table)
        self.table.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.table.setWordWrap(False)
        head = self.table.horizontalHeader()
        # to measure all rows takes a second
        head.setResizeContentsPrecision(_MEASURED)
        layouts.column(self._count, self._banner, self.table, on=self, spacing=theme.TIGHT)
        self._soon = Soon(self, self._ask)

    @property
    def inside(self) -> Inside | None:
        """Who is shown."""
        return self._model.inside

    def show_people(self, conditions: Conditions) -> None:
        """Show the people in another group."""
        if conditions == self._wanted:
            return
        self._wanted = conditions
        self._count.setText("Searching…")
        self._model.show(None)
        self._soon.ask()

    def _ask(self) -> None:
        conditions = self._wanted
        if conditions is not None:
            self._session.store.ask(
                lambda store: people_inside(store, conditions),
                self._take,
                self._banner.tell,
                key="people inside",
            )

    def _take(self, inside: Inside) -> None:
        if inside.conditions != self._wanted:
            return
        self._banner.clear()
        self._model.show(inside)
        text = f"{words.counted(inside.n_samples, self._session.spec.person)} in the data"
        if inside.n_samples > len(inside.places):
            text += f"; the first {words.number(len(inside.places))} are shown"
        self._count.setText(f"□ Observed: {text}.")
        line = self.table.verticalHeader().defaultSectionSize()
        rows = min(len(inside.places), 9) + 2
        self.table.setFixedHeight(line * rows + self.table.horizontalHeader().sizeHint().height())
        self.table.resizeColumnsToContents()
        widest = 24 * self.fontMetrics().averageCharWidth()
        for place in range(len(inside.columns)):
            self.table.setColumnWidth(
                place, min(self.table.columnWidth(place) + theme.NEAR, widest)
            )


class _People(TableModel):
    """Rows of the data, written as the file has them."""

    def __init__(self, grouping: frozenset[str]) -> None:
        super().__init__()
        self._grouping = grouping
        self.inside: Inside | None = None

    def show(self, inside: Inside | None) -> None:
        self.beginResetModel()
        self.inside = inside
        self.endResetModel()

    def size(self) -> tuple[int, int]:
        inside = self.inside
        return (0, 0) if inside is None else (len(inside.places), len(inside.columns))

    def headerData(  # noqa: N802 - Qt's name
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if self.inside is None:
            return None
        if orientation == Qt.Orientation.Vertical:
            return (
                words.number(self.inside.places[section])
                if role == Qt.ItemDataRole.DisplayRole
                else None
            )
        column = self.inside.columns[section]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                mark = "◆ " if column.name in self._grouping else ""
                return f"{mark}{parts.short(column.name)}"
            case Qt.ItemDataRole.ToolTipRole:
                return tips.plain(column.name)
            case Qt.ItemDataRole.TextAlignmentRole:
                return aligned(number=column.kind.is_number)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if self.inside is None:
            return None
        column = self.inside.columns[index.column()]
        match role:
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.ToolTipRole:
                code = float(self.inside.codes[index.row(), index.column()])
                text = column.text(code) or "(missing)"
                if role == Qt.ItemDataRole.ToolTipRole:
                    return tips.plain(parts.short(text, 600))
                # a text that people wrote may have many lines
                return parts.short(" ".join(text.split()), 200)
            case Qt.ItemDataRole.TextAlignmentRole:
                return aligned(number=column.kind.is_number)
        return None


__all__ = ["MOST", "Inside", "PeopleInside", "people_inside", "shown_columns"]
