"""The proof that a model is fed rightly: what it says about the auditor's own rows."""

from __future__ import annotations

import math

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.domain import Attribute
from fairdesk.data.table import Kind, Table
from fairdesk.errors import DataError, ModelError
from fairdesk.events import Rows, Scores
from fairdesk.models.feeding import FedModel
from fairdesk.models.model import Mapping, OpenedModel, Takes, favourable_scores, labels

#: So many rows are shown as they were sent.
SAMPLE = 20


class SampleRow(msgspec.Struct, frozen=True):
    """One row of the data and what the model made of it.

    Attributes
    ----------
    row : int
        Its number in the data, from 1.
    label : str
        What the label column says.
    prediction : str
        The class that the model chose.
    score : float
        The score of the favourable class.
    sent : tuple[float | str | None, ...]
        What the model was given, one value per input; None for a missing cell.
    """

    row: int
    label: str
    prediction: str
    score: float
    sent: tuple[float | str | None, ...]


class Proof(msgspec.Struct, frozen=True):
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
    """

    rows: int
    left_out: int
    accuracy: float
    majority: float
    auc: float | None
    confusion: tuple[tuple[int, int], tuple[int, int]]
    warnings: tuple[str, ...]
    inputs: tuple[str, ...]
    sample: tuple[SampleRow, ...]


def check(
    opened: OpenedModel, table: Table, mapping: Mapping, label: str, favourable: str
) -> Proof:
    """Ask the model about the table's rows and compare with the label column.

    Parameters
    ----------
    opened : OpenedModel
        The model.
    table, mapping
        The data, and how columns become inputs: all rows are asked, with all values of the data.
    label, favourable : str
        The label column and its favourable value.

    Raises
    ------
    ModelError
        When the model refuses even the complete rows, or a column that it takes is ignored.
    DataError
        When there is no such column, or the label has no such value.
    """
    asked = FedModel(opened, mapping, attributes_for(mapping, table))
    rows = table.codes[:, [table.index(attribute.name) for attribute in asked.attributes]]
    good, known = _favourable(table, label, favourable)
    kept = np.flatnonzero(known)
    if not kept.size:
        raise DataError(
            f"No row has a value in the column “{label}”.", remedy="Choose another label column."
        )
    scores, kept = _ask(asked, rows, kept)
    chosen = labels(scores)
    said = chosen == mapping.favourable_class
    score = favourable_scores(scores, mapping.favourable_class)
    wanted = good[kept]
    confusion = (
        (int((wanted & said).sum()), int((wanted & ~said).sum())),
        (int((~wanted & said).sum()), int((~wanted & ~said).sum())),
    )
    share = float(wanted.mean())
    texts = table.column(label)
    sample = tuple(
        SampleRow(
            row=int(kept[i]) + 1,
            label=texts.text(table.codes[kept[i], table.index(label)]),
            prediction=opened.card.classes[chosen[i]],
            score=float(score[i]),
            sent=sent,
        )
        for i, sent in enumerate(_sent(asked, rows[kept[:SAMPLE]]))
    )
    return Proof(
        rows=len(kept),
        left_out=len(rows) - len(kept),
        accuracy=float((wanted == said).mean()),
        majority=max(share, 1 - share),
        auc=_auc(score, wanted),
        confusion=confusion,
        warnings=_warnings(
            confusion,
            np.unique(table.codes[known, table.index(label)]).size,
            len(opened.card.classes),
            label,
            favourable,
        ),
        inputs=opened.card.inputs,
        sample=sample,
    )


def attributes_for(mapping: Mapping, table: Table) -> tuple[Attribute, ...]:
    """Give the attributes that a mapping needs, with all values that the table has.

    Raises
    ------
    DataError
        When the table has no such column.
    ModelError
        When a column is ignored.
    """
    attributes = []
    for name in dict.fromkeys(item.attribute for item in mapping.inputs):
        column = table.column(name)
        if column.kind is Kind.IGNORED:
            raise ModelError(
                f"The model takes the column “{name}”, which is ignored.",
                remedy="Give it another kind on the data page.",
            )
        attributes.append(
            Attribute(
                name=name,
                kind=column.kind,
                values=column.values,
                low=column.low,
                high=column.high,
            )
        )
    return tuple(attributes)


def _favourable(
    table: Table, label: str, favourable: str
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Tell for each row whether its label is the favourable one, and whether it has a label."""
    column = table.column(label)
    codes = table.codes[:, table.index(label)]
    code: float | None
    if column.kind.is_number:
        try:
            code = float(favourable)
        except ValueError:
            code = None
        if code not in codes:
            code = None
    else:
        code = column.values.index(favourable) if favourable in column.values else None
    if code is None:
        shown = list(table.counts(label))[:12]
        raise DataError(
            f"The column “{label}” has no value “{favourable}”.",
            remedy=f"Choose one of its values: {', '.join(shown)}.",
        )
    return codes == code, ~np.isnan(codes)


