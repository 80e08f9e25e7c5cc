"""The parts of the report, each made of blocks from what the audit file holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.audit.methods import METHODS, parse_options
from fairdesk.audit.spec import AuditSpec
from fairdesk.audit.store import LogEntry, Pair, RunRecord
from fairdesk.data.domain import Attribute, Role
from fairdesk.data.nearest import nearest
from fairdesk.data.table import Column, Kind, Table
from fairdesk.events import Rows
from fairdesk.models.model import How, Input
from fairdesk.report import charts, evidence, words
from fairdesk.report.blocks import (
    Block,
    Callout,
    Chart,
    Code,
    Fact,
    Facts,
    Formula,
    Grid,
    Heading,
    PairCard,
    PairRow,
    Section,
    Statement,
    Text,
)
from fairdesk.report.decisions import class_texts, is_value, label_counts
from fairdesk.report.gathering import SHOWN, Gathered, difference

#: Values of a column that are written out before “and n more”.
_VALUES_SHOWN = 12
#: Model inputs listed; a one-hot encoding can have thousands.
_INPUTS_SHOWN = 120
#: Value changes listed per protected attribute.
_CHANGES_SHOWN = 20
#: Groups listed per protected attribute in the table of observed shares.
_GROUPS_SHOWN = 25
_KINDS = {
    Kind.NOMINAL: "names",
    Kind.ORDINAL: "names in an order",
    Kind.INTEGER: "whole numbers",
    Kind.REAL: "numbers",
    Kind.IGNORED: "left out",
}
_ROLES = {
    Role.PROTECTED: "protected",
    Role.VARIES: "may vary",
    Role.FIXED: "kept as in the data",
}


@dataclass(frozen=True)
class Material:
    """All that the sections are made from.

    Attributes
    ----------
    spec : AuditSpec
        The question.
    table : Table
        The audited data.
    runs : list[RunRecord]
        In the order in which they began.
    progress : dict[int, NDArray]
        Per run ``(m, 4)``: elapsed seconds, tried, found, queries.
    gathered : Gathered
        What was counted over all findings.
    log : list[LogEntry]
        The auditor's decisions.
    """

    spec: AuditSpec
    table: Table
    runs: list[RunRecord]
    progress: dict[int, NDArray[np.float64]]
    gathered: Gathered
    log: list[LogEntry]

    @property
    def people(self) -> str:
        """The auditor's word for persons."""
        return words.plural(self.spec.person)

    def run_name(self, run: RunRecord) -> str:
        """Name a run by its method; numbered where there are several runs."""
        title = METHODS[run.spec.method].title
        return f"{title}, run {self.runs.index(run) + 1}" if len(self.runs) > 1 else title


def sections(material: Material) -> tuple[Section, ...]:
    """Make the whole report's sections, in their order."""
    return (
        summary(material),
        data(material),
        model(material),
        compared(material),
        method(material),
        results(material),
        pairs(material),
        limits(material),
        formulas(),
        appendix(material),
    )


def summary(material: Material) -> Section:
    """Say what was found, one sentence per finding with its number first; or how much was tried."""
    spec = material.spec
    blocks: list[Block] = []
    for run in material.runs:
        first, _, rest = words.headline(spec, run).partition(" ")
        where = f"{material.run_name(run)}: {words.effort(run)}."
        blocks.append(Statement(first, rest, " ".join((*words.alone_sentences(spec, run), where))))
    if not material.runs:
        blocks.append(Text("No search has been run yet, so nothing can be said."))
    elif not any(run.found for run in material.runs):
        blocks.append(
            Text(
                "Nothing was found within what was tried. Discrimination that the search did not "
                "come upon may still exist: another method, another seed or a larger budget can "
                "find it. Only a certificate can prove that there is none."
            )
        )
    if material.gathered.shown:
        widest = max(material.gathered.shown, key=difference)
        blocks.append(Text(_widest_sentence(material, widest)))
    blocks.append(Callout("Examples, not a rate.", words.EXAMPLES))
    blocks.append(
        Text(
            "This report states what was asked, what was tried and what was found. "
            "It gives no verdict on whether the model may be used; that is for the people who "
            "answer for its use to decide."
        )
    )
    return Section("Summary", tuple(blocks), fresh=True)


