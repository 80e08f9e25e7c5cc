"""People whom every model is asked about, and which of them it discriminates against."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
from numpy.typing import NDArray

from fairdesk.individual.engine.context import SURE, CombinationScores, SearchContext
from fairdesk.individual.engine.pace import Pace
from fairdesk.individual.engine.sampling import confirmed, of_domain
from fairdesk.results.events import Rows, Scores

Mask = NDArray[np.bool_]

#: About so long a part takes of what a model is asked about: a pipeline answers a few rows hardly
#: faster than many.
PART_SECONDS = 0.3


def drawn(context: SearchContext, real: Rows, count: int, rng: np.random.Generator) -> Rows:
    """Draw so many people of the domain, each as likely as any other: ``(count, d)``.

    Raises
    ------
    SpecError
        When nearly nobody fulfils the constraints, or nobody of the data is in the domain.
    """
    blocks, left = [np.empty((0, real.shape[1]))], count
    for rows, _ in of_domain(context, real, rng):
        blocks.append(rows[:left])
        left -= len(blocks[-1])
        if not left:
            break
    return np.concatenate(blocks)


def discriminated(context: SearchContext, people: Rows) -> Generator[int, None, Mask]:
    """Return which instances have a member in their similar set with another decision.

    Somebody whose similar set has but one member who may be is not. Nobody is asked about a second
    time, unless scores are at a border: where all of one decision are within `SURE` of another, the
    two members farthest from it are asked about anew, in each other's place too, and count where
    they are decided as before. Last bits of an answer, which may hang on a row's place in its
    batch, must not pass for discrimination.

    Yields
    ------
    int
        How many people were asked about since the last.

    Returns
    -------
    NDArray[np.bool_]
        ``(n,)``.
    """
    hit = np.zeros(len(people), dtype=np.bool_)
    near: list[tuple[NDArray[np.intp], Rows, Rows]] = []
    for part in Pace(len(context.domain.combinations), PART_SECONDS).parts(len(people)):
        rows = people[part]
        answers = context.ask(rows)
        discriminatory = hit[part] = answers.discriminatory
        if discriminatory.any() and not getattr(context.cached_model.model, "steady", False):
            places, first, second = _close_hits(
                context, rows[discriminatory], answers[discriminatory]
            )
            near.append((part.start + np.flatnonzero(discriminatory)[places], first, second))
        yield len(rows)
    if near:
        who, first, second = (np.concatenate(each) for each in zip(*near, strict=True))
        if who.size:
            hit[who] = confirmed(context, first, second)
    return hit


def _close_hits(
    context: SearchContext, rows: Rows, answers: CombinationScores
) -> tuple[NDArray[np.intp], Rows, Rows]:
    """Find who is a hit near a border only, and of each the two members to ask about anew."""
    decided, margin = answers.labels, _margin(answers.scores)
    if answers.allowed is not None:
        margin = np.where(answers.allowed, margin, -1.0)
    surest = margin.argmax(axis=1)
    own = np.take_along_axis(decided, surest[:, None], axis=1)
    otherwise = np.where(decided != own, margin, -1.0)
    near = np.flatnonzero(otherwise.max(axis=1) <= SURE)
    make, second = context.domain.counterparts, otherwise.argmax(axis=1)
    return near, make(rows[near], surest[near]), make(rows[near], second[near])


def _margin(scores: Scores) -> NDArray[np.float32]:
    """``(..., )``; how far ``(..., k)`` scores are from another decision."""
    if scores.shape[-1] == 1:
        return np.asarray(np.abs(scores[..., 0] - 0.5))
    second, first = np.moveaxis(np.partition(scores, -2, axis=-1)[..., -2:], -1, 0)
    return np.asarray(first - second)
