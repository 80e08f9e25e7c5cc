"""Killed after any of its transactions, an audit is opened again, and agrees with its log."""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
from contextlib import contextmanager

import pytest

from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.runs.plausibility import score_findings
from fairdesk.audit.store import file, stored_pairs
from fairdesk.audit.store.pair import MinimalPair
from fairdesk.audit.store.records import PairQuery
from fairdesk.audit.store.schema import beside, transaction
from fairdesk.audit.store.store import Store
from fairdesk.audit.verify.figures import check_proven
from fairdesk.audit.verify.record import CHAIN, LEARNED, RUNS, TOTALS, check_record
from fairdesk.audit.worker.client import Worker
from fairdesk.certify.proof import certificate
from fairdesk.individual.realism import pair_plausibility
from fairdesk.report.provenance.manifest import sidecar
from tests import phrases
from tests.audit import audited, fake_guest

RUNS_OF_ALL_KINDS = (
    RunSpec("maft", {"global_num": 20, "local_num": 20}, seed=3),
    RunSpec("testsgd", {"sample_thr": 100, "theta": 0.2}),
    RunSpec("proves"),
)
NEAREST = MinimalPair((0.0,), (1.0,), 0, 1, 0.1, 0.9, 1, 0.5, 0.5, 0.5, 0.5, 0)


@pytest.fixture(scope="module", autouse=True)
def _proves():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(METHODS, "proves", fake_guest.PROVES)
        # so that a small audit has as many transactions as a large one
        patch.setattr(stored_pairs, "CHUNK", 7)
        yield


@pytest.fixture(scope="module")
def worker(_proves):
    worker = Worker(command=(sys.executable, fake_guest.__file__))
    yield worker
    worker.close()


def write_everything(folder, worker):
    """Make an audit with every kind of write; gives its file."""
    path = audited.make(folder, worker, RUNS_OF_ALL_KINDS)
    with Store.open(path) as store:
        pair = store.pairs(PairQuery(), 0, 1)[0]
        store.learn(pair.id, "minimal", NEAREST)
        store.log("Looked at.", "details")
        (folder / "findings.csv").write_text("row\n", "utf-8")
        files = {"findings.csv": folder / "findings.csv"}
        store.exported("Exported.", files, sidecar(store, files).decode())
    return path