def _widest_sentence(material: Material, pair: Pair) -> str:
    spec = material.spec
    changes = [
        f"{words.quoted(attribute.name)} from {attribute.text(pair.row[i])} "
        f"to {attribute.text(pair.partner[i])}"
        for i in spec.domain.protected.tolist()
        if pair.row[i] != pair.partner[i]
        for attribute in (spec.domain.attributes[i],)
    ]
    return (
        f"The widest difference among the pairs shown is finding {words.number(pair.id)}: changing "
        f"{' and '.join(changes)} moves the score of the favourable outcome from "
        f"{words.score(pair.row_score)} to {words.score(pair.partner_score)}, all else being equal."
    )


def data(material: Material) -> Section:
    """Describe the data: where they come from, their columns, the rows that could not be used."""
    spec, table = material.spec, material.table
    dialect = spec.data.dialect
    counts = label_counts(spec, table)
    labelled = sum(counts.values())
    favourable = sum(n for text, n in counts.items() if is_value(text, spec.favourable))
    unlabelled = len(table.codes) - labelled
    facts = Facts(
        (
            Fact("File", spec.data.path, exact=True),
            Fact("SHA-256", spec.data.sha256, exact=True),
            Fact("Size", f"{words.number(spec.data.rows)} rows, {len(spec.columns)} columns"),
            Fact("One row is", f"one {spec.person}"),
            Fact("Read with", _dialect_sentence(dialect.delimiter, dialect.encoding, table)),
            Fact("Label", f"{spec.label}: the decision or the truth; no input of the model"),
            Fact("Favourable value", spec.favourable),
            Fact(
                "Share favourable",
                f"{words.percent(favourable, labelled)} ({words.number(favourable)} of "
                f"{words.number(labelled)} rows with a label"
                + (f"; {words.number(unlabelled)} without" if unlabelled else "")
                + "); observed",
            ),
        )
    )
    columns = Grid(
        header=("Column", "Kind", "Values", "Missing", "Role"),
        rows=tuple(
            (
                column.name,
                _KINDS[column.kind],
                column_values(column),
                words.number(column.missing),
                _column_role(spec, column),
            )
            for column in spec.columns
        ),
        widths=(1.1, 0.75, 2.0, 0.55, 0.85),
        right=(3,),
        caption="The columns of the data",
    )
    return Section(
        "Data",
        (facts, columns, Heading("Rows that the search starts from"), *_left_out(material)),
        fresh=True,
    )


def _dialect_sentence(delimiter: str, encoding: str, table: Table) -> str:
    dialect = table.source.dialect
    signs = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space"}
    parts = [
        f"{signs.get(delimiter, delimiter)} between cells",
        encoding,
        "a header row" if dialect.header else "no header row",
        f"decimal {signs.get(dialect.decimal, 'point')}",
    ]
    if dialect.missing:
        parts.append("no value: " + ", ".join(f"“{token}”" for token in dialect.missing))
    return "; ".join(parts)


def column_values(column: Column) -> str:
    """Write what a column holds: its values, the first of many, or its range."""
    if column.kind.is_number:
        return f"{column.low:,.10g} to {column.high:,.10g}"
    return _some(column.values)


def _some(values: Sequence[str]) -> str:
    """Write the first values of many, and how many more there are."""
    if len(values) <= _VALUES_SHOWN:
        return ", ".join(values)
    rest = len(values) - _VALUES_SHOWN
    return f"{', '.join(values[:_VALUES_SHOWN])} and {words.number(rest)} more"


