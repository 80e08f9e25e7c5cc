"""The rows that a repair may add, labelled, in the order in which portions take them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdesk.events import Rows


@dataclass(frozen=True, slots=True)
class Pool:
    """Rows to add; a portion takes the first so many, so that a greater one holds every smaller.

    Attributes
    ----------
    rows, targets, pairs, seeds, texts
        As ``rows``, ``labels``, ``pairs``, ``seeds`` and ``texts`` of
        `fairdesk.trials.Augmented`.
    available : int
        How many pairs, or samples, there were to make rows of.
    notes : tuple[str, ...]
        What must be known of them: whole sentences.
    """

    rows: Rows
    targets: NDArray[np.int64]
    pairs: NDArray[np.int64]
    seeds: NDArray[np.int64]
    available: int
    texts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


__all__ = ["Pool"]
