"""The report's chapter on repairs: every number in it is true, and nothing is promised."""

import hashlib

import numpy as np
import pytest

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.report.document import make_report
from fairdesk.results.events import Retrained
from fairdesk.results.proofs import Condition
from fairdesk.wording import mitigation as mitigation_words
from tests import phrases
from tests.report import repairs
from tests.report.building import people_store, run_into
from tests.report.reading import section_of, text_of, whole_section, words_of

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
    return whole_section(whole[0], "mitigation")


def blocks(chapter, kind):
    return [each for each in chapter.blocks if type(each).__name__ == kind]


def plain(text):
    return text.replace("\u00a0", " ")


def cells(grids):
    return " ".join(cell for grid in grids for row in grid.rows for cell in row)


def test_each_repair_has_a_heading_and_its_result(whole, chapter):
    report, text = whole
    section = section_of(report, "mitigation")
    headings = [each.text for each in blocks(section, "Heading")]
    assert headings == [
        f"{phrases.RETRAIN_WITH_PAIRS}, run 2",
        "Mitigation: retrain for a subgroup, run 3",
        f"{phrases.RETRAIN_WITH_PAIRS}, run 4",
        f"{phrases.RETRAIN_WITH_PAIRS}, run 5",
        "What this does not show",
    ]
    assert "Mitigation: What a mitigation is" in [e.text for e in blocks(chapter, "Heading")]
    stated = [each.number.replace("\u00a0", " ") for each in blocks(chapter, "Statement")]
    assert stated == ["1.01 %", "10.10", "", "2,610"]
    assert "The subgroup sex = male; the decision “1”" in text


def test_repairs_are_no_searches(whole):
    report, _ = whole
    headings = [each.text for each in blocks(whole_section(report, "results"), "Heading")]
    assert [each for each in headings if ", run " in each] == [
        f"Individual discrimination: {phrases.MAFT}, run 1"
    ]


def test_it_says_what_was_repaired_and_where_labels_come_from(chapter):
    facts = {(fact.name, fact.value) for each in blocks(chapter, "Facts") for fact in each.facts}
    assert ("Target of the mitigation", "The pairs found by run 1") in facts
    assert ("Target of the mitigation", "The subgroup sex = male; the decision “1”") in facts
    assert ("Target of the mitigation", "All flagged pairs") in facts
    stock = mitigation_words.stock_text(repairs.REPAIR)
    assert ("Augmentation rows", f"at most 2,610, made from {stock}") in facts
    labelled = [
        e.text
        for e in blocks(chapter, "Text")
        if e.lead == "How the augmentation rows are labelled."
    ]
    assert len(labelled) == 4
    assert phrases.MAJORITY_OF_FIVE in labelled[0]
    assert "This is a choice, and it matters" in labelled[0]
    assert "opposite" in labelled[1]
    assert "a choice" not in labelled[1]


def test_the_settings_tell_what_each_repair_was_given(whole):
    method = whole_section(whole[0], "method")
    told = [(fact.name, fact.value) for each in blocks(method, "Facts") for fact in each.facts]
    assert ("pairs of runs", "1: the pairs of these runs were used; flagged pairs first") in told
    assert ("subgroup", "sex = male: the target of the mitigation, for the decision “1”") in told
    flagged = "all: the pairs of these runs were used; only pairs that the auditor flagged"
    assert ("pairs of runs", flagged) in told


def test_a_repair_that_was_stopped_says_so(chapter):
    (ended,) = (each for each in blocks(chapter, "Callout") if each.word == "Incomplete.")
    assert phrases.STOPPED in ended.text


def test_all_trials_are_listed_and_what_ended_the_search(chapter):
    grids = [each for each in blocks(chapter, "Grid") if each.key.startswith("trials-")]
    assert [len(each.rows) for each in grids] == [9, 4, 4]
    failed = f"Correlation remover: {phrases.NO_SUCH_MODEL} Training diverged"
    assert any(each.text.startswith(failed) for each in blocks(chapter, "Text"))
    ended = [e.text for e in blocks(chapter, "Text") if e.lead == "Why the search ended."]
    assert ended[0] == repairs.REPAIR.ended
    notes = [each.text for each in blocks(chapter, "Text") if each.lead == "Note."]
    assert repairs.REPAIR.notes[0] in notes


def before_and_after(chapter, run):
    """Return the tables of both models: those by group are in the appendix behind the others."""
    keys = ("after-observed", "after-estimated", "groups-observed")
    grids = {each.key.partition("/")[2] or each.key: each for each in blocks(chapter, "Grid")}
    return [grids[f"{each}-{run}"] for each in keys]


def test_before_and_after_stand_in_a_table_for_each_way_of_knowing(chapter):
    marks = [each.evidence for run in (2, 3) for each in before_and_after(chapter, run)]
    assert marks == ["observed", "estimated", "observed"] * 2
    assert "Gap between the subgroup and all others" in cells(before_and_after(chapter, 3))
    (certified,) = (e.text for e in blocks(chapter, "Text") if e.lead == "Certification.")
    assert certified == mitigation_words.certified_sentence(repairs.FIGURES)
    assert len({each.key for each in blocks(chapter, "Grid")}) == len(blocks(chapter, "Grid"))


def test_files_of_the_models_are_known_by_their_fingerprints(whole):
    (appendix,) = (each for each in whole[0].sections if each.key == "appendix")
    (grid,) = (each for each in blocks(appendix, "Grid") if "SHA-256" in each.header)
    # why another could not be made is told where it would be taken from
    assert [row[1:] for row in grid.rows] == [
        ("model.joblib", "Checked on all test rows.", "7", hashlib.sha256(MODEL).hexdigest()),
    ]


def test_what_it_does_not_show_and_its_formulas_are_told(whole):
    report, text = whole
    leads = [each.lead for each in blocks(section_of(report, "mitigation"), "Text")]
    assert leads[-6:] == [
        "Whether the labels are right.",
        "The effect on real applicants.",
        "What the original model was trained on.",
        "Whether other groups do worse.",
        "Whether the results are valid elsewhere.",
        # where the other tables are
        "",
    ]
    for name in ("Change of a share", "Brier score", "Largest gaps"):
        assert name in text
    assert "Kamiran and Calders" in text
    assert "describe models that were trained in this audit" in text


def test_the_finding_comes_first_and_how_it_was_obtained_last(chapter):
    kinds = [type(block).__name__ for block in chapter.blocks]
    assert kinds[:2] == ["Heading", "Statement"]
    assert chapter.blocks[1].evidence == "observed"
    assert kinds.index("Chart") < kinds.index("Grid") < kinds.index("Facts")


def test_a_repair_that_failed_at_once_is_told_as_that(tmp_path):
    with people_store(tmp_path) as store:
        run = store.begin_run(RunSpec("repair-aequitas"))
        store.end_run(run, "failed", f"The model {phrases.NOT_RETRAINED}.")
        text = text_of(store)
    assert phrases.NOTHING_REPAIRED in text
    assert f"The model {phrases.NOT_RETRAINED}." in text
