"""Dense layers over a space: the first one as a sum of tables, the last one as margins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.columns import Columns, columns_of
from fairdesk.certify.domain.space import Space
from fairdesk.models.decisions.rule import VALUES
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import Mapping, ModelCard
from fairdesk.models.structure import Decides, Layer, Layers, ModelStructure

Float64 = NDArray[np.float64]
#: An axis whose numbers are this near to a line, as a share of its range, is taken for one.
_STRAIGHT = 1e-5


@dataclass(frozen=True, slots=True)
class Margins:
    """How the body's numbers ``z`` become a decision.

    Attributes
    ----------
    weights : NDArray[np.float64]
        ``(outputs, F)``; of each margin what it takes of the outputs: 1, 0 and -1.
    offset : NDArray[np.float64]
        ``(F,)``; subtracted.
    winner, loser : NDArray[np.intp]
        ``(F,)``; where ``z @ weights - offset`` is above ``close`` the class ``winner`` beats
        ``loser``, below ``-close`` it is the other way round, between them nothing is certain.
    decision : NDArray[np.intp]
        ``(K,)``; the decision that each class means. A decision is certain where one of its
        classes beats every class that means another.
    close : float
        As `fairdesk.models.structure.ModelStructure`, for the threshold that is decided at.
    """

    weights: Float64
    offset: Float64
    winner: NDArray[np.intp]
    loser: NDArray[np.intp]
    decision: NDArray[np.intp]
    close: float


@dataclass(frozen=True)
class Encoded:
    """A network of dense layers whose first layer is given places instead of numbers.

    What goes into the activation of unit ``u`` of the first layer, of a point with the combination
    ``c`` of protected values (in its variant: see `Space.members`), is ``bias[u] + combined[c, u] +
    sum over axes i of (slopes[i, u] * place, or tables[i][place, u])``, up to ``first_off[u]``, and
    up to the rounding of the model's own sum, which `rounding` bounds.

    Attributes
    ----------
    space : Space
        With names in the order that serves best.
    columns : Columns
        What the first layer is given; its columns are all of these.
    bias : NDArray[np.float64]
        ``(h,)``; the constant part of everything.
    slopes : NDArray[np.float64]
        ``(a, h)``; 0 along an axis that has a table.
    tables : tuple[NDArray[np.float64], ...]
        One for each axis: ``(count, h)``, or empty, ``(0, h)``, where there is a slope.
    combined : NDArray[np.float64]
        ``(V * C, h)``; as `Columns.combinations`.
    first_off : NDArray[np.float64]
        ``(h,)``.
    first_size : NDArray[np.float64]
        ``(h,)``; over the whole space, the greatest that the sum of the absolute values of a
        unit's terms can be, the bias among them: what `rounding` is multiplied by.
    layers : tuple[Layer, ...]
        All of the body's, the first among them; the last is linear.
    precision : type
        Of the body.
    margins : Margins
        What comes after the last.
    """

    space: Space
    columns: Columns
    bias: Float64
    slopes: Float64
    tables: tuple[Float64, ...]
    combined: Float64
    first_off: Float64
    first_size: Float64
    layers: tuple[Layer, ...]
    precision: type[np.float32 | np.float64]
    margins: Margins

    def rounding(self, terms: int) -> tuple[float, float]:
        """Bound the rounding of a sum of products as the body computes it, in whatever order.

        The classical bound of numerical analysis: ``gamma = n u / (1 - n u)`` times the sum of
        the absolute values of the terms (Higham, *Accuracy and Stability of Numerical
        Algorithms*, 2nd edition, section 3.1), and for what is too small for the precision a
        constant.

        Parameters
        ----------
        terms : int
            Products that are added up, without the bias.

        Returns
        -------
        float, float
            The factor of the sum of absolute values, and what is added to that.
        """
        unit, tiny = (
            (2.0**-24, 2.0**-126) if self.precision is np.float32 else (2.0**-53, 2.0**-1022)
        )
        # the bias is one more addition; what these bounds compute in double precision another
        n = terms + 2
        return n * unit / (1 - n * unit) + (n + 64) * 2.0**-52, n * tiny


def encode(
    space: Space, anatomy: ModelStructure, fed: FedModel, *, ascending: bool = False
) -> Encoded:
    """Write a model of dense layers over a space.

    Parameters
    ----------
    space : Space
        Who can be asked about.
    anatomy : ModelStructure
        Of ``fed.opened``; its body are `Layers`.
    fed : FedModel
        The model.
    ascending : bool
        Whether numbers keep their order, and only names are put in another.

    Raises
    ------
    SpecError
        As `columns_of`.
    """
    body = anatomy.body
    if not isinstance(body, Layers):
        raise TypeError("no layers")
    columns = columns_of(space, anatomy, fed, body.precision)
    orders = _orders(columns, body, space)
    if ascending:
        named = [bool(space.domain.attributes[axis.position].values) for axis in space.axes]
        orders = [order if name else None for order, name in zip(orders, named, strict=True)]
    if any(order is not None for order in orders):
        space = space.reordered(orders)
        columns = columns_of(space, anatomy, fed, body.precision)
    body = columns.over_layers(body)
    first = body.layers[0]
    weights = first.weights
    bias = first.bias + columns.constant @ weights
    slopes = np.zeros((len(space.axes), bias.size))
    off = np.zeros(bias.size)
    largest = np.abs(columns.constant)
    largest[columns.combined] = np.abs(columns.combinations).max(axis=0, initial=0.0)
    tables = []
    for i, own in enumerate(columns.axes):
        part = weights[own.columns]
        largest[own.columns] = _largest(own.start, own.slope, own.off, space.axes[i].count)
        if _is_straight(columns, i, space.axes[i].count):
            slopes[i] = own.slope @ part
            bias = bias + own.start @ part
            off += own.off @ np.abs(part)
            tables.append(np.empty((0, bias.size)))
        else:
            largest[own.columns] = np.abs(own.table).max(axis=0)
            tables.append(own.table @ part)
    size = np.abs(first.bias) + largest @ np.abs(weights)
    unit = 2.0**-24 if body.precision is np.float32 else 2.0**-53
    return Encoded(
        space=space,
        columns=columns,
        bias=bias,
        slopes=slopes,
        tables=tuple(tables),
        combined=columns.combinations @ weights[columns.combined],
        first_off=off + 1.01 * body.roundings * unit * size,
        first_size=size,
        layers=body.layers,
        precision=body.precision,
        margins=margins_of(body.decides, body.layers[-1].bias.size, anatomy.close, fed),
    )


def margins_of(decides: Decides, outputs: int, close: float, fed: FedModel) -> Margins:
    """Return how a body's numbers become the decision that a mapping makes of them."""
    mapping, card = fed.mapping, fed.opened.card
    if decides == "argmax":
        pairs = list(combinations(range(outputs), 2))
        weights = np.zeros((outputs, len(pairs)))
        for k, (i, j) in enumerate(pairs):
            weights[i, k], weights[j, k] = 1.0, -1.0
        decision = np.arange(outputs)
        if mapping.together:
            decision = np.isin(decision, mapping.together).astype(np.intp)
        first, second = np.array(pairs, dtype=np.intp).T
        return Margins(weights, np.zeros(len(pairs)), first, second, decision, close)
    offset, close = _limit(decides, mapping, card, close)
    one, zero = np.array([1], dtype=np.intp), np.array([0], dtype=np.intp)
    return Margins(np.ones((1, 1)), np.array([offset]), one, zero, np.arange(2), close)


