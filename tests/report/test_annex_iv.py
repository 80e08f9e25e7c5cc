"""The fairness annex: the points of Annex IV with their numbers, filled or said to be outside."""

import re

import msgspec
import pytest

from fairdesk.audit.catalogue.methods import METHODS
from fairdesk.audit.store.records import Choice
from fairdesk.audit.store.store import Store
from fairdesk.data.formats.reading import read_table
from fairdesk.report.content.fields import fields_of
from fairdesk.report.content.passages import TEMPLATES
from fairdesk.report.content.status import mark_final
from fairdesk.report.document import make_report, summarised
from tests import phrases
from tests.report import repairs
from tests.report.building import people_store, spec_of, write_people
from tests.report.details import BOTH, example_details
from tests.report.reading import blocks_of, missing_of, section_of, text_of, words_of
from tests.report.test_group_sections import measured
from tests.wording.test_about_groups import TABLE

ANNEX = Choice("annex-iv")
POINTS = (
    "General description of the system",
    "Elements of the system and its development",
    "Monitoring, functioning and control",
    "Appropriateness of the performance metrics",
    "Risk management system",
    "Changes through the life cycle",
    "Standards applied",
    "EU declaration of conformity",
    "Post-market monitoring",
)


@pytest.fixture(scope="module")
def report(measured_audit):
    return make_report(measured_audit, ANNEX)


def test_the_points_have_their_numbers_and_the_test_report_follows(report):
    titles = [section.title for section in report.sections]
    assert tuple(titles[:9]) == POINTS
    assert [section.key for section in report.sections[9:]] == [
        *("data", "model", "outcomes", "errors", "results", "subtle", "mitigation"),
        *("limits", "method", "rules", "evidence", "sign-off", "appendix"),
    ]
    assert report.kind == TEMPLATES["annex-iv"].title


def test_the_letters_of_the_second_point_are_its_sub_sections(report):
    headings = [block.text for block in blocks_of(section_of(report, "annex-2"), "Heading")]
    assert [re.search(r"\((\w)\)$", each)[1] for each in headings] == list("abcdefgh")


@pytest.mark.parametrize(
    ("key", "outside"), [("annex-1", 1), ("annex-2", 4), ("annex-5", 1), ("annex-9", 1)]
)
def test_what_an_audit_cannot_tell_is_said_in_a_line(report, key, outside):
    said = [each for each in blocks_of(section_of(report, key), "Text") if each.lead]
    assert sum(each.lead == "Not part of this audit:" for each in said) == outside


def test_the_tests_are_listed_with_their_times_and_places(measured_audit, report):
    grid = next(
        each for each in blocks_of(section_of(report, "annex-2"), "Grid") if each.key == "tests"
    )
    assert len(grid.rows) == len(measured_audit.runs())
    numbers = {section.key: str(i) for i, section in enumerate(report.sections, start=1)}
    for run, row in zip(measured_audit.runs(), grid.rows, strict=True):
        assert row[1] == METHODS[run.spec.method].title
        assert row[2].startswith(run.started[:10])
        assert row[3].startswith(run.ended[:10])
        assert row[5].split(".")[0] in numbers.values()
    assert grid.rows[2][5] == numbers["outcomes"]


def test_findings_are_those_of_the_summary_each_with_what_it_rests_on(measured_audit, report):
    summary = [each.said for each in summarised(measured_audit).answers if each.known]
    testing = blocks_of(section_of(report, "annex-2"), "Statement")
    assert [each.sentence for each in testing] == [each.sentence for each in summary]
    assert {each.evidence for each in testing} == {"example", "observed"}
    keys = {section.key for section in report.sections}
    # a pair is in a section under its own key
    keys |= {
        f"{section.key}/{block.key}"
        for section in report.sections
        for block in blocks_of(section, "PairCard")
    }
    assert all(each.place in keys for each in testing)


