"""An audit file held against itself: its log is a chain, and its sentences follow from the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.plan.decisions import decisions
from fairdesk.audit.plan.spec import RunSpec, versions
from fairdesk.audit.store import digests
from fairdesk.audit.store.digests import Replayed, details_facts, replayed
from fairdesk.audit.store.pair import WEIGHED
from fairdesk.audit.store.records import (
    Agreement,
    LogEntry,
    Marked,
    Noted,
    PairQuery,
    RunEnded,
    RunRecord,
    RunsPlanned,
    RunStarted,
    StepOfLearning,
    StepOfPlan,
    StepOfRun,
    Weighed,
)
from fairdesk.audit.store.schema import STARTED
from fairdesk.audit.store.store import CHOSEN, Store, began_sentence, ended_sentence, plan_sentence
from fairdesk.audit.verify.tally import Tally
from fairdesk.audit.worker.answer_checks import check_event
from fairdesk.certify.proof.verify.statements import Check
from fairdesk.errors import StoreError, WorkerError
from fairdesk.models.inputs.input_check import InputCheck
from fairdesk.results.events import Measured
from fairdesk.results.groups import GroupTable

SENTENCES = "Sentences of the audit log match the audit plan and the runs"
PLANNED = "Every planned run was made, or the audit log says why not"
ACCURACY = "The accuracy in the audit log"
#: By how much shares may differ that are quotients of the same counts.
_EXACT = 1e-9


def compare_sentences(tally: Tally, store: Store) -> None:
    """Compare each sentence of the log with what FairDesk writes of its facts and of the file.

    Not of free texts: what was exported or learned of single pairs.
    """
    entries = store.log_entries()
    made_by, here = store.spec.versions.get("FairDesk", ""), versions()["FairDesk"]

    def differ(message: str) -> None:
        if made_by == here:
            tally.differ(message)
        else:
            tally.leave(f"FairDesk {made_by} made the audit, whose sentences may be others.")

    for was, now in zip_longest(_decided(entries), _planned_sentences(store)):
        if was == now:
            tally.agree()
        elif now is None:
            differ(f"The audit log says “{was[0]}”; that does not follow from the audit plan.")
        elif was is None:
            differ(f"The audit log does not say “{now[0]}”, which follows from the audit plan.")
        elif was[0] == now[0]:
            differ(f"The facts of the entry “{was[0]}” do not follow from the audit plan.")
        else:
            differ(f"The audit log says “{was[0]}”; the audit plan says “{now[0]}”.")
    runs = {run.id: run for run in store.runs()}
    for place, entry in enumerate(entries):
        wanted = _sentence(place, entry, runs)
        if wanted is None or entry.what == wanted:
            tally.agree()
        else:
            differ(f"Entry {place + 1:,} says “{entry.what}”; its record says “{wanted}”.")


def _decided(entries: Sequence[LogEntry]) -> Iterator[tuple[str, object]]:
    for entry in entries:
        if entry.kind == "decided":
            yield entry.what, msgspec.json.decode(entry.facts or "null")


def _planned_sentences(store: Store) -> Iterator[tuple[str, object]]:
    for each in decisions(store.spec, store.table()):
        yield each.what, msgspec.json.decode(msgspec.json.encode(each.facts))


def _sentence(place: int, entry: LogEntry, runs: dict[int, RunRecord]) -> str | None:
    """Return what an entry has to say; ``None`` where that is free, or told by another check."""
    facts: Any
    said: str | None = None
    match entry.kind:
        case "begun" if place == 0:
            said = STARTED
        case "ran":
            facts = msgspec.json.decode(entry.facts, type=StepOfRun)
            if isinstance(facts, RunStarted):
                said = began_sentence(facts)
            else:
                run = runs.get(facts.run)
                said = ended_sentence(facts.run, facts.state, run.message if run else "")
        case "planned":
            said = plan_sentence(msgspec.json.decode(entry.facts, type=StepOfPlan))
        case "marked":
            said = msgspec.json.decode(entry.facts, type=Marked).sentence
        case "learned":
            facts = msgspec.json.decode(entry.facts, type=StepOfLearning)
            said = facts.sentence if isinstance(facts, Weighed) else None
        case "choice":
            said = CHOSEN
    return said


#: What a run is recognised by: its method, its seed and the text that it reads.
_Key = tuple[str, int, str]


def compare_plan(tally: Tally, store: Store) -> None:
    """Compare the runs that were planned with those that there are, wait, or were not started."""
    planned, found = (
        Counter[tuple[str, int, str]](),
        Counter(_key(run.spec) for run in store.runs()),
    )
    for entry in store.log_entries():
        if entry.kind != "planned":
            continue
        step = msgspec.json.decode(entry.facts, type=StepOfPlan)
        if isinstance(step, RunsPlanned):
            planned.update(map(_key, step.runs))
        else:
            found[_key(step.run)] += 1
    waiting = Counter(_key(each.run) for each in store.waiting_runs())
    for key, count in planned.items():
        missing = max(count - found[key], 0)
        tally.agree(count - missing)
        still = min(missing, waiting[key])
        if still:
            tally.leave(f"A planned run of the method “{key[0]}” has not been started yet.", still)
        if missing > still:
            tally.differ(
                f"A run of the method “{key[0]}” was planned and is missing, and the audit log "
                "does not say why.",
                missing - still,
            )


def _key(run: RunSpec) -> _Key:
    """Return what a run is recognised by: its limits are set when it begins."""
    return run.method, run.seed, run.text


def recorded_agreement(entry: LogEntry) -> Agreement | None:
    """Return how often the model matches the outcome, where an entry records that."""
    if entry.kind != "begun":
        return None
    try:
        return msgspec.json.decode(entry.facts, type=Agreement)
    except msgspec.MsgspecError:
        return None


def recorded_note(entry: LogEntry) -> str:
    """Return what was noticed when data and model were opened, where an entry records that."""
    if entry.kind != "begun":
        return ""
    try:
        return msgspec.json.decode(entry.facts, type=Noted).note
    except msgspec.MsgspecError:
        return ""


def check_accuracy(
    store: Store, again: Callable[[], InputCheck] | None, reason: str
) -> Check | None:
    """Compare the accuracy in the log with the runs' tables, and with the model; ``None``: none.

    Parameters
    ----------
    again : callable, optional
        Queries the model about the rows again; without it, for a ``reason``, only tables are
        looked at.
    """
    tally, found = Tally(ACCURACY), map(recorded_agreement, store.log_entries()[1:])
    if (recorded := next(filter(None, found), None)) is None:
        return None
    _compare_with_tables(tally, recorded, store)
    if again is None:
        tally.leave(reason)
    else:
        proof = again()
        now = Agreement(proof.rows, proof.accuracy, proof.majority)
        same = all(
            abs(first - second) <= _EXACT
            for first, second in zip(
                msgspec.structs.astuple(recorded), msgspec.structs.astuple(now), strict=True
            )
        )
        tally.compare(
            same,
            f"The audit log records {recorded.accuracy:.2%} of {recorded.rows:,} rows; it is "
            f"{now.accuracy:.2%} of {now.rows:,}, recalculated.",
        )
    return tally.check()


def _compare_with_tables(tally: Tally, recorded: Agreement, store: Store) -> None:
    """Compare an accuracy with that of the runs' tables of the same rows."""
    for run in store.runs():
        for table in run.figures:
            if not isinstance(table, GroupTable) or table.of != "decisions":
                continue
            lines = [line for line in table.lines if line.positives is not None]
            labelled = sum((line.positives or 0) + (line.negatives or 0) for line in lines)
            right = sum(
                (line.true_positives or 0) + (line.negatives or 0) - (line.false_positives or 0)
                for line in lines
            )
            if labelled == recorded.rows:
                tally.compare(
                    abs(right / labelled - recorded.accuracy) <= _EXACT,
                    f"The audit log records an accuracy of {recorded.accuracy:.2%}; the tables of "
                    f"run {run.id} give {right / labelled:.2%} of the same number of rows.",
                )


