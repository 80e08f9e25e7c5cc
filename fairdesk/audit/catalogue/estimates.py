"""What estimates how common individual discrimination is."""

from __future__ import annotations

from fairdesk.audit.catalogue.method import Divides, Division, Method, QuestionKind, Repeats
from fairdesk.individual.shares.options import EstimateOptions, RepeatsOptions, ThemisOptions

METHODS = (
    Method(
        key="estimate",
        title="Random-sample estimate",
        sentence=(
            "Estimates from random samples the share of instances whose decision changes, with "
            "confidence intervals."
        ),
        paper=(
            "Udeshi, Arora and Chattopadhyay, “Automated Directed Fairness Testing” (Aequitas), "
            "ASE 2018; with the confidence intervals of Clopper and Pearson, and of Robbins"
        ),
        tells=(
            "The share of instances whose decision changes, each with a confidence interval: "
            "among uniform random samples of the input domain, among the individuals in the "
            "data, and among perturbed data rows. It may be stopped at any time: the "
            "anytime-valid interval remains valid."
        ),
        cannot=(
            "The share of the input domain is not a prevalence among real individuals: most "
            "combinations drawn at random do not resemble a real one. The share among the "
            "individuals in the data applies to others only if they are similar. Where only "
            "instances near the data may be tested, every share covers those instances only."
        ),
        options=EstimateOptions,
        counts_rows=True,
        division=Division(Divides.DRAWS),
        cost="queries for the instances drawn",
        answers=QuestionKind.SHARE,
    ),
    Method(
        key="repeats",
        title="Random-sample estimate with repeated queries",
        short="Repeated queries",
        sentence=(
            "Draws individuals at random, queries each and one counterfactual twice, and "
            "compares how often the decision differs between the two with how often it differs "
            "between two queries of the same row."
        ),
        paper=(
            "The unbiased estimate of the squared difference of two probabilities from two "
            "independent draws of each; with the confidence intervals of Robbins"
        ),
        tells=(
            "For a model whose outputs are partly random: whether the probability of the "
            "favourable decision depends on protected attributes, and for at least what share of "
            "individuals it does."
        ),
        cannot=(
            "Which individuals these are. It assumes that the outputs of different queries are "
            "independent. A small change in many probabilities has little effect on the result. "
            "For a repeatable model, “Random-sample estimate” shows more."
        ),
        options=RepeatsOptions,
        division=Division(Divides.DRAWS),
        cost="four queries per pair drawn",
        repeats=Repeats.INDEPENDENT,
        answers=QuestionKind.SHARE,
    ),
    Method(
        key="themis",
        title="Causal and group discrimination scores (THEMIS)",
        short="THEMIS",
        sentence=(
            "Tests random instances, none of them twice, to estimate for every set of protected "
            "attributes how strongly the decision depends on it."
        ),
        paper="Galhotra, Brun and Meliou, “Fairness Testing: Testing Software for "
        "Discrimination”, ESEC/FSE 2017",
        tells=(
            "For each set of protected attributes, with confidence intervals: the share of "
            "instances whose decision changes when only these attributes change (causal score), "
            "and the largest difference in selection rates between two groups (group score). "
            "Sets that contain another set above the threshold are omitted: their score is at "
            "least as high."
        ),
        cannot=(
            "Outcomes of real individuals: the instances are a uniform random sample of the "
            "input domain. Each interval is valid by itself, not all of them together."
        ),
        options=ThemisOptions,
        division=Division(Divides.DRAWS),
        cost="queries, up to the precision wanted",
        answers=QuestionKind.SHARE,
    ),
)
