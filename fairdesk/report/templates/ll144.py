"""The tables of a bias audit as New York City's Local Law 144 has them published (6 RCNY 5-303)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import groupby

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import Categories
from fairdesk.document.blocks import Block, Grid, Heading, Text, stated
from fairdesk.groups.options import LEAST_SHARE, MeasureOptions
from fairdesk.report.content.material import Material
from fairdesk.report.content.published import (
    HISPANIC,
    NOT_HISPANIC,
    By,
    Line,
    Published,
    category,
    propose_categories,
    race_alone,
    tables,
)
from fairdesk.wording import words
from fairdesk.wording.decisions import outcome_text
from fairdesk.wording.language import Statement, say

_TITLES = {"sex": "Sex", "race": "Race/Ethnicity", "both": "Intersectional"}
_CATEGORIES = {
    "sex": "Sex Categories",
    "race": "Race/Ethnicity Categories",
    "both": "Intersectional Categories",
}
_SELECTED = ("# of Applicants", "# Selected", "Selection Rate", "Impact Ratio")
_SCORED = ("# of Applicants", "Scoring Rate", "Impact Ratio")
#: What the columns of a table are called in a sentence.
_RATES = {"decisions": "selection rate", "scores": "scoring rate"}
#: On which side of the median a score is favourable, by whether lower ones are.
_SIDES = {False: "above", True: "below"}
_EXCLUDED = "excluded †"


def categories_of(material: Material) -> Categories:
    """Return the auditor's categories; where there are none, what is proposed by names."""
    categories = material.details.categories
    return categories if categories.sex or categories.race else propose_categories(material.spec)


def published(material: Material) -> tuple[Published, ...]:
    """Make the tables that this audit's counts give."""
    return tables(material.group_tables, categories_of(material), _least_share(material))


def _least_share(material: Material) -> float:
    run = material.measured
    if run is None:
        return LEAST_SHARE
    return float(run.spec.options.get("least_share", MeasureOptions().least_share))


def _lowest_ratios(material: Material) -> Iterator[Block]:
    """Say the lowest impact ratio of each table, and whose it is."""
    for table in published(material):
        worst, best = table.worst, table.best
        if worst is None or best is None or worst.ratio is None:
            continue
        ratio = words.number(float(worst.ratio), 3)
        said = say(
            "The lowest impact ratio by {by}{outcome} is {ratio}: a {rate} of {low} for {worst} "
            "({people}), against {high} for {best} ({others}).",
            ratio=ratio,
            by=words.listed(table.attributes),
            outcome=_of_outcome(material.spec, table),
            rate=_RATES[table.of],
            low=_percent(worst),
            worst=_name(worst),
            people=words.counted(worst.n_samples, material.spec.person),
            high=_percent(best),
            best=_name(best),
            others=words.number(best.n_samples),
        )
        yield stated(Statement("observed", "Lowest impact ratio", ratio, said), place="rates")


def _of_outcome(spec: AuditSpec, table: Published) -> str:
    if not table.outcome:
        return ""
    if table.of == "scores":
        return say(" in scores for “{outcome}”", outcome=outcome_text(spec, table.outcome))
    return say(" in the decision “{outcome}”", outcome=outcome_text(spec, table.outcome))


def _name(line: Line) -> str:
    return ", ".join(line.names)


def _percent(line: Line) -> str:
    return words.percent(line.chosen, line.n_samples)


def decided(spec: AuditSpec) -> str:
    """Say what selects a person: the tool's decision, or a column with it."""
    good = outcome_text(spec, spec.decisions[spec.mapping.favourable_class])
    if spec.predictions:
        return say(
            "a person is selected where the column “{column}”, with the tool’s decisions, "
            "has “{good}”",
            good=good,
            column=spec.predictions,
        )
    return say(
        "a person is selected where the tool, queried with the row, decides “{good}”", good=good
    )


