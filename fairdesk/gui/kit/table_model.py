"""What the tables of the window have in common, as Qt asks for it."""

from __future__ import annotations

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex

Index = QModelIndex | QPersistentModelIndex
#: What is above the first level.
ROOT = QModelIndex()


class TableModel(QAbstractTableModel):
    """A table without levels, whose size is said once."""

    def size(self) -> tuple[int, int]:
        """Return how many rows and columns there are."""
        raise NotImplementedError

    def rowCount(self, parent: Index = ROOT) -> int:  # noqa: N802 - Qt's name
        """Return the number of rows; below a cell there are none."""
        return 0 if parent.isValid() else self.size()[0]

    def columnCount(self, parent: Index = ROOT) -> int:  # noqa: N802 - Qt's name
        """Return the number of columns; below a cell there are none."""
        return 0 if parent.isValid() else self.size()[1]
