"""The input check on all rows, block by block: counts, and the area under the ROC curve."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.profiling.outcomes import favourable_rows
from fairdesk.data.table import Table
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.inputs.input_check import (
    InputCheck,
    attributes_for,
    of_counts,
    rows_for,
    takes_missing,
    warnings_of,
)
from fairdesk.models.model import Mapping, OpenedModel, favourable_scores, labels
from fairdesk.results.events import Rows

#: So many different scores are told apart; where there are more, neighbours are put together.
MOST_SCORES = 1 << 20
#: Bits of a score that are dropped at first where neighbours are put together.
_FIRST_BITS = 16


class Ranks:
    """Counts of wanted and other rows by their score; the area is exact up to `MOST_SCORES`.

    Beyond, scores that are equal but for their last bits count as ties: half of a pair each.
    """

    def __init__(self) -> None:
        self._scores = np.empty(0)
        self._counts = np.empty((0, 2), dtype=np.int64)
        self._bits = 0
        #: Rows that are not counted yet: sorting many at once costs less.
        self._waiting: list[tuple[NDArray[np.float64], NDArray[np.bool_]]] = []
        self._count = 0

    def add(self, scores: NDArray[np.float64], wanted: NDArray[np.bool_]) -> None:
        """Count more rows: ``(n,)`` scores, and which rows should have higher ones."""
        self._waiting.append((scores, wanted))
        self._count += len(scores)
        if self._count >= MOST_SCORES:
            self._take_in()

    def _take_in(self) -> None:
        """Count the rows that wait."""
        if not self._waiting:
            return
        scores, wanted = (np.concatenate(each) for each in zip(*self._waiting, strict=True))
        self._waiting, self._count = [], 0
        counts = np.stack([wanted, ~wanted], axis=1).astype(np.int64)
        self._merge(np.concatenate([self._scores, self._cut(scores)]), counts)
        while len(self._scores) > MOST_SCORES:
            self._bits = self._bits + 1 if self._bits else _FIRST_BITS
            self._merge(self._cut(self._scores), self._counts[:0])

    def _merge(self, scores: NDArray[np.float64], counts: NDArray[np.int64]) -> None:
        counts = np.concatenate([self._counts, counts])
        self._scores, place = np.unique(scores, return_inverse=True)
        self._counts = np.zeros((len(self._scores), 2), dtype=np.int64)
        np.add.at(self._counts, place, counts)

    def _cut(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Drop the last bits of scores: that keeps their order."""
        if not self._bits:
            return scores.astype(np.float64)
        whole = np.ascontiguousarray(scores, np.float64).view(np.int64)
        return (whole >> self._bits << self._bits).view(np.float64)

    @property
    def area(self) -> float | None:
        """The area under the ROC curve; None where all rows are alike."""
        self._take_in()
        wanted, others = self._counts.T
        pairs = int(wanted.sum()) * int(others.sum())
        if not pairs:
            return None
        below = np.cumsum(others) - others
        # in halves of a pair, and as Python's integers: no number of rows is too large
        above = sum(
            a * (2 * b + c)
            for a, b, c in zip(wanted.tolist(), below.tolist(), others.tolist(), strict=True)
        )
        return float(above / (2 * pairs))


#: Rows that the model is queried about at once: between two of them one can stop.
ROWS = 16_384

Mask = NDArray[np.bool_]


