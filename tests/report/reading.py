"""A report's words as its reader meets them, without its look: for tests of what it says."""

import re

import msgspec

from fairdesk.document.blocks import Facts, Heading
from fairdesk.report.content import choosing
from fairdesk.report.document import make_report
from tests import phrases

#: What is not read, or was read before.
_MUTE = frozenset(
    (
        *("type", "lead", "svg", "key", "optional", "evidence", "place", "widths", "right"),
        *("exact", "changed", "url", "appended"),
    )
)


def words_of(report):
    """Return all words in one line, sections and their headings numbered as on the pages."""
    told = [report.kind, report.title, *map(_said, report.cover), report.promise]
    for number, section in enumerate(report.sections, start=1):
        told.append(f"{number} {section.title}")
        under = 0
        for block in section.blocks:
            if isinstance(block, Heading):
                under += 1
                told.append(f"{number}.{under}")
            told.append(_said(block))
    return re.sub(r"\s+", " ", " ".join(told).replace("\u00a0", " "))


def missing_of(report):
    """Return the labels of the fields that a draft names as empty, on the cover too."""
    blocks = [block for section in report.sections for block in section.blocks]
    facts = [
        *report.cover,
        *(one for each in blocks if isinstance(each, Facts) for one in each.facts),
    ]
    named = (
        fact.value.removesuffix(f". {phrases.FILL_IN}")
        for fact in facts
        if fact.name in (phrases.MISSING, phrases.MISSING_REQUIRED)
    )
    return {label for each in named for label in each.split("; ")}


def text_of(store, choice=None):
    return words_of(make_report(store, choice))


def section_of(report, key):
    """Return a section by its key."""
    return next(each for each in report.sections if each.key == key)


def whole_section(report, key):
    """Return a section by its key, with what of it is in the appendix behind it."""
    section = section_of(report, key)
    blocks, mine = [*section.blocks], False
    for block in next((e.blocks for e in report.sections if e.key == choosing.APPENDIX), ()):
        if isinstance(block, Heading):
            mine = block.text.startswith(section.title)
        if mine:
            blocks.append(
                msgspec.structs.replace(block, key=block.key.removeprefix(f"{key}/"))
                if hasattr(block, "key")
                else block
            )
    return msgspec.structs.replace(section, blocks=tuple(blocks))


def blocks_of(section, kind):
    """Return the blocks of one kind, by its name."""
    return [each for each in section.blocks if type(each).__name__ == kind]


def _said(node):
    if node is None:
        return ""
    if isinstance(node, msgspec.Struct):
        node = msgspec.to_builtins(node)
    if isinstance(node, dict):
        told = [node.get("lead", ""), *(each for name, each in node.items() if name not in _MUTE)]
        return " ".join(map(_said, told))
    return " ".join(map(_said, node)) if isinstance(node, list | tuple) else str(node)