@pytest.fixture(scope="module")
def moments(tmp_path_factory, worker):
    """What lies on the disk after each transaction: all that a process that is killed leaves."""
    folder = tmp_path_factory.mktemp("made")
    kept = []

    @contextmanager
    def keeping(connection):
        with transaction(connection):
            yield
        place = folder / f"moment-{len(kept)}"
        place.mkdir()
        audit = folder / "audit.fairdesk"
        for each in (audit, *beside(audit)):
            if each.exists():
                shutil.copyfile(each, place / each.name)
        kept.append(place / audit.name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(file, "transaction", keeping)
        write_everything(folder, worker)
    return kept


def differing(path):
    """Hold an audit file against itself; gives what differs, and all that was tried."""
    with Store.read(path) as store:
        checks = list(check_record(store, None))
        for run in store.certified_runs():
            header, _ = store.certificate(run)
            checks.append(check_proven(store, run, certificate.decoded(header)))
    wrong = [(each.name, each.remarks) for each in checks if each.failed]
    return wrong, {each.name for each in checks if each.tried > each.unknown}


def test_killed_after_any_transaction_nothing_differs(moments, worker, tmp_path):
    assert len(moments) > 30
    cut_off = went_on = 0
    for number, moment in enumerate(moments):
        here = tmp_path / str(number)
        shutil.copytree(moment.parent, here)
        path = here / moment.name
        assert differing(path)[0] == [], number
        with Store.open(path) as store:
            store.close_interrupted_runs()
            runs = store.runs()
            failed = [run for run in runs if run.message]
            assert all(run.state in ("done", "failed") for run in runs)
            logged = [entry.what for entry in store.log_entries()]
            assert all(
                any(f"Run {run.id} {phrases.WAS_INTERRUPTED}" in each for each in logged)
                for run in failed
            )
            cut_off += len(failed)
            if store.count(PairQuery()) and number % 5 == 0:
                went_on += 1
                people = store.spec.domain.people(store.table())
                score_findings(worker, store, people, lambda *_: None)
        wrong, tried = differing(path)
        assert wrong == [], number
        assert tried >= ({CHAIN, RUNS, TOTALS} if runs else {CHAIN})
        assert LEARNED in tried or number % 5 or not runs or not runs[0].found
    assert cut_off > 10
    assert went_on > 3


def test_what_is_forged_is_not_healed(moments, tmp_path):
    shutil.copytree(moments[-1].parent, tmp_path / "copy")
    original = tmp_path / "copy" / moments[-1].name
    with Store.open(original):
        pass
    for number, (sql, expected) in enumerate(
        {
            "UPDATE run SET state = 'running', found = found - 1 WHERE id = 1": RUNS,
            "UPDATE finding SET row_score = 0.99 WHERE id = 2": RUNS,
            "UPDATE finding SET distance = 0.001 WHERE id = 2": LEARNED,
            "DELETE FROM log WHERE kind = 'learned'": CHAIN,
        }.items()
    ):
        path = tmp_path / f"{number}.fairdesk"
        shutil.copyfile(original, path)
        audited.change(path, sql)
        with Store.open(path) as store:
            store.close_interrupted_runs()
        assert expected in [name for name, _told in differing(path)[0]], sql


def test_a_distance_written_by_hand_is_not_taken_over_by_a_later_comparison(moments, tmp_path):
    unweighed = next(
        moment
        for moment in moments
        if any(each.startswith("Run 1 ended") for each in logged_in(moment))
    )
    shutil.copytree(unweighed.parent, tmp_path / "copy")
    path = tmp_path / "copy" / unweighed.name
    with Store.open(path) as store:
        ids, *_pairs = store.unweighed(1_000)
        assert len(ids) > 5
    forged = int(ids[3])
    audited.change(
        path, "UPDATE finding SET distance = 0, typicality = 1, nearest = 0 WHERE id = ?", forged
    )
    with Store.open(path) as store:
        ids, rows, partners = store.unweighed(1_000)
        assert forged not in ids
        people = store.spec.domain.people(store.table())
        store.score_plausibility(
            ids, pair_plausibility.score_plausibility(store.spec.domain, people, rows, partners)
        )
    wrong, _tried = differing(path)
    assert [name for name, _told in wrong] == [LEARNED]
    assert "1 pairs have a distance" in wrong[0][1][0]


def logged_in(path):
    with Store.read(path) as store:
        return [entry.what for entry in store.log_entries()]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="kills a process")
def test_a_process_that_is_killed_while_it_weighs_leaves_an_audit_that_agrees(moments, tmp_path):
    shutil.copytree(moments[-1].parent, tmp_path / "copy")
    path = tmp_path / "copy" / moments[-1].name
    script = textwrap.dedent(
        f"""
        import os, signal
        from pathlib import Path
        import numpy as np
        from fairdesk.audit.store import file
        from fairdesk.audit.store import stored_pairs
        from fairdesk.audit.store.store import Store
        from tests.plausible import scored

        stored_pairs.CHUNK = 7
        wrote = []

        def killing(connection, *entry):
            os.kill(os.getpid(), signal.SIGKILL)

        file.add_entry = killing
        with Store.open(Path({os.fspath(path)!r})) as store:
            ids = np.arange(1, 31)
            some = np.full(30, 0.25)
            store.score_plausibility(ids, scored(some, np.zeros(30, int), some))
        """
    )
    done = subprocess.run([sys.executable, "-c", script], check=False, timeout=120)
    assert done.returncode == -signal.SIGKILL
    assert differing(path)[0] == []
