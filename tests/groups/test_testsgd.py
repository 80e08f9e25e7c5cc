"""TestSGD on tables: every score is what trying everybody comes to."""

import warnings
from math import comb

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdesk.data.domain.attributes import Role
from fairdesk.data.domain.domain import Domain
from fairdesk.errors import SpecError
from fairdesk.groups import testsgd
from fairdesk.groups.options import TestSgdOptions
from fairdesk.groups.statistics import Side, interval
from fairdesk.groups.tabular import rule_sets
from fairdesk.groups.tabular.rules import members, rules_about
from fairdesk.individual.engine.pace import Pace
from fairdesk.models.model import labels
from fairdesk.results.events import Measured, Progress
from fairdesk.results.subgroups import RuleSearchSummary, RuleSet
from tests import phrases
from tests.groups.studies import AGE, COUNTY, INCOME, RACE, SEX, nominal, number, people, study
from tests.sizes import many

SMALL = Domain((SEX, INCOME, RACE, AGE, COUNTY))
QUICK = TestSgdOptions(sample_thr=200, error_thr=0.2, bins=4)
PEOPLE = people(SMALL, 800)


def unlike(rows):
    """Old women of one race fare badly; for everybody it hangs on what they earn."""
    sex, income, race, age, county = rows.T
    return 0.15 + 0.07 * income + 0.2 * (sex == 1) - 0.4 * ((race == 1) & (age > 40)) + county / 50


def run(asked, options=QUICK, seed=0):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rng = np.random.default_rng(seed)
        return list(testsgd.search(asked, asked.rows[asked.inside], options, rng))


def figures(events):
    last = [event for event in events if isinstance(event, Measured)][-1].figures
    mined = [each for each in last if isinstance(each, RuleSearchSummary)]
    return mined, [each for each in last if isinstance(each, RuleSet)]


def truth(asked, value):
    """Return each row's mean of what everybody who may be made of it is told: all of them asked."""
    domain, rows = asked.domain, asked.rows
    total = np.zeros(len(rows))
    for position in domain.varying:
        for step in (-1.0, 1.0):
            moved = rows.copy()
            moved[:, position] = domain.clip(moved[:, [position]] + step, np.array([position]))[
                :, 0
            ]
            total += value(asked.model.predict(moved))
    return total / (2 * len(domain.varying))


def decided(scores):
    return labels(scores) == 1


@settings(max_examples=many(12))
@given(st.integers(0, 10_000), st.integers(60, 400), st.sampled_from([1, 2, 3]))
def test_scores_are_what_trying_everybody_comes_to(seed, n, together):
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=5)

    def model(rows):
        return 1 / (1 + np.exp(-(rows - rows_all.mean(axis=0)) / rows_all.std(axis=0) @ weights))

    rows_all = people(SMALL, n, seed)
    asked = study(model, rows_all, SMALL)
    options = msgspec.structs.replace(QUICK, together=together, sample_thr=300)
    (mined,), found = figures(run(asked, options, seed))
    exact = truth(asked, decided)
    untouched = decided(asked.model.predict(asked.rows))
    assert mined.rule_sets >= len(found) > 0
    for each in found:
        inside = members(SMALL.grouping, asked.groups, each.conditions)
        assert each.rows == inside.sum() >= 0.05 * n
        assert each.support == pytest.approx(inside.mean())
        assert len(each.conditions) <= together
        # five deviations: chance alone would need millions of tries
        assert abs(each.phi_in - exact[inside].mean()) <= 2.5 / np.sqrt(each.n_in)
        assert abs(each.phi_out - exact[~inside].mean()) <= 2.5 / np.sqrt(each.n_out)
        assert each.score == pytest.approx(abs(each.phi_in - each.phi_out))
        assert each.low <= each.phi_in - each.phi_out <= each.high
        assert each.data_in == pytest.approx(untouched[inside].mean())
        assert each.data_out == pytest.approx(untouched[~inside].mean())
        assert each.data_rows == min(inside.sum(), (~inside).sum())
        assert min(each.n_in, each.n_out) >= options.sample_thr
        assert each.margin <= options.error_thr
    ranks = [(n - each.rows < np.ceil(0.05 * n - 1e-9), -each.score) for each in found]
    assert ranks == sorted(ranks)


