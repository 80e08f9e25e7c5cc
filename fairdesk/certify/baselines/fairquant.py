"""FairQuant as it was published: depth first, with symbolic forward intervals.

Kim, Wang and Wang, "FairQuant: Certifying and Quantifying Fairness of Deep Neural Networks", ICSE
2025, Algorithms 1 to 4: a stack of boxes; the bounds of the network's answer for each protected
value decide a box, or it is halved along the attribute with the greatest smear of the gradient's
backward intervals; from a certain depth on points are tried first, and a box with a counterexample
is left at that. It is the yardstick for `certify`, on one thread as the published program is.

What that program does wrong is put right. All pairs of protected values are compared, and all
classes. Everything is rounded to the safe side, and so that it holds for the model's own
arithmetic; counts are whole numbers. A box in which a counterexample was found counts as undecided:
that proves one point only. The program's end at 0.001 % undecided is left out. A single point that
is too near the border for any bound is a query to the model itself.

Which points are tried is an option. The published program tries ``n (low + high) / 10`` for n from
0 to 9 along all axes at once: points that mostly lie outside the box, and many outside the domain.
A later version of it goes along the box's diagonal, ``low + n (high - low) / 10``. Points drawn
from the box are the default. Whatever is tried, only points of the domain are counterexamples.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.baselines.common import Tally, compared_in, network_of, reported
from fairdesk.certify.baselines.solver import PIECEWISE, bounds_of
from fairdesk.certify.counting.exhaustive import decisions
from fairdesk.certify.domain.encoded import Encoded
from fairdesk.certify.domain.space import Places, Space, sizes
from fairdesk.certify.options import FairQuantOptions
from fairdesk.errors import SpecError
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.engine.pace import at_most
from fairdesk.individual.engine.sampling import extra_rows
from fairdesk.models.structure import Activation
from fairdesk.results.events import Event, Progress, Rows, timed
from fairdesk.results.proofs import Proven

if TYPE_CHECKING:
    from fairdesk.certify.baselines.fairquant_kernels import Network

Float64 = NDArray[np.float64]
#: The loops are left and entered again about so often, in seconds.
_TURN = 0.05
#: So many boxes are looked at in the first turn, and told of at most in any.
_FIRST, _MOST = 64, 1 << 14
#: Steps of progress.
_WHOLE = 1_000


def search(
    context: SearchContext, people: Rows, options: FairQuantOptions, rng: np.random.Generator
) -> Iterator[Event]:
    """Prove how many people are consistent, as FairQuant does; parameters as in `maft.search`.

    Each counterexample is asked of the model again.

    Raises
    ------
    SpecError
        When the model is no network with ReLU units.
    """
    return timed(_search(context, people, options, rng))


def _search(
    context: SearchContext, people: Rows, options: FairQuantOptions, rng: np.random.Generator
) -> Iterator[Event]:
    yield context.progress("fairquant", 0, _WHOLE)
    started = perf_counter()
    encoded = network_of(context, people, "FairQuant")
    _refuse(encoded)
    walk = _Walk(context, encoded, options, rng)
    # what the reader of the events takes is none of this method's time
    walk.tally.seconds = perf_counter() - started
    yield from reported("fairquant", walk, walk.run())


def _refuse(encoded: Encoded) -> None:
    """Refuse what the paper has no intervals for."""
    for layer in encoded.layers[:-1]:
        own = layer.activation
        fine = own.name in PIECEWISE and np.isinf(own.ceiling)
        if not fine or not (own.name != "leaky_relu" or 0.0 <= own.alpha <= 1.0):
            raise SpecError(
                "FairQuant supports networks with ReLU units only, and this one has "
                f"“{own.name}” units.",
                why="Its symbolic intervals support only functions with two linear pieces.",
                remedy="Choose “Certification”, which supports other units too.",
            )


class _Walk:
    """The boxes on the stack, and what was told of those that were taken off it."""

    def __init__(
        self,
        context: SearchContext,
        encoded: Encoded,
        options: FairQuantOptions,
        rng: np.random.Generator,
    ) -> None:
        # compiled code is loaded where a search runs, never in the window's process
        from fairdesk.certify.baselines import fairquant_kernels  # noqa: PLC0415

        self._kernels: Any = fairquant_kernels
        self._context, self._encoded, self._options = context, encoded, options
        self._space = encoded.space
        self.tally = Tally(self._space.domain, self._space.total)
        self._network = packed(encoded)
        self._compared = compared_in(encoded)
        self._combinations = len(self._space.domain.combinations)
        self._random = rng.integers(1, 1 << 63, size=1, dtype=np.uint64)
        self._seen, self._examples, self._outside, self._most = 0, 0, 0, _FIRST
        self._scale = _scale(self._space)
        axes = len(self._space.axes)
        self._stack, self._told = (
            fairquant_kernels.Boxes(ends, ends.copy(), np.zeros(len(ends), np.int64))
            for ends in (
                np.zeros((n, axes), np.int64) for n in (options.max_refinement_depth + 2, _MOST)
            )
        )
        everyone = np.arange(len(encoded.combined))
        for low, high in zip(self._space.low, self._space.high, strict=True):
            rounding = bounds_of(encoded, low, high, everyone).rounding.max(initial=0.0)
            self.tally.margin = max(self.tally.margin, float(rounding + encoded.margins.close))
        self._unused = all(len(each) < 2 for each in self._compared)

    def run(self) -> Iterator[Event | None]:
        """Give an event, or nothing, every turn, as long as there is time."""
        for event in self._roots():
            yield event
            if self._context.over or 0 < self._options.seconds <= self.tally.seconds:
                return

    def _roots(self) -> Iterator[Event | None]:
        space = self._space
        for root in range(len(space.low)):
            compared = self._compared[space.groups[root]]
            low, high = space.low[root : root + 1], space.high[root : root + 1]
            if not len(compared):
                continue
            if len(compared) == 1:
                self.tally.add(sum(sizes(low, high)), discriminatory=False)
                self._seen += sum(sizes(low, high))
                yield None
            elif not space.unclear[root]:
                yield from self._walk(root, compared.astype(np.int64))

    def _walk(self, root: int, compared: NDArray[np.int64]) -> Iterator[Event | None]:
        kernels, options, stack = self._kernels, self._options, self._stack
        low, high = self._space.low[root], self._space.high[root]
        stack.low[0], stack.high[0], stack.marks[0] = low, high, 0
        sampler = kernels.SAMPLERS.index(options.sampler)
        sampling = kernels.Sampling(sampler, *self._scale, low, high, self._random)
        state = np.array([1, 0], dtype=np.int64)
        room = kernels.room(self._network, low.size, compared.size, self._numbers(root))
        while state[0]:
            began, most = perf_counter(), self._most_boxes()
            done = kernels.walk(
                *(most, options.min_sample_depth, options.max_refinement_depth),
                *(int(options.after == "halve"), sampling, stack, state),
                *(self._network, compared, self._told, room),
            )
            self.tally.boxes += done
            looked = perf_counter() - began
            self._book(int(state[1]), root, int(compared[0]))
            event = self._context.take("fairquant")
            self.tally.seconds += perf_counter() - began
            if done == self._most == most:
                faster = np.clip(_TURN / max(looked, 1e-6), 0.5, 2.0)
                self._most = int(np.clip(self._most * faster, 1, _MOST))
            yield event

    def _most_boxes(self) -> int:
        """Return how many boxes to look at; only the last may use up the run's budget of rows."""
        each = 2 * len(self._space.domain.combinations) + extra_rows()
        return at_most(self._most, self._context.rows_left, each)

    def _book(self, reported: int, root: int, combination: int) -> None:
        """Count what was told of boxes, and ask the model about points."""
        kernels = self._kernels
        low, high, verdicts = (each[:reported] for each in self._told)
        for verdict in (kernels.CONSISTENT, kernels.DISCRIMINATORY):
            which = verdicts == verdict
            points = sum(sizes(low[which], high[which]))
            self.tally.add(points, discriminatory=verdict == kernels.DISCRIMINATORY)
        self._seen += sum(sizes(low, high))
        example = low[verdicts == kernels.EXAMPLE]
        self._examples += len(example)
        self._outside += int((verdicts == kernels.OUTSIDE).sum())
        if len(example):
            self._check(example, combination)
        ask = low[verdicts == kernels.ASK]
        if len(ask):
            allowed = self._space.may_be[self._space.groups[root]]
            asked = np.repeat(allowed[None], len(ask), axis=0)
            model = self._context.cached_model
            discriminatory = decisions(self._space, model, ask, asked).differ
            for which in (discriminatory, ~discriminatory):
                self.tally.add(int(which.sum()), discriminatory=which is discriminatory)
            self._check(ask[discriminatory], combination)

    def _rows(self, places: Places, combination: int) -> Rows:
        rows, combination = self._space.rows(places), combination % self._combinations
        return self._space.domain.counterparts(rows, np.full(len(rows), combination))

    def _check(self, places: Places, combination: int) -> None:
        rows = self._rows(places, combination)
        self._context.check(rows, np.full(len(rows), combination % self._combinations))

    def _numbers(self, root: int) -> int:
        """Count the numbers of a form over a root: one, and one for each variable."""
        moving = self._space.high[root] - self._space.low[root]
        listed = np.array([len(table) > 0 for table in self._encoded.tables], dtype=np.bool_)
        return 1 + int(np.where(listed, moving, moving > 0).sum())

    def progress(self) -> Progress:
        """Say how far it is: how much of the domain was taken off the stack."""
        share = self._seen / max(self._space.total, 1)
        if self._options.seconds:
            share = max(share, min(1.0, self.tally.seconds / self._options.seconds))
        return self._context.progress("fairquant", int(_WHOLE * min(share, 1.0)), _WHOLE)

    def figure(self) -> Proven:
        """Return what is proven so far."""
        notes = []
        if self._unused:
            notes.append(
                "No protected attribute reaches the part of the network that decides: the "
                "decision is unchanged for every combination."
            )
        if self._space.unclear.any():
            notes.append(
                "The constraints combine so many values that some regions stay undecided "
                "from the start."
            )
        left = " FairQuant does not examine such regions further."
        if self._examples:
            notes.append(
                f"In {_regions(self._examples)} a counterexample was found."
                + left * (self._options.after == "leave")
            )
        if self._outside:
            notes.append(
                f"In {_regions(self._outside)} the point found lies outside the input domain: it "
                "does not count as a counterexample." + left
            )
        return self.tally.figure(notes)


