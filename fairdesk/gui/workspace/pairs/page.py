"""The examples that a search found: how it goes, the pairs, and the two people of each."""

from __future__ import annotations

from functools import partial

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QResizeEvent
from PySide6.QtWidgets import (
    QVBoxLayout,
    QWidget,
)

from fairdesk.answers import Question, all_off, pooled
from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.document import comparison, pairs
from fairdesk.document.blocks import Heading
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.kit.keys import keyed, shortcut
from fairdesk.gui.kit.pages import for_experts, page_head
from fairdesk.gui.workspace.common.blocks_view import BlocksView
from fairdesk.gui.workspace.common.run_page import (
    OF_STATE,
    Run,
    RunPage,
    has_examples,
    tell_trouble,
    with_examples,
)
from fairdesk.gui.workspace.compare import CourseChart
from fairdesk.gui.workspace.pairs.pair_detail import PairDetail
from fairdesk.gui.workspace.pairs.pairs_view import PairsView
from fairdesk.gui.workspace.session.session import Session
from fairdesk.wording import figures, words

_HELD = "A report is final. To compare the pairs makes it a draft again."


#: How high the chart is, and table and pair at least.
_CHART, _LEAST = 200, 360
#: In less width the pair stands below the table, not beside it.
_BESIDE = 640


