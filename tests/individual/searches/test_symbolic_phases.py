"""Symbolic Generation: LIME's explanations, a switch for each phase, and what each came to."""

from collections import Counter

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from fairdesk.data.domain.domain import Domain
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.searches import symbolic
from fairdesk.individual.searches.symbolic import SymbolicOptions
from fairdesk.individual.surrogates.lime_models import LimeTrees
from fairdesk.individual.surrogates.paths import Predicate, follows
from fairdesk.results.events import Found, Measured, Progress
from tests.individual.conftest import Network
from tests.individual.searches.test_symbolic import run
from tests.individual.searching import check_sound
from tests.individual.test_constrained import ATTRIBUTES, constrained

LIME = SymbolicOptions(max_iter=40, global_num=10, num_samples=60)
OWN = msgspec.structs.replace(LIME, max_iter=120, num_samples=40, explanation="own")


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("real", [False, True])
def test_every_pair_is_real_with_limes_explanations(small_domain, real_domain, real, classes):
    domain = real_domain if real else small_domain
    model = Network(domain, np.random.default_rng(4), classes)
    found, progress = run(domain, model, 3, LIME)
    check_sound(domain, model, found, progress)
    assert found


@settings(max_examples=3)
@given(domain=constrained(), seed=st.integers(0, 10_000))
def test_lime_asks_for_nothing_beyond_the_constraints(domain, seed):
    model = Network(domain, np.random.default_rng(seed))
    check_sound(domain, model, *run(domain, model, seed, msgspec.structs.replace(LIME, max_iter=9)))


def lime_trees(domain, model, people, seed=1, samples=80):
    asked = SearchContext(model, domain).cached_model
    return LimeTrees(asked, domain, people, samples, 8, np.random.default_rng(seed))


def test_an_explanation_by_lime_depends_on_the_row_only(small_domain):
    model = Network(small_domain, np.random.default_rng(3))
    people = small_domain.sample(np.random.default_rng(0), 200)
    together, alone, other = (lime_trees(small_domain, model, people, seed) for seed in (1, 1, 2))
    paths = together.paths(people[:12])
    assert paths == [alone.paths(row[None])[0] for row in people[:12][::-1]][::-1]
    assert paths != other.paths(people[:12])
    for row, path in zip(people, paths, strict=False):
        assert follows(row[None], path)[0]
        assert all(0 < each.confidence <= 1 for each in path)
    assert sum(map(len, paths)) > 12


def test_samples_and_weights_are_limes(real_domain):
    """The kernel's width and its distance are those that LIME documents."""
    people = real_domain.sample(np.random.default_rng(0), 300)
    trees = lime_trees(real_domain, Network(real_domain, np.random.default_rng(3)), people)
    (samples,), (weights,) = trees._draw_samples(people[:1])
    assert len(samples) == len(weights) == 80
    assert (samples[0] == people[0]).all()
    assert weights[0] == 1.0
    assert real_domain.contains(samples).all()
    free = np.sort(np.concatenate([real_domain.varying, real_domain.protected]))
    drawn = np.isin(free, real_domain.protected)
    drawn |= np.array([bool(real_domain.attributes[i].values) for i in free])
    scale = np.where(drawn, 1.0, real_domain.snap(people)[0][:, free].std(axis=0))
    away = (samples - people[0])[:, free] / scale
    squares = np.where(drawn, away != 0, away**2).sum(axis=1)
    expected = np.sqrt(np.exp(-squares / (0.75**2 * len(free))))
    # samples were moved to the domain's codes and into its ranges since they were weighted
    assert np.corrcoef(weights, expected)[0, 1] > 0.9


