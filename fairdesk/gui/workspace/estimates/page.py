"""How common it is: shares with their intervals, how they settled, and gaps between groups."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QWidget

from fairdesk.audit.catalogue.method import ABOUT_GROUPS, QuestionKind
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import RunRecord
from fairdesk.charts.kinds.lines import Drawing, Line, Mark
from fairdesk.charts.kinds.shares import ShareBar, ShareBars
from fairdesk.gui.charts.chart import LineChart
from fairdesk.gui.charts.picture import Picture
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.workspace.common.answering import Run, all_off, excesses, gaps, method_of, shares
from fairdesk.gui.workspace.common.run_page import RunPage
from fairdesk.gui.workspace.common.short_table import short_table
from fairdesk.gui.workspace.common.statement import Statement
from fairdesk.gui.workspace.session.session import Session
from fairdesk.results.groups import GroupGap
from fairdesk.results.individual import Share
from fairdesk.wording import figures, words

#: Sets of protected attributes in the table; more make the page endless.
_MOST_SETS = 60

#: What an estimate is, and what the marks mean.
EXPLAINED = (
    "An estimate asks about people drawn at random, so that it tells how common it is, within an "
    "interval: hatched. Where everybody was asked the share is exact: solid. A search for examples "
    "cannot tell it."
)
#: Of whom all possible people are a picture.
POSSIBLE = (
    "“Possible {many}” are all combinations of values that this audit allows, each as likely as "
    "any other; most are unlike anybody real."
)
#: The kinds of people, in the order in which they are told.
_WHOM: dict[str, str] = {
    "domain": "All possible",
    "data": "In the data",
    "perturbed": "A little unlike the data",
}


def measured(run: Run) -> bool:
    """Return whether a run says how common it is."""
    answers = method_of(run).answers
    if answers in ABOUT_GROUPS:
        return False
    return bool(shares(run) or gaps(run)) or answers is QuestionKind.SHARE


def intervals(share: Share) -> str:
    """Explain both intervals in plain words; for an exact share, that there is none."""
    if share.exhaustive and not share.exact:
        return (
            "Everybody was queried once, but the model gave some rows another answer when they "
            "were queried again: the share is not exact, and has no interval."
        )
    if share.exhaustive:
        return "Everybody was asked, so that the share is exact and has no interval."
    digits = words.digits_of(share.low, share.high)
    once, anytime = (
        f"{100 * low:.{digits}f} to {100 * high:.{digits}f}{words.NBSP}%"
        for low, high in ((share.low, share.high), (share.anytime_low, share.anytime_high))
    )
    return (
        f"If you look once, at the end: {once}. If you stop whenever you like: {anytime}. "
        f"{words.number(share.hits)} of the {words.number(share.people)} asked; each interval "
        f"misses the truth in at most {100 * (1 - share.confidence):g}{words.NBSP}% of such audits."
    )


def short(share: Share) -> str:
    """Write a share with its interval for a bar or a cell: ``3.8 % (3.7 to 3.9)``."""
    if share.exhaustive:
        return words.shown_percent(share.estimate, 2)
    digits = words.digits_of(share.low, share.high)
    value = words.shown_percent(share.estimate, digits)
    return f"{value} ({100 * share.low:.{digits}f} to {100 * share.high:.{digits}f})"


def kind(share: Share) -> str:
    """Name the kind of statement: ``exact`` or ``estimated``."""
    return "exact" if share.exact else "estimated"


def whom(share: Share) -> str:
    """Say of whom a share is: ``In the data``."""
    return _WHOM[share.whom]


def main_shares(all_shares: Sequence[Share]) -> tuple[Share, ...]:
    """Pick those of the most protected attributes together, one of each kind of people.

    Where none is of several, as after THEMIS left out what holds another, the greatest is told.
    """
    most = max((len(share.attributes) for share in all_shares), default=0)
    of_most = sorted(
        (share for share in all_shares if len(share.attributes) == most),
        key=lambda each: -each.estimate,
    )
    first = {share.whom: share for share in reversed(of_most)}
    return tuple(first[each] for each in _WHOM if each in first)


def telling_share(runs: Sequence[Run]) -> tuple[Share, ...]:
    """Return a share of each kind of people: of most attributes, then from most people.

    Of equal ones the newest is given.
    """
    # a share of those near the data only is not one of all possible people
    whole = [run for run in runs if not (isinstance(run, RunRecord) and run.spec.near is not None)]
    candidates = [share for run in whole for share in main_shares(shares(run))]
    candidates.sort(key=lambda share: (len(share.attributes), share.exhaustive, share.people))
    # the last of each kind stays, and of equal ones the newest is to be that
    best = {share.whom: share for share in candidates}
    most = max((len(share.attributes) for share in candidates), default=0)
    return tuple(
        best[whom] for whom in _WHOM if whom in best and len(best[whom].attributes) == most
    )


def bars_of(measured: Sequence[Share]) -> tuple[ShareBar, ...]:
    """Make a bar of each share."""
    return tuple(
        ShareBar(
            f"{whom(share)}, {words.when_change(share.attributes)}",
            short(share),
            share.exhaustive,
            share.estimate,
            share.low,
            share.high,
            share.anytime_low,
            share.anytime_high,
        )
        for share in measured
    )


def convergence(share: Share, many: str) -> Drawing:
    """Draw how an estimate settled: with its anytime band, and the trials as dots."""
    course = np.array(share.course, dtype=np.float64).reshape(-1, 4)
    people, shown = course[:, 0], np.multiply(course[:, 1:], 100)
    lines = [
        Line("estimate", people, shown[:, 0], "discriminatory", low=shown[:, 1], high=shown[:, 2])
    ]
    if share.trials and len(people):
        each = share.people / len(share.trials)
        ends = np.arange(1, len(share.trials) + 1, dtype=np.float64) * each
        lines.insert(
            0, Line("trials", ends, 100 * np.array(share.trials), "undecided", mark=Mark.DOTS)
        )
    # the band begins at 0 to 100 %: shown whole it would press all that follows against the axis
    settled = max(100 * share.high, *(100 * trial for trial in share.trials), 1e-3)
    return Drawing(
        title="How the estimate settled",
        x_title=f"{many} asked",
        y_title="share",
        lines=tuple(lines) if len(people) > 1 else (),
        y_digits=words.digits_of(share.low, share.high),
        y_unit=f"{words.NBSP}%",
        y_high=min(1.6 * settled, 100.0),
    )


#: The columns of `set_rows`.
SET_HEADER = (
    "Protected attributes",
    "Another decision",
    "Gap between two groups",
    "Fares best",
    "Fares worst",
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
                short(share) if share else "not asked",
                f"{100 * gap.gap:.1f} points ({100 * gap.low:.1f} to {100 * gap.high:.1f})"
                if gap
                else "not asked",
                _group(spec, gap.attributes, gap.best, gap.best_rate) if gap else "–",
                _group(spec, gap.attributes, gap.worst, gap.worst_rate) if gap else "–",
            )
        )
    return rows


def _group(spec: AuditSpec, names: Sequence[str], codes: Sequence[float], rate: float) -> str:
    attributes = dict(zip(spec.domain.names, spec.domain.attributes, strict=True))
    values = [attributes[name].text(code) for name, code in zip(names, codes, strict=True)]
    return f"{', '.join(values)}: {words.shown_percent(rate, 1)}"


class SharePage(RunPage):
    """How common discrimination is.

    Signals
    -------
    estimate
        A run that estimates it is wanted.
    """

    estimate = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__(session, measured, "Run whose figures are shown")
        self._statements: list[Statement] = []
        self._drawn: list[Share] = []
        self._bars = Picture(ShareBars())
        self.chart = LineChart()
        self.chart.setMinimumHeight(230)
        self.chart.said.connect(session.said)
        self.chart.failed.connect(session.failed)
        self._which = QComboBox()
        self._which.setAccessibleName("Share whose course is drawn")
        self._which.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self._which.currentIndexChanged.connect(lambda _index: self._draw_course())
        self.chart.tools.addWidget(self._which)
        self._course_title = parts.heading("How the estimate settled")
        self._course_words = parts.quiet(
            "The line is the estimate, the band the interval that holds at every moment; a dot is "
            "the share in one trial of equally many."
        )
        self._sets_title = parts.heading("Every set of protected attributes")
        self._sets_words = parts.quiet(
            f"Estimated: how many of all possible {session.many} get another decision when only "
            "these attributes change, the most common first. A gap compares the favourable rates "
            f"of two groups of possible {session.many} who need not be alike otherwise; it "
            "may have other causes."
        )
        self._stack_up(self._make_empty(), self._make_full())
        self.runs.take_runs()

    # Parts

    def _make_empty(self) -> QWidget:
        many = self._session.many
        button = parts.push_button("&Estimate how common it is", self.estimate)
        reasons = all_off(self._session.spec, QuestionKind.SHARE)
        return parts.empty_page(
            "Not estimated yet",
            f"Examples prove that discrimination exists, but not how common it is. An estimate "
            f"asks the model about {many} drawn at random and says which share of them get another "
            "decision, with an interval that tells how sure that is. It will stand here.",
            parts.why_not(button, reasons),
            button,
        )

    def _make_full(self) -> QWidget:
        inside = QWidget()
        head = layouts.row(
            layouts.grow(parts.title("How common")),
            layouts.at(self.runs, Qt.AlignmentFlag.AlignTop),
        )
        column = layouts.column(
            head,
            parts.quiet(f"{EXPLAINED} {POSSIBLE.format(many=self._session.many)}"),
            self._banner,
            self._standing,
            on=inside,
            margin=theme.PAGE,
            spacing=theme.GAP,
        )
        self._sentences = layouts.column(spacing=theme.GAP)
        column.addLayout(self._sentences)
        column.addSpacing(theme.NEAR)
        column.addWidget(self._bars)
        column.addSpacing(theme.NEAR)
        column.addWidget(self._course_title)
        column.addWidget(self._course_words)
        column.addWidget(self.chart)
        column.addWidget(self._sets_title)
        column.addWidget(self._sets_words)
        self._sets = layouts.column()
        column.addLayout(self._sets)
        column.addStretch(1)
        return parts.scrolled(inside)

    # What happens

    def _show_run(self, run: Run) -> None:
        measured, grouped = shares(run), gaps(run)
        sent = f"{words.number(run.queries)} rows sent to the model, "
        self._say_standing(run, sent, f" {figures.near_sentence(self._session.spec, run)}")
        if run.state == "failed":
            again = (("Estimate again", self.estimate.emit),)
            self._banner.say("The run failed; what it measured is kept.", run.message, again)
        elif changed := figures.changed_answers(run):
            self._banner.say(changed)
        else:
            self._banner.clear()
        self._say(main_shares(measured), run)
        self._bars.draw(ShareBars(bars_of(() if grouped else measured)))
        self._bars.setVisible(bool(measured) and not grouped)
        self._list_courses(measured)
        self._show_sets(measured, grouped)

    def _say(self, measured: Sequence[Share], run: Run) -> None:
        """Say each share in a sentence, and how sure it is; then what repeated queries came to."""
        spec = self._session.spec
        texts = [
            (_mark(share), figures.share_statement(spec, share).sentence, intervals(share))
            for share in measured
        ]
        texts += [
            ("▨ Estimated", figures.excess_statement(spec, each).sentence, "")
            for each in excesses(run)
        ]
        if not texts:
            texts = [("…", "Nothing is measured yet.", "")]
        while len(self._statements) > len(texts):
            last = self._statements.pop()
            last.hide()
            last.deleteLater()
        while len(self._statements) < len(texts):
            self._statements.append(Statement())
            self._sentences.addWidget(self._statements[-1])
        for statement, (mark, sentence, more) in zip(self._statements, texts, strict=True):
            statement.say(mark, sentence, more)

    def _list_courses(self, measured: Sequence[Share]) -> None:
        """Offer the shares that have a course, and draw the chosen one's."""
        ordered = dict.fromkeys((*main_shares(measured), *measured))
        drawn = [share for share in ordered if len(share.course) > 1 and not share.exhaustive]
        names = [bar.name for bar in bars_of(drawn)]
        if names != [self._which.itemText(i) for i in range(self._which.count())]:
            chosen = self._which.currentText()
            with QSignalBlocker(self._which):
                self._which.clear()
                self._which.addItems(names)
                self._which.setCurrentIndex(max(self._which.findText(chosen), 0))
        self._drawn = drawn
        for widget in (self._course_title, self._course_words, self.chart):
            widget.setVisible(bool(drawn))
        self._which.setVisible(len(drawn) > 1)
        self._draw_course()

    def _draw_course(self) -> None:
        if self._drawn:
            share = self._drawn[max(self._which.currentIndex(), 0)]
            self.chart.draw(convergence(share, self._session.many))

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
            self._sets.addWidget(parts.quiet(f"{rest} more sets, less common, are left out here."))


def _mark(share: Share) -> str:
    return f"{'■' if share.exact else '▨'} {kind(share).capitalize()}"
