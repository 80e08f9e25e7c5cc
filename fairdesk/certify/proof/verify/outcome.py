"""What one way of checking a certificate came to."""

from __future__ import annotations

import msgspec

from fairdesk.certify.proof.certificate import (
    CONSISTENT,
    COUNTED,
    DISCRIMINATORY,
    NOBODY,
    UNDECIDED,
)

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
