"""The parts of the report, in their order."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from fairdesk.document.blocks import Section
from fairdesk.report import legal
from fairdesk.report.content.material import Material
from fairdesk.report.sections import (
    certification,
    findings,
    methods_and_formulas,
    mitigation,
    outcomes,
    pairs,
    subgroups,
    system,
)
from fairdesk.report.sections.plan import compared, data, model
from fairdesk.report.templates import annex_iv, ll144, model_card

_MAKERS: dict[str, Callable[[Material], Section]] = {
    "system": system.system,
    "data": data.data,
    "model": model.model,
    "compared": compared.compared,
    "method": methods_and_formulas.method,
    "outcomes": outcomes.outcomes,
    "errors": outcomes.errors,
    "results": findings.results,
    "subtle": subgroups.subtle,
    "certification": certification.certification,
    "pairs": pairs.pairs,
    "mitigation": mitigation.mitigation,
    "limits": methods_and_formulas.limits,
    "formulas": methods_and_formulas.formulas,
    "evidence": methods_and_formulas.appendix,
    "rules": legal.section,
    "sign-off": system.sign_off,
    **ll144.MAKERS,
    **annex_iv.MAKERS,
    **model_card.MAKERS,
}


def sections(material: Material) -> tuple[Section, ...]:
    """Make the sections of a report, in the order of its template."""
    return tuple(
        msgspec.structs.replace(_MAKERS[chapter](material), key=chapter)
        for chapter in material.chapters
    )
