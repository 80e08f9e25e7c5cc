"""Figures of a proof: what is proven of how many people, and of which.

What is proven is rounded down, a bound from above up. All that prints a proven share, in window,
report, terminal and checks, takes its digits from here.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import Literal

import msgspec


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


class Estimated(msgspec.Struct, frozen=True):
    """What sampling says of that part of a space for which nothing is proven; never part of it.

    Attributes
    ----------
    n_samples : int
        How many were drawn at random from the boxes in which not everybody is decided, each as
        likely as any other: some of them are among those who are.
    discriminatory : int
        How many of these are discriminatory.
    low, high : float
        The exact (Clopper-Pearson) interval of the share of the undecided people who are: what is
        proven of those boxes is taken off.
    confidence : float
        Of the interval, above 0 and below 1.
    estimate : float
        That share, as those who were drawn tell it.
    certified, falsified : float, optional
        Shares of the boxes from which was drawn that are proven by counting, without it being
        known of whom: what is taken off. ``None`` in audits from before they were kept.
    """

    n_samples: int
    discriminatory: int
    low: float
    high: float
    confidence: float
    estimate: float
    certified: float | None = None
    falsified: float | None = None


class Proven(msgspec.Struct, frozen=True, tag=True):
    """What is proven about the people of a space: how many are consistent, and how many not.

    A person counts once, whatever their protected values: what is counted are similar sets in
    which anybody may be. One is consistent when all of its members who may be get the same decision
    (also when there is but one of them), discriminatory when two of them do not.

    Attributes
    ----------
    of : str
        Of all people of the ``"domain"``, each as likely as any other; or of ``"people"``, as
        likely as the tree says that was fitted to the data.
    attributes : tuple[str, ...]
        The protected attributes, all changed together.
    certified, falsified, undecided : float
        Shares from 0 to 1. The first two are proven: rounded down; the third is what is left of
        the whole.
    total, certified_people, falsified_people : str
        The same as whole numbers, in decimal digits (they pass 64 bits); of the domain only, else
        empty.
    exact : bool
        Everybody is decided: nothing is left, and the counts are exact.
    boxes : int
        How many boxes of people were looked at.
    seconds : float
        Wall seconds until here.
    margin : float
        By how much, at most, the rounding of the model's own arithmetic was found to move its
        answer (the logit, or a margin between two classes), and so what the bounds allow for; 0
        where every answer was asked of the model itself, or nothing is rounded.
    estimated : Estimated, optional
        What sampling says of the undecided part.
    course : tuple[tuple[float, float, float], ...]
        How it came: seconds, certified and falsified; thinned to at most some hundred points.
    notes : tuple[str, ...]
        What else the auditor must know, a sentence each.
    """

    of: Literal["domain", "people"]
    attributes: tuple[str, ...]
    certified: float
    falsified: float
    undecided: float
    total: str = ""
    certified_people: str = ""
    falsified_people: str = ""
    exact: bool = False
    boxes: int = 0
    seconds: float = 0.0
    margin: float = 0.0
    estimated: Estimated | None = None
    course: tuple[tuple[float, float, float], ...] = ()
    notes: tuple[str, ...] = ()


class Region(msgspec.Struct, frozen=True, tag=True):
    """A box of people all of whom are consistent, or all of whom are not: proven.

    Attributes
    ----------
    verdict : str
        ``"consistent"`` or ``"discriminatory"``.
    conditions : tuple[Condition, ...]
        What tells the box from the whole domain, in the order of the attributes.
    share : float
        How much of the domain it is, rounded down.
    people : str
        How many that are, in decimal digits.
    population : float
        How much of the population it is, about.
    """

    verdict: Literal["consistent", "discriminatory"]
    conditions: tuple[Condition, ...]
    share: float
    people: str
    population: float = 0.0


class PairShare(msgspec.Struct, frozen=True, tag=True):
    """What is proven about two combinations of protected values alone.

    Attributes
    ----------
    attributes : tuple[str, ...]
        The protected attributes.
    first, second : tuple[float, ...]
        The codes of the two combinations: one per attribute.
    falsified : float
        The share of the domain for which these two are proven to be decided differently.
    certified : float
        The share for which they are proven to be decided alike.
    exact : bool
        The two shares are everything.
    """

    attributes: tuple[str, ...]
    first: tuple[float, ...]
    second: tuple[float, ...]
    falsified: float
    certified: float
    exact: bool = False


class GroupRate(msgspec.Struct, frozen=True):
    """Between which shares the rate of a group is proven to be.

    Attributes
    ----------
    code : float
        The group's value of the protected attribute.
    low, high : float
        Ends of its rate: proven, rounded outwards.
    share : float
        About which share of the population the group is, among those with values that are tested.
    """

    code: float
    low: float
    high: float
    share: float


class ProvenRates(msgspec.Struct, frozen=True, tag=True):
    """How often groups of a population get the favourable decision: proven from both sides.

    The population is the tree that was fitted to the data, restricted to the protected values that
    are tested and to what the constraints permit.

    Attributes
    ----------
    attribute : str
        The protected attribute.
    groups : tuple[GroupRate, ...]
        One for each of its values that is compared.
    ratio_low, ratio_high : float
        Ends of the lowest rate over the highest one: proven, rounded outwards.
    boxes : int
        How many boxes were examined, for all attributes.
    seconds : float
        Wall seconds, for all attributes.
    """

    attribute: str
    groups: tuple[GroupRate, ...]
    ratio_low: float
    ratio_high: float
    boxes: int = 0
    seconds: float = 0.0


class NeighbourhoodCounts(msgspec.Struct, frozen=True, tag=True):
    """How many rows of the data are decided with all of their neighbours.

    A neighbour differs in at most ``changed`` attributes that are not protected, a number by at
    most ``reach`` of its range. Where they change ``together``, one with every number within reach
    and all else equal is a neighbour, too. It is possible under the constraints. Neighbours without
    a comparison are left out.

    Attributes
    ----------
    attributes : tuple[str, ...]
        The protected attributes, all changed together.
    rows : int
        How many rows with a comparison: each counts, equal ones too.
    certified : int
        For no neighbour of so many rows does the decision change: proven.
    falsified : int
        Of so many rows a neighbour is known whose decision changes; the row is one of its own.
    undecided : int
        All others.
    changed : int
        At most so many attributes are changed.
    reach : float
        The share of its range by which a number is changed at most, 0 to 1.
    together : bool
        Whether all numbers may change at once.
    flipped : int
        So many of the falsified rows are such a neighbour themselves.
    boxes : int
        How many boxes were looked at.
    seconds : float
        Wall seconds until here.
    margin : float
        As of `Proven`.
    notes : tuple[str, ...]
        What else the auditor must know, a sentence each.
    unsupported : int
        How many more rows there are, without a comparison: no other combination of protected values
        is possible for them, or supported by the data.
    """

    attributes: tuple[str, ...]
    rows: int
    certified: int
    falsified: int
    undecided: int
    changed: int
    reach: float
    together: bool = False
    flipped: int = 0
    boxes: int = 0
    seconds: float = 0.0
    margin: float = 0.0
    notes: tuple[str, ...] = ()
    unsupported: int = 0
