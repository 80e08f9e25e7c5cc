"""What a run yields, written into the audit file by a process of its own."""

import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.runs.store_beside import StoreBeside
from fairdesk.audit.store.records import PairQuery
from fairdesk.audit.store.store import Store
from fairdesk.audit.verify.record import check_record
from fairdesk.errors import StoreError
from fairdesk.results.events import Progress
from fairdesk.results.mitigation import Augmented, Retrained
from tests.report.building import people_store, run_into

pytestmark = pytest.mark.usefixtures("shared_guests")

ROOT = Path(__file__).parents[3]
SEARCH = {"method": "uniform", "seed": 5, "options": {"samples": 2_000}}


@pytest.fixture
def path(tmp_path):
    with people_store(tmp_path) as store:
        return store.path


def differing(path):
    with Store.read(path) as store:
        return [(each.name, each.remarks) for each in check_record(store, None) if each.failed]


def test_the_file_is_the_same_as_if_it_were_written_here(path):
    with Store.open(path) as store:
        run_into(store, **SEARCH)
    with StoreBeside.open(path) as store:
        run_into(store, **SEARCH)
        here, beside = store.runs()
        assert here.found == beside.found > 500
        assert here.sufficient_alone == beside.sufficient_alone
        assert beside.state == "done"
        assert (store.progress(1) == store.progress(2)).all()
        rows = [np.concatenate(list(store.found_rows(run))) for run in (1, 2)]
        assert (rows[0] == rows[1]).all()
    assert differing(path) == []


def test_all_that_a_run_yields_arrives(path):
    with StoreBeside.open(path) as store:
        run = store.begin_run(RunSpec("repair-aequitas"))
        none = np.empty(0, dtype=np.int64)
        d = len(store.spec.domain.attributes)
        store.keep_rows(run, Augmented("labelling", np.empty((0, d)), none, none, none, ()))
        content = np.frombuffer(b"model", dtype=np.int8)
        store.keep_model(run, Retrained("saving", 3, "model.joblib", "as it is", content))
        store.add_progress(run, 1.5, Progress("saving", 1, 1, 20, 0, 40))
        store.measure(run, ())
        store.end_run(run, "stopped", "Enough.")
        (record,) = store.runs()
        assert (record.state, record.message) == ("stopped", "Enough.")
        assert (record.elapsed, record.tried, record.queries) == (1.5, 20, 40)
        assert store.added_rows(run).phase == "labelling"
        assert store.model(run, 3, "model.joblib") == b"model"


def test_what_cannot_be_written_is_told_and_the_run_has_failed(path):
    with StoreBeside.open(path) as store:
        run = store.begin_run(RunSpec("certify"))
        store.certify(run, b"{}", {})
        with pytest.raises(StoreError):
            store.end_run(run, "done")
        assert store.runs()[0].state == "failed"
    assert differing(path) == []


def test_a_process_that_dies_is_told_and_what_it_wrote_is_kept(path):
    with StoreBeside.open(path) as store:
        run_into(store, **SEARCH)
        found = store.count(PairQuery())
        run = store.begin_run(RunSpec("uniform"))
        store._process.kill()
        store._process.wait()
        with pytest.raises(StoreError, match="exit code"):
            store.add_progress(run, 1.0, Progress("uniform", 1, 1, 0, 0, 0))
        # the end is written here
        store.end_run(run, "failed", "It ended.")
        assert store.count(PairQuery()) == found
        assert [each.state for each in store.runs()] == ["done", "failed"]
    assert differing(path) == []


def test_what_was_sent_is_written_also_where_the_app_is_killed(path, tmp_path):
    script = tmp_path / "killed.py"
    script.write_text(
        textwrap.dedent(
            """
            import os, signal, sys
            from pathlib import Path
            from fairdesk.audit.runs.store_beside import StoreBeside
            from tests.report.building import run_into

            class Killed(StoreBeside):
                def end_run(self, run_id, state, message=""):
                    os.kill(os.getpid(), signal.SIGKILL)

            run_into(Killed.open(Path(sys.argv[1])), "uniform", seed=5, options={"samples": 2_000})
            """
        )
    )
    ended = subprocess.run(
        (sys.executable, str(script), str(path)),
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert ended.returncode < 0, ended.stderr
    with Store.open(path) as store:
        # while the process still has the file open, a run may go on
        for _ in range(200):
            store.close_interrupted_runs()
            if store.runs()[0].state != "running":
                break
            time.sleep(0.05)
        (record,) = store.runs()
        assert record.state == "failed"
        assert record.found == store.count(PairQuery()) > 500
    assert differing(path) == []
