"""How common it is: shares with their intervals, how they settled, and gaps between groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QComboBox, QVBoxLayout, QWidget

from fairdesk.answers.answer import Question
from fairdesk.answers.pictures import pairs_of
from fairdesk.answers.pictures import studies as studies_picture
from fairdesk.answers.rates import decision_tables
from fairdesk.answers.selection import all_off, main_shares
from fairdesk.audit.catalogue.method import ABOUT_GROUPS, QuestionKind
from fairdesk.audit.catalogue.methods import method_named
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.charts.courses import course_of_estimate
from fairdesk.charts.kinds.lines import Drawing
from fairdesk.charts.kinds.people import People, people_of
from fairdesk.charts.kinds.shares import ShareBar, ShareBars
from fairdesk.charts.kinds.study import Studies
from fairdesk.gui.charts.drawn import DrawnChart
from fairdesk.gui.charts.picture import Picture
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.kit.pages import for_experts, page_head
from fairdesk.gui.workspace.common.answering import Run, excesses, gaps, shares
from fairdesk.gui.workspace.common.run_page import RunPage
from fairdesk.gui.workspace.common.short_table import short_table
from fairdesk.gui.workspace.common.statement import Statement, marked
from fairdesk.gui.workspace.session.session import Session
from fairdesk.individual.realism.plausibility import Reference
from fairdesk.results.events import Metric
from fairdesk.results.groups import GroupGap
from fairdesk.results.individual import Share
from fairdesk.wording import comparisons, figures, words

#: Sets of protected attributes in the table; more make the page endless.
_MOST_SETS = 60
#: Values of each protected attribute in the chart of an audit study.
_MOST_VALUES = 12

#: What an estimate is, and what the marks mean.
EXPLAINED = (
    "How often the decision changes when only protected attributes change. Solid: counted, all "
    "were tested. Hatched: estimated from a random sample, with its confidence interval. One whose "
    "decision changes with several attributes is counted for each."
)
#: In which order shares are shown: people before combinations.
_ORDER = ("data", "domain", "perturbed")
#: Of whom all possible people are a picture.
POSSIBLE = (
    "The input domain contains all combinations of values that this audit allows, each "
    "equally likely; most do not resemble the {many} in the data."
)
#: What a bar opens.
PAIRS = (
    "Click a bar, or choose it with the arrow keys and press Enter, to list the discriminatory "
    "pairs of this run for that change."
)
#: What a press on one of them does.
_PRESS = "Click or press Enter to list the pairs"
#: The kinds of people, in the order in which they are told.
_WHOM: dict[str, str] = {
    "domain": "Input domain",
    "data": "Data rows",
    "perturbed": "Perturbed data rows",
}


def measured(run: Run) -> bool:
    """Return whether a run says how common it is."""
    answers = method_named(run.method).answers
    if answers in ABOUT_GROUPS:
        return False
    return bool(shares(run) or gaps(run)) or answers is QuestionKind.SHARE


def intervals(share: Share) -> str:
    """Write both intervals; empty where there is only the one of the sentence, or none."""
    if share.exhaustive and not share.exact:
        return (
            "Every instance was queried once, but some rows received a different output when "
            "they were re-queried: the share is not exact and has no confidence interval."
        )
    if share.exhaustive:
        return ""
    digits = words.digits_of(share.low, share.high)
    once, anytime = (
        f"{100 * low:.{digits}f} to {100 * high:.{digits}f}{words.NBSP}%"
        for low, high in ((share.low, share.high), (share.anytime_low, share.anytime_high))
    )
    # sampling that may end early has no other interval than the one that is valid at any time
    if once == anytime:
        return ""
    return f"Fixed-sample CI: {once}. Anytime-valid CI: {anytime} (also when sampling stops early)."


def short(share: Share, beside: Iterable[Metric] = ()) -> str:
    """Write a share with its interval for a bar or a cell: ``3.8 % (3.7 to 3.9)``.

    Parameters
    ----------
    beside : iterable of Metric
        What the same run measured, by which the share may not be known.
    """
    if (unknown := comparisons.not_known(share, beside)) or share.exhaustive:
        return unknown or words.shown_percent(share.estimate, 2)
    digits = words.digits_of(share.low, share.high)
    value = words.shown_percent(share.estimate, digits)
    return f"{value} ({100 * share.low:.{digits}f} to {100 * share.high:.{digits}f})"


def kind(share: Share) -> str:
    """Name the kind of statement: ``all tested`` or ``estimated``."""
    return "all tested" if share.exact else "estimated"


def whom(share: Share) -> str:
    """Say of whom a share is: ``In the data``."""
    return _WHOM[share.whom]


def bars_of(measured: Sequence[Share], beside: Iterable[Metric] = ()) -> tuple[ShareBar, ...]:
    """Make a bar of each share."""
    figures = tuple(beside)
    return tuple(
        ShareBar.of(
            f"{whom(share)}, {words.when_change(share.attributes)}", short(share, figures), share
        )
        for share in measured
    )


#: The columns of `set_rows`.
SET_HEADER = (
    "Protected attributes",
    "Decision changes",
    "Gap in selection rates",
    "Highest rate",
    "Lowest rate",
)


def set_rows(
    spec: AuditSpec, causal: Sequence[Share], grouped: Sequence[GroupGap]
) -> list[tuple[str, ...]]:
    """Write a row per set of protected attributes, the most common discrimination first."""
    share_of = {each.attributes: each for each in causal}
    gap_of = {each.attributes: each for each in grouped}

    def rank(names: tuple[str, ...]) -> tuple[float, float]:
        share, gap = share_of.get(names), gap_of.get(names)
        return -(share.estimate if share else -1.0), -(gap.gap if gap else -1.0)

    rows: list[tuple[str, ...]] = []
    for names in sorted({**share_of, **gap_of}, key=rank):
        share, gap = share_of.get(names), gap_of.get(names)
        rows.append(
            (
                words.listed(names),
                short(share) if share else "not tested",
                f"{100 * gap.gap:.1f} percentage points "
                f"({100 * gap.low:.1f} to {100 * gap.high:.1f})"
                if gap
                else "not tested",
                _group(spec, gap.attributes, gap.best, gap.best_rate) if gap else "–",
                _group(spec, gap.attributes, gap.worst, gap.worst_rate) if gap else "–",
            )
        )
    return rows


def _group(spec: AuditSpec, names: Sequence[str], codes: Sequence[float], rate: float) -> str:
    attributes = dict(zip(spec.domain.names, spec.domain.attributes, strict=True))
    values = [attributes[name].text(code) for name, code in zip(names, codes, strict=True)]
    return f"{', '.join(values)}: {words.shown_percent(rate, 1)}"


def _show_statements(
    texts: Sequence[tuple[str, str, str]], made: list[Statement], layout: QVBoxLayout
) -> None:
    """Say other things in a layout, the first above whatever else is in it."""
    while len(made) > len(texts):
        last = made.pop()
        last.hide()
        last.deleteLater()
    while len(made) < len(texts):
        statement = Statement()
        layout.insertWidget(-1 if made else 0, statement)
        made.append(statement)
    for statement, (mark, sentence, more) in zip(made, texts, strict=True):
        statement.say(mark, sentence, more)


class SharePage(RunPage):
    """How common discrimination is.

    Signals
    -------
    estimate
        A run that estimates it is wanted.
    show_pairs : PairsOf
        These pairs are to be shown.
    """

    estimate = Signal()
    show_pairs = Signal(object)

    def __init__(self, session: Session) -> None:
        super().__init__(session, measured, "Run whose estimates are shown", Question.SHARE)
        #: What is said on the page, and what for experts.
        self._statements: list[Statement] = []
        self._further: list[Statement] = []
        self._reference: Reference | None = None
        self._drawn: list[Share] = []
        #: The shares of people, and those of others; each with what its bars are of.
        self._bars, self._others = Picture(ShareBars()), Picture(ShareBars())
        self._barred: dict[Picture, tuple[Share, ...]] = {self._bars: (), self._others: ()}
        for bars in self._barred:
            bars.pressed.connect(partial(self._show_pairs, bars))
        self._study, self._study_words = Picture(Studies()), parts.Words()
        self._people = Picture(People())
        self._study_table, self._compared = layouts.column(), layouts.column()
        self._pairs_words = parts.quiet(PAIRS)
        self._checks = parts.quiet()
        self.chart = DrawnChart(Drawing(), fills=True)
        self.chart.setMinimumHeight(280)
        session.hear(self.chart)
        self._which = QComboBox()
        self._which.setAccessibleName("Share shown in the chart")
        self._which.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self._which.currentIndexChanged.connect(lambda _index: self._draw_course())
        self.chart.tools.addWidget(self._which)
        self._course_title = parts.heading("Progress of the estimate")
        self._course_words = parts.quiet(
            "Line: estimate. Band: anytime-valid confidence interval. Dot: share in one sample."
        )
        self._sets_title = parts.heading("Every set of protected attributes")
        self._sets_words = parts.quiet(
            "Estimated: share of the input domain whose decision changes when only "
            "these attributes change, largest first. A gap compares the selection rates "
            "of two groups in the input domain that may differ in other attributes too; it "
            "may have other causes."
        )
        self._stack_up(self._make_empty(), self._make_full())
        session.runs_changed.connect(self._ask)
        self.runs.take_runs()
        self._ask()

    # Parts

    def _make_empty(self) -> QWidget:
        many = self._session.many
        button = parts.push_button("&Estimate how often decisions change", self.estimate)
        reasons = all_off(self._session.spec, QuestionKind.SHARE)
        empty = parts.empty_page(
            "No estimate yet",
            "Discriminatory pairs show that such cases exist, not how often. An estimate "
            f"queries the model about {many} drawn at random and gives the share whose decision "
            "changes, with a confidence interval.",
            parts.why_not(button, reasons),
            button,
        )
        return layouts.panel(page_head("Estimates"), layouts.grow(empty), margin=theme.AROUND)

    def _make_full(self) -> QWidget:
        inside = QWidget()
        # bars are below the first statement, above the others
        self._sentences = layouts.column(
            self._people,
            self._study_words,
            self._study,
            self._study_table,
            self._bars,
            self._pairs_words,
            spacing=theme.GAP,
        )
        self._rest, self._sets = layouts.column(spacing=theme.GAP), layouts.column()
        self.experts = for_experts(
            self._checks,
            self._compared,
            self._others,
            self._rest,
            self._course_title,
            self._course_words,
            self.chart,
        )
        layouts.column(
            page_head("Estimates", self.runs),
            parts.quiet(EXPLAINED),
            self._banner,
            self._standing,
            self._sentences,
            self._sets_title,
            self._sets_words,
            self._sets,
            self.experts,
            layouts.stretch(),
            on=inside,
            margin=theme.AROUND,
            spacing=theme.GAP,
        )
        return parts.scrolled(inside)

    # What happens

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Ask again: how plausible combinations are is known some time after a run."""
        super().showEvent(event)
        self._ask()

    def _ask(self) -> None:
        """Read from the file how plausible combinations of the input domain are."""
        self._session.store.ask(lambda store: store.reference(), self._take_reference, key="shares")

    def _take_reference(self, reference: Reference | None) -> None:
        if reference != self._reference:
            self._reference = reference
            self._show()

    def _show_run(self, run: Run) -> None:
        measured, grouped = shares(run), gaps(run)
        self._say_standing(run, figures.near_sentence(run, self._reference))
        self._tell_failure(run, "Estimate again", self.estimate.emit)
        if changed := figures.changed_answers(run):
            self._banner.say(changed)
        main = main_shares(measured)
        self._say(main, run)
        # those of one kind together, which can be compared; what is said first leads each
        told = tuple(dict.fromkeys((*main, *measured)))
        ordered = tuple(sorted(told, key=lambda each: _ORDER.index(each.whom)))
        first = ordered[0].whom if ordered else ""
        # a bar of nothing would say that nothing changes
        known = [each for each in ordered if not comparisons.not_known(each, run.figures)]
        barred = () if grouped else known
        self._draw_bars(self._bars, [each for each in barred if each.whom == first], run)
        self._draw_bars(self._others, [each for each in barred if each.whom != first], run)
        self._pairs_words.setVisible(bool(barred) and bool(run.found))
        self._list_courses(ordered)
        self._show_studies(run)
        self._check(measured, run)
        self._show_sets(measured, grouped)

    def _draw_bars(self, picture: Picture, barred: Sequence[Share], run: Run) -> None:
        self._barred[picture] = tuple(barred)
        picture.draw(ShareBars(bars_of(barred, run.figures)))
        picture.setVisible(bool(barred))
        picture.offer(_PRESS if run.found else "")

    def _show_pairs(self, picture: Picture, place: int) -> None:
        """Show the pairs that the share of a bar counts."""
        pairs = None if self._told is None else pairs_of(self._told, self._barred[picture][place])
        if pairs is not None:
            self.show_pairs.emit(pairs)

    def _say(self, measured: Sequence[Share], run: Run) -> None:
        """Say the first share in a sentence, and what repeated queries came to; others below."""
        spec = self._session.spec
        statements = [figures.share_statement(spec, share, run.figures) for share in measured]
        texts = [
            (marked(said.evidence), said.sentence, figures.perturbed_sentence(spec, [share]))
            for said, share in zip(statements, measured, strict=True)
        ]
        excess = [
            ("▨ Estimated", figures.excess_statement(spec, each).sentence, "")
            for each in excesses(run)
        ]
        front = [*texts[:1], *excess] or [("…", "No result yet.", "")]
        _show_statements(front, self._statements, self._sentences)
        _show_statements(texts[1:], self._further, self._rest)

    def _show_studies(self, run: Run) -> None:
        """Show the audit studies; for experts every comparison."""
        spec = self._session.spec
        crowd = people_of(spec, run.figures, decision_tables(self._session.runs))
        self._people.draw(crowd)
        self._people.setVisible(not crowd.empty)
        studies = comparisons.studies_of(spec, run.figures)
        chart = studies_picture(spec, run, studies, _MOST_VALUES).chart
        self._study.draw(chart if isinstance(chart, Studies) else Studies())
        said = [
            sentence
            for each in studies
            for sentence in (
                comparisons.study_sentence(spec, each),
                comparisons.against_sentence(
                    spec, each, decision_tables(self._session.runs), run.figures
                ),
            )
        ]
        self._study_words.say("\n".join(filter(None, said)))
        self._study.setVisible(bool(studies))
        for layout in (self._study_table, self._compared):
            parts.clear(layout)
        if studies:
            rows = [row for each in studies for row in comparisons.study_rows(spec, each)]
            name = comparisons.study_caption(spec, studies)
            table = short_table(name, comparisons.STUDY_HEADER, rows, (1, 2, 4, 5), 0)
            self._study_table.addWidget(table)
        if compared := comparisons.compared_table(run.figures):
            name, right = "Every comparison, supported by the data or not", range(2, 7)
            table = short_table(name, comparisons.COMPARED_HEADER, compared, right, 1)
            self._compared.addWidget(table)

    def _check(self, measured: Sequence[Share], run: Run) -> None:
        """Say for experts which share to quote, what the others are of, and how sure each is."""
        spec, main = self._session.spec, main_shares(measured)
        said = [
            comparisons.every_sentence(spec, run.figures),
            figures.quote_sentence(spec, main),
            *figures.directed_by_value(spec, measured),
            POSSIBLE.format(many=self._session.many)
            if any(each.whom == "domain" for each in main)
            else "",
            *(f"{whom(each)}: {both}" for each in main if (both := intervals(each))),
        ]
        self._checks.say("\n".join(filter(None, said)))
        folded = (self._checks, self._others, self.chart)
        self.experts.setVisible(not all(each.isHidden() for each in folded))

    def _list_courses(self, measured: Sequence[Share]) -> None:
        """Offer the shares that have a course, and draw the chosen one's."""
        drawn = [share for share in measured if len(share.course) > 1 and not share.exhaustive]
        parts.offer(self._which, ((bar.name, bar.name) for bar in bars_of(drawn)))
        self._drawn = drawn
        for widget in (self._course_title, self._course_words, self.chart):
            widget.setVisible(bool(drawn))
        self._which.setVisible(len(drawn) > 1)
        self._draw_course()

    def _draw_course(self) -> None:
        if self._drawn:
            share = self._drawn[max(self._which.currentIndex(), 0)]
            self.chart.draw(course_of_estimate(share, whole=True))

    def _show_sets(self, measured: Sequence[Share], grouped: Sequence[GroupGap]) -> None:
        rows = set_rows(self._session.spec, measured, grouped) if grouped else []
        parts.clear(self._sets)
        for widget in (self._sets_title, self._sets_words):
            widget.setVisible(bool(rows))
        if not rows:
            return
        table = short_table(
            "Every set of protected attributes, estimated", SET_HEADER, rows[:_MOST_SETS], wide=3
        )
        self._sets.addWidget(table)
        if len(rows) > _MOST_SETS:
            rest = words.number(len(rows) - _MOST_SETS)
            self._sets.addWidget(
                parts.quiet(f"{rest} more sets with smaller shares are not shown.")
            )
