"""What a file is that was chosen by mistake as the model or the table, and what to do then."""

import bz2
import gzip
import io
import json
import lzma
import pickle
import tarfile
import zipfile

import joblib
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from fairdesk.data.formats.reading import read_table
from fairdesk.errors import DataError, ModelError
from fairdesk.models.detect import describe_format
from fairdesk.models.open import open_model
from fairdesk.models.pickles.contents import look_into
from fairdesk.signatures import recognise
from tests import phrases
from tests.sizes import many

_RDS = b"X\n\x00\x00\x00\x03\x00\x04\x03\x01\x00\x03\x05\x00" + bytes(60)
_LFS = (
    b"version https://git-lfs.github.com/spec/v1\n"
    b"oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
)
_NOTEBOOK = json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()
_KERAS_JSON = json.dumps({"class_name": "Sequential", "config": {"layers": []}}).encode()


def _shown(value):
    """Name a case by its texts: bytes hold the time, and processes would name it differently."""
    return value if isinstance(value, str) else "bytes"


def _zip(*names):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name in names:
            archive.writestr(name, "{}")
    return content.getvalue()


def _tensors():
    header = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    return len(header).to_bytes(8, "little") + header + bytes(4)


#: A file's name and content; what is said of it, and what to do where it was chosen as the model.
_FILES = [
    ("forest.rds", gzip.compress(_RDS), "an R object", 'pmml::pmml(readRDS("forest.rds"))'),
    ("forest.rds", bz2.compress(_RDS), "an R object", "save_pmml"),
    ("forest.pkl", lzma.compress(_RDS), "an R object", "model’s decisions"),
    ("work.RData", gzip.compress(b"RDX3\n" + _RDS), "R objects (.RData)", 'load("work.RData")'),
    (
        *("net.pt", _zip("net/data.pkl", "net/version", "net/data/0"), "a PyTorch model"),
        'torch.onnx.export(model.eval(), torch.zeros(1, n), "model.onnx")',
    ),
    (
        *("old.pth", pickle.dumps(0x1950A86A20F9469CFC6C, 2) + pickle.dumps(1001, 2)),
        *("a PyTorch model", "torch.onnx.export("),
    ),
    ("ts.pt", _zip("a/data.pkl", "a/code/x.py", "a/constants.pkl"), "TorchScript", "jit.load"),
    ("m.safetensors", _tensors(), "weights without their network", "torch.onnx.export("),
    ("m.pkl", _LFS, "a Git LFS pointer", "git lfs pull"),
    ("data.csv", _LFS, "a Git LFS pointer", "git lfs pull"),
    ("m.pkl.dvc", b"outs:\n- md5: 1f\n  path: m.pkl\n", "a DVC pointer", "dvc pull"),
    ("m.tflite", b"\x1c\0\0\0TFL3" + bytes(40), "TensorFlow Lite", "tf2onnx.convert --tflite"),
    ("saved_model.pb", b"\x08\x01\x12\x05abcde\0", "SavedModel", "Choose the folder"),
    ("graph.pb", b"\x0a\x05\x0a\x01x\0\xff", "a TensorFlow graph", "model.keras"),
    ("m.ckpt.index", b"\0\0\xff" * 9, "a TensorFlow checkpoint", "model.save("),
    ("checkpoint", b'model_checkpoint_path: "m.ckpt"\n', "checkpoints", "model.save("),
    ("mojo.zip", _zip("model.ini", "domains/d000.txt"), "an H2O model", "h2o.export_file"),
    ("spark.zip", _zip("m/metadata/part-00000"), "a Spark model", "pyspark2pmml"),
    (
        *("j48.model", b"\xac\xed\x00\x05sr\x00\x1bweka.classifiers.trees.J48"),
        *("a Weka model", "Output predictions"),
    ),
    ("x.ser", b"\xac\xed\x00\x05sr\x00\x03Foo", "a Java object", "PMML or ONNX"),
    (
        "t.sas7bdat",
        bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011"),
        "SAS",
        "",
    ),
    ("t.sav", b"$FL2@(#) IBM SPSS STATISTICS\0\0", "an SPSS table", "Choose it as the data"),
    ("t.dta", b"\x72\x02\x01\x00" + bytes(50), "a Stata table", "Choose it as the data"),
    ("m.mat", b"MATLAB 5.0 MAT-file, Platform" + bytes(200), "MATLAB", "exportONNXNetwork"),
    ("m.mlmodel", b"\x08\x04\x12\x05\x0a\x01x\0\0", "a Core ML model", "as ONNX"),
    ("m.pdparams", pickle.dumps({"w": [1.0]}, 4), "a PaddlePaddle model", "paddle2onnx"),
    ("w.npz", _zip("w0.npy", "w1.npy"), "NumPy arrays", "numbers, not a model"),
    ("roc.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(20), "a picture (PNG)", "joblib.dump()"),
    ("p.jpg", b"\xff\xd8\xff\xe0\0\x10JFIF\0" + bytes(20), "a picture (JPEG)", "joblib.dump()"),
    ("paper.pdf", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", "a PDF document", "joblib.dump()"),
    (
        *("m.pkl", b"\n<!DOCTYPE html>\n<html><head><title>m.pkl - GitHub</title>" + b" " * 99),
        *("the web page that GitHub shows", "Download raw file"),
    ),
    ("m.h5", b"<html><body>Sign in</body></html>", "a web page", "Open the page"),
    ("m.onnx", b"404: Not Found", "that the file does not exist", "address of the download"),
    ("train.ipynb", _NOTEBOOK, "a notebook", 'joblib.dump(model, "model.joblib")'),
    ("train.py", b"# fits it\nimport numpy\n", "Python code", "joblib.dump(model"),
    ("train.R", b"# fits it\nlibrary(caret)\n", "is R code", "save_pmml"),
    ("net.json", _KERAS_JSON, "without its weights", 'model.save("model.keras")'),
    ("MLmodel", b"artifact_path: model\nflavors:\n  sklearn: {}\n", "MLflow", "model.pkl"),
    ("notes.json", b'{"a": 1}', "a JSON file", "ONNX or PMML"),
    ("m.xml", b'<?xml version="1.0"?><net name="x" version="10">', "OpenVINO", "ONNX"),
    ("feed.xml", b'<?xml version="1.0"?><feed/>', "an XML file, but not PMML", "as PMML"),
    ("m.7z", b"7z\xbc\xaf\x27\x1c\0\x04" + bytes(20), "an archive (7z)", "Take the model’s file"),
    ("m.rar", b"Rar!\x1a\x07\x01\0" + bytes(20), "an archive (RAR)", "Take the model’s file"),
    ("m.zip", b"PK\x03\x04\x14\0\0\0", "cut off", "compare its size"),
    ("report.docx", _zip("[Content_Types].xml", "word/document.xml"), "a text document", "ONNX"),
    ("m.parquet", b"PAR1" + bytes(30) + b"PAR1", "a table (Parquet)", "--predictions"),
    ("m.xlsx", _zip("[Content_Types].xml", "xl/workbook.xml"), "a workbook", "--predictions"),
    ("adult.csv", b"age,sex\n30,m\n41,f\n", "a table", "--predictions"),
    ("notes.txt", b"The model is kept elsewhere.\n", "“The model is kept elsewhere.”", "PMML"),
    ("m.bin", b"\x00\x01\x02\x03\xfe", "the bytes 00 01 02 03 fe", "which program wrote it"),
]
_NOT_AS_TABLES = {"m.parquet", "m.xlsx", "adult.csv", "notes.txt", "m.bin"}


@pytest.mark.parametrize(
    ("name", "content", "what", "remedy"), _FILES, ids=[name for name, *_ in _FILES]
)
def test_a_file_that_is_no_model_is_called_what_it_is(tmp_path, name, content, what, remedy):
    path = tmp_path / name
    path.write_bytes(content)
    look_into(path)
    with pytest.raises(ModelError) as caught:
        open_model(path, trusted=True)
    assert what in f"{caught.value.what} {caught.value.why}"
    assert remedy in caught.value.remedy
    assert caught.value.remedy
    for generic in ("text file, not a model", "damaged", "Unpack it", "{"):
        assert generic not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [(n, c, w) for n, c, w, _ in _FILES if n not in _NOT_AS_TABLES]
    + [
        ("net.h5", b"\x89HDF\r\n\x1a\n" + bytes(90), "as of a Keras model"),
        ("m.keras", _zip("config.json", "model.weights.h5"), "a Keras model"),
        ("m.pkl", pickle.dumps({"a": 1}), "a Python pickle"),
        ("m.pmml", b'<?xml version="1.0"?>\n<!-- x -->\n<PMML version="4.4">', "a PMML model"),
        ("old.xhtml", b'<?xml version="1.0"?>\n' + b"<!-- x -->\n" * 60 + b"<HTML>", "a web page"),
        ("none.xml", b"<!-- x -->" * 60 + b"<?x?>" * 60 + b"<x/>", "but not PMML"),
        ("late.pmml", b"<!-- x -->" * 60 + b"<!DOCTYPE PMML><PMML>", "a PMML model"),
        ("many.R", b"# a\n" * 60 + b"library(MASS)\n", "is R code"),
        ("rows.zip", _zip("adult.csv", "read.me"), "that holds “adult.csv”, “read.me”"),
    ],
    ids=_shown,
)
def test_a_file_that_is_no_table_is_called_what_it_is(tmp_path, name, content, what):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_table(path)
    assert what in caught.value.what
    assert caught.value.remedy
    assert "NUL" not in str(caught.value)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=many(300))
