"""What proves how common individual discrimination is."""

from __future__ import annotations

from fairdesk.audit.catalogue.method import Divides, Division, Method, QuestionKind
from fairdesk.certify.options import (
    CertifyOptions,
    FairifyOptions,
    FairQuantOptions,
    NeighbourhoodOptions,
)
from fairdesk.models.model import Capability

METHODS = (
    Method(
        key="certify",
        title="Certification",
        sentence=(
            "Proves for which share of the population (a model of the data) and of the input "
            "domain the decision cannot change (certified), for which it does (falsified), and "
            "reports the rest as undecided."
        ),
        paper=(
            "The steps of FairQuant (ICSE 2025) with backward bounds (CROWN, NeurIPS 2018), best "
            "regions first, and enumeration inside undecided regions"
        ),
        tells=(
            "Lower bounds, proven for the whole input domain: the certified share (decision "
            "unchanged) and the falsified share (decision changes), with the regions of each. "
            "The undecided share is estimated separately. The run can be stopped and resumed."
        ),
        cannot=(
            "How often the decision changes among real individuals: most combinations in the "
            "input domain do not resemble a real one. For a model whose internal structure is not "
            "available only the most likely combinations are certified, by queries; the rest is an "
            "estimate."
        ),
        options=CertifyOptions,
        division=Division(Divides.REGIONS),
        cost="time; can be resumed",
        answers=QuestionKind.PROOF,
        finishes=True,
    ),
    Method(
        key="neighbourhoods",
        title="Certification around the data rows",
        short="Around the data rows",
        sentence=(
            "Proves for how many data rows the decision cannot change for any neighbour of the row "
            "(certified), finds rows with a neighbour for which it does (falsified), and reports "
            "the rest as undecided."
        ),
        paper=(
            "Local robustness to changes of protected attributes, in regions around data rows; "
            "bounds and enumeration as in Certification"
        ),
        tells=(
            "Three counts of data rows. A neighbour differs from the row in at most k attributes "
            "that are not protected: categories may take any value, numbers move by at most a "
            "share of their range. If allowed, all numbers may move at once. Neighbours fulfil the "
            "constraints, and fixed attributes stay as they are. The decision of each is compared "
            "for all tested protected values. For every falsified row the model was queried about "
            "a neighbour whose decision changes. Given time, every row is decided."
        ),
        cannot=(
            "Anything about people who differ more from every row, or how likely neighbours are: "
            "most need not resemble a real person. A number limited to a list of values counts as "
            "a category. For a model whose internal structure is not available "
            "neighbours are queried, one by one."
        ),
        options=NeighbourhoodOptions,
        division=Division(why="it takes seconds to minutes on one computer"),
        cost="time; the rows one after the other",
        answers=QuestionKind.PROOF,
    ),
    Method(
        key="fairquant",
        title="FairQuant (published baseline)",
        short="FairQuant",
        sentence=(
            "Certifies as described in its paper: regions are bounded by symbolic intervals and "
            "halved, one after the other, down to a fixed depth."
        ),
        paper="Kim, Wang and Wang, “FairQuant: Certifying and Quantifying Fairness of Deep "
        "Neural Networks”, ICSE 2025",
        tells=(
            "Lower bounds, proven: the certified share (decision unchanged) and the falsified "
            "share (decision changes) of the input domain."
        ),
        cannot=(
            "As much as Certification in the same time: it is included for comparison. What it "
            "does not decide stays undecided."
        ),
        options=FairQuantOptions,
        division=Division(
            why="it is included to compare its times, which are those of one thread; "
            "“Certification” is divided"
        ),
        cost="time; can be resumed",
        answers=QuestionKind.PROOF,
        needs=(Capability.LAYERS,),
        finishes=True,
    ),
    Method(
        key="fairify",
        title="Fairify (published baseline)",
        short="Fairify",
        sentence=(
            "Divides the input domain into partitions and uses a solver to determine for each "
            "whether the decision changes for any instance in it."
        ),
        paper="Biswas and Rajan, “Fairify: Fairness Verification of Neural Networks”, ICSE 2023",
        tells=(
            "The partitions in which the decision is proven unchanged for every instance, in "
            "exact arithmetic, and one counterexample in each partition where it is not."
        ),
        cannot=(
            "For how many instances the decision changes in a partition with a counterexample. "
            "It is slow: most partitions of a large input domain stay unknown."
        ),
        options=FairifyOptions,
        division=Division(Divides.PARTITIONS),
        cost="time; can be resumed",
        answers=QuestionKind.PROOF,
        needs=(Capability.LAYERS,),
        finishes=True,
    ),
)
