"""Draft or final: whatever was logged, in whatever order."""

import sqlite3
from contextlib import closing
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdesk.audit.store.records import (
    PASSING,
    Categories,
    Choice,
    Details,
    LogEntry,
    LogKind,
    Signer,
    TemplateKey,
)
from fairdesk.errors import ReportError
from fairdesk.report.content.status import (
    Status,
    check_marks,
    mark_draft,
    mark_final,
    obstacles,
    standing,
    status,
)
from fairdesk.report.document import make_report, whole_report, write_report
from fairdesk.results.groups import GroupLine, GroupTable
from tests.report.building import people_store, run_into
from tests.report.details import example_details

TEMPLATES = get_args(TemplateKey)
KINDS = get_args(LogKind)
CHANGING = [kind for kind in KINDS if kind not in (*PASSING, "final", "draft", "choice")]


def entry(kind, about=None, at="2026-11-21T10:00:00+00:00"):
    match about:
        case None:
            told = ""
        case str():
            told = msgspec.json.encode({"template": about}).decode()
        case _:
            told = msgspec.json.encode(about).decode()
    return LogEntry(at, f"{kind} of {about}", kind, told)


ENTRIES = st.one_of(
    st.sampled_from([entry(kind) for kind in KINDS]),
    st.builds(entry, st.sampled_from(["final", "draft"]), st.sampled_from(TEMPLATES)),
    st.builds(
        lambda template, left_out: entry("choice", Choice(template, left_out=left_out)),
        st.sampled_from(TEMPLATES),
        st.sampled_from([(), ("data",), ("data", "model")]),
    ),
)


@given(st.lists(ENTRIES), st.sampled_from(TEMPLATES))
def test_any_log_is_final_exactly_until_something_changes(log, template):
    """The same told another way: by what follows the last mark."""
    marks = [
        place
        for place, each in enumerate(log)
        if each.kind in ("final", "draft") and each.facts and template in each.facts
    ]
    found = status(log, template)
    if not marks or log[marks[-1]].kind == "draft":
        assert found == Status("Draft")
        return
    before = [Choice(template)]
    changed = []
    for place, each in enumerate(log):
        if each.kind == "choice" and each.facts:
            choice = msgspec.json.decode(each.facts, type=Choice)
            if place < marks[-1]:
                before += [choice] if choice.template == template else []
            elif choice.template == template and choice != before[-1]:
                changed.append(each.what)
        elif (
            place > marks[-1]
            and each.kind not in PASSING
            and not (each.kind in ("final", "draft") and each.facts)
        ):
            changed.append(each.what)
    assert found.word == ("Draft" if changed else "Final")
    assert found.changed == (changed[0] if changed else "")
    assert found.at == log[marks[-1]].at


@given(st.lists(ENTRIES), st.sampled_from(TEMPLATES), st.sampled_from(PASSING))
def test_what_passes_changes_nothing(log, template, kind):
    assert status([*log, entry(kind)], template) == status(log, template)


@given(st.lists(ENTRIES), st.sampled_from(TEMPLATES), st.sampled_from(CHANGING))
def test_anything_else_makes_it_a_draft(log, template, kind):
    marked = [*log, entry("final", template)]
    assert status(marked, template).word == "Final"
    after = status([*marked, entry(kind)], template)
    assert after.word == "Draft"
    assert after.changed == entry(kind).what


def test_two_kinds_of_report_can_be_final_together():
    log = [
        entry("choice", Choice("plain", left_out=("pairs",))),
        entry("final", "plain"),
        entry("choice", Choice("ll144")),
        entry("final", "ll144"),
        entry("choice", Choice("plain", left_out=("pairs",))),
    ]
    assert status(log, "plain").word == status(log, "ll144").word == "Final"
    log.append(entry("choice", Choice("plain")))
    assert status(log, "plain").word == "Draft"
    assert status(log, "ll144").word == "Final"


def test_entries_that_somebody_has_spoilt_make_it_a_draft():
    for kind in ("final", "draft", "choice"):
        spoilt = LogEntry("2026-11-21T11:00:00+00:00", "spoilt", kind, '{"template": "other"}')
        assert status([spoilt], "plain") == Status("Draft")
        assert status([entry("final", "plain"), spoilt], "plain").changed == "spoilt"


@pytest.fixture
def store(tmp_path):
    with people_store(tmp_path) as opened:
        yield opened


@pytest.mark.parametrize("template", TEMPLATES)
def test_it_is_final_when_all_is_told_and_a_draft_after_any_change(store, template):
    store.write_details(example_details(template))
    assert obstacles(template, store.details(), store) == ()
    mark_final(store, template)
    assert status(store.log_entries(), template).word == "Final"
    store.log("A file was written.", "exported")
    assert status(store.log_entries(), template).word == "Final"
    store.write_details(example_details(template, system="Another"))
    found = status(store.log_entries(), template)
    assert found.word == "Draft"
    assert "system" in found.changed
    mark_final(store, template)
    mark_draft(store, template)
    assert status(store.log_entries(), template) == Status("Draft")


