"""The window: menus, the start page or an open audit, and the wizard over it.

Nothing numeric is imported here: the start page must be on screen at once. What the wizard and
the workspace need is loaded in the background as soon as it is.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QCloseEvent,
    QKeySequence,
    QMouseEvent,
    QShortcut,
)
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QMainWindow,
    QWidget,
)
from shiboken6 import isValid

from fairdesk.errors import FairDeskError
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.dropping import Sort, Takes, ask_open, filter_of, sort_of
from fairdesk.gui.kit.hints import ask_help, set_topic
from fairdesk.gui.kit.keys import Found
from fairdesk.gui.kit.parts import Card, Words, asked, open_dialog, resize_on_screen
from fairdesk.gui.kit.settings import Settings
from fairdesk.gui.kit.threads import in_background
from fairdesk.gui.menus import Commands, Menus, Shortcuts
from fairdesk.gui.start_page import StartPage
from fairdesk.manual.places import TERMS
from fairdesk.manual.terms import glossary
from fairdesk.samples import own_finished, samples

if TYPE_CHECKING:
    from fairdesk.audit.store.store import Store
    from fairdesk.audit.worker.client import Worker
    from fairdesk.gui.help.window import HelpWindow
    from fairdesk.gui.wizard.dialog import Wizard
    from fairdesk.gui.wizard.state.plans import Plan
    from fairdesk.gui.workspace.shell.workspace import Workspace
    from fairdesk.samples import Sample, SampleModel


#: For how long it is shown, in milliseconds.
SHOWN: Final = 8000
#: What is said at the first start.
_WELCOME: Final = (
    "This is a finished audit of the built-in sample, to look around in. To begin your own, choose "
    "Audit › New audit."
)
_MOVING: Final = (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.Show, QEvent.Type.Hide)


class Notice(Card):
    """A sentence over the window: nothing moves when it comes, and a click takes it away."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(tone="tint", margin=0)
        self.setParent(window)
        self._window = window
        self._above: QWidget | None = None
        self._words = Words(wrap=False)
        self.body.addLayout(
            layouts.row(self._words, margin=(theme.GAP, theme.NEAR, theme.GAP, theme.NEAR))
        )
        self._rest = QTimer(self, singleShot=True)
        self._rest.timeout.connect(self.hide)
        self.hide()

    @property
    def text(self) -> str:
        """What it says; empty while it is not shown."""
        return self._words.text() if not self.isHidden() else ""

    def say(self, text: str, above: QWidget | None = None) -> None:
        """Show a sentence at the lower edge of the window, above what stands there."""
        self._words.setText(text)
        self.setAccessibleName(text)
        if above is not None and above is not self._above:
            above.installEventFilter(self)
        self._above = above
        # only what is shown has the size that the style sheet gives it
        self.show()
        self._place()
        self.raise_()
        self._rest.start(SHOWN)
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Stay above what has grown, or come or gone."""
        if watched is self._above and event.type() in _MOVING and not self.isHidden():
            self._place()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        around, size, above = self._window, self.sizeHint(), self._above
        over = above.height() + theme.NEAR if above is not None and above.isVisible() else 0
        # at the left, where a page has least to press
        top = around.height() - over - size.height() - theme.NEAR
        wide = min(size.width(), around.width() - 2 * theme.NEAR)
        self.setGeometry(theme.NEAR, top, wide, size.height())

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Go away."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.hide()


#: The window works down to this size: a screen of 1366 x 768 at 200 % has 683 x 384 logical pixels.
LEAST = QSize(640, 340)
#: Set on a dialog in which the key opens the help.
_HELPED = "opens_help"


def _load_rest() -> None:
    """Import what the first click will need. Runs in the background."""
    # an audit that is there is opened at once, most often the sample's
    importlib.import_module("fairdesk.gui.workspace.shell.workspace")
    importlib.import_module("fairdesk.gui.charts.canvas").load_library()
    importlib.import_module("fairdesk.gui.wizard.dialog")
    # while the auditor chooses files: a run that comes too early has to compile for itself
    importlib.import_module("fairdesk.audit.sandbox.kernel_cache").begin()


class MainWindow(Takes, QMainWindow):
    """The window.

    Parameters
    ----------
    commands : callable
        Makes what the help shows of the command line.

    Attributes
    ----------
    workspace : Workspace, optional
        The open audit.
    wizard : Wizard, optional
        The wizard, while it is on screen.
    help : HelpWindow, optional
        The help, once it was asked for.
    menus : Menus
        What can be chosen at the top of the window.
    """

    def __init__(self, settings: Settings, commands: Callable[[], str] = str) -> None:
        super().__init__()
        self.settings = settings
        self._commands = commands
        self.help: HelpWindow | None = None
        self.workspace: Workspace | None = None
        self.wizard: Wizard | None = None
        self._clerk: Worker | None = None
        self._loaded = False
        self.start = StartPage()
        self.start.new.connect(self.new_audit)
        self.start.open.connect(self.choose_audit)
        self.start.opened.connect(self.open_audit)
        self.start.tried.connect(self.try_sample)
        self.start.looked.connect(self.look_around)
        self._stack = layouts.stack(self.start)
        self.setCentralWidget(self._stack)
        set_topic(self.start, "start")
        # dialogs have no menus: what offers the key there is added when one is used
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._offer_help)
        self.setAcceptDrops(True)
        self.setMinimumSize(LEAST)
        resize_on_screen(self, *settings.size)
        if settings.maximised:
            self.setWindowState(Qt.WindowState.WindowMaximized)
        self.notice = Notice(self)
        self.menus = Menus(self, self)
        self._show_state()

    # -- what can be done -------------------------------------------------------------------------

    def new_audit(self, path: Path | None = None) -> None:
        """Open the wizard, perhaps with a file that was dropped."""
        wizard = self._open_wizard()
        if wizard is not None and path is not None:
            wizard.take(path)

    def try_sample(self, sample: Sample, model: SampleModel) -> None:
        """Open the wizard at its last page, with a sample's answers."""
        wizard = self._open_wizard()
        if wizard is not None:
            wizard.prefill(sample, model)

    def look_around(self, sample: Sample) -> None:
        """Open the user's copy of a sample's finished audit; a fresh one where that cannot be."""
        try:
            self.open_audit(own_finished(sample))
            if self.workspace is None:
                self.open_audit(own_finished(sample, anew=True))
        except FairDeskError as error:
            self.start.banner.tell(error)

    def welcome(self) -> None:
        """Open the finished audit of the first sample, and say what it is."""
        self.look_around(samples()[0])
        if self.workspace is not None:
            self._say(_WELCOME)

    def choose_audit(self) -> None:
        """Ask which audit to open."""
        folder, kinds = self.settings.folder("audit"), filter_of(Sort.AUDIT, "Audits")
        if (path := ask_open(self, "Open an audit", folder, kinds)) is not None:
            self.open_audit(path)

    def open_audit(self, path: Path) -> None:
        """Open an audit's file; an error is told on the start page."""
        if not self.close_audit():
            return
        # the store brings the numeric libraries with it
        from fairdesk.audit.store.store import Store  # noqa: PLC0415

        try:
            self._show_audit(Store.open(path))
        except FairDeskError as error:
            self.start.banner.tell(error)
            self._show_state()

    def choose_command(self) -> None:
        """Let the auditor find any action of the menus, and anything of the audit, by its name."""
        open_dialog(Commands(self.menus.actions, self, self._find))

    def show_shortcuts(self) -> None:
        """Show the shortcuts of all actions of the menus."""
        open_dialog(Shortcuts(self.menus.actions, self))

    def _find(self, text: str) -> Iterator[Found]:
        """Yield what may be meant by a text: things of the open audit, and terms."""
        if self.workspace is not None:
            yield from self.workspace.found_by(text)
        for term in glossary():
            yield Found(f"Term: {term.title}", partial(self._show_term, term.title))

    def _show_term(self, title: str) -> None:
        self.show_help(TERMS)
        if self.help is not None:
            self.help.terms.setText(title)

    def takes(self, path: Path) -> bool:
        """Return whether FairDesk knows such files."""
        return sort_of(path) is not None

    def take(self, path: Path) -> None:
        """Open whatever a file is: an audit, or data or a model to begin one with."""
        if sort_of(path) in (Sort.DATA, Sort.MODEL):
            self.new_audit(path)
        else:
            self.open_audit(path)

    def close_audit(self) -> bool:
        """Close the open audit; gives False when the auditor would rather let it run."""
        workspace = self.workspace
        if workspace is None:
            return True
        if workspace.busy:
            if not self._agreed_to_stop(len(workspace.queue.waiting)):
                return False
            workspace.stop_and_keep()
        self.workspace = None
        if (glance := workspace.glance) is not None:
            self.settings.closed(workspace.path, glance)
        workspace.close_audit()
        self._stack.removeWidget(workspace)
        workspace.deleteLater()
        self.notice.hide()
        self._show_state()
        return True

    def show_help(self, topic: str) -> None:
        """Show the help on a topic of the window, or at a place of its own."""
        if self.help is None:
            # what searches and shows its pages
            from fairdesk.gui.help.window import HelpWindow  # noqa: PLC0415

            self.help = HelpWindow(self._commands)
        self.help.show_topic(topic)

    def _offer_help(self, _before: QWidget | None, now: QWidget | None) -> None:
        """Let the key open the help in a dialog of this window, too."""
        dialog = now.window() if now is not None else None
        if isinstance(dialog, QDialog) and not dialog.property(_HELPED):
            dialog.setProperty(_HELPED, True)  # noqa: FBT003 - Qt's own
            keys = QShortcut(QKeySequence(QKeySequence.StandardKey.HelpContents), dialog)
            keys.activated.connect(lambda: ask_help(dialog.focusWidget() or dialog))

    def choose_where(self) -> None:
        """Ask where runs are made; the open audit begins its next one there."""
        from fairdesk.gui.forms.dialogs import WhereDialog  # noqa: PLC0415

        dialog = WhereDialog(self.settings.cluster, self)
        dialog.accepted.connect(lambda: self._run_at(dialog.cluster()))
        open_dialog(dialog)

    def _run_at(self, cluster: str) -> None:
        if cluster == self.settings.cluster:
            return
        self.settings.cluster = cluster
        self.settings.save()
        if self.workspace is not None:
            self.workspace.change_worker()

    # -- the wizard -------------------------------------------------------------------------------

    def _open_wizard(self) -> Wizard | None:
        if self.wizard is not None:
            self.wizard.activateWindow()
            return None
        if self.workspace is not None and self.workspace.busy and not self.close_audit():
            return None
        # these bring the numeric libraries with them
        from fairdesk.audit.worker.client import Worker  # noqa: PLC0415
        from fairdesk.cluster.worker import worker_for  # noqa: PLC0415
        from fairdesk.gui.wizard.dialog import Wizard  # noqa: PLC0415

        where = self.settings.cluster
        model, self._clerk = worker_for(where), Worker()
        wizard = self.wizard = Wizard(model, self._clerk, self.settings, self)
        wizard.created.connect(lambda plan: self._begin(plan, model, where))
        before = self.focusWidget()
        wizard.rejected.connect(model.close)
        wizard.rejected.connect(lambda: self._go_back_to(before))
        wizard.finished.connect(self._end_wizard)
        wizard.open()
        return wizard

    def _go_back_to(self, field: QWidget | None) -> None:
        """Give the keyboard back to what had it before the wizard."""
        self.activateWindow()
        if field is not None and isValid(field):
            field.setFocus()

    def _end_wizard(self) -> None:
        if self._clerk is not None:
            self._clerk.close()
            self._clerk = None
        if self.wizard is not None:
            self.wizard.deleteLater()
            self.wizard = None

    def _begin(self, plan: Plan, model: Worker, where: str) -> None:
        """Open the audit of a wizard, and begin its runs: with its worker, if it is to be there."""
        self.open_audit(plan.path)
        if self.workspace is None:
            model.close()
        else:
            if where != self.settings.cluster:
                self.workspace.change_worker()
            self.workspace.start_runs(model, plan.runs, plan.seconds)

    # -- the open audit ---------------------------------------------------------------------------

    def _show_audit(self, store: Store) -> None:
        # loaded in the background by now, or else here
        from fairdesk.cluster.worker import worker_for  # noqa: PLC0415
        from fairdesk.gui.workspace.shell.workspace import Workspace  # noqa: PLC0415

        self.start.banner.clear()
        self.settings.opened(store.path)
        self.settings.used("audit", store.path)
        workspace = self.workspace = Workspace(
            store, self, lambda: worker_for(self.settings.cluster)
        )
        workspace.said.connect(self._say)
        self._stack.addWidget(workspace)
        self._stack.setCurrentWidget(workspace)
        self._show_state()

    def _say(self, text: str) -> None:
        """Show a sentence above the bar of the run, which stays in sight."""
        self.notice.say(text, self.workspace.bar if self.workspace is not None else None)

    def _show_state(self) -> None:
        workspace = self.workspace
        if workspace is None:
            self._stack.setCurrentWidget(self.start)
            recents = map(Path, self.settings.recents)
            self.start.show_recents((path, self.settings.glance(path)) for path in recents)
            self.setWindowTitle("FairDesk")
        else:
            self.setWindowTitle(f"{workspace.title} – FairDesk")
        self.menus.show_audit(workspace)

    def _agreed_to_stop(self, waiting: int) -> bool:
        runs = "run in the queue is" if waiting == 1 else f"{waiting} runs in the queue are"
        return asked(
            self,
            "A run is still in progress.",
            "Its results so far are kept and marked as stopped by you."
            + (f" The {runs} offered when you open the audit again." if waiting else ""),
            yes="&Stop and keep results",
            no="&Let it continue",
        )

    # -- Qt's own ---------------------------------------------------------------------------------

    def event(self, event: QEvent) -> bool:
        """Load the rest once the window has been painted for the first time."""
        handled = super().event(event)
        if event.type() == QEvent.Type.Paint and not self._loaded:
            self._loaded = True
            QTimer.singleShot(
                0, self, lambda: in_background(self, _load_rest, lambda _: None, _forget)
            )
        return handled

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802 - Qt's name
        """Close the audit first; a running search asks."""
        if self.close_audit():
            self.settings.maximised = self.isMaximized()
            self.settings.size = self.normalGeometry().size().toTuple()
            self.settings.save()
            if self.help is not None:
                self.help.close()
            event.accept()
        else:
            event.ignore()


def _forget(_error: FairDeskError) -> None:
    """Leave a failed import to the first click, which will tell of it."""