class WeighingLine(QWidget):
    """Says how far it is; hidden while it has nothing to say."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._words = parts.Words(tone="quiet", wrap=False)
        self._button = parts.tool_button("", self._press)
        layouts.row(self._words, self._button, on=self, spacing=theme.NEAR)
        session.weighing.changed.connect(self._tell)
        self._tell()

    def _tell(self) -> None:
        weighing, many = self._session.weighing, self._session.many
        counts = f"{words.number(weighing.done)} of {words.number(weighing.total)}"
        does = "Continue" if weighing.rests else "Stop"
        doing = "Compared" if weighing.rests else "Comparing"
        self._words.setText(f"{doing} with the {many} in the data: {counts}")
        self._button.setText(does)
        self._button.setAccessibleName(f"{does} comparing with the {many} in the data")
        self._button.setToolTip(_HELD if weighing.rests and weighing.held else "")
        self.setVisible(weighing.rests or weighing.busy)

    def _press(self) -> None:
        weighing = self._session.weighing
        if weighing.rests:
            weighing.go_on()
        else:
            weighing.stop_for_good()


class ExamplesPage(RunPage):
    """Found examples."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, has_examples, "Run whose pairs are shown", Question.EXAMPLE)
        self._turned = False
        self._headline = parts.Words(size=1.12, strong=True, selectable=True)
        #: What all runs found, and for experts what this one spent.
        self._effort, self._spent = parts.quiet(), parts.quiet()
        self._phases = BlocksView(session, folds=False)
        self._weighing = WeighingLine(session)
        self._trouble = parts.Banner()
        self.chart = CourseChart(session)
        self.chart.over_time.setChecked(True)
        self.chart.setMinimumHeight(_CHART)
        self._phases.opens["alone"] = "Click or press Enter to list only these pairs"
        self._phases.opened.connect(self._filter_alone)
        self.pairs = PairsView(session)
        self.detail = PairDetail(session)
        self.pairs.chosen.connect(self.detail.show_pair)
        self.pairs.filters.changed.connect(self._mark_alone)
        self.detail.left.connect(self.pairs.table.setFocus)
        self.detail.worked_on.connect(self.pairs.hold)
        self.detail.wanted.connect(session.wishes.show_pair)

        people = self._make_people()
        self._stack_up(self._make_empty(), self._make_full(people))
        session.study.changed.connect(self._trouble.clear)
        session.study.failed.connect(partial(tell_trouble, session, self._trouble))
        session.weighing.failed.connect(
            lambda error: self._trouble.tell(error, (("Try again", session.weighing.go_on),))
        )
        self._make_shortcuts(people)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Put the pair below the table where both do not fit beside each other."""
        super().resizeEvent(event)
        room = event.size().width() - theme.AROUND[0] - theme.AROUND[2]
        way = Qt.Orientation
        self._split.setOrientation(way.Horizontal if room >= _BESIDE else way.Vertical)

    # Parts

    def _make_full(self, people: QWidget) -> QWidget:
        """Make what is shown once there is a run: sentence, how it went, people."""
        self.experts = for_experts(self._spent, self.chart, self._phases)
        self.experts.button.clicked.connect(self._keep_watching)
        return layouts.panel(
            page_head("Discriminatory pairs", self.runs),
            *(self._make_head(), self._banner, self._trouble, layouts.grow(people), self.experts),
            margin=theme.AROUND,
            spacing=theme.NEAR,
        )

    def _make_head(self) -> QVBoxLayout:
        """Make the sentence above."""
        # as high as the line beside it, which comes and goes: nothing below may move
        self._effort.setMinimumHeight(self._weighing.sizeHint().height())
        effort = layouts.row(layouts.grow(self._effort), self._weighing, spacing=theme.GAP)
        return layouts.column(self._headline, effort, spacing=theme.TIGHT)

    def _make_people(self) -> QWidget:
        """Make the lower part: filters, and below them the table with the two people beside it."""
        split = self._split = layouts.split((self.pairs, 470, 23), (self.detail, 490, 24))
        # in a low window the page scrolls: a table of one row could not be read
        self.detail.setMinimumSize(360, _LEAST)
        self.pairs.setMinimumSize(260, _LEAST)
        # narrower than both beside each other
        split.setMinimumWidth(self.detail.minimumWidth())
        return layouts.panel(self.pairs.filters, layouts.grow(split), spacing=theme.NEAR)

    def _make_empty(self) -> QWidget:
        """Make what is shown before the first run."""
        return self._empty_page(
            ("Discriminatory pairs", "No discriminatory pairs yet"),
            f"Run a search for two {self._session.many} that are identical except for protected "
            "attributes and receive different decisions. The pairs found are listed here.",
            ("Find &discriminatory pairs…", self._session.wishes.run_again),
            all_off(self._session.spec, QuestionKind.EXAMPLES),
        )

    def _make_shortcuts(self, people: QWidget) -> None:
        # single letters only where no text is typed: not in the filters above the table
        for keys, run, text in (
            ("F", self.detail.flag, "Flag the pair"),
            ("D", self.detail.dismiss, "Dismiss the pair"),
            ("N", self.detail.edit_note, "Write a note on the pair"),
            ("B", self.detail.bring.click, "Make the pair more realistic"),
            ("W", self.detail.why.click, "Explain the pair"),
            ("T", self._toggle_table, "Show the chart as a table"),
        ):
            shortcut(self.pairs.table, keys, run, text, self.detail)
        keyed(*self.detail.keyed)
        shortcut(people, "Alt+Down", lambda: self.pairs.step(1), "Next pair")
        shortcut(people, "Alt+Up", lambda: self.pairs.step(-1), "Previous pair")
        find = self.pairs.filters.take_focus
        shortcut(self, QKeySequence.StandardKey.Find, find, "Filter the pairs")

    # What happens

    def _toggle_table(self) -> None:
        """Turn the chart that is nearest to a table: of why, if that is told, else of the run."""
        if not self.detail.toggle_table():
            self.experts.set_open(opened=True)
            self.chart.toggle_table()

    def _filter_alone(self, key: str, place: int) -> None:
        """List the pairs of a bar; once more, all again."""
        if not key.startswith("alone"):
            return
        filters, name = self.pairs.filters, self._alone_names[place]
        filters.filter_by(alone=None if filters.wanted.alone == name else name)

    def _mark_alone(self) -> None:
        """Mark the bar whose pairs are listed."""
        alone = self.pairs.filters.wanted.alone
        place = self._alone_names.index(alone) if alone is not None else None
        self._phases.mark(f"alone-{self.runs.shown}", place)

    @property
    def _alone_names(self) -> tuple[str, ...]:
        """The protected attributes, in the order of the bars."""
        return words.protected_names(self._session.spec.domain)

    def _keep_watching(self) -> None:
        """Leave open or closed what the auditor opened or closed."""
        self._turned = True

    def _take(self, run: Run) -> None:
        super()._take(run)
        self.pairs.show_run(run.id)

    def _show_run(self, run: Run) -> None:
        """Say how a run stands, in words and numbers."""
        # how it ended stands below, and why it failed in the banner
        state = run.state if run.state in ("running", "paused") else "done"
        said = words.headline(
            self._session.spec, msgspec.structs.replace(run, state=state, message="")
        )
        self._headline.setText(said.with_more(figures.changed_answers(run)).sentence)
        if not self._turned:
            # once a search is over its pairs are what matters
            self.experts.set_open(opened=run.state in ("running", "paused"))
        sign = OF_STATE[run.state].value
        state = words.state_word(run.state).capitalize()
        told = f"{sign} {state}.", pooled(with_examples(self._session.runs))
        self._effort.setText(" ".join(filter(None, told)))
        spent = f"{words.capital(words.effort(run))}."
        self._spent.setText(f"{spent} {figures.near_sentence(run)}".rstrip())
        alone = pairs.alone(self._session.spec, run)
        title = Heading("Changing one attribute alone")
        self._phases.show_blocks([*comparison.phases([run]), title, alone])
        self._tell_failure(run, "Run again…", self._session.wishes.run_again.emit)
        self.chart.show_runs([each.id for each in with_examples(self._session.runs)], (run.id,))
