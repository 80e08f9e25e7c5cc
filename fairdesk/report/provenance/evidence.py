"""What proves where a report comes from: the id, its last moment, the command that repeats it."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import msgspec

from fairdesk.audit.catalogue.method import QuestionKind
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.plan.spec import Attributes, AuditSpec, Limits, RunSpec
from fairdesk.audit.store.records import PASSING, LogEntry, RunRecord
from fairdesk.audit.verify.files import base_name
from fairdesk.data.columns.kinds import written_like
from fairdesk.data.columns.rereading import number_text
from fairdesk.data.domain.attributes import Attribute, Limit, Role, attribute_of
from fairdesk.data.domain.support import CompanionValues, written
from fairdesk.data.table import Column, Dialect, Kind, Table
from fairdesk.errors import ModelError
from fairdesk.models.decisions.rule import VALUES
from fairdesk.models.inputs import mapping_file
from fairdesk.models.inputs.mapping.propose import propose
from fairdesk.results.subgroups import RuleSet
from fairdesk.wording.decisions import good_answers
from fairdesk.wording.language import moment_text, say
from fairdesk.wording.words import grouping_names

#: Libraries on which figures depend, whatever the model; and those of a model's format.
_ALWAYS_USED = ("FairDesk", "Python", "numpy", "scipy", "numba", "pyarrow")
_OF_FORMATS = {
    "keras": ("keras", "tensorflow", "h5py"),
    "tensorflow": ("keras", "tensorflow", "h5py"),
    "onnx": ("onnx",),
    "scikit-learn": ("scikit-learn", "skops", "joblib"),
    "lightgbm": ("lightgbm",),
    "catboost": ("catboost",),
    "xgboost": ("xgboost",),
}


def identity(spec: AuditSpec) -> str:
    """Return the audit's id: the same for the same question, another one for any other."""
    digits = hashlib.sha256(msgspec.json.encode(spec, order="deterministic")).hexdigest().upper()
    return f"FD-{digits[:4]}-{digits[4:8]}-{digits[8:12]}"


def moment(text: str) -> datetime:
    """Read a time as the audit writes it (ISO 8601), in UTC."""
    return datetime.fromisoformat(text).astimezone(UTC)


def clock(text: str) -> str:
    """Write a time of the audit for tables: ``2026-11-21 01:32:05``, UTC."""
    return f"{moment(text):%Y-%m-%d %H:%M:%S}"


def lasting(log: Sequence[LogEntry]) -> Sequence[LogEntry]:
    """Return the log up to its last entry that changes a report; exports do not."""
    end = len(log)
    while end and log[end - 1].kind in PASSING:
        end -= 1
    return log[:end]


def last_moment(spec: AuditSpec, log: Sequence[LogEntry]) -> datetime:
    """Return the time that a report bears: that of the last entry that changes it."""
    last = lasting(log)
    return moment(last[-1].at if last else spec.created)


def date_text(when: datetime) -> str:
    """Write a time: ``21 November 2026, 01:32 UTC``."""
    return moment_text(when)


def domain_file(spec: AuditSpec) -> str:
    """Return the JSON of ``--domain``: the constraints, and what is not simply the data's.

    Empty when all is.
    """
    bounds: Attributes = {
        attribute.name: limit
        for attribute, column in _with_columns(spec)
        if (limit := _limit(attribute, column)) != Limit()
    }
    limits = Limits(bounds, spec.domain.constraints)
    return msgspec.json.encode(limits).decode() if limits != Limits() else ""


def _limit(attribute: Attribute, column: Column) -> Limit:
    """Return what is allowed of an attribute, beside what the data hold."""
    plain = attribute_of(column, attribute.role, unknown=attribute.unknown)
    fixed = attribute.role is Role.FIXED and attribute.kind is not Kind.TEXT
    limit = Limit(role="fixed" if fixed else "varies")
    if attribute.values != plain.values:
        values = tuple(float(value) for value in attribute.values) if attribute.numeric else None
        return msgspec.structs.replace(limit, values=values or attribute.values)
    if not attribute.values and (attribute.low, attribute.high, attribute.step) != (
        plain.low,
        plain.high,
        plain.step,
    ):
        return msgspec.structs.replace(
            limit, low=attribute.low, high=attribute.high, step=attribute.step
        )
    return limit


def figures_depend_on(spec: AuditSpec, library: str) -> bool:
    """Return whether figures of an audit depend on a library."""
    of_model = spec.model.format.lower()
    names = [*_ALWAYS_USED]
    for key, libraries in _OF_FORMATS.items():
        names += libraries if key in of_model else ()
    return library.startswith(tuple(names))


