"""What a divided space says: shares, the largest regions, and what attributes do alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import comb

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.counting.exhaustive import PointCounter
from fairdesk.certify.domain.boxes import Tree
from fairdesk.certify.domain.space import Space, sizes
from fairdesk.certify.layout import Layout, everyone_for, lay_out
from fairdesk.certify.proof.certificate import share_down, share_up
from fairdesk.certify.refine import Refinery, Steps
from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.dependencies import Companion
from fairdesk.data.domain.domain import Domain
from fairdesk.data.domain.formulas import And, Comparison, Formula, Name, Not, Number, Valued
from fairdesk.individual.engine.pace import Pace
from fairdesk.models.model import labels
from fairdesk.results.events import Metric, Rows
from fairdesk.results.proofs import Estimated, PairShare, Proven, Region

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
    of_domain = of_points(
        *(attributes, refinery.space.total, refinery.consistent, refinery.discriminatory),
        boxes=refinery.boxes,
        seconds=seconds,
        margin=margin,
        course=course,
        estimated=estimated,
        notes=notes,
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


def of_points(
    attributes: tuple[str, ...],
    total: int,
    consistent: int,
    discriminatory: int,
    *,
    boxes: int,
    seconds: float,
    margin: float,
    course: Course,
    estimated: Estimated | None = None,
    notes: Sequence[str] = (),
) -> Proven:
    """Return what is proven of a domain of so many points; the rest as of `proven`."""
    return Proven(
        of="domain",
        attributes=attributes,
        certified=share_down(consistent, total),
        falsified=share_down(discriminatory, total),
        undecided=share_up(total - consistent - discriminatory, total),
        total=str(total),
        certified_people=str(consistent),
        falsified_people=str(discriminatory),
        exact=0 < total == consistent + discriminatory,
        boxes=boxes,
        seconds=seconds,
        margin=margin,
        estimated=estimated,
        course=course.points,
        notes=tuple(notes),
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


#: So many pairs of combinations are looked at: those that differ most often in a sample.
MOST_PAIRS = 15
_SAMPLE = 4_096
#: Of more combinations no pairs are looked for.
_MOST_COMBINATIONS = 64
#: And so many people at most are counted one by one.
_MOST_COUNTED = 10_000_000

#: Tells whether the time for a part of the work, from 0 to 1, is over.
Over = Callable[[float], bool]


def look_aside(
    layout: Layout, people: Rows, rng: np.random.Generator, over: Over, *, pairs: bool = True
) -> Iterator[Metric | None]:
    """Yield what is proven of single attributes and of pairs of values.

    Parameters
    ----------
    layout : Layout
        Of the main question.
    people : Rows
        ``(n, d)``; the data's rows in the domain.
    rng : np.random.Generator
        For the sample by which pairs are chosen.
    over : callable
        Asked often, with the part of the work that should be done by now: as long as it says no,
        there is time for more of the same.
    pairs : bool
        Whether pairs are wanted too.

    Yields
    ------
    Metric, optional
        Each when it is done, and ``None`` in between, often. Nothing is told of those that there
        was no time for, nor where nothing was proven.
    """
    if layout.anatomy is None:
        return
    domain = layout.space.domain
    alone = domain.protected.tolist() if len(domain.protected) > 1 else []
    pairs &= 2 < len(domain.combinations) <= _MOST_COMBINATIONS
    parts = len(alone) + (min(MOST_PAIRS, comb(len(domain.combinations), 2)) if pairs else 0)
    for done, position in enumerate(alone, start=1):
        yield None
        if over(1.0):
            return
        own = lay_out(only(domain, position), people, layout.anatomy, layout.fed)
        refinery = Refinery(own.space, own.examiner, at_once=False)
        yield from _divided(refinery, own, over, done / parts)
        if not refinery.consistent + refinery.discriminatory:
            continue
        course, names = Course(), (domain.names[position],)
        margin = own.examiner.margin
        yield proven(refinery, names, seconds=0.0, margin=margin, course=course)[0]
    yield None
    if not pairs or over(1.0):
        return
    chosen = yield from _pairs(layout, rng, over)
    for done, (first, second) in enumerate(chosen, start=len(alone) + 1):
        if over(1.0):
            return
        own = layout.comparing(first, second)
        refinery = Refinery(own.space, own.examiner, at_once=False)
        yield from _divided(refinery, own, over, done / parts)
        if refinery.consistent + refinery.discriminatory:
            yield _pair_share(own, refinery, first, second)


def _divided(refinery: Refinery, layout: Layout, over: Over, part: float) -> Iterator[None]:
    """Divide a space; who is too near to a border for bounds is counted."""
    while not refinery.over:
        refinery.step()
        yield None
        if over(part):
            break
    if refinery.undecided and refinery.over and refinery.undecided <= _MOST_COUNTED:
        for _ in refinery.count(everyone_for(layout)):
            yield None
            if over(part):
                return


def _pair_share(layout: Layout, refinery: Refinery, first: int, second: int) -> PairShare:
    domain = layout.space.domain
    names = tuple(domain.names[i] for i in domain.protected)
    figure = proven(refinery, names, seconds=0.0, margin=0.0, course=Course())[0]
    return PairShare(
        names,
        tuple(domain.combinations[first].tolist()),
        tuple(domain.combinations[second].tolist()),
        figure.falsified,
        figure.certified,
        figure.exact,
    )


def pairs_counted(space: Space, counter: PointCounter) -> tuple[PairShare, ...]:
    """Return the pairs that differ, most often first, where everybody was counted; else none."""
    domain, differ = space.domain, counter.pairs
    if domain.has_constraints or counter.points < space.total or len(differ) <= 2:
        return ()
    names = tuple(domain.names[i] for i in domain.protected)
    first, second = np.triu_indices(len(differ), 1)
    often = np.argsort(-differ[first, second], kind="stable")[:MOST_PAIRS]
    return tuple(
        PairShare(
            names,
            tuple(domain.combinations[one].tolist()),
            tuple(domain.combinations[other].tolist()),
            share_down(int(differ[one, other]), space.total),
            share_down(space.total - int(differ[one, other]), space.total),
            exact=True,
        )
        for one, other in zip(first[often], second[often], strict=True)
        if differ[one, other]
    )


def only(domain: Domain, position: int) -> Domain:
    """Return a domain in which one attribute only is protected; the others tell instances apart.

    Where companions follow another attribute no instance may contradict it.
    """
    name, support = domain.names[position], domain.support
    others = [each for each in (*support.companions, *support.proposed) if each.by != name]
    support = msgspec.structs.replace(
        support,
        constraints=(
            *support.constraints,
            *(text for each in others for text in _apart(domain, each)),
        ),
        companions=tuple(each for each in support.companions if each.by == name),
        proposed=tuple(each for each in support.proposed if each.by == name),
    )
    attributes = tuple(
        msgspec.structs.replace(each, role=Role.VARIES, compared=())
        if each.role is Role.PROTECTED and i != position
        else each
        for i, each in enumerate(domain.attributes)
    )
    return msgspec.structs.replace(domain, attributes=attributes, support=support)


def _apart(domain: Domain, companion: Companion) -> Iterator[str]:
    """Yield constraints: no value of a companion with a protected one that changes it."""
    target, source = (
        domain.attributes[domain.names.index(name)] for name in (companion.attribute, companion.by)
    )
    for move in companion.moves:
        if move.becomes != move.code:
            yield str(Not(And((_has(target, move.code), _has(source, move.to)))))


def _has(attribute: Attribute, code: float) -> Formula:
    """Return that an attribute has a value, as a formula."""
    if not attribute.values:
        return Comparison("=", Name(attribute.name), Number(code))
    value = attribute.values[int(code)]
    if attribute.numeric:
        return Comparison("=", Name(attribute.name), Number(float(value)))
    return Valued("=", attribute.name, value)


def _pairs(layout: Layout, rng: np.random.Generator, over: Over) -> Steps[list[tuple[int, int]]]:
    """Choose pairs of combinations: those decided differently most often among random people."""
    space, fed = layout.space, layout.fed
    differ = np.zeros((space.may_be.shape[1],) * 2, dtype=np.int64)
    count = max(64, min(_SAMPLE, 500_000 // len(differ)))
    root = rng.integers(len(space.low), size=count)
    places = rng.integers(space.low[root], space.high[root], endpoint=True)
    for part in Pace(len(differ)).parts(count):
        members = space.domain.similar(space.rows(places[part]))
        allowed = space.may_be[space.groups[root[part]]]
        predicted_class = np.full(allowed.shape, -1)
        predicted_class[allowed] = labels(fed.predict(members[allowed]))
        for other in range(1, len(differ)):
            both = allowed & allowed[:, [other]]
            differ[:, other] += ((predicted_class != predicted_class[:, [other]]) & both).sum(
                axis=0
            )
        yield
        if over(1.0):
            break
    first, second = np.triu_indices(len(differ), 1)
    often = np.argsort(-differ[first, second], kind="stable")[:MOST_PAIRS]
    return [(int(first[i]), int(second[i])) for i in often if differ[first[i], second[i]]]
