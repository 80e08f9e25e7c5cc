"""Writing a model that was trained anew as files, each checked to answer alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fairdesk.events import Rows
from fairdesk.models.feeding import FedModel


@dataclass(frozen=True, slots=True)
class Saved:
    """One file of a model.

    Attributes
    ----------
    name : str
        ``"model.keras"``, ``"model.joblib"``, ``"model.skops"`` or ``"model.onnx"``.
    told : str
        How it was checked, or why there is none; a whole sentence.
    content : bytes
        Empty where there is none.
    """

    name: str
    told: str
    content: bytes


def save(fed: FedModel, rows: Rows) -> Iterator[Saved]:
    """Write a model in every format that fits it.

    Parameters
    ----------
    fed : FedModel
        The model.
    rows : Rows
        ``(n, d)``; what is written is read again and asked about these, beside the model itself.
    """
    raise NotImplementedError
    yield


__all__ = ["Saved", "save"]
