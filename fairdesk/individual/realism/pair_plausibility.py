"""How plausible the two instances of a pair are: as usual, and as near, as rows of the data."""

from __future__ import annotations

import functools
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.domain import Domain
from fairdesk.population.plausible import Criterion
from fairdesk.results.events import Rows

#: Fewer instances are not worth a thread.
LEAST_ROWS = 1_000


class Reference(msgspec.Struct, frozen=True):
    """What the share of plausible pairs is held against.

    Attributes
    ----------
    held_out : float
        The share of data rows held out that are plausible.
    uniform : float, optional
        The share of instances drawn uniformly that are; ``None`` where none could be drawn.
    by_distance : bool
        Whether instances were compared by their distance only: the data have too few rows, or too
        many attributes, to estimate how usual they are.
    """

    held_out: float
    uniform: float | None
    by_distance: bool


@dataclass(frozen=True, slots=True)
class Plausibility:
    """How plausible ``n`` pairs are, by `fairdesk.population.plausible.Criterion`.

    Attributes
    ----------
    distance, partner_distance : NDArray[np.float64]
        ``(n,)``; from the instance, and from its partner, to the nearest row of the data, 0 to 1
        (Gower): the mean over all attributes of 0 or 1 for a name that is the same or another, and
        of the difference as a share of the range for a number.
    nearest : NDArray[np.intp]
        ``(n,)``; which row is nearest to the instance: a position among the rows.
    typicality, partner_typicality : NDArray[np.float64]
        ``(n,)``; the share of rows held out that are no more usual, 0 to 1. All NaN where that
        cannot be told.
    plausible : NDArray[np.bool_]
        ``(n,)``; whether both are usual and near.
    reference : Reference, optional
        What the share of these is held against.
    """

    distance: NDArray[np.float64]
    nearest: NDArray[np.intp]
    typicality: NDArray[np.float64]
    partner_distance: NDArray[np.float64]
    partner_typicality: NDArray[np.float64]
    plausible: NDArray[np.bool_]
    reference: Reference | None = None


def score_plausibility(domain: Domain, people: Rows, rows: Rows, partners: Rows) -> Plausibility:
    """Return how plausible pairs are; the same for the same people and pairs.

    Parameters
    ----------
    people : Rows
        ``(m, d)``; the rows of the data.
    rows, partners : Rows
        ``(n, d)`` each; the pairs. Without partners, ``(0, d)``, instances are compared by
        themselves, and plausible is what they are.

    Raises
    ------
    DataError
        When there are no people.
    """
    criterion = _criterion(domain, people.tobytes())
    both = np.concatenate((rows, partners))

    # compiled loops hold no interpreter: there is a thread for each processor
    parts = np.array_split(both, max(1, min(os.cpu_count() or 1, len(both) // LEAST_ROWS)))
    with ThreadPoolExecutor(len(parts)) as pool:
        scored = zip(*pool.map(criterion.assess, parts), strict=True)
    distance, nearest, typicality, plausible = map(np.concatenate, scored)
    n = len(rows)
    return Plausibility(
        distance[:n],
        nearest[:n],
        typicality[:n],
        distance[n:],
        typicality[n:],
        plausible[:n] & plausible[n:] if len(partners) else plausible,
        Reference(criterion.held_out, criterion.uniform, criterion.tree is None),
    )


@functools.lru_cache(maxsize=1)
def _criterion(domain: Domain, people: bytes) -> Criterion:
    """Return what was learned of these people: pairs are weighed batch by batch."""
    return Criterion.fit(domain, np.frombuffer(people).reshape(-1, len(domain.attributes)))
