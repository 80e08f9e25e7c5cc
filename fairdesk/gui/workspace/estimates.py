"""How often the decision changes: shares with their intervals, audit studies, gaps of groups."""

from __future__ import annotations

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from fairdesk.answers import Question, all_off, decision_tables
from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.document import shares
from fairdesk.document.pictures import pairs_of
from fairdesk.gui.kit import parts
from fairdesk.gui.kit.pages import page_head
from fairdesk.gui.workspace.common.blocks_view import BlocksView
from fairdesk.gui.workspace.common.run_page import Run, RunPage, page_of, tells_share
from fairdesk.gui.workspace.session.session import Session
from fairdesk.individual.realism.pair_plausibility import Reference
from fairdesk.wording import figures

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
