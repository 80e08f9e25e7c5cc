"""Which columns nameless scalers and encoders are for, and the order in which parts are inputs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from fairdesk.errors import ModelError
from fairdesk.models.model import Hints

#: What is taken for a list of names is no longer.
_MOST_NAMES = 100_000
#: Words in the name of a list of numeric, or of categorical, columns.
_NUMBERS = frozenset(
    (
        *("num", "nums", "numeric", "numerical", "number", "numbers", "continuous"),
        *("scale", "scaled", "scaling", "standardised", "standardized", "normalised", "normalized"),
    )
)
_NAMES = frozenset(
    ("cat", "cats", "categorical", "categoricals", "categories", "nominal", "encode")
)
#: Words in the name of a list of some columns that is about something else than numbers or names.
_OTHERS = frozenset(
    ("ordinal", "binary", "protected", "sensitive", "dropped", "drop", "removed", "excluded")
)


class Arranged(NamedTuple):
    """The inputs of a model in order, put together from parts, and how that is known."""

    features: tuple[str, ...]
    note: str
    assumed: str = ""


def words_of(name: str) -> set[str]:
    """Return the words of a name, in lower case."""
    return {word for word in re.split(r"[\W_]+", name.casefold()) if word}


def is_part(name: str) -> bool:
    """Return whether a list of this name is of some of the columns only."""
    return bool(words_of(name) & (_NUMBERS | _NAMES | _OTHERS))


def names_of(thing: Any) -> tuple[str, ...] | None:  # noqa: ANN401 - anything
    """Return a list of names as a tuple; None when it is none."""
    if isinstance(thing, np.ndarray):
        thing = thing.tolist() if thing.ndim == 1 else None
    if not isinstance(thing, (list, tuple)) or not 0 < len(thing) <= _MOST_NAMES:
        return None
    if not all(isinstance(name, str) for name in thing) or len(set(thing)) != len(thing):
        return None
    return tuple(thing)


def lists_in(things: Iterable[tuple[str, Any]]) -> dict[str, tuple[str, ...]]:
    """Return the lists of names among things, and in dictionaries among them, by their names."""
    found = {}
    for name, thing in things:
        inner = thing.items() if isinstance(thing, Mapping) else ((name, thing),)
        for key, each in inner:
            names = names_of(each)
            if names is not None and not words_of(str(key)) & _OTHERS:
                found[str(key)] = names
    return found


def columns_for(
    lists: Mapping[str, tuple[str, ...]], width: int, *, numbers: bool
) -> tuple[str, ...] | None:
    """Return the columns that something without names was fitted on, where one list fits.

    Parameters
    ----------
    numbers : bool
        Whether it takes numbers (a scaler) or values (an encoder). A list whose name says that
        it is of such columns comes first; one of the other sort never fits.
    """
    own, other = (_NUMBERS, _NAMES) if numbers else (_NAMES, _NUMBERS)
    fitting = {name: names for name, names in lists.items() if len(names) == width}
    sorts = (
        {names for name, names in fitting.items() if words_of(name) & own},
        {names for name, names in fitting.items() if not words_of(name) & (own | other)},
    )
    found = next((sort for sort in sorts if sort), set())
    return next(iter(found)) if len(found) == 1 else None


def arranged(inputs: int, told: Hints, lists: Mapping[str, tuple[str, ...]]) -> Arranged | None:
    """Put the names of a model's inputs together from what was fitted; None where nothing fits.

    A scaler of as many columns as the model has inputs stands right before it, so that its names
    are theirs. Else the scaled columns and those made by encoders have to be exactly as many.
    """
    whole = {columns: name for name, columns in told.scalers.items() if len(columns) == inputs}
    if len(whole) == 1:
        columns, name = next(iter(whole.items()))
        note = f"“{name}” names the {inputs:,} inputs, in the order in which it was fitted."
        return Arranged(columns, note)
    spread_out = told.one_hot
    scaled = (column for columns in told.scalers.values() for column in columns)
    numbers = tuple(dict.fromkeys(column for column in scaled if column not in spread_out))
    if not numbers:
        numbers = _only(lists, _NUMBERS)
    coded = [column for column in told.codes if column not in (*numbers, *spread_out)]
    coded += [c for c in _only(lists, _NAMES) if c not in (*numbers, *spread_out, *coded)]
    spread = [f"{column}_{value}" for column, values in spread_out.items() for value in values]
    features = (*numbers, *coded, *spread)
    if not numbers or not (coded or spread) or len(features) != inputs:
        return None
    return Arranged(
        features,
        f"The {inputs:,} inputs consist of {len(numbers):,} numbers and the inputs made "
        f"from {', '.join(f'“{column}”' for column in (*coded, *spread_out))}.",
        "No file states the order of the model’s inputs. Numbers first, then the inputs made "
        "from categories, is assumed. Check the accuracy.",
    )


def _only(lists: Mapping[str, tuple[str, ...]], words: frozenset[str]) -> tuple[str, ...]:
    found = {names for name, names in lists.items() if words_of(name) & words}
    return next(iter(found)) if len(found) == 1 else ()


def wrong_width(name: str, given: int, wanted: int, by: str = "the model") -> ModelError:
    """Return the error for a transformer that gives another number of columns than is taken."""
    return ModelError(
        f"“{name}” gives {given:,} columns, but {by} takes {wanted:,}.",
        why="It was fitted for another model, or something between them is missing.",
        remedy="Choose the files that belong together.",
    )
