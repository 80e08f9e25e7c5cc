"""What samples told of every rule set, and whom to ask about next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fairdesk.groups.context import GroupContext
from fairdesk.groups.statistics import Side
from fairdesk.groups.tabular.support import Counts, Members, RuleSets, Words, unpacked
from fairdesk.models.model import favourable_scores, labels
from fairdesk.results.events import Scores

#: Scores are counted in these parts: whole numbers can be added up as bits.
PARTS = 1 << 16
#: At most so many people are asked for at once: many whole blocks, for workers that share them out
#: wait for one another at the end.
MOST_AT_ONCE = 1 << 18

INSIDE, OUTSIDE = 0, 1


@dataclass(frozen=True)
class Draw:
    """Whom to draw next.

    Attributes
    ----------
    where : NDArray[np.bool_]
        ``(m,)``; the combinations from which people are drawn.
    count : int
        How many people.
    """

    where: NDArray[np.bool_]
    count: int


class Tallies:
    """Counts of samples inside and outside of rule sets.

    One pool of samples serves all rule sets. A sample is inside a rule set exactly when the real
    person is from whom it was made, for no protected attribute moves. So those inside, given how
    many they are, are what Algorithm 2 draws: real people of the rule set, each as likely as any
    other, independent of each other, each moved a little; and those outside likewise. That two
    rule sets share samples makes their scores depend on each other, not any score by itself; and
    the corrections for many rule sets (Bonferroni's, Holm's) hold for tests that do.

    The same is true of samples drawn from a part of the people only, as long as they count only
    for a side that lies wholly in that part.

    Parameters
    ----------
    chosen : RuleSets
        ``(R, g)``.
    rows : Counts
        ``(R,)``; the data's rows in each.
    values : int
        How many whole numbers are told of each sample.

    Attributes
    ----------
    n : Counts
        ``(2, R)``; samples inside and outside.
    totals : Counts
        ``(values, 2, R)``; the sums of what was told of them.
    samples : int
        How many were counted in all.
    """

    def __init__(self, members: Members, chosen: RuleSets, rows: Counts, values: int) -> None:
        self.members, self.chosen = members, chosen
        self.people = np.stack([rows, int(members.weight.sum()) - rows])
        self.n = np.zeros((2, len(chosen)), dtype=np.int64)
        self.totals = np.zeros((values, 2, len(chosen)), dtype=np.int64)
        self.samples = 0

    def add(
        self,
        place: NDArray[np.intp],
        values: Counts,
        where: NDArray[np.bool_] | None = None,
        which: NDArray[np.intp] | slice = slice(None),
    ) -> None:
        """Count samples.

        Parameters
        ----------
        place : NDArray[np.intp]
            ``(s,)``; the combination of each sample.
        values : Counts
            ``(values, s)``; what the model told of each, whole numbers that are not negative.
        where : NDArray[np.bool_], optional
            ``(m,)``; from where they were drawn; by default from everybody.
        """
        size = len(self.members.weight)
        vectors = [np.bincount(place, minlength=size)]
        vectors += [np.bincount(place, each, minlength=size).astype(np.int64) for each in values]
        vectors.append(np.zeros(size, dtype=np.int64) if where is None else (~where).astype(int))
        inside = self.members.totals(self.chosen[which], np.stack(vectors))
        outside = np.array([[vector.sum()] for vector in vectors]) - inside
        for side, sums in ((INSIDE, inside), (OUTSIDE, outside)):
            # of a side with anybody from whom none was drawn only a part would be told
            whole = sums[-1] == 0
            self.n[side, which] += sums[0] * whole
            self.totals[:, side, which] += sums[1:-1] * whole
        self.samples += len(place)

    def sides(self, value: int, squares: int | None = None) -> tuple[Side, Side]:
        """Return the samples inside and outside, of all rule sets.

        Parameters
        ----------
        squares : int, optional
            Which of them is its square, where it is a score in `PARTS`.
        """

        def side(place: int) -> Side:
            n, total = self.n[place].astype(np.float64), self.totals[value, place]
            if squares is None:
                return Side(n, total.astype(np.float64))
            return Side(n, total / PARTS, self.totals[squares, place] / PARTS**2)

        return side(INSIDE), side(OUTSIDE)

    def widest(self, z: float) -> NDArray[np.float64]:
        """Return the margin that each rule set has at most with so many samples: ``(R,)``."""
        return np.asarray((z / 2 / np.sqrt(np.maximum(self.n - 1, 1))).sum(axis=0))

    def next(self, wanted: Counts) -> Draw | None:
        """Choose whom to draw, so that each side comes to as many samples as wanted.

        The smaller a side, the fewer of those drawn from everybody are in it. So the smallest
        sides that want more are put together: as many of them as give the most sides what they
        want for each person asked about.

        Parameters
        ----------
        wanted : Counts
            ``(2, R)``.

        Returns
        -------
        Draw, optional
            Nothing where all have enough.
        """
        sides, sets = np.nonzero(self.n < wanted)
        if not len(sets):
            return None
        size = self.people[sides, sets]
        order = np.argsort(size, kind="stable")
        sides, sets, size = sides[order], sets[order], size[order]
        lacking = (wanted - self.n)[sides, sets]
        # a little more than is expected to do, or most sides would want a second turn
        share = np.maximum.accumulate((lacking + 2 * np.sqrt(lacking)) / size)
        weight, union = self.members.weight, np.zeros_like(self.members.everybody)
        best: tuple[float, Draw] | None = None
        start, end = 0, 1
        while start < len(sets):
            union |= self._union(sides[start:end], sets[start:end])
            where = unpacked(union[None], len(weight))[0]
            count = float(share[min(end, len(sets)) - 1] * weight[where].sum())
            gain = min(end, len(sets)) / count
            if best is None or gain > best[0]:
                best = gain, Draw(where, min(int(count) + 1, MOST_AT_ONCE))
            start, end = end, 2 * end
        return best[1] if best else None

    def _union(self, sides: NDArray[np.intp], sets: NDArray[np.intp]) -> Words:
        """Return everybody who is on any of these sides: ``(w,)``."""
        union: Words = np.zeros_like(self.members.everybody)
        for part in self.members.chunks(len(sets)):
            bits = self.members.bits(self.chosen[sets[part]])
            bits[sides[part] == OUTSIDE] ^= self.members.everybody
            union = union | np.bitwise_or.reduce(bits, axis=0)
        return union


class Outcomes:
    """What is counted of each sample: whole numbers made of the model's answers.

    Attributes
    ----------
    names : tuple[str, ...]
        The outcomes: decisions, or ``""`` for a mean score.
    values : int
        How many numbers are counted: one for each decision; of a score itself and its square.
    """

    def __init__(
        self, context: GroupContext, outcome: Literal["favourable", "each", "score"]
    ) -> None:
        self._favourable, self._scores = context.favourable, outcome == "score"
        self._decisions = (
            list(range(len(context.decisions))) if outcome == "each" else [context.favourable]
        )
        self.names = ("",) if self._scores else tuple(context.decisions[i] for i in self._decisions)
        self.values = 2 if self._scores else len(self.names)

    @property
    def squares(self) -> int | None:
        """Which of the numbers is a square."""
        return 1 if self._scores else None

    def of(self, scores: Scores) -> Counts:
        """Make the numbers of answers ``(n, k)``: ``(values, n)``."""
        if self._scores:
            score = np.clip(favourable_scores(scores, self._favourable), 0.0, 1.0)
            parts = np.round(score * PARTS).astype(np.int64)
            return np.stack([parts, parts**2])
        return np.equal.outer(self._decisions, labels(scores)).astype(np.int64)
