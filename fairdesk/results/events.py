"""What a method yields while it works: findings, figures, and how far it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.repeatability import Repeatability
from fairdesk.results.trials import Augmented, Repair, Retrained, Trial

#: A batch of rows, one column per attribute of the domain: ``(n, d)`` float64 codes.
Rows = NDArray[np.float64]
#: What a model answers: ``(n, k)`` float32; ``k = 1`` is the score of class 1.
Scores = NDArray[np.float32]


class Found(msgspec.Struct, frozen=True, tag=True):
    """A batch of unique individual discriminatory instances, each re-checked on the model.

    Two decisions differ, or, where the method was told to count that too (Aequitas' gamma), two
    scores differ by more than so much.

    Attributes
    ----------
    rows : Rows
        ``(n, d)``; the instances, each in the domain, unique on the non-protected attributes.
    partners : Rows
        ``(n, d)``; for each the member of its similar set whose score is farthest from its own
        among those that get another decision. Differs from ``rows`` in protected attributes and
        in what these determine only.
    row_scores, partner_scores : Scores
        ``(n, k)``; what the model answered for both.
    alone : NDArray[np.bool_]
        ``(n, p)``; whether changing this one protected attribute already changes the decision.
    phase : str
        The phase of the method that found them (``"global"`` or ``"local"``).
    """

    rows: Rows
    partners: Rows
    row_scores: Scores
    partner_scores: Scores
    alone: NDArray[np.bool_]
    phase: str


class Progress(msgspec.Struct, frozen=True, tag=True):
    """How far a method is. Counts are running totals and never fall.

    Attributes
    ----------
    phase : str
        The phase that is running.
    done, total : int
        Steps of this phase done and planned.
    tried : int
        Unique inputs checked (unique on the non-protected attributes).
    found : int
        Unique discriminatory instances among them.
    queries : int
        Rows sent to the model, whether for its answer or for its gradient.
    rejected : int
        People whom the search would have gone to, but who break a constraint or are too far from
        anybody real.
    seconds : dict[str, float]
        Wall seconds spent in the method so far, per phase; filled in by `timed`.
    """

    phase: str
    done: int
    total: int
    tried: int
    found: int
    queries: int
    seconds: dict[str, float] = msgspec.field(default_factory=dict)
    rejected: int = 0


class Share(msgspec.Struct, frozen=True, tag=True):
    """The share of people who are individually discriminated against, counted.

    Attributes
    ----------
    whom : str
        Of which people: all of the ``"domain"``, each as likely as any other; the rows of the
        ``"data"``; or those rows, each moved a little (``"perturbed"``).
    attributes : tuple[str, ...]
        The protected attributes that were changed.
    people, hits : int
        How many were checked, and how many of these are discriminatory.
    exhaustive : bool
        Everybody was checked: the share is exact, and the intervals are that one number.
    confidence : float
        Of both intervals, above 0 and below 1.
    estimate : float
        ``hits / people``.
    low, high : float
        The exact (Clopper-Pearson) interval for so many people, where their number was decided
        beforehand.
    anytime_low, anytime_high : float
        An interval that holds at every moment of the sampling together (a confidence sequence):
        whoever looks at it may stop when they like.
    trials : tuple[float, ...]
        The share in each trial of equally many people.
    course : tuple[tuple[float, float, float, float], ...]
        How it came: people, estimate, and the two ends of the anytime interval, thinned to at
        most some hundred points.
    opaque : str
        Where it was to be proven: why the model cannot be looked into, a clause. Else empty.
    wavered : int
        Rows that were queried again during the run and got another answer than before.
    """

    whom: Literal["domain", "data", "perturbed"]
    attributes: tuple[str, ...]
    people: int
    hits: int
    exhaustive: bool
    confidence: float
    estimate: float
    low: float
    high: float
    anytime_low: float
    anytime_high: float
    trials: tuple[float, ...] = ()
    course: tuple[tuple[float, float, float, float], ...] = ()
    opaque: str = ""
    wavered: int = 0

    @property
    def exact(self) -> bool:
        """Whether the share is known, not estimated: all were checked, and no answer changed."""
        return self.exhaustive and not self.wavered


class ExcessChange(msgspec.Struct, frozen=True, tag=True):
    """How much more often decisions change between counterfactuals than between two queries.

    It is the mean of ``(p - q)^2`` over pairs of counterfactuals, the probabilities that either is
    decided favourably: nought where these do not depend on the protected attributes, and never
    above the share of pairs for which they do.

    Attributes
    ----------
    whom : str
        Of all of the ``"domain"``, each as likely as any other, or of the rows of the ``"data"``.
    attributes : tuple[str, ...]
        The protected attributes that were changed.
    people : int
        How many pairs were queried, each row of them twice.
    between, again : float
        The share of queries of the two rows of a pair whose decisions differ, and of two queries
        of the same row.
    excess, low, high : float
        The estimate, and its interval, which holds at every moment of the sampling; the estimate
        may be below nought.
    confidence : float
        Of the interval, above 0 and below 1.
    """

    whom: Literal["domain", "data"]
    attributes: tuple[str, ...]
    people: int
    between: float
    again: float
    excess: float
    low: float
    high: float
    confidence: float


class GroupGap(msgspec.Struct, frozen=True, tag=True):
    """How far the favourable rates of two groups of invented people are apart (THEMIS).

    Attributes
    ----------
    attributes : tuple[str, ...]
        The protected attributes whose values make the groups.
    people : int
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
    people: int
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


class GradientFidelity(msgspec.Struct, frozen=True, tag=True):
    """How well zero-order gradients of one perturbation size serve a search (MAFT, RQ1 and RQ3).

    Attributes
    ----------
    size : float
        The perturbation size.
    people : int
        How many it was measured on.
    gradients, directions, probabilities : float, optional
        Mean cosine similarity with what the model's true gradients give: of the gradients
        themselves, of the direction of a global step, and of the odds of a local one. ``None``
        where the model gives no gradients.
    tried, found : int
        Of a short search with this size.
    """

    size: float
    people: int
    gradients: float | None
    directions: float | None
    probabilities: float | None
    tried: int
    found: int


class Estimated(msgspec.Struct, frozen=True):
    """What sampling says of that part of a space for which nothing is proven; never part of it.

    Attributes
    ----------
    people : int
        How many were drawn at random from the boxes in which not everybody is decided, each as
        likely as any other: some of them are among those who are.
    unlike : int
        How many of these are treated unlike.
    low, high : float
        The exact (Clopper-Pearson) interval of the share of the undecided people who are: what is
        proven of those boxes is taken off.
    confidence : float
        Of the interval, above 0 and below 1.
    estimate : float
        That share, as those who were drawn tell it.
    """

    people: int
    unlike: int
    low: float
    high: float
    confidence: float
    estimate: float


class Proven(msgspec.Struct, frozen=True, tag=True):
    """What is proven about the people of a space: how many are treated alike, and how many not.

    A person counts once, whatever their protected values: what is counted are similar sets in
    which anybody may be. One is alike when all of its members who may be get the same decision
    (also when there is but one of them), unlike when two of them do not.

    Attributes
    ----------
    of : str
        Of all people of the ``"domain"``, each as likely as any other, or of the
        ``"population"``: the product of the shares that each value has in the data.
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

    of: Literal["domain", "population"]
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


class Region(msgspec.Struct, frozen=True, tag=True):
    """A box of people all of whom are treated alike, or all of whom are not: proven.

    Attributes
    ----------
    verdict : str
        ``"alike"`` or ``"unlike"``.
    conditions : tuple[Condition, ...]
        What tells the box from the whole domain, in the order of the attributes.
    share : float
        How much of the domain it is, rounded down.
    people : str
        How many that are, in decimal digits.
    population : float
        How much of the population it is, about.
    """

    verdict: Literal["alike", "unlike"]
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


class Part(msgspec.Struct, frozen=True):
    """A box of the refinement, with everything in it.

    Attributes
    ----------
    parent : int
        Its place in the list, before this one; -1 for the first.
    conditions : tuple[Condition, ...]
        As of `Region`.
    share : float
        How much of the domain it is.
    certified, falsified : float
        How much of the domain is proven alike, or unlike, inside it; the rest is undecided.
    boxes : int
        How many boxes it was divided into in the end.
    """

    parent: int
    conditions: tuple[Condition, ...]
    share: float
    certified: float
    falsified: float
    boxes: int = 1


class Refinement(msgspec.Struct, frozen=True, tag=True):
    """How the domain was divided: the larger boxes of the refinement, each after its parent.

    Attributes
    ----------
    parts : tuple[Part, ...]
        The first is the whole domain. Boxes too small to be seen are left out, so the children of
        one may be less than it.
    """

    parts: tuple[Part, ...]


#: A rule set: its conditions hold together.
Conditions = tuple[Condition, ...]


class Variant(msgspec.Struct, frozen=True):
    """A rule set beside another that is broader or narrower by one step.

    Attributes
    ----------
    conditions : tuple[Condition, ...]
        The rule set; none says everybody.
    score : float
        Its group fairness score.
    phi_in : float
        The rate inside it.
    support : float
        The share of the data's rows in it.
    """

    conditions: Conditions
    score: float
    phi_in: float
    support: float


class RuleSet(msgspec.Struct, frozen=True, tag=True):
    """A group that rules describe, and how it fares beside everybody else (TestSGD).

    Attributes
    ----------
    conditions : tuple[Condition, ...]
        The rules, at most one per protected attribute, in the order of the attributes.
    outcome : str
        What is counted: the name of a decision, or ``""`` for the mean score of the favourable
        one.
    score : float
        The group fairness score ``|phi_in - phi_out|``.
    phi_in, phi_out : float
        The share of samples with that decision inside the group and outside it; or mean scores.
    margin : float
        The paper's: the half widths of both shares' intervals together, given these rows.
    confidence : float
        The paper's, that the score is within the margin: the product of both intervals'.
    support : float
        The share of the data's rows in the group.
    rows : int
        How many that are.
    n_in, n_out : int
        Samples asked about, inside and outside.
    low, high : float
        Between what ``phi_in - phi_out`` lies for individuals like those in the data: Newcombe's
        interval, of all rule sets examined together (95 %). It counts data rows, not samples.
    p : float
        That a difference so great is chance, likewise by rows: corrected by Holm for all rule sets
        examined.
    data_in, data_out : float, optional
        The same shares among the data's own rows, nothing perturbed; ``None`` where nobody is.
    holds_on_data : bool, optional
        Whether the untouched rows show the difference too: in the same direction, and at least
        half as great. ``None`` where that cannot be said.
    leader : int
        The place, among the run's rule sets about the same outcome, of the one that this is a
        variant of: it describes nearly the same people. -1 for one that stands for itself.
    broader, narrower : tuple[Variant, ...]
        The lattice around it, of rule sets that stand for themselves: one step more general and
        more specific, the highest scores first.
    """

    conditions: Conditions
    outcome: str
    score: float
    phi_in: float
    phi_out: float
    margin: float
    confidence: float
    support: float
    rows: int
    n_in: int
    n_out: int
    low: float
    high: float
    p: float
    data_in: float | None = None
    data_out: float | None = None
    holds_on_data: bool | None = None
    leader: int = -1
    broader: tuple[Variant, ...] = ()
    narrower: tuple[Variant, ...] = ()


class Support(msgspec.Struct, frozen=True):
    """What would be found with another least support (TestSGD, Table 6).

    Attributes
    ----------
    theta : float
        The least support, 0 to 1.
    rule_sets : int
        How many rule sets have it.
    score : float
        The highest score among them; 0 where there is none.
    conditions : tuple[Condition, ...]
        The rule set with that score.
    """

    theta: float
    rule_sets: int
    score: float
    conditions: Conditions = ()


class RuleSearchSummary(msgspec.Struct, frozen=True, tag=True):
    """What a search for rule sets did, for one outcome; its rule sets follow it, ranked.

    The highest scores come first, but those that leave fewer people outside than the least support
    last.

    Attributes
    ----------
    outcome : str
        As of `RuleSet`.
    attributes : tuple[str, ...]
        The protected attributes, or categories of terms, that rules speak of.
    theta : float
        The least support asked for.
    rule_sets : int
        How many rule sets were examined: all those with that support.
    candidates : int
        How many were counted, those without it too.
    samples : int
        How many people (or texts) were asked about.
    margin : float
        The widest margin of any rule set.
    seconds : float
        Wall seconds until here.
    texts : int
        Of a search in texts: how many name anybody. Else 0.
    sweep : tuple[Support, ...]
        The findings by the support asked for, from ``theta`` upwards.
    notes : tuple[str, ...]
        What else the auditor must know, a sentence each.
    """

    outcome: str
    attributes: tuple[str, ...]
    theta: float
    rule_sets: int
    candidates: int
    samples: int
    margin: float
    seconds: float
    texts: int = 0
    sweep: tuple[Support, ...] = ()
    notes: tuple[str, ...] = ()


class Flip(msgspec.Struct, frozen=True):
    """A sentence that gets another decision when it names somebody else.

    Attributes
    ----------
    row : int
        Its place in the table, from 0.
    text, other : str
        The sentence with the one term and with the other.
    other_term : str
        The other term.
    score, other_score : float
        The score of the favourable decision for both.
    decision, other_decision : str
        The decisions.
    """

    row: int
    text: str
    other: str
    other_term: str
    score: float
    other_score: float
    decision: str
    other_decision: str


class TermRate(msgspec.Struct, frozen=True, tag=True):
    """How sentences fare that name one term: the group, and each sentence by itself.

    Attributes
    ----------
    category, term : str
        The term and its category.
    occurs : int
        Rows of the data with the term itself.
    texts : int
        Sentences asked about with this term in the place of one of its category.
    rate : float
        The share of these with the favourable decision.
    tried : int
        How many of these sentences were compared with the same ones with other terms.
    flips : int
        How many of those get another decision with some other term of the category: individual
        discriminatory instances, each asked again.
    examples : tuple[Flip, ...]
        Some of them, those with the greatest difference of scores first.
    """

    category: str
    term: str
    occurs: int
    texts: int
    rate: float
    tried: int
    flips: int
    examples: tuple[Flip, ...] = ()


class LinearGroup(msgspec.Struct, frozen=True, tag=True):
    """A subgroup that a linear threshold function of the protected attributes makes.

    Kearns, Neel, Roth and Wu, "Preventing Fairness Gerrymandering", ICML 2018.

    Attributes
    ----------
    features : tuple[str, ...]
        What is weighed: numbers by their attribute, and names as ``"race = Black"``.
    weights : tuple[float, ...]
        Of each, in its own unit; numbers are first made standard (mean 0, deviation 1).
    bias : float
        Who has a weighted sum plus this above 0 is in the group.
    outcome : str
        The decision that is counted.
    support : float
        The share of the held-out people in the group.
    people : int
        How many people were held out.
    phi_in, phi_out : float
        The rates in the group and outside it, among the held-out people.
    score : float
        ``|phi_in - phi_out|``.
    violation : float
        What the search maximises: support times the distance of the group's rate from everybody's.
    low, high : float
        Newcombe's interval (95 %) of ``phi_in - phi_out``, on held-out people: nobody on whom the
        group was fitted.
    """

    features: tuple[str, ...]
    weights: tuple[float, ...]
    bias: float
    outcome: str
    support: float
    people: int
    phi_in: float
    phi_out: float
    score: float
    violation: float
    low: float
    high: float


class Bin(msgspec.Struct, frozen=True):
    """People whose scores lie between two ends: what was expected of them and what was true.

    Attributes
    ----------
    low, high : float
        The ends; the upper one is included.
    people : int
        How many.
    expected : float
        Their mean score of the favourable decision.
    observed : float
        The share of them with the favourable label.
    """

    low: float
    high: float
    people: int
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
    people : int
        ``n``: people in it with a known outcome.
    share : float
        Of all people with known groups and outcome; of an unknown group of all with an outcome.
    favourable : int
        ``s``: those with the favourable outcome; of scores, with one above the median of all.
    rate : float, optional
        ``s / n``: the selection rate, or scoring rate.
    low, high : float
        Wilson's interval (95 %); 0 and 1 of an empty group.
    excluded : bool
        Under 2 % of the people: left out of the comparison of rates (6 RCNY 5-301).
    impact_ratio : float, optional
        The rate by the highest of those not excluded.
    below : bool, optional
        Whether that is under four fifths: a screening line.
    flips : bool, optional
        Whether one person more, or fewer, with the favourable outcome would change that.
    shortfall : float, optional
        How many more would have it at the rate of all people together.
    test : str
        ``"Z"`` or ``"Fisher mid-p"``, against the reference; empty where none was made.
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
    people: int
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
        What was counted: the ``"label"``, the model's ``"decisions"``, or its ``"scores"`` (above
        the median or not).
    outcome : str
        The favourable outcome by name; of ``"scores"`` that of the decision whose score it is.
    attributes : tuple[str, ...]
        Whose values make the groups.
    people : int
        ``N``: people with known groups and outcome.
    unknown : int
        People left out: of unknown group.
    without : int
        People left out: without an outcome, or whom the model could not be asked about.
    favourable : int
        ``S``: those of the ``people`` with the favourable outcome.
    reference : int
        The place of the group with the highest rate, with which others are compared; -1 for none.
    lines : tuple[GroupLine, ...]
        In the order of the attributes' values; of several attributes only groups with people.
    median : float, optional
        Of ``"scores"``: of the full sample.
    ties : float, optional
        Of ``"scores"``: the share of people right at the median, who do not count as above it.
    """

    of: Literal["label", "decisions", "scores"]
    outcome: str
    attributes: tuple[str, ...]
    people: int
    unknown: int
    without: int
    favourable: int
    reference: int
    lines: tuple[GroupLine, ...]
    median: float | None = None
    ties: float | None = None


Metric = (
    Share
    | Repeatability
    | ExcessChange
    | GroupGap
    | GradientFidelity
    | Proven
    | Region
    | PairShare
    | Refinement
    | RuleSearchSummary
    | RuleSet
    | TermRate
    | LinearGroup
    | GroupTable
    | Repair
    | Trial
)


class Measured(msgspec.Struct, frozen=True, tag=True):
    """All figures of a run as they stand; they take the place of those told before.

    Attributes
    ----------
    phase : str
        The phase that measured.
    figures : tuple[Metric, ...]
        In the order in which they are to be read.
    """

    phase: str
    figures: tuple[Metric, ...]


class Certificate(msgspec.Struct, frozen=True, tag=True):
    """Everything that was proven, box by box: what a certificate file holds.

    It takes the place of the one that was told before.

    Attributes
    ----------
    phase : str
        The phase that proved it.
    header : bytes
        JSON; see `fairdesk.certify.proof.certificate.Header`.
    arrays : dict[str, NDArray]
        The nodes of the refinement, ``(n,)`` each; see there.
    """

    phase: str
    header: bytes
    arrays: dict[str, NDArray[Any]]


#: What a method yields; these very structs cross from the guest to the app.
Event = Found | Progress | Measured | Certificate | Augmented | Retrained


def _arrays(found: Found) -> dict[str, NDArray[Any]]:
    """Return the arrays of findings by their names."""
    return {name: each for name, each in msgspec.structs.asdict(found).items() if name != "phase"}


def concatenated(batches: Sequence[Found]) -> Found:
    """Return findings of one phase, at least one batch of them, as one batch."""
    parts = [_arrays(batch) for batch in batches]
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return Found(**joined, phase=batches[0].phase)


def selected(found: Found, where: NDArray[np.bool_]) -> Found:
    """Return those findings for which ``where``, ``(n,)``, is true."""
    return Found(**{name: each[where] for name, each in _arrays(found).items()}, phase=found.phase)


def timed(events: Iterator[Event], seconds: dict[str, float] | None = None) -> Iterator[Event]:
    """Fill in what each phase took, without the time that the events' reader takes.

    Where ``seconds`` are given, it goes on with these, and keeps them.
    """
    seconds = {} if seconds is None else seconds
    while True:
        started = perf_counter()
        event = next(events, None)
        if event is None:
            return
        spent = perf_counter() - started
        seconds[event.phase] = seconds.get(event.phase, 0.0) + spent
        if isinstance(event, Progress):
            event = msgspec.structs.replace(event, seconds=dict(seconds))
        yield event
