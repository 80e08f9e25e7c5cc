"""The report's sections on what was asked: data, model, people; and each run's settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from fairdesk.audit.catalogue.methods import METHODS, Answers, method_named, parse_options
from fairdesk.audit.catalogue.options import options_of
from fairdesk.audit.plan.spec import AuditSpec, OptionValue
from fairdesk.audit.store.store import RunRecord
from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.constraint_check import checked
from fairdesk.data.domain.domain import Domain
from fairdesk.data.profiling.outcomes import favourable_rows
from fairdesk.data.table import Column, Dialect, Kind
from fairdesk.models.decisions.rule import VALUES
from fairdesk.models.inputs.usual import refitted
from fairdesk.models.model import Fit
from fairdesk.report.blocks import (
    Block,
    Callout,
    Fact,
    Facts,
    Grid,
    Heading,
    Section,
    Text,
)
from fairdesk.report.content.material import Material
from fairdesk.report.content.redaction import Shown
from fairdesk.report.sections.cells import garbled, odd_cells
from fairdesk.wording import figures, words
from fairdesk.wording import mitigation as mitigation_words
from fairdesk.wording.decisions import class_texts, name_of
from fairdesk.wording.language import say
from fairdesk.wording.rules import rule_phrase

#: Values of a column that are written out before “and n more”.
_VALUES_SHOWN = 12
#: Model inputs listed; a one-hot encoding can have thousands.
_INPUTS_SHOWN = 300
_REASONS = {
    "missing": "Value missing",
    "outside": "Value not allowed",
    "constraint": "Constraint broken",
}
#: How the log says, when a model is opened, how far it agrees with the label.
_AGREES = "The model agrees with the label"
_ROLES = {
    Role.PROTECTED: "protected",
    Role.VARIES: "may vary",
    Role.FIXED: "kept as in the data",
}


def data(material: Material) -> Section:
    """Describe the data: where they come from, their columns, the rows that could not be used."""
    spec, table = material.spec, material.table
    good, known = favourable_rows(table, spec.label, spec.favourable)
    labelled, favourable = int(known.sum()), int(good.sum())
    facts = Facts(
        (
            Fact("File", spec.data.path, exact=True),
            Fact("SHA-256", spec.data.sha256, exact=True),
            Fact(
                "Size",
                say(
                    "{rows} rows, {columns} columns",
                    rows=words.number(spec.data.rows),
                    columns=words.number(len(spec.columns)),
                ),
            ),
            Fact(
                "One row is",
                say("one {person}", person=spec.person),
            ),
            *material.filled("Data"),
            Fact("Read with", _dialect_sentence(spec.data.dialect)),
            Fact(
                "Label",
                say("{label}: the decision or the truth; no input of the model", label=spec.label),
            ),
            Fact("Favourable value", spec.favourable),
            Fact(
                "Share favourable",
                say(
                    "{share} ({favourable} of {labelled} rows with a label); observed",
                    share=words.percent(favourable, labelled),
                    favourable=words.number(favourable),
                    labelled=words.number(labelled),
                ),
            ),
        )
    )
    columns = Grid(
        header=("Column", "Kind", "Values", "Missing", "Share", "Role"),
        rows=tuple(
            (
                column.name,
                words.KINDS[column.kind],
                column_values(column, material.shown.values(column)),
                words.number(column.missing),
                words.percent(column.missing, spec.data.rows),
                _column_role(spec, column),
            )
            for column in spec.columns
        ),
        widths=(1.1, 0.75, 1.8, 0.55, 0.6, 0.85),
        right=(3, 4),
        caption="The columns of the data",
        key="columns",
        evidence="observed",
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
    return Section("Data", (facts, columns, *blocks), fresh=True)


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
                "a category of its own"
                if attribute.unknown
                else "nobody to start from"
                if missing
                else "–",
            )
        )
    return [
        Heading("People of unknown group"),
        Grid(
            header=("Protected", "Missing", "Named as unknown", "Share of all rows", "In a search"),
            rows=tuple(rows),
            widths=(1.3, 0.8, 1.1, 1.0, 1.3),
            right=(1, 2, 3),
            caption="Rows without a value, and rows whose value the auditor has marked as unknown. "
            "In tables of groups they are counted, and not compared",
            key="unknown",
            evidence="observed",
        ),
        *([Facts(told)] if (told := material.filled("Categories")) else []),
    ]


def _unnamed(material: Material) -> dict[str, set[str]]:
    """Return per attribute the values that count as unknown."""
    return {
        name: {text for text, category in named.items() if not category}
        for name, named in material.details.categories.names.items()
    }


def _categories(material: Material) -> list[Block]:
    """List what values of the data are called where they are published, and which are merged."""
    told = material.details.categories.names
    held = {column.name for column in material.spec.columns}
    rows = []
    for name, named in told.items():
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
            "The auditor has named these categories, and merged values where two have the same "
            "one. The tables of the summary for Local Law 144 count by them; all others count the "
            "values of the data."
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
        why = "No label: left out wherever outcomes are counted by it"
        rows.append(("Labels", why, unlabelled, total - unlabelled))
    rows += _steps_of_groups(material, total)
    left = total
    aside = () if spec.predictions else spec.domain.set_aside(table)
    for reason in aside:
        left -= reason.rows
        rows.append(("Search", f"{_REASONS[reason.reason]}: {reason.what}", reason.rows, left))
    for run in material.repairs:
        repair = mitigation_words.repair_of(run.figures)
        if repair is not None and repair.retrains:
            name = material.run_name(run)
            kept = repair.train + repair.validation + repair.test
            if kept < total:
                rows.append((name, "Without a label of a decision", total - kept, kept))
            rows += [
                (
                    name,
                    "Kept to choose by (validation)",
                    repair.validation,
                    kept - repair.validation,
                ),
                (name, "Kept to measure with (test)", repair.test, repair.train),
            ]
    blocks: list[Block] = [Heading("Rows left out, step by step")]
    if not spec.predictions:
        blocks.append(Text(_starting_points(total, total - left)))
    return [
        *blocks,
        Grid(
            header=("Step", "Why", "Left out", "Left"),
            rows=tuple((what, why, words.number(n), words.number(m)) for what, why, n, m in rows),
            widths=(1.1, 2.8, 0.7, 0.7),
            right=(2, 3),
            caption="Rows left out, and how many are left; in a search each row counts once, under "
            "its first reason. All rows stay in the data, and in the shares above",
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
    what = "Group outcomes"
    rows = [
        (
            what,
            say("By {attribute}: of unknown group", attribute=words.quoted(each.attributes[0])),
            each.unknown,
            each.people,
        )
        for each in tables
        if each.unknown
    ]
    if tables and (gone := tables[0].without):
        why = "No outcome, or the model could not be asked"
        rows.insert(0, (what, why, gone, total - gone))
    return rows


def _starting_points(total: int, unusable: int) -> str:
    if not unusable:
        return say(
            "All {total} rows are complete and within the values that are allowed, so all "
            "can be starting points.",
            total=words.number(total),
        )
    return say(
        "{usable} of {total} rows can be starting points. {unusable} cannot, because "
        "a value is missing or not allowed in this audit, or a constraint is broken.",
        usable=words.number(total - unusable),
        total=words.number(total),
        unusable=words.number(unusable),
    )


def _dialect_sentence(dialect: Dialect) -> str:
    signs = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space"}
    parts = [
        say("{sign} between cells", sign=signs.get(dialect.delimiter, dialect.delimiter)),
        dialect.encoding,
        "a header row" if dialect.header else "no header row",
        say("decimal {sign}", sign=signs.get(dialect.decimal, "point")),
    ]
    if dialect.missing:
        parts.append("no value: " + ", ".join(f"“{token}”" for token in dialect.missing))
    return "; ".join(parts)


def column_values(column: Column, told: Sequence[str]) -> str:
    """Write what a column holds: its values, the first of many, or its range.

    Parameters
    ----------
    column : Column
        The column.
    told : sequence of str
        The values that may be named.
    """
    if column.kind.is_number:
        return words.ends(words.short(column.low, 10), words.short(column.high, 10))
    if column.kind is Kind.TEXT:
        return _texts(column.values)
    hidden = len(column.values) - len(told)
    return _some(told) + (say("; {hidden} left out", hidden=words.number(hidden)) if hidden else "")


def _texts(values: Sequence[str]) -> str:
    """Say what texts there are; they would fill pages."""
    lengths = [len(value) for value in values]
    return say(
        "{values} different texts of {least} to {most} characters",
        values=words.number(len(values)),
        least=words.number(min(lengths, default=0)),
        most=words.number(max(lengths, default=0)),
    )


def _some(values: Sequence[str]) -> str:
    """Write the first values of many, and how many more there are."""
    if len(values) <= _VALUES_SHOWN:
        return ", ".join(values)
    rest = len(values) - _VALUES_SHOWN
    return say(
        "{values} and {rest} more",
        values=", ".join(values[:_VALUES_SHOWN]),
        rest=words.number(rest),
    )


def _column_role(spec: AuditSpec, column: Column) -> str:
    if column.name == spec.label:
        return "label"
    if spec.predictions:
        return "decisions" if column.name == spec.predictions else _compared_by(spec, column)
    roles = {attribute.name: _role(spec.domain, attribute) for attribute in spec.domain.attributes}
    return roles.get(column.name, "no attribute")


def _compared_by(spec: AuditSpec, column: Column) -> str:
    return "protected" if column.name in words.protected_names(spec.domain) else "–"


def _role(domain: Domain, attribute: Attribute) -> str:
    """Say what a search may do with an attribute."""
    for each in domain.determined:
        if each.attribute == attribute.name:
            return say("follows {by}", by=each.by)
    return _ROLES[attribute.role]


def model(material: Material) -> Section:
    """Describe the model: the file, what is inside, how it is fed, whether it was trusted.

    Where it is not at hand, the decisions that it made.
    """
    spec = material.spec
    if spec.predictions:
        return _decisions(material)
    card = spec.model
    meanings = class_texts(spec, material.table)
    decisions = ", ".join(
        name if name == meaning else say("{name} means “{meaning}”", name=name, meaning=meaning)
        for name, meaning in zip(spec.decisions, meanings, strict=True)
    )
    saved = say(", saved with {saved_with}", saved_with=card.saved_with) if card.saved_with else ""
    facts = [
        Fact("File", card.path, exact=True),
        Fact("SHA-256", card.sha256, exact=True),
        Fact("Format", card.format + saved),
        Fact("Layers and operators", card.summary),
        Fact(
            "Inputs",
            say(
                "{inputs}, listed below with how each is made",
                inputs=words.number(len(card.inputs)),
            ),
        ),
        Fact("Decisions", decisions),
        Fact("Favourable decision", spec.decisions[spec.mapping.favourable_class]),
        Fact("Answers", f"{card.scores}. {_rule(spec)}"),
        Fact("Decision threshold", _threshold(spec)),
        *([Fact("Output that decides", card.output)] if card.outputs else []),
        Fact("Opened", _opened_sentence(spec)),
        Fact("Checked on rows of the data", _checked(material)),
        *_repeatability(spec),
    ]
    for beside in card.companions:
        facts += [
            Fact("File beside it", beside.path, exact=True),
            Fact("SHA-256", beside.sha256, exact=True),
        ]
    blocks: list[Block] = [Facts(tuple(facts))]
    if spec.trusted and not card.read_as_data:
        blocks.append(
            Callout(
                "Trusted by the auditor.",
                "The file is a program that runs when it is opened, and asks for more than the "
                "list of harmless classes covers. The auditor agreed to run the file with the "
                "fingerprint above.",
            )
        )
    blocks.extend(
        Callout(
            "Trusted by the auditor.",
            say(
                "“{name}” is a program too, and was opened only because the auditor agreed to "
                "run the file with its fingerprint above.",
                name=Path(beside.path).name,
            ),
        )
        for beside in card.companions
        if beside.trusted
    )
    blocks.extend(_fitted(material))
    blocks.extend(Callout("Fed so.", told) for told in card.hints.told)
    blocks.extend(Callout("Note.", warning) for warning in card.warnings)
    if card.repeatability is not None and not card.repeatability.holds:
        told = figures.repeatability_sentence(card.repeatability)
        off = say("What compares decisions of single rows is off; rates are of one query per row.")
        blocks.append(Callout("Not repeatable.", f"{told} {off}"))
    return Section("Model", (*blocks, *_encoding(material)), fresh=True)


def _fitted(material: Material) -> Iterator[Block]:
    """Say which inputs are scaled by numbers that were computed from the audited table."""
    for fit, columns in refitted(material.spec.mapping).items():
        shown = words.some(columns, _INPUTS_SHOWN)
        yield Callout(
            "Scaling fitted on the audited table.",
            say(
                "No scaler came with the model, so the auditor chose to standardise with the means "
                "and standard deviations of the audited table: {columns}. Authors often do so; "
                "the numbers with which the model was trained may differ, and with them its "
                "decisions.",
                columns=shown,
            )
            if fit is Fit.STANDARDISE
            else say(
                "No scaler came with the model, so the auditor chose to scale to 0..1 with the "
                "lowest and highest values of the audited table: {columns}. Authors often do so; "
                "the numbers with which the model was trained may differ, and with them its "
                "decisions.",
                columns=shown,
            ),
        )


def _encoding(material: Material) -> tuple[Block, ...]:
    """Say how the columns of the data become what the model is given."""
    inputs = material.spec.mapping.inputs
    shown = inputs[:_INPUTS_SHOWN]
    caption = say(
        "What the model is given; matched {matched}", matched=material.spec.mapping.matched
    )
    if len(inputs) > len(shown):
        caption += say(
            "; the first {shown} of {inputs}, all in the manifest",
            shown=words.number(len(shown)),
            inputs=words.number(len(inputs)),
        )
    return (
        Heading("From columns to inputs"),
        Grid(
            header=("", "Model input", "Made from", "How"),
            rows=tuple(
                (
                    str(i + 1),
                    material.shown.input(one).name,
                    one.attribute or "–",
                    words.how_made(material.shown.input(one)),
                )
                for i, one in enumerate(shown)
            ),
            widths=(0.2, 1.2, 1.2, 2.2),
            right=(0,),
            caption=caption,
            key="inputs",
        ),
    )


def _threshold(spec: AuditSpec) -> str:
    """Write the score at which the decision changes; say where there is none."""
    if spec.mapping.together or len(spec.model.classes) > 2:
        return "none: the class with the greatest score is decided"
    limit = spec.mapping.threshold
    if limit is None:
        if spec.model.scores == VALUES:
            return "as the decision says"
        return say("{limit}, the usual one", limit=words.short(0.5))
    return say("{limit}, as the auditor set it", limit=words.short(limit, 17))


def _repeatability(spec: AuditSpec) -> Iterator[Fact]:
    """Say what came of querying rows again, where that was tried."""
    found = spec.model.repeatability
    if found is None:
        return
    told = say(
        "{rows} rows of the data were queried again, together, in another order and in batches of "
        "other sizes: no score changed beyond rounding",
        rows=words.number(found.rows),
    )
    yield Fact("Repeatability", figures.repeatability_sentence(found) or told)


def _checked(material: Material) -> str:
    """Say how the model, fed so, agrees with the data; from what was counted, or from the log."""
    tables = [
        each
        for each in material.group_tables
        if each.of == "decisions" and any(line.positives is not None for line in each.lines)
    ]
    if tables:
        lines = tables[0].lines
        labelled = sum((line.positives or 0) + (line.negatives or 0) for line in lines)
        right = sum(
            (line.true_positives or 0) + (line.negatives or 0) - (line.false_positives or 0)
            for line in lines
        )
        return say(
            "fed so, it decides as the label says on {share} of {labelled} rows with a "
            "label ({right}), favourable or not; a wrong order of inputs or a flipped "
            "class would show here",
            share=words.percent(right, labelled),
            labelled=words.number(labelled),
            right=words.number(right),
        )
    said = next((e.what for e in material.log if e.what.startswith(_AGREES)), "")
    return said or (
        "not kept in the audit file. The run “Group figures” would tell how far its decisions "
        "agree with the label"
    )


def _decisions(material: Material) -> Section:
    """Describe the decisions that a model made, where the model itself is not at hand."""
    spec = material.spec
    counts = material.table.counts(spec.predictions)
    values = [f"{value} ({words.number(count)})" for value, count in counts.items()]
    return Section(
        "Model",
        (
            Facts(
                (
                    Fact("Column of its decisions", spec.predictions),
                    Fact("Favourable decision", spec.decisions[spec.mapping.favourable_class]),
                    Fact("Values", words.some(values)),
                )
            ),
            Text(
                "The model was not at hand: what it would have decided about anybody else is not "
                "known, and no method that asks a model was used."
            ),
        ),
    )


def _rule(spec: AuditSpec) -> str:
    """Say when the favourable outcome is decided."""
    card, mapping = spec.model, spec.mapping
    if mapping.together:
        good = words.joined([card.classes[i] for i in mapping.together], "or")
        return say("The class with the greatest score is decided; {good} is favourable.", good=good)
    if card.scores == VALUES:
        return say(
            "The number decides: “{decision}” is favourable.",
            decision=spec.decisions[mapping.favourable_class],
        )
    if len(card.classes) > 2:
        return "The class with the greatest score is decided."
    limit = 0.5 if mapping.threshold is None else mapping.threshold
    side = "above" if mapping.favourable_class == 1 else "at most"
    return say(
        "The favourable outcome is decided when the score of “{name}” is {side} {limit}.",
        name=card.classes[1],
        side=side,
        limit=words.short(limit),
    )


def _opened_sentence(spec: AuditSpec) -> str:
    if spec.model.read_as_data:
        return "read as plain numbers; no code of the file was run"
    if spec.model.environment:
        return say(
            "in an environment and process of its own: {environment}",
            environment=spec.model.environment,
        )
    return "with the library it was made with, in a process of its own"


def compared(material: Material) -> Section:
    """Say who is compared with whom, and what the search may change."""
    return Section("Who is compared", compared_blocks(material), fresh=True)


def compared_blocks(material: Material) -> tuple[Block, ...]:
    """Make the blocks of `compared`: who, the allowed values, the constraints."""
    spec = material.spec
    domain = spec.domain
    blocks: list[Block] = []
    if not domain.obstacle:
        blocks += _one_by_one(material)
    unseen = [attribute.name for attribute in domain.unseen]
    if unseen:
        is_are = "is" if len(unseen) == 1 else "are"
        blocks.append(
            Text(
                say(
                    "{unseen} {is_are} protected, but no input of the model: no decision can hang "
                    "on what the model is not given, so no single person is compared by it. Groups "
                    "are.",
                    unseen=words.listed(unseen),
                    is_are=is_are,
                )
            )
        )
    texts = [domain.names[i] for i in domain.texts.tolist()]
    if texts:
        blocks.append(
            Text(
                say(
                    "{texts} holds texts that people wrote. Nobody is compared by them; what a "
                    "text says of somebody’s group is, by the terms in it.",
                    texts=words.listed(texts),
                )
            )
        )
    if domain.obstacle:
        blocks.append(
            Text(say("No single person is compared: {obstacle}.", obstacle=domain.obstacle))
        )
    return (
        *blocks,
        *_what_may_change(domain, material.shown),
        *_unknown(material),
        *_constraints(material),
    )


def _one_by_one(material: Material) -> list[Block]:
    """Say with whom a person is compared."""
    spec = material.spec
    domain = spec.domain
    return [
        Text(
            say(
                "Every {person} that the search invents is asked about once for each of the "
                "{count} combinations of the protected values below. {stays} "
                "When the decision changes, that is a finding.",
                person=spec.person,
                count=words.number(domain.combination_count),
                stays=_what_stays(domain),
            )
        ),
        Grid(
            header=("Protected", "Values that are compared"),
            rows=tuple(
                (domain.attributes[i].name, compared_values(domain.attributes[i]))
                for i in domain.protected.tolist()
            ),
            widths=(1, 3),
            caption="The protected attributes, and which of their values are compared",
            key="protected",
        ),
    ]


def _what_may_change(domain: Domain, shown: Shown) -> list[Block]:
    return [
        Heading("What the search may change"),
        Grid(
            header=("Attribute", "Role", "Allowed values"),
            rows=tuple(
                (
                    attribute.name,
                    _role(domain, attribute),
                    allowed_values(domain, attribute, shown),
                )
                for attribute in domain.attributes
                if attribute.role is not Role.PROTECTED
            ),
            widths=(1.1, 0.8, 2.2),
            caption="All other attributes, and what they may be",
            key="domain",
        ),
    ]


def _what_stays(domain: Domain) -> str:
    """Say in what the people of a comparison are alike."""
    followers = [
        domain.names[i] for i in domain.differing.tolist() if i not in domain.protected.tolist()
    ]
    said = "All other attributes stay equal."
    if followers:
        verb = "follows" if len(followers) == 1 else "follow"
        said = say(
            "{followers} {verb} them; all other attributes stay equal.",
            followers=words.listed(followers),
            verb=verb,
        )
    if domain.has_constraints:
        said += " Combinations that break a constraint below cannot be, and are not asked about."
    return said


def allowed_values(domain: Domain, attribute: Attribute, shown: Shown) -> str:
    """Write the values of an attribute as far as they may be named, or its range and step."""
    if attribute.kind is Kind.TEXT:
        return _texts(attribute.values)
    if attribute.values:
        position = domain.names.index(attribute.name)
        told = (shown.value(position, code) for code in range(len(attribute.values)))
        return _some(list(dict.fromkeys(told)))
    steps = (
        say(", in steps of {step}", step=words.short(attribute.step, 10)) if attribute.step else ""
    )
    return words.ends(words.short(attribute.low, 10), words.short(attribute.high, 10)) + steps


def _unknown(material: Material) -> list[Block]:
    """Say which missing cells are a category, and of how many rows."""
    table = material.table
    told = [
        say(
            "{name} ({missing}, as “{values}”)",
            name=words.quoted(attribute.name),
            missing=words.counted(table.column(attribute.name).missing, "row"),
            values=attribute.values[-1],
        )
        for attribute in material.spec.domain.attributes
        if attribute.unknown
    ]
    if not told:
        return []
    return [
        Text(
            say(
                "Missing cells are a category of their own in {told}. They are compared and "
                "counted like any other, given to the model as missing, and never filled in.",
                told=words.joined(told),
            )
        )
    ]


def _constraints(material: Material) -> list[Block]:
    """Say what every invented person fulfils, and how many real rows do not."""
    domain = material.spec.domain
    if not domain.constraints:
        return []
    checks = [checked(domain.attributes, material.table, text) for text in domain.constraints]
    return [
        Heading("What everybody fulfils"),
        Text(
            "Nobody who breaks one of these constraints is asked about. A constraint counts as "
            "broken only where it is false whatever the missing cells may be. What an attribute "
            "that is determined by another has to be is what most rows of the data say."
        ),
        Grid(
            header=("Constraint", "Rows that break it", "Share"),
            rows=tuple(
                (
                    material.shown.words(each.text, strict=True),
                    words.number(each.broken),
                    words.percent(each.broken, each.total),
                )
                for each in checks
            ),
            widths=(3, 1, 0.8),
            right=(1, 2),
            caption=say(
                "Constraints, and how many of the {codes} rows of the data break them",
                codes=words.number(len(material.table.codes)),
            ),
            key="constraints",
            evidence="observed",
        ),
    ]


def compared_values(attribute: Attribute) -> str:
    """Write the values of a protected attribute; for grouped numbers, that they are grouped."""
    texts = [name_of(attribute, code) for code in attribute.compared]
    if attribute.values:
        # names that few rows have are all called the same
        return ", ".join(dict.fromkeys(texts))
    spacing = attribute.spacing
    if spacing and len(texts) == round((attribute.high - attribute.low) / spacing) + 1:
        if attribute.step:
            return say(
                "every step of {step} from {low} to {high}",
                step=words.short(attribute.step, 10),
                low=texts[0],
                high=texts[-1],
            )
        return say("every whole number from {low} to {high}", low=texts[0], high=texts[-1])
    return say(
        "{values}: the middles of {n} groups of equal width from {ends}",
        values=", ".join(texts),
        n=words.number(len(texts)),
        ends=words.ends(words.short(attribute.low, 10), words.short(attribute.high, 10)),
    )


def method_blocks(material: Material) -> list[Block]:
    """Say how was searched: each method in plain words, and each run's settings."""
    spec = material.spec
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
                Facts(
                    (
                        Fact("Source", used.paper),
                        Fact("Can tell", used.tells),
                        Fact("Cannot tell", used.cannot),
                    )
                ),
            ]
        budget = run.spec.budget
        limits = [
            *([words.duration(budget.seconds)] if budget.seconds is not None else []),
            *(
                [say("{queries} rows", queries=words.number(budget.queries))]
                if budget.queries is not None
                else []
            ),
        ]
        settings = [
            ("seed", str(run.spec.seed), "the start of all randomness; the same gives the same"),
            ("budget", " or ".join(limits) or "none", "when the run ends by itself"),
            *_near_rows(run),
            *option_rows(run),
            *_group_rows(run),
            *_repair_rows(spec, run),
        ]
        blocks.append(
            Grid(
                header=("Setting", "Value", "What it is"),
                rows=tuple(settings),
                widths=(1.1, 0.7, 2.6),
                right=(1,),
                caption="Settings; the names are those of the paper",
                key=f"settings-{run.id}",
            )
        )
    return blocks


