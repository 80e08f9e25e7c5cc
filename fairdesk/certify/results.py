"""What a divided space says: shares, and the largest regions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.boxes import Tree
from fairdesk.certify.domain.space import sizes
from fairdesk.certify.proof.certificate import share_down, share_up
from fairdesk.certify.refine import Refinery
from fairdesk.results.proofs import Estimated, Proven, Region

Float64 = NDArray[np.float64]

#: So many of the largest regions of each kind are told.
MOST_REGIONS = 20
#: None with a smaller share of the domain is told.
_SMALLEST_REGION = 1e-9
#: Nodes whose boxes are made at once.
_AT_ONCE = 1 << 16
#: So many points of the course are kept.
MOST_COURSE = 200


class Course:
    """How shares grew, thinned as it becomes long."""

    def __init__(self) -> None:
        self._points: list[tuple[float, float, float]] = []

    def add(self, seconds: float, certified: float, falsified: float) -> None:
        """Take a point down; shares that were proven stay so."""
        if self._points:
            certified = max(certified, self._points[-1][1])
            falsified = max(falsified, self._points[-1][2])
        self._points.append((seconds, certified, falsified))
        if len(self._points) > MOST_COURSE:
            self._points = [*self._points[:-1:2], self._points[-1]]

    @property
    def points(self) -> tuple[tuple[float, float, float], ...]:
        """Seconds, certified and falsified."""
        return tuple(self._points)


def proven(
    refinery: Refinery,
    attributes: tuple[str, ...],
    *,
    seconds: float,
    margin: float,
    course: Course,
    estimated: Estimated | None = None,
    of_people: Course | None = None,
    notes: Sequence[str] = (),
) -> tuple[Proven, ...]:
    """Return what is proven of the domain, and of the population where the space has one.

    Parameters
    ----------
    refinery : Refinery
        What was divided.
    attributes : tuple[str, ...]
        The protected attributes.
    seconds, margin, estimated, notes
        As of `fairdesk.results.proofs.Proven`.
    course : Course
        Of the domain; its last point is now.
    of_people : Course, optional
        Of the population, likewise.
    """
    total, consistent, discriminatory = (
        refinery.space.total,
        refinery.consistent,
        refinery.discriminatory,
    )
    of_domain = Proven(
        of="domain",
        attributes=attributes,
        certified=share_down(consistent, total),
        falsified=share_down(discriminatory, total),
        undecided=share_up(total - consistent - discriminatory, total),
        total=str(total),
        certified_people=str(consistent),
        falsified_people=str(discriminatory),
        exact=0 < total == consistent + discriminatory,
        boxes=refinery.boxes,
        seconds=seconds,
        margin=margin,
        estimated=estimated,
        course=course.points,
        notes=tuple(notes),
    )
    if refinery.space.people is None:
        return (of_domain,)
    certified, falsified, undecided = people_shares(refinery)
    return of_domain, Proven(
        of="people",
        attributes=attributes,
        certified=certified,
        falsified=falsified,
        undecided=undecided,
        exact=of_domain.exact,
        boxes=refinery.boxes,
        seconds=seconds,
        margin=margin,
        course=() if of_people is None else of_people.points,
    )


def people_shares(refinery: Refinery) -> tuple[float, float, float]:
    """Return which shares of the space's population are certified, falsified and undecided.

    The first two are rounded down: the masses less what they can be off, over the greatest that
    everything can be.
    """
    people = refinery.space.people
    if people is None or not people.total > 0.0:
        return 0.0, 0.0, 1.0
    whole = people.total * (1.0 + 2.0 * people.off)
    certified, falsified = (
        float(np.clip((mass - refinery.people_off) / whole * (1.0 - 2.0**-50), 0.0, 1.0))
        for mass in (refinery.people_consistent, refinery.people_discriminatory)
    )
    falsified = min(falsified, 1.0 - certified)
    return certified, falsified, max(0.0, 1.0 - certified - falsified)


def _points(tree: Tree, nodes: NDArray[np.intp]) -> Float64:
    """Count the points of boxes, ``(n,)``."""
    low, high = tree.boxes(nodes)
    return np.asarray((high - low + 1).astype(np.float64).prod(axis=1))


def regions(tree: Tree) -> tuple[Region, ...]:
    """Return the largest boxes that are discriminatory as a whole, then the consistent ones."""
    # compiled code is loaded where a search runs, never in the window's process
    from fairdesk.certify.domain.box_kernels import uniform_below  # noqa: PLC0415

    space, parent = tree.space, tree.parent[: tree.count]
    uniform = np.zeros(tree.count, dtype=np.int8)
    uniform_below(tree.first[: tree.count], tree.verdict[: tree.count], uniform)
    above = np.where(parent >= 0, uniform[parent], 0)
    listed = []
    for kind, verdict in ((2, "discriminatory"), (1, "consistent")):
        whole = np.flatnonzero((uniform == kind) & (above != kind))
        points = [_points(tree, whole[i : i + _AT_ONCE]) for i in range(0, len(whole), _AT_ONCE)]
        size = np.concatenate([np.empty(0), *points])
        order = np.argsort(-size, kind="stable")[:MOST_REGIONS]
        whole = whole[order[size[order] >= _SMALLEST_REGION * space.total]]
        low, high = tree.boxes(whole)
        masses = np.zeros(len(whole))
        if (people := space.people) is not None and people.total > 0.0:
            masses = np.clip(people.masses(low, high) / people.total, 0.0, 1.0)
        for i, count in enumerate(sizes(low, high)):
            listed.append(
                Region(
                    verdict="discriminatory" if verdict == "discriminatory" else "consistent",
                    conditions=space.conditions(low[i], high[i]),
                    share=share_down(count, space.total),
                    people=str(count),
                    population=float(masses[i]),
                )
            )
    return tuple(listed)
