"""The kinds of report: which sections each has, in which order, and which notes on rules.

This module is data alone. What a section says is made by the modules beside it, and by those of
`fairdesk.report` for sections that several kinds share; `fairdesk.report.sections` has them all.
"""

from __future__ import annotations

import msgspec

from fairdesk.audit.details import TemplateKey


class Template(msgspec.Struct, frozen=True):
    """A kind of report.

    Attributes
    ----------
    title : str
        What it is called.
    holds : str
        What it is for, a sentence.
    chapters : tuple[str, ...]
        The keys of its sections, in their order.
    notes : tuple[str, ...]
        The keys of the notes on rules that it prints (`fairdesk.report.legal`).
    """

    title: str
    holds: str
    chapters: tuple[str, ...]
    notes: tuple[str, ...] = ()


_WHOLE = (
    *("summary", "system", "data", "model", "decisions", "compared", "method"),
    *("outcomes", "errors", "results", "subtle", "certification", "pairs"),
    *("mitigation", "limits", "formulas", "evidence", "sign-off"),
)

TEMPLATES: dict[TemplateKey, Template] = {
    "plain": Template(
        "Audit report",
        "Everything that was asked, found and proven, and the evidence to check it by.",
        _WHOLE,
    ),
    "ll144": Template(
        "Summary of a bias audit (New York City, Local Law 144)",
        "The tables of rates and impact ratios by sex, race or ethnicity and both together, in "
        "the layout of published summaries.",
        _WHOLE,
    ),
    "annex-iv": Template(
        "Technical documentation, fairness annex (EU AI Act, Annex IV)",
        "What Annex IV asks of data, testing and limits, as far as an audit for discrimination "
        "can tell it.",
        _WHOLE,
    ),
    "model-card": Template(
        "Model card",
        "A short description of the model: its use, its data, its figures by group and by "
        "intersection, and its limits.",
        _WHOLE,
    ),
}
