"""Fitting a scikit-learn estimator anew, with its parameters, on other rows.

What is kept, and what is learnt anew:

* A search for parameters (`GridSearchCV` and its kind) is not made again: the best estimator that
  it found is fitted. What chooses while it is fitted (a threshold, a calibration, columns) does so
  again.
* Encoders keep the values that they know, so that nobody whom the imported model answers for is a
  stranger to the new one.
* A classifier that was frozen, so that another part could be built on it (`FrozenEstimator`,
  ``cv="prefit"``), has learnt from the rows and is fitted again too; what is built on it comes from
  cross-validation, as scikit-learn does unless told otherwise. A frozen transformer stays.
* Boosting that ended early by rows of its own takes as many rounds as it found best.
* Every ``random_state``, of all parts, is the seed where it is a whole number or left open. A
  generator is copied as it stands. Whatever has no such parameter (a cross-validation that
  shuffles, a step of the maker's own) draws from NumPy's global generator, which is seeded
  meanwhile.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.errors import ModelError
from fairdesk.models.preparation.estimators import alone
from fairdesk.models.retrain.losses import training_errors
from fairdesk.models.sklearn.file import ScikitModel, other_versions

if TYPE_CHECKING:
    from fairdesk.models.retrain.losses import TrainingBatch

_ENCODERS = frozenset({"OneHotEncoder", "OrdinalEncoder", "TargetEncoder"})
#: They hand weights on to all that they are made of, without taking them by name.
_COMMITTEES = frozenset({"StackingClassifier", "VotingClassifier"})
#: What ends boosting early, by rows that are given beside.
_EARLY_STOPS = ("early_stopping_rounds", "early_stopping_round")
#: Seeds of scikit-learn are smaller.
_SEEDS = 1 << 32


def refit_scikit(model: ScikitModel, training_set: TrainingBatch, seed: int) -> ScikitModel:
    """Fit a model's estimator anew; the one given stays as it is.

    Parameters
    ----------
    lesson : Taught
        Rows as the estimator takes them.

    Returns
    -------
    ScikitModel
        With the same card; its ``sha256`` is empty, for it lies in no file.

    Raises
    ------
    ModelError
        When the estimator cannot be copied or fitted, or cannot weigh rows that have weights;
        when there is not enough memory.
    """
    with _quietly(model, len(training_set.targets)), _seeded(seed):
        estimator = _unfitted(model.estimator)
        _set_up(estimator, model.estimator, seed)
        more = (
            {}
            if training_set.weights is None
            else _weight_arguments(estimator, training_set.weights)
        )
        labels = np.asarray(model.estimator.classes_)[training_set.targets]
        estimator.fit(training_set.given, labels, **more)
    card = msgspec.structs.replace(model.card, sha256="")
    return ScikitModel(card, estimator, replace(model.asked, estimator=estimator))


@contextmanager
def _quietly(model: ScikitModel, rows: int) -> Iterator[None]:
    """Run an estimator's own code without its output and warnings; its errors are passed on."""
    heard = io.StringIO()
    enough = "Close other programs, or audit with fewer rows."
    with (
        training_errors(rows, enough=enough, also=other_versions(model.card)),
        alone(),
        redirect_stdout(heard),
        redirect_stderr(heard),
    ):
        yield


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seed NumPy's global generator, and restore its state afterwards."""
    # it is scikit-learn's own when nothing else is given
    before = np.random.get_state()  # noqa: NPY002
    np.random.seed(seed % _SEEDS)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002


def _unfitted(estimator: Any) -> Any:  # noqa: ANN401 - any estimator
    """Copy an estimator without what it has learnt, and without searches and frozen classifiers."""
    from sklearn.base import clone  # noqa: PLC0415 - loaded with the model

    estimator = _best_estimator(estimator)
    copy = clone(estimator)
    replaced: dict[str, Any] = {}
    # the outer parts come before what they are made of
    for name, part in sorted(estimator.get_params().items(), key=lambda item: item[0].count("__")):
        if any(name.startswith(f"{outer}__") for outer in replaced):
            continue
        if hasattr(part, "best_estimator_"):
            replaced[name] = _unfitted(part)
        elif type(part).__name__ == "FrozenEstimator" and hasattr(part, "classes_"):
            replaced[name] = _unfitted(part.estimator)
    return copy.set_params(**replaced)


