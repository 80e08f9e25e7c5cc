"""THEMIS's group scores: how far the favourable rates of two groups of invented people are apart.

Galhotra, Brun and Meliou, "Fairness Testing: Testing Software for Discrimination", ESEC/FSE 2017.
Random people are asked about until every score is known as well as was asked for; one sample
serves all sets of attributes. No similar sets are made, as `fairdesk.individual.shares.themis` does
for the causal score too: so it also serves where the protected values make too many combinations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, combinations, product
from math import prod

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.domain import Domain
from fairdesk.errors import SpecError
from fairdesk.groups.context import GroupContext
from fairdesk.groups.options import MOST_GROUPS, ThemisGroupsOptions
from fairdesk.individual.engine.division import Adding, Counting, Setting, counted_here
from fairdesk.individual.engine.pace import Pace
from fairdesk.individual.engine.sampling import BLOCK, drawn_blocks, one_per_fixed
from fairdesk.individual.shares.themis import greatest_gap
from fairdesk.models.model import labels
from fairdesk.results.events import Event, Measured, Progress, Rows, ShardRange, Tallied, timed
from fairdesk.results.groups import GroupGap

#: Whether to go on is asked each time the sample has grown by so much.
_GROWTH = 1.1


def search(
    context: GroupContext, people: Rows, options: ThemisGroupsOptions, rng: np.random.Generator
) -> Iterator[Event]:
    """Measure the group score of all sets of protected attributes.

    People are drawn independently from the domain, everybody as likely as anybody else, their
    protected values among those compared. A set's score is the greatest difference between the
    rates of the favourable decision in the groups that its values make. The intervals hold at
    every moment of the sampling together, since what was counted decides when it ends; and those
    of all sets together.

    Attributes that the model is not given are left out: invented people have no value of them,
    and no decision can hang on one. Parameters as
    `fairdesk.audit.catalogue.implementations.Search`; only fixed attributes are taken from
    ``people``.

    Raises
    ------
    SpecError
        When the model is given no protected attribute, or nearly nobody may be asked about.
    """
    half = counting(context, people, options, rng)
    scores = merging(context, options, rng)
    return timed(counted_here(scores, half, Pace(1, context=context)))


@dataclass
class _Groups:
    """The count behind the score of one set of attributes.

    Attributes
    ----------
    names : tuple[str, ...]
        The attributes.
    values : Rows
        ``(g, len(names))``; the codes of each group.
    strides : NDArray[np.intp]
        ``(p,)``; what a step of each protected attribute adds to a group's number; 0 of those
        that are not in the set.
    people, favourable_counts : NDArray[np.int64]
        ``(g,)``; who was met, and who of them gets the favourable decision.
    """

    names: tuple[str, ...]
    values: Rows
    strides: NDArray[np.intp]
    people: NDArray[np.int64] = field(init=False)
    favourable_counts: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        """Begin with nobody."""
        self.people = np.zeros(len(self.values), dtype=np.int64)
        self.favourable_counts = np.zeros(len(self.values), dtype=np.int64)

    def count(self, places: NDArray[np.intp], favourable: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Count people: ``(m, p)`` places of their values among those compared, ``(m,)``.

        Returns
        -------
        NDArray[np.int64]
            ``(2, g)``; to be added to ``people`` and ``favourable_counts``.
        """
        group, size = places @ self.strides, len(self.values)
        met = np.bincount(group, minlength=size)
        return np.stack([met, np.bincount(group[favourable], minlength=size)])


def _sets(domain: Domain, together: int) -> list[_Groups]:
    """Make a count for every set of protected attributes, the smaller ones first."""
    protected = [domain.attributes[i] for i in domain.protected.tolist()]
    sizes = [len(each.compared) for each in protected]
    places = range(len(protected))
    every = chain.from_iterable(
        combinations(places, many) for many in range(1, min(together, len(protected)) + 1)
    )
    made = []
    for subset in every:
        if len(subset) > 1 and prod(sizes[i] for i in subset) > MOST_GROUPS:
            continue
        strides = np.zeros(len(protected), dtype=np.intp)
        for position, i in enumerate(subset):
            strides[i] = prod(sizes[other] for other in subset[position + 1 :])
        values = np.array(list(product(*(protected[i].compared for i in subset))))
        made.append(_Groups(tuple(protected[i].name for i in subset), values, strides))
    return made


