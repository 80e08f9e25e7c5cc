"""The small charts beside the answers, and what their parts stand for."""

import msgspec
import pytest

from fairdesk.answers import PairsOf, Question
from fairdesk.audit.store.records import RunState
from fairdesk.data.formats.reading import read_table
from fairdesk.document import pictures
from fairdesk.document.answers import answers
from fairdesk.results.proofs import Condition
from tests.report.building import spec_of, write_people
from tests.wording.test_about_groups import MINED, RULE
from tests.wording.test_figures import PROVEN, SHARE

CHANCE = msgspec.structs.replace(RULE, conditions=(Condition("sex", codes=(0.0,)),), p=0.4)


@pytest.fixture
def spec(tmp_path):
    return spec_of(read_table(write_people(tmp_path / "people.csv")), "credit", "yes", ("sex",))


def run(*figures, found=0):
    return RunState(7, "estimate", "done", found=found, figures=figures)


@pytest.mark.parametrize(("found", "drawn"), [((CHANCE, RULE), (RULE,)), ((CHANCE,), (CHANCE,))])
def test_gaps_that_may_be_chance_are_drawn_only_where_there_are_no_others(spec, found, drawn):
    shown = pictures.gaps(spec, run(MINED, *found))
    assert shown == pictures.gaps(spec, run(MINED, *drawn))
    assert [part.conditions for part in shown.parts] == [each.conditions for each in drawn]


def test_the_subgroup_with_the_lowest_significant_rate_is_drawn_first(spec):
    lowest = msgspec.structs.replace(
        RULE, conditions=(Condition("sex", codes=(1.0,)),), phi_in=0.02, phi_out=0.18, leader=0
    )
    wide = msgspec.structs.replace(RULE, phi_in=0.4, phi_out=0.1)
    shown = pictures.gaps(spec, run(MINED, wide, lowest, CHANCE))
    assert [part.conditions for part in shown.parts] == [lowest.conditions, wide.conditions]


@pytest.mark.parametrize(
    ("share", "pairs"),
    [
        ({"whom": "data", "attributes": ("sex",)}, PairsOf(7, "sex", 0.0)),
        ({"whom": "domain", "attributes": ("sex", "race")}, PairsOf(7)),
    ],
)
def test_a_share_stands_for_its_pairs_where_its_run_found_some(spec, share, pairs):
    measured = msgspec.structs.replace(SHARE, **share)
    for found, parts in ((3, (pairs,)), (0, (None,))):
        assert pictures.shares(spec, [(run(measured, found=found), measured)]).parts == parts


def test_of_people_each_attribute_alone_is_drawn_and_nothing_else(spec):
    both = msgspec.structs.replace(SHARE, whom="data", attributes=("sex", "race"))
    alone = [
        msgspec.structs.replace(both, attributes=(name,), estimate=estimate)
        for name, estimate in (("sex", 0.01), ("race", 0.02))
    ]
    measured = run(SHARE, both, *alone, found=3)
    shown = pictures.shares_alone(spec, measured, both)
    assert [bar.name for bar in shown.chart.bars] == ["Any change", "sex alone", "race alone"]
    pairs = (PairsOf(7, None, 0.0), PairsOf(7, "sex", 0.0), PairsOf(7, "race", 0.0))
    assert shown.parts == pairs
    (answer,) = (each for each in answers(spec, [measured]) if each.question is Question.SHARE)
    assert answer.chart == shown.chart


def test_only_a_falsified_share_stands_for_pairs(spec):
    proven = run(PROVEN, found=3)
    shown = pictures.proof(spec, proven, proven.figures)
    assert shown.parts == tuple(
        PairsOf(7) if "falsified" in spot else None
        for spot in (bar.tip(*part) for bar in shown.chart.bars for part in bar.parts())
    )
    assert set(shown.parts) == {PairsOf(7), None}
    assert set(pictures.proof(spec, run(PROVEN), proven.figures).parts) == {None}
