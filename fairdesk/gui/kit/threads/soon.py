"""Doing something soon, once however often it was asked for, or ahead, while there is time."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

#: Milliseconds between two drawings of a run that goes on.
REDRAW = 300
#: Milliseconds between two things that are done ahead.
_REST = 60


class Soon(QTimer):
    """Calls something a moment after it was asked for, once however often that was.

    Parameters
    ----------
    owner : QObject
        Whoever asks; when it is gone, nothing is called.
    call : callable
        Runs in the window's thread.
    """

    def __init__(self, owner: QObject, call: Callable[[], object]) -> None:
        super().__init__(owner)
        self.setSingleShot(True)
        self.setInterval(REDRAW)
        self.timeout.connect(call)

    def ask(self) -> None:
        """Ask for it; a call that is on its way is not put off."""
        if not self.isActive():
            self.start()


class Ahead(QTimer):
    """Does what can wait, one thing at a time: pages are ready before somebody turns to them.

    Parameters
    ----------
    owner : QObject
        When it is gone, nothing is done.
    """

    def __init__(self, owner: QObject) -> None:
        super().__init__(owner)
        self._waiting: list[Callable[[], object]] = []
        self.setInterval(_REST)
        self.timeout.connect(self._do_next)

    def ask(self, call: Callable[[], object]) -> None:
        """Ask for something to be done; what waits already is done once."""
        if call not in self._waiting:
            self._waiting.append(call)
            self.start()

    def _do_next(self) -> None:
        call = self._waiting.pop(0)
        if not self._waiting:
            self.stop()
        call()
