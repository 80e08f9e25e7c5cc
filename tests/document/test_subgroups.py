"""What is said of subgroups, composed once for window, report and terminal."""

import msgspec
import pytest

from fairdesk.audit.store.records import RunState
from fairdesk.data.formats.reading import read_table
from fairdesk.document import subgroup, subgroups
from fairdesk.document.blocks import Grid, Heading, Statement, Text
from fairdesk.results.proofs import Condition
from fairdesk.wording.groups.findings import Finding, findings
from fairdesk.wording.groups.subgroups import widest_statement
from tests import phrases
from tests.gui import counting
from tests.gui.group_figures import (
    DOUBTED,
    ELDERS,
    FEMALE,
    FIGURES,
    GAP,
    LINEAR,
    MINED,
    OLD,
    VARIANTS,
    WORST,
    YOUNG,
    rule_set,
)
from tests.report.building import spec_of, write_people

SETS = FIGURES[1:]
MALE_LOW, FEMALE_LOW = {("male",): (900, 450)}, {("female",): (300, 90)}


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    data = read_table(write_people(tmp_path_factory.mktemp("groups") / "people.csv"))
    return spec_of(data, "credit", "yes", ("sex", "age"), classes=("no", "yes"))


def run_of(*figures, method="testsgd"):
    return RunState(3, method, "done", figures=figures)


def rates(counts):
    return (msgspec.structs.replace(counting.table(counts, of="decisions"), attributes=("sex",)),)


def plain(text):
    return text.replace("\u00a0", " ")


def grids(blocks):
    return {each.key: each for each in blocks if isinstance(each, Grid)}


def low_rate(rows, rate, *conditions):
    return rule_set(conditions or (OLD, FEMALE), rate, 0.6, rows=rows, data_in=rate, data_out=0.6)


def test_a_subgroup_below_every_group_of_the_tables_leads(spec):
    tables = rates(MALE_LOW | FEMALE_LOW)
    run = run_of(MINED, low_rate(240, 0.05))
    said = subgroups.added(spec, run, tables)
    assert said.value == "5.0\u00a0%"
    sentence = plain(said.sentence)
    assert "is 5.0 % (n = 240, 95 % CI 2.9 to 8.5 %)" in sentence
    assert "the lowest there is 30.0 % (women)" in sentence
    # what a table of several attributes shows already is nothing new
    line = msgspec.structs.replace(tables[0].lines[0], values=("female", "yes"), rate=0.06)
    both = msgspec.structs.replace(tables[0], attributes=("sex", "job"), lines=(line,))
    assert not subgroups.added(spec, run, (*tables, both)).value
    (first, *_) = subgroups.compose(spec, run, tables, {})
    assert first.sentence == said.sentence
    (caveat,) = first.details
    assert caveat.endswith("the lowest of 1,590 subgroups, so the true rate may be higher.")
    alone = run_of(msgspec.structs.replace(MINED, rule_sets=1), low_rate(240, 0.05))
    assert subgroups.opening(spec, alone, tables).details == ()


def test_of_the_widest_gap_what_is_counted_stands_large(spec):
    said = subgroups.opening(spec, run_of(*FIGURES), ())
    whole = widest_statement(spec, MINED, WORST)
    assert said.sentence == whole.brief
    assert (*said.details,) == (whole.sentence.removeprefix(whole.brief).lstrip(),)
    assert said.evidence == "observed"


@pytest.mark.parametrize(
    ("found", "lowest"),
    [
        # it may be as low by chance, it is higher, or no gap is significant
        ((low_rate(12, 0.25),), "25.0 %"),
        ((low_rate(240, 0.4),), "40.0 %"),
        ((rule_set((OLD,), 0.55, 0.6, p=0.4),), ""),
        ((), ""),
    ],
)
def test_where_subgroups_add_nothing_that_is_said_without_a_value(spec, found, lowest):
    said = subgroups.added(spec, run_of(MINED, *found), rates(MALE_LOW | FEMALE_LOW))
    assert said.value == ""
    first = f"None of the {MINED.rule_sets:,} subgroups tested is shown to have a lower selection"
    if lowest:
        first = f"The lowest rate with a significant gap of the {MINED.rule_sets:,} subgroups"
        assert f"tested, {lowest} (age 60 and over, sex = female), is not" in plain(said.sentence)
    assert said.sentence.startswith(first)
    assert plain(said.sentence).endswith(
        "women (30.0 %), the lowest of the groups that are compared."
    )


