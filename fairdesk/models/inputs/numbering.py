"""The numbers that an author gave to a column's values: stated in a file, or still to be confirmed.

Where no file states them, they are guessed, and every figure hangs on the guess. So the orders that
authors use are tried on the labelled rows, for the auditor to compare: a higher accuracy does not
prove an order to be the right one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from collections.abc import Mapping as Named
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np

from fairdesk.data.columns.kinds import in_order
from fairdesk.data.table import Table
from fairdesk.errors import FairDeskError, SpecError, system_errors
from fairdesk.models.inputs.mapping.making import input_names, listing
from fairdesk.models.inputs.mapping.propose import Proposal
from fairdesk.models.inputs.one_hot import loose
from fairdesk.models.inputs.usual import CheckInputs, some_rows, steps_of
from fairdesk.models.model import How, Input, Mapping, ModelCard

M = TypeVar("M", bound=Mapping | Proposal)
Codes = dict[str, float]

#: What a file of codes looks like.
EXAMPLE = '{"sex": {"F": 1, "M": 0}, "education": ["low", "medium", "high"]}'
#: What a table of orders comes with, for people.
CAVEAT = (
    "Tried on rows with a recorded outcome, one column at a time. The numbers are those that the "
    "model’s author used: ask for them. An order with a higher accuracy is not proven to be the "
    "right one, and the order of appearance and the frequencies are those of this table."
)
#: So many values are written out with their numbers.
_SHOWN = 4


class Order(msgspec.Struct, frozen=True):
    """Numbers for a column's values, and how far the model would agree with the label.

    Attributes
    ----------
    title : str
        Which orders give these numbers, for people.
    codes : dict[str, float]
        The number of each value.
    rows : int
        On so many rows it was tried.
    accuracy, auc, calibration
        As of `fairdesk.models.inputs.input_check.InputCheck`.
    """

    title: str
    codes: Codes
    rows: int
    accuracy: float
    auc: float | None
    calibration: float | None


class Numbering(msgspec.Struct, frozen=True):
    """A column whose numbers were guessed, and the orders that authors use."""

    column: str
    orders: tuple[Order, ...]


def read_codes(path: Path) -> dict[str, Codes]:
    """Read a file of codes: JSON, per column the number of each value, or its values in order.

    Raises
    ------
    SpecError
        When it cannot be read, or is something else.
    """
    with system_errors(SpecError, f"The file of codes “{path}” cannot be read.", "Check its name."):
        content = path.read_bytes()
    try:
        said = msgspec.json.decode(
            content.decode("utf-8-sig"), type=dict[str, dict[str, float] | list[str]]
        )
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise SpecError(
            f"The file of codes “{path}” does not have the expected format.",
            why=f"{error}.",
            remedy=f"It is JSON with a line per column, like {EXAMPLE}.",
        ) from error
    return {
        column: codes
        if isinstance(codes, dict)
        else {value: float(place) for place, value in enumerate(codes)}
        for column, codes in said.items()
    }


def with_codes(codes: Named[str, Codes], card: ModelCard) -> ModelCard:
    """Return a card that knows these numbers too, instead of others of the same column."""
    named = set(map(loose, codes))
    kept = {name: held for name, held in card.hints.codes.items() if loose(name) not in named}
    hints = msgspec.structs.replace(card.hints, codes={**kept, **codes})
    return msgspec.structs.replace(card, hints=hints)


def check_used(codes: Named[str, Codes], mapping: Mapping | Proposal, card: ModelCard) -> None:
    """Refuse numbers that no input is made with.

    Raises
    ------
    SpecError
        With the columns for which numbers are of use.
    """
    inputs = [item for item in mapping.inputs if item is not None]
    used = {
        loose(name)
        for item in inputs
        if item.how is How.CODE and item.others is None
        for name in (item.name, item.attribute)
    }
    if idle := [column for column in codes if loose(column) not in used]:
        coded = dict.fromkeys(i.attribute for i in inputs if i.how is How.CODE and i.others is None)
        raise SpecError(
            f"No input of the model is made from numbers for the values of {listing(idle)}.",
            why=f"The model’s inputs are: {listing(input_names(card), 40)}.",
            remedy=f"State the numbers of: {listing([*coded])}." if coded else "Omit the file.",
        )


def renumbered(mapping: M, column: str, codes: Codes | None, table: Table) -> M:
    """Give a column's values the numbers that the auditor confirmed: these, or those they have."""
    inputs = tuple(
        _with(item, codes, table) if item is not None and _is_of(item, column) else item
        for item in mapping.inputs
    )
    return msgspec.structs.replace(mapping, inputs=inputs)