SOUND = "The file is an intact database"
CHAIN = "The hash chain of the audit log is complete"
ANCHOR = "The audit log is the one from which the manifest was made"
QUESTION = "Audit plan and table are those with which the audit log begins"
RUNS = "Runs: the results of each match the audit log’s entry at its end"
DECISIONS = (
    "Review statuses, notes, the report’s auditor-supplied information and its form match the "
    "audit log"
)
LEARNED = "Later analyses of pairs match the audit log"
TOTALS = "The totals of each run match its findings"

#: What the log tells of a run's end, and what that is.
_PARTS = {
    "record": "its plan, state, times, totals or figures differ",
    "findings": "its findings differ",
    "progress": "its progress differs",
    "certificate": "its proof certificate differs",
    "made": "its augmentation rows or model files differ",
}


class Anchor(msgspec.Struct, frozen=True):
    """What somebody was given of a log before: how many entries it had, and the last one's link.

    ``name`` is that of the file that says so, ``audit`` the id of the audit that it speaks of.
    """

    entries: int
    head: str
    name: str
    audit: str = ""


def check_record(store: Store, anchor: Anchor | None) -> Iterator[Check]:
    """Hold an audit file against itself, and its log against a manifest.

    Yields
    ------
    Check
        One after the other; what the file holds is compared with what its log says only where
        that can be read.
    """
    sound = Tally(SOUND)
    wrong = store.sound()
    for each in wrong:
        sound.differ(each)
    if not wrong:
        sound.agree()
    yield sound.check()
    try:
        entries = store.log_entries()
    except StoreError as error:
        yield Check(CHAIN, 1, 1, 0, (f"The audit log cannot be read: {error}",))
        return
    yield _chain(entries)
    if anchor is not None:
        yield _anchored(entries, anchor)
    try:
        logged = replayed(entries)
    except StoreError as error:
        yield Check(RUNS, 1, 1, 0, (str(error),))
        return
    pairs = _Pairs.of(store)
    for name, compare in (
        (QUESTION, _question),
        (RUNS, _runs),
        (TOTALS, _totals),
        (LEARNED, _learned),
        (DECISIONS, _decisions),
        (SENTENCES, lambda tally, *_: compare_sentences(tally, store)),
        (PLANNED, lambda tally, *_: compare_plan(tally, store)),
    ):
        tally = Tally(name)
        try:
            compare(tally, store, logged, pairs)
        except (StoreError, msgspec.MsgspecError) as error:
            tally.differ(str(error))
        yield tally.check()


