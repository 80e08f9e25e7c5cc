"""Shares as bars on one scale: hatched where estimated, solid where everybody was asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from fairdesk.charts.shapes import (
    Axis,
    Box,
    Laid,
    Marked,
    Paper,
    Path,
    Shape,
    Spot,
    Words,
    hatched,
    percent_ticks,
    ticks,
)
from fairdesk.results.events import Metric
from fairdesk.results.individual import Share
from fairdesk.results.mitigation import Trial
from fairdesk.results.trials import chosen_of, lead_of
from fairdesk.wording import trials as trial_words
from fairdesk.wording.language import say

#: By the height of a line of type: a bar's height, and the room between bars.
_BAR, _GAP = 0.8, 0.9
#: Half the height of what ends the interval that holds at any moment.
_CAP = 4.0


@dataclass(frozen=True)
class ShareBar:
    """One bar.

    Attributes
    ----------
    name, value : str
        What it is of, and its number, for people.
    exact : bool
        Whether it was counted, not estimated; counted rows may still be a sample of others.
    estimate, low, high, anytime_low, anytime_high : float
        As in `fairdesk.results.individual.Share`.
    """

    name: str
    value: str
    exact: bool
    estimate: float
    low: float
    high: float
    anytime_low: float
    anytime_high: float

    @classmethod
    def of(cls, name: str, value: str, share: Share) -> ShareBar:
        """Make the bar of a share."""
        ends = share.low, share.high, share.anytime_low, share.anytime_high
        return cls(name, value, share.exhaustive, share.estimate, *ends)

    @property
    def reach(self) -> float:
        """How far to the right it needs to be seen; an interval that is still wide may be cut."""
        return max(self.high, min(self.anytime_high, 2 * self.high))


@dataclass(frozen=True)
class ShareBars:
    """Bars with intervals: a thick line for one look at the end, a thin one for any moment.

    The scale reaches to ``least`` or farther, a share of 0 to 1: where charts are compared.
    """

    bars: tuple[ShareBar, ...] = ()
    title: str = "Shares with confidence intervals"
    least: float = 0.0

    @property
    def reach(self) -> float:
        """How far the scale reaches."""
        return min(1.08 * max(1e-6, self.least / 1.08, *(bar.reach for bar in self.bars)), 1.0)

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.bars

    def summary(self) -> str:
        """Tell it in words, for those who do not see it."""
        return "; ".join(
            f"{bar.name}: {bar.value}, {'exact' if bar.exact else 'estimated'}" for bar in self.bars
        )

    def alt(self) -> str:
        """Tell it in words, in the language of the report."""
        said = "; ".join(f"{bar.name}: {bar.value}" for bar in self.bars)
        return say("Bars of shares. {said}.", said=said)

    def lay_out(self, paper: Paper, marked: Marked = Marked()) -> Laid:  # noqa: B008 - immutable
        """Put each bar below its name and number, and the scale above all, where it is seen."""
        lead = paper.lead
        row, first = (1.2 + _BAR + _GAP) * lead, 1.4 * lead
        bottom = first + row * len(self.bars) - _GAP * lead
        # bars begin at 0, whatever part is wanted: else their lengths would mean nothing
        reach = paper.part[1] if paper.part else self.reach
        shapes: list[Shape] = []
        for value, text in percent_ticks(ticks(100 * reach, 5, 1e-4)):
            x, half = value / 100 / reach * paper.width, paper.extent(text, paper.small) / 2
            if x + half <= paper.width:
                shapes.append(Path((((x, first - 0.3 * lead), (x, bottom)),), "line"))
                x = max(x, half)
                shapes.append(Words(x, 0.5 * lead, text, "quiet", "middle", paper.small))
        spots: list[Spot] = []
        for place, bar in enumerate(self.bars):
            top = first + place * row
            shapes += _bar(bar, top, paper, paper.width / reach)
            high = (1.2 + _BAR) * lead
            spots.append(Spot(place, f"{bar.name}: {bar.value}", 0.0, top, paper.width, high))
            if place in marked:
                frame = top + 1.2 * lead, paper.width - 1.0, _BAR * lead
                shapes.append(Box(0.5, *frame, None, "accent"))
        order = (tuple(range(len(spots))),)
        axis = Axis(0.0, paper.width, 0.0, reach)
        return Laid(bottom + 0.2 * lead, shapes, spots, down=order, axis=axis)


def _bar(bar: ShareBar, top: float, paper: Paper, scale: float) -> Iterator[Shape]:
    """Yield a bar, below its name and number; ``scale`` is how wide the whole is."""
    lead, most = paper.lead, paper.width - 1.0
    # the grid's lines end where words are
    yield Box(0.0, top, paper.width, 1.1 * lead, "ground")
    (name,) = paper.wrapped(bar.name, paper.width - paper.extent(bar.value) - lead, 1)
    yield Words(0.0, top + 0.5 * lead, name)
    yield Words(paper.width, top + 0.5 * lead, bar.value, anchor="end")
    top += 1.2 * lead
    wide, tall = min(max(bar.estimate * scale, 1.5), most), _BAR * lead
    if bar.exact:
        yield Box(0.0, top, wide, tall, "discriminatory")
        if bar.low == bar.high:
            return
    else:
        yield from hatched(0.0, top, wide, tall)
    middle = top + tall / 2
    low, high = (min(each * scale, most) for each in (bar.anytime_low, bar.anytime_high))
    caps = tuple(((x, middle - _CAP), (x, middle + _CAP)) for x in (low, high))
    yield Path((((low, middle), (high, middle)), *caps), "ink", 1.2)
    low, high = (min(each * scale, most) for each in (bar.low, bar.high))
    yield Path((((low, middle), (high, middle)),), "ink", 3.0)


@dataclass(frozen=True)
class Models(ShareBars):
    """Bars of models; ``heading`` names what they are judged by, ``numbers`` are the trials'."""

    title: str = "Models of the mitigation"
    heading: str = ""
    numbers: tuple[int, ...] = ()

    @classmethod
    def of(
        cls, figures: Sequence[Metric], trials: Iterable[Trial | None], heading: str = ""
    ) -> Models:
        """Draw trials in their order, as far as they were measured."""
        bars, numbers = [], []
        for trial in trials:
            measure = lead_of(figures, trial)
            if trial is not None and measure is not None and measure.estimate is not None:
                name, at = trial_words.trial_name(trial), measure.estimate
                if trial == chosen_of(figures):
                    name = say("{name}, chosen", name=name)
                low = at if measure.low is None else measure.low
                high = at if measure.high is None else measure.high
                value, counted = trial_words.measure_text(measure), measure.what == "share_data"
                bars.append(ShareBar(name, value, counted, at, low, high, low, high))
                numbers.append(trial.number)
        return cls(tuple(bars), heading=heading, numbers=tuple(numbers))

    def table(self, most: int | None = None) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return it as a table: a header and rows; of these at most so many."""
        return ("Model", self.heading), [(bar.name, bar.value) for bar in self.bars[:most]]


#: Between columns and between rows, by the height of a line of type.
_ASIDE, _BELOW = 2.5, 1.5


class Small(Protocol):
    """A chart of the kit."""

    def alt(self) -> str:
        """Tell it in words."""

    def lay_out(self, paper: Paper) -> Laid:
        """Put everything in its place."""


class Panel(NamedTuple):
    """One of the charts: of what it is, its figure as text, which may be empty, and the chart."""

    name: str
    value: str
    chart: Small


def on_one_scale(charts: Sequence[Small]) -> list[Small]:
    """Return charts whose lengths can be compared: bars of shares have one scale."""
    reach = max((each.reach for each in charts if isinstance(each, ShareBars)), default=0.0)
    return [replace(each, least=reach) if isinstance(each, ShareBars) else each for each in charts]


@dataclass(frozen=True)
class Multiples:
    """Charts in rows, each below its name and its figure."""

    panels: Sequence[Panel]
    columns: int = 2

    def alt(self) -> str:
        """Tell it in words, in the language of the report."""
        said = " ".join(f"{each.name}: {each.chart.alt()}" for each in self.panels)
        return say("Small charts, one of each audit. {said}", said=said)

    def lay_out(self, paper: Paper, _marked: Marked = Marked()) -> Laid:  # noqa: B008 - immutable
        """Put each chart in its cell; a row is as high as the highest in it."""
        lead = paper.lead
        wide = (paper.width - (self.columns - 1) * _ASIDE * lead) / self.columns
        shapes: list[Shape] = []
        y = 0.0
        for first in range(0, len(self.panels), self.columns):
            highest = 0.0
            for place, panel in enumerate(self.panels[first : first + self.columns]):
                own, tall = _cell(panel, replace(paper, width=wide))
                shapes += (_moved(each, place * (wide + _ASIDE * lead), y) for each in own)
                highest = max(highest, tall)
            y += highest + _BELOW * lead
        return Laid(max(y - _BELOW * lead, 0.0), shapes)


def _cell(panel: Panel, paper: Paper) -> tuple[list[Shape], float]:
    """Return the shapes of a panel and how high it is."""
    lead = paper.lead
    beside = paper.extent(panel.value, bold=True) + lead if panel.value else 0.0
    names = paper.wrapped(panel.name, max(paper.width - beside, paper.width / 2), 2)
    shapes: list[Shape] = [
        Words(0.0, (0.5 + 1.1 * number) * lead, line, bold=True)
        for number, line in enumerate(names)
    ]
    if panel.value:
        shapes.append(Words(paper.width, 0.5 * lead, panel.value, anchor="end", bold=True))
    top = (1.1 * len(names) + 0.2) * lead
    shapes.append(Path((((0.0, top), (paper.width, top)),), "line", 0.8))
    top += 0.4 * lead
    laid = panel.chart.lay_out(paper)
    return [*shapes, *(_moved(each, 0.0, top) for each in laid.shapes)], top + laid.height


def _moved(shape: Shape, right: float, down: float) -> Shape:
    """Return a shape elsewhere."""
    if isinstance(shape, Path):
        lines = (tuple((x + right, y + down) for x, y in line) for line in shape.lines)
        return shape._replace(lines=tuple(lines))
    return shape._replace(x=shape.x + right, y=shape.y + down)
