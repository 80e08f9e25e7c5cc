"""An audit of a folder of parts that is not held whole: its groups are those of all rows."""

import json

import joblib
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from sklearn.linear_model import LogisticRegression

from fairdesk.app import outputs
from fairdesk.audit.store.store import Store
from fairdesk.cli import main as cli
from fairdesk.data.formats.parts import SAMPLE_ROWS
from fairdesk.results.groups import GroupTable
from fairdesk.results.individual import Share
from fairdesk.results.subgroups import RuleSet
from fairdesk.wording import words


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch, shared_guests):
    """Keep the log out of the user's home, and write short reports."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setitem(
        outputs.OUTPUTS, "report.pdf", lambda _store, path: path.write_bytes(b"%PDF")
    )


@pytest.fixture
def parts(tmp_path):
    """A folder of two parts, with more rows than are held, and the same in one file."""
    rng = np.random.default_rng(6)
    rows = SAMPLE_ROWS // 2 + 5_000
    tables = [
        pa.table(
            {
                "sex": np.array(["f", "m"])[rng.integers(0, 2, rows)],
                "hired": np.array(["no", "yes"])[rng.integers(0, 2, rows)],
                "model": np.array(["no", "yes"])[rng.integers(0, 2, rows)],
            }
        )
        for _ in range(2)
    ]
    (tmp_path / "parts").mkdir()
    for place, table in enumerate(tables):
        parquet.write_table(table, tmp_path / "parts" / f"{place}.parquet")
    parquet.write_table(pa.concat_tables(tables), tmp_path / "whole.parquet")
    return tmp_path / "parts"


def audit(data, out, *more):
    line = (
        *("audit", "--data", data, "--predictions", "model", "--label", "hired"),
        *("--favourable", "yes", "--protected", "sex", "--method", "groups", "--out", out, *more),
    )
    return cli.main([str(each) for each in line])


def group_tables(out):
    with Store.read(out / "audit.fairdesk") as store:
        (run,) = store.runs()
        return [each for each in run.figures if isinstance(each, GroupTable)], store.spec.data


def test_groups_are_those_of_all_rows_and_the_audit_says_what_it_holds(parts, tmp_path, capsys):
    assert audit(parts, tmp_path / "out", "--json") == 0
    warnings = json.loads(capsys.readouterr().out)["warnings"]
    assert audit(tmp_path / "whole.parquet", tmp_path / "whole") == 0
    found, data = group_tables(tmp_path / "out")
    expected, whole = group_tables(tmp_path / "whole")
    assert found == expected
    assert len(found) == 2
    assert (data.rows, data.held) == (whole.rows, SAMPLE_ROWS)
    assert words.sampled(data) in warnings
    with Store.read(tmp_path / "out" / "audit.fairdesk") as store:
        assert len(store.table().codes) == SAMPLE_ROWS


def test_a_part_that_changes_before_the_run_is_named(parts, tmp_path, monkeypatch, capsys):
    real = Store.begin_run

    def change(store, spec):
        part = parts / "1.parquet"
        part.write_bytes((parts / "0.parquet").read_bytes())
        return real(store, spec)

    monkeypatch.setattr(Store, "begin_run", change)
    assert audit(parts, tmp_path / "out") == 1
    assert "1.parquet" in capsys.readouterr().err


def test_shares_and_supports_are_of_all_rows(tmp_path):
    rng = np.random.default_rng(3)
    rows = SAMPLE_ROWS + 5_000
    sex, age = rng.integers(0, 2, rows), rng.integers(0, 12, rows)
    paid = (age + 2 * sex + rng.normal(0, 2, rows) > 6).astype(int)
    (tmp_path / "parts").mkdir()
    for place, part in enumerate(np.array_split(np.arange(rows), 3)):
        table = pa.table({"sex": sex[part], "age": age[part], "paid": paid[part]})
        parquet.write_table(table, tmp_path / "parts" / f"{place}.parquet")
    model = LogisticRegression().fit(np.column_stack([sex, age])[:5_000], paid[:5_000])
    joblib.dump(model, tmp_path / "model.joblib")

    line = (
        *("audit", "--data", tmp_path / "parts", "--model", tmp_path / "model.joblib"),
        *("--label", "paid", "--favourable", "1", "--protected", "sex", "--no-plausible"),
        *("--method", "estimate", "--option", "trials=2", "people=300", "--method", "testsgd"),
        *("--out", tmp_path / "out"),
    )
    assert cli.main([str(each) for each in line]) == 0
    changes = model.predict(np.column_stack([0 * sex, age])) != model.predict(
        np.column_stack([0 * sex + 1, age])
    )
    with Store.read(tmp_path / "out" / "audit.fairdesk") as store:
        figures = [each for run in store.runs() for each in run.figures]
    (share,) = (each for each in figures if isinstance(each, Share) and each.whom == "data")
    assert (share.n_samples, share.hits) == (rows, changes.sum())
    assert share.exhaustive
    found = [each for each in figures if isinstance(each, RuleSet)]
    assert found
    for each in found:
        (condition,) = each.conditions
        inside = np.isin(sex, condition.codes) if condition.codes else sex == condition.low
        assert each.rows == inside.sum()


def test_the_input_check_is_of_all_rows(tmp_path, capsys):
    rng = np.random.default_rng(3)
    rows = SAMPLE_ROWS + 5_000
    sex, age = rng.integers(0, 2, rows), rng.integers(0, 12, rows)
    paid = (age + 2 * sex + rng.normal(0, 2, rows) > 6).astype(int)
    (tmp_path / "parts").mkdir()
    table = pa.table({"sex": sex, "age": age, "paid": paid})
    parquet.write_table(table, tmp_path / "parts" / "one.parquet")
    inputs = np.column_stack([sex, age])
    model = LogisticRegression().fit(inputs[:5_000], paid[:5_000])
    joblib.dump(model, tmp_path / "model.joblib")
    line = (
        *("inspect", "--data", tmp_path / "parts", "--model", tmp_path / "model.joblib"),
        *("--label", "paid", "--favourable", "1", "--json"),
    )
    assert cli.main([str(each) for each in line]) == 0
    told = capsys.readouterr().out
    found = json.loads(told)
    assert found["rows"] == rows
    assert found["accuracy"] == pytest.approx((model.predict(inputs) == paid).mean())
