"""What is measured of every model that a repair tries: on the same rows and instances for all."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from typing import Literal, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.certify import shares
from fairdesk.errors import SpecError
from fairdesk.groups.metrics.measuring import own_scores
from fairdesk.groups.statistics import wilson_ends
from fairdesk.individual.engine.context import SURE, CombinationScores, SearchContext, margin
from fairdesk.individual.engine.pace import Pace
from fairdesk.individual.engine.sampling import confirmed, of_domain
from fairdesk.individual.shares.tally import clopper_pearson
from fairdesk.mitigate.context import PART_SECONDS, MitigationContext, Split
from fairdesk.mitigate.measures.differences import (
    ALPHA,
    Ends,
    Mask,
    Numbers,
    area_interval,
    areas,
    calibration,
    percentiles,
    resampled,
)
from fairdesk.mitigate.measures.group_gaps import GAPS, Grouped, gaps, grouped
from fairdesk.mitigate.measures.rule_scores import (
    Apart,
    MovedPeople,
    Outcome,
    Rewritten,
    samples_of,
)
from fairdesk.mitigate.options import RepairOptions
from fairdesk.models.decisions.rule import decided, is_plain
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import Capability, labels
from fairdesk.models.structure import OpaqueError
from fairdesk.results.events import Progress, Rows, Scores
from fairdesk.results.mitigation import Measure
from fairdesk.results.proofs import Proven


def drawn(context: SearchContext, real: Rows, count: int, rng: np.random.Generator) -> Rows:
    """Draw so many people of the domain, each as likely as any other: ``(count, d)``.

    Raises
    ------
    SpecError
        When nearly nobody fulfils the constraints, or nobody of the data is in the domain.
    """
    blocks, left = [np.empty((0, real.shape[1]))], count
    for rows, _ in of_domain(context, real, rng):
        blocks.append(rows[:left])
        left -= len(blocks[-1])
        if not left:
            break
    return np.concatenate(blocks)


def discriminated(context: SearchContext, people: Rows) -> Generator[int, None, Mask]:
    """Return which instances have a member in their similar set with another decision.

    Somebody whose similar set has but one member who may be is not. Nobody is asked about a second
    time, unless scores are at a border: where all of one decision are within `SURE` of another, the
    two members farthest from it are asked about anew, in each other's place too, and count where
    they are decided as before. Last bits of an answer, which may hang on a row's place in its
    batch, must not pass for discrimination.

    Yields
    ------
    int
        How many people were asked about since the last.

    Returns
    -------
    NDArray[np.bool_]
        ``(n,)``.
    """
    hit = np.zeros(len(people), dtype=np.bool_)
    near: list[tuple[NDArray[np.intp], Rows, Rows]] = []
    for part in Pace(len(context.domain.combinations), PART_SECONDS).parts(len(people)):
        rows = people[part]
        answers = context.ask(rows)
        discriminatory = hit[part] = answers.discriminatory
        if discriminatory.any() and not getattr(context.cached_model.model, "steady", False):
            places, first, second = _close_hits(
                context, rows[discriminatory], answers[discriminatory]
            )
            near.append((part.start + np.flatnonzero(discriminatory)[places], first, second))
        yield len(rows)
    if near:
        who, first, second = (np.concatenate(each) for each in zip(*near, strict=True))
        if who.size:
            hit[who] = confirmed(context, first, second)
    return hit


def _close_hits(
    context: SearchContext, rows: Rows, answers: CombinationScores
) -> tuple[NDArray[np.intp], Rows, Rows]:
    """Find who is a hit near a border only, and of each the two members to ask about anew."""
    decided, sure = answers.labels, margin(answers.scores)
    if answers.allowed is not None:
        sure = np.where(answers.allowed, sure, -1.0)
    surest = sure.argmax(axis=1)
    own = np.take_along_axis(decided, surest[:, None], axis=1)
    otherwise = np.where(decided != own, sure, -1.0)
    near = np.flatnonzero(otherwise.max(axis=1) <= SURE)
    make, second = context.domain.counterparts, otherwise.argmax(axis=1)
    return near, make(rows[near], surest[near]), make(rows[near], second[near])


Target = Literal["share_domain", "rule_score"]
Where = Literal["validation", "test", "domain"]

#: The shares that are told as the result, and on whom each is measured.
SHARES: tuple[tuple[Literal["share_domain", "share_data"], Where], ...] = (
    ("share_domain", "domain"),
    ("share_data", "test"),
)
#: The greatest number of people that a figure can tell; domains have more.
_MOST_PEOPLE = 2**53


@dataclass(frozen=True, slots=True)
class Answered:
    """What a model answers about labelled rows.

    Attributes
    ----------
    right : NDArray[np.bool_]
        ``(n,)``; whether it decides as the label has it, among its own classes.
    favourable_mask, label : NDArray[np.bool_]
        ``(n,)``; whether the decision is favourable, and whether the label is.
    scores : NDArray[np.float64], optional
        ``(n,)``; of the favourable decision; ``None`` of a model that only decides.
    probable : bool
        Whether they are probabilities.
    """

    right: Mask
    favourable_mask: Mask
    label: Mask
    scores: Numbers | None
    probable: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was measured of one model, and the answers behind it, to compare with another's.

    Attributes
    ----------
    target : str
        What is to fall.
    measures : tuple[Measure, ...]
        What is chosen by first; then the results in the order of
        `fairdesk.results.mitigation.What`.
    rows : dict
        The answers about the validation and the test rows.
    hits : dict
        Who is discriminated against: of the people drawn to choose by (``"validation"``), of those
        of the test rows, and of those drawn for the result (``"domain"``).
    apart : dict
        How people in the rule set and outside are treated, by whose rows they are made of.
    grouped : tuple[Grouped, ...]
        The test rows by group.
    seed : int
        Of resamples: the same for every model.
    """

    target: Target
    measures: tuple[Measure, ...]
    rows: dict[Where, Answered]
    hits: dict[Where, Mask]
    apart: dict[Where, Apart]
    grouped: tuple[Grouped, ...]
    seed: int

    def measure(self, what: str, rows: Where, of: str = "") -> Measure | None:
        """Return one of the measures; ``None`` where there is no such."""
        wanted = (what, of, rows)
        return next((each for each in self.measures if key(each) == wanted), None)


