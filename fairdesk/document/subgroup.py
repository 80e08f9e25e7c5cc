"""One subgroup: in a list of several, and by itself with what it owes to its conditions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.document.blocks import Block, Grid, Heading, Statement, Text
from fairdesk.groups.statistics import wilson_ends
from fairdesk.groups.tabular.results import MOST_TOLD, MOST_VARIANTS
from fairdesk.results.proofs import Condition
from fairdesk.results.subgroups import RuleSearchSummary, RuleSet, Variant
from fairdesk.wording import words
from fairdesk.wording.decisions import named_outcome
from fairdesk.wording.groups import findings as finding_words
from fairdesk.wording.groups import subgroups as subgroup_words
from fairdesk.wording.groups.findings import Finding
from fairdesk.wording.language import say
from fairdesk.wording.rules import rule_phrase

#: The keys of lists of other subgroups; neighbours that are listed in each direction.
AROUND, SIMILAR, _NEAR = "lattice-one", "similar", 5
#: How a subgroup relates to the one that it is listed next to.
_STEPS = ("more general", "this subgroup", "more specific")
#: How wide the columns of a list are, of texts or of rows.
_WIDTHS = {
    True: (2.0, 0.6, 0.8, 0.9, 1.1, 1.35, 0.95, 0.9),
    False: (2.2, 0.75, 0.8, 0.8, 1.1, 0.9, 1.35, 0.9),
}
#: Marks at a gap: chance may have made it, and the data do not show it.
_CHANCE, _DOUBTED = "?", "†"


def grid(
    spec: AuditSpec,
    mined: RuleSearchSummary,
    shown: Sequence[RuleSet],
    caption: str,
    key: str,
    *,
    p: bool = False,
) -> Grid:
    """List subgroups; with their corrected p where it is asked for, else only with its mark."""
    header, omitted = _header(mined), set[int]()
    if not p:
        omitted.add(header.index("Corrected p"))
    # hardly a term is in enough texts by itself
    if mined.texts and all(each.holds_on_data is None for each in shown):
        omitted.add(header.index("Gap in the original texts"))
    kept = [place for place in range(len(header)) if place not in omitted]
    digits = finding_words.rate_digits(shown) if mined.outcome else 1
    marked = any(not finding_words.is_significant(each) for each in shown) and not p
    doubted = any(_is_doubted(each) for each in shown)
    notes = (
        ""
        if mined.texts
        else (
            "gap in copies: estimated from copies of the rows with one other value slightly changed"
        ),
        say(
            "{mark}: not statistically significant (corrected p above {level})",
            mark=_CHANCE,
            level=words.plain(finding_words.CHANCE, 2),
        )
        if marked
        else "",
        say("{mark}: the data rows do not show the gap in the copies", mark=_DOUBTED)
        if doubted
        else "",
    )
    cells = [_cells(spec, each, digits, marked=marked) for each in shown]
    return Grid(
        header=tuple(header[place] for place in kept),
        rows=tuple(tuple(row[place] for place in kept) for row in cells),
        widths=tuple(_WIDTHS[bool(mined.texts)][place] for place in kept),
        right=tuple(range(1, len(kept))),
        caption=caption,
        key=key,
        evidence="estimated" if mined.texts else "observed",
        note="; ".join(filter(None, notes)),
    )


def _header(mined: RuleSearchSummary) -> tuple[str, ...]:
    gap = "Gap, percentage points" if mined.outcome else "Gap"
    if mined.texts:
        interval = say("{percent} CI", percent=words.percent_of("95"))
        first = ("Term", "Texts", "With it", "With other terms")
        return (*first, gap, interval, "Gap in the original texts", "Corrected p")
    interval = say("Its {percent} CI", percent=words.percent_of("95"))
    first = ("Subgroup", "People", "Rate", "All others")
    return (*first, gap, "Gap in copies", interval, "Corrected p")


def _cells(spec: AuditSpec, rule_set: RuleSet, digits: int, *, marked: bool) -> tuple[str, ...]:
    estimated, interval = finding_words.difference_texts(rule_set)
    first = rule_phrase(spec, rule_set.conditions), words.number(rule_set.rows)
    rates, p = finding_words.both_rates(rule_set, digits), words.p_text(rule_set.p)
    chance = _CHANCE if marked and not finding_words.is_significant(rule_set) else ""
    p = p.replace("below", "<")
    if finding_words.is_about_texts(rule_set):
        original = finding_words.original_text(rule_set)
        return (*first, *rates, f"{estimated}{chance}", interval, original, p)
    counted = finding_words.is_counted(rule_set)
    gap = finding_words.shown_gap_text(rule_set) if counted else "–"
    mark = f"{chance}{_DOUBTED if _is_doubted(rule_set) else ''}"
    shown = rates if counted else ("–", "–")
    return (*first, *shown, f"{gap}{mark}", estimated, interval, p)


def _is_doubted(rule_set: RuleSet) -> bool:
    return rule_set.holds_on_data is False and finding_words.is_counted(rule_set)


def ends_of(rows: int, rate: float) -> tuple[float, float]:
    """Return Wilson's interval (95 %) of a rate that was counted in so many rows."""
    return wilson_ends(round(rate * rows), rows)


