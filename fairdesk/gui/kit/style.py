"""How controls are drawn: Fusion, but flat, with thin scroll bars and cards; spacing, colours."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from PySide6.QtCore import QEvent, QObject, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QPalette, QPen
from PySide6.QtWidgets import (
    QAbstractScrollArea,
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

#: Spacing in logical pixels, on a grid of 8: within a group (half of it), between what belongs
#: together, between groups, between parts, beside a page.
TIGHT, NEAR, GAP, WIDE, PAGE = 4, 8, 16, 24, 32
#: Around a page: left, top, right, bottom.
AROUND = (PAGE, WIDE, PAGE, GAP)
#: How round the corners of cards and of buttons are.
ROUND, ROUNDED = 8, 6


@dataclass(frozen=True)
class Colours:
    """What a palette has no role for.

    Attributes
    ----------
    consistent, discriminatory, undecided : str
        The verdicts; each is shown with a mark or a word beside it, never by colour alone.
    quiet : str
        Text that explains, readable (4.5:1) on window and base.
    line : str
        Hairlines and borders of cards.
    edge : str
        The edge of what can be pressed: told from what is around it (3:1).
    card : str
        The ground of a card.
    accent : str
        What is chosen or can be pressed.
    tint : str
        The ground of what is chosen.
    notice : str
        The ground of a message that needs attention.
    wrong : str
        Text that tells of an error or a blocked step.
    bar : str
        Bars that only describe the data and judge nothing.
    series : tuple of str
        Lines of charts: the Okabe-Ito colours, told apart with any kind of colour vision, made
        darker or lighter until their labels can be read.
    """

    consistent: str
    discriminatory: str
    undecided: str
    quiet: str
    line: str
    edge: str
    card: str
    accent: str
    tint: str
    notice: str
    wrong: str
    bar: str
    series: tuple[str, ...]


LIGHT = Colours(
    consistent="#0072B2",
    discriminatory="#D55E00",
    undecided="#7F7F7F",
    quiet="#5A626E",
    line="#D5DAE1",
    edge="#848C98",
    card="#FFFFFF",
    accent="#0069A5",
    tint="#E3F0F9",
    notice="#FFF4E5",
    wrong="#A84300",
    bar="#8A9BB0",
    series=("#0072B2", "#946300", "#00785A", "#A34D87", "#2A78AD", "#B34700"),
)
DARK = Colours(
    consistent="#4DA8E0",
    discriminatory="#F28C43",
    undecided="#9AA0A8",
    quiet="#A3ABB6",
    line="#434A53",
    edge="#7A838F",
    card="#2A2F36",
    accent="#6CBBEF",
    tint="#1F3A4F",
    notice="#3B2E1E",
    wrong="#F5A066",
    bar="#66788E",
    series=("#4DA8E0", "#E69F00", "#1FBF8F", "#E08FBE", "#A9D8F5", "#F28C43"),
)


def is_dark(palette: QPalette) -> bool:
    """Return whether a palette is a dark one."""
    return palette.color(QPalette.ColorRole.Window).lightness() < 128


def colours() -> Colours:
    """Return the colours that go with the application's palette."""
    return DARK if is_dark(QGuiApplication.palette()) else LIGHT


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
        """Give what is typed room at both sides, tabs a style of their own, and fields calm."""
        super().polish(subject)  # type: ignore[call-overload]  # one of its forms takes it
        if isinstance(subject, QComboBox | QAbstractSpinBox):
            subject.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            subject.installEventFilter(_no_wheel())
        if isinstance(subject, QTabBar):
            subject.setStyle(_tab_style())
        if isinstance(subject, QLineEdit) and not isinstance(subject.parent(), QComboBox):
            subject.setTextMargins(TIGHT, 0, TIGHT, 0)


class _NoWheel(QObject):
    """Lets the wheel scroll the page, not change a value that the pointer happens to be over."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        if event.type() != QEvent.Type.Wheel:
            return False
        if not isinstance(watched, QWidget) or watched.hasFocus():
            return False
        event.ignore()
        return True


@cache
def _no_wheel() -> _NoWheel:
    return _NoWheel()


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
