"""Similar sets: who else a person could be, and whether that changes the decision."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.domain import Domain
from fairdesk.individual.engine.cached_model import CachedModel
from fairdesk.individual.engine.pace import PartTimes
from fairdesk.individual.engine.steps import VisitedSet
from fairdesk.models.decisions.requerying import compare
from fairdesk.models.decisions.requerying import joined as counted_together
from fairdesk.models.model import Model, labels
from fairdesk.population.nearest import scaled
from fairdesk.population.plausible import PlausibleDomain
from fairdesk.repeatability import Repeatability
from fairdesk.results.events import Certificate, Found, Progress, Rows, Scores, selected

if TYPE_CHECKING:
    from fairdesk.individual.engine.kernels import Keys, Numbers
    from fairdesk.population.plausible import Criterion


#: Rows that are made and asked about in one go; more would be no faster, only larger.
MOST_ROWS = 200_000
#: An answer that is farther than this from where the decision would be another is sure, as a part
#: of the greater of the score and 1. The last bits of a float32 are some ten thousand times less.
SURE = 1e-3
#: So little more is rounding.
_ROUNDING = 1e-9

Part = TypeVar("Part", bound=np.generic)


def in_parts(
    ask: Callable[[NDArray[Any]], NDArray[Part]], rows: NDArray[Any], questions: int
) -> NDArray[Part]:
    """Query the model about rows part by part, where each row makes so many questions.

    Keeps memory bounded when many people meet many combinations.
    """
    size = max(1, MOST_ROWS // questions)
    if len(rows) <= size:
        return ask(rows)
    return np.concatenate([ask(rows[start : start + size]) for start in range(0, len(rows), size)])


@dataclass(frozen=True, slots=True)
class CombinationScores:
    """What the model answers to people under every combination of protected values.

    Attributes
    ----------
    scores : Scores
        ``(n, C, k)``; NaN for those who may not be.
    labels : NDArray[np.intp]
        ``(n, C)``; the decided classes; -1 for those who may not be.
    allowed : NDArray[np.bool_], optional
        ``(n, C)``; who may be: members that break no constraint. ``None`` when all may.
    """

    scores: Scores
    labels: NDArray[np.intp]
    allowed: NDArray[np.bool_] | None = None

    def __getitem__(self, which: NDArray[np.bool_]) -> CombinationScores:
        """Return the answers to some of the people only."""
        allowed = None if self.allowed is None else self.allowed[which]
        return CombinationScores(self.scores[which], self.labels[which], allowed)

    @property
    def compared(self) -> NDArray[np.bool_]:
        """``(n,)``; whether the similar set has two members that may be, or more."""
        if self.allowed is None:
            return np.ones(len(self.labels), dtype=np.bool_)
        return np.asarray(self.allowed.sum(axis=1) > 1)

    @property
    def discriminatory(self) -> NDArray[np.bool_]:
        """``(n,)``; whether some two members of the similar set are decided differently."""
        if self.allowed is None:
            return np.asarray((self.labels != self.labels[:, :1]).any(axis=1))
        first = self.of(self._somebody)
        return np.asarray(((self.labels != first[:, None]) & self.allowed).any(axis=1))

    def span(self) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
        """Return how far scores are apart in sets whose members all get the same decision.

        Returns
        -------
        NDArray[np.float32], NDArray[np.intp]
            ``(n,)``; how far the two are apart that are farthest from each other, and one of them.
        """
        people = np.arange(len(self.labels))
        first = self.distance(self._somebody).argmax(axis=1)  # the nearest or the farthest end
        end = self.distance(first).argmax(axis=1)
        return np.asarray(self.distance(end)[people, first]), end

    def flips(self, combination: NDArray[np.intp]) -> NDArray[np.bool_]:
        """``(n, C)``; which members are decided differently from the row's own combination."""
        differ = self.labels != self.of(combination)[:, None]
        return np.asarray(differ if self.allowed is None else differ & self.allowed)

    def of(self, combination: NDArray[np.intp]) -> NDArray[np.intp]:
        """``(n,)``; the label of each row's own combination."""
        return self.labels[np.arange(len(self.labels)), combination]

    def distance(self, combination: NDArray[np.intp]) -> NDArray[np.float32]:
        """``(n, C)``; how far each member's score is from the row's own.

        The score compared is that of the class decided for the row itself (for two classes it
        does not matter which). Those who may not be are nearer than everybody: at -1.
        """
        people = np.arange(len(self.labels))
        predicted_class = 0 if self.scores.shape[2] == 1 else self.of(combination)
        scores: NDArray[np.float32] = self.scores[people, :, predicted_class]
        distance = np.abs(scores - scores[people, combination, None])
        if self.allowed is not None:
            distance[~self.allowed] = -1.0
        return np.asarray(distance)

    @property
    def _somebody(self) -> NDArray[np.intp]:
        """``(n,)``; of each similar set a member who may be."""
        if self.allowed is None:
            return np.zeros(len(self.labels), dtype=np.intp)
        return np.asarray(self.allowed.argmax(axis=1))


