"""How common individual discrimination is: an estimate by the law of large numbers.

Udeshi, Arora and Chattopadhyay, "Automated Directed Fairness Testing", ASE 2018 (Aequitas): K
trials of m people drawn at random. Beside the paper's mean stands what the counts really support:
an exact interval for a sample of a size that was fixed beforehand, and one that holds at every
moment, so that the auditor may stop when they like.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import SpecError
from fairdesk.individual.engine.cached_model import Memory
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.engine.sampling import (
    Block,
    Pace,
    Subset,
    extra_rows,
    names_of,
    of_data,
    of_domain,
    perturbed,
    subsets,
    verdicts,
)
from fairdesk.individual.shares.intervals import anytime, clopper_pearson
from fairdesk.individual.shares.options import EstimateOptions
from fairdesk.results.events import Event, Measured, Rows, timed
from fairdesk.results.individual import Share

Whom = Literal["domain", "data", "perturbed"]

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
    ) -> None:
        self.people = self.hits = 0
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
        )


def search(
    context: SearchContext, people: Rows, options: EstimateOptions, rng: np.random.Generator
) -> Iterator[Event]:
    """Estimate how common discrimination is, in three ways; parameters as in `maft.search`.

    Over the domain, where everybody has the same chance (fixed attributes have the combinations of
    values that occur in the data); over the data's own rows, each once, in a random order, so that
    the share is exact once all were asked about; and over real rows with a few attributes moved.
    The three advance together: whenever the run is stopped, all of them hold. With several
    protected attributes there are figures for all together and for each alone.

    With a margin, what is drawn at random ends once its anytime intervals are as narrow.

    Every draw counts, met before or not; `Found` has everybody once.

    Raises
    ------
    SpecError
        When nearly nobody may be asked about.
    """
    return timed(_estimate(context, people, options, rng))


def _estimate(
    context: SearchContext, people: Rows, options: EstimateOptions, rng: np.random.Generator
) -> Iterator[Event]:
    domain, confidence, trial = context.domain, options.confidence, options.people
    planned = options.trials * trial
    real, _ = domain.admit(people)
    near = real if context.fits is None else real[context.fits(real)]
    single = subsets(domain, 1)
    sets = [tuple(range(len(domain.protected))), *(single if len(single) > 1 else ())]
    streams: dict[Whom, Iterator[Block]] = {"domain": of_domain(context, real, rng)}
    totals: dict[Whom, int | None] = {"domain": None, "perturbed": None}
    if len(near):
        streams["data"] = of_data(context, near, rng)
        totals["data"] = len(near)
        streams["perturbed"] = perturbed(context, near, options.moved, options.steps, rng)
    tallies = {
        whom: [
            Tally(
                whom,
                names_of(domain, subset),
                confidence,
                planned,
                trial=trial,
                total=totals[whom],
                adaptive=bool(options.margin) and totals[whom] is None,
            )
            for subset in sets
        ]
        for whom in streams
    }
    yield from _sample(context, streams, tallies, sets, planned, options.margin)


def _sample(
    context: SearchContext,
    streams: dict[Whom, Iterator[Block]],
    tallies: dict[Whom, list[Tally]],
    sets: list[Subset],
    planned: int,
    margin: float = 0.0,
) -> Iterator[Event]:
    """Check so many people of each stream, block by block in turn.

    What is drawn at random ends before where no anytime interval is wider than twice a margin.
    """
    pace = Pace(len(context.domain.combinations), context=context, extra=extra_rows(len(sets)))
    judge = _Judge(context, sets)
    wanted = dict.fromkeys(streams, planned)
    for whom in streams:
        wanted[whom] = min(planned, tallies[whom][0].total or planned)
    total, done = sum(wanted.values()), 0
    while streams:
        for whom in tuple(streams):
            block = next(streams[whom], None)
            people = tallies[whom][0].people
            if tallies[whom][0].total is None and _narrow(tallies[whom], margin):
                wanted[whom] = people
                total = sum(wanted.values())
            left = wanted[whom] - people
            if block is None or not left:
                del streams[whom]
                continue
            rows, combination = block[0][:left], block[1][:left]
            for part in pace.parts(len(rows)):
                verdict = judge((rows[part], combination[part]))
                for place, tally in enumerate(tallies[whom]):
                    tally.add(verdict[:, place])
                done += len(verdict)
                if found := context.take("random"):
                    yield found
                if pace.due():
                    yield _measured(tallies)
                yield context.progress("random", done, total)
            yield context.progress("random", done, total)
    yield _measured(tallies)
    yield context.progress("random", done, total)


def _narrow(tallies: list[Tally], margin: float) -> bool:
    """Return whether all anytime intervals are narrow enough; without a margin none ever is."""
    if not margin or not tallies[0].people:
        return False
    return all(high - low <= 2 * margin for low, high in (each.ends() for each in tallies))


class _Judge:
    """Decides of people for which sets of protected attributes they are discriminatory.

    Who is met again has the verdict that they had, and costs nothing.
    """

    def __init__(self, context: SearchContext, sets: list[Subset]) -> None:
        self._context, self._sets = context, sets
        self._memory = Memory(_MOST_BYTES)

    def __call__(self, block: Block) -> NDArray[np.bool_]:
        """``(n, s)`` verdicts; books findings."""
        context = self._context

        def judged(which: NDArray[np.int64]) -> NDArray[np.float32]:
            rows, combination = block[0][which], block[1][which]
            context.check(rows, combination)
            hits = verdicts(context, (rows, combination), context.ask(rows), self._sets)
            return hits.astype(np.float32)

        return np.asarray(self._memory.answers(context.cached_model.keys(block[0]), judged) > 0)


def _measured(tallies: dict[Whom, list[Tally]]) -> Measured:
    """Return all shares, that of all attributes together first."""
    in_order = zip(*tallies.values(), strict=True)
    return Measured(
        "random", tuple(tally.share() for same in in_order for tally in same if tally.people)
    )


def upper_bound(context: SearchContext, people: Rows, rng: np.random.Generator) -> Iterator[Event]:
    """Yield an upper bound of the share that a search without findings may have missed.

    A small estimate over the domain, of at most `BOUND_PEOPLE` people, so that "none found" comes
    with "at most so many in a hundred". It takes about `BOUND_SECONDS`, or where the run has a
    budget of rows, no more than that.

    Parameters
    ----------
    context : SearchContext
        That of the search, which has ended.
    people : Rows
        ``(n, d)``; the data's rows in the domain's codes.
    rng : np.random.Generator
        All randomness.

    Yields
    ------
    Event
        As `search`. No `Measured` where nearly nobody of the domain may be asked about.
    """
    domain = context.domain
    real, _ = domain.admit(people)
    sets = [tuple(range(len(domain.protected)))]
    tally = Tally("domain", names_of(domain, sets[0]), _BOUND_CONFIDENCE, BOUND_PEOPLE)
    events = _sample(
        context, {"domain": of_domain(context, real, rng)}, {"domain": [tally]}, sets, BOUND_PEOPLE
    )
    began, budgeted = perf_counter(), np.isfinite(context.most_queries)
    try:
        for event in events:
            yield event
            if isinstance(event, Measured):
                continue
            over = context.rows_left <= 0 if budgeted else perf_counter() - began > BOUND_SECONDS
            if over and tally.people:
                break
    except SpecError:
        pass  # nearly nobody may be asked about: what the search tried is all there is to tell
    if tally.people:
        yield _measured({"domain": [tally]})
        yield context.progress("random", tally.people, tally.people)