def _near_rows(run: RunRecord) -> list[tuple[str, str, str]]:
    """Return what a search was told beside its options: how near, and what it goes on with."""
    rows = []
    if run.spec.near is not None:
        told = "only people at most so far from a real one were asked about (0 alike, 1 unlike)"
        rows.append(("near", words.short(run.spec.near), told))
    if run.spec.continues:
        told = "what that run had found is not found again"
        rows.append(("goes on with run", str(run.spec.continues), told))
    return rows


def _group_rows(run: RunRecord) -> list[tuple[str, str, str]]:
    """Return what a run about groups was told beside its options: edges of bins, texts, terms."""
    rows = [
        (
            say("edges of {name}", name=words.quoted(name)),
            ", ".join(words.short(edge) for edge in edges),
            "where the bins of this number meet, instead of bins of equal width",
        )
        for name, edges in run.spec.edges.items()
    ]
    if run.spec.text:
        rows.append(("text", run.spec.text, "the column of texts in which terms are compared"))
        listed = [
            (
                say("terms of {category}", category=words.quoted(category)),
                words.number(len(terms)),
                say("what names somebody: {terms}", terms=", ".join(terms)),
            )
            for category, terms in run.spec.terms.items()
        ]
        rows += listed or [("terms", "as in the paper", "what names somebody, by category")]
    return rows