def counting(
    context: GroupContext, people: Rows, options: ThemisGroupsOptions, rng: np.random.Generator
) -> Counting:
    """Return the half that queries the model; parameters as of `search`."""
    domain = context.domain
    if not domain.protected.size:
        raise SpecError(
            "No protected attribute is an input of the model, so there are no groups to sample.",
            why=(
                "THEMIS tests instances drawn at random, which have only the attributes that are "
                "inputs of the model."
            ),
            remedy=(
                "Choose “Group metrics” or “Subgroup discovery (TestSGD)”, which use the "
                "individuals in the data."
            ),
        )
    counts = _sets(domain, options.together)
    protected = [domain.attributes[i] for i in domain.protected.tolist()]
    once, pace = one_per_fixed(domain, people), Pace(1, context=context)

    def count(wanted: ShardRange) -> Iterator[Event]:
        done = 0
        blocks = drawn_blocks(domain, once, rng, wanted.start)
        for unit, drawn in zip(range(wanted.start, wanted.stop), blocks, strict=False):
            rows = drawn[: max(0, options.most - unit * BLOCK)]
            for part, last in pace.of_unit(len(rows)):
                block = rows[part]
                favourable = labels(context.predict(block)) == context.favourable
                places = np.column_stack(
                    [
                        each.nearest_compared(block[:, i])
                        for i, each in zip(domain.protected, protected, strict=True)
                    ]
                )
                counted = [each.count(places, favourable) for each in counts]
                arrays = {"n": np.array([len(block)]), "counts": np.concatenate(counted, axis=1)}
                done += len(block)
                yield Tallied("random", unit, last, arrays)
                yield Progress("random", 0, 0, tried=done, found=0, queries=context.queries)

    return count


def merging(setting: Setting, options: ThemisGroupsOptions, _rng: np.random.Generator) -> _Scores:
    """Return the half that adds up."""
    return _Scores(_sets(setting.domain, options.together), options)


class _Scores(Adding):
    """The scores of all sets of attributes: a `Merging` of blocks of people."""

    def __init__(self, counts: list[_Groups], options: ThemisGroupsOptions) -> None:
        self._counts, self._options = counts, options
        self._next, self._done, self._looked, self._over = 0, 0, 1, False

    @property
    def wanted(self) -> ShardRange | None:
        """The blocks after the last one."""
        if self._over:
            return None
        return ShardRange(self._next, -(-self._options.most // BLOCK))

    def told(self, progress: Progress) -> Progress:
        """Return a progress with how many people were asked about, of how many at most."""
        total = self._done if self._over else self._options.most
        return msgspec.structs.replace(progress, done=self._done, total=total)

    def add(self, tallied: Tallied) -> bool:
        """Count people for every set, unless all scores are known well enough."""
        if self._over:
            return False
        counts = tallied.arrays["counts"]
        for each in self._counts:
            own, counts = np.split(counts, [len(each.values)], axis=1)
            each.people += own[0]
            each.favourable_counts += own[1]
        self._done += int(tallied.arrays["n"][0])
        if tallied.last:
            self._next = tallied.unit + 1
            over = self._done >= self._options.most
            if over or self._done >= self._looked * _GROWTH:
                self._looked = self._done
                self._over = over or _settled(self._counts, self._options)
        return True

    def measured(self) -> Measured | None:
        """Return the scores of the sets of which two groups were met."""
        gaps = tuple(gap for gap in _gaps(self._counts, self._options) if gap is not None)
        return Measured("random", gaps) if self._done else None


def _gaps(counts: list[_Groups], options: ThemisGroupsOptions) -> Iterator[GroupGap | None]:
    for each in counts:
        yield greatest_gap(
            each.names,
            each.values,
            each.people,
            each.favourable_counts,
            options.confidence,
            sets=len(counts),
        )


def _settled(counts: list[_Groups], options: ThemisGroupsOptions) -> bool:
    """Return whether all scores are known well enough; the one with most groups is asked first."""
    return all(
        gap is not None and gap.high - gap.low <= 2 * options.margin
        for gap in _gaps(counts[::-1], options)
    )
