"""What a model's encoder knows settles how a column is read: held against the model itself.

Each table is written as CSV; the model is trained on it as its author read it. What FairDesk reads
and sends must give the author's own decisions, row by row.
"""

import json

import joblib
import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import LabelEncoder, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from fairdesk.audit.runs.inspection import Subject, inspect
from fairdesk.data.table import AS_THEY_ARE, ColumnReading, Kind
from fairdesk.models.inputs.input_check import attributes_for
from fairdesk.models.inputs.one_hot import Values

ROWS = 400
RNG = np.random.default_rng(11)
ENCODERS = {
    "one-hot": lambda: OneHotEncoder(handle_unknown="ignore"),
    "strict": lambda: OneHotEncoder(handle_unknown="error"),
    "ordinal": lambda: OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
}


def people(**columns):
    """Draw a table of texts, as the file has them; the outcome hangs on the last column."""
    table = pd.DataFrame({"age": RNG.integers(18, 70, ROWS).astype(str)})
    for name, values in columns.items():
        table[name] = RNG.choice(np.array(values, dtype=object), ROWS)
    last = table.iloc[:, -1]
    weight = {value: i % 2 for i, value in enumerate(sorted(last.dropna().unique()))}
    points = last.map(weight).fillna(0).astype(float) + RNG.normal(0, 0.4, ROWS)
    return table.assign(ok=np.where(points > 0.5, "1", "0"))


def pipeline(encoder, names, numbers=("age",), last=None):
    chosen = make_column_transformer((StandardScaler(), list(numbers)), (encoder, list(names)))
    return make_pipeline(chosen, last or DecisionTreeClassifier(max_depth=7))


def written(tmp_path, table, model, form="csv"):
    path = tmp_path / f"table.{form}"
    if form == "csv":
        table.to_csv(path, index=False)
    else:
        parquet.write_table(pa.Table.from_pandas(table, preserve_index=False), path)
    joblib.dump(model, tmp_path / "model.joblib")
    return Subject(path, "ok", "1", tmp_path / "model.joblib", model_favourable="1", trusted=True)


def decisions(worker, found):
    """Return the model's decision for each row, as FairDesk asks it."""
    attributes = attributes_for(found.mapping, found.table)
    places = [found.table.index(attribute.name) for attribute in attributes]
    asked = worker.predict(found.mapping, attributes, found.table.codes[:, places])
    return (asked[:, 0] > 0.5).astype(int)


def agreed(worker, tmp_path, table, model, as_read=None, form="csv", **subject):
    """Inspect, hold the decisions against the model's own, and give what came of it."""
    asked = written(tmp_path, table, model, form)
    found = inspect(worker, msgspec.structs.replace(asked, **subject), lambda _: None)
    own = model.predict(table if as_read is None else as_read).astype(int)
    np.testing.assert_array_equal(decisions(worker, found), own)
    assert found.proof.left_out == 0
    return found


def trained(table, names, encoder="strict", as_read=None, numbers=("age",)):
    seen = table if as_read is None else as_read
    model = pipeline(ENCODERS[encoder](), names, numbers)
    return model.fit(seen[[*numbers, *names]], table["ok"])


@pytest.mark.parametrize(
    ("encoder", "values"),
    [
        ("one-hot", ("01", "02", "1", "10")),
        ("strict", ("007", "07", "7", "70")),
        ("ordinal", ("00", "01", "12")),
        ("one-hot", ("1.0", "2.0", "3.0")),
        ("ordinal", ("1.50", "2.50", "10.00")),
        ("strict", ("1", "2", "3")),
        ("one-hot", ("EU", "NA", "None")),
        ("strict", ("N/A", "null", "nan", "yes")),
        ("ordinal", ("1.0", "2.0", "NA")),
        ("strict", ("low", "medium", "NULL")),
    ],
)
def test_cells_are_sent_as_the_encoder_knows_them(worker, tmp_path, encoder, values):
    table = people(sex=("F", "M"), zone=values)
    found = agreed(worker, tmp_path, table, trained(table, ("sex", "zone"), encoder))
    zone = found.table.column("zone")
    assert set(zone.values) == set(values)
    assert zone.missing == 0
    assert found.table.counts("zone") == table["zone"].value_counts().to_dict()


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("known", ["{}.0", "{}.00", "0{}"])
def test_a_number_is_sent_as_the_encoder_spells_it(worker, tmp_path, form, known):
    table = people(sex=("F", "M"), job=("1", "2", "3"))
    seen = table.assign(job=table["job"].map(known.format))
    model = trained(table, ("sex", "job"), as_read=seen)
    table = table.assign(job=table["job"].astype(int))
    found = agreed(worker, tmp_path, table, model, as_read=seen, form=form)
    assert found.mapping.inputs[-1].texts == {v: known.format(v) for v in ("1", "2", "3")}


