"""A report's content set as pages, by typst: the PDF, and pictures of its pages for a preview."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from fairdesk.audit.details import Standard
from fairdesk.report.blocks import Report

if TYPE_CHECKING:
    from typst import PDFStandard

_TEMPLATE = Path(__file__).with_name("template.typ")
#: A-3 alone allows the manifest to be attached.
_STANDARDS: dict[Standard, list[PDFStandard]] = {
    "ua-1+a-3a": ["ua-1", "a-3a"],
    "ua-1": ["ua-1"],
    "a-3a": ["a-3a"],
    "a-2a": ["a-2a"],
    "none": [],
}
#: Characters that no font draws and no SVG may hold.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]")


def pdf(report: Report, standard: Standard = "ua-1+a-3a") -> bytes:
    """Make the PDF: the same bytes for the same report."""
    import typst  # noqa: PLC0415 - 80 MB that only a report needs

    wanted = _STANDARDS[standard]
    attempts: tuple[tuple[bool, list[PDFStandard]], ...] = (
        (True, wanted),
        (False, wanted),
        (False, []),
    )
    for own_fonts_only, standards in attempts:
        try:
            return typst.compile(
                _TEMPLATE,
                root=_TEMPLATE.parent,
                ignore_system_fonts=own_fonts_only,
                sys_inputs=_inputs(report),
                pdf_standards=standards,
                timestamp=datetime.fromisoformat(report.moment),
            )
        except typst.TypstError as error:
            # the standards ask for a glyph for every character
            if not standards or "could not be displayed" not in error.message:
                raise
    raise AssertionError("the last attempt returns or raises")


def pictures(report: Report) -> list[bytes]:
    """Draw every page as SVG, for a preview."""
    import typst  # noqa: PLC0415 - 80 MB that only a report needs

    compiler = typst.Compiler(_TEMPLATE, root=_TEMPLATE.parent, sys_inputs=_inputs(report))
    drawn: list[bytes] | bytes | None = compiler.compile(format="svg")
    return drawn if isinstance(drawn, list) else [drawn] if drawn else []


def _inputs(report: Report) -> dict[str, str]:
    return {"report": msgspec.json.encode(printable(msgspec.to_builtins(report))).decode()}


def printable(value: object) -> object:
    """Replace characters that cannot be printed, in all texts of plain data, by a sign for them."""
    if isinstance(value, str):
        return _UNPRINTABLE.sub("\ufffd", value)
    if isinstance(value, list | tuple):
        return [printable(one) for one in value]
    if isinstance(value, dict):
        return {key: printable(one) for key, one in value.items()}
    return value
