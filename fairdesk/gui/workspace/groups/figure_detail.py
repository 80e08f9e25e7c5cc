"""How a figure of a group came, and the rows that it is of."""

from __future__ import annotations

from PySide6.QtCore import Qt

from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.workspace.groups.group_rows import Edges, RowsDialog
from fairdesk.gui.workspace.session.session import Session
from fairdesk.results.groups import GroupLine, GroupTable
from fairdesk.wording.groups.columns import Column
from fairdesk.wording.groups.tables import group_text

#: How a figure is chosen, for where there are some.
HOW = "Select a figure to see its formula, its numbers and the rows it is calculated from."


class FigureDetail(parts.Card):
    """How a figure came, once one is chosen: in sight below the tables."""

    def __init__(self, session: Session) -> None:
        super().__init__(margin=theme.NEAR)
        self._session = session
        self._chosen: tuple[GroupTable, GroupLine] | None = None
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
        self.clear()

    def clear(self) -> None:
        """Tell of nothing: the tables have the room."""
        self._chosen = None
        self.hide()

    def show_figure(self, table: GroupTable, line: GroupLine, column: Column) -> None:
        """Tell how one figure of a group came."""
        self._chosen = table, line
        formula = column.formula(table, line) or HOW
        self.group.setText(group_text(table, line))
        self.formula.setText(formula)
        # as high for short formulas as for most: the tables above must not move
        self.formula.setMinimumHeight(2 * self.formula.fontMetrics().lineSpacing())
        self.rows.setEnabled(bool(line.n_samples))
        self.show()
        self.setAccessibleName(f"{group_text(table, line)}: {formula}")

    def _show_rows(self) -> None:
        if self._chosen is not None:
            RowsDialog(self._session, self.edges, *self._chosen, parent=self.window()).show()
