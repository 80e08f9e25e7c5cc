"""Subgroups that were discovered: which to list and to look into, the rows inside, a run again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from PySide6.QtCore import QSignalBlocker, Qt, QTimer
from PySide6.QtWidgets import QComboBox, QLineEdit, QPushButton, QScrollArea, QWidget

from fairdesk.answers import Question, decision_tables
from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import METHODS, method_named, why_off
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.document import subgroup, subgroups
from fairdesk.document.blocks import Block, Text
from fairdesk.gui.kit import fields, layouts, parts, theme
from fairdesk.gui.kit.keys import shortcut
from fairdesk.gui.kit.pages import for_experts
from fairdesk.gui.kit.threads import Soon
from fairdesk.gui.workspace.common.blocks_view import BlocksView
from fairdesk.gui.workspace.common.run_page import OF_STATE, Run, RunPage, page_of, report_link
from fairdesk.gui.workspace.groups.data_rows import RowsView, rows_inside
from fairdesk.gui.workspace.session.session import Session
from fairdesk.results.events import Metric
from fairdesk.results.groups import GroupTable
from fairdesk.results.proofs import Conditions
from fairdesk.results.subgroups import RuleSearchSummary, RuleSet
from fairdesk.wording import words
from fairdesk.wording.groups import findings as finding_words
from fairdesk.wording.groups.findings import Finding

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
    """What other minimum supports give, and a button that asks for a smaller one."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._run = 0
        self.blocks = BlocksView(session, folds=False)
        self._lower = fields.choice(name="Other minimum support")
        self._lower.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self._button = parts.push_button("Find subgroups a&gain with", self._ask)
        layouts.column(
            parts.heading("How results change with the minimum support"),
            parts.quiet(_SUPPORTS),
            self.blocks,
            layouts.row(self._button, self._lower, layouts.stretch(), spacing=theme.NEAR),
            on=self,
            spacing=theme.GAP,
        )

    def _ask(self) -> None:
        theta = float(self._lower.currentData())
        self._session.wishes.find_groups_again.emit(self._run, theta)

    def show_mined(self, run: int, mined: RuleSearchSummary) -> None:
        """Show the results of a run by their minimum support."""
        self._run = run
        self.blocks.show_blocks(subgroups.supports(self._session.spec, mined))
        of = "texts" if mined.texts else "rows"
        smaller = [each for each in _LOWER if each < mined.theta]
        texts = (f"at least {100 * each:g}{words.NBSP}% of the {of}" for each in smaller)
        fields.offer(self._lower, zip(texts, smaller, strict=True))
        for widget in (self._button, self._lower):
            widget.setVisible(bool(smaller))


