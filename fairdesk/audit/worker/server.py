"""What the guest process does: answers one request after another, searches included."""

from __future__ import annotations

import os
import queue
import threading
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from importlib import import_module
from itertools import chain, groupby
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, BinaryIO, Literal, Self

import msgspec
import numpy as np

from fairdesk.audit.catalogue.methods import (
    ABOUT_GROUPS,
    Answers,
    Method,
    method_named,
    parse_options,
    unrepeatable,
)
from fairdesk.audit.plan.spec import Budget
from fairdesk.audit.worker import wire
from fairdesk.data.domain.domain import Attribute
from fairdesk.data.table import Table
from fairdesk.errors import FairDeskError, ModelError, WorkerError
from fairdesk.groups.context import Study
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.engine.preflight import preflight
from fairdesk.individual.shares.estimate import upper_bound
from fairdesk.mitigate.context import MitigationContext
from fairdesk.models.decisions.requerying import joined, query_again, refuse, some_of
from fairdesk.models.inputs.input_check import InputCheck, check, show
from fairdesk.models.model import Capability, Mapping, OpenedModel
from fairdesk.repeatability import Repeatability
from fairdesk.results.events import (
    Certificate,
    Event,
    Found,
    Measured,
    Metric,
    Progress,
    Rows,
    Scores,
    Share,
    timed,
)
from fairdesk.results.trials import Augmented, Retrained

if TYPE_CHECKING:
    from fairdesk.audit.worker.relay import Relay
    from fairdesk.certify.proof.reproof_check import Reproof, Reprove
    from fairdesk.certify.proof.verify import SolverVerdicts
    from fairdesk.models.inputs.feeding import FedModel

Request = wire.Frame[wire.ToGuest]
Send = Callable[[wire.FromGuest, Sequence[wire.Array]], None]
Ending = Literal["done", "stopped", "budget"]

#: Imported while there is nothing to do, in this order: what requests are likely to need, the
#: first ones first.
WARM_UP = (
    "fairdesk.data.formats.reading",
    "fairdesk.models.open",
    "fairdesk.models.keras.file",
    "h5py",
    "fairdesk.models.dense.forward",
    "fairdesk.models.inputs.filling",
    "fairdesk.individual.engine.kernels",
    "fairdesk.individual.realism.nearest_kernels",
    "fairdesk.individual.surrogates.tree_kernels",
    "scipy.cluster.vq",
    "pandas",
)
#: The arrays of findings, in the order in which they are sent.
FOUND = ("rows", "partners", "row_scores", "partner_scores", "alone")
#: Events are gathered for so many seconds before they are sent.
GATHER_SECONDS = 0.05
#: While the method thinks, events wait for about so many seconds.
TEND_SECONDS = 0.25
#: A search that has not begun yet says so every so many seconds.
_LIFE_SECONDS = 5.0
#: Texts of errors are cut here.
MOST_TEXT = 2_000


