"""The estimate measures what it says: the same shares as counting everybody."""

import numpy as np
import pytest
from scipy.stats import binom

from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.errors import ModelError, SpecError
from fairdesk.individual.engine import pace
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.engine.sampling import of_domain, perturbed
from fairdesk.individual.searches.preflight import PEOPLE, preflight
from fairdesk.individual.shares import estimate
from fairdesk.individual.shares.estimate import EstimateOptions
from fairdesk.individual.shares.tally import anytime
from fairdesk.models.model import labels
from fairdesk.results.events import Found, Measured, Progress
from fairdesk.results.individual import Share
from tests.individual.conftest import Network, everybody, integer
from tests.individual.test_constrained import ATTRIBUTES, OF_AGE, OF_RACE, TEXTS

SHORT = EstimateOptions(trials=8, people=400)


def run(domain, model, options=SHORT, people=None, seed=0, **kept):
    if people is None:
        people = domain.sample(np.random.default_rng(seed + 1), 100)
    context = SearchContext(model, domain, **kept)
    return list(estimate.search(context, people, options, np.random.default_rng(seed))), context


def shares(events):
    figures = [event for event in events if isinstance(event, Measured)][-1].figures
    return {(each.whom, each.attributes): each for each in figures if isinstance(each, Share)}


def verdicts(domain, rows, model, changed):
    """Decide by the definition; ``changed`` are the protected columns that may differ."""
    members = domain.similar(rows)
    flat = members.reshape(-1, rows.shape[1])
    same = np.setdiff1d(domain.protected, changed)
    meant = domain.contains(flat).reshape(members.shape[:2])
    meant &= (members[:, :, same] == rows[:, None, same]).all(axis=2)
    decided = labels(model.predict(np.nan_to_num(flat))).reshape(meant.shape)
    return np.where(meant, decided, -1).max(axis=1) > np.where(meant, decided, 99).min(axis=1)


def constrained():
    texts = (*TEXTS, "class is determined by age")
    return Domain(ATTRIBUTES, texts, (OF_AGE,))


@pytest.mark.parametrize("ruled", [False, True])
def test_shares_of_the_domain_are_those_of_everybody(ruled, small_domain):
    domain = constrained() if ruled else small_domain
    model = Network(domain, np.random.default_rng(4), classes=3)
    fixed = domain.names.index("county")
    people = domain.sample(np.random.default_rng(1), 100)
    people = people[(people[:, fixed] == 0) | (np.arange(len(people)) < 20)]  # not evenly spread
    ranges = everybody_of(domain)
    events, _ = run(domain, model, EstimateOptions(trials=20, people=400), people)
    told = shares(events)
    sex, race = (domain.names.index(name) for name in ("sex", "race"))
    for names, changed in ((("sex", "race"), [sex, race]), (("sex",), [sex]), (("race",), [race])):
        truth = verdicts(domain, ranges, model, changed).mean()
        share = told["domain", names]
        assert share.n_samples == 8_000
        assert abs(share.estimate - truth) < 5 * np.sqrt(truth * (1 - truth) / 8_000)
        assert share.low < share.estimate < share.high
        assert share.anytime_low < share.low
        assert share.high < share.anytime_high


def everybody_of(domain):
    grid = np.meshgrid(
        *(np.arange(each.low, each.high + 1, each.spacing) for each in domain.attributes)
    )
    everyone = np.column_stack([axis.ravel() for axis in grid]).astype(float)
    return everyone[domain.contains(everyone)]


def test_the_datas_share_is_exact_and_counts_every_row(small_domain):
    model = Network(small_domain, np.random.default_rng(4))
    people = small_domain.sample(np.random.default_rng(1), 150)
    people = np.concatenate([people, people[:30]])  # the same people twice are two rows
    events, _ = run(small_domain, model, people=people)
    share = shares(events)["data", ("sex", "race")]
    truth = verdicts(small_domain, people, model, small_domain.protected)
    assert share.exhaustive
    assert (share.n_samples, share.hits) == (180, truth.sum())
    assert share.estimate == share.low == share.high == share.anytime_low == share.anytime_high
    assert share.estimate == truth.mean()


