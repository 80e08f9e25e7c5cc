"""Texts that name somebody: found, rewritten so that they name somebody else, asked about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import SpecError
from fairdesk.groups.context import GroupContext
from fairdesk.groups.text.terms import lists_of_terms, words, words_beside
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import How, favourable_scores, labels
from fairdesk.results.events import Rows, Scores

#: A term is a word of its own: not within a word, nor within one that a hyphen joins
#: ("old-fashioned"), nor after an apostrophe; but “gay’s” is “gay” and its ending.
_BEFORE = r"(?<!\w)(?<!\w[-\u2010\u2011'\u2019])"
_AFTER = r"(?!\w)(?![-\u2010\u2011]\w)"
#: Between the words of one term.
_GAP = r"(?:\s+|[-\u2010\u2011])"
#: A word, and whether another one follows it.
_WORD = re.compile(r"\w+")
_BESIDE = re.compile(r"(?P<word>\w+)(?=(?P<next>\s+\w)?)")
#: Answers to so many sentences are remembered, about 200 bytes each; the rest is asked again.
MOST_REMEMBERED = 500_000


@dataclass(frozen=True)
class Named:
    """A text cut where it names somebody.

    Attributes
    ----------
    pieces : tuple[str, ...]
        What stands before, between and after the terms: one more than there are terms.
    found : tuple[str, ...]
        The terms as the text writes them.
    terms : tuple[tuple[int, int], ...]
        Of each the places of its category and of the term in it.
    """

    pieces: tuple[str, ...]
    found: tuple[str, ...]
    terms: tuple[tuple[int, int], ...]

    @cached_property
    def categories(self) -> frozenset[int]:
        """The categories of which the text names somebody."""
        return frozenset(category for category, _ in self.terms)

    def holds(self, category: int) -> frozenset[int]:
        """Return the places of a category's terms that the text holds."""
        return frozenset(term for each, term in self.terms if each == category)


