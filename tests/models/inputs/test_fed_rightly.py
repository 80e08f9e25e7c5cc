"""Models that scikit-learn and pandas made, fed from the raw table: the very same numbers."""

from __future__ import annotations

import msgspec
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import (
    LabelEncoder,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

from fairdesk.data.table import Kind
from fairdesk.errors import ModelError
from fairdesk.models.decisions.outputs import from_probabilities
from fairdesk.models.inputs.editing import problems
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.inputs.input_check import attributes_for, check
from fairdesk.models.inputs.mapping.propose import propose
from fairdesk.models.model import Hints, How, Step, Takes
from fairdesk.models.preparation.steps import Preparation
from tests import phrases
from tests.cards import card
from tests.models.matching import match
from tests.models.tables import names, number, table

pytestmark = [
    pytest.mark.filterwarnings("ignore:X does not have valid feature names"),
    pytest.mark.filterwarnings("ignore:lbfgs failed to converge"),
]

RNG = np.random.default_rng(4)
N = 400
SEX = RNG.choice(["female", "male"], N)
PORT = RNG.choice(["C", "Q", "S"], N, p=[0.3, 0.1, 0.6]).astype(object)
PORT[RNG.random(N) < 0.05] = None
CLASS = RNG.choice([1, 2, 3], N)
AGE = RNG.normal(38.6, 13.7, N)
FARE = RNG.lognormal(3, 1, N)
SURVIVED = np.where(
    (SEX == "female") * 2.5 - CLASS * 0.8 - AGE * 0.01 + RNG.normal(0, 0.6, N) > -0.6, "yes", "no"
)
FRAME = pd.DataFrame({"Sex": SEX, "Age": AGE, "Embarked": PORT, "Pclass": CLASS, "Fare": FARE})
ROWS = table(
    names("Sex", SEX.tolist()),
    number("Age", AGE.tolist(), Kind.REAL),
    names("Embarked", PORT.tolist()),
    number("Pclass", CLASS.tolist()),
    number("Fare", FARE.tolist(), Kind.REAL),
    names("survived", SURVIVED.tolist()),
)


NOTHING = Hints()


class Estimator:
    """A classifier of scikit-learn, opened."""

    def __init__(self, estimator, *, hints=NOTHING, named=False):
        self.estimator = estimator
        known = getattr(estimator, "feature_names_in_", None) if named else None
        count = estimator.n_features_in_
        self.card = card(
            *(known if known is not None else ()),
            width=0 if known is not None else count,
            takes=Takes.MATRIX,
            classes=tuple(map(str, estimator.classes_.tolist())),
            hints=hints,
        )
        self.given = None

    def matrix_scores(self, matrix):
        self.given = matrix
        return from_probabilities(self.estimator.predict_proba(matrix))


def given_to(model, rows=ROWS, label="survived", favourable="yes"):
    """Feed the whole table and give the matrix that arrived, and the mapping."""
    mapping = match(model.card, rows, label, favourable)
    assert problems(mapping, model.card, rows, label) == ()
    fed = FedModel(model, mapping, attributes_for(mapping, rows))
    fed.predict(rows.codes[:, [rows.index(each.name) for each in fed.attributes]])
    return model.given, mapping


def trained(matrix, kind=LogisticRegression):
    return kind(random_state=0).fit(matrix, SURVIVED)


@pytest.mark.parametrize("drop_first", [False, True])
def test_dummies_without_names(drop_first):
    dummies = pd.get_dummies(FRAME, drop_first=drop_first)
    model = Estimator(trained(dummies.to_numpy(float)))
    given, mapping = given_to(model)
    np.testing.assert_array_equal(given, dummies.to_numpy(float))
    assert "an input for each value" in mapping.matched
    assert "no names" in propose(model.card, ROWS, "survived", "yes").notes[0]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"drop_first": True},
        {"prefix_sep": "="},
        {"prefix_sep": "."},
        {"columns": ["Sex", "Embarked", "Pclass"]},
        {"columns": ["Sex", "Embarked", "Pclass"], "dummy_na": True},
        {"prefix": {"Sex": "", "Embarked": ""}, "prefix_sep": ""},
    ],
    ids=str,
)
def test_dummies_with_names(options):
    if "prefix" in options:
        options = {**options, "columns": ["Sex", "Embarked"]}
    dummies = pd.get_dummies(FRAME, **options).astype(float)
    dummies = dummies.loc[:, [c for c in dummies if c not in ("Sex_nan", "Pclass_nan")]]
    # in an order of their own, as trained models have it
    dummies = dummies.iloc[:, RNG.permutation(dummies.shape[1])]
    given, mapping = given_to(Estimator(trained(dummies), named=True))
    np.testing.assert_array_equal(given, dummies.to_numpy())
    assert mapping.matched == "by name"


