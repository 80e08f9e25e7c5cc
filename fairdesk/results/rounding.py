"""How a proven share is written: never as more than is proven.

What is proven is rounded down, a bound from above up. All that prints a proven share, in window,
report, terminal and checks, takes its digits from here.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor


def exactly(share: float | Fraction) -> Fraction:
    """Return a share without rounding; of a float its shortest decimals, as JSON has them."""
    return share if isinstance(share, Fraction) else Fraction(str(share))


def percent_digits(share: float | Fraction, digits: int, *, up: bool = False) -> str:
    """Write a share from 0 to 1 in percent, without the sign: ``12.34``.

    Parameters
    ----------
    share : float or Fraction
        The share.
    digits : int
        Decimals of the percentage.
    up : bool
        Round up, as an upper bound is; down by default, as what is proven is.
    """
    hundredths = exactly(share) * 100 * 10**digits
    whole, rest = divmod(ceil(hundredths) if up else floor(hundredths), 10**digits)
    return f"{whole}.{rest:0{digits}d}" if digits else f"{whole}"
