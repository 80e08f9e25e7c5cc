"""The summary of a bias audit as New York City's Local Law 144 has it published.

What a summary holds: 6 RCNY 5-303; how its figures are calculated: 6 RCNY 5-301. The tables are
laid out as in the examples of the rule.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import groupby

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.store.records import Categories
from fairdesk.document.blocks import (
    Block,
    Callout,
    Fact,
    Facts,
    Grid,
    Heading,
    Section,
    Text,
    stated,
)
from fairdesk.groups.options import LEAST_SHARE, MeasureOptions
from fairdesk.report.content.material import Material, not_run
from fairdesk.report.content.published import (
    HISPANIC,
    NOT_HISPANIC,
    Line,
    Published,
    category,
    propose_categories,
    race_alone,
    tables,
)
from fairdesk.report.sections import system
from fairdesk.wording import words
from fairdesk.wording.decisions import outcome_text
from fairdesk.wording.language import Statement, say

_NOT_MEASURED = (
    "Group metrics. The run would show the numbers of individuals, the rates and the impact "
    "ratios by sex, by race or ethnicity, and by both together. To make them, run the method "
    "“Group metrics” with both attributes protected (on the command line: “fairdesk audit "
    "--method groups”)."
)
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


def about(material: Material) -> Section:
    """Return which tool was audited, by whom and when, and what each table says, in a sentence."""
    filled = system.facts_of(
        material,
        *("system", "system_version", "audit_date", "auditor", "organisation", "independence"),
        *("distribution_date", "purpose", "decision"),
    )
    made = published(material)
    blocks: list[Block] = [Facts(filled)]
    blocks += [statement for table in made if (statement := _statement(material, table))]
    if material.measured is None:
        blocks.append(not_run(_NOT_MEASURED))
    blocks.append(
        Text(
            "This summary gives the figures that the rule requires. It does not say whether "
            "the rule applies to the tool, or whether it is complied with. The rule does not "
            "set a pass mark."
        )
    )
    return Section("The tool and the audit", tuple(blocks), fresh=True)


def _statement(material: Material, table: Published) -> Block | None:
    """Say the lowest impact ratio of a table, and whose it is."""
    worst, best = table.worst, table.best
    if worst is None or best is None or worst.ratio is None:
        return None
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
    return stated(Statement("observed", "Lowest impact ratio", ratio, said), place="rates")


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


def source(material: Material) -> Section:
    """Return where the data come from, what they are, and from when."""
    spec = material.spec
    filled = system.facts_of(
        material,
        *("data_source", "data_kind", "data_period", "test_data_why", "test_data_made"),
        *("sampling", "cleaning"),
    )
    counted = (
        # it is published: where the file lies is nobody's business
        Fact("File", re.split(r"[/\\]", spec.data.path)[-1], exact=True),
        Fact("SHA-256", spec.data.sha256, exact=True),
        Fact("Rows", words.counted(spec.data.rows, spec.person)),
        Fact("What was decided", _decided(material)),
    )
    return Section("Source and explanation of the data", (Facts((*filled, *counted)),))


def _decided(material: Material) -> str:
    spec = material.spec
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


def rates(material: Material) -> Section:
    """Return the tables: of every decision by sex, race or ethnicity, and both; then of scores."""
    title = "Rates and impact ratios"
    if material.measured is None:
        return Section(title, (not_run(_NOT_MEASURED),))
    made = published(material)
    blocks: list[Block] = list(_unsettled(material))
    for (of, outcome), held in groupby(made, key=lambda table: (table.of, table.outcome)):
        same = list(held)
        blocks += [
            Heading(_heading(material, of, outcome)),
            Text(_explained(material.spec, same[0])),
        ]
        for table in same:
            blocks += _table(material, table)
    blocks += _absent(material, made)
    blocks += [
        Heading("How the figures were calculated"),
        Text(_calculated(material)),
        Text(
            "Counts are whole numbers, and are added up where categories are merged. Rates and "
            "ratios are calculated from counts, never from rounded figures, and rounded here."
        ),
    ]
    return Section(title, tuple(blocks))


def _heading(material: Material, of: str, outcome: str) -> str:
    text = outcome_text(material.spec, outcome)
    if of == "scores":
        return say("Scores for “{outcome}”", outcome=text)
    return say("Selection: “{outcome}”", outcome=text)


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


def _table(material: Material, table: Published) -> list[Block]:
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
    return [
        Grid(
            header=(*head, *counts),
            rows=rows,
            widths=(*_WIDTHS[several], *(1.1 for _ in counts)),
            right=tuple(range(several, several + len(counts))),
            caption=caption,
            key=f"{table.by}-{table.of}-{table.outcome}",
            evidence="observed",
        )
    ]


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


def _absent(material: Material, made: tuple[Published, ...]) -> Iterator[Block]:
    """Say which of the three tables there is not, and what to do."""
    named = categories_of(material)
    there = {table.by for table in made}
    if not named.sex:
        yield not_run(
            "the tables by sex, because no attribute contains it. Mark the column as "
            "protected, or name it in the report’s details."
        )
    if not named.race:
        yield not_run(
            "the tables by race or ethnicity, because no attribute contains it. Mark the "
            "column as protected, or name it in the report’s details."
        )
    if named.sex and named.race and "both" not in there:
        yield not_run(
            "the intersectional table. Run “Group metrics” again with both attributes marked "
            "as protected."
        )


def _unsettled(material: Material) -> Iterator[Block]:
    """Say that categories were proposed and not chosen."""
    names = material.details.categories
    if not (names.sex or names.race):
        yield Callout(
            "Proposed categories.",
            "The auditor has not stated which attributes contain sex and race or ethnicity, "
            "nor the categories of their values. The categories shown were proposed from the "
            "names.",
        )


def _calculated(material: Material) -> str:
    person = words.plural(material.spec.person)
    falls = any(table.falls for table in material.group_tables)
    return say(
        "The selection rate of a category is the number of its {person} who were selected, "
        "divided by the number of its {person}; the scoring rate is the number of those with "
        "a score strictly {side} the median of the full sample, divided by the same number. "
        "The impact ratio is the rate of a category divided by that of the category with the "
        "highest rate. Categories with less than {share} of the {person} of known category "
        "in the table are shown with their number and rate, and are not compared (6 RCNY "
        "5-301).",
        person=person,
        side=_SIDES[falls],
        share=words.percent(_least_share(material), 1.0, 0),
    )


def unknown(material: Material) -> Section:
    """Return who is of unknown category, which categories are small, and what was merged."""
    made = published(material)
    blocks: list[Block] = []
    if made:
        blocks.append(_unknown_grid(made))
    blocks += [Facts(filled)] if (filled := system.facts_of(material, "unknown_categories")) else []
    small = [line for table in made for line in table.lines if line.excluded]
    if small:
        blocks += [
            Heading("Categories excluded from the impact ratios"),
            _small_grid(material.spec, made),
        ]
    blocks += [Facts(filled)] if (filled := system.facts_of(material, "small_categories")) else []
    blocks += _mapping(material)
    if not blocks:
        blocks.append(Text("Nothing has been counted yet, so nothing is known about categories."))
    return Section("Unknown, small and merged categories", tuple(blocks))


def _unknown_grid(made: tuple[Published, ...]) -> Grid:
    # of one decision is as of all
    first = {table.by: table for table in reversed(made)}
    held = [first[by] for by in ("sex", "race", "both") if by in first]
    return Grid(
        header=("Table", "Known category", "Unknown category", "Share unknown"),
        rows=tuple(
            (
                _TITLES[table.by],
                words.number(table.n_samples),
                words.number(table.unknown),
                words.percent(table.unknown, table.n_samples + table.unknown),
            )
            for table in held
        ),
        widths=(1.4, 1, 1, 1),
        right=(1, 2, 3),
        caption="People assessed by the tool whose category is unknown: not in the tables",
        key="unknown",
        evidence="observed",
    )


def _small_grid(spec: AuditSpec, made: tuple[Published, ...]) -> Grid:
    return Grid(
        header=("Table", "Category", "# of Applicants", "Share", "Rate"),
        rows=tuple(
            (
                _TITLES[table.by] + _of_outcome(spec, table),
                _name(line),
                words.number(line.n_samples),
                words.percent(line.n_samples, table.n_samples),
                _percent(line),
            )
            for table in made
            for line in table.lines
            if line.excluded
        ),
        widths=(1.8, 2, 0.9, 0.7, 0.7),
        right=(2, 3, 4),
        caption="Categories too small to be compared, with their numbers and rates",
        key="small",
        evidence="observed",
    )


def _mapping(material: Material) -> list[Block]:
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
        return []
    return [
        Heading("From the data’s values to categories"),
        Text(
            "The auditor decided which values form one category; the decision is in the audit log."
            if material.details.categories.names
            else "Each value is its own category, or has the category proposed from its name."
        ),
        Grid(
            header=("Attribute", "Value in the data", "Category", "Rows", ""),
            rows=tuple(rows),
            widths=(1.1, 1.6, 2.2, 0.7, 0.7),
            right=(3,),
            caption="Categories",
            key="categories",
        ),
    ]


#: Its own sections, by their keys.
MAKERS: dict[str, Callable[[Material], Section]] = {
    "ll144": about,
    "ll144-data": source,
    "rates": rates,
    "unknown": unknown,
}
