"""The files of an overview: a table, JSON, and pages to read or print."""

from __future__ import annotations

from pathlib import Path

import msgspec

from fairdesk.answers.answer import Question
from fairdesk.app.portfolio.overview import Audited, Overview
from fairdesk.document.blocks import Report
from fairdesk.report.export.tables import write_rows
from fairdesk.report.render import html, pdf
from fairdesk.report.writing import replacing

#: What an overview is written as.
FILES = ("overview.csv", "overview.json", "overview.html", "overview.pdf")
_PARTS = ("value", "label", "evidence")
_HEADER = (
    *("name", "state", "reason", "headline"),
    *(f"{question.value}_{part}" for question in Question for part in _PARTS),
    *("file", "sha256"),
)


def write_overview(found: Overview, report: Report, folder: Path) -> tuple[Path, ...]:
    """Write an overview into the folder of its portfolio; return the files.

    The same audit files give the same overview, byte for byte.

    Raises
    ------
    ReportError
        When a file cannot be written.
    """
    paths = tuple(folder / name for name in FILES)
    write_rows(paths[0], _HEADER, map(_row, found.audits))
    contents = (
        msgspec.json.format(msgspec.json.encode(found), indent=1),
        html.page(report).encode(),
        pdf.pdf(report),
    )
    for path, content in zip(paths[1:], contents, strict=True):
        with replacing(path) as draft:
            draft.write_bytes(content)
    return paths


def _row(audit: Audited) -> list[str]:
    """Return an audit's row: the figure, its name and its evidence for each question."""
    answers = {each.question: each for each in audit.answers}
    cells = (
        getattr(answers[question.value], part) if question.value in answers else ""
        for question in Question
        for part in _PARTS
    )
    own = (audit.name, audit.state, audit.reason, audit.headline)
    return [*own, *cells, audit.file, audit.sha256]
