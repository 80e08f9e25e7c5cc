"""A mapping while it is edited: changes, one at a time, and what is wrong with it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TypeVar, overload

import msgspec
import numpy as np

from fairdesk.data.table import Column, Kind, Table
from fairdesk.errors import ModelError
from fairdesk.models.decisions.favourable import Answer
from fairdesk.models.decisions.rule import VALUES
from fairdesk.models.inputs.mapping.making import (
    hinted,
    input_names,
    listing,
    made_of,
    steps_at,
    unscaled,
    with_steps,
)
from fairdesk.models.inputs.mapping.propose import Proposal
from fairdesk.models.inputs.one_hot import MISSING, Place, texts_of
from fairdesk.models.inputs.one_hot import made as one_hot
from fairdesk.models.model import How, Input, Mapping, ModelCard, Step

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
        other = item.others is not None and set(item.codes.values()) <= {item.others}
        if item.how is not How.CONSTANT and not other:
            key = msgspec.json.encode(msgspec.structs.replace(item, name=""), order="sorted")
            alike[key].append(item.name)
    for names in alike.values():
        if len(names) > 1:
            yield f"These inputs are made in exactly the same way: {listing(names)}."


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


M = TypeVar("M", bound=Mapping | Proposal)


def remap(mapping: M, position: int, attribute: str, table: Table, card: ModelCard) -> M:
    """Make an input from another column, in the way that is proposed for that.

    Raises
    ------
    ModelError
        When the column is ignored.
    DataError
        When the table has no such column.
    """
    column = _column(attribute, table)
    accepts = card.accepts[position] if position < len(card.accepts) else ""
    made = made_of(_name(card, position), column, table, card, accepts)
    return _scaled(put(mapping, position, made), mapping, position, card)


def for_value(
    mapping: M, position: int, attribute: str, value: str, table: Table, card: ModelCard
) -> M:
    """Make an input 1 for one value of a column and 0 for all others (one-hot).

    An empty ``value`` is a missing cell.

    Raises
    ------
    ModelError
        When the column is ignored, or has no such value.
    DataError
        When the table has no such column.
    """
    values = _column(attribute, table).values
    if values and value != MISSING and value not in values:
        raise ModelError(
            f"The column “{attribute}” has no value “{value}”.",
            remedy="Choose one of its values.",
        )
    item = one_hot(_name(card, position), Place(attribute, value))
    return _scaled(put(mapping, position, item), mapping, position, card)


def as_way(mapping: M, position: int, how: How, table: Table, card: ModelCard) -> M:
    """Make an input in another way from the same column.

    Raises
    ------
    ModelError
        When that cannot be done with what the column holds.
    """
    item = _item(mapping, position)
    column = _column(item.attribute, table)
    if how is How.AS_IS and column.values:
        raise ModelError(
            f"The column “{column.name}” is categorical, not numeric.",
            remedy="Give a number for each value, or choose another column.",
        )
    accepts = {How.LABEL: "text", How.CODE: "number", How.AS_IS: "number"}.get(how, "")
    changed = made_of(item.name, column, table, card, accepts)
    if changed.how is not how:
        changed = Input(name=item.name, attribute=column.name, how=how)
    return _scaled(put(mapping, position, changed), mapping, position, card)


def constant(mapping: M, position: int, value: float | str, card: ModelCard) -> M:
    """Return an input the same value for everybody.

    Raises
    ------
    ModelError
        When the value is no finite number, or a text where the model takes a number.
    """
    accepts = card.accepts[position] if position < len(card.accepts) else ""
    if isinstance(value, str) and accepts == "number":
        raise ModelError(
            f"The model’s input “{_name(card, position)}” accepts a number, not “{value}”.",
            remedy="Give a number.",
        )
    if not isinstance(value, str):
        _refuse_endless(value)
    item = Input(name=_name(card, position), attribute="", how=How.CONSTANT, constant=value)
    return _scaled(put(mapping, position, item), mapping, position, card)


def numbered(mapping: M, position: int, value: str, number: float) -> M:
    """Return one value of an input's column another number; an empty ``value`` is a missing cell.

    Raises
    ------
    ModelError
        When the input is not made of numbers for values, or the number is not finite.
    """
    item = _item(mapping, position)
    _refuse_endless(number)
    if item.how is not How.CODE:
        raise ModelError(
            f"The model’s input “{item.name}” is not made from a number for each value.",
            remedy="Choose that way of making the input first.",
        )
    return put(
        mapping,
        position,
        msgspec.structs.replace(
            item, codes={**item.codes, value: number}, fitted=None, guessed=False
        ),
    )


def computed(mapping: M, position: int, steps: Sequence[Step]) -> M:
    """Do this arithmetic on an input, and no other.

    Raises
    ------
    ModelError
        When the input is a text, a number is not finite, or something is divided by zero.
    """
    item = _item(mapping, position)
    if steps and (item.how is How.LABEL or isinstance(item.constant, str)):
        raise ModelError(
            f"The model’s input “{item.name}” is text, so no arithmetic is possible.",
            remedy="Make the input from a number first.",
        )
    for step in steps:
        _refuse_endless(step.by)
        if step.op == "divide" and step.by == 0:
            raise ModelError("Nothing can be divided by zero.", remedy="Give another number.")
    fitted = item.fitted if item.then == tuple(steps) else None
    changed = msgspec.structs.replace(item, then=tuple(steps), fitted=fitted)
    return put(mapping, position, changed)


@overload
def answered(mapping: Mapping, answer: Answer) -> Mapping: ...


@overload
def answered(mapping: Proposal, answer: Answer) -> Proposal: ...


def answered(mapping: Mapping | Proposal, answer: Answer) -> Mapping | Proposal:
    """Let the model's answers mean this."""
    if isinstance(mapping, Proposal):
        return msgspec.structs.replace(mapping, answer=answer, unanswered="")
    return answer.onto(mapping)


