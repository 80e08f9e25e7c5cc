"""What a model file is made of, told without running anything of it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from fairdesk.models.open import describe_format


class ImportedName(msgspec.Struct, frozen=True):
    """A class or function that a file asks for when it is opened.

    Attributes
    ----------
    name : str
        With its module: ``"sklearn.tree._tree.Tree"``.
    standing : str
        ``"known"``: a class that the allow-list lets pass; ``"unknown"``: any other;
        ``"dangerous"``: well known for harm (it runs commands, opens files or connections).
    """

    name: str
    standing: Literal["known", "unknown", "dangerous"]


class Contents(msgspec.Struct, frozen=True):
    """What a model file is made of.

    Attributes
    ----------
    format : str
        As `fairdesk.models.open.describe_format` says.
    saved_with : dict[str, str]
        Versions of libraries that the file tells: ``{"scikit-learn": "1.3.2"}``.
    imports : tuple[ImportedName, ...]
        What a pickle asks for, as its opcodes tell. Information, not a verdict.
    told : tuple[str, ...]
        What else is worth knowing, a sentence each.
    """

    format: str
    saved_with: dict[str, str] = msgspec.field(default_factory=dict)
    imports: tuple[ImportedName, ...] = ()
    told: tuple[str, ...] = ()


def look_into(path: Path) -> Contents:
    """Tell what a model file is made of; nothing of it is run.

    Raises
    ------
    ModelError
        When the file is there but may not be read.
    """
    return Contents(describe_format(path))
