"""What the auditor decided before the audit began, as its log tells it."""

import json

import msgspec
import pytest

from fairdesk.audit.plan.decisions import decisions
from fairdesk.audit.plan.spec import Limits
from fairdesk.audit.store.store import Store
from fairdesk.audit.verify.files import check_scaling
from fairdesk.data.columns.rereading import retype, with_reading
from fairdesk.data.domain.attributes import Limit
from fairdesk.data.formats.reading import read_table
from fairdesk.data.table import ColumnReading, Dialect, Kind
from fairdesk.models.inputs.usual import fitted, read_key
from fairdesk.models.model import Companion, Fit, Mapping, Step
from fairdesk.report.document import make_report
from fairdesk.report.render.html import structured
from fairdesk.wording.words import how_made
from tests import phrases
from tests.audit import making
from tests.audit.making import FAVOURABLE, LABEL, PROTECTED, domain_of
from tests.models.matching import match

PLAIN = [
    "One row of the data is one applicant.",
    "The column “hired” contains the recorded outcome; its favourable value is “yes”.",
    "“1” is the model’s favourable decision. It means “yes”.",
    (
        "The values of “sex” are numbered by their places in the alphabet: a guess, which was "
        "accepted."
    ),
    "Protected attributes: “sex”.",
]


def said(spec, table):
    return [each.what for each in decisions(spec, table)]


def more(spec, table):
    """Return what is said beyond the plain."""
    return [what for what in said(spec, table) if what not in PLAIN]


@pytest.fixture
def trusting(spec):
    return msgspec.structs.replace(spec, trusted=False)


def limited(spec, table, attributes=None, constraints=(), protected=PROTECTED):
    limits = Limits(attributes or {}, constraints)
    domain = domain_of(table, spec.mapping, LABEL, protected, limits)
    return msgspec.structs.replace(spec, domain=domain)


def test_what_was_proposed_was_not_decided(trusting, table):
    assert said(trusting, table) == PLAIN


def test_they_stand_in_the_log_from_the_beginning(tmp_path, spec, table):
    with Store.create(tmp_path / "new.fairdesk", spec, table) as store:
        first, *log = store.log_entries()
    assert first.kind == "begun"
    assert {entry.kind for entry in log} == {"decided"}
    assert [entry.what for entry in log] == said(spec, table)
    assert {"protected": ["sex"]} in [json.loads(entry.facts) for entry in log]


def test_trust_is_told_with_the_fingerprint(spec, table):
    model = msgspec.structs.replace(
        spec.model,
        companions=(Companion("C:\\data\\scaler.pkl", "cd" * 32, trusted=True), Companion("x")),
        environment="scikit-learn 1.3.2, Python 3.11",
    )
    trusted = f"{phrases.CAN_RUN_CODE} and was trusted to run."
    assert more(msgspec.structs.replace(spec, model=model), table) == [
        f"The file “hiring.pkl” (SHA-256 {'ab' * 32}) {trusted}",
        f"The file “scaler.pkl” (SHA-256 {'cd' * 32}) {trusted}",
        "The model was opened in a separate environment: scikit-learn 1.3.2, Python 3.11.",
    ]


def test_ranges_values_steps_and_constraints(trusting, table):
    income = table.column("income")
    limits = {"age": Limit(low=30, high=50, step=5), "income": Limit(values=(1, 2, 3))}
    narrowed = limited(trusting, table, limits, ("age >= 35",))
    age = table.column("age")
    told = more(narrowed, table)
    assert told[:3] == [
        f"“age” ranges from 30 to 50, in steps of 5; in the data from {age.low:g} to {age.high:g}.",
        f"{phrases.ONLY_THESE} “income”: “1”, “2”, “3”.",
        "Constraint: age >= 35.",
    ]
    # rows and reasons, as they are counted
    asides = narrowed.domain.set_aside(table)
    assert len(told) == 3 + len(asides)
    outside = f"{asides[0].rows} rows were excluded: a value of “age” outside the allowed values."
    assert outside in told
    data = [each.facts for each in decisions(narrowed, table)]
    assert {"attribute": "age", "low": 30.0, "high": 50.0, "step": 5.0} in data
    assert income.low < 1


