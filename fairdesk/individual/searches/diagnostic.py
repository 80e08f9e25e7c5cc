"""Does the estimate hold? How well MAFT's zero-order gradients serve on this model.

Wang et al., "MAFT", ICSE 2024: its first question (which perturbation size?) and its third (how
alike are estimated and true gradients, the directions and the odds that are made of them?). The
search's own code is measured, with the steps that it takes on this domain.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.domain import Domain
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.engine.division import Adding, Counting, Setting, counted_here
from fairdesk.individual.engine.steps import clustered_seeds
from fairdesk.individual.searches import maft
from fairdesk.individual.searches.eidig import output_slopes
from fairdesk.individual.searches.gradient_walks import EPSILON
from fairdesk.individual.searches.options import DiagnoseOptions, MaftOptions
from fairdesk.results.events import Event, Measured, Progress, Rows, ShardRange, Tallied, timed
from fairdesk.results.individual import GradientFidelity


def search(
    context: SearchContext, people: Rows, options: DiagnoseOptions, rng: np.random.Generator
) -> Iterator[Event]:
    """Measure how well gradients are estimated, size by size; parameters as in `maft.search`.

    Every size meets the same people and the same lots. A `Measured` comes after each size; what
    the short searches find is counted in the figures only.
    """
    found = merging(context, options, rng)
    return timed(counted_here(found, counting(context, people, options, rng), found))


def counting(
    context: SearchContext, people: Rows, options: DiagnoseOptions, rng: np.random.Generator
) -> Counting:
    """Return the half that queries the model; a unit is a size. Parameters as of `search`."""
    return _Trials(context, people, options, rng).count


def merging(setting: Setting, options: DiagnoseOptions, _rng: np.random.Generator) -> _Figures:
    """Return the half that gathers figures."""
    return _Figures(_unlike_sizes(setting.domain, options), options)


class _Trials:
    """Tries sizes: the half of the diagnosis that queries the model."""

    def __init__(
        self,
        context: SearchContext,
        people: Rows,
        options: DiagnoseOptions,
        rng: np.random.Generator,
    ) -> None:
        self._context, self._people, self._options = context, people, options
        rows, combination = context.domain.admit(clustered_seeds(people, 1, options.people, rng))
        self._rows, self._combination = rows, combination
        self._lots = int(rng.integers(2**63))
        self._sizes = _unlike_sizes(context.domain, options)
        self._tried = 0

    def count(self, wanted: ShardRange) -> Iterator[Event]:
        """Try some of the sizes."""
        context, options = self._context, self._options
        slopes = self._slopes()
        for unit in range(wanted.start, wanted.stop):
            size = self._sizes[unit]
            likeness = np.empty(0)
            if slopes is not None:
                both, true = slopes
                likeness = _likeness(true, maft.ZeroOrder(context, size)(both))
            trial, done = _afresh(context), 0
            for event in maft.search(
                trial, self._people, _short(options, size), np.random.default_rng(self._lots)
            ):
                if isinstance(event, Progress):
                    done += 1
                    yield self._progress(done, trial.tried)
            self._tried += trial.tried
            counts = np.array([len(self._rows), trial.tried, trial.found])
            arrays = {"likeness": likeness, "counts": counts}
            yield Tallied("sizes", unit, last=True, arrays=arrays)
            yield self._progress(0, 0)

    def _slopes(self) -> tuple[Rows, Rows] | None:
        """Return rows, then their counterparts, ``(2 n, d)``, and the true gradients, if known."""
        context, rows = self._context, self._rows
        if not context.cached_model.has_gradients:
            return None
        farthest = context.ask(rows).distance(self._combination).argmax(axis=1)
        both = np.concatenate([rows, context.domain.counterparts(rows, farthest)])
        return both, output_slopes(context, both)

    def _progress(self, done: int, tried: int) -> Progress:
        """Return how many steps of a size are done; findings are not reported."""
        queries = self._context.cached_model.queries
        return Progress("sizes", done, 0, self._tried + tried, 0, queries)


class _Figures(Adding):
    """What is measured of each size, in their order: a `Merging`."""

    def __init__(self, sizes: list[float], options: DiagnoseOptions) -> None:
        self._sizes = sizes
        short = _short(options, sizes[0])
        self._steps = short.max_iter + 1 + short.local_num
        self._known: list[GradientFidelity] = []

    @property
    def wanted(self) -> ShardRange | None:
        """The sizes that are not tried yet."""
        known, sizes = len(self._known), len(self._sizes)
        return ShardRange(known, sizes) if known < sizes else None

    def add(self, tallied: Tallied) -> bool:
        """Take what was measured of a size."""
        n_samples, tried, found = tallied.arrays["counts"].tolist()
        cosines = tallied.arrays["likeness"].tolist() or (None, None, None)
        gradients, directions, odds = cosines
        size = self._sizes[tallied.unit]
        self._known.append(
            GradientFidelity(size, n_samples, gradients, directions, odds, tried, found)
        )
        return True

    def told(self, progress: Progress) -> Progress:
        """Return a progress with how many steps of all sizes are done."""
        # what was told before has a total, and may be told again
        within = 0 if progress.total else progress.done
        done = len(self._known) * self._steps + within
        return msgspec.structs.replace(progress, done=done, total=len(self._sizes) * self._steps)

    def measured(self) -> Measured | None:
        """Return the figures of the sizes tried."""
        return Measured("sizes", tuple(self._known)) if self._known else None

    def due(self) -> bool:
        """Return whether figures are to be told: after each size."""
        return True


def _short(options: DiagnoseOptions, size: float) -> MaftOptions:
    """Return the options of the short search with a size."""
    return MaftOptions(
        global_num=options.global_num, local_num=options.local_num, perturbation_size=size
    )


def _unlike_sizes(domain: Domain, options: DiagnoseOptions) -> list[float]:
    """Return sizes equally spaced by their ratio; of those that come to equal steps the largest.

    Where every step is a whole number of codes, so is the size.
    """
    low, high = sorted((options.smallest, options.largest))
    sizes = [float(f"{size:.6g}") for size in np.geomspace(low, high, options.sizes)]
    vary = domain.varying
    if (domain.spacing[vary] == domain.unit[vary]).all():
        sizes = [max(1.0, round(size)) for size in sizes]
    unlike = {tuple(domain.whole_steps(size)[vary]): size for size in sizes}
    return list(unlike.values())


def _afresh(context: SearchContext) -> SearchContext:
    """Return a context that has met nobody, and queries the same model, with the same memory."""
    fresh = SearchContext(context.cached_model, context.domain, fits=context.fits)
    fresh.cached_model = context.cached_model
    return fresh


def _likeness(true: Rows, estimated: Rows) -> NDArray[np.float64]:
    """Compare the slopes at people and, in the second half, at their counterparts: ``(2 n, v)``.

    Returns
    -------
    NDArray[np.float64]
        Mean cosine similarities of gradients, of directions and of odds.
    """
    return np.array(
        [
            _cosine(true, estimated),
            _cosine(_directions(true), _directions(estimated)),
            _cosine(_odds(true), _odds(estimated)),
        ]
    )


def _directions(slopes: Rows) -> Rows:
    """Return where a global step goes: along attributes on whose sign both agree (Algorithm 3)."""
    own, other = np.sign(slopes.reshape(2, -1, slopes.shape[1]))
    return np.where(own == other, -own, 0.0)


def _odds(slopes: Rows) -> Rows:
    """Return the odds of a local step along each attribute (Algorithm 4)."""
    weights = 1.0 / (np.abs(slopes.reshape(2, -1, slopes.shape[1])).sum(axis=0) + EPSILON)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _cosine(one: Rows, other: Rows) -> float:
    """Return the mean cosine of the angles between rows; 1 for two that are nought, 0 for one."""
    lengths = _lengths(one) * _lengths(other)
    both_nought = (_lengths(one) == 0) & (_lengths(other) == 0)
    cosines = (one * other).sum(axis=1) / np.where(lengths > 0, lengths, 1.0)
    return float(np.clip(np.where(both_nought, 1.0, cosines), -1.0, 1.0).mean())


def _lengths(rows: Rows) -> NDArray[np.float64]:
    return np.asarray(np.sqrt((rows**2).sum(axis=1)))
