"""How plausible invented people are: how near to a real one, and how usual among the real ones."""

from __future__ import annotations

import functools
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.domain import Domain
from fairdesk.data.profiling.nearest import measured
from fairdesk.data.table import Kind
from fairdesk.population.nearest import Nearest
from fairdesk.results.events import Rows

#: The forest is fitted on, and people are ranked among, at most so many real ones.
MOST_RANKED = 20_000
#: Fewer people are not worth a thread.
LEAST_ROWS = 1_000


@dataclass(frozen=True, slots=True)
class Plausibility:
    """How plausible ``n`` invented people are.

    Attributes
    ----------
    distance : NDArray[np.float64]
        ``(n,)``; to the nearest real person, 0 to 1 (Gower): the mean over the attributes in which
        members of a similar set are equal, of 0 or 1 for a name that is the same or another, and
        of the difference as a share of the range for a number.
    nearest : NDArray[np.intp]
        ``(n,)``; who that is: a position among the real people.
    score : NDArray[np.float64]
        ``(n,)``; the share of real people who are no more usual than this one (by an isolation
        forest fitted on the real ones, in the same attributes), 0 to 1.
    """

    distance: NDArray[np.float64]
    nearest: NDArray[np.intp]
    score: NDArray[np.float64]


def score_plausibility(domain: Domain, people: Rows, rows: Rows) -> Plausibility:
    """Return how plausible invented people are; the same for the same people and rows.

    How usual somebody is: Liu, Ting and Zhou, "Isolation Forest", ICDM 2008. Two people of a
    similar set are equally plausible, as distance and score look only at what they share.

    Parameters
    ----------
    domain : Domain
        Says what the codes are.
    people : Rows
        ``(m, d)``; the real people, without missing codes.
    rows : Rows
        ``(n, d)``; those to weigh.

    Raises
    ------
    DataError
        When there are no people.
    """
    real = _real(domain, people.tobytes())
    # compiled loops and trees hold no interpreter: there is a thread for each processor
    parts = np.array_split(rows, max(1, min(os.cpu_count() or 1, len(rows) // LEAST_ROWS)))
    with ThreadPoolExecutor(len(parts)) as pool:
        weighed = list(pool.map(real.score_plausibility, parts))
    return Plausibility(*map(np.concatenate, zip(*weighed, strict=True)))


class _Real:
    """The real people, made ready to compare others with."""

    def __init__(self, domain: Domain, people: Rows) -> None:
        # a heavy library: loaded where people are weighed, never in the window's process
        from sklearn.ensemble import IsolationForest  # noqa: PLC0415

        self.nearest = Nearest(domain, people)
        some = people[np.linspace(0, len(people) - 1, min(len(people), MOST_RANKED)).astype(int)]
        self._positions = measured(domain)
        self._rarity = {
            i: _Rarity(some[:, i])
            for i in self._positions.tolist()
            if domain.attributes[i].kind in (Kind.NOMINAL, Kind.TEXT)
        }
        self._forest = IsolationForest(random_state=0).fit(self._features(some))
        self._usual = np.sort(self._forest.score_samples(self._features(some)))

    def score_plausibility(self, rows: Rows) -> tuple[Rows, NDArray[np.intp], Rows]:
        """Return distance, nearest and score of `Plausibility`, ``(n,)`` each."""
        return *self.nearest.find(rows), self.rank(rows)

    def rank(self, rows: Rows) -> NDArray[np.float64]:
        """Return the share of real people who are no more usual, ``(n,)``."""
        if not len(rows):
            return np.empty(0)
        scores = self._forest.score_samples(self._features(rows))
        return np.asarray(np.searchsorted(self._usual, scores, side="right") / len(self._usual))

    def _features(self, rows: Rows) -> Rows:
        """Return a number as it is, a name by how rare it is among the real people: ``(n, m)``.

        Not a column for each name: a forest draws columns at random, and those of an attribute
        with hundreds of names would be nearly all of them.
        """
        features = rows[:, self._positions]
        for column, i in enumerate(self._positions.tolist()):
            if i in self._rarity:
                features[:, column] = self._rarity[i].of(rows[:, i])
        return features


class _Rarity:
    """How rare each name of an attribute is: minus the logarithm of its share."""

    def __init__(self, codes: Rows) -> None:
        self._names, counts = np.unique(codes, return_counts=True)
        self._values = -np.log(counts / len(codes))
        self._unheard_of = -np.log(0.5 / len(codes))

    def of(self, codes: Rows) -> Rows:
        """``(n,)`` for ``(n,)`` codes."""
        places = np.minimum(np.searchsorted(self._names, codes), len(self._names) - 1)
        return np.where(self._names[places] == codes, self._values[places], self._unheard_of)


@functools.lru_cache(maxsize=1)
def _real(domain: Domain, people: bytes) -> _Real:
    """Return what was made ready for these people: others are weighed batch by batch."""
    return _Real(domain, np.frombuffer(people).reshape(-1, len(domain.attributes)))
