"""What is said of a repair: before and after with intervals, never more than is shown."""

import re
from itertools import product

import msgspec
import numpy as np
import pytest

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.mitigate.options import RepairOptions
from fairdesk.results.mitigation import Change, Measure, Trial
from fairdesk.results.trials import change_of, relative_fall, result_of, trials_of
from fairdesk.wording import figures
from fairdesk.wording import mitigation as mitigation_words
from fairdesk.wording import trials as trial_words
from tests import phrases
from tests.report import repairs
from tests.report.building import people_store


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    with people_store(tmp_path_factory.mktemp("repair"), ("sex", "job")) as store:
        return store.spec


def plain(text):
    return text.replace("\u00a0", " ")


def told(spec, measured):
    return [plain(each) for each in mitigation_words.sentences(spec, measured)]


def without(measured, **fields):
    """Return figures with another repair in front."""
    return (msgspec.structs.replace(measured[0], **fields), *measured[1:])


def measure(what, estimate, low, high, rows="test", of=""):
    return Measure(what, of, rows, estimate, low, high, 6_000)


@pytest.mark.parametrize(
    ("what", "numbers", "expected"),
    [
        ("accuracy", (0.842, 0.831, 0.853), "84.2 % (83.1 to 85.3)"),
        ("share_domain", (0.0391, 0.0364, 0.0418), "3.91 % (3.64 to 4.18)"),
        ("share_domain", (0.0, 0.0, 0.0002), "0 % (0.00 to 0.02)"),
        ("rate_gap", (0.173, 0.15, 0.196), "17.3 percentage points (15.0 to 19.6)"),
        ("auc", (0.9012, 0.893, 0.909), "0.901 (0.893 to 0.909)"),
        ("impact_ratio", (0.361, 0.3, 0.42), "0.361 (0.300 to 0.420)"),
        ("certified", (0.89939, None, None), "at least 89.93 %"),
        ("auc", (None, None, None), "undefined"),
    ],
)
def test_a_measure_is_written_with_its_interval_and_its_unit(what, numbers, expected):
    assert plain(trial_words.measure_text(measure(what, *numbers))) == expected


def test_what_was_not_measured_is_a_dash():
    assert trial_words.measure_text(None) == "–"
    assert trial_words.change_text(None) == "–"
    assert trial_words.tested_text(None) == "–"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            ("accuracy", -0.004, -0.0092, 0.001, 0.12),
            "−0.4 percentage points (−0.9 to 0.1), p = 0.120",
        ),
        (
            ("accuracy", 0.004, 0.001, 0.007, 1e-9),
            "+0.40 percentage points (0.10 to 0.70), p below 0.0001",
        ),
        (("auc", -0.0041, -0.0101, 0.0021, None), "−0.004 (−0.010 to 0.002)"),
        (("accuracy", None, None, None, None), "undefined"),
        (("certified", 0.0418, None, None, None), "+4.18 percentage points"),
    ],
)
def test_a_change_is_written_with_its_sign_interval_and_test(change, expected):
    what, difference, low, high, p = change
    one = Change(what, "", "test", 1, difference, low, high, p, "bootstrap")
    assert plain(trial_words.change_text(one)) == expected


def test_every_source_of_labels_is_explained_and_some_sentence_warns():
    (field,) = (each for each in msgspec.structs.fields(RepairOptions) if each.name == "labels")
    sources = msgspec.inspect.type_info(field.type).type.values
    said = {each: mitigation_words.labels_sentence(each) for each in sources}
    assert len(set(said.values())) == len(sources) == 4
    assert "these rows teach the model to discriminate" in said["model"]


def test_the_headline_says_what_fell_by_how_much_and_at_what_cost(spec):
    said = mitigation_words.headline(spec, repairs.FIGURES)
    assert plain(said.sentence) == (
        "Compared with the retrained baseline, adding 529 augmentation rows (2.9 % of the training "
        "rows) reduced the estimated share of decision changes in the input domain from 4.02 % to "
        "1.84 %, which is 54 % less (95 % CI "
        "50 to 58); accuracy on the test rows changed by −0.3 percentage points (−1.1 to 0.4)."
    )
    assert (said.evidence, plain(said.value)) == ("estimated", "54 % less")


