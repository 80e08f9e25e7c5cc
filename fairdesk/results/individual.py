"""Figures about single people: how many are discriminated against, and how well a search goes."""

from __future__ import annotations

from typing import Literal

import msgspec

#: Of which instances a share is: all of the domain, each as likely as any other; the rows of the
#: data; or those rows, each moved a little.
Whom = Literal["domain", "data", "perturbed"]


class Share(msgspec.Struct, frozen=True, tag=True, rename={"whom": "instances"}):
    """The share of people who are individually discriminated against, counted.

    Attributes
    ----------
    whom : str
        Of which instances: all of the ``"domain"``, each as likely as any other; the rows of the
        ``"data"``; or those rows, each moved a little (``"perturbed"``).
    attributes : tuple[str, ...]
        The protected attributes that were changed.
    n_samples, hits : int
        How many were compared with others, and the decision of how many of these changes.
    unsupported : int
        How many more were drawn, for which the data support no comparison.
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
    gains, losses : int, optional
        Of the hits, those whose decision changes from unfavourable to favourable, and the reverse;
        ``None`` where that was not counted.
    by_value : tuple[tuple[float, int, int], ...]
        Gains and losses by the own value of the one attribute that was changed: its code, gains,
        losses.
    """

    whom: Whom
    attributes: tuple[str, ...]
    n_samples: int
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
    gains: int | None = None
    losses: int | None = None
    by_value: tuple[tuple[float, int, int], ...] = ()
    unsupported: int = 0

    @property
    def exact(self) -> bool:
        """Whether the share is known, not estimated: all were checked, and no answer changed."""
        return self.exhaustive and not self.wavered


class ComparedRows(msgspec.Struct, frozen=True, tag=True):
    """How many rows of the data have a comparison, and for how many of these the decision changes.

    Attributes
    ----------
    attributes : tuple[str, ...]
        The protected attributes that were changed.
    comparison : str
        ``"supported"`` by the data, companions changed too where they are confirmed;
        ``"proposed"``: with the companions that are neither confirmed nor refused; ``"all"``:
        every combination of protected values, whether it can occur or not.
    n_rows, compared, hits : int
        Rows of the data; those with at least one comparison; those whose decision changes.
    gains, losses : int
        Of the hits, those whose decision changes to the favourable one, and from it.
    """

    attributes: tuple[str, ...]
    comparison: Literal["supported", "proposed", "all"]
    n_rows: int
    compared: int
    hits: int
    gains: int
    losses: int

    @property
    def unsupported(self) -> int:
        """Rows without a comparison."""
        return self.n_rows - self.compared


class StudiedValue(msgspec.Struct, frozen=True):
    """The decisions of the same rows, had all of them one protected value.

    Attributes
    ----------
    code : float
        The value.
    favourable : int
        Rows with the favourable decision.
    gains, losses : int
        Rows with it here and not with the reference value, and the reverse.
    low, high : float
        The interval of the difference of the two rates: Bonett and Price, "Adjusted Wald
        Confidence Interval for a Difference of Binomial Proportions Based on Paired Data", 2012.
    """

    code: float
    favourable: int
    gains: int
    losses: int
    low: float
    high: float


class AuditStudy(msgspec.Struct, frozen=True, tag=True):
    """Selection rates of the same rows under each value of one protected attribute.

    As in a paired audit study with matched applicants, but for every row of the data.

    Attributes
    ----------
    attribute : str
        The protected attribute.
    reference : float
        The code that the others are compared with: that of most rows.
    n_rows, total : int
        Rows for which the data support each of the values; all rows.
    actual : int
        Of ``n_rows``, those with the favourable decision as they are.
    values : tuple[StudiedValue, ...]
        The values that enough rows have.
    confidence : float
        Of the intervals, above 0 and below 1.
    """

    attribute: str
    reference: float
    n_rows: int
    total: int
    actual: int
    values: tuple[StudiedValue, ...]
    confidence: float


class ChangeSplit(msgspec.Struct, frozen=True, tag=True):
    """Which changes are enough for the rows whose decision changes: counts that add up to these.

    Attributes
    ----------
    attributes : tuple[str, ...]
        The protected attributes, two or more.
    hits : int
        Rows whose decision changes with any of them, alone or together.
    alone : tuple[int, ...]
        Of these, by attribute: its change alone is enough, that of no other is.
    several : int
        The change of each of two or more attributes alone is enough.
    together : int
        No change of one attribute is enough.
    """

    attributes: tuple[str, ...]
    hits: int
    alone: tuple[int, ...]
    several: int
    together: int


class ValueChange(msgspec.Struct, frozen=True):
    """Rows with one protected value, compared with themselves with another one.

    Attributes
    ----------
    code, other : float
        The own value, and the one that it is changed to.
    compared : int
        Rows for which the data support this comparison.
    gains, losses : int
        Of these, rows whose decision changes to the favourable one, and from it.
    """

    code: float
    other: float
    compared: int
    gains: int
    losses: int

    @property
    def changed(self) -> int:
        """Rows whose decision changes to the favourable one, or from it."""
        return self.gains + self.losses


class ValueChanges(msgspec.Struct, frozen=True, tag=True):
    """From which value of a protected attribute to which the decision changes, for how many rows.

    Attributes
    ----------
    attribute : str
        The protected attribute that was changed.
    n_pairs : int
        Pairs of values that were compared.
    values : tuple[ValueChange, ...]
        Of these pairs those with most changes, the first with most.
    """

    attribute: str
    n_pairs: int
    values: tuple[ValueChange, ...]


class ExcessChange(msgspec.Struct, frozen=True, tag=True, rename={"whom": "instances"}):
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
    n_samples : int
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
    n_samples: int
    between: float
    again: float
    excess: float
    low: float
    high: float
    confidence: float


class RandomBaseline(msgspec.Struct, frozen=True, tag=True):
    """How many plausible pairs random sampling finds: what a search is held against.

    Attributes
    ----------
    n_samples, found : int
        Plausible instances drawn at random, and how many of these are discriminatory.
    queries : int
        Rows sent for them.
    before : int
        Rows sent in all before the search itself began, these included.
    low, high : float
        The exact 95 % interval of ``found / n_samples``.
    """

    n_samples: int
    found: int
    queries: int
    before: int
    low: float
    high: float


class SearchPhase(msgspec.Struct, frozen=True, tag=True):
    """How many instances one phase of a search tested and found.

    Attributes
    ----------
    phase : str
        As in `fairdesk.results.events.Found`.
    tried, found : int
        Unique instances tested in this phase, and unique discriminatory ones among them.
    paths : int
        Paths of a decision tree, fitted to the model's decisions about the data, on which an
        instance of this phase was the first.
    all_paths : int
        Paths of that tree; 0 where they were not counted.
    """

    phase: str
    tried: int
    found: int
    paths: int = 0
    all_paths: int = 0


class GradientFidelity(msgspec.Struct, frozen=True, tag=True):
    """How well zero-order gradients of one perturbation size serve a search (MAFT, RQ1 and RQ3).

    Attributes
    ----------
    size : float
        The perturbation size.
    n_samples : int
        How many it was measured on.
    gradients, directions, probabilities : float, optional
        Mean cosine similarity with what the model's true gradients give: of the gradients
        themselves, of the direction of a global step, and of the odds of a local one. ``None``
        where the model gives no gradients.
    tried, found : int
        Of a short search with this size.
    """

    size: float
    n_samples: int
    gradients: float | None
    directions: float | None
    probabilities: float | None
    tried: int
    found: int
