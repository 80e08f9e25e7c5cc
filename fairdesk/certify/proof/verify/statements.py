"""What a certificate says in words: only what FairDesk writes of such a proof."""

from __future__ import annotations

import msgspec

from fairdesk.certify.options import CertifyOptions
from fairdesk.certify.proof.certificate import Header, margin_sentence
from fairdesk.certify.proof.verify import notes
from fairdesk.certify.proof.verify.outcome import Check


def statements_check(header: Header) -> Check:
    """Check the sentences, the method and its options: nobody else can add to them.

    What can be made again from what is checked is made again. Times, versions and the names of
    files cannot: they are not checked, and nothing repeats them.
    """
    messages = [] if header.method == notes.METHOD else ["It names another method."]
    try:
        options = msgspec.convert(header.options, CertifyOptions)
        strange = header.options.keys() - set(options.__struct_fields__)
    except msgspec.ValidationError as error:
        messages.append(f"Its options are not those of the method: {error}.")
    else:
        messages += ["Its options are not those of the method."] if strange else []
    if header.about_margin != margin_sentence(header.margin):
        messages.append("What it says of rounding does not follow from its margin.")
    known = _possible(header)
    messages += [
        f"FairDesk does not write of this proof: “{note[:200]}”"
        for note in header.notes
        if note not in known
    ]
    tried = 3 + len(header.notes)
    return Check(
        "Its notes, method and options are what FairDesk writes of such a proof",
        tried,
        min(len(messages), tried),
        0,
        (*messages, "Times, versions and file names in it are not verified."),
    )


def _possible(header: Header) -> set[str]:
    """Return the sentences that can be true of what a certificate says in numbers."""
    domain = header.domain
    found = {notes.ROWS_LEFT, notes.QUERIED}
    if header.unclear:
        found.add(notes.UNCLEAR)
    if header.total == "0":
        found.add(notes.NO_COMPARISON)
    if header.falsified == "0":
        found.add(notes.unused([domain.names[i] for i in domain.protected.tolist()]))
        if header.certified == "0":
            found.add(notes.NOTHING)
    return found
