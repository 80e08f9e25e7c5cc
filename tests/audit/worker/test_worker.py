"""The worker with its real child process, and with children that misbehave."""

import gc
import io
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import nullcontext
from pathlib import Path

import msgspec
import numpy as np
import pytest

from fairdesk.audit.catalogue.method import COMPILING, COMPILING_THERE, NOT_BEGUN
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.plan.inputs import MitigationInputs, SearchInputs
from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.audit.sandbox import process
from fairdesk.audit.sandbox.folders import unknown
from fairdesk.audit.sandbox.process import describe_end
from fairdesk.audit.worker import answer_checks, conversation, frames, wire
from fairdesk.audit.worker.client import Worker
from fairdesk.audit.worker.conversation import Patience
from fairdesk.errors import DataError, ModelError, TrustRequiredError, WorkerError
from fairdesk.files import sha256
from fairdesk.results.events import Found, Measured, Progress
from fairdesk.results.individual import ChangeSplit, Share, ValueChange, ValueChanges
from fairdesk.results.mitigation import Augmented, Change, Measure, Repair, Retrained, Trial
from tests import phrases
from tests.audit import fake_guest, making
from tests.models.onnx.test_file import endless

LONG = RunSpec("steps", {"steps": 1_000_000})
SLOW = "time.sleep(0.002)"
QUICK_GUEST = (sys.executable, str(Path(fake_guest.__file__)))


class Audit:
    """A worker with a model open that fits the small table."""

    def __init__(self, worker, table, path):
        self.worker, self.table, self.path = worker, table, path
        self.card = worker.open_model(path, trusted=True)
        self.spec = making.spec_of(table, self.card)
        self.people = self.spec.domain.people(table)

    def search(self, run=LONG):
        return self.worker.search(
            self.spec.mapping, self.spec.domain, SearchInputs(self.people), run
        )

    def predict(self):
        return self.worker.predict(self.spec.mapping, self.spec.domain.attributes, self.people)


@pytest.fixture
def worker():
    worker = Worker(command=QUICK_GUEST)
    yield worker
    worker.close()


@pytest.fixture
def audit(worker, table, tmp_path):
    def make(misbehaviour="pass", opening="", **patience):
        worker._patience = Patience(**patience)
        path = fake_guest.write_source(tmp_path / "model.txt", misbehaviour, opening)
        return Audit(worker, table, path)

    return make


@pytest.fixture
def real_worker():
    worker = Worker()
    yield worker
    worker.close()


def pid(worker):
    return worker._child.pid


def running(number):
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


def gone(number):
    """Wait until a process has ended."""
    for _ in range(200):
        if not running(number):
            return True
        time.sleep(0.05)
    return False


def test_a_whole_conversation(real_worker, tmp_path):
    worker, path = real_worker, making.write_model(tmp_path / "model.pkl")
    table = worker.read_table(making.write_people(tmp_path / "people.csv"))
    made = Audit(worker, table, path)
    assert worker.alive
    with pytest.raises(TrustRequiredError):
        worker.open_model(path)
    assert worker.open_model(path, trusted=True) == made.card
    scores = made.predict()
    assert scores.dtype == np.float32
    assert scores.shape == (60, 1)
    proof = worker.prove(made.spec.mapping, table, "hired", "yes")
    assert (proof.rows, proof.left_out) == (60, 0)
    run = RunSpec("maft", {"global_num": 30, "local_num": 50}, seed=4)
    search = made.search(run)
    events = list(search)
    assert search.ending == "done"
    assert isinstance(events[-1], Progress)
    rows = np.concatenate([event.rows for event in events if isinstance(event, Found)])
    assert len(rows) == events[-1].found > 0
    again = [event.rows for event in made.search(run) if isinstance(event, Found)]
    np.testing.assert_array_equal(rows, np.concatenate(again))
    with pytest.raises(DataError) as caught:
        worker.read_table(tmp_path / "missing.csv")
    assert caught.value.remedy
    with pytest.raises(ModelError, match=r"none\.h5"):
        worker.open_model(tmp_path / "none.h5")
    assert worker.alive


