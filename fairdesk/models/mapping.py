"""Which table column goes into which model input, and which class is the favourable one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from fairdesk.data.outcomes import spelt_as
from fairdesk.data.table import Column, Kind, Table
from fairdesk.errors import ModelError
from fairdesk.models.model import How, Input, Mapping, ModelCard, Takes

#: Cells that `pandas.read_csv` takes as missing unless it is told otherwise.
READ_AS_MISSING = frozenset(
    (
        *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND"),
        *("1.#QNAN", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
    )
)
BY_NAME, BY_POSITION = "by name", "by position"


def match(
    card: ModelCard,
    table: Table,
    label: str,
    favourable: str,
    model_favourable: str | None = None,
) -> Mapping:
    """Propose how the table's columns become the model's inputs.

    A model that names its inputs gets the columns of those names: exactly, else without regard
    to case, spaces and punctuation. Any other gets the table's columns in their order, without
    the label and ignored ones.

    Parameters
    ----------
    card : ModelCard
        The model.
    table : Table
        The data.
    label : str
        The column with the decision or the truth; no input.
    favourable : str
        The label's favourable value.
    model_favourable : str, optional
        The model's class that means the favourable value. By default the class of that name,
        else the second of two.

    Raises
    ------
    ModelError
        When inputs and columns do not fit, or the favourable class is unclear.
    DataError
        When the table has no column ``label``.
    """
    table.column(label)
    by_name = card.named
    columns = _by_name(card, table, label) if by_name else _by_position(card, table, label)
    return Mapping(
        inputs=tuple(
            _input(name, column, card.takes)
            for name, column in zip(card.inputs, columns, strict=True)
        ),
        matched=BY_NAME if by_name else BY_POSITION,
        favourable_class=favourable_class(card.classes, favourable, model_favourable),
    )


def remap(mapping: Mapping, input_index: int, attribute: str, table: Table) -> Mapping:
    """Make one input from another column.

    Raises
    ------
    ModelError
        When the column is ignored.
    DataError
        When the table has no such column.
    """
    column = table.column(attribute)
    if column.kind is Kind.IGNORED:
        raise ModelError(
            f"The column “{attribute}” is ignored.",
            remedy="Give it another kind on the data page, or choose another column.",
        )
    # only models that name their inputs take columns as they stand in the table
    takes = Takes.COLUMNS if mapping.matched == BY_NAME else Takes.MATRIX
    inputs = list(mapping.inputs)
    inputs[input_index] = _input(inputs[input_index].name, column, takes)
    return msgspec.structs.replace(mapping, inputs=tuple(inputs))


def favourable_class(
    classes: Sequence[str], favourable: str, model_favourable: str | None = None
) -> int:
    """Find the class that means the favourable outcome.

    Parameters
    ----------
    classes : sequence of str
        The model's.
    favourable : str
        The label's favourable value; ``"1"``, ``"1.0"`` and ``"True"`` are the same.
    model_favourable : str, optional
        The class itself.

    Raises
    ------
    ModelError
        When ``model_favourable`` is no class, or there are three or more and none is
        called as the favourable value.
    """
    wanted = favourable if model_favourable is None else model_favourable
    place = spelt_as(wanted, classes)
    if place is not None:
        return place
    if model_favourable is not None:
        raise ModelError(
            f"The model has no class “{model_favourable}”.",
            remedy=f"Its classes are: {', '.join(classes)}.",
        )
    if len(classes) == 2:
        return 1
    raise ModelError(
        f"None of the model's classes is called “{favourable}”.",
        why="So FairDesk cannot tell which one is the favourable outcome.",
        remedy=f"Choose one of: {', '.join(classes)}.",
    )


def _by_name(card: ModelCard, table: Table, label: str) -> list[Column]:
    loosely = Counter(_loose(column.name) for column in table.columns)
    names = {column.name: column for column in table.columns}
    loose_names = {
        _loose(column.name): column for column in table.columns if loosely[_loose(column.name)] == 1
    }
    found = [names.get(name) or loose_names.get(_loose(name)) for name in card.inputs]
    missing = [name for name, column in zip(card.inputs, found, strict=True) if column is None]
    if missing:
        used = {column.name for column in found if column}
        unused = [name for name in table.names if name not in used and name != label]
        raise ModelError(
            f"The model has {len(card.inputs)} inputs, and the table has no column for "
            f"{_list(missing)}.",
            why=f"Columns that are left over: {_list(unused)}."
            if unused
            else "No column is left over.",
            remedy="Choose the data that this model was made for, or rename the columns.",
        )
    columns = [column for column in found if column]
    _refuse_label([column for column in columns if column.name == label])
    _refuse_ignored([column.name for column in columns if column.kind is Kind.IGNORED])
    return columns


def _by_position(card: ModelCard, table: Table, label: str) -> list[Column]:
    everything = [column for column in table.columns if column.name != label]
    offered = [column for column in everything if column.kind is not Kind.IGNORED]
    if len(offered) == len(card.inputs):
        return offered
    if len(everything) == len(card.inputs):
        _refuse_ignored([column.name for column in everything if column.kind is Kind.IGNORED])
    ignored = len(everything) - len(offered)
    raise ModelError(
        f"The model has {len(card.inputs)} inputs, but the table offers {len(offered)} columns"
        + (f" (besides {ignored} ignored)" if ignored else "")
        + ".",
        why=f"Without the label “{label}” they are: {_list([column.name for column in offered])}.",
        remedy="Choose the data that this model was made for, or ignore the columns that it "
        "does not take.",
    )


def _refuse_label(found: list[Column]) -> None:
    if found:
        raise ModelError(
            f"The model takes the label column “{found[0].name}” as an input.",
            why="A model that is given the answer cannot be audited against it.",
            remedy="Choose another label column, or the model that decides without it.",
        )


def _refuse_ignored(names: list[str]) -> None:
    if names:
        raise ModelError(
            f"The model takes columns that are ignored: {_list(names)}.",
            remedy="Give them another kind on the data page.",
        )


def _input(name: str, column: Column, takes: Takes) -> Input:
    """Say how an input is made from a column, by what the column holds."""
    if column.kind.is_number:
        return Input(name=name, attribute=column.name, how=How.AS_IS)
    # what pandas reads as text by default was one more value when the model was trained
    token = column.missing_token if column.missing_token not in READ_AS_MISSING else ""
    values = {*column.values, token} if token else set(column.values)
    if takes is Takes.MATRIX:
        codes = {value: float(i) for i, value in enumerate(sorted(values))}
        return Input(name=name, attribute=column.name, how=How.CODE, codes=codes, missing=token)
    numbers = _numbers(column.values)
    if numbers is None:
        return Input(name=name, attribute=column.name, how=How.LABEL, missing=token)
    codes = dict(zip(column.values, numbers, strict=True))
    return Input(name=name, attribute=column.name, how=How.CODE, codes=codes)


def _numbers(values: Iterable[str]) -> list[float] | None:
    try:
        return [float(value) for value in values]
    except ValueError:
        return None


def _loose(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).casefold()


def _list(names: Sequence[str], most: int = 12) -> str:
    """Write names out, the first few of many."""
    shown = ", ".join(f"“{name}”" for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
