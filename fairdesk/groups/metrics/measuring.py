"""Group figures: how each protected group fares, and each intersection of groups.

Observed, in the rows of the data: by their label, by the model's own decisions about them, and by
its scores. 29 CFR 1607.4(D); 6 RCNY 5-301 (rule of July 2023); ISO/IEC TR 24027:2021.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from time import perf_counter
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.attributes import Attribute
from fairdesk.data.table import Kind
from fairdesk.groups.context import GroupBlock, GroupContext
from fairdesk.groups.metrics.group_table import calibrated, counted, judged, scored
from fairdesk.groups.metrics.grouping import Division, Groups, Mask, Tally, cross, crossings, divide
from fairdesk.groups.options import MeasureOptions
from fairdesk.individual.engine.division import Adding, Counting, Merging, counted_here
from fairdesk.individual.engine.pace import Pace
from fairdesk.models.decisions.rule import VALUES, own_number
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.model import Capability, How, Mapping, favourable_scores, labels
from fairdesk.results.events import (
    Event,
    Measured,
    Progress,
    Rows,
    Scores,
    ShardRange,
    Tallied,
    timed,
)
from fairdesk.results.groups import GroupTable

#: Rows in a block that the model is asked about.
ROWS = 8_192
#: Figures are told anew after so many seconds.
_TELL_SECONDS = 0.5


def search(
    context: GroupContext, people: Rows, options: MeasureOptions, rng: np.random.Generator
) -> Iterator[Event]:
    """Measure how groups fare.

    Labels first: no model has to be asked for these. Then decisions and scores of everybody whom
    the model can be asked about, whether or not they lie in the domain.

    Parameters
    ----------
    context : GroupContext
        The data, and the model or its decisions.

    Yields
    ------
    Event
        `Progress`, and `Measured` with the tables so far.

    Raises
    ------
    ModelError
        When the model refuses rows.
    """
    if context.blocks is not None:
        return timed(_measure_blocks(context, context.blocks(), options))
    half = counting(context, people, options, rng)
    return timed(counted_here(merging(context, options, rng), half, Pace(1, context=context)))


def counting(
    context: GroupContext,
    people: Rows,  # noqa: ARG001 - as of `search`
    options: MeasureOptions,  # noqa: ARG001 - the same for all of them
    rng: np.random.Generator,  # noqa: ARG001
) -> Counting:
    """Return the half that queries the model: a unit is a block of rows that it can be asked."""

    def count(wanted: ShardRange) -> Iterator[Event]:
        if context.model is None:
            return
        can = askable(context.rows, context.domain.attributes, context.model.mapping)
        rows, pace = context.rows[can], Pace(1, context=context)
        for unit in range(wanted.start, wanted.stop):
            yield _progress(context, "answers", 0, 0)
            block = rows[unit * ROWS : (unit + 1) * ROWS]
            for part, last in pace.of_unit(len(block)):
                scores = context.predict(block[part])
                yield Tallied("answers", unit, last, {"scores": scores})
                yield _progress(context, "answers", 0, 0)

    return count


def merging(context: GroupContext, options: MeasureOptions, _rng: np.random.Generator) -> Merging:
    """Return the half that makes the tables of the model's answers."""
    return _Measuring(context, options)


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
    probable, falls : bool
        Of scores: whether they are probabilities; whether those below the median are favourable.
    counts : NDArray[np.int64], optional
        ``(n,)``; how many there are of each, where these are kinds of rows; without scores.
    """

    of: Literal["label", "decisions", "scores"]
    outcome: str
    known: Mask
    favourable_mask: Mask
    label: Rows | None = None
    scores: Rows | None = None
    probable: bool = False
    falls: bool = False
    counts: NDArray[np.int64] | None = None

    def counted(
        self,
        divisions: Sequence[Division],
        options: MeasureOptions,
        reference: tuple[str, ...] = (),
    ) -> tuple[Groups, GroupTable]:
        """Count the groups of one or several attributes, ``reference`` as of `counted`."""
        groups = cross(divisions, self.known, self.counts)
        without = ~self.known if self.counts is None else self.counts[~self.known]
        return groups, counted(
            groups,
            self.favourable_mask[self.known],
            of=self.of,
            outcome=self.outcome,
            without=int(without.sum()),
            least_share=options.least_share,
            reference=reference,
            small=options.small,
        )

    def table(
        self, divisions: Sequence[Division], options: MeasureOptions, reference: tuple[str, ...]
    ) -> GroupTable:
        """Make the table of one or several attributes."""
        groups, table = self.counted(divisions, options, reference)
        favourable_mask = self.favourable_mask[self.known]
        label = None if self.label is None else self.label[self.known]
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
        return msgspec.structs.replace(table, median=median, ties=ties, falls=self.falls)


class _Measuring(Adding):
    """The tables: of labels first, of decisions and scores once all answers are there."""

    def __init__(self, context: GroupContext, options: MeasureOptions) -> None:
        self._context, self._options = context, options
        self._tables = _Tables(context, options)
        self._label = _truth(context)
        self._can = np.zeros(len(context.rows), dtype=np.bool_)
        if context.model is not None:
            attributes, mapping = context.domain.attributes, context.model.mapping
            self._can = askable(context.rows, attributes, mapping)
        self._count = int(self._can.sum())
        self._answers: list[Scores] = []
        self._next = self._done = 0
        self._begun = self._over = False

    @property
    def wanted(self) -> ShardRange | None:
        """The blocks after the last one."""
        stop = -(-self._count // ROWS)
        return ShardRange(self._next, stop) if self._next < stop else None

    def told(self, progress: Progress) -> Progress:
        """Return a progress with how many rows were asked about, of all."""
        return msgspec.structs.replace(progress, done=self._done, total=self._count)

    def add(self, tallied: Tallied) -> bool:
        """Keep the answers to rows, ``(n, k)``."""
        scores = tallied.arrays["scores"]
        self._answers.append(scores)
        self._done += len(scores)
        if tallied.last:
            self._next = tallied.unit + 1
        return True

    def proceed(self) -> Iterator[Event]:
        """Make the tables that can be made."""
        context, label = self._context, self._label
        if not self._begun and label is not None:
            labelled = _Sample("label", context.favourable_label, ~np.isnan(label), label == 1)
            yield from self._tables.of("labels", [labelled])
        self._begun = True
        if self.wanted is None and not self._over:
            self._over = True
            yield from self._tables.of("decisions", list(self._samples()))

    def _samples(self) -> Iterator[_Sample]:
        context, options, label = self._context, self._options, self._label
        if context.model is None:
            return _recorded(context, options, label)
        width = self._answers[0].shape[1] if self._answers else 1
        answers = np.concatenate([*self._answers, np.empty((0, width))])
        return _answered(context, context.model, options, label, self._can, answers)

    def measured(self) -> Measured | None:
        """Return the tables made so far."""
        made = tuple(self._tables.made)
        return Measured("decisions" if self._over else "labels", made) if made else None


def _truth(context: GroupContext) -> Rows | None:
    """Return the labels, if there are any that are not the decisions themselves."""
    if np.isnan(context.label).all():
        return None
    same = context.model is None and np.array_equal(context.label, context.decided, equal_nan=True)
    return None if same else context.label


def askable(rows: Rows, attributes: Sequence[Attribute], mapping: Mapping) -> Mask:
    """Return which rows a model can be queried for, ``(n,)``: those that it decides.

    Nothing of what it is fed is missing, or what is missing it handles by itself. A category that
    stands for missing cells has a code of its own; without one no row is queried whose code is
    missing, since that may also be a value that is not allowed.
    """
    fed = {item.attribute for item in mapping.inputs if item.how is not How.CONSTANT}
    takes = set(mapping.takes_missing or ())
    needed = [
        place
        for place, each in enumerate(attributes)
        if each.name in fed and not (each.name in takes and _only_missing(each))
    ]
    return np.asarray(~np.isnan(rows[:, needed]).any(axis=1))


def _only_missing(attribute: Attribute) -> bool:
    """Return whether a code that is missing stands for a missing cell and nothing else."""
    return not attribute.values or attribute.kind is Kind.TEXT


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
    yield from _decided(context, options, label, predicted_class)
    wanted = list(_wanted(context, options))
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
            falls=falls,
        )


def _decided(
    context: GroupContext, options: MeasureOptions, label: Rows | None, predicted: NDArray[np.intp]
) -> Iterator[_Sample]:
    """Yield the model's decisions, ``(n,)``: -1 where it was not queried."""
    for place, name in _wanted(context, options):
        judge = _judge(context, place, label)
        yield _Sample("decisions", name, predicted >= 0, predicted == place, judge)


