"""A certification in parts is one tree of regions, with exact totals, and is verified as such."""

import joblib
import msgspec
import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier

from fairdesk.audit.plan.inputs import SearchInputs
from fairdesk.audit.plan.spec import Budget, RunSpec
from fairdesk.audit.shards.dealing import dealing
from fairdesk.audit.shards.regions import Regions, joined
from fairdesk.audit.shards.shard import Outcome, Whole
from fairdesk.certify import certify, layout
from fairdesk.certify.proof import certificate_reading
from fairdesk.certify.proof.certificate import COUNTED, UNDECIDED, decoded
from fairdesk.certify.proof.verify import verify
from fairdesk.data.domain.domain import Domain
from fairdesk.data.formats.reading import read_table
from fairdesk.errors import WorkerError
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.open import open_model
from fairdesk.results.events import Certificate, Measured
from fairdesk.results.individual import Share
from fairdesk.results.proofs import Proven, ProvenRates
from tests.audit import making
from tests.audit.shards.sharing import Inside, certificate, figures, found, last, on, ran


@pytest.fixture(scope="module")
def worker():
    return Inside()


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return read_table(making.write_people(tmp_path_factory.mktemp("data") / "p.csv", rows=400))


@pytest.fixture(scope="module")
def network(table, tmp_path_factory):
    """A network whose decision depends on sex for some."""
    rows = table.codes[:, :3]
    fitted = MLPClassifier((6,), max_iter=200, random_state=1).fit(rows / 50, rows[:, 0] > 45)
    fitted.coefs_[0] /= 50
    path = tmp_path_factory.mktemp("model") / "network.joblib"
    joblib.dump(fitted, path)
    return path


@pytest.fixture(scope="module")
def audit(table, network, worker):
    spec = making.spec_of(table, worker.open_model(network, trusted=True))
    wide = [
        each if each.name == "sex" else msgspec.structs.replace(each, high=each.high + 1_500)
        for each in spec.domain.attributes
    ]
    return msgspec.structs.replace(spec, domain=Domain(tuple(wide)))


@pytest.fixture(scope="module")
def inputs(audit, table):
    return SearchInputs(audit.domain.people(table))


def timeless(measured):
    """Return proven shares without how long they took, and when they came."""
    return [msgspec.structs.replace(each, seconds=0.0, course=()) for each in measured]


def test_partitions_that_are_solved_apart_come_to_the_figures_of_one_process(audit, inputs, worker):
    run = RunSpec("fairify", {"partition_size": 400, "hard_seconds": 0.0}, seed=2)
    whole = worker.search(audit.mapping, audit.domain, inputs, run)
    wanted = timeless(figures(whole))
    assert 0 < wanted[0].certified < 1
    assert found(whole)
    for seed, at_once in enumerate((2, 5)):
        events, ending = ran(worker, audit, run, inputs, np.random.default_rng(seed), at_once)
        assert timeless(figures(events)) == wanted
        assert found(events) == found(whole)
        progress = last(events)
        assert (ending, progress.done, progress.total) == ("done", wanted[0].boxes, wanted[0].boxes)


def test_partitions_are_solved_until_their_seconds_are_used_up(audit, inputs, worker):
    run = RunSpec("fairify", {"partition_size": 1, "hard_seconds": 0.3}, seed=2)
    events, ending = ran(worker, audit, run, inputs, np.random.default_rng(0))
    (told,) = figures(events)
    assert ending == "done"
    assert told.boxes
    assert told.seconds >= 0.3
    assert f"{1_552 * 1_512 - told.boxes:,} were not tested" in told.notes[0]


