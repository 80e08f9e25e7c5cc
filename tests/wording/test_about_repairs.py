"""What is said of a repair: before and after with intervals, never more than is shown."""

from itertools import product

import msgspec
import pytest

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.mitigate.options import RepairOptions
from fairdesk.results.mitigation import Change, Measure, Trial
from fairdesk.results.trials import improved, lead_of, trials_of
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


def without_people(trial):
    """Return a trial of which nothing was measured on individuals."""
    kept = tuple(each for each in trial.measures if each.what != "share_data")
    return msgspec.structs.replace(trial, measures=kept)


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


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            ("accuracy", -0.004, -0.0092, 0.001, 0.12),
            "−0.4 percentage points (−0.9 to 0.1)",
        ),
        (
            ("accuracy", 0.004, 0.001, 0.007, 1e-9),
            "+0.40 percentage points (0.10 to 0.70)",
        ),
        (("auc", -0.0041, -0.0101, 0.0021, None), "−0.004 (−0.010 to 0.002)"),
        (("accuracy", None, None, None, None), "undefined"),
        (("certified", 0.0418, None, None, None), "+4.18 percentage points"),
    ],
)
def test_a_change_is_written_with_its_sign_and_interval(change, expected):
    what, difference, low, high, p = change
    one = Change(what, "", "test", 1, difference, low, high, p, "bootstrap")
    assert plain(trial_words.change_text(one)) == expected


def test_every_source_of_labels_is_explained_and_some_sentence_warns():
    (field,) = (each for each in msgspec.structs.fields(RepairOptions) if each.name == "labels")
    sources = msgspec.inspect.type_info(field.type).values
    said = {each: mitigation_words.labels_sentence(each) for each in sources}
    assert len(set(said.values())) == len(sources) == 4
    assert "these rows teach the model to discriminate" in said["model"]


def test_the_headline_sets_the_models_side_by_side_the_original_one_first(spec):
    said = mitigation_words.headline(spec, repairs.FIGURES)
    assert plain(said.sentence) == (
        "The mitigated model (529 augmentation rows added to 18,000 training rows) has "
        "significantly fewer decision changes than the original model. Among the 6,000 applicants "
        f"in the test rows, {phrases.DECISION_CHANGES_FOR} 2.15 % with the original model, 2.21 % "
        "with the retrained "
        "baseline (no rows added) and 1.01 % with the mitigated model. Change from the original "
        "model: −1.14 "
        "percentage points (95 % CI −1.41 to −0.87); from the retrained baseline: −1.20 percentage "
        "points (95 % CI −1.47 to −0.93); accuracy, from the original model: −0.3 percentage "
        "points (95 % CI −1.1 to 0.5)."
    )
    label = "Decision changes (original model: 2.15 %)"
    assert (said.evidence, plain(said.label), plain(said.value)) == ("observed", label, "1.01 %")


def test_a_rule_set_s_gap_is_told_in_points_and_its_labels_are_opposite(spec):
    said = told(spec, repairs.RULE_FIGURES)
    assert "has a significantly smaller gap than the original model." in said[0]
    assert "the gap is 20.20 percentage points with the original model, 20.50" in said[0]
    assert mitigation_words.headline(spec, repairs.RULE_FIGURES).value == "10.10"
    assert any("opposite" in each for each in said)
    assert not any("five models" in each for each in said)


def test_individuals_come_before_combinations_of_the_input_domain():
    trials = trials_of(repairs.HARMFUL_FIGURES)
    assert lead_of(repairs.HARMFUL_FIGURES, trials[4]).what == "share_data"
    assert lead_of(repairs.RULE_FIGURES, trials_of(repairs.RULE_FIGURES)[3]).what == "rule_score"
    # where nobody of the data can be compared with who else they could be
    bare = [without_people(each) for each in trials]
    assert lead_of((repairs.REPAIR, *bare), bare[4]).what == "share_domain"


