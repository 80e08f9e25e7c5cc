"""Symbolic Generation: sound, in the paper's order, and the same however many are asked at once."""

import msgspec
import numpy as np
import pytest

from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.searches import symbolic
from fairdesk.individual.searches.symbolic import DIRECTED, SEED, UNDIRECTED, SymbolicOptions
from fairdesk.individual.surrogates.local_trees import LocalTrees
from fairdesk.individual.surrogates.paths import Predicate, follows, identity
from fairdesk.results.events import Found
from tests.individual import searching
from tests.individual.conftest import Network, integer
from tests.individual.searching import SMALL, rows_of
from tests.individual.test_constrained import ATTRIBUTES, OF_RACE, TEXTS
from tests.sizes import many


def run(domain, model, seed=0, options=SMALL, people=None, **context):
    return searching.run(symbolic.search, options, domain, model, seed, people, **context)


@pytest.mark.parametrize("ruled", [False, True])
@pytest.mark.parametrize("most", [0.2, 1.01])
def test_how_many_are_asked_at_once_changes_nothing(monkeypatch, ruled, most):
    texts = (*TEXTS[3:5], "class is determined by race") if ruled else ()
    domain = Domain(ATTRIBUTES, texts, (OF_RACE,) if ruled else ())
    options = msgspec.structs.replace(SMALL, max_iter=100 if ruled else many(400), T2=most)
    told = []
    for ahead, samples in ((1, 1), (64, 20_000), (3, 100)):
        monkeypatch.setattr(symbolic, "AHEAD", ahead)
        monkeypatch.setattr(symbolic, "UNDIRECTED_AHEAD", ahead)
        monkeypatch.setattr(symbolic, "MOST_SAMPLES", samples)
        model = Network(domain, np.random.default_rng(4))
        found, progress = run(domain, model, 5, options)
        told.append(
            (
                [(event.phase, event.rows.tolist(), event.partners.tolist()) for event in found],
                [(event.phase, event.done) for event in progress if event.tried == event.done],
                (progress[-1].tried, progress[-1].found, progress[-1].done, progress[-1].rejected),
            )
        )
        assert progress[-1].queries == sum(map(len, model.asked))
    assert told[0][2] == told[1][2] == told[2][2]
    assert told[0][0] == told[1][0] == told[2][0]
    assert set(told[0][1]) == set(told[1][1]) == set(told[2][1])
    assert told[0][2][1] > 20


def test_asking_ahead_makes_fewer_and_larger_batches(small_domain, monkeypatch):
    calls = []
    for ahead in (1, 64):
        monkeypatch.setattr(symbolic, "AHEAD", ahead)
        monkeypatch.setattr(symbolic, "UNDIRECTED_AHEAD", ahead)
        model = Network(small_domain, np.random.default_rng(4))
        run(small_domain, model)
        calls.append(len(model.asked))
    assert calls[1] < calls[0] / 2


def test_who_is_treated_fairly_is_explained_only_when_that_can_lead_on(small_domain):
    model = Network(small_domain, np.random.default_rng(4))
    people = small_domain.sample(np.random.default_rng(1), 100)
    options = msgspec.structs.replace(SMALL, max_iter=30, global_num=60, T2=0)
    found, progress = run(small_domain, model, 1, options, people)
    hits = progress[-1].found
    similar = 30 * len(small_domain.combinations)
    assert {event.phase for event in found} == {"seeds"}
    assert 0 < hits < 15
    # the similar sets of all, the samples around the others, and the pairs again
    # and the rows of the data from which paths are known
    assert progress[-1].queries <= similar + 40 * hits + 4 * hits + len(people) < 30 * 40


def test_whoever_is_asked_about_beside_explanations_changes_none(small_domain):
    people = small_domain.sample(np.random.default_rng(0), 60)
    told = []
    for beside in (None, people[40:]):
        model = Network(small_domain, np.random.default_rng(3))
        asked = SearchContext(model, small_domain).cached_model
        trees = LocalTrees(asked, small_domain, people, 50, 8, np.random.default_rng(1))
        told.append(trees.paths(people[:20], beside))
        assert len(model.asked) == 1
        before = asked.queries
        if beside is not None:
            asked.predict(beside)
            assert asked.queries == before
    assert told[0] == told[1]


