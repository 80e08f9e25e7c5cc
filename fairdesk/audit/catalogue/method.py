"""What the catalogue says of a method: plain data, without its implementation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import msgspec

from fairdesk.data.domain.domain import Domain
from fairdesk.models.model import Capability, Mapping, ModelCard


class QuestionKind(StrEnum):
    """What kind of question a method answers."""

    EXAMPLES = "examples"
    """Who is discriminated against: pairs to show."""
    SHARE = "share"
    """How common that is: figures with intervals."""
    PROOF = "proof"
    """How common that is, proven: what holds for everybody in a box of people."""
    DIAGNOSIS = "diagnosis"
    """How well the search itself works on this model."""
    GROUPS = "groups"
    """Which groups of people are decided about otherwise than others: rules to read."""
    RATES = "rates"
    """How every protected group fares in the data: tables of rates."""
    REPAIR = "repair"
    """What helps against what was found: rows to add, and how the retrained model fares."""


class Repeats(StrEnum):
    """What a method supposes of a model whose same rows are queried again."""

    ALIKE = "alike"
    """The same row gets the same answer: its decision is a function of the row."""
    INDEPENDENT = "independent"
    """Answers may be random, each for itself: every query is counted as one draw."""
    ANY = "any"
    """Nothing: decisions are counted as they were made."""


#: What is answered about groups of people, not about one person and who they could be.
ABOUT_GROUPS = (QuestionKind.GROUPS, QuestionKind.RATES)


def _any_domain(_domain: Domain) -> str:
    return ""


def _any_model(_options: object, _card: ModelCard, _mapping: Mapping) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Method:
    """A way to search for discrimination.

    Attributes
    ----------
    key : str
        Its name on the command line and in files.
    title : str
        Its name for people.
    sentence : str
        What it does, one plain sentence.
    paper : str
        Where it comes from.
    tells, cannot : str
        What its results can tell the auditor, and what they cannot.
    options : type[msgspec.Struct]
        Its parameters: annotated with limits, a title and a description each.
    answers : QuestionKind
        The kind of question.
    needs : tuple[Capability, ...]
        What a model must be able to do.
    obstacle : callable
        Says of a domain in a clause why the method cannot serve it; empty when it can.
    finishes : bool
        Whether it is told to come to an end rather than left where it is: it then says what it
        came to, and can be gone on with.
    unfit : callable
        Says of options, a model's card and its mapping, in a sentence, why they do not go
        together; empty when they do.
    reads : bool
        Whether it also compares terms in a text that the model reads.
    divides : bool
        Whether it divides protected numbers into bins, whose edges can be given.
    repeats : Repeats
        What it supposes of a model that is queried again.
    """

    key: str
    title: str
    sentence: str
    paper: str
    tells: str
    cannot: str
    options: type[msgspec.Struct]
    answers: QuestionKind = QuestionKind.EXAMPLES
    needs: tuple[Capability, ...] = (Capability.DECIDES,)
    obstacle: Callable[[Domain], str] = _any_domain
    finishes: bool = False
    unfit: Callable[[Any, ModelCard, Mapping], str] = _any_model
    reads: bool = False
    divides: bool = False
    repeats: Repeats = Repeats.ALIKE
