"""Aequitas' retraining: which portions are tried, what ends it, and what is chosen."""

import msgspec
import numpy as np
import pytest

from fairdesk.errors import ModelError, SpecError
from fairdesk.mitigate.methods.repairs import portions
from fairdesk.mitigate.options import AequitasRepairOptions
from fairdesk.results.events import Measured, Progress
from fairdesk.results.mitigation import Change
from tests import phrases
from tests.mitigate.scripted import TRAIN, Model, Script, play

SAME = Model()


def script(*shares, **more):
    """Models that are all as accurate; the first two are the imported and the retrained one."""
    return Script([SAME, SAME, *(Model(share=share) for share in shares)], **more)


def test_portions_are_drawn_from_ever_greater_ranges():
    for seed in range(20):
        drawn = portions(32.0, np.random.default_rng(seed))
        assert len(drawn) == 6
        for i, percent in enumerate(drawn, start=1):
            assert 2.0 ** (i - 2) <= percent <= 2.0 ** (i - 1)


def test_no_portion_passes_the_greatest():
    for most in (0.1, 0.5, 1.0, 3.0, 20.0, 100.0):
        drawn = portions(most, np.random.default_rng(0))
        assert drawn
        assert max(drawn) <= most
        assert drawn == sorted(drawn)
    assert len(portions(20.0, np.random.default_rng(0))) == 6


def test_it_goes_on_while_the_share_falls(monkeypatch, mitigation):
    told = play(monkeypatch, mitigation, script(0.17, 0.14, 0.11, 0.08, 0.05, 0.01))
    assert told.verdicts == ["better"] * 6
    assert told.repair.chosen == 7
    assert told.repair.ended == phrases.ALL_PORTIONS.format(rows=f"{told.portions[-1].added:,}")
    assert [each.kind for each in told.trials[:2]] == ["imported", "retrained"]


def test_it_ends_when_two_in_a_row_are_worse_than_the_best(monkeypatch, mitigation):
    told = play(monkeypatch, mitigation, script(0.15, 0.18, 0.18, 0.01))
    assert told.verdicts == ["better", "worse", "worse"]
    assert told.repair.chosen == 2
    first, second, third = (f"{each.added:,}" for each in told.portions)
    assert told.repair.ended == (
        f"With {second} and {third} rows added, results were significantly worse than with {first}."
    )


@pytest.mark.parametrize(
    ("shares", "verdicts", "chosen"),
    [
        # one that is worse does not end it
        ((0.25, 0.2, 0.25, 0.15, 0.18, 0.1), "worse open worse better worse better", 7),
        # an improvement begins the count anew
        ((0.15, 0.14, 0.14, 0.11, 0.11, 0.11), "better open open better open open", 5),
        # it does not give up before anything helped
        ((0.2, 0.2, 0.2, 0.2, 0.15, 0.1), "open open open open better better", 7),
        # small steps add up: what is not shown beside the best does not become the best
        ((0.19, 0.17, 0.16, 0.14, 0.14, 0.14), "open better open better open open", 5),
    ],
)
def test_it_goes_on_as_long_as_it_may_help(monkeypatch, mitigation, shares, verdicts, chosen):
    told = play(monkeypatch, mitigation, script(*shares))
    assert told.verdicts == verdicts.split()
    assert told.repair.chosen == chosen


def test_before_one_has_helped_all_are_tried(monkeypatch, mitigation):
    told = play(monkeypatch, mitigation, script(*[0.25] * 6))
    assert told.verdicts == ["worse"] * 6
    assert told.repair.chosen == -1
    assert told.repair.ended == phrases.ALL_PORTIONS.format(rows=f"{told.portions[-1].added:,}")
    # that nothing helped is the headline's to say, by the results
    assert told.repair.notes[-1].endswith(phrases.TRY_OTHER_LABELS)


def test_what_only_costs_too_much_does_not_end_it(monkeypatch, mitigation):
    costly = Model(0.05, 0.7)
    told = play(
        monkeypatch, mitigation, Script([SAME, SAME, Model(0.1), *[costly] * 4, Model(0.05)])
    )
    assert told.verdicts == ["better", *["costly"] * 4, "better"]
    assert told.repair.chosen == 7


