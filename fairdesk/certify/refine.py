"""Dividing a space, the heaviest undecided boxes first, while an examiner says what is proven."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.space import Places

Float64 = NDArray[np.float64]


@dataclass(slots=True)
class Examined:
    """What an examiner says of ``B`` boxes.

    Attributes
    ----------
    low, high : Places
        ``(B, a)``; the part of each box that is left to be spoken of. Every point of the box
        outside of it is treated alike: proven. The whole box where nothing is cut off.
    alike, unlike : NDArray[np.float64]
        ``(B,)``; at least so large a share of the points of that part is treated alike, or
        unlike: 0 to 1. Both proven; their sum is at most 1.
    population_alike, population_unlike : NDArray[np.float64]
        ``(B,)``; the same as shares of that part's mass in the population. 0 is always true.
    unlike_sets : NDArray[np.int64]
        ``(B,)``; where every single point of the part was asked about: how many are unlike, the
        others being alike; then nothing is left undecided. -1 elsewhere, also where the whole part
        is alike (``alike`` is 1) or unlike.
    axis : NDArray[np.int64]
        ``(B,)``; along which axis what is left should be halved; -1 where there is nothing left,
        or nothing to halve.
    cut : NDArray[np.int64]
        ``(B,)``; the last place along it that goes into the first half.
    examples : Places
        ``(e, a)``; some points that are treated unlike.
    queries : int
        Rows sent to the model.
    """

    low: Places
    high: Places
    alike: Float64
    unlike: Float64
    population_alike: Float64
    population_unlike: Float64
    unlike_sets: NDArray[np.int64]
    axis: NDArray[np.int64]
    cut: NDArray[np.int64]
    examples: Places
    queries: int = 0


class Examiner(Protocol):
    """Says of boxes what is proven about the people in them.

    Attributes
    ----------
    batch : int
        How many boxes it likes to be given at once.
    margin : float
        As `fairdesk.events.Proven`; the greatest so far.
    notes : tuple[str, ...]
        What the auditor must know, a sentence each.
    """

    batch: int
    margin: float
    notes: tuple[str, ...]

    def examine(self, low: Places, high: Places, group: NDArray[np.intp]) -> Examined:
        """Examine boxes.

        Parameters
        ----------
        low, high : Places
            ``(B, a)``; the ends of each box, both included.
        group : NDArray[np.intp]
            ``(B,)``; of each the row of `Space.may_be` that says which combinations of protected
            values are compared. At least two may be.
        """
