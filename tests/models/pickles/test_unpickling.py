import io
import pickle
import pickletools
import sys
import warnings
from contextlib import suppress

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import uniform
from sklearn import (
    calibration,
    compose,
    discriminant_analysis,
    dummy,
    ensemble,
    feature_extraction,
    feature_selection,
    gaussian_process,
    impute,
    isotonic,
    kernel_ridge,
    linear_model,
    model_selection,
    multiclass,
    multioutput,
    naive_bayes,
    neighbors,
    neural_network,
    pipeline,
    preprocessing,
    svm,
    tree,
)
from sklearn.decomposition import PCA
from sklearn.experimental import enable_halving_search_cv, enable_iterative_imputer  # noqa: F401

from fairdesk.errors import ModelError
from fairdesk.models.packed import Bounded, unpacked
from fairdesk.models.pickles import unpickling
from fairdesk.models.pickles.allowed_names import standing
from fairdesk.models.pickles.contents import look_into
from fairdesk.models.pickles.loading import load
from fairdesk.models.pickles.rebuilding import Lifeless, RefusedError
from fairdesk.models.pickles.unpickling import names_in, rebuild, resolve
from tests.models.hostile import ASSEMBLED, KINDS, distribution

RNG = np.random.default_rng(1)
X = np.abs(RNG.normal(size=(80, 4)))
Y = (X[:, 0] + X[:, 1] > 1.5).astype(int)
PEOPLE = pd.DataFrame(
    {
        "age": RNG.integers(18, 80, 80),
        "job": RNG.choice(["cook", "clerk"], 80),
        "sex": ["f", "m"] * 40,
    }
)
LOGISTIC = linear_model.LogisticRegression()
TREE = tree.DecisionTreeClassifier(max_depth=3)


@pytest.mark.parametrize("how", [0, 2, 4, 5, "joblib", "zlib", "gzip", "bz2", "xz"])
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_harmful_passes(tmp_path, kind, how):
    mark, path = tmp_path / "mark", tmp_path / "m.pkl"
    thing = KINDS[kind](mark, tmp_path)
    if isinstance(how, int):
        path.write_bytes(pickle.dumps(thing, how))
    else:
        joblib.dump(thing, path, compress=0 if how == "joblib" else (how, 3))
    assert not mark.exists()
    with pytest.raises(RefusedError):
        rebuild(path)
    names, _, trouble = names_in(path)
    assert names
    assert not trouble
    assert not mark.exists()


@pytest.mark.parametrize("kind", ASSEMBLED)
def test_no_assembled_program_passes(tmp_path, kind):
    mark, path = tmp_path / "mark", tmp_path / "m.pkl"
    path.write_bytes(ASSEMBLED[kind](mark))
    with pytest.raises(RefusedError):
        rebuild(path)
    names_in(path)
    assert not mark.exists()


def test_the_corpus_is_harmful_to_an_ordinary_reader(tmp_path):
    harmed = []
    for kind in ("os.mkdir", "eval", "exec", "timeit", "joblib.load", "numpy.load", "to_csv"):
        mark = tmp_path / kind
        pickle.loads(pickle.dumps(KINDS[kind](mark, tmp_path)))
        harmed.append(mark.exists())
    for kind in ("old instance", "text protocol", "dotted name"):
        mark = tmp_path / kind
        try:
            pickle.loads(ASSEMBLED[kind](mark))
        except AttributeError:
            continue  # this module imports no os here
        harmed.append(mark.exists())
    assert all(harmed)
    assert len(harmed) >= 9


def test_a_distribution_of_scipy_is_kept_as_a_record_and_runs_nothing(tmp_path):
    search = model_selection.RandomizedSearchCV(LOGISTIC, {"C": uniform(0.1, 2)}, n_iter=2)
    search.fit(X, Y)
    path = tmp_path / "m.pkl"
    path.write_bytes(pickle.dumps(search))
    again = rebuild(path)
    assert isinstance(again.param_distributions["C"], Lifeless)
    np.testing.assert_array_equal(again.predict_proba(X), search.predict_proba(X))
    with pytest.raises(TypeError):
        bool(again.param_distributions["C"])


