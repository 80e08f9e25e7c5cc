"""TestSGD's mitigation: add samples of the rule set with the opposite label."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fairdesk.events import Event, Rows
from fairdesk.mitigate.options import TestSgdOptions
from fairdesk.mitigate.workshop import Workshop


def search(
    workshop: Workshop, people: Rows, options: TestSgdOptions, rng: np.random.Generator
) -> Iterator[Event]:
    """Retrain with samples of the rule set."""
    raise NotImplementedError
    yield
