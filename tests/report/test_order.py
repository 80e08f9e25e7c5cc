"""The parts of a report: each template has all of its own, and each says what it must."""

import msgspec
import pytest

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store import digests
from fairdesk.audit.store.records import PASSING, Categories, Choice, Details, PairQuery
from fairdesk.audit.store.store import Store
from fairdesk.data.columns.rereading import with_reading
from fairdesk.data.domain.domain import Domain
from fairdesk.data.formats.reading import read_table
from fairdesk.data.table import ColumnReading
from fairdesk.models.model import How
from fairdesk.report.content.fields import FIELDS
from fairdesk.report.content.passages import TEMPLATES
from fairdesk.report.document import make_report
from fairdesk.report.provenance.evidence import command
from fairdesk.wording import words
from tests import phrases
from tests.document.test_proofs import DOMAIN
from tests.report.building import people_store, run_into, spec_of, write_people
from tests.report.reading import blocks_of, section_of, text_of, whole_section, words_of
from tests.wording.test_about_groups import BLACK, TABLE, WHITE

FEW = {"global_num": 20, "local_num": 10}


def measure(store, *told):
    run = store.begin_run(RunSpec("groups"))
    store.measure(run, told)
    store.end_run(run, "done")


def decided(folder):
    """Make an audit of decisions alone: no model is there."""
    table = read_table(write_people(folder / "credit.csv"))
    spec = spec_of(table, "credit", "yes", ("sex",), classes=("no", "yes"))
    spec = msgspec.structs.replace(spec, predictions="credit")
    return Store.create(folder / "audit.fairdesk", spec, table)


def facts_of(section):
    return {fact.name: fact.value for each in blocks_of(section, "Facts") for fact in each.facts}


def grid_of(section, key):
    return next(each for each in blocks_of(section, "Grid") if each.key == key)


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("make", [people_store, decided], ids=["model", "decisions"])
def test_every_template_is_made_whatever_there_is(tmp_path, template, make):
    with make(tmp_path) as store:
        empty = make_report(store, Choice(template=template))
        measure(store, TABLE)
        measured = make_report(store, Choice(template=template))
    for report in (empty, measured):
        keys = [section.key for section in report.sections]
        assert set(keys) <= {*TEMPLATES[template].chapters, "appendix"}
        assert len(set(keys)) == len(keys)
        assert len({section.title for section in report.sections}) == len(keys)
        assert all(section.blocks for section in report.sections)


def test_without_a_model_the_plain_report_says_what_that_leaves_out(tmp_path):
    with decided(tmp_path) as store:
        report = make_report(store)
    assert not {"results", "certification", "mitigation"} & {each.key for each in report.sections}
    (said, *_) = blocks_of(section_of(report, "limits"), "Callout")
    assert said.word == "No model."
    assert facts_of(section_of(report, "model"))["Column of decisions"] == "credit"


def test_what_the_auditor_tells_of_the_data_stands_with_them(tmp_path):
    texts = {"data_source": "The bank’s archive.", "known_limits": "Only one branch."}
    with people_store(tmp_path) as store:
        store.write_details(Details(texts))
        report = make_report(store)
    assert (
        facts_of(section_of(report, "data"))[FIELDS["data_source"].label] == "The bank’s archive."
    )
    known = facts_of(section_of(report, "limits"))
    assert known[FIELDS["known_limits"].label] == "Only one branch."


def test_missing_cells_are_counted_by_column_and_unknown_groups_by_attribute(tmp_path):
    named = Categories("sex", "", {"sex": {"male": "Male", "female": ""}})
    with people_store(tmp_path, ("sex", "job")) as store:
        store.write_details(Details(categories=named))
        women = store.table().counts("sex")["female"]
        section = whole_section(make_report(store), "data")
    columns = {row[0]: row[3:5] for row in grid_of(section, "columns").rows}
    assert columns["job"] == ("10", "5.0\u00a0%")
    unknown = {row[0]: (*row[1:3], row[4]) for row in grid_of(section, "unknown").rows}
    assert unknown == {
        "sex": ("0", str(women), "–"),
        "job": ("10", "0", "not tested"),
    }
    categories = grid_of(section, "categories").rows
    assert ("sex", "female", "counts as unknown", str(women), "") in categories


def test_rows_left_out_are_told_step_by_step(tmp_path):
    with people_store(tmp_path, ("sex", "job")) as store:
        measure(store, msgspec.structs.replace(TABLE, without=3))
        rows = grid_of(section_of(make_report(store), "data"), "rows").rows
    assert rows[0] == ("Reading", "Every row of the file was read", "0", "200")
    assert ("Group metrics of decisions", "By sex: group not recorded", "12", "4,880") in rows
    needed = "A value that the model needs is missing"
    assert ("Group metrics of decisions", needed, "3", "197") in rows
    (tested,) = (row for row in rows if row[1] == "Value missing: job")
    assert tested[2:] == ("10", "190")
    assert len({row[0] for row in rows}) == 3


