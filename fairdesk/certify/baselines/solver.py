"""Asking a solver (z3) whether anybody in a box is discriminatory: exactly, in rational numbers.

The query is that of Fairify (Biswas and Rajan, ICSE 2023, section IV): two copies of the network
share a person's values, but for the protected ones, and decide otherwise. A float is a rational
number, so nothing is rounded in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from threading import Event
from time import perf_counter
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.encoded import Encoded
from fairdesk.certify.domain.space import Places
from fairdesk.errors import SpecError
from fairdesk.models.structure import Activation

Float64 = NDArray[np.float64]
#: A term, a model, a solver or the whole of z3, which has no types.
OfZ3 = Any
#: The activation functions that have a description without rounding.
PIECEWISE = ("linear", "relu", "leaky_relu")
#: What the solver may take, in megabytes; what does not fit is unknown.
_MOST_MEMORY = 1_000
#: Rounding of an activation function itself: the product with the slope of a leaky ReLU.
_ROUNDED = 2.0**-20


def refuse_curves(encoded: Encoded) -> None:
    """Refuse a network with an activation function that is not made of straight lines.

    Raises
    ------
    SpecError
        Which function it is.
    """
    for layer in encoded.layers[:-1]:
        if layer.activation.name not in PIECEWISE:
            raise SpecError(
                "A solver cannot be used for "
                f"this network: it has “{layer.activation.name}” units.",
                why="Only ReLU and leaky ReLU can be expressed for it without rounding.",
                remedy="Use “Certification” instead.",
            )


@dataclass(frozen=True, slots=True)
class Bounds:
    """Intervals of what goes into the units of a network, for everybody in a box.

    Attributes
    ----------
    low, high : tuple[NDArray[np.float64], ...]
        Of each layer ``(c, units)``, for each of the combinations asked about: what goes into the
        activation is between them, in exact arithmetic and as the model computes it.
    rounding : NDArray[np.float64]
        ``(F,)``; how far each margin, as the model computes it, can be from the exact one.
    """

    low: tuple[Float64, ...]
    high: tuple[Float64, ...]
    rounding: Float64


def bounds_of(encoded: Encoded, low: Places, high: Places, combination: NDArray[np.intp]) -> Bounds:
    """Bound every unit by interval arithmetic.

    Parameters
    ----------
    encoded : Encoded
        Its activation functions are `PIECEWISE`.
    low, high : Places
        ``(a,)``; the box.
    combination : NDArray[np.intp]
        ``(c,)``; of protected values.
    """
    refuse_curves(encoded)
    least, greatest = encoded.bias.copy(), encoded.bias.copy()
    for i, table in enumerate(encoded.tables):
        inside = table[low[i] : high[i] + 1]
        if not len(table):
            inside = np.array([low[i], high[i]])[:, None] * encoded.slopes[i]
        least, greatest = least + inside.min(axis=0), greatest + inside.max(axis=0)
    factor, constant = encoded.rounding(encoded.columns.count)
    off = factor * encoded.first_size + encoded.first_off + constant
    lows = [least + encoded.combined[combination] - off]
    highs = [greatest + encoded.combined[combination] + off]
    rounding = off
    for before, layer in zip(encoded.layers, encoded.layers[1:], strict=False):
        least, greatest = _activated(before.activation, lows[-1], highs[-1])
        size = np.maximum(np.abs(least), np.abs(greatest)).max(axis=0, initial=0.0)
        rounding = rounding * max(1.0, abs(before.activation.alpha))
        if before.activation.name == "leaky_relu":
            least, greatest = least - _ROUNDED * size, greatest + _ROUNDED * size
            size = size * (1 + 2 * _ROUNDED)
            rounding = rounding + 2 * _ROUNDED * size
        weights = np.abs(layer.weights)
        factor, constant = encoded.rounding(len(weights))
        off = factor * (size @ weights + np.abs(layer.bias)) + constant
        rising, falling = np.maximum(layer.weights, 0.0), np.minimum(layer.weights, 0.0)
        lows.append(least @ rising + greatest @ falling + layer.bias - off)
        highs.append(greatest @ rising + least @ falling + layer.bias + off)
        rounding = rounding @ weights + off
    # what is computed here in double precision is rounded too, relative to itself
    return Bounds(
        tuple(lows), tuple(highs), rounding @ np.abs(encoded.margins.weights) * (1 + 2.0**-30)
    )


def _activated(activation: Activation, low: Float64, high: Float64) -> tuple[Float64, Float64]:
    """Return the ends of what comes out of units; all functions here rise, but for odd slopes."""
    if activation.name == "linear":
        return low, high
    if activation.name == "relu":
        ceiling = activation.ceiling
        return np.clip(low, 0.0, ceiling), np.clip(high, 0.0, ceiling)
    alpha = activation.alpha
    ends = np.stack([np.where(each > 0, each, alpha * each) for each in (low, high)])
    crossing = np.where((low < 0) & (high > 0), 0.0, ends[0])
    return np.minimum(ends.min(axis=0), crossing), np.maximum(ends.max(axis=0), crossing)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a solver says of a box.

    Attributes
    ----------
    verdict : str
        ``"sat"``: somebody is there who was sought; ``"unsat"``: nobody is, proven;
        ``"unknown"``: it gave up, or was stopped.
    places : Places, optional
        ``(a,)``; that somebody.
    pair : tuple[int, int], optional
        The two combinations of protected values that are decided otherwise.
    """

    verdict: Literal["sat", "unsat", "unknown"]
    places: Places | None = None
    pair: tuple[int, int] | None = None

    @property
    def example(self) -> tuple[Places, int]:
        """Of ``"sat"``: that somebody, and one of the two combinations."""
        if self.places is None or self.pair is None:
            raise ValueError("no instance was found")
        return self.places, self.pair[0]


