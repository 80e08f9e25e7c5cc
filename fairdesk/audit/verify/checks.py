"""A whole audit, or a certificate by itself, checked again, by anybody, later and elsewhere.

What is compared: the file with itself and with the log's chain of fingerprints; data and model at
hand with the audited ones; what the model says now with what the audit says that it said; and what
follows from the rows of the data, counted once more. The audit is only read.

What nobody gave is told as not checked. Nothing here can show that an audit was made honestly, only
that what it says holds: who wrote question, findings and log all anew has an audit that agrees with
itself. Against that stands a manifest, or a report, that was given away before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.runs.inspection import Subject, opened
from fairdesk.audit.store.records import PairQuery
from fairdesk.audit.store.store import Store
from fairdesk.audit.verify.figures import (
    RULE_SETS,
    Ask,
    check_exact_shares,
    check_proven,
    check_rows,
    check_rule_sets,
    of_all_rows,
)
from fairdesk.audit.verify.files import (
    SAME_DATA,
    SAME_MODEL,
    SAME_TABLE,
    check_data_file,
    check_model_files,
    check_scaling,
    check_table,
    open_again,
)
from fairdesk.audit.verify.pairs import ASKED_AGAIN, check_distances, check_pairs
from fairdesk.audit.verify.record import Anchor, check_accuracy, check_record
from fairdesk.audit.verify.tally import untried
from fairdesk.audit.worker.client import Worker
from fairdesk.certify.proof import certificate, certificate_reading
from fairdesk.certify.proof.certificate import CertificateError, Header, about
from fairdesk.certify.proof.verify.statements import KINDS, Check
from fairdesk.certify.proof.verify.verify import verify
from fairdesk.data.table import Dialect, Table
from fairdesk.errors import DataError, ModelError, StoreError, system_errors
from fairdesk.files import sha256
from fairdesk.models.inputs.usual import refitted
from fairdesk.models.preparation.beside import with_codes_beside
from fairdesk.results.events import Rows
from fairdesk.results.groups import GroupGap
from fairdesk.results.individual import (
    AuditStudy,
    ChangeSplit,
    ComparedRows,
    ExcessChange,
    GradientFidelity,
    RandomBaseline,
    SearchPhase,
    Share,
    ValueChanges,
)
from fairdesk.results.mitigation import Trial
from fairdesk.results.proofs import PairShare
from fairdesk.results.subgroups import LinearGroup, RuleSet, TermRate

ESTIMATES = "Estimates from samples, and mitigation results"
#: Figures that rest on random samples.
_BY_CHANCE = (
    *(Share, ComparedRows, ChangeSplit, AuditStudy, ValueChanges, ExcessChange, PairShare),
    *(RandomBaseline, SearchPhase, GradientFidelity),
    *(GroupGap, LinearGroup, TermRate, RuleSet, Trial),
)
#: For what is proven once more, unless somebody says otherwise.
SECONDS = 3.0
_NO_MODEL = "The model was not given: give it with --model."
_NO_DATA = "The data were not given: give them with --data."
_SAMPLED = "Only a sample of the rows is at hand."
_OTHER_MODEL = "A different model is not queried: its outputs are not relevant to this audit."


class VerifyRequest(msgspec.Struct, frozen=True):
    """An audit that is to be checked again, and what is at hand for it.

    Attributes
    ----------
    audit : Path
        Its file.
    data, model : Path, optional
        The table and the model; what needs one that is missing is told as not checked.
    companions : tuple[Path, ...]
        Files beside the model. They are looked for where they were, and beside it, too.
    sample : int, optional
        So many pairs are looked at, drawn at random; ``None`` for all.
    seconds : float
        For so long boxes of each certificate are proven once more, and rows decided once more with
        their neighbours.
    seed : int
        Of all randomness.
    points : int
        So many people are drawn from the boxes of each kind of a certificate.
    everything : bool
        Whether every box of a certificate is proven once more, however long that takes.
    trusted : bool
        Whether a model file that is a program may run. FairDesk's own samples always may.
    make_environment : bool
        Whether the environment that the model was audited in may be made, where it is not there.
    """

    audit: Path
    data: Path | None = None
    model: Path | None = None
    companions: tuple[Path, ...] = ()
    sample: int | None = None
    seconds: float = SECONDS
    seed: int = 0
    points: int = 10_000
    everything: bool = False
    trusted: bool = False
    make_environment: bool = False


def recheck(
    worker: Worker,
    store: Store,
    asked: VerifyRequest,
    say: Callable[[str], None],
    anchor: Anchor | None,
) -> Iterator[Check]:
    """Check an audit again.

    Parameters
    ----------
    worker : Worker
        Reads the data, opens the model and asks it.
    say : callable
        Told what goes on, a sentence at a time; an exception out of it ends the check.
    anchor : Anchor, optional
        What a manifest or a report says of the log.

    Yields
    ------
    Check
        One after the other.

    Raises
    ------
    FairDeskError
        When it cannot be checked: a file cannot be read, or the model not be opened.
    """
    rng = np.random.default_rng(asked.seed)
    say("Reading the audit log")
    yield from check_record(store, anchor)
    try:
        table = store.table()
        store.runs()
    except StoreError as error:
        yield Check("The contents of the audit file can be read", 1, 1, 0, (str(error),))
        return
    say("Comparing the data")
    yield from _data(worker, store.spec, asked, table)
    if refitted(store.spec.mapping):
        yield check_scaling(store.spec, table)
    say("Opening the model")
    same, reason = _model(worker, store.spec, asked, say)
    yield same
    people = store.spec.domain.people(table)
    ask, spec = None, store.spec
    if not reason:
        ask = partial(worker.predict, spec.mapping, spec.domain.attributes)
    again = None
    if ask is not None and spec.data.sample is None:
        again = partial(worker.prove, spec.mapping, table, spec.label, spec.favourable)
    check = check_accuracy(store, again, reason or _SAMPLED)
    if check is not None:
        yield check
    try:
        yield from _people(worker, store, asked, ask, people, reason, say)
    except StoreError as error:
        yield Check("Pairs can be read", 1, 1, 0, (str(error),))
    say("Recalculating group metrics")
    yield from _figures(worker, store, ask, people, rng, asked.seconds, reason)
    for run in store.certified_runs():
        yield from _certificate(worker, store, run, asked, ask, people, rng, reason, say)


def _data(worker: Worker, spec: AuditSpec, asked: VerifyRequest, table: Table) -> Iterator[Check]:
    """Compare the data's file, and what it gives when it is read again."""
    if asked.data is None:
        yield untried(SAME_DATA, _NO_DATA)
        yield untried(SAME_TABLE, _NO_DATA)
        return
    yield check_data_file(spec, asked.data)
    try:
        read = worker.read_table(asked.data, spec.data.dialect)
    except DataError as error:
        yield Check(SAME_TABLE, 1, 1, 0, (str(error),))
        return
    yield check_table(table, read)