def key(measure: Measure) -> tuple[str, str, str]:
    """Return what identifies a measure: what, of which rows' group, on which part."""
    return measure.what, measure.of, measure.rows


class _Counted:
    """A model whose rows are counted in a mitigation as they are asked about."""

    def __init__(self, mitigation: MitigationContext, model: FedModel) -> None:
        self._mitigation, self._model = mitigation, model
        self.steady = model.steady

    def predict(self, rows: Rows) -> Scores:
        """Answer as the model does."""
        return self._mitigation.predict(self._model, rows)


class Examiner:
    """Measures models, each on the same rows and people.

    Parameters
    ----------
    split : Split
        Its validation and test rows.
    options : RepairOptions
        Its ``people``.

    Attributes
    ----------
    target : str
        What is to fall: the rule set's score where there is a rule set, else the share of people
        discriminated against.

    Raises
    ------
    SpecError
        When nearly nobody can be drawn, or the rule set speaks of what is not there.
    """

    def __init__(
        self,
        mitigation: MitigationContext,
        split: Split,
        options: RepairOptions,
        rng: np.random.Generator,
    ) -> None:
        self._mitigation = mitigation
        self.target: Target = "rule_score" if mitigation.rule else "share_domain"
        choosing, telling, seeding = rng.spawn(3)
        self._seed = int(seeding.integers(2**32))
        self._places: dict[Where, NDArray[np.intp]] = {
            "validation": split.validation,
            "test": split.test,
        }
        self._grouped = grouped(mitigation, split.test)
        self._people = self._cast(options.people, choosing, telling)
        self._samples: dict[Where, MovedPeople | Rewritten | None] = {}
        self._outcome: Outcome | None = None
        if mitigation.rule:
            self._outcome = Outcome.of(mitigation)
            self._samples = {
                where: samples_of(mitigation, places, options.people, each)
                for (where, places), each in zip(
                    self._places.items(), (choosing, telling), strict=True
                )
            }

    def _cast(
        self, count: int, choosing: np.random.Generator, telling: np.random.Generator
    ) -> dict[Where, Rows]:
        """Draw the instances, of those that have a comparison; none where there is none."""
        mitigation, domain = self._mitigation, self._mitigation.domain
        if domain.obstacle:
            return {}
        context = SearchContext(mitigation.model, domain)
        real, _ = domain.admit(mitigation.rows[mitigation.inside])
        tested, _ = domain.admit(mitigation.rows[self._places["test"]])
        people: dict[Where, Rows] = {"test": tested, "domain": drawn(context, real, count, telling)}
        if self.target == "share_domain":
            people["validation"] = drawn(context, real, count, choosing)
        return {where: rows[domain.is_compared(rows)] for where, rows in people.items()}

    @property
    def total(self) -> int:
        """How many rows, people and samples each model is measured on."""
        samples = [len(each) for each in self._samples.values() if each is not None]
        people = map(len, self._people.values())
        return sum((*map(len, self._places.values()), *people, *samples))

    def verdict(self, model: FedModel) -> Verdict:
        """Measure a model.

        Raises
        ------
        ModelError
            When it refuses to answer.
        """
        steps = self.steps(model)
        while True:
            try:
                next(steps)
            except StopIteration as over:
                verdict: Verdict = over.value
                return verdict

    def steps(self, model: FedModel) -> Generator[int, None, Verdict]:
        """Measure a model, step by step, a few of them in a second.

        Yields
        ------
        int
            How many of the rows, people and samples were asked about since the last.
        """
        mitigation = self._mitigation
        rows: dict[Where, Answered] = {}
        for where, places in self._places.items():
            rows[where] = yield from _query_rows(mitigation, model, places)
        hits: dict[Where, Mask] = {}
        if self._people:
            context = SearchContext(_Counted(mitigation, model), mitigation.domain)
            for where, people in self._people.items():
                hits[where] = yield from discriminated(context, people)
        apart: dict[Where, Apart] = {}
        for where, samples in self._samples.items():
            if samples is not None and self._outcome is not None:
                apart[where] = yield from samples.ask(mitigation, model, self._outcome)
        verdict = Verdict(self.target, (), rows, hits, apart, self._grouped, self._seed)
        return replace(verdict, measures=tuple(_measures(verdict)))


