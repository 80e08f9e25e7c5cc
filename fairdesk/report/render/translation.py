"""A finished report with its fixed texts in another language."""

from __future__ import annotations

from collections.abc import Callable, Collection

import msgspec

from fairdesk.document.blocks import Answer, Block, Fact, Facts, PairCard, Report
from fairdesk.wording.language import fixed_texts

#: Which texts of a block may be fixed ones. Cells, values, and what a person wrote, are not.
TEXTS: dict[str, tuple[str, ...]] = {
    "text": ("lead", "text"),
    "heading": ("text",),
    "statement": ("number", "sentence", "details", "label"),
    "callout": ("word", "text"),
    "grid": ("header", "caption", "note"),
    "chart": ("alt", "caption"),
    "pair": ("title", "detail", "first", "second"),
    "formula": ("name", "alt", "text"),
    "note": ("title", "text"),
}


def translated(report: Report, kept: Collection[str] = ()) -> Report:
    """Return a report with its fixed texts in the current language.

    Parameters
    ----------
    report : Report
        As it was made; its sentences with values are said in the language already.
    kept : collection of str
        Texts of the data and of the auditor: what looks just like one is left alone.
    """
    texts = fixed_texts()
    if not texts:
        return report

    def translate(text: str) -> str:
        return text if text in kept else texts.get(text, text)

    return msgspec.structs.replace(
        report,
        kind=translate(report.kind),
        promise=translate(report.promise),
        redacted=translate(report.redacted),
        cover=tuple(_fact(fact, translate) for fact in report.cover),
        sections=tuple(
            msgspec.structs.replace(
                section,
                title=translate(section.title),
                blocks=tuple(_block(block, translate) for block in section.blocks),
            )
            for section in report.sections
        ),
    )


def _fact(fact: Fact, translate: Callable[[str], str]) -> Fact:
    return Fact(translate(fact.name), fact.value, fact.exact)


def _block(block: Block, translate: Callable[[str], str]) -> Block:
    changes: dict[str, object] = {}
    for name in TEXTS.get(str(block.__struct_config__.tag), ()):
        held = getattr(block, name)
        changes[name] = translate(held) if isinstance(held, str) else tuple(map(translate, held))
    match block:
        case Facts():
            changes["facts"] = tuple(_fact(fact, translate) for fact in block.facts)
        case Answer():
            changes["question"] = translate(block.question)
            changes["said"] = _block(block.said, translate)
            changes["chart"] = None if block.chart is None else _block(block.chart, translate)
        case PairCard():
            changes["outcome"] = tuple(
                msgspec.structs.replace(row, name=translate(row.name)) for row in block.outcome
            )
    return msgspec.structs.replace(block, **changes)
