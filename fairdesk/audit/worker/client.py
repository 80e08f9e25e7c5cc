"""The app's handle on the process that holds the model under audit: what it is asked."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.plan.inputs import MitigationInputs, RunInputs
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.worker import wire
from fairdesk.audit.worker.answer_checks import (
    check_added_rows,
    check_event,
    check_explanation,
    check_pairs,
    check_plausibility,
    check_reproof,
    check_shape,
    checked_file,
    expect,
    nonsense,
)
from fairdesk.audit.worker.child import Fingerprint, path_text
from fairdesk.audit.worker.conversation import EVENTS, Conversation, StoppedError
from fairdesk.audit.worker.wire import Ending
from fairdesk.certify.domain.space import Places
from fairdesk.certify.proof import certificate
from fairdesk.certify.proof.reproof_check import Reproof, SharesOf
from fairdesk.data.domain.attributes import Attribute
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Dialect, Table
from fairdesk.errors import DataError, WorkerError
from fairdesk.individual.realism.pair_plausibility import Plausibility
from fairdesk.individual.surrogates.explanation import Explanation
from fairdesk.models.decisions.rule import prediction_columns
from fairdesk.models.inputs.input_check import InputCheck, SampleRow
from fairdesk.models.model import Companion, Mapping, ModelCard
from fairdesk.models.pickles.contents import Contents
from fairdesk.results.events import Event, Found, Rows, Scores, Tallied
from fairdesk.results.mitigation import Augmented, Retrained


class Searching(Iterator[Event]):
    """The events of a running search. Closing it before its end stops the search.

    Attributes
    ----------
    ending : str, optional
        Once there are no more events: ``"done"``, ``"stopped"`` (by the auditor) or
        ``"budget"`` (used up), ``"idle"`` (nothing new for as long as the budget allows).
    remarks : sequence of str
        What went wrong on the way and was mended, whole sentences; more may come.
    """

    def __init__(self, events: Generator[Event, None, Ending], remarks: Sequence[str] = ()) -> None:
        self.ending: Ending | None = None
        self.remarks = remarks
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


class Worker(Conversation):
    """One process that reads tables, opens a model and searches; restarted when it dies.

    Calls block: make them from a background thread, one after the other (a second thread waits
    for its turn). `pause`, `resume`, `stop` and `close` return at once and may come from any
    thread. Every call raises `WorkerError` when the process dies, hangs, is stopped, or talks
    nonsense, and other `fairdesk.errors.FairDeskError` for what went wrong inside it.
    """

    def read_table(
        self,
        path: Path,
        dialect: Dialect | None = None,
        watch: Callable[[float], None] | None = None,
    ) -> Table:
        """Read a table's file; raises `errors.DataError` like `formats.reading`.

        ``watch`` is told now and then, in this thread, which share of it was read.
        """
        original = path_text(path)
        with self._turn:
            child = self._clean_child()
            given = child.give("table", Path(original), link=True)
            request = wire.ReadTable(original if given is None else str(given.private), dialect)
            # meanwhile: a large table takes a while
            fingerprint = Fingerprint(given)
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
                        why="Another program wrote to it.",
                        remedy=(
                            "Wait until the other program has finished, then open the file again."
                        ),
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
        original = path_text(path)
        with self._turn:
            child = self._clean_child()
            given = child.give("model", Path(original))
            request = wire.LookInto(original if given is None else str(given.private))
            doing = "inspect the model file"
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
        trusted : bool
            Whether the auditor agreed to run its code.
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
                msgspec.structs.replace(each, path=path_text(Path(each.path)))
                for each in companions
            )
            request = wire.OpenModel(path_text(path), trusted, output, others)
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
            "return outputs for the rows of the table",
        )
        return expect(frame, wire.Proved).proof

    def prove_all(
        self,
        mapping: Mapping,
        table: Table,
        label: str,
        favourable: str,
        found: InputCheck,
        watch: Callable[[float], None] | None = None,
    ) -> InputCheck:
        """Check how the open model is fed, on all rows of a table that is larger than memory.

        ``found`` is what `prove` found in those that are held; ``watch`` as of `read_table`.
        """
        with self._turn:
            child, source = self._child, table.source
            given = child.give("table", Path(source.path), link=True)
            if given is not None:
                source = msgspec.structs.replace(source, path=str(given.private))
            request = wire.CheckAllRows(mapping, source, table.columns, label, favourable, found)
            doing = "return outputs for the rows of the table"
            try:
                for frame in self._converse(child, request, self._patience.answer, doing):
                    if not isinstance(frame.message, wire.TableProgress):
                        break
                    if watch is not None:
                        watch(min(max(frame.message.share, 0.0), 1.0))
            finally:
                child.take("table")
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
            "return outputs for the rows of the table",
        )
        sample = expect(frame, wire.Shown).sample
        if len(sample) != len(rows):
            raise nonsense("it returned rows that were not requested")
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

    def score_plausibility(
        self, domain: Domain, people: Rows, rows: Rows, partners: Rows
    ) -> Plausibility:
        """Return how plausible pairs, ``(n, d)`` each, are, given ``(m, d)`` rows of the data.

        Without partners, ``(0, d)``, how plausible instances are by themselves.
        No model need be open. Ask about some ten thousand at once: there is no word in between.
        """
        request = wire.Weigh(domain, people, rows, partners)
        frame = self._answer(request, self._patience.answer, "compare instances")
        weighed = expect(frame, wire.Weighed).weighed
        check_plausibility(weighed, len(rows), len(partners), len(people))
        return weighed

    def shrink(self, mapping: Mapping, domain: Domain, people: Rows, rows: Rows) -> Found:
        """Bring ``(n, d)`` instances as near to real people as they stay instances.

        Returns
        -------
        Found
            ``n`` pairs, row by row for those asked about, each re-checked on the model.
        """
        request = wire.Shrink(mapping, domain, people, rows)
        frame = self._answer(request, self._patience.answer, "make pairs more realistic")
        found = expect(frame, wire.Shrunk).pairs
        check_pairs(found, domain, self._width(mapping))
        if len(found.rows) != len(rows):
            raise nonsense("it returned pairs that were not requested")
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

    def reprove(
        self,
        header: certificate.Header,
        roots: tuple[Places, Places],
        low: Places,
        high: Places,
        group: NDArray[np.int64],
        stated: NDArray[np.float64],
        seconds: float,
        *,
        of: SharesOf = "points",
    ) -> Reproof:
        """Prove boxes of a certificate once more: `certify.proof.verify.provers.reproving`."""
        request = wire.Reprove(_boxes(header, roots, low, high, group), stated, seconds, of)
        frame = self._answer(request, self._patience.answer, "re-prove regions")
        reproof = expect(frame, wire.Reproved).reproof
        check_reproof(reproof, low, high)
        return reproof

    def pack(self, table: Table, added: Rows, original: Path | None = None) -> bytes:
        """Write a table, and ``(m, columns)`` rows added to it, as a Parquet file.

        Parameters
        ----------
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
            path = "" if original is None else path_text(original)
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
            raise nonsense("it did not write a Parquet file")
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

    def _search(self, request: wire.Search) -> Generator[Event, None, Ending]:
        with self._turn:
            if self._child.came_too_early:
                # to open the model again is a matter of seconds, to compile one of minutes
                self._child.kill()
            request = self._with_all_rows(request)
            frames = self._frames(request, self._patience.answer, "take the next step")
            try:
                for frame in frames:
                    if isinstance(frame.message, wire.SearchEnded):
                        return frame.message.ending
                    yield self._checked(expect(frame, EVENTS), request)
            except StoppedError:
                return "stopped"
            except GeneratorExit:
                self.stop()
                with suppress(WorkerError):
                    deque(frames, maxlen=0)  # until it is over
                raise
            finally:
                frames.close()
                self._child.take("table")
        raise nonsense("a run ended without a final message")

    def _with_all_rows(self, request: wire.Search) -> wire.Search:
        """Let the guest read a table that is larger than memory, where a run counts all of it."""
        inputs = request.inputs
        if isinstance(inputs, MitigationInputs) or inputs.all_rows is None:
            return request
        everything = inputs.all_rows
        given = self._child.give("table", Path(everything.source.path), link=True)
        if given is None:
            return request
        source = msgspec.structs.replace(everything.source, path=str(given.private))
        everything = msgspec.structs.replace(everything, source=source)
        inputs = msgspec.structs.replace(inputs, all_rows=everything)
        return msgspec.structs.replace(request, inputs=inputs)

    def _checked(self, event: Event, request: wire.Search) -> Event:
        """Return an event of a run, if it can be one."""
        if isinstance(event, Tallied):
            part = request.run.shard
            if part is None or not part.start <= event.unit < part.stop:
                raise nonsense("it returned counts that were not requested")
            return event
        if not isinstance(event, Augmented | Retrained):
            check_event(event, request.domain, self._width(request.mapping))
            return event
        if self._opened is None or not isinstance(request.inputs, MitigationInputs):
            raise nonsense("it returned something that was not requested")
        if isinstance(event, Augmented):
            classes = len(self._opened.card.classes)
            check_added_rows(event, request.domain, classes, len(request.inputs.rows))
            return event
        return checked_file(event)


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
