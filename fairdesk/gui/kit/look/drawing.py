"""How each control is drawn: its ground, its edge, its marks."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPalette, QPen
from PySide6.QtWidgets import QAbstractScrollArea, QScrollBar, QStyle, QStyleOption

from fairdesk.gui.kit.look.tokens import ROUNDED, TIGHT, colours

#: Half the width of an arrow.
_ARROW: Final = 3.5
#: A scroll bar's thickness, that of its handle, and the handle's least length.
BAR, LEAST_HANDLE = 12, 32
_HANDLE: Final = 6


def draw_button(painter: QPainter, option: QStyleOption, *, filled: bool) -> None:
    """Draw the ground and the edge of a button; who has the keyboard has a stronger edge."""
    state, palette, extra = option.state, option.palette, colours()
    flag = QStyle.StateFlag
    enabled = bool(state & flag.State_Enabled)
    down = bool(state & (flag.State_Sunken | flag.State_On))
    ground = palette.color(QPalette.ColorRole.Button)
    edge = QColor(extra.line)
    if filled and enabled:
        ground = edge = palette.color(QPalette.ColorRole.Highlight)
        if down or state & flag.State_MouseOver:
            ground = edge = ground.darker(118)
    elif enabled and down:
        ground, edge = QColor(extra.tint), QColor(extra.accent)
    elif enabled:
        edge = QColor(extra.edge)
        if state & flag.State_MouseOver:
            ground = _mixed(ground, extra.tint, 0.6)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    rect = QRectF(option.rect).adjusted(1.5, 1.5, -1.5, -1.5)
    painter.setPen(QPen(edge, 1))
    painter.setBrush(ground)
    painter.drawRoundedRect(rect, ROUNDED, ROUNDED)
    if state & flag.State_HasFocus:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(extra.accent), 2))
        ring = rect.adjusted(-0.5, -0.5, 0.5, 0.5)
        if filled:
            painter.setPen(QPen(QColor("#FFFFFF"), 1.5))
            ring = rect.adjusted(2.5, 2.5, -2.5, -2.5)
        painter.drawRoundedRect(ring, ROUNDED, ROUNDED)
    painter.restore()


def draw_arrow(painter: QPainter, at: QPointF, way: int, colour: QColor) -> None:
    """Draw a small arrow, up (-1) or down (1)."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    half = 1.5 * way
    ends = ((-_ARROW, -half), (_ARROW, -half), (0, _ARROW * way - half))
    painter.drawPolygon([at + QPointF(*end) for end in ends])
    painter.restore()


def draw_field(painter: QPainter, option: QStyleOption, ground: QColor | None = None) -> None:
    """Draw the edge of a field that is typed into; of that with the keyboard a stronger one."""
    extra = colours()
    typing = bool(option.state & QStyle.StateFlag.State_HasFocus)
    enabled = bool(option.state & QStyle.StateFlag.State_Enabled)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    edge = extra.accent if typing else extra.edge if enabled else extra.line
    painter.setPen(QPen(QColor(edge), 2 if typing else 1))
    painter.setBrush(Qt.BrushStyle.NoBrush if ground is None else ground)
    rect = QRectF(option.rect).adjusted(1.0, 1.0, -1.0, -1.0)
    painter.drawRoundedRect(rect, TIGHT, TIGHT)
    painter.restore()


