"""What TestSGD says of texts: rule sets of terms, and the terms by themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fairdesk.groups.context import GroupContext
from fairdesk.groups.statistics import ALPHA, Compared, compare, holm
from fairdesk.groups.tabular.results import SWEEP, holds_on_data, paper_confidence
from fairdesk.groups.text.sentences import Lexicon, Table, Texts
from fairdesk.results.events import Metric
from fairdesk.results.proofs import Condition, Conditions
from fairdesk.results.subgroups import Flip, RuleSearchSummary, RuleSet, Support, TermRate, Variant

if TYPE_CHECKING:
    from fairdesk.groups.options import TestSgdOptions

#: At most so many rule sets are told of each outcome, the highest scores first.
MOST_TOLD = 1_000
#: So many flips are shown for each term, their texts cut here.
MOST_FLIPS = 20
MOST_TEXT = 2_000
#: So many narrower rule sets are shown around one.
MOST_NARROWER = 10
#: What has at least this share of a rule set's difference carries it.
CARRIES = 0.8

#: The places of terms, one per category.
Choice = tuple[int, ...]
#: A rule set: the categories, and the choice of their terms.
Key = tuple[tuple[int, ...], Choice]
#: From a choice to the rates of texts that name exactly its terms, and of others; and how many
#: there are of these or those, whichever is fewer.
Rates = Callable[[Choice], tuple[float | None, float | None, int]]


@dataclass
class Known:
    """What a search in texts knows by now.

    Attributes
    ----------
    study : GroupContext
        The data and the model.
    options : TestSgdOptions
        The parameters.
    lexicon : Lexicon
        The terms.
    texts : Texts
        Those that name anybody.
    tables : list[Table]
        The answers.
    candidates, asked, seconds
        As of `fairdesk.results.subgroups.RuleSearchSummary`: ``asked`` are its samples.
    """

    context: GroupContext
    options: TestSgdOptions
    lexicon: Lexicon
    texts: Texts
    tables: list[Table]
    candidates: int = 0
    asked: int = 0
    seconds: float = 0.0
    _kept: dict[tuple[Choice, int | None], tuple[int, Compared]] = field(default_factory=dict)
    _rates: dict[tuple[Choice, int | None], Rates] = field(default_factory=dict)

    @property
    def rule_sets(self) -> int:
        """How many rule sets are examined, in the end."""
        return sum(len(table.choices) for table in self.tables if table.examined)

    @property
    def outcomes(self) -> tuple[int | None, ...]:
        """The decisions that are counted in turn; ``None`` is the favourable one's mean score."""
        match self.options.outcome:
            case "favourable":
                return (self.context.favourable,)
            case "each":
                return tuple(range(len(self.context.decisions)))
            case _:
                return (None,)

    @property
    def tests(self) -> int:
        """How many tests there are in all: rule sets, times outcomes."""
        return self.rule_sets * len(self.outcomes)

    def compared(self, table: Table, outcome: int | None) -> Compared:
        """Compare the choices of a table, the intervals for all tests there will be together."""
        key = (table.categories, outcome)
        asked, compared = self._kept.get(key, (0, None))
        if compared is None or asked != table.asked:
            compared = compare(
                table.values(outcome),
                shares=outcome is not None,
                alpha=ALPHA * table.spent / self.tests,
                z=self.options.z,
            )
            self._kept[key] = (table.asked, compared)
        return compared

    def untouched(self, table: Table, outcome: int | None) -> Rates:
        """Return the rates of the texts as they are, of those that hold a table's categories.

        Returns
        -------
        callable
            From a choice to the rate of the texts that name exactly these terms, and of those that
            do not, ``None`` where there is no such text; and how many there are of these or those,
            whichever is fewer. Texts that name these terms and others of the same categories are on
            neither side.
        """
        key = (table.categories, outcome)
        if key not in self._rates:
            self._rates[key] = _rates(self.texts, table, self.texts.values(outcome))
        return self._rates[key]

    def figures(self) -> Iterator[Metric]:
        """Yield all figures: rule sets by their outcome, then terms."""
        for outcome in self.outcomes:
            yield from _Results(self, outcome).figures()
        yield from _terms(self)


