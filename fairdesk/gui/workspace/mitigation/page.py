"""Repair: what to repair, how, what it costs and brings, before and after, and to take away."""

from __future__ import annotations

import re
from collections.abc import Iterable

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QProgressBar, QWidget

from fairdesk.answers.answer import Question
from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import method_named
from fairdesk.audit.store.records import LogEntry, RunRecord, RunState
from fairdesk.gui.charts.drawn import DrawnChart
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.kit.pages import page_head
from fairdesk.gui.workspace.common.answering import Run
from fairdesk.gui.workspace.common.report_link import report_link
from fairdesk.gui.workspace.common.run_choice import RunChoice
from fairdesk.gui.workspace.common.run_page import tell_failure
from fairdesk.gui.workspace.common.statement import Statement
from fairdesk.gui.workspace.common.steps import OF_STATE
from fairdesk.gui.workspace.mitigation.chart import Curve
from fairdesk.gui.workspace.mitigation.export import ExportDialog
from fairdesk.gui.workspace.mitigation.form import RepairForm
from fairdesk.gui.workspace.mitigation.offer import (
    PAIRS,
    RULES,
    Offer,
    offer_of,
    rules_of,
    wrong_with,
)
from fairdesk.gui.workspace.mitigation.table import MARKS, BeforeAfter
from fairdesk.gui.workspace.session.session import Session
from fairdesk.results.events import Metric
from fairdesk.results.subgroups import RuleSet
from fairdesk.results.trials import chosen_of, repair_of, trial_of, trials_of
from fairdesk.wording import mitigation as mitigation_words
from fairdesk.wording import trials as trial_words
from fairdesk.wording import words

#: What a repair is, and what not.
EXPLAINED = (
    "Mitigation adds labelled rows to the training data, in several amounts, and retrains "
    "the model with each. The effect is measured on the {many} in the test rows, and on "
    "random combinations of attribute values (the input domain)."
)
#: What will be here.
_EMPTY = (
    "No mitigation yet. FairDesk adds rows made from the findings to the training data, in "
    "several amounts, retrains the model with each, and compares discrimination and accuracy "
    "before and after. The data and the model can then be exported."
)
#: What the log says of a mark.
_MARKED = re.compile(r"Pair [0-9,]+: (flagged|dismissed|not marked)\.")

#: What a repair does, phase by phase.
_PHASES = {
    "splitting": "Dividing the rows into training, validation and test rows",
    "labelling": "Labelling augmentation rows",
    "imported": "Measuring the original model",
    "retraining": "Training and measuring the retrained baseline",
    "comparing": "Training and measuring a comparison method",
    "proving": "Certifying, before and after",
    "saving": "Writing the models, and checking that they give the same outputs",
}


def repairs(run: Run) -> bool:
    """Return whether a run is a repair."""
    return method_named(run.method).answers is QuestionKind.REPAIR


def since(run: RunRecord, runs: tuple[RunRecord, ...], log: tuple[LogEntry, ...] = ()) -> str:
    """Say what has changed since a repair that it should have known; empty for nothing."""
    later = [each for each in runs if each.id > run.id]
    if run.spec.method == RULES:
        anew = [
            each
            for each in later
            if each.spec.text == run.spec.text
            and any(isinstance(one, RuleSet) for one in each.figures)
        ]
        return f"Run {anew[-1].id} has searched for subgroups since then." if anew else ""
    if run.spec.method != PAIRS:
        return ""
    found = [each for each in later if each.found]
    if found and not run.spec.pairs_of and not run.spec.flagged:
        more = sum(each.found for each in found)
        names = words.joined([f"run {each.id}" for each in found])
        were = "was" if more == 1 else "were"
        return f"{words.counted(more, 'more pair')} {were} found since then, in {names}."
    marked = [each for each in log if each.at > run.started and _MARKED.fullmatch(each.what)]
    return "Pairs were flagged or dismissed since then." if marked else ""