@pytest.mark.parametrize(("z", "confidence"), [(1.0, 0.466), (1.645, 0.81), (2.576, 0.98)])
def test_margins_are_of_the_confidence_that_was_asked_for(z, confidence):
    """More samples are drawn where margins are wider; intervals and p-values are as before."""
    asked = study(unlike, PEOPLE, SMALL)
    wide = msgspec.structs.replace(QUICK, error_thr=0.5)
    _, usual = figures(run(asked, wide))
    _, found = figures(run(asked, msgspec.structs.replace(wide, z=z)))
    assert len(found) == len(usual) > 0
    for each, other in zip(found, usual, strict=True):
        assert each.confidence == pytest.approx(confidence, abs=2e-3)
        assert each.margin == pytest.approx(other.margin * z / 1.96)
        assert (each.low, each.high, each.p) == (other.low, other.high, other.p)
    (strict,), _ = figures(run(asked, msgspec.structs.replace(QUICK, error_thr=0.02, z=z)))
    (loose,), _ = figures(run(asked, msgspec.structs.replace(QUICK, error_thr=0.02, z=0.8 * z)))
    assert strict.margin <= 0.02
    assert loose.samples < strict.samples


@pytest.mark.parametrize("codes", [(1, 2, 3), (0, 4, 9)])
def test_a_coded_category_is_no_range_in_what_is_found(codes):
    domain = Domain((SEX, INCOME, number("race", 0, 9, Role.PROTECTED)))
    rows = people(domain, 600)
    rows[:, 2] = np.array(codes, dtype=float)[rows[:, 0].astype(int) + (rows[:, 1] > 2)]

    def model(rows):
        return 0.3 + 0.4 * (rows[:, 2] == codes[1]) + rows[:, 1] / 50

    (mined,), found = figures(run(study(model, rows, domain)))
    race = [each for rule in found for each in rule.conditions if each.attribute == "race"]
    assert race
    assert all(each.codes and each.low is None and each.high is None for each in race)
    assert any(phrases.UNORDERED in note for note in mined.notes)
    options = msgspec.structs.replace(QUICK, coded="ordered")
    (mined,), found = figures(run(study(model, rows, domain), options))
    race = [each for rule in found for each in rule.conditions if each.attribute == "race"]
    assert race
    assert not any(each.codes for each in race)


def test_every_interval_holds_the_true_difference():
    asked = study(unlike, PEOPLE, SMALL)
    (mined,), found = figures(run(asked, msgspec.structs.replace(QUICK, sample_thr=1_000)))
    exact = truth(asked, decided)
    assert mined.rule_sets == len(found)
    for each in found:
        inside = members(SMALL.grouping, asked.groups, each.conditions)
        assert each.low <= exact[inside].mean() - exact[~inside].mean() <= each.high
    best = found[0]
    assert {each.attribute for each in best.conditions} >= {"race", "age"}
    assert best.score > 0.3
    assert best.p < 1e-4
    assert best.holds_on_data
    assert best.confidence == pytest.approx(0.9025, abs=1e-4)
    assert max(each.margin for each in found) == pytest.approx(mined.margin)


def test_the_same_seed_finds_the_same():
    def told(seed):
        mined, found = figures(run(study(unlike, PEOPLE, SMALL), seed=seed))
        return [msgspec.structs.replace(each, seconds=0.0) for each in mined], found

    assert told(3) == told(3)
    assert told(3) != told(4)


def test_how_fast_a_model_answers_changes_nothing(monkeypatch):
    class Slow(Pace):
        def parts(self, people):
            return (slice(start, start + 37) for start in range(0, people, 37))

    quick = figures(run(study(unlike, PEOPLE, SMALL)))
    monkeypatch.setattr(testsgd, "Pace", Slow)
    slow = figures(run(study(unlike, PEOPLE, SMALL)))
    assert quick[1] == slow[1]


