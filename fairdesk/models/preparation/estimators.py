"""What can be asked of a scikit-learn estimator, and what it is to be given.

`fairlearn.reductions.ExponentiatedGradient` draws one of several classifiers for each decision,
`fairlearn.postprocessing.ThresholdOptimizer` one of two thresholds for each group. What decides is
such a draw, so a draw is what is queried: a vote, or a mean, would be the decision of another
model.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import ModelError
from fairdesk.models.decisions.outputs import first_line
from fairdesk.models.model import Inputs, ModelCard, Takes

#: The input of a `ThresholdOptimizer` that is not one of its estimator's, as its `predict` has it.
GROUP = "sensitive_features"
_LIBRARY = "fairlearn"


class RandomisedClassifier:
    """A classifier of fairlearn's, asked as one of scikit-learn's.

    Attributes
    ----------
    model : Any
        It.
    estimators_ : list
        The estimators that it passes its inputs.
    groups : tuple
        The groups whose decisions have thresholds of their own; empty where it is not given any.
    note : str
        How it decides, one sentence.
    """

    def __init__(
        self,
        model: Any,  # noqa: ANN401 - fairlearn's
        estimators: list[Any],
        note: str,
        groups: tuple[Any, ...] = (),
    ) -> None:
        self.model, self.estimators_, self.note, self.groups = model, estimators, note, groups
        self.classes_ = np.array([0, 1])

    def predict(self, rows: Any) -> NDArray[np.intp]:  # noqa: ANN401 - a matrix or a pandas frame
        """Draw the decisions about rows.

        Raises
        ------
        ValueError
            When a row is of no group that it has thresholds for.
        """
        if not self.groups:
            drawn = self.model.predict(rows)
        else:
            framed = hasattr(rows, "iloc")
            given = rows.iloc[:, :-1] if framed else rows[:, :-1]
            group = np.asarray(rows.iloc[:, -1] if framed else rows[:, -1])
            # fairlearn itself would decide unfavourably, in silence
            strange = [each for each in dict.fromkeys(group.tolist()) if each not in self.groups]
            if strange:
                known = ", ".join(map(str, self.groups))
                raise ValueError(f"there is no threshold for “{strange[0]}”, but for {known}")
            drawn = self.model.predict(given, sensitive_features=group)
        return np.asarray(drawn).reshape(-1).astype(np.intp)


def adapted(thing: Any) -> Any:  # noqa: ANN401 - anything
    """Return a classifier of fairlearn's with scikit-learn's interface; anything else as it is."""
    kind = type(thing)
    if kind.__module__.partition(".")[0] != _LIBRARY:
        return thing
    if kind.__name__ == "GridSearch" and hasattr(thing, "best_idx_"):
        return thing.predictors_[thing.best_idx_]
    if kind.__name__ == "ThresholdOptimizer" and hasattr(thing, "interpolated_thresholder_"):
        groups = tuple(thing.interpolated_thresholder_.interpolation_dict)
        note = (
            "Near the threshold of a group its decisions are drawn at random, so the same row can "
            f"get another decision each time. Its input “{GROUP}” is the group of a row, one of: "
            f"{', '.join(map(str, groups))}."
        )
        return RandomisedClassifier(thing, [thing.estimator_], note, groups)
    if kind.__name__ == "ExponentiatedGradient" and hasattr(thing, "_hs"):
        return _of_several(thing)
    return thing


def _of_several(thing: Any) -> Any:  # noqa: ANN401 - fairlearn's
    # of numbers it draws estimates, which are no decisions
    if not any(each.__name__ == "ClassificationMoment" for each in type(thing.constraints).__mro__):
        return thing
    drawn = [thing.predictors_[i] for i, weight in thing.weights_.items() if weight > 0]
    # where all labels are equal there is a constant, which knows no inputs
    drawn.sort(key=lambda each: type(each).__name__ == "DummyClassifier")
    note = (
        f"Each decision is drawn at random, by one of {len(drawn):,} classifiers with their "
        "weights, so the same row can get another decision each time."
        if len(drawn) > 1
        else ""
    )
    return RandomisedClassifier(thing, drawn, note)


#: Their decision is not where their probability passes one half.
_OWN_LIMIT = frozenset({"FixedThresholdClassifier", "TunedThresholdClassifierCV"})
#: Their probabilities may contradict their decisions; scikit-learn says so.
_SUPPORT_VECTORS = frozenset({"SVC", "NuSVC"})
_VECTORISERS = frozenset({"CountVectorizer", "HashingVectorizer", "TfidfVectorizer"})
_ENCODERS = frozenset({"OneHotEncoder", "OrdinalEncoder", "TargetEncoder"})
_NUMERIC = frozenset(
    (
        *("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "PowerTransformer"),
        *("QuantileTransformer", "KBinsDiscretizer", "PolynomialFeatures", "SplineTransformer"),
        *("KNNImputer", "IterativeImputer", "Binarizer", "Normalizer", "PCA"),
    )
)
#: Where estimators keep those that see the columns as they do, by kind; newer names first.
_WRAPPED_BY = {
    "CalibratedClassifierCV": ("calibrated_classifiers_",),
    "_CalibratedClassifier": ("estimator", "base_estimator"),
    "FixedThresholdClassifier": ("estimator_",),
    "TunedThresholdClassifierCV": ("estimator_",),
    "SelfTrainingClassifier": ("estimator_", "base_estimator_"),
    "TransformedTargetRegressor": ("regressor_",),
    "FrozenEstimator": ("estimator",),
    "RandomisedClassifier": ("estimators_",),
    **dict.fromkeys(
        (
            *("VotingClassifier", "VotingRegressor", "StackingClassifier", "StackingRegressor"),
            *("OneVsRestClassifier", "OneVsOneClassifier", "MultiOutputClassifier"),
        ),
        ("estimators_",),
    ),
}
_TREES = frozenset(
    f"{kind}{role}"
    for kind in (
        *("DecisionTree", "ExtraTree", "RandomForest", "ExtraTrees", "GradientBoosting"),
        "HistGradientBoosting",
    )
    for role in ("Classifier", "Regressor")
)
#: Under which names transformers of columns keep what they were fitted on, by version.
_NAMES = ("feature_names_in_", "_feature_names_in", "_df_columns")
#: Widths that are tried of a model that does not say how many inputs it takes.
_MOST_TRIED = 300
#: What a text input is called that has no name.
TEXT_INPUT = "text"


@dataclass(frozen=True)
class Asked:
    """What is asked of an estimator.

    Attributes
    ----------
    estimator : Any
        The classifier or regressor.
    takes, inputs, named
        As the card has them.
    classes : tuple
        Its classes as it has them; empty of a regressor.
    scores : str
        As the card has it.
    column : int, optional
        Which of several outputs.
    """

    estimator: Any
    takes: Takes
    inputs: tuple[str, ...]
    named: bool
    classes: tuple[Any, ...]
    scores: str
    column: int | None = None


def is_estimator(thing: object) -> bool:
    """Return whether a thing is a trained classifier or regressor."""
    if not hasattr(thing, "predict") or isinstance(thing, type):
        return False
    return _classes_of(thing) is not None or _estimates_numbers(thing)


def innermost(estimator: Any) -> Any:  # noqa: ANN401 - any estimator
    """Return what decides in a pipeline or a search."""
    while hasattr(estimator, "steps") or hasattr(estimator, "best_estimator_"):
        if hasattr(estimator, "steps"):
            estimator = estimator.steps[-1][1]
        else:
            estimator = estimator.best_estimator_
    return estimator


def asked_of(estimator: Any, path: Path) -> dict[str, Asked]:  # noqa: ANN401 - any estimator
    """Return what can be asked of an estimator, by the name of each output.

    Raises
    ------
    ModelError
        When it does not say how many inputs it takes.
    """
    takes, inputs, named = _inputs(estimator, path)
    if isinstance(estimator, RandomisedClassifier) and estimator.groups:
        inputs = (*inputs, GROUP if named else f"input {len(inputs) + 1}")
    classes = _classes_of(estimator)
    if classes is None:
        count = _numbers_estimated(estimator)
        columns = [None] if count == 1 else list(range(count))
        return {
            "" if column is None else f"output {column + 1}": Asked(
                estimator, takes, inputs, named, (), "values", column
            )
            for column in columns
        }
    if isinstance(classes, list):
        scores = "probabilities" if hasattr(estimator, "predict_proba") else "labels"
        return {
            f"output {i + 1}": Asked(
                estimator, takes, inputs, named, tuple(own.tolist()), scores, i
            )
            for i, own in enumerate(classes)
        }
    if _judges_each(estimator):
        scores = "probabilities" if hasattr(estimator, "predict_proba") else "labels"
        return {
            str(name): Asked(estimator, takes, inputs, named, (0, 1), scores, i)
            for i, name in enumerate(classes.tolist())
        }
    scores = _scores(estimator, len(classes))
    return {"": Asked(estimator, takes, inputs, named, tuple(classes.tolist()), scores)}


def rows_for(card: ModelCard, inputs: Inputs) -> Any:  # noqa: ANN401 - a matrix, a pandas frame or texts
    """Return rows in the form that a model of scikit-learn's kind takes."""
    if card.takes is Takes.MATRIX:
        return np.column_stack(inputs)
    if card.missing:
        inputs = [_with_missing(card, *each) for each in zip(card.inputs, inputs)]
    if not card.named and len(inputs) > 1:
        return np.column_stack([column.astype(object) for column in inputs])
    if not card.named:
        return ["" if text != text else text for text in inputs[0].tolist()]  # noqa: PLR0124 - NaN
    # pandas takes a second to load; this runs in the model's own process
    import pandas as pd  # noqa: PLC0415

    columns: dict[str, Any] = dict(zip(card.inputs, inputs))
    for name in card.missing:
        # otherwise pandas makes NaN of None
        columns[name] = pd.Series(columns[name], dtype=object)
    return pd.DataFrame(columns)


