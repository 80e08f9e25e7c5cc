"""Subgroups by linear threshold functions: the auditor's half of FairFictPlay.

Kearns, Neel, Roth and Wu, "Preventing Fairness Gerrymandering: Auditing and Learning for Subgroup
Fairness", ICML 2018, sections 2 and 3.1, with statistical parity: find the subgroup ``g`` with the
greatest violation ``share(g) * |rate(g) - rate|``. That is to say yes where a decision is dearer
than the mean one and no where it is cheaper: a problem of classification with costs, for which the
paper takes an oracle as given.

The oracle here begins as the authors' own does, with least squares on the costs (saying no costs
nothing, so that one of its two regressions is nought). That foretells costs well and divides people
badly where the costs do not follow a plane. So of every direction the best threshold is taken,
exactly, and the direction is bettered by random steps and by random new starts. Logistic regression
on weighted signs was no better a start in any data that we tried, and takes longer.

A group and everybody else violate parity alike, so both directions, a rate above everybody's and
one below, are one search; of the two the smaller is told.

In the paper a learner answers each group by evening out its rate before the auditor looks again.
Here the model under audit stays as it is: what membership of the groups found so far foretells
(least squares) is taken out of the decisions instead, and the next group is found in what is left.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.attributes import Attribute
from fairdesk.errors import SpecError
from fairdesk.groups.context import GroupContext
from fairdesk.groups.metrics.group_table import newcombe
from fairdesk.groups.options import FairFictPlayOptions
from fairdesk.individual.engine.pace import Pace
from fairdesk.models.model import labels
from fairdesk.results.events import Event, Measured, Progress, Rows, timed
from fairdesk.results.subgroups import LinearGroup

Numbers = NDArray[np.float64]
Mask = NDArray[np.bool_]
#: With fewer people there is nothing to hold out.
_LEAST_PEOPLE = 40
#: Names that are weighed at most.
_MOST_NAMES = 500
#: Directions are tried so many at once, and so many times.
_AT_ONCE, _TIMES = 32, 16
#: Numbers in one batch of directions: what is sorted at once stays small.
_MOST_NUMBERS = 4_000_000
#: Random steps are so long at first, beside weights of length 1; those in vain make them shorter.
_STEP, _SHRINK = 1.0, 0.8
#: Weighted sums closer than this are the same: what is left is rounding.
_ROUNDING = 1e-9
#: A violation below this is no subgroup.
_NOUGHT = 1e-9


def search(
    context: GroupContext, people: Rows, options: FairFictPlayOptions, rng: np.random.Generator
) -> Iterator[Event]:
    """Find subgroups on one half of the data's people, and measure them on the other half.

    People of whom a protected value is not known are left out. Parameters as
    `fairdesk.audit.catalogue.implementations.Search`, ``people`` all of ``study.inside``.

    Raises
    ------
    SpecError
        When there are too few people, all of them are alike in what is protected, or the model
        decides alike about all of them.
    """
    return timed(_run(context, people, options, rng))


def _run(
    context: GroupContext, people: Rows, options: FairFictPlayOptions, rng: np.random.Generator
) -> Iterator[Event]:
    codes = context.groups[context.inside]
    known = ~np.isnan(codes).any(axis=1)
    codes, known_people = codes[known], people[known]
    if len(codes) < _LEAST_PEOPLE:
        raise SpecError(
            f"Only {len(codes):,} data rows are eligible for testing with all protected values "
            "known.",
            why="Subgroups are found on half of them and measured on the other half; with fewer "
            f"than {_LEAST_PEOPLE} individuals the result would be inconclusive.",
            remedy="Use more data, widen the ranges, or protect attributes with fewer missing "
            "cells.",
        )
    names = sum(len(each.values) for each in context.domain.grouping)
    if names > _MOST_NAMES:
        raise SpecError(
            f"The protected attributes have {names:,} categories in all; at most {_MOST_NAMES:,} "
            "can be weighted.",
            why="Each category has its own weight, and estimating it takes many individuals.",
            remedy="Protect attributes with fewer categories, or allow fewer of them.",
        )
    features, profile = Features.of(context.domain.grouping, codes)
    favourable_mask = np.empty(len(known_people), dtype=np.bool_)
    done = 0
    for part in Pace(1, context=context).parts(len(known_people)):
        favourable_mask[part] = labels(context.predict(known_people[part])) == context.favourable
        done += len(favourable_mask[part])
        yield Progress("asking", done, len(known_people), done, 0, context.queries)
    if favourable_mask.all() or not favourable_mask.any():
        favourable = context.decisions[context.favourable]
        raise SpecError(
            f"The model makes the same decision for all {len(favourable_mask):,} individuals in "
            f"the data: {'all' if favourable_mask.all() else 'none'} of them receive "
            f"“{favourable}”.",
            why="With a single decision, no subgroup can differ from others.",
            remedy=(
                "Check the favourable outcome and the decision threshold, or choose data for "
                "which the model makes different decisions."
            ),
        )
    shuffled = rng.permutation(len(favourable_mask))
    fitted, held_out = np.split(shuffled, [len(favourable_mask) // 2])
    profiles = Profiles.of(features, profile[fitted], favourable_mask[fitted])
    groups: list[Mask] = []
    measured: tuple[LinearGroup, ...] = ()
    for number in range(options.rounds):
        progress = Progress("fitting", number, options.rounds, done, 0, context.queries)
        best = yield from _oracle(profiles, profiles.left(groups), rng, progress)
        if best.violation < _NOUGHT:
            break
        inside = best.group(profiles)
        groups.append(inside)
        if 2 * profiles.people[inside].sum() > profiles.people.sum():
            best, inside = best.turned(), ~inside
        own = inside[profile[held_out]]
        if own.any() and not own.all():
            measured += (_measured(features, best, own, favourable_mask[held_out], context),)
            yield Measured("fitting", measured)
    if not measured:
        raise SpecError(
            "No measurable subgroup was found.",
            why=(
                "In the half of the individuals on which subgroups are fitted, or in the other "
                "half, too few have one of the decisions."
            ),
            remedy="Use data with more individuals, or fewer protected values.",
        )
    yield Progress("fitting", options.rounds, options.rounds, done, 0, context.queries)


@dataclass(frozen=True)
class Features:
    """What is weighed, by profile: people who are alike in it are told apart by no function.

    Attributes
    ----------
    names : tuple[str, ...]
        As of `LinearGroup`.
    values : NDArray[np.float64]
        ``(u, f)``; of each profile the numbers, made standard with mean and deviation of all the
        people, and for each name that anybody has 1 for those who have it.
    families : tuple[slice, ...]
        Which features are the names of one attribute.
    people : NDArray[np.float64]
        ``(u,)``; how many have the profile.
    """

    names: tuple[str, ...]
    values: Numbers
    families: tuple[slice, ...]
    people: Numbers

    @classmethod
    def of(cls, attributes: Sequence[Attribute], codes: Rows) -> tuple[Features, NDArray[np.intp]]:
        """Make them of ``(n, g)`` codes without missing ones; give each person's profile too.

        Raises
        ------
        SpecError
            When everybody is alike.
        """
        unique, profile, counts = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
        people = counts.astype(np.float64)
        names: list[str] = []
        columns: list[Numbers] = []
        families: list[slice] = []
        for attribute, column in zip(attributes, unique.T, strict=True):
            values = np.unique(column)
            if len(values) < 2:
                continue
            if attribute.values:
                families.append(slice(len(names), len(names) + len(values)))
                names += [f"{attribute.name} = {attribute.text(code)}" for code in values.tolist()]
                columns += [(column == code).astype(np.float64) for code in values]
            else:
                names.append(attribute.name)
                off = column - np.average(column, weights=people)
                columns.append(off / np.average(off**2, weights=people) ** 0.5)
        if not columns:
            raise SpecError(
                "All individuals in the data have the same protected values, so there are no "
                "subgroups.",
                why=f"Each protected attribute has only one value among the {len(codes):,} "
                "individuals eligible for testing.",
                remedy="Protect another attribute, or use more varied data.",
            )
        features = cls(tuple(names), np.column_stack(columns), tuple(families), people)
        return features, profile.reshape(-1)


@dataclass(frozen=True)
class Profiles:
    """The people on whom groups are fitted, counted by profile.

    Attributes
    ----------
    values : NDArray[np.float64]
        ``(u, f)``; as of `Features`.
    people, favourable : NDArray[np.float64]
        ``(u,)``; how many there are, perhaps none, and with the favourable decision.
    """

    values: Numbers
    people: Numbers
    favourable: Numbers

    @classmethod
    def of(cls, features: Features, profile: NDArray[np.intp], favourable_mask: Mask) -> Profiles:
        """Count people by their profile, ``(n,)``."""
        many = len(features.values)
        people = np.bincount(profile, minlength=many).astype(np.float64)
        favourable = np.bincount(profile[favourable_mask], minlength=many).astype(np.float64)
        return cls(features.values, people, favourable)

    def left(self, groups: Sequence[Mask]) -> Numbers:
        """Return what of the decisions ``(u,)`` groups do not foretell, summed by profile."""
        design = np.column_stack([np.ones(len(self.people)), *groups])
        return self.favourable - self.people * (design @ self._nearest(design, self.favourable))

    def plane(self, left: Numbers) -> Numbers:
        """Return the weights of the plane that fits ``(u,)`` sums best by least squares."""
        return self._nearest(np.column_stack([self.values, np.ones(len(left))]), left)[:-1]

    def _nearest(self, design: Numbers, sums: Numbers) -> Numbers:
        weights = np.sqrt(self.people)
        means = sums / np.maximum(self.people, 1.0)
        solved = np.linalg.lstsq(design * weights[:, None], means * weights, rcond=None)
        return np.asarray(solved[0])


@dataclass(frozen=True)
class Direction:
    """A linear threshold function and its violation.

    Attributes
    ----------
    violation : float
        On the people on whom it was fitted; of what was left of their decisions.
    weights : NDArray[np.float64]
        ``(f,)``; of length 1.
    bias : float
        Who has a weighted sum plus this above 0 is in the group.
    """

    violation: float
    weights: Numbers
    bias: float

    def group(self, profiles: Profiles) -> Mask:
        """``(u,)``; who is in the group."""
        return np.asarray(profiles.values @ self.weights + self.bias > 0)

    def turned(self) -> Direction:
        """Return the function whose group is everybody else."""
        return Direction(self.violation, -self.weights, -self.bias)


def _oracle(
    profiles: Profiles, left: Numbers, rng: np.random.Generator, progress: Progress
) -> Generator[Event, None, Direction]:
    """Look for the threshold function with the greatest violation; say now and then where it is."""
    best = _best_of(profiles, left, profiles.plane(left)[None])
    at_once = max(2, min(_AT_ONCE, _MOST_NUMBERS // len(profiles.people)))
    length = _STEP
    for _ in range(_TIMES):
        tried = rng.normal(size=(at_once, len(best.weights)))
        tried /= np.linalg.norm(tried, axis=1, keepdims=True)
        tried[::2] = best.weights + length * tried[::2]
        better = _best_of(profiles, left, tried)
        if better.violation > best.violation:
            best = better
        else:
            length *= _SHRINK
        yield progress
    return best


def _best_of(profiles: Profiles, left: Numbers, directions: Numbers) -> Direction:
    """Return the best of ``(m, f)`` directions, each with its best threshold.

    Whoever is above a threshold is in the group, and the violation is the sum of what is left of
    their decisions: so one running sum in the order of the weighted sums tries all thresholds.
    """
    lengths = np.linalg.norm(directions, axis=1, keepdims=True)
    directions = directions / np.where(lengths > 0, lengths, 1.0)
    sums = directions @ profiles.values.T
    order = np.argsort(-sums, axis=1)
    ranked = np.take_along_axis(sums, order, axis=1)
    running = np.abs(np.cumsum(left[order], axis=1))[:, :-1]
    running[ranked[:, :-1] - ranked[:, 1:] <= _ROUNDING] = 0.0
    which, last = np.unravel_index(running.argmax(), running.shape)
    return Direction(
        float(running[which, last] / profiles.people.sum()),
        directions[which],
        -float(ranked[which, last] + ranked[which, last + 1]) / 2,
    )


def _measured(
    features: Features,
    direction: Direction,
    inside: Mask,
    favourable_mask: Mask,
    context: GroupContext,
) -> LinearGroup:
    """Return the outcomes of individuals who had no part in the fitting."""
    weights, bias = _simplified(features, direction)
    people, others = int(inside.sum()), int((~inside).sum())
    hits, others_hits = int(favourable_mask[inside].sum()), int(favourable_mask[~inside].sum())
    low, high = newcombe((hits, people), (others_hits, others))
    phi_in, phi_out = hits / people, others_hits / others
    support = people / len(favourable_mask)
    return LinearGroup(
        features=features.names,
        weights=tuple(weights.tolist()),
        bias=bias,
        outcome=context.decisions[context.favourable],
        support=support,
        n_samples=len(favourable_mask),
        phi_in=phi_in,
        phi_out=phi_out,
        score=abs(phi_in - phi_out),
        violation=support * abs(phi_in - float(favourable_mask.mean())),
        low=float(low),
        high=float(high),
    )


def _simplified(features: Features, direction: Direction) -> tuple[Numbers, float]:
    """Write the same function so that it can be read.

    Each person has one name of an attribute, so its weights may all be raised at the bias's cost:
    they are told as what is above or below their mean over the people. The largest weight is 1.
    """
    weights, bias = direction.weights.copy(), direction.bias
    for family in features.families:
        mean = float(features.people @ features.values[:, family] @ weights[family])
        mean /= float(features.people.sum())
        weights[family] -= mean
        bias += mean
    largest = float(np.abs(weights).max())
    return weights / largest, bias / largest
