"""The parameters of the methods about groups."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

from msgspec import Meta, Struct

from fairdesk.individual.shares.options import Confidence, ErrorBound, MostPeople

#: An impact ratio below this is below the four-fifths threshold (29 CFR 1607.4(D)).
FOUR_FIFTHS = Fraction(4, 5)
#: Groups with a smaller share of the people may be left out of impact ratios (6 RCNY 5-301).
LEAST_SHARE = 0.02
#: A difference that involves a group of fewer rows is in its table, and in no headline.
LEAST_ROWS = 30
#: The group with the highest rate is the reference if it has at least this share of the people.
LARGE_SHARE = 0.1
#: TestSGD's, for a confidence of 95 % on each side.
Z = 1.96
#: Names beyond this have too many subsets for all of them to be tried: 1,022 with so many.
MOST_NAMES = 10
#: Sets of attributes that make more groups are left out: too few people would be in each.
MOST_GROUPS = 500


class TestSgdOptions(Struct, frozen=True):
    """The parameters of TestSGD, as its paper sets them."""

    #: The test runner must not take it for a test.
    __test__ = False

    theta: Annotated[float, Meta(ge=0.001, le=0.5)] = 0.05
    least_rows: Annotated[int, Meta(ge=2, le=10_000)] = 10
    bins: Annotated[int, Meta(ge=2, le=50)] = 10
    together: Annotated[int, Meta(ge=1, le=10)] = 3
    sample_thr: Annotated[int, Meta(ge=10, le=1_000_000)] = 1_000
    error_thr: Annotated[float, Meta(ge=0.001, le=0.5)] = 0.05
    subsets: Literal["all", "single", "ordered"] = "all"
    outcome: Literal["favourable", "each", "score"] = "favourable"
    z: Annotated[float, Meta(ge=0.1, le=10)] = Z
    s_pert: Annotated[float, Meta(ge=1, le=1_000_000)] = 1.0
    s_pert_decimal: Annotated[float, Meta(gt=0, le=1_000_000)] = 0.01
    perturbation: Literal["mixed", "absolute", "relative"] = "mixed"
    coded: Literal["names", "ordered"] = "names"


class MeasureOptions(Struct, frozen=True):
    """The parameters."""

    outcome: Literal["favourable", "each"] = "favourable"
    least_share: Annotated[float, Meta(ge=0, le=0.5)] = LEAST_SHARE
    small: Literal["mid-p", "exact"] = "mid-p"


class ThemisGroupsOptions(Struct, frozen=True):
    """The parameters of THEMIS."""

    confidence: Confidence = 0.99
    margin: ErrorBound = 0.01
    together: Annotated[int, Meta(ge=1, le=10)] = 3
    most: MostPeople = 1_000_000


class FairFictPlayOptions(Struct, frozen=True):
    """The parameters."""

    rounds: Annotated[int, Meta(ge=1, le=50)] = 5