def test_nobody_outside_the_domain_is_asked_about():
    domain = Domain(SMALL.attributes, ("income <= 6 or county >= 1", "income >= 1 or sex = m"))
    rows = people(SMALL, 900)
    inside = domain.contains(rows)
    assert 100 < inside.sum() < 900
    asked = study(unlike, rows, domain, inside=inside)
    events = run(asked)
    everybody = np.concatenate(asked.model.asked)
    assert domain.contains(everybody).all()
    (mined,), found = figures(events)
    for each in found:
        there = members(domain.grouping, asked.groups[inside], each.conditions)
        assert each.rows == there.sum()
    progress = [event for event in events if isinstance(event, Progress)]
    assert progress[-1].rejected > 0
    assert progress[-1].queries == len(everybody) == mined.samples + inside.sum()


def test_progress_is_told_often_and_never_falls():
    progress = [each for each in run(study(unlike, PEOPLE, SMALL)) if isinstance(each, Progress)]
    assert [each.phase for each in progress] == sorted(
        [each.phase for each in progress], key=["rules", "data", "samples"].index
    )
    for name in ("tried", "queries", "rejected"):
        counts = [getattr(each, name) for each in progress]
        assert counts == sorted(counts)
    done = [each.done for each in progress if each.phase == "samples"]
    assert done == sorted(done)
    assert 0 < done[0] < done[-1]
    assert progress[-1].done == progress[-1].total > 0
    assert all(each.done <= each.total for each in progress)


def test_what_is_known_is_told_when_it_is_stopped():
    asked = study(unlike, PEOPLE, SMALL)
    options = msgspec.structs.replace(QUICK, sample_thr=20_000, error_thr=0.01)
    search = testsgd.search(asked, asked.rows, options, np.random.default_rng(0))
    for event in search:
        if isinstance(event, Measured):
            break
    search.close()
    mined, *found = event.figures
    assert len(found) > 50
    assert mined.samples == asked.queries - len(PEOPLE)
    assert all(min(each.n_in, each.n_out) > 0 for each in found)


def looked_once(rule_set, mined):
    """The interval of one look only, of the samples as so many individuals as there are rows."""
    sides = []
    for n, rows, rate in (
        (rule_set.n_in, rule_set.rows, rule_set.phi_in),
        (rule_set.n_out, len(PEOPLE) - rule_set.rows, rule_set.phi_out),
    ):
        effective = np.array([n * rows / (n + rows - 1)])
        sides.append(Side(effective, rate * effective, effective=True))
    low, high = interval(*sides, 0.05 / mined.rule_sets)
    return low[0], high[0]


def test_a_small_error_bound_takes_more_samples_and_says_less_early():
    asked = study(unlike, PEOPLE, SMALL)
    loose, strict = (
        msgspec.structs.replace(QUICK, sample_thr=100, error_thr=error) for error in (0.5, 0.04)
    )
    (few,), _ = figures(run(asked, loose))
    (many,), fine = figures(run(asked, strict))
    assert many.samples > 3 * few.samples
    assert many.margin <= 0.04 < few.margin
    exact = truth(asked, decided)
    for each in fine:
        inside = members(SMALL.grouping, asked.groups, each.conditions)
        assert each.low <= exact[inside].mean() - exact[~inside].mean() <= each.high
        assert each.high - each.low > 2 * each.margin / 1.96
    # whoever looked before pays for it: the interval is wider than that of one look only
    for each in fine[:20]:
        once = looked_once(each, many)
        assert each.low < once[0]
        assert each.high > once[1]


def test_where_the_first_look_is_the_last_nothing_is_paid():
    asked = study(unlike, PEOPLE, SMALL)
    (mined,), found = figures(run(asked, msgspec.structs.replace(QUICK, error_thr=0.5)))
    for each in found[:20]:
        assert (each.low, each.high) == pytest.approx(looked_once(each, mined))