class Controls:
    """Whether a call is to pause or stop; set by the thread that reads the pipe."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._paused = 0
        self._stopped = 0

    def obey(self, call: int, message: wire.Control) -> None:
        """Take a control message for a call."""
        with self._changed:
            if isinstance(message, wire.Stop):
                self._stopped = call
            else:
                self._paused = call if isinstance(message, wire.Pause) else 0
            self._changed.notify_all()

    def stopped(self, call: int) -> bool:
        """Return whether the call is to end."""
        return self._stopped == call

    def paused(self, call: int) -> bool:
        """Return whether the call is to wait."""
        return self._paused == call and not self.stopped(call)

    def wait(self, call: int) -> None:
        """Wait until the call may go on or is to end."""
        with self._changed:
            self._changed.wait_for(lambda: not self.paused(call))


class Outbox:
    """Gathers the events of a search and sends them at most about 20 times a second.

    Used as a context manager, it also sends what has been waiting while the method thinks: a
    model that hangs must not take findings along.
    """

    def __init__(
        self,
        send: Send,
        *,
        silent: bool = False,
        repeatability: Callable[[], Repeatability] = Repeatability,
    ) -> None:
        self._repeatability = repeatability
        self._measured_before = Measured("", ())
        self._repeated = Repeatability()
        self.last = Progress(phase="", done=0, total=0, tried=0, found=0, queries=0)
        self._send = send
        self._found: list[Found] = []
        self._measured: Measured | None = None
        self._certificate: Certificate | None = None
        #: Whether anybody was found, or anything measured.
        self.told = False
        self._count = 0
        self._waits = False
        self._sent = perf_counter()
        #: Whether a long silence is nothing to worry about: then the last progress is told again.
        self._silent = silent
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._tending = threading.Thread(target=self._tend, daemon=True)

    def __enter__(self) -> Self:
        self._tending.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._tending.join()
        self.flush()

    def add(self, event: Event) -> None:
        """Take an event; send what was gathered when it is time."""
        with self._lock:
            self._waits = True
            self.told |= not isinstance(event, Progress) and not (
                isinstance(event, Found) and not len(event.rows)
            )
            if isinstance(event, Found):
                self._found.append(event)
                self._count += len(event.rows)
                return
            if isinstance(event, Measured):
                self._measured = event
                return
            if isinstance(event, Certificate):
                self._certificate = event
                return
            if isinstance(event, Augmented):
                arrays = (event.rows, event.labels, event.pairs, event.seeds)
                self._send(wire.SearchAugmented(event.phase, event.texts), arrays)
                return
            if isinstance(event, Retrained):
                told = wire.SearchRetrained(event.phase, event.trial, event.name, event.told)  # type: ignore[arg-type]  # checked by the reader
                self._send(told, (event.content,))
                return
            self.last = event
            if perf_counter() - self._sent >= GATHER_SECONDS:
                self._flush()

    def flush(self) -> None:
        """Send all findings, and then the latest progress."""
        with self._lock:
            self._flush()

    def _flush(self) -> None:
        for phase, group in groupby(self._found, key=lambda found: found.phase):
            batch = list(group)
            self._send(
                wire.SearchFound(phase),
                [np.concatenate([getattr(found, name) for found in batch]) for name in FOUND],
            )
        self._found.clear()
        self._flush_measured()
        if (proven := self._certificate) is not None:
            names = tuple(proven.arrays)
            header = proven.header.decode()
            self._send(
                wire.SearchCertified(proven.phase, header, names), tuple(proven.arrays.values())
            )
            self._certificate = None
        last = self.last = replace(self.last, found=max(self.last.found, self._count))
        self._send(
            wire.SearchProgress(
                last.phase,
                last.done,
                last.total,
                last.tried,
                last.found,
                last.queries,
                last.seconds,
                last.rejected,
            ),
            (),
        )
        self._waits = False
        self._sent = perf_counter()

    def _flush_measured(self) -> None:
        """Send what was measured, with what became known since of the model's repeatability."""
        repeated = self._repeatability()
        if self._measured is None and repeated.changed == self._repeated.changed:
            return
        measured = self._measured or self._measured_before
        phase = measured.phase or self.last.phase
        self._send(wire.SearchMeasured(phase, _with_repeats(measured.figures, repeated)), ())
        self._measured, self._measured_before, self._repeated = None, measured, repeated

    def _tend(self) -> None:
        while not self._over.wait(TEND_SECONDS):
            with self._lock:
                silence = perf_counter() - self._sent
                if (self._waits and silence >= TEND_SECONDS) or (
                    self._silent and silence >= _LIFE_SECONDS
                ):
                    self._flush()


def _with_repeats(figures: tuple[Metric, ...], found: Repeatability) -> tuple[Metric, ...]:
    """Add to figures that the model's answers changed during the run, where they did."""
    if found.holds:
        return figures
    told = tuple(
        msgspec.structs.replace(each, wavered=found.changed) if isinstance(each, Share) else each
        for each in figures
    )
    return (*told, found)


def drive(
    events: Iterator[Event],
    budget: Budget,
    controls: Controls,
    call: int,
    send: Send,
    *,
    before: Iterable[Event] = (),
    after: Iterable[Event] = (),
    request_finish: Callable[[], None] | None = None,
    silent: bool = False,
    repeatability: Callable[[], Repeatability] = Repeatability,
) -> Ending:
    """Take a search's events until it is done, stopped, or out of budget, and send them.

    Parameters
    ----------
    events : Iterator[Event]
        A method's generator; closed at the end.
    budget : Budget
        The method's. Seconds are those spent in it, pauses and sending left out.
    controls : Controls
        Looked at after each progress.
    call : int
        The number of the search.
    send : Send
        Where events go, gathered by an `Outbox`. The last is always a progress, also when the
        search fails.
    before, after : Iterable[Event]
        What comes before the method, and after one that neither found nor measured anything;
        outside its budget.
    wind_up : callable, optional
        Tells the method to come to an end, and to say what it came to. Without it the method is
        left where it is when it is told to stop, or its budget is used up.
    silent : bool
        Whether the method may well think for minutes (a model that is trained says nothing).
    repeatability : callable
        Tells of the rows that were queried again so far; kept with what was measured where an
        answer changed.

    Returns
    -------
    str
        How it ended.
    """
    seconds: dict[str, float] = {}
    with Outbox(send, silent=silent, repeatability=repeatability) as outbox:

        def take(
            part: Iterable[Event], limits: Budget, request_finish: Callable[[], None] | None = None
        ) -> Ending:
            go_on = partial(_wait, controls, call, outbox)
            return _take(iter(part), seconds, limits, outbox, go_on, request_finish)

        if take(before, Budget()) == "stopped":
            return "stopped"
        ending = take(events, budget, request_finish)
        if ending == "stopped" or outbox.told:
            return ending
        return "stopped" if take(after, Budget()) == "stopped" else ending


