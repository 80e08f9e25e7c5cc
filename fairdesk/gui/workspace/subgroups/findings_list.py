"""Findings about groups as a list: one sentence each, its variants folded under it."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QMouseEvent,
    QPainter,
    QPalette,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
)

from fairdesk.charts.shapes import hatched_mark
from fairdesk.gui.kit import theme, tips
from fairdesk.gui.kit.table_model import ROOT, Index
from fairdesk.gui.workspace.subgroups.finding import Finding, Key
from fairdesk.results.subgroups import RuleSet
from fairdesk.wording.groups import subgroups as subgroup_words

_WRAPPED = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop
#: How high the two dots of a row are, and how far variants stand to the right.
_DOTS, _INDENT = 14, 18


class FindingsList(QTreeView):
    """The findings, each in a row; its variants open below it.

    Signals
    -------
    chosen : Finding
        Another one is chosen.
    opened
        The people inside the chosen one are to be shown.
    touched
        The auditor chose or opened one.
    """

    chosen = Signal(object)
    opened = Signal()
    touched = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._model = _Model(self)
        self._by_hand = True
        self.setModel(self._model)
        self.setItemDelegate(_Painter(self))
        self.setAccessibleName("Subgroups found")
        self.setAccessibleDescription(
            "Up and down select a subgroup, Right shows similar or complementary ones, Enter lists "
            "its members, T shows the chart as a table."
        )
        self.setHeaderHidden(True)
        self.setRootIsDecorated(False)
        self.setIndentation(_INDENT)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setExpandsOnDoubleClick(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.viewport().setAutoFillBackground(False)
        self.activated.connect(lambda _index: self.opened.emit())
        self.expanded.connect(lambda _index: self._touch())
        self.selectionModel().currentChanged.connect(self._choose)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is listed."""
        return self._model.findings

    @property
    def finding(self) -> Finding | None:
        """The one that is chosen."""
        return self._model.finding(self.currentIndex())

    def show_findings(self, findings: tuple[Finding, ...]) -> None:
        """List others; the one that is chosen stays so, else the first is."""
        if findings == self._model.findings:
            return
        kept = self.finding
        opened = {
            self._model.findings[row].key
            for row in range(len(self._model.findings))
            if self.isExpanded(self._model.index(row, 0))
        }
        self._by_hand = False
        self._model.show(findings)
        for row, each in enumerate(findings):
            if each.key in opened:
                self.expand(self._model.index(row, 0))
        if kept is None or not self._select(kept.key):
            self.setCurrentIndex(self._model.index(0, 0))
        self._by_hand = True

    def select(self, key: Key) -> bool:
        """Choose a finding by what it says; tells whether it is listed."""
        return self._select(key)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Break the sentences anew."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.scheduleDelayedItemsLayout()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Follow the theme."""
        super().changeEvent(event)
        if theme.palette_changed(event):
            self.viewport().update()

    def _select(self, key: Key) -> bool:
        index = self._model.place(key)
        if not index.isValid():
            return False
        if index.parent().isValid():
            self.expand(index.parent())
        self.selectionModel().setCurrentIndex(
            index, QItemSelectionModel.SelectionFlag.ClearAndSelect
        )
        if self._by_hand:
            self.scrollTo(index)
        return True

    def _choose(self, index: QModelIndex) -> None:
        finding = self._model.finding(index)
        if finding is not None:
            self.chosen.emit(finding)
            self._touch()

    def _touch(self) -> None:
        if self._by_hand:
            self.touched.emit()


