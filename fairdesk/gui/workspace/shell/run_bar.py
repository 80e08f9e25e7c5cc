"""The bar at the bottom: what runs, how far it is, and the buttons that hold it."""

from __future__ import annotations

from PySide6.QtCore import QSize, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QProgressBar, QPushButton, QWidget

from fairdesk.answers import main_shares
from fairdesk.audit.catalogue.method import UNTIMED, QuestionKind, stage
from fairdesk.audit.catalogue.methods import METHODS, method_named
from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.audit.store.records import RunRecord, RunState
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.workspace.common.run_page import OF_STATE, Run, Sign, kind, proves, shares
from fairdesk.gui.workspace.shell.queue_strip import QueueStrip, RunClock, ticking
from fairdesk.results.subgroups import RuleSearchSummary
from fairdesk.wording import mitigation as mitigation_words
from fairdesk.wording import proofs as proof_words
from fairdesk.wording import words
from fairdesk.wording.figures import share_cell
from fairdesk.wording.groups.sentences import widest_text
from fairdesk.wording.proofs import neighbourhood_counts, neighbourhoods_of

#: From this width on the bar has room for the queries.
_ROOMY = 1060
#: The least room for the name of a method.
_LEAST_NAME = 110
#: Milliseconds between two looks at the clock.
_TICK = 250
_STOPPING = "stopping…"


def budget_used(
    budget: Budget, elapsed: float, queries: int, done: int, total: int
) -> tuple[float, str]:
    """Return how much of a run's budget is used.

    Parameters
    ----------
    done, total : int
        Steps of the present phase: what is told where there is no limit.

    Returns
    -------
    share : float
        0 to 1; of the limit that is nearest.
    text : str
        For people.
    """
    used = []
    if budget.seconds:
        text = f"{ticking(elapsed)} of {words.duration(budget.seconds)}"
        used.append((elapsed / budget.seconds, text))
    if budget.queries:
        text = f"{words.number(queries)} of {words.number(budget.queries)} queries"
        used.append((queries / budget.queries, text))
    if used:
        share, text = max(used)
        return min(share, 1.0), text
    if total > 1:
        return min(done / total, 1.0), f"step {words.number(done)} of {words.number(total)}"
    return 0.0, "no limit"


class _Figure(QWidget):
    """A number with what it counts below it."""

    def __init__(self, caption: str, width: int) -> None:
        super().__init__()
        self._number = parts.Words("–", strong=True, wrap=False)
        self._below = parts.Words(caption, tone="quiet", size=0.85, wrap=False)
        # what it counts is never cut
        self._number.setMinimumWidth(width)
        layouts.column(self._number, self._below, on=self, spacing=0)

    def show_number(self, text: str, caption: str) -> None:
        self._below.setText(caption)
        self._number.setText(text)
        self._number.setAccessibleName(f"{caption}: {text}")


def counts(run: Run) -> dict[str, tuple[str, str]]:
    """Write a run's numbers and what they count: what was found, or how common it is.

    No share of those that a search tried: it would be read as how common it is.
    """
    answers, told = method_named(run.method).answers, dict[str, tuple[str, str]]()
    proven = proof_words.main_proof(run.figures) or neighbourhoods_of(run.figures)
    if answers is QuestionKind.EXAMPLES:
        told["pairs"] = words.number(run.found), "pairs found"
    elif answers is QuestionKind.GROUPS:
        told["share"] = _gap(run)
    elif answers is QuestionKind.REPAIR:
        effort = mitigation_words.effort_text(run.figures) or "models"
        told["share"] = mitigation_words.fall(run.figures) or "–", effort
    elif answers in (QuestionKind.PROOF, QuestionKind.SHARE):
        told["share"] = _share(run)
    if answers is not QuestionKind.REPAIR and proven is None:
        told["tried"] = words.number(run.tried), "instances tested"
    # of a proof there is no room for all of it in a small window
    if answers is not QuestionKind.PROOF:
        told["queries"] = words.number(run.queries), "queries"
    return told


def _share(run: Run) -> tuple[str, str]:
    """Write what is proven or estimated, and of what."""
    if (proven := proof_words.main_proof(run.figures)) is not None:
        return proof_words.proven_text(proven), f"of {proof_words.short_name(proven)}"
    if (around := neighbourhoods_of(run.figures)) is not None:
        of = words.counted(around.rows, "row")
        return neighbourhood_counts(around), f"of {of}, with neighbours"
    if (share := next(iter(main_shares(shares(run))), None)) is None:
        return "–", "proven" if proves(run) else "estimated"
    of = "" if share.exhaustive else f", {100 * share.confidence:g} %"
    return share_cell(share, run.figures), f"{kind(share)}{of}"