def check_all(
    opened: OpenedModel,
    table: Table,
    blocks: Iterable[Table],
    mapping: Mapping,
    label: str,
    favourable: str,
    found: InputCheck,
) -> Iterator[int | InputCheck]:
    """Check all rows of a table that is larger than memory; other parameters as of `check`.

    Parameters
    ----------
    table : Table
        Its columns; its codes are not looked at.
    blocks : iterable of Table
        All rows, some at a time.
    found : InputCheck
        What `fairdesk.models.inputs.input_check.check` found in a random sample of the rows. The
        rows shown, repeatability and the comparison with earlier decisions stay those of the
        sample.

    Yields
    ------
    int
        How many rows were read.
    InputCheck
        The last one: with the counts of all rows.

    Raises
    ------
    ModelError
        When the model refuses rows that are complete.
    """
    fed = FedModel(opened, mapping, attributes_for(mapping, table))
    counting, read = _Counting(fed, label, favourable, found), 0
    for block in blocks:
        for start in range(0, len(block.codes), ROWS):
            part = Table(block.source, block.columns, block.codes[start : start + ROWS])
            counting.add(part)
            read += len(part.codes)
            yield read
    yield counting.found


class _Counting:
    """Adds up what the model makes of rows."""

    def __init__(self, fed: FedModel, label: str, favourable: str, sample: InputCheck) -> None:
        self._fed, self._label, self._favourable, self._sample = fed, label, favourable, sample
        self._names = [attribute.name for attribute in fed.attributes]
        #: Of columns with missing cells, whether the model answers all the same.
        self._taken = dict.fromkeys(sample.takes_missing, True)
        self._taken |= {name: False for name in sample.set_aside if name != label}
        self._confusion = np.zeros((2, 2), dtype=np.int64)
        self._predicted = np.zeros(len(sample.predictions), dtype=np.int64)
        self._aside: Counter[str] = Counter()
        self._ranks = Ranks()
        self._read = 0

    def add(self, table: Table) -> None:
        """Count some rows."""
        fed, mapping = self._fed, self._fed.mapping
        rows = rows_for(fed, table)
        wanted, known = favourable_rows(table, self._label, self._favourable, block=True)
        missing = np.isnan(rows)
        self._try_missing(rows, missing & known[:, None])
        refused = [not self._taken.get(name, True) for name in self._names]
        counted = known & ~missing[:, refused].any(axis=1)
        self._read += len(rows)
        self._aside[self._label] += int((~known).sum())
        for place, name in enumerate(self._names):
            self._aside[name] += int((missing[:, place] & known & ~counted).sum())
        if not counted.any():
            return
        scores = fed.predict(rows[counted])
        decided = labels(scores)
        favoured, wanted = decided == mapping.favourable_class, wanted[counted]
        np.add.at(self._confusion, (1 - wanted.astype(int), 1 - favoured.astype(int)), 1)
        self._predicted += np.bincount(decided, minlength=len(self._predicted))
        self._ranks.add(favourable_scores(scores, mapping.favourable_class), wanted)

    def _try_missing(self, rows: Rows, missing: Mask) -> None:
        """Try columns of which the sample had no missing cell."""
        for place in np.flatnonzero(missing.any(axis=0)).tolist():
            if self._names[place] not in self._taken:
                self._taken[self._names[place]] = takes_missing(self._fed, rows, missing, place)

    @property
    def found(self) -> InputCheck:
        """The check of all rows."""
        own, sample = self._confusion.tolist(), self._sample
        confusion = ((own[0][0], own[0][1]), (own[1][0], own[1][1]))
        counted = of_counts(confusion, self._read - sum(map(sum, own)), self._ranks.area)
        found = msgspec.structs.replace(
            counted,
            inputs=sample.inputs,
            sample=sample.sample,
            checked_against=sample.checked_against,
            said_alike=sample.said_alike,
            repeatability=sample.repeatability,
            calibration=sample.calibration,
            predictions=tuple(
                (name, count)
                for (name, _), count in zip(
                    sample.predictions, self._predicted.tolist(), strict=True
                )
            ),
            takes_missing=tuple(name for name in self._names if self._taken.get(name)),
            set_aside={name: count for name, count in self._aside.items() if count},
        )
        of_sample = warnings_of(sample, self._fed.mapping)
        others = [each for each in sample.warnings if each not in of_sample]
        warnings = (*others, *warnings_of(found, self._fed.mapping))
        return msgspec.structs.replace(found, warnings=warnings)
