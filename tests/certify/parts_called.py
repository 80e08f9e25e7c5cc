"""Parts of compiled loops, called from Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit


def called(part: Callable[..., Any]) -> Callable[..., Any]:
    """Return what Python can call; in the product only compiled loops call a part."""

    @njit
    def whole(*given):
        return part(*given)

    return whole
