"""Numbers that authors gave to values, and scalers: stated, found, or asked for, never assumed."""

import json
import re

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import LabelEncoder, StandardScaler

from fairdesk.app.audit import Question, plan_of
from fairdesk.audit.runs.inspection import Subject, inspect, numbered_ways
from fairdesk.data.table import ColumnReading, Kind
from fairdesk.errors import ModelError, SpecError
from fairdesk.wording import inspected
from tests.audit.runs.test_inspection import Here

LEVELS = ("low", "medium", "high", "very high")


def people(rows=600, seed=5):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.integers(20, 70, rows),
            "income": rng.normal(3000, 800, rows).round(1),
            "sex": rng.choice(["F", "M"], rows),
            "skill": rng.choice(LEVELS, rows),
        }
    )
    steps = table["skill"].map(LEVELS.index)
    chance = table["income"] / 800 + steps + 1.5 * (table["sex"] == "M") + rng.normal(0, 0.7, rows)
    table["ok"] = (chance > chance.median()).astype(int)
    return table


def saved(folder, table, codes, inputs=("age", "income", "sex", "skill"), scaler=None, named=True):
    """Train on numbers as an author would, and save the table, the model and its scaler."""
    numbers = table[list(inputs)].copy()
    for column, given in codes.items():
        numbers[column] = numbers[column].map(given)
    numbers = numbers if named else numbers.to_numpy(float)
    if scaler is not None:
        joblib.dump(scaler.fit(numbers), folder / "scaler.joblib")
        numbers = scaler.transform(numbers)
    model = LogisticRegression(max_iter=2000).fit(numbers, table["ok"])
    joblib.dump(model, folder / "model.joblib")
    table.to_csv(folder / "t.csv", index=False)
    right = float((model.predict(numbers) == table["ok"]).mean())
    return {
        "data": folder / "t.csv",
        "model": folder / "model.joblib",
        "label": "ok",
        "favourable": "1",
    }, right


def looked(subject):
    worker, asked = Here(), Subject(**subject)
    return worker, asked, inspect(worker, asked, lambda _sentence: None)


def question(subject, **more):
    return Question(Subject(**subject), protected=("sex",), runs=(), title="", **more)


def written(path, content):
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


CODINGS = {
    "two values the other way round": {"sex": {"F": 1, "M": 0}, "skill": None},
    "levels by hand, from 1": {"sex": None, "skill": {v: i for i, v in enumerate(LEVELS, 1)}},
    "most frequent first": {"sex": None, "skill": "frequency"},
}


@pytest.fixture(params=CODINGS)
def coded(request, tmp_path):
    """An author's codes, of which one column's are not in alphabetical order."""
    table, codes = people(), {}
    for column, given in CODINGS[request.param].items():
        values = sorted(set(table[column]))
        if given == "frequency":
            values = [*table[column].value_counts().index]
        places = {value: place for place, value in enumerate(values)}
        codes[column] = given if isinstance(given, dict) else places
    subject, right = saved(tmp_path, table, codes)
    return subject, right, codes


def test_no_audit_begins_on_guessed_numbers(coded):
    subject, right, _ = coded
    _, _, found = looked(subject)
    assert found.mapping.guessed == ("sex", "skill")
    assert found.proof.accuracy < right
    with pytest.raises(SpecError) as refused:
        plan_of(question(subject), found).spec()
    assert refused.value.setting == "codes"
    assert all(option in str(refused.value) for option in ("--codes", "--accept-guesses"))
    accepted = plan_of(question(subject, accept_guesses=True), found).spec()
    assert accepted.mapping.guessed == ("sex", "skill")


def test_stated_numbers_are_used(coded, tmp_path):
    subject, right, codes = coded
    _, _, found = looked({**subject, "codes": written(tmp_path / "c.json", codes)})
    assert found.proof.accuracy == right
    assert plan_of(question(subject), found).spec().mapping.guessed == ()


def test_numbers_named_after_the_model_are_found_next_to_it(coded, tmp_path):
    subject, right, codes = coded
    beside = written(tmp_path / "model.codes.json", codes)
    _, _, found = looked(subject)
    assert (found.proof.accuracy, found.mapping.guessed) == (right, ())
    assert [each.path for each in found.card.companions] == [str(beside)]


def test_the_orders_that_authors_use_are_compared_and_none_is_chosen(coded):
    subject, right, codes = coded
    worker, asked, found = looked(subject)
    tried = numbered_ways(worker, asked, found)
    assert [each.column for each in tried] == ["sex", "skill"]
    for each in tried:
        assert any(order.codes == codes[each.column] for order in each.orders)
    best = max((o for each in tried for o in each.orders), key=lambda order: order.accuracy)
    assert best.accuracy == right
    assert all(0 <= order.calibration <= 1 for each in tried for order in each.orders)
    assert found.mapping.guessed == ("sex", "skill")
    shown = inspected.summary(found, None, (), tried)
    assert f"{100 * right:.1f}" in shown
    assert "--codes" in shown
    listed = inspected.figures(found, None, (), tried)["numberings"]
    assert {"title", "codes", "accuracy", "auc", "calibration"} < set(listed[0]["orders"][0])