def test_a_run_makes_it_a_draft(store):
    store.write_details(example_details("plain"))
    mark_final(store, "plain")
    run_into(store, options={"global_num": 5, "local_num": 5})
    assert status(store.log_entries(), "plain").word == "Draft"


def test_it_cannot_be_final_while_something_is_missing(store):
    details = example_details("ll144", distribution_date="", data_source="  ")
    store.write_details(details)
    before = store.log_entries()
    with pytest.raises(ReportError) as caught:
        mark_final(store, "ll144")
    assert "Source of the data; Distribution date" in caught.value.why or (
        "Distribution date; Source of the data" in caught.value.why
    )
    assert store.log_entries() == before


def test_it_cannot_be_final_with_a_date_that_is_none(store):
    details = example_details("plain", audit_date="soon")
    (said,) = obstacles("plain", details)
    assert "“soon” is not a date" in said


def test_somebody_has_to_sign_the_annex():
    details = msgspec.structs.replace(example_details("annex-iv"), signers=())
    assert obstacles("annex-iv", details) == ("a signatory",)
    assert obstacles("plain", msgspec.structs.replace(example_details("plain"), signers=())) == ()


def line(value, people, share):
    return GroupLine((value,), (), True, people, share, people // 2, 0.5, 0.4, 0.6, share < 0.02)


@pytest.mark.parametrize("small", [False, True])
def test_a_category_left_out_of_the_ratios_has_to_be_justified(store, small):
    counts = (100, 1) if small else (50, 51)
    lines = tuple(
        line(value, n, n / 101) for value, n in zip(("male", "female"), counts, strict=True)
    )
    table = GroupTable("decisions", "yes", ("sex",), 101, 0, 0, 50, 0, lines)
    run = run_into(store, options={"global_num": 2, "local_num": 2})
    store.measure(run, [table])
    details = msgspec.structs.replace(
        example_details("ll144", small_categories=""), categories=Categories(sex="sex")
    )
    left = obstacles("ll144", details, store)
    assert left == (("Why groups under 2 % are left out",) if small else ())
    assert obstacles("plain", example_details("plain"), store) == ()
    told = Details({**details.texts, "small_categories": "Too few."}, categories=details.categories)
    assert obstacles("ll144", told, store) == ()


def test_an_entry_written_by_hand_makes_no_report_final_and_is_told(store):
    store.log("x", "final", {"template": "plain"})
    assert status(store.log_entries(), "plain").word == "Final"
    found = standing(store, "plain")
    assert found.word == "Draft"
    assert "Required information is missing" in found.changed
    assert make_report(store).status == whole_report(store).status == "Draft"
    (check,) = check_marks(store.log_entries())
    assert check.failed == 1
    assert f"Entry {len(store.log_entries())} of" in check.remarks[0]


def test_a_mark_that_is_as_it_should_be_is_no_difference(store):
    assert not list(check_marks(store.log_entries()))
    for template in TEMPLATES:
        store.write_details(example_details(template))
        mark_final(store, template)
    store.log("x", "final", {"template": "nothing"})
    (check,) = check_marks(store.log_entries())
    assert (check.tried, check.failed) == (len(TEMPLATES) + 1, 1)
    assert "the type of report" in check.remarks[0]


def test_details_that_vanish_make_it_a_draft(store):
    store.write_details(example_details("plain"))
    mark_final(store, "plain")
    assert make_report(store).status == "Final"
    with closing(sqlite3.connect(store.path, isolation_level=None)) as connection:
        connection.execute("DELETE FROM documents WHERE name = 'details'")
    assert make_report(store).status == standing(store, "plain").word == "Draft"


@pytest.mark.parametrize("blank", ["\u200b", "\u2800", "\u3164\u00ad", "\ufe0f \u0007"])
def test_what_cannot_be_seen_is_not_filled_in(store, blank):
    details = example_details("plain", system=blank)
    assert obstacles("plain", details) == ("Audited system",)
    signed = msgspec.structs.replace(example_details("annex-iv"), signers=(Signer(blank),))
    assert obstacles("annex-iv", signed) == ("a signatory",)
    store.write_details(details)
    with pytest.raises(ReportError):
        mark_final(store, "plain")


@pytest.mark.parametrize(
    "other",
    [
        Choice(left_out=("pairs",)),
        Choice(added=("background/cost",)),
        Choice(redaction="bands"),
        Choice(paper="us-letter"),
    ],
)
def test_another_form_than_the_one_that_was_marked_is_a_draft(store, other, tmp_path):
    store.write_details(example_details("plain"))
    mark_final(store, "plain")
    assert make_report(store).status == "Final"
    assert make_report(store, other).status == "Draft"
    found = standing(store, "plain", other)
    assert found.word == "Draft"
    assert "Its options differ" in found.changed
    written = write_report(store, tmp_path / "report.json", "json", other)
    assert written.status == "Draft"
    assert found.changed in written.remarks[0]
    # and the other way round: marked as it was wanted then, which the audit does not keep
    mark_final(store, "plain", other)
    assert make_report(store, other).status == "Final"
    assert make_report(store).status == standing(store, "plain").word == "Draft"
