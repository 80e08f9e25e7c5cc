"""How groups of real people fare, as the window and the report tell it: observed, not estimated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.data.profiling.outcomes import favourable_rows
from fairdesk.data.table import Table
from fairdesk.groups.metrics.outcomes import outcomes
from fairdesk.report.blocks import Block, Grid, Heading, Text, stated
from fairdesk.report.content.material import Material
from fairdesk.results.groups import GroupLine, GroupTable
from fairdesk.wording import words
from fairdesk.wording.language import fixed, say
from fairdesk.wording.statements import Statement

#: Groups listed per table of the report.
_SHOWN = 25
#: How a group stands to the screening line, by whether it is below.
_SCREENING = fixed(
    {
        True: "Observed in the rows of the data; below the four-fifths screening line, which is no "
        "verdict: small groups fall below it by chance.",
        False: "Observed in the rows of the data; not below the four-fifths screening line, which "
        "is no verdict: small groups fall below it by chance.",
    }
)
_HEADS = fixed(("Rows", "Favourable", "Rate", "95\u00a0% interval", "Impact ratio"))


@dataclass(frozen=True)
class Observed:
    """The outcomes in one column, by groups.

    Attributes
    ----------
    title, sentence : str
        What they are, for people.
    column, favourable : str
        The column, and its value that is good for the person.
    outcomes : tuple[GroupTable, ...]
        Per protected attribute, and of all together.
    """

    title: str
    sentence: str
    column: str
    favourable: str
    outcomes: tuple[GroupTable, ...]


def observed(spec: AuditSpec, table: Table) -> tuple[Observed, ...]:
    """Count how groups fare: by the label, and by a column of the model's decisions."""
    found = []
    if spec.predictions:
        column, decided = spec.predictions, spec.decisions[spec.mapping.favourable_class]
        found.append(
            Observed(
                say("What the model decided"),
                say(
                    "How often the decision in the column “{column}” is “{decided}” in each group: "
                    "what the model did to the people in the data (observed), with Wilson’s "
                    "interval ({percent}).",
                    column=column,
                    decided=decided,
                    percent=words.percent_of("95"),
                ),
                column,
                decided,
                _count(spec, table, column, decided),
            )
        )
    if spec.label != spec.predictions:
        found.append(
            Observed(
                say("Observed in the data"),
                say(
                    "How often the label is “{favourable}” in each group, in the rows of the data "
                    "(observed), with Wilson’s interval ({percent}). These shares describe the "
                    "data, not the model, and are no result of a search; they help to read it.",
                    favourable=spec.favourable,
                    percent=words.percent_of("95"),
                ),
                spec.label,
                spec.favourable,
                _count(spec, table, spec.label, spec.favourable),
            )
        )
    return tuple(found)


def _count(spec: AuditSpec, table: Table, column: str, favourable: str) -> tuple[GroupTable, ...]:
    good, known = favourable_rows(table, column, favourable)
    return outcomes(spec.domain, table, good, known)


def statements(seen: Observed, person: str, place: str = "") -> Iterator[Block]:
    """Say for each attribute how the group that fares worst does beside the one that fares best."""
    for worst, said in _impact(seen, person):
        yield stated(said, (say(_SCREENING[bool(worst.below)]),), place=place)


def sentences(seen: Observed, person: str, *, lowest_first: bool = False) -> list[str]:
    """Say the same in sentences."""
    said = list(_impact(seen, person))
    if lowest_first:
        said.sort(key=lambda each: _ratio(each[0]))
    return [each.sentence for _, each in said]


def _impact(seen: Observed, person: str) -> Iterator[tuple[GroupLine, Statement]]:
    """Yield for each attribute the group that fares worst, and what is said of it."""
    for found in seen.outcomes:
        groups = [group for group in found.lines if group.impact_ratio is not None]
        if len(groups) < 2:
            continue
        worst, best = min(groups, key=_ratio), max(groups, key=_ratio)
        value = words.number(_ratio(worst), 2)
        said = say(
            "{ratio} is the impact ratio by {attributes}: of {people} {share} got “{favourable}”, "
            "of {best} {best_share}.",
            ratio=value,
            attributes=words.listed(found.attributes),
            people=_people(worst, person),
            share=words.percent(worst.favourable, worst.people),
            favourable=seen.favourable,
            best=_people(best, person),
            best_share=words.percent(best.favourable, best.people),
        )
        yield worst, Statement("observed", say("Impact ratio"), value, said)


def _ratio(group: GroupLine) -> float:
    return group.impact_ratio or 0.0


def _people(group: GroupLine, person: str) -> str:
    return f"{words.counted(group.people, person)} ({', '.join(group.values)})"


def heads(found: GroupTable) -> tuple[str, ...]:
    """Name the columns of `cells`."""
    return (*found.attributes, *_HEADS)


def cells(group: GroupLine) -> tuple[str, ...]:
    """Write a group's figures."""
    return (
        *group.values,
        words.number(group.people),
        words.number(group.favourable),
        words.percent(group.favourable, group.people),
        words.percent_ends(group.low, group.high) if group.people else "–",
        "–" if group.impact_ratio is None else words.number(group.impact_ratio, 2),
    )


def left_out(found: GroupTable) -> str:
    """Say how many rows have no outcome; empty when all do."""
    if not found.without:
        return ""
    return say(
        "{without} rows without an outcome are left out", without=words.number(found.without)
    )


def blocks(material: Material) -> list[Block]:
    """Make the report's tables."""
    made: list[Block] = []
    for place, whole in enumerate(observed(material.spec, material.table), start=1):
        tables = tuple(map(material.shown.table, whole.outcomes))
        seen = replace(whole, outcomes=tables)
        made.append(Heading(seen.title))
        made += statements(seen, material.spec.person)
        made += [
            _grid(
                found,
                seen,
                f"observed-{place}-{number}",
            )
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
