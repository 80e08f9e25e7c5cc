"""Type on paper: how large it is, how wide texts are, where lines are broken."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache

#: The report's font comes first; a browser takes what it has. Names with numbers need their quotes.
FONTS = "'Source Sans 3', 'Source Sans Pro', Helvetica, Arial, sans-serif"
SIZE = 9.0
#: From one line of type to the next.
LEAD = SIZE + 2
#: Widths of characters, in the size of the type: narrow, wide, and capital ones.
_NARROW, _BROAD = frozenset("ijltfrI.,:;|'!’()[] \u00a0\u202f-·/"), frozenset("mwMW%@—…")
#: What names a thing takes at most so many lines.
_MOST_LINES = 4


def extent(said: str, size: float = 1.0, *, bold: bool = False) -> float:
    """Estimate how wide a line of type is; ``size`` is by that of the chart."""
    return size * (SIZE * sum(map(_wide, said)) + 2) * (1.05 if bold else 1.0)


@lru_cache(maxsize=4096)
def _wide(sign: str) -> float:
    if unicodedata.combining(sign):
        return 0.0
    if unicodedata.east_asian_width(sign) in "WF":
        return 1.0
    if sign in _NARROW:
        return 0.29
    if sign in _BROAD:
        return 0.86
    return 0.6 if sign.isupper() else 0.51


def wrapped(
    said: str, room: float, most: int = _MOST_LINES, extent: Callable[[str], float] = extent
) -> list[str]:
    """Break a text into lines that fit; what is beyond ``most`` lines ends in “…”."""
    lines = list(_lines(said, room, extent))
    if len(lines) <= most:
        return lines or [""]
    last = lines[most - 1]
    while last and extent(f"{last}…") > room:
        last = last[:-1]
    return [*lines[: most - 1], f"{last.rstrip()}…"]


def _lines(said: str, room: float, extent: Callable[[str], float]) -> Iterator[str]:
    line = ""
    # a number stays with its unit
    for word in re.split(r"[ \t\r\n]+", said.strip()):
        longer = f"{line} {word}" if line else word
        if extent(longer) <= room:
            line = longer
            continue
        if line:
            yield line
        line = word
        while extent(line) > room and len(line) > 1:
            fits = next(
                end for end in range(len(line), 0, -1) if end == 1 or extent(line[:end]) <= room
            )
            yield line[:fits]
            line = line[fits:]
    if line:
        yield line