class OtherMethods(QWidget):
    """The newest run of each other method."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.blocks = BlocksView(session)
        self.buttons = {method: self._make_button(method) for method in BASELINES}
        layouts.column(
            *(parts.heading("Results of other methods"), parts.quiet(_OTHERS), self.blocks),
            layouts.row(*self.buttons.values(), layouts.stretch(), spacing=theme.NEAR),
            on=self,
            spacing=theme.GAP,
        )

    def show_runs(self, runs: Sequence[Run]) -> None:
        """Show the newest run of each."""
        spec, said = self._session.spec, list[Block]()
        for method, button in self.buttons.items():
            button.setEnabled(not self._why_off(method))
            run = next((each for each in reversed(runs) if each.method == method), None)
            if run is not None:
                button.setText(f"{METHODS[method].short_title} again")
                standing = (
                    f"{OF_STATE[run.state].value} {METHODS[method].title}, "
                    f"{words.state_word(run.state)}: {words.number(run.queries)} queries, "
                    f"{words.duration(run.elapsed)}. {run.message}".strip()
                )
                said += [Text(standing), subgroups.opening(spec, run, ())]
                said += subgroups.other_methods(spec, run)
        self.blocks.show_blocks(said)

    def _make_button(self, method: str) -> QPushButton:
        run = partial(self._session.wishes.run_method.emit, method)
        button = parts.push_button(f"Run {METHODS[method].short_title}", lambda _on: run())
        button.setToolTip(self._why_off(method) or METHODS[method].sentence)
        button.setAccessibleDescription(button.toolTip())
        return button

    def _why_off(self, method: str) -> str:
        spec = self._session.spec
        return why_off(METHODS[method], spec.model, spec.domain)


#: The method that finds subgroups.
METHOD = "testsgd"
#: The key of the list of findings.
LIST = "rules-found"
#: A subgroup by what it says: the outcome, and its conditions.
Key = tuple[str, Conditions]

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
_NOTHING = (
    "No subgroup reaches the minimum support of {least} of the rows. Choose a smaller minimum "
    "support below, or protect attributes with larger groups."
)
_WALKED = (
    "Up and down select a subgroup, Enter lists its rows. Click a header to sort; Ctrl+C copies."
)
_OPENS = "Double-click another subgroup in these tables, or press Enter, to look into it."


def mines(run: Run) -> bool:
    """Return whether a run looks for subgroups."""
    return run.method == METHOD


def mined_of(run: Run) -> tuple[RuleSearchSummary, ...]:
    """Return what a run did, an entry per outcome."""
    return tuple(each for each in run.figures if isinstance(each, RuleSearchSummary))


def off(spec: AuditSpec) -> str:
    """Say why subgroups cannot be looked for here; empty where they can."""
    if not spec.domain.grouping and not spec.domain.texts.size:
        return "No attribute is protected, so there are no groups to compare."
    return why_off(METHODS[METHOD], spec.model, spec.domain)


class FindingsView(RunPage):
    """Subgroups in a list, and the one that is chosen."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, mines, "Run whose subgroups are shown", Question.SUBGROUPS)
        #: By outcome, what was tested and found; what the run has by now.
        self._mined: dict[str, tuple[RuleSearchSummary, tuple[RuleSet, ...]]] = {}
        self._latest = self._mined
        self._figures: tuple[Metric, ...] = ()
        #: What else the first sentence says: the rates of groups, and how the run stands.
        self._beside: tuple[tuple[GroupTable, ...], int, str] = ((), 0, "")
        self._read = False
        #: The findings that are listed, and the one that is looked into.
        self.listed: tuple[Finding, ...] = ()
        self.finding: Finding | None = None
        self._explained, self._none = parts.quiet(), parts.Words()
        self._chip = parts.push_button("", self._show_newer)
        self.top, self.list, self.detail = (BlocksView(session) for _ in range(3))
        self.list.picked.connect(lambda key, row, _column: self._pick(key, row))
        self.list.opened.connect(self._open)
        self.detail.opened.connect(self._open_other)
        how = "Arrow keys move; Escape returns to the list of subgroups."
        self.rows = RowsView(session, "Individuals in the subgroup", how)
        # a table that scrolls both ways is out of the way until it is wanted
        self.individuals = parts.Fold("Individuals in the subgroup")
        self.individuals.body.addWidget(self.rows)
        self.supports, self.others = SupportsView(session), OtherMethods(session)
        self.tested = BlocksView(session, folds=False)
        self.experts = for_experts(self.tested, self.supports, layouts.gap(theme.NEAR), self.others)
        self._area = self._make_full()
        self._stack_up(self._make_empty(), self._area)
        session.runs_changed.connect(self._show_others)
        self._redraw = Soon(self, self._show_others)
        session.live_changed.connect(lambda _state: self._redraw.ask())

    def open_run(self, number: int) -> None:
        """Show a run by its number; of another method where it is."""
        super().open_run(number)
        run = next((each for each in self._session.runs if each.id == number), None)
        if run is not None and not mines(run):
            self.experts.set_open(opened=True)
            self._area.ensureWidgetVisible(self.others)

    def show_finding(self, key: Key) -> None:
        """Look into a subgroup by what it says, whatever the list is filtered by."""
        outcome, conditions = key
        for widget in (self._search, self._attribute):
            with QSignalBlocker(widget):
                widget.clear() if isinstance(widget, QLineEdit) else widget.setCurrentIndex(0)
        self._outcome.setCurrentIndex(max(self._outcome.findData(outcome), 0))
        self._filter()
        if (finding := self._named(conditions)) is not None:
            self._show_detail(finding)

    # Parts

    def _make_empty(self) -> QWidget:
        many, spec = self._session.many, self._session.spec
        names = words.listed([each.name for each in spec.domain.grouping])
        return self._empty_page(
            ("", "No subgroup discovery yet"),
            f"Discriminatory pairs concern one {spec.person} at a time. Outcomes may still differ "
            f"between subgroups of {many} defined by {names or 'protected attributes'}, "
            "alone or together. FairDesk tests every subgroup with enough members and "
            "ranks them by their gap to all others.",
            ("&Find subgroups", self._session.wishes.find_groups),
            (off(spec),),
        )

    def _make_full(self) -> QScrollArea:
        head = layouts.row(
            layouts.grow(self._standing),
            layouts.at(self.runs, Qt.AlignmentFlag.AlignTop),
            spacing=theme.NEAR,
        )
        self._start = parts.push_button("&Find subgroups", self._session.wishes.find_groups.emit)
        self._opens = parts.quiet(_OPENS)
        link = report_link(self._session, lambda: ("subtle",))
        self._one = layouts.panel(
            self.detail,
            self._opens,
            self.individuals,
            layouts.at(link, Qt.AlignmentFlag.AlignLeft),
            spacing=theme.GAP,
        )
        shortcut(self._one, "Escape", self._focus_list, "Back to the subgroups")
        self._found = layouts.panel(
            self._make_filters(), self._chip, self.list, self._one, spacing=theme.GAP
        )
        return page_of(
            *(head, self._banner, self.top, self._explained),
            layouts.at(self._start, Qt.AlignmentFlag.AlignLeft),
            *(self._none, self._found, self.experts),
            tab=True,
        )

    def _make_filters(self) -> QWidget:
        self._search = fields.line(
            name="Search the subgroups by their rules",
            prompt="Search the subgroups",
            clears=True,
            changed=lambda _text: self._filter(),
        )
        self._attribute, self._outcome = (
            fields.choice(name=name, letters=12, changed=self._filter)
            for name in ("Attribute in the rule", "Decision that is counted")
        )
        self._outcome.currentIndexChanged.connect(lambda _index: self._show())
        return layouts.strip(
            layouts.grow(self._search), self._attribute, self._outcome, spacing=theme.NEAR
        )

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
        """Show the figures as they are."""
        shown = self._told is not None
        for widget in (self._standing, self.top, self._found, self.tested, self.supports):
            widget.setVisible(shown)
        self._start.setVisible(not shown)
        self._start.setEnabled(not off(self._session.spec))
        self._none.hide()
        super()._show()

    def _show_run(self, run: Run) -> None:
        self._say_standing(run)
        again = self._session.wishes.find_groups.emit
        self._tell_failure(run, "Run subgroup discovery again", again)
        spec, mined = self._session.spec, mined_of(run)
        texts = any(each.texts for each in mined)
        self._explained.setText(EXPLAINED_TEXTS if texts else EXPLAINED)
        tables = decision_tables(self._session.runs)
        beside = tables, run.id, run.state
        if run.figures is not self._figures or beside != self._beside:
            self._figures, self._beside = run.figures, beside
            self._list_choices(mined)
            self._latest = {
                each.outcome: (each, sets) for each, sets in finding_words.mined_with(run.figures)
            }
            self.top.show_blocks([subgroups.opening(spec, run, tables)])
        waits = self._read and bool(self.listed) and self._latest != self._mined
        self._chip.setVisible(waits)
        if waits:
            found = sum(len(finding_words.leaders(sets)) for _mined, sets in self._latest.values())
            self._chip.setText(f"● {words.counted(found, 'finding')} found so far: show them")
        elif self._mined is not self._latest:
            self._mined = self._latest
            self._filter()
        going = run.state in ("running", "paused")
        summary, sets = self._latest.get(self._chosen, (None, ()))
        self._found.setVisible(any(sets for _mined, sets in self._mined.values()))
        self._none.setVisible(summary is not None and not sets and not going)
        self.tested.setVisible(summary is not None)
        self.supports.setVisible(summary is not None and not going)
        if summary is not None:
            self._none.setText(_NOTHING.format(least=f"{100 * summary.theta:g}{words.NBSP}%"))
            self.tested.show_blocks(subgroups.tested(spec, summary))
            self.supports.show_mined(run.id, summary)

    @property
    def _chosen(self) -> str:
        """The outcome whose findings are listed."""
        chosen = self._outcome.currentData()
        return chosen if chosen in self._latest else next(iter(self._latest), "")

    def _show_newer(self) -> None:
        self._read = False
        self._show()

    def _list_choices(self, mined: tuple[RuleSearchSummary, ...]) -> None:
        """Offer the attributes and outcomes that there are."""
        attributes = dict.fromkeys(name for each in mined for name in each.attributes)
        names = ((name, name) for name in attributes)
        fields.offer(self._attribute, (("Any attribute", None), *names))
        outcomes = [each.outcome for each in mined]
        texts = (f"“{each}”" if each else "Mean score" for each in outcomes)
        fields.offer(self._outcome, zip(texts, outcomes, strict=True))
        self._attribute.setVisible(len(attributes) > 1)
        self._outcome.setVisible(len(outcomes) > 1)

    def _filter(self) -> None:
        """List what is asked for; the one that is looked into stays so, else it is the first."""
        if (held := self._mined.get(self._chosen)) is None:
            return
        spec, (mined, sets) = self._session.spec, held
        text, attribute = self._search.text().strip(), self._attribute.currentData() or ""
        self.listed = tuple(
            each
            for each in finding_words.findings(spec, sets)
            if each.speaks_of(spec, text, attribute)
        )
        self.list.show_blocks(
            [
                *subgroups.chart(spec, mined, self.listed),
                subgroups.listed(spec, mined, self.listed, "found"),
            ]
        )
        self.list.shown[LIST].setAccessibleDescription(_WALKED)
        kept = None if self.finding is None else self._named(self.finding.rule_set.conditions)
        if kept is None or kept.rule_set.outcome != self._chosen:
            kept = next(iter(self.listed), None)
        if kept is not None:
            self._show_detail(kept)

    def _named(self, conditions: Conditions) -> Finding | None:
        """Return what is listed by its rule: a finding, or a subgroup that is similar to one."""

        def all_of(each: Finding) -> Iterator[Finding]:
            yield each
            yield from map(Finding, each.similar)

        found = (one for each in self.listed for one in all_of(each))
        return next((each for each in found if each.rule_set.conditions == conditions), None)

    def _show_detail(self, finding: Finding) -> None:
        """Look into a subgroup."""
        places = [at for at, each in enumerate(self.listed) if each.rule_set == finding.rule_set]
        if places:
            self.list.mark(LIST, places[0])
        if finding == self.finding:
            return
        spec, rule_set = self._session.spec, finding.rule_set
        self.finding = finding
        mined, _sets = self._mined[rule_set.outcome]
        self.detail.show_blocks(subgroup.detail(spec, mined, finding))
        self._opens.setVisible(bool(finding.similar) or len(subgroup.steps(rule_set)) > 1)
        grouping = {each.name for each in spec.domain.grouping}
        of_rows = all(one.attribute in grouping and not one.term for one in rule_set.conditions)
        self.individuals.setVisible(of_rows)
        if of_rows:
            self.rows.show_rows(
                lambda store: rows_inside(store, rule_set.conditions),
                lambda behind: f"□ Observed: {behind.sentence()}.",
            )

    def _pick(self, key: str, row: int) -> None:
        """Look into a subgroup of the list, or of the chart, which has the first of it."""
        if key == LIST:
            self._show_detail(self.listed[row])
        else:
            conditions = subgroups.drawn(self.listed)[row].conditions
            if (finding := self._named(conditions)) is not None:
                self._show_detail(finding)
        self._touch()

    def _open(self, key: str, row: int) -> None:
        """Go to the individuals in a subgroup."""
        self._pick(key, row)
        if not self.individuals.isHidden():
            self.individuals.set_open(opened=True)
            self.rows.table.setFocus()
            # once there is room for it
            QTimer.singleShot(0, partial(self._area.ensureWidgetVisible, self.rows))

    def _open_other(self, key: str, row: int) -> None:
        """Look into a subgroup next to the one that is shown, or similar to it, if it is known."""
        if self.finding is None or key not in (subgroup.AROUND, subgroup.SIMILAR):
            return
        rule_set = self.finding.rule_set
        conditions = (
            self.finding.similar[row].conditions
            if key == subgroup.SIMILAR
            else subgroup.steps(rule_set)[row][1].conditions
        )
        self.show_finding((rule_set.outcome, conditions))

    def _focus_list(self) -> None:
        self.list.shown[LIST].setFocus()

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
