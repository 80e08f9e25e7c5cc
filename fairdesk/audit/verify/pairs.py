"""Reported pairs looked at again: whether they are what the audit says, asked of the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.catalogue.methods import parse_options
from fairdesk.audit.store.pair import Pair
from fairdesk.audit.store.records import PairQuery, RunRecord
from fairdesk.audit.store.store import Store
from fairdesk.audit.verify.tally import Tally
from fairdesk.audit.worker.client import Worker
from fairdesk.certify.proof.verify.statements import Check
from fairdesk.data.domain.domain import Domain
from fairdesk.errors import DataError
from fairdesk.individual.engine.context import margin
from fairdesk.individual.realism.pair_plausibility import Plausibility
from fairdesk.models.model import Mapping, favourable_scores, labels
from fairdesk.results.events import Rows, Scores

#: A score may be off by so much, as a part of the greater of the score and 1. Another machine adds
#: up in another order, and may have another exponential: in float32 that moves a score by some
#: millionths. A decision whose score is no farther than this from the border is not certain.
TOLERANCE = 1e-5
#: Of distances and ranks, which are worked out in float64 by the same steps.
EXACT = 1e-9
#: Pairs that are looked at together; and rows that the model is sent at once.
_AT_ONCE, _MOST_ROWS, _MOST_COMPARED = 4_000, 200_000, 10_000
#: Pairs whose distance from real people is worked out again.
WEIGHED = 2_000

#: A check that needs the model.
ASKED_AGAIN = "The model, re-queried, makes the recorded decisions for each pair"

Ask = Callable[[Rows], Scores]
Mask = NDArray[np.bool_]
IsPlausible = Callable[[Rows], Mask]
Say = Callable[[str], None]


@dataclass(frozen=True)
class _Pairs:
    """Some pairs, side by side: ``(n, d)`` rows and partners, ``(n,)`` of all else.

    ``constrained`` tells which are of a run in which only plausible instances count.
    """

    numbers: list[int]
    rows: Rows
    partners: Rows
    scores: Rows
    decided: NDArray[np.intp]
    sufficient_alone: Mask
    gamma: Rows
    constrained: Mask

    @classmethod
    def of(cls, pairs: Sequence[Pair], runs: dict[int, RunRecord]) -> _Pairs:
        gammas = {number: _gamma(run) for number, run in runs.items()}
        return cls(
            numbers=[each.id for each in pairs],
            rows=np.stack([each.row for each in pairs]),
            partners=np.stack([each.partner for each in pairs]),
            scores=np.array([(each.row_score, each.partner_score) for each in pairs]).T,
            decided=np.array([(each.row_class, each.partner_class) for each in pairs]).T,
            sufficient_alone=np.array([each.sufficient_alone for each in pairs], dtype=np.bool_),
            gamma=np.array([gammas[each.run] for each in pairs]),
            constrained=np.array([runs[each.run].spec.plausible for each in pairs]),
        )


def check_pairs(
    store: Store,
    ask: Ask | None,
    sample: int | None,
    seed: int,
    say: Say,
    plausible: IsPlausible | None = None,
) -> Iterator[Check]:
    """Look at reported pairs again.

    Parameters
    ----------
    ask : callable, optional
        Asks the model about ``(n, d)`` rows; without it only the pairs themselves are looked at.
    sample : int, optional
        So many pairs are drawn at random; ``None`` for all.
    plausible : callable, optional
        Tells which of ``(n, d)`` rows are plausible; without it, it is not known what a run that
        counts plausible instances only had to leave out.

    Yields
    ------
    Check
        Whether each pair is of two people of the domain that differ in what is protected only;
        then whether the model decides, and scores, as the audit says, and whether the attributes
        of which one is said to be enough are these.
    """
    domain, total = store.spec.domain, store.count(PairQuery())
    people = Tally(
        "Each pair is two instances of the input domain that differ in protected attributes only"
    )
    looked = _Looked(domain, store.spec.mapping, ask, plausible)
    runs = {run.id: run for run in store.runs()}
    wanted = None if sample is None or sample >= total else _sample_places(total, sample, seed)
    done, count = 0, total if wanted is None else len(wanted)
    drawn = _selected_pairs(store, wanted)
    while some := list(islice(drawn, _AT_ONCE)):
        pairs = _Pairs.of(some, runs)
        fine = _are_people(domain, pairs, people)
        looked.at(pairs, fine)
        done += len(some)
        say(f"Checked {done:,} of {count:,} pairs")
    if wanted is not None:
        people.remark(
            f"{count:,} of the {total:,} pairs were checked, drawn at random (random seed {seed})."
        )
    yield people.check()
    if ask is not None:
        yield from looked.checks()


def _sample_places(total: int, sample: int, seed: int) -> NDArray[np.int64]:
    """Draw places of pairs."""
    return np.random.default_rng(seed).choice(total, sample, replace=False)


def _selected_pairs(store: Store, wanted: NDArray[np.int64] | None) -> Iterator[Pair]:
    """Yield the pairs at some places, or all."""
    if wanted is None:
        yield from store.each_pair(PairQuery())
        return
    chosen = np.zeros(store.count(PairQuery()), dtype=np.bool_)
    chosen[wanted] = True
    for place, pair in enumerate(store.each_pair(PairQuery())):
        if chosen[place]:
            yield pair


def _gamma(run: RunRecord) -> float:
    """Return the difference of scores from which a run counted pairs with one decision."""
    return float(getattr(parse_options(run.spec.method, run.spec.options), "gamma", 0.0))


def _are_people(domain: Domain, pairs: _Pairs, tally: Tally) -> Mask:
    """Return which pairs are of two people of the domain, who are two."""
    # what else could differ is not kept twice: both take it from the first of them
    inside = domain.contains(pairs.rows) & domain.contains(pairs.partners)
    two = (pairs.rows[:, domain.protected] != pairs.partners[:, domain.protected]).any(axis=1)
    fine = np.asarray(inside & two)
    tally.agree(int(fine.sum()))
    for place in np.flatnonzero(~fine).tolist():
        what = (
            "contains an instance outside the input domain"
            if not inside[place]
            else "does not differ in a protected attribute"
        )
        tally.differ(f"Pair {pairs.numbers[place]:,} {what}.")
    return fine


class _Looked:
    """What the model says of pairs now."""

    def __init__(
        self, domain: Domain, mapping: Mapping, ask: Ask | None, plausible: IsPlausible | None
    ) -> None:
        self._domain, self._mapping, self._model = domain, mapping, ask
        self._plausible = plausible
        self._decisions = Tally(ASKED_AGAIN)
        self._scores = Tally("The model, re-queried, returns the recorded scores for each pair")
        self._sufficient_alone = Tally(
            "Changing one protected attribute alone is enough where this is recorded"
        )

    def checks(self) -> Iterator[Check]:
        self._scores.remark(
            f"Scores may differ by {TOLERANCE:g} of the greater of the score and 1: the last bits "
            "of a sum depend on the computer that calculates it."
        )
        yield self._decisions.check()
        yield self._scores.check()
        yield self._sufficient_alone.check()

    def at(self, pairs: _Pairs, fine: Mask) -> None:
        """Ask about pairs."""
        if self._model is None:
            return
        n = len(pairs.rows)
        if lost := int((~fine).sum()):
            # whoever cannot be is not sent to the model
            for tally in (self._decisions, self._scores, self._sufficient_alone):
                tally.leave(
                    "The model is not queried for instances outside the input domain.", lost
                )
        if not fine.any():
            return
        both = np.concatenate([pairs.rows[fine], pairs.partners[fine]])
        answers = self._ask(both).reshape(2, int(fine.sum()), -1)
        own = np.full((n, answers.shape[2]), np.nan, dtype=np.float32)
        own[fine] = answers[0]
        numbers = [number for number, checked in zip(pairs.numbers, fine, strict=True) if checked]
        self._decided(pairs, fine, answers, numbers)
        self._scored(pairs, fine, answers, numbers)
        for place in range(len(self._domain.protected)):
            self._enough(pairs, fine, own, place)

    def _ask(self, rows: Rows) -> Scores:
        assert self._model is not None, "asked only where there is a model"  # noqa: S101 - mypy
        parts = range(0, max(len(rows), 1), _MOST_ROWS)
        return np.concatenate([self._model(rows[at : at + _MOST_ROWS]) for at in parts])

    def _decided(self, pairs: _Pairs, fine: Mask, answers: Scores, numbers: Sequence[int]) -> None:
        recorded, now = pairs.decided[:, fine], labels(answers)
        same = (recorded == now).all(axis=0)
        close = (~_is_stable(answers) & (recorded != now)).any(axis=0)
        # two who are decided alike are a pair by the difference of their scores only
        apart = _score_distance(answers, now[0]) > np.maximum(pairs.gamma[fine] - TOLERANCE, 0.0)
        counts = (now[0] != now[1]) | ((pairs.gamma[fine] > 0) & apart)
        for number, consistent, near, count in zip(numbers, same, close, counts, strict=True):
            if consistent and count:
                self._decisions.agree()
            elif near:
                self._decisions.leave(
                    "Some scores are so near the decision threshold that either decision is "
                    "possible."
                )
            elif consistent:
                self._decisions.differ(
                    f"Pair {number:,}: the decision is now the same for both instances."
                )
            else:
                self._decisions.differ(
                    f"Pair {number:,}: the decisions differ from the recorded ones."
                )

    def _scored(self, pairs: _Pairs, fine: Mask, answers: Scores, numbers: Sequence[int]) -> None:
        favourable = self._mapping.favourable_class
        now = np.stack([favourable_scores(each, favourable) for each in answers])
        recorded = pairs.scores[:, fine]
        off = ~(np.abs(now - recorded) <= TOLERANCE * np.maximum(1.0, np.abs(recorded)))
        self._scores.agree(int((~off.any(axis=0)).sum()))
        for place in np.flatnonzero(off.any(axis=0)).tolist():
            who = int(off[:, place].argmax())
            self._scores.differ(
                f"A score of pair {numbers[place]:,} is recorded as {recorded[who, place]:.9g}, "
                f"but is {now[who, place]:.9g}."
            )

    def _enough(self, pairs: _Pairs, fine: Mask, own: Scores, place: int) -> None:
        """Change one protected attribute of people to every other value that it may have."""
        domain = self._domain
        position = int(domain.protected[place])
        values = np.array(domain.attributes[position].compared)
        surely, maybe = np.zeros((2, len(pairs.rows)), dtype=np.bool_)
        for some in np.array_split(
            np.flatnonzero(fine), max(1, int(fine.sum()) * len(values) // _MOST_ROWS)
        ):
            members = np.repeat(pairs.rows[some, None, :], len(values), axis=1)
            members[:, :, position] = values
            flat = domain.apply_dependencies(members).reshape(-1, members.shape[2])
            other = (pairs.rows[some, position, None] != values).ravel()
            other &= np.tile(domain.comparable(place), len(some))
            other[other] = domain.allowed(flat[other])
            if not other.any():
                continue
            who = np.repeat(some, len(values))[other]
            answers = self._ask(flat[other])
            counts, sure = _counts(own[who], answers, pairs.decided[:, who], pairs.gamma[who])
            self._leave_out_implausible(flat[other], pairs.constrained[who], counts, sure)
            np.logical_or.at(surely, who, counts & sure)
            np.logical_or.at(maybe, who, counts | ~sure)
        recorded = pairs.sufficient_alone[:, place]
        wrong = fine & np.where(recorded, ~maybe, surely)
        unclear = fine & ~wrong & (surely != maybe)
        self._sufficient_alone.agree(int((fine & ~wrong & ~unclear).sum()))
        if unclear.any():
            self._sufficient_alone.leave(
                "Some scores are so near the decision threshold that either decision is possible."
                if self._plausible is not None or not pairs.constrained.any()
                else "Without the data it is not known which other instances are plausible.",
                int(unclear.sum()),
            )
        name = domain.names[position]
        for each in np.flatnonzero(wrong).tolist():
            self._sufficient_alone.differ(
                f"Pair {pairs.numbers[each]:,}: changing “{name}” alone is "
                + (
                    "not enough, but is recorded as enough."
                    if recorded[each]
                    else "enough, but is not recorded as enough."
                )
            )

    def _leave_out_implausible(
        self, members: Rows, constrained: Mask, counts: Mask, sure: Mask
    ) -> None:
        """Count no implausible member where only plausible ones count; changes the last two."""
        looked = np.flatnonzero(constrained & (counts | ~sure))
        if not looked.size:
            return
        if self._plausible is None:
            sure[looked] = False
            return
        parts = np.array_split(looked, -(-len(looked) // _MOST_COMPARED))
        for part in parts:
            far = part[~self._plausible(members[part])]
            counts[far], sure[far] = False, True


def _counts(
    own: Scores, answers: Scores, recorded: NDArray[np.intp], gamma: Rows
) -> tuple[Mask, Mask]:
    """Return which members make a pair with their person, and of which that is sure: ``(n,)``."""
    both = np.stack([own, answers])
    mine, other = labels(both)
    flips = mine != other
    apart = _score_distance(both, mine)
    # where some member flips, only those count that do
    by_score = (recorded[0] == recorded[1]) & (gamma > 0)
    counts = np.where(by_score, apart > gamma, flips)
    sure = np.where(by_score, np.abs(apart - gamma) > TOLERANCE, _is_stable(both).all(axis=0))
    return np.asarray(counts), np.asarray(sure)


def _is_stable(scores: Scores) -> Mask:
    """Return which of ``(..., k)`` scores are farther from another decision than rounding leads."""
    return np.asarray(margin(scores) > TOLERANCE)


def _score_distance(scores: Scores, decided: NDArray[np.intp]) -> Rows:
    """Return the distance of ``(2, n, k)`` scores, in the class decided for the first: ``(n,)``."""
    column = decided[:, None] if scores.shape[2] > 1 else np.zeros((len(decided), 1), np.intp)
    first, second = (np.take_along_axis(each, column, axis=1)[:, 0] for each in scores)
    return np.asarray(np.abs(first.astype(np.float64) - second))


def check_distances(store: Store, worker: Worker, people: Rows, seed: int) -> Check:
    """Work out again how plausible pairs are.

    Parameters
    ----------
    worker : Worker
        Compares people; needs no model.
    people : Rows
        ``(m, d)``; the real ones.
    seed : int
        `WEIGHED` pairs are drawn by it.
    """
    tally = Tally("The recorded distances and plausibility of pairs are correct")
    total = store.count(PairQuery())
    wanted = _sample_places(total, min(total, WEIGHED), seed)
    pairs = [pair for pair in _selected_pairs(store, wanted) if pair.distance is not None]
    if not pairs or not len(people):
        tally.remark("No pair was compared with the data rows.")
        return tally.check()
    try:
        both = (np.stack([getattr(pair, side) for pair in pairs]) for side in ("row", "partner"))
        now = worker.score_plausibility(store.spec.domain, people, *both)
    except DataError as error:
        tally.leave(str(error), len(pairs))
        return tally.check()
    for place, pair in enumerate(pairs):
        what = _plausibility_differs(pair, now, place)
        if what:
            tally.differ(f"Pair {pair.id:,}: {what}.")
        else:
            tally.agree()
    if store.reference() != now.reference:
        tally.differ("The shares that plausible pairs are compared with are not the recorded ones.")
    if len(pairs) < total:
        tally.remark(
            f"{len(pairs):,} of the {total:,} pairs were compared again, drawn at random (random "
            f"seed {seed})."
        )
    return tally.check()


def _plausibility_differs(pair: Pair, now: Plausibility, place: int) -> str:
    """Say in a clause what is recorded otherwise of a pair than it is; empty when nothing is."""
    for name, what in (
        ("distance", "the distance to the nearest data row"),
        ("partner_distance", "the counterfactual’s distance to the nearest data row"),
        ("typicality", "the typicality"),
        ("partner_typicality", "the counterfactual’s typicality"),
    ):
        recorded, is_now = getattr(pair, name), float(getattr(now, name)[place])
        if recorded is None:
            if not np.isnan(is_now):
                return f"{what} is not recorded, but is {is_now:.4g}"
        elif not abs(recorded - is_now) <= EXACT:
            return f"{what} is recorded as {recorded:.4g}, but is {is_now:.4g}"
    if pair.nearest != now.nearest[place]:
        return "another data row is nearest than the recorded one"
    if pair.plausible != now.plausible[place]:
        return f"it is {'' if now.plausible[place] else 'not '}plausible, but is recorded otherwise"
    return ""