def test_what_harms_individuals_is_no_improvement_whatever_fell_in_the_domain(spec):
    headline = mitigation_words.headline(spec, repairs.HARMFUL_FIGURES)
    said = plain(headline.sentence)
    assert said.startswith(f"{phrases.NOT_AN_IMPROVEMENT}: the mitigated model (529 augmentation")
    assert (
        f"{phrases.DECISION_CHANGES_FOR} 17.0 % with the original model, 17.0 % with the retrained "
        "baseline (no rows added) and 21.9 % with the mitigated model. Change from the original "
        "model: +4.9 "
        "percentage points (95 % CI 4.0 to 5.7); from the retrained baseline: +4.9"
    ) in said, said
    assert headline.value == ""
    assert "fewer" not in said
    # told once
    assert trial_words.measure_name(repairs.ROSE) not in said
    assert mitigation_words.fall_text(repairs.HARMFUL_FIGURES) == phrases.NO_IMPROVEMENT_SHORTLY


def test_a_rise_among_individuals_that_may_be_sampling_error_is_no_improvement_either(spec):
    headline = mitigation_words.headline(spec, repairs.PERHAPS_HARMFUL_FIGURES)
    said = plain(headline.sentence)
    assert said.startswith(f"{phrases.NOTHING_HELPS}: decision changes with the mitigated model")
    assert "do not differ significantly from those with the original model." in said
    assert headline.value == ""
    assert not improved(repairs.PERHAPS_HARMFUL_FIGURES)
    assert improved(repairs.FIGURES)


def test_what_retraining_alone_does_as_well_is_no_improvement_by_the_rows(spec):
    trials = trials_of(repairs.FIGURES)
    kept = [e for e in trials[4].changes if (e.what, e.against) != ("share_data", 1)]
    alike = Change("share_data", "", "test", 1, 0.0, -0.001, 0.001, 0.9, "McNemar, exact")
    chosen = msgspec.structs.replace(trials[4], changes=(*kept, alike))
    measured = (repairs.REPAIR, *trials[:4], chosen, *trials[5:])
    said = mitigation_words.headline(spec, measured)
    assert said.sentence.startswith(phrases.NOTHING_HELPS)
    assert "but no fewer than the retrained baseline." in said.sentence
    assert said.value == mitigation_words.fall(measured) == ""


def test_what_got_worse_is_told_at_once(spec):
    trials = trials_of(repairs.RULE_FIGURES)
    harm = Change("share_domain", "", "domain", 0, 0.019, 0.009, 0.03, 0.0004, "McNemar, exact")
    chance = Change("brier", "", "test", 0, 0.002, -0.001, 0.005, 0.2, "bootstrap")
    gain = Change("auc", "", "test", 0, 0.01, 0.004, 0.02, 0.001, "DeLong")
    loss = Change("auc", "", "test", 1, -0.01, -0.02, -0.004, 0.001, "DeLong")
    kept = [e for e in trials[3].changes if e.what not in ("share_domain", "brier", "auc")]
    chosen = msgspec.structs.replace(trials[3], changes=(*kept, harm, chance, gain, loss))
    measured = (repairs.RULE_FIGURES[0], *trials[:3], chosen)
    first = told(spec, measured)[0]
    # the calibration of these figures gets worse too
    assert (
        f" {phrases.WORSE_THAN_ORIGINAL}: Decision changes, input domain: +1.9 percentage points "
        "(95 % CI 0.9 to 3.0); Calibration error: +0.005 (95 % CI 0.000 to 0.010). Estimated on"
    ) in first, first
    worse = plain(mitigation_words.worse_sentence(chosen))
    assert "domain: +1.9 percentage points (95 % CI 0.9 to 3.0)" in worse
    assert "Brier" not in worse
    assert "ROC" not in worse


def test_where_none_was_chosen_every_model_is_judged_by_the_interval_beside_it(spec):
    first = told(spec, repairs.HELPLESS_FIGURES)[0]
    assert first == (
        f"{phrases.NONE_CHOSEN}: on the validation rows, none was significantly better than the "
        "retrained baseline within the permitted accuracy loss (1 percentage point). Among the "
        f"6,000 applicants in the test rows, {phrases.DECISION_CHANGES_FOR} 2.15 % with the "
        "original model, 2.21 % with the retrained baseline (no rows added) and 2.18 % to "
        "2.19 % with 2 augmentation sizes. "
        "No significant difference from the original model: the retrained baseline and 2 "
        "augmentation sizes."
    )
    repair, imported, plain_one, one, *_ = repairs.HELPLESS_FIGURES
    first = told(spec, (repair, imported, plain_one, one))[0]
    assert "2.18 % with 1 augmentation size. No" in first
    wider = told(spec, without(repairs.HELPLESS_FIGURES, allowance=2.5))[0]
    assert "accuracy loss (2.5 percentage points). Among" in wider