def test_names_of_a_column_transformer_and_of_formulas():
    features = ("num__Age", "cat__Sex_male", "C(Embarked)[T.Q]", "Embarked[T.S]", "num__Fare")
    matrix = np.column_stack([AGE, SEX == "male", PORT == "Q", PORT == "S", FARE]).astype(float)
    given, _ = given_to(Estimator(trained(matrix), hints=Hints(features=features)))
    np.testing.assert_array_equal(given, matrix)


@pytest.mark.parametrize("scaler", [StandardScaler, MinMaxScaler, RobustScaler, MaxAbsScaler])
@pytest.mark.parametrize("by_name", [True, False])
def test_a_scaler_in_a_second_file_gives_the_same_bits(scaler, by_name):
    fitted = scaler().fit(FRAME[["Age", "Fare"]])
    steps = steps_of(fitted)
    dummies = pd.get_dummies(FRAME).astype(float)
    dummies[["Age", "Fare"]] = fitted.transform(FRAME[["Age", "Fare"]])
    hints = Hints(steps=steps) if by_name else Hints(steps_in_order=())
    model = Estimator(trained(dummies, DecisionTreeClassifier), hints=hints, named=True)
    if not by_name:
        # the only numbers of this model are those two
        dummies = dummies.drop(columns="Pclass")
        hints = Hints(steps_in_order=tuple(steps.values()))
        model = Estimator(trained(dummies, DecisionTreeClassifier), hints=hints, named=True)
    given, _ = given_to(model)
    np.testing.assert_array_equal(given, dummies.to_numpy())
    if not by_name:
        assert (
            "in their order: “Age”, “Fare”"
            in propose(model.card, ROWS, "survived", "yes").notes[-1]
        )


def notes_of(model):
    return propose(model.card, ROWS, "survived", "yes").notes


def steps_of(scaler):
    names_of = scaler.feature_names_in_
    match scaler:
        case StandardScaler():
            pairs = [("subtract", scaler.mean_), ("divide", scaler.scale_)]
        case MinMaxScaler():
            pairs = [("multiply", scaler.scale_), ("add", scaler.min_)]
        case RobustScaler():
            pairs = [("subtract", scaler.center_), ("divide", scaler.scale_)]
        case MaxAbsScaler():
            pairs = [("divide", scaler.scale_)]
    return {
        name: tuple(Step(op, float(by[i])) for op, by in pairs) for i, name in enumerate(names_of)
    }


def test_a_scaler_over_all_inputs_of_a_matrix():
    dummies = pd.get_dummies(FRAME).astype(float)
    fitted = StandardScaler().fit(dummies)
    hints = Hints(
        features=tuple(dummies), steps_in_order=tuple(steps_of(fitted)[name] for name in dummies)
    )
    given, _ = given_to(Estimator(trained(fitted.transform(dummies)), hints=hints))
    np.testing.assert_array_equal(given, fitted.transform(dummies))