def joined(answers: Sequence[CombinationScores]) -> CombinationScores:
    """Return the answers to several batches of people as one."""
    if answers[0].allowed is None:
        allowed = None
    else:
        allowed = np.concatenate([each.allowed for each in answers if each.allowed is not None])
    return CombinationScores(
        np.concatenate([each.scores for each in answers]),
        np.concatenate([each.labels for each in answers]),
        allowed,
    )


class SearchContext:
    """What a search works with: it checks people, each once, and books what is found.

    "Once" and "unique" are meant on the attributes in which members of a similar set are equal:
    rows that differ in protected attributes, and in what follows these, are one person. Only
    members that break no constraint are compared, so nobody with fewer than two of them is
    discriminatory.

    Parameters
    ----------
    domain : Domain
        Who may be asked about.
    known : Rows, optional
        ``(n, d)``; instances that were found before: they are not booked again.
    fits : callable, optional
        Tells of ``(n, d)`` rows which may be checked, ``(n,)``; others count as rejected.
    criterion : Criterion, optional
        Only pairs of plausible instances count, and of those that a row makes the one is shown
        that changes least.

    Attributes
    ----------
    domain : Domain
        As given; with a criterion the plausible part of it.
    cached_model : CachedModel
        The model, with a memory.
    gamma : float
        Above 0, two members of a similar set also count when they are decided alike and their
        scores of that decision differ by more than this; set before anybody is checked.
    tried : int
        Unique instances checked that have a comparison.
    found : int
        Unique discriminatory instances among them that were given out, re-checked.
    rejected : int
        People whom the search would have gone to but may not; counted by whoever bars them.
    uncompared : int
        Unique instances checked that have no comparison: in progress these are rejected.
    fits : callable, optional
        As given; with a criterion only what is near to a row of the data, too.
    over : bool
        Whether a search that is told to come to an end (`request_finish`) is to.
    previous_certificate : Certificate, optional
        What an earlier run of the same method proved: it goes on from there.
    favourable : int
        The favourable one of the model's decisions; of two it does not matter to any search.
    repeatability : Repeatability
        Of all rows that were queried again so far.
    most_queries : float
        Once so many rows were sent, the run ends, by its budget.
    all_rows : callable, optional
        Of a table that is larger than memory: yields how many rows were read, and those of them
        that lie in the domain, ``(n, d)``, block by block.
    n_rows : int
        How many rows it has.
    part_times : PartTimes
        How much is asked of the model in one go.
    kept : dict[str, object]
        What the method keeps for later parts of the same run, by names of its own.
    """

    def __init__(
        self,
        model: Model,
        domain: Domain,
        *,
        known: Rows | None = None,
        fits: Callable[[Rows], NDArray[np.bool_]] | None = None,
        criterion: Criterion | None = None,
    ) -> None:
        # compiled code is loaded where a search runs, never in the window's process
        from fairdesk.individual.engine import kernels  # noqa: PLC0415

        self.gamma = 0.0
        self.tried = 0
        self.found = 0
        self.rejected = 0
        self.uncompared = 0
        self.favourable = 1
        self.repeatability = Repeatability()
        self.over = False
        self.most_queries = np.inf
        self.all_rows: Callable[[], Iterator[tuple[int, Rows]]] | None = None
        self.n_rows = 0
        self.part_times = PartTimes()
        self.kept: dict[str, object] = {}
        self.previous_certificate: Certificate | None = None
        self.domain = domain if criterion is None else PlausibleDomain.of(domain, criterion)
        self._near = None if criterion is None else criterion.near
        self.cached_model = CachedModel(model)
        self._kernels = kernels
        self._people = VisitedSet(domain.identifying)
        self._booked: list[tuple[Rows, NDArray[np.intp], CombinationScores]] = []
        self.fits = _both(fits, self._near)
        members = np.zeros((len(domain.combinations), len(domain.attributes)))
        members[:, domain.protected] = domain.combinations
        self._protected = domain.protected.astype(np.int64)
        self._combination_keys: Keys = kernels.shared_keys(members, self._protected)
        if known is not None and len(known):
            keys = self._people.keys(domain.canonical(known))
            self._people.meet(keys)
            self._people.condemn(keys)

    def request_finish(self) -> None:
        """Ask the search to finish, and to report its result."""
        self.over = True

    @property
    def queries(self) -> int:
        """Rows sent to the model so far."""
        return self.cached_model.queries

    @property
    def rows_left(self) -> float:
        """Rows of the run's budget that are not used up; infinite where there is none."""
        return self.most_queries - self.queries

    def ask(self, rows: Rows, domain: Domain | None = None) -> CombinationScores:
        """Query the model about the similar sets of ``(n, d)`` rows, each in the domain.

        Members that are not compared are not sent.

        Parameters
        ----------
        domain : Domain, optional
            One with the same attributes that says otherwise what is compared.
        """
        if domain is not None:
            return self._ask_compared(rows, domain)
        return self._ask(rows, self._people.keys(self.domain.canonical(rows)))

    def _ask(self, rows: Rows, keys: Keys) -> CombinationScores:
        members = len(self.domain.combinations)
        if self.domain.has_constraints:
            return self._ask_compared(rows, self.domain)
        if len(rows) * members <= MOST_ROWS:
            scores = self._scores(rows, keys)
        else:
            scores = in_parts(
                lambda part: self._scores(rows[part], keys[part]), np.arange(len(rows)), members
            )
        return CombinationScores(scores, labels(scores))

    def _scores(self, rows: Rows, keys: Keys) -> Scores:
        """Query the model about everybody in the similar sets, whose members share these keys."""
        everyone = keys[:, None] + self._combination_keys

        def members(which: Numbers) -> Rows:
            made: Rows = self._kernels.members(
                rows, which, self._protected, self.domain.combinations
            )
            return made

        answers = self.cached_model.answer(everyone.ravel(), members)
        return answers.reshape(*everyone.shape, answers.shape[1])

    def _ask_compared(self, rows: Rows, domain: Domain) -> CombinationScores:
        scores = in_parts(
            lambda part: self._scores_of_compared(part, domain), rows, len(domain.combinations)
        )
        allowed = ~np.isnan(scores[:, :, 0])
        return CombinationScores(scores, np.where(allowed, labels(scores), -1), allowed)

    def _scores_of_compared(self, rows: Rows, domain: Domain) -> Scores:
        """Query the model about the members of similar sets that are compared."""
        similar, compared = domain.members(rows)
        everyone, allowed = similar.reshape(-1, rows.shape[1]), compared.reshape(-1)
        answers = self.cached_model.predict(everyone[allowed])
        scores = np.full((len(everyone), answers.shape[1]), np.nan, dtype=np.float32)
        scores[allowed] = answers
        return scores.reshape(*similar.shape[:2], -1)

    def check(self, rows: Rows, combination: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return which rows are discriminatory; book those that were not met before.

        Parameters
        ----------
        rows : Rows
            ``(n, d)``, in the domain.
        combination : NDArray[np.intp]
            ``(n,)``; the index of each row's protected values in ``domain.combinations``.
        """
        keys = self._people.keys(self.domain.canonical(rows))
        new = self._people.meet(keys)
        if new.size and self.fits is not None:
            fit = self.fits(rows[new])
            self.rejected += int((~fit).sum())
            new = new[fit]
        if new.size:
            answers = self._ask(rows[new], keys[new])
            hit = answers.discriminatory
            if self.gamma:
                hit |= answers.span()[0] > self.gamma
            compared = int(answers.compared.sum())
            self.tried += compared
            self.uncompared += len(new) - compared
            self._book(new[hit], keys, rows, combination, answers[hit])
        return self._people.verdicts(keys)

    def _book(
        self,
        hits: Numbers,
        keys: Keys,
        rows: Rows,
        combination: NDArray[np.intp],
        answers: CombinationScores,
    ) -> None:
        """Book those at these positions that make a pair; ``answers`` are theirs."""
        if self._near is not None and hits.size:
            kept = self._leave_out_far(rows[hits], combination[hits], answers)
            hits, answers = hits[kept], answers[kept]
        if hits.size:
            self._people.condemn(keys[hits])
            self._booked.append((rows[hits], combination[hits], answers))

    def _leave_out_far(
        self, rows: Rows, combination: NDArray[np.intp], answers: CombinationScores
    ) -> NDArray[np.bool_]:
        """Take members that are far from all rows of the data out of ``answers``.

        Returns
        -------
        NDArray[np.bool_]
            ``(n,)``; which rows still make a pair.
        """
        assert answers.allowed is not None, "there is a criterion"  # noqa: S101 - for mypy
        assert self._near is not None, "there is a criterion"  # noqa: S101 - for mypy
        wanted = answers.allowed if self.gamma else answers.flips(combination)
        row, member = np.nonzero(wanted)
        far = ~self._near(self.domain.counterparts(rows[row], member))
        answers.allowed[row[far], member[far]] = False
        return np.asarray(self._counting_members(answers, combination).any(axis=1))

    def take(self, phase: str) -> Found | None:
        """Return what was booked since the last call, re-checked; ``None`` when there is nothing.

        Each instance and its partner are sent to the model once more. Where that answer or the
        first is not sure (it is near a border, or there is a decision only and no score), they
        are sent twice, the second time in each other's place: the last bits of an answer may
        depend on a row's place in its batch; where they decide, the decision stays with the place
        and not with the person, and the instance is struck off. Once a model has answered
        otherwise than before, everybody is sent twice.
        """
        if not self._booked:
            return None
        rows, combination, answers = self._take_booked()
        if self.gamma:
            far = self._counting_members(answers, combination).any(axis=1)
            # others in the similar set are farther apart: one of these stands for the person
            near = np.flatnonzero(~far)
            combination[near] = answers.span()[1][near]
            rows[near] = self.domain.counterparts(rows[near], combination[near])
        found, confirmed = self._pairs_of(rows, combination, answers, phase)
        self.found += int(confirmed.sum())
        return selected(found, confirmed)

    def confirm(
        self, rows: Rows, combination: NDArray[np.intp], phase: str
    ) -> tuple[Found, NDArray[np.bool_]]:
        """Return each of ``(n, d)`` instances its partner, and tell which are confirmed, ``(n,)``.

        They are asked about as `take` does, whatever was booked, and are not booked.
        """
        return self._pairs_of(rows, combination, self.ask(rows), phase)

    def counts(self, rows: Rows, combination: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return which of ``(n, d)`` rows make a pair with another of their similar set, ``(n,)``.

        Nobody is booked.
        """
        return np.asarray(self._counting_members(self.ask(rows), combination).any(axis=1))

    def _pairs_of(
        self, rows: Rows, combination: NDArray[np.intp], answers: CombinationScores, phase: str
    ) -> tuple[Found, NDArray[np.bool_]]:
        counted = self._counting_members(answers, combination)
        shown = counted if self._near is None else self._changing_least(counted, combination)
        partner = np.where(shown, answers.distance(combination), -1).argmax(axis=1)
        # nobody is asked about who may not be: whoever has no partner is asked about twice
        partner = np.where(counted.any(axis=1), partner, combination)
        pairs = np.stack([rows, self.domain.counterparts(rows, partner)])
        people = np.arange(len(rows))
        first = np.stack([answers.scores[people, each] for each in (combination, partner)])
        confirmed, scores = self._confirmed(pairs, first)
        alone = self._sufficient_alone(counted, combination)
        found = Found(pairs[0], pairs[1], scores[0], scores[1], alone, phase)
        return found, confirmed

    def progress(self, phase: str, done: int, total: int) -> Progress:
        """Return how far the search is, with the counts so far."""
        rejected = self.rejected + self.uncompared
        return Progress(phase, done, total, self.tried, self.found, self.queries, rejected=rejected)

    def _take_booked(self) -> tuple[Rows, NDArray[np.intp], CombinationScores]:
        """Take what is booked: who, their combinations, and what was answered."""
        booked = self._booked
        self._booked = []
        if len(booked) == 1:
            return booked[0]
        rows, combinations, answers = zip(*booked, strict=True)
        return np.concatenate(rows), np.concatenate(combinations), joined(answers)

    def _counting_members(
        self, answers: CombinationScores, combination: NDArray[np.intp]
    ) -> NDArray[np.bool_]:
        """``(n, C)``; with which members each row makes a pair: those that flip, if any do."""
        counted = answers.flips(combination)
        if self.gamma:
            consistent = ~counted.any(axis=1)
            counted[consistent] = (answers.distance(combination) > self.gamma)[consistent]
        return counted

    def _confirmed(self, pairs: Rows, first: Scores) -> tuple[NDArray[np.bool_], Scores]:
        """Ask about ``(2, n, d)`` pairs anew: ``(n,)`` who still counts; ``(2, n, k)`` scores."""
        scores = first.copy()
        confirmed = self._is_stable(first) & self._steady
        once = np.flatnonzero(confirmed)
        if once.size:
            again = scores[:, once] = self._query_again(pairs[:, once])
            self.requeried(first[:, once], again)
            same = (labels(again) == labels(first[:, once])).all(axis=0)
            confirmed[once] = self._is_stable(again) & same & self._steady
        twice = np.flatnonzero(~confirmed)
        if twice.size:
            again = scores[:, twice] = self._query_again(pairs[:, twice])
            swapped = self._query_again(pairs[::-1, twice])[::-1]
            self.requeried(again, swapped)
            same = (labels(again) == labels(swapped)).all(axis=0)
            confirmed[twice] = self._counts(again) & self._counts(swapped) & same
        return confirmed, scores

    def requeried(self, first: Scores, again: Scores) -> None:
        """Count ``(..., k)`` scores of rows and those they got when they were queried again."""
        width = first.shape[-1]
        _, found = compare(first.reshape(-1, width), again.reshape(-1, width))
        self.repeatability = counted_together(self.repeatability, found)

    @property
    def _steady(self) -> bool:
        """Whether no row has got another answer yet when it was queried again."""
        return self.repeatability.holds

    def _query_again(self, pairs: Rows) -> Scores:
        """Query the model about ``(2, n, d)`` pairs, whatever was asked before: ``(2, n, k)``."""
        answers = self.cached_model.predict_anew(pairs.reshape(-1, pairs.shape[2]))
        return answers.reshape(2, pairs.shape[1], -1)

    def _counts(self, scores: Scores) -> NDArray[np.bool_]:
        """``(n,)``; whether pairs with these ``(2, n, k)`` scores are decided unlike enough."""
        own, other = labels(scores)
        counts = own != other
        if self.gamma:
            counts |= _score_distance(scores) > self.gamma
        return np.asarray(counts)

    def _is_stable(self, scores: Scores) -> NDArray[np.bool_]:
        """``(n,)``; whether last bits cannot change that these ``(2, n, k)`` scores count."""
        own, other = labels(scores)
        sure = (own != other) & (margin(scores) > SURE).all(axis=0)
        if self.gamma:
            sure |= (own == other) & (_score_distance(scores) > self.gamma + SURE)
        # a decision only, as a score: how near the border it was is not known
        return np.asarray(sure & (scores % 1 != 0).any(axis=(0, 2)))

    def _changing_least(
        self, counted: NDArray[np.bool_], combination: NDArray[np.intp]
    ) -> NDArray[np.bool_]:
        """``(n, C)``; of the members that count those that differ in the fewest attributes.

        Of these the ones that differ the least in numbers and places in an order.
        """
        codes = self._protected_scales
        apart = np.minimum(np.abs(codes[combination][:, None, :] - codes), 1.0)
        change = (apart > 0).sum(axis=2) * (1.0 + apart.shape[2]) + apart.sum(axis=2)
        least = np.where(counted, change, np.inf).min(axis=1, keepdims=True)
        return np.asarray(counted & (change <= least + _ROUNDING))

    @cached_property
    def _protected_scales(self) -> Rows:
        """``(C, p)``; the combinations on scales on which names are 1 apart and ranges 1 long."""
        members = np.zeros((len(self.domain.combinations), len(self.domain.attributes)))
        members[:, self.domain.protected] = self.domain.combinations
        return scaled(self.domain, members, self.domain.protected)

    def _sufficient_alone(
        self, counted: NDArray[np.bool_], combination: NDArray[np.intp]
    ) -> NDArray[np.bool_]:
        """``(n, p)``; whether some change of this one protected attribute is enough."""
        combinations = self.domain.combinations
        differs = combinations[combination][:, None, :] != combinations
        only = differs & (differs.sum(axis=2, keepdims=True) == 1)
        return np.asarray((only & counted[:, :, None]).any(axis=1))


def _both(
    fits: Callable[[Rows], NDArray[np.bool_]] | None,
    near: Callable[[Rows], NDArray[np.bool_]] | None,
) -> Callable[[Rows], NDArray[np.bool_]] | None:
    """Return what tells which rows pass both; ``None`` where there is neither."""
    if fits is None or near is None:
        return fits or near
    return lambda rows: fits(rows) & near(rows)


def _score_distance(scores: Scores) -> NDArray[np.float32]:
    """``(n,)``; how far the ``(2, n, k)`` scores of two people are apart, in the first's class."""
    predicted_class = (
        labels(scores[0])[:, None] if scores.shape[2] > 1 else np.zeros((1, 1), np.intp)
    )
    own, other = (np.take_along_axis(each, predicted_class, axis=1)[:, 0] for each in scores)
    return np.asarray(np.abs(own - other))


def margin(scores: Scores) -> NDArray[np.float32]:
    """``(...)``; how far ``(..., k)`` scores are from another decision, as parts of at least 1."""
    if scores.shape[-1] == 1:
        return np.asarray(np.abs(scores[..., 0] - 0.5) / np.maximum(1, np.abs(scores[..., 0])))
    second, first = np.moveaxis(np.partition(scores, -2, axis=-1)[..., -2:], -1, 0)
    return np.asarray((first - second) / np.maximum(1, np.abs(first)))
