"""What compares groups of people."""

from __future__ import annotations

from fairdesk.audit.catalogue.method import Method, QuestionKind, Repeats
from fairdesk.data.domain.domain import Domain
from fairdesk.groups.options import (
    FairFictPlayOptions,
    MeasureOptions,
    TestSgdOptions,
    ThemisGroupsOptions,
)
from fairdesk.models.model import Mapping, ModelCard


def _no_groups(domain: Domain) -> str:
    return "" if domain.grouping else "no attribute is protected, so there are no groups to compare"


def _none_to_invent(domain: Domain) -> str:
    if domain.grouping and not domain.protected.size:
        return "the model is not given any protected attribute, so no decision can hang on one"
    return _no_groups(domain)


def _unfit(options: TestSgdOptions, card: ModelCard, mapping: Mapping) -> str:
    """Say why mean scores cannot be compared, where they are asked for; else empty."""
    if options.outcome != "score":
        return ""
    if card.scores == "probabilities" and mapping.threshold is None:
        return ""
    return (
        "Mean scores cannot be compared for this model: its answers are no probabilities, or were "
        "moved so that another threshold than one half decides. Compare the shares of decisions "
        "instead."
    )


METHODS = (
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
        options=TestSgdOptions,
        repeats=Repeats.INDEPENDENT,
        unfit=_unfit,
        answers=QuestionKind.GROUPS,
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
        options=MeasureOptions,
        repeats=Repeats.ANY,
        answers=QuestionKind.RATES,
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
        options=ThemisGroupsOptions,
        repeats=Repeats.INDEPENDENT,
        answers=QuestionKind.GROUPS,
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
        options=FairFictPlayOptions,
        repeats=Repeats.INDEPENDENT,
        answers=QuestionKind.GROUPS,
        obstacle=_no_groups,
    ),
)
