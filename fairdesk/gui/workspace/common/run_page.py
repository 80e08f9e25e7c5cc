"""What the pages about one run have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import QSignalBlocker, Signal, SignalInstance
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QComboBox, QLayout, QPushButton, QScrollArea, QStackedWidget, QWidget

from fairdesk.answers import Question, best_run
from fairdesk.audit.catalogue.method import ABOUT_GROUPS, QuestionKind
from fairdesk.audit.catalogue.methods import METHODS, method_named, unrepeatable
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.runs.inspection import MovedError
from fairdesk.audit.store.records import RunRecord, RunState
from fairdesk.errors import FairDeskError
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.kit.dropping import ask_open
from fairdesk.gui.kit.pages import page_head
from fairdesk.gui.kit.threads import Soon
from fairdesk.gui.workspace.session.session import Session
from fairdesk.results.groups import GroupGap
from fairdesk.results.individual import GradientFidelity, Share
from fairdesk.wording import comparisons, words
from fairdesk.wording.proofs import proven_of

Run = RunRecord | RunState


class Sign(Enum):
    """How a step or run stands: a sign beside the words."""

    NONE = ""
    NOT_YET = "○"
    RUNNING = "●"
    PAUSED = "‖"
    DONE = "✓"
    STOPPED = "■"
    FAILED = "!"
    OUTDATED = "△"


#: The sign of each state of a run.
OF_STATE = {
    "running": Sign.RUNNING,
    "paused": Sign.PAUSED,
    "stopped": Sign.STOPPED,
    "done": Sign.DONE,
    "failed": Sign.FAILED,
}


@dataclass(frozen=True)
class Standing:
    """How a step stands."""

    words: str = ""
    sign: Sign = Sign.NONE


def answering(runs: Sequence[RunRecord], kind: QuestionKind) -> tuple[RunRecord, ...]:
    """Pick the runs that answer a kind of question."""
    return tuple(run for run in runs if method_named(run.method).answers is kind)


def estimates(spec: AuditSpec) -> str:
    """Name the method that estimates how common it is: another where the model wavers."""
    usual, repeated = METHODS["estimate"], METHODS["repeats"]
    off = unrepeatable(usual, spec.model.repeatability)
    return repeated.key if off else usual.key


def has_examples(run: Run) -> bool:
    """Return whether a run looks for examples, or is over and came upon some."""
    searches = method_named(run.method).answers is QuestionKind.EXAMPLES
    return searches or (isinstance(run, RunRecord) and bool(run.found))


def with_examples(runs: Sequence[RunRecord]) -> tuple[RunRecord, ...]:
    """Pick the runs that look for examples, and those of another kind that have some."""
    return tuple(filter(has_examples, runs))


def kind(share: Share) -> str:
    """Name how a share is known: ``all tested`` or ``estimated``."""
    return "all tested" if share.exact else "estimated"


def tells_share(run: Run) -> bool:
    """Return whether a run says how often decisions change."""
    answers = method_named(run.method).answers
    if answers in ABOUT_GROUPS:
        return False
    return bool(shares(run) or gaps(run)) or answers is QuestionKind.SHARE


def shares(run: Run) -> tuple[Share, ...]:
    """Return the shares that a run measured; those of nothing that was drawn are left out."""
    found = comparisons.shares_of(run.figures)
    return tuple(each for each in found if each.n_samples or each.unsupported)


def proves(run: Run) -> bool:
    """Return whether a run is to prove something."""
    return method_named(run.method).answers is QuestionKind.PROOF


def can_go_on(run: Run) -> bool:
    """Return whether a run that is over could prove more if it were gone on with."""
    proven = proven_of(run.figures)
    return (
        proves(run)
        and method_named(run.method).finishes
        and run.state not in ("running", "paused")
        and proven is not None
        and not proven.exact
    )


def gaps(run: Run) -> tuple[GroupGap, ...]:
    """Return the gaps between groups that a run measured."""
    return tuple(each for each in run.figures if isinstance(each, GroupGap))


def likenesses(run: Run) -> tuple[GradientFidelity, ...]:
    """Return what a run tells of perturbation sizes."""
    return tuple(each for each in run.figures if isinstance(each, GradientFidelity))


#: Keys of what the report may show; the first that it does show is gone to.
Places = tuple[str, ...]
_WHAT = "Open report page"


def report_link(
    session: Session, places: Callable[[], Places], *, short: bool = False
) -> QPushButton:
    """Make the button.

    Parameters
    ----------
    places : callable
        Gives where to go when it is pressed; see `fairdesk.report.render.pdf.Preview.places`.
    short : bool
        Whether there is room for one word only.
    """
    return parts.push_button(
        "Report page" if short else _WHAT,
        lambda: session.wishes.show_in_report.emit(places()),
        tip="Go to the page of the report that contains this; nothing is added to the report",
        name=_WHAT,
    )


OVERVIEW, DATA, EXAMPLES = "Overview", "Data and model", "Discriminatory pairs"
SHARE, PROOF = "Estimates", "Certification"
COMPARE, GROUPS, REPAIR, REPORT, LOG = (
    "Compare methods",
    "Groups",
    "Mitigation",
    "Report",
    "Audit log",
)
#: The pages, in the order of the questions that they answer.
NAMES = (OVERVIEW, DATA, GROUPS, SHARE, EXAMPLES, PROOF, REPAIR, COMPARE, REPORT, LOG)
#: The icons of these, in their order.
ICONS = (
    *("overview", "data", "groups", "estimates", "pairs"),
    *("certification", "mitigation", "compare", "report", "log"),
)
#: The page that shows what a run answers.
PAGES = {
    QuestionKind.EXAMPLES: EXAMPLES,
    QuestionKind.SHARE: SHARE,
    QuestionKind.PROOF: PROOF,
    QuestionKind.DIAGNOSIS: COMPARE,
    QuestionKind.GROUPS: GROUPS,
    QuestionKind.RATES: GROUPS,
    QuestionKind.REPAIR: REPAIR,
}


class RunChoice(QComboBox):
    """The runs that belong to a page; hidden while there is no choice.

    Parameters
    ----------
    question : Question, optional
        What the page answers: of several runs the best is shown, and without one the newest.

    Signals
    -------
    told : RunRecord or RunState
        This run is to be shown as it stands: at once when it is another one or over, and now and
        then while it goes on.
    """

    run_changed = Signal(object)

    def __init__(
        self, session: Session, belongs: Callable[[Run], bool], name: str, question: Question | None
    ) -> None:
        super().__init__()
        self._session, self._belongs, self._question = session, belongs, question
        self._latest: Run | None = None
        #: The run that the auditor wants to see.
        self._wanted: int | None = None
        self.setAccessibleName(name)
        self.hide()
        self._redraw = Soon(self, self._tell)
        self.currentIndexChanged.connect(self._choose)
        self.activated.connect(self._want)
        session.runs_changed.connect(self.take_runs)
        session.live_changed.connect(self.follow)

    @property
    def shown(self) -> int | None:
        """The number of the run that is shown."""
        return None if self._latest is None else self._latest.id

    def open_run(self, number: int) -> None:
        """Show a run by its number."""
        position = self.findData(number)
        if position >= 0:
            self._wanted = number
            self.setCurrentIndex(position)

    def take_runs(self) -> None:
        """List the runs; the best is shown unless the auditor chose another."""
        runs = [run for run in self._session.runs if self._belongs(run)]
        if not runs:
            return
        best = None if self._question is None else best_run(self._question, runs)
        wanted = self._wanted
        if all(run.id != wanted for run in runs):
            wanted = runs[-1].id if best is None else best.id
        with QSignalBlocker(self):
            self.clear()
            for run in runs:
                after = f", continues {run.spec.continues}" if run.spec.continues else ""
                self.addItem(f"Run {run.id}: {method_named(run.method).short_title}{after}", run.id)
            self.setCurrentIndex(self.findData(wanted))
        self._choose()

    def follow(self, state: RunState) -> None:
        """Follow a run that belongs here, from its beginning."""
        if not state.id or not self._belongs(state):
            return
        if self.findData(state.id) < 0:
            self._wanted = None
            with QSignalBlocker(self):
                self.addItem(f"Run {state.id}: {method_named(state.method).short_title}", state.id)
                self.setCurrentIndex(self.count() - 1)
            self._take(state)
        elif self.currentData() == state.id:
            self._latest = state
            self._redraw.ask()

    def _want(self) -> None:
        self._wanted = self.currentData()

    def _choose(self) -> None:
        number = self.currentData()
        run = next((each for each in self._session.runs if each.id == number), None)
        if run is not None:
            self._take(run)

    def _take(self, run: Run) -> None:
        self._latest = run
        self.setVisible(self.count() > 1)
        self._tell()

    def _tell(self) -> None:
        self.run_changed.emit(self._latest)


def tell_trouble(
    session: Session, banner: parts.Banner, error: FairDeskError, again: Callable[[], object]
) -> None:
    """Say why a model could not be called, and offer what can be done about it."""
    text, act = "Try again", again
    if isinstance(error, MovedError):
        text, lost = "Locate the file…", error.lost

        def act() -> None:
            start = session.path.parent
            if path := ask_open(banner, f"Locate “{lost.name}” of this audit", start):
                session.study.places[lost] = path
                again()

    banner.tell(error, ((text, act),))


class TabPage(QWidget):
    """A page whose parts are tabs."""

    def __init__(self, name: str, *tabs: tuple[QWidget, str]) -> None:
        super().__init__()
        self.tabs = layouts.tabs(*tabs)
        layouts.column(
            layouts.column(page_head(name), margin=(0, 0, theme.PAGE, 0)),
            layouts.grow(self.tabs),
            on=self,
            margin=(theme.PAGE, theme.WIDE, 0, 0),
            spacing=theme.NEAR,
        )


def page_of(*items: layouts.Item, tab: bool = False) -> QScrollArea:
    """Return a page of items below each other, which scrolls; a tab has margins around already."""
    margin = (0, theme.GAP, theme.PAGE, theme.WIDE) if tab else theme.AROUND
    inside = layouts.panel(*items, layouts.stretch(), margin=margin, spacing=theme.GAP)
    return parts.scrolled(inside)


class RunPage(QWidget):
    """A page about one run; while there is none, what one would tell.

    A page of its own makes its widgets, then calls `_stack_up`, and shows a run in `_show_run`.

    Parameters
    ----------
    name : str
        Names the choice of the run for all readers.

    Attributes
    ----------
    runs : RunChoice
        Which run is shown.
    """

    def __init__(
        self, session: Session, belongs: Callable[[Run], bool], name: str, question: Question | None
    ) -> None:
        super().__init__()
        self._session = session
        self._told: Run | None = None
        #: Whether there is something to show that the page does not show yet.
        self._stale = True
        self.runs = RunChoice(session, belongs, name, question)
        self.runs.run_changed.connect(self._take)
        self._standing = parts.quiet()
        self._banner = parts.Banner()
        self._stack = QStackedWidget()

    def _stack_up(self, empty: QWidget, full: QWidget, *below: QLayout) -> None:
        """Lay the page out, without a run and with one, and below both; then show what there is."""
        self._stack.addWidget(empty)
        self._stack.addWidget(full)
        layouts.column(layouts.grow(self._stack), *below, on=self)
        self.runs.take_runs()

    def _empty_page(
        self,
        names: tuple[str, str],
        what: str,
        begin: tuple[str, SignalInstance],
        reasons: Iterable[str],
    ) -> QWidget:
        """Return what stands there without a run: what one would tell, and what begins one.

        Of ``names`` the first is the page's, and stands above; it may be empty.
        """
        button = parts.push_button(begin[0], begin[1].emit)
        empty = parts.empty_page(names[1], what, parts.why_not(button, reasons), button)
        if not names[0]:
            return empty
        return layouts.panel(page_head(names[0]), layouts.grow(empty), margin=theme.AROUND)

    def open_run(self, number: int) -> None:
        """Show a run by its number."""
        self.runs.open_run(number)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Show what has changed while the page was hidden, and was not shown ahead."""
        super().showEvent(event)
        self._catch_up()

    def _take(self, run: Run) -> None:
        self._told = run
        self._stale = True
        self._stack.setCurrentIndex(1)
        if self.isVisible():
            self._show()
        elif isinstance(run, RunRecord):
            # of a run that goes on only what somebody could see
            self._session.ahead.ask(self._catch_up)

    def _catch_up(self) -> None:
        if self._stale:
            self._show()

    def _show(self) -> None:
        """Show the run as it stands."""
        self._stale = False
        if self._told is not None:
            self._show_run(self._told)

    def _show_run(self, run: Run) -> None:
        raise NotImplementedError

    def _say_standing(self, run: Run, more: str = "") -> None:
        """Say how the run stands, and how long it took; the table of runs says what it spent."""
        title = method_named(run.method).title
        self._standing.setText(
            f"{OF_STATE[run.state].value} {title}, {words.state_word(run.state)}: "
            f"{words.duration(run.elapsed)}. {more}".rstrip()
        )

    def _tell_failure(self, run: Run, text: str, again: Callable[[], object]) -> None:
        """Say that a run failed, with a button that begins another; of any other run nothing."""
        if run.state == "failed":
            what = "The run failed; the results so far are kept."
            self._banner.say(what, run.message, ((text, again),))
        else:
            self._banner.clear()
