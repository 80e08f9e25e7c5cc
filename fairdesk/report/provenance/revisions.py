"""What was added to a PDF after it was made: signatures that cannot be seen, or anything else.

Objects of a PDF may be written anew at its end, and then count instead of the first ones (ISO
32000-2, 7.5.6). That its first bytes are unchanged says nothing of its pages; and who signs it then
signs what it shows by then.
"""

from __future__ import annotations

import io
import logging
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyhanko.pdf_utils.generic import DictionaryObject, Reference
    from pyhanko.pdf_utils.reader import PdfFileReader

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