def _with_missing(card: ModelCard, name: str, cells: NDArray[Any]) -> NDArray[Any]:
    """Return an input with its missing cells as its encoder knows them."""
    if name not in card.missing:
        return cells
    known = np.array(card.missing[name], dtype=object)
    return np.where(cells == cells, cells, known)  # noqa: PLR0124 - NaN


def reads_text(estimator: Any) -> bool:  # noqa: ANN401 - any estimator
    """Return whether an estimator begins with a reader of texts."""
    first = estimator
    while hasattr(first, "steps") or hasattr(first, "best_estimator_"):
        first = first.steps[0][1] if hasattr(first, "steps") else first.best_estimator_
    return type(first).__name__ in _VECTORISERS or (
        type(first).__name__ == "FeatureUnion"
        and any(reads_text(part) for _, part in first.transformer_list)
    )


def trees_in(estimator: Any) -> bool:  # noqa: ANN401 - any estimator
    """Return whether an estimator is trees over its own inputs, whose splits can be read."""
    return type(unprepared(estimator)).__name__ in _TREES


def unprepared(estimator: Any) -> Any:  # noqa: ANN401 - any estimator
    """Return what decides in a pipeline or a search by the same inputs; else None."""
    while hasattr(estimator, "best_estimator_"):
        estimator = estimator.best_estimator_
    steps = getattr(estimator, "steps", None)
    if not steps:
        return estimator
    if any(step not in (None, "passthrough") for _, step in steps[:-1]):
        return None
    return steps[-1][1]


