"""THEMIS's group scores: how far the favourable rates of two groups of invented people are apart.

Galhotra, Brun and Meliou, "Fairness Testing: Testing Software for Discrimination", ESEC/FSE 2017.
Random people are asked about until every score is known as well as was asked for; one sample
serves all sets of attributes. No similar sets are made, as `fairdesk.individual.shares.themis` does
for the causal score too: so it also serves where the protected values make too many combinations.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, combinations, product
from math import prod

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.domain import Domain
from fairdesk.errors import SpecError
from fairdesk.groups.context import GroupContext
from fairdesk.groups.options import MOST_GROUPS, ThemisGroupsOptions
from fairdesk.individual.engine.sampling import BLOCK, Pace, one_per_fixed
from fairdesk.individual.shares.themis import greatest_gap
from fairdesk.models.model import labels
from fairdesk.results.events import Event, Measured, Progress, Rows, timed
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
    return timed(_run(context, people, options, rng))


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

    def add(self, places: NDArray[np.intp], favourable: NDArray[np.bool_]) -> None:
        """Count people: ``(m, p)`` places of their values among those compared, ``(m,)``."""
        group = places @ self.strides
        self.people += np.bincount(group, minlength=len(self.values))
        self.favourable_counts += np.bincount(group[favourable], minlength=len(self.values))


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


def _run(
    context: GroupContext, people: Rows, options: ThemisGroupsOptions, rng: np.random.Generator
) -> Iterator[Event]:
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
    pace, done, checked = Pace(1, context=context), 0, 1
    for drawn in domain.draw(rng, sys.maxsize, BLOCK, one_per_fixed(domain, people)):
        rows = drawn[: options.most - done]
        for part in pace.parts(len(rows)):
            block = rows[part]
            favourable = labels(context.predict(block)) == context.favourable
            places = np.column_stack(
                [
                    each.nearest_compared(block[:, i])
                    for i, each in zip(domain.protected, protected, strict=True)
                ]
            )
            for each in counts:
                each.add(places, favourable)
            done += len(block)
            if pace.due():
                yield _measured(counts, options)
            yield _progress(context, done, options.most)
        over = done >= options.most
        if over or done >= checked * _GROWTH:
            checked = done
            if over or _settled(counts, options):
                break
    yield _measured(counts, options)
    yield _progress(context, done, done)


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


def _measured(counts: list[_Groups], options: ThemisGroupsOptions) -> Measured:
    return Measured("random", tuple(gap for gap in _gaps(counts, options) if gap is not None))


def _progress(context: GroupContext, done: int, total: int) -> Progress:
    return Progress("random", done, total, tried=done, found=0, queries=context.queries)
