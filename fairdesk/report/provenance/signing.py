"""Signatures: of a report's PDF (PAdES), and of a manifest (CMS, beside it), with a PKCS#12 key.

A signature shows that a file is, to the byte, what somebody with that key has signed. Who that is
the certificate says; whether to believe it depends on who issued it: a check says so apart, and
without the certificate of somebody who is trusted it can say no more than that nothing was changed.
The time in a signature is the signer's own clock's.

Objects of a PDF may be written anew at its end, and then count instead of the first ones (ISO
32000-2, 7.5.6). That its first bytes are unchanged says nothing of its pages; and who signs it then
signs what it shows by then.
"""

from __future__ import annotations

import io
import logging
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from fairdesk.errors import ReportError

if TYPE_CHECKING:
    from asn1crypto.x509 import Certificate
    from pyhanko.pdf_utils.generic import DictionaryObject, Reference
    from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
    from pyhanko.pdf_utils.reader import PdfFileReader
    from pyhanko.sign.signers import SimpleSigner
    from pyhanko.sign.signers.pdf_cms import PdfCMSSignedAttributes
    from pyhanko.sign.validation.status import SignatureStatus
    from pyhanko_certvalidator import ValidationContext


log = logging.getLogger(__name__)

#: What a damaged PDF makes pyHanko raise, beside its own errors: its documentation does not tell.
DAMAGE = (
    *(ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError),
    *(NotImplementedError, zlib.error),
)
#: What signers write anew, by the type of the object: fields are looked through one by one.
_BY_SIGNERS = {"/Catalog": {"/AcroForm", "/Extensions", "/Version", "/DSS"}, "/Page": {"/Annots"}}
_OF_INFORMATION = {"/ModDate", "/Producer"}
_OF_FORM = {"/Fields", "/SigFlags", "/DR", "/DA"}
#: What a field could do besides holding a signature.
_DOING = {"/A", "/AA", "/Kids"}


def only_signed(document: bytes, size: int) -> bool:
    """Return whether nothing was added to a PDF but signatures that cannot be seen.

    Whether they hold is for `fairdesk.report.provenance.signing.check_pdf`.

    Parameters
    ----------
    size : int
        So many of its first bytes are what it was before.
    """
    from pyhanko.pdf_utils.misc import PdfError  # noqa: PLC0415 - only where there is a PDF
    from pyhanko.pdf_utils.reader import PdfFileReader  # noqa: PLC0415

    try:
        before, after = (PdfFileReader(io.BytesIO(each)) for each in (document[:size], document))
        return (
            _follows(before, after)
            and _says_the_same(before, after)
            and _only_signatures_more(before, after)
        )
    except (PdfError, *DAMAGE) as error:
        log.warning("what was added to a PDF cannot be read: %r", error)
        return False


def _follows(before: PdfFileReader, after: PdfFileReader) -> bool:
    """Return whether a PDF goes on with what it was, and has no document of its own behind it."""
    same = (
        before.xrefs.get_startxref_for_revision(each)
        == after.xrefs.get_startxref_for_revision(each)
        for each in range(before.xrefs.total_revisions)
    )
    return all(same) and all(
        before.trailer.raw_get(name) == after.trailer.raw_get(name)
        for name in ("/Root", "/Info")
        if name in before.trailer or name in after.trailer
    )


def _says_the_same(before: PdfFileReader, after: PdfFileReader) -> bool:
    """Return whether objects that were written anew say the same, but for what signers write."""
    first = before.xrefs.total_revisions
    added = range(first, after.xrefs.total_revisions)
    there = {each for i in range(first) for each in before.xrefs.explicit_refs_in_revision(i)}
    anew = {each for i in added for each in after.xrefs.explicit_refs_in_revision(i)} & there
    freed = {each for i in added for each in after.xrefs.refs_freed_in_revision(i)} & there
    # lists of fields, and of what lies on pages, are looked through one by one
    lists = {_place(after.root, "/AcroForm"), _place(_form(after), "/Fields")}
    lists |= {_place(page, "/Annots") for page in _pages(after.root["/Pages"])}
    information = _place(before.trailer, "/Info")
    return not freed and all(
        _alike(before, after, each, _OF_INFORMATION if each == information else None)
        for each in anew - lists
    )