def three(rows):
    middle = 0.3 * np.ones(len(rows))
    good = unlike(rows) / 2
    return np.stack([1 - good - middle, middle, good], axis=1)


def test_each_decision_in_turn():
    names = ("refused", "waits", "granted")
    asked = study(three, PEOPLE, SMALL, decisions=names, favourable=2)
    options = msgspec.structs.replace(QUICK, outcome="each")
    events = run(asked, options)
    last = [event for event in events if isinstance(event, Measured)][-1].figures
    kinds = [each.outcome for each in last if isinstance(each, RuleSearchSummary)]
    assert kinds == list(names)
    assert [each.outcome for each in last] == sorted(
        [each.outcome for each in last], key=names.index
    )
    exact = {
        name: truth(asked, lambda scores, i=i: labels(scores) == i) for i, name in enumerate(names)
    }
    mined, found = figures(events)
    for each in found:
        inside = members(SMALL.grouping, asked.groups, each.conditions)
        right = exact[each.outcome]
        assert each.low <= right[inside].mean() - right[~inside].mean() <= each.high
    favourable = figures(run(asked, QUICK))[0][0]
    assert (favourable.outcome, favourable.rule_sets) == ("granted", mined[2].rule_sets)


def test_of_very_many_decisions_fewer_rule_sets_are_told(monkeypatch):
    monkeypatch.setattr(testsgd, "_TOLD_IN_ALL", 75)
    asked = study(three, PEOPLE, SMALL, decisions=("refused", "waits", "granted"), favourable=2)
    mined, found = figures(run(asked, msgspec.structs.replace(QUICK, outcome="each")))
    assert mined[0].rule_sets > 50
    assert len(found) == 3 * 25


def test_mean_scores():
    asked = study(unlike, PEOPLE, SMALL)
    (mined,), found = figures(run(asked, msgspec.structs.replace(QUICK, outcome="score")))
    exact = truth(asked, lambda scores: np.clip(scores[:, 0], 0, 1))
    assert mined.outcome == found[0].outcome == ""
    for each in found:
        inside = members(SMALL.grouping, asked.groups, each.conditions)
        assert each.low <= exact[inside].mean() - exact[~inside].mean() <= each.high
        deviation = [exact[some].std() for some in (inside, ~inside)]
        assert each.margin == pytest.approx(
            1.96 * (deviation[0] / np.sqrt(each.n_in) + deviation[1] / np.sqrt(each.n_out)), rel=0.3
        )
    unfavourable = study(unlike, PEOPLE, SMALL, favourable=0)
    _, other = figures(run(unfavourable, msgspec.structs.replace(QUICK, outcome="score")))
    same = {each.conditions: each for each in other}
    assert same[found[0].conditions].phi_in == pytest.approx(1 - found[0].phi_in, abs=0.1)


def test_scores_that_are_all_alike_leave_some_doubt():
    asked = study(lambda rows: 0.2 + 0.37 * rows[:, 0], PEOPLE, SMALL)
    options = msgspec.structs.replace(QUICK, outcome="score", together=1)
    _, found = figures(run(asked, options))
    sexes = [each for each in found if each.conditions[0].attribute == "sex"]
    assert [each.score for each in sexes] == pytest.approx([0.37, 0.37], abs=1e-4)
    assert all(0.005 < each.margin < 0.05 for each in sexes)


def test_groups_that_the_model_is_not_given():
    rng = np.random.default_rng(0)
    # this race earns less, and some are of none that is known
    unseen = (PEOPLE[:, 1] + rng.integers(0, 4, len(PEOPLE)) > 5).astype(float)
    unseen[rng.random(len(PEOPLE)) < 0.1] = np.nan
    tribe = msgspec.structs.replace(SEX, name="tribe", values=("p", "q"))
    county = msgspec.structs.replace(COUNTY)
    domain = Domain((INCOME, county), unseen=(tribe,))
    rows = PEOPLE[:, [1, 4]]
    asked = study(lambda rows: rows[:, 0] / 10 + 0.01, rows, domain, unseen=unseen[:, None])
    (mined,), found = figures(run(asked))
    assert mined.attributes == ("tribe",)
    assert {each.conditions[0].codes for each in found} == {(0.0,), (1.0,)}
    for each in found:
        assert each.rows == (unseen == each.conditions[0].codes[0]).sum()
    assert found[0].score > 0.3


