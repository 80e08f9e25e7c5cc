"""What only people can tell: which fields there are, what is missing, and a file of them."""

import json
import re
from datetime import date
from typing import get_args

import pytest

from fairdesk.audit.store.records import Categories, Details, Signer, TemplateKey
from fairdesk.document.blocks import Fact
from fairdesk.errors import ReportError
from fairdesk.report.content.fields import (
    FIELDS,
    FORM,
    SIGNED,
    asked,
    facts,
    fault,
    fields_of,
    missing,
    read_details,
    unsigned,
    written,
)
from tests import phrases
from tests.report.details import HISTORICAL, TEST, example_details

TEMPLATES = get_args(TemplateKey)
PICTURE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">'
    '<rect width="4" height="4"/></svg>'
)


@pytest.fixture
def write(tmp_path):
    def give(content, name="details.json"):
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
        return path

    return give


def test_every_field_can_be_asked_and_answered():
    assert len(FIELDS) == len(FORM)
    for field in FORM:
        assert field.label
        assert field.help.endswith(".")
        assert field.example
        assert field.used_by
        assert set(field.required_by) <= set(field.used_by)
        assert (field.kind == "choice") == bool(field.choices)
        assert not fault(field, field.example)
        if field.kind == "date":
            date.fromisoformat(field.example)
        if field.when is not None:
            assert set(field.when.among) <= set(FIELDS[field.when.key].choices)


def test_the_summary_of_local_law_144_needs_what_published_ones_lack():
    needed = {field.key for field in missing("ll144", Details())}
    assert {"data_source", "distribution_date", "audit_date", "data_kind"} <= needed


@pytest.mark.parametrize("template", TEMPLATES)
def test_examples_leave_nothing_missing_and_each_of_them_is_needed(template):
    details = example_details(template)
    assert missing(template, details) == ()
    assert not unsigned(template, details)
    for field in fields_of(template):
        texts = {**details.texts, field.key: "  "}
        left = missing(template, Details(texts))
        needed = template in field.required_by and asked(field, details)
        assert left == ((field,) if needed else ())


def test_how_test_data_were_made_is_asked_of_test_data_only():
    made = FIELDS["test_data_made"]
    for kind, wanted in ((HISTORICAL, False), (TEST, True), ("", False)):
        details = Details({**example_details("ll144").texts, "data_kind": kind})
        assert asked(made, details) is wanted
        assert (made in missing("ll144", details)) is wanted
    told = Details({"data_kind": HISTORICAL, "test_data_made": "It does not matter any more."})
    assert written(made, told) == ""


def test_somebody_has_to_be_named_where_it_is_signed():
    assert "annex-iv" in SIGNED
    assert unsigned("annex-iv", Details())
    assert unsigned("annex-iv", Details(signers=(Signer("  ", "Auditor"),)))
    assert not unsigned("annex-iv", Details(signers=(Signer("A"),)))
    assert not unsigned("model-card", Details())


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("2026-11-20", False),
        (" 2026-11-20 ", False),
        ("", False),
        ("20.11.2026", True),
        ("2026-02-30", True),
        ("20261120", True),
        ("2026-W47-5", True),
        ("yesterday", True),
    ],
)
def test_dates_are_checked(text, wrong):
    assert bool(fault(FIELDS["audit_date"], text)) is wrong


def test_a_choice_is_one_of_its_choices():
    assert not fault(FIELDS["data_kind"], TEST)
    assert HISTORICAL in fault(FIELDS["data_kind"], "some data")


def test_a_file_is_read_whole(write, tmp_path):
    (tmp_path / "pictures").mkdir()
    write(PICTURE, "pictures/logo.svg")
    details = read_details(
        write(
            {
                "system": " Größer & <b>besser</b> ",
                "audit_date": "2026-11-20",
                "auditor": "",
                "signers": [{"name": "A", "role": "Auditor", "date": "today"}, {"name": "B"}],
                "categories": {"sex": "sex", "race": "race", "names": {"sex": {"f": "Female"}}},
                "logo": "pictures/logo.svg",
            }
        )
    )
    assert details == Details(
        {"system": "Größer & <b>besser</b>", "audit_date": "2026-11-20"},
        (Signer("A", "Auditor", "today"), Signer("B")),
        Categories("sex", "race", {"sex": {"f": "Female"}}),
        PICTURE.encode(),
    )