def _regions(count: int) -> str:
    return f"{count:,} undecided {'regions' if count > 1 else 'region'}"


def _scale(space: Space) -> tuple[Float64, Float64]:
    """Return the value at place 0 of each axis, and from one place to the next.

    Places stand for themselves where values are not evenly spaced in ascending order.
    """
    origins, steps = np.zeros(len(space.axes)), np.ones(len(space.axes))
    for i, axis in enumerate(space.axes):
        codes = axis.code(np.arange(min(axis.count, 3)))
        step = float(codes[-1] - codes[0]) / max(len(codes) - 1, 1)
        even = np.array_equal(axis.codes, codes[0] + step * np.arange(axis.count))
        if step > 0 and (even or not axis.listed):
            origins[i], steps[i] = codes[0], step
    return origins, steps


def packed(encoded: Encoded) -> Network:
    """Write a network as the compiled loops read it."""
    from fairdesk.certify.baselines.fairquant_kernels import Network  # noqa: PLC0415 - as above

    margins = encoded.margins
    mix, sizes_of_mix = margins.weights, np.abs(margins.weights)
    widest = max(layer.bias.size for layer in encoded.layers)
    numbers = len(encoded.space.axes) + sum(map(len, encoded.tables))
    unit = 2.0**-50 * (numbers + widest + 64)
    factor, constant = encoded.rounding(encoded.columns.count)
    largest = float(np.finfo(encoded.precision).max) / 2
    bias, slopes, combined = encoded.bias, encoded.slopes, encoded.combined
    tables = [each for each in encoded.tables if len(each)]
    off = (factor + 4 * unit) * encoded.first_size + encoded.first_off + constant
    if not (encoded.first_size < largest).all():
        combined = np.full_like(combined, np.nan)
    alone = len(encoded.layers) == 1
    if alone:
        bias, slopes = bias @ mix - margins.offset, slopes @ mix
        combined, off = combined @ mix, off @ sizes_of_mix + 4 * unit * np.abs(margins.offset)
        tables = [each @ mix for each in tables]
    places = np.cumsum([0, *(len(each) for each in encoded.tables)])
    table_at = [
        int(at) if len(each) else -1 for at, each in zip(places, encoded.tables, strict=False)
    ]
    weights, spans, biases, bias_spans = [], [], [], []
    factors, constants = [0.0], [0.0]
    for k, layer in enumerate(encoded.layers[1:], start=1):
        last = k == len(encoded.layers) - 1
        own, own_bias = layer.weights, layer.bias
        size, size_bias = np.abs(own), np.abs(own_bias)
        if last:
            own, own_bias = own @ mix, own_bias @ mix - margins.offset
            size = size @ sizes_of_mix
            size_bias = size_bias @ sizes_of_mix + np.abs(margins.offset)
        weights.append(own.T.ravel())
        spans.append(size.T.ravel())
        biases.append(own_bias)
        bias_spans.append(size_bias)
        factor, constant = encoded.rounding(len(layer.weights))
        factors.append(factor)
        constants.append(constant * (sizes_of_mix.sum(axis=0).max() if last else 1.0))
    return Network(
        bias=np.ascontiguousarray(bias),
        slopes=np.ascontiguousarray(slopes),
        tables=np.ascontiguousarray(np.concatenate([np.zeros((0, bias.size)), *tables])),
        table_at=np.array(table_at, dtype=np.int64),
        combined=np.ascontiguousarray(combined),
        first_off=np.ascontiguousarray(off),
        widths=np.array(
            [*(layer.bias.size for layer in encoded.layers[:-1]), len(margins.offset)],
            dtype=np.int64,
        ),
        weights=_joined(weights),
        spans=_joined(spans),
        weights_at=_starts(weights),
        biases=_joined(biases),
        bias_spans=_joined(bias_spans),
        biases_at=_starts(biases),
        alphas=np.array([_slope_below(layer.activation) for layer in encoded.layers]),
        factors=np.array(factors),
        constants=np.array(constants),
        unit=unit,
        close=margins.close,
        largest=largest,
        winner=margins.winner.astype(np.int64),
        loser=margins.loser.astype(np.int64),
        decision=margins.decision.astype(np.int64),
    )


def _joined(parts: list[Float64]) -> Float64:
    return np.concatenate([np.empty(0), *parts])


def _starts(parts: list[Float64]) -> NDArray[np.int64]:
    """Return where each layer's part begins; the first layer has none."""
    return np.cumsum([0, 0, *(part.size for part in parts[:-1])]).astype(np.int64)


def _slope_below(activation: Activation) -> float:
    return {"linear": 1.0, "relu": 0.0}.get(activation.name, float(activation.alpha))
