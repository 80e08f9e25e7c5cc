"""Runs from their beginning to their end, in the worker's process and the audit file."""

import os
import signal
import sys
import threading
import time

import msgspec
import numpy as np
import pytest

from fairdesk.audit.catalogue.method import COMPILING
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.audit.runs import run as runs
from fairdesk.audit.runs.run import check_run, run
from fairdesk.audit.sandbox import kernel_cache
from fairdesk.audit.store.records import PairQuery
from fairdesk.audit.store.store import Store
from fairdesk.audit.worker.client import Searching, Worker
from fairdesk.audit.worker.conversation import Patience
from fairdesk.errors import SpecError, StoreError
from fairdesk.models.inputs import input_check
from fairdesk.results.events import Progress
from fairdesk.results.individual import RandomBaseline
from fairdesk.results.subgroups import RuleSet
from tests import phrases
from tests.audit import fake_guest, making
from tests.audit.making import domain_of

pytestmark = pytest.mark.usefixtures("shared_guests")

GUEST = (sys.executable, fake_guest.__file__)
SHORT = RunSpec("steps", {"steps": 40})
LONG = RunSpec("steps", {"steps": 1_000_000})
SLOW = "time.sleep(0.002)"


@pytest.fixture
def prepared(tmp_path, table, monkeypatch):
    """Make a worker and a store for a model that does this at every call."""
    monkeypatch.setitem(METHODS, "steps", fake_guest.STEPS)
    worker = Worker(command=GUEST)
    stores = []

    def make(misbehaviour="pass", **patience):
        worker._patience = Patience(**patience)
        path = fake_guest.write_source(tmp_path / "model.txt", misbehaviour)
        spec = making.spec_of(table, worker.open_model(path, trusted=True))
        stores.append(Store.create(tmp_path / f"{len(stores)}.fairdesk", spec, table))
        return worker, stores[-1]

    yield make
    worker.close()
    for store in stores:
        store.close()


def test_a_run_is_kept_whole(prepared):
    worker, store = prepared()
    states = list(run(worker, store, SHORT))
    first, last = states[0], states[-1]
    assert (first.state, first.found, first.sufficient_alone) == ("running", 0, (0,))
    assert (last.state, last.phase, last.done, last.total) == ("done", "global", 40, 40)
    assert last.found == 120 == store.count(PairQuery(run=last.id))
    assert last.sufficient_alone == (120,)
    (record,) = store.runs()
    assert (record.state, record.found, record.tried, record.queries) == ("done", 120, 120, 240)
    assert record.spec == SHORT
    assert record.seconds == last.seconds
    course = store.progress(record.id)
    assert (np.diff(course, axis=0) >= 0).all()
    assert course[-1, 2] == 120
    entries = [entry.what for entry in store.log_entries()]
    assert "Run 1 was started: Steps" in entries
    assert "Run 1 ended: done." in entries


def test_real_searches_find_the_same_again(tmp_path, table):
    worker = Worker()
    card = worker.open_model(making.write_model(tmp_path / "model.pkl"), trusted=True)
    options = {"global_num": 50, "local_num": 50}
    with Store.create(tmp_path / "a.fairdesk", making.spec_of(table, card), table) as store:
        for spec in (RunSpec("maft", options, 5), RunSpec("maft", options, 5)):
            assert list(run(worker, store, spec))[-1].state == "done"
        list(run(worker, store, RunSpec("uniform", {"samples": 2_000})))
        one, other, uniform = store.runs()
        assert one.found == other.found > 0
        assert uniform.found > 0
        assert set(one.seconds) == {"preliminary", "global", "local"}
        first, second = (
            [pair.row.tolist() for pair in store.each_pair(PairQuery(run=record.id))]
            for record in (one, other)
        )
        assert first == second
        for pair in store.each_pair(PairQuery()):
            assert pair.row_class != pair.partner_class
            assert (pair.row != pair.partner).tolist() == [False, True, False]
    worker.close()


