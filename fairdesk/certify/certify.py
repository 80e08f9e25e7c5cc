"""Certify: bounds and counting, the heaviest boxes first; everybody one by one where that pays.

The three steps of FairQuant (ICSE 2025: bound, refine, quantify), each in another way: boxes are
bounded in batches, backwards through the layers; the box with the most undecided people is
divided next; and inside a box that stays undecided those are counted whom its bounds decide. What
is proven only grows, so that whoever looks on may stop at any time, and go on later.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from itertools import chain
from time import perf_counter
from typing import Any, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.certify.counting.remainder import remainder, rows_asked
from fairdesk.certify.domain.boxes import KEPT, Tree, Verdict, partitioned
from fairdesk.certify.domain.space import space_of
from fairdesk.certify.layout import (
    Layout,
    everyone_for,
    laid_out,
    lay_out,
    lay_out_queried,
    rates_for,
)
from fairdesk.certify.options import CertifyOptions, Stage
from fairdesk.certify.proof.certificate import CertificateError, decoded, pack
from fairdesk.certify.proof.verify.statements import (
    METHOD,
    NO_COMPARISON,
    NOTHING,
    ROWS_LEFT,
    UNCLEAR,
    unused,
)
from fairdesk.certify.rates import RateProver
from fairdesk.certify.refine import Refinery
from fairdesk.certify.results import (
    Course,
    look_aside,
    pairs_counted,
    people_shares,
    proven,
    regions,
)
from fairdesk.errors import SpecError
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.engine.pace import Pace
from fairdesk.individual.shares import enumeration, estimate
from fairdesk.individual.shares.finite import obstacle
from fairdesk.individual.shares.options import EnumerateOptions, EstimateOptions
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.structure import OpaqueError, structure_of
from fairdesk.results.events import Event, Measured, Metric, Progress, Rows, timed
from fairdesk.results.individual import Share
from fairdesk.results.proofs import Estimated, Proven, ProvenRates

#: Progress and figures are told every so many seconds.
_TELL_SECONDS, _MEASURE_SECONDS = 0.1, 0.5
#: People are counted one by one once all that are left take so much of the time that is left ...
_ROOM = 0.9
#: ... or at once where so few are left ...
_FEW = 200_000
#: ... or, without a limit of time, so many seconds ...
_MOST_COUNTING = 600.0
#: ... or when counting decides so many times as many in a second as dividing does.
_BETTER = 2.0
#: It is thought of for the first time after so much of the time that it would take.
_FIRST_LOOK = 0.03
#: So much of the time goes to single attributes, and so much to pairs of values.
_ASIDE = 0.1
#: So much goes to the rates of groups, and without a limit of time so many seconds at least; where
#: the rest was done before, so much.
_RATES, _LEAST_RATES, _RATES_AT_END = 0.1, 10.0, 0.5
#: So much at most goes to the data's own rows, and so much to examples and to what sampling says
#: of the rest; once the run is stopped, so many seconds.
_ROWS, _REST, _REST_OF_STOPPED = 0.1, 0.05, 2.0
#: What takes no longer than so many seconds is laid out however short the time is. A first look's
#: own time begins afterwards, and is so small a part of the run's that this may take it so often.
_LEAST_LAYOUT, _LOOKS = 5.0, 4.0
#: Of a first look so much goes to the data's own rows at most, and so much to looking.
_ROWS_OF_LOOK, _LOOKING = 0.7, 0.3
#: A model that cannot be looked into is asked about everybody where there are no more.
_MOST_ASKED = 2_000_000
#: In so many boxes examples are looked for at the end, among so many points of each.
_LOOKED_AT, _DRAWN = 128, 32
#: Before so many seconds nothing is said about how little is gained, nor of rates before so many.
_FIRST_GAIN, _FIRST_OF_RATES = 6.0, 3.0
#: Rates go on until as little as this part of the gain: what follows from them, a ratio, is known
#: only once both of its rates are.
_GAIN_OF_RATES = 0.7
#: Steps of progress.
_WHOLE = 1_000


def search(
    context: SearchContext,
    people: Rows,
    options: CertifyOptions,
    rng: np.random.Generator,
    stage: Stage = Stage.WHOLE,
) -> Iterator[Event]:
    """Prove how many people are consistent, and how many are not; parameters as in `maft.search`.

    ``stage`` says which part of a divided run it is.

    What the ``previous_certificate`` of the context proved is gone on with. At the end comes a
    `Certificate`. Of a model that cannot be looked into: the exact share where everybody can be
    asked, else an estimate.

    Raises
    ------
    SpecError
        When the model mixes attributes before it decides, or is given what is no number.
    """
    return timed(_search(context, people, options, rng, stage))


def shares(
    context: SearchContext, people: Rows, seconds: float
) -> Generator[Progress, None, Proven]:
    """Prove as `search` does how many of the domain are consistent, and nothing beside.

    What a search tells beside may take longer than a proof of a few seconds: every row of the data
    is asked about, and people are drawn from what stays undecided.

    Parameters
    ----------
    context, people
        As of `search`.
    seconds : float
        How long boxes are bounded and counted.

    Yields
    ------
    Progress
        Several times a second.

    Returns
    -------
    Proven
        The figure of the domain.

    Raises
    ------
    OpaqueError
        When the model cannot be looked into.
    SpecError
        As of `search`.
    """
    fed = cast("FedModel", context.cached_model.model)
    layout = lay_out(context.domain, people, structure_of(fed.opened), fed)
    # what is random in it belongs to what is told beside
    rng = np.random.default_rng(0)
    proof = _Proof(context, people, CertifyOptions(seconds, 0), rng, layout, perf_counter())
    return (yield from proof.shares())


def _search(
    context: SearchContext,
    people: Rows,
    options: CertifyOptions,
    rng: np.random.Generator,
    stage: Stage,
) -> Iterator[Event]:
    began = perf_counter()
    yield context.progress("looking", 0, _WHOLE)
    limit = options.seconds * (_LOOKS if stage is Stage.LOOK else 1.0)

    def over() -> bool:
        spent = perf_counter() - began
        return context.over or (0.0 < limit <= spent and spent >= _LEAST_LAYOUT)

    laying_out = laid_out(context, people, options.first, over)
    try:
        while (layout := next(laying_out)) is None:
            yield context.progress("looking", 0, _WHOLE)
    except OpaqueError as error:
        yield from _queried(context, people, options, rng, str(error), stage)
    except StopIteration:
        yield Measured("looking", (_not_begun(context, people, perf_counter() - began),))
        yield context.progress("looking", 0, _WHOLE)
    else:
        # a part's own time begins when it can begin
        began = began if stage is Stage.WHOLE else perf_counter()
        yield from _Proof(context, people, options, rng, layout, began, stage=stage).run()


def _not_begun(context: SearchContext, people: Rows, seconds: float) -> Proven:
    """Return that nothing is certified, where the time was over before anything could be."""
    names = context.domain.names
    real, _ = context.domain.admit(people)
    total = partitioned(space_of(context.domain, real)).total
    return Proven(
        of="domain",
        attributes=tuple(names[i] for i in context.domain.protected),
        certified=0.0,
        falsified=0.0,
        undecided=1.0,
        total=str(total),
        certified_people="0",
        falsified_people="0",
        seconds=seconds,
        notes=(_NOT_BEGUN,),
    )


def _queried(
    context: SearchContext,
    people: Rows,
    options: CertifyOptions,
    rng: np.random.Generator,
    opaque: str,
    stage: Stage,
) -> Iterator[Event]:
    """Yield shares of a model that can only be queried, and what counting then proves."""
    figures: tuple[Metric, ...] = ()
    for event in _without(context, people, rng) if stage.begins else ():
        told = _because(event, opaque) if isinstance(event, Measured) else event
        yield told
        if isinstance(told, Measured):
            figures = told.figures
        if context.over and isinstance(event, Progress):
            return
    if any(isinstance(each, Share) and each.whom == "domain" and each.exact for each in figures):
        return
    fed = cast("FedModel", context.cached_model.model)
    try:
        layout = lay_out_queried(context.domain, people, fed)
    except SpecError:
        # of so many combinations no share can be told
        return
    if layout is not None and options.first == "people":
        began = perf_counter()
        yield from _Proof(
            context, people, options, rng, layout, began, beside=figures, stage=stage
        ).run()


def _without(context: SearchContext, people: Rows, rng: np.random.Generator) -> Iterator[Event]:
    """Yield what can be reported of a model whose internal structure is not available."""
    if not obstacle(context.domain):
        real, _ = context.domain.admit(people)
        size = enumeration.population(context.domain, real, _MOST_ASKED)
        if size is not None and size <= _MOST_ASKED:
            yield from enumeration.search(context, people, EnumerateOptions(), rng)
            return
    yield from estimate.search(context, people, EstimateOptions(), rng)


def _because(measured: Measured, opaque: str) -> Measured:
    """Return estimated shares with a note why they are not proofs."""
    metrics = (
        msgspec.structs.replace(each, opaque=opaque) if isinstance(each, Share) else each
        for each in measured.figures
    )
    return Measured(measured.phase, tuple(metrics))


class _Proof:
    """One run of certification."""

    def __init__(
        self,
        context: SearchContext,
        people: Rows,
        options: CertifyOptions,
        rng: np.random.Generator,
        layout: Layout,
        began: float,
        *,
        beside: tuple[Metric, ...] = (),
        stage: Stage = Stage.WHOLE,
    ) -> None:
        self._started, self._stage = began, stage
        #: What is done just now.
        self._phase = "certify"
        self._context, self._people = context, people
        self._options, self._rng, self._layout = options, rng, layout
        names = context.domain.names
        self._attributes = tuple(names[i] for i in context.domain.protected)
        self._counter = everyone_for(layout)
        self._reported = self._measured = 0.0
        #: After how many seconds boxes were begun with, and how long the main question took.
        self._began = self._divided = 0.0
        self._kept = 0
        self._course, self._aside = Course(), list(beside)
        self._of_people = Course()
        self._rates: tuple[ProvenRates, ...] = ()
        self._rate_boxes: dict[str, NDArray[Any]] = {}
        self._rate_queries = 0
        self._rows: tuple[Share, ...] = ()
        self._notes: tuple[str, ...] = ()
        self._refinery = Refinery(
            *(layout.space, layout.examiner, self._previous_tree()),
            at_once=False,
            first=options.first,
            counter=self._counter if layout.concentrates else None,
            bounded=layout.anatomy is not None,
        )

    def run(self) -> Iterator[Event]:
        """Prove, and tell."""
        if self._stage.begins and not self._aside:
            yield from self._ask_rows()
        self._phase, self._began = "certify", self._seconds
        yield from self._look()
        yield from self._tell(force=True)
        if self._stage.begins:
            yield from self._divide()
        self._divided = self._seconds
        if self._ends:
            yield from self._rate()
            yield from self._look_aside()
        yield from self._finish()

    def shares(self) -> Generator[Progress, None, Proven]:
        """Prove, and tell at the end what is known of the domain."""
        yield self._progress()
        for event in chain(self._look(), self._divide()):
            if isinstance(event, Progress):
                yield event
        return cast("Proven", self._figures()[0])

    @property
    def _ends(self) -> bool:
        """Whether it is told what there is beside: not as long as others go on with the rest."""
        return self._stage.ends or not self._refinery.undecided_leaves().size

    # -- what is proven ---------------------------------------------------------------------

    def _ask_rows(self) -> Iterator[Event]:
        """Ask about the data's own rows, as far as there is time."""
        self._phase = "rows"
        share = _ROWS_OF_LOOK if self._stage is Stage.LOOK else _ROWS
        until = self._seconds + (share * self._options.seconds or np.inf)
        for figure in rows_asked(self._context, self._people):
            self._rows = () if figure is None else (figure,)
            yield self._progress()
            late = self._seconds >= until
            if figure is None and (late or self._context.over):
                self._notes = (ROWS_LEFT,) if late else ()
                return

    def _look(self) -> Iterator[Event]:
        """Look at everybody once, as long as there is time."""
        refinery = self._refinery
        while not refinery.begun:
            refinery.step()
            yield from self._tell()
            if self._over(self._seconds_for_boxes):
                return

    def _divide(self) -> Iterator[Event]:
        """Divide the space, or count everybody that is left once that is quicker."""
        refinery, until = self._refinery, self._seconds_for_boxes
        if refinery.undecided <= _FEW:
            yield from self._count()
            return
        pace = _Pace(until, _FIRST_LOOK * refinery.undecided / self._counter.speed)
        gain = _Gain(self._options.gain, _FIRST_GAIN)
        while not refinery.over and not self._over(until):
            if gain.is_small(self._seconds, self._left):
                return
            looks = pace.due(self._seconds, refinery.undecided)
            if looks and self._counting_pays(pace):
                yield from self._count()
                return
            refinery.step()
            yield from self._tell()
        # what cannot be divided any more is too near to a border for bounds
        if refinery.over and not self._over(until) and self._counting_pays(pace):
            yield from self._count()

    @property
    def _left(self) -> float:
        """The undecided share of what comes first: of the population, or of the combinations."""
        refinery = self._refinery
        if self._options.first == "people" and refinery.space.people is not None:
            return people_shares(refinery)[2]
        return refinery.undecided / max(refinery.space.total, 1)

    def _counting_pays(self, pace: _Pace) -> bool:
        """Return whether to count everybody that is left one by one from now on."""
        refinery, counter = self._refinery, self._counter
        points = refinery.points(refinery.undecided_leaves())
        seconds, limit = points / counter.speed, self._options.seconds
        if not limit:
            return seconds <= _MOST_COUNTING
        if seconds <= _ROOM * (limit - self._seconds):
            return True
        # the rest of the combinations holds next to nobody of a population
        if self._options.first == "people" and refinery.space.people is not None:
            return False
        decided = counter.speed * refinery.undecided / max(points, 1.0)
        return pace.settled and decided > _BETTER * pace.decided

    def _count(self) -> Iterator[Event]:
        """Count everybody that is left, one by one: then the whole of the time is for that."""
        until = self._options.seconds or np.inf
        self._phase = "counting"
        for _ in self._refinery.count(self._counter):
            yield from self._tell()
            if self._over(until):
                return

    def _rate(self) -> Iterator[Event]:
        """Prove how often groups get the favourable decision."""
        examiner = rates_for(self._layout)
        if examiner is None or self._context.over:
            return
        self._phase = "rates"
        begun = self._seconds
        share = _RATES_AT_END if self._stage is Stage.END else _RATES
        most = self._options.seconds * share or max(_LEAST_RATES, _RATES * begun)
        prover = RateProver(self._layout.space, examiner)
        gain = _Gain(_GAIN_OF_RATES * self._options.gain, _FIRST_OF_RATES)
        while not prover.over and not self._over(begun + most):
            if gain.is_small(self._seconds - begun, prover.undecided):
                break
            prover.step()
            self._rate_queries = prover.queries
            yield from self._tell()
        self._rates = prover.figures(self._seconds - begun)
        self._rate_boxes = prover.arrays() if self._rates else {}
        yield from self._tell(force=True)

    def _look_aside(self) -> Iterator[Event]:
        """Look at single attributes and at pairs of values, where there are several."""
        self._phase = "attributes"
        begun, most = self._seconds, self._options.seconds - self._seconds_for_boxes
        if not most or self._layout.unused:
            return
        if pairs := pairs_counted(self._layout.space, self._counter):
            self._aside += pairs
            if len(self._context.domain.protected) == 1:
                return
        most = most if np.isfinite(most) else _ASIDE * self._seconds
        if self._options.gain:
            # one that ended early takes no longer for this than one with a limit of that length
            most = min(most, max(1.0, 2 * _ASIDE * self._divided))
        if limit := self._options.seconds:
            left = (1.0 - _REST) * limit - begun
            most = left if self._stage is Stage.END else min(most, left)

        def over(part: float) -> bool:
            return self._over(begun + part * most)

        aside = look_aside(self._layout, self._people, self._rng, over, pairs=not pairs)
        for figure in aside:
            if figure is not None:
                self._aside.append(figure)
            yield from self._tell()

    @property
    def _seconds_for_boxes(self) -> float:
        """How long the main question may take; the rest is for what is beside it."""
        if self._stage is Stage.LOOK:
            return self._began + _LOOKING * self._options.seconds or np.inf
        domain = self._context.domain
        aside = _ASIDE * ((len(domain.protected) > 1) + (len(domain.combinations) > 2))
        aside += _RATES
        return self._options.seconds * (1.0 - aside) or np.inf

    # -- what is told of it -----------------------------------------------------------------

    def _tell(self, *, force: bool = False) -> Iterator[Event]:
        """Yield how far the proof is, not too often."""
        yield from self._examples()
        if force or self._seconds - self._measured >= _MEASURE_SECONDS:
            self._measured = self._seconds
            yield Measured("certify", self._figures())
        used_up = self._context.rows_left <= self._queries
        if force or used_up or self._seconds - self._reported >= _TELL_SECONDS:
            self._reported = self._seconds
            yield self._progress()

    @property
    def _queries(self) -> int:
        """Rows sent to the model for boxes."""
        return self._refinery.queries + self._counter.trial_queries + self._rate_queries

    def _progress(self) -> Progress:
        refinery, limit = self._refinery, self._options.seconds
        decided = 1.0 - refinery.undecided / max(refinery.space.total, 1)
        spent = min(1.0, self._seconds / limit) if limit else 0.0
        progress = self._context.progress(self._phase, int(_WHOLE * max(decided, spent)), _WHOLE)
        queries = progress.queries + self._queries
        return msgspec.structs.replace(progress, tried=refinery.boxes, queries=queries)

    def _figures(
        self, estimated: Estimated | None = None, *, ended: bool = False
    ) -> tuple[Metric, ...]:
        """Return all figures as they stand; the first is that of the domain."""
        refinery, examiner = self._refinery, self._layout.examiner
        whole = max(refinery.space.total, 1)
        self._course.add(
            self._seconds, refinery.consistent / whole, refinery.discriminatory / whole
        )
        self._of_people.add(self._seconds, *people_shares(refinery)[:2])
        notes = [*examiner.notes, *self._notes]
        notes += [unused(self._attributes)] if self._layout.unused else []
        notes += [UNCLEAR] if refinery.space.unclear.any() else []
        nothing = ended and not refinery.consistent + refinery.discriminatory
        if not refinery.space.total:
            notes += [NO_COMPARISON]
        elif nothing:
            notes += [NOTHING]
        metrics = proven(
            refinery,
            self._attributes,
            seconds=self._seconds,
            margin=examiner.margin,
            course=self._course,
            of_people=self._of_people,
            estimated=estimated,
            notes=notes,
        )
        return (*metrics, *self._rates, *self._rows, *self._aside)

    def _examples(self) -> Iterator[Event]:
        """Query the model again about some of those who are discriminatory, and tell of them."""
        refinery = self._refinery
        wanted = self._options.keep - self._kept
        if wanted > 0 and refinery.examples:
            places = np.concatenate(refinery.examples)[:wanted]
            yield from self._kept_of(*refinery.space.instances(places))
        refinery.examples.clear()

    def _kept_of(self, rows: Rows, combination: NDArray[np.intp]) -> Iterator[Event]:
        """Keep those people as examples whom the model, asked again, treats unlike."""
        self._context.check(rows, combination)
        if found := self._context.take("certify"):
            self._kept += len(found.rows)
            yield found

    def _more_examples(self, until: float) -> Iterator[Event]:
        """Look, so long, for examples where people are known to be discriminatory, but not who."""
        refinery, context, tree = self._refinery, self._context, self._refinery.tree
        leaves = tree.leaves
        share = np.where(
            tree.verdict[leaves] == Verdict.DISCRIMINATORY, 1.0, tree.discriminatory[leaves]
        )
        some = leaves[np.argsort(-share, kind="stable")[:_LOOKED_AT]]
        some = some[
            (tree.verdict[some] == Verdict.DISCRIMINATORY) | (tree.discriminatory[some] > 0)
        ]
        if not some.size or self._kept >= self._options.keep:
            return
        low, high = (np.repeat(each, _DRAWN, axis=0) for each in tree.boxes(some))
        drawn = self._rng.integers(low, high, endpoint=True)
        rows, combination = refinery.space.instances(np.unique(drawn, axis=0))
        for part in Pace(len(context.domain.combinations), context=context).parts(len(rows)):
            discriminatory = context.ask(rows[part]).discriminatory
            wanted = np.flatnonzero(discriminatory)[: self._options.keep - self._kept]
            yield from self._kept_of(rows[part][wanted], combination[part][wanted])
            yield self._progress()
            if self._kept >= self._options.keep or self._seconds >= until:
                return

    def _estimated(self, until: float) -> Generator[Event, None, Estimated | None]:
        """Sample, so long, among those who are undecided."""
        if not self._refinery.undecided:
            return None
        fed = self._layout.fed
        steps = remainder(self._refinery, fed, self._rng, lambda: self._seconds >= until)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                return cast("Estimated | None", end.value)
            yield self._progress()

    def _finish(self) -> Iterator[Event]:
        """Yield the last figures and the certificate."""
        refinery, tree = self._refinery, self._refinery.tree
        estimated = None
        if self._ends:
            begun, most = self._seconds, self._options.seconds * _REST or np.inf
            most = min(most, _REST_OF_STOPPED) if self._context.over else most
            self._phase = "examples"
            yield self._progress()
            yield from self._more_examples(begun + most / 2)
            self._phase = "estimating"
            yield self._progress()
            estimated = yield from self._estimated(begun + most)
        # of a small rest in large boxes so few people cannot say anything
        if estimated and estimated.low <= 0.0 and estimated.high >= 1.0:
            estimated = None
        figures = self._figures(estimated, ended=True)
        self._phase = "writing"
        yield self._progress()
        yield Measured("certify", (*figures, *regions(tree)))
        yield self._progress()
        domain = cast("Proven", figures[0])
        yield pack(
            refinery.space,
            tree.arrays() | self._rate_boxes,
            self._layout.fed,
            phase="certify",
            method=METHOD,
            options=self._options,
            consistent=refinery.consistent,
            discriminatory=refinery.discriminatory,
            margin=domain.margin,
            seconds=domain.seconds,
            boxes=domain.boxes,
            notes=domain.notes,
            of_people=people_shares(refinery),
            rates=self._rates,
        )
        yield self._progress()

    # -- what an earlier run proved -----------------------------------------------------------

    def _previous_tree(self) -> Tree | None:
        """Take up what was proven before, if it was of the same question."""
        previous, space = self._context.previous_certificate, self._layout.space
        if previous is None:
            return None
        try:
            header = decoded(previous.header)
        except CertificateError:
            return None
        axes = [tuple(axis.codes.tolist()) for axis in space.axes]
        same = [axis.codes for axis in header.axes] == axes
        roots = (previous.arrays["root_low"], space.low), (previous.arrays["root_high"], space.high)
        people = None if space.people is None else space.people.of
        same = same and header.population == people
        # the same may be compared, too
        same = same and header.groups == tuple(space.groups.tolist())
        same = same and header.may_be == tuple(tuple(row) for row in space.may_be.tolist())
        if not same or not all(np.array_equal(one, other) for one, other in roots):
            return None
        arrays = {name: previous.arrays[name] for name in KEPT if name in previous.arrays}
        if (arrays["verdict"][: len(space.low)][~space.compared] != Verdict.NOBODY).any():
            # before, a set with one member counted as certified
            return None
        self._layout.examiner.margin = header.margin
        return Tree.of(space, arrays)

    @property
    def _seconds(self) -> float:
        return perf_counter() - self._started

    def _over(self, until: float) -> bool:
        return self._context.over or self._seconds >= until


