"""How groups of real people fare, as the window and the report tell it: observed, not estimated."""

from __future__ import annotations

from collections.abc import Iterator

from fairdesk.answers.observed import Observed
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.document.blocks import Block, Grid, Heading, Text, stated
from fairdesk.report.content.material import Material
from fairdesk.results.groups import GroupLine, GroupTable
from fairdesk.wording import words
from fairdesk.wording.groups.tables import worst_of, worst_statement
from fairdesk.wording.language import fixed, say

#: Groups listed per table of the report.
_SHOWN = 25
_HEADS = fixed(("Rows", "Favourable", "Rate", "95\u00a0% CI", "Impact ratio"))


def _statements(spec: AuditSpec, seen: Observed) -> Iterator[Block]:
    """Yield for each attribute, and for all together, its lowest impact ratio."""
    for table in seen.outcomes:
        if worst_of(table) is not None:
            yield stated(worst_statement(spec, table))


def heads(found: GroupTable) -> tuple[str, ...]:
    """Name the columns of `cells`."""
    return (*found.attributes, *_HEADS)


def cells(group: GroupLine) -> tuple[str, ...]:
    """Write a group's figures."""
    return (
        *group.values,
        words.number(group.n_samples),
        words.number(group.favourable),
        words.percent(group.favourable, group.n_samples),
        words.percent_ends(group.low, group.high) if group.n_samples else "–",
        "–" if group.impact_ratio is None else words.number(group.impact_ratio, 2),
    )


def left_out(found: GroupTable) -> str:
    """Say how many rows have no outcome; empty when all do."""
    if not found.without:
        return ""
    return say("excluded: {without} rows without an outcome", without=words.number(found.without))


def blocks(material: Material) -> list[Block]:
    """Make the report's tables."""
    made: list[Block] = []
    for place, seen in enumerate(material.observed, start=1):
        if not seen.outcomes:
            continue
        made.append(Heading(seen.title))
        made += _statements(material.spec, seen)
        if any(worst_of(table) is not None for table in seen.outcomes):
            made.append(Text(say(words.FOUR_FIFTHS)))
        made += [
            _grid(found, seen, f"observed-{place}-{number}")
            for number, found in enumerate(seen.outcomes, start=1)
        ]
        made.append(Text(seen.sentence))
    return made


def _grid(found: GroupTable, seen: Observed, key: str) -> Grid:
    caption = say(
        "Observed: “{column}” is “{favourable}”, by {attributes}",
        column=seen.column,
        favourable=seen.favourable,
        attributes=words.listed(found.attributes),
    )
    if len(found.lines) > _SHOWN:
        caption += say(
            "; the first {shown} of {lines} groups",
            shown=words.number(_SHOWN),
            lines=words.number(len(found.lines)),
        )
    if missing := left_out(found):
        caption += f"; {missing}"
    several = len(found.attributes)
    return Grid(
        header=heads(found),
        rows=tuple(cells(group) for group in found.lines[:_SHOWN]),
        widths=(*[1.6] * several, 0.8, 0.9, 0.8, 1.2, 0.9),
        right=tuple(range(several, several + 5)),
        caption=caption,
        key=key,
        evidence="observed",
    )