def _measure_blocks(
    context: GroupContext, blocks: Iterator[GroupBlock], options: MeasureOptions
) -> Iterator[Event]:
    """Count all rows of a table that is larger than memory; scores are not kept, nor measured."""
    outcomes = len(context.decisions) if context.model is not None else 2
    tally = Tally(context.domain.grouping, context.edges, outcomes)
    phase, done = "labels" if context.model is None else "answers", 0
    labelled, same = False, context.model is None
    yield _progress(context, phase, done, context.n_rows)
    for block in blocks:
        if context.model is None:
            decision = np.where(np.isnan(block.decided), -1, block.decided).astype(np.intp)
        else:
            decision = np.full(len(block.rows), -1)
            can = askable(block.rows, context.domain.attributes, context.model.mapping)
            decision[can] = labels(context.predict(block.rows[can])) if can.any() else -1
        labelled |= not np.isnan(block.label).all()
        same &= np.array_equal(block.label, block.decided, equal_nan=True)
        tally.add(block.groups, block.label, decision)
        done += len(block.rows)
        yield _progress(context, phase, done, context.n_rows)
    divisions, label, decision = tally.kinds()
    tables = _Tables(context, options, divisions)
    truth = label if labelled and not same else None
    if truth is not None:
        known = _Sample("label", context.favourable_label, ~np.isnan(truth), truth == 1)
        yield from tables.of("labels", [replace(known, counts=tally.counts)])
    if context.model is None:
        decided = np.where(decision < 0, np.nan, decision)
        samples = _recorded(replace(context, decided=decided), options, truth)
    else:
        samples = _decided(context, options, truth, decision)
    yield from tables.of("decisions", [replace(each, counts=tally.counts) for each in samples])


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
    """Makes tables, and tells them as they come.

    Attributes
    ----------
    made : list[GroupTable]
        Those made so far.
    """

    def __init__(
        self,
        context: GroupContext,
        options: MeasureOptions,
        divisions: Sequence[Division] | None = None,
    ) -> None:
        divisions = divisions or [
            divide(attribute, codes, context.edges.get(attribute.name, ()))
            for attribute, codes in zip(context.domain.grouping, context.groups.T, strict=True)
        ]
        self._sets = list(crossings(divisions))
        self._context, self._options = context, options
        self._samples: list[_Sample] = []
        self.made: list[GroupTable] = []
        self._reported = perf_counter()

    def of(self, phase: str, samples: Sequence[_Sample]) -> Iterator[Event]:
        """Make all tables of one sample of people after the other.

        All tables of the same attributes have one reference group: that of the favourable decision
        once it is there. Those that were made before are made again with it.
        """
        favourable = self._context.decisions[self._context.favourable]
        leads = [each for each in samples if (each.of, each.outcome) == ("decisions", favourable)]
        lead = next(iter([*leads, *self._samples, *samples]), None)
        references = [self._reference(divisions, lead) for divisions in self._sets]
        held = list(zip(self._sets, references, strict=True))
        self.made = [
            sample.table(divisions, self._options, reference)
            for sample, (divisions, reference) in product(self._samples, held)
        ]
        self._samples += samples
        total = len(samples) * len(held)
        for done, (sample, (divisions, reference)) in enumerate(product(samples, held)):
            yield _progress(self._context, phase, done, total)
            self.made.append(sample.table(divisions, self._options, reference))
            if perf_counter() - self._reported > _TELL_SECONDS or done == total - 1:
                self._reported = perf_counter()
                yield Measured(phase, tuple(self.made))
        yield _progress(self._context, phase, total, total)

    def _reference(self, divisions: Sequence[Division], lead: _Sample | None) -> tuple[str, ...]:
        """Return the values of the group with which others are compared; empty of none."""
        if lead is None:
            return ()
        _, table = lead.counted(divisions, self._options)
        return table.lines[table.reference].values if table.reference >= 0 else ()


def _progress(context: GroupContext, phase: str, done: int, total: int) -> Progress:
    tried = context.queries - context.requeries
    return Progress(phase, done, total, tried=tried, found=0, queries=context.queries)