def test_values_in_their_order_are_numbered_from_0(tmp_path):
    codes = {"skill": {value: place for place, value in enumerate(LEVELS)}}
    subject, right = saved(tmp_path, people(), codes, inputs=("income", "skill"))
    given = written(tmp_path / "c.json", {"Skill": LEVELS})
    assert looked({**subject, "codes": given})[2].proof.accuracy == right


@pytest.mark.parametrize(
    "content",
    [{"sexx": {"F": 1, "M": 0}}, {"age": {"1": 1}}, {"sex": 1}, {"sex": {"F": "one"}}],
)
def test_numbers_that_nothing_is_made_with_are_refused(tmp_path, content):
    subject, _ = saved(tmp_path, people(), {"sex": {"F": 1, "M": 0}}, inputs=("age", "sex"))
    with pytest.raises(SpecError) as refused:
        looked({**subject, "codes": written(tmp_path / "c.json", content)})
    assert refused.value.setting == "codes"


# -- scalers with a mapping file --------------------------------------------------------------

CODES = {"sex": {"F": 1, "M": 0}}
BY_HAND = {"input": "sex", "from": "sex", "codes": {"F": 1, "M": 0}}


@pytest.mark.parametrize("named", [True, False])
def test_mapped_inputs_are_scaled_as_the_others(tmp_path, named):
    inputs = ("age", "income", "sex")
    subject, right = saved(
        tmp_path, people(), CODES, inputs=inputs, scaler=StandardScaler(), named=named
    )
    mapped = {**BY_HAND, "input": "sex" if named else "input 3"}
    renamed = {"input": "income" if named else "input 2", "from": "income"}
    said = written(tmp_path / "m.json", {"inputs": [mapped, renamed]})
    companions = (
        tmp_path / "scaler.joblib",
        *([] if named else [written(tmp_path / "features.json", ["age", "income", "sex"])]),
    )
    if not named:
        said.write_text(said.read_text().replace("input 2", "income").replace("input 3", "sex"))
    _, _, found = looked({**subject, "companions": companions, "map": said})
    assert all(len(item.then) == 2 for item in found.mapping.inputs)
    assert found.proof.accuracy == right


def test_an_input_that_the_proposal_had_nothing_for_is_scaled_too(tmp_path):
    table = people()
    inputs = ("age", "income", "sex")
    subject, right = saved(tmp_path, table, CODES, inputs=inputs, scaler=StandardScaler())
    table.rename(columns={"income": "monthly_pay"}).to_csv(tmp_path / "t.csv", index=False)
    said = {"inputs": [BY_HAND, {"input": "income", "from": "monthly_pay"}]}
    _, _, found = looked(
        {
            **subject,
            "companions": (tmp_path / "scaler.joblib",),
            "map": written(tmp_path / "m.json", said),
        }
    )
    assert found.proof.accuracy == right


def test_a_constant_is_scaled_as_its_input_was(tmp_path):
    table = people()
    table["year"] = np.random.default_rng(0).integers(2015, 2025, len(table))
    subject, _ = saved(
        tmp_path, table, {}, inputs=("age", "income", "year"), scaler=StandardScaler()
    )
    table.drop(columns="year").to_csv(tmp_path / "t.csv", index=False)
    said = written(tmp_path / "m.json", {"inputs": [{"input": "year", "value": 2020}]})
    _, _, found = looked({**subject, "companions": (tmp_path / "scaler.joblib",), "map": said})
    (sent,) = {row.sent[2] for row in found.proof.sample}
    scaler = joblib.load(tmp_path / "scaler.joblib")
    assert sent == pytest.approx((2020 - scaler.mean_[2]) / scaler.scale_[2])


def test_a_scaler_that_is_used_for_a_part_of_its_columns_is_refused(tmp_path):
    subject, _ = saved(tmp_path, people(), {}, inputs=("age", "income"), scaler=StandardScaler())
    said = written(tmp_path / "m.json", {"inputs": [{"input": "income", "then": []}]})
    with pytest.raises(Exception, match="not scaled"):
        looked({**subject, "companions": (tmp_path / "scaler.joblib",), "map": said})


@pytest.mark.parametrize("columns", [4, 2])
def test_a_scaler_next_to_the_model_is_offered(tmp_path, columns):
    # whether the table fits the model without it or not
    table = people()[[*["age", "income", "sex", "skill"][:columns], "ok"]]
    inputs = ("age", "income")
    subject, right = saved(tmp_path, table, {}, inputs=inputs, scaler=StandardScaler())
    try:
        said = " ".join(looked(subject)[2].notes)
    except ModelError as error:
        said = str(error)
    assert re.search(r"scaler\.joblib.*--companion", said)
    _, _, found = looked({**subject, "companions": (tmp_path / "scaler.joblib",)})
    assert found.proof.accuracy == right
    assert not any("--companion" in note for note in found.notes)


