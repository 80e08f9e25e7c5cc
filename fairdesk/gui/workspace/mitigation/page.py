"""Mitigation: what to mitigate and how, its models to pick from, before and after, the export."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent

from fairdesk.answers import Question
from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import method_named
from fairdesk.audit.store.records import LogEntry, RunRecord, RunState
from fairdesk.document import mitigation
from fairdesk.document.blocks import Heading
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.kit.pages import page_head
from fairdesk.gui.workspace.common.blocks_view import BlocksView
from fairdesk.gui.workspace.common.run_page import EXAMPLES, Run, RunPage, page_of, report_link
from fairdesk.gui.workspace.mitigation.export import ExportDialog
from fairdesk.gui.workspace.mitigation.form import (
    PAIRS,
    RULES,
    Offer,
    RepairForm,
    offer_of,
    rules_of,
    wrong_with,
)
from fairdesk.gui.workspace.report.exports import Saved, open_path
from fairdesk.gui.workspace.session.session import Session
from fairdesk.results.subgroups import RuleSet
from fairdesk.results.trials import lowest_portion, repair_of, trial_of, trials_of
from fairdesk.wording import mitigation as mitigation_words
from fairdesk.wording import words
from fairdesk.wording.trials import trial_name

#: What will be here.
_EMPTY = (
    "No mitigation yet. Several amounts of rows will be tried, and discrimination and accuracy "
    "compared before and after. The data and the model can then be exported."
)
#: What the log says of a mark.
_MARKED = re.compile(r"Pair [0-9,]+: (flagged|dismissed|not marked)\.")


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


class RepairPage(RunPage):
    """Mitigations.

    Signals
    -------
    stands
        How the newest mitigation stands has changed: it is out of date, or no more.
    """

    stands = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__(session, repairs, "Run whose mitigation is shown", Question.MITIGATION)
        self._log: tuple[LogEntry, ...] = ()
        #: The run that was shown last, and which of its models the auditor picked.
        self._run, self._picked = 0, -1
        #: The models that the rows of its chart and table are of, by the blocks' keys.
        self._numbers: dict[str, tuple[int, ...]] = {}
        #: Why nothing can be mitigated here at all; ``None`` until it is known.
        self._wrong: str | None = None
        self.outdated = ""
        self._old, self._saved = parts.Banner(), Saved()
        self.form = RepairForm(session.spec)
        wishes = session.wishes
        self.form.start.connect(lambda: wishes.mitigate.emit(self.form.run()))
        self.form.search_wanted.connect(wishes.run_again)
        self.form.show_examples.connect(partial(wishes.show_page.emit, EXAMPLES))
        self.fold = parts.Fold("&What to mitigate, labels, limits")
        self.said, self.models, self.model = (BlocksView(session) for _ in range(3))
        self.models.picked.connect(self._pick)
        self.export = parts.push_button("E&xport this candidate…", self._export)
        self._lay_out()
        session.runs_changed.connect(self._look)
        session.pair_changed.connect(lambda _pair: self._look())
        session.log_changed.connect(self._read_log)
        session.live_changed.connect(self._follow)
        self.runs.take_runs()
        self._look()

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

    def _lay_out(self) -> None:
        self.fold.body.setContentsMargins(0, 0, 0, 0)
        self.fold.body.addWidget(self.form)
        self._name, self._aside = parts.heading(""), parts.quiet()
        self._name.setWordWrap(False)
        self._export_row = layouts.panel(
            layouts.row(
                layouts.grow(self._name),
                report_link(self._session, self._places),
                self.export,
                spacing=theme.NEAR,
            ),
            self._aside,
            spacing=theme.TIGHT,
        )
        self._empty = parts.quiet(_EMPTY)
        self._area = page_of(
            page_head("Mitigation", self.runs),
            parts.quiet(mitigation.WHAT),
            *(
                self._empty,
                self._banner,
                self._old,
                self._saved,
                self._standing,
                self.said,
                self.fold,
            ),
            *(self.models, self._export_row, self.model),
        )
        layouts.column(self._area, on=self)
        self._export_row.hide()
        self.fold.set_open(opened=True)

    def _places(self) -> tuple[str, ...]:
        return f"mitigation/models-{self._run}", f"mitigation/trials-{self._run}", "mitigation"

    # What there is to mitigate

    def _look(self) -> None:
        """Look into the file for what there is to mitigate, where somebody could see it."""
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
        self._follow()

    def _read_log(self) -> None:
        if any(repairs(run) for run in self._session.runs):
            self._session.store.ask(
                lambda store: tuple(store.log_entries()), self._take_log, key="repair log"
            )

    def _take_log(self, log: tuple[LogEntry, ...]) -> None:
        self._log = log
        self._tell_old()

    def _tell_old(self) -> None:
        """Say where the mitigation that is shown, or the newest one, is out of date."""
        runs = self._session.runs
        mine = [run for run in runs if repairs(run) and run.state != "running"]
        newest = since(mine[-1], runs, self._log) if mine else ""
        if newest != self.outdated:
            self.outdated = newest
            self.stands.emit()
        shown = next((run for run in mine if run.id == self.runs.shown), None)
        changed = since(shown, runs, self._log) if shown is not None else ""
        if changed and self._session.live is None:
            again = (("Run mitigation again…", self.open_form),)
            self._old.say("This mitigation is out of date.", changed, again)
        else:
            self._old.clear()

    def _follow(self, _state: RunState | None = None) -> None:
        self.form.show_busy(busy=self._session.live is not None)

    # What came of one

    def _take(self, run: Run) -> None:
        if run.id != self._run:
            # what comes of it is read before another is asked for
            if not self._run or run.state == "running":
                self.fold.set_open(opened=False)
                self._area.verticalScrollBar().setValue(0)
            self._run, self._picked = run.id, -1
            self._tell_old()
        super()._take(run)

    def _show_run(self, run: Run) -> None:
        self._empty.hide()
        effort = mitigation_words.effort_text(run.figures)
        self._say_standing(run, f"{effort}." if effort else "")
        self._tell_failure(run, "Run mitigation again…", self.open_form)
        self.said.show_blocks([mitigation.statement(self._session.spec, run)])
        charts, tables = mitigation.models(run), mitigation.candidates(run)
        trials = tuple(each.number for each in trials_of(run.figures))
        self._numbers = {each.key: each.drawing.numbers for each in charts}
        self._numbers |= {each.key: trials for each in tables}
        self.models.show_blocks([*charts, *tables])
        self._export_row.setVisible(bool(trials))
        self._show_model(run)

    def _pick(self, key: str, row: int, _column: int) -> None:
        """Show another model: that of a bar, or of a row of the table of all."""
        if self._told is not None:
            self._picked = self._numbers[key][row]
            self._show_model(self._told)

    def _at(self, run: Run) -> int:
        """Return the trial that is looked at: picked, else chosen, else with least to mitigate."""
        repair, lowest = repair_of(run.figures), lowest_portion(run.figures)
        chosen = -1 if repair is None else repair.chosen
        wanted = (self._picked, chosen, -1 if lowest is None else lowest.number)
        measured = [each.number for each in trials_of(run.figures) if each.measures]
        return next((each for each in wanted if each in measured), max(measured, default=-1))

    def _show_model(self, run: Run) -> None:
        """Show the model that is looked at beside those before, and whether it can be exported."""
        spec, number = self._session.spec, self._at(run)
        trial, repair = trial_of(run.figures, number), repair_of(run.figures)
        for key, numbers in self._numbers.items():
            self.models.mark(key, numbers.index(number) if number in numbers else None)
        rows_only = repair is not None and not repair.retrains and bool(repair.rows)
        name = "" if trial is None else trial_name(trial)
        self._name.setText(name if rows_only else f"Before and after: {name}")
        self.export.setText(
            "E&xport the augmentation rows…" if rows_only else "E&xport this candidate…"
        )
        why = ""
        if run.state in ("running", "paused"):
            why = "Export is available when the run has ended."
        elif not rows_only and (trial is None or trial.kind != "portion"):
            why = (
                "This model has no augmentation rows, so there is nothing to export. Select a "
                "model with augmentation rows."
            )
        self.export.setEnabled(not why)
        self.export.setToolTip(why)
        self.export.setAccessibleDescription(why)
        self._aside.say(why)
        tables = mitigation.before_after(run, number)
        self.model.show_blocks(
            [
                *(each for each in tables if not each.appended),
                *mitigation.remarks(run),
                Heading("By group", appended=True),
                *(each for each in tables if each.appended),
                Heading("How the models were made", appended=True),
                *mitigation.making(spec, run),
                Heading(mitigation.NOT_SHOWN, appended=True),
                *mitigation.limits(spec),
            ]
        )

    def _export(self) -> None:
        run = self._told
        trial = None if run is None else trial_of(run.figures, self._at(run))
        if run is not None and trial is not None:
            dialog = ExportDialog(self._session, run.id, trial, self)
            dialog.accepted.connect(lambda: self._tell_written(dialog.written))
            parts.open_dialog(dialog)

    def _tell_written(self, written: tuple[Path, ...]) -> None:
        self._session.log_changed.emit()
        if written:
            folder = written[0].parent
            self._session.said.emit(f"Written to {folder}.")
            names = "\n".join(f"• {path.name}" for path in written)
            shows = ("Show &folder", partial(open_path, folder))
            self._saved.say(f"✓ Written to {folder}", names, (shows, ("Close", self._saved.clear)))
