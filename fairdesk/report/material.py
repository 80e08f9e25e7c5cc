"""What the report is made from, read once from the audit file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.details import Choice, Details
from fairdesk.audit.methods import ABOUT_GROUPS, METHODS, Answers
from fairdesk.audit.spec import AuditSpec
from fairdesk.audit.store import LogEntry, RunRecord
from fairdesk.data.table import Table
from fairdesk.events import GroupTable
from fairdesk.report import words
from fairdesk.report.gathering import Gathered
from fairdesk.report.templates import TEMPLATES


@dataclass(frozen=True)
class Made:
    """A file of a model that a repair trained: of which trial, how it was checked, what it is."""

    trial: int
    name: str
    told: str
    size: int
    sha256: str


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
    made : dict[int, tuple[Made, ...]]
        Per repair the files of the models that it trained.
    details : Details
        What the auditor filled in.
    choice : Choice
        How the report is wanted.
    """

    spec: AuditSpec
    table: Table
    runs: list[RunRecord]
    progress: dict[int, NDArray[np.float64]]
    gathered: Gathered
    log: list[LogEntry]
    made: dict[int, tuple[Made, ...]] = field(default_factory=dict)
    details: Details = field(default_factory=Details)
    choice: Choice = field(default_factory=Choice)

    def told(self, key: str) -> str:
        """Give what the auditor filled in under a key; empty when nothing was."""
        return self.details.texts.get(key, "").strip()

    @property
    def people(self) -> str:
        """The auditor's word for persons."""
        return words.plural(self.spec.person)

    @property
    def proofs(self) -> list[RunRecord]:
        """The runs that prove."""
        return self._answering(Answers.PROOF)

    @property
    def subtle(self) -> list[RunRecord]:
        """The runs that look for groups which are decided about otherwise."""
        return self._answering(Answers.GROUPS)

    @property
    def searches(self) -> list[RunRecord]:
        """The runs about single people that prove and repair nothing."""
        others = (Answers.PROOF, Answers.REPAIR, *ABOUT_GROUPS)
        return [run for run in self.runs if METHODS[run.spec.method].answers not in others]

    @property
    def repairs(self) -> list[RunRecord]:
        """The runs that repair the model."""
        return self._answering(Answers.REPAIR)

    @cached_property
    def measured(self) -> RunRecord | None:
        """The latest run that measured how the groups fare, if one did."""
        rated = [run for run in self._answering(Answers.RATES) if group_tables(run)]
        return rated[-1] if rated else None

    @cached_property
    def group_tables(self) -> tuple[GroupTable, ...]:
        """What that run measured."""
        return () if self.measured is None else group_tables(self.measured)

    @cached_property
    def chapters(self) -> tuple[str, ...]:
        """The keys of the report's sections, in their order; see `fairdesk.report.sections`."""
        one_by_one = not self.spec.predictions and (
            bool(self.searches) or bool(self.proofs) or not self.runs
        )
        errors = any(
            line.positives is not None for each in self.group_tables for line in each.lines
        )
        there = {
            "model": not self.spec.predictions,
            "decisions": bool(self.spec.predictions),
            "compared": not self.spec.predictions,
            "method": not self.spec.predictions or bool(self.runs),
            "errors": errors,
            "results": one_by_one,
            "subtle": bool(self.subtle),
            "certification": bool(self.proofs),
            "pairs": one_by_one,
            "mitigation": bool(self.repairs),
        }
        return tuple(
            key
            for key in TEMPLATES[self.choice.template].chapters
            if there.get(key, True) and key not in self.choice.left_out
        )

    def number(self, chapter: str) -> int:
        """Give the number of a section; 0 where the report does not have it."""
        return self.chapters.index(chapter) + 1 if chapter in self.chapters else 0

    def run_name(self, run: RunRecord) -> str:
        """Name a run by its method; numbered where there are several runs."""
        title = METHODS[run.spec.method].title
        return f"{title}, run {run.id}" if len(self.runs) > 1 else title

    def place(self, run: RunRecord) -> str:
        """Give the number of the section with a run's results."""
        if METHODS[run.spec.method].answers is Answers.RATES:
            return str(self.number("outcomes"))
        for chapter, runs in (
            *(("certification", self.proofs), ("subtle", self.subtle)),
            ("mitigation", self.repairs),
        ):
            if run in runs:
                return f"{self.number(chapter)}.{runs.index(run) + 1}"
        return f"{self.number('results')}.{self.searches.index(run) + 1}"

    def _answering(self, answers: Answers) -> list[RunRecord]:
        return [run for run in self.runs if METHODS[run.spec.method].answers is answers]


def proves(run: RunRecord) -> bool:
    """Whether a run proves something, and does not search."""
    return METHODS[run.spec.method].answers is Answers.PROOF


def about_groups(run: RunRecord) -> bool:
    """Whether a run is about groups of people, and not about one person after the other."""
    return METHODS[run.spec.method].answers in ABOUT_GROUPS


def group_tables(run: RunRecord) -> tuple[GroupTable, ...]:
    """Give the tables of groups that a run measured."""
    figures: Iterable[object] = run.figures
    return tuple(each for each in figures if isinstance(each, GroupTable))
