"""The section on the model: the file, what is inside, how it is fed, whether it was trusted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.audit.verify.files import base_name
from fairdesk.document.blocks import Block, Callout, Fact, Facts, Grid, Heading, Section, Text
from fairdesk.models.decisions.rule import VALUES
from fairdesk.models.inputs.usual import refitted
from fairdesk.models.model import Fit, How, Input
from fairdesk.report.content.material import Material
from fairdesk.wording import figures, words
from fairdesk.wording.decisions import class_texts, favourable_text
from fairdesk.wording.inspected import AGREES
from fairdesk.wording.language import say

#: Model inputs listed; a one-hot encoding can have thousands.
_INPUTS_SHOWN = 300
#: Columns with guessed numbers that are named on every page.
_GUESSED_SHOWN = 4
#: Fewer codes of an input are listed one by one.
_NUMBERED = 4


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
        Fact("File", base_name(card.path), exact=True),
        Fact("SHA-256", card.sha256, exact=True),
        Fact("Format", card.format + saved),
        Fact(
            "Inputs",
            say("{inputs}, listed with the input mapping", inputs=words.number(len(card.inputs))),
        ),
        Fact("Decisions", decisions),
        Fact("Favourable decision", favourable_text(spec, material.table)),
        Fact("Output", f"{card.scores}. {_rule(spec)}"),
        *([Fact("Decision threshold", limit)] if (limit := _threshold(spec)) else []),
        *([Fact("Output used for decisions", card.output)] if card.outputs else []),
        Fact("Opened", _opened_sentence(spec)),
        Fact("Checked on rows of the data", _checked(material)),
        *_repeatability(spec),
    ]
    for beside in card.companions:
        facts += [
            Fact("Companion file", base_name(beside.path), exact=True),
            Fact("SHA-256", beside.sha256, exact=True),
        ]
    inside = Facts((Fact("Layers and operators", card.summary),), appended=True)
    blocks: list[Block] = [Facts(tuple(facts)), inside]
    if spec.trusted and not card.read_as_data:
        blocks.append(
            Callout(
                "Trusted by the auditor.",
                "The file can run code when it is opened, and uses more than the recognised "
                "model components. The auditor agreed to open the file with the SHA-256 hash "
                "above.",
            )
        )
    blocks.extend(
        Callout(
            "Trusted by the auditor.",
            say(
                "“{name}” can run code too, and was opened only because the auditor agreed "
                "to open the file with its SHA-256 hash above.",
                name=Path(beside.path).name,
            ),
        )
        for beside in card.companions
        if beside.trusted
    )
    if guess := caveat(spec):
        blocks.append(Callout("Guessed numbers.", guess))
    blocks.extend(_fitted(material))
    blocks.extend(Callout("Input mapping.", note) for note in card.hints.notes)
    blocks.extend(Callout("Note.", warning) for warning in card.warnings)
    if card.repeatability is not None and not card.repeatability.holds:
        note = figures.repeatability_sentence(card.repeatability)
        off = (
            "Methods that compare decisions of single rows are not available; rates use one "
            "query per row."
        )
        blocks.append(Callout("Not repeatable.", f"{note} {off}"))
    return Section("Model", (*blocks, *_encoding(material)))


def caveat(spec: AuditSpec) -> str:
    """Say that numbers of values were guessed, and that the auditor accepted it; else nothing."""
    if not spec.mapping.guessed:
        return ""
    return say(
        "The numbers that the model receives for the values of {columns} are guessed (alphabetical "
        "order): no file states them, and the auditor accepted this. If the model’s author "
        "numbered them differently, the figures of this report are wrong.",
        columns=words.some([words.quoted(name) for name in spec.mapping.guessed], _GUESSED_SHOWN),
    )


def _fitted(material: Material) -> Iterator[Block]:
    """Say which inputs are scaled by numbers that were computed from the audited table."""
    for fit, columns in refitted(material.spec.mapping).items():
        shown = words.some(columns, _INPUTS_SHOWN)
        yield Callout(
            "Scaling fitted on the audited table.",
            say(
                "No scaler came with the model, so the auditor chose to standardise with the "
                "means and standard deviations of the audited table: {columns}. This is "
                "often done; the numbers used in training may differ, and with them the "
                "model’s decisions.",
                columns=shown,
            )
            if fit is Fit.STANDARDISE
            else say(
                "No scaler came with the model, so the auditor chose to scale to 0..1 with "
                "the lowest and highest values of the audited table: {columns}. This is "
                "often done; the numbers used in training may differ, and with them the "
                "model’s decisions.",
                columns=shown,
            ),
        )


def _encoding(material: Material) -> tuple[Block, ...]:
    """Say how the columns of the data become what the model is given."""
    inputs = material.spec.mapping.inputs
    shown = inputs[:_INPUTS_SHOWN]
    caption = say("Model inputs; matched {matched}", matched=material.spec.mapping.matched)
    if len(inputs) > len(shown):
        caption += say(
            "; the first {shown} of {inputs}; all are in the manifest",
            shown=words.number(len(shown)),
            inputs=words.number(len(inputs)),
        )
    return (
        Heading("Input mapping", appended=True),
        Grid(
            header=("", "Model input", "Made from", "Conversion"),
            rows=tuple(_input_rows(material, shown)),
            widths=(0.35, 1.2, 1.2, 2.1),
            right=(0,),
            caption=caption,
            key="inputs",
        ),
    )


def _input_rows(material: Material, shown: Sequence[Input]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each input, and one for neighbours that are taken as they are."""
    made = [_made(material, one) for one in shown]
    plain = set(map(say, words.WAYS.values()))
    for text, several in groupby(range(len(made)), key=made.__getitem__):
        held = list(several)
        for part in [held] if text in plain else [[i] for i in held]:
            first, last = part[0], part[-1]
            names = dict.fromkeys(material.shown.input(shown[i]).name for i in (first, last))
            yield (
                str(first + 1) if first == last else f"{first + 1}–{last + 1}",
                words.ends(*names) if len(names) > 1 else next(iter(names)),
                ", ".join(shown[i].attribute or "–" for i in part),
                text,
            )


