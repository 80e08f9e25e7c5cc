"""Small tables and where the large data lie, for the tests of this folder."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from fairdesk.data.table import Column, Dialect, Kind, Source, Table

SHARED = Path(os.environ.get("FAIRDESK_TEST_DATA", Path(__file__).parents[3] / "shared" / "data"))
needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the folder of real models and data is not here"
)


def number(name: str, values: Sequence[float], kind: Kind = Kind.INTEGER) -> tuple[Column, list]:
    known = [value for value in values if not np.isnan(value)]
    column = Column(name, kind, low=min(known), high=max(known), missing=len(values) - len(known))
    return column, list(values)


def names(
    name: str, cells: Sequence[str | None], kind: Kind = Kind.NOMINAL, token: str = ""
) -> tuple[Column, list]:
    values = tuple(sorted({cell for cell in cells if cell is not None}))
    codes = [np.nan if cell is None else float(values.index(cell)) for cell in cells]
    column = Column(
        name,
        kind,
        values,
        high=len(values) - 1,
        missing=sum(cell is None for cell in cells),
        missing_token=token,
    )
    return column, codes


def table(*columns: tuple[Column, list]) -> Table:
    codes = np.array([codes for _, codes in columns], dtype=float).T
    return Table(
        Source("table.csv", "0" * 64, len(codes), Dialect()), tuple(c for c, _ in columns), codes
    )


def encoded(name: str) -> Table:
    """Read one of the files of whole numbers."""
    path = SHARED / "encoded" / f"{name}.csv"
    with path.open() as stream:
        header = next(csv.reader(stream))
    codes = np.loadtxt(path, delimiter=",", skiprows=1)
    return table(*(number(head, codes[:, i].tolist()) for i, head in enumerate(header)))