@pytest.mark.parametrize("favourable", [0, 1])
def test_gains_and_losses_of_the_data_are_those_of_the_definition(favourable, small_domain):
    model = Network(small_domain, np.random.default_rng(4))
    people = small_domain.sample(np.random.default_rng(1), 150)
    context = SearchContext(model, small_domain)
    context.favourable = favourable
    events = list(estimate.search(context, people, SHORT, np.random.default_rng(0)))
    found = shares(events)
    now = labels(model.predict(people)) == favourable
    for names in (("sex", "race"), ("sex",), ("race",)):
        changed = [small_domain.names.index(name) for name in names]
        hits = verdicts(small_domain, people, model, changed)
        share = found["data", names]
        assert (share.gains, share.losses) == ((hits & ~now).sum(), (hits & now).sum())
        if len(names) == 1:
            own = people[:, changed[0]]
            assert share.by_value == tuple(
                (code, (hits & ~now & (own == code)).sum(), (hits & now & (own == code)).sum())
                for code in np.unique(own[hits])
            )
        assert found["domain", names].gains is None
    assert found["data", ("sex", "race")].gains


def test_a_change_between_unfavourable_decisions_is_neither_gain_nor_loss(small_domain):
    model = Network(small_domain, np.random.default_rng(4), classes=3)
    people = small_domain.sample(np.random.default_rng(1), 300)
    events, _ = run(small_domain, model, people=people)
    share = shares(events)["data", ("sex", "race")]
    assert 0 < share.gains + share.losses < share.hits


@pytest.mark.parametrize("size", [1, 37, 1000])
def test_all_rows_of_a_large_table_are_counted_in_blocks(size, small_domain):
    model = Network(small_domain, np.random.default_rng(4))
    people = small_domain.sample(np.random.default_rng(1), 400)
    whole, _ = run(small_domain, model, people=people)
    context = SearchContext(model, small_domain)
    context.all_rows = lambda: (
        # every second row that was read lies in the domain
        (2 * len(part), part)
        for part in (people[start : start + size] for start in range(0, 400, size))
    )
    context.n_rows = 800
    held, rng = people[:60], np.random.default_rng(0)
    events = list(estimate.search(context, held, SHORT, rng))
    found, expected = shares(events), shares(whole)
    for names in (("sex", "race"), ("sex",), ("race",)):
        share = found["data", names]
        assert share.exhaustive
        assert (share.n_samples, share.hits) == (400, expected["data", names].hits)
        assert share.low == share.high == share.estimate == expected["data", names].estimate
        counted = expected["data", names]
        assert (share.gains, share.losses) == (counted.gains, counted.losses)
        assert share.by_value == counted.by_value
    done = [each.done for each in events if isinstance(each, Progress) and each.phase == "rows"]
    assert done == sorted(done)
    assert done[-1] == 800
    # nobody of them is booked
    assert sum(len(each.rows) for each in events if isinstance(each, Found)) < 400


def test_a_count_of_all_rows_that_is_cut_leaves_the_estimate(small_domain):
    model = Network(small_domain, np.random.default_rng(4))
    people = small_domain.sample(np.random.default_rng(1), 400)
    context = SearchContext(model, small_domain)
    context.all_rows = lambda: iter([(100, people[:100]), (100, people[100:200])])
    context.n_rows = 400
    events = []
    for event in estimate.search(context, people[:60], SHORT, np.random.default_rng(0)):
        events.append(event)
        if isinstance(event, Progress) and event.phase == "rows" and event.done >= 100:
            break
    share = shares(events)["data", ("sex", "race")]
    assert share.n_samples == 60
    assert not share.exhaustive
    assert share.low < share.estimate < share.high


def test_a_sample_of_the_data_is_no_whole(small_domain):
    model = Network(small_domain, np.random.default_rng(4))
    people = small_domain.sample(np.random.default_rng(1), 500)
    events, _ = run(small_domain, model, EstimateOptions(trials=3, people=100), people)
    share = shares(events)["data", ("sex", "race")]
    truth = verdicts(small_domain, people, model, small_domain.protected).mean()
    assert not share.exhaustive
    assert share.n_samples == 300
    assert share.anytime_low < truth < share.anytime_high
    # it is narrower than for a sample of endlessly many
    low, high = anytime(share.hits, share.n_samples, 0.95)
    assert share.anytime_high - share.anytime_low < 0.8 * (high - low)