def detail(spec: AuditSpec, mined: RuleSearchSummary, finding: Finding) -> list[Block]:
    """Return what is known of one subgroup; below headings what experts check it with."""
    rule_set, similar = finding.rule_set, finding.similar
    counted = finding_words.is_counted(rule_set)
    blocks: list[Block] = [
        Statement(
            finding_words.shown_gap_text(rule_set),
            subgroup_words.rule_set_sentence(spec, rule_set),
            (words.capital(subgroup_words.evidence_sentence(spec, rule_set, mined)),),
            "observed" if counted else "estimated",
        ),
        Heading("Rates and their intervals", appended=True),
        _rates(spec, mined, rule_set),
        *around(spec, rule_set),
    ]
    if similar:
        count = words.number(len(similar))
        if len(similar) >= MOST_VARIANTS and mined.rule_sets > MOST_TOLD:
            # of very many subgroups not all are kept
            count = say("{n} or more", n=count)
        title, caption = (
            (
                "Terms whose gap it explains ({count})",
                "Terms whose gap is due to having been compared with it",
            )
            if mined.texts
            else (
                "Similar or complementary subgroups ({count})",
                "Subgroups of nearly the same rows, or of nearly all others",
            )
        )
        blocks += [
            Heading(say(title, count=count), appended=True),
            grid(spec, mined, similar, caption, SIMILAR),
        ]
    return blocks


def _rates(spec: AuditSpec, mined: RuleSearchSummary, rule_set: RuleSet) -> Grid:
    """List the rates of a subgroup and of all others, counted and estimated."""
    everybody = round(rule_set.rows / rule_set.support) if rule_set.support else rule_set.rows
    sides = (
        (rule_set.data_in, rule_set.rows, rule_set.phi_in, rule_set.n_in),
        (rule_set.data_out, everybody - rule_set.rows, rule_set.phi_out, rule_set.n_out),
    )
    write = _rate_of(rule_set)
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]
    if mined.texts:
        # how many of the original texts have the term alone is not known; of too few, no rate is
        known = rule_set.holds_on_data is not None
        names = ("With it", "With other terms")
        header = ("Term", "Texts tested", "Rate", "Rate in the original texts")
        rows = [
            (words.number(n), write(estimate), write(rate) if known and rate is not None else "–")
            for rate, _rows, estimate, n in sides
        ]
    else:
        names = ("Subgroup", "All others")
        interval = say("{percent} CI", percent=words.percent_of("95"))
        first = ("Group", "People", "Rate")
        header = (*first, interval, *("Copies tested", "Rate in copies"))
        rows = [
            (
                words.number(rows),
                "–" if rate is None else write(rate),
                "–"
                if rate is None or not rule_set.outcome or not rows
                else words.percent_ends(*ends_of(rows, rate), _digits(rule_set)),
                words.number(n),
                write(estimate),
            )
            for rate, rows, estimate, n in sides
        ]
    return Grid(
        header=header,
        rows=tuple((name, *cells) for name, cells in zip(names, rows, strict=True)),
        widths=(1.2, *([1.0] * (len(header) - 1))),
        right=tuple(range(1, len(header))),
        caption=say("Share decided {outcome}", outcome=named_outcome(spec, rule_set.outcome))
        if rule_set.outcome
        else "Mean scores",
        key="sides",
        evidence="estimated" if mined.texts else "observed",
        note=""
        if mined.texts
        else "this interval covers one rate alone; that of the gap is corrected for all subgroups",
        appended=True,
    )


