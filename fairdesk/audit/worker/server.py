"""What the guest process does: answers one request after another, searches included."""

from __future__ import annotations

import os
import queue
import threading
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, BinaryIO

import msgspec
import numpy as np

from fairdesk.audit.catalogue import implementations
from fairdesk.audit.catalogue.implementations import Search
from fairdesk.audit.catalogue.method import COMPILING, LOADING, PREPARING, Divides, QuestionKind
from fairdesk.audit.catalogue.methods import method_named, parse_options, unrepeatable
from fairdesk.audit.plan.contexts import group_context
from fairdesk.audit.plan.inputs import (
    GroupInputs,
    MitigationInputs,
    SearchInputs,
    people_blocks,
    starting_rows,
)
from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.audit.worker import frames, wire
from fairdesk.audit.worker.driving import LIFE_SECONDS, Controls, Send, drive
from fairdesk.audit.worker.frames import Frame
from fairdesk.audit.worker.wire import Ending
from fairdesk.data.domain.attributes import Attribute
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Table
from fairdesk.errors import FairDeskError, ModelError, WorkerError
from fairdesk.groups.context import GroupContext
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.engine.pace import PartTimes
from fairdesk.individual.searches.preflight import baseline, preflight
from fairdesk.individual.shares.estimate import upper_bound
from fairdesk.mitigate.context import MitigationContext
from fairdesk.models.decisions.requerying import joined, query_again, refuse, some_of
from fairdesk.models.inputs.input_check import check, show
from fairdesk.models.model import Capability, Mapping, OpenedModel
from fairdesk.results.events import Event, Progress, Rows, Scores

if TYPE_CHECKING:
    from fairdesk.audit.worker.relay_client import Relay
    from fairdesk.certify.domain.space import Places
    from fairdesk.certify.proof.certificate import Header
    from fairdesk.certify.proof.reproof_check import Reproof, Reprove
    from fairdesk.models.inputs.feeding import FedModel
    from fairdesk.population.plausible import Criterion

Request = Frame[wire.ToGuest]
#: What a method works with.
Context = SearchContext | GroupContext | MitigationContext

#: Imported while there is nothing to do, in this order: what requests are likely to need, the
#: first ones first.
WARM_UP = (
    "fairdesk.data.formats.reading",
    "fairdesk.models.open",
    "fairdesk.models.keras.file",
    "h5py",
    "fairdesk.models.dense.forward",
    "fairdesk.models.inputs.filling",
    "fairdesk.individual.searches.quick",
    "fairdesk.individual.engine.kernels",
    "fairdesk.population.row_kernels",
    "scipy.cluster.vq",
)
#: The same of a guest that compares instances with the data, and opens no model.
COMPARING_WARM_UP = (
    "fairdesk.population.row_kernels",
    "fairdesk.individual.realism.pair_plausibility",
)
#: Where modules lie that compile their loops when they are imported, unless that was done before.
_COMPILE = (
    *("fairdesk.models.dense.", "fairdesk.models.inputs.", "fairdesk.individual."),
    "fairdesk.population.",
)
#: Seconds after an answer in which the next request often follows: what is loaded would delay it.
PAUSE_SECONDS = 0.02
#: How far a table is checked is told after so many seconds.
_TELL_SECONDS = 0.5
#: Texts of errors are cut here.
MOST_TEXT = 2_000


