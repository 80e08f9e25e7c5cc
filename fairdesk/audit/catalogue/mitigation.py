"""What repairs the model, and measures what that changes."""

from __future__ import annotations

from fairdesk.audit.catalogue.method import Method, QuestionKind
from fairdesk.mitigate.options import AequitasOptions, TestSgdOptions

METHODS = (
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
        options=AequitasOptions,
        answers=QuestionKind.REPAIR,
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
        options=TestSgdOptions,
        answers=QuestionKind.REPAIR,
        finishes=True,
        reads=True,
    ),
)
