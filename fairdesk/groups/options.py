"""The parameters of the methods about groups."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from fairdesk.individual.shares.options import Confidence, ErrorBound, MostPeople

#: Groups with a smaller share of the people may be left out of impact ratios (6 RCNY 5-301).
LEAST_SHARE = 0.02
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
            title="Least support",
            description="A group is looked at when at least this share of the data’s rows is in "
            "it, from 0 to 1.",
        ),
    ] = 0.05
    least_rows: Annotated[
        int,
        msgspec.Meta(
            ge=2,
            le=10_000,
            title="Least rows",
            description="A group is looked at when at least so many of the data’s rows are in it, "
            "and as many outside: however many samples are made of fewer individuals, they show "
            "little of others.",
        ),
    ] = 10
    bins: Annotated[
        int,
        msgspec.Meta(
            ge=2,
            le=50,
            title="Bins",
            description="A protected number is divided into so many bins of equal width, unless "
            "their edges are given.",
        ),
    ] = 10
    together: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=10,
            title="Attributes together",
            description="A rule set speaks of so many protected attributes at most.",
        ),
    ] = 3
    sample_thr: Annotated[
        int,
        msgspec.Meta(
            ge=10,
            le=1_000_000,
            title="Samples at least",
            description="So many people are asked about in every group before its margin counts.",
        ),
    ] = 1_000
    error_thr: Annotated[
        float,
        msgspec.Meta(
            ge=0.001,
            le=0.5,
            title="Error bound",
            description="More people are asked about until the margin of every score is at most "
            "this.",
        ),
    ] = 0.05
    subsets: Annotated[
        Literal["all", "single", "ordered"],
        msgspec.Meta(
            title="Groups of names",
            description="Which sets of an attribute’s names are tried: all of them; single names "
            "and everybody but them; or those with the highest rates, one after the other. All are "
            "too many beyond ten names.",
        ),
    ] = "all"
    outcome: Annotated[
        Literal["favourable", "each", "score"],
        msgspec.Meta(
            title="What is compared",
            description="The share with the favourable decision, the share with each decision in "
            "turn, or the mean score of the favourable one.",
        ),
    ] = "favourable"


class MeasureOptions(msgspec.Struct, frozen=True):
    """The parameters."""

    outcome: Annotated[
        Literal["favourable", "each"],
        msgspec.Meta(
            title="What is counted",
            description="The favourable decision, or each decision in turn.",
        ),
    ] = "favourable"
    least_share: Annotated[
        float,
        msgspec.Meta(
            ge=0,
            le=0.5,
            title="Least share",
            description="Groups with a smaller share of the people are shown, but left out of "
            "impact ratios, from 0 to 1.",
        ),
    ] = LEAST_SHARE


class ThemisGroupsOptions(msgspec.Struct, frozen=True):
    """The parameters of THEMIS."""

    confidence: Confidence = 0.99
    margin: ErrorBound = 0.01
    together: Annotated[
        int,
        msgspec.Meta(
            ge=1,
            le=10,
            title="Attributes together",
            description="Groups are made of so many protected attributes at most. Sets of several "
            f"that make more than {MOST_GROUPS} groups are left out.",
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
            description="So many subgroups are looked for, each in what those before do not tell.",
        ),
    ] = 5
