"""Another run of the same audit: which method, which seed, for how long, going on with which."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QPushButton,
    QSpinBox,
    QWidget,
)

from fairdesk.app.standard import takes_distance, timed_run
from fairdesk.audit.catalogue.method import ABOUT_GROUPS, QuestionKind
from fairdesk.audit.catalogue.methods import METHODS, remark, why_off
from fairdesk.audit.plan.spec import AuditSpec, Budget, OptionValue, RunSpec
from fairdesk.audit.store.records import RunRecord
from fairdesk.gui.forms.method_picker import MethodPicker, NearField, ending
from fairdesk.gui.forms.rules_form import RulesForm
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.workspace.common.run_page import can_go_on
from fairdesk.wording import words

_LENGTHS: tuple[tuple[str, float | None], ...] = (
    ("Quick: 1 minute", 60.0),
    ("Standard: 10 minutes", 600.0),
    ("Thorough: 1 hour", 3600.0),
    ("Until completion", None),
)
_MOST = 2**31 - 1
#: In less width the methods would cover what is said of the chosen one.
_LEAST = 680


class AgainDialog(QDialog):
    """Asks for a run.

    Parameters
    ----------
    audit : AuditSpec
        What is audited: tells which methods are off.
    last : RunRecord, optional
        The run before: the same is offered, with the next seed.
    """

    def __init__(
        self,
        audit: AuditSpec,
        last: RunRecord | None,
        parent: QWidget | None = None,
        *,
        method: str = "",
        queued: bool = False,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("New run")
        before = (
            RunSpec("quick", seed=-1, budget=Budget(seconds=60.0), plausible=True)
            if last is None
            else last.spec
        )
        self._last, self._audit, self._queued = last, audit, queued
        #: What methods about groups compare, as far as was said.
        self._rules = before
        self._options = {before.method: dict(before.options)}
        self._off = {
            key: why
            for key, each in METHODS.items()
            if (why := why_off(each, audit.model, audit.domain))
        }
        self.picker = MethodPicker()
        remarks = {key: remark(each, audit.model, audit.domain) for key, each in METHODS.items()}
        usual = next((key for key in METHODS if key not in self._off), before.method)
        offered = before.method if before.method not in self._off else usual
        self.picker.show_methods(method or offered, self._options, self._off, remarks)
        self._seed = QSpinBox()
        self._seed.setRange(0, _MOST)
        self._seed.setValue(min(before.seed + 1, _MOST))
        self._length = QComboBox()
        lengths = list(_LENGTHS)
        if before.budget.seconds not in [seconds for _text, seconds in lengths]:
            lengths.insert(
                0, (f"As before: {before.budget.seconds:g} seconds", before.budget.seconds)
            )
        for text, seconds in lengths:
            self._length.addItem(text, seconds)
        self._length.setCurrentIndex([each for _text, each in lengths].index(before.budget.seconds))
        self._queries = before.budget.queries
        self.near = NearField()
        # a search is kept to plausible pairs unless the one before was not
        plausible = before.plausible or not METHODS[before.method].seeks
        self.near.show_value(before.max_distance, audit.person, plausible=plausible)
        self.rules = RulesForm()
        self._ends = parts.quiet()
        self.goes_on = QCheckBox()
        self.goes_on.setChecked(last is not None and bool(last.spec.continues))
        parts.calm(self._seed, self._length)
        self._lay_out()
        self.picker.chosen.connect(self._tell)
        self.picker.option_set.connect(self._set_option)
        self.rules.changed.connect(self._take_rules)
        self._tell()
        self.setMinimumWidth(_LEAST)
        parts.resize_on_screen(self, 960, 780)

    def run(self) -> RunSpec:
        """Return what was asked for."""
        method = self.picker.key
        goes_on = self._what_goes_on() and self.goes_on.isChecked()
        run = self._with_rules(
            RunSpec(
                method=method,
                options=self._options.get(method, {}),
                seed=self._seed.value(),
                budget=Budget(seconds=self._length.currentData(), queries=self._queries),
                max_distance=self.near.value,
                continues=self._last.id if self._last is not None and goes_on else 0,
                plausible=self.near.plausible.isChecked(),
            )
        )
        return timed_run(run)

    def _with_rules(self, run: RunSpec) -> RunSpec:
        """Put what is compared into a run of a method that asks for it."""
        method, rules, domain = METHODS[run.method], self._rules, self._audit.domain
        texts = [domain.names[i] for i in domain.texts.tolist()] if method.reads else []
        text = rules.text if rules.text in texts or domain.grouping else next(iter(texts), "")
        if text in texts:
            return msgspec.structs.replace(run, text=text, terms=rules.terms)
        return msgspec.structs.replace(run, edges=rules.edges) if method.divides else run

    def _what_goes_on(self) -> str:
        """Say what the chosen method could take over from the last run; empty for nothing."""
        last, answers = self._last, METHODS[self.picker.key].answers
        if last is None or answers in ABOUT_GROUPS:
            return ""
        if answers is QuestionKind.PROOF:
            same = self.picker.key == last.spec.method
            return "keep what is already proven" if same and can_go_on(last) else ""
        return f"exclude the {words.number(last.found)} pairs already found" if last.found else ""

    def _offer_to_go_on(self) -> None:
        """Offer to take over what the last run has found, or proven."""
        what = self._what_goes_on()
        self.goes_on.setVisible(bool(what))
        if self._last is not None:
            self.goes_on.setText(f"&Continue run {self._last.id}: {what}")

    def _lay_out(self) -> None:
        row = layouts.row(spacing=theme.PAGE)
        length = parts.labelled("Time &limit", self._length)
        length.addWidget(self._ends)
        seed = parts.labelled(
            "Random &seed",
            self._seed,
            "A different seed changes the random choices, and so usually the results.",
        )
        for column in (length, seed):
            column.addStretch(1)
            row.addLayout(column, 1)
        inside = layouts.panel(
            self.picker,
            self.rules,
            row,
            self.near,
            self.goes_on,
            layouts.stretch(),
            margin=(0, 0, theme.NEAR, 0),
            spacing=theme.GAP,
        )
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self._start = QPushButton("Add &to queue" if self._queued else "S&tart run")
        buttons.addButton(self._start, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.button(QDialogButtonBox.StandardButton.Cancel).setAutoDefault(False)
        self._start.setDefault(True)
        theme.fill(self._start)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        area = parts.scrolled(inside)
        column = layouts.column(
            parts.title("New run"),
            parts.quiet("Earlier runs stay in the audit. Every run is listed in the report."),
            layouts.grow(area),
            buttons,
            on=self,
            margin=theme.WIDE,
            spacing=theme.GAP,
        )
        # once the layout has made room for what was opened
        self.picker.opened.connect(
            lambda: QTimer.singleShot(50, area, lambda: area.ensureWidgetVisible(self.picker))
        )

    def _set_option(self, name: str, value: OptionValue) -> None:
        self._options.setdefault(self.picker.key, {})[name] = value
        self._tell()

    def _take_rules(self) -> None:
        answers, rules = self.rules.answers, self._rules
        if self.rules.offers_texts:
            rules = msgspec.structs.replace(rules, text=answers.text)
        self._rules = (
            msgspec.structs.replace(rules, terms=answers.terms)
            if answers.text
            else msgspec.structs.replace(rules, edges=answers.edges)
        )
        self._allow()

    def _tell(self) -> None:
        """Let a run begin only with a method that the model can serve, and offer what fits it."""
        self._offer_to_go_on()
        self._ends.setText(ending(self.picker.key))
        self._length.setAccessibleDescription(self._ends.text())
        self.near.setVisible(takes_distance(self.picker.key))
        self.near.offer_plausible(offered=METHODS[self.picker.key].seeks)
        audit = self._audit
        self.rules.show_run(self.run(), audit.domain, audit.columns, audit.person)
        self._allow()

    def _allow(self) -> None:
        """Let it start when the method can be used, and has what it compares."""
        self._start.setEnabled(self.picker.key not in self._off and not self.rules.wrong.text())
