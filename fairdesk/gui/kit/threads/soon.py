"""Drawing what changes faster than anybody reads: soon, and once however often it was asked for."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

#: Milliseconds between two drawings of a run that goes on.
REDRAW = 300


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
