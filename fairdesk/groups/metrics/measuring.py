"""Group figures: how each protected group fares, and each intersection of groups.

Observed, in the rows of the data: by their label, by the model's own decisions about them, and by
its scores. 29 CFR 1607.4(D); 6 RCNY 5-301 (rule of July 2023); ISO/IEC TR 24027:2021.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from time import perf_counter
from typing import Literal

import msgspec
import numpy as np

from fairdesk.data.domain.attributes import Attribute
from fairdesk.groups.context import GroupContext
from fairdesk.groups.metrics.error_rates import calibrated, judged, scored
from fairdesk.groups.metrics.grouping import Division, Mask, cross, crossings, divide
from fairdesk.groups.metrics.outcomes import counted
from fairdesk.groups.metrics.significance import compared
from fairdesk.groups.options import MeasureOptions
from fairdesk.individual.engine.sampling import Pace
from fairdesk.models.decisions.rule import VALUES, own_number
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import Capability, How, Mapping, favourable_scores, labels
from fairdesk.results.events import Event, Measured, Progress, Rows, Scores, timed
from fairdesk.results.groups import GroupTable

#: Figures are told anew after so many seconds.
_TELL_SECONDS = 0.5


def search(
    context: GroupContext,
    people: Rows,  # noqa: ARG001 - who lies in the domain does not matter: nobody is invented
    options: MeasureOptions,
    rng: np.random.Generator,  # noqa: ARG001 - nothing is drawn
) -> Iterator[Event]:
    """Measure how groups fare.

    Labels first: no model has to be asked for these. Then decisions and scores of everybody whom
    the model can be asked about, whether or not they lie in the domain.

    Parameters
    ----------
    study : GroupContext
        The data, and the model or its decisions.
    people, rng
        Not used.
    options : MeasureOptions
        The parameters.

    Yields
    ------
    Event
        `Progress`, and `Measured` with the tables so far.

    Raises
    ------
    ModelError
        When the model refuses rows.
    """
    return timed(_measure(context, options))


@dataclass(frozen=True)
class _Sample:
    """People and what became of them.

    Attributes
    ----------
    of, outcome
        As of `GroupTable`.
    known, favourable_mask : NDArray[np.bool_]
        ``(n,)``; who has an outcome, and a favourable one.
    label : Rows, optional
        ``(n,)``; what decisions or scores are judged by: as of `GroupContext`.
    scores : Rows, optional
        ``(n,)``.
    probable : bool
        Whether scores are probabilities.
    """

    of: Literal["label", "decisions", "scores"]
    outcome: str
    known: Mask
    favourable_mask: Mask
    label: Rows | None = None
    scores: Rows | None = None
    probable: bool = False

    def table(self, divisions: Sequence[Division], least_share: float) -> GroupTable:
        """Make the table of one or several attributes."""
        groups, favourable_mask = cross(divisions, self.known), self.favourable_mask[self.known]
        label = None if self.label is None else self.label[self.known]
        table = compared(
            counted(
                groups,
                favourable_mask,
                of=self.of,
                outcome=self.outcome,
                without=int((~self.known).sum()),
                least_share=least_share,
            )
        )
        if self.scores is None:
            return table if label is None else judged(table, groups, favourable_mask, label)
        scores = self.scores[self.known]
        # where all are equal, rounding would make a deviation of its own
        deviation = float(scores.std()) if np.ptp(scores) else 0.0
        table = scored(table, groups, scores, deviation)
        if label is not None and self.probable:
            table = calibrated(table, groups, scores, label)
        median = float(np.median(scores))
        ties = float((scores == median).mean())
        return msgspec.structs.replace(table, median=median, ties=ties)


def _measure(context: GroupContext, options: MeasureOptions) -> Iterator[Event]:
    tables = _Tables(context, options.least_share)
    label = _truth(context)
    if label is not None:
        labelled = _Sample("label", context.favourable_label, ~np.isnan(label), label == 1)
        yield from tables.of("labels", [labelled])
    if context.model is None:
        samples = _recorded(context, options, label)
    else:
        can = askable(context.rows, context.domain.attributes, context.model.mapping)
        answers = yield from _ask(context, can)
        samples = _answered(context, context.model, options, label, can, answers)
    yield from tables.of("decisions", list(samples))


def _truth(context: GroupContext) -> Rows | None:
    """Return the labels, if there are any that are not the decisions themselves."""
    if np.isnan(context.label).all():
        return None
    same = context.model is None and np.array_equal(context.label, context.decided, equal_nan=True)
    return None if same else context.label


def askable(rows: Rows, attributes: Sequence[Attribute], mapping: Mapping) -> Mask:
    """Return which rows a model can be asked about: ``(n,)``; none of what it is fed is missing."""
    fed = {item.attribute for item in mapping.inputs if item.how is not How.CONSTANT}
    places = [i for i, attribute in enumerate(attributes) if attribute.name in fed]
    return np.asarray(~np.isnan(rows[:, places]).any(axis=1))


def _ask(context: GroupContext, can: Mask) -> Generator[Event, None, Scores]:
    """Query the model about the rows it can be asked about: ``(m, k)``."""
    rows, answers = context.rows[can], list[Scores]()
    done = 0
    for part in Pace(1, context=context).parts(len(rows)):
        yield _progress(context, "answers", done, len(rows))
        answers.append(context.predict(rows[part]))
        done += len(answers[-1])
    yield _progress(context, "answers", done, len(rows))
    return np.concatenate([*answers, np.empty((0, answers[0].shape[1] if answers else 1))])


def _wanted(context: GroupContext, options: MeasureOptions) -> Iterator[tuple[int, str]]:
    """Yield the decisions that are counted, each with its name."""
    for place, name in enumerate(context.decisions):
        if place == context.favourable or options.outcome == "each":
            yield place, name


def _judge(context: GroupContext, wanted: int, label: Rows | None) -> Rows | None:
    """Return who should get a decision; where labels tell that."""
    if label is None or wanted == context.favourable:
        return label
    return 1 - label if len(context.decisions) == 2 else None


def _recorded(
    context: GroupContext, options: MeasureOptions, label: Rows | None
) -> Iterator[_Sample]:
    """Read decisions from their column."""
    known = ~np.isnan(context.decided)
    if not known.any():
        return
    for wanted, name in _wanted(context, options):
        if wanted == context.favourable:
            favourable_mask = context.decided == 1
        elif len(context.decisions) == 2:
            favourable_mask = context.decided == 0
        else:
            # of an unfavourable decision it is not known which of them it was
            continue
        yield _Sample("decisions", name, known, favourable_mask, _judge(context, wanted, label))


def _answered(
    context: GroupContext,
    model: FedModel,
    options: MeasureOptions,
    label: Rows | None,
    can: Mask,
    answers: Scores,
) -> Iterator[_Sample]:
    """Yield decisions, and scores, of the model's answers: all decisions first."""
    mapping, card = model.mapping, model.opened.card
    predicted_class = np.full(len(can), -1)
    predicted_class[can] = labels(answers)
    wanted = list(_wanted(context, options))
    for place, name in wanted:
        yield _Sample(
            "decisions", name, can, predicted_class == place, _judge(context, place, label)
        )
    if Capability.SCORES not in card.can or not can.any():
        return
    probable = card.scores == "probabilities" and not mapping.together
    for place, name in wanted:
        own = own_scores(answers, place, model)
        middle = np.median(own)
        # of an estimated number the smaller may be the favourable ones
        falls = card.scores == VALUES and place == 0
        scores, favourable_mask = np.full(len(can), np.nan), np.zeros(len(can), dtype=np.bool_)
        scores[can] = own
        favourable_mask[can] = own < middle if falls else own > middle
        yield _Sample(
            "scores",
            name,
            can,
            favourable_mask,
            _judge(context, place, label),
            scores,
            probable=probable,
        )