def _rate_of(rule_set: RuleSet) -> Callable[[float], str]:
    if not rule_set.outcome:
        return lambda value: words.number(value, 3)
    return lambda value: words.percent(value, 1.0, _digits(rule_set))


def _digits(rule_set: RuleSet) -> int:
    """Return with how many decimals the rates of a subgroup, counted and estimated, are written."""
    estimated = words.digits_apart(rule_set.phi_in, rule_set.phi_out)
    return max(estimated, finding_words.rate_digits((rule_set,)))


def around(spec: AuditSpec, rule_set: RuleSet, key: str = "one") -> list[Block]:
    """Say which condition accounts for a gap: subgroups one step more general and more specific."""
    if not rule_set.broader and not rule_set.narrower:
        return []
    write = _rate_of(rule_set)
    rows = [
        (
            kind,
            rule_phrase(spec, each.conditions),
            finding_words.gap_number(rule_set.outcome, each.score),
            write(each.phi_in),
            words.percent(each.support, 1.0),
        )
        for kind, each in steps(rule_set)
    ]
    said = _carried(spec, rule_set)
    return [
        Heading("Contribution of each condition", appended=True),
        *([Text(said, appended=True)] if said else []),
        Grid(
            header=(
                "",
                "Subgroup",
                "Gap, percentage points" if rule_set.outcome else "Gap",
                "Rate in copies",
                "Support",
            ),
            rows=tuple(rows),
            widths=(1.0, 3.0, 0.7, 0.7, 0.7),
            right=(2, 3, 4),
            caption=(
                "Which condition accounts for the difference: subgroups one step more general "
                "and more specific than this one"
            ),
            key=f"lattice-{key}",
            evidence="estimated",
            appended=True,
        ),
    ]


def steps(rule_set: RuleSet) -> list[tuple[str, Variant]]:
    """Return a subgroup between those next to it, each with how it relates to that one."""
    own = Variant(rule_set.conditions, rule_set.score, rule_set.phi_in, rule_set.support)
    held = zip(_STEPS, (rule_set.broader[:_NEAR], (own,), rule_set.narrower[:_NEAR]), strict=True)
    return [(kind, each) for kind, several in held for each in several]


def _carried(spec: AuditSpec, rule_set: RuleSet) -> str:
    """Say on which condition a gap depends most; empty where that is not known."""
    left: dict[Condition, float] = {}
    for each in rule_set.broader:
        gone = [one for one in rule_set.conditions if one not in each.conditions]
        if len(gone) == 1 and all(gone[0].attribute != one.attribute for one in each.conditions):
            left[gone[0]] = each.score
    if len(rule_set.conditions) < 2 or not left:
        return ""
    first, *others = sorted(left, key=lambda part: left[part])
    rest = finding_words.gap_text(rule_set.outcome, left[first])
    if rule_set.score - left[first] < 0.1 * rule_set.score:
        return say(
            "No single condition explains the gap: without that on {name} it is still {rest}.",
            name=words.quoted(first.attribute),
            rest=rest,
        )
    said = say(
        "The gap depends most on {part}: without it, the gap is {rest} instead of {whole}.",
        part=rule_phrase(spec, (first,)),
        rest=rest,
        whole=finding_words.gap_text(rule_set.outcome, rule_set.score),
    )
    if not others:
        return said
    more = say(
        "Without the condition on {name} it is {rest}.",
        name=words.quoted(others[-1].attribute),
        rest=finding_words.gap_text(rule_set.outcome, left[others[-1]]),
    )
    return f"{said} {more}"
