"""The app's handle on the process that holds the model under audit."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.plan.inputs import MitigationInputs, RunInputs
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.sandbox.confinement import Confinement, unknown
from fairdesk.audit.sandbox.sandbox import Given
from fairdesk.audit.worker import wire
from fairdesk.audit.worker.answer_checks import (
    MOST_TEXT,
    check_added_rows,
    check_card,
    check_event,
    check_explanation,
    check_pairs,
    check_shape,
    checked_file,
    expect,
    nonsense,
)
from fairdesk.audit.worker.child import GUEST, Child, Received
from fairdesk.audit.worker.wire import Ending
from fairdesk.certify.domain.space import Places
from fairdesk.certify.proof import certificate
from fairdesk.certify.proof.reproof_check import KINDS, Reproof
from fairdesk.certify.proof.verify import SolverVerdicts
from fairdesk.data.domain.attributes import Attribute
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Dialect, Table
from fairdesk.errors import ERRORS, DataError, ModelError, WorkerError
from fairdesk.individual.realism.plausibility import Plausibility
from fairdesk.individual.surrogates.explanation import Explanation
from fairdesk.models.decisions.recorded import prediction_columns
from fairdesk.models.inputs.input_check import InputCheck, SampleRow
from fairdesk.models.model import Companion, Mapping, ModelCard
from fairdesk.models.pickles.contents import Contents
from fairdesk.results.events import Event, Found, Rows, Scores
from fairdesk.results.mitigation import Augmented, Retrained

#: How often a waiting call looks whether it was paused.
_LOOK_SECONDS = 0.5
#: What a run yields.
_EVENTS: tuple[type[Event], ...] = get_args(Event)
#: What may come before the answer, by request; anything else would only keep the app waiting.
_BEFORE: dict[type, tuple[type, ...]] = {
    wire.ReadTable: (wire.TableProgress,),
    wire.Search: _EVENTS,
}


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the app waits, in seconds, before it takes the process for hung.

    Attributes
    ----------
    table : float
        For a table to be read.
    model : float
        For a model to be opened.
    answer : float
        For predictions, and between two events of a search.
    stop : float
        For a stopped search to end by itself; then the process is asked to end.
    finish : float
        The same for a search that still says what it came to.
    terminate : float
        For that; then it is killed.
    """

    table: float = 600.0
    model: float = 180.0
    answer: float = 300.0
    stop: float = 2.0
    finish: float = 30.0
    terminate: float = 1.0


@dataclass(frozen=True, slots=True)
class _Opened:
    """The model that is to be opened again in a fresh process."""

    request: wire.OpenModel
    command: Sequence[str]
    card: ModelCard


@dataclass(slots=True)
class _Call:
    """The call that is being answered."""

    number: int
    child: Child
    cooperates: bool
    patience: float
    stopped: bool = False
    paused: bool = False


class Searching(Iterator[Event]):
    """The events of a running search. Closing it before its end stops the search.

    Attributes
    ----------
    ending : str, optional
        Once there are no more events: ``"done"``, ``"stopped"`` (by the auditor) or
        ``"budget"`` (used up).
    """

    def __init__(self, events: Generator[Event, None, Ending]) -> None:
        self.ending: Ending | None = None
        self._events = events

    def __next__(self) -> Event:
        try:
            return next(self._events)
        except StopIteration as end:
            self.ending = self.ending or end.value
            raise

    def close(self) -> None:
        """Stop the search if it still runs."""
        self._events.close()


