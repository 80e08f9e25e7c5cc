import gzip
import pickle
import zipfile

import joblib
import pytest

from fairdesk.errors import ModelError, TrustRequiredError
from fairdesk.models.detect import describe_format
from fairdesk.models.open import open_model
from tests import phrases
from tests.models.tables import SHARED, needs_shared


def test_a_missing_file_is_told_with_its_path(tmp_path):
    with pytest.raises(ModelError, match="does not exist") as caught:
        open_model(tmp_path / "gone.h5")
    assert "gone.h5" in caught.value.what
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("name", "content", "kind", "said"),
    [
        ("m.h5", b"", "empty", "is empty"),
        ("data.csv", b"age,sex\n30,m\n41,f\n", "text", "is a table"),
        (
            "gr\u00fc\u00dfe.csv",
            "stra\u00dfe,\u20ac\n1,2\n".encode() * 3000,
            "text",
            "is a table",
        ),
        ("ages.pkl", b"age,sex\n30,m\n", "text", "is a table"),
        ("m.keras", b"PK\x03\x04broken", "foreign", phrases.IS_CUT_OFF),
        ("m.zip", b"PK\x03\x04broken", "foreign", phrases.IS_CUT_OFF),
        ("m.h5", b"\x89HDF\r\n\x1a\n", "hdf5", "damaged"),
        ("m.onnx", b"\x08\x07\x3a\xff\xff\x01", "onnx", "damaged"),
        ("m.onnx", b"\x08\x07", "onnx", "contains no network"),
        ("m.bin", bytes(range(200, 256)) * 4, "unknown", "starts with the bytes c8 c9"),
        ("m.png", b"\x89PNG\r\n\x1a\n" + bytes(40), "foreign", "is a picture"),
    ],
)
def test_what_is_no_model_is_told_by_its_content(tmp_path, name, content, kind, said):
    path = tmp_path / name
    path.write_bytes(content)
    assert describe_format(path) == kind
    with pytest.raises(ModelError) as caught:
        open_model(path, trusted=True)
    assert said in str(caught.value)
    assert caught.value.remedy


def test_folders_are_told_apart(tmp_path):
    with pytest.raises(ModelError, match="is a folder"):
        open_model(tmp_path)
    (tmp_path / "saved_model.pb").write_bytes(b"x")
    with pytest.raises(ModelError, match="SavedModel"):
        open_model(tmp_path)


def test_archives_of_other_things_are_told_apart(tmp_path):
    for name, kind in (("schema.json", "skops"), ("readme.txt", "archive")):
        path = tmp_path / f"{kind}.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(name, "{}")
        assert describe_format(path) == kind
        with pytest.raises(ModelError, match=r"skops|archive"):
            open_model(path)


@pytest.mark.parametrize("compress", [0, ("zlib", 1), ("zlib", 9), "gzip", "bz2", "lzma", "xz"])
def test_joblib_files_are_programs_however_packed(tmp_path, compress):
    path = tmp_path / "m.bin"
    joblib.dump({"a": print}, path, compress=compress)
    assert describe_format(path) == "pickle"
    with pytest.raises(TrustRequiredError, match=r"builtins\.print"):
        open_model(path)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_of_every_protocol_are_programs(tmp_path, protocol):
    path = tmp_path / "m.pkl"
    path.write_bytes(pickle.dumps({"a": [1, 2, 3]}, protocol=protocol))
    assert describe_format(path) == "pickle"


def test_a_pickle_inside_gzip_is_a_program_too(tmp_path):
    path = tmp_path / "m.h5"
    path.write_bytes(gzip.compress(pickle.dumps([print])))
    with pytest.raises(TrustRequiredError):
        open_model(path)


@needs_shared
@pytest.mark.parametrize(
    ("name", "kind"), [("AC-1.h5", "hdf5"), ("diabetes.onnx", "onnx"), ("titanic_rf.onnx", "onnx")]
)
def test_real_files_are_told_apart(name, kind):
    assert describe_format(SHARED / "models" / name) == kind