def test_a_distribution_that_would_execute_its_text_does_not(tmp_path):
    path, mark = tmp_path / "m.pkl", tmp_path / "mark"
    path.write_bytes(pickle.dumps({"model": LOGISTIC.fit(X, Y), "drawn": distribution(mark)}))
    assert isinstance(rebuild(path)["drawn"], Lifeless)
    assert not mark.exists()
    pickle.loads(path.read_bytes())
    assert mark.exists()


def test_nothing_outside_the_known_libraries_is_imported(tmp_path):
    path = tmp_path / "m.pkl"
    path.write_bytes(b"\x80\x04cantigravity\nfly\n)R.")
    with pytest.raises(RefusedError, match="antigravity"):
        rebuild(path)
    assert "antigravity" not in sys.modules


def numeric_models():
    two = [("a", LOGISTIC), ("b", TREE)]
    return [
        LOGISTIC,
        TREE,
        linear_model.LogisticRegressionCV(cv=2, Cs=2),
        linear_model.SGDClassifier(loss="log_loss"),
        linear_model.Perceptron(),
        linear_model.RidgeClassifier(),
        linear_model.LinearRegression(),
        linear_model.TweedieRegressor(),
        linear_model.HuberRegressor(),
        tree.ExtraTreeClassifier(),
        ensemble.RandomForestClassifier(4),
        ensemble.RandomForestRegressor(4),
        ensemble.ExtraTreesClassifier(4),
        ensemble.GradientBoostingClassifier(n_estimators=4),
        ensemble.GradientBoostingRegressor(n_estimators=4),
        ensemble.HistGradientBoostingClassifier(max_iter=4),
        ensemble.HistGradientBoostingRegressor(max_iter=4),
        ensemble.AdaBoostClassifier(n_estimators=3),
        ensemble.BaggingClassifier(n_estimators=3),
        ensemble.VotingClassifier(two),
        ensemble.StackingClassifier(two, cv=2),
        calibration.CalibratedClassifierCV(TREE, cv=2),
        calibration.CalibratedClassifierCV(TREE, cv=2, method="isotonic"),
        svm.SVC(),
        svm.LinearSVC(),
        svm.NuSVC(),
        svm.SVR(),
        neighbors.KNeighborsClassifier(algorithm="kd_tree"),
        neighbors.KNeighborsClassifier(algorithm="ball_tree"),
        neighbors.KNeighborsClassifier(algorithm="brute", metric="cosine"),
        neighbors.NearestCentroid(),
        naive_bayes.GaussianNB(),
        naive_bayes.MultinomialNB(),
        neural_network.MLPClassifier(4, max_iter=3),
        neural_network.MLPRegressor(hidden_layer_sizes=4, max_iter=3),
        gaussian_process.GaussianProcessClassifier(
            gaussian_process.kernels.RBF() + gaussian_process.kernels.WhiteKernel()
        ),
        gaussian_process.GaussianProcessRegressor(gaussian_process.kernels.Matern()),
        discriminant_analysis.LinearDiscriminantAnalysis(),
        discriminant_analysis.QuadraticDiscriminantAnalysis(),
        kernel_ridge.KernelRidge(),
        dummy.DummyClassifier(),
        multiclass.OneVsRestClassifier(LOGISTIC),
        multiclass.OneVsOneClassifier(LOGISTIC),
        multiclass.OutputCodeClassifier(LOGISTIC, random_state=0),
        model_selection.GridSearchCV(LOGISTIC, {"C": [1, 2]}, cv=2, scoring="f1"),
        model_selection.GridSearchCV(LOGISTIC, {"C": np.array([1, 2])}, cv=2),
        model_selection.HalvingGridSearchCV(LOGISTIC, {"C": [1, 2]}, cv=2),
        model_selection.TunedThresholdClassifierCV(LOGISTIC, cv=2),
        pipeline.make_pipeline(preprocessing.FunctionTransformer(np.log1p), LOGISTIC),
        pipeline.make_pipeline(
            impute.KNNImputer(),
            preprocessing.PowerTransformer(),
            preprocessing.PolynomialFeatures(),
            feature_selection.SelectKBest(k=3),
            PCA(2),
            LOGISTIC,
        ),
        pipeline.make_pipeline(
            impute.IterativeImputer(max_iter=2), preprocessing.SplineTransformer(), TREE
        ),
        pipeline.make_pipeline(
            preprocessing.QuantileTransformer(n_quantiles=10),
            preprocessing.KBinsDiscretizer(),
            TREE,
        ),
        pipeline.make_pipeline(preprocessing.TargetEncoder(cv=2), TREE),
        pipeline.make_union(PCA(2), preprocessing.StandardScaler()),
    ]


