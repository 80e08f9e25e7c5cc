"""What a box of people, or a rule, says of attributes."""

from __future__ import annotations

import msgspec


class Condition(msgspec.Struct, frozen=True):
    """What a box, or a rule, says of one attribute: these values and no others.

    Attributes
    ----------
    attribute : str
        Its name; of a rule about a text, the category of its terms.
    codes : tuple[float, ...]
        Of an attribute with listed values: their codes. Else empty.
    low, high : float, optional
        Of a number: the least and the greatest, inclusive; ``None`` where that end is the
        domain's own. ``None`` where there are ``codes``.
    below : bool
        Whether ``high`` itself is left out: neighbouring bins of fractions share an edge.
    term : str
        Of a rule about a text: the term that it names. Else empty.
    """

    attribute: str
    codes: tuple[float, ...] = ()
    low: float | None = None
    high: float | None = None
    below: bool = False
    term: str = ""


#: A rule set: its conditions hold together.
Conditions = tuple[Condition, ...]
