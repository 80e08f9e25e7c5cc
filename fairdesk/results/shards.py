"""Parts of a divided run: which of its units are counted, and what was counted of each."""

from __future__ import annotations

from typing import Any

import msgspec
from numpy.typing import NDArray


class ShardRange(msgspec.Struct, frozen=True):
    """Which part of a divided run is run.

    Attributes
    ----------
    start, stop : int
        The first of its units and the one after the last. What a unit is, the method says: of a
        search one of its parts, of what is drawn at random a block of draws.
    stage : str
        What of the units is counted still; the method's own words.
    """

    start: int
    stop: int
    stage: str = ""


class Tallied(msgspec.Struct, frozen=True, tag=True):
    """What was counted of a unit, or of a part of one: numbers without their meaning.

    Figures are made of them by `fairdesk.individual.engine.division.Merging`, in the order of the
    units. Only parts of runs yield it.

    Attributes
    ----------
    phase : str
        The phase that counted.
    unit : int
        The unit.
    last : bool
        Whether the unit ends with it.
    arrays : dict[str, NDArray]
        What was counted; how they are called and shaped, the method says.
    queries : int
        Rows sent to the model for it.
    """

    phase: str
    unit: int
    last: bool
    arrays: dict[str, NDArray[Any]]
    queries: int = 0
