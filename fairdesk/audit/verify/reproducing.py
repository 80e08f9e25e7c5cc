"""A whole audit run again, with the same seeds, options, budgets and edges, and held against it.

With the same versions on the same kind of machine everything comes out alike, but for what the
clock decides. A run that its time or somebody ended is run until it has asked as many rows: then
the longer of the two must begin with the shorter.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import METHODS, method_named
from fairdesk.audit.plan.spec import AuditSpec, Budget, RunSpec, now, versions
from fairdesk.audit.runs.run import run as run_again
from fairdesk.audit.store.digests import replayed
from fairdesk.audit.store.pair import FOUND
from fairdesk.audit.store.records import LogEntry, PairQuery, RunRecord, RunState
from fairdesk.audit.store.store import Store
from fairdesk.audit.verify.figures import differences
from fairdesk.audit.verify.files import check_data_file, check_model_files, check_table, open_again
from fairdesk.audit.verify.pairs import TOLERANCE
from fairdesk.audit.verify.tally import Tally, failures
from fairdesk.audit.worker.client import Worker
from fairdesk.certify.proof import certificate
from fairdesk.certify.proof.verify.statements import Check
from fairdesk.errors import SpecError, system_errors
from fairdesk.results.events import Metric, Rows
from fairdesk.results.mitigation import Trial
from fairdesk.results.proofs import NeighbourhoodCounts, Proven

AUDIT_FILE = "audit.fairdesk"
#: What a repair measures by proof is the more the more time there is.
_BY_TIME = ("certified", "falsified")


class ReproduceRequest(msgspec.Struct, frozen=True):
    """An audit that is to be run again.

    Attributes
    ----------
    audit : Path
        Its file.
    data, model : Path
        The table and the model; the latter is left out where there is none.
    companions : tuple[Path, ...]
        Files beside the model.
    runs : tuple[int, ...]
        Only these, and what they go on with; empty for all.
    out : Path, optional
        The folder for the new audit; without it nothing is kept.
    trusted : bool
        Whether a model file that is a program may run.
    make_environment : bool
        Whether the environment that the model was audited in may be made, where it is not there.
    """

    audit: Path
    data: Path
    model: Path | None = None
    companions: tuple[Path, ...] = ()
    runs: tuple[int, ...] = ()
    out: Path | None = None
    trusted: bool = False
    make_environment: bool = False


def reproduce(
    worker: Worker, store: Store, asked: ReproduceRequest, watch: Callable[[RunState], None]
) -> Iterator[Check]:
    """Run an audit again.

    Parameters
    ----------
    worker : Worker
        Reads the data, opens the model and runs the methods. Stopping it ends the run.
    watch : callable
        Told every state of each run; an exception out of it ends everything.

    Yields
    ------
    Check
        First whether data and model are the audited ones; where they are not nothing is run. Then
        several of each run.

    Raises
    ------
    FairDeskError
        When a file cannot be read or written, the model not be opened, or a run is not there.
    """
    wanted = _wanted(store, asked.runs)
    if all(map(_why_not, wanted)):
        why = " ".join(f"Run {run.id}: {_why_not(run)}" for run in wanted)
        raise SpecError("The audit has no run that can be repeated.", why=why)
    spec, table = store.spec, store.table()
    same = [
        check_data_file(spec, asked.data),
        check_table(table, worker.read_table(asked.data, spec.data.dialect)),
    ]
    if not spec.predictions:
        if asked.model is None:
            raise SpecError("The model was not given.", remedy="Give it with --model.")
        same.append(check_model_files(spec, asked.model, asked.companions))
    yield from same
    if failures(same):
        return
    if asked.model is not None and not spec.predictions:
        open_again(
            worker,
            spec,
            asked.model,
            asked.companions,
            lambda _sentence: None,
            trusted=asked.trusted,
            make_environment=asked.make_environment,
        )
    question = msgspec.structs.replace(spec, created=now(), versions=versions())
    with _folder(asked.out) as folder, Store.create(folder / AUDIT_FILE, question, table) as made:
        repeating = _Repeating(worker, store, made)
        for run in wanted:
            yield from repeating.run(run, watch)


def other_versions(spec: AuditSpec) -> tuple[tuple[str, str, str], ...]:
    """Return which versions differ from those that made an audit: what of, then, and now."""
    return changed_versions(spec.versions, versions())


def changed_versions(
    then: Mapping[str, str], there: Mapping[str, str]
) -> tuple[tuple[str, str, str], ...]:
    """Return which versions differ: what of, then, and now.

    What was not looked at then may have been there, and is left out.
    """
    return tuple(
        (name, was, there[name])
        for name, was in sorted(then.items())
        if name in there and there[name] != was
    )


@contextmanager
def _folder(out: Path | None) -> Iterator[Path]:
    if out is None:
        with tempfile.TemporaryDirectory(prefix="fairdesk-") as folder:
            yield Path(folder)
        return
    with system_errors(
        SpecError, f"The folder “{out}” cannot be created.", "Choose another folder."
    ):
        out.mkdir(parents=True, exist_ok=True)
    yield out


def _wanted(store: Store, numbers: Sequence[int]) -> list[RunRecord]:
    """Return the runs to repeat, and those that they go on with, in their order."""
    runs = {run.id: run for run in store.runs()}
    if strange := [number for number in numbers if number not in runs]:
        raise SpecError(
            f"There is no run {strange[0]} in this audit.",
            remedy=f"Its runs are: {', '.join(map(str, runs)) or 'none'}.",
        )
    chosen, waiting = set[int](), list(numbers or runs)
    while waiting:
        number = waiting.pop()
        if number in runs and number not in chosen:
            chosen.add(number)
            waiting += _before(runs[number], runs)
    return [run for number, run in runs.items() if number in chosen]


def _before(run: RunRecord, runs: dict[int, RunRecord]) -> list[int]:
    """Return the runs whose results a run uses."""
    if run.spec.continues:
        return [run.spec.continues]
    if run.spec.method != "repair-aequitas":
        return []
    found = [number for number, each in runs.items() if each.found and number < run.id]
    return list(run.spec.pairs_of) or found


@dataclass(frozen=True)
class _Found:
    """What a run found, in its order: ``(n, 2 d)`` people, and ``(n,)`` or more of each field."""

    numbers: list[int]
    people: Rows
    values: dict[str, NDArray[Any]]

    @classmethod
    def of(cls, store: Store, run: int) -> _Found:
        pairs = list(store.each_pair(PairQuery(run=run)))
        d = len(store.spec.domain.attributes)
        return cls(
            [each.id for each in pairs],
            np.array([(each.row, each.partner) for each in pairs]).reshape(-1, 2 * d),
            {name: np.array([getattr(each, name) for each in pairs]) for name in ("phase", *FOUND)},
        )

    def differ(self, other: _Found) -> list[int]:
        """Return the places at which the shorter of two is otherwise."""
        n = min(len(self.people), len(other.people))
        same = (self.people[:n] == other.people[:n]).all(axis=1)
        for name in self.values if n else ():
            before, after = self.values[name][:n], other.values[name][:n]
            if before.dtype.kind == "f":
                near = TOLERANCE * np.maximum(1.0, np.abs(before))
                same &= np.abs(before - after) <= near
            else:
                same &= (before == after).reshape(n, -1).all(axis=1)
        return np.flatnonzero(~same).tolist()

    def common(self, other: _Found) -> tuple[_Found, _Found]:
        """Return the pairs that both found, in the order of this one, without their phases."""
        there = {people.tobytes(): place for place, people in enumerate(other.people)}
        places = [
            (here, there[people.tobytes()])
            for here, people in enumerate(self.people)
            if people.tobytes() in there
        ]
        return self._at([here for here, _ in places]), other._at([there for _, there in places])

    def _at(self, places: list[int]) -> _Found:
        return _Found(
            [self.numbers[place] for place in places],
            self.people[places],
            {name: self.values[name][places] for name in FOUND},
        )


#: Why what is proven is not held against what was.
_PROGRESS = "The progress of a certification depends on the computing time."
#: The same of a run in parts that its time limit or the user ended.
_PARTS_ENDED = (
    "One of the two runs was ended by the time limit or by the user, each of its parts somewhere "
    "else."
)
#: Why a run is not held against another one.
NOT_REPEATABLE = (
    "The model returned different outputs for the same rows, so the run cannot be reproduced."
)


class _Repeating:
    """The new audit as it grows beside the old one."""

    def __init__(self, worker: Worker, then: Store, now: Store) -> None:
        self._worker, self._then, self._now = worker, then, now
        self._runs: dict[int, int] = {}  # the new number of each run that was repeated
        self._pairs: dict[int, int] = {}  # the new number of each pair
        self._discriminatory: set[int] = set()  # runs that came out otherwise
        self._marked: dict[int, str] = {}  # how pairs are marked in the new audit
        self._changed = ", ".join(
            f"{name} {was} then, {there} now" for name, was, there in other_versions(then.spec)
        )

    def run(self, run: RunRecord, watch: Callable[[RunState], None]) -> Iterator[Check]:
        """Repeat a run, and compare what comes of it."""
        name = f"Run {run.id} “{METHODS[run.spec.method].title}”"
        lost = [number for number in _needed(run) if number not in self._runs]
        why = f"It continues run {lost[0]}, which was not repeated." if lost else _why_not(run)
        if why:
            yield Check(name, 0, 0, 1, (why,))
            return
        self._mark(run)
        state: RunState | None = None
        for state in run_again(self._worker, self._now, self._spec(run)):
            watch(state)
        record = self._now.runs()[-1]
        if record.state == "failed":
            yield Check(name, 1, 1, 0, (f"The repeated run failed: {record.message}",))
            return
        self._runs[run.id] = record.id
        if record.state == "stopped":
            raise KeyboardInterrupt
        checks = list(self._compared(name, run, record))
        if failures(checks):
            self._discriminatory.add(run.id)
        yield from checks

    def _spec(self, run: RunRecord) -> RunSpec:
        """Ask the same again, in the numbers of the new audit; by rows where time ended it."""
        return msgspec.structs.replace(
            run.spec,
            continues=self._runs.get(run.spec.continues, 0),
            pairs_of=tuple(self._runs[number] for number in run.spec.pairs_of),
            budget=Budget(queries=run.queries) if _by_rows(run) else run.spec.budget,
        )

    def _mark(self, run: RunRecord) -> None:
        """Mark pairs as they were marked when a repair began: it takes flagged ones first."""
        if method_named(run.spec.method).answers is not QuestionKind.REPAIR:
            return
        marks = replayed(_entries_before(self._then, run.id)).marks
        for pair, there in self._pairs.items():
            if marks.get(pair, "") != self._marked.get(pair, ""):
                self._now.mark(there, marks.get(pair, ""))
        self._marked = marks

    def _compared(self, name: str, then: RunRecord, now: RunRecord) -> Iterator[Check]:
        cut = _by_clock(then) or _by_clock(now)
        remarks = [f"Versions that changed: {self._changed}."] if self._changed else []
        if bad := [number for number in _needed(then) if number in self._discriminatory]:
            remarks.append(f"It uses the findings of run {bad[0]}, which were different.")
        figures = bool(then.figures or now.figures)
        if then.found or now.found or not figures:
            yield self._findings(name, then, now, remarks, cut=cut)
        if figures:
            yield self._figures(name, then, now, remarks, cut=cut)
        if then.id in self._then.certified_runs():
            yield self._certificate(name, then, now, remarks)
        if method_named(then.spec.method).answers is QuestionKind.REPAIR:
            yield self._made(name, then, now, remarks)

    def _findings(
        self, name: str, then: RunRecord, now: RunRecord, remarks: Sequence[str], *, cut: bool
    ) -> Check:
        tally = Tally(f"{name}: the same findings in the same order")
        before, after = _Found.of(self._then, then.id), _Found.of(self._now, now.id)
        n = min(len(before.people), len(after.people))
        wrong = before.differ(after)
        proves = method_named(then.spec.method).answers is QuestionKind.PROOF
        if wrong and (proves or (cut and then.spec.shards > 1)):
            why = _PROGRESS if proves else _PARTS_ENDED
            self._found_both_times(tally, before, after, why)
            _add(tally, True, remarks)  # noqa: FBT003 - it came out otherwise
            return tally.check()
        same_until = wrong[0] if wrong else n
        self._pairs |= dict(
            zip(before.numbers[:same_until], after.numbers[:same_until], strict=True)
        )
        tally.agree(n - len(wrong))
        if wrong:
            tally.differ(_otherwise(before, after, wrong[0]), len(wrong))
        more = abs(len(before.people) - len(after.people))
        counts = f"It found {len(before.people):,} then and {len(after.people):,} now"
        if more and cut and not wrong:
            tally.leave(
                f"{counts}: one of the two runs was ended by the time limit or by the user, and "
                "the longer begins with the shorter.",
                more,
            )
        elif more:
            tally.differ(f"{counts}.", more)
        _add(tally, wrong or (more and not cut), remarks)
        return tally.check()

    def _found_both_times(self, tally: Tally, before: _Found, after: _Found, why: str) -> None:
        """Hold only those pairs against each other that were found both times.

        ``why`` says what makes it find others.
        """
        one, other = before.common(after)
        self._pairs |= dict(zip(one.numbers, other.numbers, strict=True))
        both = len(one.people)
        wrong = one.differ(other)
        tally.agree(both - len(wrong))
        if wrong:
            tally.differ(
                f"The model’s outputs differ for {len(wrong):,} of the {both:,} pairs found both "
                f"times, the first of them pair {one.numbers[wrong[0]]:,}.",
                len(wrong),
            )
        then, now = len(before.people) - both, len(after.people) - both
        if then or now:
            tally.leave(
                f"{both:,} pairs were found both times, {then:,} only then, and {now:,} only now. "
                + why,
                then + now,
            )

    def _figures(
        self, name: str, then: RunRecord, now: RunRecord, remarks: Sequence[str], *, cut: bool
    ) -> Check:
        tally = Tally(f"{name}: the same figures")
        proves = method_named(then.spec.method).answers is QuestionKind.PROOF
        before, after = _timeless(then.figures), _timeless(now.figures)
        messages = differences(before, after)
        tally.agree(max(len(before) - len(messages), 0))
        if messages and (cut or proves):
            tally.leave(
                _PROGRESS
                if proves
                else (
                    "One of the two runs was ended by the time limit or by the user: the figures "
                    "cover different numbers of instances."
                ),
                len(messages),
            )
        elif (
            messages
            and self._changed
            and method_named(then.spec.method).answers is QuestionKind.REPAIR
        ):
            tally.leave(
                "The result of a mitigation depends on randomness in training, which differs "
                "between versions.",
                len(messages),
            )
        else:
            for each in messages:
                tally.differ(each)
        if proves:
            _check_proofs(tally, then.figures, now.figures)
        _add(tally, bool(messages), remarks)
        return tally.check()

    def _certificate(
        self, name: str, then: RunRecord, now: RunRecord, remarks: Sequence[str]
    ) -> Check:
        tally = Tally(f"{name}: the proof certificates do not contradict each other")
        kept, made = self._then.certificate(then.id), self._now.certificate(now.id)
        if kept is None or made is None:
            tally.differ("There is no proof certificate now.")
            return tally.check()
        (before, first), (after, second) = kept, made
        was, there = certificate.decoded(before), certificate.decoded(after)
        tally.compare(
            was.total == there.total,
            f"It covered {was.total} combinations, and now covers {there.total}.",
        )
        totals = [(int(each.certified), int(each.falsified)) for each in (was, there)]
        total = int(was.total)
        tally.compare(
            totals[0][0] + totals[1][1] <= total and totals[1][0] + totals[0][1] <= total,
            "The certified share of one contradicts the falsified share of the other.",
        )
        boxes = [int((each["first"] < 0).sum()) for each in (first, second)]
        if totals[0] == totals[1]:
            tally.agree()
        else:
            tally.leave(
                f"{totals[0][0]:,} certified and {totals[0][1]:,} falsified then, {totals[1][0]:,} "
                f"and {totals[1][1]:,} now; {boxes[0]:,} regions then, {boxes[1]:,} now. "
                + _PROGRESS
            )
            _add(tally, True, remarks)  # noqa: FBT003 - it came out otherwise
        return tally.check()

    def _made(self, name: str, then: RunRecord, now: RunRecord, remarks: Sequence[str]) -> Check:
        tally = Tally(f"{name}: the same augmentation rows and model files")
        before, after = self._then.added_rows(then.id), self._now.added_rows(now.id)
        if before is None or after is None:
            tally.compare(
                before is after, "Augmentation rows were made in only one of the two runs."
            )
        else:
            consistent = before.rows.shape == after.rows.shape and all(
                np.array_equal(getattr(before, each), getattr(after, each))
                for each in ("rows", "labels", "seeds")
            )
            tally.compare(
                consistent and before.texts == after.texts,
                f"{len(before.rows):,} augmentation rows were made then, {len(after.rows):,} now, "
                "and they are not the same.",
            )
        _add(tally, failures([tally.check()]), remarks)
        for trial in (each.number for each in then.figures if isinstance(each, Trial)):
            names = set(self._then.models(then.id, trial))
            there = set(self._now.models(now.id, trial))
            tally.compare(
                names == there,
                f"Candidate {trial} had the files {sorted(names)}, and now has {sorted(there)}.",
            )
            other = [
                each
                for each in sorted(names & there)
                if _digest(self._then.model(then.id, trial, each))
                != _digest(self._now.model(now.id, trial, each))
            ]
            if other:
                tally.remark(
                    f"{', '.join(other)} of candidate {trial} differs: model files contain times "
                    "and the randomness of training. The behaviour of the models is compared "
                    "above."
                )
        return tally.check()


def _why_not(run: RunRecord) -> str:
    """Return why a run cannot be repeated; empty where it can."""
    if run.state in ("failed", "running"):
        return f"The original run was not completed: {run.message or 'it was interrupted.'}"
    return NOT_REPEATABLE if run.answers_changed else ""


def _needed(run: RunRecord) -> list[int]:
    """Return the runs without which a run cannot be repeated."""
    return [run.spec.continues] if run.spec.continues else list(run.spec.pairs_of)


def _by_clock(run: RunRecord) -> bool:
    """Return whether the time limit or the user ended a run, and neither its method nor its rows.

    A run with a limit of rows as well may have been ended by either.
    """
    budget = run.spec.budget
    timed = budget.seconds is not None or budget.idle is not None
    return run.state == "stopped" or (timed and bool(run.message))


def _by_rows(run: RunRecord) -> bool:
    """Return whether a run that the clock ended can be ended by the rows it had queried."""
    return _by_clock(run) and not method_named(run.spec.method).finishes and run.queries > 0


def _entries_before(store: Store, run: int) -> list[LogEntry]:
    """Return the log as it was when a run began; where that is not told, all of it."""
    entries = store.log_entries()
    began = (
        place for place in range(len(entries)) if run in replayed(entries[place : place + 1]).began
    )
    return entries[: next(began, len(entries))]


def _otherwise(before: _Found, after: _Found, place: int) -> str:
    """Return how the findings of two runs differ."""
    keys = [{row.tobytes() for row in each.people} for each in (before, after)]
    both = len(keys[0] & keys[1])
    if keys[0] == keys[1] and (before.people[place] == after.people[place]).all():
        return f"From finding {place + 1:,} on the model’s outputs for the same pairs differ."
    return (
        f"From finding {place + 1:,} on they differ: {both:,} pairs were found both times, "
        f"{len(keys[0]) - both:,} only then, and {len(keys[1]) - both:,} only now."
    )


def _timeless(figures: Sequence[Metric]) -> tuple[Metric, ...]:
    """Leave out what is measured by the clock inside figures."""
    return tuple(
        msgspec.structs.replace(
            each,
            measures=tuple(one for one in each.measures if one.what not in _BY_TIME),
            changes=tuple(one for one in each.changes if one.what not in _BY_TIME),
        )
        if isinstance(each, Trial)
        else each
        for each in figures
    )


def _check_proofs(tally: Tally, then: Sequence[Metric], now: Sequence[Metric]) -> None:
    """Hold what was proven against what is proven now: neither may leave less than the other."""
    shares = [
        [each for each in figures if isinstance(each, Proven) and each.of == "domain"]
        for figures in (then, now)
    ]
    for before, after in zip(*shares, strict=False):
        tally.compare(
            before.certified + after.falsified <= 1 and after.certified + before.falsified <= 1,
            "The earlier and the present proofs contradict each other.",
        )
    around = [
        [each for each in figures if isinstance(each, NeighbourhoodCounts)]
        for figures in (then, now)
    ]
    for one, other in zip(*around, strict=False):
        both = one.certified + other.falsified, other.certified + one.falsified
        tally.compare(
            max(both) <= one.rows,
            "The earlier and the present certification around data rows contradict each other.",
        )


def _add(tally: Tally, otherwise: object, remarks: Sequence[str]) -> None:
    for each in remarks if otherwise else ():
        tally.remark(each)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