def draw_indicator(painter: QPainter, option: QStyleOption, *, round_: bool) -> None:
    """Draw a box to check, or a round one, so that it is seen when nothing is in it."""
    flag, extra, palette = QStyle.StateFlag, colours(), option.palette
    enabled = bool(option.state & flag.State_Enabled)
    chosen = bool(option.state & (flag.State_On | flag.State_NoChange))
    accent = palette.color(QPalette.ColorRole.Highlight)
    edge = QColor(extra.edge if enabled else extra.line)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    side = min(option.rect.width(), option.rect.height()) - 1
    box = QRectF(0, 0, side, side)
    box.moveCenter(QRectF(option.rect).center())
    ground = palette.color(QPalette.ColorRole.Base)
    filled = chosen and enabled
    focus = bool(option.state & flag.State_HasFocus)
    painter.setPen(QPen(QColor(extra.accent) if focus else accent if filled else edge, 1 + focus))
    painter.setBrush(accent if filled else ground)
    radius = side / 2 if round_ else 3
    painter.drawRoundedRect(box, radius, radius)
    mark = QColor("#FFFFFF") if enabled else edge
    if chosen and round_:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(mark)
        painter.drawEllipse(box.center(), side * 0.2, side * 0.2)
    elif chosen:
        pen = QPen(mark, 2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        points = ((0.24, 0.52), (0.42, 0.7), (0.76, 0.32))
        if option.state & flag.State_NoChange:
            points = ((0.25, 0.5), (0.5, 0.5), (0.75, 0.5))
        line = [QPointF(box.x() + side * x, box.y() + side * y) for x, y in points]
        painter.drawPolyline(line)
    painter.restore()


def draw_frame(painter: QPainter, option: QStyleOption, *, typed: bool) -> None:
    """Draw the edge of an area that scrolls; of one that is typed into as that of a field."""
    extra = colours()
    typing = typed and bool(option.state & QStyle.StateFlag.State_HasFocus)
    painter.save()
    painter.setPen(QPen(QColor(extra.accent if typing else extra.edge if typed else extra.line), 1))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(option.rect.adjusted(0, 0, -1, -1))
    painter.restore()


def draw_tab(painter: QPainter, option: QStyleOption) -> None:
    """Draw what is below a tab's name: of the chosen one a strong line."""
    flag, extra = QStyle.StateFlag, colours()
    line = QRect(option.rect)
    line.setTop(line.bottom() - 2)
    if option.state & flag.State_Selected:
        painter.fillRect(line, QColor(extra.accent))
    elif option.state & flag.State_MouseOver:
        painter.fillRect(line, QColor(extra.edge))


def draw_hairline_below(painter: QPainter, option: QStyleOption) -> None:
    """Draw a thin line at the foot of what an option is about."""
    line = QRect(option.rect)
    line.setTop(line.bottom())
    painter.fillRect(line, QColor(colours().line))


def _mixed(ground: QColor, colour: str, share: float) -> QColor:
    """Mix two colours: ``share`` of the second."""
    other = QColor(colour)
    return QColor.fromRgbF(
        *(
            low + share * (high - low)
            for low, high in zip(ground.getRgbF()[:3], other.getRgbF()[:3], strict=True)  # type: ignore[index]
        )
    )


def draw_scroll_bar(painter: QPainter, option: QStyleOption, bar: QScrollBar) -> None:
    """Draw a scroll bar's handle on the ground of what it scrolls."""
    above, extra = bar.parentWidget(), colours()
    area = above.parentWidget() if above is not None else None
    role = QPalette.ColorRole.Window
    if isinstance(area, QAbstractScrollArea) and area.viewport().autoFillBackground():
        role = area.viewport().backgroundRole()
    ground = bar.palette().color(role)
    painter.fillRect(bar.rect(), ground)
    if bar.maximum() == bar.minimum():
        return
    used = bar.isSliderDown() or bool(option.state & QStyle.StateFlag.State_MouseOver)
    handle = QRectF(scroll_bar_part(bar, QStyle.SubControl.SC_ScrollBarSlider))
    thick = _HANDLE + 2 if used else _HANDLE
    aside = (BAR - thick) / 2
    upright = bar.orientation() == Qt.Orientation.Vertical
    handle = (
        handle.adjusted(aside, 1, -aside, -1) if upright else handle.adjusted(1, aside, -1, -aside)
    )
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(_mixed(ground, extra.quiet, 0.9 if used else 0.55))
    painter.drawRoundedRect(handle, thick / 2, thick / 2)
    painter.restore()


def scroll_bar_part(bar: QScrollBar, part: QStyle.SubControl) -> QRect:
    """Return where the handle of a scroll bar is, or what is before, after or below it."""
    sub = QStyle.SubControl
    upright = bar.orientation() == Qt.Orientation.Vertical
    length = bar.height() if upright else bar.width()
    span = bar.maximum() - bar.minimum()
    shown = round(length * bar.pageStep() / max(span + bar.pageStep(), 1))
    handle = min(max(shown, LEAST_HANDLE), length)
    turned = bar.invertedAppearance()
    if not upright and bar.layoutDirection() == Qt.LayoutDirection.RightToLeft:
        turned = not turned
    begin = QStyle.sliderPositionFromValue(
        *(bar.minimum(), bar.maximum(), bar.sliderPosition(), length - handle), turned
    )
    first, last = {
        sub.SC_ScrollBarGroove: (0, length),
        sub.SC_ScrollBarSlider: (begin, begin + handle),
        sub.SC_ScrollBarSubPage: (0, begin),
        sub.SC_ScrollBarAddPage: (begin + handle, length),
    }.get(part, (0, 0))
    if upright:
        return QRect(0, first, bar.width(), last - first)
    return QRect(first, 0, last - first, bar.height())