def own_scores(answers: Scores, decision: int, model: FedModel) -> Rows:
    """Return a model's scores of a decision, as `own_number` gives them: ``(n,)``.

    Of a model that estimates a number these are the numbers.
    """
    mapping = msgspec.structs.replace(model.mapping, favourable_class=decision)
    scores = favourable_scores(answers, decision)
    if mapping.threshold is None:
        return scores
    return np.array([own_number(score, mapping, model.opened.card) for score in scores.tolist()])


class _Tables:
    """Makes tables, and tells them as they come."""

    def __init__(self, context: GroupContext, least_share: float) -> None:
        divisions = [
            divide(attribute, codes, context.edges.get(attribute.name, ()))
            for attribute, codes in zip(context.domain.grouping, context.groups.T, strict=True)
        ]
        self._sets = list(crossings(divisions))
        self._context, self._least_share = context, least_share
        self._made: list[GroupTable] = []
        self._reported = perf_counter()

    def of(self, phase: str, samples: Sequence[_Sample]) -> Iterator[Event]:
        """Make all tables of one sample of people after the other."""
        total = len(samples) * len(self._sets)
        for done, (sample, divisions) in enumerate(product(samples, self._sets)):
            yield _progress(self._context, phase, done, total)
            self._made.append(sample.table(divisions, self._least_share))
            if perf_counter() - self._reported > _TELL_SECONDS or done == total - 1:
                self._reported = perf_counter()
                yield Measured(phase, tuple(self._made))
        yield _progress(self._context, phase, total, total)


def _progress(context: GroupContext, phase: str, done: int, total: int) -> Progress:
    tried = context.queries - context.requeries
    return Progress(phase, done, total, tried=tried, found=0, queries=context.queries)
