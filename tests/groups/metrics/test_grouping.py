"""Into which groups attributes divide people: against the conditions that describe them."""

from itertools import pairwise

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.table import Kind
from fairdesk.groups.metrics.grouping import cross, divide
from fairdesk.groups.tabular.rules import members
from fairdesk.results.proofs import Condition

EDGES = st.lists(st.integers(-30, 30), min_size=1, max_size=5, unique=True).map(sorted)


def number(kind):
    return Attribute("x", kind, low=-20, high=20, role=Role.PROTECTED, compared=(-10.0, 10.0))


@given(EDGES, st.lists(st.integers(-40, 40) | st.none(), min_size=1))
def test_bins_of_whole_numbers_are_conditions(edges, values):
    attribute = number(Kind.INTEGER)
    codes = np.array([np.nan if value is None else value for value in values])
    division = divide(attribute, codes, [edge - 0.5 for edge in edges])
    ends = [None, *edges, None]
    for place, (low, above) in enumerate(pairwise(ends)):
        rule = Condition("x", low=low, high=None if above is None else above - 1)
        inside = members([attribute], codes[:, None], [rule])
        assert (inside == (division.place == place)).all()
        assert members([attribute], np.array([[division.codes[place]]]), [rule]).all()
    assert (np.isnan(codes) == (division.place == division.size)).all()
    assert len(set(division.texts)) == len(division.texts)


@given(EDGES, st.lists(st.integers(-400, 400), min_size=1))
def test_bins_of_fractions_are_conditions(edges, tenths):
    attribute = number(Kind.REAL)
    codes = np.array(tenths) / 10
    division = divide(attribute, codes, edges)
    for place, (low, high) in enumerate(pairwise([None, *edges, None])):
        rule = Condition("x", low=low, high=high, below=True)
        assert (members([attribute], codes[:, None], [rule]) == (division.place == place)).all()
        assert members([attribute], np.array([[division.codes[place]]]), [rule]).all()


@given(st.lists(st.tuples(*[st.sampled_from([0.0, 1.0, np.nan])] * 3), min_size=1), st.data())
def test_intersections_hold_whoever_is_in_all_of_them(rows, data):
    codes = np.array(rows)
    people = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))))
    attributes = [
        Attribute(name, Kind.NOMINAL, ("n", "y"), 0, 1, Role.PROTECTED, (0.0, 1.0))
        for name in "abc"
    ]
    groups = cross(
        [divide(a, column) for a, column in zip(attributes, codes.T, strict=True)], people
    )
    assert groups.count().sum() == people.sum()
    assert groups.count().all()
    for place, (codes_of, known) in enumerate(zip(groups.codes, groups.known, strict=True)):
        assert known == bool(codes_of)
        if known:
            rules = [
                Condition(*each) for each in zip("abc", zip(codes_of, strict=True), strict=True)
            ]
            inside = members(attributes, codes[people], rules)
            assert (inside == (groups.place == place)).all()
    unknown = np.isnan(codes[people]).any(axis=1)
    assert (unknown == ~groups.known[groups.place]).all()
