"""What the auditor decided before an audit began: sentences for its log, and the same as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PureWindowsPath

import msgspec
import numpy as np

from fairdesk.audit.plan.spec import AuditSpec
from fairdesk.data.columns.derived import age_name
from fairdesk.data.columns.kinds import as_numbers, identifies, in_order, is_padded, is_prose
from fairdesk.data.columns.rereading import format_words, number_text
from fairdesk.data.domain.attributes import BINS, Attribute, Role, attribute_of
from fairdesk.data.domain.domain import ExcludedRows
from fairdesk.data.table import Column, Dialect, Kind, Table
from fairdesk.errors import FairDeskError
from fairdesk.models.decisions.favourable import sign_of
from fairdesk.models.decisions.requerying import sentence
from fairdesk.models.decisions.rule import VALUES
from fairdesk.models.inputs.mapping.propose import propose
from fairdesk.models.inputs.usual import refitted, scaling_sentence
from fairdesk.models.model import Input
from fairdesk.results.events import Rows

#: Names in a sentence before “and n more”.
_MOST = 12
_KINDS = {
    Kind.NOMINAL: "categorical",
    Kind.ORDINAL: "ordinal",
    Kind.INTEGER: "whole numbers",
    Kind.REAL: "decimal numbers",
    Kind.TEXT: "free text",
    Kind.IGNORED: "excluded",
}


class Decision(msgspec.Struct, frozen=True):
    """One decision: a sentence, and the same for programs, by what it is about."""

    what: str
    facts: Mapping[str, object]


def decisions(spec: AuditSpec, table: Table) -> tuple[Decision, ...]:
    """Return what the auditor decided, in the wizard or on the command line.

    What is merely as the files have it, or as it was proposed, was not decided and is left out;
    what is always asked for (who is compared, what is favourable) is always told.
    """
    return (
        *_about_the_outcome(spec),
        *_about_the_columns(spec, table),
        *_about_the_model(spec, table),
        *_about_the_people(spec, table),
    )


def _about_the_outcome(spec: AuditSpec) -> Iterator[Decision]:
    yield Decision(f"One row of the data is one {spec.person}.", {"person": spec.person})
    yield Decision(
        f"The column “{spec.label}” contains the recorded outcome; its favourable value is "
        f"“{spec.favourable}”.",
        {"label": spec.label, "favourable": spec.favourable},
    )
    if spec.predictions:
        yield Decision(
            f"No model was queried: the column “{spec.predictions}” contains the decisions.",
            {"predictions": spec.predictions},
        )


def _about_the_columns(spec: AuditSpec, table: Table) -> Iterator[Decision]:
    if tokens := spec.data.dialect.missing:
        columns = spec.data.dialect.columns
        others = tuple(name for name, each in columns.items() if each.missing is not None)
        where = f" in all columns but {_listed(others)}" if others else ""
        yield Decision(
            f"These cells count as missing values{where}: {_listed(tokens)}.", {"missing": tokens}
        )
    if spec.data.dialect.encoding_mended:
        garbled = {each.text: each.meant for column in spec.columns for each in column.garbled}
        yield Decision(
            "Texts in a different encoding from the rest of the file were corrected"
            + (f", for example {_listed(tuple(garbled))}." if garbled else "."),
            {"encoding_mended": garbled},
        )
    for name, at in spec.data.dialect.ages.items():
        yield Decision(
            f"“{age_name(name)}” has the whole years from “{name}” to {at}.",
            {"column": name, "age_at": at},
        )
    for column in spec.columns:
        if column.is_one_hot:
            yield Decision(
                f"“{column.name}” is one attribute, in {len(column.derived)} columns of 0 and 1: "
                f"{_listed(column.derived)}.",
                {"attribute": column.name, "columns": column.derived},
            )
        yield from _about_reading(column, spec.data.dialect)
    for column, codes in zip(table.columns, table.codes.T, strict=True):
        inferred = _inferred(column, codes, spec.data.dialect)
        if column.kind is inferred:
            continue
        fact = {"column": column.name, "kind": column.kind, "inferred": inferred}
        if column.kind is Kind.IGNORED:
            yield Decision(f"The column “{column.name}” was excluded.", fact)
        else:
            yield Decision(
                f"The column “{column.name}” is read as {_KINDS[column.kind]}; by default it "
                "would have been "
                + ("excluded." if inferred is Kind.IGNORED else f"read as {_KINDS[inferred]}."),
                fact,
            )


def _about_reading(column: Column, dialect: Dialect) -> Iterator[Decision]:
    """Tell how the auditor decided that a column's cells are read."""
    name, reading = f"“{column.name}”", dialect.reading(column.name)
    fact = {"column": column.name, "reading": reading}
    if reading.by_model:
        return
    if reading.missing is not None:
        yield Decision(
            f"The cells of the column {name} are kept as they are: none that has a text counts as "
            "missing.",
            fact,
        )
    elif reading.numeric is not None:
        held = "numbers" if reading.numeric else "categorical"
        yield Decision(f"The column {name} is read as {held}.", fact)
    if reading.format is not None:
        how = format_words(reading.format)
        yield Decision(f"The numbers in {name} are read in their written format, {how}.", fact)
    if not column.odd or not (reading.odd or reading.cells):
        return
    mended = tuple(each for each in column.odd if each.value is not None)
    if mended:
        cells = ", ".join(
            f"“{each.text}” to {number_text(each.value)}"
            for each in mended[:_MOST]
            if each.value is not None
        )
        more = f" and {len(mended) - _MOST:,} more" if len(mended) > _MOST else ""
        yield Decision(f"Cells of {name} were converted: {cells}{more}.", fact)
    if missing := tuple(each.text for each in column.odd if each.value is None):
        yield Decision(
            f"These cells of {name}, a column of numbers, count as missing: {_listed(missing)}.",
            fact,
        )


