"""Whole repairs of real models: what they bring, keep and tell."""

import numpy as np
import pytest

from fairdesk.mitigate.methods import repairs, trial_runner
from fairdesk.mitigate.options import AequitasRepairOptions, TestSgdRepairOptions
from fairdesk.results.events import Measured, Progress
from fairdesk.results.mitigation import Augmented, Retrained
from tests.mitigate import making

QUICK = {"people": 1_000, "certify": 0.0, "compare": "none"}
PAIRS = AequitasRepairOptions(**QUICK)
SAMPLES = TestSgdRepairOptions(**QUICK, most=20.0)


def run(method, made, options, seed=0):
    return list(method(made, made.rows, options, np.random.default_rng(seed)))


def told(events):
    last = [each for each in events if isinstance(each, Measured)][-1]
    return last.figures[0], last.figures[1:]


def estimate(trial, what, rows):
    (found,) = (m for m in trial.measures if (m.what, m.rows) == (what, rows) and not m.of)
    return found.estimate


@pytest.fixture(scope="module", autouse=True)
def _no_files():
    """Write the smallest of the files only: how they are written is tested by itself."""
    every = trial_runner.save
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trial_runner, "save", lambda *given: [next(iter(every(*given)))])
        yield


@pytest.fixture(scope="module")
def repaired(tmp_path_factory):
    made = making.mitigation(tmp_path_factory.mktemp("repaired"), rows=1_500, drawn=2_000)
    return made, run(repairs.aequitas, made, PAIRS)


def test_discrimination_falls_and_accuracy_does_not(repaired):
    _, events = repaired
    repair, trials = told(events)
    chosen, plain = trials[repair.chosen], trials[1]
    assert chosen.verdict == "better"
    falls = estimate(chosen, "share_domain", "domain") / estimate(plain, "share_domain", "domain")
    assert falls < 0.85
    lost = estimate(plain, "accuracy", "validation") - estimate(chosen, "accuracy", "validation")
    assert 100 * lost <= PAIRS.accuracy_loss + 1e-9


def test_the_shares_of_imported_and_retrained_are_of_the_same_people(repaired):
    made, events = repaired
    _, trials = told(events)
    assert estimate(trials[0], "share_domain", "domain") == pytest.approx(
        making.share(made, made.model), abs=0.05
    )
    assert {change.against for change in trials[1].changes} == {0}


def test_rows_that_are_added_are_none_to_test_with(repaired):
    made, events = repaired
    (added,) = (each for each in events if isinstance(each, Augmented))
    _, trials = told(events)
    assert len(added.rows) == len(added.labels) == len(added.pairs) == len(added.seeds)
    assert max(each.added for each in trials) <= len(added.rows)
    assert (added.labels[::2] == added.labels[1::2]).all()
    assert (added.pairs[::2] == added.pairs[1::2]).all()
    assert made.inside[added.seeds].all()


def test_files_are_of_models_that_were_tried(repaired):
    _, events = repaired
    repair, trials = told(events)
    files = [each for each in events if isinstance(each, Retrained)]
    assert repair.chosen in {each.trial for each in files}
    assert {each.trial for each in files} <= {
        each.number for each in trials if each.front or each.number == repair.chosen
    }
    assert all(each.content.dtype == np.int8 and each.content.size for each in files)


def test_counts_never_fall(repaired):
    _, events = repaired
    asked = [each.queries for each in events if isinstance(each, Progress)]
    assert asked == sorted(asked)
    assert asked[-1] > 10_000
    assert all(each.done <= each.total for each in events if isinstance(each, Progress))


def test_the_same_seed_gives_the_same_figures(tmp_path):
    made = making.mitigation(tmp_path, rows=600, drawn=500)
    options = AequitasRepairOptions(**QUICK, most=2.0)
    first, second = (told(run(repairs.aequitas, making.fresh(made), options)) for _ in range(2))
    assert first[0] == second[0]
    assert [each.measures for each in first[1]] == [each.measures for each in second[1]]


def test_a_rule_set_is_repaired_by_opposite_labels(tmp_path):
    made = making.mitigation(tmp_path, rows=1_500)
    made.rule, made.outcome = making.MEN, made.model.opened.card.classes[made.favourable]
    events = run(repairs.testsgd, made, SAMPLES)
    repair, trials = told(events)
    assert repair.target == "rule_score"
    (added,) = (each for each in events if isinstance(each, Augmented))
    assert (added.labels != made.favourable).all()
    assert (added.pairs == -1).all()
    scores = [estimate(each, "rule_score", "test") for each in (trials[1], trials[repair.chosen])]
    assert repair.chosen > 1
    assert scores[1] < scores[0] - 0.03


def test_a_rule_about_a_text_is_repaired_with_new_texts(tmp_path):
    made = making.texts(tmp_path)
    events = run(
        repairs.testsgd,
        made,
        TestSgdRepairOptions(**{**QUICK, "compare": "reweighing"}, least=20, most=20.0),
    )
    repair, trials = told(events)
    (added,) = (each for each in events if isinstance(each, Augmented))
    assert added.texts
    assert any(each.kind == "portion" and not each.failed for each in trials)
    assert "this method has no groups" in trials[-1].failed
    assert repair.ended


def test_closing_it_at_any_moment_leaves_nothing_open(tmp_path):
    made = making.mitigation(tmp_path, rows=600, drawn=500)
    for phase in ("labelling", "imported", "retraining"):
        events = repairs.aequitas(making.fresh(made), made.rows, PAIRS, np.random.default_rng(0))
        for event in events:
            if event.phase == phase:
                events.close()
                break
        else:
            pytest.fail(f"there was no {phase}")
