"""Does the search's estimate hold? True gradients against estimated ones, size by size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QPushButton, QStackedWidget, QWidget

from fairdesk.answers.selection import all_off
from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import method_named
from fairdesk.audit.store.records import RunState
from fairdesk.charts.curves import Line, Mark
from fairdesk.charts.kinds.lines import Drawing
from fairdesk.gui.charts.drawn import DrawnChart
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.kit.threads.soon import Soon
from fairdesk.gui.workspace.common.answering import Run, likenesses
from fairdesk.gui.workspace.common.run_page import tell_failure
from fairdesk.gui.workspace.common.steps import OF_STATE
from fairdesk.gui.workspace.session.session import Session
from fairdesk.models.model import Capability
from fairdesk.results.individual import GradientFidelity
from fairdesk.wording import words

_EXPLAINED = (
    "A search that sees only model outputs estimates in which direction a score changes: it "
    "changes one attribute by a small step, the perturbation size, and compares the outputs. "
    "Where the model provides its true gradients, the estimate can be compared with them: 1 "
    "is full agreement, 0 is none. This shows how well the search works here, and nothing "
    "about discrimination."
)
_NO_GRADIENTS = (
    "This model does not provide its gradients, so the estimate cannot be compared with true "
    "ones. The diagnostic shows only how much a short search finds with each perturbation "
    "size."
)


def size_text(size: float) -> str:
    """Write a perturbation size with two figures: ``0.032``."""
    return f"{float(f'{size:.2g}'):g}"


def agreement(figures: Sequence[GradientFidelity]) -> Drawing:
    """Draw the cosine similarities, a line with points for each kind."""
    shown = [each for each in figures if each.gradients is not None]
    places = np.arange(len(shown), dtype=np.float64)
    kinds = (
        ("gradients", [each.gradients for each in shown]),
        ("directions", [each.directions for each in shown]),
        ("probabilities", [each.probabilities for each in shown]),
    )
    lines = tuple(
        Line(
            name,
            places,
            np.array(values, dtype=np.float64),
            f"series {place}",
            mark=Mark.POINTS,
        )
        for place, (name, values) in enumerate(kinds)
        if shown and None not in values
    )
    least = min((float(line.y.min()) for line in lines), default=0.0)
    return Drawing(
        title="Agreement with the true gradients",
        x_title="perturbation size",
        y_title="cosine similarity",
        lines=lines,
        y_digits=2,
        y_low=-1.0 if least < 0 else 0.0,
        y_high=1.0,
        x_names=tuple(size_text(each.size) for each in shown),
    )


def sweep(figures: Sequence[GradientFidelity]) -> Drawing:
    """Draw what a short search found with each size, as bars."""
    places = np.arange(len(figures), dtype=np.float64)
    found = np.array([each.found for each in figures], dtype=np.float64)
    return Drawing(
        title="Pairs found by a short search",
        x_title="perturbation size",
        y_title="pairs found",
        lines=(Line("pairs found", places, found, "bar", mark=Mark.BARS),) if figures else (),
        x_names=tuple(size_text(each.size) for each in figures),
    )


def conclusions(figures: Sequence[GradientFidelity]) -> list[str]:
    """Say how well the estimate holds, and which size serves best."""
    if not figures:
        return []
    said = []
    compared = [each for each in figures if each.gradients is not None]
    if compared:
        best = max(compared, key=lambda each: each.gradients or 0.0)
        size = size_text(best.size)
        for what, value in (
            ("gradients", best.gradients),
            ("directions", best.directions),
            ("probabilities of changing an attribute", best.probabilities),
        ):
            if value is not None:
                said.append(
                    f"At size {size} the estimated {what} {_agree(value)} the true ones "
                    f"({value:.2f} of 1)."
                )
    most = max(figures, key=lambda each: each.found)
    if most.found:
        said.append(
            f"A short search found most at perturbation size {size_text(most.size)}: "
            f"{words.number(most.found)} pairs in {words.number(most.tried)} instances tested."
        )
    else:
        said.append("No short search found a discriminatory pair, at any perturbation size.")
    return said


def _agree(cosine: float) -> str:
    if cosine >= 0.9:
        return "agree with"
    if cosine >= 0.5:
        return "mostly agree with"
    if cosine > 0.1:
        return "hardly agree with"
    return "do not agree with"


class DiagnosisView(QWidget):
    """The newest diagnosis.

    Signals
    -------
    start
        A diagnosis is wanted.
    """

    start = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._told: Run | None = None
        self._standing = parts.quiet()
        self._banner = parts.Banner()
        self._first = parts.Words(size=1.2, strong=True)
        self._more = parts.Words()
        self._none = parts.quiet(_NO_GRADIENTS)
        self.agreement, self.sweep = (DrawnChart(Drawing(), fills=True) for _place in range(2))
        for chart in (self.agreement, self.sweep):
            chart.setMinimumHeight(240)
        session.hear(self.agreement, self.sweep)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._make_empty())
        self._stack.addWidget(self._make_full())
        layouts.column(self._stack, on=self)
        self._redraw = Soon(self, self._show)
        session.runs_changed.connect(self._take_runs)
        session.live_changed.connect(self._go_on)
        self._take_runs()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Show what has changed while nobody looked."""
        super().showEvent(event)
        self._show()

    def _make_empty(self) -> QWidget:
        gradients = Capability.GRADIENTS in self._session.spec.model.can
        button = self._make_button("Run t&he diagnostic")
        return parts.empty_page(
            "No diagnostic yet",
            _EXPLAINED if gradients else _NO_GRADIENTS,
            parts.why_not(button, all_off(self._session.spec, QuestionKind.DIAGNOSIS)),
            button,
        )

    def _make_full(self) -> QWidget:
        head = layouts.row(
            layouts.grow(parts.quiet(_EXPLAINED)),
            layouts.at(self._make_button("Run t&he diagnostic again"), Qt.AlignmentFlag.AlignTop),
        )
        self._agreement_side = _titled("Agreement with the true gradients", self.agreement)
        charts = layouts.row(
            layouts.grow(self._agreement_side),
            layouts.grow(_titled("Pairs found by a short search", self.sweep)),
            spacing=theme.PAGE,
        )
        inside = layouts.panel(
            head,
            self._banner,
            self._standing,
            self._none,
            self._first,
            self._more,
            layouts.gap(theme.NEAR),
            charts,
            layouts.stretch(),
            margin=(0, theme.GAP, theme.PAGE, theme.PAGE),
            spacing=theme.GAP,
        )
        return parts.scrolled(inside)

    def _make_button(self, text: str) -> QPushButton:
        return parts.push_button(text, self.start)

    def _take_runs(self) -> None:
        for run in reversed(self._session.runs):
            if method_named(run.method).answers is QuestionKind.DIAGNOSIS:
                self._take(run)
                return

    def _go_on(self, state: RunState) -> None:
        if not state.id or method_named(state.method).answers is not QuestionKind.DIAGNOSIS:
            return
        self._told = state
        self._stack.setCurrentIndex(1)
        self._redraw.ask()

    def _take(self, run: Run) -> None:
        self._told = run
        self._stack.setCurrentIndex(1)
        self._show()

    def _show(self) -> None:
        run = self._told
        if run is None or not self.isVisible():
            return
        measured = likenesses(run)
        self._standing.setText(
            f"{OF_STATE[run.state].value} {words.state_word(run.state).capitalize()}: "
            f"{words.number(run.queries)} queries, {words.duration(run.elapsed)}"
        )
        tell_failure(self._banner, run, "Run the diagnostic again", self.start.emit)
        first, *more = conclusions(measured) or ["No result yet."]
        self._first.setText(first)
        self._more.say(" ".join(more))
        with_gradients = any(each.gradients is not None for each in measured)
        self._none.setVisible(bool(measured) and not with_gradients)
        self._agreement_side.setVisible(with_gradients)
        if with_gradients:
            self.agreement.draw(agreement(measured))
        self.sweep.draw(sweep(measured))


def _titled(text: str, chart: DrawnChart[Drawing]) -> QWidget:
    return layouts.panel(parts.heading(text), chart, spacing=theme.NEAR)
