"""The right of the Report page: its pages, where one is in them, and the same as text."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QPlainTextEdit,
    QWidget,
)

from fairdesk.audit.store.store import Store
from fairdesk.document.blocks import (
    Block,
    Board,
    Callout,
    Chart,
    Code,
    Facts,
    Formula,
    Grid,
    Heading,
    Note,
    PairCard,
    Report,
    SignatureLine,
    Statement,
    Text,
)
from fairdesk.errors import FairDeskError
from fairdesk.gui.kit import fields, layouts, parts, theme
from fairdesk.gui.kit.keys import shortcut
from fairdesk.gui.kit.threads import Latest
from fairdesk.gui.workspace.report.draft import read_state
from fairdesk.gui.workspace.report.paper_view import FIT, ZOOMS, PagesView
from fairdesk.gui.workspace.session.session import Session
from fairdesk.report.document import make_report
from fairdesk.report.render.pdf import Preview
from fairdesk.wording import words


def twin(report: Report) -> str:
    """Write a report's whole content as text: a line per sentence, cells parted by bars."""
    lines = [report.title, report.kind, f"{report.status}. {report.promise}".strip()]
    if report.board is not None:
        lines += ["", *board_lines(report.board), ""]
    lines += [f"{fact.name}: {fact.value}" for fact in report.cover]
    for number in range(1, len(report.sections) + 1):
        lines += ["", section_text(report, number)]
    return "\n".join(lines)


def section_text(report: Report, number: int) -> str:
    """Write one section, by its number from 1, as text."""
    section = report.sections[number - 1]
    lines = [f"{number}. {section.title}"]
    for block in section.blocks:
        lines += _lines(block)
    return "\n".join(lines)


def board_lines(board: Board) -> Iterator[str]:
    """Write the board page as text."""
    yield from (board.question, board.answer)
    yield from (f"{tile.number} {tile.text}" for tile in board.tiles)
    yield from [] if board.chart is None else [f"Chart: {board.chart.alt}"]
    for listed in board.lists:
        yield from (f"{listed.title}:", *listed.items)


def _lines(block: Block) -> Iterator[str]:
    match block:
        case Text():
            yield f"{block.lead} {block.text}".strip()
        case Heading():
            yield from ("", block.text)
        case Statement():
            label = f"{block.label}: {block.number}. " if block.number else ""
            yield f"{label}{block.sentence}{_kind(block.evidence)}"
            yield from block.details
        case Callout():
            yield f"{block.word} {block.text}"
        case Facts():
            yield from (f"{fact.name}: {fact.value}" for fact in block.facts)
        case Grid():
            yield f"Table: {block.caption}{_kind(block.evidence)}"
            yield from (" | ".join(cells) for cells in (block.header, *block.rows))
        case Chart():
            yield f"Chart: {block.caption}{_kind(block.evidence)}. {block.alt}"
        case PairCard():
            yield from _pair(block)
        case Formula() | Code() | Note() | SignatureLine():
            yield _line(block)


def _line(block: Formula | Code | Note | SignatureLine) -> str:
    match block:
        case Formula():
            return f"{block.name}: {block.alt}. {block.text}"
        case Code():
            return block.text
        case Note():
            return f"{block.title} ({block.dated}): {block.text} {block.source} {block.url}".strip()
        case SignatureLine():
            return f"Signed: {block.name}, {block.role}, {block.date}"


def _pair(block: PairCard) -> Iterator[str]:
    yield f"{block.title}. {block.detail} {block.note}".strip()
    yield f"Attribute | {block.first} | {block.second}"
    for row in (*block.rows, *block.outcome):
        changed = " (changed)" if row.changed else ""
        yield f"{row.name} | {row.first} | {row.second}{changed}"


def _kind(evidence: str) -> str:
    return f" ({evidence})" if evidence else ""


#: Pixels to the inch that pages have at least: sharp where a page is read in a window's half.
_LEAST_RESOLUTION = 110.0
#: And at most: sharp at 200 % on a screen with two pixels in place of one.
_MOST_RESOLUTION = 400.0
#: Points of an inch.
_POINTS = 72


