"""What a file says against itself, and what was removed from it: with and without a manifest."""

import sqlite3
import sys
from contextlib import closing

import msgspec
import pytest

from fairdesk.audit.plan.spec import RunSpec, versions
from fairdesk.audit.store.records import Agreement, WaitingRun
from fairdesk.audit.store.store import Store
from fairdesk.audit.verify.record import (
    ANCHOR,
    PLANNED,
    SENTENCES,
    TOTALS,
    check_accuracy,
    check_record,
)
from fairdesk.audit.worker.client import Worker
from fairdesk.models.inputs.input_check import InputCheck
from tests.audit import audited, fake_guest
from tests.audit.verify.test_verifying import anchored, failed

pytestmark = pytest.mark.usefixtures("shared_guests")

GROUPS, SEARCH = RunSpec("groups"), RunSpec("maft", {"global_num": 30, "local_num": 30}, seed=3)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Make an audit with a search that is not the last run, once; gives its folder."""
    folder = tmp_path_factory.mktemp("made") / "audit"
    folder.mkdir()
    with closing(Worker(command=(sys.executable, fake_guest.__file__))) as worker:
        path = audited.make(folder, worker, (SEARCH, GROUPS, SEARCH))
    with Store.open(path) as store:
        proof = Agreement(60, 0.5, 0.5)
        store.log("The decision matches often.", "begun", proof)
    return folder


@pytest.fixture
def path(made, tmp_path):
    return audited.copied(made, tmp_path / "copy")


def recorded(path, anchor=None):
    with Store.read(path) as store:
        return failed({each.name: each for each in check_record(store, anchor)})


@pytest.fixture(params=[False, True])
def manifest(request, path):
    """Return what a manifest of before says, or none; and which check it makes differ."""
    return (anchored(path), {ANCHOR}) if request.param else (None, set())


@pytest.mark.parametrize(
    ("sql", "values"),
    [
        (
            "UPDATE log SET what = ?, facts = ? WHERE what LIKE 'Protected attributes%'",
            ("Protected attributes: “age”.", '{"protected":["age"]}'),
        ),
        (
            "UPDATE log SET what = ? WHERE what LIKE 'Protected attributes%'",
            ("Protected attributes: “age”.",),
        ),
        ("UPDATE log SET facts = ? WHERE facts LIKE '%favourable_decision%'", ("{}",)),
        ("UPDATE log SET what = replace(what, ?, ?) WHERE kind = 'decided'", ("applicant", "cat")),
        ("UPDATE log SET what = replace(what, ?, ?) WHERE kind = 'ran'", ("ended: done", "failed")),
        (
            "UPDATE log SET what = what || ? WHERE kind = 'ran' AND what LIKE '%ended%'",
            (" It tried 9 instances with seed 7 in 3 queries.",),
        ),
        ("UPDATE log SET what = ? WHERE kind = 'marked'", ("Pair 1: dismissed.",)),
        ("UPDATE log SET what = ? WHERE number = 1", ("The audit was approved.",)),
        ("DELETE FROM log WHERE what LIKE ?", ("Protected attributes%",)),
    ],
)
def test_a_sentence_that_contradicts_the_file(path, manifest, sql, values):
    anchor, more = manifest
    audited.change(path, sql, *values)
    audited.chained_anew(path)
    assert recorded(path, anchor) == {SENTENCES, *more}


def test_a_decision_that_was_put_in(path):
    with Store.open(path) as store:
        store.log("The column “income” was excluded.", "decided", {"column": "income"})
    assert recorded(path) == {SENTENCES}


def test_sentences_of_another_version_may_be_others(path):
    here = versions()["FairDesk"]
    audited.change(path, "UPDATE audit SET spec = replace(spec, ?, ?)", here, "0.0.7")
    audited.change(path, "UPDATE log SET what = 'Otherwise.' WHERE what LIKE 'Protected%'")
    audited.chained_anew(path)
    with Store.read(path) as store:
        found = {each.name: each for each in check_record(store, None)}
    assert SENTENCES not in failed(found)
    assert found[SENTENCES].unknown == 1


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE run SET tried = 7 WHERE id = 1",
        "UPDATE run SET queries = 7 WHERE id = 1",
        "UPDATE run SET figures = replace(figures, '\"favourable\":', '\"favourable\":9')",
    ],
)
def test_a_total_or_a_figure_that_cannot_be(path, manifest, sql):
    anchor, more = manifest
    audited.change(path, sql)
    audited.rewritten(path)
    assert recorded(path, anchor) == {TOTALS, *more}


def without_run(path, run):
    """Remove a run whole: with its pairs, its course, and its entries."""
    for sql in (
        "DELETE FROM run WHERE id = ?",
        "DELETE FROM progress WHERE run = ?",
        "DELETE FROM finding WHERE run = ?",
    ):
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(sql, (run,))
    audited.rewritten(path)


@pytest.mark.parametrize("run", [1, 2])
def test_a_run_between_others_that_was_removed(path, manifest, run):
    anchor, more = manifest
    without_run(path, run)
    assert TOTALS in recorded(path, anchor)
    assert recorded(path, anchor) >= more


def test_the_last_run_shows_against_a_manifest_only(path, manifest):
    """Unless it was planned: so the output says that completeness was not checked."""
    anchor, more = manifest
    without_run(path, 3)
    assert recorded(path, anchor) == more


def thinned(path, *, numbered):
    """Remove 19 of 20 pairs of the last run, and adjust every total; number the rest anew."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM finding WHERE run = 3 AND id % 20 != 0")
        if numbered:
            rows = connection.execute("SELECT id FROM finding ORDER BY id").fetchall()
            for place, (number,) in enumerate(rows, start=1):
                connection.execute("UPDATE finding SET id = ? WHERE id = ?", (place, number))
        ((left, alone),) = connection.execute(
            "SELECT count(*), coalesce(sum(sufficient_alone), 0) FROM finding WHERE run = 3"
        ).fetchall()
        assert left
        connection.execute(
            "UPDATE run SET found = ?, sufficient_alone = ? WHERE id = 3", (left, f"[{alone}]")
        )
        connection.execute("UPDATE progress SET found = min(found, ?) WHERE run = 3", (left,))
        last = connection.execute("SELECT max(id) FROM finding").fetchone()[0]
        connection.execute(
            "UPDATE log SET facts = json_set(facts, '$.last', ?),"
            " what = replace(what, ' to ' || json_extract(facts, '$.last'), ' to ' || ?)"
            " WHERE facts LIKE '%distances%' AND json_extract(facts, '$.last') > ?",
            (last, last, last),
        )
    audited.rewritten(path)