def beyond_command(spec: AuditSpec, run: RunSpec) -> tuple[str, ...]:
    """Say what the command line cannot repeat of a run: a sentence each."""
    said = []
    every = [
        attribute.name
        for attribute, column in _with_columns(spec)
        if attribute.role is Role.PROTECTED and attribute.compared != _compared(attribute, column)
    ]
    if every:
        names = ", ".join(every)
        said.append(say("Values other than the default were tested for: {names}.", names=names))
    if _repairs(run):
        said.append(
            "A mitigation is run on the audit file itself, named audit.fairdesk here: it "
            "works with what is stored in it."
        )
    timed = run.budget.seconds is not None and "seconds" not in run.options
    if timed or run.budget.queries is not None:
        said.append(
            "A limit that a command does not name is not part of it: the run then continues "
            "until it is complete."
        )
    return tuple(said)


def _companions(spec: AuditSpec) -> Iterator[str]:
    """Write which attributes change with a protected one, as it was decided.

    Nothing where that is what the data show: the rest was left open.
    """
    support = spec.domain.support
    if companions_file(spec):
        yield "--companions companions.json"
    elif any(each.certain for each in support.proposed):
        yield "--companions ask"
    elif support.refused:
        yield "--companions none"


def companions_file(spec: AuditSpec) -> str:
    """Return the JSON of ``--companions``; empty where the command reads no such file."""
    domain, support = spec.domain, spec.domain.support
    if not (support.companions or support.proposed) or any(
        each.certain for each in support.proposed
    ):
        return ""
    made = {each.attribute: written(each, domain.attributes) for each in support.companions}
    made |= {name: CompanionValues(by, {}) for name, by in support.refused}
    if not made:
        return ""
    return msgspec.json.encode(made).decode()


def map_file(spec: AuditSpec, table: Table) -> str:
    """Return the JSON of ``--map``: how the model is fed. Empty when that is as it is proposed."""
    if spec.predictions:
        return ""
    good, threshold = good_answers(spec.model, spec.mapping), _threshold(spec)
    proposed = propose(
        spec.model, table, spec.label, spec.favourable, " or ".join(good), threshold=threshold
    )
    try:
        if proposed.mapping() == spec.mapping:
            return ""
    except ModelError:
        pass  # something was left open, and the auditor has filled it
    return msgspec.json.encode(mapping_file.written(spec.mapping, spec.model)).decode()


def _threshold(spec: AuditSpec) -> float | None:
    """Return the score at which the decision changes; an estimated number's answer says it."""
    return None if spec.model.scores == VALUES else spec.mapping.threshold


def command(spec: AuditSpec, run: RunSpec | None, *, mapped: bool = False) -> str:
    """Write the command line that asks the same question again.

    Parameters
    ----------
    run : RunSpec, optional
        The search; none where nothing was run.
    mapped : bool
        Whether `map_file` has something to say.
    """
    model = spec.model
    limit = _threshold(spec)
    trusted = spec.trusted or any(beside.trusted for beside in model.companions)
    parts = [
        "fairdesk audit",
        _flag("data", base_name(spec.data.path)),
        *([_flag("table", spec.data.dialect.table)] if spec.data.dialect.table else []),
        _flag("predictions", spec.predictions)
        if spec.predictions
        else _flag("model", base_name(model.path)),
        *_reading(spec.data.dialect),
        *(_flag("companion", base_name(beside.path)) for beside in model.companions),
        *([_flag("output", model.output)] if model.outputs else []),
        _flag("label", spec.label),
        _flag("favourable", spec.favourable),
        *(
            _flag("model-favourable", answer)
            for answer in good_answers(spec.model, spec.mapping)
            if not spec.predictions or answer != spec.favourable
        ),
        *([_flag("threshold", f"{limit!r}")] if limit is not None else []),
        *(["--map mapping.json"] if mapped else []),
        *(["--accept-guesses"] if spec.mapping.guessed else []),
        *(_flag("protected", name) for name in grouping_names(spec.domain)),
        *(["--domain domain.json"] if domain_file(spec) else []),
        *_companions(spec),
        *(_flag("text-column", name) for name in _texts(spec, run)),
        *(_searching(run) if run is not None else []),
        "--out repeated",
        *(["--trust-model"] if trusted else []),
        *(["--make-environment"] if model.environment else []),
    ]
    return " \\\n  ".join(parts)


