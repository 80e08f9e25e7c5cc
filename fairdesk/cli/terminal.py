"""What the commands say, draw and are stopped by on a terminal."""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from fairdesk.audit.catalogue.method import COMPILING, UNTIMED, stage
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.sandbox import kernel_cache
from fairdesk.audit.store.records import RunState
from fairdesk.audit.worker.client import Worker
from fairdesk.cluster.connection import Link
from fairdesk.cluster.worker import ClusterWorker, worker_for
from fairdesk.errors import ReportError, WorkerError, system_errors
from fairdesk.wording import figures, words

if TYPE_CHECKING:
    from rich.progress import Progress

#: Exit codes; ``NOT_MEASURED``: an audit without a result, or without that of a condition;
#: ``CONDITION_MET``: one of --fail-if holds; ``PARTLY``: no mismatch, and something could not be
#: checked.
FAILED, NOT_MEASURED, CONDITION_MET, PARTLY, INTERRUPTED = 1, 3, 4, 5, 130
#: Seconds of a command of which nothing is said without a terminal; and between two lines.
SILENT, PAUSE = 10.0, 30.0


@contextmanager
def stoppable_worker(cluster: str | Link = "") -> Iterator[tuple[Worker, Callable[[], bool]]]:
    """Return a process for a model that the first Ctrl-C or SIGTERM stops, and whether one came.

    Its runs are spread over a cluster where one is named, as `read_place` reads it, or linked to.

    Raises
    ------
    ClusterError
        When there is no such cluster.
    """
    with closing(worker_for(cluster) if cluster else Worker()) as worker:
        if isinstance(worker, ClusterWorker):
            worker.connect()
        with _stopped_by_signals(worker) as stopped:
            yield worker, stopped


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
        kernel_cache.stop()
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
def sigterm_as_ctrl_c() -> Iterator[None]:
    """Let SIGTERM, with which other programs end a command, do what Ctrl-C does."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        kernel_cache.stop()
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


class _Lines:
    """Says on standard error what goes on, where no terminal shows a bar.

    A command that takes seconds says nothing; later each new thing, and seldom how far it is.
    """

    def __init__(self) -> None:
        self._began, self._at, self._what = time.monotonic(), 0.0, ""
        self._compiles = False

    def say(self, what: str, standing: str = "") -> None:
        """Say what is done now, or after a pause how it stands."""
        passed = time.monotonic() - self._began
        if passed < SILENT or (what == self._what and passed - self._at < PAUSE):
            return
        said = f"{what}: {standing}" if standing and what == self._what else what
        self._what, self._at = what, passed
        complain(f"after {words.duration(passed)}: {said}")

    def show(self, state: RunState, before: str = "") -> None:
        """Say how a run is, and once that it waits for what is compiled.

        The model is opened before the first run, which has the number 0: that may wait, too.
        """
        compiles = state.phase in UNTIMED or (not state.id and not kernel_cache.is_made())
        if compiles and not self._compiles:
            self._compiles = True
            doing = words.capital(stage(state.phase if state.id else COMPILING))
            complain(f"{doing}: the run begins after that, in some minutes.")
        runs = state.state in ("running", "paused")
        what = stage(state.phase)
        if state.id:
            what = METHODS[state.method].title if runs else "writing the files"
        done = words.percent(state.done, state.total, 0) if state.total else ""
        standing = (stage(state.phase), done, figures.standing(state) if state.id else "")
        # between two runs nothing is written yet
        if runs or state.phase.startswith("writing"):
            self.say(before + what, ", ".join(filter(None, standing)))


@contextmanager
def spinner() -> Iterator[Callable[[str], None]]:
    """Return what shows what goes on: a line on a terminal, else a line now and then."""
    if not sys.stderr.isatty():
        yield _Lines().say
        return
    # a tenth of a second that only a terminal needs
    from rich.console import Console  # noqa: PLC0415

    with Console(stderr=True).status("Reading the data") as status:
        yield status.update


class AuditsBar(NamedTuple):
    """What shows how far many audits are.

    Attributes
    ----------
    read : callable
        Told the name of an audit whose results are read.
    begin : callable
        Told the name of an audit that begins and how many seconds it may take; returns what shows
        its states.
    end : callable
        Called when an audit has ended.
    """

    read: Callable[[str], None]
    begin: Callable[[str, float | None], Callable[[RunState], None]]
    end: Callable[[], None]


@contextmanager
def progress_bar(
    limit: float | None = None, *, quiet: bool = False
) -> Iterator[Callable[[RunState], None]]:
    """Return what shows a state: a bar on a terminal, else a line now and then.

    The time beside it is that of the whole command; ``limit``: how many seconds it may take.
    """
    if quiet or not sys.stderr.isatty():
        yield (lambda _state: None) if quiet else _Lines().show
        return
    with _bars("" if limit is None else f"of at most {words.duration(limit)}") as progress:
        task = progress.add_task("starting", total=None, standing="")
        yield lambda state: progress.update(task, **_shown(state))


def _bars(after: str = "") -> Progress:
    """Return bars with the time that they take, and a text after it."""
    # a tenth of a second that only a terminal needs
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}"),
        TextColumn("{task.fields[standing]}"),
        TimeElapsedColumn(),
        TextColumn(after),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True)


@contextmanager
def audits_bar(n_audits: int) -> Iterator[AuditsBar]:
    """Return what shows how far many audits are: two bars on a terminal, else lines."""
    if not sys.stderr.isatty():
        lines = _Lines()
        yield AuditsBar(
            lambda _name: None,
            lambda name, _limit: partial(lines.show, before=f"{name}: "),
            lambda: None,
        )
        return
    with _bars() as progress:
        whole = progress.add_task("audits", total=n_audits, standing="")
        task = progress.add_task("starting", total=None, standing="")

        def begin(name: str, limit: float | None) -> Callable[[RunState], None]:
            most = "" if limit is None else f", at most {words.duration(limit)}"
            progress.reset(task, total=None, description=f"{name}{most}", standing="")

            def show(state: RunState) -> None:
                shown = _shown(state)
                shown["description"] = f"{name}{most}: {shown['description']}"
                progress.update(task, **shown)

            return show

        def read(name: str) -> None:
            progress.update(task, description=f"{name}: reading the results", total=None)

        yield AuditsBar(read, begin, lambda: progress.advance(whole))


def _shown(state: RunState) -> dict[str, Any]:
    """Return what a bar shows of a state."""
    doing = stage(state.phase)
    runs = state.id and state.state in ("running", "paused")
    return {
        # before the first run there is nothing found yet
        "description": f"{METHODS[state.method].title}: {doing}" if runs else doing,
        "completed": state.done,
        "total": state.total or None,
        "standing": figures.standing(state) if state.id else "",
    }


def print_lines(text: str) -> None:
    """Print lines, with signs that the output does not know as question marks.

    Raises
    ------
    ReportError
        When the output is closed or full.
    """
    lines = "\n".join(_printable(line) for line in text.splitlines())
    encoding = sys.stdout.encoding or "utf-8"
    with system_errors(ReportError, "The results cannot be printed; the files are written."):
        sys.stdout.write(lines.encode(encoding, errors="replace").decode(encoding) + "\n")
        sys.stdout.flush()


def complain(text: str) -> None:
    """Say in one line on standard error what went wrong."""
    with suppress(OSError):  # then nobody can be told
        sys.stderr.write(f"fairdesk: {' '.join(_printable(text).split())}\n")


def _printable(text: str) -> str:
    """Take out what would steer the terminal; texts come from anybody's files."""
    return "".join(sign if sign.isprintable() else " " for sign in text)


