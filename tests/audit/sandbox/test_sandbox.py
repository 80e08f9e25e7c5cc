"""What confines a guest: each layer by itself, its folder, the files it is given."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec
import numpy as np
import pytest

from fairdesk.audit.plan.inputs import SearchInputs
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.sandbox import confining, kernel_cache, probe, sandbox
from fairdesk.audit.sandbox.folders import (
    CACHE_NAMES,
    PASSED,
    WHAT,
    Confinement,
    package_folder,
    readable_paths,
    unknown,
    user_home,
)
from fairdesk.audit.sandbox.process import GUEST
from fairdesk.audit.sandbox.sandbox import Sandbox, clean_up
from fairdesk.audit.worker import wire
from fairdesk.audit.worker.child import Child
from fairdesk.audit.worker.client import Worker
from fairdesk.data.formats.reading import read_table
from fairdesk.errors import DataError, ModelError, WorkerError
from fairdesk.files import sha256
from fairdesk.models.model import Companion
from tests import phrases
from tests.audit import fake_guest, making

QUICK_GUEST = (sys.executable, str(Path(fake_guest.__file__)))
linux = pytest.mark.skipif(sys.platform != "linux", reason="these layers are Linux's")


@pytest.fixture
def caches(tmp_path, monkeypatch):
    """Let guests live in a folder of the test's."""
    home = tmp_path / "cache"
    monkeypatch.setattr(sandbox.platformdirs, "user_cache_path", lambda *_, **__: home)
    # nothing is compiled for a folder that is thrown away
    monkeypatch.setattr(kernel_cache, "begin", lambda: None)
    return home


@pytest.fixture
def room(caches):
    made = Sandbox(GUEST)
    yield made.room
    made.remove()


@pytest.fixture
def quick():
    worker = Worker(command=QUICK_GUEST)
    yield worker
    worker.close()


CONFINED = """
import os, sys
os.chdir(sys.argv[1])
from fairdesk.audit.sandbox import confining, folders, probe
import msgspec
wanted = sys.argv[2].split(",")
layers = confining._layers(folders.current_sandbox())
for name in wanted:
    if name:
        layers[name]()
print(msgspec.json.encode(probe.try_out(folders.current_sandbox(), wanted)).decode())
"""