class _Results:
    """The rule sets about one outcome."""

    def __init__(self, known: Known, outcome: int | None) -> None:
        self._known, self._outcome = known, outcome
        self._tables = [each for each in known.tables if each.examined and each.asked]
        self._compared = [known.compared(table, outcome) for table in self._tables]
        self._keys: list[Key] = [
            (table.categories, choice) for table in self._tables for choice in table.choices
        ]
        self._at = {key: i for i, key in enumerate(self._keys)}
        self._inside, self._outside, self._margin, self._low, self._high, p = (
            np.concatenate([np.empty(0), *(getattr(each, name) for each in self._compared)])
            for name in ("inside", "outside", "margin", "low", "high", "p")
        )
        spent = np.repeat(
            [table.spent for table in self._tables], [len(table.choices) for table in self._tables]
        )
        self._p = holm(np.minimum(p / spent, 1.0), known.tests)
        self._support = {
            table.categories: known.texts.support(len(table.holders)) for table in self._tables
        }
        # without what rounding adds: equal rates are equal, and of equal scores the plainer leads
        self._apart = np.round(self._inside - self._outside, 12)
        self._score = np.abs(self._apart)

    def figures(self) -> Iterator[RuleSearchSummary | RuleSet]:
        known = self._known
        yield self._mined()
        if not self._tables:
            return
        ranked = np.argsort(-self._score, kind="stable")[:MOST_TOLD].tolist()
        places = {i: place for place, i in enumerate(ranked)}
        tables = {table.categories: table for table in self._tables}
        untouched = {
            table.categories: known.untouched(table, self._outcome) for table in self._tables
        }
        leaders = {i: self._leader(i) for i in ranked}
        narrower = self._narrower()
        for i in ranked:
            categories, choice = self._keys[i]
            table = tables[categories]
            data_in, data_out, fewest = untouched[categories](choice)
            yield RuleSet(
                conditions=self._conditions(i),
                outcome=self._name,
                score=float(self._score[i]),
                phi_in=float(self._inside[i]),
                phi_out=float(self._outside[i]),
                margin=float(self._margin[i]),
                confidence=paper_confidence(self._known.options.z),
                support=self._support[categories],
                rows=len(table.holders),
                n_in=table.asked,
                n_out=table.asked * (len(table.choices) - 1),
                low=float(self._low[i]),
                high=float(self._high[i]),
                p=float(self._p[i]),
                data_in=data_in,
                data_out=data_out,
                holds_on_data=holds_on_data(float(self._apart[i]), data_in, data_out, fewest),
                data_rows=fewest,
                leader=places.get(leaders[i], -1),
                broader=self._variants(self._broader(i)),
                narrower=self._variants(narrower.get(i, [])),
            )

    @property
    def _name(self) -> str:
        return "" if self._outcome is None else self._known.context.decisions[self._outcome]

    def _conditions(self, i: int) -> Conditions:
        lexicon = self._known.lexicon
        return tuple(
            Condition(lexicon.categories[c], term=lexicon.terms[c][t])
            for c, t in zip(*self._keys[i], strict=True)
        )

    # the rule sets beside each other

    def _parts(self, i: int, size: int) -> Iterator[int]:
        """Yield the rule sets of so many of one's terms, as far as they are examined."""
        categories, choice = self._keys[i]
        for part in combinations(range(len(categories)), size):
            key = tuple(categories[j] for j in part), tuple(choice[j] for j in part)
            if (place := self._at.get(key)) is not None:
                yield place

    def _leader(self, i: int) -> int:
        """Return the rule set that one is a variant of; -1 where it stands for itself.

        A variant is carried by fewer of its terms, which have nearly all of its difference, or by
        another term among those that it is compared with: without it, hardly any is left.
        """
        sign = np.sign(self._apart[i])
        for size in range(1, len(self._keys[i][0])):
            carry = [
                part
                for part in self._parts(i, size)
                if sign * self._apart[part] >= CARRIES * self._score[i]
            ]
            if carry:
                most = max(carry, key=lambda part: float(self._score[part]))
                leader = self._leader(most)
                return most if leader < 0 else leader
        categories, choice = self._keys[i]
        if len(choice) == 1:
            return self._carried[i]
        return self._due_to(i, [place for each in categories for place in self._apart_terms(each)])

    @cached_property
    def _carried(self) -> dict[int, int]:
        """Return for each single term that which its difference is due to; -1 for its own.

        The farthest apart come first: a term is due to one before it, never to one after it.
        """
        carried: dict[int, int] = {}
        for table in self._tables:
            if len(table.categories) == 1:
                places = [self._at[table.categories, each] for each in table.choices]
                own: list[int] = []
                for i in sorted(places, key=lambda place: (-self._score[place], place)):
                    carried[i] = self._due_to(i, own)
                    own += [i] if carried[i] < 0 else []
        return carried

    def _apart_terms(self, category: int) -> list[int]:
        """Return the single terms of a category whose difference is their own."""
        return [
            place
            for place, carrier in self._carried.items()
            if carrier < 0 and self._keys[place][0] == (category,)
        ]

    def _due_to(self, i: int, apart: Sequence[int]) -> int:
        """Return the term ``apart`` without which a rule set's difference vanishes; -1 for none.

        A term far below all others lowers what each of these is compared with: that they are above
        it is its difference, not theirs.
        """
        categories, choice = self._keys[i]
        against = [
            place
            for place in apart
            if self._apart[place] * self._apart[i] < 0
            and choice[categories.index(self._keys[place][0][0])] != self._keys[place][1][0]
        ]
        if not against:
            return -1
        table = next(each for each in self._tables if each.categories == categories)
        first, choices = self._at[categories, table.choices[0]], np.array(table.choices)
        kept = np.arange(first, first + len(choices)) != i
        for place in against:
            (category,), (term,) = self._keys[place]
            kept &= choices[:, categories.index(category)] != term
        left = 0.0
        if kept.any():
            left = self._inside[i] - self._inside[first : first + len(choices)][kept].mean()
        if np.sign(self._apart[i]) * left > (1 - CARRIES) * self._score[i]:
            return -1
        return max(against, key=lambda place: float(self._score[place]))

    def _broader(self, i: int) -> list[int]:
        return list(self._parts(i, len(self._keys[i][0]) - 1))

    def _narrower(self) -> dict[int, list[int]]:
        """Return for each rule set those that say one thing more."""
        narrower: dict[int, list[int]] = {}
        for i, (categories, _) in enumerate(self._keys):
            if len(categories) > 1:
                for part in self._broader(i):
                    narrower.setdefault(part, []).append(i)
        return narrower

    def _variants(self, which: Sequence[int]) -> tuple[Variant, ...]:
        first = sorted(which, key=lambda i: (-self._score[i], i))[:MOST_NARROWER]
        return tuple(
            Variant(
                self._conditions(i),
                float(self._score[i]),
                float(self._inside[i]),
                self._support[self._keys[i][0]],
            )
            for i in first
        )

    # the search as a whole

    def _mined(self) -> RuleSearchSummary:
        known = self._known
        return RuleSearchSummary(
            outcome=self._name,
            attributes=known.lexicon.categories,
            theta=known.options.theta,
            rule_sets=len(self._keys),
            candidates=known.candidates,
            samples=known.asked,
            margin=float(self._margin.max(initial=0.0)),
            seconds=known.seconds,
            texts=len(known.texts.named),
            sweep=tuple(self._sweep()),
            notes=tuple(self._notes()),
        )

    def _sweep(self) -> Iterator[Support]:
        """Yield what would be found with a higher minimum support."""
        theta = self._known.options.theta
        support = np.array([self._support[categories] for categories, _ in self._keys])
        for least in (theta, *(each for each in SWEEP if each > theta)):
            enough = np.flatnonzero(support >= least)
            if not enough.size:
                yield Support(least, 0, 0.0)
                continue
            best = int(enough[self._score[enough].argmax()])
            yield Support(least, enough.size, float(self._score[best]), self._conditions(best))

    def _notes(self) -> Iterator[str]:
        known, categories = self._known, self._known.lexicon.categories
        seeds = [table.asked for table in self._tables]
        if not seeds:
            return
        yield (
            "Every occurrence of a category’s identity terms is replaced, and nothing else: "
            "neither “a” and “an” nor words that fit only the old term are adapted."
        )
        together = ", fewest where terms of several categories are replaced together"
        several = any(len(table.categories) > 1 for table in self._tables)
        yield (
            f"Each rate is that of {spread(seeds)} different texts{together if several else ''}. "
            "Confidence intervals are for further texts like these."
        )
        most = known.options.error_thr
        through = [table.asked == len(table.seeds) for table in self._tables]
        exhausted = np.repeat(through, [len(table.choices) for table in self._tables])
        if wide := int((exhausted & (self._margin > most)).sum()):
            yield (
                f"For {wide:,} of {len(self._keys):,} subgroups there are too few texts to reach "
                f"the error bound of {100 * most:.3g} %: their confidence intervals are wider."
            )
        for table in known.tables:
            if not table.examined:
                share = known.texts.support(len(table.holders))
                few, fewest = len(table.seeds), known.options.least_rows
                yield (
                    f"The category “{categories[table.categories[0]]}” is in {100 * share:.3g} % "
                    "of the texts with an identity term"
                    + (
                        f", in {few:,} different texts, fewer than {fewest:,}"
                        if few < fewest
                        else ", below the minimum support"
                    )
                    + ": no rule uses it."
                )
        named = {c for table in known.tables for c in table.categories}
        for i, category in enumerate(categories):
            if i not in named:
                yield f"No text contains a term of the category “{category}”."
        decided = np.unique(np.concatenate([table.decided.ravel() for table in self._tables]))
        if len(decided) == 1:
            yield (
                f"The model decides “{known.context.decisions[int(decided[0])]}” for every "
                "text, with any identity term: only scores can differ."
            )


