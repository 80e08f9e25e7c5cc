"""What a table of groups says, composed once for window and report."""

import msgspec
import pytest

from fairdesk.data.formats.reading import read_table
from fairdesk.document import groups
from fairdesk.document.blocks import Chart, Grid, Heading, Statement, Text
from fairdesk.results.groups import Bin
from tests.gui.counting import BOSTON, table
from tests.report.building import spec_of, write_people

FEW, SOME, MANY = (
    Bin(0.0, 0.5, 29, 0.1, 0.2),
    Bin(0.0, 0.5, 30, 0.2, 0.3),
    Bin(0.5, 1.0, 90, 0.7, 0.6),
)


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    data = read_table(write_people(tmp_path_factory.mktemp("groups") / "people.csv"))
    return spec_of(data, "credit", "yes", ("sex", "job"))


def keys(blocks):
    return [each.key for each in blocks if isinstance(each, Grid | Chart)]


def test_a_table_says_its_figures_draws_them_and_states_the_lowest_ratio(spec):
    blocks = groups.compose(spec, table(of="decisions"))
    assert [type(each) for each in blocks] == [Grid, Chart, Statement, Heading, Grid]
    assert keys(blocks) == [f"{each}-decisions-yes-race" for each in ("rates", "forest", "against")]
    # with what is not there go its headings
    judged = table(
        of="decisions", positives=100, true_positives=50, negatives=90, false_positives=9
    )
    heads = [each.text for each in groups.compose(spec, judged) if isinstance(each, Heading)]
    assert heads == ["Comparison with the reference group", "Error rates"]


def test_on_paper_a_long_table_lists_the_lowest_rates_and_says_so(spec):
    counts = {(f"group {i}",): (100, i) for i in range(50)}
    long = table(counts, of="decisions")
    listed = groups.rates(spec, long)
    assert len(listed.rows) == groups.LISTED
    assert [row[0] for row in listed.rows[:2]] == ["group 0", "group 1"]
    assert listed.note.startswith("the 40 of 50 groups with the lowest rates; all are in the file")
    assert len(groups.compose(spec, long)[0].rows) == 50


def test_marks_of_a_grid_are_explained_where_there_are_some(spec):
    counted = table(of="decisions")
    below, *others = counted.lines
    assert "▽ below the four-fifths threshold" in groups.rates(spec, counted).note
    assert "‡" not in groups.rates(spec, counted).note
    flips = msgspec.structs.replace(below, below=False, flips=True)
    marked = groups.rates(spec, msgspec.structs.replace(counted, lines=(flips, *others)))
    assert marked.note == "‡ one selected more or fewer would change this"
    assert marked.rows[0][-1] == "0.74‡"


def test_where_no_two_groups_can_be_compared_that_is_said_without_a_number(spec):
    alone = table({("Black",): (197, 133)}, of="decisions")
    said = groups.statement(spec, alone)
    assert isinstance(said, Text)
    assert said.lead == "By race."


def test_calibration_has_curves_with_intervals_of_groups_that_are_compared():
    scores = table({**BOSTON, ("Asian",): (9, 4)}, of="scores", calibration=(SOME, MANY))
    (chart,) = groups.calibration(scores)
    *curves, ideal = chart.drawing.lines
    assert [line.name for line in curves] == ["White", "Black", "Hispanic"]
    assert ideal.name == "perfect calibration"
    assert curves[0].y.tolist() == pytest.approx([30.0, 60.0])
    assert curves[0].low[0] < 30 < curves[0].high[0]
    assert "1 group that is small or not compared has no curve" in chart.caption
    assert "omitted" not in chart.caption
    assert chart.alt.count("largest difference at a mean score of") == 3


def test_calibration_counts_the_bins_of_few_rows_that_it_leaves_out():
    (chart,) = groups.calibration(table(of="scores", calibration=(FEW, MANY)))
    assert all(len(line.x) == 1 for line in chart.drawing.lines[:-1])
    assert "omitted: 3 bins with fewer than 30 rows (87 together)" in chart.caption
    assert not groups.calibration(table(of="scores", calibration=(FEW,)))
    assert not groups.calibration(table())


def test_the_largest_groups_have_curves():
    counts = {(f"group {i}",): (100 + i, 50) for i in range(9)}
    (chart,) = groups.calibration(table(counts, of="scores", calibration=(MANY,)))
    assert [line.name for line in chart.drawing.lines[:2]] == ["group 8", "group 7"]
    assert len(chart.drawing.lines) == 7
    assert "3 groups that are small or not compared have no curve" in chart.caption
