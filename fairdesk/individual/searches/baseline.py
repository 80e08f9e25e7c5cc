"""Random sampling before a search that is kept to plausible pairs: what the search is held against.

A search is worth its queries where it finds plausible pairs with fewer of them than sampling from
the same instances does. How many that needs differs from model to model, so that it is counted in
each run, with a small number of queries of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fairdesk.errors import SpecError
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.shares.tally import clopper_pearson
from fairdesk.results.events import Event, Measured, Rows
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
