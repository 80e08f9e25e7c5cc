"""The section on who is compared with whom, and what a search may change."""

from __future__ import annotations

from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.dependencies import LEAST_EXPECTED
from fairdesk.data.domain.domain import Domain
from fairdesk.data.domain.feasibility import checked
from fairdesk.data.table import Column, Kind
from fairdesk.document.blocks import Block, Grid, Heading, Section, Text
from fairdesk.report.content.material import Material
from fairdesk.report.content.redaction import Shown
from fairdesk.wording import comparisons, words
from fairdesk.wording.attributes import (
    ROLES,
    compared_values,
    not_received,
    role_text,
    support_said,
    texts_summary,
)
from fairdesk.wording.language import say

#: Pairs of values in the section itself; more are in the appendix.
_FEW_PAIRS = 8


def compared(material: Material) -> Section:
    """Say who is compared with whom, and what the search may change."""
    return Section("What is compared", compared_blocks(material))


def compared_blocks(material: Material) -> tuple[Block, ...]:
    """Make the blocks of `compared`: who, the allowed values, the constraints."""
    spec = material.spec
    domain = spec.domain
    blocks: list[Block] = []
    if not domain.obstacle:
        blocks += _one_by_one(material)
    unseen = [attribute.name for attribute in domain.unseen]
    if unseen:
        is_are = "is" if len(unseen) == 1 else "are"
        blocks.append(
            Text(
                say(
                    "{unseen} {is_are} protected, but not an input of the model. A decision "
                    "cannot depend directly on a value that the model does not receive, so "
                    "no counterfactual pairs are tested; groups are compared.",
                    unseen=words.listed(unseen),
                    is_are=is_are,
                )
            )
        )
    texts = [domain.names[i] for i in domain.texts.tolist()]
    if texts:
        blocks.append(
            Text(
                say(
                    "{texts} contains free text. Free text is not changed in counterfactual "
                    "pairs; groups that a text names are compared by its identity terms.",
                    texts=words.listed(texts),
                )
            )
        )
    if domain.obstacle:
        blocks.append(
            Text(say("No counterfactual pairs are tested: {obstacle}.", obstacle=domain.obstacle))
        )
    return (
        *blocks,
        *_supported(material),
        *_unknown(material),
        *_what_may_change(material),
        *_constraints(material),
    )


def _one_by_one(material: Material) -> list[Block]:
    """Say with whom a person is compared."""
    spec = material.spec
    domain = spec.domain
    return [
        Text(
            say(
                "Each tested instance is compared with its counterfactuals: the same instance "
                "with each other combination of the protected values below ({combinations}, its "
                "own included), as far as the data support it. {stays} When the decision changes, "
                "the instance and its counterfactual are a discriminatory pair (a technical term, "
                "not a legal finding).",
                combinations=_combinations(domain),
                stays=_what_stays(domain),
            )
        ),
        Grid(
            header=("Protected", "Values tested"),
            rows=tuple(
                (domain.attributes[i].name, compared_values(domain.attributes[i]))
                for i in domain.protected.tolist()
            ),
            widths=(1, 3),
            caption="The protected attributes and their values",
            note=comparisons.untested_sentence(spec, domain.names).rstrip("."),
            key="protected",
        ),
    ]


def _combinations(domain: Domain) -> str:
    """Say how many combinations there are, and of what: ``5 × 2 = 10``."""
    sizes = [len(domain.attributes[i].compared) for i in domain.protected.tolist()]
    product = " × ".join(map(words.number, sizes))
    whole = words.number(domain.combination_count)
    return whole if len(sizes) < 2 else f"{product} = {whole}"


def _supported(material: Material) -> list[Block]:
    """Say which attributes change together, and which comparisons the data do not support."""
    spec = material.spec
    domain, support, blocks = spec.domain, spec.domain.support, list[Block]()
    said = support_said(domain)
    texts = [*map(not_received, spec.only_said), *said, comparisons.support_sentence(domain)]
    if any(texts):
        blocks += [Heading(comparisons.SUPPORTED)]
        blocks += [Text(material.shown.words(each)) for each in texts if each]
    if support.constraints:
        never = [
            (material.shown.words(comparisons.absent_text(each)),) for each in support.constraints
        ]
        blocks.append(
            Grid(
                header=("Never seen together in the data, so not compared",),
                rows=tuple(never),
                widths=(1,),
                caption=say(
                    "Pairs of a protected and another value that no row has, where chance would "
                    "bring at least {n}",
                    n=words.number(LEAST_EXPECTED),
                ),
                key="support",
                evidence="observed",
                appended=len(never) > _FEW_PAIRS,
            )
        )
    return blocks


