"""What asks a solver, and other bounds, about boxes of a certificate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.space import Axis, Places, Space
from fairdesk.certify.proof.certificate import (
    Arrays,
    AxisOf,
    Header,
    Points,
)
from fairdesk.certify.proof.reproof_check import Reprove
from fairdesk.errors import SpecError
from fairdesk.models.inputs.feeding import FedModel


class SolverVerdicts(NamedTuple):
    """What a solver says of boxes.

    Attributes
    ----------
    verdict : NDArray[np.int64]
        ``(B,)``; 0: nobody is there of whom the opposite is true; 1: somebody may be; -1: it does
        not know.
    places : Places
        ``(B, a)``; that somebody.
    """

    verdict: NDArray[np.int64]
    places: Places


#: ``solve(low, high, group, discriminatory, seconds)``: whether anybody in boxes, ``(B, a)``, of
#: these rows of `Header.may_be` is discriminatory, or where ``discriminatory`` consistent, within
#: so many seconds for each.
Solve = Callable[
    [Places, Places, NDArray[np.int64], NDArray[np.bool_], float],
    SolverVerdicts,
]


def solver(header: Header, arrays: Arrays, fed: FedModel) -> Solve:
    """Make what asks a solver about boxes of a certificate.

    Parameters
    ----------
    header : Header
        Of the certificate.
    arrays : mapping
        Its roots are enough.
    fed : FedModel
        The model, fed as the header says.

    Raises
    ------
    SpecError
        When the model is no network that a solver can be told of without rounding.
    """
    # these load what proves, which only a process that holds a model does
    from fairdesk.certify.domain.encoded import encode  # noqa: PLC0415 - see above
    from fairdesk.certify.proof.solver import bounds_of, check_box, refuse_curves  # noqa: PLC0415
    from fairdesk.models.structure import Layers, OpaqueError, structure_of  # noqa: PLC0415

    try:
        anatomy = structure_of(fed.opened)
    except OpaqueError as error:
        raise _unsolvable(str(error)) from error
    if not isinstance(anatomy.body, Layers):
        raise _unsolvable("it is not a network of dense layers")
    space = _space(header, arrays)
    encoded = encode(space, anatomy, fed)
    refuse_curves(encoded)
    orders = [_order(own, axis) for own, axis in zip(header.axes, encoded.space.axes, strict=True)]

    def solve(
        low: Places,
        high: Places,
        group: NDArray[np.int64],
        discriminatory: NDArray[np.bool_],
        seconds: float,
    ) -> SolverVerdicts:
        verdict, places = np.full(len(low), -1, dtype=np.int64), low.copy()
        for b in range(len(low)):
            box = _translated(low[b], high[b], orders)
            if box is None:
                continue
            members = _members(space, encoded.space, int(group[b]))
            compared = np.flatnonzero(members)
            rounding = bounds_of(encoded, *box, compared).rounding.max(initial=0.0)
            answer = check_box(
                encoded,
                *box,
                members,
                margin=-float(rounding + encoded.margins.close),
                soft_seconds=seconds,
                hard_seconds=seconds,
                sought="consistent" if discriminatory[b] else "discriminatory",
            )
            verdict[b] = {"unsat": 0, "sat": 1, "unknown": -1}[answer.verdict]
            if answer.places is not None:
                places[b] = [
                    place if order is None else order[place]
                    for place, order in zip(answer.places.tolist(), orders, strict=True)
                ]
        return SolverVerdicts(verdict, places)

    return solve


def reproving(header: Header, arrays: Arrays, fed: FedModel) -> Reprove:
    """Make what proves boxes of a certificate once more; parameters and errors as `solver`."""
    # as above
    from fairdesk.certify.proof.reproof import RatedPeople, reprover  # noqa: PLC0415
    from fairdesk.certify.proof.verify.people_measure import PeopleMeasure  # noqa: PLC0415
    from fairdesk.certify.proof.verify.population import People  # noqa: PLC0415

    points, measure, rated = Points(header, fed.predict), None, None
    if header.population is not None:
        people = People(header)
        measure = PeopleMeasure(people)
        if header.rates:
            combinations = range(len(header.domain.combinations))
            each = [people.with_values(v) for v in combinations]
            rated = RatedPeople(points.is_favourable, each, [PeopleMeasure(own) for own in each])
    return reprover(_space(header, arrays), fed, points.rows, points.differ, measure, rated)


def _members(own: Space, other: Space, group: int) -> NDArray[np.bool_]:
    """Return the row of `Space.members` of a group, in the order of values of another space."""
    combinations = own.may_be.shape[1]
    (variant,) = np.unique(np.flatnonzero(own.members[group]) // combinations)[:1]
    point = np.zeros((1, len(own.axes)), dtype=np.int64)
    for i, place in enumerate(own.variants[variant].tolist()):
        if place >= 0:
            point[0, i] = other.axes[i].places(own.axes[i].code(np.array([place])))[0]
        elif other.tied[i].size:
            point[0, i] = int(np.flatnonzero(~other.tied[i])[0])
    members = np.zeros((len(own.variants), combinations), dtype=np.bool_)
    members[other.variant(point)[0]] = own.may_be[group]
    return members.ravel()


def _unsolvable(why: str) -> SpecError:
    return SpecError("A solver cannot be used for this model.", why=f"Detail: {why}.")


def _space(header: Header, arrays: Arrays) -> Space:
    """Lay the space out that a certificate speaks of."""
    domain = header.domain
    axes = tuple(
        Axis(
            domain.names.index(axis.attribute),
            axis.count,
            np.array(axis.codes),
            axis.low,
            axis.spacing,
            axis.grid,
        )
        for axis in header.axes
    )
    low, high = (arrays[name].astype(np.int64) for name in ("root_low", "root_high"))
    settled = domain.low.copy()
    settled[domain.protected] = domain.combinations[0]
    unclear = np.zeros(len(low), dtype=np.bool_)
    unclear[list(header.unclear)] = True
    return Space(
        domain,
        axes,
        low,
        high,
        np.array(header.groups, dtype=np.intp),
        np.array(header.may_be, dtype=np.bool_),
        unclear,
        settled,
    )


def _order(own: AxisOf, axis: Axis) -> NDArray[np.intp] | None:
    """Return the place of each axis value in the certificate; ``None`` where they are equal."""
    if not own.codes or np.array_equal(own.codes, axis.codes):
        return None
    order = np.argsort(own.codes)
    return np.asarray(order[np.searchsorted(np.array(own.codes)[order], axis.codes)])


def _translated(
    low: Places, high: Places, orders: Sequence[NDArray[np.intp] | None]
) -> tuple[Places, Places] | None:
    """Return a box in the other order of values; ``None`` where it is none in that."""
    first, last = low.copy(), high.copy()
    for i, order in enumerate(orders):
        if order is None:
            continue
        there = np.flatnonzero((order >= low[i]) & (order <= high[i]))
        first[i], last[i] = there[0], there[-1]
        if last[i] - first[i] != high[i] - low[i]:
            return None
    return first, last
