"""How findings change with the least support: fewer people make more rules, and rarer ones."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QWidget

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.charts.curves import Line, Mark
from fairdesk.charts.kinds.lines import Drawing
from fairdesk.gui.charts.drawn import DrawnChart
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.workspace.common.rule_table import Cell, RuleTable
from fairdesk.gui.workspace.session.session import Session
from fairdesk.gui.workspace.subgroups.finding import score_text
from fairdesk.results.subgroups import RuleSearchSummary, Support
from fairdesk.wording import words
from fairdesk.wording.groups.subgroups import same_support_sentence
from fairdesk.wording.rules import rule_phrase

#: Least supports that are offered.
_LOWER = (0.02, 0.01, 0.005, 0.002, 0.001)
_EXPLAINED = (
    "A subgroup is tested if it contains at least this share of the rows. A smaller minimum "
    "adds more and smaller subgroups, and more of the results are due to sampling error; the "
    "corrections increase with the number of subgroups."
)


def drawing_of(mined: RuleSearchSummary) -> Drawing:
    """Draw the highest score by the support asked for."""
    sweep = [each for each in mined.sweep if each.rule_sets]
    theta = np.array([100 * each.theta for each in sweep])
    factor = 100.0 if mined.outcome else 1.0
    score = np.array([factor * each.score for each in sweep])
    line = Line("highest", theta, score, "discriminatory", mark=Mark.POINTS)
    return Drawing(
        title="Largest gap by minimum support",
        x_title=f"minimum support,{words.NBSP}%",
        y_title="largest gap",
        lines=(line,) if len(sweep) > 1 else (),
        x_digits=1,
        y_digits=1 if mined.outcome else 3,
        y_unit=f"{words.NBSP}percentage points" if mined.outcome else "",
    )


def support_rows(spec: AuditSpec, outcome: str, sweep: Sequence[Support]) -> list[tuple[Cell, ...]]:
    """Write a row per least support."""
    return [
        (
            Cell(rule_phrase(spec, each.conditions) if each.rule_sets else "–", -place),
            Cell(f"{100 * each.theta:g}{words.NBSP}%", each.theta),
            Cell(words.number(each.rule_sets), each.rule_sets),
            Cell(score_text(outcome, each.score) if each.rule_sets else "–", each.score),
        )
        for place, each in enumerate(sweep)
    ]


class SupportsView(QWidget):
    """The sweep over the least support, and a way to ask for a smaller one.

    Signals
    -------
    again : float
        Findings with this least support are wanted.
    """

    again = Signal(float)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._mined: RuleSearchSummary | None = None
        # made when it is needed: a chart takes a tenth of a second, and most audits have no sweep
        self.chart: DrawnChart[Drawing] | None = None
        self.table = RuleTable(
            "Results by minimum support",
            ("Subgroup with the largest gap", "Minimum support", "Subgroups", "Gap"),
        )
        self._same = parts.Words()
        self._lower = QComboBox()
        self._lower.setAccessibleName("Other minimum support")
        self._lower.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        parts.calm(self._lower)
        self._button = parts.push_button("Find subgroups a&gain with", self._press)
        row = layouts.row(self._button, self._lower, layouts.stretch(), spacing=theme.NEAR)
        self._above = layouts.column()
        layouts.column(
            parts.heading("How results change with the minimum support"),
            parts.quiet(_EXPLAINED),
            self._above,
            self._same,
            self.table,
            row,
            on=self,
            spacing=theme.GAP,
        )

    def show_mined(self, mined: RuleSearchSummary) -> None:
        """Show what a run found by the support asked for."""
        if mined == self._mined:
            return
        self._mined = mined
        same = same_support_sentence(self._session.spec, mined)
        self._same.say(same)
        drawing = drawing_of(mined if not same else msgspec.structs.replace(mined, sweep=()))
        if self.chart is not None:
            self.chart.setVisible(not drawing.empty)
        if not drawing.empty:
            self._shown_chart().draw(drawing)
        rows = support_rows(self._session.spec, mined.outcome, mined.sweep)
        self.table.setVisible(bool(rows) and not same)
        self.table.show_rows(rows)
        self._lower.clear()
        of = "texts" if mined.texts else "rows"
        for theta in (each for each in _LOWER if each < mined.theta):
            self._lower.addItem(f"at least {100 * theta:g}{words.NBSP}% of the {of}", theta)
        for widget in (self._button, self._lower):
            widget.setVisible(self._lower.count() > 0)

    def _shown_chart(self) -> DrawnChart[Drawing]:
        if self.chart is None:
            self.chart = DrawnChart(Drawing(), fills=True)
            self.chart.setMinimumHeight(210)
            self._session.hear(self.chart)
            self._above.addWidget(self.chart)
        return self.chart

    def _press(self) -> None:
        self.again.emit(float(self._lower.currentData()))
