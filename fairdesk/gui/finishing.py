"""Makes the finished audit of a sample while the window stays in use."""

from __future__ import annotations

import threading
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from fairdesk.gui.kit.threads.background import in_background
from fairdesk.samples import Sample

if TYPE_CHECKING:
    from fairdesk.audit.store.records import RunState

#: Milliseconds between two looks at how far it is.
_PERIOD = 500


class Finishing(QObject):
    """Makes one finished audit at a time.

    Signals
    -------
    said : str
        What is being done, and for how long; empty once it is over.
    done : Path
        The audit is there.
    failed : FairDeskError
        Why it is not.
    """

    said = Signal(str)
    done = Signal(object)
    failed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._stop: threading.Event | None = None
        self._stage, self._began = "", 0.0
        self._timer = QTimer(self, interval=_PERIOD)
        self._timer.timeout.connect(self._tell)

    @property
    def busy(self) -> bool:
        """Whether one is being made."""
        return self._stop is not None

    def start(self, sample: Sample) -> None:
        """Begin, unless one is being made."""
        if self.busy:
            return
        stop = self._stop = threading.Event()
        self._stage, self._began = "starting", monotonic()

        def make() -> Path | None:
            # it brings the numeric libraries with it
            from fairdesk.app.finished import finish  # noqa: PLC0415

            return finish(sample, self._watch, stop.is_set)

        task = in_background(self, make, self._end, self.failed.emit)
        task.ended.connect(self._over)
        self._timer.start()
        self._tell()

    def cancel(self) -> None:
        """Let it come to its end soon, and leave nothing."""
        if self._stop is not None:
            self._stop.set()
            self._stage = "stopping"
            self._tell()

    def _watch(self, state: RunState) -> None:
        """Take down what is being done; called from the thread that makes the audit."""
        from fairdesk.audit.catalogue.methods import METHODS  # noqa: PLC0415 - see above

        runs = state.id and state.state in ("running", "paused")
        if self._stop is not None and not self._stop.is_set():
            self._stage = METHODS[state.method].title if runs else state.phase or self._stage

    def _tell(self) -> None:
        seconds = round(monotonic() - self._began)
        self.said.emit(f"Making the audit: {self._stage}, {seconds} s")

    def _over(self) -> None:
        self._timer.stop()
        self._stop = None
        self.said.emit("")

    def _end(self, path: Path | None) -> None:
        if path is not None:
            self.done.emit(path)
