"""What the ``fairdesk`` command does without the window: its arguments, audits, and help."""

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
from typing import NoReturn

import msgspec

from fairdesk import __version__
from fairdesk.audit.inspection import Subject, inspect
from fairdesk.audit.methods import METHODS, parse_options
from fairdesk.audit.question import Limits, read_limits
from fairdesk.audit.spec import AuditSpec, RunSpec
from fairdesk.audit.store import RunRecord, RunState
from fairdesk.audit.worker import Worker
from fairdesk.errors import (
    FairDeskError,
    ReportError,
    SpecError,
    TrustRequiredError,
    WorkerError,
)
from fairdesk.files import log_folder
from fairdesk.headless import AUDIT_FILE, OUTPUTS, Outcome, Question, audit
from fairdesk.report import inspected, words
from fairdesk.samples import samples

log = logging.getLogger(__name__)

FAILED, USAGE, INTERRUPTED = 1, 2, 130

_OUT_HELP = (
    f"the folder for the results: {AUDIT_FILE}, {', '.join(OUTPUTS)}; made when it is missing. "
    "Nothing is overwritten: the files of an earlier audit in it are moved to a folder earlier-1, "
    "earlier-2, ... inside it"
)
_EPILOG = """\
The label column is never an input of the model. Several protected columns are varied together.
The exit code is 0 when the audit is done, 1 when it failed (one line on standard error says
why), 2 for a wrong command line, 130 when it was stopped with Ctrl-C: what was found until then is
kept and written.
"""


class _Parser(argparse.ArgumentParser):
    """Tells what is wrong with the command line in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE, f"{self.prog}: {_capital(message)}. See “{self.prog} --help”.\n")


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
        On Ctrl-C, unless a search runs: that is then stopped, and what it found is written.
    """
    arguments = _parser().parse_args(argv)
    if arguments.command in (None, "open"):
        return open_window(getattr(arguments, "file", None))
    with _log_file() as log_file:
        try:
            return _inspect(arguments) if arguments.command == "inspect" else _audit(arguments)
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


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="fairdesk",
        description="Find discrimination in trained models. Without a command the window opens.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"FairDesk {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)

    opening = commands.add_parser("open", help="open the window on an audit file")
    opening.add_argument("file", metavar="FILE", nargs="?", help="an audit (.fairdesk)")

    inspecting = commands.add_parser(
        "inspect",
        help="open a table and a model and tell how they fit together",
        description="Open a table and a model, fit them together, try the model on the rows, and "
        "tell what came of it. Nothing is audited and nothing is written.",
        allow_abbrev=False,
    )
    _add_subject(inspecting)
    _add_json(inspecting)

    auditing = commands.add_parser(
        "audit",
        help="audit a model without the window",
        description="Audit a model without the window.",
        epilog=_EPILOG,
        allow_abbrev=False,
    )
    _add_subject(auditing)
    add = auditing.add_argument
    add(
        "--protected",
        metavar="COL",
        action="append",
        required=True,
        help="a protected column; may be repeated",
    )
    add(
        "--domain",
        metavar="FILE",
        type=Path,
        help="JSON: attribute -> [low, high] or a list of values; by default as in the data. Or "
        '{"attributes": {...}, "constraints": ["husband implies sex = Male", ...]}',
    )
    add("--method", choices=METHODS, default="maft", help="how to search (default: maft)")
    add(
        "--option",
        metavar="NAME=VALUE",
        nargs="+",
        action="extend",
        default=[],
        help="parameters of the method by their names in its paper; may be repeated. "
        + "; ".join(f"{key}: {', '.join(_names(key))}" for key in METHODS),
    )
    _add_common(auditing)

    demo = commands.add_parser(
        "demo",
        help="audit the built-in sample",
        description="Audit the built-in sample, with a short search: income in the US census, a "
        "Keras network.",
        epilog=_EPILOG,
        allow_abbrev=False,
    )
    _add_common(demo)
    return parser


