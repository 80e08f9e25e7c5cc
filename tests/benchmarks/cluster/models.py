"""The models that are queried: a network that answers at once, and a forest that takes its time."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from fairdesk.audit.plan.spec import RunSpec
from fairdesk.samples import samples

#: Trees of the forest: about 40,000 rows a second on one processor, in batches of thousands.
TREES = 300


def network(_folder: Path) -> None:
    """Return no file: the sample has one, which answers millions of rows a second."""


def forest(folder: Path) -> Path:
    """Learn a forest of the sample's rows, as an auditor would hand it over; returns its file."""
    sample = next(each for each in samples() if each.key == "adult")
    table = pd.read_csv(sample.data_path, keep_default_na=False)
    rows, label = table.drop(columns=sample.label), table[sample.label]
    words = rows.select_dtypes(exclude="number").columns.tolist()
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    pipeline = make_pipeline(
        make_column_transformer((encoder, words), remainder="passthrough"),
        # in one process it would otherwise use all processors
        RandomForestClassifier(TREES, min_samples_leaf=2, n_jobs=1, random_state=0),
    )
    path = folder / "forest.pkl"
    path.write_bytes(pickle.dumps(pipeline.fit(rows, label)))
    return path


@dataclass(frozen=True)
class Queried:
    """A model, and what is run on it: for seconds up to half a minute in one process."""

    make: Callable[[Path], Path | None]
    runs: dict[str, RunSpec]
    #: For so long a certification goes on.
    certify: float


MODELS = {
    "network": Queried(
        network,
        {
            "maft": RunSpec("maft", {"global_num": 1_000, "local_num": 1_000}),
            "eidig": RunSpec("eidig", {"global_num": 400, "local_num": 400}),
            "adf": RunSpec("adf", {"global_num": 400, "local_num": 400}),
            "aequitas-random": RunSpec("aequitas-random", {"global_iteration_limit": 4_000}),
            "aequitas-semi": RunSpec("aequitas-semi", {"global_iteration_limit": 2_000}),
            "aequitas-full": RunSpec("aequitas-full", {"global_iteration_limit": 2_000}),
            "sg": RunSpec("sg", {"global_num": 100, "max_iter": 2_000}),
            "uniform": RunSpec("uniform", {"samples": 3_000_000}),
            "estimate": RunSpec("estimate", {"trials": 50, "people": 20_000}),
            "repeats": RunSpec("repeats"),
            "themis": RunSpec("themis"),
            "enumerate": RunSpec("enumerate"),
            "diagnose": RunSpec("diagnose"),
            "testsgd": RunSpec("testsgd"),
            "groups": RunSpec("groups"),
            "themis-groups": RunSpec("themis-groups"),
        },
        certify=20.0,
    ),
    "forest": Queried(
        forest,
        {
            "maft": RunSpec("maft", {"global_num": 64, "local_num": 30}),
            "aequitas-random": RunSpec(
                "aequitas-random", {"global_iteration_limit": 128, "local_iteration_limit": 50}
            ),
            "aequitas-semi": RunSpec(
                "aequitas-semi", {"global_iteration_limit": 128, "local_iteration_limit": 50}
            ),
            "aequitas-full": RunSpec(
                "aequitas-full", {"global_iteration_limit": 128, "local_iteration_limit": 50}
            ),
            "sg": RunSpec("sg", {"global_num": 64, "max_iter": 500}),
            "uniform": RunSpec("uniform", {"samples": 40_000}),
            "estimate": RunSpec("estimate", {"trials": 20, "people": 500}),
            "repeats": RunSpec("repeats", {"people": 30_000}),
            "themis": RunSpec("themis", {"margin": 0.01}),
            "diagnose": RunSpec("diagnose", {"global_num": 10, "local_num": 10, "people": 100}),
            "testsgd": RunSpec("testsgd", {"sample_thr": 5_000}),
            "groups": RunSpec("groups"),
            "themis-groups": RunSpec("themis-groups", {"margin": 0.012}),
        },
        certify=20.0,
    ),
}