def test_perturbed_people_are_near_real_ones(small_domain):
    people = small_domain.sample(np.random.default_rng(1), 40)
    context = SearchContext(Network(small_domain, np.random.default_rng(4)), small_domain)
    rows, _ = next(perturbed(context, people, 2, 3, np.random.default_rng(0)))
    assert small_domain.contains(rows).all()
    apart = np.abs(rows[:, None, :] - people)
    near = (apart <= 3).all(axis=2) & ((apart > 0).sum(axis=2) <= 2)
    assert near.any(axis=1).all()
    moved = (rows[:, None, :] != people).sum(axis=2).min(axis=1)
    assert (moved > 0).mean() > 0.5
    unmoved = np.setdiff1d(np.arange(6), small_domain.varying)
    assert (apart[:, :, unmoved] == 0).all(axis=2).any(axis=1).all()


def test_values_without_order_get_any_other():
    town = Attribute("town", Kind.NOMINAL, ("a", "b", "c", "d", "e"), 0.0, 4.0)
    domain = Domain((town, integer("sex", 0, 1, Role.PROTECTED, (0, 1))))
    context = SearchContext(Network(domain, np.random.default_rng(4)), domain)
    people = np.array([[1.0, 0.0]])
    rows, _ = next(perturbed(context, people, 1, 1, np.random.default_rng(0)))
    towns, counts = np.unique(rows[:, 0], return_counts=True)
    assert towns.tolist() == [0, 2, 3, 4]
    assert counts.min() > 0.8 * counts.max()


def test_perturbed_people_fulfil_constraints():
    domain = constrained()
    people = domain.sample(np.random.default_rng(1), 60)
    context = SearchContext(Network(domain, np.random.default_rng(4)), domain)
    rows, _ = next(perturbed(context, people, 3, 3, np.random.default_rng(0)))
    assert len(rows) > 100
    assert domain.contains(rows).all()
    assert context.rejected > 0


def test_every_draw_counts_but_everybody_is_found_once(small_domain):
    model = Network(small_domain, np.random.default_rng(4))
    events, context = run(small_domain, model)
    found = np.concatenate([event.rows for event in events if isinstance(event, Found)])
    assert len(np.unique(found[:, small_domain.others], axis=0)) == len(found) == context.found
    share = shares(events)["domain", ("sex", "race")]
    assert share.n_samples == 3_200
    assert context.tried <= 240
    assert share.hits > len(found)
    progress = [event for event in events if isinstance(event, Progress)]
    assert progress[-1].queries == sum(map(len, model.asked))
    assert progress[-1].done == progress[-1].total
    assert isinstance(events[-2], Measured)


def test_course_and_trials_add_up(small_domain):
    events, _ = run(small_domain, Network(small_domain, np.random.default_rng(4)))
    for share in shares(events).values():
        people = [point[0] for point in share.course]
        assert people == sorted(set(people))
        assert 3 < len(people) <= 200
        assert share.course[-1][:2] == (share.n_samples, share.estimate)
        assert share.course[-1][2:] == (share.anytime_low, share.anytime_high)
        if not share.exhaustive:
            assert len(share.trials) == 8
            assert np.mean(share.trials) == pytest.approx(share.estimate)


def test_whenever_it_is_stopped_there_are_figures(small_domain, monkeypatch):
    monkeypatch.setattr(pace, "_TELL_SECONDS", 0.0)
    model = Network(small_domain, np.random.default_rng(4))
    people = small_domain.sample(np.random.default_rng(1), 100)
    context = SearchContext(model, small_domain)
    events = []
    for event in estimate.search(context, people, SHORT, np.random.default_rng(0)):
        events.append(event)
        if isinstance(event, Progress) and event.done > 3_500:
            break
    told = shares(events)
    assert {whom for whom, _ in told} == {"domain", "data", "perturbed"}
    assert all(0 < share.n_samples <= 3_200 for share in told.values())
    assert not told["domain", ("sex",)].exhaustive


def test_same_seed_same_figures(small_domain, real_domain):
    for domain in (small_domain, real_domain):
        model = Network(domain, np.random.default_rng(4))
        first, second = (shares(run(domain, model)[0]) for _ in range(2))
        assert first == second
        assert first != shares(run(domain, model, seed=1)[0])


def test_real_attributes_are_estimated_too(real_domain):
    model = Network(real_domain, np.random.default_rng(4))
    events, _ = run(real_domain, model, EstimateOptions(trials=10, people=500))
    told = shares(events)
    assert {attributes for _, attributes in told} == {("sex",)}  # alone is the same as together
    rows = real_domain.sample(np.random.default_rng(77), 20_000)
    truth = verdicts(real_domain, rows[:4_000], model, real_domain.protected).mean()
    share = told["domain", ("sex",)]
    assert share.anytime_low < truth < share.anytime_high


