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
    """A model, and what is run on it: for up to half a minute in one process."""

    make: Callable[[Path], Path | None]
    runs: dict[str, RunSpec]
    #: For so long a certification goes on.
    certify: float
    caption: str
    #: Why two workers gain less, by method; of all that are not named under "".
    why: dict[str, str]


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
        caption="a network that answers millions of rows a second",
        why={"": "the client merges and writes down what costs the model next to nothing"},
    ),
    "forest": Queried(
        forest,
        {
            "maft": RunSpec("maft", {"global_num": 256, "local_num": 30}),
            "aequitas-random": RunSpec(
                "aequitas-random", {"global_iteration_limit": 320, "local_iteration_limit": 60}
            ),
            "aequitas-semi": RunSpec(
                "aequitas-semi", {"global_iteration_limit": 256, "local_iteration_limit": 60}
            ),
            "aequitas-full": RunSpec(
                "aequitas-full", {"global_iteration_limit": 256, "local_iteration_limit": 60}
            ),
            "sg": RunSpec("sg", {"global_num": 128, "max_iter": 800}),
            "uniform": RunSpec("uniform", {"samples": 80_000}),
            "estimate": RunSpec("estimate", {"trials": 20, "people": 1_000}),
            "repeats": RunSpec("repeats", {"people": 60_000}),
            "themis": RunSpec("themis", {"margin": 0.008}),
            "diagnose": RunSpec("diagnose", {"global_num": 24, "local_num": 10, "sizes": 16}),
            "testsgd": RunSpec("testsgd", {"sample_thr": 15_000}),
            "groups": RunSpec("groups"),
            "themis-groups": RunSpec("themis-groups", {"margin": 0.012}),
        },
        certify=20.0,
        caption=f"a forest of {TREES} trees, which takes most of every run’s time",
        why={
            "diagnose": "its sizes meet the same rows, which one process remembers: “sent”",
            "groups": "one query for each row of the sample takes less than a second",
        },
    ),
}
