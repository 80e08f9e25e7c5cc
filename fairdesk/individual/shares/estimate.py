"""How common individual discrimination is: an estimate by the law of large numbers.

Udeshi, Arora and Chattopadhyay, "Automated Directed Fairness Testing", ASE 2018 (Aequitas): K
trials of m people drawn at random. Beside the paper's mean stands what the counts really support:
an exact interval for a sample of a size that was fixed beforehand, and one that holds at every
moment, so that the auditor may stop when they like.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from time import perf_counter
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.domain import Domain
from fairdesk.errors import SpecError
from fairdesk.individual.engine.cached_model import Memory
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.engine.division import Adding, Counting, Setting, counted_here
from fairdesk.individual.engine.pace import Pace
from fairdesk.individual.engine.sampling import (
    BLOCK,
    GAIN,
    LOSS,
    UNCHANGED,
    Block,
    Subset,
    changes,
    extra_rows,
    names_of,
    of_data,
    of_domain,
    perturbed,
    subsets,
)
from fairdesk.individual.shares.intervals import anytime, clopper_pearson
from fairdesk.individual.shares.options import EstimateOptions
from fairdesk.results.events import Event, Measured, Progress, Rows, timed
from fairdesk.results.individual import Share
from fairdesk.results.shards import ShardRange, Tallied

Whom = Literal["domain", "data", "perturbed"]
#: Samples: each yields its blocks from a number on.
Samples = dict[Whom, Callable[[int], Iterator[Block]]]
#: Those of an estimate, in turn; people first, for a slow model may have time for no other.
WHOM: tuple[Whom, ...] = ("data", "domain", "perturbed")

#: Of what is remembered of verdicts.
_MOST_BYTES = 32 << 20
#: Points of the course that are kept.
_POINTS = 100
#: After a search that found nobody, at most so many people are drawn, ...
BOUND_PEOPLE = 3_000
#: ... for at most so many seconds.
BOUND_SECONDS = 2.0
_BOUND_CONFIDENCE = 0.95


class Tally:
    """The count behind one share.

    Parameters
    ----------
    whom, attributes, confidence
        As in `Share`.
    planned : int
        People that are to be checked at most.
    trial : int
        People in a trial; 0 for none.
    total : int, optional
        Of how many people they are drawn without replacement.
    adaptive : bool
        Whether what was counted decides how many are checked; then the exact interval for a
        fixed number does not hold, and the anytime interval takes its place.
    values : NDArray[np.float64], optional
        ``(C,)``; the attribute's code in each combination of protected values, where gains and
        losses are counted.
    """

    def __init__(
        self,
        whom: Whom,
        attributes: tuple[str, ...],
        confidence: float,
        planned: int,
        *,
        trial: int = 0,
        total: int | None = None,
        adaptive: bool = False,
        values: NDArray[np.float64] | None = None,
    ) -> None:
        self.people = self.hits = 0
        self._values = values
        #: Gains by combination, then losses: ``(2 C,)``.
        self.directed = np.zeros(0 if values is None else 2 * len(values), dtype=np.int64)
        self.confidence, self.total = confidence, total
        self._whom, self._attributes, self._adaptive = whom, attributes, adaptive
        self._trial = trial
        planned = min(planned, total or planned)
        self._trial_hits = np.zeros(-(-planned // trial) if trial else 0, dtype=np.int64)
        self._every = max(1, planned // _POINTS)
        self._due: list[tuple[int, int]] = []
        self._course: list[tuple[float, float, float, float]] = []

    def add(self, hits_drawn: NDArray[np.bool_]) -> None:
        """Count ``(n,)`` verdicts."""
        if self._trial:
            trials = (self.people + np.flatnonzero(hits_drawn)) // self._trial
            self._trial_hits += np.bincount(trials, minlength=len(self._trial_hits))
        hits = self.hits + np.cumsum(hits_drawn)
        for point in range(
            self._every - self.people % self._every, len(hits_drawn) + 1, self._every
        ):
            self._due.append((self.people + point, int(hits[point - 1])))
        self.people += len(hits_drawn)
        self.hits += int(hits_drawn.sum())

    def _by_value(self) -> Iterator[tuple[float, int, int]]:
        """Yield each own value whose decision changes for some, with gains and losses."""
        if self._values is None or len(self._attributes) > 1:
            return
        for code in np.unique(self._values).tolist():
            own = self.directed.reshape(2, -1)[:, self._values == code]
            gains, losses = own.sum(axis=1).tolist()
            if gains or losses:
                yield code, gains, losses

    def ends(self) -> tuple[float, float]:
        """Return the anytime interval."""
        low, high = anytime(self.hits, self.people, self.confidence, self.total)
        return float(low), float(high)

    def share(self) -> Share:
        """Return the share so far; of at least one person."""
        points = np.array([*self._due, (self.people, self.hits)])
        people, hits = points.T
        low, high = anytime(hits, people, self.confidence, self.total)
        looks = np.column_stack([people, hits / people, low, high]).tolist()
        points_told = [(float(a), float(b), float(c), float(d)) for a, b, c, d in looks]
        self._course += points_told[:-1]
        self._due.clear()
        now = points_told[-1]
        ended = self._course and self._course[-1] == now
        course = self._course if ended else [*self._course, now]
        exhaustive = self.people == self.total
        fixed = now[2:]
        if not self._adaptive and not exhaustive:
            ends = clopper_pearson(self.hits, self.people, self.confidence)
            fixed = float(ends[0]), float(ends[1])
        whole = self.people // self._trial if self._trial else 0
        gains, losses = self.directed.reshape(2, -1).sum(axis=1).tolist()
        return Share(
            whom=self._whom,
            attributes=self._attributes,
            n_samples=self.people,
            hits=self.hits,
            exhaustive=exhaustive,
            confidence=self.confidence,
            estimate=now[1],
            low=fixed[0],
            high=fixed[1],
            anytime_low=now[2],
            anytime_high=now[3],
            trials=tuple((self._trial_hits[:whole] / max(1, self._trial)).tolist()),
            course=tuple(course),
            gains=None if self._values is None else gains,
            losses=None if self._values is None else losses,
            by_value=tuple(self._by_value()),
        )


def directed(changed: NDArray[np.int8], own: NDArray[np.intp], members: int) -> NDArray[np.int64]:
    """Count ``(n, s)`` changes: ``(s, 2 * members)`` gains, then losses, by own combination."""
    return np.array(
        [
            np.bincount(
                np.concatenate([own[one == GAIN], members + own[one == LOSS]]),
                minlength=2 * members,
            )
            for one in changed.T
        ]
    )


def search(
    context: SearchContext, people: Rows, options: EstimateOptions, rng: np.random.Generator
) -> Iterator[Event]:
    """Estimate how common discrimination is, in three ways; parameters as in `maft.search`.

    Over the data's own rows, each once, in a random order, so that the share is exact once all were
    asked about; over the domain, where everybody has the same chance (fixed attributes have the
    combinations of values that occur in the data); and over real rows with a few attributes moved.
    The three advance together: whenever the run is stopped, all of them hold. With several
    protected attributes there are figures for all together and for each alone.

    With a margin, what is drawn at random ends once its anytime intervals are as narrow.

    Of a table that is larger than memory ``people`` are a random sample. Once the shares are
    estimated, all rows are tested, block by block in the order of the files, and the exact share of
    the data takes the place of the estimated one when the last is done.

    Every draw counts, met before or not; `Found` has everybody once.

    Raises
    ------
    SpecError
        When nearly nobody may be asked about.
    """
    sample = _sample(context, people, options, rng)
    shares = merging(context, options, rng)
    drawn = counted_here(shares, sample.count, sample.pace)
    if context.all_rows is None:
        return timed(drawn)
    shares.sampled = True
    return timed(chain(drawn, _all_rows(context, shares, sample.pace)))


def counting(
    context: SearchContext, people: Rows, options: EstimateOptions, rng: np.random.Generator
) -> Counting:
    """Return the half of the estimate that queries the model; parameters as of `search`."""
    return _sample(context, people, options, rng).count


def merging(setting: Setting, options: EstimateOptions, _rng: np.random.Generator) -> Shares:
    """Return the half of the estimate that adds up."""
    domain, sets = setting.domain, _sets(setting.domain)
    return Shares(
        WHOM,
        [names_of(domain, each) for each in sets],
        options.confidence,
        options.trials * options.people,
        trial=options.people,
        margin=options.margin,
        values=[domain.combinations[:, each[0]] for each in sets],
    )


def _sets(domain: Domain) -> list[Subset]:
    """List all protected attributes together, and each alone where there are several."""
    single = subsets(domain, 1)
    return [tuple(range(len(domain.protected))), *(single if len(single) > 1 else ())]


class Shares(Adding):
    """The shares of several samples, which advance together: a `Merging`.

    A unit is a block of one of the ``s`` samples: unit ``u`` is block ``u // s`` of sample
    ``u % s``.

    Parameters
    ----------
    planned : int
        People of each sample at most.
    trial : int
        People in a trial; 0 for none.
    margin : float
        What is drawn at random ends where no anytime interval is wider than twice this; 0: never.
    values : sequence of NDArray[np.float64], optional
        Of each set the `Tally`'s, for the rows of the data.
    """

    def __init__(
        self,
        whom: tuple[Whom, ...],
        names: Sequence[tuple[str, ...]],
        confidence: float,
        planned: int,
        *,
        trial: int = 0,
        margin: float = 0.0,
        values: Sequence[NDArray[np.float64]] | None = None,
    ) -> None:
        self._whom, self._names, self._confidence = whom, names, confidence
        self._values: Sequence[NDArray[np.float64] | None] = values or [None] * len(names)
        self._planned, self._trial, self._margin = planned, trial, margin
        #: Whether the data's rows are a sample of them.
        self.sampled = False
        self._tallies: dict[Whom, list[Tally]] = {}
        self._most = dict.fromkeys(whom, planned)
        self._open, self._next = list(whom), 0

    @property
    def wanted(self) -> ShardRange | None:
        """The blocks of the samples that are not complete."""
        return ShardRange(self._next, sys.maxsize, ",".join(self._open)) if self._open else None

    @property
    def checked(self) -> int:
        """People checked so far."""
        return sum(map(self._people, self._whom))

    def told(self, progress: Progress) -> Progress:
        """Return a progress with how many people are checked, of those that are to be."""
        total = sum(self._most.values())
        return msgspec.structs.replace(progress, done=self.checked, total=total)

    def _left(self, whom: Whom) -> int:
        return self._most[whom] - self._people(whom)

    def _people(self, whom: Whom) -> int:
        return self._tallies[whom][0].people if whom in self._tallies else 0

    def add(self, tallied: Tallied) -> bool:
        """Count ``(n, sets)`` changes of people of a sample; the data have ``(1,)`` rows."""
        block, place = divmod(tallied.unit, len(self._whom))
        whom, rows = self._whom[place], int(tallied.arrays["rows"][0])
        if counts := whom in self._open:
            if whom not in self._tallies:
                self._begin(whom, rows)
            tallies, counts_of = self._tallies[whom], tallied.arrays.get("directed")
            for place, changed in enumerate(tallied.arrays["changes"].T):
                tallies[place].add(changed != UNCHANGED)
                if counts_of is not None:
                    tallies[place].directed += counts_of[place]
        if tallied.last:
            self._next = tallied.unit + 1
            if counts and self._complete(whom, block, rows):
                self._most[whom] = self._people(whom)
                self._open.remove(whom)
        return counts

    def _begin(self, whom: Whom, rows: int) -> None:
        total = rows if whom == "data" and not self.sampled else None
        if whom != "domain":
            self._most[whom] = (
                min(self._planned, rows) if whom == "data" or not rows else self._planned
            )
        self._tallies[whom] = [
            Tally(
                whom,
                names,
                self._confidence,
                self._planned,
                trial=self._trial,
                total=total,
                adaptive=bool(self._margin) and total is None,
                values=values if whom == "data" else None,
            )
            for names, values in zip(self._names, self._values, strict=True)
        ]

    def _complete(self, whom: Whom, block: int, rows: int) -> bool:
        """Return whether a sample ends with this block; what is narrow enough ends early."""
        if not self._left(whom):
            return True
        if whom == "data":
            return (block + 1) * BLOCK >= rows
        return _narrow(self._tallies[whom], self._margin)

    def counted(self, people: int, hits: Sequence[int], counts: NDArray[np.int64]) -> None:
        """Take in how many individuals the data have, and hits and `directed` of each set."""
        self._tallies["data"] = [
            Tally("data", names, self._confidence, people, total=people, values=values)
            for names, values in zip(self._names, self._values, strict=True)
        ]
        for tally, count, each in zip(self._tallies["data"], hits, counts, strict=True):
            tally.people, tally.hits, tally.directed = people, count, each

    def measured(self) -> Measured | None:
        """Return all shares, that of all attributes together first."""
        known = [self._tallies[whom] for whom in self._whom if whom in self._tallies]
        in_order = zip(*known, strict=True)
        shares = tuple(each.share() for same in in_order for each in same if each.people)
        return Measured("random", shares) if shares else None


def _narrow(tallies: list[Tally], margin: float) -> bool:
    """Return whether all anytime intervals are narrow enough; without a margin none ever is."""
    if not margin or not tallies[0].people:
        return False
    return all(high - low <= 2 * margin for low, high in (each.ends() for each in tallies))


class _Sample:
    """Checks people of several samples: the half of an estimate that queries the model.

    Parameters
    ----------
    context : SearchContext
        As of `search`.
    planned : int
        People of each sample at most.
    rows : int
        Rows of the data that may be checked.
    """

    def __init__(
        self,
        context: SearchContext,
        sets: Sequence[Subset],
        planned: int,
        blocks: Samples,
        rows: int,
    ) -> None:
        members = len(context.domain.combinations)
        self.pace = Pace(members, context=context, extra=extra_rows(len(sets)))
        self._context, self._planned, self._blocks, self._rows = context, planned, blocks, rows
        self._judge = _Judge(context, sets)
        self._nobody = context.domain.snap(np.empty((0, len(context.domain.attributes))))

    def count(self, wanted: ShardRange) -> Iterator[Event]:
        """Check blocks of the samples in turn."""
        samples, open_ = list(self._blocks), wanted.stage.split(",")
        streams = {
            whom: self._blocks[whom](-(-(wanted.start - place) // len(samples)))
            for place, whom in enumerate(samples)
        }
        for unit in range(wanted.start, wanted.stop):
            block, place = divmod(unit, len(samples))
            if samples[place] in open_:
                rows, combination = next(streams[samples[place]], self._nobody)
                # all blocks before were full
                left = max(0, self._planned - block * BLOCK)
                block_left = rows[:left], combination[:left]
                yield from self._checked(samples[place], unit, block_left)

    def _checked(self, whom: Whom, unit: int, drawn: Block) -> Iterator[Event]:
        """Check a block, part by part; of nobody, too, it is told that it is over."""
        context, rows, combination = self._context, *drawn
        for part, last in self.pace.of_unit(len(rows)):
            if len(rows):
                changed = self._judge((rows[part], combination[part]))
            else:
                changed = np.zeros((0, self._judge.sets), dtype=np.int8)
            if found := context.take("random"):
                yield found
            counted = {"rows": np.array([self._rows]), "changes": changed}
            if whom == "data":
                members = len(context.domain.combinations)
                counted["directed"] = directed(changed, combination[part], members)
            yield Tallied("random", unit, last, counted)
            yield context.progress("random", 0, 0)


def _all_rows(context: SearchContext, shares: Shares, pace: Pace) -> Iterator[Event]:
    """Test all rows of a table that is larger than memory, and give their exact share.

    Nobody is booked: memory hangs on no number of rows.
    """
    if context.all_rows is None:
        return
    judge = _Judge(context, _sets(context.domain), books=False)
    members = len(context.domain.combinations)
    people, read, hits = 0, 0, np.zeros(judge.sets, dtype=np.int64)
    counts = np.zeros((judge.sets, 2 * members), dtype=np.int64)
    yield context.progress("rows", 0, context.n_rows)
    for count, block in context.all_rows():
        rows, combination = context.domain.admit(block)
        if context.fits is not None and len(rows):
            fine = context.fits(rows)
            context.rejected += int((~fine).sum())
            rows, combination = rows[fine], combination[fine]
        for part, _ in pace.of_unit(len(rows)):
            if len(rows):
                changed = judge((rows[part], combination[part]))
                hits += (changed != UNCHANGED).sum(axis=0)
                counts += directed(changed, combination[part], members)
            context.tried += len(rows[part])
            done = read + count * min(part.stop, len(rows)) // max(1, len(rows))
            yield context.progress("rows", done, context.n_rows)
        people, read = people + len(rows), read + count
    if people:
        shares.counted(people, hits.tolist(), counts)
    if measured := shares.measured():
        yield measured
    yield context.progress("rows", read, context.n_rows)


def _sample(
    context: SearchContext, people: Rows, options: EstimateOptions, rng: np.random.Generator
) -> _Sample:
    real, _ = context.domain.admit(people)
    near = real if context.fits is None else real[context.fits(real)]
    moved = partial(perturbed, context, near, options.moved, options.steps, rng)
    blocks: Samples = {
        "data": partial(of_data, context, near, rng),
        "domain": partial(of_domain, context, real, rng),
        "perturbed": moved if len(near) else lambda _: iter(()),
    }
    planned = options.trials * options.people
    return _Sample(context, _sets(context.domain), planned, blocks, len(near))


class _Judge:
    """Decides of people for which sets of protected attributes their decision changes, and how.

    Who is met again has the verdict that they had, and costs nothing.

    Parameters
    ----------
    context : SearchContext
        As of `search`.

    Attributes
    ----------
    sets : int
        How many sets there are.
    """

    def __init__(
        self, context: SearchContext, sets: Sequence[Subset], *, books: bool = True
    ) -> None:
        self._context, self._sets, self.sets = context, sets, len(sets)
        self._books = books
        self._memory = Memory(_MOST_BYTES)

    def __call__(self, block: Block) -> NDArray[np.int8]:
        """``(n, s)`` `changes`."""
        context = self._context

        def judged(which: NDArray[np.int64]) -> NDArray[np.float32]:
            rows, combination = block[0][which], block[1][which]
            if self._books:
                context.check(rows, combination)
            changed = changes(context, (rows, combination), context.ask(rows), self._sets)
            return changed.astype(np.float32)

        keys = context.cached_model.keys(block[0])
        return self._memory.answers(keys, judged).astype(np.int8)


def upper_bound(context: SearchContext, people: Rows, rng: np.random.Generator) -> Iterator[Event]:
    """Yield an upper bound of the share that a search without findings may have missed.

    A small estimate over the domain, of at most `BOUND_PEOPLE` people, so that "none found" comes
    with "at most so many in a hundred". It takes about `BOUND_SECONDS`, or where the run has a
    budget of rows, no more than that.

    Parameters
    ----------
    people : Rows
        ``(n, d)``; the data's rows in the domain's codes.

    Yields
    ------
    Event
        As `search`. No `Measured` where nearly nobody of the domain may be asked about.
    """
    domain = context.domain
    real, _ = domain.admit(people)
    sets = [tuple(range(len(domain.protected)))]
    names = [names_of(domain, subset) for subset in sets]
    shares = Shares(("domain",), names, _BOUND_CONFIDENCE, BOUND_PEOPLE)
    blocks: Samples = {"domain": partial(of_domain, context, real, rng)}
    sample = _Sample(context, sets, BOUND_PEOPLE, blocks, len(real))
    events = counted_here(shares, sample.count, sample.pace)
    began, budgeted = perf_counter(), np.isfinite(context.most_queries)
    try:
        for event in events:
            yield event
            if isinstance(event, Measured):
                continue
            over = context.rows_left <= 0 if budgeted else perf_counter() - began > BOUND_SECONDS
            if over and shares.checked:
                break
    except SpecError:
        pass  # nearly nobody may be asked about: what the search tried is all there is to tell
    if measured := shares.measured():
        yield measured
        yield context.progress("random", shares.checked, shares.checked)
