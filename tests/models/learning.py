"""A small table that models learn from, for the tests of training them again."""

from __future__ import annotations

from pathlib import Path

import joblib
import numpy as np
import pandas as pd

from fairdesk.data.domain.attributes import Role, attribute_of
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import labels
from fairdesk.models.open import open_model
from fairdesk.models.retrain.losses import Training, TrainingSet
from fairdesk.models.retrain.retraining import innermost, refit
from tests.models.matching import match
from tests.models.tables import names, number, table

RNG = np.random.default_rng(7)
COUNT = 600
AGE = RNG.integers(18, 80, COUNT)
HOURS = RNG.integers(0, 60, COUNT)
JOB = RNG.choice(["clerk", "cook", "smith"], COUNT)
#: One person's job is like nobody else's.
JOB[0] = "pilot"
HIRED = np.where(AGE + 15 * (JOB == "cook") + RNG.normal(0, 3, COUNT) > 55, "yes", "no")
PEOPLE = pd.DataFrame({"age": AGE, "hours": HOURS, "job": JOB})
NUMBERS = PEOPLE[["age", "hours"]].to_numpy(float)
TABLE = table(
    number("age", AGE.tolist()),
    number("hours", HOURS.tolist()),
    names("job", JOB.tolist()),
    names("hired", HIRED.tolist()),
)
ROWS = TABLE.codes[:, :3]
#: Places of rows to train with, and of others. The pilot is none of the first.
TRAIN, REST = np.arange(1, 400), np.r_[0, 400:COUNT]


def fed(model, columns=("age", "hours", "job"), label="hired", favourable="yes"):
    """Feed a model, or one in a file, with the table's columns."""
    opened = open_model(model) if isinstance(model, Path) else model
    kept = table(*((column, TABLE.codes[:, i].tolist()) for i, column in _columns(columns)))
    attributes = tuple(
        attribute_of(column, Role.VARIES) for column in kept.columns if column.name != "hired"
    )
    return FedModel(opened, match(opened.card, kept, label, favourable), attributes)


def _columns(columns):
    return [(i, c) for i, c in enumerate(TABLE.columns) if c.name in (*columns, "hired")]


def saved(path, model):
    joblib.dump(model, path)
    return path


def training_set(model, places=TRAIN, weights=None, truth=HIRED):
    """Return rows with the labels that they should have."""
    classes = list(model.opened.card.classes)
    by_place = classes if set(classes) <= set(truth.tolist()) else ["no", "yes"]
    targets = np.array([by_place.index(value) for value in truth[places].tolist()])
    return TrainingSet(ROWS[places][:, : len(model.attributes)], targets, weights)


def taught(model, seed=3, training=Training(), held=REST, **more):  # noqa: B008 - it never changes
    """Train a model anew; give it and what was told on the way."""
    held_out = held if isinstance(held, TrainingSet) else training_set(model, held)
    return driven(refit(model, training_set(model, **more), held_out, training, seed))


def driven(steps):
    """Train to the end; give the model and what was told on the way."""
    told = []
    while True:
        try:
            told.append(next(steps))
        except StopIteration as end:
            return end.value, told


def decided(model, places=REST):
    return labels(model.predict(ROWS[places][:, : len(model.attributes)]))


def accuracy(model, places=REST):
    return float((decided(model, places) == training_set(model, places).targets).mean())


def scores(model):
    return model.predict(ROWS[:, : len(model.attributes)])


def estimator_of(model):
    return innermost(model.opened).estimator


def trained_file(model):
    return Path(innermost(model.opened).card.path)
