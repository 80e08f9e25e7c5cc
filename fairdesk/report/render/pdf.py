"""A report's content set as pages, by typst: the PDF, and pictures of its pages for a preview.

Everything looks the same on every machine: typst is given FairDesk's own fonts
(``resources/fonts``) and no others, unless a text has a character that none of them draws.
"""

from __future__ import annotations

import re
import threading
from datetime import datetime
from functools import cache
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import msgspec

from fairdesk.audit.store.records import Standard
from fairdesk.document.blocks import Report, evidence_in, terms_in
from fairdesk.files import resources
from fairdesk.report.render import logo
from fairdesk.wording.language import FRAME

if TYPE_CHECKING:
    from typst import Fonts


#: A text as `fairdesk.charts.svg` writes it, maybe in parts.
_TEXT = re.compile(r"<text ([^>]*)>(.*?)</text>")
_TAG = re.compile(r"<[^>]*>")
_ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')
#: What an SVG's text may hold: signs of the charts' own font, none of which depends on another.
#: Latin without loose accents, Greek, Cyrillic, punctuation and mathematical signs.
_PLAIN = re.compile(
    r"[\x00-\u02ff\u0370-\u052f\u1e00-\u200a\u2010-\u2027\u202f-\u205f\u20a0-\u20bf"
    r"\u2100-\u22ff\u2500-\u25ff\ufffd]*"
)


_LOOK = Path(__file__).with_name("look")
_MAIN = _LOOK / "report.typ"
#: The fonts of running text, of tables and headings, and of what is to be copied exactly; then
#: those of other scripts and signs, in the order in which they are asked. The last is typst's.
_FONTS = {"serif": "Source Serif 4", "sans": "Source Sans 3", "mono": "Source Code Pro"}
_OTHER_FONTS = (
    *("Source Sans 3", "Noto Sans Arabic", "Noto Sans Hebrew", "Noto Sans Devanagari"),
    *("Noto Sans Thai", "Noto Sans Bengali", "Noto Sans Tamil", "Noto Sans Armenian"),
    *("Noto Sans Georgian", "Droid Sans Fallback", "NanumSquare", "Noto Emoji"),
    "DejaVu Sans Mono",
)
#: Characters that nothing draws, that no SVG or standard allows, or that would only confuse what
#: stands around them: controls, invisible ones, private ones.
_UNPRINTABLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2060-\u206f\ud800-\uf8ff\ufdd0-\ufdef"
    r"\ufeff\ufff0-\ufffb\ufffe\uffff\U000e0000-\U0010ffff]"
)
#: Typst keeps what it computed, of a report half a gigabyte, for so many compilations that follow.
_KEPT_FOR = 10
#: Whether this process has set pages before.
_keeps = threading.Event()
_EVIDENCE = ("proven", "estimated", "observed", "example")
#: Width and height in points.
_SIZES: dict[str, tuple[float, float]] = {"a4": (595.28, 841.89), "us-letter": (612.0, 792.0)}


class Letters(msgspec.Struct, frozen=True):
    """A text on a drawing.

    Attributes
    ----------
    x, y : float
        Where it starts, ends or has its middle, and its base line; in the drawing's units.
    text : str
        What it says.
    anchor : str
        ``"start"``, ``"middle"`` or ``"end"``.
    fill, weight : str
        Its colour, ``#rrggbb``, and ``"normal"`` or ``"bold"``.
    """

    x: float
    y: float
    text: str
    anchor: str
    fill: str
    weight: str


def parted(svg: str) -> tuple[str, tuple[Letters, ...]]:
    """Return a chart without the texts that typst could not draw, and these.

    Returns
    -------
    str
        The chart without them.
    tuple[Letters, ...]
        The texts.
    """
    letters = []

    def kept(found: re.Match[str]) -> str:
        text = unescape(_TAG.sub("", found[2]))
        if _PLAIN.fullmatch(text):
            return found[0]
        attributes = dict(_ATTRIBUTE.findall(found[1]))
        letters.append(
            Letters(
                float(attributes["x"]),
                float(attributes["y"]),
                text,
                attributes.get("text-anchor", "start"),
                attributes.get("fill", "#000000"),
                attributes.get("font-weight", "normal"),
            )
        )
        return ""

    return _TEXT.sub(kept, svg), tuple(letters)


class Document(NamedTuple):
    """A PDF.

    Attributes
    ----------
    content : bytes
        The file.
    standard : Standard
        What it keeps.
    remark : str
        Why that is less than was asked for, a sentence; empty when it is not.
    """

    content: bytes
    standard: Standard
    remark: str = ""


def pdf(report: Report, standard: Standard = "ua-1+a-3a") -> bytes:
    """Make the PDF: the same bytes for the same report."""
    return document(report, standard).content