def test_it_ends_after_three_that_bring_nothing_once_one_has_helped(monkeypatch, mitigation):
    told = play(monkeypatch, mitigation, script(0.15, 0.14, 0.145, 0.14, 0.0))
    assert told.verdicts == ["better", "open", "open", "open"]
    # the lowest of those that help, though it is not told apart from the first
    assert told.repair.chosen == 3
    (note,) = (each for each in told.repair.notes if each.startswith(phrases.CHOSEN_APART))
    assert note.endswith(
        "There, the best augmentation sizes did not differ significantly, and the one with the "
        "fewest decision changes was chosen; a smaller one may do as well."
    )
    first, *others, last = (f"{each.added:,}" for each in told.portions)
    assert told.repair.ended == (
        f"With {', '.join(others)} and {last} rows added, results were not significantly better "
        f"than with {first}."
    )


def test_a_portion_that_costs_too_much_is_not_chosen(monkeypatch, mitigation):
    models = [SAME, SAME, Model(0.1, 0.785), Model(0.1, 0.79), *[Model(0.02, 0.7)] * 4]
    told = play(monkeypatch, mitigation, Script(models))
    assert told.verdicts == ["costly", "better", *["costly"] * 4]
    assert told.repair.chosen == 3


def test_exactly_the_allowed_cost_is_allowed(monkeypatch, mitigation):
    models = [SAME, SAME, *[Model(0.1, 0.8 - 0.01)] * 6]
    assert play(monkeypatch, mitigation, Script(models)).verdicts[0] == "better"


def test_where_all_cost_too_much_none_is_chosen(monkeypatch, mitigation):
    told = play(monkeypatch, mitigation, Script([SAME, SAME, *[Model(0.1, 0.7)] * 6]))
    assert told.repair.chosen == -1
    assert told.verdicts == ["costly"] * 6
    # no cause is guessed at where some did lower it
    assert told.repair.notes == ("Some were left out.",)


@pytest.mark.parametrize(("labels", "why"), [("majority", "same attributes"), ("model", "own")])
def test_where_none_helps_it_says_why_that_may_be(monkeypatch, mitigation, labels, why):
    options = AequitasRepairOptions(compare="none", labels=labels)
    told = play(monkeypatch, mitigation, script(*[0.2] * 6), options)
    assert told.repair.chosen == -1
    assert why in told.repair.notes[-1]


def test_portions_are_nested_and_of_whole_pairs(monkeypatch, mitigation):
    told = play(monkeypatch, mitigation, script(*[0.2] * 6))
    sizes = [each.added for each in told.portions]
    assert sizes == sorted(set(sizes))
    assert all(size % 2 == 0 for size in sizes)
    for trial, training_set in zip(told.portions, told.script.lessons[1:], strict=True):
        assert len(training_set.rows) == len(training_set.targets) == TRAIN + trial.added
        assert trial.percent == pytest.approx(100 * trial.added / TRAIN)
    assert len(told.script.lessons[0].rows) == TRAIN


def test_of_few_rows_each_portion_is_tried_once(monkeypatch, mitigation):
    drawn = [0.1, 0.2, 0.5, 1.0]
    monkeypatch.setattr("fairdesk.mitigate.methods.repairs.portions", lambda *_: drawn)
    told = play(monkeypatch, mitigation, script(*[0.2] * 4))
    assert [each.added for each in told.portions] == [2, 6, 10]


def test_every_trial_is_trained_with_one_seed(monkeypatch, mitigation):
    told = play(monkeypatch, mitigation, script(*[0.2] * 6))
    assert len(told.script.seeds) == 7
    assert len(set(told.script.seeds)) == 1
    other = play(monkeypatch, mitigation, script(*[0.2] * 6), seed=1)
    assert other.script.seeds[0] != told.script.seeds[0]


def test_the_same_seed_gives_the_same_trials(monkeypatch, mitigation):
    first, second = (play(monkeypatch, mitigation, script(*[0.15] * 6)) for _ in range(2))
    assert [replace_time(each) for each in first.trials] == [
        replace_time(each) for each in second.trials
    ]


def replace_time(trial):
    return msgspec.structs.replace(trial, seconds=0.0)


def test_too_few_rows_are_refused_before_anything_is_trained(monkeypatch, mitigation):
    made = script(0.1, rows=4)
    with pytest.raises(SpecError) as caught:
        play(monkeypatch, mitigation, made)
    assert "Only 4 rows can be added" in caught.value.what
    assert "Some were left out." in caught.value.why
    assert "Search for more" in caught.value.remedy
    assert not made.lessons


