"""A small audit that was really made, with every kind of figure; ways to tamper with copies.

Its guest is `tests.audit.fake_guest`, so “proves” must be among the methods.
"""

import shutil
import sqlite3
from contextlib import closing

import msgspec

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.runs.plausibility import score_findings
from fairdesk.audit.runs.run import run
from fairdesk.audit.store import hash_chain
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


def make(folder, worker, runs=RUNS):
    """Make an audit with its data and its model in a folder; gives the audit's file."""
    table = read_table(making.write_people(folder / "people.csv"))
    model = fake_guest.write_source(folder / "model.txt")
    # a guest that runs no code of a file is used again for the next one
    spec = msgspec.structs.replace(making.spec_of(table, worker.open_model(model)), trusted=False)
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
        before = hash_chain.GENESIS
        sql = "SELECT number, at, what, kind, facts FROM log ORDER BY number"
        for number, *told in connection.execute(sql).fetchall():
            entry = LogEntry(*told)
            before = hash_chain.link(before, entry.at, entry.what, entry.kind, entry.facts)
            connection.execute("UPDATE log SET link = ? WHERE number = ?", (before, number))
