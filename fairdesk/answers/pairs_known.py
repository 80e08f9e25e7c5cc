"""Of which protected attributes pairs are known in which changing that attribute is enough."""

from __future__ import annotations

from collections.abc import Sequence

from fairdesk.answers.answer import PairsOf
from fairdesk.answers.selection import Run
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.wording import words


def sufficient_names(spec: AuditSpec, runs: Sequence[Run]) -> frozenset[str]:
    """Return the protected attributes that changed a decision alone, in a pair of any run."""
    names = words.protected_names(spec.domain)
    return frozenset(
        name
        for run in runs
        for name, count in zip(names, run.sufficient_alone, strict=False)
        if count
    )


def pairs_alone(spec: AuditSpec, runs: Sequence[Run], name: str) -> PairsOf | None:
    """Return the pairs in which changing an attribute is enough, of the run with most of them."""
    names = words.protected_names(spec.domain)
    counts = {
        run.id: dict(zip(names, run.sufficient_alone, strict=False)).get(name, 0) for run in runs
    }
    most = max(counts, key=lambda each: counts[each], default=None)
    return PairsOf(most, alone=name) if most is not None and counts[most] else None
