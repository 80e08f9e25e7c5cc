"""The app's handle on the process that holds the model under audit."""

from __future__ import annotations

import math
import queue
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Literal, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.catalogue.methods import METHODS, Answers
from fairdesk.audit.plan.adding import why_wrong
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.sandbox.confinement import Confinement, unknown
from fairdesk.audit.sandbox.sandbox import Given
from fairdesk.audit.worker import wire
from fairdesk.audit.worker.child import GUEST, Child, Received
from fairdesk.certify.domain.space import Places
from fairdesk.certify.proof import certificate
from fairdesk.certify.proof.reproof_check import KINDS, Reproof
from fairdesk.certify.proof.verify import SolverVerdicts
from fairdesk.data.domain.domain import Attribute, Domain
from fairdesk.data.table import Dialect, Table
from fairdesk.errors import ERRORS, DataError, ModelError, WorkerError
from fairdesk.individual.realism.plausibility import Plausibility
from fairdesk.individual.surrogates.explanation import MOST_VARIANTS, Explanation
from fairdesk.models.decisions.recorded import prediction_columns
from fairdesk.models.inputs.input_check import InputCheck, SampleRow
from fairdesk.models.model import Companion, Mapping, ModelCard
from fairdesk.models.pickles.contents import Contents
from fairdesk.repeatability import Repeatability
from fairdesk.results.events import (
    Certificate,
    Event,
    ExcessChange,
    Found,
    GradientFidelity,
    GroupGap,
    GroupTable,
    LinearGroup,
    Measured,
    Metric,
    PairShare,
    Progress,
    Proven,
    Refinement,
    Region,
    Rows,
    RuleSearchSummary,
    RuleSet,
    Scores,
    Share,
    TermRate,
)
from fairdesk.results.trials import Augmented, Repair, Retrained, Trial

Ending = Literal["done", "stopped", "budget"]
T = TypeVar("T")

#: How often a waiting call looks whether it was paused.
_LOOK_SECONDS = 0.5
#: What may come before the answer, by request; anything else would only keep the app waiting.
_BEFORE: dict[type, tuple[type, ...]] = {
    wire.ReadTable: (wire.TableProgress,),
    wire.Search: (
        wire.SearchFound,
        wire.SearchProgress,
        wire.SearchMeasured,
        wire.SearchCertified,
        wire.SearchAugmented,
        wire.SearchRetrained,
    ),
}
#: More of these no card may tell: what is shown is made for people.
MOST_INPUTS, MOST_CLASSES, MOST_WARNINGS = 100_000, 10_000, 200
#: Letters of a text that a guest tells.
MOST_TEXT = 4_000

