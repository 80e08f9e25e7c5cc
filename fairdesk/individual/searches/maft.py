"""MAFT: black-box search for individual discriminatory instances by zero-order gradients.

Wang et al., "MAFT: Efficient Model-Agnostic Fairness Testing for Deep Neural Networks via
Zero-Order Gradient Search", ICSE 2024. Algorithm numbers are that paper's. The two phases of the
search are in `fairdesk.individual.searches.gradient_walks`, which EIDIG and ADF share; here is how
gradients are estimated.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fairdesk.individual.engine.context import SearchContext, in_parts
from fairdesk.individual.engine.steps import Steps
from fairdesk.individual.searches.gradient_walks import GradientWalks
from fairdesk.individual.searches.options import MaftOptions
from fairdesk.models.model import labels
from fairdesk.results.events import Event, Rows, Scores, timed


def search(
    context: SearchContext, people: Rows, options: MaftOptions, rng: np.random.Generator
) -> Iterator[Event]:
    """Search for individual discriminatory instances (MAFT, Algorithm 2).

    Parameters
    ----------
    context : SearchContext
        The model under audit, of which only the answers are used, and who may be asked about.
    people : Rows
        ``(n, d)``, ``n >= 1``; the data's rows in the domain's codes, seeds are drawn from them.
    options : MaftOptions
        The paper's parameters.
    rng : np.random.Generator
        All randomness; the same generator gives the same events.

    Yields
    ------
    Event
        A `Progress` for every step of either phase; `Found` as findings arrive.
    """
    walks = GradientWalks(
        context,
        options,
        rng,
        ZeroOrder(context, options.perturbation_size),
        decay=options.decay,
        update_interval=options.update_interval,
    )
    return timed(walks.run(people))


class ZeroOrder:
    """Estimates gradients from answers (ComputeGrad, Algorithm 2).

    All attributes of all rows are perturbed in one batch; Algorithm 1 queries the same rows one by
    one and comes to the same. At the upper edge of the domain the
    difference is taken backwards, so that nobody outside is asked about; likewise where a
    constraint is broken forwards.

    Parameters
    ----------
    context : SearchContext
        The model under audit and who may be asked about.
    size : float
        The perturbation size.
    """

    def __init__(self, context: SearchContext, size: float) -> None:
        self._domain, self._model = context.domain, context.cached_model
        self._steps = Steps(context.domain, size)

    def __call__(self, rows: Rows) -> Rows:
        """Return how the decided class's score changes along one step of each varying attribute.

        Parameters
        ----------
        rows : Rows
            ``(n, d)``, in the domain.

        Returns
        -------
        Rows
            ``(n, v)``, in score per step; nought where constraints allow neither direction.
        """
        return in_parts(self._slopes, rows, len(self._domain.varying))

    def _slopes(self, rows: Rows) -> Rows:
        if self._domain.has_constraints:
            own = self._model.predict(rows)
            there, sign = self._allowed_neighbours(rows)
        else:
            keys, make = self._steps.around(rows, self._model.keys(rows))
            answers = self._model.answer(keys.ravel(), make)
            around = answers.reshape(*keys.shape, answers.shape[1])
            own, there = around[:, 0], around[:, 1:]
            sign = np.where(self._steps.room(rows), 1.0, -1.0)
        predicted_class = labels(own)
        if own.shape[1] == 1:
            change = there[:, :, 0] - own
            sign = np.where(predicted_class[:, None] == 1, sign, -sign)
        else:
            people = np.arange(len(rows))
            change = there[people, :, predicted_class] - own[people, predicted_class, None]
        return np.asarray(sign * change, dtype=np.float64)

    def _allowed_neighbours(self, rows: Rows) -> tuple[Scores, Rows]:
        """Ask about the neighbours who may be: ``(n, v, k)``; and in which direction they are."""
        steps, domain = self._steps, self._domain
        shape = len(rows), len(domain.varying)
        forward, backward = steps.each(rows, 1.0), steps.each(rows, -1.0)
        fine, instead = (
            domain.allowed(each.reshape(-1, rows.shape[1])).reshape(shape)
            for each in (forward, backward)
        )
        fine &= steps.room(rows)
        sign = np.where(fine, 1.0, np.where(instead, -1.0, 0.0))
        moved = np.where(fine[:, :, None], forward, backward)
        # whoever may not be is not asked about: the person themselves stand in
        moved = np.where(sign[:, :, None] == 0, rows[:, None, :], moved)
        there = self._model.predict(moved.reshape(-1, rows.shape[1]))
        return there.reshape(*shape, there.shape[1]), sign