def test_two_spellings_of_a_number_that_are_both_known_are_two_values(worker, tmp_path):
    table = people(sex=("F", "M"), job=("1", "1.0", "2"))
    found = agreed(worker, tmp_path, table, trained(table, ("sex", "job")))
    assert found.mapping.inputs[-1].texts == {}


def test_a_missing_cell_is_sent_as_python_wrote_it(worker, tmp_path):
    table = people(sex=("F", "M"), city=("Rome", "Oslo", np.nan))
    seen = table.assign(city=table["city"].fillna("nan"))
    model = trained(table, ("sex", "city"), as_read=seen)
    found = agreed(worker, tmp_path, table, model, as_read=seen)
    assert found.mapping.inputs[-1].missing == "nan"
    assert found.table.column("city").missing > 0


def test_what_is_filled_before_the_encoder_stays_missing(worker, tmp_path):
    table = people(sex=("F", "M"), city=("Rome", "Oslo", "missing", np.nan))
    filled = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder())
    model = pipeline(filled, ("sex", "city")).fit(table.drop(columns="ok"), table["ok"])
    found = agreed(worker, tmp_path, table, model)
    assert found.mapping.inputs[-1].missing == ""


def test_a_mere_sign_stays_a_missing_cell_that_is_sent_as_that_sign(worker, tmp_path):
    table = people(sex=("F", "M"), work=("Private", "Gov", "?"))
    found = agreed(worker, tmp_path, table, trained(table, ("sex", "work")))
    assert found.table.column("work").missing == (table["work"] == "?").sum()
    assert found.mapping.inputs[-1].missing == "?"


def test_two_signs_that_the_encoder_tells_apart_are_values(worker, tmp_path):
    table = people(sex=("F", "M"), work=("Private", "Gov", "?", "--"))
    found = agreed(worker, tmp_path, table, trained(table, ("sex", "work")))
    assert found.table.column("work").missing == 0


@pytest.mark.parametrize("values", [("01", "1", "02", "12"), ("007", "07", "8")])
def test_a_model_that_takes_numbers_has_them_without_leading_zeros(worker, tmp_path, values):
    table = people(sex=("F", "M"), grade=values)
    seen = table.assign(grade=table["grade"].astype(int))
    model = trained(table, ("sex",), as_read=seen, numbers=("age", "grade"))
    found = agreed(worker, tmp_path, table, model, as_read=seen)
    assert found.table.column("grade").kind is Kind.INTEGER
    assert any("“grade”" in note for note in found.notes)


def test_columns_that_were_made_outside_the_model_by_their_names(worker, tmp_path):
    table = people(sex=("F", "M"), region=("EU", "NA", "None"))
    seen = pd.get_dummies(table[["sex", "region"]]).astype(float)
    model = LogisticRegression().fit(seen, table["ok"])
    found = agreed(worker, tmp_path, table, model, as_read=seen)
    assert set(found.table.column("region").values) == {"EU", "NA", "None"}


def test_columns_that_were_made_outside_the_model_of_numbers(worker, tmp_path):
    table = people(sex=("F", "M"), zone=("01", "1", "2"))
    numbers = table.assign(zone=table["zone"].astype(int))[["sex", "zone"]]
    seen = pd.get_dummies(numbers, columns=["sex", "zone"]).astype(float)
    model = LogisticRegression().fit(seen, table["ok"])
    found = agreed(worker, tmp_path, table, model, as_read=seen)
    assert found.table.column("zone").kind is Kind.INTEGER