def _column_role(spec: AuditSpec, column: Column) -> str:
    if column.name == spec.label:
        return "label"
    roles = {attribute.name: _ROLES[attribute.role] for attribute in spec.domain.attributes}
    return roles.get(column.name, "no attribute")


def _left_out(material: Material) -> list[Block]:
    """Say how many rows a search cannot start from, and why."""
    domain = material.spec.domain
    rows = domain.encode(material.table)
    missing = np.column_stack(
        [np.isnan(material.table.codes[:, material.table.index(name)]) for name in domain.names]
    )
    with np.errstate(invalid="ignore"):
        outside = ~((rows >= domain.low) & (rows <= domain.high)) & ~missing
    unusable = int((missing | outside).any(axis=1).sum())
    total = len(rows)
    if not unusable:
        return [
            Text(
                f"All {words.number(total)} rows are complete and within the values that are "
                "allowed, so all can be starting points."
            )
        ]
    grid = Grid(
        header=("Attribute", "Value missing", "Value not allowed"),
        rows=tuple(
            (name, words.number(int(absent)), words.number(int(beyond)))
            for name, absent, beyond in zip(
                domain.names, missing.sum(axis=0), outside.sum(axis=0), strict=True
            )
            if absent or beyond
        ),
        widths=(2, 1, 1),
        right=(1, 2),
        caption="Why rows are no starting points; a row can count in several lines",
    )
    return [
        Text(
            f"{words.number(total - unusable)} of {words.number(total)} rows can be starting "
            f"points. {words.number(unusable)} cannot, because a value is missing or not allowed "
            "in this audit. Left-out rows stay in the data and in the shares above."
        ),
        grid,
    ]


def model(material: Material) -> Section:
    """Describe the model: the file, what is inside, how it is fed, whether it was trusted."""
    spec = material.spec
    card = spec.model
    meanings = class_texts(spec, material.table)
    classes = ", ".join(
        name if name == meaning else f"{name} (“{meaning}”)"
        for name, meaning in zip(card.classes, meanings, strict=True)
    )
    if len(card.classes) == 2:
        rule = "The favourable outcome is decided when the score of class 1 is above 0.5."
        if spec.mapping.favourable_class == 0:
            rule = "The favourable outcome is decided when the score of class 1 is at most 0.5."
        rule = rule.replace("class 1", f"“{card.classes[1]}”")
    else:
        rule = "The class with the greatest score is decided."
    facts = [
        Fact("File", card.path, exact=True),
        Fact("SHA-256", card.sha256, exact=True),
        Fact(
            "Format", card.format + (f", saved with {card.saved_with}" if card.saved_with else "")
        ),
        Fact("Inside", card.summary),
        Fact("Classes", classes),
        Fact("Favourable class", card.classes[spec.mapping.favourable_class]),
        Fact("Answers", f"{card.scores}. {rule}"),
        Fact("Opened", _opened_sentence(spec)),
    ]
    blocks: list[Block] = [Facts(tuple(facts))]
    if spec.trusted and not card.read_as_data:
        blocks.append(
            Callout(
                "Trusted by the auditor.",
                "The model file is a program that runs when it is opened. The auditor agreed to "
                "run the file with the fingerprint above.",
            )
        )
    blocks.extend(Callout("Note.", warning) for warning in card.warnings)
    inputs = spec.mapping.inputs
    shown = inputs[:_INPUTS_SHOWN]
    caption = f"What the model is given; matched {spec.mapping.matched}"
    if len(inputs) > len(shown):
        caption += f"; the first {len(shown)} of {words.number(len(inputs))}, all in the manifest"
    blocks += [
        Heading("From columns to inputs"),
        Grid(
            header=("", "Model input", "Made from", "How"),
            rows=tuple(
                (str(i + 1), one.name, one.attribute, input_sentence(one))
                for i, one in enumerate(shown)
            ),
            widths=(0.2, 1.2, 1.2, 2.2),
            right=(0,),
            caption=caption,
        ),
    ]
    return Section("Model", tuple(blocks), fresh=True)


