"""What every trial of a repair costs and brings: accuracy against discrimination, to pick from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.charts.kinds import front
from fairdesk.charts.shapes import Laid, Marked, Paper
from fairdesk.results.events import Metric
from fairdesk.results.mitigation import Measure, Trial, What
from fairdesk.results.trials import lead_of, repair_of, result_of, trial_of, trials_of
from fairdesk.wording import trials as trial_words
from fairdesk.wording import words


@dataclass(frozen=True)
class Point:
    """A trial where it stands: percentages, each with the ends of its interval."""

    trial: Trial
    name: str
    x: tuple[float, float, float]
    y: tuple[float, float, float]


@dataclass(frozen=True)
class Curve:
    """All that the chart shows.

    Attributes
    ----------
    spec : AuditSpec, optional
        The question.
    figures : tuple[Metric, ...]
        Of the run, as they stand.
    """

    spec: AuditSpec | None = None
    figures: tuple[Metric, ...] = ()

    heading = "Discrimination and accuracy of each model"

    @property
    def title(self) -> str:
        """What it tells."""
        return "Accuracy against discrimination"

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.points

    @cached_property
    def what(self) -> What:
        """What every model is judged by."""
        measure = lead_of(self.figures, trial_of(self.figures, 0))
        return "share_data" if measure is None else measure.what

    @cached_property
    def chosen(self) -> int:
        """The number of the trial that the search chose; -1 for none."""
        repair = repair_of(self.figures)
        return -1 if repair is None else repair.chosen

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """The trials that can be drawn, the least discriminatory first."""
        found = []
        for trial in trials_of(self.figures):
            x, y = lead_of(self.figures, trial), result_of(trial, "accuracy")
            if x is not None and y is not None and None not in (x.estimate, y.estimate):
                found.append(Point(trial, trial_words.trial_name(trial), _span(x), _span(y)))
        return tuple(sorted(found, key=lambda each: (each.x[1], each.trial.number)))

    @property
    def x_title(self) -> str:
        """What is counted to the right."""
        if self.what == "rule_score":
            return f"gap between the subgroup and all others, percentage points{words.NBSP}→"
        many = "individuals" if self.spec is None else words.plural(self.spec.person)
        whom = "input domain" if self.what == "share_domain" else f"{many} in the test rows"
        return f"share of the {whom} whose decision changes{words.NBSP}→"

    @property
    def y_title(self) -> str:
        """What is counted upwards."""
        return f"↑ accuracy on the test rows (lines: 95{words.NBSP}% CI)"

    def lay_out(self, paper: Paper, marked: Marked) -> Laid:
        """Put everything in its place."""
        trials = [
            front.FrontPoint(
                *(label(each, self.chosen), each.trial.kind, each.x, each.y, self._ahead(each)),
                *(each.trial.number, self.describe(each), self._named(each)),
            )
            for each in self.points
        ]
        unit = "" if self.what == "rule_score" else "%"
        estimated = self.what != "share_data"
        drawn = front.Front(trials, self.x_title, self.y_title, unit, estimated)
        return drawn.lay_out(paper, marked)

    def _ahead(self, point: Point) -> bool:
        """Return whether no other point is as far left and as high up."""
        return not any(
            each.x[1] <= point.x[1] and each.y[1] >= point.y[1]
            for each in self.points
            if (each.x[1], each.y[1]) != (point.x[1], point.y[1])
        )

    def _named(self, point: Point) -> bool:
        """Return whether a mark has its name beside it: in a crowd of sizes not all find room."""
        kind, chosen = point.trial.kind, point.trial.number == self.chosen
        return kind != "portion" or chosen or self._ahead(point)

    def describe(self, point: Point) -> str:
        """Say where a trial stands."""
        unit = (
            "percentage points"
            if self.what == "rule_score"
            else f"{words.NBSP}% with changed decisions"
        )
        gap = " " if self.what == "rule_score" else ""
        said = (
            f"{point.name}: {_with_ends(point.x)}{gap}{unit}, "
            f"accuracy {_with_ends(point.y)}{words.NBSP}%"
        )
        verdict = "exceeds the permitted accuracy loss" if point.trial.verdict == "costly" else ""
        best = "chosen" if point.trial.number == self.chosen else ""
        front = "on the Pareto front" if self._ahead(point) else ""
        return "; ".join(filter(None, (said, best, verdict, front)))

    def summary(self) -> str:
        """Tell it in words, for those who do not see it."""
        if self.empty:
            return f"{self.title}: no result yet."
        points = "; ".join(
            f"{each.name} {each.x[1]:.1f} and {each.y[1]:.1f}" for each in self.points
        )
        return (
            f"{self.title}, estimated, in percent: {points}. Arrow keys select a model; T shows a "
            "table."
        )

    def table(self, most: int | None = None) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return it as a table: a header and rows; of these at most so many."""
        if self.spec is None:
            return ("Model",), []
        rows = trial_words.trial_rows(self.spec, self.figures)
        return trial_words.trial_heads(self.spec, self.figures), rows[:most]


def _span(measure: Measure) -> tuple[float, float, float]:
    """Return the ends of an interval around an estimate, in percent."""
    at = measure.estimate or 0.0
    low = at if measure.low is None else measure.low
    high = at if measure.high is None else measure.high
    return 100 * low, 100 * at, 100 * high


def _with_ends(span: tuple[float, float, float]) -> str:
    low, at, high = span
    digits = words.digits_of(low / 100, high / 100)
    return f"{at:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def label(point: Point, chosen: int) -> str:
    """Name a point beside its mark."""
    if point.trial.number == chosen:
        return f"{point.name}, chosen"
    return (
        f"{point.name}, accuracy loss too large" if point.trial.verdict == "costly" else point.name
    )