def test_a_rule_set_s_gap_is_told_in_points_and_its_labels_are_opposite(spec):
    said = told(spec, repairs.RULE_FIGURES)
    assert "reduced the gap between the subgroup and all others from 20.50 to 10.10" in said[0]
    assert "points, which is 51 % less (95 % CI 49 to 53); accuracy" in said[0]
    assert any("opposite" in each for each in said)
    assert not any("five models" in each for each in said)


def test_what_harms_individuals_is_no_improvement_whatever_fell_in_the_domain(spec):
    headline = mitigation_words.headline(spec, repairs.HARMFUL_FIGURES)
    said = plain(headline.sentence)
    assert said.startswith(
        f"{phrases.NOT_AN_IMPROVEMENT}: among the applicants in the test rows, decision changes "
        "rose from 17.0 % with the retrained baseline to 21.9 % with the mitigated model: +4.9 "
        "percentage points (4.0 to 5.7), p below 0.0001. The estimated share of decision changes "
        "in the input domain: 3.91 % for the original model, 4.02 % for the retrained baseline and "
        "1.84 % for the mitigated model; accuracy"
    ), said
    assert headline.value == ""
    assert "less" not in said
    assert "reduced" not in said
    # told once
    assert trial_words.measure_name(spec, repairs.ROSE) not in said
    assert mitigation_words.fall_text(repairs.HARMFUL_FIGURES) == phrases.NOT_FOR_INDIVIDUALS


def test_a_rise_among_individuals_that_may_be_sampling_error_is_no_improvement_either(spec):
    headline = mitigation_words.headline(spec, repairs.PERHAPS_HARMFUL_FIGURES)
    said = plain(headline.sentence)
    assert said.startswith(f"{phrases.NOTHING_HELPS} for the applicants in the test rows: decision")
    assert f"p = 0.220, {phrases.NOT_SIGNIFICANT}. The estimated share" in said
    assert headline.value == ""
    assert mitigation_words.rise_among_people(repairs.FIGURES) is None


def test_what_got_worse_is_told_at_once(spec):
    trials = trials_of(repairs.RULE_FIGURES)
    harm = Change("share_domain", "", "domain", 1, 0.019, 0.009, 0.03, 0.0004, "McNemar, exact")
    chance = Change("brier", "", "test", 1, 0.002, -0.001, 0.005, 0.2, "bootstrap")
    gain = Change("auc", "", "test", 1, 0.01, 0.004, 0.02, 0.001, "DeLong")
    loss = Change("auc", "", "test", 0, -0.01, -0.02, -0.004, 0.001, "DeLong")
    kept = [e for e in trials[3].changes if e.what not in ("share_domain", "brier", "auc")]
    chosen = msgspec.structs.replace(trials[3], changes=(*kept, harm, chance, gain, loss))
    measured = (repairs.RULE_FIGURES[0], *trials[:3], chosen)
    first, second, *_ = told(spec, measured)
    # who is helped as a group may be treated unlike one by one: that is no matter for a count
    assert (
        "However, the estimated share of decision changes in the input domain rose from 4.10 % to"
    ) in first
    # the calibration of these figures gets worse too
    assert re.search(r"\. Worse: Calibration error \(from [\d.]+ to [\d.]+\)\.$", first)
    assert second.startswith(f"{phrases.WORSE_THAN_BASELINE}: Calibration error")
    assert (
        "Decision changes: share of the input domain +1.9 percentage points (0.9 to 3.0)" in second
    )
    assert "Brier" not in second
    assert "ROC" not in second


