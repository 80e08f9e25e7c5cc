"""The report as plain text, for those who hear it and for whoever wants to search in it."""

from __future__ import annotations

from collections.abc import Iterator

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


def twin(report: Report) -> str:
    """Write a report's whole content as text: a line per sentence, cells parted by bars."""
    lines = [report.title, report.kind, f"{report.status}. {report.promise}".strip()]
    if report.board is not None:
        lines += ["", *board_lines(report.board), ""]
    lines += [f"{fact.name}: {fact.value}" for fact in report.cover]
    for number, section in enumerate(report.sections, start=1):
        lines += ["", f"{number}. {section.title}"]
        for block in section.blocks:
            lines += _lines(block)
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