def test_a_process_that_was_started_early_is_taken_once_and_by_whom_it_fits():
    process.start_early()
    other = process.take(process.COMPARING_GUEST)
    assert not other.started.is_set()
    early = process.take(process.GUEST)
    assert early.started.is_set()
    assert next(early.attempts) is early.process
    early.drop()
    early.reap()
    early.sandbox.remove()
    assert process.take(process.GUEST) is not early


def test_a_process_that_was_started_early_is_there_before_numeric_libraries_and_speaks():
    source = (
        "import sys\nfrom fairdesk.audit.sandbox import process\nprocess.start_early()\n"
        "assert 'numpy' not in sys.modules\nearly = process._EARLY[0]\n"
        "from fairdesk.audit.worker.client import Worker\nworker = Worker()\n"
        "print(early.process.pid, worker._child.pid, worker._child.confinement(60) is not None)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, timeout=60, check=True
    )
    early, taken, spoke = done.stdout.split()
    assert early == taken
    assert spoke == "True"
    assert gone(int(early))


def test_a_process_that_nobody_took_ends_with_the_command_and_leaves_no_folder():
    source = (
        "from fairdesk.audit.sandbox import process\nprocess.start_early()\n"
        "early = process._EARLY[0]\nprint(early.process.pid, early.sandbox.room.folder)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, timeout=60, check=True
    )
    number, folder = done.stdout.split()
    assert gone(int(number))
    assert not Path(folder).exists()


def test_a_pickle_that_ends_its_process(real_worker, table, tmp_path):
    path = making.write_model(tmp_path / "model.pkl", "os._exit(7)")
    made = Audit(real_worker, table, path)
    with pytest.raises(WorkerError, match="exit code 7"):
        made.predict()
    assert not real_worker.alive
    making.write_model(path, opening="sys.exit(0)")
    with pytest.raises(ModelError):
        real_worker.open_model(path, trusted=True)
    assert real_worker.alive


def test_without_an_open_model(worker, spec):
    with pytest.raises(WorkerError, match=phrases.NO_MODEL_OPEN):
        worker.predict(spec.mapping, spec.domain.attributes, np.zeros((1, 3)))


def test_what_a_model_prints_and_reads_disturbs_nothing(audit, caplog):
    caplog.set_level(logging.INFO)
    made = audit(
        "print('NOISE'); os.write(1, b'RAW NOISE\\n'); assert sys.stdin.read() == ''",
        opening="print('OPENING')",
    )
    assert made.predict().shape == (60, 1)
    for _ in range(100):
        if "RAW NOISE" in caplog.text:
            break
        time.sleep(0.05)
    assert "OPENING" in caplog.text
    assert "NOISE" in caplog.text


def test_a_killed_child_keeps_its_findings_and_is_replaced(audit, worker):
    made = audit(SLOW)
    events, first = [], pid(worker)
    search = made.search()

    def collect():
        for event in search:
            events.append(event)
            if isinstance(event, Found) and running(first):
                os.kill(first, signal.SIGKILL)

    with pytest.raises(WorkerError, match="ended unexpectedly") as caught:
        collect()
    assert "memory ran out" in caught.value.why
    assert any(isinstance(event, Found) for event in events)
    assert not worker.alive
    # the next call starts another process, with the model open
    assert made.predict().shape == (60, 1)
    assert pid(worker) != first


