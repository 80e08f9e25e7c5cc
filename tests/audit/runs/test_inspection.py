"""Data and model opened and fitted together, with a worker that opens them in this process."""

import json

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from fairdesk.audit.runs.inspection import Subject, inspect
from fairdesk.data.formats.reading import read_table
from fairdesk.data.table import ColumnReading
from fairdesk.errors import DataError, ModelError, SpecError
from fairdesk.models.inputs.input_check import check
from fairdesk.models.model import Fit
from fairdesk.models.open import open_model
from fairdesk.models.pickles.contents import look_into
from fairdesk.wording import inspected
from fairdesk.wording.inspected import figures, summary
from tests import phrases
from tests.data import making

pytestmark = pytest.mark.usefixtures("shared_guests")


class Here:
    """Does in this process what a worker asks of its guest."""

    def __init__(self):
        self.did = []

    def read_table(self, path, dialect=None):
        return read_table(path, dialect)

    def look_into(self, path):
        self.did.append(("look", path.name))
        return look_into(path)

    def open_model(self, path, *, trusted, output, companions, command):
        assert command is None
        self.did.append(("open", path.name))
        self.opened = open_model(path, trusted=trusted, output=output, companions=companions)
        return self.opened.card

    def prove(self, mapping, table, label, favourable):
        return check(self.opened, table, mapping, label, favourable)


def seen(worker=None, **subject):
    return inspect(worker or Here(), Subject(**subject), lambda _sentence: None)


