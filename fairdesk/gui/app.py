"""The window's program. Imports Qt and little else, so that it is on screen at once."""

from __future__ import annotations

import logging
import logging.handlers
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from fairdesk import __version__
from fairdesk.files import log_folder, resources
from fairdesk.gui.kit import settings, theme
from fairdesk.gui.kit.threads.collector import Collector
from fairdesk.gui.kit.unexpected import Reporter
from fairdesk.gui.main_window import MainWindow

_LOG_BYTES, _LOG_FILES = 1_000_000, 3


def main(argv: Sequence[str] | None = None, commands: Callable[[], str] = str) -> int:
    """Show the window and stay until it is closed.

    Parameters
    ----------
    argv : sequence of str, optional
        At most one file to open: an audit, or data or a model to begin one with. By default the
        process's own arguments.
    commands : callable
        Makes what the help shows of the command line, which this program does not know.

    Returns
    -------
    int
        The exit code.
    """
    arguments = sys.argv[1:] if argv is None else list(argv)
    _log_to_file()
    app = QApplication([sys.argv[0]])
    app.setApplicationName("FairDesk")
    app.setApplicationVersion(__version__)
    app.setDesktopFileName("fairdesk")
    app.setWindowIcon(QIcon(str(resources() / "icons" / "fairdesk-256.png")))
    Reporter(app).install()
    Collector(app)
    remembered = settings.load()
    theme.apply(app, remembered.scheme)
    window = MainWindow(remembered, commands)
    window.show()
    if arguments:
        file = Path(arguments[0])
        QTimer.singleShot(0, window, lambda: window.open_path(file))
    return app.exec()


def _log_to_file() -> None:
    """Keep a log that cannot grow without end. Without a place for it the window works too."""
    try:
        handler = logging.handlers.RotatingFileHandler(
            log_folder() / "fairdesk.log",
            maxBytes=_LOG_BYTES,
            backupCount=_LOG_FILES,
            encoding="utf-8",
        )
    except OSError:
        return
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