class Inquiry:
    """The question whether two members of a point are decided otherwise; can be stopped.

    Parameters
    ----------
    encoded : Encoded
        A network.
    low, high : Places
        ``(a,)``; the ends of the box, both included.
    may_be : NDArray[np.bool_]
        ``(C,)``; which combinations of protected values are compared: all pairs of these.
    margin : float
        A member counts as decided for a class where that class beats all that mean another
        decision by more than this, in exact arithmetic. What lies between ``-margin`` and
        ``margin`` is then left out. A negative one lets in who is near the border: with
        ``-(rounding + close)``, ``"unsat"`` is true of the model's own arithmetic too.
    soft_seconds : float
        How long the solver may think about one pair.

    Raises
    ------
    SpecError
        When the network has an activation function other than `PIECEWISE`.
    """

    def __init__(
        self,
        encoded: Encoded,
        low: Places,
        high: Places,
        may_be: NDArray[np.bool_],
        *,
        margin: float,
        soft_seconds: float,
    ) -> None:
        # slow to load, and needed only where a solver is asked
        import z3  # noqa: PLC0415

        refuse_curves(encoded)
        self._z3: OfZ3 = z3
        self._context: OfZ3 = z3.Context()
        self._encoded, self._low, self._high = encoded, low, high
        self._margin, self._seconds = margin, soft_seconds
        self._stopped = Event()
        compared = np.flatnonzero(may_be)
        # of combinations that the model cannot tell apart one stands for all
        _, first = np.unique(encoded.columns.combinations[compared], axis=0, return_index=True)
        self._compared: list[int] = compared[np.sort(first)].tolist()

    def stop(self) -> None:
        """Have `run` end soon; may be called from any thread, and more than once."""
        self._stopped.set()
        self._context.interrupt()

    def run(self) -> Answer:
        """Ask, and wait for the answer."""
        answer = Answer("unsat")
        for pair in combinations(self._compared, 2):
            found = self._ask(pair)
            if found.verdict == "sat":
                return Answer("sat", found.places, pair)
            if found.verdict == "unknown":
                answer = found
        return answer

    def _ask(self, members: Sequence[int]) -> Answer:
        """Ask about copies of the network for these combinations of protected values."""
        if self._stopped.is_set():
            return Answer("unknown")
        z3, began = self._z3, perf_counter()
        solver = z3.Solver(ctx=self._context)
        solver.set("random_seed", 0)
        solver.set("max_memory", _MOST_MEMORY)
        try:
            person = _Person(z3, solver, self._encoded, self._low, self._high)
            bounds = bounds_of(
                self._encoded, self._low, self._high, np.array(members, dtype=np.intp)
            )
            margins = [person.margins(bounds, i, each) for i, each in enumerate(members)]
            solver.add(self._differ(*map(self._decided, margins)))
            left = self._seconds - (perf_counter() - began)
            solver.set("timeout", max(1, round(1_000 * left)))
            result = z3.unknown if self._stopped.is_set() else solver.check()
            if result == z3.sat:
                return Answer("sat", person.places(solver.model()))
        except z3.Z3Exception:  # interrupted, or out of memory: it has no answer
            return Answer("unknown")
        return Answer("unsat" if result == z3.unsat else "unknown")

    def _decided(self, margins: Sequence[OfZ3]) -> list[OfZ3]:
        """Return for each decision the condition that a member gets it; ties do not count."""
        z3, margin = self._z3, self._encoded.margins
        beats: dict[tuple[int, int], OfZ3] = {}
        for each, winner, loser in zip(margins, margin.winner, margin.loser, strict=True):
            beats[int(winner), int(loser)], beats[int(loser), int(winner)] = each, -each
        limit = _rational(z3, Fraction(self._margin), self._context)
        classes = range(len(margin.decision))
        return [
            z3.Or(
                *(
                    z3.And(
                        *(beats[k, j] > limit for j in classes if margin.decision[j] != decision),
                        self._context,
                    )
                    for k in classes
                    if margin.decision[k] == decision
                ),
                self._context,
            )
            for decision in np.unique(margin.decision).tolist()
        ]

    def _differ(self, first: Sequence[OfZ3], second: Sequence[OfZ3]) -> OfZ3:
        z3 = self._z3
        return z3.Or(
            *(
                z3.And(mine, its)
                for i, mine in enumerate(first)
                for j, its in enumerate(second)
                if i != j
            ),
            self._context,
        )