def _alike(
    before: Any,  # noqa: ANN401 - pyHanko's readers give anything
    after: Any,  # noqa: ANN401
    place: Reference,
    free: set[str] | None,
) -> bool:
    from pyhanko.pdf_utils.generic import DictionaryObject, StreamObject  # noqa: PLC0415

    old, new = before.get_object(place), after.get_object(place)
    if not isinstance(old, DictionaryObject) or type(old) is not type(new):
        return False
    kind = str(old.get("/Type"))
    if isinstance(old, StreamObject):
        return kind == "/Metadata"
    free = _BY_SIGNERS.get(kind, set()) if free is None else free
    return all(_raw(old, name) == _raw(new, name) for name in {*old, *new} - free)


def _only_signatures_more(before: PdfFileReader, after: PdfFileReader) -> bool:
    """Return whether all that pages and form have more are signatures that cannot be seen."""
    pages = zip(_pages(before.root["/Pages"]), _pages(after.root["/Pages"]), strict=True)
    old, new = _form(before), _form(after)
    return (
        all(_adds_signatures(was, now, "/Annots") for was, now in pages)
        and _adds_signatures(old, new, "/Fields")
        and all(_raw(old, name) == _raw(new, name) for name in {*old, *new} - _OF_FORM)
    )


def _adds_signatures(old: Any, new: Any, name: str) -> bool:  # noqa: ANN401 - dictionaries
    were, are = (_held(each, name, ()) for each in (old, new))
    return [_raw(were, i) for i in range(len(were))] == [
        _raw(are, i) for i in range(min(len(were), len(are)))
    ] and all(_unseen_signature(are[i]) for i in range(len(were), len(are)))


def _unseen_signature(field: DictionaryObject) -> bool:
    left, low, right, high = field["/Rect"]
    return field["/FT"] == "/Sig" and not _DOING & field.keys() and (left == right or low == high)


def _form(document: PdfFileReader) -> Any:  # noqa: ANN401 - a dictionary, or none
    return _held(document.root, "/AcroForm", {})


def _held(holder: Any, name: str, otherwise: object) -> Any:  # noqa: ANN401 - a dictionary's
    """Return what a dictionary holds; unlike its own `get`, references are followed."""
    try:
        return holder[name]
    except KeyError:
        return otherwise


def _pages(node: DictionaryObject) -> Sequence[DictionaryObject]:
    """Return the pages of a tree of them, in order."""
    if node["/Type"] != "/Pages":
        return [node]
    kids = node["/Kids"]
    return [page for i in range(len(kids)) for page in _pages(kids[i])]


def _raw(holder: Any, name: Any) -> object:  # noqa: ANN401 - a dictionary by names, a list by places
    """Return what an object holds, references as such; nothing where it is not there."""
    if isinstance(holder, dict) and name not in holder:
        return None
    return repr(holder.raw_get(name))


def _place(holder: Any, name: str) -> Reference | None:  # noqa: ANN401 - a dictionary
    """Return where what a dictionary holds is written; nowhere where it stands in it."""
    from pyhanko.pdf_utils.generic import IndirectObject  # noqa: PLC0415

    held = holder.raw_get(name) if name in holder else None
    return held.reference if isinstance(held, IndirectObject) else None


_DIGEST = "sha256"
_FIELD = "Signature"
#: A key with its certificates takes some kilobytes.
_MOST_BYTES = 1_000_000
#: The ending of a manifest's signature, which stands beside it.
SUFFIX = ".p7s"


