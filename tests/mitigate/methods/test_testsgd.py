"""TestSGD's mitigation: which amounts are tried, and which is chosen."""

import numpy as np
import pytest

from fairdesk.errors import SpecError
from fairdesk.mitigate.methods import repairs
from fairdesk.mitigate.options import TestSgdRepairOptions
from tests import phrases
from tests.mitigate.scripted import TRAIN, Model, Script, play

SAME = Model()
OPTIONS = TestSgdRepairOptions(compare="none", least=10, most=10.0)


def run(monkeypatch, mitigation, *models, options=OPTIONS, **more):
    made = Script([SAME, SAME, *models], **more)
    return play(monkeypatch, mitigation, made, options, repairs.testsgd)


def test_amounts_double_up_to_the_greatest():
    assert repairs.amounts(50, 450) == [50, 100, 200, 400, 450]
    assert repairs.amounts(50, 400) == [50, 100, 200, 400]
    assert repairs.amounts(50, 30) == [30]


def test_all_amounts_are_tried(monkeypatch, mitigation):
    told = run(monkeypatch, mitigation, *[Model(0.3)] * 5)
    assert [each.added for each in told.portions] == [10, 20, 40, 80, TRAIN // 10]
    assert told.verdicts == ["worse"] * 5
    assert told.repair.chosen == -1
    assert told.repair.ended == phrases.ALL_PORTIONS.format(rows=f"{told.portions[-1].added:,}")
    assert told.repair.target == "rule_score"


def test_the_lowest_of_those_that_help_is_chosen(monkeypatch, mitigation):
    shares = (0.19, 0.15, 0.1, 0.09, 0.14)
    told = run(monkeypatch, mitigation, *map(Model, shares))
    assert told.verdicts == ["open", "better", "better", "open", "worse"]
    assert told.repair.chosen == 5


def test_one_that_costs_too_much_is_not_chosen(monkeypatch, mitigation):
    models = [SAME, Model(0.1), Model(0.05, 0.7), SAME, SAME]
    told = run(monkeypatch, mitigation, *models)
    assert told.verdicts[2] == "costly"
    assert told.repair.chosen == 3


def test_two_failures_in_a_row_end_it(monkeypatch, mitigation):
    broken = Model(fails="It ran away.")
    told = run(monkeypatch, mitigation, broken, Model(0.1), broken, broken)
    assert len(told.portions) == 4
    assert told.repair.chosen == 3
    assert told.repair.ended == f"2 {phrases.UNTRAINED_IN_A_ROW} It ran away."


def test_what_there_is_is_added(monkeypatch, mitigation):
    told = run(monkeypatch, mitigation, *[SAME] * 5, rows=30)
    assert [each.added for each in told.portions] == [10, 20, 30]
    assert told.repair.ended.startswith("All 30 available")


def test_too_few_samples_are_refused(monkeypatch, mitigation):
    with pytest.raises(SpecError) as caught:
        run(monkeypatch, mitigation, SAME, rows=9)
    assert "Reduce the minimum samples" in caught.value.remedy


def test_told_to_end_it_keeps_what_is_known(monkeypatch, mitigation):
    told = run(monkeypatch, mitigation, Model(0.1), SAME, winding=3)
    assert len(told.trials) == 3
    assert told.repair.chosen == 2
    assert np.all([each.trial == 2 for each in told.files])
