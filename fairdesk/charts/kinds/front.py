"""What every trial of a repair costs and brings: accuracy against discrimination, to pick from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from fairdesk.charts.scales import Frame, round_between
from fairdesk.charts.shapes import (
    Box,
    Colour,
    Disc,
    Laid,
    Marked,
    Paper,
    Path,
    Point,
    Shape,
    Spot,
    Tint,
    Words,
    hatched_mark,
)
from fairdesk.wording import words
from fairdesk.wording.language import say

#: By the height of a line of type: how high the chart is, half the size of a mark, and how near
#: the pointer must come to it. And the room around the points, of their reach.
_TALL, _MARK, _NEAR, _ROOM = 22.0, 0.33, 0.95, 0.06
#: How much of its colour what is not on the front has, and an interval; how dense the ground of
#: names is.
_FAINT, _PALE, _VEIL = 0.6, 0.45, 0.8
_SHAPES = {
    "retrained": ((0.0, -1.5), (1.5, 0.0), (0.0, 1.5), (-1.5, 0.0)),
    "other": ((0.0, -1.6), (1.45, 1.1), (-1.45, 1.1)),
    "imported": ((-0.95, -0.95), (0.95, -0.95), (0.95, 0.95), (-0.95, 0.95)),
}


class FrontPoint(NamedTuple):
    """A trial of a repair: what it costs and what it brings, in percent or points.

    Attributes
    ----------
    name : str
        What it is called.
    kind : str
        ``"imported"`` (drawn as a square), ``"retrained"`` (a diamond), ``"portion"`` (a dot) or
        ``"other"`` (a triangle).
    x, y : tuple[float, float, float]
        Discrimination and accuracy: the low end of the interval, the estimate, the high end.
    front : bool
        Whether no other one is better in both: then it is drawn strongly.
    key : int
        Its own.
    tip : str
        What is told of it.
    named : bool
        Whether its name is written beside it: of many not all find room.
    """

    name: str
    kind: str
    x: tuple[float, float, float]
    y: tuple[float, float, float]
    front: bool = False
    key: int = 0
    tip: str = ""
    named: bool = True


@dataclass(frozen=True)
class Front:
    """Trials against each other.

    Attributes
    ----------
    trials : sequence of FrontPoint
        At least one.
    x_title, y_title : str
        What the axes count.
    unit : str
        Of discrimination.
    estimated : bool
        Whether discrimination is: then marks are hatched.
    """

    trials: Sequence[FrontPoint]
    x_title: str
    y_title: str
    unit: str = "%"
    estimated: bool = True

    def alt(self) -> str:
        """Tell it in words, in the language of the report."""
        said = "; ".join(
            say(
                "{name}: {x}, accuracy {y}, on the Pareto front"
                if each.front
                else "{name}: {x}, accuracy {y}",
                name=each.name,
                x=_with_ends(each.x, self.unit),
                y=_with_ends(each.y, "%"),
            )
            for each in self.trials
        )
        return say(
            "{y} against {x}, with {confidence} intervals. {said}.",
            y=self.y_title,
            x=self.x_title,
            confidence=words.percent_of("95"),
            said=said,
        )

    def lay_out(self, paper: Paper, marked: Marked = Marked()) -> Laid:  # noqa: B008 - immutable
        """Put everything in its place."""
        return _Layout(self, paper, marked).made()


class Place(NamedTuple):
    """Where something stands."""

    x: float
    y: float
    wide: float
    tall: float

    def shared(self, other: Place) -> float:
        """Return the area that two places share."""
        across = min(self.x + self.wide, other.x + other.wide) - max(self.x, other.x)
        down = min(self.y + self.tall, other.y + other.tall) - max(self.y, other.y)
        return max(0.0, across) * max(0.0, down)

    def reaches(self, other: Place) -> bool:
        """Return whether the middle of another place is as near as a label's own mark."""
        x, y = other.x + other.wide / 2, other.y + other.tall / 2
        across = max(self.x - x, x - self.x - self.wide, 0.0)
        down = max(self.y - y, y - self.y - self.tall, 0.0)
        return math.hypot(across, down) < 0.67 * other.tall


