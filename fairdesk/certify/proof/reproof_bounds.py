"""Bounds of models over boxes, for checking a certificate: plain NumPy, and none of what made it.

Of a box and a combination of protected values the question is which decision is certain for every
point in it. Layers are bounded backward with a line below and a line above each activation (Zhang
et al. 2018, *Efficient Neural Network Robustness Certification with General Activation Functions*);
trees are bounded below. There is room for the rounding of the model's
arithmetic and of this one: what is not certain is not decided.

Of each tree the leaves that anybody in a box can reach are told by intervals of the numbers that it
looks at, and their least and greatest values are added up over the trees.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.encoded import Margins
from fairdesk.certify.domain.space import Places
from fairdesk.certify.proof.reproof_inputs import Inputs
from fairdesk.models.structure import Activation, Forest, Layer, Layers

Float64 = NDArray[np.float64]
Numbers = NDArray[np.int64]

#: How far an activation as the model computes it may be from the exact one: absolutely where its
#: values lie between -1 and 1, else as a share of them.
_ACTIVATION_OFF = 2.0**-20
_BETWEEN_ONES = ("sigmoid", "tanh", "softsign")
#: The rounding of a few operations in double precision, with room.
_FEW = 2.0**-46
#: The smallest value of silu, rounded down, and what is surely on either side of where it is.
_SILU_LEAST, _SILU_BEFORE, _SILU_AFTER = -0.27846455, -1.2785, -1.2784
#: The constants of Klambauer et al. 2017.
_SELU_DEPTH, _SELU_SCALE = 1.6732632423543772, 1.0507009873554805
#: Greater numbers may overflow in single precision.
_LARGEST = 2.0**120
#: Numbers that are written down at once.
AT_ONCE = 4_000_000


class Decided(NamedTuple):
    """What is certain of boxes, ``B`` of them, for each of ``V`` combinations of protected values.

    Attributes
    ----------
    decision : NDArray[np.int64]
        ``(B, V)``; the decision of every point of the box, or -1 where that is not certain.
    matters : NDArray[np.float64]
        ``(B, a)``; how much is uncertain along each axis: the greatest is to be divided.
    """

    decision: Numbers
    matters: Float64


class Bounds(Protocol):
    """What is certain of boxes."""

    def decided(self, low: Places, high: Places, wanted: NDArray[np.bool_]) -> Decided:
        """Return what is certain of boxes.

        Parameters
        ----------
        low, high : Places
            ``(B, a)``; the ends, both included.
        wanted : NDArray[np.bool_]
            ``(B, V)``; which combinations are asked for.
        """
        ...


class LayerBounds:
    """Bounds of dense layers, of one linear layer too.

    Parameters
    ----------
    body : Layers
        The layers.
    inputs : Inputs
        What they are given.
    margins : Margins
        What becomes of their numbers.
    """

    def __init__(self, body: Layers, inputs: Inputs, margins: Margins) -> None:
        self._body, self._margins, self._inputs = body, margins, inputs
        single = body.precision is np.float32
        self._unit, self._tiny = (2.0**-24, 2.0**-126) if single else (2.0**-53, 2.0**-1022)

    def decided(self, low: Places, high: Places, wanted: NDArray[np.bool_]) -> Decided:
        """Return what is certain of boxes; as `Bounds.decided`."""
        decision = np.full(wanted.shape, -1, dtype=np.int64)
        matters = np.zeros(low.shape)
        box, which = np.nonzero(wanted)
        widest = max(len(layer.bias) for layer in self._body.layers)
        step = max(1, AT_ONCE // (widest * max(widest, self._inputs.count) + 1))
        for start in range(0, len(box), step):
            b, v = box[start : start + step], which[start : start + step]
            certain, uncertain = self._decided(low[b], high[b], v)
            decision[b, v] = certain
            np.maximum.at(matters, b, uncertain)
        return Decided(decision, matters)

    def _decided(self, low: Places, high: Places, v: Numbers) -> tuple[Numbers, Float64]:
        margins = self._margins
        least, most, _ = self._inputs.ends(low, high)
        given = _Given(low, high, least, most, self._inputs.combinations[v])
        lines, off = self._all_lines(given)
        forms = np.concatenate([margins.weights.T, -margins.weights.T])
        constant = np.concatenate([-margins.offset, margins.offset])
        n, last = len(v), len(self._body.layers) - 1
        bounds, spread = self._lowest(
            np.broadcast_to(forms, (n, *forms.shape)),
            np.broadcast_to(constant, (n, len(constant))),
            last,
            (lines, off),
            given,
        )
        count = len(margins.offset)
        limit = margins.close + 2.0**-40 * (1.0 + np.abs(margins.offset))
        certain = certain_decision(margins, bounds[:, :count] > limit, bounds[:, count:] > limit)
        uncertain = np.where((certain < 0)[:, None], spread.max(axis=1), 0.0)
        return certain, uncertain

    def _all_lines(self, given: _Given) -> tuple[list[_Lines], list[Float64]]:
        """Bound the sums of all layers, the first ones first, and the activations by lines."""
        n = len(given.low)
        lines: list[_Lines] = []
        off: list[Float64] = []
        layers = self._body.layers
        largest = np.abs(given.fixed) + np.maximum(np.abs(given.least), np.abs(given.most))
        for k, layer in enumerate(layers):
            size = largest @ np.abs(layer.weights) + np.abs(layer.bias)
            terms = len(layer.weights) + 2
            gamma = terms * self._unit / (1 - terms * self._unit)
            own = (len(layer.weights) + len(layer.bias) + 128) * 2.0**-52
            room = (gamma + own) * size + terms * self._tiny
            # of what might overflow nothing is certain
            off.append(np.where(size < _LARGEST, room, np.inf))
            if not k:
                off[0] += 1.01 * self._body.roundings * self._unit * size
            if k == len(layers) - 1:
                break
            units = len(layer.bias)
            rows = np.concatenate([np.eye(units), -np.eye(units)])
            bounds, _ = self._lowest(
                np.broadcast_to(rows, (n, *rows.shape)),
                np.zeros((n, 2 * units)),
                k,
                (lines, off),
                given,
            )
            # never wider than what plain intervals say
            first, last = bounds[:, :units], -bounds[:, units:]
            if k:
                before = lines[-1]
                middle, half = (before.least + before.most) / 2, (before.most - before.least) / 2
                centre = middle @ layer.weights + layer.bias
                around = half @ np.abs(layer.weights) + off[-1]
                first = np.maximum(first, centre - around)
                last = np.minimum(last, centre + around)
            lines.append(lines_of(layer.activation, first, np.maximum(first, last)))
            largest = np.maximum(np.abs(lines[-1].least), np.abs(lines[-1].most))
        return lines, off

    def _lowest(
        self,
        forms: Float64,
        constant: Float64,
        layer: int,
        known: tuple[list[_Lines], list[Float64]],
        given: _Given,
    ) -> tuple[Float64, Float64]:
        """Return what forms, ``(n, R, units)``, of a layer's sums are never below, and spreads."""
        lines, off = known
        layers: tuple[Layer, ...] = self._body.layers
        for k in range(layer, -1, -1):
            constant = (
                constant + forms @ layers[k].bias - (np.abs(forms) @ off[k][..., None])[..., 0]
            )
            forms = forms @ layers[k].weights.T
            if k:
                bend = lines[k - 1]
                up, down = np.maximum(forms, 0.0), np.minimum(forms, 0.0)
                constant = (
                    constant
                    + (up @ bend.below_at[..., None] + down @ bend.above_at[..., None])[..., 0]
                )
                forms = up * bend.below[:, None] + down * bend.above[:, None]
        least, spread = self._inputs.least_of(
            forms, given.low, given.high, (given.least, given.most)
        )
        return least + constant + (forms @ given.fixed[..., None])[..., 0], spread