#: No count has more digits.
_MOST_DIGITS = 4_000
#: By how much shares that were rounded may pass the whole.
_ROUNDED = 1e-9


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
            frames = self._converse(child, request, (), self._patience.table, "read the data")
            try:
                for frame in frames:
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
        message = _expect(frame, wire.TableRead)
        (codes,) = _arrays(frame, (len(message.columns), None))
        source = msgspec.structs.replace(
            message.source, path=original, sha256=digest or message.source.sha256
        )
        return Table(source, message.columns, codes.T)

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
            frames = self._converse(child, request, (), self._patience.model, doing)
            frame = deque(frames, maxlen=1).pop()
        return _expect(frame, wire.LookedInto).contents

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
        frame = self._answer(
            wire.CheckInputs(mapping, table.source, columns, label, favourable),
            (table.codes[:, kept],),
            self._patience.answer,
            "answer for the rows of the table",
        )
        return _expect(frame, wire.Proved).proof

    def show(
        self, mapping: Mapping, table: Table, label: str, rows: Sequence[int]
    ) -> tuple[SampleRow, ...]:
        """Show what the open model is sent for some rows, counted from 1, and what it answers."""
        places = np.array(rows, dtype=np.intp) - 1
        kept = _needed(mapping, table, label)
        columns = tuple(table.columns[i] for i in kept)
        frame = self._answer(
            wire.Show(mapping, table.source, columns, label),
            (table.codes[places][:, kept],),
            self._patience.answer,
            "answer for the rows of the table",
        )
        sample = _expect(frame, wire.Shown).sample
        if len(sample) != len(rows):
            raise _nonsense("it shows other rows than were asked for")
        return tuple(
            msgspec.structs.replace(shown, row=row) for shown, row in zip(sample, rows, strict=True)
        )

    def predict(self, mapping: Mapping, attributes: tuple[Attribute, ...], rows: Rows) -> Scores:
        """Ask the open model about ``(n, d)`` rows; gives ``(n, k)`` scores."""
        frame = self._answer(
            wire.Predict(mapping, attributes), (rows,), self._patience.answer, "answer"
        )
        _expect(frame, wire.Predicted)
        (scores,) = _arrays(frame, (len(rows), self._width(mapping)))
        return scores.astype(np.float32, copy=False)

    def weigh(self, domain: Domain, people: Rows, rows: Rows) -> Plausibility:
        """Return how plausible ``(n, d)`` invented people are, given ``(m, d)`` real ones.

        No model need be open. Ask about some ten thousand at once: there is no word in between.
        """
        frame = self._answer(
            wire.Weigh(domain), (people, rows), self._patience.answer, "compare people"
        )
        _expect(frame, wire.Weighed)
        n = len(rows)
        distance, nearest, score = _arrays(frame, (n,), (n,), (n,))
        if not (
            ((distance >= 0) & (distance <= 1)).all()
            and ((score >= 0) & (score <= 1)).all()
            and ((nearest >= 0) & (nearest < len(people))).all()
        ):
            raise _nonsense("nobody can be as near as it says")
        return Plausibility(distance.astype(float), nearest.astype(np.intp), score.astype(float))

    def shrink(self, mapping: Mapping, domain: Domain, people: Rows, rows: Rows) -> Found:
        """Bring ``(n, d)`` instances as near to real people as they stay instances.

        Returns
        -------
        Found
            ``n`` pairs, row by row for those asked about, each re-checked on the model.
        """
        frame = self._answer(
            wire.Shrink(mapping, domain),
            (people, rows),
            self._patience.answer,
            "bring pairs nearer",
        )
        _expect(frame, wire.Shrunk)
        found = _found(frame, domain, self._width(mapping), "minimal")
        if len(found.rows) != len(rows):
            raise _nonsense("it answers for other pairs than were asked about")
        return found

    def explain(
        self, mapping: Mapping, domain: Domain, people: Rows, pair: Rows, seed: int = 0
    ) -> Explanation:
        """Explain why the two people of a pair, ``(2, d)``, are decided differently."""
        frame = self._answer(
            wire.Explain(mapping, domain, seed), (people, pair), self._patience.answer, "explain"
        )
        explanation = _expect(frame, wire.Explained).explanation
        if not _explains(explanation, domain, self._width(mapping)):
            raise _nonsense("it explains with other attributes or decisions than there are")
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
        frame = self._answer(
            wire.Solve(certificate.encoded(header).decode(), seconds),
            (*roots, low, high, group, unlike),
            self._patience.answer,
            "find an answer",
        )
        _expect(frame, wire.Solved)
        verdict, places = _arrays(frame, (len(low),), low.shape)
        inside = ((places >= low) & (places <= high)).all()
        if not inside or not np.isin(verdict, (-1, 0, 1)).all():
            raise _nonsense("it found somebody where nobody was sought")
        return SolverVerdicts(verdict.astype(np.int64), places.astype(np.int64))

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
        frame = self._answer(
            wire.Reprove(certificate.encoded(header).decode(), seconds),
            (*roots, low, high, group, stated),
            self._patience.answer,
            "prove boxes once more",
        )
        _expect(frame, wire.Reproved)
        n = len(low)
        alike, unlike, contradicted, places = _arrays(frame, (n,), (n,), (n,), low.shape)
        inside = ((places >= low) & (places <= high)).all()
        shares = np.stack([alike, unlike]).astype(np.float64)
        fits = ((shares >= 0.0) & (shares <= 1.0)).all() and np.isin(contradicted, KINDS).all()
        if not (inside and fits):
            raise _nonsense("it proves what cannot be")
        return Reproof(shares[0], shares[1], contradicted.astype(np.int8), places.astype(np.int64))

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
            request = wire.Pack(table.columns, table.source.dialect.decimal, path)
            arrays = (table.codes.T, added.T)
            try:
                frames = self._converse(
                    child, request, arrays, self._patience.table, "write the table"
                )
                frame = deque(frames, maxlen=1).pop()
            finally:
                child.take("table")
        _expect(frame, wire.Packed)
        (content,) = _arrays(frame, (None,))
        file = content.tobytes()
        if content.dtype != np.int8 or file[:4] != b"PAR1" or file[-4:] != b"PAR1":
            raise _nonsense("it wrote no Parquet file")
        return file

    def search(
        self,
        mapping: Mapping,
        domain: Domain,
        people: Rows,
        run: RunSpec,
        known: Rows | None = None,
        begun: Certificate | None = None,
    ) -> Searching:
        """Run a method on the open model; it starts with the first event that is asked for.

        Who is ``known``, ``(m, d)``, counts as found already and is not found again; what was
        ``begun`` is gone on with.

        Events come at most about 20 times a second, findings gathered in between; the last event
        of a search that was not cut off is a `Progress`. While it is paused its last
        progress is told once more. A search that is stopped ends like one that is done.
        """
        known = people[:0] if known is None else known
        if begun is None:
            return Searching(self._search(wire.Search(mapping, domain, run), (people, known)))
        header, names = begun.header.decode(), tuple(begun.arrays)
        request = wire.Search(mapping, domain, run, header, names)
        return Searching(self._search(request, (people, known, *begun.arrays.values())))

    def study(
        self,
        mapping: Mapping,
        domain: Domain,
        rows: Rows,
        groups: Rows,
        told: Rows,
        run: RunSpec,
        label: str = "",
    ) -> Searching:
        """Run a method about groups; otherwise as `search`.

        ``rows``, ``groups`` and ``told`` are ``(n, d)``, ``(n, g)`` and ``(n, 3)``, as
        `fairdesk.audit.worker.wire.Search` has them, and ``label`` too.
        """
        asked = wire.Search(mapping, domain, run, label=label)
        return Searching(self._search(asked, (rows, groups, told)))

    def repair(
        self, mapping: Mapping, domain: Domain, arrays: Sequence[wire.Array], run: RunSpec
    ) -> Searching:
        """Run a repair; otherwise as `search`. Its arrays are those of `wire.Search`."""
        return Searching(self._search(wire.Search(mapping, domain, run), arrays))

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

    def _search(
        self, request: wire.Search, arrays: Sequence[wire.Array]
    ) -> Generator[Event, None, Ending]:
        with self._turn:
            frames = self._frames(request, arrays, self._patience.answer, "take the next step")
            try:
                for frame in frames:
                    if isinstance(frame.message, wire.SearchEnded):
                        return frame.message.ending
                    if isinstance(frame.message, wire.SearchAugmented | wire.SearchRetrained):
                        yield self._made(frame, request, len(arrays[0]))
                    else:
                        yield _event(frame, request.domain, self._width(request.mapping))
            except _StoppedError:
                return "stopped"
            except GeneratorExit:
                self.stop()
                with suppress(WorkerError):
                    deque(frames, maxlen=0)  # until it is over
                raise
            finally:
                frames.close()
        raise _nonsense("a search ended without saying so")

    def _made(self, frame: Received, request: wire.Search, rows: int) -> Augmented | Retrained:
        """Make of a frame what a repair has made, if it can be, for a table of so many rows."""
        message, method = frame.message, METHODS.get(request.run.method)
        if self._opened is None or method is None or method.answers is not Answers.REPAIR:
            raise _nonsense("it made what nobody has asked for")
        if isinstance(message, wire.SearchAugmented):
            classes = len(self._opened.card.classes)
            return _augmented(frame, message, request.domain, classes, rows)
        return _retrained(frame, _expect(frame, wire.SearchRetrained))

    def _answer(
        self, request: wire.Request, arrays: Sequence[wire.Array], patience: float, doing: str
    ) -> Received:
        """Make a call that has one answer."""
        with self._turn:
            return deque(self._frames(request, arrays, patience, doing), maxlen=1).pop()

    def _frames(
        self, request: wire.Request, arrays: Sequence[wire.Array], patience: float, doing: str
    ) -> Generator[Received, None, None]:
        """Make a call on a living child, with the model open again that was open before."""
        before = self._opened
        child = self._living_child(self._command if before is None else before.command)
        if before is not None and self._opened_in is not child:
            self._open(child, before.request, before.command, before.card)
        yield from self._converse(child, request, arrays, patience, doing)

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
        frames = self._converse(child, given.request, (), self._patience.model, "open the model")
        card = _expect(deque(frames, maxlen=1).pop(), wire.ModelOpened).card
        card = given.in_original_words(_sane(card))
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
        arrays: Sequence[wire.Array],
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
            child.ask(call.number, request, arrays)
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
                    raise _nonsense("it answers a call that was not made")
                since = monotonic()
                over = not isinstance(frame.message, wire.UNDERWAY)
                if not over and not isinstance(frame.message, _BEFORE.get(type(request), ())):
                    raise _nonsense(f"{type(frame.message).__name__} is no answer here")
                if isinstance(frame.message, wire.Failed):
                    raise _error(frame.message, child)
                yield frame
        finally:
            with self._state:
                self._call = None
            if not over:  # whatever it still says belongs to nothing
                child.kill()


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


