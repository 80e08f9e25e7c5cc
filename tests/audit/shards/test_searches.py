"""A search in parts finds the same pairs, wherever and in whatever order the parts run."""

import msgspec
import numpy as np
import pytest

from fairdesk.audit.catalogue.method import Divides
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.plan.inputs import SearchInputs, starting_rows
from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.audit.runs.run import check_run, run
from fairdesk.audit.shards.dealing import search_in_turn
from fairdesk.audit.shards.shard import UniquePairs, keys
from fairdesk.errors import SpecError
from fairdesk.results.events import ShardRange, selected
from fairdesk.results.individual import SearchPhase, Share
from tests.audit import making
from tests.audit.shards.sharing import Inside, figures, found, last, ran

SMALL = {
    "maft": {"global_num": 12, "local_num": 10},
    "aequitas-random": {"global_iteration_limit": 60, "local_iteration_limit": 10},
    "aequitas-full": {"global_iteration_limit": 60, "local_iteration_limit": 10},
    "sg": {"global_num": 10, "max_iter": 40, "num_samples": 20},
    "uniform": {"samples": 90},
}


@pytest.fixture
def worker():
    return Inside()


@pytest.fixture
def audit(table, spec, worker, tmp_path):
    card = worker.open_model(making.write_model(tmp_path / "model.pkl"), trusted=True)
    return msgspec.structs.replace(spec, model=card)


@pytest.fixture
def inputs(audit, table):
    return SearchInputs(audit.domain.people(table))


@pytest.mark.parametrize("method", SMALL)
def test_parts_of_a_search_find_the_same_in_any_order(method, audit, inputs, worker):
    spec = RunSpec(method, SMALL[method], seed=5, shards=4)
    in_turn = search_in_turn(worker, audit, inputs, spec)
    events = list(in_turn)
    pairs = found(events)
    assert pairs
    assert in_turn.ending == "done"
    assert last(events).found == len(pairs)
    shared = [tuple(np.array(row)[audit.domain.others]) for row, _ in pairs]
    assert len(set(shared)) == len(shared)
    for seed in range(2):
        others, ending = ran(worker, audit, spec, inputs, np.random.default_rng(seed))
        assert (found(others), ending) == (pairs, "done")
        end, other_end = last(events), last(others)
        assert (end.tried, end.found, end.queries) == (
            other_end.tried,
            other_end.found,
            other_end.queries,
        )


def test_parts_go_different_ways(audit, inputs, worker):
    options = {"samples": 40}
    once = found(search_in_turn(worker, audit, inputs, RunSpec("uniform", options, seed=1)))
    twice = found(
        search_in_turn(worker, audit, inputs, RunSpec("uniform", {"samples": 80}, 1, shards=2))
    )
    # the second part does not repeat the first, which starts from another stream than the whole
    assert len(twice) > len(once)
    assert once != twice


def test_starting_rows_are_dealt_once_each():
    people = np.arange(50.0)[:, None] * np.ones(3)
    dealt = [
        starting_rows(RunSpec("maft", seed=3, shards=4, shard=ShardRange(i, i + 1)), people)
        for i in range(4)
    ]
    assert sorted(map(len, dealt)) == [12, 12, 13, 13]
    assert (np.sort(np.concatenate(dealt)[:, 0]) == people[:, 0]).all()
    assert starting_rows(RunSpec("maft", seed=3), people) is people


def test_pairs_found_before_are_found_by_no_part(audit, inputs, worker):
    spec = RunSpec("uniform", SMALL["uniform"], seed=2, shards=3)
    first = found(search_in_turn(worker, audit, inputs, spec))
    known = SearchInputs(inputs.people, known=np.array([row for row, _ in first]))
    again, _ = ran(worker, audit, spec, known, np.random.default_rng(0))
    # where nothing is found a sample says how much there can be at most, and may find others
    assert not found(again) & first


