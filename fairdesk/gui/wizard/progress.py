"""How far a slow call is: a bar with percent and a way out."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QSize, QTimer, Signal
from PySide6.QtWidgets import QProgressBar, QWidget

from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.parts import Words, push_button

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
        self.cancel = push_button("Cancel", self.cancelled, auto_default=False)
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
