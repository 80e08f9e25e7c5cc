"""The report's section on certification: the blocks of each run, and what is in the appendix."""

import re

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.audit.store.records import Choice
from fairdesk.report.document import make_report
from fairdesk.wording import proofs as proof_words
from tests import phrases
from tests.document.test_proofs import AROUND, FIGURES, PEOPLE, RATES
from tests.report.building import people_store
from tests.report.reading import blocks_of, section_of, whole_section, words_of
from tests.wording.test_about_groups import TABLE

#: What of a certification nobody quotes, and a report has only where it is asked for.
TABLES = ("values", "discriminatory", "consistent", "course")


def made(folder, *runs, added=()):
    with people_store(folder, ("sex", "job")) as store:
        for method, told, state in runs:
            run = store.begin_run(RunSpec(method))
            store.measure(run, told)
            store.end_run(run, state)
        return make_report(store, Choice(added=added))


def test_what_is_proven_comes_first_and_the_rest_is_in_the_appendix(tmp_path):
    report = made(tmp_path, ("certify", FIGURES, "done"))
    section = section_of(report, "certification")
    kinds = [type(block).__name__ for block in section.blocks]
    # what the verdicts mean comes before the first of them
    assert kinds[:5] == ["Text", "Heading", "Statement", "Statement", "Chart"]
    assert section.blocks[0].text == proof_words.VERDICTS
    moved = [each.key for each in blocks_of(section_of(report, "appendix"), "Chart")]
    assert "certification/alone-1" in moved
    assert "fairdesk verify" in words_of(report)
    assert not any(each in str(moved) for each in TABLES)


def test_tables_are_there_where_they_are_asked_for(tmp_path):
    added = tuple(f"certification/{each}-1" for each in TABLES)
    report = made(tmp_path, ("certify", FIGURES, "done"), added=added)
    appendix = section_of(report, "appendix")
    keys = {each.key for kind in ("Chart", "Grid") for each in blocks_of(appendix, kind)}
    assert keys >= set(added)


def test_of_several_runs_each_heading_says_of_which_it_is(tmp_path):
    runs = ("certify", FIGURES, "done"), ("certify", FIGURES[:1], "stopped")
    report = made(tmp_path, *runs)
    heads = [each.text for each in blocks_of(section_of(report, "appendix"), "Heading")]
    assert f"Certification, run 1: {phrases.HOW_CERTIFIED}" in heads
    assert f"Certification, run 2: {phrases.HOW_CERTIFIED}" in heads
    assert phrases.STOPPED in words_of(report)


def test_a_proof_alone_is_no_failed_search(tmp_path):
    text = words_of(made(tmp_path, ("certify", FIGURES, "done")))
    assert phrases.NOTHING_FOUND not in text
    assert re.search(r"No search was run; section \d shows what is certified.", text)


def test_rows_with_their_neighbours_have_their_bar_in_the_section_itself(tmp_path):
    section = section_of(made(tmp_path, ("neighbourhoods", (AROUND,), "done")), "certification")
    (chart,) = blocks_of(section, "Chart")
    assert chart.key == "bars-1"


def test_a_population_that_does_not_fit_the_groups_of_another_run_is_not_quoted(tmp_path):
    certified = ("certify", (*FIGURES, PEOPLE, RATES), "done")
    section = whole_section(made(tmp_path, certified), "certification")
    assert blocks_of(section, "Statement")[0].number == "At least 2.11\u00a0%"
    folder = tmp_path / "measured"
    folder.mkdir()
    text = words_of(made(folder, ("groups", (TABLE,), "done"), certified))
    for share in proof_words.proven_fractions(PEOPLE)[:2]:
        assert proof_words.least_share(share).replace("\u00a0", " ") not in text
    assert phrases.UNFIT not in text