def _model(
    worker: Worker, spec: AuditSpec, asked: VerifyRequest, say: Callable[[str], None]
) -> tuple[Check, str]:
    """Open the model, if it is the audited one; else say why it cannot be asked."""
    if spec.predictions:
        no_model = f"There is no model: the decisions are in the column “{spec.predictions}”."
        return Check(SAME_MODEL, 0, 0, 0, (no_model,)), no_model
    if asked.model is None:
        return untried(SAME_MODEL, _NO_MODEL), _NO_MODEL
    check = check_model_files(spec, asked.model, asked.companions)
    if check.failed:
        return check, _OTHER_MODEL
    if check.unknown:
        return check, check.remarks[0]
    open_again(
        worker,
        spec,
        asked.model,
        asked.companions,
        say,
        trusted=asked.trusted,
        make_environment=asked.make_environment,
    )
    return check, ""


def _people(
    worker: Worker,
    store: Store,
    asked: VerifyRequest,
    ask: Ask | None,
    people: Rows,
    reason: str,
    say: Callable[[str], None],
) -> Iterator[Check]:
    """Look at reported pairs."""
    if not store.count(PairQuery()):
        return

    def plausible(rows: Rows) -> NDArray[np.bool_]:
        return worker.score_plausibility(store.spec.domain, people, rows, rows[:0]).plausible

    yield from check_pairs(
        store, ask, asked.sample, asked.seed, say, plausible if len(people) else None
    )
    if ask is None:
        yield untried(ASKED_AGAIN, reason)
    say("Comparing pairs with the data rows")
    yield check_distances(store, worker, people, asked.seed)


def _figures(
    worker: Worker,
    store: Store,
    ask: Ask | None,
    people: Rows,
    rng: np.random.Generator,
    seconds: float,
    reason: str,
) -> Iterator[Check]:
    """Count again what follows from the rows of the data."""
    runs = store.runs()
    counts = worker if ask or store.spec.predictions else None
    yield from check_rows(store, counts, seconds, reason)
    if any(isinstance(each, RuleSet) for run in runs for each in run.figures):
        yield check_rule_sets(store, ask) if ask else untried(RULE_SETS, reason)
    if ask is not None:
        yield from check_exact_shares(store, ask, people, rng)

    if any(
        isinstance(each, _BY_CHANCE)
        and not (isinstance(each, Share) and each.exact)
        and each not in of_all_rows(run)
        for run in runs
        for each in run.figures
    ):
        yield untried(
            ESTIMATES,
            "This needs the whole run: “fairdesk reproduce” repeats it with the same random seeds.",
        )


def _certificate(
    worker: Worker,
    store: Store,
    run: int,
    asked: VerifyRequest,
    ask: Ask | None,
    people: Rows,
    rng: np.random.Generator,
    reason: str,
    say: Callable[[str], None],
) -> Iterator[Check]:
    """Check what a run has proven, as a certificate by itself is checked."""
    try:
        kept = store.certificate(run)
    except StoreError as error:
        yield Check(f"Run {run}: the proof certificate can be read", 1, 1, 0, (str(error),))
        return
    if kept is None:
        return
    header, arrays = certificate.decoded(kept[0]), kept[1]
    yield check_proven(store, run, header)
    if ask is None:
        yield untried(f"Run {run}: the proof certificate, compared with the model", reason)
        return
    roots = arrays["root_low"], arrays["root_high"]
    checks = verify(
        header,
        arrays,
        ask,
        partial(worker.reprove, header, roots),
        everything=asked.everything,
        sample=asked.points,
        seconds=asked.seconds,
        rng=rng,
        people=people,
    )
    while True:
        try:
            check = next(checks, None)
        except CertificateError as error:
            yield Check(f"Run {run}: the proof certificate’s regions", 1, 1, 0, (str(error),))
            return
        if check is None:
            return
        say(f"Checked the proof certificate of run {run}: {check.name}")
        yield msgspec.structs.replace(check, name=f"Run {run}: {check.name}")


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
