"""What a method yields while it works: findings, figures, and how far it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, Literal

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


class Estimated(msgspec.Struct, frozen=True):
    """What sampling says of that part of a space for which nothing is proven; never part of it.

    Attributes
    ----------
    people : int
        How many were drawn at random from the boxes in which not everybody is decided, each as
        likely as any other: some of them are among those who are.
    unlike : int
        How many of these are treated unlike.
    low, high : float
        The exact (Clopper-Pearson) interval of the share of the undecided people who are: what is
        proven of those boxes is taken off.
    confidence : float
        Of the interval, above 0 and below 1.
    estimate : float
        That share, as those who were drawn tell it.
    """

    people: int
    unlike: int
    low: float
    high: float
    confidence: float
    estimate: float


class Proven(msgspec.Struct, frozen=True, tag=True):
    """What is proven about the people of a space: how many are treated alike, and how many not.

    A person counts once, whatever their protected values: what is counted are similar sets in
    which anybody may be. One is alike when all of its members who may be get the same decision
    (also when there is but one of them), unlike when two of them do not.

    Attributes
    ----------
    of : str
        Of all people of the ``"domain"``, each as likely as any other, or of the
        ``"population"``: the product of the shares that each value has in the data.
    attributes : tuple[str, ...]
        The protected attributes, all changed together.
    certified, falsified, undecided : float
        Shares from 0 to 1. The first two are proven: rounded down; the third is what is left of
        the whole.
    total, certified_people, falsified_people : str
        The same as whole numbers, in decimal digits (they pass 64 bits); of the domain only, else
        empty.
    exact : bool
        Everybody is decided: nothing is left, and the counts are exact.
    boxes : int
        How many boxes of people were looked at.
    seconds : float
        Wall seconds until here.
    margin : float
        By how much, at most, the rounding of the model's own arithmetic was found to move its
        answer (the logit, or a margin between two classes), and so what the bounds allow for; 0
        where every answer was asked of the model itself, or nothing is rounded.
    estimated : Estimated, optional
        What sampling says of the undecided part.
    course : tuple[tuple[float, float, float], ...]
        How it came: seconds, certified and falsified; thinned to at most some hundred points.
    notes : tuple[str, ...]
        What else the auditor must know, a sentence each.
    """

    of: Literal["domain", "population"]
    attributes: tuple[str, ...]
    certified: float
    falsified: float
    undecided: float
    total: str = ""
    certified_people: str = ""
    falsified_people: str = ""
    exact: bool = False
    boxes: int = 0
    seconds: float = 0.0
    margin: float = 0.0
    estimated: Estimated | None = None
    course: tuple[tuple[float, float, float], ...] = ()
    notes: tuple[str, ...] = ()


class Condition(msgspec.Struct, frozen=True):
    """What a box says of one attribute: these values and no others.

    Attributes
    ----------
    attribute : str
        Its name.
    codes : tuple[float, ...]
        Of an attribute with listed values: their codes. Else empty.
    low, high : float, optional
        Of a number: the least and the greatest, inclusive; ``None`` where that end is the
        domain's own. ``None`` where there are ``codes``.
    """

    attribute: str
    codes: tuple[float, ...] = ()
    low: float | None = None
    high: float | None = None


class Region(msgspec.Struct, frozen=True, tag=True):
    """A box of people all of whom are treated alike, or all of whom are not: proven.

    Attributes
    ----------
    verdict : str
        ``"alike"`` or ``"unlike"``.
    conditions : tuple[Condition, ...]
        What tells the box from the whole domain, in the order of the attributes.
    share : float
        How much of the domain it is, rounded down.
    people : str
        How many that are, in decimal digits.
    population : float
        How much of the population it is, about.
    """

    verdict: Literal["alike", "unlike"]
    conditions: tuple[Condition, ...]
    share: float
    people: str
    population: float = 0.0


class PairShare(msgspec.Struct, frozen=True, tag=True):
    """What is proven about two combinations of protected values alone.

    Attributes
    ----------
    attributes : tuple[str, ...]
        The protected attributes.
    first, second : tuple[float, ...]
        The codes of the two combinations: one per attribute.
    falsified : float
        The share of the domain for which these two are proven to be decided differently.
    certified : float
        The share for which they are proven to be decided alike.
    exact : bool
        The two shares are everything.
    """

    attributes: tuple[str, ...]
    first: tuple[float, ...]
    second: tuple[float, ...]
    falsified: float
    certified: float
    exact: bool = False


class Part(msgspec.Struct, frozen=True):
    """A box of the refinement, with everything in it.

    Attributes
    ----------
    parent : int
        Its place in the list, before this one; -1 for the first.
    conditions : tuple[Condition, ...]
        As of `Region`.
    share : float
        How much of the domain it is.
    certified, falsified : float
        How much of the domain is proven alike, or unlike, inside it; the rest is undecided.
    boxes : int
        How many boxes it was divided into in the end.
    """

    parent: int
    conditions: tuple[Condition, ...]
    share: float
    certified: float
    falsified: float
    boxes: int = 1


class Refinement(msgspec.Struct, frozen=True, tag=True):
    """How the domain was divided: the larger boxes of the refinement, each after its parent.

    Attributes
    ----------
    parts : tuple[Part, ...]
        The first is the whole domain. Boxes too small to be seen are left out, so the children of
        one may be less than it.
    """

    parts: tuple[Part, ...]


Figure = Share | GroupGap | Likeness | Proven | Region | PairShare | Refinement


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


@dataclass(frozen=True, slots=True)
class Certificate:
    """Everything that was proven, box by box: what a certificate file holds.

    It takes the place of the one that was told before.

    Attributes
    ----------
    phase : str
        The phase that proved it.
    header : bytes
        JSON; see `fairdesk.certify.certificate.Header`.
    arrays : dict[str, NDArray]
        The nodes of the refinement, ``(n,)`` each; see there.
    """

    phase: str
    header: bytes
    arrays: dict[str, NDArray[Any]]


Event = Found | Progress | Measured | Certificate


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