class Guest:
    """Answers requests.

    Parameters
    ----------
    relay : Relay, optional
        The older interpreter in which models are opened; this one by default.
    """

    def __init__(self, outgoing: BinaryIO, relay: Relay | None = None) -> None:
        self.controls = Controls()
        self._relay = relay
        self._outgoing = outgoing
        self._opened: OpenedModel | None = None
        #: What parts took, by the method that asked for them: later shards of a run go on with it.
        self._part_times: defaultdict[str, PartTimes] = defaultdict(PartTimes)
        #: What else methods keep for these.
        self._kept: defaultdict[str, dict[str, object]] = defaultdict(dict)
        #: What proves boxes of a certificate once more, and of which: it is asked again and again.
        self._reproving: tuple[object, Reprove] | None = None

    def answer(self, request: Request) -> None:
        """Answer one request; whatever goes wrong is answered too."""

        def send(message: wire.FromGuest) -> None:
            frames.write(self._outgoing, request.call, message)

        failed: FairDeskError
        try:
            self._serve(request, send)
        except FairDeskError as error:
            failed = error
        except BrokenPipeError:
            raise  # the app is gone
        except MemoryError:
            failed = WorkerError(
                "There is not enough memory for this.",
                remedy="Close other programs, or audit with fewer rows or starting rows.",
            )
        except (SystemExit, KeyboardInterrupt):
            failed = ModelError(
                "The model’s own code tried to end the program.",
                remedy="Ask the author of the model for the reason, or request it as ONNX.",
            )
        except Exception as error:  # noqa: BLE001 - the boundary: a defect must not end the guest
            traceback.print_exc()
            failed = WorkerError(
                "An unexpected error occurred in the model process.",
                why=f"{type(error).__name__}: {error}.",
                remedy="See the log file for details.",
            )
        else:
            return
        send(_failed(failed))

    def _serve(self, request: Request, send: Send) -> None:
        # the readers and libraries are imported when they are needed, or while the guest is idle
        match request.message:
            case wire.ReadTable(path, dialect):
                from fairdesk.data.formats.reading import read_table  # noqa: PLC0415

                def watch(share: float) -> None:
                    send(wire.TableProgress(share))

                table = read_table(Path(path), dialect, watch)
                # by columns, as they lie in memory: a copy of a large table would take seconds
                send(wire.TableRead(table.source, table.columns, table.codes.T))
            case wire.LookInto(path):
                from fairdesk.models.pickles.contents import look_into  # noqa: PLC0415

                send(wire.LookedInto(look_into(Path(path))))
            case wire.OpenModel(path, trusted, output, companions):
                from fairdesk.models.open import open_model  # noqa: PLC0415

                self._opened = self._reproving = None
                self._part_times.clear()
                self._kept.clear()
                opening = open_model if self._relay is None else self._relay.open_model
                self._opened = opening(
                    Path(path), trusted=trusted, output=output, companions=companions
                )
                send(wire.ModelOpened(self._opened.card))
            case wire.CheckInputs(mapping, source, columns, codes, label, favourable):
                table = Table(source, columns, codes)
                send(wire.Proved(check(self._model, table, mapping, label, favourable)))
            case wire.CheckAllRows() as asked:
                self._check_all(asked, send)
            case wire.Show(mapping, source, columns, codes, label):
                table = Table(source, columns, codes)
                send(wire.Shown(show(self._model, table, mapping, label)))
            case wire.Predict(mapping, attributes, rows):
                send(wire.Predicted(self._fed(mapping, attributes).predict(rows)))
            case wire.Search() as asked:
                send(wire.SearchEnded(self._search(asked, request.call, send)))
            case wire.Pack(columns, codes, added, decimal, path):
                from fairdesk.data.formats.parquet import packed  # noqa: PLC0415

                file = packed(columns, codes.T, added.T, decimal, Path(path) if path else None)
                send(wire.Packed(np.frombuffer(file, np.int8)))
            case _:
                self._serve_findings(request, send)

    def _serve_findings(self, request: Request, send: Send) -> None:
        """Answer what is asked about people who were found."""
        match request.message:
            case wire.Weigh(domain, people, rows, partners):
                from fairdesk.individual.realism.pair_plausibility import score_plausibility  # noqa: PLC0415

                send(wire.Weighed(score_plausibility(domain, people, rows, partners)))
            case wire.Shrink() as asked:
                from fairdesk.individual.realism.minimal import shrink  # noqa: PLC0415

                send(wire.Shrunk(shrink(self._context(asked), asked.people, asked.rows)))
            case wire.Explain() as asked:
                from fairdesk.individual.surrogates.explanation import explain  # noqa: PLC0415

                rng = np.random.default_rng(asked.seed)
                favourable = asked.mapping.favourable_class
                context = self._context(asked)
                explanation = explain(context, asked.people, asked.pair, favourable, rng)
                send(wire.Explained(explanation))
            case wire.Reprove() as asked:
                send(wire.Reproved(self._reprove(asked)))
            case _:
                raise WorkerError("This message is not a request.")

    def _check_all(self, asked: wire.CheckAllRows, send: Send) -> None:
        """Check all rows of a table, and tell how far it is."""
        from fairdesk.data.formats.parts import blocks  # noqa: PLC0415 - see above
        from fairdesk.models.inputs.all_rows import check_all  # noqa: PLC0415

        source, columns = asked.source, asked.columns
        table = Table(source, columns, np.empty((0, len(columns))))
        given = (table, blocks(source, columns), asked.mapping, asked.label, asked.favourable)
        told = perf_counter()
        for found in check_all(self._model, *given, asked.found):
            if not isinstance(found, int):
                send(wire.Proved(found))
            elif perf_counter() - told > _TELL_SECONDS:
                told = perf_counter()
                send(wire.TableProgress(found / source.rows))

    def _fed(self, mapping: Mapping, attributes: tuple[Attribute, ...]) -> FedModel:
        from fairdesk.models.inputs.feeding import FedModel  # noqa: PLC0415 - see above

        return FedModel(self._model, mapping, attributes)

    @property
    def _model(self) -> OpenedModel:
        if self._opened is None:
            raise WorkerError("No model is open.", remedy="Open the model file first.")
        return self._opened

    def _context(self, asked: wire.Shrink | wire.Explain) -> SearchContext:
        return SearchContext(self._fed(asked.mapping, asked.domain.attributes), asked.domain)

    def _reprove(self, asked: wire.Reprove) -> Reproof:
        from fairdesk.certify.proof.verify.provers import reproving  # noqa: PLC0415 - see above

        boxes = asked.boxes
        roots = boxes.root_low.tobytes(), boxes.root_high.tobytes()
        key = (boxes.header, *roots, id(self._model))
        if self._reproving is None or self._reproving[0] != key:
            self._reproving = key, reproving(*self._certified(boxes))
        prove = self._reproving[1]
        return prove(
            *(boxes.low, boxes.high, boxes.group, asked.stated, asked.seconds), of=asked.of
        )

    def _certified(self, boxes: wire.Boxes) -> tuple[Header, dict[str, Places], FedModel]:
        """Return what boxes of a certificate belong to: its header, its roots, the fed model."""
        from fairdesk.certify.proof.certificate import decoded  # noqa: PLC0415 - see above

        header = decoded(boxes.header.encode())
        roots = {"root_low": boxes.root_low, "root_high": boxes.root_high}
        return header, roots, self._fed(header.mapping, header.domain.attributes)

    def _search(self, asked: wire.Search, call: int, send: Send) -> Ending:
        """Run a method on what it is given."""
        # compiled loops and libraries are loaded now, unless they were before: no part of a run
        kept = os.environ.get("NUMBA_CACHE_DIR")
        run = asked.run
        can = () if self._opened is None else self._opened.card.can
        loops = implementations.loops_of(run.method, can=can, near=_keeps_near(run))
        compiled = kept is None or implementations.is_compiled(loops, Path(kept))
        with _signs_of_life(send, LOADING if compiled else COMPILING):
            for each in loops:
                import_module(each)
            if run.shard is not None and method_named(run.method).division.within:
                search = implementations.load_part(run.method, run.shard)
            else:
                search = implementations.load(run.method)
        asked_at = perf_counter()
        send(_nothing_yet(PREPARING))
        running = partial(drive, controls=self.controls, call=call, send=send, asked_at=asked_at)
        match asked.inputs:
            case SearchInputs() as inputs:
                with _signs_of_life(send, PREPARING):
                    criterion = _criterion(run, asked.domain, inputs.people)
                return self._search_people(asked, inputs, search, running, criterion)
            case GroupInputs() as inputs:
                return self._compare_groups(asked, inputs, search, running)
            case MitigationInputs() as inputs:
                return self._mitigate(asked, inputs, search, running)

    def _search_people(
        self,
        asked: wire.Search,
        inputs: SearchInputs,
        search: Search,
        running: Callable[..., Ending],
        criterion: Criterion | None,
    ) -> Ending:
        """Run a method about individuals."""
        run, domain, people = asked.run, asked.domain, inputs.people
        method = method_named(run.method)
        fits = None
        if run.max_distance is not None:
            from fairdesk.population.nearest import Nearest  # noqa: PLC0415 - see above

            fits = Nearest(domain, people).within(run.max_distance)
        fed = self._fed(asked.mapping, domain.attributes)
        known = people[:0] if inputs.known is None else inputs.known
        context = SearchContext(fed, domain, known=known, fits=fits, criterion=criterion)
        context.favourable = asked.mapping.favourable_class
        context.part_times = self._part_times[run.method]
        if run.shard is not None:
            context.kept = self._kept[run.method]
        context.previous_certificate = inputs.previous_certificate
        if inputs.all_rows is not None:
            context.all_rows = partial(people_blocks, domain, inputs.all_rows)
            context.n_rows = inputs.all_rows.source.rows
        rng = run.rng()
        before, beside = rng.spawn(2)
        dealt = method.division.by is Divides.ROWS
        starts = starting_rows(run, people) if dealt else people
        options = parse_options(run.method, run.options)
        # a model that only decides, or a small tree, may well answer alike for thousands
        can = fed.opened.card.can
        telling = Capability.SCORES in can and Capability.TREES not in can
        real, _ = context.domain.admit(some_of(people, np.random.default_rng(run.seed)))
        fine = real if context.fits is None else real[context.fits(real)]
        again = _queried_again(context, asked, context.cached_model.predict_anew, fine)
        sense = preflight(context, people, before) if telling and not method.finishes else ()
        # of further pairs of a continued run it would tell nothing; and sampling is the baseline
        compared = run.plausible and method.seeks and method.key != "uniform" and not len(known)
        apart = SearchContext(fed, domain, fits=fits, criterion=criterion)
        held = baseline(context, apart, people, beside) if compared else ()
        return running(
            _within(run.budget, context, search(context, starts, options, rng)),
            run.budget,
            # once for all parts of a run
            before=chain(again, sense, held) if run.first else (),
            # whoever looked for people and found nobody says how many there can be at most
            after=_within(run.budget, context, upper_bound(context, people, beside))
            if method.answers in (QuestionKind.EXAMPLES, QuestionKind.SHARE)
            and run.first
            and not run.plausible
            else (),
            request_finish=context.request_finish if method.finishes else None,
            repeatability=lambda: context.repeatability,
        )

    def _compare_groups(
        self,
        asked: wire.Search,
        inputs: GroupInputs,
        search: Search,
        running: Callable[..., Ending],
    ) -> Ending:
        """Run a method about groups."""
        run, mapping = asked.run, asked.mapping
        # a model that was opened before is none of an audit of decisions
        fed = self._fed(mapping, asked.domain.attributes) if mapping.inputs else None
        context = group_context(asked.domain, mapping, run, inputs, fed)
        context.part_times = self._part_times[run.method]
        return _search_rows(asked, search, context, context.predict if fed else None, running)

    def _mitigate(
        self,
        asked: wire.Search,
        inputs: MitigationInputs,
        search: Search,
        running: Callable[..., Ending],
    ) -> Ending:
        """Run a repair."""
        run, mapping = asked.run, asked.mapping
        fed = self._fed(mapping, asked.domain.attributes)
        context = MitigationContext(
            domain=asked.domain,
            **msgspec.structs.asdict(inputs),
            model=fed,
            favourable=mapping.favourable_class,
            rule=run.rule,
            outcome=run.outcome,
            text=run.text,
            terms=run.terms,
            edges=run.edges,
        )
        finish = partial(running, request_finish=context.request_finish, silent=True)
        return _search_rows(asked, search, context, fed.predict, finish)