def _event(frame: Received, domain: Domain, width: int | None) -> Event:
    """Make an event of a frame, if its findings are people of the domain."""
    message = frame.message
    if isinstance(message, wire.SearchProgress):
        return Progress(
            message.phase,
            message.done,
            message.total,
            message.tried,
            message.found,
            message.queries,
            message.seconds,
            message.rejected,
        )
    if isinstance(message, wire.SearchMeasured):
        if not all(map(_sound, message.figures)) or not _tried_what_it_chose(message.figures):
            raise _nonsense("it measured what cannot be")
        return Measured(message.phase, message.figures)
    if isinstance(message, wire.SearchCertified):
        if len(message.names) != len(frame.arrays):
            raise _nonsense("a certificate lacks some of its arrays")
        arrays = dict(zip(message.names, frame.arrays, strict=True))
        return Certificate(message.phase, message.header.encode(), arrays)
    return _found(frame, domain, width, _expect(frame, wire.SearchFound).phase)


def _augmented(
    frame: Received, message: wire.SearchAugmented, domain: Domain, classes: int, known: int
) -> Augmented:
    """Make rows to add of a frame's arrays, if they can be, for a table of ``known`` rows."""
    m = len(frame.arrays[0]) if frame.arrays else 0
    rows, *numbers = _arrays(frame, (m, len(domain.attributes)), (m,), (m,), (m,))
    if any(each.dtype.kind != "i" for each in numbers):
        raise _nonsense("it numbers people with no whole numbers")
    labels, pairs, seeds = (each.astype(np.int64) for each in numbers)
    added = Augmented(message.phase, rows.astype(np.float64), labels, pairs, seeds, message.texts)
    if wrong := why_wrong(added, domain, classes, known):
        raise _nonsense(wrong)
    return added


