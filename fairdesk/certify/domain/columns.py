"""How the numbers that a model's body is given depend on places: a table for each axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.space import Axis, Places, Space
from fairdesk.data.domain.determined import in_order
from fairdesk.errors import SpecError
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import How
from fairdesk.models.structure.types import Forest, ModelStructure
from fairdesk.results.events import Rows

Float64 = NDArray[np.float64]

#: People at whom it is checked that the tables say what the model is really given.
_TRIED = 512
#: Rounding of an affine chain of operations in double precision, with much to spare.
_ROUNDING = 2.0**-44


@dataclass(frozen=True, slots=True)
class OfAxis:
    """The columns that depend on one axis.

    Attributes
    ----------
    columns : NDArray[np.intp]
        ``(c,)``; which.
    table : NDArray[np.float64]
        ``(count, c)``; their numbers at every place. Empty where the axis is not listed.
    start, slope : NDArray[np.float64]
        ``(c,)``; the numbers are ``start + slope * place``, up to ``off``. Meant for numbers;
        where ``off`` is infinite they are not.
    off : NDArray[np.float64]
        ``(c,)``; how far from that line they can be, rounding included.
    given : callable
        Returns the numbers at places, ``(n,)``, as the body is given them: ``(n, c)``.
    """

    columns: NDArray[np.intp]
    table: Float64
    start: Float64
    slope: Float64
    off: Float64
    given: Callable[[NDArray[np.int64]], Float64]


@dataclass(frozen=True)
class Columns:
    """The numbers that a body is given, each by what it depends on.

    Attributes
    ----------
    constant : NDArray[np.float64]
        ``(m,)``; the numbers of the columns that are everybody's; 0 for all others.
    axes : tuple[OfAxis, ...]
        One for each axis of the space.
    combined : NDArray[np.intp]
        ``(p,)``; the columns that depend on the protected values.
    combinations : NDArray[np.float64]
        ``(C, p)``; their numbers for each combination.
    """

    constant: Float64
    axes: tuple[OfAxis, ...]
    combined: NDArray[np.intp]
    combinations: Float64

    @property
    def count(self) -> int:
        """How many columns there are."""
        return self.constant.size

    def at(self, places: Places, combination: NDArray[np.intp]) -> Float64:
        """Return the numbers, ``(n, m)``, for points with a combination of protected values each.

        Along axes that are not listed they are right up to ``off``.
        """
        numbers = np.repeat(self.constant[None], len(places), axis=0)
        for i, own in enumerate(self.axes):
            if len(own.table):
                numbers[:, own.columns] = own.table[places[:, i]]
            elif own.columns.size:
                numbers[:, own.columns] = own.start + places[:, i, None] * own.slope
        numbers[:, self.combined] = self.combinations[combination]
        return numbers


def columns_of(space: Space, anatomy: ModelStructure, fed: FedModel, precision: type) -> Columns:
    """Learn what a body is given at every place.

    Parameters
    ----------
    space : Space
        Who can be asked about.
    anatomy : ModelStructure
        Of ``fed.opened``.
    fed : FedModel
        The model.
    precision : type
        ``np.float32`` where the body rounds to that, else ``np.float64``.

    Raises
    ------
    SpecError
        When a column depends on several attributes, or on one in a way that cannot be written
        down; or when the model would be given something that is no number.
    """
    of_column = _depends(space, anatomy, fed)
    everyone = np.zeros((1, len(space.axes)), dtype=np.int64)
    base = space.low[:1] if len(space.low) else everyone

    # trees send what is missing somewhere; sums cannot
    gaps = isinstance(anatomy.body, Forest)

    def given(rows: Rows) -> Float64:
        if not gaps:
            # who has what follows from nothing that is known may not be: any value serves
            rows = np.where(np.isnan(rows), space.domain.low, rows)
        numbers = anatomy.prepare(fed.columns(rows))
        return numbers.astype(precision).astype(np.float64)

    first = given(space.rows(base))[0]
    constant = np.where([each is None for each in of_column], first, 0.0)
    combined = np.flatnonzero([each == _COMBINED for each in of_column])
    members = space.domain.similar(space.rows(base))[0]
    columns = Columns(
        constant,
        tuple(
            _of_axis(
                i,
                axis,
                np.flatnonzero([each == i for each in of_column]),
                base,
                space,
                given,
                anatomy,
                precision,
            )
            for i, axis in enumerate(space.axes)
        ),
        combined,
        given(members)[:, combined],
    )
    _check(columns, space, given, gaps=gaps)
    return columns


#: What a column depends on that depends on the protected values.
_COMBINED = -1


def _depends(space: Space, anatomy: ModelStructure, fed: FedModel) -> list[int | None]:
    """Return for each column its axis, `_COMBINED`, or ``None`` for a constant."""
    domain = space.domain
    source = {name: name for name in domain.names}
    for each in in_order(domain.determined):
        source[each.attribute] = source[each.by]
    place = {domain.names[axis.position]: i for i, axis in enumerate(space.axes)}
    differing = {domain.names[i] for i in domain.differing}
    found: list[int | None] = []
    for inputs in anatomy.sources:
        names = {
            fed.mapping.inputs[i].attribute
            for i in inputs
            if fed.mapping.inputs[i].how is not How.CONSTANT
        }
        parts = {_COMBINED if name in differing else place[source[name]] for name in names}
        if len(parts) > 1:
            listed = ", ".join(f"“{name}”" for name in sorted(names))
            raise SpecError(
                f"Certification is not available: the model combines {listed} before "
                "deciding, so its output cannot be bounded.",
                why="A value computed from several attributes together cannot be bounded.",
                remedy="Use a random-sample estimate instead.",
            )
        found.append(next(iter(parts), None))
    return found


def _of_axis(
    i: int,
    axis: Axis,
    columns: NDArray[np.intp],
    base: Places,
    space: Space,
    given: Callable[[Rows], Float64],
    anatomy: ModelStructure,
    precision: type,
) -> OfAxis:
    """Learn the columns of one axis."""
    if axis.listed:
        places = np.arange(axis.count)
    else:
        places = np.unique(np.linspace(0, axis.count - 1, 4_097).astype(np.int64))

    def own(places: NDArray[np.int64]) -> Float64:
        points = np.repeat(base, len(places), axis=0)
        points[:, i] = places
        return np.asarray(given(space.rows(points))[:, columns])

    numbers = own(places)
    start = numbers[0]
    slope = (numbers[-1] - start) / max(axis.count - 1, 1)
    off = np.abs(numbers - (start + places[:, None] * slope)).max(axis=0)
    size = np.abs(numbers).max(axis=0, initial=0.0) + np.abs(slope) * _largest(axis)
    off += _ROUNDING * size
    if axis.listed:
        return OfAxis(columns, numbers, start, slope, off, own)
    if not all(anatomy.smooth[column] for column in columns):
        name = space.domain.names[axis.position]
        raise SpecError(
            f"Certification is not available: “{name}” has {axis.count:,} values, and the model "
            "does not use it only as a number.",
            remedy="Define a step for this attribute, or narrow its range.",
        )
    # what is between those places is rounded too, and perhaps before a constant is taken off
    unit = float(np.finfo(precision).eps)
    off = np.maximum(off, unit * size) * 2.0
    return OfAxis(columns, numbers[:0], start, slope, off, own)


def _largest(axis: Axis) -> float:
    """Return the largest code in steps of the axis: what cancels in a difference of codes."""
    ends = np.abs(axis.code(np.array([0, axis.count - 1])))
    return float(ends.max() / max(axis.spacing, 1e-300)) if axis.spacing else 0.0


def _check(columns: Columns, space: Space, given: Callable[[Rows], Float64], *, gaps: bool) -> None:
    """Refuse tables that do not say what the model is given, or that hold what is no number."""
    tables: Sequence[Float64] = [
        columns.constant,
        columns.combinations,
        *(each.table for each in columns.axes),
        *(each.slope for each in columns.axes if not len(each.table)),
    ]
    if not all((np.isfinite(each) | (gaps & np.isnan(each))).all() for each in tables):
        raise SpecError(
            "Certification is not available: some values give the model an input that is not "
            "a number.",
            why="The cause is probably a missing cell for which the model has no number.",
            remedy="Exclude this value from the input domain, or choose a model that accepts it.",
        )
    rng = np.random.default_rng(0)
    root = rng.integers(len(space.low), size=_TRIED)
    places = rng.integers(space.low[root], space.high[root], endpoint=True)
    combination = rng.integers(len(space.domain.combinations), size=_TRIED)
    predicted = columns.at(places, combination)
    real = given(space.domain.counterparts(space.rows(places), combination))
    allowed = np.zeros(columns.count)
    for own in columns.axes:
        if not len(own.table):
            allowed[own.columns] = own.off
    if not ((np.abs(predicted - real) <= allowed) | (np.isnan(predicted) & np.isnan(real))).all():
        raise SpecError(
            "Certification is not available: the model’s inputs are not each made from one "
            "attribute.",
            why=(
                "For some instances, its inputs do not follow from the values of single attributes."
            ),
            remedy="Use a random-sample estimate instead.",
        )
