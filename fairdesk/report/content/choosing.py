"""What of a report is shown: every section, chart and table can be dropped, and some added.

It is applied to the report itself, so that the PDF, the HTML file and the JSON hold the same. A
section goes by its key (``"results"``), a chart or table by its section's and its own
(``"results/course-1"``). What a reader needs in order to judge the rest stays whatever is chosen.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable

import msgspec

from fairdesk.audit.store.records import Choice, TemplateKey
from fairdesk.document.blocks import Block, Chart, Grid, Report, Section, without_empty
from fairdesk.errors import ReportError
from fairdesk.report import appendix

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
        for block, moves in appendix.divided(section):
            if isinstance(block, Grid | Chart) and block.key:
                key = f"{section.key}/{block.key}"
                gone_too = gone or (moves and appendix.KEY in choice.left_out)
                stays = kept and not (block.optional or moves)
                shown = not gone_too and (stays or _shown(key, block, choice))
                part = Part(key, _title(block), section.title, shown, stays)
                found.setdefault(key, part)
    if appendix.has_any(report):
        key, title = appendix.KEY, appendix.TITLE
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
