"""What the report is made from, read once from the audit file."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.methods import METHODS
from fairdesk.audit.spec import AuditSpec
from fairdesk.audit.store import LogEntry, RunRecord
from fairdesk.data.table import Table
from fairdesk.report import words
from fairdesk.report.gathering import Gathered

#: The number of the report's section with the results.
RESULTS_SECTION = 6


@dataclass(frozen=True)
class Material:
    """All that the sections are made from.

    Attributes
    ----------
    spec : AuditSpec
        The question.
    table : Table
        The audited data.
    runs : list[RunRecord]
        In the order in which they began.
    progress : dict[int, NDArray]
        Per run ``(m, 4)``: elapsed seconds, tried, found, queries.
    gathered : Gathered
        What was counted over all findings.
    log : list[LogEntry]
        The auditor's decisions.
    """

    spec: AuditSpec
    table: Table
    runs: list[RunRecord]
    progress: dict[int, NDArray[np.float64]]
    gathered: Gathered
    log: list[LogEntry]

    @property
    def people(self) -> str:
        """The auditor's word for persons."""
        return words.plural(self.spec.person)

    def run_name(self, run: RunRecord) -> str:
        """Name a run by its method; numbered where there are several runs."""
        title = METHODS[run.spec.method].title
        return f"{title}, run {run.id}" if len(self.runs) > 1 else title

    def place(self, run: RunRecord) -> str:
        """Give the number of the section with a run's results."""
        return f"{RESULTS_SECTION}.{self.runs.index(run) + 1}"