def test_where_nothing_helped_that_comes_first(spec):
    first = told(spec, repairs.HELPLESS_FIGURES)[0]
    assert first == (
        f"{phrases.NO_SIGNIFICANT_GAIN} within the permitted "
        f"accuracy loss (1 percentage point). 2 {phrases.SIZES_TESTED} 2 without a "
        "significant difference. The best of them, with 0.83 % added, changed the estimated share "
        "of decision changes in the input domain by −0.06 percentage points (−0.29 to 0.17)."
    )
    repair, imported, plain_one, one, *_ = repairs.HELPLESS_FIGURES
    first = told(spec, (repair, imported, plain_one, one))[0]
    assert "1 augmentation size was tested: 1 without a significant difference." in first
    wider = told(spec, without(repairs.HELPLESS_FIGURES, allowance=2.5))[0]
    assert "accuracy loss (2.5 percentage points). 2" in wider


def test_while_it_goes_on_nothing_is_said_for_good(spec):
    measured = without(repairs.HELPLESS_FIGURES, ended="")
    assert "accuracy loss (1 percentage point) so far. 2 augmentation" in told(spec, measured)[0]
    measured = without(repairs.FIGURES, ended="", chosen=-1)
    first = told(spec, measured)[0]
    assert first.startswith(
        f"No candidate model is chosen yet. 5 {phrases.SIZES_TESTED} 2 significantly "
        "better, 1 without a significant difference, 1 significantly worse and 1 above the "
        "permitted accuracy loss. The best of them, with 6.1 % added,"
    )


def test_a_choice_that_fresh_people_do_not_bear_out_is_no_success(spec):
    measured = without(repairs.HELPLESS_FIGURES, chosen=2)
    said = plain(mitigation_words.headline(spec, measured).sentence)
    assert said == (
        f"{phrases.NOTHING_HELPS}: adding 149 augmentation rows (0.83 % of the training rows) was "
        "chosen on the validation rows, but on an independent sample it changed the estimated "
        "share of decision changes in the input domain by −0.06 percentage points (−0.29 to "
        "0.17), p = 0.609, "
        "compared with the retrained baseline."
    )
    assert "less" not in said


def test_a_portion_of_nearly_one_percent_is_one_percent():
    names = {each: Trial(2, "portion", percent=each, added=292) for each in (0.994, 0.9964, 1.04)}
    assert [plain(trial_words.trial_name(each)) for each in names.values()] == [
        *("0.99 % added", "1 % added", "1 % added"),
    ]


def test_a_rise_is_never_told_as_a_fall(spec):
    measured = without(repairs.FIGURES, chosen=7)
    said = plain(mitigation_words.headline(spec, measured).sentence)
    # it rose among the individuals too, and that comes first
    assert said.startswith(f"{phrases.NOT_AN_IMPROVEMENT}: among the applicants in the test rows")
    assert "and 4.67 % for the mitigated model; accuracy" in said
    assert "However" not in said
    chosen = measured[8]
    of_domain = tuple(each for each in chosen.changes if each.what != "share_data")
    measured = (*measured[:8], msgspec.structs.replace(chosen, changes=of_domain), *measured[9:])
    said = plain(mitigation_words.headline(spec, measured).sentence)
    assert said.startswith(f"{phrases.NOTHING_HELPS}: Reweighing instead of augmentation rows was")
    assert "+0.65 percentage points" in said


def test_rows_for_a_model_that_cannot_be_retrained_promise_nothing(spec):
    first, *rest = told(spec, repairs.ROWS_ONLY_FIGURES)
    assert first.startswith("2,610 augmentation rows were made from 1,305 discriminatory pairs.")
    assert first.endswith(f"This model {phrases.NOT_RETRAINED} here, so their effect is not known.")
    single = without(repairs.ROWS_ONLY_FIGURES, rows=1, pairs=1)
    assert told(spec, single)[0].startswith(
        "1 augmentation row was made from 1 discriminatory pair."
    )
    assert told(spec, single)[0].endswith("so its effect is not known.")
    assert rest[-2].endswith(repairs.ROWS_ONLY_FIGURES[0].ended)
    assert not any("for validation" in each for each in rest)


