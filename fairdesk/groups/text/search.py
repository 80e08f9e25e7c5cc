"""TestSGD on texts: sentences that name somebody, compared with the same about somebody else.

M. Zhang, J. Sun, J. Wang, B. Sun, "TestSGD: Interpretable Testing of Neural Networks Against Subtle
Group Discrimination", ACM TOSEM 2023, sections 3 and 4 (the terms: Table 1). A rule set names one
term of a category or of several; a text is a member when it names these, and can be made one when
it names anybody of the same categories.

**The estimator.** For some categories, the *seeds* are the data's texts that hold a term of each,
and the *choices* are all combinations of one term of each. Every seed is asked about with every
choice: a table of answers, seeds by choices. A rule set is one choice: ``phi_in`` is the mean of
its column, ``phi_out`` that of all other columns, over the same seeds; terms of other categories
stay as the text has them. That is what Algorithm 2 estimates by drawing a seed and a term at
random; but there are only so many such sentences, mostly far fewer than it would draw. So none is
asked about twice, every sentence serves all rule sets of its categories, and the two sides differ
in nothing but the term.

**How many.** Seeds are taken in random order, ``sample_thr`` of them, and then more until the
margin of all rule sets of these categories is within ``error_thr``, or there is no other. Two texts
that differ in these terms only are one seed.

**How sure.** Margins and intervals count seeds, not sentences: see `fairdesk.groups.text.paired`.
They speak of further texts like the seeds. As whether to go on hangs on what was counted, each look
at the margins has half of what the ones before left of the error.

**Individual discrimination** is in the tables of single categories: a sentence that gets another
decision with another term. All sentences of such a seed are asked again, in another order, and only
decisions that were the same both times count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product
from math import prod
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from fairdesk.errors import SpecError
from fairdesk.groups.context import GroupContext
from fairdesk.groups.text.results import Known
from fairdesk.groups.text.sentences import Lexicon, Named, SentenceScorer, ask, text_place
from fairdesk.groups.text.tables import Table, Texts
from fairdesk.groups.text.terms import lists_of_terms
from fairdesk.individual.engine.sampling import Pace
from fairdesk.models.model import labels
from fairdesk.results.events import Event, Measured, Progress, Rows

if TYPE_CHECKING:
    from fairdesk.groups.options import TestSgdOptions

#: About so many sentences are written before they are asked about.
BATCH = 2_048
#: Figures are told at most every so many seconds ...
TELL_SECONDS = 1.0
#: ... and so many times as long is worked as making them took.
WORKING = 5.0
#: At most so many rule sets are examined.
MOST_RULE_SETS = 100_000
#: Where the margins are too wide there are so many times the seeds when they are looked at anew:
#: from the paper's 1,000 to what any rate needs for its bound of 0.05.
_MORE = 1.6
#: Texts scanned between two signs of life.
_SCANNED = 500


def search(
    context: GroupContext, options: TestSgdOptions, rng: np.random.Generator
) -> Iterator[Event]:
    """Compare how sentences fare by whom they name.

    Parameters
    ----------
    study : GroupContext
        Its ``text`` is the column, its ``terms`` the auditor's own.
    options : TestSgdOptions
        ``bins`` and ``subsets`` have no meaning here.
    rng : np.random.Generator
        All randomness.

    Raises
    ------
    SpecError
        At once, when nothing can be compared.
    """
    yield from _Search(context, options, rng).events()


class _Search:
    """One search, and what it knows so far."""

    def __init__(
        self, context: GroupContext, options: TestSgdOptions, rng: np.random.Generator
    ) -> None:
        self._context, self._options, self._rng = context, options, rng
        self._started = perf_counter()
        self._tell_from = self._started + TELL_SECONDS
        self._lexicon = Lexicon(lists_of_terms(context.terms))
        self._answers, self._pace = SentenceScorer(context), Pace(1, context=context)
        nobody = Texts([], [], np.empty((0, 0)), np.empty(0, np.intp))
        self._known = Known(context, options, self._lexicon, nobody, [])
        self._done = 0.0

    def events(self) -> Iterator[Event]:
        yield from self._read()
        self._plan()
        yield from self._ask_untouched()
        for table in self._known.tables:
            yield from self._fill(table)
            if len(table.categories) == 1:
                yield from self._confirm(table)
            yield from self._tell()
        yield self._measured()
        yield self._progress("asking")

    # what is asked about

    def _read(self) -> Iterator[Progress]:
        """Find whom the texts name."""
        context, lexicon = self._context, self._lexicon
        place = text_place(context)
        values = context.domain.attributes[place].values
        inside = np.flatnonzero(context.inside)
        if not inside.size:
            raise SpecError(
                f"No row has a text in “{context.text}” that is eligible for testing.",
                why="Every row has a missing cell or a value that is not allowed.",
                remedy=(
                    "Choose another column of texts, or widen the allowed values of the input "
                    "domain."
                ),
            )
        codes = context.rows[inside, place].astype(np.intp)
        found: dict[int, Named | None] = {}
        distinct = np.unique(codes).tolist()
        for start in range(0, len(distinct), _SCANNED):
            for code in distinct[start : start + _SCANNED]:
                found[code] = lexicon.find(values[code])
            yield self._progress("reading", start, len(distinct))
        which = [i for i, code in enumerate(codes.tolist()) if found[code] is not None]
        if not which:
            terms = sum(map(len, lexicon.terms))
            raise SpecError(
                f"None of the {len(inside):,} texts in “{context.text}” contains any of the "
                f"{terms} identity terms.",
                why="Identity terms can only be exchanged in a sentence that contains one.",
                remedy=(
                    "Edit the identity terms so that they fit these texts, or choose another "
                    "column."
                ),
            )
        self._known.texts = Texts(
            [each for i in which if (each := found[int(codes[i])]) is not None],
            [values[codes[i]] for i in which],
            context.rows[inside[which]],
            inside[which],
        )

    def _plan(self) -> None:
        """Choose the categories that enough texts hold together, the single ones first."""
        lexicon, texts, theta = self._lexicon, self._known.texts, self._options.theta
        everywhere = range(len(lexicon.categories))
        holders: dict[tuple[int, ...], list[int]] = {
            (c,): [i for i, each in enumerate(texts.named) if c in each.categories]
            for c in everywhere
        }
        frequent = {chosen for chosen, own in holders.items() if texts.support(len(own)) >= theta}
        if not frequent:
            (most, *_), own = max(holders.items(), key=lambda item: len(item[1]))
            raise SpecError(
                "No subgroup defined by identity terms reaches the minimum support of "
                f"{100 * theta:.3g} %.",
                why=f"Of the {len(texts.named):,} texts with an identity term, "
                f"{100 * texts.support(len(own)):.3g} % contain a term of the most common "
                f"category, “{lexicon.categories[most]}”.",
                remedy="Reduce the minimum support.",
            )
        self._known.candidates = sum(map(len, lexicon.terms))
        for size in range(2, min(self._options.together, len(lexicon.categories)) + 1):
            for chosen in combinations(everywhere, size):
                if all(part in frequent for part in combinations(chosen, size - 1)):
                    self._known.candidates += self._choices(chosen)
                    first, rest = set(holders[chosen[:-1]]), holders[chosen[-1:]]
                    holders[chosen] = [i for i in rest if i in first]
                    if texts.support(len(holders[chosen])) >= theta:
                        frequent.add(chosen)
        if (count := sum(map(self._choices, frequent))) > MOST_RULE_SETS:
            raise SpecError(
                f"The identity terms define {count:,} subgroups; at most {MOST_RULE_SETS:,} "
                "can be tested.",
                remedy=(
                    "Reduce the number of categories combined, or shorten the lists of identity "
                    "terms."
                ),
            )
        for chosen, own in holders.items():
            if own and (chosen in frequent or len(chosen) == 1):
                table = self._table(chosen, own, examined=chosen in frequent)
                if table.examined or len(chosen) == 1:
                    self._known.tables.append(table)
        if not self._known.rule_sets:
            most = max(len(table.seeds) for table in self._known.tables)
            raise SpecError(
                f"No category has identity terms in at least {self._options.least_rows:,} "
                "different sentences.",
                why=f"The most common one is in {most:,}; so few sentences show little about "
                "others.",
                remedy="Use a table with more texts, or reduce the minimum rows (least_rows).",
            )

    def _choices(self, categories: Sequence[int]) -> int:
        return prod(len(self._lexicon.terms[c]) for c in categories)

    def _table(self, categories: tuple[int, ...], holders: list[int], *, examined: bool) -> Table:
        """Make an empty table; of seeds that come to the same sentences the first is taken."""
        texts = self._known.texts
        choices = list(product(*(range(len(self._lexicon.terms[c])) for c in categories)))
        others = np.delete(texts.rows, text_place(self._context), axis=1)
        seeds = dict[tuple[str, bytes], int]()
        for i in holders:
            (sentence,) = self._lexicon.rewritten(texts.named[i], categories, choices[:1])
            seeds.setdefault((sentence, others[i].tobytes()), i)
        order = self._rng.permutation(np.array(list(seeds.values()))).tolist()
        # whoever looks once, at all there are, need not share the error between several looks
        spent = 1.0 if len(order) <= self._options.sample_thr else 0.5
        examined &= len(order) >= self._options.least_rows
        return Table(categories, choices, holders, order, examined, spent)

    # the answers

    def _ask_untouched(self) -> Iterator[Progress]:
        """Query the model about the texts as they are."""
        texts, answers = self._known.texts, []
        for part in self._pace.parts(len(texts.written)):
            answers.append(self._answers.to(texts.written[part], texts.rows[part]))
            yield self._progress("asking")
        decided, scores = (np.concatenate(each) for each in zip(*answers, strict=True))
        self._known.texts = replace(texts, decided=decided, scores=scores)

    def _fill(self, table: Table) -> Iterator[Event]:
        """Query the model about so many seeds as the margins need (Algorithm 2)."""
        begun, columns = self._done, len(table.choices)
        wanted = min(self._options.sample_thr, len(table.seeds))
        table.make_room(wanted)
        while table.asked < wanted:
            block = table.seeds[table.asked : min(wanted, table.asked + max(1, BATCH // columns))]
            sentences, rows = self._sentences(table, block)
            answers = []
            for part in self._pace.parts(len(sentences)):
                answers.append(self._answers.to(sentences[part], rows[part]))
                self._known.asked += len(answers[-1][0])
                yield from self._tell_at_the_end()
                yield self._progress("asking")
            decided, scores = (np.concatenate(each) for each in zip(*answers, strict=True))
            table.add(decided, scores)
            if table.examined:
                self._done = begun + columns * table.asked / wanted
            yield from self._tell()
            if table.asked == wanted and table.examined:
                wanted = self._wanted(table)
                table.make_room(wanted)

    def _sentences(self, table: Table, seeds: Sequence[int]) -> tuple[list[str], Rows]:
        """Write all sentences of some seeds: seed by seed, each with all choices."""
        sentences = [
            sentence
            for i in seeds
            for sentence in self._lexicon.rewritten(
                self._known.texts.named[i], table.categories, table.choices
            )
        ]
        return sentences, np.repeat(self._known.texts.rows[seeds], len(table.choices), axis=0)

    def _wanted(self, table: Table) -> int:
        """Look at the margins, and give how many seeds are wanted before the next look."""
        if table.asked == len(table.seeds):
            return table.asked
        margin = max(
            float(self._known.compared(table, outcome).margin.max())
            for outcome in self._known.outcomes
        )
        if margin <= self._options.error_thr:
            return table.asked
        table.spent /= 2
        return min(len(table.seeds), int(table.asked * _MORE) + 1)

    def _confirm(self, table: Table) -> Iterator[Event]:
        """Ask again about all sentences of seeds with two decisions, the last first."""
        steady = np.ones(table.decided.shape, dtype=np.bool_)
        flipped = np.flatnonzero((table.decided != table.decided[:, :1]).any(axis=1)).tolist()
        block = max(1, BATCH // len(table.choices))
        for start in range(0, len(flipped), block):
            part = flipped[start : start + block]
            sentences, rows = self._sentences(table, [table.seeds[i] for i in part])
            sentences, rows = sentences[::-1], rows[::-1]
            again = []
            for few in self._pace.parts(len(sentences)):
                again.append(labels(ask(self._context, sentences[few], rows[few])))
                yield from self._tell_at_the_end()
                yield self._progress("confirming")
            second = np.concatenate(again)[::-1].reshape(len(part), -1)
            steady[part] = table.decided[part] == second
        table.steady = steady

    # what they say

    def _progress(self, phase: str, done: int | None = None, total: int | None = None) -> Progress:
        return Progress(
            phase,
            int(self._done) if done is None else done,
            self._known.rule_sets if total is None else total,
            tried=self._known.asked,
            found=0,
            queries=self._context.queries,
        )

    def _tell(self) -> Iterator[Measured]:
        """Yield the figures, unless that was done a moment ago."""
        if perf_counter() > self._tell_from:
            yield self._measured()

    def _tell_at_the_end(self) -> Iterator[Measured]:
        """Yield the figures once the budget is used up, whenever they were told before."""
        if self._context.rows_left <= 0 and any(table.asked for table in self._known.tables):
            yield self._measured()

    def _measured(self) -> Measured:
        begun = perf_counter()
        self._known.seconds = begun - self._started
        measured = Measured("asking", tuple(self._known.figures()))
        now = perf_counter()
        self._tell_from = now + max(TELL_SECONDS, WORKING * (now - begun))
        return measured
