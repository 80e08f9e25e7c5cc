"""An audit file held against itself: its log is a chain, and tells the fingerprint of the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.store import digests, hash_chain
from fairdesk.audit.store.digests import Replayed, details_facts, replayed
from fairdesk.audit.store.records import LogEntry, PairQuery, RunEnded, RunRecord
from fairdesk.audit.store.store import Store
from fairdesk.audit.verify.tally import Tally
from fairdesk.certify.proof.verify import Check
from fairdesk.errors import StoreError

SOUND = "The file is a sound database"
CHAIN = "The log’s chain is whole"
ANCHOR = "The log is the one that the manifest was made of"
QUESTION = "Question and table are those with which the log begins"
RUNS = "Runs: what came of each is what the log tells of its end"
DECISIONS = "Marks, notes, the report’s details and its form are those that the log tells"
LEARNED = "What was learned of pairs since is what the log tells"
TOTALS = "The totals of each run are those of its findings"

#: What the log tells of a run's end, and what that is.
_PARTS = {
    "record": "what was asked, its state, times, totals or figures differ",
    "findings": "its findings differ",
    "progress": "its course differs",
    "certificate": "its certificate differs",
    "made": "what it made differs",
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

    Parameters
    ----------
    store : Store
        The audit, opened to be read.
    anchor : Anchor, optional
        From a manifest.

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
        yield Check(CHAIN, 1, 1, 0, (f"The log cannot be read: {error}",))
        return
    yield _chain(entries, anchored=anchor is not None)
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
    ):
        tally = Tally(name)
        try:
            compare(tally, store, logged, pairs)
        except StoreError as error:
            tally.differ(str(error))
        yield tally.check()


def _chain(entries: Sequence[LogEntry], *, anchored: bool) -> Check:
    tally = Tally(CHAIN)
    place = hash_chain.broken(entries)
    if place is None and entries:
        tally.agree(len(entries))
        tally.remark(f"It has {len(entries):,} entries; its head is {hash_chain.head(entries)}.")
        if earlier := hash_chain.set_back(entries):
            place = earlier[0]
            tally.remark(
                f"{len(earlier):,} of them have an earlier time than the entry before; first entry "
                f"{place + 1:,}, with {entries[place].at} after {entries[place - 1].at}. The clock "
                "was set back in between: the order of the entries is that of the chain."
            )
    elif not entries:
        tally.differ("There is no log.")
    else:
        tally.agree(place or 0)
        tally.differ(
            f"Entry {(place or 0) + 1:,} is not the one that was written there: it, or one before "
            "it, was changed, removed or put in.",
            len(entries) - (place or 0),
        )
    if not anchored:
        tally.remark(
            "The chain alone cannot show that it was written anew as a whole: a manifest or a "
            "report of before, given with it, does."
        )
    return tally.check()


def _anchored(entries: Sequence[LogEntry], anchor: Anchor) -> Check:
    tally = Tally(ANCHOR)
    if anchor.entries < 1:
        tally.differ(f"“{anchor.name}” tells of a log without entries: no audit has one.")
        return tally.check()
    if len(entries) < anchor.entries:
        tally.differ(
            f"“{anchor.name}” tells of {anchor.entries:,} entries, and the log has "
            f"{len(entries):,}: some were removed."
        )
        return tally.check()
    there = hash_chain.head(entries[: anchor.entries])
    tally.compare(
        there == anchor.head,
        f"“{anchor.name}” tells of entry {anchor.entries:,} the link {anchor.head[:12]}…; the log "
        f"has {there[:12]}…: it was written anew, up to there or from before there on.",
    )
    if since := len(entries) - anchor.entries:
        tally.remark(f"{since:,} entries were added since.")
    return tally.check()


class _Pairs(msgspec.Struct):
    """What is read of all pairs at once.

    ``trouble`` is why they could not be read; the rest is then empty.
    """

    found: dict[int, int]
    alone: dict[int, list[int]]
    marks: dict[int, str]
    notes: dict[int, str]
    weighed: list[int]
    trouble: str = ""

    @classmethod
    def of(cls, store: Store) -> _Pairs:
        found: dict[int, int] = {}
        alone: dict[int, NDArray[np.int64]] = {}
        marks, notes, weighed = {}, {}, []
        nobody = np.zeros(len(store.spec.domain.protected), dtype=np.int64)
        try:
            for pair in store.each_pair(PairQuery()):
                found[pair.run] = found.get(pair.run, 0) + 1
                alone[pair.run] = alone.get(pair.run, nobody) + pair.alone
                if pair.mark:
                    marks[pair.id] = str(pair.mark)
                if pair.note:
                    notes[pair.id] = pair.note
                if not pair.distance is pair.plausibility is pair.nearest is None:
                    weighed.append(pair.id)
        except StoreError as error:
            return cls({}, {}, {}, {}, [], str(error))
        return cls(
            found, {run: each.tolist() for run, each in alone.items()}, marks, notes, weighed
        )


def _question(tally: Tally, store: Store, logged: Replayed, _pairs: _Pairs) -> None:
    if logged.begun is None:
        tally.differ("The log does not tell with what the audit began.")
        return
    now = store.fingerprints()
    for name, what in (
        ("question", "The question is another one"),
        ("table", "The table is another one"),
        ("data", "The data’s fingerprint in the question is another one"),
        ("model", "The model’s fingerprint in the question is another one"),
    ):
        tally.compare(
            getattr(logged.begun, name) == getattr(now, name), f"{what} than when the audit began."
        )


def _runs(tally: Tally, store: Store, logged: Replayed, _pairs: _Pairs) -> None:
    runs = {run.id: run for run in store.runs()}
    for number in sorted({*logged.began, *logged.ended} - runs.keys()):
        tally.differ(f"The log tells of run {number}, and the file has none.")
    for number in sorted({*logged.twice}):
        tally.differ(
            f"The log tells more than once how run {number} began, or how it ended: who writes it "
            "tells that once."
        )
    for number in sorted({*store.certified_runs()} - runs.keys()):
        tally.differ(f"There is a certificate of run {number}, and no such run.")
    for number, run in runs.items():
        began = logged.began.get(number)
        if began is not None:
            tally.compare(
                began.spec == run.spec, f"Run {number} was asked otherwise when it began."
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
            f"Run {recorded.run}: {what} from what the log tells of its end.",
        )


def _open(tally: Tally, run: RunRecord, logged: Replayed) -> None:
    if run.id not in logged.began:
        tally.differ(f"Run {run.id} is there, and the log does not tell that it began.")
    elif run.state == "running":
        tally.leave(f"Run {run.id} has not ended: the log tells nothing of what it found.")
    else:
        tally.differ(
            f"Run {run.id} is told as {run.state}, and the log does not tell that it ended."
        )


def _totals(tally: Tally, store: Store, _logged: Replayed, pairs: _Pairs) -> None:
    if pairs.trouble:
        tally.differ(f"The findings cannot be read: {pairs.trouble}")
        return
    runs = {run.id: run for run in store.runs()}
    for number in sorted({*pairs.found} - runs.keys()):
        tally.differ(f"{pairs.found[number]:,} findings are of run {number}, which there is not.")
    nobody = [0] * len(store.spec.domain.protected)
    for number, run in runs.items():
        found, alone = pairs.found.get(number, 0), pairs.alone.get(number, nobody)
        tally.compare(
            (found, alone) == (run.found, [*run.alone]),
            f"Run {number} is told to have found {run.found:,} pairs, by one attribute alone "
            f"{[*run.alone]}; it has {found:,}, {alone}.",
        )


def _learned(tally: Tally, store: Store, logged: Replayed, pairs: _Pairs) -> None:
    now = store.learned_fingerprints()
    for pair, what in sorted({*now, *logged.learned}):
        tally.compare(
            now.get((pair, what)) == logged.learned.get((pair, what)),
            f"What is known of pair {pair} (“{what}”) is not what the log tells.",
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
            f"The distances of pairs {each.first:,} to {each.last:,} from real people are not "
            "those that the log tells.",
        )
    if logged.replaced:
        tally.remark(
            f"Told otherwise by a later entry, which counts: {', '.join(logged.replaced[:5])}."
        )
    for each in logged.weighed:
        inside |= (numbers >= each.first) & (numbers <= each.last)
    if strange := int((~inside).sum()):
        tally.differ(
            f"{strange:,} pairs have a distance from real people of which the log tells nothing."
        )


def _decisions(tally: Tally, store: Store, logged: Replayed, pairs: _Pairs) -> None:
    if pairs.trouble:
        tally.differ(f"The marks cannot be read: {pairs.trouble}")
    else:
        for what, recorded, there in (
            ("mark", logged.marks, pairs.marks),
            ("note", logged.notes, pairs.notes),
        ):
            for pair in sorted({*recorded, *there}):
                tally.compare(
                    recorded.get(pair, "") == there.get(pair, ""),
                    f"The {what} of pair {pair} is “{there.get(pair, '')}”; the log tells "
                    f"“{recorded.get(pair, '')}”.",
                )
    filled = details_facts(store.details())
    for name in sorted({*filled, *logged.details}):
        tally.compare(
            filled.get(name) == logged.details.get(name),
            f"“{name}” among the report’s details is not what the log tells.",
        )
    tally.compare(
        store.choice() == logged.choice, "The report’s contents or form are not what the log tells."
    )
    kept = store.manifest()
    tally.compare(
        (digests.text(kept) if kept else "") == logged.manifest,
        "The manifest that the file keeps is not the one of the last export that the log tells of.",
    )
