"""Nothing is known of a box but what the model answers: where its structure is not available."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.domain.space import Places
from fairdesk.certify.proof.verify.notes import QUERIED
from fairdesk.certify.refine import Examined


class QueriedExaminer:
    """Leaves every box undecided: only counting decides it, the most likely combinations first.

    Attributes
    ----------
    batch, margin, notes
        As `fairdesk.certify.refine.Examiner`.
    """

    def __init__(self) -> None:
        self.batch, self.margin = 2_048, 0.0
        self.notes: tuple[str, ...] = (QUERIED,)

    def examine(self, low: Places, high: Places, group: NDArray[np.intp]) -> Examined:  # noqa: ARG002 - nobody is compared
        """Halve boxes along their widest axes; as `fairdesk.certify.refine.Examiner.examine`."""
        size = len(low)
        nothing = np.zeros(size)
        axis = cut = np.zeros(size, dtype=np.int64)
        if low.shape[1]:
            boxes, axis = np.arange(size), (high - low).argmax(axis=1)
            cut = (low[boxes, axis] + high[boxes, axis]) >> 1
        single = (high == low).all(axis=1)
        return Examined(
            *(low, high, nothing, nothing, nothing, nothing),
            np.full(size, -1, dtype=np.int64),
            np.where(single, -1, axis),
            cut,
            low[:0],
            people=(nothing, nothing),
        )
