"""The proof that a model is fed rightly: what it says about the auditor's own rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain.attributes import Attribute
from fairdesk.data.profiling.outcomes import auc, calibration_error, comparison, favourable_rows
from fairdesk.data.table import Kind, Table
from fairdesk.errors import DataError, ModelError
from fairdesk.models.decisions.favourable import flipped
from fairdesk.models.decisions.requerying import chosen, query_again, sentence
from fairdesk.models.decisions.rule import compared, own_number
from fairdesk.models.inputs.feeding import FedModel
from fairdesk.models.inputs.mapping.proposer import BY_POSITION
from fairdesk.models.inputs.other_ways import UNCLEAR, Confusion, Skill, doubts, other_ways, skill
from fairdesk.models.model import (
    How,
    Mapping,
    ModelCard,
    OpenedModel,
    Takes,
    favourable_scores,
    labels,
)
from fairdesk.repeatability import Repeatability
from fairdesk.results.events import Rows, Scores

#: So many rows are shown as they were sent.
SAMPLE = 20
#: Agreement that is no further above that of always guessing says little.
_HARDLY = 0.01
#: What is said of a class that no name shows to be the favourable one.
ASSUMED = "was taken as the favourable decision"
#: The model may say something else than it once did on this share of the rows.
_DIFFERS = 0.001

Mask = NDArray[np.bool_]


class SampleRow(msgspec.Struct, frozen=True):
    """One row of the data and what the model made of it.

    Attributes
    ----------
    row : int
        Its number in the data, from 1.
    label : str
        What the label column says.
    prediction : str
        The decision; empty where the model refuses the row.
    score : float or None
        The model's number for the favourable decision, as
        `fairdesk.models.decisions.rule.own_number` gives it; None where the model refuses the row.
    sent : tuple[float | str | None, ...]
        What the model was given, one value per input; None for a missing cell.
    """

    row: int
    label: str
    prediction: str
    score: float | None
    sent: tuple[float | str | None, ...]


class InputCheck(msgspec.Struct, frozen=True):
    """How far a model agrees with the label column.

    Attributes
    ----------
    rows : int
        Rows that were asked and have a label.
    left_out : int
        Rows that were not: no label, or a missing cell that the model cannot deal with.
    accuracy : float
        The share of ``rows`` where the model's decision (favourable or not) is the label's.
    majority : float
        The share that always guessing the commoner of the two would reach.
    auc : float or None
        The area under the ROC curve: how often a row with the favourable label has the higher
        score of a pair. None when all labels are alike.
    confusion : tuple[tuple[int, int], tuple[int, int]]
        Counts: first index the label, second the prediction, each favourable (0) or not (1).
    warnings : tuple[str, ...]
        What looks wrong, a sentence or two each.
    inputs : tuple[str, ...]
        The model's inputs, the heading of what was sent.
    sample : tuple[SampleRow, ...]
        The first rows.
    predictions : tuple[tuple[str, int], ...]
        How many rows got each decision.
    takes_missing : tuple[str, ...]
        The columns with missing cells for which the model really answered: it takes them, or is
        given something for them.
    set_aside : dict[str, int]
        Per column: the rows that were not asked because its cell is missing there; of the label
        too. A row can count for several columns.
    checked_against : str
        The column that holds what the model once said; empty where there is none.
    said_alike : float or None
        The share of the rows where it says the same now.
    repeatability : Repeatability, optional
        Whether it answers alike when some of the rows are queried again; ``None`` where there is
        no model to query.
    calibration : float or None
        The expected calibration error of the score of the favourable decision; None where scores
        are not probabilities.
    """

    rows: int
    left_out: int
    accuracy: float
    majority: float
    auc: float | None
    confusion: Confusion
    warnings: tuple[str, ...]
    inputs: tuple[str, ...] = ()
    sample: tuple[SampleRow, ...] = ()
    predictions: tuple[tuple[str, int], ...] = ()
    takes_missing: tuple[str, ...] = ()
    set_aside: dict[str, int] = msgspec.field(default_factory=dict)
    checked_against: str = ""
    said_alike: float | None = None
    repeatability: Repeatability | None = None
    calibration: float | None = None


def check(
    opened: OpenedModel, table: Table, mapping: Mapping, label: str, favourable: str
) -> InputCheck:
    """Query the model about the table's rows and compare with the label column.

    Parameters
    ----------
    table, mapping
        The data, and how columns become inputs: all rows are asked, with all values of the data.

    Raises
    ------
    ModelError
        When the model refuses even the complete rows, or a column that it takes is ignored.
    DataError
        When there is no such column, or the label has no such value.
    """
    fed = FedModel(opened, mapping, attributes_for(mapping, table))
    rows = rows_for(fed, table)
    favourable_label, known = favourable_rows(table, label, favourable)
    if not known.any():
        raise DataError(
            f"No row has a recorded outcome in the column “{label}”.",
            remedy="Choose another column as the recorded outcome.",
            setting="label",
        )
    answers = _ask(fed, rows, np.flatnonzero(known))
    scores, kept = answers.scores, answers.rows
    favourable_mask = labels(scores) == mapping.favourable_class
    counted = np.zeros(len(rows), dtype=bool)
    counted[kept] = True
    decided = np.zeros(len(rows), dtype=bool)
    decided[kept] = favourable_mask
    score = favourable_scores(scores, mapping.favourable_class)
    proof = agreement(decided, favourable_label, counted, auc(score, favourable_label[kept]))
    names = mapping.decisions(opened.card)
    counts = np.bincount(labels(scores), minlength=len(names))
    recorded = compared(scores, kept, table, label, mapping, opened.card)
    repeated = _queried_again(fed, rows[kept], scores)
    judged = (proof.accuracy, proof.auc, fed, rows[kept], scores, favourable_label[kept])
    warnings = [
        *filter(None, (sentence(repeated),)),
        *_of_label(table, label, favourable),
        *proof.warnings,
        *_of_order(proof, mapping),
        *(other_ways(*judged) if proof.accuracy < proof.majority else ()),
    ]
    if recorded is not None and recorded.equal < 1 - _DIFFERS:
        warnings.append(
            f"In {1 - recorded.equal:.1%} of {recorded.rows:,} rows the model’s decision differs "
            f"from that recorded in “{recorded.column}”. Is it another model or version, "
            "or are its inputs made in another way?"
        )
    return msgspec.structs.replace(
        proof,
        warnings=tuple(warnings),
        inputs=tuple(item.name for item in mapping.inputs),
        sample=_shown(fed, table, label, kept[:SAMPLE], rows, scores[:SAMPLE]),
        predictions=tuple(zip(names, counts.tolist(), strict=True)),
        takes_missing=answers.takes_missing,
        set_aside=_set_aside(fed, rows, counted, known, label),
        checked_against="" if recorded is None else recorded.column,
        said_alike=None if recorded is None else recorded.equal,
        repeatability=repeated,
        calibration=calibration_error(score, favourable_label[kept])
        if opened.card.scores == "probabilities" and mapping.threshold is None
        else None,
    )


def agreement(
    favourable_mask: Mask, recorded_mask: Mask, counted: Mask, ranking: float | None = None
) -> InputCheck:
    """Count how far decisions agree with the label.

    Parameters
    ----------
    favourable_mask, recorded_mask, counted : NDArray[np.bool_]
        ``(n,)`` each: whether the decision is favourable, whether the label is, and whether both
        are known. At least one row is counted.
    ranking : float, optional
        The AUC of the model's scores, where it has any.

    Raises
    ------
    DataError
        When no row is counted.
    """
    if not counted.any():
        raise DataError(
            "No row has both a recorded outcome and a decision.", remedy="Choose other columns."
        )
    # favourable ones first
    kinds = 2 * ~recorded_mask[counted] + ~favourable_mask[counted]
    (true_good, false_bad), (false_good, true_bad) = (
        np.bincount(kinds, minlength=4).reshape(2, 2).tolist()
    )
    confusion = ((true_good, false_bad), (false_good, true_bad))
    found = of_counts(confusion, len(counted) - len(kinds), ranking)
    return msgspec.structs.replace(found, warnings=tuple(doubts(confusion, ranking)))


def of_counts(confusion: Confusion, left_out: int, ranking: float | None) -> InputCheck:
    """Return what follows from counts of decisions by the label, without warnings."""
    (true_good, false_bad), (false_good, true_bad) = confusion
    rows = true_good + false_bad + false_good + true_bad
    share = (true_good + false_bad) / max(1, rows)
    return InputCheck(
        rows=rows,
        left_out=left_out,
        accuracy=(true_good + true_bad) / max(1, rows),
        majority=max(share, 1 - share),
        auc=ranking,
        confusion=confusion,
        warnings=(),
    )


def show(opened: OpenedModel, table: Table, mapping: Mapping, label: str) -> tuple[SampleRow, ...]:
    """Show what the model is sent for every row of a (small) table, and what it makes of it.

    Rows are numbered from 1 within this table. Where the model refuses them together, each is
    asked for itself.

    Raises
    ------
    ModelError
        When the rows cannot be made into inputs at all.
    DataError
        When there is no such column.
    """
    fed = FedModel(opened, mapping, attributes_for(mapping, table))
    rows = rows_for(fed, table)
    everyone = np.arange(len(rows))
    try:
        return _shown(fed, table, label, everyone, rows, fed.predict(rows))
    except ModelError:
        found: list[SampleRow] = []
        for i in everyone:
            try:
                scores: Scores | None = fed.predict(rows[i : i + 1])
            except ModelError:
                scores = None
            found += _shown(fed, table, label, everyone[i : i + 1], rows, scores)
        return tuple(found)


def settled(mapping: Mapping, proof: InputCheck) -> tuple[Mapping, str]:
    """Choose which of two decisions is the favourable one by what agrees better with the label.

    Only where no name tells: where `fairdesk.models.decisions.favourable.Answer.clear` is false.

    Returns
    -------
    mapping : Mapping
        The same, or with the other decision as the favourable one; then it is to be proved
        again.
    note : str
        What was chosen and why, for people.
    """
    agrees = better = proof.accuracy >= 0.5
    if proof.auc is not None and abs(proof.auc - 0.5) > UNCLEAR:
        better = proof.auc > 0.5
    chosen = mapping if better else flipped(mapping)
    why = (
        "as it matches the recorded outcomes better"
        if agrees == better
        else "as its scores match the recorded outcomes better, although its decisions do not"
    )
    return chosen, (
        f"“{proof.predictions[chosen.favourable_class][0]}” {ASSUMED}, {why}. "
        "Confirm it: the class names do not show it."
    )


def attributes_for(mapping: Mapping, table: Table) -> tuple[Attribute, ...]:
    """Return the attributes that a mapping needs, with all values that the table has.

    Raises
    ------
    DataError
        When the table has no such column.
    ModelError
        When a column is ignored.
    """
    attributes = []
    used = [item.attribute for item in mapping.inputs if item.how is not How.CONSTANT]
    if not used:
        raise ModelError(
            "None of the model’s inputs is made from a column.",
            remedy="Make at least one input from a column of the data.",
        )
    for name in dict.fromkeys(used):
        column = table.column(name)
        if column.kind is Kind.IGNORED:
            raise ModelError(
                f"The model takes the column “{name}”, which is excluded.",
                remedy="Give that column another type, or make the input from another column.",
            )
        attributes.append(
            Attribute(
                name=name, kind=column.kind, values=column.values, low=column.low, high=column.high
            )
        )
    return tuple(attributes)


class _Scored(msgspec.Struct, frozen=True):
    """Scores ``(m, k)`` of some rows ``(m,)``, and the columns whose missing cells were taken."""

    scores: Scores
    rows: NDArray[np.intp]
    takes_missing: tuple[str, ...]


def rows_for(fed: FedModel, table: Table) -> Rows:
    """Return the codes of a table's rows that inputs are made from, ``(n, d)``."""
    return table.codes[:, [table.index(attribute.name) for attribute in fed.attributes]]