def _retrained(frame: Received, message: wire.SearchRetrained) -> Retrained:
    """Make a file of a retrained model of a frame's array."""
    (content,) = _arrays(frame, (None,))
    if content.dtype != np.int8 or message.trial < 0:
        raise _nonsense("it made a file that is none")
    told = message.told[:MOST_TEXT]
    return Retrained(message.phase, message.trial, message.name, told, content)


def _sound(figure: Metric) -> bool:
    """Return whether a figure can be one: shares from 0 to 1, ends of intervals in their order."""
    shares: tuple[tuple[float, ...], ...]
    counts: tuple[int, ...]
    match figure:
        case Share():
            shares = (
                (figure.low, figure.estimate, figure.high),
                (figure.anytime_low, figure.estimate, figure.anytime_high),
                *((share,) for share in figure.trials),
                *((low, estimate, high) for _, estimate, low, high in figure.course),
            )
            counts = (0, figure.hits, figure.people)
        case Repeatability():
            shares = ((figure.largest / 2,),)
            counts = (0, figure.decisions, figure.changed, figure.rows)
        case ExcessChange():
            shares = ((figure.low, figure.high), (figure.between,), (figure.again,))
            counts = (0, figure.people)
            if not figure.excess <= figure.high:
                return False
        case GroupGap():
            shares = (
                (figure.low, figure.gap, figure.high),
                (figure.best_rate,),
                (figure.worst_rate,),
            )
            counts = (0, figure.people)
        case GradientFidelity():
            shares = ()
            counts = (0, figure.found, figure.tried)
        case Proven() | Region() | PairShare() | Refinement():
            return _is_proof(figure)
        case RuleSearchSummary() | RuleSet() | TermRate() | LinearGroup() | GroupTable():
            return _is_of_groups(figure)
        case Repair() | Trial():
            return _is_of_repair(figure)
    return sorted(counts) == list(counts) and all(
        sorted((0.0, *each, 1.0)) == [0.0, *each, 1.0] for each in shares
    )


