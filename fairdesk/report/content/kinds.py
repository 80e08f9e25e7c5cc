"""The kinds of report: which sections each has, in which order, and which notes on rules.

This module is data alone. What a section says is made by `fairdesk.report.templates`, and for
sections that several kinds share by `fairdesk.report`; `fairdesk.report.document` has them all.
"""

from __future__ import annotations

import msgspec

from fairdesk.audit.store.records import TemplateKey


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


#: The sections of a plain report, of what was run: what decides first, then how to check it.
_PLAIN = (
    *("outcomes", "errors", "results", "subtle", "mitigation", "limits", "system", "sign-off"),
    *("certification", "data", "model", "method", "evidence"),
)

#: The points of the Annex, with its numbers; behind them the test report.
_ANNEX_IV = (
    *("annex-1", "annex-2", "annex-3", "annex-4", "annex-5", "annex-6", "annex-7", "annex-8"),
    *("annex-9", "data", "model", "outcomes", "errors", "results", "subtle", "certification"),
    *("mitigation", "limits", "method", "rules", "evidence", "sign-off"),
)
#: The sections of Mitchell et al., 2019.
_MODEL_CARD = (
    *("card-details", "card-use", "card-factors", "card-metrics", "card-evaluation"),
    *("card-training", "card-figures", "card-ethics", "card-caveats", "rules"),
)

TEMPLATES: dict[TemplateKey, Template] = {
    "plain": Template(
        "Audit report",
        "The complete audit: plan, results and certification, with the evidence to verify them.",
        _PLAIN,
        ("eeoc-1978",),
    ),
    "ll144": Template(
        "Summary of a bias audit (New York City, Local Law 144)",
        "The tables of rates and impact ratios by sex, race or ethnicity and both together, in "
        "the layout of published summaries.",
        ("ll144", "ll144-data", "rates", "unknown", "limits", "rules", "evidence", "sign-off"),
        ("ll144-2023-07", "eeoc-1978"),
    ),
    "annex-iv": Template(
        "Technical documentation, fairness annex (EU AI Act, Annex IV)",
        "The parts of Annex IV on data, testing and limitations that a discrimination audit "
        "can support.",
        _ANNEX_IV,
        (
            *("eu-ai-act-2024", "eu-omnibus-2026", "iso-tr-24027-2021", "iso-42001-2023"),
            *("ieee-7003-2024", "nist-ai-rmf-1.0"),
        ),
    ),
    "model-card": Template(
        "Model card",
        "A short description of the model: its use, its data, its metrics by group and by "
        "intersectional subgroup, and its limitations.",
        _MODEL_CARD,
        ("model-cards-2019", "eeoc-1978"),
    ),
}
