"""A small domain in which everybody can be asked, and an honest certificate of it."""

from types import SimpleNamespace

import msgspec
import numpy as np

from fairdesk.certify.domain.boxes import partitioned
from fairdesk.certify.domain.space import space_of
from fairdesk.certify.proof import certificate
from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.models.model import How, Input, Mapping, Takes, labels
from tests.cards import card as made_up

#: What is computed in floating point is counted as a little less.
LESS = 1 - 2.0**-50
JOBS = ("clerk", "cook", "none", "pilot")


class Options(msgspec.Struct, frozen=True):
    seconds: float = 60.0


def domain(*constraints):
    return Domain(
        (
            Attribute("sex", Kind.NOMINAL, ("f", "m"), 0.0, 1.0, Role.PROTECTED, (0.0, 1.0)),
            Attribute("job", Kind.NOMINAL, JOBS, 0.0, 3.0),
            Attribute("debts", Kind.INTEGER, (), 0.0, 9.0),
            Attribute("income", Kind.INTEGER, (), 10.0, 60.0),
        ),
        constraints,
    )


def decide(rows):
    """Score by a formula in whole numbers: exact, and unlike for some."""
    sex, job, debts, income = rows.T
    margin = income - 30 - 2 * debts + 3 * (job == 3) + 8 * sex
    return np.where(margin > 0, 0.9, 0.1).astype(np.float32)[:, None]


def fed(about):
    inputs = tuple(
        Input(
            each.name, each.name, How.CODE, {text: float(i) for i, text in enumerate(each.values)}
        )
        if each.values
        else Input(each.name, each.name, How.AS_IS)
        for each in about.attributes
    )
    card = made_up(
        *(each.name for each in inputs),
        path="/models/credit.keras",
        sha256="0f" * 32,
        takes=Takes.MATRIX,
        named=False,
    )
    return SimpleNamespace(opened=SimpleNamespace(card=card), mapping=Mapping(inputs, "by name", 1))


def everybody(low, high):
    """All points of a box, ``(n, a)``."""
    axes = [np.arange(one, other + 1) for one, other in zip(low, high, strict=True)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


def discriminatory(space, places, decide=decide):
    similar = space.domain.similar(space.rows(places))
    everyone = similar.reshape(-1, similar.shape[2])
    decided = labels(decide(everyone)).reshape(len(places), -1)
    allowed = space.domain.allowed(everyone).reshape(decided.shape)
    most = np.where(allowed, decided, -1).max(axis=1)
    return (allowed & (decided != most[:, None])).any(axis=1)


def divide(space, decide=decide, *, small=120):
    """Divide by halves: boxes of one kind end it; of small ones some are counted, some left."""
    nodes = []
    boxes = list(zip(space.low, space.high, strict=True))
    inhabited = (space.may_be.sum(axis=1) > 1)[space.groups]
    at = 0
    while at < len(boxes):
        low, high = boxes[at]
        hits = discriminatory(space, everybody(low, high), decide)
        node = {"first": -1, "axis": -1, "cut": 0, "consistent": 0.0, "discriminatory": 0.0}
        node |= {"people_consistent": 0.0, "people_discriminatory": 0.0}
        if at < len(inhabited) and not inhabited[at]:
            node["verdict"] = certificate.NOBODY
        elif hits.all() or not hits.any():
            node["verdict"] = certificate.DISCRIMINATORY if hits.all() else certificate.CONSISTENT
        elif len(hits) <= small and at % 5 == 1:
            node |= {
                "verdict": certificate.COUNTED,
                "discriminatory": hits.mean(),
                "consistent": 1 - hits.mean(),
            }
        elif len(hits) <= small and at % 5 == 0:
            # a little less than is true, as bounds are
            node |= {"verdict": certificate.UNDECIDED}
            node |= {"discriminatory": 0.9 * hits.mean(), "consistent": 0.9 * (1 - hits.mean())}
        else:
            axis = int((high - low).argmax())
            cut = int((low[axis] + high[axis]) // 2)
            node |= {"verdict": -1, "first": len(boxes), "axis": axis, "cut": cut}
            upper, lower = high.copy(), low.copy()
            upper[axis], lower[axis] = cut, cut + 1
            boxes += [(low, upper), (lower, high)]
        nodes.append(node)
        at += 1
    arrays = {name: np.array([node[name] for node in nodes]) for name in nodes[0]}
    proven = {"consistent": 0, "discriminatory": 0}
    for node, (low, high) in zip(nodes, boxes, strict=True):
        points = int(np.prod(high - low + 1))
        if node["verdict"] == certificate.UNDECIDED:
            for kind in proven:
                proven[kind] += int(points * node[kind] * LESS)
        elif node["verdict"] == certificate.COUNTED:
            hits = round(points * node["discriminatory"])
            proven["discriminatory"] += hits
            proven["consistent"] += points - hits
        elif node["verdict"] in (certificate.CONSISTENT, certificate.DISCRIMINATORY):
            proven[
                "consistent" if node["verdict"] == certificate.CONSISTENT else "discriminatory"
            ] += points
    return arrays, proven


def honest(about=None, decide=decide, **how):
    """Return the event of an honest certificate."""
    about = about or domain()
    space = partitioned(space_of(about, np.empty((0, len(about.attributes)))))
    arrays, proven = divide(space, decide, **how)
    return certificate.pack(
        space,
        arrays,
        fed(about),
        phase="proving",
        method="certify",
        options=Options(),
        margin=1e-5,
        seconds=1.5,
        boxes=len(arrays["first"]),
        **proven,
    )


def read(event):
    """Return the header and the arrays of an event."""
    return certificate.decoded(event.header), dict(event.arrays)


__all__ = [
    "Options",
    "decide",
    "discriminatory",
    "divide",
    "domain",
    "everybody",
    "fed",
    "honest",
    "read",
]