def takes_categories(estimator: Any) -> bool:  # noqa: ANN401 - any estimator
    """Return whether an estimator, or one that a wrapper passes its inputs, `has_categories`."""
    return any(map(has_categories, (innermost(each) for each in _firsts(estimator))))


def has_categories(estimator: Any) -> bool:  # noqa: ANN401 - any estimator
    """Return whether boosted trees were trained on categories of pandas."""
    kind = type(estimator).__name__
    if kind.startswith("LGBM"):
        return bool(getattr(getattr(estimator, "booster_", None), "pandas_categorical", None))
    if kind.startswith("XGB") and hasattr(estimator, "get_booster"):
        return "c" in (estimator.get_booster().feature_types or ())
    return False


def trains(asked: Asked) -> bool:
    """Return whether a classifier can be fitted anew; of several outputs no label is known."""
    fits = hasattr(asked.estimator, "fit") and hasattr(asked.estimator, "get_params")
    return bool(asked.classes) and asked.column is None and fits


def kinds_of_inputs(estimator: Any, inputs: tuple[str, ...]) -> tuple[str, ...]:  # noqa: ANN401 - any estimator
    """Return whether each input is a number, a text or either; empty where nothing tells."""
    if reads_text(estimator):
        return ("text",)
    kinds = ["either"] * len(inputs)
    for first in _firsts(estimator):
        for part, places in _parts(first, inputs):
            for place, kind in zip(places, _kinds_of(part, len(places))):
                # of several that see the columns one encoder knows more than what follows others
                if kinds[place] != "text":
                    kinds[place] = kind
    if isinstance(estimator, RandomisedClassifier) and estimator.groups:
        kinds[-1] = "text" if isinstance(estimator.groups[0], str) else "number"
    return tuple(kinds) if set(kinds) != {"either"} else ()


