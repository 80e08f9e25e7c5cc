"""What benchmarks share: real models with their data, and what a program takes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.attributes import Role, attribute_of
from fairdesk.data.domain.domain import Domain
from fairdesk.data.formats.reading import read_table
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import Model
from fairdesk.models.open import open_model
from fairdesk.results.events import Event, Progress, Rows, Scores
from tests.models.matching import match

#: Where real data and models lie, as for the tests that use them.
DATA = Path(os.environ.get("FAIRDESK_TEST_DATA", Path(__file__).parents[3] / "shared" / "data"))


class Case(NamedTuple):
    """A model and who may be asked about."""

    model: FedModel
    domain: Domain
    people: Rows


def load(data: Path, model: Path, label: str, favourable: str, protected: Sequence[str]) -> Case:
    """Open a model with its data; every attribute that is not protected varies."""
    table = read_table(data)
    opened = open_model(model)
    mapping = match(opened.card, table, label, favourable)
    domain = Domain(
        tuple(
            attribute_of(table.column(name), Role.PROTECTED if name in protected else Role.VARIES)
            for name in dict.fromkeys(each.attribute for each in mapping.inputs)
        )
    )
    return Case(FedModel(opened, mapping, domain.attributes), domain, domain.people(table))


#: Networks by others, by what is protected: data, model, label, favourable class, attribute.
NETWORKS = {
    "census/sex": ("eidig_census.csv", "eidig_adult.h5", "income", "1", "sex"),
    "census/race": ("eidig_census.csv", "eidig_adult.h5", "income", "1", "race"),
    "german/age": ("eidig_german.csv", "eidig_german.h5", "CREDITRATING", "1", "AgeInYears"),
    "bank/age": ("eidig_bank.csv", "eidig_bank.h5", "y", "1", "age"),
}


def network(name: str) -> Case:
    """Open one of `NETWORKS`."""
    data, model, label, favourable, protected = NETWORKS[name]
    return load(DATA / "encoded" / data, DATA / "models" / model, label, favourable, [protected])


#: Columns of the adult data that are no attributes: a survey weight, and which half a row is in.
_NOT_ATTRIBUTES = ("fnlwgt", "split")


def pipeline(folder: Path, model: Any, protected: Sequence[str]) -> Case:
    """Fit a scikit-learn model behind a one-hot encoder on the adult data, keep it and open it.

    Parameters
    ----------
    folder : Path
        Where the model and its data are written.
    model : scikit-learn classifier
        Not fitted.
    protected : sequence of str
        Columns of the data.
    """
    import pandas as pd

    data = pd.read_csv(DATA / "tabular" / "adult.csv", na_values="?").dropna()
    data = data.drop(columns=[*_NOT_ATTRIBUTES, "education_num"])
    return pickled(folder, model, data, "income", ">50K", protected)


def pickled(
    folder: Path, model: Any, data: Any, label: str, favourable: str, protected: Sequence[str]
) -> Case:
    """Fit a scikit-learn model behind a one-hot encoder of names, keep it and open it.

    Parameters
    ----------
    folder, model, protected
        As of `pipeline`.
    data : pandas.DataFrame
        With the label.
    """
    import pickle

    import pandas as pd
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    inputs = data.drop(columns=label)
    names = [name for name in inputs if not pd.api.types.is_numeric_dtype(inputs[name])]
    if names:
        encoder = ColumnTransformer([("names", OneHotEncoder(), names)], remainder="passthrough")
        model = make_pipeline(encoder, model)
    path, table = folder / "model.pkl", folder / "data.csv"
    path.write_bytes(pickle.dumps(model.fit(inputs, data[label])))
    data.to_csv(table, index=False)
    return load(table, path, label, favourable, protected)


class TimedModel:
    """A model that keeps the CPU-seconds of its passes, forwards and backwards."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.seconds = 0.0

    def predict(self, rows: Rows) -> Scores:
        started = process_time()
        scores: Scores = self.model.predict(rows)
        self.seconds += process_time() - started
        return scores

    def gradients(self, rows: Rows, column: NDArray[np.intp]) -> Rows:
        started = process_time()
        gradients: Rows = self.model.gradients(rows, column)
        self.seconds += process_time() - started
        return gradients


class Measured(NamedTuple):
    """One program's figures."""

    unique: int
    queries: int
    wall: float
    cpu: float
    forward: float

    @property
    def per_cpu_second(self) -> float:
        return self.unique / self.cpu

    @property
    def rows_per_unique(self) -> float:
        return self.queries / max(self.unique, 1)


def measure(model: Model, program: Callable[[Model], tuple[int, int]]) -> Measured:
    """Run a program that gives (unique instances, rows sent)."""
    timed = TimedModel(model)
    wall, cpu = perf_counter(), process_time()
    unique, queries = program(timed)
    return Measured(unique, queries, perf_counter() - wall, process_time() - cpu, timed.seconds)


def counts(search: Callable[[Model], Iterator[Event]]) -> Callable[[Model], tuple[int, int]]:
    """Drive a search to its end."""

    def drive(model: Model) -> tuple[int, int]:
        last = None
        for event in search(model):
            last = event if isinstance(event, Progress) else last
        assert last is not None
        return last.found, last.queries

    return drive


def sizes(
    search: Callable[[Model], tuple[set[bytes], int]],
) -> Callable[[Model], tuple[int, int]]:
    """Count what a plain search returns."""

    def drive(model: Model) -> tuple[int, int]:
        unique, queries = search(model)
        return len(unique), queries

    return drive


def medians(runs: Sequence[Measured]) -> Measured:
    """Return the median of each figure by itself."""
    return Measured(
        *(int(np.median(each)) for each in zip(*(run[:2] for run in runs), strict=True)),
        *(float(np.median(each)) for each in zip(*(run[2:] for run in runs), strict=True)),
    )
