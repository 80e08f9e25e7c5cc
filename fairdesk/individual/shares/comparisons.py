"""Rows of the data under every comparison of protected values, and as in an audit study.

What is counted here is exhaustive over the rows that are checked, and added up block by block.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from fairdesk.data.domain.domain import Domain
from fairdesk.individual.engine.context import CombinationScores, SearchContext
from fairdesk.individual.engine.sampling import (
    GAIN,
    LOSS,
    UNCHANGED,
    UNSUPPORTED,
    Block,
    Subset,
    SubsetMembers,
    changes,
    names_of,
)
from fairdesk.results.individual import (
    AuditStudy,
    ChangeSplit,
    ComparedRows,
    StudiedValue,
    ValueChange,
    ValueChanges,
)

Comparison = Literal["supported", "proposed", "all"]
Counts = NDArray[np.int64]

#: Pairs of values of an attribute that a figure lists.
_MOST_PAIRS = 100


def comparisons_of(domain: Domain) -> dict[Comparison, Domain]:
    """Return the domains whose comparisons are counted: first what the data support.

    Only where the data limit anything there are others.
    """
    found: dict[Comparison, Domain] = {"supported": domain}
    if domain.support.proposed:
        found["proposed"] = domain.with_proposed
    if domain.support:
        found["all"] = domain.every_combination
    return found


def compared_counts(changed: NDArray[np.int8]) -> Counts:
    """Count ``(n, s)`` changes: ``(s, 5)`` rows, compared, hits, gains and losses."""
    compared = changed != UNSUPPORTED
    hits = compared & (changed != UNCHANGED)
    each = (np.ones_like(compared), compared, hits, changed == GAIN, changed == LOSS)
    return np.stack([one.sum(axis=0) for one in each], axis=1).astype(np.int64)


def split_counts(changed: NDArray[np.int8], sets: Sequence[Subset]) -> Counts:
    """Count ``(n, s)`` changes: for each single attribute rows that only it changes, then the rest.

    These are rows that each of several attributes changes, and rows that no single one changes.
    """
    hits = (changed != UNCHANGED) & (changed != UNSUPPORTED)
    single = hits[:, [len(each) == 1 for each in sets]]
    enough = single.sum(axis=1)
    together = hits.any(axis=1) & (enough == 0)
    return np.array([*single[enough == 1].sum(axis=0), (enough > 1).sum(), together.sum()])


class RowCounts:
    """The counts of rows of the data: what a block adds, and the figures of the sum.

    Parameters
    ----------
    sets : sequence of Subset
        The sets of protected attributes that are changed.
    confidence : float
        Of the intervals.
    """

    def __init__(self, domain: Domain, sets: Sequence[Subset], confidence: float) -> None:
        self._domain, self._sets, self._confidence = domain, sets, confidence
        self._domains = comparisons_of(domain)
        self._compared = np.zeros((len(self._domains), len(sets), 5), dtype=np.int64)
        sizes = [len(domain.attributes[i].compared) for i in domain.protected]
        self._agree = [np.zeros((size + 1, size + 1), dtype=np.int64) for size in sizes]
        self._own = [np.zeros(size, dtype=np.int64) for size in sizes]
        self._moved = [np.zeros((3, size, size), dtype=np.int64) for size in sizes]
        self._split = split_counts(np.zeros((0, len(sets)), dtype=np.int8), sets)

    def of_block(
        self,
        context: SearchContext,
        block: Block,
        answers: CombinationScores,
        changed: NDArray[np.int8],
    ) -> dict[str, Counts]:
        """Count a block of rows; to be given to `add`.

        Parameters
        ----------
        answers, changed
            What the model answered, and the ``(n, s)`` changes, of supported comparisons.
        """
        compared = [compared_counts(changed)]
        for domain in list(self._domains.values())[1:]:
            others = context.ask(block[0], domain)
            compared.append(compared_counts(changes(context, block, others, self._sets, domain)))
        study = [
            np.concatenate([each.ravel() for each in counts])
            for counts in self._studied(block[1], answers, context.favourable)
        ]
        return {
            "compared": np.stack(compared).ravel(),
            "split": split_counts(changed, self._sets),
            "study": np.concatenate(study),
        }

    def _studied(
        self, combination: NDArray[np.intp], answers: CombinationScores, favourable: int
    ) -> Iterator[tuple[Counts, Counts, Counts]]:
        """Count for each attribute the rows favoured with two values at once; and own values.

        The last of the values stands for the row as it is. Third, ``(3, v, v)``: rows of the first
        value that are compared with the second one, and of these gains and losses.
        """
        for place in range(len(self._own)):
            of_attribute = SubsetMembers.of(self._domain, (place,))
            members = of_attribute.members(combination)
            wanted = self._domain.comparable(place)
            own = of_attribute.group[combination]
            allowed = np.ones(members.shape, dtype=np.bool_)
            if answers.allowed is not None:
                allowed = np.take_along_axis(answers.allowed, members, axis=1)
            whole = np.asarray(allowed[:, wanted].all(axis=1))
            good = np.take_along_axis(answers.labels, members, axis=1) == favourable
            actual = answers.of(combination) == favourable
            is_own = own[:, None] == np.arange(len(wanted))
            other = allowed & ~is_own
            kinds = (other, other & good & ~actual[:, None], other & ~good & actual[:, None])
            moved = [is_own.T.astype(np.float64) @ each for each in kinds]
            both = np.column_stack([good & wanted, actual])[whole].astype(np.float64)
            counts = np.bincount(own[whole], minlength=len(wanted))
            yield (both.T @ both).astype(np.int64), counts, np.array(moved, dtype=np.int64)

    def add(self, counted: dict[str, Counts]) -> None:
        """Add the counts of a block."""
        self._compared += counted["compared"].reshape(self._compared.shape)
        self._split = self._split + counted["split"]
        study = counted["study"]
        for sums in zip(self._agree, self._own, self._moved, strict=True):
            for total in sums:
                mine, study = np.split(study, [total.size])
                np.add(total, mine.reshape(total.shape), out=total)

    def figures(self) -> tuple[ComparedRows | ChangeSplit | AuditStudy | ValueChanges, ...]:
        """Return what was counted so far."""
        compared = (
            ComparedRows(names_of(self._domain, subset), comparison, *counts.tolist())
            for comparison, of_sets in zip(self._domains, self._compared, strict=True)
            for subset, counts in zip(self._sets, of_sets, strict=True)
            if counts[0] and (self._domain.support or comparison != "supported")
        )
        return (*compared, *self._splits(), *self._studies(), *self._moves())

    def _splits(self) -> Iterator[ChangeSplit]:
        *alone, several, together = self._split.tolist()
        if len(alone) > 1:
            names = names_of(self._domain, tuple(range(len(alone))))
            yield ChangeSplit(names, int(self._split.sum()), tuple(alone), several, together)

    def _moves(self) -> Iterator[ValueChanges]:
        for place, moved in enumerate(self._moved):
            attribute = self._domain.attributes[self._domain.protected[place]]
            codes = attribute.compared
            own, other = np.nonzero(moved[0])
            most = np.argsort(-moved[1:, own, other].sum(axis=0), kind="stable")[:_MOST_PAIRS]
            pairs = tuple(
                ValueChange(float(codes[i]), float(codes[j]), *moved[:, i, j].tolist())
                for i, j in zip(own[most], other[most], strict=True)
            )
            if pairs:
                yield ValueChanges(attribute.name, len(own), pairs)

    def _studies(self) -> Iterator[AuditStudy]:
        total = int(self._compared[0, 0, 0])
        for place, (agree, own) in enumerate(zip(self._agree, self._own, strict=True)):
            attribute = self._domain.attributes[self._domain.protected[place]]
            wanted = np.flatnonzero(self._domain.comparable(place))
            n = int(own.sum())
            if not n or len(wanted) < 2:
                continue
            reference = int(wanted[own[wanted].argmax()])
            values = []
            for v in wanted.tolist():
                gains = int(agree[v, v] - agree[v, reference])
                losses = int(agree[reference, reference] - agree[v, reference])
                low, high = paired_interval(gains, losses, n, self._confidence)
                code = float(attribute.compared[v])
                values.append(StudiedValue(code, int(agree[v, v]), gains, losses, low, high))
            yield AuditStudy(
                attribute.name,
                float(attribute.compared[reference]),
                n,
                total,
                int(agree[-1, -1]),
                tuple(values),
                self._confidence,
            )


def paired_interval(gains: int, losses: int, n: int, confidence: float) -> tuple[float, float]:
    """Return the interval of a difference of two rates of the same ``n`` rows.

    Bonett and Price (2012), equation 5: one is added to each count of rows that differ.
    """
    more, less = (gains + 1) / (n + 2), (losses + 1) / (n + 2)
    spread = (
        float(ndtri((1 + confidence) / 2)) * ((more + less - (more - less) ** 2) / (n + 2)) ** 0.5
    )
    return max(-1.0, more - less - spread), min(1.0, more - less + spread)