def test_metrics_say_what_they_rest_on_and_where_they_stand(report):
    grid = next(
        each for each in blocks_of(section_of(report, "annex-2"), "Grid") if each.key == "metrics"
    )
    rests = {row[0]: row[2] for row in grid.rows}
    assert rests["Rate and impact ratio"] == "observed"
    assert rests["Individual discrimination"] == "example"
    assert rests[phrases.GROUP_SCORE] == "estimated"
    assert "Certified share" not in rests
    assert all(row[3].isdigit() for row in grid.rows)


def test_accuracy_is_counted_over_all_groups_and_by_group(report):
    section = section_of(report, "annex-3")
    (overall,) = blocks_of(section, "Statement")
    # (30 + 2,199 + 2,278) of 4,880
    assert overall.number == "92.4\u00a0%"
    assert "of 4,880 people" not in overall.sentence
    assert "4,880 applicants" in overall.sentence
    by_sex = blocks_of(section, "Grid")[0]
    assert by_sex.header[:3] == ("sex", "People", "Accuracy")
    assert [row[0] for row in by_sex.rows] == ["male", "female"]
    assert by_sex.rows[0][2] == "91.2\u00a0%"
    assert by_sex.evidence == "observed"


def test_accuracy_is_that_of_a_repairs_test_rows_where_nothing_else_tells_it(tmp_path):
    with people_store(tmp_path) as store:
        measured(store, "repair-aequitas", repairs.FIGURES)
        section = section_of(make_report(store, ANNEX), "annex-3")
    (overall,) = blocks_of(section, "Statement")
    assert "of the test rows" in overall.sentence
    assert overall.details
    assert any(each.lead == "Not measured in this audit:" for each in blocks_of(section, "Text"))


def test_no_reference_leads_nowhere(measured_audit, tmp_path):
    table = read_table(write_people(tmp_path / "credit.csv"))
    spec = spec_of(table, "credit", "yes", ("sex",), classes=("no", "yes"))
    spec = msgspec.structs.replace(spec, predictions="credit")
    with (
        people_store(tmp_path) as empty,
        Store.create(tmp_path / "decided.fairdesk", spec, table) as decided,
    ):
        measured(decided, "groups", (TABLE,))
        for store in (measured_audit, empty, decided):
            said = text_of(store, ANNEX)
            assert not re.search(r"sections? (0|None|\.|\))", said)
            assert "{" not in said.split(phrases.TO_REPEAT_IT)[0]


def test_every_field_is_printed(measured_audit, tmp_path):
    with people_store(tmp_path) as store:
        marked = {
            field.key: f"{field.key} told"
            for field in fields_of("annex-iv")
            if field.kind in ("line", "text")
        }
        details = example_details("annex-iv", **{**marked, "data_kind": BOTH})
        store.write_details(details)
        mark_final(store, "annex-iv")
        report = make_report(store, ANNEX)
    said = words_of(report)
    assert report.status == "Final"
    assert [told for told in marked.values() if told not in said] == []
    assert "20 November 2026" in said
    assert BOTH in said
    assert not missing_of(report)


def test_a_draft_asks_for_every_field(report):
    fields = [each for each in fields_of("annex-iv") if each.when is None]
    assert {each.label for each in fields} <= missing_of(report)


def test_rules_are_told_once_with_their_dates(report):
    assert len(blocks_of(section_of(report, "rules"), "Note")) == len(TEMPLATES["annex-iv"].notes)
    assert not blocks_of(section_of(report, "outcomes"), "Note")


def test_only_decisions_of_a_model_are_no_architecture(tmp_path):
    table = read_table(write_people(tmp_path / "credit.csv"))
    spec = spec_of(table, "credit", "yes", ("sex",), classes=("no", "yes"))
    spec = msgspec.structs.replace(spec, predictions="credit")
    with Store.create(tmp_path / "audit.fairdesk", spec, table) as store:
        said = text_of(store, ANNEX)
    assert "no model was available, only decisions" in said
    assert spec.data.sha256 in said
