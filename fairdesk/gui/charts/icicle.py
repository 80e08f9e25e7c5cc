"""An icicle in the window: a tree of boxes to walk through."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent

from fairdesk.charts.kinds.icicle import Tree
from fairdesk.charts.shapes import Marked
from fairdesk.gui.charts.canvas import paper
from fairdesk.gui.charts.drawn import DrawnChart
from fairdesk.gui.kit.keys import shortcut


class Icicle(DrawnChart[Tree]):
    """A tree of boxes to walk through; its table with T.

    A click on a part, or Enter, makes it the whole picture; a click on the first column, or
    Backspace, goes back. The arrow keys walk: right and left along the tree, up and down beside it.

    Signals
    -------
    rooted : int
        Another part is the whole picture.
    """

    rooted = Signal(int)

    def __init__(self) -> None:
        super().__init__(Tree(), fills=True)
        for key in ("Return", "Enter"):
            shortcut(self, key, lambda: self.go_into(self.chosen_part), "Zoom in to the region")
        shortcut(self, "Backspace", self.go_up, "Back to the enclosing region")

    @property
    def chosen_part(self) -> int:
        """The part that is chosen."""
        return self.chosen_key or 0

    @property
    def root(self) -> int:
        """The part that is the whole picture."""
        return self.drawing.root

    def draw(self, drawing: Tree) -> None:
        """Show another tree; the part that is chosen, and the whole picture, stay if they can.

        Where nobody went in or up, the picture begins with the first part that is seen divided.
        """
        before, chosen = self.drawing, self.chosen_part
        if drawing.parts == before.parts and drawing.rules == before.rules:
            return
        places = {part.conditions: number for number, part in reversed([*enumerate(drawing.parts)])}
        root = 0 if drawing.empty else drawing.first_divided
        if not before.empty:
            chosen = places.get(before.parts[chosen].conditions, 0)
            if self.root != before.first_divided:
                root = places.get(before.parts[self.root].conditions, 0)
        if not drawing.empty and root not in drawing.path(chosen):
            chosen = root
        super().draw(replace(drawing, root=root))
        self.canvas.mark(Marked(chosen))
        if not drawing.empty:
            self.rooted.emit(root)
            self.chosen.emit(chosen)

    def choose(self, key: int | None) -> None:
        """Choose a part; the picture moves where it would not be seen."""
        tree, number = self.drawing, key or 0
        path = tree.path(number)
        levels = tree.levels(paper(self.canvas.font(), self.canvas.width(), self.canvas.height()))
        if self.root not in path:
            self._set_root(next(each for each in path if each in tree.path(self.root)))
        elif path.index(number) - path.index(self.root) >= levels:
            self._set_root(path[path.index(number) - levels + 1])
        super().choose(number)
        self._read(tree.describe(number))
        self.chosen.emit(number)

    def go_into(self, number: int) -> None:
        """Make a part the whole picture; one that is not divided is chosen only."""
        if self.drawing.empty:
            return
        if self.drawing.children[number]:
            self._set_root(number)
        self.choose(number)

    def go_up(self) -> None:
        """Go back to the part in which the whole picture lies."""
        if not self.drawing.empty and self.root:
            self.go_into(self.drawing.parts[self.root].parent)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Ask for room for several levels."""
        return QSize(560, 380)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Stay readable."""
        return QSize(300, 300)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Walk with the arrow keys."""
        to = None if self.drawing.empty else self._beside(Qt.Key(event.key()))
        if to is None:
            super().keyPressEvent(event)
        else:
            self.choose(to)

    def _beside(self, key: Qt.Key) -> int | None:
        """Return the part that an arrow key leads to; the same at an end."""
        now, tree = self.chosen_part, self.drawing
        if key == Qt.Key.Key_Left:
            return max(tree.parts[now].parent, 0)
        if key == Qt.Key.Key_Right:
            return max(tree.children[now], key=lambda each: tree.parts[each].share, default=now)
        if key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            placed = sorted(tree.placed(len(tree.path(now))), key=lambda each: each.start)
            level = next(each.level for each in placed if each.number == now)
            column = [each.number for each in placed if each.level == level]
            at = column.index(now) + (1 if key == Qt.Key.Key_Down else -1)
            return column[min(max(at, 0), len(column) - 1)]
        return None

    def _set_root(self, number: int) -> None:
        if number != self.root:
            super().draw(replace(self.drawing, root=number))
            self.rooted.emit(number)

    def _press(self, key: int) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        if key == self.root and self.root:
            self.go_up()
        else:
            self.go_into(key)

    def _point_at(self, key: int | None) -> None:
        text = "" if key is None else self.drawing.describe(key)
        self._read(text)
        self.canvas.setToolTip(text)
