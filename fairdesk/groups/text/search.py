"""TestSGD on texts: which sentences are compared, with which terms, and the steps of the search.

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

**How sure.** Margins and intervals count seeds, not sentences: see `fairdesk.groups.statistics`.
They speak of further texts like the seeds. As whether to go on hangs on what was counted, each look
at the margins has half of what the ones before left of the error.

**Individual discrimination** is in the tables of single categories: a sentence that gets another
decision with another term. All sentences of such a seed are asked again, in another order, and only
decisions that were the same both times count.

The steps know no model: what they ask for (`Asked`) is answered by whoever drives them.
"""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, groupby
from math import prod
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import SpecError
from fairdesk.groups.context import GroupContext
from fairdesk.groups.text.results import Known
from fairdesk.groups.text.sentences import (
    Lexicon,
    Named,
    SentenceScorer,
    Table,
    Texts,
    ask,
    text_place,
)
from fairdesk.individual.engine.division import Counting, Merging, Stepping, counted_here
from fairdesk.individual.engine.pace import Pace
from fairdesk.models.model import labels
from fairdesk.results.events import Event, Measured, Progress, Rows, ShardRange, Tallied

if TYPE_CHECKING:
    from fairdesk.groups.options import TestSgdOptions


#: About so many sentences are a unit.
BATCH = 2_048
#: At most so many rule sets are examined.
MOST_RULE_SETS = 100_000
#: Where the margins are too wide there are so many times the seeds when they are looked at anew:
#: from the paper's 1,000 to what any rate needs for its bound of 0.05.
_MORE = 1.6
#: Texts scanned between two signs of life.
_SCANNED = 500


class Part(msgspec.Struct, frozen=True):
    """Texts that are asked about with every choice of terms of some categories.

    Attributes
    ----------
    categories : tuple[int, ...]
        Their places in the lexicon; none for the texts as they are.
    rows : list[int]
        The texts, by their places in the table.
    """

    categories: tuple[int, ...]
    rows: list[int]


class Asked(msgspec.Struct, frozen=True):
    """What the model is to be asked about next.

    Attributes
    ----------
    parts : tuple[Part, ...]
        In this order.
    again : bool
        Whether it is asked a second time, about the choices in reverse.
    """

    parts: tuple[Part, ...]
    again: bool = False

    def stage(self, first: int) -> str:
        """Write it down, with the number of its first unit."""
        return b64encode(zlib.compress(msgspec.msgpack.encode((first, self)))).decode()

    @classmethod
    def read(cls, stage: str) -> tuple[int, Asked]:
        """Read what `stage` wrote."""
        written = zlib.decompress(b64decode(stage))
        return msgspec.msgpack.decode(written, type=tuple[int, Asked])

    def units(self, lexicon: Lexicon) -> Iterator[Part]:
        """Yield the units in their order: some texts of one part each."""
        for part in self.parts:
            for some in _blocks(lexicon, part.categories, len(part.rows)):
                yield Part(part.categories, part.rows[some])


