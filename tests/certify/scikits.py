"""Fitted models of scikit-learn's kind over small domains, and the truth about everybody there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from fairdesk.certify.domain.space import Places, Space
from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import How, Input, Mapping, Takes, labels
from fairdesk.models.preparation.estimators import asked_of
from fairdesk.models.sklearn.file import ScikitModel
from tests.cards import card as made_up

JOBS = ("clerk", "cook", "none", "pilot", "smith")
SEXES = ("f", "m")
RACES = ("a", "b", "c")


def whole(name: str, high: float, role: Role = Role.VARIES, low: float = 0.0) -> Attribute:
    compared = tuple(np.arange(low, high + 1).tolist()) if role is Role.PROTECTED else ()
    return Attribute(name=name, kind=Kind.INTEGER, low=low, high=high, role=role, compared=compared)


def named(name: str, values: tuple[str, ...], role: Role = Role.VARIES) -> Attribute:
    compared = tuple(map(float, range(len(values)))) if role is Role.PROTECTED else ()
    return Attribute(
        name=name,
        kind=Kind.NOMINAL,
        values=values,
        high=len(values) - 1.0,
        role=role,
        compared=compared,
    )


ATTRIBUTES = (
    whole("age", 11.0),
    named("job", JOBS),
    whole("hours", 6.0),
    named("sex", SEXES, Role.PROTECTED),
    named("race", RACES, Role.PROTECTED),
)


def people(rng: np.random.Generator, count: int = 150) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """Make up people, and a label that hangs on everything."""
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, 12, count).astype(float),
            "job": rng.choice(JOBS, count).astype(object),
            "hours": rng.integers(0, 7, count).astype(float),
            "sex": rng.choice(SEXES, count).astype(object),
            "race": rng.choice(RACES, count).astype(object),
        }
    )
    # everybody is met once, or an encoder would not know them
    for name, values in (("job", JOBS), ("sex", SEXES), ("race", RACES)):
        frame.loc[: len(values) - 1, name] = list(values)
    score = (
        frame["age"] * rng.normal()
        + frame["hours"] * rng.normal()
        + 3 * rng.normal(size=5)[frame["job"].map(JOBS.index)]
        + 3 * rng.normal() * (frame["sex"] == "f")
        + 3 * rng.normal(size=3)[frame["race"].map(RACES.index)]
        + rng.normal(size=count)
    ).to_numpy()
    return frame, np.digitize(score, np.quantile(score, [0.5])).astype(np.int64)


def behind_one_hot(final: Any) -> Any:
    names = ["job", "sex", "race"]
    encoder = ColumnTransformer(
        [("names", OneHotEncoder(sparse_output=False), names)], remainder="passthrough"
    )
    return make_pipeline(encoder, final)


def scikit(estimator: Any) -> ScikitModel:
    """Open a fitted estimator without a file."""
    asked = asked_of(estimator, Path("model.pkl"))[""]
    card = made_up(
        *asked.inputs,
        takes=asked.takes,
        named=asked.named,
        classes=tuple(str(each) for each in asked.classes),
        scores=asked.scores,
    )
    return ScikitModel(card, estimator, asked)


def fed(
    estimator: Any, attributes: tuple[Attribute, ...] = ATTRIBUTES, **settings: Any
) -> FedModel:
    """Feed a fitted estimator with attributes: names as texts where it takes named columns."""
    opened = scikit(estimator)
    texts = opened.card.takes is Takes.COLUMNS
    inputs = tuple(
        Input(
            each.name,
            each.name,
            How.LABEL if each.values and texts else How.AS_IS,
        )
        for each in attributes
    )
    return FedModel(opened, Mapping(inputs, "by name", 1, **settings), attributes)


def truth(space: Space, model: FedModel) -> dict[tuple[int, ...], bool]:
    """Ask about everybody: whether each point in which anybody may be is unlike."""
    told: dict[tuple[int, ...], bool] = {}
    for low, high, group in zip(space.low, space.high, space.groups, strict=True):
        widths = tuple((high - low + 1).tolist())
        places: Places = np.stack(np.unravel_index(np.arange(np.prod(widths)), widths), 1) + low
        everyone = space.domain.similar(space.rows(places))
        decided = labels(model.predict(everyone.reshape(-1, everyone.shape[2])))
        decided = decided.reshape(len(places), -1)[:, space.may_be[group]]
        if decided.shape[1]:
            discriminatory = (decided != decided[:, :1]).any(axis=1)
            told.update(zip(map(tuple, places.tolist()), discriminatory.tolist(), strict=True))
    return told


def domain_of(attributes: tuple[Attribute, ...] = ATTRIBUTES) -> Domain:
    return Domain(attributes)
