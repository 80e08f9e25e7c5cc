"""The methods there are: what each finds, what it cannot tell, and its parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import msgspec
import numpy as np

from fairdesk.audit.catalogue.options import options_of
from fairdesk.certify import certify
from fairdesk.certify.baselines import fairify, fairquant
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.errors import SpecError
from fairdesk.groups import testsgd
from fairdesk.groups.baselines import fairfictplay, themis_groups
from fairdesk.groups.metrics import measuring
from fairdesk.groups.tabular.rules import MOST_NAMES
from fairdesk.individual.searches import (
    adf,
    aequitas,
    diagnostic,
    eidig,
    maft,
    quick,
    symbolic,
    uniform,
)
from fairdesk.individual.shares import enumeration, estimate, repeats, themis
from fairdesk.mitigate import options as repairs
from fairdesk.mitigate.methods import aequitas as retraining
from fairdesk.mitigate.methods import testsgd as mitigation
from fairdesk.models.model import Capability, Mapping, ModelCard
from fairdesk.repeatability import Repeatability
from fairdesk.results.events import Event, Rows

#: ``search(context, people, options, rng)``; the options are of the method's own class. One about
#: groups works with a `fairdesk.groups.context.GroupContext` instead of a `SearchContext`, a repair
#: with a `fairdesk.mitigate.context.MitigationContext`.
Search = Callable[[Any, Rows, Any, np.random.Generator], Iterator[Event]]


class Answers(StrEnum):
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
ABOUT_GROUPS = (Answers.GROUPS, Answers.RATES)


def _any_domain(_domain: Domain) -> str:
    return ""


def _any_model(_options: object, _card: ModelCard, _mapping: Mapping) -> str:
    return ""


def _no_groups(domain: Domain) -> str:
    return "" if domain.grouping else "no attribute is protected, so there are no groups to compare"


def _none_to_invent(domain: Domain) -> str:
    if domain.grouping and not domain.protected.size:
        return "the model is not given any protected attribute, so no decision can hang on one"
    return _no_groups(domain)


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
    search : Search
        The generator of its events.
    answers : Answers
        The kind of question.
    needs : tuple[Capability, ...]
        What a model must be able to do.
    obstacle : callable
        Says of a domain in a clause why the method cannot serve it; empty when it can.
    finishes : bool
        Whether it is told to come to an end rather than left where it is: it then says what it
        came to, and can be gone on with.
    loops : tuple[str, ...]
        Modules of compiled loops that it needs, beside those that every search does: to compile
        them takes a minute or two, once.
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
    search: Search
    answers: Answers = Answers.EXAMPLES
    needs: tuple[Capability, ...] = (Capability.DECIDES,)
    obstacle: Callable[[Domain], str] = _any_domain
    finishes: bool = False
    loops: tuple[str, ...] = ()
    unfit: Callable[[Any, ModelCard, Mapping], str] = _any_model
    reads: bool = False
    divides: bool = False
    repeats: Repeats = Repeats.ALIKE


_EXAMPLES_CANNOT = "How common it is; nor that there is none where it found none."
_EXAMPLES_TELL = (
    "That discrimination exists, with examples: each is asked about again before it is shown."
)
_AEQUITAS = "Udeshi, Arora and Chattopadhyay, “Automated Directed Fairness Testing”, ASE 2018"
_AEQUITAS_CANNOT = (
    "How common it is; nor that there is none where it found none. It starts from invented people, "
    "most of them unlike anybody. Unless “Chance of going on” is 1, as in the paper, it goes back "
    "from people who are treated fairly."
)

METHODS: dict[str, Method] = {
    method.key: method
    for method in (
        Method(
            key="quick",
            title="Quick audit",
            sentence="Goes through everybody where the domain is small. Else it measures how "
            "common discrimination is, and then searches in several ways in turn until a round "
            "teaches nothing new.",
            paper="A mix of MAFT or EIDIG, Aequitas and its estimate, each named in its place",
            tells="That discrimination exists, with examples of many kinds, and about how common "
            "it is among all the people who could be.",
            cannot="That there is none where it found none, unless it went through everybody; nor "
            "every kind of example there is.",
            options=quick.QuickOptions,
            search=quick.search,
        ),
        Method(
            key="maft",
            title="MAFT",
            sentence="Starts from real people of the data, walks towards the edge between two "
            "decisions, and searches around every discriminatory person it finds.",
            paper="Wang et al., “MAFT: Efficient Model-Agnostic Fairness Testing for Deep Neural "
            "Networks via Zero-Order Gradient Search”, ICSE 2024",
            tells=_EXAMPLES_TELL,
            cannot=_EXAMPLES_CANNOT,
            options=maft.MaftOptions,
            search=maft.search,
        ),
        Method(
            key="eidig",
            title="EIDIG",
            sentence="Searches like MAFT, but takes the slope of the decision from inside the "
            "model, where MAFT has to estimate it from answers.",
            paper="Zhang, Zhang and Zhang, “Efficient White-Box Fairness Testing through Gradient "
            "Search”, ISSTA 2021",
            tells=_EXAMPLES_TELL,
            cannot=_EXAMPLES_CANNOT,
            options=eidig.EidigOptions,
            search=eidig.search,
            needs=(Capability.GRADIENTS,),
        ),
        Method(
            key="adf",
            title="ADF",
            sentence="Starts from real people and climbs the model’s loss towards the edge between "
            "two decisions, then searches around every discriminatory person it finds, with a new "
            "slope at every step.",
            paper="Zhang et al., “White-box Fairness Testing through Adversarial Sampling”, "
            "ICSE 2020",
            tells=_EXAMPLES_TELL,
            cannot=_EXAMPLES_CANNOT,
            options=adf.AdfOptions,
            search=adf.search,
            needs=(Capability.GRADIENTS,),
        ),
        Method(
            key="aequitas-random",
            title="Aequitas, random",
            sentence="Invents people at random, and takes random steps around each of them who is "
            "discriminated against.",
            paper=_AEQUITAS,
            tells=_EXAMPLES_TELL,
            cannot=_AEQUITAS_CANNOT,
            options=aequitas.RandomOptions,
            search=aequitas.random,
        ),
        Method(
            key="aequitas-semi",
            title="Aequitas, semi-directed",
            sentence="Searches like random Aequitas, and learns on the way whether to raise or "
            "lower each attribute.",
            paper=_AEQUITAS,
            tells=_EXAMPLES_TELL,
            cannot=_AEQUITAS_CANNOT,
            options=aequitas.SemiDirectedOptions,
            search=aequitas.semi_directed,
        ),
        Method(
            key="aequitas-full",
            title="Aequitas, fully-directed",
            sentence="Searches like semi-directed Aequitas, and also learns which attributes to "
            "change.",
            paper=_AEQUITAS,
            tells=_EXAMPLES_TELL,
            cannot=_AEQUITAS_CANNOT,
            options=aequitas.FullyDirectedOptions,
            search=aequitas.fully_directed,
        ),
        Method(
            key="sg",
            title="Symbolic Generation",
            sentence="Explains one person after the other by a small decision tree, and goes to "
            "whoever is on the other side of one of its conditions, while your constraints hold.",
            paper="Agarwal et al., “Automated Test Generation to Detect Individual Discrimination "
            "in AI Models”, 2018; “Black Box Fairness Testing of Machine Learning Models”, "
            "ESEC/FSE 2019",
            tells=_EXAMPLES_TELL,
            cannot=f"{_EXAMPLES_CANNOT} Nearly all rows are spent on explanations: for as many "
            "rows, uniform sampling mostly finds more.",
            options=symbolic.SymbolicOptions,
            search=symbolic.search,
        ),
        Method(
            key="uniform",
            title="Uniform sampling",
            sentence="Invents people at random, each as likely as any other, and checks every one "
            "of them.",
            paper="The yardstick beside which every search is judged",
            tells="That discrimination exists, with examples spread over all the people who could "
            "be.",
            cannot="Much about real people: most of those invented at random are unlike anybody. "
            "Rare discrimination may be missed altogether.",
            options=uniform.UniformOptions,
            search=uniform.search,
        ),
        Method(
            key="enumerate",
            title="Everybody",
            sentence="Asks about every person that the allowed values make, one after the other, "
            "and counts those who are discriminated against.",
            paper="The definition itself, with nothing left to chance",
            tells="Exactly how many people of the domain are discriminated against, and what share "
            "that is. None found means that there are none. Attributes that are kept as they are "
            "have every combination of values that occurs in the data.",
            cannot="How common it is among real people: most of those whom the allowed values make "
            "are unlike anybody. A run that is stopped tells no share, for those who come first "
            "are not like the others.",
            options=enumeration.EnumerateOptions,
            search=enumeration.search,
            obstacle=enumeration.obstacle,
        ),
        Method(
            key="estimate",
            title="Estimate of the share",
            sentence="Draws people at random, counts how many are discriminated against, and says "
            "how far chance may have led that share astray.",
            paper="Udeshi, Arora and Chattopadhyay, “Automated Directed Fairness Testing” "
            "(Aequitas), ASE 2018; with the intervals of Clopper and Pearson, and of Robbins",
            tells="What share of people are discriminated against, each with an interval: of all "
            "people of the domain, each as likely as any other; of the real people in the data; "
            "and of real people of whom a few attributes were moved. It may be stopped at any "
            "time: the anytime interval still holds.",
            cannot="The share of the domain is none of real people: most of those drawn at random "
            "are unlike anybody. What it says of the data’s people holds for others only if they "
            "are like these. Where only people near the data may be asked about, every share is "
            "of those.",
            options=estimate.EstimateOptions,
            search=estimate.search,
            answers=Answers.SHARE,
        ),
        Method(
            key="repeats",
            title="Estimate with repeats",
            sentence="Draws individuals at random, queries each and one counterfactual twice, and "
            "compares how often the decision changes between the two with how often it changes "
            "between two queries of the same row.",
            paper="The unbiased estimate of the squared difference of two probabilities from two "
            "independent draws of each; with the intervals of Robbins",
            tells="For a model whose answers are random in part: whether the probability of the "
            "favourable decision depends on protected attributes, and at least for what share of "
            "individuals it does.",
            cannot="Which individuals these are. It supposes that every query is answered "
            "independently of the others. A small change of many probabilities shows little. For "
            "a model that always answers alike, “Estimate of the share” tells more.",
            options=repeats.RepeatsOptions,
            search=repeats.search,
            repeats=Repeats.INDEPENDENT,
            answers=Answers.SHARE,
        ),
        Method(
            key="themis",
            title="THEMIS",
            sentence="Asks about random people, none of them twice, until it is known for every "
            "set of protected attributes how much the decision hangs on it.",
            paper="Galhotra, Brun and Meliou, “Fairness Testing: Testing Software for "
            "Discrimination”, ESEC/FSE 2017",
            tells="For each set of protected attributes, with intervals: the share of people whose "
            "decision changes when these alone change (causal), and how far the favourable rates "
            "of two groups are apart (group). Sets that hold another above the threshold are left "
            "out: they score at least as much.",
            cannot="How real people fare: those asked about are drawn at random from the domain, "
            "each as likely as any other. Each interval holds by itself, not all of them "
            "together.",
            options=themis.ThemisOptions,
            search=themis.search,
            answers=Answers.SHARE,
        ),
        Method(
            key="certify",
            title="Certify",
            sentence="Bounds the model over boxes of people, divides those that stay undecided, "
            "and counts everybody one by one where that is quicker.",
            paper="The steps of FairQuant (ICSE 2025) with backward bounds (CROWN, NeurIPS 2018), "
            "best boxes first, and counting inside undecided boxes",
            tells="At least how many of all possible people are treated alike, and at least how "
            "many are not: proven, for everybody in the domain, with the regions where that is so. "
            "What stays undecided is estimated apart. It may be stopped and gone on with.",
            cannot="How common it is among real people: most of those whom the allowed values make "
            "are unlike anybody; the share of the population supposes that attributes are "
            "independent. Of a model that cannot be looked into it gives an estimate: statistical, "
            "not certified.",
            options=certify.CertifyOptions,
            search=certify.search,
            answers=Answers.PROOF,
            finishes=True,
            loops=(
                "fairdesk.certify.domain.box_kernels",
                "fairdesk.certify.bounds.bound_kernels",
                "fairdesk.certify.counting.exhaustive_kernels",
            ),
        ),
        Method(
            key="fairquant",
            title="FairQuant",
            sentence="Certifies as its paper does: boxes are bounded by symbolic intervals and "
            "halved, one after the other, down to a fixed depth.",
            paper="Kim, Wang and Wang, “FairQuant: Certifying and Quantifying Fairness of Deep "
            "Neural Networks”, ICSE 2025",
            tells="At least how many of all possible people are treated alike, and at least how "
            "many are not: proven.",
            cannot="As much as Certify in the same time: it is here to be compared with. What it "
            "does not decide is left so.",
            options=fairquant.FairQuantOptions,
            search=fairquant.search,
            answers=Answers.PROOF,
            needs=(Capability.LAYERS,),
            finishes=True,
            loops=("fairdesk.certify.baselines.fairquant_kernels",),
        ),
        Method(
            key="fairify",
            title="Fairify",
            sentence="Divides the domain into parts, and asks a solver of each whether anybody in "
            "it is treated unlike.",
            paper="Biswas and Rajan, “Fairify: Fairness Verification of Neural Networks”, "
            "ICSE 2023",
            tells="Which parts of the domain are proven to treat everybody alike, in exact "
            "arithmetic, and of others one person each who is not.",
            cannot="How many are treated unlike in a part where somebody is. It is slow: most "
            "parts of a large domain stay unknown.",
            options=fairify.FairifyOptions,
            search=fairify.search,
            answers=Answers.PROOF,
            needs=(Capability.LAYERS,),
            finishes=True,
        ),
        Method(
            key="diagnose",
            title="Does the estimate hold?",
            sentence="Tries several sizes of the small changes from which MAFT estimates where "
            "to go, and compares the estimates with the model’s own slopes where it gives them.",
            paper="Wang et al., “MAFT: Efficient Model-Agnostic Fairness Testing for Deep Neural "
            "Networks via Zero-Order Gradient Search”, ICSE 2024, first and third question",
            tells="How much a search by estimated slopes can be relied on for this model, and "
            "with which perturbation size it finds most.",
            cannot="Whether anybody is discriminated against, or how many: what its short "
            "searches find is counted only, and not kept.",
            options=diagnostic.DiagnoseOptions,
            search=diagnostic.search,
            answers=Answers.DIAGNOSIS,
        ),
        Method(
            key="testsgd",
            title="TestSGD",
            sentence="Tries every rule about protected attributes that describes enough people, "
            "and asks the model about them, each moved a little, until it is known how they fare "
            "beside all others. In a text it compares sentences that name different people.",
            paper="Zhang et al., “TestSGD: Interpretable Testing of Neural Networks Against Subtle "
            "Group Discrimination”, ACM TOSEM 2023",
            tells="Which groups, also of several attributes together, get a decision most unlike "
            "everybody else: rules to read, with an error bound, and corrected for how many were "
            "tried.",
            cannot="Why a group fares so: the people in it differ from others in more than what is "
            "protected. Groups with less than the least support, or fewer than the least rows, are "
            "not looked at.",
            options=testsgd.TestSgdOptions,
            search=testsgd.search,
            repeats=Repeats.INDEPENDENT,
            unfit=testsgd.unfit,
            answers=Answers.GROUPS,
            reads=True,
            divides=True,
        ),
        Method(
            key="groups",
            title="Group figures",
            sentence="Counts how each protected group fares, and each intersection of groups: by "
            "the outcomes in the data, and by the model’s decisions about the same people.",
            paper="29 CFR 1607.4(D); 6 RCNY 5-301 (rule of July 2023); ISO/IEC TR 24027:2021",
            tells="Rates with intervals, impact ratios and the four-fifths screening line, tests, "
            "shortfalls; with labels also error rates and calibration by group.",
            cannot="Whether a difference is discrimination in law, or where it comes from; what is "
            "not in the data.",
            options=measuring.MeasureOptions,
            search=measuring.search,
            repeats=Repeats.ANY,
            answers=Answers.RATES,
            needs=(),
            obstacle=_no_groups,
            divides=True,
        ),
        Method(
            key="themis-groups",
            title="THEMIS group scores",
            sentence="Asks about random people, and compares the favourable rates of the groups "
            "that each set of protected attributes makes.",
            paper="Galhotra, Brun and Meliou, “Fairness Testing: Testing Software for "
            "Discrimination”, ESEC/FSE 2017",
            tells="For each set of protected attributes the two groups whose rates are farthest "
            "apart, among invented people, with an interval.",
            cannot="How real people fare: those asked about are drawn at random from the domain. "
            "It is here to be compared with: it knows groups of single values only.",
            options=themis_groups.ThemisGroupsOptions,
            search=themis_groups.search,
            repeats=Repeats.INDEPENDENT,
            answers=Answers.GROUPS,
            obstacle=_none_to_invent,
        ),
        Method(
            key="fairfictplay",
            title="Linear subgroups",
            sentence="Looks for the subgroup, described by weights of the protected attributes, "
            "whose rate is farthest from everybody’s, as the auditor of FairFictPlay does.",
            paper="Kearns, Neel, Roth and Wu, “Preventing Fairness Gerrymandering: Auditing and "
            "Learning for Subgroup Fairness”, ICML 2018",
            tells="A subgroup that no single rule describes, with its rate among people who were "
            "held out.",
            cannot="That there is no worse one: its oracle is a heuristic. Weights are harder to "
            "read than rules.",
            options=fairfictplay.FairFictPlayOptions,
            search=fairfictplay.search,
            repeats=Repeats.INDEPENDENT,
            answers=Answers.GROUPS,
            obstacle=_no_groups,
        ),
        Method(
            key="repair-aequitas",
            title="Retrain with the pairs found",
            sentence="Labels discriminatory people anew, adds ever greater portions of them to the "
            "training data, and retrains the model while that helps.",
            paper="Udeshi, Arora and Chattopadhyay, “Automated Directed Fairness Testing” "
            "(Aequitas), ASE 2018, Algorithm 5",
            tells="Which rows to add, and how much less the retrained model discriminates, beside "
            "what that costs in accuracy: each with an interval, on rows that were never trained "
            "on.",
            cannot="That the labels of added rows are right, or that no other group fares worse "
            "afterwards. A fall within its interval may be chance: it is not counted as one.",
            options=repairs.AequitasOptions,
            search=retraining.search,
            answers=Answers.REPAIR,
            finishes=True,
        ),
        Method(
            key="repair-testsgd",
            title="Retrain against a rule set",
            sentence="Adds samples of people in a group, with the label opposite to the one they "
            "get too often, in several amounts, and retrains the model with each.",
            paper="Zhang et al., “TestSGD: Interpretable Testing of Neural Networks Against Subtle "
            "Group Discrimination”, ACM TOSEM 2023, mitigation",
            tells="Which rows to add so that the rates in the group and outside come nearer to "
            "each other, beside what that costs in accuracy, on rows that were never trained on.",
            cannot="Whether another group fares worse afterwards, unless it is searched for again. "
            "The added labels are opposite by rule, not by merit.",
            options=repairs.TestSgdOptions,
            search=mitigation.search,
            answers=Answers.REPAIR,
            finishes=True,
            reads=True,
        ),
    )
}


#: Why a method is off, by what the model cannot do.
_LACKS = {
    Capability.DECIDES: "there is no model to ask, only a table of its decisions",
    Capability.SCORES: "the model answers with a decision only, and this method needs a score",
    Capability.GRADIENTS: "the model cannot tell how its score changes with its inputs",
    Capability.LAYERS: "the layers of the model are not known",
    Capability.TREES: "the model is no tree, nor several",
    Capability.TEXT: "the model does not read text",
}


def why_off(
    method: Method, card: ModelCard, domain: Domain | None = None, *, text: bool = False
) -> str:
    """Say in a sentence why a method is off for a model, or a domain; empty when it is not.

    ``text``: whether it is to compare terms in a text.
    """
    lacking = [_LACKS[need] for need in method.needs if need not in card.can]
    lacking += filter(None, (unrepeatable(method, card.repeatability, text=text),))
    if domain is not None:
        # what repairs a rule set works with the people, or the texts, in it
        repairs_groups = method.answers is Answers.REPAIR and method.reads
        about_groups = method.answers in ABOUT_GROUPS or repairs_groups
        obstacles = ("" if about_groups else domain.obstacle, method.obstacle(domain))
        lacking += filter(None, obstacles)
    return f"{method.title} is off: {'; '.join(lacking)}." if lacking else ""


def unrepeatable(method: Method, found: Repeatability | None, *, text: bool = False) -> str:
    """Say in a clause why a method is off for a model that is not repeatable; empty when it is not.

    Parameters
    ----------
    method : Method
        The method.
    found : Repeatability, optional
        What came of querying rows again.
    text : bool
        Whether it is to compare terms in a text: then the same sentence is queried more than once.
    """
    if found is None or found.holds or method.repeats is Repeats.ANY:
        return ""
    if found.batch:
        return "the model’s answer to a row depends on the other rows queried together with it"
    if method.repeats is Repeats.INDEPENDENT and not text:
        return ""
    return "the same row does not always get the same answer from the model"


def remark(method: Method, card: ModelCard, domain: Domain | None = None) -> str:
    """Say in a sentence what is special about a method on a model or domain; mostly empty."""
    many = [
        f"“{each.name}” has {len(each.values):,} names"
        for each in (domain.grouping if domain is not None else ())
        if each.kind is Kind.NOMINAL and len(each.values) > MOST_NAMES
    ]
    if method.key == "testsgd" and many:
        return (
            f"{', '.join(many)}. All sets of names are tried of {MOST_NAMES} at most; of more: "
            "single names, all but one, and those with the highest or the lowest rates together."
        )
    if card.repeatability is not None and not card.repeatability.holds:
        return (
            "The model is not repeatable: each decision is one of several that the same row may "
            "get. Every query is counted as it was answered."
        )
    if method.key == "maft" and card.scores == "labels":
        return (
            "The model answers with a decision only, not with a score: MAFT then works on one-hot "
            "outputs, as its paper proposes, and sees a slope only right at the limit."
        )
    return ""


def method_named(key: str) -> Method:
    """Return a method.

    Raises
    ------
    SpecError
        When there is none of that name; the message lists those there are.
    """
    try:
        return METHODS[key]
    except KeyError:
        raise SpecError(
            f"There is no method “{key}”.", remedy=f"The methods are: {', '.join(METHODS)}."
        ) from None


def parse_options(method: str, raw: AnyMapping[str, object]) -> msgspec.Struct:
    """Make a method's options of names and values; those left out have their default.

    Parameters
    ----------
    method : str
        A key of `METHODS`.
    raw : mapping
        Numbers, or texts that are numbers.

    Raises
    ------
    SpecError
        For an unknown method or name, or a value that does not fit, with what would.
    """
    kind = method_named(method).options
    known = {each.name: each for each in options_of(kind)}
    values: dict[str, object] = {}
    for name, value in raw.items():
        if name not in known:
            raise SpecError(
                f"The method “{method}” has no option “{name}”.",
                remedy=f"Its options are: {', '.join(known)}.",
            )
        try:
            values[name] = known[name].read(value)
        except msgspec.ValidationError:
            raise SpecError(
                f"The option “{name}” cannot be “{value}”.", remedy=f"Give {known[name].takes}."
            ) from None
    return kind(**values)