def _blocks(lexicon: Lexicon, categories: Sequence[int], texts: int) -> Iterator[slice]:
    """Yield which of so many texts are a unit each."""
    size = max(1, BATCH // _count(lexicon, categories))
    return (slice(start, start + size) for start in range(0, texts, size))


def _count(lexicon: Lexicon, categories: Sequence[int]) -> int:
    return prod(len(lexicon.terms[c]) for c in categories)


#: What came of a unit, by the names in `Tallied`.
Answer = Mapping[str, NDArray[Any]]
#: Steps that ask for something now and then.
Steps = Generator[Event | Asked, None, None]


class _Unit(NamedTuple):
    """A unit that is asked for: seeds of a table, by their places among its seeds."""

    table: Table
    seeds: NDArray[np.intp]
    #: Of what is asked a second time.
    steady: NDArray[np.bool_] | None = None


class Comparing:
    """One search, from the texts to the figures.

    Attributes
    ----------
    known : Known
        What is known by now.
    """

    def __init__(
        self, context: GroupContext, options: TestSgdOptions, rng: np.random.Generator
    ) -> None:
        self._context, self._options, self._rng = context, options, rng
        self._started = perf_counter()
        self._lexicon = Lexicon.of(context.terms)
        nobody = Texts([], np.empty((0, 0)), np.empty(0, np.intp))
        self.known = Known(context, options, self._lexicon, nobody, [])
        self._untouched = Table((), [], [], [], examined=False)
        self._units: list[_Unit] = []

    def run(self) -> Steps:
        """Compare, from the texts to the last figures."""
        yield from self._read()
        self._plan()
        every = list(range(len(self.known.texts.named)))
        self._untouched = Table((), [()], every, every, examined=False)
        before = [self._untouched]
        for size, tables in groupby(self.known.tables, lambda table: len(table.categories)):
            own = list(tables)
            yield from self._fill([*before, *own])
            if size == 1:
                yield from self._confirm(own)
            before = []
        yield self.measured()
        yield self._progress("asking", self.known.rule_sets, self.known.rule_sets)

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
        self.known.texts = Texts(
            [each for i in which if (each := found[int(codes[i])]) is not None],
            context.rows[inside[which]],
            inside[which],
        )

    def _plan(self) -> None:
        """Choose the categories that enough texts hold together, the single ones first."""
        lexicon, texts, theta = self._lexicon, self.known.texts, self._options.theta
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
        self.known.candidates = sum(map(len, lexicon.terms))
        for size in range(2, min(self._options.together, len(lexicon.categories)) + 1):
            for chosen in combinations(everywhere, size):
                if all(part in frequent for part in combinations(chosen, size - 1)):
                    self.known.candidates += _count(lexicon, chosen)
                    first, rest = set(holders[chosen[:-1]]), holders[chosen[-1:]]
                    holders[chosen] = [i for i in rest if i in first]
                    if texts.support(len(holders[chosen])) >= theta:
                        frequent.add(chosen)
        if (count := sum(_count(lexicon, each) for each in frequent)) > MOST_RULE_SETS:
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
                    self.known.tables.append(table)
        if not self.known.rule_sets:
            most = max(len(table.seeds) for table in self.known.tables)
            raise SpecError(
                f"No category has identity terms in at least {self._options.least_rows:,} "
                "different texts.",
                why=f"The most common one is in {most:,}; so few texts show little about others.",
                remedy="Use a table with more texts, or reduce the minimum rows (least_rows).",
            )

    def _table(self, categories: tuple[int, ...], holders: list[int], *, examined: bool) -> Table:
        """Make an empty table; of seeds that come to the same sentences the first is taken."""
        texts = self.known.texts
        choices = self._lexicon.choices(categories)
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

    def _fill(self, tables: Sequence[Table]) -> Steps:
        """Ask about so many seeds of each table as the margins need (Algorithm 2)."""
        wanted = [(table, min(self._first(table), len(table.seeds))) for table in tables]
        while wanted:
            units = []
            for table, count in wanted:
                table.make_room(count)
                seeds = np.arange(table.asked, count)
                units += [
                    _Unit(table, seeds[some])
                    for some in _blocks(self._lexicon, table.categories, len(seeds))
                ]
            yield self._ask(units)
            looked = [(table, self._wanted(table)) for table, _ in wanted]
            wanted = [(table, count) for table, count in looked if count > table.asked]

    def _first(self, table: Table) -> int:
        return self._options.sample_thr if table.categories else len(table.seeds)

    def _wanted(self, table: Table) -> int:
        """Look at the margins, and give how many seeds are wanted before the next look."""
        if table.asked == len(table.seeds) or not table.examined:
            return table.asked
        margin = max(
            float(self.known.compared(table, outcome).margin.max())
            for outcome in self.known.outcomes
        )
        if margin <= self._options.error_thr:
            return table.asked
        table.spent /= 2
        return min(len(table.seeds), int(table.asked * _MORE) + 1)

    def _confirm(self, tables: Sequence[Table]) -> Steps:
        """Ask again about all sentences of seeds with two decisions, the last first."""
        units, steady = [], [np.ones(table.decided.shape, dtype=np.bool_) for table in tables]
        for table, own in zip(tables, steady, strict=True):
            flipped = np.flatnonzero((table.decided != table.decided[:, :1]).any(axis=1))[::-1]
            units += [
                _Unit(table, flipped[some], own)
                for some in _blocks(self._lexicon, table.categories, len(flipped))
            ]
        if units:
            yield self._ask(units, again=True)
        for table, own in zip(tables, steady, strict=True):
            table.steady = own

    def _ask(self, units: list[_Unit], *, again: bool = False) -> Asked:
        self._units = units
        places = self.known.texts.places
        parts = []
        for _, own in groupby(units, lambda unit: unit.table.categories):
            each = list(own)
            table, seeds = each[0].table, np.concatenate([unit.seeds for unit in each])
            parts.append(Part(table.categories, places[np.array(table.seeds)[seeds]].tolist()))
        return Asked(tuple(parts), again)

    @property
    def units(self) -> int:
        """How many units are asked for."""
        return len(self._units)

    # the answers

    def take(self, place: int, answer: Answer) -> None:
        """Take what the model said of the unit at a place among those that are asked for."""
        table, seeds, steady = self._units[place]
        decided = answer["decided"]
        fitting = 0 <= decided.min() <= decided.max() < len(self._context.decisions)
        if len(decided) != len(seeds) * len(table.choices) or not fitting:
            raise ValueError("other answers than were asked for")
        if steady is not None:
            second = decided.reshape(len(seeds), -1)[:, ::-1]
            steady[seeds] = table.decided[seeds] == second
            return
        table.add(decided, answer["scores"])
        if table is not self._untouched:
            self.known.asked += len(decided)
        elif table.asked == len(table.seeds):
            scores = table.scores[:, 0]
            self.known.texts = replace(self.known.texts, decided=table.decided[:, 0], scores=scores)

    @property
    def begun(self) -> bool:
        """Whether there are answers in the figures."""
        return any(table.asked for table in self.known.tables)

    def measured(self) -> Measured:
        """Return what is known of the rule sets and terms."""
        self.known.seconds = perf_counter() - self._started
        return Measured("asking", tuple(self.known.figures()))

    def told(self, progress: Progress) -> Progress:
        """Return a progress with how many rule sets are known: in part, while they are asked."""
        done = sum(len(each.choices) * each.share for each in self.known.tables if each.examined)
        return msgspec.structs.replace(progress, done=int(done), total=self.known.rule_sets)

    def _progress(self, phase: str, done: int, total: int) -> Progress:
        asked, queries = self.known.asked, self._context.queries
        return Progress(phase, done, total, tried=asked, found=0, queries=queries)


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

    Raises
    ------
    SpecError
        At once, when nothing can be compared.
    """
    found = _Merging(context, options, rng)
    yield from counted_here(found, counting(context), found)


def counting(context: GroupContext) -> Counting:
    """Return the half that queries the model."""
    return _Sentences(context).count


def merging(context: GroupContext, options: TestSgdOptions, rng: np.random.Generator) -> Merging:
    """Return the half that compares what the model answered; parameters as of `search`."""
    return _Merging(context, options, rng)


class _Sentences:
    """Queries the model about sentences: the half that needs it."""

    def __init__(self, context: GroupContext) -> None:
        self._context, self._place = context, text_place(context)
        self._lexicon = Lexicon.of(context.terms)
        self._answers, self._pace = SentenceScorer(context), Pace(1, context=context)
        self._stage, self._first, self._tried = "", 0, 0
        self._units: list[Part] = []
        self._again = False

    def count(self, wanted: ShardRange) -> Iterator[Event]:
        """Query the model about units of what is asked for."""
        if wanted.stage != self._stage:
            self._stage, (self._first, asked) = wanted.stage, Asked.read(wanted.stage)
            self._units, self._again = list(asked.units(self._lexicon)), asked.again
        phase = "confirming" if self._again else "asking"
        for unit in range(wanted.start, wanted.stop):
            part = self._units[unit - self._first]
            texts, rows = self._sentences(part)
            for some, last in self._pace.of_unit(len(texts)):
                yield Tallied(phase, unit, last, self._answered(texts[some], rows[some]))
                if part.categories and not self._again:
                    self._tried += len(texts[some])
                yield Progress(phase, 0, 0, self._tried, 0, self._context.queries)

    def _sentences(self, part: Part) -> tuple[list[str], Rows]:
        """Write all sentences of some texts: text by text, each with all choices."""
        rows = self._context.rows[part.rows]
        values = self._context.domain.attributes[self._place].values
        choices = self._lexicon.choices(part.categories)
        if self._again:
            choices.reverse()
        sentences: list[str] = []
        for code in rows[:, self._place].astype(np.intp).tolist():
            named = self._lexicon.find(values[code])
            if named is None:
                raise ValueError("the stage names a text without identity terms")
            sentences += self._lexicon.rewritten(named, part.categories, choices)
        return sentences, np.repeat(rows, len(choices), axis=0)

    def _answered(self, texts: list[str], rows: Rows) -> dict[str, NDArray[np.generic]]:
        if self._again:
            return {"decided": labels(ask(self._context, texts, rows)).astype(np.int16)}
        decided, scores = self._answers.to(texts, rows)
        return {"decided": decided, "scores": scores}


class _Merging(Stepping[Asked, None]):
    """Compares what the model answered: the half without it."""

    def __init__(
        self, context: GroupContext, options: TestSgdOptions, rng: np.random.Generator
    ) -> None:
        self._comparing = Comparing(context, options, rng)
        super().__init__(self._comparing.run(), context)
        self._parts: list[Answer] = []

    def _begin(self, asked: Asked) -> int:
        del asked
        return self._comparing.units

    def _answer(self) -> None:
        self._parts = []

    def add(self, tallied: Tallied) -> bool:
        """Take the answers to a unit, once all are there."""
        self._parts.append(tallied.arrays)
        if tallied.last:
            answers = {
                name: np.concatenate([each[name] for each in self._parts])
                for name in tallied.arrays
            }
            self._comparing.take(tallied.unit - self._first, answers)
            self._parts = []
        return super().add(tallied)

    def told(self, progress: Progress) -> Progress:
        """Return a progress with how many rule sets are known."""
        return self._comparing.told(progress)

    def _figures(self) -> Measured | None:
        return self._comparing.measured() if self._comparing.begun else None
