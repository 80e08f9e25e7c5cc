"""Before a search: a look at the model, and random sampling that the search is compared with.

A model whose scores are all the same is refused at once. A search that is kept to plausible pairs
is worth its queries where it finds them with fewer than sampling from the same instances does. How
many that needs differs from model to model, so that it is counted in each run, with a small number
of queries of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

import numpy as np

from fairdesk.errors import ModelError, SpecError
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.engine.pace import Pace
from fairdesk.individual.engine.sampling import one_per_fixed
from fairdesk.individual.shares.tally import clopper_pearson
from fairdesk.results.events import Event, Measured, Rows, Scores
from fairdesk.results.individual import RandomBaseline

#: So many real people are asked about as they are, and as many invented ones.
PEOPLE = 2_000
#: These are drawn in so many goes at most, where constraints let few of them in.
_DRAWS = 8


def preflight(context: SearchContext, people: Rows, rng: np.random.Generator) -> Iterator[Event]:
    """Query a model about some people before a run, to tell at once that one has no sense.

    Up to `PEOPLE` real people and as many of the domain are asked about just as they
    are; the model's rows are counted, and remembered for the run.

    Parameters
    ----------
    people : Rows
        ``(n, d)``; the data's rows in the domain's codes.

    Yields
    ------
    Event
        A `Progress` a few times a second.

    Raises
    ------
    ModelError
        When all of them get the very same score, or the model gives no number for some.
    """
    domain = context.domain
    chosen = rng.permutation(len(people))[:PEOPLE]
    real, _ = domain.admit(people[np.sort(chosen)])
    pace = Pace(1)
    first: Scores | None = None
    consistent, done = True, 0
    for rows in chain((real,), _invented(context, real, rng)):
        for part in pace.parts(len(rows)):
            fine = rows[part] if context.fits is None else rows[part][context.fits(rows[part])]
            if len(fine):
                scores = context.cached_model.predict(fine)
                first = scores[:1] if first is None else first
                consistent = consistent and bool((scores == first).all())
            done += len(fine)
            yield context.progress("preliminary", done, 2 * PEOPLE)
    if done > 1 and consistent:
        raise ModelError(
            f"The model gave the same score to all {done:,} instances.",
            why=(
                "Its inputs are probably prepared incorrectly (for example not scaled). The "
                "allowed values may also be so few that the model does not distinguish between "
                "them."
            ),
            remedy="Check the input mapping, or widen the ranges.",
        )


def _invented(context: SearchContext, real: Rows, rng: np.random.Generator) -> Iterator[Rows]:
    """Draw some people of the domain; fewer, or none, where few fulfil the constraints."""
    domain = context.domain
    once = one_per_fixed(domain, real)
    drawn = domain.draw(rng, PEOPLE, PEOPLE, once)
    for rows in islice(drawn, _DRAWS):
        snapped, _ = domain.snap(rows)
        yield snapped


#: About so many rows are sent, as many as when a model is looked at before a run.
QUERIES = 4_000
#: So many members of similar sets are queried in one go.
_AT_ONCE = 1_000
#: The confidence of the interval.
_CONFIDENCE = 0.95


def baseline(
    context: SearchContext, apart: SearchContext, people: Rows, rng: np.random.Generator
) -> Iterator[Event]:
    """Count the plausible pairs that random sampling finds.

    Parameters
    ----------
    context : SearchContext
        That of the search, which has not begun; the rows sent are counted there, too.
    apart : SearchContext
        Another of the same model and domain, which met nobody yet. What is found is not given out.
    people : Rows
        ``(n, d)``; the data's rows in the domain's codes.

    Yields
    ------
    Event
        A `Progress` for each batch, and one `Measured`; none where nothing plausible can be drawn.
    """
    domain = apart.domain
    batch = max(1, _AT_ONCE // len(domain.combinations))
    real, _ = domain.admit(people)
    try:
        # as many as could be needed if nobody had a counterfactual
        for drawn in domain.draw(rng, QUERIES, batch, real if len(real) else people):
            rows, combination = domain.snap(drawn)
            sent = apart.queries
            apart.check(rows, combination)
            apart.take("baseline")
            context.cached_model.queries += apart.queries - sent
            yield context.progress("baseline", min(apart.queries, QUERIES), QUERIES)
            if apart.queries >= QUERIES:
                break
    except SpecError:
        pass  # nearly nothing is plausible: what the search finds is all there is to report
    if apart.tried:
        low, high = clopper_pearson(apart.found, apart.tried, _CONFIDENCE)
        counted = RandomBaseline(
            apart.tried, apart.found, apart.queries, context.queries, float(low), float(high)
        )
        yield Measured("baseline", (counted,))
