"""What window and report show, before it has a look: each renderer draws each kind of block.

Everything in a block is plain data. No text is read as markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import msgspec

from fairdesk.audit.store.records import Paper as PaperKey
from fairdesk.audit.store.records import TemplateKey
from fairdesk.charts.shapes import Laid, Marked, Paper
from fairdesk.wording import language
from fairdesk.wording.language import Evidence


class Text(msgspec.Struct, frozen=True, tag="text"):
    """A paragraph; ``lead`` are its first words, set in bold.

    ``place`` is the key of a heading that it refers to, where that is. ``appended``: whether it is
    in the appendix.
    """

    text: str
    lead: str = ""
    place: str = ""
    appended: bool = False


class Heading(msgspec.Struct, frozen=True, tag="heading"):
    """A heading inside a section; listed in the contents.

    ``appended``: whether all below it, up to the next heading, is in the appendix. ``key``: by
    which a paragraph refers to it.
    """

    text: str
    appended: bool = False
    key: str = ""


class Statement(msgspec.Struct, frozen=True, tag="statement"):
    """One finding: its number large with the name of the figure, a sentence, more lines small.

    ``evidence`` is what it rests on, ``place`` the key of the section that tells more, or of
    a block in it (``"pairs/pair-3"``), ``label`` the name of the figure. Without a
    figure ``number`` is empty.
    """

    number: str
    sentence: str
    details: tuple[str, ...] = ()
    evidence: Evidence = ""
    place: str = ""
    label: str = ""


def stated(said: language.Statement, details: Sequence[str] = (), *, place: str = "") -> Statement:
    """Set a statement of the wording; empty details are left out."""
    small = tuple(filter(None, details))
    return Statement(said.value, said.sentence, small, said.evidence, place, said.label)


class Callout(msgspec.Struct, frozen=True, tag="callout"):
    """A paragraph that must not be missed, with a word that says what it is."""

    word: str
    text: str


class Fact(msgspec.Struct, frozen=True):
    """A name and its value; ``exact`` values (hashes, paths) are set in a fixed-width type."""

    name: str
    value: str
    exact: bool = False


class Facts(msgspec.Struct, frozen=True, tag="facts"):
    """Names with their values; ``appended`` when they are in the appendix."""

    facts: tuple[Fact, ...]
    appended: bool = False


class Grid(msgspec.Struct, frozen=True, tag="grid"):
    """A table.

    Attributes
    ----------
    header : tuple[str, ...]
        Repeated on every page.
    rows : tuple[tuple[str, ...], ...]
        As many cells each as the header has.
    widths : tuple[float, ...]
        Relative; 0 is as wide as the content needs.
    right : tuple[int, ...]
        The columns of numbers, set flush right.
    caption : str
        What the table shows.
    key : str
        Its name within its section, by which it is dropped or added; see
        `fairdesk.report.content.choosing`.
    optional : bool
        Whether it is shown only when it is asked for.
    evidence : str
        What it rests on.
    appended : bool
        Whether it is in the appendix.
    note : str
        What its marks mean, and who is not in it; it follows the caption.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    widths: tuple[float, ...]
    right: tuple[int, ...] = ()
    caption: str = ""
    key: str = ""
    optional: bool = False
    evidence: Evidence = ""
    appended: bool = False
    note: str = ""


class Drawing(Protocol):
    """A description of a chart, of `fairdesk.charts.kinds`."""

    def alt(self) -> str:
        """Return it in words."""

    def lay_out(self, paper: Paper, marked: Marked = ..., /) -> Laid:
        """Put everything in its place."""


class Chart(msgspec.Struct, frozen=True, tag="chart"):
    """A chart as a description, which its renderer lays out; the rest as in `Grid`.

    Attributes
    ----------
    alt : str
        The same in words.
    drawing : Drawing, optional
        The description; ``None`` once it is drawn for a file.
    svg : str
        The drawing for a file; empty before.
    """

    alt: str
    caption: str
    drawing: Any = None
    svg: str = ""
    key: str = ""
    optional: bool = False
    evidence: Evidence = ""
    appended: bool = False


class Tile(msgspec.Struct, frozen=True):
    """A number that stands large, and what it counts in words."""

    number: str
    text: str


class Listed(msgspec.Struct, frozen=True):
    """Sentences below a title."""

    title: str
    items: tuple[str, ...]


class Board(msgspec.Struct, frozen=True, tag="board"):
    """The page for those who decide: what was asked, the answer, and what is to be decided.

    Attributes
    ----------
    question, answer : str
        The question of the audit in words, and its answer in one or two sentences.
    tiles : tuple[Tile, ...]
        At most three numbers.
    chart : Chart, optional
        One chart.
    lists : tuple[Listed, ...]
        What is known, what is not known, and what has to be decided.
    """

    question: str
    answer: str
    tiles: tuple[Tile, ...] = ()
    chart: Chart | None = None
    lists: tuple[Listed, ...] = ()


class PairRow(msgspec.Struct, frozen=True):
    """An attribute of both instances; ``changed`` when they differ in it.

    ``nearest`` is the value of the nearest data row; ``strays`` when it is not the first one's.
    """

    name: str
    first: str
    second: str
    changed: bool
    nearest: str = ""
    strays: bool = False


