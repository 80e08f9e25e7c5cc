"""The model card: the sections of Mitchell et al., figures by group and intersection, few pages."""

import io
import re

import msgspec
import pytest
from pypdf import PdfReader

from fairdesk.answers import Question
from fairdesk.audit.store.records import Choice, Signer
from fairdesk.audit.store.store import Store
from fairdesk.data.formats.reading import read_table
from fairdesk.report.content.fields import fields_of
from fairdesk.report.content.status import mark_final
from fairdesk.report.document import make_pdf, make_report, summarised
from fairdesk.results.proofs import Proven
from tests import phrases
from tests.report.building import people_store, spec_of, write_people
from tests.report.details import example_details
from tests.report.reading import blocks_of, missing_of, section_of, text_of, words_of
from tests.report.test_group_sections import measured
from tests.wording.test_about_groups import TABLE

CARD = Choice("model-card")
SECTIONS = [
    *("Model details", "Intended use", "Factors", "Metrics", "Evaluation data", "Training data"),
    *("Quantitative analyses", "Ethical considerations", "Caveats and recommendations"),
]


@pytest.fixture(scope="module")
def report(measured_audit):
    return make_report(measured_audit, CARD)


def test_it_has_the_sections_of_the_paper(report):
    assert [section.title for section in report.sections][:9] == SECTIONS
    assert report.kind == "Model card"


def test_it_is_short(measured_audit):
    reader = PdfReader(io.BytesIO(make_pdf(measured_audit, CARD)))
    # six pages behind the cover and the contents
    assert len(reader.pages) <= 8


def test_figures_are_by_single_groups_and_by_their_intersections(report):
    section = section_of(report, "card-figures")
    headings = [block.text for block in blocks_of(section, "Heading")]
    assert headings[:2] == ["Unitary results", "Intersectional results"]
    alone, both = blocks_of(section, "Grid")
    assert alone.header[:4] == ("sex", "People", "Rate", "95\u00a0% CI")
    assert {"Accuracy", phrases.TRUE_POSITIVE_RATE} <= set(alone.header)
    assert both.header[0] == "sex and job"
    assert {row[0] for row in both.rows} == {
        *("male, clerk", "male, cook", "female, clerk", "female, cook")
    }
    assert alone.evidence == both.evidence == "observed"


def test_of_many_intersections_those_with_the_lowest_rates_are_listed(tmp_path):
    (line,) = TABLE.lines[:1]
    lines = tuple(
        msgspec.structs.replace(line, values=("male", f"job {i}"), codes=(1.0, i), rate=i / 100)
        for i in range(40)
    )
    hidden = msgspec.structs.replace(
        line, values=("male", "Unknown"), codes=(), rate=0.0, known=False
    )
    table = msgspec.structs.replace(TABLE, attributes=("sex", "job"), lines=(*lines[::-1], hidden))
    with people_store(tmp_path, ("sex", "job")) as store:
        measured(store, "groups", (TABLE, table))
        grid = blocks_of(section_of(make_report(store, CARD), "card-figures"), "Grid")[-1]
    assert [row[0] for row in grid.rows] == [f"male, job {i}" for i in range(12)]
    assert grid.note.startswith("the 12 of 41 groups with the lowest rates; all are in the file")


def test_it_is_about_the_audited_model_and_not_about_a_repaired_one(measured_audit, report):
    answers = [each for each in summarised(measured_audit).answers if each.known]
    summary = [each.said for each in answers]
    repaired = {e.said.sentence for e in answers if e.question is Question.MITIGATION}
    assert repaired
    told = {each.sentence for each in blocks_of(section_of(report, "card-figures"), "Statement")}
    assert not told & repaired
    # of the search and of the rule sets: an example, and what is counted
    assert {each.evidence for each in summary if each.sentence in told} == {"example", "observed"}
    metrics = blocks_of(section_of(report, "card-metrics"), "Grid")[0]
    assert not any("mitigat" in cell.lower() for row in metrics.rows for cell in row)


def test_a_short_report_refers_to_no_section_that_it_has_not(measured_audit, report, tmp_path):
    metrics = blocks_of(section_of(report, "card-metrics"), "Grid")[0]
    assert metrics.header == ("Metric", "What it shows", "Evidence")
    table = read_table(write_people(tmp_path / "credit.csv"))
    spec = spec_of(table, "credit", "yes", ("sex",), classes=("no", "yes"))
    spec = msgspec.structs.replace(spec, predictions="credit")
    with (
        people_store(tmp_path) as empty,
        Store.create(tmp_path / "decided.fairdesk", spec, table) as decided,
    ):
        measured(decided, "groups", (TABLE,))
        for store in (measured_audit, empty, decided):
            assert not re.search(r"sections? [\d.)N]", text_of(store, CARD))


def test_what_is_not_proven_does_not_bear_the_mark_of_it(tmp_path):
    nothing = Proven("domain", ("sex",), 0.0, 0.0, 1.0, "100", "0", "0")
    half = msgspec.structs.replace(nothing, certified=0.5, undecided=0.5, certified_people="50")
    with people_store(tmp_path) as store:
        for proven, mark in ((nothing, ""), (half, "proven")):
            measured(store, "certify", (proven,))
            held = section_of(make_report(store, CARD), "card-figures")
            assert blocks_of(held, "Statement")[-1].evidence == mark


def test_without_group_figures_it_says_so_and_tells_of_the_labels(tmp_path):
    with people_store(tmp_path, ("sex",)) as store:
        section = section_of(make_report(store, CARD), "card-figures")
        metrics = blocks_of(section_of(make_report(store, CARD), "card-metrics"), "Grid")[0]
    assert any(each.lead == "Not run:" for each in blocks_of(section, "Text"))
    assert blocks_of(section, "Grid")
    assert metrics.rows[0][1].endswith("this does not describe the model")


def test_every_field_is_printed(tmp_path):
    with people_store(tmp_path) as store:
        marked = {
            field.key: f"{field.key} told"
            for field in fields_of("model-card")
            if field.kind in ("line", "text")
        }
        store.write_details(example_details("model-card", **marked))
        mark_final(store, "model-card")
        report = make_report(store, CARD)
    said = words_of(report)
    assert [told for told in marked.values() if told not in said] == []
    assert not missing_of(report)
    assert report.status == "Final"


def test_a_draft_asks_for_every_field(report):
    named = {field.label for field in fields_of("model-card") if field.group != "Cover"}
    assert named <= missing_of(report)


def test_who_signs_has_a_line(tmp_path):
    with people_store(tmp_path) as store:
        details = example_details("model-card")
        store.write_details(msgspec.structs.replace(details, signers=(Signer("A", "Owner"),)))
        (line,) = blocks_of(section_of(make_report(store, CARD), "card-caveats"), "SignatureLine")
    assert line.name == "A"
