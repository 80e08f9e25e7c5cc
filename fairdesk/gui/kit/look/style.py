"""How controls are drawn: Fusion, but flat, with thin scroll bars and calm heads of tables."""

from __future__ import annotations

from functools import cache
from typing import Final

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPalette, QPen
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QProxyStyle,
    QPushButton,
    QScrollBar,
    QStyle,
    QStyleOption,
    QStyleOptionComboBox,
    QStyleOptionComplex,
    QStyleOptionSpinBox,
    QToolButton,
    QWidget,
)

from fairdesk.gui.kit.look.tokens import ROUNDED, TIGHT, WIDE, colours

#: Set on the one button of a page that is filled.
_FILLED: Final = "filled"
#: A box to check, and the round one of which one is.
_INDICATORS: Final = (
    QStyle.PrimitiveElement.PE_IndicatorCheckBox,
    QStyle.PrimitiveElement.PE_IndicatorRadioButton,
)
_COMBO: Final = QStyle.ComplexControl.CC_ComboBox
_SPIN: Final = QStyle.ComplexControl.CC_SpinBox
_TOOL: Final = QStyle.ComplexControl.CC_ToolButton
#: What of a button with a menu is pressed, and what opens the menu.
_PRESSED, _MENU = QStyle.SubControl.SC_ToolButton, QStyle.SubControl.SC_ToolButtonMenu
_ENABLED: Final = QStyle.StateFlag.State_Enabled
#: Where a choice shows its text, and how that is cut.
_TEXT, _CUT = QStyle.SubControl.SC_ComboBoxEditField, Qt.TextElideMode.ElideRight
_HEAD: Final = QStyle.ContentsType.CT_HeaderSection
#: Half the width of an arrow.
_ARROW: Final = 3.5
#: A scroll bar's thickness, that of its handle, and the handle's least length.
_BAR, _HANDLE, _LEAST_HANDLE = 12, 6, 32


def fill(button: QPushButton) -> None:
    """Fill a button: it is what one would press next. At most one of a page is so."""
    button.setProperty(_FILLED, True)  # noqa: FBT003 - Qt's own
    palette = QPalette()
    for group in (QPalette.ColorGroup.Active, QPalette.ColorGroup.Inactive):
        palette.setColor(group, QPalette.ColorRole.ButtonText, QColor("#FFFFFF"))
    button.setPalette(palette)


