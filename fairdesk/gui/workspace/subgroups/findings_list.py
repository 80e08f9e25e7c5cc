"""Findings about groups as a list: one sentence each, its variants folded under it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

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

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.gui.kit import theme, tips
from fairdesk.gui.kit.table_model import ROOT, Index
from fairdesk.gui.workspace.common.answering import Run, gaps
from fairdesk.results.conditions import Conditions
from fairdesk.results.events import Metric
from fairdesk.results.subgroups import LinearGroup, RuleSearchSummary, RuleSet
from fairdesk.wording import subgroups as subgroup_words
from fairdesk.wording import words
from fairdesk.wording.rules import rule_phrase

#: A rule set by what it says: the outcome, and its conditions.
Key = tuple[str, Conditions]
_WRAPPED = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop
#: How high the two dots of a row are, and how far variants stand to the right.
_DOTS, _INDENT = 14, 18


@dataclass(frozen=True)
class Finding:
    """A rule set as the auditor reads it; its words are made when they are read.

    Attributes
    ----------
    rule_set : RuleSet
        As measured.
    variants : tuple[Finding, ...]
        Those that describe nearly the same people.
    mined : Mined
        The search that found it.
    spec : AuditSpec
        The question.
    """

    rule_set: RuleSet
    variants: tuple[Finding, ...]
    mined: RuleSearchSummary = field(compare=False)
    spec: AuditSpec = field(compare=False, repr=False)

    @property
    def key(self) -> Key:
        """What it says."""
        return self.rule_set.outcome, self.rule_set.conditions

    @cached_property
    def phrase(self) -> str:
        """Its rule."""
        return rule_phrase(self.spec, self.rule_set.conditions)

    @cached_property
    def sentence(self) -> str:
        """Its rule and both rates."""
        return subgroup_words.rule_set_sentence(self.spec, self.rule_set)

    @cached_property
    def evidence(self) -> str:
        """The difference with its interval, the support, the corrected p-value, in short."""
        return evidence_text(self.rule_set)

    @property
    def doubt(self) -> str:
        """Why it must be read with care; mostly empty."""
        return doubt_text(self.rule_set)

    def speaks_of(self, text: str, attribute: str) -> bool:
        """Return whether its rule holds a text, and speaks of an attribute; empty is any."""
        if attribute and all(attribute != each.attribute for each in self.rule_set.conditions):
            return False
        return not text or text.casefold() in self.phrase.casefold()


def rate_text(outcome: str, value: float) -> str:
    """Write a rate: ``20.7 %``; a mean score, which is about no outcome, as ``0.207``."""
    return words.percent(value, 1.0) if outcome else f"{value:.3f}"


def score_text(outcome: str, value: float) -> str:
    """Write a difference of rates: ``62.4 points``; of mean scores ``0.624``."""
    return f"{100 * value:.1f}{words.NBSP}points" if outcome else f"{value:.3f}"


def _signed(outcome: str, value: float) -> str:
    shown = 100 * value if outcome else value
    return f"{shown:+.1f}".replace("-", "−") if outcome else f"{shown:+.3f}".replace("-", "−")


def greatest_text(run: Run) -> str:
    """Write the greatest difference that a run about groups found; empty where it has none."""
    ranked = [summary[0] for _, summary in subgroup_words.mined_with(run.figures) if summary]
    best = max(ranked, key=lambda each: each.score, default=None)
    if best is not None:
        return score_text(best.outcome, best.score)
    apart = [each.gap for each in gaps(run)]
    apart += [each.score for each in run.figures if isinstance(each, LinearGroup)]
    return f"{100 * max(apart):.1f}{words.NBSP}points" if apart else ""


def evidence_text(rule_set: RuleSet) -> str:
    """Write in short what a rule set rests on."""
    outcome = rule_set.outcome
    low, high = (_signed(outcome, end) for end in (rule_set.low, rule_set.high))
    difference = _signed(outcome, rule_set.phi_in - rule_set.phi_out)
    points = f"{words.NBSP}points" if outcome else ""
    of = "texts" if any(each.term for each in rule_set.conditions) else "rows"
    support = f"{words.percent(rule_set.support, 1.0)} of {of}, {words.number(rule_set.rows)}"
    corrected = f"p{words.NBSP}{words.p_text(rule_set.p)}"
    return f"{difference}{points} ({low} to {high})\n{support}  ·  {corrected}"


def doubt_text(rule_set: RuleSet) -> str:
    """Say in a few words why a rule set must be read with care; mostly empty."""
    doubts = []
    if rule_set.p > subgroup_words.CHANCE:
        doubts.append("? Chance alone may have made it")
    if rule_set.holds_on_data is None:
        doubts.append("? The untouched rows cannot tell")
    elif not rule_set.holds_on_data:
        doubts.append("≠ The untouched rows do not show it")
    return "\n".join(doubts)


def findings_of(spec: AuditSpec, figures: Iterable[Metric]) -> tuple[Finding, ...]:
    """Put rule sets into sentences, variants under their leader.

    The highest scores come first; those that leave too few people outside last.
    """
    found = [
        lead
        for mined, summary in subgroup_words.mined_with(figures)
        for lead in _led(spec, mined, summary)
    ]

    def rank(each: Finding) -> tuple[bool, float]:
        few = subgroup_words.leaves_few(each.mined, each.rule_set)
        return few, -each.rule_set.score

    return tuple(sorted(found, key=rank))


def _led(spec: AuditSpec, mined: RuleSearchSummary, rule_sets: Sequence[RuleSet]) -> list[Finding]:
    """Make the findings about one outcome."""
    following: defaultdict[int, list[Finding]] = defaultdict(list)
    for each in rule_sets:
        # one whose leader is not among those that were kept stands for itself
        if 0 <= each.leader < len(rule_sets):
            following[each.leader].append(Finding(each, (), mined, spec))
    return [
        Finding(each, tuple(following[place]), mined, spec)
        for place, each in enumerate(rule_sets)
        if not 0 <= each.leader < len(rule_sets)
    ]


def matching(
    findings: Iterable[Finding], text: str = "", attribute: str = "", outcome: str | None = None
) -> tuple[Finding, ...]:
    """Pick the findings that are wanted, and those with a variant that is."""
    return tuple(
        each
        for each in findings
        if (outcome is None or each.rule_set.outcome == outcome)
        and any(one.speaks_of(text, attribute) for one in (each, *each.variants))
    )


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
        self.setAccessibleName("Findings about groups")
        self.setAccessibleDescription(
            "Up and down walk, Right opens the variants of a finding, Enter goes to the people "
            "inside, T shows the chart as a table."
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
    return f"and {text} {'variant' if count == 1 else 'variants'}" if count else ""


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
        self,
        event: QEvent,
        model: QAbstractItemModel,
        option: QStyleOptionViewItem,
        index: Index,
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
    """Draw both rates on a scale from 0 to 100 %: filled inside the group, hollow outside."""
    radius = 4.5
    left, right = rect.left() + radius, rect.right() - radius
    middle = rect.center().y()
    inside, outside = (
        QPointF(left + (right - left) * min(max(rate, 0.0), 1.0), middle)
        for rate in (rule_set.phi_in, rule_set.phi_out)
    )
    painter.setPen(QPen(QColor(colours.line), 2))
    painter.drawLine(QPointF(left, middle), QPointF(right, middle))
    painter.setPen(QPen(QColor(colours.discriminatory), 2))
    painter.drawLine(inside, outside)
    painter.setBrush(QColor(colours.card))
    painter.drawEllipse(outside, radius, radius)
    painter.setBrush(QColor(colours.discriminatory))
    painter.drawEllipse(inside, radius, radius)


__all__ = [
    "Finding",
    "FindingsList",
    "Key",
    "doubt_text",
    "evidence_text",
    "findings_of",
    "greatest_text",
    "matching",
    "rate_text",
    "score_text",
    "variants_text",
]