def _opened_sentence(spec: AuditSpec) -> str:
    if spec.model.read_as_data:
        return "read as plain numbers; no code of the file was run"
    return "with the library it was made with, in a process of its own"


def input_sentence(one: Input) -> str:
    """Say how a model input is made."""
    if one.how is How.AS_IS:
        return "the number itself"
    if one.how is How.LABEL:
        return "the text as it stands in the data"
    return "a number for each value: " + _some(
        [f"{text} = {code:g}" for text, code in one.codes.items()]
    )


def compared(material: Material) -> Section:
    """Say who is compared with whom, and what the search may change."""
    spec = material.spec
    domain = spec.domain
    blocks: list[Block] = [
        Text(
            f"Every {spec.person} that the search invents is asked about once for each of the "
            f"{words.number(domain.combination_count)} combinations of the protected values below. "
            "All other attributes stay equal. When the decision changes, that is a finding."
        ),
        Grid(
            header=("Protected", "Values that are compared"),
            rows=tuple(
                (domain.attributes[i].name, compared_values(domain.attributes[i]))
                for i in domain.protected.tolist()
            ),
            widths=(1, 3),
        ),
        Heading("What the search may change"),
        Grid(
            header=("Attribute", "Role", "Allowed values"),
            rows=tuple(
                (
                    attribute.name,
                    _ROLES[attribute.role],
                    _some(attribute.values)
                    if attribute.values
                    else f"{attribute.low:,.10g} to {attribute.high:,.10g}",
                )
                for attribute in domain.attributes
                if attribute.role is not Role.PROTECTED
            ),
            widths=(1.1, 0.8, 2.2),
        ),
        Heading("Observed in the data"),
        Text(
            f"How often the label is “{spec.favourable}” in each group, in the rows of the data "
            "(observed). These shares describe the data, not the model, and are no result of the "
            "search; they help to read it."
        ),
    ]
    blocks.extend(_base_rates(material, domain.attributes[i]) for i in domain.protected.tolist())
    return Section("Who is compared", tuple(blocks), fresh=True)


def compared_values(attribute: Attribute) -> str:
    """Write the values of a protected attribute; for grouped numbers, that they are grouped."""
    texts = [attribute.text(code) for code in attribute.compared]
    if attribute.values:
        return ", ".join(texts)
    whole = attribute.kind is Kind.INTEGER
    if whole and len(texts) == attribute.high - attribute.low + 1:
        return f"every whole number from {texts[0]} to {texts[-1]}"
    return (
        f"{', '.join(texts)}: the middles of {len(texts)} groups of equal width from "
        f"{attribute.low:,.10g} to {attribute.high:,.10g}"
    )


def _base_rates(material: Material, attribute: Attribute) -> Grid:
    """Count the favourable labels in each group of a protected attribute."""
    spec, table = material.spec, material.table
    label = table.column(spec.label)
    labels = table.codes[:, table.index(spec.label)]
    position = spec.domain.names.index(attribute.name)
    codes = spec.domain.encode(table)[:, position]
    known = ~np.isnan(labels) & ~np.isnan(codes)
    is_favourable = np.zeros(len(labels), dtype=bool)
    for code in np.unique(labels[~np.isnan(labels)]).tolist():
        if is_value(label.text(code), spec.favourable):
            is_favourable |= labels == code
    middles = np.array(attribute.compared)
    group = np.abs(np.where(known, codes, 0)[:, None] - middles).argmin(axis=1)
    rows = []
    for i, code in enumerate(attribute.compared[:_GROUPS_SHOWN]):
        members = known & (group == i)
        n, k = int(members.sum()), int((members & is_favourable).sum())
        rows.append((attribute.text(code), words.number(n), words.number(k), words.percent(k, n)))
    caption = f"Observed: label “{spec.favourable}” by {attribute.name}"
    if not attribute.values and not _every_value(attribute):
        caption += "; each row counts with the nearest of the values that are compared"
    if len(attribute.compared) > _GROUPS_SHOWN:
        caption += f"; the first {_GROUPS_SHOWN} of {len(attribute.compared)} groups"
    if unknown := int((~known).sum()):
        caption += f"; {words.number(unknown)} rows without a value or a label are left out"
    return Grid(
        header=(attribute.name, "Rows", "Favourable", "Share"),
        rows=tuple(rows),
        widths=(2, 1, 1, 1),
        right=(1, 2, 3),
        caption=caption,
    )


