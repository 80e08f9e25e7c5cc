"""Shows pages of the documentation, with their pictures and formulas, in the window's colours."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import (
    QColor,
    QDesktopServices,
    QGuiApplication,
    QImage,
    QPainter,
    QPalette,
    QResizeEvent,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QFrame, QTextBrowser, QTextEdit

from fairdesk.files import documentation
from fairdesk.gui.kit import theme
from fairdesk.manual import terms
from fairdesk.manual.html import Rendered, rendered
from fairdesk.manual.pages import pages
from fairdesk.manual.places import TERMS
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
