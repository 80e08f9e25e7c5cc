"""Signatures: what was signed holds, what was changed shows, and who signed is told apart."""

import random

import pytest
import typst

from fairdesk.errors import ReportError
from fairdesk.report.provenance import signing
from tests.report.keys import PASSPHRASE, make_key

MANIFEST = b'{"format": "manifest", "n": 1}'


@pytest.fixture(scope="module")
def pair():
    return make_key()


@pytest.fixture(scope="module")
def key(pair):
    return signing.open_key(pair[0], PASSPHRASE)


@pytest.fixture(scope="module")
def document():
    return typst.compile(b"= Report\n\nA page.", pdf_standards=["ua-1", "a-3a"][1:])


@pytest.fixture(scope="module")
def signed(key, document):
    return key.sign_pdf(document, "I made this audit")


def test_the_document_is_unchanged_below_its_signature(signed, document):
    assert signed.startswith(document)
    assert len(signed) > len(document)


def test_a_signed_report_holds_and_tells_by_whom(signed):
    (found,) = signing.check_pdf(signed)
    assert found.holds
    assert found.signer == "Ada Auditor (Fair & Co)"
    assert found.at.startswith("20")
    assert "Unchanged since it was signed by Ada Auditor (Fair & Co)." in found.said


def test_whom_nobody_vouches_for_is_not_trusted(signed, pair):
    (alone,) = signing.check_pdf(signed)
    (vouched,) = signing.check_pdf(signed, [pair[1]])
    (another,) = signing.check_pdf(signed, [make_key("Eve")[1]])
    assert [alone.trusted, vouched.trusted, another.trusted] == [False, True, False]
    assert "was not verified" in alone.said
    assert "was not checked" not in vouched.said


def test_an_unsigned_report_has_no_signature(document):
    assert signing.check_pdf(document) == ()


def test_any_changed_byte_of_a_signed_report_shows(signed, document):
    chance = random.Random(3)
    places = [*chance.sample(range(len(document)), 12), len(document) + 40, len(signed) - 3]
    for place in places:
        changed = bytearray(signed)
        changed[place] ^= 1
        try:
            found = signing.check_pdf(bytes(changed))
        except ReportError:
            continue
        assert not found or not all(each.holds for each in found), place


@pytest.mark.parametrize("more", [b"\n", b"\n%more\n", b"\n1 0 obj\n<<>>\nendobj\n"])
def test_what_was_added_shows(signed, more):
    (found,) = signing.check_pdf(signed + more)
    assert found.intact
    assert not found.holds
    assert "changed by an addition" in found.said


def test_a_second_signature_leaves_the_first_one_true(signed):
    archive, _ = make_key("Bo Board", "Bank")
    twice = signing.open_key(archive, PASSPHRASE).sign_pdf(signed, "Seen")
    found = signing.check_pdf(twice)
    assert [each.signer for each in found] == ["Ada Auditor (Fair & Co)", "Bo Board (Bank)"]
    assert all(each.holds for each in found)


def test_a_signature_beside_a_file(key, pair):
    beside = key.sign_file(MANIFEST)
    found = signing.check_file(MANIFEST, beside, [pair[1]])
    assert (found.holds, found.trusted) == (True, True)
    assert found.at
    changed = signing.check_file(MANIFEST + b" ", beside, [pair[1]])
    assert not changed.holds
    assert "Changed since it was signed" in changed.said


@pytest.mark.parametrize("broken", [b"", b"no signature", MANIFEST * 50])
def test_what_is_no_signature_is_told(broken):
    with pytest.raises(ReportError, match="companion signature could not be read"):
        signing.check_file(MANIFEST, broken)


def test_a_signature_cut_short_never_holds(key):
    whole = key.sign_file(MANIFEST)
    for length in range(0, len(whole), 97):
        with pytest.raises(ReportError):
            signing.check_file(MANIFEST, whole[:length])


def test_a_changed_signature_never_vouches_for_somebody(key, pair):
    whole = key.sign_file(MANIFEST)
    (told,) = [signing.check_file(MANIFEST, whole, [pair[1]])]
    for place in range(0, len(whole), 41):
        changed = bytearray(whole)
        changed[place] ^= 1
        try:
            found = signing.check_file(MANIFEST, bytes(changed), [pair[1]])
        except ReportError:
            continue
        assert found == told or not (found.holds and found.trusted), place


@pytest.mark.parametrize("passphrase", ["wrong", ""])
def test_a_wrong_passphrase_is_told(pair, passphrase):
    with pytest.raises(ReportError, match="passphrase is wrong"):
        signing.open_key(pair[0], passphrase)


def test_a_key_needs_no_passphrase_where_it_has_none(document):
    archive, _ = make_key(passphrase="")
    assert signing.check_pdf(signing.open_key(archive, "").sign_pdf(document, ""))[0].holds


def test_no_key_is_told():
    with pytest.raises(ReportError, match="not a PKCS#12 file"):
        signing.open_key(b"not a key", "")


def test_a_certificate_alone_cannot_sign(pair):
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import NoEncryption, pkcs12

    certificate = x509.load_pem_x509_certificate(pair[1])
    archive = pkcs12.serialize_key_and_certificates(b"", None, None, [certificate], NoEncryption())
    with pytest.raises(ReportError, match="not contain a private key"):
        signing.open_key(archive, "")


def test_an_expired_certificate_cannot_sign():
    archive, _ = make_key(days=-3)
    with pytest.raises(ReportError, match="not valid now"):
        signing.open_key(archive, PASSPHRASE)


@pytest.mark.parametrize("broken", [b"", b"%PDF-1.7\nnothing", b"plain text"])
def test_what_is_no_pdf_is_neither_signed_nor_checked(key, broken):
    with pytest.raises(ReportError, match="could not be signed"):
        key.sign_pdf(broken, "")
    with pytest.raises(ReportError, match="signatures of the document could not be read"):
        signing.check_pdf(broken)


def test_a_damaged_pdf_is_logged_in_a_line(caplog):
    with pytest.raises(ReportError):
        signing.check_pdf(b"%PDF-1.7\nnothing")
    (told,) = caplog.records
    assert told.exc_info is None


def test_a_broken_root_is_told(signed):
    with pytest.raises(ReportError, match=r"not an X\.509 certificate"):
        signing.check_pdf(signed, [b"no certificate"])


def test_a_key_file_is_read_or_the_trouble_told(pair, tmp_path):
    (tmp_path / "ada.p12").write_bytes(pair[0])
    assert signing.read_key(tmp_path / "ada.p12") == pair[0]
    (tmp_path / "film.p12").write_bytes(bytes(1_000_001))
    for name, why in (("film.p12", "too large"), ("none.p12", "No such file"), (".", "directory")):
        with pytest.raises(ReportError, match=why):
            signing.read_key(tmp_path / name)
