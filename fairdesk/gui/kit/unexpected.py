"""Defects: into the log with their traceback, before the auditor as one plain message."""

from __future__ import annotations

import logging
import sys
import threading
import traceback
from types import TracebackType

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QMessageBox

from fairdesk import __version__
from fairdesk.errors import FairDeskError
from fairdesk.gui.about import open_log_folder

_log = logging.getLogger(__name__)


class Reporter(QObject):
    """Takes what nobody caught, in any thread, and tells it once.

    While its message is on screen, further defects only go to the log.
    """

    _raised = Signal(str, str)

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self.box: QMessageBox | None = None
        self._raised.connect(self._tell, Qt.ConnectionType.QueuedConnection)

    def install(self) -> None:
        """Take over from Python's own hooks."""
        sys.excepthook = self._take
        threading.excepthook = lambda args: self._take(
            args.exc_type, args.exc_value, args.exc_traceback
        )

    def _take(
        self, kind: type[BaseException], error: BaseException | None, where: TracebackType | None
    ) -> None:
        if issubclass(kind, KeyboardInterrupt):
            QApplication.quit()
            return
        _log.error("Unexpected", exc_info=(kind, error or kind(), where))
        details = "".join(traceback.format_exception(kind, error, where))
        what = (
            str(error)
            if isinstance(error, FairDeskError)
            else f"The error was reported as {kind.__name__}."
        )
        self._raised.emit(what, details)

    @Slot(str, str)
    def _tell(self, what: str, details: str) -> None:
        if self.box is not None:
            return
        box = self.box = QMessageBox(QApplication.activeWindow())
        box.setIcon(QMessageBox.Icon.Warning)
        box.setWindowTitle("FairDesk")
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText("An unexpected error occurred in FairDesk.")
        box.setInformativeText(
            f"{what}\n\nResults so far are kept in the audit file, and you can continue "
            "working. Nothing was sent anywhere; the details are in the program log."
        )
        copy = box.addButton("&Copy details", QMessageBox.ButtonRole.ActionRole)
        folder = box.addButton("Open &log folder", QMessageBox.ButtonRole.ActionRole)
        box.addButton(QMessageBox.StandardButton.Close)
        text = f"FairDesk {__version__}\n{details}"
        for button, run in (
            (copy, lambda: QGuiApplication.clipboard().setText(text)),
            (folder, open_log_folder),
        ):
            button.clicked.disconnect()  # or the box would close
            button.clicked.connect(lambda _checked=False, act=run: act())
        box.finished.connect(self._close)
        box.open()

    @Slot()
    def _close(self) -> None:
        if self.box is not None:
            self.box.deleteLater()
            self.box = None
