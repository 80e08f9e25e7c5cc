"""Universal Binary JSON (draft 12), as XGBoost writes it: numbers big-endian, arrays typed."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairdesk.models.boosting.ensemble import BrokenError

#: How deeply containers may lie in each other. A model has seven levels.
_MOST_DEPTH = 64
#: Numbers by their markers.
_NUMBERS = {
    marker: np.dtype(kind)
    for marker, kind in (
        *((b"i", ">i1"), (b"U", ">u1"), (b"I", ">i2"), (b"l", ">i4"), (b"L", ">i8")),
        *((b"d", ">f4"), (b"D", ">f8")),
    )
}
_CONSTANTS = {b"Z": None, b"T": True, b"F": False}
_WHOLE = frozenset((b"i", b"U", b"I", b"l", b"L"))


def decode(data: bytes) -> Any:  # noqa: ANN401 - any JSON
    """Return what a document says; arrays of one type of number as NumPy's.

    Raises
    ------
    BrokenError
        When it is cut short, nested too deeply, or not such a document.
    """
    reader = _Reader(data)
    value = reader.value(reader.marker(), _MOST_DEPTH)
    if data[reader.at :].strip(b"N"):
        raise BrokenError("something follows its end")
    return value


class _Reader:
    """A document and how far it was read."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def _take(self, count: int) -> bytes:
        # looked at before memory is taken: a count may claim anything
        if count < 0 or count > len(self._data) - self.at:
            raise BrokenError("it ends too early")
        self.at += count
        return self._data[self.at - count : self.at]

    def _peek(self) -> bytes:
        return self._data[self.at : self.at + 1]

    def marker(self) -> bytes:
        """Read the marker of the next value, past those that say nothing."""
        while (found := self._take(1)) == b"N":
            pass
        return found

    def value(self, marker: bytes, depth: int) -> Any:  # noqa: ANN401 - any JSON
        """Read the value behind a marker."""
        if marker in _NUMBERS:
            return self._numbers(marker, 1)[0].item()
        if marker in _CONSTANTS:
            return _CONSTANTS[marker]
        if marker == b"C":
            return self._take(1).decode("latin-1")
        if marker in (b"S", b"H"):
            return self._text()
        if marker in (b"[", b"{"):
            if not depth:
                raise BrokenError("it is nested too deeply")
            return self._array(depth - 1) if marker == b"[" else self._object(depth - 1)
        raise BrokenError(f"the marker {marker!r} means nothing")

    def _numbers(self, marker: bytes, count: int) -> Any:  # noqa: ANN401 - an array of any number
        kind = _NUMBERS[marker]
        return np.frombuffer(self._take(kind.itemsize * count), kind)

    def _length(self) -> int:
        marker = self._take(1)
        if marker not in _WHOLE:
            raise BrokenError("a length is not a whole number")
        length = int(self._numbers(marker, 1)[0])
        if length < 0:
            raise BrokenError("a length is below zero")
        return length

    def _text(self) -> str:
        try:
            return self._take(self._length()).decode()
        except UnicodeDecodeError as error:
            raise BrokenError("a text is not UTF-8") from error

    def _head(self) -> tuple[bytes, int | None]:
        """Read the type and the count that a container may tell first."""
        kind = b""
        if self._peek() == b"$":
            kind = self._take(2)[1:]
            if self._peek() != b"#":
                raise BrokenError("a typed container does not state its length")
        if self._peek() != b"#":
            return kind, None
        self._take(1)
        count = self._length()
        # values without bytes of their own would make any count true
        if kind in _CONSTANTS or kind == b"N" or count > len(self._data) - self.at:
            raise BrokenError("it claims more values than it has")
        return kind, count

    def _array(self, depth: int) -> Any:  # noqa: ANN401 - a list or an array
        kind, count = self._head()
        if kind in _NUMBERS and count is not None:
            numbers = self._numbers(kind, count)
            return numbers.astype(numbers.dtype.newbyteorder("="))
        found = []
        if count is not None:
            for _ in range(count):
                found.append(self.value(kind or self.marker(), depth))  # noqa: PERF401 - as below
            return found
        while (marker := self.marker()) != b"]":
            found.append(self.value(marker, depth))
        return found

    def _object(self, depth: int) -> dict[str, Any]:
        kind, count = self._head()
        found: dict[str, Any] = {}
        while count != 0:
            if count is None:
                while self._peek() == b"N":
                    self._take(1)
                if self._peek() == b"}":
                    self._take(1)
                    break
            else:
                count -= 1
            # names have no marker of a text, only their length
            name = self._text()
            found[name] = self.value(kind or self.marker(), depth)
        return found
