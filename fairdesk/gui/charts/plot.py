"""Shapes of a chart as items of pyqtgraph; nothing else of the window knows the library."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from itertools import groupby
from types import ModuleType
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QPen
from PySide6.QtWidgets import QGraphicsItem, QGraphicsSimpleTextItem

from fairdesk.charts.shapes import Box, Colour, Disc, Path, Shape, Words
from fairdesk.charts.svg import resolve
from fairdesk.gui.kit import theme

#: Shapes of one style that follow each other.
Same = tuple[Shape, ...]

#: The library, once it is there.
_loaded: list[ModuleType] = []
_ANCHORS = {"start": 0.0, "middle": 0.5, "end": 1.0}


def loaded() -> bool:
    """Return whether the library is there."""
    return bool(_loaded)


def load_library() -> Any:  # noqa: ANN401 - the library has no types
    """Load the library. Takes a second: call it in the background, before it is needed."""
    if not _loaded:
        _loaded.append(importlib.import_module("pyqtgraph"))
    return _loaded[0]


class Plot:
    """Shapes in a scene of the library; what stays the same when others are shown is kept."""

    def __init__(self, scene: Any) -> None:  # noqa: ANN401 - the library has no types
        self._scene = scene
        # in order: an index of places costs more than it saves
        scene.setItemIndexMethod(scene.ItemIndexMethod.NoIndex)
        self._items: dict[Same, QGraphicsItem] = {}
        self._shapes: Sequence[Shape] = ()
        self._look: tuple[object, ...] = ()

    def show(self, shapes: Sequence[Shape], font: QFont, palette: Mapping[str, str]) -> None:
        """Show shapes, the first below all others, and nothing else."""
        look = (font.key(), *palette.values())
        if (shapes, look) == (self._shapes, self._look):
            return
        old, self._items = self._items, {}
        kept = old if look == self._look else {}
        self._shapes, self._look = shapes, look
        for place, (_alike, same) in enumerate(groupby(shapes, _style)):
            group = tuple(same)
            item = self._items.get(group) or kept.get(group)
            if item is None:
                item = _made(group, font, palette)
                self._scene.addItem(item)
            item.setZValue(place)
            self._items[group] = item
        shown = set(self._items.values())
        for item in old.values():
            if item not in shown:
                self._scene.removeItem(item)


def _style(shape: Shape) -> tuple[object, ...]:
    """Return what shapes that can be one item have in common."""
    match shape:
        case Box():
            return Box, *shape[4:]
        case Disc():
            return Disc, *shape[2:]
        case Path(fill=None):
            return Path, *shape[1:]
        case _:
            return (id(shape),)


def _made(same: Same, font: QFont, palette: Mapping[str, str]) -> QGraphicsItem:
    """Return shapes of one style as an item."""
    library, first = load_library(), same[0]
    item: Any
    match first:
        case Box():
            places = np.array([each[:4] for each in same], dtype=np.float64).T
            item = library.BarGraphItem(
                **dict(zip(("x0", "y0", "width", "height"), places, strict=True)),
                pen=_pen(first.edge, palette, first.thick, first.dash),
                brush=_brush(first.fill, palette),
            )
            item.setOpacity(first.opacity)
        case Disc():
            size = 2 * first.radius
            item = library.ScatterPlotItem(
                *np.array([each[:2] for each in same], dtype=np.float64).T,
                size=size,
                pxMode=False,
                antialias=True,
                # it grows with the symbol
                pen=_pen(first.edge, palette, first.thick / size),
                brush=_brush(first.fill, palette),
            )
        case Path():
            filled, gap = first.fill is not None, (np.nan, np.nan)
            lines = [line for path in same if isinstance(path, Path) for line in path.lines]
            points = [(*line, line[0], gap) if filled else (*line, gap) for line in lines if line]
            item = library.PlotCurveItem(
                *np.array([point for line in points for point in line]).reshape(-1, 2).T,
                connect="finite",
                antialias=True,
                pen=_pen(first.colour, palette, first.thick, first.dash),
                brush=_brush(first.fill, palette),
                fillLevel="enclosed" if filled else None,
            )
            item.setSegmentedLineMode("off")
        case Words():
            # the library's own texts are documents, which take ten times as long
            item = QGraphicsSimpleTextItem(first.text)
            item.setFont(theme.scaled(font, first.size, strong=first.bold))
            item.setBrush(_brush(first.colour, palette))
            size = item.boundingRect()
            left = _ANCHORS[first.anchor] * size.width()
            item.setPos(QPointF(first.x - left, first.y - size.height() / 2))
    return item  # type: ignore[no-any-return]


def _brush(colour: Colour | None, palette: Mapping[str, str]) -> QBrush:
    return QBrush() if colour is None else QBrush(QColor(resolve(colour, palette)))


def _pen(
    colour: Colour | None, palette: Mapping[str, str], thick: float, dash: tuple[float, ...] = ()
) -> QPen:
    if colour is None:
        return QPen(Qt.PenStyle.NoPen)
    pen = QPen(QColor(resolve(colour, palette)), thick)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    if dash:
        # Qt counts dashes in the line's own width
        pen.setDashPattern([each / thick for each in dash])
    return pen