def test_edges_are_the_auditors():
    asked = study(unlike, PEOPLE, SMALL, edges={"age": (30.0, 50.0)})
    _, found = figures(run(asked))
    ages = {
        (each.low, each.high) for one in found for each in one.conditions if each.attribute == "age"
    }
    assert ages == {(None, 29.0), (None, 49.0), (30.0, 49.0), (30.0, None), (50.0, None)}


def test_a_tiny_group_outside_gets_its_samples():
    rows = people(SMALL, 6_000)
    rows[:, 3] = np.minimum(rows[:, 3], 50)
    rows[:3, 3] = 66
    asked = study(unlike, rows, SMALL)
    (mined,), found = figures(run(asked, msgspec.structs.replace(QUICK, least_rows=2)))
    nearly = [each for each in found if each.rows == len(rows) - 3]
    assert nearly
    assert all(each.n_out >= QUICK.sample_thr for each in nearly)
    # not by asking about everybody until three of 6,000 were drawn so often
    assert mined.samples < 50 * QUICK.sample_thr
    assert all(each.holds_on_data is None for each in nearly)
    assert any("of the rows outside" in note and "ranked last" in note for note in mined.notes)


def test_what_untouched_rows_do_not_show_is_told():
    # rows are favoured whatever they are; whoever is one step away only if a man
    rows = PEOPLE.copy()
    rows[:, 1] = 4.0

    def model(asked):
        return np.where((asked[:, 1] == 4) | (asked[:, 0] == 1), 0.9, 0.1)

    fixed = msgspec.structs.replace(COUNTY, role=Role.FIXED)
    domain = Domain((SEX, INCOME, fixed))
    asked = study(model, rows[:, [0, 1, 4]], domain)
    _, found = figures(run(asked))
    assert found[0].score == pytest.approx(1.0)
    assert found[0].data_in == found[0].data_out == 1.0
    assert found[0].holds_on_data is False


def test_variants_and_the_lattice_speak_of_rule_sets_that_were_examined():
    asked = study(unlike, PEOPLE, SMALL)
    _, found = figures(run(asked))
    by_conditions = {each.conditions: each for each in found}
    for place, each in enumerate(found):
        if each.leader >= 0:
            assert each.leader < place
            assert found[each.leader].leader < 0
            assert not each.broader
            continue
        for beside in (*each.broader, *each.narrower):
            other = by_conditions[beside.conditions]
            assert (beside.score, beside.phi_in, beside.support) == (
                other.score,
                other.phi_in,
                other.support,
            )
        assert len(each.broader) <= 8
        assert len(each.narrower) <= 8
    leaders = [each for each in found if each.leader < 0]
    assert 1 < len(leaders) < len(found) / 3
    assert any(each.broader for each in leaders)
    assert any(each.narrower for each in leaders)


