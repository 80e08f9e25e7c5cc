"""Small models and domains whose discrimination is known by enumeration."""

from itertools import product

import numpy as np
import pytest

from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind


class Network:
    """A random one-hidden-layer network over the codes of a domain; counts what it is asked."""

    has_gradients = True

    def __init__(self, domain, rng, classes=2, bias=0.0):
        self.domain = domain
        width = len(domain.attributes)
        self.scale = np.maximum(domain.high - domain.low, 1e-9)
        self.hidden = rng.normal(size=(width, 16))
        self.out = rng.normal(size=(16, 1 if classes == 2 else classes))
        self.bias = bias
        self.asked = []
        self.gradients_asked = 0

    def predict(self, rows):
        self.asked.append(rows.copy())
        units = np.tanh(4 * ((rows - self.domain.low) / self.scale - 0.5) @ self.hidden)
        logits = units @ self.out + self.bias
        if logits.shape[1] == 1:
            return (1 / (1 + np.exp(-logits))).astype(np.float32)
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        return (odds / odds.sum(axis=1, keepdims=True)).astype(np.float32)

    def gradients(self, rows, column):
        self.asked.append(rows.copy())
        self.gradients_asked += len(rows)
        units = np.tanh(4 * ((rows - self.domain.low) / self.scale - 0.5) @ self.hidden)
        logits = units @ self.out + self.bias
        people = np.arange(len(rows))
        if logits.shape[1] == 1:
            score = 1 / (1 + np.exp(-logits))
            by_logit = score * (1 - score)
        else:
            odds = np.exp(logits - logits.max(axis=1, keepdims=True))
            scores = odds / odds.sum(axis=1, keepdims=True)
            own = np.eye(scores.shape[1])[column]
            by_logit = scores[people, column, None] * (own - scores)
        by_unit = (by_logit @ self.out.T) * (1 - units**2)
        return by_unit @ self.hidden.T * 4 / self.scale


def integer(name, low, high, role=Role.VARIES, compared=()):
    return Attribute(
        name=name,
        kind=Kind.INTEGER,
        low=float(low),
        high=float(high),
        role=role,
        compared=tuple(map(float, compared)),
    )


@pytest.fixture
def small_domain():
    """1,440 people: two protected attributes of 2 and 3 values, one fixed, three that vary."""
    return Domain(
        (
            integer("years", 0, 9),
            integer("sex", 0, 1, Role.PROTECTED, (0, 1)),
            integer("grade", -2, 3),
            integer("race", 0, 2, Role.PROTECTED, (0, 1, 2)),
            integer("county", 0, 1, Role.FIXED),
            integer("debts", 1, 2),
        )
    )


@pytest.fixture
def real_domain():
    """A domain with real attributes."""
    return Domain(
        (
            Attribute("income", Kind.REAL, low=0.0, high=5.0),
            integer("sex", 0, 1, Role.PROTECTED, (0, 1)),
            Attribute("ratio", Kind.REAL, low=-1.0, high=1.0),
            integer("years", 0, 40),
        )
    )


def everybody(domain):
    """Every person of a whole-numbered domain."""
    ranges = [np.arange(low, high + 1) for low, high in zip(domain.low, domain.high, strict=True)]
    return np.array(list(product(*ranges)))
