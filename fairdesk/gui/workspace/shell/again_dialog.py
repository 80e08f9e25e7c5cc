"""Another run of the same audit: which method, which seed, for how long, going on with which."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import (
    QCheckBox,
    QWidget,
)

from fairdesk.app.standard import takes_distance, timed_run
from fairdesk.audit.catalogue.method import ABOUT_GROUPS, QuestionKind
from fairdesk.audit.catalogue.methods import METHODS, remark, why_off
from fairdesk.audit.plan.spec import AuditSpec, Budget, OptionValue, RunSpec
from fairdesk.audit.store.records import RunRecord
from fairdesk.gui.forms.dialogs import FormDialog
from fairdesk.gui.forms.method_picker import QUESTIONS, MethodPicker, NearField, ending
from fairdesk.gui.forms.rules_form import RulesForm
from fairdesk.gui.kit import fields, layouts, parts, theme
from fairdesk.gui.workspace.common.run_page import can_go_on
from fairdesk.wording import words

_LENGTHS: tuple[tuple[str, float | None], ...] = (
    ("Quick: 1 minute", 60.0),
    ("Standard: 10 minutes", 600.0),
    ("Thorough: 1 hour", 3600.0),
    ("Until completion", None),
)
#: In less width the methods would cover what is said of the chosen one.
_LEAST = 680
#: The searches that are compared at first, as far as the model allows them.
_FIRST = ("maft", "aequitas-full", "uniform")
_ONE = "Earlier runs stay in the audit. Every run is listed in the report."
_MANY = (
    "The ticked methods run one after the other, each with the same limits and random seed. Their "
    "results are kept like those of any run."
)


class AgainDialog(FormDialog):
    """Asks for a run, or for runs of several searches that are compared.

    Parameters
    ----------
    audit : AuditSpec
        What is audited: tells which methods are off.
    last : RunRecord, optional
        The run before: the same is offered, with the next seed.
    seed : int
        The seed that is offered where there is no run before.
    several : bool
        Whether searches are ticked, to be compared.
    """

    def __init__(
        self,
        audit: AuditSpec,
        last: RunRecord | None,
        parent: QWidget | None = None,
        *,
        method: str = "",
        queued: bool = False,
        seed: int = 0,
        several: bool = False,
    ) -> None:
        super().__init__("Compare methods" if several else "New run", parent)
        before = (
            RunSpec("quick", seed=seed - 1, budget=Budget(seconds=60.0), plausible=not several)
            if last is None
            else last.spec
        )
        self._last, self._audit, self._several = last, audit, several
        #: What methods about groups compare, as far as was said.
        self._rules = before
        self._options = {before.method: dict(before.options)}
        self._off = {
            key: why
            for key, each in METHODS.items()
            if (why := why_off(each, audit.model, audit.domain))
        }
        self._taken = [key for key in _FIRST if several and key not in self._off]
        kinds = (QuestionKind.EXAMPLES,) if several else QUESTIONS
        self.picker = MethodPicker(several=several, kinds=kinds)
        remarks = {key: remark(each, audit.model, audit.domain) for key, each in METHODS.items()}
        there = [key for key in self.picker.items if key not in self._off]
        wanted = (*self._taken, method, before.method, *there, *self.picker.items)
        first = next(key for key in wanted if key in self.picker.items)
        if not (several or method) and first in self._off:
            first = next(iter(there), first)
        self.picker.show_methods(first, self._options, self._off, remarks, self._taken)
        self._seed = fields.seed(before.seed + 1)
        lengths, seconds = list(_LENGTHS), before.budget.seconds
        if seconds not in [each for _text, each in lengths]:
            lengths.insert(0, (f"As before: {seconds:g} seconds", seconds))
        self._length = fields.choice(lengths)
        self._length.setCurrentIndex([each for _text, each in lengths].index(seconds))
        self._queries = fields.whole(0, fields.MOST_SEED, before.budget.queries or 0)
        self._queries.setSpecialValueText("no limit")
        self._queries.setSingleStep(20_000)
        self._queries.setGroupSeparatorShown(True)
        self.near = NearField()
        # a search is kept to plausible pairs unless the one before was not
        plausible = before.plausible or not METHODS[before.method].seeks
        self.near.show_value(before.max_distance, audit.person, plausible=plausible)
        self.rules = RulesForm()
        self._ends = parts.quiet()
        self.goes_on = QCheckBox()
        self.goes_on.setChecked(last is not None and bool(last.spec.continues))
        self.ok_button.setText("Add &to queue" if queued else "S&tart run" + "s" * several)
        self._lay_out()
        self.picker.chosen.connect(self._tell)
        self.picker.taken.connect(self._take)
        self.picker.option_set.connect(self._set_option)
        self.rules.changed.connect(self._take_rules)
        self._tell()
        self.setMinimumWidth(_LEAST)
        parts.resize_on_screen(self, 960, 780)

    def run(self, method: str = "") -> RunSpec:
        """Return what was asked for: of the chosen method, or of another."""
        method = method or self.picker.key
        goes_on = self._what_goes_on() and self.goes_on.isChecked()
        budget = Budget(self._length.currentData(), self._queries.value() or None)
        run = self._with_rules(
            RunSpec(
                method=method,
                options=self._options.get(method, {}),
                seed=self._seed.value(),
                budget=budget,
                max_distance=self.near.value,
                continues=self._last.id if self._last is not None and goes_on else 0,
                plausible=self.near.plausible.isChecked(),
            )
        )
        return timed_run(run)

    def runs(self) -> tuple[RunSpec, ...]:
        """Return what was asked for, in the order in which it is to run."""
        return tuple(map(self.run, self._methods))

    @property
    def _methods(self) -> tuple[str, ...]:
        """The methods that are to run."""
        if not self._several:
            return (self.picker.key,)
        return tuple(key for key in self.picker.items if key in self._taken)

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
        length = fields.labelled("Time &limit", self._length)
        length.addWidget(self._ends)
        limits = (
            length,
            fields.labelled("Ma&ximum queries", self._queries),
            fields.labelled(
                "Random &seed",
                self._seed,
                "A different seed changes the random choices, and so usually the results.",
            ),
        )
        for column in limits:
            column.addStretch(1)
        inside = layouts.panel(
            *(self.picker, self.rules),
            layouts.row(*(layouts.grow(each) for each in limits), spacing=theme.PAGE),
            *(self.near, self.goes_on, layouts.stretch()),
            margin=(0, 0, theme.NEAR, 0),
            spacing=theme.GAP,
        )
        theme.fill(self.ok_button)
        area = parts.scrolled(inside)
        for widget in (
            parts.title(self.windowTitle()),
            parts.quiet(_MANY if self._several else _ONE),
        ):
            self.body.addWidget(widget)
        self.body.addWidget(area, 1)
        self._add_buttons()
        # once the layout has made room for what was opened
        self.picker.opened.connect(
            lambda: QTimer.singleShot(50, area, lambda: area.ensureWidgetVisible(self.picker))
        )

    def _take(self, method: str, wanted: bool) -> None:  # noqa: FBT001 - the signal's argument
        self._taken = [*(each for each in self._taken if each != method), *[method] * wanted]
        self._tell()

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
        self.near.setVisible(any(map(takes_distance, self._methods)))
        self.near.offer_plausible(offered=any(METHODS[each].seeks for each in self._methods))
        audit = self._audit
        self.rules.show_run(self.run(), audit.domain, audit.columns, audit.person)
        self._allow()

    def _allow(self) -> None:
        """Let it start when the methods can be used, and have what they compare."""
        usable = bool(self._methods) and not any(each in self._off for each in self._methods)
        self.ok_button.setEnabled(usable and not self.rules.wrong.text())
        self.ok_button.setToolTip("" if self._methods else "Select a method first")
