"""The sentences that a certificate may hold beside its numbers; its check knows them all."""

from __future__ import annotations

from collections.abc import Sequence

#: The key of the method that makes certificates.
METHOD = "certify"
UNCLEAR = (
    "The constraints combine so many values that it is not known which combinations are "
    "permitted in some regions: these count as undecided."
)
ROWS_LEFT = "The time was not enough to query every data row."
NOTHING = (
    "Nothing was certified or falsified in this time: more time, or a smaller input domain, may "
    "help."
)
NO_COMPARISON = (
    "There is no comparison: for no combination of the other values do the constraints permit, and "
    "the data support, two combinations of protected values."
)
QUERIED = (
    "The model’s internal structure is not available: its decisions were queried, for the "
    "combinations that are most likely in the population first. All others are undecided."
)


def unused(attributes: Sequence[str]) -> str:
    """Say that the decision does not depend on the protected attributes."""
    listed = " and ".join(f"“{name}”" for name in attributes)
    verb = "reach" if len(attributes) > 1 else "reaches"
    return f"The decision does not depend on {listed}, which {verb} no part of the model."
