"""What a run of the queue is called, and how it stands, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from fairdesk.app.run_queue import QueuedRun, RunQueue, Stands
from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.wording import words

#: What a run is called, by what it answers.
_NAMES = {
    QuestionKind.EXAMPLES: "Pairs",
    QuestionKind.SHARE: "Estimate",
    QuestionKind.PROOF: "Certification",
    QuestionKind.DIAGNOSIS: "Diagnostic",
    QuestionKind.GROUPS: "Subgroups",
    QuestionKind.RATES: "Group metrics",
    QuestionKind.REPAIR: "Mitigation",
}
#: The sign of each way in which a run of the queue stands.
SIGNS: dict[Stands, str] = {
    "waiting": "·",
    "running": "▶",
    "done": "✓",
    "stopped": "■",
    "failed": "!",
    "dropped": "–",
}
_STANDS: dict[Stands, str] = {
    "waiting": "waiting",
    "running": "running",
    "done": "done",
    "stopped": "stopped",
    "failed": "failed",
    "dropped": "not started",
}


def names(runs: Sequence[QueuedRun]) -> dict[int, str]:
    """Return a short name for each run, by its number: its method's, where it tells more."""
    kinds = Counter(run.kind for run in runs)
    methods = {kind: {run.spec.method for run in runs if run.kind is kind} for kind in kinds}
    return {
        run.number: _short(METHODS[run.spec.method].title)
        if len(methods[run.kind]) > 1
        else _NAMES[run.kind]
        for run in runs
    }


def _short(title: str) -> str:
    """Return the abbreviation that a method's title ends with, else its title."""
    last = title.rpartition("(")[2].removesuffix(")")
    return last if title.endswith(")") and last.isalpha() and not last.islower() else title


def standing(run: QueuedRun, left: str = "", *, paused: bool = False) -> str:
    """Say how a run stands; ``left`` is what is left of its time while it runs."""
    if run.stands == "running":
        return ", ".join(filter(None, ("paused" if paused else "running", left)))
    return ": ".join(filter(None, (_STANDS[run.stands], run.why)))


def seconds_left(queue: RunQueue, elapsed: float) -> float | None:
    """Return how long the queue takes at most; ``None`` where that is not known.

    Parameters
    ----------
    elapsed : float
        Seconds of the run that is under way.
    """
    left, batches = 0.0, set()
    running = queue.running
    for run in ((running,) if running else ()) + queue.waiting:
        seconds = run.spec.budget.seconds
        if run.batch.seconds is not None:
            if run.batch in batches:
                continue
            batches.add(run.batch)
            seconds = run.batch.seconds
        if seconds is None:
            return None
        left += max(seconds - (elapsed if run is running else 0.0), 0.0)
    return left


def waiting_text(runs: Sequence[QueuedRun]) -> str:
    """List the runs that wait, in a clause: ``Certification and Mitigation``."""
    called = names(runs)
    return words.joined([called[run.number] for run in runs])
