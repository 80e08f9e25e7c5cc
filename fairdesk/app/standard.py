"""The standard audit: the runs that answer all five questions, and the time that each gets."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum
from math import floor
from time import monotonic

import msgspec

from fairdesk.audit.catalogue.method import ABOUT_GROUPS, NOT_BEGUN, QuestionKind
from fairdesk.audit.catalogue.methods import method_named, why_off
from fairdesk.audit.plan.spec import AuditSpec, OptionValue, RunSpec
from fairdesk.audit.runs.mitigation import check_labels
from fairdesk.data.table import Table
from fairdesk.errors import SpecError
from fairdesk.models.model import Capability, ModelCard

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
#: What is kept for the files and the report: a part, and before that so many seconds of the whole
#: time limit, or this share where that is less.
_REPORT = 1.0
_FILES_SECONDS, _FILES_SHARE = 2.5, 0.2


class TimeLeft:
    """How much of an audit's time methods have left.

    The time is the auditor's: the start of the program, opening data and model, files and report
    are a part of it. Only what is compiled, or loaded for a method, takes none of it.

    Parameters
    ----------
    limit : float, optional
        The whole audit's, in seconds.
    began : float, optional
        When the auditor asked for it, by `time.monotonic`; now when left out.
    """

    def __init__(self, limit: float | None, began: float | None = None) -> None:
        self._limit = limit and limit - min(_FILES_SECONDS, _FILES_SHARE * limit)
        self._phase, self._noted = "", monotonic()
        self._began = self._noted if began is None else began

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


class PlanKind(StrEnum):
    """Which runs an audit has."""

    QUICK = "quick"
    """Groups, the share of people and pairs, in a minute."""
    FULL = "full"
    """Everything that the model allows, in ten minutes at most."""
    CUSTOM = "custom"
    """What the auditor chose."""


#: What makes a model certifiable.
_STRUCTURES = {Capability.LAYERS, Capability.TREES}
#: How long an audit may take, in seconds.
LIMITS = {PlanKind.QUICK: 60.0, PlanKind.FULL: 600.0}
#: How narrow an interval is at which an estimate ends.
_MARGINS = {PlanKind.QUICK: 0.01, PlanKind.FULL: 0.005}
#: Certification ends when the last third of its time decided less than this share of the population
#: (of the domain where no population is known).
_GAIN = 0.025


class StandardPlan(msgspec.Struct, frozen=True):
    """A standard audit, as somebody asks for it.

    Attributes
    ----------
    kind : PlanKind
        `PlanKind.QUICK` or `PlanKind.FULL`.
    seconds : float, optional
        The time limit of the whole audit; by default as `LIMITS` has it.
    seed : int
        Of all randomness.
    mitigate : bool
        Whether the model is retrained with what is found.
    edges, terms
        As of `RunSpec`, for the runs that take them.
    options : dict[str, dict[str, OptionValue]]
        Per method the parameters that are otherwise than in every standard audit.
    """

    kind: PlanKind = PlanKind.FULL
    seconds: float | None = None
    seed: int = 0
    mitigate: bool = False
    edges: dict[str, tuple[float, ...]] = msgspec.field(default_factory=dict)
    terms: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    options: dict[str, dict[str, OptionValue]] = msgspec.field(default_factory=dict)

    @property
    def limit(self) -> float:
        """The time limit in seconds."""
        return LIMITS[self.kind] if self.seconds is None else self.seconds


class StandardRuns(msgspec.Struct, frozen=True):
    """The runs of a standard audit.

    Attributes
    ----------
    runs : tuple[RunSpec, ...]
        In their order, each with the time that it has if none ends early
        (`fairdesk.app.standard.with_time` sets it anew when it begins).
    left_out : dict[str, str]
        By the key of its method, why something is not done: a sentence.
    """

    runs: tuple[RunSpec, ...]
    left_out: dict[str, str]


def standard_runs(plan: StandardPlan, spec: AuditSpec, table: Table) -> StandardRuns:
    """Return the runs of a standard audit: what the model and the domain allow of them.

    Parameters
    ----------
    table : Table
        Its data; only looked at for a mitigation.
    """
    left_out: dict[str, str] = {}
    runs: list[RunSpec] = []

    def take(run: RunSpec) -> None:
        if why := _why_left_out(run, spec, table):
            left_out[run.method] = why
        else:
            runs.append(_completed(run, plan))

    for run in _quick(spec) if plan.kind is PlanKind.QUICK else _full(spec):
        take(run)
    if plan.mitigate:
        take(RunSpec(mitigation_method(run.method for run in runs) or "repair-aequitas"))
    if "certify" in left_out:
        # what keeps the one from being done keeps the other, and is said once
        left_out.pop("neighbourhoods", None)
    return StandardRuns(planned(runs, plan.limit), left_out)


def _completed(run: RunSpec, plan: StandardPlan) -> RunSpec:
    """Return a run with the seed, and with what else the auditor gave for it."""
    options = {**run.options, **plan.options.get(run.method, {})}
    run = msgspec.structs.replace(run, seed=plan.seed, options=options)
    if run.text:
        return msgspec.structs.replace(run, terms=plan.terms)
    if method_named(run.method).divides:
        return msgspec.structs.replace(run, edges=plan.edges)
    return run


def _quick(spec: AuditSpec) -> list[RunSpec]:
    wanted = [RunSpec("groups"), _share(spec.model, PlanKind.QUICK), _pairs(spec.model)]
    # in texts there is nothing else to compare
    return wanted if spec.domain.grouping else [*wanted, *_subgroups(spec)]


def _full(spec: AuditSpec) -> list[RunSpec]:
    return [
        RunSpec("groups"),
        _share(spec.model, PlanKind.FULL),
        _pairs(spec.model),
        *_subgroups(spec),
        # of individuals before combinations; it takes a moment, and others find the pairs
        RunSpec("neighbourhoods", {"keep": 0}),
        RunSpec("certify", {"gain": _GAIN}),
    ]


def _share(card: ModelCard, kind: PlanKind) -> RunSpec:
    """Return what estimates the share of people: with repeated queries where outputs are random."""
    if card.repeatability is not None and not card.repeatability.holds:
        return RunSpec("repeats")
    return RunSpec("estimate", {"margin": _MARGINS[kind]})


def _pairs(card: ModelCard) -> RunSpec:
    """Return the search for plausible pairs that suits a model.

    A gradient leads MAFT where scores change smoothly. The scores of trees, and mere decisions,
    are flat nearly everywhere: there the mix adds a search that needs no gradient.
    """
    smooth = Capability.SCORES in card.can and Capability.TREES not in card.can
    return RunSpec("maft" if smooth else "quick", plausible=True)


def _subgroups(spec: AuditSpec) -> list[RunSpec]:
    """Return the searches for subgroups: of people, and of texts that the model reads."""
    texts = [spec.domain.names[place] for place in spec.domain.texts.tolist()]
    about_texts = [RunSpec("testsgd", text=text) for text in texts]
    return [RunSpec("testsgd"), *about_texts] if spec.domain.grouping else about_texts


def mitigation_method(methods: Iterable[str]) -> str:
    """Return the method that retrains the model with what others find; empty where none does."""
    found = list(methods)
    if any(method_named(method).answers is QuestionKind.EXAMPLES for method in found):
        return "repair-aequitas"
    return "repair-testsgd" if "testsgd" in found else ""


def _why_left_out(run: RunSpec, spec: AuditSpec, table: Table) -> str:
    """Say in sentences why a run cannot be made; empty where it can."""
    method = method_named(run.method)
    if why := why_off(method, spec.model, spec.domain, text=bool(run.text)):
        return why
    if method.answers is QuestionKind.PROOF and _STRUCTURES.isdisjoint(spec.model.can):
        return (
            f"“{method.title}” is not available: the internal structure of the model is not "
            "available, so nothing can be proven about it."
        )
    if method.answers is QuestionKind.REPAIR:
        try:
            check_labels(spec, table)
        except SpecError as error:
            return str(error)
    return ""
