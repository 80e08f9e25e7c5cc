"""A quick audit: a sensible mix of searches that ends when nothing new is learned.

Where the domain is small, everybody is gone through. Else a small estimate comes first, and then
rounds of searches that look in different ways, each from new seeds. Something new is learned by a
round when it finds somebody of a kind not met before: in another region of the data, with other
protected attributes that are enough alone, or on the other side of the decision.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.realism.diversity import Clusters, clusters
from fairdesk.individual.searches import aequitas, eidig, maft
from fairdesk.individual.searches.options import (
    EidigOptions,
    FullyDirectedOptions,
    MaftOptions,
    QuickOptions,
)
from fairdesk.individual.shares import enumeration, estimate
from fairdesk.individual.shares.finite import obstacle
from fairdesk.individual.shares.options import EnumerateOptions, EstimateOptions
from fairdesk.models.model import labels
from fairdesk.results.events import Event, Found, Measured, Progress, Rows, timed

#: Up to so many people everybody is gone through: it takes seconds.
ALL_OF = 1_000_000
#: Into so many groups of alike people the data are divided.
REGIONS = 20
#: Of seeds that are plausible fewer are taken at once: the walks around them find the most.
PLAUSIBLE_SEEDS = 100

Kind = tuple[int, ...]


def search(
    context: SearchContext, people: Rows, options: QuickOptions, rng: np.random.Generator
) -> Iterator[Event]:
    """Run a mix of methods; parameters and events as in `maft.search`.

    The phases are the methods' names. Whom one has found, another does not find again.
    """
    return timed(_mix(context, people, options, rng))


def _mix(
    context: SearchContext, people: Rows, options: QuickOptions, rng: np.random.Generator
) -> Iterator[Event]:
    domain = context.domain
    real, _ = domain.admit(people)
    # what is plausible is no population of which a share could be told
    if not domain.resembles_data:
        count = None if obstacle(domain) else enumeration.population(domain, real, ALL_OF)
        if context.fits is None and count is not None and count <= ALL_OF:
            yield from enumeration.search(context, people, EnumerateOptions(), rng)
            return
        sample = EstimateOptions(trials=20, people=500)
        yield from _as("estimate", estimate.search(context, people, sample, rng))
    regions = clusters(domain, real if len(real) else people, REGIONS, rng)
    kinds: set[Kind] = set()
    for turn in range(options.rounds):
        before = len(kinds)
        for name, events in _searches(context, people, rng):
            limit = context.cached_model.queries + options.rows
            for event in _as(name, events):
                if isinstance(event, Found):
                    kinds |= _kinds(regions, event)
                yield event
                if isinstance(event, Progress) and event.queries >= limit:
                    break
            yield context.progress(name, turn + 1, options.rounds)
        if len(kinds) == before:
            return


def _searches(
    context: SearchContext, people: Rows, rng: np.random.Generator
) -> Iterator[tuple[str, Iterator[Event]]]:
    """Yield the searches of a round: along gradients, and by what was learned about attributes."""
    walks = {"global_num": PLAUSIBLE_SEEDS} if context.domain.resembles_data else {}
    if context.cached_model.has_gradients:
        yield "EIDIG", eidig.search(context, people, EidigOptions(**walks), rng)
    else:
        yield "MAFT", maft.search(context, people, MaftOptions(**walks), rng)
    yield "Aequitas", aequitas.fully_directed(context, people, FullyDirectedOptions(), rng)


def _as(name: str, events: Iterator[Event]) -> Iterator[Event]:
    """Yield events with the method's name as their phase."""
    for event in events:
        yield event if isinstance(event, Measured) else msgspec.structs.replace(event, phase=name)


def _kinds(regions: Clusters, found: Found) -> set[Kind]:
    """Return the kinds of the pairs that were found."""
    traits = (regions.of(found.rows), found.sufficient_alone, labels(found.row_scores))
    return set(map(tuple, np.unique(np.column_stack(traits).astype(np.intp), axis=0).tolist()))