def test_a_search_for_plausible_pairs_is_held_against_random_sampling(tmp_path, table):
    """Not a run that measures nothing else: sampling is the baseline, and has none."""
    worker = Worker()
    card = worker.open_model(making.write_model(tmp_path / "model.pkl"), trusted=True)
    options = {"global_num": 50, "local_num": 50}
    walks = RunSpec("maft", options, 5, plausible=True)
    with Store.create(tmp_path / "a.fairdesk", making.spec_of(table, card), table) as store:
        for spec in (walks, walks, RunSpec("maft", options, 5)):
            list(run(worker, store, spec))
        list(run(worker, store, RunSpec("uniform", {"samples": 100}, plausible=True)))
        one, again, whole, uniform = store.runs()
    worker.close()
    (counted,) = (each for each in one.figures if isinstance(each, RandomBaseline))
    assert again.figures == one.figures
    assert 0 < counted.found <= counted.n_samples
    assert counted.queries < counted.before < one.queries
    assert "baseline" in one.seconds
    for each in (whole, uniform):
        assert not [kind for kind in each.figures if isinstance(kind, RandomBaseline)]
        assert "baseline" not in each.seconds


def test_a_stopped_run_keeps_what_it_found(prepared):
    worker, store = prepared(SLOW)
    states = []
    for state in run(worker, store, LONG):
        states.append(state)
        if state.found:
            worker.stop()
    assert states[-1].state == "stopped"
    assert states[-1].found == store.count(PairQuery()) > 0
    assert store.runs()[0].state == "stopped"


def told_by(phases, store, monkeypatch):
    """Run a method that takes so many seconds before each phase; gives phase and elapsed."""
    now = [1000.0]
    monkeypatch.setattr(runs, "monotonic", lambda: now[0])

    class Silent:
        paused = False

        def search(self, *_):
            def events():
                for seconds, phase in phases:
                    now[0] += seconds
                    yield Progress(phase, 0, 0, tried=0, found=0, queries=0)
                return "done"

            return Searching(events())

    states = list(run(Silent(), store, RunSpec("uniform")))
    assert states[-1].state == "done", states[-1].message
    return [(state.phase, state.elapsed) for state in states]


def test_what_prepares_a_run_counts_as_its_time(prepared, monkeypatch):
    _worker, store = prepared()
    phases = ((3.0, "starting"), (4.0, "preparing"), (5.0, "uniform"))
    told = told_by(phases, store, monkeypatch)
    assert told == [
        ("", 0.0),
        ("starting", 3.0),
        ("preparing", 7.0),
        ("uniform", 12.0),
        ("uniform", 12.0),
    ]


def test_what_is_compiled_once_on_a_computer_does_not(prepared, monkeypatch):
    _worker, store = prepared()
    phases = ((1.0, COMPILING), (99.0, COMPILING), (1.0, "preparing"), (2.0, "uniform"))
    told = told_by(phases, store, monkeypatch)
    assert told[1:3] == [(COMPILING, 0.0), (COMPILING, 0.0)]
    assert told[-1] == ("uniform", 2.0)


def test_a_process_that_came_before_what_is_compiled_makes_way(prepared, monkeypatch):
    worker, store = prepared()
    first = worker._child
    first._guest.sandbox.compiled = False
    monkeypatch.setattr(kernel_cache, "is_made", lambda: False)
    assert list(run(worker, store, SHORT))[-1].state == "done"
    assert worker._child is first
    monkeypatch.setattr(kernel_cache, "is_made", lambda: True)
    # the model is opened again, and the run is as it would have been
    assert list(run(worker, store, SHORT))[-1].found == 120
    second = worker._child
    assert second is not first
    second._guest.sandbox.compiled = True
    assert list(run(worker, store, SHORT))[-1].state == "done"
    assert worker._child is second


def test_a_paused_run_says_so_and_its_clock_stands(prepared):
    worker, store = prepared(SLOW)
    states = []
    drive = threading.Thread(target=lambda: _drive(worker, store.path, states))
    drive.start()
    _wait(lambda: any(state.found for state in states))
    worker.pause()
    _wait(lambda: states[-1].state == "paused")
    paused = states[-1]
    time.sleep(1.0)
    assert states[-1] is paused
    worker.resume()
    resumed = time.monotonic()
    _wait(lambda: states[-1].state == "running")
    since = time.monotonic() - resumed
    worker.stop()
    drive.join(60)
    assert states[-1].state == "stopped"
    elapsed = [state.elapsed for state in states]
    assert elapsed == sorted(elapsed)
    # the pause is not in it
    after = next(state for state in states[states.index(paused) :] if state.state == "running")
    assert after.elapsed - paused.elapsed < since + 0.9