def _tables(material: Material) -> Iterator[Block]:
    """Yield the tables: of every decision by sex, race or ethnicity, and both; then of scores."""
    spec = material.spec
    for (of, outcome), held in groupby(published(material), lambda each: (each.of, each.outcome)):
        same, text = list(held), outcome_text(spec, outcome)
        heading = "Scores for “{outcome}”" if of == "scores" else "Selection: “{outcome}”"
        yield Heading(say(heading, outcome=text))
        yield Text(_explained(spec, same[0]))
        yield from (_table(material, table) for table in same)


def _explained(spec: AuditSpec, table: Published) -> str:
    """Say what is counted; of scores the median of the full sample."""
    if table.of == "decisions":
        outcome = outcome_text(spec, table.outcome)
        return say("A person is selected when the decision is “{outcome}”.", outcome=outcome)
    side = _SIDES[table.falls]
    if table.median is None:
        return say(
            "The scoring rate is the share with a score {side} the median of the sample.", side=side
        )
    ties = ""
    if table.ties:
        ties = say(
            " {share} of the sample have exactly this score and do not count as {side} it, so "
            "the scoring rate of all may be far below one half.",
            share=words.percent(table.ties, 1.0),
            side=side,
        )
    lower = " Lower scores are the favourable ones." if table.falls else ""
    return say(
        "The median score of the full sample is {median}; the scoring rate is the share with "
        "a score {side} it.{lower}{ties}",
        median=words.short(table.median, 6),
        side=side,
        lower=lower,
        ties=ties,
    )


def _table(material: Material, table: Published) -> Grid:
    """Lay out one table, and say how many people are not in it."""
    scored = table.of == "scores"
    both = _layout(table)
    head = both if table.by == "both" else (_CATEGORIES[table.by],)
    counts = _SCORED if scored else _SELECTED
    rows = tuple(
        (
            *(_places(line, len(both)) if table.by == "both" else line.names),
            words.number(line.n_samples),
            *(() if scored else (words.number(line.chosen),)),
            _percent(line),
            _ratio(line),
        )
        for line in table.lines
    )
    several = len(head)
    caption = say(
        "{title}{outcome}. N = {people} of known category; {unknown} of unknown category are not "
        "in the table",
        title=_TITLES[table.by],
        outcome=_of_outcome(material.spec, table),
        people=words.number(table.n_samples),
        unknown=words.number(table.unknown),
    )
    if table.without:
        caption += say(
            "; {count} without an outcome are not in the table either",
            count=words.number(table.without),
        )
    if any(line.excluded for line in table.lines):
        caption += say(
            "; † under {share} of the {people} people of known category, excluded from the "
            "impact ratios",
            share=words.percent(_least_share(material), 1.0, 0),
            people=words.number(table.n_samples),
        )
    return Grid(
        header=(*head, *counts),
        rows=rows,
        widths=(*_WIDTHS[several], *(1.1 for _ in counts)),
        right=tuple(range(several, several + len(counts))),
        caption=caption,
        key=f"{table.by}-{table.of}-{table.outcome}",
        evidence="observed",
    )


_WIDTHS = {1: (3.2,), 2: (1.0, 2.4), 3: (1.75, 0.7, 2.0)}


def _layout(table: Published) -> tuple[str, ...]:
    """Name the columns of an intersection: ethnicity apart where the categories tell it."""
    if any(HISPANIC in line.names for line in table.lines):
        return ("Ethnicity", "Sex", "Race")
    return ("Sex", "Race/Ethnicity")


def _places(line: Line, several: int) -> tuple[str, ...]:
    sex, race = line.names
    if several < 3:
        return line.names
    if race == HISPANIC:
        return (HISPANIC, sex, "all")
    return (NOT_HISPANIC.strip(" ()"), sex, race_alone(race))


def _ratio(line: Line) -> str:
    if line.excluded:
        return _EXCLUDED
    return words.UNDEFINED if line.ratio is None else words.number(float(line.ratio), 3)


