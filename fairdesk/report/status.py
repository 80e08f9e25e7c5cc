"""Whether a report is a draft or final: read from the audit's log, where the auditor says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from fairdesk.audit.details import TemplateKey
from fairdesk.audit.records import PASSING, LogEntry
from fairdesk.audit.store import Store
from fairdesk.errors import ReportError
from fairdesk.report.fields import missing
from fairdesk.report.templates import TEMPLATES


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
    """Tell how a template's report stands: final until anything changes the audit after that."""
    at = changed = ""
    for entry in log:
        if entry.kind in ("final", "draft"):
            if msgspec.json.decode(entry.told, type=_Of).template == template:
                at, changed = (entry.at if entry.kind == "final" else ""), ""
        elif at and entry.kind not in PASSING:
            changed = changed or entry.what
    return Status("Final" if at and not changed else "Draft", at, changed)


def mark_final(store: Store, template: TemplateKey) -> None:
    """Mark a template's report as final.

    Raises
    ------
    ReportError
        While a required field is empty.
    """
    empty = missing(template, store.details())
    if empty:
        raise ReportError(
            "The report cannot be marked as final yet.",
            why=f"Still empty: {', '.join(field.label for field in empty)}.",
            remedy="Fill them in on the Report page, or with “fairdesk report --details FILE”.",
        )
    said = f"The report “{TEMPLATES[template].title}” was marked as final."
    store.log(said, "final", _Of(template))


def mark_draft(store: Store, template: TemplateKey) -> None:
    """Make a template's report a draft again."""
    said = f"The report “{TEMPLATES[template].title}” was made a draft again."
    store.log(said, "draft", _Of(template))
