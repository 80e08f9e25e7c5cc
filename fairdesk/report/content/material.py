"""What the report is made from, read once from the audit file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fairdesk.answers import Observed, decision_tables, observed
from fairdesk.audit.catalogue.method import ABOUT_GROUPS, QuestionKind
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import Choice, Details, LogEntry, RunRecord
from fairdesk.data.table import Table
from fairdesk.document.blocks import Fact, Text
from fairdesk.report.content.fields import facts, fields_of, filled_in
from fairdesk.report.content.gathering import Gathered
from fairdesk.report.content.kinds import TEMPLATES
from fairdesk.report.content.redaction import Shown
from fairdesk.report.content.status import Status
from fairdesk.results.groups import GroupTable
from fairdesk.wording import words
from fairdesk.wording.language import fixed, say

#: The sections on rows with protected attributes.
_OF_GROUPS = ("outcomes", "errors", "results", "pairs", "compared", "certification")
#: In which section a part stands that has none of its own.
_WITHIN = {"decisions": "model", "compared": "results", "pairs": "results", "formulas": "method"}


@dataclass(frozen=True)
class Made:
    """A file of a model that a repair trained: of which trial, how it was checked, what it is."""

    trial: int
    name: str
    remark: str
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
    standing : Status
        Whether it is final.
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
    standing: Status = field(default_factory=lambda: Status("Draft"))

    @cached_property
    def shown(self) -> Shown:
        """What may be told of single people."""
        return Shown(self.choice.redaction, self.spec, self.table)

    def filled_in(self, key: str) -> str:
        """Return what the auditor filled in under a key; empty when nothing was."""
        return filled_in(self.details, key)

    def filled(self, group: str) -> tuple[Fact, ...]:
        """Give what the auditor filled in under a heading of the form; in a draft what is to be."""
        fields = [one for one in fields_of(self.choice.template) if one.group == group]
        return facts(fields, self.choice.template, self.details, final=self.final)

    @property
    def final(self) -> bool:
        """Whether the auditor has marked this report as final, and nothing changed since."""
        return self.standing.word == "Final"

    @property
    def people(self) -> str:
        """The auditor's word for persons."""
        return words.plural(self.spec.person)

    @property
    def proofs(self) -> list[RunRecord]:
        """The runs that prove."""
        return self._answering(QuestionKind.PROOF)

    @property
    def subtle(self) -> list[RunRecord]:
        """The runs that look for groups which are decided about otherwise."""
        return self._answering(QuestionKind.GROUPS)

    @property
    def searches(self) -> list[RunRecord]:
        """The runs about single people that prove and repair nothing."""
        others = (QuestionKind.PROOF, QuestionKind.REPAIR, *ABOUT_GROUPS)
        return [run for run in self.runs if METHODS[run.spec.method].answers not in others]

    @property
    def repairs(self) -> list[RunRecord]:
        """The runs that repair the model."""
        return self._answering(QuestionKind.REPAIR)

    @cached_property
    def measured(self) -> RunRecord | None:
        """The latest run that measured how the groups fare, if one did."""
        rated = [run for run in self._answering(QuestionKind.RATES) if group_tables(run)]
        return rated[-1] if rated else None

    @cached_property
    def group_tables(self) -> tuple[GroupTable, ...]:
        """What that run measured."""
        return () if self.measured is None else group_tables(self.measured)

    @property
    def estimated(self) -> str:
        """What the runs about subgroups can show: of identity terms, or of rows of the data."""
        of_texts = bool(self.subtle) and all(run.spec.text for run in self.subtle)
        return words.ESTIMATED_TERMS if of_texts else words.ESTIMATED_GROUPS

    @cached_property
    def one_by_one(self) -> bool:
        """Whether single people were compared, or could have been as far as anything was run."""
        return not self.spec.predictions and (
            bool(self.searches) or bool(self.proofs) or not self.runs
        )

    @cached_property
    def observed(self) -> tuple[Observed, ...]:
        """The outcomes of groups in the data, as far as they may be told."""
        return tuple(
            replace(seen, outcomes=tuple(map(self.shown.table, seen.outcomes)))
            for seen in observed(self.spec, self.table, decision_tables(self.runs))
        )

    @cached_property
    def judged(self) -> bool:
        """Whether decisions were measured by labels."""
        return any(line.positives is not None for each in self.group_tables for line in each.lines)

    @property
    def parts_done(self) -> tuple[tuple[str, bool], ...]:
        """The parts of a full audit, each with whether it was run."""
        rows = bool(self.spec.domain.protected.size)
        parts = (
            ("group metrics", self.measured is not None, bool(self.spec.domain.grouping)),
            ("an estimate or a search", self.one_by_one and bool(self.runs), rows),
            ("certification", bool(self.proofs), rows),
            ("subgroup discovery", bool(self.subtle), True),
            ("mitigation", bool(self.repairs), rows),
        )
        return tuple((name, done) for name, done, possible in fixed(parts) if possible)

    @cached_property
    def chapters(self) -> tuple[str, ...]:
        """The keys of the report's sections, in their order; see `fairdesk.report.document`.

        A report has sections on what was run; the limitations name what was not.
        """
        there = {
            "compared": not self.spec.predictions,
            "method": not self.spec.predictions or bool(self.runs),
            "errors": self.judged,
            "results": self.one_by_one and bool(self.runs),
            "subtle": bool(self.subtle),
            "certification": bool(self.proofs),
            "pairs": self.one_by_one,
            "mitigation": bool(self.repairs),
        }
        never = () if self.spec.domain.grouping else _OF_GROUPS
        return tuple(
            key
            for key in TEMPLATES[self.choice.template].chapters
            if there.get(key, True) and key not in (*self.choice.left_out, *never)
        )

    def number(self, chapter: str) -> int:
        """Return the number of a section, or of that which holds it; 0 where there is neither."""
        key = chapter if chapter in self.chapters else _WITHIN.get(chapter, "")
        return self.chapters.index(key) + 1 if key in self.chapters else 0

    def chapter_of(self, run: RunRecord) -> str:
        """Return the key of the section with a run's results."""
        match METHODS[run.spec.method].answers:
            case QuestionKind.RATES:
                return "outcomes"
            case QuestionKind.GROUPS:
                return "subtle"
            case QuestionKind.PROOF:
                return "certification"
            case QuestionKind.REPAIR:
                return "mitigation"
        return "results"

    def run_name(self, run: RunRecord) -> str:
        """Name a run by its method; numbered where there are several runs."""
        return self._numbered(METHODS[run.spec.method].title, run)

    def short_name(self, run: RunRecord) -> str:
        """Name a run where there is little room: in legends and lists."""
        return self._numbered(METHODS[run.spec.method].short_title, run)

    def _numbered(self, title: str, run: RunRecord) -> str:
        if len(self.runs) < 2:
            return say(title)
        return say("{method}, run {n}", method=say(title), n=str(run.id))

    def place(self, run: RunRecord) -> str:
        """Return the number of the place with a run's results; empty where the report has none."""
        chapter = self.chapter_of(run)
        number = self.number(chapter)
        if not number or chapter == "outcomes":
            return str(number or "")
        runs = {
            "certification": self.proofs,
            "subtle": self.subtle,
            "mitigation": self.repairs,
        }.get(chapter, self.searches)
        return f"{number}.{runs.index(run) + 1}"

    def see(self, chapter: str) -> str:
        """Refer to a section in brackets, with a space before; empty where there is none."""
        number = self.number(chapter)
        return f" (section {number})" if number else ""

    def _answering(self, answers: QuestionKind) -> list[RunRecord]:
        return [run for run in self.runs if METHODS[run.spec.method].answers is answers]


def not_run(what: str) -> Text:
    """Say in one line what was not run, and what it would have told."""
    return Text(what, lead="Not run:")


def proves(run: RunRecord) -> bool:
    """Whether a run proves something, and does not search."""
    return METHODS[run.spec.method].answers is QuestionKind.PROOF


def about_groups(run: RunRecord) -> bool:
    """Whether a run is about groups of people, and not about one person after the other."""
    return METHODS[run.spec.method].answers in ABOUT_GROUPS


def group_tables(run: RunRecord) -> tuple[GroupTable, ...]:
    """Return the tables of groups that a run measured."""
    figures: Iterable[object] = run.figures
    return tuple(each for each in figures if isinstance(each, GroupTable))
