"""What a repair works with: the data with their labels, what is to be repaired, the model.

The rows are divided into three parts: to train with, to choose by, and to measure the result on.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.attributes import Attribute
from fairdesk.errors import SpecError
from fairdesk.groups.context import AuditedRows, GroupContext
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.results.events import Rows, Scores
from fairdesk.results.proofs import Condition

#: About so long a part takes of what a model is asked about: a pipeline answers a few rows hardly
#: faster than many.
PART_SECONDS = 0.3


@dataclass(kw_only=True)
class MitigationContext(AuditedRows):
    """The data of an audit as a repair sees them.

    Attributes
    ----------
    target : NDArray[np.int64]
        ``(n,)``; the label as a position in the model's own classes
        (``model.opened.card.classes``); -1 where it has none, or one that the model does not know.
    pairs, partners : Rows
        ``(m, d)`` each; the discriminatory pairs to repair, flagged ones first.
    numbers : NDArray[np.int64]
        ``(m,)``; their numbers in the audit.
    model : FedModel
        The model as it was imported.
    rule : tuple[Condition, ...]
        The rule set to repair; empty for none.
    outcome : str
        The decision whose rates in and out of it are apart; empty for the mean score.
    flagged : int
        So many of the pairs, the first ones, somebody flagged: they are taken before all others.
    """

    target: NDArray[np.int64]
    pairs: Rows
    partners: Rows
    numbers: NDArray[np.int64]
    model: FedModel
    rule: tuple[Condition, ...] = ()
    outcome: str = ""
    flagged: int = 0
    _over: threading.Event = field(default_factory=threading.Event)

    @property
    def usable(self) -> NDArray[np.intp]:
        """The places of the rows that can be trained and tested with: in the domain, labelled."""
        return np.flatnonzero(self.inside & (self.target >= 0))

    @property
    def ending(self) -> bool:
        """Whether it is time to come to an end: no further portion is begun."""
        return self._over.is_set()

    def request_finish(self) -> None:
        """Ask the repair to come to an end; from any thread."""
        self._over.set()

    def group_context(self, model: FedModel) -> GroupContext:
        """See a model and the data as a method about groups does."""
        return GroupContext(
            domain=self.domain,
            rows=self.rows,
            groups=self.groups,
            inside=self.inside,
            label=self.label,
            decided=np.full(len(self.rows), np.nan),
            model=model,
            favourable=self.favourable,
            decisions=model.mapping.decisions(model.opened.card),
            text=self.text,
            terms=self.terms,
        )

    def predict(self, model: FedModel, rows: Rows) -> Scores:
        """Query a model about ``(m, d)`` rows, and count them.

        Raises
        ------
        ModelError
            When it refuses them.
        """
        self.queries += len(rows)
        return model.predict(rows)


#: The shares of the rows to train and to validate with; the rest is to test with.
TRAIN, VALIDATION = 0.6, 0.2
#: With fewer rows a test of twenty people or so would say nothing.
LEAST = 100
#: A protected group is divided by itself when so many of its rows have the same label.
_LEAST_OF_GROUP = 25


@dataclass(frozen=True, slots=True)
class Split:
    """Which rows are of which part: places in the table, ascending.

    Attributes
    ----------
    train, validation, test : NDArray[np.intp]
        No row is in two of them, and no two rows with the same codes are in different ones.
    """

    train: NDArray[np.intp]
    validation: NDArray[np.intp]
    test: NDArray[np.intp]


def split(mitigation: MitigationContext, rng: np.random.Generator) -> Split:
    """Divide the usable rows: 60 % to train, 20 % to validate, 20 % to test.

    Each label is divided so, and within it each protected group of `_LEAST_OF_GROUP` rows or more.
    Rows with the same codes go to one part together, under the label and group of the first.

    Parameters
    ----------
    mitigation : MitigationContext
        Its rows, labels and groups.

    Raises
    ------
    SpecError
        When there are too few usable rows, or all that would be trained with have one label.
    """
    places = mitigation.usable
    _refuse_few(mitigation, places.size)
    codes = mitigation.rows[places]
    _, first, same = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    same = same.reshape(-1)
    cells = _cells(mitigation.target[places], _groups(mitigation, places))[first]
    part = _parts(cells, np.bincount(same), rng)[same]
    train, validation, test = (places[part == which] for which in range(3))
    if np.unique(mitigation.target[train]).size < 2:
        name = mitigation.model.opened.card.classes[mitigation.target[train[0]]]
        raise SpecError(
            f"All {train.size:,} training rows have the label “{name}”.",
            why="With a single label, a model cannot learn to decide.",
            remedy=(
                "Audit with a table that has rows of every label, or widen the allowed values of "
                "the input domain."
            ),
        )
    return Split(train, validation, test)


def _refuse_few(mitigation: MitigationContext, usable: int) -> None:
    if usable >= LEAST:
        return
    outside = int((~mitigation.inside).sum())
    unlabelled = int((mitigation.inside & (mitigation.target < 0)).sum())
    reasons = [f"{outside:,} are outside the input domain or lack a value"] if outside else []
    if unlabelled:
        reasons.append(f"{unlabelled:,} have no label that the model has")
    of_them = f": {' and '.join(reasons)}" if reasons else ""
    raise SpecError(
        f"The model cannot be retrained with {usable:,} usable rows; at least {LEAST} are needed.",
        why=f"The table has {len(mitigation.rows):,} rows{of_them}.",
        remedy=(
            "Use a table with more labelled rows, or widen the allowed values of the input domain."
        ),
    )


def _groups(mitigation: MitigationContext, places: NDArray[np.intp]) -> Rows:
    """Return protected groups by number, ``(n, g)``; numbers by the nearest value compared."""
    codes = mitigation.groups[places]
    return np.column_stack(
        [
            np.zeros(len(places)),
            *(_grouped(each, codes[:, i]) for i, each in enumerate(mitigation.domain.grouping)),
        ]
    )


def _grouped(attribute: Attribute, codes: NDArray[np.float64]) -> NDArray[np.float64]:
    named = codes if attribute.values else attribute.nearest_compared(codes)
    return np.where(np.isnan(codes), -1.0, named)


def _cells(target: NDArray[np.int64], groups: Rows) -> NDArray[np.intp]:
    """Return each row the number of its cell: label and group, or label alone of a small group."""
    together = np.column_stack([target, groups])
    _, cell, count = np.unique(together, axis=0, return_inverse=True, return_counts=True)
    cell = cell.reshape(-1)
    return np.where(count[cell] >= _LEAST_OF_GROUP, cell, len(count) + target).astype(np.intp)


def _parts(
    cells: NDArray[np.intp], sizes: NDArray[np.intp], rng: np.random.Generator
) -> NDArray[np.intp]:
    """Return each set of equal rows its part: 0 to train, 1 to validate, 2 to test with.

    Parameters
    ----------
    cells : NDArray[np.intp]
        ``(s,)``; the cell of each set.
    sizes : NDArray[np.intp]
        ``(s,)``; its rows.
    """
    parts = np.zeros(len(cells), dtype=np.intp)
    for cell in np.unique(cells):
        mine = rng.permutation(np.flatnonzero(cells == cell))
        rows = sizes[mine]
        # where the middle of each set stands when all rows of the cell stand in line
        middles = (np.cumsum(rows) - rows / 2) / rows.sum()
        parts[mine] = np.searchsorted([TRAIN, TRAIN + VALIDATION], middles, side="right")
    return parts