def begun(worker, audit, inputs):
    """A certificate of four regions, of which nothing is known yet."""
    run = RunSpec("certify", {"seconds": 0.001, "keep": 0})
    made = certificate(worker.search(audit.mapping, audit.domain, inputs, run))
    (end,) = made.arrays["root_high"][:, 0].tolist()
    kinds = {name: each.dtype for name, each in made.arrays.items()}
    nodes = {name: np.zeros(7) for name in kinds if not name.startswith("root")}
    nodes["first"] = np.array([1, 3, 5, -1, -1, -1, -1])
    nodes["axis"] = np.array([0, 0, 0, -1, -1, -1, -1])
    nodes["cut"] = np.array([end // 2, end // 4, 3 * end // 4, 0, 0, 0, 0])
    nodes["verdict"] = np.array([-1, -1, -1, *[UNDECIDED] * 4])
    arrays = {name: each.astype(kinds[name]) for name, each in nodes.items()}
    roots = {name: made.arrays[name] for name in ("root_low", "root_high")}
    return msgspec.structs.replace(made, arrays={**arrays, **roots})


def part_of(worker, audit, inputs, before, seconds=2.0):
    """The two parts of what is undecided."""
    given = SearchInputs(inputs.people, previous_certificate=before)
    run = RunSpec("certify", {"seconds": 5 * seconds, "keep": 0})
    divided = Regions(audit.domain, run, given, 2)
    list(divided.take(divided.deal().index, Outcome([before], "done")))
    return divided.deal(), divided.deal()


def test_the_parts_decide_everybody_and_count_as_one_process(audit, inputs, worker, network):
    run = RunSpec("certify", {"seconds": 3.0, "keep": 50}, seed=2)
    assert isinstance(dealing(audit, run, inputs, 3), Regions)
    counted = worker.search(audit.mapping, audit.domain, inputs, RunSpec("enumerate"))
    (share,) = figures(counted)
    for seed in range(2):
        events, ending = ran(worker, audit, run, inputs, np.random.default_rng(seed), lost=0)
        proven = next(each for each in figures(events) if isinstance(each, Proven))
        assert ending == "done"
        assert int(proven.total) == share.n_samples // 2
        assert int(proven.falsified_people) == share.hits // 2
        assert int(proven.certified_people) + int(proven.falsified_people) == int(proven.total)
    last = certificate(events)
    header = decoded(last.header)
    certificate_reading.check(header, last.arrays)
    opened = open_model(network, trusted=True)
    fed = FedModel(opened, audit.mapping, audit.domain.attributes)
    checks = list(
        verify.verify(
            header, last.arrays, fed.predict, sample=500, seconds=0.0, rng=np.random.default_rng(0)
        )
    )
    assert checks
    assert not [each for each in checks if each.failed]


def stages(monkeypatch):
    """Note what parts of certifications are run, and with how many seconds."""
    run, deal = [], Regions.deal

    def noted(dealing):
        shard = deal(dealing)
        if shard is not None:
            run.append((shard.run.shard.stage, shard.run.options["seconds"]))
        return shard

    monkeypatch.setattr(Regions, "deal", noted)
    return run


def wide(audit, by):
    """The same audit, with so many more values for each number."""
    attributes = (
        each if each.values else msgspec.structs.replace(each, high=each.high + by)
        for each in audit.domain.attributes
    )
    return msgspec.structs.replace(audit, domain=Domain(tuple(attributes)))


def test_what_is_told_beside_is_told_once_and_within_the_time(table, worker, tmp_path, monkeypatch):
    monkeypatch.setattr(certify, "_MOST_ASKED", 10)
    # it is only queried, and so no bound decides everybody
    rows, path = table.codes[:, :3], tmp_path / "neighbours.joblib"
    joblib.dump(KNeighborsClassifier().fit(rows, rows[:, 0] > 45), path)
    audit = wide(making.spec_of(table, worker.open_model(path, trusted=True)), 40_000)
    given = SearchInputs(audit.domain.people(table))
    run, limit = stages(monkeypatch), 3.0
    spec = RunSpec("certify", {"seconds": limit, "keep": 5}, seed=2)
    events, ending = ran(worker, audit, spec, given, np.random.default_rng(0), 2, lost=0)
    assert ending == "done"
    order, whole = [stage for stage, _ in run], ["look", "2", "2", "book", "2", "2", "end"]
    # on a busy machine the first round may take all the time
    assert order in (whole, [*whole[:3], "end"])
    # the two parts of a round run at the same time
    assert sum(seconds / (2 if stage == "2" else 1) for stage, seconds in run) <= 1.05 * limit
    told = figures(events)
    assert [each for each in told if isinstance(each, ProvenRates)] or order != whole
    # what the first look sampled is told still
    assert "domain" in {each.whom for each in told if isinstance(each, Share)}
    proven = [
        next((each for each in one.figures if isinstance(each, Proven)), None)
        for one in events
        if isinstance(one, Measured)
    ]
    first, final = next(each for each in proven if each), proven[-1]
    assert first.certified <= final.certified < 1
    assert first.seconds < final.seconds
    assert first.boxes < final.boxes == last(events).tried
    made = certificate(events)
    certificate_reading.check(decoded(made.header), made.arrays)


def test_a_worker_lays_the_model_out_once_for_all_its_parts(
    audit, inputs, network, worker, monkeypatch
):
    fresh, made, lay_out = Inside(), [], layout.lay_out_in_steps
    fresh.open_model(network, trusted=True)

    def noted(*given, **how):
        made.append(how)
        return (yield from lay_out(*given, **how))

    monkeypatch.setattr(layout, "lay_out_in_steps", noted)
    before = begun(worker, audit, inputs)
    made.clear()
    for shard in part_of(worker, audit, inputs, before):
        on(fresh, audit, shard)
    assert len(made) == 1
    # another model is another matter
    fresh.open_model(network, trusted=True)
    on(fresh, audit, part_of(worker, audit, inputs, before)[0])
    assert len(made) == 2


def test_parts_divide_different_leaves_and_are_joined_to_one_tree(audit, inputs, worker):
    before = begun(worker, audit, inputs)
    shards = part_of(worker, audit, inputs, before)
    parts = [certificate(on(worker, audit, shard)).arrays for shard in shards]
    n = len(before.arrays["axis"])
    changed = [
        np.any([part[name][:n] != before.arrays[name] for name in ("first", "verdict")], axis=0)
        for part in parts
    ]
    assert not (changed[0] & changed[1]).any()
    assert [each.sum() for each in changed] == [2, 2]
    whole = joined(before.arrays, parts)
    certificate_reading.check(decoded(before.header), whole)
    assert len(whole["axis"]) == n + sum(len(each["axis"]) - n for each in parts)


def changes(part, n):
    """Ways in which a guest may lie about the tree of a part."""
    first = part["first"].copy()
    first[np.flatnonzero(first >= n)[0]] += 2
    yield {**part, "first": first}
    yield {**part, "first": part["first"][:-1]}
    yield {name: each for name, each in part.items() if name != "cut"}
    verdict = part["verdict"].copy()
    verdict[:n] = COUNTED
    yield {**part, "verdict": verdict}
    yield {**part, "root_low": part["root_low"] + 1}


def tree(**changed):
    """One root that is undecided, as a certificate has it."""
    one = np.zeros(1)
    arrays = {
        "root_low": np.array([[0]]),
        "root_high": np.array([[9]]),
        "first": np.array([-1]),
        "axis": np.array([0]),
        "cut": np.array([4]),
        "verdict": np.array([UNDECIDED]),
        **{
            f"{of}{what}": one
            for of in ("", "people_")
            for what in ("consistent", "discriminatory")
        },
    }
    return {**arrays, **changed}


def halved():
    three = np.zeros(3)
    return {name: three if each.dtype.kind == "f" else each for name, each in tree().items()} | {
        "first": np.array([1, -1, -1]),
        "axis": np.array([0, 0, -1]),
        "cut": np.array([4, 2, 0]),
        "verdict": np.array([-1, UNDECIDED, COUNTED]),
    }


def test_a_tree_below_a_leaf_is_put_in_its_place():
    whole = joined(tree(), [tree(), halved()])
    assert whole["first"].tolist() == [1, -1, -1]
    assert whole["verdict"].tolist() == [-1, UNDECIDED, COUNTED]


@pytest.mark.parametrize("way", range(5))
def test_a_tree_that_does_not_go_on_is_refused(way):
    with pytest.raises(WorkerError):
        joined(tree(), [list(changes(halved(), 1))[way]])


def test_no_leaf_is_divided_twice():
    with pytest.raises(WorkerError):
        joined(tree(), [halved(), halved()])


def test_a_budget_of_rows_is_kept_by_one_process(audit, inputs):
    run = RunSpec("certify", budget=Budget(queries=1_000))
    assert isinstance(dealing(audit, run, inputs, 3), Whole)


def test_a_part_that_was_stopped_ends_the_run(audit, inputs):
    divided = Regions(audit.domain, RunSpec("certify"), inputs, 2)
    divided.deal()
    list(divided.take(0, Outcome([Certificate("", b"", tree())], "done")))
    divided.deal()
    list(divided.take(1, Outcome([], "stopped")))
    assert (divided.done, divided.ending) == (True, "stopped")