def _drive(worker, path, states):
    with Store.open(path) as store:
        for state in run(worker, store, LONG):
            states.append(state)


def _wait(until):
    for _ in range(1_200):
        if until():
            return
        time.sleep(0.05)
    raise AssertionError("it never came")


def test_a_killed_process_fails_the_run_and_the_next_one_works(prepared):
    worker, store = prepared(SLOW)
    states = []
    for state in run(worker, store, LONG):
        states.append(state)
        if state.found and worker.alive:
            os.kill(worker._child.pid, signal.SIGKILL)
    assert states[-1].state == "failed"
    assert "killed" in states[-1].message
    assert states[-1].found == store.count(PairQuery()) > 0
    assert store.runs()[0].message == states[-1].message
    assert list(run(worker, store, SHORT))[-1].state == "done"
    assert [record.state for record in store.runs()] == ["failed", "done"]


def test_a_model_that_hangs_fails_the_run(prepared):
    worker, store = prepared(
        # the look at it before the run is one call, and each step is two
        "if len(rows) == 3:\n"
        "        answer.steps = getattr(answer, 'steps', 0) + 1\n"
        "        if answer.steps > 20: time.sleep(1000)",
        answer=4.0,
    )
    last = list(run(worker, store, LONG))[-1]
    assert last.state == "failed"
    assert phrases.NO_NEXT_STEP in last.message
    assert last.found == store.count(PairQuery()) == 30


def test_a_budget_is_told(prepared):
    worker, store = prepared()
    spec = msgspec.structs.replace(LONG, budget=Budget(queries=600))
    last = list(run(worker, store, spec))[-1]
    assert last.state == "done"
    assert last.message == f"The run {phrases.AT_ITS_LIMIT} 600 queries."
    assert last.queries >= 600
    last = list(run(worker, store, msgspec.structs.replace(LONG, budget=Budget(seconds=0.2))))[-1]
    assert "0.2 seconds" in last.message


def test_a_diagnosis_that_ends_early_finds_nobody(prepared):
    worker, store = prepared()
    spec = RunSpec("diagnose", budget=Budget(queries=1))
    last = list(run(worker, store, spec))[-1]
    assert (last.state, last.found, last.figures) == ("done", 0, ())
    assert last.message.endswith(f"{phrases.AT_ITS_LIMIT} 1 query.")


def test_a_full_disk_fails_the_run_and_keeps_the_rest(prepared):
    worker, store = prepared()
    pages = store._one("PRAGMA page_count")[0]
    store._connection.execute(f"PRAGMA max_page_count = {pages + 200}")
    last = list(run(worker, store, LONG))[-1]
    assert last.state == "failed"
    assert phrases.DISK_FULL in last.message
    assert last.found == store.count(PairQuery()) > 0
    with Store.open(store.path) as again:
        assert again.count(PairQuery()) == last.found
        assert list(run(worker, again, SHORT))[-1].state == "done"


def test_closing_the_run_stops_it(prepared):
    worker, store = prepared(SLOW)
    states = run(worker, store, LONG)
    for state in states:
        if state.found:
            break
    states.close()
    (record,) = store.runs()
    assert record.state == "stopped"
    assert record.found == store.count(PairQuery()) > 0
    assert worker.alive


def test_nobody_to_start_from(prepared, tmp_path, table):
    worker, store = prepared()
    codes = table.codes.copy()
    codes[:, 0] = np.nan
    empty = type(table)(table.source, table.columns, codes)
    with Store.create(tmp_path / "empty.fairdesk", store.spec, empty) as store:
        last = list(run(worker, store, SHORT))[-1]
    assert last.state == "failed"
    assert phrases.NOBODY_TO_START_FROM in last.message


