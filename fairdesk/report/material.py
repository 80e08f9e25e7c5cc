"""What the report is made from, read once from the audit file."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.methods import METHODS, Answers
from fairdesk.audit.spec import AuditSpec
from fairdesk.audit.store import LogEntry, RunRecord
from fairdesk.data.table import Table
from fairdesk.report import words
from fairdesk.report.gathering import Gathered

#: The numbers of the report's sections with the results of searches, and of proofs.
RESULTS_SECTION, CERTIFICATION_SECTION = 6, 7


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

    @property
    def proofs(self) -> list[RunRecord]:
        """The runs that prove."""
        return [run for run in self.runs if proves(run)]

    @property
    def searches(self) -> list[RunRecord]:
        """All other runs."""
        return [run for run in self.runs if not proves(run)]

    def run_name(self, run: RunRecord) -> str:
        """Name a run by its method; numbered where there are several runs."""
        title = METHODS[run.spec.method].title
        return f"{title}, run {run.id}" if len(self.runs) > 1 else title

    def place(self, run: RunRecord) -> str:
        """Give the number of the section with a run's results."""
        if proves(run):
            return f"{CERTIFICATION_SECTION}.{self.proofs.index(run) + 1}"
        return f"{RESULTS_SECTION}.{self.searches.index(run) + 1}"


def proves(run: RunRecord) -> bool:
    """Whether a run proves something, and does not search."""
    return METHODS[run.spec.method].answers is Answers.PROOF
