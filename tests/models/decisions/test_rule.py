import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from fairdesk.models.decisions.rule import (
    decided,
    names_around,
    own_number,
    own_number_text,
)
from fairdesk.models.model import (
    Mapping,
    favourable_scores,
    labels,
    names_of_groups,
)
from tests.cards import card

CARD = card(width=1)
ESTIMATES = card(width=1, classes=(), scores="values")


def estimating(threshold, *, favourable=1, beyond=False, spread=10.0):
    return Mapping(
        (),
        "",
        favourable,
        outcomes=names_around(threshold, beyond=beyond),
        threshold=threshold,
        beyond=beyond,
        spread=spread,
    )


@given(
    arrays.arrays(np.float32, st.integers(1, 30), elements=st.floats(0, 1, width=32)),
    st.floats(0.001, 0.999),
)
def test_two_classes_are_decided_above_the_threshold_and_nowhere_else(scores, threshold):
    mapping = Mapping((), "", 1, threshold=threshold)
    fed = decided(scores[:, None], mapping, CARD)
    assert fed.dtype == np.float32
    # as NumPy compares: in the precision of the answers
    np.testing.assert_array_equal(labels(fed), (scores > threshold).astype(int))
    order = np.argsort(scores)
    assert (np.diff(fed[order, 0]) >= 0).all()
    assert ((fed >= 0) & (fed <= 1)).all()


def test_a_probability_of_exactly_the_threshold_is_not_above_it():
    scores = np.array([[0.3], [0.30000004]], np.float32)
    assert labels(decided(scores, Mapping((), "", 1, threshold=0.3), CARD)).tolist() == [0, 1]


@given(
    arrays.arrays(
        np.float32,
        st.tuples(st.integers(1, 30), st.just(4)),
        elements=st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.4, 1.0, -3.0, 200.0]),
    ),
    st.sampled_from([(0,), (1, 2), (0, 3), (1, 2, 3)]),
    st.sampled_from(["probabilities", "scores", "labels"]),
)
def test_several_classes_together_are_decided_as_the_model_itself_decides(
    answers, together, scores
):
    classes = ("a", "b", "c", "d")
    mapping = Mapping((), "", 1, names_of_groups(classes, together), together)
    fed = decided(answers, mapping, card(width=1, classes=classes, scores=scores))
    assert fed.shape == (len(answers), 1)
    # ties too: argmax takes the first
    np.testing.assert_array_equal(labels(fed), np.isin(answers.argmax(axis=1), together))
    assert ((fed >= 0) & (fed <= 1)).all()


def test_the_score_of_several_classes_is_how_far_the_best_is_above_the_best_other():
    mapping = Mapping((), "", 1, ("a", "b or c"), (1, 2))
    fed = decided(
        np.array([[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]]),
        mapping,
        card(width=1, classes=("a", "b", "c")),
    )
    np.testing.assert_allclose(fed[:, 0], [0.35, 0.65])


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("beyond", [False, True])
@given(data=st.data())
def test_an_estimate_is_decided_at_the_threshold_whatever_is_rounded(kind, beyond, data):
    threshold = data.draw(st.sampled_from([50.0, 0.7, -3.25, 0.0, 1e6]))
    near = [threshold, *np.nextafter(kind(threshold), kind([np.inf, -np.inf]))]
    values = np.array(
        [*near, *data.draw(st.lists(st.floats(-1e9, 1e9, width=32), max_size=20))], dtype=kind
    )
    fed = decided(values[:, None], estimating(threshold, beyond=beyond), ESTIMATES)
    assert fed.dtype == np.float32
    expected = values > threshold if beyond else values >= threshold
    np.testing.assert_array_equal(labels(fed), expected)
    assert (np.diff(fed[np.argsort(values), 0]) >= 0).all()


@pytest.mark.parametrize("favourable", [0, 1])
def test_estimates_are_told_again(favourable):
    values = np.array([[50.0], [49.0], [75.5], [-1e6], [3e7]])
    mapping = estimating(50.0, favourable=favourable)
    fed = favourable_scores(decided(values, mapping, ESTIMATES), favourable)
    own = [own_number(score, mapping, ESTIMATES) for score in fed.tolist()]
    np.testing.assert_allclose(own, values[:, 0], rtol=0.3)
    np.testing.assert_allclose(own[:3], values[:3, 0], rtol=1e-6)


@pytest.mark.parametrize("favourable", [0, 1])
def test_probabilities_are_told_again(favourable):
    scores = np.array([[0.0], [0.1], [0.3], [0.8], [1.0]], np.float32)
    mapping = Mapping((), "", favourable, threshold=0.3)
    fed = favourable_scores(decided(scores, mapping, CARD), favourable)
    own = [own_number(score, mapping, CARD) for score in fed.tolist()]
    np.testing.assert_allclose(own, favourable_scores(scores, favourable), atol=1e-7)
    plain = msgspec.structs.replace(mapping, threshold=None)
    assert own_number(0.3, plain, CARD) == 0.3


def test_numbers_are_written_so_that_their_side_of_the_border_shows():
    fed = decided(np.array([[50.0], [49.999]]), estimating(50.0), ESTIMATES)
    mapping = estimating(50.0)
    at, below = (own_number_text(score, mapping, ESTIMATES) for score in fed[:, 0].tolist())
    assert at == "50"
    assert below == "49.999"
    assert own_number_text(0.5000001, Mapping((), "", 1), CARD) == "0.500000100"
    assert own_number_text(0.5, Mapping((), "", 1), CARD) == "0.500"
    assert own_number_text(0.25, Mapping((), "", 1, threshold=0.2), CARD) == "0.100"


@given(st.floats(0, 1, width=32))
def test_a_score_is_never_written_on_the_other_side_of_one_half(score):
    text = float(own_number_text(score, Mapping((), "", 1), CARD))
    assert (text > 0.5) == (score > 0.5) or abs(score - 0.5) < 1e-9
    assert text == pytest.approx(score, abs=5e-4)


def test_names_of_decisions():
    assert names_around(50) == ("below 50", "50 or more")
    assert names_around(0.5, beyond=True) == ("0.5 or less", "above 0.5")
    assert names_of_groups(("bad", "fair", "good"), (1, 2)) == ("bad", "fair or good")
