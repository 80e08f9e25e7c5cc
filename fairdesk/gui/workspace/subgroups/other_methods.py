"""What other methods find about groups on the same model: the baselines, beside TestSGD."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from fairdesk.audit.catalogue.methods import METHODS, why_off
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.charts.kinds.weights import Weight, Weights
from fairdesk.gui.charts.picture import Picture
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.workspace.common.answering import Run, gaps
from fairdesk.gui.workspace.common.short_table import short_table
from fairdesk.gui.workspace.common.statement import Statement
from fairdesk.gui.workspace.common.steps import OF_STATE
from fairdesk.gui.workspace.session.session import Session
from fairdesk.results.groups import GroupGap
from fairdesk.results.subgroups import LinearGroup
from fairdesk.wording import words
from fairdesk.wording.groups import subgroups as subgroup_words

#: The baselines, in the order in which they are told.
BASELINES = ("themis-groups", "fairfictplay")
#: So many sets of attributes, and weights, are listed.
_MOST_SETS, _MOST_WEIGHTS = 30, 16
_GAP_HEADER = ("Protected attributes", "Highest rate", "Lowest rate", "Gap")
_EXPLAINED = (
    "Earlier methods on the same model, for comparison. THEMIS compares groups defined by "
    "single values only, in random samples of the input domain; a linear subgroup is defined "
    "by weights, not by a rule."
)


def gap_rows(spec: AuditSpec, measured: Sequence[GroupGap]) -> list[tuple[str, ...]]:
    """Write a row per set of protected attributes, the greatest gap first."""
    attributes = {each.name: each for each in (*spec.domain.attributes, *spec.domain.unseen)}

    def group(names: Sequence[str], codes: Sequence[float], rate: float) -> str:
        values = [attributes[name].text(code) for name, code in zip(names, codes, strict=True)]
        return f"{', '.join(values)}: {words.percent(rate, 1.0)}"

    return [
        (
            words.listed(each.attributes),
            group(each.attributes, each.best, each.best_rate),
            group(each.attributes, each.worst, each.worst_rate),
            (
                f"{100 * each.gap:.1f} percentage points "
                f"({100 * each.low:.1f} to {100 * each.high:.1f})"
            ),
        )
        for each in sorted(measured, key=lambda gap: -gap.gap)
    ]


class OtherMethods(QWidget):
    """The newest run of each baseline.

    Signals
    -------
    wanted : str
        A run of this method is wanted.
    """

    wanted = Signal(str)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._told: dict[str, tuple[int, str, int]] = {}
        column = layouts.column(
            parts.heading("Results of other methods"),
            parts.quiet(_EXPLAINED),
            on=self,
            spacing=theme.GAP,
        )
        self._bodies = {method: QVBoxLayout() for method in BASELINES}
        self._buttons: dict[str, QPushButton] = {}
        for method, body in self._bodies.items():
            body.setSpacing(theme.NEAR)
            column.addLayout(body)
            self._buttons[method] = self._make_button(method)
            row = layouts.row(self._buttons[method], layouts.stretch())
            column.addLayout(row)

    def show_runs(self, runs: Sequence[Run]) -> None:
        """Show the newest run of each."""
        for method in BASELINES:
            run = next((each for each in reversed(runs) if each.method == method), None)
            self._buttons[method].setEnabled(not self._why_off(method))
            shown = (run.id, run.state, len(run.figures)) if run is not None else None
            if run is None or shown is None or self._told.get(method) == shown:
                continue
            self._told[method] = shown
            parts.clear(self._bodies[method])
            for widget in self._made(method, run):
                self._bodies[method].addWidget(widget)
            self._buttons[method].setText(f"{METHODS[method].short_title} again")

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

    def _made(self, method: str, run: Run) -> list[QWidget]:
        standing = (
            f"{OF_STATE[run.state].value} {METHODS[method].title}, {words.state_word(run.state)}: "
            f"{words.number(run.queries)} queries, {words.duration(run.elapsed)}. "
            f"{run.message}"
        )
        made: list[QWidget] = [parts.quiet(standing.strip())]
        found = gaps(run)
        if found:
            rows = gap_rows(self._session.spec, found)
            made.append(
                short_table(
                    "THEMIS group scores", _GAP_HEADER, rows[:_MOST_SETS], right=(3,), wide=1
                )
            )
            if len(rows) > _MOST_SETS:
                rest = words.number(len(rows) - _MOST_SETS)
                made.append(parts.quiet(f"{rest} more sets with smaller gaps are not shown."))
        linear = [each for each in run.figures if isinstance(each, LinearGroup)]
        if linear:
            first, *others = linear
            made += self._subgroup(first)
            if others:
                fold = parts.Fold(f"And {words.counted(len(others), 'other subgroup')}")
                for each in others:
                    for widget in self._subgroup(each):
                        fold.body.addWidget(widget)
                made.append(fold)
        if len(made) == 1 and run.state in ("running", "paused"):
            made.append(parts.Words("No result yet."))
        return made

    def _subgroup(self, group: LinearGroup) -> tuple[QWidget, QWidget]:
        """Make what tells of a subgroup: its sentence, and its weights."""
        said = Statement()
        said.say(
            "▨ Estimated on held-out data",
            subgroup_words.linear_statement(self._session.spec, group).sentence,
        )
        return said, Picture(weights_of(group))


def weights_of(group: LinearGroup) -> Weights:
    """Draw the weights of a linear subgroup, the heaviest first."""
    ranked = sorted(zip(group.features, group.weights, strict=True), key=lambda each: -abs(each[1]))
    left_out = len(ranked) - _MOST_WEIGHTS
    return Weights(
        [Weight(name, (weight,)) for name, weight in ranked[:_MOST_WEIGHTS]],
        "Weights of the subgroup",
        rest=f"{words.counted(left_out, 'smaller weight')} not shown" if left_out > 0 else "",
    )
