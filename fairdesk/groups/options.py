"""The parameters of the methods about groups."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

import msgspec

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


class TestSgdOptions(msgspec.Struct, frozen=True):
    """The parameters of TestSGD, as its paper sets them."""

    #: The test runner must not take it for a test.
    __test__ = False

    theta: Annotated[
        float,
        msgspec.Meta(
            ge=0.001,
            le=0.5,
            title="Minimum support",
            description=(
                "A subgroup is tested if it contains at least this share of the data rows, from "
                "0 to 1."
            ),
            extra={"symbol": "θ"},
        ),
    ] = 0.05
    least_rows: Annotated[
        int,
        msgspec.Meta(
            ge=2,
            le=10_000,
            title="Minimum rows",
            description=(
                "A subgroup is tested if at least this many data rows are in it, and as many "
                "outside. Samples made from fewer individuals, however many, show little about "
                "others."
            ),
        ),
    ] = 10
    bins: Annotated[
        int,
        msgspec.Meta(
            ge=2,
            le=50,
            title="Bins",
            description=(
                "Number of bins of equal width for each numeric protected attribute, unless bin "
                "boundaries are given."
            ),
            extra={"symbol": "K"},
        ),
    ] = 10
    together: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=10,
            title="Attributes combined",
            description="Maximum number of protected attributes in a rule.",
        ),
    ] = 3
    sample_thr: Annotated[
        int,
        msgspec.Meta(
            ge=10,
            le=1_000_000,
            title="Minimum samples",
            description="Number of instances tested in every subgroup before its margin counts.",
        ),
    ] = 1_000
    error_thr: Annotated[
        float,
        msgspec.Meta(
            ge=0.001,
            le=0.5,
            title="Error bound",
            description="More instances are tested until the margin of every score is at "
            "most this.",
            extra={"symbol": "δ"},
        ),
    ] = 0.05
    subsets: Annotated[
        Literal["all", "single", "ordered"],
        msgspec.Meta(
            title="Sets of categories",
            description=(
                "Which sets of an attribute’s categories are tested: all sets; single categories "
                "and all but each of them; or the categories with the highest rates, added one "
                "after the other. Beyond ten categories there are too many sets to test all."
            ),
        ),
    ] = "all"
    outcome: Annotated[
        Literal["favourable", "each", "score"],
        msgspec.Meta(
            title="Compared measure",
            description=(
                "The share with the favourable decision, the share with each decision in turn, "
                "or the mean score of the favourable decision."
            ),
        ),
    ] = "favourable"
    z: Annotated[
        float,
        msgspec.Meta(
            ge=0.1,
            le=10,
            title="Normal quantile of the margin",
            description=(
                "The margin of a rate is this many standard errors; 1.96 is a confidence of 95 % "
                "on each side."
            ),
            extra={"symbol": "z"},
        ),
    ] = Z
    s_pert: Annotated[
        float,
        msgspec.Meta(
            ge=1,
            le=1_000_000,
            title="Perturbation of whole numbers",
            description="By how much a whole number of a data row is changed in a sample.",
            extra={"symbol": "s_pert"},
        ),
    ] = 1.0
    s_pert_decimal: Annotated[
        float,
        msgspec.Meta(
            gt=0,
            le=1_000_000,
            title="Perturbation of decimals",
            description="By how much a decimal number is changed, or by which share of its range.",
            extra={"symbol": "s_pert"},
        ),
    ] = 0.01
    perturbation: Annotated[
        Literal["mixed", "absolute", "relative"],
        msgspec.Meta(
            title="Type of perturbation",
            description=(
                "Whole numbers by an amount and decimals by a share of their range in the input "
                "domain; both by an amount, as in the paper, whose decimals lie between 0 and 1; "
                "or both by a share of their range, that of decimals."
            ),
        ),
    ] = "mixed"
    coded: Annotated[
        Literal["names", "ordered"],
        msgspec.Meta(
            title="Coded categories",
            description=(
                f"What whole numbers with at most {MOST_NAMES} different values are: codes of "
                "categories without an order, of which sets are tested; or ordered, so that ranges "
                "are. An attribute with bin boundaries is ordered."
            ),
        ),
    ] = "names"


class MeasureOptions(msgspec.Struct, frozen=True):
    """The parameters."""

    outcome: Annotated[
        Literal["favourable", "each"],
        msgspec.Meta(
            title="Counted outcome",
            description="The favourable decision, or each decision in turn.",
        ),
    ] = "favourable"
    least_share: Annotated[
        float,
        msgspec.Meta(
            ge=0,
            le=0.5,
            title="Minimum share",
            description=(
                "Groups with a smaller share of the individuals are shown but excluded from "
                "impact ratios, from 0 to 1."
            ),
        ),
    ] = LEAST_SHARE
    small: Annotated[
        Literal["mid-p", "exact"],
        msgspec.Meta(
            title="Test of small groups",
            description=(
                "Where fewer than five individuals are expected in a cell, Fisher’s exact test is "
                "made: with its mid-p value, or with the exact p-value, which is larger (more "
                "cautious)."
            ),
        ),
    ] = "mid-p"


class ThemisGroupsOptions(msgspec.Struct, frozen=True):
    """The parameters of THEMIS."""

    confidence: Confidence = 0.99
    margin: ErrorBound = 0.01
    together: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=10,
            title="Attributes combined",
            description="Maximum number of protected attributes that define a group. Sets of "
            f"several that define more than {MOST_GROUPS} groups are omitted.",
        ),
    ] = 3
    most: MostPeople = 1_000_000


class FairFictPlayOptions(msgspec.Struct, frozen=True):
    """The parameters."""

    rounds: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=50,
            title="Subgroups",
            description="Number of subgroups searched for, each in what the earlier ones "
            "do not explain.",
        ),
    ] = 5