def boosted_models():
    models = []
    try:
        from xgboost import XGBClassifier, XGBRegressor

        models += [XGBClassifier(n_estimators=3), XGBRegressor(n_estimators=3)]
    except ImportError:
        pass
    try:
        from lightgbm import LGBMClassifier, LGBMRegressor

        models += [
            LGBMClassifier(n_estimators=3, verbose=-1),
            LGBMRegressor(n_estimators=3, verbose=-1),
        ]
    except ImportError:
        pass
    return models


def answer(model, rows):
    for method in ("predict_proba", "decision_function", "predict", "transform"):
        if hasattr(model, method):
            given = getattr(model, method)(rows)
            return np.asarray(given.toarray() if hasattr(given, "toarray") else given)
    raise AssertionError(model)


def survives(tmp_path, model, rows):
    path = tmp_path / "m.bin"
    for how in (0, 1, 2, 3, 4, 5, 0.5, "zlib", "lzma"):
        if isinstance(how, int):
            path.write_bytes(pickle.dumps(model, how))
        else:
            joblib.dump(model, path, compress=0 if how == 0.5 else (how, 3))
        again = rebuild(path)
        np.testing.assert_array_equal(answer(again, rows), answer(model, rows))
        names, _, trouble = names_in(path)
        assert not trouble
        assert {standing(*name) for name in names} == {"known"}
    return again


@pytest.mark.parametrize(
    "model", numeric_models() + boosted_models(), ids=lambda m: type(m).__name__
)
def test_no_good_model_is_refused(tmp_path, model):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(X, Y)
        except ValueError:
            model.fit(X, X[:, 0])
        survives(tmp_path, model, X)