def _take(
    events: Iterator[Event],
    seconds: dict[str, float],
    budget: Budget,
    outbox: Outbox,
    go_on: Callable[[], bool],
    request_finish: Callable[[], None] | None,
) -> Ending:
    """Take one part's events; ``go_on`` waits during a pause and tells whether to stop."""
    spent, queries = 0.0, outbox.last.queries
    ending: Ending = "done"
    told = timed(events, seconds)
    try:
        counted = True  # findings are followed at once by the progress that counts them
        used_up = False
        while True:
            if ending == "done" and counted:
                ending = "stopped" if not go_on() else "budget" if used_up else "done"
                if ending != "done":
                    if request_finish is None:
                        return ending
                    request_finish()
            started = perf_counter()
            event = next(told, None)
            spent += perf_counter() - started
            if event is None:
                return ending
            outbox.add(event)
            counted = isinstance(event, Progress)
            used_up = counted and _used_up(budget, spent, outbox.last.queries - queries)
    finally:
        if isinstance(events, Generator):
            events.close()


def _wait(controls: Controls, call: int, outbox: Outbox) -> bool:
    """Wait while the call is to pause; tell whether it goes on."""
    while controls.paused(call):
        outbox.flush()
        controls.wait(call)
    return not controls.stopped(call)


def _used_up(budget: Budget, seconds: float, queries: int) -> bool:
    return (budget.seconds is not None and seconds >= budget.seconds) or (
        budget.queries is not None and queries >= budget.queries
    )


