"""Where searches start, how they step along attributes, and where they have been."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.domain import Domain
from fairdesk.results.events import Rows

if TYPE_CHECKING:
    from fairdesk.individual.engine.kernels import Keys, Numbers


def starting_rows(
    domain: Domain, people: Rows, clusters: int, number: int, rng: np.random.Generator
) -> tuple[Rows, NDArray[np.intp]]:
    """Draw the rows from which a search starts, and bring them into the domain.

    Where only what resembles the data is allowed, each row is as likely as any other, so that what
    is found around them is as diverse as the data. Else they are `clustered_seeds`.

    Parameters
    ----------
    domain : Domain
        What may be queried.
    people, clusters, number, rng
        As of `clustered_seeds`.

    Returns
    -------
    rows : Rows
        ``(n, d)``, at most ``number``; without those that the domain cannot hold.
    combination : NDArray[np.intp]
        ``(n,)``; the index of each row's own combination of protected values.
    """
    if domain.resembles_data:
        seeds = people[rng.permutation(len(people))[:number]]
    else:
        seeds = clustered_seeds(people, clusters, number, rng)
    return domain.admit(seeds)


def clustered_seeds(people: Rows, clusters: int, number: int, rng: np.random.Generator) -> Rows:
    """Draw seeds round-robin from k-means clusters, each person at most once.

    Parameters
    ----------
    people : Rows
        ``(n, d)``.
    clusters : int
        Clusters wanted; fewer where fewer people are unlike.
    number : int
        Seeds wanted; all people when there are no more.

    Returns
    -------
    Rows
        ``(min(number, n), d)``.
    """
    # slow to import, needed in a search only
    from scipy.cluster.vq import kmeans2  # noqa: PLC0415

    from fairdesk.individual.engine import kernels  # noqa: PLC0415

    people = rng.permutation(people)
    if number >= len(people):
        return people
    discriminatory, _ = kernels.distinct(kernels.row_keys(people))
    # centres are drawn by their distance from those before, and there must be one
    _, cluster = kmeans2(people, min(clusters, len(discriminatory)), minit="++", rng=rng)
    # the turn in which a person comes: first all clusters' first, then all clusters' second, ...
    by_cluster = np.argsort(cluster, kind="stable")
    sizes = np.bincount(cluster)
    turn = np.empty(len(people), dtype=np.intp)
    turn[by_cluster] = np.concatenate([np.arange(size) for size in sizes])
    return people[np.lexsort((cluster, turn))[:number]]


#: The table grows when more than this share of its slots is taken, ...
_MOST_FULL = 0.8
#: ... and becomes so many times as long: there are 10 to 15 bytes for each person.
_GROWTH = 1.5


class VisitedSet:
    """Who was met, and whether they were found to be discriminated against.

    Parameters
    ----------
    columns : NDArray[np.intp]
        The attributes that make two rows one person or two.

    Attributes
    ----------
    size : int
        How many there are.
    """

    def __init__(self, columns: NDArray[np.intp]) -> None:
        # compiled code is loaded where a search runs, never in the window's process
        from fairdesk.individual.engine import kernels  # noqa: PLC0415

        self.size = 0
        self._kernels = kernels
        self._columns = columns.astype(np.int64)
        self._slots: Keys = np.zeros(1 << 14, dtype=np.uint64)

    def keys(self, rows: Rows) -> Keys:
        """Return the key of each of ``(n, d)`` rows' shared attributes: ``(n,)``."""
        keys: Keys = self._kernels.shared_keys(np.ascontiguousarray(rows), self._columns)
        return keys

    def meet(self, keys: Keys) -> Numbers:
        """Take in who is not there yet, as not discriminated against.

        Parameters
        ----------
        keys : Keys
            ``(n,)``, as `keys` gives them; may repeat.

        Returns
        -------
        Numbers
            The positions of those taken in, each person once.
        """
        while self.size + len(keys) > _MOST_FULL * len(self._slots):
            before = self._slots
            self._slots = np.zeros(int(_GROWTH * len(before)), dtype=np.uint64)
            self._kernels.move(before, self._slots)
        new: Numbers = self._kernels.meet(keys, self._slots)
        self.size += len(new)
        return new

    def condemn(self, keys: Keys) -> None:
        """Note that these, who are there, are discriminated against."""
        self._kernels.condemn(keys, self._slots)

    def verdicts(self, keys: Keys) -> NDArray[np.bool_]:
        """Return whether each of these visited instances was found discriminatory: ``(n,)``."""
        verdicts: NDArray[np.bool_] = self._kernels.verdicts(keys, self._slots)
        return verdicts


#: Walkers who share the steps around an instance make so many each, at least.
FEWEST_STEPS = 50


