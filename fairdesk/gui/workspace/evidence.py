"""What the audit rests on: data and model, estimates of shares, and what is certified."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from fairdesk.answers import PairsOf, Question, all_off, decision_tables
from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.document import proofs, shares
from fairdesk.document.blocks import Block, Chart, Grid, Heading, Section
from fairdesk.document.pictures import pairs_of
from fairdesk.gui.kit import fields, layouts, parts, theme
from fairdesk.gui.kit.pages import page_head
from fairdesk.gui.kit.tables import TextTable
from fairdesk.gui.workspace.common.blocks_view import BlocksView
from fairdesk.gui.workspace.common.run_page import (
    Run,
    RunPage,
    can_go_on,
    page_of,
    proves,
    report_link,
    tells_share,
)
from fairdesk.gui.workspace.session.session import Session
from fairdesk.individual.realism.pair_plausibility import Reference
from fairdesk.report.document import described
from fairdesk.wording import figures, words
from fairdesk.wording.proofs import VERDICTS, neighbourhoods_of

#: The key of the table of columns.
COLUMNS = "columns"


class DataPage(QWidget):
    """Data and model."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session, spec = session, session.spec
        #: The attribute that is to be shown once the page is filled.
        self._wanted = ""
        self._banner, self.view = parts.Banner(), BlocksView(session)
        what = "data" if spec.predictions else "data and model"
        places = [spec.data.path, *([] if spec.predictions else [spec.model.path])]
        self._area = page_of(
            page_head("Data and model"),
            parts.quiet(
                f"The exact {what} of this audit. They are fixed; to audit others, create a new "
                "audit."
            ),
            parts.Words("\n".join(places), selectable=True),
            *(self._banner, self.view),
        )
        layouts.column(self._area, on=self)
        session.runs_changed.connect(self._ask)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Describe data and model, once they are looked at."""
        super().showEvent(event)
        self._ask()

    def show_attribute(self, name: str) -> None:
        """Choose an attribute in the table of columns, and put the keyboard there."""
        self._wanted = name
        names = [each.name for each in self._session.spec.columns]
        table = self.view.shown.get(COLUMNS)
        if isinstance(table, TextTable) and name in names:
            self._wanted = ""
            self.view.mark(COLUMNS, names.index(name))
            table.setFocus(Qt.FocusReason.OtherFocusReason)
            self._area.ensureWidgetVisible(table)

    def _ask(self) -> None:
        if self.isVisible():
            self._session.store.ask(described, self._show, self._banner.tell, key="data")

    def _show(self, sections: Sequence[Section]) -> None:
        blocks: list[Block] = []
        for each in sections:
            blocks += [Heading(each.title), *each.blocks]
        self.view.show_blocks(
            [
                msgspec.structs.replace(each, appended=False)
                if isinstance(each, Grid) and each.key == COLUMNS
                else each
                for each in blocks
            ]
        )
        if self._wanted:
            self.show_attribute(self._wanted)


#: What a share is.
EXPLAINED = (
    "How often the decision changes when protected attributes change and, with them, only the "
    "attributes that follow them. Click a bar, or choose it with the arrow keys and press Enter, "
    "to list the discriminatory pairs that it counts."
)
PRESS = "Click or press Enter to list the pairs"


class SharePage(RunPage):
    """How often decisions change."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, tells_share, "Run whose estimates are shown", Question.SHARE)
        self._reference: Reference | None = None
        self.view = BlocksView(session)
        self.view.opened.connect(self._open)
        full = page_of(
            *(page_head("Estimates", self.runs), parts.quiet(EXPLAINED), self._banner),
            *(self._standing, self.view),
        )
        self._stack_up(self._make_empty(), full)
        session.runs_changed.connect(self._ask)
        self._ask()

    def _make_empty(self) -> QWidget:
        many = self._session.many
        return self._empty_page(
            ("Estimates", "No estimate yet"),
            "Discriminatory pairs show that such cases exist, not how often. An estimate "
            f"queries the model about {many} drawn at random and gives the share whose decision "
            "changes, with a confidence interval.",
            ("&Estimate how often decisions change", self._session.wishes.estimate),
            all_off(self._session.spec, QuestionKind.SHARE),
        )

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
        self._say_standing(run, figures.near_sentence(run, self._reference))
        self._tell_failure(run, "Estimate again", self._session.wishes.estimate.emit)
        if changed := figures.changed_answers(run):
            self._banner.say(changed)
        self.view.opens["bars"] = PRESS if run.found else ""
        tables = decision_tables(self._session.runs)
        self.view.show_blocks(shares.compose(self._session.spec, run, tables))

    def _open(self, key: str, place: int) -> None:
        """Show the pairs that the share of a bar counts."""
        if self._told is None or not key.startswith("bars"):
            return
        kind = next(
            each for each in shares.barred(self._told.figures) if key == f"bars-{each[0].whom}"
        )
        if (pairs := pairs_of(self._told, kind[place])) is not None:
            self._session.wishes.show_part.emit(pairs)


