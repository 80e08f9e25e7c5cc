"""What compares groups of people."""

from __future__ import annotations

from fairdesk.audit.catalogue.method import Divides, Division, Method, QuestionKind, Repeats
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
        return (
            "the model does not receive any protected attribute, so its decision cannot "
            "depend directly on one"
        )
    return _no_groups(domain)


def _unfit(options: TestSgdOptions, card: ModelCard, mapping: Mapping) -> str:
    """Say why mean scores cannot be compared, where they are asked for; else empty."""
    if options.outcome != "score":
        return ""
    if card.scores == "probabilities" and mapping.threshold is None:
        return ""
    return (
        "Mean scores cannot be compared for this model: its outputs are not probabilities, "
        "or they were shifted because its decision threshold is not one half. Compare the "
        "shares of decisions instead."
    )


METHODS = (
    Method(
        key="testsgd",
        title="Subgroup discovery (TestSGD)",
        short="Subgroup discovery",
        sentence=(
            "Tests every rule-defined subgroup above the minimum support on perturbed data rows "
            "and ranks them by gap in selection rate to all others."
        ),
        in_texts=(
            "Replaces the identity terms of texts by others of their category, and ranks terms by "
            "how much the decisions on the same texts differ."
        ),
        paper="Zhang et al., “TestSGD: Interpretable Testing of Neural Networks Against Subtle "
        "Group Discrimination”, ACM TOSEM 2023",
        tells=(
            "Which subgroups, also of several attributes together, have the largest gap in "
            "decisions to all others: readable rules, with an error bound, corrected for the "
            "number of subgroups tested."
        ),
        cannot=(
            "Why a subgroup differs: its members may differ from all others in more than the "
            "protected attributes. Subgroups below the minimum support, or with fewer than the "
            "minimum rows, are not tested."
        ),
        cannot_in_texts=(
            "How often texts with these terms occur, and what terms that are not listed would "
            "change. Combinations of terms below the minimum support are not tested."
        ),
        options=TestSgdOptions,
        division=Division(Divides.DRAWS, why="in texts, into blocks of sentences"),
        cost="queries, up to the precision wanted",
        repeats=Repeats.INDEPENDENT,
        unfit=_unfit,
        answers=QuestionKind.GROUPS,
        reads=True,
        divides=True,
    ),
    Method(
        key="groups",
        title="Group metrics",
        sentence=(
            "Calculates selection rates, impact ratios and tests, and error rates where labels "
            "exist, for every protected group and intersectional subgroup: from the outcomes in "
            "the data, and from the decisions for the same individuals."
        ),
        paper="29 CFR 1607.4(D); ISO/IEC TR 24027:2021",
        tells=(
            "Rates with confidence intervals, impact ratios and the four-fifths threshold (a "
            "screening rule), tests, shortfalls; where labels exist, also error rates and "
            "calibration by group."
        ),
        cannot=(
            "Whether a difference is discrimination in law, or what causes it; anything that is "
            "not in the data."
        ),
        options=MeasureOptions,
        division=Division(Divides.RANGES),
        cost="one query per data row",
        repeats=Repeats.ANY,
        answers=QuestionKind.RATES,
        needs=(),
        obstacle=_no_groups,
        divides=True,
    ),
    Method(
        key="themis-groups",
        title="Group discrimination scores (THEMIS)",
        short="THEMIS group scores",
        sentence=(
            "Tests random instances and compares the selection rates of the groups that each set "
            "of protected attributes defines."
        ),
        paper="Galhotra, Brun and Meliou, “Fairness Testing: Testing Software for "
        "Discrimination”, ESEC/FSE 2017",
        tells=(
            "For each set of protected attributes, the two groups with the largest difference in "
            "selection rates, among random instances, with a confidence interval."
        ),
        cannot=(
            "Outcomes of real individuals: the instances are drawn at random from the input "
            "domain. It is included for comparison and covers groups of single values only."
        ),
        options=ThemisGroupsOptions,
        division=Division(Divides.DRAWS),
        cost="queries, up to the precision wanted",
        repeats=Repeats.INDEPENDENT,
        answers=QuestionKind.GROUPS,
        obstacle=_none_to_invent,
    ),
    Method(
        key="fairfictplay",
        title="Linear subgroup audit (FairFictPlay)",
        short="Linear subgroups",
        sentence=(
            "Searches for the subgroup, defined by weights of the protected attributes, whose "
            "rate differs most from the overall rate, as the auditor in FairFictPlay does."
        ),
        paper="Kearns, Neel, Roth and Wu, “Preventing Fairness Gerrymandering: Auditing and "
        "Learning for Subgroup Fairness”, ICML 2018",
        tells="A subgroup that no single rule describes, with its rate among held-out individuals.",
        cannot=(
            "That no subgroup has a larger gap: its oracle is a heuristic. Weights are harder to "
            "read than rules."
        ),
        options=FairFictPlayOptions,
        division=Division(why="each step depends on the one before"),
        cost="one query per data row",
        repeats=Repeats.INDEPENDENT,
        answers=QuestionKind.GROUPS,
        obstacle=_no_groups,
    ),
)
