"""Files made only of what is allowed, filled so that it would call what its author likes."""

from __future__ import annotations

import io
import json
import pickle
import zipfile

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
)
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics._scorer import _Scorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

from fairdesk.errors import ModelError, TrustRequiredError
from fairdesk.models.pickles.loading import load
from fairdesk.models.pickles.rebuilding import RefusedError, vet
from tests import phrases

X, Y = np.array([[0.0, 1.0], [1.0, 0.0]] * 10), np.array([0, 1] * 10)


def always(thing):
    """Return a transformer of allowed parts that answers the same thing to anything."""
    made = FunctionTransformer(
        np.sum, kw_args={"axis": None, "dtype": object, "initial": thing, "where": False}
    )
    made.n_features_in_ = 2
    return made


def stack_that_writes(path):
    """Return a stack that calls what it is told to: here, to write an array to a path."""
    stack = StackingClassifier([("one", LogisticRegression())]).fit(X, Y)
    stack.estimators_ = [np.array(["harm"])]
    stack.stack_method_ = ["tofile"]
    return make_pipeline(always(str(path)), stack)


def test_the_stack_would_write(tmp_path):
    with pytest.raises(AttributeError):
        stack_that_writes(tmp_path / "mark").predict(X)
    assert (tmp_path / "mark").exists()


@pytest.mark.parametrize("format_", ["pickle", "skops"])
def test_a_model_that_names_what_is_called_needs_trust(tmp_path, format_):
    import skops.io

    path = tmp_path / f"model.{format_}"
    write = skops.io.dumps if format_ == "skops" else pickle.dumps
    path.write_bytes(write(stack_that_writes(tmp_path / "mark")))
    with pytest.raises(TrustRequiredError, match="stack_method_"):
        load(path, trusted=False)
    assert not (tmp_path / "mark").exists()


def test_old_skops_files_name_no_functions_in_their_own_way(tmp_path):
    import skops.io

    path = tmp_path / "model.skops"
    content = skops.io.dumps(make_pipeline(FunctionTransformer(np.log1p), LogisticRegression()))
    with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(path, "w") as changed:
        for name in archive.namelist():
            text = archive.read(name)
            if name == "schema.json":
                text = json.dumps(json.loads(text) | {"protocol": 0}).encode()
                before = b'"__class__": "log1p", "__module__": "numpy", '
                assert before in text
                text = text.replace(
                    before,
                    before + b'"content": {"module_path": "builtins", "function": "eval"}, ',
                )
            changed.writestr(name, text)
    with pytest.raises(TrustRequiredError, match=r"builtins\.eval"):
        load(path, trusted=False)


def changed(thing, **attributes):
    thing.__dict__.update(attributes)
    return thing


@pytest.mark.parametrize(
    ("thing", "words"),
    [
        (changed(LogisticRegression(), predict=np.log1p), "LogisticRegression.predict"),
        (changed(make_pipeline(None), predict_proba=np.log1p), "Pipeline.predict_proba"),
        (changed(LogisticRegression(), __reduce_ex__=np.log1p), "__reduce_ex__"),
        (_Scorer(np.array, 1, {}, "__getattribute__"), "_response_method"),
        ({"deep": [_Scorer(np.array, 1, {}, ["save_model"])]}, "_response_method"),
        (np.array([CountVectorizer(input="filename"), 0], dtype=object), "of files"),
        (changed(LogisticRegression(), importance_getter="coef_.__class__"), "importance_getter"),
    ],
)
def test_data_stand_in_no_place_of_code(thing, words):
    with pytest.raises(RefusedError, match=words):
        vet(thing)


def test_trees_ask_for_no_input_that_is_not_there():
    forest = RandomForestClassifier(2).fit(X, Y)
    vet(forest)
    forest.n_features_in_ = 1
    with pytest.raises(ValueError, match="more inputs"):
        vet(forest)


@pytest.mark.parametrize("kind", ["u4", "i8", "i1", "u1"])
def test_boosted_trees_are_counted_whatever_type_their_version_gave_the_nodes(kind):
    rows = np.column_stack([np.repeat([0.0, 1.0], 40), np.zeros(80)])
    # the second leaves trees that are a single leaf
    for truth in (rows[:, 0].astype(int), np.tile([0, 1], 40)):
        model = HistGradientBoostingClassifier(max_iter=3).fit(rows, truth)
        for (tree,) in model._predictors:
            described = tree.nodes.dtype.descr
            tree.nodes = tree.nodes.astype(
                [(name, kind if name == "feature_idx" else own) for name, own in described]
            )
        vet(model)
    model = HistGradientBoostingClassifier(max_iter=3).fit(rows, rows[:, 0].astype(int))
    for place, words in ((2, "more inputs"), (-1, "do not lead")):
        model._predictors[0][0].nodes["feature_idx"][0] = place
        with pytest.raises(ValueError, match=words):
            vet(model)


def test_boosted_trees_name_no_set_of_categories_that_is_not_there():
    rows = np.tile([[0.0], [1.0], [2.0], [3.0]], (40, 1))
    model = HistGradientBoostingClassifier(max_iter=2, categorical_features=[0])
    model.fit(rows, np.tile([0, 1, 0, 1], 40))
    vet(model)
    model._predictors[0][0].nodes["bitset_idx"][0] = 10**6
    with pytest.raises(ValueError, match="sets of categories"):
        vet(model)


def test_sparse_numbers_lie_inside_their_matrix():
    weights = sparse.csr_array(np.eye(2))
    vet([weights])
    weights.indices[0] = 10**6
    with pytest.raises(ValueError, match="ind"):
        vet([weights])


class Twice:
    """Pickled as a model that is filled, and then filled again."""

    def __init__(self, *states):
        self.states = states

    def assemble(self):
        model = pickle.dumps(CountVectorizer(), 2)
        assert model.endswith(b"b.")
        more = b"".join(pickle.dumps(state, 2)[2:-1] + b"b" for state in self.states)
        return model[:-1] + more + b"."


def test_what_is_filled_stays_as_it_is(tmp_path):
    path = tmp_path / "model.pkl"
    path.write_bytes(Twice({"input": "filename"}).assemble())
    with pytest.raises(TrustRequiredError, match="filled twice"):
        load(path, trusted=False)


@pytest.mark.parametrize("step", [b"K\x00K\x01s.", b"(K\x00K\x01u."])
def test_nothing_is_put_into_an_array_once_it_was_looked_at(tmp_path, step):
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps(np.zeros(3), 2)[:-1] + step)
    with pytest.raises(TrustRequiredError, match=r"a change of numpy\.ndarray"):
        load(path, trusted=False)


def test_a_tree_of_skops_leads_to_its_leaves(tmp_path):
    import skops.io

    tree = DecisionTreeClassifier().fit(X, Y)
    tree.n_features_in_ = 1
    path = tmp_path / "model.skops"
    path.write_bytes(skops.io.dumps(tree))
    with pytest.raises(ModelError, match=phrases.CANNOT_BE_OPENED):
        load(path, trusted=False)
