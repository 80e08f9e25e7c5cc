"""The data's own people, whom invented ones are compared with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.pair import MinimalPair, Pair
from fairdesk.audit.store.store import Store
from fairdesk.data.profiling.nearest import everywhere, nearest
from fairdesk.data.table import Table
from fairdesk.results.events import Rows


@dataclass(frozen=True)
class Real:
    """The real person who is nearest to an invented one.

    Attributes
    ----------
    person : NDArray[np.float64]
        ``(d,)`` codes.
    distance : float
        0 (the same in all that is compared) to 1.
    row : int
        The number of that row in the data, from 1.
    outcome : str
        What the data's label column says of it.
    """

    person: NDArray[np.float64]
    distance: float
    row: int
    outcome: str


class RealPeople:
    """Reads the data's people once. Lives in the thread of the audit file."""

    def __init__(self, spec: AuditSpec) -> None:
        self._spec = spec
        self._read: tuple[Table, Rows, NDArray[np.intp]] | None = None

    def everybody(self, store: Store) -> Rows:
        """Return them all: ``(m, d)``, as `Pair.nearest` counts them."""
        return self._people(store)[1]

    def nearest(self, store: Store, pair: Pair | MinimalPair) -> Real | None:
        """Return who is nearest to a pair's first person; ``None`` where the data have nobody."""
        table, people, places = self._people(store)
        if not len(people):
            return None
        position, distance = pair.nearest, pair.distance
        if position is None or distance is None:
            domain = self._spec.domain
            position, distance = nearest(domain, people, np.asarray(pair.row), everywhere(domain))
        place = int(places[position])
        label = table.index(self._spec.label)
        outcome = table.columns[label].text(table.codes[place, label])
        return Real(people[position], distance, place + 1, outcome)

    def _people(self, store: Store) -> tuple[Table, Rows, NDArray[np.intp]]:
        if self._read is None:
            table, domain = store.table(), self._spec.domain
            self._read = table, domain.people(table), domain.places(table)
        return self._read