class Placed:
    """Answers by a row's place in its batch, as last bits do."""

    def predict(self, rows):
        return np.where(np.arange(len(rows)) % 3 == 0, 0.50001, 0.5)[:, None].astype(np.float32)


def test_last_bits_are_no_share(small_domain):
    events, context = run(small_domain, Placed())
    assert context.found == 0
    for share in shares(events).values():
        assert share.hits == 0 < share.n_samples


def test_nought_of_many_is_not_nothing(small_domain):
    model = Network(small_domain, np.random.default_rng(4))
    model.hidden[small_domain.protected] = 0
    events, _ = run(small_domain, model)
    share = shares(events)["domain", ("sex", "race")]
    assert share.estimate == share.low == 0
    assert share.high == pytest.approx(1 - 0.025 ** (1 / 3_200))
    assert share.high < share.anytime_high < 0.01


def test_only_people_near_the_data_are_asked_about(small_domain):
    def fits(rows):
        return rows[:, 0] < 3  # stands for a distance: few years only

    model = Network(small_domain, np.random.default_rng(4))
    events, context = run(small_domain, model, fits=fits)
    told = shares(events)
    everyone = everybody(small_domain)
    truth = verdicts(small_domain, everyone[fits(everyone)], model, small_domain.protected).mean()
    share = told["domain", ("sex", "race")]
    assert share.n_samples == 3_200
    assert abs(share.estimate - truth) < 5 * np.sqrt(truth * (1 - truth) / 3_200)
    assert fits(np.concatenate(model.asked)).all()
    assert context.rejected > share.n_samples


def test_nobody_near_is_told(small_domain):
    model = Network(small_domain, np.random.default_rng(4))
    with pytest.raises(SpecError, match="Hardly any instance is eligible for testing: 0 of"):
        run(small_domain, model, fits=lambda rows: np.zeros(len(rows), dtype=bool))


def test_fixed_values_are_each_as_likely(small_domain):
    people = small_domain.sample(np.random.default_rng(1), 200)
    people[:, 4] = np.arange(200) < 5  # five of 200 have 1
    context = SearchContext(Network(small_domain, np.random.default_rng(4)), small_domain)
    rows, combination = next(of_domain(context, people, np.random.default_rng(0)))
    assert 0.001 < binom.cdf(rows[:, 4].sum(), len(rows), 0.5) < 0.999
    own = small_domain.combinations[combination]
    assert (rows[:, small_domain.protected] == own).all()


def test_a_search_that_found_nothing_is_bounded(small_domain):
    model = Network(small_domain, np.random.default_rng(4))
    model.hidden[small_domain.protected] = 0
    people = small_domain.sample(np.random.default_rng(1), 100)
    context = SearchContext(model, small_domain)
    events = list(estimate.upper_bound(context, people, np.random.default_rng(0)))
    (share,) = shares(events).values()
    assert share.hits == share.low == 0
    assert (share.n_samples, share.whom) == (3_000, "domain")
    assert 0.001 < share.high < share.anytime_high < 0.003
    assert isinstance(events[-1], Progress)


def test_no_bound_where_nobody_may_be_asked_about(small_domain):
    context = SearchContext(
        Network(small_domain, np.random.default_rng(4)),
        small_domain,
        fits=lambda rows: np.zeros(len(rows), dtype=bool),
    )
    people = small_domain.sample(np.random.default_rng(1), 100)
    events = list(estimate.upper_bound(context, people, np.random.default_rng(0)))
    assert not any(isinstance(event, Measured) for event in events)


def before(domain, model, **kept):
    context = SearchContext(model, domain, **kept)
    people = domain.sample(np.random.default_rng(1), 300)
    return list(preflight(context, people, np.random.default_rng(0))), context


class Constant:
    def __init__(self, score):
        self.score, self.asked = score, []

    def predict(self, rows):
        self.asked.append(rows)
        return np.full((len(rows), 1), self.score, dtype=np.float32)


@pytest.mark.parametrize("score", [0.0, 0.7])
def test_a_constant_model_is_told_at_once(score, small_domain):
    with pytest.raises(ModelError, match="the same score to all 2,300 instances") as raised:
        before(small_domain, Constant(score))
    assert raised.value.why
    assert raised.value.remedy
    # a narrow domain of a sound model looks the same: nothing is claimed of all people
    assert "allowed values may also be so few" in str(raised.value)


