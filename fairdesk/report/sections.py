"""The parts of the report, in their order."""

from __future__ import annotations

from collections.abc import Callable

from fairdesk.report import (
    background,
    certification,
    findings,
    mitigation,
    outcomes,
    question,
    subtle,
)
from fairdesk.report.blocks import Section
from fairdesk.report.material import Material

_MAKERS: dict[str, Callable[[Material], Section]] = {
    "summary": findings.summary,
    "data": question.data,
    "model": question.model,
    "decisions": question.decisions,
    "compared": question.compared,
    "method": question.method,
    "outcomes": outcomes.outcomes,
    "errors": outcomes.errors,
    "results": findings.results,
    "subtle": subtle.subtle,
    "certification": certification.certification,
    "pairs": findings.pairs,
    "mitigation": mitigation.mitigation,
    "limits": background.limits,
    "formulas": background.formulas,
    "evidence": background.appendix,
}


def sections(material: Material) -> tuple[Section, ...]:
    """Make the whole report's sections: those of which there is anything to say."""
    return tuple(_MAKERS[chapter](material) for chapter in material.chapters)
