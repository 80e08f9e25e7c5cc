"""What proves how common individual discrimination is."""

from __future__ import annotations

from fairdesk.audit.catalogue.method import Method, QuestionKind
from fairdesk.certify.options import CertifyOptions, FairifyOptions, FairQuantOptions
from fairdesk.models.model import Capability

METHODS = (
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
        options=CertifyOptions,
        answers=QuestionKind.PROOF,
        finishes=True,
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
        options=FairQuantOptions,
        answers=QuestionKind.PROOF,
        needs=(Capability.LAYERS,),
        finishes=True,
    ),
    Method(
        key="fairify",
        title="Fairify",
        sentence="Divides the domain into parts, and asks a solver of each whether anybody in "
        "it is treated unlike.",
        paper="Biswas and Rajan, “Fairify: Fairness Verification of Neural Networks”, ICSE 2023",
        tells="Which parts of the domain are proven to treat everybody alike, in exact "
        "arithmetic, and of others one person each who is not.",
        cannot="How many are treated unlike in a part where somebody is. It is slow: most "
        "parts of a large domain stay unknown.",
        options=FairifyOptions,
        answers=QuestionKind.PROOF,
        needs=(Capability.LAYERS,),
        finishes=True,
    ),
)