@given(
    st.sampled_from(["GGUF", "age,ftyp", "MZ", "BMI", "A", "FEA1", "RDX3", "X", "import"]),
    st.lists(st.sampled_from(["n", "ftyp", "TFL3", "ustar", "é"]), min_size=1, max_size=60),
)
def test_no_table_is_taken_for_something_else(tmp_path, first, rest):
    path = tmp_path / "people.csv"
    header = ",".join([first, *(f"{name}{i}" for i, name in enumerate(rest))])
    row = ",".join("1" * (header.count(",") + 1))
    path.write_text(f"{header}\n{row}\n{row}\n", encoding="utf-8")
    assert recognise(path) is None
    assert len(read_table(path).codes) == 2


def test_a_table_below_many_notes_is_soon_known_to_be_none_of_these(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("# note\n" * 60 + "a,b\n1,2\n", encoding="utf-8")
    assert recognise(path) is None


def _model():
    rows = np.random.default_rng(0).random((50, 2))
    return LogisticRegression().fit(rows, rows[:, 0] > rows[:, 1])


@pytest.mark.parametrize("form", ["zip", "tar", "tar.gz", "tar.xz"])
def test_the_one_model_in_an_archive_is_opened(tmp_path, form):
    source = tmp_path / "inner.joblib"
    joblib.dump(_model(), source)
    (tmp_path / "README.md").write_text("# A model\n\nof something\n")
    path = tmp_path / f"all.{form}"
    if form == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.write(source, "../../deep/inner.joblib")
            archive.write(tmp_path / "README.md", "deep/README.md")
            archive.writestr("__MACOSX/deep/._inner.joblib", b"\0\x05\x16\x07")
    else:
        with tarfile.open(path, f"w:{form[4:]}") as archive:
            archive.add(source, "../../deep/inner.joblib")
            archive.add(tmp_path / "README.md", "deep/README.md")
    opened = open_model(path)
    assert opened.card.path == str(path)
    assert "“inner.joblib”" in opened.card.warnings[0]
    rows = np.random.default_rng(1).random((20, 2))
    np.testing.assert_array_equal(
        opened.matrix_scores(rows), open_model(source).matrix_scores(rows)
    )
    assert look_into(path).saved_with == look_into(source).saved_with
    assert list(tmp_path.parent.rglob("deep")) == []


def test_a_packed_file_of_another_format_is_opened(tmp_path):
    path = tmp_path / "net.json.gz"
    path.write_bytes(gzip.compress(_zip("config.json", "model.weights.h5")))
    assert describe_format(path) == "archive"
    with pytest.raises(ModelError, match="damaged"):
        open_model(path)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("a.pkl", "b.pkl"), "“a.pkl”, “b.pkl”"),
        (("a.csv", "c.csv"), phrases.NO_MODEL_IN_FILE),
        ((), "is empty"),
        (("m/saved_model.pb", "m/variables/x"), "a folder"),
    ],
)
def test_an_archive_of_several_or_no_models_names_them(tmp_path, names, said):
    path = tmp_path / "m.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, pickle.dumps([1]) if name.endswith("pkl") else "a,b\n1,2\n")
    with pytest.raises(ModelError, match=said) as caught:
        open_model(path)
    assert caught.value.remedy


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("fairdesk.models.packed.MOST_UNPACKED", 1 << 20)
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("m.pkl", bytes(2 << 20))
    with pytest.raises(ModelError, match="too large"):
        open_model(path)


def test_a_folder_names_the_models_in_it(tmp_path):
    joblib.dump(_model(), tmp_path / "m.joblib")
    with pytest.raises(ModelError, match=r"It contains: “m\.joblib”"):
        open_model(tmp_path)
    (tmp_path / "MLmodel").write_text("flavors:\n")
    with pytest.raises(ModelError, match="an MLflow model"):
        open_model(tmp_path)
