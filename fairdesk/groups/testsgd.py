"""TestSGD: rules that describe groups, and how far their members are decided about otherwise.

Zhang et al., "TestSGD: Interpretable Testing of Neural Networks Against Subtle Group
Discrimination", ACM TOSEM 2023, Algorithms 1 and 2. What is ours: one pool of samples for all rule
sets (`fairdesk.groups.tabular.rule_sets`), the same shares among the untouched rows, and an
interval and p-values: of individuals like those in the data, however many samples are made of each
of them (`fairdesk.groups.statistics.Side.by_rows`), and corrected for how many rule sets were tried
and how often they were looked at. The paper's margin speaks of these rows alone.

`Mining` goes from the rules to the figures. It knows no model: what it asks for (`Asked`) is
answered by whoever drives its steps.
"""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from collections.abc import Generator, Iterator
from dataclasses import replace
from time import perf_counter
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.feasibility import no_starting_points
from fairdesk.errors import SpecError
from fairdesk.groups.context import GroupContext
from fairdesk.groups.options import TestSgdOptions
from fairdesk.groups.statistics import SCORES_NOTE, Side
from fairdesk.groups.tabular.results import MOST_TOLD, RuleResults
from fairdesk.groups.tabular.rule_sets import (
    INSIDE,
    MOST,
    MOST_AT_ONCE,
    OUTSIDE,
    Counts,
    Frequent,
    Outcomes,
    Tallies,
    gathered,
    grow,
)
from fairdesk.groups.tabular.rules import Counted, counted, needs_rates, rules_about
from fairdesk.groups.tabular.sampling import Neighbours, Steps, starting
from fairdesk.groups.text import search as text_rules
from fairdesk.individual.engine.division import Counting, Merging, Stepping, counted_here, stream
from fairdesk.individual.engine.pace import Pace
from fairdesk.models.model import labels
from fairdesk.results.events import Event, Measured, Metric, Progress, Rows, ShardRange, Tallied
from fairdesk.results.subgroups import RuleSearchSummary

#: At most so many of the data's rows are asked about untouched.
MOST_ROWS = 200_000
#: The first pool has at most so many times the samples that each side needs.
_POOL = 40
#: It is so much of the work, as far as progress tells.
_POOL_SHARE = 0.9
#: Of all outcomes together about so many rule sets are told of.
_TOLD_IN_ALL = 10_000


class Asked(NamedTuple):
    """What the model is to be asked about next: so many rows, or samples, in blocks of `BLOCK`.

    Attributes
    ----------
    size : int
        How many.
    drawn : bool
        Whether they are samples, and not the rows as they are.
    where : NDArray[np.bool_], optional
        ``(n,)``; the people of whom samples are made; by default all.
    """

    size: int
    drawn: bool
    where: NDArray[np.bool_] | None = None

    def stage(self, first: int) -> str:
        """Write it down, with the number of its first unit."""
        people = b"" if self.where is None else zlib.compress(np.packbits(self.where).tobytes())
        return f"{first} {self.size} {int(self.drawn)} {b64encode(people).decode()}"

    @classmethod
    def read(cls, stage: str, people: int) -> tuple[int, Asked]:
        """Read what `stage` wrote, of so many people."""
        first, count, drawn, where = stage.split(" ")
        bits = zlib.decompress(b64decode(where)) if where else None
        mask = None
        if bits is not None:
            mask = np.unpackbits(np.frombuffer(bits, np.uint8), count=people).view(np.bool_)
        return int(first), cls(int(count), drawn == "1", mask)


#: What came of it, by the names in `Tallied`.
Answer = dict[str, NDArray[np.int64]]
#: Steps that ask for something now and then.
Mined = Generator[Event | Asked, Answer, None]


