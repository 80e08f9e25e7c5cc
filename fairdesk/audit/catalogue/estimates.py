"""What estimates how common individual discrimination is."""

from __future__ import annotations

from fairdesk.audit.catalogue.method import Method, QuestionKind, Repeats
from fairdesk.individual.shares.options import EstimateOptions, RepeatsOptions, ThemisOptions

METHODS = (
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
        options=EstimateOptions,
        answers=QuestionKind.SHARE,
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
        options=RepeatsOptions,
        repeats=Repeats.INDEPENDENT,
        answers=QuestionKind.SHARE,
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
        options=ThemisOptions,
        answers=QuestionKind.SHARE,
    ),
)