def _rates(texts: Texts, table: Table, values: NDArray[np.float64]) -> Rates:
    """Count the texts that hold exactly a choice's terms, and those that hold them and others."""
    exactly, holding = Counter[Choice](), Counter[Choice]()
    sums_exactly, sums_holding = dict[Choice, float](), dict[Choice, float]()
    for i, value in zip(table.holders, values[table.holders].tolist(), strict=True):
        held = [texts.named[i].holds(category) for category in table.categories]
        for choice in product(*held):
            holding[choice] += 1
            sums_holding[choice] = sums_holding.get(choice, 0.0) + value
        if all(len(each) == 1 for each in held):
            exactly[choice] += 1
            sums_exactly[choice] = sums_exactly.get(choice, 0.0) + value
    rows, total = len(table.holders), float(values[table.holders].sum())

    def rates(choice: Choice) -> tuple[float | None, float | None, int]:
        inside, others = exactly[choice], rows - holding[choice]
        rest = total - sums_holding.get(choice, 0.0)
        return (
            sums_exactly[choice] / inside if inside else None,
            rest / others if others else None,
            min(inside, others),
        )

    return rates


def spread(counts: Sequence[int]) -> str:
    """Write from what to what counts go: ``19 to 472``."""
    low, high = min(counts), max(counts)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


