"""How far a model that answers at random depends on protected attributes: queries with repeats.

Where the same row does not always get the same decision, two rows that differ in protected values
only may be decided differently by chance. What can still be told is the probability of the
favourable decision: does it change with the protected values? Of each pair both rows are queried
twice. Let a, a' be 1 where the first row is decided favourably and b, b' likewise for the second,
with the probabilities p and q. As the queries are independent, the mean of (a - b)(a' - b') and
(a - b')(a' - b) is expected to be (p - q)^2: how much more often decisions differ between the two
rows than between two queries of the same row. It is zero exactly where p = q, and never above the
share of pairs for which they differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.domain import Domain
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.engine.division import Adding, Counting, Setting, counted_here, stream
from fairdesk.individual.engine.pace import Pace
from fairdesk.individual.engine.sampling import BLOCK, Block, of_domain
from fairdesk.individual.shares.options import RepeatsOptions
from fairdesk.individual.shares.tally import anytime
from fairdesk.models.model import labels
from fairdesk.results.events import Event, Measured, Progress, Rows, ShardRange, Tallied, timed
from fairdesk.results.individual import ExcessChange

#: Queries for each pair.
_QUERIES = 4
#: What each unit's stream of random numbers is for, beside that of the people drawn.
_PAIRS = 3


def search(
    context: SearchContext, people: Rows, options: RepeatsOptions, rng: np.random.Generator
) -> Iterator[Event]:
    """Estimate how much more often decisions change between counterfactuals than between queries.

    Over the domain, each combination as likely as any other, and over the data's own rows, drawn
    with replacement. The counterfactual of each is drawn uniformly from the others of its similar
    set; whoever has none counts as one whose decisions never change. Parameters as in
    `maft.search`; what the model answers is random besides.

    Raises
    ------
    SpecError
        When nearly nobody may be asked about.
    """
    sample = _Sample(context, people, options, rng)
    return timed(counted_here(merging(context, options, rng), sample.count, sample.pace))


def counting(
    context: SearchContext, people: Rows, options: RepeatsOptions, rng: np.random.Generator
) -> Counting:
    """Return the half that queries the model; parameters as of `search`."""
    return _Sample(context, people, options, rng).count


def merging(setting: Setting, options: RepeatsOptions, _rng: np.random.Generator) -> _Excess:
    """Return the half that adds up."""
    return _Excess(setting.domain, options)


class _Tally:
    """Counts what four queries of each pair came to.

    Attributes
    ----------
    counts : NDArray[np.int64]
        ``(5,)``; pairs, those that add 1, those that add -1/2, and how often decisions differed
        between the two rows and between two queries of one.
    """

    def __init__(self, whom: Literal["domain", "data"], names: tuple[str, ...]) -> None:
        self.whom, self._names = whom, names
        self.counts = np.zeros(5, dtype=np.int64)

    @property
    def people(self) -> int:
        """Pairs so far."""
        return int(self.counts[0])

    def figure(self, confidence: float) -> ExcessChange:
        """Return the figure. A pair adds 1, 0, or -1/2: the shares of the first and the last."""
        n, favours, against, between, again = self.counts.tolist()
        least, most = anytime([favours, against], n, (1 + confidence) / 2)
        excess = (favours - against / 2) / n
        return ExcessChange(
            whom=self.whom,
            attributes=self._names,
            n_samples=n,
            between=between / (4 * n),
            again=again / (2 * n),
            excess=excess,
            low=max(0.0, float(least[0] - most[1] / 2)),
            high=min(1.0, float(most[0] - least[1] / 2)),
            confidence=confidence,
        )


def _counted(decisions: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Count ``(2, 2, n)`` decisions, query, row of the pair, pair, as of `_Tally`: ``(5,)``."""
    (a, b), (again_a, again_b) = decisions
    one = (a != b).astype(np.int64) * (again_a != again_b) * np.where(a == again_a, 1, -1)
    other = (a != again_b).astype(np.int64) * (again_a != b) * np.where(a == again_a, 1, -1)
    both = one + other
    between = sum(int((x != y).sum()) for x in (a, again_a) for y in (b, again_b))
    again = int((a != again_a).sum() + (b != again_b).sum())
    counts = len(a), int((both > 0).sum()), int((both < 0).sum()), between, again
    return np.array(counts, dtype=np.int64)


