"""Figures about groups that a search finds: by rules, by terms of a text, by a weighted sum."""

from __future__ import annotations

import msgspec

from fairdesk.results.proofs import Conditions


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


class RuleSet(msgspec.Struct, frozen=True, tag="Subgroup"):
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
    data_rows : int, optional
        How many untouched rows there are on the side that has fewer; ``None`` in older audits.
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
    data_rows: int | None = None
    leader: int = -1
    broader: tuple[Variant, ...] = ()
    narrower: tuple[Variant, ...] = ()


class Support(msgspec.Struct, frozen=True, rename={"rule_sets": "subgroups"}):
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


class RuleSearchSummary(
    msgspec.Struct, frozen=True, tag="SubgroupSearch", rename={"rule_sets": "subgroups"}
):
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


class TermRate(msgspec.Struct, frozen=True, tag="IdentityTerm"):
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


class LinearGroup(msgspec.Struct, frozen=True, tag="LinearSubgroup"):
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
    n_samples : int
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
    n_samples: int
    phi_in: float
    phi_out: float
    score: float
    violation: float
    low: float
    high: float