def _chain(entries: Sequence[LogEntry]) -> Check:
    tally = Tally(CHAIN)
    place = digests.broken(entries)
    if place is None and entries:
        tally.agree(len(entries))
        tally.remark(
            f"The log has {len(entries):,} entries; its last hash is {digests.head(entries)}."
        )
        if earlier := digests.set_back(entries):
            place = earlier[0]
            tally.remark(
                f"{len(earlier):,} of them have an earlier time than the entry before; first entry "
                f"{place + 1:,}, with {entries[place].at} after {entries[place - 1].at}. The clock "
                "was set back in between: the order of the entries is that of the hash chain."
            )
    elif not entries:
        tally.differ("There is no audit log.")
    else:
        tally.agree(place or 0)
        tally.differ(
            f"Entry {(place or 0) + 1:,} is not the original one: it, or an earlier entry, was "
            "changed, removed or inserted.",
            len(entries) - (place or 0),
        )
    return tally.check()


def _anchored(entries: Sequence[LogEntry], anchor: Anchor) -> Check:
    tally = Tally(ANCHOR)
    if anchor.entries < 1:
        tally.differ(f"“{anchor.name}” refers to an audit log without entries, which no audit has.")
        return tally.check()
    if len(entries) < anchor.entries:
        tally.differ(
            f"“{anchor.name}” records {anchor.entries:,} entries, and the log has "
            f"{len(entries):,}: some were removed."
        )
        return tally.check()
    there = digests.head(entries[: anchor.entries])
    tally.compare(
        there == anchor.head,
        f"“{anchor.name}” records for entry {anchor.entries:,} the hash {anchor.head[:12]}…; the "
        f"log has {there[:12]}…: it was rewritten, up to there or from an earlier entry on.",
    )
    if since := len(entries) - anchor.entries:
        tally.remark(f"{since:,} entries were added later.")
    return tally.check()


