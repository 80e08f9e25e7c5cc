"""The language of a report: how its numbers and dates look, and its texts by a catalogue.

Sentences are written in English where they are made. A report in another language is made inside
`using`; until then, and everywhere else, everything is English.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import msgspec

from fairdesk.audit.details import LanguageKey


class Language(msgspec.Struct, frozen=True):
    """How numbers look.

    Attributes
    ----------
    key : str
        ISO 639-1.
    decimal, group : str
        The signs before decimals and between thousands.
    """

    key: LanguageKey
    decimal: str
    group: str


LANGUAGES: dict[LanguageKey, Language] = {
    "en": Language("en", ".", ","),
    "de": Language("de", ",", "."),
    "fr": Language("fr", ",", "\u202f"),
}
_current: ContextVar[Language] = ContextVar("language", default=LANGUAGES["en"])


@contextmanager
def using(key: LanguageKey) -> Iterator[None]:
    """Write everything inside in a language; in this thread only."""
    token = _current.set(LANGUAGES[key])
    try:
        yield
    finally:
        _current.reset(token)


def localised(text: str) -> str:
    """Give a number that Python wrote (``1,234.5``) the signs of the current language."""
    language = _current.get()
    if language.key == "en":
        return text
    swapped = {",": language.group, ".": language.decimal}
    return "".join(swapped.get(sign, sign) for sign in text)


def say(message: str, /, **values: object) -> str:
    """Say a sentence in the current language: ``say("{n} of {people}", n=..., people=...)``."""
    return message.format(**values)
