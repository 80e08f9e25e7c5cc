"""Methods of other kinds that the same model is trained with, to stand beside.

None of them adds rows, and none is chosen by itself: they say what else could be had for the same
accuracy. They see the groups that the protected attributes make together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from msgspec.structs import replace
from numpy.typing import ArrayLike, NDArray

from fairdesk.errors import ModelError
from fairdesk.groups.metrics.grouping import divide
from fairdesk.mitigate.context import MitigationContext
from fairdesk.mitigate.methods.trial_runner import Repairing, Trainer
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import How, Inputs, Takes, labels
from fairdesk.models.retrain.losses import TrainingSet
from fairdesk.results.events import Event, Rows, Scores

if TYPE_CHECKING:
    from fairlearn.preprocessing import CorrelationRemover

#: The methods by name.
REWEIGHING = "Reweighing"
REDUCTIONS = "Exponentiated gradient"
REMOVER = "Correlation remover"
#: The reduction goes on at most so many rounds, each with a model or two.
MOST_ROUNDS = 12
_VOTING = (
    f"{REDUCTIONS} trains several models and, as published, draws one of them at random for each "
    "decision. Here all of them vote, each with the weight with which it would be drawn, so that "
    "equal instances always receive the same decision. Such a vote cannot be saved as a file."
)
#: Meanwhile it is asked this often whether it is done.
_TELL_SECONDS = 0.2


def beside(repair: Repairing) -> Iterator[Event]:
    """Train the model by the other methods that were asked for."""
    compare = repair.options.compare
    if compare == "none" or not repair.sound:
        return
    yield from repair.other(REWEIGHING, lambda phase: _reweighed(repair, phase))
    if compare == "all":
        yield from repair.other(REDUCTIONS, lambda phase: _reduced(repair, phase), whole=False)
        yield from repair.other(REMOVER, lambda phase: _uncorrelated(repair, phase), whole=False)
        if any(each.name == REDUCTIONS and not each.failed for each in repair.trials):
            repair.notes.append(_VOTING)


def joint_groups(mitigation: MitigationContext, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the groups apart that all protected attributes make together: ``(n,)``, of these rows.

    Numbers are divided as in the tables of rates; a missing cell makes a group of its own.

    Raises
    ------
    ModelError
        When no attribute is protected: a model that reads texts may have none.
    """
    if not mitigation.domain.grouping:
        raise ModelError("No attribute is protected, so this method has no groups.")
    places = [
        divide(each, mitigation.groups[rows, i], mitigation.edges.get(each.name, ())).place
        for i, each in enumerate(mitigation.domain.grouping)
    ]
    _, group = np.unique(np.column_stack(places), axis=0, return_inverse=True)
    return np.asarray(group, dtype=np.intp).reshape(-1)


def reweighed(group: NDArray[np.intp], target: NDArray[np.int64]) -> NDArray[np.float64]:
    """Weigh rows so that label and group do not hang together: P(group) P(label) / P(both).

    F. Kamiran and T. Calders, "Data Preprocessing Techniques for Classification without
    Discrimination", Knowledge and Information Systems 33 (2012), Algorithm 3.

    Parameters
    ----------
    group, target : NDArray
        ``(n,)`` each; numbered from 0.

    Returns
    -------
    NDArray[np.float64]
        ``(n,)``.
    """
    both = np.zeros((int(group.max()) + 1, int(target.max()) + 1))
    np.add.at(both, (group, target), 1.0)
    expected = np.outer(both.sum(axis=1), both.sum(axis=0)) / len(group)
    return np.asarray(expected[group, target] / both[group, target])


def _reweighed(repair: Repairing, phase: str) -> Trainer:
    mitigation, train = repair.mitigation, repair.parts.train
    weights = reweighed(joint_groups(mitigation, train), mitigation.target[train])
    return repair.train(phase, weights=weights)


def _reduced(repair: Repairing, phase: str) -> Trainer:
    """Train many models, each with other labels and weights, and let them vote.

    A. Agarwal et al., "A Reductions Approach to Fair Classification", ICML 2018, as fairlearn has
    it, for demographic parity. Its classifier draws one of the models for each person. A decision
    that hangs on a die is none to audit, so here all of them vote, each with the weight that it
    would be drawn with, and more than half of the weight decides.
    """
    # loads pandas
    from fairlearn.reductions import DemographicParity, ExponentiatedGradient  # noqa: PLC0415

    mitigation, train = repair.mitigation, repair.parts.train
    if len(mitigation.model.opened.card.classes) != 2:
        raise ModelError("Fairlearn’s reductions support two classes only.")
    learner = _Learner(repair, mitigation.rows[train], [])
    reduction = ExponentiatedGradient(learner, DemographicParity(), max_iter=MOST_ROUNDS)
    # it cannot tell how far it is, nor be told to end, but from another thread
    with ThreadPoolExecutor(1) as pool:
        fitting = pool.submit(
            reduction.fit,
            np.arange(len(train))[:, None],
            mitigation.target[train],
            sensitive_features=joint_groups(mitigation, train),
        )
        try:
            while wait([fitting], _TELL_SECONDS).not_done:
                done = min(len(learner.models), MOST_ROUNDS)
                yield repair.progress(phase, done, MOST_ROUNDS)
        except GeneratorExit:
            mitigation.request_finish()
            raise
    try:
        fitting.result()
    except _EndRequested:
        return None
    weights = reduction.weights_
    votes = [(weights[i], each) for i, each in reduction.predictors_.items() if weights[i] > 0]
    return _Voting(mitigation.model, votes)


