"""The certificate file: it comes back as it was, and no file makes its reader do anything else."""

import io
import struct
import zipfile

import msgspec
import numpy as np
import pytest

from fairdesk.certify.proof import certificate, certificate_reading
from fairdesk.certify.proof import certificate as leaves_of
from fairdesk.certify.proof.certificate import ARRAYS, HEADER, CertificateError, leaves
from tests.certify.proofs import everybody, honest, read


@pytest.fixture(scope="module")
def event():
    return honest()


def filed(header, arrays):
    file = io.BytesIO()
    certificate.write(file, header, arrays)
    return file


def test_a_certificate_comes_back_as_it_was(event, tmp_path):
    path = tmp_path / "one.fairdesk-proof"
    certificate.write(path, event.header, event.arrays)
    header, arrays = certificate_reading.read(path)
    assert certificate.encoded(header) == event.header
    assert set(arrays) == set(ARRAYS)
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, event.arrays[name])
    # as small as can be
    assert arrays["verdict"].dtype == np.int8
    assert header.model.name == "credit.keras"
    assert path.read_bytes() == filed(event.header, event.arrays).getvalue()


def test_the_sample_has_leaves_of_every_kind(event):
    verdicts = set(event.arrays["verdict"].tolist())
    assert verdicts >= {-1, *range(certificate.NOBODY)}


def test_leaves_are_the_whole_domain_and_no_point_is_in_two(event):
    header, arrays = read(event)
    seen = set()
    for part in leaves(arrays):
        for low, high in zip(part.low, part.high, strict=True):
            points = set(map(tuple, everybody(low, high).tolist()))
            assert not points & seen
            seen |= points
    assert len(seen) == int(header.total) == 4 * 10 * 51


def test_leaves_come_in_parts_however_deep_they_lie(event, monkeypatch):
    whole = np.concatenate([part.nodes for part in leaves(event.arrays)])
    monkeypatch.setattr(leaves_of, "_AT_ONCE", 3)
    parts = [part.nodes for part in leaves(event.arrays)]
    assert max(map(len, parts)) <= 3
    assert sorted(np.concatenate(parts)) == sorted(whole)


