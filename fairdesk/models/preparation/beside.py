"""The files next to a model that say how it is fed: one named after it, and others that may."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from fairdesk.errors import FairDeskError
from fairdesk.models.model import ModelCard
from fairdesk.models.pickles.contents import Contents

#: The ending of a file that states the numbers of a model's values, after the model's own name.
CODES = ".codes.json"
#: A model is rarely saved with more files than this, and what prepares its inputs is small.
_MOST_FILES, _MOST_BYTES = 50, 16 << 20
_PICKLED = (".pkl", ".pickle", ".joblib", ".skops")
#: Where classes lie that prepare inputs, and none that is a model.
_PREPARING = ("sklearn.preprocessing.", "sklearn.impute.", "sklearn.compose.")
#: What a file may hold besides them.
_PLAIN = (
    "numpy.",
    "joblib.",
    "builtins.",
    "copyreg.",
    "_codecs.",
    "collections.",
    "sklearn.utils.",
)


def with_codes_beside(model: Path, companions: Sequence[Path]) -> tuple[Path, ...]:
    """Return a model's companion files, with that of its name which states numbers of values."""
    codes = model.with_name(model.stem + CODES)
    known = {path.resolve() for path in companions}
    return (*companions, *([codes] if codes.is_file() and codes.resolve() not in known else []))


def preparing_files(card: ModelCard, look: Callable[[Path], Contents]) -> tuple[Path, ...]:
    """Find the files next to a model that hold scalers or encoders, and are not used yet.

    There are none to look for where the model's file prepares its inputs.

    Parameters
    ----------
    look : callable
        Says what a file is made of, without opening it: `fairdesk.models.pickles.contents`.
    """
    if card.prepared:
        return ()
    model = Path(card.path)
    used = {path.resolve() for path in (model, *(Path(each.path) for each in card.companions))}
    found: list[Path] = []
    with suppress(OSError):
        for path in sorted(model.resolve().parent.iterdir())[:_MOST_FILES]:
            small = path.suffix.lower() in _PICKLED and path.stat().st_size <= _MOST_BYTES
            if small and path.is_file() and path.resolve() not in used and _prepares(path, look):
                found.append(path)
    return tuple(found)


def _prepares(path: Path, look: Callable[[Path], Contents]) -> bool:
    try:
        names = [each.name for each in look(path).imports]
    except FairDeskError:
        return False
    return any(name.startswith(_PREPARING) for name in names) and all(
        name.startswith((*_PREPARING, *_PLAIN)) for name in names
    )
