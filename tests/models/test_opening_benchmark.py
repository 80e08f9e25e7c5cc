"""The table of what opens, over a small folder of everything."""

import joblib
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from fairdesk.errors import ModelError
from tests.benchmarks.opening import Outcome, has_remedy, main

RNG = np.random.default_rng(5)
N = 300


def _folder(root):
    """A model with its table and scaler, one that fits no table, one that is a program, others."""
    models = root / "models"
    (root / "data").mkdir()
    models.mkdir()
    age, years = RNG.integers(18, 80, N), RNG.integers(0, 30, N)
    good = (age * 0.5 + years > 40).astype(int)
    rows = np.column_stack([age, years, good])
    table = "age,years,approved\n" + "\n".join(",".join(map(str, row)) for row in rows.tolist())
    (root / "data" / "train.csv").write_text(table)
    (root / "data" / "other.csv").write_text("a,b,c,d,e\n" + "1,2,3,4,0\n2,3,4,5,1\n" * 20)
    scaler = StandardScaler().fit(rows[:, :2].astype(float))
    model = LogisticRegression().fit(scaler.transform(rows[:, :2]), good)
    joblib.dump(model, models / "model.joblib")
    joblib.dump(scaler, models / "scaler.joblib")
    # nobody can say without asking what its inputs are
    odd = LogisticRegression().fit(RNG.random((50, 9)), RNG.integers(0, 2, 50))
    joblib.dump(odd, models / "nine.joblib")
    joblib.dump(FunctionTransformer(np.log1p), models / "helper.joblib")
    joblib.dump({"model": model, "log": print}, models / "program.pkl")
    (models / "empty.pkl").write_bytes(b"")


def test_every_file_gets_its_line_and_totals_add_up(tmp_path, capsys, shared_guests):
    _folder(tmp_path)
    assert main([str(tmp_path), "--plain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    said = {line.split()[0].rpartition("/")[2]: line for line in lines if line.startswith("models")}
    assert set(said) == {
        *("model.joblib", "nine.joblib", "helper.joblib", "program.pkl", "empty.pkl")
    }
    assert f" {Outcome.OPENS} " in said["model.joblib"]
    assert "train.csv: approved = 1" in said["model.joblib"]
    assert "with scaler.joblib" in said["model.joblib"]
    assert f" {Outcome.ASSIGN} " in said["nine.joblib"]
    assert f" {Outcome.CONSENT} " in said["program.pkl"]
    assert f" {Outcome.NO_MODEL} " in said["helper.joblib"]
    assert "refused" in said["empty.pkl"]
    (total,) = (line for line in lines if line.startswith("all:"))
    assert total.startswith("all: 4 files")
    assert "by their own libraries: 3; by FairDesk: 2; ratio 0.67" in lines[-1]


@pytest.mark.parametrize(
    ("why", "remedy", "has"),
    [
        ("", "Save it again with skops.io.dump().", True),
        ("", "Get the file again.", False),
        ("", "FairDesk opens Keras (.keras, .h5), ONNX (.onnx) and other models.", False),
        ("Perhaps it is damaged.", "Export it as ONNX.", False),
        ("", "", False),
    ],
)
def test_a_remedy_is_something_to_do_with_this_file(why, remedy, has):
    assert has_remedy(ModelError("It does not open.", why=why, remedy=remedy)) is has