def _unknown(material: Material) -> Iterator[Grid]:
    """Count who is of unknown category."""
    # of one decision is as of all
    first = {table.by: table for table in reversed(published(material))}
    if not first:
        return
    yield Grid(
        header=("Table", "Known category", "Unknown category", "Share unknown"),
        rows=tuple(
            (
                _TITLES[table.by],
                words.number(table.n_samples),
                words.number(table.unknown),
                words.percent(table.unknown, table.n_samples + table.unknown),
            )
            for table in (first[by] for by in _TITLES if by in first)
        ),
        widths=(1.4, 1, 1, 1),
        right=(1, 2, 3),
        caption="People assessed by the tool whose category is unknown: not in the tables",
        key="unknown",
        evidence="observed",
    )


def _small(material: Material) -> Iterator[Block]:
    """List the categories that are too small to be compared."""
    rows = tuple(
        (
            _TITLES[table.by] + _of_outcome(material.spec, table),
            _name(line),
            words.number(line.n_samples),
            words.percent(line.n_samples, table.n_samples),
            _percent(line),
        )
        for table in published(material)
        for line in table.lines
        if line.excluded
    )
    if not rows:
        return
    yield Heading("Categories excluded from the impact ratios")
    yield Grid(
        header=("Table", "Category", "# of Applicants", "Share", "Rate"),
        rows=rows,
        widths=(1.8, 2, 0.9, 0.7, 0.7),
        right=(2, 3, 4),
        caption="Categories too small to be compared, with their numbers and rates",
        key="small",
        evidence="observed",
    )


def _merged(material: Material) -> Iterator[Block]:
    """List what each value of the data is called here, and which were merged."""
    named = categories_of(material)
    held = words.grouping_names(material.spec.domain)
    rows = []
    for name in (named.sex, named.race):
        if name not in held:
            continue
        column, counts = material.table.column(name), material.table.counts(name)
        categories = {
            value: category(named, name, value) for value in material.shown.values(column)
        }
        several = Counter(categories.values())
        rows += [
            (
                name,
                value,
                called or "counts as unknown",
                words.number(counts.get(value, 0)),
                "merged" if called and several[called] > 1 else "",
            )
            for value, called in categories.items()
        ]
    if not rows:
        return
    yield Heading("From the data’s values to categories")
    yield Text(
        "The auditor decided which values form one category; the decision is in the audit log."
        if material.details.categories.names
        else "Each value is its own category, or has the category proposed from its name."
    )
    yield Grid(
        header=("Attribute", "Value in the data", "Category", "Rows", ""),
        rows=tuple(rows),
        widths=(1.1, 1.6, 2.2, 0.7, 0.7),
        right=(3,),
        caption="Categories",
        key="categories",
    )


def _lacks(material: Material, by: By) -> bool:
    """Return whether a table is missing from those of the groups that were measured."""
    named = categories_of(material)
    if by != "both":
        return material.measured is not None and not (named.sex if by == "sex" else named.race)
    there = {table.by for table in published(material)}
    return bool(material.measured and named.sex and named.race) and by not in there


#: What its form asks for: see `fairdesk.report.templates.forms`.
CONDITIONS: dict[str, Callable[[Material], object]] = {
    "group metrics": lambda material: material.measured is not None,
    "no group metrics": lambda material: material.measured is None,
    "proposed categories": lambda material: (
        material.measured is not None
        and not (material.details.categories.sex or material.details.categories.race)
    ),
    "no sex": partial(_lacks, by="sex"),
    "no race": partial(_lacks, by="race"),
    "no intersection": partial(_lacks, by="both"),
}
VALUES: dict[str, Callable[[Material], str]] = {
    "side": lambda material: _SIDES[any(table.falls for table in material.group_tables)],
    "least share": lambda material: words.percent(_least_share(material), 1.0, 0),
}
MAKERS: dict[str, Callable[[Material], Iterable[Block]]] = {
    "lowest ratios": _lowest_ratios,
    "tables of rates": _tables,
    "unknown categories": _unknown,
    "small categories": _small,
    "merged categories": _merged,
}
