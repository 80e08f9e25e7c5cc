"""THEMIS measures both scores of every set of attributes, and stops when they are known."""

from itertools import pairwise

import msgspec
import numpy as np
import pytest

from fairdesk.data.domain.domain import Domain
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.shares import themis
from fairdesk.individual.shares.themis import ThemisOptions
from fairdesk.models.model import labels
from fairdesk.results.events import Found, Measured, Progress, ShardRange, Tallied
from fairdesk.results.groups import GroupGap
from fairdesk.results.individual import Share
from tests.individual.conftest import Network, everybody
from tests.individual.shares.test_estimate import Placed, everybody_of, verdicts
from tests.individual.test_constrained import ATTRIBUTES, TEXTS
from tests.sizes import many

ALL = ThemisOptions(threshold=1.0)
LARGE = Domain(
    tuple(
        msgspec.structs.replace(each, high=9.0) if each.name == "years" else each
        for each in ATTRIBUTES
    )
)


def run(domain, model, options=ALL, seed=0, favourable=1, people=None, **kept):
    if people is None:
        people = domain.sample(np.random.default_rng(seed + 1), 200)
    context = SearchContext(model, domain, **kept)
    context.favourable = favourable
    events = list(themis.search(context, people, options, np.random.default_rng(seed)))
    return events, context


def scores(events):
    figures = [event for event in events if isinstance(event, Measured)][-1].figures
    return {(type(figure), figure.attributes): figure for figure in figures}


def gap_of(domain, everyone, model, names, favourable):
    """Return the greatest difference of rates by counting everybody."""
    columns = [domain.names.index(name) for name in names]
    good = labels(model.predict(everyone)) == favourable
    _, group = np.unique(everyone[:, columns], axis=0, return_inverse=True)
    rates = np.bincount(group.ravel(), good) / np.bincount(group.ravel())
    return rates.max() - rates.min()


SETS = (("sex",), ("race",), ("sex", "race"))


@pytest.mark.parametrize(("classes", "favourable"), [(2, 1), (2, 0), (3, 2)])
def test_scores_hold_the_truth(classes, favourable):
    domain = LARGE
    model = Network(domain, np.random.default_rng(4), classes)
    everyone = everybody_of(domain)
    options = ThemisOptions(threshold=1.0, margin=0.04, confidence=0.95)
    told = scores(run(domain, model, options, favourable=favourable)[0])
    assert len(told) == 6
    for names in SETS:
        truth = verdicts(domain, everyone, model, [domain.names.index(name) for name in names])
        share = told[Share, names]
        assert share.low <= truth.mean() <= share.high
        assert (share.low, share.high) == (share.anytime_low, share.anytime_high)
        assert share.high - share.low <= 0.08
        gap = told[GroupGap, names]
        assert gap.low <= gap_of(domain, everyone, model, names, favourable) <= gap.high
        assert gap.low <= gap.gap <= gap.high
        assert gap.high - gap.low <= 0.08
        assert gap.gap == pytest.approx(gap.best_rate - gap.worst_rate)
        assert len(gap.best) == len(gap.worst) == len(names)


def test_a_small_domain_is_known_whole(small_domain):
    model = Network(small_domain, np.random.default_rng(4))
    events, _ = run(small_domain, model, ThemisOptions(threshold=1.0, margin=0.0005))
    everyone = everybody(small_domain)
    told = scores(events)
    for names in SETS:
        truth = verdicts(
            small_domain, everyone, model, [small_domain.names.index(name) for name in names]
        )
        share = told[Share, names]
        assert share.exhaustive
        assert (share.n_samples, share.hits) == (1_440, truth.sum())
        assert share.low == share.high == truth.mean()
        gap = told[GroupGap, names]
        exact = gap_of(small_domain, everyone, model, names, 1)
        assert gap.gap == pytest.approx(exact)
        assert gap.low == pytest.approx(exact)
        assert gap.high == pytest.approx(exact)


