"""Fills in the forms of the sections that only one kind of report has (``*.toml`` beside this)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Final

from fairdesk.audit.verify.files import base_name
from fairdesk.document.blocks import Block, Callout, Fact, Facts, Heading, Section, Text
from fairdesk.report.content.material import Material
from fairdesk.report.content.passages import NO_ADVICE, TEMPLATES, Part, notes
from fairdesk.report.provenance import evidence
from fairdesk.report.sections import results, system
from fairdesk.report.templates import figures, ll144
from fairdesk.wording import words
from fairdesk.wording.decisions import favourable_text
from fairdesk.wording.language import say

#: Before what an audit for discrimination cannot tell; a line each.
_OUTSIDE: Final = "Not part of this audit:"
_NOTHING: Final = "No information was supplied."
#: Where a part stands only if this holds.
CONDITIONS: dict[str, Callable[[Material], object]] = {
    "": lambda _material: True,
    "decisions only": lambda material: material.spec.predictions,
    "a model": lambda material: not material.spec.predictions,
    "mitigations": lambda material: material.repairs,
    "results": results.statements,
    "groups": lambda material: words.grouping_names(material.spec.domain),
    "texts": lambda material: material.spec.domain.texts.size,
    **ll144.CONDITIONS,
}
#: What a name in braces stands for.
VALUES: dict[str, Callable[[Material], str]] = {
    "people": lambda material: material.people,
    "groups": lambda material: words.listed(words.grouping_names(material.spec.domain)),
    "texts": lambda material: words.listed(
        [material.spec.domain.names[i] for i in material.spec.domain.texts.tolist()]
    ),
    "hash": lambda material: (
        (material.spec.data if material.spec.predictions else material.spec.model).sha256
    ),
    **ll144.VALUES,
}
#: What is made of the audit's figures, by its name.
MAKERS: dict[str, Callable[[Material], Iterable[Block]]] = {
    **figures.MAKERS,
    **ll144.MAKERS,
    "results": results.statements,
}


def _protected(material: Material) -> Iterator[Fact]:
    name = "Protected" if material.spec.predictions else "Protected, and an input of the model"
    if given := words.protected_names(material.spec.domain):
        yield Fact(name, words.listed(given))


def _unseen(material: Material) -> Iterator[Fact]:
    if unseen := [attribute.name for attribute in material.spec.domain.unseen]:
        yield Fact("Protected, and not an input of the model", words.listed(unseen))


def _model(material: Material) -> Iterator[Fact]:
    card = material.spec.model
    if not material.spec.predictions:
        yield Fact("Format", card.format)
        yield Fact("Inside", card.summary)
        yield Fact("SHA-256", card.sha256, exact=True)


def _decisions(material: Material) -> Iterator[Fact]:
    if column := material.spec.predictions:
        yield Fact("Decisions", say("the column {name}", name=words.quoted(column)))


#: What stands in the audit file, by its name among the facts of a form.
FACTS: dict[str, Callable[[Material], Iterable[Fact]]] = {
    "a row": lambda material: [
        Fact("Each row is", say("one {person}", person=material.spec.person))
    ],
    "the favourable decision": lambda material: [
        Fact("Favourable decision", favourable_text(material.spec, material.table))
    ],
    "protected inputs": _protected,
    "protected, no inputs": _unseen,
    "the decisions": _decisions,
    "the model": _model,
    "the audit": lambda material: [Fact("Audit", evidence.identity(material.spec), exact=True)],
    "the data’s file": lambda material: [
        # where it lies is not said: some of these reports are published
        Fact("File", base_name(material.spec.data.path), exact=True)
    ],
    "the data’s hash": lambda material: [Fact("SHA-256", material.spec.data.sha256, exact=True)],
    "the number of rows": lambda material: [Fact("Rows", words.number(material.spec.data.rows))],
    "the number of people": lambda material: [
        Fact("Rows", words.counted(material.spec.data.rows, material.spec.person))
    ],
    "what was decided": lambda material: [Fact("What was decided", ll144.decided(material.spec))],
}


def section(material: Material, key: str) -> Section:
    """Make a section of its form.

    Raises
    ------
    KeyError
        When the kind of report has no form of that key.
    """
    form = TEMPLATES[material.choice.template].sections[key]
    blocks = [block for part in form.blocks for block in _blocks(material, part)]
    if form.otherwise and not blocks:
        blocks = [Text(form.otherwise)]
    return Section(form.title, tuple(blocks), form.fresh)


class _Values(dict[str, str]):
    """What names in braces stand for, looked up when a text has them."""

    def __init__(self, material: Material) -> None:
        super().__init__(TEMPLATES[material.choice.template].texts)
        self._material = material

    def __missing__(self, name: str) -> str:
        where = name.removeprefix("see ")
        return VALUES[name](self._material) if where == name else self._material.see(where)


def _blocks(material: Material, part: Part) -> Iterator[Block]:
    if not CONDITIONS[part.when](material):
        return
    values = _Values(material)
    if part.heading:
        yield Heading(part.heading)
    elif part.outside:
        yield Text(part.outside, lead=_OUTSIDE)
    elif part.callout:
        yield Callout(part.lead, part.callout)
    elif part.made:
        yield from MAKERS[part.made](material)
    elif part.facts:
        found = tuple(_facts(material, part.facts))
        if found or not part.optional:
            yield Facts(found) if found else Text(_NOTHING)
    else:
        yield Text(part.text.format_map(values), lead=part.lead)


def _facts(material: Material, names: Iterable[str]) -> Iterator[Fact]:
    """Yield facts in their order: what the auditor filled in, and what the audit file has."""
    for measured, some in groupby(names, FACTS.__contains__):
        if measured:
            yield from (fact for name in some for fact in FACTS[name](material))
        else:
            yield from system.facts_of(material, *some)


def rules(material: Material) -> Section:
    """Print the notes on rules of a kind of report in a section of their own."""
    held = notes(material.choice.template)
    return Section("Rules and standards", (Text(NO_ADVICE), *held))