def _is_proof(figure: Proven | Region | PairShare | Refinement) -> bool:
    """Return whether something proven can be: parts of a whole, counts in digits."""
    parts: list[tuple[float, ...]]
    digits: tuple[str, ...] = ()
    match figure:
        case Proven():
            parts = [(figure.certified, figure.falsified, figure.undecided)]
            parts += [(certified, falsified) for _, certified, falsified in figure.course]
            if figure.estimated is not None:
                guess = figure.estimated
                parts += [(guess.low,), (guess.estimate,), (guess.high,)]
            digits = (figure.total, figure.certified_people, figure.falsified_people)
        case Region():
            parts, digits = [(figure.share,), (figure.population,)], (figure.people,)
        case PairShare():
            parts = [(figure.certified, figure.falsified)]
        case Refinement():
            parts = [(each.share,) for each in figure.parts]
            parts += [(each.certified, each.falsified) for each in figure.parts]
            if any(not -1 <= each.parent < i for i, each in enumerate(figure.parts)):
                return False
    return all(
        all(share >= 0 for share in each) and sum(each) <= 1 + _ROUNDED for each in parts
    ) and all(
        not each or (each.isascii() and each.isdecimal() and len(each) < _MOST_DIGITS)
        for each in digits
    )


def _is_of_groups(
    figure: RuleSearchSummary | RuleSet | TermRate | LinearGroup | GroupTable,
) -> bool:
    """Tell whether a figure about groups can be: shares from 0 to 1, parts within their wholes."""
    shares: list[float] = []
    counts: list[tuple[int, ...]] = []
    match figure:
        case RuleSearchSummary():
            shares = [figure.theta, *(each.theta for each in figure.sweep)]
            counts = [(0, figure.rule_sets, figure.candidates), (0, figure.samples)]
        case RuleSet():
            shares = [figure.support, figure.confidence, figure.p]
            # a mean score may be any number
            shares += [figure.score, figure.phi_in, figure.phi_out] if figure.outcome else []
            counts = [(0, figure.rows), (0, figure.n_in), (0, figure.n_out)]
            counts += [(-1, figure.leader)]
        case TermRate():
            shares, counts = [figure.rate], [(0, figure.flips, figure.tried), (0, figure.texts)]
        case LinearGroup():
            shares = [figure.support, figure.phi_in, figure.phi_out, figure.score]
            counts = [(0, figure.people)]
            if len(figure.features) != len(figure.weights):
                return False
        case GroupTable():
            shares = [each for line in figure.lines for each in (line.share, line.low, line.high)]
            counts = [(0, line.favourable, line.people) for line in figure.lines]
            counts += [(0, figure.favourable, figure.people), (-1, figure.reference)]
            counts += [(figure.reference, len(figure.lines) - 1)]
    return all(0 <= share <= 1 for share in shares) and all(
        list(each) == sorted(each) for each in counts
    )


#: What may be below nought or above one.
_UNBOUNDED = ("impact_ratio", "rule_score")


def _is_of_repair(figure: Repair | Trial) -> bool:
    """Tell whether a figure of a repair can be: shares from 0 to 1, ends of intervals in order."""
    if isinstance(figure, Repair):
        counts = (figure.pairs, figure.rows, figure.train, figure.validation, figure.test)
        return min(counts) >= 0 and figure.chosen >= -1 and figure.allowance >= 0
    measures, changes = figure.measures, figure.changes
    shares = [each.p for each in changes]
    for each in measures:
        if each.what not in _UNBOUNDED:
            shares += (each.low, each.estimate, each.high)
    # a resampled interval need not hold its estimate
    intervals = [(each.low, each.high) for each in measures]
    intervals += [(each.low, each.high) for each in changes]
    return (
        all(0 <= share <= 1 for share in shares if share is not None)
        and all(low is None or high is None or low <= high for low, high in intervals)
        and all(each.people >= 0 for each in measures)
        and figure.number >= 0
        and figure.added >= 0
        and figure.percent >= 0
        and figure.seconds >= 0
    )


def _tried_what_it_chose(figures: Sequence[Metric]) -> bool:
    """Return whether what a repair chose and compared with is among its trials, each told once."""
    trials = [each for each in figures if isinstance(each, Trial)]
    numbers = {each.number for each in trials}
    chosen = {each.chosen for each in figures if isinstance(each, Repair)} - {-1}
    against = {change.against for each in trials for change in each.changes}
    return len(numbers) == len(trials) and chosen | against <= numbers