def _made(material: Material, one: Input) -> str:
    """Say how an input is made; of codes that only number a column's values the ends."""
    columns = {column.name: column for column in material.spec.columns}
    shown = material.shown.input(one)
    codes, plain = list(shown.codes.items()), shown.others is None and not shown.then
    numbered = [(text, i) for i, text in enumerate(columns[one.attribute].values)] if codes else []
    if one.how is not How.CODE or not plain or codes != numbered or len(codes) < _NUMBERED:
        return words.how_made(shown)
    (first, _), (last, most) = codes[0], codes[-1]
    return say(
        "numbered in the order of its values: {first} = 0 to {last} = {most}",
        first=first,
        last=last,
        most=words.short(most),
    )


def _threshold(spec: AuditSpec) -> str:
    """Write the score at which the decision changes; empty where there is none."""
    if spec.mapping.together or len(spec.model.classes) > 2:
        return ""
    limit = spec.mapping.threshold
    if limit is None:
        if spec.model.scores == VALUES:
            return "as stated in the decision"
        return say("{limit}, the default", limit=words.short(0.5))
    return say("{limit}, set by the auditor", limit=words.short(limit, 17))


def _repeatability(spec: AuditSpec) -> Iterator[Fact]:
    """Say what came of querying rows again, where that was tried."""
    found = spec.model.repeatability
    if found is None:
        return
    text = say(
        "{rows} rows of the data were re-queried, together, in another order and in batches "
        "of other sizes: no score changed beyond rounding",
        rows=words.number(found.rows),
    )
    yield Fact("Repeatability", figures.repeatability_sentence(found) or text)


def _checked(material: Material) -> str:
    """Say how the model, fed so, agrees with the data; from what was counted, or from the log."""
    tables = [
        each
        for each in material.group_tables
        if each.of == "decisions" and any(line.positives is not None for line in each.lines)
    ]
    if tables:
        lines = tables[0].lines
        positives = sum(line.positives or 0 for line in lines)
        labelled = positives + sum(line.negatives or 0 for line in lines)
        right = sum(
            (line.true_positives or 0) + (line.negatives or 0) - (line.false_positives or 0)
            for line in lines
        )
        return say(
            "With this input mapping, the model’s decision matches the recorded outcome in "
            "{right} of the {labelled} rows with both a decision and a recorded outcome ({share}); "
            "always guessing the more frequent outcome would match in {guessing}.",
            guessing=words.percent(max(positives, labelled - positives), labelled),
            share=words.percent(right, labelled),
            labelled=words.number(labelled),
            right=words.number(right),
        )
    said = next((e.what for e in material.log if AGREES in e.what), "")
    return said or (
        "not kept in the audit file. A run of “Group metrics” would show how often the "
        "decisions match the recorded outcome"
    )


def _decisions(material: Material) -> Section:
    """Describe the decisions that a model made, where the model itself is not at hand."""
    spec = material.spec
    counts = material.table.counts(spec.predictions)
    values = [f"{value} ({words.number(count)})" for value, count in counts.items()]
    return Section(
        "Decisions",
        (
            Facts(
                (
                    Fact("Column of decisions", spec.predictions),
                    Fact("Favourable decision", spec.decisions[spec.mapping.favourable_class]),
                    Fact("Values", words.some(values)),
                )
            ),
            Text(
                "The model was not available: what it would decide for other inputs is not "
                "known, and no method that queries a model was used."
            ),
        ),
    )


def _rule(spec: AuditSpec) -> str:
    """Say when the favourable outcome is decided."""
    card, mapping = spec.model, spec.mapping
    if mapping.together:
        good = words.joined([card.classes[i] for i in mapping.together], "or")
        return say(
            "The class with the highest score is the decision; {good} is favourable.", good=good
        )
    if card.scores == VALUES:
        return say(
            "The number determines the decision: “{decision}” is favourable.",
            decision=spec.decisions[mapping.favourable_class],
        )
    if len(card.classes) > 2:
        return "The class with the highest score is the decision."
    limit = 0.5 if mapping.threshold is None else mapping.threshold
    side = "above" if mapping.favourable_class == 1 else "at most"
    return say(
        "The decision is favourable when the score of “{name}” is {side} {limit}.",
        name=card.classes[1],
        side=side,
        limit=words.short(limit),
    )


def _opened_sentence(spec: AuditSpec) -> str:
    if spec.model.read_as_data:
        return "read as plain numbers; no code of the file was run"
    if spec.model.environment:
        return say(
            "in a separate environment and process: {environment}",
            environment=spec.model.environment,
        )
    return "with the library it was made with, in a separate process"
