"""The report's chapter on repairs: every number in it is true, and nothing is promised."""

import hashlib

import numpy as np
import pytest

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.report.document import make_report
from fairdesk.results.conditions import Condition
from fairdesk.results.events import Retrained
from fairdesk.results.trials import trial_of
from fairdesk.wording import mitigation as mitigation_words
from tests.report import repairs
from tests.report.building import people_store, run_into
from tests.report.reading import section_of, text_of, words_of

SVG = "{http://www.w3.org/2000/svg}"
MODEL = b"a model"
RULE = (Condition("sex", codes=(1.0,)),)


def repaired(store, spec, measured, state="done"):
    run = store.begin_run(spec)
    store.measure(run, measured)
    store.end_run(run, state)
    return run


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A report of a search and four repairs: its chapters, and its text as it is set."""
    with people_store(tmp_path_factory.mktemp("repair"), ("sex", "job")) as store:
        run_into(store, options={"global_num": 20, "local_num": 10})
        first = repaired(store, RunSpec("repair-aequitas", pairs_of=(1,)), repairs.FIGURES)
        for name, content in (("model.joblib", MODEL), ("model.onnx", b"")):
            told = "Checked on all test rows." if content else "There is no converter for it."
            bytes_of = np.frombuffer(content, dtype=np.int8)
            store.keep_model(first, Retrained("models", 4, name, told, bytes_of))
        repaired(
            store,
            RunSpec("repair-testsgd", rule=RULE, outcome="1"),
            repairs.RULE_FIGURES,
            "stopped",
        )
        repaired(store, RunSpec("repair-aequitas", flagged=True), repairs.HELPLESS_FIGURES)
        repaired(store, RunSpec("repair-aequitas"), repairs.ROWS_ONLY_FIGURES)
        report = make_report(store)
        return report, words_of(report)


@pytest.fixture(scope="module")
def chapter(whole):
    (found,) = (each for each in whole[0].sections if each.title == "Mitigation trial")
    return found


def blocks(chapter, kind):
    return [each for each in chapter.blocks if type(each).__name__ == kind]


def cells(grids):
    return " ".join(cell for grid in grids for row in grid.rows for cell in row)


def test_each_repair_has_a_heading_and_its_result_in_the_summary(whole, chapter):
    report, text = whole
    headings = [each.text for each in blocks(chapter, "Heading")]
    assert headings == [
        "Retrain with the pairs found, run 2",
        "Retrain against a rule set, run 3",
        "Retrain with the pairs found, run 4",
        "Retrain with the pairs found, run 5",
        "What a repair is",
        "What this does not show",
    ]
    (summary,) = (each for each in report.sections if each.title == "Summary")
    numbers = [each.number.replace("\u00a0", " ") for each in blocks(summary, "Statement")]
    assert numbers[1:] == ["54 % less", "51 % less", "", "2,610"]
    assert "The rule set sex = male; the decision “1”." in text
    place = report.sections.index(chapter) + 1
    assert f"run 2: 8 models measured, 0 rows sent to the model, 0.00 s; section {place}.1" in text
    assert f"section {place}.4" in text


def test_repairs_are_no_searches(whole):
    report, _ = whole
    (results,) = (each for each in report.sections if each.key == "results")
    assert [each.text for each in blocks(results, "Heading")][:2] == ["MAFT, run 1", "Examples"]


def test_it_says_what_was_repaired_and_where_labels_come_from(chapter):
    facts = {(fact.name, fact.value) for each in blocks(chapter, "Facts") for fact in each.facts}
    assert ("What is repaired", "The pairs found by run 1") in facts
    assert ("What is repaired", "The rule set sex = male; the decision “1”") in facts
    assert ("What is repaired", "All flagged pairs") in facts
    stock = "2,610 at most, from a stock of 1,305 discriminatory pairs"
    assert ("Rows to add", stock) in facts
    labelled = [e.text for e in blocks(chapter, "Text") if e.lead == "How they are labelled."]
    assert len(labelled) == 4
    assert "majority of five models" in labelled[0]
    assert "That is a choice, and it matters" in labelled[0]
    assert "opposite" in labelled[1]
    assert "a choice" not in labelled[1]


def test_the_settings_tell_what_each_repair_was_given(whole):
    (method,) = (each for each in whole[0].sections if each.key == "method")
    rows = [row for grid in blocks(method, "Grid") for row in grid.rows]
    assert ("pairs of runs", "1", "whose pairs are repaired; flagged ones first") in rows
    assert ("rule set", "sex = male", "what is repaired, for the decision “1”") in rows
    flagged = "whose pairs are repaired; only those that the auditor flagged"
    assert ("pairs of runs", "all", flagged) in rows
    assert [row[1] for row in rows if row[0] == "labels"] == [
        *("majority", "opposite", "majority", "majority"),
    ]


def test_a_repair_that_was_stopped_says_so(chapter):
    (ended,) = (each for each in blocks(chapter, "Callout") if each.word == "Not to the end.")
    assert "Stopped by the auditor" in ended.text


def test_all_trials_are_listed_and_what_ended_the_search(chapter):
    grids = [
        each for each in blocks(chapter, "Grid") if each.header == mitigation_words.TRIAL_HEADS
    ]
    assert [len(each.rows) for each in grids] == [9, 4, 4]
    leads = {each.lead: each.text for each in blocks(chapter, "Text")}
    assert leads["Correlation remover: there is no such model."].startswith("Training diverged")
    ended = [e.text for e in blocks(chapter, "Text") if e.lead == "What ended the search."]
    assert ended[0] == repairs.REPAIR.ended
    notes = [each.text for each in blocks(chapter, "Text") if each.lead == "Note."]
    assert repairs.REPAIR.notes[0] in notes


def test_before_and_after_stand_in_a_table_for_each_way_of_knowing(chapter):
    grids = [
        each for each in blocks(chapter, "Grid") if each.header == mitigation_words.BEFORE_AFTER
    ]
    captions = [each.caption.partition(".")[0] for each in grids]
    assert captions == [
        "Observed on the test rows",
        "Observed on the test rows, by group",
        "Estimated from invented applicants",
        "Proven",
        "Observed on the test rows",
        "Observed on the test rows, by group",
        "Estimated from invented applicants",
    ]
    # all but those on validation rows
    trial = trial_of(repairs.FIGURES, 4)
    results = [each for each in trial.measures if each.rows != "validation"]
    assert sum(len(each.rows) for each in grids[:4]) == len(results)
    assert "Certified: treated alike" in cells(grids[3:4])
    assert "Gap in and out of the rule set" in cells(grids[6:])


def test_an_interval_is_kept_on_one_line(chapter):
    grids = [
        each for each in blocks(chapter, "Grid") if each.header == mitigation_words.BEFORE_AFTER
    ]
    assert "(83.7\u00a0to\u00a085.5)" in grids[0].rows[0][1]
    assert grids[0].rows[0][5] == "p = 0.405 (McNemar)"


def test_files_of_the_models_are_known_by_their_fingerprints(chapter):
    (grid,) = (each for each in blocks(chapter, "Grid") if "SHA-256" in each.header)
    assert [row[1:] for row in grid.rows] == [
        ("model.joblib", "Checked on all test rows.", "7", hashlib.sha256(MODEL).hexdigest()),
        ("model.onnx", "There is no converter for it.", "–", "–"),
    ]


def test_what_it_does_not_show_and_its_formulas_are_told(whole, chapter):
    _, text = whole
    leads = [each.lead for each in blocks(chapter, "Text")]
    assert leads[-5:] == [
        "That the labels are right.",
        "How real applicants fare.",
        "What the imported model had seen.",
        "That no other group fares worse.",
        "That it holds elsewhere.",
    ]
    for name in ("McNemar’s exact test", "Relative fall", "Pareto front", "Widest gaps"):
        assert name in text
    assert "Kamiran and Calders" in text
    assert "A trial, not a cure." in text


def test_without_repairs_one_line_says_so(tmp_path):
    with people_store(tmp_path) as store:
        run_into(store, options={"global_num": 20, "local_num": 10})
        report = make_report(store)
    (told,) = section_of(report, "mitigation").blocks
    assert told.lead == "Not run:"
    assert "measured on rows that it was not trained on" in told.text
    assert "McNemar" not in words_of(report)


def test_the_finding_comes_first_and_how_it_was_obtained_last(chapter):
    kinds = [type(block).__name__ for block in chapter.blocks]
    assert kinds[:2] == ["Heading", "Statement"]
    assert chapter.blocks[1].evidence == "estimated"
    assert kinds.index("Chart") < kinds.index("Grid") < kinds.index("Facts")


def test_tables_say_by_a_mark_what_they_rest_on(chapter):
    grids = [
        each for each in blocks(chapter, "Grid") if each.header == mitigation_words.BEFORE_AFTER
    ]
    marks = [each.evidence for each in grids]
    assert marks[:4] == ["observed", "observed", "estimated", "proven"]
    assert len({each.key for each in blocks(chapter, "Grid")}) == len(blocks(chapter, "Grid"))


def test_a_repair_that_failed_at_once_is_told_as_that(tmp_path):
    with people_store(tmp_path) as store:
        run = store.begin_run(RunSpec("repair-aequitas"))
        store.end_run(run, "failed", "The model cannot be retrained.")
        text = text_of(store)
    assert "Nothing is repaired yet." in text
    assert "The model cannot be retrained." in text
