"""What a method yields while it works: findings and how far it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

#: A batch of rows, one column per attribute of the domain: ``(n, d)`` float64 codes.
Rows = NDArray[np.float64]
#: What a model answers: ``(n, k)`` float32; ``k = 1`` is the score of class 1.
Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Found:
    """A batch of unique individual discriminatory instances, each re-checked on the model.

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
        Rows sent to the model.
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


Event = Found | Progress


def timed(events: Iterator[Event]) -> Iterator[Event]:
    """Fill in what each phase took, without the time that the events' reader takes."""
    seconds: dict[str, float] = {}
    while True:
        started = perf_counter()
        event = next(events, None)
        if event is None:
            return
        spent = perf_counter() - started
        seconds[event.phase] = seconds.get(event.phase, 0.0) + spent
        yield replace(event, seconds=dict(seconds)) if isinstance(event, Progress) else event