def test_a_model_that_changed_is_not_opened_again(audit, worker, tmp_path):
    made = audit()
    os.kill(pid(worker), signal.SIGKILL)
    assert gone(pid(worker)) or not worker.alive
    fake_guest.write_source(made.path, opening=f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(ModelError, match="has changed"):
        made.predict()
    assert not (tmp_path / "ran").exists()
    made.path.unlink()
    with pytest.raises(WorkerError):
        made.predict()


@pytest.mark.parametrize(
    ("misbehaviour", "words"),
    [
        ("os._exit(7)", "exit code 7"),
        ("os.abort()", phrases.CRASHED),
        ("os.kill(os.getpid(), 11)", phrases.CRASHED),
        ("os._exit(0)", "exit code 0"),
    ],
)
def test_a_model_that_ends_its_process(audit, worker, misbehaviour, words):
    made = audit(f"if calls > 1: {misbehaviour}")
    made.predict()
    with pytest.raises(WorkerError) as caught:
        made.predict()
    assert words in str(caught.value)
    # opened anew, it counts its calls from the start
    assert made.predict().shape == (60, 1)


def test_a_model_that_crashes_while_it_is_opened(audit):
    with pytest.raises(WorkerError, match="exit code 3"):
        audit(opening="os._exit(3)")
    assert audit().predict().shape == (60, 1)


def test_a_model_that_hangs_while_it_is_opened(audit, worker):
    with pytest.raises(WorkerError, match=r"did not open the model within 1\.5 seconds") as caught:
        audit(opening="time.sleep(1000)", model=1.5)
    assert caught.value.remedy
    assert not worker.alive


def test_a_model_that_hangs_when_it_is_asked(audit, worker):
    made = audit("if calls > 3: time.sleep(1000)", answer=1.5)
    with pytest.raises(WorkerError, match=rf"{phrases.NO_NEXT_STEP} within 1\.5 seconds"):
        list(made.search())
    assert made.predict().shape == (60, 1)


def test_a_model_that_raises_is_told(audit, worker):
    made = audit("raise ValueError('I only take penguins')")
    with pytest.raises(WorkerError, match="penguins"):
        made.predict()
    assert worker.alive


def test_stop_keeps_the_process(audit, worker):
    made = audit(SLOW)
    before, search = pid(worker), made.search()
    events = []
    for event in search:
        events.append(event)
        if event.phase not in NOT_BEGUN:
            worker.stop()
    assert search.ending == "stopped"
    assert isinstance(events[-1], Progress)
    assert made.predict().shape == (60, 1)
    assert pid(worker) == before


def test_stop_ends_a_model_that_does_not_answer(audit, worker):
    made = audit("if calls > 20: time.sleep(1000)", stop=0.5, terminate=0.5)
    search = made.search()
    timer = threading.Timer(1.0, worker.stop)
    # libraries are loaded, and the model is looked at, before the method begins
    while next(search).phase != "global":
        pass
    timer.start()
    list(search)
    timer.join()
    assert search.ending == "stopped"
    assert not worker.alive
    assert made.predict().shape == (60, 1)


@pytest.mark.parametrize(
    ("heard", "cooperates", "measured"),
    [
        ((), True, False),
        (("starting",), True, False),
        (("starting", COMPILING), False, False),
        ((COMPILING_THERE,), False, False),
        ((COMPILING, "preparing"), True, False),
        (("certify", Measured("certify", ())), True, True),
    ],
)
def test_what_is_heard_of_a_search_tells_how_it_can_be_stopped(heard, cooperates, measured):
    call = conversation._Call(1, None, cooperates=True, finishes=True)
    for each in heard:
        nothing = {"done": 0, "total": 0, "tried": 0, "found": 0, "queries": 0}
        call.hear(Progress(each, **nothing) if isinstance(each, str) else each)
    assert (call.cooperates, call.measured) == (cooperates, measured)


def test_a_search_without_results_is_not_waited_for(audit, worker, monkeypatch):
    """What it came to is waited for only where it came to anything."""
    waited = []

    def insist(child, _answered, _patience, first):
        waited.append(first)
        child.kill()

    monkeypatch.setattr(conversation, "_insist", insist)
    monkeypatch.setitem(METHODS, "proves", fake_guest.PROVES)
    made = audit("time.sleep(1000)", stop=0.5, finish=1000.0)
    search = made.search(RunSpec("proves"))
    next(search)
    worker.stop()
    list(search)
    assert search.ending == "stopped"
    assert waited == [0.5]


def test_stop_ends_what_is_no_search_at_once(audit, worker):
    made = audit("time.sleep(1000)")
    threading.Timer(0.5, worker.stop).start()
    with pytest.raises(WorkerError, match="was stopped"):
        made.predict()


def test_pause_and_resume(audit, worker):
    made = audit(SLOW, answer=5.0)
    events = iter(made.search())
    # libraries are loaded, and the model is looked at, before the method begins
    while next(events).phase != "global":
        pass
    worker.pause()
    assert worker.paused
    seen, states = [], []

    def go_on():
        for event in events:
            seen.append(event)
            states.append(worker.paused)

    thread = threading.Thread(target=go_on)
    thread.start()
    count = -1
    while count != len(seen):  # what was on its way has come
        count = len(seen)
        time.sleep(1.0)
    # longer than a running search may take for a step
    time.sleep(5.5)
    assert len(seen) == count
    assert states[-1]
    worker.resume()
    assert not worker.paused
    while len(seen) == count and thread.is_alive():
        time.sleep(0.01)
    assert len(seen) > count
    worker.stop()
    thread.join(60)
    assert not thread.is_alive()


def test_closing_a_search_stops_it(audit, worker):
    made = audit(SLOW)
    before, search = pid(worker), made.search()
    while next(search).phase in NOT_BEGUN:
        pass
    search.close()
    assert made.predict().shape == (60, 1)
    assert pid(worker) == before


def test_a_budget_ends_a_search(audit):
    made = audit()
    search = made.search(msgspec.structs.replace(LONG, budget=Budget(queries=500)))
    events = list(search)
    assert search.ending == "budget"
    assert events[-1].queries >= 500


def test_controls_without_a_call_do_nothing(worker):
    worker.pause()
    worker.resume()
    worker.stop()
    assert not worker.paused
    assert worker.alive


def test_calls_from_two_threads_take_turns(audit):
    made = audit(SLOW)
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(made.predict())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(answers) == 4
    for answer in answers:
        np.testing.assert_array_equal(answer, answers[0])


def test_close_is_final_and_may_be_repeated(audit, worker):
    made = audit()
    number = pid(worker)
    worker.close()
    worker.close()
    assert gone(number)
    with pytest.raises(WorkerError, match="was closed"):
        made.predict()


def test_close_ends_a_running_call(audit, worker):
    made = audit("time.sleep(1000)")
    threading.Timer(0.5, worker.close).start()
    with pytest.raises(WorkerError):
        made.predict()


def test_a_forgotten_worker_leaves_no_process():
    worker = Worker()
    number = pid(worker)
    del worker
    gc.collect()
    assert gone(number)


@pytest.mark.parametrize("end", ["", "os.kill(os.getpid(), 9)"])
def test_no_process_is_left_when_the_app_ends(end):
    source = (
        "import os\nfrom fairdesk.audit.worker.client import Worker\n"
        f"worker = Worker()\nprint(worker._child.pid, flush=True)\n{end}\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, timeout=60, check=False
    )
    assert gone(int(done.stdout))


SPEAKS = """
import sys
sys.stdout.buffer.write({hello})
sys.stdout.buffer.flush()
sys.stdin.buffer.read(8)
sys.stdout.buffer.write({bytes})
sys.stdout.buffer.flush()
sys.stdin.buffer.read()
"""


def speaking(data):
    """Make a worker whose child answers the first request with these bytes."""
    hello = frame_bytes(0, wire.Hello(unknown()))
    return Worker(command=(sys.executable, "-c", SPEAKS.format(hello=hello, bytes=data)))


def frame_bytes(call, message):
    stream = io.BytesIO()
    frames.write(stream, call, message)
    return stream.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        b"Traceback (most recent call last):\n",
        frame_bytes(1, wire.Predicted(np.zeros((60, 1), np.float32)))[:-3] + b"x",
        frame_bytes(5, wire.Predicted(np.zeros((60, 1), np.float32))),
        frame_bytes(1, wire.SearchEnded("done")),
        frame_bytes(1, wire.Predicted(np.zeros((59, 1), np.float32))),
        frame_bytes(1, wire.Predicted(np.zeros(60, np.float32))),
        frame_bytes(1, wire.Predicted(np.zeros((60, 1)))),
        frame_bytes(1, wire.Predicted(None)),
    ],
)
def test_garbage_from_the_child_is_refused(spec, data):
    worker = speaking(data)
    worker._patience = Patience(answer=1.0)
    with pytest.raises(WorkerError) as caught:
        worker.predict(spec.mapping, spec.domain.attributes, np.zeros((60, 3)))
    assert caught.value.remedy
    worker.close()


