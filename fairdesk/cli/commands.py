"""What the ``fairdesk`` command does without the window: audits, and what came of them."""

from __future__ import annotations

import argparse
import json
import logging
import logging.handlers
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import msgspec

from fairdesk.app.headless import Outcome, RepairOutcome, audit, repair, report, report_parts
from fairdesk.audit.catalogue.methods import METHODS, parse_options
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.runs.inspection import inspect
from fairdesk.audit.store.records import RunRecord, RunState
from fairdesk.audit.verify.certificate import Verified, check_certificate, is_audit
from fairdesk.audit.worker.client import Worker
from fairdesk.cli.arguments import (
    again_of,
    changes_of,
    doubt_of,
    parse,
    question_of,
    recheck_of,
    repair_of,
    report_of,
    subject_of,
)
from fairdesk.errors import (
    FairDeskError,
    ReportError,
    TrustRequiredError,
    WorkerError,
)
from fairdesk.files import log_folder
from fairdesk.report.content.choosing import Part
from fairdesk.report.document import Written
from fairdesk.report.verified import summary as verified
from fairdesk.results.events import Metric
from fairdesk.results.individual import Share
from fairdesk.results.proofs import Proven
from fairdesk.results.subgroups import RuleSearchSummary, RuleSet
from fairdesk.results.trials import repair_of as repair_result
from fairdesk.results.trials import result_of, source_of_labels, trial_of, trials_of
from fairdesk.wording import figures, inspected, words
from fairdesk.wording import mitigation as mitigation_words
from fairdesk.wording import proofs as proof_words
from fairdesk.wording.rules import rule_phrase

log = logging.getLogger(__name__)

FAILED, INTERRUPTED = 1, 130


def run(argv: Sequence[str], open_window: Callable[[str | None], int]) -> int:
    """Do what the command line says.

    Parameters
    ----------
    argv : sequence of str
        The arguments.
    open_window : callable
        Opens the window on a file, or without one; gives the exit code.

    Returns
    -------
    int
        The exit code. Wrong arguments end the process with code 2 instead.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C or SIGTERM, unless a search runs: that is then stopped, and what it found is
        written.
    """
    arguments = parse(argv)
    if arguments.command in (None, "open"):
        return open_window(getattr(arguments, "file", None))
    with _sigterm_as_ctrl_c(), _log_file() as log_file:
        try:
            return _COMMANDS.get(arguments.command, _audit)(arguments)
        except TrustRequiredError as error:
            _complain(f"{error.what} {error.why} If you trust it, add --trust-model.")
        except FairDeskError as error:
            log.warning("%s", error, exc_info=True)
            _complain(str(error))
        except Exception as error:
            log.exception("unexpected")
            _complain(
                f"Something unexpected went wrong ({type(error).__name__}: {error})."
                + (f" The log file {log_file} tells more." if log_file else "")
            )
        return FAILED


def _inspect(arguments: argparse.Namespace) -> int:
    """Open a table and a model and tell how they fit; gives the exit code."""
    with closing(Worker()) as worker, _stopped_by_signals(worker), _spinner() as say:
        found = inspect(worker, subject_of(arguments), say)
        held = worker.confinement()
    if arguments.json:
        _say(json.dumps(inspected.figures(found, held)))
    else:
        _say(inspected.summary(found, held))
    return 0


def _verify(arguments: argparse.Namespace) -> int:
    """Check an audit or a certificate again, and tell what came of it; gives the exit code."""
    if is_audit(arguments.file):
        return _verify_audit(arguments)
    doubt = doubt_of(arguments)
    with closing(Worker()) as worker, _stopped_by_signals(worker), _spinner() as say:
        found = check_certificate(worker, doubt, say)
    if arguments.json:
        _say(json.dumps(msgspec.to_builtins(_verified_figures(found))))
    else:
        _say(_verified_summary(found))
    return 0 if found.holds else FAILED


def _verify_audit(arguments: argparse.Namespace) -> int:
    """Check an audit again, and tell what came of it; gives the exit code."""
    asked, out = recheck_of(arguments), arguments.out
    if out is not None:
        verified.check_ending(out)
    with closing(Worker()) as worker, _stopped_by_signals(worker) as stopped, _spinner() as say:

        def watch(sentence: str) -> None:
            if stopped():
                raise KeyboardInterrupt
            say(sentence)

        told = verified.verify(
            worker,
            asked,
            arguments.exported,
            arguments.manifest,
            watch,
            arguments.trust_certificate,
        )
    return _tell(told, arguments, out)


