"""What a certificate says in words, and what one way of checking it came to."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from fairdesk.certify.options import CertifyOptions
from fairdesk.certify.proof.certificate import (
    CONSISTENT,
    COUNTED,
    DISCRIMINATORY,
    NOBODY,
    UNDECIDED,
    Header,
    margin_sentence,
)

#: The key of the method that makes certificates.
METHOD = "certify"
UNCLEAR = (
    "The constraints combine so many values that it is not known which combinations are "
    "permitted in some regions: these count as undecided."
)
ROWS_LEFT = "The time was not enough to query every data row."
NOTHING = (
    "Nothing was certified or falsified in this time: more time, or a smaller input domain, may "
    "help."
)
NO_COMPARISON = (
    "There is no comparison: for no combination of the other values do the constraints permit, and "
    "the data support, two combinations of protected values."
)
QUERIED = (
    "The model’s internal structure is not available: its decisions were queried, for the "
    "combinations that are most likely in the population first. All others are undecided."
)


def unused(attributes: Sequence[str]) -> str:
    """Say that the decision does not depend on the protected attributes."""
    listed = " and ".join(f"“{name}”" for name in attributes)
    verb = "reach" if len(attributes) > 1 else "reaches"
    return f"The decision does not depend on {listed}, which {verb} no part of the model."


#: What kinds of leaves are called.
KINDS = {
    UNDECIDED: "undecided",
    CONSISTENT: "certified",
    DISCRIMINATORY: "falsified",
    COUNTED: "counted",
    NOBODY: "without a comparison",
}
#: Failures that are told one by one.
MOST_MESSAGES = 5


class Check(msgspec.Struct, frozen=True):
    """One way of checking.

    Attributes
    ----------
    name : str
        What is checked, in a few words.
    tried : int
        How many leaves, points or numbers were.
    failed : int
        How many of them contradict the certificate.
    unknown : int
        Of how many no answer was had.
    remarks : tuple[str, ...]
        What failed and where, or why nothing was tried: a sentence each.
    """

    name: str
    tried: int = 0
    failed: int = 0
    unknown: int = 0
    remarks: tuple[str, ...] = ()


def statements_check(header: Header) -> Check:
    """Check the sentences, the method and its options: nobody else can add to them.

    What can be made again from what is checked is made again. Times, versions and the names of
    files cannot: they are not checked, and nothing repeats them.
    """
    messages = [] if header.method == METHOD else ["It names another method."]
    try:
        options = msgspec.convert(header.options, CertifyOptions)
        strange = header.options.keys() - set(options.__struct_fields__)
    except msgspec.ValidationError as error:
        messages.append(f"Its options are not those of the method: {error}.")
    else:
        messages += ["Its options are not those of the method."] if strange else []
    if header.about_margin != margin_sentence(header.margin):
        messages.append("What it says of rounding does not follow from its margin.")
    known = _possible(header)
    messages += [
        f"FairDesk does not write of this proof: “{note[:200]}”"
        for note in header.notes
        if note not in known
    ]
    tried = 3 + len(header.notes)
    return Check(
        "Its notes, method and options are what FairDesk writes of such a proof",
        tried,
        min(len(messages), tried),
        0,
        (*messages, "Times, versions and file names in it are not verified."),
    )


def _possible(header: Header) -> set[str]:
    """Return the sentences that can be true of what a certificate says in numbers."""
    domain = header.domain
    found = {ROWS_LEFT, QUERIED}
    if header.unclear:
        found.add(UNCLEAR)
    if header.total == "0":
        found.add(NO_COMPARISON)
    if header.falsified == "0":
        found.add(unused([domain.names[i] for i in domain.protected.tolist()]))
        if header.certified == "0":
            found.add(NOTHING)
    return found