def _add_subject(parser: argparse.ArgumentParser) -> None:
    """Add what names the table and the model, and says how they fit together."""
    add = parser.add_argument
    add(
        "--data",
        metavar="F",
        type=Path,
        required=True,
        help="the table: CSV, TSV, Parquet, Excel or SQLite",
    )
    add("--table", metavar="NAME", default="", help="its sheet or table, where it has several")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--model", metavar="M", type=Path, help="Keras, ONNX or scikit-learn")
    which.add_argument(
        "--predictions",
        metavar="COL",
        default="",
        help="instead of a model: the column with the decisions that it made",
    )
    add("--label", metavar="COL", required=True, help="the column with the decision or the truth")
    add(
        "--favourable",
        metavar="V",
        action="append",
        required=True,
        help="its value that is good for the person; may be repeated; for numbers also “>= 50”",
    )
    add(
        "--model-favourable",
        metavar="CLASS",
        action="append",
        default=[],
        help="the model’s class that means the favourable value; may be repeated; by default the "
        "one of that name, else the one that agrees better with the label",
    )
    add(
        "--companion",
        metavar="FILE",
        type=Path,
        action="append",
        default=[],
        help="a file beside the model that tells how it is fed: a scaler, encoders, the order of "
        "its inputs; may be repeated",
    )
    add(
        "--map",
        metavar="FILE",
        type=Path,
        help="JSON: how the model’s inputs are made, where that is not as proposed; in the form "
        "that “inspect --json” prints as “mapping”",
    )
    add("--output", metavar="NAME", default="", help="which output decides, of several")
    add(
        "--threshold",
        metavar="X",
        type=float,
        help="where the decision changes: of a score, when not at 0.5; of an estimated number",
    )
    add(
        "--trust-model",
        action="store_true",
        help="open a model file, or a file beside it, that is a program: whatever its author put "
        "into it runs",
    )
    add(
        "--make-environment",
        action="store_true",
        help="where the model was saved with other versions: make an environment with them, from "
        "the package registry, and open it there",
    )


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seed", metavar="N", type=_seed, default=0, help="of all randomness (default: 0)"
    )
    parser.add_argument("--out", metavar="FOLDER", type=Path, required=True, help=_OUT_HELP)
    _add_json(parser)


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object with the figures, nothing else"
    )


def _names(method: str) -> tuple[str, ...]:
    return tuple(field.name for field in msgspec.structs.fields(METHODS[method].options))


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"“{text}” is no whole number from 0 on")
    return int(text)


def _question(arguments: argparse.Namespace) -> Question:
    """Make the question of the arguments.

    Raises
    ------
    SpecError
        When an option or the domain file is wrong.
    """
    if arguments.command == "demo":
        sample = samples()[0]
        return Question(
            Subject(
                data=sample.data_path,
                model=sample.model_path(sample.models[0]),
                label=sample.label,
                favourable=sample.favourable,
            ),
            protected=sample.protected,
            run=RunSpec("maft", sample.options, seed=arguments.seed),
            title=sample.title,
            person=sample.person,
        )
    asked = arguments.predictions or arguments.model.name
    return Question(
        _subject(arguments),
        protected=tuple(dict.fromkeys(arguments.protected)),
        run=RunSpec(arguments.method, _options(arguments.method, arguments.option), arguments.seed),
        title=f"{asked} on {arguments.data.name}",
        limits=read_limits(arguments.domain) if arguments.domain else Limits(),
    )


def _subject(arguments: argparse.Namespace) -> Subject:
    return Subject(
        data=arguments.data,
        label=arguments.label,
        favourable=" or ".join(arguments.favourable),
        model=arguments.model,
        predictions=arguments.predictions,
        model_favourable=" or ".join(arguments.model_favourable) or None,
        companions=tuple(arguments.companion),
        map=arguments.map,
        table=arguments.table,
        output=arguments.output,
        threshold=arguments.threshold,
        trusted=arguments.trust_model,
        make_environment=arguments.make_environment,
    )


def _options(method: str, texts: Sequence[str]) -> dict[str, int | float]:
    raw: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise SpecError(f"The option “{text}” has no value.", remedy="Write it as name=value.")
        raw[name.strip()] = value.strip()
    options = parse_options(method, raw)
    return {name: getattr(options, name) for name in raw}


