"""The help window: the documentation and the terms, with what the search finds in them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QPoint,
    QRectF,
    QSignalBlocker,
    QSize,
    Qt,
    QTimer,
    QUrl,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QDesktopServices,
    QGuiApplication,
    QImage,
    QKeySequence,
    QPainter,
    QPalette,
    QResizeEvent,
    QShortcut,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import (
    QFrame,
    QListWidget,
    QListWidgetItem,
    QTextBrowser,
    QTextEdit,
    QToolButton,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from fairdesk.errors import FairDeskError
from fairdesk.files import documentation
from fairdesk.gui.kit import layouts, theme
from fairdesk.gui.kit.fields import line
from fairdesk.gui.kit.keys import shortcut
from fairdesk.gui.kit.parts import Banner, Busy, quiet, resize_on_screen, tool_button
from fairdesk.gui.kit.threads import in_background
from fairdesk.manual import terms
from fairdesk.manual.html import Rendered, rendered, search
from fairdesk.manual.places import CHOICE, CONTENTS, FIRST, TERMS
from fairdesk.manual.reference import pages
from fairdesk.report.render.html import formula_pictures


@dataclass
class Manual:
    """The pages of the documentation.

    Attributes
    ----------
    pages : dict
        By their places, in the order of the contents.
    formulas : dict
        Pictures of formulas by their keys, as SVG, black on nothing.
    """

    pages: dict[str, Rendered]
    formulas: dict[str, bytes]
    _terms: str

    def page(self, place: str, words: str = "") -> Rendered:
        """Return a page; of the page of terms only what has some words."""
        if place == TERMS and words.strip():
            return rendered(terms.filtered(self._terms, words), glossary=True)
        return self.pages[place]


def make_manual(commands: str) -> Manual:
    """Make all pages; takes a second, and longer where nothing is loaded yet.

    Parameters
    ----------
    commands : str
        What the page of the command line shows of the commands.
    """
    made = pages(
        commands, lambda key, alt: f'<p><img src="formula:{key}" alt="{_quoted(alt)}"></p>'
    )
    return Manual(
        {place: rendered(text, glossary=place == TERMS) for place, text in made.items()},
        formula_pictures(),
        made[TERMS],
    )


def _quoted(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")


_SCHEME = "help"
#: After a change of the width the pictures are made anew so much later, in milliseconds.
_SETTLES = 100
_RESOURCE = QTextDocument.ResourceType
#: A picture in a paragraph of its own becomes a link to itself, without the lines' wider spacing.
_PICTURE = re.compile(r'<p>(<img\b[^>]*?\bsrc="([^"]*)"[^>]*>)</p>')
_LINKED = r'<p style="line-height: 100%"><a href="\2">\1</a></p>'


class Browser(QTextBrowser):
    """Shows one page; links lead to others, or to the system's browser.

    Pictures are as wide as the page; a click opens one at its full size.

    Signals
    -------
    moved : str
        Another page is shown: its place, without an anchor.
    """

    moved = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._manual: Manual | None = None
        #: What the page of terms is filtered by.
        self.words = ""
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)
        # pictures are as wide as the page: a bar that comes with them would make it narrower
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setAccessibleName("Page of the documentation")
        self.document().setDocumentMargin(theme.PAGE)
        self.anchorClicked.connect(self.follow)
        self.sourceChanged.connect(lambda url: self.moved.emit(_page(url)))
        self._resized = QTimer(self, singleShot=True, interval=_SETTLES)
        self._resized.timeout.connect(self._make_pictures)
        self._style()

    def show_manual(self, manual: Manual, place: str) -> None:
        """Show a page for the first time."""
        self._manual = manual
        self.open_place(place)

    def open_place(self, place: str) -> None:
        """Show a page by its place, such as ``reference/methods.md#maft``."""
        self.setExtraSelections([])
        self.setSource(QUrl(f"{_SCHEME}:/{place}"), _RESOURCE.HtmlResource)

    @property
    def place(self) -> str:
        """The page that is shown, without an anchor; empty before the first."""
        return _page(self.source())

    def follow(self, url: QUrl) -> None:
        """Go where a link leads: to a page here, anywhere else by the system's browser."""
        if _page(url).endswith(".png"):
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(_file(_page(url)))))
        elif url.scheme() == _SCHEME:
            self.open_place(url.toString().removeprefix(f"{_SCHEME}:/"))
        else:
            QDesktopServices.openUrl(url)

    def filter_terms(self, words: str) -> None:
        """Show only those entries of the page of terms that hold every word."""
        self.words = words
        self.reload()

    def mark(self, text: str) -> None:
        """Mark every word of a text on the page."""
        marks = []
        for word in text.split():
            cursor = self.document().find(word)
            while not cursor.isNull():
                marks.append(self._marked(cursor))
                cursor = self.document().find(word, cursor)
        self.setExtraSelections(marks)

    def loadResource(self, kind: int, url: QUrl | str) -> object:  # noqa: N802 - Qt's name
        """Return a page's HTML, or one of its pictures."""
        url = QUrl(url)
        if self._manual is None:
            return None
        if kind == _RESOURCE.HtmlResource.value:
            if _page(url) not in self._manual.pages:
                return None
            html = self._manual.page(_page(url), self.words).html
            return _PICTURE.sub(_LINKED, html)
        if url.scheme() == "formula":
            return self._formula(self._manual.formulas.get(url.path(), b""))
        return self._picture(_page(url))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Keep the pictures as wide as the page."""
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._resized.start()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Follow the theme."""
        super().changeEvent(event)
        if theme.palette_changed(event):
            self._style()

    def _style(self) -> None:
        """Set the page in the colours of the palette."""
        colours = theme.colours()
        self.document().setDefaultStyleSheet(
            f"""
            h1 {{ font-size: 20pt; font-weight: 600; margin-bottom: {theme.GAP}px; }}
            h2 {{ font-size: 14pt; font-weight: 600; margin-top: {theme.PAGE}px; }}
            h3 {{ font-size: 11.5pt; font-weight: 600; margin-top: {theme.WIDE}px; }}
            p, li {{ line-height: 130%; }}
            a {{ color: {colours.accent}; }}
            pre, code {{ background-color: {colours.tint}; font-family: monospace; }}
            table {{ border-collapse: collapse; margin-top: {theme.NEAR}px; }}
            th {{ background-color: {colours.tint}; text-align: left; }}
            th, td {{ border: 1px solid {colours.line}; padding: 5px; vertical-align: top; }}
            blockquote {{ background-color: {colours.notice}; }}
            dt {{ font-weight: 600; margin-top: {theme.GAP}px; }}
            """
        )
        # pictures of formulas have the colour of the text
        self._make_pictures()

    def _make_pictures(self) -> None:
        """Make the pictures of the page anew; what is at its top stays there."""
        if not self.place:
            return
        first = self.cursorForPosition(QPoint(0, 0)).position()
        self.document().clear()
        self.reload()
        block = self.document().findBlock(first)
        top = self.document().documentLayout().blockBoundingRect(block).top()
        self.verticalScrollBar().setValue(round(top))

    def _picture(self, place: str) -> QImage:
        image = QImage(str(_file(place)))
        if image.isNull():
            # asked for by the page before, from the place of this one
            return image
        ratio = self.devicePixelRatioF()
        room = self.viewport().width() - 2 * theme.PAGE - theme.TIGHT
        width = max(1, min(image.width(), room))
        smooth = Qt.TransformationMode.SmoothTransformation
        made = image.scaledToWidth(round(width * ratio), smooth)
        made.setDevicePixelRatio(ratio)
        return made

    def _formula(self, drawing: bytes) -> QImage:
        renderer = QSvgRenderer(drawing)
        ratio = self.devicePixelRatioF()
        factor = self.fontInfo().pixelSize() / 11
        size = QSize(renderer.defaultSize()) * factor * ratio
        made = QImage(size, QImage.Format.Format_ARGB32_Premultiplied)
        made.fill(Qt.GlobalColor.transparent)
        painter = QPainter(made)
        renderer.render(painter, QRectF(made.rect()))
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceIn)
        painter.fillRect(made.rect(), QGuiApplication.palette().color(QPalette.ColorRole.Text))
        painter.end()
        made.setDevicePixelRatio(ratio)
        return made

    def _marked(self, cursor: QTextCursor) -> QTextEdit.ExtraSelection:
        made = QTextEdit.ExtraSelection()
        made.cursor = cursor
        made.format.setBackground(QColor(theme.colours().notice))
        made.format.setFontUnderline(True)
        return made


def _file(place: str) -> Path:
    return documentation() / PurePosixPath(place)


def _page(url: QUrl) -> str:
    return url.path().removeprefix("/")


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
        all_, few = "Search all pages", "Filter terms"
        self.search = line("", all_, prompt=all_, clears=True, changed=self._search)
        self.terms = line("", few, prompt=few, clears=True, changed=self.browser.filter_terms)
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
        in_background(self, lambda: make_manual(commands()), self._take, self._fail)

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
        self._side = layouts.stack(
            self.contents, layouts.panel(self._found, self.results, spacing=theme.TIGHT)
        )
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
        layouts.column(layouts.split((left, 270, 0), (right, 770, 1)), on=self)

    def _arrow(self, sign: str, name: str, keys: str, run: Callable[[], object]) -> QToolButton:
        made = tool_button(sign, run, tip=f"{name} ({keys})", name=name, raised=True)
        made.setEnabled(False)
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
                with QSignalBlocker(self.contents):
                    self.contents.setCurrentItem(item)

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
