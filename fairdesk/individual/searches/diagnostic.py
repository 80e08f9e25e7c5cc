"""Does the estimate hold? How well MAFT's zero-order gradients serve on this model.

Wang et al., "MAFT", ICSE 2024: its first question (which perturbation size?) and its third (how
alike are estimated and true gradients, the directions and the odds that are made of them?). The
search's own code is measured, with the steps that it takes on this domain.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.domain import Domain
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.engine.seeds import clustered_seeds
from fairdesk.individual.searches import maft
from fairdesk.individual.searches.eidig import output_slopes
from fairdesk.individual.searches.gradient_walks import EPSILON
from fairdesk.individual.searches.options import DiagnoseOptions, MaftOptions
from fairdesk.results.events import Event, Measured, Progress, Rows, timed
from fairdesk.results.individual import GradientFidelity

#: Of gradients, of directions and of odds.
_Cosines = tuple[float, float, float]


def search(
    context: SearchContext, people: Rows, options: DiagnoseOptions, rng: np.random.Generator
) -> Iterator[Event]:
    """Measure how well gradients are estimated, size by size; parameters as in `maft.search`.

    Every size meets the same people and the same lots. A `Measured` comes after each size; what
    the short searches find is counted in the figures only.
    """
    return timed(_sweep(context, people, options, rng))


def _sweep(
    context: SearchContext, people: Rows, options: DiagnoseOptions, rng: np.random.Generator
) -> Iterator[Event]:
    domain = context.domain
    rows, combination = domain.admit(clustered_seeds(people, 1, options.people, rng))
    farthest = context.ask(rows).distance(combination).argmax(axis=1)
    both = np.concatenate([rows, domain.counterparts(rows, farthest)])
    true = output_slopes(context, both) if context.cached_model.has_gradients else None
    lots = int(rng.integers(2**63))
    sizes = _unlike_sizes(domain, options)
    figures: list[GradientFidelity] = []
    tried = 0
    for turn, size in enumerate(sizes):
        estimated = maft.ZeroOrder(context, size)(both)
        gradients, directions, odds = _likeness(true, estimated)
        trial = _afresh(context)
        short = MaftOptions(
            global_num=options.global_num, local_num=options.local_num, perturbation_size=size
        )
        steps = short.max_iter + 1 + short.local_num
        done = turn * steps
        for event in maft.search(trial, people, short, np.random.default_rng(lots)):
            if isinstance(event, Progress):
                done += 1
                yield _progress(context, done, len(sizes) * steps, tried + trial.tried)
        tried += trial.tried
        figures.append(
            GradientFidelity(size, len(rows), gradients, directions, odds, trial.tried, trial.found)
        )
        yield Measured("sizes", tuple(figures))
        yield _progress(context, (turn + 1) * steps, len(sizes) * steps, tried)


def _progress(context: SearchContext, done: int, total: int, tried: int) -> Progress:
    """Return how far it is; findings are not reported."""
    return Progress("sizes", done, total, tried, 0, context.cached_model.queries)


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


def _likeness(true: Rows | None, estimated: Rows) -> _Cosines | tuple[None, None, None]:
    """Compare the slopes at people and, in the second half, at their counterparts: ``(2 n, v)``.

    Gives mean cosine similarities, or nothing where the true ones are not known.
    """
    if true is None:
        return None, None, None
    return (
        _cosine(true, estimated),
        _cosine(_directions(true), _directions(estimated)),
        _cosine(_odds(true), _odds(estimated)),
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