class _Pairs(msgspec.Struct):
    """What is read of all pairs at once.

    ``trouble`` is why they could not be read; the rest is then empty.
    """

    found: dict[int, int]
    sufficient_alone: dict[int, list[int]]
    marks: dict[int, str]
    notes: dict[int, str]
    weighed: list[int]
    numbers: list[int]
    trouble: str = ""

    @classmethod
    def of(cls, store: Store) -> _Pairs:
        found: dict[int, int] = {}
        sufficient_alone: dict[int, NDArray[np.int64]] = {}
        marks, notes, weighed, numbers = {}, {}, [], []
        nobody = np.zeros(len(store.spec.domain.protected), dtype=np.int64)
        try:
            for pair in store.each_pair(PairQuery()):
                numbers.append(pair.id)
                found[pair.run] = found.get(pair.run, 0) + 1
                sufficient_alone[pair.run] = (
                    sufficient_alone.get(pair.run, nobody) + pair.sufficient_alone
                )
                if pair.mark:
                    marks[pair.id] = str(pair.mark)
                if pair.note:
                    notes[pair.id] = pair.note
                if any(getattr(pair, name) is not None for name in WEIGHED):
                    weighed.append(pair.id)
        except StoreError as error:
            return cls({}, {}, {}, {}, [], [], str(error))
        return cls(
            found,
            {run: each.tolist() for run, each in sufficient_alone.items()},
            marks,
            notes,
            weighed,
            numbers,
        )


def _question(tally: Tally, store: Store, logged: Replayed, _pairs: _Pairs) -> None:
    if logged.begun is None:
        tally.differ("The audit log does not record the start of the audit.")
        return
    now = store.fingerprints()
    for name, what in (
        ("question", "The audit plan is different"),
        ("table", "The table is different"),
        ("data", "The SHA-256 hash of the data in the audit plan is different"),
        ("model", "The SHA-256 hash of the model in the audit plan is different"),
    ):
        tally.compare(
            getattr(logged.begun, name) == getattr(now, name),
            f"{what} from that at the start of the audit.",
        )


def _runs(tally: Tally, store: Store, logged: Replayed, _pairs: _Pairs) -> None:
    runs = {run.id: run for run in store.runs()}
    for number in sorted({*logged.began, *logged.ended} - runs.keys()):
        tally.differ(f"The audit log records a run {number}, which is not in the file.")
    for number in sorted({*logged.twice}):
        tally.differ(
            f"The audit log records the start or the end of run {number} more than once: FairDesk "
            "records each only once."
        )
    for number in sorted({*store.certified_runs()} - runs.keys()):
        tally.differ(f"There is a proof certificate of run {number}, but no such run.")
    for number, run in runs.items():
        began = logged.began.get(number)
        if began is not None:
            tally.compare(
                began.spec == run.spec, f"The plan of run {number} differs from that at its start."
            )
        ended = logged.ended.get(number)
        if ended is not None:
            _ended(tally, ended, store.run_fingerprints(number))
        else:
            _open(tally, run, logged)


def _ended(tally: Tally, recorded: RunEnded, now: RunEnded) -> None:
    for part, what in _PARTS.items():
        tally.compare(
            getattr(recorded, part) == getattr(now, part),
            f"Run {recorded.run}: {what} from the audit log’s entry at its end.",
        )


def _open(tally: Tally, run: RunRecord, logged: Replayed) -> None:
    if run.id not in logged.began:
        tally.differ(f"Run {run.id} is in the file, but the audit log does not record its start.")
    elif run.state == "running":
        tally.leave(f"Run {run.id} has not ended: the audit log does not record its results.")
    else:
        tally.differ(
            f"Run {run.id} is recorded as {run.state}, but the audit log does not record its end."
        )