class RepairPage(QWidget):
    """Repairs.

    Signals
    -------
    repair : RunSpec
        A run that repairs is wanted.
    search
        A search for examples is wanted.
    show_examples
        The examples are to be shown.
    stands
        How the newest repair stands has changed: it is out of date, or no more.
    """

    repair = Signal(object)
    search = Signal()
    show_examples = Signal()
    stands = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._told: Run | None = None
        self._log: tuple[LogEntry, ...] = ()
        #: The trial that is looked at; ``None`` for the one that the search chose.
        self._picked: int | None = None
        #: The run that is drawn, how it stood, and its figures.
        self._drawn: tuple[int, str, tuple[Metric, ...]] | None = None
        #: Why nothing can be repaired here at all; ``None`` until it is known.
        self._wrong: str | None = None
        self.outdated = ""
        self._runs = RunChoice(
            session, repairs, "Run whose mitigation is shown", Question.MITIGATION
        )
        self._runs.run_changed.connect(self._take)
        self._standing = parts.quiet()
        self._banner, self._old = parts.Banner(), parts.Banner()
        self._headline = Statement()
        self._notes = parts.quiet()
        self._notes.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._explained = parts.quiet(EXPLAINED.format(many=session.many))
        self.form = RepairForm(session.spec)
        self.form.start.connect(lambda: self.repair.emit(self.form.run()))
        self.form.search_wanted.connect(self.search)
        self.form.show_examples.connect(self.show_examples)
        self.fold = parts.Fold("&What to mitigate, labels, limits")
        self.chart = DrawnChart(Curve(), size=1.12)
        session.hear(self.chart)
        self.chart.chosen.connect(self._pick)
        self.table = BeforeAfter()
        self.choice = parts.bounded(QComboBox(), 24)
        self.choice.setAccessibleName("Model shown")
        self.choice.activated.connect(lambda _place: self._pick(self.choice.currentData()))
        parts.calm(self.choice)
        self.export = parts.push_button("E&xport this candidate…", self._export)
        self._lay_out()
        session.runs_changed.connect(self._look)
        session.pair_changed.connect(lambda _pair: self._look())
        session.log_changed.connect(self._read_log)
        session.live_changed.connect(self._follow)
        self._runs.take_runs()
        self._look()

    def open_run(self, number: int) -> None:
        """Show a run by its number."""
        self._runs.open_run(number)

    def expect(self, kinds: Iterable[QuestionKind]) -> None:
        """Take note of what the runs answer that are under way or wait."""
        self.form.expect(kinds)

    def open_form(self) -> None:
        """Show what can be asked for."""
        self.fold.set_open(opened=True)
        self.form.button.setFocus()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Show what has changed while the page was hidden."""
        super().showEvent(event)
        self._look()
        self._show()

    # Parts

    def _lay_out(self) -> None:
        head = page_head("Mitigation", self._runs)
        self._going = self._make_going()
        self.fold.body.setContentsMargins(0, 0, 0, 0)
        self.fold.body.addWidget(self.form)
        self._results = layouts.panel(
            self.chart,
            layouts.gap(theme.NEAR),
            self._make_after(),
            self._aside,
            self.table,
            self._notes,
            margin=(0, theme.NEAR, 0, 0),
            spacing=theme.GAP,
        )
        inside = layouts.panel(
            head,
            *(self._explained, self._banner, self._old, self._standing),
            *(self._headline, self._going),
            self.fold,
            self._results,
            layouts.stretch(),
            margin=theme.AROUND,
            spacing=theme.GAP,
        )
        self._area = parts.scrolled(inside)
        layouts.column(self._area, on=self)
        self._results.hide()
        self.fold.set_open(opened=True)

    def _make_after(self) -> QHBoxLayout:
        self._aside = parts.quiet()
        self._about = parts.heading("Before and after:")
        self._about.setWordWrap(False)
        return layouts.row(
            self._about,
            self.choice,
            layouts.stretch(),
            report_link(self._session, self._places),
            self.export,
            spacing=theme.NEAR,
        )

    def _places(self) -> tuple[str, ...]:
        number = 0 if self._told is None else self._told.id
        return f"mitigation/front-{number}", f"mitigation/trials-{number}", "mitigation"

    def _make_going(self) -> QWidget:
        self._step = parts.Words(strong=True)
        self._bar = QProgressBar()
        self._bar.setRange(0, 1000)
        self._bar.setAccessibleName("Progress of this step")
        card = parts.Card(margin=theme.GAP)
        card.body.addWidget(self._step)
        card.body.addWidget(self._bar)
        card.body.addWidget(
            parts.quiet(
                "Use Pause and Stop below. If the run is stopped, the results so far are kept."
            )
        )
        return card

    # What happens

    def _look(self) -> None:
        """Look into the file for what there is to repair, where somebody could see it."""
        self._tell_old()
        if self.isVisible() and self._session.loaded:
            if self._wrong is None:
                self._session.store.ask(wrong_with, self._take_wrong, key="repair at all")
            else:
                wrong = self._wrong
                self._session.store.ask(
                    lambda store: offer_of(store, wrong), self._take_offer, key="repair offer"
                )
        self._read_log()

    def _take_wrong(self, wrong: str) -> None:
        self._wrong = wrong
        self._look()

    def _take_offer(self, offer: Offer) -> None:
        session = self._session
        self.form.show_offer(offer, rules_of(session.spec, session.runs))
        used = [run.spec.seed for run in session.runs if repairs(run)]
        if not self.form.seed.hasFocus():
            self.form.choose_seed(max(used, default=-1) + 1)
        self._tell_busy()

    def _read_log(self) -> None:
        if any(repairs(run) for run in self._session.runs):
            self._session.store.ask(
                lambda store: tuple(store.log_entries()), self._take_log, key="repair log"
            )

    def _take_log(self, log: tuple[LogEntry, ...]) -> None:
        self._log = log
        self._tell_old()

    def _tell_old(self) -> None:
        """Say where the repair that is shown, or the newest one, is out of date."""
        runs = self._session.runs
        mine = [run for run in runs if repairs(run) and run.state != "running"]
        newest = since(mine[-1], runs, self._log) if mine else ""
        if newest != self.outdated:
            self.outdated = newest
            self.stands.emit()
        shown = next((run for run in mine if run.id == self._runs.shown), None)
        changed = since(shown, runs, self._log) if shown is not None else ""
        if changed and self._session.live is None:
            self._old.say(
                "This mitigation is out of date.",
                changed,
                (("Run mitigation again…", self.open_form),),
            )
        else:
            self._old.clear()

    def _tell_busy(self) -> None:
        live = self._session.live
        self.form.show_busy(busy=live is not None)

    def _follow(self, _state: RunState) -> None:
        if self.isVisible():
            self._tell_busy()

    def _take(self, run: Run) -> None:
        anew = self._told is None or self._told.id != run.id
        first, begins = self._told is None, anew and run.state == "running"
        self._told = run
        if anew:
            self._picked = None
            self._tell_old()
        if first or begins:
            # what comes of it is read before another is asked for
            self.fold.set_open(opened=False)
        if begins:
            self._area.verticalScrollBar().setValue(0)
        self._show()

    def _pick(self, number: int) -> None:
        self._picked = number
        self._show_trial()

    def _show(self) -> None:
        """Show the figures as they stand."""
        run = self._told
        for widget in (self._headline, self._standing):
            widget.setVisible(run is not None)
        self._going.setVisible(run is not None and run.state in ("running", "paused"))
        if run is None:
            self._explained.setText(_EMPTY)
            return
        if not self.isVisible():
            return
        self._tell_busy()
        if isinstance(run, RunState):
            self._tell_step(run)
        figures, drawn = run.figures, self._drawn
        if drawn is not None and figures is drawn[2] and (run.id, run.state) == drawn[:2]:
            # nothing but the time went on: to lay out a whole page anew takes longer than a blink
            return
        self._drawn = (run.id, run.state, figures)
        self._explained.setText(EXPLAINED.format(many=self._session.many))
        self._say(run)
        drawing = Curve(self._session.spec, tuple(figures))
        self.chart.draw(drawing)
        trials = trials_of(figures)
        self._results.setVisible(bool(trials))
        repair = repair_of(figures)
        self.chart.setVisible(repair is None or repair.retrains)
        self._list_trials(run)
        self._show_trial()
        notes = mitigation_words.sentences(self._session.spec, figures)[1:]
        self._notes.say("\n\n".join(notes))

    def _list_trials(self, run: Run) -> None:
        trials = trials_of(run.figures)
        repair = repair_of(run.figures)
        chosen = -1 if repair is None else repair.chosen
        wanted = [
            (
                trial_words.trial_name(each) + (", chosen" if each.number == chosen else ""),
                each.number,
            )
            for each in trials
            if each.measures
        ]
        parts.offer(self.choice, wanted)

    def _at(self) -> int:
        """Return the number of the trial that is looked at: the picked one, else the chosen one.

        Where none was chosen that is the portion that discriminates least.
        """
        curve = self.chart.drawing
        kinds = {each.trial.number: each.trial.kind for each in curve.points}
        for wanted in (self._picked, curve.chosen):
            if wanted is not None and wanted in kinds:
                return wanted
        portions = [number for number, kind in kinds.items() if kind == "portion"]
        return next(iter(portions), max(kinds, default=-1))

    def _show_trial(self) -> None:
        """Show the trial that is looked at."""
        run = self._told
        if run is None:
            return
        number, spec = self._at(), self._session.spec
        with QSignalBlocker(self.choice):
            self.choice.setCurrentIndex(self.choice.findData(number))
        self.chart.choose(number)
        self.table.show_trial(spec, run.figures, number)
        trial = trial_of(run.figures, number)
        repair = repair_of(run.figures)
        rows_only = repair is not None and not repair.retrains and bool(repair.rows)
        kind = trial.kind if trial is not None else ""
        self._about.setText("Original model" if rows_only else "Before and after:")
        self.choice.setVisible(not rows_only)
        self.export.setText(
            "E&xport the augmentation rows…" if rows_only else "E&xport this candidate…"
        )
        going = run.state in ("running", "paused")
        can = not going and (rows_only or kind == "portion")
        self.export.setEnabled(can)
        why = (
            "Export is available when the run has ended."
            if going
            else ""
            if can
            else (
                "This model has no augmentation rows, so there is nothing to export. Select a "
                "model with augmentation rows."
            )
        )
        self.export.setToolTip(why)
        self.export.setAccessibleDescription(why)
        self._aside.setText(why)
        self._aside.setVisible(bool(why) and bool(kind))

    def _export(self) -> None:
        run = self._told
        trial = None if run is None else trial_of(run.figures, self._at())
        if run is None or trial is None:
            return
        dialog = ExportDialog(self._session, run.id, trial, self)
        parts.open_dialog(dialog)

    def _tell_step(self, run: RunState) -> None:
        """Say what it does just now, and how far that is."""
        step = step_text(run)
        if step != self._step.text():
            self._step.setText(step)
        counts = run.total > 1
        # of one step nobody knows how far it is: the bar moves all the same
        self._bar.setRange(0, 1000 if counts else 0)
        self._bar.setValue(round(1000 * run.done / run.total) if counts else 0)
        self._bar.setFormat(
            f"step {words.number(run.done)} of {words.number(run.total)}" if counts else ""
        )
        self._bar.setAccessibleDescription(f"{step} {self._bar.format()}")

    def _say(self, run: Run) -> None:
        """Say how the run stands, and what came of it."""
        text = mitigation_words.effort_text(run.figures)
        going = run.state in ("running", "paused")
        # what it spends while it goes on is told by the bar below
        spent = "" if going else f"{words.number(run.queries)} queries"
        lasted = "" if going else words.duration(run.elapsed)
        facts = ", ".join(filter(None, (text, spent, lasted))) or "no result yet"
        state = words.state_word(run.state)
        self._standing.setText(
            f"{OF_STATE[run.state].value} {method_named(run.method).title}, {state}: {facts}."
        )
        tell_failure(self._banner, run, "Run mitigation again…", self.open_form)
        repair = repair_of(run.figures)
        best = chosen_of(run.figures)
        if repair is None:
            self._headline.say(
                "…" if going else "□ No result",
                "No result yet." if going else "The run ended before the first result.",
                run.message if run.state == "done" else "",
            )
            return
        said = mitigation_words.headline(self._session.spec, run.figures)
        sentence = said.sentence
        if going and best is None and repair.retrains:
            sentence = "No candidate model has shown an improvement so far."
        self._headline.say(
            "□ Augmentation rows"
            if not repair.retrains
            else f"{MARKS[said.evidence]} {words.capital(said.evidence)}"
            f"{', so far' if going else ''}",
            sentence,
            run.message if run.state == "done" else "",
        )


def step_text(state: RunState) -> str:
    """Say what a repair does just now."""
    phase, _, percent = state.phase.partition(": ")
    text = _PHASES.get(phase) or phase[:1].upper() + phase[1:] or "Starting"
    if percent:
        text += f", {percent.replace(' %', f'{words.NBSP}%')} added"
    return text
