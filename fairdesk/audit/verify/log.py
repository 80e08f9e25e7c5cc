"""The sentences of the audit log held against its facts, the audit plan and the runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

import msgspec

from fairdesk.audit.plan.decisions import decisions
from fairdesk.audit.plan.spec import RunSpec, versions
from fairdesk.audit.store.records import (
    Agreement,
    LogEntry,
    Marked,
    Noted,
    RunRecord,
    RunsPlanned,
    RunStarted,
    StepOfLearning,
    StepOfPlan,
    StepOfRun,
    Weighed,
)
from fairdesk.audit.store.schema import STARTED
from fairdesk.audit.store.store import CHOSEN, Store
from fairdesk.audit.store.stored_runs import began_sentence, ended_sentence, plan_sentence
from fairdesk.audit.verify.tally import Tally
from fairdesk.certify.proof.verify.statements import Check
from fairdesk.models.inputs.input_check import InputCheck
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

    for was, now in zip_longest(_decided(entries), _decisions(store)):
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


def _decisions(store: Store) -> Iterator[tuple[str, object]]:
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
