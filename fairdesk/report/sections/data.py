"""The section on the data: where they come from, their columns, the rows left out, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.verify.files import base_name
from fairdesk.data.columns.kinds import written_like
from fairdesk.data.columns.rereading import garbled_parts
from fairdesk.data.profiling.outcomes import favourable_rows
from fairdesk.data.table import Column, Dialect, Kind, OddCell
from fairdesk.document.blocks import Block, Fact, Facts, Grid, Heading, Section, Text
from fairdesk.report.content.material import Material
from fairdesk.results.trials import repair_of
from fairdesk.wording import words
from fairdesk.wording.attributes import role_text, texts_summary
from fairdesk.wording.groups.tables import why_without
from fairdesk.wording.language import say, say_many

#: So many line numbers are written out.
_LINES = 5


def odd_cells(material: Material) -> list[Block]:
    """List the cells in columns of numbers that are none, and what was done with them."""
    spec, shown = material.spec, material.shown
    dialect = spec.data.dialect
    formats = [
        Text(
            say(
                "The numbers in this column are written like {example}.",
                example=written_like(column.format),
            ),
            lead=f"{column.name}.",
        )
        for column in spec.columns
        if column.format is not None
    ]
    odd = [column for column in spec.columns if column.odd]
    if not odd:
        return [*formats]
    rows = []
    undecided = 0
    for column in odd:
        reading = dialect.reading(column.name)
        for each in column.odd:
            decided = bool(reading.odd) or each.text in reading.cells
            undecided += 0 if decided else each.rows
            changes = _done(each, decided=decided)
            place = _place(dialect, each.lines, each.rows)
            text = shown.words(words.in_quotes(each.text), strict=True)
            rows.append((column.name, text, words.number(each.rows), place, changes))
    count = sum(column.odd_rows for column in odd)
    sentences = [
        say_many(
            count,
            "{n} cell[|s] in columns of numbers [is|are] not [a number|numbers]. Unless "
            "[it|they] [was|were] corrected, [it|they] [counts|count] as missing; no value was "
            "imputed.",
        )
    ]
    if undecided:
        sentences.append(
            say_many(
                undecided,
                "The auditor made no decision on {n} of them.",
            )
        )
    return [
        *formats,
        Heading("Cells that are not numbers"),
        Text(" ".join(sentences)),
        Grid(
            header=("Column", "Cell", "Cells", "Where", "Read as"),
            rows=tuple(rows),
            widths=(1.1, 1.3, 0.5, 1.4, 1.2),
            right=(2,),
            caption="Cells in columns of numbers that are not numbers, and what they are read as",
            key="odd-cells",
            evidence="observed",
        ),
    ]


def _done(cell: OddCell, *, decided: bool) -> str:
    """Say what an odd cell is read as."""
    if cell.value is not None:
        return say("{number} (corrected)", number=words.short(cell.value, 15))
    return "missing" if decided else "missing; no decision"


def garbled(material: Material) -> list[Block]:
    """List the texts in a different encoding from the rest of the file."""
    spec, shown = material.spec, material.shown
    dialect = spec.data.dialect
    rows = [
        (
            column.name,
            *(shown.words(words.in_quotes(part), strict=True) for part in garbled_parts(each)),
            words.number(each.rows),
            _place(dialect, each.lines, each.rows),
        )
        for column in spec.columns
        if column.kind is not Kind.TEXT or shown.whole
        for each in column.garbled
    ]
    if not rows:
        return []
    return [
        Heading("Texts in another encoding"),
        Text(
            (
                "These texts were written in a different encoding from the rest of the file. They "
                "were corrected."
            )
            if dialect.encoding_mended
            else (
                "These texts were written in a different encoding from the rest of the file. They "
                "were not corrected: in a categorical column each counts as a separate category."
            )
        ),
        Grid(
            header=("Column", "Text", "Intended text", "Cells", "Where"),
            rows=tuple(rows),
            widths=(1.1, 1.3, 1.3, 0.5, 1.3),
            right=(3,),
            caption="Texts in a different encoding from the rest of the file",
            key="garbled",
            evidence="observed",
        ),
    ]


def _place(dialect: Dialect, lines: Sequence[int], rows: int) -> str:
    """Say on which lines of the file cells are, or in which rows where it has no lines."""
    shown = ", ".join(words.number(line) for line in lines[:_LINES])
    if dialect.format == "csv":
        text = say_many(rows, "line[|s] {shown}", shown=shown)
    else:
        text = say_many(rows, "row[|s] {shown}", shown=shown)
    if rows <= _LINES:
        return text
    return say("{lines} and {n} more", lines=text, n=words.number(rows - _LINES))


#: The role of what tells groups apart and is no input.
_UNSEEN = "protected, not a model input"
#: What uses only rows that can be tested.
_TESTED = "Tests of individual rows, and mitigation"
_REASONS = {
    "missing": "Value missing",
    "outside": "Value not allowed",
    "constraint": "Constraint broken",
}


def data(material: Material) -> Section:
    """Describe the data: where they come from, their columns, the rows that could not be used."""
    spec, table = material.spec, material.table
    good, known = favourable_rows(table, spec.label, spec.favourable)
    labelled, favourable = int(known.sum()), int(good.sum())
    facts = Facts(
        (
            Fact("File", base_name(spec.data.path), exact=True),
            Fact("SHA-256", spec.data.sha256, exact=True),
            Fact(
                "Size",
                say(
                    "{rows} rows, {columns} columns",
                    rows=words.number(spec.data.rows),
                    columns=words.number(len(spec.columns)),
                ),
            ),
            *([Fact("Sample", sampled)] if (sampled := words.sampled(spec.data)) else []),
            Fact("Each row is", say("one {person}", person=spec.person)),
            *material.filled("Data"),
            Fact("Read as", _dialect_sentence(spec.data.dialect)),
            Fact(
                "Recorded outcome",
                spec.label
                if spec.predictions
                else say("{label}; not an input of the model", label=spec.label),
            ),
            Fact("Favourable value", spec.favourable),
            Fact(
                "Share favourable",
                say(
                    "{share} ({favourable} of {labelled} rows with a recorded outcome); observed",
                    share=words.percent(favourable, labelled),
                    favourable=words.number(favourable),
                    labelled=words.number(labelled),
                ),
            ),
        )
    )
    complete = not any(column.missing for column in spec.columns)
    compared = {run.spec.text for run in material.runs}
    columns = Grid(
        header=(
            "Column",
            "Type",
            "Values",
            *(() if complete else ("Missing", "Share")),
            "Role",
        ),
        rows=tuple(
            (
                column.name,
                words.KINDS[column.kind],
                column_values(column, material.shown.values(column)),
                *(
                    ()
                    if complete
                    else (
                        words.number(column.missing),
                        words.percent(column.missing, spec.data.rows),
                    )
                ),
                "text with identity terms"
                if column.name in compared
                else _column_role(spec, column),
            )
            for column in spec.columns
        ),
        widths=(1.1, 0.75, 2.6, 0.85) if complete else (1.1, 0.75, 1.8, 0.55, 0.6, 0.85),
        right=() if complete else (3, 4),
        caption="The columns of the data; no value is missing"
        if complete
        else "The columns of the data",
        key="columns",
        evidence="observed",
        appended=True,
    )
    notes = [
        Text(material.shown.words(column.note), lead=f"{column.name}.")
        for column in spec.columns
        if column.note
    ]
    blocks = (
        *odd_cells(material),
        *garbled(material),
        *notes,
        *_unknown_groups(material),
        *_categories(material),
        *_steps(material),
    )
    return Section("Data", (facts, columns, *blocks))


def _unknown_groups(material: Material) -> list[Block]:
    """Say of each protected attribute of how many people the value is unknown."""
    spec, table = material.spec, material.table
    if not spec.domain.grouping:
        return []
    unnamed = _unnamed(material)
    rows = []
    for attribute in spec.domain.grouping:
        missing = table.column(attribute.name).missing
        hidden = sum(
            count
            for text, count in table.counts(attribute.name).items()
            if text in unnamed.get(attribute.name, ())
        )
        rows.append(
            (
                attribute.name,
                words.number(missing),
                words.number(hidden),
                words.percent(missing + hidden, spec.data.rows),
                "a separate category" if attribute.unknown else "not tested" if missing else "–",
            )
        )
    filled = material.filled("Categories")
    if all(row[1:3] == (words.number(0), words.number(0)) for row in rows):
        said = Text("Every row has a value of every protected attribute.")
        return [Heading("Group not recorded"), said, *([Facts(filled)] if filled else [])]
    return [
        Heading("Group not recorded"),
        Grid(
            header=(
                "Protected",
                "Missing",
                "Marked as unknown",
                "Share of all rows",
                "In a search",
            ),
            rows=tuple(rows),
            widths=(1.3, 0.8, 1.1, 1.0, 1.3),
            right=(1, 2, 3),
            caption=(
                "Rows without a value, and rows whose value the auditor has marked as unknown. "
                "In group tables they are counted but not compared"
            ),
            key="unknown",
            evidence="observed",
        ),
        *([Facts(filled)] if filled else []),
    ]


def _unnamed(material: Material) -> dict[str, set[str]]:
    """Return per attribute the values that count as unknown."""
    return {
        name: {text for text, category in named.items() if not category}
        for name, named in material.details.categories.names.items()
    }


def _categories(material: Material) -> list[Block]:
    """List what values of the data are called where they are published, and which are merged."""
    names = material.details.categories.names
    held = {column.name for column in material.spec.columns}
    rows = []
    for name, named in names.items():
        if name not in held:
            continue
        counts = material.table.counts(name)
        several = Counter(named.values())
        rows += [
            (
                name,
                text,
                category or "counts as unknown",
                words.number(counts.get(text, 0)),
                "merged" if category and several[category] > 1 else "",
            )
            for text, category in named.items()
            if material.shown.whole or text in material.shown.values(material.table.column(name))
        ]
    if not rows:
        return []
    return [
        Heading("Categories"),
        Text(
            "The auditor has defined these categories; values with the same category are "
            "merged. The tables of the summary for Local Law 144 use them; all others use "
            "the values of the data."
        ),
        Grid(
            header=("Attribute", "Value in the data", "Category", "Rows", ""),
            rows=tuple(rows),
            widths=(1.1, 1.5, 1.8, 0.7, 0.6),
            right=(3,),
            caption="From values of the data to categories",
            key="categories",
        ),
    ]


def _steps(material: Material) -> list[Block]:
    """Say at which step how many rows are left out, and why."""
    spec, table = material.spec, material.table
    total = len(table.codes)
    _, known = favourable_rows(table, spec.label, spec.favourable)
    rows = [("Reading", "Every row of the file was read", 0, total)]
    if unlabelled := total - int(known.sum()):
        why = "No recorded outcome: excluded wherever recorded outcomes are counted"
        rows.append(("Recorded outcomes", why, unlabelled, total - unlabelled))
    rows += _steps_of_groups(material, total)
    left = total
    aside = () if spec.predictions else spec.domain.set_aside(table)
    for reason in aside:
        left -= reason.rows
        rows.append((_TESTED, f"{_REASONS[reason.reason]}: {reason.what}", reason.rows, left))
    for run in material.repairs:
        repair = repair_of(run.figures)
        if repair is not None and repair.retrains:
            name = material.run_name(run)
            kept = repair.train + repair.validation + repair.test
            if kept < left:
                why = "The recorded outcome is missing, or is not one of the model’s decisions"
                rows.append((name, why, left - kept, kept))
            rows += [
                (name, "Validation rows", repair.validation, kept - repair.validation),
                (name, "Test rows; the others are training rows", repair.test, repair.train),
            ]
    if len(rows) == 1 and not spec.domain.grouping:
        return []  # of texts alone every row is read, and none is a starting point
    blocks: list[Block] = [Heading("Rows not used")]
    if not spec.predictions and spec.domain.grouping:
        blocks.append(Text(_starting_points(total, total - left)))
        if len(rows) == 1:
            return blocks
    return [
        *blocks,
        Grid(
            header=("Step", "Why", "Not used", "Remaining"),
            rows=tuple((what, why, words.number(n), words.number(m)) for what, why, n, m in rows),
            widths=(1.1, 2.8, 0.7, 0.7),
            right=(2, 3),
            caption=(
                "Rows that a step does not use; a row is counted under the first reason that "
                "applies"
            ),
            key="rows",
            evidence="observed",
        ),
    ]


def _steps_of_groups(material: Material, total: int) -> list[tuple[str, str, int, int]]:
    """Say whom the last tables of groups leave out."""
    tables = [
        each
        for each in material.group_tables
        if len(each.attributes) == 1 and each.of == material.group_tables[-1].of
    ]
    of_label = bool(tables) and tables[0].of == "label"
    what = "Group metrics of recorded outcomes" if of_label else "Group metrics of decisions"
    rows = [
        (
            what,
            say("By {attribute}: group not recorded", attribute=words.quoted(each.attributes[0])),
            each.unknown,
            each.n_samples,
        )
        for each in tables
        if each.unknown
    ]
    if tables and (gone := tables[0].without):
        why = words.capital(why_without(material.spec, tables[0]))
        rows.insert(0, (what, why, gone, total - gone))
    return rows


def _starting_points(total: int, unusable: int) -> str:
    if not unusable:
        return say(
            "All {total} rows are complete and within the allowed values, so all can be tested.",
            total=words.number(total),
        )
    return say(
        "Of {total} rows, {usable} can be tested. {unusable} cannot, because a "
        "value is missing or not allowed in this audit, or a constraint is broken.",
        usable=words.number(total - unusable),
        total=words.number(total),
        unusable=words.number(unusable),
    )


def _dialect_sentence(dialect: Dialect) -> str:
    signs = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space"}
    parts = [
        say("separator: {sign}", sign=signs.get(dialect.delimiter, dialect.delimiter)),
        dialect.encoding,
        "a header row" if dialect.header else "no header row",
        say("decimal sign: {sign}", sign=signs.get(dialect.decimal, "point")),
    ]
    if dialect.missing:
        parts.append("missing values: " + ", ".join(f"“{token}”" for token in dialect.missing))
    return "; ".join(parts)


def column_values(column: Column, values: Sequence[str]) -> str:
    """Write what a column holds: its values, the first of many, or its range.

    Parameters
    ----------
    values : sequence of str
        The values that may be named.
    """
    if column.kind.is_number:
        return words.ends(words.short(column.low, 10), words.short(column.high, 10))
    if column.kind is Kind.TEXT:
        return texts_summary(column.values)
    if column.kind is Kind.IGNORED:
        different = len(column.values)
        return say_many(different, "{n} [value|different values]") if different else "–"
    hidden = len(column.values) - len(values)
    return words.some([words.shortened(each) for each in values]) + (
        say("; {hidden} omitted", hidden=words.number(hidden)) if hidden else ""
    )


def _column_role(spec: AuditSpec, column: Column) -> str:
    if column.name == spec.label:
        return "recorded outcome"
    if spec.predictions:
        return "decisions" if column.name == spec.predictions else _compared_by(spec, column)
    roles = {
        attribute.name: role_text(spec.domain, attribute) for attribute in spec.domain.attributes
    }
    roles |= {attribute.name: _UNSEEN for attribute in spec.domain.unseen}
    return roles.get(column.name, "not an attribute")


def _compared_by(spec: AuditSpec, column: Column) -> str:
    return "protected" if column.name in words.protected_names(spec.domain) else "–"
