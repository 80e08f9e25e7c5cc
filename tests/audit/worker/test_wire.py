import io
import json
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fairdesk.audit.worker import wire
from fairdesk.data.table import Dialect
from fairdesk.errors import WorkerError

arrays = st.lists(
    st.one_of(
        hnp.arrays(np.float64, hnp.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=5)),
        hnp.arrays(np.float32, hnp.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=5)),
        hnp.arrays(np.int64, (3,)),
        hnp.arrays(np.bool_, (2, 3)),
    ),
    max_size=5,
)


def frame(header, body=b"", magic=wire.MAGIC, length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<4sI", magic, len(text) if length is None else length) + text + body


def shaped(*shapes):
    return {"call": 1, "message": {"type": "Predicted"}, "arrays": list(shapes)}


@settings(deadline=None)
@given(arrays=arrays, text=st.text(), call=st.integers(0, 2**31))
def test_what_is_written_is_read(arrays, text, call):
    stream = io.BytesIO()
    message = wire.Failed("ModelError", text, "", "")
    wire.write(stream, call, message, arrays)
    wire.write(stream, call, wire.SearchEnded("done"))
    stream.seek(0)
    read = wire.read_from_guest(stream)
    assert (read.call, read.message) == (call, message)
    for got, sent in zip(read.arrays, arrays, strict=True):
        assert got.dtype == sent.dtype
        np.testing.assert_array_equal(got, sent)
    assert wire.read_from_guest(stream).message == wire.SearchEnded("done")
    assert wire.read_from_guest(stream) is None


def test_arrays_of_any_layout_cross():
    stream = io.BytesIO()
    big = np.arange(6, dtype=">f8").reshape(2, 3)
    strided = np.asfortranarray(big.astype(float))[:, ::2]
    wire.write(stream, 1, wire.ReadTable("a", Dialect(";")), [big, strided])
    stream.seek(0)
    read = wire.read_to_guest(stream)
    assert read.message == wire.ReadTable("a", Dialect(";"))
    np.testing.assert_array_equal(read.arrays[0], big)
    np.testing.assert_array_equal(read.arrays[1], strided)


@pytest.mark.parametrize(
    "array", [np.array(["a"], dtype=object), np.array(["a"]), np.zeros(1, "c16")]
)
def test_objects_and_texts_never_cross(array):
    with pytest.raises(TypeError, match="do not cross"):
        wire.write(io.BytesIO(), 1, wire.Predicted(), [array])


def test_too_much_is_not_written(monkeypatch):
    monkeypatch.setattr(wire, "MOST_ARRAY_BYTES", 100)
    with pytest.raises(WorkerError, match="too large"):
        wire.write(io.BytesIO(), 1, wire.Predicted(), [np.zeros(20)])


def test_bytes_that_are_no_bools_are_made_bools():
    data = frame(shaped({"dtype": "|b1", "shape": [3]}), bytes([0, 1, 7]))
    (array,) = wire.read_from_guest(io.BytesIO(data)).arrays
    assert array.tolist() == [False, True, True]
    assert array.view(np.uint8).tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    "data",
    [
        b"Hello, I am a model that prints.\n",
        wire.MAGIC,
        frame({}, magic=b"FDW0"),
        frame(b"{", length=1 << 31),
        frame(b"not json"),
        frame(b"\xff\xfe\xfd"),
        frame({"call": 1}),
        frame({"call": "one", "message": {"type": "Predicted"}}),
        frame({"call": 1, "message": {"type": "Reduce"}}),
        frame({"call": 1, "message": {"type": "ReadTable", "path": "x", "dialect": None}}),
        frame(b"[" * 100_000),
        frame(shaped({"dtype": "|O8", "shape": [1]}), b"\0" * 8),
        frame(shaped({"dtype": "<f8", "shape": [-1]})),
        frame(shaped({"dtype": "<f8", "shape": [1, 1, 1]}), b"\0" * 8),
        frame(shaped({"dtype": "<f8", "shape": [1 << 40, 1 << 40]})),
        frame(shaped(*[{"dtype": "<f8", "shape": [0]}] * (wire.MOST_ARRAYS + 1))),
        frame(shaped({"dtype": "<f8", "shape": [2]}), b"\0" * 15),
        frame(shaped())[:-1],
    ],
)
def test_malformed_frames_are_refused(data):
    with pytest.raises(WorkerError, match="no message of FairDesk"):
        wire.read_from_guest(io.BytesIO(data))


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_do_worse_than_be_refused(data):
    stream = io.BytesIO(wire.MAGIC + data)
    try:
        while wire.read_from_guest(stream) is not None:
            pass
    except WorkerError:
        pass
