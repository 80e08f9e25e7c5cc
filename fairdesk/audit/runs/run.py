"""One run from its beginning to its end: a method's events go into the audit file."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import suppress
from time import monotonic

import msgspec
import numpy as np

from fairdesk.audit.catalogue.method import ABOUT_GROUPS, UNTIMED, QuestionKind
from fairdesk.audit.catalogue.methods import method_named, parse_options, why_off
from fairdesk.audit.plan.inputs import RunInputs, SearchInputs, everything_of, group_inputs
from fairdesk.audit.plan.spec import AuditSpec, Budget, RunSpec
from fairdesk.audit.runs.mitigation import check_repair, completed, mitigation_inputs
from fairdesk.audit.shards.dealing import search_in_turn
from fairdesk.audit.store.records import RunState
from fairdesk.audit.store.store import Store
from fairdesk.audit.worker.client import Searching, Worker
from fairdesk.data.domain.domain import Domain
from fairdesk.data.domain.feasibility import no_starting_points
from fairdesk.errors import FairDeskError, SpecError, StoreError, concerning
from fairdesk.groups.text.terms import lists_of_terms, words_beside
from fairdesk.results.events import Certificate, Found, Measured, Progress, Rows
from fairdesk.results.mitigation import Augmented, Retrained

log = logging.getLogger(__name__)


def run(worker: Worker, store: Store, spec: RunSpec) -> Iterator[RunState]:
    """Run a method, keep what it finds, and tell how it goes.

    Closing the generator stops the run. Whatever goes wrong, what was found so far is kept.

    Parameters
    ----------
    worker : Worker
        With the audit's model open. Its `Worker.stop`, `Worker.pause` and `Worker.resume`
        control the run from any other thread.
    store : Store
        Opened in this thread.

    Yields
    ------
    RunState
        One when it begins, then at most about 20 a second. The last has the state ``"done"``,
        ``"stopped"`` or ``"failed"``; a failure is told in its message, not raised.

    Raises
    ------
    SpecError
        Before it begins, as `check_run` says.
    StoreError
        Before it begins, when the audit file cannot be written.
    """
    check_run(spec, store.spec)
    if method_named(spec.method).answers is QuestionKind.REPAIR:
        spec = completed(spec, store)
        check_repair(spec, store)
    keeper = _Keeper(worker, store, spec)
    yield keeper.state
    try:
        yield from keeper.search()
    except FairDeskError as error:
        keeper.end("failed", str(error))
    except GeneratorExit:
        keeper.end("stopped")
        raise
    except BaseException as error:
        keeper.end("failed", f"{type(error).__name__}: {error}")
        raise
    yield keeper.state


_REMOVE = "Remove the maximum distance."
_OF_GROUPS = (
    "A maximum distance does not apply to group methods: they test data rows, slightly perturbed."
)
#: Why a method cannot be kept near the data, and what to do, by what it answers.
_WITHOUT_DISTANCE = {
    **dict.fromkeys(ABOUT_GROUPS, (_OF_GROUPS, _REMOVE)),
    QuestionKind.PROOF: (
        "Certification covers the whole input domain, not only instances near the data.",
        "Remove the maximum distance, or narrow the ranges instead.",
    ),
    QuestionKind.REPAIR: (
        "A mitigation is measured on the whole input domain, not only on instances near the data.",
        _REMOVE,
    ),
}


def check_run(run: RunSpec, audit: AuditSpec) -> None:
    """Refuse a run that cannot begin.

    Raises
    ------
    SpecError
        When there is no such method, it is off for the model or the domain, its options do not
        fit, or its budget is nought.
    """
    method, options = method_named(run.method), parse_options(run.method, run.options)
    if unfit := method.unfit(options, audit.model, audit.mapping):
        raise SpecError(unfit, setting="options")
    if off := why_off(method, audit.model, audit.domain, text=bool(run.text)):
        raise SpecError(off, remedy="Choose another method.", setting="method")
    budget = run.budget
    limits = (budget.seconds, "seconds"), (budget.queries, "rows"), (budget.idle, "idle seconds")
    for limit, what in limits:
        if limit is not None and not limit > 0:
            raise SpecError(
                "The budget must be greater than zero, or empty for no limit; it is "
                f"{limit:g} {what}.",
                remedy="Enter a greater budget, or leave it empty for no limit.",
                setting=what,
            )
    if run.shards < 0 or run.shard is not None:
        raise SpecError(
            f"A run cannot be divided into {run.shards:,} parts.",
            remedy="Give a number of parts of at least 1, or 0 for no division.",
            setting="shards",
        )
    check_rules(run, audit.domain)
    if run.plausible and not method.seeks:
        raise SpecError(
            f"“{method.title}” cannot be kept to plausible pairs: only searches "
            "for discriminatory pairs can.",
            remedy="Run it without plausibility.",
            setting="plausible",
        )
    if run.max_distance is not None and (apart := _WITHOUT_DISTANCE.get(method.answers)):
        raise SpecError(apart[0], remedy=apart[1], setting="max_distance")
    if run.max_distance is not None and not 0 <= run.max_distance <= 1:
        raise SpecError(
            f"{run.max_distance:g} is not a valid maximum distance to the nearest data row.",
            remedy=(
                "Give a Gower distance from 0 (identical to a data row) to 1 (different in every "
                "attribute)."
            ),
            setting="max_distance",
        )


def check_rules(run: RunSpec, domain: Domain) -> None:
    """Refuse bins, texts and terms that do not fit the domain, or nothing to compare.

    Raises
    ------
    SpecError
        With what would fit.
    """
    method = method_named(run.method)
    numbers = {each.name for each in domain.grouping if not each.values}
    if run.edges and not (method.divides or run.rule):
        raise SpecError(
            f"“{method.title}” does not divide numbers into bins.",
            remedy="Omit the bin boundaries, or choose “Subgroup discovery (TestSGD)”.",
            setting="edges",
        )
    for name, edges in run.edges.items():
        if name not in numbers:
            raise SpecError(
                f"“{name}” is not a numeric protected attribute, so it has no bins.",
                remedy="Give bin boundaries for one of: "
                f"{', '.join(sorted(numbers)) or 'none available'}.",
                setting="edges",
            )
        if not np.isfinite(edges).all() or not (np.diff(edges) > 0).all() or not edges:
            raise SpecError(
                f"The bin boundaries of “{name}” must be numbers in ascending order.",
                remedy="Write them like 25, 40, 60.",
                setting="edges",
            )
    texts = [domain.names[i] for i in domain.texts.tolist()]
    if run.text and not method.reads:
        raise SpecError(
            f"“{method.title}” does not compare identity terms in a text.",
            remedy="Omit the text column, or choose “Subgroup discovery (TestSGD)”.",
            setting="text",
        )
    if run.text and run.text not in texts:
        raise SpecError(
            f"“{run.text}” is not a column of texts that the model reads.",
            remedy=f"The columns of texts are: {', '.join(texts) or 'none'}.",
            setting="text",
        )
    if method.answers is QuestionKind.GROUPS and not run.text and not domain.grouping:
        raise SpecError(
            "No attribute is protected, so there are no groups to compare.",
            remedy=(
                "Protect a column, or give the column with the texts whose identity terms are "
                "compared."
            ),
            setting="protected",
        )
    with concerning("terms"):
        lists_of_terms(run.terms)
        words_beside(run.terms)


class _Keeper:
    """Writes down what a search yields.

    Attributes
    ----------
    state : RunState
        How the run stands.
    """

    def __init__(self, worker: Worker, store: Store, spec: RunSpec) -> None:
        self._worker, self._store, self._spec = worker, store, spec
        self._clock = _Clock()
        self._alone = np.zeros(len(store.spec.domain.protected), dtype=np.int64)
        self.state = RunState(
            id=store.begin_run(spec),
            method=spec.method,
            state="running",
            sufficient_alone=tuple(self._alone.tolist()),
        )

    def search(self) -> Iterator[RunState]:
        """Search to the end, telling the state at every progress."""
        search = self._begin()
        try:
            for event in search:
                match event:
                    case Found():
                        self._keep(event)
                    case Measured():
                        self._store.measure(self.state.id, event.figures)
                        self.state = msgspec.structs.replace(self.state, figures=event.figures)
                    case Certificate():
                        self._store.certify(self.state.id, event.header, event.arrays)
                    case Augmented():
                        self._store.keep_rows(self.state.id, event)
                    case Retrained():
                        self._store.keep_model(self.state.id, event)
                    case Progress():
                        yield self._advance(event)
        finally:
            search.close()
            with suppress(StoreError):
                for remark in search.remarks:
                    self._store.log(f"Run {self.state.id}: {remark}", "begun")
        if search.ending == "budget":
            self.end("done", _budget_message(self._spec.budget))
        elif search.ending == "idle":
            self.end("done", _idle_message(self._spec.budget))
        else:
            self.end(search.ending or "stopped")

    def _begin(self) -> Searching:
        """Start the search."""
        audit, answers = self._store.spec, method_named(self._spec.method).answers
        inputs: RunInputs
        if answers in ABOUT_GROUPS:
            inputs = group_inputs(audit, self._store.table())
        elif answers is QuestionKind.REPAIR:
            inputs = mitigation_inputs(self._spec, self._store)
        else:
            inputs = self._search_inputs()
        return search_in_turn(self._worker, audit, inputs, self._spec)

    def _search_inputs(self) -> SearchInputs:
        """Return the people to start from, and what earlier runs found and proved."""
        people = self._store.spec.domain.people(self._store.table())
        if not len(people):
            raise no_starting_points(self._store.spec.domain)
        counts = method_named(self._spec.method).counts_rows
        all_rows = everything_of(self._store.spec) if counts else None
        if not self._spec.continues:
            return SearchInputs(people, all_rows=all_rows)
        known = self._known(self._spec.continues)
        return SearchInputs(people, known, self._previous_certificate(), all_rows)

    def end(self, state: str, message: str = "") -> None:
        """Write down how the run ended; on a full disk at least tell it."""
        self.state = msgspec.structs.replace(
            self.state, state=state, message=message, elapsed=self._clock.tick(paused=False)
        )
        log.info("run %d ended: %s %s", self.state.id, state, message)
        try:
            self._store.end_run(self.state.id, state, message)
        except StoreError as error:
            log.warning("the end of run %d is not written down: %s", self.state.id, error)
            self.state = msgspec.structs.replace(
                self.state, state="failed", message=message or str(error)
            )
        with suppress(StoreError):
            # what is in the file counts, whatever was on its way there
            (kept,) = (run for run in self._store.runs() if run.id == self.state.id)
            self.state = msgspec.structs.replace(
                self.state, found=kept.found, sufficient_alone=kept.sufficient_alone
            )

    def _keep(self, found: Found) -> None:
        self._store.add(self.state.id, found)
        self._alone += found.sufficient_alone.sum(axis=0)

    def _advance(self, progress: Progress) -> RunState:
        paused = self._worker.paused
        elapsed = self._clock.tick(paused=paused)
        if UNTIMED & {self.state.phase, progress.phase}:
            # done once on a computer, for all runs: no part of the time of this one
            self._clock, elapsed = _Clock(), 0.0
        self._store.add_progress(self.state.id, elapsed, progress)
        self.state = msgspec.structs.replace(
            self.state,
            state="paused" if paused else "running",
            phase=progress.phase,
            done=progress.done,
            total=progress.total,
            tried=progress.tried,
            found=progress.found,
            queries=progress.queries,
            seconds=progress.seconds,
            rejected=progress.rejected,
            elapsed=elapsed,
            sufficient_alone=tuple(self._alone.tolist()),
        )
        return self.state

    def _previous_certificate(self) -> Certificate | None:
        """Return what the run proved that this one goes on with."""
        if not method_named(self._spec.method).finishes:
            return None
        kept = self._store.certificate(self._spec.continues)
        return None if kept is None else Certificate("", *kept)

    def _known(self, run_id: int) -> Rows:
        """Gather what a run found, and the runs that it went on with: ``(n, d)``."""
        before = {run.id: run for run in self._store.runs()}
        chain = []
        while run_id in before and run_id not in chain:
            chain.append(run_id)
            run_id = before[run_id].spec.continues
        nobody = np.empty((0, len(self._store.spec.domain.attributes)))
        return np.concatenate(
            [nobody, *(rows for each in chain for rows in self._store.found_rows(each))]
        )


class _Clock:
    """Counts seconds, pauses left out."""

    def __init__(self) -> None:
        self._elapsed = 0.0
        self._last = monotonic()
        self._paused = False

    def tick(self, *, paused: bool) -> float:
        """Count the time since the last tick, unless that one began a pause."""
        now = monotonic()
        if not self._paused:
            self._elapsed += now - self._last
        self._last, self._paused = now, paused
        return self._elapsed


def _idle_message(budget: Budget) -> str:
    return (
        "The run ended early because no new discriminatory pair was found in the last "
        f"{budget.idle:g} seconds."
    )


def _budget_message(budget: Budget) -> str:
    limits = []
    if budget.seconds is not None:
        limits.append(f"{budget.seconds:g} second{'' if budget.seconds == 1 else 's'}")
    if budget.queries is not None:
        limits.append(f"{budget.queries:,} {'query' if budget.queries == 1 else 'queries'}")
    return f"The run ended at its limit of {' or '.join(limits)}."
