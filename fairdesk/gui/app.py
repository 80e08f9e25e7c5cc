"""The window's program. Imports Qt and little else, so that it is on screen at once."""

from __future__ import annotations

import gc
import logging
import logging.handlers
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from fairdesk import __version__
from fairdesk.files import log_folder, resources
from fairdesk.gui.about import Reporter
from fairdesk.gui.kit import settings, theme
from fairdesk.gui.main_window import MainWindow

#: Milliseconds between two looks at whether there is garbage enough.
PERIOD = 200


class Collector(QObject):
    """Collects garbage in the window's thread, and nowhere else.

    Python collects in whichever thread happens to make the next object. Parts of a chart that
    refer to each other would then be deleted by a thread that reads files, and Qt ends the
    process when its objects are deleted outside their thread.

    Parameters
    ----------
    parent : QObject
        The application; automatic collection is off from now on.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        gc.disable()
        self._timer = QTimer(self, interval=PERIOD)
        self._timer.timeout.connect(self._collect)
        self._timer.start()

    def _collect(self) -> None:
        """Collect the oldest generation that has come of age, by Python's own thresholds."""
        for generation in (2, 1, 0):
            if gc.get_count()[generation] > gc.get_threshold()[generation]:
                gc.collect(generation)
                return


_LOG_BYTES, _LOG_FILES = 1_000_000, 3


def main(argv: Sequence[str] | None = None, commands: Callable[[], str] = str) -> int:
    """Show the window and stay until it is closed; at the first start, on the sample's audit.

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
        QTimer.singleShot(0, window, lambda: window.take(file))
    elif not remembered.recents:
        QTimer.singleShot(0, window, window.welcome)
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