@pytest.mark.parametrize("whole", [3, 7, 10**20, 3**50])
def test_shares_are_rounded_to_the_safe_side(whole):
    for part in (0, 1, whole // 3, whole - 1, whole):
        down, up = certificate.share_down(part, whole), certificate.share_up(part, whole)
        for share, sign in ((down, 1), (up, -1)):
            numerator, denominator = share.as_integer_ratio()
            assert sign * (numerator * whole - part * denominator) <= 0
        assert (down == 1.0) == (part == whole)
        assert (up == 0.0) == (part == 0)


def bent(arrays, name, place, value):
    changed = arrays | {name: np.array(arrays[name])}
    changed[name][place] = value
    return changed


def inner(arrays):
    return int(np.flatnonzero(arrays["first"] >= 0)[-1])


def leaf(arrays, verdict=certificate.UNDECIDED):
    return int(np.flatnonzero(arrays["verdict"] == verdict)[0])


TREES = {
    "a child before its parent": lambda a: bent(a, "first", inner(a), 1),
    "a child with two parents": lambda a: bent(a, "first", inner(a), a["first"][0]),
    "a child past the end": lambda a: bent(a, "first", inner(a), len(a["first"])),
    "a circle": lambda a: bent(a, "first", 0, 0),
    "children of a verdict": lambda a: bent(a, "verdict", 0, 1),
    "no verdict": lambda a: bent(a, "verdict", leaf(a), 9),
    "a leaf that has none": lambda a: bent(a, "verdict", leaf(a), -1),
    "no axis": lambda a: bent(a, "axis", inner(a), 7),
    "a leaf's axis that is none": lambda a: bent(a, "axis", leaf(a), -2),
    "shares above 1": lambda a: bent(a, "discriminatory", leaf(a), 0.9),
    "a share below 0": lambda a: bent(a, "consistent", leaf(a, certificate.COUNTED), -0.1),
    "no number": lambda a: bent(a, "consistent", leaf(a), np.nan),
    "a root beyond its axis": lambda a: bent(a, "root_high", (0, 0), 4),
    "a root that is inside out": lambda a: bent(a, "root_low", (0, 0), 4),
    "arrays of different lengths": lambda a: a | {"cut": a["cut"][:-1]},
    "whole numbers for shares": lambda a: a | {"consistent": a["axis"]},
    "shares for whole numbers": lambda a: a | {"first": a["consistent"]},
}


@pytest.mark.parametrize("name", TREES)
def test_what_is_no_tree_is_refused(event, name):
    header, arrays = read(event)
    certificate_reading.check(header, arrays)
    with pytest.raises(CertificateError):
        certificate_reading.read(filed(event.header, TREES[name](arrays)))


@pytest.mark.parametrize("cut", [-1, 10**6])
def test_a_cut_outside_of_its_box_is_met_on_the_walk(event, cut):
    _, arrays = read(event)
    arrays = bent(arrays, "cut", inner(arrays), cut)
    _, arrays = certificate_reading.read(filed(event.header, arrays))
    with pytest.raises(CertificateError, match="divided outside their bounds"):
        list(leaves(arrays))


HEADERS = {
    "another format": {"format": 1},
    "other axes": {"axes": []},
    "totals that are none": {"certified": "-5"},
    "totals in other digits": {"total": "٣"},
    "shares that are none": {"certified_share": 1.5},
    "groups of nothing": {"groups": [3]},
    "masks of nothing": {"may_be": [[True]]},
    "roots of nothing": {"unclear": [1]},
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_that_cannot_be_is_refused(event, name):
    told = msgspec.json.decode(event.header) | HEADERS[name]
    with pytest.raises(CertificateError):
        certificate_reading.read(filed(msgspec.json.encode(told), event.arrays))


@pytest.mark.parametrize(
    "change",
    [
        {"codes": [0.0, 0.0, 1.0, 2.0]},
        {"codes": [0.0]},
        {"count": 0},
        {"count": 1 << 62, "codes": []},
        {"spacing": 0.0},
        {"attribute": "sex"},
    ],
)
def test_an_axis_that_cannot_be_is_refused(event, change):
    told = msgspec.json.decode(event.header)
    told["axes"][0] |= change
    with pytest.raises(CertificateError):
        certificate_reading.read(filed(msgspec.json.encode(told), event.arrays))


def archive(entries):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in entries.items():
            made.writestr(name, data)
    return file


def entries(event):
    with zipfile.ZipFile(filed(event.header, event.arrays)) as whole:
        return {name: whole.read(name) for name in whole.namelist()}


def npy(array, **how):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, **how)
    return file.getvalue()


FILES = {
    "nothing": lambda e: io.BytesIO(),
    "no archive": lambda e: io.BytesIO(b"PK but no archive"),
    "a file too many": lambda e: archive(entries(e) | {"more.txt": b"1"}),
    "a file too few": lambda e: archive({HEADER: e.header}),
    "a header that is none": lambda e: archive(entries(e) | {HEADER: b"[" * 100_000}),
    "a pickle": lambda e: archive(
        entries(e) | {"first.npy": npy(np.array([print], dtype=object), allow_pickle=True)}
    ),
    "another array": lambda e: archive(entries(e) | {"first.npy": npy(np.array(["x"]))}),
    "an array of arrays": lambda e: archive(entries(e) | {"first.npy": npy(np.zeros((2, 2), int))}),
    "complex numbers": lambda e: archive(
        entries(e) | {"consistent.npy": npy(np.zeros(3, complex))}
    ),
    "an array that breaks off": lambda e: archive(
        entries(e) | {"consistent.npy": entries(e)["consistent.npy"][:-1]}
    ),
    "a header of an array that breaks off": lambda e: archive(
        entries(e) | {"consistent.npy": entries(e)["consistent.npy"][:20]}
    ),
    "an array larger than its bytes": lambda e: archive(
        entries(e) | {"consistent.npy": huge(entries(e)["consistent.npy"])}
    ),
}


def huge(data):
    """Let an array's own header tell that it is as large as it can say."""
    (length,) = struct.unpack("<H", data[8:10])
    told = data[10 : 10 + length]
    start = told.index(b"(") + 1
    end = told.index(b",", start)
    wider = told[:start] + b"9" * 18 + told[end:]
    return data[:8] + struct.pack("<H", len(wider)) + wider + data[10 + length :]


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_no_certificate_is_refused_in_three_sentences(event, name):
    with pytest.raises(CertificateError) as told:
        certificate_reading.read(FILES[name](event))
    assert told.value.what
    assert told.value.why
    assert told.value.remedy


def test_a_broken_byte_is_noticed(event):
    file = filed(event.header, event.arrays)
    with zipfile.ZipFile(file) as whole:
        end = whole.getinfo("axis.npy").header_offset
    data = bytearray(file.getvalue())
    data[end - 3] ^= 1
    with pytest.raises(CertificateError):
        certificate_reading.read(io.BytesIO(bytes(data)))


def test_what_unpacks_to_too_much_is_not_unpacked(event, monkeypatch):
    monkeypatch.setattr(certificate_reading, "MOST_ARRAY_BYTES", 1_000)
    with pytest.raises(CertificateError, match="too large"):
        certificate_reading.read(filed(event.header, event.arrays))
    monkeypatch.setattr(certificate_reading, "MOST_HEADER_BYTES", 100)
    with pytest.raises(CertificateError, match="too long"):
        certificate_reading.read(filed(event.header, event.arrays))


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(CertificateError, match="cannot be read"):
        certificate_reading.read(tmp_path / "none.fairdesk-proof")


@pytest.mark.parametrize(
    ("margin", "said"), [(0.0, "nothing in the model is rounded"), (1.21e-5, "at most 0.000013,")]
)
def test_the_margin_is_told_in_words(margin, said):
    assert said in certificate.margin_sentence(margin)


@pytest.mark.parametrize(("version", "way_on"), [(-1, "wrote it"), (1, "newest FairDesk")])
def test_a_certificate_of_another_version_says_what_reads_it(event, version, way_on):
    header = msgspec.json.decode(event.header) | {"format": certificate.FORMAT + version}
    with pytest.raises(CertificateError) as caught:
        certificate.decoded(msgspec.json.encode(header))
    assert way_on in caught.value.remedy
