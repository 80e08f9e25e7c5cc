"""Which names a pickle may ask for, and which are well known for harm.

A pickle asks for classes and functions by name and says what to call. Whatever is not named here
is refused before its module is imported. A whole library is never enough: NumPy alone holds
`numpy.load` and a function that runs Python code, and a frozen distribution of SciPy executes a
text that lies in the file.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Literal

import numpy as np

Standing = Literal["known", "unknown", "dangerous"]

_PLAIN = (
    *("bool", "bytearray", "bytes", "complex", "dict", "float", "frozenset", "int", "list"),
    *("object", "range", "set", "slice", "str", "tuple", "unicode", "long", "xrange"),
)
#: Harmless whatever they are called with, so that a model may keep and call them.
BUILTINS = frozenset(
    (
        *(f"{module}.{name}" for module in ("builtins", "__builtin__") for name in _PLAIN),
        *(f"collections.{name}" for name in ("Counter", "OrderedDict", "defaultdict")),
    )
)
_NUMPY_FUNCTIONS = (
    *("abs", "absolute", "asarray", "array", "clip", "max", "mean", "median", "min", "nan_to_num"),
    *("nanmean", "nanmedian", "ravel", "round", "std", "sum", "var", "where"),
)
_SCORES = {
    "_classification": (
        *("accuracy_score", "balanced_accuracy_score", "brier_score_loss", "cohen_kappa_score"),
        *("d2_brier_score", "d2_log_loss_score", "f1_score", "fbeta_score", "hamming_loss"),
        *("hinge_loss", "jaccard_score", "log_loss", "matthews_corrcoef", "precision_score"),
        *("recall_score", "class_likelihood_ratios", "zero_one_loss"),
        *("negative_likelihood_ratio", "positive_likelihood_ratio"),
    ),
    "_ranking": ("average_precision_score", "roc_auc_score", "top_k_accuracy_score"),
    "_regression": (
        *("d2_absolute_error_score", "explained_variance_score", "max_error", "r2_score"),
        *("mean_absolute_error", "mean_absolute_percentage_error", "mean_gamma_deviance"),
        *("mean_pinball_loss", "mean_poisson_deviance", "mean_squared_error"),
        *("mean_squared_log_error", "median_absolute_error", "root_mean_squared_error"),
        *("root_mean_squared_log_error", "d2_pinball_score", "d2_tweedie_score"),
    ),
}
#: Functions that models keep: how a search scored, how features were ranked. Plain arithmetic.
FUNCTIONS = frozenset(
    (
        *(f"numpy.{name}" for name in _NUMPY_FUNCTIONS),
        *(
            f"sklearn.metrics.{module}.{name}"
            for module, names in _SCORES.items()
            for name in names
        ),
        *(
            f"sklearn.feature_selection.{module}.{name}"
            for module in ("_univariate_selection", "univariate_selection")
            for name in ("chi2", "f_classif", "f_oneway", "f_regression", "r_regression")
        ),
        "sklearn.feature_selection._mutual_info.mutual_info_classif",
        "sklearn.feature_selection._mutual_info.mutual_info_regression",
        *(f"sklearn.metrics.{home}._passthrough_scorer" for home in ("_scorer", "scorer")),
        "sklearn.cluster._kmeans._kmeans_single_lloyd",
        "sklearn.cluster._kmeans._kmeans_single_elkan",
        "scipy._lib.array_api_compat.numpy._aliases.asarray",
    )
)

_CORE = ("numpy.core", "numpy._core")
#: What rebuilds arrays and the like: each is done by `fairdesk.models.pickles.rebuilding`, by its
#: name.
REBUILT = {
    "_codecs.encode": "latin_bytes",
    "copy_reg._reconstructor": "instance",
    "copyreg._reconstructor": "instance",
    "numpy.dtype": "dtype",
    "numpy.ma.core._mareconstruct": "masked_array",
    "numpy.random._pickle.__bit_generator_ctor": "bit_generator",
    "numpy.random._pickle.__generator_ctor": "generator",
    "numpy.random._pickle.__randomstate_ctor": "random_state",
    "numpy.random.__RandomState_ctor": "random_state",
    "numpy.random.bit_generator.__pyx_unpickle_SeedSequence": "seed_sequence",
    "numpy.random._bit_generator.__pyx_unpickle_SeedSequence": "seed_sequence",
    "pandas.core.indexes.base._new_Index": "labels",
    "pyarrow.lib._restore_array": "arrow_texts",
    "pyarrow.lib.type_for_alias": "plain",
    "pyarrow.lib.py_buffer": "plain",
    **{f"{core}.multiarray._reconstruct": "array" for core in _CORE},
    **{f"{core}.multiarray.scalar": "scalar" for core in _CORE},
    **{f"{core}.numeric._frombuffer": "array_of_bytes" for core in _CORE},
    **{
        f"sklearn.{module}.newObj": "new"
        for module in (
            *("neighbors._kd_tree", "neighbors._ball_tree", "neighbors._dist_metrics"),
            *("neighbors.kd_tree", "neighbors.ball_tree", "neighbors.dist_metrics"),
            "metrics._dist_metrics",
        )
    },
}
#: Classes that are only ever told what to rebuild.
TOLD = frozenset(
    (
        *("numpy.ndarray", "numpy.matrix", "numpy.memmap", "numpy.ma.MaskedArray"),
        *("numpy.ma.core.MaskedArray", "numpy.random.bit_generator.SeedSequence"),
        *("numpy.random._bit_generator.SeedSequence", "numpy.random.mtrand.RandomState"),
        "numpy.random._generator.Generator",
        *(
            f"numpy.random.{module}.{name}"
            for module, names in (
                ("_mt19937", ("MT19937",)),
                ("_pcg64", ("PCG64", "PCG64DXSM")),
                ("_philox", ("Philox",)),
                ("_sfc64", ("SFC64",)),
            )
            for name in names
        ),
    )
)
#: The module of scikit-learn's losses, and how it called itself from 1.5 to 1.7.
LOSSES, LOSSES_ALSO = "sklearn._loss._loss", "_loss"
#: Functions that make such a loss begin so.
LOSS_MAKER = "__pyx_unpickle_Cy"
#: Classes whose constructor a pickle calls, and that do nothing but keep what they are given.
CALLED = (
    *(f"{LOSSES}.", f"{LOSSES_ALSO}.Cy"),
    *("sklearn.linear_model._sgd_fast.", "sklearn.tree._tree.Tree"),
)

#: The parts of scikit-learn whose estimators may be rebuilt.
_ESTIMATORS = frozenset(
    (
        *("calibration", "cluster", "compose", "covariance", "cross_decomposition"),
        *("decomposition", "discriminant_analysis", "dummy", "ensemble", "feature_extraction"),
        *("feature_selection", "frozen", "gaussian_process", "impute", "isotonic"),
        *("kernel_approximation", "kernel_ridge", "linear_model", "manifold", "mixture"),
        *("model_selection", "multiclass", "multioutput", "naive_bayes", "neighbors"),
        *("neural_network", "pipeline", "preprocessing", "random_projection"),
        *("semi_supervised", "svm", "tree"),
    )
)
#: The same of imbalanced-learn.
_IMBALANCED = frozenset({"combine", "ensemble", "over_sampling", "pipeline", "under_sampling"})
_NEVER = frozenset({"tests", "conftest", "_testing", "_mocking", "externals", "datasets"})
#: What estimators keep that is no estimator itself: classes in modules that begin so.
HELPERS = (
    *("sklearn._loss.", f"{LOSSES_ALSO}.Cy"),
    *("sklearn.calibration._CalibratedClassifier", "sklearn.cluster._birch._CF"),
    "sklearn.cluster._bisect_k_means._BisectingTree",
    *("sklearn.compose._column_transformer._RemainderColsList", "sklearn.ensemble._gb_losses."),
    *("sklearn.compose._column_transformer.make_column_selector", "sklearn.ensemble.gb_losses."),
    "sklearn.ensemble._gb.VerboseReporter",
    *("sklearn.ensemble._hist_gradient_boosting.", "sklearn.gaussian_process.kernels."),
    *("sklearn.impute._iterative._ImputerTriplet", "sklearn.linear_model._sgd_fast."),
    *("sklearn.metrics._dist_metrics.", "sklearn.neighbors._dist_metrics."),
    *("sklearn.metrics._scorer._", "sklearn.model_selection._split."),
    *("sklearn.neighbors._ball_tree.BallTree", "sklearn.neighbors._kd_tree.KDTree"),
    *("sklearn.neural_network._stochastic_optimizers.", "sklearn.tree._tree.Tree"),
    *("sklearn.utils._bunch.Bunch", "sklearn.utils.Bunch", "sklearn.utils._metadata_requests."),
)
#: Exact names of other libraries whose objects may be rebuilt.
MADE = frozenset(
    (
        *(
            f"scipy.sparse{module}.{kind}_{form}"
            for kind in ("bsr", "coo", "csc", "csr", "dia", "lil")
            for module in ("", f"._{kind}", f".{kind}")
            for form in ("matrix", "array")
        ),
        "scipy.interpolate._bsplines.BSpline",
        *(f"xgboost.sklearn.XGB{kind}" for kind in ("Classifier", "Regressor", "Ranker")),
        *("xgboost.sklearn.XGBRFClassifier", "xgboost.sklearn.XGBRFRegressor"),
        *("xgboost.core.Booster", "xgboost.compat.XGBoostLabelEncoder"),
        *(f"lightgbm.sklearn.LGBM{kind}" for kind in ("Classifier", "Regressor", "Ranker")),
        "lightgbm.basic.Booster",
    )
)
#: Things that models and bundles keep without needing them to answer (the distributions that a
#: search drew from, tables): they become a lifeless record of the same name.
LIFELESS = ("scipy.stats.", "pandas.")
#: Where scalar types and element-wise functions of NumPy are found under their names there.
NUMPY_HOMES = frozenset(
    (
        *("numpy", "numpy.core.numerictypes", "numpy._core.numerictypes", "numpy.core.umath"),
        *("numpy._core.umath", "numpy.core._multiarray_umath", "numpy._core._multiarray_umath"),
    )
)
SPECIAL_FUNCTIONS = frozenset(
    ("scipy.special", "scipy.special._ufuncs", "scipy.special._special_ufuncs")
)
#: How joblib writes arrays, also the joblib that scikit-learn before 0.23 had inside.
JOBLIB_ARRAYS = frozenset(
    (
        "joblib.numpy_pickle.NumpyArrayWrapper",
        "sklearn.externals.joblib.numpy_pickle.NumpyArrayWrapper",
    )
)
#: How joblib before 0.10 wrote them: each to another file.
JOBLIB_FILES = frozenset(
    f"{home}.numpy_pickle{module}.{name}"
    for home in ("joblib", "sklearn.externals.joblib")
    for module in ("", "_compat")
    for name in ("NDArrayWrapper", "ZNDArrayWrapper")
)

#: Where classes are from that lay in the script which saved a file: a pickle has only their names.
SCRIPTS = frozenset({"__main__", "__mp_main__"})
#: Libraries of networks, which have files of their own that are read as data.
NETWORKS = frozenset({"keras", "tensorflow", "tf_keras"})
#: Modules of Python 2, which pickles may still name.
_PYTHON_2 = frozenset({"__builtin__", "copy_reg", "exceptions", "cPickle", "Queue", "StringIO"})

_HARM = frozenset(
    (
        *("os", "posix", "nt", "ntpath", "posixpath", "subprocess", "sys", "importlib", "imp"),
        *("socket", "socketserver", "shutil", "runpy", "ctypes", "webbrowser", "pty", "pickle"),
        *("_pickle", "cloudpickle", "dill", "marshal", "code", "codeop", "pdb", "bdb", "timeit"),
        *("cProfile", "profile", "trace", "commands", "platform", "tempfile", "pathlib", "io"),
        *("_io", "urllib", "urllib2", "http", "httplib", "ftplib", "smtplib", "telnetlib"),
        *("requests", "httpx", "aiohttp", "asyncio", "multiprocessing", "signal", "pip", "venv"),
        *("ensurepip", "pydoc", "pkgutil", "zipimport", "types", "gc", "inspect", "ssl", "shelve"),
        *("distutils", "setuptools", "fileinput", "glob", "threading", "_thread", "doctest"),
        *("sqlite3", "resource", "mmap", "fcntl", "site", "antigravity", "this"),
        "_posixsubprocess",
    )
)
_HARMFUL = frozenset(
    (
        *(
            f"{module}.{name}"
            for module in ("builtins", "__builtin__")
            for name in (
                *("eval", "exec", "execfile", "compile", "open", "__import__", "getattr"),
                *("setattr", "delattr", "globals", "locals", "vars", "input", "breakpoint"),
                *("apply", "file", "type", "map", "filter", "memoryview"),
            )
        ),
        *("operator.attrgetter", "operator.methodcaller", "operator.itemgetter"),
        *("functools.partial", "functools.reduce", "joblib.load", "joblib.memory.Memory"),
        *("numpy.load", "numpy.save", "numpy.savez", "numpy.fromfile", "numpy.memmap.tofile"),
        *("numpy.genfromtxt", "numpy.loadtxt", "numpy.savetxt", "torch.load", "builtins.help"),
    )
)
_HARMFUL_BEGINNINGS = (
    *("numpy.testing.", "numpy.f2py.", "numpy.lib.npyio.", "numpy.lib._npyio_impl."),
    *("numpy.lib._datasource.", "numpy.distutils.", "numpy.ctypeslib.", "numpy.compat."),
    *("pandas.read_", "pandas.io.", "pandas.eval", "pandas.core.computation."),
    *("joblib.numpy_pickle.load", "joblib.memory.", "joblib.parallel.", "joblib.externals."),
    *("sklearn.datasets.", "sklearn.externals.", "sklearn.utils._testing.", "torch.hub."),
    *("scipy.io.", "scipy.weave.", "keras.", "tensorflow."),
)


def standing(module: str, name: str) -> Standing:
    """Return what is known of a name, without importing anything.

    Returns
    -------
    str
        ``"known"``, ``"unknown"`` or ``"dangerous"``. A name that is “known” may still be refused
        when it turns out not to be a class.
    """
    full = f"{module}.{name}"
    if is_known(module, name):
        return "known"
    if (
        module.partition(".")[0] in _HARM
        or full in _HARMFUL
        or full.startswith(_HARMFUL_BEGINNINGS)
        or any(f"{holder}." in full for holder in ("os.system", "subprocess"))
    ):
        return "dangerous"
    return "unknown"


def is_missing(module: str) -> bool:
    """Return whether the code of a module is neither here nor in the file, without importing it."""
    root = module.partition(".")[0]
    if root in SCRIPTS:
        return True
    if root in _PYTHON_2 or not root.isidentifier():
        return False
    try:
        return find_spec(root) is None
    except ValueError:
        # loaded in an unusual way
        return False


def is_known(module: str, name: str) -> bool:
    """Return whether a name may be asked for, as far as the name alone tells."""
    full = f"{module}.{name}"
    return "." not in name and (
        full in BUILTINS
        or full in FUNCTIONS
        or full in REBUILT
        or full in TOLD
        or full in MADE
        or full in JOBLIB_ARRAYS
        or is_loss_maker(module, name)
        or is_elementwise(module, name)
        or is_lifeless(module, name)
        or (_looks_like_class(name) and (is_estimator_home(module) or full.startswith(HELPERS)))
    )


def is_estimator_home(module: str) -> bool:
    """Return whether a module is one whose estimators may be rebuilt."""
    root, *parts = module.split(".")
    if not parts or _NEVER.intersection(parts):
        return False
    if root == "imblearn":
        return parts[0] in _IMBALANCED
    return root == "sklearn" and parts[0] in _ESTIMATORS


def is_loss_maker(module: str, name: str) -> bool:
    """Return whether a name is a function that makes a loss of scikit-learn's."""
    return module in (LOSSES, LOSSES_ALSO) and name.startswith(LOSS_MAKER)


def is_elementwise(module: str, name: str) -> bool:
    """Return whether a name is a scalar type or an element-wise function, which may be kept."""
    if module in SPECIAL_FUNCTIONS:
        return not name.startswith("_")
    return module in NUMPY_HOMES and is_scalar_or_ufunc(getattr(np, name, None))


def is_scalar_or_ufunc(thing: object) -> bool:
    """Return whether a thing is a scalar type of NumPy or an element-wise function."""
    return isinstance(thing, np.ufunc) or (
        isinstance(thing, type) and issubclass(thing, np.generic)
    )


def is_lifeless(module: str, name: str) -> bool:
    """Return whether a name stands for a thing that is kept as a record only."""
    full = f"{module}.{name}"
    return full.startswith(LIFELESS) and not full.startswith(_HARMFUL_BEGINNINGS)


def stands_for_another(module: str, name: str) -> bool:
    """Return whether a name may be asked for only because something harmless stands for it."""
    return f"{module}.{name}" in REBUILT.keys() - {"numpy.dtype"} or is_lifeless(module, name)


def _looks_like_class(name: str) -> bool:
    return name.lstrip("_")[:1].isupper() or name == "make_column_selector"
