"""What a run certifies, composed once for window, report and terminal: every number is true."""

import msgspec
import pytest

from fairdesk.answers import PairsOf
from fairdesk.audit.store.records import RunState
from fairdesk.document import proofs
from fairdesk.document.blocks import Chart, Grid, Heading, Statement, Text
from fairdesk.results.individual import Share
from fairdesk.results.proofs import (
    Condition,
    Estimated,
    GroupRate,
    NeighbourhoodCounts,
    PairShare,
    Proven,
    ProvenRates,
    Region,
)
from fairdesk.wording import figures
from fairdesk.wording import proofs as proof_words
from fairdesk.wording.proofs import NOT_MEANT
from tests import phrases
from tests.report.building import people_store
from tests.wording.test_about_groups import TABLE

replace = msgspec.structs.replace
BOTH = ("sex", "job")
TOTAL = 12_345_678_901_234_567_890
CONSISTENT, DISCRIMINATORY = 11_102_469_035_880_246_904, 851_851_844_185_185_185
DOMAIN = Proven(
    *("domain", BOTH, 0.8993, 0.069, 0.0317, str(TOTAL), str(CONSISTENT), str(DISCRIMINATORY)),
    boxes=1_234_567,
    seconds=61.0,
    margin=1.3e-5,
    estimated=Estimated(10_000, 4_100, 0.40, 0.42, 0.95, 0.41),
    course=((1.0, 0.2, 0.0), (20.0, 0.7, 0.000159), (60.0, 0.8993, 0.069)),
    notes=("Of the constraints one could not be decided on boxes.",),
)
PEOPLE = Proven("people", BOTH, 0.9712, 0.0211, 0.0077)
DATA = Share("data", BOTH, 190, 7, True, 0.95, *(5 * (7 / 190,)))
ALONE = Proven("domain", ("sex",), 0.95, 0.03, 0.02)
NEAR = PairShare(BOTH, (0.0, 0.0), (1.0, 0.0), 0.031, 0.95)
EXACT_PAIR = PairShare(BOTH, (0.0, 1.0), (1.0, 3.0), 0.06, 0.94, exact=True)
FIGURES = (
    *(DOMAIN, DATA, ALONE, NEAR, EXACT_PAIR),
    Region(
        "discriminatory",
        (Condition("age", low=25.0), Condition("debts", high=4.0)),
        *(0.0412, str(TOTAL // 24), 0.013),
    ),
    Region("consistent", (Condition("income", low=40.5, high=80.0),), 0.61, str(TOTAL // 2), 0.4),
)
RATES = ProvenRates(
    "sex", (GroupRate(0.0, 0.1093, 0.12099, 0.4), GroupRate(1.0, 0.3011, 0.3102, 0.6)), 0.3512, 0.4
)
AROUND = NeighbourhoodCounts(BOTH, 190, 150, 30, 10, 1, 0.1, flipped=12, margin=1e-6)


def plain(text):
    return text.replace("\u00a0", " ")


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    with people_store(tmp_path_factory.mktemp("proofs"), BOTH) as store:
        return store.spec


@pytest.fixture
def composed(spec):
    """Make the blocks of a run with these figures."""

    def made(*measured, tables=(), runs=(), **state):
        run = RunState(**{"id": 2, "method": "certify", "state": "done", **state}, figures=measured)
        return proofs.compose(spec, run, (*runs, run), tables)

    return made


def under(blocks):
    """Return the blocks by the headings that they are below; before the first one by nothing."""
    found, name = {"": []}, ""
    for block in blocks:
        if isinstance(block, Heading):
            assert block.appended
            name = block.text
        else:
            found.setdefault(name, []).append(block)
    return found


def only(blocks, kind, key=""):
    (found,) = (each for each in blocks if isinstance(each, kind) and each.key.startswith(key))
    return found


def statements(blocks):
    return [each for each in blocks if isinstance(each, Statement)]


def test_a_run_says_what_is_proven_draws_it_and_has_the_rest_under_headings(composed):
    said = under(composed(*FIGURES))
    assert list(said) == [
        *("", phrases.EACH_ALONE, phrases.PAIRS_OF_VALUES, phrases.LARGEST_REGIONS),
        phrases.HOW_CERTIFIED,
    ]
    assert [type(each) for each in said[""]] == [Statement, Statement, Chart, Text]
    assert not any(each.optional for each in said[""] if isinstance(each, Chart))


def test_what_is_proven_and_what_is_estimated_stand_apart(composed):
    proven, estimated = statements(composed(*FIGURES))
    assert (proven.number, proven.evidence) == ("At least 89.93\u00a0%", "proven")
    assert proven.sentence == proof_words.proven_statement(DOMAIN).sentence
    assert "estimated" not in " ".join((proven.sentence, *proven.details))
    assert (estimated.number, estimated.evidence) == ("41.0\u00a0%", "estimated")
    # an estimate is drawn in the undecided share, and is not marked as proven
    assert only(composed(*FIGURES), Chart, "bars-2").evidence == ""
    assert only(composed(replace(DOMAIN, estimated=None)), Chart, "bars-2").evidence == "proven"


def test_of_none_found_among_those_drawn_there_is_a_bound(composed):
    none = replace(DOMAIN, estimated=Estimated(1_000, 0, 0.0, 0.0037, 0.95, 0.0))
    _, bound = statements(composed(none))
    assert plain(bound.number) == "At most 0.37 %"
    assert "from 1,000 combinations" in bound.sentence


def test_where_nothing_is_proven_nothing_is_marked_as_proven(composed):
    nothing = replace(
        DOMAIN, certified_people="0", falsified_people="0", estimated=None, course=DOMAIN.course[:1]
    )
    blocks = composed(nothing, state="stopped")
    assert not statements(blocks)
    assert blocks[0].text.startswith(phrases.NOTHING_PROVEN)
    assert phrases.STOPPED in blocks[0].text


def test_a_model_that_cannot_be_looked_into_is_estimated_and_says_so(composed):
    share = replace(DATA, whom="domain", exhaustive=False, low=0.01, high=0.06)
    blocks = composed(replace(share, opaque="it accepts text"))
    (said,) = statements(blocks)
    assert said.evidence == "estimated"
    assert f"{phrases.NOT_CERTIFIED}: the model’s internal structure" in said.sentence
    assert "(it accepts text)" in said.sentence
    (bar,) = only(blocks, Chart).drawing.bars
    assert (bar.certified, bar.falsified, bar.guess.share) == (0, 0, share.estimate)
    assert not any("certificate" in each.text for each in blocks if isinstance(each, Text))


def test_rows_with_their_neighbours_have_a_bar_and_say_what_that_is_not(composed):
    blocks = composed(AROUND)
    (said,) = statements(blocks)
    assert (said.number, said.evidence) == ("150 of 190 applicants", "proven")
    assert NOT_MEANT in said.details
    assert "78.9\u00a0% unchanged" in only(blocks, Chart, "bars-2").alt
    assert "0.000001" in under(blocks)[phrases.HOW_CERTIFIED][0].text


def test_the_population_comes_before_the_combinations(spec, composed):
    said = under(composed(*FIGURES, PEOPLE, RATES))
    (proven,) = statements(said[""])
    assert proven.number == "At least 2.11\u00a0%"
    assert phrases.PROVABLY_CHANGES.format("2.11 %") in plain(proven.sentence)
    assert proof_words.population_note(spec) in proven.details
    assert "Input domain" not in only(said[""], Chart).alt
    combinations = said[phrases.ONLY_COMBINATIONS]
    assert [each.evidence for each in statements(combinations)] == ["proven", "estimated"]
    chart = only(combinations, Chart, "combinations-2")
    assert "Input domain" in chart.alt
    assert "not of people" in chart.caption
    # what follows for the impact ratio, too
    assert Text(proof_words.proven_ratio_sentence(RATES)) in said[""]


def test_bounds_of_rates_are_rounded_outwards_and_beside_those_observed(composed):
    grid = only(composed(*FIGURES, PEOPLE, RATES), Grid, "rates")
    assert grid.evidence == "proven"
    assert [tuple(map(plain, row)) for row in grid.rows] == [
        ("sex = female", "10.93 %", "12.10 %"),
        ("sex = male", "30.11 %", "31.02 %"),
    ]
    alone = replace(RATES, groups=RATES.groups[:1])
    assert not any(isinstance(each, Grid) for each in composed(DOMAIN, alone))


def test_a_population_that_does_not_fit_the_data_is_shown_nowhere(composed):
    blocks = composed(*FIGURES, PEOPLE, RATES, tables=(TABLE,))
    assert not any(isinstance(each, Grid) and "rates" in each.key for each in blocks)
    assert statements(blocks)[0].sentence == proof_words.proven_statement(DOMAIN).sentence
    text = plain(str(msgspec.to_builtins([each for each in blocks if not isinstance(each, Chart)])))
    assert "2.11 %" not in text
    assert "impact ratio" not in text
    assert not any("opulation" in each.alt for each in blocks if isinstance(each, Chart))


def test_an_attribute_alone_is_drawn_below_all_of_them_with_its_own_proof(composed):
    chart = only(composed(*FIGURES), Chart, "alone")
    together, alone = chart.drawing.bars
    assert (together.name, alone.name) == (
        "When only sex, job or both change",
        "When only sex changes",
    )
    assert (float(alone.certified), float(alone.falsified)) == (0.95, 0.03)
    # less is proven of it than of all together: of other combinations than these, so it stays
    worse = composed(DOMAIN, replace(ALONE, certified=0.5, undecided=0.47))
    assert float(only(worse, Chart, "alone").drawing.bars[1].certified) == 0.5
    assert "less may be proven" in under(worse)[phrases.EACH_ALONE][1].text


def test_where_pairs_of_an_attribute_are_known_its_bar_says_so(composed):
    none = (DOMAIN, replace(ALONE, falsified=0.0))
    search = RunState(1, "maft", "done", found=3, sufficient_alone=(3, 0))

    def name(*measured, **more):
        return only(composed(*measured, **more), Chart, "alone").drawing.bars[1].name

    assert name(*none) == "When only sex changes"
    assert name(*none, runs=(search,)) == "When only sex changes (pairs found)"
    assert name(DOMAIN, ALONE, runs=(search,)) == "When only sex changes"


def test_parts_of_charts_stand_for_the_pairs_that_are_known(spec):
    run = RunState(2, "certify", "done", found=7, sufficient_alone=(0, 7), figures=(DOMAIN, ALONE))
    charts = {
        each.key: proofs.pairs_behind(spec, (run,), each)
        for each in proofs.compose(spec, run, (run,), ())
        if isinstance(each, Chart)
    }
    assert charts["bars-2"] == (None, PairsOf(2), None)
    assert charts["alone-2"] == (None,) * 6
    assert charts["course-2"] == ()
    job = replace(run, figures=(DOMAIN, replace(ALONE, attributes=("job",))))
    alone = only(proofs.compose(spec, job, (job,), ()), Chart, "alone")
    assert proofs.pairs_behind(spec, (job,), alone)[3:] == (PairsOf(2, alone="job"),) * 3
    nobody = replace(run, found=0)
    bars = only(proofs.compose(spec, nobody, (nobody,), ()), Chart, "bars")
    assert proofs.pairs_behind(spec, (nobody,), bars) == (None,) * 3


def test_the_pairs_of_values_that_differ_most_come_first(composed):
    grid = only(composed(*FIGURES), Grid, "values")
    assert [tuple(map(plain, row)) for row in grid.rows] == [
        ("sex = female, job = cook", "sex = male, job = pilot", "6.00 %", "94.00 %", "0 %"),
        ("sex = female, job = clerk", "sex = male, job = clerk", "3.10 %", "95.00 %", "1.90 %"),
    ]
    assert not grid.note
    none = only(composed(DOMAIN, replace(NEAR, falsified=0.0)), Grid, "values")
    assert none.rows[0][2] == phrases.NONE_PROVEN
    assert "does not mean that there are none" in none.note


def test_the_regions_with_most_of_the_data_come_first_and_few_are_listed(composed):
    region = FIGURES[-2]
    nobody = [replace(region, share=0.2 + at / 100, population=0.0) for at in range(12)]
    grid = only(composed(DOMAIN, *nobody, region), Grid, "discriminatory")
    assert tuple(map(plain, grid.rows[0])) == (
        *("“age” ≥ 25 and “debts” ≤ 4", "4.12 %", "about 1.30 %"),
    )
    # one wording for a share that rounds to zero
    assert tuple(map(plain, grid.rows[1][1:])) == ("31.00 %", "below 0.01 %")
    assert len(grid.rows) == 10
    certified = only(composed(*FIGURES), Grid, "consistent")
    assert certified.rows[0][0] == "40.5 ≤ “income” ≤ 80"


def test_the_course_is_drawn_as_it_came_and_rounded_down(composed):
    drawing = only(composed(DOMAIN), Chart, "course").drawing
    assert [line.name for line in drawing.lines] == ["certified", "falsified", "undecided"]
    # also of a run that continued another: it did not begin with nothing
    assert [float(line.y[0]) for line in drawing.lines] == pytest.approx([20, 0, 80])
    assert [float(line.y[1]) for line in drawing.lines[:2]] == [70.0, 0.01]
    assert sum(float(line.y[-1]) for line in drawing.lines) == pytest.approx(100)
    assert drawing.y_title == "share of combinations"
    of_people = only(composed(replace(DOMAIN, of="people")), Chart, "course").drawing
    assert of_people.y_title == "share of the population"
    once = composed(replace(DOMAIN, course=DOMAIN.course[:1]))
    assert not any(isinstance(each, Chart) and "course" in each.key for each in once)


def test_rows_are_counted_here_where_no_other_run_counts_them(spec, composed):
    said = figures.share_statement(spec, DATA).sentence
    assert Text(said, lead="The applicants in the data.") in composed(*FIGURES)
    other = RunState(1, "estimate", "done", figures=(DATA,))
    assert not any(said in str(each) for each in composed(*FIGURES, runs=(other,)))


def test_how_it_was_certified_has_notes_rounding_and_how_it_is_verified(composed):
    _course, *said = under(composed(*FIGURES))[phrases.HOW_CERTIFIED]
    assert said[0].text == DOMAIN.notes[0]
    assert said[1].text.endswith("the model’s output by at most 0.000013.")
    assert "“fairdesk verify”" in said[2].text


def test_rules_of_what_it_covers_are_said_only_where_they_apply(spec):
    run = RunState(1, "certify", "done", figures=(DOMAIN,))
    _, whole = proofs.covers(spec, (run,))
    assert "all 8 permitted combinations of values of sex and job (28 pairs in all)" in whole.text
    assert "not of real people" in whole.text
    for said in ("has no comparison: it is neither", "certified for its other values"):
        assert said not in whole.text
    _, rows = proofs.covers(spec, (replace(run, figures=(AROUND,)),))
    assert "not of real people" not in rows.text
