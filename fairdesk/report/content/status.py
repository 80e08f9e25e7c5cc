"""Whether a report is a draft or final: read from the audit's log, where the auditor says so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from fairdesk.audit.store.digests import replayed
from fairdesk.audit.store.records import PASSING, Choice, Details, LogEntry, Signer, TemplateKey
from fairdesk.audit.store.store import Store
from fairdesk.audit.verify.tally import Tally
from fairdesk.certify.proof.verify.statements import Check
from fairdesk.errors import ReportError, StoreError
from fairdesk.groups.options import LEAST_SHARE
from fairdesk.report.content.choosing import settled
from fairdesk.report.content.fields import FIELDS, fault, fields_of, filled_in, missing, unsigned
from fairdesk.report.content.passages import TEMPLATES
from fairdesk.report.content.published import propose_categories, tables
from fairdesk.results.groups import GroupTable

MARKED = "Reports marked as final had all required information"
_OTHER_FORM = "Its options differ from those of the report that was marked as final."


class Status(msgspec.Struct, frozen=True):
    """How a report stands.

    Attributes
    ----------
    word : str
        ``"Draft"`` or ``"Final"``.
    at : str
        When it was marked final (UTC, ISO 8601); empty when it never was.
    changed : str
        What made it a draft again, as the log says it; empty when nothing did.
    """

    word: Literal["Draft", "Final"]
    at: str = ""
    changed: str = ""


class _Of(msgspec.Struct, frozen=True, omit_defaults=True):
    """Which template an entry is about, and how its report was wanted when it was marked."""

    template: TemplateKey
    choice: Choice | None = None


def standing(store: Store, template: TemplateKey, choice: Choice | None = None) -> Status:
    """Return how a template's report stands: what its pages, the window and the command line say.

    It is final when the log says so (`status`) and nothing that it needs is missing: an entry that
    somebody has written by hand makes no report final.

    Parameters
    ----------
    choice : Choice, optional
        How it is wanted; as the log has it when left out.
    """
    found = status(store.log_entries(), template, choice)
    if found.word == "Draft" or not (left := obstacles(template, store.details(), store)):
        return found
    return Status("Draft", found.at, f"Required information is missing: {'; '.join(left)}.")


def any_final(store: Store) -> bool:
    """Whether the log says of any template's report that it is final."""
    log = store.log_entries()
    return any(status(log, template).word == "Final" for template in TEMPLATES)


def status(log: Sequence[LogEntry], template: TemplateKey, choice: Choice | None = None) -> Status:
    """Return what the log says of a template's report: final until anything changes it after that.

    What is decided about another template changes nothing. Whatever cannot be understood does. A
    report that is wanted in another form than the one that was marked is a draft.
    """
    at = changed = ""
    form = marked = Choice(template)
    for entry in log:
        if entry.kind in ("final", "draft") and (of := _of(entry)) is not None:
            if of.template == template:
                at, changed = (entry.at if entry.kind == "final" else ""), ""
                marked = of.choice or form
        elif entry.kind == "choice" and (wanted := _choice(entry)) is not None:
            if wanted.template == template:
                form = wanted
            if at and form != marked:
                changed = changed or entry.what
        elif at and entry.kind not in PASSING:
            changed = changed or entry.what
    if at and settled(choice or form, final=True) != settled(marked, final=True):
        changed = changed or _OTHER_FORM
    return Status("Final" if at and not changed else "Draft", at, changed)


def _of(entry: LogEntry) -> _Of | None:
    """Return what an entry is about; ``None`` where somebody has spoilt it."""
    try:
        return msgspec.json.decode(entry.facts, type=_Of)
    except msgspec.MsgspecError:
        return None


def _choice(entry: LogEntry) -> Choice | None:
    try:
        return msgspec.json.decode(entry.facts, type=Choice)
    except msgspec.MsgspecError:
        return None


def obstacles(
    template: TemplateKey, details: Details, store: Store | None = None
) -> tuple[str, ...]:
    """Say what keeps a template's report from being final, a few words each; none: it can be.

    With the audit itself also what its figures ask for.
    """
    empty = [field.label for field in missing(template, details)]
    wrong = [
        f"{field.label}: {said}"
        for field in fields_of(template)
        if (said := fault(field, details.texts.get(field.key, "")))
    ]
    if template == "ll144" and store is not None and _unexplained(store, details):
        empty.append(FIELDS["small_categories"].label)
    return (*empty, *wrong, *(["a signatory"] if unsigned(template, details) else []))


def _unexplained(store: Store, details: Details) -> bool:
    """Whether categories are left out of impact ratios, and nobody says why (6 RCNY 5-301(d))."""
    if filled_in(details, "small_categories"):
        return False
    named = details.categories
    categories = named if named.sex or named.race else propose_categories(store.spec)
    for run in reversed(store.runs()):
        if counted := [each for each in run.figures if isinstance(each, GroupTable)]:
            least = float(run.spec.options.get("least_share", LEAST_SHARE))
            made = tables(counted, categories, least)
            return any(line.excluded for table in made for line in table.lines)
    return False


def mark_final(store: Store, template: TemplateKey, choice: Choice | None = None) -> None:
    """Mark a template's report as final: as it is wanted, or as the log has that.

    Raises
    ------
    ReportError
        While something that it needs is empty, or cannot be.
    """
    check_final(template, store.details(), store)
    said = f"The report “{TEMPLATES[template].title}” was marked as final."
    store.log(said, "final", _Of(template, choice))


def check_final(template: TemplateKey, details: Details, store: Store | None = None) -> None:
    """Check that a template's report can be final; see `obstacles`.

    Raises
    ------
    ReportError
        While something that it needs is empty, or cannot be.
    """
    left = obstacles(template, details, store)
    if left:
        raise ReportError(
            "The report cannot be marked as final yet.",
            why=f"Still missing: {'; '.join(left)}.".replace("..", "."),
            remedy="Supply it (on the command line with “fairdesk report --details FILE”).",
        )


def mark_draft(store: Store, template: TemplateKey) -> None:
    """Make a template's report a draft again."""
    said = f"The report “{TEMPLATES[template].title}” was made a draft again."
    store.log(said, "draft", _Of(template))


def check_marks(log: Sequence[LogEntry]) -> Iterator[Check]:
    """Check that what the log tells to be final had all that it needs when it was marked.

    FairDesk marks nothing before that; somebody who writes an entry by hand may. What the figures
    of that time asked for is no part of it.

    Yields
    ------
    Check
        Nothing where nothing was marked.
    """
    tally = Tally(MARKED)
    for place, entry in enumerate(log):
        if entry.kind != "final":
            continue
        of = _of(entry)
        try:
            left = ("the type of report",) if of is None else _left(of.template, log[:place])
        except (StoreError, msgspec.MsgspecError) as error:
            tally.leave(f"The information supplied before entry {place + 1} is not known: {error}")
            continue
        tally.compare(
            not left,
            f"Entry {place + 1} of the audit log marks a report as final that lacks: "
            f"{'; '.join(left)}.",
        )
    if (check := tally.check()).tried:
        yield check


def _left(template: TemplateKey, log: Sequence[LogEntry]) -> tuple[str, ...]:
    """Say what a report lacked of what the log had told until then."""
    filled = replayed(log).details
    signers = msgspec.convert(filled.get("signers", ()), tuple[Signer, ...])
    texts = {key: str(filled[key]) for key in FIELDS if key in filled}
    return obstacles(template, Details(texts=texts, signers=signers))