class _Given(NamedTuple):
    """Boxes, what axes add to their columns, and what combinations give to these."""

    low: Places
    high: Places
    least: Float64
    most: Float64
    fixed: Float64


class _Lines(NamedTuple):
    """Lines below and above activations, ``(n, units)`` each, and the ends of their values."""

    below: Float64
    below_at: Float64
    above: Float64
    above_at: Float64
    least: Float64
    most: Float64


def lines_of(activation: Activation, low: Float64, high: Float64) -> _Lines:
    """Return lines that an activation is between for sums from ``low`` to ``high``."""
    name, alpha = activation.name, activation.alpha
    one, zero = np.ones_like(low), np.zeros_like(low)
    if name == "linear":
        return _Lines(one, zero, one, zero, low, high)
    if name == "relu" and np.isinf(activation.ceiling):
        return _bent(low, high, 0.0, zero)
    if name == "leaky_relu" and 0.0 <= alpha <= 1.0:
        return _bent(low, high, alpha, _ACTIVATION_OFF * alpha * np.abs(low) + 2.0**-140)
    if name in _CURVES:
        return _curved(name, alpha, low, high)
    least, most = _range(activation, low, high)
    return _Lines(zero, least, zero, most, least, most)


def _bent(low: Float64, high: Float64, alpha: float, off: Float64) -> _Lines:
    """Bound what has the slope ``alpha`` below 0, and 1 above."""
    positive, negative = low >= 0.0, high <= 0.0
    width = np.where(high > low, high - low, 1.0)
    chord = np.where(positive, 1.0, np.where(negative, alpha, (high - alpha * low) / width))
    chord = np.clip(chord, alpha, 1.0)
    steep = np.where(positive | (~negative & (high > -low)), 1.0, alpha)
    room = off + _FEW * (np.abs(low) + np.abs(high))
    crossing = ~positive & ~negative
    above_at = np.where(crossing, (alpha - chord) * low + room, off)
    exact = positive | (negative & (alpha == 0.0))
    above_at = np.where(exact, 0.0, above_at)
    return _Lines(
        steep,
        np.where(exact | (crossing & (alpha == 0.0)), 0.0, -off),
        chord,
        above_at,
        np.where(low > 0.0, low, alpha * low - off),
        np.where(high > 0.0, high, alpha * high + off),
    )