@dataclass(frozen=True)
class Made:
    """A report as it was at a moment.

    Attributes
    ----------
    report : Report
        Its content.
    setting : Preview
        Its pages as typst has set them, from which they are drawn again with other resolutions.
    pages : tuple[bytes, ...]
        A picture of each, as PNG.
    resolution : float
        Their pixels to the inch.
    places : dict[str, int]
        Which page, from 1, everything is on; see `fairdesk.report.render.pdf.Preview.places`.
    text : str
        The whole of it as plain text.
    changes : int
        How often the audit had been changed by then; see `report_draft.Told`.
    """

    report: Report
    setting: Preview
    pages: tuple[bytes, ...]
    resolution: float
    places: Mapping[str, int]
    text: str
    changes: int


def _set(report: Report, resolution: float, changes: int) -> Made:
    """Set the pages of a report, and draw them."""
    setting = Preview(report)
    wanted = possible(resolution)
    drawn = tuple(setting.pictures(wanted / _POINTS))
    return Made(report, setting, drawn, wanted, setting.places(), twin(report), changes)


def _drawn(made: Made, resolution: float) -> Made:
    """Draw the pages of the same report anew."""
    wanted = possible(resolution)
    return replace(made, pages=tuple(made.setting.pictures(wanted / _POINTS)), resolution=wanted)


def possible(resolution: float) -> float:
    """Return the resolution that pages get where this one is wanted."""
    return min(max(resolution, _LEAST_RESOLUTION), _MOST_RESOLUTION)


#: Milliseconds between a change in the form and new pages: some changes come in pairs.
_SETTLES = 600
#: Milliseconds that a wish for sharper pages waits for the next step of a zoom.
_SHARPENS = 250


