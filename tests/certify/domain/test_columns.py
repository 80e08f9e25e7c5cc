"""What a model is given at every place, against what it is really given."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

from fairdesk.certify.domain.columns import columns_of
from fairdesk.certify.domain.space import space_of
from fairdesk.data.domain.attributes import Attribute, Role
from fairdesk.data.domain.domain import Domain
from fairdesk.data.table import Kind
from fairdesk.errors import SpecError
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import How, Input, Mapping
from fairdesk.models.structure import structure_of
from tests.certify.scikits import ATTRIBUTES, fed, people, scikit, whole

NAMES = ["job", "sex", "race"]


def behind(*transformers):
    frame, label = people(np.random.default_rng(1))
    encoder = ColumnTransformer(list(transformers), remainder="passthrough")
    return fed(make_pipeline(encoder, LogisticRegression(max_iter=500)).fit(frame, label))


def learnt(model, domain, rows, precision=np.float64):
    anatomy = structure_of(model.opened)
    space = space_of(domain, rows)
    return space, anatomy, columns_of(space, anatomy, model, precision)


@pytest.mark.parametrize(
    "transformers",
    [
        [("n", OneHotEncoder(), NAMES)],
        [("n", OrdinalEncoder(), NAMES), ("s", StandardScaler(), ["age", "hours"])],
        [
            ("n", OneHotEncoder(drop="first", min_frequency=25), NAMES),
            ("b", KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf"), ["age"]),
        ],
    ],
)
@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_tables_are_what_the_model_is_given(transformers, precision):
    model = behind(*transformers)
    domain = Domain(ATTRIBUTES)
    space, anatomy, columns = learnt(model, domain, np.zeros((1, 5)), precision)
    rng = np.random.default_rng(0)
    places = rng.integers(0, space.counts, size=(400, len(space.axes)))
    combination = rng.integers(0, len(domain.combinations), 400)
    rows = domain.counterparts(space.rows(places), combination)
    given = anatomy.prepare(model.columns(rows)).astype(precision)
    assert (columns.at(places, combination) == given).all()
    own = np.concatenate([each.columns for each in columns.axes])
    assert sorted([*own, *columns.combined]) == list(range(columns.count))


def test_attributes_that_are_mixed_are_named():
    model = behind(("n", OneHotEncoder(), NAMES), ("p", PolynomialFeatures(2), ["age", "hours"]))
    with pytest.raises(SpecError, match="combines “age”, “hours”"):
        learnt(model, Domain(ATTRIBUTES), np.zeros((1, 5)))


@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_numbers_with_too_many_values_lie_on_a_line(precision):
    attributes = (
        whole("amount", 5_000_000.0, low=1_000_000.0),
        whole("sex", 1.0, Role.PROTECTED),
    )
    rng = np.random.default_rng(2)
    rows = np.column_stack([rng.integers(1_000_000, 5_000_001, 200), rng.integers(0, 2, 200)])
    model = make_pipeline(StandardScaler(), LogisticRegression())
    model = fed(model.fit(rows.astype(float), rows[:, 0] > 3e6), attributes)
    domain = Domain(attributes)
    space, anatomy, columns = learnt(model, domain, rows.astype(float), precision)
    own = columns.axes[0]
    assert own.table.shape == (0, 1)
    places = rng.integers(0, space.counts[0], size=(5_000, 1))
    given = anatomy.prepare(model.columns(space.rows(places)))[:, :1].astype(precision)
    off = np.abs(own.start + places * own.slope - given.astype(np.float64))
    assert (off <= own.off).all()
    # in double precision it is told to far less than a step
    if precision is np.float64:
        assert own.off[0] < 1e-3 * abs(own.slope[0])


def test_bins_of_too_many_values_cannot_be_written_down():
    attributes = (whole("amount", 5_000_000.0), whole("sex", 1.0, Role.PROTECTED))
    rng = np.random.default_rng(3)
    rows = np.column_stack([rng.integers(0, 5_000_001, 200), rng.integers(0, 2, 200)])
    binned = ColumnTransformer(
        [("b", KBinsDiscretizer(4, quantile_method="averaged_inverted_cdf"), [0])],
        remainder="passthrough",
    )
    model = make_pipeline(binned, LogisticRegression()).fit(rows.astype(float), rows[:, 0] > 3e6)
    with pytest.raises(SpecError, match="does not use it only as a number"):
        learnt(fed(model, attributes), Domain(attributes), rows.astype(float))


def test_missing_cells_are_for_trees_only():
    rng = np.random.default_rng(4)
    rows = np.column_stack([rng.integers(0, 3, 200), rng.integers(0, 2, 200)]).astype(float)
    rows[::5, 0] = np.nan
    label = (np.nan_to_num(rows[:, 0], nan=2) > 1).astype(int)
    grade = Attribute(
        name="grade",
        kind=Kind.NOMINAL,
        values=("0", "1", "2", "Unknown"),
        high=3.0,
        unknown=True,
    )
    attributes = (grade, whole("sex", 1.0, Role.PROTECTED))
    inputs = (
        Input("grade", "grade", How.CODE, codes={"0": 0.0, "1": 1.0, "2": 2.0}),
        Input("sex", "sex", How.AS_IS),
    )
    tree = DecisionTreeClassifier(max_depth=3).fit(rows, label)
    model = FedModel(scikit(tree), Mapping(inputs, "by name", 1), attributes)
    _, _, columns = learnt(model, Domain(attributes), np.zeros((1, 2)))
    assert np.isnan(columns.axes[0].table).sum() == 1
    sums = LogisticRegression().fit(np.nan_to_num(rows), label)
    model = FedModel(scikit(sums), Mapping(inputs, "by name", 1), attributes)
    with pytest.raises(SpecError, match="no number"):
        learnt(model, Domain(attributes), np.zeros((1, 2)))