class _Model(QAbstractItemModel):
    """Findings, their variants below them; a variant's index holds its leader's row, from 1."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.findings: tuple[Finding, ...] = ()
        self._places: dict[Key, tuple[int, int | None]] = {}

    def show(self, findings: tuple[Finding, ...]) -> None:
        self.beginResetModel()
        self.findings = findings
        self._places = {}
        for row, each in enumerate(findings):
            self._places[each.key] = (row, None)
            for place, variant in enumerate(each.variants):
                self._places.setdefault(variant.key, (row, place))
        self.endResetModel()

    def place(self, key: Key) -> QModelIndex:
        """Return where a finding stands; an invalid index where it does not."""
        if key not in self._places:
            return QModelIndex()
        row, variant = self._places[key]
        above = self.index(row, 0)
        return above if variant is None else self.index(variant, 0, above)

    def finding(self, index: Index) -> Finding | None:
        if not index.isValid():
            return None
        leader = index.internalId()
        if not leader:
            return self.findings[index.row()]
        return self.findings[leader - 1].variants[index.row()]

    def rowCount(self, parent: Index = ROOT) -> int:  # noqa: N802 - Qt's name
        if not parent.isValid():
            return len(self.findings)
        return 0 if parent.internalId() else len(self.findings[parent.row()].variants)

    def columnCount(self, _parent: Index = ROOT) -> int:  # noqa: N802 - Qt's name
        return 1

    def index(self, row: int, column: int, parent: Index = ROOT) -> QModelIndex:
        if not 0 <= row < self.rowCount(parent) or column:
            return QModelIndex()
        return self.createIndex(row, column, parent.row() + 1 if parent.isValid() else 0)

    def parent(self, index: Index = ROOT) -> QModelIndex:  # type: ignore[override]  # its other form gives the owner
        leader = index.internalId() if index.isValid() else 0
        return self.createIndex(leader - 1, 0, 0) if leader else QModelIndex()

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        finding = self.finding(index)
        if finding is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return finding.sentence
        if role == Qt.ItemDataRole.AccessibleTextRole:
            texts = (finding.sentence, finding.evidence, finding.doubt, variants_text(finding))
            return ". ".join(part for part in texts if part).replace("\n", ", ")
        if role == Qt.ItemDataRole.ToolTipRole:
            return tips.plain(finding.sentence)
        return None


def variants_text(finding: Finding) -> str:
    """Say how many variants are folded under a finding; empty where none are."""
    count = len(finding.variants)
    text = subgroup_words.variants_text(finding.mined, count)
    if not count:
        return ""
    return f"and {text} {'that it explains' if finding.mined.texts else 'similar or complementary'}"


@dataclass(frozen=True)
class _Fonts:
    """The type of a row's parts."""

    sentence: QFont
    small: QFont

    @classmethod
    def of(cls, font: QFont, *, leads: bool) -> _Fonts:
        return cls(theme.scaled(font, 1.0, strong=leads), theme.scaled(font, 0.88))


