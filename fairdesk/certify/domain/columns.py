"""How the numbers that a model's body is given depend on places: a table for each axis.

What is made from a companion depends on its place, and where that is tied on the combination: there
are two columns of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.space import Axis, Places, Space
from fairdesk.data.domain.dependencies import in_order
from fairdesk.errors import SpecError
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import How
from fairdesk.models.structure import Forest, Layers, ModelStructure
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
        ``(V * C, p)``; their numbers for each combination, of one of the space's variants after the
        other.
    doubled : NDArray[np.intp]
        ``(e,)``; the body's columns that depend on the place of a companion where that is not tied,
        and on the combination where it is. Behind the body's columns there is one more for each of
        them: each of the two is 0 where the other one is not, and the body is given their sum.
    tied : NDArray[np.intp]
        ``(e,)``; of each of them the column, behind all these, that is 1 where the place is tied.
    """

    constant: Float64
    axes: tuple[OfAxis, ...]
    combined: NDArray[np.intp]
    combinations: Float64
    doubled: NDArray[np.intp]
    tied: NDArray[np.intp]

    @property
    def count(self) -> int:
        """How many columns there are."""
        return self.constant.size

    @property
    def of_body(self) -> int:
        """How many columns the body is given; the others are ours."""
        return self.count - self.doubled.size - np.unique(self.tied).size

    def given(self, numbers: Float64) -> Float64:
        """Return what the body is given of all columns, ``(n, count)``: ``(n, of_body)``."""
        own = numbers[:, : self.of_body].copy()
        own[:, self.doubled] += numbers[:, self.of_body :][:, : self.doubled.size]
        return own

    def over_layers(self, body: Layers) -> Layers:
        """Return layers that do with all columns what a body does with what it is given."""
        if not self.doubled.size:
            return body
        first = body.layers[0]
        more = np.zeros((self.count - self.of_body, first.weights.shape[1]))
        more[: self.doubled.size] = first.weights[self.doubled]
        weights = np.concatenate([first.weights, more])
        return replace(body, layers=(replace(first, weights=weights), *body.layers[1:]))

    def over_trees(self, forest: Forest) -> Forest:
        """Return trees that do with all columns what a body does with what it is given.

        A question about a doubled column becomes three: whether the place is tied, and the
        question itself about either column. Their answers lead to the same nodes.
        """
        nodes = np.flatnonzero(np.isin(forest.column, self.doubled))
        if not nodes.size:
            return forest
        size, order = len(forest.column), np.argsort(self.doubled)
        which = order[np.searchsorted(self.doubled, forest.column[nodes], sorter=order)]
        first = size + np.arange(len(nodes))
        second = first + len(nodes)
        own = np.concatenate([np.arange(size), nodes, nodes])
        column, threshold = forest.column[own].copy(), forest.threshold[own].copy()
        left, right = forest.left[own].copy(), forest.right[own].copy()
        column[nodes], threshold[nodes] = self.tied[which], 0.5
        left[nodes], right[nodes] = first, second
        column[second] = self.of_body + which
        return replace(
            forest,
            column=column,
            threshold=threshold,
            left=left,
            right=right,
            value=forest.value[own],
            missing_left=forest.missing_left[own],
        )

    def at(self, places: Places, combination: NDArray[np.intp]) -> Float64:
        """Return the numbers of points with one of ``combinations`` each: ``(n, count)``.

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
            # what follows from nothing that is known may not be: any value serves
            rows = np.where(np.isnan(rows), space.domain.low, rows)
        numbers = anatomy.prepare(fed.columns(rows))
        return numbers.astype(precision).astype(np.float64)

    first = given(space.rows(base))[0]
    doubled = np.flatnonzero([each.axis >= 0 and each.combined for each in of_column])
    ties = np.unique([of_column[j].axis for j in doubled]).astype(np.intp)
    constant = np.where([each == _CONSTANT for each in of_column], first, 0.0)
    constant = np.concatenate([constant, np.zeros(doubled.size + ties.size)])
    plain = np.flatnonzero([each == _COMBINED for each in of_column])
    tied = first.size + doubled.size + np.arange(ties.size)
    combinations = [
        _of_variant(space, base, own, given, plain, doubled, of_column) for own in space.variants
    ]
    columns = Columns(
        constant,
        tuple(
            _of_axis(
                i,
                axis,
                np.flatnonzero([each.axis == i for each in of_column]),
                base,
                space,
                given,
                anatomy,
                precision,
                tied[ties == i],
            )
            for i, axis in enumerate(space.axes)
        ),
        np.concatenate([plain, first.size + np.arange(doubled.size)]),
        np.concatenate(combinations),
        doubled,
        tied[np.searchsorted(ties, [of_column[j].axis for j in doubled])]
        if doubled.size
        else doubled,
    )
    _check(columns, space, given, gaps=gaps)
    return columns


def _of_variant(
    space: Space,
    base: Places,
    variant: NDArray[np.int64],
    given: Callable[[Rows], Float64],
    plain: NDArray[np.intp],
    doubled: NDArray[np.intp],
    of_column: Sequence[_Source],
) -> Float64:
    """Return the numbers of all combinations, ``(C, p)``, where some places are tied."""
    point = np.where(variant >= 0, variant, base)
    numbers = given(space.domain.similar(space.rows(point))[0])
    is_tied = [bool(variant[of_column[j].axis] >= 0) for j in doubled]
    return np.concatenate([numbers[:, plain], np.where(is_tied, numbers[:, doubled], 0.0)], axis=1)


class _Source(NamedTuple):
    """What a column depends on: the place along an axis, if any, and the protected values."""

    axis: int
    combined: bool


_CONSTANT, _COMBINED = _Source(-1, combined=False), _Source(-1, combined=True)


def _depends(space: Space, anatomy: ModelStructure, fed: FedModel) -> list[_Source]:
    """Return for each column what it depends on."""
    domain = space.domain
    source = {name: name for name in domain.names}
    for each in in_order(domain.determined):
        source[each.attribute] = source[each.by]
    place = {domain.names[axis.position]: i for i, axis in enumerate(space.axes)}
    differing = {domain.names[i] for i in domain.differing}
    found: list[_Source] = []
    for inputs in anatomy.sources:
        names = {
            fed.mapping.inputs[i].attribute
            for i in inputs
            if fed.mapping.inputs[i].how is not How.CONSTANT
        }
        parts = {_Source(place.get(source[name], -1), name in differing) for name in names}
        if len(parts) > 1:
            listed = ", ".join(f"“{name}”" for name in sorted(names))
            raise SpecError(
                f"Certification is not available: the model combines {listed} before "
                "deciding, so its output cannot be bounded.",
                why="A value computed from several attributes together cannot be bounded.",
                remedy="Use a random-sample estimate instead.",
            )
        found.append(next(iter(parts), _CONSTANT))
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
    tied: NDArray[np.intp],
) -> OfAxis:
    """Learn the columns of one axis; ``tied`` is that which says where it is tied, if any does."""
    is_tied = space.tied[i]
    if axis.listed:
        places = np.arange(axis.count)
    else:
        places = np.unique(np.linspace(0, axis.count - 1, 4_097).astype(np.int64))

    def own(places: NDArray[np.int64]) -> Float64:
        points = np.repeat(base, len(places), axis=0)
        points[:, i] = places
        numbers = given(space.rows(points))[:, columns]
        if not tied.size:
            return np.asarray(numbers)
        # there they depend on the combination
        numbers[is_tied[places]] = 0.0
        return np.column_stack((numbers, is_tied[places]))

    numbers = own(places)
    start = numbers[0]
    slope = (numbers[-1] - start) / max(axis.count - 1, 1)
    off = np.abs(numbers - (start + places[:, None] * slope)).max(axis=0)
    size = np.abs(numbers).max(axis=0, initial=0.0) + np.abs(slope) * _largest(axis)
    off += _ROUNDING * size
    if axis.listed:
        return OfAxis(np.concatenate([columns, tied]), numbers, start, slope, off, own)
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
    combinations = len(space.domain.combinations)
    combination = rng.integers(combinations, size=_TRIED)
    predicted = columns.given(
        columns.at(places, space.variant(places) * combinations + combination)
    )
    real = given(space.domain.counterparts(space.rows(places), combination))
    allowed = np.zeros(columns.of_body)
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
