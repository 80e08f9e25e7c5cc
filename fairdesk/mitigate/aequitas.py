"""Aequitas' retraining: add ever greater portions of discriminatory people while it helps."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fairdesk.events import Event, Rows
from fairdesk.mitigate.options import AequitasOptions
from fairdesk.mitigate.workshop import Workshop


def search(
    workshop: Workshop, people: Rows, options: AequitasOptions, rng: np.random.Generator
) -> Iterator[Event]:
    """Retrain with portions of the pairs found."""
    raise NotImplementedError
    yield
