"""How an audit's time limit is divided among its runs, and how a run is told its part."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import floor
from time import monotonic

import msgspec

from fairdesk.audit.catalogue.method import ABOUT_GROUPS, QuestionKind
from fairdesk.audit.catalogue.methods import method_named
from fairdesk.audit.catalogue.stages import NOT_BEGUN
from fairdesk.audit.plan.spec import RunSpec

#: The parameter by which a method knows how long it may take; 0 is until it is done.
SECONDS = "seconds"
#: Why a run was not started.
OUT_OF_TIME = "the time limit of the audit was used up."
#: A run is not begun with less time than this, in seconds.
LEAST_SECONDS = 0.1
#: How much of the time a run gets, by what its method answers, as a part of all that are left.
_WEIGHTS = {
    # takes a moment and leaves the rest; but cut short it has nothing to tell
    QuestionKind.RATES: 4.0,
    QuestionKind.SHARE: 3.0,
    QuestionKind.EXAMPLES: 4.0,
    QuestionKind.GROUPS: 4.0,
    QuestionKind.PROOF: 6.0,
    QuestionKind.REPAIR: 6.0,
    QuestionKind.DIAGNOSIS: 2.0,
}
#: The same of a method that takes seconds where others that answer the same take minutes.
_OWN_WEIGHTS = {"neighbourhoods": 1.0}
#: A search for pairs ends once it has found no new one for so much of its time.
_IDLE = 1 / 3
#: What is kept for the files and the report.
_REPORT = 1.0


class TimeLeft:
    """How much of an audit's time is left: what comes before a method can begin takes none of it.

    Parameters
    ----------
    limit : float, optional
        The whole audit's, in seconds, from now on: the first method can begin.
    """

    def __init__(self, limit: float | None) -> None:
        self._limit, self._began, self._phase = limit, monotonic(), ""
        self._noted = self._began

    def note(self, phase: str) -> None:
        """Note what the audit is doing now."""
        now = monotonic()
        if NOT_BEGUN & {self._phase, phase}:
            self._began += now - self._noted
        self._phase, self._noted = phase, now

    @property
    def seconds(self) -> float | None:
        """The seconds left; ``None`` without a limit."""
        return None if self._limit is None else self._limit - (monotonic() - self._began)


def takes_distance(method: str) -> bool:
    """Return whether a method can be kept to people near real ones."""
    return method_named(method).answers not in (QuestionKind.PROOF, *ABOUT_GROUPS)


def timed_run(run: RunSpec) -> RunSpec:
    """Let a method that keeps time itself know the run's limit; others are left as they are.

    One that proves speaks of everybody, and one about groups invents hardly anybody, so that no
    distance to real people limits them.
    """
    method = method_named(run.method)
    if SECONDS in method.options.__struct_fields__:
        options = {**run.options, SECONDS: run.budget.seconds or 0.0}
        run = msgspec.structs.replace(run, options=options)
    if not takes_distance(run.method):
        run = msgspec.structs.replace(run, max_distance=None)
    return msgspec.structs.replace(run, plausible=run.plausible and method.seeks)


def with_time(run: RunSpec, left_runs: Collection[RunSpec], seconds_left: float | None) -> RunSpec:
    """Return a run with its part of the time that is left: called when it is about to begin.

    A run that ended early leaves its rest to all later ones, since only what is left counts; one
    that took longer takes it from them. The parts of a run and of those after it never add up to
    more than what is left.

    Parameters
    ----------
    seconds_left : float, optional
        What is left of the audit's time limit; ``None`` where it has none: then the run has none
        either.

    Raises
    ------
    ValueError
        When no time is left. With less than `LEAST_SECONDS` left whoever runs an audit leaves the
        run out, as `OUT_OF_TIME` says.
    """
    share = idle = None
    if seconds_left is not None:
        if not seconds_left > 0:
            raise ValueError("no time is left")
        weight = _weight(run)
        share = seconds_left * weight / (weight + sum(map(_weight, left_runs)) + _REPORT)
        share = _short(share)
        if method_named(run.method).answers is QuestionKind.EXAMPLES:
            idle = _short(_IDLE * share)
    budget = msgspec.structs.replace(run.budget, seconds=share, idle=idle)
    return timed_run(msgspec.structs.replace(run, budget=budget))


def planned(runs: Sequence[RunSpec], seconds: float | None) -> tuple[RunSpec, ...]:
    """Return runs with the time that each has if none before it ends early or late."""
    timed, left = [], seconds
    for place, run in enumerate(runs):
        timed.append(with_time(run, runs[place + 1 :], left))
        if left is not None:
            left -= timed[-1].budget.seconds or 0.0
    return tuple(timed)


def _short(seconds: float) -> float:
    """Return a time with no more digits than anybody reads, and no longer."""
    return floor(10 * seconds) / 10 or seconds


def _weight(run: RunSpec) -> float:
    return _OWN_WEIGHTS.get(run.method, _WEIGHTS[method_named(run.method).answers])
