"""Small tables whose groups are known, and models whose answers can be enumerated."""

import numpy as np

from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.groups.context import GroupContext


def nominal(name, values, role=Role.VARIES, **more):
    compared = tuple(map(float, range(len(values)))) if role is Role.PROTECTED else ()
    return Attribute(
        name,
        more.pop("kind", Kind.NOMINAL),
        tuple(values),
        0.0,
        len(values) - 1.0,
        role,
        compared,
        **more,
    )


def number(name, low, high, role=Role.VARIES, kind=Kind.INTEGER, **more):
    compared = (float(low), float(high)) if role is Role.PROTECTED else ()
    return Attribute(name, kind, (), float(low), float(high), role, compared, **more)


SEX = nominal("sex", ["f", "m"], Role.PROTECTED)
RACE = nominal("race", ["a", "b", "c"], Role.PROTECTED)
AGE = number("age", 18, 67, Role.PROTECTED)
INCOME = number("income", 0, 9)
SHARE = number("share", 0.0, 2.0, kind=Kind.REAL)
TOWN = nominal("town", ["x", "y", "z"])
COUNTY = number("county", 0, 3, Role.FIXED)
DOMAIN = Domain((SEX, INCOME, RACE, SHARE, AGE, TOWN, COUNTY))


def people(domain, n, seed=0):
    """Draw people, skewed, so that groups differ in size."""
    rng = np.random.default_rng(seed)
    columns = []
    for attribute in domain.attributes:
        lots = rng.beta(1.0, 1.5, n)
        if attribute.values:
            columns.append(np.floor(lots * len(attribute.values)))
        else:
            code = attribute.low + lots * (attribute.high - attribute.low)
            columns.append(np.round(code) if attribute.integral else code)
    rows = domain.clip(np.stack(columns, axis=1))
    return rows[domain.allowed(rows)]


class Answering:
    """A model that is a function of the rows, and keeps what it was asked."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    def predict(self, rows):
        self.asked.append(rows.copy())
        scores = np.asarray(self.answer(rows), dtype=np.float32)
        return scores[:, None] if scores.ndim == 1 else scores


def study(answer, rows, domain=DOMAIN, unseen=None, decisions=("no", "yes"), **more):
    """Put people and a model together; everybody is inside unless it is said otherwise."""
    groups = rows[:, domain.protected]
    if unseen is not None:
        groups = np.concatenate([groups, unseen], axis=1)
    unknown = np.full(len(rows), np.nan)
    inside = more.pop("inside", np.ones(len(rows), dtype=bool))
    favourable = more.pop("favourable", 1)
    return GroupContext(
        domain=domain,
        rows=rows,
        groups=groups,
        inside=inside,
        label=unknown,
        decided=unknown,
        model=Answering(answer),
        favourable=favourable,
        decisions=decisions,
        **more,
    )
