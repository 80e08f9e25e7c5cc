"""Tooltips of texts that come from files."""

from __future__ import annotations

import html


def plain(text: str) -> str:
    """Keep Qt from reading a text of a file as markup in a tooltip, which has no plain mode."""
    return f"<span>{html.escape(text)}</span>".replace("\n", "<br>")