@pytest.mark.parametrize(
    "model",
    [
        neural_network.MLPClassifier(4, max_iter=3),
        multioutput.MultiOutputClassifier(TREE),
        multioutput.ClassifierChain(LOGISTIC),
        ensemble.RandomForestClassifier(3),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_no_good_model_of_several_outputs_is_refused(tmp_path, model):
    survives(tmp_path, model.fit(X, np.column_stack([Y, X[:, 2] > 0.5]).astype(int)), X)


def test_no_good_pipeline_on_columns_or_texts_is_refused(tmp_path):
    columns = compose.make_column_transformer(
        (preprocessing.StandardScaler(), ["age"]),
        (pipeline.make_pipeline(impute.SimpleImputer(strategy="most_frequent"),
                                preprocessing.OneHotEncoder(handle_unknown="ignore")), ["job"]),
        remainder=preprocessing.OrdinalEncoder(),
    )  # fmt: skip
    survives(tmp_path, pipeline.make_pipeline(columns, LOGISTIC).fit(PEOPLE, Y), PEOPLE)
    chosen = compose.make_column_transformer(
        (preprocessing.StandardScaler(), compose.make_column_selector(dtype_include=np.number)),
        (preprocessing.OneHotEncoder(), PEOPLE.columns[1:]),
    )
    survives(tmp_path, pipeline.make_pipeline(chosen, TREE).fit(PEOPLE, Y), PEOPLE)
    texts = ["a good day", "a bad night"] * 40
    for reader in (
        feature_extraction.text.TfidfVectorizer(),
        feature_extraction.text.CountVectorizer(ngram_range=(1, 2)),
        feature_extraction.text.HashingVectorizer(n_features=16),
    ):
        survives(tmp_path, pipeline.make_pipeline(reader, LOGISTIC).fit(texts, Y), texts)
    isotone = isotonic.IsotonicRegression().fit(X[:, 0], Y)
    survives(tmp_path, isotone, X[:, 0])


@pytest.mark.parametrize("how", [0, 2, 5, "joblib"])
def test_a_bundle_keeps_its_lists_and_encoders(tmp_path, how):
    bundle = {
        "model": LOGISTIC.fit(X, Y),
        "features": PEOPLE.columns,
        "old": pd.Index(["a", "b"], dtype=object),
        "table": PEOPLE,
        "rows": PEOPLE.index,
        "encoders": {"job": preprocessing.LabelEncoder().fit(PEOPLE["job"])},
        "kinds": (np.float64(1.5), np.datetime64("2020-01-02"), np.str_("é"), {1, 2}, slice(1, 2)),
        "dates": np.array(["2020-01-02", "2021-01-02"], "M8[ns]"),
        "texts": np.array(["a", "bcd"]),
        "records": np.array([(1, 2.5)], dtype=[("a", "i4"), ("b", "f8")]),
        "swapped": np.arange(3, dtype=">i4"),
        "columns first": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "empty": np.empty((0, 3)),
        "number": np.array(3.5),
        "mixed": np.array(["a", None, 2], dtype=object),
    }
    path = tmp_path / "m.bin"
    if how == "joblib":
        joblib.dump(bundle, path, compress=3)
    else:
        path.write_bytes(pickle.dumps(bundle, how))
    again = rebuild(path)
    assert list(again["features"]) == ["age", "job", "sex"]
    assert list(again["old"]) == ["a", "b"]
    assert list(again["rows"]) == list(range(80))
    assert isinstance(again["table"], Lifeless)
    assert again["encoders"]["job"].classes_.tolist() == ["clerk", "cook"]
    assert again["kinds"] == bundle["kinds"]
    for name in (
        "dates",
        "texts",
        "records",
        "swapped",
        "columns first",
        "empty",
        "number",
        "mixed",
    ):
        np.testing.assert_array_equal(again[name], bundle[name])
        assert again[name].shape == bundle[name].shape
    assert again["records"].dtype == bundle["records"].dtype


@pytest.mark.parametrize("damage", ["left_child", "feature", "node_count"])
def test_a_tree_that_leads_nowhere_is_refused(tmp_path, damage):
    class Damaged:
        def __reduce__(self):
            kind, made, state = TREE.fit(X, Y).tree_.__reduce__()
            state = dict(state, nodes=state["nodes"].copy())
            if damage == "node_count":
                state[damage] = 10**6
            else:
                state["nodes"][damage][0] = 10**6
            return kind, made, state

    path = tmp_path / "m.pkl"
    path.write_bytes(pickle.dumps(Damaged()))
    with pytest.raises(ValueError, match="branches"):
        rebuild(path)


def test_a_reader_of_texts_that_would_open_files_is_refused(tmp_path):
    path = tmp_path / "m.pkl"
    path.write_bytes(pickle.dumps(feature_extraction.text.CountVectorizer(input="filename")))
    with pytest.raises(RefusedError, match="files"):
        rebuild(path)


def test_a_class_cannot_be_kept_by_a_model(tmp_path):
    path = tmp_path / "m.pkl"
    path.write_bytes(pickle.dumps(preprocessing.FunctionTransformer(LOGISTIC.__class__), 4))
    assert not callable(rebuild(path).func)
    assert not callable(resolve("sklearn.linear_model._logistic", "LogisticRegression"))


@pytest.mark.parametrize("cut", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("compress", [0, "zlib", "gzip", "bz2", "xz", "lzma"])
def test_a_file_that_breaks_off_is_told(tmp_path, cut, compress):
    path = tmp_path / "m.joblib"
    joblib.dump(
        ensemble.RandomForestClassifier(3).fit(X, Y),
        path,
        compress=(compress, 3) if compress else 0,
    )
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * cut)])
    with pytest.raises(ModelError):
        load(path, trusted=False)


