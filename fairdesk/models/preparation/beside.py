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


def preparing_files(model: Path, look: Callable[[Path], Contents]) -> tuple[Path, ...]:
    """Find the files next to a model that hold scalers or encoders.

    They are looked for before the model is opened: afterwards only another process could look.

    Parameters
    ----------
    look : callable
        Says what a file is made of, without opening it: `fairdesk.models.pickles.contents`.
    """
    found: list[Path] = []
    with suppress(OSError):
        for path in sorted(model.resolve().parent.iterdir())[:_MOST_FILES]:
            small = path.suffix.lower() in _PICKLED and path.stat().st_size <= _MOST_BYTES
            if small and path.is_file() and path != model.resolve() and _prepares(path, look):
                found.append(path)
    return tuple(found)


def not_used(card: ModelCard, preparing: Sequence[Path]) -> tuple[Path, ...]:
    """Return those of preparing files that a model does not use; none if it prepares itself."""
    used = {Path(each.path).resolve() for each in card.companions}
    return () if card.prepared else tuple(path for path in preparing if path not in used)


def _prepares(path: Path, look: Callable[[Path], Contents]) -> bool:
    try:
        names = [each.name for each in look(path).imports]
    except FairDeskError:
        return False
    return any(name.startswith(_PREPARING) for name in names) and all(
        name.startswith((*_PREPARING, *_PLAIN)) for name in names
    )
