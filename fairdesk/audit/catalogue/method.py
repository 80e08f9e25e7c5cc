"""What the catalogue says of a method, and what the stages of its run are called: plain data."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from fairdesk.data.domain.domain import Domain
from fairdesk.models.model import Capability, Mapping, ModelCard

#: Of the mitigations `fairdesk repair --method` takes the names without this.
REPAIR = "repair-"


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


@dataclass(frozen=True, slots=True)
class Purpose:
    """What methods of a kind are for.

    Attributes
    ----------
    title : str
        As a heading above them.
    question : str
        What they answer.
    evidence : str
        The type of evidence that their results are; empty where they show nothing of the model.
    """

    title: str
    question: str
    evidence: str = ""


#: In the order in which methods are listed.
PURPOSES = {
    QuestionKind.EXAMPLES: Purpose(
        "Find discriminatory pairs",
        "Are there instances that differ only in protected attributes and get different decisions?",
        "example",
    ),
    QuestionKind.SHARE: Purpose(
        "Estimate how often",
        "How often does the decision change when only protected attributes change?",
        "estimated",
    ),
    QuestionKind.PROOF: Purpose(
        "Certify",
        "For which share of the input domain is it certain that the decision cannot change?",
        "proven",
    ),
    QuestionKind.GROUPS: Purpose(
        "Discover subgroups",
        "Which subgroup has the largest gap in outcomes to all others?",
        "estimated",
    ),
    QuestionKind.RATES: Purpose(
        "Measure group outcomes", "How do outcomes differ between groups?", "observed"
    ),
    QuestionKind.DIAGNOSIS: Purpose(
        "Diagnose the search", "How reliable are searches by estimated gradients for this model?"
    ),
    QuestionKind.REPAIR: Purpose(
        "Mitigate", "Can retraining reduce what was found, and at what cost?", "estimated"
    ),
}


class Repeats(StrEnum):
    """What a method supposes of a model whose same rows are queried again."""

    ALIKE = "alike"
    """The same row gets the same answer: its decision is a function of the row."""
    INDEPENDENT = "independent"
    """Answers may be random, each for itself: every query is counted as one draw."""
    ANY = "any"
    """Nothing: decisions are counted as they were made."""


#: What a method assumes of the model, and what it needs of it, for people.
ASSUMPTIONS = {
    Repeats.ALIKE: "The same row always gets the same decision.",
    Repeats.INDEPENDENT: "Decisions may be random, each query independent of the others.",
    Repeats.ANY: "No assumption: decisions are counted as they were made.",
}
NEEDS = {
    Capability.DECIDES: "a model that can be queried",
    Capability.SCORES: "a score for each class",
    Capability.GRADIENTS: "gradients",
    Capability.LAYERS: "the weights of its dense layers",
    Capability.TREES: "the splits of its trees",
    Capability.TEXT: "a model that reads text",
    Capability.RETRAINS: "a model that FairDesk can retrain",
}


class Divides(StrEnum):
    """How a method is divided into shards that run apart from each other."""

    WHOLE = "whole"
    """Not at all: it runs as one shard."""
    ROWS = "starting rows"
    """Each shard searches from starting rows of its own, with random numbers of its own."""
    STREAMS = "random streams"
    """Each shard searches by itself, with random numbers of its own."""
    DRAWS = "draws"
    """Each shard counts some blocks of what is drawn at random; counts are added up."""
    RANGES = "ranges"
    """Each shard counts a range of the rows or combinations; counts are added up."""
    PARTITIONS = "partitions"
    """Each shard solves some of the partitions; what is proven of each is added up."""
    SIZES = "perturbation sizes"
    """Each shard tries some of the sizes; what is measured of each is put together."""
    REGIONS = "regions"
    """Each shard divides some of the undecided regions; their trees are put together."""


#: What that means, for people: how it is divided, and what is the same as in one process.
_DIVISIONS = {
    Divides.WHOLE: "Not divided",
    Divides.ROWS: (
        "Splits the search into parts with starting rows and a seed of their own. The same "
        "number of parts finds the same pairs, wherever the parts run; another number finds others"
    ),
    Divides.STREAMS: (
        "Splits the search into parts with a seed of their own. The same number of parts "
        "finds the same pairs, wherever the parts run; another number finds others"
    ),
    Divides.DRAWS: (
        "Into blocks of draws with random numbers of their own. Counts are added up to exactly the "
        "figures of one process"
    ),
    Divides.RANGES: (
        "Into ranges of rows or combinations. Counts are added up to exactly the figures of one "
        "process"
    ),
    Divides.PARTITIONS: (
        "Into partitions of the input domain. What is proven of each is added up to the figures of "
        "one process, if the solver’s time limits end no partition"
    ),
    Divides.SIZES: (
        "Into perturbation sizes, each tested from the same rows with the same random numbers. "
        "Together they are exactly the figures of one process"
    ),
    Divides.REGIONS: (
        "Into undecided regions, the heaviest first. Together they are one proof certificate, "
        "verified like any other; how much is decided within a time limit depends on the computers"
    ),
}


@dataclass(frozen=True, slots=True)
class Division:
    """How a method is divided.

    Attributes
    ----------
    by : Divides
        Into what.
    splits : tuple[str, ...]
        The options that say how much is done in all: each shard has its part of them.
    why : str
        Of a method that is not divided, or not always, the reason: a clause.
    """

    by: Divides = Divides.WHOLE
    splits: tuple[str, ...] = ()
    why: str = ""

    @property
    def counts(self) -> bool:
        """Whether shards count units, which are added up to the figures of one process."""
        return self.by in (Divides.DRAWS, Divides.RANGES, Divides.PARTITIONS, Divides.SIZES)

    @property
    def searches(self) -> bool:
        """Whether the number of parts, `RunSpec.shards`, is part of the question."""
        return self.by in (Divides.ROWS, Divides.STREAMS)

    @property
    def sentence(self) -> str:
        """How it is divided, for people."""
        joint = ": " if self.by is Divides.WHOLE else "; "
        return f"{_DIVISIONS[self.by]}{joint if self.why else ''}{self.why}."

    @property
    def within(self) -> bool:
        """Whether a shard is a part of one search, and not a search of its own."""
        return self.counts or self.by is Divides.REGIONS


#: What is answered about groups of people, not about one person and who they could be.
ABOUT_GROUPS = (QuestionKind.GROUPS, QuestionKind.RATES)


@cache
def _words() -> dict[str, dict[str, str]]:
    """Read what is said of methods, by their keys, from ``methods.toml`` beside this module."""
    with Path(__file__).with_name("methods.toml").open("rb") as file:
        words = tomllib.load(file)
    shared: dict[str, str] = {}
    for name, text in words.pop("shared").items():
        shared[name] = text.format_map(shared)
    return {
        key: {name: text.format_map(shared) for name, text in each.items()}
        for key, each in words.items()
    }


def _any_domain(_domain: Domain) -> str:
    return ""


def _any_model(_options: object, _card: ModelCard, _mapping: Mapping) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Method:
    """A way to search for discrimination; what is said of it stands in ``methods.toml``.

    Attributes
    ----------
    key : str
        Its name on the command line and in files.
    title : str
        Its name for people.
    sentence : str
        What it does, one plain sentence.
    in_texts, cannot_in_texts : str
        What it does in texts, where it also reads them, and what its results there cannot tell.
    paper : str
        Where it comes from.
    shows, cannot : str
        What its results can tell the auditor, and what they cannot.
    options : type[msgspec.Struct]
        Its parameters, annotated with limits; what is said of them stands in ``options.toml``.
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
    exhaustive : bool
        Whether it goes through the whole input domain.
    counts_rows : bool
        Whether it tests all rows of a table that is larger than memory.
    divides : bool
        Whether it divides protected numbers into bins, whose edges can be given.
    repeats : Repeats
        What it supposes of a model that is queried again.
    cost : str
        What it takes, in a few words; a query is one row sent to the model.
    short : str
        A shorter title, for legends, buttons and narrow tables, where the title is long.
    division : Division
        How it is divided into shards.
    """

    key: str
    options: type[msgspec.Struct]
    answers: QuestionKind = QuestionKind.EXAMPLES
    needs: tuple[Capability, ...] = (Capability.DECIDES,)
    obstacle: Callable[[Domain], str] = _any_domain
    finishes: bool = False
    unfit: Callable[[Any, ModelCard, Mapping], str] = _any_model
    reads: bool = False
    divides: bool = False
    exhaustive: bool = False
    counts_rows: bool = False
    repeats: Repeats = Repeats.ALIKE
    division: Division = Division()
    title: str = ""
    short: str = ""
    sentence: str = ""
    in_texts: str = ""
    cannot_in_texts: str = ""
    paper: str = ""
    shows: str = ""
    cannot: str = ""
    cost: str = ""

    def __post_init__(self) -> None:
        words = {"cost": "queries, up to the limits"} | _words().get(self.key, {})
        for name, text in words.items():
            if not getattr(self, name):
                object.__setattr__(self, name, text)

    @property
    def short_title(self) -> str:
        """Its name where there is little room."""
        return self.short or self.title

    @property
    def description(self) -> str:
        """What it does with rows, and with texts where it also reads them."""
        texts = f"In texts: {self.in_texts[:1].lower()}{self.in_texts[1:]}" if self.in_texts else ""
        return f"{self.sentence} {texts}".rstrip()

    @property
    def seeks(self) -> bool:
        """Whether it searches for pairs, and so can be kept to plausible ones."""
        return self.answers is QuestionKind.EXAMPLES and not self.exhaustive

    @property
    def command(self) -> str:
        """The command that runs it."""
        if self.answers is QuestionKind.REPAIR:
            return f"fairdesk repair --method {self.key.removeprefix(REPAIR)}"
        return f"fairdesk audit --method {self.key}"

    @property
    def needed(self) -> str:
        """What it needs, a sentence."""
        needs = "; ".join(NEEDS[each] for each in self.needs)
        return f"{needs[:1].upper()}{needs[1:]}." if needs else "No model: the data are enough."


#: Compiled once on a computer, here or on workers, and kept: no part of any run's time.
COMPILING, COMPILING_THERE = "compiling", "compiling-there"
UNTIMED = frozenset({COMPILING, COMPILING_THERE})
#: What a run does before its method has anything to report.
LOADING, PREPARING = "starting", "preparing"
#: What a run on a cluster does before its first part is dealt.
ON_WORKERS = "workers"
#: What comes before the method can begin: no part of the time limit of an audit.
NOT_BEGUN = UNTIMED | {LOADING, ON_WORKERS}
#: Phases in which rows are sent before the method itself begins.
BEFORE = frozenset({"preliminary", "baseline"})

_STAGES = {
    "": "starting",
    LOADING: "loading the method",
    COMPILING: "compiling, once on this computer",
    COMPILING_THERE: "preparing workers: compiling, once on each computer",
    PREPARING: "preparing the data",
    ON_WORKERS: "opening the model on the workers",
    "preliminary": "checking the model on data rows",
    "baseline": "sampling at random, for comparison",
    # searches for pairs
    "global": "searching from data rows",
    "local": "searching near the pairs found",
    "uniform": "sampling",
    "directed": "following decision paths",
    "seeds": "searching from data rows",
    "undirected": "following other decision paths",
    "support": "counting all rows",
    "sizes": "comparing gradient estimates",
    # shares
    "random": "sampling",
    "exhaustive": "counting all combinations",
    # certification
    "looking": "reading the model’s structure",
    "rows": "querying the data rows",
    "certify": "bounding regions",
    "dividing": "dividing regions",
    "counting": "counting combinations",
    "neighbourhoods": "bounding around the data rows",
    "rates": "bounding the rates of groups",
    "attributes": "certifying single attributes",
    "examples": "looking for examples",
    "estimating": "estimating the undecided rest",
    "writing": "writing the proof certificate",
    "fairquant": "bounding regions",
    "smt": "solving",
    # groups
    "labels": "counting recorded outcomes",
    "answers": "querying the model",
    "decisions": "counting decisions",
    "asking": "querying the model",
    "reading": "reading the texts",
    "confirming": "re-querying the model",
    "fitting": "fitting subgroups",
    "samples": "sampling",
    "data": "querying the data rows",
    "rules": "listing subgroups",
    # mitigation
    "splitting": "dividing the rows",
    "labelling": "labelling augmentation rows",
    "imported": "measuring the original model",
    "retraining": "training the retrained baseline",
    "comparing": "training a comparison method",
    "proving": "certifying, before and after",
    "saving": "writing the models",
}


def stage(phase: str) -> str:
    """Return in words what a run is doing; a phase that has no words of its own as it is."""
    return _STAGES.get(phase, phase)