def beside(
    at: Point, size: Point, taken: Sequence[Place], others: Sequence[Place], room: Place
) -> Place:
    """Place a label around a mark, where it covers the least, is not far, and names no other."""
    (x, y), (wide, tall) = at, size

    def cost(place: Place) -> float:
        covered = sum(place.shared(each) for each in (*taken, *others))
        away = max(y - place.y - tall, place.y - y)
        mistaken = sum(place.reaches(each) for each in others)
        return 4 * (wide * tall - place.shared(room)) + covered + away + 2 * tall * mistaken

    # beside the mark runs its own interval: the corners come first
    gap = 0.4 * tall
    places = [
        Place(x + across, y + down, wide, tall)
        for step in range(6)
        for down in (-(step + 1) * tall - 2, step * tall + 2)
        for across in (gap, -gap - wide)
    ]
    return min(places, key=cost)


@dataclass
class _Layout:
    """Where everything of a front stands."""

    front: Front
    paper: Paper
    marked: Marked
    frame: Frame = field(init=False)
    shapes: list[Shape] = field(default_factory=list)

    def __post_init__(self) -> None:
        trials, lead = self.front.trials, self.paper.lead
        ups = [end for each in trials for end in each.y]
        acrosses = [end for each in trials for end in each.x]
        # what is near nought is seen against it
        least = 0.0 if min(acrosses) < 0.6 * max(acrosses) else min(acrosses)
        wide, high = (max(acrosses) - least) or 1.0, (max(ups) - min(ups)) or 1.0
        self.frame = Frame(
            left=self.paper.extent(f"100.0{words.NBSP}%", self.paper.small) + 0.5 * lead,
            right=self.paper.width - lead,
            top=2.0 * lead,
            bottom=(_TALL - 3.0) * lead,
            x_high=max(acrosses) + _ROOM * wide,
            y_high=max(ups) + _ROOM * high,
            x_low=max(0.0, least - _ROOM * wide),
            y_low=min(ups) - _ROOM * high,
        )

    def made(self) -> Laid:
        """Return all of it."""
        trials, lead = self.front.trials, self.paper.lead
        self.shapes += self._axes()
        for each in trials:
            self.shapes += self._ends(each)
        line = tuple(sorted(self._at(each) for each in trials if each.front))
        if len(line) > 1:
            self.shapes.append(Path((line,), "series 0", 0.12 * lead))
        for each in trials:
            self.shapes += self._mark(each)
        self.shapes += self._names()
        near = _NEAR * lead
        spots = []
        for each in trials:
            x, y = self._at(each)
            spots.append(Spot(each.key, each.tip, x - near, y - near, 2 * near, 2 * near))
        across = [each.key for each in sorted(trials, key=lambda each: each.x[1])]
        down = [each.key for each in sorted(trials, key=lambda each: -each.y[1])]
        return Laid(_TALL * lead, self.shapes, spots, [across], [down])

    def _at(self, trial: FrontPoint) -> Point:
        return self.frame.x(trial.x[1]), self.frame.y(trial.y[1])

    def _axes(self) -> Iterator[Shape]:
        """Yield both axes: lines, and values with their texts."""
        frame, front, lead, small = self.frame, self.front, self.paper.lead, self.paper.small
        gap = words.NBSP
        yield Words(0.0, 0.5 * lead, front.y_title, "quiet", size=small)
        for value, tick in round_between(frame.y_low, frame.y_high):
            y = frame.y(value)
            yield Path((((frame.left, y), (frame.right, y)),), "line", 0.7)
            yield Words(frame.left - 0.5 * lead, y, f"{tick}{gap}%", "quiet", "end", small)
        for value, tick in round_between(frame.x_low, frame.x_high):
            x = frame.x(value)
            yield Path((((x, frame.top), (x, frame.bottom)),), "line", 0.7)
            text = f"{tick}{gap}{front.unit}".rstrip(gap)
            yield Words(x, frame.bottom + 0.8 * lead, text, "quiet", "middle", small)
        half = self.paper.extent(front.x_title, small) / 2
        middle = max(min((frame.left + frame.right) / 2, self.paper.width - half), half)
        yield Words(middle, frame.bottom + 2.1 * lead, front.x_title, "quiet", "middle", small)

    def _ends(self, trial: FrontPoint) -> Iterator[Shape]:
        """Yield the intervals: all that could as well be."""
        (x, y), frame = self._at(trial), self.frame
        across = (frame.x(trial.x[0]), y), (frame.x(trial.x[2]), y)
        up = (x, frame.y(trial.y[0])), (x, frame.y(trial.y[2]))
        strong = trial.key in self.marked
        colour = Tint(_role(trial), 0.9 if strong else _PALE)
        yield Path((across, up), colour, 1.6 if strong else 1.0)

    def _mark(self, trial: FrontPoint) -> Iterator[Shape]:
        """Yield a mark of its kind, hatched where estimated: strong on the front, or faint."""
        x, y = self._at(trial)
        half = _MARK * self.paper.lead
        if trial.key == self.marked.chosen:
            yield Disc(x, y, 2.2 * half, "tint", "accent", 2.0)
        colour: Colour = _role(trial) if trial.front else Tint(_role(trial), _FAINT)
        thick = 0.12 * self.paper.lead
        if trial.kind in _SHAPES:
            corners = tuple((x + half * dx, y + half * dy) for dx, dy in _SHAPES[trial.kind])
            yield Path((corners,), colour, thick, (), "ground")
        else:
            yield Disc(x, y, half, "ground", colour, thick)
        if self.front.estimated:
            yield Path(hatched_mark(x, y, half), colour, 0.08 * self.paper.lead)

    def _names(self) -> Iterator[Shape]:
        """Yield names where they cover the least; a line leads to those that stand farther off."""
        trials, lead = self.front.trials, self.paper.lead
        taken: list[Place] = []
        frame = self.frame
        room = Place(frame.left, frame.top, self.paper.width - frame.left, frame.bottom - frame.top)
        marks = []
        for each in trials:
            x, y = self._at(each)
            marks.append(Place(x - 0.8 * lead, y - 0.55 * lead, 1.6 * lead, 1.1 * lead))
        # those on the front are placed first, where there is most room
        for each, own in sorted(
            zip(trials, marks, strict=True), key=lambda pair: not pair[0].front
        ):
            if not each.named:
                continue
            x, y = self._at(each)
            others = [mark for mark in marks if mark is not own]
            size = (self.paper.extent(each.name, bold=each.front) + 2, 1.1 * lead)
            place = beside((x, y), size, taken, others, room)
            taken.append(place)
            if place.y > y + 4 or place.y + place.tall < y - 4:
                end = min(max(x, place.x), place.x + place.wide)
                edge = place.y + 2 if place.y > y else place.y + place.tall
                yield Path((((x, y), (end, edge)),), "quiet", 0.6, (1, 2))
            # what lies under a name does not strike it through
            yield Box(*place, "ground", opacity=_VEIL)
            middle = place.y + place.tall / 2
            yield Words(place.x + 1, middle, each.name, bold=each.front)


def _role(trial: FrontPoint) -> str:
    return {"portion": "series 0", "other": "series 3"}.get(trial.kind, "ink")


def _with_ends(span: tuple[float, float, float], unit: str) -> str:
    """Write a percentage with its interval."""
    low, at, high = span
    digits = min(words.digits_of(low / 100, high / 100), 2)
    texts = [words.plain(each, digits) for each in (low, at, high)]
    return f"{texts[1]}{words.NBSP}{unit} ({words.ends(texts[0], texts[2])})"
