"""Opening a model in the background: once more for each file beside it, and each change of mind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from threading import Event

from PySide6.QtCore import QObject, QTimer, Signal

from fairdesk.gui.kit.threads.background import Latest
from fairdesk.gui.wizard.model.opening import Wish, open_files
from fairdesk.gui.wizard.page import Desk

#: Milliseconds between two looks at what the opening does.
_LOOK = 200


class Opener(QObject):
    """Opens what is wished.

    Parameters
    ----------
    desk : Desk
        Has the process that the model is opened in, and the files that are trusted.
    owner : QObject
        When it is gone, nothing is told.

    Attributes
    ----------
    wish : Wish or None
        What was wished last.

    Signals
    -------
    began
        Something is being opened: what was open before is not any longer.
    doing : str
        What is under way; empty when nothing is.
    opened : Untrusted or Stranded or Opened
        What came of it.
    refused : FairDeskError
        Why it cannot be opened.
    """

    began = Signal()
    doing = Signal(str)
    opened = Signal(object)
    refused = Signal(object)

    def __init__(self, desk: Desk, owner: QObject) -> None:
        super().__init__(owner)
        self.wish: Wish | None = None
        self._desk = desk
        self._stop = Event()
        self._said = ""
        self._reader = Latest(self)
        self._reader.ended.connect(self._rest)
        self._look = QTimer(self)
        self._look.setInterval(_LOOK)
        self._look.timeout.connect(self._tell)

    def open(self, wish: Wish) -> None:
        """Open a model; a program that is not on the list only when it is trusted."""
        self.wish = wish
        self._stop = stop = Event()
        worker, trusted = self._desk.model, tuple(self._desk.settings.trusted)

        def say(sentence: str) -> None:
            # only this: the window looks at it by itself
            self._said = sentence

        say(f"Opening {wish.path.name}")
        self._tell()
        self._look.start()
        self.began.emit()
        self._reader.ask(
            lambda: open_files(worker, trusted, wish, say, stop.is_set),
            self.opened.emit,
            self.refused.emit,
        )

    def open_again(self, *, output: str | None = None, make_environment: bool = False) -> None:
        """Open the same once more, with another output that decides or in an environment."""
        if self.wish is not None:
            wish = self.wish if output is None else replace(self.wish, output=output)
            self.open(replace(wish, make_environment=make_environment or wish.make_environment))

    def trust(self, sha256: str) -> None:
        """Open what is a program, now that the auditor trusts it."""
        self._desk.settings.trust(sha256)
        self.open_again()

    def add(self, path: Path) -> None:
        """Open it with one more file beside it."""
        if self.wish is not None and path not in self.wish.companions:
            self.open(replace(self.wish, companions=(*self.wish.companions, path)))

    def remove(self, path: Path) -> None:
        """Open it without a file beside it."""
        if self.wish is not None:
            companions = tuple(each for each in self.wish.companions if each != path)
            self.open(replace(self.wish, companions=companions))

    def stop(self) -> None:
        """Open nothing any longer; what comes of it is dropped."""
        self._stop.set()
        self._reader.drop()
        self._rest()

    def _tell(self) -> None:
        self.doing.emit(f"{self._said}…")

    def _rest(self) -> None:
        self._look.stop()
        self.doing.emit("")
