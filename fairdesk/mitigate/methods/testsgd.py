"""TestSGD's mitigation: add samples of the rule set with the opposite label.

Zhang et al., "TestSGD: Interpretable Testing of Neural Networks Against Subtle Group
Discrimination", ACM TOSEM 2023, section on mitigation: from 50 samples to 10 % of the data, and the
lowest score that does not cost accuracy. Here a score counts as lower only when the interval of its
difference to the model with nothing added leaves nought out.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fairdesk.mitigate.context import MitigationContext
from fairdesk.mitigate.methods.comparators import beside
from fairdesk.mitigate.methods.trial_runner import Repairing
from fairdesk.mitigate.options import TestSgdRepairOptions
from fairdesk.mitigate.rows.pool import of_rule
from fairdesk.results.events import Event, Rows


def search(
    mitigation: MitigationContext,
    people: Rows,  # noqa: ARG001 - the context knows them
    options: TestSgdRepairOptions,
    rng: np.random.Generator,
) -> Iterator[Event]:
    """Retrain with samples of the rule set; parameters and events as in `aequitas.search`.

    Raises
    ------
    SpecError
        When there are fewer samples than the smallest amount; before anything is trained.
    ModelError
        When the imported model refuses the rows.
    """
    repair = Repairing(mitigation, options, "rule_score", rng)
    yield from repair.divide()
    sizes = amounts(options.least, repair.rows_for(options.most))
    yield from repair.stock(
        of_rule(mitigation, repair.parts, sizes[-1], rng),
        sizes,
        "Reduce the minimum samples, or choose another subgroup.",
    )
    yield from repair.begin()
    yield from repair.grow(sizes)
    yield from beside(repair)
    yield from repair.finish()


def amounts(least: int, most: int) -> list[int]:
    """Return how many samples are added each time: twice as many as before, ``most`` at last."""
    sizes = [min(least, most)]
    while sizes[-1] < most:
        sizes.append(min(2 * sizes[-1], most))
    return sizes
