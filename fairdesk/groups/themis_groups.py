"""To come."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from fairdesk.events import Event, Rows
from fairdesk.groups.study import Study


class ThemisGroupsOptions(msgspec.Struct, frozen=True):
    """The parameters."""


def search(
    study: Study, people: Rows, options: ThemisGroupsOptions, rng: np.random.Generator
) -> Iterator[Event]:
    """Search."""
    yield from ()