def _every_value(attribute: Attribute) -> bool:
    return all(second - first == 1 for first, second in pairwise(attribute.compared))


def method(material: Material) -> Section:
    """Say how was searched: each method in plain words, and each run's settings."""
    blocks: list[Block] = []
    if not material.runs:
        blocks.append(Text("No search has been run yet."))
    told: set[str] = set()
    for run in material.runs:
        used = METHODS[run.spec.method]
        blocks.append(Heading(material.run_name(run)))
        if used.key not in told:
            told.add(used.key)
            blocks += [
                Text(used.sentence),
                Facts((Fact("Published in", used.paper), Fact("Cannot tell", used.cannot))),
            ]
        budget = run.spec.budget
        limits = [
            *([words.duration(budget.seconds)] if budget.seconds is not None else []),
            *([f"{words.number(budget.queries)} rows"] if budget.queries is not None else []),
        ]
        settings = [
            ("seed", str(run.spec.seed), "the start of all randomness; the same gives the same"),
            ("budget", " or ".join(limits) or "none", "when the run ends by itself"),
            *option_rows(run),
        ]
        blocks.append(
            Grid(
                header=("Setting", "Value", "What it is"),
                rows=tuple(settings),
                widths=(1.1, 0.7, 2.6),
                right=(1,),
                caption="Settings; the names are those of the paper",
            )
        )
    return Section("Method and settings", tuple(blocks), fresh=True)


def option_rows(run: RunRecord) -> list[tuple[str, str, str]]:
    """Give each option of a run: its name in the paper, its value, its plain sentence."""
    options = parse_options(run.spec.method, run.spec.options)
    rows = []
    for field in msgspec.structs.fields(options):
        value: Any = getattr(options, field.name)
        metas = [one for one in get_args(field.type) if isinstance(one, msgspec.Meta)]
        told = [text for meta in metas for text in (meta.title, meta.description) if text]
        rows.append((field.name, f"{value:,}", ". ".join(text.rstrip(".") for text in told)))
    return rows


def results(material: Material) -> Section:
    """Show what each run tried and found."""
    blocks: list[Block] = []
    finished = [run for run in material.runs if run.tried]
    if len(finished) > 1:
        blocks += [
            Text(
                "A count of findings says little by itself: a longer search finds more. The lines "
                "show what each method found for what it tried; random sampling is the yardstick "
                "that a search should beat."
            ),
            _found_chart(material, finished, "All runs: findings against people tried"),
        ]
    for run in material.runs:
        blocks += _run_blocks(material, run)
    if not material.runs:
        blocks.append(Text("No search has been run yet."))
    marks = material.gathered.marks
    if marks["flagged"] or marks["dismissed"]:
        blocks.append(
            Text(
                f"The auditor flagged {words.number(marks['flagged'])} of these findings and "
                f"dismissed {words.number(marks['dismissed'])}. Dismissed ones stay in the counts."
            )
        )
    return Section("Results", tuple(blocks), fresh=True)