def test_nothing_found_is_bounded_once(audit, inputs, worker, tmp_path):
    # nobody is hired, whatever their sex
    fair = making.write_model(tmp_path / "fair.pkl", "X = np.asarray(X, dtype=float) * [1, 0, 1]")
    worker.open_model(fair, trusted=True)
    spec = RunSpec("uniform", SMALL["uniform"], shards=3, budget=Budget(queries=5_000))
    events, _ = ran(worker, audit, spec, inputs, np.random.default_rng(0))
    assert not found(events)
    (bound,) = figures(events)
    assert isinstance(bound, Share)
    assert bound.hits == 0


def test_phases_of_parts_are_added_up(audit, inputs, worker):
    spec = RunSpec("sg", SMALL["sg"], seed=5, shards=4)
    events, _ = ran(worker, audit, spec, inputs, np.random.default_rng(0))
    phases = [each for each in figures(events) if isinstance(each, SearchPhase)]
    assert phases
    assert sum(each.tried for each in phases) == last(events).tried
    # a pair that two parts found is one pair
    assert sum(each.found for each in phases) >= len(found(events))
    assert not any(each.all_paths for each in phases)


def test_a_budget_of_rows_is_shared_out(audit, inputs, worker):
    spec = RunSpec("uniform", {"samples": 100_000}, budget=Budget(queries=3_000), shards=3)
    events, ending = ran(worker, audit, spec, inputs, np.random.default_rng(0))
    assert ending == "budget"
    # outside of it: the look at the model before, and rows queried again
    assert 3_000 <= last(events).queries < 3_000 + 500 * 6 + 4_000


def test_there_are_no_more_parts_than_starting_rows(audit, inputs, worker):
    few = SearchInputs(inputs.people[:3])
    spec = RunSpec("maft", {"global_num": 3, "local_num": 2}, shards=50)
    events, ending = ran(worker, audit, spec, few, np.random.default_rng(0))
    assert (last(events).total, ending) == (3, "done")


def test_a_run_in_parts_is_kept_like_any_other(audit, store, worker):
    worker.paused = False
    spec = RunSpec("maft", SMALL["maft"], seed=4, shards=3)
    *_, ended = run(worker, store, spec)
    assert ended.state == "done"
    (kept,) = store.runs()
    assert kept.spec == spec
    assert kept.found == ended.found > 0


@pytest.mark.parametrize("wrong", [{"shards": -1}, {"shard": ShardRange(0, 1)}])
def test_a_part_is_no_run(wrong, spec):
    with pytest.raises(SpecError) as error:
        check_run(RunSpec("maft", **wrong), spec)
    assert error.value.setting == "shards"


def test_unique_pairs_come_through_once(spec, findings):
    unique = UniquePairs(spec.domain)
    batch = findings(300)
    shared = batch.rows[:, spec.domain.others]
    first = unique.new(batch)
    assert len(first.rows) == len(np.unique(shared, axis=0)) == unique.size
    assert not len(unique.new(batch).rows)
    assert len(np.unique(keys(np.array([[0.0], [-0.0], [1.0]])))) == 2
    assert len(np.unique(keys(np.array([[1.0, 2.0], [2.0, 1.0]])))) == 2


def test_many_small_batches_come_through_as_one_does(spec, findings):
    batch = findings(400)
    whole, pieces = UniquePairs(spec.domain), UniquePairs(spec.domain)
    wanted = whole.new(batch).rows
    each = [selected(batch, np.arange(400) == place) for place in range(400)]
    assert np.array_equal(np.concatenate([pieces.new(one).rows for one in each]), wanted)
    assert pieces.size == whole.size
    # however many there were, few are sorted again for the next
    assert len(pieces._met) <= 10
    some = UniquePairs(spec.domain)
    assert np.array_equal(some.new(batch, 7).rows, wanted[:7])
    assert some.size == 7


def test_what_is_split_is_an_option_of_the_method():
    for method in METHODS.values():
        for name in method.division.splits:
            assert name in method.options.__struct_fields__
        searched = method.division.by in (Divides.ROWS, Divides.STREAMS)
        assert searched == bool(method.division.splits)