def put(mapping: M, position: int, item: Input) -> M:
    """Make an input in this way.

    What was open about a proposal's inputs is settled when the last gap is filled, and when
    arithmetic is given that a scaler's file did not say the place of.
    """
    before = mapping.inputs[position]
    inputs: list[Input | None] = list(mapping.inputs)
    inputs[position] = item
    settles = None not in inputs and (before is None or before.then != item.then)
    if isinstance(mapping, Proposal) and settles:
        mapping = msgspec.structs.replace(mapping, problems=())
    return msgspec.structs.replace(mapping, inputs=tuple(inputs))


def _scaled(mapping: M, before: M, position: int, card: ModelCard) -> M:
    """Scale an input that is made anew as the model's scalers do, and what only now is placed."""
    others = set(range(len(mapping.inputs))) - {position}
    kept = (
        others
        if any(item and item.then for item in before.inputs)
        else {place for place in others if steps_at(card, before.inputs, place)}
    )
    inputs = with_steps(card, mapping.inputs, kept)
    return msgspec.structs.replace(mapping, inputs=inputs)


def _item(mapping: Mapping | Proposal, position: int) -> Input:
    item = mapping.inputs[position]
    if item is None:
        raise ModelError(
            f"The model’s input {position + 1} has no source yet.",
            remedy="Choose a column for it first.",
        )
    return item


def _name(card: ModelCard, position: int) -> str:
    return input_names(card)[position]


def _column(attribute: str, table: Table) -> Column:
    column = table.column(attribute)
    if column.kind is Kind.IGNORED:
        raise ModelError(
            f"The column “{attribute}” is excluded.",
            remedy="Give it another type, or choose another column.",
        )
    return column


def _refuse_endless(number: float) -> None:
    if not math.isfinite(number):
        raise ModelError("That is not a finite number.", remedy="Give another number.")
