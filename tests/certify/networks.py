"""Small networks over small domains, of which everything can be counted."""

from __future__ import annotations

from itertools import pairwise, product
from typing import NamedTuple

import numpy as np

from fairdesk.certify.domain.encoded import Encoded, encode
from fairdesk.certify.domain.space import space_of
from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.individual.engine.context import SearchContext
from fairdesk.models.dense.layers import DenseNetwork
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import How, Input, Mapping, Takes, labels
from fairdesk.models.structure import Activation, DenseLayer, structure_of
from fairdesk.results.events import Rows
from tests.cards import card as made_up

RELU = Activation("relu")


class Small(NamedTuple):
    """A network, and who may be asked about."""

    fed: FedModel
    domain: Domain
    people: Rows

    @property
    def context(self) -> SearchContext:
        return SearchContext(self.fed, self.domain)

    @property
    def encoded(self) -> Encoded:
        return encode(space_of(self.domain, self.people), structure_of(self.fed.opened), self.fed)


def number(name, count, low=0, role=Role.VARIES):
    compared = tuple(float(low + i) for i in range(count)) if role is Role.PROTECTED else ()
    return Attribute(name, Kind.INTEGER, (), float(low), low + count - 1.0, role, compared)


def names(name, count, role=Role.VARIES):
    compared = tuple(float(i) for i in range(count)) if role is Role.PROTECTED else ()
    values = tuple(f"{name}{i}" for i in range(count))
    return Attribute(name, Kind.NOMINAL, values, 0.0, count - 1.0, role, compared)


def fed_with(attributes, layers):
    """Make the model; names are given one-hot, numbers as they are."""
    inputs = []
    for each in attributes:
        if each.values:
            inputs += [
                Input(f"{each.name} {value}", each.name, How.CODE, codes={value: 1.0}, others=0.0)
                for value in each.values
            ]
        else:
            inputs.append(Input(each.name, each.name, How.AS_IS))
    classes = max(2, layers[-1].bias.size)
    card = made_up(
        *(each.name for each in inputs),
        takes=Takes.MATRIX,
        classes=tuple(str(i) for i in range(classes)),
    )
    return FedModel(DenseNetwork(card, layers), Mapping(tuple(inputs), "", 1), tuple(attributes))


def layer(weights, bias, activation):
    return DenseLayer(
        np.asarray(weights, dtype=np.float32), np.asarray(bias, dtype=np.float32), activation
    )


def small(attributes, widths, rng, *, activation=RELU, classes=2, spread=1.0):
    """Make a random network whose decision changes somewhere in the domain."""
    inputs = sum(len(each.values) or 1 for each in attributes)
    sizes = [inputs, *widths, 1 if classes == 2 else classes]
    ends = Activation("sigmoid") if classes == 2 else Activation("softmax")
    layers = []
    for i, (before, after) in enumerate(pairwise(sizes)):
        own = ends if i == len(widths) else activation
        weights = rng.normal(0, spread, (before, after))
        layers.append(layer(weights, rng.normal(0, spread, after), own))
    fed = fed_with(attributes, layers)
    domain = Domain(tuple(attributes))
    people = np.array([[each.low for each in attributes], [each.high for each in attributes]])
    return Small(fed, domain, people)


def drawn(seed, **more):
    """Draw a small case: numbers and names, one or two protected attributes."""
    rng = np.random.default_rng(seed)
    attributes = [number(f"n{i}", int(rng.integers(2, 6)), -1) for i in range(rng.integers(1, 4))]
    if rng.random() < 0.6:
        attributes.append(names("job", int(rng.integers(2, 5))))
    protected = (number, names)[int(rng.integers(2))]
    attributes.append(protected("race", int(rng.integers(2, 4)), role=Role.PROTECTED))
    if rng.random() < 0.3:
        attributes.append(number("sex", 2, role=Role.PROTECTED))
    widths = rng.integers(2, 6, size=rng.integers(1, 4)).tolist()
    return small(attributes, widths, rng, **more)


def linear(seed):
    """Draw a linear model of numbers and names."""
    rng = np.random.default_rng(seed)
    attributes = [number(f"n{i}", int(rng.integers(2, 9)), -1) for i in range(3)]
    attributes += [names("job", 4), names("race", 3, role=Role.PROTECTED)]
    return small(attributes, [], rng)


def wide(seed):
    """Draw a network over so many points that sums rarely reach the ends of their ranges."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(4, 7))
    attributes = [number(f"n{i}", int(rng.integers(3, 5)), -1) for i in range(count)]
    if rng.random() < 0.5:
        attributes.append(names("job", 4))
    attributes.append(number("race", int(rng.integers(2, 4)), role=Role.PROTECTED))
    widths = rng.integers(3, 8, size=rng.integers(1, 4)).tolist()
    return small(attributes, widths, rng)


def sharp(seed):
    """Draw a network of a few units, in the tails of whose sums the protected attribute decides."""
    rng = np.random.default_rng(seed)
    attributes = [number(f"n{i}", 4, -1) for i in range(int(rng.integers(5, 7)))]
    attributes.append(number("race", 2, role=Role.PROTECTED))
    units = int(rng.integers(1, 4))
    weights = rng.normal(0, 1, (len(attributes), units))
    deviation = np.sqrt(1.25 * (weights[:-1] ** 2).sum(axis=0))
    weights[-1] = rng.choice([0.0, 0.5, 1.0], units) * deviation
    middle = 0.5 * weights.sum(axis=0)
    bias = rng.uniform(-1.0, 1.0, units) * deviation - middle
    out = rng.choice([-1.0, 1.0], (units, 1), p=[0.7, 0.3]) / deviation[:, None]
    # the decision changes where a unit is two or three deviations from its mean
    last = layer(out, [rng.uniform(1.0, 3.0)], Activation("sigmoid"))
    people = np.array([[each.low for each in attributes], [each.high for each in attributes]])
    fed = fed_with(attributes, [layer(weights, bias, RELU), last])
    return Small(fed, Domain(tuple(attributes)), people)


def everywhere(space):
    """Every point of a space."""
    return np.array(list(product(*(range(axis.count) for axis in space.axes))), dtype=np.int64)


def truth(case, space, points, may_be=None):
    """Ask the model of every point whether it is unlike."""
    similar = case.domain.similar(space.rows(points))
    decided = labels(case.fed.predict(similar.reshape(-1, similar.shape[2])))
    decided = decided.reshape(similar.shape[:2])
    if may_be is not None:
        decided = decided[:, may_be]
    return (decided != decided[:, :1]).any(axis=1)