TWO, SCORES, BOTH = np.zeros((2, 3)), np.zeros((2, 1), np.float32), np.ones((2, 1), np.bool_)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Found(TWO, TWO, SCORES, SCORES, BOTH[:1], "local"), phrases.MISFIT),
        (Found(TWO, TWO, SCORES, SCORES[:, 0], BOTH, "local"), phrases.MISFIT),
        (Found(*[np.zeros((2, 4))] * 2, SCORES, SCORES, BOTH, "local"), phrases.MISFIT),
        (Found(TWO, None, SCORES, SCORES, BOTH, "local"), phrases.NO_MESSAGE),
        (Found(TWO, TWO, TWO[:, :1], SCORES, BOTH, "local"), phrases.NO_MESSAGE),
        (Found(TWO.astype(int), TWO, SCORES, SCORES, BOTH, "local"), phrases.NO_MESSAGE),
        (wire.Predicted(SCORES), phrases.MISFIT),
    ],
)
def test_findings_that_do_not_fit_are_refused(spec, answer, why):
    worker = speaking(frame_bytes(1, answer))
    with pytest.raises(WorkerError, match=why):
        list(worker.search(spec.mapping, spec.domain, SearchInputs(np.zeros((1, 3))), LONG))
    worker.close()


def with_a_model(spec, path, answer):
    """Make a worker whose child says that it opened a model, and then gives this answer."""
    card = msgspec.structs.replace(spec.model, path="elsewhere", sha256="0" * 64)
    said = frame_bytes(1, wire.ModelOpened(card)) + frame_bytes(2, answer)
    worker = speaking(said)
    return worker, worker.open_model(path)


