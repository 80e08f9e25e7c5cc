"""Proven shares, wherever they are written: rounded down, and upper bounds up."""

from fractions import Fraction

import pytest

from fairdesk.audit.store.records import RunState
from fairdesk.charts.kinds.proof import Spaces, space_of
from fairdesk.data.formats.reading import read_table
from fairdesk.document import proofs
from fairdesk.document.blocks import Chart, Grid
from fairdesk.results.individual import Share
from fairdesk.results.mitigation import Measure
from fairdesk.results.proofs import Estimated, PairShare, Proven, Region, exactly, percent_digits
from fairdesk.wording import figures, trials
from fairdesk.wording import proofs as proof_words
from tests.charts.reading import PAPER, texts
from tests.report.building import spec_of, write_people

#: Rounded to the nearest, 66.08, 12.35 and 21.58 %: more than is proven, and less than is left.
CERTIFIED, FALSIFIED = 0.660799, 0.123479
DOWN, UNLIKE, LEFT = "66.07", "12.34", "21.58"
MORE = ("66.08", "66.1", "12.35", "21.57", "21.5 ")
PROVEN = Proven(
    *("domain", ("sex",), CERTIFIED, FALSIFIED, 0.215722),
    course=((1.0, 0.1, 0.0), (2.0, CERTIFIED, FALSIFIED)),
    estimated=Estimated(100, 9, 0.1, 0.3, 0.95, 0.2, CERTIFIED, FALSIFIED),
)
PAIR = PairShare(("sex",), (0.0,), (1.0,), FALSIFIED, CERTIFIED)


@pytest.fixture
def spec(tmp_path):
    write_people(tmp_path / "people.csv")
    return spec_of(read_table(tmp_path / "people.csv"), "credit", "yes", ("sex", "age"))


@pytest.mark.parametrize("digits", [0, 2, 4])
@pytest.mark.parametrize("share", [0.29, 0.57, 0.7941, 0.660799, 1e-9, 0.0, 1.0, Fraction(2, 3)])
def test_digits_are_never_above_what_is_proven_nor_a_step_below_it(share, digits):
    down, up = (Fraction(percent_digits(share, digits, up=each)) / 100 for each in (False, True))
    assert down <= exactly(share) <= up
    assert up - down <= Fraction(1, 10 ** (digits + 2))
    assert (up == down) == (exactly(share) * 10 ** (digits + 2) % 1 == 0)


def test_no_sentence_rounds_a_proven_share_up(spec):
    said = (
        proof_words.proven_statement(PROVEN).sentence,
        proof_words.standing_of(PROVEN),
        trials.measure_text(Measure("certified", "", "domain", CERTIFIED, None, None, 1)),
    )
    assert all(DOWN in each or UNLIKE in each or LEFT in each for each in said)
    assert not [more for more in MORE for each in said if more in each]


def test_what_is_proven_to_the_end_is_rounded_down_too(spec):
    decided = Proven("domain", ("sex",), 2 / 3, 1 / 3, 0.0, "3", "2", "1", exact=True, boxes=1)
    searched = Share("domain", ("sex",), 3, 2, True, 0.95, *(5 * (2 / 3,)))
    assert "33.33" in proof_words.proven_statement(decided).sentence
    assert "66.66" in "".join(texts(Spaces((space_of(spec, decided),)).lay_out(PAPER)))
    assert "66.66" in figures.share_statement(spec, searched).sentence


def test_no_chart_and_no_table_rounds_a_proven_share_up(spec):
    region = Region("consistent", (), CERTIFIED, "1")
    exact = PairShare(("sex",), (0.0,), (1.0,), 2 / 3, 1 / 3, exact=True)
    run = RunState(1, "certify", "done", figures=(PROVEN, PAIR, exact, region))
    blocks = proofs.compose(spec, run, (run,), ())
    bars, _alone, course = (each.drawing for each in blocks if isinstance(each, Chart))
    assert [line.y[-1] for line in course.lines] == [66.07, 12.34, 21.58]
    grids = [each for each in blocks if isinstance(each, Grid)]
    cells = [cell for grid in grids for row in grid.rows for cell in row]
    shown = (*texts(bars.lay_out(PAPER)), bars.alt(), bars.summary(), *cells)
    assert not [(more, each) for more in MORE for each in shown if more in each]
    assert sum(DOWN in each for each in shown) >= 4
    assert "66.66" in "".join(cells)