def _inferred(column: Column, codes: Rows, dialect: Dialect) -> Kind:
    """Return the kind that a column has when nobody says otherwise, as far as it can be known."""
    if np.isnan(codes).all():
        return column.kind
    if column.values:
        reading, numbers = dialect.reading(column.name), as_numbers(column.values, dialect.decimal)
        spelt = reading.by_model or reading.missing is not None
        if numbers is None or spelt or any(map(is_padded, column.values)):
            kind = Kind.ORDINAL if in_order(column.values) else Kind.NOMINAL
            plain = msgspec.structs.replace(column, kind=kind)
            return _by_use(plain, codes)
        plain = msgspec.structs.replace(column, values=())
        known = np.append(numbers, np.nan)
        codes = known[np.where(np.isnan(codes), len(numbers), codes).astype(np.intp)]
    else:
        plain = column
    present = codes[~np.isnan(codes)]
    whole = (present == np.round(present)).all()
    kind = Kind.INTEGER if whole else Kind.REAL
    return _by_use(msgspec.structs.replace(plain, kind=kind), codes)


def _by_use(column: Column, codes: Rows) -> Kind:
    if is_prose(column, codes):
        return Kind.TEXT
    return Kind.IGNORED if identifies(column, codes) else column.kind


def _about_the_model(spec: AuditSpec, table: Table) -> Iterator[Decision]:
    model, mapping = spec.model, spec.mapping
    if spec.predictions:
        return
    if model.outputs:
        yield Decision(
            f"The model has several outputs; “{model.output}” was chosen.", {"output": model.output}
        )
    if mapping.threshold is not None:
        limit = f"{mapping.threshold:,.10g}"
        yield Decision(
            f"The model estimates a number; {sign_of(mapping)} {limit} is favourable."
            if model.scores == VALUES
            else f"The model’s decision threshold is {limit}, not one half.",
            {"threshold": mapping.threshold, "beyond": mapping.beyond},
        )
    if mapping.together:
        together = tuple(model.classes[place] for place in mapping.together)
        yield Decision(
            f"Several of the model’s classes are favourable: {_listed(together)}.",
            {"favourable_classes": together},
        )
    elif spec.decisions:
        good = spec.decisions[mapping.favourable_class]
        meant = "" if good == spec.favourable or model.scores == VALUES else spec.favourable
        means = f" It means “{meant}”." if meant else ""
        yield Decision(
            f"“{good}” is the model’s favourable decision.{means}", {"favourable_decision": good}
        )
    if mapping.names:
        named = zip(model.classes, mapping.names, strict=True)
        yield Decision(
            "The model’s decisions were named: "
            + ", ".join(f"“{own}” is “{name}”" for own, name in named)
            + ".",
            {"names": mapping.names},
        )
    found = model.repeatability
    if found is not None and not found.holds:
        yield Decision(
            f"{sentence(found)} The model was audited nevertheless.", {"repeatability": found}
        )
    yield from _about_its_inputs(spec, table)
    yield from _about_scaling(spec)
    programs = [(each.path, each.sha256) for each in model.companions if each.trusted]
    for path, sha256 in [(model.path, model.sha256), *programs] if spec.trusted else programs:
        name = PureWindowsPath(path).name
        yield Decision(
            f"The file “{name}” (SHA-256 {sha256}) can run code and was trusted to run.",
            {"trusted": name, "sha256": sha256},
        )
    if model.environment:
        yield Decision(
            f"The model was opened in a separate environment: {model.environment}.",
            {"environment": model.environment},
        )


def _about_scaling(spec: AuditSpec) -> Iterator[Decision]:
    """Tell which inputs are scaled by numbers that were computed from the audited table."""
    for fit, names in refitted(spec.mapping).items():
        steps = tuple(item for item in spec.mapping.inputs if item.fitted is fit)
        yield Decision(scaling_sentence(fit, names), {"fitted": fit, "inputs": steps})