def _inspect(arguments: argparse.Namespace) -> int:
    """Open a table and a model and tell how they fit; gives the exit code."""
    with closing(Worker()) as worker, _stopped_by_ctrl_c(worker), _spinner() as say:
        found = inspect(worker, _subject(arguments), say)
        held = worker.confinement()
    if arguments.json:
        _say(json.dumps(inspected.figures(found, held)))
    else:
        _say(inspected.summary(found, held))
    return 0


def _audit(arguments: argparse.Namespace) -> int:
    """Make the audit, and say what came of it; gives the exit code."""
    question = _question(arguments)
    with closing(Worker()) as worker, _stopped_by_ctrl_c(worker), _progress_bar() as watch:
        outcome = audit(worker, question, arguments.out, watch)
    # in ASCII, so that it is JSON whatever the encoding of the output
    _say(
        json.dumps(msgspec.to_builtins(_figures(outcome))) if arguments.json else _summary(outcome)
    )
    # the first trouble tells more than what came of it; a run that is done may have a message too
    run = outcome.run
    trouble = run.message if run is not None and run.state == "failed" else outcome.trouble
    if trouble:
        _complain(trouble)
        return FAILED
    return INTERRUPTED if run is not None and run.state == "stopped" else 0


@contextmanager
def _stopped_by_ctrl_c(worker: Worker) -> Iterator[None]:
    """Let the first Ctrl-C stop what the worker does; a second one ends the command."""
    pressed = False

    def stop(_signal: int, _frame: object) -> None:
        nonlocal pressed
        pressed = True
        signal.signal(signal.SIGINT, before)
        # from a thread of its own: this one may hold the worker's lock
        threading.Thread(target=worker.stop).start()

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    except WorkerError as error:
        if pressed:
            raise KeyboardInterrupt from error
        raise
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _spinner() -> Iterator[Callable[[str], None]]:
    """Give what shows what goes on: a line on a terminal, else nothing."""
    if not sys.stderr.isatty():
        yield lambda _sentence: None
        return
    # a tenth of a second that only a terminal needs
    from rich.console import Console  # noqa: PLC0415

    with Console(stderr=True).status("Reading the data") as status:
        yield status.update


@contextmanager
def _progress_bar() -> Iterator[Callable[[RunState], None]]:
    """Give what shows a state: a bar on a terminal, else nothing."""
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
        TextColumn("{task.fields[found]:,} found in {task.fields[tried]:,} tried"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("starting", total=None, found=0, tried=0)

        def show(state: RunState) -> None:
            progress.update(
                task,
                description=state.phase or "starting",
                completed=state.done,
                total=state.total or None,
                found=state.found,
                tried=state.tried,
            )

        yield show


def _figures(outcome: Outcome) -> dict[str, object]:
    """Give what ``--json`` prints."""
    proof = outcome.found.proof
    return {
        **({} if outcome.run is None else _run_figures(outcome, outcome.run)),
        "accuracy": None if proof is None else proof.accuracy,
        "auc": None if proof is None else proof.auc,
        "warnings": outcome.warnings,
        "files": outcome.files,
    }


def _run_figures(outcome: Outcome, run: RunRecord) -> dict[str, object]:
    return {
        "method": run.spec.method,
        "found": run.found,
        "tried": run.tried,
        "queries": run.queries,
        "seconds": sum(run.seconds.values()),
        "global_seconds": run.seconds.get("global", 0.0),
        "local_seconds": run.seconds.get("local", 0.0),
        "state": run.state,
        "message": run.message or outcome.trouble,
        "seed": run.spec.seed,
        "options": parse_options(run.spec.method, run.spec.options),
        "alone": dict(zip(words.protected_names(outcome.spec.domain), run.alone, strict=True)),
    }


def _summary(outcome: Outcome) -> str:
    """Say what came of an audit, for people."""
    return "\n".join(
        (
            *([] if outcome.run is None else _run_lines(outcome.spec, outcome.run)),
            inspected.agreement(outcome.found),
            *(f"Warning: {warning}" for warning in outcome.warnings),
            "",
            *outcome.files.values(),
        )
    )


def _run_lines(spec: AuditSpec, run: RunRecord) -> tuple[str, ...]:
    return (
        words.headline(spec, run),
        *words.alone_sentences(spec, run),
        *([run.message] if run.state == "done" and run.message else []),
        f"{_capital(words.effort(run))}.",
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


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