class _Gain:
    """Whether dividing still decides enough.

    Parameters
    ----------
    least : float
        So much has to be decided in the last third of the time; 0 for any amount.
    first : float
        Before so many seconds it is enough.
    """

    def __init__(self, least: float, first: float) -> None:
        self._least, self._first = least, first
        self._course: list[tuple[float, float]] = []

    def is_small(self, seconds: float, undecided: float) -> bool:
        """Take down how much is left after so many seconds; tell whether too little was decided."""
        if not self._least:
            return False
        self._course.append((seconds, undecided))
        while self._course[1:] and self._course[1][0] <= 2 / 3 * seconds:
            del self._course[0]
        return seconds >= self._first and self._course[0][1] - undecided < self._least


class _Pace:
    """How fast dividing decides people.

    Parameters
    ----------
    until : float
        How many seconds there are.
    first : float
        After so many it is looked at for the first time, if that is sooner than usual.

    Attributes
    ----------
    decided : float
        People decided in a second, lately.
    settled : bool
        Whether that is known well enough.
    """

    def __init__(self, until: float, first: float) -> None:
        self._usually = max(1.0, 0.05 * until) if np.isfinite(until) else 10.0
        self._every = min(first, self._usually)
        self._since, self._left = 0.0, -1
        self.decided, self.settled = 0.0, False

    def due(self, seconds: float, undecided: int) -> bool:
        """Take down how many are left; tell whether it is time to look at it again."""
        if self._left < 0:
            self._since, self._left = seconds, undecided
            return False
        if seconds - self._since < self._every:
            return False
        self.decided = (self._left - undecided) / (seconds - self._since)
        self.settled = self._every == self._usually
        self._since, self._left, self._every = seconds, undecided, self._usually
        return True


_NOT_BEGUN = (
    "The run ended while the model’s structure was read, before any region was bounded: more time "
    "may help."
)