def document(report: Report, standard: Standard = "ua-1+a-3a") -> Document:
    """Make the PDF, and tell what it keeps.

    A text with a character that FairDesk's fonts lack is set with the system's as well. Where those
    lack it too, nothing is left out, but the standards, which ask for a glyph for every character,
    cannot be kept; the document says so itself.
    """
    import typst  # noqa: PLC0415 - 80 MB that only a report needs

    _forget_earlier()
    # a reader is told what a file could not keep: PDF/UA-1 and PDF/A-3a
    wanted: list[Any] = [] if standard == "none" else standard.split("+")
    named = " and ".join(f"PDF/{each[:-2].upper()}{each[-2:]}" for each in wanted)
    remark = FRAME["unkept"].format(standard=named)
    attempts: tuple[tuple[bool, Standard, str], ...] = (
        (False, standard, ""),
        (True, standard, ""),
        (True, "none", remark),
    )
    for system_fonts, kept, attempt in attempts:
        try:
            content = typst.compile(
                _MAIN,
                root=_LOOK,
                font_paths=_fonts(system=system_fonts),
                sys_inputs=_inputs(report, standard, attempt),
                pdf_standards=[] if kept == "none" else wanted,
                timestamp=datetime.fromisoformat(report.moment),
            )
        except typst.TypstError as error:
            # so begins what a standard does not allow: nearly always a character without a glyph
            if kept == "none" or not error.message.startswith("PDF/"):
                raise
        else:
            return Document(content, kept, attempt)
    raise AssertionError("the last attempt returns or raises")


class Preview:
    """A report's pages to look at, and where in it everything stands.

    Setting the pages takes about as long as making the PDF, and each picture some hundredths of a
    second: do both outside of the window's thread. Typst draws all pages at once; so ask for small
    pictures first. Only the first call sets the pages, the later ones just draw them. It can be
    asked in any thread, and by several: they wait for each other.
    """

    def __init__(self, report: Report) -> None:
        import typst  # noqa: PLC0415 - 80 MB that only a report needs

        _forget_earlier()
        self._report = report
        self._busy = threading.Lock()
        self._compiler = typst.Compiler(
            _MAIN,
            root=_LOOK,
            font_paths=_fonts(system=True),
            sys_inputs=_inputs(report, "ua-1+a-3a", ""),
        )

    @property
    def size(self) -> tuple[float, float]:
        """The width and height of every page, in points."""
        return _SIZES[self._report.paper]

    def pictures(self, scale: float = 1.0) -> list[bytes]:
        """Draw every page as PNG, with so many pixels to a point."""
        with self._busy:
            drawn = self._compiler.compile(format="png", ppi=72.0 * scale)
        return drawn if isinstance(drawn, list) else [drawn] if drawn else []

    def places(self) -> dict[str, int]:
        """Return on which page things stand, from 1.

        Returns
        -------
        dict[str, int]
            By the key of a section, and by ``"section/block"`` of a table, chart or pair. What is
            set in the text of one page and goes on to others stands on the first.
        """
        with self._busy:
            found = self._compiler.query("<place>", field="value")
        return {one.key: one.page for one in msgspec.json.decode(found, type=list[_Place])}


class _Place(msgspec.Struct, frozen=True):
    key: str
    page: int


@cache
def _fonts(*, system: bool) -> Fonts:
    """Read which fonts there are, once: the system's only if need be."""
    import typst  # noqa: PLC0415 - 80 MB that only a report needs

    return typst.Fonts(include_system_fonts=system, font_paths=[resources() / "fonts"])


def _forget_earlier() -> None:
    """Let typst give up what it keeps of earlier reports, which it would not use again.

    It has no call for that: it counts compilations, so these are of nothing, in 10 ms each.
    """
    import typst  # noqa: PLC0415 - 80 MB that only a report needs

    for _ in range(_KEPT_FOR + 1 if _keeps.is_set() else 0):
        typst.compile(b"", font_paths=_fonts(system=False))
    _keeps.set()


def _inputs(report: Report, standard: Standard, remark: str) -> dict[str, str]:
    """Return typst its inputs: the report, and what is told around it."""
    words = FRAME
    attached = standard != "a-2a"
    used = evidence_in(report)
    left_out = words["left out"].format(parts="; ".join(report.left_out))
    remarks = (left_out if report.left_out else "", "" if attached else words["unattached"], remark)
    draft = report.status != "Final"
    setting = {
        "words": words,
        "fonts": {**_FONTS, "others": _OTHER_FONTS},
        "draft": draft,
        "status": words["Draft" if draft else "Final"],
        "standing": words["unsigned" if draft else "Final"],
        "marks": [kind for kind in _EVIDENCE if kind in used],
        "terms": terms_in(report),
        "remarks": [one for one in remarks if one],
        "attached": attached,
        "mark": (resources() / "icons" / "fairdesk.svg").read_text(encoding="utf-8"),
        "logo": logo.drawing(report.logo) if report.logo else "",
    }
    return {
        "report": msgspec.json.encode(_content(report)).decode(),
        "setting": msgspec.json.encode(printable(setting)).decode(),
    }


def _content(report: Report) -> object:
    """Return a report as plain data; a chart with its texts that typst cannot draw beside it."""
    content: dict[str, Any] = msgspec.to_builtins(report)
    blocks = [block for section in content["sections"] for block in section["blocks"]]
    for block in (*blocks, *([content["board"]] if content["board"] else [])):
        chart = block.get("chart") if block["type"] == "board" else block
        if chart is not None and "svg" in chart:
            chart["svg"], letters = parted(printable(chart["svg"]))
            chart["letters"] = msgspec.to_builtins(letters)
    return printable(content)


@overload
def printable(value: str) -> str: ...
@overload
def printable(value: object) -> object: ...
def printable(value: object) -> object:
    """Replace characters that cannot be printed, in all texts of plain data, by a sign for them."""
    if isinstance(value, str):
        return _UNPRINTABLE.sub("\ufffd", value)
    if isinstance(value, list | tuple):
        return [printable(one) for one in value]
    if isinstance(value, dict):
        return {key: printable(one) for key, one in value.items()}
    return value