def numberings(
    check: CheckInputs, table: Table, mapping: Mapping, columns: tuple[str, ...]
) -> Iterator[Numbering]:
    """Try for each of some columns the orders that authors use; the other columns stay as they are.

    Parameters
    ----------
    check : callable
        Tries a mapping on rows.
    table : Table
        The data: orders are those of all its rows, and tried on some.
    columns : tuple[str, ...]
        The columns whose values are numbered.
    """
    some = some_rows(table)
    for column in columns:
        item = next((each for each in mapping.inputs if _is_of(each, column)), None)
        if item is None:
            continue
        orders = []
        for codes, titles in _orders(item, table):
            try:
                tried = check(renumbered(mapping, column, codes, table), some)
            except FairDeskError:
                continue  # what the model refuses is no order of its author's
            figures = tried.rows, tried.accuracy, tried.auc, tried.calibration
            orders.append(Order("; ".join(titles), codes, *figures))
        yield Numbering(column, tuple(orders))


def demand(mapping: Mapping) -> SpecError | None:
    """Return the error that ends what would rest on guessed numbers; none where there are none."""
    if not mapping.guessed:
        return None
    guessed = [item for item in mapping.inputs if item.guessed]
    first = guessed[0]
    codes = {value: int(number) for value, number in [*first.codes.items()][:_SHOWN]}
    example = json.dumps({first.attribute: codes}, ensure_ascii=False)
    if len(codes) < len(first.codes):
        example = f"{example[:-2]}, …}}}}"
    return SpecError(
        f"The numbers that the model takes for the values of {listing(mapping.guessed)} are not "
        "known.",
        why="No file states them. In alphabetical order, “"
        f"{first.attribute}” would be {codes_text(first.codes)}; its author may have "
        "numbered the values differently, and every figure depends on it.",
        remedy=f"State them in a file for --codes, like {example}, or give the model’s encoders "
        "with --companion; “fairdesk inspect” compares the orders that authors use. With "
        "--accept-guesses the audit uses the alphabetical order, and each page of its report says "
        "so.",
        setting="codes",
    )


def codes_text(codes: Codes) -> str:
    """Write the first of some numbers: ``"F = 0, M = 1"``."""
    shown = [f"{value} = {number:g}" for value, number in codes.items()]
    return ", ".join([*shown[:_SHOWN], *(["…"] if len(shown) > _SHOWN else [])])


def _is_of(item: Input, column: str) -> bool:
    return item.attribute == column and item.how is How.CODE and item.others is None


def _with(item: Input, codes: Codes | None, table: Table) -> Input:
    item = msgspec.structs.replace(
        item, codes=item.codes if codes is None else codes, guessed=False
    )
    if item.fitted is None or codes is None:
        return item
    return msgspec.structs.replace(item, then=steps_of(item, table, item.fitted))


def _orders(item: Input, table: Table) -> list[tuple[Codes, list[str]]]:
    """Return the numbers that authors give to an input's values, each with the orders it is."""
    found: list[tuple[Codes, list[str]]] = []
    for title, codes in _titled(item, table):
        known = next((titles for other, titles in found if other == codes), None)
        if known is None:
            found.append((codes, [title]))
        else:
            known.append(title)
    if all(codes != item.codes for codes, _ in found):
        found.append((item.codes, ["as set by hand"]))
    return found


def _titled(item: Input, table: Table) -> Iterator[tuple[str, Codes]]:
    texts = sorted(item.codes)
    yield "alphabetical", _places(texts)
    codes, column = table.codes[:, table.index(item.attribute)], table.column(item.attribute)
    present, first, counts = np.unique(codes, return_index=True, return_counts=True)
    names = [item.missing if np.isnan(code) else column.text(code) for code in present.tolist()]
    seen = {name: (place, -count) for name, place, count in zip(names, first, counts, strict=True)}
    if set(texts) <= set(seen):
        yield "order of appearance", _places(sorted(texts, key=lambda text: seen[text][0]))
        # equally frequent ones as pandas lists them: the one that appears first comes first
        frequent = sorted(texts, key=lambda text: (seen[text][1], seen[text][0]))
        yield "most frequent first", _places(frequent)
    scale = in_order(texts)
    if scale is not None:
        yield "order of the scale", _places(scale)
        yield "order of the scale, from 1", _places(scale, 1)
    if len(texts) == 2:
        yield "the other way round", _places(texts[::-1])


def _places(texts: list[str] | tuple[str, ...], start: int = 0) -> Codes:
    return {text: float(place) for place, text in enumerate(texts, start)}
