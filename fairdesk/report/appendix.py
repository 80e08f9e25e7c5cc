"""The report's appendix: what its sections only refer to, for those who check or repeat them."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from fairdesk.document.blocks import (
    Block,
    Chart,
    Facts,
    Grid,
    Heading,
    PairCard,
    Report,
    Section,
    Text,
    without_empty,
)

#: The appendix, as a section and as a part that can be omitted.
KEY, TITLE = "appendix", "Appendix: details"
#: What is counted when it moves, and what can move by itself.
_SHOWN = Grid | Chart | PairCard
_MOVABLE = Text | Grid | Chart | PairCard | Facts


def has_any(report: Report) -> bool:
    """Return whether anything of a report belongs into the appendix."""
    return any(moves for section in report.sections for _, moves in divided(section))


def divided(section: Section) -> Iterator[tuple[Block, bool]]:
    """Yield the blocks of a section, each with whether it belongs into the appendix.

    A heading does where all below it does.
    """
    below = False
    for block in section.blocks:
        if isinstance(block, Heading):
            below = block.appended
        yield block, below or (isinstance(block, _MOVABLE) and block.appended)


def with_appendix(report: Report, *, omitted: bool) -> Report:
    """Return a report with what belongs into the appendix behind everything else, or omitted."""
    if not has_any(report):
        return report
    sections: list[Section] = []
    moved: list[Block] = []
    for section in report.sections:
        held = list(_moved(section))
        moved += held
        kept = list(without_empty([block for block, moves in divided(section) if not moves]))
        if held and not omitted:
            kept.append(Text("More in the appendix:", place=_place(section)))
        sections.append(msgspec.structs.replace(section, blocks=tuple(kept)) if held else section)
    if omitted:
        left_out = (*report.left_out, TITLE)
        return msgspec.structs.replace(report, sections=tuple(sections), left_out=left_out)
    sections.append(Section(TITLE, tuple(moved), fresh=True, key=KEY))
    return msgspec.structs.replace(report, sections=tuple(sections))


def _moved(section: Section) -> Iterator[Block]:
    """Yield what moves, each group below the headings that it was below."""
    below, said = "", None
    for block, moves in divided(section):
        if isinstance(block, Heading):
            below = block.text
        elif moves:
            title = f"{section.title}: {below}" if below else section.title
            if below.startswith(section.title):
                title = below
            if title != said:
                # the first one is where the section's own pages point to
                yield Heading(title, key="" if said else _place(section))
                said = title
            yield (
                msgspec.structs.replace(block, key=f"{section.key}/{block.key}")
                if isinstance(block, _SHOWN)
                else block
            )


def _place(section: Section) -> str:
    """Return the key of the place in the appendix where what is moved out of a section begins."""
    return f"{KEY}-{section.key}"
