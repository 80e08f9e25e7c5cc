"""What a method yields while it works: findings, figures, and how far it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

#: A batch of rows, one column per attribute of the domain: ``(n, d)`` float64 codes.
Rows = NDArray[np.float64]
#: What a model answers: ``(n, k)`` float32; ``k = 1`` is the score of class 1.
Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Found:
    """A batch of unique individual discriminatory instances, each re-checked on the model.

    Two decisions differ, or, where the method was told to count that too (Aequitas' gamma), two
    scores differ by more than so much.

    Attributes
    ----------
    rows : Rows
        ``(n, d)``; the instances, each in the domain, unique on the non-protected attributes.
    partners : Rows
        ``(n, d)``; for each the member of its similar set whose score is farthest from its own
        among those that get another decision. Differs from ``rows`` in protected attributes and
        in what these determine only.
    row_scores, partner_scores : Scores
        ``(n, k)``; what the model answered for both.
    alone : NDArray[np.bool_]
        ``(n, p)``; whether changing this one protected attribute already changes the decision.
    phase : str
        The phase of the method that found them (``"global"`` or ``"local"``).
    """

    rows: Rows
    partners: Rows
    row_scores: Scores
    partner_scores: Scores
    alone: NDArray[np.bool_]
    phase: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a method is. Counts are running totals and never fall.

    Attributes
    ----------
    phase : str
        The phase that is running.
    done, total : int
        Steps of this phase done and planned.
    tried : int
        Unique inputs checked (unique on the non-protected attributes).
    found : int
        Unique discriminatory instances among them.
    queries : int
        Rows sent to the model, whether for its answer or for its gradient.
    rejected : int
        People whom the search would have gone to, but who break a constraint or are too far from
        anybody real.
    seconds : dict[str, float]
        Wall seconds spent in the method so far, per phase; filled in by `timed`.
    """

    phase: str
    done: int
    total: int
    tried: int
    found: int
    queries: int
    seconds: dict[str, float] = field(default_factory=dict)
    rejected: int = 0


class Share(msgspec.Struct, frozen=True, tag=True):
    """The share of people who are individually discriminated against, counted.

    Attributes
    ----------
    whom : str
        Of which people: all of the ``"domain"``, each as likely as any other; the rows of the
        ``"data"``; or those rows, each moved a little (``"perturbed"``).
    attributes : tuple[str, ...]
        The protected attributes that were changed.
    people, hits : int
        How many were checked, and how many of these are discriminatory.
    exhaustive : bool
        Everybody was checked: the share is exact, and the intervals are that one number.
    confidence : float
        Of both intervals, above 0 and below 1.
    estimate : float
        ``hits / people``.
    low, high : float
        The exact (Clopper-Pearson) interval for so many people, where their number was decided
        beforehand.
    anytime_low, anytime_high : float
        An interval that holds at every moment of the sampling together (a confidence sequence):
        whoever looks at it may stop when they like.
    trials : tuple[float, ...]
        The share in each trial of equally many people.
    course : tuple[tuple[float, float, float, float], ...]
        How it came: people, estimate, and the two ends of the anytime interval, thinned to at
        most some hundred points.
    """

    whom: Literal["domain", "data", "perturbed"]
    attributes: tuple[str, ...]
    people: int
    hits: int
    exhaustive: bool
    confidence: float
    estimate: float
    low: float
    high: float
    anytime_low: float
    anytime_high: float
    trials: tuple[float, ...] = ()
    course: tuple[tuple[float, float, float, float], ...] = ()


class GroupGap(msgspec.Struct, frozen=True, tag=True):
    """How far the favourable rates of two groups of invented people are apart (THEMIS).

    Attributes
    ----------
    attributes : tuple[str, ...]
        The protected attributes whose values make the groups.
    people : int
        How many were asked about, all groups together.
    gap, low, high : float
        The greatest difference of two groups' rates, and its interval.
    confidence : float
        Of the interval, above 0 and below 1.
    best, worst : tuple[float, ...]
        The codes of the two groups: one per attribute.
    best_rate, worst_rate : float
        Their rates of the favourable decision.
    """

    attributes: tuple[str, ...]
    people: int
    gap: float
    low: float
    high: float
    confidence: float
    best: tuple[float, ...]
    worst: tuple[float, ...]
    best_rate: float
    worst_rate: float


class Likeness(msgspec.Struct, frozen=True, tag=True):
    """How well zero-order gradients of one perturbation size serve a search (MAFT, RQ1 and RQ3).

    Attributes
    ----------
    size : float
        The perturbation size.
    people : int
        How many it was measured on.
    gradients, directions, probabilities : float, optional
        Mean cosine similarity with what the model's true gradients give: of the gradients
        themselves, of the direction of a global step, and of the odds of a local one. ``None``
        where the model gives no gradients.
    tried, found : int
        Of a short search with this size.
    """

    size: float
    people: int
    gradients: float | None
    directions: float | None
    probabilities: float | None
    tried: int
    found: int


Figure = Share | GroupGap | Likeness


@dataclass(frozen=True, slots=True)
class Measured:
    """All figures of a run as they stand; they take the place of those told before.

    Attributes
    ----------
    phase : str
        The phase that measured.
    figures : tuple[Figure, ...]
        In the order in which they are to be read.
    """

    phase: str
    figures: tuple[Figure, ...]


Event = Found | Progress | Measured


def timed(events: Iterator[Event], seconds: dict[str, float] | None = None) -> Iterator[Event]:
    """Fill in what each phase took, without the time that the events' reader takes.

    Where ``seconds`` are given, it goes on with these, and keeps them.
    """
    seconds = {} if seconds is None else seconds
    while True:
        started = perf_counter()
        event = next(events, None)
        if event is None:
            return
        spent = perf_counter() - started
        seconds[event.phase] = seconds.get(event.phase, 0.0) + spent
        yield replace(event, seconds=dict(seconds)) if isinstance(event, Progress) else event