class Worker:
    """One process that reads tables, opens a model and searches; restarted when it dies.

    Calls block: make them from a background thread, one after the other (a second thread waits
    for its turn). `pause`, `resume`, `stop` and `close` return at once and may come from any
    thread. Every call raises `WorkerError` when the process dies, hangs, is stopped, or talks
    nonsense, and other `fairdesk.errors.FairDeskError` for what went wrong inside it.

    Parameters
    ----------
    patience : Patience
        How long to wait for what.
    command : sequence of str
        What to start instead of FairDesk's own guest.
    """

    def __init__(self, patience: Patience | None = None, *, command: Sequence[str] = GUEST) -> None:
        self._patience = patience or Patience()
        self._default = self._command = command
        self._turn = threading.Lock()  # held during a call
        self._state = threading.Lock()  # guards what follows; held for moments
        self._closed = False
        self._calls = 0
        self._call: _Call | None = None
        self._opened: _Opened | None = None
        self._opened_in: Child | None = None
        self._tainted: Child | None = None  # it was told to run the code of a model file
        self._child = Child(command)

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._child.alive

    @property
    def paused(self) -> bool:
        """Whether the running search was asked to pause."""
        call = self._call
        return call is not None and call.paused

    def confinement(self) -> Confinement:
        """Return what the process cannot do: it has tried, before it read anything.

        Waits until the process has started.
        """
        told = self._living_child(self._command).confinement(self._patience.model)
        return told or unknown()

    def read_table(
        self,
        path: Path,
        dialect: Dialect | None = None,
        watch: Callable[[float], None] | None = None,
    ) -> Table:
        """Read a table's file; raises `errors.DataError` like `formats.reading`.

        ``watch`` is told now and then, in this thread, which share of it was read.
        """
        original = _text(path)
        with self._turn:
            child = self._clean_child()
            given = child.give("table", Path(original), link=True)
            request = wire.ReadTable(original if given is None else str(given.private), dialect)
            # meanwhile: a large table takes a while
            fingerprint = _Fingerprint(given)
            answers = self._converse(child, request, self._patience.table, "read the data")
            try:
                for frame in answers:
                    if not isinstance(frame.message, wire.TableProgress):
                        break
                    if watch is not None:
                        watch(min(max(frame.message.share, 0.0), 1.0))
                if given is not None and given.linked and not given.unchanged:
                    raise DataError(
                        f"“{path.name}” was changed while it was read.",
                        why="Another program has written to it.",
                        remedy="Wait until that is done, then open the file again.",
                    )
                digest = fingerprint.wait()
            finally:
                child.take("table")
        message = expect(frame, wire.TableRead)
        check_shape(message.codes, (len(message.columns), None))
        source = msgspec.structs.replace(
            message.source, path=original, sha256=digest or message.source.sha256
        )
        return Table(source, message.columns, message.codes.T)

    def look_into(self, path: Path) -> Contents:
        """Return what a model file is made of, without running anything of it.

        Raises
        ------
        ModelError
            When the file may not be read.
        """
        original = _text(path)
        with self._turn:
            child = self._clean_child()
            given = child.give("model", Path(original))
            request = wire.LookInto(original if given is None else str(given.private))
            doing = "look into the model file"
            answers = self._converse(child, request, self._patience.model, doing)
            frame = deque(answers, maxlen=1).pop()
        return expect(frame, wire.LookedInto).contents

    def open_model(
        self,
        path: Path,
        *,
        trusted: bool = False,
        output: str = "",
        companions: Sequence[Companion] = (),
        command: Sequence[str] | None = None,
    ) -> ModelCard:
        """Open a model file and keep it open.

        Parameters
        ----------
        path : Path
            The model file.
        trusted : bool
            Whether the auditor agreed to run its code.
        output : str
            Which output decides, of a model with several.
        companions : sequence of Companion
            Files beside it that tell how it is fed.
        command : sequence of str, optional
            The guest to open it in: that of another environment. By default this worker's own.

        Raises
        ------
        TrustRequiredError
            When the file is a program and ``trusted`` is false; nothing of it has run.
        ModelError
            When it cannot be opened.
        """
        with self._turn:
            self._opened = None
            others = tuple(
                msgspec.structs.replace(each, path=_text(Path(each.path))) for each in companions
            )
            request = wire.OpenModel(_text(path), trusted, output, others)
            chosen = self._default if command is None else command
            return self._open(self._clean_child(chosen), request, chosen)

    def prove(self, mapping: Mapping, table: Table, label: str, favourable: str) -> InputCheck:
        """Check how the open model is fed, on the whole table: `input_check.check`."""
        kept = _needed(mapping, table, label, *prediction_columns(table, label))
        columns = tuple(table.columns[i] for i in kept)
        codes = table.codes[:, kept]
        frame = self._answer(
            wire.CheckInputs(mapping, table.source, columns, codes, label, favourable),
            self._patience.answer,
            "answer for the rows of the table",
        )
        return expect(frame, wire.Proved).proof

    def show(
        self, mapping: Mapping, table: Table, label: str, rows: Sequence[int]
    ) -> tuple[SampleRow, ...]:
        """Show what the open model is sent for some rows, counted from 1, and what it answers."""
        places = np.array(rows, dtype=np.intp) - 1
        kept = _needed(mapping, table, label)
        columns = tuple(table.columns[i] for i in kept)
        frame = self._answer(
            wire.Show(mapping, table.source, columns, table.codes[places][:, kept], label),
            self._patience.answer,
            "answer for the rows of the table",
        )
        sample = expect(frame, wire.Shown).sample
        if len(sample) != len(rows):
            raise nonsense("it shows other rows than were asked for")
        return tuple(
            msgspec.structs.replace(shown, row=row) for shown, row in zip(sample, rows, strict=True)
        )

    def predict(self, mapping: Mapping, attributes: tuple[Attribute, ...], rows: Rows) -> Scores:
        """Ask the open model about ``(n, d)`` rows; gives ``(n, k)`` scores."""
        request = wire.Predict(mapping, attributes, rows)
        frame = self._answer(request, self._patience.answer, "answer")
        scores = expect(frame, wire.Predicted).scores
        check_shape(scores, (len(rows), self._width(mapping)))
        return scores

    def weigh(self, domain: Domain, people: Rows, rows: Rows) -> Plausibility:
        """Return how plausible ``(n, d)`` invented people are, given ``(m, d)`` real ones.

        No model need be open. Ask about some ten thousand at once: there is no word in between.
        """
        request = wire.Weigh(domain, people, rows)
        told = expect(self._answer(request, self._patience.answer, "compare people"), wire.Weighed)
        distance, nearest, score = told.distance, told.nearest, told.score
        for each in (distance, nearest, score):
            check_shape(each, (len(rows),))
        if not (
            ((distance >= 0) & (distance <= 1)).all()
            and ((score >= 0) & (score <= 1)).all()
            and ((nearest >= 0) & (nearest < len(people))).all()
        ):
            raise nonsense("nobody can be as near as it says")
        return Plausibility(distance, nearest.astype(np.intp, copy=False), score)

    def shrink(self, mapping: Mapping, domain: Domain, people: Rows, rows: Rows) -> Found:
        """Bring ``(n, d)`` instances as near to real people as they stay instances.

        Returns
        -------
        Found
            ``n`` pairs, row by row for those asked about, each re-checked on the model.
        """
        request = wire.Shrink(mapping, domain, people, rows)
        frame = self._answer(request, self._patience.answer, "bring pairs nearer")
        found = expect(frame, wire.Shrunk).pairs
        check_pairs(found, domain, self._width(mapping))
        if len(found.rows) != len(rows):
            raise nonsense("it answers for other pairs than were asked about")
        return found

    def explain(
        self, mapping: Mapping, domain: Domain, people: Rows, pair: Rows, seed: int = 0
    ) -> Explanation:
        """Explain why the two people of a pair, ``(2, d)``, are decided differently."""
        request = wire.Explain(mapping, domain, people, pair, seed)
        frame = self._answer(request, self._patience.answer, "explain")
        explanation = expect(frame, wire.Explained).explanation
        check_explanation(explanation, domain, self._width(mapping))
        return explanation

    def solve(
        self,
        header: certificate.Header,
        roots: tuple[Places, Places],
        low: Places,
        high: Places,
        group: NDArray[np.int64],
        unlike: NDArray[np.bool_],
        seconds: float,
    ) -> SolverVerdicts:
        """Ask a solver about boxes of a certificate: `fairdesk.certify.proof.verify.solver`."""
        boxes = _boxes(header, roots, low, high, group)
        request = wire.Solve(boxes, unlike, seconds)
        told = expect(self._answer(request, self._patience.answer, "find an answer"), wire.Solved)
        verdict, places = told.verdict, told.places
        check_shape(verdict, (len(low),))
        check_shape(places, low.shape)
        inside = ((places >= low) & (places <= high)).all()
        if not inside or not np.isin(verdict, (-1, 0, 1)).all():
            raise nonsense("it found somebody where nobody was sought")
        return SolverVerdicts(verdict, places)

    def reprove(
        self,
        header: certificate.Header,
        roots: tuple[Places, Places],
        low: Places,
        high: Places,
        group: NDArray[np.int64],
        stated: NDArray[np.float64],
        seconds: float,
    ) -> Reproof:
        """Prove boxes of a certificate once more: `fairdesk.certify.proof.verify.reproving`."""
        request = wire.Reprove(_boxes(header, roots, low, high, group), stated, seconds)
        frame = self._answer(request, self._patience.answer, "prove boxes once more")
        told = expect(frame, wire.Reproved)
        for each in (told.alike, told.unlike, told.contradicted):
            check_shape(each, (len(low),))
        check_shape(told.places, low.shape)
        inside = ((told.places >= low) & (told.places <= high)).all()
        shares = np.stack([told.alike, told.unlike])
        fits = ((shares >= 0.0) & (shares <= 1.0)).all() and np.isin(told.contradicted, KINDS).all()
        if not (inside and fits):
            raise nonsense("it proves what cannot be")
        return Reproof(told.alike, told.unlike, told.contradicted, told.places)

    def pack(self, table: Table, added: Rows, original: Path | None = None) -> bytes:
        """Write a table, and ``(m, columns)`` rows added to it, as a Parquet file.

        Parameters
        ----------
        table : Table
            The table.
        added : Rows
            Codes of its columns.
        original : Path, optional
            The Parquet file that it came from: then that file's types and values are kept.

        Raises
        ------
        DataError
            When the original cannot be read, or is another table.
        """
        with self._turn:
            # what is trained with must come from a process that no model could meddle with
            child = self._clean_child()
            path = "" if original is None else _text(original)
            given = None if original is None else child.give("table", original, link=True)
            if given is not None:
                path = str(given.private)
            decimal = table.source.dialect.decimal
            request = wire.Pack(table.columns, table.codes.T, added.T, decimal, path)
            try:
                answers = self._converse(child, request, self._patience.table, "write the table")
                frame = deque(answers, maxlen=1).pop()
            finally:
                child.take("table")
        content = expect(frame, wire.Packed).content
        check_shape(content, (None,))
        file = content.tobytes()
        if file[:4] != b"PAR1" or file[-4:] != b"PAR1":
            raise nonsense("it wrote no Parquet file")
        return file

    def search(
        self, mapping: Mapping, domain: Domain, inputs: RunInputs, run: RunSpec
    ) -> Searching:
        """Run a method on the open model; it starts with the first event that is asked for.

        Events come at most about 20 times a second, findings gathered in between; the last event
        of a search that was not cut off is a `Progress`. While it is paused its last
        progress is told once more. A search that is stopped ends like one that is done.
        """
        return Searching(self._search(wire.Search(mapping, domain, run, inputs)))

    def pause(self) -> None:
        """Hold the running search between two events; nothing without one."""
        self._control(wire.Pause())

    def resume(self) -> None:
        """Let a paused search go on."""
        self._control(wire.Resume())

    def stop(self) -> None:
        """End what is running; nothing without it.

        A search stops between two events, or when it does not within two seconds its process is
        ended: either way it simply has no more events. Any other call is ended with its process
        at once, and raises `WorkerError`.
        """
        self._control(wire.Stop())

    def close(self) -> None:
        """End the process for good. May be repeated."""
        with self._state:
            self._closed = True
        self._child.kill()

    def _control(self, message: wire.Control) -> None:
        with self._state:
            call = self._call
            if call is None or call.stopped:
                return
            if isinstance(message, wire.Stop) and not call.cooperates:
                call.stopped = True
                call.child.kill()
                return
            call.child.tell(call.number, message)
            call.paused = isinstance(message, wire.Pause)
            call.stopped = isinstance(message, wire.Stop)
            if call.stopped:
                child = call.child
                args = (child, child.answered, self._patience, call.patience)
                threading.Thread(target=_insist, args=args).start()

    def _search(self, request: wire.Search) -> Generator[Event, None, Ending]:
        with self._turn:
            frames = self._frames(request, self._patience.answer, "take the next step")
            try:
                for frame in frames:
                    if isinstance(frame.message, wire.SearchEnded):
                        return frame.message.ending
                    yield self._checked(expect(frame, _EVENTS), request)
            except _StoppedError:
                return "stopped"
            except GeneratorExit:
                self.stop()
                with suppress(WorkerError):
                    deque(frames, maxlen=0)  # until it is over
                raise
            finally:
                frames.close()
        raise nonsense("a search ended without saying so")

    def _checked(self, event: Event, request: wire.Search) -> Event:
        """Return an event of a run, if it can be one."""
        if not isinstance(event, Augmented | Retrained):
            check_event(event, request.domain, self._width(request.mapping))
            return event
        if self._opened is None or not isinstance(request.inputs, MitigationInputs):
            raise nonsense("it made what nobody has asked for")
        if isinstance(event, Augmented):
            classes = len(self._opened.card.classes)
            check_added_rows(event, request.domain, classes, len(request.inputs.rows))
            return event
        return checked_file(event)

    def _answer(self, request: wire.Request, patience: float, doing: str) -> Received:
        """Make a call that has one answer."""
        with self._turn:
            return deque(self._frames(request, patience, doing), maxlen=1).pop()

    def _frames(
        self, request: wire.Request, patience: float, doing: str
    ) -> Generator[Received, None, None]:
        """Make a call on a living child, with the model open again that was open before."""
        before = self._opened
        child = self._living_child(self._command if before is None else before.command)
        if before is not None and self._opened_in is not child:
            self._open(child, before.request, before.command, before.card)
        yield from self._converse(child, request, patience, doing)

    def _open(
        self,
        child: Child,
        request: wire.OpenModel,
        command: Sequence[str],
        before: ModelCard | None = None,
    ) -> ModelCard:
        """Open a model; again, if it is that of ``before`` and no other has taken its place."""
        self._opened_in = None
        given = _GivenModel(child, request)
        # before it is opened: the auditor agreed to run that file, and not this one
        given.check(before)
        if given.runs_code:
            self._tainted = child
        answers = self._converse(child, given.request, self._patience.model, "open the model")
        card = expect(deque(answers, maxlen=1).pop(), wire.ModelOpened).card
        check_card(card)
        card = given.in_original_words(card)
        self._opened = _Opened(request, command, card)
        self._opened_in = child
        return card

    def _remedy(self, request: wire.Request) -> str:
        """Say what to do when a request is not answered in time, by what it is about."""
        if isinstance(request, wire.ReadTable):
            return "Try again with a smaller file, or when the computer is less busy."
        opened = request if isinstance(request, wire.OpenModel) else None
        if opened is None and self._opened is not None:
            opened = self._opened.request
        asked = "ask whoever made the model why it takes so long"
        if opened is not None and not opened.path.casefold().endswith(".onnx"):
            asked += ", or for it as ONNX"
        return f"Results so far are kept. Try again with fewer rows or seeds, or {asked}."

    def _width(self, mapping: Mapping) -> int | None:
        """How many scores the fed model gives for a row; ``None`` without a model."""
        if self._opened is None:
            return None
        decisions = len(mapping.decisions(self._opened.card))
        return 1 if decisions == 2 else decisions

    def _until_stopped(self, request: wire.Request) -> float:
        """Say how long to wait, once it is told to stop, for the answer to a request."""
        method = METHODS.get(request.run.method) if isinstance(request, wire.Search) else None
        finishes = method is not None and method.finishes
        return self._patience.finish if finishes else self._patience.stop

    def _clean_child(self, command: Sequence[str] | None = None) -> Child:
        """Return a process in which no code of a model file has run that could meddle."""
        return self._living_child(command or self._default, clean=True)

    def _living_child(self, command: Sequence[str], *, clean: bool = False) -> Child:
        with self._state:
            if self._closed:
                raise WorkerError("The process that holds the model was closed.")
            tainted = clean and self._tainted is self._child
            if tainted or not self._child.alive or command != self._command:
                self._child.kill()
                self._child = Child(command)
                self._command = command
            return self._child

    def _converse(
        self,
        child: Child,
        request: wire.Request,
        patience: float,
        doing: str,
    ) -> Iterator[Received]:
        """Yield the frames of one call; the last is its answer."""
        with self._state:
            self._calls += 1
            call = self._call = _Call(
                self._calls, child, isinstance(request, wire.Search), self._until_stopped(request)
            )
            # before anybody can tell the child to stop it
            child.ask(call.number, request)
        since = monotonic()
        over = False
        try:
            while not over:
                try:
                    frame = child.receive(min(_LOOK_SECONDS, patience))
                except queue.Empty:
                    if call.paused:
                        since = monotonic()
                    elif monotonic() - since > patience:
                        raise _hung(doing, patience, self._remedy(request)) from None
                    continue
                except WorkerError as error:
                    if call.stopped:
                        raise _StoppedError("The work was stopped.") from error
                    raise
                if frame.call != call.number:
                    raise nonsense("it answers a call that was not made")
                since = monotonic()
                over = not isinstance(frame.message, wire.UNDERWAY)
                if not over and not isinstance(frame.message, _BEFORE.get(type(request), ())):
                    raise nonsense(f"{type(frame.message).__name__} is no answer here")
                if isinstance(frame.message, wire.Failed):
                    raise _error(frame.message, child)
                yield frame
        finally:
            with self._state:
                self._call = None
            if not over:  # whatever it still says belongs to nothing
                child.kill()