class Style(QProxyStyle):
    """Fusion with more room in what is pressed and typed into, flat buttons, thin scroll bars."""

    _ROOM: Final = {
        QStyle.ContentsType.CT_PushButton: QSize(16, 8),
        QStyle.ContentsType.CT_ComboBox: QSize(4, 8),
        QStyle.ContentsType.CT_LineEdit: QSize(4, 8),
        # around a field that has its room already: as high as that
        QStyle.ContentsType.CT_SpinBox: QSize(4, -1),
    }

    def sizeFromContents(  # noqa: N802 - Qt's name
        self,
        kind: QStyle.ContentsType,
        option: QStyleOption,
        size: QSize,
        widget: QWidget | None = None,
    ) -> QSize:
        """Return the size of a control."""
        if kind == QStyle.ContentsType.CT_ScrollBar and isinstance(widget, QScrollBar):
            upright = widget.orientation() == Qt.Orientation.Vertical
            return QSize(_BAR, _LEAST_HANDLE) if upright else QSize(_LEAST_HANDLE, _BAR)
        if kind == QStyle.ContentsType.CT_PushButton and _is_flat(widget):
            return size + QSize(2 * TIGHT, 2 * TIGHT)
        fitting = super().sizeFromContents(
            kind,
            option,
            size,
            widget,  # type: ignore[arg-type]  # Qt takes none, its stub does not
        )
        return fitting + self._ROOM[kind] if kind in self._ROOM else fitting

    def drawPrimitive(  # noqa: N802 - Qt's name
        self,
        element: QStyle.PrimitiveElement,
        option: QStyleOption,
        painter: QPainter,
        widget: QWidget | None = None,
    ) -> None:
        """Draw buttons and fields flat."""
        if element == QStyle.PrimitiveElement.PE_PanelButtonCommand:
            _draw_button(painter, option, filled=bool(widget and widget.property(_FILLED)))
        elif element == QStyle.PrimitiveElement.PE_FrameLineEdit:
            _draw_field(painter, option)
        elif element in _INDICATORS:
            _draw_indicator(painter, option, round_=element != _INDICATORS[0])
        elif element != QStyle.PrimitiveElement.PE_PanelScrollAreaCorner:
            super().drawPrimitive(element, option, painter, widget)

    def drawComplexControl(  # noqa: N802 - Qt's name
        self,
        control: QStyle.ComplexControl,
        option: QStyleOptionComplex,
        painter: QPainter,
        widget: QWidget | None = None,
    ) -> None:
        """Draw scroll bars and fields with arrows flat, and cut a choice as texts are cut."""
        if control == QStyle.ComplexControl.CC_ScrollBar and isinstance(widget, QScrollBar):
            _draw_scroll_bar(painter, option, widget)
        elif isinstance(option, QStyleOptionSpinBox):
            self._draw_spin_box(painter, option, widget)
        else:
            if isinstance(option, QStyleOptionComboBox):
                # the text is drawn next, with the same option
                room = self.subControlRect(control, option, _TEXT, widget).width() - 2
                text = option.currentText
                option.currentText = option.fontMetrics.elidedText(text, _CUT, room)
            super().drawComplexControl(control, option, painter, widget)

    def _draw_spin_box(
        self, painter: QPainter, option: QStyleOptionSpinBox, widget: QWidget | None
    ) -> None:
        """Draw a field that is typed into, and its two arrows."""
        sub = QStyle.SubControl
        _draw_field(painter, option, option.palette.color(QPalette.ColorRole.Base))
        if option.buttonSymbols == QAbstractSpinBox.ButtonSymbols.NoButtons:
            return
        step = QAbstractSpinBox.StepEnabledFlag
        for part, way, allowed in (
            (sub.SC_SpinBoxUp, -1, step.StepUpEnabled),
            (sub.SC_SpinBoxDown, 1, step.StepDownEnabled),
        ):
            rect = QRectF(self.subControlRect(_SPIN, option, part, widget))
            can = bool(option.stepEnabled & allowed and option.state & _ENABLED)
            over = can and option.activeSubControls & part
            tone = colours().accent if over else colours().quiet if can else colours().line
            _draw_arrow(painter, rect.center(), way, QColor(tone))

    def subControlRect(  # noqa: N802 - Qt's name
        self,
        control: QStyle.ComplexControl,
        option: QStyleOptionComplex,
        part: QStyle.SubControl,
        widget: QWidget | None = None,
    ) -> QRect:
        """Return where the parts of a control are: a scroll bar has no arrows."""
        if control == QStyle.ComplexControl.CC_ScrollBar and isinstance(widget, QScrollBar):
            return _scroll_bar_part(widget, part)
        if control == _TOOL and part in (_PRESSED, _MENU) and _offers_more(widget):
            # wide enough to be hit
            at = option.rect.width() - WIDE
            return option.rect.adjusted(*((at, 0, 0, 0) if part == _MENU else (0, 0, -WIDE, 0)))
        rect = super().subControlRect(control, option, part, widget)  # type: ignore[arg-type]  # as above
        if part == _TEXT and control == _COMBO:
            # a text does not touch the edge
            return rect.adjusted(TIGHT, 0, 0, 0)
        return rect

    def polish(self, subject: object) -> None:
        """Give what is typed room at both sides."""
        super().polish(subject)  # type: ignore[call-overload]  # one of its forms takes it
        if isinstance(subject, QLineEdit) and not isinstance(subject.parent(), QComboBox):
            subject.setTextMargins(TIGHT, 0, TIGHT, 0)