def _explains(explanation: Explanation, domain: Domain, width: int | None) -> bool:
    """Return whether an explanation speaks of the domain's attributes and the model's decisions."""
    sides = (explanation.row, explanation.partner)
    compared = [domain.attributes[i].compared for i in domain.protected]
    return (
        all(len(side.weights) == len(domain.attributes) for side in sides)
        and all(map(math.isfinite, (*sides[0].weights, *sides[1].weights)))
        and all(math.isfinite(side.fit) and side.fit <= 1 for side in sides)
        and len(explanation.variants) <= 2 * MOST_VARIANTS
        and all(
            len(each.values) == len(compared)
            and all(value in codes for value, codes in zip(each.values, compared, strict=True))
            and math.isfinite(each.score)
            and 0 <= each.decided < max(2, width or 0)
            for each in explanation.variants
        )
    )


def _found(frame: Received, domain: Domain, width: int | None, phase: str) -> Found:
    """Make findings of a frame's arrays, if they are people of the domain."""
    n, d = (len(frame.arrays[0]) if frame.arrays else 0), len(domain.attributes)
    rows, partners, row_scores, partner_scores, alone = _arrays(
        frame, (n, d), (n, d), (n, width), (n, width), (n, len(domain.protected))
    )
    rows, partners = (each.astype(np.float64, copy=False) for each in (rows, partners))
    others, protected = domain.others, domain.protected
    if not (
        domain.contains(rows).all()
        and domain.contains(partners).all()
        and (rows[:, others] == partners[:, others]).all()
        and (rows[:, protected] != partners[:, protected]).any(axis=1).all()
        and np.isfinite(row_scores).all()
        and np.isfinite(partner_scores).all()
    ):
        raise _nonsense("it found people whom it was not asked about")
    return Found(
        rows=rows,
        partners=partners,
        row_scores=row_scores.astype(np.float32, copy=False),
        partner_scores=partner_scores.astype(np.float32, copy=False),
        alone=alone.astype(np.bool_, copy=False),
        phase=phase,
    )


def _expect(frame: Received, kind: type[T]) -> T:
    if not isinstance(frame.message, kind):
        raise _nonsense(f"{type(frame.message).__name__} is no answer here")
    return frame.message


def _arrays(frame: Received, *shapes: tuple[int | None, ...]) -> tuple[wire.Array, ...]:
    """Return a frame's arrays if they have these shapes; ``None`` is any length."""
    fits = len(frame.arrays) == len(shapes) and all(
        array.ndim == len(shape)
        and all(want in (None, got) for want, got in zip(shape, array.shape, strict=True))
        for array, shape in zip(frame.arrays, shapes, strict=True)
    )
    if not fits:
        raise _nonsense("its arrays have shapes that do not fit the question")
    return frame.arrays


def _error(failed: wire.Failed, child: Child) -> Exception:
    kind = ERRORS.get(failed.kind, WorkerError)
    what, why, remedy = (
        child.in_original_words(text[:MOST_TEXT])
        for text in (failed.what, failed.why, failed.remedy)
    )
    return kind(what, why=why, remedy=remedy)


def _sane(card: ModelCard) -> ModelCard:
    """Return the card if it can be shown and kept.

    Raises
    ------
    ModelError
        When it is beyond all measure: it was most likely made to be so.
    """
    texts = (
        *(card.format, card.summary, card.scores, card.saved_with, card.output, card.environment),
        *(*card.inputs, *card.classes, *card.warnings, *card.accepts, *card.outputs),
        *(*card.hints.features, *card.hints.classes, *card.hints.told, card.hints.target),
    )
    counts = {
        "inputs": (len(card.inputs), MOST_INPUTS),
        "classes": (len(card.classes), MOST_CLASSES),
        "outputs": (len(card.outputs), MOST_CLASSES),
        "warnings": (len(card.warnings), MOST_WARNINGS),
        "letters in a name": (max(map(len, texts)), MOST_TEXT),
    }
    for what, (count, most) in counts.items():
        if count > most:
            raise ModelError(
                f"The model says that it has {count:,} {what}.",
                why=f"FairDesk shows at most {most:,}; no real model is known that has more.",
                remedy="Ask who made the model what it is.",
            )
    return card


def _hung(doing: str, patience: float, remedy: str) -> WorkerError:
    return WorkerError(
        f"The process that holds the model did not {doing} within {patience:g} seconds.",
        why="It hangs, or is very slow; it was ended.",
        remedy=remedy,
    )


def _nonsense(why: str) -> WorkerError:
    return WorkerError(
        "The process that holds the model gave an answer that does not fit the question.",
        why=f"Detail: {why[:200]}.",
        remedy="Results so far are kept. If it happens again, do not trust this model file.",
    )
