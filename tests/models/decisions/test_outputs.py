"""Scores decide as the answers do that they are made from."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from fairdesk.errors import ModelError
from fairdesk.models.decisions.outputs import (
    from_classes,
    from_margins,
    from_probabilities,
    numbers_of,
)
from fairdesk.models.model import labels

SHARES = st.one_of(
    st.floats(0, 1), st.sampled_from([0.5, np.nextafter(0.5, 0), np.nextafter(0.5, 1)])
)


@given(
    arrays(
        np.float64, array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=4), elements=SHARES
    )
)
def test_the_greatest_probability_decides(answers):
    scores = from_probabilities(answers)
    assert scores.dtype == np.float32
    if answers.shape[1] == 2:
        np.testing.assert_array_equal(labels(scores), answers[:, 1] > answers[:, 0])
    else:
        np.testing.assert_array_equal(scores, answers.astype(np.float32))


@given(arrays(np.float64, st.integers(1, 9), elements=SHARES))
def test_two_shares_of_a_whole_are_the_second_one(second):
    both = from_probabilities(np.column_stack([1 - second, second]))
    one = from_probabilities(second)
    np.testing.assert_allclose(both, one, atol=2e-7)
    np.testing.assert_allclose(one[:, 0], second, atol=1e-7)
    np.testing.assert_array_equal(labels(one), second > 0.5)


def test_classes_judged_each_for_itself_are_weighed_against_each_other():
    scores = from_probabilities(np.array([[0.9, 0.8], [0.1, 0.2], [0.0, 0.0]]))
    assert scores[:, 0] == pytest.approx([0.45, 0.55, 0.5])
    assert labels(scores).tolist() == [0, 1, 0]


@given(
    arrays(
        np.float64, st.tuples(st.integers(1, 9), st.integers(1, 3)), elements=st.floats(-1e9, 1e9)
    )
)
def test_the_greatest_margin_decides(margins):
    decided = margins[:, 0] > 0 if margins.shape[1] == 1 else margins[:, 1] > margins[:, 0]
    if margins.shape[1] < 3:
        np.testing.assert_array_equal(labels(from_margins(margins)), decided)
    else:
        np.testing.assert_array_equal(from_margins(margins), margins.astype(np.float32))


def test_decisions_alone_are_scores_of_nought_and_one():
    chosen = np.array([0, 1, 1])
    assert from_classes(chosen, 2).tolist() == [[0], [1], [1]]
    assert from_classes(chosen, 3).tolist() == [[1, 0, 0], [0, 1, 0], [0, 1, 0]]


def test_a_missing_cell_is_never_sent_as_a_whole_number():
    values = np.array([1.0, np.nan])
    assert np.isnan(numbers_of(values, np.float32)[1])
    for kind in (np.int64, "int32", np.bool_):
        assert numbers_of(values[:1], kind).tolist() == [1]
        with pytest.raises(ModelError, match="a cell is missing"):
            numbers_of(values, kind)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (np.int8, 300.0),
        (np.int64, 0.5),
        (np.uint8, -1.0),
        (np.bool_, 2.0),
        (np.float16, 70_000.0),
        (np.float32, 1e39),
        (np.int64, np.inf),
    ],
)
def test_a_number_that_would_become_another_one_is_refused(kind, value):
    with pytest.raises(ModelError, match="cannot hold"):
        numbers_of(np.array([1.0, value]), kind)
    assert numbers_of(np.array([0.0, 1.0]), kind).tolist() == [0, 1]


def test_numbers_written_as_text_are_numbers():
    assert numbers_of(np.array(["1", "7"], dtype=object), np.int32).tolist() == [1, 7]
    with pytest.raises(ValueError, match="could not convert"):
        numbers_of(np.array(["m"], dtype=object), np.float32)
