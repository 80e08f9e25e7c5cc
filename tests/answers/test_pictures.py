"""The small charts beside the answers."""

import msgspec
import pytest

from fairdesk.answers import pictures
from fairdesk.data.formats.reading import read_table
from fairdesk.results.conditions import Condition
from tests.report.building import spec_of, write_people
from tests.wording.test_about_groups import MINED, RULE

CHANCE = msgspec.structs.replace(RULE, conditions=(Condition("sex", codes=(0.0,)),), p=0.4)


@pytest.mark.parametrize(("found", "drawn"), [((CHANCE, RULE), (RULE,)), ((CHANCE,), (CHANCE,))])
def test_gaps_that_may_be_chance_are_drawn_only_where_there_are_no_others(tmp_path, found, drawn):
    spec = spec_of(read_table(write_people(tmp_path / "people.csv")), "credit", "yes", ("sex",))
    chart = pictures.gaps(spec, (MINED, *found))
    alone = pictures.gaps(spec, (MINED, *drawn))
    assert [gap.name for gap in chart.gaps] == [gap.name for gap in alone.gaps]
    assert len(chart.gaps) == 1
