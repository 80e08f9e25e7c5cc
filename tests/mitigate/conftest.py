"""Workshops that many tests share: made once, handed out as fresh copies."""

import pytest

from tests.mitigate import making


@pytest.fixture(scope="session")
def _two(tmp_path_factory):
    return making.mitigation(tmp_path_factory.mktemp("two"))


@pytest.fixture(scope="session")
def _three(tmp_path_factory):
    return making.mitigation(tmp_path_factory.mktemp("three"), classes=3)


@pytest.fixture
def mitigation(_two):
    """2,000 people, two classes, a logistic regression that favours men; pairs, no rule."""
    return making.fresh(_two)


@pytest.fixture
def three(_three):
    """The same with three classes."""
    return making.fresh(_three)


@pytest.fixture(scope="session")
def _texts(tmp_path_factory):
    return making.texts(tmp_path_factory.mktemp("texts"))


@pytest.fixture
def texts(_texts):
    """400 comments, a linear model that finds those bad that name somebody; a rule about that."""
    return making.fresh(_texts)