def test_a_file_of_an_editor_of_another_system_is_read(tmp_path):
    path = tmp_path / "details.json"
    told = {"purpose": "One.\r\nTwo.\r\n", "system": "Credit\r\nCheck"}
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(told).encode())
    assert read_details(path).texts == {"purpose": "One.\nTwo.", "system": "Credit Check"}


@pytest.mark.parametrize("template", TEMPLATES)
def test_examples_survive_a_file(write, template):
    details = example_details(template)
    told = {**details.texts, "signers": [{"name": "A. Example"}]}
    assert read_details(write(told)).texts == details.texts


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"audtor": "A"}, "Did you mean “auditor”"),
        ({"distribution-date": "2026-01-01"}, "“distribution_date”"),
        ({"zzz": "A"}, "The names are: system, "),
        ({"system": 4}, "It is not text."),
        ({"audit_date": "20.11.2026"}, "“20.11.2026” is not a date"),
        ({"data_kind": "old"}, "not one of the choices"),
        ({"signers": [{"role": "Auditor"}]}, "`name`"),
        ({"signers": {"name": "A"}}, "Write a list"),
        ({"categories": {"sex": 4}}, "Write an object"),
        ({"logo": 4}, "Write the path"),
        ({"logo": "nowhere.png"}, "cannot be read"),
        ([], phrases.NO_FILE_OF_DETAILS),
        ("{", phrases.NO_FILE_OF_DETAILS),
        ('{"system": "a\x00b"', phrases.NO_FILE_OF_DETAILS),
    ],
)
def test_what_cannot_be_read_is_told(write, content, said):
    with pytest.raises(ReportError) as caught:
        read_details(write(content))
    assert said in str(caught.value)
    assert caught.value.why
    assert caught.value.remedy


def test_bytes_that_are_no_text_and_no_file_are_told(tmp_path):
    path = tmp_path / "details.json"
    path.write_bytes(b'{"system": "\xff\xfe"}')
    for each in (path, tmp_path / "nowhere.json", tmp_path):
        with pytest.raises(ReportError):
            read_details(each)


@pytest.mark.parametrize("content", ["no picture", "<svg", "<html><svg></svg>"])
def test_a_logo_that_is_no_picture_is_told(write, content):
    write(content, "logo.svg")
    with pytest.raises(ReportError, match="logo"):
        read_details(write({"logo": "logo.svg"}))


def test_a_draft_says_what_is_still_to_be_told_and_a_final_report_does_not():
    system, version = FIELDS["system"], FIELDS["versions"]
    details = Details({"system": "CreditCheck"})
    draft = facts((system, version), "annex-iv", details, final=False)
    assert draft[0] == Fact("Audited system", "CreditCheck")
    assert draft[1:] == (Fact(phrases.MISSING, version.label),)
    assert facts((system, version), "annex-iv", details, final=True) == draft[:1]
    (needed,) = facts((system,), "annex-iv", Details(), final=False)
    assert needed == Fact(phrases.MISSING_REQUIRED, system.label)


def test_dates_are_written_with_the_month_in_letters():
    details = Details({"audit_date": "2026-11-20"})
    assert written(FIELDS["audit_date"], details) == "20 November 2026"
    # an audit file that somebody has edited
    assert written(FIELDS["audit_date"], Details({"audit_date": "soon"})) == "soon"


def test_labels_are_plain_and_told_apart():
    for template in TEMPLATES:
        labels = [field.label for field in fields_of(template)]
        assert len(set(labels)) == len(labels)
        assert all(re.match(r"[A-Z]", label) for label in labels)