# -- which columns are a network's inputs without names ----------------------------------------


def shifted(folder, *, label="ok", outcome="later", telling=True):
    """Save a model without names, of whose inputs one looks like an identifier."""
    rng = np.random.default_rng(2)
    table = people()
    table["client_id"] = rng.permutation(len(table)) + 10_000.0
    table = table[["age", "client_id", "income", "ok"]].rename(columns={"ok": label})
    table["client_id"] = [f"{number:.0f}" for number in table["client_id"]]
    changed = rng.random(len(table)) < (0.01 if telling else 0.4)
    table[outcome] = np.where(changed, 1 - table[label], table[label])
    numbers = table[["age", "client_id", "income"]].to_numpy(float)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(numbers, table[label])
    joblib.dump(model, folder / "model.joblib")
    table.to_csv(folder / "t.csv", index=False)
    subject = {
        "data": folder / "t.csv",
        "model": folder / "model.joblib",
        "label": label,
        "favourable": "1",
    }
    return subject, float((model.predict(numbers) == table[label]).mean())


def columns_of(found):
    return [item.attribute for item in found.mapping.inputs]


def test_an_excluded_column_is_an_input_rather_than_another_outcome(tmp_path):
    subject, right = shifted(tmp_path)
    _, _, found = looked(subject)
    assert columns_of(found) == ["age", "client_id", "income"]
    assert found.proof.accuracy == right
    said = " ".join(found.notes)
    assert "Excluded as identifiers, but taken by the model: “client_id”" in said
    assert "without “later”" in said


def test_where_several_columns_may_be_no_input_it_is_asked(tmp_path):
    subject, right = shifted(tmp_path, label="recid_2", outcome="recid_3", telling=False)
    with pytest.raises(ModelError) as asked:
        looked(subject)
    assert all(f"“{name}”" in str(asked.value) for name in ("client_id", "recid_3"))
    names = ("age", "client_id", "income")
    said = [{"input": f"input {i}", "from": name} for i, name in enumerate(names, 1)]
    mapped = written(tmp_path / "m.json", {"inputs": said})
    _, _, found = looked({**subject, "map": mapped})
    assert columns_of(found) == [*names]
    assert found.proof.accuracy == right


def test_another_outcome_that_must_be_an_input_is_named(tmp_path):
    subject, _ = shifted(tmp_path)
    table = pd.read_csv(tmp_path / "t.csv").drop(columns="client_id")
    table.to_csv(tmp_path / "t.csv", index=False)
    _, _, found = looked(subject)
    assert columns_of(found) == ["age", "income", "later"]
    assert any("“later” almost states the outcome" in note for note in found.notes)


def test_a_column_whose_type_is_stated_is_not_excluded(tmp_path):
    subject, _ = shifted(tmp_path)
    reading = {"client_id": ColumnReading(numeric=True)}
    _, _, found = looked({**subject, "columns": reading})
    assert found.table.column("client_id").kind is Kind.INTEGER


# -- inputs that are called after what was made of a column ------------------------------------


@pytest.mark.parametrize("name", ["Sex_encoded", "encoded_sex", "sex_le"])
def test_an_encoder_serves_an_input_that_is_called_after_its_column(tmp_path, name):
    table = people().rename(columns={"sex": "Sex"})
    encoder = LabelEncoder().fit(table["Sex"])
    codes = {value: int(place) for place, value in enumerate(encoder.classes_)}
    subject, right = saved(tmp_path, table, {"Sex": codes}, inputs=("age", "income", "Sex"))
    numbers = table[["age", "income", "Sex"]].assign(Sex=encoder.transform(table["Sex"]))
    model = LogisticRegression(max_iter=2000)
    model.fit(numbers.rename(columns={"Sex": name}), table["ok"])
    joblib.dump(model, tmp_path / "model.joblib")
    joblib.dump(encoder, tmp_path / "sex_encoder.pkl")
    _, _, found = looked({**subject, "companions": (tmp_path / "sex_encoder.pkl",)})
    assert columns_of(found) == ["age", "income", "Sex"]
    assert (found.proof.accuracy, found.mapping.guessed) == (right, ())


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("income_per_age", "“income” / “age”"),
        ("age_band", "bands of “age”"),
        ("log_income", "the logarithm of “income”"),
        ("bmi", "computed as it was for training"),
    ],
)
def test_an_input_that_the_authors_code_computed_is_explained(tmp_path, name, formula):
    table = people()
    numbers = table[["age", "income"]].assign(**{name: table["income"] / table["age"]})
    subject, _ = saved(tmp_path, table, {}, inputs=("age", "income"))
    model = LogisticRegression(max_iter=2000).fit(numbers, table["ok"])
    joblib.dump(model, tmp_path / "model.joblib")
    with pytest.raises(ModelError) as refused:
        looked(subject)
    assert formula in str(refused.value)
    table.assign(**{name: numbers[name]}).to_csv(tmp_path / "t.csv", index=False)
    assert looked(subject)[2].proof.accuracy == (model.predict(numbers) == table["ok"]).mean()