def test_no_row_at_all_is_refused(monkeypatch, mitigation):
    with pytest.raises(SpecError, match="No rows can be added"):
        play(monkeypatch, mitigation, script(rows=0, obstacle="It is stone."))


def test_a_pool_that_is_used_up_ends_it(monkeypatch, mitigation):
    told = play(monkeypatch, mitigation, script(*[0.2] * 6, rows=30))
    assert told.portions[-1].added == 30
    assert 1 < len(told.portions) < 6
    assert told.repair.ended.startswith("All 30 available augmentation rows were added")


def test_a_portion_that_fails_is_told_and_passed_over(monkeypatch, mitigation):
    models = [SAME, SAME, Model(fails="It ran away."), *[Model(0.1)] * 4]
    told = play(monkeypatch, mitigation, Script(models))
    assert told.portions[0].failed == "It ran away."
    assert told.portions[0].measures == ()
    assert told.verdicts == ["", "better", "open", "open", "open"]
    assert told.repair.chosen == 3


def test_a_model_that_answers_nothing_fails_too(monkeypatch, mitigation):
    models = [SAME, SAME, Model(refuses="No number."), *[Model(0.1)] * 4]
    told = play(monkeypatch, mitigation, Script(models))
    assert told.portions[0].failed == "No number."
    assert told.repair.chosen == 3


def test_two_failures_in_a_row_end_it(monkeypatch, mitigation):
    models = [SAME, SAME, Model(0.1), Model(memory=True), Model(memory=True), Model(0.0)]
    told = play(monkeypatch, mitigation, Script(models))
    assert [bool(each.failed) for each in told.portions] == [False, True, True]
    assert told.repair.chosen == 2
    assert told.repair.ended.startswith(f"2 {phrases.UNTRAINED_IN_A_ROW}")
    assert phrases.NOT_ENOUGH_MEMORY in told.repair.ended


def test_a_model_that_cannot_be_retrained_with_nothing_added_ends_it(monkeypatch, mitigation):
    told = play(monkeypatch, mitigation, Script([SAME, Model(fails="It ran away.")]))
    assert [each.kind for each in told.trials] == ["imported", "retrained"]
    assert told.trials[1].failed == "It ran away."
    assert told.repair.chosen == -1
    assert told.repair.ended == (
        f"The model {phrases.NOT_RETRAINED}, even without augmentation rows. It ran away."
    )
    assert not told.files


def test_an_imported_model_that_refuses_is_an_error(monkeypatch, mitigation):
    with pytest.raises(ModelError, match="No number"):
        play(monkeypatch, mitigation, Script([Model(refuses="No number."), SAME]))


def test_what_cannot_be_retrained_has_rows_only(monkeypatch, mitigation):
    made = script(obstacle="It is stone.", rows=3)
    told = play(monkeypatch, mitigation, made)
    assert len(told.added.rows) == 3
    assert [each.kind for each in told.trials] == ["imported"]
    assert not told.repair.retrains
    assert told.repair.ended == f"{phrases.NO_PORTION} It is stone."
    assert not made.lessons
    assert not told.files


@pytest.mark.parametrize("winding", [1, 2, 3])
def test_told_to_end_it_keeps_what_is_known(monkeypatch, mitigation, winding):
    told = play(monkeypatch, mitigation, script(0.1, 0.05, 0.0, winding=winding))
    assert len(told.trials) == winding
    assert told.repair.chosen == (2 if winding == 3 else -1)
    assert told.repair.ended.startswith("The mitigation was ended, or its budget")
    assert not any(phrases.TRY_OTHER_LABELS in note for note in told.repair.notes)
    assert not told.script.proven
    assert isinstance(told.events[-1], Progress)
    assert bool(told.files) == (winding > 1)


def test_a_search_that_was_ended_early_is_no_failure(monkeypatch, mitigation):
    told = play(monkeypatch, mitigation, script(0.25, 0.25, 0.25, winding=4))
    assert told.verdicts == ["worse", "worse"]
    assert not any(phrases.TRY_OTHER_LABELS in note for note in told.repair.notes)


@pytest.mark.parametrize("halfway", [0, 1, 2, 3])
def test_told_to_end_no_model_is_asked_to_the_end(monkeypatch, mitigation, halfway):
    told = play(monkeypatch, mitigation, script(0.1, 0.05, 0.0, halfway=halfway))
    # the last one that was begun has no figures, so it is no trial
    assert len(told.trials) == halfway
    assert told.repair.chosen == (2 if halfway == 3 else -1)
    when = f"after {halfway} model" if halfway else "before any model was measured"
    assert when in told.repair.ended
    assert all(each.measures for each in told.trials)
    assert bool(told.files) == (halfway > 1)


