"""What is said of a figure, in parts: on what it rests, what it is, its value, and the sentence."""

from __future__ import annotations

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