@pytest.mark.parametrize("numbered", [False, True])
def test_most_pairs_of_a_run_that_were_removed(path, manifest, numbered):
    """What is numbered anew throughout shows against a manifest only."""
    anchor, more = manifest
    thinned(path, numbered=numbered)
    assert recorded(path, anchor) == {*more, *([] if numbered else [TOTALS])}


def test_a_planned_run_that_is_missing(path, manifest):
    anchor, more = manifest
    with Store.open(path) as store:
        store.plan_runs((GROUPS, SEARCH, SEARCH))
    assert recorded(path) == set()
    with Store.open(path) as store:
        store.plan_runs((RunSpec("estimate"),))
    assert recorded(path) == {PLANNED}
    with Store.open(path) as store:
        store.drop_run(RunSpec("estimate"), "the time limit was used up.")
    assert recorded(path) == set()
    # who removes the run that was planned, and rewrites all else
    without_run(path, 2)
    assert recorded(path, anchor) >= {PLANNED, *more}


def test_a_planned_run_that_waits_is_said_and_no_mismatch(path):
    run = RunSpec("estimate")
    with Store.open(path) as store:
        store.plan_runs((run,))
        store.write_waiting_runs([WaitingRun(run)])
    with Store.read(path) as store:
        found = {each.name: each for each in check_record(store, None)}
    assert failed(found) == set()
    assert found[PLANNED].unknown == 1


def test_a_run_that_another_seed_was_planned_for_is_another(path):
    with Store.open(path) as store:
        store.plan_runs((msgspec.structs.replace(SEARCH, seed=4),))
    assert recorded(path) == {PLANNED}


def test_accuracy_in_the_log_against_tables_and_model(path):
    def proof(accuracy):
        return lambda: InputCheck(60, 0, accuracy, 0.5, None, ((0, 0), (0, 0)), ())

    with Store.read(path) as store:
        (table, *_) = (each for run in store.runs() for each in run.figures if run.id == 2)
        assert table
        # the tables say otherwise, whatever the model says
        assert check_accuracy(store, None, "No model.").failed >= 1
        assert (
            check_accuracy(store, proof(0.6), "").failed
            > check_accuracy(store, proof(0.5), "").failed
        )