class Watched(symbolic._Search):
    """Notes who is checked, and who waits meanwhile."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.order, self.solved = [], []
        nearest = self.solver.nearest

        def noted(path, row):
            self.solved.append(path)
            return nearest(path, row)

        self.solver.nearest = noted

    def _check(self, case):
        self.order.append((case.rank, min((rank for rank, _, _ in self.queue), default=np.inf)))
        super()._check(case)


@pytest.mark.parametrize("most", [0.2, 1.01])
def test_the_best_is_next_and_no_path_is_solved_twice(small_domain, most):
    context = SearchContext(Network(small_domain, np.random.default_rng(4)), small_domain)
    people = small_domain.sample(np.random.default_rng(1), 100)
    options = msgspec.structs.replace(SMALL, max_iter=150, global_num=20, num_samples=60, T2=most)
    search = Watched(context, people, options, np.random.default_rng(0))
    list(search.run())
    assert all(rank <= waiting for rank, waiting in search.order)
    ranks = np.array([rank for rank, _ in search.order])
    assert (ranks == SEED).any()
    led = ranks < SEED if most > 1 else ranks > SEED
    assert led.sum() > 20
    identities = [identity(path) for path in search.solved]
    assert len(set(identities)) == len(identities) > 50


def test_a_worked_example(small_domain):
    """One seed, discriminatory: what its path leads to, in which order, with which ranks."""
    domain = Domain(
        (
            integer("years", 0, 9),
            integer("sex", 0, 1, Role.PROTECTED, (0, 1)),
            integer("debts", 0, 9),
            integer("cars", 0, 9),
        )
    )
    seed = np.array([[7.0, 0, 2, 2]])
    explanations = {
        (7, 0, 2, 2): (
            Predicate(0, True, 4.5, 0.8),
            Predicate(1, False, 0.5, 0.6),
            Predicate(2, False, 3.5, 0.1),
            Predicate(3, False, 5.5, 0.15),
        ),
        # directed: years > 4, sex 0, and debts > 3 or cars > 5
        (7, 0, 4, 2): (Predicate(2, True, 3.5, 0.9),),
        (7, 0, 2, 6): (),
        # undirected: years <= 4; then debts <= 3 from the one with more debts
        (4, 0, 2, 2): (),
        (7, 0, 3, 2): (),
    }

    class BySex:
        def predict(self, rows):
            return rows[:, 1:2].astype(np.float32)

    class Told:
        def paths(self, rows, _beside=None):
            return [explanations[tuple(row)] for row in rows.tolist()]

    options = SymbolicOptions(max_iter=50, global_num=1, confidence="branch")
    search = symbolic._Search(
        SearchContext(BySex(), domain), seed, options, np.random.default_rng(0)
    )
    search.trees = Told()
    checked = []
    check = search._check

    def noted(case):
        checked.append((tuple(case.row.tolist()), round(case.rank, 4)))
        check(case)

    search._check = noted
    events = list(search.run())
    assert checked == [
        ((7, 0, 2, 2), SEED),
        # of the directed ones the path with less average confidence first
        ((7, 0, 2, 6), pytest.approx(DIRECTED + (0.8 + 0.6 + 0.1 + 0.85) / 4)),
        ((7, 0, 4, 2), pytest.approx(DIRECTED + (0.8 + 0.6 + 0.9 + 0.15) / 4)),
        # of the undirected ones that with more: 1 - 0.8 and 1 - 0.9; the prefix ended at T1
        ((4, 0, 2, 2), pytest.approx(UNDIRECTED - 0.2)),
        # debts <= 3 leads from (7, 0, 4, 2) to (7, 0, 3, 2)
        ((7, 0, 3, 2), pytest.approx(UNDIRECTED - 0.1)),
    ]
    phases = [event.phase for event in events if isinstance(event, Found)]
    assert phases == ["seeds", "directed", "undirected"]
    assert events[-1].found == events[-1].tried == events[-1].done == events[-1].total == 5


def test_an_explanation_hangs_on_the_person_only(small_domain):
    model = Network(small_domain, np.random.default_rng(3))
    people = small_domain.sample(np.random.default_rng(0), 200)
    together, alone, other = (
        LocalTrees(
            SearchContext(model, small_domain).cached_model, small_domain, people, 80, 8, rng
        )
        for rng in map(np.random.default_rng, (1, 1, 2))
    )
    paths = together.paths(people[:40])
    assert paths == [alone.paths(row[None])[0] for row in people[:40][::-1]][::-1]
    assert paths != other.paths(people[:40])
    for row, path in zip(people, paths, strict=False):
        assert follows(row[None], path)[0]
        assert all(0 <= each.confidence <= 1 for each in path)
    assert sum(map(len, paths)) > 40


def test_samples_are_local_and_weighted_by_nearness(real_domain):
    asked = []

    class Model:
        def predict(self, rows):
            asked.append(rows)
            return np.zeros((len(rows), 1), dtype=np.float32)

    people = real_domain.sample(np.random.default_rng(0), 300)
    people[:, 0] = 2.5 + people[:, 0] / 100
    trees = LocalTrees(
        SearchContext(Model(), real_domain).cached_model,
        real_domain,
        people,
        500,
        5,
        np.random.default_rng(0),
    )
    here = people[:1].copy()
    trees.paths(here)
    (samples,) = asked
    assert (samples[0] == here[0]).all()
    # as far around as real people are apart, on every side
    assert np.abs(samples[:, 0] - here[0, 0]).max() < 0.1
    assert samples[:, 2].std() == pytest.approx(people[:, 2].std(), rel=0.5)
    assert set(samples[:, 1]) == {0, 1}
    samples, weights = trees._draw_samples(here)
    assert weights[0, 0] == 1.0
    away = np.abs(samples[0, :, 2] - here[0, 2])
    assert weights[0][away > 0.8].mean() < weights[0][away < 0.2].mean()


@pytest.mark.parametrize("classes", [2, 3])
def test_each_split_of_a_path_is_as_pure_as_scikit_learns(classes):
    from sklearn.tree import DecisionTreeClassifier

    from fairdesk.individual.surrogates.tree_kernels import tree_paths

    rng = np.random.default_rng(0)
    samples = rng.integers(0, 30, (4, 300, 4)).astype(float)
    samples[:, :, 2] *= 1_000  # these are sorted, not counted
    samples[:, :, 3] = rng.normal(size=(4, 300)).round(1)
    score = samples[:, :, 0] + samples[:, :, 1] * (samples[:, :, 2] > 9_000)
    score += rng.normal(scale=6, size=(4, 300))
    decided = np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))
    weights = rng.random((4, 300)) + 0.01
    spacing = np.array([1.0, 1, 1, 0])
    found, thresholds, above, shares = tree_paths(
        samples, decided.astype(np.int64), weights, np.arange(4), spacing, classes, 30
    )
    splits = 0
    for i in range(4):
        here = np.arange(300)
        for level in range((found[i] >= 0).sum()):
            codes, split = samples[i, here], found[i, level]
            stump = DecisionTreeClassifier(max_depth=1).fit(
                codes, decided[i, here], weights[i, here]
            )
            right = codes[:, split] > thresholds[i, level]
            theirs = codes[:, stump.tree_.feature[0]] > stump.tree_.threshold[0]
            ours, best = (
                purity(decided[i, here], weights[i, here], side) for side in (right, theirs)
            )
            assert ours == pytest.approx(best, rel=1e-9)
            mine = right == (samples[i, 0, split] > thresholds[i, level])
            assert above[i, level] == right[here == 0][0]
            assert shares[i, level] == pytest.approx(
                weights[i, here[mine]].sum() / weights[i, here].sum()
            )
            here = here[mine]
            splits += 1
        assert len(set(decided[i, here])) == 1
    assert splits > 15


def test_neighbours_among_many_codes_are_told_apart_at_once():
    from fairdesk.individual.surrogates.tree_kernels import tree_paths

    codes = np.arange(5_000.0)
    for spacing, factor in ((1.0, 1.0), (0.0, 0.37), (25.0, 25.0)):
        samples = np.ascontiguousarray(factor * codes[::-1, None])[None]
        decided = (samples[:, :, 0] > 1_234.5 * factor).astype(np.int64)
        found, thresholds, *_ = tree_paths(
            samples, decided, np.ones((1, 5_000)), np.arange(1), np.array([spacing]), 2, 5
        )
        assert found[0].tolist() == [0, -1, -1, -1, -1]
        assert thresholds[0, 0] == pytest.approx(1_234.5 * factor)


def purity(decided, weights, right):
    """The two sides' sums of squared class weights over their sums: greater is purer."""
    sides = (np.bincount(decided[side], weights[side]) for side in (right, ~right))
    return sum((each**2).sum() / each.sum() for each in sides)