def test_the_sweep_tells_what_another_support_would_find():
    asked = study(unlike, PEOPLE, SMALL)
    (mined,), found = figures(run(asked))
    assert mined.rule_sets == len(found)
    assert [each.theta for each in mined.sweep] == [
        *(0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
    ]
    for each in mined.sweep:
        there = [one for one in found if one.support >= each.theta]
        assert each.rule_sets == len(there)
        assert each.score == there[0].score
        assert each.conditions == there[0].conditions


def test_names_are_ordered_by_what_the_model_decides():
    letters = "abcdefghijkl"
    race = msgspec.structs.replace(
        RACE, values=tuple(letters), high=11.0, compared=tuple(map(float, range(12)))
    )
    domain = Domain((race, INCOME))
    rng = np.random.default_rng(0)
    rows = np.stack([rng.integers(0, 12, 2_000), rng.integers(0, 10, 2_000)], axis=1).astype(float)
    worst = np.isin(np.arange(12), [2, 5, 9])

    def model(asked):
        return asked[:, 1] / 10 + 0.1 - 0.35 * worst[asked[:, 0].astype(int)]

    # two of the three worst differ nearly as much as all three: one seed in three shows it so
    (mined,), found = figures(run(study(model, rows, domain), seed=1))
    assert any("12 categories" in note for note in mined.notes)
    assert {each.conditions[0].codes for each in found[:2]} == {
        (2.0, 5.0, 9.0),
        (0.0, 1.0, 3.0, 4.0, 6.0, 7.0, 8.0, 10.0, 11.0),
    }


def test_a_model_of_one_answer_is_told():
    (mined,), found = figures(run(study(lambda rows: np.ones(len(rows)), PEOPLE, SMALL)))
    assert "decided “yes” for every instance tested" in mined.notes[0]
    assert {each.score for each in found} == {0.0}
    assert {each.p for each in found} == {1.0}
    assert {each.holds_on_data for each in found} == {None}
    assert all(0 < each.margin <= 0.2 for each in found)


def test_where_nothing_may_vary_rows_are_asked_about_as_they_are():
    domain = Domain((SEX, RACE, AGE, COUNTY))
    rows = PEOPLE[:, [0, 2, 3, 4]]
    asked = study(lambda rows: 0.3 + 0.4 * rows[:, 0], rows, domain)
    (mined,), _ = figures(run(asked))
    assert any("so the samples are original data rows" in note for note in mined.notes)
    known = {tuple(row) for row in rows.tolist()}
    assert {tuple(row) for row in np.concatenate(asked.model.asked).tolist()} <= known


def test_too_many_rule_sets_are_told(monkeypatch):
    from fairdesk.groups.tabular import rule_sets

    monkeypatch.setattr(rule_sets, "MOST", 50)
    (mined,), found = figures(run(study(unlike, PEOPLE, SMALL)))
    assert any("2 attributes together" in note for note in mined.notes)
    assert {len(each.conditions) for each in found} == {1}


def test_very_many_rows_are_asked_about_in_part(monkeypatch):
    monkeypatch.setattr(testsgd, "MOST_ROWS", 300)
    asked = study(unlike, PEOPLE, SMALL)
    (mined,), found = figures(run(asked))
    assert asked.queries == mined.samples + 300
    assert found[0].data_in is not None


def test_nobody_inside_is_refused():
    asked = study(unlike, PEOPLE, SMALL, inside=np.zeros(len(PEOPLE), dtype=bool))
    with pytest.raises(SpecError, match=phrases.NOBODY_TO_START_FROM):
        run(asked)


def test_groups_that_nobody_knows_are_refused():
    tribe = msgspec.structs.replace(SEX, name="tribe", values=("p", "q"))
    domain = Domain((INCOME, COUNTY), unseen=(tribe,))
    unseen = np.full((len(PEOPLE), 1), np.nan)
    asked = study(lambda rows: rows[:, 0] / 10, PEOPLE[:, [1, 4]], domain, unseen=unseen)
    with pytest.raises(SpecError, match="No group is known"):
        run(asked)


def test_everybody_alike_is_refused():
    rows = PEOPLE.copy()
    rows[:, 0] = 1.0
    asked = study(lambda rows: rows[:, 1] / 10, rows[:, :2], Domain((SEX, INCOME)))
    with pytest.raises(SpecError, match=phrases.SAME_PROTECTED_VALUES):
        run(asked)
    assert asked.queries == 0


def test_too_much_support_is_refused_at_once():
    tribe = msgspec.structs.replace(SEX, name="tribe", values=("p", "q"))
    domain = Domain((INCOME, COUNTY), unseen=(tribe,))
    # of most people it is not known
    unseen = np.full((len(PEOPLE), 1), np.nan)
    unseen[:40], unseen[40:60] = 0.0, 1.0
    asked = study(lambda rows: rows[:, 0] / 10, PEOPLE[:, [1, 4]], domain, unseen=unseen)
    with pytest.raises(SpecError, match=r"No subgroup has at least 30 % of the rows") as error:
        run(asked, msgspec.structs.replace(QUICK, theta=0.3))
    assert f"40 of {len(PEOPLE)} rows" in error.value.why
    assert asked.queries == 0


def test_few_rows_are_not_made_many_by_drawing_many_samples_of_each():
    # of each sex one row: thousands of samples, and nothing that is known of anybody else
    rows = PEOPLE[:2].copy()
    rows[:, 0] = 0.0, 1.0
    few = study(lambda rows: 0.1 + 0.8 * (rows[:, 0] == 1), rows, SMALL)
    with pytest.raises(SpecError, match="No subgroup has at least 10 rows") as error:
        run(few, TestSgdOptions())
    assert "least_rows" in error.value.remedy
    assert few.queries == 0

    # of each five: they are looked at where that is asked for
    rows = PEOPLE[:10].copy()
    rows[:, 0] = np.arange(10) % 2
    domain = Domain((SEX, INCOME))
    asked = study(lambda rows: 0.1 + 0.8 * (rows[:, 0] == 1), rows[:, :2], domain)
    with pytest.raises(SpecError, match="No subgroup has at least 10 rows"):
        run(asked, TestSgdOptions())
    (mined,), found = figures(run(asked, TestSgdOptions(least_rows=5)))
    assert mined.rule_sets == 2
    for each in found:
        assert each.score == 1.0
        assert min(each.n_in, each.n_out) >= 1_000
        assert each.margin < 0.01
        assert each.high - each.low > 0.7
        assert each.p > 0.05
    assert any("fewer than 5" in note for note in mined.notes)


@pytest.mark.parametrize("outcome", ["favourable", "score"])
def test_more_samples_of_the_same_rows_narrow_the_margin_only(outcome):
    asked = study(unlike, PEOPLE[:60], SMALL)
    few, many = (
        figures(
            run(asked, TestSgdOptions(together=1, sample_thr=n, error_thr=0.5, outcome=outcome))
        )
        for n in (1_000, 30_000)
    )
    wide = {each.conditions: each for each in few[1]}
    for each in many[1]:
        before = wide[each.conditions]
        assert each.margin < 0.3 * before.margin
        assert each.high - each.low > 0.8 * (before.high - before.low)
        assert each.high - each.low > 3 * each.margin


def test_names_that_the_rows_rates_chose_pay_for_those_that_they_might_have():
    rules = rules_about(
        nominal("tribe", [f"tribe {i}" for i in range(12)], Role.PROTECTED),
        np.tile(np.arange(12.0), 40),
        bins=10,
        favourable=(np.random.default_rng(1).random(480) < 0.5).astype(float),
    )
    size = rules.sets.sum(axis=1)
    single = (size == 1) | (size == 11)
    assert single.sum() == 24
    assert (rules.ways[single] == 1).all()
    assert rules.ways[~single].tolist() == [comb(12, each) for each in size[~single]]

    rows = np.column_stack([np.tile(np.arange(12.0), 40), np.arange(480) % 10])
    domain = Domain((rules.attribute, INCOME))
    (mined,), found = figures(run(study(lambda rows: rows[:, 1] / 10, rows, domain)))
    assert any("from which the rates selected them" in note for note in mined.notes)
    halves = next(each for each in found if len(each.conditions[0].codes) == 6)
    n_in, n_out = (np.array([n * 240 / (n + 239)]) for n in (halves.n_in, halves.n_out))
    low, high = interval(
        Side(n_in, halves.phi_in * n_in, effective=True),
        Side(n_out, halves.phi_out * n_out, effective=True),
        0.05 / mined.rule_sets / comb(12, 6),
    )
    assert (halves.low, halves.high) == pytest.approx((low[0], high[0]))


def test_what_is_asked_for_at_once_are_whole_blocks():
    """Workers that share them out would else wait for whoever has the rest of one."""
    assert rule_sets.MOST_AT_ONCE % testsgd.BLOCK == 0
