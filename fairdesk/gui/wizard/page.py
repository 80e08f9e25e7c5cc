"""What the wizard's pages have in common."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from PySide6.QtCore import QSize, QTimer, Signal
from PySide6.QtWidgets import QProgressBar, QWidget

from fairdesk.audit.worker.client import Worker
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.hints import set_topic
from fairdesk.gui.kit.pages import page_head
from fairdesk.gui.kit.parts import Banner, Words, push_button, quiet
from fairdesk.gui.kit.settings import Settings
from fairdesk.gui.wizard.state.wizard_state import Step, WizardState

#: So many milliseconds pass between two looks at how far a call is.
_EVERY = 100


@dataclass
class Share:
    """What a call in another thread says of itself: plain values, which need no lock.

    Attributes
    ----------
    doing : str
        What it does, for people.
    done : float
        How much of that is done, 0 to 1; 0 while nobody knows.
    """

    doing: str
    done: float = 0.0

    def say(self, done: float) -> None:
        """Tell how much is done."""
        self.done = done


class ProgressLine(QWidget):
    """A line that says what is worked on and how far it is, with Cancel; keeps its room.

    It looks at the share ten times a second, however often the call tells of itself.

    Signals
    -------
    cancelled
        The auditor pressed Cancel.
    """

    cancelled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._share: Share | None = None
        self._words = Words(wrap=False)
        self.bar = QProgressBar()
        self.bar.setFixedSize(QSize(220, 16))
        self.bar.setAccessibleName("Progress")
        self.cancel = push_button("Cancel", self.cancelled)
        self.cancel.setAccessibleName("Cancel reading")
        layouts.row(
            self.bar, self._words, self.cancel, layouts.stretch(), on=self, spacing=theme.GAP
        )
        policy = self.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.setSizePolicy(policy)
        self._timer = QTimer(self, interval=_EVERY)
        self._timer.timeout.connect(self._look)
        self.hide()

    def follow(self, share: Share) -> None:
        """Show how far a call is until `rest`."""
        self._share = share
        self._look()
        self._timer.start()
        self.show()

    def rest(self) -> None:
        """Show nothing: no work is under way."""
        self._share = None
        self._timer.stop()
        self.hide()

    def _look(self) -> None:
        if self._share is None:
            return
        self._words.setText(self._share.doing)
        percent = int(100 * self._share.done)
        # without an end in sight the bar only says that work is under way
        self.bar.setRange(0, 100 if percent else 0)
        self.bar.setValue(percent)
        self.bar.setFormat(f"{percent} %")


@dataclass
class Desk:
    """What the pages work with.

    Attributes
    ----------
    state : WizardState
        The answers.
    model, clerk : Worker
        The process that holds the model, and the one that reads data.
    settings : Settings
        What is remembered between starts.
    histograms : dict
        Of the table's columns, for small charts; made while the table was read.
    """

    state: WizardState
    model: Worker
    clerk: Worker
    settings: Settings
    histograms: dict[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)


class Page(QWidget):
    """One step: a title, one sentence, what has to be looked at again, and the answers.

    Signals
    -------
    changed
        An answer changed.
    """

    changed = Signal()

    def __init__(self, desk: Desk, step: Step, name: str, sentence: str) -> None:
        super().__init__()
        self.desk = desk
        self.step = step
        self._redo = Words(tone="wrong")
        self.banner = Banner()
        set_topic(self, f"step {step.name}")
        self.sentence = quiet(sentence)
        first = page_head(name)
        self.beside_title = first
        self.body = layouts.column(
            layouts.column(first, self.sentence, spacing=theme.TIGHT),
            self._redo,
            self.banner,
            on=self,
            margin=theme.AROUND,
            spacing=theme.GAP,
        )
        self._redo.hide()

    @property
    def state(self) -> WizardState:
        """The answers."""
        return self.desk.state

    def enter(self) -> None:
        """Show the answers as they are; called each time the page comes on screen."""
        self.show_redo()

    def first_field(self) -> QWidget:
        """Return what has the keyboard when the page comes on screen."""
        return self

    def inputs(self) -> Iterable[QWidget]:
        """Return inputs that were made since the page was, in the order they are read."""
        return ()

    def show_redo(self) -> None:
        """Say why the page has to be looked at again, if it has."""
        reason = self.state.redo.get(self.step, "")
        self._redo.say(f"↻  {reason}" if reason else "")