def _totals(tally: Tally, store: Store, _logged: Replayed, pairs: _Pairs) -> None:
    if pairs.trouble:
        tally.differ(f"The findings cannot be read: {pairs.trouble}")
        return
    runs = {run.id: run for run in store.runs()}
    for number in sorted({*pairs.found} - runs.keys()):
        tally.differ(
            f"{pairs.found[number]:,} findings belong to run {number}, which does not exist."
        )
    nobody = [0] * len(store.spec.domain.protected)
    for number, run in runs.items():
        alone, found = pairs.sufficient_alone.get(number, nobody), pairs.found.get(number, 0)
        tally.compare(
            (found, alone) == (run.found, [*run.sufficient_alone]),
            f"Run {number} records {run.found:,} pairs, by one attribute alone "
            f"{[*run.sufficient_alone]}; the file has {found:,}, {alone}.",
        )
        tally.compare(
            _follows(run, store.progress(number)),
            f"Run {number} records {run.tried:,} instances tested, {run.queries:,} queries and "
            f"{run.found:,} pairs, which does not follow from its course.",
        )
        tally.compare(
            _possible(run, store), f"Run {number} records figures that contradict themselves."
        )
    for what, numbers in (("Runs", sorted(runs)), ("Pairs", pairs.numbers)):
        tally.compare(
            list(numbers) == list(range(1, len(numbers) + 1)),
            f"{what} are numbered without gaps; {len(numbers):,} have the numbers up to "
            f"{max(numbers, default=0):,}: some were removed.",
        )


def _follows(run: RunRecord, course: NDArray[np.float64]) -> bool:
    """Return whether the totals of a run are those at the end of its course."""
    if not len(course):
        return not run.tried and not run.queries
    _, tried, found, queries = course[-1].tolist()
    return (tried, queries) == (run.tried, run.queries) and found <= run.found


def _possible(run: RunRecord, store: Store) -> bool:
    """Return whether figures can be such: parts within their wholes, ends in their order."""
    try:
        check_event(Measured("", run.figures), store.spec.domain, None)
    except WorkerError:
        return False
    return True


def _learned(tally: Tally, store: Store, logged: Replayed, pairs: _Pairs) -> None:
    now = store.learned_fingerprints()
    for pair, what in sorted({*now, *logged.learned}):
        tally.compare(
            now.get((pair, what)) == logged.learned.get((pair, what)),
            f"The analysis of pair {pair} (“{what}”) does not match the audit log.",
        )
    inside = np.zeros(len(pairs.weighed), dtype=np.bool_)
    numbers = np.array(pairs.weighed, dtype=np.int64)
    for place, each in enumerate(logged.weighed):
        # who is compared once more is told by the later entry
        later = logged.weighed[place + 1 :]
        if any(one.first <= each.last and each.first <= one.last for one in later):
            continue
        tally.compare(
            store.weighed_fingerprint(each.first, each.last) == each.sha256,
            f"The distances of pairs {each.first:,} to {each.last:,} to the data rows do not match "
            "the audit log.",
        )
    if logged.replaced:
        tally.remark(f"Replaced by a later entry, which counts: {', '.join(logged.replaced[:5])}.")
    for each in logged.weighed:
        inside |= (numbers >= each.first) & (numbers <= each.last)
    if strange := int((~inside).sum()):
        tally.differ(
            f"{strange:,} pairs have a distance to the data rows that is not in the audit log."
        )


def _decisions(tally: Tally, store: Store, logged: Replayed, pairs: _Pairs) -> None:
    if pairs.trouble:
        tally.differ(f"The review statuses cannot be read: {pairs.trouble}")
    else:
        for what, recorded, there in (
            ("review status", logged.marks, pairs.marks),
            ("note", logged.notes, pairs.notes),
        ):
            for pair in sorted({*recorded, *there}):
                tally.compare(
                    recorded.get(pair, "") == there.get(pair, ""),
                    f"The {what} of pair {pair} is “{there.get(pair, '')}”; the audit log has "
                    f"“{recorded.get(pair, '')}”.",
                )
    filled = details_facts(store.details())
    for name in sorted({*filled, *logged.details}):
        tally.compare(
            filled.get(name) == logged.details.get(name),
            f"“{name}” in the auditor-supplied information does not match the audit log.",
        )
    tally.compare(
        store.choice() == logged.choice, "The report’s contents or form do not match the audit log."
    )
    kept = store.manifest()
    tally.compare(
        (digests.text(kept) if kept else "") == logged.manifest,
        "The manifest in the file is not that of the last export in the audit log.",
    )