class PairCard(msgspec.Struct, frozen=True, tag="pair"):
    """A pair side by side.

    Attributes
    ----------
    title, detail, note : str
        Which finding it is; how it came about; what the auditor noted.
    first, second, nearest : str
        What the two instances are called, and the nearest data row, where that is shown.
    rows : tuple[PairRow, ...]
        Their attributes.
    outcome : tuple[PairRow, ...]
        What the model answered, set below.
    key : str
        Its name within its section, by which a preview finds it.
    appended : bool
        Whether it is in the appendix.
    """

    title: str
    detail: str
    note: str
    first: str
    second: str
    rows: tuple[PairRow, ...]
    outcome: tuple[PairRow, ...]
    key: str = ""
    appended: bool = False
    nearest: str = ""


class Formula(msgspec.Struct, frozen=True, tag="formula"):
    """A quantity of the report: its formula (a key of the template's), and what it means."""

    key: str
    name: str
    alt: str
    text: str


class Code(msgspec.Struct, frozen=True, tag="code"):
    """Lines to be copied exactly."""

    text: str


class Note(msgspec.Struct, frozen=True, tag="note"):
    """What a rule or a standard says: its name, when it was read, the statement, and its source."""

    title: str
    dated: str
    text: str
    source: str
    url: str


class SignatureLine(msgspec.Struct, frozen=True, tag="signature"):
    """A line to sign on, with the name, role and date of who signs."""

    name: str
    role: str
    date: str


def chart_block(
    drawing: Drawing,
    caption: str = "",
    *,
    alt: str = "",
    key: str = "",
    optional: bool = False,
    evidence: Evidence = "",
    appended: bool = False,
) -> Chart:
    """Return the block of a chart; ``alt`` describes it in other words than its own."""
    described = alt or drawing.alt()
    return Chart(described, caption, drawing, "", key, optional, evidence, appended)


Block = (
    Text
    | Heading
    | Statement
    | Callout
    | Facts
    | Grid
    | Chart
    | PairCard
    | Formula
    | Code
    | Note
    | SignatureLine
)


def appended(block: Block) -> Block:
    """Return a text, a table, a chart, a pair or facts as of the appendix; others as they are."""
    if isinstance(block, Text | Grid | Chart | PairCard | Facts):
        return msgspec.structs.replace(block, appended=True)
    return block


class Section(msgspec.Struct, frozen=True):
    """A numbered part of the report. Starts on a new page when ``fresh``.

    ``key`` is its chapter's, filled in by `fairdesk.report.document`.
    """

    title: str
    blocks: tuple[Block, ...]
    fresh: bool = False
    key: str = ""


class Report(msgspec.Struct, frozen=True):
    """A whole report.

    Attributes
    ----------
    title, header : str
        The audit's title; the same, cut to fit the top of a page.
    kind : str
        What the document is.
    status : str
        ``"Draft"`` or ``"Final"``; a draft says so on every page.
    identity : str
        The audit's id, on every page.
    cover : tuple[Fact, ...]
        What stands on the first page.
    promise : str
        The sentence below them: what this document can show.
    sections : tuple[Section, ...]
        The rest.
    manifest : str
        JSON, attached to the document.
    template, paper : str
        As in `fairdesk.audit.store.records.Choice`.
    moment : str
        The time that it bears: of the newest thing that changed the audit; UTC, ISO 8601.
    author : str
        Who made the audit, for the document's information; empty when that is not told.
    redacted : str
        What was left out of single people, a sentence; empty for nothing.
    left_out : tuple[str, ...]
        What the auditor left out, by name.
    logo : str
        A picture for the cover, as a data URI; empty for none.
    caveat : str
        What every page says of how the model is fed; empty for nothing.
    board : Board, optional
        The first page.
    """

    title: str
    header: str
    kind: str
    status: str
    identity: str
    cover: tuple[Fact, ...]
    promise: str
    sections: tuple[Section, ...]
    manifest: str
    template: TemplateKey = "plain"
    paper: PaperKey = "a4"
    moment: str = ""
    author: str = ""
    redacted: str = ""
    left_out: tuple[str, ...] = ()
    logo: str = ""
    caveat: str = ""
    board: Board | None = None


def evidence_in(report: Report) -> set[str]:
    """Return what the statements, tables and charts of a report rest on."""
    held = (block for section in report.sections for block in section.blocks)
    return {each.evidence for each in held if isinstance(each, Statement | Grid | Chart)}


def terms_in(report: Report) -> list[str]:
    """Return which of the abbreviations that are explained a report uses: CI and p."""
    text = str(msgspec.to_builtins(report.sections))
    return [term for term in ("CI", "p") if re.search(rf"(?<![\w.-]){term}(?![\w.-])", text)]


def without_empty(blocks: Sequence[Block]) -> Iterator[Block]:
    """Yield the blocks without headings below which nothing is left."""
    for i, block in enumerate(blocks):
        last = i + 1 == len(blocks)
        if isinstance(block, Heading) and (last or isinstance(blocks[i + 1], Heading)):
            continue
        yield block
