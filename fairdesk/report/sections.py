"""The parts of the report, in their order."""

from __future__ import annotations

from fairdesk.report import background, findings, question
from fairdesk.report.blocks import Section
from fairdesk.report.material import Material


def sections(material: Material) -> tuple[Section, ...]:
    """Make the whole report's sections, in their order."""
    return (
        findings.summary(material),
        question.data(material),
        question.model(material),
        question.compared(material),
        question.method(material),
        findings.results(material),
        findings.pairs(material),
        background.limits(material),
        background.formulas(),
        background.appendix(material),
    )