def test_where_every_retrained_model_is_worse_that_comes_first(spec):
    repair, imported, *trials = repairs.HELPLESS_FIGURES
    worse = [
        msgspec.structs.replace(each, changes=(msgspec.structs.replace(repairs.ROSE, against=0),))
        for each in trials
    ]
    first = told(spec, (repair, imported, *worse))[0]
    assert first.startswith(
        "No improvement: every retrained model has significantly more decision changes than the "
        "original model. Among the 6,000 applicants"
    )
    assert first.endswith("with 2 augmentation sizes.")


def test_other_methods_are_told_in_the_same_breath_while_it_goes_on(spec):
    measured = without(repairs.FIGURES, ended="", chosen=-1)
    first = told(spec, measured)[0]
    assert first.startswith("No model is chosen so far: on the validation rows, none is")
    assert (
        "2.57 % with Reweighing and 0.83 % to 2.13 % with 5 augmentation sizes. Significantly "
        "better than the original model: 4 augmentation sizes. No significant difference from the "
        "original model: the retrained baseline and 1 augmentation size. Significantly worse than "
        "the original model: Reweighing. 1 augmentation size lost more accuracy than permitted."
    ) in first


def test_a_choice_that_the_test_rows_do_not_bear_out_is_no_success(spec):
    measured = without(repairs.HELPLESS_FIGURES, chosen=2)
    said = plain(mitigation_words.headline(spec, measured).sentence)
    assert said.startswith(
        f"{phrases.NOTHING_HELPS}: decision changes with the mitigated model (149 augmentation "
        "rows added to 18,000 training rows) do not differ"
    )


def test_a_portion_of_nearly_one_percent_is_one_percent():
    parts = {each: Trial(2, "portion", percent=each, added=292) for each in (0.994, 0.9964, 1.04)}
    shares = [plain(trial_words.portion_text(each)) for each in parts.values()]
    assert shares == ["0.99 %", "1 %", "1 %"]


def test_rows_for_a_model_that_cannot_be_retrained_promise_nothing(spec):
    first, *rest = told(spec, repairs.ROWS_ONLY_FIGURES)
    assert first.startswith(
        "2,610 augmentation rows were made from 1,305 different discriminatory pairs."
    )
    assert first.endswith(f"This model {phrases.NOT_RETRAINED} here, so their effect is not known.")
    single = without(repairs.ROWS_ONLY_FIGURES, rows=1, pairs=1)
    assert told(spec, single)[0].startswith(
        "1 augmentation row was made from 1 discriminatory pair."
    )
    assert told(spec, single)[0].endswith("so its effect is not known.")
    assert rest[-1].endswith(repairs.ROWS_ONLY_FIGURES[0].ended)
    assert not any("for validation" in each for each in rest)


def test_the_other_models_the_end_and_the_notes_are_told(spec):
    said = told(spec, repairs.FIGURES)
    assert any(f"Correlation remover: {phrases.NO_SUCH_MODEL}" in each for each in said)
    assert (
        "Certified share of the input domain, certified with one time limit for both: at least "
        "89.93 % for the original model, at least 94.11 % for the mitigated model. Compare "
        "these two with each other only."
    ) in said
    assert said[-1] == repairs.REPAIR.ended
    assert repairs.REPAIR.notes[0] in said


def test_nothing_measured_yet_says_so(spec):
    assert mitigation_words.headline(spec, ()).sentence == phrases.NOTHING_REPAIRED
    assert mitigation_words.sentences(spec, ()) == ()
    begun = repairs.FIGURES[:2]
    assert mitigation_words.headline(spec, begun).sentence == (
        f"{phrases.NOTHING_HELPS}: no candidate model with augmentation rows has been measured."
    )


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
        assert figures.effort(full).startswith("8 models measured, 0 queries")
        assert (
            plain(figures.standing(full)) == "8 models measured; decision changes 2.15 % → 1.01 %"
        )
        assert figures.standing(empty) == "no result yet"
