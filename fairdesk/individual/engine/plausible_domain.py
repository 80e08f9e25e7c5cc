"""The plausible part of an input domain: a constraint that the data make, kept by every search."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.domain import Domain
from fairdesk.errors import SpecError
from fairdesk.population.plausible import Criterion
from fairdesk.results.events import Rows

#: Once so many instances were drawn in vain, nothing is plausible.
_MOST_DRAWN = 100_000


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
