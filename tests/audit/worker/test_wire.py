import io
import json
import struct
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from fairdesk.audit.plan.inputs import GroupInputs, MitigationInputs, SearchInputs
from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.worker import frames, wire
from fairdesk.data.table import Dialect
from fairdesk.errors import WorkerError
from fairdesk.results.events import Certificate, Found, Measured, Progress
from fairdesk.results.mitigation import Augmented, Retrained, Trial
from tests import phrases

arrays = st.lists(
    st.one_of(
        hnp.arrays(np.float64, hnp.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=5)),
        hnp.arrays(np.float32, hnp.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=5)),
        hnp.arrays(np.int64, (3,)),
        hnp.arrays(np.bool_, (2, 3)),
    ),
    max_size=5,
)


def frame(header, body=b"", magic=frames.MAGIC, length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<4sI", magic, len(text) if length is None else length) + text + body


class Carrying(msgspec.Struct, tag=True):
    """A message of any arrays."""

    arrays: list[NDArray[Any]]


def read(stream):
    return frames.read(stream, Carrying)


def shaped(*shapes):
    return {"call": 1, "message": {"type": "Carrying", "arrays": list(shapes)}}


@given(arrays=arrays, text=st.text(), call=st.integers(0, 2**31))
def test_what_is_written_is_read(arrays, text, call):
    stream = io.BytesIO()
    message = wire.Failed("ModelError", text, "", "")
    frames.write(stream, call, message)
    frames.write(stream, call, Carrying(arrays))
    frames.write(stream, call, wire.SearchEnded("done"))
    stream.seek(0)
    told = wire.read_from_guest(stream)
    assert (told.call, told.message) == (call, message)
    for got, sent in zip(read(stream).message.arrays, arrays, strict=True):
        assert got.dtype == sent.dtype
        np.testing.assert_array_equal(got, sent)
    assert wire.read_from_guest(stream).message == wire.SearchEnded("done")
    assert wire.read_from_guest(stream) is None


def test_arrays_of_any_layout_cross():
    stream = io.BytesIO()
    big = np.arange(6, dtype=">f8").reshape(2, 3)
    strided = np.asfortranarray(big.astype(float))[:, ::2]
    frames.write(stream, 1, wire.ReadTable("a", Dialect(";")))
    frames.write(stream, 1, Carrying([big, strided]))
    stream.seek(0)
    assert wire.read_to_guest(stream).message == wire.ReadTable("a", Dialect(";"))
    one, other = read(stream).message.arrays
    np.testing.assert_array_equal(one, big)
    np.testing.assert_array_equal(other, strided)


ROWS, SCORES = np.arange(6.0).reshape(2, 3), np.array([[0.2], [0.7]], np.float32)
FOUND = Found(ROWS, ROWS + 1, SCORES, 1 - SCORES, np.array([[True], [False]]), "local")
CERTIFICATE = Certificate("proving", b'{"a": "\xc3\xa9"}', {"low": np.arange(4, dtype=np.int8)})
LONE = np.arange(2)


@pytest.mark.parametrize(
    "message",
    [
        FOUND,
        Progress("global", 1, 2, 3, 4, 5, {"global": 0.5}, 6),
        Measured("training", (Trial(0, "imported"),)),
        CERTIFICATE,
        Augmented("making", ROWS, LONE, LONE + 1, LONE + 2, ("a text",)),
        Retrained("saving", 4, "model.onnx", "Fine.", np.frombuffer(b"abc", np.int8)),
    ],
)
def test_what_a_method_yields_crosses_as_it_is(message):
    stream = io.BytesIO()
    frames.write(stream, 1, message)
    stream.seek(0)
    same(wire.read_from_guest(stream).message, message)


@pytest.mark.parametrize(
    "inputs",
    [
        SearchInputs(ROWS),
        SearchInputs(ROWS, ROWS[:1], CERTIFICATE),
        GroupInputs(ROWS, ROWS[:, :1], ROWS[:, 0] > 1, ROWS[:, 1], ROWS[:, 2] * np.nan, "yes"),
        MitigationInputs(
            ROWS, ROWS[:, :1], ROWS[:, 0] > 1, ROWS[:, 1], LONE, ROWS, ROWS + 1, LONE, 1
        ),
    ],
)
def test_what_a_run_is_given_crosses_as_it_is(spec, inputs):
    stream = io.BytesIO()
    message = wire.Search(spec.mapping, spec.domain, RunSpec("maft"), inputs)
    frames.write(stream, 1, message)
    stream.seek(0)
    got = wire.read_to_guest(stream).message
    assert type(got.inputs) is type(inputs)
    same(got.inputs, inputs)


def same(got, sent):
    """Hold a struct against another, field by field."""
    assert type(got) is type(sent)
    for name in sent.__struct_fields__:
        one, other = getattr(got, name), getattr(sent, name)
        if isinstance(other, np.ndarray):
            assert one.dtype == other.dtype, name
            np.testing.assert_array_equal(one, other)
        elif isinstance(other, msgspec.Struct):
            same(one, other)
        elif isinstance(other, dict) and name == "arrays":
            np.testing.assert_equal(one, other)
        else:
            assert one == other, name


@pytest.mark.parametrize(
    "name", ["rows", "partners", "row_scores", "partner_scores", "sufficient_alone"]
)
@pytest.mark.parametrize("dtype", ["<f8", "<f4", "<i8", "|i1", "|b1"])
def test_an_array_of_another_dtype_is_refused(name, dtype):
    right = getattr(FOUND, name).dtype == np.dtype(dtype)
    changed = msgspec.structs.replace(FOUND, **{name: getattr(FOUND, name).astype(dtype)})
    stream = io.BytesIO()
    frames.write(stream, 1, changed)
    stream.seek(0)
    if right:
        same(wire.read_from_guest(stream).message, FOUND)
    else:
        with pytest.raises(WorkerError, match=phrases.NO_MESSAGE) as caught:
            wire.read_from_guest(stream)
        assert f"array of {np.dtype(dtype)}" in caught.value.why


@pytest.mark.parametrize(
    "array", [np.array(["a"], dtype=object), np.array(["a"]), np.zeros(1, "c16")]
)
def test_objects_and_texts_never_cross(array):
    with pytest.raises(TypeError, match="do not cross"):
        frames.write(io.BytesIO(), 1, Carrying([array]))


def test_too_much_is_not_written(monkeypatch):
    monkeypatch.setattr(frames, "MOST_ARRAY_BYTES", 100)
    with pytest.raises(WorkerError, match="too large"):
        frames.write(io.BytesIO(), 1, Carrying([np.zeros(20)]))


def test_bytes_that_are_no_bools_are_made_bools():
    data = frame(shaped({"dtype": "|b1", "shape": [3]}), bytes([0, 1, 7]))
    (array,) = read(io.BytesIO(data)).message.arrays
    assert array.tolist() == [False, True, True]
    assert array.view(np.uint8).tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    "data",
    [
        b"Hello, I am a model that prints.\n",
        frames.MAGIC,
        frame({}, magic=b"FDW0"),
        frame(b"{", length=1 << 31),
        frame(b"not json"),
        frame(b"\xff\xfe\xfd"),
        frame({"call": 1}),
        frame({"call": "one", "message": {"type": "Predicted"}}),
        frame({"call": 1, "message": {"type": "Reduce"}}),
        frame({"call": 1, "message": {"type": "Carrying", "arrays": [None]}}),
        frame({"call": 1, "message": {"type": "Carrying", "arrays": [[1.0, 2.0]]}}),
        frame(shaped({"dtype": "<f8", "shape": [1], "data": "x"}), b"\0" * 8),
        frame(shaped({"dtype": "<f8", "shape": [1.5]}), b"\0" * 8),
        frame(shaped({"dtype": "<f8", "shape": []}), b"\0" * 8),
        frame({"call": 1, "message": {"type": "ReadTable", "path": "x", "dialect": None}}),
        frame(b"[" * 100_000),
        frame(shaped({"dtype": "|O8", "shape": [1]}), b"\0" * 8),
        frame(shaped({"dtype": "<f8", "shape": [-1]})),
        frame(shaped({"dtype": "<f8", "shape": [1, 1, 1]}), b"\0" * 8),
        frame(shaped({"dtype": "<f8", "shape": [1 << 40, 1 << 40]})),
        frame(shaped(*[{"dtype": "<f8", "shape": [0]}] * (frames.MOST_ARRAYS + 1))),
        frame(shaped({"dtype": "<f8", "shape": [2]}), b"\0" * 15),
        frame(shaped())[:-1],
    ],
)
def test_malformed_frames_are_refused(data):
    with pytest.raises(WorkerError, match=phrases.NO_MESSAGE):
        read(io.BytesIO(data))


@pytest.mark.parametrize("total", [1 << 29, (1 << 29) + 1])
def test_sizes_are_bounded_together_before_memory_is_taken(monkeypatch, total):
    made = []
    monkeypatch.setattr(np, "empty", lambda shape, dtype: made.append(shape) or np.zeros(0, dtype))
    parts = [{"dtype": "<f8", "shape": [total - 5]}, {"dtype": "<f8", "shape": [5]}]
    stream = io.BytesIO(frame(shaped(*parts)))
    if total * 8 > frames.MOST_ARRAY_BYTES:
        with pytest.raises(WorkerError, match=phrases.NO_MESSAGE):
            read(stream)
        assert made == [(total - 5,)]
    else:
        read(stream)
        assert len(made) == 2


@given(st.binary(max_size=200))
def test_no_bytes_do_worse_than_be_refused(data):
    stream = io.BytesIO(frames.MAGIC + data)
    try:
        while wire.read_from_guest(stream) is not None:
            pass
    except WorkerError:
        pass
