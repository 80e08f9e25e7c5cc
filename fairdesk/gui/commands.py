"""One list to search by typing: every action of the menus, and what there is in the open audit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QAction, QColor, QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import (
    QDialog,
    QHeaderView,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from fairdesk.gui.kit import layouts, parts, theme
from fairdesk.gui.kit.hints import without_mnemonic
from fairdesk.gui.kit.keys import Found
from fairdesk.gui.kit.tables import RIGHT, Index, head_columns, read_only

_THING, _KEYS = (Qt.ItemDataRole.UserRole + each for each in range(2))
_NATIVE = QKeySequence.SequenceFormat.NativeText
_LEADING = {Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown}


def commands(menus: Iterable[QMenu]) -> Iterator[tuple[str, QAction]]:
    """Yield the actions of menus and of those inside them, with their names: ``Audit: Open…``."""
    for menu in menus:
        # what a menu fills only when it is opened
        menu.aboutToShow.emit()
        above = without_mnemonic(menu.title())
        for action in menu.actions():
            inner = action.menu()
            if isinstance(inner, QMenu):
                for name, each in commands((inner,)):
                    yield f"{above}: {name}", each
            elif not action.isSeparator():
                yield f"{above}: {without_mnemonic(action.text())}", action


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
        self.table = QTableWidget(len(told), 3)
        read_only(self.table, "Keyboard shortcuts", line=theme.NEAR, single=True)
        head_columns(self.table, ("Menu", "Action", "Keys"))
        for row, texts in enumerate(told):
            for place, text in enumerate(texts):
                self.table.setItem(row, place, QTableWidgetItem(text))
        head = self.table.horizontalHeader()
        head.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        head.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        layouts.column(
            parts.quiet("Shortcuts of the page on screen come with those of the menus."),
            layouts.grow(self.table),
            on=self,
            margin=theme.GAP,
            spacing=theme.NEAR,
        )
        self.resize(620, 520)
