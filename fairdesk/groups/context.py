"""What a method about groups works with: the rows of the data, who is in which group, the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.domain import Domain
from fairdesk.individual.engine.pace import PartTimes
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


@dataclass(kw_only=True)
class AuditedRows:
    """The data of an audit, and what was asked of its groups.

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
    favourable : int
        The favourable one of the model's decisions.
    edges, text, terms
        As of `fairdesk.audit.plan.spec.RunSpec`.
    queries : int
        Rows sent to the model so far.
    repeatability : Repeatability
        Of all rows that were queried again so far.
    """

    domain: Domain
    rows: Rows
    groups: Rows
    inside: NDArray[np.bool_]
    label: NDArray[np.float64]
    favourable: int
    edges: dict[str, tuple[float, ...]] = field(default_factory=dict)
    text: str = ""
    terms: dict[str, tuple[str, ...]] = field(default_factory=dict)
    queries: int = 0
    repeatability: Repeatability = field(default_factory=Repeatability)


@dataclass(kw_only=True)
class GroupContext(AuditedRows):
    """The data of an audit as a method about groups sees them, and the model to ask.

    Attributes
    ----------
    decided : NDArray[np.float64]
        ``(n,)``; as ``label``, of a column of decisions, where there is no model; else NaN.
    model : FedModel, optional
        The model; ``None`` where only its decisions are at hand.
    decisions : tuple[str, ...]
        The names of its decisions.
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
    requeries : int
        Of the queries, rows that were sent before the run to see whether the model is repeatable.
    most_queries : float
        Once so many rows were sent, the run ends, by its budget.
    part_times : PartTimes
        How much is asked of the model in one go.
    """

    decided: NDArray[np.float64]
    model: FedModel | None
    decisions: tuple[str, ...]
    favourable_label: str = ""
    blocks: Callable[[], Iterator[GroupBlock]] | None = None
    people_blocks: Callable[[], Iterator[tuple[int, Rows]]] | None = None
    n_rows: int = 0
    requeries: int = 0
    most_queries: float = np.inf
    part_times: PartTimes = field(default_factory=PartTimes)

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
