"""Which column an input of a model is made from, how, and the arithmetic of its scaler."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

import msgspec

from fairdesk.data.columns.kinds import name_parts
from fairdesk.data.profiling.outcomes import favourable_rows, leaks, meaning
from fairdesk.data.table import Column, Kind, Table
from fairdesk.errors import DataError
from fairdesk.models.inputs.one_hot import (
    MISSING,
    MISSING_NAMES,
    Values,
    is_one_hot,
    loose,
    texts_of,
    values_of,
)
from fairdesk.models.model import How, Input, ModelCard, Step, Takes

T = TypeVar("T")
Made = list[Input | None]
#: Cells that `pandas.read_csv` takes as missing unless it is told otherwise.
READ_AS_MISSING = frozenset(
    (
        *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND"),
        *("1.#QNAN", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
    )
)


def input_names(card: ModelCard) -> tuple[str, ...]:
    """Return a model's inputs by name: its own, those of a list beside it, or ``"input 1"``, ..."""
    listed = card.hints.features
    return listed if not card.named and len(listed) == len(card.inputs) else card.inputs


def made_of(name: str, column: Column, table: Table, card: ModelCard, accepts: str = "") -> Input:
    """Return how an input is made from a column, by what the column holds and the model takes.

    Parameters
    ----------
    accepts : str
        What the input accepts: ``"number"``, ``"text"``, ``"either"``, or empty when not known.
    """
    codes = None if accepts == "text" else hinted(card.hints.codes, name, column.name)
    if codes:
        # an encoder may know more numbers than could have an input each
        values = values_of(table, column) or texts_of(table, column)
        item = encoded(name, column, codes, values)
        if item.codes:
            return item
    if column.kind.is_number and accepts != "text":
        return Input(name=name, attribute=column.name, how=How.AS_IS)
    known = card.categories.get(name, ())
    if accepts == "text" or column.kind.is_number or column.kind is Kind.TEXT:
        return _labelled(name, column, known, table)
    if card.takes is Takes.COLUMNS:
        numbers = numbers_in(column.values)
        if numbers is not None:
            given = dict(zip(column.values, numbers, strict=True))
            return Input(name=name, attribute=column.name, how=How.CODE, codes=given)
        if accepts != "number":
            return _labelled(name, column, known, table)
    return numbered(name, column)


def _labelled(name: str, column: Column, known: Sequence[str], table: Table) -> Input:
    """Return an input that is given a column's texts, spelt as an encoder knows them.

    A text that the encoder does not know is given as the only one that is the same number: “1” as
    “1.0”.
    """
    if not known or column.kind is Kind.TEXT:
        token = token_of(column)
        return Input(name=name, attribute=column.name, how=How.LABEL, missing=token)
    values, spellings = column.values or texts_of(table, column), Values(known)
    spelt = {
        value: found
        for value in values
        if (found := spellings.same_number(value)) is not None and found != value
    }
    token = column.missing_token
    if column.missing and token not in known and "" not in known:
        # what Python writes for a missing cell, where no cell of the column has that text
        called = (each for each in known if each.casefold() in MISSING_NAMES)
        token = next((each for each in called if each not in values), token_of(column))
    missing = token if token in known or "" not in known else ""
    return Input(name=name, attribute=column.name, how=How.LABEL, missing=missing, texts=spelt)


def hinted(hints: Mapping[str, T], name: str, column: str) -> T | None:
    """Find what files tell about an input: under its name, or its column's, however spelt."""
    loosely = {loose(key): value for key, value in hints.items()}
    for found in (*(hints.get(key) for key in (name, column)), loosely.get(loose(name))):
        if found is not None:
            return found
    return loosely.get(loose(column))


def encoded(name: str, column: Column, codes: dict[str, float], values: Sequence[str]) -> Input:
    """Return values the numbers of an encoder; those that it does not know have none."""
    known = Values(tuple(codes))
    found = {value: known.find(value) for value in values}
    given = {value: codes[key] for value, key in found.items() if key is not None}
    if column.missing and given:
        token = column.missing_token
        taken = set(found.values())
        for key in (token, *codes):
            if key not in codes or key in taken:
                continue
            if key == token or key.casefold() in MISSING_NAMES:
                given[MISSING] = codes[key]
                break
    return Input(name=name, attribute=column.name, how=How.CODE, codes=given)


def numbered(name: str, column: Column) -> Input:
    """Return each value its place in the alphabet as its number: a guess, if it may be another."""
    token = token_of(column)
    texts = sorted({*column.values, token} if token else column.values)
    places = {text: float(i) for i, text in enumerate(texts)}
    guessed = len(texts) > 1 and numbers_in(texts) != list(places.values())
    return Input(
        name=name,
        attribute=column.name,
        how=How.CODE,
        codes=places,
        missing=token,
        guessed=guessed,
    )


def guess_sentence(columns: Sequence[str]) -> str:
    """Return a sentence that names the columns whose numbers were only guessed."""
    return (
        f"The values of {listing(columns)} are numbered alphabetically, from 0. No file states "
        "their numbers: confirm that the model was trained that way."
    )