def _search_rows(
    asked: wire.Search,
    search: Search,
    context: GroupContext | MitigationContext,
    predict: Callable[[Rows], Scores] | None,
    running: Callable[..., Ending],
) -> Ending:
    """Run a method on the rows of the data; without ``predict`` there is no model to query."""
    run, people = asked.run, context.rows[context.inside]
    options = parse_options(run.method, run.options)
    events = search(context, people, options, run.rng())
    return running(
        _within(run.budget, context, events),
        run.budget,
        before=_queried_again(context, asked, predict, people) if predict and run.first else (),
        repeatability=lambda: context.repeatability,
    )


def _keeps_near(run: RunSpec) -> bool:
    """Return whether instances are compared with rows of the data."""
    return run.max_distance is not None or run.plausible


def _criterion(run: RunSpec, domain: Domain, people: Rows) -> Criterion | None:
    """Learn what is plausible where a run is kept to it."""
    if not run.plausible:
        return None
    from fairdesk.population.plausible import Criterion  # noqa: PLC0415 - see above

    return Criterion.fit(domain, people)


def _within(budget: Budget, context: Context, events: Iterator[Event]) -> Iterator[Event]:
    """Yield a method's events; from its beginning on it knows how many rows it may send."""
    if budget.queries is not None and not isinstance(context, MitigationContext):
        context.most_queries = context.queries + budget.queries
    yield from events


