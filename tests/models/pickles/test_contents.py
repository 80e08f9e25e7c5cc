import gzip
import json
import os
import pickle
import zipfile
from contextlib import suppress
from io import BytesIO

import h5py
import joblib
import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression

from fairdesk.errors import ModelError
from fairdesk.models.pickles.contents import Contents, installed, look_into, wanted_environment
from fairdesk.models.pickles.unpickling import rebuild
from tests.models.hostile import ASSEMBLED, KINDS, Calls
from tests.models.tables import SHARED, needs_shared

MODEL = LogisticRegression().fit([[0.0], [1.0]], [0, 1])


def named(contents, standing):
    return {entry.name for entry in contents.imports if entry.standing == standing}


@pytest.mark.parametrize("compress", [0, "zlib", "gzip", "bz2", "lzma", "xz"])
def test_a_models_names_are_known_and_its_version_told(tmp_path, compress):
    path = tmp_path / "m.joblib"
    joblib.dump(MODEL, path, compress=(compress, 3) if compress else 0)
    contents = look_into(path)
    assert contents.format == "pickle"
    assert contents.saved_with == {"scikit-learn": sklearn.__version__}
    assert named(contents, "known") >= {"sklearn.linear_model._logistic.LogisticRegression"}
    assert not named(contents, "unknown") | named(contents, "dangerous")
    assert not wanted_environment(contents)


@pytest.mark.parametrize("protocol", range(6))
def test_dangerous_names_come_first_and_nothing_runs(tmp_path, protocol):
    path, mark = tmp_path / "m.pkl", tmp_path / "mark"
    content = [MODEL, Calls(os.system, f"touch {mark}"), Calls(eval, "1"), json.loads]
    path.write_bytes(pickle.dumps(content, protocol))
    contents = look_into(path)
    assert [entry.standing for entry in contents.imports[:2]] == ["dangerous", "dangerous"]
    assert {name.partition(".")[2] for name in named(contents, "dangerous")} == {"system", "eval"}
    assert named(contents, "unknown") == {"json.loads"}
    assert not mark.exists()


def test_names_in_an_object_array_of_joblib_are_seen(tmp_path):
    array = np.array([Calls(os.system, "true"), None], dtype=object)
    joblib.dump({"a": np.zeros(5), "b": array, "c": json.loads}, tmp_path / "m", compress=3)
    contents = look_into(tmp_path / "m")
    assert named(contents, "dangerous") == {"posix.system"}
    assert named(contents, "unknown") == {"json.loads"}


def test_every_file_of_the_corpus_is_told_without_running(tmp_path):
    for kind, make in KINDS.items():
        mark, path = tmp_path / "mark", tmp_path / "m.pkl"
        path.write_bytes(pickle.dumps(make(mark, tmp_path)))
        assert named(look_into(path), "dangerous") | named(look_into(path), "unknown") or kind in (
            # known names, put to a use that is refused
            *("constructor of a model", "memory map"),
        ), kind
        assert not mark.exists()
    for make in ASSEMBLED.values():
        path.write_bytes(make(mark))
        with suppress(ModelError):
            look_into(path)
        assert not mark.exists()


def test_versions_of_other_times_want_an_environment():
    contents = Contents("pickle", {"scikit-learn": "1.1.3"})
    assert wanted_environment(contents) == {"scikit-learn": "1.1.3"}
    same = ".".join(sklearn.__version__.split(".")[:2])
    assert not wanted_environment(Contents("pickle", {"scikit-learn": f"{same}.99"}))
    mixed = {"scikit-learn": sklearn.__version__, "xgboost": "0.90.0"}
    assert wanted_environment(Contents("pickle", mixed)) == mixed
    assert not wanted_environment(Contents("hdf5", {"keras": "2.2.4"}))
    assert installed("scikit-learn") == sklearn.__version__
    assert installed("no-such-library") == ""


def test_the_version_of_xgboost_is_read(tmp_path):
    xgboost = pytest.importorskip("xgboost")
    model = xgboost.XGBClassifier(n_estimators=2).fit(np.eye(8), [0, 1] * 4)
    path = tmp_path / "m.pkl"
    path.write_bytes(pickle.dumps(model))
    assert look_into(path).saved_with["xgboost"] == xgboost.__version__
    # as version 1 wrote it
    path.write_bytes(b"\x80\x04cxgboost.core\nBooster\n" + pickle.dumps('"version":[1,7,6]', 4)[2:])
    assert look_into(path).saved_with == {"xgboost": "1.7.6"}


