"""What is certified around the data rows, in sentences."""

import msgspec
import pytest

from fairdesk.audit.store.records import RunState
from fairdesk.audit.worker.answer_checks import _is_proof
from fairdesk.charts.kinds.proof import spaces_of
from fairdesk.data.formats.reading import read_table
from fairdesk.results.proofs import NeighbourhoodCounts
from fairdesk.wording import figures, words
from fairdesk.wording.certified.neighbourhoods import NOT_MEANT, neighbourhood_statement
from tests.report.building import spec_of, write_people

FOUND = NeighbourhoodCounts(("sex", "age"), 5_000, 4_310, 412, 278, 1, 0.1, flipped=37, boxes=9)


def plain(text: str) -> str:
    return text.replace(words.NBSP, " ")


@pytest.fixture
def spec(tmp_path):
    write_people(tmp_path / "people.csv")
    return spec_of(read_table(tmp_path / "people.csv"), "credit", "yes", ("sex", "age"))


def test_three_counts_in_three_sentences(spec):
    said = neighbourhood_statement(spec, FOUND)
    assert (said.evidence, said.value) == ("proven", "4,310 of 5,000 applicants")
    assert plain(said.sentence).startswith("For 4,310 of 5,000 applicants in the data the decision")
    assert plain(said.sentence).endswith(
        " of sex and age, even if any one other attribute were different (a number by up to 10 % "
        "of its range). For 37, changing the protected values is enough to change it; for 375, "
        "another value must change too. 278 are undecided."
    )
    assert "even if any one other" in plain(said.brief)
    assert said.brief.endswith("278 are undecided.")


def test_where_no_neighbour_changes_more_only_the_rows_are_told(spec):
    decided = msgspec.structs.replace(FOUND, falsified=37, undecided=653)
    assert " For 37 it changes. 653" in plain(neighbourhood_statement(spec, decided).sentence)
    whole = msgspec.structs.replace(decided, certified=4_963, undecided=0)
    assert plain(neighbourhood_statement(spec, whole).sentence).endswith("For 37 it changes.")


def test_the_label_says_whether_others_are_meant(spec):
    labels = {
        neighbourhood_statement(spec, msgspec.structs.replace(FOUND, changed=changed)).label
        for changed in (0, 1, 2)
    }
    assert len(labels) == 3


@pytest.mark.parametrize(
    ("changed", "reach", "together", "end"),
    [
        (0, 0.1, False, "of sex and age."),
        (2, 0.025, False, "any 2 other attributes were different (a number by up to 2.50 % of its"),
        (0, 0.1, True, "even if all numbers were different, each by up to 10 % of its range."),
        (1, 0.1, True, "different, or all numbers at once (a number by up to 10 % of its range)."),
        (1, 0.0, False, "were different (a number by up to 0 % of its range)."),
    ],
)
def test_who_is_a_neighbour(spec, changed, reach, together, end):
    asked = msgspec.structs.replace(FOUND, changed=changed, reach=reach, together=together)
    assert end in plain(neighbourhood_statement(spec, asked).sentence)


def test_a_run_leads_with_it_and_says_what_it_does_not_mean(spec):
    run = RunState(1, "neighbourhoods", "done", figures=(FOUND,))
    assert figures.headline(spec, run).value == "4,310 of 5,000 applicants"
    assert figures.standing(run).startswith("4,310 rows certified")
    assert "9 regions examined" in figures.effort(run)
    assert NOT_MEANT in figures.sentences(spec, (FOUND,))


def test_the_bar_sets_neighbours_apart(spec):
    (bar,) = spaces_of(spec, (FOUND,))
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
