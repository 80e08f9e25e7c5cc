"""A report of an audit, as somebody asks for it, without a window."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import msgspec

from fairdesk.app.audit import Question
from fairdesk.app.standard import StandardPlan
from fairdesk.audit.runs.inspection import Subject
from fairdesk.audit.store.records import Categories, Choice, Details
from fairdesk.audit.store.store import Store
from fairdesk.errors import ReportError, StoreError
from fairdesk.report.content.choosing import Part, parts
from fairdesk.report.content.choosing import check as check_parts
from fairdesk.report.content.fields import LABELS, read_details, read_logo
from fairdesk.report.content.status import check_final, mark_final, standing
from fairdesk.report.document import Format, Written, whole_report, write_pdf, write_report
from fairdesk.report.provenance.signing import Key, open_key, read_key
from fairdesk.report.writing import check_place
from fairdesk.samples import Sample, own_finished


class ReportQuestion(msgspec.Struct, frozen=True):
    """Which report is to be written, as somebody names it.

    Attributes
    ----------
    audit : Path
        The audit.
    out : Path
        The report's file.
    form : str
        ``"pdf"``, ``"html"`` or ``"json"``.
    changes : dict
        What is to be otherwise than the audit has it, by the names of
        `fairdesk.audit.store.records.Choice`; of what is dropped and added: besides. For this
        report only.
    details, logo : Path, optional
        Files of what the auditor fills in, and of a picture; they are kept in the audit.
    final : bool
        Whether the report is marked as final, which the audit keeps too.
    key : Path, optional
        A PKCS#12 file to sign with.
    passphrase : Path, optional
        The file whose first line opens it.
    """

    audit: Path
    out: Path
    form: Format = "pdf"
    changes: dict[str, Any] = msgspec.field(default_factory=dict)
    details: Path | None = None
    logo: Path | None = None
    final: bool = False
    key: Path | None = None
    passphrase: Path | None = None


def report(question: ReportQuestion) -> Written:
    """Write a report of an audit, also of one that cannot be written to.

    Raises
    ------
    FairDeskError
        When the audit cannot be read; a detail, or a part that is named, is unknown; the report
        cannot be final yet, or be written or signed. Nothing is written then, and nothing kept.
    """
    check_place(question.out)
    key = None if question.key is None else _signing_key(question.key, question.passphrase)
    with _to_report(question) as (store, unlogged):
        choice = _changed(store.choice(), question.changes)
        details = _filled_in(store.details(), question)
        final = question.final or standing(store, choice.template, choice).word == "Final"
        named = {name: question.changes.get(name, ()) for name in ("left_out", "added")}
        if any(named.values()):
            # what the audit keeps may be of another kind of report, and is no mistake here
            asked = msgspec.structs.replace(choice, **named)
            check_parts(parts(whole_report(store, choice), choice), asked, final=final)
        if question.final:
            check_final(choice.template, details, store)
        store.write_details(details, LABELS)
        if question.final:
            mark_final(store, choice.template, choice)
        return write_report(store, question.out, question.form, choice, key=key, unlogged=unlogged)


def report_parts(audit: Path, changes: dict[str, Any]) -> tuple[Part, ...]:
    """List what a report of an audit could hold, and what of it is shown.

    Raises
    ------
    FairDeskError
        When the audit cannot be read.
    """
    with Store.read(audit) as store:
        choice = _changed(store.choice(), changes)
        return parts(whole_report(store, choice), choice)


@contextmanager
def _to_report(question: ReportQuestion) -> Iterator[tuple[Store, str]]:
    """Open the audit, or read it where it cannot be written to; gives why, then.

    Raises
    ------
    StoreError
        When it cannot be read; or not be written to, and something is to be kept in it.
    """
    keeps = question.final or question.details is not None or question.logo is not None
    with ExitStack() as stack:
        unlogged = ""
        try:
            store = stack.enter_context(Store.open(question.audit))
        except StoreError as error:
            store = stack.enter_context(Store.read(question.audit))
            if keeps:
                raise
            unlogged = str(error)
        yield store, unlogged


def _changed(choice: Choice, changes: dict[str, Any]) -> Choice:
    """Make a choice otherwise: parts are dropped and added besides those that are already."""
    wanted = dict(changes)
    left_out, added = wanted.pop("left_out", ()), wanted.pop("added", ())
    choice = msgspec.structs.replace(choice, **wanted)
    return msgspec.structs.replace(
        choice,
        left_out=tuple(
            key for key in dict.fromkeys((*choice.left_out, *left_out)) if key not in added
        ),
        added=tuple(key for key in dict.fromkeys((*choice.added, *added)) if key not in left_out),
    )


def _filled_in(details: Details, question: ReportQuestion) -> Details:
    """Return what is filled in, with what files say besides."""
    if question.details is not None:
        read = read_details(question.details)
        details = Details(
            texts={**details.texts, **read.texts},
            signers=read.signers or details.signers,
            categories=details.categories if read.categories == Categories() else read.categories,
            logo=read.logo or details.logo,
        )
    if question.logo is not None:
        details = msgspec.structs.replace(details, logo=read_logo(question.logo))
    return details


def _signing_key(key: Path, passphrase: Path | None) -> Key:
    word = ""
    if passphrase is not None:
        try:
            word = passphrase.read_text(encoding="utf-8").partition("\n")[0].rstrip("\r")
        except (OSError, UnicodeDecodeError) as error:
            raise ReportError(
                f"The passphrase in “{passphrase}” cannot be read.",
                why=f"The system reported: {getattr(error, 'strerror', None) or error}.",
                remedy="Give a text file whose first line is the passphrase.",
            ) from error
    return open_key(read_key(key), word)


def sample_question(sample: Sample) -> Question:
    """Return the question of a full audit of a sample and its first model."""
    return Question(
        Subject(
            data=sample.data_path,
            model=sample.model_path(sample.models[0]),
            label=sample.label,
            favourable=sample.favourable,
        ),
        protected=sample.protected,
        runs=(),
        title=sample.title,
        person=sample.person,
        standard=StandardPlan(options={"maft": sample.options}),
    )


def finished_report(sample: Sample) -> Path:
    """Return the report of the user's copy of a finished audit, made where there is none.

    The audit is only read.

    Raises
    ------
    FairDeskError
        When it cannot be made.
    """
    report = sample.finished_report
    if not report.is_file():
        with Store.read(own_finished(sample)) as store:
            write_pdf(store, report)
    return report