# The terms


def _terms(known: Known) -> Iterator[TermRate]:
    """Yield for each term the rate of sentences that name it, and how often another changes it."""
    lexicon, texts = known.lexicon, known.texts
    occurs = Counter(place for each in texts.named for place in set(each.terms))
    tables = {table.categories: table for table in known.tables}
    nothing = Table((), [], [], [], examined=False)
    for category, own in enumerate(lexicon.terms):
        table = tables.get((category,), nothing)
        asked = table.asked
        flips = None if table.steady is None else _flips(table, table.steady)
        for term, written in enumerate(own):
            if not asked and not occurs[category, term]:
                continue
            values = table.values(known.context.favourable)[:, term] if asked else np.zeros(1)
            yield TermRate(
                category=lexicon.categories[category],
                term=written,
                occurs=occurs[category, term],
                texts=asked,
                rate=float(values.mean()),
                tried=0 if flips is None else asked,
                flips=0 if flips is None else int((flips[:, term] >= 0).sum()),
                examples=() if flips is None else tuple(_examples(known, table, flips, term)),
            )


def _flips(table: Table, steady: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return for each answer the term with another decision whose score is farthest off, or -1.

    Returns
    -------
    NDArray[np.intp]
        ``(n, k)``.
    """
    farthest = np.full(table.decided.shape, -1, dtype=np.intp)
    several = np.flatnonzero((table.decided != table.decided[:, :1]).any(axis=1))
    decided, scores, sure = table.decided[several], table.scores[several], steady[several]
    for term in range(decided.shape[1]):
        other = (decided != decided[:, [term]]) & sure & sure[:, [term]]
        distance = np.where(other, np.abs(scores - scores[:, [term]]), -1.0)
        farthest[several, term] = np.where(other.any(axis=1), distance.argmax(axis=1), -1)
    return farthest


def _examples(known: Known, table: Table, flips: NDArray[np.intp], term: int) -> Iterator[Flip]:
    """Show the sentences with the greatest difference of scores."""
    context, lexicon, texts = known.context, known.lexicon, known.texts
    flipped = np.flatnonzero(flips[:, term] >= 0)
    others = flips[flipped, term]
    apart = np.abs(table.scores[flipped, term] - table.scores[flipped, others])
    for at in np.argsort(-apart, kind="stable")[:MOST_FLIPS].tolist():
        seed, other = int(flipped[at]), int(others[at])
        i = table.seeds[seed]
        text, changed = lexicon.rewritten(texts.named[i], table.categories, [(term,), (other,)])
        pairs = enumerate(zip(text, changed, strict=False))
        where = next((at for at, (one, another) in pairs if one != another), 0)
        yield Flip(
            row=int(texts.places[i]),
            text=_cut(text, where),
            other=_cut(changed, where),
            other_term=lexicon.terms[table.categories[0]][other],
            score=float(table.scores[seed, term]),
            other_score=float(table.scores[seed, other]),
            decision=context.decisions[int(table.decided[seed, term])],
            other_decision=context.decisions[int(table.decided[seed, other])],
        )


def _cut(text: str, where: int) -> str:
    """Cut a text so that a place in it is still seen."""
    start = max(0, where - MOST_TEXT // 2)
    return f"…{text[start + 1 : start + MOST_TEXT]}" if start else text[:MOST_TEXT]