def test_where_every_row_is_used_no_table_says_so_again(tmp_path, monkeypatch):
    monkeypatch.setattr(Domain, "set_aside", lambda _domain, _table: ())
    with people_store(tmp_path, ("sex",)) as store:
        section = section_of(make_report(store), "data")
    assert "rows" not in [each.key for each in blocks_of(section, "Grid")]
    assert any("so all can be tested" in each.text for each in blocks_of(section, "Text"))


def test_what_the_data_say_of_values_is_not_listed_again(tmp_path):
    with people_store(tmp_path, ("sex",)) as store:
        run_into(store, "uniform", options={"samples": 10})
        report = make_report(store)
    inputs = grid_of(section_of(report, "appendix"), "model/inputs").rows
    assert inputs[2:] == (
        ("3", "job", "job", "numbered in the order of its values: clerk = 0 to pilot = 3"),
        ("4–5", "income to debts", "income, debts", words.WAYS[How.AS_IS]),
    )
    appendix = section_of(report, "appendix")
    assert not [each for each in blocks_of(appendix, "Grid") if each.key == "results/domain"]
    said = "All other attributes are variable within the values of the data."
    assert said in [each.text for each in blocks_of(appendix, "Text")]


def test_of_three_classes_no_threshold_is_told(tmp_path):
    table = read_table(write_people(tmp_path / "people.csv"))
    spec = spec_of(
        table, "credit", "yes", ("sex",), classes=("no", "later", "yes"), favourable_class=2
    )
    with Store.create(tmp_path / "audit.fairdesk", spec, table) as store:
        told = facts_of(section_of(make_report(store), "model"))
    assert "Decision threshold" not in told
    assert "highest score is the decision" in told["Output"]


def test_the_model_tells_its_threshold_and_how_it_agrees_with_the_label(tmp_path):
    labelled = msgspec.structs.replace(
        TABLE,
        lines=(
            WHITE,
            msgspec.structs.replace(BLACK, positives=10, true_positives=4, false_positives=150),
        ),
    )
    with people_store(tmp_path) as store:
        unchecked = facts_of(section_of(make_report(store), "model"))
        measure(store, labelled)
        told = facts_of(section_of(make_report(store), "model"))
    assert unchecked["Checked on rows of the data"].startswith("not kept in the audit file")
    assert told["Decision threshold"] == "0.5, the default"
    right = 30 + (2_405 - 206) + 4 + (BLACK.negatives - 150)
    whole = 40 + 2_405 + 10 + BLACK.negatives
    said = told["Checked on rows of the data"]
    share = f"({100 * right / whole:.1f}\u00a0%)"
    assert f"in {right:,} of the {whole:,} rows with both a decision" in said
    guessing = max(40 + 10, whole - 50) / whole
    assert said.endswith(f"more frequent outcome would match in {100 * guessing:.1f}\u00a0%.")
    assert share in said


def test_the_log_is_printed_with_its_chain_and_what_passes_is_not(tmp_path):
    with people_store(tmp_path, ("sex", "job")) as store:
        run_into(store, options=FEW, weights=[[1], [2], [1], [1], [1]])
        (pair,) = store.pairs(PairQuery(), 0, 1)
        store.mark(pair.id, "flagged")
        store.log("Merged two groups.", "decided")
        before = make_report(store)
        store.log("Exported the report.", "exported")
        store.log("Exported the pairs.", "exported")
        assert make_report(store) == before
        log = [entry for entry in store.log_entries() if entry.kind not in PASSING]
    section = whole_section(before, "evidence")
    rows = grid_of(section, "log").rows
    assert [row[1:] for row in rows] == [(entry.what, entry.link[:12]) for entry in log]
    assert rows[-1][1] == "Merged two groups."
    assert facts_of(section)["Last hash of the audit log’s chain"] == digests.head(log)
    assert facts_of(section)["FairDesk"] == "0.1.0"


def test_a_clock_that_was_set_back_is_mentioned_beside_the_log(tmp_path, monkeypatch):
    with people_store(tmp_path, ("sex",)) as store:
        store.log("One.", "decided")
        assert phrases.CLOCK_SET_BACK not in text_of(store)
        monkeypatch.setattr("fairdesk.audit.store.schema.now", lambda: "2019-05-05T09:30:00+00:00")
        store.log("Two.", "decided")
        section = whole_section(make_report(store), "evidence")
    (said,) = (each.text for each in blocks_of(section, "Text") if "clock" in each.text)
    assert said.startswith("1 entry has an earlier time")
    assert "2019-05-05 09:30:00" in said


