"""The guest's loop, in this process: over real pipes where that matters."""

import io
import os
import threading
import time
from itertools import count

import numpy as np
import pytest

from fairdesk.audit.plan.inputs import SearchInputs
from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.audit.worker import driving, frames, wire
from fairdesk.audit.worker import server as serving
from fairdesk.audit.worker.driving import Controls, drive
from fairdesk.audit.worker.server import Guest
from fairdesk.errors import FairDeskError
from fairdesk.results.events import Found, Measured, Progress
from fairdesk.results.individual import GradientFidelity, RandomBaseline, SearchPhase
from fairdesk.results.mitigation import Augmented, Retrained, Trial
from tests import phrases
from tests.audit import making

TRIAL = Trial(0, "imported")


def found(n, phase="global", start=0):
    rows = np.arange(start, start + n, dtype=float)[:, None].repeat(2, axis=1)
    scores = np.zeros((n, 1), dtype=np.float32)
    return Found(rows, rows + 1, scores, scores, np.ones((n, 1), dtype=bool), phase)


def progress(done, queries=0, phase="global"):
    return Progress(phase, done, 100, done, 0, queries, {phase: done / 10})


class Sent(list):
    """Collects what would be sent."""

    __call__ = list.append

    def of(self, kind):
        return [message for message in self if isinstance(message, kind)]

    @property
    def rows(self):
        return [row for found in self.of(Found) for row in found.rows[:, 0].tolist()]


def steps(n, each=3, closed=None):
    try:
        for i in range(n):
            yield found(each, start=i * each)
            yield progress(i + 1, queries=10 * (i + 1))
    finally:
        if closed is not None:
            closed.append(True)


def test_events_are_gathered_and_all_arrive():
    sent = Sent()
    assert drive(steps(400), Budget(), Controls(), 1, sent) == "done"
    assert sent.rows == list(range(1200))
    assert len(sent) < 100
    last = sent.of(Progress)[-1]
    assert sent[-1] == last
    assert (last.done, last.queries, last.seconds.keys()) == (400, 4000, {"global"})


def test_what_frames_a_search_is_outside_its_budget():
    budget, sent = Budget(queries=100), Sent()

    def first():
        yield progress(1, queries=5_000, phase="preliminary")

    def last(start):
        yield progress(1, queries=start + 3, phase="random")

    def nobody():
        for i in range(50):
            yield progress(i + 1, queries=5_000 + 10 * (i + 1))

    ending = drive(nobody(), budget, Controls(), 1, sent, before=first(), after=last(5_100))
    told = sent.of(Progress)[-1]
    assert (ending, told.queries) == ("budget", 5_103)
    assert told.seconds.keys() == {"preliminary", "global", "random"}
    # whoever found somebody need not say how many there can be at most
    sent = Sent()
    assert drive(steps(5), Budget(), Controls(), 1, sent, after=last(0)) == "done"
    assert sent.of(Progress)[-1].seconds.keys() == {"global"}


def test_how_a_search_went_is_kept_beside_what_is_measured_next():
    """Random sampling before it, its phases, and the bound where it found nothing."""
    drawn = RandomBaseline(10, 0, 20, 20, 0.0, 0.3)
    bound = GradientFidelity(0.5, 1, None, None, None, 1, 0)

    def first():
        yield Measured("baseline", (drawn,))
        yield progress(1)

    def nothing():
        for tried in (5, 9):
            yield Measured("seeds", (SearchPhase("seeds", tried, 0),))
            yield progress(tried)

    def last():
        yield Measured("random", (bound,))

    sent = Sent()
    assert drive(nothing(), Budget(), Controls(), 1, sent, before=first(), after=last()) == "done"
    final = sent.of(Measured)[-1]
    assert set(final.figures) == {drawn, SearchPhase("seeds", 9, 0), bound}
    assert len(final.figures) == 3


def test_phases_are_kept_apart():
    sent = Sent()
    events = [found(2), found(2, start=2), found(1, "local", start=4), progress(1, phase="local")]
    drive(iter(events), Budget(), Controls(), 1, sent)
    assert [(each.phase, len(each.rows)) for each in sent.of(Found)] == [
        ("global", 4),
        ("local", 1),
    ]


def test_the_last_progress_counts_what_was_sent():
    sent = Sent()
    drive(iter([found(5)]), Budget(), Controls(), 1, sent)
    assert sent.of(Progress)[-1].found == 5