def _boxes(
    header: certificate.Header,
    roots: tuple[Places, Places],
    low: Places,
    high: Places,
    group: NDArray[np.int64],
) -> wire.Boxes:
    """Say of which certificate boxes are; a file may hold their places as smaller whole numbers."""
    arrays = (np.asarray(each, dtype=np.int64) for each in (*roots, low, high, group))
    return wire.Boxes(certificate.encoded(header).decode(), *arrays)


def _needed(mapping: Mapping, table: Table, *names: str) -> list[int]:
    """Return the positions of the columns that a mapping needs, and of some others."""
    used = {*names, *(made.attribute for made in mapping.inputs)}
    return [i for i, name in enumerate(table.names) if name in used]


class _StoppedError(WorkerError):
    """The process had to be ended because it did not stop by itself."""


class _Fingerprint(threading.Thread):
    """The SHA-256 of a file that a guest was given, found in the background."""

    def __init__(self, given: Given | None) -> None:
        super().__init__(daemon=True)
        self._given, self._digest = given, ""
        self.start()

    def run(self) -> None:
        if self._given is not None:
            with suppress(OSError):  # the guest tells what is wrong with the file
                self._digest = self._given.fingerprint()

    def wait(self) -> str:
        """Return it; nothing where there is no such file."""
        self.join()
        return self._digest


