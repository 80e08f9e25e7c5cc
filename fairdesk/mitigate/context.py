"""What a repair works with: the data with their labels, what is to be repaired, the model."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fairdesk.groups.context import AuditedRows, GroupContext
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.results.events import Rows, Scores
from fairdesk.results.proofs import Condition


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