def test_a_search_without_events_still_tells_its_end():
    sent = Sent()
    assert drive(iter(()), Budget(), Controls(), 1, sent) == "done"
    assert len(sent.of(Progress)) == 1


@pytest.mark.parametrize("budget", [Budget(queries=55), Budget(seconds=0.0)])
def test_a_budget_closes_the_search(budget):
    sent, closed = Sent(), []
    assert drive(steps(1000, closed=closed), budget, Controls(), 1, sent) == "budget"
    assert closed
    if budget.queries:
        assert sent.of(Progress)[-1].queries == 60


def ticking(monkeypatch):
    """Let each look at the clock be one second later than the one before."""
    clock = count()
    monkeypatch.setattr(driving, "perf_counter", lambda: float(next(clock)))


def test_a_search_that_finds_nothing_new_ends(monkeypatch):
    def events():
        yield from steps(3)
        while True:
            yield found(0)
            yield progress(9)

    ticking(monkeypatch)
    sent = Sent()
    assert drive(events(), Budget(idle=30.0), Controls(), 1, sent) == "idle"
    assert len(sent.rows) == 9


def test_a_search_that_goes_on_finding_does_not_end(monkeypatch):
    ticking(monkeypatch)
    sent = Sent()
    assert drive(steps(200), Budget(idle=30.0), Controls(), 1, sent) == "done"
    assert len(sent.rows) == 600


def test_preparation_counts_as_time_spent(monkeypatch):
    ticking(monkeypatch)
    ended = {
        asked_at: drive(steps(20), Budget(seconds=200.0), Controls(), 1, Sent(), asked_at=asked_at)
        for asked_at in (0.0, -200.0)
    }
    assert ended == {0.0: "done", -200.0: "budget"}


def test_stop_ends_it_between_two_events():
    sent, closed, controls = Sent(), [], Controls()

    def events():
        for i, event in enumerate(steps(1000, closed=closed)):
            if i == 20:
                controls.obey(7, wire.Stop())
            yield event

    assert drive(events(), Budget(), controls, 7, sent) == "stopped"
    assert len(sent.rows) == 33
    assert not controls.stopped(8)


@pytest.mark.parametrize("ending", ["stopped", "budget"])
def test_findings_never_end_without_their_count(ending):
    sent, controls = Sent(), Controls()

    def events():
        if ending == "stopped":
            controls.obey(1, wire.Stop())
        yield from steps(1, each=4)
        raise AssertionError("it went on")

    budget = Budget(seconds=0.0) if ending == "budget" else Budget()
    assert drive(events(), budget, controls, 1, sent) == ending
    assert sent.rows == [0, 1, 2, 3]
    assert sent.of(Progress)[-1].queries == 10


def test_pause_holds_and_resume_goes_on():
    sent, controls = Sent(), Controls()
    paused = threading.Event()

    def events():
        for i, event in enumerate(steps(10)):
            if i == 5:
                controls.obey(1, wire.Pause())
                paused.set()
            yield event

    thread = threading.Thread(target=drive, args=(events(), Budget(), controls, 1, sent))
    thread.start()
    assert paused.wait(10)
    thread.join(0.3)
    assert thread.is_alive()
    assert len(sent.rows) == 9  # told before it waits
    controls.obey(1, wire.Resume())
    thread.join(10)
    assert len(sent.rows) == 30


def test_a_paused_search_can_be_stopped():
    sent, controls = Sent(), Controls()
    controls.obey(1, wire.Pause())
    endings = []
    thread = threading.Thread(
        target=lambda: endings.append(drive(steps(10), Budget(), controls, 1, sent))
    )
    thread.start()
    controls.obey(1, wire.Stop())
    thread.join(10)
    assert endings == ["stopped"]


def test_a_search_that_fails_tells_what_it_had():
    sent = Sent()

    def events():
        yield found(4)
        raise FairDeskError("The model refused.")

    with pytest.raises(FairDeskError, match="refused"):
        drive(events(), Budget(), Controls(), 1, sent)
    assert sent.rows == [0, 1, 2, 3]


def test_findings_do_not_wait_for_a_model_that_thinks(monkeypatch):
    monkeypatch.setattr(driving, "TEND_SECONDS", 0.01)
    arrived = threading.Event()

    def send(message):
        if isinstance(message, Found):
            arrived.set()

    def events():
        yield found(3)
        assert arrived.wait(10)

    assert drive(events(), Budget(), Controls(), 1, send) == "done"
    assert arrived.is_set()


