"""What a repair works with: the data with their labels, what is to be repaired, the model."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.domain import Domain
from fairdesk.groups.context import GroupContext
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.repeatability import Repeatability
from fairdesk.results.conditions import Condition
from fairdesk.results.events import Rows, Scores


@dataclass
class MitigationContext:
    """The data of an audit as a repair sees them.

    Attributes
    ----------
    domain : Domain
        Who may be asked about; its ``grouping`` attributes tell groups apart.
    rows : Rows
        ``(n, d)``; all rows of the table, as `Domain.encode` gives them: NaN where a cell is
        missing or its value is not allowed.
    groups : Rows
        ``(n, g)``; the same rows as codes of ``domain.grouping``.
    inside : NDArray[np.bool_]
        ``(n,)``; who lies in the domain.
    label : NDArray[np.float64]
        ``(n,)``; 1 with the favourable label, 0 with another, NaN with none.
    target : NDArray[np.int64]
        ``(n,)``; the label as a position in the model's own classes
        (``model.opened.card.classes``); -1 where it has none, or one that the model does not know.
    pairs, partners : Rows
        ``(m, d)`` each; the discriminatory pairs to repair, flagged ones first.
    numbers : NDArray[np.int64]
        ``(m,)``; their numbers in the audit.
    model : FedModel
        The model as it was imported.
    favourable : int
        The favourable one of the audit's decisions.
    rule : tuple[Condition, ...]
        The rule set to repair; empty for none.
    outcome : str
        The decision whose rates in and out of it are apart; empty for the mean score.
    text : str
        Of a rule about texts: the column that the model reads.
    terms : dict[str, tuple[str, ...]]
        Per category the terms that name somebody; empty for those of the paper.
    edges : dict[str, tuple[float, ...]]
        As of `fairdesk.audit.plan.spec.RunSpec`.
    flagged : int
        So many of the pairs, the first ones, somebody flagged: they are taken before all others.
    queries : int
        Rows sent to a model so far.
    repeatability : Repeatability
        Of all rows that were queried again so far.
    """

    domain: Domain
    rows: Rows
    groups: Rows
    inside: NDArray[np.bool_]
    label: NDArray[np.float64]
    target: NDArray[np.int64]
    pairs: Rows
    partners: Rows
    numbers: NDArray[np.int64]
    model: FedModel
    favourable: int
    rule: tuple[Condition, ...] = ()
    outcome: str = ""
    text: str = ""
    terms: dict[str, tuple[str, ...]] = field(default_factory=dict)
    edges: dict[str, tuple[float, ...]] = field(default_factory=dict)
    flagged: int = 0
    queries: int = 0
    repeatability: Repeatability = field(default_factory=Repeatability)
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