#: Activations that rise everywhere, and whose slope is least at an end of any interval.
_CURVES = ("sigmoid", "tanh", "softsign", "softplus", "exponential", "elu", "selu")


def _curved(name: str, alpha: float, low: Float64, high: Float64) -> _Lines:
    """Bound what rises everywhere by lines of the least slope that it has in between."""
    with np.errstate(over="ignore", invalid="ignore"):
        at_low, at_high = _value(name, alpha, low), _value(name, alpha, high)
        slope = np.minimum(_slope(name, alpha, low), _slope(name, alpha, high)) * (1 - 1e-9)
        slope = np.where(np.isfinite(slope), np.maximum(slope - 1e-15, 0.0), 0.0)
        off = _ACTIVATION_OFF * (
            np.ones_like(low)
            if name in _BETWEEN_ONES
            else np.maximum(np.abs(at_low), np.abs(at_high)) + 2.0**-80
        ) + _FEW * (np.abs(at_low) + np.abs(at_high) + slope * (np.abs(low) + np.abs(high)))
        return _Lines(
            slope,
            at_low - slope * low - off,
            slope,
            at_high - slope * high + off,
            at_low - off,
            at_high + off,
        )


def _value(  # noqa: PLR0911 - one for each activation
    name: str, alpha: float, x: Float64
) -> Float64:
    match name:
        case "sigmoid":
            return np.asarray(0.5 * (1.0 + np.tanh(0.5 * x)))
        case "tanh":
            return np.tanh(x)
        case "softsign":
            return x / (1.0 + np.abs(x))
        case "softplus":
            return np.logaddexp(0.0, x)
        case "exponential":
            return np.exp(x)
        case "elu":
            return np.where(x > 0.0, x, alpha * np.expm1(np.minimum(x, 0.0)))
        case _:
            below = _SELU_DEPTH * np.expm1(np.minimum(x, 0.0))
            return np.asarray(_SELU_SCALE * np.where(x > 0.0, x, below))