def test_roles_and_compared_values(trusting, table):
    fixed = limited(trusting, table, {"income": Limit(role="fixed")})
    assert more(fixed, table) == ["“income” is fixed at its values in the data."]
    compared = more(limited(trusting, table, protected=("sex", "income")), table)
    assert compared[0] == "Protected attributes: “sex”, “income”."
    assert compared[1].startswith("“income” is a number and is tested at 12 values")


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        (
            Kind.NOMINAL,
            (
                "The column “age” is read as categorical; by default it would have been read as "
                "whole numbers."
            ),
        ),
        (Kind.IGNORED, "The column “age” was excluded."),
        (
            Kind.REAL,
            (
                "The column “age” is read as decimal numbers; by default it would have been read "
                "as whole numbers."
            ),
        ),
    ],
)
def test_kinds_that_were_changed_and_columns_that_were_left_out(trusting, table, kind, what):
    changed = retype(table, "age", kind)
    _age, *others = trusting.domain.attributes
    domain = msgspec.structs.replace(trusting.domain, attributes=tuple(others))
    spec = msgspec.structs.replace(trusting, columns=changed.columns, domain=domain)
    assert more(spec, changed)[0] == what


def test_an_identifier_that_is_audited(tmp_path, card):
    path = making.write_people(tmp_path / "people.csv")
    head, *lines = path.read_text().splitlines()
    path.write_text("\n".join([f"id,{head}", *(f"{i},{line}" for i, line in enumerate(lines))]))
    table = read_table(path)
    assert table.column("id").kind is Kind.IGNORED
    what = "The column “id” is read as whole numbers; by default it would have been excluded."
    assert what not in said(making.spec_of(table, card), table)
    audited = retype(table, "id", Kind.INTEGER)
    card = msgspec.structs.replace(card, inputs=tuple(f"input {i}" for i in range(1, 5)))
    assert what in said(making.spec_of(audited, card), audited)


def test_missing_cells(tmp_path, card):
    path = making.write_people(tmp_path / "people.csv")
    path.write_text(path.read_text().replace(",male,", ",?,", 3))
    table = read_table(path, Dialect(missing=("?",)))
    spec = making.spec_of(table, card)
    told = more(spec, table)
    assert told[0] == f"These cells {phrases.COUNT_AS_MISSING} values: “?”."
    assert "3 rows were excluded: no value of “sex”." in told
    domain = domain_of(table, spec.mapping, LABEL, PROTECTED, takes_missing=("sex",))
    told = more(msgspec.structs.replace(spec, domain=domain), table)
    assert "Missing cells of “sex” form a separate category, “Unknown”." in told
    assert not any("excluded" in what for what in told)


def test_how_the_model_is_fed_and_decides(trusting, table, card):
    first, *others = trusting.mapping.inputs
    edited = msgspec.structs.replace(first, attribute="income")
    mapping = msgspec.structs.replace(trusting.mapping, inputs=(edited, *others))
    told = decisions(msgspec.structs.replace(trusting, mapping=mapping), table)
    (one,) = (each for each in told if "inputs" in each.facts)
    assert (
        one.what
        == f"1 {phrases.MODEL_INPUT} is made differently from the proposed mapping: “input 1”."
    )
    assert one.facts["inputs"] == (edited,)
    moved = match(card, table, LABEL, FAVOURABLE, threshold=0.4)
    assert "The model’s decision threshold is 0.4, not one half." in more(
        msgspec.structs.replace(trusting, mapping=moved), table
    )
    card = msgspec.structs.replace(card, classes=("bad", "fair", "good"), outputs=("a", "b"))
    together = Mapping(trusting.mapping.inputs, "by hand", 1, ("bad", "fair or good"), (1, 2))
    told = more(
        msgspec.structs.replace(
            trusting, model=msgspec.structs.replace(card, output="b"), mapping=together
        ),
        table,
    )
    assert "The model has several outputs; “b” was chosen." in told
    assert "Several of the model’s classes are favourable: “fair”, “good”." in told


def test_decisions_without_a_model(trusting, table):
    told = more(msgspec.structs.replace(trusting, predictions="hired"), table)
    assert told[0] == "No model was queried: the column “hired” contains the decisions."
    assert not any("model’s" in what or "excluded" in what for what in told)