def test_what_breaks_off_is_told_as_far_as_it_goes(tmp_path):
    path = tmp_path / "m.pkl"
    whole = pickle.dumps([MODEL, json.loads])
    path.write_bytes(whole[:-5])
    contents = look_into(path)
    assert any("could not be read to its end" in sentence for sentence in contents.notes)
    assert "sklearn.linear_model._logistic.LogisticRegression" in named(contents, "known")
    path.write_bytes(gzip.compress(whole)[:-20])
    assert look_into(path).notes


def test_any_bytes_end_in_contents_or_a_sentence(tmp_path):
    rng = np.random.default_rng(3)
    heads = (
        b"\x80\x04",
        b"\x1f\x8b\x08",
        b"BZh9",
        b"\x78\x9c",
        b"PK\x03\x04",
        b"\x89HDF\r\n\x1a\n",
    )
    for round_ in range(120):
        path = tmp_path / ("m.keras" if round_ % 2 else "m.pkl")
        path.write_bytes(heads[round_ % len(heads)] + rng.bytes(200))
        with suppress(ModelError):
            look_into(path)


def test_keras_and_broken_archives(tmp_path):
    path, weights = tmp_path / "m.keras", BytesIO()
    layers = [{"class_name": name, "config": {}} for name in ("Dense", "Lambda")]
    config = {"class_name": "Sequential", "config": {"layers": layers}}
    with h5py.File(weights, "w") as file:
        file.create_group("layers")
    for text in (json.dumps(config), "[" * 100_000):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("config.json", text)
            archive.writestr("metadata.json", json.dumps({"keras_version": "3.1.0"}))
            archive.writestr("model.weights.h5", weights.getvalue())
        contents = look_into(path)
        if text[0] == "{":
            assert contents.saved_with == {"keras": "3.1.0"}
            assert contents.notes == ("It is made of: “Sequential”, “Dense”, “Lambda”.",)
    assert "damaged" in contents.notes[0]
    with h5py.File(tmp_path / "m.h5", "w") as file:
        file.attrs["keras_version"] = "2.2.4-tf"
        file.attrs["model_config"] = json.dumps(config)
    assert look_into(tmp_path / "m.h5").saved_with == {"keras": "2.2.4-tf"}


def test_what_is_no_model_has_its_format_only(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("a,b\n1,2\n")
    assert look_into(path) == Contents("text")
    assert look_into(tmp_path / "gone") == Contents("missing")


@needs_shared
def test_real_files_tell_what_made_them():
    assert look_into(SHARED / "models" / "AC-1.h5").saved_with["keras"].startswith("2.")
    told = look_into(SHARED / "models" / "diabetes.onnx").notes
    assert any("skl2onnx" in sentence for sentence in told)


@pytest.mark.parametrize("cut", [b"G?", b"J\x00", b"X\x01\x00", b"\x8d\x01", b"\x95\x00"])
def test_a_pickle_that_ends_within_an_instruction_is_told(tmp_path, cut):
    path = tmp_path / "m.pkl"
    path.write_bytes(b"\x80\x04" + cut)
    assert look_into(path).format == "pickle"


@pytest.mark.parametrize("protocol", range(5))
def test_a_version_that_is_searched_for_ends_where_its_text_ends(tmp_path, protocol, monkeypatch):
    monkeypatch.setattr(sklearn.base, "__version__", "0.20.4")
    path = tmp_path / "m.pkl"
    # what comes first cannot be read, so that nothing but searching tells
    content = pickle.dumps(LogisticRegression().fit([[0.0], [1.0]], [0, 1]), protocol)
    path.write_bytes(b"(" + b"\0" + content if protocol == 0 else b"\x80\3\0" + content)
    contents = look_into(path)
    assert contents.format == "pickle"
    assert contents.saved_with == {"scikit-learn": "0.20.4"}
    assert contents.notes == (
        (
            "It could not be read to its end: UnpicklingError: it contains bytes that are not "
            "part of a pickle."
        ),
    )


def test_arrays_of_the_joblib_inside_old_scikit_learn_are_read(tmp_path):
    path = tmp_path / "m.joblib"
    joblib.dump({"weights": np.arange(50.0), "after": "them"}, path)
    content, mark = path.read_bytes(), b"joblib.numpy_pickle"
    place, frame = content.index(mark), content.index(b"\x95")
    longer = b"sklearn.externals." + mark
    size = int.from_bytes(content[frame + 1 : frame + 9], "little") + len(longer) - len(mark)
    changed = bytearray(content)
    changed[frame + 1 : frame + 9] = size.to_bytes(8, "little")
    changed[place - 1] = len(longer)
    changed[place : place + len(mark)] = longer
    path.write_bytes(changed)
    contents = look_into(path)
    assert not contents.notes
    assert not named(contents, "unknown") | named(contents, "dangerous")
    read = rebuild(path)
    np.testing.assert_array_equal(read["weights"], np.arange(50.0))
    assert read["after"] == "them"