def test_groups_are_compared_by_the_model_or_by_its_decisions_alone(
    prepared, tmp_path, table, monkeypatch
):
    monkeypatch.setitem(METHODS, "mines", fake_guest.MINES)
    worker, store = prepared()
    *_, last = run(worker, store, RunSpec("mines"))
    assert (last.state, last.found, last.queries) == ("done", 0, 60 + 4 * 60)
    (record,) = store.runs()
    mined, rule_set = record.figures
    assert (mined.attributes, rule_set.conditions[0].attribute) == (("sex",), "sex")
    # the model that was opened before is none of an audit of a column of decisions
    decided = msgspec.structs.replace(
        store.spec,
        model=input_check.card_of(table, "hired"),
        mapping=input_check.mapping_of("yes"),
        predictions="hired",
        domain=domain_of(table, input_check.mapping_of("yes"), "", ("sex",), predictions="hired"),
    )
    with Store.create(tmp_path / "decided.fairdesk", decided, table) as other:
        *_, last = run(worker, other, RunSpec("mines"))
        assert (last.state, last.queries) == ("done", 0)
        rates = [each.phi_in for each in last.figures if isinstance(each, RuleSet)]
    women, hired = (table.codes[:, table.index(name)] for name in ("sex", "hired"))
    assert rates == [pytest.approx(hired[women == women[0]].mean())]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"edges": {"sex": (1.0,)}}, f"“sex” is {phrases.NO_PROTECTED_NUMBER}"),
        ({"edges": {"age": (40.0, 40.0)}}, phrases.MUST_RISE),
        ({"edges": {"age": ()}}, phrases.MUST_RISE),
        ({"edges": {"age": (float("nan"),)}}, phrases.MUST_RISE),
        ({"text": "sex"}, phrases.NO_COLUMN_OF_TEXTS),
        ({"text": "sex", "method": "groups"}, phrases.COMPARES_NO_TERMS),
        ({"terms": {"gender": ("gay",)}}, phrases.TOO_FEW_TERMS),
        ({"max_distance": 0.1}, "does not apply to group methods"),
        ({"plausible": True}, "cannot be kept to plausible pairs"),
    ],
)
def test_groups_that_cannot_be_compared_are_refused(spec, table, changed, words):
    domain = domain_of(table, spec.mapping, "hired", ("sex", "age"))
    asked = RunSpec(**{"method": "testsgd", **changed})
    with pytest.raises(SpecError, match=words):
        check_run(asked, msgspec.structs.replace(spec, domain=domain))


def test_mean_scores_of_other_than_probabilities_are_refused(spec):
    asked = RunSpec("testsgd", {"outcome": "score"})
    check_run(asked, spec)
    bent = msgspec.structs.replace(spec.mapping, threshold=0.7)
    with pytest.raises(SpecError, match="Mean scores cannot be compared"):
        check_run(asked, msgspec.structs.replace(spec, mapping=bent))
    labels = msgspec.structs.replace(spec.model, scores="labels")
    with pytest.raises(SpecError, match="Mean scores cannot be compared"):
        check_run(asked, msgspec.structs.replace(spec, model=labels))


@pytest.mark.parametrize(
    "spec", [RunSpec("magic"), RunSpec("maft", {"speed": 1}), RunSpec("maft", {"decay": 2})]
)
def test_what_cannot_be_run_is_refused_before_it_begins(prepared, spec):
    worker, store = prepared()
    with pytest.raises(SpecError):
        next(run(worker, store, spec))
    assert not store.runs()


def test_a_store_that_cannot_be_written_is_told_before_it_begins(prepared):
    worker, store = prepared()
    store.close()
    with pytest.raises(StoreError):
        next(run(worker, store, SHORT))


def test_a_search_that_found_nothing_new_says_why_it_ended(prepared, monkeypatch):
    worker, store = prepared()
    idle = property(lambda _self: "idle", lambda _self, _value: None)
    monkeypatch.setattr(Searching, "ending", idle, raising=False)
    spec = msgspec.structs.replace(SHORT, budget=Budget(seconds=90.0, idle=30.0))
    last = list(run(worker, store, spec))[-1]
    assert last.state == "done"
    assert "no new discriminatory pair" in last.message
    assert "30 seconds" in last.message


def test_a_limit_of_no_seconds_without_news_is_refused(prepared):
    _, store = prepared()
    with pytest.raises(SpecError, match="idle"):
        check_run(msgspec.structs.replace(SHORT, budget=Budget(idle=0.0)), store.spec)
