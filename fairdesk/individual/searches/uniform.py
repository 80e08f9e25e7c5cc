"""Uniform sampling: the yardstick beside which every search must be judged.

People are drawn uniformly from the domain and checked under all protected values, in batches.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.searches.options import UniformOptions
from fairdesk.results.events import Event, Rows, timed

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
