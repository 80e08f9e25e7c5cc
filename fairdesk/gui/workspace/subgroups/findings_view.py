"""Findings about groups: each in a sentence, and one of them looked into."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QComboBox, QLineEdit, QPushButton, QVBoxLayout, QWidget

from fairdesk.answers.answer import Question
from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import METHODS, method_named, why_off
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.kit.keys import shortcut
from fairdesk.gui.kit.pages import Staying, for_experts
from fairdesk.gui.kit.threads.soon import Soon
from fairdesk.gui.workspace.common.answering import Run
from fairdesk.gui.workspace.common.run_page import RunPage
from fairdesk.gui.workspace.common.statement import Statement
from fairdesk.gui.workspace.session.session import Session
from fairdesk.gui.workspace.subgroups.finding import (
    Finding,
    Key,
    findings_of,
    matching,
    score_text,
)
from fairdesk.gui.workspace.subgroups.findings_list import FindingsList
from fairdesk.gui.workspace.subgroups.other_methods import OtherMethods
from fairdesk.gui.workspace.subgroups.rule_detail import RuleDetail
from fairdesk.gui.workspace.subgroups.supports_view import SupportsView
from fairdesk.results.conditions import Conditions
from fairdesk.results.events import Metric
from fairdesk.results.subgroups import RuleSearchSummary
from fairdesk.wording import words
from fairdesk.wording.groups import subgroups as subgroup_words

#: The method that finds rule sets.
METHOD = "testsgd"
#: In less width the finding stands below the list, not beside it.
_BESIDE = 860
#: How high the list is at least, and its place with the filters where that is above the finding.
_LIST, _ABOVE = 330, 420

#: What findings about groups are, and what not.
EXPLAINED = (
    "A finding is a subgroup whose outcomes differ from those of all others, in the data and in "
    "copies of its rows with one other value slightly changed. It does not show why: members "
    "may differ from all others in more than the protected attributes."
)
#: The same of texts.
EXPLAINED_TEXTS = (
    "A finding is a set of identity terms for which the outcomes of sentences differ from "
    "those with other terms, estimated from sentences of the data in which one term was "
    "replaced by another."
)


def mines(run: Run) -> bool:
    """Return whether a run looks for rule sets."""
    return run.method == METHOD


def mined_of(run: Run) -> tuple[RuleSearchSummary, ...]:
    """Return what a run did, an entry per outcome."""
    return tuple(each for each in run.figures if isinstance(each, RuleSearchSummary))


def off(spec: AuditSpec) -> str:
    """Say why groups cannot be looked for here; empty where they can."""
    if not spec.domain.grouping and not spec.domain.texts.size:
        return "No attribute is protected, so there are no groups to compare."
    return why_off(METHODS[METHOD], spec.model, spec.domain)


class FindingsView(RunPage):
    """Findings about groups.

    Signals
    -------
    find_groups
        A run that looks for groups is wanted.
    again : int, float
        That of this run is wanted again with this least support.
    compare : str
        A run of another method is wanted.
    """

    find_groups = Signal()
    again = Signal(int, float)
    compare = Signal(str)

    def __init__(self, session: Session) -> None:
        super().__init__(session, mines, "Run whose subgroups are shown", Question.SUBGROUPS)
        self._findings: tuple[Finding, ...] = ()
        self._figures: tuple[Metric, ...] = ()
        self._latest: tuple[Finding, ...] = ()
        self._read = False
        self._headline = Statement()
        self._explained = parts.quiet()
        self._chip = QPushButton()
        self._chip.clicked.connect(self._show_newer)
        self._chip.hide()
        self._none = parts.Words()
        self.list = FindingsList()
        self.list.setMinimumHeight(_LIST)
        self.detail = RuleDetail(session)
        self.list.chosen.connect(self._show_detail)
        self.list.touched.connect(self._touch)
        self.list.opened.connect(self.detail.show_people)
        self.detail.chart.opened.connect(self._show_inside)
        self.detail.left.connect(self.list.setFocus)
        self.detail.wanted.connect(self._show_rule)
        shortcut(self.list, "T", self.detail.chart.toggle_table, "Show the chart as a table")
        self.supports = SupportsView(session)
        self.supports.again.connect(self._ask_again)
        self.others = OtherMethods(session)
        self.others.wanted.connect(self.compare)
        self._tested = parts.quiet()
        self.experts = for_experts(
            self._tested, self.detail.around, self.supports, layouts.gap(theme.NEAR), self.others
        )
        self._area = parts.scrolled(self._make_full())
        self._side.follow(self._area)
        self._stack_up(self._make_empty(), self._area)
        session.runs_changed.connect(self._show_others)
        self._redraw = Soon(self, self._show_others)
        session.live_changed.connect(lambda _state: self._redraw.ask())
        self.runs.take_runs()

    def open_run(self, number: int) -> None:
        """Show a run by its number; of another method where it stands."""
        super().open_run(number)
        run = next((each for each in self._session.runs if each.id == number), None)
        if run is not None and not mines(run):
            self.experts.set_open(opened=True)
            self._area.ensureWidgetVisible(self.others)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Put the finding below the list where both do not fit beside each other."""
        super().resizeEvent(event)
        beside = event.size().width() >= _BESIDE
        layouts.turn(self._both, beside=beside)
        self._side.setMaximumHeight(16_777_215 if beside else _ABOVE)
        self._side.set_staying(stays=beside)

    # Parts

    def _make_empty(self) -> QWidget:
        many, spec = self._session.many, self._session.spec
        reason = off(spec)
        button = parts.push_button("&Find subgroups", self.find_groups)
        names = words.listed([each.name for each in spec.domain.grouping])
        return parts.empty_page(
            "No subgroup discovery yet",
            f"Discriminatory pairs concern one {spec.person} at a time. Outcomes may still differ "
            f"between subgroups of {many} defined by {names or 'protected attributes'}, "
            "alone or together. FairDesk tests every subgroup with enough members and "
            "ranks them by their gap to all others.",
            parts.why_not(button, (reason,)),
            button,
        )

    def _make_full(self) -> QWidget:
        head = layouts.row(
            layouts.grow(self._standing),
            layouts.at(self.runs, Qt.AlignmentFlag.AlignTop),
            spacing=theme.NEAR,
        )
        self._start = parts.push_button("&Find subgroups", self.find_groups)
        self._left = layouts.panel(
            self._make_filters(), self._chip, layouts.grow(self.list), spacing=theme.NEAR
        )
        self._both = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._both.setSpacing(theme.WIDE)
        self._side = Staying(self._left)
        self._both.addWidget(self._side, 4)
        self._both.addWidget(self.detail, 6)
        return layouts.panel(
            head,
            self._banner,
            self._headline,
            self._explained,
            layouts.at(self._start, Qt.AlignmentFlag.AlignLeft),
            self._none,
            self._both,
            self.experts,
            layouts.stretch(),
            margin=(0, theme.GAP, theme.PAGE, theme.WIDE),
            spacing=theme.GAP,
        )

    def _make_filters(self) -> QVBoxLayout:
        self._search = QLineEdit()
        self._search.setPlaceholderText("Search the subgroups")
        self._search.setClearButtonEnabled(True)
        self._search.setAccessibleName("Search the subgroups by their rules")
        self._search.textChanged.connect(lambda _text: self._filter())
        self._attribute = parts.bounded(QComboBox())
        self._attribute.setAccessibleName("Attribute in the rule")
        self._outcome = parts.bounded(QComboBox())
        self._outcome.setAccessibleName("Decision that is counted")
        for combo in (self._attribute, self._outcome):
            combo.currentIndexChanged.connect(lambda _index: self._filter())
            parts.calm(combo)
        row = layouts.row(
            layouts.grow(self._attribute), layouts.grow(self._outcome), spacing=theme.NEAR
        )
        return layouts.column(self._search, row, spacing=theme.TIGHT)

    # What happens

    def _take(self, run: Run) -> None:
        if self._told is None or self._told.id != run.id:
            self._read = False
        super()._take(run)

    def _touch(self) -> None:
        """Remember that the auditor reads: nothing moves under their eyes from now on."""
        live = self._session.live
        self._read = live is not None and self._told is not None and live.id == self._told.id

    def _catch_up(self) -> None:
        self._show_others()
        super()._catch_up()

    def _show(self) -> None:
        """Show the figures as they stand."""
        shown = self._told is not None
        for widget in (
            *(self._standing, self._headline, self._side, self.detail),
            *(self.detail.around, self.supports),
        ):
            widget.setVisible(shown)
        self._start.setVisible(not shown)
        self._start.setEnabled(not off(self._session.spec))
        self._none.setVisible(False)
        super()._show()

    def _show_run(self, run: Run) -> None:
        mined = mined_of(run)
        texts = any(each.texts for each in mined)
        self._explained.setText(EXPLAINED_TEXTS if texts else EXPLAINED)
        self._list_choices(mined)
        if run.figures is not self._figures:
            self._figures = run.figures
            self._latest = findings_of(self._session.spec, run.figures)
        found = self._latest
        going = run.state in ("running", "paused")
        if self._read and self._findings and found != self._findings:
            self._chip.setText(f"● {words.counted(len(found), 'finding')} found so far: show them")
            self._chip.show()
        else:
            self._show_findings(found)
        self._say(run)
        any_found = bool(self._findings)
        for widget in (self._side, self.detail, self.detail.around):
            widget.setVisible(any_found)
        self._none.setVisible(not any_found and not going)
        self._none.setText(_nothing(mined))
        summary = next(
            (each for each in mined if each.outcome == self._chosen_outcome(mined)), None
        )
        self.supports.setVisible(summary is not None and not going)
        if summary is not None and not going:
            self.supports.show_mined(summary)

    def _show_newer(self) -> None:
        self._show_findings(self._latest)
        self._read = False
        self._show()

    def _show_findings(self, found: tuple[Finding, ...]) -> None:
        self._chip.hide()
        self._findings = found
        self._filter()

    def _filter(self) -> None:
        """List what is asked for."""
        outcome = self._outcome.currentData()
        wanted = matching(
            self._findings,
            self._search.text().strip(),
            self._attribute.currentData() or "",
            outcome if self._outcome.count() > 1 else None,
        )
        self.list.show_findings(wanted)
        if (finding := self.list.finding) is not None and finding != self.detail.finding:
            self._show_detail(finding)

    def _list_choices(self, mined: tuple[RuleSearchSummary, ...]) -> None:
        """Offer the attributes and outcomes that there are."""
        attributes = tuple(dict.fromkeys(name for each in mined for name in each.attributes))
        outcomes = tuple(each.outcome for each in mined)
        names = ((name, name) for name in attributes)
        decisions = ((_outcome_text(each), each) for each in outcomes)
        parts.offer(self._attribute, (("Any attribute", None), *names))
        parts.offer(self._outcome, (("Any decision", None), *decisions))
        self._attribute.setVisible(len(attributes) > 1)
        self._outcome.setVisible(len(outcomes) > 1)

    def _chosen_outcome(self, mined: tuple[RuleSearchSummary, ...]) -> str:
        chosen = self._outcome.currentData()
        outcomes = [each.outcome for each in mined]
        return chosen if chosen in outcomes else next(iter(outcomes), "")

    def _show_detail(self, finding: Finding) -> None:
        self.detail.show_finding(finding, self._known(finding.rule_set.outcome))

    def _show_inside(self, place: int) -> None:
        """Go to the individuals in the subgroup when one of its rates is pressed."""
        if self.detail.chart.drawing.rates[place].inside and self.detail.show_people():
            # once there is room for it
            QTimer.singleShot(0, partial(self._area.ensureWidgetVisible, self.detail.people))

    def _known(self, outcome: str) -> frozenset[Conditions]:
        return frozenset(
            one.rule_set.conditions
            for each in self._findings
            for one in (each, *each.variants)
            if one.rule_set.outcome == outcome
        )

    def show_finding(self, key: Key) -> None:
        """Choose a finding by what it says, whatever the list is filtered by."""
        if self.list.select(key):
            return
        for widget in (self._search, self._attribute, self._outcome):
            with QSignalBlocker(widget):
                if isinstance(widget, QLineEdit):
                    widget.clear()
                else:
                    widget.setCurrentIndex(0)
        self._filter()
        self.list.select(key)

    def _show_rule(self, conditions: Conditions) -> None:
        """Look at another rule of the same outcome, where it is a finding."""
        finding = self.detail.finding
        if finding is not None and conditions in self._known(finding.rule_set.outcome):
            self.show_finding((finding.rule_set.outcome, conditions))

    def _ask_again(self, theta: float) -> None:
        if self._told is not None:
            self.again.emit(self._told.id, theta)

    def _show_others(self) -> None:
        """Show what other methods found, and whether there is anything to show at all."""
        live = self._session.live
        runs: list[Run] = [*self._session.runs]
        if live is not None and live.id:
            runs.append(live)
        about = [run for run in runs if method_named(run.method).answers is QuestionKind.GROUPS]
        self._stack.setCurrentIndex(1 if about or self._told is not None else 0)
        if self.isVisible():
            self.others.show_runs(about)

    def _say(self, run: Run) -> None:
        """Say how the run stands, and what came of it, the number first."""
        self._say_standing(run)
        self._tell_failure(run, "Run subgroup discovery again", self.find_groups.emit)
        mined = mined_of(run)
        chosen = self._chosen_outcome(mined)
        first = next((each for each in mined if each.outcome == chosen), None)
        if first is None:
            going = run.state in ("running", "paused")
            self._tested.say("")
            self._headline.say(
                "…" if going else "□ Nothing found",
                "No result yet." if going else "The run ended before the first result.",
                run.message if run.state == "done" else "",
            )
            return
        sentence = subgroup_words.mined_sentence(self._session.spec, first)
        best = next((each for each in self._findings if each.mined.outcome == chosen), None)
        if best is None:
            self._headline.say("▨ Estimated", sentence, "\n".join(first.notes))
            self._tested.say("")
            return
        so_far = " so far" if run.state in ("running", "paused") else ""
        largest = "Largest gap" if first.texts else "Gap to all others"
        counted = subgroup_words.is_counted(best.rule_set)
        said = f"{score_text(chosen, subgroup_words.quoted_gap(best.rule_set))}: {best.sentence}."
        if first.texts or not (counted and best.rule_set.holds_on_data):
            counted = False
            spec = self._session.spec
            brief = subgroup_words.widest_statement(spec, first, best.rule_set).brief
            said = f"{score_text(chosen, best.rule_set.score)}. {brief}"
        self._headline.say("□ Observed" if counted else "▨ Estimated", f"{largest}{so_far}, {said}")
        self._tested.say("\n".join((sentence, *first.notes)))


def _outcome_text(outcome: str) -> str:
    return f"“{outcome}”" if outcome else "Mean score"


def _nothing(mined: tuple[RuleSearchSummary, ...]) -> str:
    """Say why no rule set is listed."""
    if not mined:
        return ""
    least = f"{100 * mined[0].theta:g}{words.NBSP}%"
    return (
        f"No subgroup reaches the minimum support of {least} of the rows. Choose a smaller minimum "
        "support below, or protect attributes with larger groups."
    )
