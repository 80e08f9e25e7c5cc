"""A worker is killed in the middle of each kind of method: the result is that of one process."""

import signal

import msgspec
import pytest
from distributed.core import Status

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.runs.run import run
from fairdesk.audit.store.records import PairQuery
from fairdesk.cluster.connection import Connection
from fairdesk.cluster.place import Place
from tests.cluster import standing_in
from tests.cluster.standing_in import pids, signalled, until

#: A run of each kind of method that is divided, how long the model takes for each call, in seconds,
#: and how many shards are taken when a worker is killed.
KINDS = {
    "draws": (RunSpec("estimate", {"trials": 8, "people": 200}, seed=3), 0.03, 2),
    "ranges": (RunSpec("enumerate", {"keep": 100}), 0.01, 0),
    "tables": (RunSpec("groups"), 1.0, 0),
    "subgroups": (RunSpec("testsgd", {"sample_thr": 200, "theta": 0.05}, seed=7), 0.3, 0),
    "certification": (RunSpec("certify", {"seconds": 30.0, "keep": 10}), 0.1, 0),
    "searches": (RunSpec("maft", {"global_num": 24, "local_num": 20}, shards=6), 0.005, 1),
}


@pytest.fixture
def connection():
    """Two workers of this test alone: Dask does not start one again that was killed often."""
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
    # one that is killed before its nanny is done with starting it is never started again
    nannies = connection._cluster.workers.values()
    until(lambda: there.threads == 2 and all(each.status is Status.running for each in nannies))
    spread, states = None, []
    for state in run(there, store, spec):
        states.append(state)
        now = there._spreading
        if spread is None and now is not None and now._next >= after and now._out:
            spread = now
            _, address = next(iter(next(iter(now._out.values())).futures.values()))
            signalled(pids(connection)[address], signal.SIGKILL)
    assert spread is not None, states[-1]
    until(lambda: len(connection.members()) == 2)
    assert any(address in remark for remark in spread.remarks)
    return states[-1]


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