def _slope(  # noqa: PLR0911 - as above
    name: str, alpha: float, x: Float64
) -> Float64:
    match name:
        case "sigmoid":
            value = _value(name, alpha, -np.abs(x))
            return value * (1.0 - value)
        case "tanh":
            return np.maximum(1.0 - np.tanh(np.abs(x)) ** 2, 0.0)
        case "softsign":
            return 1.0 / (1.0 + np.abs(x)) ** 2
        case "softplus":
            return _value("sigmoid", alpha, x)
        case "exponential":
            return np.exp(x)
        case "elu":
            return np.where(x > 0.0, 1.0, alpha * np.exp(np.minimum(x, 0.0)))
        case _:
            below = _SELU_DEPTH * np.exp(np.minimum(x, 0.0))
            return np.asarray(_SELU_SCALE * np.where(x > 0.0, 1.0, below))


def _range(activation: Activation, low: Float64, high: Float64) -> tuple[Float64, Float64]:
    """Bound the values of an activation that has no lines here."""
    match activation.name:
        case "relu":
            return np.clip(low, 0.0, activation.ceiling), np.clip(high, 0.0, activation.ceiling)
        case "leaky_relu":
            ends = np.stack([np.where(x > 0, x, activation.alpha * x) for x in (low, high)])
            least = np.minimum(ends.min(axis=0), np.where((low < 0) & (high > 0), 0.0, np.inf))
            most = np.maximum(ends.max(axis=0), np.where((low < 0) & (high > 0), 0.0, -np.inf))
        case "silu":
            ends = np.stack([x * _value("sigmoid", 0.0, x) for x in (low, high)])
            around = (low <= _SILU_AFTER) & (high >= _SILU_BEFORE)
            least = np.where(around, _SILU_LEAST, ends.min(axis=0))
            most = ends.max(axis=0)
        case "thresholded_relu":
            return np.minimum(low, 0.0), np.maximum(high, 0.0)
        case _:
            return np.full_like(low, -np.inf), np.full_like(high, np.inf)
    off = 2 * _ACTIVATION_OFF * np.maximum(np.abs(least), np.abs(most)) + 2.0**-80
    return least - off, most + off


def certain_decision(
    margins: Margins, wins: NDArray[np.bool_], loses: NDArray[np.bool_]
) -> Numbers:
    """Return which decision is certain, ``(n,)``, -1 for none: one class beats all of the others.

    Parameters
    ----------
    margins : Margins
        Which class each of them says to beat which.
    wins, loses : NDArray[np.bool_]
        ``(n, F)``; whether it certainly does, and whether it certainly is the other way round.
    """
    beats = np.ones((len(wins), len(margins.decision)), dtype=np.bool_)
    for f, (winner, loser) in enumerate(zip(margins.winner, margins.loser, strict=True)):
        if margins.decision[winner] != margins.decision[loser]:
            beats[:, winner] &= wins[:, f]
            beats[:, loser] &= loses[:, f]
    return np.where(beats.any(axis=1), margins.decision[beats.argmax(axis=1)], -1)


