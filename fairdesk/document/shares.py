"""How often the decision changes, as blocks: shares, audit studies, gaps between random groups.

A share is of instances drawn at random, or of all rows of the data; never of a search's findings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from fairdesk.answers import main_shares
from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import RunRecord, RunState
from fairdesk.charts.kinds.forest import Studies, studied
from fairdesk.charts.kinds.lines import Drawing, Line, Mark
from fairdesk.charts.kinds.people import people_of
from fairdesk.charts.kinds.shares import ShareBar, ShareBars
from fairdesk.document.blocks import (
    Block,
    Chart,
    Grid,
    Heading,
    Statement,
    Text,
    appended,
    chart_block,
    stated,
    without_empty,
)
from fairdesk.results.events import Metric
from fairdesk.results.groups import GroupGap, GroupTable
from fairdesk.results.individual import ExcessChange, Share
from fairdesk.wording import comparisons, figures, words
from fairdesk.wording.language import say
from fairdesk.wording.rules import combination_text

_PERCENT = f"{words.NBSP}%"


#: Values of each protected attribute in the chart of an audit study.
_MOST_VALUES = 12
#: Pairs of values of an attribute in a table.
_MOST_PAIRS = 6
#: Sets of protected attributes in a table.
_MOST_SETS = 60
#: In which order shares are listed: data rows before combinations.
_ORDER = ("data", "domain", "perturbed")
_SETS_HEADER = (
    *("Protected attributes", "Decision changes", "Gap in selection rates"),
    *("Highest rate", "Lowest rate"),
)


def course_of_estimate(share: Share) -> Drawing:
    """Draw how an estimate settled, with its anytime band, and its trials beside it as dots.

    It is empty where the share has fewer than two points.
    """
    course = np.array(share.course, dtype=np.float64).reshape(-1, 4)
    asked, shown = course[:, 0], np.multiply(course[:, 1:], 100)
    estimate = Line(
        "estimate", asked, shown[:, 0], "discriminatory", low=shown[:, 1], high=shown[:, 2]
    )
    lines = [estimate]
    if share.trials and len(asked):
        each = share.n_samples / len(share.trials)
        ends = np.arange(1, len(share.trials) + 1, dtype=np.float64) * each
        trials = 100 * np.array(share.trials)
        lines.append(Line("trials", ends, trials, "undecided", mark=Mark.DOTS))
    # the band begins at 0 to 100 %: shown whole it would press all that follows against the axis
    settled = max(100 * share.high, *(100 * trial for trial in share.trials), 1e-3)
    return Drawing(
        title="Progress of the estimate",
        x_title="instances drawn at random",
        y_title="share",
        lines=tuple(lines) if len(asked) > 1 else (),
        y_digits=words.digits_of(share.low, share.high),
        y_unit=_PERCENT,
        y_high=min(1.6 * settled, 100.0),
    )


def compose(
    spec: AuditSpec, run: RunRecord | RunState, tables: Sequence[GroupTable]
) -> list[Block]:
    """Return all that a run measured: what is quoted, then the rest under headings.

    Parameters
    ----------
    tables : sequence of GroupTable
        The model's decisions by group, see `fairdesk.answers.decision_tables`.
    """
    measured = listed(run.figures)
    grouped = gaps_between_groups(spec, run.figures)
    pictures = [] if grouped else bars(spec, run.figures)
    blocks: list[Block] = [
        *([statement(spec, measured[0], run.figures)] if measured else []),
        *(
            stated(figures.excess_statement(spec, each))
            for each in run.figures
            if isinstance(each, ExcessChange)
        ),
        *audit_studies(spec, run.figures, tables),
        *pictures[:1],
        *grouped,
        Heading("Every share in numbers", appended=True),
        *([appended(table(spec, run, measured))] if measured else []),
        *map(appended, pictures[1:]),
        Heading("Comparisons", appended=True),
        *comparison_tables(spec, run.figures),
        Heading("Progress of the estimate", appended=True),
        *map(appended, courses(spec, measured, run.id)),
    ]
    return list(without_empty(blocks))


def listed(measured: Iterable[Metric]) -> list[Share]:
    """Return the shares of instances that were drawn: of each kind the main ones first."""
    found = [each for each in comparisons.shares_of(measured) if each.n_samples or each.unsupported]
    main = main_shares(found)
    return sorted(
        dict.fromkeys((*main, *found)),
        key=lambda each: (each not in main[:1], _ORDER.index(each.whom)),
    )


def statement(spec: AuditSpec, share: Share, beside: Sequence[Metric]) -> Statement:
    """State a share; in more sentences whose decision changes, by value."""
    if share.whom != "data" or not share.n_samples or comparisons.is_open(spec, share):
        return stated(figures.share_statement(spec, share, beside))
    said = figures.share_statement(spec, share, beside, parts=False)
    by_value = figures.directed_by_value(spec, comparisons.shares_of(beside))
    alone = comparisons.alone_sentence(spec, share, beside)
    return stated(said, (*by_value, alone, figures.excluded_sentence(spec, share)))


def audit_studies(
    spec: AuditSpec, measured: Sequence[Metric], tables: Sequence[GroupTable]
) -> list[Block]:
    """Draw the rows whose decision changes, and the audit studies; their figures are appended."""
    blocks: list[Block] = []
    crowd = people_of(spec, measured, tables)
    if not crowd.empty:
        blocks.append(chart_block(crowd, crowd.title, key="people", evidence="observed"))
    studies = comparisons.studies_of(spec, measured)
    if not studies:
        return blocks
    chart = Studies(tuple(studied(spec, each, _MOST_VALUES) for each in studies))
    caption = comparisons.study_caption(spec, studies)
    against = (comparisons.against_sentence(spec, each, tables) for each in studies)
    return [
        *blocks,
        *map(Text, filter(None, against)),
        chart_block(chart, caption=caption, key="study", evidence="observed"),
        *value_changes(spec, measured),
    ]


def value_changes(spec: AuditSpec, measured: Sequence[Metric]) -> list[Grid]:
    """List from which protected value to which the decision changes, most first."""
    rows = comparisons.value_change_rows(spec, measured, _MOST_PAIRS)
    if not rows:
        return []
    return [
        Grid(
            header=comparisons.VALUE_CHANGE_HEADER,
            rows=tuple(rows),
            widths=(1.6, 1.4, 0.9, 1.1, 0.7, 0.7),
            right=(2, 3, 4, 5),
            caption=say(
                "How often the decision changes when {people} recorded with one value are tested "
                "with another: for each attribute at most {most} pairs of values, most changes "
                "first",
                people=words.plural(spec.person),
                most=words.number(_MOST_PAIRS),
            ),
            note="compared: those for which the data do not rule out the tested value; each counts "
            "once per value tested",
            key="value-changes",
            evidence="observed",
        )
    ]


def comparison_tables(spec: AuditSpec, measured: Sequence[Metric]) -> list[Block]:
    """List the figures of audit studies, and every comparison, supported by the data or not."""
    blocks: list[Block] = []
    if studies := comparisons.studies_of(spec, measured):
        blocks.append(
            Grid(
                header=comparisons.STUDY_HEADER,
                rows=tuple(row for each in studies for row in comparisons.study_rows(spec, each)),
                widths=(2.0, 0.9, 0.7, 1.7, 0.8, 0.8),
                right=(1, 2, 4, 5),
                caption="Audit study: selection under each protected value, against the reference",
                key="study-table",
                evidence="observed",
                appended=True,
            )
        )
    if rows := comparisons.compared_table(measured):
        blocks.append(
            Grid(
                header=comparisons.COMPARED_HEADER,
                rows=tuple(rows),
                widths=(1.3, 2.0, 0.7, 0.9, 0.9, 0.8, 0.8),
                right=(2, 3, 4, 5, 6),
                caption="Rows whose decision changes, by which comparisons are made; the first are "
                "those of this audit",
                key="comparisons",
                evidence="observed",
                appended=True,
            )
        )
    return blocks


def barred(measured: Sequence[Metric]) -> list[list[Share]]:
    """Return the shares that bars are drawn of, those of one kind together: the first leads."""
    # a bar of nothing would say that nothing changes
    found = [each for each in listed(measured) if not comparisons.not_known(each, measured)]
    kinds = dict.fromkeys(each.whom for each in found)
    return [[each for each in found if each.whom == kind] for kind in kinds]


def bars(spec: AuditSpec, measured: Sequence[Metric]) -> list[Chart]:
    """Draw the shares of each kind on one scale; solid where all were tested."""
    return [
        chart_block(
            ShareBars(tuple(_bar(spec, each, measured) for each in kind)),
            "Solid: all were tested. Hatched: estimated from a random sample.",
            key=f"bars-{kind[0].whom}",
            evidence="" if all(each.exact for each in kind) else "estimated",
        )
        for kind in barred(measured)
    ]


def _bar(spec: AuditSpec, share: Share, measured: Sequence[Metric]) -> ShareBar:
    name = f"{figures.instances(spec, share.whom)}, {_when(spec, share)}"
    return ShareBar.of(name, figures.share_cell(share, measured), share)


def _when(spec: AuditSpec, share: Share) -> str:
    return words.when_change(share.attributes, spec.domain.support.companions)


def table(spec: AuditSpec, run: RunRecord | RunState, shares: Sequence[Share]) -> Grid:
    """List shares: of what, by which attributes, with intervals, and how each is known."""
    confidence = words.percent(shares[0].confidence, 1.0, 0)
    # sampling that may end early has no fixed-sample interval
    fixed_sample = all(
        each.exhaustive or (each.low, each.high) == (each.anytime_low, each.anytime_high)
        for each in shares
    )
    # beside data rows, copies of them answer no question of an auditor
    if any(each.whom == "data" for each in shares):
        shares = [each for each in shares if each.whom != "perturbed"]
    rows = []
    for each in shares:
        digits = words.digits_of(each.low, each.high)
        exact = each.exhaustive or not each.n_samples
        known = "not exact" if each.wavered else "all tested"
        once = words.percent_ends(each.low, each.high, digits)
        anytime = words.percent_ends(each.anytime_low, each.anytime_high, digits)
        both = (known, known) if exact else ("–" if once == anytime else once, anytime)
        share = words.shown_percent(each.estimate, 2 if exact else digits)
        rows.append(
            (
                figures.instances(spec, each.whom),
                words.listed(each.attributes, "or"),
                share if each.n_samples else words.UNDEFINED,
                *both[fixed_sample:],
                say(
                    "{hits} of {n}",
                    hits=words.number(each.hits),
                    n=words.number(each.n_samples),
                ),
            )
        )
    intervals = (
        (say("{percent} CI", percent=confidence),)
        if fixed_sample
        else ("Fixed-sample CI", "Anytime-valid CI")
    )
    return Grid(
        header=("Share of", "Attributes changed", "Share", *intervals, "Count"),
        rows=tuple(rows),
        widths=(1.7, 1.1, 0.7, *(1.15, 1.15)[fixed_sample:], 1.2),
        right=tuple(range(2, 6 - fixed_sample)),
        caption=say(
            "Share whose decision changes when only these attributes change, with {confidence} "
            "confidence intervals where not all were tested",
            confidence=confidence,
        ),
        key=f"shares-{run.id}",
        evidence="" if any(each.exact for each in shares) else "estimated",
        note=" ".join(_notes(spec, shares)),
    )


def _notes(spec: AuditSpec, shares: Sequence[Share]) -> Iterable[str]:
    """Yield what the kinds of instances are, and which share to quote."""
    if quote := figures.quote_sentence(spec, shares):
        yield quote
    if any(each.whom == "domain" for each in shares):
        yield say(
            "The input domain contains all combinations of values that this audit allows, each "
            "equally likely; most do not resemble the {people} in the data.",
            people=words.plural(spec.person),
        )
    if perturbed := figures.perturbed_sentence(spec, shares):
        yield perturbed


def courses(spec: AuditSpec, shares: Iterable[Share], run: int) -> list[Chart]:
    """Draw how each estimate came, with its anytime-valid band."""
    return [
        chart_block(
            course_of_estimate(each),
            caption=say(
                "{instances}, {when}: estimate, and dots of single samples. With {share} "
                "confidence the share lies in the band at all times simultaneously",
                instances=figures.instances(spec, each.whom),
                when=_when(spec, each),
                share=words.percent(each.confidence, 1.0, 0),
            ),
            key=f"course-{run}-{place}",
            optional=True,
            evidence="estimated",
        )
        for place, each in enumerate(shares, start=1)
        if len(each.course) > 1 and not each.exhaustive
    ]


def gaps_between_groups(spec: AuditSpec, measured: Sequence[Metric]) -> list[Grid]:
    """List every set of protected attributes, the one that changes most decisions first."""
    share_of = {each.attributes: each for each in listed(measured)}
    gap_of = {each.attributes: each for each in measured if isinstance(each, GroupGap)}
    if not gap_of:
        return []

    def rank(names: tuple[str, ...]) -> tuple[float, float]:
        share, gap = share_of.get(names), gap_of.get(names)
        return -(share.estimate if share else -1.0), -(gap.gap if gap else -1.0)

    ranked = sorted({**share_of, **gap_of}, key=rank)
    rows = []
    for names in ranked[:_MOST_SETS]:
        share, gap = share_of.get(names), gap_of.get(names)
        cells = ("not tested", "–", "–")
        if gap is not None:
            best, worst = (words.shown_percent(of, 1) for of in (gap.best_rate, gap.worst_rate))
            cells = (
                say(
                    "{gap} percentage points ({low} to {high})",
                    gap=words.number(100 * gap.gap, 1),
                    low=words.number(100 * gap.low, 1),
                    high=words.number(100 * gap.high, 1),
                ),
                f"{combination_text(spec, gap.attributes, gap.best)}: {best}",
                f"{combination_text(spec, gap.attributes, gap.worst)}: {worst}",
            )
        changes = "not tested" if share is None else figures.share_cell(share)
        rows.append((words.listed(names), changes, *cells))
    note = (
        "Decision changes: share of the input domain whose decision changes when only these "
        "attributes change. The gap compares the selection rates of two groups in the input domain "
        "that may differ in other attributes too; it may have other causes."
    )
    if rest := len(ranked) - len(rows):
        note += " " + say("{n} more sets are not listed.", n=words.number(rest))
    return [
        Grid(
            header=_SETS_HEADER,
            rows=tuple(rows),
            widths=(1.2, 1.2, 1.6, 1.1, 1.1),
            caption="Every set of protected attributes, estimated",
            key="sets",
            evidence="estimated",
            note=note,
        )
    ]
