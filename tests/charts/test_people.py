"""Rows as dots: filled where the decision changes, and as many as the rows that they stand for."""

from fairdesk.charts.kinds.people import Changing, People, people_of
from fairdesk.charts.shapes import Disc
from tests.charts.test_forest import PAPER
from tests.report.building import people_store
from tests.wording.test_about_groups import TABLE
from tests.wording.test_comparisons import ROWS
from tests.wording.test_figures import plain

KEY = 3


def fills(drawing):
    discs = [each for each in drawing.lay_out(PAPER).shapes if isinstance(each, Disc)]
    return [each.fill for each in discs[KEY:]]


def test_each_row_is_a_dot_and_those_that_change_are_filled():
    found = fills(People((Changing("sex = male", 12, 5, 3, 1),)))
    assert len(found) == 12
    assert found[:4] == ["discriminatory"] * 3 + ["series 0"]
    assert set(found[4:]) == {"ground"}


def test_of_many_rows_a_dot_stands_for_several_and_a_smaller_one_for_fewer():
    drawing = People(
        (Changing("race = Other", 44, 9, 3, 7), Changing("race = White", 4_000, 900, 0, 10)), 9
    )
    discs = [each for each in drawing.lay_out(PAPER).shapes if isinstance(each, Disc)][KEY:]
    whole = max(each.radius for each in discs)
    drawn = {
        (each.fill, round(9 * (each.radius / whole) ** 2)): sum(
            (other.fill, other.radius) == (each.fill, each.radius) for other in discs
        )
        for each in discs
    }
    # 3, 7 and 34 of 44 rows; 10 and 3,990 of 4,000: their areas are the counts
    assert drawn == {
        ("discriminatory", 3): 1,
        ("series 0", 7): 1,
        ("series 0", 9): 1,
        ("series 0", 1): 1,
        ("ground", 9): 3 + 443,
        ("ground", 7): 1,
        ("ground", 3): 1,
    }


def test_rows_that_are_not_compared_are_not_called_unchanged():
    group = (Changing("sex = male", 12, 5, 3, 1),)
    keys = [
        [each.text for each in People(group, partly=partly).lay_out(PAPER).shapes[5:6]]
        for partly in (False, True)
    ]
    assert keys == [["unchanged"], ["unchanged or not compared"]]


def test_groups_are_those_of_the_shares_of_single_attributes(tmp_path):
    with people_store(tmp_path, ("sex",)) as store:
        made = people_of(store.spec, [ROWS], [TABLE])
        assert people_of(store.spec, [], [TABLE]).empty
        assert people_of(store.spec, [ROWS], []).empty
    said = plain(made.alt())
    assert "Women, other sex: 3 of 157 selected would lose, 1 of 2,278 others gain" in said
    assert made.rows_per_dot == 7