def test_what_a_repair_makes_is_sent_at_once_and_in_its_order():
    rows = np.zeros((2, 3))
    numbers = np.arange(2)
    added = Augmented("making", rows, numbers, numbers + 1, numbers + 2, ("a text",))
    files = [
        Retrained("saving", 4, "model.onnx", "It is fine.", np.frombuffer(b"abc", np.int8)),
        Retrained("saving", 4, "model.keras", "There is none.", np.empty(0, np.int8)),
    ]
    sent = Sent()
    events = [added, progress(1), *files, progress(2)]
    assert drive(iter(events), Budget(), Controls(), 1, sent) == "done"
    assert [each for each in sent if not isinstance(each, Progress)] == [added, *files]
    assert isinstance(sent[-1], Progress)


@pytest.mark.parametrize("silent", [True, False])
def test_a_model_that_is_trained_for_long_is_not_taken_for_dead(monkeypatch, silent):
    monkeypatch.setattr(driving, "TEND_SECONDS", 0.01)
    monkeypatch.setattr(driving, "LIFE_SECONDS", 0.02)
    sent, heard = Sent(), threading.Event()

    def send(message):
        sent(message)
        if len(sent.of(Progress)) > 5:
            heard.set()

    def training():
        yield progress(1, queries=7)
        heard.wait(20 if silent else 0.3)
        yield progress(2, queries=8)

    assert drive(training(), Budget(), Controls(), 1, send, silent=silent) == "done"
    told = sent.of(Progress)
    # the same again and again, until there is something new; else when it came, and at the end
    assert heard.is_set() == silent
    assert {each.queries for each in told} == {7, 8}
    assert told[-1].queries == 8
    assert len(told) > 5 or not silent


def test_a_repair_that_is_told_to_stop_comes_to_its_end():
    sent, controls, over = Sent(), Controls(), threading.Event()

    def training():
        for i in range(1_000):
            if over.is_set():
                break
            if i == 5:
                controls.obey(3, wire.Stop())
            yield progress(i + 1)
        yield Measured("training", (TRIAL,))
        yield progress(2_000)

    ending = drive(training(), Budget(), controls, 3, sent, request_finish=over.set, silent=True)
    assert ending == "stopped"
    assert sent.of(Measured)[-1].figures == (TRIAL,)
    assert sent.of(Progress)[-1].done == 2_000


def test_a_guest_without_what_is_compiled_loads_only_what_compiles_nothing(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    loaded = serving._without_compiling(serving.WARM_UP)
    assert "scipy.cluster.vq" in loaded
    assert "fairdesk.models.dense.forward" not in loaded
    assert "fairdesk.individual.engine.kernels" not in loaded
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "kernels.step-1.py312.nbi").touch()
    assert serving._without_compiling(serving.WARM_UP) == list(serving.WARM_UP)


class Conversation:
    """A guest served in a thread, spoken to over pipes."""

    def __init__(self, monkeypatch, warm_up=("json", "no.such.library")):
        to_guest, self._to = os.pipe()
        self._from, from_guest = os.pipe()
        self.ended = threading.Event()

        monkeypatch.setattr(serving.os, "_exit", lambda _code: self.ended.set())
        self.writer = os.fdopen(self._to, "wb")
        self.reader = os.fdopen(self._from, "rb")
        arguments = (os.fdopen(to_guest, "rb"), os.fdopen(from_guest, "wb"), None, warm_up)
        threading.Thread(target=serving.serve, args=arguments, daemon=True).start()
        self.calls = 0

    def ask(self, message):
        self.calls += 1
        frames.write(self.writer, self.calls, message)
        return self.hear()

    def hear(self):
        frame = wire.read_from_guest(self.reader)
        assert frame.call == self.calls
        return frame

    def end(self):
        self.writer.close()
        assert self.ended.wait(10)


@pytest.fixture
def guest(monkeypatch):
    conversation = Conversation(monkeypatch)
    yield conversation
    conversation.end()


