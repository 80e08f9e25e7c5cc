"""Models that are fed by the names which scalers, encoders and lists beside them know."""

from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from fairdesk.data.formats.reading import read_table
from fairdesk.errors import ModelError
from fairdesk.models.inputs.input_check import check
from fairdesk.models.inputs.mapping.propose import propose
from fairdesk.models.model import Companion
from fairdesk.models.open import open_model
from tests.models.churn import DROPPED, INPUTS, LABEL, churn

NUMBERS = [
    *("CreditScore", "Age", "Tenure", "Balance", "NumOfProducts", "HasCrCard"),
    *("IsActiveMember", "EstimatedSalary"),
]
NAMES = ["Geography", "Gender"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return churn(tmp_path_factory.mktemp("churn"))


@pytest.fixture(scope="module")
def table(made):
    return read_table(made.folder / "Churn_Modelling.csv")


def proposed(path, table, *beside):
    opened = open_model(path, companions=[Companion(str(each)) for each in beside])
    return opened, propose(opened.card, table, LABEL, "1")


def accuracy(opened, proposal, table):
    assert proposal.problems == ()
    return check(opened, table, proposal.mapping(), LABEL, "1").accuracy


@pytest.mark.parametrize("network", ["model.h5", "model.keras", "model.onnx"])
@pytest.mark.parametrize(
    "beside", [["scaler"], ["onehot_encoder_geo", "scaler", "label_encoder_gender"]]
)
def test_a_scaler_that_knows_names_feeds_a_network_that_knows_none(made, table, network, beside):
    files = [made.folder / f"{name}.pkl" for name in beside]
    opened, proposal = proposed(made.folder / network, table, *files)
    assert tuple(item.name for item in proposal.inputs) == INPUTS
    assert accuracy(opened, proposal, table) == pytest.approx(made.accuracy, abs=1e-9)


def raw_of(made):
    return made.frame.drop(columns=[*DROPPED, LABEL])


def bundles(made):
    """Return files as authors save them: by name the content, and rows that the model takes."""
    raw, truth = raw_of(made), made.frame[LABEL]
    scaler = StandardScaler().fit(raw[NUMBERS])
    bare = StandardScaler().fit(raw[NUMBERS].to_numpy())
    spread = OneHotEncoder(sparse_output=False).fit(raw[NAMES])
    spread_bare = OneHotEncoder(sparse_output=False).fit(raw[NAMES].to_numpy())
    both = np.hstack([scaler.transform(raw[NUMBERS]), spread.transform(raw[NAMES])])
    some = StandardScaler().fit(raw[["Age", "Balance"]].to_numpy())
    dummies = pd.get_dummies(raw, columns=NAMES, drop_first=True).astype(float)
    dummies[["Age", "Balance"]] = some.transform(raw[["Age", "Balance"]].to_numpy())
    steps = [("num", StandardScaler(), NUMBERS), ("cat", OneHotEncoder(), NAMES)]
    named = ColumnTransformer(steps).fit(raw)
    places = [(name, part, [raw.columns.get_loc(c) for c in which]) for name, part, which in steps]
    numbered = ColumnTransformer(places).fit(raw.to_numpy())
    lists = {"numeric_features": NUMBERS, "categorical_features": NAMES, "target": LABEL}
    # column by column: the file, and the rows that its model was trained on
    return {
        "a scaler and an encoder with names": ({"sc": scaler, "ohe": spread}, both),
        "without names, by lists": (
            {"sc": bare, "enc": spread_bare, "num_cols": NUMBERS, "cat_cols": NAMES},
            both,
        ),
        "a scaler of two, by a list": (
            {"scaler": some, "cols_to_scale": ["Age", "Balance"], "columns": [*dummies]},
            dummies.to_numpy(),
        ),
        "a preprocessor, and what comes out": (
            {"preprocessor": named, "feature_names": [*named.get_feature_names_out()], **lists},
            named.transform(raw),
        ),
        "a preprocessor of places": (
            {"pre": numbered, "features": [*raw], **lists},
            numbered.transform(raw.to_numpy()),
        ),
    }, truth


@pytest.mark.parametrize(
    "name",
    [
        *("a scaler and an encoder with names", "without names, by lists"),
        *("a scaler of two, by a list", "a preprocessor, and what comes out"),
        "a preprocessor of places",
    ],
)
@pytest.mark.parametrize("nested", [False, True])
def test_a_bundle_is_fed_by_the_names_in_it(tmp_path, made, table, name, nested):
    found, truth = bundles(made)
    content, rows = found[name]
    model = LogisticRegression(max_iter=2_000).fit(rows, truth)
    whole = {"clf": model, **content}
    joblib.dump({"artifacts": whole, "version": 1} if nested else whole, tmp_path / "m.pkl")
    opened, proposal = proposed(tmp_path / "m.pkl", table)
    own = model.score(rows, truth)
    assert accuracy(opened, proposal, table) == pytest.approx(own, abs=1e-9)
    # lists that say the same in other words are no cause for a warning
    assert [note for note in opened.card.warnings if "not used" in note] == []
    assumed = [note for note in opened.card.warnings if "No file states the order" in note]
    assert len(assumed) == ("ohe" in content or "enc" in content)


def test_a_scaler_for_other_columns_is_refused(tmp_path, made, table):
    other = pd.DataFrame(np.random.default_rng(0).random((30, 7)))
    other.columns = ["Age", "Tenure", "Balance", "f1", "f2", "f3", "f4"]
    joblib.dump(StandardScaler().fit(other), tmp_path / "scaler.pkl")
    raw = raw_of(made)
    model = LogisticRegression(max_iter=2_000).fit(raw[NUMBERS], made.frame[LABEL])
    joblib.dump(model, tmp_path / "m.joblib")
    _, proposal = proposed(tmp_path / "m.joblib", table, tmp_path / "scaler.pkl")
    (problem,) = proposal.problems
    assert "“scaler” was fitted on 7 columns: “Age”, “Tenure”, “Balance”, “f1”" in problem
    assert "not given “f1”, “f2”, “f3”, “f4”" in problem
    assert "remove the scaler" in problem
    assert all(item.then == () for item in proposal.inputs)
    with pytest.raises(ModelError, match="fitted on 7 columns"):
        proposal.mapping()


def test_a_scaler_of_as_many_but_other_columns_is_refused(tmp_path, made, table):
    """By their count alone they would be taken for the columns in their order."""
    other = pd.DataFrame(np.random.default_rng(0).random((30, 11)))
    other.columns = [f"f{i}" for i in range(11)]
    joblib.dump(StandardScaler().fit(other), tmp_path / "scaler.pkl")
    coded = raw_of(made).apply(lambda column: pd.factorize(column)[0])
    rows = np.column_stack([np.arange(len(coded)), coded.to_numpy(float)])
    joblib.dump(LogisticRegression().fit(rows, made.frame[LABEL]), tmp_path / "m.joblib")
    _, proposal = proposed(tmp_path / "m.joblib", table, tmp_path / "scaler.pkl")
    assert any("belongs to another model or table" in problem for problem in proposal.problems)
    assert all(item.then == () for item in proposal.inputs)


def test_a_scaler_in_another_order_than_a_list_contradicts_it(tmp_path, made, table):
    (tmp_path / "features.json").write_text(str(list(reversed(INPUTS))).replace("'", '"'))
    with pytest.raises(ModelError, match="a different order") as caught:
        proposed(
            made.folder / "model.h5", table, made.folder / "scaler.pkl", tmp_path / "features.json"
        )
    assert "belong to this model" in caught.value.remedy


def test_two_lists_of_one_length_are_no_clue(tmp_path, made, table):
    """A scaler without names is not given one of two lists of its length."""
    raw = raw_of(made)
    some = StandardScaler().fit(raw[["Age", "Balance"]].to_numpy())
    content = {
        "model": LogisticRegression(max_iter=2_000).fit(raw[NUMBERS].to_numpy(), made.frame[LABEL]),
        "scaler": some,
        "scaled": ["Age", "Balance"],
        "numeric": ["Tenure", "CreditScore"],
        "features": NUMBERS,
    }
    joblib.dump(content, tmp_path / "m.pkl")
    _, proposal = proposed(tmp_path / "m.pkl", table)
    (problem,) = proposal.problems
    assert "takes 2 columns, and does not state which" in problem


def test_a_threshold_beside_a_model_is_told_and_not_taken(tmp_path, made, table):
    raw = raw_of(made)[NUMBERS]
    model = LogisticRegression(max_iter=2_000).fit(raw, made.frame[LABEL])
    joblib.dump({"model": model, "best_threshold": 0.35, "accuracy": 0.8}, Path(tmp_path / "m.pkl"))
    opened, proposal = proposed(tmp_path / "m.pkl", table)
    (note,) = opened.card.warnings
    assert "“best_threshold” in the model file is 0.35" in note
    assert proposal.mapping().threshold is None
