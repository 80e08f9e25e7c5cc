"""What a method about groups works with: the rows of the data, who is in which group, the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.domain import Domain
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.repeatability import Repeatability
from fairdesk.results.events import Rows, Scores


@dataclass(frozen=True)
class GroupBlock:
    """Some of the rows of a table that is larger than memory: fields as of `GroupContext`."""

    rows: Rows
    groups: Rows
    label: NDArray[np.float64]
    decided: NDArray[np.float64]


@dataclass
class GroupContext:
    """The data of an audit as a method about groups sees them, and the model to ask.

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
        ``(n,)``; who lies in the domain, so that people can be invented from them.
    label : NDArray[np.float64]
        ``(n,)``; 1 with the favourable label, 0 with another, NaN with none.
    decided : NDArray[np.float64]
        ``(n,)``; the same of a column of decisions, where there is no model; else NaN.
    model : FedModel, optional
        The model; ``None`` where only its decisions are at hand.
    favourable : int
        The favourable one of its decisions.
    decisions : tuple[str, ...]
        Their names.
    edges : dict[str, tuple[float, ...]]
        As of `fairdesk.audit.plan.spec.RunSpec`.
    text : str
        As there.
    terms : dict[str, tuple[str, ...]]
        As there.
    favourable_label : str
        The favourable label's name.
    blocks : callable, optional
        Yields all rows of a table that is larger than memory, some at a time; ``rows`` are then a
        random sample of them.
    people_blocks : callable, optional
        Yields of the same table how many rows were read, and the groups of those of them that lie
        in the domain, ``(n, g)``.
    n_rows : int
        How many rows it has.
    queries : int
        Rows sent to the model so far.
    requeries : int
        Of these, rows that were sent before the run to see whether the model is repeatable.
    repeatability : Repeatability
        Of all rows that were queried again so far.
    most_queries : float
        Once so many rows were sent, the run ends, by its budget.
    """

    domain: Domain
    rows: Rows
    groups: Rows
    inside: NDArray[np.bool_]
    label: NDArray[np.float64]
    decided: NDArray[np.float64]
    model: FedModel | None
    favourable: int
    decisions: tuple[str, ...]
    edges: dict[str, tuple[float, ...]] = field(default_factory=dict)
    text: str = ""
    terms: dict[str, tuple[str, ...]] = field(default_factory=dict)
    favourable_label: str = ""
    blocks: Callable[[], Iterator[GroupBlock]] | None = None
    people_blocks: Callable[[], Iterator[tuple[int, Rows]]] | None = None
    n_rows: int = 0
    queries: int = 0
    requeries: int = 0
    repeatability: Repeatability = field(default_factory=Repeatability)
    most_queries: float = np.inf

    @property
    def rows_left(self) -> float:
        """Rows of the run's budget that are not used up; infinite where there is none."""
        return self.most_queries - self.queries

    def predict(self, rows: Rows) -> Scores:
        """Query the model about ``(m, d)`` rows, and count them.

        Raises
        ------
        ModelError
            When it refuses them.
        """
        if self.model is None:
            raise TypeError("there is no model to query")
        self.queries += len(rows)
        return self.model.predict(rows)
