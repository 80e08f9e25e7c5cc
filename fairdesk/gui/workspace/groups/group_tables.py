"""Tables of groups: how each fares by label, decision and score, and how that came."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QWidget,
)

from fairdesk.answers.answer import Question
from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import METHODS, method_named, why_off
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import RunState
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.workspace.common.answering import Run
from fairdesk.gui.workspace.common.run_page import RunPage
from fairdesk.gui.workspace.groups.figure_detail import HOW, FigureDetail
from fairdesk.gui.workspace.groups.group_part import MORE, TablePart
from fairdesk.gui.workspace.groups.observed_tables import ObservedTables
from fairdesk.gui.workspace.session.session import Session
from fairdesk.results.groups import GroupLine, GroupTable
from fairdesk.wording import words
from fairdesk.wording.groups.columns import Column
from fairdesk.wording.groups.tables import outcome_of, reference_of

_EACH = "each attribute alone"
_BOTH = "decision and recorded outcome"
#: Above tables with different references.
_APART = "The ratios are against different groups ({groups}): do not compare them between tables."
#: In less width tables of the same groups stand below each other.
_BESIDE = 820


def measures(run: Run) -> bool:
    """Return whether a run counts how groups fare."""
    return method_named(run.method).answers is QuestionKind.RATES


def tables_of(run: Run) -> tuple[GroupTable, ...]:
    """Return the tables that a run counted."""
    return tuple(each for each in run.figures if isinstance(each, GroupTable))


def counted(spec: AuditSpec, table: GroupTable) -> str:
    """Name what was counted."""
    match table.of:
        case "label":
            return f"the recorded outcome “{spec.label}”"
        case "decisions":
            whose = f"in “{spec.predictions}”" if spec.predictions else "of the model"
            return f"the decision “{outcome_of(spec, table)}” {whose}"
        case "scores":
            return f"the model’s scores for “{outcome_of(spec, table)}”"


class GroupTables(RunPage):
    """Tables of groups; before any run what the labels say, and the button that counts the rest.

    Signals
    -------
    measure_wanted
        A run that measures groups is wanted.
    """

    measure_wanted = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__(session, measures, "Run whose group metrics are shown", Question.GROUPS)
        self._tables: tuple[GroupTable, ...] = ()
        #: What can be shown: tables of one outcome, or of two side by side.
        self._kinds: tuple[tuple[tuple[str, str], ...], ...] = ()
        self._lines: list[QBoxLayout] = []
        self._groups: tuple[tuple[str, ...], ...] = ((),)
        self.shown: list[TablePart] = []
        self.kind, self.by = QComboBox(), QComboBox()
        self._more = self._make_more()
        self.detail = FigureDetail(session)
        self._stack_up(self._make_empty(), self._make_full())
        self.refresh()

    def refresh(self) -> None:
        """Show the latest run that measured groups, unless the auditor chose another."""
        self.runs.take_runs()

    def show_group(self, attributes: tuple[str, ...], values: tuple[str, ...]) -> None:
        """Choose a group in the table of these attributes, by its values."""
        self.by.setCurrentIndex(self._groups.index(attributes) if len(attributes) > 1 else 0)
        self._lay_out()
        part = next((part for part in self.shown if part.table.attributes == attributes), None)
        if part is not None:
            part.show_group(values)

    # Parts

    def _make_empty(self) -> QWidget:
        session, method = self._session, METHODS["groups"]
        reason = why_off(method, session.spec.model, session.spec.domain)
        button = parts.push_button("Run group &metrics", self.measure_wanted)
        button.setEnabled(not reason)
        inside = QWidget()
        column = layouts.column(
            parts.quiet(f"{words.OBSERVED} {words.FOUR_FIFTHS}"),
            ObservedTables(session),
            layouts.gap(theme.NEAR),
            parts.heading("More metrics are available"),
            parts.quiet(
                f"For every group of {session.many} and every intersectional subgroup: "
                "decisions and scores, confidence intervals, the four-fifths threshold, tests, "
                "shortfalls, error rates and calibration. This takes seconds."
            ),
            on=inside,
            margin=(0, theme.GAP, theme.PAGE, theme.PAGE),
            spacing=theme.GAP,
        )
        if reason:
            column.addWidget(parts.Words(reason, tone="wrong"))
        column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(1)
        return parts.scrolled(inside)

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
        full = QWidget()
        outer = layouts.column(
            self._make_choices(),
            layouts.grow(parts.scrolled(inside)),
            on=full,
            margin=(0, theme.GAP, 0, 0),
            spacing=theme.GAP,
        )
        below = layouts.row(self.detail, margin=(0, 0, theme.PAGE, theme.GAP))
        outer.addLayout(below)
        return full

    def _make_choices(self) -> QHBoxLayout:
        row = layouts.row(margin=(0, 0, theme.PAGE, 0), spacing=theme.NEAR)
        for text, combo in (("&Counted", self.kind), ("&by", self.by)):
            label = QLabel(text)
            label.setBuddy(combo)
            combo.setMaxVisibleItems(20)
            parts.roomy(combo, 12 if combo is self.kind else 18)
            combo.currentIndexChanged.connect(lambda _index: self._lay_out())
            row.addWidget(label)
            row.addWidget(combo)
        self.kind.setAccessibleName("What was counted")
        self.by.setAccessibleName("By which attributes")
        parts.calm(self.kind, self.by)
        row.addWidget(self._more)
        row.addStretch(1)
        row.addWidget(parts.bounded(self.runs))
        return row

    def _make_more(self) -> QPushButton:
        more = QPushButton("More co&lumns")
        more.setToolTip("Choose further columns")
        menu = QMenu(more)
        for name in MORE:
            action = menu.addAction(name)
            action.setCheckable(True)
            action.toggled.connect(lambda _on: self._show_more())
        menu.addSeparator()
        menu.addAction(parts.action(menu, "&All", lambda: self.show_more(tuple(MORE))))
        menu.addAction(parts.action(menu, "&None", lambda: self.show_more(())))
        more.setMenu(menu)
        return more

    # What happens

    @property
    def more(self) -> tuple[str, ...]:
        """Which of `MORE` is shown."""
        return tuple(each.text() for each in self._more.menu().actions() if each.isChecked())

    def show_more(self, names: Sequence[str]) -> None:
        """Show these columns beside the first ones."""
        for action in self._more.menu().actions():
            if action.isCheckable():
                with QSignalBlocker(action):
                    action.setChecked(action.text() in names)
        self._show_more()

    def _show_more(self) -> None:
        for part in self.shown:
            part.show_more(self.more)

    def _take(self, run: Run) -> None:
        asked = self._session.live_spec if isinstance(run, RunState) else run.spec
        self.detail.edges = {} if asked is None else asked.edges
        super()._take(run)

    def _show_run(self, run: Run) -> None:
        self._stand(run)
        tables = tables_of(run)
        if tables != self._tables:
            self._tables = tables
            self._offer()
            self._lay_out()

    def _stand(self, run: Run) -> None:
        """Say how the run stands."""
        self._say_standing(run)
        self._tell_failure(run, "Run again", self.measure_wanted.emit)
        if run.state in ("done", "stopped") and not tables_of(run):
            again = (("Run again", self.measure_wanted.emit),)
            self._banner.say("The run ended before the first result.", run.message, again)

    def _offer(self) -> None:
        """Offer what was counted, and the attributes; what was chosen stays where it can."""
        spec = self._session.spec
        texts = {_kind(table): counted(spec, table) for table in self._tables}
        kinds: dict[tuple[tuple[str, str], ...], str] = {
            (kind,): text for kind, text in texts.items()
        }
        if beside := _beside(tuple(texts)):
            # what is asked first: the decisions, with what they are held against
            kinds = {beside: _BOTH, **kinds}
        groups = dict.fromkeys(t.attributes for t in self._tables if len(t.attributes) > 1)
        singles = {t.attributes[0] for t in self._tables if len(t.attributes) == 1}
        each = _EACH if len(singles) > 1 else words.listed(tuple(singles))
        self._kinds, self._groups = tuple(kinds), ((), *groups)
        parts.offer(self.kind, ((text, text) for text in kinds.values()))
        parts.offer(self.by, ((text, text) for text in (each, *map(words.listed, groups))))

    def _lay_out(self) -> None:
        """Show the tables that are chosen, in the parts that there are for them."""
        kinds = self._kinds[self.kind.currentIndex()] if self._kinds else ()
        names = self._groups[self.by.currentIndex()]
        found = [
            table
            for table in self._tables
            if _kind(table) in kinds
            and (table.attributes == names if names else len(table.attributes) == 1)
        ]
        groups = list(dict.fromkeys(table.attributes for table in found))
        wanted = sorted(
            found, key=lambda each: (groups.index(each.attributes), kinds.index(_kind(each)))
        )
        if [_shape(table) for table in wanted] == [_shape(part.table) for part in self.shown]:
            for part, table in zip(self.shown, wanted, strict=True):
                part.show_table(table)
            return
        self.shown = []
        parts.clear(self._column)
        self.detail.clear()
        self._lines = []
        for table in wanted:
            part = TablePart(self._session, table, self.more)
            part.chosen.connect(self._choose)
            if not self.shown or self.shown[-1].table.attributes != table.attributes:
                self._lines.append(QBoxLayout(QBoxLayout.Direction.LeftToRight))
                self._lines[-1].setSpacing(theme.WIDE)
                self._column.addLayout(self._lines[-1])
            elif _references(self.shown[-1].table) != _references(table):
                both = (", ".join(_references(each)) for each in (self.shown[-1].table, table))
                apart = parts.quiet(_APART.format(groups=" and ".join(filter(None, both))))
                self._column.insertWidget(self._column.count() - 1, apart)
            self._lines[-1].addWidget(part, 1)
            self.shown.append(part)
        self._turn()
        # what a figure's choice tells comes after all figures for the keyboard too
        last = [each for part in self.shown for each in part.findChildren(QWidget) if _takes(each)]
        parts.in_order(*last[-1:], self.detail.rows)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Put tables of the same groups below each other where both do not fit side by side."""
        super().resizeEvent(event)
        self._turn()

    def _turn(self) -> None:
        for line in self._lines:
            layouts.turn(line, beside=self.width() >= _BESIDE)

    def _choose(self, table: GroupTable, line: GroupLine, column: Column) -> None:
        for part in self.shown:
            if part.table is not table:
                part.forget()
        self.detail.show_figure(table, line, column)


def _references(table: GroupTable) -> tuple[str, ...]:
    """Return the values of the group that others of a table are compared with."""
    best = reference_of(table)
    return () if best is None else best.values


def _beside(kinds: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return the decisions and the recorded outcome, if both were counted."""
    there = {kind[0]: kind for kind in reversed(kinds)}
    both = tuple(there[of] for of in ("decisions", "label") if of in there)
    return both if len(both) > 1 else ()


def _kind(table: GroupTable) -> tuple[str, str]:
    """Tell tables of another outcome apart."""
    return table.of, table.outcome


def _shape(table: GroupTable) -> tuple[object, ...]:
    """Return what decides which parts a table needs."""
    return (
        _kind(table),
        table.attributes,
        any(line.positives is not None for line in table.lines),
        any(line.calibration for line in table.lines),
    )


def _takes(widget: QWidget) -> bool:
    """Return whether Tab goes to a widget."""
    return bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
