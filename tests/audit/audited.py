"""A small audit that was really made, with every kind of figure; ways to tamper with copies.

Its guest is `tests.audit.fake_guest`, so “proves” must be among the methods.
"""

import json
import shutil
import sqlite3
from contextlib import closing

import msgspec

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.runs.plausibility import score_findings
from fairdesk.audit.runs.run import run
from fairdesk.audit.store import digests
from fairdesk.audit.store.records import LogEntry, PairQuery
from fairdesk.audit.store.store import Store
from fairdesk.data.formats.reading import read_table
from tests.audit import fake_guest, making

RUNS = (
    RunSpec("maft", {"global_num": 30, "local_num": 30}, seed=3),
    RunSpec("enumerate"),
    RunSpec("groups"),
    RunSpec("testsgd", {"sample_thr": 100, "theta": 0.2}),
    RunSpec("proves"),
)


def make(folder, worker, runs=RUNS, protected=making.PROTECTED):
    """Make an audit with its data and its model in a folder; gives the audit's file."""
    table = read_table(making.write_people(folder / "people.csv"))
    model = fake_guest.write_source(folder / "model.txt")
    # a guest that runs no code of a file is used again for the next one
    spec = making.spec_of(table, worker.open_model(model), protected)
    spec = msgspec.structs.replace(spec, trusted=False)
    path = folder / "audit.fairdesk"
    with Store.create(path, spec, table) as store:
        for each in runs:
            *_, last = run(worker, store, each)
            assert last.state == "done", last.message
        score_findings(worker, store, spec.domain.people(table), lambda _done, _all: None)
        first, *_, last = store.pairs(PairQuery(), 0, 50)
        store.mark(first.id, "flagged")
        store.note(first.id, "Ask about <b>her</b>.")
        store.mark(last.id, "dismissed")
        store.write_details(msgspec.structs.replace(store.details(), texts={"purpose": "To hire."}))
        store.write_choice(msgspec.structs.replace(store.choice(), paper="us-letter"))
    return path


def copied(folder, to):
    """Copy the audit of a folder, and all that lies with it."""
    shutil.copytree(folder, to)
    return to / "audit.fairdesk"


def change(path, sql, *values):
    """Change an audit file behind FairDesk's back."""
    with closing(sqlite3.connect(path)) as connection, connection:
        changed = connection.execute(sql, values).rowcount
    assert changed != 0, "nothing was changed"


def chained_anew(path):
    """Return every entry of a log the link that it should have."""
    with closing(sqlite3.connect(path)) as connection, connection:
        before = digests.GENESIS
        sql = "SELECT number, at, what, kind, facts FROM log ORDER BY number"
        for number, *told in connection.execute(sql).fetchall():
            entry = LogEntry(*told)
            before = digests.link(before, entry.at, entry.what, entry.kind, entry.facts)
            connection.execute("UPDATE log SET link = ? WHERE number = ?", (before, number))


def edited(path, change):
    """Change the recorded figures of runs: ``change(figure)`` changes one, and says whether."""
    with closing(sqlite3.connect(path)) as connection, connection:
        done = 0
        for number, text in connection.execute("SELECT id, figures FROM run").fetchall():
            figures = json.loads(text)
            done += sum([bool(change(each)) for each in figures])
            connection.execute(
                "UPDATE run SET figures = ? WHERE id = ?", (json.dumps(figures), number)
            )
    assert done, "nothing was changed"


def rewritten(path):
    """Write the log anew, so that it agrees with whatever the file holds now."""
    with closing(sqlite3.connect(path)) as connection, connection:
        runs = dict(connection.execute("SELECT id, spec FROM run"))
        sql = "SELECT number, kind, facts FROM log WHERE kind IN ('ran', 'learned') AND facts != ''"
        for number, kind, text in connection.execute(sql).fetchall():
            facts = json.loads(text)
            if kind == "ran" and facts["run"] not in runs:
                connection.execute("DELETE FROM log WHERE number = ?", (number,))
                continue
            if facts.get("step") == "began":
                facts["spec"] = json.loads(runs[facts["run"]])
            elif facts.get("step") == "ended":
                facts = msgspec.to_builtins(digests.run(connection, facts["run"]))
            elif facts.get("about") == "distances":
                facts["sha256"] = digests.weighed(connection, facts["first"], facts["last"])
            connection.execute(
                "UPDATE log SET facts = ? WHERE number = ?",
                (msgspec.json.encode(facts).decode(), number),
            )
    chained_anew(path)