def _run_blocks(material: Material, run: RunRecord) -> list[Block]:
    spec = material.spec
    facts = [
        Fact("State", words.state_word(run.state) + (f". {run.message}" if run.message else "")),
        Fact("Tried", f"{words.number(run.tried)} invented {material.people}, each once"),
        Fact("Found", f"{words.number(run.found)}, each another {spec.person}, checked again"),
        Fact("Found per tried", f"{words.percent(run.found, run.tried)}; of the search, no rate"),
        Fact("Rows sent to the model", words.number(run.queries)),
        *(
            [Fact("Rows per finding", words.number(run.queries / run.found, 1))]
            if run.found
            else []
        ),
        Fact("Time", words.duration(run.elapsed)),
        *(
            Fact(f"{phase.capitalize()} search", words.duration(seconds))
            for phase, seconds in run.seconds.items()
        ),
        Fact("Began", evidence.date_text(evidence.moment(run.started))),
    ]
    blocks: list[Block] = [Heading(material.run_name(run))]
    if ended := words.ending(run):
        blocks.append(Callout("Not to the end.", ended))
    blocks.append(Facts(tuple(facts)))
    if len(material.progress[run.id]):
        title = f"Findings against {material.people} tried"
        blocks.append(_found_chart(material, [run], title))
    names = words.protected_names(spec.domain)
    if run.found and len(names) > 1:
        bars = list(zip(names, run.alone, strict=True))
        picture = charts.bar_chart(bars, whole=run.found, unit="findings")
        blocks.append(
            Chart(
                picture.svg,
                picture.alt,
                f"Of {words.number(run.found)} findings: the decision changes already when only "
                "this attribute changes",
            )
        )
    counters = material.gathered.changes.get(run.id, [])
    blocks += [
        _changes_grid(spec.domain.attributes[i], counter)
        for i, counter in zip(spec.domain.protected.tolist(), counters, strict=False)
        if counter
    ]
    return blocks


def _found_chart(material: Material, runs: Sequence[RunRecord], caption: str) -> Chart:
    lines = [
        charts.Series(
            material.run_name(run), material.progress[run.id][:, 1], material.progress[run.id][:, 2]
        )
        for run in runs
    ]
    picture = charts.line_chart(
        lines,
        x_title=f"{material.people} tried",
        y_title=f"{material.people} found who get another decision",
    )
    return Chart(picture.svg, picture.alt, caption)


def _changes_grid(attribute: Attribute, counter: Counter[tuple[float, float]]) -> Grid:
    """Count the findings by the values of the one who fares better and of the one who does not."""
    total = sum(counter.values())
    rows = [
        (
            attribute.text(better),
            attribute.text(worse),
            words.number(count),
            words.percent(count, total),
        )
        for (better, worse), count in sorted(counter.items(), key=lambda item: (-item[1], item[0]))
    ]
    caption = f"Which values of {attribute.name} were paired, in findings where it differs"
    if len(rows) > _CHANGES_SHOWN:
        rest = sum(sorted(counter.values(), reverse=True)[_CHANGES_SHOWN:])
        other = f"{words.number(len(rows) - _CHANGES_SHOWN)} other pairings"
        rows = [*rows[:_CHANGES_SHOWN], (other, "", words.number(rest), words.percent(rest, total))]
    return Grid(
        header=("Favourable for", "Not for", "Findings", "Share"),
        rows=tuple(rows),
        widths=(1.5, 1.5, 0.8, 0.8),
        right=(2, 3),
        caption=caption,
    )