def test_a_scaler_that_fits_no_inputs_is_told():
    dummies = pd.get_dummies(FRAME).astype(float)
    hints = Hints(steps_in_order=((Step("divide", 2.0),),) * 2)
    proposal = propose(
        Estimator(trained(dummies), hints=hints, named=True).card, ROWS, "survived", "yes"
    )
    assert "companion scaler takes 2 columns" in proposal.problems[0]
    with pytest.raises(ModelError, match="companion scaler"):
        proposal.mapping()


def test_label_encoders_in_a_dictionary_and_a_list_of_features():
    ports = np.array(["S", "C", "Q", "nan"])
    codes = {"Embarked": {text: float(i) for i, text in enumerate(ports)}}
    encoder = LabelEncoder().fit(SEX)
    codes["sex"] = {"female": 0.0, "male": 1.0}
    filled = np.where(pd.isna(PORT), "nan", PORT)
    matrix = np.column_stack(
        [FARE, [codes["Embarked"][text] for text in filled], encoder.transform(SEX), AGE, CLASS]
    ).astype(float)
    hints = Hints(features=("Fare", "Embarked", "Sex", "Age", "Pclass"), codes=codes)
    given, _ = given_to(Estimator(trained(matrix), hints=hints))
    np.testing.assert_array_equal(given, matrix)


def test_a_value_that_an_encoder_does_not_know_is_a_problem():
    hints = Hints(
        features=("Age", "Embarked", "Pclass", "Sex"),
        codes={"Embarked": {"S": 0.0, "C": 1.0}, "Pclass": {"first": 1.0, "second": 2.0}},
    )
    matrix = np.column_stack([AGE, AGE, AGE, AGE])
    model = Estimator(trained(matrix), hints=hints)
    mapping = match(model.card, ROWS, "survived", "yes")
    told = problems(mapping, model.card, ROWS, "survived")
    assert told == (
        "The input “Embarked” has no number for these values of “Embarked”: “Q”.",
        "The encoder of “Pclass” does not know these numbers of “Pclass”: “3”.",
    )


@pytest.mark.parametrize("spelt", [str, int, float])
def test_an_encoder_of_many_numbers_is_used_however_its_keys_are_spelt(spelt):
    areas = np.unique(RNG.integers(1, 9_999, N))
    hired = np.where(areas % 2, "yes", "no").tolist()
    rows = table(number("area", areas.tolist()), names("hired", hired))
    gathered = Preparation(NOTHING, 1, (0, 1))
    assert not gathered.take([("area", {spelt(area): i for i, area in enumerate(areas.tolist())})])
    encoded = np.arange(len(areas), dtype=float)[:, None]
    model = Estimator(LogisticRegression().fit(encoded, areas % 2), hints=gathered.hints())
    mapping = match(model.card, rows, "hired", "yes")
    assert not problems(mapping, model.card, rows, "hired")
    fed = FedModel(model, mapping, attributes_for(mapping, rows))
    np.testing.assert_array_equal(fed.matrix(rows.codes[:, :1]), encoded)


@pytest.mark.parametrize("drop", [None, "first", "if_binary"])
def test_an_encoder_beside_the_model_names_its_categories(drop):
    encoder = OneHotEncoder(drop=drop, sparse_output=False, handle_unknown="ignore")
    some = FRAME[["Sex", "Embarked"]].fillna("missing")
    encoded = encoder.fit_transform(some)
    matrix = np.column_stack([AGE, CLASS, FARE, encoded])
    left_out = [None, None] if encoder.drop_idx_ is None else encoder.drop_idx_
    one_hot = {
        column: tuple(text for i, text in enumerate(categories) if i != dropped)
        for column, categories, dropped in zip(some, encoder.categories_, left_out, strict=True)
    }
    given, _ = given_to(Estimator(trained(matrix), hints=Hints(one_hot=one_hot)))
    np.testing.assert_array_equal(given, matrix)


