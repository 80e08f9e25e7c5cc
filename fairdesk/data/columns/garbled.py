"""Texts that were written in another encoding than the rest of their file: “KÃ¶ln” for “Köln”.

They come about where a table is put together of parts: the bytes of UTF-8 were read as those of
another encoding.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence

#: A text may have gone through this more than once.
_MOST_TIMES = 3
_USUAL = "cp1252"
_CONTROLS = "fairdesk.controls"


def meant(text: str, encoding: str = _USUAL) -> str:
    """Return what a text was meant to be; the text itself where nothing shows that it is garbled.

    Parameters
    ----------
    encoding : str
        That of the file: its bytes are tried besides those of Windows-1252.
    """
    for _ in range(_MOST_TIMES):
        if text.isascii():
            break
        better = next(filter(None, (_decoded(text, each) for each in (_USUAL, encoding))), None)
        if better is None:
            break
        text = better
    return text


def meanings(texts: Sequence[str], encoding: str) -> dict[str, str]:
    """Return the garbled ones of some texts, each with what was meant."""
    found = {text: meant(text, encoding) for text in texts if not text.isascii()}
    return {text: other for text, other in found.items() if text != other}


def _decoded(text: str, encoding: str) -> str | None:
    """Read the bytes of a text as UTF-8; None where they are none.

    So they are in an encoding of one byte a letter only: in those of Chinese or Japanese a whole
    word may by chance be the bytes of another.
    """
    try:
        raw = text.encode(encoding, _CONTROLS)
        return raw.decode() if len(raw) == len(text) else None
    except UnicodeError:
        return None


def _control(error: UnicodeError) -> tuple[bytes, int]:
    """Return the bytes that an encoding does not know: they are read as control characters."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return error.object[error.start : error.end].encode("latin-1"), error.end


codecs.register_error(_CONTROLS, _control)