def test_nobody_is_counted_twice(small_domain):
    model = Network(small_domain, np.random.default_rng(4))
    events, context = run(small_domain, model)
    share = scores(events)[Share, ("sex",)]
    assert share.n_samples <= 1_440
    found = np.concatenate([event.rows for event in events if isinstance(event, Found)])
    assert len(np.unique(found[:, small_domain.others], axis=0)) == len(found) == context.found
    progress = [event for event in events if isinstance(event, Progress)]
    assert progress[-1].queries == sum(map(len, model.asked))
    assert progress[-1].done == progress[-1].total == share.n_samples


def test_constraints_are_respected():
    domain = Domain(ATTRIBUTES, TEXTS[:5])
    model = Network(domain, np.random.default_rng(4))
    everyone = everybody_of(domain)
    told = scores(run(domain, model, ThemisOptions(threshold=1.0, margin=0.05))[0])
    assert domain.contains(np.concatenate(model.asked)).all()
    for names in SETS:
        truth = verdicts(domain, everyone, model, [domain.names.index(name) for name in names])
        share, gap = told[Share, names], told[GroupGap, names]
        assert share.low <= truth.mean() <= share.high
        assert gap.low <= gap_of(domain, everyone, model, names, 1) <= gap.high


@pytest.mark.parametrize("seed", range(5))
def test_a_set_scores_at_least_as_much_as_its_parts(seed, small_domain):
    model = Network(small_domain, np.random.default_rng(seed))
    told = scores(run(small_domain, model, ThemisOptions(threshold=1.0, margin=0.0005))[0])
    for kind, score in ((Share, lambda each: each.estimate), (GroupGap, lambda each: each.gap)):
        whole = score(told[kind, ("sex", "race")])
        assert whole >= score(told[kind, ("sex",)]) - 1e-12
        assert whole >= score(told[kind, ("race",)]) - 1e-12


def test_sets_that_hold_a_discriminating_one_are_left_out(small_domain):
    model = Network(small_domain, np.random.default_rng(3))
    every = scores(run(small_domain, model)[0])
    assert every[Share, ("sex",)].estimate > 0.2
    pruned = scores(run(small_domain, model, ThemisOptions(threshold=0.2))[0])
    assert (Share, ("sex",)) in pruned
    assert (Share, ("race",)) in pruned
    assert (Share, ("sex", "race")) not in pruned
    single = scores(run(small_domain, model, ThemisOptions(threshold=1.0, together=1))[0])
    assert {names for _, names in single} == {("sex",), ("race",)}


def test_nought_hits_is_no_interval_without_width():
    model = Network(LARGE, np.random.default_rng(4))
    model.hidden[LARGE.protected] = 0
    told = scores(run(LARGE, model, ThemisOptions())[0])
    for names in SETS:
        share, gap = told[Share, names], told[GroupGap, names]
        assert share.hits == share.low == 0 < share.high <= 0.02
        assert share.n_samples > 200
        assert gap.gap == gap.low == 0 < gap.high
        assert gap.best != gap.worst
        assert gap.best_rate == gap.worst_rate


def test_it_stops_at_the_most_and_tells_the_wider_interval():
    model = Network(LARGE, np.random.default_rng(4))
    events, _ = run(LARGE, model, ThemisOptions(threshold=1.0, margin=0.001, most=500))
    share = scores(events)[Share, ("sex",)]
    assert share.n_samples == 500
    assert share.high - share.low > 0.02


def test_counts_of_a_huge_domain_are_whole_numbers(monkeypatch):
    monkeypatch.setattr(themis, "population", lambda *_: 10**30)
    rng = np.random.default_rng(4)
    context = SearchContext(Network(LARGE, rng), LARGE)
    count = themis.counting(context, LARGE.sample(rng, 200), ThemisOptions(), rng)
    tallied = next(each for each in count(ShardRange(0, 1, "0;0")) if isinstance(each, Tallied))
    # what crosses a pipe
    assert {array.dtype.kind for array in tallied.arrays.values()} <= {"i", "b"}


