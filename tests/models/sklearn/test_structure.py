"""What is read of scikit-learn's models answers what they answer, at every threshold too."""

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    Perceptron,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier

from fairdesk.models.model import Capability
from fairdesk.models.open import open_model
from fairdesk.models.preparation.companions import PreparedModel
from fairdesk.models.sklearn.structure import _answers
from fairdesk.models.structure import Forest, Layers, OpaqueError, rounded_first, structure_of, sums

RNG = np.random.default_rng(5)
NUMBERS = RNG.normal(size=(300, 4)).round(1)
TWO = np.where(NUMBERS[:, 0] + NUMBERS[:, 1] * NUMBERS[:, 2] > 0.1, "yes", "no")
THREE = np.digitize(NUMBERS[:, 0] + NUMBERS[:, 3], [-0.7, 0.7])
AMOUNT = NUMBERS[:, 0] * 3 + np.abs(NUMBERS[:, 1])
PEOPLE = pd.DataFrame(
    {
        "age": RNG.integers(18, 80, 300).astype(float),
        "job": RNG.choice(["clerk", "cook", "none", "pilot"], 300).astype(object),
        "hours": RNG.integers(1, 60, 300).astype(float),
        "town": RNG.choice(["north", "south"], 300).astype(object),
    }
)
PAID = np.where(PEOPLE["age"] + 2 * PEOPLE["hours"] + 20 * (PEOPLE["job"] == "pilot") > 110, 1, 0)


def opened(folder, model, *, trusted=False):
    path = folder / "model.joblib"
    joblib.dump(model, path)
    return open_model(path, trusted=trusted)


def numbers_of(body, matrix):
    return sums(body, matrix) if isinstance(body, Forest) else _answers(body, matrix)


def agrees(model, inputs):
    """Compare a body's numbers with the model's own answers, everywhere."""
    anatomy = structure_of(model)
    numbers = numbers_of(anatomy.body, anatomy.prepare(inputs))
    said = model.scores(inputs).astype(float)
    assert numbers.shape == said.shape
    assert len(anatomy.sources) == len(anatomy.smooth) >= anatomy.prepare(inputs).shape[1]
    slack = anatomy.close + getattr(anatomy.body, "slack", 1e-12)
    match anatomy.body.decides:
        case "sigmoid":
            assert np.allclose(1 / (1 + np.exp(-numbers)), said, atol=1e-6)
            sure = np.abs(numbers) > slack
            assert ((numbers > 0) == (said > 0.5))[sure].all()
        case "share":
            assert np.allclose(np.clip(numbers, 0, 1), said, atol=1e-6)
            sure = np.abs(numbers - 0.5) > slack
            assert ((numbers > 0.5) == (said > 0.5))[sure].all()
        case "value":
            assert np.allclose(numbers, said, rtol=1e-6, atol=1e-6)
        case "argmax":
            best = np.sort(numbers, axis=1)
            sure = best[:, -1] - best[:, -2] > 2 * slack
            assert (numbers.argmax(axis=1) == said.argmax(axis=1))[sure].all()
            assert sure.mean() > 0.5
    return anatomy


