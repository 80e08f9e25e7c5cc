"""The finished audits that come with the samples: of this version, sound, and true to the data."""

import itertools
import json
import re
import sqlite3
from contextlib import closing
from itertools import takewhile
from pathlib import Path

import joblib
import numpy as np
import onnxruntime
import pandas as pd
import pytest

from fairdesk import files
from fairdesk import samples as samples_module
from fairdesk.app import report as finished
from fairdesk.app.standard import standard_runs
from fairdesk.audit.runs.inspection import reopen
from fairdesk.audit.store.records import PairQuery
from fairdesk.audit.store.schema import VERSION
from fairdesk.audit.store.store import Store
from fairdesk.audit.verify.checks import ESTIMATES, VerifyRequest, recheck
from fairdesk.audit.worker.client import Worker
from fairdesk.errors import FairDeskError, StoreError
from fairdesk.results.groups import GroupTable
from fairdesk.results.individual import ComparedRows
from fairdesk.samples import kept_path, own_finished, path_here, samples
from tests.sizes import NIGHTLY

ADULT, LOANAPP = samples()
AGAIN = (
    "{file} is out of date: {why}. Make it anew with “.venv/bin/python packaging/finished.py "
    "{key}” (CONTRIBUTING.md, “Make the finished audits again”)."
)
EACH = pytest.mark.parametrize("sample", samples(), ids=lambda sample: sample.key)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Keep copies in a folder of the test."""
    monkeypatch.setattr(files.platformdirs, "user_data_path", lambda *_, **__: tmp_path)
    return tmp_path / "samples"


def outdated(sample, why):
    """Fail, and say how the audit is made anew."""
    pytest.fail(AGAIN.format(file=f"{sample.key}/{sample.shipped.name}", why=why, key=sample.key))


def read(sample):
    """Read a finished audit as it comes with FairDesk."""
    return Store.read(sample.shipped)


def figures(store, kind):
    return [each for run in store.runs() for each in run.figures if isinstance(each, kind)]


@EACH
def test_it_has_the_current_format_and_the_runs_of_a_full_audit(sample):
    with closing(sqlite3.connect(f"{sample.shipped.as_uri()}?mode=ro", uri=True)) as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (kept,) = connection.execute("SELECT spec FROM audit").fetchone()
    if version != VERSION:
        outdated(sample, f"its format has version {version}, the current one is {VERSION}")
    try:
        with read(sample) as store:
            spec, runs, table = store.spec, store.runs(), store.table()
            assert not store.sound()
    except StoreError as error:
        outdated(sample, f"it cannot be read ({error})")
    plan = finished.sample_question(sample).standard
    wanted = [run.method for run in standard_runs(plan, spec, table).runs]
    if [run.method for run in runs] != wanted:
        outdated(sample, f"a full audit now has the runs {', '.join(wanted)}")
    assert {run.state for run in runs} == {"done"}
    # where it was made is nobody's concern
    paths = re.findall(r'"path":"([^"]*)"', kept)
    assert len(paths) >= 2
    assert all(path.startswith("samples:") for path in paths)
    assert str(Path.home()) not in kept
    assert sample.shipped.stat().st_size < 3_000_000
    assert not list(sample.shipped.parent.glob("audit.fairdesk?*"))


@EACH
def test_it_reopens_where_table_and_model_are_and_is_verified(sample, shared_guests):
    model = sample.model_path(sample.models[0])
    with closing(Worker()) as worker, read(sample) as store:
        assert store.spec.data.path == str(sample.data_path)
        assert store.spec.model.path == str(model)
        reopen(store.spec, {}, worker)
        asked = VerifyRequest(
            sample.shipped, sample.data_path, model, sample=200, seconds=2.0, points=500
        )
        found = recheck(worker, store, asked, lambda _said: None, None)
        # the few and large regions of the other model take minutes to prove once more
        proven = sample is ADULT or NIGHTLY
        checks = list(takewhile(lambda each: proven or not each.name.startswith("Run 6"), found))
    if wrong := [each for each in checks if each.failed]:
        outdated(sample, f"it is not verified ({wrong[0].name}: {' '.join(wrong[0].remarks)})")
    # of all but proofs nothing is left out that “fairdesk reproduce” does not do
    left = [each.name for each in checks if not each.tried and not each.name.startswith("Run ")]
    assert left == [ESTIMATES]


@EACH
def test_a_report_is_made_of_it_once_and_the_audit_that_is_shipped_stays_as_it_is(sample):
    before = files.sha256(sample.shipped)
    report = finished.finished_report(sample)
    assert report == sample.finished_report
    assert report.read_bytes().startswith(b"%PDF")
    report.write_bytes(b"%PDF of before")
    assert finished.finished_report(sample).read_bytes() == b"%PDF of before"
    assert files.sha256(sample.shipped) == files.sha256(sample.finished) == before


def test_the_users_copy_is_kept_changed_deleted_and_made_again(folder):
    path = own_finished(ADULT)
    with Store.open(path) as store:
        pair = store.pairs(PairQuery(), 0, 1)[0]
        store.mark(pair.id, "flagged")
    with Store.open(own_finished(ADULT)) as store:
        assert store.pair(pair.id).mark == "flagged"
    path.unlink()
    with Store.open(own_finished(ADULT)) as store:
        assert not store.pair(pair.id).mark
    path.write_bytes(b"of another version")
    assert own_finished(ADULT, anew=True) == path
    assert (folder / "adult-earlier-1" / path.name).read_bytes() == b"of another version"
    assert files.sha256(path) == files.sha256(ADULT.shipped)
    assert sorted(each.name for each in folder.iterdir()) == ["adult", "adult-earlier-1"]


def test_a_copy_that_cannot_be_made_is_told(folder, tmp_path):
    folder.write_bytes(b"no folder")
    with pytest.raises(FairDeskError, match="cannot be copied"):
        own_finished(ADULT)


def test_paths_of_samples_are_kept_as_such_and_others_as_they_are(tmp_path, monkeypatch):
    for path in (str(ADULT.data_path), str(tmp_path / "a.csv"), "C:\\data\\a.csv", ""):
        assert path_here(kept_path(path)) == path
    assert kept_path(str(ADULT.data_path)) == "samples:adult/adult.csv"
    # FairDesk lies elsewhere on another computer
    monkeypatch.setattr(samples_module, "resources", lambda: tmp_path)
    assert path_here("samples:adult/adult.csv") == str(tmp_path / "samples/adult/adult.csv")


# Figures of the first page, counted again by pandas and the models' own libraries


def adult_decisions(table):
    """Decide by the network as ONNX, whose inputs are the codes that lie beside it."""
    codes = json.loads(ADULT.data_path.with_name("adult_network.codes.json").read_text("utf-8"))
    inputs = table.drop(columns="income").assign(
        **{name: table[name].map(places) for name, places in codes.items()}
    )
    session = onnxruntime.InferenceSession(ADULT.model_path(ADULT.models[1]))
    (scores,) = session.run(None, {"person": inputs.to_numpy(np.float32)})
    return pd.Series(scores[:, 0] > 0.5, index=table.index)


def loanapp_decisions(table):
    pipeline = joblib.load(LOANAPP.model_path(LOANAPP.models[0]))
    return pd.Series(pipeline.predict(table.drop(columns="approved")) == "yes", index=table.index)


def people(sample):
    """Read the rows that can be audited: those with a value wherever the model needs one."""
    table = pd.read_csv(sample.data_path)
    return table if sample is ADULT else table.dropna(subset=["married", "dependents"])


def changing(sample, table, decide):
    """Count rows that can be compared, whose decision changes, and who would lose the outcome."""
    with read(sample) as store:
        domain = store.spec.domain
    now, protected = decide(table), list(sample.protected)
    # a row that has what no other has is compared with none
    odd = pd.Series(False, table.index)
    if "relationship" in table:
        either = table["sex"].map({"Female": "Husband", "Male": "Wife"})
        odd = table["relationship"] == either
    rare = [
        (name, domain.attributes[domain.names.index(name)].values[int(code)])
        for name, code in domain.support.rare
    ]

    def supported(changed):
        fine = (changed[protected] != table[protected]).any(axis=1) & ~odd
        for name, value in rare:
            fine &= (changed[name] != value) | (table[name] == value)
        for text in domain.support.constraints:
            terms = re.fullmatch(r"not \((.+) = (.+) and (.+) = (.+)\)", text)
            one, its, other, others = terms.groups()
            fine &= (changed[one] != its) | (changed[other] != others)
        return fine

    changes, compared = pd.Series(False, table.index), pd.Series(False, table.index)
    for values in itertools.product(*(sorted(table[name].dropna().unique()) for name in protected)):
        changed = table.assign(**dict(zip(protected, values, strict=True)))
        if "relationship" in changed:
            turned = changed["sex"] != table["sex"]
            other = changed["relationship"].replace({"Husband": "Wife", "Wife": "Husband"})
            changed["relationship"] = changed["relationship"].mask(turned, other)
        fine = supported(changed)
        compared |= fine
        changes |= fine & (decide(changed) != now)
    return int(compared.sum()), int(changes.sum()), int((changes & now).sum())


@pytest.mark.parametrize(
    ("sample", "decide"), [(ADULT, adult_decisions), (LOANAPP, loanapp_decisions)]
)
def test_its_first_figures_are_those_of_the_data(sample, decide):
    whole, table = pd.read_csv(sample.data_path), people(sample)
    with read(sample) as store:
        tables, compared = figures(store, GroupTable), figures(store, ComparedRows)
    counted = {"label": whole[sample.label] == sample.favourable, "decisions": decide(whole)}
    seen = 0
    for each in tables:
        if each.of in counted and len(each.attributes) == 1:
            (name,) = each.attributes
            for line in each.lines:
                if line.known:
                    group = counted[each.of][whole[name] == line.values[0]]
                    assert (line.n_samples, line.favourable) == (len(group), group.sum())
                    seen += 1
    assert seen >= 8
    (both,) = (
        each for each in compared if len(each.attributes) == 2 and each.comparison == "supported"
    )
    assert (both.compared, both.hits, both.losses) == changing(sample, table, decide)