def token_of(column: Column) -> str:
    """Return the text of missing cells, where models were trained with it as one more value."""
    # what pandas reads as text by default was one more value when the model was trained
    return column.missing_token if column.missing_token not in READ_AS_MISSING else ""


def numbers_in(values: Iterable[str]) -> list[float] | None:
    """Read values as numbers, as pandas does: all, or none; true and false are 1 and 0."""
    numbers = [meaning(value) for value in values]
    return (
        [number for number in numbers if isinstance(number, float)]
        if all(isinstance(number, float) for number in numbers)
        else None
    )


def listing(names: Sequence[str], most: int = 12) -> str:
    """Write names out, the first few of many."""
    shown = ", ".join(f"“{name}”" for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


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


#: How two columns are joined, by the words that are left of an input's name without theirs.
_JOINED = {
    **dict.fromkeys(("per", "to", "over", "div", "by", "ratio", "rate"), "“{}” / “{}”"),
    **dict.fromkeys(("minus", "diff", "difference", "less"), "“{}” - “{}”"),
    **dict.fromkeys(("plus", "sum", "total"), "“{}” + “{}”"),
    **dict.fromkeys(("times", "x", "product", "interaction"), "“{}” * “{}”"),
}
#: What is made of one column.
_MADE = {
    **dict.fromkeys(("band", "bands", "bin", "bins", "binned", "bucket"), "bands of “{}”"),
    **dict.fromkeys(("group", "grp", "range", "category", "cat"), "bands of “{}”"),
    **dict.fromkeys(("log", "ln", "log1p"), "the logarithm of “{}”"),
    **dict.fromkeys(("squared", "sq", "square"), "the square of “{}”"),
    **dict.fromkeys(("sqrt", "root"), "the square root of “{}”"),
    **dict.fromkeys(("missing", "isna", "isnull", "na"), "1 where “{}” is missing, else 0"),
}


def advice(names: Sequence[str], columns: Sequence[Column]) -> str:
    """Say how inputs get a column that the author's code computed, and what they may be."""
    formulas = [
        f"“{name}” may be {formula}" for name in names for formula in _formulas(name, columns)
    ]
    return (
        "If the author’s code computed them from other columns, add each to the table as a column "
        "of that name, computed as it was for training"
        + (f": {'; '.join(formulas)}." if formulas else ".")
    )


def of_encoded(name: str, columns: Sequence[Column]) -> Column | None:
    """Find the column that an input is called after: “Sex” for “Sex_encoded”; None if several."""
    parts = name_parts(name)
    found = [
        (len(own), column)
        for column in columns
        if (own := name_parts(column.name))
        and len(own) < len(parts)
        and own in (parts[: len(own)], parts[-len(own) :])
    ]
    most = max((count for count, _ in found), default=0)
    longest = [column for count, column in found if count == most]
    return longest[0] if len(longest) == 1 else None


def _formulas(name: str, columns: Sequence[Column]) -> Iterator[str]:
    """Yield what an input may be made of, where its name says it: one, or nothing."""
    parts = name_parts(name)
    places: dict[int, Column] = {}
    for column in columns:
        own = name_parts(column.name)
        for start in range(len(parts) - len(own) + 1):
            if own and parts[start : start + len(own)] == own:
                places[start] = column
    used = {part for column in places.values() for part in name_parts(column.name)}
    left = [part for part in parts if part not in used]
    made_of = [places[start].name for start in sorted(places)]
    forms = {1: _MADE, 2: _JOINED}.get(len(made_of), {})
    form = next((forms[part] for part in left if part in forms), None)
    if form is not None:
        yield form.format(*made_of)


#: Words so short say nothing of what a column is about.
_SHORT = 3


def as_many(card: ModelCard, table: Table, label: str, told: set[str]) -> list[tuple[Column, ...]]:
    """Find the columns that are as many as a model's inputs, in the table's order.

    All but the label; or without other outcomes, without excluded columns, or without both. What is
    excluded may be an input all the same: only its cells look like names of rows. What is another
    outcome is none: a column that tells the label almost alone, or is called after what the label
    is called after.

    Parameters
    ----------
    told : set[str]
        What `told_by` returns.

    Returns
    -------
    list[tuple[Column, ...]]
        The choices, the first with the most of the table's columns. None of them has other outcomes
        in it, where one does without them.
    """
    count = len(card.inputs)
    others = tuple(column for column in table.columns if column.name != label)
    words = {part for part in name_parts(label) if len(part) > _SHORT or not part.isalpha()}
    called = {c.name for c in others if words & set(name_parts(c.name))}
    with_outcome: list[tuple[Column, ...]] = []
    without: list[tuple[Column, ...]] = []
    for outcomes in (set(), told, called, told | called):
        for excluded in (True, False):
            choice = tuple(
                column
                for column in others
                if column.name not in outcomes and (excluded or column.kind is not Kind.IGNORED)
            )
            kept = without if not told & {column.name for column in choice} else with_outcome
            if len(choice) == count and choice not in kept:
                kept.append(choice)
    return without or with_outcome


def told_by(table: Table, label: str, favourable: str) -> set[str]:
    """Return the columns that tell the outcome almost alone."""
    try:
        good, _ = favourable_rows(table, label, favourable)
    except DataError:
        return set()
    return {problem.column for problem in leaks(table, label, good)}