def test_the_app_itself_tells_which_file_was_opened(spec, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(b"a program that lies about itself")
    worker, card = with_a_model(spec, path, wire.Predicted(SCORES))
    assert (card.path, card.sha256) == (str(path), sha256(path))
    worker.close()


def another(row, column, value):
    changed = row.copy()
    changed[0, column] = value
    return changed


PERSON, PARTNER = np.array([[40.0, 0, 5]]), np.array([[40.0, 1, 5]])
SCORE, TRUE = np.array([[0.2]], np.float32), np.array([[True]])


@pytest.mark.parametrize(
    ("changed", "value"),
    [
        (0, another(PERSON, 0, 400)),
        (0, another(PERSON, 0, 40.5)),
        (0, another(PERSON, 0, np.nan)),
        (1, another(PARTNER, 1, 7)),
        (1, another(PARTNER, 2, 6)),
        (2, SCORE * np.float32(np.nan)),
        (3, np.hstack([SCORE, SCORE])),
        (4, np.array([[True, True]])),
        (None, None),
    ],
)
def test_findings_are_people_of_the_domain(spec, tmp_path, changed, value):
    path = tmp_path / "model"
    path.write_bytes(b"")
    arrays = [PERSON, PARTNER, SCORE, SCORE, TRUE]
    if changed is not None:
        arrays[changed] = value
    worker, _ = with_a_model(spec, path, Found(*arrays, "local"))
    worker._patience = Patience(answer=1.0)
    events = worker.search(spec.mapping, spec.domain, SearchInputs(np.zeros((1, 3))), LONG)
    with as_it_is(changed is None):
        assert isinstance(next(events), Found)
    events.close()
    worker.close()


def as_it_is(sound):
    """Expect what is unsound to be refused."""
    return nullcontext() if sound else pytest.raises(WorkerError, match=phrases.MISFIT)


def heard(message):
    """Return a message as it is read from a guest's pipe."""
    return wire.read_from_guest(io.BytesIO(frame_bytes(2, message))).message


ROWS = np.array([[40.0, 0, 5], [40.0, 1, 5]])
NUMBERS = np.array([0, 1])


@pytest.mark.parametrize(
    ("changed", "value"),
    [
        (None, None),
        (0, another(ROWS, 0, 400)),
        (0, another(ROWS, 0, 40.5)),
        (0, another(ROWS, 1, 2)),
        (0, another(ROWS, 0, np.nan)),
        (0, another(ROWS, 0, np.inf)),
        (0, ROWS[:1]),
        (0, ROWS[:, :2]),
        # the model has two classes, the table 60 rows
        (1, np.array([0, 2])),
        (1, np.array([-1, 0])),
        (2, np.array([-2, 0])),
        (3, np.array([0, 60])),
        (3, np.array([-1, 0])),
        (3, NUMBERS[:1]),
    ],
)
def test_added_rows_are_people_of_the_domain(spec, changed, value):
    arrays = [ROWS, NUMBERS, np.array([-1, 7]), NUMBERS]
    if changed is not None:
        arrays[changed] = value
    added = heard(Augmented("making", *arrays))
    np.testing.assert_array_equal(added.rows, arrays[0])
    assert added.pairs.tolist() == arrays[2].tolist()
    with as_it_is(changed is None):
        answer_checks.check_added_rows(added, spec.domain, 2, 60)


@pytest.mark.parametrize("numbers", [np.array([0.0, np.nan]), NUMBERS.astype(bool)])
def test_people_are_numbered_with_whole_numbers(numbers):
    with pytest.raises(WorkerError, match=phrases.NO_MESSAGE) as caught:
        heard(Augmented("making", ROWS, numbers, NUMBERS, NUMBERS))
    assert "int64" in caught.value.why


@pytest.mark.parametrize(
    ("run", "seeds", "why"),
    [
        ("repair-aequitas", NUMBERS, ""),
        # the table has 60 rows, and nobody asks a search for rows
        ("repair-aequitas", NUMBERS + 59, "rows or pairs that do not exist"),
        ("maft", NUMBERS, "not requested"),
    ],
)
def test_only_a_repair_makes_rows_and_of_its_own_table(spec, tmp_path, run, seeds, why):
    path = tmp_path / "model"
    path.write_bytes(b"")
    arrays = [ROWS, NUMBERS, NUMBERS, seeds]
    worker, _ = with_a_model(spec, path, Augmented("making", *arrays))
    worker._patience = Patience(answer=1.0)
    table = np.zeros((60, 3))
    inputs = SearchInputs(table)
    if run == "repair-aequitas":
        nobody, none = table[:0], np.zeros(60)
        inputs = MitigationInputs(
            *(table, table[:, :1], none == 0, none, none.astype(int)),
            *(nobody, nobody, np.empty(0, dtype=int)),
        )
    events = worker.search(spec.mapping, spec.domain, inputs, RunSpec(run))
    if why:
        with pytest.raises(WorkerError, match=phrases.MISFIT) as caught:
            next(events)
        assert why in caught.value.why
    else:
        assert next(events).seeds.tolist() == [0, 1]
        events.close()
    worker.close()


FILE = Retrained("saving", 2, "model.keras", "It is fine.", np.frombuffer(b"model", np.int8))


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({}, ""),
        ({"content": np.empty(0, np.int8)}, ""),
        ({"note": "x" * 1_000_000}, ""),
        ({"trial": -1}, "an invalid file"),
        ({"content": np.zeros((2, 2), np.int8)}, "shapes"),
        ({"content": np.zeros(3)}, "int8"),
        ({"content": None}, "Expected"),
    ],
)
def test_files_of_models_are_those_that_there_are(changed, why):
    told = msgspec.structs.replace(FILE, **changed)
    if why:
        with pytest.raises(WorkerError) as caught:
            answer_checks.checked_file(heard(told))
        assert why in caught.value.why
    else:
        made = answer_checks.checked_file(heard(told))
        assert (made.trial, made.name) == (2, "model.keras")
        assert made.content.tobytes() == told.content.tobytes()
        assert len(made.note) <= answer_checks.MOST_TEXT


