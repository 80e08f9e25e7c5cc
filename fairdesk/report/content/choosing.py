"""What of a report is shown, and what in its appendix: nearly every part can be dropped or added.

It is applied to the report itself, so that the PDF, the HTML file and the JSON hold the same. A
section goes by its key (``"results"``), a chart or table by its section's and its own
(``"results/course-1"``). What a reader needs in order to judge the rest stays whatever is chosen.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator

import msgspec

from fairdesk.audit.store.records import Choice, TemplateKey
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
from fairdesk.errors import ReportError

#: The appendix, as a section and as a part that can be omitted.
APPENDIX, APPENDIX_TITLE = "appendix", "Appendix: details"
#: What is counted when it moves, and what can move by itself.
_SHOWN = Grid | Chart | PairCard
_MOVABLE = Text | Grid | Chart | PairCard | Facts


def has_appendix(report: Report) -> bool:
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
    if not has_appendix(report):
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
        left_out = (*report.left_out, APPENDIX_TITLE)
        return msgspec.structs.replace(report, sections=tuple(sections), left_out=left_out)
    sections.append(Section(APPENDIX_TITLE, tuple(moved), fresh=True, key=APPENDIX))
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
    return f"{APPENDIX}-{section.key}"


#: What no report can do without: what was not measured, and how to check the rest.
_ALWAYS = frozenset(("limits", "card-caveats", "evidence"))
#: And what a final one cannot either.
_FINAL = frozenset(("card-figures",))
#: What the rule that a template follows asks for: these sections, with all that they hold.
_OF_TEMPLATES: dict[TemplateKey, frozenset[str]] = {
    "ll144": frozenset(("rates", "ll144", "ll144-data", "unknown")),
    "annex-iv": frozenset(("sign-off",)),
}
#: Of a long caption so much names a part.
_LONGEST = 90


class Part(msgspec.Struct, frozen=True):
    """Something that can be dropped or added.

    Attributes
    ----------
    key : str
        Its name in `fairdesk.audit.store.records.Choice`: of a section, or ``section/block``.
    title : str
        What it is called.
    section : str
        The title of its section.
    shown : bool
        Whether the report shows it.
    required : bool
        Whether it stays whatever is chosen.
    """

    key: str
    title: str
    section: str
    shown: bool
    required: bool


def parts(report: Report, choice: Choice) -> tuple[Part, ...]:
    """List what a report could hold, in its order.

    Parameters
    ----------
    report : Report
        The whole one: nothing dropped yet, with everything that can be added.
    """
    needed = required(report.template, final=report.status == "Final")
    found: dict[str, Part] = {}
    for section in report.sections:
        kept = section.key in needed
        gone = section.key in choice.left_out and not kept
        found[section.key] = Part(section.key, section.title, section.title, not gone, kept)
        for block, moves in divided(section):
            if isinstance(block, Grid | Chart) and block.key:
                key = f"{section.key}/{block.key}"
                gone_too = gone or (moves and APPENDIX in choice.left_out)
                stays = kept and not (block.optional or moves)
                shown = not gone_too and (stays or _shown(key, block, choice))
                part = Part(key, _title(block), section.title, shown, stays)
                found.setdefault(key, part)
    if has_appendix(report):
        key, title = APPENDIX, APPENDIX_TITLE
        found[key] = Part(key, title, title, key not in choice.left_out, required=False)
    return tuple(found.values())


def required(template: TemplateKey, *, final: bool) -> frozenset[str]:
    """Return the keys of the sections that stay, with their charts and tables."""
    return _ALWAYS | (_FINAL if final else frozenset()) | _OF_TEMPLATES.get(template, frozenset())


def settled(choice: Choice, *, final: bool) -> Choice:
    """Return the choice without the wish to drop what stays."""
    needed = required(choice.template, final=final)
    wanted = tuple(key for key in choice.left_out if key.partition("/")[0] not in needed)
    return msgspec.structs.replace(choice, left_out=wanted)


def check(known: Iterable[Part], choice: Choice, *, final: bool) -> None:
    """Check that what is dropped and added exists, and may be dropped.

    Raises
    ------
    ReportError
        When a key is unknown, or names what stays.
    """
    keys = {part.key: part for part in known}
    needed = required(choice.template, final=final)
    for key in (*choice.left_out, *choice.added):
        if key not in keys:
            near = difflib.get_close_matches(key, keys, n=4, cutoff=0.5) or list(keys)[:4]
            raise ReportError(
                f"The report has no part “{key}”.",
                why=f"Parts with similar names: {', '.join(near)}.",
                remedy="“fairdesk report AUDIT --list-parts” lists all of them.",
            )
    for key in choice.left_out:
        if key.partition("/")[0] in needed:
            raise ReportError(
                f"The part “{keys[key].title}” cannot be omitted from this report.",
                why=(
                    "Limitations and evidence stay in every report, the summary in every final "
                    "one, and in each type of report the tables that a rule requires."
                ),
                remedy=f"Keep “{key}” in the report.",
            )


def chosen(report: Report, choice: Choice, dropped: Collection[str] = ()) -> Report:
    """Return the report with what is wanted of it, and the names of what was dropped.

    Parameters
    ----------
    report : Report
        Of its sections, charts and tables all that may be shown.
    """
    names = [*dropped]
    kept: list[Section] = []
    for section in report.sections:
        if section.key in choice.left_out:
            names.append(section.title)
            continue
        blocks: list[Block] = []
        for block in section.blocks:
            if isinstance(block, Grid | Chart) and block.key:
                key = f"{section.key}/{block.key}"
                if not _shown(key, block, choice):
                    names += [_title(block)] if key in choice.left_out else []
                    continue
            blocks.append(block)
        if blocks or not section.blocks:
            kept.append(msgspec.structs.replace(section, blocks=tuple(without_empty(blocks))))
    return msgspec.structs.replace(
        report, sections=tuple(kept), left_out=tuple(dict.fromkeys(names))
    )


def _shown(key: str, block: Grid | Chart, choice: Choice) -> bool:
    return key not in choice.left_out and (not block.optional or key in choice.added)


def _title(block: Grid | Chart) -> str:
    title = block.caption or block.key
    return title if len(title) <= _LONGEST else f"{title[: _LONGEST - 1].rstrip()}…"
