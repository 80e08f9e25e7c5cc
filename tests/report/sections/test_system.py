"""The sections that only people can write: empty in a draft with what belongs there."""

import pytest

from fairdesk.audit.store.records import Choice, Details, Signer
from fairdesk.document.blocks import Callout, Facts, SignatureLine
from fairdesk.report.content.fields import FIELDS, fields_of, written
from fairdesk.report.content.status import mark_final
from fairdesk.report.document import make_report
from tests import phrases
from tests.report.building import people_store
from tests.report.details import BOTH, example_details
from tests.report.reading import missing_of, text_of


@pytest.fixture
def store(tmp_path):
    with people_store(tmp_path) as opened:
        yield opened


def section(store, key, template="plain"):
    return next(each for each in make_report(store, Choice(template)).sections if each.key == key)


def facts_of(section):
    return {
        fact.name: fact.value
        for block in section.blocks
        if isinstance(block, Facts)
        for fact in block.facts
    }


def test_a_draft_is_its_own_list_of_what_is_to_be_done(store):
    told = facts_of(section(store, "system"))
    fields = [each for each in fields_of("plain") if each.group == phrases.SYSTEM_AND_USE]
    required = [each.label for each in fields if "plain" in each.required_by]
    others = [each.label for each in fields if "plain" not in each.required_by]
    assert required
    assert others
    assert told[phrases.MISSING_REQUIRED].split("; ") == required
    assert told[phrases.MISSING].split("; ") == others


def test_nothing_is_called_supplied_before_something_is(store):
    (first, *_) = section(store, "system").blocks
    assert first.text.startswith("The auditor has not supplied this information.")
    store.write_details(Details({"purpose": "To help."}))
    (first, *_) = section(store, "system").blocks
    assert first.text.startswith("This information is supplied by the auditor.")


def test_what_was_told_stands_there_and_never_as_markup(store):
    store.write_details(Details({"purpose": "#strong[It] *helps* <b>& more</b>."}))
    told = facts_of(section(store, "system"))
    assert told["Purpose"] == "#strong[It] *helps* <b>& more</b>."


def test_a_final_report_says_nothing_of_what_is_empty(store):
    details = example_details("plain", commissioner="", how_many="", in_use_since="")
    store.write_details(details)
    mark_final(store, "plain")
    report = make_report(store, Choice("plain"))
    assert report.status == "Final"
    assert not missing_of(report)
    told = facts_of(section(store, "system"))
    assert "How many people" not in told
    assert "Commissioned by" not in told
    assert told["Purpose"] == FIELDS["purpose"].example


def test_the_cover_says_what_was_audited_by_whom_and_when(store):
    cover = {fact.name: fact.value for fact in make_report(store, Choice("plain")).cover}
    required = [
        each.label
        for each in FIELDS.values()
        if each.group == FIELDS["system"].group and "plain" in each.required_by
    ]
    assert len(required) == 6
    missing, _, where = cover[phrases.MISSING_REQUIRED].partition(". ")
    assert sorted(missing.split("; ")) == sorted(required)
    assert where == phrases.FILL_IN
    store.write_details(example_details("plain", system_version=""))
    cover = {fact.name: fact.value for fact in make_report(store, Choice("plain")).cover}
    assert cover["Audited system"] == "CreditCheck"
    assert cover[phrases.MISSING_REQUIRED] == f"Version. {phrases.FILL_IN}"
    store.write_details(example_details("plain"))
    cover = {fact.name: fact.value for fact in make_report(store, Choice("plain")).cover}
    assert phrases.MISSING_REQUIRED not in cover
    assert cover["Audited system"] == "CreditCheck, 4.2, released on 3 March 2026"
    assert cover["Auditor"] == "A. Example, Example Audits Ltd"
    assert cover["Date of the audit"] == "20 November 2026"
    assert cover["Independence"] == FIELDS["independence"].example


def test_a_long_statement_of_independence_stands_in_its_section_alone(store):
    long = "The auditor is independent. " * 40
    store.write_details(example_details("plain", independence=long))
    report = make_report(store, Choice("plain"))
    cover = {fact.name: fact.value for fact in report.cover}
    assert cover["Independence"] == "See section 3."
    assert report.sections[2].key == "system"
    assert facts_of(report.sections[2])["Independence"] == long.strip()


def test_who_signs_has_a_line_each(store):
    signers = (Signer("A", "Auditor", "today"), Signer(" "), Signer("B"))
    store.write_details(Details(signers=signers))
    lines = [b for b in section(store, "sign-off").blocks if isinstance(b, SignatureLine)]
    assert lines == [SignatureLine("A", "Auditor", "today"), SignatureLine("B", "", "")]


@pytest.mark.parametrize(("template", "needed"), [("annex-iv", True), ("plain", False)])
def test_the_annex_says_that_somebody_has_to_sign(store, template, needed):
    blocks = section(store, "sign-off", template).blocks
    assert any(isinstance(block, Callout) for block in blocks) is needed


@pytest.mark.parametrize("template", ["plain", "ll144"])
def test_every_field_is_printed_by_the_reports_that_ask_for_it(store, template):
    marked = {
        field.key: f"{field.key} told"
        for field in fields_of(template)
        if field.kind in ("line", "text")
    }
    store.write_details(example_details(template, **{**marked, "data_kind": BOTH}))
    said = text_of(store, Choice(template))
    assert [told for told in marked.values() if told not in said] == []
    dates = [field for field in fields_of(template) if field.kind == "date"]
    assert all(written(field, store.details()) in said for field in dates)