def at_thresholds(forest, width, count=600):
    """Make rows exactly at thresholds, the next number after, and around."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(count, width))
    for column in range(width):
        own = forest.threshold[forest.column == column]
        if own.size:
            at = rng.choice(own, count)
            by = rng.integers(0, 5, count)
            rows[:, column] = np.select(
                [by == 0, by == 1, by == 2],
                [at, np.nextafter(at, np.inf), at.astype(np.float32)],
                rows[:, column],
            )
    return rows


TREES = [
    (DecisionTreeClassifier(random_state=0), TWO),
    (DecisionTreeClassifier(max_depth=3, random_state=0), THREE),
    (ExtraTreeClassifier(random_state=0), TWO),
    (DecisionTreeRegressor(random_state=0, max_depth=6), AMOUNT),
    (RandomForestClassifier(10, random_state=0), TWO),
    (RandomForestClassifier(7, max_depth=4, random_state=0), THREE),
    (RandomForestRegressor(8, random_state=0), AMOUNT),
    (ExtraTreesClassifier(8, random_state=0), TWO),
    (GradientBoostingClassifier(n_estimators=12, random_state=0), TWO),
    (GradientBoostingClassifier(n_estimators=12, loss="exponential", random_state=0), TWO),
    (GradientBoostingClassifier(n_estimators=6, init="zero", random_state=0), TWO),
    (GradientBoostingClassifier(n_estimators=5, random_state=0), THREE),
    (GradientBoostingRegressor(n_estimators=8, random_state=0), AMOUNT),
    (HistGradientBoostingClassifier(max_iter=10), TWO),
    (HistGradientBoostingClassifier(max_iter=5), THREE),
    (HistGradientBoostingRegressor(max_iter=8), AMOUNT),
]


@pytest.mark.parametrize(("model", "truth"), TREES, ids=lambda each: type(each).__name__)
def test_trees_answer_what_their_nodes_say_at_every_threshold(tmp_path, model, truth):
    model = opened(tmp_path, model.fit(NUMBERS, truth))
    forest = structure_of(model).body
    assert isinstance(forest, Forest)
    rows = at_thresholds(forest, 4)
    agrees(model, list(rows.T))


def test_missing_cells_go_where_the_tree_sends_them(tmp_path):
    holes = NUMBERS.copy()
    holes[RNG.random(holes.shape) < 0.2] = np.nan
    for model in (
        DecisionTreeClassifier(random_state=0, max_depth=6),
        RandomForestClassifier(5, random_state=0),
        HistGradientBoostingClassifier(max_iter=8),
    ):
        known = opened(tmp_path, model.fit(holes, TWO))
        agrees(known, list(holes.T))


def test_histogram_boosting_with_categories_of_its_own(tmp_path):
    numbers = PEOPLE.assign(
        job=PEOPLE["job"].astype("category").cat.codes.astype(float),
        town=PEOPLE["town"].astype("category").cat.codes.astype(float),
    )
    model = HistGradientBoostingClassifier(max_iter=15, categorical_features=["job", "town"])
    known = opened(tmp_path, model.fit(numbers, THREE), trusted=True)
    rows = numbers.to_numpy().copy()
    rows[::7, 1] = np.nan
    rows[::11, 1] = 9.0
    anatomy = agrees(known, list(rows.T))
    assert anatomy.body.column.max() >= 4
    job = {anatomy.sources[column] for column in range(4, len(anatomy.sources))}
    assert job <= {(1,), (3,)}


@pytest.mark.parametrize("threshold", [0.1, 1.0, -0.3, 1e-40, 16777217.0, 0.0, 3.0000001])
def test_rounding_first_is_written_as_a_threshold(threshold):
    limit = rounded_first(np.array([threshold]))[0]
    for step in (limit, np.nextafter(limit, np.inf), np.nextafter(limit, -np.inf), threshold):
        assert (float(np.float32(step)) <= threshold) == (step <= limit)


def test_xgboost(tmp_path):
    xgboost = pytest.importorskip("xgboost")
    for model, truth in (
        (xgboost.XGBClassifier(n_estimators=12, max_depth=4), (TWO == "yes").astype(int)),
        (xgboost.XGBClassifier(n_estimators=5, max_depth=3), THREE),
        (xgboost.XGBRegressor(n_estimators=8, max_depth=3), AMOUNT),
        (xgboost.XGBRFClassifier(n_estimators=6, max_depth=4), (TWO == "yes").astype(int)),
        (xgboost.XGBClassifier(n_estimators=6, missing=0.0), (TWO == "yes").astype(int)),
        (xgboost.XGBClassifier(n_estimators=4, booster="dart", rate_drop=0.5), THREE),
    ):
        known = opened(tmp_path, model.fit(NUMBERS, truth))
        forest = structure_of(known).body
        rows = at_thresholds(forest, 4)
        rows[::9, 1] = np.nan
        rows[::5, 2] = 0.0
        agrees(known, list(rows.T))
    with pytest.raises(OpaqueError, match="linear"):
        structure_of(
            opened(
                tmp_path,
                xgboost.XGBClassifier(n_estimators=2, booster="gblinear").fit(NUMBERS, PAID),
            )
        )


def test_lightgbm(tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    for model, truth in (
        (lightgbm.LGBMClassifier(n_estimators=12, verbose=-1), TWO),
        (lightgbm.LGBMClassifier(n_estimators=5, verbose=-1), THREE),
        (lightgbm.LGBMRegressor(n_estimators=8, verbose=-1), AMOUNT),
    ):
        known = opened(tmp_path, model.fit(NUMBERS, truth))
        forest = structure_of(known).body
        rows = at_thresholds(forest, 4)
        rows[::9, 1] = np.nan
        agrees(known, list(rows.T))


LINEAR = [
    (LogisticRegression(), TWO),
    (LogisticRegression(), THREE),
    (SGDClassifier(random_state=0), TWO),
    (SGDClassifier(random_state=0), THREE),
    (SGDClassifier(loss="log_loss", random_state=0), THREE),
    (SGDClassifier(loss="modified_huber", random_state=0), TWO),
    (Perceptron(), TWO),
    (RidgeClassifier(), THREE),
    (LinearSVC(), TWO),
    (SVC(kernel="linear"), TWO),
    (LinearDiscriminantAnalysis(), TWO),
    (LinearDiscriminantAnalysis(), THREE),
    (LinearRegression(), AMOUNT),
    (Ridge(), AMOUNT),
    (MLPClassifier((6, 4), max_iter=40, random_state=0), TWO),
    (MLPClassifier((6,), activation="tanh", max_iter=40, random_state=0), THREE),
    (
        MLPRegressor(hidden_layer_sizes=(5,), activation="logistic", max_iter=40, random_state=0),
        AMOUNT,
    ),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("model", "truth"), LINEAR, ids=lambda each: type(each).__name__)
def test_layers_answer_what_their_weights_say(tmp_path, model, truth):
    known = opened(tmp_path, model.fit(NUMBERS, truth))
    anatomy = agrees(known, list(RNG.normal(size=(400, 4)).T))
    assert isinstance(anatomy.body, Layers)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_single_precision_is_told(tmp_path):
    model = MLPClassifier((4,), max_iter=20, random_state=0).fit(NUMBERS.astype(np.float32), TWO)
    assert structure_of(opened(tmp_path, model)).body.precision is np.float32
    model = MLPClassifier((4,), max_iter=20, random_state=0).fit(NUMBERS, TWO)
    assert structure_of(opened(tmp_path, model)).body.precision is np.float64


def everything():
    """Make a preparation of most kinds, side by side."""
    return ColumnTransformer(
        [
            ("hours", make_pipeline(SimpleImputer(), RobustScaler()), ["hours"]),
            ("job", OneHotEncoder(drop="first"), ["job"]),
            ("town", OrdinalEncoder(), ["town"]),
            ("none", "drop", ["job"]),
            ("bins", KBinsDiscretizer(4, quantile_method="averaged_inverted_cdf"), ["age"]),
            ("splines", SplineTransformer(3), ["hours"]),
            ("root", FunctionTransformer(np.sqrt), ["age"]),
            ("ranks", QuantileTransformer(n_quantiles=20), ["hours"]),
        ],
        remainder=StandardScaler(),
    )


def test_the_preparation_is_what_the_model_is_given(tmp_path):
    for final in (LogisticRegression(max_iter=2000), GradientBoostingClassifier(n_estimators=5)):
        model = make_pipeline(everything(), VarianceThreshold(), final).fit(PEOPLE, PAID)
        known = opened(tmp_path, model)
        inputs = [PEOPLE[name].to_numpy() for name in PEOPLE]
        anatomy = agrees(known, inputs)
        # column by column: a change of an input changes those columns only that name it
        given = anatomy.prepare(inputs)
        for place in range(4):
            other = list(inputs)
            other[place] = inputs[place][::-1]
            changed = (anatomy.prepare(other) != given).any(axis=0)
            told = np.array([place in own for own in anatomy.sources])
            assert (changed <= told).all()
            assert changed.any()
        assert anatomy.smooth[0]
        assert not any(anatomy.smooth[1:4])


def test_rare_names_share_a_column(tmp_path):
    encoder = make_column_transformer(
        (OneHotEncoder(min_frequency=0.24, handle_unknown="infrequent_if_exist"), ["job", "town"]),
        remainder="passthrough",
    )
    model = make_pipeline(encoder, LogisticRegression(max_iter=2000)).fit(PEOPLE, PAID)
    agrees(opened(tmp_path, model), [PEOPLE[name].to_numpy() for name in PEOPLE])


def test_searches_and_selections_are_looked_through(tmp_path):
    inner = make_pipeline(StandardScaler(), SelectKBest(k=2), LogisticRegression())
    search = GridSearchCV(inner, {"logisticregression__C": [0.1, 1.0]}, cv=2).fit(NUMBERS, TWO)
    anatomy = agrees(opened(tmp_path, search), list(NUMBERS.T))
    assert len(anatomy.sources) == 2


def test_imputed_cells_and_their_marks(tmp_path):
    holes = NUMBERS.copy()
    holes[::4, 1] = np.nan
    model = make_pipeline(SimpleImputer(add_indicator=True), LogisticRegression()).fit(holes, TWO)
    anatomy = agrees(opened(tmp_path, model), list(holes.T))
    assert anatomy.sources == ((0,), (1,), (2,), (3,), (1,))
    assert anatomy.smooth == (True, True, True, True, False)


def test_products_name_all_that_they_are_made_from(tmp_path):
    model = make_pipeline(PolynomialFeatures(2), LogisticRegression(max_iter=2000))
    anatomy = agrees(opened(tmp_path, model.fit(NUMBERS, TWO)), list(NUMBERS.T))
    assert anatomy.sources[:3] == ((), (0,), (1,))
    assert (0, 1) in anatomy.sources


@pytest.mark.parametrize(
    ("model", "clause"),
    [
        (make_pipeline(PCA(2), LogisticRegression()), "PCA"),
        (make_pipeline(Normalizer(), LogisticRegression()), "Normalizer"),
        (make_pipeline(KNNImputer(), LogisticRegression()), "KNNImputer"),
        (make_pipeline(MinMaxScaler(), SVC()), "SVC"),
        (CalibratedClassifierCV(LogisticRegression(), cv=2), "CalibratedClassifierCV"),
    ],
    ids=lambda each: str(each)[:20],
)
def test_what_is_not_known_is_named(tmp_path, model, clause):
    known = opened(tmp_path, model.fit(NUMBERS, TWO))
    with pytest.raises(OpaqueError, match=clause):
        structure_of(known)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("model", "layers"),
    [
        (make_pipeline(StandardScaler(), LogisticRegression()), True),
        (MLPClassifier((3,), max_iter=10), True),
        (make_pipeline(PCA(2), LogisticRegression()), False),
        (DecisionTreeClassifier(), False),
    ],
    ids=lambda each: str(each)[:20],
)
def test_cards_say_whether_layers_are_known(tmp_path, model, layers):
    card = opened(tmp_path, model.fit(NUMBERS, TWO)).card
    assert (Capability.LAYERS in card.can) is layers


def test_a_loss_that_is_not_known_is_named(tmp_path):
    model = HistGradientBoostingRegressor(loss="poisson", max_iter=3).fit(NUMBERS, np.abs(AMOUNT))
    with pytest.raises(OpaqueError, match="poisson"):
        structure_of(opened(tmp_path, model))


def test_weights_that_were_tampered_with_are_not_believed(tmp_path):
    class Odd(LogisticRegression):
        def predict_proba(self, X):
            return super().predict_proba(-X)

    Odd.__module__, Odd.__name__ = "sklearn.linear_model._logistic", "LogisticRegression"
    known = opened(tmp_path, LogisticRegression().fit(NUMBERS, TWO))
    known.estimator = Odd().fit(NUMBERS, TWO)
    with pytest.raises(OpaqueError, match="outputs do not match its weights"):
        known.structure()


def test_transformers_that_came_beside_the_model(tmp_path):
    scaler = StandardScaler().fit(NUMBERS)
    inner = opened(tmp_path, RandomForestClassifier(5, random_state=0).fit(NUMBERS * 2 + 1, TWO))
    model = PreparedModel(inner, [("scaler", scaler)])
    anatomy = agrees(model, list(NUMBERS.T))
    assert anatomy.smooth == (True,) * 4
