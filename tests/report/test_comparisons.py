"""What a report lists of its comparisons: what changes together, what is not compared, files."""

import csv

import msgspec
import pytest

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store.store import Store
from fairdesk.data.domain.support import Support
from fairdesk.data.formats.reading import read_table
from fairdesk.report.export.exports import group_files
from fairdesk.report.provenance import evidence
from fairdesk.wording import comparisons, words
from tests.report.building import people_store, run_into, spec_of, write_people
from tests.report.reading import text_of
from tests.wording.test_comparisons import JOB, ROWS, STUDY, counts

NEVER = "not (job = cook and sex = male)"
OPEN = msgspec.structs.replace(JOB, certain=False)
DEBTS = msgspec.structs.replace(OPEN, attribute="debts")


def audited(folder, **support):
    table = read_table(write_people(folder / "people.csv"))
    spec = spec_of(table, "credit", "yes", ("sex",))
    domain = msgspec.structs.replace(spec.domain, support=Support(**support))
    spec = msgspec.structs.replace(spec, domain=domain)
    store = Store.create(folder / "a.fairdesk", spec, table)
    run = store.begin_run(RunSpec("estimate"))
    store.measure(run, (ROWS, counts("supported", 180, 12), counts("all", 200, 40), STUDY))
    store.end_run(run, "done")
    return store


def test_a_report_lists_what_changes_together_and_what_is_not_compared(tmp_path):
    with audited(tmp_path, companions=(JOB,), constraints=(NEVER,)) as store:
        text, domain = text_of(store), store.spec.domain
        measured = [each for run in store.runs() for each in run.figures]
        limits = [said for _, said in comparisons.limits(store.spec, measured)]
    assert "“job” changes with “sex”: cook is compared with pilot and the other way" in text
    assert "job = cook and sex = male" in text.replace("“", "")
    assert comparisons.study_caption(store.spec, [STUDY]).replace(words.NBSP, " ") in text
    assert len(limits) == 2
    assert all(said in text for said in limits)
    # which comparisons the data support is said once, where the limitations point to
    assert text.count(comparisons.support_sentence(domain)) == 1
    assert '{"job":{"with":"sex","values":{"male":{"cook":"pilot"},"female":' in text
    assert domain.support.companions == (JOB,)


@pytest.mark.parametrize(
    ("protected", "said"),
    [
        (("sex",), "(2, its own included)"),
        (("sex", "job"), "(2 × 4 = 8, its own included)"),
        (("sex", "debts"), "(2 × 9 = 18, its own included)"),
    ],
)
def test_it_is_said_of_what_the_combinations_are(tmp_path, protected, said):
    with people_store(tmp_path, protected) as store:
        run_into(store, "uniform", options={"samples": 20})
        assert f"each other combination of the protected values below {said}" in text_of(store)


def test_what_is_open_is_among_the_limitations(tmp_path):
    with audited(tmp_path, proposed=(OPEN,), rare=(("sex", 0.0),)) as store:
        text, rare = text_of(store), comparisons.support_sentence(store.spec.domain)
    assert words.CONFIRM in text
    assert rare
    assert rare in text


@pytest.mark.parametrize(
    ("support", "flag"),
    [
        ({}, ""),
        ({"companions": (JOB,)}, "--companions companions.json"),
        ({"proposed": (JOB,)}, "--companions ask"),
        ({"constraints": (NEVER,)}, ""),
        ({"refused": (("job", "sex"),)}, "--companions none"),
        ({"companions": (JOB,), "refused": (("debts", "sex"),)}, "--companions companions.json"),
        # what the data leave open is open again
        ({"proposed": (OPEN,)}, ""),
        ({"companions": (JOB,), "proposed": (DEBTS,)}, "--companions companions.json"),
    ],
)
def test_the_command_that_repeats_an_audit_says_what_changes_together(tmp_path, support, flag):
    with audited(tmp_path, **support) as store:
        command = evidence.command(store.spec, RunSpec("estimate"))
        held = evidence.companions_file(store.spec)
    assert flag in command
    assert ("--companions" in command) == bool(flag)
    assert bool(held) == ("companions.json" in flag)


def test_an_audit_study_leaves_as_a_table(tmp_path):
    with audited(tmp_path) as store:
        files = group_files(store)
        files["audit-study.csv"](store, tmp_path / "study.csv")
    with (tmp_path / "study.csv").open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["value"], row["selected"]) for row in rows] == [
        ("", "90"),
        ("female", "99"),
        ("male", "93"),
    ]
    assert (rows[1]["gains"], rows[1]["losses"], rows[1]["low"]) == ("11", "5", "0.01")
    assert float(rows[1]["difference"]) == pytest.approx(6 / 180)
