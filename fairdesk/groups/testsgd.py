"""TestSGD: rules that describe groups, and how far their members are decided about otherwise.

Zhang et al., "TestSGD: Interpretable Testing of Neural Networks Against Subtle Group
Discrimination", ACM TOSEM 2023, Algorithms 1 and 2. What is ours: one pool of samples for all rule
sets (`fairdesk.groups.tabular.tallies`), the same shares among the untouched rows, and an interval
and p-values: of individuals like those in the data, however many samples are made of each of them
(`fairdesk.groups.statistics.Side.by_rows`), and corrected for how many rule sets were tried and how
often they were looked at. The paper's margin speaks of these rows alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

import msgspec
import numpy as np

from fairdesk.groups.context import GroupContext
from fairdesk.groups.options import TestSgdOptions
from fairdesk.groups.tabular import mining
from fairdesk.groups.tabular.mining import MOST_ROWS, Answer, Asked, Mining
from fairdesk.groups.tabular.sampling import Neighbours, Steps, starting
from fairdesk.groups.tabular.tallies import Outcomes
from fairdesk.groups.text import search as text_rules
from fairdesk.individual.engine.division import Counting, Merging, Stepping, counted_here, stream
from fairdesk.individual.engine.pace import Pace
from fairdesk.models.model import labels
from fairdesk.results.events import Event, Measured, Progress, Rows, ShardRange, Tallied

#: Rows, or samples, in a block; each block of samples has random numbers of its own.
BLOCK = 8_192
_SAMPLES, _QUERIED = range(2)
#: Figures are told anew after so many seconds.
_TELL_SECONDS = 0.5
#: ... or so many times what it takes to tell them.
_TELL_SHARE = 10.0


def search(
    context: GroupContext, people: Rows, options: TestSgdOptions, rng: np.random.Generator
) -> Iterator[Event]:
    """Find the rule sets whose members fare most unlike others.

    Of people: rules about each attribute (`fairdesk.groups.tabular.rules`), the frequent rule sets
    (`fairdesk.groups.tabular.support`; the rows that lie in the domain count), the model's answers
    for these rows as they are, and samples made from them (`fairdesk.groups.tabular.sampling`), one
    pool for all rule sets (`fairdesk.groups.tabular.tallies`), until each margin is small enough.
    Of texts: `fairdesk.groups.text.search`.

    Raises
    ------
    SpecError
        When nobody is in the domain, no rule tells people apart, or no rule set has the least
        support.
    """
    if context.text:
        yield from text_rules.search(context, options, rng)
        return
    half = _Samples(context, people, options, rng)
    found = _Merging(context, people, options)
    yield from counted_here(found, half.count, found)


def counting(
    context: GroupContext, people: Rows, options: TestSgdOptions, rng: np.random.Generator
) -> Counting:
    """Return the half that queries the model; parameters as of `search`."""
    if context.text:
        return text_rules.counting(context)
    return _Samples(context, people, options, rng).count


def merging(context: GroupContext, options: TestSgdOptions, rng: np.random.Generator) -> Merging:
    """Return the half that makes the rules and adds up what the model said."""
    if context.text:
        return text_rules.merging(context, options, rng)
    return _Merging(context, context.rows[context.inside], options)


class _Samples:
    """Queries the model about rows and samples: the half that needs it."""

    def __init__(
        self, context: GroupContext, people: Rows, options: TestSgdOptions, rng: np.random.Generator
    ) -> None:
        self._context, self._rng = context, rng
        self._outcomes, self._steps = Outcomes(context, options.outcome), Steps.of(options)
        rows, fine = starting(context.domain, people)
        self._people, self._tried, self._rejected = rows[fine], 0, 0
        # a part of the rows does where there are very many; in the order of the file otherwise
        count, most, own = len(self._people), mining.MOST_ROWS, stream(rng, _QUERIED, 0)
        some = own.choice(count, most, replace=False) if count > most else np.arange(count)
        self._queried = np.sort(some)
        self._read: tuple[str, int, Asked] = "", 0, Asked(0, drawn=False)

    def count(self, wanted: ShardRange) -> Iterator[Event]:
        """Query the model about blocks of what is asked for."""
        if wanted.stage != self._read[0]:
            self._read = wanted.stage, *Asked.read(wanted.stage, len(self._people))
        _, first, asked = self._read
        phase, pace = "samples" if asked.drawn else "data", Pace(1, context=self._context)
        some = None if asked.where is None else np.flatnonzero(asked.where)
        for unit in range(wanted.start, wanted.stop):
            start = (unit - first) * BLOCK
            size, aside = min(BLOCK, asked.size - start), (0, 0)
            if asked.drawn:
                own = stream(self._rng, _SAMPLES, unit)
                seeds = own.integers(len(self._people) if some is None else len(some), size=size)
                seeds = seeds if some is None else some[seeds]
                neighbours = Neighbours(self._context.domain, own, self._steps)
                # all at once: how fast the model answers must not tell who is made
                rows = neighbours.of(self._people[seeds])
                aside = neighbours.left, neighbours.rejected
                self._rejected += neighbours.rejected
            else:
                seeds = self._queried[start : start + size]
                rows = self._people[seeds]
            for part, last in pace.of_unit(size):
                scores = self._context.predict(rows[part])
                self._tried += len(scores) * asked.drawn
                decisions = labels(scores)
                arrays = {
                    "seeds": seeds[part],
                    "values": self._outcomes.of(scores),
                    "decisions": decisions.astype(np.int64),
                    "aside": np.array(aside if last else (0, 0)),
                }
                yield Tallied(phase, unit, last, arrays)
                yield Progress(
                    phase, 0, 0, self._tried, 0, self._context.queries, rejected=self._rejected
                )


class _Merging(Stepping[Asked, Answer]):
    """Adds up samples as the mining asks for them: the half without the model."""

    def __init__(self, context: GroupContext, people: Rows, options: TestSgdOptions) -> None:
        self._context = context
        self._rules = Mining(context, people, options)
        super().__init__(self._rules.run())
        self._asked: Asked | None = None
        self._parts: list[Answer] = []
        self._done, self._due = 0, 0.0

    def _begin(self, asked: Asked) -> int:
        self._asked, self._parts, self._done = asked, [], 0
        return -(-asked.size // BLOCK)

    def _answer(self) -> Answer | None:
        self._asked = None
        names = ("seeds", "values", "decisions")
        return {
            name: np.concatenate([each[name] for each in self._parts], axis=-1) for name in names
        }

    def told(self, progress: Progress) -> Progress:
        """Return a progress with how far the rows or the rule sets are."""
        rules, asked = self._rules, self._asked
        if asked is not None and not asked.drawn:
            return msgspec.structs.replace(progress, done=self._done, total=asked.size)
        if rules.pool:
            done, total = rules.known(), len(rules.frequent.chosen)
            return msgspec.structs.replace(progress, done=done, total=total)
        return progress

    def add(self, tallied: Tallied) -> bool:
        """Keep what the model said of some rows or samples."""
        arrays = tallied.arrays
        self._parts.append(arrays)
        self._done += len(arrays["seeds"])
        if self._asked is not None and self._asked.drawn:
            self._rules.note(arrays["decisions"], *arrays["aside"].tolist())
        return super().add(tallied)

    def measured(self) -> Measured | None:
        """Return what is known of the rule sets, once there are samples."""
        began = perf_counter()
        measured = self._rules.measured() if self._rules.begun else None
        now = perf_counter()
        self._due = now + max(_TELL_SECONDS, _TELL_SHARE * (now - began))
        return measured

    def due(self) -> bool:
        """Return whether figures are to be told: now and then, and once the budget is used up."""
        return self._rules.begun and (perf_counter() > self._due or self._context.rows_left <= 0)


__all__ = ["MOST_ROWS", "TestSgdOptions", "counting", "merging", "search"]