def print_answer(
    form: str | None, figures: Callable[[], object], text: Callable[[], str], items: str = ""
) -> None:
    """Print figures as `print_json` in a form of ``--json``; without one what they say."""
    if form is None:
        print_lines(text())
    else:
        print_json(figures(), form, items)


def print_json(value: object, form: str, items: str = "") -> None:
    """Print JSON: indented, an object a line, or on one line where no terminal shows it.

    It is in ASCII, so that it is JSON whatever the encoding of the output.

    Parameters
    ----------
    form : str
        ``"pretty"``, ``"lines"`` or ``"auto"``.
    items : str, optional
        The key of the list that has a line for each item.
    """
    plain = msgspec.to_builtins(value)
    lines = plain if form == "lines" and isinstance(plain, list) else [plain]
    if form == "lines" and isinstance(plain, dict) and plain.get(items):
        rest = {key: each for key, each in plain.items() if key != items}
        lines = [rest, *plain[items]]
    pretty = form == "pretty" or (form == "auto" and sys.stdout.isatty())
    print_lines("\n".join(json.dumps(each, indent=2 if pretty else None) for each in lines))


def print_screen(text: str) -> None:
    """Print lines as `print_lines`; on a terminal with colours, unless NO_COLOR is set."""
    if not sys.stdout.isatty():
        print_lines(text)
        return
    # a tenth of a second that only a terminal needs
    from rich.console import Console  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console = Console(highlight=False, soft_wrap=True)
    for line in text.splitlines():
        shown = Text(_printable(line))
        shown.highlight_regex(r"^[A-Z]{3}[A-Z ,]*\b", "bold")
        shown.highlight_regex(r"\d\.\d\d !", "bold red")
        console.print(shown)


def table_lines(
    heads: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[int] = ()
) -> list[str]:
    """Set rows under their heads, in columns; those named by ``right`` end at the same place."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if place in right else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (heads, *rows)
    ]


def picked(figure: object, names: Sequence[str], before: str = "") -> dict[str, object]:
    """Return fields of a figure, each with a text before its name; without a figure nothing."""
    return {} if figure is None else {before + name: getattr(figure, name) for name in names}
