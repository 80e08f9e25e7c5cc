"""The menus of the window, and their entries to find by name, and by their keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QAction, QActionGroup, QColor, QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QMainWindow,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from fairdesk.gui import about
from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.kit.hints import ask_help, without_mnemonic
from fairdesk.gui.kit.keys import Found
from fairdesk.gui.kit.parts import action, open_dialog
from fairdesk.gui.kit.settings import Settings
from fairdesk.gui.kit.tables import RIGHT, Index, TextTable
from fairdesk.gui.start_page import StartPage
from fairdesk.manual.places import TERMS

if TYPE_CHECKING:
    from fairdesk.gui.workspace.shell.workspace import Workspace

_THING, _KEYS = (Qt.ItemDataRole.UserRole + each for each in range(2))
_NATIVE = QKeySequence.SequenceFormat.NativeText
_LEADING = {Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown}


def commands(menus: Iterable[QMenu]) -> Iterator[tuple[str, QAction]]:
    """Yield the actions of menus and of those inside them, with their names: ``Audit: Open…``."""
    for menu in menus:
        # what a menu fills only when it is opened
        menu.aboutToShow.emit()
        above = without_mnemonic(menu.title())
        for entry in menu.actions():
            inner = entry.menu()
            if isinstance(inner, QMenu):
                for name, each in commands((inner,)):
                    yield f"{above}: {name}", each
            elif not entry.isSeparator():
                yield f"{above}: {without_mnemonic(entry.text())}", entry


class Commands(QDialog):
    """Runs an action, or shows a thing, that is found by typing some letters of its name.

    Parameters
    ----------
    actions : iterable of (str, QAction)
        With their names, see `commands`; those that are off are listed, and cannot be run.
    find : callable
        Returns the things that may be meant by what is typed. They are listed below the actions,
        once something is typed; those whose names do not have all words are left out.
    """

    def __init__(
        self,
        actions: Iterable[tuple[str, QAction]],
        parent: QWidget,
        find: Callable[[str], Iterable[Found]] = lambda _text: (),
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Commands")
        self._actions, self._things = list(actions), find
        self.search = QLineEdit()
        self.search.setPlaceholderText("Type a command, or a run, pair, group, attribute or term")
        self.search.setAccessibleName("Command, or a run, pair, group, attribute or term")
        self.search.setClearButtonEnabled(True)
        self.list = QListWidget()
        self.list.setAccessibleName("Commands with their shortcuts, and what is in the audit")
        self.list.setItemDelegate(_Line(self.list))
        self.list.itemActivated.connect(self._run)
        self.search.textChanged.connect(self._find)
        self.search.returnPressed.connect(self._run)
        self.search.installEventFilter(self)
        layouts.column(
            self.search, layouts.grow(self.list), on=self, margin=theme.GAP, spacing=theme.NEAR
        )
        self.resize(560, 420)
        self._find("")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Let the arrow keys move in the list while one types."""
        # a key that is let go moves nothing in a list
        if isinstance(event, QKeyEvent) and event.key() in _LEADING:
            self.list.event(event)
            return True
        return super().eventFilter(watched, event)

    def _find(self, text: str) -> None:
        """List what has all words in its name; first where each begins a word of it."""
        wanted = text.casefold().split()
        self.list.clear()
        offers = [
            (Found(name, action.trigger), action.shortcut().toString(), not action.isEnabled())
            for name, action in self._actions
        ]
        if wanted:
            offers += [(thing, "", False) for thing in self._things(text)]
            # “male” means it before “female”
            offers.sort(key=lambda each: not _begins(each[0].name.casefold(), wanted))
        for thing, keys, off in offers:
            self._offer(wanted, thing, keys, off=off)
        usable = (
            row
            for row in range(self.list.count())
            if self.list.item(row).flags() & Qt.ItemFlag.ItemIsEnabled
        )
        self.list.setCurrentRow(next(usable, -1))

    def _offer(self, wanted: list[str], thing: Found, keys: str, *, off: bool) -> None:
        """List something if its name has all words."""
        name = thing.name.casefold()
        if not all(word in name for word in wanted):
            return
        item = QListWidgetItem(thing.name)
        item.setData(_THING, thing)
        if keys:
            item.setData(_KEYS, keys)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{thing.name}, {keys}")
        if off:
            item.setFlags(Qt.ItemFlag.NoItemFlags)
        self.list.addItem(item)

    def _run(self) -> None:
        item = self.list.currentItem()
        if item is None or not item.flags() & Qt.ItemFlag.ItemIsEnabled:
            return
        thing = item.data(_THING)
        self.accept()
        thing.show()


class _Line(QStyledItemDelegate):
    """A name, with its keys at the right."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw both."""
        super().paint(painter, option, index)
        if keys := index.data(_KEYS):
            chosen = option.state & QStyle.StateFlag.State_Selected
            ink = option.palette.highlightedText().color() if chosen else theme.colours().quiet
            painter.save()
            painter.setPen(QColor(ink))
            room = option.rect.adjusted(0, 0, -theme.NEAR, 0)
            painter.drawText(room, RIGHT, keys)
            painter.restore()

    def sizeHint(  # noqa: N802 - Qt's name
        self, option: QStyleOptionViewItem, index: Index
    ) -> QSize:
        """Return the height; the width is the list's, and a longer name is cut."""
        return QSize(0, super().sizeHint(option, index).height() + theme.NEAR)


