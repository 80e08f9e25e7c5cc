"""Whether everybody of a domain can be gone through, and how many that would be."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.domain import Domain

#: So many similar sets can be gone through.
MOST_SETS = 100_000_000
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def obstacle(domain: Domain) -> str:
    """Say in a clause why nobody can go through a domain; empty when it can be done."""
    if endless := endless_attributes(domain):
        return (
            f"“{endless[0]}” may be any decimal number, so the number of combinations is "
            "unlimited; define a step for it"
        )
    size = math.prod(value_counts(domain))
    return too_large(size) if size > MOST_SETS else ""


def endless_attributes(domain: Domain) -> list[str]:
    """Name the attributes that have no end of values."""
    return [domain.names[i] for i in domain.varying if not domain.spacing[i]]


def too_large(size: int) -> str:
    """Say in a clause that a domain of so many people cannot be gone through."""
    power = str(len(str(size)) - 1).translate(_RAISED)
    size_text = f"{size:,}" if size < 10**15 else f"10{power} or more"
    return (
        f"the input domain has {size_text} combinations, not counting protected values, and at "
        f"most {MOST_SETS:,} can be enumerated"
    )


def free_attributes(domain: Domain) -> NDArray[np.intp]:
    """Positions of the attributes whose values are gone through."""
    bound = np.concatenate([domain.protected, domain.fixed, domain.following])
    return np.setdiff1d(np.arange(len(domain.attributes)), bound)


def value_counts(domain: Domain) -> list[int]:
    """Count the values of each free attribute."""
    free = free_attributes(domain)
    low, high, spacing = domain.low[free], domain.high[free], domain.spacing[free]
    steps = np.divide(high - low, spacing, out=np.zeros(len(free)), where=spacing > 0)
    return [int(count) + 1 for count in np.round(steps)]