def _reproduce(arguments: argparse.Namespace) -> int:
    """Run an audit again, and tell what came of it; gives the exit code."""
    with (
        closing(Worker()) as worker,
        _stopped_by_signals(worker) as stopped,
        _progress_bar() as bar,
    ):

        def watch(state: RunState) -> None:
            if stopped():
                raise KeyboardInterrupt
            bar(state)

        told = verified.run_again(worker, again_of(arguments), watch)
    return _tell(told, arguments)


def _tell(
    told: verified.VerificationReport, arguments: argparse.Namespace, out: Path | None = None
) -> int:
    """Print what came of a check, and write it; gives the exit code."""
    if out is not None:
        verified.write(told, out)
    _say(json.dumps(verified.figures(told)) if arguments.json else verified.text(told))
    return 0 if told.holds else FAILED


def _audit(arguments: argparse.Namespace) -> int:
    """Make the audit, and say what came of it; gives the exit code."""
    question = question_of(arguments)
    with (
        closing(Worker()) as worker,
        _stopped_by_signals(worker) as stopped,
        _progress_bar() as bar,
    ):
        outcome = audit(worker, question, arguments.out, bar, stopped)
    # in ASCII, so that it is JSON whatever the encoding of the output
    _say(
        json.dumps(msgspec.to_builtins(_figures(outcome))) if arguments.json else _summary(outcome)
    )
    # the first trouble tells more than what came of it; a run that is done may have a message too
    failed = [run.message for run in outcome.runs if run.state == "failed"]
    if trouble := next(iter(failed), outcome.trouble):
        _complain(trouble)
        return FAILED
    return INTERRUPTED if stopped() or any(run.state == "stopped" for run in outcome.runs) else 0


def _repair(arguments: argparse.Namespace) -> int:
    """Repair the model of an audit, and say what came of it; gives the exit code."""
    question = repair_of(arguments)
    with (
        closing(Worker()) as worker,
        _stopped_by_signals(worker) as stopped,
        _progress_bar() as bar,
    ):
        outcome = repair(worker, question, bar, stopped)
    if arguments.json:
        _say(json.dumps(msgspec.to_builtins(_repair_figures(outcome))))
    else:
        _say(_repair_summary(outcome))
    run = outcome.run
    if trouble := run.message if run.state == "failed" else outcome.trouble:
        _complain(trouble)
        return FAILED
    return INTERRUPTED if stopped() or run.state == "stopped" else 0


def _report(arguments: argparse.Namespace) -> int:
    """Write a report, and tell what was written; gives the exit code."""
    if arguments.list_parts:
        listed = report_parts(arguments.audit, changes_of(arguments))
        _say(
            json.dumps(msgspec.to_builtins(listed))
            if arguments.json
            else "\n".join(_table(_PART_HEADS, [_part_row(part) for part in listed]))
        )
        return 0
    written = report(report_of(arguments))
    _say(json.dumps(_written_figures(written)) if arguments.json else _written_summary(written))
    return 0


@contextmanager
def _stopped_by_signals(worker: Worker) -> Iterator[Callable[[], bool]]:
    """Let the first Ctrl-C or SIGTERM stop what the worker does; a second one ends the command.

    Gives what tells whether one came: between two calls there is nothing that it could stop.
    """
    stopped = False

    def stop(_signal: int, _frame: object) -> None:
        nonlocal stopped
        stopped = True
        restore()
        # from a thread of its own: this one may hold the worker's lock
        threading.Thread(target=worker.stop).start()

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: stopped
    except WorkerError as error:
        if stopped:
            raise KeyboardInterrupt from error
        raise
    finally:
        restore()