def _ask(fed: FedModel, rows: Rows, kept: NDArray[np.intp]) -> _Scored:
    """Ask about the rows at ``kept``; without those whose missing cells the model refuses."""
    missing = np.isnan(rows[kept])
    holes = np.flatnonzero(missing.any(axis=0))
    names = [attribute.name for attribute in fed.attributes]
    try:
        return _Scored(fed.predict(rows[kept]), kept, tuple(names[i] for i in holes))
    except ModelError:
        if not holes.size or missing.any(axis=1).all():
            raise
    taken = [i for i in holes.tolist() if takes_missing(fed, rows[kept], missing, i)]

    def without(columns: Sequence[int]) -> _Scored:
        complete = ~missing[:, columns].any(axis=1)
        scores = fed.predict(rows[kept[complete]])
        answered = tuple(names[i] for i in taken if missing[complete, i].any())
        return _Scored(scores, kept[complete], answered)

    try:
        return without([i for i in holes.tolist() if i not in taken])
    except ModelError:
        return without(holes.tolist())


def takes_missing(fed: FedModel, rows: Rows, missing: Mask, column: int) -> bool:
    """Return whether the model answers for rows in which only this column's cell is missing."""
    alone = missing[:, column] & (missing.sum(axis=1) == 1)
    try:
        fed.predict(rows[alone])
    except ModelError:
        return False
    return bool(alone.any())


