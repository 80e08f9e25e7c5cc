"""A table of bank customers and a network that predicts who leaves, saved as authors save them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
from onnx import TensorProto, helper, numpy_helper, save_model
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import LabelEncoder, OneHotEncoder, StandardScaler

from tests.models.keras.test_file import dense, keras_object, sequential, write_h5, write_keras

DROPPED = ["RowNumber", "CustomerId", "Surname"]
LABEL = "Exited"
#: The inputs of the network, in the order in which its author made them.
INPUTS = (
    *("CreditScore", "Gender", "Age", "Tenure", "Balance", "NumOfProducts", "HasCrCard"),
    *("IsActiveMember", "EstimatedSalary"),
    *("Geography_France", "Geography_Germany", "Geography_Spain"),
)


def customers(count: int = 1_200, seed: int = 3) -> pd.DataFrame:
    """Draw customers; who is old, inactive, in Germany or without one product more leaves."""
    rng = np.random.default_rng(seed)
    surnames = np.array([f"Name{i}" for i in range(count // 3)])
    frame = pd.DataFrame(
        {
            "RowNumber": np.arange(1, count + 1),
            "CustomerId": rng.permutation(np.arange(15_565_701, 15_565_701 + count)),
            "Surname": rng.choice(surnames, count),
            "CreditScore": rng.integers(350, 850, count),
            "Geography": rng.choice(["France", "Germany", "Spain"], count, p=[0.5, 0.25, 0.25]),
            "Gender": rng.choice(["Female", "Male"], count),
            "Age": rng.integers(18, 80, count),
            "Tenure": rng.integers(0, 11, count),
            "Balance": np.where(rng.random(count) < 0.4, 0, rng.normal(1.2e5, 3e4, count).round(2)),
            "NumOfProducts": rng.integers(1, 5, count),
            "HasCrCard": rng.integers(0, 2, count),
            "IsActiveMember": rng.integers(0, 2, count),
            "EstimatedSalary": rng.uniform(1e4, 2e5, count).round(2),
        }
    )
    leaves = (
        (frame["Age"] - 52) / 9
        + 1.6 * (frame["Geography"] == "Germany")
        - 0.9 * (frame["Gender"] == "Male")
        - 1.5 * frame["IsActiveMember"]
        + 0.5 * (frame["NumOfProducts"] - 2)
    )
    frame[LABEL] = (leaves + rng.logistic(0, 0.6, count) > 0).astype(int)
    return frame


@dataclass(frozen=True)
class Churn:
    """The folder with all files, the network that was trained, and what it was trained on."""

    folder: Path
    frame: pd.DataFrame
    network: MLPClassifier
    scaler: StandardScaler
    prepared: pd.DataFrame

    @property
    def accuracy(self) -> float:
        """How often the network is right where it is fed as its author fed it."""
        rows = self.scaler.transform(self.prepared)
        return float(self.network.score(rows, self.frame[LABEL]))


def churn(folder: Path) -> Churn:
    """Make the table, train the network and save every file."""
    frame = customers()
    frame.to_csv(folder / "Churn_Modelling.csv", index=False)
    data = frame.drop(columns=DROPPED)
    gender = LabelEncoder()
    data["Gender"] = gender.fit_transform(data["Gender"])
    geography = OneHotEncoder(handle_unknown="ignore")
    columns = geography.fit_transform(data[["Geography"]]).toarray()
    names = geography.get_feature_names_out(["Geography"])
    data = pd.concat([data.drop(columns="Geography"), pd.DataFrame(columns, columns=names)], axis=1)
    prepared = data.drop(columns=LABEL)
    scaler = StandardScaler().fit(prepared)
    network = MLPClassifier((16, 8), max_iter=200, random_state=1)
    network.fit(scaler.transform(prepared), data[LABEL])
    joblib.dump(gender, folder / "label_encoder_gender.pkl")
    joblib.dump(geography, folder / "onehot_encoder_geo.pkl")
    joblib.dump(scaler, folder / "scaler.pkl")
    _save_network(folder, network)
    return Churn(folder, frame, network, scaler, prepared)


def _save_network(folder: Path, network: MLPClassifier) -> None:
    sizes = [len(bias) for bias in network.intercepts_]
    kinds = ["relu"] * (len(sizes) - 1) + ["sigmoid"]
    pairs = list(zip(network.coefs_, network.intercepts_, strict=True))
    layers = [dense(f"d{i}", n, kind) for i, (n, kind) in enumerate(zip(sizes, kinds, strict=True))]
    layers[0]["config"]["batch_input_shape"] = [None, len(network.coefs_[0])]
    write_h5(folder / "model.h5", sequential(*layers), {f"d{i}": p for i, p in enumerate(pairs)})
    three = [
        keras_object("InputLayer", name="i", batch_shape=[None, len(network.coefs_[0])]),
        *(
            keras_object("Dense", name=f"d{i}", units=n, activation=kind, use_bias=True)
            for i, (n, kind) in enumerate(zip(sizes, kinds, strict=True))
        ),
    ]
    places = {"dense" if not i else f"dense_{i}": pair for i, pair in enumerate(pairs)}
    config = keras_object("Sequential", module="keras", name="s", layers=three)
    write_keras(folder / "model.keras", config, places)
    nodes, numbers, given = [], [], "x"
    for i, ((weights, bias), kind) in enumerate(zip(pairs, kinds, strict=True)):
        numbers.append(numpy_helper.from_array(weights.astype(np.float32), f"w{i}"))
        numbers.append(numpy_helper.from_array(bias.astype(np.float32), f"b{i}"))
        nodes.append(helper.make_node("Gemm", [given, f"w{i}", f"b{i}"], [f"z{i}"]))
        nodes.append(
            helper.make_node("Relu" if kind == "relu" else "Sigmoid", [f"z{i}"], [f"y{i}"])
        )
        given = f"y{i}"
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", len(pairs[0][0])])],
        [helper.make_tensor_value_info(given, TensorProto.FLOAT, ["N", 1])],
        numbers,
    )
    opset = [helper.make_opsetid("", 17)]
    save_model(helper.make_model(graph, opset_imports=opset, ir_version=9), folder / "model.onnx")
