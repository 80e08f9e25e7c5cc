"""The questions in the order in which they are answered everywhere, and what an answer is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol, TypeAlias

from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.charts.shapes import Laid, Marked, Paper
from fairdesk.results.conditions import Conditions
from fairdesk.wording.language import fixed, say
from fairdesk.wording.statements import Evidence, Statement


class Question(Enum):
    """What an auditor wants to know."""

    GROUPS = "groups"
    SHARE = "share"
    EXAMPLE = "example"
    CERTAIN = "certain"
    SUBGROUPS = "subgroups"
    MITIGATION = "mitigation"

    @property
    def title(self) -> str:
        """The question, in the language of the report."""
        return say(_TITLES[self.value])

    @property
    def missing(self) -> str:
        """What would answer it, a sentence."""
        return say(_MISSING[self.value])


_TITLES = fixed(
    {
        "groups": "How do outcomes differ between groups?",
        "share": "How often does the decision depend on a protected attribute?",
        "example": "What does such a case look like?",
        "certain": "What is proven beyond the data?",
        "subgroups": "Which subgroups stand out?",
        "mitigation": "What did the mitigation change?",
    }
)
_MISSING = fixed(
    {
        "groups": "Not measured. “Group metrics” compares the selection rates of groups.",
        "share": "Not estimated. A random-sample estimate gives the share, with a confidence "
        "interval.",
        "example": "Not searched. A search finds pairs of instances that differ in protected "
        "attributes only and receive different decisions.",
        "certain": "Not certified. Certification shows for which part of the input domain the "
        "decision cannot change.",
        "subgroups": "Not searched. Subgroup discovery ranks subgroups by their gap to all others.",
        "mitigation": "No mitigation was run.",
    }
)
#: The kinds of runs that answer each question.
ANSWERING: dict[Question, tuple[QuestionKind, ...]] = {
    Question.GROUPS: (QuestionKind.RATES,),
    Question.SHARE: (QuestionKind.SHARE,),
    Question.EXAMPLE: (QuestionKind.EXAMPLES,),
    Question.CERTAIN: (QuestionKind.PROOF,),
    Question.SUBGROUPS: (QuestionKind.GROUPS,),
    Question.MITIGATION: (QuestionKind.REPAIR,),
}


class Drawable(Protocol):
    """A chart of the kit."""

    def alt(self) -> str:
        """Return it in words."""

    def lay_out(self, paper: Paper, marked: Marked = ..., /) -> Laid:
        """Put everything in its place."""


@dataclass(frozen=True)
class PairsOf:
    """Pairs of a run: of one attribute alone, or this near to the data, unless ``None``."""

    run: int
    alone: str | None = None
    within: float | None = None


@dataclass(frozen=True)
class GroupOf:
    """A group that a run measured, by its values of these attributes."""

    run: int
    attributes: tuple[str, ...]
    values: tuple[str, ...]


@dataclass(frozen=True)
class SubgroupOf:
    """A subgroup that a run found, by the outcome and its rule."""

    run: int
    outcome: str
    conditions: Conditions


#: What a part of a chart stands for.
Part: TypeAlias = PairsOf | GroupOf | SubgroupOf


@dataclass(frozen=True)
class Answer:
    """An audit's answer to a question, of all its runs that answer it the best.

    Attributes
    ----------
    question : Question
        Which one.
    said : Statement
        Number, label and sentence; without a number where nothing is known yet, and then the
        sentence says what would tell it.
    details : tuple[str, ...]
        Further sentences.
    run : int, optional
        The run that it comes from.
    others : tuple[int, ...]
        Further runs that answer the same question.
    chart : Drawable, optional
        One small chart.
    parts : tuple[Part | None, ...]
        What each part of it stands for, by its key; ``None``, and beyond them: the whole answer.
    """

    question: Question
    said: Statement
    details: tuple[str, ...] = ()
    run: int | None = None
    others: tuple[int, ...] = ()
    chart: Drawable | None = None
    parts: tuple[Part | None, ...] = ()

    @property
    def known(self) -> bool:
        """Whether the audit answers the question at all."""
        return self.run is not None or bool(self.said.value)

    @property
    def evidence(self) -> Evidence:
        """What it rests on."""
        return self.said.evidence