def _queried_again(fed: FedModel, rows: Rows, scores: Scores) -> Repeatability:
    """Query some rows again that got these scores; the same rows whenever it is checked."""
    rng = np.random.default_rng(0)
    some = chosen(len(rows), rng)
    return query_again(fed.predict, rows[some], rng, scores[some])


def _set_aside(fed: FedModel, rows: Rows, counted: Mask, known: Mask, label: str) -> dict[str, int]:
    absent = {label: int((~known).sum())}
    for i, attribute in enumerate(fed.attributes):
        absent[attribute.name] = int((np.isnan(rows[:, i]) & known & ~counted).sum())
    return {name: count for name, count in absent.items() if count}


def _shown(
    fed: FedModel,
    table: Table,
    label: str,
    places: NDArray[np.intp],
    rows: Rows,
    scores: Scores | None,
) -> tuple[SampleRow, ...]:
    """Show the rows at ``places`` with the scores that they got; none where refused."""
    card, mapping = fed.opened.card, fed.mapping
    column, codes = table.column(label), table.codes[:, table.index(label)]
    decided: Sequence[str] = [""] * len(places)
    own: Sequence[float | None] = [None] * len(places)
    if scores is not None:
        names = mapping.decisions(card)
        decided = [names[i] for i in labels(scores).tolist()]
        favourable = favourable_scores(scores, mapping.favourable_class).tolist()
        own = [own_number(score, mapping, card) for score in favourable]
    return tuple(
        SampleRow(int(place) + 1, column.text(codes[place]), decision, score, sent)
        for place, decision, score, sent in zip(
            places, decided, own, sent_to(fed, rows[places]), strict=True
        )
    )


