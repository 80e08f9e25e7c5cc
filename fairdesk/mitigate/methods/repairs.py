"""The repairs of Aequitas and TestSGD: which portions of added rows are tried, and when that ends.

Udeshi, Arora and Chattopadhyay, "Automated Directed Fairness Testing", ASE 2018, Algorithm 5, adds
ever greater portions of discriminatory pairs while it helps. The paper stops at the first estimate
that is no lower than the one before. Here both models are queried about the same rows, and the
interval of the difference decides: what lies within it may be chance. That interval knows of the
rows that were drawn, not of the luck that training itself has, which a few rows more set off: so no
portion alone ends the search, and none before one has helped. As in the paper, the lowest share
wins, of those that are shown to help.

Zhang et al., "TestSGD: Interpretable Testing of Neural Networks Against Subtle Group
Discrimination", ACM TOSEM 2023, section on mitigation, adds samples of the rule set with the
opposite label: from 50 samples to 10 % of the data, and the lowest score that does not cost
accuracy. Here a score counts as lower only when the interval of its difference to the model with
nothing added does not contain zero.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fairdesk.mitigate.context import MitigationContext
from fairdesk.mitigate.methods.comparators import beside
from fairdesk.mitigate.methods.trial_runner import PLAIN, Repairing
from fairdesk.mitigate.options import AequitasRepairOptions, TestSgdRepairOptions
from fairdesk.mitigate.rows.pool import of_pairs, of_rule
from fairdesk.results.events import Event, Rows
from fairdesk.results.mitigation import Trial

#: Once a portion has helped, it ends with so many in a row that are shown to be worse, ...
MOST_WORSE = 2
#: ... or not shown to be better. What only costs too much does not count: a greater one need not.
MOST_FRUITLESS = 3


def aequitas(
    mitigation: MitigationContext,
    people: Rows,  # noqa: ARG001 - the context knows them
    options: AequitasRepairOptions,
    rng: np.random.Generator,
) -> Iterator[Event]:
    """Retrain with portions of the pairs found.

    Parameters
    ----------
    rng : np.random.Generator
        All randomness; the same generator gives the same trials.

    Yields
    ------
    Event
        `Augmented` once, `Measured` after every trial, `Progress`, and `Retrained` at the end.

    Raises
    ------
    SpecError
        When there are fewer rows than the first portion takes; before anything is trained.
    ModelError
        When the imported model refuses the rows.
    """
    repair = Repairing(mitigation, options, "share_domain", rng)
    yield from repair.divide()
    drawn = portions(options.most, rng)
    # whole pairs; of few rows, portions may come to the same, and each is tried once
    sizes = sorted({2 * -(-repair.rows_for(percent) // 2) for percent in drawn})
    yield from repair.stock(
        of_pairs(mitigation, repair.parts, options.labels, sizes[-1], rng),
        sizes,
        "Search for more pairs first, or reduce the maximum augmentation size.",
    )
    yield from repair.begin()
    yield from repair.grow(sizes, _Fruitless())
    yield from beside(repair)
    yield from repair.finish()


def portions(most: float, rng: np.random.Generator) -> list[float]:
    """Draw how many percent each portion adds: p_i from (2^(i-2), 2^(i-1)), none above ``most``."""
    drawn = list[float]()
    low, high = 0.5, 1.0
    while not drawn or low < most:
        top = min(high, most)
        drawn.append(float(rng.uniform(min(low, top / 2), top)))
        low, high = high, 2 * high
    return drawn


class _Fruitless:
    """Ends a repair once too many portions in a row have not helped, since one did."""

    def __init__(self) -> None:
        self._in_row: list[Trial] = []

    def __call__(self, trial: Trial, best: Trial) -> str:
        """Return why no portion is tried after this one; empty to go on."""
        if trial.number == best.number:
            self._in_row.clear()
        elif best.number != PLAIN and trial.verdict != "costly":
            self._in_row.append(trial)
        last, how = self._in_row[-MOST_WORSE:], "significantly worse"
        if [each.verdict for each in last] != ["worse"] * MOST_WORSE:
            last, how = self._in_row, "not significantly better"
            if len(last) < MOST_FRUITLESS:
                return ""
        *sizes, greatest = (f"{each.added:,}" for each in last)
        return (
            f"With {', '.join(sizes)} and {greatest} rows added, results were {how} than with "
            f"{best.added:,}."
        )


def testsgd(
    mitigation: MitigationContext,
    people: Rows,  # noqa: ARG001 - the context knows them
    options: TestSgdRepairOptions,
    rng: np.random.Generator,
) -> Iterator[Event]:
    """Retrain with samples of the rule set; parameters and events as of `aequitas`.

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