@pytest.mark.parametrize(
    ("mined", "tables"),
    [
        (MINED, ()),
        (msgspec.structs.replace(MINED, outcome=""), rates(MALE_LOW)),
        (msgspec.structs.replace(MINED, texts=40), rates(MALE_LOW)),
    ],
)
def test_without_rates_to_compare_with_the_widest_gap_leads(spec, mined, tables):
    worst = msgspec.structs.replace(WORST, outcome=mined.outcome)
    assert subgroups.added(spec, run_of(mined, worst), tables) is None


def test_small_groups_are_not_what_a_subgroup_is_compared_with(spec):
    (table,) = rates(MALE_LOW | FEMALE_LOW)
    excluded = tuple(
        msgspec.structs.replace(each, excluded=each.values == ("female",)) for each in table.lines
    )
    left = msgspec.structs.replace(table, lines=excluded)
    said = subgroups.added(spec, run_of(MINED, low_rate(240, 0.4)), (left,))
    assert said.value == "40.0\u00a0%"
    assert "(men)" in said.sentence


def test_the_lowest_rate_comes_first_then_significant_gaps_then_the_others(spec):
    favoured = rule_set((YOUNG,), 0.95, 0.2)
    chance = rule_set((FEMALE,), 0.5, 0.55, p=0.4)
    found = findings(spec, (favoured, WORST, *VARIANTS, chance, ELDERS))
    assert [each.rule_set for each in found] == [WORST, favoured, ELDERS, chance]
    # their leaders are by place
    assert [len(each.similar) for each in found] == [0, 2, 0, 0]


def test_one_whose_leader_was_not_kept_stands_for_itself(spec):
    lost = msgspec.structs.replace(ELDERS, leader=900)
    assert findings(spec, (lost,)) == (Finding(lost),)


def test_a_list_explains_its_marks(spec):
    chance = rule_set((FEMALE,), 0.5, 0.55, p=0.4)
    grid = subgroups.listed(spec, MINED, findings(spec, (*SETS, chance)))
    gaps = {row[0]: row[4] for row in grid.rows}
    assert gaps["age 29 and under, sex = male"] == "−1.0†"
    assert gaps["sex = female"] == "−1.0?"
    assert "†: the data rows do not show the gap in the copies" in grid.note
    assert f"?: {phrases.NOT_SIGNIFICANT} (corrected p above 0.05)" in grid.note
    assert phrases.ONE_OF_SIMILAR in grid.note
    clear = subgroups.listed(spec, MINED, findings(spec, (ELDERS,)))
    assert clear.caption.startswith("Subgroups with a")
    assert "†" not in clear.note
    assert "?" not in clear.note


def test_on_paper_significant_gaps_are_listed_and_all_on_demand(spec):
    chance = rule_set((FEMALE,), 0.5, 0.55, p=0.4)
    blocks = subgroups.compose(spec, run_of(MINED, *SETS, chance), (), {})
    held = grids(blocks)
    assert [row[0] for row in held["rules-3-1"].rows] == [
        "age 60 and over, sex = female",
        "age 60 and over",
        "age 29 and under, sex = male",
    ]
    every = held["all-rules-3-1"]
    assert every.optional
    assert len(every.rows) == len(SETS) + 1
    assert every.header[-1] == "Corrected p"
    # nothing that is quoted is below a heading of the appendix
    places = [place for place, each in enumerate(blocks) if isinstance(each, Heading)]
    assert all(blocks.index(held[key]) < min(places) for key in ("rules-3-1",))


