"""What an expert does with subgroups: another minimum support, and other methods on the model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QPushButton, QWidget

from fairdesk.audit.catalogue.methods import METHODS, why_off
from fairdesk.document import subgroups
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.workspace.common.answering import Run
from fairdesk.gui.workspace.common.blocks_view import BlocksView
from fairdesk.gui.workspace.common.steps import OF_STATE
from fairdesk.gui.workspace.session.session import Session
from fairdesk.results.subgroups import RuleSearchSummary
from fairdesk.wording import words

#: The other methods, in their order.
BASELINES = ("themis-groups", "fairfictplay")
#: Minimum supports that are offered.
_LOWER = (0.02, 0.01, 0.005, 0.002, 0.001)
_SUPPORTS = (
    "A subgroup is tested if it contains at least this share of the rows. A smaller minimum "
    "adds more and smaller subgroups, and more of the results are due to sampling error; the "
    "corrections increase with the number of subgroups."
)
_OTHERS = (
    "Earlier methods on the same model, for comparison. THEMIS compares groups defined by "
    "single values only, in random samples of the input domain; a linear subgroup is defined "
    "by weights, not by a rule."
)


class SupportsView(QWidget):
    """What other minimum supports give, and a button that asks for a smaller one.

    Signals
    -------
    again : float
        Findings with this minimum support are wanted.
    """

    again = Signal(float)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.blocks = BlocksView(session, folds=False)
        self._lower = QComboBox()
        self._lower.setAccessibleName("Other minimum support")
        self._lower.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        parts.calm(self._lower)
        self._button = parts.push_button(
            "Find subgroups a&gain with",
            lambda: self.again.emit(float(self._lower.currentData())),
        )
        layouts.column(
            parts.heading("How results change with the minimum support"),
            parts.quiet(_SUPPORTS),
            self.blocks,
            layouts.row(self._button, self._lower, layouts.stretch(), spacing=theme.NEAR),
            on=self,
            spacing=theme.GAP,
        )

    def show_mined(self, mined: RuleSearchSummary) -> None:
        """Show the results of a run by their minimum support."""
        self.blocks.show_blocks(subgroups.supports(self._session.spec, mined))
        of = "texts" if mined.texts else "rows"
        smaller = [each for each in _LOWER if each < mined.theta]
        texts = (f"at least {100 * each:g}{words.NBSP}% of the {of}" for each in smaller)
        parts.offer(self._lower, zip(texts, smaller, strict=True))
        for widget in (self._button, self._lower):
            widget.setVisible(bool(smaller))


class OtherMethods(QWidget):
    """The newest run of each other method.

    Signals
    -------
    wanted : str
        A run of this method is wanted.
    """

    wanted = Signal(str)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        head = parts.heading("Results of other methods"), parts.quiet(_OTHERS)
        column = layouts.column(*head, on=self, spacing=theme.GAP)
        self._standing = {method: parts.quiet() for method in BASELINES}
        self.blocks = {method: BlocksView(session) for method in BASELINES}
        self.buttons = {method: self._make_button(method) for method in BASELINES}
        for method in BASELINES:
            for widget in (self._standing[method], self.blocks[method]):
                column.addWidget(widget)
                widget.hide()
            column.addLayout(layouts.row(self.buttons[method], layouts.stretch()))

    def show_runs(self, runs: Sequence[Run]) -> None:
        """Show the newest run of each."""
        for method in BASELINES:
            run = next((each for each in reversed(runs) if each.method == method), None)
            self.buttons[method].setEnabled(not self._why_off(method))
            if run is None:
                continue
            title = METHODS[method]
            spec = self._session.spec
            self._standing[method].setText(
                f"{OF_STATE[run.state].value} {title.title}, {words.state_word(run.state)}: "
                f"{words.number(run.queries)} queries, {words.duration(run.elapsed)}. "
                f"{run.message}".strip()
            )
            said = [subgroups.opening(spec, run, ()), *subgroups.other_methods(spec, run)]
            self.blocks[method].show_blocks(said)
            self._standing[method].show()
            self.blocks[method].show()
            self.buttons[method].setText(f"{title.short_title} again")

    def _make_button(self, method: str) -> QPushButton:
        button = parts.push_button(
            f"Run {METHODS[method].short_title}", partial(self.wanted.emit, method)
        )
        button.setToolTip(self._why_off(method) or METHODS[method].sentence)
        button.setAccessibleDescription(button.toolTip())
        return button

    def _why_off(self, method: str) -> str:
        spec = self._session.spec
        return why_off(METHODS[method], spec.model, spec.domain)