def categories_of_inputs(estimator: Any, inputs: tuple[str, ...]) -> dict[str, tuple[str, ...]]:  # noqa: ANN401 - any estimator
    """Return the texts that encoders know of inputs, as the card has them."""
    found: dict[str, tuple[str, ...]] = {}
    for name, listed, follows in _encoded(estimator, inputs):
        texts = (each if isinstance(each, str) else "" for each in listed)
        found[name] = tuple(dict.fromkeys((*texts, *[""] * follows)))
    return found


def missing_of_inputs(estimator: Any, inputs: tuple[str, ...]) -> dict[str, str | None]:  # noqa: ANN401 - any estimator
    """Return what encoders know missing cells of inputs as, as the card has it."""
    found: dict[str, str | None] = {}
    for name, listed, follows in _encoded(estimator, inputs):
        known = [each for each in listed if each is None or each == "" or each != each]  # noqa: PLR0124 - NaN
        if len(known) == 1 and known[0] in (None, "") and not follows:
            found[name] = known[0]
    return found


def _encoded(estimator: Any, inputs: tuple[str, ...]) -> Iterator[tuple[str, list[Any], bool]]:  # noqa: ANN401 - any estimator
    """Yield inputs that encoders compare with texts: these, and whether other steps come first."""
    for first in _firsts(estimator):
        for part, places in _parts(first, inputs):
            steps = [step for _, step in part.steps] if hasattr(part, "steps") else [part]
            at = next((i for i, step in enumerate(steps) if type(step).__name__ in _ENCODERS), 0)
            known = getattr(steps[at], "categories_", ())
            for place, values in zip(places, known if len(known) == len(places) else ()):
                listed = np.asarray(values, dtype=object).tolist()
                if _are_texts(listed):
                    yield inputs[place], listed, at > 0


def prose_in(estimator: Any) -> bool:  # noqa: ANN401 - any estimator
    """Return whether an estimator reads texts that people wrote, in any of its columns."""
    if reads_text(estimator):
        return True
    return any(
        reads_text(part)
        for first in _firsts(estimator)
        for _, part, _ in getattr(first, "transformers_", [])
    )