def test_rules_of_terms_have_no_heads_of_rows(spec):
    mined = msgspec.structs.replace(MINED, texts=40, attributes=("gender",))
    term = rule_set((Condition("gender", term="gay"),), 0.2, 0.7, holds_on_data=None)
    grid = subgroups.listed(spec, mined, (Finding(term),))
    assert grid.header == ("Term", "Texts", "With it", "With other terms", *grid.header[4:])
    assert len(grid.header) == 6
    known = msgspec.structs.replace(term, holds_on_data=True)
    assert len(subgroups.listed(spec, mined, (Finding(known),)).header) == 7


def test_what_other_methods_found_is_listed(spec):
    blocks = subgroups.compose(spec, run_of(GAP, method="themis-groups"), (), {})
    assert isinstance(blocks[0], Statement)
    assert grids(blocks)["gaps-3"].rows[0][1::2] == ("31.2\u00a0%", "24.1\u00a0%", "6.0 to 8.2")
    lines = run_of(LINEAR, msgspec.structs.replace(LINEAR, support=0.2), method="fairfictplay")
    blocks = subgroups.compose(spec, lines, (), {})
    assert [type(each) for each in blocks] == [Statement, Text]


def test_every_minimum_support_is_listed_unless_all_have_one_result(spec):
    (grid,) = subgroups.supports(spec, MINED)
    assert [row[1] for row in grid.rows] == ["1,590", "720", "110"]
    same = tuple(msgspec.structs.replace(MINED.sweep[0], theta=each) for each in (0.05, 0.2))
    (said,) = subgroups.supports(spec, msgspec.structs.replace(MINED, sweep=same))
    assert plain(said.text).startswith(phrases.ANY_SUPPORT.format("5 %", "20 %"))
    assert subgroups.supports(spec, msgspec.structs.replace(MINED, sweep=())) == []


# One subgroup


def texts(blocks):
    return [plain(each.text) for each in blocks if isinstance(each, Text)]


def test_one_subgroup_has_its_rates_its_neighbours_and_similar_ones(spec):
    (found, *_) = findings(spec, SETS)
    blocks = subgroup.detail(spec, MINED, found)
    held = grids(blocks)
    assert list(held) == ["sides", subgroup.AROUND, subgroup.SIMILAR]
    assert plain(held["sides"].rows[0][2]) == "22.7 %"
    assert len(held[subgroup.SIMILAR].rows) == 2
    assert len(held[subgroup.AROUND].rows) == len(subgroup.steps(found.rule_set)) == 4
    (said,) = texts(blocks)
    assert said.startswith("The gap depends most on age 60 and over")
    assert "Without the condition on sex it is" in said


def test_on_which_condition_a_gap_depends_is_said_only_where_it_is_known(spec):
    for unknown in (ELDERS, DOUBTED):
        assert texts(subgroup.around(spec, unknown)) == []
    alike = tuple(msgspec.structs.replace(each, score=0.61) for each in WORST.broader)
    (said,) = texts(subgroup.around(spec, msgspec.structs.replace(WORST, broader=alike)))
    assert said.startswith("No single condition explains the gap")


def test_mean_scores_are_no_shares(spec):
    mined = msgspec.structs.replace(MINED, outcome="")
    scores = msgspec.structs.replace(WORST, outcome="")
    sides = grids(subgroup.detail(spec, mined, Finding(scores)))["sides"]
    assert sides.caption == "Mean scores"
    assert sides.rows[0][2:] == ("0.227", "–", "1,000", "0.207")


def test_rates_in_texts_are_of_the_same_texts_and_of_enough_original_ones(spec):
    mined = msgspec.structs.replace(MINED, texts=40, attributes=("gender",))
    few = rule_set((Condition("gender", term="queer"),), 0.2, 0.7, holds_on_data=None)
    for known, last in ((few, "–"), (msgspec.structs.replace(few, holds_on_data=True), "22.0 %")):
        sides = grids(subgroup.detail(spec, mined, Finding(known)))["sides"]
        assert [row[0] for row in sides.rows] == ["With it", "With other terms"]
        assert plain(sides.rows[0][-1]) == last