def test_only_people_near_the_data_are_asked_about(small_domain):
    def fits(rows):
        return rows[:, 0] < 3

    model = Network(small_domain, np.random.default_rng(4))
    options = ThemisOptions(threshold=1.0, margin=0.05, confidence=0.9)
    events, context = run(small_domain, model, options, fits=fits)
    assert fits(np.concatenate(model.asked)).all()
    assert context.rejected > 0
    near = everybody(small_domain)
    near = near[fits(near)]
    gap = scores(events)[GroupGap, ("race",)]
    assert gap.low <= gap_of(small_domain, near, model, ("race",), 1) <= gap.high


def test_real_attributes_work(real_domain):
    told = scores(run(real_domain, Network(real_domain, np.random.default_rng(4)))[0])
    assert told.keys() == {(Share, ("sex",)), (GroupGap, ("sex",))}


def test_same_seed_same_scores(small_domain):
    model = Network(small_domain, np.random.default_rng(4))
    options = ThemisOptions(most=600)
    first, second, other = (
        scores(run(small_domain, model, options, seed)[0]) for seed in (3, 3, 4)
    )
    assert first == second != other


def test_last_bits_are_no_discrimination(small_domain):
    events, context = run(small_domain, Placed())
    assert context.found == 0
    assert all(scores(events)[Share, names].hits == 0 for names in SETS)


#: Whole searches, each with figures at its end.
SEARCHES, CONFIDENCE = many(300), 0.8


@pytest.mark.parametrize("ruled", [False, True], ids=["paired", "by rates"])
def test_the_gaps_of_all_sets_are_held_together_as_often_as_is_said(ruled):
    from scipy.stats import beta

    domain = Domain(ATTRIBUTES, TEXTS[:5]) if ruled else LARGE
    model = Network(domain, np.random.default_rng(4))
    everyone = everybody_of(domain)
    truth = np.array([gap_of(domain, everyone, model, names, 1) for names in SETS])
    options = ThemisOptions(threshold=1.0, margin=0.0005, most=150, confidence=CONFIDENCE)
    ends = []
    for seed in range(SEARCHES):
        told = scores(run(domain, model, options, seed)[0])
        gaps = [told[GroupGap, names] for names in SETS]
        assert {each.sets for each in gaps} == {3}
        ends.append([(each.low, each.high) for each in gaps])
    low, high = np.moveaxis(np.array(ends), 2, 0)
    held = ((low <= truth) & (truth <= high)).all(axis=1).sum()
    assert beta.ppf(0.01, held, SEARCHES - held + 1) >= CONFIDENCE
    # the simulation would see intervals of a quarter of their width
    middle, part = (low + high) / 2, (high - low) / 8
    assert (np.abs(middle - truth) <= part).all(axis=1).sum() < CONFIDENCE * SEARCHES


def test_gaps_are_known_the_better_the_more_people_are_asked_about():
    domain = LARGE
    model = Network(domain, np.random.default_rng(4))
    widths = []
    for most in (100, 400, 1_600):
        options = ThemisOptions(threshold=1.0, margin=0.0005, most=most)
        told = scores(run(domain, model, options)[0])
        # the lower end cannot be below nought
        widths.append([told[GroupGap, names].high - told[GroupGap, names].gap for names in SETS])
        assert {told[kind, names].n_samples for names in SETS for kind in (Share, GroupGap)} == {
            most
        }
    for wide, narrow in pairwise(widths):
        assert all(each < 0.65 * before for before, each in zip(wide, narrow, strict=True))
    # the same people in each group: two rates are compared by those who are decided otherwise
    sex = told[GroupGap, ("sex",)]
    apart = told[Share, ("sex",)].estimate
    assert widths[-1][0] < 5 * np.sqrt(apart / 1_600)
    assert sex.unmet == 0


def test_one_person_shows_no_difference(small_domain):
    model = Network(small_domain, np.random.default_rng(4))
    told = scores(run(small_domain, model, ThemisOptions(threshold=1.0, most=1))[0])
    for names in SETS:
        gap = told[GroupGap, names]
        assert gap.low == 0
        assert gap.high > 0.9