def _begins(name: str, wanted: Sequence[str]) -> bool:
    """Return whether each word that is wanted begins a word of a name."""
    return all(any(each.startswith(word) for each in name.split()) for word in wanted)


class Shortcuts(QDialog):
    """The sheet of shortcuts: every action of the menus that has one.

    Parameters
    ----------
    actions : iterable of (str, QAction)
        As of `Commands`: nothing is listed twice.
    """

    def __init__(self, actions: Iterable[tuple[str, QAction]], parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keyboard shortcuts")
        told = [
            (*name.rsplit(": ", 1), action.shortcut().toString(_NATIVE))
            for name, action in actions
            if not action.shortcut().isEmpty()
        ]
        self.table = TextTable("Keyboard shortcuts", ("Menu", "Action", "Keys"), most=0)
        self.table.show_rows(told)
        layouts.column(
            parts.quiet("Shortcuts of the page on screen come with those of the menus."),
            layouts.grow(self.table),
            on=self,
            margin=theme.GAP,
            spacing=theme.NEAR,
        )
        self.resize(620, 520)


_SCHEMES = {
    theme.Scheme.SYSTEM: "Same as &system",
    theme.Scheme.LIGHT: "&Light",
    theme.Scheme.DARK: "&Dark",
}
_NOBODY_TO_ASK = (
    "This audit contains only decisions. There is no model to query, so no search is possible."
)
_STANDARD = QKeySequence.StandardKey


class _Host(Protocol):
    """What the window does that is chosen in its menus."""

    settings: Settings
    start: StartPage

    def new_audit(self) -> None: ...
    def choose_audit(self) -> None: ...
    def open_audit(self, path: Path) -> None: ...
    def close_audit(self) -> bool: ...
    def choose_where(self) -> None: ...
    def choose_command(self) -> None: ...
    def show_help(self, topic: str) -> None: ...
    def show_shortcuts(self) -> None: ...


class Menus(QObject):
    """The menus.

    Parameters
    ----------
    window : QMainWindow
        Whose menus these are.
    host : MainWindow
        The same, as far as it does what is chosen.
    """

    def __init__(self, window: QMainWindow, host: _Host) -> None:
        super().__init__(window)
        self._window, self._host, self._settings = window, host, host.settings
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
        undo.setShortcut(_STANDARD.Undo)
        redo.setShortcut(_STANDARD.Redo)
        self._edit_menu.addActions([undo, redo])

    # Parts

    def _make_menu(self, name: str) -> QMenu:
        menu = self._window.menuBar().addMenu(name)
        menu.setToolTipsVisible(True)
        return menu

    def _make_audit_menu(self) -> None:
        window, audit = self._window, self._make_menu("&Audit")
        audit.addAction(action(window, "&New audit…", self._host.new_audit, _STANDARD.New))
        audit.addAction(action(window, "&Open…", self._host.choose_audit, _STANDARD.Open))
        self._recent_menu = audit.addMenu("Open &recent")
        self._recent_menu.aboutToShow.connect(self._fill_recents)
        self._close = action(window, "&Close audit", self._host.close_audit, _STANDARD.Close)
        audit.addAction(self._close)
        audit.addSeparator()
        self._again = action(window, "Run a&gain…", self._run_again, "Ctrl+R")
        audit.addAction(self._again)
        self._export_menu = audit.addMenu("&Export")
        self._export_menu.aboutToShow.connect(self._offer_exports)
        self._check = action(window, "&Verify this audit…", self._check_audit)
        audit.addActions((self._check, action(window, "&Where to run…", self._host.choose_where)))
        audit.addSeparator()
        audit.addAction(action(window, "&Quit", window.close, "Ctrl+Q"))

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
        view.addAction(action(self._window, "Co&mmands…", self._host.choose_command, "Ctrl+K"))

    def _make_help_menu(self) -> None:
        window, menu = self._window, self._make_menu("&Help")
        menu.addAction(action(window, "&Help", self._open_help, _STANDARD.HelpContents))
        menu.addAction(action(window, "&Glossary", lambda: self._host.show_help(TERMS)))
        menu.addAction(action(window, "&Which figure do I need?", self._choose_figure))
        menu.addAction(action(window, "&Keyboard shortcuts", self._host.show_shortcuts, "Ctrl+/"))
        sample = next(iter(self._host.start.samples.values()))
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
                lambda chosen=path: self._host.open_audit(chosen),  # type: ignore[misc]
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

    def _open_help(self) -> None:
        ask_help(self._window.focusWidget() or self._window)

    def _choose_figure(self) -> None:
        # the catalogue comes with it
        from fairdesk.gui.help.choice_dialog import ChoiceDialog  # noqa: PLC0415

        open_dialog(ChoiceDialog(self._window))

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
