"""The methods of other kinds that stand beside a repair, on real models."""

import sys

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from fairdesk.mitigate.methods import comparators, repairs
from fairdesk.mitigate.options import AequitasRepairOptions
from fairdesk.results.events import Measured
from tests.mitigate import making
from tests.mitigate.scripted import Model, Script, play

SAME = Model()
FEW = {"rows": 900, "drawn": 500}


def repaired(mitigation, **more):
    options = AequitasRepairOptions(compare="all", certify=0.0, people=1_000, most=1.0, **more)
    rng = np.random.default_rng(0)
    events = list(repairs.aequitas(mitigation, mitigation.rows, options, rng))
    figures = [each for each in events if isinstance(each, Measured)][-1].figures
    return figures[0], {each.name or each.kind: each for each in figures[1:]}


def measured(trial, what, rows="test", of=""):
    (found,) = (m for m in trial.measures if (m.what, m.rows, m.of) == (what, rows, of))
    return found.estimate


@pytest.fixture(scope="module", autouse=True)
def _briefly():
    """Let the reduction go on for a few rounds only, and write no files."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparators, "MOST_ROUNDS", 3)
        patch.setattr("fairdesk.mitigate.methods.trial_runner.save", lambda *_: ())
        yield


@pytest.fixture(scope="module")
def told(tmp_path_factory, _briefly):
    return repaired(making.mitigation(tmp_path_factory.mktemp("others"), **FEW))


def test_weights_make_label_and_group_independent():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 500)
    target = (rng.random(500) < 0.2 + 0.3 * group).astype(np.int64)
    weights = comparators.reweighed(group, target)
    rates = [np.average(target[group == each], weights=weights[group == each]) for each in range(3)]
    assert rates == pytest.approx([target.mean()] * 3)
    assert weights.mean() == pytest.approx(1)


def test_groups_are_those_of_all_protected_attributes_together(tmp_path):
    made = making.mitigation(tmp_path, protected=("sex", "race"), **FEW)
    rows = made.usable
    group = comparators.joint_groups(made, rows)
    assert group.max() == 5
    for each in range(6):
        assert len(np.unique(made.groups[rows[group == each]], axis=0)) == 1


def test_reweighing_narrows_the_gap(told):
    _, trials = told
    gap = {
        name: measured(trial, "rate_gap", of="sex")
        for name, trial in trials.items()
        if trial.measures
    }
    assert gap["Reweighing"] < gap["retrained"] - 0.1


def test_the_reduction_narrows_the_gap(told):
    repair, trials = told
    assert "all of them vote" in repair.notes[-1] or "all of them vote" in repair.notes[-2]
    reduced = trials["Exponentiated gradient"]
    assert not reduced.failed
    gaps = [measured(each, "rate_gap", of="sex") for each in (reduced, trials["retrained"])]
    assert gaps[0] < gaps[1] - 0.1


def test_none_of_them_is_chosen(told):
    repair, trials = told
    assert repair.chosen not in {
        trials[name].number for name in (comparators.REWEIGHING, comparators.REDUCTIONS)
    }


def test_the_remover_says_that_it_needs_numbers(told):
    _, trials = told
    assert (
        "It needs numbers, and this model takes categories" in trials["Correlation remover"].failed
    )
    assert trials["Correlation remover"].measures == ()


def test_the_remover_narrows_the_gap(tmp_path, monkeypatch):
    data = making.people(900)
    data["sex"] = (data["sex"] == "male").astype(int)
    data = data[["age", "hours", "sex", making.LABEL]]
    monkeypatch.setattr(making, "NAMES", ["sex"])
    monkeypatch.setattr(making, "pipeline", lambda _: LogisticRegression(max_iter=1_000))
    _, trials = repaired(making.mitigation(tmp_path, data=data, drawn=500))
    assert not trials["Correlation remover"].failed
    before, after = (
        measured(trials[name], "rate_gap", of="sex")
        for name in ("retrained", "Correlation remover")
    )
    assert before > 0.2
    assert after < before / 2


def test_where_fairlearn_is_missing_the_rest_goes_on(tmp_path, monkeypatch):
    for name in ("fairlearn.reductions", "fairlearn.preprocessing"):
        monkeypatch.setitem(sys.modules, name, None)
    _, trials = repaired(making.mitigation(tmp_path))
    assert not trials["Reweighing"].failed
    for name in (comparators.REDUCTIONS, comparators.REMOVER):
        assert "The model’s environment does not contain fairlearn" in trials[name].failed


def test_three_classes_are_too_many_for_the_reduction(tmp_path):
    _, trials = repaired(making.mitigation(tmp_path, classes=3, **FEW))
    assert "two classes only" in trials["Exponentiated gradient"].failed
    assert trials["Reweighing"].measures


def test_nothing_stands_beside_where_it_is_not_asked_for(monkeypatch, mitigation):
    told = play(monkeypatch, mitigation, Script([SAME] * 8))
    assert "other" not in {each.kind for each in told.trials}


def test_reweighing_is_trained_on_the_training_rows_alone(monkeypatch, mitigation):
    told = play(
        monkeypatch, mitigation, Script([SAME] * 9), AequitasRepairOptions(compare="reweighing")
    )
    last = told.trials[-1]
    assert (last.kind, last.name, last.verdict) == ("other", "Reweighing", "")
    training_set = told.script.lessons[-1]
    assert len(training_set.rows) == len(training_set.weights) == 1_000


def test_told_to_end_nothing_stands_beside(monkeypatch, mitigation):
    script = Script([SAME] * 8, winding=3)
    told = play(monkeypatch, mitigation, script, AequitasRepairOptions(compare="reweighing"))
    assert "other" not in {each.kind for each in told.trials}


def test_told_to_end_the_reduction_is_left(tmp_path, monkeypatch):
    made = making.mitigation(tmp_path, **FEW)
    options = AequitasRepairOptions(compare="all", certify=0.0, people=1_000, most=1.0)
    told = []
    for event in repairs.aequitas(made, made.rows, options, np.random.default_rng(0)):
        told.append(event)
        if event.phase == "comparing" and isinstance(event, Measured):
            made.request_finish()
    figures = [each for each in told if isinstance(each, Measured)][-1].figures
    assert [each.name for each in figures[1:] if each.kind == "other"] == ["Reweighing"]
