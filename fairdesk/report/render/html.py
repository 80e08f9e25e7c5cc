"""The report as one HTML file: it needs no network and runs nothing.

All texts are data to the template, which escapes them. Drawings and formulas are FairDesk's own,
and are let in element by element.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args
from xml.etree import ElementTree as ET

import msgspec

from fairdesk.document.blocks import Report, evidence_in, terms_in
from fairdesk.report.render.pdf import printable
from fairdesk.wording.language import FRAME, Evidence

if TYPE_CHECKING:
    from jinja2 import Template


#: Every formula by itself, in the order of their names.
_FLOWING = """
#import "formulas.typ": formulas
#for key in formulas.keys().sorted() { math.equation(block: true, formulas.at(key).body) }
"""
_PAGES = """
#import "formulas.typ": formulas
#set page(width: auto, height: auto, margin: 2pt, fill: none)
#for key in formulas.keys().sorted() {
  page(math.equation(block: true, formulas.at(key).body))
}
"""


def formula(key: str, alt: str) -> str:
    """Return a formula as MathML; empty where the look has none of that name."""
    from markupsafe import escape  # noqa: PLC0415 - comes with Jinja

    drawn = _formulas().get(key, "")
    return drawn.replace("<math", f'<math alttext="{escape(alt)}"', 1)


@cache
def formula_pictures() -> dict[str, bytes]:
    """Return all formulas by their keys as SVG, black on nothing."""
    return dict(zip(_names(), _compiled(_PAGES, "svg"), strict=True))


@cache
def _formulas() -> dict[str, str]:
    """Return all formulas as MathML, as typst writes it."""
    made = _compiled(_FLOWING, "html").decode()
    drawn = re.findall(r"<math.*?</math>", made, flags=re.DOTALL)
    return dict(zip(_names(), drawn, strict=True))


def _names() -> list[str]:
    source = (_LOOK / "formulas.typ").read_text(encoding="utf-8")
    return sorted(re.findall(r"^  ([a-z]+): \$", source, flags=re.MULTILINE))


def _compiled(source: str, kind: Any) -> Any:  # noqa: ANN401 - pages, or one file
    import typst  # noqa: PLC0415 - 80 MB that only a report needs

    # typst's stubs want both to be of one type
    folder: Any = _LOOK
    return typst.compile(source.encode(), root=folder, format=kind)


FORMAT, VERSION = "fairdesk-report", 1


def structured(report: Report) -> bytes:
    """Write a report as one JSON object: the same bytes for the same report.

    Its members are those of `fairdesk.document.blocks.Report`, with ``"format"`` and ``"version"``
    before them; a block has its kind in ``"type"``, and the manifest is an object, not a text.
    """
    content = {
        "format": FORMAT,
        "version": VERSION,
        **msgspec.structs.asdict(report),
        "manifest": msgspec.Raw(report.manifest.encode()),
    }
    return msgspec.json.format(msgspec.json.encode(content), indent=1)


_LOOK = Path(__file__).with_name("look")
_SVG = "{http://www.w3.org/2000/svg}"
#: What a drawing may be made of: nothing that runs, loads or leads anywhere.
_ELEMENTS = frozenset(
    ("svg", "g", "defs", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon")
) | frozenset(("text", "tspan", "pattern", "clipPath", "use", "symbol", "linearGradient", "stop"))
#: What a drawing says of itself: its figure says it instead.
_TOLD = frozenset(("title", "desc", "metadata"))
#: A reference to another element of the same drawing.
_REFERENCE = re.compile(r"(?<=url\(#)[^)]+(?=\))")
#: The styles are those below, by their fingerprint; nothing else is loaded or run.
_POLICY = (
    "default-src 'none'; style-src '{style}'; img-src data:; base-uri 'none'; form-action 'none'"
)
#: So much wider than the drawing is the room for it.
_ROOM = 1.06


def page(report: Report) -> str:
    """Make the HTML: the same text for the same report."""
    content: Any = printable(msgspec.to_builtins(report))
    used = evidence_in(report)
    style = (_LOOK / "page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    board = content["board"]
    if board is not None and board["chart"] is not None:
        board["drawing"] = _inline(board["chart"]["svg"], "board")
    sections = [_section(i, each) for i, each in enumerate(content["sections"], start=1)]
    return _template().render(
        report=content,
        sections=sections,
        places={each["key"]: each for each in _places(sections)},
        words=FRAME,
        marks=[kind for kind in get_args(Evidence) if kind and kind in used],
        terms=terms_in(report),
        draft=report.status != "Final",
        style=style,
        policy=_POLICY.format(style=f"sha256-{digest}"),
        manifest=base64.b64encode(report.manifest.encode()).decode(),
    )


def _places(sections: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the sections and headings that are referred to: each with its number and title."""
    for section in sections:
        headings = ({**each, "title": each["text"]} for each in section["headings"])
        yield from (each for each in (section, *headings) if each["key"])


@cache
def _template() -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415

    environment = Environment(
        loader=FileSystemLoader(_LOOK),
        autoescape=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    return environment.get_template("page.html.j2")


def _section(number: int, section: dict[str, Any]) -> dict[str, Any]:
    """Return each part of a section a number or a name that no other has."""
    blocks = [
        {**block, "id": f"part-{number}-{i}"} for i, block in enumerate(section["blocks"], start=1)
    ]
    headings = [block for block in blocks if block["type"] == "heading"]
    for i, heading in enumerate(headings, start=1):
        heading["number"] = f"{number}.{i}"
    for block in blocks:
        match block["type"]:
            case "chart":
                block["drawing"] = _inline(block["svg"], block["id"])
            case "formula":
                block["math"] = formula(block["key"], block["alt"])
    return {
        **section,
        "id": f"section-{number}",
        "number": number,
        "blocks": blocks,
        "headings": headings,
    }


def _inline(svg: str, name: str) -> str:
    """Make a drawing part of the page: named by its caption, told in the words below it.

    Raises
    ------
    ValueError
        When it holds what no drawing of FairDesk's does.
    """
    root = ET.fromstring(svg)  # noqa: S314 - our own drawings
    for parent in list(root.iter()):
        for child in list(parent):
            if isinstance(child.tag, str) and child.tag.removeprefix(_SVG) in _TOLD:
                parent.remove(child)
    for element in root.iter():
        element.tag = element.tag.removeprefix(_SVG)
        if element.tag not in _ELEMENTS:
            raise ValueError(f"a drawing holds <{element.tag}>")
        for key, value in list(element.attrib.items()):
            if key.startswith(("on", "{")) or key in ("href", "style"):
                if key != "href" or not value.startswith("#"):
                    raise ValueError(f"a drawing holds {key}={value}")
                element.set(key, f"#{name}-{value[1:]}")
            elif key == "id":
                element.set(key, f"{name}-{value}")
            else:
                element.set(key, _REFERENCE.sub(rf"{name}-\g<0>", value))
    for key in ("width", "height"):
        root.attrib.pop(key, None)
    # a reader's fonts may be wider than those that the drawing was measured with
    x, y, width, height = map(float, root.attrib["viewBox"].split())
    root.set("viewBox", f"{x:g} {y:g} {width * _ROOM:g} {height:g}")
    root.attrib |= {
        "role": "img",
        "aria-labelledby": name,
        "aria-describedby": f"{name}-words",
        "focusable": "false",
    }
    return ET.tostring(root, encoding="unicode")