def _gap(run: Run) -> tuple[str, str]:
    """Write the greatest difference so far, and how many rule sets were looked at."""
    mined = [each for each in run.figures if isinstance(each, RuleSearchSummary)]
    examined = words.counted(sum(each.rule_sets for each in mined), "subgroup")
    if greatest := widest_text(run.figures):
        return greatest, f"largest gap of {examined}" if mined else "largest gap"
    return "–", examined if mined else "gap"


class RunBar(parts.Card):
    """A run and its state.

    Its time ticks here, whatever the worker says: one that is silent for minutes is not dead.

    Attributes
    ----------
    queue : QueueStrip
        What waits for it.
    clock : RunClock
        Counts the run's seconds, or those of what comes before it.

    Parameters
    ----------
    repeats : bool
        Whether another run can be asked for.

    Signals
    -------
    pause, resume, stop, again
        The auditor pressed that button.
    """

    pause = Signal()
    resume = Signal()
    stop = Signal()
    again = Signal()

    def __init__(self, *, repeats: bool = True) -> None:
        super().__init__(margin=0)
        self._repeats = repeats
        self.setAccessibleName("Run")
        self._sign = parts.Words(Sign.NOT_YET.value, size=1.3, wrap=False)
        self._method, self._standing = parts.Elided(strong=True), parts.Elided(tone="quiet")
        self._method.setMinimumWidth(_LEAST_NAME)
        self._standing.setFont(theme.scaled(self.font(), 0.85))
        self.figures = {
            "pairs": _Figure("pairs found", 72),
            "share": _Figure("estimated", 150),
            "tried": _Figure("instances tested", 72),
            "queries": _Figure("queries", 84),
        }
        self._bar = QProgressBar()
        self._bar.setRange(0, 1000)
        self._bar.setTextVisible(False)
        self._bar.setFixedHeight(8)
        self._bar.setMinimumWidth(90)
        self._bar.setAccessibleName("Budget used")
        self._used = parts.Words(tone="quiet", size=0.85, wrap=False)
        self._elapsed = _Figure("elapsed", 60)
        self._hold = parts.push_button("&Pause", self._press_hold)
        self._stop = parts.push_button("&Stop", self._press_stop)
        self._stop.setToolTip("Stop the run; the results so far are kept")
        self._again = QPushButton()
        self._again.setToolTip("Start another run with a different random seed, method or budget")
        self._again.clicked.connect(self.again)

        naming = layouts.column(self._method, self._standing, spacing=0)
        using = layouts.column(
            layouts.stretch(), self._bar, self._used, layouts.stretch(), spacing=theme.TIGHT
        )
        row = layouts.row(
            self._sign,
            layouts.grow(naming, 2),
            layouts.gap(theme.NEAR),
            *self.figures.values(),
            layouts.grow(using, 3),
            self._elapsed,
            self._hold,
            self._stop,
            self._again,
            margin=(theme.GAP, theme.NEAR, theme.GAP, theme.NEAR),
            spacing=theme.GAP,
        )
        self.body.addLayout(row)
        self._stopping = self._queried = False
        self.queue = QueueStrip()
        self.queue.setContentsMargins(theme.GAP, 0, theme.GAP, theme.NEAR)
        self.body.addWidget(self.queue)
        self.body.setSpacing(0)
        self.clock = RunClock()
        self._timer = QTimer(self, interval=_TICK)
        self._timer.timeout.connect(self._tick)
        self._stage = ""
        self._run: RunSpec | None = None
        self._last: RunState | None = None
        self.show_nothing()

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the least size: where there is little room, the queries give way."""
        least = super().minimumSizeHint()
        rows = self.figures["queries"]
        spare = max(rows.sizeHint().width(), rows.minimumWidth()) + theme.GAP
        spare *= not rows.isHidden()
        return QSize(least.width() - spare, least.height())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Leave out what there is no room for."""
        super().resizeEvent(event)
        self._offer_queries()

    def show_nothing(self, what: str = "discriminatory pairs") -> None:
        """Show that no run was made, and what one could find."""
        self._rest()
        self._stand(Sign.NOT_YET, "No run yet", f"Start one to find {what}")
        self._again.setText(f"&Find {what}…")
        self._offer(running=False)

    def show_opening(self, what: str) -> None:
        """Show what comes before a run, such as that the model is being opened."""
        self._begin(what, None)
        self._standing.say("before the run")
        for widget in (self._hold, self._bar, self._used):
            widget.hide()

    def show_beginning(self, run: RunSpec) -> None:
        """Show a run of which nothing was heard yet; its time counts from now on."""
        self._begin(METHODS[run.method].title, run)
        self._say_stage("")

    def show_live(self, state: RunState, run: RunSpec) -> None:
        """Show a run that is under way."""
        if not self.clock.begun or self._run is not run:
            self._begin(METHODS[state.method].title, run)
            self.clock.start(state.elapsed)
        if self._stage in UNTIMED and state.phase not in UNTIMED:
            # what is made once on a computer is no part of a run
            self.clock.start(state.elapsed)
        self._last = state
        self.clock.hold(held=state.state == "paused")
        self._sign.setText(OF_STATE[state.state].value)
        self._say_stage(state.phase, paused=state.state == "paused")
        self._count(state)
        self._hold.setText("&Resume" if state.state == "paused" else "&Pause")
        self._tick()

    def show_stopping(self) -> None:
        """Show that the run was asked to stop."""
        self._stopping = True
        self._standing.say(_STOPPING)
        self._hold.setEnabled(False)
        self._stop.setEnabled(False)

    def show_record(self, record: RunRecord) -> None:
        """Show that the last run is over; its results are on the pages, not below all of them."""
        self._rest()
        title = METHODS[record.spec.method].title
        self._stand(OF_STATE[record.state], title, words.state_word(record.state))
        again = (
            "&Run mitigation again…"
            if method_named(record.method).answers is QuestionKind.REPAIR
            else "&Run again…"
        )
        self._again.setText(again)
        self._queried = False
        for figure in self.figures.values():
            figure.hide()
        self._elapsed.show_number(words.duration(record.elapsed), "elapsed")
        self._offer(running=False)

    def _begin(self, title: str, run: RunSpec | None) -> None:
        """Let the time count from now on."""
        self._run, self._last = run, None
        self._stand(Sign.RUNNING, title, "")
        self.clock.start()
        self._timer.start()
        self._offer(running=True)
        self._tick()

    def _rest(self) -> None:
        """Let the time stand: nothing is under way."""
        self.clock.end()
        self._timer.stop()
        self._run = self._last = None

    def _say_stage(self, phase: str, *, paused: bool = False) -> None:
        """Say what the run is doing just now."""
        self._stage = phase
        text = f"{words.state_word('paused' if paused else 'running')}, {stage(phase)}"
        if self._stopping:
            text = _STOPPING
        if text != self._standing.text():
            self._standing.say(text)
            self.setAccessibleDescription(f"{self._method.text()}: {text}")

    def _tick(self) -> None:
        """Show the time, and how much of the budget is used."""
        elapsed = self.clock.elapsed
        compiles = self._stage in UNTIMED
        self._elapsed.show_number(ticking(elapsed), "compiling" if compiles else "elapsed")
        run, last = self._run, self._last
        if run is None:
            return
        queries, done, total = (last.queries, last.done, last.total) if last else (0, 0, 0)
        spent = 0.0 if compiles else elapsed
        share, text = budget_used(run.budget, spent, queries, done, total)
        # Qt would paint it here and now, and with it whatever else of the window has changed
        self._bar.setUpdatesEnabled(False)
        self._bar.setValue(round(1000 * share))
        self._bar.setUpdatesEnabled(True)
        self._bar.setAccessibleDescription(text)
        self._used.setText(text)
        limit = run.budget.seconds
        left = None if limit is None else max(limit - spent, 0.0)
        paused = last is not None and last.state == "paused"
        self.queue.tick(spent, left, paused=paused)

    def _stand(self, sign: Sign, title: str, standing: str) -> None:
        self._sign.setText(sign.value)
        self._sign.set_tone({Sign.FAILED: "wrong", Sign.RUNNING: "accent"}.get(sign, "quiet"))
        self._method.say(title)
        self._standing.say(standing)
        self.setAccessibleDescription(f"{title}: {standing}")

    def _count(self, run: Run) -> None:
        """Show a run's numbers."""
        told = counts(run)
        for place, figure in self.figures.items():
            figure.setVisible(place in told)
            if place in told:
                figure.show_number(*told[place])
        self._queried = "queries" in told
        self._offer_queries()

    def _offer_queries(self) -> None:
        """Show the queries where there are such, and room for them."""
        self.figures["queries"].setVisible(self._queried and self.width() >= _ROOMY)

    def _offer(self, *, running: bool) -> None:
        self._stopping = False
        for widget in (self._hold, self._stop):
            widget.setVisible(running)
            widget.setEnabled(True)
        self._bar.setVisible(running)
        self._used.setVisible(running)
        self._again.setVisible(self._repeats and not running)

    def _press_hold(self) -> None:
        (self.resume if self._hold.text() == "&Resume" else self.pause).emit()

    def _press_stop(self) -> None:
        self.show_stopping()
        self.stop.emit()