class Signature(msgspec.Struct, frozen=True):
    """What a signature is worth.

    Attributes
    ----------
    signer, issuer : str
        Whom the certificate names, and who issued it.
    fingerprint : str
        SHA-256 of the certificate, 64 lower-case hexadecimal digits.
    at : str
        When, by the signer's own clock: UTC, ISO 8601; empty where it is not told.
    intact : bool
        Whether what was signed is unchanged, and was signed with the certificate's key.
    whole : bool
        Whether nothing but further signatures was added to the file since.
    trusted : bool
        Whether the certificate goes back to one that the reader trusts.
    said : str
        All of it in a sentence or two.
    """

    signer: str
    issuer: str
    fingerprint: str
    at: str
    intact: bool
    whole: bool
    trusted: bool
    said: str

    @property
    def holds(self) -> bool:
        """Whether the file is what was signed, whoever did."""
        return self.intact and self.whole


class Key:
    """A private key with its certificate, opened by `open_key`."""

    def __init__(self, signer: SimpleSigner, certificate: Certificate) -> None:
        self._signer = signer
        self._certificate = certificate

    @property
    def holder(self) -> str:
        """Whom the certificate names."""
        return _named(self._certificate)

    def sign_pdf(self, document: bytes, reason: str) -> bytes:
        """Sign a PDF, in an invisible field; what it was stays its first bytes.

        Parameters
        ----------
        reason : str
            Why it is signed; readers of PDFs show it.

        Raises
        ------
        ReportError
            When it is no PDF that can be signed.
        """
        from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter  # noqa: PLC0415
        from pyhanko.pdf_utils.misc import PdfError  # noqa: PLC0415
        from pyhanko.sign import fields, signers  # noqa: PLC0415
        from pyhanko.sign.general import SigningError  # noqa: PLC0415

        try:
            writer = IncrementalPdfFileWriter(io.BytesIO(document))
            field = fields.SigFieldSpec(
                _free_name(writer),
                # outside the page it need not be part of the tagged content (ISO 14289-1, 7.18.1)
                invis_sig_settings=fields.InvisSigSettings(box_out_of_bounds=True),
                readable_field_name="Signature",
            )
            meta = signers.PdfSignatureMetadata(
                field_name=field.sig_field_name,
                md_algorithm=_DIGEST,
                reason=reason,
                subfilter=fields.SigSeedSubFilter.PADES,
            )
            out = signers.sign_pdf(writer, meta, signer=self._signer, new_field_spec=field)
        except (PdfError, SigningError, ValueError) as error:
            raise ReportError(
                "The document could not be signed.",
                why=f"It is not a PDF that can be signed ({error}).",
                remedy="Export it again, then sign that.",
            ) from error
        return bytes(out.getbuffer())

    def sign_file(self, content: bytes) -> bytes:
        """Return the signature of a file, to stand beside it: CMS, detached, DER."""
        import asyncio  # noqa: PLC0415 - needed seldom

        signed = asyncio.run(
            self._signer.async_sign_general_data(
                content, _DIGEST, detached=True, signed_attr_settings=_timed()
            )
        )
        return bytes(signed.dump())


def read_key(path: Path) -> bytes:
    """Read a key's file.

    Raises
    ------
    ReportError
        When it cannot be read, or is far too large for a key.
    """
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ReportError(
                "The signing certificate could not be opened.",
                why=f"“{path.name}” is too large for a signing certificate.",
                remedy="Choose the file that ends in .p12 or .pfx.",
            )
        return path.read_bytes()
    except OSError as error:
        raise ReportError(
            "The signing certificate could not be opened.",
            why=f"“{path.name}” cannot be read: {error.strerror or error}.",
            remedy="Choose the file that ends in .p12 or .pfx.",
        ) from error


