"""Samples of a rule set about texts: real texts rewritten so that they name whom it names."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.errors import SpecError
from fairdesk.groups.text.sentences import Lexicon, Named, text_place
from fairdesk.groups.text.terms import words
from fairdesk.mitigate.context import MitigationContext
from fairdesk.mitigate.rows.labelling import own_scores
from fairdesk.mitigate.rows.samples import LOOK, Outcome, Sampled
from fairdesk.mitigate.rows.splitting import Split
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import How
from fairdesk.results.events import Rows

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
