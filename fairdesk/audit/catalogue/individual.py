"""Searches for individual discrimination, and what estimates how common it is."""

from __future__ import annotations

from fairdesk.audit.catalogue.method import Divides, Division, Method, QuestionKind, Repeats
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
from fairdesk.individual.shares.options import (
    EnumerateOptions,
    EstimateOptions,
    RepeatsOptions,
    ThemisOptions,
)
from fairdesk.models.model import Capability

ESTIMATES = (
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


_EXAMPLES_CANNOT = "How often such cases occur. Finding none does not show that none exist."
_FEW_PAIRS = (
    "Where few plausible pairs exist, it needs about as many queries per pair as random sampling "
    "of plausible instances does."
)
_EXAMPLES_TELL = (
    "Cases in which changing only protected attributes changes the decision. Each is "
    "re-queried before it is shown."
)
_AEQUITAS = (
    "Udeshi, Arora and Chattopadhyay, “Automated Directed Fairness Testing” (Aequitas; not the "
    "Aequitas toolkit of Saleiro et al.), ASE 2018"
)
_AEQUITAS_CANNOT = (
    "How often such cases occur. Finding none does not show that none exist. It starts from "
    "synthetic instances, most of which do not resemble any individual. Unless “Acceptance "
    "probability” is 1, the paper’s own search, it returns from instances whose decision is "
    f"unchanged, which finds many times as many. {_FEW_PAIRS}"
)

_FROM_ROWS = Division(Divides.ROWS, ("global_num",))
_DRAWN = Division(Divides.STREAMS, ("global_iteration_limit",))

METHODS = (
    Method(
        key="quick",
        title="Quick audit (automatic mix)",
        short="Quick audit",
        sentence=(
            "Alternates several searches until a round finds nothing new. Unless it is kept to "
            "plausible pairs, it tests the whole input domain instead if that is small, and else "
            "first estimates how often decisions change."
        ),
        paper=(
            "A mix of MAFT or EIDIG, the directed random search of Udeshi et al. (Aequitas) and "
            "its estimate"
        ),
        tells=(
            "Varied cases in which changing only protected attributes changes the decision, and "
            "an estimate of the share of the input domain whose decision changes."
        ),
        cannot=(
            "Finding none does not show that none exist, unless every combination was tested. It "
            f"does not find every type of case. {_FEW_PAIRS}"
        ),
        options=QuickOptions,
        division=Division(why="each round depends on what the rounds before found"),
    ),
    Method(
        key="maft",
        title="Gradient-guided search, black box (MAFT)",
        short="MAFT",
        sentence=(
            "Starts from data rows, follows estimated gradients to the decision boundary, and "
            "searches around each discriminatory instance. Needs model outputs only."
        ),
        paper="Wang et al., “MAFT: Efficient Model-Agnostic Fairness Testing for Deep Neural "
        "Networks via Zero-Order Gradient Search”, ICSE 2024",
        tells=_EXAMPLES_TELL,
        cannot=f"{_EXAMPLES_CANNOT} {_FEW_PAIRS}",
        options=MaftOptions,
        division=_FROM_ROWS,
    ),
    Method(
        key="eidig",
        title="Gradient-guided search, white box (EIDIG)",
        short="EIDIG",
        sentence=(
            "Searches like MAFT, but uses the model’s own gradients, which MAFT estimates from "
            "model outputs."
        ),
        paper="Zhang, Zhang and Zhang, “Efficient White-Box Fairness Testing through Gradient "
        "Search”, ISSTA 2021",
        tells=_EXAMPLES_TELL,
        cannot=f"{_EXAMPLES_CANNOT} {_FEW_PAIRS}",
        options=EidigOptions,
        division=_FROM_ROWS,
        needs=(Capability.GRADIENTS,),
    ),
    Method(
        key="adf",
        title="Adversarial-sampling search, white box (ADF)",
        short="ADF",
        sentence=(
            "Starts from data rows, follows the gradient of the model’s loss to the decision "
            "boundary, and searches around each discriminatory instance, recomputing the "
            "gradient at every step."
        ),
        paper="Zhang et al., “White-box Fairness Testing through Adversarial Sampling”, ICSE 2020",
        tells=_EXAMPLES_TELL,
        cannot=f"{_EXAMPLES_CANNOT} {_FEW_PAIRS}",
        options=AdfOptions,
        division=_FROM_ROWS,
        needs=(Capability.GRADIENTS,),
    ),
    Method(
        key="aequitas-random",
        title="Directed random search (Udeshi et al. 2018): random",
        short="Directed random search",
        sentence=(
            "Draws random instances from the input domain and takes random steps around each one "
            "whose decision changes."
        ),
        paper=_AEQUITAS,
        tells=_EXAMPLES_TELL,
        cannot=_AEQUITAS_CANNOT,
        options=RandomOptions,
        division=_DRAWN,
    ),
    Method(
        key="aequitas-semi",
        title="Directed random search (Udeshi et al. 2018): semi-directed",
        short="Semi-directed search",
        sentence=(
            "Searches like the random variant, and learns whether to increase or decrease each "
            "attribute."
        ),
        paper=_AEQUITAS,
        tells=_EXAMPLES_TELL,
        cannot=_AEQUITAS_CANNOT,
        options=SemiDirectedOptions,
        division=_DRAWN,
    ),
    Method(
        key="aequitas-full",
        title="Directed random search (Udeshi et al. 2018): fully directed",
        short="Fully directed search",
        sentence=(
            "Searches like the semi-directed variant, and also learns which attributes to change."
        ),
        paper=_AEQUITAS,
        tells=_EXAMPLES_TELL,
        cannot=_AEQUITAS_CANNOT,
        options=FullyDirectedOptions,
        division=_DRAWN,
    ),
    Method(
        key="sg",
        title="Symbolic generation",
        sentence=(
            "Explains one instance after the other by a local decision tree (LIME) and moves to "
            "instances on the other side of one of its conditions, within your constraints (z3)."
        ),
        paper="Agarwal et al., “Automated Test Generation to Detect Individual Discrimination "
        "in AI Models”, 2018; “Black Box Fairness Testing of Machine Learning Models”, "
        "ESEC/FSE 2019",
        tells=_EXAMPLES_TELL,
        cannot=f"{_EXAMPLES_CANNOT} Nearly all queries are used for explanations, as in the paper: "
        "thousands per pair. With its own samples (“Explanation”), 100 of them, a plausible pair "
        "took 2 to 25 times as many queries as in random sampling of plausible instances in most "
        "measurements. Each run that is limited to plausible pairs reports both.",
        options=SymbolicOptions,
        division=Division(Divides.ROWS, ("global_num", "max_iter")),
    ),
    Method(
        key="uniform",
        title="Random sampling (baseline)",
        short="Random sampling",
        sentence=(
            "Tests instances drawn uniformly at random from the input domain. The baseline for "
            "other searches."
        ),
        paper="The baseline with which every search is compared",
        tells=(
            "Cases in which changing only protected attributes changes the decision, spread over "
            "the input domain."
        ),
        cannot=(
            "Much about real individuals: most random instances do not resemble a real one. Rare "
            "cases may be missed entirely."
        ),
        options=UniformOptions,
        division=Division(Divides.STREAMS, ("samples",)),
    ),
    Method(
        key="enumerate",
        title="Exhaustive enumeration",
        sentence=(
            "Tests every combination in the input domain. The result is an exact count of those "
            "whose decision changes."
        ),
        paper="The definition itself, without sampling",
        tells=(
            "For exactly how many combinations in the input domain, and what share of it, the "
            "decision changes. Finding none means that there are none. Fixed attributes take "
            "every combination of values that occurs in the data."
        ),
        cannot=(
            "How often the decision changes among real individuals: most combinations in the "
            "input domain do not resemble a real one. A run that is stopped gives no share: the "
            "combinations tested first are not representative."
        ),
        options=EnumerateOptions,
        division=Division(Divides.RANGES),
        exhaustive=True,
        cost="one query per combination",
        obstacle=obstacle,
    ),
)

#: How well the search by estimated slopes works on a model.
DIAGNOSIS = Method(
    key="diagnose",
    title="Gradient-estimate diagnostic",
    sentence=(
        "Tests several perturbation sizes for the gradient estimates of MAFT, and compares the "
        "estimates with the model’s own gradients where they are available."
    ),
    paper="Wang et al., “MAFT: Efficient Model-Agnostic Fairness Testing for Deep Neural "
    "Networks via Zero-Order Gradient Search”, ICSE 2024, first and third question",
    tells=(
        "How reliable a search by estimated gradients is for this model, and with which "
        "perturbation size it finds most."
    ),
    cannot=(
        "Whether, or for how many instances, the decision changes: pairs found by its short "
        "searches are only counted, not kept. It compares gradients row by row, without the "
        "paper’s t-test, ANOVA and PCA of all rows together, whose results do not change when the "
        "estimates of different rows are exchanged."
    ),
    options=DiagnoseOptions,
    division=Division(Divides.SIZES),
    cost="short searches, up to its options",
    answers=QuestionKind.DIAGNOSIS,
)
