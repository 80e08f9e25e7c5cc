"""Samples of a rule set with the opposite label (TestSGD's mitigation).

M. Zhang, J. Sun, J. Wang, B. Sun, "TestSGD: Interpretable Testing of Neural Networks Against Subtle
Group Discrimination", ACM TOSEM 2023: samples that fulfil the rule set and are decided as its
members are too often are added to the training data with the other label. "Too often" has a
direction here: where members get the outcome less often than others, samples to whom the model does
not give it get it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.domain import Domain
from fairdesk.errors import SpecError
from fairdesk.groups.tabular.rules import members
from fairdesk.groups.tabular.sampling import Neighbours, starting
from fairdesk.mitigate.context import MitigationContext
from fairdesk.mitigate.rows.labelling import Classes, own_scores
from fairdesk.mitigate.rows.splitting import Split
from fairdesk.results.events import Rows

#: So many samples on each side tell where the outcome is given more often.
LOOK = 4_000
#: A person is moved so often at most.
_MOVES = 10
#: So many are made at a time, at least and at most ...
_BATCH = (2_000, 20_000)
#: ... until so many were asked about.
_MOST_ASKED = 200_000
#: Where fewer than one in so many of a batch are new, people are moved once more.
_SCARCE = 20


@dataclass(frozen=True, slots=True)
class Sampled:
    """What was made of real rows: ``rows`` and all else as of `pool.Pool`."""

    rows: Rows
    targets: Classes
    seeds: NDArray[np.intp]
    texts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Seen:
    """Rows that must not come, and those that came already, by 64-bit keys of some columns.

    Parameters
    ----------
    domain : Domain
        Tells rows apart by what members of a similar set have in common.
    held_out : Rows
        ``(n, d)``; these rows.
    """

    def __init__(self, domain: Domain, held_out: Rows) -> None:
        self._domain = domain
        self._held_out = _keys(domain.identity(held_out))
        self._met = np.empty(0, dtype=np.uint64)

    def barred(self, rows: Rows) -> NDArray[np.bool_]:
        """``(m,)``; which rows are held out."""
        return np.isin(_keys(self._domain.identity(rows)), self._held_out)

    def new(self, rows: Rows, columns: NDArray[np.intp] | None = None) -> NDArray[np.bool_]:
        """``(m,)``; which rows come for the first time; they are remembered.

        Parameters
        ----------
        rows : Rows
            ``(m, d)``.
        columns : NDArray[np.intp], optional
            What tells them apart; by default as of those that are held out.
        """
        keys = _keys(self._domain.identity(rows) if columns is None else rows[:, columns])
        fresh = np.zeros(len(keys), dtype=np.bool_)
        fresh[np.unique(keys, return_index=True)[1]] = True
        fresh &= ~np.isin(keys, self._met)
        self._met = np.concatenate([self._met, keys[fresh]])
        return fresh


def _keys(rows: Rows) -> NDArray[np.uint64]:
    # compiled code is loaded where a repair runs, never in the window's process
    from fairdesk.individual.engine import kernels  # noqa: PLC0415

    return np.asarray(kernels.row_keys(np.ascontiguousarray(rows)))


class Outcome:
    """What the members of a rule set get too often, or too seldom.

    Parameters
    ----------
    mitigation : MitigationContext
        Names it; no name is the mean score of the favourable decision.

    Raises
    ------
    SpecError
        When the model has no such decision.
    """

    def __init__(self, mitigation: MitigationContext) -> None:
        mapping, card = mitigation.model.mapping, mitigation.model.opened.card
        decisions = mapping.decisions(card)
        name = mitigation.outcome or decisions[mitigation.favourable]
        if name not in decisions:
            raise SpecError(
                f"The model does not decide “{name}”.",
                remedy=f"Its decisions are: {', '.join(decisions)}.",
            )
        self.name = name
        self._mean = not mitigation.outcome
        classes = np.arange(len(card.classes))
        self._means = classes == decisions.index(name)
        if mapping.together:
            together = np.isin(classes, mapping.together)
            self._means = together if name == decisions[mapping.favourable_class] else ~together

    def given(self, scores: Rows) -> NDArray[np.bool_]:
        """``(n,)``; who gets it, by scores ``(n, k)`` of the model's own classes."""
        return np.asarray(self._means[scores.argmax(axis=1)])

    def rate(self, scores: Rows) -> float:
        """Return how often it is given, or the mean score."""
        if self._mean:
            return float(scores[:, self._means].sum(axis=1).mean())
        return float(self.given(scores).mean())

    def opposite(self, scores: Rows) -> Classes:
        """Return the best class of those that mean the other thing than was decided: ``(n,)``."""
        other = self._means != self.given(scores)[:, None]
        return np.asarray(np.where(other, scores, -np.inf).argmax(axis=1))

    def too_often(self, inside: Rows, outside: Rows) -> bool:
        """Return whether the outcome is more frequent inside the rule set, by scores.

        Raises
        ------
        SpecError
            When it is given equally often.
        """
        rate_in, rate_out = self.rate(inside), self.rate(outside)
        if rate_in == rate_out:
            raise SpecError(
                "There is nothing to mitigate: the model’s rate for this subgroup equals "
                "that for all others.",
                why=f"Within the subgroup and outside it, the decision is “{self.name}” in "
                f"{100 * rate_in:.3g} % of the cases."
                if not self._mean
                else f"Within the subgroup and outside it, the mean score is {rate_in:.3g}.",
                remedy="Choose another subgroup.",
            )
        return rate_in > rate_out


