"""What this FairDesk is: versions and places, to read and to copy into a question."""

from __future__ import annotations

from PySide6.QtCore import QUrl, qVersion
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QMessageBox, QWidget

from fairdesk import __version__
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
