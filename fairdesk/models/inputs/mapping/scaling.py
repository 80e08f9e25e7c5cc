"""The arithmetic of the scalers that came with a model: which input each was fitted on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from fairdesk.models.inputs.mapping.making import Made, hinted, listing
from fairdesk.models.inputs.one_hot import is_one_hot, loose
from fairdesk.models.model import How, Input, ModelCard, Step


class Scaled(NamedTuple):
    """Inputs with their arithmetic, what is open about it, and what was assumed."""

    inputs: Made
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def scaled(card: ModelCard, inputs: Sequence[Input | None], given: Iterable[str]) -> Scaled:
    """Add the arithmetic of scalers, by name or in order.

    Parameters
    ----------
    given : iterable of str
        The names of the model's inputs, and of the label.
    """
    if foreign := tuple(_for_other_columns(card, inputs, given)):
        return Scaled(list(inputs), foreign)
    made = list(inputs)
    for place, item in enumerate(inputs):
        if item is not None and (steps := steps_at(card, inputs, place)):
            made[place] = msgspec.structs.replace(item, then=steps)
    places = _in_order(card, inputs)
    if places is None:
        return Scaled(made, (_unplaced(card, inputs),))
    if 0 < len(places) < len(inputs):
        names = [item.attribute for place in places if (item := inputs[place]) is not None]
        note = (
            "The companion scaler is used for the inputs that are numbers, in their order: "
            f"{listing(names)}. Check it."
        )
        return Scaled(made, (), (note,))
    return Scaled(made)


def steps_at(card: ModelCard, inputs: Sequence[Input | None], place: int) -> tuple[Step, ...]:
    """Return what the scalers do to the input at a place; empty for nothing."""
    item, hints = inputs[place], card.hints
    if item is None or item.how is How.LABEL or isinstance(item.constant, str):
        return ()
    places = _in_order(card, inputs) or []
    if place in places:
        return hints.steps_in_order[places.index(place)]
    # a scaler that names columns scaled numbers, not what was made of names since
    column = item.name if is_one_hot(item) else item.attribute
    return hinted(hints.steps, item.name, column) or ()


def with_steps(
    card: ModelCard, inputs: Sequence[Input | None], stated: Collection[int]
) -> tuple[Input | None, ...]:
    """Scale the inputs that have no arithmetic yet, but not those at places where it is stated."""
    return tuple(
        item
        if item is None or item.then or place in stated
        else msgspec.structs.replace(item, then=steps_at(card, inputs, place))
        for place, item in enumerate(inputs)
    )


def unscaled(card: ModelCard, inputs: Sequence[Input | None]) -> Iterator[str]:
    """Yield what is wrong where a scaler is not used for all that it was fitted on."""
    if None in inputs:
        return
    bare = [
        item.name
        for place, item in enumerate(inputs)
        if item is not None and not item.then and steps_at(card, inputs, place)
    ]
    if bare:
        yield (
            f"The scaler that came with the model was fitted on {listing(bare)} too, but "
            f"{'this input is' if len(bare) == 1 else 'these inputs are'} not scaled. State the "
            "arithmetic of each input, or remove the scaler."
        )
    by_hand = sum(item is not None and bool(item.then) for item in inputs)
    if _in_order(card, inputs) is None and by_hand < len(card.hints.steps_in_order):
        yield _unplaced(card, inputs)


def _unplaced(card: ModelCard, inputs: Sequence[Input | None]) -> str:
    return (
        f"The companion scaler takes {len(card.hints.steps_in_order)} columns, and does not state "
        f"which: the model has {len(inputs)} inputs, {sum(map(_is_number, inputs))} of them "
        "numbers. Specify them in a mapping file, or remove the scaler and set the arithmetic by "
        "hand."
    )


def _for_other_columns(
    card: ModelCard, inputs: Sequence[Input | None], given: Iterable[str]
) -> Iterator[str]:
    """Refuse scalers that were fitted on columns which the model is not given."""
    attributes = [item.attribute for item in inputs if item is not None]
    known = {loose(name) for name in (*given, *attributes)}
    for name, columns in card.hints.scalers.items():
        others = [column for column in columns if loose(column) not in known]
        if others:
            yield (
                f"The scaler “{name}” was fitted on {len(columns)} columns: {listing(columns)}. "
                f"The model is not given {listing(others)}, so the scaler belongs to another "
                "model or table, and is not used. Choose the scaler of this model, and the "
                "table with the columns that it was fitted on, or remove the scaler."
            )


def _in_order(card: ModelCard, inputs: Sequence[Input | None]) -> list[int] | None:
    """Find the inputs that a scaler without names is for; None where its count fits none."""
    count = len(card.hints.steps_in_order)
    ways = (
        range(len(inputs)),
        [i for i, item in enumerate(inputs) if _is_number(item)],
        [i for i, item in enumerate(inputs) if item is None or not is_one_hot(item)],
    )
    return next((list(way) for way in ways if len(way) == count), None) if count else []


def _is_number(item: Input | None) -> bool:
    return item is not None and (
        item.how is How.AS_IS or (item.how is How.CONSTANT and not isinstance(item.constant, str))
    )