@pytest.mark.parametrize("name", ["../model.keras", "run.sh", ""])
def test_a_file_of_another_name_is_no_message(name):
    with pytest.raises(WorkerError, match=phrases.NO_MESSAGE):
        heard(msgspec.structs.replace(FILE, name=name))


SHARE = Measure("share_domain", "", "domain", 0.1, 0.08, 0.12, 1_000)
FALL = Change("share_domain", "", "domain", 0, -0.05, -0.06, -0.04, 0.01, "McNemar, exact")
TRIAL = Trial(0, "imported", measures=(SHARE,))
NEXT = Trial(1, "retrained", added=3, percent=2.0, measures=(SHARE,), changes=(FALL,))
TOLD = Repair("share_domain", 1, 10, 20, "majority", 36, 12, 12, 1.0, retrains=True)


def with_measure(**changed):
    return msgspec.structs.replace(TRIAL, measures=(msgspec.structs.replace(SHARE, **changed),))


def with_change(**changed):
    return msgspec.structs.replace(NEXT, changes=(msgspec.structs.replace(FALL, **changed),))


@pytest.mark.parametrize(
    ("figures", "sound"),
    [
        ((TOLD, TRIAL, NEXT), True),
        ((TOLD, with_measure(estimate=None, low=None, high=None), NEXT), True),
        # one that was resampled may leave its estimate out
        ((TOLD, with_measure(estimate=0.07), NEXT), True),
        # a mean score may be any number, and a ratio above one
        ((TOLD, with_measure(what="rule_score", estimate=3.0, low=-1.0, high=7.0), NEXT), True),
        ((TOLD, with_measure(estimate=1.5), NEXT), False),
        ((TOLD, with_measure(low=-0.1), NEXT), False),
        ((TOLD, with_measure(low=0.13), NEXT), False),
        ((TOLD, with_measure(n_samples=-1), NEXT), False),
        ((TOLD, TRIAL, with_change(p=1.2)), False),
        ((TOLD, TRIAL, with_change(low=0.5)), False),
        ((TOLD, TRIAL, with_change(against=5)), False),
        ((TOLD, TRIAL, msgspec.structs.replace(NEXT, added=-1)), False),
        ((TOLD, TRIAL, msgspec.structs.replace(NEXT, percent=-0.1)), False),
        ((TOLD, TRIAL, msgspec.structs.replace(NEXT, seconds=-1.0)), False),
        ((TOLD, TRIAL, msgspec.structs.replace(NEXT, number=-1)), False),
        ((TOLD, TRIAL, msgspec.structs.replace(NEXT, number=0)), False),
        ((TOLD, TRIAL), False),
        ((msgspec.structs.replace(TOLD, chosen=-1), TRIAL), True),
        ((msgspec.structs.replace(TOLD, chosen=-2), TRIAL), False),
        ((msgspec.structs.replace(TOLD, train=-1), TRIAL, NEXT), False),
        ((msgspec.structs.replace(TOLD, allowance=-1.0), TRIAL, NEXT), False),
    ],
)
def test_figures_of_repairs_are_what_can_be(spec, figures, sound):
    measured = heard(Measured("training", figures))
    assert measured.figures == figures
    with as_it_is(sound):
        answer_checks.check_event(measured, spec.domain, 1)