def sample_row(asked: Asked) -> list[float | str]:
    """Make up a row that an estimator should take."""
    row: list[float | str] = [0.0] * len(asked.inputs)
    if reads_text(asked.estimator):
        return ["text"]
    for part, places in _parts(_first(asked.estimator), asked.inputs):
        first = _first(part)
        categories = getattr(first, "categories_", None)
        if categories is None and hasattr(part, "steps"):
            encoders = [step for _, step in part.steps if hasattr(step, "categories_")]
            categories = encoders[0].categories_ if encoders else None
        for place, values in zip(places, categories or []):
            row[place] = values[0]
        if reads_text(part):
            row[places[0]] = "text"
    if isinstance(asked.estimator, RandomisedClassifier) and asked.estimator.groups:
        row[-1] = asked.estimator.groups[0]
    return row


def _inputs(estimator: Any, path: Path) -> tuple[Takes, tuple[str, ...], bool]:  # noqa: ANN401 - any estimator
    if reads_text(estimator):
        return Takes.COLUMNS, (TEXT_INPUT,), False
    names = _names_taken(estimator)
    if names is not None:
        return Takes.COLUMNS, tuple(str(name) for name in names), True
    count = getattr(estimator, "n_features_in_", getattr(_first(estimator), "n_features_in_", None))
    if not isinstance(count, (int, np.integer)):
        count = _count_taken(estimator)
    if count is None:
        raise ModelError(
            f"“{path.name}” does not state how many inputs it takes.",
            why=_why_none(estimator),
            remedy="Ask for it saved again with scikit-learn 1.0 or newer, fitted on a table with "
            "names (a pandas DataFrame), or exported as ONNX.",
        )
    return Takes.MATRIX, tuple(f"input {i}" for i in range(1, int(count) + 1)), False


def _names_taken(estimator: Any) -> Any:  # noqa: ANN401 - any estimator
    """Return the names of the columns that an estimator was fitted on; None where it keeps none."""
    first = _first(estimator)
    for whose, name in ((estimator, "feature_names_in_"), *((first, key) for key in _NAMES)):
        names = getattr(whose, name, None)
        if names is not None and len(np.shape(names)) == 1:
            return names
    # before 0.22 nothing kept them but the list of which column goes where
    parts = [
        columns
        for _, part, columns in getattr(first, "transformers_", ())
        if not (isinstance(part, str) and part == "drop")
    ]
    if type(first).__name__ == "DataFrameMapper":
        parts = [part[0] for part in first.features]
    named = [_listed(columns) for columns in parts]
    if any(columns is None for columns in named):
        return None
    return tuple(dict.fromkeys(each for columns in named for each in columns or ())) or None


def _listed(columns: Any) -> list[str] | None:  # noqa: ANN401 - as columns are chosen
    """Return the columns that are chosen, where they are named."""
    columns = [columns] if isinstance(columns, str) else columns
    if not isinstance(columns, (list, tuple, np.ndarray)):
        return None
    return [str(each) for each in columns] if all(isinstance(c, str) for c in columns) else None


