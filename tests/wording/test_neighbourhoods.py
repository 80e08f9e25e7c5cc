"""What is certified around the data rows, in sentences."""

import msgspec
import pytest

from fairdesk.audit.store.records import RunState
from fairdesk.audit.worker.answer_checks import _is_proof
from fairdesk.charts.kinds.proof import proven_bar
from fairdesk.data.formats.reading import read_table
from fairdesk.results.proofs import NeighbourhoodCounts
from fairdesk.wording import figures, words
from fairdesk.wording.proofs import NOT_MEANT, neighbour_sentence, neighbourhood_statement
from tests import phrases
from tests.report.building import spec_of, write_people

FOUND = NeighbourhoodCounts(("sex", "age"), 5_000, 4_310, 412, 278, 1, 0.1, flipped=37, boxes=9)


def plain(text: str) -> str:
    return text.replace(words.NBSP, " ")


@pytest.fixture
def spec(tmp_path):
    write_people(tmp_path / "people.csv")
    return spec_of(read_table(tmp_path / "people.csv"), "credit", "yes", ("sex", "age"))


def test_one_sentence_has_the_rows_that_are_unaffected_and_those_that_stay_so(spec):
    said = neighbourhood_statement(spec, FOUND)
    assert (said.evidence, said.value) == ("proven", "4,310 of 5,000 applicants")
    # of those that are undecided it is not known whether they are among them
    assert said.sentence == (
        f"Of at least 4,685 applicants {phrases.UNAFFECTED} sex or age, 4,310 provably stay so "
        "even if one other value differs within limits."
    )
    decided = msgspec.structs.replace(FOUND, undecided=0, rows=4_722)
    assert neighbourhood_statement(spec, decided).sentence.startswith("Of 4,685 applicants")
    # 37 are affected themselves: each of the other rows is among those that the sentence counts
    assert decided.rows - decided.flipped == 4_685


def test_beside_it_stands_what_the_limits_are_and_what_is_not_known():
    said = neighbour_sentence(msgspec.structs.replace(FOUND, unsupported=1))
    assert plain(said) == (
        "Within limits: a number by up to 10 % of its range. 278 are undecided. 1 more has no "
        "comparison that the data support."
    )


def test_the_first_two_lines_of_a_terminal_hold_the_sentence(spec):
    assert len(neighbourhood_statement(spec, FOUND).sentence) <= 2 * 69


def test_the_label_says_whether_others_are_meant(spec):
    labels = {
        neighbourhood_statement(spec, msgspec.structs.replace(FOUND, changed=changed)).label
        for changed in (0, 1, 2)
    }
    assert len(labels) == 3


@pytest.mark.parametrize(
    ("changed", "reach", "together", "end", "limits"),
    [
        (0, 0.1, False, f"are provably {phrases.UNAFFECTED} sex or age.", ""),
        (2, 0.025, False, "even if any 2 other values differ within limits.", "2.50 %"),
        (0, 0.1, True, "even if all numbers differ within limits.", "10 %"),
        (1, 0.1, True, "if one other value, or every number, differs within limits.", "10 %"),
        (1, 0.0, False, "even if one other value differs within limits.", "0 %"),
    ],
)
def test_who_is_a_neighbour(spec, changed, reach, together, end, limits):
    asked = msgspec.structs.replace(FOUND, changed=changed, reach=reach, together=together)
    assert neighbourhood_statement(spec, asked).sentence.endswith(end)
    assert limits in plain(neighbour_sentence(asked))
    assert ("Within limits" in neighbour_sentence(asked)) is bool(limits)


def test_a_run_leads_with_it_and_says_what_it_does_not_mean(spec):
    run = RunState(1, "neighbourhoods", "done", figures=(FOUND,))
    assert figures.headline(spec, run).value == "4,310 of 5,000 applicants"
    assert figures.standing(run).startswith("4,310 certified, 37 falsified")
    assert "9 regions examined" in figures.effort(run)
    assert NOT_MEANT in figures.headline(spec, run).sentence


def test_the_bar_sets_neighbours_apart(spec):
    (bar,) = proven_bar(spec, (FOUND,)).bars
    assert [(verdict, bar.count(share)) for verdict, share in bar.parts()] == [
        ("consistent", "4,310"),
        ("discriminatory", "37"),
        ("neighbour", "375"),
        ("undecided", "278"),
    ]
    assert plain(bar.text(*next(bar.parts()))) == "86.20 % unchanged, neighbours too"


@pytest.mark.parametrize(
    "lie",
    [
        {"certified": 4_311},
        {"undecided": -1, "certified": 4_589},
        {"flipped": 413},
        {"reach": 1.5},
    ],
)
def test_counts_that_cannot_be_are_refused(lie):
    assert _is_proof(FOUND)
    assert not _is_proof(msgspec.structs.replace(FOUND, **lie))