def test_settings_and_formulas_stand_in_the_section_on_method(tmp_path):
    with people_store(tmp_path, ("sex",)) as store:
        run_into(store, options=FEW)
        measure(store, TABLE)
        report = make_report(store, Choice(added=("method/settings-1", "method/settings-2")))
    method = whole_section(report, "method")
    assert {"settings-1", "settings-2"} <= {each.key for each in blocks_of(method, "Grid")}
    text = words_of(report)
    for name in (
        "Individual discriminatory instance",
        "Impact ratio",
        "Statistical parity difference (SPD).",
        "Test of two rates",
    ):
        assert name in text


def test_a_dropped_section_takes_its_number_along(tmp_path):
    with people_store(tmp_path, ("sex",)) as store:
        measure(store, TABLE)
        run = store.begin_run(RunSpec("certify"))
        store.measure(run, (DOMAIN,))
        store.end_run(run, "done")
        whole = text_of(store)
        less = text_of(store, Choice(left_out=("errors",)))
    for number, text in ((7, whole), (6, less)):
        assert f"{number} Certification" in text
        assert f"section {number} shows what is certified" in text


def test_redacted_reports_say_so_among_the_limits_and_show_no_notes(tmp_path):
    with people_store(tmp_path, ("sex", "job")) as store:
        run_into(store, options=FEW, weights=[[1], [2], [1], [1], [1]])
        (pair,) = store.pairs(PairQuery(order="difference", descending=True), 0, 1)
        store.note(pair.id, "This is Mrs Smith.")
        store.mark(pair.id, "flagged")
        plain = words_of(make_report(store))
        bands = make_report(store, Choice(redaction="bands"))
    assert "This is Mrs Smith." in plain
    text = words_of(bands)
    assert "Mrs Smith" not in text
    assert bands.redacted in [b.text for b in blocks_of(section_of(bands, "limits"), "Text")]


def with_odd_cells(folder, reading=None):
    """Make an audit of a file with odd cells and texts in another encoding."""
    path = write_people(folder / "credit.csv")
    lines = path.read_text().splitlines()
    for line, text in ((5, "$45"), (9, "Bramble")):
        lines[line] = ",".join((text, *lines[line].split(",")[1:]))
    for line in (10, 11):
        cells = lines[line].split(",")
        cells[2] = ("Köchin", "KÃ¶chin")[line - 10]
        lines[line] = ",".join(cells)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    table = read_table(path)
    if reading is not None:
        table = read_table(path, with_reading(table.source.dialect, "age", reading))
    spec = spec_of(table, "credit", "yes", ("sex",))
    return Store.create(folder / "audit.fairdesk", spec, table)


def test_cells_that_are_no_numbers_are_listed_with_what_was_decided(tmp_path):
    (tmp_path / "a").mkdir()
    with with_odd_cells(tmp_path / "a") as store:
        report = make_report(store)
        whole = words_of(make_report(store, Choice(redaction="bands")))
        manifest = make_report(store, Choice(redaction="bands")).manifest
    section = section_of(report, "data")
    assert grid_of(section, "odd-cells").rows == (
        ("age", "“$45”", "1", "line 6", "missing; no decision"),
        ("age", "“Bramble”", "1", "line 10", "missing; no decision"),
    )
    assert grid_of(section, "garbled").rows == (("job", "“KÃ¶chin”", "“Köchin”", "1", "line 12"),)
    assert "The auditor made no decision on 2 of them." in words_of(report)
    # what a single row holds is not told to strangers
    assert "Bramble" not in whole
    assert "Bramble" not in manifest
    (tmp_path / "b").mkdir()
    reading = ColumnReading(odd="mended", cells={"Bramble": 30.5})
    with with_odd_cells(tmp_path / "b", reading) as store:
        report = make_report(store)
        redacted = make_report(store, Choice(redaction="bands"))
    section = section_of(report, "data")
    assert [row[-1] for row in grid_of(section, "odd-cells").rows] == [
        "45 (corrected)",
        "30.5 (corrected)",
    ]
    assert "made no decision" not in words_of(report)
    commands = command(store.spec, None)
    assert "--odd-cells age=mended" in commands
    assert "--mend age:Bramble=30.5" in commands
    assert "Bramble" not in redacted.manifest
    assert "Bramble" not in words_of(redacted)