class Guest:
    """Answers requests.

    Parameters
    ----------
    outgoing : BinaryIO
        Where answers are written.
    relay : Relay, optional
        The older interpreter in which models are opened; this one by default.
    """

    def __init__(self, outgoing: BinaryIO, relay: Relay | None = None) -> None:
        self.controls = Controls()
        self._relay = relay
        self._outgoing = outgoing
        self._opened: OpenedModel | None = None
        #: What proves boxes of a certificate once more, and of which: it is asked again and again.
        self._reproving: tuple[object, Reprove] | None = None

    def answer(self, request: Request) -> None:
        """Answer one request; whatever goes wrong is answered too."""

        def send(message: wire.FromGuest, arrays: Sequence[wire.Array] = ()) -> None:
            wire.write(self._outgoing, request.call, message, arrays)

        try:
            self._serve(request, send)
        except FairDeskError as error:
            send(_failed(error))
        except BrokenPipeError:
            raise  # the app is gone
        except MemoryError:
            send(
                _failed(
                    WorkerError(
                        "There is not enough memory for this.",
                        remedy="Close other programs, or audit with fewer rows or seeds.",
                    )
                )
            )
        except (SystemExit, KeyboardInterrupt):
            send(
                _failed(
                    ModelError(
                        "The model’s own code asked to end the program.",
                        remedy="Ask who made the model why it does that, or for it as ONNX.",
                    )
                )
            )
        except Exception as error:  # noqa: BLE001 - the boundary: a defect must not end the guest
            traceback.print_exc()
            send(
                _failed(
                    WorkerError(
                        "Something unexpected went wrong in the process that holds the model.",
                        why=f"{type(error).__name__}: {error}.",
                        remedy="The log file tells more.",
                    )
                )
            )

    def _serve(self, request: Request, send: Send) -> None:
        # the readers and libraries are imported when they are needed, or while the guest is idle
        match request.message:
            case wire.ReadTable(path, dialect):
                from fairdesk.data.formats.reading import read_table  # noqa: PLC0415

                def watch(share: float) -> None:
                    send(wire.TableProgress(share), ())

                table = read_table(Path(path), dialect, watch)
                # by columns, as they lie in memory: a copy of a large table would take seconds
                send(wire.TableRead(table.source, table.columns), (table.codes.T,))
            case wire.LookInto(path):
                from fairdesk.models.pickles.contents import look_into  # noqa: PLC0415

                send(wire.LookedInto(look_into(Path(path))), ())
            case wire.OpenModel(path, trusted, output, companions):
                from fairdesk.models.open import open_model  # noqa: PLC0415

                self._opened = self._reproving = None
                opening = open_model if self._relay is None else self._relay.open_model
                self._opened = opening(
                    Path(path), trusted=trusted, output=output, companions=companions
                )
                send(wire.ModelOpened(self._opened.card), ())
            case wire.CheckInputs() as asked:
                (codes,) = request.arrays
                send(wire.Proved(self._prove(asked, codes)), ())
            case wire.Show(mapping, source, columns, label):
                (codes,) = request.arrays
                table = Table(source, columns, codes)
                send(wire.Shown(show(self._model, table, mapping, label)), ())
            case wire.Predict(mapping, attributes):
                (rows,) = request.arrays
                send(wire.Predicted(), (self._fed(mapping, attributes).predict(rows),))
            case wire.Search() as asked:
                ending = self._search(asked, request.arrays, request.call, send)
                send(wire.SearchEnded(ending), ())
            case wire.Pack(columns, decimal, path):
                from fairdesk.data.formats.parquet_writing import packed  # noqa: PLC0415

                codes, added = request.arrays
                file = packed(columns, codes.T, added.T, decimal, Path(path) if path else None)
                send(wire.Packed(), (np.frombuffer(file, np.int8),))
            case _:
                self._serve_findings(request, send)

    def _serve_findings(self, request: Request, send: Send) -> None:
        """Answer what is asked about people who were found."""
        match request.message:
            case wire.Weigh(domain):
                from fairdesk.individual.realism.plausibility import score_plausibility  # noqa: PLC0415

                people, rows = request.arrays
                weighed = score_plausibility(domain, people, rows)
                send(wire.Weighed(), (weighed.distance, weighed.nearest, weighed.score))
            case wire.Shrink() as asked:
                from fairdesk.individual.realism.minimal import shrink  # noqa: PLC0415

                people, rows = request.arrays
                found = shrink(self._ledger(asked), people, rows)
                send(wire.Shrunk(), [getattr(found, name) for name in FOUND])
            case wire.Explain() as asked:
                from fairdesk.individual.surrogates.explanation import explain  # noqa: PLC0415

                people, pair = request.arrays
                rng = np.random.default_rng(asked.seed)
                favourable = asked.mapping.favourable_class
                explanation = explain(self._ledger(asked), people, pair, favourable, rng)
                send(wire.Explained(explanation), ())
            case wire.Solve() as asked:
                answers = self._solve(asked, request.arrays)
                send(wire.Solved(), (answers.verdict, answers.places))
            case wire.Reprove() as asked:
                send(wire.Reproved(), tuple(self._reprove(asked, request.arrays)))
            case _:
                raise WorkerError("This message is no request.")

    def _fed(self, mapping: Mapping, attributes: tuple[Attribute, ...]) -> FedModel:
        from fairdesk.models.inputs.feeding import FedModel  # noqa: PLC0415 - see above

        return FedModel(self._model, mapping, attributes)

    @property
    def _model(self) -> OpenedModel:
        if self._opened is None:
            raise WorkerError("No model is open.", remedy="Open the model file first.")
        return self._opened

    def _prove(self, asked: wire.CheckInputs, codes: Rows) -> InputCheck:
        table = Table(asked.source, asked.columns, codes)
        return check(self._model, table, asked.mapping, asked.label, asked.favourable)

    def _ledger(self, asked: wire.Shrink | wire.Explain) -> SearchContext:
        return SearchContext(self._fed(asked.mapping, asked.domain.attributes), asked.domain)

    def _solve(self, asked: wire.Solve, arrays: Sequence[wire.Array]) -> SolverVerdicts:
        from fairdesk.certify.proof.certificate import decoded  # noqa: PLC0415 - see above
        from fairdesk.certify.proof.verify import solver  # noqa: PLC0415

        header = decoded(asked.header.encode())
        root_low, root_high, *boxes = arrays
        fed = self._fed(header.mapping, header.domain.attributes)
        solve = solver(header, {"root_low": root_low, "root_high": root_high}, fed)
        low, high, group, unlike = boxes
        return solve(low, high, group, unlike, asked.seconds)

    def _reprove(self, asked: wire.Reprove, arrays: Sequence[wire.Array]) -> Reproof:
        from fairdesk.certify.proof.certificate import decoded  # noqa: PLC0415 - see above
        from fairdesk.certify.proof.verify import reproving  # noqa: PLC0415

        root_low, root_high, low, high, group, stated = arrays
        key = (asked.header, root_low.tobytes(), root_high.tobytes(), id(self._model))
        if self._reproving is None or self._reproving[0] != key:
            header = decoded(asked.header.encode())
            fed = self._fed(header.mapping, header.domain.attributes)
            roots = {"root_low": root_low, "root_high": root_high}
            self._reproving = key, reproving(header, roots, fed)
        return self._reproving[1](low, high, group, stated, asked.seconds)

    def _search(
        self, asked: wire.Search, arrays: Sequence[wire.Array], call: int, send: Send
    ) -> Ending:
        run, domain = asked.run, asked.domain
        method = method_named(run.method)
        # compiled loops and libraries are loaded now, unless they were before
        with _signs_of_life(send):
            for module in method.loops:
                import_module(module)
        if method.answers in ABOUT_GROUPS:
            return self._study(asked, method, arrays, call, send)
        if method.answers is Answers.REPAIR:
            return self._repair(asked, method, arrays, call, send)
        people, known, *proven = arrays
        fits = None
        if run.near is not None:
            from fairdesk.individual.realism.nearest import Nearest  # noqa: PLC0415 - see above

            fits = Nearest(domain, people).within(run.near)
        fed = self._fed(asked.mapping, domain.attributes)
        context = SearchContext(fed, domain, known=known, fits=fits)
        context.favourable = asked.mapping.favourable_class
        if asked.names:
            begun = dict(zip(asked.names, proven, strict=True))
            context.begun = Certificate("", asked.header.encode(), begun)
        rng = np.random.default_rng(run.seed)
        before, after = rng.spawn(2)
        options = parse_options(run.method, run.options)
        # a model that only decides, or a small tree, may well answer alike for thousands
        can = fed.opened.card.can
        telling = Capability.SCORES in can and Capability.TREES not in can
        real, _ = domain.admit(some_of(people, np.random.default_rng(run.seed)))
        fine = real if fits is None else real[fits(real)]
        again = _queried_again(context, asked, context.cached_model.predict_anew, fine)
        sense = preflight(context, people, before) if telling and not method.finishes else ()
        return drive(
            method.search(context, people, options, rng),
            run.budget,
            self.controls,
            call,
            send,
            before=chain(again, sense),
            # whoever looked for people and found nobody says how many there can be at most
            after=upper_bound(context, people, after)
            if method.answers in (Answers.EXAMPLES, Answers.SHARE)
            else (),
            request_finish=context.request_finish if method.finishes else None,
            repeatability=lambda: context.repeatability,
        )

    def _study(
        self,
        asked: wire.Search,
        method: Method,
        arrays: Sequence[wire.Array],
        call: int,
        send: Send,
    ) -> Ending:
        """Run a method about groups."""
        run, mapping = asked.run, asked.mapping
        rows, groups, told = arrays
        # a model that was opened before is none of an audit of decisions
        fed = self._fed(mapping, asked.domain.attributes) if mapping.inputs else None
        study = Study(
            domain=asked.domain,
            rows=rows,
            groups=groups,
            inside=told[:, 0] > 0,
            label=told[:, 1],
            decided=told[:, 2],
            model=fed,
            favourable=mapping.favourable_class,
            decisions=mapping.decisions(fed.opened.card) if fed else mapping.outcomes,
            edges=run.edges,
            text=run.text,
            terms=run.terms,
            favourable_label=asked.label,
        )
        options = parse_options(run.method, run.options)
        rng = np.random.default_rng(run.seed)
        events = method.search(study, rows[study.inside], options, rng)
        again = _queried_again(study, asked, study.predict, rows[study.inside]) if fed else ()
        return drive(
            events,
            run.budget,
            self.controls,
            call,
            send,
            before=again,
            repeatability=lambda: study.repeatability,
        )

    def _repair(
        self,
        asked: wire.Search,
        method: Method,
        arrays: Sequence[wire.Array],
        call: int,
        send: Send,
    ) -> Ending:
        """Run a repair."""
        run, mapping = asked.run, asked.mapping
        fed = self._fed(mapping, asked.domain.attributes)
        rows, groups, told, pairs, partners, numbers, flagged = arrays
        mitigation = MitigationContext(
            domain=asked.domain,
            rows=rows,
            groups=groups,
            inside=told[:, 0] > 0,
            good=told[:, 1],
            target=np.nan_to_num(told[:, 2], nan=-1.0).astype(np.int64),
            pairs=pairs,
            partners=partners,
            numbers=numbers,
            model=fed,
            favourable=mapping.favourable_class,
            rule=run.rule,
            outcome=run.outcome,
            text=run.text,
            terms=run.terms,
            edges=run.edges,
            flagged=int(flagged[0]),
        )
        options = parse_options(run.method, run.options)
        rng = np.random.default_rng(run.seed)
        events = method.search(mitigation, rows[mitigation.inside], options, rng)
        again = _queried_again(mitigation, asked, fed.predict, rows[mitigation.inside])
        return drive(
            events,
            run.budget,
            self.controls,
            call,
            send,
            before=again,
            request_finish=mitigation.request_finish,
            silent=True,
            repeatability=lambda: mitigation.repeatability,
        )


