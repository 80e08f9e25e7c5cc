"""The Pareto front: the trials that no other one beats."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from fairdesk.results.mitigation import Measure, Trial, What


def front(trials: Sequence[Trial], target: What) -> tuple[Trial, ...]:
    """Mark the trials of the front: no other is as accurate and as little discriminatory, and more.

    On the validation rows: by accuracy, and by what is to fall. Of trials that are equal in both
    all are on it, or none. A trial of which either is not known is not.

    Returns
    -------
    tuple[Trial, ...]
        The same, in their order, with ``front`` set.
    """
    points = [(_of(trial, "accuracy"), _of(trial, target)) for trial in trials]
    known = [(gain, loss) for gain, loss in points if gain is not None and loss is not None]
    return tuple(
        msgspec.structs.replace(
            trial,
            front=gain is not None
            and loss is not None
            and not any(
                other >= gain and least <= loss and (other, least) != (gain, loss)
                for other, least in known
            ),
        )
        for trial, (gain, loss) in zip(trials, points, strict=True)
    )


def _of(trial: Trial, what: What) -> float | None:
    found: list[Measure] = [
        each for each in trial.measures if each.what == what and each.rows == "validation"
    ]
    return found[0].estimate if found else None