SPLIT = ChangeSplit(("sex", "job"), 9, (4, 2), 1, 2)
MOVED = ValueChanges("sex", 1, (ValueChange(0.0, 1.0, 20, 6, 3),))


@pytest.mark.parametrize(
    ("figure", "sound"),
    [
        (SPLIT, True),
        (msgspec.structs.replace(SPLIT, hits=10), False),
        (msgspec.structs.replace(SPLIT, alone=(9, -3)), False),
        (msgspec.structs.replace(SPLIT, alone=(6,)), False),
        (msgspec.structs.replace(SPLIT, alone=(4, 2), several=-1, together=4), False),
        (MOVED, True),
        (msgspec.structs.replace(MOVED, n_pairs=0), False),
        (msgspec.structs.replace(MOVED, values=(ValueChange(0.0, 1.0, 8, 6, 3),)), False),
        (msgspec.structs.replace(MOVED, values=(ValueChange(0.0, 1.0, 8, 6, -1),)), False),
        (msgspec.structs.replace(MOVED, values=(ValueChange(0.0, 1.0, 8, -1, 3),)), False),
    ],
)
def test_counts_of_what_is_enough_are_what_can_be(spec, figure, sound):
    with as_it_is(sound):
        answer_checks.check_event(heard(Measured("random", (figure,))), spec.domain, 1)


