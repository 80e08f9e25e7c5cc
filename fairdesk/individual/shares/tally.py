"""The count behind a share of individuals."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fairdesk.individual.engine.sampling import GAIN, LOSS, UNCHANGED, UNSUPPORTED
from fairdesk.individual.shares.intervals import anytime, clopper_pearson
from fairdesk.results.individual import Share, Whom

#: Points of the course that are kept.
_POINTS = 100


class Tally:
    """The count behind one share.

    Parameters
    ----------
    whom, attributes, confidence
        As in `Share`.
    planned : int
        People that are to be checked at most.
    trial : int
        People in a trial; 0 for none.
    total : int, optional
        Of how many people they are drawn without replacement.
    adaptive : bool
        Whether what was counted decides how many are checked; then the exact interval for a
        fixed number does not hold, and the anytime interval takes its place.
    values : NDArray[np.float64], optional
        ``(C,)``; the attribute's code in each combination of protected values, where gains and
        losses are counted.
    """

    def __init__(
        self,
        whom: Whom,
        attributes: tuple[str, ...],
        confidence: float,
        planned: int,
        *,
        trial: int = 0,
        total: int | None = None,
        adaptive: bool = False,
        values: NDArray[np.float64] | None = None,
    ) -> None:
        #: Compared so far; those of them that changed; those without a comparison.
        self.people = self.hits = self.unsupported = 0
        self._values = values
        #: Gains by combination, then losses: ``(2 C,)``.
        self.directed = np.zeros(0 if values is None else 2 * len(values), dtype=np.int64)
        self.confidence, self.total = confidence, total
        self._whom, self._attributes, self._adaptive = whom, attributes, adaptive
        self._trial = trial
        planned = min(planned, total or planned)
        self._trial_hits = np.zeros(-(-planned // trial) if trial else 0, dtype=np.int64)
        self._every = max(1, planned // _POINTS)
        self._due: list[tuple[int, int]] = []
        self._course: list[tuple[float, float, float, float]] = []

    @property
    def drawn(self) -> int:
        """How many were drawn so far."""
        return self.people + self.unsupported

    def add(self, changed: NDArray[np.int8]) -> None:
        """Count ``(n,)`` changes, as `fairdesk.individual.engine.sampling.changes` returns them."""
        compared = changed[changed != UNSUPPORTED]
        self.unsupported += len(changed) - len(compared)
        hits_drawn = compared != UNCHANGED
        if self._trial:
            trials = (self.people + np.flatnonzero(hits_drawn)) // self._trial
            self._trial_hits += np.bincount(trials, minlength=len(self._trial_hits))
        hits = self.hits + np.cumsum(hits_drawn)
        for point in range(
            self._every - self.people % self._every, len(hits_drawn) + 1, self._every
        ):
            self._due.append((self.people + point, int(hits[point - 1])))
        self.people += len(hits_drawn)
        self.hits += int(hits_drawn.sum())

    def _by_value(self) -> Iterator[tuple[float, int, int]]:
        """Yield each own value whose decision changes for some, with gains and losses."""
        if self._values is None or len(self._attributes) > 1:
            return
        for code in np.unique(self._values).tolist():
            own = self.directed.reshape(2, -1)[:, self._values == code]
            gains, losses = own.sum(axis=1).tolist()
            if gains or losses:
                yield code, gains, losses

    def ends(self) -> tuple[float, float]:
        """Return the anytime interval."""
        low, high = anytime(self.hits, self.people, self.confidence, self.total)
        return float(low), float(high)

    def share(self) -> Share:
        """Return the share so far; of at least one person."""
        points = np.array([*self._due, (self.people, self.hits)])
        people, hits = points.T
        low, high = anytime(hits, people, self.confidence, self.total)
        exhaustive = self.drawn == self.total
        if exhaustive:  # with the rows that have no comparison all of them were drawn
            low[-1] = high[-1] = hits[-1] / people[-1]
        looks = np.column_stack([people, hits / people, low, high]).tolist()
        points_told = [(float(a), float(b), float(c), float(d)) for a, b, c, d in looks]
        self._course += points_told[:-1]
        self._due.clear()
        now = points_told[-1]
        ended = self._course and self._course[-1] == now
        course = self._course if ended else [*self._course, now]
        fixed = now[2:]
        if not self._adaptive and not exhaustive:
            ends = clopper_pearson(self.hits, self.people, self.confidence)
            fixed = float(ends[0]), float(ends[1])
        whole = self.people // self._trial if self._trial else 0
        gains, losses = self.directed.reshape(2, -1).sum(axis=1).tolist()
        return Share(
            whom=self._whom,
            attributes=self._attributes,
            n_samples=self.people,
            hits=self.hits,
            exhaustive=exhaustive,
            confidence=self.confidence,
            estimate=now[1],
            low=fixed[0],
            high=fixed[1],
            anytime_low=now[2],
            anytime_high=now[3],
            trials=tuple((self._trial_hits[:whole] / max(1, self._trial)).tolist()),
            course=tuple(course),
            gains=None if self._values is None else gains,
            losses=None if self._values is None else losses,
            by_value=tuple(self._by_value()),
            unsupported=self.unsupported,
        )


def directed(changed: NDArray[np.int8], own: NDArray[np.intp], members: int) -> NDArray[np.int64]:
    """Count ``(n, s)`` changes: ``(s, 2 * members)`` gains, then losses, by own combination."""
    return np.array(
        [
            np.bincount(
                np.concatenate([own[one == GAIN], members + own[one == LOSS]]),
                minlength=2 * members,
            )
            for one in changed.T
        ]
    )