class ReportPreview(QWidget):
    """Shows the report as it would be printed.

    Signals
    -------
    made
        `shown` is another.
    """

    made = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.shown: Made | None = None
        self._wanted: tuple[str, ...] = ()
        #: How often the audit was changed, when that was told last.
        self._changes = -1
        self._making = False
        self._read_text = ""
        self._session = session
        self._given_up = threading.Event()
        self._latest = Latest(self)
        self.pages = PagesView()
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setAccessibleName("The report as text")
        self.banner = parts.Banner()
        self.busy = parts.Busy(cancel=True)
        self.chip = parts.push_button("△ Out of date – refresh", self.refresh)
        self.chip.setAccessibleDescription("The audit has changed since these pages were made.")
        self.page = fields.whole(1, 99, 1, "Page of the report")
        self.contents = fields.choice(
            name="Contents of the report", letters=4, run=self._go_to_section
        )
        zooms = [
            ("Fit width" if zoom == FIT else f"{zoom:.0%}".replace("%", " %"), zoom)
            for zoom in ZOOMS
        ]
        self.zoom = fields.choice(zooms, "Zoom")
        self.as_text = parts.tool_button(
            "Text",
            tip="The same content as text, for screen readers and searching (T)",
            name="Show the report as text",
            checkable=True,
        )
        self._soon = QTimer(self, singleShot=True, interval=_SETTLES)
        self._sharpen = QTimer(self, singleShot=True, interval=_SHARPENS)
        self._lay_out()
        self._listen()
        self._tell_page()

    def refresh(self) -> None:
        """Make the pages anew, now."""
        self._soon.stop()
        self.banner.clear()
        self._making = True
        path, resolution = self._session.path, self.pages.resolution_wanted

        def make(given_up: threading.Event) -> Made | None:
            with Store.open(path) as store:
                changes = read_state(store).changes
                report = None if given_up.is_set() else make_report(store)
            if report is None or given_up.is_set():
                return None
            return _set(report, resolution, changes)

        self._ask(make)

    def _ask(self, make: Callable[[threading.Event], Made | None]) -> None:
        """Let an earlier wish go as soon as it can be, and make pages."""
        self._given_up.set()
        given_up = self._given_up = threading.Event()
        self._latest.ask(lambda: make(given_up), self._take, self._fail)

    def follow(self, changes: int) -> None:
        """Make the pages anew soon where the audit was changed, unless somebody is reading them."""
        anew, self._changes = changes != self._changes, changes
        shown = self.shown
        if shown is not None and shown.changes == changes:
            self._set_outdated(outdated=False)
            self._go_on()
        elif self._making:
            pass  # what comes of it is looked at when it is there
        elif self._wanted:
            self.refresh()
        elif shown is not None and self._read:
            self._set_outdated(outdated=True)
        elif anew:
            self._soon.start()

    def want(self, *places: str) -> None:
        """Go to the first of these keys that is there, once the pages are up to date."""
        self.as_text.setChecked(False)
        self._wanted = places

    def show_field(self, label: str) -> None:
        """Bring in sight where the report has what is filled in; the keyboard stays in the form."""
        if self.shown is None or self.as_text.isChecked():
            return
        self.pages.go_to(page_of_field(label, self.shown.report, self.shown.places))

    # Parts

    def _lay_out(self) -> None:
        self.page.setPrefix("Page ")
        self.page.setKeyboardTracking(False)
        self.contents.setPlaceholderText("Contents")
        bar = layouts.row(
            self.page, layouts.grow(self.contents), self.zoom, self.as_text, spacing=theme.NEAR
        )
        self._both = layouts.stack(self.pages, self.text)
        # over the pages, so that nothing moves when it comes and goes
        self._over = parts.Card(self.busy, self.chip, margin=theme.NEAR)
        over = layouts.row(layouts.stretch(), self._over, layouts.stretch(), margin=theme.WIDE)
        held = layouts.grid((self._both,), stretches=(1,))
        held.setRowStretch(0, 1)
        held.addLayout(over, 0, 0, Qt.AlignmentFlag.AlignBottom)
        layouts.column(bar, self.banner, layouts.grow(held), on=self, spacing=theme.NEAR)
        self.chip.hide()
        self._float()

    def _listen(self) -> None:
        self._latest.began.connect(lambda: self._work("Typesetting the pages…"))
        self._latest.ended.connect(lambda: self._work(""))
        self.busy.cancelled.connect(self._cancel)
        self._soon.timeout.connect(self.refresh)
        self._sharpen.timeout.connect(self._draw_sharper)
        self.pages.moved.connect(self._tell_page)
        self.pages.zoomed.connect(self._tell_zoom)
        self.pages.blurred.connect(self._sharpen.start)
        self.page.valueChanged.connect(self.pages.go_to)
        self.zoom.activated.connect(lambda _at: self.pages.set_zoom(self.zoom.currentData()))
        self.as_text.toggled.connect(self._turn)
        shortcut(self, "T", self.as_text.toggle, "Show the report as text")

    def _float(self) -> None:
        """Show what lies over the pages if it says anything."""
        self._over.setVisible(not (self.busy.isHidden() and self.chip.isHidden()))
        self._over.raise_()

    # What happens

    @property
    def _read(self) -> bool:
        """Whether somebody reads: then nothing may jump."""
        return self.pages.hasFocus() or self.text.hasFocus()

    def _work(self, text: str) -> None:
        self.busy.say(text)
        self._float()

    def _cancel(self) -> None:
        self._given_up.set()
        self._latest.drop()
        self._work("")
        self._wanted, self._making = (), False
        if self.shown is None:
            again = (("Make the pages", self.refresh),)
            self.banner.say("No pages were made.", "The typesetting was cancelled.", again)
        else:
            self._set_outdated(outdated=True)

    def _take(self, made: Made | None) -> None:
        if made is None:
            return
        self.shown, self._making = made, False
        self.pages.show_pages(made.pages, made.resolution)
        if self.as_text.isChecked():
            self._show_text(made)
        self._list_sections(made.report, made.places)
        self._tell_page()
        # the audit may have been changed meanwhile
        self._changes, changes = made.changes, max(self._changes, made.changes)
        self.follow(changes)
        self.made.emit()

    def _fail(self, error: FairDeskError) -> None:
        self._wanted, self._making = (), False
        self.banner.tell(error, (("Try again", self.refresh),))

    def _draw_sharper(self) -> None:
        shown = self.shown
        if shown is None or self._making:
            return
        # in steps: all pages are drawn at once, and twice as sharp takes four times as long
        wanted = possible(min(self.pages.resolution_wanted, 2 * shown.resolution))
        if wanted > shown.resolution:
            self._ask(lambda given_up: None if given_up.is_set() else _drawn(shown, wanted))

    def _set_outdated(self, *, outdated: bool) -> None:
        self.chip.setVisible(outdated)
        self._float()

    def _go_on(self) -> None:
        """Go to what was asked for while there were no pages yet."""
        wanted, self._wanted = self._wanted, ()
        if not wanted or self.shown is None:
            return
        found = (page_of(place, self.shown.places) for place in wanted)
        page = next(filter(None, found), 0)
        if page:
            self.banner.clear()
            self.pages.go_to(page)
            self.pages.setFocus()
        else:
            self.banner.say(
                "The report does not show this.",
                "Another type of report may show it, or it was omitted, or only some of many "
                "such items are shown: flagged pairs come first.",
            )

    def _list_sections(self, report: Report, places: Mapping[str, int]) -> None:
        """Offer the sections that are shown, each with its page and its number."""
        fields.offer(
            self.contents,
            (
                (
                    f"{number}. {section.title}",
                    (places[section.key], number),
                    f"{section.title}, page {places[section.key]}",
                )
                for number, section in enumerate(report.sections, start=1)
                if section.key in places
            ),
        )

    def _go_to_section(self) -> None:
        page, _number = self.contents.currentData()
        self.pages.go_to(page)
        # as text its title is the line
        cursor = self.text.document().find(self.contents.currentText())
        if self.as_text.isChecked() and not cursor.isNull():
            cursor.clearSelection()
            self.text.moveCursor(cursor.MoveOperation.End)
            self.text.setTextCursor(cursor)

    def _show_text(self, made: Made) -> None:
        if made.text != self._read_text:
            self._read_text = made.text
            position = self.text.verticalScrollBar().value()
            self.text.setPlainText(made.text)
            self.text.verticalScrollBar().setValue(position)

    def _turn(self, as_text: bool) -> None:  # noqa: FBT001 - Qt's signal
        if as_text and self.shown is not None:
            self._show_text(self.shown)
        self._both.setCurrentWidget(self.text if as_text else self.pages)
        for widget in (self.page, self.zoom):
            widget.setEnabled(not as_text and self.pages.count > 0)
        if not self.as_text.hasFocus():
            (self.text if as_text else self.pages).setFocus()

    def _tell_page(self) -> None:
        """Say which page is in sight, and in which section that is."""
        count, at = self.pages.count, self.pages.at
        for widget in (self.page, self.contents, self.zoom, self.as_text):
            widget.setEnabled(count > 0)
        self.page.setSuffix(f" of {words.number(count)}" if count else "")
        with QSignalBlocker(self.page):
            self.page.setMaximum(max(count, 1))
            self.page.setValue(max(at, 1))
        shown = self.shown
        if shown is None:
            return
        listed = [self.contents.itemData(i) for i in range(self.contents.count())]
        begun = [page for page, _number in listed]
        section = self.contents.currentIndex()
        if section < 0 or begun[section] != at:
            # the first that begins on this page, else the one that goes on
            section = begun.index(at) if at in begun else sum(page < at for page in begun) - 1
        with QSignalBlocker(self.contents):
            self.contents.setCurrentIndex(section)
        text = f"Page {at} of {count}."
        if section >= 0:
            text += f" {section_text(shown.report, listed[section][1])}"
        self.pages.say(text)

    def _tell_zoom(self) -> None:
        at = self.zoom.findData(self.pages.zoom)
        self.zoom.setCurrentIndex(at)


def page_of(place: str, places: Mapping[str, int]) -> int:
    """Return the page of something, 0 where the report does not show it.

    Parameters
    ----------
    place : str
        The key of a section, of a chart or table (``"results/course-1"``), or of a pair
        (``"pair-12"``), in whichever section that is.
    places : dict of str to int
        As `fairdesk.report.render.pdf.Preview.places` gives it.
    """
    if place in places:
        return places[place]
    return next((page for key, page in places.items() if key.endswith(f"/{place}")), 0)


def page_of_field(label: str, report: Report, places: Mapping[str, int]) -> int:
    """Return the page of the section that has a field, filled in or still named; else the cover."""
    for section in report.sections:
        facts = [fact for each in section.blocks if isinstance(each, Facts) for fact in each.facts]
        if any(fact.name == label or label in fact.value.split("; ") for fact in facts):
            return places.get(section.key, 1)
    return 1
