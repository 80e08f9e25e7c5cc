"""What the commands say, draw and are stopped by on a terminal."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any, NamedTuple

from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.catalogue.stages import COMPILING, UNTIMED, stage
from fairdesk.audit.sandbox import kernel_cache
from fairdesk.audit.store.records import RunState
from fairdesk.audit.worker.client import Worker
from fairdesk.cluster.link import Link
from fairdesk.cluster.worker import ClusterWorker, worker_for
from fairdesk.errors import ReportError, WorkerError, system_errors
from fairdesk.wording import figures, words

#: Exit codes; ``NOTHING_MEASURED``: an audit without a result; ``PARTLY``: no mismatch, and
#: something could not be checked.
FAILED, NOTHING_MEASURED, PARTLY, INTERRUPTED = 1, 3, 5, 130


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


@contextmanager
def spinner() -> Iterator[Callable[[str], None]]:
    """Return what shows what goes on: a line on a terminal, else nothing."""
    if not sys.stderr.isatty():
        yield lambda _sentence: None
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
def progress_bar(limit: float | None = None) -> Iterator[Callable[[RunState], None]]:
    """Return what shows a state: a bar on a terminal, else only that a run waits for a compiler.

    The time beside it is that of the whole command; ``limit``: how many seconds it may take.
    """
    if not sys.stderr.isatty():
        yield _say_compiling()
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
        TextColumn("" if limit is None else f"of at most {words.duration(limit)}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("starting", total=None, standing="")
        yield lambda state: progress.update(task, **_shown(state))


def _say_compiling() -> Callable[[RunState], None]:
    """Return what says once, where there is no bar, that a run waits for what is compiled.

    The model is opened before the first run, which has the number 0: that may wait for it, too.
    """
    said = False

    def show(state: RunState) -> None:
        nonlocal said
        if said or not (state.phase in UNTIMED or (not state.id and not kernel_cache.is_made())):
            return
        said = True
        doing = words.capital(stage(state.phase if state.id else COMPILING))
        complain(f"{doing}: the run begins after that, in some minutes.")

    return show


@contextmanager
def audits_bar(n_audits: int) -> Iterator[AuditsBar]:
    """Return what shows how far many audits are: two bars on a terminal, else nothing."""
    if not sys.stderr.isatty():
        show_all = _say_compiling()
        yield AuditsBar(lambda _name: None, lambda _name, _limit: show_all, lambda: None)
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


def table_lines(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Set rows under their heads, in columns."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (heads, *rows)
    ]