def _queried_again(
    working: Context, asked: wire.Search, predict: Callable[[Rows], Scores], rows: Rows
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
    if isinstance(working, GroupContext):
        working.requeries = working.queries
    yield Progress("preliminary", 1, 1, tried=0, found=0, queries=working.queries)


def _nothing_yet(phase: str) -> Progress:
    return Progress(phase, done=0, total=0, tried=0, found=0, queries=0)


@contextmanager
def _signs_of_life(send: Send, phase: str) -> Iterator[None]:
    """Tell now and then that something is under way that has nothing to tell itself."""
    over = threading.Event()

    def tell() -> None:
        send(_nothing_yet(phase))
        while not over.wait(LIFE_SECONDS):
            send(_nothing_yet(phase))

    telling = threading.Thread(target=tell, daemon=True)
    telling.start()
    try:
        yield
    finally:
        over.set()
        telling.join()


def serve(
    incoming: BinaryIO,
    outgoing: BinaryIO,
    relay: Relay | None = None,
    warm_up: Sequence[str] = WARM_UP,
) -> None:
    """Answer requests until the app closes the pipe; then end the process.

    Parameters
    ----------
    relay : Relay, optional
        As of `Guest`.
    warm_up : sequence of str
        Modules that are loaded while there is nothing else to do.
    """
    guest = Guest(outgoing, relay)
    requests: queue.SimpleQueue[Request] = queue.SimpleQueue()
    reader = threading.Thread(target=_read, args=(incoming, guest.controls, requests), daemon=True)
    reader.start()
    idle, pause = iter(_without_compiling(warm_up)), 0.0
    while True:
        try:
            request = requests.get(timeout=pause)
        except queue.Empty:
            pause = 0.0
            if (module := next(idle, None)) is not None:
                # a library that is missing is told when it is needed
                with suppress(ImportError):
                    import_module(module)
                continue
            request = requests.get()
        if isinstance(request.message, wire.Search):
            # it loads what it needs; afterwards the processors have more urgent work
            idle = iter(())
        guest.answer(request)
        pause = PAUSE_SECONDS
        del request


def _without_compiling(modules: Sequence[str]) -> list[str]:
    """Return the modules that can be loaded without compiling anything.

    Loops are compiled by a process of its own, for all guests; one that comes before that is done
    compiles only those that it is asked to use.
    """
    kept = os.environ.get("NUMBA_CACHE_DIR")
    compiled = kept is None or any(Path(kept).rglob("*.nbi"))
    return [each for each in modules if compiled or not each.startswith(_COMPILE)]


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