def _query_rows(
    mitigation: MitigationContext, model: FedModel, places: NDArray[np.intp]
) -> Generator[int, None, Answered]:
    """Query the model about the rows at some places of the table."""
    mapping, card = model.mapping, model.opened.card
    own, answers_so_far = [np.empty(0, dtype=np.intp)], []
    for part in Pace(1, PART_SECONDS).parts(len(places)):
        answers = model.answers(mitigation.rows[places[part]])
        scores = answers if is_plain(mapping) else decided(answers, mapping, card)
        mitigation.queries += len(answers)
        # a threshold chooses between the model's own two classes
        own.append(labels(answers if mapping.together else scores))
        answers_so_far.append(scores)
        yield len(answers)
    scores = np.concatenate(answers_so_far)
    return Answered(
        right=np.concatenate(own) == mitigation.target[places],
        favourable_mask=labels(scores) == mitigation.favourable,
        label=mitigation.label[places] == 1,
        scores=own_scores(scores, mitigation.favourable, model)
        if Capability.SCORES in card.can
        else None,
        probable=card.scores == "probabilities" and not mapping.together,
    )


def _measures(verdict: Verdict) -> Iterator[Measure]:
    """Yield what is chosen by, then the results in the order in which they are read."""
    yield _accuracy(verdict, "validation")
    yield from _target(verdict)
    yield _accuracy(verdict, "test")
    yield from _of_scores(verdict.rows["test"], verdict.seed)
    for what, where in SHARES:
        if where in verdict.hits:
            yield _share(what, where, verdict.hits[where])
    yield from _of_groups(verdict)
    if verdict.target == "rule_score":
        yield _rule_score("test", verdict.apart.get("test"))


def _target(verdict: Verdict) -> Iterator[Measure]:
    """Yield the measure that is to fall, on the validation rows; nothing where undefined."""
    if verdict.target == "rule_score":
        yield _rule_score("validation", verdict.apart.get("validation"))
    elif "validation" in verdict.hits:
        yield _share("share_domain", "validation", verdict.hits["validation"])


