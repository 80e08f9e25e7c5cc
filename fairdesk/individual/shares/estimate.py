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
from typing import Any

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
    Block,
    Subset,
    block_size,
    changes,
    extra_rows,
    names_of,
    of_data,
    of_domain,
    perturbed,
    subsets,
)
from fairdesk.individual.shares.comparisons import RowCounts, compared_counts
from fairdesk.individual.shares.options import EstimateOptions
from fairdesk.individual.shares.tally import Tally, directed
from fairdesk.results.events import Event, Measured, Progress, Rows, ShardRange, Tallied, timed
from fairdesk.results.individual import Whom

#: Samples: each yields its blocks from a number on.
Samples = dict[Whom, Callable[[int], Iterator[Block]]]
#: Those of an estimate, in turn; people first, for a slow model may have time for no other.
WHOM: tuple[Whom, ...] = ("data", "domain", "perturbed")

#: Of what is remembered of verdicts.
_MOST_BYTES = 32 << 20
#: After a search that found nobody, at most so many people are drawn, ...
BOUND_PEOPLE = 3_000
#: ... for at most so many seconds.
BOUND_SECONDS = 2.0
_BOUND_CONFIDENCE = 0.95


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
    rows = RowCounts(domain, sets, options.confidence)
    return Shares(
        WHOM,
        [names_of(domain, each) for each in sets],
        options.confidence,
        options.trials * options.people,
        trial=options.people,
        margin=options.margin,
        values=[domain.combinations[:, each[0]] for each in sets],
        rows=rows,
        block=block_size(domain),
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
    rows : RowCounts, optional
        What else is counted of the rows of the data.
    block : int
        How many people the blocks of the data have.
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
        rows: RowCounts | None = None,
        block: int = 0,
    ) -> None:
        self._rows, self._block = rows, block
        self._whom, self._names, self.confidence = whom, names, confidence
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
        return self._tallies[whom][0].drawn if whom in self._tallies else 0

    def add(self, tallied: Tallied) -> bool:
        """Count ``(n, sets)`` changes of people of a sample; the data have ``(1,)`` rows."""
        block, place = divmod(tallied.unit, len(self._whom))
        whom, rows = self._whom[place], int(tallied.arrays["rows"][0])
        if counts := whom in self._open:
            if whom not in self._tallies:
                self._begin(whom, rows)
            tallies, counts_of = self._tallies[whom], tallied.arrays.get("directed")
            for place, changed in enumerate(tallied.arrays["changes"].T):
                tallies[place].add(changed)
                if counts_of is not None:
                    tallies[place].directed += counts_of[place]
            if self._rows is not None and "compared" in tallied.arrays:
                self._rows.add(tallied.arrays)
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
                self.confidence,
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
            return (block + 1) * self._block >= rows
        return _narrow(self._tallies[whom], self._margin)

    def counted(
        self, compared: NDArray[np.int64], counts: NDArray[np.int64], rows: RowCounts
    ) -> None:
        """Take in all rows of the data: `compared_counts` and `directed` of each set, the rest."""
        self._rows = rows
        people = int(compared[0, 0])
        self._tallies["data"] = [
            Tally("data", names, self.confidence, people, total=people, values=values)
            for names, values in zip(self._names, self._values, strict=True)
        ]
        for tally, (_, some, hits, *_), each in zip(
            self._tallies["data"], compared.tolist(), counts, strict=True
        ):
            tally.people, tally.hits, tally.unsupported = some, hits, people - some
            tally.directed = each

    def measured(self) -> Measured | None:
        """Return all shares, that of all attributes together first."""
        known = [self._tallies[whom] for whom in self._whom if whom in self._tallies]
        in_order = zip(*known, strict=True)
        shares = tuple(each.share() for same in in_order for each in same if each.people)
        counted = () if self._rows is None else self._rows.figures()
        return Measured("random", (*shares, *counted)) if shares or counted else None


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
        size = block_size(self._context.domain)
        streams = {
            whom: self._blocks[whom](-(-(wanted.start - place) // len(samples)))
            for place, whom in enumerate(samples)
        }
        for unit in range(wanted.start, wanted.stop):
            block, place = divmod(unit, len(samples))
            if samples[place] in open_:
                rows, combination = next(streams[samples[place]], self._nobody)
                # all blocks before were full
                left = max(0, self._planned - block * size)
                block_left = rows[:left], combination[:left]
                yield from self._checked(samples[place], unit, block_left)

    def _checked(self, whom: Whom, unit: int, drawn: Block) -> Iterator[Event]:
        """Check a block, part by part; of nobody, too, it is told that it is over."""
        context, rows, combination = self._context, *drawn
        for part, last in self.pace.of_unit(len(rows)):
            counted: dict[str, NDArray[Any]] = {}
            if not len(rows):
                changed = np.zeros((0, self._judge.sets), dtype=np.int8)
            elif whom == "data":
                changed, counted = self._judge.of_data((rows[part], combination[part]))
            else:
                changed = self._judge((rows[part], combination[part]))
            if found := context.take("random"):
                yield found
            counted |= {"rows": np.array([self._rows]), "changes": changed}
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
    read, compared = 0, np.zeros((judge.sets, 5), dtype=np.int64)
    counted = RowCounts(context.domain, _sets(context.domain), shares.confidence)
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
                changed, of_block = judge.of_data((rows[part], combination[part]))
                compared += compared_counts(changed)
                counts += directed(changed, combination[part], members)
                counted.add(of_block)
            context.tried += len(rows[part])
            done = read + count * min(part.stop, len(rows)) // max(1, len(rows))
            yield context.progress("rows", done, context.n_rows)
        read += count
    if compared[0, 0]:
        shares.counted(compared, counts, counted)
    if measured := shares.measured():
        yield measured
    yield context.progress("rows", read, context.n_rows)


def _sample(
    context: SearchContext, people: Rows, options: EstimateOptions, rng: np.random.Generator
) -> _Sample:
    real, _ = context.domain.admit(people)
    near = real if context.fits is None else real[context.fits(real)]
    size = block_size(context.domain)
    moved = partial(perturbed, context, near, options.moved, options.steps, rng, size=size)
    blocks: Samples = {
        "data": partial(of_data, context, near, rng, size=size),
        "domain": partial(of_domain, context, real, rng, size=size),
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
        self._rows = RowCounts(context.domain, sets, _BOUND_CONFIDENCE)
        self._memory = Memory(_MOST_BYTES)

    def of_data(self, block: Block) -> tuple[NDArray[np.int8], dict[str, NDArray[np.int64]]]:
        """Return the ``(n, s)`` `changes` of rows of the data, and what `RowCounts` adds up."""
        context = self._context
        if self._books:
            context.check(*block)
        answers = context.ask(block[0])
        changed = changes(context, block, answers, self._sets)
        return changed, self._rows.of_block(context, block, answers, changed)

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
    blocks: Samples = {"domain": partial(of_domain, context, real, rng, size=block_size(domain))}
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