def _rational(z3: OfZ3, number: Fraction, context: OfZ3) -> OfZ3:
    return z3.RealVal(f"{number.numerator}/{number.denominator}", context)


class _Person:
    """Somebody in a box whom the solver looks for, and what they are to the first layer."""

    def __init__(self, z3: OfZ3, solver: OfZ3, encoded: Encoded, low: Places, high: Places) -> None:
        self._z3, self._solver, self._encoded = z3, solver, encoded
        self._context = solver.ctx
        self._low = low
        self._weights = [
            [[Fraction(weight) for weight in row] for row in layer.weights.tolist()]
            for layer in encoded.layers
        ]
        self._unknown: dict[int, OfZ3] = {}
        for i in np.flatnonzero(high > low).tolist():
            place = z3.Int(f"place {i}", self._context)
            solver.add(place >= int(low[i]), place <= int(high[i]))
            self._unknown[i] = place
        self._fixed = self._everybody(low)
        self._moving = dict(self._columns(low, high))

    def places(self, model: OfZ3) -> Places:
        """Read the point off a model."""
        found = self._low.copy()
        for i, place in self._unknown.items():
            found[i] = model.eval(place, model_completion=True).as_long()
        return found

    def _everybody(self, low: Places) -> list[Fraction]:
        """Return the part of every column that is the same for the whole box."""
        columns = self._encoded.columns
        numbers = [Fraction(each) for each in columns.constant.tolist()]
        for i, own in enumerate(columns.axes):
            if len(self._encoded.tables[i]):
                values = [Fraction(each) for each in own.table[low[i]].tolist()]
            else:
                values = [
                    Fraction(start) + Fraction(slope) * int(low[i])
                    for start, slope in zip(own.start.tolist(), own.slope.tolist(), strict=True)
                ]
            for column, number in zip(own.columns.tolist(), values, strict=True):
                numbers[column] = number
        return numbers

    def _columns(self, low: Places, high: Places) -> Iterator[tuple[int, OfZ3]]:
        """Yield of the columns that are not the same for the whole box how far they are from that.

        They are those of unknown places: a line, or one number for each place.
        """
        z3, context = self._z3, self._context
        for i, place in self._unknown.items():
            own = self._encoded.columns.axes[i]
            if not len(self._encoded.tables[i]):
                moved = z3.ToReal(place - int(low[i]))
                for column, slope in zip(own.columns.tolist(), own.slope.tolist(), strict=True):
                    yield column, _rational(z3, Fraction(slope), context) * moved
                continue
            inside = own.table[low[i] : high[i] + 1]
            for column, numbers in zip(own.columns.tolist(), inside.T, strict=True):
                term = _rational(z3, Fraction(0), context)
                for number in np.unique(numbers).tolist():
                    away = Fraction(number) - self._fixed[column]
                    if away:
                        there = (np.flatnonzero(numbers == number) + int(low[i])).tolist()
                        is_there = z3.Or(*(place == each for each in there), context)
                        term = z3.If(is_there, _rational(z3, away, context), term)
                yield column, term

    def margins(self, bounds: Bounds, copy: int, combination: int) -> list[OfZ3]:
        """Write down a copy of the network for a combination of protected values.

        Parameters
        ----------
        bounds : Bounds
            Of the box: units that are always, or never, active are told as such.
        copy : int
            Of which of the bounds' combinations.
        combination : int
            Which that is among all.

        Returns
        -------
        list
            The margins, terms of z3.
        """
        encoded, columns = self._encoded, self._encoded.columns
        fixed = self._fixed.copy()
        for column, number in zip(
            columns.combined.tolist(), columns.combinations[combination].tolist(), strict=True
        ):
            fixed[column] = Fraction(number)
        constants = [
            sum(
                (row[unit] * number for row, number in zip(self._weights[0], fixed, strict=True)),
                Fraction(bias),
            )
            for unit, bias in enumerate(encoded.layers[0].bias.tolist())
        ]
        values: list[OfZ3] = [self._moving.get(column) for column in range(columns.count)]
        for k, layer in enumerate(encoded.layers):
            if k:
                constants = [Fraction(bias) for bias in layer.bias.tolist()]
            last = k == len(encoded.layers) - 1
            sums = [
                self._sum(k, unit, constant, values)
                if last or self._alive(layer.activation, bounds.high[k][copy, unit])
                else None
                for unit, constant in enumerate(constants)
            ]
            if not last:
                ends = zip(sums, bounds.low[k][copy], bounds.high[k][copy], strict=True)
                values = [
                    each if each is None else self._activated(layer.activation, each, low, high)
                    for each, low, high in ends
                ]
        return [self._margin(sums, i) for i in range(len(encoded.margins.offset))]

    def _alive(self, activation: Activation, high: float) -> bool:
        return activation.name != "relu" or high > 0

    def _sum(self, layer: int, unit: int, constant: Fraction, values: Sequence[OfZ3]) -> OfZ3:
        """Return a named sum of what enters a unit, so that it is written once."""
        z3, context = self._z3, self._context
        terms = [
            _rational(z3, weights[unit], context) * value
            for weights, value in zip(self._weights[layer], values, strict=True)
            if value is not None and weights[unit]
        ]
        term = z3.FreshReal("unit", context)
        self._solver.add(term == z3.Sum(_rational(z3, constant, context), *terms))
        return term

    def _activated(self, activation: Activation, term: OfZ3, low: float, high: float) -> OfZ3:
        z3, context = self._z3, self._context
        if activation.name == "linear" or (low >= 0 and high <= activation.ceiling):
            return term
        zero = _rational(z3, Fraction(0), context)
        below = zero
        if activation.name == "leaky_relu":
            below = _rational(z3, Fraction(activation.alpha), context) * term
        if low < 0:
            term = z3.If(term > 0, term, below) if high > 0 else below
        if high > activation.ceiling:
            ceiling = _rational(z3, Fraction(activation.ceiling), context)
            term = z3.If(term > ceiling, ceiling, term)
        return term

    def _margin(self, outputs: Sequence[OfZ3], i: int) -> OfZ3:
        margins, z3, context = self._encoded.margins, self._z3, self._context
        terms = [
            _rational(z3, Fraction(weight), context) * output
            for weight, output in zip(margins.weights[:, i].tolist(), outputs, strict=True)
            if weight
        ]
        return z3.Sum(*terms) - _rational(z3, Fraction(float(margins.offset[i])), context)