def _count_taken(estimator: Any) -> int | None:  # noqa: ANN401 - any estimator
    """Find how many inputs an old model takes by asking it: the one width that it does not refuse.

    Models of scikit-learn before 0.24 do not say it in one way; what refuses all widths but one
    takes that one.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        taken = [width for width in range(1, _MOST_TRIED + 1) if _takes(estimator, width)]
    return taken[0] if len(taken) == 1 else None


def _why_none(estimator: Any) -> str:  # noqa: ANN401 - any estimator
    """Return why an estimator takes no single width."""
    try:
        estimator.predict(np.zeros((1, 1)))
    except Exception as error:  # noqa: BLE001 - any kind: the model's own code runs
        return f"Queried with rows of all widths, it reported: {first_line(error)}"
    return "It takes rows of several widths."


def _takes(estimator: Any, width: int) -> bool:  # noqa: ANN401 - any estimator
    try:
        estimator.predict(np.zeros((1, width)))
    except Exception:  # noqa: BLE001 - any kind: the model's own code runs
        return False
    return True


def _classes_of(estimator: Any) -> Any:  # noqa: ANN401 - an array, a list of arrays, or None
    """Return an estimator's classes; a list of several outputs' ones; None when it has none."""
    try:
        classes = getattr(estimator, "classes_", None)
    except Exception:  # noqa: BLE001 - any kind: a property of the file's own class
        return None
    if isinstance(classes, (list, tuple)) and classes:
        parts = [np.asarray(part) for part in classes]
        if all(part.ndim == 1 and len(part) > 1 for part in parts):
            return parts
        classes = np.asarray(classes)
    if isinstance(classes, np.ndarray) and classes.ndim == 1 and len(classes) > 1:
        return classes
    return None


def _estimates_numbers(estimator: Any) -> bool:  # noqa: ANN401 - any estimator
    # scikit-learn takes seconds to load; whoever asks has an estimator of its kind
    from sklearn.base import is_regressor  # noqa: PLC0415
    from sklearn.exceptions import NotFittedError  # noqa: PLC0415
    from sklearn.utils.validation import check_is_fitted  # noqa: PLC0415

    try:
        if not is_regressor(estimator):
            return False
        check_is_fitted(estimator)
    except (NotFittedError, AttributeError, TypeError):
        return False
    return True


def _numbers_estimated(regressor: Any) -> int:  # noqa: ANN401 - any regressor
    last = innermost(regressor)
    count = getattr(last, "n_outputs_", None)
    if count is None and hasattr(last, "estimators_") and "Multi" in type(last).__name__:
        count = len(last.estimators_)
    if count is None and "Chain" in type(last).__name__:
        count = len(last.estimators_)
    if count is None:
        weights = getattr(last, "coef_", None)
        shape: tuple[int, ...] = np.shape(weights) if weights is not None else ()
        count = shape[0] if len(shape) == 2 else 1
    return int(count)


def _judges_each(estimator: Any) -> bool:  # noqa: ANN401 - any classifier
    """Return whether each of the classes is judged by itself, so that several may hold."""
    last = innermost(estimator)
    if getattr(last, "multilabel_", False):
        return True
    binarizer = getattr(last, "_label_binarizer", None)
    return getattr(binarizer, "y_type_", "") == "multilabel-indicator"


def _scores(estimator: Any, classes: int) -> str:  # noqa: ANN401 - any classifier
    """Choose what to ask: probabilities, unless the classifier decides by something else."""
    kind = type(innermost(estimator)).__name__
    if kind in _OWN_LIMIT or (kind in _SUPPORT_VECTORS and classes > 2):
        return "labels"
    if hasattr(estimator, "predict_proba") and kind not in _SUPPORT_VECTORS:
        return "probabilities"
    return "scores" if hasattr(estimator, "decision_function") else "labels"


def _first(estimator: Any) -> Any:  # noqa: ANN401 - any estimator
    """Return what sees the columns first; of several, one."""
    return next(_firsts(estimator))


def _firsts(estimator: Any) -> Iterator[Any]:  # noqa: ANN401 - any estimator
    """Yield all that see the columns first, in whatever wraps them."""
    wrapped = _wrapped(estimator)
    if not wrapped:
        yield estimator
    for each in wrapped:
        yield from _firsts(each)


def _wrapped(estimator: Any) -> list[Any]:  # noqa: ANN401 - any estimator
    """Return the estimators to which another passes its own columns."""
    if hasattr(estimator, "steps"):
        return [step for _, step in estimator.steps if step not in (None, "passthrough")][:1]
    for name in ("best_estimator_", *_WRAPPED_BY.get(type(estimator).__name__, ())):
        inner = getattr(estimator, name, None)
        if inner is not None:
            listed = inner if isinstance(inner, list) else [inner]
            return [each for each in listed if not isinstance(each, str)]
    return []


def _parts(transformer: Any, inputs: tuple[str, ...]) -> list[tuple[Any, list[int]]]:  # noqa: ANN401 - any transformer
    """Return what handles which columns, by their places; none where they are not stated."""
    if not hasattr(transformer, "transformers_"):
        return [(transformer, list(range(len(inputs))))]
    parts = []
    for _, part, columns in transformer.transformers_:
        with suppress(TypeError, ValueError, IndexError):
            parts.append((part, places_of(columns, inputs, len(inputs))))
    return parts


def places_of(columns: Any, names: Sequence[str], width: int) -> list[int]:  # noqa: ANN401 - however columns are told
    """Return the positions of the columns that a part of a ColumnTransformer takes.

    Raises
    ------
    ValueError, IndexError
        When it does not state them, or one is not there.
    """
    if isinstance(columns, slice):
        if isinstance(columns.start, str) or isinstance(columns.stop, str):
            first = names.index(columns.start) if columns.start is not None else 0
            last = names.index(columns.stop) if columns.stop is not None else width - 1
            return list(range(width))[first : last + 1 : columns.step]
        return list(range(width))[columns]
    if isinstance(columns, (str, int, np.integer)):
        columns = [columns]
    listed = [getattr(each, "item", lambda each=each: each)() for each in list(columns)]
    if listed and all(isinstance(each, bool) for each in listed):
        return [i for i, taken in enumerate(listed) if taken]
    if not all(isinstance(each, (str, int)) for each in listed):
        raise ValueError("which columns its transformers use is not stated")
    return [
        names.index(each) if isinstance(each, str) else range(width)[int(each)] for each in listed
    ]


def _kinds_of(part: Any, count: int) -> list[str]:  # noqa: ANN401 - any estimator
    if reads_text(part):
        return ["text"] * count
    steps = [step for _, step in part.steps] if hasattr(part, "steps") else [part]
    for step in steps:
        kind = type(step).__name__
        if kind in _ENCODERS:
            categories = [np.asarray(values) for values in getattr(step, "categories_", [])]
            if len(categories) == count:
                return ["text" if _are_texts(v.tolist()) else "number" for v in categories]
            return ["either"] * count
        if kind in _NUMERIC:
            return ["number"] * count
    last = steps[-1]
    if isinstance(last, str) or not hasattr(last, "predict"):
        return ["either"] * count
    # estimators on plain columns take numbers; a few know categories of their own
    own = getattr(last, "is_categorical_", None) is not None or getattr(
        last, "enable_categorical", False
    )
    return ["either" if own or type(last).__name__.startswith("LGBM") else "number"] * count


def _are_texts(categories: list[Any]) -> bool:
    """Return whether an encoder compares with texts: not with numbers, or truth values."""
    return any(isinstance(each, str) for each in categories)


@contextmanager
def alone() -> Iterator[None]:
    """Compute in this thread: batches are small, and processes of its own a model may not have."""
    # a quarter of a second to load; the model brought it along
    import joblib  # noqa: PLC0415

    with joblib.parallel_config(backend="sequential"), warnings.catch_warnings():
        # an array where a frame was seen in training: columns are in order all the same
        warnings.filterwarnings("ignore", "X (does not have|has) .*feature names", UserWarning)
        yield


def transformed(steps: Iterable[tuple[str, Any]], rows: Any, *, numbers: bool) -> Any:  # noqa: ANN401 - as a library takes and gives them
    """Apply fitted transformers, one after the other; where ``numbers``, give a dense matrix.

    Raises
    ------
    ModelError
        When one of them refuses the rows.
    """
    count, name = len(rows), ""
    try:
        for name, transformer in steps:  # noqa: B007 - told when it fails
            rows = transformer.transform(rows)
        return matrix_of(rows) if numbers else rows
    except Exception as error:
        # any kind: the file's own code may run
        raise ModelError(
            f"“{name}”, which is applied before the model, rejected {count:,} rows.",
            why=f"It reported: {first_line(error)}",
            remedy="Check that each input is made from the right column; missing cells and "
            "values that it has never seen are other causes.",
        ) from error


def matrix_of(rows: Any) -> NDArray[np.float64]:  # noqa: ANN401 - as above
    """Return rows as a dense matrix, whatever a library made of them."""
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, np.float64)