def sent_to(fed: FedModel, rows: Rows) -> list[tuple[float | str | None, ...]]:
    """Return what the model is sent for these rows, as plain values."""
    if fed.opened.card.takes is Takes.MATRIX:
        lines = fed.matrix(rows).tolist()
    else:
        lines = list(zip(*(values.tolist() for values in fed.columns(rows)), strict=True))
    # only what is no number is unlike itself
    return [tuple(each if each == each else None for each in line) for line in lines]  # noqa: PLR0124


def warnings_of(proof: InputCheck, mapping: Mapping) -> tuple[str, ...]:
    """Return the warnings that rest on the counts alone."""
    return (*doubts(proof.confusion, proof.auc), *_of_order(proof, mapping))


def _of_label(table: Table, label: str, favourable: str) -> Iterator[str]:
    """Yield how a label of many values was understood."""
    if comparison(favourable) is not None and not table.column(label).values:
        return
    values = table.counts(label)
    if len(values) > 2 and favourable in values:
        yield (
            f"The column “{label}” has {len(values)} values; all but “{favourable}” count as not "
            "favourable."
        )


def _of_order(proof: InputCheck, mapping: Mapping) -> Iterator[str]:
    """Yield a warning that an assumed order may be wrong, where the model shows no skill."""
    found = skill(proof.auc, proof.confusion)
    hardly = found in (Skill.NONE, Skill.UNKNOWN) and 0 <= proof.accuracy - proof.majority < _HARDLY
    if mapping.matched == BY_POSITION and hardly:
        yield (
            f"The decision matches the recorded outcome in {proof.accuracy:.1%} of the rows, "
            f"hardly more than when always guessing the more common value ({proof.majority:.1%}). "
            "The inputs are made from the columns in their order: check that the model was trained "
            "with this order."
        )


def card_of(table: Table, column: str) -> ModelCard:
    """Describe a column of decisions as the model that is not there. It can do nothing.

    Raises
    ------
    DataError
        When there is no such column.
    """
    values = tuple(table.counts(column))
    return ModelCard(
        path=table.source.path,
        sha256=table.source.sha256,
        format="A column of decisions",
        summary=f"The decisions are in the column “{column}”; no model is available, so no other "
        "inputs can be tested",
        takes=Takes.COLUMNS,
        inputs=(),
        named=False,
        classes=values,
        scores="labels",
        read_as_data=True,
        can=(),
    )


def mapping_of(favourable: str) -> Mapping:
    """Return the mapping of a model that is fed nothing, and whose decisions are known."""
    return Mapping(
        inputs=(),
        matched="not mapped: no model is queried",
        favourable_class=1,
        outcomes=(f"not {favourable}", favourable),
    )


def check_predictions(
    table: Table, column: str, model_favourable: str, label: str, favourable: str
) -> InputCheck:
    """Compare a column of decisions with the label, as `input_check.check` does.

    Raises
    ------
    DataError
        When there is no such column, or no row has both.
    SpecError
        When a favourable value is none of its column's.
    """
    favourable_mask, decided = favourable_rows(table, column, model_favourable)
    wanted, known = favourable_rows(table, label, favourable)
    found = agreement(favourable_mask, wanted, decided & known)
    # a column always matches itself
    return msgspec.structs.replace(found, warnings=()) if column == label else found
