"""What was added to a PDF: signatures that cannot be seen, and nothing else."""

import io

import pytest
import typst
from pyhanko.pdf_utils import generic
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign import fields, signers

from fairdesk.report.provenance import signing
from fairdesk.report.provenance.signing import only_signed
from tests.report.keys import PASSPHRASE, make_key


@pytest.fixture(scope="module")
def key():
    return signing.open_key(make_key()[0], PASSPHRASE)


@pytest.fixture(scope="module")
def document():
    source = b'#set document(title: "T")\n= Report\n\n#link("https://example.org")[A link.]\n'
    return typst.compile(source + b"\n#pagebreak()\nMore.", pdf_standards=["a-3a"])


def rewritten(document, change):
    """Return a PDF with objects written anew at its end."""
    writer = IncrementalPdfFileWriter(io.BytesIO(document))
    change(writer)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def first_page(writer):
    page = writer.root["/Pages"]
    while page["/Type"] == "/Pages":
        page = page["/Kids"][0]
    return page


def blank(writer):
    page = first_page(writer)
    page["/Contents"] = writer.add_object(generic.StreamObject(stream_data=b"BT ET"))
    writer.update_container(page)


def cover(writer):
    """Lay a white square over a page."""
    page = first_page(writer)
    square = generic.DictionaryObject(
        {
            generic.NameObject("/Type"): generic.NameObject("/Annot"),
            generic.NameObject("/Subtype"): generic.NameObject("/Square"),
            generic.NameObject("/Rect"): generic.ArrayObject(
                map(generic.NumberObject, (0, 0, 600, 900))
            ),
        }
    )
    page["/Annots"] = generic.ArrayObject([writer.add_object(square)])
    writer.update_container(page)


def fewer(writer):
    """Take what a page holds, links for example, away."""
    page = first_page(writer)
    page["/Annots"] = generic.ArrayObject()
    writer.update_container(page)


def open_with(writer):
    writer.root["/OpenAction"] = generic.ArrayObject()
    writer.update_root()


def titled(writer):
    writer.set_info(None)
    information = writer.add_object(
        generic.DictionaryObject({generic.pdf_name("/Title"): generic.pdf_string("Other")})
    )
    writer.set_info(information)


def drawn(writer):
    """Write what a page draws anew, in its own place."""
    reference = first_page(writer).raw_get("/Contents").reference
    writer.objects[(reference.generation, reference.idnum)] = generic.StreamObject(
        stream_data=b"BT ET"
    )


def test_signatures_once_and_twice_are_nothing_else(key, document):
    once = key.sign_pdf(document, "Mine")
    twice = signing.open_key(make_key("Bo")[0], PASSPHRASE).sign_pdf(once, "Seen")
    for signed in (once, twice):
        assert only_signed(signed, len(document))
    assert only_signed(twice, len(once))
    assert only_signed(document, len(document))


@pytest.mark.parametrize("change", [blank, cover, fewer, open_with, titled, drawn])
def test_what_is_changed_shows_whoever_signs_it_then(key, document, change):
    changed = rewritten(document, change)
    assert changed.startswith(document)
    assert not only_signed(changed, len(document))
    signed = key.sign_pdf(changed, "Mine")
    assert all(each.holds for each in signing.check_pdf(signed))
    assert not only_signed(signed, len(document))


def test_a_change_between_two_signatures(key, document):
    once = key.sign_pdf(document, "Mine")
    twice = key.sign_pdf(rewritten(once, blank), "Mine")
    assert not only_signed(twice, len(document))
    assert not only_signed(twice, len(once))


def test_another_document_behind_the_first_one(key, document):
    other = typst.compile(b"Something else.", pdf_standards=["a-3a"])
    assert not only_signed(document + other, len(document))


def test_a_signature_that_covers_a_page(document):
    archive, _ = make_key()
    signer = signers.SimpleSigner.load_pkcs12_data(archive, (), PASSPHRASE.encode())
    signed = signers.sign_pdf(
        IncrementalPdfFileWriter(io.BytesIO(document)),
        signers.PdfSignatureMetadata(field_name="Big"),
        signer=signer,
        new_field_spec=fields.SigFieldSpec("Big", box=(0, 0, 600, 900)),
    ).getvalue()
    assert signing.check_pdf(signed)[0].holds
    assert not only_signed(signed, len(document))


@pytest.mark.parametrize("size", [0, 100])
def test_what_cannot_be_read_is_not_vouched_for(document, size):
    assert not only_signed(document, size)
    assert not only_signed(b"no PDF", size)
