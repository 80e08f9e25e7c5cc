"""A whole audit checked again, by anybody, later and elsewhere.

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
from fairdesk.audit.verify.log import check_accuracy
from fairdesk.audit.verify.pairs import ASKED_AGAIN, check_distances, check_pairs
from fairdesk.audit.verify.record import Anchor, check_record
from fairdesk.audit.verify.tally import untried
from fairdesk.audit.worker.client import Worker
from fairdesk.certify.proof import certificate
from fairdesk.certify.proof.certificate import CertificateError
from fairdesk.certify.proof.verify.statements import Check
from fairdesk.certify.proof.verify.verify import verify
from fairdesk.data.table import Table
from fairdesk.errors import DataError, StoreError
from fairdesk.models.inputs.usual import refitted
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
