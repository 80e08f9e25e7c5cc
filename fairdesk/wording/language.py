"""The language of a report: how its numbers and dates look, and its texts by a catalogue.

Everything is written in English where it is made. A report in another language is made inside
`using`: numbers and dates then look as the Unicode CLDR says, and messages come from the language's
`catalogue` where it has them, else they stay English. Outside everything is English.

A sentence with values is said with `say`, one with a count with `say_many`. A fixed text needs
nothing where it is a block's own, for `translated` finds it; where it is made part of other texts,
or of a cell, `say` says it. `fixed` marks texts that are kept in a constant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple, TypeVar

import msgspec

from fairdesk.audit.store.details import LanguageKey
from fairdesk.wording.catalogue import EMPTY, Catalogue, catalogue

_Told = TypeVar("_Told")


def fixed(texts: _Told) -> _Told:
    """Mark all texts in here for ``packaging/messages``, but the keys of dictionaries."""
    return texts


#: What stands around the sections, on pages and in HTML; see `frame`.
FRAME: dict[str, str] = fixed(
    {
        "contents": "Contents",
        "page": "{page} of {pages}",
        "attribute": "Attribute",
        "equal": "Equal:",
        "note": "Auditor’s note:",
        "Draft": "Draft",
        "Final": "Final",
        "example": "example",
        "observed": "observed",
        "estimated": "estimated",
        "proven": "proven",
        "marks": "How to read the marks",
        "means proven": (
            "True of everything it covers; a proof certificate that can be verified shows it."
        ),
        "means estimated": "From random samples or altered copies, with a confidence interval.",
        "means observed": (
            "Counted in the rows of the data. An interval, where one is given, is for individuals "
            "drawn in the same way as these rows."
        ),
        "means example": "Found by a search. It does not show how often this happens.",
        "means CI": (
            "Confidence interval, made by a procedure whose intervals contain the true value in 95 "
            "of 100 audits."
        ),
        "means p": "How probable a difference at least as large is by chance alone.",
        "place": "Section {section}, page {page}",
        "sources": "Sources",
        "unsigned": "Draft: not signed off",
        "signature": "Signature",
        "date": "Date",
        "logo": "Logo",
        "skip": "Skip to the report",
        "in words": "The same in words",
        "manifest": "Save the manifest (JSON)",
        "left out": "Omitted by the auditor: {parts}.",
        "unattached": (
            "PDF/A-2 does not allow attachments: the manifest is in the audit file, not in "
            "this document."
        ),
        "unkept": (
            "This document contains characters that the available fonts cannot show as "
            "{standard} requires, so it does not meet that standard."
        ),
    }
)
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)


class Language(msgspec.Struct, frozen=True):
    """How numbers and times look.

    Attributes
    ----------
    key : str
        ISO 639-1.
    decimal, group : str
        The signs before decimals and between thousands.
    percent : str
        What follows a share, with its space.
    moment : str
        How a date and a time stand together.
    """

    key: LanguageKey
    decimal: str = "."
    group: str = ","
    percent: str = "\u00a0%"
    moment: str = "{date}, {time}"

    @property
    def signs(self) -> dict[int, str]:
        """What stands for each sign of a number as Python writes it."""
        return {ord(","): self.group, ord("."): self.decimal}


class _Speech(NamedTuple):
    language: Language
    signs: dict[int, str]
    catalogue: Catalogue


_ENGLISH = _Speech(Language("en"), {}, EMPTY)
_current: ContextVar[_Speech] = ContextVar("language", default=_ENGLISH)


@contextmanager
def using(key: LanguageKey) -> Iterator[None]:
    """Write everything inside in a language; in this thread only."""
    speech = _ENGLISH if key == "en" else _Speech(*_looks(key), catalogue(key))
    token = _current.set(speech)
    try:
        yield
    finally:
        _current.reset(token)


@lru_cache
def _looks(key: LanguageKey) -> tuple[Language, dict[int, str]]:
    from babel import Locale  # noqa: PLC0415 - English needs none

    locale = Locale.parse(key)
    signs = locale.number_symbols.get("latn", locale.number_symbols)
    language = Language(
        key,
        signs["decimal"],
        signs["group"],
        locale.percent_formats[None].suffix[0],
        "{date} à {time}" if key == "fr" else "{date}, {time}",
    )
    return language, language.signs


def language() -> Language:
    """Return how numbers and times look now."""
    return _current.get().language


def localised(text: str) -> str:
    """Return a number that Python wrote (``1,234.5``) the signs of the current language."""
    signs = _current.get().signs
    return text.translate(signs) if signs else text


def date_text(when: datetime) -> str:
    """Write a date: ``21 November 2026``, ``21. November 2026``, ``21 novembre 2026``."""
    if (key := language().key) == "en":
        return f"{when.day} {_MONTHS[when.month - 1]} {when.year}"
    from babel.dates import format_date  # noqa: PLC0415 - English needs none

    return format_date(when, "long", locale=key)


def month_text(when: datetime) -> str:
    """Write a month: ``November 2026``."""
    if (key := language().key) == "en":
        return f"{_MONTHS[when.month - 1]} {when.year}"
    from babel.dates import format_skeleton  # noqa: PLC0415 - English needs none

    return format_skeleton("yMMMM", when, locale=key)


def moment_text(when: datetime) -> str:
    """Write a moment, which is in UTC: ``21 November 2026, 01:32 UTC``."""
    return language().moment.format(date=date_text(when), time=f"{when:%H:%M} UTC")


def say(message: str, /, **values: str) -> str:
    """Say a sentence in the current language: ``say("{n} of {people}", n=..., people=...)``.

    Values are texts, numbers as `fairdesk.wording.words` writes them.
    """
    text = _current.get().catalogue.texts.get(message, message)
    return text.format(**values) if values else text


def say_many(count: int, one: str, many: str, /, **values: str) -> str:
    """Say a sentence with a count, ``{n}``: as of one or as of many, as the language has it.

    Examples
    --------
    >>> say_many(1, "{n} pair", "{n} pairs"), say_many(1200, "{n} pair", "{n} pairs")
    ('1 pair', '1,200 pairs')
    """
    known = _current.get().catalogue
    text = known.plurals.get((one, many))
    message = (
        (one if count == 1 else many)
        if text is None
        else text[min(known.form(count), len(text) - 1)]
    )
    return message.format(n=localised(f"{count:,}"), **values)


def fixed_texts() -> Mapping[str, str]:
    """Return the current language's texts by their English; empty where none is translated."""
    return _current.get().catalogue.texts


def frame(key: LanguageKey) -> dict[str, str]:
    """Return what stands around the sections, in a language, and ``language``: that of the texts.

    A report of which no text is translated is an English one, whatever its numbers look like: so
    say its pages to whoever has them read aloud.
    """
    with using(key):
        texts = {name: say(text) for name, text in FRAME.items()}
        return texts | {"language": key if fixed_texts() else "en"}