def test_inputs_named_after_values_alone_and_the_trap_of_their_order():
    features = ["Pclass", "Age", "female", "male", "C", "Q", "S"]
    matrix = np.column_stack(
        [CLASS, AGE, SEX == "female", SEX == "male", *(port == PORT for port in "CQS")]
    ).astype(float)
    scaler = StandardScaler().fit(AGE[:, None])
    matrix[:, 1] = scaler.transform(AGE[:, None])[:, 0]
    steps = {
        "Age": (Step("subtract", float(scaler.mean_[0])), Step("divide", float(scaler.scale_[0])))
    }
    estimator = trained(matrix)
    right = Estimator(estimator, hints=Hints(features=tuple(features), steps=steps))
    given, mapping = given_to(right)
    np.testing.assert_array_equal(given, matrix)
    proof = check(right, ROWS, mapping, "survived", "yes")
    assert proof.accuracy == (estimator.predict(matrix) == SURVIVED).mean() > 0.85
    assert proof.warnings == ()

    # its author listed “male” before “female”
    features[2:4] = ["male", "female"]
    wrong = Estimator(estimator, hints=Hints(features=tuple(features), steps=steps))
    mapping = match(wrong.card, ROWS, "survived", "yes")
    trap = check(wrong, ROWS, mapping, "survived", "yes")
    assert trap.accuracy < trap.majority
    assert phrases.IN_EACH_OTHERS_PLACE in trap.warnings[-1]
    assert f"{proof.accuracy:.1%}" in trap.warnings[-1]


def test_columns_that_are_already_what_the_model_takes():
    dummies = pd.get_dummies(FRAME.drop(columns="Embarked")).astype(float)
    rows = table(
        *(number(name, dummies[name].tolist(), Kind.REAL) for name in dummies),
        names("survived", SURVIVED.tolist()),
    )
    for named in (True, False):
        model = Estimator(trained(dummies if named else dummies.to_numpy()), named=named)
        given, mapping = given_to(model, rows)
        np.testing.assert_array_equal(given, dummies.to_numpy())
        assert {item.how for item in mapping.inputs} == {How.AS_IS}


def test_values_that_the_data_do_not_have_are_always_zero_and_told():
    features = ("Sex_male", "Embarked_Q", "Embarked_X", "Embarked_C", "Age")
    matrix = np.column_stack([SEX == "male", PORT == "Q", AGE * 0, PORT == "C", AGE]).astype(float)
    model = Estimator(trained(matrix), hints=Hints(features=features))
    given, _ = given_to(model)
    np.testing.assert_array_equal(given, matrix)
    assert any(
        "“Embarked_X”" in note for note in propose(model.card, ROWS, "survived", "yes").notes
    )


def test_a_name_that_fits_two_columns_is_told_not_guessed():
    rows = table(
        names("a b", ["x", "y", "x"]), names("a_b", ["x", "z", "x"]), names("paid", ["n", "y", "y"])
    )
    card = msgspec.structs.replace(
        Estimator(trained(AGE[:, None])).card, inputs=("a-b_x",), named=True
    )
    proposal = propose(card, rows, "paid", "y")
    assert proposal.inputs == (None,)
    assert "“x” of “a b” or “x” of “a_b”" in proposal.problems[0]
    assert "How these inputs are made is not specified" in problems(proposal, card, rows)[0]


def test_thousands_of_categories():
    cells = [f"town {i}" for i in range(2_000)]
    rows = table(names("town", cells), names("paid", ["n", "y"] * 1_000))
    inputs = tuple(f"town_{cell}" for cell in cells[:300])
    card = msgspec.structs.replace(Estimator(trained(AGE[:, None])).card, inputs=inputs, named=True)
    mapping = match(card, rows, "paid", "y")
    assert [set(item.codes) - {""} for item in mapping.inputs[:2]] == [{"town 0"}, {"town 1"}]