class ForestBounds:
    """Bounds of sums of trees.

    Parameters
    ----------
    forest : Forest
        The trees.
    inputs : Inputs
        What they are given.
    margins : Margins
        What becomes of their sum.
    """

    def __init__(self, forest: Forest, inputs: Inputs, margins: Margins) -> None:
        self._forest, self._inputs, self._margins = forest, inputs, margins
        self._levels = list(_levels(forest))
        tree = np.empty(len(forest.column), dtype=np.int64)
        tree[forest.roots] = np.arange(len(forest.roots))
        for nodes in self._levels:
            tree[forest.left[nodes]] = tree[forest.right[nodes]] = tree[nodes]
        leaf = np.flatnonzero(forest.column < 0)
        self._leaf = leaf[np.argsort(tree[leaf], kind="stable")]
        self._first = np.searchsorted(tree[self._leaf], np.arange(len(forest.roots)))
        self._values = forest.value[self._leaf] @ margins.weights
        self._base = forest.base @ margins.weights - margins.offset
        weight = float(np.abs(margins.weights).sum(axis=0).max())
        size = np.abs(self._values).max(initial=0.0) * len(forest.roots) + np.abs(self._base).max()
        own = (len(forest.roots) + 16) * 2.0**-52 * float(size)
        self._clear = margins.close + 2.0 * forest.slack * weight + own
        self._axis = np.full(inputs.count, -1, dtype=np.int64)
        for i, each in enumerate(inputs.axes):
            self._axis[each.columns] = i

    def decided(self, low: Places, high: Places, wanted: NDArray[np.bool_]) -> Decided:
        """Return what is certain of boxes; as `Bounds.decided`."""
        decision = np.full(wanted.shape, -1, dtype=np.int64)
        matters = np.zeros(low.shape)
        box, which = np.nonzero(wanted)
        step = max(1, AT_ONCE // len(self._forest.column))
        for start in range(0, len(box), step):
            b, v = box[start : start + step], which[start : start + step]
            certain, uncertain = self._decided(low[b], high[b], v)
            decision[b, v] = certain
            np.add.at(matters, b, uncertain)
        return Decided(decision, matters)

    def _decided(self, low: Places, high: Places, v: Numbers) -> tuple[Numbers, Float64]:
        forest, margins = self._forest, self._margins
        least, most, gaps = self._inputs.ends(low, high)
        fixed = self._inputs.combinations[v]
        gaps |= np.isnan(fixed)
        least, most = least + fixed, most + fixed
        # what is only ever missing is on neither side of a threshold
        least, most = (
            np.where(np.isnan(least), np.inf, least),
            np.where(np.isnan(most), -np.inf, most),
        )
        reached = np.zeros((len(v), len(forest.column)), dtype=np.bool_)
        reached[:, forest.roots] = True
        matters = np.zeros(low.shape)
        for nodes in self._levels:
            column, threshold = forest.column[nodes], forest.threshold[nodes]
            missing, left = gaps[:, column], forest.missing_left[nodes]
            reaching = reached[:, nodes]
            to_left = reaching & ((least[:, column] <= threshold) | (missing & left))
            to_right = reaching & ((most[:, column] > threshold) | (missing & ~left))
            reached[:, forest.left[nodes]] = to_left
            reached[:, forest.right[nodes]] = to_right
            axis = self._axis[column]
            for i in np.unique(axis[axis >= 0]).tolist():
                matters[:, i] += (to_left & to_right)[:, axis == i].sum(axis=1)
        leaves = reached[:, self._leaf]
        count = len(margins.offset)
        wins, loses = np.empty((len(v), count), np.bool_), np.empty((len(v), count), np.bool_)
        for f in range(count):
            own = self._values[:, f]
            lowest = np.minimum.reduceat(np.where(leaves, own, np.inf), self._first, axis=1)
            highest = np.maximum.reduceat(np.where(leaves, own, -np.inf), self._first, axis=1)
            wins[:, f] = lowest.sum(axis=1) + self._base[f] > self._clear
            loses[:, f] = highest.sum(axis=1) + self._base[f] < -self._clear
        certain = certain_decision(margins, wins, loses)
        return certain, np.where((certain < 0)[:, None], matters, 0.0)


def _levels(forest: Forest) -> Iterator[Numbers]:
    """Return the nodes with children, level after level."""
    nodes = forest.roots
    while (nodes := nodes[forest.column[nodes] >= 0]).size:
        yield nodes
        nodes = np.concatenate([forest.left[nodes], forest.right[nodes]])