def test_it_tells_after_every_trial(monkeypatch, mitigation):
    told = play(monkeypatch, mitigation, script(*[0.15] * 6))
    counts = [len(each.figures) - 1 for each in told.events if isinstance(each, Measured)]
    assert counts[:5] == [1, 2, 3, 4, 5]
    phases = [each.phase for each in told.events if isinstance(each, Progress)]
    for phase in ("splitting", "labelling", "imported", "retraining", "proving", "saving"):
        assert phase in phases
    assert any(
        phase.startswith("augmentation size 1 of 6: ") and phase.endswith(" %") for phase in phases
    )


def test_the_rows_are_told_once_and_early(monkeypatch, mitigation):
    told = play(monkeypatch, mitigation, script(*[0.15] * 6))
    assert told.events.index(told.added) < 4
    assert told.repair.rows == len(told.added.rows) >= max(each.added for each in told.portions)


def test_imported_and_chosen_are_proven(monkeypatch, mitigation):
    told = play(monkeypatch, mitigation, script(*[0.1] * 4))
    assert told.script.proven == [mitigation.model, told.script.models[2]]
    proven = [any(m.what == "certified" for m in each.measures) for each in told.trials]
    assert proven == [True, False, True, False, False, False]


def test_nothing_is_proven_where_that_is_not_asked_for(monkeypatch, mitigation):
    told = play(
        monkeypatch,
        mitigation,
        script(*[0.1] * 4),
        AequitasRepairOptions(compare="none", certify=0.0),
    )
    assert not told.script.proven


@pytest.mark.parametrize("proof", [ModelError("It answers no number."), MemoryError()])
def test_a_proof_that_fails_costs_nothing_else(monkeypatch, mitigation, proof):
    told = play(monkeypatch, mitigation, script(*[0.1] * 4, proof=proof))
    assert told.repair.chosen == 2
    assert told.files
    assert told.repair.notes[-1].startswith("Certification was started and failed. ")
    assert not any(m.what == "certified" for each in told.trials for m in each.measures)


def test_changes_are_against_nothing_added_and_the_imported(monkeypatch, mitigation):
    told = play(monkeypatch, mitigation, script(*[0.1] * 4))
    against = [[change.against for change in each.changes] for each in told.trials]
    assert against == [[], [0], *[[1, 0]] * 4]


@pytest.mark.parametrize(
    ("luck", "told", "share"), [(0.3, True, 0.1), (0.21, False, 0.1), (0.3, True, 0.4)]
)
def test_how_far_luck_alone_goes_is_told(monkeypatch, mitigation, luck, told, share):
    # also where every portion seems to spoil it
    def changes(after, before, against):
        apart = after.model.share - before.model.share
        return (Change("share_domain", "", "domain", against, apart, apart - 0.02, apart + 0.02),)

    monkeypatch.setattr("tests.mitigate.scripted.changes", changes)
    made = play(monkeypatch, mitigation, script(*[share] * 8, luck=Model(luck)))
    notes = [each for each in made.repair.notes if each.startswith("Training is partly random")]
    assert bool(notes) == told
    assert all("for 30.0 % of the input domain instead of 20.0 %" in each for each in notes)
    assert (made.repair.chosen < 0) == (share > 0.2)


def test_files_of_the_front_are_given(monkeypatch, mitigation):
    models = [SAME, SAME, Model(0.1, 0.795), *[Model(0.1, 0.794)] * 3]
    told = play(monkeypatch, mitigation, Script(models))
    assert [each.front for each in told.trials] == [True, True, True, False, False, False]
    # the chosen one first
    assert [each.trial for each in told.files] == [2, 1]
    assert told.script.saved == models[2:0:-1]
    assert {each.name for each in told.files} == {"model.joblib"}
    assert told.files[0].content.tobytes() == b"x" * 10


def test_a_file_that_is_too_large_is_told_instead(monkeypatch, mitigation):
    monkeypatch.setattr("fairdesk.mitigate.methods.trial_runner.MOST_BYTES", 5)
    told = play(monkeypatch, mitigation, script(*[0.1] * 4))
    assert told.files[0].content.size == 0
    assert "at most" in told.files[0].note
