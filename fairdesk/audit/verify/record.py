"""An audit file held against itself: its log is a chain, and tells the fingerprint of the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.store import digests
from fairdesk.audit.store.digests import Replayed, details_facts, replayed
from fairdesk.audit.store.pair import WEIGHED
from fairdesk.audit.store.records import LogEntry, PairQuery, RunEnded, RunRecord
from fairdesk.audit.store.store import Store
from fairdesk.audit.verify.log import PLANNED, SENTENCES, compare_plan, compare_sentences
from fairdesk.audit.verify.tally import Tally
from fairdesk.audit.worker.answer_checks import check_event
from fairdesk.certify.proof.verify.statements import Check
from fairdesk.errors import StoreError, WorkerError
from fairdesk.results.events import Measured

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
