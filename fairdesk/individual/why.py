"""Why the two people of a pair are decided differently: LIME on both sides, and each variant."""

from __future__ import annotations

import msgspec


class Side(msgspec.Struct, frozen=True):
    """A local explanation of one person's score (LIME).

    Attributes
    ----------
    weights : tuple[float, ...]
        Per attribute of the domain: how much being as this person is, and not otherwise, adds to
        the score of the favourable decision nearby.
    fit : float
        How well the local explanation follows the model nearby: R squared, at most 1.
    """

    weights: tuple[float, ...]
    fit: float


class Variant(msgspec.Struct, frozen=True):
    """The same person under one combination of protected values.

    Attributes
    ----------
    values : tuple[float, ...]
        The codes of the protected attributes.
    score : float
        Of the favourable decision.
    decided : int
        The position of what is decided, among the decisions.
    """

    values: tuple[float, ...]
    score: float
    decided: int


class Explanation(msgspec.Struct, frozen=True):
    """Why two people who differ in protected attributes only are decided differently.

    Attributes
    ----------
    row, partner : Side
        The instance, and its partner.
    variants : tuple[Variant, ...]
        Everybody in their similar set who breaks no constraint, the most favourable score first;
        of more than 200 the 100 with the greatest and the 100 with the least.
    """

    row: Side
    partner: Side
    variants: tuple[Variant, ...]
