"""What is proven: of whom, how it came, in which regions, and between whom."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import partial
from math import ceil, floor, log10

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMenu, QPushButton, QToolButton, QWidget

from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.charts.kinds.lines import Drawing, Line
from fairdesk.charts.kinds.proof import Spaces, alone_of, spaces_of
from fairdesk.charts.verdicts import MARKS, shown
from fairdesk.gui.charts.chart import LineChart
from fairdesk.gui.charts.drawn import DrawnChart
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.workspace.certification.refinement_view import RefinementView
from fairdesk.gui.workspace.common.answering import Run, all_off, can_go_on, number_of, proves
from fairdesk.gui.workspace.common.report_link import report_link
from fairdesk.gui.workspace.common.rule_table import Cell, RuleTable
from fairdesk.gui.workspace.common.run_page import RunPage
from fairdesk.gui.workspace.common.statement import Statement
from fairdesk.gui.workspace.session.session import Session
from fairdesk.results.individual import Share
from fairdesk.results.proofs import PairShare, Proven, Refinement, Region
from fairdesk.wording import figures, words
from fairdesk.wording import proofs as proof_words
from fairdesk.wording import rules as rule_words

#: How long a run can be gone on with, in seconds; the second of them is offered first.
_MORE = (60.0, 600.0, 3600.0)

#: What a proof is, and what the marks mean.
EXPLAINED = (
    "A proof holds for everybody in a region, not only for those who were asked: solid. What is "
    "undecided is not known; what random samples say of it is an estimate: hatched, and never "
    "added to what is proven."
)

#: How to read the icicle, and how to walk in it.
_WHERE = (
    "All possible {many} at the left, divided to the right: a box is as high as the share of them "
    "that it holds, and filled with what is proven of these. A click or Enter goes into a box, "
    "Backspace back; arrow keys walk; T shows a table."
)


def off(spec: AuditSpec) -> tuple[str, ...]:
    """Say why nothing can be proven here; empty where some method can."""
    return all_off(spec, QuestionKind.PROOF)


def course_of(proven: Proven) -> Drawing:
    """Draw how the shares came: certified, falsified, and undecided."""
    course = np.array(proven.course, dtype=np.float64).reshape(-1, 3)
    # what is proven is rounded down here too
    certified, falsified = np.floor(1e4 * course[:, 1:].T + 1e-6) / 100
    seconds = course[:, 0]
    lines = (
        Line("undecided", seconds, 100 - certified - falsified, "undecided", dashed=True),
        Line("certified", seconds, certified, "consistent"),
        Line("falsified", seconds, falsified, "discriminatory"),
    )
    return Drawing(
        title="How the proven shares grew",
        x_title="seconds",
        y_title="share",
        lines=lines if len(course) > 1 else (),
        x_digits=1,
        y_digits=2,
        y_unit=f"{words.NBSP}%",
        y_high=100.0,
    )


def region_rows(spec: AuditSpec, regions: Iterable[Region]) -> list[tuple[Cell, ...]]:
    """Write a row per region, in their order."""
    return [
        (
            Cell(_sentence_case(rule_words.rule_text(spec, each.conditions)), -place),
            Cell(shown("consistent", Fraction(str(each.share))), each.share),
            Cell(f"{int(each.people):,}", float(each.people)),
            Cell(proof_words.about_percent(each.population), each.population),
        )
        for place, each in enumerate(regions)
    ]


def pair_rows(spec: AuditSpec, pairs: Iterable[PairShare]) -> list[tuple[Cell, ...]]:
    """Write a row per pair of protected values, the most unlike first."""
    attributes = dict(zip(spec.domain.names, spec.domain.attributes, strict=True))

    def group(names: Sequence[str], codes: Sequence[float]) -> str:
        return ", ".join(
            f"{words.quoted(name)} = {attributes[name].text(code)}"
            for name, code in zip(names, codes, strict=True)
        )

    rows: list[tuple[Cell, ...]] = []
    for place, each in enumerate(sorted(pairs, key=lambda pair: -pair.falsified)):
        discriminatory, consistent = Fraction(str(each.falsified)), Fraction(str(each.certified))
        left = Fraction(0) if each.exact else max(1 - discriminatory - consistent, Fraction(0))
        rows.append(
            (
                Cell(group(each.attributes, each.first), -place),
                Cell(group(each.attributes, each.second), -place),
                Cell(shown("discriminatory", discriminatory), each.falsified),
                Cell(shown("consistent", consistent), each.certified),
                Cell(shown("undecided", left), float(left)),
            )
        )
    return rows


def _sentence_case(rule: str) -> str:
    return rule if rule != "everybody" else "Everybody"


class ProofPage(RunPage):
    """What is proven.

    Signals
    -------
    prove
        A run that proves is wanted.
    go_on : int, float
        A run is to be gone on with for so many seconds.
    stop
        The run that is under way is to end; what it proved is kept.
    show_examples : int, object
        A run's examples of these numbers are to be shown; of no numbers all.
    """

    prove = Signal()
    go_on = Signal(int, float)
    stop = Signal()
    show_examples = Signal(int, object)

    def __init__(self, session: Session) -> None:
        super().__init__(session, proves, "Run whose proof is shown")
        self._headline, self._estimate = Statement(), Statement()
        self._notes = parts.quiet()
        self.bars, self.alone = (DrawnChart(Spaces(), size=1.12) for _ in range(2))
        self.chart = LineChart()
        self.chart.setMinimumHeight(220)
        self.chart.tools.addWidget(parts.Words("How it came", size=1.12, strong=True, wrap=False))
        for each in (self.bars, self.alone, self.chart):
            each.said.connect(session.said)
            each.failed.connect(session.failed)
        self.refinement = RefinementView(session)
        self.refinement.show_examples.connect(self.show_examples)
        regions = ("Rule", "Of all possible", "How many", "Population")
        self.discriminatory = RuleTable("Largest falsified regions", regions)
        self.consistent = RuleTable("Largest certified regions", regions)
        self.pairs = RuleTable(
            "Pairs of protected values", ("Between", "and", "Unlike", "Alike", "Undecided"), wide=2
        )
        self._sections: dict[QWidget, tuple[QWidget, ...]] = {}
        self._stack_up(self._make_empty(), self._make_full())
        session.runs_changed.connect(self._offer)
        session.live_changed.connect(lambda _state: self._offer())
        self.runs.take_runs()

    # Parts

    def _make_empty(self) -> QWidget:
        many = self._session.many
        reasons = off(self._session.spec)
        names = words.protected_names(self._session.spec.domain)
        whatever = f", whatever their {words.listed(names)}" if names else ""
        button = parts.push_button("&Prove what can be proven", self.prove)
        return parts.empty_page(
            "Nothing proven yet",
            f"Examples prove that there is discrimination; an estimate says about how common it "
            f"is. A proof goes further: it looks at whole regions of {many} at once and shows of "
            f"everybody in them that they are treated alike, or that they are not{whatever}. How "
            "many that are, and in which regions, will stand here.",
            parts.why_not(button, reasons),
            button,
        )

    def _make_full(self) -> QWidget:
        inside = QWidget()
        head = layouts.row(layouts.grow(parts.title("Proof")), spacing=theme.NEAR)
        for choice in (self.runs, self._make_go_on(), self._make_stop()):
            head.addWidget(choice, 0, Qt.AlignmentFlag.AlignTop)
        link = report_link(self._session, self._places)
        column = layouts.column(
            head,
            parts.quiet(EXPLAINED),
            self._banner,
            self._standing,
            self._headline,
            self._estimate,
            self._notes,
            layouts.at(link, Qt.AlignmentFlag.AlignLeft),
            self.bars,
            on=inside,
            margin=theme.PAGE,
            spacing=theme.GAP,
        )
        for widget, name, what in self._parts_below():
            words_above = [parts.heading(name), parts.quiet(what)] if name else []
            self._sections[widget] = (*words_above, widget)
            column.addSpacing(theme.NEAR)
            for each in self._sections[widget]:
                column.addWidget(each)
        column.addStretch(1)
        return parts.scrolled(inside)

    def _parts_below(self) -> tuple[tuple[QWidget, str, str], ...]:
        """Return what follows below the bars, each with its heading, and what it is."""
        many, when = self._session.many, words.when_changes(self._session.spec.domain)
        return (
            (self.chart, "", ""),
            (self.alone, "", ""),
            (
                self.refinement,
                "Where",
                _WHERE.format(many=many),
            ),
            (
                self.discriminatory,
                f"{MARKS['discriminatory']} Largest falsified regions",
                f"Proven: everybody in such a region gets another decision {when}.",
            ),
            (
                self.consistent,
                f"{MARKS['consistent']} Largest certified regions",
                f"Proven: nobody in such a region gets another decision {when}.",
            ),
            (
                self.pairs,
                "Between whom",
                f"For each pair of protected values alone: what is proven of all possible {many}.",
            ),
        )

    def _places(self) -> tuple[str, ...]:
        number = 0 if self._told is None else number_of(self._told)
        return f"certification/bars-{number}", "certification"

    def _make_go_on(self) -> QToolButton:
        """Make the button that goes on with the run, with a menu of how long."""
        self._more = QToolButton()
        self._more.setText("&Continue for 10 more minutes")
        self._more.setToolTip("Go on from what is proven; nothing is proven twice")
        self._more.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
        self._more.clicked.connect(partial(self._ask_more, _MORE[1]))
        menu = QMenu(self._more)
        for seconds in _MORE:
            text = f"Continue for {words.duration(seconds).replace('min', 'more min')}"
            text = "Continue for 1 more hour" if seconds == _MORE[-1] else text
            menu.addAction(parts.action(menu, text, partial(self._ask_more, seconds)))
        self._more.setMenu(menu)
        return self._more

    def _make_stop(self) -> QPushButton:
        self._stop = parts.push_button("Stop and &keep", self.stop)
        self._stop.setToolTip("End the run; what it has proven is kept, and can be gone on with")
        self._more.setMinimumHeight(self._stop.sizeHint().height())
        return self._stop

    # What happens

    def _ask_more(self, seconds: float) -> None:
        if self._told is not None:
            self.go_on.emit(number_of(self._told), seconds)

    def _offer(self) -> None:
        """Offer to go on with the run that is shown, or to stop it, as it can be."""
        run, live = self._told, self._session.live
        self._more.setVisible(run is not None and live is None and can_go_on(run))
        self._stop.setVisible(
            run is not None and live is not None and live.run_id == number_of(run)
        )

    def _take(self, run: Run) -> None:
        super()._take(run)
        self._offer()

    def _show_run(self, run: Run) -> None:
        spec, shown = self._session.spec, run.figures
        proven = proof_words.proven_of(shown)
        self._stand(run, proven)
        self._say(run, proven)
        self.bars.draw(Spaces(spaces_of(spec, shown)))
        self.bars.setVisible(not self.bars.drawing.empty)
        heading, title = "Each protected attribute alone", "What each attribute alone does"
        self.alone.draw(Spaces(alone_of(spec, shown), heading, title))
        self._show_section(self.alone, there=not self.alone.drawing.empty)
        drawing = Drawing("", "", "", ()) if proven is None else course_of(proven)
        self._show_section(self.chart, there=not drawing.empty)
        if not drawing.empty:
            self.chart.draw(drawing)
        tree = next((each for each in shown if isinstance(each, Refinement)), None)
        there = tree is not None and len(tree.parts) > 1
        self._show_section(self.refinement, there=there)
        if tree is not None and there:
            self.refinement.show_refinement(number_of(run), run.found, tree)
        regions = [each for each in shown if isinstance(each, Region)]
        for table, verdict in (
            (self.discriminatory, "discriminatory"),
            (self.consistent, "consistent"),
        ):
            rows = region_rows(spec, (each for each in regions if each.verdict == verdict))
            self._show_section(table, there=bool(rows))
            table.show_rows(rows)
        pairs = pair_rows(spec, (each for each in shown if isinstance(each, PairShare)))
        self._show_section(self.pairs, there=bool(pairs))
        self.pairs.show_rows(pairs)

    def _show_section(self, widget: QWidget, *, there: bool) -> None:
        for each in self._sections[widget]:
            each.setVisible(there)

    def _stand(self, run: Run, proven: Proven | None) -> None:
        """Say how the run stands, and what it spent."""
        boxes = f"{words.counted(proven.boxes, 'box')} looked at, " if proven is not None else ""
        self._say_standing(run, f"{boxes}{words.number(run.queries)} rows sent to the model, ")
        if run.state == "failed":
            self._banner.say(
                "The run failed; what it proved is kept.",
                run.message,
                (("Prove again", self.prove.emit),),
            )
        else:
            self._banner.clear()

    def _say(self, run: Run, proven: Proven | None) -> None:
        """Say what is proven in a sentence, and beside it, never in it, what is estimated."""
        spec = self._session.spec
        estimated = ""
        if proven is None:
            shares = [each for each in run.figures if isinstance(each, Share) and each.people]
            first = next((each for each in shares if each.whom == "domain"), None)
            if first is not None:
                said = figures.share_statement(spec, first)
                estimated = said.with_more(figures.uncertified(first)).sentence
            going = run.state in ("running", "paused")
            self._headline.say(
                "…" if going else "□ Not certified",
                "Nothing is proven yet."
                if going and not estimated
                else "Nothing could be proven of this model; what is told here is statistical, "
                "not certified.",
                run.message if run.state == "done" else "",
            )
        else:
            estimated = proof_words.estimated_sentence(spec, proven)
            consistent, discriminatory, _left = proof_words.proven_fractions(proven)
            kind = "■ Proven" if consistent or discriminatory else "□ Nothing proven yet"
            said = proof_words.proven_statement(spec, proven)
            self._headline.say(kind, said.sentence, _rounding(proven))
        self._estimate.setVisible(bool(estimated))
        self._estimate.say("▨ Estimated, not proven", estimated)
        notes = proven.notes if proven is not None else ()
        self._notes.setText("\n".join(notes))
        self._notes.setVisible(bool(notes))


def _rounding(proven: Proven) -> str:
    """Say what the proof allows for."""
    if not proven.margin:
        return ""
    return (
        "It holds for the model as it is served: its own rounding, which moves an answer by at "
        f"most {_at_most(proven.margin)} here, is allowed for."
    )


def _at_most(bound: float) -> str:
    """Write a small number rounded up to one figure: ``0.000004``."""
    digits = max(-floor(log10(bound)), 0)
    return f"{ceil(bound * 10**digits) / 10**digits:.{digits}f}"
