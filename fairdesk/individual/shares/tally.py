"""The count behind a share of individuals, and its interval.

Two kinds, both exact: neither leans on the normal distribution, which at nought hits would give
an interval of no width. Whatever floating point rounds is rounded outwards.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairdesk.individual.engine.sampling import GAIN, LOSS, UNCHANGED, UNSUPPORTED
from fairdesk.results.individual import Share, Whom

Ends = tuple[NDArray[np.float64], NDArray[np.float64]]

#: Halvings after which the ends of a bracket in [0, 1] are neighbouring floats.
_HALVINGS = 80
#: How far the inverse of the incomplete beta function may be off, with plenty to spare.
_SLACK = 1e-12
#: Of more people a sample is the same with replacement or without: no part of them worth telling,
#: and what floating point rounds of so large factorials would be.
_MOST_TOTAL = 10**9
#: Of the logarithms of gamma functions, relative to the largest of them.
_ROUNDING = 16 * np.finfo(np.float64).eps


def clopper_pearson(hits: ArrayLike, people: ArrayLike, confidence: float) -> Ends:
    """Return the exact interval for a share, where the size of the sample was fixed beforehand.

    C. J. Clopper and E. S. Pearson, "The Use of Confidence or Fiducial Limits Illustrated in the
    Case of the Binomial", Biometrika 26 (1934). It holds for people drawn independently, and for
    people drawn without replacement, where it is wider than need be.

    Parameters
    ----------
    hits, people : array_like of int
        Of one shape; ``0 <= hits <= people``. With nobody the interval is all of [0, 1].
    confidence : float
        Above 0 and below 1: the least probability that the interval holds the share.

    Returns
    -------
    low, high : NDArray[np.float64]
        Of the same shape.
    """
    # slow to import, needed where something was counted
    from scipy.special import betaincinv  # noqa: PLC0415

    hits, people = np.asarray(hits, dtype=np.float64), np.asarray(people, dtype=np.float64)
    tail = (1.0 - confidence) / 2
    missed = people - hits
    low = betaincinv(np.maximum(hits, 1), missed + 1, tail) * (1 - _SLACK)
    high = betaincinv(hits + 1, np.maximum(missed, 1), 1.0 - tail) * (1 + _SLACK)
    return np.where(hits > 0, low, 0.0), np.where(missed > 0, np.minimum(high, 1.0), 1.0)


def anytime(
    hits: ArrayLike, people: ArrayLike, confidence: float, total: int | None = None
) -> Ends:
    """Return the interval for a share that holds at every size of the sample at once.

    A confidence sequence: with the given probability none of the intervals, however long the
    sampling goes on, misses the share, so that whoever looks may stop when they like. It is the
    set of all shares that are not refuted by a mixture martingale, the ratio of the probability of
    the sample under Beta(1/2, 1/2) to that under the share. By Ville's inequality the martingale
    of the true share ever reaches ``1 / (1 - confidence)`` with a probability of at most
    ``1 - confidence`` (H. Robbins, "Statistical Methods Related to the Law of the Iterated
    Logarithm", Annals of Mathematical Statistics 41, 1970; S. R. Howard et al., "Time-Uniform,
    Nonparametric, Nonasymptotic Confidence Sequences", Annals of Statistics 49, 2021). For people
    drawn without replacement the same ratio is that of prior to posterior (I. Waudby-Smith and
    A. Ramdas, "Confidence Sequences for Sampling Without Replacement", NeurIPS 2020, section 2).

    Parameters
    ----------
    hits, people : array_like of int
        Of one shape; ``0 <= hits <= people``. With nobody the interval is all of [0, 1].
    confidence : float
        Above 0 and below 1.
    total : int, optional
        Of how many people in all the sample is drawn without replacement. By default people are
        drawn independently.

    Returns
    -------
    low, high : NDArray[np.float64]
        Of the same shape. With ``total`` people counted they are both the share itself.
    """
    from scipy.special import gammaln  # noqa: PLC0415 - see above

    hits, people = np.asarray(hits, dtype=np.float64), np.asarray(people, dtype=np.float64)
    missed = people - hits
    mixed = gammaln(hits + 0.5) + gammaln(missed + 0.5) - gammaln(people + 1) - np.log(np.pi)
    if total is not None and total > _MOST_TOTAL:
        total = None
    rounding = _ROUNDING * (gammaln((people if total is None else total) + 2.0) + 1)
    least = np.asarray(mixed + np.log(1.0 - confidence) - rounding)
    if total is None:
        return _shares(hits, missed, least)
    return _shares_of(total, hits, missed, least)


def _shares(
    hits: NDArray[np.float64], missed: NDArray[np.float64], least: NDArray[np.float64]
) -> Ends:
    """Find between which shares the sample's log-likelihood is above ``least``."""
    from scipy.special import xlog1py, xlogy  # noqa: PLC0415 - see above

    people = hits + missed
    peak = np.divide(hits, people, out=np.full(people.shape, 0.5), where=people > 0)
    ends = []
    for outer in (0.0, 1.0):
        refuted, inside = np.full(peak.shape, outer), peak.copy()
        for _ in range(_HALVINGS):
            middle = (refuted + inside) / 2
            fits = xlogy(hits, middle) + xlog1py(missed, -middle) > least
            inside, refuted = np.where(fits, middle, inside), np.where(fits, refuted, middle)
        ends.append(refuted)
    low, high = ends
    # at the very ends of [0, 1] nothing was refuted where no hit, or no miss, speaks against them
    return np.where(hits > 0, low, 0.0), np.where(missed > 0, high, 1.0)


def _shares_of(
    total: int, hits: NDArray[np.float64], missed: NDArray[np.float64], least: NDArray[np.float64]
) -> Ends:
    """Likewise for so many people in all, of whom a whole number would be hits."""
    from scipy.special import gammaln  # noqa: PLC0415 - see above

    people = hits + missed

    def fits(all_hits: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return whether so many hits in all make the sample likely enough."""
        others, others_missed = all_hits - hits, total - all_hits - missed
        ways = gammaln(total - people + 1) - gammaln(others + 1) - gammaln(others_missed + 1)
        of = gammaln(total + 1.0) - gammaln(all_hits + 1) - gammaln(total - all_hits + 1)
        return np.asarray(ways - of > least)

    share = np.divide(hits, people, out=np.full(people.shape, 0.5), where=people > 0)
    peak = np.clip(np.floor((total + 1) * share), hits, total - missed)
    ends = []
    for outer in (hits, total - missed):
        # whole numbers: the outermost that fits, where the range's end itself does not
        refuted, inside = outer.copy(), peak.copy()
        while (np.abs(refuted - inside) > 1).any():
            middle = np.floor((refuted + inside) / 2)
            fine = fits(middle)
            inside, refuted = np.where(fine, middle, inside), np.where(fine, refuted, middle)
        ends.append(np.where(fits(outer), outer, inside))
    return ends[0] / total, ends[1] / total


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