def _queried_again(
    working: SearchContext | Study | MitigationContext,
    asked: wire.Search,
    predict: Callable[[Rows], Scores],
    rows: Rows,
) -> Iterator[Event]:
    """Query rows of the data again before a run; refuse one that cannot do with what comes of it.

    Raises
    ------
    ModelError
        When the model is not repeatable as the method needs it.
    """
    rng = np.random.default_rng(asked.run.seed)
    found = query_again(predict, some_of(rows, rng), rng)
    if not found.holds:
        working.repeatability = joined(working.repeatability, found)
        if unrepeatable(method_named(asked.run.method), found, text=bool(asked.run.text)):
            raise refuse(found)
    if isinstance(working, Study):
        working.requeries = working.queries
    queries = (
        working.cached_model.queries if isinstance(working, SearchContext) else working.queries
    )
    yield Progress("preliminary", 1, 1, tried=0, found=0, queries=queries)


@contextmanager
def _signs_of_life(send: Send) -> Iterator[None]:
    """Tell now and then that something is under way that has nothing to tell itself."""
    over = threading.Event()

    def tell() -> None:
        told = wire.SearchProgress("starting", 0, 0, 0, 0, 0, {})
        send(told, ())
        while not over.wait(_LIFE_SECONDS):
            send(told, ())

    telling = threading.Thread(target=tell, daemon=True)
    telling.start()
    try:
        yield
    finally:
        over.set()
        telling.join()