def pairs(material: Material) -> Section:
    """Show pairs in full: those that the auditor flagged, then the widest differences."""
    shown = material.gathered.shown
    total = sum(material.gathered.marks.values())
    if not shown:
        return Section("Examples", (Text("There are no pairs to show."),), fresh=True)
    flagged = sum(pair.mark == "flagged" for pair in shown)
    order = (
        f"first the {flagged} that the auditor flagged" + (", then " if flagged < SHOWN else "")
        if flagged
        else ""
    )
    if flagged < SHOWN:
        order += "those whose scores differ most, near copies left out"
    intro = (
        f"{words.number(len(shown))} of {words.number(total)} pairs: {order}. The whole list is in "
        "the findings file (CSV or JSON) and in the audit file. The two people of a pair are equal "
        "in everything but the lines marked “≠”. Scores are those of the favourable outcome."
    )
    people = material.spec.domain.people(material.table)
    cards = [_card(material, pair, people) for pair in shown]
    return Section("Examples", (Text(intro), *cards), fresh=True)


def _card(material: Material, pair: Pair, people: Rows) -> PairCard:
    spec = material.spec
    decisions = class_texts(spec, material.table)
    rows = tuple(
        PairRow(attribute.name, attribute.text(first), attribute.text(second), first != second)
        for attribute, first, second in zip(
            spec.domain.attributes, pair.row.tolist(), pair.partner.tolist(), strict=True
        )
    )
    outcome = (
        PairRow(
            "Decision",
            f"{decisions[pair.row_class]} ({words.decision_word(spec, pair.row_class)})",
            f"{decisions[pair.partner_class]} ({words.decision_word(spec, pair.partner_class)})",
            changed=True,
        ),
        PairRow(
            "Score", words.score(pair.row_score), words.score(pair.partner_score), changed=True
        ),
    )
    run = next(run for run in material.runs if run.id == pair.run)
    detail = [f"{material.run_name(run)}, {pair.phase} search"]
    if len(people):
        _, distance = nearest(spec.domain, people, pair.row)
        detail.append(f"distance to the nearest real {spec.person} {distance:.3f}")
    title = f"Finding {words.number(pair.id)}" + (", flagged" if pair.mark == "flagged" else "")
    person = spec.person[:1].upper() + spec.person[1:]
    return PairCard(
        title, "; ".join(detail), pair.note, f"{person} A", f"{person} B", rows, outcome
    )


def limits(material: Material) -> Section:
    """Say what this audit cannot tell."""
    people, person = material.people, material.spec.person
    return Section(
        "Limits",
        (
            Text(
                "Examples, no rate. The search goes where it expects to find. How many real "
                f"{people} are treated differently cannot be read from its counts."
            ),
            Text(
                "Nothing found is no proof. A search that finds nothing has not shown that there "
                "is nothing; it tells how much was tried."
            ),
            Text(
                f"Invented {people}. The pairs are combinations of values that each occur in the "
                "data or lie in the allowed range. Some combinations may hardly occur in life; the "
                f"distance to the nearest real {person} helps to judge that."
            ),
            Text(
                "Only the protected attributes that were marked. Other attributes can stand in for "
                "them (a postcode for origin); changing a protected attribute alone does not show "
                "that. What is not in the data cannot be compared."
            ),
            Text(
                "The model, not its use. Whether a person reviews the decisions, for whom the "
                "system is used, and whether the label itself is fair, is not measured here."
            ),
            Text(
                "The data as they are. Whether they stand for the people whom the system will "
                "decide on is not known to this audit. Groups with few rows say little."
            ),
        ),
        fresh=True,
    )


