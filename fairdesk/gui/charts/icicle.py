"""A tree of boxes as an icicle: a column per level, as high as it is large, coloured by verdict.

After Kruskal and Landwehr, “Icicle plots” (The American Statistician, 1983), turned so that it is
read from left to right: each box lies right of the one that it is a part of.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QKeyEvent,
    QPainter,
    QPen,
)

from fairdesk.gui.charts.painted import PaintedChart
from fairdesk.gui.charts.pointed import Pointed
from fairdesk.gui.charts.verdicts import MARKS, shown
from fairdesk.gui.kit import theme
from fairdesk.gui.kit.keys import shortcut
from fairdesk.results.proofs import Part
from fairdesk.wording import proofs as proof_words
from fairdesk.wording import words

#: How wide a column is at least, and how many there are at most.
_COLUMN, _MOST_COLUMNS = 150, 7
#: Boxes that are less high are not drawn.
_LEAST = 0.75
#: Sums of floats are exact to so much.
_LAST_BITS = 1e-12


@dataclass(frozen=True)
class Tree:
    """All that the icicle shows.

    Attributes
    ----------
    parts : tuple[Part, ...]
        Each after its parent; the first is everything.
    rules : tuple[str, ...]
        Of each what tells it from everything.
    steps : tuple[str, ...]
        Of each what tells it from its parent.
    whole : str
        What the shares are of: ``"all possible applicants"``.
    title : str
        What it tells.
    """

    parts: tuple[Part, ...] = ()
    rules: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    whole: str = ""
    title: str = "How all possible people were divided"

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.parts

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The parts that each is divided into."""
        found: list[list[int]] = [[] for _part in self.parts]
        for number, part in enumerate(self.parts):
            if part.parent >= 0:
                found[part.parent].append(number)
        return tuple(map(tuple, found))

    def path(self, number: int) -> list[int]:
        """Return a part's ancestors, everything first, and itself."""
        found = []
        while number >= 0:
            found.append(number)
            number = self.parts[number].parent
        return found[::-1]

    def shares(self, number: int) -> dict[str, Fraction]:
        """Return how much of a part is alike, unlike and undecided."""
        part = self.parts[number]
        alike, unlike = (_of(part.share, each) for each in (part.certified, part.falsified))
        left = 1 - alike - unlike
        return {
            "alike": alike,
            "unlike": unlike,
            "undecided": left if left > _LAST_BITS else Fraction(0),
        }

    def told(self, number: int) -> str:
        """Say what is known of a part."""
        known = ", ".join(
            f"{shown(verdict, share)} {verdict}"
            for verdict, share in self.shares(number).items()
            if share
        )
        return f"{self.size(number)} of all, of these {known}: {self.rules[number]}"

    def size(self, number: int) -> str:
        """Write how much of everything a part is."""
        return shown("alike", _of(1.0, self.parts[number].share))

    def summary(self) -> str:
        """Tell it in words, for those who do not see it."""
        if self.empty:
            return f"{self.title}: nothing yet."
        largest = "; ".join(self.told(number) for number in self.children[0][:4])
        return (
            f"{self.title}: {words.number(len(self.parts))} parts, the largest first in the table "
            f"(T). {self.told(0)}. {largest}. Arrow keys walk, Enter goes into a part, Backspace "
            "goes back."
        )

    def table(self, most: int | None = None) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return it as a table: a header and rows, the largest first; of these at most so many."""
        order = sorted(range(len(self.parts)), key=lambda number: -self.parts[number].share)
        header = ("Part", "Level", "% of all", "% alike", "% unlike", "% undecided", "Boxes")
        return header, [
            (
                self.rules[number],
                str(len(self.path(number)) - 1),
                f"{100 * self.parts[number].share:.4f}",
                *(_hundredths(verdict, share) for verdict, share in self.shares(number).items()),
                str(self.parts[number].boxes),
            )
            for number in order[:most]
        ]


def _of(whole: float, share: float) -> Fraction:
    """Return how much of a whole a share is; what misses it by the last bits only is the whole."""
    ratio = share / whole if whole else 0.0
    # of a float its shortest decimals: 0.6 is not a little less
    return Fraction(1) if ratio > 1 - _LAST_BITS else Fraction(str(max(ratio, 0.0)))


def _hundredths(verdict: str, share: Fraction) -> str:
    """Write a percentage for a column of them; what is undecided is rounded up, else down."""
    least = (ceil if verdict == "undecided" else floor)(10_000 * share)
    return f"{least / 100:.2f}"


class Placed(NamedTuple):
    """Where a part is drawn: its column, and its ends from 0 to 1 of the height."""

    number: int
    column: int
    top: float
    bottom: float


def laid_out(tree: Tree, root: int, columns: int) -> list[Placed]:
    """Place a part and everything below it.

    Parts stand in their parent from its top, in their own order; what was too small to be told
    leaves room at the bottom.
    """
    whole = tree.parts[root].share
    if not whole:
        return []
    placed = {root: Placed(root, 0, 0.0, 1.0)}
    filled = {root: 0.0}
    for number in range(root + 1, len(tree.parts)):
        part = tree.parts[number]
        parent = placed.get(part.parent)
        if parent is None or parent.column + 1 >= columns:
            continue
        top = filled[part.parent]
        bottom = min(top + part.share / whole, parent.bottom)
        filled[part.parent] = bottom
        placed[number] = Placed(number, parent.column + 1, top, bottom)
        filled[number] = top
    return list(placed.values())


def depth_below(tree: Tree, root: int) -> int:
    """Return how many levels there are below a part, itself included."""
    levels = {root: 1}
    for number in range(root + 1, len(tree.parts)):
        parent = tree.parts[number].parent
        if parent in levels:
            levels[number] = levels[parent] + 1
    return max(levels.values())


class Icicle(PaintedChart):
    """A tree of boxes to walk through; its table with T.

    A click on a part, or Enter, makes it the whole picture; a click on the first column, or
    Backspace, goes back. The arrow keys walk: right and left along the tree, up and down beside it.

    Signals
    -------
    chosen : int
        Another part is chosen.
    rooted : int
        Another part is the whole picture.
    """

    chosen = Signal(int)
    rooted = Signal(int)

    _canvas: _Canvas

    def __init__(self) -> None:
        super().__init__()
        self._tree = Tree()
        self._chosen = self._root = 0
        self._canvas = _Canvas()
        self._canvas.pointed.connect(self._point_at)
        self._canvas.pressed.connect(self._press)
        self._stack.addWidget(self._canvas)
        shortcut(self, "Backspace", self.go_up)
        for key in ("Return", "Enter"):
            shortcut(self, key, lambda: self.go_into(self._chosen))

    @property
    def drawing(self) -> Tree:
        """What is shown."""
        return self._tree

    @property
    def chosen_part(self) -> int:
        """The part that is chosen."""
        return self._chosen

    @property
    def root(self) -> int:
        """The part that is the whole picture."""
        return self._root

    def draw(self, tree: Tree) -> None:
        """Show another tree; the part that is chosen, and the whole picture, stay if they can."""
        if tree == self._tree:
            return
        before = self._tree
        self._tree = tree
        places = {part.conditions: number for number, part in reversed([*enumerate(tree.parts)])}

        def again(number: int) -> int:
            if before.empty:
                return 0
            return places.get(before.parts[number].conditions, 0)

        self._chosen, self._root = again(self._chosen), again(self._root)
        if not tree.empty and self._root not in tree.path(self._chosen):
            self._chosen = self._root
        self._show()
        self._tell()
        self._redraw()
        if not tree.empty:
            self.rooted.emit(self._root)
            self.chosen.emit(self._chosen)

    def choose(self, number: int) -> None:
        """Choose a part; the picture moves where it would not be seen."""
        self._chosen = number
        path = self._tree.path(number)
        columns = self._canvas.columns()
        if self._root not in path:
            self._set_root(next(each for each in path if each in self._tree.path(self._root)))
        elif path.index(number) - path.index(self._root) >= columns:
            self._set_root(path[path.index(number) - columns + 1])
        self._show()
        self._read(self._tree.told(number))
        self.chosen.emit(number)

    def go_into(self, number: int) -> None:
        """Make a part the whole picture; one that is not divided is chosen only."""
        if self._tree.empty:
            return
        if self._tree.children[number]:
            self._set_root(number)
        self.choose(number)

    def go_up(self) -> None:
        """Go back to the part in which the whole picture lies."""
        if not self._tree.empty and self._root:
            self.go_into(self._tree.parts[self._root].parent)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Ask for room for several levels."""
        return QSize(560, 380)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Stay readable."""
        return QSize(300, 300)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Walk with the arrow keys."""
        to = None if self._tree.empty else self._beside(Qt.Key(event.key()))
        if to is None:
            super().keyPressEvent(event)
        else:
            self.choose(to)

    def _beside(self, key: Qt.Key) -> int | None:
        """Return the part that an arrow key leads to; the same at an end."""
        now, parts = self._chosen, self._tree.parts
        if key == Qt.Key.Key_Left:
            return max(parts[now].parent, 0)
        if key == Qt.Key.Key_Right:
            below = self._tree.children[now]
            return max(below, key=lambda each: parts[each].share, default=now)
        if key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            column = self._canvas.column_of(now)
            at = column.index(now) + (1 if key == Qt.Key.Key_Down else -1)
            return column[min(max(at, 0), len(column) - 1)]
        return None

    def _set_root(self, number: int) -> None:
        if number != self._root:
            self._root = number
            self._show()
            self.rooted.emit(number)

    def _show(self) -> None:
        self._canvas.show_tree(self._tree, self._root, self._chosen)

    def _press(self, number: int) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        if number == self._root and self._root:
            self.go_up()
        else:
            self.go_into(number)

    def _point_at(self, number: int | None) -> None:
        told = "" if number is None else self._tree.told(number)
        self._read(told)
        self._canvas.setToolTip(told)