def scored(path):
    rows = [(i % 2, i / 20, "yes" if i >= 10 else "no") for i in range(20)]
    lines = ["sex,score,paid", *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_column_of_scores_becomes_decisions_at_a_threshold(tmp_path):
    subject = {"data": scored(tmp_path / "t.csv"), "label": "paid", "favourable": "yes"}
    exact = seen(**subject, predictions="score", threshold=0.5)
    assert "The decisions are in the column “score”; no model" in summary(exact, None)
    assert (exact.decision, exact.proof.accuracy) == (">= 0.5", 1.0)
    assert seen(**subject, predictions="score", threshold=0.75).proof.accuracy == 0.75
    below = seen(**subject, predictions="score", threshold=0.5, model_favourable="< 0.1")
    assert (below.decision, below.proof.accuracy) == ("< 0.5", 0.0)


def test_a_threshold_of_decisions_by_name_is_refused(tmp_path):
    with pytest.raises(SpecError, match=phrases.NO_VALUE):
        seen(
            data=scored(tmp_path / "t.csv"),
            label="sex",
            favourable="1",
            predictions="paid",
            threshold=0.5,
        )


def test_the_sheet_that_is_named_is_read_though_the_first_is_no_table(tmp_path):
    people = [["age", "paid", "said"], [30, "no", "no"], [40, "yes", "yes"], [50, "yes", "no"]]
    other = [["a", "b"], [1, 2], [3, 4], [5, 6]]
    book = making.workbook(tmp_path / "b.xlsx", {"other": other, "people": people})
    subject = {"data": book, "label": "paid", "favourable": "yes", "predictions": "said"}
    assert seen(**subject, table="people").proof.rows == 3
    with pytest.raises(DataError, match="in the table that was read, “other”") as caught:
        seen(**subject)
    assert caught.value.remedy == "Choose another: “people”."


def test_of_many_open_inputs_two_are_an_example(tmp_path):
    model = tmp_path / "m.joblib"
    rows = np.random.default_rng(0).normal(size=(20, 9))
    joblib.dump(LogisticRegression().fit(rows, rows[:, 0] > 0), model)
    with pytest.raises(ModelError) as caught:
        seen(data=scored(tmp_path / "t.csv"), label="paid", favourable="yes", model=model)
    assert caught.value.remedy.count('"input": "input ') == 2
    assert caught.value.remedy.endswith(", and 7 more like these.")
    assert "--companion" in caught.value.remedy


def test_an_open_input_comes_with_an_example_of_how_to_say_it(tmp_path):
    model = tmp_path / "m.joblib"
    rows = np.array([[i % 2, i] for i in range(20)], dtype=float)
    named = pd.DataFrame(rows, columns=["sex", "points"])
    joblib.dump(LogisticRegression().fit(named, rows[:, 1] >= 10), model)
    subject = {"data": scored(tmp_path / "t.csv"), "label": "paid", "favourable": "yes"}
    with pytest.raises(ModelError, match="no column for “points”") as caught:
        seen(**subject, model=model)
    example = '{"inputs": [{"input": "points", "from": "score"}]}'
    assert caught.value.remedy.endswith(f"--map, like {example}.")
    said = tmp_path / "map.json"
    said.write_text(example, encoding="utf-8")
    assert seen(**subject, model=model, map=said).mapping.inputs[1].attribute == "score"


def test_an_engineered_column_that_is_missing_is_a_gap_and_no_constant(tmp_path):
    """What the table does not have is not filled in with a number that looks right."""
    model = tmp_path / "m.joblib"
    rows = np.random.default_rng(0).random((40, 3))
    named = pd.DataFrame(rows, columns=["score", "score_per_year", "log_income"])
    joblib.dump(LogisticRegression().fit(named, rows[:, 1] >= 0.5), model)
    subject = {"data": scored(tmp_path / "t.csv"), "label": "paid", "favourable": "yes"}
    with pytest.raises(ModelError, match="no column for “score_per_year”, “log_income”") as caught:
        seen(**subject, model=model)
    example = caught.value.remedy.partition("like ")[2].removesuffix(".")
    entries = json.loads(example)["inputs"]
    assert [(each["input"], each["value"]) for each in entries] == [
        ("score_per_year", None),
        ("log_income", None),
    ]
    assert all("filled in" in each["why"] for each in entries)
    said = tmp_path / "map.json"
    said.write_text(example, encoding="utf-8")
    with pytest.raises(SpecError, match="“score_per_year”, “log_income”") as caught:
        seen(**subject, model=model, map=said)
    assert "computed as they were for training" in caught.value.remedy
    entries[0]["from"], entries[1]["value"] = "sex", 10.5
    said.write_text(json.dumps({"inputs": entries}), encoding="utf-8")
    mapping = seen(**subject, model=model, map=said).mapping
    assert mapping.inputs[1].attribute == "sex"
    assert mapping.inputs[2].constant == 10.5


def test_a_usual_preparation_is_offered_and_taken_when_it_is_named(tmp_path):
    """By the option or in the mapping file; a model that brings its scaler needs none."""
    rng = np.random.default_rng(4)
    rows = np.column_stack([rng.normal(50, 12, 400), rng.normal(4e4, 9e3, 400)]).round(2)
    paid = np.where((rows - [50, 4e4]) @ [1 / 12, 1 / 9e3] > 0, "yes", "no")
    data = tmp_path / "t.csv"
    pd.DataFrame({"age": rows[:, 0], "income": rows[:, 1], "paid": paid}).to_csv(data, index=False)
    scaler = StandardScaler().fit(rows)
    model = tmp_path / "m.joblib"
    joblib.dump(LogisticRegression().fit(scaler.transform(rows), paid), model)
    subject = {"data": data, "label": "paid", "favourable": "yes", "model": model}
    found = seen(**subject)
    assert all(item.then == () for item in found.mapping.inputs)
    assert "standardise" in [offer.key for offer in found.offers]
    told = summary(found, None)
    assert "\nIt offers: decisions, scores, " in told
    assert f"--prepare standardise: {phrases.STANDARDISE}" in told
    assert "is not proven to be the right one" in told
    assert figures(found, None)["preparations"][0]["prepare"] == found.offers[0].key
    chosen = seen(**subject, prepare="standardise")
    assert chosen.proof.accuracy > 0.97 > found.proof.accuracy + 0.1
    assert [item.fitted for item in chosen.mapping.inputs] == [Fit.STANDARDISE] * 2
    assert chosen.offers == ()
    assert phrases.FITTED_ON_TABLE in summary(chosen, None)
    said = tmp_path / "map.json"
    said.write_text('{"prepare": "standardise"}', encoding="utf-8")
    assert seen(**subject, map=said).mapping.inputs == chosen.mapping.inputs
    # what is printed as the mapping makes the same again
    said.write_text(json.dumps(figures(chosen, None)["mapping"]), encoding="utf-8")
    assert seen(**subject, map=said).mapping.inputs == chosen.mapping.inputs
    beside = tmp_path / "scaler.joblib"
    joblib.dump(scaler, beside)
    assert seen(**subject, companions=(beside,)).offers == ()
    # a process in which the model's code has run looks into no other file
    worker = Here()
    assert beside.name in "".join(seen(worker, **subject).notes)
    assert worker.did == [("look", model.name), ("look", beside.name), ("open", model.name)]
    with pytest.raises(SpecError, match="None of the model’s inputs can be scaled"):
        seen(**subject, companions=(beside,), prepare="standardise")


def test_it_is_told_which_of_several_outputs_was_taken(tmp_path):
    keras = pytest.importorskip("keras")
    given = keras.Input((2,))
    heads = [keras.layers.Dense(1, "sigmoid", name=name)(given) for name in ("pay", "leave")]
    model = tmp_path / "m.keras"
    keras.Model(given, heads).save(model)
    subject = {"data": scored(tmp_path / "t.csv"), "label": "paid", "favourable": "yes"}
    told = seen(**subject, model=model).notes[0]
    assert told == "The model has several outputs: “pay”, “leave”. “pay” was chosen: check it."
    assert "several outputs" not in " ".join(seen(**subject, model=model, output="leave").notes)


ODD = {"unknown": None, "$45": 45.0, "O": None, "1 200": 1200.0, "1.234,5": 1234.5}


def ages_in_order(tmp_path):
    """Write a table and a model of ages; and the same table with five odd cells."""
    rng = np.random.default_rng(16)
    age, score = rng.integers(1, 90, 400), rng.normal(50, 10, 400)
    good = (age + score / 5 > 55) ^ (rng.random(400) < 0.1)
    model = LogisticRegression(max_iter=2000).fit(np.column_stack((age, score)), good)
    joblib.dump(model, tmp_path / "model.pkl")
    cells = [*map(str, age)]
    for name in ("clean.csv", "odd.csv"):
        lines = ["age;score;paid"]
        lines += [
            f"{cell};{s:.3f};{'yes' if g else 'no'}"
            for cell, s, g in zip(cells, score, good, strict=True)
        ]
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        for place, text in enumerate(ODD):
            cells[60 * place + 7] = text
    return {"label": "paid", "favourable": "yes", "model": tmp_path / "model.pkl"}


def test_odd_cells_do_not_change_what_the_model_is_fed(tmp_path):
    asked = ages_in_order(tmp_path)
    clean = seen(data=tmp_path / "clean.csv", **asked)
    odd = seen(data=tmp_path / "odd.csv", **asked)
    assert clean.mapping == odd.mapping
    assert clean.proof.accuracy > 0.85
    assert odd.proof.left_out == len(ODD)
    assert odd.proof.rows == clean.proof.rows - len(ODD)
    assert abs(odd.proof.accuracy - clean.proof.accuracy) < 0.01
    told = inspected.figures(odd, None)["data"]["odd_cells"]["age"]
    assert {each["text"]: each["proposed"] for each in told} == ODD
    assert [each["lines"] for each in told] == [(60 * place + 9,) for place in range(len(ODD))]
    text = inspected.summary(odd, None)
    assert "“unknown” (line 9), “$45” (line 69)" in text
    assert "--odd-cells “age=missing”" in text


def test_the_auditor_decides_how_columns_are_read(tmp_path):
    asked = ages_in_order(tmp_path)
    asked["data"] = tmp_path / "odd.csv"
    mended = seen(columns={"age": ColumnReading(odd="mended", cells={"O": 0.0})}, **asked)
    values = {each.text: each.value for each in mended.table.column("age").odd}
    assert values == {**ODD, "O": 0.0}
    assert mended.proof.left_out == 1
    # what was decided of the first column says nothing of the plain ones
    assert mended.table.column("score").odd == ()
    with pytest.raises(DataError, match=phrases.NO_ODD_CELL):
        seen(columns={"age": ColumnReading(cells={"Q": 0.0})}, **asked)
    with pytest.raises(DataError, match="no column “agE”"):
        seen(columns={"agE": ColumnReading(odd="mended")}, **asked)
    # names whose places in the alphabet would be fed are not fed in silence
    with pytest.raises(ModelError, match="“age” as a number"):
        seen(columns={"age": ColumnReading(numeric=False)}, **asked)