def test_damaged_bytes_end_in_a_sentence(tmp_path):
    path = tmp_path / "m.pkl"
    content = pickle.dumps(
        pipeline.make_pipeline(preprocessing.StandardScaler(), LOGISTIC).fit(X, Y)
    )
    for seed in range(300):
        rng = np.random.default_rng(seed)
        broken = bytearray(content)
        for place in rng.integers(0, len(broken), 3):
            broken[place] = rng.integers(0, 256)
        path.write_bytes(b"\x80\x04" + broken[2:])
        with suppress(ModelError):
            load(path, trusted=False)


def test_what_is_not_there_takes_no_memory(tmp_path):
    for content in (
        b"\x80\x04\x8e" + (1 << 60).to_bytes(8, "little"),
        b"\x80\x02\x8b\xff\xff\xff\x7f",
    ):
        path = tmp_path / "m.pkl"
        path.write_bytes(content)
        with pytest.raises(ModelError):
            load(path, trusted=False)


def test_a_flood_is_stopped(tmp_path):
    stream = Bounded(io.BytesIO(b"x" * 1000), most=100)
    assert stream.read(60)
    with pytest.raises(ModelError, match="4 gigabytes"):
        stream.read(60)
    path = tmp_path / "m"
    joblib.dump(np.zeros(1_000_000), path, compress=("zlib", 9))
    with unpacked(path) as packed:
        assert packed.skip(10**9) > 8_000_000


def nested(times):
    """Return instructions for a tuple that holds itself as it was, twice, so many times."""
    return b")" + b"2\x86" * times


def _call(name, *arguments):
    return b"c" + name.replace(".", "\n", 1).encode() + b"\n(" + b"".join(arguments) + b"tR"


@pytest.mark.parametrize(
    "program",
    [
        b"(" * 3_000_000,
        b"N0" * 3_000_000,
        b"}" + nested(20) + b"Ns",
        b"}(" + nested(20) + b"Nu",
        b"(" + nested(20) + b"Nd",
        b"\x8f(" + nested(20) + b"\x90",
        b"(" + nested(20) + b"\x91",
        _call("builtins.set", b"(" + nested(20) + b"l"),
        _call("builtins.frozenset", b"(" + nested(20) + b"t"),
    ],
    ids=["marks", "steps", "s", "u", "d", "add", "frozen", "set", "frozenset"],
)
def test_a_file_that_asks_for_too_much_work_is_refused(tmp_path, monkeypatch, program):
    monkeypatch.setattr(unpickling, "MOST_STEPS", 1_000_000)
    path = tmp_path / "model.pkl"
    path.write_bytes(b"\x80\x04" + program + b".")
    with pytest.raises(ModelError, match="more work"):
        load(path, trusted=True)


@pytest.mark.parametrize("kind", ["set", "frozenset", "bytes", "bytearray"])
def test_a_short_description_of_a_large_container_is_refused(tmp_path, kind):
    path = tmp_path / "model.pkl"
    numbers = _call("builtins.range", b"J\xff\xff\xff\x7f")
    path.write_bytes(b"\x80\x04" + _call(f"builtins.{kind}", numbers) + b".")
    with pytest.raises(RefusedError):
        rebuild(path)


