"""How controls are drawn: Fusion, but flat, with thin scroll bars and calm heads of tables."""

from __future__ import annotations

from functools import cache
from typing import Final

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPalette
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QComboBox,
    QHeaderView,
    QLineEdit,
    QPlainTextEdit,
    QProxyStyle,
    QPushButton,
    QScrollBar,
    QStyle,
    QStyleOption,
    QStyleOptionComboBox,
    QStyleOptionComplex,
    QStyleOptionSpinBox,
    QTabBar,
    QTextEdit,
    QToolButton,
    QWidget,
)

from fairdesk.gui.kit.look.drawing import (
    BAR,
    LEAST_HANDLE,
    draw_arrow,
    draw_button,
    draw_field,
    draw_frame,
    draw_hairline_below,
    draw_indicator,
    draw_scroll_bar,
    draw_tab,
    scroll_bar_part,
)
from fairdesk.gui.kit.look.tokens import TIGHT, WIDE, colours

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
_LYING: Final = Qt.Orientation.Horizontal
#: Areas that are typed into.
_TYPED: Final = (QPlainTextEdit, QTextEdit)
#: By how much tabs would be apart in height, and one above the other.
_LEVEL: Final = (
    QStyle.PixelMetric.PM_TabBarTabShiftVertical,
    QStyle.PixelMetric.PM_TabBarTabOverlap,
)


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
            return QSize(BAR, LEAST_HANDLE) if upright else QSize(LEAST_HANDLE, BAR)
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
            draw_button(painter, option, filled=bool(widget and widget.property(_FILLED)))
        elif element == QStyle.PrimitiveElement.PE_FrameLineEdit:
            draw_field(painter, option)
        elif element == QStyle.PrimitiveElement.PE_Frame:
            draw_frame(painter, option, typed=isinstance(widget, _TYPED))
        elif element == QStyle.PrimitiveElement.PE_FrameTabBarBase:
            draw_hairline_below(painter, option)
        elif element in _INDICATORS:
            draw_indicator(painter, option, round_=element != _INDICATORS[0])
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
            draw_scroll_bar(painter, option, widget)
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
        draw_field(painter, option, option.palette.color(QPalette.ColorRole.Base))
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
            draw_arrow(painter, rect.center(), way, QColor(tone))

    def subControlRect(  # noqa: N802 - Qt's name
        self,
        control: QStyle.ComplexControl,
        option: QStyleOptionComplex,
        part: QStyle.SubControl,
        widget: QWidget | None = None,
    ) -> QRect:
        """Return where the parts of a control are: a scroll bar has no arrows."""
        if control == QStyle.ComplexControl.CC_ScrollBar and isinstance(widget, QScrollBar):
            return scroll_bar_part(widget, part)
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
        """Give what is typed room at both sides, and tabs a style of their own."""
        super().polish(subject)  # type: ignore[call-overload]  # one of its forms takes it
        if isinstance(subject, QTabBar):
            subject.setStyle(_tab_style())
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
        """Draw a title where its cells are, and a hairline below it, but below no row's number."""
        kind = QStyle.ControlElement
        if element in (kind.CE_HeaderSection, kind.CE_HeaderEmptyArea):
            painter.fillRect(option.rect, option.palette.window())
            upright = isinstance(widget, QHeaderView) and widget.orientation() != _LYING
            if element == kind.CE_HeaderSection and not upright:
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


class _TabStyle(QProxyStyle):
    """Tabs that are names with a line below the chosen one; a style of its own as `_HeadStyle`."""

    def drawControl(  # noqa: N802 - Qt's name
        self,
        element: QStyle.ControlElement,
        option: QStyleOption,
        painter: QPainter,
        widget: QWidget | None = None,
    ) -> None:
        """Draw a tab flat."""
        if element == QStyle.ControlElement.CE_TabBarTabShape:
            draw_tab(painter, option)
            return
        super().drawControl(element, option, painter, widget)

    def pixelMetric(  # noqa: N802 - Qt's name
        self,
        metric: QStyle.PixelMetric,
        option: QStyleOption | None = None,
        widget: QWidget | None = None,
    ) -> int:
        """Return a length: no tab is lower than the chosen one, or below another."""
        if metric in _LEVEL:
            return 0
        return super().pixelMetric(metric, option, widget)


@cache
def _tab_style() -> QProxyStyle:
    return _TabStyle("Fusion")
