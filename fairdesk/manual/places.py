"""Places in the documentation: a page, perhaps with an anchor on it."""

from __future__ import annotations

import re
from typing import NamedTuple

#: An anchor that a heading or a term names itself: ``{ #name }``.
ANCHOR = re.compile(r"\s*\{ *#([\w.-]+) *\}\s*$")
#: A term and what it means, as python-markdown reads them.
DEFINITION = re.compile(r"^(?![ #>|`-])(\S.*)\n:   (.*(?:\n(?: {4}.*\S.*))*)\n", re.MULTILINE)


FIRST = "index.md"
TERMS = "terms.md"
CHOICE = "how-to/choose-a-figure.md"
METHODS = "reference/methods.md"
FIGURES = "reference/figures.md"


class Chapter(NamedTuple):
    """Pages under one heading of the contents, titles by their places; or a page by itself."""

    title: str
    pages: dict[str, str]


#: What there is, in its order.
CONTENTS = (
    Chapter("", {"index.md": "FairDesk", "tutorial.md": "Tutorial"}),
    Chapter(
        "How to",
        {
            "how-to/choose-a-figure.md": "Choose a figure",
            "how-to/own-data.md": "Audit your own data and model",
            "how-to/large-tables.md": "Audit a large table",
            "how-to/text-models.md": "Audit a text model",
            "how-to/old-models.md": "Open older models",
            "how-to/command-line.md": "Use the command line",
            "how-to/many-audits.md": "Audit many models",
            "how-to/cluster.md": "Run on a cluster",
            "how-to/mitigation.md": "Mitigate what was found",
            "how-to/report.md": "Write the report",
            "how-to/signing.md": "Sign a report",
            "how-to/verify-and-reproduce.md": "Verify and reproduce an audit",
        },
    ),
    Chapter(
        "Reference",
        {
            "reference/methods.md": "Methods",
            "reference/figures.md": "Figures",
            "reference/papers.md": "The papers’ tables",
            "reference/limits.md": "Limits of an audit",
            "reference/command-line.md": "Command line",
            "reference/file-formats.md": "File formats",
            "reference/json.md": "JSON",
        },
    ),
    Chapter(
        "Explanation",
        {
            "explanation/evidence.md": "Kinds of evidence",
            "explanation/proofs.md": "What a proof covers",
            "explanation/statistics.md": "Statistics",
            "explanation/threat-model.md": "Threat model",
        },
    ),
    Chapter("", {"terms.md": "Terms", "comparison.md": "Comparison with other tools"}),
)


def method_place(method: str) -> str:
    """Return where a method is described, by its key."""
    return f"{METHODS}#{method}"


def option_place(method: str, option: str) -> str:
    """Return where an option of a method is described."""
    return f"{METHODS}#{method}.{option}"


def figure_place(formula: str) -> str:
    """Return where a figure is described, by the key of its formula."""
    return f"{FIGURES}#{formula}"
