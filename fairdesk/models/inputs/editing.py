"""Changing how a model's inputs are made, one thing at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar, overload

import msgspec

from fairdesk.data.table import Column, Kind, Table
from fairdesk.errors import ModelError
from fairdesk.models.decisions.favourable import Answer
from fairdesk.models.inputs.mapping.making import input_names, made_of
from fairdesk.models.inputs.mapping.propose import Proposal
from fairdesk.models.inputs.mapping.scaling import steps_at, with_steps
from fairdesk.models.inputs.one_hot import MISSING, Place
from fairdesk.models.inputs.one_hot import made as one_hot
from fairdesk.models.model import How, Input, Mapping, ModelCard, Step

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