def _ask(asked: FedModel, rows: Rows, kept: NDArray[np.intp]) -> tuple[Scores, NDArray[np.intp]]:
    """Ask about the rows at ``kept``; where the model refuses them, about the complete ones."""
    try:
        return asked.predict(rows[kept]), kept
    except ModelError:
        complete = ~np.isnan(rows[kept]).any(axis=1)
        if complete.all() or not complete.any():
            raise
    kept = kept[complete]
    return asked.predict(rows[kept]), kept


def _sent(asked: FedModel, rows: Rows) -> list[tuple[float | str | None, ...]]:
    """Give what the model is sent for these rows, as plain values."""
    if asked.opened.card.takes is Takes.MATRIX:
        lines = asked.matrix(rows).tolist()
    else:
        lines = list(zip(*(values.tolist() for values in asked.columns(rows)), strict=True))
    return [tuple(None if _is_nan(value) else value for value in line) for line in lines]


def _is_nan(value: float | str) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _auc(score: NDArray[np.float64], wanted: NDArray[np.bool_]) -> float | None:
    """Compute the area under the ROC curve from ranks (Mann and Whitney); ties count half."""
    ours = int(wanted.sum())
    theirs = len(wanted) - ours
    if not ours or not theirs:
        return None
    _, place, counts = np.unique(score, return_inverse=True, return_counts=True)
    middle_ranks = np.cumsum(counts) - (counts - 1) / 2
    above = middle_ranks[place][wanted].sum() - ours * (ours + 1) / 2
    return float(above / (ours * theirs))


def _warnings(
    confusion: tuple[tuple[int, int], tuple[int, int]],
    values: int,
    classes: int,
    label: str,
    favourable: str,
) -> tuple[str, ...]:
    """Say in plain words what looks wrong."""
    (true_good, false_bad), (false_good, true_bad) = confusion
    rows = true_good + false_bad + false_good + true_bad
    accuracy = (true_good + true_bad) / rows
    share = (true_good + false_bad) / rows
    majority = max(share, 1 - share)
    found = []
    if values > 2:
        found.append(
            f"The column “{label}” has {values} values; all but “{favourable}” count as not "
            "favourable."
        )
    if share in (0, 1):
        found.append(f"All rows have the same label, so the agreement says nothing: “{label}”.")
    if true_good + false_good in (0, rows):
        which = "favourably" if true_good + false_good else "unfavourably"
        found.append(
            f"The model decides {which} on every row. Perhaps its inputs are in the wrong order, "
            "or need scaling that is not in the file."
        )
    elif accuracy < majority:
        sentence = (
            f"The model agrees with the label in {accuracy:.1%} of the rows, less than always "
            f"guessing the commoner value ({majority:.1%}). Are the inputs in the wrong order, "
            "or is the favourable class the other one?"
        )
        if classes == 2 and 1 - accuracy > accuracy:
            sentence += f" With the classes swapped it would agree in {1 - accuracy:.1%}."
        found.append(sentence)
    return tuple(found)
