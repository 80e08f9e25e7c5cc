"""Decisions that a model made, as a column of the table: what is left where the model is not."""

from __future__ import annotations

import msgspec

from fairdesk.data.profiling.outcomes import favourable_rows
from fairdesk.data.table import Table
from fairdesk.models.inputs.input_check import InputCheck, agreement
from fairdesk.models.model import Mapping, ModelCard, Takes


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


def check(
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
