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
    found = fills(People((Changing("sex = male", 12, 3, 1),)))
    assert len(found) == 12
    assert found[:4] == ["discriminatory"] * 3 + ["series 0"]
    assert set(found[4:]) == {"ground"}


def test_of_many_rows_a_dot_stands_for_several_and_one_that_changes_is_seen():
    found = fills(People((Changing("sex = male", 4_000, 1, 0),), 10))
    assert len(found) == 400
    assert found.count("discriminatory") == 1


def test_groups_are_those_of_the_shares_of_single_attributes(tmp_path):
    with people_store(tmp_path, ("sex",)) as store:
        made = people_of(store.spec, [ROWS], [TABLE])
        assert people_of(store.spec, [], [TABLE]).empty
        assert people_of(store.spec, [ROWS], []).empty
    said = plain(made.alt())
    assert "Women, when only sex changes: of 2,435, 3 would lose" in said
    assert made.rows_per_dot == 5