@contextmanager
def _sigterm_as_ctrl_c() -> Iterator[None]:
    """Let SIGTERM, with which other programs end a command, do what Ctrl-C does."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _spinner() -> Iterator[Callable[[str], None]]:
    """Return what shows what goes on: a line on a terminal, else nothing."""
    if not sys.stderr.isatty():
        yield lambda _sentence: None
        return
    # a tenth of a second that only a terminal needs
    from rich.console import Console  # noqa: PLC0415

    with Console(stderr=True).status("Reading the data") as status:
        yield status.update


@contextmanager
def _progress_bar() -> Iterator[Callable[[RunState], None]]:
    """Return what shows a state: a bar on a terminal, else nothing."""
    if not sys.stderr.isatty():
        yield lambda _state: None
        return
    # a tenth of a second that only a terminal needs
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TextColumn("{task.fields[standing]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("starting", total=None, standing="")

        def show(state: RunState) -> None:
            progress.update(
                task,
                description=state.phase or "starting",
                completed=state.done,
                total=state.total or None,
                standing=figures.standing(state),
            )

        yield show


def _figures(outcome: Outcome) -> dict[str, object]:
    """Return what ``--json`` prints."""
    proof = outcome.found.proof
    runs = [_run_figures(outcome, run) for run in outcome.runs]
    return {
        **(runs[0] if runs else {}),
        **({"runs": runs} if len(runs) > 1 else {}),
        "accuracy": None if proof is None else proof.accuracy,
        "auc": None if proof is None else proof.auc,
        "warnings": outcome.warnings,
        "files": outcome.files,
    }


def _run_figures(outcome: Outcome, run: RunRecord) -> dict[str, object]:
    share = figures.share_of_domain(run.figures)
    proven = proof_words.proven_of(run.figures)
    return {
        "method": run.spec.method,
        "found": run.found,
        "tried": run.tried,
        "queries": run.queries,
        "seconds": sum(each for phase, each in run.seconds.items() if phase != "preliminary"),
        "global_seconds": run.seconds.get("global", 0.0),
        "local_seconds": run.seconds.get("local", 0.0),
        "state": run.state,
        "message": run.message or outcome.trouble,
        "seed": run.spec.seed,
        "options": parse_options(run.spec.method, run.spec.options),
        "alone": dict(zip(words.protected_names(outcome.spec.domain), run.alone, strict=True)),
        "rejected": run.rejected,
        **({} if share is None else _share_figures(share)),
        **({} if proven is None else _proven_figures(proven)),
        **_rule_figures(outcome.spec, run),
        "figures": run.figures,
    }


def _share_figures(share: Share) -> dict[str, object]:
    """Return the share of the domain by the names of its fields."""
    names = ("estimate", "low", "high", "anytime_low", "anytime_high", "confidence", "exhaustive")
    return {name: getattr(share, name) for name in names}


def _proven_figures(proven: Proven) -> dict[str, object]:
    """Return what is proven of the domain by the names of its fields."""
    names = ("certified", "falsified", "undecided", "seconds", "boxes", "exact", "margin")
    counts = ("total", "certified_people", "falsified_people")
    return {name: getattr(proven, name) for name in (*names, *counts, "estimated")}


def _rule_figures(spec: AuditSpec, run: RunRecord) -> dict[str, object]:
    """Return the rule sets that a search for groups examined, the highest score first."""
    mined = [each for each in run.figures if isinstance(each, RuleSearchSummary)]
    if not mined:
        return {}
    names = ("score", "phi_in", "phi_out", "margin", "support", "low", "high", "p", "outcome")
    return {
        # every outcome has the same
        "n_rule_sets": max(each.rule_sets for each in mined),
        "rule_sets": [
            {
                "rule": rule_phrase(spec, each.conditions),
                **{name: getattr(each, name) for name in (*names, "leader")},
            }
            for each in run.figures
            if isinstance(each, RuleSet)
        ],
    }


def _repair_figures(outcome: RepairOutcome) -> dict[str, object]:
    """Return what ``repair --json`` prints."""
    run, figures = outcome.run, outcome.run.figures
    told = repair_result(figures)
    trials = trials_of(figures)
    number = outcome.exported
    if number is None and told is not None and told.chosen >= 0:
        number = told.chosen
    options = msgspec.to_builtins(parse_options(run.spec.method, run.spec.options))
    return {
        "run": run.id,
        "method": run.spec.method.removeprefix("repair-"),
        "labels": options["labels"] if told is None else source_of_labels(told),
        "seed": run.spec.seed,
        "options": options,
        "rule": rule_phrase(outcome.spec, run.spec.rule) if run.spec.rule else None,
        "chosen": None if told is None or told.chosen < 0 else told.chosen,
        "exported": outcome.exported,
        "target": None if told is None else _compared(figures, number, told.target),
        "accuracy": None if told is None else _compared(figures, number, "accuracy"),
        "pairs": 0 if told is None else told.pairs,
        "rows": 0 if told is None else told.rows,
        "retrains": None if told is None else told.retrains,
        "ended": "" if told is None else told.ended,
        "notes": () if told is None else told.notes,
        "trials": [
            {
                name: getattr(each, name)
                for name in (
                    *("number", "kind", "name", "percent", "added", "verdict", "front", "failed"),
                    *("seconds", "measures", "changes"),
                )
            }
            for each in trials
        ],
        "queries": run.queries,
        "seconds": run.elapsed,
        "files": outcome.files,
        "state": run.state,
        "message": run.message or outcome.trouble,
    }


def _compared(figures: Sequence[Metric], number: int | None, what: str) -> dict[str, object]:
    """Return a result of the model as imported, with nothing added, and of a trial."""
    imported, plain = (trial_of(figures, each) for each in (0, 1))
    trial = None if number is None else trial_of(figures, number)
    after = result_of(trial, what)
    same = None if after is None else (what, after.rows, "")
    return {
        "what": what,
        "before": result_of(imported, what),
        "nothing_added": result_of(plain, what),
        "after": after,
        "changes": [
            each
            for each in (trial.changes if trial is not None else ())
            if (each.what, each.rows, each.of) == same
        ],
    }


_PART_HEADS = ("Key", "Shown", "What")


def _part_row(part: Part) -> tuple[str, str, str]:
    shown = "always" if part.required else "yes" if part.shown else "no"
    return part.key, shown, part.title


def _written_figures(written: Written) -> dict[str, object]:
    """Return what ``report --json`` prints."""
    return {
        **msgspec.structs.asdict(written),
        "path": str(written.path),
        "beside": [str(each) for each in written.beside],
    }


def _written_summary(written: Written) -> str:
    """Say which report was written, for people."""
    pages = f", {words.counted(written.pages, 'page')}" if written.pages else ""
    lines = [f"{written.path}: {written.status}{pages}.", f"SHA-256 {written.sha256}"]
    lines += [str(each) for each in written.beside]
    if written.signed:
        lines.append(f"Signed by {written.signed}.")
    if written.status != "Final" and written.missing:
        lines.append(f"Missing before it can be final: {'; '.join(written.missing)}.")
    if written.left_out:
        lines.append(f"Left out: {'; '.join(written.left_out)}.")
    return "\n".join((*lines, *([written.redacted] if written.redacted else []), *written.remarks))


def _verified_figures(verified: Verified) -> dict[str, object]:
    """Return what ``verify --json`` prints."""
    header, checks = verified.header, verified.checks
    return {
        "holds": verified.holds,
        "tried": sum(each.tried for each in checks),
        "violations": sum(each.failed for each in checks),
        "unknown": sum(each.unknown for each in checks),
        "leaves": verified.leaves,
        "checks": checks,
        "certified": header.certified_share,
        "falsified": header.falsified_share,
        "undecided": header.undecided_share,
        "model": header.model,
    }


def _verified_summary(verified: Verified) -> str:
    """Say what came of checking a certificate, for people."""
    header = verified.header
    boxes = words.joined(
        [f"{words.number(count)} {kind}" for kind, count in verified.leaves.items() if count]
    )
    total, *counts = (
        f"{int(each):,}"
        for each in (header.total, header.certified, header.falsified, header.undecided)
    )
    said = (
        f"The certificate of “{header.model.name}” speaks of {total} people, whatever their "
        "protected values: {} certified, {} falsified, {} undecided. ".format(*counts)
        + f"Boxes: {boxes}."
    )
    lines = [said, ""]
    for each in verified.checks:
        state = "FAILED" if each.failed else "holds" if each.tried else "not tried"
        count = f"{words.number(each.failed)} of {words.number(each.tried)} contradict it"
        open_ = f", no answer for {words.number(each.unknown)}" if each.unknown else ""
        lines.append(f"{state:<10}{each.name}" + (f": {count}{open_}." if each.tried else "."))
        lines += [f"{'':<10}{told}" for told in each.told]
    lines += [
        "",
        "Nothing contradicts the certificate."
        if verified.holds
        else "The certificate does not hold.",
    ]
    return "\n".join(lines)


def _summary(outcome: Outcome) -> str:
    """Say what came of an audit, for people."""
    return "\n".join(
        (
            *(line for run in outcome.runs for line in _run_lines(outcome, run)),
            inspected.agreement(outcome.found),
            *(f"Warning: {warning}" for warning in outcome.warnings),
            "",
            *outcome.files.values(),
        )
    )


def _repair_summary(outcome: RepairOutcome) -> str:
    """Say what came of a repair, for people."""
    spec, run = outcome.spec, outcome.run
    said = mitigation_words.sentences(spec, run.figures)
    lines = [*said] or [figures.headline(spec, run).sentence]
    if run.spec.rule:
        lines.insert(1, f"The rule set: {rule_phrase(spec, run.spec.rule)}.")
    if run.state == "done" and run.message:
        lines.append(run.message)
    lines.append(f"{words.capital(figures.effort(run))}.")
    trials = mitigation_words.trial_rows(spec, run.figures)
    if trials:
        numbers = [str(each.number) for each in trials_of(run.figures)]
        heads = ("Trial", *mitigation_words.TRIAL_HEADS)
        table = [(number, *row) for number, row in zip(numbers, trials, strict=True)]
        lines += ["", *_table(heads, table)]
    if outcome.exported is None:
        if trials and not outcome.trouble:
            lines += ["", "Nothing is exported: no trial that adds rows was measured."]
        return "\n".join(lines)
    repair = repair_result(run.figures)
    if repair is not None and repair.retrains and repair.chosen < 0:
        lines.append(
            f"\nNo trial was chosen. Trial {outcome.exported} is exported all the same, so that "
            "nothing is lost: look at what it changes before anybody trains with it."
        )
    compared = mitigation_words.before_after(spec, run.figures, outcome.exported)
    if compared:
        lines += ["", *_table(mitigation_words.BEFORE_AFTER, compared)]
    return "\n".join((*lines, "", *outcome.files.values()))


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Set rows under their heads, in columns."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (heads, *rows)
    ]


def _run_lines(outcome: Outcome, run: RunRecord) -> tuple[str, ...]:
    spec = outcome.spec
    name = [f"{METHODS[run.spec.method].title}:"] if len(outcome.runs) > 1 else []
    said = figures.headline(spec, run).sentence
    return (
        *name,
        said,
        *figures.alone_sentences(spec, run),
        *(each for each in figures.sentences(spec, run.figures) if each not in said),
        *([run.message] if run.state == "done" and run.message else []),
        f"{words.capital(figures.effort(run))}.",
    )


@contextmanager
def _log_file() -> Iterator[Path | None]:
    """Send the log to a file of bounded size; gives its place, nothing where none can be made."""
    try:
        path = log_folder() / "fairdesk.log"
        handler = logging.handlers.RotatingFileHandler(
            path, maxBytes=1_000_000, backupCount=3, encoding="utf-8"
        )
    except OSError:
        yield None
        return
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logger = logging.getLogger("fairdesk")
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    try:
        yield path
    finally:
        logger.removeHandler(handler)
        handler.close()


def _say(text: str) -> None:
    """Print lines, with signs that the output does not know as question marks.

    Raises
    ------
    ReportError
        When the output is closed or full.
    """
    lines = "\n".join(_printable(line) for line in text.splitlines())
    encoding = sys.stdout.encoding or "utf-8"
    try:
        sys.stdout.write(lines.encode(encoding, errors="replace").decode(encoding) + "\n")
        sys.stdout.flush()
    except OSError as error:
        raise ReportError(
            "What was found cannot be printed; the files are written.",
            why=f"The system says: {error.strerror or error}.",
        ) from error


def _complain(text: str) -> None:
    with suppress(OSError):  # then nobody can be told
        sys.stderr.write(f"fairdesk: {' '.join(_printable(text).split())}\n")


def _printable(text: str) -> str:
    """Take out what would steer the terminal; texts come from anybody's files."""
    return "".join(sign if sign.isprintable() else " " for sign in text)


#: Who does what is asked for; all others are audits.
_COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "inspect": _inspect,
    "verify": _verify,
    "reproduce": _reproduce,
    "repair": _repair,
    "report": _report,
}
