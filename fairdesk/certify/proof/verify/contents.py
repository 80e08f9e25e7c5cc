"""The tree of a certificate: its roots are the domain, its leaves are added up in whole numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.space import Places, companion_of, standing
from fairdesk.certify.proof.certificate import (
    CONSISTENT,
    COUNTED,
    DISCRIMINATORY,
    NOBODY,
    UNDECIDED,
    Arrays,
    AxisOf,
    Header,
    leaves,
)
from fairdesk.certify.proof.verify.statements import KINDS, MOST_MESSAGES, Check
from fairdesk.data.domain.attributes import Role
from fairdesk.data.domain.domain import Domain
from fairdesk.results.events import Rows

Nodes = NDArray[np.int64]


class Tree:
    """The boxes of a certificate, as they are read."""

    def __init__(self, header: Header, arrays: Arrays) -> None:
        self._header, self._arrays = header, arrays
        inner = np.flatnonzero(arrays["first"] >= 0)
        self._parent = np.full(len(arrays["first"]), -1, dtype=np.int64)
        for step in (0, 1):
            self._parent[arrays["first"][inner].astype(np.int64) + step] = inner

    def boxes(self, nodes: Nodes) -> tuple[Places, Places, NDArray[np.int64]]:
        """Return the boxes of nodes, ``(n, a)``, and their roots: by climbing up from each."""
        arrays = self._arrays
        widest = len(self._header.axes)
        low = np.zeros((len(nodes), widest), dtype=np.int64)
        high = np.full((len(nodes), widest), np.iinfo(np.int64).max)
        at = nodes.astype(np.int64)
        climbing = np.flatnonzero(self._parent[at] >= 0)
        while climbing.size:
            child = at[climbing]
            parent = self._parent[child]
            axis = arrays["axis"][parent].astype(np.int64)
            cut = arrays["cut"][parent].astype(np.int64)
            second = child != arrays["first"][parent]
            up, down = climbing[second], climbing[~second]
            low[up, axis[second]] = np.maximum(low[up, axis[second]], cut[second] + 1)
            high[down, axis[~second]] = np.minimum(high[down, axis[~second]], cut[~second])
            at[climbing] = parent
            climbing = climbing[self._parent[parent] >= 0]
        low = np.maximum(low, arrays["root_low"][at])
        return low, np.minimum(high, arrays["root_high"][at]), at

    def places(self, people: Rows) -> tuple[Places, NDArray[np.bool_]]:
        """Find people along the axes, and who of them are there."""
        domain = self._header.domain
        places = np.zeros((len(people), len(self._header.axes)), dtype=np.int64)
        inside = np.ones(len(people), dtype=np.bool_)
        for i, axis in enumerate(self._header.axes):
            own = people[:, domain.names.index(axis.attribute)]
            if companion := companion_of(domain, axis.attribute):
                codes, which = np.unique(own, return_inverse=True)
                own = standing(domain, companion, codes, np.array(axis.codes))[which.ravel()]
            if axis.codes:
                order = np.argsort(axis.codes)
                found = np.clip(
                    np.searchsorted(np.array(axis.codes)[order], own), 0, axis.count - 1
                )
                places[:, i] = order[found]
            else:
                nearest = np.round((own - axis.low) / axis.spacing)
                places[:, i] = np.clip(nearest, 0, axis.count - 1).astype(np.int64)
            inside &= axis.code(places[:, i]) == own
        return places, inside

    def leaf(self, places: Places) -> Nodes:
        """Return the leaves that points are in, by going down from their roots."""
        arrays = self._arrays
        low, high = arrays["root_low"], arrays["root_high"]
        at = np.zeros(len(places), dtype=np.int64)
        inside = np.zeros(len(places), dtype=np.bool_)
        for root in range(len(low)):
            own = ~inside & (places >= low[root]).all(axis=1) & (places <= high[root]).all(axis=1)
            at[own] = root
            inside |= own
        going = np.flatnonzero(inside & (arrays["first"][at] >= 0))
        while going.size:
            node = at[going]
            axis = arrays["axis"][node].astype(np.int64)
            beyond = places[going, axis] > arrays["cut"][node]
            at[going] = arrays["first"][node].astype(np.int64) + beyond
            going = going[arrays["first"][at[going]] >= 0]
        return at[inside]


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


#: Of more points in a box only that there are so many matters.
_LARGEST = 10**300


class LeafContents:
    """What the leaves of a certificate say, once `walk` was there.

    Attributes
    ----------
    nodes, sizes : dict[int, NDArray]
        By kind of leaf: their numbers, and how many points each has, about.
    """

    def __init__(self, header: Header, arrays: Arrays) -> None:
        self.nodes: dict[int, Nodes] = {}
        self.sizes: dict[int, NDArray[np.float64]] = {}
        self._header, self._arrays = header, arrays
        self._total = 0
        self._proven = {"consistent": [0, 0], "discriminatory": [0, 0]}

    def walk(self) -> Check:
        """Walk through all leaves, and add up what they say."""
        header, arrays = self._header, self._arrays
        several = np.array([sum(row) > 1 for row in header.may_be], dtype=np.bool_)
        inhabited = several[list(header.groups)]
        unclear = np.zeros(len(header.groups), dtype=np.bool_)
        unclear[list(header.unclear)] = True
        inhabited |= unclear
        roots = arrays["root_low"].astype(np.int64), arrays["root_high"].astype(np.int64)
        left = sum(volumes_of(*roots))
        nodes: dict[int, list[Nodes]] = {kind: [] for kind in KINDS}
        sizes: dict[int, list[NDArray[np.float64]]] = {kind: [] for kind in KINDS}
        messages: list[str] = []
        failed = count = 0
        for part in leaves(arrays):
            verdict = arrays["verdict"][part.nodes]
            volumes = volumes_of(part.low, part.high)
            left -= sum(volumes)
            count += len(volumes)
            nobody = verdict == NOBODY
            wrong = np.flatnonzero(nobody == inhabited[part.root])
            wrong = np.union1d(
                wrong,
                np.flatnonzero(
                    unclear[part.root] & ((verdict == CONSISTENT) | (verdict == DISCRIMINATORY))
                ),
            )
            failed += len(wrong)
            messages += [
                f"Region {part.nodes[i]} has the verdict “{KINDS[int(verdict[i])]}”, which "
                "is impossible there."
                for i in wrong[: MOST_MESSAGES - len(messages)].tolist()
            ]
            self._add(part.nodes, verdict, volumes)
            # what a float cannot hold is drawn as if it could just be held
            floats = np.array([float(min(size, _LARGEST)) for size in volumes])
            for kind in KINDS:
                own = verdict == kind
                nodes[kind].append(part.nodes[own])
                sizes[kind].append(floats[own])
        if left:
            failed += 1
            messages.append(
                f"The numbers of combinations in the regions and in the domain differ by {left:,}."
            )
        self.nodes = {kind: np.concatenate(each) for kind, each in nodes.items()}
        self.sizes = {kind: np.concatenate(each) for kind, each in sizes.items()}
        return Check(
            "The regions cover the whole domain exactly once", count, failed, 0, tuple(messages)
        )

    def _add(self, nodes: Nodes, verdict: NDArray[Any], volumes: list[int]) -> None:
        """Add up what leaves prove: the most that they can be read to say, and the least."""
        consistent, discriminatory = (
            self._arrays[name][nodes].tolist() for name in ("consistent", "discriminatory")
        )
        for i, (kind, size) in enumerate(zip(verdict.tolist(), volumes, strict=True)):
            if kind == NOBODY:
                continue
            self._total += size
            if kind == COUNTED:
                hits = round(size * discriminatory[i])
                both = {"discriminatory": (hits, hits), "consistent": (size - hits, size - hits)}
            elif kind == UNDECIDED:
                both = {
                    "consistent": _between(size, consistent[i]),
                    "discriminatory": _between(size, discriminatory[i]),
                }
            else:
                both = {"consistent" if kind == CONSISTENT else "discriminatory": (size, size)}
            for name, (least, most) in both.items():
                self._proven[name][0] += least
                self._proven[name][1] += most

    def totals(self) -> Check:
        """Check that the totals and shares follow from the leaves."""
        header, messages = self._header, []
        total, certified, falsified, undecided = (
            int(each)
            for each in (header.total, header.certified, header.falsified, header.undecided)
        )
        if total != self._total:
            messages.append(
                f"The proof certificate states {total:,} combinations, and the regions contain "
                f"{self._total:,}."
            )
        if total != certified + falsified + undecided:
            messages.append(
                "The certified, falsified and undecided parts do not add up to the whole."
            )
        for what, stated, name in (
            ("certified", certified, "consistent"),
            ("falsified", falsified, "discriminatory"),
        ):
            least, most = self._proven[name]
            if not least <= stated <= most:
                messages.append(
                    f"The proof certificate states that {stated:,} combinations are {what}; "
                    f"its regions have {most:,}."
                )
        for what, share, part, up in (
            ("certified", header.certified_share, certified, False),
            ("falsified", header.falsified_share, falsified, False),
            ("undecided", header.undecided_share, undecided, True),
        ):
            exact = Fraction(part, total) if total else Fraction(0)
            off = Fraction(share) - exact
            if (off < 0 if up else off > 0) or abs(off) > Fraction(1, 1 << 50):
                messages.append(f"The {what} share is not {share!r}.")
        return Check("The totals follow from the regions", 7, len(messages), 0, tuple(messages))


def _between(size: int, share: float) -> tuple[int, int]:
    """Return the least and the most whole number that so large a share of points can be read as.

    Who computes it in floating point comes out a little lower than who does so exactly.
    """
    numerator, denominator = share.as_integer_ratio()
    exact = numerator * size
    return (exact - (exact >> 48)) // denominator - 2 if share else 0, exact // denominator