def test_an_encoder_beside_the_model_knows_its_values(worker, tmp_path):
    table = people(age=("20", "30", "50"), region=("EU", "NA", "None"))
    encoder = LabelEncoder().fit(table["region"])
    seen = table.assign(region=encoder.transform(table["region"]))[["age", "region"]].astype(float)
    model = DecisionTreeClassifier(max_depth=7).fit(seen, table["ok"])
    joblib.dump({"region": encoder}, tmp_path / "encoders.joblib")
    found = agreed(worker, tmp_path, table, model, seen, companions=(tmp_path / "encoders.joblib",))
    assert set(found.table.column("region").values) == {"EU", "NA", "None"}


def test_the_auditors_word_goes_before(worker, tmp_path):
    table = people(sex=("F", "M"), zone=("01", "1", "2"))
    asked = written(tmp_path, table, trained(table, ("sex", "zone"), "one-hot"))
    asked = msgspec.structs.replace(asked, columns={"zone": ColumnReading(numeric=True)})
    found = inspect(worker, asked, lambda _: None)
    assert found.table.column("zone").kind is Kind.INTEGER
    assert found.table.source.dialect.columns == asked.columns


def test_what_was_decided_of_other_columns_is_kept_where_the_encoder_settles_one(worker, tmp_path):
    table = people(sex=("F", "M"), zone=("1.0", "2.0"))
    words = [" ".join(RNG.choice(["was", "late", "paid", "often"], 9)) for _ in range(ROWS)]
    table = table.assign(client=[f"c{i:05}" for i in range(ROWS)], said=words)
    asked = written(tmp_path, table, trained(table, ("sex", "zone"), "one-hot"))
    decided = {"client": ColumnReading(numeric=False)}
    found = inspect(worker, msgspec.structs.replace(asked, columns=decided), lambda _: None)
    assert found.table.column("zone").values == ("1.0", "2.0")
    assert found.table.column("client").kind is Kind.NOMINAL
    found = inspect(worker, msgspec.structs.replace(asked, text="sex"), lambda _: None)
    assert found.table.column("said").kind is Kind.IGNORED
    assert not any("“said”" in note for note in found.notes)


def test_cells_are_kept_as_they_are_where_nothing_tells(worker, tmp_path):
    table = people(sex=("F", "M"), region=("EU", "AS", "NA", "None"))
    model = trained(table, ("sex",))
    asked = written(tmp_path, table, model)
    assert inspect(worker, asked, lambda _: None).table.column("region").values == ("AS", "EU")
    found = agreed(worker, tmp_path, table, model, columns={"region": AS_THEY_ARE})
    assert found.table.column("region").values == ("AS", "EU", "NA", "None")
    assert found.table.column("region").missing == 0


@pytest.mark.parametrize(
    ("known", "text", "found"),
    [
        (("16.12000084", "7.5"), "16.12", "16.12000084"),
        (("16.12", "7.5"), "16.12000084", "16.12"),
        (("16.12", "16.12000084"), "16.120001", None),
        (("1.0", "True"), "1", None),
        (("1.0", "2.0"), "01", "1.0"),
        (("1.0", "2.0"), "one", None),
        (("1.0", "inf"), "1e400", "inf"),
    ],
)
def test_numbers_are_found_however_they_are_spelt(known, text, found):
    assert Values(known).same_number(text) == found


@pytest.mark.parametrize("cell", ["16.12", "16.12000084"])
def test_codes_of_numbers_that_single_precision_spelt(worker, tmp_path, cell):
    table = people(age=("20", "30", "50"), fare=("7.5", "16.12000084"))
    codes = {"7.5": 0, "16.12000084": 1}
    seen = table.assign(fare=table["fare"].map(codes))[["age", "fare"]].astype(float)
    model = DecisionTreeClassifier(max_depth=7).fit(seen, table["ok"])
    (tmp_path / "fare_codes.json").write_text(json.dumps({"fare": codes}))
    table = table.assign(fare=table["fare"].replace("16.12000084", cell))
    agreed(worker, tmp_path, table, model, seen, companions=(tmp_path / "fare_codes.json",))