def test_a_model_that_answers_no_number_is_told_at_once(small_domain):
    class Dumb(Constant):
        def predict(self, rows):
            raise ModelError("The model answered with no number for 3 of 300 rows.")

    with pytest.raises(ModelError, match="no number"):
        before(small_domain, Dumb(0.0))


def test_a_look_before_a_run_is_counted(small_domain):
    model = Network(small_domain, np.random.default_rng(4))
    events, context = before(small_domain, model)
    asked = np.concatenate(model.asked)
    assert small_domain.contains(asked).all()
    assert events[-1].queries == context.cached_model.queries == len(asked) <= PEOPLE + 300
    assert (context.tried, context.found) == (0, 0)


def test_nobody_far_is_looked_at_before_a_run(small_domain):
    model = Network(small_domain, np.random.default_rng(4))
    before(small_domain, model, fits=lambda rows: rows[:, 0] < 3)
    assert (np.concatenate(model.asked)[:, 0] < 3).all()


def test_constraints_that_hardly_anybody_fulfils_hinder_no_look():
    domain = Domain(
        (
            *(integer(f"a{i}", 0, 99) for i in range(6)),
            integer("sex", 0, 1, Role.PROTECTED, (0, 1)),
        ),
        tuple(f"a{i} = 7" for i in range(6)),
    )
    context = SearchContext(Network(domain, np.random.default_rng(4)), domain)
    people = np.array([[7.0] * 6 + [0.0], [7.0] * 6 + [1.0]])
    list(preflight(context, people, np.random.default_rng(0)))
    assert context.cached_model.queries == 2


def test_determined_by_protected_is_estimated_as_enumerated():
    domain = Domain(ATTRIBUTES, ("class is determined by race",), (OF_RACE,))
    model = Network(domain, np.random.default_rng(6))
    everyone = everybody_of(domain)
    truth = verdicts(domain, everyone, model, domain.protected).mean()
    events, _ = run(domain, model, EstimateOptions(trials=10, people=500))
    share = shares(events)["domain", ("sex", "race")]
    assert abs(share.estimate - truth) < 5 * np.sqrt(truth * (1 - truth) / 5_000)


@pytest.mark.parametrize("margin", [0.02, 0.05])
def test_sampling_ends_once_all_intervals_are_narrow(margin, small_domain):
    model = Network(small_domain, np.random.default_rng(4))
    people = small_domain.sample(np.random.default_rng(1), 3_000)
    options = EstimateOptions(trials=100, people=1_000, margin=margin)
    found = shares(run(small_domain, model, options, people)[0])
    for (whom, _), share in found.items():
        # the individuals in the data are all asked about, however narrow it is before
        assert share.exhaustive == (whom == "data")
        assert share.anytime_high - share.anytime_low <= 2 * margin
        if whom != "data":
            assert share.n_samples < 100_000
            # what was seen decided when to end, so that only this interval holds
            assert (share.low, share.high) == (share.anytime_low, share.anytime_high)


def test_a_model_of_which_a_call_is_dear_is_queried_about_thousands_of_rows(monkeypatch):
    domain = Domain(
        (
            integer("sex", 0, 1, Role.PROTECTED, (0.0, 1.0)),
            *(integer(name, 0, 99) for name in ("age", "income", "rooms")),
        )
    )
    now, calls = [0.0], []

    class Dear(Network):
        def predict(self, rows):
            calls.append(len(rows))
            now[0] += 0.02 + 1e-5 * len(rows)
            return super().predict(rows)

    monkeypatch.setattr(pace, "perf_counter", lambda: now[0])
    model = Dear(domain, np.random.default_rng(4))
    people = domain.sample(np.random.default_rng(1), 50_000)
    run(domain, model, EstimateOptions(trials=100, people=1_000), people)
    assert sum(size > 8_000 for size in calls) >= 20
    assert len(calls) < 250


def test_a_narrower_margin_takes_more_instances(small_domain):
    model = Network(small_domain, np.random.default_rng(4))
    drawn = [
        sum(share.n_samples for share in shares(run(small_domain, model, options)[0]).values())
        for options in (EstimateOptions(margin=margin) for margin in (0.05, 0.02, 0.01))
    ]
    assert drawn == sorted(set(drawn))
