import pytest

from fairdesk.audit.worker.client import Worker
from fairdesk.cluster.connection import Connection
from fairdesk.cluster.place import Place
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


@pytest.fixture
def table(tmp_path):
    return read_table(making.write_people(tmp_path / "people.csv"))


@pytest.fixture
def audited(tmp_path, table):
    """Make a model that does this at every call; gives the audit, the file and the rows."""
    workers = []

    def make(misbehaviour="pass"):
        worker = Worker(command=standing_in.FAKE)
        workers.append(worker)
        path = fake_guest.write_source(tmp_path / "model.txt", misbehaviour)
        audit = making.spec_of(table, worker.open_model(path))
        worker.close()
        return audit, path, audit.domain.people(table)

    yield make
    for worker in workers:
        worker.close()
