"""Uniform sampling: what every search is compared with.

People are drawn uniformly from the domain and checked under all protected values, in batches.

A search is worth its queries where it finds plausible pairs with fewer of them than sampling from
the same instances does. How many that needs differs from model to model, so that it is counted in
each run, with a small number of queries of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fairdesk.errors import SpecError
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.searches.options import UniformOptions
from fairdesk.individual.shares.tally import clopper_pearson
from fairdesk.results.events import Event, Measured, Rows, timed
from fairdesk.results.individual import RandomBaseline

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


#: Rows that make up a batch's similar sets: as many as a processor's cache holds with all that is
#: computed about them.
BATCH_ROWS = 8_000


def search(
    context: SearchContext, people: Rows, options: UniformOptions, rng: np.random.Generator
) -> Iterator[Event]:
    """Draw people uniformly and check each; parameters and events as in `maft.search`.

    Attributes that are fixed are taken together from a real person, drawn for each. Whoever breaks
    a constraint is drawn again.
    """
    return timed(_draw(context, people, options.samples, rng))


def _draw(
    context: SearchContext, people: Rows, samples: int, rng: np.random.Generator
) -> Iterator[Event]:
    domain = context.domain
    batch = max(1, BATCH_ROWS // len(domain.combinations))
    done = 0
    for drawn in domain.draw(rng, samples, batch, people):
        rows, combination = domain.snap(drawn)
        if len(rows):
            context.check(rows, combination)
        done += len(rows)
        if found := context.take("uniform"):
            yield found
        yield context.progress("uniform", done, samples)
