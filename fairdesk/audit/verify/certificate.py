"""A certificate checked again, from its own file and the model's."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec
import numpy as np

from fairdesk.audit.runs.inspection import Subject, opened
from fairdesk.audit.worker.client import Worker
from fairdesk.certify.proof import certificate_reading
from fairdesk.certify.proof.certificate import CertificateError, Header, about
from fairdesk.certify.proof.verify.statements import KINDS, Check
from fairdesk.certify.proof.verify.verify import verify
from fairdesk.data.table import Dialect
from fairdesk.errors import ModelError, system_errors
from fairdesk.files import sha256
from fairdesk.models.preparation.beside import with_codes_beside

#: What every SQLite database begins with.
_DATABASE = b"SQLite format 3\0"


class CertificateCheckRequest(msgspec.Struct, frozen=True):
    """A certificate that is to be checked again.

    Attributes
    ----------
    certificate : Path
        Its file.
    model : Path
        The model's file.
    companions : tuple[Path, ...]
        Files beside it that tell how it is fed.
    data : Path, optional
        A table whose people are asked about too.
    table : str
        Its sheet or table, where it has several.
    sample, seconds, seed, everything
        As `fairdesk.certify.proof.verify.verify.verify` takes them.
    trusted, make_environment
        As in `fairdesk.audit.runs.inspection.Subject`.
    """

    certificate: Path
    model: Path
    companions: tuple[Path, ...] = ()
    data: Path | None = None
    table: str = ""
    sample: int = 10_000
    seconds: float = 6.0
    seed: int = 0
    everything: bool = False
    trusted: bool = False
    make_environment: bool = False


class Verified(msgspec.Struct, frozen=True):
    """What came of checking a certificate again.

    Attributes
    ----------
    header : Header
        What it says, of the model file that was given.
    leaves : dict[str, int]
        How many boxes it has of each kind.
    checks : tuple[Check, ...]
        What was checked.
    """

    header: Header
    leaves: dict[str, int]
    checks: tuple[Check, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing contradicts it."""
        return not any(each.failed for each in self.checks)


def is_audit(path: Path) -> bool:
    """Return by its content whether a file is an audit; else it may be a certificate.

    Raises
    ------
    CertificateError
        When it cannot be read.
    """
    what = f"The file “{path}” cannot be read."
    with system_errors(CertificateError, what, "Check its name."), path.open("rb") as stream:
        return stream.read(len(_DATABASE)) == _DATABASE


def check_certificate(
    worker: Worker, doubt: CertificateCheckRequest, say: Callable[[str], None]
) -> Verified:
    """Check a certificate again, by other means than it was made with.

    Nothing but its fingerprint is looked at of a model that is not the certificate's.

    Parameters
    ----------
    say : callable
        Told what goes on, a sentence at a time.

    Raises
    ------
    FairDeskError
        When it cannot be checked.
    """
    say("Reading the proof certificate")
    header, arrays = certificate_reading.read(doubt.certificate)
    verdicts, counts = np.unique(arrays["verdict"], return_counts=True)
    number = dict(zip(verdicts.tolist(), counts.tolist(), strict=True))
    leaves = {name: number.get(verdict, 0) for verdict, name in KINDS.items()}
    checks, shown = [_same_files(header, doubt)], header
    if not checks[0].failed:
        subject = Subject(
            data=Path(),
            label="",
            favourable="",
            model=doubt.model,
            companions=doubt.companions,
            output=header.model.output,
            trusted=doubt.trusted,
            make_environment=doubt.make_environment,
        )
        card = opened(worker, subject, doubt.model, worker.look_into(doubt.model), say)
        if card.sha256 != header.model.sha256:
            raise ModelError(
                f"“{doubt.model.name}” was changed while it was opened.",
                remedy="Wait until no other program writes to it, then try again.",
            )
        # the file's name and format as they are here: those in the certificate are bound to nothing
        shown = about(header, card, header.mapping, header.domain, header.versions)
        people = None
        if doubt.data is not None:
            say(f"Reading {doubt.data.name}")
            dialect = Dialect(table=doubt.table) if doubt.table else None
            people = header.domain.people(worker.read_table(doubt.data, dialect))
        roots = arrays["root_low"], arrays["root_high"]
        for check in verify(
            header,
            arrays,
            partial(worker.predict, header.mapping, header.domain.attributes),
            partial(worker.reprove, header, roots),
            everything=doubt.everything,
            sample=doubt.sample,
            seconds=doubt.seconds,
            rng=np.random.default_rng(doubt.seed),
            people=people,
        ):
            say(f"Checked: {check.name}")
            checks.append(check)
    return Verified(shown, leaves, tuple(checks))


def _same_files(header: Header, doubt: CertificateCheckRequest) -> Check:
    """Check the fingerprints of the model, and of the files beside it."""
    wanted = [(header.model.name, header.model.sha256), *header.model.companions]
    given = [doubt.model, *with_codes_beside(doubt.model, doubt.companions)]
    messages = []
    try:
        found = [sha256(path) for path in given]
    except OSError as error:
        raise ModelError(
            f"“{error.filename}” cannot be read.", why=f"The system reported: {error.strerror}."
        ) from error
    if found[0] != wanted[0][1]:
        messages.append(
            f"The proof certificate covers “{wanted[0][0]}” with the SHA-256 hash "
            f"{wanted[0][1][:12]}…; that of “{doubt.model.name}” is {found[0][:12]}…."
        )
    messages += [
        f"It was made with the companion file “{name}” (SHA-256 {digest[:12]}…), which was not "
        "given: give it with --companion."
        for name, digest in wanted[1:]
        if digest not in found[1:]
    ]
    return Check(
        "The model’s file is the one that was certified",
        len(wanted),
        len(messages),
        0,
        tuple(messages),
    )
