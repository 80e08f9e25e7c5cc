"""What crosses between this computer and workers: read as it was written, and nothing else."""

import hashlib
import io
from concurrent.futures import Future

import msgspec
import numpy as np
import pytest

from fairdesk.audit.plan.inputs import SearchInputs
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.worker import frames, wire
from fairdesk.cluster import messages, remote
from fairdesk.cluster.connection import Member
from fairdesk.cluster.members import Members
from fairdesk.cluster.messages import ApartFile, Contents, Opening
from fairdesk.errors import ModelError, WorkerError
from fairdesk.results.events import Found, Progress, Tallied

OPENING = Opening("ab" * 32, (), {"numpy": "2.0"}, ("network",))
PROGRESS = Progress("global", 1, 2, tried=3, found=0, queries=6)


def test_a_content_is_kept_under_each_of_its_names(tmp_path, monkeypatch):
    monkeypatch.setattr(remote, "_folder", lambda: tmp_path)
    (tmp_path / OPENING.audit).write_bytes(b"a model")
    named = [
        remote._named(ApartFile(name, OPENING.audit)) for name in ("a.onnx", "b.onnx", "a.onnx")
    ]
    assert [each.name for each in named] == ["a.onnx", "b.onnx", "a.onnx"]
    assert named[0] == named[2]
    assert {each.read_bytes() for each in named} == {b"a model"}


def test_large_arrays_lie_apart_and_come_back(tmp_path):
    large, small = np.arange(400_000.0).reshape(-1, 4), np.arange(8.0).reshape(-1, 4)
    contents = Contents()
    run, inputs = RunSpec("maft", seed=3), SearchInputs(large, small)
    payload, needs = messages.write_job("token", 5, OPENING, run, inputs, contents)
    same = messages.write_job("token", 6, OPENING, run, inputs, contents)[1]
    assert len(payload) < small.nbytes + 2_000
    assert needs == same == (hashlib.sha256(large.tobytes()).hexdigest(),)
    assert len(contents.kept) == 1
    for digest, content in contents.kept.items():
        (tmp_path / digest).write_bytes(content)
    job = messages.read_job(payload, lambda digest: tmp_path / digest)
    assert (job.index, job.run, job.opening) == (5, run, OPENING)
    assert np.array_equal(job.inputs.people, large)
    assert np.array_equal(job.inputs.known, small)


def test_a_folder_is_sent_with_all_that_is_in_it(tmp_path):
    folder = tmp_path / "model"
    (folder / "variables").mkdir(parents=True)
    (folder / "variables" / "data").write_bytes(b"weights")
    contents = Contents()
    file = contents.keep_file(folder)
    assert (file.name, file.folder) == ("model", True)
    assert b"weights" in contents.kept[file.content]
    with pytest.raises(ModelError, match="none"):
        contents.keep_file(tmp_path / "none")


def test_events_come_with_their_end():
    *events, end = messages.read_events(messages.write_events(4, [PROGRESS], "budget"))
    assert events == [PROGRESS]
    assert end == wire.SearchEnded("budget")


def test_a_failure_is_raised_in_its_own_words():
    failed = messages.write_failure(ModelError("It broke.", why="So.", remedy="Mend it."))
    with pytest.raises(ModelError) as raised:
        list(messages.read_events(failed))
    assert str(raised.value) == "It broke. So. Mend it."


@pytest.mark.parametrize("message", [wire.TableProgress(0.5), wire.Packed(np.zeros(1, np.int8))])
def test_what_is_no_event_is_refused(message):
    stream = io.BytesIO()
    frames.write(stream, 1, message)
    with pytest.raises(WorkerError, match=type(message).__name__):
        list(messages.read_events(stream.getvalue()))
    with pytest.raises(WorkerError):
        list(messages.read_events(b"no frame at all"))


def test_pairs_of_a_shard_are_handed_over_together_and_progress_last():
    def some(code, phase="global"):
        row, score = np.full((1, 4), code), np.array([[0.4, 0.6]])
        return Found(row, row, score, score, np.ones((1, 2), dtype=bool), phase)

    tallied = Tallied("global", 0, last=True, arrays={})
    later = msgspec.structs.replace(PROGRESS, done=2)
    events = [some(1.0), PROGRESS, some(2.0), later, some(3.0, "local"), tallied, some(4.0)]
    first, told, second, counted, third = remote._thinned(iter(events))
    assert first.rows[:, 0].tolist() == [1.0, 2.0]
    assert (told, counted) == (later, tallied)
    assert (second.phase, second.rows[0, 0], third.rows[0, 0]) == ("local", 3.0, 4.0)


class Idle:
    """A connection to two workers that answer nothing."""

    def members(self):
        return {each: Member(each, "here", 1, 0, 0.0) for each in ("one", "two")}

    def submit(self, *_arguments, **_keywords):
        return Future()


def test_the_last_shards_wait_for_no_worker_beside_an_idle_one():
    members = Members(Idle(), OPENING, lambda *_: [], lambda _: None, 60.0)
    members.look()
    for state in members._states.values():
        state.ready = True
    members.give("one", "a", 0)
    members.give("two", "b", 1)
    # more are left than run at once: one waits where it will run
    assert members.freest(left=3)
    assert members.freest(left=2) is None
    members.take_back("b")
    assert members.freest(left=2) == members.freest(left=1) == "two"