class Lexicon:
    """The terms, and where they stand in texts.

    Parameters
    ----------
    lists : mapping of str to sequence of str
        As `fairdesk.groups.text.terms.lists_of_terms` gives them.
    beside : mapping of str to sequence of str, optional
        As `fairdesk.groups.text.terms.words_beside` gives them.

    Attributes
    ----------
    categories : tuple[str, ...]
        Their names.
    terms : tuple[tuple[str, ...], ...]
        The terms of each.
    """

    def __init__(
        self,
        lists: Mapping[str, Sequence[str]],
        beside: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self._beside = {tuple(term.split(" ")): tuple(own) for term, own in (beside or {}).items()}
        self.categories = tuple(lists)
        self.terms = tuple(tuple(each) for each in lists.values())
        self._places = {
            words(term): (i, j) for i, own in enumerate(self.terms) for j, term in enumerate(own)
        }
        # the longest first: “african american” is no “african”
        longest = sorted(self._places, key=lambda term: (-len(term), -len("".join(term))))
        either = "|".join(_GAP.join(re.escape(word) for word in term) for term in longest)
        self._pattern = re.compile(f"{_BEFORE}(?:{either}){_AFTER}", re.IGNORECASE)

    @classmethod
    def of(cls, terms: Mapping[str, Sequence[str]]) -> Lexicon:
        """Return the lexicon of an auditor's terms; of the paper's where there are none."""
        return cls(lists_of_terms(terms), words_beside(terms))

    def find(self, text: str) -> Named | None:
        """Cut a text where it names somebody; ``None`` where it names nobody."""
        pieces, found, terms = list[str](), list[str](), list[tuple[int, int]]()
        end = 0
        for match in self._pattern.finditer(text):
            # a few letters of other alphabets pass for Latin ones when case is left aside
            place = self._places.get(words(match[0]))
            if place is None:
                continue
            pieces.append(text[end : match.start()])
            found.append(match[0])
            terms.append(place)
            end = match.end()
        if not terms:
            return None
        return Named((*pieces, text[end:]), tuple(found), tuple(terms))

    def choices(self, categories: Sequence[int]) -> list[tuple[int, ...]]:
        """Return all choices of one term of each category, by their places."""
        return list(product(*(range(len(self.terms[c])) for c in categories)))

    def rewritten(
        self, named: Named, categories: Sequence[int], choices: Iterable[Sequence[int]]
    ) -> list[str]:
        """Put other terms of some categories into a text, the case of the old ones kept.

        Every occurrence of any term of these categories becomes the chosen one, and words that go
        with it change with it: “a female driver and her car” becomes “a male driver and his car”.
        Those of other categories stay, and so does everything around: “an old man” becomes “an
        young man”.

        Parameters
        ----------
        choices : iterable of sequence of int
            Of each new sentence the places of its terms, one per category.
        """
        slots: list[tuple[int, tuple[str, ...]]] = []
        parts = [named.pieces[0]]
        for found, (category, _), piece in zip(
            named.found, named.terms, named.pieces[1:], strict=True
        ):
            if category in categories:
                slots.append((categories.index(category), self._as(found, category)))
                parts.append(piece)
            else:
                parts[-1] += found + piece
        made = []
        for choice in choices:
            around = parts
            for category, term in zip(categories, choice, strict=True):
                around = self._with_words_beside(named, category, term, around)
            sentence = around[0]
            for (which, forms), part in zip(slots, around[1:], strict=True):
                sentence += forms[choice[which]] + part
            made.append(sentence)
        return made

    def _with_words_beside(
        self, named: Named, category: int, term: int, parts: list[str]
    ) -> list[str]:
        """Change the words that go with the old term of a category to those of a new one.

        Only where the text has words of one term: else it is not known which person each refers to.
        """
        own = [words(each) for each in self.terms[category]]
        after = self._beside.get(own[term])
        held = {own[i] for i in named.holds(category)} & self._beside.keys() - {own[term]}
        if after is None or len(held) != 1:
            return parts
        before = self._beside[held.pop()]
        spoken = set(_WORD.findall(" ".join(parts).casefold()))
        if spoken & set(after) - set(before):
            return parts
        into: dict[str, list[str]] = {}
        for one, other in zip(before, after, strict=True):
            into.setdefault(one, []).append(other)

        def changed(match: re.Match[str]) -> str:
            found = match["word"]
            others = into.get(found.casefold())
            if others is None:
                return found
            # of two counterparts the later one is that before another word
            other = others[min(1, len(others) - 1) if match["next"] is not None else 0]
            if len(found) > 1 and found.isupper():
                return other.upper()
            return other[:1].upper() + other[1:] if found[:1].isupper() else other

        return [_BESIDE.sub(changed, part) for part in parts]

    def _as(self, found: str, category: int) -> tuple[str, ...]:
        """Write all terms of a category in the case of what they take the place of."""
        own = self.terms[category]
        if len(found) > 1 and found.isupper():
            return tuple(term.upper() for term in own)
        if found[:1].isupper():
            return tuple(
                " ".join(word[:1].upper() + word[1:] for word in term.split(" ")) for term in own
            )
        return own


def text_place(context: GroupContext) -> int:
    """Return the position of the attribute with the texts that the model reads.

    Raises
    ------
    SpecError
        When it is no text, or the model is not given its texts as they are.
    """
    domain = context.domain
    names = [domain.names[i] for i in domain.texts.tolist()]
    if context.text not in names:
        raise SpecError(
            f"“{context.text}” is not a column of texts that the model reads.",
            remedy=f"The columns of texts are: {', '.join(names) or 'none'}.",
        )
    if context.model is None:
        raise SpecError(
            "There is no model to query for new sentences.",
            why="Only its decisions for the data rows are available.",
            remedy="Request the model itself.",
        )
    inputs = [each for each in context.model.mapping.inputs if each.attribute == context.text]
    if not inputs or any(each.how is not How.LABEL for each in inputs):
        raise SpecError(
            f"The model’s inputs are numbers made from “{context.text}”, not its texts.",
            why="New sentences have no such numbers.",
            remedy=(
                "Request the model together with its vectoriser, so that it reads the text itself."
            ),
        )
    return domain.names.index(context.text)


def ask(context: GroupContext, texts: Sequence[str], rows: Rows) -> Scores:
    """Query the model about new sentences, each in the place of a row's own text.

    Parameters
    ----------
    study : GroupContext
        Its ``text`` names the column; its ``queries`` are counted up.
    texts : sequence of str
        ``m`` sentences.
    rows : Rows
        ``(m, d)``; everything else about each.

    Returns
    -------
    Scores
        ``(m, k)``.

    Raises
    ------
    SpecError
        As `text_place` says.
    ModelError
        When the model refuses them.
    """
    place = text_place(context)
    model = cast("FedModel", context.model)  # or text_place would have refused
    attributes = list(context.domain.attributes)
    attributes[place] = msgspec.structs.replace(
        attributes[place], values=tuple(texts), low=0.0, high=max(len(texts) - 1.0, 0.0)
    )
    fed = FedModel(model.opened, model.mapping, tuple(attributes))
    coded = rows.copy()
    coded[:, place] = np.arange(len(texts))
    context.queries += len(texts)
    return fed.predict(coded)


class SentenceScorer:
    """The model's answers to sentences; each sentence is asked once.

    Two are one where their texts and all else that the model is given are equal. They are told
    apart by 64-bit keys.
    """

    def __init__(self, context: GroupContext) -> None:
        self._context = context
        self._others = np.arange(len(context.domain.attributes)) != text_place(context)
        self._known: dict[int, tuple[int, float]] = {}

    def to(self, texts: Sequence[str], rows: Rows) -> tuple[NDArray[np.int16], NDArray[np.float64]]:
        """Return the decisions and the favourable decision's scores: ``(m,)`` each."""
        others = rows[:, self._others]
        keys = [hash((text, each.tobytes())) for text, each in zip(texts, others, strict=True)]
        new: dict[int, int] = {}
        for place, key in enumerate(keys):
            if key not in self._known:
                new.setdefault(key, place)
        answers = self._score_new(texts, rows, new)
        scored = [answers[key] if key in answers else self._known[key] for key in keys]
        room = MOST_REMEMBERED - len(self._known)
        self._known.update(list(answers.items())[:room])
        decided, scores = zip(*scored, strict=True) if scored else ((), ())
        return np.array(decided, dtype=np.int16), np.array(scores, dtype=np.float64)

    def _score_new(
        self, texts: Sequence[str], rows: Rows, new: Mapping[int, int]
    ) -> dict[int, tuple[int, float]]:
        """Query the model about those sentences, by key, that stand at the given places."""
        places = list(new.values())
        if not places:
            return {}
        scores = ask(self._context, [texts[i] for i in places], rows[places])
        scored = zip(
            labels(scores).tolist(),
            favourable_scores(scores, self._context.favourable).tolist(),
            strict=True,
        )
        return dict(zip(new, scored, strict=True))


Decided = NDArray[np.int16]
Favour = NDArray[np.float64]


@dataclass(frozen=True)
class Texts:
    """The data's texts that name anybody.

    Attributes
    ----------
    named : list[Named]
        ``t`` of them, cut at their terms.
    rows : Rows
        ``(t, d)``; their codes.
    places : NDArray[np.intp]
        ``(t,)``; their places in the table.
    decided, scores : NDArray
        ``(t,)``; what the model answers to them as they are: the decision, and the score of the
        favourable one.
    """

    named: list[Named]
    rows: Rows
    places: NDArray[np.intp]
    decided: Decided = field(default_factory=lambda: np.empty(0, np.int16))
    scores: Favour = field(default_factory=lambda: np.empty(0))

    def support(self, holders: int) -> float:
        """Return the share that so many of them are."""
        return holders / len(self.named)

    def values(self, outcome: int | None) -> Favour:
        """Return whether each is decided so, or, for ``None``, the scores: ``(t,)``."""
        return self.scores if outcome is None else (self.decided == outcome).astype(np.float64)


@dataclass
class Table:
    """The answers to the seeds of some categories with every choice of terms.

    Attributes
    ----------
    categories : tuple[int, ...]
        Their places in the lexicon, ascending.
    choices : list[tuple[int, ...]]
        ``k``; of each the places of its terms.
    holders : list[int]
        The texts that hold a term of each category.
    seeds : list[int]
        Those of them that are different sentences, in random order.
    examined : bool
        Whether its choices are rule sets: enough texts hold the categories.
    spent : float
        Which share of its error each test may make now: less than all of it where somebody looked
        before, and would have stopped.
    steady : NDArray[np.bool_], optional
        ``(n, k)``; once those with two decisions were asked again: whether the decision was the
        same both times.
    asked : int
        ``n``: seeds asked about.
    """

    categories: tuple[int, ...]
    choices: list[tuple[int, ...]]
    holders: list[int]
    seeds: list[int]
    examined: bool
    spent: float = 1.0
    steady: NDArray[np.bool_] | None = None
    asked: int = 0
    _decided: Decided = field(default_factory=lambda: np.empty((0, 0), np.int16))
    _scores: Favour = field(default_factory=lambda: np.empty((0, 0)))

    @property
    def decided(self) -> Decided:
        """``(n, k)``; the decisions about the seeds asked about."""
        return self._decided[: self.asked]

    @property
    def scores(self) -> Favour:
        """``(n, k)``; the scores of the favourable one."""
        return self._scores[: self.asked]

    @property
    def share(self) -> float:
        """Which share of the seeds that there is room for is asked about."""
        return self.asked / len(self._decided) if self.asked else 0.0

    def make_room(self, seeds: int) -> None:
        """Make room for the answers to so many seeds."""
        shape = (seeds, len(self.choices))
        decided, scores = np.empty(shape, dtype=np.int16), np.empty(shape)
        if self.asked:
            decided[: self.asked], scores[: self.asked] = self.decided, self.scores
        self._decided, self._scores = decided, scores

    def add(self, decided: Decided, scores: Favour) -> None:
        """Take the answers to the next seeds, sentence by sentence; there must be room."""
        shape = (-1, len(self.choices))
        new = slice(self.asked, self.asked + len(decided) // shape[1])
        self._decided[new], self._scores[new] = decided.reshape(shape), scores.reshape(shape)
        self.asked = new.stop

    def values(self, outcome: int | None) -> Favour:
        """Return whether each answer is a decision, or, for ``None``, the scores: ``(n, k)``."""
        return self.scores if outcome is None else (self.decided == outcome).astype(np.float64)
