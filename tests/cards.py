"""Cards of models that tests make up: a test gives what it looks at."""

from __future__ import annotations

from typing import Any

from fairdesk.models.model import ModelCard, Takes


def card(*inputs: str, width: int = 0, **about: Any) -> ModelCard:
    """Return the card of a model of named columns, or of a matrix so many numbers wide."""
    given = {
        "path": "m",
        "sha256": "",
        "format": "",
        "summary": "",
        "takes": Takes.MATRIX if width else Takes.COLUMNS,
        "inputs": inputs or tuple(f"input {i}" for i in range(1, width + 1)),
        "named": not width,
        "classes": ("no", "yes"),
        "scores": "probabilities",
    }
    return ModelCard(**given | about)