def formulas() -> Section:
    """Define each quantity: formula, what is counted, which way is which, where it comes from."""
    galhotra = (
        "Galhotra, Brun, Meliou: Fairness testing: testing software for discrimination, "
        "ESEC/FSE 2017."
    )
    return Section(
        "Quantities and formulas",
        (
            Text(
                "x is a person as the model sees them, A all attributes, P the protected ones, "
                "f the decision of the model and s its score of the favourable outcome."
            ),
            Formula(
                "similar",
                "Similar set",
                "S of x is the set of all other people who equal x in every attribute that is not "
                "protected",
                f"Everybody with whom x is compared. {galhotra}",
            ),
            Formula(
                "instance",
                "Individual discriminatory instance (a finding)",
                "x is discriminatory when the decision differs for some member of its similar set",
                "Counted once however many protected values show it: two people who differ in "
                "protected attributes only are one finding. The pair holds the member of S(x) with "
                f"another decision whose score is farthest from that of x. {galhotra}",
            ),
            Formula(
                "alone",
                "Enough alone",
                "the decision differs for a member of the similar set that equals x in every "
                "protected attribute but p",
                "Whether changing the one protected attribute p is enough. A finding can count for "
                "several attributes, or for none when only a joint change shows it.",
            ),
            Formula(
                "success",
                "Found per tried",
                "success rate equals found divided by tried",
                "Unique findings by unique people tried, both counted without the protected "
                "attributes. It measures the search; higher means a search that aims better.",
            ),
            Formula(
                "cost",
                "Rows per finding",
                "rows per finding equals rows sent divided by found",
                "All rows that were sent to the model, by unique findings. Lower is cheaper. "
                "Compare it with that of random sampling.",
            ),
            Formula(
                "difference",
                "Difference of scores",
                "d of x and x prime is the absolute difference of their scores",
                "How far apart the two people of a pair are in the model’s eyes: 0 to 1 for "
                "probabilities. Higher is worse.",
            ),
            Formula(
                "gower",
                "Distance to the nearest real record",
                "D is the mean of the distances over all attributes that are not protected",
                "For names 0 when equal, else 1; for numbers the difference as a share of the "
                "range. 0 is the same person, 1 differs in everything. The least over all complete "
                "rows of the data is shown. Gower: A general coefficient of similarity and some of "
                "its properties, Biometrics 27 (1971).",
            ),
            Formula(
                "favourable",
                "Observed share",
                "r of g equals s of g divided by n of g",
                "Rows of group g with the favourable label, by rows of group g with a label.",
            ),
        ),
    )


def appendix(material: Material) -> Section:
    """Give what is needed to check and repeat the audit."""
    spec = material.spec
    blocks: list[Block] = [
        Facts(
            (
                Fact("Audit", evidence.identity(spec), exact=True),
                Fact("Created", evidence.date_text(evidence.moment(spec.created))),
                Fact("Data, SHA-256", spec.data.sha256, exact=True),
                Fact("Model, SHA-256", spec.model.sha256, exact=True),
                *(Fact(name, version) for name, version in spec.versions.items()),
            )
        ),
        Text(
            "The file “manifest.json” attached to this document holds the whole question, all "
            "runs, versions and fingerprints, and the log below, for machines."
        ),
    ]
    if material.runs:
        blocks += [
            Heading("Runs"),
            Grid(
                header=("Run", "Method", "Seed", "Began (UTC)", "Ended (UTC)", "State"),
                rows=tuple(
                    (
                        str(i + 1),
                        METHODS[run.spec.method].title,
                        str(run.spec.seed),
                        evidence.clock(run.started),
                        evidence.clock(run.ended) if run.ended else "–",
                        words.state_word(run.state),
                    )
                    for i, run in enumerate(material.runs)
                ),
                widths=(0.4, 1.4, 0.6, 1.4, 1.4, 1),
                right=(0, 2),
            ),
            Heading("To repeat it"),
        ]
        for run in material.runs:
            blocks.append(Code(evidence.command(spec, run.spec)))
            blocks += [Text(sentence) for sentence in evidence.beyond_command(spec, run.spec)]
        if domain := evidence.domain_file(spec):
            blocks += [Text("with a file domain.json that holds:"), Code(domain)]
    blocks.append(Heading("Log of the auditor’s decisions"))
    if material.log:
        blocks.append(
            Grid(
                header=("Time (UTC)", "What"),
                rows=tuple((evidence.clock(entry.at), entry.what) for entry in material.log),
                widths=(1, 3),
            )
        )
    else:
        blocks.append(Text("The log is empty."))
    return Section("Evidence", tuple(blocks), fresh=True)