def _repair_rows(spec: AuditSpec, run: RunRecord) -> list[tuple[str, str, str]]:
    """Return what a repair was told beside its options: the rule set, or which pairs."""
    asked = run.spec
    if asked.rule:
        decision = (
            say(", for the decision “{outcome}”", outcome=asked.outcome) if asked.outcome else ""
        )
        return [
            (
                "rule set",
                rule_phrase(spec, asked.rule),
                say("what is repaired{decision}", decision=decision),
            )
        ]
    if method_named(asked.method).answers is not Answers.REPAIR:
        return []
    runs = words.joined([str(number) for number in asked.pairs_of]) or "all"
    told = "only those that the auditor flagged" if asked.flagged else "flagged ones first"
    return [
        (
            "pairs of runs",
            runs,
            say("whose pairs are repaired; {told}", told=told),
        )
    ]


def option_rows(run: RunRecord) -> list[tuple[str, str, str]]:
    """Return each option of a run: its name in the paper, its value, its plain sentence."""
    options = parse_options(run.spec.method, run.spec.options)
    rows = []
    for option in options_of(type(options)):
        shown = _option_text(getattr(options, option.name))
        told = [say(option.title), say(option.help)]
        if (run.spec.method, option.name) == ("repair-testsgd", "labels"):
            # whatever is chosen, there is one way only
            shown, told = "opposite", [say("Labels"), mitigation_words.labels_sentence("opposite")]
        rows.append((option.name, shown, ". ".join(text.rstrip(".") for text in told)))
    return rows


def _option_text(value: OptionValue) -> str:
    if isinstance(value, str):
        return value
    return words.number(value) if isinstance(value, int) else words.short(value, 12)