@pytest.mark.parametrize("real", [False, True])
def test_the_path_is_that_of_scikit_learns_tree_of_the_weighted_samples(
    small_domain, real_domain, real
):
    """Down to where all samples are of one class, which rounding may hide from scikit-learn."""
    domain = real_domain if real else small_domain
    model = Network(domain, np.random.default_rng(3))
    people = domain.sample(np.random.default_rng(0), 30)
    trees = lime_trees(domain, model, people, samples=400)
    conditions = 0
    drawn = zip(trees.paths(people), *trees._draw_samples(people), strict=True)
    for path, rows, weights in drawn:
        samples, classes = rows[:, trees._free], model.predict(rows)[:, 0] > 0.5
        tree = DecisionTreeClassifier(max_depth=8, random_state=0).fit(samples, classes, weights)
        nodes = tree.decision_path(samples[:1]).indices
        for each, node in zip(path, nodes, strict=False):
            at_node = tree.decision_path(samples)[:, [node]].toarray()[:, 0] > 0
            assert len(set(classes[at_node])) == 2
            if (trees._free[tree.tree_.feature[node]], tree.tree_.threshold[node]) != (
                *(each.attribute, pytest.approx(each.threshold, abs=1e-6)),
            ):
                assert weights[at_node].sum() < 0.05 * weights.sum()  # two are as good
                break
            conditions += 1
    assert conditions > 60


def test_a_sample_that_breaks_a_constraint_has_no_weight():
    domain = Domain(ATTRIBUTES, ("years <= age - 18",))
    model = Network(domain, np.random.default_rng(3))
    people = domain.sample(np.random.default_rng(0), 5)
    samples, weights = lime_trees(domain, model, people)._draw_samples(people)
    assert domain.contains(samples.reshape(-1, samples.shape[2])).all()
    assert weights[:, 0] == pytest.approx(1.0)
    without = weights == 0
    assert 0 < without.mean() < 0.95
    assert (samples[without] == people[np.nonzero(without)[0]]).all()


def measured(domain, model, options, people=None, seed=0):
    if people is None:
        people = domain.sample(np.random.default_rng(seed + 1), 100)
    context = SearchContext(model, domain)
    events = list(symbolic.search(context, people, options, np.random.default_rng(seed)))
    last = next(each for each in reversed(events) if isinstance(each, Measured))
    found = Counter()
    for each in events:
        if isinstance(each, Found):
            found[each.phase] += len(each.rows)
    return {each.phase: each for each in last.figures}, found, events


def test_phases_add_up_to_the_search(small_domain):
    options = msgspec.structs.replace(OWN, T2=0.1)
    model = Network(small_domain, np.random.default_rng(8))
    phases, found, events = measured(small_domain, model, options)
    (*_, progress) = (each for each in events if isinstance(each, Progress))
    assert phases.keys() == {"seeds", "directed", "undirected"}
    assert sum(each.tried for each in phases.values()) == progress.tried
    assert {name: each.found for name, each in phases.items()} == dict(found)
    assert sum(found.values()) == progress.found > 0
    assert len({each.all_paths for each in phases.values()}) == 1
    reached = sum(each.paths for each in phases.values())
    assert phases["seeds"].paths > 0
    assert reached <= phases["seeds"].all_paths


def test_path_coverage_counts_the_leaves_that_instances_reach(small_domain):
    from sklearn.tree import DecisionTreeClassifier

    people = small_domain.sample(np.random.default_rng(1), 100)
    model = Network(small_domain, np.random.default_rng(8))
    tree = DecisionTreeClassifier(random_state=0).fit(people, model.predict(people)[:, 0] > 0.5)
    options = msgspec.structs.replace(OWN, directed="no", undirected="no", max_iter=12)
    phases, _, events = measured(small_domain, model, options, people)
    assert list(phases) == ["seeds"]
    assert phases["seeds"].tried == 12
    assert phases["seeds"].all_paths == tree.get_n_leaves()
    assert 1 < phases["seeds"].paths <= 12
    assert events


def test_all_rows_reach_all_paths(small_domain):
    people = small_domain.sample(np.random.default_rng(1), 40)
    people[:, small_domain.protected] = small_domain.combinations[0]
    options = msgspec.structs.replace(OWN, directed="no", undirected="no", max_iter=1_000)
    phases, _, _ = measured(
        small_domain, Network(small_domain, np.random.default_rng(8)), options, people
    )
    assert phases["seeds"].paths == phases["seeds"].all_paths > 1


