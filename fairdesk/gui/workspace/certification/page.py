"""What is proven: of whom, how it came, in which regions, and between whom."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMenu, QPushButton, QToolButton, QWidget

from fairdesk.answers.answer import PairsOf, Question
from fairdesk.answers.pairs_known import pairs_alone, sufficient_names
from fairdesk.answers.rates import decision_tables, without_misfit
from fairdesk.answers.selection import all_off
from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.certify.proof.certificate import rounding_sentence
from fairdesk.charts.courses import course_of_proof
from fairdesk.charts.kinds.lines import Drawing
from fairdesk.charts.kinds.proof import Spaces, alone_of, space_around, spaces_of
from fairdesk.gui.charts.drawn import DrawnChart
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.kit.pages import for_experts, page_head
from fairdesk.gui.workspace.certification.rows import (
    pair_rows,
    rate_notes,
    rate_rows,
    region_rows,
)
from fairdesk.gui.workspace.common.answering import Run, can_go_on, proves
from fairdesk.gui.workspace.common.report_link import report_link
from fairdesk.gui.workspace.common.rule_table import RuleTable
from fairdesk.gui.workspace.common.run_page import RunPage
from fairdesk.gui.workspace.common.statement import Statement
from fairdesk.gui.workspace.session.session import Session
from fairdesk.results.events import Metric
from fairdesk.results.individual import Share
from fairdesk.results.proofs import PairShare, Proven, ProvenRates, Region
from fairdesk.wording import figures, words
from fairdesk.wording import proofs as proof_words
from fairdesk.wording.certified.neighbourhoods import (
    NOT_MEANT,
    neighbourhood_statement,
    neighbourhoods_of,
)

#: How long a run can be gone on with, in seconds; the second of them is offered first.
_MORE = (60.0, 600.0, 3600.0)

#: What a proof is, and what the marks mean.
EXPLAINED = proof_words.VERDICTS
#: What an expert reads with the other figures.
ROUNDED = (
    f"{proof_words.ROUNDED} What is proven is solid; what random samples show of the undecided "
    "share is an estimate (hatched), never added to what is proven."
)

#: So many regions of each kind are shown at first.
_REGIONS = 5

#: Below bars with a falsified share whose pairs are known.
FALSIFIED_PAIRS = (
    "Click the falsified share, or choose it with the arrow keys and press Enter, to list pairs."
)

#: The same below bars of each attribute alone.
PAIRS_ALONE = (
    "Click a bar of one attribute, or choose it with the arrow keys and press Enter, to list pairs "
    "in which changing this attribute alone changes the decision."
)


def off(spec: AuditSpec) -> tuple[str, ...]:
    """Say why nothing can be proven here; empty where some method can."""
    return all_off(spec, QuestionKind.PROOF)


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
    show_pairs : PairsOf
        The pairs of one attribute alone are to be shown.
    """

    prove = Signal()
    go_on = Signal(int, float)
    stop = Signal()
    show_examples = Signal(int, object)
    show_pairs = Signal(object)

    def __init__(self, session: Session) -> None:
        super().__init__(session, proves, "Run whose certification is shown", Question.CERTAIN)
        self._of_people, self._headline, self._estimate = Statement(), Statement(), Statement()
        self._notes = parts.quiet()
        self.bars, self.shares, self.alone = (DrawnChart(Spaces(), size=1.12) for _ in range(3))
        self._around, self.around = Statement(), DrawnChart(Spaces(), size=1.12)
        self._combinations = layouts.panel(
            self._headline, self._estimate, self.shares, spacing=theme.GAP
        )
        self.chart = DrawnChart(Drawing(), fills=True)
        self.chart.setMinimumHeight(280)
        self.chart.tools.addWidget(parts.Words("Progress", size=1.12, strong=True, wrap=False))
        session.hear(self.bars, self.shares, self.alone, self.around, self.chart)
        for bars in (self.bars, self.shares):
            bars.opened.connect(partial(self._show_falsified, bars))
        self._pairs_words = parts.quiet(FALSIFIED_PAIRS)
        self.alone.opened.connect(self._show_alone)
        self._alone_words = parts.quiet(PAIRS_ALONE)
        #: What is known of the bars of each attribute alone, in their order.
        self._known: tuple[PairsOf | None, ...] = ()
        regions = ("Region", "Share of the input domain", "Data-weighted share")
        self.discriminatory = RuleTable("Largest falsified regions", regions, first=_REGIONS)
        self.consistent = RuleTable("Largest certified regions", regions, first=_REGIONS)
        self.rates = RuleTable(
            "Selection rates of groups",
            ("Group", "Proven, at least", "Proven, at most", "Observed in the data rows"),
            wide=1,
        )
        self.rate_notes = parts.quiet()
        self.pairs = RuleTable(
            "Pairs of protected values",
            (
                "First value",
                "Second value",
                "Falsified (changes)",
                "Certified (unchanged)",
                "Undecided",
            ),
            wide=2,
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
        whatever = f" for every tested value of {words.listed(names)}" if names else ""
        button = parts.push_button("Start cer&tification", self.prove)
        empty = parts.empty_page(
            "Not certified yet",
            f"Discriminatory pairs show that such cases exist; an estimate shows about how often. "
            f"Certification covers whole regions of the input domain, not a sample of {many}. It "
            f"proves for which share the decision is the same{whatever}, and for which it "
            "changes, and reports the rest as undecided.",
            parts.why_not(button, reasons),
            button,
        )
        return layouts.panel(page_head("Certification"), layouts.grow(empty), margin=theme.AROUND)

    def _make_full(self) -> QWidget:
        inside = QWidget()
        head = page_head("Certification", self.runs, self._make_go_on(), self._make_stop())
        link = report_link(self._session, self._places)
        # of combinations there is nothing to fold away where nothing is known of people
        self._front, self._below = layouts.column(), layouts.column(spacing=theme.GAP)
        self.experts = for_experts(
            parts.quiet(ROUNDED), self._below, self._notes, *self._make_below()
        )
        layouts.column(
            head,
            parts.quiet(EXPLAINED),
            self._banner,
            self._standing,
            self._around,
            self.around,
            self._of_people,
            self.bars,
            self._pairs_words,
            self._front,
            layouts.at(link, Qt.AlignmentFlag.AlignLeft),
            self.experts,
            layouts.stretch(),
            on=inside,
            margin=theme.AROUND,
            spacing=theme.GAP,
        )
        return parts.scrolled(inside)

    def _make_below(self) -> Iterator[QWidget]:
        """Make what experts see below the shares, each with its heading."""
        for widget, name, what in self._parts_below():
            words_above = [parts.heading(name), parts.quiet(what)] if name else []
            whole = widget
            if widget in (self.discriminatory, self.consistent):
                more = layouts.at(widget.more, Qt.AlignmentFlag.AlignLeft)
                whole = layouts.panel(widget, more, spacing=theme.NEAR)
            self._sections[widget] = (*words_above, whole)
            yield from self._sections[widget]

    def _parts_below(self) -> tuple[tuple[QWidget, str, str], ...]:
        """Return what an expert sees, each with its heading, and what it is."""
        when = words.when_changes(self._session.spec.domain)
        return (
            (self.chart, "", ""),
            (self.alone, "", ""),
            (self._alone_words, "", ""),
            (self.rates, "Selection rates of groups", proof_words.RATES),
            (self.rate_notes, "", ""),
            (
                self.pairs,
                "By pair of protected values",
                "For each pair of protected values alone: what is proven about the input domain. "
                + proof_words.NONE_MEANS,
            ),
            (
                self.discriminatory,
                "Largest regions proven to change (falsified)",
                f"Proven: for every combination in such a region the decision changes {when}.",
            ),
            (
                self.consistent,
                "Largest regions proven unchanged (certified)",
                f"Proven: for no combination in such a region does the decision change {when}.",
            ),
        )

    def _places(self) -> tuple[str, ...]:
        number = 0 if self._told is None else self._told.id
        return f"certification/bars-{number}", "certification"

    def _make_go_on(self) -> QToolButton:
        """Make the button that goes on with the run, with a menu of how long."""
        self._more = QToolButton()
        self._more.setText("&Continue for 10 more minutes")
        self._more.setToolTip("Continue from what is already proven; nothing is proven twice")
        self._more.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
        self._more.setMinimumWidth(self._more.sizeHint().width() + 2 * theme.GAP)
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
        self._stop.setToolTip(
            "Stop the run; what is proven so far is kept, and the run can be continued later"
        )
        self._more.setMinimumHeight(self._stop.sizeHint().height())
        return self._stop

    # What happens

    def _show_falsified(self, bars: DrawnChart[Spaces], place: int) -> None:
        """Show the pairs of the run for a falsified share; what is counted of rows has no pairs."""
        run = self._told
        if run is not None and run.found and bars.drawing.falsified[place]:
            self.show_examples.emit(run.id, ())

    def _show_alone(self, place: int) -> None:
        """Show the pairs that are known of the attribute of a bar."""
        known = self._known[self.alone.drawing.bar_at(place)]
        if known is not None:
            self.show_pairs.emit(known)

    def _ask_more(self, seconds: float) -> None:
        if self._told is not None:
            self.go_on.emit(self._told.id, seconds)

    def _offer(self) -> None:
        """Offer to go on with the run that is shown, or to stop it, as it can be."""
        run, live = self._told, self._session.live
        is_live = run is not None and live is not None and live.id == run.id
        self._more.setVisible(run is not None and not is_live and can_go_on(run))
        self._stop.setVisible(is_live)

    def _take(self, run: Run) -> None:
        super()._take(run)
        self._offer()

    def _show_run(self, run: Run) -> None:
        spec, shown = self._session.spec, self._quoted(run)
        proven = proof_words.proven_of(shown)
        self._stand(run)
        self._say(run, proven)
        self._draw_shares(run)
        self._show_around(run)
        heading = "All protected attributes, and each alone, in the input domain"
        runs = self._session.runs
        alone = alone_of(spec, shown, sufficient_names(spec, runs))
        self.alone.draw(Spaces(alone, heading, "Effect of each attribute alone"))
        self._show_section(self.alone, there=bool(alone))
        self._known = tuple(
            pairs_alone(spec, runs, bar.attributes[0]) if len(bar.attributes) == 1 else None
            for bar in alone
        )
        self._show_section(self._alone_words, there=any(self._known))
        grown = proof_words.main_proof(shown)
        drawing = Drawing("", "", "", ()) if grown is None else course_of_proof(grown, whole=True)
        self._show_section(self.chart, there=not drawing.empty)
        if not drawing.empty:
            self.chart.draw(drawing)
        regions = [each for each in shown if isinstance(each, Region)]
        for table, verdict in (
            (self.discriminatory, "discriminatory"),
            (self.consistent, "consistent"),
        ):
            rows = region_rows(spec, (each for each in regions if each.verdict == verdict))
            self._show_section(table, there=bool(rows))
            table.show_rows(rows)
        found = [each for each in shown if isinstance(each, ProvenRates)]
        tables = decision_tables(self._session.runs)
        rates = rate_rows(spec, found, tables)
        notes = rate_notes(spec, found, tables)
        self._show_section(self.rate_notes, there=bool(notes))
        self.rate_notes.setText("\n".join(notes))
        self._show_section(self.rates, there=bool(rates))
        self.rates.show_rows(rates)
        pairs = pair_rows(spec, (each for each in shown if isinstance(each, PairShare)))
        self._show_section(self.pairs, there=bool(pairs))
        self.pairs.show_rows(pairs)
        below = [each for section in self._sections.values() for each in section]
        self.experts.setVisible(not all(each.isHidden() for each in below))

    def _quoted(self, run: Run) -> tuple[Metric, ...]:
        """Return the figures of a run that are shown."""
        return without_misfit(self._session.spec, run.figures, decision_tables(self._session.runs))

    def _draw_shares(self, run: Run) -> None:
        """Draw the shares: those of combinations folded away where that of people is known."""
        spec, shown = self._session.spec, self._quoted(run)
        folds = proof_words.proven_of(shown, "people") is not None
        (self._below if folds else self._front).addWidget(self._combinations)
        rest = [each for each in shown if isinstance(each, Proven) and each.of != "people"]
        front = [each for each in shown if each not in rest] if folds else shown
        if any(neighbourhoods_of(each.figures) for each in self._session.runs):
            # the bar of the rows with their neighbours has that share
            front = [
                each for each in front if not (isinstance(each, Share) and each.whom == "data")
            ]
        self.bars.draw(Spaces(spaces_of(spec, front)))
        self.bars.setVisible(not self.bars.drawing.empty)
        self._pairs_words.setVisible(bool(run.found) and any(self.bars.drawing.falsified))
        self._combinations.show()
        self.shares.draw(Spaces(spaces_of(spec, rest) if folds else ()))
        self.shares.setVisible(folds)

    def _show_around(self, run: Run) -> None:
        """Show what was last certified around the data rows, by this run or another."""
        spec = self._session.spec
        own = neighbourhoods_of(run.figures)
        known = (neighbourhoods_of(each.figures) for each in reversed(self._session.runs))
        found = own or next((each for each in known if each is not None), None)
        if own is not None:
            # a run of its own: there is nothing else
            for hidden in (self.bars, self._pairs_words, self._combinations):
                hidden.hide()
        for each in (self._around, self.around):
            each.setVisible(found is not None)
        if found is not None:
            said = neighbourhood_statement(spec, found).sentence
            self._around.say("■ Proven, around the data rows", said, NOT_MEANT)
            heading = "Data rows with their neighbours"
            self.around.draw(Spaces((space_around(spec, found),), heading, heading))

    def _show_section(self, widget: QWidget, *, there: bool) -> None:
        for each in self._sections[widget]:
            each.setVisible(there)

    def _stand(self, run: Run) -> None:
        """Say how the run stands, and what it spent."""
        self._say_standing(run)
        if run.state == "failed":
            self._banner.say(
                "The run failed; what is proven so far is kept.",
                run.message,
                (("Run certification again", self.prove.emit),),
            )
        else:
            self._banner.clear()

    def _say(self, run: Run, proven: Proven | None) -> None:
        """Say what is proven in a sentence, and beside it, never in it, what is estimated."""
        spec = self._session.spec
        estimated = ""
        if proven is None:
            shares = [each for each in run.figures if isinstance(each, Share) and each.n_samples]
            first = next((each for each in shares if each.whom == "domain"), None)
            if first is not None:
                said = figures.share_statement(spec, first)
                estimated = said.with_more(figures.uncertified(first)).sentence
            going = run.state in ("running", "paused")
            self._headline.say(
                "…" if going else "□ Not certified",
                "No share is certified or falsified yet."
                if going and not estimated
                else (
                    "Nothing could be proven for this model. The results below are statistical, "
                    "not certified."
                ),
                run.message if run.state == "done" else "",
            )
        else:
            estimated = proof_words.estimated_sentence(proven)
            consistent, discriminatory, _left = proof_words.proven_fractions(proven)
            kind = "■ Proven" if consistent or discriminatory else "□ Nothing proven yet"
            said = proof_words.proven_statement(proven)
            self._headline.say(kind, said.sentence)
        of_people = proof_words.proven_of(self._quoted(run), "people")
        self._of_people.setVisible(of_people is not None)
        if of_people is not None:
            said = proof_words.proven_statement(of_people)
            kind = "■ Proven" if said.evidence == "proven" else "□ Nothing proven yet"
            self._of_people.say(kind, said.sentence, proof_words.population_note(spec))
        self._estimate.setVisible(bool(estimated))
        self._estimate.say("▨ Estimated, not proven", estimated)
        figure = proven or neighbourhoods_of(run.figures)
        notes = () if figure is None else figure.notes
        rounding = () if proven is None else (rounding_sentence(proven.margin),)
        self._notes.say("\n".join(filter(None, (*rounding, *notes))))