def _offers_more(widget: QWidget | None) -> bool:
    """Return whether a button has an arrow beside it that opens a menu."""
    menu = QToolButton.ToolButtonPopupMode.MenuButtonPopup
    return isinstance(widget, QToolButton) and widget.popupMode() == menu


def _is_flat(widget: QWidget | None) -> bool:
    """Return whether a button shows its text only: a link, in line with the text around it."""
    return isinstance(widget, QPushButton) and widget.isFlat()


class _HeadStyle(QProxyStyle):
    """Titles of columns in line with padded cells, on a flat ground.

    A style of its own, since what `Style` overrides is called for each cell of a table too.
    """

    def drawControl(  # noqa: N802 - Qt's name
        self,
        element: QStyle.ControlElement,
        option: QStyleOption,
        painter: QPainter,
        widget: QWidget | None = None,
    ) -> None:
        """Draw a title where its cells are, and a hairline below it."""
        kind = QStyle.ControlElement
        if element in (kind.CE_HeaderSection, kind.CE_HeaderEmptyArea):
            painter.fillRect(option.rect, option.palette.window())
            if element == kind.CE_HeaderSection:
                line = QRect(option.rect)
                line.setTop(line.bottom())
                painter.fillRect(line, QColor(colours().edge))
            return
        if element == kind.CE_HeaderLabel:
            option.rect = option.rect.adjusted(TIGHT, 0, -TIGHT, 0)
        super().drawControl(element, option, painter, widget)

    def sizeFromContents(  # noqa: N802 - Qt's name
        self,
        kind: QStyle.ContentsType,
        option: QStyleOption,
        size: QSize,
        widget: QWidget | None = None,
    ) -> QSize:
        """Return the size of a title."""
        fitting = super().sizeFromContents(kind, option, size, widget)  # type: ignore[arg-type]  # as above
        return fitting + QSize(2 * TIGHT, 0) if kind == _HEAD else fitting


@cache
def head_style() -> QProxyStyle:
    """Return how titles of columns are drawn; Qt keeps no style of a widget alive."""
    return _HeadStyle("Fusion")


def _draw_button(painter: QPainter, option: QStyleOption, *, filled: bool) -> None:
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


def _draw_arrow(painter: QPainter, at: QPointF, way: int, colour: QColor) -> None:
    """Draw a small arrow, up (-1) or down (1)."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    half = 1.5 * way
    ends = ((-_ARROW, -half), (_ARROW, -half), (0, _ARROW * way - half))
    painter.drawPolygon([at + QPointF(*end) for end in ends])
    painter.restore()


def _draw_field(painter: QPainter, option: QStyleOption, ground: QColor | None = None) -> None:
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


def _draw_indicator(painter: QPainter, option: QStyleOption, *, round_: bool) -> None:
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


def _mixed(ground: QColor, colour: str, share: float) -> QColor:
    """Mix two colours: ``share`` of the second."""
    other = QColor(colour)
    return QColor.fromRgbF(
        *(
            low + share * (high - low)
            for low, high in zip(ground.getRgbF()[:3], other.getRgbF()[:3], strict=True)  # type: ignore[index]
        )
    )


def _draw_scroll_bar(painter: QPainter, option: QStyleOption, bar: QScrollBar) -> None:
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
    handle = QRectF(_scroll_bar_part(bar, QStyle.SubControl.SC_ScrollBarSlider))
    thick = _HANDLE + 2 if used else _HANDLE
    aside = (_BAR - thick) / 2
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


def _scroll_bar_part(bar: QScrollBar, part: QStyle.SubControl) -> QRect:
    """Return where the handle of a scroll bar is, or what is before, after or below it."""
    sub = QStyle.SubControl
    upright = bar.orientation() == Qt.Orientation.Vertical
    length = bar.height() if upright else bar.width()
    span = bar.maximum() - bar.minimum()
    shown = round(length * bar.pageStep() / max(span + bar.pageStep(), 1))
    handle = min(max(shown, _LEAST_HANDLE), length)
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
