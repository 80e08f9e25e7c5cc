"""How verdicts look: a mark beside the colour, and shares that promise no more than is proven."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from fairdesk.results.proofs import Proven
from fairdesk.wording import proofs as proof_words
from fairdesk.wording import words

#: The verdicts, in the order in which they are told; each is the name of a colour of the theme.
MARKS: Final = {"alike": "=", "unlike": "≠", "undecided": "?"}
#: Decimals of a percentage at least, and at most.
_LEAST, _MOST = 2, 6


def shown(verdict: str, share: Fraction, least: int = _LEAST) -> str:
    """Write a share, 0 to 1: what is proven rounded down, what is undecided rounded up.

    With more decimals than ``least`` where two figures of a small share, or of what a large one
    lacks to the whole, need them.
    """
    if share in (0, 1):
        return f"{100 * share}{words.NBSP}%"
    digits = least
    while digits < _MOST and min(share, 1 - share) * 100 * 10**digits < 10:
        digits += 1
    rounded = proof_words.percent_up if verdict == "undecided" else proof_words.percent_down
    return rounded(share, digits)


def proven_texts(proven: Proven) -> list[tuple[str, str]]:
    """Write for each verdict what is proven, or left; shortly."""
    shares = zip(MARKS, proof_words.proven_fractions(proven), strict=True)
    return [(verdict, shown(verdict, share, 1)) for verdict, share in shares]
