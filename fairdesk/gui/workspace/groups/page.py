"""The Groups page: a table of rates for each attribute, and the rows behind a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QCheckBox, QDialog, QDialogButtonBox, QHBoxLayout, QWidget

from fairdesk.answers import Observed, Question, best_run, decision_tables, observed
from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import METHODS, method_named, why_off
from fairdesk.audit.plan.spec import AuditSpec, RunSpec
from fairdesk.audit.store.records import RunRecord, RunState
from fairdesk.audit.store.store import Store
from fairdesk.data.domain.attributes import encode
from fairdesk.data.profiling.outcomes import favourable_rows
from fairdesk.data.table import Table
from fairdesk.document import groups
from fairdesk.groups.metrics.grouping import divide
from fairdesk.groups.metrics.measuring import askable
from fairdesk.gui.kit import fields, layouts, parts, theme
from fairdesk.gui.workspace.common.blocks_view import BlocksView, stops
from fairdesk.gui.workspace.common.run_page import Run, RunPage, TabPage, page_of
from fairdesk.gui.workspace.groups.data_rows import Behind, RowsView
from fairdesk.gui.workspace.groups.findings_view import FindingsView, Key
from fairdesk.gui.workspace.groups.terms_view import WordsView, text_columns
from fairdesk.gui.workspace.session.session import Session
from fairdesk.results.groups import GroupLine, GroupTable
from fairdesk.wording import words
from fairdesk.wording.groups.columns import formula
from fairdesk.wording.groups.tables import counted_title, group_text, reference_of

#: How a figure is picked, for where there are some.
HOW = "Select a figure to see its formula, its numbers and the rows it is calculated from."
Mask = NDArray[np.bool_]
#: Per protected number the inner edges of its bins, as of `fairdesk.audit.plan.spec.RunSpec`.
Edges = Mapping[str, tuple[float, ...]]


def outcome_column(spec: AuditSpec, table: GroupTable) -> tuple[str, str] | None:
    """Return the column that was counted, and what is favourable in it; none where a model answers.

    The answers of a model are not kept in the audit.
    """
    if table.of == "label":
        return spec.label, spec.favourable
    if table.of == "decisions" and spec.predictions:
        return spec.predictions, table.outcome
    return None


def group_of(
    spec: AuditSpec, edges: Edges, data: Table, table: GroupTable, line: GroupLine
) -> Mask:
    """Return which rows are in a group, ``(n,)``; ``edges`` as of the run that counted it."""
    values = dict(zip(table.attributes, line.values, strict=True))
    attributes = [each for each in spec.domain.grouping if each.name in values]
    inside = np.ones(len(data.codes), dtype=np.bool_)
    for attribute, codes in zip(attributes, encode(attributes, data).T, strict=True):
        division = divide(attribute, codes, edges.get(attribute.name, ()))
        inside &= division.place == division.texts.index(values[attribute.name])
    return inside


def rows_behind(
    store: Store, edges: Edges, table: GroupTable, line: GroupLine, *, favourable: bool = False
) -> Behind:
    """List the rows that a group's figures were counted in, those without an outcome left out.

    With ``favourable`` only those with the favourable one, where the data say who that is.
    """
    spec, data = store.spec, store.table()
    inside = group_of(spec, edges, data, table, line)
    first = [*table.attributes]
    if (counted := outcome_column(spec, table)) is None:
        domain = spec.domain
        inside &= askable(domain.encode(data), domain.attributes, spec.mapping)
    else:
        good, known = favourable_rows(data, *counted)
        inside &= good if favourable else known
        first.insert(0, counted[0])
    names = dict.fromkeys((*first, *(column.name for column in data.columns)))
    return Behind.of(data, np.flatnonzero(inside), tuple(names))


class FigureDetail(parts.Card):
    """How a figure came, once one is picked, and the button that lists the rows behind it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._picked: tuple[GroupTable, GroupLine] | None = None
        self.edges: Edges = {}
        self.group, self.formula = parts.Words(strong=True), parts.Words(selectable=True)
        self.formula.setAlignment(Qt.AlignmentFlag.AlignTop)
        tip = "List the rows of the data that were counted here"
        self.rows = parts.push_button("&Show the rows", self._show_rows, tip=tip)
        said = layouts.column(self.group, self.formula, spacing=theme.TIGHT)
        button = layouts.at(self.rows, Qt.AlignmentFlag.AlignTop)
        row = layouts.row(layouts.grow(said), button, spacing=theme.WIDE)
        super().__init__(row, margin=theme.NEAR)
        self.hide()

    def show_figure(self, table: GroupTable, line: GroupLine, name: str) -> None:
        """Tell how the figure of this name came; of a group's name how to find out more."""
        self._picked = table, line
        group = group_text(table, line)
        how = formula(self._session.spec, table, line, name) or HOW
        self.group.setText(group)
        self.formula.setText(how)
        # as high for short formulas as for most: the tables above must not move
        self.formula.setMinimumHeight(2 * self.formula.fontMetrics().lineSpacing())
        self.rows.setEnabled(bool(line.n_samples))
        self.show()
        self.setAccessibleName(f"{group}: {how}")

    def _show_rows(self) -> None:
        if self._picked is not None:
            RowsDialog(self._session, self.edges, *self._picked, parent=self.window()).show()


