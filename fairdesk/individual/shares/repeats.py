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

import numpy as np
from numpy.typing import NDArray

from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.engine.sampling import BLOCK, Block, Pace, of_domain
from fairdesk.individual.shares.intervals import anytime
from fairdesk.individual.shares.options import RepeatsOptions
from fairdesk.models.model import labels
from fairdesk.results.events import Event, Measured, Rows, timed
from fairdesk.results.individual import ExcessChange

#: Queries for each pair.
_QUERIES = 4


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
    return timed(_search(context, people, options, rng))


class _Tally:
    """Counts what four queries of each pair came to."""

    def __init__(self, whom: Literal["domain", "data"], names: tuple[str, ...]) -> None:
        self.whom, self._names = whom, names
        self.people = self._between = self._again = self._for = self._against = 0

    def add(self, decisions: NDArray[np.bool_]) -> None:
        """Count ``(2, 2, n)`` decisions: query, row of the pair, pair."""
        (a, b), (again_a, again_b) = decisions
        one = (a != b).astype(np.int64) * (again_a != again_b) * np.where(a == again_a, 1, -1)
        other = (a != again_b).astype(np.int64) * (again_a != b) * np.where(a == again_a, 1, -1)
        both = one + other
        self.people += len(a)
        self._for += int((both > 0).sum())
        self._against += int((both < 0).sum())
        self._between += int(sum((x != y).sum() for x in (a, again_a) for y in (b, again_b)))
        self._again += int((a != again_a).sum() + (b != again_b).sum())

    def figure(self, confidence: float) -> ExcessChange:
        """Return the figure. A pair adds 1, 0, or -1/2: the shares of the first and the last."""
        n = self.people
        least, most = anytime([self._for, self._against], n, (1 + confidence) / 2)
        excess = (self._for - self._against / 2) / n
        return ExcessChange(
            whom=self.whom,
            attributes=self._names,
            n_samples=n,
            between=self._between / (4 * n),
            again=self._again / (2 * n),
            excess=excess,
            low=max(0.0, float(least[0] - most[1] / 2)),
            high=min(1.0, float(most[0] - least[1] / 2)),
            confidence=confidence,
        )


def _search(
    context: SearchContext, people: Rows, options: RepeatsOptions, rng: np.random.Generator
) -> Iterator[Event]:
    domain = context.domain
    names = tuple(domain.names[i] for i in domain.protected)
    real, _ = domain.admit(people)
    near = real if context.fits is None else real[context.fits(real)]
    streams = [(_Tally("domain", names), of_domain(context, real, rng))]
    if len(near):
        streams.append((_Tally("data", names), _with_replacement(context, near, rng)))
    tallies = [tally for tally, _ in streams]
    others, orders = rng.spawn(2)
    pace, total = Pace(_QUERIES, context=context), len(streams) * options.people
    while any(tally.people < options.people for tally in tallies):
        for tally, blocks in streams:
            rows, combination = next(blocks)
            left = options.people - tally.people
            rows, combination = rows[:left], combination[:left]
            chosen = _counterfactuals(context, rows, combination, others)
            for part in pace.parts(len(rows)):
                tally.add(_queried(context, rows[part], chosen[part], orders))
                context.tried += len(rows[part])
                if pace.due():
                    yield _measured(tallies, options.confidence)
                yield context.progress("random", sum(each.people for each in tallies), total)
    yield _measured(tallies, options.confidence)
    yield context.progress("random", total, total)


def _measured(tallies: list[_Tally], confidence: float) -> Measured:
    return Measured("random", tuple(each.figure(confidence) for each in tallies if each.people))


def _with_replacement(
    context: SearchContext, real: Rows, rng: np.random.Generator
) -> Iterator[Block]:
    """Draw rows of the data independently, without end."""
    while True:
        yield context.domain.snap(real[rng.integers(len(real), size=BLOCK)])


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
        similar = domain.similar(rows)
        allowed = domain.allowed(similar.reshape(n * count, -1)).reshape(n, count)
        ranks[~allowed] = np.inf
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
