import pytest

from fairdesk.app.run_queue import RunQueue
from fairdesk.app.standard import with_time
from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.audit.store.records import WaitingRun
from fairdesk.audit.store.store import Store
from tests.gui.auditing import make_audit

GROUPS, SHARE, PAIRS, PROOF = (
    RunSpec(method, budget=Budget(seconds=30.0))
    for method in ("groups", "estimate", "maft", "certify")
)


def stands(queue):
    return [(each.spec.method, each.stands) for each in queue.runs]


def waiting(queue):
    return [each.spec.method for each in queue.waiting]


def test_runs_begin_one_after_another_in_their_order():
    queue = RunQueue()
    queue.add((GROUPS, SHARE))
    queue.add((PROOF,))
    assert queue.begin().spec == GROUPS
    with pytest.raises(RuntimeError):
        queue.begin()
    queue.end("done", run_id=1)
    assert queue.begin().spec == SHARE
    queue.end("failed", why="It died.")
    assert queue.begin().spec == PROOF
    assert stands(queue) == [("groups", "done"), ("estimate", "failed"), ("certify", "running")]
    queue.end("stopped", run_id=3)
    assert queue.begin() is None
    assert queue.idle
    assert [each.run_id for each in queue.runs] == [1, 0, 3]


def test_what_is_over_is_forgotten_when_others_are_added_to_an_idle_queue():
    queue = RunQueue()
    queue.add((GROUPS,))
    queue.begin()
    queue.add((SHARE,))
    assert len(queue.runs) == 2
    queue.end("done")
    queue.begin()
    queue.end("done")
    (added,) = queue.add((PROOF,))
    assert queue.runs == [added]
    assert added.number == 3


def test_only_what_waits_can_be_dropped_and_it_can_come_back():
    queue = RunQueue()
    first, second, third = queue.add((GROUPS, SHARE, PROOF))
    queue.begin()
    assert not queue.drop(first.number)
    assert queue.drop(second.number)
    assert not queue.drop(second.number)
    assert waiting(queue) == ["certify"]
    assert queue.restore(second.number)
    assert not queue.restore(third.number)
    assert waiting(queue) == ["certify", "estimate"]
    assert queue.drop_waiting() == (third, second)
    assert not queue.waiting
    assert queue.running is first


def test_what_waits_changes_places_and_nothing_else_does():
    queue = RunQueue()
    first, second, third, fourth = queue.add((GROUPS, SHARE, PAIRS, PROOF))
    queue.begin()
    assert not queue.move(first.number, 2)
    assert not queue.move(second.number, -1)
    assert queue.move(fourth.number, 0)
    assert waiting(queue) == ["certify", "estimate", "maft"]
    assert queue.move(fourth.number, 99)
    assert waiting(queue) == ["estimate", "maft", "certify"]
    assert queue.runs[0] is first
    queue.drop(third.number)
    assert queue.move(fourth.number, 0)
    assert queue.runs == [first, fourth, third, second]


def test_a_common_limit_is_divided_when_a_run_begins():
    queue = RunQueue()
    queue.add((GROUPS, SHARE, PROOF), seconds=100.0)
    queue.add((PAIRS,))
    given = queue.begin().spec.budget.seconds
    assert 0 < given < 100
    queue.end("done", elapsed=1.0)
    share = queue.begin()
    # what the first did not use is there for the others
    assert share.batch.seconds == 99.0
    queue.end("done", elapsed=9.0)
    proof = queue.begin()
    assert proof.spec == with_time(PROOF, (), 90.0)
    # a method that keeps time itself is told
    assert proof.spec.options["seconds"] == proof.spec.budget.seconds
    queue.end("done", elapsed=proof.spec.budget.seconds)
    assert queue.begin().spec == PAIRS


def test_a_run_without_time_is_dropped_and_says_why():
    queue = RunQueue()
    _groups, share = queue.add((GROUPS, SHARE), seconds=10.0)
    queue.begin()
    queue.end("done", elapsed=11.0)
    assert queue.begin() is None
    assert share.stands == "dropped"
    assert "time limit" in share.why
    # whoever adds it again wants it made
    assert queue.restore(share.number)
    assert queue.begin() is share


def test_searches_that_are_asked_for_together_are_compared():
    queue = RunQueue()
    (single,) = queue.add((PAIRS,))
    searches = queue.add((PAIRS, RunSpec("uniform")))
    mixed = queue.add((PAIRS, PROOF))
    assert not single.batch.compares
    assert searches[0].batch is searches[1].batch
    assert searches[0].batch.compares
    assert not mixed[0].batch.compares
    assert queue.of(searches[0].batch) == searches


def test_what_waits_is_kept_in_the_audit_file_until_it_has_begun(tmp_path):
    path = make_audit(tmp_path, runs=0)
    queue = RunQueue()
    queue.add((GROUPS, SHARE), seconds=50.0)
    queue.add((PAIRS,))
    queue.begin()
    with Store.open(path) as store:
        log = store.log_entries()
        store.write_waiting_runs(queue.kept())
        assert store.log_entries() == log
        assert store.sound() == ()
    with Store.open(path) as store:
        kept = store.waiting_runs()
        store.write_waiting_runs(())
        assert store.waiting_runs() == ()
    assert kept == (WaitingRun(SHARE, 0, 50.0), WaitingRun(PAIRS, 1, None))
    again = RunQueue()
    again.take_up((*kept, WaitingRun(RunSpec("no-such-method"), 2)))
    assert waiting(again) == ["estimate", "maft"]
    assert [each.batch.seconds for each in again.runs] == [50.0, None]