def _reading(dialect: Dialect) -> Iterator[str]:
    """Write what was decided of how columns are read."""
    for name, reading in dialect.columns.items():
        if reading.by_model:
            continue
        if reading.missing is not None:
            yield _flag("text", name)
        elif reading.numeric is False:
            yield _flag("categorical", name)
        elif reading.format is not None:
            yield _flag("numeric", f"{name}={written_like(reading.format)}")
        elif reading.numeric:
            yield _flag("numeric", name)
        if reading.odd:
            yield _flag("odd-cells", f"{name}={reading.odd}")
        for text, value in reading.cells.items():
            shown = "missing" if value is None else number_text(value)
            yield _flag("mend", f"{name}:{text}={shown}")
    if dialect.encoding_mended:
        yield "--mend-encoding"
    for at in sorted(set(dialect.ages.values())):
        yield _flag("age-at", at)


def _searching(run: RunSpec) -> list[str]:
    return [
        f"--method {run.method}",
        *(f"--option {name}={value}" for name, value in sorted(run.options.items())),
        *(
            _flag("bins", f"{name}={','.join(repr(edge) for edge in edges)}")
            for name, edges in run.edges.items()
        ),
        *([f"--terms {terms_name(run)}"] if run.terms else []),
        f"--seed {run.seed}",
    ]


def repair_command(spec: AuditSpec, run: RunSpec, runs: Sequence[RunRecord]) -> str:
    """Write the command line that repairs the audit's model in the same way again."""
    rule = _rule_number(run, runs)
    trusted = spec.trusted or any(beside.trusted for beside in spec.model.companions)
    parts = [
        "fairdesk repair audit.fairdesk",
        f"--method {run.method.removeprefix('repair-')}",
        *(f"--option {name}={value}" for name, value in sorted(run.options.items())),
        *(f"--pairs-of {number}" for number in run.pairs_of),
        *(["--flagged"] if run.flagged else []),
        *([f"--rule {rule}"] if rule else []),
        f"--seed {run.seed}",
        "--out repaired",
        *(["--trust-model"] if trusted else []),
    ]
    return " \\\n  ".join(parts)


def _rule_number(run: RunSpec, runs: Sequence[RunRecord]) -> int:
    """Return the number of a repair's rule set in the last search that found any; 0 for none."""
    found = [[each for each in record.figures if isinstance(each, RuleSet)] for record in runs]
    sets = next(filter(None, reversed(found)), [])
    same = ((each.conditions, each.outcome) == (run.rule, run.outcome) for each in sets)
    return next((number for number, alike in enumerate(same, start=1) if alike), 0)


def _repairs(run: RunSpec) -> bool:
    return METHODS[run.method].answers is QuestionKind.REPAIR


def _texts(spec: AuditSpec, run: RunSpec | None) -> list[str]:
    """Name the column of texts; to a method that reads only where it compared terms in it."""
    texts = [spec.domain.names[i] for i in spec.domain.texts.tolist()]
    if run is not None and METHODS[run.method].reads:
        texts = [run.text] if run.text else []
    return texts[:1]


def terms_name(run: RunSpec) -> str:
    """Name the file of a run's terms: the same for the same terms."""
    digits = hashlib.sha256(terms_file(run).encode()).hexdigest()[:8]
    return f"terms-{digits}.json"


def terms_file(run: RunSpec) -> str:
    """Return the JSON of ``--terms``; empty where they are those of the paper."""
    return msgspec.json.encode(run.terms).decode() if run.terms else ""


def _flag(name: str, text: str) -> str:
    # what begins with a dash would be taken for a flag itself
    between = "=" if text.startswith("-") else " "
    return f"--{name}{between}{shlex.quote(text)}"


def commands(spec: AuditSpec, runs: Sequence[RunRecord], *, mapped: bool) -> list[str]:
    """Write the command line of each run; of decisions alone at least one that makes the audit."""
    if spec.predictions and not runs:
        return [command(spec, None, mapped=mapped)]
    return [
        repair_command(spec, run.spec, runs)
        if _repairs(run.spec)
        else command(spec, run.spec, mapped=mapped)
        for run in runs
    ]


def _with_columns(spec: AuditSpec) -> list[tuple[Attribute, Column]]:
    columns = {column.name: column for column in spec.columns}
    return [(attribute, columns[attribute.name]) for attribute in spec.domain.attributes]


def _compared(attribute: Attribute, column: Column) -> tuple[float, ...]:
    """Return the values that would be compared by default within the attribute's limits."""
    limit = msgspec.structs.replace(_limit(attribute, column), role="varies")
    return attribute_of(column, Role.PROTECTED, limit, unknown=attribute.unknown).compared
