"""TestSGD one rule set after the other: what the search that shares its work is held against.

Zhang et al., "TestSGD: Interpretable Testing of Neural Networks Against Subtle Group
Discrimination", ACM TOSEM 2023, Algorithms 1 and 2 as they are written: all rule sets are put
together and counted, each by a filter over all rows, and each is scored by people drawn and asked
about for it alone. What its rules and steps are is as in ours, so that the two can be compared;
the code is not. People are drawn and asked about many at a time: nothing is slower than the
algorithms make it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdesk.data.domain.attributes import Attribute
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.groups.context import GroupContext
from fairdesk.groups.options import MOST_NAMES, TestSgdOptions, Z
from fairdesk.models.model import labels
from fairdesk.results.events import Rows
from fairdesk.results.proofs import Condition

Mask = NDArray[np.bool_]

#: After the first samples, more are drawn so many at a time.
_MORE = 100


class Scored(NamedTuple):
    """A rule set and its score."""

    conditions: tuple[Condition, ...]
    phi_in: float
    phi_out: float
    margin: float
    samples: int

    @property
    def score(self) -> float:
        """The group fairness score."""
        return abs(self.phi_in - self.phi_out)


def rules(attribute: Attribute, codes: NDArray[np.float64], bins: int) -> list[Condition]:
    """List all rules about one attribute, of ``(n,)`` codes."""
    codes = codes[~np.isnan(codes)]
    values = sorted(set(codes.tolist()))
    name = attribute.name
    coded = attribute.kind is Kind.INTEGER and len(values) <= MOST_NAMES
    if attribute.kind is Kind.NOMINAL or coded:
        return [
            Condition(name, codes=subset)
            for size in range(1, len(values))
            for subset in combinations(values, size)
        ]
    runs = [(i, j) for i in range(len(values)) for j in range(i, len(values))]
    if attribute.values:
        return [
            Condition(name, codes=tuple(values[i : j + 1]))
            for i, j in runs
            if j - i + 1 < len(values)
        ]
    whole = attribute.kind is Kind.INTEGER
    if whole and len(values) <= bins:
        starts, ends = values, values
    else:
        low, width = values[0], (values[-1] + whole - values[0]) / bins
        edges = [low + width * i for i in range(1, bins)]
        if whole:
            edges = sorted({float(math.ceil(edge)) for edge in edges})
        else:
            span = values[-1] - values[0]
            edges = [round(edge, int(4 - math.floor(math.log10(span)))) for edge in edges]
        starts = [low, *edges]
        ends = [*(edge - whole for edge in edges), values[-1]]
    held = [
        any((low <= value < above) for value in values)
        for low, above in zip(starts, [*starts[1:], np.inf], strict=True)
    ]
    there = [i for i, some in enumerate(held) if some]
    return [
        Condition(
            name,
            low=None if i == there[0] else starts[i],
            high=None if j == there[-1] else ends[j],
            below=attribute.kind is Kind.REAL and j != there[-1],
        )
        for i in there
        for j in there
        if i <= j and (i, j) != (there[0], there[-1])
    ]


def frame_of(study: GroupContext) -> pd.DataFrame:
    """Return the groups of the rows in the domain by the attributes' names."""
    names = [each.name for each in study.domain.grouping]
    return pd.DataFrame(study.groups[study.inside], columns=names)


def holds(frame: pd.DataFrame, conditions: Sequence[Condition]) -> Mask:
    """Filter the rows by a rule set."""
    inside = pd.Series(data=True, index=frame.index)
    for each in conditions:
        column = frame[each.attribute]
        if each.codes:
            inside &= column.isin(each.codes)
            continue
        inside &= column.notna()
        if each.low is not None:
            inside &= column >= each.low
        if each.high is not None:
            inside &= column < each.high if each.below else column <= each.high
    return inside.to_numpy()


def candidates(study: GroupContext, options: TestSgdOptions) -> Iterator[tuple[Condition, ...]]:
    """Put together all rule sets: a rule about each of some attributes."""
    every = [
        rules(attribute, codes, options.bins)
        for attribute, codes in zip(
            study.domain.grouping, study.groups[study.inside].T, strict=True
        )
    ]
    for size in range(1, min(options.together, len(every)) + 1):
        for some in combinations(every, size):
            yield from product(*some)


def candidate_count(study: GroupContext, options: TestSgdOptions) -> int:
    """Count them without putting them together."""
    many = [
        len(rules(attribute, codes, options.bins))
        for attribute, codes in zip(
            study.domain.grouping, study.groups[study.inside].T, strict=True
        )
    ]
    sizes = range(1, min(options.together, len(many)) + 1)
    return sum(math.prod(some) for size in sizes for some in combinations(many, size))


def frequent(study: GroupContext, options: TestSgdOptions) -> list[tuple[Condition, ...]]:
    """Keep the rule sets with enough support (Algorithm 1)."""
    frame = frame_of(study)
    return [
        conditions
        for conditions in candidates(study, options)
        if options.theta <= holds(frame, conditions).mean() < 1
    ]


def score(
    study: GroupContext,
    conditions: tuple[Condition, ...],
    options: TestSgdOptions,
    rng: np.random.Generator,
) -> Scored:
    """Draw people inside and outside until the margin is small enough (Algorithm 2)."""
    inside = holds(frame_of(study), conditions)
    rows = [study.rows[study.inside][part] for part in (inside, ~inside)]
    drawn, good = np.zeros(2), np.zeros(2)
    margin, more = np.inf, options.sample_thr
    while margin > options.error_thr:
        for side, seeds in enumerate(rows):
            people = perturbed(study.domain, seeds[rng.integers(len(seeds), size=more)], rng)
            good[side] += (labels(study.predict(people)) == study.favourable).sum()
            drawn[side] += more
        phi = good / drawn
        margin = float((Z * np.sqrt(phi * (1 - phi) / drawn)).sum())
        more = _MORE
    return Scored(conditions, *phi.tolist(), margin, int(drawn.sum()))


def perturbed(domain: Domain, people: Rows, rng: np.random.Generator) -> Rows:
    """Move one attribute of each person by one step; who breaks a constraint is moved anew."""
    if not domain.varying.size:
        return people
    moved = people.copy()
    left = np.arange(len(people))
    while left.size:
        which = domain.varying[rng.integers(len(domain.varying), size=len(left))]
        moved[left] = people[left]
        for i in set(which.tolist()):
            there = left[which == i]
            moved[there, i] = _beside(domain.attributes[i], people[there, i], rng)
        moved[left] = domain.apply_dependencies(moved[left])
        left = left[~domain.contains(moved[left])]
    return moved


def _beside(
    attribute: Attribute, codes: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return values one step away: another name, or a number 1 or a hundredth off, in the range."""
    if attribute.kind is Kind.NOMINAL:
        others = len(attribute.values) - 1
        return (codes + 1 + rng.integers(others, size=len(codes))) % (others + 1)
    step = 1.0 if attribute.integral else (attribute.high - attribute.low) / 100
    there = codes + rng.choice((-step, step), size=len(codes))
    return np.clip(there, attribute.low, attribute.high)
