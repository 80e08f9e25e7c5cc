"""Rows with their neighbours where the data support some comparisons only."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdesk.certify.neighbourhoods.search import search
from fairdesk.certify.options import NeighbourhoodOptions
from fairdesk.data.domain.domain import Domain
from fairdesk.data.domain.support import Support
from fairdesk.errors import SpecError
from fairdesk.results.events import Found, Measured
from tests.certify.proof.test_supported_again import spouses
from tests.certify.supports import compared, points, supported
from tests.sizes import many


def counted(made, changed, reach, together):
    """Count rows by asking about each of their neighbours: with a comparison, falsified, ..."""
    domain = made.domain
    every = [each for each in points(made) if each.changes]
    rows, _ = domain.admit(made.people)
    told = [0, 0, 0, 0]
    for key, has_comparison, changes in compared(made, rows):
        falsified = changes or any(
            near(domain, key, each.key, changed, reach, together) for each in every
        )
        told[0] += has_comparison
        told[1] += has_comparison and changes
        told[2] += has_comparison and falsified
        told[3] += not has_comparison
    return tuple(told)


def near(domain, key, other, changed, reach, together):
    differ = [i for i, (one, two) in enumerate(zip(key, other, strict=True)) if one != two]
    numbers = [
        i for i in differ if not domain.attributes[i].values and not isinstance(key[i], tuple)
    ]
    for i in numbers:
        span = domain.attributes[i].high - domain.attributes[i].low
        if abs(key[i] - other[i]) > reach * span + 1e-6:
            return False
    return len(differ) <= changed or (together and differ == numbers)


@given(
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(["network", "linear", "forest"]),
    changed=st.integers(0, 2),
    reach=st.sampled_from([0.0, 0.34, 1.0]),
    together=st.booleans(),
)
@settings(max_examples=many(50))
def test_every_row_is_decided_by_its_neighbours(seed, kind, changed, reach, together):
    made = supported(seed, kind)
    rows, flipped, falsified, unsupported = counted(made, changed, reach, together)
    options = NeighbourhoodOptions(changed, reach, "yes" if together else "no", 0.0)
    run = search(made.context, made.people, options, np.random.default_rng(0))
    if not rows:
        with pytest.raises(SpecError, match="No row"):
            list(run)
        return
    events = list(run)
    (figure,) = [each for each in events if isinstance(each, Measured)][-1].figures
    assert (figure.rows, figure.flipped, figure.falsified) == (rows, flipped, falsified)
    assert (figure.certified, figure.undecided) == (rows - falsified, 0)
    assert figure.unsupported == unsupported
    found = [row for event in events if isinstance(event, Found) for row in event.rows]
    assert bool(found) == bool(falsified)


def test_husbands_without_wives_have_no_comparison():
    made = spouses()
    proposed = Support(proposed=made.domain.support.companions)
    made = made._replace(domain=Domain(made.domain.attributes, support=proposed))
    options = NeighbourhoodOptions(0, 0.0, "no", 0.0)
    run = list(search(made.context, made.people, options, np.random.default_rng(0)))
    (figure,) = [each for each in run if isinstance(each, Measured)][-1].figures
    assert (figure.rows, figure.certified, figure.unsupported) == (24, 24, 24)
