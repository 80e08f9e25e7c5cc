"""From the cells of a column to its codes and its kind."""

from __future__ import annotations

from collections.abc import Collection

import msgspec
import numpy as np
from numpy.typing import NDArray

from fairdesk.data.kinds import EXACT, as_numbers, identifies, in_order, is_prose
from fairdesk.data.table import Column, Kind
from fairdesk.data.texts import AnyTexts, Numbers


def typed(
    name: str, cells: AnyTexts | Numbers, missing: Collection[str], decimal: str
) -> tuple[Column, NDArray[np.float64]]:
    """Make a column of cells a typed one.

    Parameters
    ----------
    name : str
        The column's name.
    cells : AnyTexts or Numbers
        Its cells.
    missing : collection of str
        What counts as missing, besides the empty cell.
    decimal : str
        ``"."`` or ``","``.

    Returns
    -------
    column : Column
        Its kind is inferred; see `fairdesk.data.kinds`.
    codes : NDArray[np.float64]
        ``(n,)``; NaN where missing.
    """
    if isinstance(cells, Numbers):
        column, codes = _typed_numbers(name, cells, missing)
    else:
        column, codes = _typed_texts(name, cells, missing, decimal)
    if is_prose(column, codes):
        column = msgspec.structs.replace(column, kind=Kind.TEXT)
    elif identifies(column, codes):
        column = msgspec.structs.replace(column, kind=Kind.IGNORED)
    return column, codes


def _typed_texts(
    name: str, texts: AnyTexts, missing: Collection[str], decimal: str
) -> tuple[Column, NDArray[np.float64]]:
    gone = texts.among({"", *missing})
    lookup = np.full(len(texts), np.nan)
    numbers = texts.numbers(~gone, decimal)
    values: tuple[str, ...] = ()
    if gone.all():
        kind = Kind.IGNORED
    elif numbers is not None:
        lookup[~gone] = numbers
        kind = _kind_of(numbers)
    else:
        present = texts.pick(~gone)
        different = set(present)
        ordered = in_order(different)
        values = ordered or tuple(sorted(different))
        position = {value: i for i, value in enumerate(values)}
        lookup[~gone] = [position[text] for text in present]
        kind = Kind.ORDINAL if ordered else Kind.NOMINAL
    column = Column(
        name=name,
        kind=kind,
        values=values,
        low=0.0 if gone.all() else float(np.nanmin(lookup)),
        high=0.0 if gone.all() else float(np.nanmax(lookup)),
        missing=int(texts.counts()[gone].sum()),
        missing_token=texts.commonest(gone),
    )
    return column, np.take(lookup, texts.codes)


def _typed_numbers(
    name: str, numbers: Numbers, missing: Collection[str]
) -> tuple[Column, NDArray[np.float64]]:
    codes = numbers.codes
    counts = {"": int(np.count_nonzero(np.isnan(codes)))}
    for token in missing:
        meant = as_numbers([token], ".")
        if meant is not None:
            counts[token] = int(np.count_nonzero(codes == meant[0]))
            codes = np.where(codes == meant[0], np.nan, codes)
    present = codes[~np.isnan(codes)]
    lost = codes.size - present.size
    column = Column(
        name=name,
        kind=_kind_of(present) if present.size else Kind.IGNORED,
        low=float(present.min()) if present.size else 0.0,
        high=float(present.max()) if present.size else 0.0,
        missing=lost,
        missing_token=max(counts, key=counts.__getitem__) if lost else "",
        note=numbers.note,
    )
    return column, codes


def _kind_of(numbers: NDArray[np.float64]) -> Kind:
    whole = (np.abs(numbers) < EXACT).all() and (numbers == np.round(numbers)).all()
    return Kind.INTEGER if whole else Kind.REAL