def shared(starts: int, walkers: int, steps: int) -> tuple[int, int]:
    """Share the steps around instances among several walkers each.

    A step of few walkers costs as much as one of many.

    Parameters
    ----------
    starts : int
        Instances that are walked around together, at least one.
    walkers : int
        So many at most in all.

    Returns
    -------
    int, int
        Walkers around each, and how many steps they make.
    """
    each = max(1, min(walkers // starts, steps // FEWEST_STEPS))
    return each, -(-steps // each)


class Steps:
    """Steps of one size.

    Parameters
    ----------
    size : float
        In units of each attribute; whole steps where only some codes are allowed.
    """

    def __init__(self, domain: Domain, size: float) -> None:
        # compiled code is loaded where a search runs, never in the window's process
        from fairdesk.individual.engine import kernels  # noqa: PLC0415

        self._domain, self._kernels = domain, kernels
        whole, spacing = domain.whole_steps(size), domain.spacing
        on_steps = spacing if domain.stepped.size else np.zeros_like(spacing)
        self._columns = domain.varying.astype(np.int64)
        self._steps = np.stack([whole, domain.low, domain.high, domain.grid, on_steps], axis=1)[
            self._columns
        ]
        self._tied = _tied(domain)

    def all(self, rows: Rows, direction: Rows) -> Rows:
        """Step along every varying attribute: ``(n, d)``.

        Parameters
        ----------
        rows : Rows
            ``(n, d)``.
        direction : Rows
            ``(n, v)``; -1, 0 or 1.
        """
        moved, columns = rows.copy(), self._columns
        moved[:, columns] = self._domain.clip(
            rows[:, columns] + direction * self._steps[:, 0], columns
        )
        return moved

    def one(self, rows: Rows, odds: Rows, lots: Rows) -> Rows:
        """Step along one attribute, drawn at random, in a random direction: ``(n, d)``.

        Parameters
        ----------
        rows : Rows
            ``(n, d)``.
        odds : Rows
            ``(n, v)``; the cumulated probabilities of each attribute.
        lots : Rows
            ``(n, 2)``; uniform on 0..1.
        """
        moved: Rows = self._kernels.random_steps(rows, odds, lots, self._columns, self._steps)
        return moved

    def around(self, rows: Rows, keys: Keys) -> tuple[Keys, Callable[[Numbers], Rows]]:
        """Step along each varying attribute by itself, backwards where there is no `room`.

        Parameters
        ----------
        rows : Rows
            ``(n, d)``.
        keys : Keys
            ``(n,)``; the rows' own.

        Returns
        -------
        Keys
            ``(n, v + 1)``; the rows' own, and those of their neighbours.
        callable
            Makes the rows at places in the flattened keys.
        """
        codes, moved = self._kernels.neighbours(rows, keys, self._columns, self._steps)

        def make(which: Numbers) -> Rows:
            made: Rows = self._kernels.rows_around(rows, which, self._columns, codes)
            return made

        return moved, make

    def each(self, rows: Rows, sign: Rows | float) -> Rows:
        """Step along each varying attribute by itself: ``(n, v, d)``, constraints or not.

        What is determined by others follows.

        Parameters
        ----------
        rows : Rows
            ``(n, d)``.
        sign : Rows or float
            ``(n, v)``; -1 or 1.
        """
        columns = self._columns
        moved = np.repeat(rows[:, None, :], len(columns), axis=1)
        moved[:, np.arange(len(columns)), columns] = self._domain.clip(
            rows[:, columns] + sign * self._steps[:, 0], columns
        )
        return self._domain.apply_dependencies(moved)

    def room(self, rows: Rows) -> NDArray[np.bool_]:
        """Return along which attributes a whole step forwards stays in the range: ``(n, v)``."""
        return np.asarray(rows[:, self._columns] + self._steps[:, 0] <= self._steps[:, 2])

    def possible(self, rows: Rows) -> NDArray[np.bool_]:
        """Return along which attributes ``(n, d)`` rows can step, mended if need be: ``(n, v)``.

        At an end of the range the step that stays there counts, unless only what is plausible is
        allowed: there often no other step is, and walkers would stand still.
        """
        shape = len(rows), len(self._columns)
        either = np.tile(self._tied.any(axis=1), (len(rows), 1))
        for sign in (1.0, -1.0):
            there = self.each(rows, sign)
            allowed = self._domain.allowed(there.reshape(-1, rows.shape[1])).reshape(shape)
            if self._domain.resembles_data:
                allowed &= (there != rows[:, None, :]).any(axis=2)
            either |= allowed
        return either

    def mend(self, rows: Rows, moved: Rows, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Return who may take a step along one attribute: ``(n,)``.

        Where that breaks a constraint, another attribute that the constraint speaks of takes a
        step too, if this mends it.

        Parameters
        ----------
        rows : Rows
            ``(n, d)``; where they were.
        moved : Rows
            ``(n, d)``; where they want to go; changed in place: what is determined follows.
        rng : np.random.Generator
            Draws the order in which the others are tried.
        """
        domain = self._domain
        went = domain.allowed(domain.apply_dependencies(moved))
        stuck = np.flatnonzero(~went)
        if not stuck.size or not self._tied.any():
            return went
        stepped = (moved[:, self._columns] != rows[:, self._columns]).argmax(axis=1)
        for other in rng.permutation(np.flatnonzero(self._tied.any(axis=0))):
            column, by = self._columns[[other]], self._steps[other, 0]
            for sign in rng.permutation((1.0, -1.0)):
                trying = stuck[self._tied[stepped[stuck], other]]
                further = moved[trying]
                further[:, column] = domain.clip(further[:, column] + sign * by, column)
                fine = domain.allowed(domain.apply_dependencies(further))
                moved[trying[fine]] = further[fine]
                went[trying[fine]] = True
                stuck = stuck[~went[stuck]]
        return went


def _tied(domain: Domain) -> NDArray[np.bool_]:
    """``(v, v)``; which two varying attributes a constraint speaks of together."""
    tied = np.zeros((len(domain.varying), len(domain.varying)), dtype=np.bool_)
    for rule in domain.rules:
        spoken = [domain.names[i] in rule.names for i in domain.varying]
        tied |= np.outer(spoken, spoken)
    np.fill_diagonal(tied, val=False)
    return tied
