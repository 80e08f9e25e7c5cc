"""How verdicts look: a word beside the colour, and shares never above what is proven."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from fairdesk.results.proofs import Proven
from fairdesk.wording import proofs as proof_words
from fairdesk.wording import words
from fairdesk.wording.language import say

#: The verdicts in their order, each with the word on its part of a bar and named as its colour.
WORDS: Final = {"consistent": "unchanged", "discriminatory": "changes", "undecided": "undecided"}
#: What they are called, and as a share; of what is not yet divided to the end at least.
NAMES: Final = {
    "consistent": "proven unchanged (certified)",
    "discriminatory": "proven to change (falsified)",
    "undecided": "undecided",
}
#: Of a data row whose own decision is unchanged, and that of one of its neighbours changes.
NEIGHBOUR: Final = "neighbour"
_SHARES: Final = {
    "consistent": "{share} proven unchanged (certified)",
    "discriminatory": "{share} proven to change (falsified)",
    "undecided": "{share} undecided",
}
_LEAST_SHARES: Final = {
    "consistent": "at least {share} proven unchanged (certified)",
    "discriminatory": "at least {share} proven to change (falsified)",
    "undecided": "at most {share} undecided",
}
#: The same of data rows with their neighbours.
AROUND: Final = {
    "consistent": "unchanged, neighbours too",
    "discriminatory": "changes",
    NEIGHBOUR: "changes only for a slightly altered row",
    "undecided": "undecided",
}
_AROUND_SHARES: Final = {
    "consistent": "{share} unchanged, neighbours too",
    "discriminatory": "{share} changes",
    NEIGHBOUR: "{share} changes only for a slightly altered row",
    "undecided": "{share} undecided",
}
#: The same of rows that were counted, where nothing is proven.
COUNTED: Final = {"consistent": "decision unchanged", "discriminatory": "decision changes"}
_COUNTED_SHARES: Final = {
    "consistent": "{share} decision unchanged",
    "discriminatory": "{share} decision changes",
}


def is_too_small(verdict: str, share: Fraction) -> bool:
    """Return whether something is proven of a share, but less than decimals show."""
    return verdict != "undecided" and 0 < share * 100 < proof_words.SMALLEST


def shown(verdict: str, share: Fraction) -> str:
    """Write a share, 0 to 1: what is proven rounded down, what is undecided rounded up."""
    if share in (0, 1):
        return words.percent_of(f"{100 * share}")
    rounded = proof_words.most_percent if verdict == "undecided" else proof_words.least_percent
    return rounded(share)


def sentence(verdict: str, share: str, *, least: bool = False, counted: bool = False) -> str:
    """Say a share with its verdict: ``at least 70.95 % proven unchanged (certified)``.

    Of rows that were ``counted`` it says only whether the decision changes.
    """
    if counted:
        return say(_COUNTED_SHARES[verdict], share=share)
    return say((_LEAST_SHARES if least else _SHARES)[verdict], share=share)


def sentence_around(verdict: str, share: str) -> str:
    """Say a share of the data rows with their neighbours: ``25.88 % unchanged, neighbours too``."""
    return say(_AROUND_SHARES[verdict], share=share)


def proven_text(proven: Proven) -> str:
    """Write shortly what is proven: ``≥ 77.21 % certified, ≥ 8.70 % falsified``."""
    alike, unlike, _left = proof_words.proven_fractions(proven)
    least = "" if proven.exact else "≥ "
    certified, falsified = (
        text if text.startswith(">") else f"{least}{text}"
        for text in (shown("consistent", alike), shown("discriminatory", unlike))
    )
    return f"{certified} certified, {falsified} falsified"
