"""The parts of the report, in their order."""

from __future__ import annotations

from fairdesk.report import background, certification, findings, question
from fairdesk.report.blocks import Section
from fairdesk.report.material import Material


def sections(material: Material) -> tuple[Section, ...]:
    """Make the whole report's sections, in their order; no search's where no model was asked."""
    if material.spec.predictions:
        return (
            findings.summary(material),
            question.data(material),
            question.decisions(material),
            question.compared(material),
            background.limits(material),
            background.formulas(material),
            background.appendix(material),
        )
    return (
        findings.summary(material),
        question.data(material),
        question.model(material),
        question.compared(material),
        question.method(material),
        findings.results(material),
        *([certification.certification(material)] if material.proofs else []),
        findings.pairs(material),
        background.limits(material),
        background.formulas(material),
        background.appendix(material),
    )