def _limit(
    decides: Decides, mapping: Mapping, card: ModelCard, close: float
) -> tuple[float, float]:
    """Return the number at which the decision changes, and how near to it nothing is certain."""
    limit = 0.5 if mapping.threshold is None else mapping.threshold
    if decides == "value" or card.scores == VALUES:
        # an estimate is rounded to single precision before it is compared
        return limit, close + 2.0**-22 * abs(limit)
    if decides == "share":
        return limit, close + 2.0**-22
    return math.log(limit / (1 - limit)), close * max(1.0, 0.25 / (limit * (1 - limit)))


def _largest(start: Float64, slope: Float64, off: Float64, count: int) -> Float64:
    return np.maximum(np.abs(start), np.abs(start + slope * (count - 1))) + off


def _is_straight(columns: Columns, i: int, count: int) -> bool:
    """Return whether an axis' numbers lie on a line, so that the ends of an interval are enough."""
    own = columns.axes[i]
    if not len(own.table):
        return True
    span = np.abs(own.slope) * max(count - 1, 1)
    return bool((own.off <= _STRAIGHT * span).all()) or count == 1


def _orders(columns: Columns, body: Layers, space: Space) -> Sequence[NDArray[np.intp] | None]:
    """Choose an order for each axis that is no line: neighbours do alike to the answer.

    The one direction in which the rows of its table are farthest apart, each unit of the first
    layer weighed by how much the answer hangs on it.
    """
    matters = np.ones(body.layers[-1].bias.size)
    for layer in reversed(body.layers[1:]):
        matters = np.abs(layer.weights) @ matters
    weights = columns.over_layers(body).layers[0].weights
    orders: list[NDArray[np.intp] | None] = []
    for i, own in enumerate(columns.axes):
        if len(own.table) < 3 or _is_straight(columns, i, len(own.table)):
            orders.append(None)
            continue
        table = own.table @ weights[own.columns] * matters
        _, _, directions = np.linalg.svd(table - table.mean(axis=0), full_matrices=False)
        orders.append(space.ordered(i, table @ directions[0]))
    return orders