DIRECTED = Share(
    "data", ("sex",), 20, 9, True, 0.95, *[0.45] * 5, gains=6, losses=3, by_value=((0.0, 6, 3),)
)


@pytest.mark.parametrize(
    ("changed", "sound"),
    [
        ({}, True),
        # of more than two decisions some change to neither
        ({"gains": 4}, True),
        ({"gains": 7}, False),
        ({"gains": -1}, False),
        ({"losses": -3}, False),
        ({"by_value": ((0.0, 10, 0),)}, False),
        ({"by_value": ((0.0, 6, -1),)}, False),
    ],
)
def test_gains_and_losses_are_what_can_be(spec, changed, sound):
    told = msgspec.structs.replace(DIRECTED, **changed)
    with as_it_is(sound):
        answer_checks.check_event(heard(Measured("random", (told,))), spec.domain, 1)


@pytest.mark.parametrize("number", ["NaN", "1e999", "null"])
def test_what_is_no_number_is_no_message(number):
    told = msgspec.structs.replace(NEXT, percent=0.375)
    frame = frame_bytes(2, Measured("training", (TOLD, TRIAL, told)))
    assert frame.count(b"0.375") == 1
    # as many letters, for the frame tells its length
    raw = frame.replace(b"0.375", f"{number:>5}".encode())
    with pytest.raises(WorkerError, match=phrases.NO_MESSAGE):
        wire.read_from_guest(io.BytesIO(raw))


def test_a_child_that_cannot_be_started(spec):
    worker = Worker(command=("/no/such/program",))
    with pytest.raises(WorkerError, match="could not be started"):
        worker.predict(spec.mapping, spec.domain.attributes, np.zeros((1, 3)))
    worker.close()


def test_its_last_words_are_logged(spec, caplog):
    worker = Worker(command=(sys.executable, "-c", "import sys; sys.exit('last words')"))
    with pytest.raises(WorkerError, match="exit code 1"):
        worker.predict(spec.mapping, spec.domain.attributes, np.zeros((1, 3)))
    assert "last words" in caplog.text
    worker.close()


@pytest.mark.parametrize(
    ("code", "last", "words"),
    [
        (-9, "", "killed"),
        (-11, "", "crashed"),
        (-15, "", "signal 15"),
        (1, "MemoryError: Unable to allocate", "ran out of memory"),
        (-6, "terminate called: std::bad_alloc", "ran out of memory"),
        (0xC0000005, "", "crashed"),
        (0xC0000017, "", "ran out of memory"),
        (3, "", "exit code 3"),
    ],
)
def test_ends_in_plain_words(code, last, words):
    error = describe_end(code, last)
    assert words in str(error)
    assert "Results so far are kept" in error.remedy


def test_an_endless_graph_is_left_at_once_when_it_is_stopped(tmp_path, worker):
    path = endless(tmp_path / "m.onnx")
    told = []

    def open_it():
        with pytest.raises(WorkerError) as caught:
            worker.open_model(path)
        told.append(caught.value)

    opening = threading.Thread(target=open_it)
    opening.start()
    while worker._call is None:
        time.sleep(0.01)
    worker.stop()
    opening.join(20)
    assert not opening.is_alive()
    assert "stopped" in str(told[0])


def test_what_to_do_with_a_model_that_hangs_fits_its_format(tmp_path, worker):
    worker._patience = Patience(model=1.0)
    with pytest.raises(WorkerError, match="did not open the model") as caught:
        worker.open_model(endless(tmp_path / "m.onnx"))
    assert "ONNX" not in caught.value.remedy
    assert "the author of the model" in caught.value.remedy
    hangs = making.write_model(tmp_path / "m.pkl", opening="time.sleep(1000)")
    with pytest.raises(WorkerError, match="did not open the model") as caught:
        worker.open_model(hangs, trusted=True)
    assert "request it as ONNX" in caught.value.remedy