def open_key(archive: bytes, passphrase: str) -> Key:
    """Open a PKCS#12 file (``.p12``, ``.pfx``).

    Raises
    ------
    ReportError
        When it is none, the passphrase is wrong, it holds no private key, or its certificate
        holds no more or not yet.
    """
    from cryptography.hazmat.primitives.serialization import pkcs12  # noqa: PLC0415
    from pyhanko.sign.signers import SimpleSigner  # noqa: PLC0415

    word = passphrase.encode() or None
    try:
        key, certificate, _others = pkcs12.load_key_and_certificates(archive, word)
    except ValueError as error:
        raise ReportError(
            "The signing certificate could not be opened.",
            why="The passphrase is wrong, or the file is not a PKCS#12 file (.p12, .pfx).",
            remedy=(
                "Try the passphrase again, or ask the issuer of the certificate for a PKCS#12 file."
            ),
        ) from error
    if key is None or certificate is None:
        raise ReportError(
            "The file cannot be used for signing.",
            why="It does not contain a private key with its certificate.",
            remedy="Export the certificate together with its private key.",
        )
    now = datetime.now(UTC)
    if not certificate.not_valid_before_utc <= now <= certificate.not_valid_after_utc:
        raise ReportError(
            "The signing certificate is not valid now.",
            why=f"It is valid from {certificate.not_valid_before_utc:%Y-%m-%d} to "
            f"{certificate.not_valid_after_utc:%Y-%m-%d} only.",
            remedy="Ask its issuer for a new one.",
        )
    signer = SimpleSigner.load_pkcs12_data(archive, (), word)
    assert signer.signing_cert is not None, "it was just read"  # noqa: S101 - mypy
    return Key(signer, signer.signing_cert)


def check_pdf(document: bytes, roots: Sequence[bytes] = ()) -> tuple[Signature, ...]:
    """Check the signatures in a PDF, in their order; empty where there is none.

    Parameters
    ----------
    roots : sequence of bytes
        Certificates that the reader trusts, PEM or DER.

    Raises
    ------
    ReportError
        When it is no PDF that can be read.
    """
    from pyhanko.pdf_utils.misc import PdfError  # noqa: PLC0415
    from pyhanko.pdf_utils.reader import PdfFileReader  # noqa: PLC0415
    from pyhanko.sign.diff_analysis import ModificationLevel  # noqa: PLC0415
    from pyhanko.sign.validation import validate_pdf_signature  # noqa: PLC0415
    from pyhanko.sign.validation.errors import SignatureValidationError  # noqa: PLC0415
    from pyhanko.sign.validation.status import SignatureCoverageLevel  # noqa: PLC0415

    checked = []
    trusting = _trusting(roots)
    try:
        signatures = PdfFileReader(io.BytesIO(document)).embedded_signatures
        # what follows the last signed byte is signed by nobody, even where readers pass over it
        covered = max((each.byte_range[2] + each.byte_range[3] for each in signatures), default=0)
        for signature in signatures:
            try:
                with _quietly():
                    status = validate_pdf_signature(signature, trusting)
            except SignatureValidationError as error:
                checked.append(_refused(signature.signer_cert, str(error)))
                continue
            added = status.modification_level
            whole = covered == len(document) and (
                status.coverage is SignatureCoverageLevel.ENTIRE_FILE
                # further signatures and time stamps are added to the end of a signed file
                or (added is not None and added <= ModificationLevel.FORM_FILLING)
            )
            checked.append(_signature(status, status.signer_reported_dt, whole=whole))
    except (PdfError, *DAMAGE) as error:
        log.warning("a PDF’s signatures could not be read: %r", error)
        raise ReportError(
            "The signatures of the document could not be read.",
            why=f"It is not a PDF, or it is damaged ({error}).",
            remedy="Get the original file from where it was created.",
        ) from error
    return tuple(checked)


def check_file(content: bytes, signature: bytes, roots: Sequence[bytes] = ()) -> Signature:
    """Check the signature that stands beside a file; as `check_pdf`.

    Raises
    ------
    ReportError
        When it is no signature.
    """
    import asyncio  # noqa: PLC0415 - needed seldom

    from asn1crypto import cms  # noqa: PLC0415
    from pyhanko.sign.validation import async_validate_detached_cms  # noqa: PLC0415
    from pyhanko.sign.validation.errors import SignatureValidationError  # noqa: PLC0415

    trusting = _trusting(roots)
    try:
        signed = cms.ContentInfo.load(signature, strict=True)["content"]
        certificates = [each.chosen for each in signed["certificates"]]
        with _quietly():
            status = asyncio.run(async_validate_detached_cms(content, signed, trusting))
    except SignatureValidationError as error:
        return _refused(certificates[0] if certificates else None, str(error))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ReportError(
            "The file’s companion signature could not be read.",
            why=f"It is not a CMS signature, or it is damaged ({error}).",
            remedy=f"Get the original file that ends in {SUFFIX} from where it was created.",
        ) from error
    return _signature(status, status.signer_reported_dt, whole=True)


