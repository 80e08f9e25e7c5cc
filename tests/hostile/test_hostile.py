"""Hostile files, opened by a real worker; the table of all is `tests/benchmarks/hostile.py`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fairdesk.audit.worker.client import Worker
from fairdesk.errors import TrustRequiredError
from tests import phrases
from tests.audit import fake_guest, making
from tests.hostile import files, pickles
from tests.hostile.corpus import attempt, cases, opens_a_good_model
from tests.hostile.world import World

#: The real guest, with nothing imported ahead of time.
GUEST = (sys.executable, str(Path(fake_guest.__file__)))

CASES = {case.name: case for case in cases()}
#: Deeds after which the process goes on; they are all done by one pickle.
QUIET = [
    name
    for name, (needs, deed) in pickles.DEEDS.items()
    if needs and "while True" not in deed and "itertools" not in deed and "_exit(5)" not in deed
]
#: What becomes of some others, in the words that the auditor reads.
LOUD = {
    "loops when opened": "within 2 seconds",
    "stops itself when asked": "within 2 seconds",
    "ends the process when opened": "exit code 7",
    "ends the process well when asked": "exit code 0",
    "asks to end when opened": "",
    "crashes when asked": phrases.CRASHED,
    "exhausts descriptors when opened": "",
    "takes all memory when asked": "Unable to allocate",
    "takes all shared memory when opened": "",
    "fills the disk when asked": "wrote more to the disk",
    "sets a trap for the clean-up when opened": "",
    "prints garbage on the pipe when opened": "malformed",
    "announces an endless frame when asked": "header is too long",
    "forges an answer of 4 GB when asked": "arrays are too large",
    "forges a card of a million classes when opened": "1,000,000 classes",
    "forges a card of ten million letters when opened": "10,000,000 characters",
    "forges a finding when asked": "Found is not a valid response",
    "greets again when opened": "Hello is not a valid response",
    "closes the pipe when opened": "",
}
PLAIN = [*files.MODELS, *files.TABLES]


@pytest.fixture(scope="module")
def worker():
    worker = Worker(command=GUEST)
    yield worker
    worker.close()


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("world"))
    yield world
    world.close()


@pytest.fixture(scope="module")
def held(worker):
    return {hold.what for hold in worker.confinement().holds if hold.holds}


def needs(held, wanted):
    missing = set(wanted) - held
    if missing:
        pytest.skip(f"this machine does not hold {', '.join(sorted(missing))}")


@pytest.mark.parametrize("when_asked", [False, True], ids=["opened", "asked"])
def test_no_deed_of_a_pickle_reaches_out(worker, world, held, store, tmp_path, when_asked):
    needs(held, {each for name in QUIET for each in pickles.DEEDS[name][0]})
    deeds = "\n".join(
        f"try:\n{indented(pickles.DEEDS[name][1])}\nexcept Exception as error: pass"
        for name in QUIET
    )
    path = pickles.write(tmp_path / "all.pkl", deeds, world.names(), when_asked=when_asked)
    table = worker.read_table(making.write_people(tmp_path / "people.csv"))
    card = worker.open_model(path, trusted=True)
    spec = making.spec_of(table, card)
    scores = worker.predict(spec.mapping, spec.domain.attributes, spec.domain.people(table))
    folder = worker._child._guest.sandbox.room.folder
    worker._child.kill()
    worker._child._guest.over.wait(30)
    assert scores.shape == (60, 1)
    assert world.harm(guests=(folder,)) == []
    assert lives(store)


def indented(source):
    return "\n".join(f"    {line}" for line in source.splitlines())


def lives(store):
    store.log("The audit lived on.", "decided")
    return store.log_entries()[-1].what == "The audit lived on."


@pytest.mark.parametrize(("deed", "words"), LOUD.items())
def test_a_hostile_pickle_ends_nothing_but_its_process(
    worker, world, held, store, tmp_path, deed, words
):
    case = CASES[f"pickle that {deed}"]
    needs(held, case.needs)
    outcome = attempt(case, worker, world, tmp_path)
    assert outcome.harm == []
    assert words in outcome.words
    assert lives(store)


@pytest.mark.parametrize("name", PLAIN)
def test_a_hostile_file_does_nothing(worker, world, store, tmp_path, name):
    outcome = attempt(CASES[name], worker, world, tmp_path)
    assert outcome.harm == []
    assert outcome.words
    assert lives(store)


def test_the_worker_goes_on(worker, world, tmp_path):
    attempt(CASES["pickle that crashes when opened"], worker, world, tmp_path)
    assert opens_a_good_model(worker, tmp_path)


@pytest.mark.parametrize("deed", ["runs a command", "loops"])
def test_without_consent_no_pickle_runs(worker, world, tmp_path, deed):
    path = pickles.write(
        tmp_path / "m.pkl", pickles.DEEDS[deed][1], world.names(), when_asked=False
    )
    with pytest.raises(TrustRequiredError, match="eval"):
        worker.open_model(path)
    assert world.harm() == []
