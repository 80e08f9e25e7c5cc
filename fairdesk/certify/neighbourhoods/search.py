"""The data rows, each with its neighbours: for how many no decision changes, and for how many."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from time import perf_counter
from typing import cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.bounds.linear import LinearExaminer, is_linear
from fairdesk.certify.bounds.network import NetworkExaminer
from fairdesk.certify.counting.exhaustive import QueriedExaminer, decisions
from fairdesk.certify.counting.remainder import have_comparison, sets_of
from fairdesk.certify.domain.boxes import partitioned
from fairdesk.certify.domain.space import Places, space_of
from fairdesk.certify.layout import Layout, everyone_for, lay_out
from fairdesk.certify.neighbourhoods.boxes import LinearBoxes, Neighbourhood
from fairdesk.certify.neighbourhoods.prover import RowProver, Verdict
from fairdesk.certify.options import NeighbourhoodOptions
from fairdesk.errors import SpecError
from fairdesk.individual.engine.context import SearchContext
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.structure import OpaqueError, structure_of
from fairdesk.results.events import Event, Measured, Progress, Rows, timed
from fairdesk.results.proofs import NeighbourhoodCounts

#: Progress and figures are told every so many seconds.
_TELL_SECONDS, _MEASURE_SECONDS = 0.1, 0.5
_PHASE = "neighbourhoods"
#: So many rows are sent to the model at once.
_ROWS = 200_000


def search(
    context: SearchContext, people: Rows, options: NeighbourhoodOptions, rng: np.random.Generator
) -> Iterator[Event]:
    """Decide the rows of the data with their neighbours; parameters as in `maft.search`.

    A model that cannot be looked into is queried about every neighbour.

    Raises
    ------
    SpecError
        When no row lies in the domain; when a row has too many neighbourhoods; as `lay_out`.
    """
    return timed(_search(context, people, options, rng))


def _search(
    context: SearchContext, people: Rows, options: NeighbourhoodOptions, rng: np.random.Generator
) -> Iterator[Event]:
    yield context.progress("looking", 0, 1)
    real, _ = context.domain.admit(people)
    if not len(real):
        raise SpecError(
            "No row of the data lies in the input domain, so there are no neighbourhoods.",
            remedy="Widen the allowed values.",
        )
    supported = real[have_comparison(context.domain, real)]
    if not len(supported):
        raise SpecError(
            "No row of the data has a comparison that the data support.",
            why="No other combination of protected values is possible for any of them.",
            remedy="Relax the constraints, or say which attributes change with a protected one.",
        )
    layout = _laid_out(context, people)
    unsupported = len(real) - len(supported)
    yield from _Rows(context, supported, options, rng, layout, unsupported).run()


def _laid_out(context: SearchContext, people: Rows) -> Layout:
    """Lay the domain out, numbers in ascending order."""
    fed = cast("FedModel", context.cached_model.model)
    try:
        layout = lay_out(context.domain, people, structure_of(fed.opened), fed, ascending=True)
    except OpaqueError:
        real, _ = context.domain.admit(people)
        space = partitioned(space_of(context.domain, real))
        return Layout(space, fed, None, None, QueriedExaminer(), unused=False)
    if layout.encoded is None or not is_linear(layout.encoded):
        return layout
    # a small box is bounded in far less time than the points of a linear model are counted in it
    return replace(layout, examiner=NetworkExaminer(layout.encoded, fed))


class _Rows:
    """One run; ``real`` are rows with a comparison, and there are so many more ``unsupported``."""

    def __init__(
        self,
        context: SearchContext,
        real: Rows,
        options: NeighbourhoodOptions,
        rng: np.random.Generator,
        layout: Layout,
        unsupported: int = 0,
    ) -> None:
        self._started = perf_counter()
        self._context, self._options, self._layout = context, options, layout
        space = layout.space
        self._unsupported = unsupported
        first, self._times = sets_of(space.domain, real)
        self._real = real[first]
        places = space.places(self._real)
        self._counter = everyone_for(layout)
        linear = None
        if layout.encoded is not None and is_linear(layout.encoded):
            linear = LinearBoxes(space, LinearExaminer(layout.encoded, layout.fed))
        self._linear = linear
        self._prover = RowProver(
            space,
            layout.examiner,
            self._counter,
            self._ask,
            places,
            lambda which: context.ask(self._real[which]).discriminatory,
            Neighbourhood(
                space, options.changed, options.reach, together=options.together == "yes"
            ),
            rng,
            linear,
            # who differs in one attribute falsifies most rows that are
            nearer=()
            if linear is not None or options.changed < 2
            else (Neighbourhood(space, 1, options.reach),),
        )
        self._kept = np.zeros(len(places), dtype=np.bool_)
        self._reported = self._measured = 0.0

    def _ask(self, points: Places) -> NDArray[np.bool_]:
        space, context = self._layout.space, self._context
        if not space.domain.has_constraints:
            return context.ask(space.rows(points)).discriminatory
        step = max(1, _ROWS // len(space.domain.combinations))
        parts = [np.empty(0, dtype=np.bool_)]
        for start in range(0, len(points), step):
            some = points[start : start + step]
            parts.append(decisions(space, context.cached_model, some).differ)
        return np.concatenate(parts)

    def run(self) -> Iterator[Event]:
        """Decide, and tell."""
        until = self._options.seconds or np.inf
        for _ in self._prover.run():
            yield from self._tell()
            if self._context.over or self._seconds >= until:
                break
        yield from self._pairs()
        yield Measured(_PHASE, (self._figure(),))
        yield self._progress()

    def _tell(self) -> Iterator[Event]:
        """Yield how far it is, not too often."""
        if self._seconds - self._measured >= _MEASURE_SECONDS:
            yield from self._pairs()
            yield Measured(_PHASE, (self._figure(),))
            self._measured = self._seconds
        used_up = self._context.rows_left <= self._queries
        if used_up or self._seconds - self._reported >= _TELL_SECONDS:
            yield self._progress()
            self._reported = self._seconds

    def _pairs(self) -> Iterator[Event]:
        """Keep what falsifies rows as pairs, each re-queried."""
        room = max(0, self._options.keep - self._context.found)
        falsified = self._prover.verdict == Verdict.FALSIFIED
        new = np.flatnonzero(falsified & ~self._kept)[:room]
        self._kept[new] = True
        own, others = new[self._prover.flipped[new]], new[~self._prover.flipped[new]]
        rows, combination = self._layout.space.instances(
            np.unique(self._prover.witness[others], axis=0)
        )
        rows = np.concatenate([self._real[own], rows])
        of_own = self._context.domain.combination_of(self._real[own])
        self._context.check(rows, np.concatenate([of_own, combination]))
        if found := self._context.take(_PHASE):
            yield found

    def _figure(self) -> NeighbourhoodCounts:
        prover, times, domain = self._prover, self._times, self._context.domain
        counts = {each: int(times[prover.verdict == each].sum()) for each in Verdict}
        notes = [_QUERIED] if self._layout.anatomy is None else [*self._layout.examiner.notes]
        return NeighbourhoodCounts(
            attributes=tuple(domain.names[i] for i in domain.protected),
            rows=int(times.sum()),
            certified=counts[Verdict.CERTIFIED],
            falsified=counts[Verdict.FALSIFIED],
            undecided=counts[Verdict.UNDECIDED],
            changed=self._options.changed,
            reach=self._options.reach,
            together=self._options.together == "yes",
            flipped=int(times[prover.flipped].sum()),
            unsupported=self._unsupported,
            boxes=prover.boxes,
            seconds=self._seconds,
            margin=self._margin,
            notes=tuple(notes),
        )

    @property
    def _margin(self) -> float:
        own = 0.0 if self._linear is None else self._linear.margin
        return max(own, self._layout.examiner.margin)

    @property
    def _queries(self) -> int:
        """Rows sent to the model for boxes."""
        return self._prover.queries + self._counter.trial_queries

    def _progress(self) -> Progress:
        decided = int((self._prover.verdict != Verdict.UNDECIDED).sum())
        progress = self._context.progress(_PHASE, decided, len(self._times))
        return msgspec.structs.replace(
            progress, tried=self._prover.boxes, queries=progress.queries + self._queries
        )

    @property
    def _seconds(self) -> float:
        return perf_counter() - self._started


_QUERIED = (
    "The model’s internal structure is not available: it was queried about every neighbour. This "
    "supposes that the same row always gets the same decision."
)
