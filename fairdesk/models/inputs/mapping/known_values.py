"""How columns are to be read so that their cells are the values that a model's encoder knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fairdesk.data.columns.kinds import is_padded
from fairdesk.data.columns.rereading import with_reading
from fairdesk.data.table import Column, ColumnReading, Dialect, Table
from fairdesk.models.inputs.mapping.making import hinted, listing, numbers_in
from fairdesk.models.inputs.one_hot import MISSING, Values, is_one_hot
from fairdesk.models.model import Input, ModelCard, Takes


class Settled(NamedTuple):
    """A way to read a table that follows from a model, and what it changes: a sentence each."""

    dialect: Dialect
    notes: tuple[str, ...]


def settled(card: ModelCard, table: Table, inputs: Sequence[Input | None]) -> Settled:
    """Return how a table is to be read for the model that its columns are made inputs of.

    The type of a column and the spelling of its cells are those that the model's encoder knows:
    texts where it compares with texts, “NA” among them where that is one; numbers where the model
    takes numbers, although the cells have leading zeros. What the auditor decided of a column goes
    before.

    Parameters
    ----------
    inputs : sequence of Input or None
        How inputs are made of the table as it is read now, as far as that is known.

    Returns
    -------
    Settled
        With the table's own dialect where it is read so already.
    """
    by_column: dict[str, list[tuple[Input, int]]] = {}
    for place, item in enumerate(inputs):
        if item is not None and item.attribute:
            by_column.setdefault(item.attribute, []).append((item, place))
    dialect = before = table.source.dialect
    numbers, texts, notes = list[str](), list[str](), list[str]()
    for name, given in by_column.items():
        reading = before.reading(name)
        if reading != ColumnReading() and not reading.by_model:
            continue
        column = table.column(name)
        if _as_numbers(column, reading, given, card):
            found = ColumnReading(numeric=True, by_model=True)
            numbers.append(name)
        else:
            compared = any(item.name in card.categories for item, _ in given)
            known = _known(column, given, card)
            odd = any(each.text in known for each in column.odd)
            numeric = False if (compared or odd) and _is_number(column, reading) else None
            values = _not_missing(column, known, before)
            kept = tuple(t for t in before.missing if t not in values) if values else None
            settles = numeric is False or bool(values)
            found = ColumnReading(numeric=numeric, missing=kept, by_model=settles)
            texts += [name] if numeric is False else []
            if values:
                notes.append(
                    f"The model’s encoder knows {listing(values)} of “{name}”, so such cells are "
                    "values and not missing."
                )
        dialect = with_reading(dialect, name, found)
    if texts:
        notes.insert(
            0,
            f"The model’s encoder compares {listing(texts)} with texts, so the cells are read as "
            "texts, as they are written.",
        )
    if numbers:
        notes.insert(
            0,
            f"The model takes {listing(numbers)} as numbers, so the cells are read as numbers, "
            "without their leading zeros.",
        )
    return Settled(dialect, tuple(notes))


def _is_number(column: Column, reading: ColumnReading) -> bool:
    """Return whether a column holds numbers, unless its encoder is asked."""
    if reading.by_model and reading.numeric is False:
        return True
    return column.kind.is_number


def _as_numbers(
    column: Column, reading: ColumnReading, given: Sequence[tuple[Input, int]], card: ModelCard
) -> bool:
    """Return whether a model takes as numbers what leading zeros made a column of texts."""
    if not (reading.by_model and reading.numeric):
        if not any(map(is_padded, column.values)) or numbers_in(column.values) is None:
            return False
        if all(is_one_hot(item) for item, _ in given):
            # 1 has an input and 01 has none: who made them did not tell them apart
            own = Values([t for item, _ in given for t in item.codes if t != MISSING])
            return any(own.same_number(text) not in (text, None) for text in column.values)
    return all(
        not hinted(card.hints.codes, item.name, item.attribute)
        and (card.takes is Takes.MATRIX or card.accepts[place : place + 1] == ("number",))
        for item, place in given
    )


def _known(column: Column, given: Sequence[tuple[Input, int]], card: ModelCard) -> set[str]:
    """Return the texts that encoders know of a column, inside the model or beside it."""
    known: set[str] = set()
    for item, _ in given:
        known.update(card.categories.get(item.name, ()))
        known.update(hinted(card.hints.codes, item.name, item.attribute) or ())
        known.update(hinted(card.hints.one_hot, item.name, item.attribute) or ())
        if is_one_hot(item):
            known.update(_named(item.name, column))
    return known


def _named(name: str, column: Column) -> Iterator[str]:
    """Yield the text of missing cells that an input is named after: “region_NA”."""
    for text, _ in column.missing_texts:
        before = name.removesuffix(text)
        if before != name and before and not before[-1].isalnum():
            yield text


def _not_missing(column: Column, known: set[str], dialect: Dialect) -> list[str]:
    """Return the texts that would be missing, but that an encoder knows as values.

    A mere sign, as “?”, stays a missing cell that the encoder is given as that sign, unless there
    are others: then they are not one.
    """
    tokens = [token.strip() for token in dialect.missing]
    there = {text for text, _ in column.missing_texts} | set(column.values).intersection(tokens)
    found = [token for token in tokens if token in there and token in known]
    words = [token for token in found if any(letter.isalpha() for letter in token)]
    empty = column.missing > sum(count for _, count in column.missing_texts)
    return words if len(there) - len(words) + empty <= 1 else found
