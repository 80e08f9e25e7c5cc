"""When a row is plausible: as usual as rows of the data are, and as near to one of them.

A search that is kept to plausible instances works in a `PlausibleDomain`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.domain import Domain
from fairdesk.errors import SpecError
from fairdesk.population.nearest import Nearest
from fairdesk.population.tree import PopulationTree
from fairdesk.results.events import Rows

#: This share of the rows held out is outside of each threshold: too rare, or too far away.
RAREST = 0.05
#: A tree is learned from no fewer rows: of them one half, the other half says what is usual.
LEAST_ROWS = 200
#: Of more attributes no tree is learned: each is compared with each other one.
MOST_ATTRIBUTES = 200
#: Rows that are held out are compared with the others up to so many.
MOST_HELD_OUT = 5_000
#: Instances drawn uniformly, for comparison.
UNIFORM = 1_000
#: Once so many instances were drawn in vain, nothing is plausible.
_MOST_DRAWN = 100_000


class Assessed(NamedTuple):
    """What a criterion says of ``n`` rows.

    Attributes
    ----------
    distance, nearest
        As of `Nearest.find`.
    typicality, plausible
        As of the criterion's methods of these names.
    """

    distance: Rows
    nearest: NDArray[np.intp]
    typicality: Rows
    plausible: NDArray[np.bool_]


@dataclass(frozen=True)
class Criterion:
    """Decides which rows are plausible: usual and near, by thresholds that the data themselves set.

    All attributes count, the protected ones included.

    Attributes
    ----------
    domain : Domain
        Says what the codes are.
    tree : PopulationTree, optional
        Learned from one half of the rows; ``None`` where there are too few rows, or too many
        attributes: then rows are compared by their distance only.
    densities : Rows
        ``(h,)``, ascending: the log density of rows of the other half.
    least_density : float
        A row is usual if its log density is at least this. The rarest 5 % of the rows held out are
        below it.
    greatest_distance : float
        A row is near if its Gower distance to the nearest row of the data is at most this. 5 % of
        the rows held out are farther from their nearest other row.
    held_out : float
        The share of the rows held out that are plausible by this.
    nearest : Nearest
        Finds the nearest row of the data.
    """

    domain: Domain
    tree: PopulationTree | None
    densities: Rows
    least_density: float
    greatest_distance: float
    held_out: float
    nearest: Nearest

    @classmethod
    def fit(cls, domain: Domain, people: Rows) -> Criterion:
        """Learn what is plausible; the same of the same rows.

        Parameters
        ----------
        people : Rows
            ``(m, d)``; the rows of the data.

        Raises
        ------
        DataError
            When there are no rows.
        """
        nearest = Nearest(domain, people, whole=True)
        shuffled = np.random.default_rng(0).permutation(len(people))
        half = len(people) // 2
        fitted, others = people[np.sort(shuffled[half:])], np.sort(shuffled[:half])
        held = people[others]
        tree, densities, floor = None, np.empty(0), -np.inf
        if len(people) >= LEAST_ROWS and len(domain.attributes) <= MOST_ATTRIBUTES:
            tree = PopulationTree.fit(domain, fitted)
            densities = tree.log_density(held)
            floor = _floor(densities)
        some = np.linspace(0, len(held) - 1, min(len(held), MOST_HELD_OUT)).astype(np.intp)
        apart = _to_others(nearest, people, others[some])
        limit = -_floor(-apart)
        usual = densities[some] >= floor if tree is not None else np.ones(len(some), np.bool_)
        plausible = usual & (apart <= limit)
        return cls(
            domain,
            tree,
            np.sort(densities),
            floor,
            limit,
            float(plausible.mean()) if len(some) else 1.0,
            nearest,
        )

    def usual(self, rows: Rows) -> NDArray[np.bool_]:
        """Return which of ``(n, d)`` rows are as usual as rows of the data: ``(n,)``."""
        return np.asarray(self._log_density(rows) >= self.least_density)

    @cached_property
    def near(self) -> Callable[[Rows], NDArray[np.bool_]]:
        """Return which of ``(n, d)`` rows are near to a row of the data."""
        return self.nearest.within(self.greatest_distance)

    def plausible(self, rows: Rows) -> NDArray[np.bool_]:
        """Return which of ``(n, d)`` rows are usual and near: ``(n,)``."""
        plausible = self.usual(rows)
        plausible[plausible] = self.near(rows[plausible])
        return plausible

    def assess(self, rows: Rows) -> Assessed:
        """Return all that there is to tell of ``(n, d)`` rows, each looked up once."""
        distance, nearest = self.nearest.find(rows)
        near = self.nearest.is_within(distance, self.greatest_distance)
        density = self._log_density(rows)
        usual = density >= self.least_density
        return Assessed(distance, nearest, self._typicality(density), near & usual)

    def _log_density(self, rows: Rows) -> Rows:
        """Return how usual rows are, ``(n,)``; 0 where there is no tree."""
        return np.zeros(len(rows)) if self.tree is None else self.tree.log_density(rows)

    def _typicality(self, density: Rows) -> Rows:
        if self.tree is None:
            return np.full(len(density), np.nan)
        place = np.searchsorted(self.densities, density, side="right")
        return np.asarray(place / len(self.densities))

    @cached_property
    def uniform(self) -> float | None:
        """The share of instances drawn uniformly that are plausible; ``None`` if none is drawn."""
        try:
            drawn = self.domain.sample(np.random.default_rng(0), UNIFORM)
        except SpecError:
            return None  # nearly nothing fulfils the constraints
        return float(self.plausible(drawn).mean())


class PlausibleDomain(Domain, frozen=True, dict=True, eq=False, kw_only=True):
    """A domain of which only instances are allowed that are as usual as rows of the data.

    Wherever a search keeps the constraints it keeps this, too: seeds are rows that are usual, a
    step that leaves what is usual is not taken, and no other member of a similar set is queried.

    Attributes
    ----------
    criterion : Criterion
        Says what is usual, and what is near to a row of the data: that is compared only where
        it is needed, by `SearchContext`.
    """

    criterion: Criterion

    @classmethod
    def of(cls, domain: Domain, criterion: Criterion) -> PlausibleDomain:
        """Return the plausible part of a domain."""
        return cls(
            domain.attributes,
            domain.constraints,
            domain.determined,
            domain.unseen,
            domain.support,
            criterion=criterion,
        )

    @property
    def has_constraints(self) -> bool:
        """That there is something that an instance must fulfil."""
        return True

    @property
    def resembles_data(self) -> bool:
        """That only instances that resemble rows of the data are allowed."""
        return True

    def allowed(self, rows: Rows) -> NDArray[np.bool_]:
        """Return for each of ``(n, d)`` rows whether it fulfils the constraints and is usual."""
        fine = super().allowed(rows)
        if fine.any():
            fine[fine] = self.criterion.usual(rows[fine])
        return fine

    def _admitted(self, rows: Rows) -> NDArray[np.bool_]:
        """Return which rows fulfil the constraints and are usual."""
        fine = super()._admitted(rows)
        fine[fine] = self.criterion.usual(rows[fine])
        return fine

    def draw(
        self, rng: np.random.Generator, n: int, batch: int, people: Rows | None = None
    ) -> Iterator[Rows]:
        """Draw instances from the tree, batch by batch; those that are not usual are drawn again.

        Protected values are among the compared ones. The rest is as of `Domain.draw`, which is
        used where there is no tree.
        """
        tree = self.criterion.tree
        if tree is None:
            yield from super().draw(rng, n, batch, people)
            return
        given = drawn = 0
        while given < n:
            rows, _ = self.snap(tree.sample(rng, batch))
            if people is not None and self.fixed.size:
                rows[:, self.fixed] = people[rng.integers(len(people), size=len(rows))][
                    :, self.fixed
                ]
                self.apply_dependencies(rows)
            drawn += len(rows)
            rows = rows[self.allowed(rows)][: n - given]
            given += len(rows)
            if not given and drawn >= _MOST_DRAWN:
                raise SpecError(
                    f"No plausible instance was found among {drawn:,} drawn at random.",
                    why="The constraints or fixed attributes leave none that resembles the data.",
                    remedy="Relax the constraints, or search without plausibility.",
                )
            yield rows


def _floor(values: Rows) -> float:
    """Return the least of values when the least 5 % are left out; minus infinity of none."""
    left_out = int(RAREST * len(values))
    return float(np.partition(values, left_out)[left_out]) if len(values) else -np.inf


def _to_others(nearest: Nearest, people: Rows, held: NDArray[np.intp]) -> Rows:
    """Return how far rows of the data are from the nearest other one: ``(h,)``."""
    distance, _ = nearest.several(people[held], 2)
    # each is the nearest to itself, or to one that is equal to it
    if distance.shape[1] < 2:
        return np.zeros(len(held))
    return np.where(nearest.multiplicity[held] > 1, 0.0, distance[:, 1])
