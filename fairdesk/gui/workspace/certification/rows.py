"""What the tables of certification say: regions, pairs of values, and rates of groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from fairdesk.answers.rates import (
    bounded_rates,
    concluded_ratio_sentence,
    concludes,
    counted_ratio,
)
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.charts.verdicts import shown
from fairdesk.gui.workspace.common.rule_table import Cell
from fairdesk.results.groups import GroupTable
from fairdesk.results.proofs import PairShare, ProvenRates, Region
from fairdesk.results.rounding import exactly
from fairdesk.wording import proofs as proof_words
from fairdesk.wording import rules as rule_words
from fairdesk.wording import words


def region_rows(spec: AuditSpec, regions: Iterable[Region]) -> list[tuple[Cell, ...]]:
    """Write a row per region, those with the largest data-weighted share first."""
    in_order = sorted(regions, key=lambda each: (-each.population, -each.share))
    return [
        (
            Cell(_sentence_case(rule_words.rule_text(spec, each.conditions)), -place),
            Cell(proof_words.least_percent(each.share), each.share),
            Cell(proof_words.about_percent(each.population), each.population),
        )
        for place, each in enumerate(in_order)
    ]


def pair_rows(spec: AuditSpec, pairs: Iterable[PairShare]) -> list[tuple[Cell, ...]]:
    """Write a row per pair of protected values, the most unlike first."""
    attributes = dict(zip(spec.domain.names, spec.domain.attributes, strict=True))

    def group(names: Sequence[str], codes: Sequence[float]) -> str:
        return ", ".join(
            f"{words.quoted(name)} = {attributes[name].text(code)}"
            for name, code in zip(names, codes, strict=True)
        )

    rows: list[tuple[Cell, ...]] = []
    for place, each in enumerate(sorted(pairs, key=lambda pair: -pair.falsified)):
        left = 1 - exactly(each.falsified) - exactly(each.certified)
        left = Fraction(0) if each.exact else max(left, Fraction(0))
        rows.append(
            (
                Cell(group(each.attributes, each.first), -place),
                Cell(group(each.attributes, each.second), -place),
                Cell(proof_words.pair_share(each.falsified, exact=each.exact), each.falsified),
                Cell(proof_words.pair_share(each.certified, exact=each.exact), each.certified),
                Cell(shown("undecided", left), float(left)),
            )
        )
    return rows


def rate_rows(
    spec: AuditSpec, found: Iterable[ProvenRates], tables: Sequence[GroupTable] = ()
) -> list[tuple[Cell, ...]]:
    """Write a row per group whose bounds hold, and one for the ratio of each attribute."""
    rows: list[tuple[Cell, ...]] = []
    for rates in found:
        bounded = bounded_rates(spec, rates, tables)
        for each in (one for one in bounded if one.is_shown):
            low, high = each.ends
            rows.append(
                (
                    Cell(each.group, -len(rows)),
                    Cell(low, each.proven.low),
                    Cell(high, each.proven.high),
                    Cell(each.text, -1.0 if each.observed is None else each.observed),
                )
            )
        conclusive = concludes(rates, bounded)
        low, high = proof_words.ratio_bounds(rates) if conclusive else ("–", "–")
        name = f"Impact ratio by {words.quoted(rates.attribute)}"
        counted = counted_ratio(rates, tables)
        rows.append(
            (
                Cell(name if conclusive else f"{name}: no conclusion", -len(rows)),
                Cell(low, rates.ratio_low if conclusive else -1.0),
                Cell(high, rates.ratio_high if conclusive else -1.0),
                Cell("–", -1.0) if counted is None else Cell(words.plain(counted, 2), counted),
            )
        )
    return rows


def rate_notes(
    spec: AuditSpec, found: Iterable[ProvenRates], tables: Sequence[GroupTable]
) -> tuple[str, ...]:
    """Say of which attributes no ratio follows from the bounds, and which are not shown."""
    bounds = ((rates, bounded_rates(spec, rates, tables)) for rates in found)
    return tuple(
        concluded_ratio_sentence(rates, bounded, tables, "page Groups")
        for rates, bounded in bounds
        if not concludes(rates, bounded)
    )


def _sentence_case(rule: str) -> str:
    return rule if rule != "all combinations" else "All combinations"