def _without_fit(item: Input) -> Input:
    if item.fitted is None:
        return item
    return msgspec.structs.replace(item, then=(), fitted=None)


def _about_its_inputs(spec: AuditSpec, table: Table) -> Iterator[Decision]:
    """Tell which inputs are made otherwise than it was proposed."""
    try:
        proposed: tuple[Input | None, ...] = propose(
            spec.model, table, spec.label, spec.favourable
        ).inputs
    except FairDeskError:
        # then everything had to be said by hand
        proposed = (None,) * len(spec.mapping.inputs)
    if len(proposed) != len(spec.mapping.inputs):
        return
    pairs = zip(spec.mapping.inputs, proposed, strict=True)
    edited, confirmed = [], []
    for made, before in pairs:
        plain = _without_fit(made)
        if before is not None and plain == msgspec.structs.replace(before, guessed=plain.guessed):
            confirmed += [made] if plain != before else []
        else:
            edited.append(made)
    if edited:
        names = _listed(tuple(made.name for made in edited))
        were = "input of the model is" if len(edited) == 1 else "inputs of the model are"
        yield Decision(
            f"{len(edited):,} {were} made differently from the proposed mapping: {names}.",
            {"inputs": tuple(edited)},
        )
    for named, said in (
        (tuple(dict.fromkeys(made.attribute for made in confirmed)), ""),
        (spec.mapping.guessed, ": a guess, which was accepted"),
    ):
        if named:
            yield Decision(
                f"The values of {_listed(named)} are numbered by their places in the alphabet"
                f"{said}.",
                {"codes": named},
            )


def _about_the_people(spec: AuditSpec, table: Table) -> Iterator[Decision]:
    domain = spec.domain
    compared = tuple(each.name for each in domain.grouping)
    if compared:
        yield Decision(f"Protected attributes: {_listed(compared)}.", {"protected": compared})
    if domain.unseen:
        unseen = tuple(each.name for each in domain.unseen)
        yield Decision(
            f"Not inputs of the model, only used to define groups: {_listed(unseen)}.",
            {"unseen": unseen},
        )
    columns = {column.name: column for column in spec.columns}
    for attribute in (*domain.attributes, *domain.unseen):
        yield from _about_one(attribute, columns[attribute.name])
    for text in domain.constraints:
        yield Decision(f"Constraint: {text}.", {"constraint": text})
    if not spec.predictions:
        for aside in domain.set_aside(table):
            yield Decision(_aside(aside), {"set_aside": aside})


def _about_one(attribute: Attribute, column: Column) -> Iterator[Decision]:
    """Tell what was decided about one attribute."""
    name = attribute.name
    if attribute.role is Role.FIXED and attribute.kind is not Kind.TEXT:
        yield Decision(f"“{name}” is fixed at its values in the data.", {"fixed": name})
    if attribute.unknown:
        yield Decision(
            f"Missing cells of “{name}” form a separate category, “{attribute.values[-1]}”.",
            {"attribute": name, "unknown": attribute.values[-1]},
        )
    plain = attribute_of(column, attribute.role, unknown=attribute.unknown)
    if attribute.values != plain.values:
        yield Decision(
            f"Allowed values of “{name}”: {_listed(attribute.values)}.",
            {"attribute": name, "values": attribute.values},
        )
    elif not attribute.values:
        limits = (attribute.low, attribute.high, attribute.step)
        if limits != (plain.low, plain.high, plain.step):
            steps = f", in steps of {attribute.step:,.10g}" if attribute.step else ""
            yield Decision(
                f"“{name}” ranges from {attribute.low:,.10g} to {attribute.high:,.10g}{steps}; in "
                f"the data from {plain.low:,.10g} to {plain.high:,.10g}.",
                {"attribute": name, "low": limits[0], "high": limits[1], "step": limits[2]},
            )
    if attribute.compared and not attribute.values:
        values = tuple(attribute.compared)
        how = f"at {len(values):,} values"
        if len(values) <= BINS:
            how += f": {_listed(tuple(f'{value:,.10g}' for value in values))}"
        yield Decision(
            f"“{name}” is a number and is tested {how}.", {"attribute": name, "compared": values}
        )


def _aside(aside: ExcludedRows) -> str:
    rows = f"{aside.rows:,} {'row was' if aside.rows == 1 else 'rows were'} excluded"
    match aside.reason:
        case "missing":
            return f"{rows}: no value of “{aside.what}”."
        case "outside":
            return f"{rows}: a value of “{aside.what}” outside the allowed values."
        case _:
            return f"{rows}: the constraint {aside.what} is not fulfilled."


def _listed(names: tuple[str, ...]) -> str:
    quoted = [f"“{name}”" for name in names[:_MOST]]
    rest = len(names) - len(quoted)
    return ", ".join(quoted) + (f" and {rest:,} more" if rest else "")