def _best_estimator(estimator: Any) -> Any:  # noqa: ANN401 - any estimator
    """Return what a search has found best, and what was frozen; else the estimator itself."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif type(estimator).__name__ == "FrozenEstimator":
            estimator = estimator.estimator
        else:
            return estimator


def _set_up(copy: Any, fitted: Any, seed: int) -> None:  # noqa: ANN401 - any estimator
    """Set what must not be as it was in an unfitted copy, and keep what it must know."""
    fitted = _best_estimator(fitted)
    before = fitted.get_params()
    for name, value in copy.get_params().items():
        outer, _, last = name.rpartition("__")
        if last == "random_state" and _is_seed(value):
            copy.set_params(**{name: seed % _SEEDS})
        elif last == "cv" and _splits_those_rows(value):
            copy.set_params(**{name: None})
        elif last in _EARLY_STOPS and value is not None:
            rounds = _best_rounds(before.get(outer) if outer else fitted)
            found = {f"{outer}__n_estimators".removeprefix("__"): rounds} if rounds else {}
            copy.set_params(**{name: None, **found})
    _keep_values(copy, fitted)


def _is_seed(value: object) -> bool:
    return value is None or (isinstance(value, int | np.integer) and not isinstance(value, bool))


def _splits_those_rows(cv: object) -> bool:
    """Return whether a cross-validation is one of the very rows that the model was made with."""
    if cv is None or isinstance(cv, int | np.integer):
        return False
    kind = type(cv).__name__
    return not hasattr(cv, "split") or kind in ("PredefinedSplit", "_CVIterableWrapper", "str")


def _best_rounds(booster: object) -> int:
    """Return how many rounds an early stop has found best; 0 where nothing tells."""
    last = getattr(booster, "best_iteration", None)
    return int(last) + 1 if last is not None else int(getattr(booster, "best_iteration_", 0) or 0)


def _keep_values(copy: Any, fitted: Any) -> None:  # noqa: ANN401 - any estimator
    """Give encoders the categories that the fitted ones know."""
    fitted = _best_estimator(fitted)
    known = getattr(fitted, "categories_", None)
    if type(copy).__name__ not in _ENCODERS or known is None:
        for own, theirs in _parts(copy, fitted):
            _keep_values(own, theirs)
    elif isinstance(copy.categories, str):
        copy.set_params(categories=list(known))


def _parts(copy: Any, fitted: Any) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401 - any estimator
    """Pair what an unfitted copy is made of with the fitted parts of the same name."""
    theirs: Any
    if hasattr(copy, "steps"):
        own, theirs = copy.steps, getattr(fitted, "steps", ())
    elif hasattr(copy, "transformers"):
        own, theirs = copy.transformers, getattr(fitted, "transformers_", ())
    elif hasattr(copy, "transformer_list"):
        own, theirs = copy.transformer_list, getattr(fitted, "transformer_list", ())
    elif hasattr(copy, "estimators"):
        own, theirs = copy.estimators, getattr(fitted, "named_estimators_", {}).items()
    else:
        calibrated = getattr(fitted, "calibrated_classifiers_", None)
        inner = calibrated[0].estimator if calibrated else getattr(fitted, "estimator_", None)
        if inner is not None and hasattr(copy, "estimator"):
            yield copy.estimator, inner
        return
    named = {name: part for name, part, *_ in theirs}
    for name, part, *_ in own:
        if name in named:
            yield part, named[name]


def _weight_arguments(
    estimator: Any,  # noqa: ANN401 - any estimator
    weights: NDArray[np.float64],
) -> dict[str, NDArray[np.float64]]:
    """Return the keyword argument that hands weights to an estimator, or a pipeline’s last step.

    Raises
    ------
    ModelError
        When it does not take any.
    """
    way = ""
    while hasattr(estimator, "steps"):
        name, estimator = estimator.steps[-1]
        way += f"{name}__"
    if not _takes_weights(estimator):
        raise ModelError(
            f"“{type(estimator).__name__}” cannot weight the rows that it is trained with.",
            why="It gives all rows the same weight.",
            remedy="Choose a method that adds rows instead of weighting them.",
        )
    return {f"{way}sample_weight": weights}


def _takes_weights(estimator: Any) -> bool:  # noqa: ANN401 - any estimator
    from sklearn.utils.validation import has_fit_parameter  # noqa: PLC0415 - as above

    if type(estimator).__name__ in _COMMITTEES:
        parts = [part for _, part in estimator.estimators if not isinstance(part, str)]
        final = getattr(estimator, "final_estimator", None)
        return all(map(_takes_weights, [*parts, *([] if final is None else [final])]))
    inner = getattr(estimator, "estimator", None)
    takes = bool(has_fit_parameter(estimator, "sample_weight"))
    return takes and (not hasattr(inner, "fit") or _takes_weights(inner))
