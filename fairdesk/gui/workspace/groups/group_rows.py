"""How a figure of a group came, and the rows of the data behind it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QDialog, QDialogButtonBox, QWidget

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.store import Store
from fairdesk.data.domain.attributes import encode
from fairdesk.data.profiling.outcomes import favourable_rows
from fairdesk.data.table import Table
from fairdesk.groups.metrics.grouping import divide
from fairdesk.groups.metrics.measuring import askable
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.wizard.model.mapping_table import PlainTable, grid
from fairdesk.gui.workspace.common.data_rows import Behind
from fairdesk.gui.workspace.session.session import Session
from fairdesk.results.groups import GroupLine, GroupTable
from fairdesk.wording import words
from fairdesk.wording.groups.columns import formula
from fairdesk.wording.groups.tables import group_text

#: How a figure is picked, for where there are some.
HOW = "Select a figure to see its formula, its numbers and the rows it is calculated from."
Mask = NDArray[np.bool_]
#: Per protected number the inner edges of its bins, as of `fairdesk.audit.plan.spec.RunSpec`.
Edges = Mapping[str, tuple[float, ...]]


def outcome_column(spec: AuditSpec, table: GroupTable) -> tuple[str, str] | None:
    """Return the column that was counted, and what is favourable in it; none where a model answers.

    The answers of a model are not kept in the audit.
    """
    if table.of == "label":
        return spec.label, spec.favourable
    if table.of == "decisions" and spec.predictions:
        return spec.predictions, table.outcome
    return None


def group_of(
    spec: AuditSpec, edges: Edges, data: Table, table: GroupTable, line: GroupLine
) -> Mask:
    """Return which rows are in a group, ``(n,)``; ``edges`` as of the run that counted it."""
    values = dict(zip(table.attributes, line.values, strict=True))
    attributes = [each for each in spec.domain.grouping if each.name in values]
    inside = np.ones(len(data.codes), dtype=np.bool_)
    for attribute, codes in zip(attributes, encode(attributes, data).T, strict=True):
        division = divide(attribute, codes, edges.get(attribute.name, ()))
        inside &= division.place == division.texts.index(values[attribute.name])
    return inside


def rows_behind(
    store: Store, edges: Edges, table: GroupTable, line: GroupLine, *, favourable: bool = False
) -> Behind:
    """List the rows that a group's figures were counted in, those without an outcome left out.

    With ``favourable`` only those with the favourable one, where the data say who that is.
    """
    spec, data = store.spec, store.table()
    inside = group_of(spec, edges, data, table, line)
    first = [*table.attributes]
    if (counted := outcome_column(spec, table)) is None:
        domain = spec.domain
        inside &= askable(domain.encode(data), domain.attributes, spec.mapping)
    else:
        good, known = favourable_rows(data, *counted)
        inside &= good if favourable else known
        first.insert(0, counted[0])
    names = dict.fromkeys((*first, *(column.name for column in data.columns)))
    return Behind.of(data, np.flatnonzero(inside), tuple(names))


class FigureDetail(parts.Card):
    """How a figure came, once one is picked, and the button that lists the rows behind it."""

    def __init__(self, session: Session) -> None:
        super().__init__(margin=theme.NEAR)
        self._session = session
        self._picked: tuple[GroupTable, GroupLine] | None = None
        self.edges: Edges = {}
        self.group = parts.Words(strong=True)
        self.formula = parts.Words()
        self.formula.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.formula.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.rows = parts.push_button("&Show the rows", self._show_rows)
        self.rows.setToolTip("List the rows of the data that were counted here")
        row = layouts.row(
            layouts.grow(layouts.column(self.group, self.formula, spacing=theme.TIGHT)),
            layouts.at(self.rows, Qt.AlignmentFlag.AlignTop),
            spacing=theme.WIDE,
        )
        self.body.addLayout(row)
        self.hide()

    def show_figure(self, table: GroupTable, line: GroupLine, name: str) -> None:
        """Tell how the figure of this name came; of a group's name how to find out more."""
        self._picked = table, line
        group = group_text(table, line)
        how = formula(self._session.spec, table, line, name) or HOW
        self.group.setText(group)
        self.formula.setText(how)
        # as high for short formulas as for most: the tables above must not move
        self.formula.setMinimumHeight(2 * self.formula.fontMetrics().lineSpacing())
        self.rows.setEnabled(bool(line.n_samples))
        self.show()
        self.setAccessibleName(f"{group}: {how}")

    def _show_rows(self) -> None:
        if self._picked is not None:
            RowsDialog(self._session, self.edges, *self._picked, parent=self.window()).show()


class RowsDialog(QDialog):
    """Lists the rows behind a group's figures."""

    def __init__(
        self,
        session: Session,
        edges: Edges,
        table: GroupTable,
        line: GroupLine,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._edges = session, edges
        self._table, self._line = table, line
        group = group_text(table, line)
        self.setWindowTitle("Rows used for this figure")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._count = parts.quiet()
        self._banner = parts.Banner()
        counted = outcome_column(session.spec, table)
        name = "" if counted is None else counted[1].replace("&", "&&")
        self.only = QCheckBox(f"&Only those with “{name}”")
        self.only.setVisible(counted is not None)
        self.only.toggled.connect(lambda _on: self._ask())
        self.rows = PlainTable()
        self._view = grid(self.rows, f"Rows of {group}")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        layouts.column(
            parts.heading(f"Rows of the data with {group}"),
            self._count,
            self.only,
            self._banner,
            layouts.grow(self._view),
            buttons,
            on=self,
            margin=theme.WIDE,
            spacing=theme.NEAR,
        )
        parts.resize_on_screen(self, 860, 560)
        self._ask()

    def _ask(self) -> None:
        table, line, favourable = self._table, self._line, self.only.isChecked()
        edges = self._edges
        self._count.setText("Searching…")
        self._session.store.ask(
            lambda store: rows_behind(store, edges, table, line, favourable=favourable),
            self._take,
            self._banner.tell,
            key=(id(self), "rows"),
        )

    def _take(self, behind: Behind) -> None:
        self._count.setText(self._said(behind))
        self.rows.show_cells(behind.heads, behind.cells)
        self._view.resizeColumnsToContents()

    def _said(self, behind: Behind) -> str:
        """Say how many there are, and which of them are shown."""
        said = behind.sentence()
        counted = self._line.favourable if self.only.isChecked() else self._line.n_samples
        if behind.n_samples != counted:
            said += f"; {words.number(counted)} of them could be counted"
        if outcome_column(self._session.spec, self._table) is None:
            said += ". The model’s output for each row is not stored in the audit"
        return f"{said}."