def test_many_names_are_cut_short(tmp_path, trusting, table):
    values = tuple(f"v{i}" for i in range(30))
    sex = msgspec.structs.replace(
        trusting.domain.attributes[1], values=values, compared=tuple(map(float, range(30)))
    )
    attributes = (trusting.domain.attributes[0], sex, trusting.domain.attributes[2])
    domain = msgspec.structs.replace(trusting.domain, attributes=attributes)
    (told,) = (
        what
        for what in more(msgspec.structs.replace(trusting, domain=domain), table)
        if phrases.ONLY_THESE in what
    )
    assert told.endswith("“v11” and 18 more.")


def test_how_cells_were_read_is_told_where_it_was_decided(tmp_path, card):
    path = making.write_people(tmp_path / "people.csv")
    head, *lines = path.read_text().splitlines()
    lines[5] = lines[5].replace(lines[5].split(",")[0], "$45", 1)
    lines[9] = lines[9].replace(lines[9].split(",")[0], "O", 1)
    path.write_text("\n".join([head, *lines]) + "\n")
    found = read_table(path)
    model = msgspec.structs.replace(card, needed_trust=False)
    plain = msgspec.structs.replace(making.spec_of(found, model), trusted=False)
    assert not any(
        "converted" in what or phrases.COUNT_AS_MISSING in what for what in said(plain, found)
    )
    dialect = with_reading(found.source.dialect, "age", ColumnReading(odd="mended"))
    mended = read_table(path, msgspec.structs.replace(dialect, encoding_mended=True))
    spec = msgspec.structs.replace(making.spec_of(mended, model), trusted=False)
    told = said(spec, mended)
    assert "Cells of “age” were converted: “$45” to 45." in told
    assert f"These cells of “age”, a column of numbers, {phrases.COUNT_AS_MISSING}: “O”." in told
    assert "Texts in a different encoding from the rest of the file were corrected." in told
    with Store.create(tmp_path / "new.fairdesk", spec, mended) as store:
        facts = [json.loads(entry.facts) for entry in store.log_entries()]
        assert {"column": "age", "reading": {"odd": "mended"}} in facts
        assert store.spec.data.dialect == mended.source.dialect
        assert store.spec.columns == mended.columns


def test_scaling_that_was_fitted_on_the_table_is_a_decision(trusting, table, tmp_path):
    """It is no input that was made otherwise, but numbers that nobody gave with the model."""
    mapping = fitted(trusting.mapping, table, read_key("range-numbers"))
    prepared = msgspec.structs.replace(trusting, mapping=mapping)
    (decision,) = [each for each in decisions(prepared, table) if "fitted" in each.facts]
    scaled = [item for item in mapping.inputs if item.fitted is not None]
    assert scaled
    assert decision.facts == {"fitted": Fit.RANGE, "inputs": tuple(scaled)}
    assert "No scaler came with the model" in decision.what
    assert "of the audited table" in decision.what
    assert "may differ" in decision.what
    assert more(prepared, table) == [decision.what]
    # the audit keeps the numbers, and they can be computed again from its own table
    with Store.create(tmp_path / "new.fairdesk", prepared, table) as store:
        assert store.spec.mapping == mapping
        assert check_scaling(store.spec, store.table()).failed == 0
    first = scaled[0]
    moved = msgspec.structs.replace(first, then=(Step("subtract", 0.5), *first.then[1:]))
    inputs = tuple(moved if item == first else item for item in mapping.inputs)
    forged = msgspec.structs.replace(
        prepared, mapping=msgspec.structs.replace(mapping, inputs=inputs)
    )
    found = check_scaling(forged, table)
    assert (found.tried, found.failed) == (len(scaled), 1)
    assert first.name in found.remarks[0]
    # the report says so too
    with Store.create(tmp_path / "told.fairdesk", prepared, table) as store:
        told = structured(make_report(store)).decode()
    assert f"Scaling {phrases.FITTED_ON_TABLE}." in told
    assert "the numbers used in training may differ" in told
    assert phrases.FITTED_ON_TABLE in how_made(first)
