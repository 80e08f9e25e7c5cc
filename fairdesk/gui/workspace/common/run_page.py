"""What the pages about one run have in common."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLayout, QStackedWidget, QWidget

from fairdesk.answers.answer import Question
from fairdesk.audit.catalogue.methods import method_named
from fairdesk.audit.store.records import RunRecord
from fairdesk.gui.kit import layouts, parts
from fairdesk.gui.workspace.common.answering import Run
from fairdesk.gui.workspace.common.run_choice import RunChoice
from fairdesk.gui.workspace.common.steps import OF_STATE
from fairdesk.gui.workspace.session.session import Session
from fairdesk.wording import words


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
        """Lay the page out: what stands there without a run, and with one; and below both."""
        self._stack.addWidget(empty)
        self._stack.addWidget(full)
        layouts.column(layouts.grow(self._stack), *below, on=self)

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
        tell_failure(self._banner, run, text, again)


def tell_failure(banner: parts.Banner, run: Run, text: str, again: Callable[[], object]) -> None:
    """Say that a run failed, with a button that begins another; of any other run nothing."""
    if run.state == "failed":
        what = "The run failed; the results so far are kept."
        banner.say(what, run.message, ((text, again),))
    else:
        banner.clear()