@pytest.mark.parametrize("explanation", ["own", "lime"])
@pytest.mark.parametrize(
    ("switches", "wanted"),
    [
        ({}, {"seeds", "directed", "undirected"}),
        ({"directed": "no"}, {"seeds", "undirected"}),
        ({"undirected": "no"}, {"seeds", "directed"}),
        ({"directed": "no", "undirected": "no"}, {"seeds"}),
    ],
)
def test_each_phase_can_be_switched_off(small_domain, explanation, switches, wanted):
    options = SymbolicOptions(
        max_iter=60, global_num=10, num_samples=40, explanation=explanation, T2=0.1, **switches
    )
    model = Network(small_domain, np.random.default_rng(8))
    phases, _, _ = measured(small_domain, model, options)
    assert phases.keys() == wanted
    assert sum(each.tried for each in phases.values()) == 60


@pytest.mark.parametrize(("seeds", "of_data"), [("clustered", 1), ("data", 1), ("random", 0)])
def test_seeds_are_rows_of_the_data_or_drawn_at_random(real_domain, seeds, of_data):
    people = real_domain.sample(np.random.default_rng(1), 100)
    context = SearchContext(Network(real_domain, np.random.default_rng(8)), real_domain)
    options = msgspec.structs.replace(OWN, seeds=seeds, global_num=20)
    search = symbolic._Search(context, people, options, np.random.default_rng(0))
    rows = np.array([case.row for _, _, case in search.queue])
    known = (rows[:, None] == real_domain.snap(people)[0]).all(axis=2).any(axis=1)
    assert len(rows) == 20
    assert known.mean() == of_data
    assert real_domain.contains(rows).all()


def test_seeds_are_taken_from_each_cluster_in_turn_unless_clustering_is_off(small_domain):
    """Ninety-five rows at one end, five at the other: of ten clustered seeds five are of these."""
    low, high = small_domain.low.copy(), small_domain.high.copy()
    low[small_domain.protected] = high[small_domain.protected] = small_domain.combinations[0]
    people = np.repeat([low, high], [95, 5], axis=0)
    context = SearchContext(Network(small_domain, np.random.default_rng(8)), small_domain)
    held = {}
    for seeds in ("clustered", "data"):
        options = msgspec.structs.replace(OWN, seeds=seeds, cluster_num=2, global_num=10)
        search = symbolic._Search(context, people, options, np.random.default_rng(0))
        held[seeds] = sum(bool((case.row == high).all()) for _, _, case in search.queue)
    assert held["clustered"] == 5
    assert held["data"] < 3


def test_confidence_is_of_the_path_or_of_the_branch(small_domain):
    halves = tuple(Predicate(0, True, i + 0.5, 0.5) for i in range(3))
    people = small_domain.sample(np.random.default_rng(1), 10)
    context = SearchContext(Network(small_domain, np.random.default_rng(8)), small_domain)
    for confidence, expected in (("path", [0.5, 0.25, 0.125]), ("branch", [0.5] * 3)):
        options = msgspec.structs.replace(OWN, confidence=confidence)
        search = symbolic._Search(context, people, options, np.random.default_rng(0))
        search.trees.paths = lambda rows, _beside=None: [halves] * len(rows)
        (path,) = search._explained([search.queue[0][2]])
        assert [each.confidence for each in path] == expected


def test_further_rows_are_started_from_when_nothing_is_left_to_follow(small_domain):
    """Of a model without discrimination, whose trees have no path, every row is tested."""
    model = Network(small_domain, np.random.default_rng(0))
    model.hidden[:] = 0
    people = small_domain.sample(np.random.default_rng(1), 60)
    options = msgspec.structs.replace(OWN, global_num=5, max_iter=30)
    phases, _, _ = measured(small_domain, model, options, people)
    assert phases["seeds"].tried == 30
    few = msgspec.structs.replace(options, max_iter=1_000)
    rows = np.unique(people[:, small_domain.others], axis=0)
    assert measured(small_domain, model, few, people)[0]["seeds"].tried == len(rows)


def test_paths_without_constraints_are_solved_by_z3(small_domain, monkeypatch):
    import z3

    solved = []
    check = z3.Solver.check
    monkeypatch.setattr(
        z3.Solver, "check", lambda self, *more: solved.append(1) or check(self, *more)
    )
    run(Domain(small_domain.attributes), Network(small_domain, np.random.default_rng(8)), 0, OWN)
    assert len(solved) > 50
