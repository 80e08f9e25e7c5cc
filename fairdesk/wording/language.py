"""How sentences with values, counts and dates are written; what stands around a report."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Literal

import msgspec

#: What a statement rests on, told by word and by mark throughout: an example that a search gives;
#: rows of the data; random samples; a certificate.
Evidence = Literal["", "example", "observed", "estimated", "proven"]


class Statement(msgspec.Struct, frozen=True):
    """One statement about a figure.

    Attributes
    ----------
    evidence : str
        What it rests on; empty where nothing is measured.
    label : str
        The short name of the figure.
    value : str
        The figure as text, without its interval: ``14.12 %``; empty where there is none.
    sentence : str
        The whole sentence, or two; it can be read without the label and the value.
    brief : str
        A few words for below the label and the value where there is little room; may be empty.
    """

    evidence: Evidence
    label: str
    value: str
    sentence: str
    brief: str = ""

    @property
    def shortest(self) -> str:
        """The few words, or where there are none the sentence."""
        return self.brief or self.sentence

    def with_more(self, *sentences: str) -> Statement:
        """Return it with more sentences after its own; empty ones are left out."""
        said = " ".join(filter(None, (self.sentence, *sentences)))
        return msgspec.structs.replace(self, sentence=said)


def unmeasured(sentence: str) -> Statement:
    """Return a statement without a figure."""
    return Statement("", "", "", sentence)


#: What stands around the sections, on pages and in HTML.
FRAME: dict[str, str] = {
    "contents": "Contents",
    "page": "{page} of {pages}",
    "attribute": "Attribute",
    "equal": "Equal:",
    "note": "Auditor’s note:",
    "Draft": "Draft",
    "Final": "Final",
    "example": "example",
    "observed": "observed",
    "estimated": "estimated",
    "proven": "proven",
    "marks": "How to read the marks",
    "means proven": (
        "True of everything it covers; a proof certificate that can be verified shows it."
    ),
    "means estimated": "From random samples or altered copies, with a confidence interval.",
    "means observed": (
        "Counted in all rows of the data, as they are or as the model decides them with a "
        "protected value changed. An interval is for other rows drawn in the same way."
    ),
    "means example": "Found by a search. It does not show how often this happens.",
    "means CI": (
        "Confidence interval, made by a procedure whose intervals contain the true value in 95 "
        "of 100 audits."
    ),
    "means p": (
        "How probable a difference at least as large is by chance alone if both rates are equal."
    ),
    "place": "Section {section}, page {page}",
    "sources": "Sources",
    "unsigned": "Draft: not signed off",
    "signature": "Signature",
    "date": "Date",
    "logo": "Logo",
    "skip": "Skip to the report",
    "in words": "The same in words",
    "manifest": "Save the manifest (JSON)",
    "left out": "Omitted by the auditor: {parts}.",
    "unattached": (
        "PDF/A-2 does not allow attachments: the manifest is in the audit file, not in "
        "this document."
    ),
    "unkept": (
        "This document contains characters that the available fonts cannot show as "
        "{standard} requires, so it does not meet that standard."
    ),
}
#: Words for one or for many, in a message with a count.
_ONE_OR_MANY = re.compile(r"\[([^][|]*)\|([^][|]*)\]")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)


def date_text(when: datetime) -> str:
    """Write a date: ``21 November 2026``."""
    return f"{when.day} {month_text(when)}"


def month_text(when: datetime) -> str:
    """Write a month: ``November 2026``."""
    return f"{_MONTHS[when.month - 1]} {when.year}"


def moment_text(when: datetime) -> str:
    """Write a moment, which is in UTC: ``21 November 2026, 01:32 UTC``."""
    return f"{date_text(when)}, {when:%H:%M} UTC"


def say(message: str, /, **values: str) -> str:
    """Fill in a sentence: ``say("{n} of {people}", n=..., people=...)``.

    Values are texts, numbers as `fairdesk.wording.words` writes them.
    """
    return message.format(**values) if values else message


def say_many(count: int, message: str, /, **values: str) -> str:
    """Fill in a sentence with a count, ``{n}``, with the words for one or for many: ``[is|are]``.

    Examples
    --------
    >>> say_many(1, "{n} pair[|s] [is|are] left"), say_many(1200, "{n} pair[|s] [is|are] left")
    ('1 pair is left', '1,200 pairs are left')
    """
    chosen = _ONE_OR_MANY.sub(lambda found: found[1 if count == 1 else 2], message)
    return chosen.format(n=f"{count:,}", **values)
