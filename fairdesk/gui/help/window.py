"""The window of the help: contents and search at the left, a page at the right."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QFrame,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from fairdesk.errors import FairDeskError
from fairdesk.gui.help.browser import Browser
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.keys import shortcut
from fairdesk.gui.kit.parts import Banner, Busy, quiet, resize_on_screen
from fairdesk.gui.kit.threads import in_background
from fairdesk.manual.html import search
from fairdesk.manual.places import CHOICE, CONTENTS, FIRST, TERMS

if TYPE_CHECKING:
    from fairdesk.gui.help.browser import Manual


#: Places in the documentation by the topics of the window: the start, the steps of the wizard, the
#: pages of the workspace by their names, and the dialogs by their classes.
TOPICS = {
    "": FIRST,
    "start": "index.md#where-to-begin",
    "step DATA": "how-to/own-data.md#check-how-the-table-was-read",
    "step MODEL": "how-to/own-data.md#check-how-the-model-is-read",
    "step ATTRIBUTES": "tutorial.md#3-the-protected-attributes",
    "step CHECKS": CHOICE,
    "step REVIEW": "tutorial.md#5-review",
    "Overview": "tutorial.md#see-all-answers-at-once",
    "Data and model": "how-to/own-data.md",
    "Discriminatory pairs": "tutorial.md#read-the-pairs",
    "Estimates": "tutorial.md#estimate-how-often",
    "Certification": "explanation/proofs.md",
    "Compare methods": "reference/methods.md#what-a-method-costs",
    "Groups": "tutorial.md#compare-groups",
    "Mitigation": "how-to/mitigation.md",
    "Report": "how-to/report.md",
    "Audit log": "how-to/verify-and-reproduce.md",
    "Wizard": "how-to/own-data.md",
    "AgainDialog": "reference/methods.md#which-method-answers-which-question",
    "AttributeDialog": "how-to/own-data.md#limit-the-input-domain",
    "CellsDialog": "how-to/own-data.md#check-how-the-table-was-read",
    "CheckDialog": "how-to/verify-and-reproduce.md#verify",
    "ChoiceDialog": CHOICE,
    "Commands": FIRST,
    "CompareDialog": "reference/methods.md#what-a-method-costs",
    "ContentsDialog": "how-to/report.md",
    "ExportDialog": "how-to/mitigation.md#what-you-get",
    "InputDialog": "how-to/own-data.md#check-how-the-model-is-read",
    "NamesDialog": "how-to/text-models.md",
    "RowsDialog": "tutorial.md#compare-groups",
    "Shortcuts": FIRST,
    "SignDialog": "how-to/signing.md",
    "WhereDialog": "how-to/cluster.md",
    "ValuesDialog": "how-to/own-data.md#limit-the-input-domain",
}


_PLACE = Qt.ItemDataRole.UserRole
#: So many results of a search are listed.
_MOST = 100


def place_of(topic: str) -> str:
    """Return the place of a topic; dialogs without one, such as messages, have the first page."""
    return topic if ".md" in topic else TOPICS.get(topic, FIRST)


class HelpWindow(QWidget):
    """Shows the documentation.

    A window by itself, so that it can be read while a dialog waits for an answer.

    Parameters
    ----------
    commands : callable
        Makes what the page of the command line shows of the commands.
    """

    def __init__(self, commands: Callable[[], str]) -> None:
        super().__init__()
        self.setWindowTitle("Help – FairDesk")
        self._manual: Manual | None = None
        self._wanted = ""
        self.browser = Browser()
        self.browser.moved.connect(self._show_where)
        self.search = QLineEdit()
        self.search.setPlaceholderText("Search all pages")
        self.search.setAccessibleName("Search all pages")
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._search)
        self.terms = QLineEdit()
        self.terms.setPlaceholderText("Filter terms")
        self.terms.setAccessibleName("Filter terms")
        self.terms.setClearButtonEnabled(True)
        self.terms.textChanged.connect(self.browser.filter_terms)
        self.back = self._arrow("←", "Back", "Alt+Left", self.browser.backward)
        self.forward = self._arrow("→", "Forward", "Alt+Right", self.browser.forward)
        self.browser.backwardAvailable.connect(self.back.setEnabled)
        self.browser.forwardAvailable.connect(self.forward.setEnabled)
        self.contents = _contents()
        self.contents.currentItemChanged.connect(self._open_chosen)
        self.results = QListWidget()
        self.results.setAccessibleName("Search results")
        self.results.setWordWrap(True)
        self.results.setSpacing(theme.TIGHT)
        self.results.setFrameShape(QFrame.Shape.NoFrame)
        self.results.currentItemChanged.connect(self._open_result)
        self.search.returnPressed.connect(lambda: self.results.setCurrentRow(0))
        self._found = quiet()
        self._busy, self._banner = Busy(), Banner()
        self._lay_out()
        self._make_keys()
        resize_on_screen(self, 1040, 760)
        self._busy.say("Opening the documentation…")
        in_background(self, lambda: _made(commands), self._take, self._fail)

    def show_topic(self, topic: str) -> None:
        """Show what belongs to a topic of the window."""
        self.show_place(place_of(topic))

    def show_place(self, place: str) -> None:
        """Show a page, and the window in front."""
        self._wanted = place
        self.search.clear()
        self.terms.clear()
        if self._manual is not None:
            self.browser.open_place(place)
        self.show()
        self.raise_()
        self.activateWindow()
        self.browser.setFocus()

    @property
    def ready(self) -> bool:
        """Whether the pages are made."""
        return self._manual is not None

    # -- building -------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        self._side = QStackedWidget()
        self._side.addWidget(self.contents)
        self._side.addWidget(layouts.panel(self._found, self.results, spacing=theme.TIGHT))
        left = layouts.panel(
            layouts.row(self.back, self.forward, layouts.grow(self.search), spacing=theme.TIGHT),
            layouts.grow(self._side),
            margin=(theme.GAP, theme.GAP, theme.NEAR, theme.GAP),
            spacing=theme.NEAR,
        )
        self._filter = layouts.panel(self.terms, margin=(theme.PAGE, theme.GAP, theme.PAGE, 0))
        self._filter.hide()
        notes = layouts.panel(self._busy, self._banner, margin=theme.GAP)
        right = layouts.panel(notes, self._filter, layouts.grow(self.browser), spacing=0)
        self._notes = notes
        sides = QSplitter()
        sides.addWidget(left)
        sides.addWidget(right)
        sides.setSizes([270, 770])
        sides.setStretchFactor(1, 1)
        sides.setChildrenCollapsible(False)
        layouts.column(sides, on=self)

    def _arrow(self, sign: str, name: str, keys: str, run: Callable[[], object]) -> QToolButton:
        made = QToolButton()
        made.setText(sign)
        made.setAutoRaise(True)
        made.setToolTip(f"{name} ({keys})")
        made.setAccessibleName(name)
        made.setEnabled(False)
        made.clicked.connect(run)
        shortcut(self, keys, made.click, name)
        return made

    def _make_keys(self) -> None:
        QShortcut(QKeySequence("Esc"), self, self.close)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self, self._go_searching)

    def _go_searching(self) -> None:
        self.search.setFocus()
        self.search.selectAll()

    # -- showing --------------------------------------------------------------------------------

    def _take(self, manual: Manual) -> None:
        self._manual = manual
        self._busy.say("")
        self._notes.hide()
        self.browser.show_manual(manual, self._wanted or FIRST)
        self._search(self.search.text())

    def _fail(self, error: FairDeskError) -> None:
        self._busy.say("")
        self._banner.tell(error)

    def _show_where(self, place: str) -> None:
        """Show in the contents which page it is; filter it where it is the page of terms."""
        self._filter.setVisible(place == TERMS)
        for item in self.contents.findItems(
            "", Qt.MatchFlag.MatchContains | Qt.MatchFlag.MatchRecursive
        ):
            if item.data(0, _PLACE) == place and item is not self.contents.currentItem():
                self.contents.blockSignals(True)  # noqa: FBT003 - Qt's own
                self.contents.setCurrentItem(item)
                self.contents.blockSignals(False)  # noqa: FBT003 - Qt's own

    def _open_chosen(self, item: QTreeWidgetItem | None) -> None:
        if item is not None and item.data(0, _PLACE):
            self.browser.open_place(item.data(0, _PLACE))

    def _search(self, text: str) -> None:
        wanted = bool(text.strip())
        self._side.setCurrentIndex(int(wanted))
        self.results.clear()
        if not wanted:
            self.browser.setExtraSelections([])
        if not wanted or self._manual is None:
            return
        hits = search(self._manual.pages, text)
        titles = {place: name for each in CONTENTS for place, name in each.pages.items()}
        for hit in hits[:_MOST]:
            page = titles[hit.page]
            title = hit.section.title
            head = page if title == page else f"{title} ({page})"
            item = QListWidgetItem(f"{head}\n{hit.excerpt}", self.results)
            item.setData(_PLACE, f"{hit.page}#{hit.section.anchor}")
        self._found.setText(_counted(len(hits)))

    def _open_result(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self.browser.open_place(item.data(_PLACE))
            self.browser.mark(self.search.text())


def _made(commands: Callable[[], str]) -> Manual:
    # the catalogue and what the report says come with it
    from fairdesk.gui.help.browser import make_manual  # noqa: PLC0415

    return make_manual(commands())


def _counted(hits: int) -> str:
    if not hits:
        return "No page contains all of these words. Try fewer words, or a term of the glossary."
    if hits == 1:
        return "1 section found."
    return f"{hits} sections found{f', the first {_MOST} are listed' if hits > _MOST else ''}."


def _contents() -> QTreeWidget:
    """Make the list of all pages."""
    made = QTreeWidget()
    made.setHeaderHidden(True)
    made.setAccessibleName("Contents")
    made.setFrameShape(QFrame.Shape.NoFrame)
    made.setRootIsDecorated(False)
    made.setIndentation(theme.GAP)
    made.viewport().setAutoFillBackground(False)
    for chapter in CONTENTS:
        above: QTreeWidget | QTreeWidgetItem = made
        if chapter.title:
            above = QTreeWidgetItem(made, [chapter.title])
            above.setFlags(Qt.ItemFlag.ItemIsEnabled)
            above.setFont(0, theme.scaled(made.font(), 1.0, strong=True))
        for place, name in chapter.pages.items():
            QTreeWidgetItem(above, [name]).setData(0, _PLACE, place)
    made.expandAll()
    made.setItemsExpandable(False)
    made.setCurrentIndex(QModelIndex())
    return made