class _EndRequested(Exception):  # noqa: N818
    """The training was left because the repair is to come to its end."""


class _Learner:
    """What a reduction takes for an estimator: it knows rows by their places only.

    Parameters
    ----------
    rows : Rows
        ``(n, d)``; those to train with.
    models : list[FedModel]
        Where every trained model is put; one list for all that are cloned from another.
    """

    def __init__(self, repair: Repairing, rows: Rows, models: list[FedModel]) -> None:
        self.models = models
        self.model: FedModel | None = None
        self._repair, self._rows = repair, rows

    def __sklearn_clone__(self) -> _Learner:
        return _Learner(self._repair, self._rows, self.models)

    def fit(self, places: ArrayLike, target: ArrayLike, sample_weight: ArrayLike) -> _Learner:
        """Train with ``(n, 1)`` places, ``(n,)`` labels and weights."""
        training_set = TrainingSet(
            self._rows[_flat(places)],
            np.asarray(target, dtype=np.int64),
            np.asarray(sample_weight, dtype=np.float64),
        )
        training = self._repair.refit(self._repair.mitigation.model, training_set, "")
        while self.model is None:
            try:
                next(training)
            except StopIteration as end:
                if end.value is None:
                    raise _EndRequested from None
                self.model = end.value
        self.models.append(self.model)
        return self

    def predict(self, places: ArrayLike) -> NDArray[np.intp]:
        """Decide about ``(n, 1)`` places."""
        return self.decide(self._rows[_flat(places)])

    def decide(self, rows: Rows) -> NDArray[np.intp]:
        """Decide about ``(n, d)`` rows."""
        return labels(cast("FedModel", self.model).predict(rows))


def _flat(places: ArrayLike) -> NDArray[np.intp]:
    return np.asarray(places, dtype=np.intp).reshape(-1)


class _Voting(FedModel):
    """Several models that decide together: its score is the weight of those for the second class.

    Parameters
    ----------
    votes : sequence of (float, estimator)
        Each one's weight, and a `_Learner`, or what answers the same for everybody.
    """

    def __init__(self, model: FedModel, votes: Sequence[tuple[float, Any]]) -> None:
        # what they vote for are decisions: no threshold is between
        mapping = replace(model.mapping, outcomes=(), threshold=None)
        super().__init__(model.opened, mapping, model.attributes)
        self._votes = votes

    def answers(self, rows: Rows) -> Scores:
        """As `FedModel.answers`."""
        share = np.zeros(len(rows))
        for weight, each in self._votes:
            decide = each.decide if isinstance(each, _Learner) else each.predict
            share += weight * decide(rows)
        return share[:, None].astype(np.float32)


def _uncorrelated(repair: Repairing, phase: str) -> Trainer:
    """Train on inputs from which what hangs linearly on the protected ones was taken.

    The protected inputs themselves become their mean, so that the model is still given as many.
    """
    # loads narwhals and scikit-learn
    from fairlearn.preprocessing import CorrelationRemover  # noqa: PLC0415

    mitigation, train = repair.mitigation, repair.parts.train
    model, rows = mitigation.model, mitigation.rows[train]
    protected = {model.attributes[i].name for i in mitigation.domain.protected.tolist()}
    inputs = [
        i
        for i, each in enumerate(model.mapping.inputs)
        if each.how is not How.CONSTANT and each.attribute in protected
    ]
    numbers = _numbers(model, rows)
    if not inputs or numbers is None or not np.isfinite(numbers).all():
        raise ModelError(
            "The correlation remover cannot be used with this model.",
            why="It needs numbers, and this model takes categories or missing cells."
            if inputs
            else "It removes correlations with protected inputs, and this model has none.",
        )
    remover = CorrelationRemover(sensitive_feature_ids=inputs).fit(numbers)
    fed = _Uncorrelated(model, remover)
    trained = yield from repair.refit(fed, TrainingSet(rows, mitigation.target[train]), phase)
    if trained is None:
        return None
    fed.opened = trained.opened
    return fed


def _numbers(model: FedModel, rows: Rows) -> NDArray[np.float64] | None:
    """Return the numbers that a model is given, ``(n, inputs)``; ``None`` where they are none."""
    if model.opened.card.takes is Takes.MATRIX:
        return model.matrix(rows)
    columns = model.columns(rows)
    if any(each.dtype != np.float64 for each in columns):
        return None
    return np.column_stack(columns)


class _Uncorrelated(FedModel):
    """A model whose inputs go through a correlation remover."""

    def __init__(self, model: FedModel, remover: CorrelationRemover) -> None:
        super().__init__(model.opened, model.mapping, model.attributes)
        self._remover = remover

    def matrix(self, rows: Rows) -> NDArray[np.float64]:
        """As `FedModel.matrix`."""
        return self._removed(super().matrix(rows))

    def columns(self, rows: Rows) -> Inputs:
        """As `FedModel.columns`."""
        return list(self._removed(np.column_stack(super().columns(rows))).T)

    def _removed(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        protected = list(self._remover.sensitive_feature_ids)
        made = np.empty(numbers.shape)
        made[:, protected] = self._remover.sensitive_mean_
        made[:, np.setdiff1d(np.arange(numbers.shape[1]), protected)] = self._remover.transform(
            numbers
        )
        return made