class _Excess(Adding):
    """The figures of both samples: a `Merging`.

    Unit ``u`` is block ``u // 2`` of sample ``u % 2``.
    """

    def __init__(self, domain: Domain, options: RepeatsOptions) -> None:
        names = tuple(domain.names[i] for i in domain.protected)
        self._options = options
        self._tallies = [_Tally("domain", names), _Tally("data", names)]
        self._samples, self._next = len(self._tallies), 0

    @property
    def wanted(self) -> ShardRange | None:
        """The blocks after the last one."""
        stop = 2 * -(-self._options.people // BLOCK)
        return ShardRange(self._next, stop) if self._next < stop else None

    def told(self, progress: Progress) -> Progress:
        """Return a progress with how many pairs were queried, of how many in all."""
        done, total = sum(each.people for each in self._tallies), self._options.people
        return msgspec.structs.replace(progress, done=done, total=self._samples * total)

    def add(self, tallied: Tallied) -> bool:
        """Count pairs of a sample; there is none of the data without rows."""
        self._samples = 2 if tallied.arrays["rows"][0] else 1
        self._tallies[tallied.unit % 2].counts += tallied.arrays["counts"]
        if tallied.last:
            self._next = tallied.unit + 1
        return True

    def measured(self) -> Measured | None:
        """Return the figures of the samples that were begun."""
        told = [each.figure(self._options.confidence) for each in self._tallies if each.people]
        return Measured("random", tuple(told)) if told else None


class _Sample:
    """Queries pairs of two samples: the half that queries the model."""

    def __init__(
        self,
        context: SearchContext,
        people: Rows,
        options: RepeatsOptions,
        rng: np.random.Generator,
    ) -> None:
        self._context, self._options, self._rng = context, options, rng
        self._real, _ = context.domain.admit(people)
        fits = context.fits
        self._near = self._real if fits is None else self._real[fits(self._real)]
        self.pace = Pace(_QUERIES, context=context)

    def count(self, wanted: ShardRange) -> Iterator[Event]:
        """Query the pairs of blocks."""
        context, rng = self._context, self._rng
        blocks = of_domain(context, self._real, rng, -(-wanted.start // 2))
        for unit in range(wanted.start, wanted.stop):
            number, of_data = divmod(unit, 2)
            own = stream(rng, _PAIRS, unit)
            rows, combination = self._of_data(own) if of_data else next(blocks)
            left = self._options.people - number * BLOCK
            rows, combination = rows[:left], combination[:left]
            chosen = _counterfactuals(context, rows, combination, own)
            for part, last in self.pace.of_unit(len(rows)):
                decisions = _queried(context, rows[part], chosen[part], own)
                context.tried += len(rows[part])
                arrays = {"rows": np.array([len(self._near)]), "counts": _counted(decisions)}
                yield Tallied("random", unit, last, arrays)
                yield context.progress("random", 0, 0)

    def _of_data(self, rng: np.random.Generator) -> Block:
        """Draw a block of rows of the data independently; an empty one where there are none."""
        near = self._near
        if not len(near):
            return self._context.domain.snap(near)
        return self._context.domain.snap(near[rng.integers(len(near), size=BLOCK)])


def _counterfactuals(
    context: SearchContext, rows: Rows, combination: NDArray[np.intp], rng: np.random.Generator
) -> NDArray[np.intp]:
    """Choose for each row one of its counterfactuals: ``(n,)``; -1 where there is none."""
    domain = context.domain
    n, count = len(rows), len(domain.combinations)
    # the first of all others, in a random order, who may be
    ranks = rng.random((n, count))
    ranks[np.arange(n), combination] = np.inf
    if domain.has_constraints:
        ranks[~domain.members(rows)[1]] = np.inf
    chosen: NDArray[np.intp] = ranks.argmin(axis=1)
    chosen[np.isinf(ranks[np.arange(n), chosen])] = -1
    return chosen


def _queried(
    context: SearchContext, rows: Rows, chosen: NDArray[np.intp], rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Query each row and its counterfactual twice: ``(2, 2, n)``, who is favoured."""
    n, domain = len(rows), context.domain
    pairs = np.concatenate([rows, domain.counterparts(rows, chosen)])
    decisions = np.zeros((2, 2, n), dtype=np.bool_)
    some = np.flatnonzero(np.tile(chosen >= 0, 2))
    for query in decisions.reshape(2, -1):
        # in another order each time: nothing may hang on a row's place in its batch
        order = rng.permutation(some)
        query[order] = labels(context.cached_model.predict_anew(pairs[order])) == context.favourable
    return decisions
