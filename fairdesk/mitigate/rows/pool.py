"""The rows that a repair may add, labelled, in the order in which portions take them.

They are discriminatory pairs, or samples of a rule set with the opposite label. M. Zhang, J. Sun,
J. Wang, B. Sun, "TestSGD: Interpretable Testing of Neural Networks Against Subtle Group
Discrimination", ACM TOSEM 2023: samples that fulfil the rule set and are decided as its
members are too often are added to the training data with the other label. "Too often" has a
direction here: where members get the outcome less often than others, samples to which the model
does not give it get it. Samples of a rule set about texts are real texts, rewritten with its terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.errors import SpecError
from fairdesk.groups.tabular.rules import members
from fairdesk.groups.tabular.sampling import Neighbours, starting
from fairdesk.groups.text.sentences import Lexicon, Named, text_place
from fairdesk.groups.text.terms import words
from fairdesk.mitigate.context import MitigationContext, Split
from fairdesk.mitigate.rows.labelling import Classes, Source, label, own_scores
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import How
from fairdesk.population.nearest import Nearest
from fairdesk.results.events import Rows

#: So many samples on each side tell where the outcome is given more often.
LOOK = 4_000
#: A person is moved so often at most.
_MOVES = 10
#: So many are made at a time, at least and at most ...
_BATCH = (2_000, 20_000)
#: ... until so many were asked about.
_MOST_ASKED = 200_000
#: Where fewer than one in so many of a batch are new, people are moved once more.
_SCARCE = 20


@dataclass(frozen=True, slots=True)
class Sampled:
    """What was made of real rows: ``rows`` and all else as of `pool.Pool`."""

    rows: Rows
    targets: Classes
    seeds: NDArray[np.intp]
    texts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Seen:
    """Rows that must not come, and those that came already, by 64-bit keys of some columns.

    Parameters
    ----------
    domain : Domain
        Tells rows apart by what members of a similar set have in common.
    held_out : Rows
        ``(n, d)``; these rows.
    """

    def __init__(self, domain: Domain, held_out: Rows) -> None:
        self._domain = domain
        self._held_out = _keys(domain.identity(held_out))
        self._met = np.empty(0, dtype=np.uint64)

    def barred(self, rows: Rows) -> NDArray[np.bool_]:
        """``(m,)``; which rows are held out."""
        return np.isin(_keys(self._domain.identity(rows)), self._held_out)

    def new(self, rows: Rows, columns: NDArray[np.intp] | None = None) -> NDArray[np.bool_]:
        """``(m,)``; which rows come for the first time; they are remembered.

        Parameters
        ----------
        rows : Rows
            ``(m, d)``.
        columns : NDArray[np.intp], optional
            What tells them apart; by default as of those that are held out.
        """
        keys = _keys(self._domain.identity(rows) if columns is None else rows[:, columns])
        fresh = np.zeros(len(keys), dtype=np.bool_)
        fresh[np.unique(keys, return_index=True)[1]] = True
        fresh &= ~np.isin(keys, self._met)
        self._met = np.concatenate([self._met, keys[fresh]])
        return fresh


def _keys(rows: Rows) -> NDArray[np.uint64]:
    # compiled code is loaded where a repair runs, never in the window's process
    from fairdesk.individual.engine import kernels  # noqa: PLC0415

    return np.asarray(kernels.row_keys(np.ascontiguousarray(rows)))


class Outcome:
    """What the members of a rule set get too often, or too seldom.

    Parameters
    ----------
    mitigation : MitigationContext
        Names it; no name is the mean score of the favourable decision.

    Raises
    ------
    SpecError
        When the model has no such decision.
    """

    def __init__(self, mitigation: MitigationContext) -> None:
        mapping, card = mitigation.model.mapping, mitigation.model.opened.card
        decisions = mapping.decisions(card)
        name = mitigation.outcome or decisions[mitigation.favourable]
        if name not in decisions:
            raise SpecError(
                f"The model does not decide “{name}”.",
                remedy=f"Its decisions are: {', '.join(decisions)}.",
            )
        self.name = name
        self._mean = not mitigation.outcome
        classes = np.arange(len(card.classes))
        self._means = classes == decisions.index(name)
        if mapping.together:
            together = np.isin(classes, mapping.together)
            self._means = together if name == decisions[mapping.favourable_class] else ~together

    def given(self, scores: Rows) -> NDArray[np.bool_]:
        """``(n,)``; who gets it, by scores ``(n, k)`` of the model's own classes."""
        return np.asarray(self._means[scores.argmax(axis=1)])

    def rate(self, scores: Rows) -> float:
        """Return how often it is given, or the mean score."""
        if self._mean:
            return float(scores[:, self._means].sum(axis=1).mean())
        return float(self.given(scores).mean())

    def opposite(self, scores: Rows) -> Classes:
        """Return the best class of those that mean the other thing than was decided: ``(n,)``."""
        other = self._means != self.given(scores)[:, None]
        return np.asarray(np.where(other, scores, -np.inf).argmax(axis=1))

    def too_often(self, inside: Rows, outside: Rows) -> bool:
        """Return whether the outcome is more frequent inside the rule set, by scores.

        Raises
        ------
        SpecError
            When it is given equally often.
        """
        rate_in, rate_out = self.rate(inside), self.rate(outside)
        if rate_in == rate_out:
            raise SpecError(
                "There is nothing to mitigate: the model’s rate for this subgroup equals "
                "that for all others.",
                why=f"Within the subgroup and outside it, the decision is “{self.name}” in "
                f"{100 * rate_in:.3g} % of the cases."
                if not self._mean
                else f"Within the subgroup and outside it, the mean score is {rate_in:.3g}.",
                remedy="Choose another subgroup.",
            )
        return rate_in > rate_out


