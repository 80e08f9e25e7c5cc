"""What every trial of a repair costs and brings: accuracy against discrimination, to pick from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.charts.kinds import front
from fairdesk.charts.shapes import Laid, Marked, Paper
from fairdesk.results.events import Metric
from fairdesk.results.mitigation import Measure, Trial, What
from fairdesk.results.trials import repair_of, trials_of
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
    def target(self) -> What:
        """What is to fall."""
        repair = repair_of(self.figures)
        return "share_domain" if repair is None else repair.target

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
            x, y = measured(trial, self.target), measured(trial, "accuracy")
            if x is not None and y is not None:
                found.append(Point(trial, trial_words.trial_name(trial), _span(x), _span(y)))
        return tuple(sorted(found, key=lambda each: (each.x[1], each.trial.number)))

    @property
    def x_title(self) -> str:
        """What is counted to the right."""
        if self.target == "rule_score":
            return f"gap between the subgroup and all others, percentage points{words.NBSP}→"
        return (
            "share of the input domain whose decision changes, in the sample by which models are "
            f"chosen{words.NBSP}→"
        )

    @property
    def y_title(self) -> str:
        """What is counted upwards."""
        return f"↑ accuracy on the validation rows (lines: 95{words.NBSP}% CI)"

    @cached_property
    def floor(self) -> float | None:
        """The least accuracy that is allowed, in percent; ``None`` where it is not known."""
        repair = repair_of(self.figures)
        before = next((each for each in self.points if each.trial.kind == "retrained"), None)
        return None if repair is None or before is None else before.y[1] - repair.allowance

    def lay_out(self, paper: Paper, marked: Marked) -> Laid:
        """Put everything in its place."""
        trials = [
            front.FrontPoint(
                *(label(each, self.chosen), each.trial.kind, each.x, each.y, each.trial.front),
                *(each.trial.number, self.describe(each), self._named(each.trial)),
            )
            for each in self.points
        ]
        unit = "" if self.target == "rule_score" else "%"
        drawn = front.Front(trials, self.x_title, self.y_title, self.floor, unit)
        return drawn.lay_out(paper, marked)

    def _named(self, trial: Trial) -> bool:
        """Return whether a mark has its name beside it: in a crowd of sizes not all find room."""
        return trial.front or trial.kind != "portion" or trial.number == self.chosen

    def describe(self, point: Point) -> str:
        """Say where a trial stands."""
        unit = (
            "percentage points"
            if self.target == "rule_score"
            else f"{words.NBSP}% with changed decisions, input domain"
        )
        gap = " " if self.target == "rule_score" else ""
        said = (
            f"{point.name}: {_with_ends(point.x)}{gap}{unit}, "
            f"accuracy {_with_ends(point.y)}{words.NBSP}%"
        )
        verdict = "exceeds the permitted accuracy loss" if point.trial.verdict == "costly" else ""
        best = "chosen" if point.trial.number == self.chosen else ""
        front = "on the Pareto front" if point.trial.front else ""
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


def measured(trial: Trial, what: What) -> Measure | None:
    """Return what a trial is chosen by: the measure on validation rows or people, else another."""
    found = {each.rows: each for each in trial.measures if each.what == what and not each.of}
    for rows in ("validation", "domain", "test"):
        each = found.get(rows)
        if each is not None and each.estimate is not None:
            return each
    return None


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
