"""Classifiers of fairlearn's with the interface of scikit-learn's.

`fairlearn.reductions.ExponentiatedGradient` draws one of several classifiers for each decision,
`fairlearn.postprocessing.ThresholdOptimizer` one of two thresholds for each group. What decides is
such a draw, so a draw is what is queried: a vote, or a mean, would be the decision of another
model.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

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
