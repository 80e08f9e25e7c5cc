"""The roots of a certificate: whether they are the whole domain, once."""

from __future__ import annotations

import math

import numpy as np

from fairdesk.certify.domain.space import Places
from fairdesk.certify.domain.ties import companion_of, standing
from fairdesk.certify.proof.certificate import (
    Arrays,
    AxisOf,
    Header,
)
from fairdesk.certify.proof.verify.outcome import Check
from fairdesk.data.domain.attributes import Role
from fairdesk.data.domain.domain import Domain
from fairdesk.results.events import Rows


def domain_check(header: Header, arrays: Arrays) -> Check:
    """Check that the axes hold the domain's values, and that the roots are all of them, once."""
    messages = [
        f"The values along “{axis.attribute}” are not those of the domain."
        for axis in header.axes
        if not _is_whole(axis, header.domain)
    ]
    domain = header.domain
    low, high = (arrays[name].astype(np.int64) for name in ("root_low", "root_high"))
    if not disjoint(low, high):
        messages.append("Some combinations are in two of the roots.")
    fixed = [
        i
        for i, axis in enumerate(header.axes)
        if domain.attributes[domain.names.index(axis.attribute)].role is Role.FIXED and axis.codes
    ]
    if fixed and not (low[:, fixed] == high[:, fixed]).all():
        messages.append("Some roots join several combinations of fixed values.")
    whole_size = math.prod(axis.count for i, axis in enumerate(header.axes) if i not in fixed)
    once = len(np.unique(low[:, fixed], axis=0)) if fixed else 1
    if sum(volumes_of(low, high)) != whole_size * once:
        messages.append("The roots do not cover the whole domain.")
    return Check(
        "The roots cover the whole domain exactly once", len(low), len(messages), 0, tuple(messages)
    )


def _is_whole(axis: AxisOf, domain: Domain) -> bool:
    """Return whether an axis has the values of its attribute, each once."""
    position = domain.names.index(axis.attribute)
    at = np.array([position])
    if (own := companion_of(domain, axis.attribute)) is not None and axis.codes:
        low, high = float(domain.low[position]), float(domain.high[position])
        spacing = float(domain.spacing[position]) or 1.0
        every = low + np.arange(round((high - low) / spacing) + 1, dtype=np.float64) * spacing
        every = domain.clip(every[:, None], at)[:, 0]
        kinds, codes = np.unique(standing(domain, own, every, every)), np.sort(axis.codes)
        if domain.attributes[position].role is Role.FIXED:
            return bool(np.isin(codes, kinds).all())
        return np.array_equal(codes, kinds)
    if axis.codes and domain.attributes[position].role is Role.FIXED:
        # whichever of them the data have
        codes = np.array(axis.codes)[:, None]
        return np.array_equal(domain.clip(codes, at), codes)
    low, grid = float(domain.low[position]), float(domain.grid[position])
    spacing = float(domain.spacing[position]) or 1.0 / grid
    if axis.count != round((float(domain.high[position]) - low) / spacing) + 1:
        return False
    if not axis.codes:
        return (axis.low, axis.spacing, axis.grid) == (low, spacing, grid)
    values: Rows = low + np.arange(axis.count, dtype=np.float64) * spacing
    wanted = domain.clip(values[:, None], at)
    return np.array_equal(np.sort(axis.codes), wanted[:, 0])


def disjoint(low: Places, high: Places) -> bool:
    """Return whether boxes share no point: by halving them along the axis that tells most apart."""
    waiting = [(low, high)]
    while waiting:
        low, high = waiting.pop()
        n = len(low)
        cut = low.mean(axis=0).astype(np.int64) if n > 256 else None
        both = n
        if cut is not None:
            straddling = ((low <= cut) & (high > cut)).sum(axis=0)
            largest = np.maximum((high <= cut).sum(axis=0), (low > cut).sum(axis=0))
            axis = int((straddling + largest).argmin())
            both = int(straddling[axis] + largest[axis])
        if cut is None or both >= n:
            if not _pairs_apart(low, high):
                return False
            continue
        left, right = low[:, axis] <= cut[axis], high[:, axis] > cut[axis]
        waiting += [(low[chosen], high[chosen]) for chosen in (left, right)]
    return True


def _pairs_apart(low: Places, high: Places) -> bool:
    for start in range(0, len(low), 64):
        mine_low, mine_high = low[start : start + 64, None], high[start : start + 64, None]
        meet = ((mine_low <= high) & (mine_high >= low)).all(axis=2)
        if meet.sum() != len(mine_low):  # with itself
            return False
    return True


def volumes_of(low: Places, high: Places) -> list[int]:
    """Count the points of boxes, in whole numbers of any size."""
    widths = high - low + 1
    if widths.astype(np.float64).prod(axis=1).max(initial=0.0) < 2.0**52:
        exact: list[int] = widths.prod(axis=1).tolist()
        return exact
    return [math.prod(row) for row in widths.tolist()]