def test_the_other_models_the_end_and_the_notes_are_told(spec):
    said = told(spec, repairs.FIGURES)
    assert any("Reweighing by +0.65 percentage points (0.41 to 0.89)" in each for each in said)
    assert any(f"Correlation remover: {phrases.NO_SUCH_MODEL}" in each for each in said)
    assert (
        "Certified share of the input domain, both within the same time limit: at least "
        "89.93 % for the original model, at least 94.11 % for the mitigated model."
    ) in said
    assert (
        "Compared with the original model, which may have been trained on the test rows (3.91 % in "
        "the same sample), the share changed by −2.07 percentage points (−2.27 to −1.87), p below "
        "0.0001, and accuracy by −0.3 percentage points (−1.1 to 0.5), p = 0.465."
    ) in said
    assert said[-2] == repairs.REPAIR.ended
    assert said[-1] == repairs.REPAIR.notes[0]


def test_before_and_after_keep_three_kinds_of_statement_apart(spec):
    whole = trial_words.before_after(spec, repairs.FIGURES, 4)
    parts = [
        trial_words.before_after(spec, repairs.FIGURES, 4, how, by_group=by_group)
        for how in ("observed", "estimated", "proven")
        for by_group in (False, True)
    ]
    assert whole == [row for part in parts for row in part]
    assert all(len(row) == len(trial_words.BEFORE_AFTER) for row in whole)
    observed, groups, estimated, _, proven, _ = parts
    assert [row[0] for row in observed][:2] == ["Accuracy", "Area under the ROC curve (AUC)"]
    assert [plain(cell) for cell in observed[0][1:]] == [
        *("84.6 % (83.7 to 85.5)", "84.7 % (83.7 to 85.6)", "84.3 % (83.4 to 85.2)"),
        *("−0.3 percentage points (−1.1 to 0.4)", "p = 0.405 (McNemar, exact)"),
    ]
    assert {row[0] for row in groups} >= {"Impact ratio, sex", "Largest gap in error rates, job"}
    (row,) = estimated
    assert row[0] == "Decision changes: share of the input domain"
    # validation rows are none of the result
    assert len(whole) == 14
    # the difference of two lower bounds is none of what they bound
    assert all(row[4:] == ("–", "–") for row in proven)
    assert [plain(cell) for cell in proven[0][1:4]] == ["at least 89.93 %", "–", "at least 94.11 %"]


def test_without_a_model_retrained_anew_the_change_is_from_the_imported_one(spec):
    trials = trials_of(repairs.FIGURES)
    broken = msgspec.structs.replace(trials[1], measures=(), changes=(), failed="It diverged.")
    measured = (repairs.REPAIR, trials[0], broken, *trials[2:])
    assert trial_words.before_after(spec, measured, 0)[0][3] == "–"
    row = trial_words.before_after(spec, measured, 4)[0]
    change = change_of(trials[4], trials[4].measures[2], 0)
    assert row[2] == "–"
    assert row[4] == trial_words.change_text(change, tested=False)
    assert "from 3.91 % to 1.84 %" in plain(mitigation_words.headline(spec, measured).sentence)


def test_trials_are_listed_with_what_came_of_each(spec):
    rows = trial_words.trial_rows(spec, repairs.FIGURES)
    assert all(len(row) == len(trial_words.TRIAL_HEADS) for row in rows)
    assert [plain(row[0]) for row in rows] == [
        *("Original model", "Retrained baseline", "0.83 % added", "1.4 % added", "2.9 % added"),
        *("6.1 % added", "11.7 % added", "Reweighing", "Correlation remover"),
    ]
    assert [row[5] for row in rows] == [
        "as audited",
        f"baseline; {phrases.ON_THE_FRONT}",
        "no significant difference",
        f"better; {phrases.ON_THE_FRONT}",
        f"better; chosen; {phrases.ON_THE_FRONT}",
        f"costs too much accuracy; {phrases.ON_THE_FRONT}",
        "worse",
        "comparison",
        "no model",
    ]
    assert rows[4][1] == "529"


