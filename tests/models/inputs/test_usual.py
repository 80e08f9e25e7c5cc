"""The usual preparations of a table where a model came without its own."""

import json

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

from fairdesk.data.formats.reading import read_table
from fairdesk.errors import ModelError, SpecError
from fairdesk.models.inputs.input_check import check
from fairdesk.models.inputs.mapping.propose import propose
from fairdesk.models.inputs.mapping_file import apply, parse, written
from fairdesk.models.inputs.usual import Preparing, fitted, is_due, offers, read_key, still_fits
from fairdesk.models.model import Companion, Fit, Step
from fairdesk.models.open import open_model
from tests import phrases
from tests.models.churn import DROPPED, LABEL, churn
from tests.models.matching import match

NUMBERS = [
    *("CreditScore", "Age", "Tenure", "Balance", "NumOfProducts", "HasCrCard"),
    *("IsActiveMember", "EstimatedSalary"),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    made = churn(tmp_path_factory.mktemp("churn"))
    made.frame.drop(columns=DROPPED).to_csv(made.folder / "plain.csv", index=False)
    return made


@pytest.fixture(scope="module")
def table(made):
    return read_table(made.folder / "plain.csv")


def offered(opened, table, mapping):
    def prove(other, rows):
        return check(opened, rows, other, LABEL, "1")

    proof = prove(mapping, table)
    return proof, offers(prove, opened.card, table, LABEL, mapping, proof)


def test_a_network_without_its_scaler_is_offered_the_usual_ones(made, table):
    opened = open_model(made.folder / "model.h5")
    mapping = match(opened.card, table, LABEL, "1")
    proof, found = offered(opened, table, mapping)
    assert proof.accuracy < 0.7
    # in the order of what was trained with it does what its author saw, to the last row
    right = next(offer for offer in found if offer.key == "one-hot-last+standardise")
    assert right.accuracy == pytest.approx(made.accuracy, abs=1e-9)
    assert phrases.STANDARDISE in right.title
    assert all(item.fitted is Fit.STANDARDISE for item in right.mapping.inputs)
    age = next(item for item in right.mapping.inputs if item.attribute == "Age")
    mean, scale = made.scaler.mean_[2], made.scaler.scale_[2]
    assert age.then == (Step("subtract", pytest.approx(mean)), Step("divide", pytest.approx(scale)))
    # nothing is taken by itself
    assert mapping == match(opened.card, table, LABEL, "1")


@pytest.mark.parametrize(
    ("scaler", "key"), [(StandardScaler(), "standardise"), (MinMaxScaler(), "range")]
)
def test_trees_on_scaled_rows_are_offered_it_too(tmp_path, made, table, scaler, key):
    rows = scaler.fit_transform(made.frame[NUMBERS])
    model = RandomForestClassifier(30, random_state=0).fit(rows, made.frame[LABEL])
    joblib.dump(model, tmp_path / "m.joblib")
    (tmp_path / "columns.json").write_text(str(NUMBERS).replace("'", '"'))
    opened = open_model(
        tmp_path / "m.joblib", companions=[Companion(str(tmp_path / "columns.json"))]
    )
    mapping = match(opened.card, table, LABEL, "1")
    proof, found = offered(opened, table, mapping)
    best = next(offer for offer in found if offer.key == key)
    assert proof.accuracy < 0.75
    assert best.accuracy > 0.97


def test_nothing_is_offered_where_a_scaler_is_known_or_the_model_does_well(tmp_path, made, table):
    beside = [Companion(str(made.folder / "scaler.pkl"))]
    opened = open_model(made.folder / "model.h5", companions=beside)
    mapping = match(opened.card, table, LABEL, "1")
    # even where it then does badly: here its first weights are fed the wrong column
    swapped = [*mapping.inputs]
    swapped[2], swapped[4] = swapped[4], swapped[2]
    wrong = type(mapping)(tuple(swapped), mapping.matched, mapping.favourable_class)
    assert offered(opened, table, wrong)[1] == ()
    plain = LogisticRegression(max_iter=5_000).fit(made.frame[NUMBERS], made.frame[LABEL])
    joblib.dump(plain, tmp_path / "m.joblib")
    opened = open_model(tmp_path / "m.joblib")
    mapping = match(opened.card, table, LABEL, "1")
    proof, found = offered(opened, table, mapping)
    assert not is_due(opened.card, mapping, proof)
    assert found == ()


def test_nothing_is_offered_that_does_not_help(tmp_path, made, table):
    rng = np.random.default_rng(0)
    guesses = LogisticRegression().fit(rng.normal(size=(200, 8)), rng.integers(0, 2, 200))
    guesses.feature_names_in_ = np.array(NUMBERS, dtype=object)
    guesses.coef_[:] = 0
    joblib.dump(guesses, tmp_path / "m.joblib")
    opened = open_model(tmp_path / "m.joblib")
    mapping = match(opened.card, table, LABEL, "1")
    proof, found = offered(opened, table, mapping)
    assert is_due(opened.card, mapping, proof)
    assert found == ()


def test_numbers_only_and_what_cannot_be_scaled(made, table):
    opened = open_model(made.folder / "model.h5")
    proposal = propose(opened.card, table, LABEL, "1", arrangement="one-hot-last")
    mapping = fitted(proposal.mapping(), table, Preparing("", Fit.RANGE, only_numbers=True))
    by_name = {(item.attribute, bool(item.then)) for item in mapping.inputs}
    assert ("Geography", True) not in by_name
    assert ("Gender", True) not in by_name
    assert ("Age", True) in by_name
    age = next(item for item in mapping.inputs if item.attribute == "Age")
    low, high = made.frame["Age"].min(), made.frame["Age"].max()
    assert age.then == (Step("subtract", low), Step("divide", high - low))
    # what is scaled already stays so
    assert fitted(mapping, table, Preparing("", Fit.RANGE, only_numbers=True)) == mapping


def test_missing_cells_and_constant_columns_do_not_spoil_the_fit(tmp_path):
    frame = pd.DataFrame({"a": [1.5, None, 4.5, 7.5], "same": [3, 3, 3, 3], "y": [0, 1, 0, 1]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = read_table(tmp_path / "t.csv")
    model = LogisticRegression().fit(frame[["a", "same"]].fillna(0), frame["y"])
    joblib.dump(model, tmp_path / "m.joblib")
    opened = open_model(tmp_path / "m.joblib")
    mapping = match(opened.card, table, "y", "1")
    standard = fitted(mapping, table, read_key("standardise"))
    known = StandardScaler().fit(frame[["a", "same"]])
    assert [item.then for item in standard.inputs] == [
        (Step("subtract", pytest.approx(m)), Step("divide", pytest.approx(s)))
        for m, s in zip(known.mean_, known.scale_, strict=True)
    ]


@pytest.mark.parametrize("key", ["one-hot+scale", "standardise-some+", "x+y"])
def test_a_preparation_that_there_is_not_is_refused(key):
    with pytest.raises(SpecError, match="no preparation") as caught:
        read_key(key)
    assert "“standardise” or “range”" in caught.value.remedy


def test_an_order_that_does_not_fit_is_refused(made, table):
    opened = open_model(made.folder / "model.h5")
    with pytest.raises(ModelError, match="cannot be arranged as “codes”") as caught:
        propose(opened.card, table, LABEL, "1", arrangement="codes")
    assert "“one-hot-last”" in caught.value.remedy


def test_a_mapping_file_keeps_it_and_fits_it_on_the_table_at_hand(made, table):
    opened = open_model(made.folder / "model.h5")
    proposal = propose(opened.card, table, LABEL, "1", arrangement="one-hot-last")
    mapping = fitted(proposal.mapping(), table, read_key("standardise"))

    text = json.dumps(written(mapping, opened.card)).encode()
    assert apply(parse(text), match(opened.card, table, LABEL, "1"), opened.card, table) == mapping
    # with another table these numbers are somebody's, but not fitted on it
    half = type(table)(table.source, table.columns, table.codes[::2])
    again = apply(parse(text), match(opened.card, half, LABEL, "1"), opened.card, half)
    assert [item.then for item in again.inputs] == [item.then for item in mapping.inputs]
    assert all(item.fitted is None for item in again.inputs)
    # without numbers they are computed
    entry = {"input": mapping.inputs[2].name, "from": "Age", "fitted": "range"}
    said = parse(json.dumps({"inputs": [entry]}).encode())
    made_so = apply(said, match(opened.card, table, LABEL, "1"), opened.card, table).inputs[2]
    assert made_so.fitted is Fit.RANGE
    assert still_fits(made_so, table)
    assert not still_fits(made_so, half) or made.frame["Age"][::2].min() == 18


def test_one_hot_first_is_an_order_too(tmp_path, made, table):
    """As a course that many follow makes them: geography first, then the rest in order."""
    raw = made.frame.drop(columns=[*DROPPED, LABEL])
    geography = OneHotEncoder(sparse_output=False).fit_transform(raw[["Geography"]])
    gender = (raw["Gender"] == "Male").astype(float)
    rest = raw.drop(columns="Geography").assign(Gender=gender)
    rows = StandardScaler().fit_transform(np.hstack([geography, rest.to_numpy(float)]))
    model = LogisticRegression(max_iter=2_000).fit(rows, made.frame[LABEL])
    joblib.dump(model, tmp_path / "m.joblib")
    opened = open_model(tmp_path / "m.joblib")
    _, found = offered(opened, table, match(opened.card, table, LABEL, "1"))
    first = next(offer for offer in found if offer.key == "one-hot-first+standardise")
    assert first.accuracy == pytest.approx(model.score(rows, made.frame[LABEL]), abs=1e-9)