class _GivenModel:
    """A model and the files beside it, in a guest's folder, with their fingerprints.

    What the model's own code would tell about the files is not to be relied on: they are
    fingerprinted here, before it can run, and so are exactly the bytes that it is opened from.
    """

    def __init__(self, child: Child, request: wire.OpenModel) -> None:
        self._child, self._original = child, request
        given = child.give("model", Path(request.path))
        self.sha256 = _Fingerprint(given).wait()
        self._companions = []
        private = []
        for i, companion in enumerate(request.companions):
            beside = child.give(f"companion {i}", Path(companion.path))
            digest = _Fingerprint(beside).wait()
            self._companions.append(msgspec.structs.replace(companion, sha256=digest))
            path = companion.path if beside is None else str(beside.private)
            private.append(msgspec.structs.replace(companion, path=path, sha256=digest))
        path = request.path if given is None else str(given.private)
        #: What the guest is asked.
        self.request = msgspec.structs.replace(request, path=path, companions=tuple(private))

    @property
    def runs_code(self) -> bool:
        """Whether the auditor agreed that code of these files may run."""
        return self._original.trusted or any(each.trusted for each in self._companions)

    def check(self, before: ModelCard | None) -> None:
        """Refuse files that are not those of a card."""
        if before is None:
            return
        for path, wanted, found in (
            (before.path, before.sha256, self.sha256),
            *(
                (old.path, old.sha256, new.sha256)
                for old, new in zip(before.companions, self._companions, strict=True)
            ),
        ):
            if found and found != wanted:
                raise ModelError(
                    f"The file “{Path(path).name}” has changed since the model was opened.",
                    why=f"Its fingerprint was {wanted[:12]}…, now it is {found[:12]}….",
                    remedy="Put the earlier file back, or begin a new audit with this one.",
                )

    def in_original_words(self, card: ModelCard) -> ModelCard:
        """Put the user's files into the guest's card."""
        return msgspec.structs.replace(
            card,
            path=self._original.path,
            sha256=self.sha256,
            companions=tuple(self._companions),
            warnings=tuple(map(self._child.in_original_words, card.warnings)),
        )


def _insist(child: Child, answered: threading.Event, patience: Patience, first: float) -> None:
    """End a process that does not stop by itself."""
    if not answered.wait(first):
        child.terminate()
        if not answered.wait(patience.terminate):
            child.kill()


def _text(path: Path) -> str:
    """Return a path as text that can be sent, and kept in the audit file."""
    text = str(path.absolute())
    try:
        text.encode()
    except UnicodeEncodeError:
        shown = text.encode(errors="replace").decode()
        raise WorkerError(
            f"The name of “{shown}” has bytes that are no letters.",
            why="It was most likely written by another system, in an old encoding.",
            remedy="Rename the file, or the folder that it is in.",
        ) from None
    return text


def _error(failed: wire.Failed, child: Child) -> Exception:
    kind = ERRORS.get(failed.kind, WorkerError)
    what, why, remedy = (
        child.in_original_words(text[:MOST_TEXT])
        for text in (failed.what, failed.why, failed.remedy)
    )
    return kind(what, why=why, remedy=remedy)


def _hung(doing: str, patience: float, remedy: str) -> WorkerError:
    return WorkerError(
        f"The process that holds the model did not {doing} within {patience:g} seconds.",
        why="It hangs, or is very slow; it was ended.",
        remedy=remedy,
    )
