"""The rules around a finding: broader and narrower ones, and which part of its rule carries it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QEvent, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QHeaderView,
    QStyleOptionViewItem,
    QTableWidget,
    QTableWidgetItem,
)

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.gui.kit import theme, tips
from fairdesk.gui.kit.table_model import Index
from fairdesk.gui.kit.tables import (
    Padded,
    aligned,
    colour_links,
    head_columns,
    height_around,
    read_only,
)
from fairdesk.gui.workspace.subgroups.finding import gap_text, rate_text, score_text
from fairdesk.results.conditions import Conditions
from fairdesk.results.subgroups import RuleSet, Variant
from fairdesk.wording import words
from fairdesk.wording.rules import rule_phrase

_SHARE = Qt.ItemDataRole.UserRole
_HEADER = ("Rule", "Gap", "Rate in the\nsubgroup", "Support")
#: The title of gaps of rates, and how long the longest bar is.
_POINTS, _BAR = "Gap,\npercentage points", 40
#: How a rule stands to that in the middle: its sign, and in words.
_NAMES = {"broader": ("↑", "broader"), "this": ("●", "this rule"), "narrower": ("↓", "narrower")}


@dataclass(frozen=True)
class Step:
    """A rule set of the lattice.

    Attributes
    ----------
    kind : str
        How it stands to the finding in the middle.
    text : str
        What it says, told from that one.
    whole : str
        Its whole rule.
    conditions : Conditions
        The same as measured.
    score, phi_in, support : float
        As measured.
    """

    kind: Literal["broader", "this", "narrower"]
    text: str
    whole: str
    conditions: Conditions
    score: float
    phi_in: float
    support: float


def change_text(spec: AuditSpec, old: Conditions, new: Conditions) -> str:
    """Say which rule another is: ``without age 40 and over``, or the whole rule if one changed."""
    after = {each.attribute for each in new}
    gone = tuple(each for each in old if each.attribute not in after)
    if gone and set(new) <= set(old):
        return f"without {rule_phrase(spec, gone)}"
    return rule_phrase(spec, new)


def steps_of(spec: AuditSpec, rule_set: RuleSet) -> tuple[Step, ...]:
    """Return the lattice around a rule set from the most general on."""

    def step(kind: Literal["broader", "this", "narrower"], each: RuleSet | Variant) -> Step:
        whole = rule_phrase(spec, each.conditions)
        change = change_text(spec, rule_set.conditions, each.conditions)
        text = whole if kind == "this" else change
        return Step(kind, text, whole, each.conditions, each.score, each.phi_in, each.support)

    return (
        *(step("broader", each) for each in rule_set.broader),
        step("this", rule_set),
        *(step("narrower", each) for each in rule_set.narrower),
    )


def carried(spec: AuditSpec, rule_set: RuleSet) -> str:
    """Say which part of a rule its difference hangs on; empty where that is not known."""
    if len(rule_set.conditions) < 2:
        return ""
    left = {}
    for each in rule_set.broader:
        gone = [one for one in rule_set.conditions if one not in each.conditions]
        names = {one.attribute for one in each.conditions}
        if len(gone) == 1 and gone[0].attribute not in names:
            left[gone[0]] = each.score
    if not left:
        return ""
    ranked = sorted(left, key=lambda part: left[part])
    outcome = rule_set.outcome
    first = ranked[0]
    lost = rule_set.score - left[first]
    name = words.quoted(first.attribute)
    rest = score_text(outcome, left[first])
    whole = score_text(outcome, rule_set.score)
    if lost < 0.1 * rule_set.score:
        return f"No single condition explains the gap: without that on {name} it is still {rest}."
    part = rule_phrase(spec, (first,))
    text = f"The gap depends most on {part}: without it, the gap is {rest} instead of {whole}."
    if len(ranked) > 1:
        last = ranked[-1]
        rest = score_text(outcome, left[last])
        text += f" Without the condition on {words.quoted(last.attribute)} it is {rest}."
    return text


class LatticeView(QTableWidget):
    """The lattice as rows, the most general at the top, each difference as a bar.

    Signals
    -------
    chosen : tuple[Condition, ...]
        A rule is to be looked at.
    """

    chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__(0, len(_HEADER) + 1)
        self._steps: tuple[Step, ...] = ()
        read_only(
            self,
            "Broader and narrower rules",
            "Enter or a click opens the rule if it is a finding.",
            single=True,
            whole=True,
        )
        self.setAlternatingRowColors(False)
        head_columns(self, ("", *_HEADER), (2, 3, 4))
        self.setWordWrap(True)
        for place in (0, 3, 4):
            self.setItemDelegateForColumn(place, Padded(self))
        self.setItemDelegateForColumn(2, _Bar(self))
        head = self.horizontalHeader()
        head.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.cellClicked.connect(lambda row, _column: self._open(row))
        self.cellActivated.connect(lambda row, _column: self._open(row))

    def show_lattice(
        self, outcome: str, steps: tuple[Step, ...], known: frozenset[Conditions]
    ) -> None:
        """Show another lattice; ``known`` are the rules that can be looked at."""
        self._steps = steps
        self.setUpdatesEnabled(False)
        if (title := self.horizontalHeaderItem(2)) is not None:
            title.setText(_POINTS if outcome else _HEADER[1])
        most = max((each.score for each in steps), default=0.0) or 1.0
        self.setRowCount(len(steps))
        for row, each in enumerate(steps):
            opens = each.conditions in known and each.kind != "this"
            sign, name = _NAMES[each.kind]
            texts = (
                sign,
                each.text,
                gap_text(outcome, each.score),
                rate_text(outcome, each.phi_in),
                words.percent(each.support, 1.0),
            )
            for place, text in enumerate(texts):
                item = QTableWidgetItem(text)
                item.setToolTip(tips.plain(each.whole))
                item.setTextAlignment(aligned(number=place > 1))
                item.setFont(theme.scaled(self.font(), 1.0, strong=each.kind == "this"))
                said = text if place else name
                if not opens and each.kind != "this":
                    said = f"{said}, not among the findings"
                item.setData(Qt.ItemDataRole.AccessibleTextRole, said)
                if opens and place == 1:
                    item.setForeground(QColor(theme.colours().accent))
                self.setItem(row, place, item)
            bar = self.item(row, 2)
            if bar is not None:
                bar.setData(_SHARE, each.score / most)
        self.clearSelection()
        self._fit()
        self.setUpdatesEnabled(True)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Follow the theme."""
        super().changeEvent(event)
        if theme.palette_changed(event):
            colour_links(self)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Break the words anew."""
        super().resizeEvent(event)
        self._fit()

    def _open(self, row: int) -> None:
        if row < len(self._steps) and self._steps[row].kind != "this":
            self.chosen.emit(self._steps[row].conditions)

    def _fit(self) -> None:
        head = self.horizontalHeader()
        for place in (0, 2, 3, 4):
            wide = max(self.sizeHintForColumn(place), head.sectionSizeHint(place))
            wide += _BAR + theme.NEAR if place == 2 else 0
            head.resizeSection(place, wide + theme.NEAR)
        others = head.length() - head.sectionSize(1)
        head.resizeSection(1, self.viewport().width() - others)
        self.resizeRowsToContents()
        for row in range(self.rowCount()):
            self.setRowHeight(row, self.rowHeight(row) + theme.TIGHT)
        self.setFixedHeight(self.verticalHeader().length() + height_around(self))


class _Bar(Padded):
    """A number with a bar at its left, as long as it is large: below it one would be a link's."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(painter, option, index)
        share = float(index.data(_SHARE) or 0.0)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        middle = QRectF(option.rect).center().y()
        painter.fillRect(
            QRectF(option.rect.left() + theme.NEAR, middle - 4, _BAR * min(share, 1.0), 8),
            QColor(theme.colours().discriminatory),
        )
        painter.restore()