def _what_may_change(material: Material) -> list[Block]:
    """List the attributes of which a search may not use all values of the data."""
    domain, shown = material.spec.domain, material.shown
    columns = {column.name: column for column in material.spec.columns}
    others = [each for each in domain.attributes if each.role is not Role.PROTECTED]
    listed = [each for each in others if not _is_whole(domain, each, columns[each.name])]
    said = (
        "All other attributes are variable within the values of the data."
        if len(listed) < len(others)
        else ""
    )
    grid = Grid(
        header=("Attribute", "Role", "Allowed values"),
        rows=tuple(
            (each.name, role_text(domain, each), allowed_values(domain, each, shown))
            for each in listed
        ),
        widths=(1.1, 0.8, 2.2),
        caption="Attributes that are fixed, determined or limited to some values",
        key="domain",
        appended=True,
    )
    return [
        Heading("What a search may change", appended=True),
        *([grid] if listed else []),
        *([Text(said)] if said else []),
    ]


def _is_whole(domain: Domain, attribute: Attribute, column: Column) -> bool:
    """Return whether a search may use every value of a column, and no other."""
    if role_text(domain, attribute) != ROLES[Role.VARIES] or attribute.step:
        return False
    if attribute.values:
        unknown = attribute.values[-1:] if attribute.unknown else ()
        return set(attribute.values) == {*column.values, *unknown}
    return (attribute.low, attribute.high) == (column.low, column.high)


def _what_stays(domain: Domain) -> str:
    """Say in what the people of a comparison are alike."""
    followers = [
        domain.names[i] for i in domain.differing.tolist() if i not in domain.protected.tolist()
    ]
    moving = [each.attribute for each in domain.support.companions]
    followers = [each for each in followers if each not in moving]
    said = "All other attributes stay equal."
    if followers:
        verb = "is" if len(followers) == 1 else "are"
        said = say(
            "{followers} {verb} determined by them; all other attributes stay equal.",
            followers=words.listed(followers),
            verb=verb,
        )
    if moving:
        said = say(
            "{moving} {changes} with the protected value, as listed below. {said}",
            moving=words.listed(moving),
            changes="changes" if len(moving) == 1 else "change",
            said=said,
        )
    if domain.constraints:
        said += " Combinations that break a constraint below are not permitted and not tested."
    return said


def allowed_values(domain: Domain, attribute: Attribute, shown: Shown) -> str:
    """Write the values of an attribute as far as they may be named, or its range and step."""
    if attribute.kind is Kind.TEXT:
        return texts_summary(attribute.values)
    if attribute.values:
        position = domain.names.index(attribute.name)
        texts = (shown.value(position, code) for code in range(len(attribute.values)))
        return words.some(list(dict.fromkeys(texts)))
    steps = (
        say(", in steps of {step}", step=words.short(attribute.step, 10)) if attribute.step else ""
    )
    return words.ends(words.short(attribute.low, 10), words.short(attribute.high, 10)) + steps


def _unknown(material: Material) -> list[Block]:
    """Say which missing cells are a category, and of how many rows."""
    table = material.table
    parts = [
        say(
            "{name} ({missing}, as “{values}”)",
            name=words.quoted(attribute.name),
            missing=words.counted(table.column(attribute.name).missing, "row"),
            values=attribute.values[-1],
        )
        for attribute in material.spec.domain.attributes
        if attribute.unknown
    ]
    if not parts:
        return []
    return [
        Text(
            say(
                "Missing cells are a separate category in {told}. They are compared and "
                "counted like any other category, passed to the model as missing, and never "
                "imputed.",
                told=words.joined(parts),
            )
        )
    ]


def _constraints(material: Material) -> list[Block]:
    """Say what every invented person fulfils, and how many real rows do not."""
    domain = material.spec.domain
    if not domain.constraints:
        return []
    checks = [checked(domain.attributes, material.table, text) for text in domain.constraints]
    return [
        Heading("Constraints"),
        Text(
            "Instances that break one of these constraints are not tested. A constraint "
            "counts as broken only where it is false for every possible value of missing "
            "cells. An attribute that is determined by another has the value that most rows "
            "of the data give it."
        ),
        Grid(
            header=("Constraint", "Rows that break it", "Share"),
            rows=tuple(
                (
                    material.shown.words(each.text, strict=True),
                    words.number(each.broken),
                    words.percent(each.broken, each.total),
                )
                for each in checks
            ),
            widths=(3, 1, 0.8),
            right=(1, 2),
            caption=say(
                "Constraints, and how many of the {codes} rows of the data break them",
                codes=words.number(len(material.table.codes)),
            ),
            key="constraints",
            evidence="observed",
        ),
    ]
