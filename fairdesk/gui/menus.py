"""The menus of the window: what can always be done, and what the open audit and its page add."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QApplication, QMainWindow, QMenu

from fairdesk.gui import about
from fairdesk.gui.commands import commands
from fairdesk.gui.kit import theme
from fairdesk.gui.kit.parts import action
from fairdesk.gui.kit.settings import Settings
from fairdesk.gui.start_page import StartPage

if TYPE_CHECKING:
    from fairdesk.gui.workspace.shell.workspace import Workspace

_SCHEMES = {
    theme.Scheme.SYSTEM: "Same as &system",
    theme.Scheme.LIGHT: "&Light",
    theme.Scheme.DARK: "&Dark",
}
_NOBODY_TO_ASK = (
    "This audit contains only decisions. There is no model to query, so no search is possible."
)
_KEYS = QKeySequence.StandardKey


class Menus(QObject):
    """The menus.

    Parameters
    ----------
    window : QMainWindow
        Whose menus these are.
    start : StartPage
        Has the report of a sample, once there is one.

    Signals
    -------
    new, open, close, where, quit, commands, help, glossary, figure, shortcuts
        The auditor chose that entry.
    opened : Path
        A recent audit was chosen.
    """

    new = Signal()
    open = Signal()
    opened = Signal(object)
    close = Signal()
    where = Signal()
    quit = Signal()
    commands = Signal()
    help = Signal()
    glossary = Signal()
    figure = Signal()
    shortcuts = Signal()

    def __init__(self, window: QMainWindow, settings: Settings, start: StartPage) -> None:
        super().__init__(window)
        self._window, self._settings, self._start = window, settings, start
        self._workspace: Workspace | None = None
        #: Owns the actions that press buttons of the page on screen.
        self._buttons = QObject(self)
        self._nothing = QAction("Nothing on this page", self)
        self._nothing.setEnabled(False)
        self._make_audit_menu()
        self._edit_menu = self._make_menu("&Edit")
        self._make_view_menu()
        self._part_menu = self._make_menu("&Page")
        self._part_menu.aboutToShow.connect(self._fill_parts)
        self._make_help_menu()

    @property
    def actions(self) -> Iterator[tuple[str, QAction]]:
        """All actions of the menus, with their names."""
        entries = self._window.menuBar().actions()
        menus = [entry.menu() for entry in entries if entry.isVisible()]
        return commands([each for each in menus if isinstance(each, QMenu)])

    def show_audit(self, workspace: Workspace | None) -> None:
        """Offer what an open audit can do, or what can be done without one."""
        self._workspace = workspace
        for menu in (self._export_menu, self._edit_menu):
            menu.clear()
        for menu in (self._page_menu, self._part_menu):
            _take_out(menu)
        self._page_menu.setEnabled(workspace is not None)
        for entry in (self._close, self._check, self._export_menu.menuAction()):
            entry.setEnabled(workspace is not None)
        nobody = workspace is not None and workspace.asks_nobody
        self._again.setEnabled(workspace is not None and not nobody)
        self._again.setToolTip(_NOBODY_TO_ASK if nobody else "")
        for menu in (self._edit_menu, self._part_menu):
            menu.menuAction().setVisible(workspace is not None)
        if workspace is None:
            return
        self._offer_exports()
        self._page_menu.addActions((*workspace.to_pages, workspace.back))
        undo = workspace.undo_stack.createUndoAction(self._edit_menu, "&Undo")
        redo = workspace.undo_stack.createRedoAction(self._edit_menu, "&Redo")
        undo.setShortcut(_KEYS.Undo)
        redo.setShortcut(_KEYS.Redo)
        self._edit_menu.addActions([undo, redo])

    # Parts

    def _make_menu(self, name: str) -> QMenu:
        menu = self._window.menuBar().addMenu(name)
        menu.setToolTipsVisible(True)
        return menu

    def _make_audit_menu(self) -> None:
        window, audit = self._window, self._make_menu("&Audit")
        audit.addAction(action(window, "&New audit…", self.new.emit, _KEYS.New))
        audit.addAction(action(window, "&Open…", self.open.emit, _KEYS.Open))
        self._recent_menu = audit.addMenu("Open &recent")
        self._recent_menu.aboutToShow.connect(self._fill_recents)
        self._close = action(window, "&Close audit", self.close.emit, _KEYS.Close)
        audit.addAction(self._close)
        audit.addSeparator()
        self._again = action(window, "Run a&gain…", self._run_again, "Ctrl+R")
        audit.addAction(self._again)
        self._export_menu = audit.addMenu("&Export")
        self._export_menu.aboutToShow.connect(self._offer_exports)
        self._check = action(window, "&Verify this audit…", self._check_audit)
        audit.addActions((self._check, action(window, "&Where to run…", self.where.emit)))
        audit.addSeparator()
        audit.addAction(action(window, "&Quit", self.quit.emit, "Ctrl+Q"))

    def _make_view_menu(self) -> None:
        view = self._make_menu("&View")
        self._page_menu = view.addMenu("&Pages")
        colours = view.addMenu("&Colours")
        group = QActionGroup(self)
        for scheme, words in _SCHEMES.items():
            entry = action(self._window, words, lambda each=scheme: self._choose_scheme(each))  # type: ignore[misc]
            entry.setCheckable(True)
            entry.setChecked(scheme == self._settings.scheme)
            group.addAction(entry)
            colours.addAction(entry)
        view.addSeparator()
        view.addAction(action(self._window, "Co&mmands…", self.commands.emit, "Ctrl+K"))

    def _make_help_menu(self) -> None:
        window, menu = self._window, self._make_menu("&Help")
        menu.addAction(action(window, "&Help", self.help.emit, _KEYS.HelpContents))
        menu.addAction(action(window, "&Glossary", self.glossary.emit))
        menu.addAction(action(window, "&Which figure do I need?", self.figure.emit))
        menu.addAction(action(window, "&Keyboard shortcuts", self.shortcuts.emit, "Ctrl+/"))
        sample = next(iter(self._start.samples.values()))
        menu.addAction(action(window, "Sample &report (PDF)", sample.show_report))
        menu.addSeparator()
        menu.addAction(action(window, "Copy &diagnostics", about.copy_diagnostics))
        menu.addAction(action(window, "Open &log folder", about.open_log_folder))
        menu.addSeparator()
        menu.addAction(action(window, "&About FairDesk", lambda: about.show_about(window)))

    # What happens

    def _fill_recents(self) -> None:
        self._recent_menu.clear()
        for path in map(Path, self._settings.recents):
            entry = action(
                self._recent_menu,
                str(path).replace("&", "&&"),
                lambda chosen=path: self.opened.emit(chosen),  # type: ignore[misc]
            )
            entry.setEnabled(path.is_file())
            self._recent_menu.addAction(entry)
        if self._recent_menu.isEmpty():
            self._recent_menu.addAction("None yet").setEnabled(False)

    def _fill_parts(self) -> None:
        """Offer what can be done on the page on screen."""
        _take_out(self._part_menu)
        self._buttons.deleteLater()
        self._buttons = QObject(self)
        kinds = () if self._workspace is None else self._workspace.part_actions(self._buttons)
        for actions in kinds:
            self._part_menu.addActions(actions)
            between = QAction(self._buttons)
            between.setSeparator(True)
            self._part_menu.addAction(between)
        if not any(kinds):
            self._part_menu.addAction(self._nothing)

    def _offer_exports(self) -> None:
        """Offer what there is to export by now."""
        workspace = self._workspace
        self._export_menu.clear()
        if workspace is None:
            return
        # it comes with the workspace
        from fairdesk.gui.workspace.report.exports import REPORTS  # noqa: PLC0415

        for export in workspace.report.offered():
            made = action(
                self._export_menu,
                f"{export.title}…",
                lambda chosen=export: workspace.export(chosen),  # type: ignore[misc]
                "Ctrl+E" if export is REPORTS[0] else None,
            )
            self._export_menu.addAction(made)
            if export is REPORTS[-1]:
                sign = action(self._export_menu, "Report, &signed…", workspace.sign_report)
                self._export_menu.addAction(sign)
                self._export_menu.addSeparator()

    def _run_again(self) -> None:
        if self._workspace is not None:
            self._workspace.requests.run_again()

    def _check_audit(self) -> None:
        if self._workspace is not None:
            self._workspace.check_audit()

    def _choose_scheme(self, scheme: theme.Scheme) -> None:
        app = QApplication.instance()
        if isinstance(app, QApplication):
            theme.apply(app, scheme)
        self._settings.scheme = scheme.value
        self._settings.save()


def _take_out(menu: QMenu) -> None:
    """Take actions out of a menu that are not its own: `QMenu.clear` would invalidate them."""
    for each in menu.actions():
        menu.removeAction(each)