@given(
    st.lists(st.sampled_from([b"(", b"N", b"0", b")", b"2", b"\x86", b"}", b"\x94"]), max_size=80)
)
def test_no_more_steps_are_taken_than_are_allowed(pieces):
    taken = []

    class Counted(unpickling.Steps):
        def __getitem__(self, code):
            found = super().__getitem__(code)
            taken.append(code)
            return found

    steps = Counted(unpickling._Rebuilder.steps)
    steps.left = 40
    machine = unpickling._Rebuilder(Bounded(io.BytesIO(b"".join(pieces) + b".")), None, steps)
    with suppress(*unpickling.BROKEN, ModelError, RefusedError):
        machine.load()
    assert len(taken) <= 40


def test_what_is_remembered_is_looked_through_once(tmp_path):
    """A type of numbers that is completed takes the place of what was remembered of it."""
    looks = []

    class Memo(dict):
        def __getitem__(self, place):
            looks.append(place)
            return super().__getitem__(place)

    made = _call("numpy.dtype", b"X\x02\x00\x00\x00f8", b"\x89", b"\x88") + b"\x94"
    state = b"(K\x03X\x01\x00\x00\x00<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb0"
    program = b"\x80\x04" + b"(N\x94" * 500 + (made + state) * 500 + b"N."
    machine = unpickling._Rebuilder(Bounded(io.BytesIO(program)))
    machine.memo = Memo()
    assert machine.load() is None
    assert len(machine.memo) == 1_000
    assert len(looks) < 5_000


def test_what_a_reader_keeps_is_told_apart_by_its_place():
    things = [unpickling._Nothing() for _ in range(100)]
    assert len(set(map(hash, things))) == 100


def test_a_version_that_is_nested_is_not_written_out(tmp_path):
    path = tmp_path / "model.pkl"
    model = b"csklearn.linear_model._logistic\nLogisticRegression\n)\x81"
    version = b"X\x10\x00\x00\x00_sklearn_version"
    path.write_bytes(b"\x80\x04" + model + b"}" + version + nested(18) + b"sb.")
    assert look_into(path).saved_with == {}


def test_lz4_is_named_where_it_is_missing(tmp_path):
    path = tmp_path / "m.joblib"
    path.write_bytes(b"\x04\x22\x4d\x18" + bytes(40))
    if "lz4" in sys.modules:
        pytest.skip("lz4 is installed")
    with pytest.raises(ModelError, match="lz4"):
        load(path, trusted=False)


def test_the_private_parts_that_are_built_upon_are_as_expected():
    # Python's own machine in Python, and how joblib describes an array
    assert pickle._Unpickler.dispatch[pickle.BUILD[0]].__name__ == "load_build"
    out = io.BytesIO()
    joblib.dump(np.arange(3.0), out)
    texts = [argument for _, argument, _ in _ops(out.getvalue())]
    assert {"subclass", "shape", "order", "dtype", "numpy_array_alignment_bytes"} <= set(texts)


def _ops(content):
    with suppress(ValueError):  # at the numbers, which are no instructions
        yield from pickletools.genops(content)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("sklearn.tree._tree.Tree", "known"),
        ("sklearn.datasets._base.load_files", "dangerous"),
        ("os.system", "dangerous"),
        ("posix.system", "dangerous"),
        ("nt.system", "dangerous"),
        ("builtins.eval", "dangerous"),
        ("builtins.getattr", "dangerous"),
        ("subprocess.Popen", "dangerous"),
        ("numpy.load", "dangerous"),
        ("pandas.read_pickle", "dangerous"),
        ("somebody.Model", "unknown"),
        ("__main__.transform", "unknown"),
        ("numpy.log1p", "known"),
        ("numpy.frompyfunc", "unknown"),
        ("functools.partial", "dangerous"),
        ("sklearn.linear_model.tests.test_ridge.Thing", "unknown"),
    ],
)
def test_names_have_a_standing(name, wanted):
    module, _, last = name.rpartition(".")
    assert standing(module, last) == wanted
