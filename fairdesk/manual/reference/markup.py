"""Texts of FairDesk as Markdown, and tables of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def plain(text: str) -> str:
    """Write a text of FairDesk as Markdown, in which nothing of it is taken for markup."""
    text = " ".join(text.split())
    parts = re.split(r"``([^`]*)``|`([^`]*)`", text)
    made = []
    for place in range(0, len(parts), 3):
        made.append(re.sub(r"([\\*_{}\[\]<>#|])", r"\\\1", parts[place]))
        code = next(filter(None, parts[place + 1 : place + 3]), "")
        if code:
            made.append(f"`{code}`")
    return "".join(made)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write rows as a table; a bar in a cell would end it."""
    lines = ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads)]
    lines += [
        "| " + " | ".join(re.sub(r"(?<!\\)\|", r"\\|", cell) or " " for cell in row) + " |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"
