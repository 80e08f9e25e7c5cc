"""Counted in shards of any number, in any order, figures are those of one process, to the last."""

import sys
from pathlib import Path

import msgspec
import numpy as np
import pytest

from fairdesk.audit.catalogue.method import ABOUT_GROUPS
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.plan.inputs import SearchInputs, group_inputs
from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.audit.shards.counts import Counts
from fairdesk.audit.shards.dealing import dealing
from fairdesk.audit.shards.shard import Outcome, Whole
from fairdesk.data.domain.domain import Domain
from fairdesk.data.formats.reading import read_table
from fairdesk.errors import WorkerError
from fairdesk.groups import testsgd
from fairdesk.groups.metrics import measuring
from fairdesk.individual.engine.division import Adding
from fairdesk.individual.engine.pace import PartTimes
from fairdesk.results.events import Found, Progress, ShardRange, Tallied
from fairdesk.results.individual import Share
from tests.audit import making
from tests.audit.shards.sharing import Inside, figures, found, last, on, ran

RUNS = {
    "estimate": RunSpec("estimate", {"trials": 20, "people": 900}, seed=3),
    "estimate to a margin": RunSpec(
        "estimate", {"trials": 100, "people": 1_000, "margin": 0.03}, seed=3
    ),
    "estimate near the data": RunSpec(
        "estimate", {"trials": 10, "people": 900}, seed=3, max_distance=0.05
    ),
    "enumeration": RunSpec("enumerate", {"keep": 700}),
    "enumeration near the data": RunSpec("enumerate", max_distance=0.02),
    "group tables": RunSpec("groups"),
    "group tables of each decision": RunSpec("groups", {"outcome": "each"}),
    "repeats": RunSpec("repeats", {"people": 9_000}, seed=4),
    "themis": RunSpec("themis", {"margin": 0.008}, seed=5),
    "themis near the data": RunSpec("themis", {"margin": 0.04}, seed=5, max_distance=0.05),
    "subgroups": RunSpec("testsgd", {"sample_thr": 400, "theta": 0.05}, seed=7),
    "subgroups by scores": RunSpec(
        "testsgd", {"sample_thr": 400, "theta": 0.02, "error_thr": 0.06, "outcome": "score"}, seed=7
    ),
    "diagnosis": RunSpec(
        "diagnose", {"sizes": 5, "people": 40, "global_num": 10, "local_num": 5}, seed=2
    ),
    "themis-groups": RunSpec("themis-groups", {"margin": 0.01}, seed=6),
    "themis-groups to the end": RunSpec("themis-groups", {"margin": 0.001, "most": 9_001}, seed=6),
}


@pytest.fixture(scope="module")
def worker():
    return Inside()


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return read_table(making.write_people(tmp_path_factory.mktemp("data") / "p.csv", rows=3_000))


@pytest.fixture(scope="module")
def audit(table, worker, tmp_path_factory):
    """Two protected attributes, and a domain far larger than what is drawn of it."""
    model = making.write_model(tmp_path_factory.mktemp("model") / "model.pkl")
    spec = making.spec_of(table, worker.open_model(model, trusted=True))
    wide = [
        each if each.name == "sex" else msgspec.structs.replace(each, high=each.high + 200)
        for each in spec.domain.attributes
    ]
    return msgspec.structs.replace(spec, domain=Domain(tuple(wide)))


def inputs_of(audit, table, method):
    if METHODS[method].answers in ABOUT_GROUPS:
        return group_inputs(audit, table)
    return SearchInputs(audit.domain.people(table))


def timeless(measured):
    """Return figures without the seconds that they took."""
    return [
        msgspec.structs.replace(each, seconds=0.0) if hasattr(each, "seconds") else each
        for each in measured
    ]


@pytest.mark.parametrize("name", RUNS)
def test_figures_and_pairs_are_those_of_one_process(name, audit, table, worker, monkeypatch):
    # several blocks of a small table
    monkeypatch.setattr(measuring, "ROWS", 700)
    monkeypatch.setattr(testsgd, "BLOCK", 500)
    run = RUNS[name]
    inputs = inputs_of(audit, table, run.method)
    whole = worker.search(audit.mapping, audit.domain, inputs, run)
    wanted = timeless(figures(whole))
    assert wanted
    for seed, at_once in enumerate((2, 5)):
        assert isinstance(dealing(audit, run, inputs, at_once), Counts)
        events, ending = ran(worker, audit, run, inputs, np.random.default_rng(seed), at_once)
        assert timeless(figures(events)) == wanted
        assert found(events) == found(whole)
        assert (ending, last(events).found) == ("done", last(whole).found)
        assert (last(events).done, last(events).total) == (last(whole).done, last(whole).total)


def test_a_budget_of_rows_ends_after_a_unit_whoever_ran_it(audit, table, worker):
    run = RunSpec("estimate", {"trials": 50, "people": 1_000}, budget=Budget(queries=60_000))
    inputs = inputs_of(audit, table, run.method)
    one, other = (
        ran(worker, audit, run, inputs, np.random.default_rng(seed), at_once)
        for seed, at_once in ((1, 2), (2, 4))
    )
    assert one[1] == other[1] == "budget"
    assert figures(one[0]) == figures(other[0])
    assert found(one[0]) == found(other[0])
    people = sum(each.n_samples for each in figures(one[0]) if isinstance(each, Share))
    assert 0 < people < 3 * 50_000