class _Painter(QStyledItemDelegate):
    """Draws a finding: its sentence, both rates as dots on one scale, what it rests on."""

    def __init__(self, view: FindingsList) -> None:
        super().__init__(view)
        self._view = view
        self._heights: dict[tuple[str, int, int], int] = {}

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: N802 - Qt's name
        finding = _finding_at(index)
        wide = self._room(index)
        if finding is None or wide <= 0:
            return QSize(0, 0)
        name = (finding.sentence, wide, len(finding.variants))
        if name not in self._heights:
            # a window that is dragged has many widths
            if len(self._heights) > 5_000:
                self._heights.clear()
            *_parts, bottom = self._parts(option.font, finding, QRect(0, 0, wide, 0))
            self._heights[name] = bottom
        return QSize(wide, self._heights[name])

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        finding = _finding_at(index)
        if finding is None:
            return
        rect: QRect = option.rect
        state = option.state
        palette: QPalette = option.palette
        colours = theme.colours()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground = QRectF(rect).adjusted(1, 1, -1, -theme.TIGHT)
        chosen = bool(state & QStyle.StateFlag.State_Selected)
        focused = chosen and self._view.hasFocus()
        painter.setPen(QPen(QColor(colours.accent if focused else colours.line), 1))
        painter.setBrush(QColor(colours.tint if chosen else colours.card))
        painter.drawRoundedRect(ground, 6, 6)
        fonts = _Fonts.of(option.font, leads=not index.internalId())
        upper, dots, lower, doubt, variants, _bottom = self._parts(option.font, finding, rect)
        painter.setFont(fonts.sentence)
        painter.setPen(palette.color(QPalette.ColorRole.WindowText))
        painter.drawText(upper, _WRAPPED, finding.sentence)
        if finding.rule_set.outcome:
            _paint_dots(painter, QRectF(dots), finding.rule_set, colours)
        painter.setFont(fonts.small)
        painter.setPen(QColor(colours.quiet))
        painter.drawText(lower, _WRAPPED, finding.evidence)
        painter.setPen(QColor(colours.wrong))
        painter.drawText(doubt, _WRAPPED, finding.doubt)
        if finding.variants:
            opened = self._view.isExpanded(_fleeting(index))
            painter.setPen(QColor(colours.accent))
            painter.drawText(
                variants, _WRAPPED, f"{'▾' if opened else '▸'} {variants_text(finding)}"
            )
        painter.restore()

    def editorEvent(  # noqa: N802 - Qt's name
        self, event: QEvent, model: QAbstractItemModel, option: QStyleOptionViewItem, index: Index
    ) -> bool:
        """Open or close the variants at a click on their line."""
        finding = _finding_at(index)
        if (
            finding is not None
            and finding.variants
            and isinstance(event, QMouseEvent)
            and event.type() == QEvent.Type.MouseButtonRelease
        ):
            rect: QRect = option.rect
            *_above, variants, _bottom = self._parts(option.font, finding, rect)
            if variants.contains(event.position().toPoint()):
                at = _fleeting(index)
                self._view.setExpanded(at, not self._view.isExpanded(at))
                return True
        return super().editorEvent(event, model, option, index)

    def _room(self, index: Index) -> int:
        """How wide a row is; with the scroll bar beside it, so that all are measured once."""
        indent = _INDENT if index.internalId() else 0
        bar = self._view.verticalScrollBar()
        beside = 0 if bar.isVisible() else bar.sizeHint().width()
        return self._view.viewport().width() - beside - indent

    def _parts(
        self, font: QFont, finding: Finding, rect: QRect
    ) -> tuple[QRect, QRect, QRect, QRect, QRect, int]:
        """Lay a row out: sentence, dots, evidence, doubt, variants, and the row's height."""
        fonts = _Fonts.of(font, leads=True)
        inside = rect.adjusted(theme.GAP, theme.NEAR, -theme.GAP, 0)
        top = inside.top()

        def below(text: str, font: QFont, gap: int = 2) -> QRect:
            nonlocal top
            if not text:
                return QRect(QPoint(inside.left(), top), QSize(0, 0))
            whole = QRect(inside.left(), top, inside.width(), 10_000)
            high = _height(QFontMetrics(font), whole, text)
            placed = QRect(inside.left(), top, inside.width(), high)
            top += high + gap
            return placed

        upper = below(finding.sentence, fonts.sentence, theme.TIGHT)
        dots = QRect(inside.left(), top, inside.width(), _DOTS)
        top += (_DOTS + theme.TIGHT) if finding.rule_set.outcome else 0
        lower = below(finding.evidence, fonts.small)
        doubt = below(finding.doubt, fonts.small)
        variants = below(variants_text(finding), fonts.small)
        return upper, dots, lower, doubt, variants, top - rect.top() + theme.NEAR + theme.TIGHT


def _height(metrics: QFontMetrics, room: QRect, text: str) -> int:
    """Return how high a text is; to break lines takes ten times as long as to see that all fit."""
    lines = text.split("\n")
    if all(metrics.horizontalAdvance(line) <= room.width() for line in lines):
        return metrics.lineSpacing() * (len(lines) - 1) + metrics.height()
    return metrics.boundingRect(room, _WRAPPED, text).height()


def _fleeting(index: Index) -> QModelIndex:
    """Return an index as the view wants it."""
    return index if isinstance(index, QModelIndex) else QModelIndex()


def _finding_at(index: Index) -> Finding | None:
    model = index.model()
    return model.finding(index) if isinstance(model, _Model) else None


def _paint_dots(painter: QPainter, rect: QRectF, rule_set: RuleSet, colours: theme.Colours) -> None:
    """Draw both rates on a scale from 0 to 100 %, hatched where they are estimated."""
    radius = 4.5
    left, right = rect.left() + radius, rect.right() - radius
    middle = rect.center().y()
    inside, outside = (
        QPointF(left + (right - left) * min(max(rate, 0.0), 1.0), middle)
        for rate in subgroup_words.shown_rates(rule_set)
    )
    painter.setPen(QPen(QColor(colours.line), 2))
    painter.drawLine(QPointF(left, middle), QPointF(right, middle))
    painter.setPen(QPen(QColor(colours.discriminatory), 2))
    painter.drawLine(inside, outside)
    painter.setBrush(QColor(colours.card))
    for at, colour in ((outside, colours.undecided), (inside, colours.discriminatory)):
        painter.setPen(QPen(QColor(colour), 1.8))
        painter.drawEllipse(at, radius, radius)
        painter.setPen(QPen(QColor(colour), 1.3))
        if subgroup_words.is_counted(rule_set):
            continue
        for start, end in hatched_mark(at.x(), at.y(), radius):
            painter.drawLine(QPointF(*start), QPointF(*end))


__all__ = ["FindingsList", "variants_text"]
