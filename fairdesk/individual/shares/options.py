"""The parameters of what estimates a share, or counts everybody."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

#: What all that tells intervals takes.
Confidence = Annotated[float, Meta(ge=0.5, le=0.9999)]
#: What all of THEMIS's scores take.
ErrorBound = Annotated[float, Meta(ge=0.0005, le=0.5)]
MostPeople = Annotated[int, Meta(ge=1, le=100_000_000)]


class EnumerateOptions(Struct, frozen=True):
    """The parameters of enumeration."""

    keep: Annotated[int, Meta(ge=0, le=10_000_000)] = 100_000


class EstimateOptions(Struct, frozen=True):
    """The parameters of the estimate."""

    trials: Annotated[int, Meta(ge=1, le=200)] = 100
    people: Annotated[int, Meta(ge=1, le=1_000_000)] = 1_000
    confidence: Confidence = 0.95
    moved: Annotated[int, Meta(ge=1, le=1_000)] = 2
    steps: Annotated[int, Meta(ge=1, le=100)] = 3
    margin: Annotated[float, Meta(ge=0, le=0.5)] = 0.0


class RepeatsOptions(Struct, frozen=True):
    """The parameters of the estimate with repeats."""

    people: Annotated[int, Meta(ge=1, le=10_000_000)] = 20_000
    confidence: Confidence = 0.95


class ThemisOptions(Struct, frozen=True):
    """The parameters of THEMIS."""

    confidence: Confidence = 0.99
    margin: ErrorBound = 0.01
    threshold: Annotated[float, Meta(ge=0, le=1)] = 0.1
    together: Annotated[int, Meta(ge=1, le=10)] = 3
    most: MostPeople = 1_000_000