def confined(room, *layers):
    """Return what holds in a fresh process with these layers only."""
    done = subprocess.run(
        [sys.executable, "-c", CONFINED, str(room.own), ",".join(layers)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=Path(__file__).parents[3],
        env={"PATH": os.environ["PATH"]},
    )
    assert done.returncode == 0, done.stderr
    told = msgspec.json.decode(done.stdout, type=Confinement)
    return {hold.what: hold for hold in told.holds}


def of_this_machine():
    """Return what holds already for everything that whoever runs this starts."""
    import resource  # not on Windows

    few = resource.getrlimit(resource.RLIMIT_NOFILE)[0] <= confining.DESCRIPTORS
    return {"descriptors"} if few else set()


@linux
@pytest.mark.parametrize(
    ("layers", "held"),
    [
        ((), {"time", "environment"}),
        (("limits",), {"time", "environment", "memory", "descriptors"}),
        (("seccomp",), {"time", "environment", "network", "programs"}),
        (
            ("namespaces", "limits", "seccomp", "Landlock"),
            set(WHAT),
        ),
    ],
)
def test_what_is_told_is_what_holds(room, layers, held):
    try:
        found = confined(room, *layers)
    except AssertionError as error:
        pytest.skip(f"this machine lacks a layer: {error}")
    assert {what for what, hold in found.items() if hold.holds} == held | of_this_machine()
    assert tuple(found) == WHAT
    assert all(hold.how.endswith(".") for hold in found.values())


@linux
def test_nothing_that_was_tried_stays_behind(room):
    before = {path.name for path in user_home().iterdir()}
    confined(room)
    left = {path.name for path in user_home().iterdir()} - before
    assert not [name for name in left if "fairdesk" in name.lower()]


def test_the_guest_tells_before_it_reads(quick):
    told = quick.confinement()
    assert tuple(hold.what for hold in told.holds) == WHAT
    assert quick.confinement() == told
    assert not any(hold.holds for hold in unknown().holds)


def test_a_guest_that_cannot_begin_confined_begins_all_the_same(caches, monkeypatch):
    monkeypatch.setattr(
        sandbox, "_bubblewrap", lambda command, room: (sys.executable, "-c", "raise SystemExit(3)")
    )
    command = (
        sys.executable,
        "-c",
        (
            "import sys\nif '--unconfined' not in sys.argv: sys.exit(4)\n"
            "from fairdesk.audit.worker import guest\nguest.main()"
        ),
    )
    worker = Worker(command=command)
    told = worker.confinement()
    assert told.by == ""
    assert not all(hold.holds for hold in told.holds)
    worker.close()


def test_the_environment_has_no_secrets(caches, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "4711")
    monkeypatch.setenv("SSH_AUTH_SOCK", "/run/agent")
    monkeypatch.setenv("LC_TIME", "C.UTF-8")
    made = Sandbox(GUEST)
    given = made.environment()
    assert not {"AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK"} & given.keys()
    assert given["LC_TIME"] == "C.UTF-8"
    assert given["PATH"] == os.environ["PATH"]
    for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR"):
        assert Path(given[name]).resolve().is_relative_to(made.room.own)
    assert probe.WORDS | PASSED | sandbox.FOLDERS.keys() >= {
        name for name in given if not name.startswith("LC_")
    }
    made.remove()


def test_nothing_of_the_home_is_readable_but_python():
    home = user_home().resolve()
    for path in readable_paths():
        assert path != home
        assert path not in home.parents


# -- its folder -----------------------------------------------------------------------------------


def test_the_folder_goes_with_the_guest(caches):
    child = Child(QUICK_GUEST)
    child.confinement(60)
    folder = child._guest.sandbox.room.folder
    assert folder.parent == caches / "guests"
    child.kill()
    assert child._guest.over.wait(30)
    assert not folder.exists()


def test_what_killed_apps_left_is_removed(caches, tmp_path):
    kept = Sandbox(GUEST)
    left = caches / "guests" / "guest-left"
    (left / "own" / "deep").mkdir(parents=True)
    (left / "lock").touch()
    (left / "own" / "deep" / "file").touch()
    (left / "own" / "deep").chmod(0)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    (left / "own" / "link").symlink_to(outside)
    clean_up()
    assert not left.exists()
    assert (outside / "kept").exists()
    assert kept.room.own.exists()
    kept.remove()


# -- files that it is given -----------------------------------------------------------------------


def test_a_file_is_copied_and_fingerprinted_as_it_was(caches, tmp_path):
    path = tmp_path / "model.pkl"
    path.write_bytes(b"first")
    made = Sandbox(GUEST)
    given = made.give("model", path)
    assert given.private.name == "model.pkl"
    assert made.give("model", path) is given
    path.write_bytes(b"second")
    assert given.private.read_bytes() == b"first"
    assert not given.unchanged
    again = made.give("model", path)
    assert again.private.read_bytes() == b"second"
    assert again.fingerprint() == sha256(path)
    assert not given.private.exists()
    assert made.in_original_words(f"“{again.private}” is bad") == f"“{path}” is bad"
    made.take("model")
    assert not again.private.exists()
    made.remove()


def test_only_large_tables_are_linked(caches, tmp_path, monkeypatch):
    monkeypatch.setattr(sandbox, "LINKED_FROM", 10)
    (tmp_path / "small.csv").write_bytes(b"a\n1\n")
    (tmp_path / "large.csv").write_bytes(b"a\n1\n" * 10)
    made = Sandbox(GUEST)
    assert not made.give("table", tmp_path / "small.csv", link=True).linked
    assert made.give("table", tmp_path / "large.csv", link=True).linked
    assert not made.give("model", tmp_path / "large.csv").linked
    made.remove()
    assert (tmp_path / "large.csv").read_bytes() == b"a\n1\n" * 10


def test_what_is_no_file_is_not_given(caches, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    made = Sandbox(GUEST)
    for name in ("pipe", "missing"):
        assert made.give("table", tmp_path / name, link=True) is None
    assert made.give("table", Path("/dev/zero")) is None
    made.remove()


def test_of_a_folder_links_stay_behind(caches, tmp_path):
    folder = tmp_path / "model"
    (folder / "variables").mkdir(parents=True)
    (folder / "saved_model.pb").write_bytes(b"graph")
    (folder / "variables" / "data").write_bytes(b"weights")
    (folder / "secret").symlink_to("/etc/passwd")
    made = Sandbox(GUEST)
    given = made.give("model", folder)
    names = {path.relative_to(given.private).as_posix() for path in given.private.rglob("*")}
    assert names == {"saved_model.pb", "variables", "variables/data"}
    first = given.fingerprint()
    (folder / "variables" / "data").write_bytes(b"other weights")
    assert made.give("model", folder).fingerprint() != first
    made.remove()


def test_what_is_beside_a_database_comes_along(caches, tmp_path):
    path = tmp_path / "people.sqlite"
    path.write_bytes(b"SQLite format 3\0" + bytes(100))
    (tmp_path / "people.sqlite-wal").write_bytes(b"rows")
    made = Sandbox(GUEST)
    given = made.give("table", path, link=True)
    assert given.private.with_name("people.sqlite-wal").read_bytes() == b"rows"
    made.remove()


def test_a_full_disk_is_told(caches, tmp_path, monkeypatch):
    (tmp_path / "model.pkl").write_bytes(bytes(100))
    made = Sandbox(GUEST)
    monkeypatch.setattr(sandbox, "_free_bytes", lambda _: 50)
    with pytest.raises(WorkerError, match="not enough space"):
        made.give("model", tmp_path / "model.pkl")
    made.remove()


def test_a_table_keeps_its_name_and_its_own_fingerprint(quick, tmp_path):
    path = making.write_people(tmp_path / "people.csv")
    source = quick.read_table(path).source
    assert (source.path, source.sha256) == (str(path), sha256(path))
    assert not list(quick._child._guest.sandbox.room.given.iterdir())


def test_a_linked_table_must_not_change_while_it_is_read(quick, tmp_path, monkeypatch):
    monkeypatch.setattr(sandbox, "LINKED_FROM", 1)
    path = making.write_people(tmp_path / "people.csv", rows=20_000)

    def write(_):
        with path.open("a") as stream:
            stream.write("40,male,5,yes\n")

    with pytest.raises(DataError, match="was changed while it was read"):
        quick.read_table(path, watch=write)


def test_companions_are_fingerprinted_by_the_app(quick, tmp_path, monkeypatch):
    monkeypatch.setattr(sandbox, "LINKED_FROM", 1)
    path = making.write_model(tmp_path / "model.pkl")
    (tmp_path / "order.txt").write_text("age\nsex\nincome\n")
    beside = Companion(str(tmp_path / "order.txt"), sha256="0" * 64)
    try:
        card = quick.open_model(path, trusted=True, companions=[beside])
    except ModelError as error:
        pytest.skip(f"companions are not read: {error}")
    assert card.companions[0].path == str(tmp_path / "order.txt")
    assert card.companions[0].sha256 == sha256(tmp_path / "order.txt")


# -- processes ------------------------------------------------------------------------------------


def test_after_a_model_ran_others_get_a_fresh_process(quick, tmp_path):
    people = making.write_people(tmp_path / "people.csv")
    model = making.write_model(tmp_path / "model.pkl")
    table = quick.read_table(people)
    first = quick._child.pid
    card = quick.open_model(model, trusted=True)
    spec = making.spec_of(table, card)
    assert quick._child.pid == first
    assert quick.look_into(model).format == "pickle"
    assert quick._child.pid != first
    second = quick._child.pid
    # it is opened again where it is asked
    attributes, rows = spec.domain.attributes, spec.domain.people(table)
    assert quick.predict(spec.mapping, attributes, rows).shape == (60, 1)
    assert quick._child.pid == second
    quick.read_table(people)
    assert quick._child.pid != second


def test_making_a_worker_waits_for_nothing(monkeypatch):
    began = []

    def slow(self, command):
        began.append(command)
        time.sleep(0.3)
        raise OSError("no folder")

    monkeypatch.setattr(sandbox.Sandbox, "__init__", slow)
    worker = Worker(command=QUICK_GUEST)
    assert worker.alive
    worker.close()


@linux
def test_threads_and_scientific_libraries_work_inside(tmp_path, caplog):
    """A forest that asks for all processors, and a search with compiled loops."""
    sklearn = pytest.importorskip("sklearn.ensemble")
    joblib = pytest.importorskip("joblib")
    table = read_table(making.write_people(tmp_path / "people.csv"))
    inputs = table.codes[:, :3]
    forest = sklearn.RandomForestClassifier(20, n_jobs=-1, random_state=0)
    joblib.dump(forest.fit(inputs, table.codes[:, 3]), tmp_path / "forest.joblib")
    kernel_cache.make()
    worker = Worker()
    card = worker.open_model(tmp_path / "forest.joblib")
    spec = making.spec_of(table, card)
    people = spec.domain.people(table)
    scores = worker.predict(spec.mapping, spec.domain.attributes, people)
    assert np.isfinite(scores).all()
    run = RunSpec("maft", {"global_num": 10, "local_num": 10})
    search = worker.search(spec.mapping, spec.domain, SearchInputs(people), run)
    assert list(search)
    assert search.ending == "done"
    # what was compiled before was copied, and nothing was compiled anew
    own = worker._child._guest.sandbox.room.own / "compiled"
    made = {path.name: path.stat().st_size for path in kernel_cache.make().rglob("*.nb*")}
    assert {path.name: path.stat().st_size for path in own.rglob("*.nb*")} == made
    assert made
    worker.close()


def test_memory_is_limited_by_what_there_is():
    assert confining.memory_limit() >= confining.LEAST_MEMORY


def test_a_greeting_is_the_first_word_or_it_is_ended(spec):
    script = "import sys; sys.stdout.buffer.write(b'FDW1' + bytes(4)); sys.stdout.flush()"
    worker = Worker(command=(sys.executable, "-c", script))
    with pytest.raises(WorkerError, match=phrases.NO_MESSAGE):
        worker.predict(spec.mapping, spec.domain.attributes, np.zeros((1, 3)))
    worker.close()
    assert wire.Hello in wire.FromGuest.__args__


def test_one_process_compiles_and_the_others_use_what_it_made(caches, monkeypatch, tmp_path):
    # whoever compiled it once more would fail
    monkeypatch.setattr(kernel_cache, "MODULES", ("no.such.module",))
    monkeypatch.setattr(kernel_cache, "_LOOK_SECONDS", 0.01)
    making_, made = tmp_path / "making", tmp_path / "made"
    making_.mkdir()
    turn = kernel_cache._turn(made.with_suffix(kernel_cache._LOCK))
    failed = []

    def compile_it():
        try:
            kernel_cache._compile(making_, made)
        except ImportError as error:
            failed.append(error)

    other = threading.Thread(target=compile_it)
    other.start()
    other.join(0.2)
    assert other.is_alive()
    made.mkdir()
    os.close(turn)
    other.join(10)
    assert not other.is_alive()
    assert not failed
    assert not making_.exists()


@linux
def test_what_compiles_is_ended_with_all_that_it_has_started(monkeypatch, tmp_path):
    told = tmp_path / "pids"
    program = (
        "import subprocess, sys, os, pathlib\n"
        "beside = subprocess.Popen((sys.executable, '-c', 'import time; time.sleep(600)'))\n"
        f"pathlib.Path({str(told)!r}).write_text(f'{{os.getpid()}} {{beside.pid}}')\n"
        "beside.wait()"
    )
    start = subprocess.Popen
    monkeypatch.setattr(kernel_cache, "_folder", lambda: tmp_path / "home" / "made")
    monkeypatch.setattr(
        kernel_cache.subprocess,
        "Popen",
        lambda _command, **how: start((sys.executable, "-c", program), **how),
    )
    making_ = threading.Thread(target=kernel_cache.make)
    making_.start()
    while not (told.exists() and told.read_text().count(" ")):
        time.sleep(0.02)
    kernel_cache.stop()
    making_.join()
    assert not kernel_cache._COMPILING
    for pid in map(int, told.read_text().split()):
        while Path(f"/proc/{pid}/stat").exists():
            if Path(f"/proc/{pid}/stat").read_text().split(") ")[1].startswith("Z"):
                break  # ended, and whoever adopted it has not looked yet
            time.sleep(0.02)


def test_how_far_the_compiler_is_is_said_while_it_works(monkeypatch, tmp_path):
    home = tmp_path / "home"
    monkeypatch.setattr(kernel_cache, "_folder", lambda: home / "made")
    assert kernel_cache.progress() is None
    kept = home / "making-1" / "fairdesk.models.dense"
    kept.mkdir(parents=True)
    # what a process that was killed has left behind
    (kept / "forward.forward-230.py311.nbi").touch()
    assert kernel_cache.progress() is None
    turn = kernel_cache._turn((home / "made").with_suffix(kernel_cache._LOCK))
    assert kernel_cache.progress() == (1, len(kernel_cache.MODULES))
    os.close(turn)
    assert kernel_cache.progress() is None


def test_what_was_compiled_is_complete_or_not_there(caches, monkeypatch, tmp_path):
    monkeypatch.setattr(kernel_cache, "MODULES", ("json", "no.such.module"))
    making_, made = tmp_path / "making", tmp_path / "made"
    making_.mkdir()
    with pytest.raises(ModuleNotFoundError):
        kernel_cache._compile(making_, made)
    assert not made.exists()
    assert not making_.exists()
    making_.mkdir()
    monkeypatch.setattr(kernel_cache, "MODULES", ("json",))
    monkeypatch.setattr(kernel_cache, "LIBRARIES", ("json",))
    abandoned, other = tmp_path / "making-1", tmp_path / "making-2"
    for folder in (abandoned, other):
        (folder / "inside").mkdir(parents=True)
    os.utime(abandoned, (0, 0))
    kernel_cache._compile(making_, made)
    assert made.is_dir()
    # what a process that was killed has left behind, and not what another one has just begun
    assert not abandoned.exists()
    assert other.exists()


#: Loads one module of loops, and says what was compiled, and where all of it would be kept.
_LOADED = """
import json, sys
from numba.core import event
from fairdesk.audit.sandbox import kernel_cache
class Compiled(event.Listener):
    names = []
    def on_start(self, started):
        self.names.append(started.data["dispatcher"].py_func.__name__)
    def on_end(self, ended):
        pass
event.register("numba:compile", Compiled())
import fairdesk.models.inputs.filling as loops
json.dump([loops.__file__, Compiled.names, kernel_cache._folder().name], sys.stdout)
"""


def test_another_copy_uses_what_was_compiled_until_its_source_changes(tmp_path):
    def loaded(copy):
        environment = os.environ | CACHE_NAMES
        environment |= {"PYTHONPATH": str(copy), "NUMBA_CACHE_DIR": str(tmp_path / "compiled")}
        command = (sys.executable, "-P", "-c", _LOADED)
        told = subprocess.run(command, env=environment, capture_output=True, check=True)
        place, compiled, key = json.loads(told.stdout)
        assert Path(place).is_relative_to(copy)
        return compiled, key

    first, second = tmp_path / "first", tmp_path / "second"
    for copy in (first, second):
        shutil.copytree(package_folder(), copy / "fairdesk", ignore=shutil.ignore_patterns("*.pyc"))
    compiled, key = loaded(first)
    assert "fill" in compiled
    assert loaded(second) == ([], key)
    source = second / "fairdesk" / "models" / "inputs" / "filling.py"
    with source.open("a") as file:
        file.write("# changed\n")
    compiled, changed = loaded(second)
    assert "fill" in compiled
    assert changed != key
    # a part has no file of its own in the cache: what it is a part of is kept under another key
    with (first / "fairdesk" / "compiled.py").open("a") as file:
        file.write("# changed\n")
    assert loaded(first)[1] not in (key, changed)
