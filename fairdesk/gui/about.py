"""What this FairDesk is, to read and to copy into a question, and how it tells of its defects."""

from __future__ import annotations

import logging
import sys
import threading
import traceback
from types import TracebackType

from PySide6.QtCore import QObject, Qt, QUrl, Signal, Slot, qVersion
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget

from fairdesk import __version__
from fairdesk.errors import FairDeskError
from fairdesk.files import log_folder

_LICENCES = (
    "FairDesk is free software under the Apache License 2.0. It is built on Python, Qt and PySide6 "
    "(LGPL 3), NumPy, SciPy, pandas, scikit-learn and h5py (BSD), ONNX Runtime, pyqtgraph and "
    "msgspec (MIT and BSD), and Typst (Apache 2.0)."
)


def diagnostics() -> str:
    """Tell versions, screen and places; nothing of any audit."""
    # the versions of the numeric libraries are only of interest here
    from fairdesk.audit.plan.spec import versions  # noqa: PLC0415

    screen = QGuiApplication.primaryScreen()
    facts = {
        **versions(),
        "Qt": qVersion(),
        "platform": QGuiApplication.platformName(),
        "screen": f"{screen.size().width()} x {screen.size().height()} "
        f"at {screen.devicePixelRatio():g}",
        "log folder": str(log_folder()),
    }
    return "\n".join(f"{name}: {value}" for name, value in facts.items())


def copy_diagnostics() -> None:
    """Put the diagnostics on the clipboard."""
    QGuiApplication.clipboard().setText(diagnostics())


def open_log_folder() -> None:
    """Show the folder of the log files in the system's file manager."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(log_folder())))


def show_about(parent: QWidget) -> None:
    """Show the versions and licences."""
    box = QMessageBox(parent)
    box.setWindowTitle("About FairDesk")
    box.setText(f"FairDesk {__version__}")
    box.setInformativeText(f"{diagnostics()}\n\n{_LICENCES}")
    copy = box.addButton("&Copy diagnostics", QMessageBox.ButtonRole.ActionRole)
    copy.clicked.disconnect()  # or the box would close
    copy.clicked.connect(copy_diagnostics)
    box.addButton(QMessageBox.StandardButton.Close)
    box.exec()
    box.deleteLater()


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
