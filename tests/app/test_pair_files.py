"""The files of all pairs are the same, whoever writes them."""

from contextlib import closing

import pytest

from fairdesk.app import outputs
from fairdesk.app.outputs import write_outputs
from fairdesk.app.pair_files import LEAST_PAIRS, PAIR_FILES, PairFiles
from fairdesk.audit.store.store import Store
from tests.report.building import people_store, run_into

SEARCH = {"method": "uniform", "seed": 5, "options": {"samples": 2_000}}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    with people_store(tmp_path_factory.mktemp("audit")) as store:
        run_into(store, **SEARCH)
        return store.path


@pytest.fixture
def beside():
    with closing(PairFiles()) as pair_files:
        pair_files.expect(LEAST_PAIRS)
        yield pair_files


def written(path, folder, beside=None):
    """Write the files of all pairs; return what was told of them, and their bytes."""
    folder.mkdir(exist_ok=True)
    with Store.open(path) as store:
        files, trouble, _ = write_outputs(store, folder, lambda _: None, PAIR_FILES, beside)
    contents = {name: folder / name for name in files if name in PAIR_FILES}
    return {name: each.read_bytes() for name, each in contents.items()}, trouble


def test_a_process_writes_the_same_files(path, beside, tmp_path, monkeypatch):
    here, _ = written(path, tmp_path / "here")
    assert list(here) == list(PAIR_FILES)
    for name in PAIR_FILES:
        # whoever calls these is not the other process
        monkeypatch.setitem(outputs.OUTPUTS, name, None)
    there, trouble = written(path, tmp_path / "there", beside)
    assert beside.names == tuple(PAIR_FILES)
    assert (there, trouble) == (here, "")
    assert list(there) == list(here)


def test_what_cannot_be_written_is_told_as_here(path, beside, tmp_path):
    name = next(iter(PAIR_FILES))
    (tmp_path / name).mkdir()
    assert written(path, tmp_path, beside) == written(path, tmp_path)
    assert written(path, tmp_path)[1]


def test_what_a_process_did_not_come_to_is_written_here(path, beside, tmp_path):
    beside._process.kill()
    beside._process.wait()
    there, trouble = written(path, tmp_path / "there", beside)
    assert (there, trouble) == written(path, tmp_path / "here")
    assert list(there) == list(PAIR_FILES)


def test_of_few_pairs_there_is_no_process(path, tmp_path):
    with closing(PairFiles()) as beside:
        beside.expect(LEAST_PAIRS - 1)
        assert list(written(path, tmp_path, beside)[0]) == list(PAIR_FILES)
        assert beside.names == ()
