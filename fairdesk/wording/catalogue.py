"""Translations of a report's texts: gettext catalogues (.po), read when a report needs them.

FairDesk ships none, only the template that ``packaging/messages`` makes. Whoever translates puts
``de.po`` or ``fr.po`` into the folder “locales” beside FairDesk's settings.
"""

from __future__ import annotations

import gettext
import logging
import string
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from fairdesk import files

if TYPE_CHECKING:
    from babel.messages.catalog import Message

_LOG = logging.getLogger(__name__)
_SHIPPED = Path(__file__).with_name("locales")


class Catalogue(NamedTuple):
    """A language's texts.

    Attributes
    ----------
    texts : dict[str, str]
        By the English text.
    plurals : dict[tuple[str, str], tuple[str, ...]]
        By the English text of one and of many.
    form : callable
        Which of those a count takes.
    """

    texts: dict[str, str]
    plurals: dict[tuple[str, str], tuple[str, ...]]
    form: Callable[[int], int]


def _english(count: int) -> int:
    return int(count != 1)


EMPTY = Catalogue({}, {}, _english)


def folders() -> tuple[Path, ...]:
    """Return the folders of catalogues: the shipped one, then the user's, which overrules it."""
    return _SHIPPED, files.settings_folder() / "locales"


def catalogue(key: str) -> Catalogue:
    """Read the texts of a language; `EMPTY` where nobody has translated any."""
    found = EMPTY
    for folder in folders():
        path = folder / f"{key}.po"
        try:
            state = path.stat()
        except OSError:
            continue
        one = _read(path, key, (state.st_mtime_ns, state.st_size))
        if one is not EMPTY:
            found = Catalogue(found.texts | one.texts, found.plurals | one.plurals, one.form)
    return found


@lru_cache(maxsize=8)
def _read(path: Path, key: str, state: tuple[int, int]) -> Catalogue:
    """Read a file as it is in a state; what cannot be used stays English, and the log says so."""
    del state
    from babel.messages.pofile import PoFileError, read_po  # noqa: PLC0415 - English needs none

    try:
        with path.open("rb") as stream:
            read = read_po(stream, locale=key, abort_invalid=True)
        form = gettext.c2py(read.plural_expr)
    except (OSError, PoFileError, ValueError) as error:
        _LOG.warning("The catalogue “%s” cannot be read and is ignored: %s", path, error)
        return EMPTY
    texts: dict[str, str] = {}
    plurals: dict[tuple[str, str], tuple[str, ...]] = {}
    for message in read:
        english, translated = _both(message)
        if message.fuzzy or not english[0] or not all(translated):
            continue
        if len(translated) != (1 if len(english) == 1 else read.num_plurals) or not _usable(
            english, translated
        ):
            _LOG.warning("“%s” stays English: its translation in “%s” is unfit", english[0], path)
        elif len(english) == 1:
            texts[english[0]] = translated[0]
        else:
            plurals[english[0], english[1]] = translated
    return Catalogue(texts, plurals, form)


def _both(message: Message) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a message in English and translated: one text each, or one for each number."""
    sides = (message.id, message.string or "")
    english, other = ((side,) if isinstance(side, str) else tuple(side) for side in sides)
    return english, other


def _usable(english: Sequence[str], texts: Iterable[str]) -> bool:
    """Whether translations have the places for values that the English texts have, and no markup.

    With a count, a translation need not have what only one of both English texts has, nor the
    count itself: “one pair”, “{n} pairs”.
    """
    asked = [places(text) for text in english]
    most, least = frozenset().union(*asked), asked[0].intersection(*asked)
    if len(english) > 1:
        least -= {"n"}
    signs = frozenset("<>").difference(*english)
    return all(
        least <= places(text) <= most
        and not signs.intersection(text)
        and all(sign.isprintable() or sign.isspace() for sign in text)
        for text in texts
    )


def places(text: str) -> frozenset[str]:
    """Name the places for values in a message, as they are written: ``{n}``, but also ``{n.x!r}``.

    Braces that are none, as in a formula, count as such a name too.
    """
    try:
        parsed = list(string.Formatter().parse(text))
    except ValueError:
        return frozenset((text,))
    return frozenset(
        f"{name}{f'!{convert}' if convert else ''}{f':{spec}' if spec else ''}"
        for _, name, spec, convert in parsed
        if name is not None
    )