class Mining:
    """One search, from the rules to the figures."""

    def __init__(self, context: GroupContext, people: Rows, options: TestSgdOptions) -> None:
        self.context, self.options = context, options
        self.began = perf_counter()
        self.outcomes = Outcomes(context, options.outcome)
        rows, fine = starting(context.domain, people)
        self.people, self.groups = rows[fine], context.groups[context.inside][fine]
        self.favourable_values = np.full(len(self.people), np.nan)
        self.notes: list[str] = []
        self.decided = np.zeros(len(context.decisions), dtype=np.int64)
        self.tried = self.done = self.pool = self.left = self.rejected = 0
        self.sampled = False

    def run(self) -> Mined:
        """Mine, from the rules to the last figures."""
        self._check()
        grouping = self.context.domain.grouping
        rated = any(
            needs_rates(each, self.options.subsets, self.options.coded) for each in grouping
        )
        if rated:
            yield from self._ask_rows()
        yield from self._grow()
        if not rated:
            yield from self._ask_rows()
        self.tallies, self.data = (
            Tallies(self.sampled_from, self.frequent.chosen, self.inside, self.outcomes.values)
            for _ in range(2)
        )
        self.data.add(self.place[self.queried], self.untouched)
        self.sampled = True
        yield from self._sample()
        yield self.measured(last=True)
        count = len(self.frequent.chosen)
        yield self._progress("samples", count, count)

    def _check(self) -> None:
        """Refuse data that tell of nobody."""
        grouping = self.context.domain.grouping
        if not len(self.people):
            raise no_starting_points(self.context.domain)
        if np.isnan(self.groups).all():
            names = ", ".join(f"“{each.name}”" for each in grouping)
            raise SpecError(
                f"No group is known: no row has a value of {names}.",
                why="Rules are about protected values, and all of them are missing.",
                remedy="Protect another column, or allow more of its values.",
            )

    def _ask_rows(self) -> Mined:
        """Ask for what the model decides about the data's rows as they are."""
        answer = yield Asked(min(len(self.people), MOST_ROWS), drawn=False)
        self.queried, self.untouched = answer["seeds"], answer["values"]
        self.favourable_values[self.queried] = answer["decisions"] == self.context.favourable

    def _grow(self) -> Mined:
        """Make the rules, and grow the rule sets that are frequent."""
        options, context = self.options, self.context
        grouping, edges = context.domain.grouping, context.edges
        blocks, groups = context.people_blocks, self.groups
        for told in counted(blocks, grouping, options, edges, groups, self.favourable_values):
            if isinstance(told, Counted):
                rows = told
            else:
                read, passes = told
                yield self._progress("support", read, passes * context.n_rows)
        rules = [
            rules_about(
                attribute,
                rows.codes[:, i],
                bins=options.bins,
                edges=edges.get(attribute.name, ()),
                subsets=options.subsets,
                coded=options.coded,
                favourable=rows.favourable,
                weights=rows.weights,
                bounds=rows.bounds[i],
            )
            for i, attribute in enumerate(grouping)
        ]
        self.notes += [note for each in rules for note in each.notes]
        if not any(len(each.sets) for each in rules):
            raise SpecError(
                "All individuals in the data have the same protected values, so there are no "
                "groups to compare.",
                why="A rule must separate some individuals from others.",
                remedy="Protect another column, or use data with more than one group.",
            )
        self.members, place = gathered(rules, rows.weights)
        self.place = place[rows.held :]
        sampled = np.bincount(self.place, minlength=len(self.members.weight))
        self.sampled_from = self.members.weighed(sampled)
        total = int(self.members.weight.sum())
        self.least = max(int(np.ceil(options.theta * total - 1e-9)), options.least_rows)
        for event in grow(self.members, self.least, options.together):
            if isinstance(event, Frequent):
                self.frequent = event
            else:
                yield self._progress("rules", event.kept, event.candidates)
        self._leave_enough(total)
        self._leave_sampled(sampled)
        if self.frequent.stopped:
            self.notes.append(
                f"There are more than {MOST:,} rules with {self.frequent.stopped} attributes "
                f"together: only those with fewer were tested, {len(self.frequent.chosen):,}. "
                "Increase the minimum support, or reduce the bins or the protected attributes."
            )

    def _leave_sampled(self, sampled: Counts) -> None:
        """Keep the rule sets of which rows are held inside and outside: others have no samples."""
        self.inside = self.sampled_from.totals(self.frequent.chosen, sampled[None])[0]
        kept = (self.inside > 0) & (self.inside < len(self.people))
        if dropped := int((~kept).sum()):
            self.notes.append(
                f"{dropped:,} of {len(kept):,} subgroups with the minimum support "
                f"{'was' if dropped == 1 else 'were'} not tested: the random sample of the rows "
                "has none inside, or none outside."
            )
            self.inside, found = self.inside[kept], self.frequent
            self.frequent = replace(found, chosen=found.chosen[kept], rows=found.rows[kept])

    def _leave_enough(self, total: int) -> None:
        """Keep the rule sets with enough rows outside, too.

        Raises
        ------
        SpecError
            When no rule set has enough rows inside and outside.
        """
        options, found, fewest = self.options, self.frequent, self.options.least_rows
        kept = total - found.rows >= fewest
        if not kept.any():
            most = found.most
            if most >= self.least or total < 2 * fewest:
                raise SpecError(
                    f"No subgroup has at least {self.least:,} rows with at least {fewest:,} "
                    "outside.",
                    why=f"{total:,} rows can be used; so few individuals show little about others.",
                    remedy="Use a table with more rows, or reduce the minimum rows (least_rows).",
                )
            raise SpecError(
                f"No subgroup has at least {100 * options.theta:g} % of the rows and at "
                f"least {fewest:,} rows.",
                why=f"The largest subgroup defined by a rule has {most:,} of {total:,} rows, "
                f"{100 * most / total:.3g} %.",
                remedy="Reduce the minimum support, or use wider bins.",
            )
        if self.least > np.ceil(options.theta * total - 1e-9):
            self.notes.append(
                f"{100 * options.theta:g} % of the rows are fewer than {fewest:,}: only subgroups "
                f"of at least {fewest:,} rows were tested."
            )
        if dropped := int((~kept).sum()):
            self.notes.append(
                f"{dropped:,} of {len(kept):,} subgroups with the minimum support "
                f"{'leaves' if dropped == 1 else 'leave'} fewer than {fewest:,} rows outside, and "
                f"{'was' if dropped == 1 else 'were'} not tested: too few for a comparison."
            )
            self.frequent = replace(found, chosen=found.chosen[kept], rows=found.rows[kept])

    def _sample(self) -> Mined:
        """Draw samples until every score is known as well as was asked for.

        Whether to go on with a rule set hangs on what was counted, so each look at it has a part
        of its error only: the k-th one a share of 2^-k, all of it where it was certain beforehand
        that the first look would be the last. How many samples there are at a look does not hang
        on what they told: it is twice as many as before on the side with fewer.
        """
        tallies, options = self.tallies, self.options
        count = len(self.frequent.chosen)
        self.looks, self.certain = np.ones(count, dtype=np.intp), np.zeros(count, dtype=np.bool_)
        yield from self._pool()
        wanted = np.full(tallies.n.shape, options.sample_thr)
        yield from self._fill(wanted)
        self.certain = tallies.widest(options.z) <= options.error_thr
        while (going := np.flatnonzero(self._margins() > options.error_thr)).size:
            self.looks[going] += 1
            fewer = np.where(tallies.n[INSIDE, going] <= tallies.n[OUTSIDE, going], INSIDE, OUTSIDE)
            wanted[fewer, going] = 2 * tallies.n[fewer, going]
            yield from self._fill(wanted)

    def _pool(self) -> Mined:
        """Draw from everybody, so many that the smallest group has what it needs."""
        thr = self.options.sample_thr
        smallest = int(self.tallies.people[INSIDE].min()) / len(self.people)
        self.pool = int(min((thr + 3 * np.sqrt(thr)) / smallest, _POOL * thr)) + 1
        done = 0
        while done < self.pool:
            count = min(self.pool - done, MOST_AT_ONCE)
            place, values = yield from self._draw(None, count)
            self.tallies.add(place, values)
            done += len(place)

    def _fill(self, wanted: Counts) -> Mined:
        """Draw until each side of each rule set has as many samples as wanted: ``(2, R)``."""
        tallies = self.tallies
        while (draw := tallies.next(wanted)) is not None:
            which = np.flatnonzero((tallies.n < wanted).any(axis=0))
            self.done = max(self.done, len(self.frequent.chosen) - len(which))
            place, values = yield from self._draw(draw.where, draw.count)
            tallies.add(place, values, draw.where, which)

    def _draw(
        self, where: NDArray[np.bool_] | None, count: int
    ) -> Generator[Event | Asked, Answer, tuple[NDArray[np.intp], Counts]]:
        """Ask for people like those of some combinations, and what the model decides about them.

        Returns
        -------
        place : NDArray[np.intp]
            ``(count,)``; the combination of each.
        values : Counts
            ``(values, count)``.
        """
        people = None if where is None else where[self.place]
        answer = yield Asked(count, drawn=True, where=people)
        return self.place[answer["seeds"]], answer["values"]

    def note(self, decisions: NDArray[np.int64], left: int, rejected: int) -> None:
        """Count samples by their decisions, those left as they are, and those rejected."""
        self.decided += np.bincount(decisions, minlength=len(self.decided))
        self.tried += len(decisions)
        self.left += left
        self.rejected += rejected

    @property
    def begun(self) -> bool:
        """Whether there are samples in the figures."""
        return self.sampled and bool(self.tallies.n.any())

    def known(self) -> int:
        """Return how many rule sets have their samples: about, while all wait for the pool."""
        waiting = _POOL_SHARE * min(self.tried / self.pool, 1.0)
        self.done = max(self.done, int(waiting * len(self.frequent.chosen)))
        return self.done

    def _margins(self) -> NDArray[np.float64]:
        """Return each rule set's widest margin of all outcomes: ``(R,)``."""
        sides = (self._sides(self.tallies, value) for value in range(len(self.outcomes.names)))
        z = self.options.z
        return np.asarray(
            np.max([inside.half(z) + outside.half(z) for inside, outside in sides], axis=0)
        )

    def _sides(self, tallies: Tallies, value: int) -> tuple[Side, Side]:
        return tallies.sides(value, self.outcomes.squares)

    def measured(self, *, last: bool = False) -> Measured:
        """Return what is known of every rule set of which there are samples on either side."""
        figures: list[Metric] = []
        known = np.flatnonzero((self.tallies.n > 0).all(axis=0))
        notes = (*self._surprises(), *self.notes)
        most = min(MOST_TOLD, max(20, _TOLD_IN_ALL // len(self.outcomes.names)))
        for value, name in enumerate(self.outcomes.names):
            results = self._results(value, name, known)
            figures.append(
                RuleSearchSummary(
                    outcome=name,
                    attributes=tuple(each.name for each in self.context.domain.grouping),
                    theta=self.options.theta,
                    rule_sets=len(self.frequent.chosen),
                    candidates=self.frequent.candidates,
                    samples=self.tried,
                    margin=float(results.margin.max(initial=0.0)),
                    seconds=perf_counter() - self.began,
                    sweep=results.sweep(self.options.theta),
                    notes=notes,
                )
            )
            figures += results.rule_sets(np.random.default_rng(0), most, last=last)
        return Measured("samples", tuple(figures))

    def _results(self, value: int, name: str, known: NDArray[np.intp]) -> RuleResults:
        inside, outside = (side.of(known) for side in self._sides(self.tallies, value))
        data_in, data_out = (side.of(known) for side in self._sides(self.data, value))
        return RuleResults(
            members=self.members,
            chosen=self.frequent.chosen[known],
            rows=self.frequent.rows[known],
            people=self.tallies.people[:, known],
            outcome=name,
            inside=inside,
            outside=outside,
            data_in=data_in,
            data_out=data_out,
            tests=len(self.frequent.chosen) * len(self.outcomes.names),
            spent=self._spent()[known],
            least=self.least,
            z=self.options.z,
        )

    def _spent(self) -> NDArray[np.float64]:
        """Return which share of its error each rule set's tests may make at this look: ``(R,)``."""
        looks = np.where(self.certain, 1.0, 0.5**self.looks)
        return np.asarray(looks / self.members.ways(self.frequent.chosen))

    def _surprises(self) -> Iterator[str]:
        """Yield notes on unexpected answers, and on how samples were drawn."""
        context, seen = self.context, np.flatnonzero(self.decided)
        if len(seen) == 1:
            yield (
                f"The model decided “{context.decisions[seen[0]]}” for every instance tested, so "
                "no subgroup differs from another."
            )
        if self.outcomes.squares is not None:
            yield SCORES_NOTE
        total = int(self.members.weight.sum())
        if few := int((total - self.frequent.rows < self.least).sum()):
            yield (
                f"{few:,} of the {len(self.frequent.chosen):,} subgroups "
                f"{'leaves' if few == 1 else 'leave'} fewer than {100 * self.options.theta:g} % of "
                f"the rows outside, and {'is' if few == 1 else 'are'} ranked last."
            )
        if not context.domain.varying.size:
            yield ("Only protected attributes are variable, so the samples are original data rows.")
        if self.left:
            yield (
                f"{self.left:,} samples are original data rows: every perturbation "
                "tried violated a constraint."
            )

    def _progress(self, phase: str, done: int, total: int) -> Progress:
        queries, rejected = self.context.queries, self.rejected
        return Progress(phase, done, total, self.tried, 0, queries, rejected=rejected)


#: Rows, or samples, in a block; each block of samples has random numbers of its own.
BLOCK = 8_192
_SAMPLES, _QUERIED = range(2)


def search(
    context: GroupContext, people: Rows, options: TestSgdOptions, rng: np.random.Generator
) -> Iterator[Event]:
    """Find the rule sets whose members fare most unlike others.

    Of tables: rules about each attribute (`fairdesk.groups.tabular.rules`), the frequent rule sets
    (`rule_sets`; the rows that lie in the domain count), the model's answers for these rows as they
    are, and samples made from them (`sampling`), one pool for all rule sets, until each margin is
    small enough. Of texts: `fairdesk.groups.text.search`.

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
        count, most, own = len(self._people), MOST_ROWS, stream(rng, _QUERIED, 0)
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
        self._rules = Mining(context, people, options)
        super().__init__(self._rules.run(), context)
        self._asked: Asked | None = None
        self._parts: list[Answer] = []
        self._done = 0

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

    def _figures(self) -> Measured | None:
        return self._rules.measured() if self._rules.begun else None
