"""The diagnosis tells good perturbation sizes from bad ones on models whose gradient is known."""

from itertools import pairwise

import msgspec
import numpy as np
import pytest

from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.individual.engine.context import SearchContext
from fairdesk.individual.searches import diagnostic, maft
from fairdesk.individual.searches.diagnostic import DiagnoseOptions
from fairdesk.results.events import Found, Measured, Progress
from tests.individual.conftest import Network, integer

SHORT = DiagnoseOptions(sizes=4, people=60, global_num=20, local_num=10)


class Smooth(Network):
    """Answers in full precision, and knows its own gradient."""

    has_gradients = True

    def predict(self, rows):
        self.asked.append(rows.copy())
        return 1 / (1 + np.exp(-self._logits(rows)))

    def _logits(self, rows):
        return np.tanh(self._before(rows)) @ self.out + self.bias

    def _before(self, rows):
        return 4 * ((rows - self.domain.low) / self.scale - 0.5) @ self.hidden

    def gradients(self, rows, column):
        assert (column == 0).all()
        score = 1 / (1 + np.exp(-self._logits(rows)))
        slope = (1 - np.tanh(self._before(rows)) ** 2) * self.out[:, 0]
        return score * (1 - score) * (slope @ self.hidden.T) * 4 / self.scale


class Silent(Network):
    """Does not tell its gradient."""

    has_gradients = False


@pytest.fixture
def domain():
    """Four real attributes, so that any size is a size of its own."""
    reals = (Attribute(f"x{i}", Kind.REAL, low=-1.0 * i, high=5.0) for i in range(4))
    return Domain((integer("sex", 0, 1, Role.PROTECTED, (0, 1)), *reals))


def diagnose(model, domain, options=SHORT, seed=0):
    people = domain.sample(np.random.default_rng(seed + 1), 200)
    context = SearchContext(model, domain)
    events = list(diagnostic.search(context, people, options, np.random.default_rng(seed)))
    return context, events, [event for event in events if isinstance(event, Measured)]


def test_small_steps_find_the_gradient_and_large_ones_do_not(domain):
    options = DiagnoseOptions(
        sizes=4, smallest=0.01, largest=80, people=60, global_num=20, local_num=10
    )
    _, _, measured = diagnose(Smooth(domain, np.random.default_rng(0)), domain, options)
    figures = measured[-1].figures
    assert [figure.size for figure in figures] == pytest.approx([0.01, 0.2, 4, 80])
    smallest, largest = figures[0], figures[-1]
    assert smallest.gradients > 0.9999
    assert smallest.directions > 0.99
    assert smallest.probabilities > 0.99
    for name in ("gradients", "directions", "probabilities"):
        assert -1 <= getattr(largest, name) < getattr(smallest, name) - 0.05
    assert all(figure.n_samples == 60 for figure in figures)


def test_without_gradients_there_is_the_sweep(domain):
    model = Silent(domain, np.random.default_rng(0))
    context, events, measured = diagnose(model, domain)
    assert [len(each.figures) for each in measured] == [1, 2, 3, 4]
    assert all(before.figures == after.figures[:-1] for before, after in pairwise(measured))
    for figure in measured[-1].figures:
        assert (figure.gradients, figure.directions, figure.probabilities) == (None, None, None)
        assert 0 < figure.found <= figure.tried
    progress = [event for event in events if isinstance(event, Progress)]
    assert not any(isinstance(event, Found) for event in events)
    for before, after in pairwise(progress):
        assert before.done <= after.done
        assert before.tried <= after.tried
        assert before.queries <= after.queries
    assert progress[-1].done == progress[-1].total
    assert progress[-1].tried == sum(figure.tried for figure in measured[-1].figures)
    asked = np.concatenate(model.asked)
    assert domain.contains(asked).all()
    assert progress[-1].queries == context.cached_model.queries == len(asked)


def test_without_gradients_nothing_is_queried_to_compare_them(domain):
    queries = [
        diagnose(Silent(domain, np.random.default_rng(0)), domain, options)[0].queries
        for options in (SHORT, msgspec.structs.replace(SHORT, people=1))
    ]
    assert queries[0] == queries[1]


def test_each_size_counts_what_a_search_of_its_own_would_find(domain):
    model = Network(domain, np.random.default_rng(0))
    _, _, measured = diagnose(model, domain)
    people = domain.sample(np.random.default_rng(1), 200)
    rng = np.random.default_rng(0)
    rng.permutation(people)  # as the people of the comparison are drawn
    lots = int(rng.integers(2**63))
    for figure in measured[-1].figures:
        context = SearchContext(Network(domain, np.random.default_rng(0)), domain)
        options = maft.MaftOptions(global_num=20, local_num=10, perturbation_size=figure.size)
        list(maft.search(context, people, options, np.random.default_rng(lots)))
        assert (context.tried, context.found) == (figure.tried, figure.found)


def test_sizes_that_come_to_the_same_steps_are_tried_once(small_domain):
    options = DiagnoseOptions(
        sizes=5, smallest=0.01, largest=1.78, people=20, global_num=20, local_num=5
    )
    _, _, measured = diagnose(
        Network(small_domain, np.random.default_rng(0)), small_domain, options
    )
    assert [figure.size for figure in measured[-1].figures] == [1, 2]


def test_the_same_seed_the_same_figures(domain):
    first, second = (
        diagnose(Smooth(domain, np.random.default_rng(0)), domain)[2][-1] for _ in range(2)
    )
    assert first == second


def test_a_flat_model_agrees_with_its_estimate(domain):
    class Flat(Smooth):
        def predict(self, rows):
            return np.full((len(rows), 1), 0.7)

        def gradients(self, rows, column):
            return np.zeros(rows.shape)

    _, _, measured = diagnose(Flat(domain, np.random.default_rng(0)), domain)
    for figure in measured[-1].figures:
        assert (figure.gradients, figure.directions, figure.probabilities) == (1, 1, 1)
        assert figure.found == 0
