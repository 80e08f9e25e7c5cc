"""Make the README's screenshot: the real window, opened on a freshly made demonstration audit."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

SAVED = Path(__file__).resolve().parents[1] / "resources" / "screenshots" / "examples.png"
SIZE = (1280, 800)
#: Milliseconds in which the pages read the audit and are painted.
SETTLING = 6_000


def main() -> None:
    """Make the audit, open it, look at its examples."""
    with tempfile.TemporaryDirectory() as folder:
        # the window's settings are not to remember this; read when FairDesk is imported
        os.environ["XDG_CONFIG_HOME"] = folder
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        audit = Path(folder) / "demo"
        if make_audit(audit) != 0:
            sys.exit("The demonstration audit could not be made.")
        take(audit / "audit.fairdesk")


def make_audit(folder: Path) -> int:
    """Make the demonstration audit as ``fairdesk demo`` does; gives its exit code."""
    from fairdesk.cli.main import main as fairdesk  # noqa: PLC0415 - the environment is set for it

    return fairdesk(["demo", "--out", str(folder)])


def take(audit: Path) -> None:
    """Open the window on an audit, at its examples, and save what it shows."""
    # Qt and FairDesk only now: the environment is set for them
    from PySide6.QtCore import QEventLoop, QTimer  # noqa: PLC0415 - see above
    from PySide6.QtWidgets import QApplication  # noqa: PLC0415

    from fairdesk.gui.kit import theme  # noqa: PLC0415
    from fairdesk.gui.kit.settings import Settings  # noqa: PLC0415
    from fairdesk.gui.main_window import MainWindow  # noqa: PLC0415
    from fairdesk.gui.workspace.shell.standings import EXAMPLES  # noqa: PLC0415

    app = QApplication([])
    theme.apply(app, theme.Scheme.LIGHT)
    window = MainWindow(Settings())
    window.resize(*SIZE)
    window.show()
    window.open_audit(audit)
    if window.workspace is None:
        sys.exit("The audit could not be opened.")
    window.workspace.show_page(EXAMPLES)
    settling = QEventLoop()
    QTimer.singleShot(SETTLING, settling.quit)
    settling.exec()
    SAVED.parent.mkdir(exist_ok=True)
    window.grab().save(str(SAVED))
    window.close()


if __name__ == "__main__":
    main()