def test_it_ends_with_all_cases(small_domain):
    _, progress = run(small_domain, Network(small_domain, np.random.default_rng(3)))
    assert progress[-1].done == progress[-1].total == progress[-1].tried > SMALL.global_num
    assert {event.phase for event in progress} <= set(symbolic.PHASES.values())


def test_it_finds_more_than_its_seeds_do(small_domain):
    model = Network(small_domain, np.random.default_rng(8))
    found, _ = run(small_domain, model, options=msgspec.structs.replace(SMALL, max_iter=200))
    by_phase = {}
    for event in found:
        by_phase[event.phase] = by_phase.get(event.phase, 0) + len(event.rows)
    assert by_phase["undirected"] > by_phase["seeds"] > 0


def test_only_decisions_are_used(small_domain):
    class Decides(Network):
        def predict(self, rows):
            return np.rint(super().predict(rows)).astype(np.float32)

    scored, decided = (
        run(small_domain, kind(small_domain, np.random.default_rng(6)))[0]
        for kind in (Network, Decides)
    )
    assert rows_of(scored, small_domain).tolist() == rows_of(decided, small_domain).tolist()
    assert scored


@pytest.mark.parametrize("constant", [True, False])
def test_a_model_that_is_fair_gives_nothing(small_domain, constant):
    model = Network(small_domain, np.random.default_rng(0))
    model.hidden[small_domain.protected] = 0
    if constant:
        model.hidden[:] = 0
    found, progress = run(small_domain, model)
    assert not found
    assert progress[-1].found == 0
    # where all are decided alike there is no path to follow: the rows of the data are all there is
    people = small_domain.sample(np.random.default_rng(1), 100)[:, small_domain.others]
    rows = len(np.unique(people, axis=0))
    assert progress[-1].tried == rows if constant else progress[-1].tried > rows