class RowsDialog(QDialog):
    """Lists the rows behind a group's figures."""

    def __init__(
        self,
        session: Session,
        edges: Edges,
        table: GroupTable,
        line: GroupLine,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._edges = session, edges
        self._table, self._line = table, line
        group = group_text(table, line)
        self.setWindowTitle("Rows used for this figure")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        counted = outcome_column(session.spec, table)
        name = "" if counted is None else counted[1].replace("&", "&&")
        self.only = QCheckBox(f"&Only those with “{name}”")
        self.only.setVisible(counted is not None)
        self.only.toggled.connect(lambda _on: self._read())
        self.rows = RowsView(session, f"Rows of {group}", most=0)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        title = parts.heading(f"Rows of the data with {group}")
        items = title, self.only, layouts.grow(self.rows), buttons
        layouts.column(*items, on=self, margin=theme.WIDE, spacing=theme.NEAR)
        parts.resize_on_screen(self, 860, 560)
        self._read()

    def _read(self) -> None:
        what, favourable = (self._edges, self._table, self._line), self.only.isChecked()
        self.rows.show_rows(
            lambda store: rows_behind(store, *what, favourable=favourable), self._said
        )

    def _said(self, behind: Behind) -> str:
        """Say how many there are, and which of them are shown."""
        said = behind.sentence()
        counted = self._line.favourable if self.only.isChecked() else self._line.n_samples
        if behind.n_samples != counted:
            said += f"; {words.number(counted)} of them could be counted"
        if outcome_column(self._session.spec, self._table) is None:
            said += ". The model’s output for each row is not stored in the audit"
        return f"{said}."


_WHAT, _BY = "What was counted", "By which attributes"
_EACH = "each attribute alone"
_BOTH = "decision and recorded outcome"
#: Above tables with different references.
_APART = "The ratios are against different groups ({groups}): do not compare them between tables."
#: With less width than this each, or than they need, tables stand below each other.
_BESIDE = 400


def measures(run: Run) -> bool:
    """Return whether a run counts how groups fare."""
    return method_named(run.method).answers is QuestionKind.RATES


def tables_of(run: Run) -> tuple[GroupTable, ...]:
    """Return the tables that a run counted."""
    return tuple(each for each in run.figures if isinstance(each, GroupTable))


class Shown(NamedTuple):
    """Tables that are shown, and where."""

    tables: tuple[GroupTable, ...]
    view: BlocksView


class GroupTables(RunPage):
    """Tables of groups; before any run what the labels say, and the button that counts the rest."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, measures, "Run whose group metrics are shown", Question.GROUPS)
        self._tables: tuple[GroupTable, ...] = ()
        #: What can be shown: tables of one outcome, or of two side by side.
        self._kinds: tuple[tuple[tuple[str, str], ...], ...] = ()
        self._lines: list[QBoxLayout] = []
        self._groups: tuple[tuple[str, ...], ...] = ((),)
        self.shown: list[Shown] = []
        self.recorded = Shown((), BlocksView(session))
        self.kind, self.by = fields.choice(name=_WHAT), fields.choice(name=_BY)
        self.detail = FigureDetail(session)
        below = layouts.row(self.detail, margin=(0, 0, theme.PAGE, theme.GAP))
        self._stack_up(self._make_empty(), self._make_full(), below)

    def show_group(self, attributes: tuple[str, ...], values: tuple[str, ...]) -> None:
        """Pick a group in the table of these attributes, by its values."""
        self.by.setCurrentIndex(self._groups.index(attributes) if len(attributes) > 1 else 0)
        self._lay_out()
        for (table,), view in self.shown:
            places = [at for at, line in enumerate(table.lines) if line.values == values]
            if table.attributes == attributes and places:
                key = groups.key_of("rates", table)
                view.mark(key, places[0])
                view.shown[key].setFocus(Qt.FocusReason.OtherFocusReason)
                self._pick(view, key, places[0], 0)
                return

    # Parts

    def _make_empty(self) -> QWidget:
        session, method = self._session, METHODS["groups"]
        reason = why_off(method, session.spec.model, session.spec.domain)
        button = parts.push_button("Run group &metrics", self._measure)
        return page_of(
            *(parts.quiet(f"{words.OBSERVED} {HOW}"), self._make_observed()),
            *(layouts.gap(theme.NEAR), parts.heading("More metrics are available")),
            parts.quiet(
                f"For every group of {session.many} and every intersectional subgroup: "
                "decisions and scores, confidence intervals, the four-fifths threshold, tests, "
                "shortfalls, error rates and calibration. This takes seconds."
            ),
            parts.why_not(button, (reason,)),
            layouts.at(button, Qt.AlignmentFlag.AlignLeft),
            tab=True,
        )

    def _measure(self, *_on: bool) -> None:
        self._session.wishes.run_method.emit("groups")

    def _make_observed(self) -> QWidget:
        """Count the labels in the data, off the window's thread: they never change."""
        spec, measured = self._session.spec, decision_tables(self._session.runs)
        busy, banner, view = parts.Busy(), parts.Banner(), self.recorded.view

        def show(found: tuple[Observed, ...]) -> None:
            busy.say("")
            self.recorded = Shown(tuple(each for seen in found for each in seen.outcomes), view)
            view.show_blocks(groups.observed(spec, found))

        view.picked.connect(partial(self._pick, view))
        busy.say("Counting…")
        self._session.store.ask(
            lambda store: observed(spec, store.table(), measured), show, banner.tell
        )
        return layouts.panel(busy, banner, view)

    def _make_full(self) -> QWidget:
        self._column = layouts.column(spacing=theme.PAGE)
        inside = layouts.panel(
            parts.quiet(f"{words.OBSERVED} {words.FOUR_FIFTHS} {HOW}"),
            self._standing,
            self._banner,
            self._column,
            layouts.stretch(),
            margin=(0, 0, theme.PAGE, theme.WIDE),
            spacing=theme.GAP,
        )
        return layouts.panel(
            self._make_choices(),
            layouts.grow(parts.scrolled(inside)),
            margin=(0, theme.GAP, 0, 0),
            spacing=theme.GAP,
        )

    def _make_choices(self) -> QHBoxLayout:
        for combo, letters in ((self.kind, 12), (self.by, 18)):
            combo.setMaxVisibleItems(20)
            fields.roomy(combo, letters)
            combo.currentIndexChanged.connect(lambda _index: self._lay_out())
        return layouts.row(
            *(fields.label_of("&Counted", self.kind), self.kind),
            *(fields.label_of("&by", self.by), self.by),
            *(layouts.stretch(), fields.bounded(self.runs)),
            margin=(0, 0, theme.PAGE, 0),
            spacing=theme.NEAR,
        )

    # What happens

    def _take(self, run: Run) -> None:
        asked = self._session.live_spec if isinstance(run, RunState) else run.spec
        self.detail.edges = {} if asked is None else asked.edges
        super()._take(run)

    def _show_run(self, run: Run) -> None:
        self._say_standing(run)
        self._tell_failure(run, "Run again", self._measure)
        tables = tables_of(run)
        if run.state in ("done", "stopped") and not tables:
            again = (("Run again", self._measure),)
            self._banner.say("The run ended before the first result.", run.message, again)
        if tables != self._tables:
            self._tables = tables
            self._offer()
            self._lay_out()

    def _offer(self) -> None:
        """Offer what was counted, and the attributes; what was chosen stays where it can."""
        spec = self._session.spec
        texts = {_kind(table): counted_title(spec, table) for table in self._tables}
        kinds: dict[tuple[tuple[str, str], ...], str] = {
            (kind,): text for kind, text in texts.items()
        }
        if beside := _beside(tuple(texts)):
            # what is asked first: the decisions, with what they are held against
            kinds = {beside: _BOTH, **kinds}
        crossed = dict.fromkeys(t.attributes for t in self._tables if len(t.attributes) > 1)
        singles = {t.attributes[0] for t in self._tables if len(t.attributes) == 1}
        each = _EACH if len(singles) > 1 else words.listed(tuple(singles))
        self._kinds, self._groups = tuple(kinds), ((), *crossed)
        only = self.kind.count() < 2
        fields.offer(self.kind, ((text, text) for text in kinds.values()))
        if only:
            # what was shown while nothing else was counted was not chosen
            self.kind.setCurrentIndex(0)
        fields.offer(self.by, ((text, text) for text in (each, *map(words.listed, crossed))))

    def _lay_out(self) -> None:
        """Show the tables that are chosen, in the views that there are for them."""
        kinds = self._kinds[self.kind.currentIndex()] if self._kinds else ()
        names = self._groups[self.by.currentIndex()]
        found = [
            table
            for table in self._tables
            if _kind(table) in kinds
            and (table.attributes == names if names else len(table.attributes) == 1)
        ]
        order = list(dict.fromkeys(table.attributes for table in found))
        found.sort(key=lambda each: (order.index(each.attributes), kinds.index(_kind(each))))
        before = [groups.key_of("", each) for shown in self.shown for each in shown.tables]
        if [groups.key_of("", each) for each in found] != before:
            self._make_views(found)
        self.shown = [
            Shown((table,), shown.view) for table, shown in zip(found, self.shown, strict=True)
        ]
        for (table,), view in self.shown:
            view.show_blocks(groups.compose(self._session.spec, table))
        self._turn()
        # what a figure's choice tells comes after all figures for the keyboard too
        last = [each for shown in self.shown for each in stops(shown.view)]
        parts.in_order(*last[-1:], self.detail.rows)

    def _make_views(self, found: Sequence[GroupTable]) -> None:
        """Make a view for each table, those of the same groups in a line."""
        parts.clear(self._column)
        self.detail.hide()
        self.shown, self._lines = [], []
        for _attributes, group in groupby(found, key=lambda each: each.attributes):
            tables = list(group)
            references = dict.fromkeys(map(_reference, tables))
            if len(references) > 1:
                apart = _APART.format(groups=" and ".join(filter(None, references)))
                self._column.addWidget(parts.quiet(apart))
            self._lines.append(QBoxLayout(QBoxLayout.Direction.LeftToRight))
            self._lines[-1].setSpacing(theme.WIDE)
            self._column.addLayout(self._lines[-1])
            for table in tables:
                view = BlocksView(self._session)
                view.picked.connect(partial(self._pick, view))
                self._lines[-1].addWidget(view, 1)
                self.shown.append(Shown((table,), view))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Put tables of the same groups below each other where both do not fit side by side."""
        super().resizeEvent(event)
        self._turn()

    def _turn(self) -> None:
        room = max((_BESIDE, *(shown.view.room for shown in self.shown)))
        for line in self._lines:
            beside = line.count() * (room + theme.WIDE) <= self.width()
            layouts.turn(line, beside=beside)

    def _pick(self, view: BlocksView, key: str, row: int, column: int) -> None:
        """Tell how a figure came; its group is marked in all blocks about its table."""
        for tables, each in (*self.shown, self.recorded):
            for table in tables:
                same = each is view and key.endswith(groups.key_of("", table))
                for other in (name for name in each.shown if name != key):
                    if other.endswith(groups.key_of("", table)):
                        each.mark(other, row if same else None)
                if same:
                    # what a chart shows of a group is its rate
                    name = view.head(key, column) or "Rate"
                    self.detail.show_figure(table, table.lines[row], name)


def _reference(table: GroupTable) -> str:
    """Name the group that others of a table are compared with."""
    best = reference_of(table)
    return "" if best is None else ", ".join(best.values)


def _beside(kinds: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return the decisions and the recorded outcome, if both were counted."""
    there = {kind[0]: kind for kind in reversed(kinds)}
    both = tuple(there[of] for of in ("decisions", "label") if of in there)
    return both if len(both) > 1 else ()


def _kind(table: GroupTable) -> tuple[str, str]:
    """Tell tables of another outcome apart."""
    return table.of, table.outcome


class GroupsPage(TabPage):
    """How groups fare: found by rules, by words in texts, and counted."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.findings = FindingsView(session)
        self.words = WordsView(session)
        self.tables = GroupTables(session)
        super().__init__(
            "Groups",
            (self.tables, "Gro&up metrics"),
            (self.findings, "Subgroup d&iscovery"),
            (self.words, "Identity &terms"),
        )
        self.tabs.setTabVisible(self.tabs.indexOf(self.words), bool(text_columns(session.spec)))
        if not session.spec.predictions and not session.spec.domain.grouping:
            self.tabs.setCurrentWidget(self.words)
        session.runs_changed.connect(self._begin)

    def _begin(self) -> None:
        """Show at first what is known: subgroups, where only these were looked for."""
        self._session.runs_changed.disconnect(self._begin)
        known = best_run(Question.SUBGROUPS, self._session.runs)
        if known is not None and best_run(Question.GROUPS, self._session.runs) is None:
            in_texts = isinstance(known, RunRecord) and bool(known.spec.text)
            self.tabs.setCurrentWidget(self.words if in_texts else self.findings)

    def show_run(self, run: RunSpec) -> None:
        """Show the tab of what a run answers."""
        if run.text:
            self.tabs.setCurrentWidget(self.words)
        elif method_named(run.method).answers is QuestionKind.RATES:
            self.tabs.setCurrentWidget(self.tables)
        else:
            self.tabs.setCurrentWidget(self.findings)

    def open_run(self, number: int) -> None:
        """Show a run by its number."""
        for view in (self.tables, self.findings, self.words):
            view.open_run(number)

    def show_group(self, attributes: tuple[str, ...], values: tuple[str, ...]) -> None:
        """Show the metrics of a group, by its values of these attributes."""
        self.tabs.setCurrentWidget(self.tables)
        self.tables.show_group(attributes, values)

    def show_subgroup(self, key: Key) -> None:
        """Show a subgroup that was discovered."""
        self.tabs.setCurrentWidget(self.findings)
        self.findings.show_finding(key)

    def show_term(self, term: str) -> None:
        """Show an identity term that was compared."""
        self.tabs.setCurrentWidget(self.words)
        self.words.choose_term(term)
