"""Searches for individual discrimination, and what tells whether one can be relied on."""

from __future__ import annotations

from fairdesk.audit.catalogue.method import Method, QuestionKind
from fairdesk.individual.searches.options import (
    AdfOptions,
    DiagnoseOptions,
    EidigOptions,
    FullyDirectedOptions,
    MaftOptions,
    QuickOptions,
    RandomOptions,
    SemiDirectedOptions,
    SymbolicOptions,
    UniformOptions,
)
from fairdesk.individual.shares.finite import obstacle
from fairdesk.individual.shares.options import EnumerateOptions
from fairdesk.models.model import Capability

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

METHODS = (
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
        options=QuickOptions,
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
        options=MaftOptions,
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
        options=EidigOptions,
        needs=(Capability.GRADIENTS,),
    ),
    Method(
        key="adf",
        title="ADF",
        sentence="Starts from real people and climbs the model’s loss towards the edge between "
        "two decisions, then searches around every discriminatory person it finds, with a new "
        "slope at every step.",
        paper="Zhang et al., “White-box Fairness Testing through Adversarial Sampling”, ICSE 2020",
        tells=_EXAMPLES_TELL,
        cannot=_EXAMPLES_CANNOT,
        options=AdfOptions,
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
        options=RandomOptions,
    ),
    Method(
        key="aequitas-semi",
        title="Aequitas, semi-directed",
        sentence="Searches like random Aequitas, and learns on the way whether to raise or "
        "lower each attribute.",
        paper=_AEQUITAS,
        tells=_EXAMPLES_TELL,
        cannot=_AEQUITAS_CANNOT,
        options=SemiDirectedOptions,
    ),
    Method(
        key="aequitas-full",
        title="Aequitas, fully-directed",
        sentence="Searches like semi-directed Aequitas, and also learns which attributes to "
        "change.",
        paper=_AEQUITAS,
        tells=_EXAMPLES_TELL,
        cannot=_AEQUITAS_CANNOT,
        options=FullyDirectedOptions,
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
        options=SymbolicOptions,
    ),
    Method(
        key="uniform",
        title="Uniform sampling",
        sentence="Invents people at random, each as likely as any other, and checks every one "
        "of them.",
        paper="The yardstick beside which every search is judged",
        tells="That discrimination exists, with examples spread over all the people who could be.",
        cannot="Much about real people: most of those invented at random are unlike anybody. "
        "Rare discrimination may be missed altogether.",
        options=UniformOptions,
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
        options=EnumerateOptions,
        obstacle=obstacle,
    ),
)

#: How well the search by estimated slopes works on a model.
DIAGNOSIS = Method(
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
    options=DiagnoseOptions,
    answers=QuestionKind.DIAGNOSIS,
)
