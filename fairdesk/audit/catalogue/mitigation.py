"""What repairs the model, and measures what that changes."""

from __future__ import annotations

from fairdesk.audit.catalogue.method import Division, Method, QuestionKind
from fairdesk.mitigate.options import AequitasOptions, TestSgdOptions

METHODS = (
    Method(
        key="repair-aequitas",
        title="Mitigation: retrain with relabelled pairs",
        short="Mitigation (pairs)",
        sentence=(
            "Relabels discriminatory pairs, adds increasing numbers of them to the training "
            "data, and retrains the model with each, until results no longer improve after one "
            "that did."
        ),
        paper="Udeshi, Arora and Chattopadhyay, “Automated Directed Fairness Testing” "
        "(Aequitas), ASE 2018, Algorithm 5",
        tells=(
            "Which augmentation rows to use, by how much the share of instances whose decision "
            "changes falls, and the effect on accuracy: each with a confidence interval, on rows "
            "that were never used for training."
        ),
        cannot=(
            "That the labels of augmentation rows are correct, or that no other group has worse "
            "outcomes afterwards. A difference that is not statistically significant is not "
            "counted as an improvement."
        ),
        options=AequitasOptions,
        division=Division(why="one process trains the candidate models"),
        cost="trainings and queries",
        answers=QuestionKind.REPAIR,
        finishes=True,
    ),
    Method(
        key="repair-testsgd",
        title="Mitigation: retrain for a subgroup",
        short="Mitigation (subgroup)",
        sentence=(
            "Adds samples from a subgroup, with the label opposite to the decision that is too "
            "frequent there, in several amounts, and retrains the model with each."
        ),
        paper="Zhang et al., “TestSGD: Interpretable Testing of Neural Networks Against Subtle "
        "Group Discrimination”, ACM TOSEM 2023, mitigation",
        tells=(
            "Which augmentation rows reduce the gap between the rates of the subgroup and of all "
            "others, and the effect on accuracy, measured on rows that were not used for "
            "training."
        ),
        cannot=(
            "Whether another group has worse outcomes afterwards, unless subgroup discovery is "
            "run again. The added labels are opposite by rule, not by merit."
        ),
        options=TestSgdOptions,
        division=Division(why="one process trains the candidate models"),
        cost="trainings and queries",
        answers=QuestionKind.REPAIR,
        finishes=True,
        reads=True,
    ),
)
