"""A look at a model before a run: one that makes no sense is told at once."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

import numpy as np

from fairdesk.errors import ModelError
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.engine.pace import Pace
from fairdesk.individual.engine.sampling import one_per_fixed
from fairdesk.results.events import Event, Rows, Scores

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
