"""Whether a report is a draft or final: read from the audit's log, where the auditor says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from fairdesk.audit.details import Choice, Details, TemplateKey
from fairdesk.audit.records import PASSING, LogEntry
from fairdesk.audit.store import Store
from fairdesk.errors import ReportError
from fairdesk.events import GroupTable
from fairdesk.groups.outcomes import LEAST_SHARE
from fairdesk.report.fields import FIELDS, fault, fields_of, missing, unsigned
from fairdesk.report.templates import TEMPLATES
from fairdesk.report.templates.published import propose_categories, tables


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


class _Of(msgspec.Struct, frozen=True):
    template: TemplateKey


def status(log: Sequence[LogEntry], template: TemplateKey) -> Status:
    """Tell how a template's report stands: final until anything changes it after that.

    What is decided about another template changes nothing. Whatever cannot be understood does.
    """
    at = changed = ""
    form = marked = Choice(template)
    for entry in log:
        if entry.kind in ("final", "draft") and (of := _of(entry)) is not None:
            if of == template:
                at, changed = (entry.at if entry.kind == "final" else ""), ""
                marked = form
        elif entry.kind == "choice" and (choice := _choice(entry)) is not None:
            if choice.template == template:
                form = choice
            if at and form != marked:
                changed = changed or entry.what
        elif at and entry.kind not in PASSING:
            changed = changed or entry.what
    return Status("Final" if at and not changed else "Draft", at, changed)


def _of(entry: LogEntry) -> TemplateKey | None:
    """Give which template an entry is about; ``None`` where somebody has spoilt it."""
    try:
        return msgspec.json.decode(entry.told, type=_Of).template
    except msgspec.MsgspecError:
        return None


def _choice(entry: LogEntry) -> Choice | None:
    try:
        return msgspec.json.decode(entry.told, type=Choice)
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
    return (*empty, *wrong, *(["somebody who signs"] if unsigned(template, details) else []))


def _unexplained(store: Store, details: Details) -> bool:
    """Whether categories are left out of impact ratios, and nobody says why (6 RCNY 5-301(d))."""
    if details.texts.get("small_categories", "").strip():
        return False
    told = details.categories
    categories = told if told.sex or told.race else propose_categories(store.spec)
    for run in reversed(store.runs()):
        if counted := [each for each in run.figures if isinstance(each, GroupTable)]:
            least = float(run.spec.options.get("least_share", LEAST_SHARE))
            made = tables(counted, categories, least)
            return any(line.excluded for table in made for line in table.lines)
    return False


def mark_final(store: Store, template: TemplateKey) -> None:
    """Mark a template's report as final.

    Raises
    ------
    ReportError
        While something that it needs is empty, or cannot be.
    """
    check_final(template, store.details(), store)
    said = f"The report “{TEMPLATES[template].title}” was marked as final."
    store.log(said, "final", _Of(template))


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
            remedy="Fill it in on the Report page, or with “fairdesk report --details FILE”.",
        )


def mark_draft(store: Store, template: TemplateKey) -> None:
    """Make a template's report a draft again."""
    said = f"The report “{TEMPLATES[template].title}” was made a draft again."
    store.log(said, "draft", _Of(template))