def test_nothing_is_loaded_ahead_once_a_search_was_asked_for(monkeypatch, tmp_path):
    loaded = []

    def load(name):
        time.sleep(0.001)
        loaded.append(name)

    monkeypatch.setattr(serving, "import_module", load)
    guest = Conversation(monkeypatch, [f"module{i}" for i in range(100_000)])
    while not loaded:
        time.sleep(0.001)
    frame = guest.ask(wire.ReadTable(str(making.write_people(tmp_path / "people.csv")), None))
    while isinstance(frame.message, wire.TableProgress):
        frame = guest.hear()
    read = frame.message
    model = making.write_model(tmp_path / "model.pkl")
    card = guest.ask(wire.OpenModel(str(model), trusted=True)).message.card
    table = serving.Table(read.source, read.columns, read.codes.T)
    spec = making.spec_of(table, card)
    before = len(loaded)
    while len(loaded) == before:
        time.sleep(0.001)
    inputs = SearchInputs(spec.domain.people(table))
    run = RunSpec("uniform", {"samples": 50})
    message = guest.ask(wire.Search(spec.mapping, spec.domain, run, inputs)).message
    while not isinstance(message, wire.SearchEnded):
        message = guest.hear().message
    so_far = len(loaded)
    time.sleep(5 * serving.PAUSE_SECONDS)
    assert len(loaded) == so_far
    guest.end()


def test_a_guest_serves_a_whole_audit(guest, tmp_path):
    people = making.write_people(tmp_path / "people.csv")
    frame = guest.ask(wire.ReadTable(str(people), None))
    while isinstance(frame.message, wire.TableProgress):
        frame = guest.hear()
    assert [column.name for column in frame.message.columns] == ["age", "sex", "income", "hired"]
    codes = frame.message.codes.T
    model = making.write_model(tmp_path / "model.pkl")
    refused = guest.ask(wire.OpenModel(str(model), trusted=False)).message
    assert refused.kind == "TrustRequiredError"
    card = guest.ask(wire.OpenModel(str(model), trusted=True)).message.card
    table = serving.Table(frame.message.source, frame.message.columns, codes)
    spec = making.spec_of(table, card)
    proof = guest.ask(
        wire.CheckInputs(spec.mapping, spec.data, spec.columns, codes, "hired", "yes")
    ).message.proof
    assert proof.rows == 60
    assert proof.accuracy > 0.6
    people = spec.domain.people(table)
    answer = guest.ask(wire.Predict(spec.mapping, spec.domain.attributes, people))
    assert answer.message.scores.shape == (60, 1)
    run = RunSpec("maft", {"global_num": 20, "local_num": 20})
    message = guest.ask(wire.Search(spec.mapping, spec.domain, run, SearchInputs(people))).message
    kinds = [type(message)]
    while not isinstance(message, wire.SearchEnded):
        message = guest.hear().message
        kinds.append(type(message))
    assert Found in kinds
    assert kinds[-2] is Progress
    assert message.ending == "done"


@pytest.mark.parametrize(
    ("request_", "kind", "words"),
    [
        (wire.ReadTable("/no/such/file.csv", None), "DataError", "file.csv"),
        (wire.OpenModel("/no/such/model.h5", trusted=False), "ModelError", "model.h5"),
    ],
)
def test_what_goes_wrong_is_answered(guest, request_, kind, words):
    failed = guest.ask(request_).message
    assert failed.kind == kind
    assert words in failed.what + failed.why
    assert failed.remedy


def test_without_a_model_nothing_is_asked(guest, spec):
    failed = guest.ask(wire.Predict(spec.mapping, spec.domain.attributes, np.zeros((1, 3)))).message
    assert (failed.kind, failed.what) == ("WorkerError", f"{phrases.NO_MODEL_OPEN}.")


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (MemoryError(), "WorkerError", phrases.NOT_ENOUGH_MEMORY),
        (SystemExit(0), "ModelError", phrases.ASKED_TO_END),
        (KeyError("age"), "WorkerError", "KeyError: 'age'"),
    ],
)
def test_the_unexpected_is_answered_too(monkeypatch, error, kind, words):
    stream = io.BytesIO()
    guest = Guest(stream)

    def serve(*_):
        raise error

    monkeypatch.setattr(guest, "_serve", serve)
    guest.answer(frames.Frame(1, wire.OpenModel("m", trusted=True)))
    stream.seek(0)
    failed = wire.read_from_guest(stream).message
    assert failed.kind == kind
    assert words in failed.what + failed.why


def test_a_message_that_is_no_request():
    stream = io.BytesIO()
    Guest(stream).answer(frames.Frame(1, wire.Stop()))
    stream.seek(0)
    assert "not a request" in wire.read_from_guest(stream).message.what
