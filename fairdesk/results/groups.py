"""Figures about groups that are known beforehand: their rates, side by side."""

from __future__ import annotations

from typing import Literal

import msgspec


class GroupGap(msgspec.Struct, frozen=True, tag=True):
    """How far the favourable rates of two groups of invented people are apart (THEMIS).

    Attributes
    ----------
    attributes : tuple[str, ...]
        The protected attributes whose values make the groups.
    n_samples : int
        How many were drawn; each asked about as a member of their own group or of all of them.
    gap, low, high : float
        The greatest difference of two groups' rates, and its interval.
    confidence : float
        Of the interval, above 0 and below 1.
    best, worst : tuple[float, ...]
        The codes of the two groups: one per attribute.
    best_rate, worst_rate : float
        Their rates of the favourable decision.
    sets : int
        Of how many sets of attributes the intervals hold together.
    unmet : int
        Groups of which nobody was met: the difference does not speak of them.
    """

    attributes: tuple[str, ...]
    n_samples: int
    gap: float
    low: float
    high: float
    confidence: float
    best: tuple[float, ...]
    worst: tuple[float, ...]
    best_rate: float
    worst_rate: float
    sets: int = 1
    unmet: int = 0


class Bin(msgspec.Struct, frozen=True):
    """People whose scores lie between two ends: what was expected of them and what was true.

    Attributes
    ----------
    low, high : float
        The ends; the upper one is included.
    n_samples : int
        How many.
    expected : float
        Their mean score of the favourable decision.
    observed : float
        The share of them with the favourable label.
    """

    low: float
    high: float
    n_samples: int
    expected: float
    observed: float


class GroupLine(msgspec.Struct, frozen=True):
    """One group in a table of groups. ``None`` is undefined: 0/0, or nothing to compare with.

    Attributes
    ----------
    values : tuple[str, ...]
        Its value of each attribute, as the auditor reads it.
    codes : tuple[float, ...]
        The same as codes of the domain's ``grouping`` attributes; of a bin of numbers the
        compared value, or with given edges the least value. Empty where one has no code: a cell
        is missing, or its value not among those compared.
    known : bool
        Whether all of these are known. Groups that are not are counted, but not compared.
    n_samples : int
        ``n``: people in it with a known outcome.
    share : float
        Of all people with known groups and outcome; of an unknown group of all with an outcome.
    favourable : int
        ``s``: those with the favourable outcome; of scores, with one on the favourable side of the
        median of all.
    rate : float, optional
        ``s / n``: the selection rate, or scoring rate.
    low, high : float
        Wilson's interval (95 %); 0 and 1 of an empty group.
    excluded : bool
        Under 2 % of the people: left out of the comparison of rates (6 RCNY 5-301).
    impact_ratio : float, optional
        The rate by the reference's; above 1 where the rate is higher.
    below : bool, optional
        Whether that is under four fifths: a screening line.
    flips : bool, optional
        Whether one person more, or fewer, with the favourable outcome would change that.
    shortfall : float, optional
        How many more would have it at the rate of all people together.
    test : str
        ``"Z"``, ``"Fisher mid-p"`` or ``"Fisher exact"``, against the reference; empty where none
        was made.
    z : float, optional
        Of the pooled two-proportion test.
    p, holm : float, optional
        Its two-sided p-value, by itself and corrected for all groups of the table.
    difference, difference_low, difference_high : float, optional
        The rate less the reference's, with Newcombe's interval (95 %).
    smd : float, optional
        Of scores: the mean less the reference's, in standard deviations of all people.
    mean_score : float, optional
        The mean score of the favourable decision, as the model gives it; the mean of the numbers
        themselves where it estimates one.
    positives, true_positives : int, optional
        With labels: people with the favourable label, and those of them decided favourably.
    negatives, false_positives : int, optional
        Those with another label, and those of them decided favourably.
    true_positive_rate, false_positive_rate, precision, accuracy : float, optional
        By these.
    equal_opportunity, average_odds : float, optional
        Differences to the reference: of true positive rates, and the mean of those of both rates.
    calibration : tuple[Bin, ...]
        With labels and scores.
    """

    values: tuple[str, ...]
    codes: tuple[float, ...]
    known: bool
    n_samples: int
    share: float
    favourable: int
    rate: float | None
    low: float
    high: float
    excluded: bool = False
    impact_ratio: float | None = None
    below: bool | None = None
    flips: bool | None = None
    shortfall: float | None = None
    test: str = ""
    z: float | None = None
    p: float | None = None
    holm: float | None = None
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    smd: float | None = None
    mean_score: float | None = None
    positives: int | None = None
    true_positives: int | None = None
    negatives: int | None = None
    false_positives: int | None = None
    true_positive_rate: float | None = None
    false_positive_rate: float | None = None
    precision: float | None = None
    accuracy: float | None = None
    equal_opportunity: float | None = None
    average_odds: float | None = None
    calibration: tuple[Bin, ...] = ()


class GroupTable(msgspec.Struct, frozen=True, tag=True):
    """How the groups of one protected attribute, or of several together, fare.

    Attributes
    ----------
    of : str
        What was counted: the ``"label"``, the model's ``"decisions"``, or its ``"scores"`` (on the
        favourable side of the median or not).
    outcome : str
        The favourable outcome by name; of ``"scores"`` that of the decision whose score it is.
    attributes : tuple[str, ...]
        Whose values make the groups.
    n_samples : int
        ``N``: people with known groups and outcome.
    unknown : int
        People left out: of unknown group.
    without : int
        People left out: without an outcome, or whom the model could not be asked about.
    favourable : int
        ``S``: those of the ``people`` with the favourable outcome.
    reference : int
        The place of the group with which others are compared; -1 for none. All tables of the same
        attributes have the same one.
    lines : tuple[GroupLine, ...]
        In the order of the attributes' values; of several attributes only groups with people.
    median : float, optional
        Of ``"scores"``: of the full sample.
    ties : float, optional
        Of ``"scores"``: the share of people right at the median, who count to neither side.
    falls : bool
        Of ``"scores"``: whether the favourable side of the median is the lower one.
    """

    of: Literal["label", "decisions", "scores"]
    outcome: str
    attributes: tuple[str, ...]
    n_samples: int
    unknown: int
    without: int
    favourable: int
    reference: int
    lines: tuple[GroupLine, ...]
    median: float | None = None
    ties: float | None = None
    falls: bool = False
