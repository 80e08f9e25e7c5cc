"""How plausible invented people are: how near to a real one, and how usual among the real ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Plausibility:
    """How plausible ``n`` invented people are.

    Attributes
    ----------
    distance : NDArray[np.float64]
        ``(n,)``; to the nearest real person, 0 to 1 (Gower): the mean over the attributes in which
        members of a similar set are equal, of 0 or 1 for a name that is the same or another, and
        of the difference as a share of the range for a number.
    nearest : NDArray[np.intp]
        ``(n,)``; who that is: a position among the real people.
    score : NDArray[np.float64]
        ``(n,)``; the share of real people who are no more usual than this one (by an isolation
        forest fitted on the real ones), 0 to 1.
    """

    distance: NDArray[np.float64]
    nearest: NDArray[np.intp]
    score: NDArray[np.float64]
