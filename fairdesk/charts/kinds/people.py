"""The rows of each group as dots, filled where the decision changes with a protected value."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.charts.shapes import Disc, Laid, Marked, Paper, Shape, Spot, Words
from fairdesk.results.events import Metric
from fairdesk.results.groups import GroupTable
from fairdesk.wording import comparisons, words
from fairdesk.wording.decisions import name_of
from fairdesk.wording.groups.tables import people
from fairdesk.wording.language import say

#: About so many dots are drawn at most.
_DOTS = 700
#: The distance of two dots, and the radius of one, by the height of a line of type.
_STEP, _RADIUS = 0.5, 0.19


class Changing(NamedTuple):
    """A group: its rows, those selected, and of how many the decision would be lost or gained."""

    name: str
    n_rows: int
    selected: int
    losses: int
    gains: int

    @property
    def text(self) -> str:
        """What stands above its dots."""
        return say(
            "{name}: {losses} of {selected} selected would lose, {gains} of {others} others gain",
            name=self.name,
            selected=words.number(self.selected),
            others=words.number(self.n_rows - self.selected),
            losses=words.number(self.losses),
            gains=words.number(self.gains),
        )


@dataclass(frozen=True)
class People:
    """The groups of one attribute or of several, one after the other.

    A dot stands for so many ``people`` that there are about 700 dots at most; a smaller dot for
    what is left of fewer. ``partly`` is whether some have no comparison.
    """

    groups: tuple[Changing, ...] = ()
    rows_per_dot: int = 1
    partly: bool = False
    people: str = "rows"
    title: str = "Who would lose or gain the favourable decision, by group"

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.groups

    def alt(self) -> str:
        """Return it in words."""
        return say("{said}.", said="; ".join(each.text for each in self.groups))

    summary = alt

    def lay_out(self, paper: Paper, marked: Marked = Marked()) -> Laid:  # noqa: B008 - immutable
        """Put each group's dots below its line: those that change first."""
        del marked
        lead = paper.lead
        across = max(int(paper.width / (_STEP * lead)), 1)
        shapes: list[Shape] = [*self._key(paper)]
        spots, y = list[Spot](), 1.5 * lead
        for key, each in enumerate(self.groups):
            top = y
            for line in paper.wrapped(each.text, paper.width):
                shapes.append(Words(0.0, y + 0.6 * lead, line))
                y += 1.1 * lead
            dots = [*self._dots(each)]
            for place, (colour, share) in enumerate(dots):
                down, right = divmod(place, across)
                x = (right + 0.5) * _STEP * lead
                at = y + (down + 0.6) * _STEP * lead
                fill, radius = colour or "ground", _RADIUS * lead * math.sqrt(share)
                shapes.append(Disc(x, at, radius, fill, colour or "undecided", 0.8))
            y += (math.ceil(len(dots) / across) * _STEP + 0.5) * lead
            spots.append(Spot(key, each.text, 0.0, top, paper.width, y - top))
        return Laid(y, shapes, spots, down=(tuple(range(len(spots))),))

    def _dots(self, each: Changing) -> Iterator[tuple[str, float]]:
        """Yield the colour of each dot, empty of unchanged rows, and its part of a whole one."""
        unchanged = each.n_rows - each.losses - each.gains
        counts = ("discriminatory", each.losses), ("series 0", each.gains), ("", unchanged)
        for colour, count in counts:
            whole, rest = divmod(count, self.rows_per_dot)
            yield from [(colour, 1.0)] * whole
            if rest:
                yield colour, rest / self.rows_per_dot

    def _key(self, paper: Paper) -> Iterator[Shape]:
        x, y, lead = 0.4 * paper.lead, 0.6 * paper.lead, paper.lead
        for colour, text in (
            ("discriminatory", say("would lose")),
            ("series 0", say("would gain")),
            ("", say("unchanged or not compared" if self.partly else "unchanged")),
        ):
            yield Disc(x, y, _RADIUS * lead, colour or "ground", colour or "undecided", 0.8)
            yield Words(x + 0.6 * lead, y, text)
            x += paper.extent(text) + 1.8 * lead
        if (n := self.rows_per_dot) > 1:
            yield Words(
                x,
                y,
                say("(a dot: {n} {people}; smaller: fewer)", n=words.number(n), people=self.people),
                "quiet",
            )


def people_of(spec: AuditSpec, figures: Iterable[Metric], tables: Sequence[GroupTable]) -> People:
    """Return the groups of each protected attribute that was changed alone in all rows.

    Parameters
    ----------
    figures : iterable of Metric
        With the shares of a run.
    tables : sequence of GroupTable
        The model's decisions by group: how many rows each group has.
    """
    found, partly = list[Changing](), False
    for share in comparisons.shares_of(figures):
        if (
            share.whom != "data"
            or not (share.exact and share.by_value)
            or len(share.attributes) != 1
            or not comparisons.is_answered(spec, share)
        ):
            continue
        partly = partly or bool(share.unsupported)
        table = next((each for each in tables if each.attributes == share.attributes), None)
        lines = () if table is None else table.lines
        sizes = {e.values[0]: (people(spec, table, e), e) for e in lines if table}
        attribute = spec.domain.attributes[spec.domain.names.index(share.attributes[0])]
        for code, gains, losses in share.by_value:
            who, line = sizes.get(name_of(attribute, code), ("", None))
            if line is not None and line.n_samples:
                named = say(
                    "{who}{few}, other {names}",
                    who=words.capital(who),
                    few=" (few)" if line.excluded else "",
                    names=comparisons.with_companions(spec, attribute.name),
                )
                found.append(Changing(named, line.n_samples, line.favourable, losses, gains))
    n_rows = sum(each.n_rows for each in found)
    per_dot = max(math.ceil(n_rows / _DOTS), 1)
    return People(tuple(found), per_dot, partly, words.plural(spec.person))
