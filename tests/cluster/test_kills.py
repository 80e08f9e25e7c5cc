"""A worker is killed in the middle of each kind of method: the result is that of one process."""

import signal

import msgspec
import numpy as np
import pytest

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.runs.run import run
from fairdesk.audit.shards import regions
from fairdesk.audit.store.records import PairQuery
from fairdesk.audit.store.store import Store
from fairdesk.certify.proof import certificate_reading
from fairdesk.certify.proof.certificate import decoded
from fairdesk.certify.proof.verify.verify import verify
from fairdesk.cluster.connection import Connection, Place
from fairdesk.cluster.spreading import Spreading
from fairdesk.data.domain.domain import Domain
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.open import open_model
from fairdesk.results.individual import Share
from fairdesk.results.proofs import Proven
from tests.audit import making
from tests.cluster import standing_in
from tests.cluster.standing_in import pids, settled, signalled
from tests.models.keras.test_file import dense, sequential, write_h5

#: A run of each kind of method that is divided, how long the model takes for each call, in seconds,
#: and how many shards are taken when a worker is killed.
KINDS = {
    "draws": (RunSpec("estimate", {"trials": 8, "people": 200}, seed=3), 0.05, 0),
    "ranges": (RunSpec("enumerate", {"keep": 100}), 0.1, 0),
    "tables": (RunSpec("groups"), 1.0, 0),
    "subgroups": (RunSpec("testsgd", {"sample_thr": 200, "theta": 0.05}, seed=7), 0.3, 0),
    "certification": (RunSpec("certify", {"seconds": 30.0, "keep": 10}), 0.4, 0),
    "searches": (RunSpec("maft", {"global_num": 24, "local_num": 20}, shards=6), 0.005, 1),
}


@pytest.fixture(scope="module")
def connection():
    """Two workers for these tests alone: they are killed, and started again by Dask, in each."""
    connection = Connection(Place("local", workers=2))
    connection.client.register_plugin(standing_in.Fakes())
    yield connection
    connection.close()


def figures(record):
    """Return what was measured, without the seconds that it took."""
    return [
        msgspec.structs.replace(each, seconds=0.0) if hasattr(each, "seconds") else each
        for each in record.figures
    ]


def pairs(store):
    return {(*pair.row, *pair.partner) for pair in store.each_pair(PairQuery(run=1))}


def run_and_kill(there, connection, store, spec, after):
    """Run on the cluster, and kill a worker that has a shard when so many are taken."""
    settled(connection)
    spread, states = None, []
    for state in run(there, store, spec):
        states.append(state)
        now = there._spreading
        if spread is None and now is not None and now._next >= after and now._out:
            spread = now
            _, address = next(iter(next(iter(now._out.values())).futures.values()))
            signalled(pids(connection)[address], signal.SIGKILL)
    assert spread is not None, states[-1]
    settled(connection)
    assert any(address in remark for remark in spread.remarks)
    return states[-1]


def run_and_kill_at_once(there, connection, store, spec, index, monkeypatch):
    """Run on the cluster, and kill the worker that is given a shard before it can be done.

    ``None`` where no such shard was dealt.
    """
    settled(connection)
    processes, killed, submit = pids(connection), [], Spreading._submit

    def deal(spread, out, address):
        submit(spread, out, address)
        if out.shard.index == index and not killed:
            killed.append((spread, address))
            signalled(processes[address], signal.SIGKILL)

    with monkeypatch.context() as patch:
        patch.setattr(Spreading, "_submit", deal)
        *_, last = run(there, store, spec)
    settled(connection)
    for spread, address in killed:
        assert any(address in remark for remark in spread.remarks)
    return last if killed else None


@pytest.mark.parametrize("kind", KINDS)
def test_a_kill_changes_no_result(kind, here, there, connection, kept):
    spec, seconds, after = KINDS[kind]
    slow = f"time.sleep({seconds})"
    with kept(here, "a.fairdesk", slow) as one, kept(there, "b.fairdesk", slow) as other:
        *_, wanted = run(here, one, spec)
        last = run_and_kill(there, connection, other, spec, after)
        assert last.state == wanted.state == "done", last.message
        assert figures(last) == figures(wanted)
        assert figures(last) or last.found
        assert pairs(other) == pairs(one)
        assert last.found == wanted.found


def network(path):
    """Write a network whose decision depends on sex for some, and is not bounded at once."""
    rng = np.random.default_rng(3)
    layers = [
        dense("a", 32, "relu", batch_input_shape=[None, 3]),
        dense("b", 32, "relu"),
        dense("c", 1, "sigmoid"),
    ]
    arrays = {
        "a": [rng.normal(size=(3, 32)) * [[1 / 200], [1.0], [1 / 200]], rng.normal(size=32) / 3],
        "b": [rng.normal(size=(32, 32)) / 3, rng.normal(size=32) / 3],
        "c": [rng.normal(size=(32, 1)) / 3, rng.normal(size=1) / 3],
    }
    return write_h5(path, sequential(*layers), arrays)


def of_kind(record, kind):
    return next(each for each in record.figures if isinstance(each, kind))


@pytest.mark.parametrize("index", [0, 1], ids=["look", "part"])
def test_a_kill_while_regions_are_divided_loses_and_repeats_none(
    index, here, there, connection, table, tmp_path, monkeypatch
):
    # the first look decides nothing, and the parts go on until all is decided
    monkeypatch.setattr(regions, "_SECONDS", {"look": 1e-3, "parts": 60.0, "book": 60.0})
    taken, take = [], regions.Regions.take

    def note(dealing, index, events):
        yield from take(dealing, index, events)
        taken.append(index)

    monkeypatch.setattr(regions.Regions, "take", note)
    path = network(tmp_path / "network.h5")

    def audit(worker, name):
        spec = making.spec_of(table, worker.open_model(path))
        # so many that no computer counts them in a look
        wide = [
            each if each.name == "sex" else msgspec.structs.replace(each, high=each.high + 4_000)
            for each in spec.domain.attributes
        ]
        spec = msgspec.structs.replace(spec, domain=Domain(tuple(wide)), trusted=False)
        return Store.create(tmp_path / name, spec, table)

    with audit(here, "a.fairdesk") as one:
        *_, counted = run(here, one, RunSpec("enumerate"))
        share = of_kind(counted, Share)
    certify = RunSpec("certify", {"seconds": 0.0, "keep": 0})
    # a worker may be lost by itself just before; then the run is not divided
    for attempt in range(5):
        taken.clear()
        other = audit(there, f"{attempt}.fairdesk")
        last = run_and_kill_at_once(there, connection, other, certify, index, monkeypatch)
        if last is not None:
            break
        other.close()
    assert last is not None, f"no shard {index} was dealt: shards {taken} ended it"
    with other:
        assert last.state == "done", last.message
        # a look, a part each, and the whole: each once, whoever ran it
        assert taken == [0, 1, 2, 3]
        proven = of_kind(last, Proven)
        certified, falsified = int(proven.certified_people), int(proven.falsified_people)
        assert (certified + falsified, falsified) == (share.n_samples // 2, share.hits // 2)
        assert falsified > 0
        assert proven.certified + proven.falsified == pytest.approx(1.0)
        kept, arrays = other.certificate(1)
        header = decoded(kept)
        certificate_reading.check(header, arrays)
        fed = FedModel(open_model(path), other.spec.mapping, other.spec.domain.attributes)
        rng = np.random.default_rng(0)
        checks = list(verify(header, arrays, fed.predict, sample=500, seconds=0.0, rng=rng))
    assert checks
    assert not [each for each in checks if each.failed]