def test_nothing_measured_yet_says_so(spec):
    assert mitigation_words.headline(spec, ()).sentence == phrases.NOTHING_REPAIRED
    assert mitigation_words.sentences(spec, ()) == ()
    assert trial_words.trial_rows(spec, ()) == []
    assert trial_words.before_after(spec, (), 0) == []
    begun = repairs.FIGURES[:2]
    assert mitigation_words.headline(spec, begun).sentence == (
        f"{phrases.NOTHING_HELPS}: no candidate model with augmentation rows has been measured."
    )


def test_a_relative_fall_has_an_interval_that_agrees_with_that_of_the_difference():
    trials = trials_of(repairs.FIGURES)
    for trial, shown in ((4, True), (2, False), (7, False)):
        after = result_of(trials[trial], "share_domain")
        change = change_of(trials[trial], after, 1)
        fall = relative_fall(result_of(trials[1], "share_domain"), after, change)
        assert (fall is not None) == shown
        if fall is not None:
            share, low, high = fall
            assert 0 < low < share < high <= 1
            assert share == pytest.approx(1 - 0.0184 / 0.0402)


def test_nothing_left_is_all_of_it_less():
    before = measure("share_domain", 0.04, 0.0373, 0.0427, "domain")
    after = measure("share_domain", 0.0, 0.0, 0.0002, "domain")
    change = Change("share_domain", "", "domain", 1, -0.04, -0.0427, -0.0373, 1e-9)
    share, low, high = relative_fall(before, after, change)
    assert share == high == 1
    assert low > 0.98


def test_the_interval_of_a_relative_fall_holds_as_often_as_it_says():
    """Draw pairs of answers with known shares, and see how often the interval has the truth."""
    rng = np.random.default_rng(5)
    people, times = 20_000, 4_000
    for before, kept, new in ((0.04, 0.4, 0.002), (0.2, 0.5, 0.0), (0.01, 0.3, 0.001)):
        # discriminated against in both, before only, after only
        chances = (before * kept, before * (1 - kept), new, 1 - before - new)
        both, only_before, only_after, _ = rng.multinomial(people, chances, times).T
        truth = 1 - (before * kept + new) / before
        held = 0
        for a, b, c in zip(both, only_before, only_after, strict=True):
            fall = relative_fall(
                _share(a + b, people), _share(a + c, people), _difference(b, c, people)
            )
            held += fall is not None and fall[1] <= truth <= fall[2]
        assert 0.94 <= held / times <= 0.98


def _share(hits, people):
    share = hits / people
    half = 1.96 * np.sqrt(share * (1 - share) / people)
    return measure("share_domain", share, share - half, share + half, "domain")


def _difference(fewer, more, people):
    found = (more - fewer) / people
    half = 1.96 * np.sqrt((more + fewer) / people - found**2) / np.sqrt(people)
    return Change("share_domain", "", "domain", 1, found, found - half, found + half)


def test_a_run_of_a_repair_is_told_everywhere_by_what_it_came_to(tmp_path):
    with people_store(tmp_path, ("sex", "job")) as store:
        for method, measured in product(("repair-aequitas",), (repairs.FIGURES, ())):
            run = store.begin_run(RunSpec(method))
            store.measure(run, measured)
            store.end_run(run, "done")
        full, empty = store.runs()
        assert (
            figures.headline(store.spec, full).sentence
            == mitigation_words.headline(store.spec, repairs.FIGURES).sentence
        )
        assert figures.headline(store.spec, empty).sentence == phrases.NOTHING_REPAIRED
        assert (
            figures.sentences(store.spec, full.figures)[0]
            in figures.headline(store.spec, full).sentence
        )
        assert figures.effort(full).startswith("8 models measured, 0 queries")
        assert plain(figures.standing(full)) == "8 models measured; share from 4.02 % to 1.84 %"
        assert figures.standing(empty) == "no result yet"
