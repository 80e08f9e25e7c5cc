import dataclasses

import msgspec
import pytest

from fairdesk.audit.catalogue.method import Divides, Division
from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.store.store import Store
from fairdesk.audit.worker.client import Worker
from fairdesk.cluster.connection import Connection, Link, Place
from fairdesk.cluster.worker import ClusterWorker
from fairdesk.data.formats.reading import read_table
from tests.audit import fake_guest, making
from tests.cluster import standing_in


@pytest.fixture(scope="package")
def connection():
    """Two workers on this computer, for all tests of the room."""
    connection = Connection(Place("local", workers=2))
    connection.client.register_plugin(standing_in.Fakes())
    yield connection
    connection.close()


@pytest.fixture(scope="package")
def here():
    """A worker of this computer for all of them: to start one costs more than most tests."""
    worker = Worker(command=standing_in.FAKE)
    yield worker
    worker.close()


@pytest.fixture
def there(connection):
    """Return a worker whose runs are spread over these two."""
    # it looks often, so that a test sees what is under way
    patience = dataclasses.replace(standing_in.QUICK, silence=60.0)
    link = Link(connection.place)
    link._connection = connection
    worker = ClusterWorker(link, patience)
    worker._default = standing_in.FAKE
    yield worker
    worker.close()


@pytest.fixture
def table(tmp_path):
    return read_table(making.write_people(tmp_path / "people.csv"))


def _spec(table, card):
    """Return an audit of a model that runs no code of its own: its guest serves the next, too."""
    return msgspec.structs.replace(making.spec_of(table, card), trusted=False)


@pytest.fixture
def audited(tmp_path, table, here):
    """Make a model that does this at every call; gives the audit, the file and the rows."""

    def make(misbehaviour="pass"):
        path = fake_guest.write_source(tmp_path / "model.txt", misbehaviour)
        audit = _spec(table, here.open_model(path))
        return audit, path, audit.domain.people(table)

    return make


@pytest.fixture
def kept(tmp_path, table, monkeypatch):
    """Make audits of a model, and let “steps” be a search that is divided."""
    divided = Division(Divides.STREAMS, ("steps",))
    steps = dataclasses.replace(fake_guest.STEPS, division=divided)
    monkeypatch.setitem(METHODS, "steps", steps)

    def make(worker, name, misbehaviour="pass"):
        path = fake_guest.write_source(tmp_path / "model.txt", misbehaviour)
        spec = _spec(table, worker.open_model(path))
        return Store.create(tmp_path / name, spec, table)

    return make
