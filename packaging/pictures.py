"""Make the pictures of the documentation: the real window, driven through an audit of the sample.

    .venv/bin/python packaging/pictures.py            # all of them, in some four minutes
    .venv/bin/python packaging/pictures.py --until review

Nothing is drawn or retouched: each picture is what the window shows at that step of the tutorial.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PySide6.QtWidgets import QComboBox, QWidget

    from fairdesk.gui.wizard.dialog import Wizard
    from fairdesk.gui.workspace.shell.workspace import Workspace

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "pictures"
WINDOW, WIZARD = (1200, 780), (1080, 760)
#: Milliseconds in which a page reads the audit and is painted.
SETTLING = 2_500
#: Milliseconds that a run may take before something must be wrong.
LONGEST = 900_000
#: Where the audit is kept, as the picture of the review shows it.
KEPT = "~/adult-income.fairdesk"
COLOURS = 128


def main() -> None:
    """Drive the window from its start page to the report, and save what it shows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--until", metavar="NAME", default="", help="end after this picture")
    last = parser.parse_args().until
    with tempfile.TemporaryDirectory() as folder:
        # compiled loops are taken from where they are
        os.environ.setdefault("XDG_CACHE_HOME", str(Path.home() / ".cache"))
        # neither the settings nor the audits of whoever starts this are to be seen or changed
        os.environ.update(HOME=folder, XDG_CONFIG_HOME=f"{folder}/config")
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        PICTURES.mkdir(parents=True, exist_ok=True)
        for name, widget in steps():
            save(widget, PICTURES / f"{name}.png")
            print(name, flush=True)
            if name == last:
                break
        # threads of the window would wait for runs that nobody needs
        sys.stdout.flush()
        os._exit(0)


def steps() -> Iterator[tuple[str, QWidget]]:
    """Yield the name of each picture, and the widget that it shows."""
    # Qt and FairDesk only now: the environment is set for them
    from PySide6.QtWidgets import QApplication  # noqa: PLC0415

    from fairdesk.gui.kit import theme  # noqa: PLC0415
    from fairdesk.gui.kit.settings import Settings  # noqa: PLC0415
    from fairdesk.gui.main_window import MainWindow  # noqa: PLC0415

    app = QApplication([])
    theme.apply(app, theme.Scheme.LIGHT)
    window = MainWindow(Settings())
    window.resize(*WINDOW)
    window.show()
    pause()
    yield "start", window
    window.new_audit()
    if window.wizard is None:
        sys.exit("The wizard did not open.")
    window.wizard.resize(*WIZARD)
    for name in wizard_pages(window.wizard):
        yield name, window.wizard
    window.wizard.next.click()
    wait(lambda: window.workspace is not None)
    if window.workspace is None:
        sys.exit("The audit could not be opened.")
    for name in workspace_pages(window.workspace):
        yield name, window


def wizard_pages(wizard: Wizard) -> Iterator[str]:
    """Answer the wizard's pages as the tutorial does, naming each."""
    from fairdesk.samples import samples  # noqa: PLC0415

    sample = samples()[0]
    wizard.data.load(sample.data_path)
    wait(lambda: wizard.state.table is not None)
    pause()
    wizard.data.person.setEditText(sample.person)
    choose(wizard.data.label, sample.label)
    next(each for each in wizard.data.good.either if each.text() == sample.favourable).click()
    pause()
    yield "data"
    wizard.next.click()
    wizard.model.load(sample.model_path(sample.models[0]))
    wait(lambda: wizard.state.proof is not None and wizard.next.isEnabled())
    pause()
    yield "model"
    wizard.next.click()
    for name in sample.protected:
        wizard.attributes.chips[name].click()
    wait(wizard.next.isEnabled)
    pause()
    yield "attributes"
    wizard.next.click()
    pause()
    yield "methods"
    wizard.next.click()
    wizard.review.path.setText(KEPT)
    wizard.review.path.textEdited.emit(KEPT)
    pause()
    yield "review"


def workspace_pages(workspace: Workspace) -> Iterator[str]:
    """Name each page that shows what the full audit found, then a mitigation and the report."""
    from fairdesk.gui.workspace.pairs.page import WeighingLine  # noqa: PLC0415 - see above
    from fairdesk.gui.workspace.shell import audit_pages  # noqa: PLC0415

    finish(workspace)
    workspace.show_page(audit_pages.OVERVIEW)
    pause(2)
    yield "overview"
    workspace.show_page(audit_pages.EXAMPLES)
    pause(2)
    wait(workspace.findChild(WeighingLine).isHidden)  # every pair is compared with the data
    pause()
    yield "pairs"
    for name, page in (("estimates", audit_pages.SHARE), ("certification", audit_pages.PROOF)):
        workspace.show_page(page)
        pause(2)
        yield name
    workspace.show_page(audit_pages.GROUPS)
    for name, tab in (
        ("groups", workspace.groups.tables),
        ("subgroups", workspace.groups.findings),
    ):
        workspace.groups.tabs.setCurrentWidget(tab)
        pause(2)
        yield name
    workspace.show_page(audit_pages.REPAIR)
    pause(2)
    workspace.repair.form.start.emit()
    finish(workspace)
    yield "mitigation"
    workspace.show_page(audit_pages.REPORT)
    wait(workspace.report.preview.page.isEnabled)  # the report was made
    pause(2)
    yield "report"


def finish(workspace: Workspace) -> None:
    """Wait for the run that was asked for, and until its page has drawn it."""
    wait(lambda: workspace.busy)
    wait(lambda: not workspace.busy)
    pause(2)


def choose(field: QComboBox, text: str) -> None:
    """Choose an entry of a list as a click would."""
    field.setCurrentIndex(field.findText(text))
    field.activated.emit(field.currentIndex())


def wait(done: Callable[[], bool]) -> None:
    """Let the window work until something holds."""
    from PySide6.QtCore import QDeadlineTimer, QEventLoop, QTimer  # noqa: PLC0415 - see above

    until = QDeadlineTimer(LONGEST)
    while not done():
        if until.hasExpired():
            sys.exit("The window did not come to its next step.")
        loop = QEventLoop()
        QTimer.singleShot(20, loop.quit)
        loop.exec()


def pause(times: int = 1) -> None:
    """Let the window read and paint for a while."""
    from PySide6.QtCore import QDeadlineTimer  # noqa: PLC0415 - see above

    until = QDeadlineTimer(SETTLING * times)
    wait(until.hasExpired)


def save(widget: QWidget, path: Path) -> None:
    """Save what a widget shows, in as few colours as a picture of a window needs."""
    from PIL import Image  # noqa: PLC0415 - see above
    from PySide6.QtCore import QBuffer  # noqa: PLC0415

    held = QBuffer()
    widget.grab().save(held, "PNG")  # type: ignore[call-overload]
    with Image.open(io.BytesIO(held.data().data())) as picture:
        small = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
        small.save(path, optimize=True)


if __name__ == "__main__":
    main()
