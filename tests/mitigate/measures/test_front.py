"""The Pareto front: against looking at all pairs of trials."""

from hypothesis import given
from hypothesis import strategies as st

from fairdesk.mitigate.measures.changes import front
from fairdesk.results.mitigation import Measure, Trial


def trial(number, accuracy, share, rows="validation"):
    measures = (
        Measure("accuracy", "", "test", 0.9, None, None, 10),
        Measure("accuracy", "", rows, accuracy, None, None, 10),
        Measure("share_domain", "", rows, share, None, None, 10),
        Measure("share_domain", "", "domain", 0.0, None, None, 10),
    )
    return Trial(number, "portion", measures=measures)


tenths = st.integers(0, 4).map(lambda number: number / 10)


@given(st.lists(st.tuples(tenths, tenths), max_size=8))
def test_whoever_is_beaten_is_not_on_the_front(points):
    trials = [trial(i, *point) for i, point in enumerate(points)]
    told = front(trials, "share_domain")
    assert [each.number for each in told] == list(range(len(points)))
    for each, (good, bad) in zip(told, points, strict=True):
        beaten = [
            (other, least)
            for other, least in points
            if (other > good and least <= bad) or (other >= good and least < bad)
        ]
        assert each.front == (not beaten)


def test_equal_trials_are_both_on_it():
    told = front([trial(0, 0.8, 0.1), trial(1, 0.8, 0.1), trial(2, 0.7, 0.1)], "share_domain")
    assert [each.front for each in told] == [True, True, False]


def test_a_trial_of_which_too_little_is_known_is_not_on_it_and_beats_nobody():
    failed = Trial(2, "other", failed="It would not be trained.")
    unknown = trial(1, 0.9, None)
    told = front([trial(0, 0.5, 0.5), unknown, failed], "share_domain")
    assert [each.front for each in told] == [True, False, False]


def test_test_rows_choose_nothing():
    assert not front([trial(0, 0.5, 0.5, rows="test")], "share_domain")[0].front
