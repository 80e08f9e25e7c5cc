"""Scales of charts: round values of axes, and where values stand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from fairdesk.wording import words


class Frame(NamedTuple):
    """The plot's box and its scales."""

    left: float
    right: float
    top: float
    bottom: float
    x_high: float
    y_high: float
    x_low: float = 0.0
    y_low: float = 0.0

    def x(self, value: float) -> float:
        """Return where a value stands across."""
        share = (value - self.x_low) / (self.x_high - self.x_low)
        return self.left + (self.right - self.left) * share

    def y(self, value: float) -> float:
        """Return where a value stands down."""
        share = (value - self.y_low) / (self.y_high - self.y_low)
        return self.bottom - (self.bottom - self.top) * share


def ticks(high: float, most: int = 6, least_step: float = 1.0) -> tuple[float, ...]:
    """Choose round axis values from 0 that reach ``high``.

    Parameters
    ----------
    high : float
        The greatest value to show; not negative.
    most : int
        At most so many steps.
    least_step : float
        No step is smaller; a power of ten.

    Returns
    -------
    tuple[float, ...]
        0, s, 2s, ... with s in {1, 2, 5} times a power of ten and not below ``least_step``; the
        last is at least ``high``.
    """
    high = max(high, least_step)
    power = max(10.0 ** math.floor(math.log10(high / most)), least_step)
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= high / most)
    return tuple(step * i for i in range(math.ceil(high / step) + 1))


def percent_ticks(values: Sequence[float]) -> list[tuple[float, str]]:
    """Write axis values that are percentages, with the decimals that their step needs."""
    decimals = max(0, -math.floor(math.log10(values[1]) + 1e-9))
    return [(value, words.percent_of(f"{value:.{decimals}f}")) for value in values]


def axis_of(values: Sequence[float], unit: str) -> list[tuple[float, str]]:
    """Write the values of an axis that begins at 0, as percentages or as numbers."""
    if unit.endswith("%"):
        return percent_ticks(values)
    digits = max(0, -math.floor(math.log10(values[1]) + 1e-9))
    return [(each, words.number(each, digits)) for each in values]


def round_between(low: float, high: float, about: int = 6) -> list[tuple[float, str]]:
    """Choose about so many round axis values between two ends, with their texts."""
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    places = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    return [(step * place, words.plain(step * place, digits)) for place in places]


def apart(wanted: Sequence[float], sizes: Sequence[float], end: float) -> list[float]:
    """Move labels apart: on from the one before, then back from the end; each keeps its rank.

    Parameters
    ----------
    end : float
        Where the axis that begins at 0 ends.

    Returns
    -------
    list of float
        Where each begins. When there are too many, some begin before 0.
    """
    placed = list(wanted)
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    free = 0.0
    for place in order:
        placed[place] = max(wanted[place], free)
        free = placed[place] + sizes[place]
    for place in reversed(order):
        placed[place] = min(placed[place], end - sizes[place])
        end = placed[place]
    return placed


def spread(count: int, most: int | None) -> list[int]:
    """Pick positions evenly, the first and last among them."""
    if most is None or count <= most:
        return list(range(count))
    return sorted({round(place * (count - 1) / max(most - 1, 1)) for place in range(most)})