class _Canvas(Pointed):
    """Draws it."""

    def __init__(self) -> None:
        super().__init__()
        self._tree = Tree()
        self._root = self._chosen = 0

    def show_tree(self, tree: Tree, root: int, chosen: int) -> None:
        self._tree, self._root, self._chosen = tree, root, chosen
        self._pointed = None
        self.update()

    def columns(self) -> int:
        """How many levels there is room for, of those that there are."""
        room = min(max(self.width() // _COLUMN, 2), _MOST_COLUMNS)
        return min(room, depth_below(self._tree, self._root))

    def boxes(self) -> list[tuple[int, QRectF]]:
        """Return the rectangle of every part that can be seen."""
        columns = self.columns()
        wide, high = self.width() / columns, float(self.height())
        return [
            (each.number, QRectF(each.column * wide, each.top * high, wide, size))
            for each in laid_out(self._tree, self._root, columns)
            if (size := (each.bottom - each.top) * high) >= _LEAST
        ]

    def column_of(self, number: int) -> list[int]:
        """Return the parts in the column of one, from top to bottom."""
        placed = laid_out(self._tree, self._root, max(self.columns(), len(self._tree.path(number))))
        column = next((each.column for each in placed if each.number == number), 0)
        return [each.number for each in sorted(placed, key=_top) if each.column == column]

    def paint(
        self, painter: QPainter, colours: theme.Colours, ink: QColor, _ground: QColor
    ) -> None:
        """Draw all of it."""
        if self._tree.empty:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        boxes = self.boxes()
        for number, box in boxes:
            self._paint_box(painter, colours, number, box)
        for number, box in boxes:
            self._paint_words(painter, colours, ink, number, box)
            if box.right() > self.width() - 2 and self._tree.children[number]:
                self._paint_more(painter, colours, ink, box)
        for number, box in boxes:
            if number in (self._chosen, self._pointed):
                painter.setPen(QPen(ink, 3.0 if number == self._chosen else 1.5))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(box.adjusted(1.5, 1.5, -2.5, -2.5))

    def _paint_box(
        self, painter: QPainter, colours: theme.Colours, number: int, box: QRectF
    ) -> None:
        """Fill a box with its verdicts, from the top."""
        # a hairline's room between boxes, as long as that leaves something of them
        room = 1.0 if box.height() > 3 else 0.0
        top, high = box.top(), box.height() - room
        for verdict, share in self._tree.shares(number).items():
            part = QRectF(box.left(), top, box.width() - 1.5, float(share) * high)
            painter.fillRect(part, QColor(getattr(colours, verdict)))
            top = part.bottom()

    def _paint_words(
        self, painter: QPainter, colours: theme.Colours, ink: QColor, number: int, box: QRectF
    ) -> None:
        """Write on a ground of its own what a box is, and which verdict it mostly has."""
        font = theme.scaled(self.font(), 0.9)
        metrics = QFontMetricsF(font)
        line = metrics.height()
        if box.height() < line + 4:
            return
        shares = self._tree.shares(number)
        verdict = max(shares, key=lambda each: shares[each])
        lines = [self._tree.steps[number], _mostly(verdict, shares[verdict])]
        if box.height() < 2 * line + 8:
            lines = [f"{MARKS[verdict]} {lines[0]}"]
        room = box.width() - (34 if box.right() > self.width() - 2 else 14)
        lines = [metrics.elidedText(text, Qt.TextElideMode.ElideRight, room) for text in lines]
        wide = max(metrics.horizontalAdvance(text) for text in lines)
        plate = QRectF(box.left() + 3, 0, wide + 8, len(lines) * line + 2)
        plate.moveTop(box.center().y() - plate.height() / 2)
        ground = QColor(colours.card)
        ground.setAlphaF(0.9)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ground)
        painter.drawRoundedRect(plate, 3, 3)
        painter.setPen(ink)
        painter.setFont(font)
        for place, text in enumerate(lines):
            at = plate.top() + 1 + place * line + metrics.ascent()
            painter.drawText(QPointF(plate.left() + 4, at), text)

    def _paint_more(
        self, painter: QPainter, colours: theme.Colours, ink: QColor, box: QRectF
    ) -> None:
        """Show at the edge that a box is divided further than there is room for."""
        font = theme.scaled(self.font(), 1.0, strong=True)
        line = QFontMetricsF(font).height()
        if box.height() < line:
            return
        plate = QRectF(box.right() - 18, box.center().y() - line / 2, 14, line)
        ground = QColor(colours.card)
        ground.setAlphaF(0.9)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ground)
        painter.drawRoundedRect(plate, 3, 3)
        painter.setPen(ink)
        painter.setFont(font)
        painter.drawText(plate, Qt.AlignmentFlag.AlignCenter, "›")

    def under(self, where: QPointF) -> int | None:
        """Return the part at a place."""
        if self._tree.empty:
            return None
        return next((number for number, box in self.boxes() if box.contains(where)), None)


def _mostly(verdict: str, share: Fraction) -> str:
    """Say the most of a box shortly: proven rounded down, never all of it for less."""
    if share == 1:
        text = f"100{words.NBSP}%"
    elif verdict == "undecided":
        text = words.shown_percent(float(share), 1)
    else:
        text = proof_words.percent_down(share, 1)
    return f"{MARKS[verdict]} {text} {verdict}"


def _top(placed: Placed) -> float:
    return placed.top
