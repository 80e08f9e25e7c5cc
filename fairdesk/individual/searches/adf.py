"""ADF: white-box search for individual discriminatory instances by gradients of the loss.

Zhang et al., "White-box Fairness Testing through Adversarial Sampling", ICSE 2020.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.searches.eidig import output_slopes
from fairdesk.individual.searches.gradient_walks import GradientWalks
from fairdesk.individual.searches.options import AdfOptions
from fairdesk.models.model import labels
from fairdesk.results.events import Event, Rows, timed

#: Where a loss would be without bounds: the least score that counts, as Keras has it.
LEAST_SCORE = 1e-7


def search(
    context: SearchContext, people: Rows, options: AdfOptions, rng: np.random.Generator
) -> Iterator[Event]:
    """Search for individual discriminatory instances (ADF, Algorithm 1).

    The gradient is that of the loss at the predicted label, without momentum; the local phase
    takes both gradients at every step. Parameters and events as in `maft.search`; the model has
    gradients.
    """
    walks = GradientWalks(context, options, rng, lambda rows: loss_slopes(context, rows))
    return timed(walks.run(people))


def loss_slopes(context: SearchContext, rows: Rows) -> Rows:
    """Return the true gradient of minus the loss at the predicted label, of ``(n, d)`` rows.

    The loss is cross-entropy, minus the logarithm of the decided class's score. Walks go where
    this becomes less, and so climb the loss.

    Returns
    -------
    Rows
        ``(n, v)``; along one step of each varying attribute.
    """
    scores = context.cached_model.predict(rows)
    predicted_class = labels(scores)
    if scores.shape[1] == 1:
        own = np.where(predicted_class == 1, scores[:, 0], 1 - scores[:, 0])
    else:
        own = scores[np.arange(len(rows)), predicted_class]
    return output_slopes(context, rows) / np.maximum(own, LEAST_SCORE)[:, None].astype(np.float64)
