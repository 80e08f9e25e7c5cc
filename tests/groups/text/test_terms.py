"""The terms that name somebody."""

import pytest

from fairdesk.errors import SpecError
from fairdesk.groups.text.terms import TERMS, lists_of_terms, words


def test_the_papers_terms_are_there():
    assert [len(terms) for terms in TERMS.values()] == [14, 17, 9, 8]
    assert list(TERMS) == ["gender", "race", "religion", "age"]
    every = [words(term) for terms in TERMS.values() for term in terms]
    assert len(set(every)) == 48
    assert lists_of_terms({}) is TERMS


def test_own_terms_take_their_place():
    own = {"pets": ["Guinea-pig", " cat ", "guinea pig", "CAT", "old  dog"], "age": ["old", "new"]}
    assert lists_of_terms(own) == {
        "pets": ("Guinea-pig", "cat", "old dog"),
        "age": ("old", "new"),
    }


@pytest.mark.parametrize(
    ("own", "what"),
    [
        ({"pets": ["cat"]}, "“pets” has fewer than two"),
        ({"pets": ["cat", "CAT "]}, "“pets” has fewer than two"),
        ({"pets": ["cat", "-"]}, "“pets” has fewer than two"),
        ({"pets": ["cat", "dog"], "zoo": ["lion", "Cat"]}, "“Cat” is in both .*“pets” and “zoo”"),
    ],
)
def test_terms_that_cannot_be_compared_are_refused(own, what):
    with pytest.raises(SpecError, match=what) as refused:
        lists_of_terms(own)
    assert refused.value.why
    assert refused.value.remedy