def _free_name(writer: IncrementalPdfFileWriter) -> str:
    """Name a field that the PDF does not have yet: several people may sign one after the other."""
    from pyhanko.sign.fields import enumerate_sig_fields  # noqa: PLC0415

    taken = {name for name, _value, _reference in enumerate_sig_fields(writer)}
    return next(
        name
        for number in range(1, len(taken) + 2)
        if (name := _FIELD if number == 1 else f"{_FIELD}{number}") not in taken
    )


def _timed() -> PdfCMSSignedAttributes:
    """Request a timestamp to be signed as well."""
    from pyhanko.sign.signers.pdf_cms import PdfCMSSignedAttributes  # noqa: PLC0415

    return PdfCMSSignedAttributes(signing_time=datetime.now(UTC))


def _trusting(roots: Sequence[bytes]) -> ValidationContext:
    """Trust these certificates, and nobody that the system does; nothing is fetched."""
    from asn1crypto import pem, x509  # noqa: PLC0415
    from pyhanko_certvalidator import ValidationContext  # noqa: PLC0415

    try:
        trusted = [
            x509.Certificate.load(pem.unarmor(each)[2] if pem.detect(each) else each)
            for each in roots
        ]
        for certificate in trusted:
            certificate.native  # noqa: B018 - reads it whole
    except (ValueError, TypeError) as error:
        raise ReportError(
            "A certificate to trust could not be read.",
            why="It is not an X.509 certificate (PEM or DER).",
            remedy="Ask its issuer for the certificate file.",
        ) from error
    return ValidationContext(trust_roots=trusted, allow_fetching=False)


def _named(certificate: Certificate) -> str:
    """Name the holder of a certificate: ``Ada Auditor (Fair & Co)``."""
    names = certificate.subject.native
    name = names.get("common_name") or certificate.subject.human_friendly
    organisation = names.get("organization_name")
    return f"{name} ({organisation})" if organisation else str(name)


@contextmanager
def _quietly() -> Iterator[None]:
    """Keep it out of the log that nobody vouches for a certificate: the check's result says so."""
    library = logging.getLogger("pyhanko")
    before = library.level
    library.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        library.setLevel(before)


def _signature(status: SignatureStatus, when: datetime | None, *, whole: bool) -> Signature:
    certificate = status.signing_cert
    intact, trusted = bool(status.intact and status.valid), bool(status.trusted)
    name = _named(certificate)
    if not intact:
        said = f"Changed since it was signed, or not signed with the key of {name}."
    elif not whole:
        said = f"Signed by {name}, but changed by an addition since."
    else:
        said = f"Unchanged since it was signed by {name}."
    said += (
        " Its certificate chain ends in a certificate that is trusted here."
        if trusted
        else (
            " Whether the certificate belongs to them was not verified: its chain does not end "
            "in a certificate that is trusted here."
        )
    )
    at = when.astimezone(UTC).isoformat(timespec="seconds") if when else ""
    return Signature(*_about(certificate), at, intact, whole, trusted, said)


def _refused(certificate: Certificate | None, why: str) -> Signature:
    """Describe a signature that is none."""
    about = ("somebody", "", "") if certificate is None else _about(certificate)
    said = f"Not a valid signature of {about[0]}: {why}"
    return Signature(*about, "", intact=False, whole=False, trusted=False, said=said)


def _about(certificate: Certificate) -> tuple[str, str, str]:
    """Name a certificate's holder, its issuer and its fingerprint."""
    issuer = str(certificate.issuer.human_friendly)
    return _named(certificate), issuer, certificate.sha256.hex()
