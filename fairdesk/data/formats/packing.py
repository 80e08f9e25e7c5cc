"""Columns of any values, gathered piece by piece in Arrow's buffers: little memory per cell."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from fairdesk.data.columns.kinds import EXACT
from fairdesk.data.columns.texts import Numbers, Texts, looks_like_numbers, numbers_of

_NO_TIME = re.compile(r" 00:00:00(Z?)$")
_FRACTION = re.compile(r"\.(\d*?)0*(?=Z?$)")


class Packing:
    """Gathers columns of values.

    Texts stay texts. Numbers stay numbers, unless a column has texts too, or one that a float
    cannot keep exactly: then all of it are texts. Truth values become ``"true"`` and ``"false"``,
    dates and times are written like 2026-11-30 and 2026-11-30 13:45:00. What has no value is the
    empty text, or NaN among numbers.

    Parameters
    ----------
    as_texts : collection of int
        Those that are texts, whatever they are stored as.
    """

    def __init__(self, width: int, as_texts: Collection[int] = ()) -> None:
        self._columns = [_Column([], as_texts=place in as_texts) for place in range(width)]

    def add(self, columns: Iterable[Sequence[Any] | pa.Array]) -> None:
        """Take more rows, column by column."""
        for column, values in zip(self._columns, columns, strict=True):
            column.add(values)

    def columns(self) -> tuple[Texts | Numbers, ...]:
        """Return all that was gathered, and forget it."""
        gathered = []
        for column in self._columns:
            gathered.append(column.finished())
            column.pieces.clear()
        return tuple(gathered)


@dataclass
class _Column:
    """Pieces of a column: numbers; or texts, as dictionaries or one by one.

    Where most cells are different numbers, to find those that are alike takes longer than it saves.
    """

    pieces: list[NDArray[np.float64] | pa.DictionaryArray | pa.StringArray]
    strange: str = ""
    singly: bool = False
    as_texts: bool = False

    def add(self, values: Sequence[Any] | pa.Array) -> None:
        if not isinstance(values, pa.Array):
            values = _as_array(values)
        if isinstance(values, pa.ExtensionArray):
            values = values.storage
        if pa.types.is_dictionary(values.type):
            values = values.dictionary_decode()
        if pa.types.is_nested(values.type) or _is_binary(values.type):
            self.strange = str(values.type).partition("<")[0]
            values = pa.nulls(len(values))
        if _is_text(values.type):
            self.pieces.append(self._texts(values))
            return
        stays = self.as_texts and not pa.types.is_null(values.type)
        numbers = None if stays else _as_numbers(values)
        self.pieces.append(_as_texts(values) if numbers is None else numbers)

    def _texts(self, values: pa.Array) -> pa.DictionaryArray | pa.StringArray:
        texts = _filled(values)
        if self.singly:
            return texts
        encoded = texts.dictionary_encode()
        kept = encoded.dictionary
        self.singly = 2 * len(kept) > len(texts) and bool(looks_like_numbers(kept).mean() > 0.5)
        return encoded

    def finished(self) -> Texts | Numbers:
        if all(isinstance(piece, np.ndarray) for piece in self.pieces):
            codes = np.concatenate([np.empty(0), *self.pieces])
            return Numbers(codes, self._note() if np.isnan(codes).all() else "")
        texts = [
            _as_texts(pa.array(piece)) if isinstance(piece, np.ndarray) else piece
            for piece in self.pieces
        ]
        return _joined(texts)

    def _note(self) -> str:
        if not self.strange:
            return ""
        return f"It contains values of the type “{self.strange}”, which are not supported."


def _as_array(values: Sequence[Any]) -> pa.Array:
    """Pack Python values; as texts where they are of several sorts, or of one that is too large."""
    sorts = set(map(type, values)) - {type(None)}
    if len(sorts) <= 1 or sorts == {int, float}:
        # Arrow refuses, for example, whole numbers of more than 64 bits
        with suppress(pa.ArrowException, OverflowError):
            return pa.array(values)
    return pa.array([None if value is None else as_text(value) for value in values], pa.string())


def as_text(value: object) -> str:
    """Write a value as a cell of a CSV file would: 3.0 as ``"3"``, dates like 2026-11-30."""
    match value:
        case None:
            text = ""
        case bool():
            text = "true" if value else "false"
        case float() if np.isnan(value):
            text = ""
        case float() if abs(value) < EXACT and value == int(value):
            text = str(int(value))
        case dt.datetime():
            text = _short_time(value.isoformat(" "))
        case dt.time():
            text = _short_time(value.isoformat())
        case Decimal():
            text = format(value, "f")
        case _:
            text = str(value)
    return text


def _short_time(text: str) -> str:
    """Leave out the end of a fraction of a second that is 0, and a time that is midnight."""
    short = _FRACTION.sub(lambda found: f".{found[1]}" if found[1] else "", text)
    return _NO_TIME.sub("", short)


def _is_binary(kind: pa.DataType) -> bool:
    binary = kind in (pa.binary(), pa.large_binary(), pa.binary_view())
    return binary or bool(pa.types.is_fixed_size_binary(kind))


def _is_text(kind: pa.DataType) -> bool:
    return kind in (pa.string(), pa.large_string(), pa.string_view())


def _as_numbers(values: pa.Array) -> NDArray[np.float64] | None:
    """Return numbers as floats; None for anything else, or where a float would not be exact."""
    if pa.types.is_null(values.type):
        return np.full(len(values), np.nan)
    if pa.types.is_integer(values.type):
        span = compute.min_max(values)
        low, high = span["min"].as_py(), span["max"].as_py()
        if low is not None and (low <= -EXACT or high >= EXACT):
            return None
    elif not pa.types.is_floating(values.type):
        return None
    numbers = numbers_of(compute.fill_null(compute.cast(values, pa.float64()), np.nan))
    return None if np.isinf(numbers).any() else np.array(numbers)


def _as_texts(values: pa.Array) -> pa.DictionaryArray:
    """Return anything as texts, each kept once."""
    if _is_text(values.type):
        return _filled(values).dictionary_encode()
    encoded = values.dictionary_encode()
    texts = pa.array(_as_text(encoded.dictionary), pa.string())
    return _filled(texts.take(encoded.indices)).dictionary_encode()


def _filled(texts: pa.Array) -> pa.StringArray:
    """Write the empty text where there is none."""
    if texts.type != pa.string():
        texts = compute.cast(texts, pa.string())
    return compute.fill_null(texts, "") if texts.null_count else texts


def _as_text(values: pa.Array) -> list[str]:
    """Write values that are no texts as texts."""
    if pa.types.is_timestamp(values.type) and values.type.tz is not None:
        values = compute.cast(values, pa.timestamp(values.type.unit, "UTC"))
    if pa.types.is_timestamp(values.type) or pa.types.is_time(values.type):
        return [_short_time(text) for text in compute.cast(values, pa.string()).to_pylist()]
    if pa.types.is_duration(values.type):
        seconds = compute.cast(values, pa.duration("us"), safe=False)
        return [as_text(value) for value in seconds.to_pylist()]
    return [as_text(value) for value in values.to_pylist()]


def _joined(pieces: list[pa.DictionaryArray | pa.StringArray]) -> Texts:
    """Return the pieces of a column as one."""
    if all(isinstance(piece, pa.DictionaryArray) for piece in pieces):
        pieces = pa.chunked_array(pieces).unify_dictionaries().chunks
        joined = np.concatenate([numbers_of(piece.indices) for piece in pieces])
        return Texts(pieces[0].dictionary, joined)
    kept: list[pa.StringArray] = []
    codes: list[NDArray[np.int32]] = []
    start = 0
    for piece in pieces:
        if isinstance(piece, pa.DictionaryArray):
            kept.append(piece.dictionary)
            codes.append(numbers_of(piece.indices) + np.int32(start))
        else:
            kept.append(piece)
            codes.append(np.arange(start, start + len(piece), dtype=np.int32))
        start += len(kept[-1])
    return Texts(pa.concat_arrays(kept), np.concatenate(codes))
