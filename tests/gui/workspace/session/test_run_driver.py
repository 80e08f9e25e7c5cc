import threading
import time

import msgspec
import pytest

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store.records import PairQuery, RunState
from fairdesk.audit.store.store import Store
from fairdesk.gui.workspace.session.run_driver import RunDriver
from tests import phrases
from tests.gui.auditing import FakeWorker, make_audit

RUN = RunSpec("uniform", {"samples": 3000}, seed=5)


@pytest.fixture
def path(tmp_path):
    return make_audit(tmp_path, runs=0)


@pytest.fixture
def driver(qtbot):
    driver = RunDriver()
    yield driver
    driver.stop_and_wait()


def drive(qtbot, driver, worker, path, run=RUN):
    told, threads = [], set()
    driver.changed.connect(told.append)
    driver.changed.connect(lambda _state: threads.add(threading.current_thread()))
    with qtbot.waitSignal(driver.ended) as ended:
        driver.start(worker, path, run)
        assert driver.busy
    assert not driver.busy
    assert threads == {threading.main_thread()}
    assert told[-1] is ended.args[0]
    return told


def test_a_run_is_kept_and_its_end_told(qtbot, driver, path):
    told = drive(qtbot, driver, FakeWorker(), path)
    assert told[-1].state == "done"
    with Store.open(path) as store:
        (record,) = store.runs()
        assert (record.state, record.found) == ("done", told[-1].found)
        assert store.count(PairQuery()) == told[-1].found > 0
    curve = driver.progress()
    assert curve.shape[1] == 4
    assert curve[-1, 2] == told[-1].found
    assert (curve[1:] >= curve[:-1]).all()


def test_many_states_are_told_as_few(qtbot, driver, path):
    told = drive(qtbot, driver, FakeWorker(), path, RunSpec("uniform", {"samples": 40_000}))
    assert len(told) < len(driver.progress())


def test_a_stopped_run_keeps_what_it_found(qtbot, driver, path):
    worker = FakeWorker(hold=threading.Event())
    driver.start(worker, path, RUN)
    qtbot.waitUntil(lambda: driver.state is not None)
    with qtbot.waitSignal(driver.ended) as ended:
        driver.stop()
    assert ended.args[0].state == "stopped"
    with Store.open(path) as store:
        assert store.runs()[0].state == "stopped"


def test_a_stop_before_the_search_begins_still_stops(qtbot, driver, path):
    class Forgetful(FakeWorker):
        """Does not remember a stop from before its search, as a real worker does not."""

        searching = False

        def search(self, mapping, domain, inputs, run):
            time.sleep(0.2)
            self.searching = True
            return super().search(mapping, domain, inputs, run)

        def stop(self):
            if self.searching:
                super().stop()

    driver.start(Forgetful(hold=threading.Event()), path, RUN)
    with qtbot.waitSignal(driver.ended) as ended:
        driver.stop()
    assert ended.args[0].state == "stopped"


def test_a_paused_run_goes_on(qtbot, driver, path):
    worker = FakeWorker()
    worker.pause()
    driver.start(worker, path, RUN)
    qtbot.wait(150)
    assert driver.busy
    with qtbot.waitSignal(driver.ended) as ended:
        driver.resume()
    assert ended.args[0].state == "done"


def test_a_dead_process_ends_the_run_with_its_message(qtbot, driver, path):
    told = drive(qtbot, driver, FakeWorker(fail_after=4), path)
    assert told[-1].state == "failed"
    assert "died" in told[-1].message
    assert told[-1].found > 0
    with Store.open(path) as store:
        assert store.count(PairQuery()) == told[-1].found


def test_a_run_that_cannot_begin_is_told(qtbot, driver, path, tmp_path):
    told = drive(qtbot, driver, FakeWorker(), path, RunSpec("uniform", {"samples": 0}))
    assert (told[-1].state, told[-1].id) == ("failed", 0)
    told = drive(qtbot, driver, FakeWorker(), tmp_path / "nowhere.fairdesk")
    assert phrases.NO_AUDIT_FILE in told[-1].message


def test_one_run_at_a_time(qtbot, driver, path):
    driver.start(FakeWorker(hold=threading.Event()), path, RUN)
    with pytest.raises(RuntimeError):
        driver.start(FakeWorker(), path, RUN)


def test_stop_and_wait_returns_with_everything_written(qtbot, driver, path):
    driver.start(FakeWorker(hold=threading.Event()), path, RUN)
    driver.stop_and_wait()
    assert not driver.busy
    with Store.open(path) as store:
        assert [run.state for run in store.runs()] == ["stopped"]


def test_counts_that_only_grow_are_told_at_every_third_look(qtbot, driver):
    told = []
    driver.changed.connect(told.append)
    state = RunState(1, "maft", "running", phase="global", found=1)

    def look(newest):
        driver._newest = newest
        driver._look()
        return len(told)

    grown = [msgspec.structs.replace(state, found=found) for found in range(2, 9)]
    assert look(state) == 1
    assert [look(each) for each in grown[:4]] == [1, 1, 2, 2]
    # another phase, and a pause, are told at once
    local = msgspec.structs.replace(grown[4], phase="local")
    assert look(local) == 3
    assert look(msgspec.structs.replace(local, state="paused")) == 4
    assert told[-1].state == "paused"
