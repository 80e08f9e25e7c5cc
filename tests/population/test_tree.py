"""The tree's probabilities are those of an enumeration; it joins what tells most of each other."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.errors import DataError, SpecError
from fairdesk.population.tree import (
    MOST_NAMES,
    PopulationTree,
    _placed,
    cells_of,
    directed,
    mutual_information,
    spanning_forest,
)
from tests.individual.conftest import integer
from tests.sizes import many

SEX = Attribute("sex", Kind.NOMINAL, ("f", "m"), 0.0, 1.0, Role.PROTECTED, (0.0, 1.0))


def names(name, size, **more):
    return Attribute(
        name, Kind.NOMINAL, tuple(f"{name}{i}" for i in range(size)), 0.0, size - 1.0, **more
    )


@st.composite
def small(draw):
    """A domain that can be enumerated, and dependent rows of it."""
    kinds = draw(st.lists(st.sampled_from(["names", "whole", "stepped", "one"]), max_size=3))
    attributes = [SEX]
    for i, kind in enumerate(kinds):
        match kind:
            case "names":
                attributes.append(names(f"n{i}", draw(st.integers(2, 4))))
            case "whole":
                attributes.append(integer(f"w{i}", -2, draw(st.integers(-1, 25))))
            case "stepped":
                attributes.append(Attribute(f"s{i}", Kind.REAL, low=0.5, high=2.0, step=0.5))
            case _:
                attributes.append(integer(f"o{i}", 4, 4, Role.FIXED))
    domain = Domain(tuple(attributes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = domain.sample(rng, draw(st.sampled_from([1, 7, 200])))
    if len(attributes) > 1:
        # the second follows the first, often
        rows[::2, 1] = domain.clip(attributes[1].low + rows[::2, 0, None], np.array([1]))[:, 0]
    return domain, rows


def everything(domain, tree):
    return np.array(list(product(*tree.values)))


def probabilities(tree, rows):
    """Return P of each row: that of its cells, and of its codes within these."""
    inside = np.ones(len(rows))
    for i, (values, shares) in enumerate(zip(tree.values, tree.within, strict=True)):
        inside *= shares[np.searchsorted(values, rows[:, i])]
    return np.exp(tree.log_density(rows)) * inside


@settings(max_examples=many(40))
@given(small())
def test_probabilities_of_all_rows_sum_to_one(given_):
    domain, rows = given_
    tree = PopulationTree.fit(domain, rows)
    assert probabilities(tree, everything(domain, tree)).sum() == pytest.approx(1, abs=1e-9)


@settings(max_examples=many(40))
@given(small())
def test_the_density_is_the_product_of_the_tables(given_):
    domain, rows = given_
    tree = PopulationTree.fit(domain, rows)
    tried = domain.sample(np.random.default_rng(5), 50)
    placed = _placed(tree.cells, tried)
    for row, density in zip(placed, tree.log_density(tried), strict=True):
        terms = [
            tree.log_tables[i][row[parent] if parent >= 0 else 0, row[i]]
            for i, parent in enumerate(tree.parents)
        ]
        assert density == sum(terms)
    place = {each: at for at, each in enumerate(tree.order.tolist())}
    assert sorted(place) == list(range(len(tree.parents)))
    assert all(parent < 0 or place[parent] < place[i] for i, parent in enumerate(tree.parents))


@settings(max_examples=many(10))
@given(small())
def test_what_is_drawn_agrees(given_):
    domain, rows = given_
    tree = PopulationTree.fit(domain, rows)
    n = 20_000
    drawn = tree.sample(np.random.default_rng(1), n)
    assert domain.contains(drawn).all()
    all_rows = everything(domain, tree)
    expected = n * probabilities(tree, all_rows)
    keys = {row.tobytes(): i for i, row in enumerate(all_rows + 0.0)}
    counts = np.bincount([keys[row.tobytes()] for row in drawn + 0.0], minlength=len(all_rows))
    often = expected >= 5
    # five standard deviations, of thousands of counts
    assert (np.abs(counts - expected)[often] <= 6 * np.sqrt(expected[often])).all()
    assert counts[~often].sum() <= expected[~often].sum() + 6 * np.sqrt(expected[~often].sum()) + 6


@settings(max_examples=many(60))
@given(st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_no_forest_tells_more(d, seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 4, d).tolist()
    cells = np.column_stack([rng.integers(0, size, 40) for size in sizes])
    cells[:20, -1] = cells[:20, 0] % sizes[-1]
    weights = mutual_information(cells, sizes)
    edges = spanning_forest(weights)
    ours = sum(weights[edge] for edge in edges)
    best = 0.0
    for count in range(d):
        for some in combinations(combinations(range(d), 2), count):
            parents, _ = directed(some, d)
            if (parents >= 0).sum() == count:  # without a circle
                best = max(best, sum(weights[edge] for edge in some))
    assert ours == pytest.approx(best, abs=1e-12)
    assert (directed(edges, d)[0] >= 0).sum() == len(edges)


def test_mutual_information_is_that_of_the_counts():
    rng = np.random.default_rng(0)
    one = rng.integers(0, 3, 5000)
    other = np.where(rng.random(5000) < 0.5, one, rng.integers(0, 3, 5000))
    joint = np.zeros((3, 3))
    np.add.at(joint, (one, other), 1 / 5000)
    plain = (joint * np.log(joint / np.outer(joint.sum(axis=1), joint.sum(axis=0)))).sum()
    apart = rng.integers(0, 3, 5000)
    weights = mutual_information(np.column_stack((one, other, apart)), [3, 3, 3])
    assert weights[0, 1] == pytest.approx(plain - 4 / 10_000)
    assert weights[0, 0] == 0
    # independent ones are told apart by nothing
    assert abs(weights[0, 2]) < 1e-3


def test_what_goes_together_is_joined():
    domain = Domain((SEX, names("relation", 3), integer("age", 18, 90), integer("noise", 0, 9)))
    rng = np.random.default_rng(0)
    sex = rng.integers(0, 2, 4000)
    relation = np.where(rng.random(4000) < 0.3, 2, sex)
    age = np.clip(rng.normal(30 + 20 * (relation == 2), 5), 18, 90).round()
    rows = np.column_stack((sex, relation, age, rng.integers(0, 10, 4000))).astype(float)
    tree = PopulationTree.fit(domain, rows)
    assert tree.parents[:3].tolist() == [-1, 0, 1]
    never, often = np.array([[0, 1, 30, 5], [1, 1, 30, 5.0]])
    assert tree.log_density(never[None]) < tree.log_density(often[None]) - 5
    again = PopulationTree.fit(domain, rows)
    assert all((a == b).all() for a, b in zip(tree.log_tables, again.log_tables, strict=True))


def test_cells_of_numbers():
    codes = np.concatenate([np.zeros(900), np.arange(100, 200), [40.0] * 50])
    attribute = integer("gain", -5, 900)
    cells = cells_of(attribute, codes)
    # below the data, the frequent value by itself, two bins of the rest, above the data
    assert cells.of(np.array([-5, -1, 0, 1, 100, 199, 200, 900.0])).tolist() == [
        *(0, 0, 1, 2, 2, 3, 4, 4)
    ]
    even = cells_of(integer("age", 0, 99), np.arange(1200) % 100.0)
    counts = np.bincount(even.of(np.arange(1200) % 100.0))
    assert len(counts) == even.count == 12
    assert counts.min() >= 90
    # between two frequent values there is a cell of nobody, above them none
    binary = cells_of(Attribute("b", Kind.REAL, low=0.0, high=1.0), np.array([0.0, 1.0] * 50))
    assert binary.of(np.array([0.0, 0.5, 1.0])).tolist() == [0, 1, 2]
    assert binary.count == 3
    assert cells_of(integer("same", 4, 4), np.full(10, 4.0)).count == 1


def test_a_missing_code_is_a_cell_of_its_own():
    domain = Domain((SEX, integer("age", 18, 90), names("job", 3)))
    rows = domain.sample(np.random.default_rng(0), 500)
    without = PopulationTree.fit(domain, rows)
    rows[:200, 1] = rows[100:300, 2] = np.nan
    tree = PopulationTree.fit(domain, rows)
    missing = np.array([[0, np.nan, np.nan]])
    assert np.isfinite(tree.log_density(missing)).all()
    assert (
        _placed(tree.cells, missing)[0, 1:] == [each.count - 1 for each in tree.cells[1:]]
    ).all()
    assert tree.log_density(missing) > tree.log_density(np.array([[0, 20.0, np.nan]]))
    assert without.log_density(missing) == -np.inf
    drawn = tree.sample(np.random.default_rng(0), 2000)
    assert np.isnan(drawn[:, 1]).mean() == pytest.approx(0.4, abs=0.05)


def test_of_thousands_of_names_the_rare_ones_share_a_cell():
    many = 3000
    domain = Domain((SEX, names("town", many), Attribute("text", Kind.TEXT, ("a", "b"), 0, 1)))
    rng = np.random.default_rng(0)
    town = np.where(rng.random(4000) < 0.5, rng.integers(0, 50, 4000), rng.integers(0, many, 4000))
    rows = np.column_stack((rng.integers(0, 2, 4000), town, rng.integers(0, 2, 4000))).astype(float)
    tree = PopulationTree.fit(domain, rows)
    assert [each.count for each in tree.cells] == [2, MOST_NAMES, 1]
    assert len(np.unique(_placed(tree.cells, rows)[:, 1])) == MOST_NAMES
    # what was never seen is as rare as the rare ones
    assert _placed(tree.cells, np.array([[0, many - 1.0, 0]]))[0, 1] == MOST_NAMES - 1
    assert tree.within[1].sum() == pytest.approx(MOST_NAMES)


def test_values_beyond_the_data_are_rarer():
    domain = Domain((SEX, integer("age", 0, 500), Attribute("wage", Kind.REAL, low=0, high=1e6)))
    rng = np.random.default_rng(0)
    rows = np.column_stack(
        (rng.integers(0, 2, 3000), rng.integers(18, 90, 3000), rng.uniform(1e3, 5e3, 3000))
    )
    rows = domain.clip(rows)
    tree = PopulationTree.fit(domain, rows)
    usual, *beyond = tree.log_density(
        np.array([[0, 50, 2e3], [0, 3, 2e3], [0, 200, 2e3], [0, 50, 10], [0, 50, 9e5]])
    )
    assert all(each < usual - 4 for each in beyond)
    drawn = tree.sample(rng, 3000)
    assert domain.contains(drawn).all()
    assert np.isin(drawn[:, 2], rows[:, 2]).mean() > 0.99


def test_constraints_hold_for_what_is_drawn():
    domain = Domain((SEX, integer("age", 18, 90), integer("paid", 0, 60)), ("paid <= age - 18",))
    rows = domain.sample(np.random.default_rng(0), 800)
    drawn = PopulationTree.fit(domain, rows).sample(np.random.default_rng(1), 3000)
    assert len(drawn) == 3000
    assert domain.contains(drawn).all()


def test_nobody_to_learn_from_and_nobody_to_draw(monkeypatch):
    domain = Domain((SEX, integer("age", 18, 90)))
    with pytest.raises(DataError):
        PopulationTree.fit(domain, np.empty((0, 2)))
    never = Domain(domain.attributes, ("age > 90",))
    monkeypatch.setattr("fairdesk.population.tree._MOST_DRAWN", 20_000)
    with pytest.raises(SpecError):
        PopulationTree.fit(never, domain.sample(np.random.default_rng(0), 50)).sample(
            np.random.default_rng(0), 5
        )
