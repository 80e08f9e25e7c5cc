"""What a method yields while it works: findings, figures, and how far it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.repeatability import Repeatability
from fairdesk.results.groups import GroupGap, GroupTable
from fairdesk.results.individual import (
    AuditStudy,
    ChangeSplit,
    ComparedRows,
    ExcessChange,
    GradientFidelity,
    RandomBaseline,
    SearchPhase,
    Share,
    ValueChanges,
)
from fairdesk.results.mitigation import Augmented, Repair, Retrained, Trial
from fairdesk.results.proofs import (
    NeighbourhoodCounts,
    PairShare,
    Proven,
    ProvenRates,
    Region,
)
from fairdesk.results.subgroups import LinearGroup, RuleSearchSummary, RuleSet, TermRate


class ShardRange(msgspec.Struct, frozen=True):
    """Which part of a divided run is run.

    Attributes
    ----------
    start, stop : int
        The first of its units and the one after the last. What a unit is, the method says: of a
        search one of its parts, of what is drawn at random a block of draws.
    stage : str
        What of the units is counted still; the method's own words.
    """

    start: int
    stop: int
    stage: str = ""


class Tallied(msgspec.Struct, frozen=True, tag=True):
    """What was counted of a unit, or of a part of one: numbers without their meaning.

    Figures are made of them by `fairdesk.individual.engine.division.Merging`, in the order of the
    units. Only parts of runs yield it.

    Attributes
    ----------
    phase : str
        The phase that counted.
    unit : int
        The unit.
    last : bool
        Whether the unit ends with it.
    arrays : dict[str, NDArray]
        What was counted; how they are called and shaped, the method says.
    queries : int
        Rows sent to the model for it.
    """

    phase: str
    unit: int
    last: bool
    arrays: dict[str, NDArray[Any]]
    queries: int = 0


#: A batch of rows, one column per attribute of the domain: ``(n, d)`` float64 codes.
Rows = NDArray[np.float64]
#: What a model answers: ``(n, k)`` float32; ``k = 1`` is the score of class 1.
Scores = NDArray[np.float32]


class Found(msgspec.Struct, frozen=True, tag=True):
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
    sufficient_alone : NDArray[np.bool_]
        ``(n, p)``; whether changing this one protected attribute already changes the decision.
    phase : str
        The phase of the method that found them (``"global"`` or ``"local"``).
    """

    rows: Rows
    partners: Rows
    row_scores: Scores
    partner_scores: Scores
    sufficient_alone: NDArray[np.bool_]
    phase: str


class Progress(msgspec.Struct, frozen=True, tag=True):
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
        People whom the search would have gone to, but who break a constraint, are too far from
        anybody real, or have no comparison.
    seconds : dict[str, float]
        Wall seconds spent in the method so far, per phase; filled in by `timed`.
    """

    phase: str
    done: int
    total: int
    tried: int
    found: int
    queries: int
    seconds: dict[str, float] = msgspec.field(default_factory=dict)
    rejected: int = 0


Metric = (
    Share
    | ComparedRows
    | AuditStudy
    | ChangeSplit
    | ValueChanges
    | Repeatability
    | ExcessChange
    | GroupGap
    | RandomBaseline
    | SearchPhase
    | GradientFidelity
    | Proven
    | Region
    | PairShare
    | ProvenRates
    | NeighbourhoodCounts
    | RuleSearchSummary
    | RuleSet
    | TermRate
    | LinearGroup
    | GroupTable
    | Repair
    | Trial
)


class Measured(msgspec.Struct, frozen=True, tag=True):
    """All figures of a run as they stand; they take the place of those told before.

    Attributes
    ----------
    phase : str
        The phase that measured.
    figures : tuple[Metric, ...]
        In the order in which they are to be read.
    """

    phase: str
    figures: tuple[Metric, ...]


class Certificate(msgspec.Struct, frozen=True, tag=True):
    """Everything that was proven, box by box: what a certificate file holds.

    It takes the place of the one that was told before.

    Attributes
    ----------
    phase : str
        The phase that proved it.
    header : bytes
        JSON; see `fairdesk.certify.proof.certificate.Header`.
    arrays : dict[str, NDArray]
        The nodes of the refinement, ``(n,)`` each; see there.
    """

    phase: str
    header: bytes
    arrays: dict[str, NDArray[Any]]


#: What a method yields; these very structs cross from the guest to the app.
Event = Found | Progress | Measured | Certificate | Augmented | Retrained | Tallied


def _arrays(found: Found) -> dict[str, NDArray[Any]]:
    """Return the arrays of findings by their names."""
    return {name: each for name, each in msgspec.structs.asdict(found).items() if name != "phase"}


def concatenated(batches: Sequence[Found]) -> Found:
    """Return findings of one phase, at least one batch of them, as one batch."""
    parts = [_arrays(batch) for batch in batches]
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return Found(**joined, phase=batches[0].phase)


def selected(found: Found, where: NDArray[np.bool_]) -> Found:
    """Return those findings for which ``where``, ``(n,)``, is true."""
    return Found(**{name: each[where] for name, each in _arrays(found).items()}, phase=found.phase)


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
        if isinstance(event, Progress):
            event = msgspec.structs.replace(event, seconds=dict(seconds))
        yield event
