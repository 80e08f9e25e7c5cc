"""How often each group of real people gets the favourable outcome: observed in the data's rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from statistics import NormalDist

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain import Attribute, Domain
from fairdesk.data.table import Table

Mask = NDArray[np.bool_]

#: The interval around a rate holds the true one in so many of a hundred samples.
CONFIDENCE = 0.95
#: Intersections with more groups than this are not listed: nearly all would be empty.
MOST_GROUPS = 200


class Group(msgspec.Struct, frozen=True):
    """One group and its outcomes.

    Attributes
    ----------
    values : tuple[str, ...]
        Its value of each attribute.
    known : bool
        Whether all of these are known. Groups that are not are counted, but not compared.
    rows : int
        People in it whose outcome is known.
    favourable : int
        Those of them with the favourable one.
    rate : float or None
        ``favourable / rows``, the selection rate; None of an empty group.
    low, high : float
        Wilson's interval for it (95 %); 0 and 1 of an empty group.
    impact_ratio : float or None
        The rate by that of the group with the highest; None where that is 0 or nobody is in it.
    """

    values: tuple[str, ...]
    known: bool
    rows: int
    favourable: int
    rate: float | None
    low: float
    high: float
    impact_ratio: float | None


class Outcomes(msgspec.Struct, frozen=True):
    """The groups that one attribute, or several together, make.

    Attributes
    ----------
    attributes : tuple[str, ...]
        Their names.
    groups : tuple[Group, ...]
        In the order of the attributes' values; of several attributes only those with people.
    left_out : int
        Rows without an outcome, or with a value that is not among the compared ones.
    """

    attributes: tuple[str, ...]
    groups: tuple[Group, ...]
    left_out: int


def outcomes(domain: Domain, table: Table, good: Mask, known: Mask) -> tuple[Outcomes, ...]:
    """Count the outcomes of every protected attribute's groups, and of their intersections.

    Rate, impact ratio: 29 CFR 1607.4(D) and 6 RCNY 5-301. The interval: Wilson 1927.

    Parameters
    ----------
    domain : Domain
        Its protected attributes make the groups. A number's groups are the values compared, each
        row in the nearest.
    table : Table
        The data.
    good, known : NDArray[np.bool_]
        ``(n,)``; whether a row has the favourable outcome, and whether it has one at all.

    Returns
    -------
    tuple of Outcomes
        One per protected attribute; with several, one more of all together, unless that makes
        more than `MOST_GROUPS` groups.
    """
    codes = domain.encode(table)
    attributes = [domain.attributes[i] for i in domain.protected.tolist()]
    places = [_groups(domain.attributes[i], codes[:, i]) for i in domain.protected.tolist()]
    found = [
        _count((attribute,), (place,), good, known)
        for attribute, place in zip(attributes, places, strict=True)
    ]
    if len(attributes) > 1 and domain.combination_count <= MOST_GROUPS:
        found.append(_count(attributes, places, good, known))
    return tuple(found)


def _groups(attribute: Attribute, codes: NDArray[np.float64]) -> NDArray[np.intp]:
    """Give each row's group: the nearest compared value; the number of them where it has none."""
    group = attribute.nearest_compared(codes)
    group[np.isnan(codes)] = len(attribute.compared)
    return group


def _count(
    attributes: Sequence[Attribute],
    places: Sequence[NDArray[np.intp]],
    good: Mask,
    known: Mask,
) -> Outcomes:
    sizes = tuple(len(attribute.compared) for attribute in attributes)
    counted = known.copy()
    for place, size in zip(places, sizes, strict=True):
        counted &= place < size
    where = np.ravel_multi_index([place[counted] for place in places], sizes)
    rows = np.bincount(where, minlength=int(np.prod(sizes)))
    favourable = np.bincount(where[good[counted]], minlength=len(rows))
    texts = list(product(*([a.text(code) for code in a.compared] for a in attributes)))
    certain = list(product(*(_known(attribute) for attribute in attributes)))
    rates = [
        k / n
        for n, k, known_values in zip(rows, favourable, certain, strict=True)
        if n and all(known_values)
    ]
    highest = max(rates, default=0.0)
    groups = tuple(
        _group(values, all(known_values), n, k, highest)
        for values, known_values, n, k in zip(
            texts, certain, rows.tolist(), favourable.tolist(), strict=True
        )
        if n or len(attributes) == 1
    )
    return Outcomes(
        tuple(attribute.name for attribute in attributes), groups, int((~counted).sum())
    )


def _known(attribute: Attribute) -> list[bool]:
    unknown = len(attribute.values) - 1 if attribute.unknown else None
    return [code != unknown for code in attribute.compared]


def _group(values: tuple[str, ...], known: bool, n: int, k: int, highest: float) -> Group:  # noqa: FBT001 - private, and always called with all of a group's figures
    if not n:
        return Group(values, known, 0, 0, None, 0.0, 1.0, None)
    low, high = wilson(k, n)
    ratio = k / n / highest if known and highest else None
    return Group(values, known, n, k, k / n, low, high, ratio)


def wilson(k: int, n: int) -> tuple[float, float]:
    """Give Wilson's interval (1927) for a rate of ``k`` in ``n`` rows.

    Written out here: the library that has it takes seconds to load beside a window.
    """
    z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
    middle = (k + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * math.sqrt(k * (n - k) / n + z * z / 4)
    return (max(middle - half, 0.0) if k else 0.0, min(middle + half, 1.0) if k < n else 1.0)