#: How long a run can be continued, in seconds; the second of them is offered first.
_MORE = (60.0, 600.0, 3600.0)
#: Above charts of which parts stand for pairs that are known.
PAIRS = (
    "Click a falsified share or the bar of one attribute, or select it with the arrow keys and "
    "press Enter, to list its pairs."
)


def off(spec: AuditSpec) -> tuple[str, ...]:
    """Say why nothing can be proven here; empty where some method can."""
    return all_off(spec, QuestionKind.PROOF)


class ProofPage(RunPage):
    """What is proven."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, proves, "Run whose certification is shown", Question.CERTAIN)
        self.view = BlocksView(session)
        self.view.opened.connect(self._open)
        self._hint = parts.quiet(PAIRS)
        #: Of each chart what its parts stand for.
        self._behind: dict[str, tuple[PairsOf | None, ...]] = {}
        self._stack_up(self._make_empty(), self._make_full())
        session.runs_changed.connect(self._offer)
        session.live_changed.connect(lambda _state: self._offer())

    # Parts

    def _make_empty(self) -> QWidget:
        many = self._session.many
        reasons = off(self._session.spec)
        names = words.protected_names(self._session.spec.domain)
        whatever = f" for every tested value of {words.listed(names)}" if names else ""
        return self._empty_page(
            ("Certification", "Not certified yet"),
            f"Discriminatory pairs show that such cases exist; an estimate shows about how often. "
            f"Certification covers whole regions of the input domain, not a sample of {many}. It "
            f"proves for which share the decision is the same{whatever}, and for which it "
            "changes, and reports the rest as undecided.",
            ("Start cer&tification", self._session.wishes.prove),
            reasons,
        )

    def _make_full(self) -> QWidget:
        return page_of(
            page_head("Certification", self.runs, self._make_go_on()),
            *(parts.quiet(VERDICTS), self._banner, self._standing, self._hint, self.view),
            layouts.at(report_link(self._session, self._places), Qt.AlignmentFlag.AlignLeft),
        )

    def _places(self) -> tuple[str, ...]:
        number = 0 if self._told is None else self._told.id
        return f"certification/bars-{number}", "certification"

    def _make_go_on(self) -> QWidget:
        """Make the button that continues the run, and the choice of how long."""
        tip = "Continue from what is already proven; nothing is proven twice"
        lengths = [(words.duration(seconds), seconds) for seconds in _MORE]
        self.more = parts.push_button("&Continue for", self._ask_more, tip=tip)
        self.length = fields.choice(lengths, "How long to continue", chosen=_MORE[1])
        self._go_on = layouts.strip(self.more, self.length, spacing=theme.NEAR)
        return self._go_on

    # What happens

    def _open(self, key: str, part: int) -> None:
        """Show the pairs behind a part of a chart; rows of tables have none."""
        if pairs := dict(enumerate(self._behind.get(key, ()))).get(part):
            self._session.wishes.show_part.emit(pairs)

    def _ask_more(self) -> None:
        if self._told is not None:
            self._session.wishes.prove_more.emit(self._told.id, self.length.currentData())

    def _offer(self) -> None:
        """Offer to continue the run that is shown, where it can be."""
        run, live = self._told, self._session.live
        is_live = run is not None and live is not None and live.id == run.id
        self._go_on.setVisible(run is not None and not is_live and can_go_on(run))

    def _take(self, run: Run) -> None:
        super()._take(run)
        self._offer()

    def _show_run(self, run: Run) -> None:
        self._say_standing(run)
        self._tell_failure(run, "Run certification again", self._session.wishes.prove.emit)
        spec, runs = self._session.spec, [each for each in self._session.runs if each.id != run.id]
        tables = decision_tables(self._session.runs)
        blocks = [*proofs.compose(spec, run, (*runs, run), tables), *proofs.covers(spec, (run,))]
        # before it what was last certified around the data rows, without what it rests on
        around = [each for each in runs if neighbourhoods_of(each.figures)]
        if around and not neighbourhoods_of(run.figures):
            said = proofs.compose(spec, around[-1], runs, tables)
            blocks = [*takewhile(lambda each: not isinstance(each, Heading), said), *blocks]
        self._behind = {
            each.key: proofs.pairs_behind(spec, (*runs, run), each)
            for each in blocks
            if isinstance(each, Chart)
        }
        self._hint.setVisible(any(map(any, self._behind.values())))
        self.view.show_blocks(blocks)
