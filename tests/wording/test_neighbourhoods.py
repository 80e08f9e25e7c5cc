"""What is certified around the data rows, in sentences."""

import textwrap

import msgspec
import pytest

from fairdesk.audit.store.records import RunState
from fairdesk.audit.worker.answer_checks import _sound
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
    assert plain(said.sentence) == (
        f"Of at least 4,685 applicants {phrases.NOT_CHANGED_BY} sex or age changes, 4,310 provably "
        "keep that if one other value differs (numbers by up to 10 % of range); 375 do not, "
        "realistic or not."
    )
    decided = msgspec.structs.replace(FOUND, undecided=0, rows=4_722)
    assert neighbourhood_statement(spec, decided).sentence.startswith("Of 4,685 applicants")
    # 37 are affected themselves: each of the other rows is among those that the sentence counts
    assert decided.rows - decided.flipped == 4_685


def test_beside_it_stands_what_is_not_known():
    said = neighbour_sentence(msgspec.structs.replace(FOUND, unsupported=1))
    assert said == "278 are undecided. 1 more has no comparison that the data support."


def test_three_lines_of_a_terminal_hold_the_sentence_two_where_all_rows_are_decided(spec):
    decided = msgspec.structs.replace(FOUND, undecided=0, rows=4_722)
    for found, most in ((FOUND, 3), (decided, 2)):
        said = neighbourhood_statement(msgspec.structs.replace(spec, person="person"), found)
        assert len(textwrap.wrap(said.shortest, 69)) <= most


def test_the_label_says_whether_others_are_meant(spec):
    labels = {
        neighbourhood_statement(spec, msgspec.structs.replace(FOUND, changed=changed)).label
        for changed in (0, 1, 2)
    }
    assert len(labels) == 3


@pytest.mark.parametrize(
    ("changed", "reach", "together", "end"),
    [
        (0, 0.1, False, f"are provably {phrases.UNAFFECTED} sex or age."),
        (2, 0.025, False, "any 2 other values differ (numbers by up to 2.50 % of range)."),
        (0, 0.1, True, "if all numbers differ by up to 10 % of range."),
        (1, 0.1, True, "or every number, differs (numbers by up to 10 % of range)."),
        (1, 0.0, False, "if one other value differs (numbers by up to 0 % of range)."),
    ],
)
def test_who_is_a_neighbour(spec, changed, reach, together, end):
    asked = msgspec.structs.replace(FOUND, changed=changed, reach=reach, together=together)
    said = plain(neighbourhood_statement(spec, asked).sentence)
    assert said.replace("; 375 do not, realistic or not", "").endswith(end)


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
    assert plain(bar.text(*next(bar.parts()))) == "86.2 % unchanged, neighbours too"


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
    assert _sound(FOUND)
    assert not _sound(msgspec.structs.replace(FOUND, **lie))
