"""What runs about groups found, in sentences: rule sets, terms, subgroups, tables of groups."""

from __future__ import annotations

from collections.abc import Iterable

from fairdesk.audit.spec import AuditSpec
from fairdesk.events import Figure


def headline(spec: AuditSpec, figures: Iterable[Figure]) -> str:
    """Say what came of a run about groups, the number first."""
    return next(iter(sentences(spec, figures)), "Nothing is known of groups yet.")


def sentences(spec: AuditSpec, figures: Iterable[Figure]) -> tuple[str, ...]:
    """Say what figures about groups tell; other figures are left out."""
    del spec, figures
    return ()
