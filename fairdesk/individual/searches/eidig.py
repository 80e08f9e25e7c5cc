"""EIDIG: white-box search for individual discriminatory instances by gradients of the output.

Zhang, Zhang, Zhang, "Efficient White-box Fairness Testing through Gradient Search", ISSTA 2021.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.searches.gradient_walks import GradientWalks
from fairdesk.individual.searches.options import EidigOptions
from fairdesk.models.model import labels
from fairdesk.results.events import Event, Rows, timed


def search(
    context: SearchContext, people: Rows, options: EidigOptions, rng: np.random.Generator
) -> Iterator[Event]:
    """Search for individual discriminatory instances (EIDIG, Algorithm 1).

    The gradient is that of the decided class's score, with momentum in the global phase; the
    local phase renews it once in ``update_interval`` successes. Parameters and events as in
    `maft.search`; the model has gradients.
    """
    walks = GradientWalks(
        context,
        options,
        rng,
        lambda rows: output_slopes(context, rows),
        decay=options.decay,
        update_interval=options.update_interval,
    )
    return timed(walks.run(people))


def output_slopes(context: SearchContext, rows: Rows) -> Rows:
    """Return the true gradient of the decided class's score at ``(n, d)`` rows.

    Returns
    -------
    Rows
        ``(n, v)``; along one step of each varying attribute.
    """
    domain = context.domain
    scores = context.cached_model.predict(rows)
    predicted_class = labels(scores)
    column = np.zeros_like(predicted_class) if scores.shape[1] == 1 else predicted_class
    per_code = context.cached_model.gradients(rows, column)[:, domain.varying]
    slopes = per_code * domain.unit[domain.varying]
    if scores.shape[1] == 1:
        slopes[predicted_class == 0] *= -1
    return slopes