def moved(
    mitigation: MitigationContext, split: Split, most: int, rng: np.random.Generator
) -> Sampled:
    """Make samples of real people in the rule set, each moved a little.

    People to train with are drawn, and moved as `fairdesk.groups.tabular.sampling` does it, which
    leaves them in the rule set. Those to whom the model gives the outcome (or does not, where
    members get it too seldom) are kept, once each; nobody is kept who is like a row to validate or
    test with in everything but what is protected. Where hardly anybody new is met, people are moved
    once more, up to `_MOVES` times: so those nearest to real people come first.

    Parameters and errors are those of `fairdesk.mitigate.rows.pool.of_rule`.
    """
    domain = mitigation.domain
    people, fine = starting(domain, mitigation.rows[split.train])
    groups = mitigation.groups[split.train].copy()
    groups[:, : domain.protected.size] = people[:, domain.protected]
    inside = members(domain.grouping, groups, mitigation.rule)
    within, without = np.flatnonzero(inside & fine), np.flatnonzero(~inside & fine)
    _refuse_nobody(within.size, without.size, len(split.train))
    neighbours, outcome = Neighbours(domain, rng), Outcome(mitigation)

    def scores_of(rows: Rows) -> Rows:
        return own_scores(mitigation, mitigation.model, rows)

    too_often = outcome.too_often(
        *(
            scores_of(neighbours.of(people[who[rng.integers(who.size, size=LOOK)]]))
            for who in (within, without)
        )
    )
    held_out = np.concatenate([split.validation, split.test])
    seen = Seen(domain, mitigation.rows[held_out])
    everything = np.arange(len(domain.attributes))
    kept: list[tuple[Rows, Classes, NDArray[np.intp]]] = [
        (people[:0], np.empty(0, dtype=np.int64), within[:0])
    ]
    count, asked, moves = 0, 0, 1
    while count < most and asked < _MOST_ASKED and moves <= _MOVES:
        size = int(np.clip(2 * (most - count), *_BATCH))
        drawn = np.concatenate([rng.permutation(within) for _ in range(-(-size // within.size))])[
            :size
        ]
        rows = people[drawn]
        for _ in range(moves):
            rows = neighbours.of(rows)
        new = np.flatnonzero(~seen.barred(rows))
        new = new[seen.new(rows[new], everything)]
        scores = scores_of(rows[new])
        wrong = outcome.given(scores) == too_often
        chosen = new[wrong][: most - count]
        kept.append((rows[chosen], outcome.opposite(scores[wrong])[: chosen.size], drawn[chosen]))
        count += chosen.size
        asked += new.size
        if new.size * _SCARCE < size or not chosen.size:
            moves += 1
    rows, targets, origins = (np.concatenate(each) for each in zip(*kept, strict=True))
    return Sampled(
        rows, targets, split.train[origins], (), _notes_on_samples(count, most, within.size)
    )


def _refuse_nobody(within: int, without: int, train: int) -> None:
    if within and without:
        return
    raise SpecError(
        "No samples of this subgroup can be made."
        if not within
        else "There are no others to compare this subgroup with.",
        why=f"None of the {train:,} training rows is in it."
        if not within
        else f"All of the {train:,} training rows are in it.",
        remedy="Choose a larger subgroup." if not within else "Choose a smaller subgroup.",
    )


def _notes_on_samples(count: int, most: int, within: int) -> tuple[str, ...]:
    if count >= most:
        return ()
    return (
        (
            f"Only {count:,} of {most:,} samples could be made from {within:,} training rows of "
            "the subgroup: few of their perturbed rows receive the relevant decision."
        ),
    )


#: The places of terms, one per category of the rule set.
_Choice = tuple[int, ...]


def widened(fed: FedModel, domain: Domain, texts: Sequence[str]) -> FedModel:
    """Return the same model, asked in codes that also have new texts.

    Parameters
    ----------
    texts : sequence of str
        They have the codes after the last of each column of texts that the model reads as they are.
    """
    if not texts:
        return fed
    read = {each.attribute for each in fed.mapping.inputs if each.how is How.LABEL}
    return FedModel(
        fed.opened,
        fed.mapping,
        tuple(
            msgspec.structs.replace(
                each, values=(*each.values, *texts), high=each.high + len(texts)
            )
            if each.kind is Kind.TEXT and each.name in read
            else each
            for each in domain.attributes
        ),
    )


def rewritten(
    mitigation: MitigationContext, split: Split, most: int, rng: np.random.Generator
) -> Sampled:
    """Make samples of real texts that name somebody, so that they name whom the rule set names.

    Every text to train with that holds a term of each of the rule set's categories is rewritten,
    once; a sentence that is in the data already is left out, and so is one that a text to validate
    or test with would come to. Texts cannot be moved a little, so there are no more of them. Kept
    are those to which the model gives the outcome (or does not, where the rule set's texts get it
    too seldom beside the same texts with other terms).

    Parameters and errors are those of `fairdesk.mitigate.rows.pool.of_rule`.
    """
    return _Rewriting(mitigation, split, rng).sampled(most)


class _Rewriting:
    """The texts, and what they come to."""

    def __init__(
        self, mitigation: MitigationContext, split: Split, rng: np.random.Generator
    ) -> None:
        self._mitigation, self._split, self._rng = mitigation, split, rng
        self._lexicon = Lexicon.of(mitigation.terms)
        self._place = text_place(mitigation.group_context(mitigation.model))
        self._values = mitigation.domain.attributes[self._place].values
        self._categories, self._choice = self._named_by_rule()
        self._found: dict[int, Named | None] = {}

    def sampled(self, most: int) -> Sampled:
        seeds, named = self._holders(self._split.train)
        if not seeds.size:
            wanted = " and ".join(f"“{self._lexicon.categories[i]}”" for i in self._categories)
            raise SpecError(
                "No sentences of this subgroup can be generated.",
                why=f"None of the {len(self._split.train):,} training texts has an identity term "
                f"of {wanted}.",
                remedy="Choose a subgroup of other categories, or edit the identity terms.",
            )
        outcome = Outcome(self._mitigation)
        too_often = outcome.too_often(*self._looked_at(seeds, named))
        order, sentences = self._fresh(seeds, named)
        scores = self._scores(sentences, seeds[order])
        wrong = np.flatnonzero(outcome.given(scores) == too_often)[:most]
        texts = tuple(sentences[i] for i in wrong.tolist())
        origins = seeds[order][wrong]
        rows = self._mitigation.rows[origins]
        rows[:, self._place] = len(self._values) + np.arange(len(texts))
        return Sampled(
            rows,
            outcome.opposite(scores[wrong]),
            origins,
            texts,
            self._notes(len(texts), most, len(sentences)),
        )

    def _named_by_rule(self) -> tuple[tuple[int, ...], _Choice]:
        """Return the places of the rule set's categories, and of its term in each."""
        lexicon, places = self._lexicon, list[tuple[int, int]]()
        for condition in self._mitigation.rule:
            category = condition.attribute
            terms = [
                words(term)
                for name, own in zip(lexicon.categories, lexicon.terms, strict=True)
                if name == category
                for term in own
            ]
            if words(condition.term) not in terms:
                raise SpecError(
                    f"“{condition.term}” is not a term of “{category}”.",
                    remedy="Use the identity terms with which the subgroup was found.",
                )
            places.append((lexicon.categories.index(category), terms.index(words(condition.term))))
        categories, choice = zip(*sorted(places), strict=True)
        return categories, choice

    def _holders(self, places: NDArray[np.intp]) -> tuple[NDArray[np.intp], list[Named]]:
        """Return those of some rows whose texts hold a term of each category, and these, cut."""
        codes = self._mitigation.rows[places, self._place].astype(np.intp).tolist()
        holders, named = [], []
        for place, code in zip(places.tolist(), codes, strict=True):
            if code not in self._found:
                self._found[code] = self._lexicon.find(self._values[code])
            found = self._found[code]
            if found is not None and found.categories.issuperset(self._categories):
                holders.append(place)
                named.append(found)
        return np.array(holders, dtype=np.intp), named

    def _written(self, named: Named, choices: Sequence[_Choice]) -> list[str]:
        return self._lexicon.rewritten(named, self._categories, choices)

    def _looked_at(self, seeds: NDArray[np.intp], named: Sequence[Named]) -> tuple[Rows, Rows]:
        """Return the scores of texts with the rule set's terms, and of the same with others."""
        sizes = [len(self._lexicon.terms[i]) for i in self._categories]
        others = [each for each in product(*map(range, sizes)) if each != self._choice]
        each_of = max(1, min(len(others), LOOK // len(seeds)))
        some = self._rng.permutation(len(seeds))[:LOOK].tolist()
        inside = [self._written(named[i], [self._choice])[0] for i in some]
        outside = [
            sentence
            for i in some
            for sentence in self._written(
                named[i], [others[j] for j in self._rng.permutation(prod(sizes) - 1)[:each_of]]
            )
        ]
        return (
            self._scores(inside, seeds[some]),
            self._scores(outside, np.repeat(seeds[some], each_of)),
        )

    def _fresh(
        self, seeds: NDArray[np.intp], named: Sequence[Named]
    ) -> tuple[NDArray[np.intp], list[str]]:
        """Rewrite texts in random order; leave out what is in the data, held out, or came before.

        Returns
        -------
        NDArray[np.intp], list[str]
            Places among the ``seeds``, and the sentences.
        """
        held_out = np.concatenate([self._split.validation, self._split.test])
        met = set(self._values)
        met.update(self._written(each, [self._choice])[0] for each in self._holders(held_out)[1])
        kept, sentences = [], []
        for i in self._rng.permutation(len(seeds)).tolist():
            (sentence,) = self._written(named[i], [self._choice])
            if sentence not in met:
                met.add(sentence)
                kept.append(i)
                sentences.append(sentence)
        return np.array(kept, dtype=np.intp), sentences

    def _scores(self, sentences: Sequence[str], places: NDArray[np.intp]) -> Rows:
        """Query the model about sentences in the place of rows' own texts: ``(m, k)``."""
        mitigation = self._mitigation
        rows = mitigation.rows[places]
        rows[:, self._place] = len(self._values) + np.arange(len(sentences))
        return own_scores(mitigation, widened(mitigation.model, mitigation.domain, sentences), rows)

    def _notes(self, count: int, most: int, sentences: int) -> tuple[str, ...]:
        if count >= most:
            return ()
        return (
            (
                f"Only {count:,} of {most:,} sentences could be generated: the training texts "
                f"yield {sentences:,} new sentences, and the others of these do not receive the "
                "relevant decision."
            ),
        )


@dataclass(frozen=True, slots=True)
class Pool:
    """Rows to add; a portion takes the first so many, so that a greater one holds every smaller.

    Attributes
    ----------
    rows, targets, pairs, seeds, texts
        As ``rows``, ``labels``, ``pairs``, ``seeds`` and ``texts`` of
        `fairdesk.results.mitigation.Augmented`.
    available : int
        How many pairs, or samples, there were to make rows of.
    notes : tuple[str, ...]
        What must be known of them: whole sentences.
    """

    rows: Rows
    targets: NDArray[np.int64]
    pairs: NDArray[np.int64]
    seeds: NDArray[np.int64]
    available: int
    texts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def of_pairs(
    mitigation: MitigationContext, split: Split, labels: Source, most: int, rng: np.random.Generator
) -> Pool:
    """Make rows of discriminatory pairs: person, partner, person, partner, ...

    Flagged pairs come first; they, and all others after them, in random order, for those that a
    search found one after the other are like each other. Who is met a second time is left out, and
    so are pairs that are like a row to validate or to test with in everything but what is
    protected: nobody is trained with whom the result is told of.

    Parameters
    ----------
    labels : str
        Where labels come from; see `fairdesk.mitigate.rows.labelling`. But for ``"model"`` both
        people of a pair have the same one.
    most : int
        So many rows at most are made, and labelled: what the greatest portion can take.

    Raises
    ------
    ModelError, SpecError
        As `fairdesk.mitigate.rows.labelling.label` says.
    """
    flagged = min(mitigation.flagged, len(mitigation.pairs))
    order = np.concatenate(
        [rng.permutation(flagged), flagged + rng.permutation(len(mitigation.pairs) - flagged)]
    )
    held_out = np.concatenate([split.validation, split.test])
    seen = Seen(mitigation.domain, mitigation.rows[held_out])
    like = seen.barred(mitigation.pairs[order])
    fine = order[~like]
    fine = fine[seen.new(mitigation.pairs[fine])]
    chosen = fine[: most // 2]
    rows = np.stack([mitigation.pairs[chosen], mitigation.partners[chosen]], axis=1)
    both = rows.reshape(-1, mitigation.rows.shape[1])
    return Pool(
        rows=both,
        targets=label(mitigation, split, both, labels, rng)
        if labels == "model"
        else np.repeat(label(mitigation, split, rows[:, 0], labels, rng), 2),
        pairs=np.repeat(mitigation.numbers[chosen], 2),
        seeds=np.repeat(_nearest(mitigation.domain, mitigation.rows, split, rows[:, 0]), 2),
        available=len(fine),
        notes=tuple(_notes_on_pairs(mitigation.domain, int(like.sum()), len(chosen), most, labels)),
    )


def of_rule(
    mitigation: MitigationContext, split: Split, most: int, rng: np.random.Generator
) -> Pool:
    """Make samples of a rule set, to whom the model gives the outcome too often, or too seldom.

    They have the opposite label (TestSGD's mitigation). See `fairdesk.mitigate.rows.pool`, and
    of a rule about a text `fairdesk.mitigate.rows.pool`.

    Parameters
    ----------
    split : Split
        The parts of the data; samples are made from those to train with.
    most : int
        So many at most.

    Raises
    ------
    ModelError
        When the model refuses them.
    SpecError
        When there is nobody to make them from, or nothing to repair.
    """
    make = rewritten if mitigation.text else moved
    made = make(mitigation, split, most, rng)
    return Pool(
        rows=made.rows,
        targets=made.targets,
        pairs=np.full(len(made.rows), -1, dtype=np.int64),
        seeds=made.seeds.astype(np.int64),
        available=len(made.rows),
        texts=made.texts,
        notes=made.notes,
    )


def _nearest(domain: Domain, table: Rows, split: Split, rows: Rows) -> NDArray[np.int64]:
    """Return the place of the nearest row to train with, ``(m,)``."""
    _, index = Nearest(domain, table[split.train]).find(rows)
    return split.train[index].astype(np.int64)


def _notes_on_pairs(domain: Domain, like: int, pairs: int, most: int, labels: Source) -> list[str]:
    notes = []
    if like:
        notes.append(
            f"Excluded: {_pairs(like)} whose values, apart from protected attributes, equal those "
            "of a validation or test row."
        )
    if 2 * pairs < most - 1:
        notes.append(
            f"Only {_pairs(pairs)} are available as augmentation rows: {2 * pairs:,} rows, while "
            f"the largest augmentation size could use {most:,}."
        )
    if labels == "majority" and domain.texts.size:
        notes.append("The five models that vote on labels do not use texts.")
    if labels == "model":
        notes.append(
            "Augmentation rows have the model’s own labels, different ones for the two "
            "members of a pair: expect more discrimination, not less."
        )
    return notes


def _pairs(count: int) -> str:
    return "1 pair" if count == 1 else f"{count:,} pairs"
