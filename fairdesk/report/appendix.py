"""The report's appendix: tables, charts and pairs that its sections only refer to."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from fairdesk.report.blocks import (
    Block,
    Chart,
    Grid,
    Heading,
    PairCard,
    Report,
    Section,
    Text,
    without_empty,
)
from fairdesk.wording import words
from fairdesk.wording.language import fixed, say, say_many

#: The appendix, as a section and as a part that can be omitted.
KEY, TITLE = "appendix", fixed("Appendix: tables and charts")


def has_any(report: Report) -> bool:
    """Return whether anything of a report belongs into the appendix."""
    return any(_moves(block) for section in report.sections for block in section.blocks)


def with_appendix(report: Report, *, omitted: bool) -> Report:
    """Return a report with what belongs into the appendix behind everything else, or omitted.

    Parameters
    ----------
    report : Report
        With everything in its section.
    omitted : bool
        Whether the auditor leaves the appendix out.
    """
    if not has_any(report):
        return report
    sections: list[Section] = []
    moved: list[Block] = []
    number = len(report.sections) + 1
    for section in report.sections:
        held = list(_moved(section))
        if not held:
            sections.append(section)
            continue
        moved += held
        count = sum(map(_moves, section.blocks))
        kept = [block for block in section.blocks if not _moves(block)]
        if not omitted:
            kept.append(Text(_pointer(count, number)))
        blocks = tuple(without_empty(kept))
        sections.append(msgspec.structs.replace(section, blocks=blocks))
    if omitted:
        left_out = (*report.left_out, say(TITLE))
        return msgspec.structs.replace(report, sections=tuple(sections), left_out=left_out)
    sections.append(Section(say(TITLE), tuple(moved), fresh=True, key=KEY))
    return msgspec.structs.replace(report, sections=tuple(sections))


def _moves(block: Block) -> bool:
    return isinstance(block, Grid | Chart | PairCard) and block.appended


def _moved(section: Section) -> Iterator[Block]:
    """Yield what moves, each group below the headings that it stood below."""
    below, said = "", None
    for block in section.blocks:
        if isinstance(block, Heading):
            below = block.text
        elif isinstance(block, Grid | Chart | PairCard) and block.appended:
            title = f"{section.title}: {below}" if below else section.title
            if title != said:
                said = title
                yield Heading(title)
            yield msgspec.structs.replace(block, key=f"{section.key}/{block.key}")


def _pointer(count: int, number: int) -> str:
    return say_many(
        count,
        "{n} more table or chart is in section {place}.",
        "{n} more tables and charts are in section {place}.",
        place=words.number(number),
    )