def test_names_are_drawn_as_often_as_people_have_them():
    domain = Domain(
        (
            Attribute("sector", Kind.NOMINAL, ("a", "b", "c", "d"), 0.0, 3.0),
            integer("sex", 0, 1, Role.PROTECTED, (0, 1)),
        )
    )
    people = np.repeat([[0.0, 0], [3.0, 1], [2.0, 1]], [60, 30, 10], axis=0)
    model = Network(domain, np.random.default_rng(0))
    trees = LocalTrees(
        SearchContext(model, domain).cached_model,
        domain,
        people,
        4_000,
        5,
        np.random.default_rng(0),
    )
    samples, _ = trees._draw_samples(people[:1])
    values, counts = np.unique(samples[0, :, 0], return_counts=True)
    assert values.tolist() == [0, 2, 3]
    np.testing.assert_allclose(counts / counts.sum(), [0.6, 0.1, 0.3], atol=0.03)


def test_people_known_are_not_found_again(small_domain):
    model = Network(small_domain, np.random.default_rng(8))
    first, _ = run(small_domain, model)
    known = rows_of(first, small_domain)
    again, progress = run(small_domain, model, known=known)
    both = np.concatenate([known, rows_of(again, small_domain)])[:, small_domain.others]
    assert len(np.unique(both, axis=0)) == len(both)
    assert progress[-1].found == len(both) - len(known)
    assert progress[-1].done == SMALL.max_iter


def test_whoever_is_too_far_away_is_counted_and_not_explained(small_domain):
    model = Network(small_domain, np.random.default_rng(8))
    found, progress = run(small_domain, model, fits=lambda rows: rows[:, 0] >= 5)
    assert (rows_of(found, small_domain)[:, 0] >= 5).all()
    assert progress[-1].rejected > 0
    assert progress[-1].tried + progress[-1].rejected == progress[-1].done
    assert found


@pytest.mark.parametrize("constraints", [(), ("years <= 4",)])
def test_paths_on_which_constraints_leave_nobody_are_counted(small_domain, constraints):
    domain = Domain(small_domain.attributes, constraints)
    people = domain.sample(np.random.default_rng(1), 100)
    options = msgspec.structs.replace(SMALL, max_iter=5, global_num=1)
    context = SearchContext(Network(domain, np.random.default_rng(8)), domain)
    search = symbolic._Search(context, people, options, np.random.default_rng(0))
    paths = [(Predicate(0, True, 4.5, 0.5),), (Predicate(0, True, 20.5, 0.5),)]
    search._queue(paths, search.queue[0][2], DIRECTED)
    list(search.run())
    # beyond the range there is nobody anyway
    assert context.rejected == len(constraints)


def test_thresholds_are_the_papers():
    options = SymbolicOptions()
    assert (options.T1, options.T2, options.max_iter) == (0.3, 0.2, 1_000)
