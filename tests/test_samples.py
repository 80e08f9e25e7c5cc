"""The built-in samples are what their manifest says, and their models know something."""

from __future__ import annotations

import csv

import msgspec
import numpy as np
import pytest

from fairdesk.audit.catalogue.methods import parse_options
from fairdesk.data.formats.reading import read_table
from fairdesk.data.table import Table
from fairdesk.files import sha256
from fairdesk.models.inputs.input_check import check
from fairdesk.models.model import Mapping, OpenedModel
from fairdesk.models.open import open_model
from fairdesk.samples import Sample, SampleModel, is_sample_file, samples
from tests.models.matching import match

ADULT, LOANAPP = samples()
EVERY_MODEL = [
    pytest.param(sample, model, id=model.file) for sample in samples() for model in sample.models
]


def records(sample: Sample) -> list[dict[str, str]]:
    with sample.data_path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize("sample", samples(), ids=lambda sample: sample.key)
def test_data_file_is_as_the_manifest_says(sample):
    assert sha256(sample.data_path) == sample.sha256
    rows = records(sample)
    assert len(rows) == sample.rows
    assert {sample.label, *sample.protected} <= rows[0].keys()
    outcomes = {row[sample.label] for row in rows}
    assert len(outcomes) == 2
    assert sample.favourable in outcomes
    for name in sample.protected:
        assert len({row[name] for row in rows} - {""}) >= 2


@pytest.mark.parametrize(("sample", "model"), EVERY_MODEL)
def test_model_file_is_as_the_manifest_says(sample: Sample, model: SampleModel):
    path = sample.model_path(model)
    assert sha256(path) == model.sha256
    assert path.stat().st_size < 300_000
    assert is_sample_file(model.sha256)


def test_only_sample_models_count_as_samples():
    assert not is_sample_file("0" * 64)
    assert not is_sample_file(ADULT.sha256), "a data file is no model"


def test_adult_keeps_its_original_labels_and_drops_the_survey_weight():
    rows = records(ADULT)
    assert ADULT.rows == 5_000
    assert ",".join(rows[0]) == (
        "age,workclass,education,education_num,marital_status,occupation,relationship,race,sex,"
        "capital_gain,capital_loss,hours_per_week,native_country,income"
    )
    assert {row["sex"] for row in rows} == {"Female", "Male"}
    assert {row["income"] for row in rows} == {"<=50K", ">50K"}
    assert not any(cell in ("?", "") for row in rows for cell in row.values())


def test_loanapp_has_words_for_codes_and_keeps_missing_cells_empty():
    rows = records(LOANAPP)
    assert LOANAPP.rows == 1_989
    assert {row["race"] for row in rows} == {"white", "black", "hispanic"}
    assert {row["sex"] for row in rows} == {"female", "male", ""}
    approved = {
        race: np.mean([row["approved"] == "yes" for row in rows if row["race"] == race])
        for race in ("white", "hispanic", "black")
    }
    assert approved == pytest.approx({"white": 0.908, "hispanic": 0.766, "black": 0.675}, abs=5e-4)


@pytest.mark.parametrize("sample", samples(), ids=lambda sample: sample.key)
def test_every_sample_tells_its_source_and_licence(sample):
    text = sample.data_path.with_name("SOURCE.md").read_text(encoding="utf-8")
    assert "MIT licence" in text
    for file in (sample.data, *(model.file for model in sample.models)):
        assert f"`{file}`" in text


def opened(sample: Sample, model: SampleModel) -> tuple[Table, OpenedModel, Mapping]:
    """Open one of a sample's models over the sample's table, as an audit does."""
    table = read_table(sample.data_path)
    model_file = open_model(sample.model_path(model), trusted=True)
    return table, model_file, match(model_file.card, table, sample.label, sample.favourable)


@pytest.mark.parametrize(("sample", "model"), EVERY_MODEL)
def test_model_beats_always_guessing(sample: Sample, model: SampleModel):
    table, model_file, mapping = opened(sample, model)
    proof = check(model_file, table, mapping, sample.label, sample.favourable)
    assert proof.rows + proof.left_out == sample.rows
    assert proof.accuracy > proof.majority + 0.03


def test_onnx_network_answers_as_the_keras_network():
    answers = []
    for model in ADULT.models[:2]:
        table, model_file, _ = opened(ADULT, model)
        inputs = list(np.delete(table.codes, table.index(ADULT.label), axis=1).T)
        answers.append(model_file.scores(inputs))
    assert np.allclose(*answers, atol=1e-5)


@pytest.mark.parametrize("sample", samples(), ids=lambda sample: sample.key)
def test_demonstration_options_are_the_methods_own(sample):
    options = parse_options("maft", sample.options)
    assert sample.options.items() <= msgspec.structs.asdict(options).items()
