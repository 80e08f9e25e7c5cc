"""Marks of the pages that CommonMark does not have, and MkDocs does."""

from __future__ import annotations

import re

#: An anchor that a heading or a term names itself: ``{ #name }``.
ANCHOR = re.compile(r"\s*\{ *#([\w.-]+) *\}\s*$")
#: A term and what it means, as python-markdown reads them.
DEFINITION = re.compile(r"^(?![ #>|`-])(\S.*)\n:   (.*(?:\n(?: {4}.*\S.*))*)\n", re.MULTILINE)