def serve(incoming: BinaryIO, outgoing: BinaryIO, relay: Relay | None = None) -> None:
    """Answer requests until the app closes the pipe; then end the process.

    Parameters
    ----------
    incoming, outgoing : BinaryIO
        Nobody else reads or writes them.
    relay : Relay, optional
        As of `Guest`.
    """
    guest = Guest(outgoing, relay)
    requests: queue.SimpleQueue[Request] = queue.SimpleQueue()
    reader = threading.Thread(target=_read, args=(incoming, guest.controls, requests), daemon=True)
    reader.start()
    idle = iter(WARM_UP)
    while True:
        try:
            request = requests.get_nowait()
        except queue.Empty:
            if (module := next(idle, None)) is not None:
                # a library that is missing is told when it is needed
                with suppress(ImportError):
                    import_module(module)
                continue
            request = requests.get()
        guest.answer(request)
        del request


def _read(incoming: BinaryIO, controls: Controls, requests: queue.SimpleQueue[Request]) -> None:
    """Sort what arrives; at the end of the stream end the process, whatever it is doing."""
    code = 0
    try:
        while (frame := wire.read_to_guest(incoming)) is not None:
            if isinstance(frame.message, wire.Control):
                controls.obey(frame.call, frame.message)
            else:
                requests.put(frame)
            del frame
    except FairDeskError:
        traceback.print_exc()
        code = 3
    # the model's code may be anywhere: there is nothing to tidy up, and nothing may delay this
    os._exit(code)


def _failed(error: FairDeskError) -> wire.Failed:
    return wire.Failed(
        kind=type(error).__name__,
        what=error.what[:MOST_TEXT],
        why=error.why[:MOST_TEXT],
        remedy=error.remedy[:MOST_TEXT],
    )