def _accuracy(verdict: Verdict, where: Where) -> Measure:
    right = verdict.rows[where].right
    if not right.size:
        return Measure("accuracy", "", where, None, None, None, 0)
    ends = wilson_ends(int(right.sum()), right.size)
    return Measure("accuracy", "", where, float(right.mean()), *ends, right.size)


def _of_scores(answered: Answered, seed: int) -> Iterator[Measure]:
    """Yield how good scores are; nothing for a model that only decides."""
    scores, label = answered.scores, answered.label
    if scores is None:
        return
    people, positive = label.size, int(label.sum())
    fewer = min(positive, people - positive)
    if fewer:
        area, variance = (each.item() for each in areas(scores[None], label))
        low, high = area_interval(area, variance, fewer)
        yield Measure("auc", "", "test", area, low, high, people)
    else:
        yield Measure("auc", "", "test", None, None, None, people)
    if not answered.probable or not people:
        return
    errors = squared_errors(scores, label)
    brier = float(errors.mean())
    draws = resampled(errors, np.random.default_rng(seed))[:, 0]
    low, high = _within(percentiles(draws, brier, ALPHA))
    yield Measure("brier", "", "test", brier, low, high, people)
    error, low, high = calibration(scores, label, seed)
    yield Measure("calibration", "", "test", error, low, high, people)


def squared_errors(scores: Numbers, label: Mask) -> Numbers:
    """Return the parts of the Brier score: ``(n, 1)``."""
    return np.asarray((scores - label)[:, None] ** 2)


def _within(ends: Ends) -> Ends:
    low, high = ends
    return ends if low is None or high is None else (max(low, 0.0), min(high, 1.0))


def _share(what: Literal["share_domain", "share_data"], where: Where, hits: Mask) -> Measure:
    if not hits.size:
        return Measure(what, "", where, None, None, None, 0)
    low, high = (float(each) for each in clopper_pearson(hits.sum(), hits.size, 1 - ALPHA))
    return Measure(what, "", where, float(hits.mean()), low, high, hits.size)


def _of_groups(verdict: Verdict) -> Iterator[Measure]:
    answered = verdict.rows["test"]
    found = [
        (each, gaps(each, answered.favourable_mask, answered.label)) for each in verdict.grouped
    ]
    for what in GAPS:
        for attribute, gaps_found in found:
            low, high = gaps_found.ends[what]
            estimate, people = gaps_found.estimates[what], attribute.people
            yield Measure(what, attribute.name, "test", estimate, low, high, people)


def _rule_score(where: Where, apart: Apart | None) -> Measure:
    if apart is None:
        return Measure("rule_score", "", where, None, None, None, 0)
    return Measure("rule_score", "", where, apart.score, *apart.ends, apart.n_samples)


def certified(
    mitigation: MitigationContext, model: FedModel, seconds: float
) -> Generator[Progress, None, tuple[Measure, ...]]:
    """Prove, for so many seconds, how many people are treated alike, and how many are not.

    Yields
    ------
    Progress
        Several times a second.

    Returns
    -------
    tuple[Measure, ...]
        The certified and the falsified share: proven, so without an interval. Nothing for no
        seconds, or where the model cannot be looked into.
    """
    if seconds <= 0 or mitigation.domain.obstacle:
        return ()
    context, asked = SearchContext(model, mitigation.domain), mitigation.queries
    proving = shares(context, mitigation.rows[mitigation.inside], seconds)
    proven: Proven | None = None
    try:
        while proven is None:
            if mitigation.ending:
                context.request_finish()
            event = next(proving)
            mitigation.queries = asked + event.queries
            yield msgspec.structs.replace(
                event, tried=mitigation.queries, queries=mitigation.queries
            )
    except StopIteration as end:
        proven = cast("Proven", end.value)
    except (OpaqueError, SpecError):
        # its boxes cannot be made of this domain: there is no proof, and nothing else is lost
        return ()
    people_of = min(int(proven.total or 0), _MOST_PEOPLE)
    return (
        Measure("certified", "", "domain", proven.certified, None, None, people_of),
        Measure("falsified", "", "domain", proven.falsified, None, None, people_of),
    )
