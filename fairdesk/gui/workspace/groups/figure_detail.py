"""How a figure of a group came, and the rows that it is of."""

from __future__ import annotations

from PySide6.QtCore import Qt

from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.workspace.groups.group_rows import Edges, RowsDialog
from fairdesk.gui.workspace.session.session import Session
from fairdesk.results.groups import GroupLine, GroupTable
from fairdesk.wording.groups.columns import Column
from fairdesk.wording.groups.tables import group_text

_HOW = "Select a figure to see its formula, its numbers and the rows it is calculated from."


class FigureDetail(parts.Card):
    """How a figure came: always in sight, below the tables."""

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

    @property
    def tells(self) -> bool:
        """Whether a figure is chosen."""
        return self._chosen is not None

    def clear(self) -> None:
        """Tell of nothing."""
        self._chosen = None
        self.formula.setText(_HOW)
        self.formula.setMinimumHeight(0)
        self.rows.setEnabled(False)
        for widget in (self.group, self.rows):
            widget.hide()
        self.setAccessibleName(_HOW)

    def show_figure(self, table: GroupTable, line: GroupLine, column: Column) -> None:
        """Tell how one figure of a group came."""
        self._chosen = table, line
        formula = column.formula(table, line) or _HOW
        self.group.setText(group_text(table, line))
        self.formula.setText(formula)
        # as high for short formulas as for most: the tables above must not move
        self.formula.setMinimumHeight(2 * self.formula.fontMetrics().lineSpacing())
        for widget in (self.group, self.rows):
            widget.show()
        self.rows.setEnabled(bool(line.n_samples))
        self.setAccessibleName(f"{group_text(table, line)}: {formula}")

    def _show_rows(self) -> None:
        if self._chosen is not None:
            RowsDialog(self._session, self.edges, *self._chosen, parent=self.window()).show()