def test_little_more_is_sent_than_a_budget_of_rows_allows(audit, table):
    run = RunSpec("estimate", {"trials": 50, "people": 1_000}, budget=Budget(queries=60_000))
    sent = []

    class Counting(Inside):
        def search(self, mapping, domain, inputs, run):
            outcome = super().search(mapping, domain, inputs, run)
            sent.append(sum(each.queries for each in outcome if isinstance(each, Tallied)))
            return outcome

    worker = Counting()
    worker.open_model(Path(audit.model.path), trusted=True)
    rng = np.random.default_rng(1)
    _, ending = ran(worker, audit, run, inputs_of(audit, table, "estimate"), rng, 9, lost=0.0)
    assert ending == "budget"
    # the first shard tells what one costs; then no more run at once than the budget lasts for
    assert len(sent) > 2
    assert sum(sent) < 60_000 + 2 * max(sent)


def test_pairs_of_the_run_before_are_not_found_again(audit, table, worker):
    run = RunSpec("estimate", {"trials": 5, "people": 900}, seed=3)
    people = audit.domain.people(table)
    before = found(worker.search(audit.mapping, audit.domain, SearchInputs(people), run))
    known = SearchInputs(people, known=np.array([row for row, _ in before]))
    events, _ = ran(worker, audit, run, known, np.random.default_rng(0))
    assert before
    assert not found(events)
    # every draw counts all the same
    assert figures(events)[0].hits > 0


def test_nothing_to_count_is_not_spread(audit, table):
    inputs = group_inputs(audit, table)
    nobody = msgspec.structs.replace(inputs, rows=np.full_like(inputs.rows, np.nan))
    assert isinstance(dealing(audit, RunSpec("groups"), inputs, 4), Counts)
    assert isinstance(dealing(audit, RunSpec("groups"), nobody, 4), Whole)


def test_counts_that_cannot_be_are_refused(audit, table, worker):
    run = RUNS["estimate"]
    divided = dealing(audit, run, inputs_of(audit, table, run.method), 2)
    outcome = on(worker, audit, divided.deal())
    lying = [
        msgspec.structs.replace(each, arrays={"rows": np.array([3])})
        if isinstance(each, Tallied)
        else each
        for each in outcome
    ]
    with pytest.raises(WorkerError):
        list(divided.take(0, Outcome(lying, "done")))


def test_a_shard_that_was_stopped_ends_the_run_with_what_was_counted(audit, table, worker):
    run = RUNS["estimate"]
    divided = dealing(audit, run, inputs_of(audit, table, run.method), 2)
    first, second, third = divided.deal(), divided.deal(), divided.deal()
    list(divided.take(0, on(worker, audit, first)))
    events = list(divided.take(1, Outcome([], "stopped")))
    # there is a gap before what came after it
    after = list(divided.take(2, on(worker, audit, third)))
    assert figures(after) == figures(events)
    assert not found(after)
    assert (second.run.shard.start, divided.done, divided.ending) == (1, True, "stopped")
    assert figures(events)[0].n_samples
    assert not [each for each in events if isinstance(each, Found)]


class Blocks(Adding):
    """Wants 400 units, and says so, or only how far it is."""

    def __init__(self, stop):
        self.next, self.stop = 0, stop

    @property
    def wanted(self):
        return ShardRange(self.next, self.stop) if self.next < 400 else None

    def add(self, tallied):
        self.next = tallied.unit + 1
        return True

    def told(self, progress):
        return msgspec.structs.replace(progress, done=self.next, total=400)

    def measured(self):
        return None


@pytest.mark.parametrize("stop", [400, sys.maxsize], ids=["known", "told"])
def test_shards_are_smaller_towards_the_end_so_that_workers_end_together(stop, audit, table):
    run, out = RUNS["estimate"], []
    divided = Counts(audit.domain, run, inputs_of(audit, table, run.method), Blocks(stop), 2)
    sizes = []
    while not divided.done:
        while len(out) < 4 and (shard := divided.deal()) is not None:
            out.append(shard)
            sizes.append(shard.run.shard.stop - shard.run.shard.start)
        shard = out.pop(0)
        units = range(shard.run.shard.start, shard.run.shard.stop)
        # a unit takes a hundredth of a second
        spent = {"random": 0.01 * len(units)}
        progress = Progress("random", 0, 0, 0, 0, 0, seconds=spent)
        counted = [Tallied("random", unit, last=True, arrays={}) for unit in units]
        list(divided.take(shard.index, Outcome([*counted, progress], "done")))
    largest = max(sizes)
    # up to an eighth of the work at once; at the end no worker waits long for the others
    assert 16 < largest <= 100
    assert max(sizes[-3:]) <= largest / 4
    # nothing, or little, is counted for nothing
    assert 400 <= sum(sizes) < 400 + largest
    assert len(sizes) < 40


def test_a_worker_learns_of_a_model_how_much_to_ask_in_one_go_until_another_is_opened(
    audit, table, worker, monkeypatch
):
    noted = []
    note = PartTimes.note
    monkeypatch.setattr(PartTimes, "note", lambda *part: (noted.append(part[0]), note(*part)))

    def kept(method):
        noted.clear()
        run = RunSpec(method, shard=ShardRange(1, 2, stages[method]))
        worker.search(audit.mapping, audit.domain, inputs_of(audit, table, method), run)
        # the others are those of a look at the model before a run
        (own,) = set(map(id, noted))
        return own

    stages = {
        method: dealing(audit, RunSpec(method), inputs_of(audit, table, method), 2)
        .deal()
        .run.shard.stage
        for method in ("estimate", "themis-groups")
    }
    first = kept("estimate")
    assert kept("estimate") == first
    assert kept("themis-groups") != first
    model = noted[0]
    worker.open_model(Path(audit.model.path), trusted=True)
    assert kept("themis-groups") != id(model)