def moved(
    mitigation: MitigationContext, split: Split, most: int, rng: np.random.Generator
) -> Sampled:
    """Make samples of real people in the rule set, each moved a little.

    People to train with are drawn, and moved as `fairdesk.groups.tabular.sampling` does it, which
    leaves them in the rule set. Those to whom the model gives the outcome (or does not, where
    members get it too seldom) are kept, once each; nobody is kept who is like a row to validate or
    test with in everything but what is protected. Where hardly anybody new is met, people are moved
    once more, up to `_MOVES` times: so those nearest to real people come first.

    Parameters and errors are those of `fairdesk.mitigate.rows.pool.of_rule`.
    """
    domain = mitigation.domain
    people, fine = starting(domain, mitigation.rows[split.train])
    groups = mitigation.groups[split.train].copy()
    groups[:, : domain.protected.size] = people[:, domain.protected]
    inside = members(domain.grouping, groups, mitigation.rule)
    within, without = np.flatnonzero(inside & fine), np.flatnonzero(~inside & fine)
    _refuse_nobody(within.size, without.size, len(split.train))
    neighbours, outcome = Neighbours(domain, rng), Outcome(mitigation)

    def scores_of(rows: Rows) -> Rows:
        return own_scores(mitigation, mitigation.model, rows)

    too_often = outcome.too_often(
        *(
            scores_of(neighbours.of(people[who[rng.integers(who.size, size=LOOK)]]))
            for who in (within, without)
        )
    )
    held_out = np.concatenate([split.validation, split.test])
    seen = Seen(domain, mitigation.rows[held_out])
    everything = np.arange(len(domain.attributes))
    kept: list[tuple[Rows, Classes, NDArray[np.intp]]] = [
        (people[:0], np.empty(0, dtype=np.int64), within[:0])
    ]
    count, asked, moves = 0, 0, 1
    while count < most and asked < _MOST_ASKED and moves <= _MOVES:
        size = int(np.clip(2 * (most - count), *_BATCH))
        drawn = np.concatenate([rng.permutation(within) for _ in range(-(-size // within.size))])[
            :size
        ]
        rows = people[drawn]
        for _ in range(moves):
            rows = neighbours.of(rows)
        new = np.flatnonzero(~seen.barred(rows))
        new = new[seen.new(rows[new], everything)]
        scores = scores_of(rows[new])
        wrong = outcome.given(scores) == too_often
        chosen = new[wrong][: most - count]
        kept.append((rows[chosen], outcome.opposite(scores[wrong])[: chosen.size], drawn[chosen]))
        count += chosen.size
        asked += new.size
        if new.size * _SCARCE < size or not chosen.size:
            moves += 1
    rows, targets, origins = (np.concatenate(each) for each in zip(*kept, strict=True))
    return Sampled(rows, targets, split.train[origins], (), _notes(count, most, within.size))


def _refuse_nobody(within: int, without: int, train: int) -> None:
    if within and without:
        return
    raise SpecError(
        "No samples of this subgroup can be made."
        if not within
        else "There are no others to compare this subgroup with.",
        why=f"None of the {train:,} training rows is in it."
        if not within
        else f"All of the {train:,} training rows are in it.",
        remedy="Choose a larger subgroup." if not within else "Choose a smaller subgroup.",
    )


def _notes(count: int, most: int, within: int) -> tuple[str, ...]:
    if count >= most:
        return ()
    return (
        (
            f"Only {count:,} of {most:,} samples could be made from {within:,} training rows of "
            "the subgroup: few of their perturbed rows receive the relevant decision."
        ),
    )
