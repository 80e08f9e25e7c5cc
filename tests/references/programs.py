"""What the authors' programs of ADF and Aequitas do where that is not what their papers write.

Both leave the local search to SciPy's `basinhopping`, of which here only the rule is: from an
instance that is discriminated against to one that is not a walk goes on with a chance of
exp(-rise), else it returns. The rise of the objective is 1, so the chance is 0.37; but 2, and 0.14,
in Aequitas's fully directed program for scikit-learn, whose objective is the sum of two labels of
-1 or 1. One instance at a time, for models of two classes; nobody is asked about twice.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.domain import Domain
from fairdesk.individual.engine.steps import clustered_seeds
from fairdesk.individual.searches.options import AdfOptions
from fairdesk.results.events import Rows
from tests.references.gradients import Model

#: The chance to go on when the objective rises by 1, and by 2.
ONE, TWO = float(np.exp(-1)), float(np.exp(-2))


class _Verdicts:
    """Who was tried, and who of them is discriminated against."""

    def __init__(self, model: Model, domain: Domain) -> None:
        self.model, self.domain = model, domain
        self.known: dict[bytes, bool] = {}

    def __call__(self, x: Rows) -> bool:
        key = x[self.domain.others].tobytes()
        if key not in self.known:
            positive = self.model.predict(self.domain.similar(x[None])[0])[:, 0] > 0.5
            self.known[key] = bool(positive.any() and not positive.all())
        return self.known[key]

    @property
    def counts(self) -> tuple[int, int]:
        """How many are discriminated against, and how many were tried."""
        return sum(self.known.values()), len(self.known)


def hop(
    start: Rows,
    steps: int,
    step: Callable[[Rows], tuple[Rows, bool]],
    acceptance: float,
    rng: np.random.Generator,
) -> None:
    """Walk from an instance that is discriminated against, as `basinhopping` does.

    Parameters
    ----------
    step : callable
        Returns the next instance, and whether it is discriminated against.
    acceptance : float
        The chance to go on from there if it is not, and the one before was.
    """
    x, discriminated = start, True
    for _ in range(steps):
        moved, hit = step(x)
        if hit or not discriminated or rng.random() < acceptance:
            x, discriminated = moved, hit


def adf(
    model: Model, domain: Domain, people: Rows, options: AdfOptions, rng: np.random.Generator
) -> tuple[int, int]:
    """Search as ADF's own program does.

    The paper's local search returns to where it began from whatever is not discriminated against;
    the program's is `hop`. It keeps the flipping value that it met first, has no epsilon, walks
    around an instance at once and only if it is new, and where no attribute's signs agree moves
    one at random.

    Returns
    -------
    tuple[int, int]
        Instances found, and tried.
    """
    verdict, vary = _Verdicts(model, domain), domain.varying

    def uphill(x: Rows) -> Rows:
        """Return the slope of the loss at the predicted label."""
        score = float(model.predict(x[None])[0, 0])
        slope = model.gradients(x[None], np.zeros(1, dtype=np.intp))[0, vary]
        return np.asarray(-slope / score if score > 0.5 else slope / (1 - score))

    def moved(x: Rows, change: Rows) -> Rows:
        further = x.copy()
        further[vary] += change
        return np.asarray(further.clip(domain.low, domain.high))

    for seed in domain.snap(clustered_seeds(people, options.cluster_num, options.global_num, rng))[
        0
    ]:
        x = seed.copy()
        for _ in range(options.max_iter + 1):
            similar = domain.similar(x[None])[0]
            scores = model.predict(similar)[:, 0].astype(np.float64)
            own = scores[(similar == x).all(axis=1)][0]
            flips = (scores > 0.5) != (own > 0.5)
            other = flips.argmax() if flips.any() else np.abs(scores - own).argmax()
            new = x[domain.others].tobytes() not in verdict.known
            if verdict(x) and new:
                values = similar[other, domain.protected]

                def step(here: Rows, values: Rows = values) -> tuple[Rows, bool]:
                    partner = here.copy()
                    partner[domain.protected] = values
                    with np.errstate(divide="ignore", invalid="ignore"):
                        odds = 1 / (np.abs(uphill(here)) + np.abs(uphill(partner)))
                        odds = np.where(np.isinf(odds), 1e12, odds)
                    odds /= odds.sum()
                    change = np.zeros(len(vary))
                    change[rng.choice(len(vary), p=odds)] = rng.choice((-1.0, 1.0))
                    there = moved(here, change)
                    return there, verdict(there)

                hop(x, options.local_num, step, ONE, rng)
                break
            signs = np.sign(uphill(x)), np.sign(uphill(similar[other]))
            agree = signs[0] == signs[1]
            if not agree.any():
                agree[rng.integers(len(vary))] = True
            x = moved(x, signs[0] * agree)
    return verdict.counts


def aequitas(
    model: Model,
    domain: Domain,
    draws: int,
    trials: int,
    rng: np.random.Generator,
    *,
    learns: str = "",
    acceptance: float = ONE,
    reverse: bool = False,
    delta: float = 0.001,
) -> tuple[int, int]:
    """Search as Aequitas's own program does.

    Apart from `hop`, it also steps along the protected attribute, which leads nowhere, learns from
    failures too which attributes to change, and at an end of the range draws either direction.

    Parameters
    ----------
    draws, trials : int
        Instances drawn, and steps around each that is discriminated against.
    learns : str
        "" in the random program, "direction" in the semi-directed and "attribute" in the fully
        directed one.
    acceptance : float
        Of `hop`: `TWO` in the fully directed program for scikit-learn.
    reverse : bool
        Whether success and failure are confounded, as there.

    Returns
    -------
    tuple[int, int]
        Instances found, and tried.
    """
    verdict = _Verdicts(model, domain)
    columns: NDArray[np.intp] = np.sort(np.concatenate([domain.varying, domain.protected]))
    sigma_pr = np.full(len(columns), 1 / len(columns))
    sigma_v = np.full(len(columns), 0.5)

    def step(here: Rows) -> tuple[Rows, bool]:
        nonlocal sigma_pr
        p = rng.choice(len(columns), p=sigma_pr)
        i, there = columns[p], here.copy()
        at_end = here[i] in (domain.low[i], domain.high[i])
        down = rng.random() < (0.5 if at_end or not learns else sigma_v[p])
        there[i] = min(max(here[i] + (-1 if down else 1), domain.low[i]), domain.high[i])
        hit = verdict(there)
        success = hit != reverse
        sigma_v[p] = min(max(sigma_v[p] + (delta if success == down else -delta), 0.0), 1.0)
        if learns == "attribute":
            sigma_pr[p] = max(sigma_pr[p] + (delta if success else -delta), 0.0)
            sigma_pr = sigma_pr / sigma_pr.sum()
        return there, hit

    for x in [x for x in domain.sample(rng, draws) if verdict(x)]:
        hop(x, trials, step, acceptance, rng)
    return verdict.counts
