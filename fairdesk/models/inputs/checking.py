"""What is wrong with how a model is fed, seen from the mapping and the table alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from fairdesk.data.table import Column, Kind, Table
from fairdesk.errors import ModelError
from fairdesk.models.decisions.rule import VALUES
from fairdesk.models.inputs.mapping.making import hinted, input_names, listing
from fairdesk.models.inputs.mapping.propose import Proposal
from fairdesk.models.inputs.mapping.scaling import unscaled
from fairdesk.models.inputs.one_hot import texts_of
from fairdesk.models.model import How, Input, Mapping, ModelCard

#: Of a number column so many values without a code are enough to be shown.
_SHOWN = 12


def problems(
    mapping: Mapping | Proposal, card: ModelCard, table: Table, label: str = ""
) -> tuple[str, ...]:
    """Return what is wrong with a mapping: a sentence or two each; empty when nothing is.

    Inputs that are made from nothing, from a column that is not there, ignored or the label
    itself, or exactly like another input; values without a number; numbers that an encoder does
    not know; texts where the model takes numbers and the other way round; and decisions that
    cannot be made.

    Parameters
    ----------
    label : str
        The column with the decision or the truth.
    """
    count = len(card.inputs)
    if len(mapping.inputs) != count:
        problem = f"The mapping is for {len(mapping.inputs)} inputs, but the model has {count}."
        return (problem,)
    return (
        *_open(mapping.inputs, card),
        *_twice(mapping.inputs, card),
        *(
            sentence
            for i, item in enumerate(mapping.inputs)
            if item is not None
            for sentence in problems_of(item, i, card, table, label)
        ),
        *unscaled(card, mapping.inputs),
        *_of_answers(mapping, card),
    )


def complete(proposal: Proposal, card: ModelCard, table: Table, label: str) -> Mapping:
    """Return the mapping of a proposal by which the model can be fed.

    Raises
    ------
    ModelError
        When something is open, or keeps the model from being fed so.
    """
    mapping = proposal.mapping()
    wrong = problems(mapping, card, table, label)
    if wrong:
        first, *others = wrong
        raise ModelError(
            first, why=" ".join(others), remedy="Correct it, or choose other files.", setting="map"
        )
    return mapping


def _open(inputs: Sequence[Input | None], card: ModelCard) -> Iterator[str]:
    names = [name for name, item in zip(input_names(card), inputs, strict=True) if item is None]
    if names:
        yield f"How these inputs are made is not specified: {listing(names)}."


def _twice(inputs: Sequence[Input | None], card: ModelCard) -> Iterator[str]:
    alike: dict[bytes, list[str]] = defaultdict(list)
    for item in inputs:
        # what the model is given beside its own inputs may be one of them once more
        if item is None or item.name in card.hints.values:
            continue
        # an input for a value that the data do not have is 0 like others of its kind
        if item.how is not How.CONSTANT and not _always_other(item):
            key = msgspec.json.encode(msgspec.structs.replace(item, name=""), order="sorted")
            alike[key].append(item.name)
    for names in alike.values():
        if len(names) > 1:
            yield f"These inputs are made in exactly the same way: {listing(names)}."


def _always_other(item: Input) -> bool:
    return item.others is not None and set(item.codes.values()) <= {item.others}


def problems_of(
    item: Input, position: int, card: ModelCard, table: Table, label: str = ""
) -> Iterator[str]:
    """Yield what is wrong with one input, the model's at ``position``; as `problems`."""
    accepts = card.accepts[position] if position < len(card.accepts) else ""
    text = isinstance(item.constant, str) if item.how is How.CONSTANT else item.how is How.LABEL
    if accepts == "number" and text:
        yield f"The model’s input “{item.name}” accepts numbers, but is made from text."
    if accepts == "text" and not text:
        yield f"The model’s input “{item.name}” accepts text, but is made from numbers."
    if text and item.then:
        yield f"The model’s input “{item.name}” is text, so no arithmetic is possible."
    if item.how is How.CONSTANT:
        return
    if item.attribute not in table.names:
        yield f"The table has no column “{item.attribute}” for the input “{item.name}”."
        return
    column = table.column(item.attribute)
    if column.kind is Kind.IGNORED:
        yield f"The input “{item.name}” is made from “{column.name}”, which is excluded."
        return
    if column.name == label:
        yield f"The input “{item.name}” is made from the recorded outcome “{label}”."
    if item.how is How.AS_IS and column.values:
        yield (f"The input “{item.name}” accepts numbers, but “{column.name}” is categorical.")
    yield from _of_values(item, column, card, table)


def _of_values(item: Input, column: Column, card: ModelCard, table: Table) -> Iterator[str]:
    """Yield the problems with values that the mapping, or an encoder, does not know."""
    if item.how is How.CODE:
        if item.missing and item.missing not in item.codes and item.others is None:
            yield f"The input “{item.name}” has no number for a missing cell (“{item.missing}”)."
        values = () if item.others is not None else texts_of(table, column)
        unknown = [value for value in values if value not in item.codes]
        if unknown:
            yield (
                f"The input “{item.name}” has no number for these values of “{column.name}”: "
                f"{listing(unknown)}."
            )
    encoder = hinted(card.hints.codes, item.name, column.name)
    if item.how is How.AS_IS and encoder:
        codes = table.codes[:, table.index(column.name)]
        present = np.unique(codes[~np.isnan(codes)])
        strange = present[~np.isin(present, list(encoder.values()))]
        if strange.size:
            shown = [column.text(code) for code in strange[: _SHOWN + 1].tolist()]
            yield (
                f"The encoder of “{item.name}” does not know these numbers of “{column.name}”: "
                f"{listing(shown)}."
            )


def _of_answers(mapping: Mapping | Proposal, card: ModelCard) -> Iterator[str]:
    answer = mapping.answer if isinstance(mapping, Proposal) else mapping
    if answer is None:
        yield "The model’s favourable decision is not specified."
        return
    count = len(answer.outcomes or card.classes)
    if card.scores == VALUES and answer.threshold is None:
        yield "The limit from which the estimated number is favourable is not specified."
    elif not 0 <= answer.favourable_class < count:
        yield "The favourable decision is not one of the model’s decisions."
    if set(answer.together) - set(range(len(card.classes))):
        yield "The favourable classes are not among the model’s classes."
    elif len(set(answer.together)) == len(card.classes) and answer.together:
        yield "All of the model’s classes are favourable."
    if answer.threshold is not None and card.scores != VALUES:
        if len(card.classes) != 2 or card.scores == "labels":
            yield "The model does not decide by comparing one score with a threshold."
        elif not 0 < answer.threshold < 1:
            yield "A threshold for the model’s scores must lie between 0 and 1."
